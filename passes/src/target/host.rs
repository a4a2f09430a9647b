// SPDX-License-Identifier: Apache-2.0
//! The processor of this machine.

use super::Processor;
use crate::codegen::llvm;
use skript_runtime::artifact::Target;
use skript_runtime::processor;
use std::sync::LazyLock;

/// The target for this processor. Code only uses features that the loader also finds, because the loader rejects code with others.
pub(super) fn target() -> Target {
    static TARGET: LazyLock<Target> = LazyLock::new(usable);
    TARGET.clone()
}

fn usable() -> Target {
    let mut target = llvm::host();
    let supported = processor::features();
    let is_usable = |feature: &&str| match feature.strip_prefix('+') {
        Some(name) => supported.contains(&name),
        None => true,
    };
    let features: Vec<&str> = target.features.split(',').filter(is_usable).collect();
    target.features = features.join(",");
    target
}

/// A processor with the properties of this one instead of typical values.
pub(super) fn measured(typical: Processor) -> Processor {
    static CACHES: LazyLock<[Option<u64>; 3]> = LazyLock::new(processor::caches);
    let [l1, l2, l3] = *CACHES;
    Processor {
        l1: l1.unwrap_or(typical.l1),
        l2: l2.unwrap_or(typical.l2),
        l3: l3.unwrap_or(typical.l3),
        cores: processor::cores(),
        ..typical
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the loader's table of features with the features that LLVM finds.
    #[test]
    fn llvm_and_the_loader_find_the_same_features() {
        let supported = processor::features();
        let target = llvm::host();
        for feature in target.features.split(',') {
            // Versions of AVX10 are not in the loader's table.
            if let Some(name) = feature.strip_prefix('+').filter(|n| !n.starts_with("avx10")) {
                assert!(supported.contains(&name), "the loader does not find {name}");
            }
            if let Some(name) = feature.strip_prefix('-') {
                assert!(!supported.contains(&name), "the loader finds {name}");
            }
        }
    }
}
