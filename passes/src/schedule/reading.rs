// SPDX-License-Identifier: Apache-2.0
//! Reads a bufferized `linalg.generic` as a loop nest with a payload, if a register tile can compute it.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::body::{Body, Combine, Operand, Step, is_identity};
use super::caller::has_offset;
use super::nest::{Address, ESTIMATE, Loop, LoopKind, Nest, Source};
use super::scalars::Scalars;
use super::signature::{AT_RUN_TIME, Signature, pointer_type};
use crate::ir::types::DYNAMIC;
use crate::ir::{self, ValueKey, linalg, maps, ops};
use crate::structure::Affine;
use melior::ir::ShapedTypeLike;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{RegionLike, Value, ValueLike};
use std::collections::HashMap;

/// A reduction as plain data.
#[derive(Clone)]
pub struct Reduction<'c, 'a> {
    /// The loops and addresses.
    pub nest: Nest,
    /// What one iteration computes.
    pub body: Body,
    /// The parameters of the kernel.
    pub signature: Signature,
    /// The subscripts of the output.
    pub subscripts: Vec<Affine>,
    /// The arrays of [`Reduction::nest`].
    pub arrays: Vec<Value<'c, 'a>>,
    /// Scalars from outside that the payload uses.
    pub captured: Vec<Value<'c, 'a>>,
}

impl<'c, 'a> Reduction<'c, 'a> {
    /// The array that the reduction is computed in, or what finishes it writes.
    pub fn output(&self) -> Option<Value<'c, 'a>> {
        self.arrays.get(self.nest.output).copied()
    }

    /// Adds an array; returns its position.
    pub(super) fn add(&mut self, value: Value<'c, 'a>, array: &Array, address: Address) -> usize {
        self.signature.arrays.push(array.argument_type(value));
        self.signature.elements.push(array.element.clone());
        self.signature.windows.push((array.offset, array.span()));
        self.nest.operands.push(address);
        self.arrays.push(value);
        self.arrays.len() - 1
    }

    /// Replaces the output.
    pub(super) fn set_output(&mut self, value: Value<'c, 'a>, array: &Array, address: Address) {
        let output = self.nest.output;
        self.signature.arrays[output] = array.argument_type(value);
        self.signature.elements[output] = array.element.clone();
        self.signature.windows[output] = (array.offset, array.span());
        self.nest.operands[output] = address;
        self.arrays[output] = value;
    }

