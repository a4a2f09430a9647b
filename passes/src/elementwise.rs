// SPDX-License-Identifier: Apache-2.0
//! Converts elementwise operations on tensors and vectors. The same patterns apply to all operations with the trait, in any dialect.

pub(crate) mod check_extents;
pub(crate) mod compute_in_users;
pub(crate) mod elementwise_to_formula;
pub(crate) mod elementwise_to_linalg;
pub(crate) mod factor_sums;
pub(crate) mod fold_integers;
pub(crate) mod fuse_elementwise;
pub(crate) mod hoist_invariants;
pub(crate) mod merge_slices;
pub(crate) mod move_factors;
pub(crate) mod scalarize_elementwise;
pub(crate) mod slice_gathers;
pub(crate) mod split_sums;
pub(crate) mod sum_bits;
pub(crate) mod unroll_elementwise;

use crate::facts::computes_elements;
use crate::ir::replace_each;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, Rewriter, op};

/// Replaces every elementwise operation that computes elements and has a result type that `wanted` accepts.
///
/// `replace` returns the new values, or `None` for an operation that the conversion does not support.
fn replace_all<'c, 'a>(
    root: &OperationRef<'c, 'a>,
    rewriter: &Rewriter<'c>,
    wanted: impl Fn(Type<'c>) -> bool,
    otherwise: &str,
    replace: impl Fn(OperationRef<'c, 'a>) -> Result<Option<Vec<Value<'c, 'a>>>, PassError>,
) -> Result<(), PassError>
where
    'c: 'a,
{
    let all = op::collect(root, |op| computes_elements(op) && op.results().any(|r| wanted(r.r#type())));
    replace_each(all, rewriter, |op| {
        if op.region_count() > 0 {
            return Err("is elementwise but has regions, which a payload cannot contain".into());
        }
        replace(op)?.ok_or_else(|| otherwise.into())
    })
}
