// SPDX-License-Identifier: Apache-2.0
//! `skript-split-phases`: splits reductions with floor divisions in their subscripts into reductions without divisions.
//!
//! A transposed convolution with stride s reads its input at `⌊(o - k + c) / s⌋`, at the points where the division is exact.
//! With `o = s·q + r` and `k = s·p + t`, the subscript is `q - p` plus a constant. For each pair of residues, the phase is an
//! ordinary reduction over strided slices of the arrays, and only the phases with an exact division contribute. The pass is
//! required because the kernels of `skript-vectorize-reductions` support only linear subscripts.
//!
//! The method is that of sub-pixel convolutions: Shi et al., *Is the deconvolution layer the same as a convolutional
//! layer?* (2016).
//!
//! Requires: `linalg.generic` on static arrays. Guarantees: a reduction is split only if at most 16 phases contribute;
//! each element of the output is written by one of them.

use super::body::{Combine, is_identity};
use crate::ir::arith::{CompareIntegers, Constant, Select};
use crate::ir::builder::arith::Integers;
use crate::ir::generic::{Access, LoopNest, Operand, rebuild};
use crate::ir::walk::named;
use crate::ir::{self, Builder, Copier, linalg, maps, memref, ops};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use skript_symbolic::Affine;

/// The pass `skript-split-phases`.
pub const PASS: Pass = Pass {
    flag: "skript-split-phases",
    summary: "split reductions with floor divisions in their subscripts into reductions without divisions",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Affine, Dialect::Linalg, Dialect::MemRef],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            if let Some(split) = Split::new(op) {
                split.apply(rewriter.context())?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Maximum number of phases: each phase has a kernel.
const MAX_PHASES: usize = 16;

/// Maximum number of combinations of residues.
const MAX_COMBINATIONS: usize = 4096;

/// A reduction and its phases.
struct Split<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    divisor: i64,
    /// For each phase that contributes, the residues of the split loops.
    phases: Vec<Vec<Option<i64>>>,
}

impl<'c: 'a, 'a> Split<'c, 'a> {
    /// `None` for an operation that is not split.
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = LoopNest::read_divided(op).filter(LoopNest::reduces)?;
        if !nest.operands.iter().all(|operand| operand.static_array().is_some()) {
            return None;
        }
        let quotients: Vec<(Affine, i64)> = nest
            .operands
            .iter()
            .flat_map(|operand| &operand.forms)
            .filter(|form| form.as_linear().is_none())
            .map(Affine::as_quotient)
            .collect::<Option<_>>()?;
        let (_, divisor) = quotients.first()?;
        let divisor = *divisor;
        let mut split = vec![false; nest.extents.len()];
        for (dividend, other) in &quotients {
            if *other != divisor {
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
            combinations = longer.take(MAX_COMBINATIONS + 1).collect();
        }
        if combinations.len() > MAX_COMBINATIONS {
            return None;
        }
        let guards = guards(&nest);
        let mut result = Split { nest, divisor, phases: Vec::new() };
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
        (result.phases.len() <= MAX_PHASES).then_some(result)
    }

    /// Computes the loops of a phase; `None` if one of its subscripts is not linear.
    fn phase(&self, residues: &[Option<i64>]) -> Option<Phase> {
        let mut phase = Phase { replacement: Vec::new(), extents: Vec::new(), subscripts: Vec::new() };
        for (index, (residue, extent)) in residues.iter().zip(&self.nest.extents).enumerate() {
            let form = Affine::index(index);
            phase.replacement.push(match residue {
                Some(residue) => form.scale(self.divisor)?.plus(*residue)?,
                None => form,
            });
            phase.extents.push(match residue {
                Some(residue) => (extent - residue + self.divisor - 1) / self.divisor,
                None => *extent,
            });
        }
        for operand in &self.nest.operands {
            let subscripts = operand.forms.iter().map(|form| {
                // The phase reads a slice of this dimension, which the loop index subscripts directly.
                if form.as_index().is_some() {
                    return Some(form.clone());
                }
                let form = form.substitute(&phase.replacement, &phase.extents)?;
                form.as_linear().is_some().then_some(form)
            });
            phase.subscripts.push(subscripts.collect::<Option<Vec<_>>>()?);
        }
        Some(phase)
    }

    /// Replaces the operation by its phases.
    fn apply(&self, context: &'c Context) -> Result<(), PassError> {
        let at = Builder::before(context, self.nest.op)?;
        for residues in &self.phases {
            let phase = self.phase(residues).ok_or("a phase without loops")?;
            let operands = self.nest.operands.iter().zip(&phase.subscripts);
            let parts = operands.map(|(operand, forms)| {
                Ok(Access(self.part(operand, forms, residues, &phase, &at)?, forms.clone()))
            });
            let parts: Vec<Access> = parts.collect::<Result<_, PassError>>()?;
            rebuild(&at, &self.nest, &parts, &self.nest.reductions, |inside, elements| {
                self.nest.copy_payload(Copier::new(), elements, inside, &mut |copier, op, to| {
                    let residue = linalg::index_of(op).and_then(|l| residues.get(l).copied().flatten());
                    let Some(residue) = residue else {
                        return Ok(false);
                    };
                    let number = ir::copy::with_operands(op, &[], to)?.result(0)?.into();
                    let form = Affine::index(0).scale(self.divisor).and_then(|form| form.plus(residue));
                    let map = form.and_then(|form| maps::map(context, 1, &[form]));
                    let Some(map) = map else {
                        return Ok(false);
                    };
                    let index = Type::index(context);
                    copier
                        .set(op.result(0)?, to.value(ops::affine::APPLY, &[number], &[("map", map)], index)?);
                    Ok(true)
                })
            })?;
        }
        ir::erase(self.nest.op);
        Ok(())
    }

    /// Views the slice of an operand that a phase uses.
    fn part(
        &self,
        operand: &Operand<'c, 'a>,
        new_forms: &[Affine],
        residues: &[Option<i64>],
        phase: &Phase,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let mut is_whole = true;
        let (mut offsets, mut sizes, mut steps) = (vec![], vec![], vec![]);
        let forms = operand.forms.iter().zip(new_forms);
        for ((form, new_form), extent) in forms.zip(operand.shape.iter().copied()) {
            let residue = form.as_index().and_then(|l| residues.get(l).copied().flatten());
            let (first, step) = residue.map_or((0, 1), |residue| (residue, self.divisor));
            offsets.push(first);
            // If the subscript is a loop index, the size is the extent of the loop.
            let loop_extent = new_form.as_index().and_then(|l| phase.extents.get(l).copied());
            let size = loop_extent.unwrap_or((extent - first + step - 1) / step);
            is_whole &= size == extent && step == 1;
            sizes.push(size);
            steps.push(step);
        }
        if is_whole {
            return Ok(operand.value);
        }
        Ok(memref::subview(at, operand.value, &offsets, &sizes, &steps)?)
    }
}

