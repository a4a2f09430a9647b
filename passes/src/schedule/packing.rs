// SPDX-License-Identifier: Apache-2.0
//! Packing: a copy of an operand in the order in which a kernel reads it.
//!
//! The operand varies along the lanes' loop, but its elements along that loop are apart, or its rows are. The copy has
//! blocks as wide as a tile: inside of a block, the elements along the lanes are contiguous and follow the reductions in
//! the kernel's order. The last block is filled up with zeros, so the kernel needs no masks to read it.
//!
//! The method is that of Goto and van de Geijn, *Anatomy of High-Performance Matrix Multiplication* (2008), section 4.

#![allow(
    clippy::indexing_slicing,
    reason = "loops, steps and addresses of one nest have equal lengths"
)]

use super::nest::{Address, LoopKind, Nest};
use super::plan::Plan;
use super::signature::Signature;
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
    elements: i64,
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
        let mut target = Address {
            offset: 0,
            strides: vec![0; nest.loops.len()],
        };
        let mut stride = width;
        for &l in plan.reductions.iter().filter(|l| varies(l)).rev() {
            target.strides[l] = stride;
            stride *= nest.loops[l].extent;
        }
        target.strides[plan.lanes_loop] = stride / width;
        stride *= blocks;
        for &l in batches.iter().filter(|l| varies(l)).rev() {
            target.strides[l] = stride;
            stride *= nest.loops[l].extent;
        }
        let inner = plan.reductions.iter().copied();
        // In the order of the operand's memory: a row of a block is two lines of the cache, wherever it is.
        let loops = batches.iter().copied().chain(inner).filter(varies);
        let mut loops: Vec<(usize, i64)> = loops.map(extent_of).collect();
        loops.sort_by_key(|(l, _)| std::cmp::Reverse(source.strides[*l]));
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
        })
    }

    /// The type of the copy.
    pub fn r#type(&self, signature: &Signature) -> String {
        format!(
            "memref<{}x{}>",
            self.elements, signature.elements[self.operand]
        )
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
        let kind = self.r#type(signature);
        nest.operands[self.operand] = self.target.clone();
        signature.arrays[self.operand] = kind;
        signature.windows[self.operand] = (0, self.elements);
    }

    /// Writes `func.func private @name`, which copies the blocks from its third argument up to its last. LLVM keeps its loops
    /// small: unrolled, they take longer to compile than all kernels.
    pub fn function(&self, name: &str, signature: &Signature) -> String {
        let (array, copy) = (&signature.arrays[self.operand], self.r#type(signature));
        let flat = signature.flat(self.operand);
        let (offset, span) = signature.windows[self.operand];
        let element = &signature.elements[self.operand];
        let mut text = format!(
            "func.func private @{name}(%array: {array} {{llvm.noalias}}, %copy: {copy} {{llvm.noalias}}, %from: index, %to: index) attributes {{llvm.linkage = #llvm.linkage<internal>, passthrough = [{NOINLINE}, \"optsize\"], {STEPS}}} {{\n"
        );
        let zero = if element.contains('f') { "0.0" } else { "0" };
        let _ = writeln!(
            text,
            "  %flat = memref.reinterpret_cast %array to offset: [{offset}], sizes: [{span}], strides: [1] : {array} to {flat}\n  \
             %zero = arith.constant {zero} : {element}\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  \
             %width = arith.constant {} : index\n  %extent = arith.constant {} : index\n  \
             %source = arith.constant {} : index\n  %apart = arith.constant {} : index\n  %block = arith.constant {} : index",
            self.width,
            self.extent,
            self.source.offset,
            self.source.strides[self.lanes_loop],
            self.target.strides[self.lanes_loop],
        );
        let _ = writeln!(
            text,
            "  scf.for %b = %from to %to step %c1 {{\n  %first = arith.muli %b, %width : index\n  \
             %rest = arith.subi %extent, %first : index\n  %whole = arith.minsi %rest, %width : index\n  \
             %far = arith.muli %first, %apart : index\n  %s0 = arith.addi %source, %far : index\n  \
             %t0 = arith.muli %first, %block : index"
        );
        for (n, (l, extent)) in self.loops.iter().enumerate() {
            let next = n + 1;
            let _ = writeln!(
                text,
                "  %e{n} = arith.constant {extent} : index\n  %p{n} = arith.constant {} : index\n  %q{n} = arith.constant {} : index\n  \
                 scf.for %i{n} = %c0 to %e{n} step %c1 {{\n  %x{n} = arith.muli %i{n}, %p{n} : index\n  %s{next} = arith.addi %s{n}, %x{n} : index\n  \
                 %y{n} = arith.muli %i{n}, %q{n} : index\n  %t{next} = arith.addi %t{n}, %y{n} : index",
                self.source.strides[*l], self.target.strides[*l]
            );
        }
        let last = self.loops.len();
        let _ = writeln!(
            text,
            "  scf.for %lane = %c0 to %whole step %c1 {{\n  %d = arith.muli %lane, %apart : index\n  \
             %at = arith.addi %s{last}, %d : index\n  %value = memref.load %flat[%at] : {flat}\n  \
             %to_lane = arith.addi %t{last}, %lane : index\n  memref.store %value, %copy[%to_lane] : {copy}\n  }}\n  \
             scf.for %lane = %whole to %width step %c1 {{\n  %to_lane = arith.addi %t{last}, %lane : index\n  \
             memref.store %zero, %copy[%to_lane] : {copy}\n  }}"
        );
        text.push_str(&"  }\n".repeat(last + 1));
        text.push_str("  return\n}\n");
        text
    }
}
