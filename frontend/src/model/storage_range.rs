// SPDX-License-Identifier: Apache-2.0
//! Constants, and results of formulas that read no tensor, that the storage types cannot represent.

use super::{
    Accumulation, Body, ConstantData, Formula, Function, FunctionId, Model, Node, Operation, Target, ValueId,
};
use crate::source::Span;
use skript_semantics::{Numbers, RealType, Scalar, ScalarKind};
use std::collections::HashMap;

impl Model {
    /// Messages, with their spans, about constant tensors with an int that would wrap, or a number that would become
    /// infinite in f16 or bf16.
    pub fn misfits(&self) -> Vec<(Span, String)> {
        let mut misfits = Vec::new();
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
                misfits.extend(self.misfit(function, id, data));
            }
        }
        if self.numbers.work() != self.numbers {
            misfits.extend(self.computed_misfits());
        }
        misfits
    }

    fn misfit(&self, function: &Function, id: ValueId, data: &ConstantData) -> Option<(Span, String)> {
        let declared = function.values.get(id.0 as usize);
        let numbers = declared.map_or(function.numbers, |v| function.numbers_of(v));
        let (value, refusal) = data.scalars().find_map(|s| unheld(numbers, s))?;
        let span = declared.map_or(function.span, |v| v.span);
        let what = match declared.and_then(|v| v.name.as_deref()) {
            Some(name) => format!("constant `{name}`"),
            None => "a constant".to_owned(),
        };
        Some((span, format!("{what} holds {value}, {refusal}")))
    }

    /// Messages about such reals in the results of formulas that read no tensor, with the spans of the invocations.
    fn computed_misfits(&self) -> Vec<(Span, String)> {
        let mut calls = HashMap::new();
        for function in &self.functions {
            if let Body::Block(block) = &function.body {
                block.visit(&mut |operation| {
                    if let Operation::Invoke(invoke) = operation {
                        calls.entry(invoke.callee).or_insert(invoke.span);
                    }
                });
            }
        }
        let mut misfits = Vec::new();
        for (function, id) in self.functions.iter().zip((0u32..).map(FunctionId)) {
            let Body::Formulas(formulas) = &function.body else {
                continue;
            };
            // Either all outputs of a function are wide, or no output.
            let is_wide = function.values.iter().all(|v| v.wide);
            let misfit = formulas.iter().filter(|_| !is_wide).find_map(|formula| {
                let reals = formula.targets.iter().flat_map(|t| computed_reals(formula, t));
                reals.into_iter().find_map(|s| unheld(self.numbers, s))
            });
            if let Some((value, refusal)) = misfit {
                let span = calls.get(&id).copied().unwrap_or(function.span);
                let name = &function.name;
                misfits.push((span, format!("`{name}` gives {value}, {refusal}")));
            }
        }
        misfits
    }
}

/// The maximum number of indices of a formula whose corners are evaluated.
const CORNERS: usize = 8;

/// Reals that an assignment writes to a target without reading tensors: the values at the corners of its domain, which
/// bound sequences, and all items of a table.
pub(crate) fn computed_reals(formula: &Formula, target: &Target) -> Vec<Scalar> {
    let mut values = Vec::new();
    let last = formula.indices.iter().map(|index| index.extent.fixed());
    let Some(last) = last.map(|n| n?.checked_sub(1)?.try_into().ok()).collect::<Option<Vec<i64>>>() else {
        return values;
    };
    // Ints have separate limits.
    if formula.kind != Accumulation::Assign || last.len() > CORNERS || target.value.kind != ScalarKind::Real {
        return values;
    }
    if let Node::Table { items, .. } = &target.value.node
        && formula.predicate.is_none()
    {
        values.extend(items);
    }
    for corner in 0..1usize << last.len() {
        let at = |index: usize| match corner >> index & 1 {
            0 => Some(0),
            _ => last.get(index).copied(),
        };
        let is_written =
            formula.predicate.as_ref().map_or(Some(Scalar::Bool(true)), |p| formula.value_at(p, &at));
        if is_written == Some(Scalar::Bool(true)) {
            values.extend(formula.value_at(&target.value, &at));
        }
    }
    values
}

