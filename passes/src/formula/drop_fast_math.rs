// SPDX-License-Identifier: Apache-2.0
//! `skript-drop-fast-math`: forbids LLVM to compute otherwise than written.
//!
//! The lowerings let products contract with sums, and sums change their order, by `fastmath` flags. Without the flags each
//! operation rounds, in the order of the program. The level `none` of `--fast-math` runs this pass.
//!
//! Guarantees: no operation has fast-math flags.

use crate::ir::mutation;
use melior::ir::Attribute;
use melior::ir::operation::OperationLike;
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError, op};

/// The pass `skript-drop-fast-math`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-drop-fast-math",
    summary: "forbid to contract products with sums, and to change the order of sums",
    dependent_dialects: &[Dialect::Arith],
    run: |root, _, rewriter| {
        let none = Attribute::parse(rewriter.context(), "#arith.fastmath<none>");
        let none = none.ok_or(PassError::from("arith is not loaded"))?;
        for found in op::collect(&root, |op| op.has_attribute(FLAGS)) {
            mutation::set(found, FLAGS, none);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The attribute of operations on reals.
const FLAGS: &str = "fastmath";
