// SPDX-License-Identifier: Apache-2.0
//! Emits dynamic extents as index values.
//!
//! The first tensor whose extent is a symbol defines the value of the symbol. Every other extent is an expression over
//! symbols. Each extent is clamped to the range from zero to its upper bound, so that buffers have a maximum size and
//! later accesses are in bounds. If a value may exceed its upper bound, a check precedes the clamp.

use super::EmitError;
use super::check::report;
use super::scalars::{compare, segment, signed, within};
use super::scope::Scope;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_frontend::model::{Extent, ShapeExpr, ValueId};
use skript_frontend::source::Span;
use skript_semantics::{Scalar, ScalarOp};

impl<'c: 'a, 'a> Scope<'_, 'c, 'a, '_> {
    /// Extracts the slice with the dynamic extents from the beginning of a tensor whose extents are the upper bounds.
    pub(super) fn filled(
        &self,
        id: ValueId,
        whole: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        let result = self.r#type(id)?;
        let sizes = types::extents(result).ok_or(EmitError::Malformed("a value is not a tensor"))?;
        let open = self.open_extents(id, at)?;
        if types::extents(whole.r#type()).is_some_and(|bounds| bounds.contains(&0)) {
            // A slice of an empty tensor would begin out of bounds.
            return Ok(at.value(ops::tensor::EMPTY, &open, &[], result)?);
        }
        let segments = at.segments(&[1, 0, segment(open.len())?, 0]);
        let mut operands = vec![whole];
        operands.extend(open);
        let (zeros, ones) = (vec![0; sizes.len()], vec![1; sizes.len()]);
        let slice = [
            ("static_offsets", attributes::i64s(at.context, &zeros)),
            ("static_sizes", attributes::i64s(at.context, &sizes)),
            ("static_strides", attributes::i64s(at.context, &ones)),
            segments,
        ];
        Ok(at.value(ops::tensor::EXTRACT_SLICE, &operands, &slice, result)?)
    }

    /// Extracts the first `count` elements along a dimension.
    pub(super) fn cut(
        &mut self,
        whole: ValueId,
        count: Value<'c, 'a>,
        dimension: usize,
        result: ValueId,
        at: &Builder<'c, 'a>,
    ) -> Result<(), EmitError> {
        let index = Type::index(at.context);
        let count = at.index_cast(count, index);
        if let Some(Extent::Dynamic { expr, bound }) = self.tensor(result)?.shape.get(dimension)
            && let ShapeExpr::Symbol(name) = expr.as_ref()
        {
            let count = within(count, *bound, at)?;
            self.symbols.insert(name.clone(), count);
        }
        let part = self.filled(result, self.get(whole)?, at)?;
        self.set(result, part);
        Ok(())
    }

    /// Defines the symbols of a tensor's dynamic extents that are not defined yet.
    pub(crate) fn learn(&mut self, id: ValueId, at: &Builder<'c, 'a>) -> Result<(), EmitError> {
        let tensor = self.tensor(id)?;
        for (dimension, extent) in (0i64..).zip(&tensor.shape) {
            let Extent::Dynamic { expr, bound } = extent else {
                continue;
            };
            if let ShapeExpr::Symbol(name) = expr.as_ref()
                && !self.symbols.contains_key(name)
            {
                let value = at.extent(self.get(id)?, dimension)?;
                let value = within(value, *bound, at)?;
                self.symbols.insert(name.clone(), value);
            }
        }
        Ok(())
    }

    /// Checks that an argument has the extents of its type.
    pub(crate) fn test_extents(&self, id: ValueId, at: &Builder<'c, 'a>) -> Result<(), EmitError> {
        let value = self.value(id)?;
        let name = value.name.as_deref().unwrap_or("an argument");
        for (dimension, extent) in (0i64..).zip(&value.tensor.shape) {
            let Extent::Dynamic { expr, .. } = extent else {
                continue;
            };
            let actual = at.extent(self.get(id)?, dimension)?;
            let expected = self.shape_value(expr, at)?;
            let agree = compare(ScalarOp::Eq, actual, expected, at)?;
            let message =
                format!("dimension {dimension} of {name} has the extent {{0}}, but {{1}} is expected");
            report(self, agree, "SK9204", &message, &[actual, expected], value.span, at)?;
        }
        Ok(())
    }

    /// Emits an extent as an index, clamped to the range from zero to its upper bound.
    pub(crate) fn extent_value(
        &self,
        extent: &Extent,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        match extent {
            Extent::Fixed(n) => Ok(at.idx(signed(*n)?)),
            Extent::Dynamic { expr, bound } => within(self.shape_value(expr, at)?, *bound, at),
        }
    }

    /// Emits an extent as an index, without a clamp.
    pub(crate) fn known_extent(
        &self,
        extent: &Extent,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        match extent {
            Extent::Fixed(_) => self.extent_value(extent, at),
            Extent::Dynamic { expr, .. } => self.shape_value(expr, at),
        }
    }

    /// Emits the dynamic extents of a new tensor, with checks against their upper bounds.
    pub(crate) fn open_extents(
        &self,
        id: ValueId,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, EmitError> {
        let value = self.value(id)?;
        let mut extents = Vec::new();
        for (dimension, extent) in value.tensor.shape.iter().enumerate() {
            let Extent::Dynamic { expr, bound } = extent else {
                continue;
            };
            if !matches!(expr.as_ref(), ShapeExpr::Symbol(_)) {
                self.test_bound(expr, *bound, dimension, value.name.as_deref(), value.span, at)?;
            }
            extents.push(self.extent_value(extent, at)?);
        }
        Ok(extents)
    }

    fn test_bound(
        &self,
        expr: &ShapeExpr,
        bound: u64,
        dimension: usize,
        name: Option<&str>,
        span: Span,
        at: &Builder<'c, 'a>,
    ) -> Result<(), EmitError> {
        let bound = signed(bound)?;
        let extent = self.shape_value(expr, at)?;
        let holds = compare(ScalarOp::Le, extent, at.idx(bound), at)?;
        let name = name.unwrap_or("a result");
        let message =
            format!("dimension {dimension} of {name} has the extent {{0}}, above its bound {bound}");
        report(self, holds, "SK9201", &message, &[extent], span, at)?;
        Ok(())
    }

    /// Emits the value of the expression without a clamp: an index, or f64 for reals.
    pub(super) fn shape_value(
        &self,
        expr: &ShapeExpr,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        match expr {
            ShapeExpr::Constant(n) => Ok(at.idx(*n)),
            ShapeExpr::Real(bits) => {
                let value = Scalar::Real(f64::from_bits(*bits));
                Ok(at.constant(value, Type::float64(at.context))?)
            }
            ShapeExpr::Symbol(name) => self
                .symbols
                .get(name)
                .copied()
                .ok_or(EmitError::Malformed("a dynamic extent is used before it is defined")),
            ShapeExpr::Apply { op, operands } => {
                let mut values = Vec::new();
                for operand in operands {
                    values.push(self.shape_value(operand, at)?);
                }
                apply(*op, &values, at)
            }
        }
    }
}

