// SPDX-License-Identifier: Apache-2.0
//! Emits the values of one point of a formula inside a `linalg.generic`.

use super::Refusal;
use super::domain::Domain;
use crate::ir;
use crate::ir::ops;
use crate::ir::scf::If;
use crate::ir::skript::Access;
use crate::ir::walk::parents;
use crate::ir::{Builder, ValueKey, attributes, builder, copy, maps, types};
use crate::structure::{Affine, Extent, Reading};
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{Attribute, BlockRef, OperationRef, Region, Type, Value, ValueLike};
use skript_dialect::op;
use skript_semantics::ScalarOp;
use std::collections::HashMap;

/// Copies the operations of a value on demand: accesses become block arguments or reads. Branches become selects, but remain
/// branches if they contain operations that cannot be speculated.
pub(crate) struct Payload<'r, 'c, 'a> {
    reading: &'r Reading<'c, 'a>,
    domain: &'r Domain,
    /// The end of the outermost block, which contains the `linalg.index` operations.
    outermost: Builder<'c, 'a>,
    /// The current insertion point.
    at: Builder<'c, 'a>,
    /// The copies of values.
    known: HashMap<ValueKey, Value<'c, 'a>>,
    /// The loop indices that are already emitted.
    loops: HashMap<usize, Value<'c, 'a>>,
    /// The copied branches around `at`.
    branches: Vec<OperationRef<'c, 'a>>,
    /// Whether the predicate holds at `at`.
    holds: bool,
}

