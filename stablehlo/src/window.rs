// SPDX-License-Identifier: Apache-2.0
//! Exports windows as `convolution` and `reduce_window`.
//!
//! A dimension read at `s·k + d·r + o`, with an index k of the output and a reduced index r, is a window of stride s
//! and dilation d; it is reversed if d is negative. A dimension read at `⌊(s·k + d·r + o) / b⌋`, only where b divides
//! evenly, is a window over elements with base dilation b. Points that the guard skips outside of the tensor and
//! between its elements are padding. If the guard compares a position with a scalar, such as a dynamic extent, the
//! elements that do not count are replaced by a filler.
mod convolve;
mod reduce;

use super::access::{Run, run, slice};
use super::cast;
use super::constants::identity;
use super::error::ExportError;
use super::evaluate::{Evaluator, element, elementwise, uncast};
use super::field::Field;
use super::formula::Combination;
use super::guards::Conjunct;
use super::report::Form;
use super::rule::{Applied, Combined};
use super::shift::Shift;
use super::tensors::Tensors;
use super::window_expression::windowed;
use skript_passes::ir;
use skript_passes::ir::ops;

use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{Attribute, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir::copy::operation_name;
use skript_passes::ir::types;
use skript_passes::structure::{Affine, Guard, Term, TermId};
use skript_semantics::Scalar;

/// The rule for reductions over windows.
pub(crate) fn reduction<'c, 'a>(combination: &Combination<'_, '_, 'c, 'a>) -> Applied<Combined<'c, 'a>> {
    let Combination { evaluator, target, guards, reduced, .. } = *combination;
    let at = &evaluator.at;
    let neutral = identity(target.kind, at.element(target.out));
    let windowed = Windowed::new(evaluator, combination.value, reduced, &guards.inner, neutral)?;
    let Some(windowed) = windowed.and_then(|w| w.thinned(&guards.inner, evaluator)) else {
        return Ok(None);
    };
    let field = windowed.reduce(target.kind, reduced, target.domain, at);
    Ok(field.map(|field| (field, combination.outer.clone(), Form::ReduceWindow)))
}

/// A dimension that is read by a window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    kept: usize,
    /// `None` for a window of one element.
    reduced: Option<usize>,
    /// The number of values of the reduced index that are read; `None` for all.
    run: Option<i64>,
    stride: i64,
    /// The dilation; positive.
    dilation: i64,
    /// Whether the window is reversed: the first element of the kernel belongs to the last element of the window.
    reversed: bool,
    /// The base dilation.
    base: i64,
    /// Borders to add.
    low: i64,
    high: i64,
}

impl Window {
    /// A window without padding that covers exactly its elements.
    pub(crate) fn over(kept: usize, stride: i64, slid: usize, step: i64) -> Self {
        Window {
            kept,
            reduced: Some(slid),
            run: None,
            stride,
            dilation: step.abs(),
            reversed: step < 0,
            base: 1,
            low: 0,
            high: 0,
        }
    }

    /// The number of elements that the window covers.
    fn length(&self, domain: &[i64]) -> i64 {
        self.run.unwrap_or_else(|| self.reduced.map_or(1, |i| domain[i]))
    }
}

/// The role of a dimension of the prepared tensor.
#[derive(Clone, Debug)]
enum Dimension {
    Index(usize),
    Window(Window),
}

/// A tensor that is read by windows. The tensor is sliced, and has one dimension for each index and each window.
pub(crate) struct Windowed<'c, 'a> {
    pub value: Value<'c, 'a>,
    dimensions: Vec<Dimension>,
    /// The representation of each conjunct of the guard.
    pub(crate) skipped: Vec<Skipped>,
    /// A reduced index, and the runs of its values that the guard admits (first value and length); `None` if the guard
    /// admits all values.
    runs: Option<(usize, Vec<(i64, i64)>)>,
}

/// How a conjunct of the guard is represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Skipped {
    /// As padding: the conjunct states that reads are in bounds, or at elements and not between them.
    ByBorder,
    /// By replacing elements: the conjunct states which positions of a dimension are read; the filler replaces the
    /// elements at other positions.
    ByFiller,
    /// By separate windows: the conjunct states which positions of the windows are read, as runs.
    ByRuns,
    /// The conjunct is not represented.
    Not,
}

