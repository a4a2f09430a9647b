// SPDX-License-Identifier: Apache-2.0
//! Branches and loops (2.10.1).

use crate::POINTS_PER_INVOCATION;
use crate::block::Evaluator;
use crate::error::{EvalError, Failure, internal};
use crate::frame::{Frame, splat};
use skript_frontend::model::{Arm, Block, Loop, ValueId};
use skript_semantics::Scalar;
use skript_tensor::Tensor;
use std::sync::Arc;

impl<'m> Evaluator<'m, '_> {
    pub(crate) fn branch(
        &mut self,
        frame: &mut Frame<'m>,
        arms: &'m [Arm],
        otherwise: &'m Block,
        outputs: &[ValueId],
    ) -> Result<(), EvalError> {
        let mut selected = otherwise;
        for arm in arms {
            if self.test(frame, &arm.condition)? {
                selected = &arm.consequent;
                break;
            }
        }
        self.block(frame, selected)?;
        let results = frame.all(&selected.results)?;
        if results.len() != outputs.len() {
            return Err(internal("a branch yields a different number of results"));
        }
        for (&id, tensor) in outputs.iter().zip(results) {
            self.show(frame, id, tensor)?;
        }
        Ok(())
    }

    /// Executes a block that yields one bool.
    fn test(&mut self, frame: &mut Frame<'m>, block: &'m Block) -> Result<bool, EvalError> {
        self.block(frame, block)?;
        let &[result] = block.results.as_slice() else {
            return Err(internal("a condition yields not one result"));
        };
        match frame.get(result)?.get(0) {
            Some(Scalar::Bool(b)) => Ok(b),
            _ => Err(internal("a condition is not one bool")),
        }
    }

    pub(crate) fn iterate(&mut self, frame: &mut Frame<'m>, l: &'m Loop) -> Result<(), EvalError> {
        let count = iterations(frame, l)?;
        for carried in &l.carried {
            let init = frame.get(carried.init)?.clone();
            frame.bind(carried.inner, init)?;
        }
        let mut iteration = 0u64;
        let open =
            l.before.is_some() || l.after.is_some() || l.dynamic_count.is_some() || !l.stack_scans.is_empty();
        let max_iterations = self.settings.max_iterations;
        if !open && count.is_some_and(|c| c > max_iterations) {
            return Err(Failure::TooManySteps(max_iterations).into());
        }
        let mut stacks: Vec<Vec<Arc<Tensor>>> = vec![Vec::new(); l.scan_outputs.len()];
        while count.is_none_or(|c| iteration < c) {
            self.settings.spend(POINTS_PER_INVOCATION)?;
            let position = iteration as usize;
            if let Some(index) = l.index {
                let number = iteration.cast_signed();
                let int = frame.function.numbers_of(frame.declared(index)?).int;
                if int.wrap(number) != number {
                    return Err(Failure::StepBeyond { int, number }.into());
                }
                let number = splat(frame.element(index)?, &[], Scalar::Int(number))?;
                frame.bind(index, Arc::new(number))?;
            }
            for (item, pack) in &l.scans {
                let &source = pack.get(position).ok_or_else(|| internal("a loop scans beyond its pack"))?;
                let tensor = frame.get(source)?.clone();
                frame.bind(*item, tensor)?;
            }
            for (item, stack) in &l.stack_scans {
                let tensor = slice(frame, *stack, position)?;
                frame.bind(*item, Arc::new(tensor))?;
            }
            if let Some(before) = &l.before
                && !self.test(frame, before)?
            {
                break;
            }
            if let Some(capacity) = l.capacity.filter(|capacity| iteration >= *capacity) {
                return Err(Failure::CapacityExceeded(capacity).into());
            }
            match l.max_steps {
                Some(steps) if iteration >= steps => return Err(Failure::Endless(steps).into()),
                None if iteration >= max_iterations => {
                    return Err(Failure::TooManySteps(max_iterations).into());
                }
                _ => {}
            }
            self.block(frame, &l.body)?;
            let collected = self.take_results(frame, l)?;
            for (index, tensor) in collected.into_iter().enumerate() {
                if open {
                    if let Some(stack) = stacks.get_mut(index) {
                        agrees(stack, &tensor)?;
                        stack.push(tensor);
                    }
                    continue;
                }
                let &id = l
                    .scan_outputs
                    .get(index)
                    .and_then(|pack| pack.get(position))
                    .ok_or_else(|| internal("a loop has more iterations than scan outputs"))?;
                self.show(frame, id, tensor)?;
            }
            iteration += 1;
            if let Some(after) = &l.after
                && !self.test(frame, after)?
            {
                break;
            }
        }
        for carried in &l.carried {
            let last = frame.get(carried.inner)?.clone();
            self.show(frame, carried.result, last)?;
        }
        if open {
            for (pack, items) in l.scan_outputs.iter().zip(stacks) {
                let &[id] = pack.as_slice() else {
                    return Err(internal("results of an open loop are one tensor"));
                };
                let tensor = stacked(frame, id, &items)?;
                self.show(frame, id, Arc::new(tensor))?;
            }
            return Ok(());
        }
        // Items of iterations that were not executed hold T().
        for pack in &l.scan_outputs {
            for &id in pack.iter().skip(iteration as usize) {
                let element = frame.element(id)?;
                let tensor = splat(element, &frame.shape(id)?, element.kind().default_value())?;
                self.show(frame, id, Arc::new(tensor))?;
            }
        }
        Ok(())
    }

    /// Ends an iteration: reads all results before it changes a loop-carried tensor.
    fn take_results(&mut self, frame: &mut Frame<'m>, l: &'m Loop) -> Result<Vec<Arc<Tensor>>, EvalError> {
        let mut results = frame.all(&l.body.results)?.into_iter();
        for carried in &l.carried {
            let next = results.next().ok_or_else(|| internal("a loop's body yields too few results"))?;
            frame.bind(carried.inner, next)?;
        }
        Ok(results.collect())
    }
}

