//! Branches and loops (2.10.1).

use crate::block::Evaluator;
use crate::error::{EvalError, Failure, internal};
use crate::frame::{Frame, splat};
use skript_frontend::model::{Arm, Block, Loop, ValueId};
use skript_semantics::Scalar;
use skript_tensor::Tensor;
use std::sync::Arc;

impl<'m> Evaluator<'m, '_> {
    pub fn branch(
        &mut self,
        frame: &mut Frame<'m>,
        arms: &'m [Arm],
        otherwise: &'m Block,
        outputs: &[ValueId],
    ) -> Result<(), EvalError> {
        let mut chosen = otherwise;
        for arm in arms {
            if self.test(frame, &arm.condition)? {
                chosen = &arm.consequent;
                break;
            }
        }
        self.block(frame, chosen)?;
        let results = frame.all(&chosen.results)?;
        if results.len() != outputs.len() {
            return Err(internal("a branch yields another number of results"));
        }
        for (&id, tensor) in outputs.iter().zip(results) {
            self.show(frame, id, tensor)?;
        }
        Ok(())
    }

    /// Runs a block that yields one bool.
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

    pub fn iterate(&mut self, frame: &mut Frame<'m>, l: &'m Loop) -> Result<(), EvalError> {
        let count = iterations(frame, l)?;
        for carried in &l.carried {
            let init = frame.get(carried.init)?.clone();
            frame.bind(carried.inner, init)?;
        }
        let mut iteration = 0u64;
        while count.is_none_or(|c| iteration < c) {
            if iteration >= self.settings.max_iterations {
                return Err(Failure::TooManyIterations(iteration).into());
            }
            let position = usize::try_from(iteration).unwrap_or(usize::MAX);
            if let Some(index) = l.index {
                let number = i64::try_from(iteration).unwrap_or(i64::MAX);
                frame.bind(index, Arc::new(Tensor::from_i64(&[], &[number])?))?;
            }
            for (item, pack) in &l.scans {
                let &source = pack
                    .get(position)
                    .ok_or_else(|| internal("a loop scans beyond its pack"))?;
                let tensor = frame.get(source)?.clone();
                frame.bind(*item, tensor)?;
            }
            if let Some(before) = &l.before
                && !self.test(frame, before)?
            {
                break;
            }
            self.block(frame, &l.body)?;
            self.take_results(frame, l, position)?;
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
        // Items of iterations that did not take place hold T().
        let done = usize::try_from(iteration).unwrap_or(usize::MAX);
        for pack in &l.scan_outputs {
            for &id in pack.iter().skip(done) {
                let kind = frame.declared(id)?.tensor.kind;
                let tensor = splat(kind, &frame.shape(id)?, kind.default_value())?;
                self.show(frame, id, Arc::new(tensor))?;
            }
        }
        Ok(())
    }

    /// After an iteration: all results are read before any carried tensor changes.
    fn take_results(
        &mut self,
        frame: &mut Frame<'m>,
        l: &'m Loop,
        position: usize,
    ) -> Result<(), EvalError> {
        let mut results = frame.all(&l.body.results)?.into_iter();
        for carried in &l.carried {
            let next = results
                .next()
                .ok_or_else(|| internal("a loop's body yields too few results"))?;
            frame.bind(carried.inner, next)?;
        }
        for (pack, tensor) in l.scan_outputs.iter().zip(results) {
            let &id = pack
                .get(position)
                .ok_or_else(|| internal("a loop has more iterations than scan outputs"))?;
            self.show(frame, id, tensor)?;
        }
        Ok(())
    }
}

/// How often a loop runs unless a condition ends it; `None`: until then.
fn iterations(frame: &Frame<'_>, l: &Loop) -> Result<Option<u64>, EvalError> {
    let length = l.scans.iter().map(|(_, pack)| pack.len()).min();
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
    // A negative count is no iteration.
    let wanted = u64::try_from(count).unwrap_or(0);
    match fixed {
        Some(limit) if wanted > limit => Err(Failure::ScanTooShort {
            count,
            length: usize::try_from(limit).unwrap_or(usize::MAX),
        }
        .into()),
        _ => Ok(Some(wanted)),
    }
}
