// SPDX-License-Identifier: Apache-2.0
//! Analyzes a bufferized `linalg.generic` as a loop nest with a payload, if a register tile can compute it.

use super::body::{Body, Combine, Operand, Step, is_identity};
use super::caller::has_offset;
use super::nest::{Address, ESTIMATE, Factor, Loop, LoopKind, Nest};
use super::scalars::Scalars;
use super::signature::{AT_RUN_TIME, Signature, pointer_type};
use crate::ir::generic::LoopNest;
use crate::ir::memref::may_overlap;
use crate::ir::types::{self, DYNAMIC};
use crate::ir::{self, ValueKey, ops};
use crate::structure::Affine;
use melior::ir::operation::OperationRef;
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use std::collections::HashMap;

/// A reduction that was analyzed by [`read`].
#[derive(Clone)]
pub struct Reduction<'c, 'a> {
    /// The loops and addresses.
    pub nest: Nest,
    /// The computation of one iteration.
    pub body: Body<'c>,
    /// The parameters of the kernel.
    pub signature: Signature<'c>,
    /// The subscripts of the output.
    pub subscripts: Vec<Affine>,
    /// The arrays of [`Reduction::nest`].
    pub arrays: Vec<Value<'c, 'a>>,
    /// The arrays and dimensions of [`Factor::Size`].
    pub sizes: Sizes<'c, 'a>,
    /// Scalars from outside that the payload uses.
    pub captured: Vec<Value<'c, 'a>>,
}

/// Dynamic extents of arrays that are factors of strides.
pub type Sizes<'c, 'a> = Vec<(Value<'c, 'a>, usize)>;

impl<'c, 'a> Reduction<'c, 'a> {
    /// The array that holds the result of the reduction, or of the operations after it.
    pub fn output(&self) -> Option<Value<'c, 'a>> {
        self.arrays.get(self.nest.output).copied()
    }

    /// Adds an array; returns its position.
    pub(super) fn add(&mut self, value: Value<'c, 'a>, array: &Array<'c, 'a>, address: Address) -> usize {
        self.signature.arrays.push(array.argument_type(value));
        self.signature.elements.push(array.element);
        self.signature.windows.push((array.offset, array.span()));
        self.nest.operands.push(address);
        self.arrays.push(value);
        self.arrays.len() - 1
    }

    /// Replaces the output.
    pub(super) fn set_output(&mut self, value: Value<'c, 'a>, array: &Array<'c, 'a>, address: Address) {
        let output = self.nest.output;
        self.signature.arrays[output] = array.argument_type(value);
        self.signature.elements[output] = array.element;
        self.signature.windows[output] = (array.offset, array.span());
        self.nest.operands[output] = address;
        self.arrays[output] = value;
    }

    /// Makes offsets constants of the kernel instead of arguments. `None` if one is dynamic.
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
            self.signature.arrays[position] = value.r#type();
        }
        Some(())
    }

    /// Adds scalar operations to the payload. `known` has the values of the payload that they use.
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

    /// Skips points that contribute nothing, if they are a large fraction of all points. Blocks of a larger nest skip no points.
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

/// Like [`read`], but `None` also if the output may overlap an input, which kernels do not support.
pub fn read_apart<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<Reduction<'c, 'a>> {
    let reduction = read(op)?;
    let output = reduction.output()?;
    let inputs = reduction.arrays.get(..reduction.nest.output)?;
    inputs.iter().all(|input| !may_overlap(*input, output)).then_some(reduction)
}

