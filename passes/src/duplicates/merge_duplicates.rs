//! `skript-merge-duplicates`: of equal operations without memory effects only the first is left, of unused ones none.
//!
//! What upstream's `cse` does on tensors, in time that grows with the text alone: upstream hashes an operation by its
//! operands, and formulas have equal ones (what they start from), however different the tensors that their regions
//! read. Guarantees: no operation equals another before it in its block or in a block around.

use skript_dialect::{Pass, op};

/// The pass `skript-merge-duplicates`.
pub const PASS: Pass = Pass {
    flag: "skript-merge-duplicates",
    summary: "equal operations become one, unused ones vanish",
    run: |root, _, _| {
        op::merge_duplicates(&root);
        Ok(())
    },
    ..Pass::NONE
};
