//! The values of one point inside a `linalg.generic`.

use super::Refusal;
use super::domain::Domain;
use crate::mlir::{Builder, ValueKey, builder, copy, maps, types};
use crate::structure::{Affine, Reading};
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{Attribute, OperationRef, Type, Value, ValueLike};
use skript_dialect::op;
use skript_semantics::ScalarOp;
use std::collections::HashMap;

/// Copies what a value needs, on demand: accesses become block arguments or checked reads, branches become selects.
pub struct Payload<'r, 'c, 'a> {
    reading: &'r Reading<'c, 'a>,
    domain: &'r Domain,
    at: Builder<'c, 'a>,
    known: HashMap<ValueKey, Value<'c, 'a>>,
    loops: HashMap<usize, Value<'c, 'a>>,
}

impl<'r, 'c: 'a, 'a> Payload<'r, 'c, 'a> {
    /// `elements`: what accesses read, by their result.
    pub fn new(
        reading: &'r Reading<'c, 'a>,
        domain: &'r Domain,
        at: Builder<'c, 'a>,
        elements: HashMap<ValueKey, Value<'c, 'a>>,
    ) -> Self {
        Payload {
            reading,
            domain,
            at,
            known: elements,
            loops: HashMap::new(),
        }
    }

    /// Whether the predicate holds; `None`: always.
    pub fn predicate(&mut self) -> Result<Option<Value<'c, 'a>>, Refusal> {
        if !self.domain.others.is_empty() {
            let end = self
                .reading
                .predicate
                .and_then(|block| builder::operations(block).pop())
                .ok_or(Refusal::Shape("has no predicate"))?;
            return Ok(Some(self.value(end.operand(0)?)?));
        }
        let boolean = types::flag(self.at.context);
        let at_least = maps::integer_predicate(self.at.context, maps::SIGNED_AT_LEAST);
        let mut holds: Option<Value<'c, 'a>> = None;
        for constraint in &self.domain.constraints {
            let form = self.form(constraint)?;
            let zero = self.at.index(0)?;
            let one = self.at.value(
                "arith.cmpi",
                &[form, zero],
                &[("predicate", at_least)],
                boolean,
            )?;
            holds = Some(match holds {
                Some(others) => self.at.value("arith.andi", &[others, one], &[], boolean)?,
                None => one,
            });
        }
        Ok(holds)
    }

    /// The copy of a value.
    pub fn value(&mut self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, Refusal> {
        if let Some(known) = self.known.get(&ValueKey::of(value)) {
            return Ok(*known);
        }
        let copy = self.build(value)?;
        self.known.insert(ValueKey::of(value), copy);
        Ok(copy)
    }

    fn build(&mut self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, Refusal> {
        if self.is_index(value) {
            let nest = &self.reading.nest;
            let own = self.reading.find(value).and_then(|term| nest.affine(term));
            let form =
                own.and_then(|own| own.substitute(&self.domain.indices, &self.domain.extents));
            return self.form(&form.ok_or(Refusal::Shape("has an unknown index"))?);
        }
        let Ok(result) = OperationResult::try_from(value) else {
            return Ok(value);
        };
        let op = result.owner();
        if !self.is_inside(op) {
            return Ok(value);
        }
        let name = copy::operation_name(op);
        match name.as_str() {
            "skript.access" => self.read(op),
            "scf.if" => {
                let condition = self.value(op.operand(0)?)?;
                let mut operands = vec![condition];
                for region in op.regions() {
                    let end = builder::operations(builder::only_block(region)?)
                        .pop()
                        .ok_or(Refusal::Shape("has an empty branch"))?;
                    operands.push(self.value(end.operand(result.result_number())?)?);
                }
                Ok(self
                    .at
                    .scalar(ScalarOp::Select, &operands, value.r#type())?)
            }
            _ => {
                if op.region_count() > 0 {
                    return Err(Refusal::Shape("computes with nested regions"));
                }
                if self.is_conditional(op) && !op::is_speculatable(&op) {
                    return Err(Refusal::Shape(
                        "guards an operation whose behaviour may be undefined elsewhere",
                    ));
                }
                let mut operands = Vec::new();
                for operand in op.operands() {
                    operands.push(self.value(operand)?);
                }
                let copied = copy::with_operands(op, &operands, &self.at)?;
                Ok(copied.result(result.result_number())?.into())
            }
        }
    }

    /// An element at a place that is no affine form: every subscript is kept inside the tensor, as skipped points and
    /// branches not taken are evaluated too.
    fn read(&mut self, op: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, Refusal> {
        let tensor = op.operand(0)?;
        let extents = types::extents(tensor.r#type())
            .ok_or(Refusal::Shape("reads a tensor of unknown type"))?;
        if extents.contains(&0) {
            return Err(Refusal::Shape("reads an empty tensor"));
        }
        if extents.contains(&types::DYNAMIC) {
            return Err(Refusal::Shape(
                "reads where no loop goes, in a tensor whose extents only the run knows",
            ));
        }
        let index = Type::index(self.at.context);
        let mut operands = vec![tensor];
        for (subscript, extent) in op.operands().skip(1).zip(&extents) {
            let place = self.value(subscript)?;
            let last = self.at.index(extent - 1)?;
            let zero = self.at.index(0)?;
            let place = self.at.scalar(ScalarOp::Max, &[place, zero], index)?;
            operands.push(self.at.scalar(ScalarOp::Min, &[place, last], index)?);
        }
        let element = op.result(0)?.r#type();
        Ok(self.at.value("tensor.extract", &operands, &[], element)?)
    }

    /// The value of a form of the loops.
    fn form(&mut self, form: &Affine) -> Result<Value<'c, 'a>, Refusal> {
        if let Some(value) = form.as_constant() {
            return Ok(self.at.index(value)?);
        }
        if let Some(number) = form.as_index() {
            return self.iteration(number);
        }
        let used = form.indices();
        let mut operands = Vec::new();
        let mut renamed = vec![Affine::default(); self.domain.extents.len()];
        let mut extents = Vec::new();
        for (position, number) in used.iter().enumerate() {
            operands.push(self.iteration(*number)?);
            if let Some(slot) = renamed.get_mut(*number) {
                *slot = Affine::index(position);
            }
            extents.push(self.domain.extents.get(*number).copied().unwrap_or(1));
        }
        let overflow = Refusal::Shape("has subscripts beyond 64 bits");
        let form = form.substitute(&renamed, &extents).ok_or(overflow)?;
        let map = maps::map(self.at.context, operands.len(), &[form])
            .ok_or(Refusal::Shape("has subscripts beyond 64 bits"))?;
        let index = Type::index(self.at.context);
        Ok(self
            .at
            .value("affine.apply", &operands, &[("map", map)], index)?)
    }

    fn iteration(&mut self, number: usize) -> Result<Value<'c, 'a>, Refusal> {
        if let Some(value) = self.loops.get(&number) {
            return Ok(*value);
        }
        let dimension: Attribute<'c> = crate::mlir::attributes::i64(
            self.at.context,
            i64::try_from(number).map_err(|_| Refusal::Shape("has too many loops"))?,
        );
        let index = Type::index(self.at.context);
        let value = self
            .at
            .value("linalg.index", &[], &[("dim", dimension)], index)?;
        self.loops.insert(number, value);
        Ok(value)
    }

    /// Whether a value is one of the formula's own indices, which may be made of several of the nest's.
    fn is_index(&self, value: Value<'c, 'a>) -> bool {
        self.reading.blocks().any(|block| {
            let mut own = copy::arguments(block)
                .into_iter()
                .take(self.reading.indices);
            own.any(|argument| ValueKey::of(argument) == ValueKey::of(value))
        })
    }

    /// Whether some points of the loops skip the operation.
    fn is_conditional(&self, op: OperationRef<'c, 'a>) -> bool {
        let in_branch = op.parent_operation() != Some(self.reading.op);
        in_branch || (op.block() == Some(self.reading.body) && !self.domain.always_holds())
    }

    fn is_inside(&self, op: OperationRef<'c, 'a>) -> bool {
        let mut above = op.parent_operation();
        while let Some(parent) = above {
            if parent == self.reading.op {
                return true;
            }
            above = parent.parent_operation();
        }
        false
    }
}
