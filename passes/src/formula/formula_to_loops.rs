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
use std::marker::PhantomData;

/// What tells the two passes apart.
pub trait Target: Default + Send + Sync + 'static {
    const FLAG: &'static str;
    const SUMMARY: &'static str;
    const LOOPS: Loops;
}

#[derive(Default)]
pub struct Affine;

impl Target for Affine {
    const FLAG: &'static str = "convert-skript-formula-to-affine";
    const SUMMARY: &'static str = "formulas become affine loops";
    const LOOPS: Loops = Loops::Affine;
}

#[derive(Default)]
pub struct Scf;

impl Target for Scf {
    const FLAG: &'static str = "convert-skript-formula-to-scf";
    const SUMMARY: &'static str = "formulas become scf loops";
    const LOOPS: Loops = Loops::Scf;
}

#[derive(Default)]
pub struct ConvertFormulaToLoops<T>(PhantomData<T>);

pub type ConvertFormulaToAffine = ConvertFormulaToLoops<Affine>;
pub type ConvertFormulaToScf = ConvertFormulaToLoops<Scf>;

impl<T: Target> Pass for ConvertFormulaToLoops<T> {
    const FLAG: &'static str = T::FLAG;
    const SUMMARY: &'static str = T::SUMMARY;
    const DEPENDENT_DIALECTS: &'static [Dialect] = &[
        Dialect::Affine,
        Dialect::Arith,
        Dialect::Bufferization,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Tensor,
    ];

    const OPTIONS: &'static [PassOption] = &[PassOption {
        name: "parallel",
        summary: "loops whose iterations write places of their own may run at the same time",
        default: "false",
    }];

    fn run<'c>(
        &self,
        root: OperationRef<'c, '_>,
        options: &Options,
        rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
        let parallel: bool = options.get("parallel")?;
        let context = rewriter.context();
        let loops = T::LOOPS.name();
        let number = Cell::new(0i64);
        replace_each(structured::formulas(&root), rewriter, |formula| {
            number.set(number.get() + 1);
            let at = Builder::before(context, formula)?;
            let lowered = Reading::of(formula)
                .map_err(Refusal::from)
                .and_then(|reading| loops::lower(&reading, T::LOOPS, parallel, number.get(), &at));
            lowered.map_err(|refusal| format!("cannot become {loops} loops: {refusal}").into())
        })?;
        structured::extract_elements(&root, rewriter)?;
        let splats = op::collect(&root, |op| {
            // One without uses: a formula has filled its own buffer; canonicalization removes it.
            op::is(&op, "tensor.splat") && op.result(0).is_ok_and(op::is_used)
        });
        replace_each(splats, rewriter, |splat| {
            let at = Builder::before(context, splat)?;
            let filled = loops::splat(splat.operand(0)?, splat.result(0)?.into(), T::LOOPS, &at);
            let filled = filled
                .map_err(|refusal| format!("cannot be filled by {loops} loops: {refusal}"))?;
            Ok(vec![filled])
        })
    }
}
