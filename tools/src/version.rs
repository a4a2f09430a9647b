// SPDX-License-Identifier: Apache-2.0
//! The output of `skript --version`.

use std::sync::LazyLock;

/// The version, the commit that it was built from, the version of LLVM, and the host's CPU.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let host = skript_passes::target::TargetDescription::host().code;
        let has = |feature: &&str| host.features.split(',').any(|f| f == format!("+{feature}"));
        let vectors: Vec<&str> = ["avx512f", "avx2", "fma", "neon"]
            .into_iter()
            .filter(has)
            .collect();
        format!(
            "{}\ncommit: {}\nLLVM: {}\nCPU: {} ({}), {}",
            env!("CARGO_PKG_VERSION"),
            env!("SKRIPT_COMMIT"),
            skript_passes::codegen::llvm::version(),
            host.cpu,
            vectors.join(", "),
            host.triple,
        )
    });
    &TEXT
}
