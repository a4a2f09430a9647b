// SPDX-License-Identifier: Apache-2.0
//! Loops that carry the outputs as tensors, for compilers that have no buffers at this stage.
//!
//! A step is a `linalg.generic` without loops: it reads elements by `tensor.extract`, and returns the new elements, and the predicate
//! and the subscripts of writes that depend on data. `tensor.insert_slice` writes them. Other compilers put each `linalg.generic` into
//! a kernel; they would execute scalar operations between the loops on the host. A step with side effects remains scalar operations.
//!
//! [`Lowering::destinations`] are the contents of the outputs at the point of emission. Every loop and every branch around a write
//! returns the contents after it.

use super::Lowering;
use super::whole::zero;
use crate::formula::linalg::combine;
use crate::formula::{Refusal, structured};
use crate::ir::generic::{Access, generic};
use crate::ir::ops;
use crate::ir::shape::Slice;
use crate::ir::{Builder, ValueKey, copy, types};
use crate::structure::{Term, TermId};
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};
use skript_semantics::Scalar;

impl<'c: 'a, 'a> Lowering<'_, 'c, 'a> {
    /// Makes the initial contents of the outputs current, and all tensors readable.
    pub(super) fn begin_with_tensors(&mut self) {
        for tensor in &self.reading.tensors {
            self.buffers.insert(ValueKey::of(*tensor), *tensor);
        }
        self.destinations = self.reading.outs.clone();
        self.read_destinations();
    }

    /// Makes the region arguments for outputs refer to the current contents.
    pub(super) fn read_destinations(&mut self) {
        for block in self.reading.blocks() {
            let arguments = copy::arguments(block).into_iter().skip(self.reading.indices);
            for (argument, contents) in arguments.zip(&self.destinations) {
                self.buffers.insert(ValueKey::of(argument), *contents);
            }
        }
    }

    /// The first target that is the same tensor as this one.
    pub(super) fn first_target(&self, target: usize) -> usize {
        self.reading.same.get(target).copied().unwrap_or(target)
    }

    /// The current contents of the distinct outputs; none if the outputs are buffers.
    pub(super) fn contents(&self) -> Vec<Value<'c, 'a>> {
        let targets = self.destinations.iter().enumerate().filter(|(n, _)| self.first_target(*n) == *n);
        targets.map(|(_, contents)| *contents).filter(|_| self.options.tensors).collect()
    }

    /// Replaces what [`Self::contents`] returns.
    pub(super) fn set_contents(&mut self, contents: &[Value<'c, 'a>]) {
        if !self.options.tensors {
            return;
        }
        let mut new = contents.iter();
        for target in 0..self.destinations.len() {
            let first = self.first_target(target);
            let value = if first == target { new.next() } else { self.destinations.get(first) }.copied();
            if let (Some(destination), Some(value)) = (self.destinations.get_mut(target), value) {
                *destination = value;
            }
        }
        self.read_destinations();
    }

