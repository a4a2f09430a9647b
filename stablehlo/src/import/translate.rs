// SPDX-License-Identifier: Apache-2.0
//! Elementwise programs of others as modules in the `skript` dialect.

use super::program::{Refusal, read};
use super::survey;
use melior::Context;
use melior::ir::Module;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_passes::ir;

/// A StableHLO program in any spelling as a module that [`crate::export`] takes.
///
/// # Errors
/// What is no StableHLO, and operations that have no form in the dialect.
pub fn to_skript<'c>(context: &'c Context, text: &str) -> Result<Module<'c>, Vec<Refusal>> {
    crate::register();
    let module = read(context, text, survey::is_elementwise)?;
    context.load_all_available_dialects();
    let pass = "convert-stablehlo-to-skript";
    let done = ir::run_pipeline(&module, "conversion to skript", pass);
    done.map_err(|e| super::program::refused(&e))?;
    debug_assert!(module.as_operation().verify());
    Ok(module)
}
