// SPDX-License-Identifier: Apache-2.0
//! `skript-guard-angles`: prevents the upstream folder of `math.atan2` from folding `atan2(±0, ±0)` to NaN.
//!
//! IEEE 754 defines `atan2` of all pairs of zeros, and the generated code computes it, but the folder returns NaN. If
//! both operands are zero, the pass replaces the second one by ±1 with the same sign, which does not change the angle.
//!
//! Requires: functions are on scalars. Guarantees: no folder changes a value of `math.atan2`.

use super::terms::Real;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, TypeLike, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, op};
use skript_passes::ir::builder::arith::Reals;
use skript_passes::ir::{Builder, both_operands, context, definition, ops, replace_each};

/// The pass `skript-guard-angles`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-guard-angles",
    summary: "the angle of two zeros is computed, not folded",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Math],
    run: |root, _, rewriter| {
        replace_each(op::collect(&root, is_angle), rewriter, |op| {
            let at = Builder::before(context::of(op), op)?;
            let [y, x] = both_operands(op)?.map(|value| Real { at, value });
            let (zero, one) = (y.constant(0.0), y.constant(1.0));
            let are_zeros = y.is(Reals::Equal, zero).and(x.is(Reals::Equal, zero));
            Ok(vec![y.atan2(are_zeros.select(one.copysign(x), x)).value])
        })
    },
    ..Pass::NONE
};

fn is_angle(op: OperationRef<'_, '_>) -> bool {
    op::is(&op, ops::math::ATAN2) && op.results().all(|r| r.r#type().is_float()) && !is_guarded(op)
}

/// Whether the second operand is a select of a number with a copied sign, as emitted by this pass.
fn is_guarded(op: OperationRef<'_, '_>) -> bool {
    let select = op.operand(1).ok().and_then(definition);
    let side = select
        .filter(|(select, _)| op::is(select, ops::arith::SELECT))
        .and_then(|(select, _)| select.operand(1).ok().and_then(definition));
    side.is_some_and(|(side, _)| op::is(&side, ops::math::COPYSIGN))
}
