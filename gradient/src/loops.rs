// SPDX-License-Identifier: Apache-2.0
//! Loops of graphs, which are unrolled. If data end a loop, all steps up to its bound are computed like branches: a step that is not
//! executed reads zeros, and the tensors keep their values.

use crate::branches::Selected;
use crate::flatten::{Environment, Flattening, MAX_STEPS, TOO_MANY, TensorId};
use skript_frontend::model::{Block, ConstantData, Function, Loop, TensorType};
use skript_semantics::{Scalar, ScalarKind};

const UNBOUNDED: &str = "data decide the number of steps of a loop, and the document has no bound for it; write one, as in \
                         `while c do..(20)`";
const COLLECTING: &str =
    "data decide how many results a loop collects; without them, the loop has a gradient";
const PACK: &str = "data decide the length of the pack that a loop reads";

impl Flattening<'_> {
    /// Unrolls a loop.
    pub fn unroll(
        &mut self,
        function: &Function,
        looping: &Loop,
        environment: &mut Environment,
        prefix: &str,
    ) {
        let is_open = looping.before.is_some() || looping.after.is_some() || looping.dynamic_count.is_some();
        if !looping.stack_scans.is_empty() {
            return self.refuse(function, looping.span, PACK);
        }
        let Some(count) = looping.static_count else {
            return self.refuse(function, looping.span, UNBOUNDED);
        };
        if is_open && !looping.scan_outputs.is_empty() {
            return self.refuse(function, looping.span, COLLECTING);
        }
        if count > MAX_STEPS as u64 {
            return self.refuse(function, looping.span, TOO_MANY);
        }
        for declared in &looping.carried {
            let init = environment.get(&declared.init).copied();
            environment.extend(init.map(|tensor| (declared.inner, tensor)));
        }
        let mut going = None;
        for (step, number) in (0_usize..).zip(0_i64..).zip(0..count).map(|(step, _)| step) {
            going = self.step(function, looping, (step, number), going, environment, prefix);
            if !self.refusals.is_empty() {
                return;
            }
        }
        for declared in &looping.carried {
            let last = environment.get(&declared.inner).copied();
            environment.extend(last.map(|tensor| (declared.result, tensor)));
        }
    }

    /// Adds a step with a number. `going` is true unless the loop has ended; the result is this after the step.
    fn step(
        &mut self,
        function: &Function,
        looping: &Loop,
        (step, number): (usize, i64),
        mut going: Option<TensorId>,
        environment: &mut Environment,
        prefix: &str,
    ) -> Option<TensorId> {
        for (item, pack) in &looping.scans {
            let tensor = pack.get(step).and_then(|tensor| environment.get(tensor)).copied();
            environment.extend(tensor.map(|tensor| (*item, tensor)));
        }
        if looping.index.is_some() || looping.dynamic_count.is_some() {
            let tensor = self.tensor("step", TensorType { kind: ScalarKind::Int, shape: Vec::new() });
            self.graph.constants.insert(tensor, ConstantData::Splat(Scalar::Int(number)));
            environment.extend(looping.index.map(|index| (index, tensor)));
            if let Some(count) = looping.dynamic_count.and_then(|count| environment.get(&count)).copied() {
                let name = format!("{prefix}is_step");
                let below =
                    self.selected(Selected::Below, &[tensor, count], &name, function, looping.span)?;
                going = self.both(going, below, function, looping, prefix);
            }
        }
        going = self.condition(going, looping.before.as_ref(), function, looping, environment, prefix);
        let first = self.graph.steps.len();
        self.block(function, &looping.body, environment, prefix);
        if !self.refusals.is_empty() {
            return None;
        }
        if let Some(going) = going {
            let range = first..self.graph.steps.len();
            self.restrict(range, going, Selected::Then, function, looping.span);
        }
        let results: Vec<Option<TensorId>> =
            looping.body.results.iter().map(|result| environment.get(result).copied()).collect();
        let (next, collected) = results.split_at(looping.carried.len().min(results.len()));
        for (declared, tensor) in looping.carried.iter().zip(next) {
            let old = environment.get(&declared.inner).copied();
            let new = match (going, *tensor, old) {
                (Some(going), Some(tensor), Some(old)) => {
                    let name = function.values.get(declared.inner.0 as usize).and_then(|v| v.name.clone());
                    let name = format!("{prefix}{}", name.as_deref().unwrap_or("state"));
                    self.choice([going, tensor, old], &name, function, looping.span)
                }
                (_, tensor, _) => tensor,
            };
            environment.extend(new.map(|tensor| (declared.inner, tensor)));
        }
        for (pack, tensor) in looping.scan_outputs.iter().zip(collected) {
            environment.extend(pack.get(step).copied().zip(*tensor));
        }
        self.condition(going, looping.after.as_ref(), function, looping, environment, prefix)
    }

    /// Whether the loop goes on, with a condition.
    fn condition(
        &mut self,
        going: Option<TensorId>,
        block: Option<&Block>,
        function: &Function,
        looping: &Loop,
        environment: &mut Environment,
        prefix: &str,
    ) -> Option<TensorId> {
        let Some(block) = block else { return going };
        self.block(function, block, environment, prefix);
        let holds = block.results.first().and_then(|value| environment.get(value)).copied()?;
        self.both(going, holds, function, looping, prefix)
    }

    /// The conjunction of two conditions; the first one may be missing.
    fn both(
        &mut self,
        going: Option<TensorId>,
        holds: TensorId,
        function: &Function,
        looping: &Loop,
        prefix: &str,
    ) -> Option<TensorId> {
        match going {
            Some(going) => {
                self.choice([going, holds, going], &format!("{prefix}is_going"), function, looping.span)
            }
            None => Some(holds),
        }
    }
}
