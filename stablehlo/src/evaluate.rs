// SPDX-License-Identifier: Apache-2.0
//! Evaluates the regions of a formula as fields.
//!
//! Everything is evaluated at every point: branches become selects, reads out of bounds are clamped or padded, and
//! operations are total, so unused values have no effect.
use super::access::{Gathered, Subscript, read, run};
use super::captures::Outside;
use super::error::ExportError;
use super::field::{Field, join};
use super::scalar;
use super::shift::Shift;
use super::subscript::DynamicSubscript;
use super::tensors::Tensors;
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::r#type::IntegerType;
use melior::ir::{BlockRef, OperationRef, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_passes::ir;
use skript_passes::ir::arith;
use skript_passes::ir::arith::Constant;
use skript_passes::ir::builder::{only_block, operations};
use skript_passes::ir::copy::{arguments, operation_name};
use skript_passes::ir::ops;
use skript_passes::ir::{ValueKey, types};
use skript_passes::structure::{Affine, Positions, StaticReading};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::collections::{HashMap, HashSet};

/// Evaluates the regions of one formula.
pub(crate) struct Evaluator<'r, 'c, 'a> {
    pub at: Tensors<'c, 'a>,
    pub reading: &'r StaticReading<'c, 'a>,
    pub(crate) outside: Outside<'r, 'c, 'a>,
    /// The current destinations.
    pub(crate) destinations: Vec<Value<'c, 'a>>,
    /// The destination of one element that counts steps, and its value before each step.
    pub(crate) counted: Option<(usize, Field<'c, 'a>)>,
    /// Integers that are represented as linear forms of indices, regardless of the operations that compute them.
    pub moved: HashSet<ValueKey>,
    /// Indices that have one value at a time, because a loop runs over them.
    pub(crate) sequential: HashMap<usize, Value<'c, 'a>>,
    /// Whether any read was a gather.
    pub(crate) gathered: Gathered,
    fields: HashMap<ValueKey, Field<'c, 'a>>,
}

