// SPDX-License-Identifier: Apache-2.0
//! The reference evaluator: computes a composed model by walking it, formula by formula, in the order of the text.
//!
//! The evaluator is the oracle for compiled code, so it is simple, not fast. Tensors have the model's storage types. In
//! formulas, int is i64 and wraps, and real is f32 (f64 if tensors are f64): every operation rounds to it, except that a sum
//! (`+=`) is accumulated in f64 and rounded once at the end, so that it is closer to the true sum than any order of f32
//! additions. Results of an operator are rounded to the storage types. Results do not depend on the machine: transcendental
//! functions are implemented in `skript-semantics`.
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
mod block;
mod check;
mod control;
mod error;
mod formula;
mod frame;
mod intrinsics;

pub use error::{Call, EvalError, Failure};

use skript_frontend::model::{Model, VariableId};
use skript_host::on_stack;
use skript_tensor::Tensor;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Receives every named tensor that a function computes: its scoped name (`main.G.label.x`) and value.
pub(crate) type Observer<'a> = dyn FnMut(&str, &Tensor) + Send + 'a;

/// Limits and seeds of an evaluation.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The maximum number of iterations of one loop that ends by itself; beyond it, [`Failure::TooManySteps`].
    pub(crate) max_iterations: u64,
    /// The maximum number of elements of one computed tensor; beyond it, [`Failure::TooManyElements`].
    pub(crate) max_elements: u64,
    /// The maximum number of points of one formula's domain, which bounds the time; beyond it,
    /// [`Failure::TooManyPoints`].
    pub(crate) max_points: u64,
    /// The seed of the random operators.
    pub seed: u64,
    /// The remaining work in points; beyond it, [`Failure::TooMuchWork`].
    pub(crate) work: Option<Arc<AtomicU64>>,
}

/// The cost of an invocation, or of an iteration of a loop, in points of a formula.
pub(crate) const POINTS_PER_INVOCATION: u64 = 64;

impl Settings {
    /// Subtracts points from the remaining work.
    pub(crate) fn spend(&self, work: u64) -> Result<(), EvalError> {
        let Some(left) = &self.work else {
            return Ok(());
        };
        let spend = |left: u64| left.checked_sub(work);
        match left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend) {
            Ok(_) => Ok(()),
            Err(_) => Err(Failure::TooMuchWork.into()),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings { max_iterations: 1 << 22, max_elements: 1 << 28, max_points: 1 << 36, seed: 0, work: None }
    }
}

/// The results of a model.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The entry's outputs in order, packs flattened, in the model's storage types.
    pub outputs: Vec<Arc<Tensor>>,
    /// New values of variables (`@update`), to be kept by the caller.
    pub updates: Vec<(VariableId, Arc<Tensor>)>,
}

/// Evaluates the model's entry.
///
/// `inputs`: the entry's inputs in order, packs flattened, absent optional inputs omitted; `variables`: all of
/// [`Model::variables`]. Both in the model's storage types and of the declared kind and shape.
///
/// # Errors
/// A run-time check that does not hold, and [`Failure::Tensor`] if a mapped file was changed meanwhile.
pub fn evaluate(
    model: &Model,
    inputs: &[Arc<Tensor>],
    variables: &[Arc<Tensor>],
) -> Result<Outcome, EvalError> {
    evaluate_with_observer(model, inputs, variables, &Settings::default(), &mut |_, _| {})
}

/// Like [`evaluate`], with a limit: `work` is the number of formula points that may be computed. It is reduced by the number of
/// computed points; invocations and loop iterations count as several points.
///
/// # Errors
/// The errors of [`evaluate`], and [`Failure::TooMuchWork`].
pub fn evaluate_within(
    model: &Model,
    inputs: &[Arc<Tensor>],
    variables: &[Arc<Tensor>],
    work: &Arc<AtomicU64>,
) -> Result<Outcome, EvalError> {
    let max_elements = work.load(Ordering::Relaxed);
    let settings = Settings { max_elements, work: Some(work.clone()), ..Settings::default() };
    evaluate_with_observer(model, inputs, variables, &settings, &mut |_, _| {})
}

/// Like [`evaluate`]; reports each named tensor to `observer` when it is computed.
pub(crate) fn evaluate_with_observer(
    model: &Model,
    inputs: &[Arc<Tensor>],
    variables: &[Arc<Tensor>],
    settings: &Settings,
    observer: &mut Observer<'_>,
) -> Result<Outcome, EvalError> {
    // Unrolled folds are deeply nested expressions that are processed recursively, which requires a large stack. Only
    // touched pages occupy memory.
    const STACK_BYTES: usize = 1 << 30;
    let evaluate = || block::Evaluator::new(model, settings, observer).run(inputs, variables);
    let failed = |text: String| Err(EvalError::new(Failure::Internal(text)));
    let outcome = match on_stack("evaluate", STACK_BYTES, evaluate) {
        Ok(outcome) => outcome.unwrap_or_else(|_| failed("the evaluator failed".to_owned())),
        Err(error) => failed(format!("no thread: {error}")),
    };
    // Bytes lost to truncation read as zeros, so the result is invalid.
    for tensor in inputs.iter().chain(variables) {
        let unchanged = tensor.unchanged();
        unchanged.map_err(|e| EvalError::new(Failure::Tensor(e)))?;
    }
    outcome
}

#[cfg(test)]
mod tests;
