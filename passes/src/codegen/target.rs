// SPDX-License-Identifier: Apache-2.0
//! `skript-set-target`: sets the target triple and the data layout of a module in the dialect `llvm`.

use super::llvm;
use crate::ir;
use crate::ir::ops;
use skript_dialect::{Dialect, Pass, PassOption};

/// The pass `skript-set-target`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-set-target",
    summary: "set the target triple and its data layout",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Llvm],
    options: &[PassOption {
        name: "triple",
        summary: "LLVM's target triple, such as x86_64-pc-linux-gnu",
        default: "",
    }],
    run: |root, options, _| {
        let triple: String = options.get("triple")?;
        let layout = llvm::data_layout(&triple)?;
        ir::set_string(root, "llvm.target_triple", &triple);
        ir::set_string(root, "llvm.data_layout", &layout);
        Ok(())
    },
};
