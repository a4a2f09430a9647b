// SPDX-License-Identifier: Apache-2.0
//! Exports windows over expressions of elements: `g[c] · x[c, k + r]`, `|x[k + r]|`, `x[max(k + r - 1, 0)]`.
//!
//! If an expression uses an output index and a reduced index only as their sum, the sum becomes an index: the
//! expression is computed once for each value of the sum, and the window slides over the results.

use super::access::Gathered;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::guards::Conjunct;
use super::window::{Skipped, Window, Windowed, slide};
use melior::ir::Value;
use melior::ir::operation::{OperationLike, OperationResult};
use skript_dialect::melior;
use skript_passes::ir;
use skript_passes::ir::ValueKey;
use skript_passes::ir::builder::{only_block, operations};
use skript_passes::ir::copy::operation_name;
use skript_passes::ir::ops;
use skript_passes::structure::{Affine, Extent, StaticReading};
use skript_semantics::Scalar;
use std::collections::{HashMap, HashSet};

/// The indices of a window: the output index and its stride, the reduced index and its step.
type Along = (usize, i64, usize, i64);

/// A subscript that is a sum of an output index and a reduced index.
struct Slide<'c, 'a> {
    value: Value<'c, 'a>,
    form: Affine,
    along: Along,
}

/// Collects the sliding subscripts and the other indices in the operands of an expression.
struct Operands<'e, 'r, 'c, 'a> {
    evaluator: &'e Evaluator<'r, 'c, 'a>,
    reduced: &'e [usize],
    seen: HashSet<ValueKey>,
    slides: Vec<Slide<'c, 'a>>,
    /// Indices that occur outside of sliding subscripts.
    others: Vec<usize>,
}

impl<'e, 'r, 'c: 'a, 'a> Operands<'e, 'r, 'c, 'a> {
    fn new(evaluator: &'e Evaluator<'r, 'c, 'a>, reduced: &'e [usize]) -> Self {
        Operands { evaluator, reduced, seen: HashSet::new(), slides: Vec::new(), others: Vec::new() }
    }

    /// Collects the operands of a value. Returns whether all can be computed for other indices.
    fn collect(&mut self, value: Value<'c, 'a>) -> Result<bool, ExportError> {
        if !self.seen.insert(ValueKey::of(value)) || !self.evaluator.is_inside(value) {
            return Ok(true);
        }
        let form = self.evaluator.form(value);
        if let Some(form) = &form
            && let Some(along) = slide(form, self.reduced)
        {
            self.slides.push(Slide { value, form: form.clone(), along });
            return Ok(true);
        }
        let Ok(result) = OperationResult::try_from(value) else {
            self.others.extend(form.iter().flat_map(|form| form.indices()));
            return Ok(form.is_some());
        };
        let op = result.owner();
        let mut parts: Vec<Value<'c, 'a>> = Vec::new();
        match (operation_name(op).as_str(), op.region_count()) {
            (_, 0) => parts.extend(op.operands()),
            (ops::scf::IF, _) => {
                parts.push(ir::operand(op)?);
                for region in op.regions() {
                    let end = operations(only_block(region)?).pop();
                    let end = end.ok_or(ExportError::new(op, "has an empty region"))?;
                    parts.push(end.operand(result.result_number())?);
                }
            }
            _ => return Ok(false),
        }
        for part in parts {
            if !self.collect(part)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Converts `value` to a tensor with windows; `None` if it does not have this form. Elements that the guard skips
/// become `filler`.
pub(crate) fn windowed<'c: 'a, 'a>(
    evaluator: &Evaluator<'_, 'c, 'a>,
    value: Value<'c, 'a>,
    reduced: &[usize],
    guards: &[Conjunct<'c, 'a>],
    filler: Scalar,
) -> Result<Option<Windowed<'c, 'a>>, ExportError> {
    let (reading, at) = (evaluator.reading, &evaluator.at);
    let mut parts = Operands::new(evaluator, reduced);
    if !parts.collect(value)? || parts.slides.is_empty() {
        return Ok(None);
    }
    // Conditions of the guard on these sums become conditions on the new indices.
    let mut guarded = Operands::new(evaluator, reduced);
    for conjunct in guards {
        guarded.collect(conjunct.value)?;
    }
    let alike = |slide: &Slide<'c, 'a>| parts.slides.iter().any(|known| known.along == slide.along);
    guarded.slides.retain(alike);
    parts.slides.append(&mut guarded.slides);
    let mut extents = reading.domain.clone();
    let first = extents.len();
    let mut windows: Vec<(Along, Affine, Window)> = Vec::new();
    let (mut taken, mut forms) = (parts.others, HashMap::new());
    for Slide { value, form, along } in &parts.slides {
        let (kept, stride, slid, step) = *along;
        let offset = Affine::constant(form.offset());
        if !windows.iter().any(|(known, ..)| known == along) {
            let range = form.sub(&offset).and_then(|f| f.range(&extents));
            let extent = range.and_then(|r| r.high.checked_sub(r.low)?.checked_add(1));
            let (Some(range), Some(extent)) = (range, extent) else {
                return Ok(None);
            };
            if taken.contains(&kept) || taken.contains(&slid) {
                return Ok(None);
            }
            taken.extend([kept, slid]);
            let Some(sum) = Affine::index(extents.len()).add(&Affine::constant(range.low)) else {
                return Ok(None);
            };
            extents.push(extent);
            windows.push((*along, sum, Window::over(kept, stride, slid, step)));
        }
        let sum = windows.iter().find(|(known, ..)| known == along);
        let sum = sum.and_then(|(_, sum, _)| sum.add(&offset));
        let (Some(sum), Some(term)) = (sum, reading.find(*value)) else {
            return Ok(None);
        };
        forms.insert(term, sum);
    }
    let all: Vec<Extent> = extents.iter().copied().map(Extent::Static).collect();
    let Some(moved) = reading.substituted(&all, &forms) else {
        return Ok(None);
    };
    let moved = StaticReading::try_from(moved)?;
    let mut inner = Evaluator::new(*at, &moved, evaluator.outside, evaluator.destinations.clone());
    inner.moved = parts.slides.iter().map(|slide| ValueKey::of(slide.value)).collect();
    inner.predicate()?;
    inner.body()?;
    let mut field = inner.field(value)?;
    let slid = first..extents.len();
    if inner.gathered != Gathered::Nothing || slid.clone().any(|i| !field.indices.contains(&i)) {
        return Ok(None);
    }
    let mut skipped = Vec::new();
    for conjunct in guards {
        let counts = inner.field(conjunct.value)?;
        if counts.indices.iter().any(|i| !field.indices.contains(i)) {
            skipped.push(Skipped::Not);
            continue;
        }
        let counts = counts.over(&field.indices, &extents, at);
        let others = at.splat(filler, &at.extents(field.value), at.element(field.value));
        field.value = at.select(counts, field.value, others);
        skipped.push(Skipped::ByFiller);
    }
    let slid = windows.into_iter().map(|(.., window)| window).collect();
    Ok(Some(Windowed::over(&field, first, slid, skipped)))
}
