//! The message of a failed check, with what the run found.

use super::Check;
use skript_intrinsics::compiled::Context;
use skript_semantics::Scalar;

impl Check {
    /// The message with the values that compiled code left in the context.
    pub fn message(&self, context: &Context) -> String {
        let mut text = String::new();
        let mut rest = self.message.as_str();
        // Of each choice around this place: whether the part here was chosen.
        let mut chosen: Vec<bool> = Vec::new();
        while let Some((before, behind)) = rest.split_once('{') {
            let mut say = |piece: &str| {
                if chosen.iter().all(|here| *here) {
                    text.push_str(piece);
                }
            };
            say(before);
            if let Some(behind) = behind.strip_prefix('{') {
                say("{");
                rest = behind;
                continue;
            }
            let (what, behind) = behind.split_once('}').unwrap_or((behind, ""));
            rest = behind;
            let value = |digits: &str| {
                let place = digits.parse::<usize>().ok();
                let value = place.and_then(|place| context.values.get(place));
                value.copied().unwrap_or_default()
            };
            match what.split_once(':') {
                Some((digits, "bool")) => say(&Scalar::Bool(value(digits) != 0).to_string()),
                Some((digits, _)) => {
                    let real = f64::from_bits(value(digits).cast_unsigned());
                    say(&Scalar::Real(real).to_string());
                }
                None => match what {
                    "text" => say(&context.message()),
                    "|" => {
                        if let Some(here) = chosen.last_mut() {
                            *here = !*here;
                        }
                    }
                    "/" => {
                        chosen.pop();
                    }
                    _ => match what.strip_suffix('?') {
                        Some(digits) => chosen.push(value(digits) != 0),
                        None => say(&Scalar::Int(value(what)).to_string()),
                    },
                },
            }
        }
        text + rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(message: &str, values: &[i64]) -> String {
        let mut context = Context::default();
        for (place, value) in context.values.iter_mut().zip(values) {
            *place = *value;
        }
        let check = Check {
            code: String::new(),
            message: message.to_owned(),
            trace: Vec::new(),
        };
        check.message(&context)
    }

    #[test]
    fn s2_8_values_stand_where_the_message_says() {
        let half = 0.5f64.to_bits().cast_signed();
        let nan = f64::NAN.to_bits().cast_signed();
        assert_eq!(
            message("{0} {1:real} {2:bool}", &[7, half, 1]),
            "7 0.5 true"
        );
        assert_eq!(message("{0:real}", &[nan]), "nan");
        let mut many = [0; 12];
        many[11] = 5;
        assert_eq!(message("n={11}", &many), "n=5");
        // What a value says is no place for another one.
        assert_eq!(message("{{0} is {0}", &[3]), "{0} is 3");
        assert_eq!(message("without", &[]), "without");
    }

    #[test]
    fn s2_8_choices_say_one_part() {
        let message = "a {0?}b {1?}c{|}d{/}{|}e {2}{/} f";
        assert_eq!(message(message, &[1, 1, 9]), "a b c f");
        assert_eq!(message(message, &[1, 0, 9]), "a b d f");
        assert_eq!(message(message, &[0, 1, 9]), "a e 9 f");
    }
}
