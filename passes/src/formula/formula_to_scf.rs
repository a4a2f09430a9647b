//! `convert-skript-formula-to-scf`: formulas become loops of `scf` on memrefs, in the order of their indices.
//!
//! Requires: fixed extents. Guarantees: no formula is left.

use super::loops::Loops;
use super::structured;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::{Dialect, Options, Pass, PassError, Rewriter};

#[derive(Default)]
pub struct ConvertFormulaToScf;

impl Pass for ConvertFormulaToScf {
    const FLAG: &'static str = "convert-skript-formula-to-scf";
    const SUMMARY: &'static str = "formulas become scf loops";
    const DEPENDENT_DIALECTS: &'static [Dialect] = &[
        Dialect::Affine,
        Dialect::Arith,
        Dialect::Bufferization,
        Dialect::Linalg,
        Dialect::MemRef,
        Dialect::Scf,
    ];

    fn run<'c>(
        &self,
        root: OperationRef<'c, '_>,
        _options: &Options,
        rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
        structured::to_loops(root, Loops::Scf, rewriter)
    }
}
