// SPDX-License-Identifier: Apache-2.0
//! Integers that a few bits determine: a permutation computes their reals, without shifts, masks and conversions.

use super::{Item, Values, What, Word};
use crate::ir::operator::Operator;
use crate::ir::{self, attributes, ops, types, vector};
use melior::ir::attribute::FloatAttribute;
use melior::ir::operation::OperationRef;
use melior::ir::{Attribute, Type, Value};

/// The maximum number of groups of bits in a sum.
const MAX_TERMS: usize = 2;

/// Integers below this one are exact as 32-bit floats.
const EXACT: i64 = 1 << 24;

/// `Σ factor · bits + offset`.
#[derive(Clone)]
pub(super) struct Fields<'c, 'a> {
    terms: Vec<(Bits<'c, 'a>, i64)>,
    offset: i64,
}

/// A few bits of each lane.
#[derive(Clone, Copy)]
pub(super) enum Bits<'c, 'a> {
    /// `count` bits of each lane of a vector, from bit `first` on.
    Lanes { vector: Value<'c, 'a>, first: i64, count: u32 },
    /// The bits of a vector of bools.
    Flags(Value<'c, 'a>),
}

impl<'c, 'a> From<Bits<'c, 'a>> for Fields<'c, 'a> {
    fn from(bits: Bits<'c, 'a>) -> Self {
        Fields { terms: vec![(bits, 1)], offset: 0 }
    }
}

impl Fields<'_, '_> {
    fn plus(mut self, offset: i64) -> Option<Self> {
        self.offset = self.offset.checked_add(offset)?;
        Some(self)
    }

    fn times(mut self, factor: i64) -> Option<Self> {
        self.offset = self.offset.checked_mul(factor)?;
        for (_, of_term) in &mut self.terms {
            *of_term = of_term.checked_mul(factor)?;
        }
        Some(self)
    }

    /// Whether the sums of all terms are exact as reals.
    fn is_exact(&self) -> bool {
        let largest = |bits: &Bits| match bits {
            Bits::Lanes { count, .. } => 1_i64 << count,
            Bits::Flags(_) => 1,
        };
        let sum = self.terms.iter().try_fold(self.offset.checked_abs(), |sum, (bits, factor)| {
            Some(sum?.checked_add(factor.checked_abs()?.checked_mul(largest(bits))?))
        });
        sum.flatten().is_some_and(|sum| sum < EXACT)
    }
}

impl<'c: 'a, 'a> Values<'_, 'c, 'a> {
    /// The bits of an integer, of which the lowest `count` are selected.
    pub(super) fn bits(
        &self,
        x: &Item<'c, 'a>,
        word: Option<&Word<'c, 'a>>,
        count: u32,
    ) -> Option<Bits<'c, 'a>> {
        let What::Vector(vector) = x.what else {
            return None;
        };
        if let Some(word) = word.filter(|_| count == 1 && self.permutes)
            && let Some(flags) = self.flags(word)
        {
            return Some(Bits::Flags(flags));
        }
        let (vector, first) = x.shifted.unwrap_or((vector, 0));
        Some(Bits::Lanes { vector, first, count })
    }

    /// Consecutive bits of a word as bools; `None` if the lanes have other bits.
    fn flags(&self, word: &Word<'c, 'a>) -> Option<Value<'c, 'a>> {
        let (at, context) = (self.at, self.at.context);
        let first = *word.shifts.first()?;
        let is_consecutive = (first..).zip(&word.shifts).all(|(bit, shift)| bit == *shift);
        if !is_consecutive || first < 0 {
            return None;
        }
        let moved = at.shrui(word.scalar, at.int(first, types::i32(context)));
        let narrow = types::int(context, u32::try_from(self.lanes).ok()?);
        let bits = at.broadcast(at.convert(ops::arith::TRUNCI, moved, narrow), 1);
        Some(at.vector_bitcast(bits, self.kind(types::flag(context))))
    }

    /// The bits of a sum, a difference or a product.
    pub(super) fn combined_fields(
        &self,
        name: &str,
        x: &Item<'c, 'a>,
        y: &Item<'c, 'a>,
    ) -> Option<Fields<'c, 'a>> {
        let (of_x, of_y) = (x.fields.clone(), y.fields.clone());
        match (name, of_x, of_y, x.point(), y.point()) {
            (ops::arith::ADDI, Some(fields), None, _, Some(by)) => fields.plus(by),
            (ops::arith::ADDI, None, Some(fields), Some(by), _) => fields.plus(by),
            (ops::arith::SUBI, Some(fields), None, _, Some(by)) => fields.plus(by.checked_neg()?),
            (ops::arith::MULI, Some(fields), None, _, Some(by)) => fields.times(by),
            (ops::arith::MULI, None, Some(fields), Some(by), _) => fields.times(by),
            (ops::arith::SHLI, Some(fields), None, _, Some(by)) if (0..31).contains(&by) => {
                fields.times(1 << by)
            }
            (ops::arith::ADDI, Some(mut fields), Some(more), ..) => {
                fields.terms.extend(more.terms);
                fields.plus(more.offset).filter(|fields| fields.terms.len() <= MAX_TERMS)
            }
            _ => None,
        }
    }

