// SPDX-License-Identifier: Apache-2.0
//! Reads a `skript.formula` into plain data.

use super::digits;
use super::nest::{Nest, NestTarget, NestTensor, Term, TermId};
use crate::ir::arith::{Constant, integer_cast_source};
use crate::ir::attribute_names;
use crate::ir::builder::operations;
use crate::ir::copy::{arguments, operation_name};
use crate::ir::ops;
use crate::ir::scf::If;
use crate::ir::skript::{Access, Formula, Yield};
use crate::ir::{self, ValueKey, types};
use melior::Error;
use melior::ir::attribute::DenseI32ArrayAttribute;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{Attribute, BlockLike, BlockRef, OperationRef, RegionLike, RegionRef, Value, ValueLike};
use skript_frontend::model::Accumulation;
use skript_semantics::{RealType, ScalarKind, ScalarOp};
use skript_symbolic::{Affine, Extent, SymbolId};
use std::collections::HashMap;

/// A formula as data, and the IR values of its components.
#[derive(Clone)]
pub struct Reading<'c, 'a> {
    /// The formula as data.
    pub nest: Nest,
    /// The operation that was read.
    pub op: OperationRef<'c, 'a>,
    /// The block of the predicate, if there is one.
    pub predicate: Option<BlockRef<'c, 'a>>,
    /// The block of the body.
    pub body: BlockRef<'c, 'a>,
    /// Number of region arguments that are indices: that of [`Nest::extents`], if these are the formula's own.
    pub indices: usize,
    /// By [`Nest::tensors`]: captured tensors, and destinations with their initial elements.
    pub tensors: Vec<Value<'c, 'a>>,
    /// By [`Nest::targets`]: the tensors that the formula writes.
    pub outs: Vec<Value<'c, 'a>>,
    /// By [`Nest::targets`]: the first target that writes the same tensor ([`attribute_names::SAME_TENSOR`]).
    pub same: Vec<usize>,
    /// By [`Nest::extents`]: the dynamic extents.
    pub bounds: Vec<Option<Value<'c, 'a>>>,
    /// Number of symbols of dynamic extents, of loops and tensors. Those of loops are positions in `bounds`.
    symbols: usize,
    /// Whether some extent of a loop or tensor is dynamic.
    pub is_dynamic: bool,
    /// By [`Nest::targets`].
    pub values: Vec<Value<'c, 'a>>,
    /// By [`Nest::targets`].
    pub subscripts: Vec<Vec<Value<'c, 'a>>>,
    /// The result of each access.
    pub elements: Vec<(ValueKey, TermId)>,
    /// Values from outside of the formula that are not constants.
    pub outside: Vec<(Value<'c, 'a>, TermId)>,
    terms: HashMap<ValueKey, TermId>,
    /// Constants that are not integers.
    literals: Vec<(Attribute<'c>, TermId)>,
}

/// Why a formula cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // The message of each variant states its fields.
pub enum ReadError {
    #[error("it has dynamic extents")]
    DynamicExtent,
    #[error("it writes several elements of a tensor in one step")]
    SeveralElements,
    #[error("an operation in it has a region of several blocks, which lowerings do not support")]
    Blocks,
    #[error("the formula is malformed: {0}")]
    Malformed(&'static str),
    #[error(transparent)]
    Build(#[from] Error),
}

/// A formula whose loops have static extents.
pub struct StaticReading<'c, 'a> {
    reading: Reading<'c, 'a>,
    /// Extents of the indices, outermost first.
    pub domain: Vec<i64>,
}

impl<'c, 'a> TryFrom<Reading<'c, 'a>> for StaticReading<'c, 'a> {
    type Error = ReadError;

    fn try_from(reading: Reading<'c, 'a>) -> Result<Self, ReadError> {
        let domain = reading.nest.static_extents().ok_or(ReadError::DynamicExtent)?;
        Ok(StaticReading { reading, domain })
    }
}

impl<'c, 'a> std::ops::Deref for StaticReading<'c, 'a> {
    type Target = Reading<'c, 'a>;

    fn deref(&self) -> &Self::Target {
        &self.reading
    }
}

impl<'c: 'a, 'a> Reading<'c, 'a> {
    /// Reads a `skript.formula`.
    ///
    /// # Errors
    /// [`ReadError`] if the operation is not a formula, or has no form as a nest of loops.
    pub fn new(op: OperationRef<'c, 'a>) -> Result<Self, ReadError> {
        let formula = Formula::cast(op).ok_or(ReadError::Malformed("not a formula"))?;
        let mut extents = Vec::new();
        let mut run_time_bounds = Vec::new();
        let mut outs = op.operands();
        for bound in formula.static_bounds() {
            if bound != types::DYNAMIC {
                extents.push(Extent::Static(bound));
                run_time_bounds.push(None);
                continue;
            }
            let value = Some(outs.next().ok_or(ReadError::Malformed("too few bounds"))?);
            let first = run_time_bounds.iter().position(|own| *own == value);
            let symbol = first.unwrap_or(run_time_bounds.len());
            extents.push(Extent::Dynamic(SymbolId(symbol)));
            run_time_bounds.push(value);
        }
        let outs: Vec<_> = outs.collect();
        let same = match op.attribute(attribute_names::SAME_TENSOR) {
            Ok(attribute) => {
                let firsts = DenseI32ArrayAttribute::try_from(attribute)?;
                let first = |target| usize::try_from(firsts.element(target).ok()?).ok();
                (0..outs.len())
                    .map(|target| first(target).filter(|first| *first <= target))
                    .collect::<Option<_>>()
                    .ok_or(ReadError::Malformed("a destination that is not a tensor"))?
            }
            Err(_) => (0..outs.len()).collect(),
        };
        let body = formula.body()?;
        let mut reading = Reading {
            nest: Nest {
                extents,
                kind: kind(op)?,
                predicate: None,
                targets: Vec::new(),
                tensors: Vec::new(),
                terms: Vec::new(),
            },
            op,
            predicate: formula.predicate(),
            body,
            indices: run_time_bounds.len(),
            symbols: run_time_bounds.len(),
            tensors: Vec::new(),
            outs,
            same,
            is_dynamic: run_time_bounds.iter().any(Option::is_some),
            bounds: run_time_bounds,
            values: Vec::new(),
            subscripts: Vec::new(),
            elements: Vec::new(),
            outside: Vec::new(),
            terms: HashMap::new(),
            literals: Vec::new(),
        };
        for (target, out) in reading.outs.clone().into_iter().enumerate() {
            let extents = reading.extents_of(out)?;
            reading.tensors.push(out);
            reading.nest.tensors.push(NestTensor { extents, destination: Some(target) });
        }
        let indices = reading.indices;
        let mut destinations: HashMap<ValueKey, usize> = HashMap::new();
        for block in reading.blocks() {
            for (position, argument) in arguments(block).into_iter().enumerate() {
                if position < indices {
                    let term = reading.push(Term::Index(position));
                    reading.terms.insert(ValueKey::of(argument), term);
                } else {
                    destinations.insert(ValueKey::of(argument), position - indices);
                }
            }
        }
        if let Some(block) = reading.predicate {
            let condition = reading.block(block, &mut destinations)?;
            let condition = ir::operand(condition).map_err(|_| ReadError::Malformed("no condition"))?;
            reading.nest.predicate = Some(reading.term(condition)?);
        }
        let end = reading.block(body, &mut destinations)?;
        reading.finish(end)?;
        Ok(reading)
    }

    /// The formula over indices of other extents, with linear forms of these instead of some terms. `None` if a form is
    /// not linear.
    pub fn substituted(&self, extents: &[Extent], forms: &HashMap<TermId, Affine>) -> Option<Self> {
        let (nest, new) = self.nest.substituted(extents, forms)?;
        self.renewed(nest, &new)
    }

    /// The formula over the digits of indices that subscript lists of at least `least` dimensions divide; `None` if
    /// none does.
    pub fn by_digits(&self, least: usize) -> Option<Self> {
        let (nest, new) = digits::split(&self.nest, least)?;
        self.renewed(nest, &new)
    }

    /// The formula with another nest; `new` is the new term of each term.
    fn renewed(&self, nest: Nest, new: &[TermId]) -> Option<Self> {
        let term = |old: &TermId| new.get(*old).copied();
        // New indices come last.
        let mut bounds = self.bounds.clone();
        bounds.resize(nest.extents.len(), None);
        let terms = self.terms.iter();
        let elements = self.elements.iter();
        let literals = self.literals.iter();
        let outside = self.outside.iter();
        Some(Reading {
            nest,
            outside: outside.map(|(value, old)| Some((*value, term(old)?))).collect::<Option<_>>()?,
            terms: terms.map(|(key, old)| Some((*key, term(old)?))).collect::<Option<_>>()?,
            elements: elements.map(|(key, old)| Some((*key, term(old)?))).collect::<Option<_>>()?,
            literals: literals.map(|(value, old)| Some((*value, term(old)?))).collect::<Option<_>>()?,
            bounds,
            ..self.clone()
        })
    }

    /// The blocks of its regions: that of the predicate, if there is one, and the body.
    pub fn blocks(&self) -> impl Iterator<Item = BlockRef<'c, 'a>> + use<'c, 'a> {
        self.predicate.into_iter().chain([self.body])
    }

    /// Whether no two destinations are the same tensor.
    pub fn has_distinct_destinations(&self) -> bool {
        self.same.iter().enumerate().all(|(target, first)| *first == target)
    }

    /// Reads a formula with static extents that writes one element of each tensor in a step.
    pub(crate) fn of_fixed(op: OperationRef<'c, 'a>) -> Result<Self, ReadError> {
        match Self::new(op)? {
            reading if reading.is_dynamic => Err(ReadError::DynamicExtent),
            reading if !reading.has_distinct_destinations() => Err(ReadError::SeveralElements),
            reading => Ok(reading),
        }
    }

    /// The term of a value of either region.
    pub fn find(&self, value: Value<'c, 'a>) -> Option<TermId> {
        self.terms.get(&ValueKey::of(value)).copied()
    }

    /// Whether a term widens a real, which preserves its value.
    pub fn widens(&self, term: TermId) -> bool {
        use RealType::{BF16, F16, F32, F64};
        self.blocks().flat_map(operations).any(|op| {
            let types = || {
                let (from, to) = (ir::operand(op).ok()?, ir::result(op).ok()?);
                (self.find(to) == Some(term))
                    .then_some((types::reals(from.r#type())?, types::reals(to.r#type())?))
            };
            operation_name(op) == ops::skript::CAST
                && matches!(types(), Some((F16 | BF16, F32 | F64) | (F32, F64)))
        })
    }

    fn finish(&mut self, end: OperationRef<'c, 'a>) -> Result<(), ReadError> {
        let end = Yield::cast(end).ok_or(ReadError::Malformed("no end"))?;
        let (ranks, end) = (end.ranks()?, end.op());
        let operands: Vec<_> = end.operands().collect();
        let mut next = self.outs.len();
        for target in 0..self.outs.len() {
            let rank = usize::try_from(ranks.element(target)?)
                .map_err(|_| ReadError::Malformed("a negative rank"))?;
            let subscripts =
                operands.get(next..next + rank).ok_or(ReadError::Malformed("too few subscripts"))?.to_vec();
            next += rank;
            let value = *operands.get(target).ok_or(ReadError::Malformed("too few values"))?;
            let nest_target = NestTarget {
                extents: self
                    .nest
                    .tensors
                    .get(target)
                    .ok_or(ReadError::Malformed("too few tensors"))?
                    .extents
                    .clone(),
                subscripts: subscripts.iter().map(|s| self.term(*s)).collect::<Result<_, _>>()?,
                value: self.term(value)?,
            };
            self.nest.targets.push(nest_target);
            self.values.push(value);
            self.subscripts.push(subscripts);
        }
        Ok(())
    }

    fn push(&mut self, term: Term) -> TermId {
        self.nest.terms.push(term);
        self.nest.terms.len() - 1
    }

    /// Reads a block's operations; returns its terminator.
    fn block(
        &mut self,
        block: BlockRef<'c, 'a>,
        destinations: &mut HashMap<ValueKey, usize>,
    ) -> Result<OperationRef<'c, 'a>, ReadError> {
        let mut all = operations(block);
        let end = all.pop().ok_or(ReadError::Malformed("an empty block"))?;
        for op in all {
            self.operation(op, destinations)?;
        }
        Ok(end)
    }

    fn operation(
        &mut self,
        op: OperationRef<'c, 'a>,
        destinations: &mut HashMap<ValueKey, usize>,
    ) -> Result<(), ReadError> {
        let name = operation_name(op);
        match name.as_str() {
            ops::skript::ACCESS => {
                let access = Access::cast(op).ok_or(ReadError::Malformed("no access"))?;
                let tensor = access.tensor()?;
                let tensor = match destinations.get(&ValueKey::of(tensor)) {
                    Some(target) => *target,
                    None => self.captured(tensor)?,
                };
                let subscripts = access.subscripts().into_iter().map(|s| self.term(s));
                let subscripts = subscripts.collect::<Result<_, _>>()?;
                let term = self.push(Term::Access { tensor, subscripts });
                let key = ValueKey::of(ir::result(op)?);
                self.terms.insert(key, term);
                self.elements.push((key, term));
                Ok(())
            }
            ops::scf::IF => {
                let branch = If::cast(op).ok_or(ReadError::Malformed("no branch"))?;
                let condition = self.term(branch.condition()?)?;
                let mut ends = Vec::new();
                for region in op.regions() {
                    if let Some(block) = block_of(region)? {
                        ends.push(self.block(block, destinations)?);
                    }
                }
                for position in 0..op.result_count() {
                    let mut branches = Vec::new();
                    for end in &ends {
                        branches.push(self.term(end.operand(position)?)?);
                    }
                    let [then, otherwise] = branches.as_slice() else {
                        return Err(ReadError::Malformed("a branch without an alternative"));
                    };
                    let term = self.push(Term::Branch { condition, then: *then, otherwise: *otherwise });
                    self.terms.insert(ValueKey::of(op.result(position)?), term);
                }
                Ok(())
            }
            _ => {
                let operands = op.operands().map(|o| self.term(o)).collect::<Result<Vec<_>, _>>()?;
                if let Some(value) = constant(op) {
                    return self.define(op, value);
                }
                if let Some(same) = same_integer(op, &operands) {
                    self.terms.insert(ValueKey::of(ir::result(op)?), same);
                    return Ok(());
                }
                match scalar_operation(op, &name) {
                    Some((scalar, kind)) => {
                        let term = Term::Apply { op: scalar, kind, operands };
                        self.define(op, term)?;
                        self.wrap(op)
                    }
                    None => {
                        if let Some(literal) = self.literal(op) {
                            self.terms.insert(ValueKey::of(ir::result(op)?), literal);
                            return Ok(());
                        }
                        let mut operands = operands;
                        self.inside(op, &mut operands, destinations)?;
                        for result in op.results() {
                            let term = self.push(Term::Opaque { operands: operands.clone() });
                            self.terms.insert(ValueKey::of(result), term);
                        }
                        Ok(())
                    }
                }
            }
        }
    }

    /// The term of a constant; equal constants share one.
    fn literal(&mut self, op: OperationRef<'c, 'a>) -> Option<TermId> {
        let value = Constant::cast(op)?.value().ok()?;
        if let Some((_, term)) = self.literals.iter().find(|(own, _)| *own == value) {
            return Some(*term);
        }
        let operands = Vec::new();
        let term = self.push(Term::Opaque { operands });
        self.literals.push((value, term));
        Some(term)
    }

    /// Reads the regions of an operation that is not a branch: its results may depend on all values in them.
    fn inside(
        &mut self,
        op: OperationRef<'c, 'a>,
        sources: &mut Vec<TermId>,
        destinations: &mut HashMap<ValueKey, usize>,
    ) -> Result<(), ReadError> {
        let first = self.nest.terms.len();
        for region in op.regions() {
            let Some(block) = block_of(region)? else {
                continue;
            };
            for argument in arguments(block) {
                let operands = sources.clone();
                let term = self.push(Term::Opaque { operands });
                self.terms.insert(ValueKey::of(argument), term);
            }
            let end = self.block(block, destinations)?;
            for operand in end.operands() {
                sources.push(self.term(operand)?);
            }
        }
        sources.extend(first..self.nest.terms.len());
        Ok(())
    }

    /// Narrow integers wrap: a term that depends on indices is affine only if its range fits the type.
    fn wrap(&mut self, op: OperationRef<'c, 'a>) -> Result<(), ReadError> {
        let result = ir::result(op)?;
        let narrow = types::as_integer(result.r#type()).filter(|own| (2..64).contains(&own.width()));
        let term = self.find(result);
        if let (Some(narrow), Some(term)) = (narrow, term)
            && !self.nest.fits(term, narrow.width())
            && let Some(own) = self.nest.terms.get_mut(term)
        {
            let operands = own.operands();
            *own = Term::Opaque { operands };
        }
        Ok(())
    }

    fn define(&mut self, op: OperationRef<'c, 'a>, term: Term) -> Result<(), ReadError> {
        let term = self.push(term);
        self.terms.insert(ValueKey::of(ir::result(op)?), term);
        Ok(())
    }

    fn captured(&mut self, tensor: Value<'c, 'a>) -> Result<usize, ReadError> {
        let key = ValueKey::of(tensor);
        let known = self.tensors.iter().skip(self.outs.len()).position(|t| ValueKey::of(*t) == key);
        if let Some(position) = known {
            return Ok(position + self.outs.len());
        }
        let extents = self.extents_of(tensor)?;
        self.tensors.push(tensor);
        self.nest.tensors.push(NestTensor { extents, destination: None });
        Ok(self.tensors.len() - 1)
    }

    /// The value of a dynamic extent of a loop.
    pub fn bound(&self, extent: Extent) -> Option<Value<'c, 'a>> {
        match extent {
            Extent::Static(_) => None,
            Extent::Dynamic(SymbolId(symbol)) => self.bounds.get(symbol).copied().flatten(),
        }
    }

    fn extents_of(&mut self, tensor: Value<'c, 'a>) -> Result<Vec<Extent>, ReadError> {
        let extents = types::extents(tensor.r#type())
            .ok_or(ReadError::Malformed("an access to a value that is not a tensor"))?;
        Ok(extents
            .into_iter()
            .map(|extent| match extent {
                types::DYNAMIC => {
                    self.is_dynamic = true;
                    self.symbols += 1;
                    Extent::Dynamic(SymbolId(self.symbols - 1))
                }
                extent => Extent::Static(extent),
            })
            .collect())
    }

    fn term(&mut self, value: Value<'c, 'a>) -> Result<TermId, ReadError> {
        if let Some(term) = self.find(value) {
            return Ok(term);
        }
        let constant = OperationResult::try_from(value).ok().and_then(|r| constant(r.owner()));
        let is_constant = constant.is_some();
        let term = self.push(constant.unwrap_or(Term::Opaque { operands: Vec::new() }));
        self.terms.insert(ValueKey::of(value), term);
        if !is_constant {
            self.outside.push((value, term));
        }
        Ok(term)
    }
}

/// The block of a region of an operation in a formula; `None` if the region is empty.
fn block_of<'c: 'a, 'a>(region: RegionRef<'c, 'a>) -> Result<Option<BlockRef<'c, 'a>>, ReadError> {
    match region.first_block() {
        Some(block) if block.next_in_region().is_some() => Err(ReadError::Blocks),
        block => Ok(block),
    }
}

/// How a formula combines a value with the element that it writes.
pub(crate) fn kind(op: OperationRef<'_, '_>) -> Result<Accumulation, ReadError> {
    let formula = Formula::cast(op).ok_or(ReadError::Malformed("not a formula"))?;
    Ok(match formula.kind().as_str() {
        "assign" => Accumulation::Assign,
        "sum" => Accumulation::Sum,
        "product" => Accumulation::Product,
        "all" => Accumulation::All,
        "any" => Accumulation::Any,
        "min" => Accumulation::Min,
        "max" => Accumulation::Max,
        "replace" => Accumulation::Replace,
        _ => return Err(ReadError::Malformed("an unknown kind")),
    })
}

/// An integer or bool constant.
fn constant(op: OperationRef<'_, '_>) -> Option<Term> {
    let value = Constant::cast(op)?.integer()?;
    let r#type = ir::result(op).ok()?.r#type();
    match types::kind_of(r#type)? {
        ScalarKind::Bool => Some(Term::Bool(value != 0)),
        ScalarKind::Int => Some(Term::Int(value)),
        ScalarKind::Real => None,
    }
}

/// The operand of a cast that keeps a 64-bit integer.
fn same_integer(op: OperationRef<'_, '_>, operands: &[TermId]) -> Option<TermId> {
    integer_cast_source(op, &[ops::skript::CAST, ops::arith::INDEX_CAST])?;
    operands.first().copied()
}

/// The scalar operation that an op of the dialect is, and the kind of its operands.
pub(crate) fn scalar_operation(op: OperationRef<'_, '_>, name: &str) -> Option<(ScalarOp, ScalarKind)> {
    if !name.starts_with("skript.") || op.result_count() != 1 {
        return None;
    }
    let last = op.operands().last()?;
    let kind = types::kind_of(last.r#type())?;
    let result = types::kind_of(ir::result(op).ok()?.r#type())?;
    Some((ScalarOp::from_name(name, result)?, kind))
}
