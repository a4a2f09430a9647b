// SPDX-License-Identifier: Apache-2.0
//! Operands and results of named operations: a tensor, its changes, its shape, and the loops of each dimension.

use super::change::{Change, Step};
use crate::formula::reshape::reshape;
use crate::ir::{Builder, types};
use crate::structure::Affine;
use melior::ir::{Type, Value, ValueLike};
use skript_dialect::{PassError, melior};

/// A tensor after changes and a reshape, with its subscripts; or a scalar.
#[derive(Clone)]
pub(crate) struct Operand<'c, 'a> {
    /// The tensor before the changes.
    pub value: Value<'c, 'a>,
    /// Changes in order.
    pub changes: Vec<Change<'c, 'a>>,
    /// Extents; negative for dynamic ones.
    pub shape: Vec<i64>,
    /// The subscript of each dimension of the shape.
    pub forms: Vec<Affine>,
}

impl<'c: 'a, 'a> Operand<'c, 'a> {
    /// The type of the elements, after the changes; `None` for scalars.
    pub(crate) fn element(&self) -> Option<Type<'c>> {
        let computed = self.changes.iter().rev().find_map(|change| match &change.step {
            Step::Compute(factor) => Some(factor.element_type()),
            _ => None,
        });
        computed.or_else(|| types::element_of(self.value.r#type()))
    }

    /// The tensor after its changes, reshaped to its shape.
    pub(crate) fn shaped(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let mut value = self.value;
        for change in &self.changes {
            value = change.apply(value, at)?;
        }
        if types::extents(value.r#type()).as_ref() == Some(&self.shape) {
            return Ok(value);
        }
        let element = self.element().ok_or("an operand that is not a tensor")?;
        Ok(reshape(value, types::tensor(&self.shape, element), at)?)
    }

    /// Inverts changes and reshape for a result, which then has this type.
    pub(crate) fn restored(
        &self,
        result: Value<'c, 'a>,
        r#type: Type<'c>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let mut value = result;
        for change in self.changes.iter().rev() {
            value = change.undo(value, at)?;
        }
        Ok(reshape(value, r#type, at)?)
    }

    /// The loop of each dimension, if each dimension is indexed by a different loop.
    pub(crate) fn indices(&self) -> Option<Vec<usize>> {
        let indices: Vec<usize> = self.forms.iter().map(Affine::as_index).collect::<Option<_>>()?;
        let distinct = (1..indices.len()).all(|n| !indices.iter().take(n).any(|i| indices.get(n) == Some(i)));
        distinct.then_some(indices)
    }

    /// The operand without dimensions that have one element and are indexed by 0.
    pub(crate) fn without_units(&self) -> Self {
        let kept = |(form, extent): (&Affine, &i64)| form.as_constant() != Some(0) || *extent != 1;
        let dimensions = self.forms.iter().zip(&self.shape);
        let (forms, shape) =
            dimensions.filter(|d| kept(*d)).map(|(form, extent)| (form.clone(), *extent)).unzip();
        Operand { value: self.value, changes: self.changes.clone(), shape, forms }
    }

    /// Splits dimensions that are enumerated by several loops, one for each digit (`d0 * 4 + d1` with `d1 < 4`). `is_separate` must
    /// accept the outer loops, which then are not loops over positions of a window.
    pub(crate) fn unfolded(&self, extents: &[i64], is_separate: impl Fn(usize) -> bool) -> Self {
        let mut unfolded = Operand {
            value: self.value,
            changes: self.changes.clone(),
            shape: Vec::new(),
            forms: Vec::new(),
        };
        for (form, extent) in self.forms.iter().zip(&self.shape) {
            match digits(form, *extent, extents) {
                Some(digits) if digits.iter().rev().skip(1).all(|(index, _)| is_separate(*index)) => {
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

/// The loops that enumerate a dimension of this extent, outermost first, with their extents.
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
    fn digits_enumerate_a_dimension() {
        let form = |factor: i64| Affine::index(0).scale(factor).unwrap().add(&Affine::index(1)).unwrap();
        assert_eq!(digits(&form(4), 12, &[3, 4]), Some(vec![(0, 3), (1, 4)]));
        assert_eq!(digits(&form(4), 13, &[3, 4]), None);
        assert_eq!(digits(&form(2), 12, &[3, 4]), None);
        assert_eq!(digits(&Affine::index(0), 3, &[3, 4]), None);
    }
}
