//! `convert-skript-formula-to-affine`: formulas become loops of `affine` on memrefs, in the order of their indices.
//!
//! Requires: fixed extents, affine places. Guarantees: no formula is left.

use super::loops::Loops;
use super::structured;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::{Dialect, Options, Pass, PassError, Rewriter};

#[derive(Default)]
pub struct ConvertFormulaToAffine;

impl Pass for ConvertFormulaToAffine {
    const FLAG: &'static str = "convert-skript-formula-to-affine";
    const SUMMARY: &'static str = "formulas become affine loops";
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
        structured::to_loops(root, Loops::Affine, rewriter)
    }
}