impl<'r, 'c: 'a, 'a> Evaluator<'r, 'c, 'a> {
    pub(crate) fn new(
        at: Tensors<'c, 'a>,
        reading: &'r StaticReading<'c, 'a>,
        outside: Outside<'r, 'c, 'a>,
        destinations: Vec<Value<'c, 'a>>,
    ) -> Self {
        Evaluator {
            at,
            reading,
            outside,
            destinations,
            counted: None,
            moved: HashSet::new(),
            sequential: HashMap::new(),
            gathered: Gathered::Nothing,
            fields: HashMap::new(),
        }
    }

    pub(crate) fn domain(&self) -> &'r [i64] {
        &self.reading.domain
    }

    /// Evaluates the predicate, if there is one.
    pub(crate) fn predicate(&mut self) -> Result<Option<Field<'c, 'a>>, ExportError> {
        let Some(block) = self.reading.predicate else {
            return Ok(None);
        };
        self.enter(block)?;
        let end = self.block(block)?;
        let field = self.field(ir::operand(end)?)?;
        Ok(Some(field))
    }

    /// The conjuncts of the predicate.
    pub(crate) fn conjuncts(&self) -> Result<Vec<Value<'c, 'a>>, ExportError> {
        let end = self.reading.predicate.and_then(|block| operations(block).pop());
        let mut pending: Vec<Value<'c, 'a>> = match end {
            Some(end) => vec![ir::operand(end)?],
            None => Vec::new(),
        };
        let mut conjuncts = Vec::new();
        while let Some(value) = pending.pop() {
            match OperationResult::try_from(value).map(|r| r.owner()) {
                Ok(op) if matches!(operation_name(op).as_str(), ops::skript::AND | ops::arith::ANDI) => {
                    let [first, second] = ir::both_operands(op)?;
                    pending.extend([second, first]);
                }
                Ok(op)
                    if operation_name(op) == ops::arith::CONSTANT
                        && integer(op).is_some_and(|flag| flag != 0) => {}
                Ok(op) if operation_name(op) == ops::scf::IF => match and_then(op)? {
                    Some(then) => pending.extend([then, ir::operand(op)?]),
                    None => conjuncts.push(value),
                },
                _ => conjuncts.push(value),
            }
        }
        Ok(conjuncts)
    }

    /// Evaluates the body. Afterwards, [`Self::field`] returns the values of the body.
    pub(crate) fn body(&mut self) -> Result<(), ExportError> {
        self.enter(self.reading.body)?;
        self.block(self.reading.body)?;
        Ok(())
    }

    /// The field of a value in the regions, or of a captured scalar.
    pub(crate) fn field(&self, value: Value<'c, 'a>) -> Result<Field<'c, 'a>, ExportError> {
        match self.fields.get(&ValueKey::of(value)) {
            Some(field) => Ok(field.clone()),
            None => Ok(Field::scalar(self.outside.get(value)?)),
        }
    }

    /// Defines the index variables of a region.
    fn enter(&mut self, block: BlockRef<'c, 'a>) -> Result<(), ExportError> {
        let indices = arguments(block).into_iter().take(self.reading.indices);
        for (position, argument) in indices.enumerate() {
            let field = match self.sequential.get(&position) {
                Some(number) => Field::scalar(*number),
                None => self.linear(argument)?,
            };
            self.fields.insert(ValueKey::of(argument), field);
        }
        Ok(())
    }

    /// Evaluates an integer as a linear form of the indices.
    fn linear(&self, value: Value<'c, 'a>) -> Result<Field<'c, 'a>, ExportError> {
        let no_form = || ExportError::new(self.reading.op, "has an index that is not affine");
        let form = self.form(value).ok_or_else(no_form)?;
        if let Some(index) = form.as_index() {
            return Ok(Field { value: self.at.iota(self.domain()[index]), indices: vec![index] });
        }
        Ok(self.affine(form)?.field)
    }

    fn affine(&self, form: Affine) -> Result<Subscript<'c, 'a>, ExportError> {
        let no_form = || ExportError::new(self.reading.op, "has a subscript that is not affine");
        Subscript::affine(form, self.domain(), &self.at).ok_or_else(no_form)
    }

    /// Whether a value is an index or the result of an operation in the regions.
    pub(crate) fn is_inside(&self, value: Value<'c, 'a>) -> bool {
        self.fields.contains_key(&ValueKey::of(value))
    }

    fn block(&mut self, block: BlockRef<'c, 'a>) -> Result<OperationRef<'c, 'a>, ExportError> {
        let mut body = operations(block);
        let end = body.pop();
        for op in body {
            self.operation(op)?;
        }
        end.ok_or(ExportError::new(self.reading.op, "has an empty region"))
    }

    fn operation(&mut self, op: OperationRef<'c, 'a>) -> Result<(), ExportError> {
        let name = operation_name(op);
        let field = match name.as_str() {
            _ if op.result_count() == 1 && self.moved.contains(&ValueKey::of(ir::result(op)?)) => {
                self.linear(ir::result(op)?)?
            }
            ops::skript::ACCESS => self.access(op)?,
            ops::scf::IF => return self.branch(op),
            ops::arith::CONSTANT => Field::scalar(constant(op, &self.at)?),
            _ => {
                let operands = op.operands().map(|o| self.field(o)).collect::<Result<Vec<_>, _>>()?;
                self.apply(op, &name, &operands)?
            }
        };
        self.fields.insert(ValueKey::of(ir::result(op)?), field);
        Ok(())
    }

    /// The affine form of an integer, if every index that it depends on is a dimension.
    pub(super) fn form(&self, value: Value<'c, 'a>) -> Option<Affine> {
        let form = self.reading.nest.affine(self.reading.find(value)?)?;
        let sequential = form.indices().iter().any(|i| self.sequential.contains_key(i));
        (!sequential).then_some(form)
    }

    /// The values of an integer that depends on a single index, if this index is a dimension.
    pub(super) fn known(&self, value: Value<'c, 'a>) -> Option<Positions> {
        let positions = Positions::new(&self.reading.nest, self.reading.find(value)?)?;
        (!self.sequential.contains_key(&positions.index)).then_some(positions)
    }

    /// Whether an integer depends on data.
    fn is_data(&self, value: Value<'c, 'a>) -> bool {
        let term = self.reading.find(value);
        term.is_none_or(|term| Positions::are_data(&self.reading.nest, term))
    }

    fn access(&mut self, op: OperationRef<'c, 'a>) -> Result<Field<'c, 'a>, ExportError> {
        let tensor = ir::operand(op)?;
        let destination = self.destination(tensor);
        if let Some((_, number)) = self.counted.as_ref().filter(|(counter, _)| destination == Some(*counter))
        {
            return Ok(number.clone());
        }
        let tensor = match destination {
            Some(position) => self
                .destinations
                .get(position)
                .copied()
                .ok_or(ExportError::new(op, "reads an unknown destination"))?,
            None => self.outside.get(tensor)?,
        };
        let mut subscripts = Vec::new();
        let mut tensor = tensor;
        let operands: Vec<_> = op.operands().skip(1).collect();
        for (position, operand) in operands.iter().copied().enumerate() {
            let dimension = subscripts.len();
            if let Some((shift, within)) = self.begun(dimension, operand)? {
                tensor = shift.cut(tensor, &self.at);
                if !shift.is_few() {
                    self.gathered = self.gathered.max(Gathered::Known);
                }
                for form in within {
                    subscripts.push(self.affine(form)?);
                }
                continue;
            }
            if let Some((row, form)) = self.repeated(tensor, dimension, operand)? {
                tensor = row;
                subscripts.push(self.affine(form)?);
                continue;
            }
            if dimension == position
                && let Some((row, form)) = self.selected(tensor, dimension, &operands)?
            {
                tensor = row;
                subscripts.push(self.affine(form)?);
                continue;
            }
            let form = self.form(operand);
            let is_run = form.as_ref().is_some_and(|f| run(f, self.domain()).is_some());
            let field = self.field(operand)?;
            if let Some(form) = form.as_ref().filter(|_| is_run)
                && form.indices() != field.indices
            {
                // The integer is computed from digits that do not change its value.
                subscripts.push(self.affine(form.clone())?);
                continue;
            }
            subscripts.push(Subscript {
                field,
                form,
                known: if is_run { None } else { self.known(operand) },
                is_data: self.is_data(operand),
            });
        }
        let read = read(tensor, &subscripts, self.domain(), &self.at);
        self.gathered = self.gathered.max(read.gathered);
        Ok(read.field)
    }

    /// Slices that begin at dynamic positions, and the subscripts within them.
    fn begun(
        &self,
        dimension: usize,
        subscript: Value<'c, 'a>,
    ) -> Result<Option<(Shift<'c, 'a>, Vec<Affine>)>, ExportError> {
        if !self.sequential.is_empty() {
            return Ok(None);
        }
        // A single position needs no slice.
        let is_slice = |form: &DynamicSubscript| !form.is_affine() && form.form.as_constant().is_none();
        let Some(position) = self.dynamic_subscript(subscript)?.filter(is_slice) else {
            return Ok(None);
        };
        let shift = Shift::new(dimension, &position, self.domain(), &self.at);
        let is_run = |form: &Affine| run(form, self.domain()).is_some();
        Ok(shift.filter(|(_, within)| within.iter().all(is_run)))
    }

    /// The number of the destination that a region's argument represents.
    pub(crate) fn destination(&self, tensor: Value<'c, 'a>) -> Option<usize> {
        let indices = self.reading.indices;
        self.reading
            .predicate
            .into_iter()
            .chain([self.reading.body])
            .find_map(|block| arguments(block).iter().position(|a| ValueKey::of(*a) == ValueKey::of(tensor)))
            .and_then(|position| position.checked_sub(indices))
    }

    fn branch(&mut self, op: OperationRef<'c, 'a>) -> Result<(), ExportError> {
        let condition = self.field(ir::operand(op)?)?;
        let mut ends = Vec::new();
        for region in op.regions() {
            ends.push(self.block(only_block(region)?)?);
        }
        let [then, otherwise] = ends.as_slice() else {
            return Err(ExportError::new(op, "has no second branch"));
        };
        for position in 0..op.result_count() {
            let fields = [
                condition.clone(),
                self.field(then.operand(position)?)?,
                self.field(otherwise.operand(position)?)?,
            ];
            let (values, indices) = join(&fields, self.domain(), &self.at);
            let value = self.at.select(values[0], values[1], values[2]);
            let field = Field { value, indices };
            self.fields.insert(ValueKey::of(op.result(position)?), field);
        }
        Ok(())
    }

    /// The conjunction of fields; `None` for an empty list.
    pub(crate) fn all(&self, fields: &[Field<'c, 'a>]) -> Result<Option<Field<'c, 'a>>, ExportError> {
        let (values, indices) = join(fields, self.domain(), &self.at);
        let mut values = values.into_iter();
        let Some(mut value) = values.next() else {
            return Ok(None);
        };
        for other in values {
            value = self.at.same("and", &[value, other]);
        }
        Ok(Some(Field { value, indices }))
    }

    fn apply(
        &self,
        op: OperationRef<'c, 'a>,
        name: &str,
        operands: &[Field<'c, 'a>],
    ) -> Result<Field<'c, 'a>, ExportError> {
        let (values, indices) = join(operands, self.domain(), &self.at);
        let value = elementwise(op, name, &values, &self.at)?
            .ok_or_else(|| ExportError::new(op, "has no StableHLO form in a formula"))?;
        Ok(Field { value, indices })
    }
}