/// Returns an error unless the item has the extents of the first item of the pack.
fn agrees(stack: &[Arc<Tensor>], item: &Tensor) -> Result<(), Failure> {
    let Some(first) = stack.first() else {
        return Ok(());
    };
    let mut extents = item.shape().iter().zip(first.shape());
    match extents.find(|(extent, first)| extent != first) {
        Some((&extent, &before)) => Err(Failure::ItemExtent { item: stack.len(), extent, before }),
        None => Ok(()),
    }
}

/// Stacks the items along a new first dimension.
fn stacked(frame: &Frame<'_>, id: ValueId, items: &[Arc<Tensor>]) -> Result<Tensor, EvalError> {
    let declared = &frame.declared(id)?.tensor;
    let shape = match items.first() {
        Some(first) => first.shape().to_vec(),
        // An extent that only the items determine is zero if there are no items.
        None => {
            let known = |extent| match frame.known_extent(extent) {
                Some(_) => frame.extent(extent),
                None => Ok(0),
            };
            let extents = declared.shape.iter().skip(1).map(known);
            extents.collect::<Result<Vec<u64>, _>>()?
        }
    };
    Ok(Tensor::stacked(frame.element(id)?, &shape, items)?)
}

/// One item of a pack that is stored as one tensor.
fn slice(frame: &Frame<'_>, stack: ValueId, position: usize) -> Result<Tensor, EvalError> {
    let whole = frame.get(stack)?;
    let [_, shape @ ..] = whole.shape() else {
        return Err(internal("a pack that is one tensor has no dimensions"));
    };
    let mut item = Tensor::zeros(whole.element(), shape)?;
    let bytes = item.bytes_mut()?;
    let size = bytes.len();
    let begin = position.saturating_mul(size);
    match whole.bytes().get(begin..begin.saturating_add(size)) {
        Some(part) => bytes.copy_from_slice(part),
        None => return Err(internal("a loop scans beyond its pack")),
    }
    Ok(item)
}

/// The number of iterations of a loop unless a condition ends it; `None` without limit.
fn iterations(frame: &Frame<'_>, l: &Loop) -> Result<Option<u64>, EvalError> {
    let mut lengths: Vec<usize> = l.scans.iter().map(|(_, pack)| pack.len()).collect();
    for (_, stack) in &l.stack_scans {
        let [items, ..] = frame.get(*stack)?.shape() else {
            return Err(internal("a pack that is one tensor has no dimensions"));
        };
        lengths.push(*items as usize);
    }
    let length = lengths.iter().min().copied();
    if let (Some(&shortest), Some(&longest)) = (lengths.iter().min(), lengths.iter().max())
        && shortest != longest
    {
        return Err(Failure::ScanLengths { shortest, longest }.into());
    }
    let fixed = match (l.static_count, length) {
        (Some(count), Some(length)) => Some(count.min(length as u64)),
        (Some(count), None) => Some(count),
        (None, Some(length)) => Some(length as u64),
        (None, None) => None,
    };
    let Some(id) = l.dynamic_count else {
        return Ok(fixed);
    };
    let Some(Scalar::Int(count)) = frame.get(id)?.get(0) else {
        return Err(internal("a loop's count is not one int"));
    };
    // A negative count means zero iterations.
    let wanted = count.max(0).cast_unsigned();
    match fixed {
        Some(limit) if wanted > limit => Err(Failure::ScanTooShort { count, length: limit as usize }.into()),
        _ => Ok(Some(wanted)),
    }
}