    /// Emits the loop at a depth, which carries the contents of the outputs.
    pub(super) fn tensor_loop(&mut self, depth: usize, at: &Builder<'c, 'a>) -> Result<(), Refusal> {
        let nothing = || Refusal::Shape("has no loop");
        let extent = self.extent(depth).ok_or_else(nothing)?;
        let before = self.contents();
        let mut types = vec![Type::index(at.context)];
        types.extend(before.iter().map(|tensor| tensor.r#type()));
        let (region, inner, arguments) = at.region(&types);
        let (index, carried) = arguments.split_first().ok_or_else(nothing)?;
        let outer = self.copier.clone();
        self.set_contents(carried);
        self.indices.push(*index);
        self.nest(depth + 1, &inner)?;
        self.indices.pop();
        self.copier = outer;
        self.loops.end(&self.contents(), &inner)?;
        self.set_contents(&before);
        let range = self.range(depth, self.end(extent)?, at)?;
        let op = self.loops.create(range, &before, region, at)?;
        let after: Vec<_> = op.results().map(Into::into).collect();
        self.set_contents(&after);
        Ok(())
    }

    /// Whether the steps are `linalg.generic`. Two combined writes of one step to the same tensor are scalar operations, as is a
    /// step with side effects.
    pub(super) fn has_generic_steps(&self) -> bool {
        let combines_twice =
            self.reading.nest.kind.op().is_some() && !self.reading.has_distinct_destinations();
        self.options.tensors && !combines_twice && !structured::has_effects(self.reading.op)
    }

    /// Whether terms are integer arithmetic on indices and on values from outside.
    fn is_known(&self, roots: &[TermId]) -> bool {
        let nest = &self.reading.nest;
        nest.reachable(roots).iter().all(|term| match nest.terms.get(*term) {
            Some(Term::Access { .. } | Term::Branch { .. }) | None => false,
            Some(Term::Opaque { operands }) => operands.is_empty(),
            Some(Term::Int(_) | Term::Bool(_) | Term::Index(_) | Term::Apply { .. }) => true,
        })
    }

    /// Emits one step as a `linalg.generic`, and the writes.
    pub(super) fn generic_step(&mut self, at: &Builder<'c, 'a>) -> Result<(), Refusal> {
        let is_guarded = !self.guard.others.is_empty();
        let predicate = self.reading.nest.predicate;
        if !is_guarded || !predicate.is_some_and(|predicate| self.is_known(&[predicate])) {
            return self.step_at_known_point(is_guarded, at);
        }
        let before = self.contents();
        let types: Vec<_> = before.iter().map(|tensor| tensor.r#type()).collect();
        let after = self.under_guard(0, &types, &before, at, &mut |this, at| {
            this.step_at_known_point(false, at)?;
            Ok(this.contents())
        })?;
        self.set_contents(&after);
        Ok(())
    }

    /// Emits a step. If it `is_guarded`, its first result is the value of the predicate.
    fn step_at_known_point(&mut self, is_guarded: bool, at: &Builder<'c, 'a>) -> Result<(), Refusal> {
        let (flag, word) = (types::flag(at.context), types::int(at.context, 64));
        let nest = &self.reading.nest;
        let known: Vec<bool> = nest.targets.iter().map(|target| self.is_known(&target.subscripts)).collect();
        let mut kinds: Vec<Type> = is_guarded.then_some(flag).into_iter().collect();
        for ((target, out), is_known) in nest.targets.iter().zip(&self.reading.outs).zip(&known) {
            let subscripts = if *is_known { 0 } else { target.subscripts.len() };
            kinds.extend(std::iter::repeat_n(word, subscripts));
            kinds.push(element_of(*out)?);
        }
        let results = self.computed(&kinds, at, |this, inner| {
            let holds = inner.constant(Scalar::Bool(true), flag)?;
            let otherwise = kinds.iter().map(|kind| zero(*kind, inner)).collect::<Result<Vec<_>, _>>()?;
            let mut step = |this: &mut Self, inner: &Builder<'c, 'a>| {
                let mut yielded: Vec<Value> = is_guarded.then_some(holds).into_iter().collect();
                for (target, value) in this.values(inner)?.into_iter().enumerate() {
                    let position = this.target_position(target, inner)?;
                    if known.get(target) == Some(&false) {
                        yielded.extend(position.iter().map(|index| inner.index_cast(*index, word)));
                    }
                    yielded.push(this.combined(target, value, &position, inner)?);
                }
                Ok(yielded)
            };
            if is_guarded {
                this.under_guard(0, &kinds, &otherwise, inner, &mut step)
            } else {
                step(this, inner)
            }
        })?;
        let mut results = results.into_iter();
        if !is_guarded {
            return self.write_results(&known, &mut results, at);
        }
        let holds = results.next().ok_or(Refusal::Shape("has no predicate"))?;
        let holds = at.value(ops::tensor::EXTRACT, &[holds], &[], flag)?;
        let before = self.contents();
        let types: Vec<_> = before.iter().map(|tensor| tensor.r#type()).collect();
        let (then_region, then, _) = at.region(&[]);
        self.write_results(&known, &mut results, &then)?;
        then.create(ops::scf::YIELD, &self.contents(), &[], &[], Vec::new())?;
        let (else_region, other, _) = at.region(&[]);
        other.create(ops::scf::YIELD, &before, &[], &[], Vec::new())?;
        let op = at.create(ops::scf::IF, &[holds], &[], &types, vec![then_region, else_region])?;
        let after: Vec<_> = op.results().map(Into::into).collect();
        self.set_contents(&after);
        Ok(())
    }

    /// Combines a value with the element of the target, if the formula accumulates.
    fn combined(
        &mut self,
        target: usize,
        value: Value<'c, 'a>,
        position: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Refusal> {
        if self.reading.nest.kind.op().is_none() {
            return Ok(value);
        }
        let present = self.load(target, position, at)?;
        combine(self.reading, value, present, at)
    }

    /// Emits a `linalg.generic` without loops that returns a tensor of rank 0 of each type.
    pub(super) fn computed(
        &mut self,
        kinds: &[Type<'c>],
        at: &Builder<'c, 'a>,
        body: impl FnOnce(&mut Self, &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Refusal>,
    ) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        let mut outputs = Vec::new();
        for kind in kinds {
            let empty = at.value(ops::tensor::EMPTY, &[], &[], types::tensor(&[], *kind))?;
            outputs.push(Access(empty, Vec::new()));
        }
        let outer = self.copier.clone();
        let op = generic(at, &[], &outputs, &[], |inner, _| body(self, inner))?;
        self.copier = outer;
        Ok(op.results().map(Into::into).collect())
    }

    /// Writes the elements of a step. Before an element, `results` has its subscripts unless they are known.
    fn write_results(
        &mut self,
        known: &[bool],
        results: &mut impl Iterator<Item = Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        let missing = || Refusal::Shape("has too few destinations");
        for (target, is_known) in known.iter().enumerate() {
            let position = if *is_known {
                self.target_position(target, at)?
            } else {
                let rank = self.reading.nest.targets.get(target).ok_or_else(missing)?.subscripts.len();
                let subscript = |tensor: Value<'c, 'a>| {
                    let word = at.value(ops::tensor::EXTRACT, &[tensor], &[], types::int(at.context, 64))?;
                    Ok::<_, Refusal>(at.index_cast(word, Type::index(at.context)))
                };
                results.by_ref().take(rank).map(subscript).collect::<Result<Vec<_>, _>>()?
            };
            let element = results.next().ok_or_else(missing)?;
            self.insert_slice(target, &position, element, at)?;
        }
        Ok(())
    }

    /// Writes an element, which is a tensor of rank 0.
    pub(super) fn insert_slice(
        &mut self,
        target: usize,
        position: &[Value<'c, 'a>],
        element: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        let tensor = self.destination(target)?;
        let slice = Slice { indices: position.iter().copied().map(Some).collect() };
        let written = if position.is_empty() { element } else { slice.insert(element, tensor, at)? };
        self.set_destination(target, written);
        Ok(())
    }

    /// Writes an element of a target.
    pub(super) fn insert(
        &mut self,
        target: usize,
        position: &[Value<'c, 'a>],
        value: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        let tensor = self.destination(target)?;
        let operands = [&[value, tensor], position].concat();
        let written = at.value(ops::tensor::INSERT, &operands, &[], tensor.r#type())?;
        self.set_destination(target, written);
        Ok(())
    }

    /// Sets the contents of a target, and of all targets that are the same tensor.
    fn set_destination(&mut self, target: usize, contents: Value<'c, 'a>) {
        let first = self.first_target(target);
        for other in 0..self.destinations.len() {
            let is_same = self.first_target(other) == first;
            if let Some(destination) = self.destinations.get_mut(other).filter(|_| is_same) {
                *destination = contents;
            }
        }
        self.read_destinations();
    }
}

pub(super) fn element_of<'c>(out: Value<'c, '_>) -> Result<Type<'c>, Refusal> {
    types::element_of(out.r#type()).ok_or(Refusal::Shape("writes a value that is not a tensor"))
}
