// SPDX-License-Identifier: Apache-2.0
//! `skript-merge-duplicates`: merges equal operations without memory effects, and erases unused ones.
//!
//! It does what upstream's `cse` does on tensors, in time linear in the size of the module. Upstream hashes an
//! operation by its operands; formulas have equal operands (their init tensors), however different their regions are.
//!
//! Guarantees: no operation equals an earlier one in its block or in an enclosing block.

use skript_dialect::{Pass, op};

/// The pass `skript-merge-duplicates`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-merge-duplicates",
    summary: "merge equal operations, and erase unused ones",
    run: |root, _, _| {
        op::merge_duplicates(&root);
        Ok(())
    },
    ..Pass::NONE
};
