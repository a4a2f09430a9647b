// SPDX-License-Identifier: Apache-2.0
//! Checks the dependences between crates that are invariants in ARCHITECTURE.md.

use crate::tree::Tree;

/// Crates that must never link MLIR, by manifest.
const WITHOUT_MLIR: &[&str] = &[
    "frontend/Cargo.toml",
    "frontend/semantics/Cargo.toml",
    "gradient/Cargo.toml",
    "host/Cargo.toml",
    "import/Cargo.toml",
    "javascript/Cargo.toml",
    "language-server/Cargo.toml",
    "python/runtime/Cargo.toml",
    "runtime/intrinsics/Cargo.toml",
    "runtime/tensor/Cargo.toml",
    "runtime/reference/Cargo.toml",
    "runtime/run/Cargo.toml",
    "runtime/Cargo.toml",
    "symbolic/Cargo.toml",
    "view/Cargo.toml",
];

/// Dependencies that link MLIR.
const MLIR: &[&str] = &["melior", "mlir-sys", "skript-dialect", "skript-passes"];

/// The runtime, for C and Rust and for Python, by manifest.
const RUNTIME: &[&str] = &["python/runtime/Cargo.toml", "runtime/Cargo.toml", "runtime/run/Cargo.toml"];

/// Crates that the runtime must not depend on.
const COMPILER: &[&str] = &["skript-frontend", "skript-reference"];

/// Build scripts that must not exist: they could link LLVM libraries.
const WITHOUT_BUILD_SCRIPT: &[&str] = &[
    "host/build.rs",
    "python/runtime/build.rs",
    "runtime/build.rs",
    "runtime/intrinsics/build.rs",
    "runtime/tensor/build.rs",
];

pub fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for script in WITHOUT_BUILD_SCRIPT {
        if tree.file(script).is_some() {
            complaints.push(format!("{script}: the runtime links no libraries"));
        }
    }
    for manifest in WITHOUT_MLIR {
        let Some(file) = tree.file(manifest) else {
            complaints.push(format!("{manifest}: a crate of the design is missing"));
            continue;
        };
        for name in dependencies(&file.text) {
            let forbidden = MLIR.contains(&name) || RUNTIME.contains(manifest) && COMPILER.contains(&name);
            if forbidden {
                complaints.push(format!("{manifest}: must not depend on {name}"));
            }
        }
    }
    complaints
}

/// The names below all `[…dependencies]` headings.
fn dependencies(manifest: &str) -> Vec<&str> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.trim_end().ends_with("dependencies]");
        } else if inside && let Some((name, _)) = line.split_once(['.', '=', ' ']) {
            names.push(name.trim());
        }
    }
    names
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_dependency_heading_counts() {
        let text = "[package]\nname = \"x\"\n[dependencies]\nmelior.workspace = true\n[dev-dependencies]\na = \"1\"\n";
        assert_eq!(super::dependencies(text), ["melior", "a"]);
    }
}
