// SPDX-License-Identifier: Apache-2.0
//! Composition (chapter 3): a graph and everything it invokes, specialised to attribute values, types and shapes.
//!
//! Invocations with equal operator, attribute values, types and argument types share one function, so the cost
//! grows with the number of distinct instances and of invocations, not with their product.

mod accesses;
mod blocks;
mod calls;
mod composer;
mod context;
mod control_flow;
mod declarations;
mod formulas;
mod inferred_tensors;
mod instances;
mod invocations;
mod operators;
mod packs;
mod quantization;
mod shapes;
mod synthesized_functions;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

use indexmap::IndexMap;
use skript_host::on_stack;
use skript_semantics::{Numbers, ScalarKind};

pub(crate) use formulas::write_counter::write_counter;
pub use inferred_tensors::inferred_tensors;
pub use quantization::constant_results::misfits as constant_result_misfits;
pub use quantization::narrow_ints::too_narrow;

use crate::diagnostics::codes::{CONSTANT_VALUE, INTERNAL, LIMIT_EXCEEDED};
use crate::diagnostics::{Diagnostic, Sink};
use crate::limits::Limits;
use crate::model::storage_types::StorageTypes;
use crate::model::{AttributeValue, Model};
use crate::program::Program;

/// Options of a composition.
#[derive(Clone, Debug, Default)]
pub struct ComposeOptions {
    /// The graph's name; the first graph of the main module if `None`.
    pub graph: Option<String>,
    /// Values of graph attributes by name.
    pub attributes: IndexMap<String, AttributeValue>,
    /// Optional inputs of the graph without a value: they are null (2.6). Other inputs are as declared.
    pub absent_inputs: Vec<String>,
    /// Inputs of the graph that get a value instead of their default. Other inputs with a default use the default.
    pub given_inputs: Vec<String>,
    /// The lengths of packs among the inputs of the graph, by name, for packs whose declared length is a new name or is
    /// missing.
    pub pack_lengths: IndexMap<String, usize>,
    /// Shapes for inputs of the graph, by name: one, or one for each tensor of a pack. They make dynamic extents of
    /// these inputs static.
    pub input_shapes: IndexMap<String, Vec<Vec<u64>>>,
    /// Generic types of the graph by name.
    pub types: IndexMap<String, ScalarKind>,
    /// Whether tensors named in `@quantize` pass through their quantizers (2.14).
    pub simulate_quantization: bool,
    /// The storage types of reals and ints.
    pub numbers: Numbers,
    /// The storage types of tensors of the graph and of variables that differ from `numbers`.
    pub storage: StorageTypes,
}

/// The stack size of the composer: [`Limits`] bound the nesting of invocations, expressions and blocks, but the bounds
/// are generous.
const STACK_BYTES: usize = 512 << 20;

/// Composes a graph of a checked program. All errors found go to `sink`; `None` if there is any.
pub fn compose(
    program: &Program,
    options: &ComposeOptions,
    limits: &Limits,
    sink: &mut Sink,
) -> Option<Model> {
    let limits = &limits.metered(program, sink.work);
    let work = || composer::Composer::new(program, limits, options, &mut *sink).graph();
    let composed = on_stack("compose", STACK_BYTES, work)
        .map(|composed| composed.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    let composed = composed.unwrap_or_else(|error| {
        sink.report(Diagnostic::without_location(
            &LIMIT_EXCEEDED,
            format!(
                "a model is composed on a thread with {} MiB of stack, which the system does not start: {error}",
                STACK_BYTES >> 20
            ),
        ));
        None
    });
    sink.work = limits.meter.spent();
    if limits.meter.is_exhausted() {
        if let Some(span) = limits.meter.unreported() {
            let exhausted = Diagnostic::error(&LIMIT_EXCEEDED, span, limits.exhausted_message());
            sink.report(exhausted.with_help(limits.exhausted_help()));
        }
        return None;
    }
    if let Some(model) = &composed {
        let misfits = model
            .misfits()
            .into_iter()
            .map(|(span, message)| Diagnostic::error(&CONSTANT_VALUE, span, message))
            .chain(quantization::narrow_ints::narrow_ints(model));
        // The ranges of results of intrinsics are known only in later crates.
        let results = quantization::constant_results::misfits(model, &|_| None);
        let misfits: Vec<_> = misfits.chain(results).collect();
        if !misfits.is_empty() {
            for misfit in misfits {
                sink.report(misfit);
            }
            return None;
        }
    }
    // A failure without a diagnostic would leave the user without an explanation.
    if composed.is_none() && !sink.has_errors() {
        sink.report(Diagnostic::without_location(
            &INTERNAL,
            "the composer failed without a reason; please report this document",
        ));
    }
    composed
}
