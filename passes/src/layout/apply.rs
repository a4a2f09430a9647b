// SPDX-License-Identifier: Apache-2.0
//! Applies the layouts to tensors: permutes types, maps and slices, and copies tensors at the borders of regions.

use super::classes::{Classes, definition_is_cloned, stored};
use super::node::Node;
use super::{LastDimension, order};
use crate::ir::generic::{Access, copy_of};
use crate::ir::linalg::reorder_loops;
use crate::ir::shape::InsertSlice;
use crate::ir::{self, Builder, attributes, maps, mutation, typed, types};
use crate::structure::Affine;
use melior::Context;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::{PassError, op};

/// Applies the layout of each class to the function.
pub(super) fn apply<'c: 'a, 'a>(
    classes: &Classes<'c, 'a>,
    layouts: &[LastDimension],
    context: &'c Context,
) -> Result<(), PassError> {
    if layouts.iter().all(Option::is_none) {
        return Ok(());
    }
    let apply = Apply { classes, layouts, context };
    for value in classes.members.iter().flatten() {
        let last = apply.layout(*value);
        if last.is_some() {
            apply.restore(*value)?;
            mutation::retype(*value, stored(value.r#type(), last));
        }
    }
    for slice in &classes.slices {
        apply.slice(*slice)?;
    }
    for node in &classes.nodes {
        apply.node(node)?;
    }
    Ok(())
}

struct Apply<'t, 'c, 'a> {
    classes: &'t Classes<'c, 'a>,
    layouts: &'t [LastDimension],
    context: &'c Context,
}

impl<'c: 'a, 'a> Apply<'_, 'c, 'a> {
    fn layout(&self, value: Value) -> LastDimension {
        let class = self.classes.class(value)?;
        self.layouts.get(class).copied().flatten()
    }

    /// Replaces the uses of a member that require row-major order by a row-major copy.
    fn restore(&self, value: Value<'c, 'a>) -> Result<(), PassError> {
        let users = self.classes.borders(value);
        let definition = ir::definition(value).filter(|_| !users.is_empty());
        let Some((definition, _)) = definition else {
            return Ok(());
        };
        let r#type = value.r#type();
        let rank = types::extents(r#type).map_or(0, |extents| extents.len());
        let subscripts = order(rank, self.layout(value));
        let next = definition.next_in_block();
        let at = Builder::before(self.context, next.ok_or("a tensor at the end of a block")?)?;
        let at = at.with_location(definition.location());
        let copy = copy(value, &subscripts, r#type, &at)?;
        for user in users {
            for (position, operand) in user.operands().enumerate() {
                if operand == value {
                    mutation::set_operand(user, position, copy);
                }
            }
        }
        Ok(())
    }

    fn slice(&self, slice: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let result: Value = slice.result(0)?.into();
        let Some(last) = self.layout(result) else {
            return Ok(());
        };
        for name in ["static_offsets", "static_sizes", "static_strides"] {
            let row_major = typed::i64s(slice, name);
            let permuted = order(row_major.len(), Some(last)).into_iter();
            let permuted: Vec<i64> = permuted.filter_map(|d| row_major.get(d).copied()).collect();
            mutation::set(slice, name, attributes::i64s(self.context, &permuted));
        }
        if let Some(insertion) = InsertSlice::cast(slice) {
            let destination = insertion.destination()?;
            mutation::set_operand(slice, 1, self.cloned(destination, last, slice)?);
            let source = insertion.source()?;
            if self.layout(source).is_none() {
                let at = Builder::before(self.context, slice)?;
                mutation::set_operand(slice, 0, permuted(source, last, &at)?);
            }
        }
        Ok(())
    }

    fn node(&self, node: &Node<'c, 'a>) -> Result<(), PassError> {
        let results: Vec<LastDimension> = node.nest.op.results().map(|r| self.layout(r.into())).collect();
        let Some(output) = node.nest.outputs().first() else {
            return Ok(());
        };
        let lanes = results.first().copied().flatten().and_then(|last| node.contiguous(output, Some(last)));
        let mut indexing_maps = Vec::new();
        let mut is_changed = false;
        for (position, operand) in node.nest.operands.iter().enumerate() {
            let result = position.checked_sub(node.nest.inputs);
            let last = match result {
                Some(result) => results.get(result).copied().flatten(),
                None => self.layout(operand.value),
            };
            let weights = lanes.filter(|_| result.is_none() && operand.is_read());
            let weights = weights.and_then(|l| node.stored_last(position, l));
            if let (Some(_), Some(last)) = (result, last) {
                let init = self.cloned(operand.value, last, node.nest.op)?;
                mutation::set_operand(node.nest.op, position, init);
            }
            if let Some(last) = weights {
                let at = Builder::before(self.context, node.nest.op)?;
                let copy = permuted(operand.value, last, &at)?;
                mutation::set_operand(node.nest.op, position, copy);
            }
            let last = last.or(weights);
            is_changed |= last.is_some();
            let subscripts = order(operand.forms.len(), last).into_iter();
            let subscripts: Vec<Affine> = subscripts.filter_map(|d| operand.forms.get(d).cloned()).collect();
            let map = maps::map(self.context, node.nest.extents.len(), &subscripts);
            indexing_maps.push(map.ok_or("a map that MLIR does not parse")?);
        }
        if !is_changed {
            return Ok(());
        }
        let list = ArrayAttribute::new(self.context, &indexing_maps).into();
        mutation::set(node.nest.op, "indexing_maps", list);
        if let Some(order) = loops(node, results.first().copied().flatten()) {
            reorder_loops(node.nest.op, &order, self.context);
        }
        Ok(())
    }

    /// Clones an empty or filled tensor in a layout. Other tensors already have the layout, and are returned unchanged.
    fn cloned(
        &self,
        value: Value<'c, 'a>,
        last: usize,
        user: OperationRef<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        if self.classes.class(value).is_some() || !definition_is_cloned(value) {
            return Ok(value);
        }
        let Some((definition, _)) = ir::definition(value) else {
            return Ok(value);
        };
        let mut operands: Vec<Value> = definition.operands().collect();
        if let Some(destination) = operands.last_mut()
            && types::extents(destination.r#type()).is_some()
        {
            // The operand is the empty tensor to fill.
            *destination = self.cloned(*destination, last, user)?;
        }
        let r#type = stored(value.r#type(), Some(last));
        let clone = op::clone_with(&definition, &operands, &[r#type]);
        let at = Builder::before(self.context, user)?;
        Ok(at.insert(clone).result(0)?.into())
    }
}

/// Returns the loops in the order in which the result is stored; reductions keep their positions.
fn loops(node: &Node, last: LastDimension) -> Option<Vec<usize>> {
    last?;
    let output = node.nest.outputs().first()?;
    let stored = order(output.forms.len(), last).into_iter();
    let mut stored =
        stored.map(|d| output.forms.get(d)?.as_index()).collect::<Option<Vec<usize>>>()?.into_iter();
    let loops: Vec<usize> = node
        .nest
        .reductions
        .iter()
        .enumerate()
        .map(|(l, reduces)| if *reduces { Some(l) } else { stored.next() })
        .collect::<Option<_>>()?;
    let mut sorted = loops.clone();
    sorted.sort_unstable();
    sorted.dedup();
    (sorted.len() == loops.len()).then_some(loops)
}

/// Copies a row-major tensor into the layout `last`.
fn permuted<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    last: usize,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let rank = types::extents(value.r#type()).map_or(0, |extents| extents.len());
    let order = order(rank, Some(last));
    // The subscript of dimension `d` of the source is its position in the order.
    let subscripts: Vec<usize> =
        (0..rank).filter_map(|d| order.iter().position(|dimension| *dimension == d)).collect();
    copy(value, &subscripts, stored(value.r#type(), Some(last)), at)
}

/// Copies a tensor to a new tensor of a type; `subscripts` are the dimensions of the new tensor that index the dimensions of `value`.
fn copy<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    subscripts: &[usize],
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let source = Access(value, subscripts.iter().copied().map(Affine::index).collect());
    Ok(copy_of(at, source, r#type, &at.dynamic_extents(value)?)?)
}
