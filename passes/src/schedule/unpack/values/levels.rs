// SPDX-License-Identifier: Apache-2.0
//! Reals as bytes that are multiplied by scales: `scale · level + offset`, where groups of lanes share scale and offset.

use super::super::lines::Line;
use super::{Failure, SIGNED_BYTE, UNSIGNED_BYTE, Values, is_within, supported};
use crate::ir::linalg::index_of;
use crate::ir::operator::Operator;
use crate::ir::{self, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_symbolic::Interval;

/// The number of bytes that share a scale: instructions sum their products to a 32-bit integer.
pub(in super::super) const GROUP: usize = 4;

/// Computes the levels of a vector and, in the lanes of another vector, the scales of its groups.
pub(in super::super) struct Levels<'v, 's, 'c, 'a> {
    /// Values for each byte.
    pub(in super::super) bytes: &'v mut Values<'s, 'c, 'a>,
    /// Values for each group.
    pub(in super::super) reals: &'v mut Values<'s, 'c, 'a>,
}

/// The reals `scale · level + offset`.
pub(in super::super) struct Scaled<'c, 'a> {
    pub(in super::super) levels: Value<'c, 'a>,
    /// The values of levels. The lowest 8 bits represent them as signed or as unsigned integers.
    pub(in super::super) interval: Interval,
    /// The scale of each group; `None` for 1.
    pub(in super::super) scale: Option<Value<'c, 'a>>,
    /// The offset of each group; `None` for 0.
    pub(in super::super) offset: Option<Value<'c, 'a>>,
}

/// A value of a payload.
enum Term<'c, 'a> {
    /// A real that all lanes of a group share, for each group.
    Shared(Value<'c, 'a>),
    Scaled(Scaled<'c, 'a>),
}

impl<'c: 'a, 'a> Levels<'_, '_, 'c, 'a> {
    /// The elements of a buffer at flat positions, in a row of the tile.
    pub(in super::super) fn scaled_at(
        &mut self,
        buffer: Value<'c, 'a>,
        row: i64,
        line: &Line,
    ) -> Result<Scaled<'c, 'a>, Failure> {
        self.reals.scales = self.reals.scales.map(|(array, _)| (array, row));
        match self.element(buffer, line)? {
            Term::Scaled(scaled) => Ok(scaled),
            Term::Shared(_) => Err(Failure::Unsupported),
        }
    }

    fn element(&mut self, buffer: Value<'c, 'a>, line: &Line) -> Result<Term<'c, 'a>, Failure> {
        let nest = supported(self.bytes.sources.map(buffer))?;
        let shape = supported(nest.static_extents())?;
        let digits = |line: &Line, values: &Values| supported(line.digits(shape, &values.extents));
        let of_bytes = digits(line, self.bytes)?;
        let of_groups = digits(&line.every(GROUP), self.reals)?;
        let frames = [self.bytes.frame(nest, of_bytes), self.reals.frame(nest, of_groups)];
        self.term(frames, *supported(nest.yielded.first())?)
    }

    fn term(&mut self, frames: [usize; 2], value: Value<'c, 'a>) -> Result<Term<'c, 'a>, Failure> {
        let [of_bytes, of_groups] = frames;
        if self.is_shared(of_bytes, value) {
            let item = self.reals.value(of_groups, value)?;
            return Ok(Term::Shared(self.reals.emitted(&item, value.r#type(), true)));
        }
        let nest = self.bytes.frames[of_bytes].nest;
        if let Some(position) = nest.position(value) {
            let line = supported(self.bytes.position(of_bytes, position))?;
            return self.element(supported(nest.operands.get(position))?.value, &line);
        }
        let (op, _) = supported(ir::definition(value).filter(|(op, _)| nest.payload.contains(op)))?;
        match (ir::name(op).as_str(), op.operands().collect::<Vec<_>>().as_slice()) {
            (ops::arith::SITOFP, [integer]) if value.r#type().is_f32() => self.levels(of_bytes, *integer),
            (ops::arith::MULF | ops::arith::ADDF | ops::arith::SUBF, [x, y]) => {
                let terms = [self.term(frames, *x)?, self.term(frames, *y)?];
                self.combined(op, terms)
            }
            _ => Err(Failure::Unsupported),
        }
    }

    /// The integers of all lanes.
    fn levels(&mut self, frame: usize, integer: Value<'c, 'a>) -> Result<Term<'c, 'a>, Failure> {
        let item = self.bytes.value(frame, integer)?;
        let interval = supported(item.interval)?;
        let is_byte = [SIGNED_BYTE, UNSIGNED_BYTE].iter().any(|bytes| is_within(interval, *bytes));
        supported(is_byte.then_some(()))?;
        let levels = self.bytes.emitted(&item, self.bytes.word(), true);
        Ok(Term::Scaled(Scaled { levels, interval, scale: None, offset: None }))
    }

    /// The product, sum or difference of scaled levels and a shared real.
    fn combined(&self, op: OperationRef<'c, 'a>, terms: [Term<'c, 'a>; 2]) -> Result<Term<'c, 'a>, Failure> {
        let (at, kind) = (self.reals.at, self.reals.kind(Type::float32(self.reals.at.context)));
        let is_product = ir::name(op) == ops::arith::MULF;
        let is_difference = ir::name(op) == ops::arith::SUBF;
        let (mut scaled, shared) = match terms {
            [Term::Scaled(scaled), Term::Shared(shared)] => (scaled, shared),
            [Term::Shared(shared), Term::Scaled(scaled)] if !is_difference => (scaled, shared),
            _ => return Err(Failure::Unsupported),
        };
        let operator = Operator::from_op(op);
        let with = |before: Value<'c, 'a>| operator.apply(&at, &[before, shared], kind);
        if is_product {
            scaled.scale = Some(scaled.scale.map_or(shared, with));
            scaled.offset = scaled.offset.map(with);
        } else {
            let negated = || at.make(ops::arith::NEGF, &[shared], &[], kind);
            let first = || if is_difference { negated() } else { shared };
            scaled.offset = Some(scaled.offset.map_or_else(first, with));
        }
        Ok(Term::Scaled(scaled))
    }

    /// Whether all lanes of a group have the same real.
    fn is_shared(&self, frame: usize, value: Value<'c, 'a>) -> bool {
        let Some(frame_of) = self.bytes.frames.get(frame) else {
            return false;
        };
        let nest = frame_of.nest;
        let needed = nest.needed([value], &[]);
        let is_read = |element: Value| {
            element == value || needed.iter().any(|op| op.operands().any(|operand| operand == element))
        };
        let is_shared = |line: Option<&Line>| line.is_some_and(|line| line.is_uniform_in(GROUP));
        let mut read = (0..nest.operands.len()).filter(|n| is_read(nest.operands[*n].element));
        value.r#type().is_f32()
            && read.all(|n| n < nest.inputs && is_shared(self.bytes.position(frame, n).as_ref()))
            && needed.iter().filter_map(|op| index_of(*op)).all(|l| is_shared(frame_of.loops.get(l)))
    }
}
