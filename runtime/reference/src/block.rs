// SPDX-License-Identifier: Apache-2.0
//! Functions, blocks, invocations.

use crate::error::{EvalError, Failure, internal};
use crate::frame::Frame;
use crate::{Observer, Outcome, POINTS_PER_INVOCATION, Settings, check, formula, intrinsics};
use skript_frontend::model::{Block, Body, Function, FunctionId, Invoke, Model, Operation, Port, ValueId};
use skript_semantics::{Numbers, Scalar};
use skript_tensor::{ElementType, Tensor};
use std::sync::Arc;

/// Maximum depth of invocations; models of the frontend have a far smaller depth.
const MAX_DEPTH: usize = 4096;

pub(crate) struct Evaluator<'m, 'o> {
    pub model: &'m Model,
    pub(crate) settings: &'m Settings,
    observer: &'m mut Observer<'o>,
    depth: usize,
    /// Random operators executed so far.
    draws: u64,
}

impl<'m, 'o> Evaluator<'m, 'o> {
    pub(crate) fn new(model: &'m Model, settings: &'m Settings, observer: &'m mut Observer<'o>) -> Self {
        Evaluator { model, settings, observer, depth: 0, draws: 0 }
    }

    /// Evaluates the entry.
    pub(crate) fn run(
        &mut self,
        inputs: &[Arc<Tensor>],
        variables: &[Arc<Tensor>],
    ) -> Result<Outcome, EvalError> {
        let entry = self.function(self.model.entry)?;
        let captures: Vec<Arc<Tensor>> = entry
            .capture_variables
            .iter()
            .map(|v| variables.get(v.0 as usize).cloned())
            .collect::<Option<_>>()
            .ok_or(Failure::Count {
                what: "variables",
                expected: self.model.variables.len(),
                got: variables.len(),
            })?;
        let frame = self.activate(entry, entry.name.clone(), inputs, &captures, &[])?;
        let updates = self
            .model
            .updates
            .iter()
            .map(|(variable, value)| Ok((*variable, frame.get(*value)?.clone())))
            .collect::<Result<_, EvalError>>()?;
        Ok(Outcome { outputs: frame.all(&flattened(&entry.outputs))?, updates })
    }

    /// The seed of the next intrinsic.
    fn stream(&mut self, name: &str) -> u64 {
        if !skript_intrinsics::is_random(name) {
            return 0;
        }
        self.draws = self.draws.wrapping_add(1);
        skript_intrinsics::compiled::stream(self.settings.seed, self.draws)
    }

    pub(crate) fn function(&self, id: FunctionId) -> Result<&'m Function, EvalError> {
        self.model.function(id).ok_or_else(|| internal(format!("there is no function {}", id.0)))
    }

    /// Executes a function; its frame holds all its tensors.
    fn activate(
        &mut self,
        function: &'m Function,
        path: String,
        inputs: &[Arc<Tensor>],
        captures: &[Arc<Tensor>],
        extents: &[i64],
    ) -> Result<Frame<'m>, EvalError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(internal("operators invoke each other without end"));
        }
        self.settings.spend(POINTS_PER_INVOCATION)?;
        let mut frame = Frame::new(function, path, self.settings, function.numbers);
        let location = |e: EvalError| e.within(&function.name, function.span);
        let closer = |e: EvalError| e.in_function(&function.name, function.span);
        bind_all(&mut frame, "inputs", &flattened(&function.inputs), inputs).map_err(closer)?;
        bind_all(&mut frame, "captures", &function.captures, captures).map_err(closer)?;
        frame.define_extents(extents).map_err(location)?;
        check::run(&frame, &function.checks)?;
        for (id, data) in &function.constants {
            let tensor = frame.constant(*id, data).map_err(location)?;
            self.show(&mut frame, *id, Arc::new(tensor)).map_err(location)?;
        }
        match &function.body {
            Body::Block(block) => {
                self.block(&mut frame, block)?;
            }
            Body::Formulas(formulas) => {
                for (id, tensor) in formula::run_all(&frame, formulas)? {
                    self.show(&mut frame, id, Arc::new(tensor)).map_err(location)?;
                }
            }
            Body::Intrinsic => {
                let seed = self.stream(&function.name);
                let results = intrinsics::call(&frame, inputs, seed).map_err(location)?;
                let outputs = flattened(&function.outputs);
                if results.len() != outputs.len() {
                    return Err(location(internal("an intrinsic has a different number of results")));
                }
                for (id, tensor) in outputs.into_iter().zip(results) {
                    self.show(&mut frame, id, Arc::new(tensor)).map_err(location)?;
                }
            }
        }
        check::run(&frame, &function.result_checks)?;
        self.depth -= 1;
        Ok(frame)
    }

    /// Executes the operations; the frame holds the block's results afterwards.
    pub(crate) fn block(&mut self, frame: &mut Frame<'m>, block: &'m Block) -> Result<(), EvalError> {
        for operation in &block.operations {
            match operation {
                Operation::Invoke(invoke) => {
                    self.invoke(frame, invoke).map_err(|e| e.within(&frame.function.name, invoke.span))?
                }
                Operation::Constant { value, data } => {
                    let tensor = frame.constant(*value, data)?;
                    frame.bind(*value, Arc::new(tensor))?;
                }
                Operation::If { arms, otherwise, outputs, span } => self
                    .branch(frame, arms, otherwise, outputs)
                    .map_err(|e| e.in_function(&frame.function.name, *span))?,
                Operation::Loop(l) => {
                    self.iterate(frame, l).map_err(|e| e.in_function(&frame.function.name, l.span))?
                }
                Operation::Cut { whole, count, dimension, output, span } => {
                    cut(frame, *whole, *count, *dimension)
                        .and_then(|part| frame.bind(*output, Arc::new(part)))
                        .map_err(|e| e.in_function(&frame.function.name, *span))?
                }
            }
        }
        Ok(())
    }

    fn invoke(&mut self, frame: &mut Frame<'m>, invoke: &'m Invoke) -> Result<(), EvalError> {
        let callee = self.function(invoke.callee)?;
        let within = |id: &ValueId| {
            let value = callee.values.get(id.0 as usize);
            value.map(|v| callee.numbers_of(v))
        };
        let inputs = flattened(&callee.inputs);
        let inputs = cast(frame.all(&invoke.inputs)?, inputs.iter().map(within));
        let captures = callee.captures.iter().map(within);
        let captures = cast(frame.all(&invoke.captures)?, captures);
        let label = match (&invoke.label, invoke.outputs.first()) {
            (Some(label), _) => label.clone(),
            (None, Some(&first)) => frame.name(first),
            (None, None) => callee.name.clone(),
        };
        let path = format!("{}.{label}", frame.path);
        let extents: Vec<i64> =
            invoke.extents.iter().map(|e| frame.int_extent(e)).collect::<Result<_, _>>()?;
        let inner = self.activate(callee, path, &inputs, &captures, &extents)?;
        let around = |id: &ValueId| {
            let value = frame.declared(*id).ok();
            value.map(|v| frame.function.numbers_of(v))
        };
        let results = inner.all(&flattened(&callee.outputs))?;
        let results = cast(results, invoke.outputs.iter().map(around));
        let updates: Vec<ValueId> = callee.updates.iter().map(|(_, new)| *new).collect();
        let updates = cast(inner.all(&updates)?, invoke.updates.iter().map(around));
        if results.len() != invoke.outputs.len() {
            return Err(internal(format!(
                "{} has {} outputs, but {} are used",
                callee.name,
                results.len(),
                invoke.outputs.len()
            )));
        }
        for (&id, tensor) in invoke.outputs.iter().zip(results) {
            self.show(frame, id, tensor)?;
        }
        for (&id, new) in invoke.updates.iter().zip(updates) {
            frame.bind(id, new)?;
        }
        Ok(())
    }

    /// Binds a computed tensor, and reports it to the observer if it has a name.
    pub(crate) fn show(
        &mut self,
        frame: &mut Frame<'m>,
        id: ValueId,
        tensor: Arc<Tensor>,
    ) -> Result<(), EvalError> {
        if let Some(name) = &frame.declared(id)?.name {
            (self.observer)(&format!("{}.{name}", frame.path), &tensor);
        }
        frame.bind(id, tensor)
    }
}

