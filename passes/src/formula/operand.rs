//! Reads of a formula as operands with indexing maps.

use super::border::Border;
use super::domain::Domain;
use super::open::{Fit, Open, Size, Sizes};
use super::{Refusal, block};
use crate::mlir::{Builder, types};
use crate::structure::affine::Range;
use crate::structure::{Affine, LARGEST_EXTENT, Reading, Term, TermId};
use melior::ir::{Value, ValueLike};
use skript_frontend::model::Accumulation;
use skript_semantics::Scalar;
use std::collections::HashMap;

/// A bordered copy may hold this many times the elements of its source; a read beyond that checks its place instead.
const COPIED_RATIO: i64 = 4;

/// A tensor and the element that each point of the loops reads.
pub struct Operand<'c, 'a> {
    pub tensor: Value<'c, 'a>,
    pub forms: Vec<Affine>,
}

/// The operands of a formula and which access reads which.
pub struct Operands<'c, 'a> {
    pub list: Vec<Operand<'c, 'a>>,
    /// Accesses that are operands.
    pub of_access: HashMap<TermId, usize>,
}

/// The places that are read, by dimension.
type Reach = Vec<Range>;

/// Makes every affine access below `roots` an operand; where it may leave its tensor (at points that are skipped), of
/// a copy with a border: of zeros, or of what is asked for around the tensor of one access.
pub fn promote<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    domain: &Domain,
    open: &Open<'_, 'c, 'a>,
    roots: &[TermId],
    border: Option<Border>,
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
    let mut affine: Vec<(TermId, usize, Vec<Affine>)> = Vec::new();
    let mut reaches: HashMap<usize, Reach> = HashMap::new();
    for (term, tensor, subscripts) in nest.accesses(roots) {
        let forms: Option<Vec<_>> = subscripts.iter().map(|s| domain.affine(nest, *s)).collect();
        let Some(forms) = forms else { continue };
        let Some(extents) = nest.tensors.get(tensor).map(|t| &t.extents) else {
            continue;
        };
        let Some(own) = reach(&forms, &domain.extents, extents) else {
            continue;
        };
        let merged: Reach = match reaches.get(&tensor) {
            Some(known) => known.iter().zip(&own).map(|(a, b)| union(*a, *b)).collect(),
            None => own,
        };
        if leaves(&merged, extents) && !affordable(&merged, extents) {
            continue;
        }
        reaches.insert(tensor, merged);
        affine.push((term, tensor, forms));
    }

    let mut sources: HashMap<usize, Value<'c, 'a>> = HashMap::new();
    let mut operands = Operands {
        list: Vec::new(),
        of_access: HashMap::new(),
    };
    let mut known: HashMap<(usize, Vec<Affine>), usize> = HashMap::new();
    for (term, tensor, forms) in affine {
        let unknown = || Refusal::Shape("reads an unknown tensor");
        let original = *reading.tensors.get(tensor).ok_or_else(unknown)?;
        let extents = nest.tensors.get(tensor).map(|t| t.extents.as_slice());
        let extents = extents.ok_or_else(unknown)?;
        let reach = reaches.get(&tensor).filter(|r| leaves(r, extents));
        let forms: Vec<Affine> = match reach {
            Some(reach) => forms
                .iter()
                .zip(reach)
                .map(|(form, range)| form.sub(&Affine::constant(range.low)))
                .collect::<Option<_>>()
                .ok_or(Refusal::Shape("has subscripts beyond 64 bits"))?,
            None => forms,
        };
        let source = match (sources.get(&tensor), reach) {
            (Some(source), _) => *source,
            (None, None) => original,
            (None, Some(reach)) => {
                let around = asked.filter(|(asked, _)| *asked == tensor);
                let source = pad(original, extents, reach, around.map(|(_, value)| value), at)?;
                sources.insert(tensor, source);
                source
            }
        };
        let position = match known.get(&(tensor, forms.clone())) {
            Some(position) => *position,
            None => {
                known.insert((tensor, forms.clone()), operands.list.len());
                operands
                    .list
                    .push(window(source, forms, domain, open, moved, at)?);
                operands.list.len() - 1
            }
        };
        operands.of_access.insert(term, position);
    }
    Ok(operands)
}

