//! Operators without a body: what the language cannot express, by qualified name. The only place of this crate that knows
//! operators by name.

mod boxes;
mod random;
mod resample;
mod search;

use crate::block::flattened;
use crate::error::{EvalError, Failure, internal};
use crate::frame::Frame;
use skript_frontend::model::AttributeValue;
use skript_semantics::ScalarKind;
use skript_tensor::Tensor;
use std::sync::Arc;

type Kernel = fn(&Call<'_, '_>) -> Result<Vec<Tensor>, EvalError>;

const TABLE: [(&str, Kernel); 10] = [
    ("algo.top_k", search::largest),
    ("algo.nonmax_suppress", boxes::suppress),
    ("layout.nonzero", search::positions),
    ("image.cubic_resize", resample::cubic),
    ("image._cubic_grid_sample", resample::cubic_at),
    ("image.max_roi_pool", boxes::region_maximum),
    ("image.avg_roi_pool", boxes::region_mean),
    ("rand.uniform", random::uniform),
    ("rand.normal", random::normal),
    ("rand.bernoulli", random::bernoulli),
];

/// Computes the outputs of the function of `frame`, which has no body.
pub(crate) fn call(
    frame: &Frame<'_>,
    inputs: &[Arc<Tensor>],
    seed: u64,
) -> Result<Vec<Tensor>, EvalError> {
    let name = &frame.function.name;
    let Some((_, kernel)) = TABLE.iter().find(|row| row.0 == name) else {
        return Err(Failure::UnknownIntrinsic(name.clone()).into());
    };
    kernel(&Call {
        frame,
        inputs,
        seed,
    })
}

/// One invocation of an intrinsic.
struct Call<'f, 'm> {
    frame: &'f Frame<'m>,
    inputs: &'f [Arc<Tensor>],
    seed: u64,
}

impl Call<'_, '_> {
    fn attribute(&self, name: &str) -> Result<&AttributeValue, EvalError> {
        let attributes = &self.frame.function.attributes;
        attributes
            .iter()
            .find(|a| a.0 == name)
            .map(|a| &a.1)
            .ok_or_else(|| self.wrong(format!("attribute {name} is missing")))
    }

    fn int(&self, name: &str) -> Result<i64, EvalError> {
        match self.attribute(name)? {
            AttributeValue::Int(i) => Ok(*i),
            _ => Err(self.wrong(format!("attribute {name} is no int"))),
        }
    }

    fn real(&self, name: &str) -> Result<f64, EvalError> {
        number(self.attribute(name)?)
            .ok_or_else(|| self.wrong(format!("attribute {name} is no number")))
    }

    fn optional_real(&self, name: &str) -> Result<Option<f64>, EvalError> {
        match self.attribute(name)? {
            AttributeValue::Null => Ok(None),
            _ => self.real(name).map(Some),
        }
    }

    fn bool(&self, name: &str) -> Result<bool, EvalError> {
        match self.attribute(name)? {
            AttributeValue::Bool(b) => Ok(*b),
            _ => Err(self.wrong(format!("attribute {name} is no bool"))),
        }
    }

    fn text(&self, name: &str) -> Result<&str, EvalError> {
        match self.attribute(name)? {
            AttributeValue::Str(s) => Ok(s),
            _ => Err(self.wrong(format!("attribute {name} is no str"))),
        }
    }

    fn ints(&self, name: &str) -> Result<Vec<i64>, EvalError> {
        let wrong = || self.wrong(format!("attribute {name} is no list of ints"));
        match self.attribute(name)? {
            AttributeValue::List(items) => items
                .iter()
                .map(|i| match i {
                    AttributeValue::Int(i) => Some(*i),
                    _ => None,
                })
                .collect::<Option<_>>()
                .ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }

    fn input(&self, position: usize) -> Result<&Tensor, EvalError> {
        self.inputs
            .get(position)
            .map(Arc::as_ref)
            .ok_or_else(|| internal("an intrinsic lacks an input"))
    }

    fn reals(&self, position: usize) -> Result<&[f32], EvalError> {
        self.input(position)?
            .as_f32()
            .ok_or_else(|| self.wrong(format!("input {position} is not real")))
    }

    /// The extents of an input.
    fn shape(&self, position: usize) -> Result<Vec<usize>, EvalError> {
        extents(self.input(position)?.shape())
    }

    /// The extents and kind that an output's type states.
    fn output(&self, position: usize) -> Result<(Vec<u64>, ScalarKind), EvalError> {
        let ids = flattened(&self.frame.function.outputs);
        let &id = ids
            .get(position)
            .ok_or_else(|| internal("an intrinsic lacks an output"))?;
        let kind = self.frame.declared(id)?.tensor.kind;
        Ok((self.frame.shape(id)?, kind))
    }

    fn wrong(&self, reason: String) -> EvalError {
        EvalError::new(Failure::Intrinsic {
            operator: self.frame.function.name.clone(),
            reason,
        })
    }
}

fn number(value: &AttributeValue) -> Option<f64> {
    match value {
        AttributeValue::Real(x) => Some(*x),
        AttributeValue::Int(i) => Some(*i as f64),
        _ => None,
    }
}

fn extents(shape: &[u64]) -> Result<Vec<usize>, EvalError> {
    shape
        .iter()
        .map(|&n| usize::try_from(n).map_err(|_| internal("an extent is no usize")))
        .collect()
}

/// A dimension counted from the end if negative.
fn axis(value: i64, rank: usize) -> Option<usize> {
    let shifted = if value < 0 {
        value.checked_add(i64::try_from(rank).ok()?)?
    } else {
        value
    };
    usize::try_from(shifted).ok().filter(|&a| a < rank)
}

/// A slice element, 0 outside.
fn at(values: &[f32], position: usize) -> f32 {
    values.get(position).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
