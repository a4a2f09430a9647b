// SPDX-License-Identifier: Apache-2.0
//! The message of a failed check, with the values found at run time.

use super::Check;
use skript_intrinsics::compiled::Context;
use skript_semantics::Scalar;

impl Check {
    /// The message with the values that compiled code stored in the context.
    pub fn message(&self, context: &Context) -> String {
        let mut text = String::new();
        let mut rest = self.message.as_str();
        // For each enclosing choice: whether the current branch is selected.
        let mut selected: Vec<bool> = Vec::new();
        while let Some((before, after)) = rest.split_once('{') {
            let mut append = |piece: &str| {
                if selected.iter().all(|here| *here) {
                    text.push_str(piece);
                }
            };
            append(before);
            if let Some(after) = after.strip_prefix('{') {
                append("{");
                rest = after;
                continue;
            }
            let (what, after) = after.split_once('}').unwrap_or((after, ""));
            rest = after;
            let value = |digits: &str| {
                let slot = digits.parse::<usize>().ok();
                let value = slot.and_then(|slot| context.values.get(slot));
                value.copied().unwrap_or_default()
            };
            match what.split_once(':') {
                Some((digits, "bool")) => append(&Scalar::Bool(value(digits) != 0).to_string()),
                Some((digits, _)) => {
                    let real = f64::from_bits(value(digits).cast_unsigned());
                    append(&Scalar::Real(real).to_string());
                }
                None => match what {
                    "text" => append(&context.message()),
                    "|" => {
                        if let Some(here) = selected.last_mut() {
                            *here = !*here;
                        }
                    }
                    "/" => {
                        selected.pop();
                    }
                    _ => match what.strip_suffix('?') {
                        Some(digits) => selected.push(value(digits) != 0),
                        None => append(&Scalar::Int(value(what)).to_string()),
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

    fn formatted(template: &str, values: &[i64]) -> String {
        let mut context = Context::default();
        for (slot, value) in context.values.iter_mut().zip(values) {
            *slot = *value;
        }
        let check = Check { code: String::new(), message: template.to_owned(), trace: Vec::new() };
        check.message(&context)
    }

    #[test]
    fn s2_8_values_replace_their_placeholders() {
        let half = 0.5f64.to_bits().cast_signed();
        let nan = f64::NAN.to_bits().cast_signed();
        assert_eq!(formatted("{0} {1:real} {2:bool}", &[7, half, 1]), "7 0.5 true");
        assert_eq!(formatted("{0:real}", &[nan]), "nan");
        let mut many = [0; 12];
        many[11] = 5;
        assert_eq!(formatted("n={11}", &many), "n=5");
        // Braces in a literal part are not replaced.
        assert_eq!(formatted("{{0} is {0}", &[3]), "{0} is 3");
        assert_eq!(formatted("without", &[]), "without");
    }

    #[test]
    fn s2_8_choices_print_one_branch() {
        let template = "a {0?}b {1?}c{|}d{/}{|}e {2}{/} f";
        assert_eq!(formatted(template, &[1, 1, 9]), "a b c f");
        assert_eq!(formatted(template, &[1, 0, 9]), "a b d f");
        assert_eq!(formatted(template, &[0, 1, 9]), "a e 9 f");
    }
}
