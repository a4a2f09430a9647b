// SPDX-License-Identifier: Apache-2.0
//! Reads of a formula as operands with indexing maps.

use super::border::Border;
use super::domain::Domain;
use super::dynamic_extents::{Fit, Open, Size, Sizes};
use super::{Refusal, block};
use crate::ir::{Builder, types};
use crate::structure::{Affine, Extent, Reading, Term, TermId};
use melior::ir::{Type, Value, ValueLike};
use skript_frontend::model::Accumulation;
use skript_semantics::{Scalar, ScalarOp};
use skript_symbolic::Interval;
use std::collections::HashMap;

/// Maximum size of a bordered copy, as a multiple of its source; a read beyond that checks its subscripts instead.
pub(crate) const COPIED_RATIO: i64 = 4;

/// A tensor and the element that each point of the loops reads.
pub(crate) struct Operand<'c, 'a> {
    pub tensor: Value<'c, 'a>,
    pub forms: Vec<Affine>,
}

/// The operands of a formula, and the operand that each access reads.
pub(crate) struct Operands<'c, 'a> {
    pub list: Vec<Operand<'c, 'a>>,
    /// Accesses that are operands.
    pub(crate) of_access: HashMap<TermId, usize>,
}

/// The subscripts that are read, by dimension; `None` for all subscripts of a dynamic dimension.
type Reach = Vec<Option<Interval>>;

/// An affine access.
struct Access<'c, 'a> {
    term: TermId,
    tensor: usize,
    forms: Vec<Affine>,
    /// The copy that it reads, if it may read beyond a dynamic extent.
    own: Option<Vec<Span<'c, 'a>>>,
}

/// A dimension of a copy with a border.
#[derive(Clone, Copy)]
struct Span<'c, 'a> {
    /// The first subscript, which may be out of bounds.
    low: i64,
    size: Size<'c, 'a>,
    /// The number of positions in bounds, from the first common one on.
    count: Size<'c, 'a>,
    /// Whether its end is dynamic.
    is_open: bool,
}

