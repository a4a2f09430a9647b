// SPDX-License-Identifier: Apache-2.0
//! `skript-merge-duplicates`: merges equal operations without memory effects, and erases unused operations.
//!
//! On tensors, the pass has the effect of upstream's `cse`, but its time is linear in the size of the module. Upstream does not
//! hash regions, but many different formulas have equal operands (their init tensors) and differ only in their regions.
//!
//! Guarantees: no operation equals an earlier one in its block or in an enclosing block.

use skript_dialect::{Pass, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-merge-duplicates",
    summary: "merge equal operations, and erase unused operations",
    run: |root, _, _| {
        op::merge_duplicates(&root);
        Ok(())
    },
    ..Pass::NONE
};
