// SPDX-License-Identifier: Apache-2.0
//! Passes written in Rust.
//!
//! A pass is a constant [`Pass`]: a flag, a summary, `run`, and the fields that differ from [`Pass::NONE`]. A table lists passes;
//! [`register_passes`] registers the table with MLIR: pass managers, `--pass-pipeline`, `--help`, `--dump-pass-pipeline`. A complete one:
//!
//! ```
//! use skript_dialect::melior::ir::operation::OperationLike;
//! use skript_dialect::{Dialect, Pass, PassError, PassOption, op, pipeline};
//!
//! /// Removes `skript.neg`, which this example finds negative.
//! pub const PASS: Pass = Pass {
//!     flag: "skript-remove-negations",
//!     summary: "negations vanish",
//!     dependent_dialects: &[Dialect::Arith],
//!     options: &[PassOption { name: "most", summary: "how many are accepted", default: "8" }],
//!     run: |root, options, rewriter| {
//!         let most: usize = options.get("most")?;
//!         let negations = op::collect(&root, |op| op::is(&op, "skript.neg"));
//!         if let Some(op) = negations.get(most) {
//!             return Err(PassError::at(*op, format!("is one more than {most}")));
//!         }
//!         for negation in negations {
//!             rewriter.replace_op_with_values(negation, &[negation.operand(0)?]);
//!         }
//!         Ok(())
//!     },
//!     ..Pass::NONE
//! };
//!
//! const ALL: &[Pass] = &[PASS];
//!
//! skript_dialect::register_passes(ALL);
//! let context = skript_dialect::context();
//! let module = skript_dialect::melior::ir::Module::parse(
//!     &context,
//!     "func.func @f(%x: f32) -> f32 { %0 = skript.neg %x : f32  return %0 : f32 }",
//! ).unwrap();
//! pipeline::run(&module, "builtin.module(skript-remove-negations{most=1})").unwrap();
//! assert!(!module.as_operation().to_string().contains("skript.neg"));
//! let failure = pipeline::run(&module, "builtin.module(skript-remove-negations{most=many})");
//! assert!(failure.unwrap_err().to_string().contains("option most"));
//! ```
//!
//! Passes run on several functions at once when anchored below the module: `run` keeps no state between them.
//! A pass may read and change only operations below `root`. Errors are reported at operations ([`PassError::at`]); a
//! panic becomes an error. Builders are in [`crate::ops`] and in `melior::dialect::ods`; attributes and types in `melior::ir`. A conversion ends with a walk that reports every remaining operation.

use crate::boundary::guard;
use crate::dialects::Dialect;
use crate::error::PassError;
use crate::ffi::{self, SkriptPassOption, SkriptPassTable};
use crate::registered::registered;
use crate::rewriter::Rewriter;
use melior::ir::OperationRef;
use melior::ir::operation::OperationLike;
use mlir_sys::{MlirOperation, MlirPass, MlirStringRef};
use std::ffi::c_void;
use std::str::FromStr;

/// The function of a pass: changes the IR below its first argument, or returns the error that stops the pipeline.
pub type Run = for<'c, 'a> fn(OperationRef<'c, 'a>, &Options, &Rewriter<'c>) -> Result<(), PassError>;

/// A pass: a row of a table of passes.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Name on the command line and in pipelines: `skript-<verb>-<object>`.
    pub flag: &'static str,
    /// One line for `--help`.
    pub summary: &'static str,
    /// Name of the operation that it runs on; any if `None`.
    pub anchor: Option<&'static str>,
    /// Dialects of the operations, types or attributes that it creates, unless its input always has them.
    pub dependent_dialects: &'static [Dialect],
    /// The options that `flag{name=value}` may set.
    pub options: &'static [PassOption],
    /// The function that runs on one root operation.
    pub run: Run,
}

impl Pass {
    /// A pass that does nothing, runs on any operation and has no options: the defaults of all fields.
    pub const NONE: Pass = Pass {
        flag: "",
        summary: "",
        anchor: None,
        dependent_dialects: &[],
        options: &[],
        run: |_, _, _| Ok(()),
    };
}

/// An option of a pass, `flag{name=value}`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassOption {
    /// The name before `=`.
    pub name: &'static str,
    /// One line for `--help`.
    pub summary: &'static str,
    /// The default value.
    pub default: &'static str,
}

