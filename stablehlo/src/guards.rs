// SPDX-License-Identifier: Apache-2.0
//! The conjuncts of a formula's predicate: those that depend on a reduced index, and those that skip whole reductions.

use super::constants::filler;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::Field;
use super::tensors::Tensors;
use melior::Error;
use melior::ir::Value;
use skript_dialect::melior;

/// One conjunct of a predicate.
#[derive(Clone, Debug)]
pub(crate) struct Conjunct<'c, 'a> {
    pub value: Value<'c, 'a>,
    pub(crate) field: Field<'c, 'a>,
}

/// A predicate, split by the indices that its conjuncts depend on.
pub(crate) struct Guards<'c, 'a> {
    pub inner: Vec<Conjunct<'c, 'a>>,
    pub(crate) outer: Vec<Conjunct<'c, 'a>>,
}

impl<'c: 'a, 'a> Guards<'c, 'a> {
    pub(crate) fn of(evaluator: &Evaluator<'_, 'c, 'a>, reduced: &[usize]) -> Result<Self, ExportError> {
        let (mut inner, mut outer) = (Vec::new(), Vec::new());
        for value in evaluator.conjuncts()? {
            let field = evaluator.field(value)?;
            let skips_parts = field.indices.iter().any(|i| reduced.contains(i));
            let list = if skips_parts { &mut inner } else { &mut outer };
            list.push(Conjunct { value, field });
        }
        Ok(Guards { inner, outer })
    }
}

/// The conjunction of all conjuncts; `None` if there are none.
pub(crate) fn all<'c: 'a, 'a>(
    conjuncts: &[Conjunct<'c, 'a>],
    evaluator: &Evaluator<'_, 'c, 'a>,
) -> Result<Option<Field<'c, 'a>>, ExportError> {
    let fields: Vec<_> = conjuncts.iter().map(|c| c.field.clone()).collect();
    evaluator.all(&fields)
}

/// The field with zeros where a condition on its indices does not hold; `None` if the condition has other indices.
pub(crate) fn zeroed<'c: 'a, 'a>(
    field: &Field<'c, 'a>,
    condition: &Field<'c, 'a>,
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<Option<Field<'c, 'a>>, Error> {
    if !condition.indices.iter().all(|i| field.indices.contains(i)) {
        return Ok(None);
    }
    let holds = condition.over(&field.indices, domain, at)?;
    let extents = at.extents(field.value)?;
    let element = at.element(field.value)?;
    let zero = at.splat(filler(element), &extents, element)?;
    Ok(Some(Field { value: at.select(holds, field.value, zero)?, indices: field.indices.clone() }))
}
