// SPDX-License-Identifier: Apache-2.0
//! Emits expressions at one point of a formula's iteration domain.

use super::EmitError;
use super::scalars::signed;
use super::scope::Scope;
use crate::ir;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::ir::{Type, Value, ValueLike};
use skript_frontend::model::{ConstantData, Expr, Formula, Node, ValueId};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::collections::HashMap;

/// Maximum size of a table that becomes a chain of selects; larger tables become constant tensors.
const SELECTED_ITEMS: usize = 4;

/// One region of a formula during emission.
pub(super) struct Point<'s, 'e, 'c, 'a, 'm> {
    scope: &'s Scope<'e, 'c, 'a, 'm>,
    formula: &'s Formula,
    destinations: &'s [ValueId],
    /// The index variables, then the destinations.
    arguments: Vec<Value<'c, 'a>>,
    /// The insertion point before the formula.
    outside: Builder<'c, 'a>,
    pub at: Builder<'c, 'a>,
    /// The locals evaluated so far, innermost branch last: a local is visible only in the branch that evaluated it.
    locals: Vec<HashMap<usize, Value<'c, 'a>>>,
}

impl<'s, 'e, 'c: 'a, 'a, 'm> Point<'s, 'e, 'c, 'a, 'm> {
    pub(super) fn new(
        scope: &'s Scope<'e, 'c, 'a, 'm>,
        formula: &'s Formula,
        destinations: &'s [ValueId],
        arguments: Vec<Value<'c, 'a>>,
        outside: Builder<'c, 'a>,
        at: Builder<'c, 'a>,
    ) -> Self {
        Point { scope, formula, destinations, arguments, outside, at, locals: vec![HashMap::new()] }
    }

    /// Emits the value of an expression; ints are `index`.
    pub(super) fn value(&mut self, expression: &Expr) -> Result<Value<'c, 'a>, EmitError> {
        let r#type = self.scalar_type(expression.kind);
        match &expression.node {
            Node::Literal(value) => Ok(self.at.constant(*value, r#type)?),
            Node::Index(position) => self.argument(*position),
            Node::Local(position) => self.local(*position),
            Node::Extent(extent) => self.scope.extent_value(extent, &self.outside),
            Node::Access { tensor, subscripts } => {
                let mut operands = vec![self.tensor(*tensor)?];
                for subscript in subscripts {
                    operands.push(self.value(subscript)?);
                }
                self.access(&operands, expression.kind)
            }
            Node::Table { items, index } => self.table(items, index, expression.kind),
            Node::Apply { op, operands } => {
                let mut values = Vec::new();
                for operand in operands {
                    values.push(self.value(operand)?);
                }
                let is_cast = matches!(op, ScalarOp::ToBool | ScalarOp::ToInt | ScalarOp::ToReal);
                match values.as_slice() {
                    [same] if is_cast && same.r#type() == r#type => Ok(*same),
                    _ => Ok(self.at.scalar(*op, &values, r#type)?),
                }
            }
            Node::Select { condition, then, otherwise } => {
                let condition = self.value(condition)?;
                if !self.reads(then) && !self.reads(otherwise) {
                    let values = [condition, self.value(then)?, self.value(otherwise)?];
                    return Ok(self.at.scalar(ScalarOp::Select, &values, r#type)?);
                }
                let outer = self.at;
                let mut regions = Vec::new();
                for branch in [then, otherwise] {
                    let (region, inner, _) = outer.region(&[]);
                    self.at = inner;
                    self.locals.push(HashMap::new());
                    let value = self.value(branch)?;
                    self.at.create(ops::scf::YIELD, &[value], &[], &[], Vec::new())?;
                    self.locals.pop();
                    self.at = outer;
                    regions.push(region);
                }
                let op = outer.create(ops::scf::IF, &[condition], &[], &[r#type], regions)?;
                Ok(ir::result(op)?)
            }
        }
    }

    fn scalar_type(&self, kind: ScalarKind) -> Type<'c> {
        let emitter = self.scope.emitter;
        types::scalar(emitter.context, kind, self.scope.function.numbers)
    }

    /// Casts a value to the element type of a tensor.
    pub(crate) fn to_element(
        &self,
        value: Value<'c, 'a>,
        element: Type<'c>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        if value.r#type() == element {
            return Ok(value);
        }
        Ok(self.at.value(ops::skript::CAST, &[value], &[], element)?)
    }

    fn access(&self, operands: &[Value<'c, 'a>], kind: ScalarKind) -> Result<Value<'c, 'a>, EmitError> {
        let tensor = operands.first().map(|t| t.r#type());
        let element = tensor.and_then(types::element_of);
        let element = element.ok_or(EmitError::Malformed("an access does not read a tensor"))?;
        let value = self.at.value(ops::skript::ACCESS, operands, &[], element)?;
        self.to_element(value, self.scalar_type(kind))
    }

    fn argument(&self, position: usize) -> Result<Value<'c, 'a>, EmitError> {
        self.arguments.get(position).copied().ok_or(EmitError::Malformed("no such index"))
    }

    fn local(&mut self, position: usize) -> Result<Value<'c, 'a>, EmitError> {
        let known = self.locals.iter().rev().find_map(|l| l.get(&position));
        if let Some(value) = known {
            return Ok(*value);
        }
        let formula = self.formula;
        let local = formula.locals.get(position).ok_or(EmitError::Malformed("no such local"))?;
        let value = self.value(&local.value)?;
        if let Some(innermost) = self.locals.last_mut() {
            innermost.insert(position, value);
        }
        Ok(value)
    }

    /// Returns the current value of a tensor: destinations are arguments of the region.
    fn tensor(&self, id: ValueId) -> Result<Value<'c, 'a>, EmitError> {
        match self.destinations.iter().position(|d| *d == id) {
            Some(position) => self.argument(self.formula.indices.len() + position),
            None => self.scope.get(id),
        }
    }

    fn table(
        &mut self,
        items: &[Scalar],
        index: &Expr,
        kind: ScalarKind,
    ) -> Result<Value<'c, 'a>, EmitError> {
        let context = self.scope.emitter.context;
        let r#type = self.scalar_type(kind);
        let position = self.value(index)?;
        if items.len() > SELECTED_ITEMS {
            let numbers = self.scope.function.numbers.work();
            let tensor = types::tensor(&[signed(items.len())?], types::element(context, kind, numbers));
            let elements = attributes::elements(context, &data(items), tensor)
                .ok_or(EmitError::Malformed("the items of a table are not numbers"))?;
            let table = self.outside.dense(elements, tensor)?;
            return self.access(&[table, position], kind);
        }
        let Some((last, others)) = items.split_last() else {
            return Err(EmitError::Malformed("a table is empty"));
        };
        let mut selected = self.at.constant(*last, r#type)?;
        for (number, item) in others.iter().enumerate().rev() {
            let here = [position, self.at.idx(signed(number)?)];
            let is_here = self.at.scalar(ScalarOp::Eq, &here, types::flag(context))?;
            let item = self.at.constant(*item, r#type)?;
            selected = self.at.scalar(ScalarOp::Select, &[is_here, item, selected], r#type)?;
        }
        Ok(selected)
    }

    /// Whether evaluating the expression may read a tensor, directly or in a local that is not evaluated yet.
    fn reads(&self, expression: &Expr) -> bool {
        match &expression.node {
            Node::Access { .. } => true,
            Node::Table { items, .. } if items.len() > SELECTED_ITEMS => true,
            Node::Local(position) => {
                !self.locals.iter().any(|l| l.contains_key(position))
                    && self.formula.locals.get(*position).is_some_and(|l| self.reads(&l.value))
            }
            _ => expression.children().into_iter().any(|c| self.reads(c)),
        }
    }
}

/// Converts the items of a table to a constant of their kind.
fn data(items: &[Scalar]) -> ConstantData {
    let bools = items.iter().map(|s| match s {
        Scalar::Bool(b) => Some(*b),
        _ => None,
    });
    if let Some(bools) = bools.collect() {
        return ConstantData::Bool(bools);
    }
    let ints = items.iter().map(|s| match s {
        Scalar::Int(i) => Some(*i),
        _ => None,
    });
    if let Some(ints) = ints.collect() {
        return ConstantData::Int(ints);
    }
    ConstantData::Real(
        items
            .iter()
            .map(|s| match s {
                Scalar::Real(x) => *x,
                Scalar::Int(i) => *i as f64,
                Scalar::Bool(b) => f64::from(u8::from(*b)),
            })
            .collect(),
    )
}
