// SPDX-License-Identifier: Apache-2.0
//! One activation of a function: its tensors and dynamic extents.

use crate::Settings;
use crate::error::{EvalError, Failure, internal};
use skript_frontend::model::{ConstantData, Extent, Function, ShapeExpr, TensorType, Value, ValueId};
use skript_semantics::{Numbers, Scalar};
use skript_tensor::{ElementType, Tensor};
use std::collections::HashMap;
use std::sync::Arc;

pub(crate) struct Frame<'m> {
    pub function: &'m Function,
    /// The scoped name of this activation: `main.G.label`.
    pub path: String,
    pub(crate) settings: &'m Settings,
    pub numbers: Numbers,
    values: Vec<Option<Arc<Tensor>>>,
    /// Dynamic extents by name, with the tensor that defined each.
    symbols: HashMap<String, (i64, Option<ValueId>)>,
}

impl<'m> Frame<'m> {
    pub(crate) fn new(
        function: &'m Function,
        path: String,
        settings: &'m Settings,
        numbers: Numbers,
    ) -> Self {
        Frame {
            settings,
            numbers,
            function,
            path,
            values: vec![None; function.values.len()],
            symbols: HashMap::new(),
        }
    }

    pub(crate) fn declared(&self, id: ValueId) -> Result<&'m Value, EvalError> {
        self.function
            .values
            .get(id.0 as usize)
            .ok_or_else(|| internal(format!("{} has no value {}", self.function.name, id.0)))
    }

    /// Sets the dynamic extents that no input defines.
    pub(crate) fn define_extents(&mut self, extents: &[i64]) -> Result<(), EvalError> {
        if extents.len() != self.function.extents.len() {
            return Err(internal(format!(
                "{} has {} extents, but {} are passed",
                self.function.name,
                self.function.extents.len(),
                extents.len()
            )));
        }
        for (name, extent) in self.function.extents.iter().zip(extents) {
            self.symbols.insert(name.clone(), (*extent, None));
        }
        Ok(())
    }

    /// The name of a value in messages.
    pub(crate) fn name(&self, id: ValueId) -> String {
        self.function
            .values
            .get(id.0 as usize)
            .and_then(|v| v.name.clone())
            .unwrap_or_else(|| format!("tensor {}", id.0))
    }

    pub(crate) fn get(&self, id: ValueId) -> Result<&Arc<Tensor>, EvalError> {
        self.values.get(id.0 as usize).and_then(Option::as_ref).ok_or_else(|| {
            internal(format!("{} of {} is used before it is computed", self.name(id), self.function.name))
        })
    }

    pub(crate) fn all(&self, ids: &[ValueId]) -> Result<Vec<Arc<Tensor>>, EvalError> {
        ids.iter().map(|&id| self.get(id).cloned()).collect()
    }

    /// Binds a tensor to a value; checks it against the declared type and defines dynamic extents from it.
    pub(crate) fn bind(&mut self, id: ValueId, tensor: Arc<Tensor>) -> Result<(), EvalError> {
        let TensorType { kind, shape } = &self.declared(id)?.tensor;
        if tensor.element() != self.element(id)? {
            return Err(Failure::Tensor(skript_tensor::TensorError::Kind {
                what: self.name(id),
                expected: *kind,
                got: tensor.element(),
            })
            .into());
        }
        if tensor.shape().len() != shape.len() {
            return Err(Failure::Rank {
                name: self.name(id),
                expected: shape.len(),
                got: tensor.shape().len(),
            }
            .into());
        }
        for (dimension, (extent, &got)) in shape.iter().zip(tensor.shape()).enumerate() {
            self.agree(id, dimension, extent, got)?;
        }
        if let Some(slot) = self.values.get_mut(id.0 as usize) {
            *slot = Some(tensor);
        }
        Ok(())
    }

    fn agree(&mut self, id: ValueId, dimension: usize, extent: &Extent, got: u64) -> Result<(), EvalError> {
        let expected = match extent {
            Extent::Fixed(n) => i64::try_from(*n).ok(),
            Extent::Dynamic { expr, bound } => {
                if got > *bound {
                    return Err(Failure::Bound { name: self.name(id), dimension, bound: *bound, got }.into());
                }
                if let ShapeExpr::Symbol(name) = expr.as_ref() {
                    // A tensor that is recomputed in the next iteration of a loop may have another extent.
                    let known = self.symbols.get(name).filter(|(_, owner)| *owner != Some(id));
                    if known.is_none() {
                        self.symbols.insert(name.clone(), (got.cast_signed(), Some(id)));
                    }
                }
                self.evaluate(expr)
            }
        };
        match expected {
            Some(expected) if u64::try_from(expected) != Ok(got) => {
                Err(Failure::Extent { name: self.name(id), dimension, expected, got }.into())
            }
            _ => Ok(()),
        }
    }

    /// The value of a dynamic extent; `None` while a symbol in it is undefined.
    fn evaluate(&self, expr: &ShapeExpr) -> Option<i64> {
        self.scalar(expr).map(Scalar::to_int)
    }

    /// The value of an expression over dynamic extents, with conditions as 0 and 1; `None` while a symbol in it is
    /// undefined.
    pub(crate) fn scalar(&self, expr: &ShapeExpr) -> Option<Scalar> {
        match expr {
            ShapeExpr::Constant(n) => Some(Scalar::Int(*n)),
            ShapeExpr::Real(bits) => Some(Scalar::Real(f64::from_bits(*bits))),
            ShapeExpr::Symbol(name) => self.symbols.get(name).map(|s| Scalar::Int(s.0)),
            ShapeExpr::Apply { op, operands } => {
                let operands: Vec<Scalar> = operands.iter().map(|o| self.scalar(o)).collect::<Option<_>>()?;
                Some(match op.eval(&operands) {
                    Scalar::Bool(condition) => Scalar::Int(i64::from(condition)),
                    number => number,
                })
            }
        }
    }

    /// An extent as an int, if its symbols are defined.
    pub(crate) fn known_extent(&self, extent: &Extent) -> Option<i64> {
        match extent {
            Extent::Fixed(n) => i64::try_from(*n).ok(),
            Extent::Dynamic { expr, .. } => self.evaluate(expr),
        }
    }

    /// Like [`Frame::extent`], as an int.
    pub(crate) fn int_extent(&self, extent: &Extent) -> Result<i64, EvalError> {
        signed(self.extent(extent)?)
    }

    /// An extent whose symbols must be defined; negative extents count as 0.
    pub(crate) fn extent(&self, extent: &Extent) -> Result<u64, EvalError> {
        match extent {
            Extent::Fixed(n) => Ok(*n),
            Extent::Dynamic { expr, bound } => {
                let value = self.evaluate(expr).ok_or_else(|| {
                    internal(format!("a dynamic extent of {} is used before it is known", self.function.name))
                })?;
                let got = value.max(0).cast_unsigned();
                if got > *bound {
                    return Err(Failure::Bound {
                        name: self.function.name.clone(),
                        dimension: 0,
                        bound: *bound,
                        got,
                    }
                    .into());
                }
                Ok(got)
            }
        }
    }

    /// The extents of a value before it is computed.
    pub(crate) fn shape(&self, id: ValueId) -> Result<Vec<u64>, EvalError> {
        let extents = &self.declared(id)?.tensor.shape;
        let shape: Vec<u64> = extents.iter().map(|e| self.extent(e)).collect::<Result<_, _>>()?;
        let limit = self.settings.max_elements;
        match skript_tensor::shape::volume(&shape) {
            Some(volume) if volume <= limit => Ok(shape),
            _ => Err(Failure::TooManyElements { name: self.name(id), shape, limit }.into()),
        }
    }

    /// A constant tensor of the type of `id`.
    pub(crate) fn constant(&self, id: ValueId, data: &ConstantData) -> Result<Tensor, EvalError> {
        let shape = self.shape(id)?;
        let element = self.element(id)?;
        Ok(match data {
            ConstantData::Splat(scalar) => splat(element, &shape, *scalar)?,
            ConstantData::Bool(values) => Tensor::from_bool(&shape, values)?,
            ConstantData::Int(values) => {
                Tensor::from_scalars(element, &shape, values.iter().map(|i| Scalar::Int(*i)))?
            }
            ConstantData::Real(values) => {
                Tensor::from_scalars(element, &shape, values.iter().map(|x| Scalar::Real(*x)))?
            }
        })
    }

    /// The type of a value's elements.
    pub(crate) fn element(&self, id: ValueId) -> Result<ElementType, EvalError> {
        let declared = self.declared(id)?;
        let numbers = self.function.numbers_of(declared);
        Ok(ElementType::for_kind(declared.tensor.kind, numbers))
    }
}

/// An extent as an int.
pub(crate) fn signed(extent: u64) -> Result<i64, EvalError> {
    i64::try_from(extent).map_err(|_| internal(format!("extent {extent} is too large")))
}

/// A tensor filled with one value.
pub(crate) fn splat(
    element: ElementType,
    shape: &[u64],
    value: Scalar,
) -> Result<Tensor, skript_tensor::TensorError> {
    let volume = Tensor::zeros(element, shape)?.volume();
    Tensor::from_scalars(element, shape, std::iter::repeat_n(value, volume))
}
