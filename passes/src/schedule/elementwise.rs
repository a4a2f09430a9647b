// SPDX-License-Identifier: Apache-2.0
//! Elementwise operations around a reduction: its kernel computes them with each element of the output.
//!
//! The operation that fills the output before the reduction becomes the start of the kernel's accumulators. The one that
//! reads the reduction's result becomes the end of the kernel, which then stores that operation's result. Neither the
//! initial value nor the bare result of the reduction is written to memory.

use super::body::Operand;
use super::buffer_uses::{BufferUses, has_own_buffer};
use super::nest::{Address, Loop};
use super::reading::{Array, Reduction};
use crate::ir::effects::Effects;
use crate::ir::linalg::{Fill, Generic, Yield};
use crate::ir::memref::root_of;
use crate::ir::{self, ValueKey, maps, ops};
use crate::structure::Affine;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use std::collections::{HashMap, HashSet};

/// Operations between a reduction and the elementwise one that is merged with it: as many are looked at.
const FARTHEST: usize = 256;

/// A reduction with the elementwise operations that are part of it.
pub(super) struct Merged<'c, 'a> {
    pub(super) reduction: Reduction<'c, 'a>,
    /// The operation that is replaced: the reduction, or what follows it.
    pub(super) last: OperationRef<'c, 'a>,
    /// The operations that the kernel computes as well.
    pub(super) others: Vec<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Merged<'c, 'a> {
    /// The reduction `op` with as many of its neighbours as possible.
    pub(super) fn of(
        op: OperationRef<'c, 'a>,
        reduction: Reduction<'c, 'a>,
        effects: &mut Effects<'c, 'a>,
    ) -> Self {
        let mut merged = Merged { reduction, last: op, others: Vec::new() };
        if let Some(array) =
            merged.reduction.output().filter(|array| merged.writes_all() && has_own_buffer(*array))
            && let Some(uses) = BufferUses::of(array, op)
        {
            merged.merge_start(&uses, effects);
            merged.merge_finish(&uses, effects);
        }
        merged
    }

    /// Whether the reduction writes each element of its output's array.
    fn writes_all(&self) -> bool {
        let array = self.reduction.output().and_then(Array::of);
        let mut loops = HashSet::new();
        array.is_some_and(|array| {
            let mut dimensions = self.reduction.subscripts.iter().zip(&array.shape);
            dimensions.all(|(form, extent)| match form.as_index() {
                Some(l) => loops.insert(l),
                None => *extent == Some(1),
            })
        })
    }

    /// Merges the operation that reads the result, if nothing else does.
    fn merge_finish(&mut self, uses: &BufferUses<'c, 'a>, effects: &mut Effects<'c, 'a>) -> Option<()> {
        let follower = *uses.after.first()?;
        let read = inputs(&self.reduction);
        let mut reduction = self.reduction.clone();
        let destination = finish(&mut reduction, follower, uses.array)?;
        let is_in_place = ValueKey::of(destination) == ValueKey::of(uses.array);
        if !is_in_place && !is_dead_after_first(uses) {
            return None;
        }
        if !is_unchanged(self.last, follower, &read, effects) {
            return None;
        }
        self.others.push(self.last);
        self.last = follower;
        self.reduction = reduction;
        Some(())
    }

    /// Merges the operation that fills the output.
    fn merge_start(&mut self, uses: &BufferUses<'c, 'a>, effects: &mut Effects<'c, 'a>) -> Option<()> {
        let filler = *uses.before.last()?;
        let mut reduction = self.reduction.clone();
        let known = reduction.arrays.len();
        start(&mut reduction, filler, uses.array)?;
        let read = reduction.arrays.iter().skip(known);
        let read: Vec<ValueKey> = read.map(|array| root_of(*array)).collect();
        if !is_unchanged(filler, self.last, &read, effects) {
            return None;
        }
        self.others.push(filler);
        self.reduction = reduction;
        Some(())
    }
}

/// Whether nothing reads the array after the first use before it is written as a whole.
fn is_dead_after_first(uses: &BufferUses) -> bool {
    let fills = |op: &OperationRef| Elementwise::of(*op).is_some_and(|op| op.fills(uses.array));
    match uses.after.get(1) {
        // The block may be the body of a loop, which fills the array in each iteration.
        None => uses.is_local || uses.is_allocated && uses.before.first().is_some_and(fills),
        Some(next) => fills(next),
    }
}

/// The roots of the arrays that a kernel reads, without the output's.
fn inputs(reduction: &Reduction) -> Vec<ValueKey> {
    let inputs =
        reduction.arrays.iter().enumerate().filter(|(position, _)| *position != reduction.nest.output);
    inputs.map(|(_, array)| root_of(*array)).collect()
}

/// Whether no operation between two of one block writes these buffers.
fn is_unchanged<'c: 'a, 'a>(
    from: OperationRef<'c, 'a>,
    to: OperationRef<'c, 'a>,
    roots: &[ValueKey],
    effects: &mut Effects<'c, 'a>,
) -> bool {
    let mut next = from.next_in_block();
    for _ in 0..FARTHEST {
        match next {
            Some(op) if op == to => return true,
            Some(op) => {
                let mut written = effects.written(op).into_iter();
                if written.any(|value| roots.contains(&root_of(value))) {
                    return false;
                }
                next = op.next_in_block();
            }
            None => return false,
        }
    }
    false
}

