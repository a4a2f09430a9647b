// SPDX-License-Identifier: Apache-2.0
//! What a kernel in a parallel loop needs, and is the same in many iterations: it is computed before the loop.
//!
//! An operand that depends on some indices of the loop alone is packed in a loop over those, each part of it into its own part of one copy.

use super::caller::{array_before, extent_before};
use super::nest::ESTIMATE;
use crate::ir::types::DYNAMIC;
use crate::ir::{self, Builder, Copier, ValueKey, context, ops, scf};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::melior;
use std::collections::HashSet;

/// An array that is computed in a parallel loop from some of its indices.
pub(super) struct Outside<'c, 'a> {
    /// The loop.
    around: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
    /// What computes the array in the loop, in order.
    makers: Vec<OperationRef<'c, 'a>>,
    /// The indices that it depends on, with their numbers of iterations.
    indices: Vec<(Value<'c, 'a>, Value<'c, 'a>)>,
}

/// The array may differ in each iteration, in a way that nothing before the loop knows.
pub(super) struct Unknown;

impl<'c: 'a, 'a> Outside<'c, 'a> {
    /// The array in the parallel loop around an operation; `None` if there is no such loop.
    pub(super) fn of(op: OperationRef<'c, 'a>, array: Value<'c, 'a>) -> Result<Option<Self>, Unknown> {
        let mut around = ir::walk::parent(op);
        while let Some(own) = around.filter(|own| ir::name(*own) != ops::scf::PARALLEL) {
            around = ir::walk::parent(own);
        }
        let Some(around) = around else {
            return Ok(None);
        };
        let block = ir::first_block(around).ok_or(Unknown)?;
        let makers = makers(array, block).ok_or(Unknown)?;
        let used: HashSet<ValueKey> =
            makers.iter().flat_map(|maker| maker.operands()).map(ValueKey::of).collect();
        let bounds: Vec<Value> = around.operands().collect();
        let arguments = ir::arguments(block);
        let mut indices = Vec::new();
        for (n, index) in arguments.iter().enumerate() {
            if !used.contains(&ValueKey::of(*index)) {
                continue;
            }
            let bound = *bounds.get(arguments.len() + n).ok_or(Unknown)?;
            indices.push((*index, bound));
        }
        // A view in the loop is none before it.
        if indices.is_empty() && !makers.is_empty() {
            return Err(Unknown);
        }
        Ok(Some(Outside { around, array, makers, indices }))
    }

    /// The iterations that have the same array. A bound that is not known counts as one.
    pub(super) fn repeats(&self) -> i64 {
        let bounds: Vec<Value> = self.around.operands().collect();
        let all = bounds
            .iter()
            .skip(bounds.len() / 3)
            .take(bounds.len() / 3)
            .map(|bound| count(*bound).unwrap_or(1));
        let own = self.indices.iter().map(|(_, bound)| count(*bound).unwrap_or(1));
        all.fold(1, i64::saturating_mul) / own.fold(1, i64::saturating_mul).max(1)
    }

    /// Whether the array is the same in all iterations.
    pub(super) fn is_one(&self) -> bool {
        self.indices.is_empty()
    }

    /// The loop.
    pub(super) fn around(&self) -> OperationRef<'c, 'a> {
        self.around
    }

    /// An extent of an array in the loop, as a value that is known before the loop.
    pub(super) fn extent(
        &self,
        array: Value<'c, 'a>,
        dimension: usize,
    ) -> Result<Option<Value<'c, 'a>>, String> {
        let is_outside = |value: Value<'c, 'a>| {
            let mut own = ir::definition(value).map(|(op, _)| op);
            while let Some(op) = own.filter(|op| *op != self.around) {
                own = ir::walk::parent(op);
            }
            own.is_none()
        };
        if is_outside(array) && ir::definition(array).is_some() {
            return extent_before(self.around, array, dimension).map(Some);
        }
        let open = ir::memref::extents(array.r#type()).into_iter();
        let number = open.take(dimension).filter(|n| *n == DYNAMIC).count();
        let size = ir::definition(array)
            .and_then(|(maker, _)| ir::shape::dynamic_size(maker, number))
            .filter(|size| is_outside(*size) && ir::definition(*size).is_some());
        Ok(size)
    }

    /// The parts of an array of this type, of `size` elements each: the array, before the loop, and the offset of the part of an
    /// iteration, before `op` in the loop. `fill` writes one part: it gets the operation to insert before, the array and the offset.
    ///
    /// # Errors
    /// The builder's error.
    pub(super) fn parts(
        &self,
        op: OperationRef<'c, 'a>,
        size: Value<'c, 'a>,
        element: &str,
        fill: impl FnOnce(OperationRef<'c, 'a>, Value<'c, 'a>, [Value<'c, 'a>; 2]) -> Result<(), String>,
    ) -> Result<[Value<'c, 'a>; 2], String> {
        let text = |e: Error| e.to_string();
        let at = Builder::before(context::of(self.around), self.around).map_err(text)?;
        let index = Type::index(at.context);
        let counts = self.indices.iter().map(|(_, bound)| count(*bound));
        let known = counts.fold(count(size), |all, n| all?.checked_mul(n?));
        let whole = match known {
            Some(all) => array_before(self.around, &format!("memref<{all}x{element}>"), None)?,
            None => {
                let mut all = size;
                for (_, bound) in &self.indices {
                    let product = at.value(ops::arith::MULI, &[all, *bound], &[], index);
                    all = product.map_err(text)?;
                }
                array_before(self.around, &format!("memref<?x{element}>"), Some(all))?
            }
        };
        let rank = self.indices.len();
        let (region, body, positions) = at.region(&vec![index; rank]);
        let end = body.create(ops::scf::REDUCE, &[], &[], &[], Vec::new());
        let end = end.map_err(text)?;
        let inside = Builder::before(at.context, end).map_err(text)?;
        let mut copier = Copier::new();
        for ((old, _), new) in self.indices.iter().zip(&positions) {
            copier.set(*old, *new);
        }
        for maker in &self.makers {
            copier.copy(*maker, &inside, &mut |_, _, _| Ok(false)).map_err(text)?;
        }
        let part = self.offset(end, &positions, size)?;
        fill(end, copier.get(self.array), [whole, part])?;
        let bounds: Vec<Value> = self.indices.iter().map(|(_, bound)| *bound).collect();
        let work = count(size).unwrap_or(ESTIMATE * ESTIMATE);
        scf::close_parallel(&at, &bounds, work, region).map_err(text)?;
        let own: Vec<Value> = self.indices.iter().map(|(own, _)| *own).collect();
        Ok([whole, self.offset(op, &own, size)?])
    }

    /// The offset of a part, before an operation.
    fn offset(
        &self,
        anchor: OperationRef<'c, 'a>,
        positions: &[Value<'c, 'a>],
        size: Value<'c, 'a>,
    ) -> Result<Value<'c, 'a>, String> {
        let text = |e: Error| e.to_string();
        let at = Builder::before(context::of(anchor), anchor).map_err(text)?;
        let index = Type::index(at.context);
        let binary = |name: &str, a, b| at.value(name, &[a, b], &[], index).map_err(text);
        let mut number = at.index(0).map_err(text)?;
        for (position, (_, bound)) in positions.iter().zip(&self.indices) {
            number = binary(ops::arith::MULI, number, *bound)?;
            number = binary(ops::arith::ADDI, number, *position)?;
        }
        binary(ops::arith::MULI, number, size)
    }
}

fn count(bound: Value) -> Option<i64> {
    ir::arith::Constant::of(bound)?.integer()
}

/// The operations of a block that a value is computed by, in order; `None` if one of them is more than a view or index.
fn makers<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    block: melior::ir::BlockRef<'c, 'a>,
) -> Option<Vec<OperationRef<'c, 'a>>> {
    let mut found: Vec<OperationRef> = Vec::new();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        let Some((maker, _)) = ir::definition(value) else {
            continue;
        };
        if maker.block() != Some(block) || found.contains(&maker) {
            // What a loop in the block computes is not known before that loop.
            if !ir::ancestor_in(block, maker).is_none_or(|own| own == maker) {
                return None;
            }
            continue;
        }
        let is_simple = maker.region_count() == 0 && skript_dialect::op::is_pure(&maker);
        if !is_simple {
            return None;
        }
        found.push(maker);
        pending.extend(maker.operands());
    }
    found.sort_by(|a, b| match ir::is_before(*a, *b) {
        true => std::cmp::Ordering::Less,
        false if a == b => std::cmp::Ordering::Equal,
        false => std::cmp::Ordering::Greater,
    });
    Some(found)
}
