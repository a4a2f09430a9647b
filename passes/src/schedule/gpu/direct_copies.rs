// SPDX-License-Identifier: Apache-2.0
//! Copies of a tile's inputs from the memory of the device into that of a block, without registers between.
//!
//! A thread begins the copies of the next step, adds the products of the present one, and waits for its copies before it waits for the
//! other threads. A copy has 4, 8 or 16 bytes that follow each other in both memories; other inputs go through registers.

use super::super::targets::gpus::DirectCopy;
use super::code::{Code, Number};
use super::matrix_unit::Unit;
use super::tiles::{BUFFERS, Copied, PADDING, TileWriter};
use crate::extents::size::element_bytes;

/// Bytes of a copy that passes by the cache of a processor; shorter ones are in it.
const LONGEST: u64 = 16;

/// Bytes that an instruction copies.
const SIZES: [u64; 3] = [4, 8, LONGEST];

impl Code<'_> {
    /// The bytes of so many elements of an operand.
    fn bytes(&self, operand: usize, width: i64) -> u64 {
        let element = element_bytes(self.element(operand)).unwrap_or(0);
        element.saturating_mul(width.unsigned_abs())
    }

    /// The pointer to an element of an array that begins at `base`, an index, in a memory space.
    fn pointer(&mut self, base: &str, element: &str, bytes: u64, space: u32) -> String {
        let lines = &mut self.lines;
        let bytes = lines.value(format!("arith.constant {bytes} : index"));
        let place = lines.value(format!("arith.muli {element}, {bytes} : index"));
        let place = lines.value(format!("arith.addi {base}, {place} : index"));
        let place = lines.value(format!("arith.index_cast {place} : index to i64"));
        lines.value(format!("llvm.inttoptr {place} : i64 to !llvm.ptr<{space}>"))
    }

    /// The pointer to an element of an operand.
    fn source(&mut self, operand: usize, address: &Number) -> String {
        let (array, bytes) = (self.signature.flat(operand), self.bytes(operand, 1));
        let element = self.element(operand);
        let names: [String; 4] = std::array::from_fn(|_| self.lines.name());
        let indices = "index, index, index";
        self.lines.line(format!(
            "{} = memref.extract_strided_metadata %l{operand} : {array} -> memref<{element}>, {indices}",
            names.join(", ")
        ));
        let address = self.index(address);
        let place = format!("arith.addi {}, {address} : index", names[1]);
        let place = self.lines.value(place);
        let base = self
            .lines
            .value(format!("memref.extract_aligned_pointer_as_index %l{operand} : {array} -> index"));
        self.pointer(&base, &place, bytes, 1)
    }
}

impl TileWriter<'_> {
    /// Whether elements that follow each other in an input, and in its copy if there are several, are copied without registers. Those of a unit
    /// for matrices are so in the last step as well, whose products after the last one are zeros, if it has no such products.
    pub(super) fn is_direct(&self, input: usize, width: i64, is_along_depth: bool) -> bool {
        let is_next = match &self.unit {
            None => width == 1 || !is_along_depth,
            Some(unit) => {
                let is_whole = matches!(self.depth, Number::Known(depth) if depth % self.step == 0);
                let is_kept = unit.format.keeps(self.code.element(input));
                is_whole && is_kept && is_along_depth
            }
        };
        let copies = self.code.direct_copies();
        copies.is_some() && is_next && SIZES.contains(&self.code.bytes(input, width))
    }

    /// Whether an input of a side is copied without registers.
    pub(super) fn is_side_direct(&self, side: usize) -> bool {
        let mut copies = self.copies.iter();
        copies.any(|copied| copied.side == side && copied.is_direct)
    }

    /// The way of copies without registers, if there are any.
    fn direct(&self) -> Option<DirectCopy> {
        let is_any = self.copies.iter().any(|copied| copied.is_direct);
        self.code.direct_copies().filter(|_| is_any)
    }

    /// Begins the copies of the step at `first`, or of the products that there are.
    pub(super) fn copy_directly(&mut self, first: &Number) {
        let Some(direct) = self.direct() else {
            return;
        };
        let number = self.code.split(first, &Number::Known(self.step)).0;
        let buffers = Number::Known(i64::try_from(BUFFERS).unwrap_or(1));
        let buffer = self.code.split(&number, &buffers).1;
        let copies = std::mem::take(&mut self.copies);
        let unit = self.unit.take();
        for copied in copies.iter().filter(|copied| copied.is_direct) {
            let address = self.source(copied, first);
            if direct == DirectCopy::Async {
                self.begin(copied, unit.as_ref(), &buffer, &address);
                continue;
            }
            let all = self.code.load_vector(copied.input, &address, copied.width);
            let buffer = self.code.index(&buffer);
            match &unit {
                None => self.put(copied, &all, &buffer),
                Some(unit) => self.fill_matrix(unit, copied, (&all, &buffer), None),
            }
        }
        self.copies = copies;
        self.unit = unit;
        if direct == DirectCopy::Async {
            self.code.lines.line("nvvm.cp.async.commit.group");
        }
    }

    /// Begins the copies of the next step; before `end`, if whole steps end there.
    pub(super) fn copy_next(&mut self, next: &Number, end: Option<&Number>) {
        let Some(end) = end.filter(|_| self.direct().is_some()) else {
            return self.copy_directly(next);
        };
        let is_any = self.code.is_below(next, end);
        self.code.lines.line(format!("scf.if {is_any} {{"));
        self.code.enter();
        self.copy_directly(next);
        self.code.lines.line("}");
        self.code.enter();
    }

    /// Begins a copy.
    fn begin(&mut self, copied: &Copied, unit: Option<&Unit>, buffer: &Number, address: &Number) {
        let input = copied.input;
        let size = self.sizes.get(copied.side).copied().unwrap_or(1);
        // Products of consecutive lines, or for a unit lines of consecutive products.
        let (count, outer, length, inner) = match unit {
            None => {
                let padding = i64::from(copied.is_along_depth) * i64::from(PADDING);
                (self.step, &copied.product, size + padding, &copied.line)
            }
            Some(unit) => {
                let length = self.step + unit.padding();
                (size, &copied.line, length, &copied.product)
            }
        };
        let place = self.code.times(buffer, count);
        let place = self.code.add(&place, outer);
        let place = self.code.times(&place, length);
        let place = self.code.add(&place, inner);
        let place = self.code.index(&place);
        let kind = self.shared.get(&input).cloned().unwrap_or_default();
        let base = self
            .code
            .lines
            .value(format!("memref.extract_aligned_pointer_as_index %s{input} : {kind} -> index"));
        let bytes = self.code.bytes(input, 1);
        let place = self.code.pointer(&base, &place, bytes, 3);
        let source = self.code.source(input, address);
        let bytes = self.code.bytes(input, copied.width);
        let cache = if bytes == LONGEST { "cg" } else { "ca" };
        self.code.lines.line(format!(
            "nvvm.cp.async.shared.global {place}, {source}, {bytes}, cache = {cache} : !llvm.ptr<3>, !llvm.ptr<1>"
        ));
    }

    /// Waits for the thread's own copies.
    pub(super) fn wait_for_copies(&mut self) {
        if self.direct() == Some(DirectCopy::Async) {
            self.code.lines.line("nvvm.cp.async.wait.group 0");
        }
    }
}