/// An elementwise operation: each point writes one element, in the order of the loops.
pub(super) struct Elementwise<'c, 'a> {
    generic: Generic<'c, 'a>,
    operands: Vec<Value<'c, 'a>>,
    /// The subscripts of each operand.
    subscripts: Vec<Vec<Affine>>,
}

impl<'c: 'a, 'a> Elementwise<'c, 'a> {
    pub(super) fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = Generic::cast(op)?;
        let operands: Vec<Value> = op.operands().collect();
        let maps = generic.indexing_maps().into_iter();
        let elementwise =
            Elementwise { generic, subscripts: maps.map(maps::forms).collect::<Option<_>>()?, operands };
        let is_parallel = generic.reductions().iter().all(|reduces| !reduces);
        let output = elementwise.subscripts.last()?;
        let loops: Vec<Option<usize>> = output.iter().map(Affine::as_index).collect();
        let is_every_loop =
            (0..generic.reductions().len()).all(|l| loops.iter().filter(|o| **o == Some(l)).count() == 1);
        (is_parallel
            && is_every_loop
            && loops.iter().all(Option::is_some)
            && elementwise.subscripts.len() == elementwise.operands.len())
        .then_some(elementwise)
    }

    fn output(&self) -> Option<Value<'c, 'a>> {
        self.operands.last().copied()
    }

    /// The argument of the payload for an operand, if the payload uses it.
    fn argument(&self, position: usize) -> Option<Value<'c, 'a>> {
        let argument = self.generic.body()?.argument(position).ok()?;
        let argument = Value::from(argument);
        (!ir::users(argument).is_empty()).then_some(argument)
    }

    /// Whether the operation writes all of an array and reads none of it.
    pub(super) fn fills(&self, array: Value<'c, 'a>) -> bool {
        let last = self.operands.len().saturating_sub(1);
        let is_array = |value: &Value| root_of(*value) == root_of(array);
        self.output().is_some_and(|own| own == array)
            && self.argument(last).is_none()
            && !self.operands.iter().take(last).any(is_array)
    }

    /// The loops of the reduction that the operation's loops are, where the array is subscripted by both; `None` if it is
    /// not one element by another, as where the operation reads one row of several.
    fn loops(
        &self,
        array: Value<'c, 'a>,
        own: &[Affine],
        reduction: &[Affine],
    ) -> Option<Vec<Option<usize>>> {
        let mut loops = vec![None; self.generic.reductions().len()];
        let extents = ir::memref::extents(array.r#type());
        if own.len() != reduction.len() || own.len() != extents.len() {
            return None;
        }
        for ((own, other), extent) in own.iter().zip(reduction).zip(extents) {
            match own.as_index() {
                Some(index) => {
                    let slot = loops.get_mut(index)?;
                    if slot.is_some() {
                        return None;
                    }
                    *slot = other.as_index();
                }
                None if own.as_constant() == Some(0) && extent == 1 => {}
                None => return None,
            }
        }
        Some(loops)
    }

    /// The address of an operand by the loops of a reduction.
    fn address(
        &self,
        position: usize,
        numbers: &[Option<usize>],
        loops: &[Loop],
    ) -> Option<(Array, Address)> {
        let array = Array::of(*self.operands.get(position)?)?;
        let address = array.address(self.subscripts.get(position)?, numbers, loops)?;
        Some((array, address))
    }

    /// The value that the payload yields, as an operand of a reduction's body. `known` are the arguments of the payload.
    fn read(&self, reduction: &mut Reduction<'c, 'a>, known: HashMap<ValueKey, Operand>) -> Option<Operand> {
        let body = self.generic.body()?;
        reduction.extend(known, |scalars| {
            let mut result = None;
            for op in ir::operations(body) {
                match ir::name(op).as_str() {
                    ops::linalg::YIELD if op.operand_count() == 1 => {
                        result = scalars.operand(Yield::cast(op)?.value().ok()?);
                    }
                    // The loops are not those of the reduction.
                    ops::linalg::INDEX => return None,
                    name => scalars.step(op, name)?,
                }
            }
            result
        })
    }
}