/// Exports an elementwise operation of `skript` or `arith` on tensors of the same shape; `None` for other operations.
pub(crate) fn elementwise<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    name: &str,
    operands: &[Value<'c, 'a>],
    at: &Tensors<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, ExportError> {
    let result = element(ir::result(op)?.r#type(), at);
    let scalar = types::kind_of(result).and_then(|kind| ScalarOp::from_name(name, kind));
    if let Some(scalar) = scalar {
        return Ok(scalar::apply(scalar, operands, result, at));
    }
    Ok(scalar::arith(name, arith::predicate(op), operands, result, at))
}

/// The second operand of a branch with one result that computes `condition && value`.
fn and_then<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<Option<Value<'c, 'a>>, ExportError> {
    let end = |region| -> Result<Option<Value<'c, 'a>>, ExportError> {
        let end = operations(only_block(op.region(region)?)?).pop();
        Ok(end.map(ir::operand).transpose()?)
    };
    if op.result_count() != 1 {
        return Ok(None);
    }
    let (Some(then), Some(otherwise)) = (end(0)?, end(1)?) else {
        return Ok(None);
    };
    let is_false = OperationResult::try_from(otherwise).is_ok_and(|r| integer(r.owner()) == Some(0));
    Ok(is_false.then_some(then))
}

/// The value of an integer constant.
fn integer(op: OperationRef<'_, '_>) -> Option<i64> {
    Constant::cast(op)?.integer()
}

/// Skips casts to types that are not narrower: a read of the operand, followed by the cast, has the same value.
pub(crate) fn uncast<'c: 'a, 'a>(value: Value<'c, 'a>) -> Value<'c, 'a> {
    let Ok(result) = OperationResult::try_from(value) else {
        return value;
    };
    let op = result.owner();
    let is_cast = matches!(operation_name(op).as_str(), ops::skript::CAST | ops::arith::INDEX_CAST);
    match ir::operand(op) {
        Ok(operand) if is_cast && is_no_narrower(operand.r#type(), value.r#type()) => uncast(operand),
        _ => value,
    }
}

/// Whether a type represents all values of another type of the same kind.
fn is_no_narrower<'c>(from: Type<'c>, to: Type<'c>) -> bool {
    let width = |t: Type<'c>| match types::kind_of(t) {
        Some(ScalarKind::Int) => Some(IntegerType::try_from(t).map_or(64, |t| t.width())),
        Some(ScalarKind::Real) => Some(t.float_width()),
        _ => None,
    };
    let widens = width(from).zip(width(to)).is_some_and(|(x, y)| x <= y);
    let alike = from == to || width(from) != width(to) || types::kind_of(to) == Some(ScalarKind::Int);
    types::kind_of(from) == types::kind_of(to) && widens && alike
}

