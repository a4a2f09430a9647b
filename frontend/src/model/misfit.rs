//! Constants that the machine types of a run do not hold.

use super::{Body, ConstantData, Function, Model, Operation, ValueId};
use crate::source::Span;
use skript_semantics::{Numbers, RealType, Scalar};

impl Model {
    /// What to say of every constant tensor with an int that would wrap, or a number that would become infinite in f16 or
    /// bf16; and where it stands.
    pub fn misfits(&self) -> Vec<(Span, String)> {
        let mut found = Vec::new();
        for function in &self.functions {
            let mut constants: Vec<(ValueId, &ConstantData)> = Vec::new();
            constants.extend(function.constants.iter().map(|(id, data)| (*id, data)));
            if let Body::Block(block) = &function.body {
                block.visit(&mut |operation| {
                    if let Operation::Constant { value, data } = operation {
                        constants.push((*value, data));
                    }
                });
            }
            for (id, data) in constants {
                found.extend(misfit(function, id, data, self.numbers));
            }
        }
        found
    }
}

fn misfit(
    function: &Function,
    id: ValueId,
    data: &ConstantData,
    numbers: Numbers,
) -> Option<(Span, String)> {
    let wrong = data.scalars().find(|s| !holds(numbers, *s))?;
    let (value, to) = match wrong {
        Scalar::Int(i) => (i.to_string(), numbers.int.name()),
        Scalar::Real(x) => (format!("{x:e}"), numbers.real.name()),
        Scalar::Bool(_) => return None,
    };
    let declared = function.values.get(id.0 as usize);
    let span = declared.map_or(function.span, |v| v.span);
    let what = match declared.and_then(|v| v.name.as_deref()) {
        Some(name) => format!("constant `{name}`"),
        None => "a constant".to_owned(),
    };
    Some((
        span,
        format!("{what} holds {value}, which is no {to} number"),
    ))
}

fn holds(numbers: Numbers, value: Scalar) -> bool {
    match value {
        Scalar::Int(i) => numbers.int.wrap(i) == i,
        // Beyond f32, a constant is infinite as it ever was.
        Scalar::Real(_) if numbers.real == RealType::F32 => true,
        Scalar::Real(x) => numbers.real.holds(x),
        Scalar::Bool(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::ComposeOptions;
    use crate::compose::testing::{composed_with, with_operator};
    use crate::limits::Limits;
    use skript_semantics::{IntType, Numbers, RealType};

    fn codes(constant: &str, real: RealType, int: IntType) -> Vec<&'static str> {
        let text = with_operator(
            &format!(
                "@input {{ a: real[n]; }} @constant {{ {constant} }} @output {{ b: real[n]; }} @lower {{ b[i,] = a[i,], i < n; }}"
            ),
            "y = f(x);",
        );
        let options = ComposeOptions {
            numbers: Numbers { real, int },
            ..ComposeOptions::default()
        };
        match composed_with(&text, &options, &Limits::default()) {
            Ok(_) => Vec::new(),
            Err(diagnostics) => diagnostics.iter().map(|d| d.code.id).collect(),
        }
    }

    #[test]
    fn constants_that_would_change_are_told() {
        let (real, int) = (RealType::F32, IntType::I64);
        assert_eq!(
            codes("c: int[2] = [127, 128];", real, IntType::I8),
            ["SK0750"]
        );
        assert!(codes("c: int[2] = [127, -128];", real, IntType::I8).is_empty());
        assert_eq!(codes("c: real[] = 1e5;", RealType::F16, int), ["SK0750"]);
        assert!(codes("c: real[] = 1e5;", RealType::BF16, int).is_empty());
        assert!(codes("c: real[] = 1e300;", real, int).is_empty());
    }
}