impl PassOption {
    /// An option without a name, to fill lists.
    pub const NONE: PassOption = PassOption { name: "", summary: "", default: "" };
}

/// The values of a pass's options.
#[derive(Clone, Debug, Default)]
pub struct Options(Vec<(&'static str, String)>);

impl Options {
    /// The text of an option; empty if the pass has none of that name.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|(n, _)| *n == name).map_or("", |(_, value)| value)
    }

    /// The value of an option.
    ///
    /// # Errors
    /// The text does not parse as the type.
    pub fn get<T: FromStr>(&self, name: &str) -> Result<T, PassError> {
        let text = self.text(name);
        text.parse().map_err(|_| {
            let kind = std::any::type_name::<T>();
            PassError::from(format!("option {name} has the value '{text}', which is no {kind}"))
        })
    }

    /// The values of an option that lists them, separated by commas.
    ///
    /// # Errors
    /// An item does not parse as the type.
    pub fn list<T: FromStr>(&self, name: &str) -> Result<Vec<T>, PassError> {
        let items = self.text(name).split(',').map(str::trim);
        items
            .filter(|item| !item.is_empty())
            .map(|item| {
                item.parse().map_err(|_| {
                    let kind = std::any::type_name::<T>();
                    PassError::from(format!("option {name} holds '{item}', which is no {kind}"))
                })
            })
            .collect()
    }
}

/// Registers passes with pass managers and command lines. Registered passes are not replaced.
pub fn register_passes(passes: &'static [Pass]) {
    for entry in passes {
        if !registered().add_pass(entry.flag, entry.summary, entry.options) {
            continue;
        }
        let dialects: Vec<_> = entry.dependent_dialects.iter().map(|d| d.handle()).collect();
        let options: Vec<_> = entry
            .options
            .iter()
            .map(|option| SkriptPassOption {
                name: ffi::string_ref(option.name),
                summary: ffi::string_ref(option.summary),
                value: ffi::string_ref(option.default),
            })
            .collect();
        // SAFETY: the table is copied; the pass that `run` receives is static.
        unsafe {
            ffi::skriptRegisterPass(&SkriptPassTable {
                flag: ffi::string_ref(entry.flag),
                summary: ffi::string_ref(entry.summary),
                anchor: ffi::string_ref(entry.anchor.unwrap_or("")),
                n_dialects: dialects.len() as isize,
                dialects: dialects.as_ptr(),
                n_options: options.len() as isize,
                options: options.as_ptr(),
                pass: std::ptr::from_ref(entry).cast(),
                run,
            });
        }
    }
}

/// The registered pass of a flag, with default options; null for an unknown flag. The caller owns it until a pass
/// manager takes ownership.
pub fn create(flag: &str) -> MlirPass {
    // SAFETY: the flag is valid during the call.
    unsafe { ffi::skriptCreatePass(ffi::string_ref(flag)) }
}

/// Registers a named pipeline: `--flag` stands for `text`, passes separated by commas, on the same operation.
pub fn register_pipeline(flag: &str, summary: &str, text: &str) {
    if registered().add_pipeline(flag, summary) {
        // SAFETY: the strings are copied.
        unsafe {
            ffi::skriptRegisterPipeline(
                ffi::string_ref(flag),
                ffi::string_ref(summary),
                ffi::string_ref(text),
            );
        }
    }
}

unsafe extern "C" fn run(pass: *const c_void, op: MlirOperation, values: *const MlirStringRef) -> bool {
    // SAFETY: the pass is a row of a static table; MLIR passes a valid operation, and one value per option.
    let (pass, root, options) = unsafe {
        let pass = &*pass.cast::<Pass>();
        (
            pass,
            OperationRef::from_raw(op),
            Options(
                pass.options
                    .iter()
                    .enumerate()
                    .map(|(i, option)| (option.name, ffi::text(*values.add(i)).into_owned()))
                    .collect(),
            ),
        )
    };
    let result = guard(|| {
        let rewriter = Rewriter::for_context(root.context());
        (pass.run)(root, &options, &rewriter)
    });
    match result {
        Ok(()) => true,
        Err(error) => {
            error.report(root);
            false
        }
    }
}
