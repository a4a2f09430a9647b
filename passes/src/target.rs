// SPDX-License-Identifier: Apache-2.0
//! The target of code generation: the description of a processor that every decision of the compiler reads.
//!
//! It describes this processor, or a named one. It does not depend on the load, the affinity mask or the number of
//! threads, so that the same model, options and processor give the same code.

mod host;

use crate::codegen::extremes::Extremes;
use crate::fast_math::FastMath;
use crate::schedule::costs::Costs;
use crate::schedule::dot::Instruction;
pub(crate) use crate::schedule::targets::architectures::Architecture;
use crate::schedule::targets::architectures::{AARCH64, ARCHITECTURES, X86_64, has};
pub(crate) use crate::schedule::targets::cpus::{CPUS, Cpu};
pub use crate::schedule::targets::gpus::{
    DirectCopy, GPUS, Gpu, Language, MatrixTile, MatrixUnit, MatrixUnitKind, Precision, Tile,
};
pub(crate) use crate::schedule::targets::triples::is_freestanding;
use skript_frontend::diagnostics::closest;
use skript_runtime::artifact::Target;
use skript_runtime::device::DeviceChoice;

/// The name of this processor on command lines.
pub const NATIVE: &str = "native";

/// Features of an x86-64 processor that decide more than single instructions.
const SSE_4_1: &str = "sse4.1";
const AVX512: &str = "avx512f";
const AVX512_VL: &str = "avx512vl";
const AVX512_DQ: &str = "avx512dq";

/// Bytes of the last level of the cache that are assumed at least: caches of processors by name may be larger than typical.
const SMALLEST_STREAMED: u64 = 16 << 20;

/// When code computes sums of products of quantized tensors in 8-bit integers, not in reals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integers {
    /// For quantized ONNX models on processors. Passes compute in reals until [`Integers::resolved`] has replaced it.
    #[default]
    ByModel,
    /// For all models.
    Always,
    /// For none.
    Never,
}

impl Integers {
    /// [`Integers::Always`] or [`Integers::Never`], for a model that computes in integers by default or not.
    #[must_use]
    pub fn resolved(self, is_default: bool) -> Self {
        match self {
            Integers::ByModel if is_default => Integers::Always,
            Integers::ByModel => Integers::Never,
            resolved => resolved,
        }
    }
}

/// A processor for LLVM and for the loader, and its properties that decide how code is scheduled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetDescription {
    /// The processor as named in artifacts.
    pub code: Target,
    /// Its parts.
    pub processor: Processor,
    /// How code may round.
    pub fast_math: FastMath,
    /// When sums of products of quantized tensors are computed in bytes, as `skript-compute-integers` does.
    pub integers: Integers,
    /// The GPU that kernels are for; `code` is then the host's processor.
    pub gpu: Option<&'static Gpu>,
    /// How its units for products of matrices round.
    pub gpu_precision: Precision,
    /// The device that kernels run on.
    pub device: DeviceChoice,
    /// Plans of kernels in place of those that costs select: the option `plans` of `skript-vectorize-reductions`.
    pub plans: String,
    /// Whether compilation proves that accesses are inside of their memory, as `skript-verify-accesses` does.
    pub verifies_accesses: bool,
    /// Whether code has line tables, which state the line of the model for each instruction.
    pub has_line_tables: bool,
}

/// Properties of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processor {
    /// Bits of the widest vector registers.
    pub vector_bits: u32,
    /// Number of vector registers.
    pub vector_registers: u32,
    /// Whether one instruction multiplies the elements of a vector by powers of two.
    pub(crate) scales: bool,
    /// Its instructions for the minimum and the maximum of vector elements.
    pub(crate) extremes: Extremes,
    /// Whether one instruction converts the elements of a vector to the nearest integers.
    pub(crate) rounds: bool,
    /// The instructions for sums of products of bytes.
    pub(crate) byte_products: Instruction,
    /// The instructions for sums of products of bf16.
    pub(crate) bf16_products: Instruction,
    /// The costs of operations on such vectors.
    pub(crate) costs: Costs,
    /// Bytes of a core's data cache of level 1.
    pub l1: u64,
    /// Bytes of the cache of level 2.
    pub(crate) l2: u64,
    /// Bytes of the cache of level 3, shared by cores.
    pub(crate) l3: u64,
    /// Bytes of a result that is written past the cache.
    pub(crate) streamed: u64,
    /// Processors of the system, whether this process may use them or not; 1 for a processor by name.
    pub(crate) cores: u32,
}