/// The tensors of ports, in order.
pub(crate) fn flattened(ports: &[Port]) -> Vec<ValueId> {
    ports.iter().flat_map(|p| p.tensors.values().iter().copied()).collect()
}

/// Casts tensors between an operator and its caller to these element types, with rounding. Tensors without a counterpart are
/// unchanged; their number is checked later.
fn cast(tensors: Vec<Arc<Tensor>>, types: impl Iterator<Item = Option<Numbers>>) -> Vec<Arc<Tensor>> {
    let types = types.chain(std::iter::repeat(None));
    let cast = |(tensor, numbers): (Arc<Tensor>, Option<Numbers>)| {
        let wanted =
            numbers.map_or(tensor.element(), |numbers| ElementType::for_kind(tensor.kind(), numbers));
        if tensor.element() == wanted {
            tensor
        } else {
            Arc::new(Tensor::clone(&tensor).with_element(wanted))
        }
    };
    tensors.into_iter().zip(types).map(cast).collect()
}

/// The first `count` elements along a dimension.
fn cut(frame: &Frame<'_>, whole: ValueId, count: ValueId, dimension: usize) -> Result<Tensor, EvalError> {
    let whole = frame.get(whole)?;
    let Some(Scalar::Int(count)) = frame.get(count)?.get(0) else {
        return Err(internal("a count is not one int"));
    };
    let mut shape = whole.shape().to_vec();
    let after = shape.iter().skip(dimension + 1);
    let element = whole.element().size();
    let item = after.fold(element, |bytes, extent| bytes.saturating_mul(*extent as usize));
    let Some(extent) = shape.get_mut(dimension) else {
        return Err(internal("a tensor is cut along no dimension"));
    };
    let present = item.saturating_mul(*extent as usize);
    *extent = count.max(0).cast_unsigned().min(*extent);
    let kept = item.saturating_mul(*extent as usize);
    let rows = whole.bytes().chunks(present.max(1));
    let bytes: Vec<u8> = rows.flat_map(|row| row.get(..kept).unwrap_or(row)).copied().collect();
    Ok(Tensor::from_bytes(whole.element(), &shape, &bytes).map_err(Failure::Tensor)?)
}

fn bind_all(
    frame: &mut Frame<'_>,
    what: &'static str,
    ids: &[ValueId],
    tensors: &[Arc<Tensor>],
) -> Result<(), EvalError> {
    if ids.len() != tensors.len() {
        return Err(Failure::Count { what, expected: ids.len(), got: tensors.len() }.into());
    }
    for (&id, tensor) in ids.iter().zip(tensors) {
        let bound = frame.bind(id, tensor.clone());
        bound.map_err(|error| match frame.declared(id) {
            Ok(value) => error.in_function(&frame.function.name, value.span),
            Err(_) => error,
        })?;
    }
    Ok(())
}
