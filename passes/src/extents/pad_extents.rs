// SPDX-License-Identifier: Apache-2.0
//! `skript-pad-extents`: pads tensors to their upper bounds, and passes dynamic extents as values.
//!
//! The elements of a tensor are at the lowest indices of each dimension. Loops of formulas run to the upper bounds, and
//! predicates exclude the padding. Extents become additional `index` operands and results of calls, branches and loops; at
//! the entry they are `i32` with the role `extent`. An intrinsic receives the extents of its operands
//! (`skript.filled`). Checks are kept. An extent greater than its upper bound is clamped to the bound.
//!
//! Requires: upper bounds of the entry's arguments (`skript.bounds`), and extents that are clamped to constants.
//! Guarantees: all extents are static.

use super::bounds::{Bounds, Refusal, is_open};
use super::function;
use crate::ir::copy::{arguments, operation_name};
use crate::ir::ops;
use crate::ir::{blocks, erase, nested, operations};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value};
use skript_dialect::{Dialect, Pass, PassError, melior};

/// The pass `skript-pad-extents`.
pub const PASS: Pass = Pass {
    flag: "skript-pad-extents",
    summary: "pad tensors to their upper bounds, with extents as values",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Tensor],
    run: |root, _, _| match pad(root) {
        Err(Failure::Refused(Refusal { op, what })) => Err(PassError::at(op, what)),
        Err(Failure::Build(error)) => Err(error.into()),
        Ok(()) => Ok(()),
    },
    ..Pass::NONE
};

/// The reason why a module cannot be padded.
pub enum Failure<'c, 'a> {
    /// An operation has no padded form.
    Refused(Refusal<'c, 'a>),
    /// The builder's error.
    Build(Error),
}

impl From<Error> for Failure<'_, '_> {
    fn from(error: Error) -> Self {
        Failure::Build(error)
    }
}

/// Pads a module's tensors; a module with static extents only is unchanged.
///
/// # Errors
/// An operation that padding does not support; the module is then unchanged.
pub fn pad<'c: 'a, 'a>(module: OperationRef<'c, 'a>) -> Result<(), Failure<'c, 'a>> {
    if !has_dynamic_extents(module) {
        return Ok(());
    }
    let bounds = Bounds::new(module).map_err(Failure::Refused)?;
    let functions = blocks(module).into_iter().flat_map(operations);
    let functions: Vec<_> = functions
        .filter(|f| operation_name(*f) == ops::func::FUNC && !blocks(*f).is_empty())
        .filter(|f| has_dynamic_extents(*f))
        .collect();
    for function in &functions {
        function::rebuild(*function, &bounds)?;
    }
    functions.into_iter().for_each(erase);
    Ok(())
}

/// Whether some tensor below `root` has a dynamic extent.
pub fn has_dynamic_extents<'c: 'a, 'a>(root: OperationRef<'c, 'a>) -> bool {
    let mut below = nested(root);
    below.push(root);
    below.into_iter().any(|op| {
        let inner = blocks(op).into_iter().flat_map(arguments);
        let results = op.results().map(Value::from);
        inner.chain(results).any(is_open)
    })
}
