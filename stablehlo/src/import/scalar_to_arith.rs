// SPDX-License-Identifier: Apache-2.0
//! `convert-stablehlo-scalar-to-arith`: converts elementwise StableHLO operations on scalars to `arith`, `math` and
//! `complex`.
//!
//! Results that StableHLO leaves undefined are the same as in XLA: integers wrap around, `x / 0` has all bits set, the
//! remainder by 0 is `x`, and conversions of floats to integers truncate, saturate, and map NaN to 0. Half precision is
//! computed in f32 and rounded after each operation.
//!
//! Guarantees: no elementwise StableHLO operation on scalars remains. Casts convert unsigned values;
//! `skript-drop-signs` removes the casts.

pub(crate) mod compare;
mod complex;
mod convert;
mod integer;
pub(crate) mod precision;
pub(crate) mod principal;
mod real;

use super::element::{Element, Float};
use melior::ir::{OperationRef, TypeLike, ValueLike};
use skript_dialect::melior;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Dialect, Pass, PassError, op};
use skript_passes::ir;
use skript_passes::ir::ops;
use skript_passes::ir::replace_each;
use skript_passes::ir::splice::{Lines, splice};

/// The pass `convert-stablehlo-scalar-to-arith`.
pub(crate) const PASS: Pass = Pass {
    flag: "convert-stablehlo-scalar-to-arith",
    summary: "StableHLO on scalars becomes arith, math and complex",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Math, Dialect::Scf, Dialect::Complex, Dialect::Func],
    run: |root, _, rewriter| {
        replace_each(op::collect(&root, is_scalar), rewriter, |op| {
            let value = lower(op)?.ok_or("has no form on these operands")?;
            Ok(vec![value])
        })
    },
    ..Pass::NONE
};

