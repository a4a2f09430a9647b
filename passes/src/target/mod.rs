//! What code is generated for.

use crate::codegen::llvm;
use skript_runtime::artifact::Target;
use skript_runtime::processor;

/// This processor as LLVM names it. Code may use the features that the loader finds too: it would refuse others.
pub fn host() -> Target {
    let mut target = llvm::host();
    let found: Vec<&str> = processor::features().collect();
    let is_usable = |feature: &&str| match feature.strip_prefix('+') {
        Some(name) => found.contains(&name),
        None => true,
    };
    let features: Vec<&str> = target.features.split(',').filter(is_usable).collect();
    target.features = features.join(",");
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The loader's table of features, against what LLVM reads from the processor.
    #[test]
    fn llvm_and_the_loader_find_the_same_features() {
        let found: Vec<&str> = processor::features().collect();
        let target = llvm::host();
        for feature in target.features.split(',') {
            // Versions of AVX10 are not in the loader's table.
            if let Some(name) = feature
                .strip_prefix('+')
                .filter(|name| !name.starts_with("avx10"))
            {
                assert!(found.contains(&name), "the loader does not find {name}");
            }
            if let Some(name) = feature.strip_prefix('-') {
                assert!(!found.contains(&name), "the loader finds {name}");
            }
        }
    }
}
