// SPDX-License-Identifier: Apache-2.0
//! StableHLO: the export of models, and the import of programs ([`import`]).
//!
//! A formula becomes computations on full tensors: the values of its body at each point of the domain are a field, a
//! tensor over the indices that it depends on (`field`). Reads become slices, pads and gathers (`access`, `rearrange`);
//! writes become reductions, pads and scatters (`write`). A table of [`rules`] selects the form: products summed along
//! common indices become `dot_general` (`contraction`), windows become `convolution` or `reduce_window` (`window`),
//! arg-reductions become reductions of pairs (`arg_reduce`), and compactions use a prefix sum (`compaction`). Other
//! formulas that read their output become loops (`sequence`).
//!
//! Internal to the compiler: programs embed the crate `skript`. This interface changes without notice.
#![warn(missing_docs, unnameable_types, unreachable_pub)]
#![allow(
    clippy::indexing_slicing,
    reason = "positions come from verified IR; one that is out of bounds is a bug, which entry points report as one"
)]

mod access;
mod alternatives;
mod arg_reduce;
mod bools;
mod captures;
mod cast;
mod compaction;
mod constants;
mod contraction;
mod draws;
mod error;
mod evaluate;
mod export_model;
mod field;
mod finite;
mod formula;
mod function;
mod functions;
mod guards;
pub mod import;
mod interface;
mod intrinsic;
mod periodic;
mod product;
mod rearrange;
mod report;
mod rule;
mod rules;
mod scalar;
mod searches;
mod sequence;
mod sharding;
mod shared_indices;
mod shift;
mod subscript;
mod tensors;
mod typed;
pub mod weights;
mod window;
mod window_expression;
mod write;

pub use error::ExportError;
pub use export_model::{Exported, export_model};
use finite::Finite;
pub use interface::{Interface, Port};
pub use report::{Form, Report};
use searches::drop_searches;
pub use sharding::{Mesh, Placement, PlacementError, Sharding};
use skript_passes::ir::attribute_names;
use skript_passes::ir::ops;
pub use weights::Weights;

use melior::Context;
use melior::dialect::DialectRegistry;
use melior::ir::operation::OperationLike;
use melior::ir::{Location, Module, Operation};
use skript_dialect::{Pass, melior};
use skript_passes::extents::bounds::Bounds;
use skript_passes::extents::drop_clamps::drop_clamps;
use skript_passes::extents::pad_extents::{Failure, has_dynamic_extents, pad};
use skript_passes::ir::builder::operations;
use skript_passes::ir::copy::operation_name;

/// The passes of this crate: conversions of StableHLO programs.
pub(crate) const PASSES: &[Pass] = &[
    import::to_linalg::PASS,
    import::scalar_to_arith::PASS,
    import::to_skript::PASS,
    import::drop_signs::PASS,
    import::guard_angles::PASS,
    import::expand_calls::PASS,
];

/// A named pipeline of this crate.
pub struct NamedPipeline {
    /// Name on the command line.
    pub flag: &'static str,
    /// One line for `--help`.
    pub summary: &'static str,
    /// The passes in order, separated by commas.
    pub text: String,
}

/// The pipeline from StableHLO to upstream dialects, for other compilers. The passes after the expansion of calls are those that
/// compile a program.
pub fn to_linalg_pipeline() -> NamedPipeline {
    NamedPipeline {
        flag: "stablehlo-to-linalg",
        summary: "lower StableHLO programs to linalg, tensor and scf, without operations of other projects",
        text: format!("{},{}", import::expand_calls::PASS.flag, import::PASSES),
    }
}

/// All passes of the project: the passes of `skript-passes` and of this crate.
pub fn all_passes() -> impl Iterator<Item = &'static Pass> {
    skript_passes::ALL.iter().chain(PASSES)
}

