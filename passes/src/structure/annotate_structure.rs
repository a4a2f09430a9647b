// SPDX-License-Identifier: Apache-2.0
//! `skript-annotate-structure`: annotates each formula with its recognized structure, in the attribute `structure`.
//!
//! The attribute is for people and tests; lowerings query the recognizer directly. The structure depends on the indexing maps, but
//! not on dynamic extents, except that a subscript with a dynamic extent as a factor is not affine.

use super::{Reading, Structure};
use crate::ir::ops;
use crate::ir::{attributes, mutation};
use skript_dialect::{Pass, PassError, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-annotate-structure",
    summary: "annotate each formula with its structure",
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let mut failure = None;
        for formula in op::collect(&root, |op| op::is(&op, ops::skript::FORMULA)) {
            match Reading::new(formula) {
                Ok(reading) => {
                    // If a step writes several elements of one tensor, all lowerings execute the steps in order.
                    let structure = if reading.has_distinct_destinations() {
                        Structure::new(&reading.nest)
                    } else {
                        Structure::Sequential
                    };
                    let structure = attributes::string(context, &structure.to_string());
                    mutation::set(formula, "structure", structure);
                }
                Err(error) => failure = Some(PassError::at(formula, error.to_string())),
            }
        }
        failure.map_or(Ok(()), Err)
    },
    ..Pass::NONE
};