/// Why a target is not available.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)] // The message of each variant states its fields.
pub enum TargetError {
    #[error("the processor `{name}` is not known{}; there are {NATIVE}, {}", suggestion(*.near), names().join(", "))]
    Cpu { name: String, near: Option<&'static str> },
    #[error("the processor `{name}` of {architecture} is not known{}; there are {}", suggestion(*.near), names_of(architecture).join(", "))]
    CpuOfTriple { name: String, architecture: &'static str, near: Option<&'static str> },
    #[error("the feature `{name}` of {architecture} processors is not known{}", suggestion(*.near))]
    Feature { name: String, architecture: &'static str, near: Option<&'static str> },
    #[error(
        "`{0}` is not a change of features: write `+NAME` for each one to use and `-NAME` for each one not to use, separated by commas"
    )]
    Change(String),
    #[error("no code is generated for `{triple}`; there are triples of {} (little-endian)", architectures())]
    Triple { triple: String },
    #[error("no code is generated for the system of `{triple}`; there are {systems}")]
    System { triple: String, systems: String },
    #[error("the processor `{cpu}` is one of {architecture}, and `{triple}` is not; there are {others}")]
    Architecture { cpu: &'static str, architecture: &'static str, triple: String, others: String },
    #[error(
        "the feature `{feature}` needs `{needed}`, which is not among the features, or is taken away: write +{needed},+{feature}"
    )]
    Needed { feature: &'static str, needed: &'static str },
    #[error("`+{added}` and `-{removed}` contradict each other{}: leave one of them out", needing(.added, .removed))]
    Contradiction { added: String, removed: String },
    #[error("`{}` and `{}` state different least lengths of registers: leave one of them out", .0[0], .0[1])]
    Lengths([&'static str; 2]),
    #[error(
        "`native` is this processor, one of {host}, and `{triple}` is not: name a processor of {architecture}, or leave --cpu out"
    )]
    Native { host: &'static str, triple: String, architecture: &'static str },
    #[error("the GPU architecture `{name}` is not known here; there are {}", gpus(*.language))]
    Gpu { name: String, language: Language },
    #[error(
        "--gpu-arch={0} selects a GPU, and code is for a processor: add --target=nvptx64, amdgcn or vulkan, or --device=cuda or vulkan"
    )]
    NoGpu(String),
    #[error("{name} has no units for products of matrices in {precision}: there is --gpu-precision=f32")]
    Precision { name: &'static str, precision: &'static str },
    #[error(
        "--gpu-precision={0} is for the tensor cores of a GPU, and code is for a processor: add --target=nvptx64 or --device=cuda"
    )]
    NoUnits(&'static str),
    #[error("--target={target} and --device={device} contradict each other: {}", one_of(.fitting))]
    Device { target: String, device: &'static str, fitting: Option<&'static str> },
}

fn suggestion(near: Option<&str>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn gpus(language: Language) -> String {
    let known = GPUS.iter().filter(|gpu| gpu.language == language);
    let names: Vec<_> = known.map(|gpu| gpu.name).collect();
    names.join(", ")
}

fn architectures() -> String {
    let names: Vec<_> = ARCHITECTURES.iter().map(|known| known.name).collect();
    names.join(", ")
}

fn one_of(fitting: &Option<&str>) -> String {
    match fitting {
        Some(fitting) => format!("write --device={fitting}, or leave --device out"),
        None => "leave --device out".to_owned(),
    }
}

fn needing(added: &str, removed: &str) -> String {
    if added == removed { String::new() } else { format!(", as `{added}` needs `{removed}`") }
}

fn names() -> Vec<&'static str> {
    CPUS.iter().map(|cpu| cpu.name).collect()
}

fn names_of(architecture: &str) -> Vec<&'static str> {
    CPUS.iter().filter(|cpu| cpu.architecture == architecture).map(|cpu| cpu.name).collect()
}

impl TargetDescription {
    /// This processor.
    pub fn host() -> TargetDescription {
        TargetDescription::new(host::target())
    }

