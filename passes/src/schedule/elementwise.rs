// SPDX-License-Identifier: Apache-2.0
//! Fuses elementwise operations with a reduction: the kernel computes them for each element of the output.
//!
//! The operation that fills the output before the reduction becomes the initial value of the kernel's accumulators. The
//! operation that reads the reduction's result becomes the end of the kernel, which then stores the result of this
//! operation. Neither the initial value nor the intermediate result of the reduction is written to memory.

use super::body::Operand;
use super::buffer_uses::{BufferUses, has_own_buffer};
use super::nest::Address;
use super::reading::{Array, Reduction};
use crate::ir::effects::Effects;
use crate::ir::generic::{LoopNest, Operand as Accessed};
use crate::ir::linalg::Fill;
use crate::ir::memref::root_of;
use crate::ir::{self, ValueKey};
use crate::structure::Affine;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use std::collections::{HashMap, HashSet};

/// Maximum number of operations between a reduction and a fused elementwise operation.
const MAX_DISTANCE: usize = 256;

/// A reduction with its fused elementwise operations.
pub(super) struct Merged<'c, 'a> {
    pub(super) reduction: Reduction<'c, 'a>,
    /// The operation that the kernel replaces: the reduction, or the elementwise operation after it.
    pub(super) last: OperationRef<'c, 'a>,
    /// The other operations that the kernel computes.
    pub(super) others: Vec<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Merged<'c, 'a> {
    /// Fuses the reduction `op` with as many of its neighbours as possible.
    pub(super) fn around(
        op: OperationRef<'c, 'a>,
        reduction: Reduction<'c, 'a>,
        effects: &mut Effects<'c, 'a>,
    ) -> Self {
        let mut merged = Merged { reduction, last: op, others: Vec::new() };
        if let Some(array) =
            merged.reduction.output().filter(|array| merged.writes_all() && has_own_buffer(*array))
            && let Some(uses) = BufferUses::new(array, op)
        {
            merged.merge_start(&uses, effects);
            merged.merge_finish(&uses, effects);
        }
        merged
    }

    /// Whether the reduction writes each element of its output's array.
    fn writes_all(&self) -> bool {
        let array = self.reduction.output().and_then(Array::new);
        let mut loops = HashSet::new();
        array.is_some_and(|array| {
            let mut dimensions = self.reduction.subscripts.iter().zip(&array.shape);
            dimensions.all(|(form, extent)| match form.as_index() {
                Some(l) => loops.insert(l),
                None => *extent == Some(1),
            })
        })
    }

    /// Fuses the operation that reads the result, if it is the only reader.
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

    /// Fuses the operation that fills the output.
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

/// Whether the array is overwritten completely after the first use, before any other operation reads it.
fn is_dead_after_first(uses: &BufferUses) -> bool {
    let fills = |op: &OperationRef| Elementwise::new(*op).is_some_and(|op| op.fills(uses.array));
    match uses.after.get(1) {
        // The block may be the body of a loop, which fills the array in each iteration.
        None => uses.is_local || uses.is_allocated && uses.before.first().is_some_and(fills),
        Some(next) => fills(next),
    }
}

/// Returns the roots of the arrays that a kernel reads, except the output.
fn inputs(reduction: &Reduction) -> Vec<ValueKey> {
    let inputs =
        reduction.arrays.iter().enumerate().filter(|(position, _)| *position != reduction.nest.output);
    inputs.map(|(_, array)| root_of(*array)).collect()
}

/// Whether no operation between two operations of a block writes these buffers.
fn is_unchanged<'c: 'a, 'a>(
    from: OperationRef<'c, 'a>,
    to: OperationRef<'c, 'a>,
    roots: &[ValueKey],
    effects: &mut Effects<'c, 'a>,
) -> bool {
    let mut next = from.next_in_block();
    for _ in 0..MAX_DISTANCE {
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

/// An elementwise operation: each point writes one element.
pub(super) struct Elementwise<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    output: Accessed<'c, 'a>,
}

impl<'c: 'a, 'a> Elementwise<'c, 'a> {
    pub(super) fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = LoopNest::read(op).filter(|nest| !nest.reduces())?;
        let output = nest.operands.last()?.clone();
        let mut loops = output.indices()?;
        loops.sort_unstable();
        loops.into_iter().eq(0..nest.reductions.len()).then_some(Elementwise { nest, output })
    }

    /// Whether the operation overwrites all elements of an array without reading any.
    pub(super) fn fills(&self, array: Value<'c, 'a>) -> bool {
        let (_, others) = self.nest.operands.split_last().unwrap_or((&self.output, &[]));
        let mut others = others.iter().map(|operand| root_of(operand.value));
        self.output.value == array && !self.output.is_read() && others.all(|root| root != root_of(array))
    }

