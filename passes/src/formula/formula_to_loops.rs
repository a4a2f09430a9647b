//! `convert-skript-formula-to-affine`, `convert-skript-formula-to-scf`: formulas become loops over memrefs.
//!
//! Requires: for affine, places that are affine in the indices (with floor division and remainder by constants), by parts if need
//! be: minimum, maximum and conditions become `affine.if`; and no extents that branches or loops compute. Guarantees: no formula, no
//! `skript.access` and no tensor that holds one value everywhere is left: bufferization would fill it by linalg. Loops run in the
//! order of the formula; with `parallel`, those whose iterations write places of their own, as far as subscripts prove it, are
//! `scf.parallel` or `affine.parallel`: of a scatter to rows that data choose, the columns. A formula that loops cannot hold is an
//! error at its place; all are reported.

use super::loops::{self, Loops};
use super::{Refusal, structured};
use crate::mlir::{Builder, replace_each};
use crate::structure::Reading;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Dialect, Options, Pass, PassError, PassOption, Rewriter, op};
use std::cell::Cell;

/// What the two passes have in common.
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
        summary: "loops whose iterations write places of their own may run at the same time",
        default: "false",
    }],
    ..Pass::NONE
};

/// The pass `convert-skript-formula-to-affine`.
pub const AFFINE: Pass = Pass {
    flag: "convert-skript-formula-to-affine",
    summary: "formulas become affine loops",
    run: |root, options, rewriter| convert(Loops::Affine, root, options, rewriter),
    ..LOOPS
};

/// The pass `convert-skript-formula-to-scf`.
pub const SCF: Pass = Pass {
    flag: "convert-skript-formula-to-scf",
    summary: "formulas become scf loops",
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
        op::is(&op, "tensor.splat") && op.result(0).is_ok_and(op::is_used)
    });
    replace_each(splats, rewriter, |splat| {
        let at = Builder::before(context, splat)?;
        let filled = loops::splat(splat.operand(0)?, splat.result(0)?.into(), loops, &at);
        let filled =
            filled.map_err(|refusal| format!("cannot be filled by {name} loops: {refusal}"))?;
        Ok(vec![filled])
    })
}
