//! `skript-annotate-structure`: says at each formula what it is, in its attribute `structure`.
//!
//! For people and tests; lowerings ask the recognizer themselves. What a formula is follows from its index maps: extents that
//! only a run knows take no part in it, but where one of them is a factor of a subscript, that is not affine.

use super::{Reading, Structure};
use crate::mlir::{attributes, mark};
use skript_dialect::{Pass, PassError, op};

/// The pass `skript-annotate-structure`.
pub const PASS: Pass = Pass {
    flag: "skript-annotate-structure",
    summary: "say what each formula is",
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let mut failure = None;
        for formula in op::collect(&root, |op| op::is(&op, "skript.formula")) {
            match Reading::of(formula) {
                Ok(reading) => {
                    // Steps that write several places of a tensor are taken in their order by all lowerings.
                    let structure = match reading.is_apart() {
                        true => Structure::of(&reading.nest),
                        false => Structure::Sequential,
                    };
                    let structure = attributes::string(context, &structure.to_string());
                    mark::set(formula, "structure", structure);
                }
                Err(error) => failure = Some(PassError::at(formula, error.to_string())),
            }
        }
        failure.map_or(Ok(()), Err)
    },
    ..Pass::NONE
};
