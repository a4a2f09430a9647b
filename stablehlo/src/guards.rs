// SPDX-License-Identifier: Apache-2.0
//! The conjuncts of a formula's predicate. Inner conjuncts depend on a reduced index. Outer conjuncts do not: where one is
//! false, the whole reduction is skipped.

use super::constants::filler;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::Field;
use super::tensors::Tensors;
use melior::ir::Value;
use skript_dialect::melior;

/// One conjunct of a predicate.
#[derive(Clone, Debug)]
pub(crate) struct Conjunct<'c, 'a> {
    pub value: Value<'c, 'a>,
    pub(crate) field: Field<'c, 'a>,
}

/// The conjuncts of a predicate, split by the indices that they depend on.
pub(crate) struct Guards<'c, 'a> {
    /// Conjuncts that depend on a reduced index.
    pub inner: Vec<Conjunct<'c, 'a>>,
    /// Conjuncts that do not depend on a reduced index.
    pub(crate) outer: Vec<Conjunct<'c, 'a>>,
}

impl<'c: 'a, 'a> Guards<'c, 'a> {
    pub(crate) fn new(evaluator: &Evaluator<'_, 'c, 'a>, reduced: &[usize]) -> Result<Self, ExportError> {
        let (mut inner, mut outer) = (Vec::new(), Vec::new());
        for value in evaluator.conjuncts()? {
            let field = evaluator.field(value)?;
            let is_inner = field.indices.iter().any(|i| reduced.contains(i));
            let list = if is_inner { &mut inner } else { &mut outer };
            list.push(Conjunct { value, field });
        }
        Ok(Guards { inner, outer })
    }
}

/// The conjunction of conjuncts; `None` for an empty list.
pub(crate) fn all<'c: 'a, 'a>(
    conjuncts: &[Conjunct<'c, 'a>],
    evaluator: &Evaluator<'_, 'c, 'a>,
) -> Result<Option<Field<'c, 'a>>, ExportError> {
    evaluator.all(&conjuncts.iter().map(|c| c.field.clone()).collect::<Vec<_>>())
}

/// The field with zeros where a condition is false; `None` if the condition depends on indices that the field lacks.
pub(crate) fn zeroed<'c: 'a, 'a>(
    field: &Field<'c, 'a>,
    condition: &Field<'c, 'a>,
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Option<Field<'c, 'a>> {
    if !condition.indices.iter().all(|i| field.indices.contains(i)) {
        return None;
    }
    let holds = condition.over(&field.indices, domain, at);
    let extents = at.extents(field.value);
    let element = at.element(field.value);
    let zero = at.splat(filler(element), &extents, element);
    Some(Field { value: at.select(holds, field.value, zero), indices: field.indices.clone() })
}
