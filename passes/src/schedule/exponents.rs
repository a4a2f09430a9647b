// SPDX-License-Identifier: Apache-2.0
//! `skript-test-exponents`: tests whether sums of products of bf16 may use instructions that treat subnormal numbers as zeros.
//!
//! `vdpbf16ps` of AVX512-BF16 computes twice as many products per instruction as an f32 multiply-add, but it flushes subnormal factors
//! and sums to zero. The minimum exponents of both arrays show whether flushing would change the result. Let the ulp of a factor be the
//! value of its last mantissa bit. Each product, and each sum of products, rounded or not, is a multiple of the product of the minimum
//! ulps. If the product of the minimum ulps is a normal number, no factor and no sum is subnormal. The test reads each element once,
//! while many products use it; the test of weights is part of the preparation. The product of the payload becomes a select by the test:
//! either the product marked with `afn` ([`Body::approximated`]), for which `skript-vectorize-reductions` creates a separate kernel, or
//! the exact product.
//!
//! Requires: buffers. Guarantees: the accuracy of sums does not change.

use super::body::Body;
use super::dot::{Dot, Instruction};
use super::reading::read;
use super::target::{BF16_PRODUCTS, bf16_products};
use crate::ir::builder::arith::Integers;
use crate::ir::generic::{Access, all_loops, generic};
use crate::ir::linalg::Generic;
use crate::ir::walk::{named, nested};
use crate::ir::{self, Builder, attributes, location, ops, types, uses};

use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Location, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassOption};
use skript_semantics::Scalar;

