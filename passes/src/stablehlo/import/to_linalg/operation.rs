//! An operation with its tensors and attributes as plain data.

use crate::mlir::splice::{Lines, Spliced, splice};
use crate::mlir::types;
use crate::stablehlo::import::element::Element;
use melior::ir::attribute::{DenseI64ArrayAttribute, IntegerAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{PassError, op};

/// The type of a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub extents: Vec<i64>,
    pub element: Element,
}

impl Tensor {
    pub fn of(r#type: Type<'_>) -> Option<Tensor> {
        Some(Tensor {
            extents: types::extents(r#type)?,
            element: Element::of(types::element_of(r#type)?)?,
        })
    }

    pub fn with_extents(&self, extents: &[i64]) -> Tensor {
        Tensor {
            extents: extents.to_vec(),
            element: self.element,
        }
    }

    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// The number of elements.
    pub fn volume(&self) -> i64 {
        self.extents.iter().product()
    }

    /// `tensor<2x3xf32>`
    pub fn text(&self) -> String {
        let extents: String = self.extents.iter().map(|e| format!("{e}x")).collect();
        format!("tensor<{extents}{}>", self.element.text())
    }
}

/// An operation to convert.
pub struct Found<'c, 'a> {
    pub op: OperationRef<'c, 'a>,
    /// Without the dialect.
    pub name: String,
    pub values: Vec<Value<'c, 'a>>,
    pub operands: Vec<Tensor>,
    pub results: Vec<Tensor>,
}

impl<'c: 'a, 'a> Found<'c, 'a> {
    pub fn of(op: OperationRef<'c, 'a>) -> Result<Self, PassError> {
        let values: Vec<Value> = op.operands().collect();
        let tensor = |t: Type<'_>| {
            Tensor::of(t).ok_or_else(|| PassError::from(format!("has no code for {t}")))
        };
        let operands = values.iter().map(|v| tensor(v.r#type()));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let results = op.results().map(|r| tensor(r.r#type()));
        let results = results.collect::<Result<Vec<_>, _>>()?;
        let name = op::name(&op);
        let name = name.split_once('.').map_or("", |(_, n)| n).to_owned();
        if operands
            .iter()
            .chain(&results)
            .any(|t| t.extents.contains(&i64::MIN))
        {
            return Err("has an extent known only at run time".into());
        }
        Ok(Found {
            op,
            name,
            values,
            operands,
            results,
        })
    }

    pub fn operand(&self, n: usize) -> Result<&Tensor, PassError> {
        self.operands
            .get(n)
            .ok_or_else(|| "lacks an operand".into())
    }

    pub fn result(&self) -> Result<&Tensor, PassError> {
        self.results.first().ok_or_else(|| "lacks a result".into())
    }

    /// A list of integers; `None` if it is not given.
    pub fn i64s(&self, name: &str) -> Option<Vec<i64>> {
        let attribute = self.op.attribute(name).ok()?;
        let list = DenseI64ArrayAttribute::try_from(attribute).ok()?;
        (0..list.len()).map(|n| list.element(n).ok()).collect()
    }

    /// A list of integers that must be there.
    pub fn list(&self, name: &str) -> Result<Vec<i64>, PassError> {
        let missing = || PassError::from(format!("lacks its attribute {name}"));
        self.i64s(name).ok_or_else(missing)
    }

    pub fn i64(&self, name: &str) -> Option<i64> {
        let attribute = self.op.attribute(name).ok()?;
        Some(IntegerAttribute::try_from(attribute).ok()?.value())
    }

    /// The text before the operation; gives what stands for its results.
    pub fn splice(&self, lines: &Lines, results: &[String]) -> Result<Spliced<'c, 'a>, PassError> {
        let typed = results.iter().zip(&self.results);
        let typed: Vec<_> = typed.map(|(n, t)| (n.clone(), t.text())).collect();
        splice(self.op, &self.values, lines.text(), &typed)
    }

    /// As [`Found::splice`], for texts without payload and with one result.
    pub fn replace(&self, lines: &Lines, result: &str) -> Result<Vec<Value<'c, 'a>>, PassError> {
        Ok(self.splice(lines, &[result.to_owned()])?.values)
    }
}