/// Whether an operation is an elementwise StableHLO operation on scalars.
fn is_scalar(op: OperationRef<'_, '_>) -> bool {
    op::name(&op).starts_with("stablehlo.")
        && op::has_elementwise_trait(&op)
        && op.results().all(|r| !r.r#type().is_tensor())
}

/// One operation during its conversion; the operands are names of signless values.
pub(crate) struct Scalar {
    pub lines: Lines,
    operands: Vec<String>,
    /// The extents of tensors that are computed elementwise, such as `4x`; `None` for scalars.
    lanes: Option<String>,
    /// Element type of the first operand.
    from: Element,
    /// Element type of the result.
    to: Element,
}

impl Scalar {
    /// A conversion on tensors with these extents; operands are `%0`, `%1`, ….
    pub(crate) fn on_tensors(lines: Lines, extents: &[i64], from: Element, to: Element) -> Self {
        Scalar {
            lines,
            operands: vec!["%0".to_owned(), "%1".to_owned()],
            lanes: Some(extents.iter().map(|e| format!("{e}x")).collect()),
            from,
            to,
        }
    }

    /// The type of values with this element type.
    fn typed(&self, element: &str) -> String {
        match &self.lanes {
            Some(lanes) => format!("tensor<{lanes}{element}>"),
            None => element.to_owned(),
        }
    }

    fn value(&mut self, rhs: impl AsRef<str>) -> String {
        self.lines.value(rhs)
    }

    /// The name of an operand; the verifier has checked the number of operands.
    fn operand(&self, n: usize) -> &str {
        self.operands.get(n).map_or("%0", String::as_str)
    }

    /// Appends `op a, b : type`.
    fn apply(&mut self, op: &str, operands: &[&str], r#type: &str) -> String {
        self.value(format!("{op} {} : {type}", operands.join(", ")))
    }

    fn select(&mut self, condition: &str, yes: &str, no: &str, r#type: &str) -> String {
        let types = match &self.lanes {
            Some(_) => format!("{}, {type}", self.typed("i1")),
            None => r#type.to_owned(),
        };
        self.value(format!("arith.select {condition}, {yes}, {no} : {types}"))
    }

    fn integer(&mut self, value: i128, r#type: &str) -> String {
        match &self.lanes {
            Some(_) => self.value(format!("arith.constant dense<{value}> : {type}")),
            None => self.value(format!("arith.constant {value} : {type}")),
        }
    }

    fn real(&mut self, value: f64, r#type: &str) -> String {
        self.value(format!("arith.constant {value:?} : {type}"))
    }

    /// Converts a half-precision float to f32; bf16 by integer operations, because some processors lack the
    /// instruction.
    fn widen(&mut self, value: &str, float: Float) -> String {
        match float {
            Float::BF16 => {
                let bits = self.value(format!("arith.bitcast {value} : bf16 to i16"));
                let bits = self.value(format!("arith.extui {bits} : i16 to i32"));
                let by = self.integer(16, "i32");
                let bits = self.apply(ops::arith::SHLI, &[&bits, &by], "i32");
                self.value(format!("arith.bitcast {bits} : i32 to f32"))
            }
            Float::F16 => self.value(format!("arith.extf {value} : f16 to f32")),
            Float::F32 | Float::F64 => value.to_owned(),
        }
    }

    /// Rounds an f32 to half precision: to nearest, ties to even.
    fn narrow(&mut self, value: &str, float: Float) -> String {
        match float {
            Float::BF16 => {
                let bits = self.value(format!("arith.bitcast {value} : f32 to i32"));
                let sixteen = self.integer(16, "i32");
                let one = self.integer(1, "i32");
                let upper = self.apply(ops::arith::SHRUI, &[&bits, &sixteen], "i32");
                let odd = self.apply(ops::arith::ANDI, &[&upper, &one], "i32");
                let below_half = self.integer(0x7fff, "i32");
                let bias = self.apply(ops::arith::ADDI, &[&odd, &below_half], "i32");
                let rounded = self.apply(ops::arith::ADDI, &[&bits, &bias], "i32");
                let rounded = self.apply(ops::arith::SHRUI, &[&rounded, &sixteen], "i32");
                let nan = self.value(format!("arith.cmpf uno, {value}, {value} : f32"));
                let quiet = self.integer(0x7fc0, "i32");
                let bits = self.select(&nan, &quiet, &rounded, "i32");
                let bits = self.value(format!("arith.trunci {bits} : i32 to i16"));
                self.value(format!("arith.bitcast {bits} : i16 to bf16"))
            }
            Float::F16 => self.value(format!("arith.truncf {value} : f32 to f16")),
            Float::F32 | Float::F64 => value.to_owned(),
        }
    }
}

/// The value that replaces the operation; `None` if it is not supported.
fn lower<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Option<melior::ir::Value<'c, 'a>>, PassError> {
    let operands: Vec<_> = op.operands().collect();
    let first = operands.first().and_then(|v| Element::from_type(v.r#type()));
    let to = Element::from_type(ir::result(op)?.r#type());
    let (Some(from), Some(to)) = (first, to) else {
        return Ok(None);
    };
    let mut scalar = Scalar { lines: Lines::default(), operands: Vec::new(), lanes: None, from, to };
    for n in 0..operands.len() {
        let name = format!("%{n}");
        let name = match from {
            Element::Unsigned(_) => scalar.value(format!(
                "builtin.unrealized_conversion_cast {name} : {} to {}",
                from.text(),
                from.signless()
            )),
            _ => name,
        };
        scalar.operands.push(name);
    }
    let name = op::name(&op);
    let name = name.trim_start_matches("stablehlo.");
    let Some(result) = form(&mut scalar, name, op) else {
        return Ok(None);
    };
    let result = match to {
        Element::Unsigned(_) => scalar.value(format!(
            "builtin.unrealized_conversion_cast {result} : {} to {}",
            to.signless(),
            to.text()
        )),
        _ => result,
    };
    let spliced = splice(op, &operands, scalar.lines.text(), &[(result, to.text())])?;
    Ok(spliced.values.first().copied())
}

fn form(s: &mut Scalar, name: &str, op: OperationRef) -> Option<String> {
    match name {
        "compare" => return compare::compare(s, compare::direction(op)?),
        "reduce_precision" => return precision::reduce(s, precision::format(op)?),
        "convert" => return convert::convert(s),
        "complex" => {
            let (re, im) = (s.operand(0).to_owned(), s.operand(1).to_owned());
            return Some(s.value(format!("complex.create {re}, {im} : {}", s.to.signless())));
        }
        _ => {}
    }
    match s.from {
        Element::Pred => integer::of_preds(s, name),
        Element::Signed(width) => integer::of_integers(s, name, width, true),
        Element::Unsigned(width) => integer::of_integers(s, name, width, false),
        Element::Complex(part) => complex::of_pairs(s, name, part),
        Element::Float(float) if float.is_half() => {
            let halves = s.operands.clone();
            s.operands = halves.iter().map(|v| s.widen(v, float)).collect();
            let wide = real::of_reals(s, name, Float::F32)?;
            match s.to {
                Element::Float(to) => Some(s.narrow(&wide, to)),
                _ => Some(wide),
            }
        }
        Element::Float(float) => real::of_reals(s, name, float),
    }
}
