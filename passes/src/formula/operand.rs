//! Reads of a formula as operands with indexing maps.

use super::border::Border;
use super::domain::Domain;
use super::{Refusal, block};
use crate::mlir::{Builder, types};
use crate::structure::{Affine, Reading, Term, TermId};
use melior::ir::{Value, ValueLike};
use skript_semantics::Scalar;
use std::collections::HashMap;

/// A padded copy may hold this many times the elements of its source; a read beyond that checks its place instead.
const PADDED_RATIO: i64 = 4;

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

/// Rows to add below and above each dimension.
type Padding = Vec<(i64, i64)>;

/// Makes every affine access below `roots` an operand; where it may leave its tensor (at points that are skipped), of
/// a copy with a border: of zeros, or of what is asked for around the tensor of one access.
pub fn promote<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    domain: &Domain,
    roots: &[TermId],
    border: Option<Border>,
    at: &Builder<'c, 'a>,
) -> Result<Operands<'c, 'a>, Refusal> {
    let nest = &reading.nest;
    let asked = border.and_then(|b| match nest.terms.get(b.access) {
        Some(Term::Access { tensor, .. }) => Some((*tensor, b.value)),
        _ => None,
    });
    let mut affine: Vec<(TermId, usize, Vec<Affine>)> = Vec::new();
    let mut paddings: HashMap<usize, Padding> = HashMap::new();
    for (term, tensor, subscripts) in nest.accesses(roots) {
        let forms: Option<Vec<_>> = subscripts.iter().map(|s| domain.affine(nest, *s)).collect();
        let Some(forms) = forms else { continue };
        let Some(extents) = nest.tensors.get(tensor).map(|t| &t.extents) else {
            continue;
        };
        let Some(needed) = padding(&forms, extents, &domain.extents) else {
            continue;
        };
        let merged: Padding = match paddings.get(&tensor) {
            Some(known) => known
                .iter()
                .zip(&needed)
                .map(|(a, b)| (a.0.max(b.0), a.1.max(b.1)))
                .collect(),
            None => needed,
        };
        if !affordable(&merged, extents) {
            continue;
        }
        paddings.insert(tensor, merged);
        affine.push((term, tensor, forms));
    }

    let mut sources: HashMap<usize, Value<'c, 'a>> = HashMap::new();
    let mut operands = Operands {
        list: Vec::new(),
        of_access: HashMap::new(),
    };
    let mut known: HashMap<(usize, Vec<Affine>), usize> = HashMap::new();
    for (term, tensor, forms) in affine {
        let padding = paddings.get(&tensor).cloned().unwrap_or_default();
        let forms: Vec<Affine> = forms
            .iter()
            .zip(&padding)
            .map(|(form, (low, _))| form.add(&Affine::constant(*low)))
            .collect::<Option<_>>()
            .ok_or(Refusal::Shape("has subscripts beyond 64 bits"))?;
        let source = match sources.get(&tensor) {
            Some(source) => *source,
            None => {
                let original = *reading
                    .tensors
                    .get(tensor)
                    .ok_or(Refusal::Shape("reads an unknown tensor"))?;
                let around = asked.filter(|(asked, _)| *asked == tensor);
                let source = pad(original, &padding, around.map(|(_, value)| value), at)?;
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
                    .push(window(source, forms, &domain.extents, at)?);
                operands.list.len() - 1
            }
        };
        operands.of_access.insert(term, position);
    }
    Ok(operands)
}

/// The part of a tensor that is read, where a subscript is one loop and an offset: a map of the loop alone must span its
/// dimension.
fn window<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    forms: Vec<Affine>,
    loops: &[i64],
    at: &Builder<'c, 'a>,
) -> Result<Operand<'c, 'a>, Refusal> {
    let unknown = || Refusal::Shape("reads a tensor of unknown type");
    let extents = types::extents(tensor.r#type()).ok_or_else(unknown)?;
    let element = types::element_of(tensor.r#type()).ok_or_else(unknown)?;
    let mut offsets = vec![0; extents.len()];
    let mut sizes = extents.clone();
    let mut inner = forms.clone();
    for (dimension, form) in forms.iter().enumerate() {
        let bare = match form.as_linear().as_deref() {
            Some([(index, 1)]) => *index,
            _ => continue,
        };
        let (Some(offset), Some(size), Some(form_inside), Some(count)) = (
            offsets.get_mut(dimension),
            sizes.get_mut(dimension),
            inner.get_mut(dimension),
            loops.get(bare),
        ) else {
            continue;
        };
        *offset = form.offset();
        *size = *count;
        *form_inside = Affine::index(bare);
    }
    if sizes == extents {
        return Ok(Operand { tensor, forms });
    }
    let strides = vec![1; extents.len()];
    let r#type = types::tensor(&sizes, element);
    Ok(Operand {
        tensor: block::extract(tensor, &offsets, &sizes, &strides, r#type, at)?,
        forms: inner,
    })
}

fn padding(forms: &[Affine], extents: &[i64], loops: &[i64]) -> Option<Padding> {
    forms
        .iter()
        .zip(extents)
        .map(|(form, extent)| {
            let range = form.range(loops)?;
            let low = range.low.checked_neg()?.max(0);
            let high = range.high.checked_sub(extent - 1)?.max(0);
            Some((low, high))
        })
        .collect()
}

fn affordable(padding: &Padding, extents: &[i64]) -> bool {
    if padding.iter().all(|p| *p == (0, 0)) {
        return true;
    }
    let volume = |sizes: &[i64]| sizes.iter().try_fold(1i64, |v, s| v.checked_mul(*s));
    let sizes: Vec<i64> = extents
        .iter()
        .zip(padding)
        .map(|(e, (low, high))| e.saturating_add(*low).saturating_add(*high))
        .collect();
    let (original, padded) = (volume(extents), volume(&sizes));
    match (original, padded) {
        (Some(original), Some(padded)) => {
            padded <= original.saturating_mul(PADDED_RATIO).saturating_add(4096)
        }
        _ => false,
    }
}

/// The tensor inside a border of a value, of zeros if none is given.
fn pad<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    padding: &Padding,
    around: Option<Scalar>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    if padding.iter().all(|p| *p == (0, 0)) {
        return Ok(tensor);
    }
    let unknown = || Refusal::Shape("reads a tensor of unknown type");
    let extents = types::extents(tensor.r#type()).ok_or_else(unknown)?;
    let element = types::element_of(tensor.r#type()).ok_or_else(unknown)?;
    let padded: Vec<i64> = extents
        .iter()
        .zip(padding)
        .map(|(e, (low, high))| e + low + high)
        .collect();
    let kind = types::kind_of(element).ok_or_else(unknown)?;
    let around = at.constant(around.unwrap_or(kind.default_value()), element)?;
    let border = at.fill(around, types::tensor(&padded, element))?;
    let offsets: Vec<i64> = padding.iter().map(|(low, _)| *low).collect();
    let strides = vec![1; offsets.len()];
    Ok(block::insert(
        tensor, border, &offsets, &extents, &strides, at,
    )?)
}
