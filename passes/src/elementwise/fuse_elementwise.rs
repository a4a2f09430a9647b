//! `skript-fuse-elementwise`: elementwise `linalg.generic` ops join their only users, in groups of bounded size.
//!
//! Upstream's `linalg-fuse-elementwise-ops` joins a chain to one loop, copying all that came before at each step: its time
//! grows with the square of the chain, and no machine has registers for the loop that comes out. Here what comes out
//! has at most `operations` in its payload and reads at most `inputs` tensors. Reshapes move out of the way, as upstream.

use skript_dialect::{Dialect, Pass, PassOption, op};

/// The pass `skript-fuse-elementwise`.
pub const PASS: Pass = Pass {
    flag: "skript-fuse-elementwise",
    summary: "elementwise linalg.generic ops join, in groups of bounded size",
    dependent_dialects: &[Dialect::Affine, Dialect::Linalg, Dialect::Tensor],
    options: &[
        PassOption {
            name: "operations",
            summary: "most operations that a fused payload may hold",
            default: "64",
        },
        PassOption {
            name: "inputs",
            summary: "most tensors that a fused operation may read",
            default: "16",
        },
    ],
    run: |root, options, _| {
        let operations = options.get("operations")?;
        let inputs = options.get("inputs")?;
        if op::fuse_elementwise(&root, operations, inputs) {
            Ok(())
        } else {
            Err("rewriting did not come to an end".into())
        }
    },
    ..Pass::NONE
};
