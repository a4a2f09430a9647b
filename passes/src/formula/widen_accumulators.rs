// SPDX-License-Identifier: Apache-2.0
//! `skript-widen-accumulators`: accumulates sums and products of f16 and bf16 elements in f32.
//!
//! A formula that combines several values with one element of an f16 or bf16 destination would round at each step: a
//! sum of ones in bf16 stops growing at 256. The pass gives the formula f32 destinations, and adds one `skript.cast` after
//! it. Two factors are multiplied in f32, in which their product is exact, so contractions of f16 and bf16 matrices become
//! named operations of linalg. Formulas that read their destinations are not changed, because they define their own
//! rounding; neither are formulas that write each element once. The pass must run before tiling, because a tile passes its
//! destination to the next tile in the type of the destination.
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

pub(crate) const PASS: Pass = Pass {
    flag: "skript-widen-accumulators",
    summary: "accumulate sums and products of f16 and bf16 in f32",
    dependent_dialects: &[Dialect::Skript, Dialect::Tensor],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let mut formulas = structured::formulas(&root);
        formulas.retain(|formula| Accumulation::new(*formula).is_some_and(|a| a.rounds_often()));
        replace_each(formulas, rewriter, |formula| {
            let accumulation = Accumulation::new(formula).ok_or("is not a formula")?;
            accumulation.widened(&Builder::before(context, formula)?)
        })
    },
    ..Pass::NONE
};

/// A formula that computes sums or products.
struct Accumulation<'c, 'a> {
    formula: OperationRef<'c, 'a>,
    body: BlockRef<'c, 'a>,
    /// The bounds of the loops. Regions have an argument for each loop, then one for each destination.
    bounds: Vec<i64>,
    /// The number of operands before the destinations.
    before: usize,
}

impl<'c: 'a, 'a> Accumulation<'c, 'a> {
    fn new(formula: OperationRef<'c, 'a>) -> Option<Self> {
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

    /// Whether the formula combines several values with one element of a destination of 16-bit floats, and does not read its
    /// destinations.
    fn rounds_often(&self) -> bool {
        let reads = self.regions().into_iter().any(|region| {
            let arguments = region.first_block().map(copy::arguments).unwrap_or_default();
            arguments.into_iter().skip(self.bounds.len()).any(op::is_used)
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

    /// Returns a destination, and the subscripts at which each step writes it.
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

    /// Rebuilds the formula with f32 destinations. Returns its rounded results.
    fn widened(&self, at: &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
        let wide = Type::float32(at.context);
        let mut operands: Vec<Value<'c, 'a>> = self.formula.operands().collect();
        let outs = operands.split_off(self.before);
        // If a tensor is the destination of several targets, its initial value is widened only once.
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
        let rebuilt = copy::with_attributes(self.formula, &operands, &results, regions, &[], at)?;
        let pairs = rebuilt.results().zip(self.formula.results());
        pairs
            .map(|(new, old)| {
                let (new, r#type): (Value, _) = (new.into(), old.r#type());
                if new.r#type() == r#type {
                    return Ok(new);
                }
                Ok(at.value(ops::skript::CAST, &[new], &[], r#type)?)
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
        let mut copier = Copier::from_pairs(&copy::arguments(block), &new);
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

/// Whether the elements of a tensor are 16-bit floats.
fn is_narrow(tensor: Value<'_, '_>) -> bool {
    let element = types::element_of(tensor.r#type()).and_then(types::reals);
    element.is_some_and(RealType::is_half)
}

/// Converts the initial elements of a destination to the wide type.
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

/// Converts a scalar to the wide type. A product is recomputed in the wide type, so that it is not rounded first.
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
