// SPDX-License-Identifier: Apache-2.0
//! `skript-compute-in-users`: computes elementwise `linalg.generic` operations in the payloads of what reads them.
//!
//! A reduction that reads each element of an operation's result once computes the operation itself: a sum of squares reads no tensor of
//! squares. An operation with several users is computed in all of them if its element takes a few operations on one element: the
//! difference to a mean, which the variance and the normalization read. What ends a contraction or window stays for its kernel.
//!
//! Requires tensors. Guarantees: each value is computed by the same operations as before; payloads have at most `operations`
//! operations and read at most `inputs` tensors.

use super::fuse_elementwise::BOUNDS;
use skript_dialect::{Dialect, Pass, op};

/// The pass `skript-compute-in-users`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-compute-in-users",
    summary: "compute elementwise operations in the payloads of what reads them",
    dependent_dialects: &[Dialect::Linalg],
    options: &BOUNDS,
    run: |root, options, _| {
        let operations = options.get("operations")?;
        let inputs = options.get("inputs")?;
        if op::compute_in_users(&root, operations, inputs) {
            Ok(())
        } else {
            Err("rewriting did not come to an end".into())
        }
    },
    ..Pass::NONE
};
