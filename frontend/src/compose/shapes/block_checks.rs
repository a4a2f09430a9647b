// SPDX-License-Identifier: Apache-2.0
//! Run-time checks at a position in a block.

use crate::compose::calls::Composed;
use crate::compose::context::Context;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::checks::{keep, open_check};
use crate::compose::shapes::dynamic_extent::Canonical;
use crate::compose::synthesized_functions::{empty_function, renamed_check};
use crate::model::{Body, Check};

/// Adds a run-time check of a computed length or extent: after the body, or in a branch or a loop at the current
/// position.
pub(crate) fn test_result(context: &mut Context, builder: &mut Builder, check: Check) -> Composed<()> {
    if builder.blocks.len() != 1 {
        return check_here(context, builder, check);
    }
    keep(&mut builder.function.result_checks, check);
    Ok(())
}

/// Adds the checks that evaluated expressions require, at the current position of the block. The checks may use values
/// that are computed in this block, which may be a branch, so they are not moved out of it.
pub(crate) fn settle_here(context: &mut Context, builder: &mut Builder) -> Composed<()> {
    for demand in builder.demands.take() {
        if let Some(check) = open_check(context, demand)? {
            check_here(context, builder, check)?;
        }
    }
    Ok(())
}

/// Adds a check of extents among the operations of a block, as an invocation of a synthesized function.
pub(crate) fn check_here(context: &mut Context, builder: &mut Builder, check: Check) -> Composed<()> {
    let mut canonical = Canonical::default();
    let span = check.span;
    let check = renamed_check(&mut canonical, check)?;
    let (names, extents) = canonical.parameters().into_iter().unzip();
    let mut function = empty_function("length", span);
    function.extents = names;
    function.checks.push(check);
    function.body = Body::Formulas(Vec::new());
    let callee = context.add_synthesized(function)?;
    builder.invoke(callee, (Vec::new(), extents), Vec::new(), span);
    Ok(())
}
