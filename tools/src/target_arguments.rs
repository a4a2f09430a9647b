// SPDX-License-Identifier: Apache-2.0
//! The flags for the target of code generation, and for rounding.

use crate::command_line::{ModelArguments, Pipeline, QuantizeArgument};
use crate::console::Console;
use clap::{Args, ValueEnum};
use skript::Compiler;
use skript_passes::fast_math::FastMath;
use skript_passes::target::{Gpu, Integers, Language, NATIVE, Precision, TargetDescription, TargetError};
use skript_runtime::device::DeviceChoice;
use std::sync::OnceLock;

#[derive(Clone, Debug, Args)]
pub struct TargetArguments {
    /// Processor to generate code for: native (default), a level such as x86-64-v3, or a product such as znver5 or neoverse-n1; an
    /// unknown name prints the list. With a triple, the default is any processor of its architecture
    #[arg(long, value_name = "NAME")]
    cpu: Option<String>,
    /// Features that code may use beyond those of the processor (+), or may not use (-), by LLVM's names: +avx512bf16,-avx512vl
    #[arg(
        long,
        value_name = "+A,-B",
        default_value = "",
        hide_default_value = true,
        allow_hyphen_values = true
    )]
    features: String,
    /// What to generate code for: cpu (the processor that --cpu names), a system by its triple such as aarch64-linux-gnu,
    /// riscv64-linux-gnu or wasm32, or a GPU: nvptx64 (kernels as PTX), amdgcn (kernels for AMD GPUs), vulkan (kernels as SPIR-V)
    #[arg(long, value_name = "NAME|TRIPLE", default_value = "cpu", value_parser = kind)]
    pub target: Kind,
    /// Architecture of the GPU: sm_80 (default) or sm_90 with --target=nvptx64, gfx90a (default) or gfx1100 with
    /// --target=amdgcn, vulkan (default) with --target=vulkan
    #[arg(long, value_name = "NAME")]
    gpu_arch: Option<String>,
    /// How products of matrices on tensor cores round their inputs: f32 (default) uses no tensor cores, tf32, f16 and bf16 round inputs in
    /// f32, and use those of inputs in f16 and bf16 as they are. Sums are in f32. With --target=nvptx64 or --device=cuda
    #[arg(long, value_name = "TYPE", default_value = "f32", hide_default_value = true, value_parser = precision)]
    gpu_precision: Precision,
    /// Device that the model runs on: cpu, cuda, vulkan, auto for a GPU if there is one; cuda:N or vulkan:N for one of several
    #[arg(long, value_name = "NAME", default_value = "cpu")]
    device: DeviceChoice,
    /// Bytes of the caches of levels 1 to 3 in place of those of the processor, for tests of the compiler: code for small caches is correct
    /// on any processor
    #[arg(long, value_name = "L1,L2,L3", value_parser = caches, hide = true)]
    cache_bytes: Option<[u64; 3]>,
    /// Prove that all accesses of compiled code are inside of their memory, for tests of the compiler
    #[arg(long, hide = true)]
    verify_accesses: bool,
    /// How far results may differ from the formulas by rounding: docs/numerics.md has the errors
    #[arg(long, value_enum, value_name = "LEVEL", default_value_t = Level::Default)]
    fast_math: Level,
}

/// The target of code generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The processor that --cpu names.
    Cpu,
    /// Processors of the triple, by default any of them.
    Triple(String),
    /// NVIDIA GPUs.
    Nvptx64,
    /// AMD GPUs.
    Amdgcn,
    /// GPUs with Vulkan 1.2.
    Vulkan,
}

fn precision(text: &str) -> Result<Precision, String> {
    Precision::named(text).ok_or_else(|| {
        let names: Vec<&str> = Precision::ALL.iter().map(|(name, _)| *name).collect();
        format!("there are {}", names.join(", "))
    })
}

/// Maximum size of a cache in bytes: products of numbers of elements fit in 64 bits.
const MAX_CACHE_BYTES: u64 = 1 << 40;

