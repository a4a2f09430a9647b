// SPDX-License-Identifier: Apache-2.0
//! Supported processor architectures, as data. A new architecture needs a row here, its processors in `cpus.rs`, and LLVM's
//! initialization in `codegen/llvm_targets.rs`.

use super::features;
use super::triples::{ELF, EMBEDDED, System, WASM};
use skript_runtime::artifact::Target;
use skript_runtime::processor::{aarch64, x86_features};

/// The vector registers of targets with a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vectors {
    /// The feature; empty if every processor of the architecture has these registers.
    pub(crate) feature: &'static str,
    /// Bits of a register.
    pub(crate) bits: u32,
    /// The number of registers.
    pub(crate) registers: u32,
    /// LLVM's feature for scalable registers, if `feature` is this compiler's name for their minimum length; otherwise empty.
    scalable: &'static str,
    /// Another feature that is required for the registers; may be empty.
    needs: &'static str,
}

impl Vectors {
    /// Whether code for a target may use these registers.
    fn is_in(&self, target: &Target) -> bool {
        has(target, self.feature) && (self.needs.is_empty() || has(target, self.needs))
    }
}

/// Conversions of 16-bit floats that a feature adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversions {
    /// The feature; empty if every processor of the architecture has these conversions.
    feature: &'static str,
    /// A feature with which LLVM would convert vectors element by element, or by calls; may be empty.
    unless: &'static str,
    /// The option of `skript-expand-narrow-reals`.
    names: &'static str,
}

const fn conversions(feature: &'static str, names: &'static str) -> Conversions {
    Conversions { feature, unless: "", names }
}

/// Minimum number of bits of a scalable register.
const GRANULE: u32 = 128;

/// Maximum length of a scalable register, in units of [`GRANULE`].
const MAX_GRANULES: u32 = 16;

/// An architecture: the properties that all of its processors share.
#[derive(Debug)]
pub(crate) struct Architecture {
    /// The name in tables: the first word of [`Self::triple`].
    pub(crate) name: &'static str,
    /// The first words of triples of this architecture.
    pub(super) words: &'static [&'static str],
    /// The default triple.
    pub(crate) triple: &'static str,
    /// The supported systems of its triples, and their suffixes.
    pub(super) systems: &'static [System],
    /// The default processor.
    pub(crate) generic: &'static str,
    /// Vector registers; the first row whose feature a target has applies.
    pub(crate) vectors: &'static [Vectors],
    /// Names of features in addition to those that the loader checks.
    features: &'static [&'static str],
    /// Each feature with the features that it directly implies: LLVM enables these with it, and disables it with any of these.
    pub(super) implied: &'static [(&'static str, &'static [&'static str])],
    /// Operations that LLVM compiles to calls of the C library: the value of the option of `skript-expand-library-math`.
    pub(crate) library_math: &'static str,
    /// Conversions of 16-bit floats; the first row whose features fit a target applies.
    conversions: &'static [Conversions],
    /// Whether the objects of a module's parts are merged ([`crate::codegen::merged_object`]); otherwise LLVM links the parts first.
    pub(crate) joins_objects: bool,
}

const fn vectors(feature: &'static str, bits: u32, registers: u32) -> Vectors {
    Vectors { feature, bits, registers, scalable: "", needs: "" }
}

const fn needing(needs: &'static str, feature: &'static str, bits: u32) -> Vectors {
    Vectors { needs, ..vectors(feature, bits, 32) }
}

const fn scalable(feature: &'static str, bits: u32, scalable: &'static str) -> Vectors {
    Vectors { scalable, ..vectors(feature, bits, 32) }
}

pub(crate) const X86_64: &str = "x86_64";
pub(crate) const AARCH64: &str = "aarch64";
pub(crate) const RISCV64: &str = "riscv64";
pub(crate) const WASM32: &str = "wasm32";
pub(crate) const ARM: &str = "arm";

/// The default architecture: the architecture of the compiler's hosts.
const HOST: Architecture = Architecture {
    name: X86_64,
    words: &["x86_64", "amd64"],
    triple: "x86_64-unknown-linux-gnu",
    systems: ELF,
    generic: "x86-64-v2",
    vectors: &[vectors("avx512f", 512, 32), vectors("avx2", 256, 16), vectors("", 128, 16)],
    features: &[],
    implied: features::X86_64,
    library_math: "ceil,floor,remf,round,roundeven,trunc",
    conversions: &[conversions("f16c", "f16-f32")],
    joins_objects: true,
};

