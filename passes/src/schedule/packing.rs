// SPDX-License-Identifier: Apache-2.0
//! Packing: a copy of an operand in the order in which a kernel reads it.
//!
//! The operand varies along the lanes' loop, but its elements along that loop are apart, or its rows are. The copy has
//! blocks as wide as a tile: inside of a block, the elements along the lanes are contiguous and follow the reductions in
//! the kernel's order. The last block is filled up with zeros, so the kernel needs no masks to read it.
//!
//! The method is that of Goto and van de Geijn, *Anatomy of High-Performance Matrix Multiplication* (2008), section 4.

#![allow(clippy::indexing_slicing, reason = "loops, steps and addresses of one nest have equal lengths")]

use super::dot::in_groups;
use super::nest::{Address, LoopKind, Nest};
use super::plan::Plan;
use super::reading::LARGEST_SPAN;
use super::signature::{AT_RUN_TIME, Signature, pointer_type};
use super::vectorize::NOINLINE;
use crate::ir::attribute_names::STEPS;
use std::fmt::Write;

/// The copy of an operand.
pub struct Packing {
    /// The operand's position in the nest.
    pub operand: usize,
    /// The type of the operand as an argument.
    pub source_type: String,
    lanes_loop: usize,
    /// Elements of the lanes' loop in a block.
    width: i64,
    /// Blocks along the lanes' loop.
    blocks: i64,
    /// Address in the operand, by loop.
    source: Address,
    /// Address in the copy, by loop. That of the lanes' loop is right for multiples of the width.
    target: Address,
    /// The other loops that the operand varies along, with their extents.
    loops: Vec<(usize, i64)>,
    /// Extent of the lanes' loop.
    extent: i64,
    /// Elements of the copy; of one iteration, or one block, of the loop with a dynamic extent.
    elements: i64,
    /// The loop with a dynamic extent that the operand varies along. It is the outermost one of the copy.
    dynamic: Option<usize>,
    /// The loops with dynamic extents that addresses of the operand depend on.
    arguments: Vec<usize>,
    /// The loop along which groups of elements of each lane are contiguous, and the size of a group.
    group: Option<(usize, i64)>,
    /// Whether the copy is a part of a larger one, whose offset is an argument.
    is_part: bool,
    /// Whether the offset of the operand is an argument.
    is_placed: bool,
}

impl Packing {
    /// The order of the copy, for profiles: `packed 16×` are blocks of 16 elements along the lanes.
    pub(super) fn remark(&self) -> String {
        format!("packed {}×", self.width)
    }

    /// The packing that a plan needs.
    pub fn of(nest: &Nest, plan: &Plan, signature: &Signature) -> Option<Packing> {
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
        // In the order of the operand's memory: a row of a block is two lines of the cache, wherever it is.
        let loops = batches.iter().copied().chain(inner).filter(varies);
        let mut loops: Vec<(usize, i64)> = loops.map(extent_of).collect();
        loops.sort_by_key(|(l, _)| std::cmp::Reverse(source.strides[*l]));
        let is_used = |l: &usize| source.extents.iter().flatten().any(|own| own == l);
        let arguments = (0..nest.loops.len()).filter(is_dynamic);
        let arguments = arguments.filter(|l| varies(l) || is_used(l)).collect();
        Some(Packing {
            operand,
            source_type: signature.arrays[operand].clone(),
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

    /// The copy as a part of a larger one.
    pub(super) fn into_part(self) -> Packing {
        Packing { is_part: true, ..self }
    }

    /// Elements of the copy; `None` if their number is dynamic.
    pub(super) fn size(&self) -> Option<i64> {
        self.dynamic.is_none().then_some(self.elements)
    }

    /// Whether the offset of the operand is an argument of [`Packing::function`].
    pub(super) fn places_source(&self) -> bool {
        self.is_placed
    }

    /// The type of the copy.
    pub fn r#type(&self, signature: &Signature) -> String {
        let element = &signature.elements[self.operand];
        match self.dynamic {
            None => format!("memref<{}x{element}>", self.elements),
            Some(_) => format!("memref<?x{element}>"),
        }
    }

    /// The type of the copy as an argument.
    fn argument_type(&self, signature: &Signature) -> String {
        match self.dynamic {
            None if !self.is_part => self.r#type(signature),
            _ => pointer_type(&signature.elements[self.operand], 0),
        }
    }

    /// As [`Packing::argument_type`], after [`Packing::apply`].
    pub(super) fn copy_type<'s>(&self, signature: &'s Signature) -> &'s str {
        &signature.arrays[self.operand]
    }