/// The part of a tensor that is read, where a subscript is one loop and an offset: a map of the loop alone must span its
/// dimension. Of what is only moved, parts with steps too: the part may be all that is asked for.
fn window<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    forms: Vec<Affine>,
    domain: &Domain,
    open: &Open<'_, 'c, 'a>,
    moved: bool,
    at: &Builder<'c, 'a>,
) -> Result<Operand<'c, 'a>, Refusal> {
    let mut offsets = vec![0; forms.len()];
    let mut strides = vec![1; forms.len()];
    let mut parts: Vec<Option<Size>> = vec![None; forms.len()];
    let mut inner = forms.clone();
    for (dimension, form) in forms.iter().enumerate() {
        let (bare, step) = match form.as_linear().as_deref() {
            Some([(index, step)]) if *step == 1 || (moved && *step > 1) => (*index, *step),
            // Elsewhere, subscripts stay inside wherever points count.
            _ => {
                open.stays_inside(tensor, dimension)?;
                continue;
            }
        };
        let count = open.size(domain, bare);
        let fit = open.fit(tensor, dimension, count)?;
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
        return Ok(Operand { tensor, forms });
    }
    let sizes = sizes(tensor, &parts, at)?;
    Ok(Operand {
        tensor: block::extract(tensor, &offsets, &sizes, &strides, at)?,
        forms: inner,
    })
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

/// What subscripts reach in a tensor of these extents: of one that only a run knows, all of it.
fn reach(forms: &[Affine], loops: &[i64], extents: &[i64]) -> Option<Reach> {
    let forms = forms.iter().zip(extents);
    let ranges = forms.map(|(form, extent)| {
        let range = form.range(loops)?;
        let all = Range {
            low: 0,
            high: LARGEST_EXTENT - 1,
        };
        match *extent == LARGEST_EXTENT && range.low >= 0 && range.high <= all.high {
            true => Some(all),
            false => Some(range),
        }
    });
    ranges.collect()
}

fn union(a: Range, b: Range) -> Range {
    Range {
        low: a.low.min(b.low),
        high: a.high.max(b.high),
    }
}

fn leaves(reach: &Reach, extents: &[i64]) -> bool {
    reach
        .iter()
        .zip(extents)
        .any(|(range, extent)| range.low < 0 || range.high >= *extent)
}

fn affordable(reach: &Reach, extents: &[i64]) -> bool {
    let mut volumes = (1i64, 1i64);
    for (range, extent) in reach.iter().zip(extents) {
        if *extent == LARGEST_EXTENT {
            // Nobody knows how much there is to be copied behind an extent that only a run knows.
            if range.low < 0 || range.high >= *extent {
                return false;
            }
            continue;
        }
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

/// The part of the tensor that is read, inside a border of a value, of zeros if none is given.
fn pad<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    extents: &[i64],
    reach: &Reach,
    around: Option<Scalar>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let unknown = || Refusal::Shape("reads a tensor of unknown type");
    let element = types::element_of(tensor.r#type()).ok_or_else(unknown)?;
    // An extent that only a run knows is copied as a whole.
    let counted = |ranges: &[Range]| -> Result<Sizes<'c, 'a>, Refusal> {
        let counts = ranges.iter().zip(extents).map(|(range, extent)| {
            let count = Size::Fixed(range.high - range.low + 1);
            (*extent != LARGEST_EXTENT).then_some(count)
        });
        sizes(tensor, &counts.collect::<Vec<_>>(), at)
    };
    let all = counted(reach)?;
    let kind = types::kind_of(element).ok_or_else(unknown)?;
    let around = types::nearest(around.unwrap_or(kind.default_value()), element);
    let around = at.constant(around, element)?;
    let r#type = types::of_extents(tensor.r#type(), &all.fixed);
    let border = at.fill_sized(around, r#type, &all.values)?;
    // What is read of the tensor itself; nothing where a window lies in the border alone.
    let inside = reach.iter().zip(extents);
    let inside: Vec<Range> = inside
        .map(|(range, extent)| Range {
            low: range.low.max(0),
            high: range.high.min(extent - 1),
        })
        .collect();
    if inside.iter().any(|r| r.high < r.low) {
        return Ok(border);
    }
    let starts: Vec<i64> = inside.iter().map(|r| r.low).collect();
    let counts = counted(&inside)?;
    let strides = vec![1; starts.len()];
    let whole = types::extents(tensor.r#type()).unwrap_or_default();
    let part = if counts.fixed == whole {
        tensor
    } else {
        block::extract(tensor, &starts, &counts, &strides, at)?
    };
    let offsets: Vec<i64> = inside
        .iter()
        .zip(reach)
        .map(|(i, r)| i.low - r.low)
        .collect();
    Ok(block::insert(
        part, border, &offsets, &counts, &strides, at,
    )?)
}