/// Makes every affine access below `roots` an operand. One that may be out of bounds (at skipped points) reads a copy
/// with a border: of zeros, or of the border requested for one access.
pub(crate) fn promote<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    domain: &Domain,
    open: &Open<'_, 'c, 'a>,
    roots: &[TermId],
    border: Option<&Border>,
    at: &Builder<'c, 'a>,
) -> Result<Operands<'c, 'a>, Refusal> {
    let nest = &reading.nest;
    let moved = nest.kind == Accumulation::Assign
        && domain.always_holds()
        && matches!(roots, [root] if matches!(nest.terms.get(*root), Some(Term::Access { .. })));
    let asked = border.and_then(|b| match nest.terms.get(b.access) {
        Some(Term::Access { tensor, .. }) => Some((*tensor, b.value)),
        _ => None,
    });
    let unknown = || Refusal::Shape("reads an unknown tensor");
    let mut affine: Vec<Access> = Vec::new();
    let mut reaches: HashMap<usize, Reach> = HashMap::new();
    for (term, tensor, subscripts) in nest.accesses(roots) {
        let forms: Option<Vec<_>> = subscripts.iter().map(|s| domain.affine(nest, *s)).collect();
        let Some(forms) = forms else { continue };
        let Some(extents) = nest.tensors.get(tensor).map(|t| &t.extents) else {
            continue;
        };
        let source = *reading.tensors.get(tensor).ok_or_else(unknown)?;
        let leaving: Vec<bool> =
            forms.iter().enumerate().map(|(dimension, f)| open.leaves(source, dimension, f)).collect();
        let Some(own) = reach(&forms, &domain.extents, extents, &leaving) else {
            continue;
        };
        let is_own = leaving.contains(&true);
        let merged: Reach = match reaches.get(&tensor).filter(|_| !is_own) {
            Some(known) => {
                known.iter().zip(&own).map(|(a, b)| Some(a.as_ref()?.hull(*b.as_ref()?))).collect()
            }
            None => own,
        };
        if leaves(&merged, extents) && !affordable(&merged, extents) {
            continue;
        }
        let own = if is_own {
            // A tensor that is read once is read directly.
            if domain.extents.len() == domain.parallel {
                continue;
            }
            let Some(spans) = spans(source, &forms, &merged, &leaving, open, at)? else {
                continue;
            };
            Some(spans)
        } else {
            reaches.insert(tensor, merged);
            None
        };
        affine.push(Access { term, tensor, forms, own });
    }

    let mut sources: HashMap<usize, Value<'c, 'a>> = HashMap::new();
    let mut operands = Operands { list: Vec::new(), of_access: HashMap::new() };
    let mut known: HashMap<(usize, bool, Vec<Affine>), usize> = HashMap::new();
    for access in affine {
        let Access { term, tensor, own, .. } = access;
        let key = (tensor, own.is_some(), access.forms);
        if let Some(position) = known.get(&key) {
            operands.of_access.insert(term, *position);
            continue;
        }
        let original = *reading.tensors.get(tensor).ok_or_else(unknown)?;
        let extents = nest.tensors.get(tensor).map(|t| t.extents.as_slice());
        let extents = extents.ok_or_else(unknown)?;
        let around = asked.filter(|(asked, _)| *asked == tensor);
        let around = around.map(|(_, value)| value);
        let reach = reaches.get(&tensor).filter(|r| leaves(r, extents));
        let (source, forms, inside) = match (&own, reach) {
            (Some(spans), _) => {
                let copy = pad(original, spans, around, at)?;
                let inside = spans.iter().map(|span| span.is_open).collect();
                (copy, moved_by(&key.2, spans.iter().map(|span| span.low))?, inside)
            }
            (None, Some(reach)) => {
                let copy = match sources.get(&tensor) {
                    Some(copy) => *copy,
                    None => {
                        let spans = fixed_spans(original, reach, at)?;
                        pad(original, &spans, around, at)?
                    }
                };
                sources.insert(tensor, copy);
                let forms = moved_by(&key.2, reach.iter().map(|range| range.map_or(0, |range| range.low)))?;
                (copy, forms, vec![false; reach.len()])
            }
            (None, None) => (original, key.2.clone(), vec![false; extents.len()]),
        };
        let operand = window(source, forms, &inside, open, moved, at)?;
        let Some(operand) = operand else { continue };
        operands.of_access.insert(term, operands.list.len());
        known.insert(key, operands.list.len());
        operands.list.push(operand);
    }
    Ok(operands)
}

/// Subscripts of a copy that begins at these positions.
fn moved_by(forms: &[Affine], lows: impl Iterator<Item = i64>) -> Result<Vec<Affine>, Refusal> {
    let moved = forms.iter().zip(lows).map(|(form, low)| form.sub(&Affine::constant(low)));
    let moved: Option<_> = moved.collect();
    moved.ok_or(Refusal::Shape("has subscripts beyond 64 bits"))
}