fn caches(text: &str) -> Result<[u64; 3], String> {
    let sizes = text.split(',').map(|size| {
        let size = size.parse().ok();
        size.filter(|size| (1..=MAX_CACHE_BYTES).contains(size))
    });
    let sizes: Option<Vec<u64>> = sizes.collect();
    let sizes = sizes.and_then(|sizes| <[u64; 3]>::try_from(sizes).ok());
    sizes.ok_or_else(|| {
        format!("three sizes from 1 to {MAX_CACHE_BYTES} are expected, as in 4096,65536,1048576")
    })
}

fn kind(text: &str) -> Result<Kind, String> {
    Ok(match text {
        "cpu" => Kind::Cpu,
        "nvptx64" => Kind::Nvptx64,
        "amdgcn" => Kind::Amdgcn,
        "vulkan" => Kind::Vulkan,
        triple => {
            TargetDescription::of_triple(triple, None, "").map_err(|error| {
                format!(
                    "{error}; GPUs are nvptx64, amdgcn and vulkan, and `cpu` is the processor that --cpu names"
                )
            })?;
            Kind::Triple(triple.to_owned())
        }
    })
}

/// The levels of `--fast-math`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Level {
    /// Each operation rounds, sums are computed in the order of the formula
    None,
    /// Fused multiply-adds, sums in an order that is fixed for a target, constant factors become part of weights
    Default,
    /// As default, and windows of 3 × 3 with unit strides in f32 by Winograd's minimal filtering where that is faster: sums lose 5 bits
    /// more at most on ordinary data, and an infinity or NaN reaches all sums of a tile of 4 × 4
    Winograd,
}

impl TargetArguments {
    /// Checks the flags and returns the target.
    ///
    /// # Errors
    /// [`TargetError`] for unknown names and contradicting flags.
    pub fn check(&self) -> Result<TargetDescription, TargetError> {
        let cpu = self.cpu.as_deref();
        let target = match &self.target {
            Kind::Triple(triple) => TargetDescription::of_triple(triple, cpu, &self.features),
            _ => TargetDescription::named(cpu.unwrap_or(NATIVE), &self.features),
        }?;
        self.check_device()?;
        let fast_math = match self.fast_math {
            Level::None => FastMath::None,
            Level::Default => FastMath::Default,
            Level::Winograd => FastMath::Winograd,
        };
        let gpu = self.gpu()?;
        let target = match self.cache_bytes {
            Some(bytes) => target.with_caches(bytes),
            None => target,
        };
        Ok(TargetDescription {
            fast_math,
            gpu,
            gpu_precision: self.precision(gpu)?,
            verifies_accesses: self.verify_accesses,
            device: self.device().0,
            ..target
        })
    }

    /// Returns an error if the device does not run code for the target.
    fn check_device(&self) -> Result<(), TargetError> {
        let (target, fitting) = match &self.target {
            Kind::Cpu => return Ok(()),
            Kind::Triple(triple) => (triple.as_str(), None),
            Kind::Nvptx64 => ("nvptx64", Some("cuda")),
            Kind::Amdgcn => ("amdgcn", None),
            Kind::Vulkan => ("vulkan", Some("vulkan")),
        };
        let device = match self.device {
            DeviceChoice::Cpu => return Ok(()),
            DeviceChoice::Cuda(_) => "cuda",
            DeviceChoice::Vulkan(_) => "vulkan",
            DeviceChoice::Auto => "auto",
        };
        if fitting == Some(device) {
            Ok(())
        } else {
            Err(TargetError::Device { target: target.to_owned(), device, fitting })
        }
    }

