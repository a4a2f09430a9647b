// SPDX-License-Identifier: Apache-2.0
//! Exports random tensors with the numbers of the generator of the runtime, SplitMix64. The state of the generator is a
//! counter, so all numbers are computed at once.
//!
//! Integer operations are exact on all devices; reals are computed in f64, like in the run-time kernels.

use super::super::error::ExportError;
use super::super::field::Field;
use super::super::tensors::Tensors;
use super::Invocation;
use super::domain::Domain;
use melior::ir::{Type, Value};
use skript_dialect::melior;
use skript_intrinsics::compiled::Context;
use skript_intrinsics::random::{int_range, mean, real_range};
use skript_tensor::random::{INCREMENT, MIXING, REAL_BITS};
use std::f64::consts::TAU;

/// A mask of the lower 32 bits.
const LOWER: u64 = 0xffff_ffff;

/// The random numbers of one invocation, row-major over the elements within the result's dynamic extents.
struct Stream<'c, 'a> {
    /// The elements of the result: flattened, or by dimensions if some are dynamic.
    elements: Domain<'c, 'a>,
    /// The number of elements before each element.
    before: Field<'c, 'a>,
    seed: Field<'c, 'a>,
}

/// The number of random operators executed so far, including this one.
pub(super) fn next<'c: 'a, 'a>(draws: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Value<'c, 'a> {
    at.same("add", &[draws, at.integer(1)])
}

pub(super) fn uniform<'c: 'a, 'a>(
    call: &Invocation<'c, 'a>,
    draws: Value<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let stream = Stream::new(call, draws)?;
    let domain = &stream.elements;
    let element = call.declared(0)?;
    if call.element(0)? == domain.at.int() {
        let (low, span) = call.attribute(|c| int_range(c, element))?;
        let step = stream.below(&stream.bits(1, 0), span);
        let number = domain.apply("add", &[&step, &domain.int(low)]);
        return stream.result(call, &number);
    }
    let (low, high) = call.attribute(|c| real_range(c, element))?;
    let number = stream.times(&stream.real(1, 0), high - low);
    let number = domain.apply("add", &[&number, &stream.number(low)]);
    let (smallest, largest) = element.real().unwrap_or_default().within(low, high);
    let number = domain.apply("minimum", &[&number, &stream.number(largest)]);
    let number = domain.apply("maximum", &[&number, &stream.number(smallest)]);
    stream.result(call, &number)
}

/// Normally distributed numbers by the Box-Muller method: two numbers for each element.
pub(super) fn normal<'c: 'a, 'a>(
    call: &Invocation<'c, 'a>,
    draws: Value<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let element = call.declared(0)?;
    let mean = call.attribute(|c| mean(c, element))?;
    let deviation = call.attribute(|c| c.real("std"))?;
    let stream = Stream::new(call, draws)?;
    let domain = &stream.elements;
    let positive = domain.apply("subtract", &[&stream.number(1.0), &stream.real(2, 0)]);
    let square = stream.times(&domain.apply("log", &[&positive]), -2.0);
    let radius = domain.apply("sqrt", &[&square]);
    let turn = stream.times(&stream.real(2, 1), TAU);
    let cosine = domain.apply("cosine", &[&turn]);
    let scaled = stream.times(&radius, deviation);
    let number = domain.apply("multiply", &[&scaled, &cosine]);
    let number = domain.apply("add", &[&number, &stream.number(mean)]);
    stream.result(call, &number)
}

pub(super) fn bernoulli<'c: 'a, 'a>(
    call: &Invocation<'c, 'a>,
    draws: Value<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let probability = call.attribute(|c| c.real("prob"))?;
    let stream = Stream::new(call, draws)?;
    let limit = stream.number(probability);
    let holds = stream.elements.compare("LT", &stream.real(1, 0), &limit);
    stream.result(call, &holds)
}