/// Analyzes the operation; `None` if its types, maps or payload are not supported.
pub fn read<'c, 'a>(op: OperationRef<'c, 'a>) -> Option<Reduction<'c, 'a>> {
    let nest = LoopNest::read(op).filter(LoopNest::is_on_arrays)?;
    let (body, captured) = payload(&nest)?;
    let loops = nest.reductions.iter().enumerate().map(|(dimension, reduces)| {
        let kind = if *reduces { LoopKind::Reduction } else { LoopKind::Parallel };
        let mut operands = nest.operands.iter().enumerate();
        let mut source = || operands.find_map(|(n, operand)| Some((n, operand.dimension(dimension)?)));
        let (extent, source) = match nest.extent(dimension) {
            Some(extent) => (extent, None),
            None => (ESTIMATE, Some(source()?)),
        };
        Some(Loop { extent, kind, dimension: Some(dimension), source })
    });
    let loops: Vec<Loop> = loops.collect::<Option<_>>()?;
    let all: Vec<Option<usize>> = (0..loops.len()).map(Some).collect();
    let mut sizes = Vec::new();
    let arrays = nest.operands.iter().map(|operand| {
        let array = Array::new(operand.value)?;
        let address = array.address(&operand.forms, &all, &loops, &mut sizes)?;
        Some((array, address))
    });
    let arrays: Vec<(Array, Address)> = arrays.collect::<Option<_>>()?;
    let output = nest.inputs;
    if !accumulates(arrays[output].0.element) {
        return None;
    }
    // The output must not move along a reduction, and must move along each parallel loop.
    let consistent = loops.iter().enumerate().all(|(l, loop_)| {
        let is_invariant = arrays[output].1.strides[l] == 0;
        loop_.extent == 1 || is_invariant == (loop_.kind == LoopKind::Reduction)
    });
    if !consistent {
        return None;
    }
    // Arrays that are operands only because of their shape are left out.
    let used: Vec<usize> = (0..=output).filter(|&p| p == output || body.uses_input(p)).collect();
    let position = |p: usize| {
        let position = used.iter().position(|&u| u == p);
        position.unwrap_or_else(|| unreachable!("internal compiler error: operand {p} is not read"))
    };
    let body = renumbered(body, &position);
    let mut reduction = Reduction {
        nest: Nest { loops, output: used.len() - 1, sizes: sizes.len(), ..Nest::default() },
        body,
        signature: Signature::default(),
        subscripts: nest.operands[output].forms.clone(),
        arrays: Vec::new(),
        sizes,
        captured,
    };
    for &position in &used {
        let (array, address) = &arrays[position];
        reduction.add(nest.operands[position].value, array, address.clone());
    }
    Some(reduction)
}

/// Whether elements of this type can be accumulated. Narrower elements are only read, and extended first.
fn accumulates(element: Type) -> bool {
    element.is_f32() || element.is_f64() || element.is_integer() && [32, 64].contains(&types::width(element))
}

/// The maximum extent of a loop whose first and last iterations are a large fraction of all iterations.
const SMALL: i64 = 32;

/// A number of elements that no array exceeds.
pub(super) const LARGEST_SPAN: i64 = 1 << 40;

/// A memref with static strides, or without gaps ([`ir::memref::dense`]).
pub(super) struct Array<'c, 'a> {
    /// `None` for dynamic extents.
    pub(super) shape: Vec<Option<i64>>,
    /// The static factors of the strides.
    pub(super) strides: Vec<i64>,
    /// The dimensions whose dynamic extents are the other factors of each stride.
    multiples: Vec<Vec<usize>>,
    /// The array without gaps that has these dimensions.
    dense: Option<Value<'c, 'a>>,
    /// [`AT_RUN_TIME`] unless it is 0, so that reductions of equally shaped parts of an array share a kernel.
    pub(super) offset: i64,
    pub(super) element: Type<'c>,
}

