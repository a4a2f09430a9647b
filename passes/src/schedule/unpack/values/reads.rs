// SPDX-License-Identifier: Apache-2.0
//! Reads elements of arrays and of tables for the lanes of a vector.

use super::super::lines::Line;
use super::{Computed, Failure, Item, Values, What, Word, supported};
use crate::ir::builder::arith::Integers;
use crate::ir::{self, attributes, ops, types, vector};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_symbolic::Interval;

/// The maximum number of elements from the first to the last lane of a load.
const MAX_SPAN: i64 = 64;

impl<'c: 'a, 'a> Values<'_, 'c, 'a> {
    /// Loads the elements of an array.
    pub(super) fn load(&mut self, buffer: Value<'c, 'a>, line: &Line) -> Computed<'c, 'a> {
        let view = *supported(self.views.get(&ir::memref::root_of(buffer)))?;
        let element = types::element_or_self(view.r#type());
        let at = self.at;
        let [first, last] = supported(line.ends())?;
        let address = self.address(line, first);
        if line.is_uniform() {
            let loaded = at.load(view, &[address]);
            let mut item = self.widened(What::Shared(loaded), element)?;
            if let What::Shared(scalar) = item.what
                && self.is_wide()
                && types::bits(element) == Some(8)
            {
                item.word = Some(self.word_of(scalar, vec![0; self.lanes]));
            }
            return Ok(item);
        }
        let span = last - first + 1;
        if span > MAX_SPAN {
            return Err(Failure::Unsupported);
        }
        let loaded = at.load_vector(view, &[address], vector::of(&[span], element), None);
        if line.is_contiguous() {
            return self.widened(What::Vector(loaded), element);
        }
        let places: Vec<i64> = line.lanes.iter().map(|lane| lane - first).collect();
        let mask = [("mask", attributes::i64s(at.context, &places))];
        let shuffled = at.make(ops::vector::SHUFFLE, &[loaded, loaded], &mask, self.kind(element));
        let mut item = self.widened(What::Vector(shuffled), element)?;
        item.word = self.is_wide().then(|| self.word_at(loaded, span, element, places)).flatten();
        Ok(item)
    }

    /// The word of two or four bytes.
    pub(super) fn word_at(
        &self,
        bytes: Value<'c, 'a>,
        span: i64,
        element: Type<'c>,
        places: Vec<i64>,
    ) -> Option<Word<'c, 'a>> {
        let context = self.at.context;
        let is_word = types::bits(element) == Some(8) && [2, 4].contains(&span);
        let kind = types::int(context, u32::try_from(8 * span).ok().filter(|_| is_word)?);
        let word = self.at.extract(self.at.vector_bitcast(bytes, vector::of(&[1], kind)), 0);
        let wide =
            if span == 4 { word } else { self.at.convert(ops::arith::EXTUI, word, types::i32(context)) };
        Some(self.word_of(wide, places))
    }

    /// A word with a byte for each lane, at these places in the word.
    fn word_of(&self, scalar: Value<'c, 'a>, places: Vec<i64>) -> Word<'c, 'a> {
        let vector = self.at.broadcast(scalar, ir::signed(self.lanes));
        let shifts = places.into_iter().map(|place| 8 * place).collect();
        Word { scalar, vector, shifts, bits: vec![8; self.lanes] }
    }

    /// Converts loaded integers to 32 bits.
    pub(super) fn widened(&self, what: What<'c, 'a>, element: Type<'c>) -> Computed<'c, 'a> {
        if element.is_f32() {
            return Ok(Item::new(what, None));
        }
        let bits =
            supported(types::bits(element).filter(|bits| element.is_integer() && (2..=16).contains(bits)))?;
        let word = self.word();
        supported((bits <= self.bits).then_some(()))?;
        let wide =
            |value| if bits == self.bits { value } else { self.at.convert(ops::arith::EXTSI, value, word) };
        let what = match what {
            What::Shared(value) => What::Shared(wide(value)),
            What::Vector(value) => What::Vector(wide(value)),
            What::Known(_) | What::Table { .. } => return Err(Failure::Unsupported),
        };
        let half = 1_i64 << (bits - 1);
        Ok(Item::new(what, Some(Interval { low: -half, high: half - 1 })))
    }

    /// The elements of a table at computed positions, which are inside of it.
    pub(super) fn lookup(&mut self, table: Value<'c, 'a>, index: &Item<'c, 'a>) -> Computed<'c, 'a> {
        let view = *supported(self.views.get(&ir::memref::root_of(table)).filter(|_| self.is_wide()))?;
        let element = types::element_or_self(view.r#type());
        let extents = ir::memref::extents(table.r#type());
        let interval = supported(index.interval)?;
        let extent = supported(extents.first().copied().filter(|_| extents.len() == 1 && element.is_f32()))?;
        if interval.low < 0 || interval.high >= extent {
            return Err(Failure::Unsupported);
        }
        let (at, lanes) = (self.at, ir::signed(self.lanes));
        let word = types::i32(at.context);
        let position = self.emitted(index, word, index.is_vector());
        if !index.is_vector() {
            let position = at.index_cast(position, at.index_type());
            return Ok(Item::new(What::Shared(at.load(view, &[position])), None));
        }
        let kind = self.kind(element);
        let value = if self.permutes && extent == lanes {
            let reals = at.load_vector(view, &[at.idx(0)], kind, None);
            let positions = index.fields.as_ref().and_then(|fields| self.positions(fields));
            let what = What::Table { reals, positions: positions.unwrap_or(position) };
            return Ok(Item::new(what, None));
        } else if self.permutes && extent == 2 * lanes {
            let halves = [0, lanes].map(|first| {
                let half = at.load_vector(view, &[at.idx(first)], kind, None);
                self.permuted(half, position)
            });
            let is_first = at.cmpi(Integers::SignedLess, position, at.int(lanes, self.kind(word)));
            at.select(is_first, halves[0], halves[1])
        } else {
            let all = at.int(1, self.kind(types::flag(at.context)));
            at.make(ops::vector::GATHER, &[view, at.idx(0), position, all, at.zero(kind)], &[], kind)
        };
        Ok(Item::new(What::Vector(value), None))
    }

    /// The elements of a vector at the positions that the lowest bits of another vector contain.
    pub(super) fn permuted(&self, table: Value<'c, 'a>, positions: Value<'c, 'a>) -> Value<'c, 'a> {
        match self.lanes {
            8 => self.at.intrinsic("llvm.x86.avx2.permps", &[table, positions], table.r#type()),
            _ => self.at.intrinsic("llvm.x86.avx512.permvar.sf.512", &[table, positions], table.r#type()),
        }
    }
}