/// The element type of a tensor, or the type of a scalar; `index` becomes i64.
pub(crate) fn element<'c: 'a, 'a>(r#type: Type<'c>, at: &Tensors<'c, 'a>) -> Type<'c> {
    let element = types::element_of(r#type).unwrap_or(r#type);
    if melior::ir::TypeLike::is_index(&element) {
        return at.int();
    }
    element
}

/// Exports a constant; scalars become tensors of rank 0.
pub(crate) fn constant<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    at: &Tensors<'c, 'a>,
) -> Result<Value<'c, 'a>, ExportError> {
    let constant = arith::Constant::cast(op).ok_or_else(|| ExportError::new(op, "is not a constant"))?;
    let (value, r#type) = (constant.value()?, ir::result(op)?.r#type());
    if types::element_of(r#type).is_some() {
        return Ok(at.constant(value, r#type));
    }
    let element = element(r#type, at);
    let scalar = if let Ok(float) = FloatAttribute::try_from(value) {
        Scalar::Real(float.value())
    } else {
        let integer = IntegerAttribute::try_from(value)?;
        match types::kind_of(element) {
            Some(ScalarKind::Bool) => Scalar::Bool(integer.value() != 0),
            _ => Scalar::Int(integer.value()),
        }
    };
    Ok(at.splat(scalar, &[], element))
}