    /// Maps the loops of the operation to the loops of the reduction that subscript the same dimensions of the array. Returns
    /// `None` if the operation does not access the array element by element, for example if it reads only one of several rows.
    fn loops(
        &self,
        array: Value<'c, 'a>,
        subscripts: &[Affine],
        reduction: &[Affine],
    ) -> Option<Vec<Option<usize>>> {
        let mut loops = vec![None; self.nest.reductions.len()];
        let extents = ir::memref::extents(array.r#type());
        if subscripts.len() != reduction.len() || subscripts.len() != extents.len() {
            return None;
        }
        for ((subscript, other), extent) in subscripts.iter().zip(reduction).zip(extents) {
            match subscript.as_index() {
                Some(index) => {
                    let slot = loops.get_mut(index)?;
                    if slot.is_some() {
                        return None;
                    }
                    *slot = other.as_index();
                }
                None if subscript.as_constant() == Some(0) && extent == 1 => {}
                None => return None,
            }
        }
        Some(loops)
    }

    /// Adds the payload to a reduction's body, and returns the yielded value as an operand. `known` are the arguments of the payload.
    fn read(&self, reduction: &mut Reduction<'c, 'a>, known: HashMap<ValueKey, Operand>) -> Option<Operand> {
        let [result] = *self.nest.yielded.as_slice() else {
            return None;
        };
        // The loop indices of the operation differ from those of the reduction.
        if self.nest.reads_positions() {
            return None;
        }
        reduction.extend(known, |scalars| {
            for op in &self.nest.payload {
                scalars.step(*op, &ir::name(*op))?;
            }
            scalars.operand(result)
        })
    }
}

/// Returns the address of an operand as a function of a reduction's loops; `numbers` maps the loops of the operand to these loops.
fn address<'c: 'a, 'a>(
    operand: &Accessed<'c, 'a>,
    numbers: &[Option<usize>],
    reduction: &mut Reduction<'c, 'a>,
) -> Option<(Array<'c, 'a>, Address)> {
    let array = Array::new(operand.value)?;
    let Reduction { nest, sizes, .. } = reduction;
    let address = array.address(&operand.forms, numbers, &nest.loops, sizes)?;
    nest.sizes = sizes.len();
    Some((array, address))
}

/// Adds the operation that fills the output of a reduction to the reduction.
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
    let filler = Elementwise::new(filler)?;
    if !filler.fills(array) {
        return None;
    }
    let loops = filler.loops(array, &filler.output.forms, &reduction.subscripts)?;
    let known = arguments(&filler, reduction, &loops, None)?;
    reduction.body.start = filler.read(reduction, known)?;
    Some(())
}

/// Adds an elementwise operation that reads the result of a reduction in `array`; returns the array that it writes.
fn finish<'c: 'a, 'a>(
    reduction: &mut Reduction<'c, 'a>,
    follower: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
) -> Option<Value<'c, 'a>> {
    let follower = Elementwise::new(follower)?;
    let read = follower.nest.operands.iter().find(|operand| operand.value == array)?;
    let loops = follower.loops(array, &read.forms, &reduction.subscripts)?;
    let destination = follower.output.value;
    let (written, address) = address(&follower.output, &loops, reduction)?;
    // A loop without a counterpart in the reduction must have one iteration.
    for (form, extent) in follower.output.forms.iter().zip(&written.shape) {
        let is_unmapped = form.as_index().and_then(|l| *loops.get(l)?).is_none();
        if is_unmapped && *extent != Some(1) {
            return None;
        }
    }
    let is_in_place = destination == array;
    // The reduction must not read the buffer that the follower writes through an alias.
    if !is_in_place && !has_own_buffer(destination) {
        return None;
    }
    if root_of(destination) == root_of(array) {
        // An in-place operation must access the same element.
        if !is_in_place || !is_same(array, &follower.output.forms, &read.forms) {
            return None;
        }
    }
    if !inputs(reduction).iter().all(|root| *root != root_of(destination)) {
        return None;
    }
    // The output's content before the reduction is an input, unless the result replaces it.
    let output = reduction.nest.output;
    if !is_in_place && reduction.body.start == Operand::Input(output) {
        let start = reduction.nest.operands.get(output)?.clone();
        let position = reduction.add(array, &Array::new(array)?, start);
        reduction.body.start = Operand::Input(position);
    }
    reduction.set_output(destination, &written, address);
    let known = arguments(&follower, reduction, &loops, Some(read))?;
    reduction.body.finish = follower.read(reduction, known)?;
    Some(destination)
}

/// Whether subscripts access the same element. The subscripts of dimensions with one element are ignored.
fn is_same(array: Value, one: &[Affine], other: &[Affine]) -> bool {
    let extents = ir::memref::extents(array.r#type());
    let mut pairs = one.iter().zip(other).zip(extents);
    one.len() == other.len() && pairs.all(|((a, b), extent)| extent == 1 || a == b)
}

/// Returns the operands of an elementwise payload: the reduction's result, and elements of arrays, which are added to the reduction.
fn arguments<'c: 'a, 'a>(
    elementwise: &Elementwise<'c, 'a>,
    reduction: &mut Reduction<'c, 'a>,
    loops: &[Option<usize>],
    result: Option<&Accessed<'c, 'a>>,
) -> Option<HashMap<ValueKey, Operand>> {
    let mut known = HashMap::new();
    let output = reduction.nest.output;
    for accessed in elementwise.nest.operands.iter().filter(|operand| operand.is_read()) {
        let is_result = |read: &Accessed| {
            read.value == accessed.value && is_same(read.value, &read.forms, &accessed.forms)
        };
        if result.is_some_and(is_result) {
            known.insert(ValueKey::of(accessed.element), Operand::Reduced);
            continue;
        }
        // The intermediate result of the reduction is not in memory.
        if result.is_some_and(|read| root_of(read.value) == root_of(accessed.value)) {
            return None;
        }
        let (read, address) = address(accessed, loops, reduction)?;
        let written = reduction.output()?;
        let operand = if root_of(accessed.value) == root_of(written) {
            // The kernel reads its output only at the element that it writes.
            let is_same = accessed.value == written && reduction.nest.operands.get(output)? == &address;
            is_same.then_some(output)?
        } else {
            reduction.add(accessed.value, &read, address)
        };
        known.insert(ValueKey::of(accessed.element), Operand::Input(operand));
    }
    Some(known)
}
