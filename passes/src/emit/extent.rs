// SPDX-License-Identifier: Apache-2.0
//! Dynamic extents: shape code, i64 values computed beside the tensors.
//!
//! A tensor that is bound to a value defines the symbols of its extents; every other extent is an expression over
//! symbols. Each is clamped to zero and its upper bound, so that buffers have a maximum size and later accesses stay in
//! bounds; if a value may exceed its bound, a check precedes the clamp.

use super::EmitError;
use super::check::report;
use super::scalars::{compare, within};
use super::scope::Scope;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_frontend::model::{Extent, ShapeExpr, ValueId};
use skript_frontend::source::Span;
use skript_semantics::{Scalar, ScalarOp};

impl<'c: 'a, 'a> Scope<'_, 'c, 'a, '_> {
    /// The slice of a tensor with upper-bound extents that is within the dynamic extents, at the beginning of each
    /// dimension.
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
            // No slice begins at the first element if there is none.
            return Ok(at.value(ops::tensor::EMPTY, &open, &[], result)?);
        }
        let segment = i32::try_from(open.len()).map_err(|_| EmitError::Malformed("a huge rank"))?;
        let mut operands = vec![whole];
        operands.extend(open);
        let (zeros, ones) = (vec![0; sizes.len()], vec![1; sizes.len()]);
        let slice = [
            ("static_offsets", attributes::i64s(at.context, &zeros)),
            ("static_sizes", attributes::i64s(at.context, &sizes)),
            ("static_strides", attributes::i64s(at.context, &ones)),
            ("operandSegmentSizes", attributes::i32s(at.context, &[1, 0, segment, 0])),
        ];
        Ok(at.value(ops::tensor::EXTRACT_SLICE, &operands, &slice, result)?)
    }

    /// The first elements along a dimension; an integer determines their number, which is the extent of the result.
    pub(super) fn cut(
        &mut self,
        whole: ValueId,
        count: Value<'c, 'a>,
        dimension: usize,
        result: ValueId,
        at: &Builder<'c, 'a>,
    ) -> Result<(), EmitError> {
        let index = Type::index(at.context);
        let count = at.value(ops::arith::INDEX_CAST, &[count], &[], index)?;
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

    /// Checks that an argument has the extents that its type states.
    pub(crate) fn test_extents(&self, id: ValueId, at: &Builder<'c, 'a>) -> Result<(), EmitError> {
        let value = self.value(id)?;
        let name = value.name.clone().unwrap_or_default();
        for (dimension, extent) in (0i64..).zip(&value.tensor.shape) {
            let Extent::Dynamic { expr, .. } = extent else {
                continue;
            };
            let found = at.extent(self.get(id)?, dimension)?;
            let expected = self.shape_value(expr, at)?;
            let agree = compare(ScalarOp::Eq, found, expected, at)?;
            let message =
                format!("dimension {dimension} of {name} has the extent {{0}}, but {{1}} is expected");
            report(self, agree, "SK9204", &message, &[found, expected], value.span, at)?;
        }
        Ok(())
    }

    /// An extent as an index, clamped to zero and its upper bound.
    pub(crate) fn extent_value(
        &self,
        extent: &Extent,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        match extent {
            Extent::Fixed(n) => {
                let n = i64::try_from(*n).map_err(|_| EmitError::Malformed("a huge extent"))?;
                Ok(at.index(n)?)
            }
            Extent::Dynamic { expr, bound } => within(self.shape_value(expr, at)?, *bound, at),
        }
    }

    /// An extent as its expression, without a clamp.
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

    /// The dynamic extents of a new tensor, with checks against their upper bounds.
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
        let bound = i64::try_from(bound).map_err(|_| EmitError::Malformed("a huge extent"))?;
        let found = self.shape_value(expr, at)?;
        let holds = compare(ScalarOp::Le, found, at.index(bound)?, at)?;
        let name = name.unwrap_or("a result");
        let message =
            format!("dimension {dimension} of {name} has the extent {{0}}, above its bound {bound}");
        report(self, holds, "SK9201", &message, &[found], span, at)
    }

    /// The value of the expression without a clamp: an index, or f64 for reals.
    pub(super) fn shape_value(
        &self,
        expr: &ShapeExpr,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        match expr {
            ShapeExpr::Constant(n) => Ok(at.index(*n)?),
            ShapeExpr::Real(bits) => {
                let value = Scalar::Real(f64::from_bits(*bits));
                Ok(at.constant(value, Type::float64(at.context))?)
            }
            ShapeExpr::Symbol(name) => self
                .symbols
                .get(name)
                .copied()
                .ok_or(EmitError::Malformed("a run-time extent is used before it is known")),
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

/// An operation on ints and reals; conditions are 0 and 1.
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
        _ => Err(EmitError::Malformed("an operation without operands")),
    }
}