    /// Makes known offsets parts of the kernel instead of arguments. `None` if one is dynamic.
    pub(super) fn fix_offsets(&mut self) -> Option<()> {
        let placed: Vec<usize> = self.signature.placed().collect();
        for position in placed {
            let value = *self.arrays.get(position)?;
            let memref = MemRefType::try_from(value.r#type()).ok()?;
            let (_, offset) = memref.strides_and_offset();
            if offset < 0 {
                return None;
            }
            self.signature.windows[position].0 = offset;
            self.signature.arrays[position] = value.r#type().to_string();
        }
        Some(())
    }

    /// Adds scalar operations to the payload. `known` are the values that they use of it.
    pub(super) fn extend(
        &mut self,
        known: HashMap<ValueKey, Operand>,
        read: impl FnOnce(&mut Scalars<'c, 'a>) -> Option<Operand>,
    ) -> Option<Operand> {
        let mut scalars = Scalars {
            known,
            steps: std::mem::take(&mut self.body.steps),
            captures: std::mem::take(&mut self.body.captures),
            captured: std::mem::take(&mut self.captured),
        };
        let result = read(&mut scalars);
        self.body.steps = scalars.steps;
        self.body.captures = scalars.captures;
        self.captured = scalars.captured;
        result
    }

    /// Skips points that contribute nothing, where they are a good part: not in a block of a larger nest.
    pub(super) fn skip_points(&mut self) {
        let dimensions = self.body.skipped_dimensions();
        let is_small = |l: &Loop| {
            let is_used = l.dimension.is_some_and(|d| dimensions.contains(&d));
            is_used && l.kind == LoopKind::Parallel && l.source.is_none() && l.extent <= SMALL
        };
        let is_whole = !self.body.skips_by_outside();
        if is_whole && self.nest.loops.iter().any(is_small) {
            self.nest.skipped = dimensions
        } else {
            self.body.skips = None
        }
    }

    /// The arguments of the kernel: arrays, then captured scalars.
    pub fn arguments(&self) -> Vec<Value<'c, 'a>> {
        [self.arrays.as_slice(), &self.captured].concat()
    }
}

/// Reads the operation; `None` if its types, maps or payload are not supported.
pub fn read<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<Reduction<'c, 'a>> {
    let operands: Vec<Value<'c, 'a>> = op.operands().collect();
    let generic = linalg::Generic::cast(op)?;
    let indexing = generic.indexing_maps();
    let reductions = generic.reductions();
    if indexing.len() != operands.len() || op.result_count() != 0 {
        return None;
    }
    let mut extents: Vec<Option<(i64, Source)>> = vec![None; reductions.len()];
    let mut arrays = Vec::new();
    for (position, operand) in operands.iter().enumerate() {
        let forms = maps::forms(*indexing.get(position)?)?;
        let array = Array::of(*operand)?;
        for (dimension, form) in forms.iter().enumerate() {
            if let Some(index) = form.as_index() {
                let source = Some((position, dimension));
                extents[index] = match *array.shape.get(dimension)? {
                    Some(extent) => Some((extent, None)),
                    None => extents[index].or(Some((ESTIMATE, source))),
                };
            }
        }
        arrays.push((array, forms));
    }
    let (body, captured) = payload(op, operands.len())?;

    let mut loops = Vec::new();
    for (dimension, extent) in extents.iter().enumerate() {
        let (extent, source) = (*extent)?;
        let kind = if *reductions.get(dimension)? { LoopKind::Reduction } else { LoopKind::Parallel };
        loops.push(Loop { extent, kind, dimension: Some(dimension), source });
    }
    let all: Vec<Option<usize>> = (0..loops.len()).map(Some).collect();
    let arrays: Vec<(Array, Address)> = arrays
        .into_iter()
        .map(|(array, forms)| {
            let address = array.address(&forms, &all, &loops)?;
            Some((array, address))
        })
        .collect::<Option<_>>()?;
    let output = operands.len() - 1;
    if !accumulates(&arrays[output].0.element) {
        return None;
    }
    // The output must not move along a reduction, and must move along each parallel loop.
    let consistent = loops.iter().enumerate().all(|(l, loop_)| {
        let stays = arrays[output].1.strides[l] == 0;
        loop_.extent == 1 || stays == (loop_.kind == LoopKind::Reduction)
    });
    if !consistent {
        return None;
    }
    // Arrays that are operands for their shape alone are left out.
    let used: Vec<usize> = (0..operands.len()).filter(|&p| p == output || body.uses_input(p)).collect();
    let position = |p: usize| used.iter().position(|&u| u == p).unwrap_or(0);
    let body = renumbered(body, &position);
    let mut reduction = Reduction {
        nest: Nest {
            loops,
            operands: Vec::new(),
            output: used.len() - 1,
            constants: Vec::new(),
            repeats: Vec::new(),
            skipped: Vec::new(),
            tested: Vec::new(),
            keeps_order: false,
            dot: None,
        },
        body,
        signature: Signature::default(),
        subscripts: maps::forms(*indexing.get(output)?)?,
        arrays: Vec::new(),
        captured,
    };
    for &position in &used {
        let (array, address) = arrays.get(position)?;
        reduction.add(operands[position], array, address.clone());
    }
    Some(reduction)
}

/// Whether elements of this type are accumulated in registers. Narrower ones are only read, and widened before.
fn accumulates(element: &str) -> bool {
    ["f32", "f64", "i32", "i64"].contains(&element)
}

/// Iterations of a loop whose first and last ones are a good part.
const SMALL: i64 = 32;

/// Elements that no array has.
pub(super) const LARGEST_SPAN: i64 = 1 << 40;

/// A memref with static strides, or without gaps ([`ir::memref::dense`]).
pub(super) struct Array {
    /// `None` for dynamic extents.
    pub(super) shape: Vec<Option<i64>>,
    /// Without the dynamic extents that they are multiples of.
    pub(super) strides: Vec<i64>,
    /// The dimensions whose dynamic extents each stride is a multiple of.
    multiples: Vec<Vec<usize>>,
    /// [`AT_RUN_TIME`] for others than 0, so that reductions of equal parts of an array share a kernel.
    pub(super) offset: i64,
    pub(super) element: String,
}

impl Array {
    /// `None` for other dynamic strides and other element types, and for an offset that nothing before the kernel gives.
    pub(super) fn of(value: Value) -> Option<Array> {
        let kind = MemRefType::try_from(value.r#type()).ok()?;
        let element = kind.element().to_string();
        let (mut strides, offset) = kind.strides_and_offset();
        let known = |v: &i64| *v >= 0;
        let shape = (0..kind.rank())
            .map(|d| match kind.dim_size(d).ok()? {
                DimSize::Static(n) => Some(Some(i64::try_from(n).ok()?)),
                DimSize::Dynamic => Some(None),
            })
            .collect::<Option<Vec<_>>>()?;
        let mut multiples = vec![Vec::new(); shape.len()];
        if let Some(dense) = ir::memref::dense(value) {
            let (mut stride, mut dynamic) = (1_i64, Vec::new());
            let extents = ir::memref::extents(dense.r#type());
            for (dimension, extent) in extents.into_iter().enumerate().rev() {
                strides[dimension] = stride;
                multiples[dimension].clone_from(&dynamic);
                match extent {
                    DYNAMIC => dynamic.push(dimension),
                    extent => stride = stride.checked_mul(extent)?,
                }
            }
        }
        // The stride of a dimension with one element does not matter.
        for (dimension, extent) in shape.iter().enumerate() {
            if *extent == Some(1) && (strides[dimension] < 0 || !multiples[dimension].is_empty()) {
                strides[dimension] = 0;
                multiples[dimension].clear();
            }
        }
        let narrow = ["f16", "bf16", "i8", "i16"].contains(&element.as_str());
        if !narrow && !accumulates(&element) || !strides.iter().all(known) || !has_offset(value) {
            return None;
        }
        Some(Array { shape, strides, multiples, offset: if offset == 0 { 0 } else { AT_RUN_TIME }, element })
    }

    /// Whether no stride is dynamic.
    pub(super) fn has_static_strides(&self) -> bool {
        self.multiples.iter().all(Vec::is_empty)
    }

    /// The address of an element by the loops of a nest: `numbers` are the loops that those of the subscripts are; others have one
    /// iteration.
    pub(super) fn address(
        &self,
        subscripts: &[Affine],
        numbers: &[Option<usize>],
        loops: &[Loop],
    ) -> Option<Address> {
        let mut address = Address::with_strides(vec![0; loops.len()]);
        for (dimension, form) in subscripts.iter().enumerate() {
            let mut stride = *self.strides.get(dimension)?;
            let mut extents = Vec::new();
            for multiple in self.multiples.get(dimension)? {
                let own = subscripts.get(*multiple)?.as_index()?;
                let l = (*numbers.get(own)?)?;
                stride = stride.checked_mul(loops[l].extent)?;
                // The extent may be static in another operand.
                extents.extend(loops[l].source.map(|_| l));
            }
            extents.sort_unstable();
            let is_static = extents.is_empty();
            if !is_static && form.offset() != 0 {
                return None;
            }
            address.offset += form.offset() * stride;
            for (index, own) in form.as_linear()? {
                let Some(l) = *numbers.get(index)? else {
                    continue;
                };
                let is_sum = address.strides[l] != 0;
                let is_known = is_static && address.extents[l].is_empty();
                if is_sum && !is_known {
                    return None;
                }
                address.strides[l] += own.checked_mul(stride)?;
                address.extents[l].clone_from(&extents);
            }
        }
        Some(address)
    }

    fn is_static(&self) -> bool {
        self.shape.iter().all(Option::is_some)
    }

    /// The type as which the array is passed.
    fn argument_type(&self, value: Value) -> String {
        match (self.is_static(), self.offset) {
            (_, AT_RUN_TIME) => pointer_type(&self.element, 0),
            (true, _) => value.r#type().to_string(),
            (false, offset) => pointer_type(&self.element, offset),
        }
    }

    /// Elements from the first to the last, both included; 0 for an empty array, and a bound if an extent is dynamic.
    fn span(&self) -> i64 {
        if self.shape.contains(&Some(0)) {
            return 0;
        }
        if !self.is_static() {
            return LARGEST_SPAN;
        }
        let last: i64 = self.shape.iter().zip(&self.strides).map(|(n, s)| (n.unwrap_or(1) - 1) * s).sum();
        last + 1
    }
}

/// The payload of the operation's region, and the values that it captures.
fn payload<'c, 'a>(op: OperationRef<'c, 'a>, operands: usize) -> Option<(Body, Vec<Value<'c, 'a>>)> {
    let block = op.region(0).ok()?.first_block()?;
    let output = Value::from(block.argument(operands - 1).ok()?);
    let mut reader = Scalars::default();
    for position in 0..operands - 1 {
        let argument = Value::from(block.argument(position).ok()?);
        reader.known.insert(ValueKey::of(argument), Operand::Input(position));
    }
    let mut combining = None;
    let mut next = block.first_operation();
    while let Some(inner) = next {
        next = inner.next_in_block();
        let name = inner.name().as_string_ref().as_str().ok()?.to_string();
        if name == ops::linalg::YIELD {
            let (result, combine, value): (Value<'c, 'a>, Combine, Operand) = combining?;
            if inner.operand_count() != 1 || inner.operands().next()? != result {
                return None;
            }
            let (value, predicate) = unguarded(&reader.steps, value, &combine);
            let body = Body {
                steps: reader.steps,
                start: Operand::Input(operands - 1),
                finish: Operand::Reduced,
                accumulator: output.r#type().to_string(),
                value,
                predicate,
                skips: None,
                combine,
                captures: reader.captures,
            };
            return Some((body, reader.captured));
        }
        let uses_output = inner.operands().any(|o| o == output);
        if uses_output {
            // Only the last step may use the output's element.
            if combining.is_some() || inner.operand_count() != 2 {
                return None;
            }
            let [left, right] = ir::both_operands(inner).ok()?;
            let other = if left == output { right } else { left };
            if other == output {
                return None;
            }
            let element = inner.result(0).ok()?.r#type().to_string();
            let combine = Combine::of(&name, &ir::inherent(inner)?, &element)?;
            let value = reader.operand(other)?;
            combining = Some((Value::from(inner.result(0).ok()?), combine, value));
        } else if combining.is_some() {
            return None;
        } else {
            reader.step(inner, &name)?;
        }
    }
    None
}

/// Splits `select(predicate, value, identity)`, the form of a guarded value.
fn unguarded(steps: &[Step], value: Operand, combine: &Combine) -> (Operand, Option<Operand>) {
    if let Operand::Step(number) = value
        && let Some(Step::Apply { name, operands, .. }) = steps.get(number)
        && name == ops::arith::SELECT
        && let [condition, then, Operand::Step(otherwise)] = operands.as_slice()
        && let Some(Step::Constant { attribute, .. }) = steps.get(*otherwise)
        && is_identity(attribute, combine)
    {
        return (then.clone(), Some(condition.clone()));
    }
    (value, None)
}

/// Renumbers the inputs after unused arrays were left out.
fn renumbered(mut body: Body, renumber: &impl Fn(usize) -> usize) -> Body {
    let renumber = |o: &mut Operand| {
        if let Operand::Input(position) = o {
            *position = renumber(*position);
        }
    };
    for step in &mut body.steps {
        if let Step::Apply { operands, .. } = step {
            operands.iter_mut().for_each(renumber);
        }
    }
    renumber(&mut body.value);
    renumber(&mut body.start);
    body.predicate.iter_mut().for_each(renumber);
    body
}