    /// The processor of a name of [`CPUS`], or [`NATIVE`]; `features` changes what code may use of it: `+avx2,-fma`, or
    /// nothing.
    ///
    /// # Errors
    /// [`TargetError`] for names that are not known.
    pub fn named(cpu: &str, features: &str) -> Result<TargetDescription, TargetError> {
        let mut target = match (cpu, Cpu::named(cpu)) {
            (NATIVE, _) => host::target(),
            (_, Some(cpu)) => cpu.target(Architecture::named(cpu.architecture).triple),
            (name, None) => return Err(unknown_cpu(name)),
        };
        change(&mut target, features)?;
        Ok(TargetDescription::new(target))
    }

    /// Bytes of the cache that results must exceed to be written past it; `None` where processors decide that themselves.
    pub(crate) fn streams(&self) -> Option<u64> {
        let is_x86 = self.gpu.is_none()
            && !self.is_freestanding()
            && Architecture::of_target(&self.code).name == X86_64;
        is_x86.then_some(self.processor.streamed)
    }

    /// The same processor with caches of levels 1 to 3 of these sizes in bytes: small ones let small models take the paths of large
    /// ones.
    #[must_use]
    pub fn with_caches(self, [l1, l2, l3]: [u64; 3]) -> TargetDescription {
        TargetDescription { processor: Processor { l1, l2, l3, streamed: l3, ..self.processor }, ..self }
    }

    /// Whether vectors have fused multiplications and additions, and masks for parts of them.
    pub(crate) fn has_fused_vectors(&self) -> bool {
        self.gpu.is_none()
            && !self.is_freestanding()
            && Architecture::of_target(&self.code).name == X86_64
            && ["avx2", "fma"].iter().all(|f| has(&self.code, f))
    }

    /// The processor of a name on a system, both by a triple: `aarch64-linux-gnu`, `wasm32`. No name is any processor of the triple's
    /// architecture.
    ///
    /// # Errors
    /// [`TargetError`] for names that are not known.
    pub fn of_triple(
        triple: &str,
        cpu: Option<&str>,
        features: &str,
    ) -> Result<TargetDescription, TargetError> {
        let unknown = || TargetError::Triple { triple: triple.to_owned() };
        let architecture = Architecture::for_triple(triple).ok_or_else(unknown)?;
        let complete = architecture.complete(triple);
        let complete = complete.ok_or_else(|| TargetError::System {
            triple: triple.to_owned(),
            systems: architecture.system_names(),
        })?;
        let mut target = match cpu {
            None => {
                let generic = architecture.generic;
                Cpu::named(generic).ok_or_else(|| unknown_cpu(generic))?.target(&complete)
            }
            Some(NATIVE) => {
                let host = host::target();
                let name = Architecture::of_target(&host).name;
                if name != architecture.name {
                    return Err(TargetError::Native {
                        host: name,
                        triple: triple.to_owned(),
                        architecture: architecture.name,
                    });
                }
                Target { triple: complete, ..host }
            }
            Some(name) => {
                let known = Cpu::named(name).ok_or_else(|| TargetError::CpuOfTriple {
                    name: name.to_owned(),
                    architecture: architecture.name,
                    near: closest(name, names_of(architecture.name)),
                })?;
                if known.architecture != architecture.name {
                    return Err(TargetError::Architecture {
                        cpu: known.name,
                        architecture: known.architecture,
                        triple: triple.to_owned(),
                        others: names_of(architecture.name).join(", "),
                    });
                }
                known.target(&complete)
            }
        };
        change(&mut target, features)?;
        Ok(TargetDescription::new(target))
    }

    /// Whether passes compute sums of products of quantized tensors in bytes.
    pub fn computes_integers(&self) -> bool {
        self.integers == Integers::Always
    }

    /// Whether an instruction permutes the lanes of a vector of 32-bit elements by another vector.
    pub(crate) fn permutes(&self) -> bool {
        let is_x86 = Architecture::of_target(&self.code).name == X86_64;
        is_x86 && self.processor.vector_bits >= 256
    }

    /// Whether programs for the target have no C library and no threads.
    pub fn is_freestanding(&self) -> bool {
        is_freestanding(&self.code.triple)
    }

    /// The description of a target that LLVM knows.
    pub fn new(code: Target) -> TargetDescription {
        let host = host::target();
        let is_host = code.triple == host.triple && code.cpu == host.cpu;
        TargetDescription {
            processor: Processor::new(&code, is_host),
            fast_math: FastMath::default(),
            integers: Integers::default(),
            gpu: None,
            gpu_precision: Precision::F32,
            device: DeviceChoice::Cpu,
            plans: String::new(),
            verifies_accesses: false,
            has_line_tables: false,
            code,
        }
    }
}