/// Applies an operation to ints and reals; a condition is 0 or 1.
fn apply<'c: 'a, 'a>(
    op: ScalarOp,
    operands: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, EmitError> {
    use ScalarOp::{And, Eq, Ge, Gt, Implies, Le, Lt, Ne, Not, Or, Select, ToBool, ToInt, ToReal, Xor};
    let index = Type::index(at.context);
    let flag = types::flag(at.context);
    let test = |v: &Value<'c, 'a>| at.value(ops::skript::CAST, &[*v], &[], flag);
    let number = |v: Value<'c, 'a>| at.value(ops::skript::CAST, &[v], &[], index);
    match (op, operands) {
        (ToInt, [x]) if x.r#type().is_index() => Ok(*x),
        (ToInt, _) => Ok(at.scalar(op, operands, index)?),
        (ToReal, [x]) if !x.r#type().is_index() => Ok(*x),
        (ToReal, _) => Ok(at.scalar(op, operands, Type::float64(at.context))?),
        (ToBool, [x]) => Ok(number(test(x)?)?),
        (Lt | Le | Gt | Ge | Eq | Ne, _) => Ok(number(at.scalar(op, operands, flag)?)?),
        (And | Or | Xor | Implies | Not, _) => {
            let tests = operands.iter().map(test).collect::<Result<Vec<_>, _>>()?;
            Ok(number(at.scalar(op, &tests, flag)?)?)
        }
        (Select, [condition, x, y]) => Ok(at.scalar(op, &[test(condition)?, *x, *y], x.r#type())?),
        (_, [x, ..]) => Ok(at.scalar(op, operands, x.r#type())?),
        _ => Err(EmitError::Malformed("an operation has no operands")),
    }
}
