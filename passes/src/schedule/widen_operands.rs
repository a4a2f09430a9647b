// SPDX-License-Identifier: Apache-2.0
//! `skript-widen-operands`: widens f16 and bf16 operands of contractions to f32 once, before the contraction.
//!
//! A kernel reads each element of an operand many times. It would convert f16 and bf16 elements each time, and one by one if it
//! broadcasts them. The copy in f32 is converted once, by vector instructions. Results do not change, because widening is exact.
//! Variables are not widened, because they are often most of the memory. Operands of instructions for products of bf16
//! (`skript-test-exponents`) are not widened either.
//!
//! Requires: buffers. Guarantees: the accuracy of contractions does not change.

use super::reading::read;
use crate::formula::scalar_to_arith;
use crate::ir::effects::Effects;
use crate::ir::generic::{Access, LoopNest, Operand, all_loops, generic};
use crate::ir::memref::{extents, root_of};
use crate::ir::types::DYNAMIC;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, attributes, ops, types};
use crate::prepare::constants::variables;
use melior::Error;
use melior::ir::operation::OperationRef;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass};
use skript_semantics::RealType;

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
            for op in ir::first_block(function).into_iter().flat_map(ir::operations) {
                for operand in Narrow::all(op).into_iter().flatten() {
                    let array = operand.array;
                    if weights.contains_key(&root_of(array)) {
                        continue;
                    }
                    let known = copies.iter().find(|copy| copy.array == array);
                    let wide = match known {
                        Some(copy) => copy.wide,
                        None => {
                            let wide = operand.copy(&Builder::before(rewriter.context(), op)?)?;
                            copies.push(Copy { array, wide });
                            wide
                        }
                    };
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

/// Minimum number of products that use each element of a widened operand.
const MIN_REUSE: i64 = 32;

/// A copy in f32 of an array that has not been written since.
struct Copy<'c, 'a> {
    array: Value<'c, 'a>,
    wide: Value<'c, 'a>,
}

/// An operand of a contraction whose payload uses its elements only after widening them to f32.
struct Narrow<'c, 'a> {
    position: usize,
    array: Value<'c, 'a>,
    /// The element in the payload.
    element: Value<'c, 'a>,
    /// The operations that widen the element, in order.
    widenings: Vec<OperationRef<'c, 'a>>,
    /// The widened elements.
    results: Vec<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Narrow<'c, 'a> {
    /// Returns the operands of a contraction to widen.
    fn all(op: OperationRef<'c, 'a>) -> Option<Vec<Self>> {
        let nest = LoopNest::read(op).filter(LoopNest::reduces)?;
        let inputs = nest.inputs().iter().enumerate();
        let mut narrow: Vec<Narrow> = inputs.filter_map(|(n, input)| Narrow::new(n, input)).collect();
        if narrow.is_empty() {
            return None;
        }
        let reduction = read(op)?;
        // Instructions for products of bf16 read bf16 operands.
        if reduction.body.approximated().is_some() {
            return None;
        }
        let nest = &reduction.nest;
        narrow.retain(|input| {
            let is_same = reduction.arrays.get(input.position) == Some(&input.array);
            is_same && nest.volume() / nest.elements(input.position).max(1) >= MIN_REUSE
        });
        Some(narrow)
    }

    fn new(position: usize, operand: &Operand<'c, 'a>) -> Option<Self> {
        let Operand { value: array, element, .. } = *operand;
        let kind = types::reals(element.r#type())?;
        if !kind.is_half() {
            return None;
        }
        if operand.shape.contains(&DYNAMIC) {
            return None;
        }
        let (mut widenings, mut results) = (Vec::new(), Vec::new());
        for user in ir::users(element) {
            let mut last = user;
            widenings.push(last);
            // Widening bf16 may also shift the bits of an integer to the upper half of an f32.
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
                scalar_to_arith::widened_from(result) == Some(element)
            };
            if !is_widened {
                return None;
            }
            results.push(result);
        }
        (!results.is_empty()).then_some(Narrow { position, array, element, widenings, results })
    }

    /// Creates a copy in f32 before the contraction.
    fn copy(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let single = Type::float32(at.context);
        let shape = extents(self.array.r#type());
        let segments = [("operandSegmentSizes", attributes::i32s(at.context, &[0, 0]))];
        let kind = types::memref(&shape, single);
        let wide = at.value(ops::memref::ALLOC, &[], &segments, kind)?;
        let all = all_loops(shape.len());
        let [read, written] = [self.array, wide].map(|array| Access(array, all.clone()));
        generic(at, &[read], &[written], &vec![false; shape.len()], |inner, elements| -> Result<_, Error> {
            let narrow = elements.get(..1).ok_or(Error::OperationBuild)?;
            Ok(vec![inner.value(ops::arith::EXTF, narrow, &[], single)?])
        })?;
        Ok(wide)
    }

    /// Replaces the operand of the contraction by the copy.
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
