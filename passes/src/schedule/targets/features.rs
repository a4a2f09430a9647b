// SPDX-License-Identifier: Apache-2.0
//! Implied features of processors, as data.

use super::architectures::Architecture;

/// Each feature with the features that it directly implies in LLVM, as in `llvm::X86::updateImpliedFeatures`.
#[rustfmt::skip]
pub(super) const X86_64: &[(&str, &[&str])] = &[
    ("sse2", &["sse"]), ("sse3", &["sse2"]), ("ssse3", &["sse3"]), ("sse4.1", &["ssse3"]), ("sse4.2", &["sse4.1"]),
    ("avx", &["sse4.2"]), ("f16c", &["avx"]), ("fma", &["avx"]), ("avx2", &["avx"]), ("vaes", &["aes", "avx2"]), ("vpclmulqdq", &["avx", "pclmul"]),
    ("avx512f", &["avx2", "f16c", "fma"]),
    ("avx512dq", &["avx512f"]), ("avx512ifma", &["avx512f"]), ("avx512cd", &["avx512f"]), ("avx512bw", &["avx512f"]),
    ("avx512vl", &["avx512f"]), ("avx512vnni", &["avx512f"]), ("avx512vpopcntdq", &["avx512f"]), ("avx512vp2intersect", &["avx512f"]),
    ("avx512vbmi", &["avx512bw"]), ("avx512vbmi2", &["avx512bw"]), ("avx512bitalg", &["avx512bw"]),
    ("avx512fp16", &["avx512bw"]), ("avx512bf16", &["avx512bw"]),
    ("avxvnni", &["avx2"]), ("avxifma", &["avx2"]), ("avxvnniint8", &["avx2"]), ("avxneconvert", &["avx2"]), ("avxvnniint16", &["avx2"]),
    ("amx-bf16", &["amx-tile"]), ("amx-int8", &["amx-tile"]), ("amx-fp16", &["amx-tile"]), ("amx-complex", &["amx-tile"]),
];

/// `sve256` and `sve512` are names of this compiler for register lengths; LLVM adds the other implied features.
pub(super) const AARCH64: &[(&str, &[&str])] = &[
    ("neon", &["fp-armv8"]),
    ("sve", &["neon"]),
    ("sve2", &["sve"]),
    ("sve256", &["sve"]),
    ("sve512", &["sve"]),
];

pub(super) const ARM: &[(&str, &[&str])] =
    &[("vfp3d16sp", &["vfp2sp"]), ("vfp4d16sp", &["vfp3d16sp", "fp16"])];

pub(super) const RISCV64: &[(&str, &[&str])] =
    &[("d", &["f"]), ("v", &["d", "zvl128b"]), ("zvl256b", &["zvl128b"]), ("zvl512b", &["zvl256b"])];

impl Architecture {
    /// Returns a feature, then all features that it implies.
    pub(crate) fn with_needed<'a>(&self, feature: &'a str) -> Vec<&'a str>
    where
        'static: 'a,
    {
        let mut features = vec![feature];
        let mut next = 0;
        while let Some(name) = features.get(next).copied() {
            let direct = self.implied.iter().filter(|(known, _)| *known == name);
            for needed in direct.flat_map(|(_, needed)| needed.iter().copied()) {
                if !features.contains(&needed) {
                    features.push(needed);
                }
            }
            next += 1;
        }
        features
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::targets::architectures;

    #[test]
    fn implied_features_are_added() {
        let x86 = Architecture::named(architectures::X86_64);
        let needed = x86.with_needed("avx512bf16");
        for name in ["avx512bw", "avx512f", "fma", "sse"] {
            assert!(needed.contains(&name), "{name}");
        }
        assert!(!needed.contains(&"avx512vl"));
        assert_eq!(x86.with_needed("bmi"), ["bmi"]);
    }

    /// Returns the features of a function that clang compiles with `feature`.
    fn clang(feature: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("f.c");
        std::fs::write(&source, "void f(void) {}").unwrap();
        let clang = std::process::Command::new("clang-22")
            .args(["--target=x86_64-linux-gnu", "-S", "-emit-llvm", "-o", "-"])
            .args(["-Xclang", "-target-feature", "-Xclang"])
            .arg(format!("+{feature}"))
            .arg(source)
            .output();
        let text = String::from_utf8_lossy(&clang.unwrap().stdout).into_owned();
        let (_, features) = text.split_once("\"target-features\"=\"").unwrap();
        let (features, _) = features.split_once('"').unwrap();
        features.split(',').filter_map(|f| f.strip_prefix('+')).map(str::to_owned).collect()
    }

    /// clang lists the implied features, and features of scalar instructions that it always enables.
    #[test]
    fn the_rows_are_those_of_llvm() {
        let x86 = Architecture::named(architectures::X86_64);
        let vectors = |name: &str| {
            name.starts_with("avx") || name.starts_with("sse") || ["fma", "f16c"].contains(&name)
        };
        for (feature, _) in X86_64 {
            let mut ours = x86.with_needed(feature);
            ours.retain(|name| vectors(name) && !["sse", "sse2"].contains(name));
            let mut of_llvm = clang(feature);
            of_llvm.retain(|name| vectors(name) && !["sse", "sse2"].contains(&name.as_str()));
            ours.sort_unstable();
            of_llvm.sort_unstable();
            assert_eq!(ours, of_llvm, "{feature}");
        }
    }
}