/// The slice of a tensor that is read, if a subscript is one loop and an offset: a map of the loop alone must span its
/// dimension. For views, slices with steps too, as the slice may be all that is needed. `inside`: dimensions that were
/// created for their subscripts. `None` if skipped points may be outside of the slice.
fn window<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    forms: Vec<Affine>,
    inside: &[bool],
    open: &Open<'_, 'c, 'a>,
    moved: bool,
    at: &Builder<'c, 'a>,
) -> Result<Option<Operand<'c, 'a>>, Refusal> {
    let mut offsets = vec![0; forms.len()];
    let mut strides = vec![1; forms.len()];
    let mut parts: Vec<Option<Size>> = vec![None; forms.len()];
    let mut inner = forms.clone();
    let single = |form: &Affine| match *form.as_linear()?.as_slice() {
        [(index, step)] if step == 1 || (moved && step > 1) => Some((index, step)),
        _ => None,
    };
    let loops: Vec<usize> = forms.iter().filter_map(|f| Some(single(f)?.0)).collect();
    for (dimension, form) in forms.iter().enumerate() {
        let (bare, step) = match single(form) {
            _ if inside.get(dimension) == Some(&true) && form.as_index().is_none() => continue,
            Some(single) => single,
            // Elsewhere, subscripts stay inside wherever points count.
            None => continue,
        };
        let count = open.size(bare);
        let fit = open.fit_read(tensor, dimension, count, &loops);
        if fit == Fit::Unproven {
            return Ok(None);
        }
        let (Some(offset), Some(part), Some(stride), Some(form_inside)) = (
            offsets.get_mut(dimension),
            parts.get_mut(dimension),
            strides.get_mut(dimension),
            inner.get_mut(dimension),
        ) else {
            continue;
        };
        *form_inside = Affine::index(bare);
        if fit == Fit::Part {
            *offset = form.offset();
            *part = Some(count);
            *stride = step;
        }
    }
    if parts.iter().all(Option::is_none) {
        return Ok(Some(Operand { tensor, forms }));
    }
    let sizes = sizes(tensor, &parts, at)?;
    Ok(Some(Operand { tensor: block::extract(tensor, &offsets, &sizes, &strides, at)?, forms: inner }))
}

