// SPDX-License-Identifier: Apache-2.0
//! `skript-fuse-elementwise`: fuses elementwise `linalg.generic` operations with their only users, in groups of bounded
//! size.
//!
//! Upstream's `linalg-fuse-elementwise-ops` fuses a chain to one loop and copies the payload at each step: its time
//! grows with the square of the chain, and the loop needs more registers than there are. Here a fused payload has at
//! most `operations` operations and reads at most `inputs` tensors. Reshapes move out of the way, as upstream.

use skript_dialect::{Dialect, Pass, PassOption, op};

/// The pass `skript-fuse-elementwise`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-fuse-elementwise",
    summary: "fuse elementwise linalg.generic operations in groups of bounded size",
    dependent_dialects: &[Dialect::Affine, Dialect::Linalg, Dialect::Tensor],
    options: &OPTIONS,
    run: |root, options, _| {
        let operations = options.get("operations")?;
        let inputs = options.get("inputs")?;
        let maps_only = options.get("maps-only")?;
        if op::fuse_elementwise(&root, operations, inputs, maps_only) {
            Ok(())
        } else {
            Err("rewriting did not come to an end".into())
        }
    },
    ..Pass::NONE
};

const OPTIONS: [PassOption; 3] = [
    BOUNDS[0],
    BOUNDS[1],
    PassOption { name: "maps-only", summary: "leave operations that reduce as they are", default: "false" },
];

/// The bounds of a fused operation.
pub(super) const BOUNDS: [PassOption; 2] = [
    PassOption {
        name: "operations",
        summary: "maximum number of operations in a fused payload",
        default: "64",
    },
    PassOption {
        name: "inputs",
        summary: "maximum number of tensors that a fused operation reads",
        default: "16",
    },
];
