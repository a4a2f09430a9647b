// SPDX-License-Identifier: Apache-2.0
//! The target of code generation.

use skript_runtime::artifact;

/// A processor, in LLVM's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub(crate) inner: artifact::Target,
}

impl Target {
    /// This machine.
    pub fn host() -> Self {
        Target {
            inner: skript_runtime::program::host(),
        }
    }

    /// A processor by its triple (`x86_64-pc-linux-gnu`), its CPU (`znver3`) and its features (`+avx2,+fma`).
    pub fn new(triple: &str, cpu: &str, features: &str) -> Self {
        Target {
            inner: artifact::Target {
                triple: triple.to_owned(),
                cpu: cpu.to_owned(),
                features: features.to_owned(),
            },
        }
    }
}