impl<'r, 'c: 'a, 'a> Payload<'r, 'c, 'a> {
    /// `elements` are the block arguments for the results of accesses.
    pub(crate) fn new(
        reading: &'r Reading<'c, 'a>,
        domain: &'r Domain,
        at: Builder<'c, 'a>,
        elements: HashMap<ValueKey, Value<'c, 'a>>,
    ) -> Self {
        Payload {
            reading,
            domain,
            outermost: at,
            at,
            known: elements,
            loops: HashMap::new(),
            branches: Vec::new(),
            holds: domain.always_holds(),
        }
    }

    /// Whether all operations in a block may be speculated at points that a predicate or a branch skips.
    pub(crate) fn is_speculatable(&self, block: BlockRef<'c, 'a>) -> Result<bool, Refusal> {
        for op in builder::operations(block) {
            let is_speculatable = match copy::operation_name(op).as_str() {
                ops::skript::ACCESS => {
                    let is_known = self.known.contains_key(&ValueKey::of(ir::result(op)?));
                    let extents = types::shape(ir::operand(op)?.r#type());
                    is_known || !extents.contains(&types::DYNAMIC)
                }
                ops::scf::IF => {
                    let mut all = true;
                    for region in op.regions() {
                        all &= self.is_speculatable(builder::only_block(region)?)?;
                    }
                    all
                }
                _ => op::is_speculatable(&op) || op.result_count() == 0,
            };
            if !is_speculatable {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the copies of values.
    pub(crate) fn values(&mut self, values: &[Value<'c, 'a>]) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        values.iter().map(|value| self.value(*value)).collect()
    }

    /// Emits `values` at points that contribute, and `otherwise` at skipped points: by selects if `speculates`, otherwise by a branch.
    pub(crate) fn values_where(
        &mut self,
        holds: Value<'c, 'a>,
        values: &[Value<'c, 'a>],
        otherwise: &[Value<'c, 'a>],
        speculates: bool,
    ) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        if speculates {
            let values = self.values(values)?.into_iter().zip(otherwise);
            let selected = values.map(|(value, other)| {
                let operands = [holds, value, *other];
                self.at.scalar(ScalarOp::Select, &operands, other.r#type())
            });
            return Ok(selected.collect::<Result<_, _>>()?);
        }
        self.holds = true;
        let then = self.branch(|payload| payload.values(values));
        self.holds = false;
        let (region, other, _) = self.at.region(&[]);
        other.create(ops::scf::YIELD, otherwise, &[], &[], Vec::new())?;
        let results: Vec<Type<'c>> = otherwise.iter().map(|value| value.r#type()).collect();
        let regions = vec![then?, region];
        let op = self.at.create(ops::scf::IF, &[holds], &[], &results, regions)?;
        Ok(op.results().map(Into::into).collect())
    }

    /// Emits a region that computes and yields values.
    fn branch(
        &mut self,
        values: impl FnOnce(&mut Self) -> Result<Vec<Value<'c, 'a>>, Refusal>,
    ) -> Result<Region<'c>, Refusal> {
        let (region, inner, _) = self.at.region(&[]);
        let outer = std::mem::replace(&mut self.at, inner);
        let known = self.known.clone();
        let values = values(self);
        self.known = known;
        self.at = outer;
        inner.create(ops::scf::YIELD, &values?, &[], &[], Vec::new())?;
        Ok(region)
    }

    /// Emits the predicate; returns `None` if it always holds.
    pub(crate) fn predicate(&mut self) -> Result<Option<Value<'c, 'a>>, Refusal> {
        if !self.domain.others.is_empty() {
            let end = self
                .reading
                .predicate
                .and_then(|block| builder::operations(block).pop())
                .ok_or(Refusal::Shape("has no predicate"))?;
            return Ok(Some(self.value(ir::operand(end)?)?));
        }
        let boolean = types::flag(self.at.context);
        let at_least = attributes::i64(self.at.context, maps::SIGNED_AT_LEAST);
        let mut holds: Option<Value<'c, 'a>> = None;
        for constraint in &self.domain.constraints {
            let form = self.form(constraint)?;
            let zero = self.at.idx(0);
            let one = self.at.value(ops::arith::CMPI, &[form, zero], &[("predicate", at_least)], boolean)?;
            holds = Some(match holds {
                Some(others) => self.at.andi(others, one),
                None => one,
            });
        }
        Ok(holds)
    }

    /// Returns the copy of a value.
    pub(crate) fn value(&mut self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, Refusal> {
        if let Some(known) = self.known.get(&ValueKey::of(value)) {
            return Ok(*known);
        }
        let copy = self.build(value)?;
        self.known.insert(ValueKey::of(value), copy);
        Ok(copy)
    }

    fn build(&mut self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, Refusal> {
        if self.is_index(value) {
            let form = self.loop_form(value).ok_or(Refusal::Shape("has an unknown index"))?;
            return self.form(&form);
        }
        let Ok(result) = OperationResult::try_from(value) else {
            return Ok(value);
        };
        let op = result.owner();
        if !parents(op).any(|parent| parent == self.reading.op) {
            return Ok(value);
        }
        let name = copy::operation_name(op);
        match name.as_str() {
            ops::skript::ACCESS => self.read(op),
            ops::scf::IF => {
                let branch = If::cast(op).ok_or(Refusal::Shape("has no branch"))?;
                let condition = self.value(branch.condition()?)?;
                let (mut ends, mut speculatable) = (Vec::new(), true);
                for region in op.regions() {
                    let block = builder::only_block(region)?;
                    let end = builder::operations(block).pop();
                    ends.push(end.ok_or(Refusal::Shape("has an empty branch"))?);
                    speculatable &= self.is_speculatable(block)?;
                }
                if !speculatable {
                    return self.copy_branch(op, condition, &ends, result.result_number());
                }
                let mut operands = vec![condition];
                for end in ends {
                    operands.push(self.value(end.operand(result.result_number())?)?);
                }
                Ok(self.at.scalar(ScalarOp::Select, &operands, value.r#type())?)
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

    /// Copies a branch as a branch; returns the result with this number.
    fn copy_branch(
        &mut self,
        op: OperationRef<'c, 'a>,
        condition: Value<'c, 'a>,
        ends: &[OperationRef<'c, 'a>],
        number: usize,
    ) -> Result<Value<'c, 'a>, Refusal> {
        let mut regions = Vec::new();
        self.branches.push(op);
        for end in ends {
            regions.push(self.branch(|payload| {
                let values = end.operands().map(|value| payload.value(value));
                values.collect()
            }));
        }
        self.branches.pop();
        let regions = regions.into_iter().collect::<Result<Vec<_>, _>>()?;
        let results: Vec<Type<'c>> = op.results().map(|r| r.r#type()).collect();
        let branch = self.at.create(ops::scf::IF, &[condition], &[], &results, regions)?;
        for (result, copy) in op.results().zip(branch.results()) {
            self.known.insert(ValueKey::of(result), copy.into());
        }
        Ok(branch.result(number)?.into())
    }

    /// Reads an element at a subscript that is not affine. Subscripts of a tensor with static extents are clamped, because
    /// the read is also executed at skipped points and for branches that are not taken. A tensor with dynamic extents is
    /// read only at points that are not skipped.
    fn read(&mut self, op: OperationRef<'c, 'a>) -> Result<Value<'c, 'a>, Refusal> {
        let access = Access::cast(op).ok_or(Refusal::Shape("reads no element"))?;
        let tensor = access.tensor()?;
        let extents =
            types::extents(tensor.r#type()).ok_or(Refusal::Shape("reads a tensor of unknown type"))?;
        if extents.contains(&0) {
            return Err(Refusal::Shape("reads an empty tensor"));
        }
        if extents.contains(&types::DYNAMIC) && self.is_conditional(op) {
            return Err(Refusal::Shape("reads a tensor with dynamic extents at skipped points"));
        }
        let index = Type::index(self.at.context);
        let mut operands = vec![tensor];
        for (subscript, extent) in access.subscripts().into_iter().zip(&extents) {
            let address = self.value(subscript)?;
            if *extent == types::DYNAMIC || self.is_within(subscript, *extent) {
                operands.push(address);
                continue;
            }
            let last = self.at.idx(extent - 1);
            let zero = self.at.idx(0);
            let address = self.at.scalar(ScalarOp::Max, &[address, zero], index)?;
            operands.push(self.at.scalar(ScalarOp::Min, &[address, last], index)?);
        }
        let element = ir::result(op)?.r#type();
        Ok(self.at.value(ops::tensor::EXTRACT, &operands, &[], element)?)
    }

    /// Whether a subscript is a loop index whose values are less than an extent.
    fn is_within(&self, subscript: Value<'c, 'a>, extent: i64) -> bool {
        let bound =
            self.loop_form(subscript).and_then(|form| self.domain.extents.get(form.as_index()?)?.as_static());
        bound.is_some_and(|bound| bound <= extent)
    }

    /// Returns an index of the formula as an affine form of the loop indices.
    fn loop_form(&self, value: Value<'c, 'a>) -> Option<Affine> {
        let form = self.reading.find(value).and_then(|term| self.reading.nest.affine(term))?;
        form.substitute(&self.domain.indices, &self.domain.extents)
    }

    /// Emits the value of an affine form of the loop indices.
    fn form(&mut self, form: &Affine) -> Result<Value<'c, 'a>, Refusal> {
        if let Some(value) = form.as_constant() {
            return Ok(self.at.idx(value));
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
            extents.push(self.domain.extents.get(*number).copied().unwrap_or(Extent::ONE));
        }
        let overflow = Refusal::Shape("has subscripts beyond 64 bits");
        let form = form.substitute(&renamed, &extents).ok_or(overflow)?;
        let map = maps::map(self.at.context, operands.len(), &[form])
            .ok_or(Refusal::Shape("has subscripts beyond 64 bits"))?;
        let index = Type::index(self.at.context);
        Ok(self.at.value(ops::affine::APPLY, &operands, &[("map", map)], index)?)
    }

    fn iteration(&mut self, number: usize) -> Result<Value<'c, 'a>, Refusal> {
        if let Some(value) = self.loops.get(&number) {
            return Ok(*value);
        }
        let dimension: Attribute<'c> = crate::ir::attributes::i64(
            self.at.context,
            i64::try_from(number).map_err(|_| Refusal::Shape("has too many loops"))?,
        );
        let index = Type::index(self.at.context);
        let value = self.outermost.value(ops::linalg::INDEX, &[], &[("dim", dimension)], index)?;
        self.loops.insert(number, value);
        Ok(value)
    }

    /// Whether a value is an index of the formula, which may be computed from several loop indices.
    fn is_index(&self, value: Value<'c, 'a>) -> bool {
        self.reading.blocks().any(|block| {
            let mut indices = copy::arguments(block).into_iter().take(self.reading.indices);
            indices.any(|argument| ValueKey::of(argument) == ValueKey::of(value))
        })
    }

    /// Whether the operation is skipped at some points of the loops, but its copy would not be.
    fn is_conditional(&self, op: OperationRef<'c, 'a>) -> bool {
        let above: Vec<OperationRef> = parents(op).take_while(|parent| *parent != self.reading.op).collect();
        let outermost = above.last().copied().unwrap_or(op);
        let is_branch = |parent| self.branches.contains(parent);
        !above.iter().all(is_branch) || outermost.block() == Some(self.reading.body) && !self.holds
    }
}
