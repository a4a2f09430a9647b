// SPDX-License-Identifier: Apache-2.0
//! Copies of a tile's inputs from device memory directly into shared memory, without intermediate registers.
//!
//! A thread begins the copies of the next step, adds the products of the current step, and waits for its copies before the barrier. A
//! copy has 4, 8 or 16 bytes that are contiguous in both memories; other inputs are copied through registers.

use super::super::targets::gpus::DirectCopy;
use super::code::{Code, bytes};
use super::tiles::{Copied, TileWriter};
use crate::ir::numbers::Number;
use crate::schedule::contraction::PADDING;
use melior::ir::Value;

/// Maximum number of bytes of a copy. Copies of this size bypass the L1 cache; shorter copies do not.
const MAX_SIZE: i64 = 16;

/// Numbers of bytes that an instruction can copy.
const SIZES: [i64; 3] = [4, 8, MAX_SIZE];

impl<'c: 'a, 'a> Code<'_, 'c, 'a> {
    /// The size of `width` elements of an operand in bytes.
    fn bytes(&self, operand: usize, width: i64) -> i64 {
        bytes(self.element(operand), width)
    }

    /// Computes the pointer to an element of an array that begins at `base`, in a memory space. The array has the element type of the
    /// operand.
    fn pointer(
        &self,
        operand: usize,
        base: Value<'c, 'a>,
        element: Value<'c, 'a>,
        space: u32,
    ) -> Value<'c, 'a> {
        let at = self.builder();
        let size = at.idx(self.bytes(operand, 1));
        at.pointer(base, at.muli(element, size), space)
    }

    /// Computes the pointer to an element of an operand.
    fn source(&self, operand: usize, address: Number<'c, 'a>) -> Value<'c, 'a> {
        let at = self.builder();
        let array = self.view(operand);
        let offset = at.offset_of(array);
        let place = at.addi(offset, self.numbers.index(address));
        self.pointer(operand, at.aligned_pointer(array), place, 1)
    }
}

impl<'c: 'a, 'a> TileWriter<'_, 'c, 'a> {
    /// Whether `width` elements, which are contiguous in an input, are copied without registers. They must also be contiguous in shared
    /// memory. For a matrix unit, the elements must be copied bit by bit, and the depth must be a multiple of the step,
    /// because the last step would otherwise need padding with zeros.
    pub(super) fn is_direct(&self, input: usize, width: i64, is_along_depth: bool) -> bool {
        let is_possible = match &self.unit {
            None => width == 1 || !is_along_depth,
            Some(unit) => {
                let is_whole = self.depth.is_multiple(self.step);
                is_whole && unit.format.keeps(self.code.element(input)) && is_along_depth
            }
        };
        let copies = self.code.direct_copies();
        copies.is_some() && is_possible && SIZES.contains(&self.code.bytes(input, width))
    }

    /// Whether an input of a side is copied without registers.
    pub(super) fn is_side_direct(&self, side: usize) -> bool {
        let mut copies = self.copies.iter();
        copies.any(|copied| copied.side == side && copied.is_direct)
    }

    /// The kind of copies without registers; `None` if there are no such copies.
    fn direct(&self) -> Option<DirectCopy> {
        let is_any = self.copies.iter().any(|copied| copied.is_direct);
        self.code.direct_copies().filter(|_| is_any)
    }

    /// Begins the copies of the step at `first`.
    pub(super) fn copy_directly(&self, first: Number<'c, 'a>) {
        let Some(direct) = self.direct() else {
            return;
        };
        let n = self.n();
        let buffer = self.buffer(first);
        for copied in self.copies.iter().filter(|copied| copied.is_direct) {
            let address = self.source(copied, first);
            if direct == DirectCopy::Async {
                self.begin(copied, buffer, address);
                continue;
            }
            let all = self.code.load_vector(copied.input, address, copied.width);
            let buffer = n.index(buffer);
            match &self.unit {
                None => self.put(copied, all, buffer),
                Some(unit) => self.fill_matrix(unit, copied, (all, buffer), None),
            }
        }
        if direct == DirectCopy::Async {
            n.at.commit_copies();
        }
    }

    /// Begins the copies of the step at `next`. If `end` is given, the reduction ends there: a step that would begin at `end` is not copied.
    pub(super) fn copy_next(&mut self, next: Number<'c, 'a>, end: Option<Number<'c, 'a>>) {
        let Some(end) = end.filter(|_| self.direct().is_some()) else {
            return self.copy_directly(next);
        };
        let n = self.n();
        n.at.when(n.is_below(next, end), |at| {
            self.code.enter(at);
            self.copy_directly(next);
        });
        self.code.enter(n.at);
    }

    /// Begins an asynchronous copy.
    fn begin(&self, copied: &Copied<'c, 'a>, buffer: Number<'c, 'a>, address: Number<'c, 'a>) {
        let (input, n) = (copied.input, self.n());
        let size = self.sizes[copied.side];
        // A buffer in shared memory has a row for each product, which consists of consecutive lines. For a matrix unit it has a row for
        // each line, which consists of consecutive products.
        let (count, outer, length, inner) = match &self.unit {
            None => {
                let padding = i64::from(copied.is_along_depth) * i64::from(PADDING);
                (self.step, copied.product, size + padding, copied.line)
            }
            Some(unit) => (size, copied.line, self.step + unit.padding(), copied.product),
        };
        let place = n.add(n.multiply(buffer, count), outer);
        let place = n.index(n.add(n.multiply(place, length), inner));
        let base = n.at.aligned_pointer(self.shared[&input]);
        let to = self.code.pointer(input, base, place, 3);
        let from = self.code.source(input, address);
        let bytes = self.code.bytes(input, copied.width);
        n.at.copy_async(to, from, bytes, bytes != MAX_SIZE);
    }

    /// Waits for the thread's own copies.
    pub(super) fn wait_for_copies(&self) {
        if self.direct() == Some(DirectCopy::Async) {
            self.code.builder().wait_for_copies();
        }
    }
}
