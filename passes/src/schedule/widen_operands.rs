// SPDX-License-Identifier: Apache-2.0
//! `skript-widen-operands`: widens f16 and bf16 operands of contractions to f32 once, before the contraction.
//!
//! A kernel reads each element of an operand many times: the elements of one in f16 or bf16 are converted each time, and one by one where
//! they are broadcast. A copy in f32 is converted once, in vectors. Results are the same, for widening is exact. Variables stay narrow:
//! they are often most of the memory. So do operands of instructions for products of bf16 (`skript-test-exponents`).
//!
//! Requires: buffers. Guarantees: contractions as exact as before.

use super::reading::read;
use crate::formula::scalar_to_arith::real_width;
use crate::ir::effects::Effects;
use crate::ir::linalg::{Generic, generic_attributes};
use crate::ir::memref::{extents, root_of};
use crate::ir::types::DYNAMIC;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, attributes, maps, ops, types};
use crate::prepare::constants::variables;
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass};
use skript_semantics::RealType;
use skript_symbolic::Affine;

/// The pass `skript-widen-operands`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-widen-operands",
    summary: "widen f16 and bf16 operands of contractions to f32 once",
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef],
    run: |root, _, rewriter| {
        for function in named(root, ops::func::FUNC) {
            let weights = variables(function);
            let mut effects = Effects::default();
            let mut copies: Vec<Copy> = Vec::new();
            let block = ir::first_block(function);
            for op in block.map(ir::operations).unwrap_or_default() {
                for operand in Operand::all(op) {
                    if weights.contains_key(&root_of(operand.array)) {
                        continue;
                    }
                    let known = copies.iter().find(|copy| copy.array == operand.array);
                    let known = known.map(|copy| copy.wide);
                    let wide = match known {
                        Some(wide) => wide,
                        None => operand.copy(&Builder::before(rewriter.context(), op)?)?,
                    };
                    if known.is_none() {
                        let array = operand.array;
                        copies.push(Copy { array, wide });
                    }
                    operand.replace(op, wide);
                }
                if !copies.is_empty() {
                    let written = effects.written(op);
                    let written: Vec<ValueKey> = written.into_iter().map(root_of).collect();
                    copies.retain(|copy| !written.contains(&root_of(copy.array)));
                }
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Products that use each element of an operand that is widened: at least as many.
const LEAST_REUSE: i64 = 32;

/// A copy in f32 of an array that nothing has written since.
struct Copy<'c, 'a> {
    array: Value<'c, 'a>,
    wide: Value<'c, 'a>,
}

/// An operand of a contraction whose payload reads its elements as numbers of f32 alone.
struct Operand<'c, 'a> {
    position: usize,
    array: Value<'c, 'a>,
    /// The element in the payload.
    element: Value<'c, 'a>,
    /// The operations that widen it, in order.
    widenings: Vec<OperationRef<'c, 'a>>,
    /// Their results in f32.
    results: Vec<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Operand<'c, 'a> {
    /// The operands of an operation that are widened; none of other operations than contractions.
    fn all(op: OperationRef<'c, 'a>) -> Vec<Self> {
        let found = || {
            let generic = Generic::cast(op)?;
            if !generic.reductions().contains(&true) {
                return None;
            }
            let arrays: Vec<Value> = op.operands().collect();
            let elements = ir::arguments(generic.body()?);
            let count = *ir::typed::segments(op).first()?;
            let inputs = arrays.iter().zip(elements).take(count).enumerate();
            let narrow =
                inputs.filter_map(|(position, (array, element))| Operand::of(position, *array, element));
            let narrow: Vec<Operand> = narrow.collect();
            if narrow.is_empty() {
                return None;
            }
            let reduction = read(op)?;
            // Other instructions read narrow numbers.
            if reduction.body.approximated().is_some() {
                return None;
            }
            let nest = &reduction.nest;
            let is_reused = |own: &Operand| {
                let is_same = reduction.arrays.get(own.position) == Some(&own.array);
                is_same && nest.volume() / nest.elements(own.position).max(1) >= LEAST_REUSE
            };
            Some(narrow.into_iter().filter(is_reused).collect())
        };
        found().unwrap_or_default()
    }

    fn of(position: usize, array: Value<'c, 'a>, element: Value<'c, 'a>) -> Option<Self> {
        let kind = types::reals(element.r#type())?;
        if !matches!(kind, RealType::F16 | RealType::BF16) {
            return None;
        }
        if extents(array.r#type()).contains(&DYNAMIC) {
            return None;
        }
        let (mut widenings, mut results) = (Vec::new(), Vec::new());
        for user in ir::users(element) {
            let mut last = user;
            widenings.push(last);
            // The upper half of f32 is moved by integers.
            while ir::name(last) != ops::arith::EXTF && !is_single(last) {
                let [next] = ir::users(last.result(0).ok()?.into())[..] else {
                    return None;
                };
                widenings.push(next);
                last = next;
            }
            let result = Value::from(last.result(0).ok()?);
            let is_widened = if ir::name(last) == ops::arith::EXTF {
                is_single(last) && last == user
            } else {
                real_width::widened_from(result) == Some(element)
            };
            if !is_widened {
                return None;
            }
            results.push(result);
        }
        (!results.is_empty()).then_some(Operand { position, array, element, widenings, results })
    }

    /// A copy in f32, before the contraction.
    fn copy(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let single = Type::float32(at.context);
        let shape = extents(self.array.r#type());
        let segments = [("operandSegmentSizes", attributes::i32s(at.context, &[0, 0]))];
        let kind = types::memref(&shape, single);
        let wide = at.value(ops::memref::ALLOC, &[], &segments, kind)?;
        let narrow = MemRefType::try_from(self.array.r#type())?.element();
        let (region, inner, arguments) = at.region(&[narrow, single]);
        let own = arguments.first().copied().ok_or(Error::OperationBuild)?;
        let value = inner.value(ops::arith::EXTF, &[own], &[], single)?;
        inner.create(ops::linalg::YIELD, &[value], &[], &[], Vec::new())?;
        let rank = shape.len();
        let forms: Vec<Affine> = (0..rank).map(Affine::index).collect();
        let map = maps::map(at.context, rank, &forms);
        let maps: Vec<Attribute> = map.into_iter().flat_map(|map| [map, map]).collect();
        let loops = vec![false; rank];
        let attributes = generic_attributes(at.context, &maps, loops, [1, 1]);
        let attributes = attributes.ok_or(Error::OperationBuild)?;
        let operands = [self.array, wide];
        at.create(ops::linalg::GENERIC, &operands, &attributes, &[], vec![region])?;
        Ok(wide)
    }

    /// Makes the contraction read the copy.
    fn replace(self, op: OperationRef<'c, 'a>, wide: Value<'c, 'a>) {
        for result in &self.results {
            ir::replace_uses(*result, self.element);
        }
        for widening in self.widenings.into_iter().rev() {
            ir::erase(widening);
        }
        let single = Type::float32(ir::context::of(op));
        ir::mutation::retype(self.element, single);
        ir::use_instead(op, self.position, wide);
    }
}

/// Whether the result of an operation is an f32.
fn is_single(op: OperationRef) -> bool {
    let result = op.result(0).ok();
    result.is_some_and(|result| types::reals(result.r#type()) == Some(RealType::F32))
}
