//! A `linalg.generic` on tensors as plain data.

use super::payload::Payload;
use crate::mlir::{maps, types};
use crate::structure::Affine;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::melior;

/// A tensor, under a shape of the same elements, and how the loops read it; or a scalar.
#[derive(Clone)]
pub struct Operand<'c, 'a> {
    pub value: Value<'c, 'a>,
    /// Extents; those known only at run time are negative.
    pub shape: Vec<i64>,
    /// One for each dimension of the shape.
    pub forms: Vec<Affine>,
}

/// An operation with one result.
pub struct Generic<'c, 'a> {
    pub inputs: Vec<Operand<'c, 'a>>,
    pub output: Operand<'c, 'a>,
    /// Extents of the loops; negative where no operand tells them.
    pub extents: Vec<i64>,
    pub payload: Payload<'c, 'a>,
}

impl<'c: 'a, 'a> Generic<'c, 'a> {
    /// `None` where it works on buffers, has several results, reads at places that are not linear, reduces along what
    /// it writes, or computes what no named operation does.
    pub fn read(op: OperationRef<'c, 'a>) -> Option<Self> {
        let operands: Vec<Value<'c, 'a>> = op.operands().collect();
        let indexing = ArrayAttribute::try_from(op.attribute("indexing_maps").ok()?).ok()?;
        let iterators = ArrayAttribute::try_from(op.attribute("iterator_types").ok()?).ok()?;
        if indexing.len() != operands.len() || op.result_count() != 1 {
            return None;
        }
        let mut extents = vec![-1; iterators.len()];
        let mut inputs = Vec::new();
        for (position, value) in operands.into_iter().enumerate() {
            let forms = maps::forms(indexing.element(position).ok()?)?;
            let scalar = forms.is_empty().then(Vec::new);
            let shape = types::extents(value.r#type()).or(scalar)?;
            for (form, extent) in forms.iter().zip(&shape) {
                if let Some(index) = form.as_index() {
                    *extents.get_mut(index)? = *extent;
                }
            }
            inputs.push(Operand {
                value,
                shape,
                forms,
            });
        }
        let output = inputs.pop()?;
        for number in 0..extents.len() {
            let reduced = iterators.element(number).ok()?.to_string();
            let written = output.forms.iter().any(|f| f.as_index() == Some(number));
            if written == reduced.contains("reduction") {
                return None;
            }
        }
        let payload = Payload::read(op, inputs.len())?;
        Some(Generic {
            inputs,
            output,
            extents,
            payload,
        })
    }

    pub fn extent(&self, number: usize) -> i64 {
        self.extents.get(number).copied().unwrap_or(-1)
    }
}

impl Operand<'_, '_> {
    /// Loops by dimension, if each dimension is one loop and no two are the same.
    pub fn indices(&self) -> Option<Vec<usize>> {
        let indices: Vec<usize> = self
            .forms
            .iter()
            .map(Affine::as_index)
            .collect::<Option<_>>()?;
        let distinct =
            (1..indices.len()).all(|n| !indices.iter().take(n).any(|i| indices.get(n) == Some(i)));
        distinct.then_some(indices)
    }

    /// Without the dimensions of one element that the loops read at 0.
    pub fn without_units(&self) -> Self {
        let kept = |(form, extent): (&Affine, &i64)| form.as_constant() != Some(0) || *extent != 1;
        let dimensions = self.forms.iter().zip(&self.shape);
        let (forms, shape) = dimensions
            .filter(|d| kept(*d))
            .map(|(form, extent)| (form.clone(), *extent))
            .unzip();
        Operand {
            value: self.value,
            shape,
            forms,
        }
    }

    /// With the dimensions split that several loops count through, digit by digit (`d0 * 4 + d1` where `d1` ends
    /// at 4), where `apart` says that the outer loops are no positions of a window.
    pub fn unfolded(&self, extents: &[i64], apart: impl Fn(usize) -> bool) -> Self {
        let mut unfolded = Operand {
            value: self.value,
            shape: Vec::new(),
            forms: Vec::new(),
        };
        for (form, extent) in self.forms.iter().zip(&self.shape) {
            match digits(form, *extent, extents) {
                Some(digits) if digits.iter().rev().skip(1).all(|(index, _)| apart(*index)) => {
                    for (index, count) in digits {
                        unfolded.shape.push(count);
                        unfolded.forms.push(Affine::index(index));
                    }
                }
                _ => {
                    unfolded.shape.push(*extent);
                    unfolded.forms.push(form.clone());
                }
            }
        }
        unfolded
    }
}

/// The loops that count through a dimension of this extent, outermost first, with their extents.
fn digits(form: &Affine, extent: i64, extents: &[i64]) -> Option<Vec<(usize, i64)>> {
    let mut terms = form.as_linear()?;
    if form.offset() != 0 || terms.len() < 2 {
        return None;
    }
    terms.sort_by_key(|(_, step)| std::cmp::Reverse(*step));
    let mut digits = Vec::new();
    let mut whole = 1i64;
    for (index, step) in terms.into_iter().rev() {
        let count = *extents.get(index)?;
        if step != whole || count < 1 {
            return None;
        }
        whole = whole.checked_mul(count)?;
        digits.insert(0, (index, count));
    }
    (whole == extent).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_count_through_a_dimension() {
        let form = |factor: i64| {
            Affine::index(0)
                .scale(factor)
                .unwrap()
                .add(&Affine::index(1))
                .unwrap()
        };
        assert_eq!(digits(&form(4), 12, &[3, 4]), Some(vec![(0, 3), (1, 4)]));
        assert_eq!(digits(&form(4), 13, &[3, 4]), None);
        assert_eq!(digits(&form(2), 12, &[3, 4]), None);
        assert_eq!(digits(&Affine::index(0), 3, &[3, 4]), None);
    }
}
