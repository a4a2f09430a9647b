// SPDX-License-Identifier: Apache-2.0
//! `skript-drop-fast-math`: removes the `fastmath` flags, so that LLVM neither contracts nor reorders operations.
//!
//! The lowerings set `fastmath` flags that permit the contraction of products with sums and the reassociation of sums.
//! Without the flags each operation rounds, in the order of the program. The level `none` of `--fast-math` runs this pass.
//!
//! Guarantees: no operation has fast-math flags.

use crate::ir::attributes;
use crate::ir::mutation;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-drop-fast-math",
    summary: "forbid to contract products with sums, and to change the order of sums",
    dependent_dialects: &[Dialect::Arith],
    run: |root, _, rewriter| {
        let none = attributes::fast(rewriter.context(), "none");
        for op in op::collect(&root, |op| op.has_attribute(FLAGS)) {
            mutation::set(op, FLAGS, none);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The attribute with the fast-math flags of an operation.
const FLAGS: &str = "fastmath";