    /// The loop whose dynamic extent decides the size of the copy, the iterations of it that have a part of the copy, and the elements
    /// of a part.
    pub(super) fn parts(&self) -> Option<(usize, i64, i64)> {
        let l = self.dynamic?;
        let iterations = if l == self.lanes_loop { self.width } else { 1 };
        Some((l, iterations, self.elements))
    }

    /// The loops whose extents are arguments of [`Packing::function`].
    pub(super) fn arguments(&self) -> &[usize] {
        &self.arguments
    }

    /// Whether the number of steps follows from the extent of the lanes' loop: one for each block.
    pub(super) fn has_dynamic_steps(&self) -> bool {
        self.dynamic == Some(self.lanes_loop)
    }

    /// Elements of the lanes' loop in a block.
    pub(super) fn width(&self) -> i64 {
        self.width
    }

    /// Address in the copy, by loop. That of the lanes' loop is right for multiples of the width.
    pub(super) fn target(&self) -> &Address {
        &self.target
    }

    /// The number of steps of [`Packing::function`].
    pub fn steps(&self) -> i64 {
        self.blocks
    }

    /// The kernel's nest and signature, with the copy instead of the operand.
    pub fn apply(&self, nest: &mut Nest, signature: &mut Signature) {
        nest.operands[self.operand] = self.target.clone();
        self.apply_to(signature);
    }

    fn apply_to(&self, signature: &mut Signature) {
        let kind = self.argument_type(signature);
        signature.arrays[self.operand] = kind;
        let offset = if self.is_part { AT_RUN_TIME } else { 0 };
        signature.windows[self.operand] = (offset, self.span());
    }

    /// Elements of the copy; a bound if its size is dynamic.
    fn span(&self) -> i64 {
        self.dynamic.map_or(self.elements, |_| LARGEST_SPAN)
    }

    /// Writes `func.func private @name`, which copies the blocks from its third argument up to its last. LLVM keeps its loops
    /// small: unrolled, they take longer to compile than all kernels.
    pub fn function(&self, name: &str, signature: &Signature) -> String {
        let (array, passed) = (&signature.arrays[self.operand], self.argument_type(signature));
        let flat = signature.flat(self.operand);
        let element = &signature.elements[self.operand];
        let mut copies = signature.clone();
        self.apply_to(&mut copies);
        let copy = copies.flat(self.operand);
        let first = |is_argument: bool, name: &str| {
            if is_argument { format!("%{name}: index, ") } else { String::new() }
        };
        let firsts = [first(self.is_placed, "source_first"), first(self.is_part, "copy_first")].concat();
        let extents = self.arguments.iter().map(|l| format!("%n{l}: index, "));
        let extents: String = extents.collect();
        let mut text = format!(
            "func.func private @{name}(%array: {array} {{llvm.noalias}}, %copies: {passed} {{llvm.noalias}}, {firsts}{extents}%from: index, %to: index) attributes {{llvm.linkage = #llvm.linkage<internal>, passthrough = [{NOINLINE}, \"optsize\"], {STEPS}}} {{\n"
        );
        let zero = if element.contains('f') { "0.0" } else { "0" };
        let _ = writeln!(
            text,
            "  %flat = {}\n  %copy = {}\n  \
             %zero = arith.constant {zero} : {element}\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  \
             %width = arith.constant {} : index\n  \
             %source = arith.constant {} : index\n  %block = arith.constant {} : index",
            signature.view(self.operand, "%array", array, "%source_first"),
            copies.view(self.operand, "%copies", &passed, "%copy_first"),
            self.width,
            self.source.offset,
            self.target.strides[self.lanes_loop],
        );
        self.write_extent(&mut text, "%extent", self.lanes_loop, self.extent);
        self.write_stride(&mut text, "%apart", self.lanes_loop);
        let _ = writeln!(
            text,
            "  scf.for %b = %from to %to step %c1 {{\n  %first = arith.muli %b, %width : index\n  \
             %rest = arith.subi %extent, %first : index\n  %whole = arith.minsi %rest, %width : index\n  \
             %far = arith.muli %first, %apart : index\n  %s0 = arith.addi %source, %far : index\n  \
             %t0 = arith.muli %first, %block : index"
        );
        let mut whole = "%whole";
        for (n, (l, extent)) in self.loops.iter().enumerate() {
            let next = n + 1;
            if let Some((_, size)) = self.group.filter(|(own, _)| own == l) {
                self.write_groups(&mut text, n, *extent, size);
                whole = "%whole_group";
                continue;
            }
            self.write_extent(&mut text, &format!("%e{n}"), *l, *extent);
            self.write_stride(&mut text, &format!("%p{n}"), *l);
            let _ = writeln!(
                text,
                "  %q{n} = arith.constant {} : index\n  \
                 scf.for %i{n} = %c0 to %e{n} step %c1 {{\n  %x{n} = arith.muli %i{n}, %p{n} : index\n  %s{next} = arith.addi %s{n}, %x{n} : index\n  \
                 %y{n} = arith.muli %i{n}, %q{n} : index\n  %t{next} = arith.addi %t{n}, %y{n} : index",
                self.target.strides[*l]
            );
        }
        let last = self.loops.len();
        let lane = match self.group {
            None => "%lane".to_owned(),
            Some(_) => "%group".to_owned(),
        };
        let spread = match self.group {
            None => String::new(),
            Some((_, size)) => {
                format!(
                    "  %size = arith.constant {size} : index\n  %group = arith.muli %lane, %size : index\n"
                )
            }
        };
        let _ = writeln!(
            text,
            "  scf.for %lane = %c0 to {whole} step %c1 {{\n{spread}  %d = arith.muli %lane, %apart : index\n  \
             %at = arith.addi %s{last}, %d : index\n  %value = memref.load %flat[%at] : {flat}\n  \
             %to_lane = arith.addi %t{last}, {lane} : index\n  memref.store %value, %copy[%to_lane] : {copy}\n  }}\n  \
             scf.for %lane = {whole} to %width step %c1 {{\n{spread}  %to_lane = arith.addi %t{last}, {lane} : index\n  \
             memref.store %zero, %copy[%to_lane] : {copy}\n  }}"
        );
        text.push_str(&"  }\n".repeat(last + 1));
        text.push_str("  return\n}\n");
        text
    }

