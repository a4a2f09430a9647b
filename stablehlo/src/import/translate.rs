// SPDX-License-Identifier: Apache-2.0
//! Translates elementwise programs to modules in the `skript` dialect.

use super::program::{expand, read};
use super::refusal::{Refusal, refused};
use super::survey;
use melior::Context;
use melior::ir::Module;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_passes::ir;

/// Parses a StableHLO program in either spelling and converts it to a module that [`crate::export`] accepts.
///
/// # Errors
/// Fails on text that is not StableHLO and on operations that the dialect does not have.
pub fn to_skript<'c>(context: &'c Context, text: &str) -> Result<Module<'c>, Vec<Refusal>> {
    crate::register();
    let module = read(context, text, survey::is_elementwise)?;
    expand(&module)?;
    context.load_all_available_dialects();
    let pass = "convert-stablehlo-to-skript";
    let done = ir::run_pipeline(&module, "conversion to skript", pass);
    done.map_err(|e| refused(&e))?;
    debug_assert!(module.as_operation().verify());
    Ok(module)
}
