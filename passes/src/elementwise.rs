// SPDX-License-Identifier: Apache-2.0
//! Elementwise operations on tensors and vectors: one pattern for every op with the trait, whatever its dialect.

pub(crate) mod check_extents;
pub(crate) mod compute_in_users;
pub(crate) mod elementwise_to_formula;
pub(crate) mod elementwise_to_linalg;
pub(crate) mod factor_sums;
pub(crate) mod fuse_elementwise;
pub(crate) mod hoist_invariants;
pub(crate) mod scalarize_elementwise;
pub(crate) mod unroll_elementwise;

use crate::ir::arith::Select;
use crate::ir::{replace_each, types};
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, Rewriter, op};

/// Replaces every elementwise op whose results have types that `wanted` accepts, and that computes elements.
///
/// `replace` returns the new values, or `None` for an op that the conversion does not support.
///
/// # Errors
/// Fails at each operation that has regions (a payload cannot hold them), or that is not supported, with the reason
/// `otherwise`.
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
    let all = op::collect(root, |op| {
        op::has_elementwise_trait(&op) && op.results().any(|r| wanted(r.r#type())) && !selects_tensors(op)
    });
    replace_each(all, rewriter, |found| {
        if found.region_count() > 0 {
            return Err("is elementwise but has regions, which a payload cannot hold".into());
        }
        replace(found)?.ok_or_else(|| otherwise.into())
    })
}

/// `arith.select` with a scalar condition and tensors of dynamic extents. It has the trait, but the tensors may differ
/// in their extents, as results of branches do; it selects a tensor and computes no elements.
fn selects_tensors<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> bool {
    let open = |v: Value<'c, 'a>| {
        types::extents(v.r#type()).is_some_and(|extents| extents.contains(&types::DYNAMIC))
    };
    Select::cast(op).is_some_and(|select| {
        let condition = select.condition();
        condition.is_ok_and(|condition| types::extents(condition.r#type()).is_none())
            && select.then().is_ok_and(open)
    })
}
