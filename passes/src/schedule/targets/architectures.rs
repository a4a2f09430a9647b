// SPDX-License-Identifier: Apache-2.0
//! Architectures of processors that code can be compiled for, as data. A new one is a row here, its processors in `cpus.rs`, and
//! LLVM's initialization in `codegen/llvm_targets.rs`.

use super::features;
use super::triples::{ELF, EMBEDDED, System, WASM};
use skript_runtime::artifact::Target;
use skript_runtime::processor::{aarch64, x86_features};

/// Vector registers that a target has if it has a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vectors {
    /// The feature; empty for those of every processor of the architecture.
    pub(crate) feature: &'static str,
    /// Bits of a register.
    pub(crate) bits: u32,
    /// The number of registers.
    pub(crate) registers: u32,
    /// LLVM's feature for registers whose length differs between processors, if `feature` is a name of ours for their least length; else
    /// empty.
    scalable: &'static str,
    /// The feature without which `feature` gives no registers; empty for none.
    needs: &'static str,
}

impl Vectors {
    /// Whether code for a target may use them.
    fn is_in(&self, target: &Target) -> bool {
        has(target, self.feature) && (self.needs.is_empty() || has(target, self.needs))
    }
}

/// Conversions of reals of 16 bits that a target has instructions for if it has a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conversions {
    /// The feature; empty for those of every processor of the architecture.
    feature: &'static str,
    /// A feature with which LLVM converts vectors one by one, or by calls; empty for none.
    unless: &'static str,
    /// The option of `skript-expand-narrow-reals`.
    names: &'static str,
}

const fn conversions(feature: &'static str, names: &'static str) -> Conversions {
    Conversions { feature, unless: "", names }
}

/// Bits of a scalable register of the least length, and the most times that a register is as long.
const GRANULE: u32 = 128;
const MOST_GRANULES: u32 = 16;

/// An architecture: what all of its processors have in common.
#[derive(Debug)]
pub(crate) struct Architecture {
    /// The name in tables: the first word of [`Self::triple`].
    pub(crate) name: &'static str,
    /// The first words of triples of this architecture.
    pub(super) words: &'static [&'static str],
    /// The triple of a processor that is named without one.
    pub(crate) triple: &'static str,
    /// The systems of its triples, and what follows them.
    pub(super) systems: &'static [System],
    /// The processor where none is named.
    pub(crate) generic: &'static str,
    /// Vector registers; the first row whose feature a target has is the target's.
    pub(crate) vectors: &'static [Vectors],
    /// Names of features beyond those that the loader checks.
    features: &'static [&'static str],
    /// Features that need others directly: LLVM adds these with them, and takes them away with these.
    pub(super) implied: &'static [(&'static str, &'static [&'static str])],
    /// Operations that LLVM compiles to calls of the C library: the option of `skript-expand-library-math`.
    pub(crate) library_math: &'static str,
    /// Conversions of reals of 16 bits; the first row that fits a target is the target's.
    conversions: &'static [Conversions],
    /// Whether objects of parts of a module are joined ([`crate::codegen::merged_object`]); else LLVM links the parts before.
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

/// The architecture where none is known: that of the compiler's hosts.
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
    conversions: &[conversions("avx512fp16", "f16-f32,f16-f64"), conversions("f16c", "f16-f32")],
    joins_objects: true,
};