impl<'c: 'a, 'a> Stream<'c, 'a> {
    /// The stream of the random operator with this number, counted from 1.
    fn new(call: &Invocation<'c, 'a>, draws: Value<'c, 'a>) -> Result<Self, ExportError> {
        let extents = call.extents(0)?;
        let is_open = (0..extents.len()).any(|d| call.filled_result(0, d).is_some());
        let elements =
            Domain { extents: if is_open { extents } else { vec![extents.iter().product()] }, at: call.at };
        let before = if is_open { row_major(call, &elements) } else { elements.index(0) };
        let begin = elements.int(Context::default().seed as i64);
        let streams = elements.int(1 << 32);
        let offset = elements.apply("multiply", &[&Field::scalar(draws), &streams]);
        let seed = elements.apply("add", &[&begin, &offset]);
        Ok(Stream { elements, before, seed })
    }

    fn shifted(&self, bits: &Field<'c, 'a>, by: i64) -> Field<'c, 'a> {
        let by = self.elements.int(by);
        self.elements.apply("shift_right_logical", &[bits, &by])
    }

    /// 64 random bits for each element: the number at `position` of the `each` numbers of the element.
    fn bits(&self, each: i64, position: i64) -> Field<'c, 'a> {
        let domain = &self.elements;
        let count = domain.apply("multiply", &[&self.before, &domain.int(each)]);
        let count = domain.apply("add", &[&count, &domain.int(position + 1)]);
        let offset = domain.apply("multiply", &[&count, &domain.int(INCREMENT as i64)]);
        let mut bits = domain.apply("add", &[&offset, &self.seed]);
        for (shift, factor) in MIXING {
            let shifted = self.shifted(&bits, i64::from(shift));
            bits = domain.apply("xor", &[&bits, &shifted]);
            if let Some(factor) = factor {
                bits = domain.apply("multiply", &[&bits, &domain.int(factor as i64)]);
            }
        }
        bits
    }

    /// The upper 64 bits of the product of unsigned integers, computed from their halves.
    fn below(&self, bits: &Field<'c, 'a>, bound: u64) -> Field<'c, 'a> {
        let domain = &self.elements;
        let half = |number: u64| domain.int(number.cast_signed());
        let (upper_bound, lower_bound) = (half(bound >> 32), half(bound & LOWER));
        let lower = |field: &Field<'c, 'a>| domain.apply("and", &[field, &half(LOWER)]);
        let (upper_bits, lower_bits) = (self.shifted(bits, 32), lower(bits));
        let lowest = domain.apply("multiply", &[&lower_bits, &lower_bound]);
        let middle = domain.apply("multiply", &[&upper_bits, &lower_bound]);
        let middle = domain.apply("add", &[&middle, &self.shifted(&lowest, 32)]);
        let other = domain.apply("multiply", &[&lower_bits, &upper_bound]);
        let other = domain.apply("add", &[&other, &lower(&middle)]);
        let highest = domain.apply("multiply", &[&upper_bits, &upper_bound]);
        let highest = domain.apply("add", &[&highest, &self.shifted(&middle, 32)]);
        domain.apply("add", &[&highest, &self.shifted(&other, 32)])
    }

    /// The upper bits as a real in [0, 1).
    fn real(&self, each: i64, position: i64) -> Field<'c, 'a> {
        let upper = self.shifted(&self.bits(each, position), 64 - i64::from(REAL_BITS));
        let double = Type::float64(self.elements.at.at.context);
        let real = self.elements.convert(&upper, double);
        self.times(&real, 1.0 / (1u64 << REAL_BITS) as f64)
    }

    fn number(&self, value: f64) -> Field<'c, 'a> {
        let double = Type::float64(self.elements.at.at.context);
        self.elements.real(value, double)
    }

    fn times(&self, field: &Field<'c, 'a>, factor: f64) -> Field<'c, 'a> {
        self.elements.apply("multiply", &[field, &self.number(factor)])
    }

    fn result(
        &self,
        call: &Invocation<'c, 'a>,
        field: &Field<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, ExportError> {
        let extents = &self.elements.extents;
        let all: Vec<usize> = (0..extents.len()).collect();
        let whole = field.over(&all, extents, &call.at);
        Ok(vec![call.at.reshape(whole, &call.extents(0)?)])
    }
}

/// For each element, the number of preceding elements in row-major order that are within the dynamic extents.
fn row_major<'c: 'a, 'a>(call: &Invocation<'c, 'a>, domain: &Domain<'c, 'a>) -> Field<'c, 'a> {
    let (mut before, mut stride) = (domain.int(0), domain.int(1));
    for (dimension, extent) in domain.extents.iter().enumerate().rev() {
        let offset = domain.apply("multiply", &[&domain.index(dimension), &stride]);
        before = domain.apply("add", &[&before, &offset]);
        let extent = match call.filled_result(0, dimension) {
            Some(filled) => Field::scalar(filled),
            None => domain.int(*extent),
        };
        stride = domain.apply("multiply", &[&stride, &extent]);
    }
    before
}
