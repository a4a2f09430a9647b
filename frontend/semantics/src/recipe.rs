// SPDX-License-Identifier: Apache-2.0
//! The spelling of each operation in the `arith` and `math` dialects of MLIR, as plain data.
//!
//! A recipe is total: cases that those dialects leave undefined (integer division by zero, `MIN / -1`, float to int out of
//! range, negative integer powers) is guarded, and the results are those of [`ScalarOp::eval_f32`], bit by bit except
//! for transcendental functions. The builder of recipes is in [`spelling`]; a lowering walks the steps in order and
//! builds one op each.

mod spelling;

use crate::op::ScalarOp;

/// The type of a value in a recipe; the caller determines the widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeClass {
    /// `i1`
    Bool,
    /// The integer element type, `iN`.
    Int,
    /// `index`
    Index,
    /// `i64`, between `index` and other types.
    I64,
    /// The float element type.
    Real,
}

/// An operand of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// Operand of the operation, from 0.
    Arg(usize),
    /// Result of an earlier step.
    Step(usize),
    /// A constant.
    Bool(bool),
    /// A constant of this integer class.
    Int(TypeClass, i64),
    /// A constant of the float element type.
    Real(f64),
    /// The smallest signed integer of this class, `-2^(w-1)`.
    Least(TypeClass),
    /// The largest signed integer of this class, `2^(w-1) - 1`.
    Greatest(TypeClass),
    /// `-2^(w-1)` as a float constant, w being the width of this integer class; -∞ if the float type cannot represent
    /// it.
    LeastAsReal(TypeClass),
    /// `2^(w-1)` as a float constant; +∞ if the float type cannot represent it.
    BeyondGreatestAsReal(TypeClass),
}

/// The `predicate` attribute of `arith.cmpi` or `arith.cmpf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// As in the textual form: `slt`, `une`.
    pub name: &'static str,
    /// The value of the i64 attribute.
    pub code: i64,
}

/// One op of `arith` or `math`. It has one result.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Full name: `arith.addf`.
    pub op: &'static str,
    /// The predicate of a comparison.
    pub predicate: Option<Predicate>,
    /// The operands, in order.
    pub inputs: Vec<Input>,
    /// The class of the result's type.
    pub result: TypeClass,
}

/// The steps in order, and the value that is the result.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The steps, each of which reads results of earlier ones; the last result is the value.
    pub steps: Vec<Step>,
    /// Usually the last step; a cast without effect has no step and yields its operand.
    pub result: Input,
}

impl ScalarOp {
    /// The recipe of the operation for operands of one class (for `Select`: of the two values); `result` matters to
    /// casts only. `None` if the operation does not accept such operands.
    ///
    /// `I64` is not an operand class: pass `Int`.
    pub fn recipe(self, operand: TypeClass, result: TypeClass) -> Option<Recipe> {
        spelling::spell(self, operand, result)
    }
}

#[cfg(test)]
mod interpreter;