impl Processor {
    fn new(target: &Target, is_host: bool) -> Processor {
        let (vector_bits, vector_registers) = vectors(target);
        let generic = match (Architecture::of_target(target), vector_bits) {
            (known, 512) if known.name == X86_64 => "x86-64-v4",
            (known, 256) if known.name == X86_64 => "x86-64-v3",
            (known, _) => known.generic,
        };
        let cpu = Cpu::named(&target.cpu).or_else(|| Cpu::named(generic));
        let [l1, l2, l3] = cpu.map_or([32, 256, 2048], |cpu| cpu.caches).map(|kib| kib << 10);
        let processor = Processor {
            vector_bits,
            vector_registers,
            scales: [AVX512, AVX512_VL].iter().all(|f| has(target, f)),
            extremes: match Architecture::of_target(target).name {
                X86_64 if vector_bits == 512 && has(target, AVX512_DQ) => Extremes::Ranges,
                X86_64 => Extremes::Selections,
                _ => Extremes::Operations,
            },
            rounds: has(target, SSE_4_1),
            byte_products: byte_products(target, vector_bits),
            bf16_products: bf16_products(target, vector_bits),
            costs: cpu.map_or(Costs::TYPICAL, |cpu| cpu.costs),
            l1,
            l2,
            l3,
            streamed: SMALLEST_STREAMED,
            cores: 1,
        };
        let processor = if is_host { host::measured(processor) } else { processor };
        Processor { streamed: processor.l3.max(SMALLEST_STREAMED), ..processor }
    }
}

fn unknown_cpu(name: &str) -> TargetError {
    TargetError::Cpu { name: name.to_owned(), near: closest(name, names()) }
}

/// Bits and number of the target's widest vector registers.
fn vectors(target: &Target) -> (u32, u32) {
    let row = Architecture::vectors(target);
    row.map_or((128, 16), |row| (row.bits, row.registers))
}

/// The target's instructions for sums of products of bytes in vectors of this width in bits.
fn byte_products(target: &Target, bits: u32) -> Instruction {
    let has = |feature: &str| has(target, feature);
    match Architecture::of_target(target).name {
        AARCH64 if has("i8mm") && bits == 128 => Instruction::Usdot,
        X86_64 if has("avx512vnni") && has(AVX512_VL) => Instruction::Vpdpbusd,
        X86_64 if has("avxvnni") && bits <= 256 => Instruction::Vpdpbusd,
        X86_64 if bits == 512 && !has("avx512bw") => Instruction::None,
        X86_64 => Instruction::Vpmaddwd,
        _ => Instruction::None,
    }
}

/// The target's instructions for sums of products of bf16 in vectors of this width in bits.
fn bf16_products(target: &Target, bits: u32) -> Instruction {
    let has = |feature: &str| has(target, feature);
    match Architecture::of_target(target).name {
        X86_64 if has("avx512bf16") && (bits == 512 || has(AVX512_VL)) => Instruction::Vdpbf16ps,
        _ => Instruction::None,
    }
}