/// Registers the passes and named pipelines of this crate and of `skript-passes` with MLIR. Additional calls have no
/// effect.
pub fn register() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        skript_passes::register();
        skript_dialect::register_passes(PASSES);
        let pipeline = to_linalg_pipeline();
        skript_dialect::pass::register_pipeline(pipeline.flag, pipeline.summary, &pipeline.text);
    });
}

/// An exported module, its interface, and a report.
pub struct Export<'c> {
    /// The StableHLO module.
    pub module: Module<'c>,
    /// The names and types of the arguments and results of `main`.
    pub interface: Interface,
    /// The form that was selected for each formula.
    pub report: Report,
}

/// A context with the StableHLO dialect of this project.
pub fn context() -> Context {
    let context = skript_dialect::context();
    add_to(&context);
    context
}

/// Registers this project's StableHLO dialect in a context that does not have a StableHLO dialect.
pub fn add_to(context: &Context) {
    let registry = DialectRegistry::new();
    skript_dialect::register_stablehlo(&registry);
    context.append_dialect_registry(&registry);
}

/// Copies the module and pads its dynamic dimensions to their upper bounds.
fn padded<'c>(source: &Module<'c>) -> Result<Module<'c>, ExportError> {
    let whole = source.as_operation();
    let copy = Module::from_operation(Operation::clone(&whole)).ok_or(ExportError::Invalid)?;
    drop_searches(copy.as_operation());
    if has_dynamic_extents(copy.as_operation()) {
        let whole = copy.as_operation();
        let bounds = Bounds::new(whole).map_err(|r| ExportError::new(r.op, &r.what))?;
        drop_clamps(whole, &bounds)?;
    }
    match pad(copy.as_operation()) {
        Err(Failure::Refused(refusal)) => Err(ExportError::new(refusal.op, &refusal.what)),
        Err(Failure::Build(error)) => Err(error.into()),
        // Merges equal limits, because guards are recognized by the identity of their limits.
        Ok(()) => skript_dialect::pipeline::run(&copy, "builtin.module(cse)")
            .map(|()| copy)
            .map_err(|_| ExportError::Invalid),
    }
}

/// Exports a module in the `skript` dialect; the entry becomes `@main`. The context has the StableHLO dialect of this
/// project. Variables that `weights` names become constants; the other variables are arguments of the entry.
///
/// # Errors
/// Fails on operations without a StableHLO form.
pub fn export<'c>(
    source: &Module<'c>,
    context: &'c Context,
    weights: &Weights,
) -> Result<Export<'c>, ExportError> {
    context.get_or_load_dialect("stablehlo");
    let source = &padded(source)?;
    let module = Module::new(Location::unknown(context));
    let mut report = Report::default();
    let drawing = draws::Drawing::new(source);
    let functions = operations(source.body());
    let entry = functions.iter().find(|f| f.has_attribute(attribute_names::ENTRY));
    let mut interface = Interface::new(*entry.ok_or(ExportError::NoEntry)?)?;
    let held = weights::held(&interface, weights);
    let arguments = interface.arguments.into_iter().zip(&held);
    interface.arguments = arguments.filter(|(_, value)| value.is_none()).map(|(port, _)| port).collect();
    let finite = Finite::new(source, &held)?;
    let program = function::Program { context, module: module.body(), drawing: &drawing, finite: &finite };
    for op in functions {
        if operation_name(op) != ops::func::FUNC {
            return Err(ExportError::new(op, "has no StableHLO form"));
        }
        report.note_operators(op);
        let is_entry = op.has_attribute(attribute_names::ENTRY);
        let held = if is_entry { held.as_slice() } else { &[] };
        function::export(op, &program, held, &mut report)?;
    }
    if !module.as_operation().verify() {
        return Err(ExportError::Invalid);
    }
    // Removes unused and repeated operations of general forms.
    skript_dialect::pipeline::run(&module, "builtin.module(canonicalize,cse)")
        .map_err(|_| ExportError::Invalid)?;
    bools::widen(context, &module)?;
    Ok(Export { module, interface, report })
}
