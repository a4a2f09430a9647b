//! `skript-annotate-structure`: says at each formula what it is, in its attribute `structure`.
//!
//! For people and tests; lowerings ask the recognizer themselves.

use super::{Reading, Structure};
use crate::mlir::{attributes, mark};
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::{Options, Pass, PassError, Rewriter, op};

#[derive(Default)]
pub struct AnnotateStructure;

impl Pass for AnnotateStructure {
    const FLAG: &'static str = "skript-annotate-structure";
    const SUMMARY: &'static str = "say what each formula is";

    fn run<'c>(
        &self,
        root: OperationRef<'c, '_>,
        _options: &Options,
        rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
        let context = rewriter.context();
        let mut failure = None;
        for formula in op::collect(&root, |op| op::is(&op, "skript.formula")) {
            match Reading::of_fixed(formula) {
                Ok(reading) => {
                    let structure = Structure::of(&reading.nest).to_string();
                    mark::set(
                        formula,
                        "structure",
                        attributes::string(context, &structure),
                    );
                }
                Err(error) => failure = Some(PassError::at(formula, error.to_string())),
            }
        }
        failure.map_or(Ok(()), Err)
    }
}