/// The sizes of a part of a tensor; of dimensions without one, the extent.
fn sizes<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    parts: &[Option<Size<'c, 'a>>],
    at: &Builder<'c, 'a>,
) -> Result<Sizes<'c, 'a>, Refusal> {
    let extents = types::extents(tensor.r#type()).unwrap_or_default();
    let mut all = Vec::with_capacity(extents.len());
    for ((dimension, extent), part) in (0i64..).zip(extents).zip(parts) {
        all.push(match part {
            Some(part) => *part,
            None if extent == types::DYNAMIC => Size::Open(at.extent(tensor, dimension)?),
            None => Size::Fixed(extent),
        });
    }
    Ok(all.into_iter().collect())
}

/// The range of subscripts in a tensor of these extents. For a dynamic extent it is the full dimension if they begin
/// inside, or get a border of their own; `None` otherwise, as the size of a common border is unknown.
fn reach(forms: &[Affine], loops: &[Extent], extents: &[Extent], leaving: &[bool]) -> Option<Reach> {
    let ranges = forms.iter().zip(extents).zip(leaving).map(|((form, extent), leaving)| {
        let range = form.range(loops)?;
        match extent {
            Extent::Static(_) => Some(Some(range)),
            Extent::Dynamic(_) => (*leaving || range.low >= 0).then_some(None),
        }
    });
    ranges.collect()
}

fn leaves(reach: &Reach, extents: &[Extent]) -> bool {
    reach
        .iter()
        .zip(extents)
        .filter_map(|(range, extent)| Some((range.as_ref()?, extent.as_static()?)))
        .any(|(range, extent)| range.low < 0 || range.high >= extent)
}

fn affordable(reach: &Reach, extents: &[Extent]) -> bool {
    let mut volumes = (1i64, 1i64);
    for (range, extent) in reach.iter().zip(extents) {
        let (Some(range), Extent::Static(extent)) = (range, extent) else {
            continue;
        };
        let size = range.high.saturating_sub(range.low).saturating_add(1);
        let grown = (volumes.0.checked_mul(*extent), volumes.1.checked_mul(size));
        let (Some(original), Some(copied)) = grown else {
            return false;
        };
        volumes = (original, copied);
    }
    let (original, copied) = volumes;
    copied <= original.saturating_mul(COPIED_RATIO).saturating_add(4096)
}

/// The spans of copies of a tensor: the full dynamic dimensions, and this reach of the others.
fn fixed_spans<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    reach: &Reach,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Span<'c, 'a>>, Refusal> {
    let extents = types::extents(tensor.r#type()).unwrap_or_default();
    let mut spans = Vec::with_capacity(extents.len());
    for ((dimension, extent), range) in (0i64..).zip(extents).zip(reach) {
        let (low, size, count) = match range {
            None => {
                let extent = Size::Open(at.extent(tensor, dimension)?);
                (0, extent, extent)
            }
            Some(range) => {
                let count = range.high.min(extent - 1) - range.low.max(0) + 1;
                let size = Size::Fixed(range.high - range.low + 1);
                (range.low, size, Size::Fixed(count.max(0)))
            }
        };
        spans.push(Span { low, size, count, is_open: false });
    }
    Ok(spans)
}

/// The spans of a copy for one access that may be out of bounds in some dimensions. `None`: see [`Open::span`].
fn spans<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    forms: &[Affine],
    reach: &Reach,
    leaving: &[bool],
    open: &Open<'_, 'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Option<Vec<Span<'c, 'a>>>, Refusal> {
    let mut spans = fixed_spans(tensor, reach, at)?;
    let mut used: Vec<usize> = Vec::new();
    for ((span, form), leaving) in spans.iter_mut().zip(forms).zip(leaving) {
        let indices = form.indices();
        // A diagonal has fewer elements than the box of its subscripts.
        if indices.iter().any(|index| used.contains(index)) {
            return Ok(None);
        }
        used.extend(indices);
        if !leaving {
            continue;
        }
        let (Some((low, size)), Size::Open(extent)) = (open.span(form, at)?, span.size) else {
            return Ok(None);
        };
        *span = Span { low, size, count: common(low, size, extent, at)?, is_open: true };
    }
    Ok(Some(spans))
}

/// The number of positions that a copy beginning at `low` shares with a dimension.
fn common<'c: 'a, 'a>(
    low: i64,
    size: Size<'c, 'a>,
    extent: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Size<'c, 'a>, Refusal> {
    let before = 0i64.saturating_sub(low.min(0));
    if matches!(size, Size::Fixed(size) if size <= before) {
        return Ok(Size::Fixed(0));
    }
    let size = match size {
        Size::Fixed(size) => at.index(size)?,
        Size::Open(size) => size,
    };
    let index = Type::index(at.context);
    let less = |value, by: i64| match by {
        0 => Ok(value),
        by => at.scalar(ScalarOp::Sub, &[value, at.index(by)?], index),
    };
    let ends = [less(extent, low.max(0))?, less(size, before)?];
    let least = at.scalar(ScalarOp::Min, &ends, index)?;
    let most = at.scalar(ScalarOp::Max, &[least, at.index(0)?], index)?;
    Ok(Size::Open(most))
}

/// The part of the tensor that is read, with a border of a value; of zeros if none is given.
fn pad<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    spans: &[Span<'c, 'a>],
    around: Option<Scalar>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let unknown = || Refusal::Shape("reads a tensor of unknown type");
    let element = types::element_of(tensor.r#type()).ok_or_else(unknown)?;
    let all: Sizes = spans.iter().map(|span| span.size).collect();
    let kind = types::kind_of(element).ok_or_else(unknown)?;
    let around = types::nearest(around.unwrap_or(kind.default_value()), element);
    let around = at.constant(around, element)?;
    let r#type = types::of_extents(tensor.r#type(), &all.fixed);
    let border = at.fill_sized(around, r#type, &all.values)?;
    // Nothing of the tensor is read where a window is in the border only.
    let counts: Sizes = spans.iter().map(|span| span.count).collect();
    if counts.fixed.contains(&0) {
        return Ok(border);
    }
    let starts: Vec<i64> = spans.iter().map(|span| span.low.max(0)).collect();
    let offsets = spans.iter().map(|span| 0i64.saturating_sub(span.low.min(0)));
    let offsets: Vec<i64> = offsets.collect();
    let strides = vec![1; starts.len()];
    let whole = types::extents(tensor.r#type()).unwrap_or_default();
    let is_whole = counts.fixed == whole && !spans.iter().any(|span| span.is_open);
    let part = if is_whole { tensor } else { block::extract(tensor, &starts, &counts, &strides, at)? };
    Ok(block::insert(part, border, &offsets, &counts, &strides, at)?)
}