impl<'c: 'a, 'a> Windowed<'c, 'a> {
    /// Represents `value` as an access by windows, or as an expression of such accesses; `None` if it has another form.
    /// Elements that the guard skips become `filler`.
    pub(crate) fn new(
        evaluator: &Evaluator<'_, 'c, 'a>,
        value: Value<'c, 'a>,
        reduced: &[usize],
        guards: &[Conjunct<'c, 'a>],
        filler: Scalar,
    ) -> Result<Option<Self>, ExportError> {
        match Self::access(evaluator, value, reduced, guards, filler)? {
            Some(windowed) => Ok(Some(windowed)),
            None => windowed(evaluator, value, reduced, guards, filler),
        }
    }

    /// Represents a field in which the indices from `first` on are replaced by `windows`.
    pub(super) fn over(
        field: &Field<'c, 'a>,
        first: usize,
        windows: Vec<Window>,
        skipped: Vec<Skipped>,
    ) -> Self {
        let kept = field.indices.iter().filter(|index| **index < first).map(|index| Dimension::Index(*index));
        Windowed {
            value: field.value,
            dimensions: kept.chain(windows.into_iter().map(Dimension::Window)).collect(),
            skipped,
            runs: None,
        }
    }

    fn access(
        evaluator: &Evaluator<'_, 'c, 'a>,
        value: Value<'c, 'a>,
        reduced: &[usize],
        guards: &[Conjunct<'c, 'a>],
        filler: Scalar,
    ) -> Result<Option<Self>, ExportError> {
        let (reading, at) = (evaluator.reading, &evaluator.at);
        let nest = &reading.nest;
        let read = uncast(value);
        let Ok(result) = OperationResult::try_from(read) else {
            return Ok(None);
        };
        let owner = result.owner();
        if operation_name(owner) != ops::skript::ACCESS {
            return Ok(None);
        }
        let Some(Term::Access { subscripts, .. }) = reading.find(read).and_then(|t| nest.terms.get(t)) else {
            return Ok(None);
        };
        let tensor = evaluator.outside.get(ir::operand(owner)?)?;
        let mut tensor = cast::width(tensor, element(value.r#type(), at), at);
        let (mut forms, mut addresses) = (Vec::new(), Vec::new());
        for (operand, subscript) in owner.operands().skip(1).enumerate() {
            let Some(subscript_form) = evaluator.dynamic_subscript(subscript)? else {
                return Ok(None);
            };
            let (mut within, mut first) = (vec![subscript_form.form.clone()], None);
            if !subscript_form.is_affine() {
                let shift = Shift::new(forms.len(), &subscript_form, &reading.domain, at);
                let Some((shift, parts)) = shift else {
                    return Ok(None);
                };
                tensor = shift.cut(tensor, at);
                (within, first) = (parts, shift.first());
            }
            for form in within {
                addresses.push(Along { term: subscripts.get(operand).copied(), form: form.clone(), first });
                forms.push(form);
            }
        }
        let extents = at.extents(tensor);
        let whole = Guard::new(nest);
        let Some(bounds) = bounds(&whole, &forms, &extents, &reading.domain) else {
            return Ok(None);
        };
        let Some(parts) = parts(&forms, &extents, &reading.domain, reduced) else {
            return Ok(None);
        };
        let mut skipped = Vec::new();
        for conjunct in guards {
            let guard = Guard::all(nest, reading.find(conjunct.value));
            let is_border = guard.others.is_empty() && guard.constraints.iter().all(|c| bounds.contains(c));
            skipped.push(if is_border {
                Skipped::ByBorder
            } else if let Some((dimension, admitted)) = counted(conjunct, &addresses, &extents, evaluator)? {
                tensor = filled(tensor, dimension, admitted, filler, at);
                Skipped::ByFiller
            } else {
                Skipped::Not
            });
        }
        let (value, dimensions) = prepare(tensor, parts, &extents, &reading.domain, at);
        Ok(Some(Windowed { value, dimensions, skipped, runs: None }))
    }

    /// The dimensions whose indices satisfy a condition, and these indices.
    fn indices(&self, wanted: impl Fn(usize) -> bool) -> (Vec<usize>, Vec<usize>) {
        self.dimensions
            .iter()
            .enumerate()
            .filter_map(|(d, dimension)| match dimension {
                Dimension::Index(index) if wanted(*index) => Some((d, *index)),
                _ => None,
            })
            .unzip()
    }

    fn windows(&self) -> impl Iterator<Item = (usize, &Window)> {
        self.dimensions.iter().enumerate().filter_map(|(d, dimension)| match dimension {
            Dimension::Window(window) => Some((d, window)),
            Dimension::Index(_) => None,
        })
    }

    /// Whether there is padding around or between the elements.
    pub(crate) fn has_border(&self) -> bool {
        self.windows().any(|(_, w)| w.low > 0 || w.high > 0 || w.base > 1)
    }
}

/// The borders as a tensor that has a row of two numbers for each dimension.
fn padding<'c: 'a, 'a>(borders: &[i64], at: &Tensors<'c, 'a>) -> Attribute<'c> {
    let rows = (borders.len() / 2) as i64;
    DenseElementsAttribute::i64_values(types::tensor(&[rows, 2], at.int()), borders).into()
}

/// The constraints that padding represents: subscripts are in bounds, and at elements instead of between elements.
/// `None` if some reads between elements are not skipped.
fn bounds(whole: &Guard, forms: &[Affine], extents: &[i64], domain: &[i64]) -> Option<Vec<Affine>> {
    let mut bounds = Vec::new();
    for (form, extent) in forms.iter().zip(extents) {
        let last = extent.checked_sub(1).map(Affine::constant);
        bounds.extend(last.and_then(|last| last.sub(form)));
        bounds.push(form.clone());
        if let Some((dividend, base)) = form.as_quotient() {
            let evenly = dividend
                .modulo(base, domain)
                .and_then(|remainder| remainder.scale(-1))
                .filter(|evenly| whole.constraints.contains(evenly))?;
            bounds.push(evenly);
        }
    }
    Some(bounds)
}

/// The positions at which a dimension is read.
struct Along<'c, 'a> {
    term: Option<TermId>,
    /// Relative to the first position.
    form: Affine,
    /// `None` for the first position of the tensor.
    first: Option<Value<'c, 'a>>,
}

/// The dimension whose positions a conjunct compares with a scalar, and whether the conjunct admits each position.
fn counted<'c: 'a, 'a>(
    conjunct: &Conjunct<'c, 'a>,
    addresses: &[Along<'c, 'a>],
    extents: &[i64],
    evaluator: &Evaluator<'_, 'c, 'a>,
) -> Result<Option<(usize, Value<'c, 'a>)>, ExportError> {
    let (reading, at) = (evaluator.reading, &evaluator.at);
    let Ok(result) = OperationResult::try_from(conjunct.value) else {
        return Ok(None);
    };
    let owner = result.owner();
    if owner.operands().count() != 2 {
        return Ok(None);
    }
    let operands = ir::both_operands(owner)?;
    for (side, other) in [(0, 1), (1, 0)] {
        let term = reading.find(operands[side]);
        let form = term.and_then(|t| reading.nest.affine(t));
        let is_position = |along: &Along<'c, 'a>| match along.first {
            None => form.as_ref() == Some(&along.form),
            Some(_) => along.term.zip(term).is_some_and(|(x, y)| reading.nest.same(x, y)),
        };
        let dimension = addresses.iter().position(is_position);
        let limit = evaluator.field(operands[other])?;
        let (Some(dimension), true) = (dimension, limit.indices.is_empty()) else {
            continue;
        };
        let extent = extents[dimension];
        let limit = at.broadcast(limit.value, &[], &[extent]);
        let mut positions = at.iota(extent);
        if let Some(first) = addresses[dimension].first {
            let first = at.broadcast(first, &[], &[extent]);
            positions = at.same("add", &[positions, first]);
        }
        let mut sides = [positions, limit];
        if side == 1 {
            sides.reverse();
        }
        let name = operation_name(owner);
        return Ok(elementwise(owner, &name, &sides, at)?.map(|admitted| (dimension, admitted)));
    }
    Ok(None)
}

