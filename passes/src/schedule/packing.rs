// SPDX-License-Identifier: Apache-2.0
//! Packing: copies an operand to the order in which a kernel reads it.
//!
//! The operand varies along the lanes' loop, but its elements along this loop or its rows are not contiguous. The copy has
//! blocks with the width of a tile. Inside of a block, the elements along the lanes are contiguous, and the vectors are in
//! the order of the kernel's reduction loops. The last block is padded with zeros, so the kernel reads it without masks.
//!
//! The method is that of Goto and van de Geijn, *Anatomy of High-Performance Matrix Multiplication* (2008), section 4.

use super::dot::in_groups;
use super::kernel::KERNEL;
use super::nest::{Address, Factor, LoopKind, Nest};
use super::plan::Plan;
use super::reading::LARGEST_SPAN;
use super::signature::{AT_RUN_TIME, Signature, pointer_type};
use crate::ir::attribute_names::{NOALIAS, STEPS};
use crate::ir::builder::arith::Integers;
use crate::ir::func::Definition;
use crate::ir::types::{self, DYNAMIC};
use crate::ir::{Builder, attributes};
use melior::ir::{Location, Operation, Type, Value, ValueLike};
use std::collections::HashMap;

/// The copy of an operand.
pub struct Packing<'c> {
    /// The operand's position in the nest.
    pub operand: usize,
    /// The type of the operand as an argument.
    pub source_type: Type<'c>,
    lanes_loop: usize,
    /// Number of elements of a block along the lanes' loop.
    width: i64,
    /// Number of blocks along the lanes' loop.
    blocks: i64,
    /// The address in the operand.
    source: Address,
    /// The address in the copy. Its stride along the lanes' loop is valid only for multiples of the width.
    target: Address,
    /// The other loops along which the operand varies, with their extents.
    loops: Vec<(usize, i64)>,
    /// The extent of the lanes' loop.
    extent: i64,
    /// Number of elements of the copy. If a loop has a dynamic extent, number of elements of one iteration, or of one block, of it.
    elements: i64,
    /// The loop with a dynamic extent along which the operand varies. It is the outermost loop of the copy.
    dynamic: Option<usize>,
    /// The loops with dynamic extents that addresses of the operand depend on.
    arguments: Vec<usize>,
    /// The loop along which groups of elements of each lane are contiguous, and the size of a group.
    group: Option<(usize, i64)>,
    /// Whether the copy is a part of a larger copy. Its offset is then an argument.
    is_part: bool,
    /// Whether the offset of the operand is an argument.
    is_placed: bool,
}

impl<'c> Packing<'c> {
    /// The order of the copy, for profiles: `packed 16×` are blocks of 16 elements along the lanes.
    pub(super) fn remark(&self) -> String {
        format!("packed {}×", self.width)
    }

    /// Creates the packing for a plan; `None` if the plan has no packed operand.
    pub fn new(nest: &Nest, plan: &Plan, signature: &Signature<'c>) -> Option<Packing<'c>> {
        let operand = plan.packed?;
        let source = nest.operands[operand].clone();
        let varies = |l: &usize| source.strides[*l] != 0;
        let extent_of = |l: usize| (l, nest.loops[l].extent);
        let outer = |l: &usize| nest.loops[*l].kind == LoopKind::Parallel && *l != plan.lanes_loop;
        let batches: Vec<usize> = plan.parallels.iter().copied().filter(outer).collect();
        let width = plan.vectors * plan.lanes;
        let extent = nest.loops[plan.lanes_loop].extent;
        let blocks = (extent + width - 1) / width;
        let mut target = Address::with_strides(vec![0; nest.loops.len()]);
        let inner = plan.reductions.iter().copied();
        let order = inner.clone().rev().chain([plan.lanes_loop]);
        let mut order: Vec<usize> = order.chain(batches.iter().copied().rev()).filter(varies).collect();
        let is_dynamic = |l: &usize| nest.loops[*l].source.is_some();
        let dynamic = order.iter().copied().find(is_dynamic);
        order.sort_by_key(is_dynamic);
        let mut stride = width;
        for l in order {
            let is_lanes = l == plan.lanes_loop;
            target.strides[l] = if is_lanes { stride / width } else { stride };
            stride *= match (dynamic == Some(l), is_lanes) {
                (true, _) => 1,
                (false, true) => blocks,
                (false, false) if plan.group == Some(l) => nest.in_groups(nest.loops[l].extent),
                (false, false) => nest.loops[l].extent,
            };
        }
        // The copy loops run in the order of the operand's memory. Writes in any order are efficient, because a row of a block has only a
        // few cache lines.
        let loops = batches.iter().copied().chain(inner).filter(varies);
        let mut loops: Vec<(usize, i64)> = loops.map(extent_of).collect();
        loops.sort_by_key(|(l, _)| std::cmp::Reverse(source.strides[*l]));
        let is_used = |l: &usize| source.extents.iter().flatten().any(|other| *other == Factor::Extent(*l));
        let is_argument = |l: &usize| is_dynamic(l) && (varies(l) || is_used(l));
        let arguments = (0..nest.loops.len()).filter(is_argument).collect();
        Some(Packing {
            operand,
            source_type: signature.arrays[operand],
            lanes_loop: plan.lanes_loop,
            width,
            blocks,
            loops,
            source,
            target,
            extent,
            elements: stride,
            dynamic,
            arguments,
            group: plan.group.map(|l| (l, nest.group_size())),
            is_part: false,
            is_placed: signature.placed().any(|position| position == operand),
        })
    }

    /// Makes the copy a part of a larger copy.
    pub(super) fn into_part(self) -> Packing<'c> {
        Packing { is_part: true, ..self }
    }