    /// The loop that groups are along, the `n`th one: group by group, with zeros for what the last one lacks.
    fn write_groups(&self, text: &mut String, n: usize, extent: i64, size: i64) {
        let next = n + 1;
        let Some((l, _)) = self.group else {
            return;
        };
        self.write_stride(text, &format!("%p{n}"), l);
        let _ = writeln!(
            text,
            "  %e{n} = arith.constant {} : index\n  %has{n} = arith.constant {extent} : index\n  %g{n} = arith.constant {size} : index\n  \
             %q{n} = arith.constant {} : index\n  \
             scf.for %i{n} = %c0 to %e{n} step %c1 {{\n  %x{n} = arith.muli %i{n}, %p{n} : index\n  %s{next} = arith.addi %s{n}, %x{n} : index\n  \
             %in{n} = arith.remui %i{n}, %g{n} : index\n  %of{n} = arith.subi %i{n}, %in{n} : index\n  \
             %y{n} = arith.muli %of{n}, %q{n} : index\n  %z{n} = arith.addi %y{n}, %in{n} : index\n  %t{next} = arith.addi %t{n}, %z{n} : index\n  \
             %is{n} = arith.cmpi ult, %i{n}, %has{n} : index\n  %whole_group = arith.select %is{n}, %whole, %c0 : index",
            in_groups(extent, size),
            self.target.strides[l],
        );
    }

    /// The number of iterations of a loop.
    fn write_extent(&self, text: &mut String, name: &str, l: usize, extent: i64) {
        let _ = if self.dynamic == Some(l) {
            writeln!(text, "  {name} = arith.addi %n{l}, %c0 : index")
        } else {
            writeln!(text, "  {name} = arith.constant {extent} : index")
        };
    }

    /// The distance of an iteration of a loop from the next one in the operand.
    fn write_stride(&self, text: &mut String, name: &str, l: usize) {
        let extents = &self.source.extents[l];
        let factor = self.source.factor(l);
        let Some((last, first)) = extents.split_last() else {
            let _ = writeln!(text, "  {name} = arith.constant {factor} : index");
            return;
        };
        let _ = writeln!(text, "  {name}_factor = arith.constant {factor} : index");
        let mut product = format!("{name}_factor");
        for (n, extent) in first.iter().enumerate() {
            let next = format!("{name}_{n}");
            let _ = writeln!(text, "  {next} = arith.muli {product}, %n{extent} : index");
            product = next;
        }
        let _ = writeln!(text, "  {name} = arith.muli {product}, %n{last} : index");
    }
}
