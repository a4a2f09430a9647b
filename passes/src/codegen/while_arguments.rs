// SPDX-License-Identifier: Apache-2.0
//! Aligns the arguments of `scf.while`: the second region receives the loop-carried values at the same positions as the
//! first region.
//!
//! Canonicalization drops values that a region does not use, which shifts the positions of the others. But bufferization
//! compares loop-carried tensors by position. So this step also passes the values that the second region does not use.

use crate::error::CodegenError;
use crate::ir::{self, Builder, ops};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};

/// Returns the aligned loop: `op` itself if its tensors are already at the same positions.
pub(super) fn align<'c, 'a>(op: OperationRef<'c, 'a>) -> Result<OperationRef<'c, 'a>, CodegenError> {
    let missing = || CodegenError::Module("a loop without regions".to_owned());
    let [before, after] = ir::blocks(op)[..] else {
        return Err(missing());
    };
    let condition = ir::operations(before).last().copied().ok_or_else(missing)?;
    let operands: Vec<Value> = condition.operands().collect();
    let Some((test, passed)) = operands.split_first() else {
        return Err(missing());
    };
    let carried = ir::arguments(before);
    let Some(positions) = positions(passed, &carried) else {
        return Ok(op);
    };
    let is_passed = |n: usize| positions.contains(&n) || !carried[n].r#type().is_ranked_tensor();
    let in_order = positions.iter().enumerate().all(|(n, position)| n == *position);
    if in_order && (0..carried.len()).all(is_passed) {
        return Ok(op);
    }
    let count = positions.iter().map(|position| position + 1).fold(carried.len(), usize::max);
    let mut all: Vec<Value> = carried.clone();
    all.resize(count, *test);
    for (value, position) in passed.iter().zip(&positions) {
        all[*position] = *value;
    }
    let types: Vec<_> = all.iter().map(|v| v.r#type()).collect();

    let operands: Vec<Value> = std::iter::once(*test).chain(all).collect();
    ir::set_operands(condition, &operands);
    let old = ir::arguments(after);
    for r#type in &types {
        after.add_argument(*r#type, op.location());
    }
    let new = ir::arguments(after).split_off(old.len());
    for (value, position) in old.iter().zip(&positions) {
        ir::replace_uses(*value, new[*position]);
    }
    for _ in &old {
        ir::mutation::erase_argument(after, 0);
    }
    let regions = vec![ir::regions::take(op, 0)?, ir::regions::take(op, 1)?];
    let inits: Vec<Value> = op.operands().collect();
    let aligned = Builder::at(op).create(ops::scf::WHILE, &inits, &[], &types, regions)?;
    for (n, position) in positions.iter().enumerate() {
        ir::replace_uses(op.result(n)?.into(), aligned.result(*position)?.into());
    }
    ir::erase(op);
    Ok(aligned)
}

/// Returns the new position of each passed value. A value that is an argument of the first region has the position of that
/// argument, another value a free position with its type. Values that are not tensors may also come last. `None` if there is no
/// position for a tensor.
fn positions(passed: &[Value], carried: &[Value]) -> Option<Vec<usize>> {
    let mut taken = vec![false; carried.len()];
    let mut positions = vec![None; passed.len()];
    for (value, position) in passed.iter().zip(&mut positions) {
        let same = carried.iter().position(|argument| argument == value).filter(|n| !taken[*n]);
        if let Some(same) = same {
            taken[same] = true;
            *position = Some(same);
        }
    }
    let mut next = carried.len();
    for (n, (value, position)) in passed.iter().zip(&mut positions).enumerate() {
        if position.is_some() {
            continue;
        }
        let fits = |m: &usize| carried.get(*m).is_some_and(|c| c.r#type() == value.r#type()) && !taken[*m];
        let free = std::iter::once(n).chain(0..carried.len()).find(fits);
        *position = match free {
            Some(free) => {
                taken[free] = true;
                Some(free)
            }
            None if value.r#type().is_ranked_tensor() => return None,
            None => {
                next += 1;
                Some(next - 1)
            }
        };
    }
    positions.into_iter().collect()
}