/// Replaces the elements at the positions of a dimension that are not admitted by the filler.
fn filled<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    admitted: Value<'c, 'a>,
    filler: Scalar,
    at: &Tensors<'c, 'a>,
) -> Value<'c, 'a> {
    let extents = at.extents(tensor);
    let admitted = at.broadcast(admitted, &[dimension as i64], &extents);
    let filler = at.splat(filler, &extents, at.element(tensor));
    at.select(admitted, tensor, filler)
}

enum DimensionRead {
    Run(Run),
    /// The window, and the half-open range of positions that it reads.
    Window(Window, i64, i64),
}

/// The reads of the dimensions, with at least one window. `None` if a dimension is read neither by a run nor by a
/// window, or if dimensions share indices.
fn parts(forms: &[Affine], extents: &[i64], domain: &[i64], reduced: &[usize]) -> Option<Vec<DimensionRead>> {
    let mut seen = Vec::new();
    let mut parts = Vec::new();
    for (form, extent) in forms.iter().zip(extents) {
        for index in form.indices() {
            if seen.contains(&index) {
                return None;
            }
            seen.push(index);
        }
        let part = match run(form, domain) {
            Some(run) if !run.leaves(*extent) => DimensionRead::Run(run),
            // A run that leaves the tensor would read padding as elements; other forms are not slices.
            _ => window(form, *extent, domain, reduced)?,
        };
        parts.push(part);
    }
    let slides = parts.iter().any(|p| matches!(p, DimensionRead::Window(..)));
    slides.then_some(parts)
}

