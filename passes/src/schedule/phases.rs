// SPDX-License-Identifier: Apache-2.0
//! `skript-split-phases`: splits reductions with floor divisions in their subscripts into ones without.
//!
//! A transposed convolution of stride s reads its input at `⌊(o - k + c) / s⌋`, where the division is exact. With
//! `o = s·q + r` and `k = s·p + t`, the subscript is `q - p` and a constant. For each pair of residues, the phase is an
//! ordinary reduction over parts of the arrays, and only those phases whose division is exact contribute. The kernels of
//! `skript-vectorize-reductions` need linear subscripts.
//!
//! The method is that of sub-pixel convolutions: Shi et al., *Is the deconvolution layer the same as a convolutional
//! layer?* (2016).
//!
//! Requires: `linalg.generic` on static arrays. Guarantees: a reduction is split only if at most 16 phases are
//! left; each element of the output is written by one of them.

use super::body::{Combine, is_identity};
use crate::ir::arith::{CompareIntegers, Constant, Select};
use crate::ir::copy::{Copier, with_attributes};
use crate::ir::walk::named;
use crate::ir::{self, Builder, linalg, maps, memref, ops};
use melior::Context;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use skript_symbolic::Affine;

/// The pass `skript-split-phases`.
pub const PASS: Pass = Pass {
    flag: "skript-split-phases",
    summary: "split reductions with floor divisions in their subscripts into ones without",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Affine, Dialect::Linalg, Dialect::MemRef],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(split) = Split::of(op) {
                split.apply(rewriter.context())?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The largest number of phases: each has a kernel.
const MOST: usize = 16;

/// Combinations of residues that are looked at.
const MOST_COMBINATIONS: usize = 4096;

/// A reduction and its phases.
struct Split<'c, 'a> {
    op: OperationRef<'c, 'a>,
    /// The subscripts of each operand.
    subscripts: Vec<Vec<Affine>>,
    divisor: i64,
    /// The residues of the loops that are split, for each phase that contributes.
    phases: Vec<Vec<Option<i64>>>,
    extents: Vec<i64>,
}

impl<'c: 'a, 'a> Split<'c, 'a> {
    /// `None` for an operation that is not split.
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = linalg::Generic::cast(op)?;
        let reductions = generic.reductions();
        if !reductions.contains(&true) || op.result_count() != 0 {
            return None;
        }
        let operands: Vec<Value> = op.operands().collect();
        let extents = extents(generic, &operands, reductions.len())?;
        let subscripts: Vec<Vec<Affine>> = generic
            .indexing_maps()
            .into_iter()
            .map(|map| maps::divided_forms(map, &extents))
            .collect::<Option<_>>()?;
        let quotients: Vec<(Affine, i64)> = subscripts
            .iter()
            .flatten()
            .filter(|form| form.as_linear().is_none())
            .map(Affine::as_quotient)
            .collect::<Option<_>>()?;
        let (_, divisor) = quotients.first()?;
        let divisor = *divisor;
        let mut split = vec![false; extents.len()];
        for (dividend, own) in &quotients {
            if *own != divisor {
                return None;
            }
            for (index, coefficient) in dividend.as_linear()? {
                if coefficient % divisor != 0 {
                    *split.get_mut(index)? = true;
                }
            }
        }
        let mut combinations = vec![Vec::new()];
        for is_split in &split {
            let residues: Vec<Option<i64>> =
                if *is_split { (0..divisor).map(Some).collect() } else { vec![None] };
            let longer = combinations.iter().flat_map(|before: &Vec<Option<i64>>| {
                let longer = residues.iter().map(|residue| [&before[..], &[*residue]].concat());
                longer.collect::<Vec<_>>()
            });
            combinations = longer.take(MOST_COMBINATIONS + 1).collect();
        }
        if combinations.len() > MOST_COMBINATIONS {
            return None;
        }
        let mut result = Split { op, subscripts, divisor, phases: Vec::new(), extents };
        let guards = guards(generic, &result.extents);
        for residues in combinations {
            let phase = result.phase(&residues)?;
            let is_empty = phase.extents.contains(&0);
            let never = |form: &Affine| {
                let form = form.substitute(&phase.replacement, &phase.extents);
                let range = form.and_then(|form| form.range(&phase.extents));
                range.is_some_and(|range| range.high < 0)
            };
            if !is_empty && !guards.iter().any(never) {
                result.phases.push(residues);
            }
        }
        (result.phases.len() <= MOST).then_some(result)
    }

    /// The loops of a phase. `None` if a subscript of it is not linear.
    fn phase(&self, residues: &[Option<i64>]) -> Option<Phase> {
        let mut phase = Phase { replacement: Vec::new(), extents: Vec::new(), subscripts: Vec::new() };
        for (index, (residue, extent)) in residues.iter().zip(&self.extents).enumerate() {
            let own = Affine::index(index);
            phase.replacement.push(match residue {
                Some(residue) => own.scale(self.divisor)?.plus(*residue)?,
                None => own,
            });
            phase.extents.push(match residue {
                Some(residue) => (extent - residue + self.divisor - 1) / self.divisor,
                None => *extent,
            });
        }
        for subscripts in &self.subscripts {
            let own = subscripts.iter().map(|form| {
                // The operand has a part for the phase: its subscript is the loop.
                if form.as_index().is_some() {
                    return Some(form.clone());
                }
                let form = form.substitute(&phase.replacement, &phase.extents)?;
                form.as_linear().is_some().then_some(form)
            });
            phase.subscripts.push(own.collect::<Option<Vec<_>>>()?);
        }
        Some(phase)
    }

    /// Replaces the operation by its phases.
    fn apply(&self, context: &'c Context) -> Result<(), PassError> {
        let at = Builder::before(context, self.op)?;
        for residues in &self.phases {
            let phase = self.phase(residues).ok_or("a phase without loops")?;
            let mut operands = Vec::new();
            for (n, operand) in self.op.operands().enumerate() {
                operands.push(self.part(operand, n, residues, &phase, &at)?);
            }
            let count = self.extents.len();
            let forms = phase.subscripts.iter();
            let forms: Vec<_> = forms
                .map(|forms| maps::map(context, count, forms))
                .collect::<Option<_>>()
                .ok_or("a map without text")?;
            let forms = ArrayAttribute::new(context, &forms).into();
            let generic = linalg::Generic::cast(self.op).and_then(linalg::Generic::body);
            let body = generic.ok_or("an operation without a payload")?;
            let types: Vec<Type> = ir::arguments(body).iter().map(|a| a.r#type()).collect();
            let (region, inside, arguments) = at.region(&types);
            let mut copier = Copier::new();
            for (old, new) in ir::arguments(body).into_iter().zip(arguments) {
                copier.set(old, new);
            }
            let index = Type::index(context);
            for op in ir::operations(body) {
                copier.copy(op, &inside, &mut |copier, op, to| {
                    let loop_number = linalg::index_of(op);
                    let residue = loop_number.and_then(|l| residues.get(l).copied().flatten());
                    let Some(residue) = residue else {
                        return Ok(false);
                    };
                    let own = ir::copy::with_operands(op, &[], to)?.result(0)?.into();
                    let form = Affine::index(0).scale(self.divisor);
                    let form = form.and_then(|form| form.plus(residue));
                    let map = form.and_then(|form| maps::map(context, 1, &[form]));
                    let Some(map) = map else {
                        return Ok(false);
                    };
                    let value = to.value(ops::affine::APPLY, &[own], &[("map", map)], index)?;
                    copier.set(op.result(0)?, value);
                    Ok(true)
                })?;
            }
            with_attributes(self.op, &operands, &[], vec![region], &[("indexing_maps", forms)], &at)?;
        }
        ir::erase(self.op);
        Ok(())
    }

    /// The part of an operand that a phase uses.
    fn part(
        &self,
        operand: Value<'c, 'a>,
        number: usize,
        residues: &[Option<i64>],
        phase: &Phase,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let shape = MemRefType::try_from(operand.r#type())?;
        let mut is_whole = true;
        let (mut offsets, mut sizes, mut steps) = (vec![], vec![], vec![]);
        let (before, after) = (self.subscripts.get(number), phase.subscripts.get(number));
        let forms = before.into_iter().flatten().zip(after.into_iter().flatten());
        for (dimension, (form, new_form)) in forms.enumerate() {
            let extent = match shape.dim_size(dimension)? {
                DimSize::Static(extent) => i64::try_from(extent).map_err(|e| e.to_string())?,
                DimSize::Dynamic => return Err("a dynamic extent".into()),
            };
            let residue = form.as_index().and_then(|l| residues.get(l).copied().flatten());
            let (first, step) = residue.map_or((0, 1), |residue| (residue, self.divisor));
            offsets.push(first);
            // A subscript that is a loop has the loop's extent.
            let own = new_form.as_index().and_then(|l| phase.extents.get(l).copied());
            let size = own.unwrap_or((extent - first + step - 1) / step);
            is_whole &= size == extent && step == 1;
            sizes.push(size);
            steps.push(step);
        }
        if is_whole {
            return Ok(operand);
        }
        Ok(memref::subview(at, operand, &offsets, &sizes, &steps)?)
    }
}

/// The loops of a phase.
struct Phase {
    /// The form of each loop of the operation.
    replacement: Vec<Affine>,
    extents: Vec<i64>,
    /// The subscripts of each operand's part.
    subscripts: Vec<Vec<Affine>>,
}

/// The extents of the loops; `None` if one is dynamic, or an array is.
pub(super) fn extents(generic: linalg::Generic, operands: &[Value], loops: usize) -> Option<Vec<i64>> {
    let mut extents = vec![None; loops];
    for (map, operand) in generic.indexing_maps().into_iter().zip(operands) {
        let memref = MemRefType::try_from(operand.r#type()).ok()?;
        let (strides, offset) = memref.strides_and_offset();
        let known = strides.iter().all(|stride| *stride >= 0) && offset >= 0;
        if !known || !memref.has_static_shape() {
            return None;
        }
        for (dimension, form) in maps::indices(map).into_iter().enumerate() {
            if let (Some(index), DimSize::Static(extent)) = (form, memref.dim_size(dimension).ok()?) {
                *extents.get_mut(index)? = i64::try_from(extent).ok();
            }
        }
    }
    extents.into_iter().collect()
}

/// Forms of the loops that are at least 0 wherever the payload contributes to the output.
fn guards(generic: linalg::Generic, extents: &[i64]) -> Vec<Affine> {
    let mut found = Vec::new();
    let body = generic.body().map(ir::operations).unwrap_or_default();
    let end = body.last().and_then(|end| linalg::Yield::cast(*end));
    let end = end.and_then(|end| end.value().ok());
    let combining = end.and_then(ir::definition).map(|(op, _)| op);
    let Some(combining) = combining else {
        return found;
    };
    let element = combining.result(0).map(|r| r.r#type().to_string());
    let combine = ir::inherent(combining)
        .zip(element.ok())
        .and_then(|(attributes, element)| Combine::of(&ir::name(combining), &attributes, &element));
    let Some(combine) = combine else {
        return found;
    };
    let values = combining.operands().filter_map(ir::definition);
    let mut selections = values.filter_map(|(op, _)| Select::cast(op));
    let selection = selections.find(|select| {
        let otherwise = select.otherwise().ok().and_then(Constant::of);
        otherwise.is_some_and(|c| is_identity(&c.text(), &combine))
    });
    let condition = selection.and_then(|select| select.condition().ok());
    let mut pending: Vec<Value> = condition.into_iter().collect();
    while let Some((op, _)) = pending.pop().and_then(ir::definition) {
        match ir::name(op).as_str() {
            ops::arith::ANDI => pending.extend(op.operands()),
            ops::arith::CMPI => {
                let comparison = CompareIntegers::cast(op);
                found.extend(comparison.and_then(|c| at_least_zero(c, extents)));
            }
            _ => {}
        }
    }
    found
}

/// The form that a comparison holds for where it is at least 0.
fn at_least_zero(comparison: CompareIntegers, extents: &[i64]) -> Option<Affine> {
    let predicate = comparison.predicate()?;
    let least = Constant::of(comparison.right().ok()?)?.integer()?;
    let (apply, _) = ir::definition(comparison.left().ok()?)?;
    if predicate != maps::SIGNED_AT_LEAST || ir::name(apply) != ops::affine::APPLY {
        return None;
    }
    let arguments = apply.operands().map(|operand| {
        let (op, _) = ir::definition(operand)?;
        linalg::index_of(op)
    });
    let arguments = arguments.collect::<Option<Vec<_>>>()?;
    let form = maps::applied(apply.attribute("map").ok()?, &arguments, extents)?;
    form.plus(least.checked_neg()?)
}
