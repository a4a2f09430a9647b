//! `skript-merge-duplicates`: of equal operations without memory effects only the first is left, of unused ones none.
//!
//! What upstream's `cse` does on tensors, in time that grows with the text alone: upstream hashes an operation by its
//! operands, and formulas have equal ones (what they start from), however different the tensors that their regions
//! read. Guarantees: no operation equals another before it in its block or in a block around.

use skript_dialect::melior::ir::OperationRef;
use skript_dialect::{Options, Pass, PassError, Rewriter, op};

#[derive(Default)]
pub struct MergeDuplicates;

impl Pass for MergeDuplicates {
    const FLAG: &'static str = "skript-merge-duplicates";
    const SUMMARY: &'static str = "equal operations become one, unused ones vanish";

    fn run<'c>(
        &self,
        root: OperationRef<'c, '_>,
        _options: &Options,
        _rewriter: &Rewriter<'c>,
    ) -> Result<(), PassError> {
        op::merge_duplicates(&root);
        Ok(())
    }
}
