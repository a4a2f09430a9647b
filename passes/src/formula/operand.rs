// SPDX-License-Identifier: Apache-2.0
//! Converts the reads of a formula to operands with indexing maps.

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

/// The maximum size of a copy with a border, as a multiple of its source. Reads that would need a larger copy check their subscripts
/// instead.
pub(crate) const COPIED_RATIO: i64 = 4;

/// A tensor and the element that each point of the loops reads.
pub(crate) struct Operand<'c, 'a> {
    pub tensor: Value<'c, 'a>,
    pub forms: Vec<Affine>,
}

/// The operands of a formula, and the operand that each access reads.
pub(crate) struct Operands<'c, 'a> {
    pub list: Vec<Operand<'c, 'a>>,
    /// The position of the operand that an access reads.
    pub(crate) of_access: HashMap<TermId, usize>,
}

/// The subscripts that are read, by dimension; `None` for all subscripts of a dynamic dimension.
type Reach = Vec<Option<Interval>>;

const UNKNOWN: Refusal = Refusal::Shape("reads an unknown tensor");

/// An affine access.
struct Access<'c, 'a> {
    term: TermId,
    tensor: usize,
    forms: Vec<Affine>,
    /// The dimensions of the separate copy that it reads; `None` unless it may read beyond a dynamic extent.
    spans: Option<Vec<Span<'c, 'a>>>,
}

/// A dimension of a copy with a border.
#[derive(Clone, Copy)]
struct Span<'c, 'a> {
    /// The first subscript, which may be out of bounds.
    low: i64,
    size: Size<'c, 'a>,
    /// The number of positions in bounds.
    count: Size<'c, 'a>,
    /// Whether its end is dynamic.
    is_open: bool,
}