impl<'c: 'a, 'a> Array<'c, 'a> {
    /// `None` for other dynamic strides and other element types, and for an offset that is unknown before the kernel.
    pub(super) fn new(value: Value<'c, 'a>) -> Option<Self> {
        let kind = MemRefType::try_from(value.r#type()).ok()?;
        let element = kind.element();
        let (mut strides, offset) = kind.strides_and_offset();
        let known = |v: &i64| *v >= 0;
        let shape = ir::memref::extents(value.r#type()).into_iter();
        let shape: Vec<Option<i64>> = shape.map(|extent| (extent != DYNAMIC).then_some(extent)).collect();
        let mut multiples = vec![Vec::new(); shape.len()];
        let dense = ir::memref::dense(value);
        if let Some(dense) = dense {
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
        let is_number = element.is_float() || element.is_integer();
        let narrow = is_number && [8, 16].contains(&types::width(element));
        if !narrow && !accumulates(element) || !strides.iter().all(known) || !has_offset(value) {
            return None;
        }
        let offset = if offset == 0 { 0 } else { AT_RUN_TIME };
        Some(Array { shape, strides, multiples, dense, offset, element })
    }

    /// Whether no stride is dynamic.
    pub(super) fn has_static_strides(&self) -> bool {
        self.multiples.iter().all(Vec::is_empty)
    }

    /// The address of an element as a function of the loops of a nest. `numbers` maps the indices of the subscripts to loops; `None` is a
    /// loop with one iteration. Extents that are factors of strides, but not extents of loops, are added to `sizes`.
    pub(super) fn address(
        &self,
        subscripts: &[Affine],
        numbers: &[Option<usize>],
        loops: &[Loop],
        sizes: &mut Sizes<'c, 'a>,
    ) -> Option<Address> {
        let mut address = Address::with_strides(vec![0; loops.len()]);
        for (dimension, form) in subscripts.iter().enumerate() {
            let mut stride = *self.strides.get(dimension)?;
            let mut extents = Vec::new();
            for multiple in self.multiples.get(dimension)? {
                let Some(index) = subscripts.get(*multiple)?.as_index() else {
                    stride = stride.checked_mul(ESTIMATE)?;
                    extents.push(Factor::Size(number_of((self.dense?, *multiple), sizes)));
                    continue;
                };
                let l = (*numbers.get(index)?)?;
                stride = stride.checked_mul(loops[l].extent)?;
                // The extent may be static in another operand.
                extents.extend(loops[l].source.map(|_| Factor::Extent(l)));
            }
            extents.sort_unstable();
            let is_static = extents.is_empty();
            if !is_static && form.offset() != 0 {
                return None;
            }
            address.offset += form.offset() * stride;
            for (index, factor) in form.as_linear()? {
                let Some(l) = *numbers.get(index)? else {
                    continue;
                };
                let is_sum = address.strides[l] != 0;
                let is_known = is_static && address.extents[l].is_empty();
                if is_sum && !is_known {
                    return None;
                }
                address.strides[l] += factor.checked_mul(stride)?;
                address.extents[l].clone_from(&extents);
            }
        }
        Some(address)
    }

    fn is_static(&self) -> bool {
        self.shape.iter().all(Option::is_some)
    }

    /// The parameter type for the array.
    fn argument_type(&self, value: Value<'c, 'a>) -> Type<'c> {
        match (self.is_static(), self.offset) {
            (_, AT_RUN_TIME) => pointer_type(self.element, 0),
            (true, _) => value.r#type(),
            (false, offset) => pointer_type(self.element, offset),
        }
    }

    /// The number of elements from the first to the last, gaps included; 0 for an empty array, and an upper bound if an extent is dynamic.
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

/// The number of a size, which is added unless it is in the list.
fn number_of<'c, 'a>(size: (Value<'c, 'a>, usize), sizes: &mut Sizes<'c, 'a>) -> usize {
    let known = sizes.iter().position(|other| *other == size);
    known.unwrap_or_else(|| {
        sizes.push(size);
        sizes.len() - 1
    })
}

/// The payload of the nest, and the values that it captures. Only its last operation may use the output's element.
fn payload<'c, 'a>(nest: &LoopNest<'c, 'a>) -> Option<(Body<'c>, Vec<Value<'c, 'a>>)> {
    let accumulation = nest.accumulation()?;
    let (last, steps) = nest.payload.split_last()?;
    let combine = Combine::read(*last).filter(|_| *last == accumulation.op)?;
    let inputs = nest.inputs().iter().enumerate();
    let known = inputs.map(|(n, input)| (ValueKey::of(input.element), Operand::Input(n)));
    let mut reader = Scalars { known: known.collect(), ..Scalars::default() };
    for op in steps {
        reader.step(*op, &ir::name(*op))?;
    }
    let value = reader.operand(accumulation.value)?;
    let (value, predicate) = unguarded(&reader.steps, value, &combine);
    let body = Body {
        steps: reader.steps,
        start: Operand::Input(nest.inputs),
        finish: Operand::Reduced,
        accumulator: nest.output()?.element.r#type(),
        value,
        predicate,
        skips: None,
        combine,
        captures: reader.captures,
    };
    Some((body, reader.captured))
}

/// Splits `select(predicate, value, identity)`, the form of a guarded value.
fn unguarded(steps: &[Step], value: Operand, combine: &Combine) -> (Operand, Option<Operand>) {
    if let Operand::Step(number) = value
        && let Some(Step::Apply { operator, operands, .. }) = steps.get(number)
        && operator.name == ops::arith::SELECT
        && let [condition, then, Operand::Step(otherwise)] = operands.as_slice()
        && let Some(Step::Constant(constant)) = steps.get(*otherwise)
        && is_identity(*constant, combine)
    {
        return (then.clone(), Some(condition.clone()));
    }
    (value, None)
}

/// Renumbers the inputs after unused arrays were left out.
fn renumbered<'c>(mut body: Body<'c>, renumber: &impl Fn(usize) -> usize) -> Body<'c> {
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