/// All architectures. If there are no vector registers, 64-bit vectors are pairs of numbers in two scalar registers.
pub(crate) const ARCHITECTURES: &[Architecture] = &[
    HOST,
    Architecture {
        name: AARCH64,
        words: &["aarch64", "arm64"],
        triple: "aarch64-unknown-linux-gnu",
        systems: ELF,
        generic: "generic",
        vectors: &[scalable("sve512", 512, "sve"), scalable("sve256", 256, "sve"), vectors("", 128, 32)],
        features: &["sve256", "sve512"],
        implied: features::AARCH64,
        library_math: "remf",
        conversions: &[conversions("", "f16-f32,f16-f64")],
        joins_objects: true,
    },
    Architecture {
        name: RISCV64,
        words: &["riscv64", "riscv64gc"],
        triple: "riscv64-unknown-linux-gnu",
        systems: ELF,
        generic: "generic-rv64",
        vectors: &[
            needing("v", "zvl512b", 512),
            needing("v", "zvl256b", 256),
            needing("v", "zvl128b", 128),
            vectors("v", 128, 32),
            vectors("", 64, 16),
        ],
        features: &[
            "m", "a", "f", "d", "c", "v", "zfh", "zvfh", "zba", "zbb", "zbs", "zicsr", "zifencei", "zvl128b",
            "zvl256b", "zvl512b",
        ],
        implied: features::RISCV64,
        library_math: "remf",
        conversions: &[
            conversions("zvfh", "f16-f32,f16-f64"),
            Conversions { unless: "v", ..conversions("zfh", "f16-f32,f16-f64") },
        ],
        joins_objects: false,
    },
    Architecture {
        name: WASM32,
        words: &["wasm32"],
        triple: "wasm32-unknown-unknown",
        systems: WASM,
        generic: "generic-wasm",
        vectors: &[vectors("simd128", 128, 16), vectors("", 64, 16)],
        features: &[
            "simd128",
            "relaxed-simd",
            "bulk-memory",
            "bulk-memory-opt",
            "call-indirect-overlong",
            "multivalue",
            "mutable-globals",
            "nontrapping-fptoint",
            "reference-types",
            "sign-ext",
            "extended-const",
            "tail-call",
        ],
        implied: &[("relaxed-simd", &["simd128"])],
        library_math: "remf,round",
        conversions: &[],
        joins_objects: false,
    },
    Architecture {
        name: ARM,
        words: &["thumbv7em", "thumb", "arm"],
        triple: "thumbv7em-none-eabihf",
        systems: EMBEDDED,
        generic: "cortex-m4",
        vectors: &[vectors("neon", 128, 16), vectors("", 64, 16)],
        features: &["neon", "vfp4d16sp", "fp16", "vfp2sp", "vfp3d16sp", "thumb2", "hwdiv"],
        implied: features::ARM,
        library_math: "ceil,floor,maximumf,minimumf,remf,round,roundeven,trunc",
        conversions: &[conversions("vfp4d16sp", "f16-f32")],
        joins_objects: false,
    },
];