/// The pass `skript-test-exponents`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-test-exponents",
    summary: "test whether instructions for products of bf16 may flush their operands",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef],
    options: &[BF16_PRODUCTS, VECTOR_BITS],
    run: |root, options, rewriter| {
        let instruction = bf16_products(options)?;
        let bits: i64 = options.get(VECTOR_BITS.name)?;
        if instruction == Instruction::None {
            return Ok(());
        }
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(product) = Product::new(op, instruction, bits / 32) {
                product.test(&Builder::before(rewriter.context(), op)?)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

const VECTOR_BITS: PassOption =
    PassOption { name: "vector-bits", summary: "bits of a vector register", default: "512" };

/// Minimum number of products that use each element of a tested array.
const MIN_REUSE: i64 = 16;

/// The magnitude bits and the exponent bits of a bf16.
const MAGNITUDE: i64 = 0x7fff;
const EXPONENT: i64 = 0x7f80;

/// The exponent 1 at the position of the exponent in a bf16.
const ONE: i64 = 0x80;

/// Minimum sum of two biased exponents. For biased exponents *a* and *b* (bias 127) of numbers with 7 fraction bits, the product of
/// the ulps is 2^(*a* + *b* − 254 − 14). The smallest normal number is 2⁻¹²⁶.
const MIN_SUM: i64 = 254 + 14 - 126;

/// A sum of products of bf16.
struct Product<'c, 'a> {
    arrays: [Value<'c, 'a>; 2],
    /// The multiplication of the payload.
    product: OperationRef<'c, 'a>,
}

impl<'c: 'a, 'a> Product<'c, 'a> {
    /// `None` for other operations, and if the test may cost more than the instruction saves.
    fn new(op: OperationRef<'c, 'a>, instruction: Instruction, lanes: i64) -> Option<Self> {
        Generic::cast(op).filter(|generic| generic.reduces())?;
        let reduction = read(op)?;
        let [first, second] = Dot::halves(&reduction.body, instruction, lanes)?;
        let is_new = reduction.body.approximated().is_none();
        let (nest, arrays) = (&reduction.nest, &reduction.arrays);
        let is_cheap = |n: usize| nest.volume() / nest.elements(n).max(1) >= MIN_REUSE;
        if !is_new || !is_cheap(first) || !is_cheap(second) {
            return None;
        }
        if !may_round(&reduction.body) {
            return None;
        }
        let arrays = [*arrays.get(first)?, *arrays.get(second)?];
        let products = nested(op).into_iter();
        let mut products = products.filter(|op| ir::name(*op) == ops::arith::MULF);
        let product = products.next().filter(|_| products.next().is_none())?;
        Some(Product { arrays, product })
    }

    /// Adds the tests before the operation, and a select of the product by the tests.
    fn test(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let at = &at.with_location(Location::name(at.context, location::EXPONENTS, at.location));
        let i32 = Type::from(IntegerType::new(at.context, 32));
        let [first, second] = self.arrays;
        let a = min_exponent(first, at)?;
        let b = if first == second { a } else { min_exponent(second, at)? };
        let sum = at.addi(a, b);
        let mut is_normal: Option<Value> = None;
        for (value, min) in [(a, ONE), (b, ONE), (sum, MIN_SUM * ONE)] {
            let min = at.int(min, i32);
            let is_large = at.cmpi(Integers::SignedAtLeast, value, min);
            is_normal = Some(match is_normal {
                None => is_large,
                Some(all) => at.andi(all, is_large),
            });
        }
        let is_normal = is_normal.ok_or(Error::OperationBuild)?;

        let inner = Builder::before(at.context, self.product)?;
        let fast = attributes::fast(at.context, "contract,afn");
        let factors: Vec<Value> = self.product.operands().collect();
        let result = self.product.result(0)?;
        let kind = result.r#type();
        let fast = inner.value(ops::arith::MULF, &factors, &[("fastmath", fast)], kind)?;
        let fastmath = self.product.attribute("fastmath").ok();
        let fastmath: Vec<_> = fastmath.into_iter().map(|flags| ("fastmath", flags)).collect();
        let exact = inner.value(ops::arith::MULF, &factors, &fastmath, kind)?;
        let selected = inner.select(is_normal, fast, exact);
        uses::replace_uses(result.into(), selected);
        ir::erase(self.product);
        Ok(())
    }
}

/// Whether the sum may be reassociated, and its products added without rounding.
fn may_round(body: &Body) -> bool {
    body.combine.operator.is_fast("reassoc") && body.combine.operator.is_fast("contract")
}

/// Computes the minimum exponent of the nonzero elements of an array, as the exponent bits of a bf16. For an array of zeros it is the
/// exponent of infinity.
fn min_exponent<'c: 'a, 'a>(array: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    let i32 = Type::from(IntegerType::new(at.context, 32));
    let kind = types::memref(&[], i32);
    let segments = [("operandSegmentSizes", attributes::i32s(at.context, &[0, 0]))];
    let min = at.value(ops::memref::ALLOC, &[], &segments, kind)?;
    at.fill_into(at.int(EXPONENT, i32), min)?;

    let short = Type::from(IntegerType::new(at.context, 16));
    let rank = types::shape(array.r#type()).len();
    let read = Access(array, all_loops(rank));
    generic(at, &[read], &[Access(min, Vec::new())], &vec![true; rank], |inner, elements| {
        let [element, before] = elements else {
            return Err(Error::OperationBuild);
        };
        let bits = inner.value(ops::arith::BITCAST, &[*element], &[], short)?;
        let bits = inner.value(ops::arith::EXTUI, &[bits], &[], i32)?;
        let number = |value| at.constant(Scalar::Int(value), i32);
        let magnitude = inner.andi(bits, number(MAGNITUDE)?);
        let exponent = inner.andi(bits, number(EXPONENT)?);
        let is_nonzero = inner.cmpi(Integers::SignedAtLeast, magnitude, number(1)?);
        let operands = [is_nonzero, exponent, number(EXPONENT)?];
        let counted = inner.value(ops::arith::SELECT, &operands, &[], i32)?;
        Ok(vec![inner.minsi(*before, counted)])
    })?;
    at.value(ops::memref::LOAD, &[min], &[], i32)
}
