// SPDX-License-Identifier: Apache-2.0
//! `skript-widen-accumulators`: accumulates sums and products of f16 and bf16 elements in f32.
//!
//! A formula that combines several values with one element of an f16 or bf16 destination would round at each step: a
//! sum in bf16 stops growing at 256. It gets f32 destinations and one `skript.cast` after it. Two factors are
//! multiplied in f32, which holds their product, so contractions of f16 and bf16 matrices become named operations of
//! linalg. Formulas that read their destinations stay, as they state how they round; formulas that write each element
//! once stay. Run it before tiling: a tile passes its destination on in its type.
//!
//! Guarantees: order-free sums and products of several values accumulate in f32 or f64.

use super::structured;
use crate::ir;
use crate::ir::ops;
use crate::ir::skript::Formula;
use crate::ir::{Builder, Copier, ValueKey, builder, copy, replace_each, splat, types};

use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{BlockRef, OperationRef, Region, RegionLike, RegionRef, Type, Value, ValueLike};

use skript_dialect::{Dialect, Pass, PassError, op};
use skript_semantics::{RealType, ScalarOp};
use std::collections::HashMap;

/// The pass `skript-widen-accumulators`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-widen-accumulators",
    summary: "accumulate sums and products of f16 and bf16 in f32",
    dependent_dialects: &[Dialect::Skript, Dialect::Tensor],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let mut formulas = structured::formulas(&root);
        formulas.retain(|formula| Accumulation::of(*formula).is_some_and(|a| a.rounds_often()));
        replace_each(formulas, rewriter, |formula| {
            let accumulation = Accumulation::of(formula).ok_or("is not a formula")?;
            accumulation.widened(&Builder::before(context, formula)?)
        })
    },
    ..Pass::NONE
};

/// A sum or a product, and the positions of its destinations among its operands and among the arguments of its regions.
struct Accumulation<'c, 'a> {
    formula: OperationRef<'c, 'a>,
    body: BlockRef<'c, 'a>,
    bounds: Vec<i64>,
    /// The operands before the destinations.
    before: usize,
}

