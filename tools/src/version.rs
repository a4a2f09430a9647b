// SPDX-License-Identifier: Apache-2.0
//! The output of `--version` of the tools that link LLVM.

use std::sync::LazyLock;

/// The version, the commit of the build, LLVM's version, and the host's CPU.
pub fn text() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let host = skript_passes::target::TargetDescription::host().code;
        let has = |feature: &&str| host.features.split(',').any(|f| f == format!("+{feature}"));
        let vectors: Vec<&str> = ["avx512f", "avx2", "fma", "neon"].into_iter().filter(has).collect();
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

/// Whether the only argument is `--version`, for which MLIR's tools would print only LLVM's version.
#[allow(dead_code, reason = "clap parses the arguments of skript itself")]
pub fn is_asked(mut arguments: impl Iterator<Item = String>) -> bool {
    arguments.next().as_deref() == Some("--version") && arguments.next().is_none()
}