/// Adds to a reduction what fills its output before.
fn start<'c: 'a, 'a>(
    reduction: &mut Reduction<'c, 'a>,
    filler: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
) -> Option<()> {
    if let Some(fill) = Fill::cast(filler) {
        if fill.destination().ok()? != array {
            return None;
        }
        let value = fill.value().ok()?;
        reduction.body.start = reduction.extend(HashMap::new(), |scalars| scalars.operand(value))?;
        return Some(());
    }
    let filler = Elementwise::of(filler)?;
    if !filler.fills(array) {
        return None;
    }
    let loops = filler.loops(array, filler.subscripts.last()?, &reduction.subscripts)?;
    let known = arguments(&filler, reduction, &loops, None)?;
    reduction.body.start = filler.read(reduction, known)?;
    Some(())
}

/// Adds to a reduction what reads its result, whose array is given, and returns the array that this writes.
fn finish<'c: 'a, 'a>(
    reduction: &mut Reduction<'c, 'a>,
    follower: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
) -> Option<Value<'c, 'a>> {
    let follower = Elementwise::of(follower)?;
    let position = follower.operands.iter().position(|own| *own == array)?;
    let subscripts = follower.subscripts.get(position)?;
    let loops = follower.loops(array, subscripts, &reduction.subscripts)?;
    let destination = follower.output()?;
    let last = follower.operands.len() - 1;
    let (written, address) = follower.address(last, &loops, &reduction.nest.loops)?;
    // A loop that the reduction has not has one iteration.
    for (form, extent) in follower.subscripts.last()?.iter().zip(&written.shape) {
        let is_own = form.as_index().and_then(|l| *loops.get(l)?).is_none();
        if is_own && *extent != Some(1) {
            return None;
        }
    }
    let is_in_place = destination == array;
    // What the reduction reads must not be the buffer that the follower writes under another name.
    if !is_in_place && !has_own_buffer(destination) {
        return None;
    }
    if root_of(destination) == root_of(array) {
        // In place: at the same element.
        let written = follower.subscripts.get(last)?;
        if !is_in_place || !is_same(array, written, subscripts) {
            return None;
        }
    }
    if !inputs(reduction).iter().all(|root| *root != root_of(destination)) {
        return None;
    }
    // The output's content before the reduction is an input, unless the result replaces it.
    let output = reduction.nest.output;
    if !is_in_place && reduction.body.start == Operand::Input(output) {
        let own = reduction.nest.operands.get(output)?.clone();
        let position = reduction.add(array, &Array::of(array)?, own);
        reduction.body.start = Operand::Input(position);
    }
    reduction.set_output(destination, &written, address);
    let known = arguments(&follower, reduction, &loops, Some((array, subscripts)))?;
    reduction.body.finish = follower.read(reduction, known)?;
    Some(destination)
}

/// Whether subscripts are those of the same element. That of a dimension with one element does not matter.
fn is_same(array: Value, one: &[Affine], other: &[Affine]) -> bool {
    let extents = ir::memref::extents(array.r#type());
    let mut pairs = one.iter().zip(other).zip(extents);
    one.len() == other.len() && pairs.all(|((a, b), extent)| extent == 1 || a == b)
}

/// What the arguments of an elementwise payload are: the reduction's result, or elements of arrays, which are added.
fn arguments<'c: 'a, 'a>(
    elementwise: &Elementwise<'c, 'a>,
    reduction: &mut Reduction<'c, 'a>,
    loops: &[Option<usize>],
    result: Option<(Value<'c, 'a>, &Vec<Affine>)>,
) -> Option<HashMap<ValueKey, Operand>> {
    let mut known = HashMap::new();
    let output = reduction.nest.output;
    for (position, array) in elementwise.operands.iter().enumerate() {
        let Some(argument) = elementwise.argument(position) else {
            continue;
        };
        let subscripts = elementwise.subscripts.get(position)?;
        if result.is_some_and(|(own, at)| own == *array && is_same(own, at, subscripts)) {
            known.insert(ValueKey::of(argument), Operand::Reduced);
            continue;
        }
        // The bare result is not in memory.
        if result.is_some_and(|(own, _)| root_of(own) == root_of(*array)) {
            return None;
        }
        let (read, address) = elementwise.address(position, loops, &reduction.nest.loops)?;
        let written = reduction.output()?;
        let operand = if root_of(*array) == root_of(written) {
            // What the kernel writes is read at the same element alone.

            let is_same = *array == written && reduction.nest.operands.get(output)? == &address;
            is_same.then_some(output)?
        } else {
            reduction.add(*array, &read, address)
        };
        known.insert(ValueKey::of(argument), Operand::Input(operand));
    }
    Some(known)
}