impl<'c: 'a, 'a> Accumulation<'c, 'a> {
    fn of(formula: OperationRef<'c, 'a>) -> Option<Self> {
        let typed = Formula::cast(formula)?;
        if !matches!(typed.kind().as_str(), "sum" | "product") {
            return None;
        }
        Some(Accumulation {
            formula,
            body: typed.body().ok()?,
            bounds: typed.static_bounds(),
            before: formula.operand_count().checked_sub(formula.result_count())?,
        })
    }

    /// Whether a destination with narrow reals combines several values for one element, and no step reads a
    /// destination.
    fn rounds_often(&self) -> bool {
        let reads = self.regions().into_iter().any(|region| {
            let arguments = region.first_block().map(copy::arguments).unwrap_or_default();
            let mut destinations = arguments.into_iter().skip(self.bounds.len());
            destinations.any(op::is_used)
        });
        !reads && (0..self.formula.result_count()).any(|target| self.gets_several(target))
    }

    fn gets_several(&self, target: usize) -> bool {
        let Some((out, subscripts)) = self.subscripts(target) else {
            return false;
        };
        let indices = copy::arguments(self.body).into_iter().zip(&self.bounds);
        is_narrow(out)
            && indices.into_iter().any(|(index, bound)| *bound != 1 && !subscripts.contains(&index))
    }

    /// A destination, and the subscripts at which each step writes it.
    fn subscripts(&self, target: usize) -> Option<(Value<'c, 'a>, Vec<Value<'c, 'a>>)> {
        let outs: Vec<Value<'c, 'a>> = self.formula.operands().skip(self.before).collect();
        let rank = |out: &Value<'c, 'a>| types::extents(out.r#type()).map(|extents| extents.len());
        let earlier: Option<usize> = outs.iter().take(target).map(rank).sum();
        let out = *outs.get(target)?;
        let end = builder::operations(self.body).pop()?;
        let subscripts = end.operands().skip(outs.len() + earlier?);
        Some((out, subscripts.take(rank(&out)?).collect()))
    }

    fn regions(&self) -> Vec<RegionRef<'c, 'a>> {
        self.formula.regions().collect()
    }

    /// The replacements of the results: those of the formula in f32, rounded.
    fn widened(&self, at: &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
        let wide = Type::float32(at.context);
        let mut operands: Vec<Value<'c, 'a>> = self.formula.operands().collect();
        let outs = operands.split_off(self.before);
        // Destinations that are one tensor have one operand.
        let mut known: HashMap<ValueKey, Value<'c, 'a>> = HashMap::new();
        for out in outs {
            let init = match known.get(&ValueKey::of(out)) {
                Some(init) => *init,
                None if is_narrow(out) => init(out, wide, at)?,
                None => out,
            };
            known.insert(ValueKey::of(out), init);
            operands.push(init);
        }
        let inits = operands.get(self.before..).unwrap_or_default();
        let results: Vec<Type<'c>> = inits.iter().map(|init| init.r#type()).collect();
        let mut regions = Vec::new();
        for region in self.regions() {
            regions.push(match region.first_block() {
                Some(block) => self.copied(block, &results, at)?,
                None => Region::new(),
            });
        }
        let made = copy::with_attributes(self.formula, &operands, &results, regions, &[], at)?;
        let pairs = made.results().zip(self.formula.results());
        pairs
            .map(|(made, old)| {
                let (made, r#type): (Value, _) = (made.into(), old.r#type());
                if made.r#type() == r#type {
                    return Ok(made);
                }
                Ok(at.value(ops::skript::CAST, &[made], &[], r#type)?)
            })
            .collect()
    }

    /// Copies a region's block, with destinations of these types and yielded values of their elements.
    fn copied(
        &self,
        block: BlockRef<'c, 'a>,
        outs: &[Type<'c>],
        at: &Builder<'c, 'a>,
    ) -> Result<Region<'c>, PassError> {
        let mut arguments = vec![Type::index(at.context); self.bounds.len()];
        arguments.extend(outs);
        let (region, inner, new) = at.region(&arguments);
        let mut copier = Copier::new();
        for (old, new) in copy::arguments(block).into_iter().zip(new) {
            copier.set(old, new);
        }
        for op in builder::operations(block) {
            let inner = inner.with_location(op.location());
            if !op::is(&op, ops::skript::YIELD) {
                copier.copy(op, &inner, &mut |_, _, _| Ok(false))?;
                continue;
            }
            let mut operands: Vec<_> = op.operands().map(|value| copier.get(value)).collect();
            for (operand, out) in operands.iter_mut().zip(outs) {
                let element = types::element_of(*out).ok_or("a destination that is not a tensor")?;
                if operand.r#type() != element {
                    *operand = wide_value(*operand, element, &inner)?;
                }
            }
            copy::with_operands(op, &operands, &inner)?;
        }
        Ok(region)
    }
}

/// Whether the elements of a tensor are reals of less than 32 bits.
fn is_narrow(tensor: Value<'_, '_>) -> bool {
    let element = types::element_of(tensor.r#type()).and_then(types::reals);
    matches!(element, Some(RealType::F16 | RealType::BF16))
}

/// The initial elements of a destination, in the wide type.
fn init<'c: 'a, 'a>(
    out: Value<'c, 'a>,
    wide: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let r#type = types::of_element(out.r#type(), wide);
    let Some(value) = splat::value(out, at)? else {
        return Ok(at.value(ops::skript::CAST, &[out], &[], r#type)?);
    };
    let mut operands = vec![at.value(ops::skript::CAST, &[value], &[], wide)?];
    operands.extend(at.dynamic_extents(out)?);
    Ok(at.value(ops::tensor::SPLAT, &operands, &[], r#type)?)
}

/// A scalar in the wide type: a product is computed in it, and not rounded before.
fn wide_value<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    wide: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let cast = |value| at.value(ops::skript::CAST, &[value], &[], wide);
    let owner = OperationResult::try_from(value).map(|result| result.owner());
    match owner {
        Ok(product) if op::is(&product, ops::skript::MUL) || op::is(&product, ops::arith::MULF) => {
            let [x, y] = ir::both_operands(product)?;
            let factors = [cast(x)?, cast(y)?];
            Ok(at.scalar(ScalarOp::Mul, &factors, wide)?)
        }
        _ => Ok(cast(value)?),
    }
}
