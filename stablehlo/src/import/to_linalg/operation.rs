// SPDX-License-Identifier: Apache-2.0
//! An operation with its tensors and attributes as plain data.

use crate::import::element::Element;
use melior::Context;
use melior::ir::attribute::{DenseElementsAttribute, DenseI64ArrayAttribute, IntegerAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{PassError, op};
use skript_passes::ir::{Builder, context, types};

/// The type of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The extents, outermost first.
    pub extents: Vec<i64>,
    /// The element type.
    pub element: Element,
}

impl Tensor {
    /// The type as a tensor; `None` unless it is ranked and its elements are supported.
    pub fn from_type(r#type: Type<'_>) -> Option<Tensor> {
        Some(Tensor {
            extents: types::extents(r#type)?,
            element: Element::from_type(types::element_of(r#type)?)?,
        })
    }

    pub(crate) fn with_extents(&self, extents: &[i64]) -> Tensor {
        Tensor { extents: extents.to_vec(), element: self.element }
    }

    /// The same extents with another element type.
    pub fn with_element(&self, element: Element) -> Tensor {
        Tensor { extents: self.extents.clone(), element }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// The number of elements.
    pub fn volume(&self) -> i64 {
        self.extents.iter().product()
    }

    /// Whether all extents are known.
    pub fn is_static(&self) -> bool {
        !self.extents.contains(&types::DYNAMIC)
    }

    /// The type in StableHLO.
    pub(crate) fn r#type<'c>(&self, context: &'c Context) -> Type<'c> {
        types::tensor(&self.extents, self.element.r#type(context))
    }

    /// `tensor<2x3xf32>`
    pub fn text(&self) -> String {
        let extent = |e: &i64| match *e {
            types::DYNAMIC => "?x".to_owned(),
            e => format!("{e}x"),
        };
        let extents: String = self.extents.iter().map(extent).collect();
        format!("tensor<{extents}{}>", self.element.text())
    }
}

/// The values that replace the results of an operation.
pub(crate) type Values<'c, 'a> = Result<Vec<Value<'c, 'a>>, PassError>;

/// An operation to convert.
pub(crate) struct SourceOp<'c, 'a> {
    pub op: OperationRef<'c, 'a>,
    /// The insertion point before the operation.
    pub at: Builder<'c, 'a>,
    /// The name without the dialect.
    pub name: String,
    pub values: Vec<Value<'c, 'a>>,
    pub(crate) operands: Vec<Tensor>,
    pub results: Vec<Tensor>,
}

impl<'c: 'a, 'a> SourceOp<'c, 'a> {
    /// An operation with static extents.
    pub(crate) fn with_static_extents(op: OperationRef<'c, 'a>) -> Result<Self, PassError> {
        let source = SourceOp::new(op)?;
        let mut all = source.operands.iter().chain(&source.results);
        if all.any(|t| t.extents.contains(&types::DYNAMIC)) {
            Err("has an extent known only at run time".into())
        } else {
            Ok(source)
        }
    }

    /// An operation that may have dynamic extents.
    pub(crate) fn new(op: OperationRef<'c, 'a>) -> Result<Self, PassError> {
        let values: Vec<Value> = op.operands().collect();
        let tensor = |t: Type<'_>| {
            Tensor::from_type(t).ok_or_else(|| PassError::from(format!("does not support {t}")))
        };
        let operands = values.iter().map(|v| tensor(v.r#type()));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let results = op.results().map(|r| tensor(r.r#type()));
        let results = results.collect::<Result<Vec<_>, _>>()?;
        let name = op::name(&op);
        let name = name.split_once('.').map_or("", |(_, n)| n).to_owned();
        let at = Builder::before(context::of(op), op)?;
        Ok(SourceOp { op, at, name, values, operands, results })
    }

    pub(crate) fn value(&self, n: usize) -> Result<Value<'c, 'a>, PassError> {
        self.values.get(n).copied().ok_or_else(|| "lacks an operand".into())
    }

    /// The type of the first result.
    pub(crate) fn result_type(&self) -> Result<Type<'c>, PassError> {
        Ok(self.result()?.r#type(self.at.context))
    }

    pub(crate) fn operand(&self, n: usize) -> Result<&Tensor, PassError> {
        self.operands.get(n).ok_or_else(|| "lacks an operand".into())
    }

    pub(crate) fn result(&self) -> Result<&Tensor, PassError> {
        self.results.first().ok_or_else(|| "lacks a result".into())
    }

    /// A list of integers; `None` if the attribute is absent.
    pub(crate) fn i64s(&self, name: &str) -> Option<Vec<i64>> {
        let attribute = self.op.attribute(name).ok()?;
        let list = DenseI64ArrayAttribute::try_from(attribute).ok()?;
        (0..list.len()).map(|n| list.element(n).ok()).collect()
    }

    /// A required list of integers.
    pub(crate) fn list(&self, name: &str) -> Result<Vec<i64>, PassError> {
        let missing = || PassError::from(format!("lacks its attribute {name}"));
        self.i64s(name).ok_or_else(missing)
    }

    /// The pairs of a `tensor<Nx2xi64>`, such as padding; `count` zeros if the attribute is absent.
    pub(crate) fn pairs(&self, name: &str, count: usize) -> Result<Vec<(i64, i64)>, PassError> {
        let Ok(attribute) = self.op.attribute(name) else {
            return Ok(vec![(0, 0); count]);
        };
        let dense = DenseElementsAttribute::try_from(attribute)?;
        let all: Vec<i64> = (0..2 * count)
            .map(|n| dense.i64_element(if dense.is_splat() { 0 } else { n }))
            .collect::<Result<_, _>>()?;
        let pair = |pair: &[i64; 2]| (pair[0], pair[1]);
        Ok(all.as_chunks().0.iter().map(pair).collect())
    }

    pub(crate) fn i64(&self, name: &str) -> Option<i64> {
        let attribute = self.op.attribute(name).ok()?;
        Some(IntegerAttribute::try_from(attribute).ok()?.value())
    }

    /// A required integer.
    pub(crate) fn required(&self, name: &str) -> Result<i64, PassError> {
        self.i64(name).ok_or_else(|| format!("lacks its attribute {name}").into())
    }

    /// A list of bools; empty if the attribute is absent.
    pub(crate) fn bools(&self, name: &str) -> Vec<bool> {
        let Ok(attribute) = self.op.attribute(name) else {
            return Vec::new();
        };
        let text = attribute.to_string();
        let list = text.trim_start_matches("array<i1: ").trim_end_matches('>');
        let items = list.split(',').map(str::trim);
        items.filter(|i| !i.is_empty()).map(|i| i == "true").collect()
    }

    /// The list of `key = [1, 2]` or `key = 1` in a dimension-numbers attribute; empty if the key is absent.
    pub(crate) fn numbers(&self, attribute: &str, key: &str) -> Vec<i64> {
        let Ok(attribute) = self.op.attribute(attribute) else {
            return Vec::new();
        };
        numbers(&attribute.to_string(), key)
    }
}

fn numbers(text: &str, key: &str) -> Vec<i64> {
    let wanted = format!("{key} = ");
    // `input_batching_dims` contains `batching_dims`, so the key must begin a word.
    let start = text.match_indices(&wanted).find(|(at, _)| {
        text.get(..*at).and_then(|t| t.chars().next_back()).is_none_or(|c| !(c.is_alphanumeric() || c == '_'))
    });
    let Some(value) = start.and_then(|(at, _)| text.get(at + wanted.len()..)) else {
        return Vec::new();
    };
    let list = match value.strip_prefix('[') {
        Some(list) => list.split_once(']').map(|(list, _)| list),
        None => value.split([',', '>']).next(),
    };
    let items = list.into_iter().flat_map(|list| list.split(','));
    items.filter_map(|n| n.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_complete_words() {
        let text =
            "#stablehlo.gather<operand_batching_dims = [0], batching_dims = [1, 2], index_vector_dim = 3>";
        assert_eq!(numbers(text, "batching_dims"), [1, 2]);
        assert_eq!(numbers(text, "index_vector_dim"), [3]);
        assert!(numbers(text, "offset_dims").is_empty());
    }
}
