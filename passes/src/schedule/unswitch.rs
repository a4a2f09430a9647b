// SPDX-License-Identifier: Apache-2.0
//! `skript-unswitch-loops`: tests loop-invariant conditions before the innermost loop instead of in each iteration.
//!
//! A formula whose value is a choice, such as `x[i, r] := j < i ? … : …`, has a branch in the loop over `r`, which does not depend on
//! `r`. LLVM does not vectorize a loop with a division in a branch (`skript-annotate-loops`), and does not unswitch such loops. The pass
//! makes two versions of the loop, one for each branch.
//!
//! Requires: `scf` loops. Guarantees: the same iterations compute the same values.

use crate::ir::scf::{Bounds, If};
use crate::ir::walk::{blocks, named, nested};
use crate::ir::{self, Builder, Copier, ValueKey, builder, ops};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Region, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, op};
use std::collections::HashSet;

/// The pass `skript-unswitch-loops`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-unswitch-loops",
    summary: "test loop-invariant conditions before innermost loops",
    dependent_dialects: &[Dialect::Arith, Dialect::Scf],
    run: |root, _, rewriter| {
        let mut pending: Vec<_> =
            named(root, ops::scf::FOR).into_iter().map(|op| (op, MAX_VERSIONS)).collect();
        while let Some((op, versions)) = pending.pop() {
            if versions > 1
                && let Some(switch) = Switch::new(op)
            {
                let branch = switch.unswitch(&Builder::before(rewriter.context(), op)?)?;
                pending.extend(named(branch, ops::scf::FOR).into_iter().map(|op| (op, versions / 2)));
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Maximum number of versions of a loop: each condition doubles their number.
const MAX_VERSIONS: usize = 8;

/// Maximum number of operations of a loop with two versions.
const MAX_SIZE: usize = 64;

/// Minimum number of iterations of a loop with two versions: a shorter loop does not fill a vector.
const MIN_ITERATIONS: i64 = 4;

/// An innermost loop with a branch whose condition is loop-invariant.
struct Switch<'c, 'a> {
    op: OperationRef<'c, 'a>,
    branch: OperationRef<'c, 'a>,
    condition: Value<'c, 'a>,
    /// The operations of the loop that compute the condition.
    needed: Vec<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Switch<'c, 'a> {
    /// `None` for a loop that is not unswitched.
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let is_short = Bounds::all(op).first()?.iterations().is_some_and(|n| n < MIN_ITERATIONS);
        let inside = nested(op);
        let is_innermost = inside.iter().all(|op| op.region_count() == 0 || ir::name(*op) == ops::scf::IF);
        if is_short || !is_innermost || inside.len() > MAX_SIZE {
            return None;
        }
        let body = ir::first_block(op)?;
        let variant = variant_values(body);
        let children = ir::operations(body);
        let mut branches = children.iter().filter_map(|op| If::cast(*op));
        branches.find_map(|branch| {
            let condition = branch.condition().ok()?;
            let is_variant = variant.contains(&ValueKey::of(condition));
            let needed = needed(condition, body).filter(|_| !is_variant)?;
            Some(Switch { op, branch: branch.op(), condition, needed })
        })
    }

    /// Replaces the loop by a branch with a loop in each region.
    fn unswitch(&self, at: &Builder<'c, 'a>) -> Result<OperationRef<'c, 'a>, PassError> {
        let mut copier = Copier::new();
        copier.copy_all(&self.needed, at)?;
        let condition = copier.get(self.condition);
        let regions = [0, 1].map(|number| self.version(number, at)).into_iter().collect::<Result<_, _>>()?;
        let types: Vec<_> = self.op.results().map(|result| result.r#type()).collect();
        let branch = at.create(ops::scf::IF, &[condition], &[], &types, regions)?;
        for (old, new) in self.op.results().zip(branch.results()) {
            ir::replace_uses(old.into(), new.into());
        }
        ir::erase(self.op);
        Ok(branch)
    }

    /// The loop with the operations of one region instead of the branch.
    fn version(&self, number: usize, at: &Builder<'c, 'a>) -> Result<Region<'c>, Error> {
        let (region, inside, _) = at.region(&[]);
        let version = Copier::new().rebuild(self.op, &inside, &mut |copier, op, to| {
            if op != self.branch {
                return Ok(false);
            }
            if let Some(block) = blocks(op).get(number) {
                let mut chosen = builder::operations(*block);
                let end = chosen.pop().ok_or(Error::OperationBuild)?;
                copier.copy_all(&chosen, to)?;
                for (result, value) in op.results().zip(end.operands()) {
                    copier.set(result, copier.get(value));
                }
            }
            Ok(true)
        })?;
        let results: Vec<Value> = version.results().map(Into::into).collect();
        inside.create(ops::scf::YIELD, &results, &[], &[], Vec::new())?;
        Ok(region)
    }
}

/// The values of a loop body that may differ between iterations, or that cannot be computed before the loop.
fn variant_values(body: BlockRef) -> HashSet<ValueKey> {
    let mut variant: HashSet<ValueKey> = ir::arguments(body).into_iter().map(ValueKey::of).collect();
    for op in ir::operations(body) {
        let depends = op.operands().any(|operand| variant.contains(&ValueKey::of(operand)));
        if depends || op.region_count() > 0 || !op::is_speculatable(&op) {
            variant.extend(op.results().map(ValueKey::of));
        }
    }
    variant
}

/// The operations of a block that compute a value, in order; `None` if one of them has regions.
fn needed<'c: 'a, 'a>(value: Value<'c, 'a>, body: BlockRef<'c, 'a>) -> Option<Vec<OperationRef<'c, 'a>>> {
    let mut wanted = HashSet::from([ValueKey::of(value)]);
    let mut needed = Vec::new();
    for op in ir::operations(body).into_iter().rev() {
        if op.results().any(|result| wanted.contains(&ValueKey::of(result))) {
            if op.region_count() > 0 {
                return None;
            }
            wanted.extend(op.operands().map(ValueKey::of));
            needed.push(op);
        }
    }
    needed.reverse();
    Some(needed)
}