impl Architecture {
    /// Returns the architecture of a triple, by its first word.
    pub(crate) fn for_triple(triple: &str) -> Option<&'static Architecture> {
        let word = triple.split('-').next().unwrap_or(triple);
        ARCHITECTURES.iter().find(|known| known.words.contains(&word))
    }

    /// Returns the architecture with a name in tables.
    pub(crate) fn named(name: &str) -> &'static Architecture {
        ARCHITECTURES.iter().find(|known| known.name == name).unwrap_or(&HOST)
    }

    /// Returns the architecture of a target; the architecture of the compiler's hosts for an unknown triple.
    pub(crate) fn of_target(target: &Target) -> &'static Architecture {
        Architecture::for_triple(&target.triple).unwrap_or(&HOST)
    }

    /// Returns the names of features that a command line may change.
    pub(crate) fn feature_names(&self) -> Vec<&'static str> {
        let mut names: Vec<&str> = match self.name {
            // Code for this architecture always uses the 64-bit mode.
            X86_64 => x86_features::TABLE.iter().map(|f| f.name).filter(|name| *name != "64bit").collect(),
            AARCH64 => aarch64::NAMES.to_vec(),
            _ => Vec::new(),
        };
        names.extend(self.features);
        names
    }

    /// Returns the vector registers that code for a target uses.
    pub(crate) fn vectors(target: &Target) -> Option<&'static Vectors> {
        let mut rows = Architecture::of_target(target).vectors.iter();
        rows.find(|row| row.feature.is_empty() || row.is_in(target))
    }

    /// Returns a feature of vector registers of a target, and the feature that it requires, if the target lacks the latter.
    pub(crate) fn missing(target: &Target) -> Option<[&'static str; 2]> {
        let mut rows = Architecture::of_target(target).vectors.iter();
        let missing = |row: &&Vectors| has(target, row.feature) && !row.is_in(target);
        rows.find(missing).map(|row| [row.feature, row.needs])
    }

    /// Returns two features of a list that state different minimum lengths of registers, if there are two.
    pub(crate) fn lengths_at_once(&self, names: &[&str]) -> Option<[&'static str; 2]> {
        let mut rows = self.vectors.iter();
        let mut stated = rows.by_ref().filter(|row| !row.scalable.is_empty() && names.contains(&row.feature));
        Some([stated.next()?.feature, stated.next()?.feature])
    }

    /// Returns the conversions of 16-bit floats for which a target has instructions: the value of the option of
    /// `skript-expand-narrow-reals`.
    pub(crate) fn conversions(target: &Target) -> &'static str {
        let has = |feature: &str| !feature.is_empty() && has(target, feature);
        let mut rows = Architecture::of_target(target).conversions.iter();
        let row = rows.find(|row| (row.feature.is_empty() || has(row.feature)) && !has(row.unless));
        row.map_or("", |row| row.names)
    }

    /// Returns the minimum and maximum length of scalable registers, in units of `vscale`, if code for a target depends on it.
    pub(crate) fn register_lengths(target: &Target) -> Option<(u32, u32)> {
        let row = Architecture::vectors(target)?;
        (!row.scalable.is_empty()).then_some((row.bits / GRANULE, MAX_GRANULES))
    }

    /// Returns the feature string of a target for LLVM, without the feature names of this compiler.
    pub(crate) fn llvm_features(target: &Target) -> String {
        let rows = Architecture::of_target(target).vectors;
        let known = |feature: &str| {
            let name = feature.trim_start_matches(['+', '-']);
            let mut scalable = rows.iter().filter(|row| !row.scalable.is_empty());
            match scalable.find(|row| row.feature == name) {
                None => Some(feature.to_owned()),
                // Removing a minimum length does not remove the scalable registers.
                Some(row) => feature.starts_with('+').then(|| format!("+{}", row.scalable)),
            }
        };
        target.features.split(',').filter_map(known).collect::<Vec<_>>().join(",")
    }
}

/// Whether code for a target may use a feature.
pub(crate) fn has(target: &Target, feature: &str) -> bool {
    target.features.split(',').any(|f| f.strip_prefix('+') == Some(feature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_scalable_registers_are_not_passed_to_llvm() {
        let of = |features: &str| Target {
            triple: "aarch64-unknown-linux-gnu".to_owned(),
            cpu: "generic".to_owned(),
            features: features.to_owned(),
        };
        let wide = of("+neon,+sve256");
        assert_eq!(Architecture::llvm_features(&wide), "+neon,+sve");
        assert_eq!(Architecture::register_lengths(&wide), Some((2, 16)));
        let without = of("+neon,+sve,-sve256");
        assert_eq!(Architecture::llvm_features(&without), "+neon,+sve");
        assert_eq!(Architecture::register_lengths(&without), None);
    }

    #[test]
    fn conversions_follow_from_features() {
        let of = |triple: &str, features: &str| {
            Architecture::conversions(&Target {
                triple: triple.to_owned(),
                cpu: String::new(),
                features: features.to_owned(),
            })
        };
        let riscv = "riscv64-unknown-linux-gnu";
        assert_eq!(of("x86_64-unknown-linux-gnu", "+sse4.2"), "");
        assert_eq!(of("x86_64-unknown-linux-gnu", "+f16c"), "f16-f32");
        assert_eq!(of("aarch64-none-elf", ""), "f16-f32,f16-f64");
        assert_eq!(of(riscv, "+d,+zfh"), "f16-f32,f16-f64");
        // There are no vector instructions for f16.
        assert_eq!(of(riscv, "+d,+zfh,+v"), "");
        assert_eq!(of(riscv, "+d,+v,+zvfh"), "f16-f32,f16-f64");
        assert_eq!(of("wasm32-unknown-unknown", "+simd128"), "");
    }
}
