// SPDX-License-Identifier: Apache-2.0
//! `skript-test-exponents`: tests whether sums of products of bf16 may use instructions that take subnormal numbers for zeros.
//!
//! `vdpbf16ps` of AVX512-BF16 multiplies twice as many numbers as f32 does at once, but subnormal factors and sums become zeros. The
//! least exponents of both arrays show where this changes nothing: a product is a multiple of the product of the last places of its
//! factors, and so is each sum of products, rounded or not. If that is a normal number, no factor and no sum is subnormal. The test
//! reads each element once, where many products use it; that of weights is part of the preparation. The product of the payload becomes
//! a selection by the test of one that is marked with `afn` ([`Body::approximated`]), of which `skript-vectorize-reductions` makes a
//! kernel of its own.
//!
//! Requires: buffers. Guarantees: sums as exact as before.

use super::body::Body;
use super::dot::{Dot, Instruction};
use super::reading::read;
use super::target::{BF16_PRODUCTS, bf16_products};
use crate::ir::linalg::{Generic, reduce};
use crate::ir::memref::extents;
use crate::ir::walk::{named, nested};
use crate::ir::{self, Builder, attributes, maps, ops, types, uses};

use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{IntegerType, MemRefType};
use melior::ir::{Attribute, Location, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassOption};
use skript_semantics::Scalar;

