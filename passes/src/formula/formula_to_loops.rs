// SPDX-License-Identifier: Apache-2.0
//! `convert-skript-formula-to-affine`, `convert-skript-formula-to-scf`: convert formulas to loops over memrefs.
//!
//! Loops run in the order of the formula. The affine conversion expresses minimum, maximum and conditions in a
//! subscript by `affine.if`. A formula that loops cannot represent is an error at its location; all such formulas are
//! reported.
//!
//! Requires: for affine, subscripts that are piecewise affine in the indices (with floor division and remainder by
//! constants), and extents that are defined outside of loops and branches. Guarantees: no formula, no `skript.access`
//! and no splat of a tensor is left, as bufferization would fill a splat with linalg.

use super::loops::{self, Loops};
use super::{Refusal, structured};
use crate::ir;
use crate::ir::ops;
use crate::ir::{Builder, replace_each};
use crate::structure::Reading;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::{Dialect, Options, Pass, PassError, PassOption, Rewriter, op};
use std::cell::Cell;

/// The common fields of the two passes.
const LOOPS: Pass = Pass {
    dependent_dialects: &[
        Dialect::Affine,
        Dialect::Arith,
        Dialect::Bufferization,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Tensor,
    ],
    options: &[PassOption {
        name: "parallel",
        summary: "make loops parallel whose iterations are proven to write disjoint elements (`scf.parallel`, `affine.parallel`)",
        default: "false",
    }],
    ..Pass::NONE
};

/// The pass `convert-skript-formula-to-affine`.
pub(crate) const AFFINE: Pass = Pass {
    flag: "convert-skript-formula-to-affine",
    summary: "convert formulas to affine loops",
    run: |root, options, rewriter| convert(Loops::Affine, root, options, rewriter),
    ..LOOPS
};

/// The pass `convert-skript-formula-to-scf`.
pub(crate) const SCF: Pass = Pass {
    flag: "convert-skript-formula-to-scf",
    summary: "convert formulas to scf loops",
    run: |root, options, rewriter| convert(Loops::Scf, root, options, rewriter),
    ..LOOPS
};

fn convert<'c>(
    loops: Loops,
    root: OperationRef<'c, '_>,
    options: &Options,
    rewriter: &Rewriter<'c>,
) -> Result<(), PassError> {
    let parallel: bool = options.get("parallel")?;
    let context = rewriter.context();
    let name = loops.name();
    let number = Cell::new(0i64);
    replace_each(structured::formulas(&root), rewriter, |formula| {
        number.set(number.get() + 1);
        let at = Builder::before(context, formula)?;
        let lowered = Reading::of(formula)
            .map_err(Refusal::from)
            .and_then(|reading| loops::lower(&reading, loops, parallel, number.get(), &at));
        lowered.map_err(|refusal| format!("cannot become {name} loops: {refusal}").into())
    })?;
    structured::extract_elements(&root, rewriter)?;
    let splats = op::collect(&root, |op| {
        // One without uses: a formula has filled its own buffer; canonicalization removes it.
        op::is(&op, ops::tensor::SPLAT) && ir::result(op).is_ok_and(op::is_used)
    });
    replace_each(splats, rewriter, |splat| {
        let at = Builder::before(context, splat)?;
        let filled = loops::splat(ir::operand(splat)?, ir::result(splat)?, loops, &at);
        let filled =
            filled.map_err(|refusal| format!("cannot be filled by {name} loops: {refusal}"))?;
        Ok(vec![filled])
    })
}