    /// The number of elements of the copy; `None` if it is dynamic.
    pub(super) fn size(&self) -> Option<i64> {
        self.dynamic.is_none().then_some(self.elements)
    }

    /// Whether the offset of the operand is an argument of [`Packing::function`].
    pub(super) fn places_source(&self) -> bool {
        self.is_placed
    }

    /// The type of the copy.
    pub fn r#type(&self, signature: &Signature<'c>) -> Type<'c> {
        let extent = self.size().unwrap_or(DYNAMIC);
        types::memref(&[extent], signature.elements[self.operand])
    }

    /// The parameter type of the copy.
    fn argument_type(&self, signature: &Signature<'c>) -> Type<'c> {
        match self.dynamic {
            None if !self.is_part => self.r#type(signature),
            _ => pointer_type(signature.elements[self.operand], 0),
        }
    }

    /// The parameter type of the copy, after [`Packing::apply`].
    pub(super) fn copy_type(&self, signature: &Signature<'c>) -> Type<'c> {
        signature.arrays[self.operand]
    }

    /// Returns the loop whose dynamic extent determines the size of the copy, the number of its iterations in a part of the copy, and the
    /// number of elements of a part.
    pub(super) fn parts(&self) -> Option<(usize, i64, i64)> {
        let l = self.dynamic?;
        let iterations = if l == self.lanes_loop { self.width } else { 1 };
        Some((l, iterations, self.elements))
    }

    /// The loops whose extents are arguments of [`Packing::function`].
    pub(super) fn arguments(&self) -> &[usize] {
        &self.arguments
    }

    /// Whether the number of steps, one for each block, depends on a dynamic extent of the lanes' loop.
    pub(super) fn has_dynamic_steps(&self) -> bool {
        self.dynamic == Some(self.lanes_loop)
    }

    /// The number of elements of a block along the lanes' loop.
    pub(super) fn width(&self) -> i64 {
        self.width
    }

    /// The address in the copy. Its stride along the lanes' loop is valid only for multiples of the width.
    pub(super) fn target(&self) -> &Address {
        &self.target
    }

    /// The number of steps of [`Packing::function`].
    pub fn steps(&self) -> i64 {
        self.blocks
    }

    /// Replaces the operand by the copy in the kernel's nest and signature.
    pub fn apply(&self, nest: &mut Nest, signature: &mut Signature<'c>) {
        nest.operands[self.operand] = self.target.clone();
        self.apply_to(signature);
    }

    fn apply_to(&self, signature: &mut Signature<'c>) {
        let kind = self.argument_type(signature);
        signature.arrays[self.operand] = kind;
        let offset = if self.is_part { AT_RUN_TIME } else { 0 };
        signature.windows[self.operand] = (offset, self.span());
    }

    /// The number of elements of the copy; an upper bound if it is dynamic.
    fn span(&self) -> i64 {
        self.dynamic.map_or(self.elements, |_| LARGEST_SPAN)
    }

    /// Builds the function that copies the blocks in a range of steps, which are its last two arguments. It is optimized for
    /// size: its unrolled loops would take longer to compile than all kernels.
    pub fn function<'a>(&self, signature: &Signature<'c>, location: Location<'c>) -> Operation<'c>
    where
        'c: 'a,
    {
        let source = signature.arrays[self.operand];
        let context = types::context_of(source);
        let mut copies = signature.clone();
        self.apply_to(&mut copies);
        let arrays = [source, self.argument_type(signature)].map(|r#type| (r#type, &[NOALIAS][..]));
        let offsets = usize::from(self.is_placed) + usize::from(self.is_part);
        let indices = vec![(Type::index(context), &[][..]); offsets + self.arguments.len() + 2];
        let function: Definition<'c, 'a> =
            Definition::new(context, location, &[&arrays, &indices[..]].concat());
        let mut given = function.arguments.iter().copied();
        let mut next =
            || given.next().unwrap_or_else(|| unreachable!("internal compiler error: no argument"));
        let [source, copy] = [next(), next()];
        let [from_first, to_first] = [self.is_placed, self.is_part].map(|is_given| is_given.then(&mut next));
        let extents = self.arguments.iter().map(|l| (*l, next())).collect();
        let range = [next(), next()];
        let at = function.at;
        let source = signature.view(self.operand, source, from_first, &at);
        let copy = copies.view(self.operand, copy, to_first, &at);
        let copier = Copier { packing: self, source, copy, extents };
        let apart = copier.stride(self.lanes_loop, &at);
        let extent = copier.extent(self.lanes_loop, self.extent, &at);
        at.each([range[0], range[1], at.idx(1)], |at, block| {
            let first = at.muli(block, at.idx(self.width));
            let whole = at.minsi(at.subi(extent, first), at.idx(self.width));
            let from = at.addi(at.idx(self.source.offset), at.muli(first, apart));
            let to = at.muli(first, at.idx(self.target.strides[self.lanes_loop]));
            copier.copy(&self.loops, [from, to], [whole, apart], &at);
        });
        let passthrough = attributes::strings(context, &["noinline", "optsize"]);
        function.finish(KERNEL, &[], &[("passthrough", passthrough), (STEPS, attributes::unit(context))])
    }
}

/// Copies a block of an operand.
struct Copier<'p, 'c, 'a> {
    packing: &'p Packing<'c>,
    /// The operand as a one-dimensional array.
    source: Value<'c, 'a>,
    /// The copy as a one-dimensional array.
    copy: Value<'c, 'a>,
    /// The dynamic extents by loop.
    extents: HashMap<usize, Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Copier<'_, 'c, 'a> {
    /// Emits the loops around the lanes. `from` and `to` are positions in the operand and in the copy, `whole` is the number of lanes of
    /// the block, and `apart` is the distance between lanes in the operand.
    fn copy(
        &self,
        loops: &[(usize, i64)],
        [from, to]: [Value<'c, 'a>; 2],
        [whole, apart]: [Value<'c, 'a>; 2],
        at: &Builder<'c, 'a>,
    ) {
        let Some(((l, extent), inner)) = loops.split_first() else {
            return self.lanes([from, to], [whole, apart], at);
        };
        let stride = self.stride(*l, at);
        let across = self.packing.target.strides[*l];
        let group = self.packing.group.filter(|(along, _)| along == l);
        let end = match group {
            Some((_, size)) => at.idx(in_groups(*extent, size)),
            None => self.extent(*l, *extent, at),
        };
        at.each([at.idx(0), end, at.idx(1)], |at, i| {
            let from = at.addi(from, at.muli(i, stride));
            let Some((_, size)) = group else {
                let to = at.addi(to, at.muli(i, at.idx(across)));
                return self.copy(inner, [from, to], [whole, apart], &at);
            };
            // Elements are stored group by group; the last group is padded with zeros.
            let member = at.remui(i, at.idx(size));
            let first = at.subi(i, member);
            let to = at.addi(to, at.addi(at.muli(first, at.idx(across)), member));
            let is_one = at.cmpi(Integers::Less, i, at.idx(*extent));
            let whole = at.select(is_one, whole, at.idx(0));
            self.copy(inner, [from, to], [whole, apart], &at);
        });
    }

    /// Copies the lanes at a position; lanes beyond the operand are filled with zeros.
    fn lanes(
        &self,
        [from, to]: [Value<'c, 'a>; 2],
        [whole, apart]: [Value<'c, 'a>; 2],
        at: &Builder<'c, 'a>,
    ) {
        let along = |lane, at: &Builder<'c, 'a>| match self.packing.group {
            None => lane,
            Some((_, size)) => at.muli(lane, at.idx(size)),
        };
        at.each([at.idx(0), whole, at.idx(1)], |at, lane| {
            let along = along(lane, &at);
            let value = at.load(self.source, &[at.addi(from, at.muli(lane, apart))]);
            at.store(value, self.copy, &[at.addi(to, along)]);
        });
        let zero = at.zero(types::element_or_self(self.copy.r#type()));
        at.each([whole, at.idx(self.packing.width), at.idx(1)], |at, lane| {
            at.store(zero, self.copy, &[at.addi(to, along(lane, &at))]);
        });
    }

    /// Returns the number of iterations of a loop.
    fn extent(&self, l: usize, extent: i64, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        if self.packing.dynamic == Some(l) { self.extents[&l] } else { at.idx(extent) }
    }

    /// Computes the stride of the operand along a loop.
    fn stride(&self, l: usize, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        let factor = at.idx(self.packing.source.factor(l));
        let factors = self.packing.source.extents[l].iter();
        factors.fold(factor, |all, factor| match factor {
            Factor::Extent(extent) => at.muli(all, self.extents[extent]),
            Factor::Size(_) => unreachable!("internal compiler error: a packed operand with a size"),
        })
    }
}