/// Applies a list of `+feature` and `-feature`: a feature comes with those that it needs, and goes with those that need it.
fn change(target: &mut Target, changes: &str) -> Result<(), TargetError> {
    let architecture = Architecture::of_target(target);
    let changes: Vec<&str> = changes.split(',').map(str::trim).filter(|item| !item.is_empty()).collect();
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for item in changes {
        let known = architecture.feature_names();
        let (list, name) = match item.split_at_checked(1) {
            Some(("+", name)) if !name.is_empty() => (&mut added, name),
            Some(("-", name)) if !name.is_empty() => (&mut removed, name),
            _ => return Err(TargetError::Change(item.to_owned())),
        };
        if !known.contains(&name) {
            return Err(TargetError::Feature {
                name: name.to_owned(),
                architecture: architecture.name,
                near: closest(name, known),
            });
        }
        list.push(name);
    }
    for name in &added {
        let needed = architecture.with_needed(name);
        if let Some(removed) = needed.into_iter().find(|needed| removed.contains(needed)) {
            return Err(TargetError::Contradiction {
                added: (*name).to_owned(),
                removed: removed.to_owned(),
            });
        }
    }
    if let Some(lengths) = architecture.lengths_at_once(&added) {
        return Err(TargetError::Lengths(lengths));
    }
    let named = |feature: &&str| feature.trim_start_matches(['+', '-']).to_owned();
    let features = target.features.split(',').filter(|f| !f.is_empty());
    let mut features: Vec<String> = features.map(str::to_owned).collect();
    // LLVM reads the list in order: removing a feature removes those that require it.
    for name in removed {
        features.retain(|feature| {
            let feature = named(&feature.as_str());
            !architecture.with_needed(&feature).contains(&name)
        });
        features.push(format!("-{name}"));
    }
    for name in &added {
        for needed in architecture.with_needed(name).into_iter().rev() {
            features.retain(|feature| named(&feature.as_str()) != needed);
            features.push(format!("+{needed}"));
        }
    }
    target.features = features.join(",");
    match Architecture::missing(target) {
        // Features of the processor do not require features that changes remove.
        Some([feature, needed]) if added.contains(&feature) => Err(TargetError::Needed { feature, needed }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(cpu: &str, features: &str) -> TargetDescription {
        TargetDescription::named(cpu, features).unwrap()
    }

    #[test]
    fn vectors_follow_from_features() {
        let vectors = |cpu, features| {
            let Processor { vector_bits, vector_registers, .. } = named(cpu, features).processor;
            (vector_bits, vector_registers)
        };
        assert_eq!(vectors("x86-64-v2", ""), (128, 16));
        assert_eq!(vectors("x86-64-v3", ""), (256, 16));
        assert_eq!(vectors("x86-64-v4", ""), (512, 32));
        assert_eq!(vectors("znver5", "-avx512f"), (256, 16));
        assert_eq!(vectors("x86-64-v3", "+avx512f"), (512, 32));
        assert_eq!(vectors("neoverse-n1", ""), (128, 32));
    }

    #[test]
    fn triples_select_architecture_and_processor() {
        let any = None::<&str>;
        let of = |triple, cpu, features| TargetDescription::of_triple(triple, cpu, features);
        let n1 = of("aarch64-linux-gnu", Some("neoverse-n1"), "").unwrap();
        assert_eq!(n1.code.triple, "aarch64-unknown-linux-gnu");
        assert_eq!(n1.processor.vector_registers, 32);
        assert!(!n1.is_freestanding());
        let wasm = of("wasm32", any, "+simd128").unwrap();
        assert_eq!(wasm.processor.vector_bits, 128);
        assert!(wasm.is_freestanding());
        let wide = of("riscv64-linux-gnu", any, "+v,+zvl256b").unwrap();
        assert_eq!(wide.processor.vector_bits, 256);
        let wide = of("aarch64-linux-gnu", Some("neoverse-v1"), "+sve256").unwrap();
        assert_eq!(wide.processor.vector_bits, 256);
        assert_eq!(wide.processor.byte_products, Instruction::None);
        let halves =
            |cpu, features| of("x86_64-linux-gnu", Some(cpu), features).unwrap().processor.bf16_products;
        assert_eq!(halves("znver4", ""), Instruction::Vdpbf16ps);
        assert_eq!(halves("znver4", "-avx512bf16"), Instruction::None);
        assert_eq!(halves("x86-64-v4", ""), Instruction::None);
        let refused = of("sparc64-linux-gnu", any, "").unwrap_err().to_string();
        assert!(refused.contains("riscv64"), "{refused}");
        let other = of("wasm32", Some("znver5"), "").unwrap_err().to_string();
        assert!(other.contains("one of x86_64"), "{other}");
        assert!(of("riscv64-linux-gnu", any, "+avx2").is_err());
        let refused = of("riscv64", any, "+zvl512b").unwrap_err().to_string();
        assert!(refused.contains("needs `v`"), "{refused}");
        assert!(matches!(of("aarch64_be-linux-gnu", any, ""), Err(TargetError::Triple { .. })));
        assert!(matches!(of("x86_64-windows-msvc", any, ""), Err(TargetError::System { .. })));
        let names = of("wasm32", Some("mvp"), "").unwrap_err().to_string();
        assert!(names.ends_with("there are generic-wasm"), "{names}");
        assert!(of("wasm32", Some(NATIVE), "").is_err());
        let without = of("riscv64-linux-gnu", Some("spacemit-x60"), "-v").unwrap();
        assert_eq!(without.processor.vector_bits, 64);
    }

    #[test]
    fn features_come_with_what_they_need() {
        let of = |triple, features| TargetDescription::of_triple(triple, None, features);
        let wide = of("x86_64", "+avx512f").unwrap();
        assert_eq!(wide.processor.vector_bits, 512);
        assert!(has(&wide.code, "fma") && has(&wide.code, "avx2"));
        let narrow = named("x86-64-v4", "-avx2");
        assert_eq!(narrow.processor.vector_bits, 128);
        assert!(!has(&narrow.code, "avx512vl") && has(&narrow.code, "fma"));
        for (triple, features, text) in [
            (
                "aarch64",
                "-sve,+sve256",
                "`+sve256` and `-sve` contradict each other, as `sve256` needs `sve`",
            ),
            ("aarch64", "+sve256,-sve", "`+sve256` and `-sve` contradict"),
            ("aarch64", "+sve256,+sve512", "`sve512` and `sve256` state"),
            ("riscv64", "+v,-v", "`+v` and `-v` contradict each other: leave"),
            ("x86_64", "+avx512vl,-avx", "as `avx512vl` needs `avx`"),
            ("x86_64", "+", "write `+NAME`"),
        ] {
            let refused = of(triple, features).unwrap_err().to_string();
            assert!(refused.contains(text), "{refused}");
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_near_match() {
        let refused = |cpu, features| TargetDescription::named(cpu, features).unwrap_err().to_string();
        let text = refused("znver55", "");
        assert!(text.contains("did you mean `znver5`?") && text.contains("neoverse-n1"), "{text}");
        assert!(refused("x86-64-v3", "+avx512vm").contains("did you mean `avx512vl`?"));
        assert!(refused("neoverse-n1", "+avx2").contains("aarch64"));
        assert!(refused("x86-64-v3", "avx2").contains("`+NAME`"));
    }

    #[test]
    fn sizes_are_those_of_a_processor() {
        for cpu in std::iter::once(NATIVE).chain(names()) {
            let Processor { l1, l2, l3, costs, cores, .. } = named(cpu, "").processor;
            assert!((8 << 10..=1 << 20).contains(&l1), "{cpu}: {l1}");
            assert!(l1 < l2 && l2 <= l3 && l3 <= 4 << 30, "{cpu}: {l1} {l2} {l3}");
            assert!((1..=8).contains(&costs.fma_ports) && cores > 0, "{cpu}");
        }
    }

    /// The features that clang knows for each processor; features that code generation never uses are not in the table. Those of an
    /// architecture's generic processor are what its systems require.
    #[test]
    fn features_are_those_of_clang() {
        let is_generic = |cpu: &&Cpu| Architecture::named(cpu.architecture).generic == cpu.name;
        let named = CPUS.iter().filter(|cpu| !is_generic(cpu));
        for cpu in named {
            let of_clang = clang(cpu);
            // clang leaves `cmov`, which every x86-64 processor has, out of its list for AMD's.
            for feature in cpu.features().into_iter().filter(|f| *f != "cmov") {
                assert!(of_clang.contains(&format!("+{feature}")), "{} lacks {feature}", cpu.name);
            }
            for wide in [
                "avx2",
                "fma",
                "f16c",
                "avx512f",
                "avx512vl",
                "avx512bf16",
                "avx512fp16",
                "avxvnni",
                "sve",
                "dotprod",
            ] {
                let listed = cpu.features().contains(&wide);
                assert_eq!(of_clang.contains(&format!("+{wide}")), listed, "{}: {wide}", cpu.name);
            }
        }
    }

    /// The features of a function that clang compiles for a processor.
    fn clang(cpu: &Cpu) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("f.c");
        std::fs::write(&source, "void f(void) {}").unwrap();
        let is_x86 = cpu.architecture == X86_64;
        let clang = std::process::Command::new("clang-22")
            .arg(format!("--target={}", Architecture::named(cpu.architecture).triple))
            .arg(format!("-{}={}", if is_x86 { "march" } else { "mcpu" }, cpu.llvm_name()))
            .args(["-S", "-emit-llvm", "-o", "-"])
            .arg(source)
            .output();
        let text = String::from_utf8_lossy(&clang.unwrap().stdout).into_owned();
        let (_, features) = text.split_once("\"target-features\"=\"").unwrap();
        let (features, _) = features.split_once('"').unwrap();
        features.split(',').map(str::to_owned).collect()
    }
}