    /// The reals of a sum: permutations of tables with the reals of all bits.
    pub(super) fn real_of_fields(&self, fields: &Fields<'c, 'a>, element: Type<'c>) -> Option<Item<'c, 'a>> {
        let kind = vector::of(&[ir::signed(self.lanes)], element);
        let is_lanes = |bits: &Bits| matches!(bits, Bits::Lanes { count, .. } if *count <= self.window());
        let (lanes, flags): (Vec<_>, Vec<_>) =
            fields.terms.iter().copied().partition(|(bits, _)| is_lanes(bits));
        let is_flags = flags.iter().all(|(bits, _)| matches!(bits, Bits::Flags(_)));
        let counts =
            lanes.iter().map(|(bits, _)| if let Bits::Lanes { count, .. } = bits { *count } else { 0 });
        // Several tables occupy registers that the scales need; shifts and masks are faster then.
        let has_large_tables = lanes.len() > 1 && counts.sum::<u32>() > self.window();
        if !self.permutes || !is_flags || !fields.is_exact() || has_large_tables {
            return None;
        }
        let mut offset = fields.offset;
        let mut sum: Option<What> = None;
        for (bits, factor) in lanes {
            let table = self.table(bits, factor, std::mem::take(&mut offset), element)?;
            sum = Some(match sum {
                None => table,
                Some(before) => {
                    let [x, y] =
                        [before, table].map(|what| self.emitted(&Item::new(what, None), element, true));
                    What::Vector(self.at.make(ops::arith::ADDF, &[x, y], &[], kind))
                }
            });
        }
        for (bits, factor) in flags {
            let Bits::Flags(flags) = bits else {
                return None;
            };
            #[allow(clippy::cast_precision_loss, reason = "the integers are small")]
            let [factor, offset] = [factor as f64, std::mem::take(&mut offset) as f64]
                .map(|number| self.at.broadcast(self.at.real(number, element), ir::signed(self.lanes)));
            let before = sum.map_or(offset, |what| self.emitted(&Item::new(what, None), element, true));
            let after = self.at.make(ops::arith::ADDF, &[before, factor], &[], kind);
            sum = Some(What::Vector(self.at.select(flags, after, before)));
        }
        sum.map(|what| Item::new(what, None))
    }

    /// The number of bits that a permutation reads.
    fn window(&self) -> u32 {
        self.lanes.trailing_zeros()
    }

    /// A table of the reals `factor · bits + offset`. Fields of a vector share its shifts where a window has several of them.
    fn table(&self, bits: Bits<'c, 'a>, factor: i64, offset: i64, element: Type<'c>) -> Option<What<'c, 'a>> {
        let Bits::Lanes { vector, first, count } = bits else {
            return None;
        };
        let window = i64::from(self.window());
        let within = first % window;
        let within = if within + i64::from(count) <= window { within } else { 0 };
        #[allow(clippy::cast_precision_loss, reason = "the integers are small")]
        let reals = (0..ir::signed(self.lanes)).map(|lane| {
            let bits = (lane >> within) & ((1 << count) - 1);
            FloatAttribute::new(self.at.context, element, (bits * factor + offset) as f64).into()
        });
        let reals = attributes::listed(self.kind(element), &reals.collect::<Vec<Attribute>>());
        let positions = self.shifted_right(vector, first - within);
        Some(What::Table { reals: self.at.literal(reals), positions })
    }

    /// A vector whose lowest bits are the integers; `None` if they are not the bits that a permutation reads.
    pub(super) fn positions(&self, fields: &Fields<'c, 'a>) -> Option<Value<'c, 'a>> {
        match (fields.terms.as_slice(), fields.offset) {
            ([(Bits::Lanes { vector, first, count }, 1)], 0) if *count == self.window() => {
                Some(self.shifted_right(*vector, *first))
            }
            _ => None,
        }
    }

    fn shifted_right(&self, vector: Value<'c, 'a>, by: i64) -> Value<'c, 'a> {
        let kind = self.kind(types::i32(self.at.context));
        if by == 0 { vector } else { self.at.shrui(vector, self.at.int(by, kind)) }
    }

    /// Applies an operation on a table and reals that all lanes share to the reals of the table.
    pub(super) fn applied_to_table(
        &self,
        op: OperationRef<'c, 'a>,
        items: &[Item<'c, 'a>],
        element: Type<'c>,
    ) -> Option<Item<'c, 'a>> {
        let mut of_table = None;
        let mut operands = Vec::new();
        for item in items {
            operands.push(match &item.what {
                What::Table { reals, positions } => {
                    let before = of_table.replace(*positions);
                    if before.is_some_and(|before| before != *positions) {
                        return None;
                    }
                    *reals
                }
                What::Shared(value) => self.at.broadcast(*value, ir::signed(self.lanes)),
                _ => return None,
            });
        }
        let positions = of_table?;
        let reals = Operator::from_op(op).apply(&self.at, &operands, self.kind(element));
        Some(Item::new(What::Table { reals, positions }, None))
    }
}