/// Every architecture. Where there are no vector registers, vectors of 64 bits are pairs of numbers in two registers.
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
    /// The architecture of a triple, by its first word.
    pub(crate) fn of(triple: &str) -> Option<&'static Architecture> {
        let word = triple.split('-').next().unwrap_or_default();
        ARCHITECTURES.iter().find(|known| known.words.contains(&word))
    }

    /// The architecture of a name in tables.
    pub(crate) fn named(name: &str) -> &'static Architecture {
        let mut all = ARCHITECTURES.iter();
        all.find(|known| known.name == name).unwrap_or(&HOST)
    }

    /// The architecture of a target; that of this compiler's hosts for a triple that is in no table.
    pub(crate) fn of_target(target: &Target) -> &'static Architecture {
        Architecture::of(&target.triple).unwrap_or(&HOST)
    }

    /// The names of features that a command line may change.
    pub(crate) fn feature_names(&self) -> Vec<&'static str> {
        let mut names: Vec<&str> = match self.name {
            // All code for this architecture is for its mode of 64 bits.
            X86_64 => {
                let names = x86_features::TABLE.iter().map(|f| f.name);
                names.filter(|name| *name != "64bit").collect()
            }
            AARCH64 => aarch64::NAMES.to_vec(),
            _ => Vec::new(),
        };
        names.extend(self.features);
        names
    }

    /// The vector registers of code for a target.
    pub(crate) fn vectors(target: &Target) -> Option<&'static Vectors> {
        let mut rows = Architecture::of_target(target).vectors.iter();
        rows.find(|row| row.feature.is_empty() || row.is_in(target))
    }

    /// A feature of vector registers that a target names, and the one that it needs and that the target has not.
    pub(crate) fn missing(target: &Target) -> Option<[&'static str; 2]> {
        let mut rows = Architecture::of_target(target).vectors.iter();
        let missing = |row: &&Vectors| has(target, row.feature) && !row.is_in(target);
        rows.find(missing).map(|row| [row.feature, row.needs])
    }

    /// Two features that state different least lengths of registers, if a list names two.
    pub(crate) fn lengths_at_once(&self, names: &[&str]) -> Option<[&'static str; 2]> {
        let mut rows = self.vectors.iter();
        let mut stated = rows.by_ref().filter(|row| !row.scalable.is_empty() && names.contains(&row.feature));
        Some([stated.next()?.feature, stated.next()?.feature])
    }

    /// The conversions of reals of 16 bits that a target has instructions for: the option of `skript-expand-narrow-reals`.
    pub(crate) fn conversions(target: &Target) -> &'static str {
        let has = |feature: &str| !feature.is_empty() && has(target, feature);
        let mut rows = Architecture::of_target(target).conversions.iter();
        let row = rows.find(|row| (row.feature.is_empty() || has(row.feature)) && !has(row.unless));
        row.map_or("", |row| row.names)
    }

    /// The least and the most length of scalable registers, in units of LLVM's `vscale`, if code for a target depends on it.
    pub(crate) fn register_lengths(target: &Target) -> Option<(u32, u32)> {
        let row = Architecture::vectors(target)?;
        (!row.scalable.is_empty()).then_some((row.bits / GRANULE, MOST_GRANULES))
    }

    /// The changes of features by names that LLVM knows.
    pub(crate) fn llvm_features(target: &Target) -> String {
        let rows = Architecture::of_target(target).vectors;
        let known = |feature: &str| {
            let name = feature.trim_start_matches(['+', '-']);
            let mut own = rows.iter().filter(|row| !row.scalable.is_empty());
            match own.find(|row| row.feature == name) {
                None => Some(feature.to_owned()),
                // Shorter registers are registers still.
                Some(row) => feature.starts_with('+').then(|| format!("+{}", row.scalable)),
            }
        };
        let features = target.features.split(',').filter_map(known);
        features.collect::<Vec<_>>().join(",")
    }
}

/// Whether code for a target may use a feature.
pub(crate) fn has(target: &Target, feature: &str) -> bool {
    let mut present = target.features.split(',');
    present.any(|f| f.strip_prefix('+') == Some(feature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_scalable_registers_are_no_features_of_llvm() {
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
        // Vectors have no instructions for f16.
        assert_eq!(of(riscv, "+d,+zfh,+v"), "");
        assert_eq!(of(riscv, "+d,+v,+zvfh"), "f16-f32,f16-f64");
        assert_eq!(of("wasm32-unknown-unknown", "+simd128"), "");
    }
}