/// An index of the output with its stride, and a reduced index with its step: the subscript is the sum of the indices
/// times these factors.
pub(super) fn slide(form: &Affine, reduced: &[usize]) -> Option<(usize, i64, usize, i64)> {
    let is_reduced = |index: &usize| reduced.contains(index);
    let linear = form.as_linear()?;
    match linear.as_slice() {
        [(kept, stride), (slid, step)] | [(slid, step), (kept, stride)]
            if !is_reduced(kept) && is_reduced(slid) && *stride > 0 && *step > i64::MIN =>
        {
            Some((*kept, *stride, *slid, *step))
        }
        _ => None,
    }
}

fn window(form: &Affine, extent: i64, domain: &[i64], reduced: &[usize]) -> Option<DimensionRead> {
    let (form, base) = form.as_quotient().unwrap_or_else(|| (form.clone(), 1));
    let linear = form.as_linear()?;
    let (kept, stride, slid, step) = match (linear.as_slice(), slide(&form, reduced)) {
        (_, Some((kept, stride, slid, step))) => (kept, stride, Some(slid), step),
        ([(kept, stride @ 1..)], None) if base > 1 && !reduced.contains(kept) => (*kept, *stride, None, 1),
        _ => return None,
    };
    let dilation = step.checked_abs()?;
    let length = slid.map_or(Some(1), |slid| domain.get(slid).copied())?;
    let length = dilation.checked_mul(length - 1)?;
    let reach = stride.checked_mul(domain.get(kept)? - 1)?.checked_add(length)?;
    let reversed = step < 0;
    let begin = form.offset().checked_sub(if reversed { length } else { 0 })?;
    let last = begin.checked_add(reach)?;
    // The elements that some window covers.
    let start = begin.checked_add(base - 1)?.div_euclid(base).max(0);
    let limit = last.div_euclid(base).checked_add(1)?.min(extent);
    if start >= limit {
        return None;
    }
    let window = Window {
        kept,
        reduced: slid,
        run: None,
        stride,
        dilation,
        reversed,
        base,
        low: start.checked_mul(base)?.checked_sub(begin)?,
        high: last.checked_sub((limit - 1).checked_mul(base)?)?,
    };
    Some(DimensionRead::Window(window, start, limit))
}

fn prepare<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    parts: Vec<DimensionRead>,
    extents: &[i64],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> (Value<'c, 'a>, Vec<Dimension>) {
    let (mut starts, mut limits) = (Vec::new(), Vec::new());
    for (part, extent) in parts.iter().zip(extents) {
        let (start, limit) = match part {
            DimensionRead::Run(_) => (0, *extent),
            DimensionRead::Window(_, begin, end) => (*begin, *end),
        };
        starts.push(start);
        limits.push(limit);
    }
    let cut = at.slice(tensor, &starts, &limits, &vec![1; extents.len()]);
    let mut dimensions = Vec::new();
    let mut shape = Vec::new();
    let mut runs = Vec::new();
    for ((part, start), limit) in parts.into_iter().zip(starts).zip(limits) {
        match part {
            DimensionRead::Run(run) => {
                for index in &run.indices {
                    shape.push(domain[*index]);
                    dimensions.push(Dimension::Index(*index));
                }
                runs.push(Some(run));
            }
            DimensionRead::Window(window, ..) => {
                shape.push(limit - start);
                dimensions.push(Dimension::Window(window));
                runs.push(None);
            }
        }
    }
    let sliced = slice(cut, &runs, at);
    (at.reshape(sliced, &shape), dimensions)
}
