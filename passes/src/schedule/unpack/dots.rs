// SPDX-License-Identifier: Apache-2.0
//! Sums of products of bytes: 32-bit integers, which the scales of both operands multiply.
//!
//! With `x = s · p` and `w = t · q + o` in a group of elements, the sum of `x · w` is `s · t · Σ p · q + o · s · Σ p`.

use super::kernel::Sum;
use super::values::{Failure, GROUP, Scaled};
use crate::ir::{self, Builder, ops, types, vector};
use crate::schedule::dot::Instruction;
use melior::ir::{Type, Value, ValueLike};

/// The instructions for sums of products of bytes.
#[derive(Clone, Copy)]
pub(super) struct Dots<'c> {
    pub(super) instruction: Instruction,
    /// The lanes of vectors of 32-bit elements.
    pub(super) lanes: usize,
    /// The types of the arrays of bytes, scales, and scaled sums.
    pub(super) types: [Type<'c>; 3],
}

/// A vector of bytes of the other operand.
pub(super) struct Multiplied<'c, 'a> {
    bytes: Value<'c, 'a>,
    scales: Value<'c, 'a>,
    sums: Value<'c, 'a>,
}

/// A vector of bytes of the unpacked operand.
pub(super) struct Bytes<'c, 'a> {
    /// Unsigned bytes, or signed ones if `is_signed`.
    levels: Value<'c, 'a>,
    is_signed: bool,
    scale: Option<Value<'c, 'a>>,
    offset: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Dots<'c> {
    /// The elements of a vector of bytes.
    pub(super) fn elements(&self) -> usize {
        GROUP * self.lanes
    }

    fn vector_of(&self, lanes_of_word: i64, bits: u32) -> Type<'c> {
        let context = types::context_of(self.types[0]);
        vector::of(&[lanes_of_word * ir::signed(self.lanes)], types::int(context, bits))
    }

    fn reals(&self) -> Type<'c> {
        vector::of(&[ir::signed(self.lanes)], types::element_or_self(self.types[1]))
    }

    /// Loads a vector of the other operand from a flat position on, which is a multiple of the size of a group.
    pub(super) fn load(
        &self,
        at: Builder<'c, 'a>,
        views: &[Value<'c, 'a>],
        address: Value<'c, 'a>,
    ) -> Multiplied<'c, 'a> {
        let group = at.divui(address, at.idx(ir::signed(GROUP)));
        let [scales, sums] = [1, 2].map(|n| at.load_vector(views[n], &[group], self.reals(), None));
        Multiplied { bytes: at.load_vector(views[0], &[address], self.vector_of(4, 8), None), scales, sums }
    }

    /// Converts levels to the operand of the instructions: where they multiply unsigned bytes, the least level becomes 0.
    pub(super) fn unpacked(
        &self,
        at: Builder<'c, 'a>,
        scaled: Scaled<'c, 'a>,
    ) -> Result<Bytes<'c, 'a>, Failure> {
        let Scaled { levels, interval, scale, offset } = scaled;
        let (low, is_signed) = match self.instruction {
            Instruction::Vpdpbusd | Instruction::Usdot => (interval.low.min(0), false),
            // Sums of two products of unsigned and signed bytes saturate at 16 bits.
            Instruction::Vpmaddwd if self.lanes == 8 => match (interval.low, interval.high) {
                (0.., ..=127) => (0, false),
                (_, ..=127) => (0, true),
                _ => (128, true),
            },
            _ => return Err(Failure::Unsupported),
        };
        if low == 0 {
            return Ok(Bytes { levels, is_signed, scale, offset });
        }
        // 8 bits represent 128 as −128.
        let by = if low == i64::from(i8::MIN) { low } else { -low };
        let levels = at.addi(levels, at.int(by, self.vector_of(4, 8)));
        #[allow(clippy::cast_precision_loss, reason = "the integer is a byte")]
        let low =
            at.broadcast(at.real(low as f64, types::element_or_self(self.types[1])), ir::signed(self.lanes));
        let more = scale.map_or(low, |scale| at.mulf(scale, low));
        let offset = offset.map_or(more, |offset| at.addf(offset, more));
        Ok(Bytes { levels, is_signed, scale, offset: Some(offset) })
    }

    /// Adds the products of two vectors to the sums of groups.
    pub(super) fn added(
        &self,
        at: Builder<'c, 'a>,
        operators: &Sum<'c>,
        sum: Value<'c, 'a>,
        w: &Bytes<'c, 'a>,
        x: &Multiplied<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Failure> {
        let kind = sum.r#type();
        let add = |sum: Value<'c, 'a>, factors: [Value<'c, 'a>; 2]| {
            operators.sum.apply(&at, &[sum, operators.product.apply(&at, &factors, kind)], kind)
        };
        let integers = self.sum_of_products(at, w, x.bytes).ok_or(Failure::Unsupported)?;
        let real = at.convert(ops::arith::SITOFP, integers, types::element_or_self(self.types[1]));
        // The product of both scales could overflow where the sum is 0.
        let scaled = w.scale.map_or(real, |scale| operators.product.apply(&at, &[real, scale], kind));
        let sum = add(sum, [scaled, x.scales]);
        Ok(w.offset.map_or(sum, |offset| add(sum, [offset, x.sums])))
    }

    /// The sums of the products of each group.
    fn sum_of_products(
        &self,
        at: Builder<'c, 'a>,
        w: &Bytes<'c, 'a>,
        x: Value<'c, 'a>,
    ) -> Option<Value<'c, 'a>> {
        let (pairs, words, bytes) = (self.vector_of(2, 16), self.vector_of(1, 32), self.vector_of(4, 8));
        if self.instruction != Instruction::Vpmaddwd {
            let intrinsic = self.instruction.intrinsic(ir::signed(self.lanes))?;
            return Some(at.intrinsic(intrinsic, &[at.zero(words), w.levels, x], words));
        }
        let sign = |value, by| at.intrinsic("llvm.x86.avx2.psign.b", &[value, by], bytes);
        let [unsigned, signed] =
            if w.is_signed { [sign(w.levels, w.levels), sign(x, w.levels)] } else { [w.levels, x] };
        let sums = at.intrinsic("llvm.x86.avx2.pmadd.ub.sw", &[unsigned, signed], pairs);
        Some(at.intrinsic("llvm.x86.avx2.pmadd.wd", &[sums, at.int(1, pairs)], words))
    }
}
