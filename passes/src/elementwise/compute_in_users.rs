// SPDX-License-Identifier: Apache-2.0
//! `skript-compute-in-users`: computes elementwise `linalg.generic` operations in the payloads of their users.
//!
//! An operation moves into the payload of a reduction that reads each element of its result once. For example, a sum of squares does
//! not need a tensor of squares. An operation with several users is computed in all of them if an element requires only a few
//! operations on one element, such as the difference to a mean, which the variance and the normalization read. Operations on the
//! result of a contraction or window are not moved, because they become part of its kernel.
//!
//! Requires tensors. Guarantees: each value is computed by the same operations as before; payloads have at most `operations`
//! operations and read at most `inputs` tensors.

use super::fuse_elementwise::BOUNDS;
use skript_dialect::{Dialect, Pass, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-compute-in-users",
    summary: "compute elementwise operations in the payloads of their users",
    dependent_dialects: &[Dialect::Linalg],
    options: &BOUNDS,
    run: |root, options, _| {
        let operations = options.get("operations")?;
        let inputs = options.get("inputs")?;
        if op::compute_in_users(&root, operations, inputs) {
            Ok(())
        } else {
            Err("the rewriting did not terminate".into())
        }
    },
    ..Pass::NONE
};