/// The loops of a phase.
struct Phase {
    /// The index of each original loop as a function of the indices of the phase.
    replacement: Vec<Affine>,
    extents: Vec<i64>,
    /// The subscripts of each operand's slice.
    subscripts: Vec<Vec<Affine>>,
}

/// Returns affine forms of the loop indices that are nonnegative at all points where the payload contributes to the output.
fn guards(nest: &LoopNest) -> Vec<Affine> {
    let mut forms = Vec::new();
    let combining = nest.yielded.first().copied().and_then(ir::definition);
    let Some((combining, _)) = combining else {
        return forms;
    };
    let Some(combine) = Combine::read(combining) else {
        return forms;
    };
    let values = combining.operands().filter_map(ir::definition);
    let mut selections = values.filter_map(|(op, _)| Select::cast(op));
    let selection = selections.find(|select| {
        let otherwise = select.otherwise().ok().and_then(Constant::of);
        otherwise.and_then(|c| c.value().ok()).is_some_and(|value| is_identity(value, &combine))
    });
    let condition = selection.and_then(|select| select.condition().ok());
    let mut pending: Vec<Value> = condition.into_iter().collect();
    while let Some((op, _)) = pending.pop().and_then(ir::definition) {
        match ir::name(op).as_str() {
            ops::arith::ANDI => pending.extend(op.operands()),
            ops::arith::CMPI => {
                let comparison = CompareIntegers::cast(op);
                forms.extend(comparison.and_then(|c| at_least_zero(c, &nest.extents)));
            }
            _ => {}
        }
    }
    forms
}

/// Returns the affine form that is nonnegative exactly where a comparison holds.
pub(super) fn at_least_zero(comparison: CompareIntegers, extents: &[i64]) -> Option<Affine> {
    let predicate = comparison.predicate()?;
    let is = |wanted: Integers| predicate == wanted as i64;
    let left = linear(comparison.left().ok()?, extents)?;
    let right = linear(comparison.right().ok()?, extents)?;
    match () {
        () if is(Integers::SignedAtLeast) => left.sub(&right),
        () if is(Integers::SignedGreater) => left.sub(&right)?.plus(-1),
        () if is(Integers::SignedAtMost) => right.sub(&left),
        () if is(Integers::SignedLess) => right.sub(&left)?.plus(-1),
        () => None,
    }
}

/// The largest offset of a linear form. A sum of an index and a larger offset might wrap.
const MAX_OFFSET: i64 = 1 << 62;

/// A value of a payload as an affine form of loop indices.
fn linear(value: Value, extents: &[i64]) -> Option<Affine> {
    if let Some(constant) = ir::integer(value) {
        return Some(Affine::constant(constant))
            .filter(|_| constant.unsigned_abs() <= MAX_OFFSET.unsigned_abs());
    }
    let (op, _) = ir::definition(value)?;
    if let Some(index) = linalg::index_of(op) {
        return Some(Affine::index(index));
    }
    let kind = value.r#type();
    let operand = |number| linear(ir::operand_at(op, number)?, extents);
    let form = match ir::name(op).as_str() {
        _ if !kind.is_index() && kind.to_string() != "i64" => None,
        ops::arith::INDEX_CAST => operand(0),
        ops::arith::ADDI => operand(0)?.add(&operand(1)?),
        ops::arith::SUBI => operand(0)?.sub(&operand(1)?),
        ops::affine::APPLY => {
            let loops = op.operands().map(|operand| linalg::index_of(ir::definition(operand)?.0));
            let arguments = loops.collect::<Option<Vec<_>>>()?;
            maps::applied(op.attribute("map").ok()?, &arguments, extents)
        }
        _ => None,
    };
    form.filter(|form| form.offset().unsigned_abs() <= MAX_OFFSET.unsigned_abs())
}