/// Converts every affine access below `roots` to an operand. An access that may be out of bounds (at skipped points) reads a copy
/// with a border, which contains zeros, or the value of `border`.
pub(crate) fn promote<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    domain: &Domain,
    open: &Open<'_, 'c, 'a>,
    roots: &[TermId],
    border: Option<&Border>,
    at: &Builder<'c, 'a>,
) -> Result<Operands<'c, 'a>, Refusal> {
    let nest = &reading.nest;
    let (accesses, reaches) = affine_accesses(reading, domain, open, roots, at)?;
    let moved = nest.kind == Accumulation::Assign
        && domain.always_holds()
        && matches!(roots, [root] if matches!(nest.terms.get(*root), Some(Term::Access { .. })));
    let requested = border.and_then(|b| match nest.terms.get(b.access) {
        Some(Term::Access { tensor, .. }) => Some((*tensor, b.value)),
        _ => None,
    });
    let mut sources: HashMap<usize, Value<'c, 'a>> = HashMap::new();
    let mut operands = Operands { list: Vec::new(), of_access: HashMap::new() };
    let mut known: HashMap<(usize, bool, Vec<Affine>), usize> = HashMap::new();
    for Access { term, tensor, forms, spans } in accesses {
        let key = (tensor, spans.is_some(), forms);
        if let Some(position) = known.get(&key) {
            operands.of_access.insert(term, *position);
            continue;
        }
        let original = *reading.tensors.get(tensor).ok_or(UNKNOWN)?;
        let extents = nest.tensors.get(tensor).map(|t| t.extents.as_slice()).ok_or(UNKNOWN)?;
        let around = requested.filter(|(bordered, _)| *bordered == tensor).map(|(_, value)| value);
        let reach = reaches.get(&tensor).filter(|r| leaves(r, extents));
        let (source, forms, inside) = match (&spans, reach) {
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

/// The affine accesses that become operands, and the reach in each tensor of those without a separate copy.
fn affine_accesses<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    domain: &Domain,
    open: &Open<'_, 'c, 'a>,
    roots: &[TermId],
    at: &Builder<'c, 'a>,
) -> Result<(Vec<Access<'c, 'a>>, HashMap<usize, Reach>), Refusal> {
    let mut affine: Vec<Access> = Vec::new();
    let mut reaches: HashMap<usize, Reach> = HashMap::new();
    for (term, tensor, subscripts) in reading.nest.accesses(roots) {
        let forms: Option<Vec<_>> = subscripts.iter().map(|s| domain.affine(&reading.nest, *s)).collect();
        let Some(forms) = forms else { continue };
        let Some(extents) = reading.nest.tensors.get(tensor).map(|t| &t.extents) else {
            continue;
        };
        let source = *reading.tensors.get(tensor).ok_or(UNKNOWN)?;
        let leaving: Vec<bool> =
            forms.iter().enumerate().map(|(dimension, f)| open.leaves(source, dimension, f)).collect();
        let Some(reach_of_access) = reach(&forms, &domain.extents, extents, &leaving) else {
            continue;
        };
        let has_own_copy = leaving.contains(&true);
        let merged: Reach = match reaches.get(&tensor).filter(|_| !has_own_copy) {
            Some(known) => known
                .iter()
                .zip(&reach_of_access)
                .map(|(a, b)| Some(a.as_ref()?.hull(*b.as_ref()?)))
                .collect(),
            None => reach_of_access,
        };
        if leaves(&merged, extents) && !affordable(&merged, extents) {
            continue;
        }
        let own_spans = if has_own_copy {
            // If each element is read at most once, the tensor is read directly.
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
        affine.push(Access { term, tensor, forms, spans: own_spans });
    }
    Ok((affine, reaches))
}

/// Subscripts of a copy that begins at these positions.
fn moved_by(forms: &[Affine], lows: impl Iterator<Item = i64>) -> Result<Vec<Affine>, Refusal> {
    let moved = forms.iter().zip(lows).map(|(form, low)| form.sub(&Affine::constant(low)));
    let moved: Option<_> = moved.collect();
    moved.ok_or(Refusal::Shape("has subscripts beyond 64 bits"))
}

/// Slices a tensor, so that subscripts that are one loop plus an offset become the loop alone, whose extent must be that of the
/// dimension. If elements are only moved (`moved`), slices may have steps too, because the slice may be the result. `inside`
/// has the dimensions that were created for their subscripts. `None` if skipped points may be outside of the slice.
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
            // Other subscripts are in bounds at all points that are not skipped.
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

/// The sizes of a part of a tensor; the extent for dimensions where `parts` is `None`.
fn sizes<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    parts: &[Option<Size<'c, 'a>>],
    at: &Builder<'c, 'a>,
) -> Result<Sizes<'c, 'a>, Refusal> {
    let extents = types::shape(tensor.r#type());
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

/// The ranges of subscripts in a tensor of these extents. For a dynamic extent, the range is the full dimension. `None` if
/// subscripts begin before a dynamic dimension and have no separate border, because the size of a shared border is unknown.
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

/// The spans of a copy of a tensor: the full extent of dynamic dimensions, and the reach of others.
fn fixed_spans<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    reach: &Reach,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Span<'c, 'a>>, Refusal> {
    let extents = types::shape(tensor.r#type());
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

/// The number of positions of a copy beginning at `low` that are in bounds.
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
        Size::Fixed(size) => at.idx(size),
        Size::Open(size) => size,
    };
    let index = Type::index(at.context);
    let less = |value, by: i64| match by {
        0 => Ok(value),
        by => at.scalar(ScalarOp::Sub, &[value, at.idx(by)], index),
    };
    let ends = [less(extent, low.max(0))?, less(size, before)?];
    let end = at.scalar(ScalarOp::Min, &ends, index)?;
    let count = at.scalar(ScalarOp::Max, &[end, at.idx(0)], index)?;
    Ok(Size::Open(count))
}

/// Copies the part of the tensor that is read into a tensor with a border. `around` is the value of the border; by default zero.
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
    // A copy that is entirely in the border has no elements of the tensor.
    let counts: Sizes = spans.iter().map(|span| span.count).collect();
    if counts.fixed.contains(&0) {
        return Ok(border);
    }
    let starts: Vec<i64> = spans.iter().map(|span| span.low.max(0)).collect();
    let offsets: Vec<i64> = spans.iter().map(|span| 0i64.saturating_sub(span.low.min(0))).collect();
    let strides = vec![1; starts.len()];
    let whole = types::shape(tensor.r#type());
    let is_whole = counts.fixed == whole && !spans.iter().any(|span| span.is_open);
    let part = if is_whole { tensor } else { block::extract(tensor, &starts, &counts, &strides, at)? };
    Ok(block::insert(part, border, &offsets, &counts, &strides, at)?)
}
