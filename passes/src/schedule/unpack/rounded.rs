// SPDX-License-Identifier: Apache-2.0
//! Reals that a map rounds to a byte per element and a scale per block: 8-bit activations.
//!
//! A product reads three arrays in place of the reals: the bytes; for each group of consecutive elements, the scale; and the scale times
//! the sum of the bytes, which offsets of the other operand multiply.

use super::sources;
use super::values::GROUP;
use crate::facts::interval;
use crate::ir::generic::{self, Access, LoopNest, PayloadPart, all_loops};
use crate::ir::{self, Builder, ops, types};
use melior::Error;
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_symbolic::{Affine, Interval};

/// The bytes. The instructions for sums of products of bytes do not saturate for them.
const BYTES: Interval = Interval { low: -127, high: 127 };

/// The maximum number of operations from the bounds of an integer to its conversion.
const DEPTH: usize = 8;

/// A map that computes `scale · byte`.
pub(super) struct Rounded<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    scale: Value<'c, 'a>,
    byte: Value<'c, 'a>,
    shape: Vec<i64>,
}

/// The arrays that replace the reals.
#[derive(Clone, Copy)]
pub(super) struct Arrays<'c, 'a> {
    pub(super) bytes: Value<'c, 'a>,
    /// The scale of each group.
    pub(super) scales: Value<'c, 'a>,
    /// The scale of each group times the sum of its bytes.
    pub(super) sums: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Rounded<'c, 'a> {
    /// `None` for maps that do not round to bytes.
    pub(super) fn new(nest: LoopNest<'c, 'a>) -> Option<Self> {
        let shape = nest.static_extents()?.to_vec();
        let last = shape.len().checked_sub(1)?;
        let (product, _) = ir::definition(*nest.yielded.first()?)?;
        let [x, y] = ir::both_operands(product).ok()?;
        let (scale, byte) = byte_of(x).map(|byte| (y, byte)).or_else(|| Some((x, byte_of(y)?)))?;
        let is_shared = scale.r#type().is_f32() && !nest.loops_of(scale).contains(&last);
        let is_rounded = ir::name(product) == ops::arith::MULF
            && is_shared
            && shape[last] % ir::signed(GROUP) == 0
            && nest.loops_of(byte).contains(&last);
        is_rounded.then_some(Rounded { nest, scale, byte, shape })
    }

    /// The key of the map.
    pub(super) fn key(&self) -> usize {
        ir::key(self.nest.op)
    }

    /// The types of the arrays.
    pub(super) fn types(&self) -> [Type<'c>; 3] {
        let context = types::context_of(self.scale.r#type());
        let mut groups = self.shape.clone();
        if let Some(last) = groups.last_mut() {
            *last /= ir::signed(GROUP);
        }
        let reals = types::memref(&groups, Type::float32(context));
        [types::memref(&self.shape, types::int(context, 8)), reals, reals]
    }

    /// Computes the arrays where the map is.
    pub(super) fn emit(&self) -> Result<Arrays<'c, 'a>, Error> {
        let at = Builder::at(self.nest.op);
        let [bytes, scales, sums] = self.types().map(|kind| at.alloc(kind, &[]));
        let last = self.shape.len() - 1;
        let all: Vec<Option<usize>> = (0..=last).map(Some).collect();
        let groups = (0..=last).map(|l| (l != last).then_some(l)).collect();
        self.part(&at, self.byte, all, bytes)?;
        self.part(&at, self.scale, groups, scales)?;
        let member = |member: i64| {
            let mut forms = all_loops(last + 1);
            forms[last] = Affine::index(last).scale(ir::signed(GROUP))?.plus(member)?;
            Some(Access(bytes, forms))
        };
        let members: Option<Vec<Access>> = (0..ir::signed(GROUP)).map(member).collect();
        let mut inputs = members.ok_or(Error::OperationBuild)?;
        inputs.push(Access(scales, all_loops(last + 1)));
        generic::generic(&at, &inputs, &self.output(sums), &self.parallel(), |body, elements| {
            let (bytes, [scale, _]) = elements.split_at(GROUP) else {
                return Err(Error::OperationBuild);
            };
            let word = types::i32(body.context);
            let wide = bytes.iter().map(|byte| body.convert(ops::arith::EXTSI, *byte, word));
            let sum = wide.reduce(|sum, byte| body.addi(sum, byte)).ok_or(Error::OperationBuild)?;
            let real = body.convert(ops::arith::SITOFP, sum, scale.r#type());
            Ok(vec![body.mulf(*scale, real)])
        })?;
        Ok(Arrays { bytes, scales, sums })
    }

    /// Stores a value of the payload, which depends on the loops that have a number in `renamed`.
    fn part(
        &self,
        at: &Builder<'c, 'a>,
        value: Value<'c, 'a>,
        renamed: Vec<Option<usize>>,
        array: Value<'c, 'a>,
    ) -> Result<(), Error> {
        let part = PayloadPart::new(&self.nest, &[value], renamed).ok_or(Error::OperationBuild)?;
        let element = types::element_or_self(array.r#type());
        generic::generic(at, &part.inputs, &self.output(array), &self.parallel(), |body, elements| {
            let value = part.copy(elements, body)?.get(value);
            let byte = |value: Value<'c, 'a>| {
                let wide = types::int(body.context, 64);
                let value = if value.r#type().is_index() { body.index_cast(value, wide) } else { value };
                body.convert(ops::arith::TRUNCI, value, element)
            };
            Ok::<_, Error>(vec![if element.is_float() { value } else { byte(value) }])
        })?;
        Ok(())
    }

    fn output(&self, array: Value<'c, 'a>) -> [Access<'c, 'a>; 1] {
        [Access(array, all_loops(self.shape.len()))]
    }

    fn parallel(&self) -> Vec<bool> {
        vec![false; self.shape.len()]
    }

    /// Erases the map if nobody reads the reals.
    pub(super) fn erase_if_unread(self, effects: &mut crate::ir::effects::Effects<'c, 'a>) {
        sources::erase_if_unread(&self.nest, effects);
    }
}

/// The integer that is converted to a real, if it is a byte.
fn byte_of<'c: 'a, 'a>(real: Value<'c, 'a>) -> Option<Value<'c, 'a>> {
    let (op, _) = ir::definition(real).filter(|(op, _)| ir::name(*op) == ops::arith::SITOFP)?;
    let integer = ir::operand_at(op, 0)?;
    let any = |_: Value<'c, 'a>, _: usize| Some(Interval { low: i64::MIN, high: i64::MAX });
    let interval = interval::search(integer, DEPTH, &any)?;
    (interval.low >= BYTES.low && interval.high <= BYTES.high).then_some(integer)
}