/// The pass `skript-test-exponents`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-test-exponents",
    summary: "test whether instructions for products of bf16 may flush what they read",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef],
    options: &[BF16_PRODUCTS, VECTOR_BITS],
    run: |root, options, rewriter| {
        let instruction = bf16_products(options)?;
        let bits: i64 = options.get(VECTOR_BITS.name)?;
        if instruction == Instruction::None {
            return Ok(());
        }
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(product) = Product::of(op, instruction, bits / 32) {
                product.test(&Builder::before(rewriter.context(), op)?)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

const VECTOR_BITS: PassOption =
    PassOption { name: "vector-bits", summary: "bits of a vector register", default: "512" };

/// Products that use each element of an array that is tested: at least as many.
const LEAST_REUSE: i64 = 16;

/// The name of the location of a test.
const TEST: &str = "exponents";

/// The bits of a bf16 without its sign, and those of its exponent.
const MAGNITUDE: i64 = 0x7fff;
const EXPONENT: i64 = 0x7f80;

/// The exponent 1, where it stands in a bf16.
const ONE: i64 = 0x80;

/// Two exponents *a* and *b*, in excess of 127, of numbers with 7 bits after the point: the product of their last places is
/// 2^(*a* + *b* − 254 − 14), and 2⁻¹²⁶ is the least normal number.
const LEAST_SUM: i64 = 254 + 14 - 126;

/// A sum of products of bf16.
struct Product<'c, 'a> {
    arrays: [Value<'c, 'a>; 2],
    /// The multiplication of the payload.
    product: OperationRef<'c, 'a>,
}

impl<'c: 'a, 'a> Product<'c, 'a> {
    /// `None` for other operations, and where the test may cost more than is gained.
    fn of(op: OperationRef<'c, 'a>, instruction: Instruction, lanes: i64) -> Option<Self> {
        let generic = Generic::cast(op)?;
        if !generic.reductions().contains(&true) {
            return None;
        }
        let reduction = read(op)?;
        let [first, second] = Dot::halves(&reduction.body, instruction, lanes)?;
        let is_new = reduction.body.approximated().is_none();
        let (nest, arrays) = (&reduction.nest, &reduction.arrays);
        let is_cheap = |n: usize| nest.volume() / nest.elements(n).max(1) >= LEAST_REUSE;
        if !is_new || !is_cheap(first) || !is_cheap(second) {
            return None;
        }
        if !may_round(&reduction.body) {
            return None;
        }
        let arrays = [*arrays.get(first)?, *arrays.get(second)?];
        let products = nested(op).into_iter();
        let mut products = products.filter(|own| ir::name(*own) == ops::arith::MULF);
        let product = products.next().filter(|_| products.next().is_none())?;
        Some(Product { arrays, product })
    }

    /// Adds the tests before the operation, and selects the product by them.
    fn test(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let at = &at.with_location(Location::name(at.context, TEST, at.location));
        let i32 = Type::from(IntegerType::new(at.context, 32));
        let flag = types::flag(at.context);
        let [first, second] = self.arrays;
        let a = least_exponent(first, at)?;
        let b = if first == second { a } else { least_exponent(second, at)? };
        let sum = at.value(ops::arith::ADDI, &[a, b], &[], i32)?;
        let mut suits: Option<Value> = None;
        for (value, least) in [(a, ONE), (b, ONE), (sum, LEAST_SUM * ONE)] {
            let least = at.constant(Scalar::Int(least), i32)?;
            let own = at.compare(maps::SIGNED_AT_LEAST, value, least)?;
            suits = Some(match suits {
                None => own,
                Some(all) => at.value(ops::arith::ANDI, &[all, own], &[], flag)?,
            });
        }
        let suits = suits.ok_or(Error::OperationBuild)?;

        let inner = Builder::before(at.context, self.product)?;
        let fast = Attribute::parse(at.context, "#arith.fastmath<contract,afn>");
        let fast = fast.ok_or(Error::OperationBuild)?;
        let factors: Vec<Value> = self.product.operands().collect();
        let result = self.product.result(0)?;
        let kind = result.r#type();
        let fast = inner.value(ops::arith::MULF, &factors, &[("fastmath", fast)], kind)?;
        let own = self.product.attribute("fastmath").ok();
        let own: Vec<_> = own.into_iter().map(|own| ("fastmath", own)).collect();
        let exact = inner.value(ops::arith::MULF, &factors, &own, kind)?;
        let selected = inner.value(ops::arith::SELECT, &[suits, fast, exact], &[], kind)?;
        uses::replace_uses(result.into(), selected);
        ir::erase(self.product);
        Ok(())
    }
}

/// Whether the sum may be computed in another order, and its products be added without rounding.
fn may_round(body: &Body) -> bool {
    body.combine.attributes.contains("reassoc") && body.combine.attributes.contains("contract")
}

/// The least exponent of the elements of an array that are not zero, in the bits of a bf16; that of infinity for an array of zeros.
fn least_exponent<'c: 'a, 'a>(array: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    let i32 = Type::from(IntegerType::new(at.context, 32));
    let kind = types::memref(&[], i32);
    let segments = [("operandSegmentSizes", attributes::i32s(at.context, &[0, 0]))];
    let least = at.value(ops::memref::ALLOC, &[], &segments, kind)?;
    at.fill_into(at.constant(Scalar::Int(EXPONENT), i32)?, least)?;

    let element = MemRefType::try_from(array.r#type())?.element();
    let (region, inner, arguments) = at.region(&[element, i32]);
    let [own, before] = arguments.as_slice() else {
        return Err(Error::OperationBuild);
    };
    let short = Type::from(IntegerType::new(at.context, 16));
    let bits = inner.value(ops::arith::BITCAST, &[*own], &[], short)?;
    let bits = inner.value(ops::arith::EXTUI, &[bits], &[], i32)?;
    let number = |value| at.constant(Scalar::Int(value), i32);
    let with = |name, a, b| inner.value(name, &[a, b], &[], i32);
    let magnitude = with(ops::arith::ANDI, bits, number(MAGNITUDE)?)?;
    let exponent = with(ops::arith::ANDI, bits, number(EXPONENT)?)?;
    let is_other = inner.compare(maps::SIGNED_AT_LEAST, magnitude, number(1)?)?;
    let operands = [is_other, exponent, number(EXPONENT)?];
    let counted = inner.value(ops::arith::SELECT, &operands, &[], i32)?;
    let next = with(ops::arith::MINSI, *before, counted)?;
    inner.create(ops::linalg::YIELD, &[next], &[], &[], Vec::new())?;

    let reduced = vec![true; extents(array.r#type()).len()];
    reduce(at, [array, least], &reduced, region)?;
    at.value(ops::memref::LOAD, &[least], &[], i32)
}