    /// The first flag on the command line that affects only code for processors.
    pub fn flag_of_processors(&self) -> Option<&'static str> {
        match (&self.cpu, self.features.is_empty()) {
            (Some(_), _) => Some("--cpu"),
            (None, false) => Some("--features"),
            (None, true) => None,
        }
    }

    /// Whether code is generated for this processor, with default options.
    pub fn is_default(&self) -> bool {
        self.is_for_processor() && self.check().is_ok_and(|target| target == TargetDescription::host())
    }

    /// Whether the processor was selected, not found by `auto`.
    pub fn is_for_processor(&self) -> bool {
        self.device == DeviceChoice::Cpu
    }

    /// The device that the model runs on, and a note about the selection for the user.
    pub fn device(&self) -> (DeviceChoice, Option<&'static str>) {
        static FOUND: OnceLock<(DeviceChoice, String)> = OnceLock::new();
        if self.device != DeviceChoice::Auto {
            return (self.device, None);
        }
        let (device, note) = FOUND.get_or_init(|| match skript::find_gpu() {
            Ok((device, name)) => (device, format!("runs on {name}")),
            Err(reason) => (DeviceChoice::Cpu, format!("runs on the processor: {reason}")),
        });
        (*device, Some(note))
    }

    /// Prints the note about the device, if there is one.
    pub fn announce(&self, console: &mut Console) {
        if let (_, Some(note)) = self.device() {
            console.write(&format!("note: {}\n", skript_host::one_line(note)));
        }
    }

    /// The GPU, if code is generated for a GPU.
    fn gpu(&self) -> Result<Option<&'static Gpu>, TargetError> {
        let architecture = |usual| self.gpu_arch.as_deref().unwrap_or(usual);
        let (name, language) = match self.target {
            Kind::Cpu => match self.device().0 {
                DeviceChoice::Cuda(_) => (architecture("sm_80"), Language::Ptx),
                DeviceChoice::Vulkan(_) => (architecture("vulkan"), Language::SpirV),
                DeviceChoice::Cpu | DeviceChoice::Auto => return self.no_gpu(),
            },
            Kind::Triple(_) => return self.no_gpu(),
            Kind::Nvptx64 => (architecture("sm_80"), Language::Ptx),
            Kind::Amdgcn => (architecture("gfx90a"), Language::Amdgcn),
            Kind::Vulkan => (architecture("vulkan"), Language::SpirV),
        };
        let gpu = Gpu::named(name).filter(|gpu| gpu.language == language);
        let unknown = || TargetError::Gpu { name: name.to_owned(), language };
        gpu.map(Some).ok_or_else(unknown)
    }

    /// Returns no GPU. An architecture is an error, unless `auto` found no GPU.
    fn no_gpu(&self) -> Result<Option<&'static Gpu>, TargetError> {
        match &self.gpu_arch {
            Some(name) if self.device != DeviceChoice::Auto => Err(TargetError::NoGpu(name.clone())),
            Some(name) if Gpu::named(name).is_none() => {
                Err(TargetError::Gpu { name: name.clone(), language: Language::Ptx })
            }
            _ => Ok(None),
        }
    }

    /// The rounding of matrix products. A GPU that `auto` finds may lack tensor cores.
    fn precision(&self, gpu: Option<&'static Gpu>) -> Result<Precision, TargetError> {
        let has_units = gpu.is_some_and(|gpu| gpu.matrices.is_some());
        match (self.gpu_precision, gpu) {
            (Precision::F32, _) => Ok(Precision::F32),
            (other, _) if has_units => Ok(other),
            _ if self.device == DeviceChoice::Auto => Ok(Precision::F32),
            (other, Some(gpu)) => Err(TargetError::Precision { name: gpu.name, precision: other.name() }),
            (other, None) => Err(TargetError::NoUnits(other.name())),
        }
    }

    /// The target for flags that the command line has already checked.
    pub fn target(&self) -> TargetDescription {
        self.check().unwrap_or_else(|_| TargetDescription::host())
    }

    /// The compiler for a model that is read with these options.
    pub fn compiler(&self, pipeline: Pipeline, reading: &ModelArguments) -> Compiler {
        let integers = match reading.quantize {
            Some(QuantizeArgument::Integer) => Integers::Always,
            Some(QuantizeArgument::Simulate) => Integers::Never,
            None => Integers::ByModel,
        };
        crate::engine::compiler(pipeline, self.target()).with_integers(integers)
    }
}
