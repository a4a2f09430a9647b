// SPDX-License-Identifier: Apache-2.0
//! `skript-fuse-elementwise`: fuses elementwise `linalg.generic` operations with their only users, in groups of limited
//! size.
//!
//! Upstream's `linalg-fuse-elementwise-ops` fuses a chain into one loop and copies the payload at each step. Its time
//! is quadratic in the length of the chain, and the loop needs too many registers. In this pass, a fused payload has at
//! most `operations` operations and reads at most `inputs` tensors. Reshapes between operations are moved, as upstream.

use skript_dialect::{Dialect, Pass, PassOption, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-fuse-elementwise",
    summary: "fuse elementwise linalg.generic operations in groups of limited size",
    dependent_dialects: &[Dialect::Affine, Dialect::Linalg, Dialect::Tensor],
    options: &OPTIONS,
    run: |root, options, _| {
        let operations = options.get("operations")?;
        let inputs = options.get("inputs")?;
        let maps_only = options.get("maps-only")?;
        if op::fuse_elementwise(&root, operations, inputs, maps_only) {
            Ok(())
        } else {
            Err("the rewriting did not terminate".into())
        }
    },
    ..Pass::NONE
};

const OPTIONS: [PassOption; 3] = [
    BOUNDS[0],
    BOUNDS[1],
    PassOption { name: "maps-only", summary: "do not change operations that reduce", default: "false" },
];

/// The limits for a fused operation.
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