/// The value as text, and the message, if the storage type cannot represent it.
pub(crate) fn unheld(numbers: Numbers, scalar: Scalar) -> Option<(String, String)> {
    match scalar {
        _ if holds(numbers, scalar) => None,
        Scalar::Int(i) => Some((i.to_string(), numbers.int.refusal(Some(i)))),
        Scalar::Real(x) => Some((format!("{x:e}"), numbers.real.refusal(x))),
        Scalar::Bool(_) => None,
    }
}

fn holds(numbers: Numbers, value: Scalar) -> bool {
    match value {
        Scalar::Int(i) => numbers.int.wrap(i) == i,
        // Beyond f32, a constant is infinite in any storage type.
        Scalar::Real(_) if numbers.real == RealType::F32 => true,
        Scalar::Real(x) => numbers.real.holds(x),
        Scalar::Bool(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::ComposeOptions;
    use crate::compose::testing::{composed_with, with_operator};
    use crate::diagnostics::Diagnostic;
    use crate::limits::Limits;
    use skript_semantics::{IntType, Numbers, RealType};

    fn diagnostics(text: &str, real: RealType, int: IntType) -> Vec<Diagnostic> {
        let options = ComposeOptions { numbers: Numbers { real, int }, ..ComposeOptions::default() };
        composed_with(text, &options, &Limits::default()).map_or_else(|reported| reported, |_| Vec::new())
    }

    fn codes(constant: &str, real: RealType, int: IntType) -> Vec<&'static str> {
        let text = with_operator(
            &format!(
                "@input {{ a: real[n]; }} @constant {{ {constant} }} @output {{ b: real[n]; }} @lower {{ b[i,] = a[i,], i < n; }}"
            ),
            "y = f(x);",
        );
        let reported = diagnostics(&text, real, int);
        reported.iter().map(|d| d.code.id).collect()
    }

    #[test]
    fn formulas_that_read_nothing_are_reported() {
        let of = |output: &str, formula: &str, real, int| -> Vec<String> {
            let text = with_operator(
                &format!("@output {{ {output} }} @lower {{ {formula} }}"),
                "w = f(); y = pass(x);",
            );
            let reported = diagnostics(&text, real, int);
            reported.into_iter().map(|d| d.message).collect()
        };
        let (real, int) = (RealType::F16, IntType::I8);
        assert_eq!(
            of("z: real[3];", "z[i] = [1.0, 1e5, 2.0][i], i < 3;", real, int),
            ["`main.f` gives 1e5, which does not fit f16 (at most 6.5504e4 in size); --real=f32 holds it"]
        );
        assert!(of("z: real[3];", "z[i] = 1e5, i < 3;", RealType::BF16, int).is_empty());
        assert!(of("z: real[40];", "z[i] = real(i) * 4000.0, i < 40 | i < 10;", real, int).is_empty());
    }

    #[test]
    fn constants_that_would_change_are_reported() {
        let (real, int) = (RealType::F32, IntType::I64);
        assert_eq!(codes("c: int[2] = [127, 128];", real, IntType::I8), ["SK0750"]);
        assert!(codes("c: int[2] = [127, -128];", real, IntType::I8).is_empty());
        let text = with_operator(
            "@input { a: real[n]; } @constant { c: int[] = 40000; } @output { b: real[n]; } @lower { b[i,] = a[i,], i < n; }",
            "y = f(x);",
        );
        assert_eq!(
            diagnostics(&text, real, IntType::I16)[0].message,
            "constant `c` holds 40000, which does not fit i16 (-32768 to 32767); --int=i32 holds it"
        );
        assert_eq!(codes("c: real[] = 1e5;", RealType::F16, int), ["SK0750"]);
        assert!(codes("c: real[] = 1e5;", RealType::BF16, int).is_empty());
        assert!(codes("c: real[] = 1e300;", real, int).is_empty());
    }
}
