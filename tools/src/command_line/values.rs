// SPDX-License-Identifier: Apache-2.0
//! Values of flags.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use clap::builder::PossibleValue;
use skript_frontend::program::Edition;
use skript_semantics::{IntType, RealType};
use skript_stablehlo::{Mesh, Sharding};
use skript_tensor::archive::is_packed;
use skript_tensor::weights::is_array_file;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// With source lines and carets
    Human,
    /// One line each: `path:line:col: error[CODE]: message`
    Short,
    /// One JSON object per line
    Json,
}

/// Values of `--quantize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum QuantizeArgument {
    /// Apply the operators of `@quantize` to the tensors that it names, and compute in reals
    Simulate,
    /// Like simulate, but multiply quantized tensors in 8-bit integers; results differ by at most one quantization step (docs/numerics.md)
    Integer,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum EditionName {
    Draft6,
    Khronos,
}

impl From<EditionName> for Edition {
    fn from(name: EditionName) -> Self {
        match name {
            EditionName::Draft6 => Edition::Draft6,
            EditionName::Khronos => Edition::Khronos,
        }
    }
}

/// Values of `--real`.
#[derive(Clone, Copy, Debug)]
pub struct RealName(pub RealType);

impl ValueEnum for RealName {
    fn value_variants<'a>() -> &'a [Self] {
        &[RealName(RealType::F16), RealName(RealType::BF16), RealName(RealType::F32), RealName(RealType::F64)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// Values of `--int`.
#[derive(Clone, Copy, Debug)]
pub struct IntName(pub IntType);

impl ValueEnum for IntName {
    fn value_variants<'a>() -> &'a [Self] {
        &[IntName(IntType::I8), IntName(IntType::I16), IntName(IntType::I32), IntName(IntType::I64)]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineName {
    /// Native code
    Compiled,
    /// The reference evaluator, which is slow
    Reference,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Pipeline {
    Linalg,
    LinalgNamed,
    /// For `--emit` only: the compiler has no code for assertions.
    #[value(skip)]
    LinalgTensors,
    Affine,
    Scf,
}

impl Pipeline {
    /// The compiler's flag of the pipeline.
    pub fn flag(self) -> &'static str {
        match self {
            Pipeline::Linalg => "skript-to-linalg",
            Pipeline::LinalgNamed => "skript-to-linalg-named",
            Pipeline::LinalgTensors => "skript-to-linalg-tensors",
            Pipeline::Affine => "skript-to-affine",
            Pipeline::Scf => "skript-to-scf",
        }
    }

    /// The name of the pipeline with this flag.
    pub fn with_flag(flag: &str) -> Option<String> {
        let pipeline = Pipeline::value_variants().iter().find(|pipeline| pipeline.flag() == flag)?;
        Some(pipeline.to_possible_value()?.get_name().to_owned())
    }
}

/// The stage that `compile` prints or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EmitName {
    /// The syntax tree of the main module as JSON, with byte offsets
    Ast,
    /// The composed model: functions, formulas in normal form
    Model,
    /// The model in the MLIR dialect skript
    Skript,
    /// Formulas as linalg on tensors
    Linalg,
    /// Formulas as named linalg operations where possible, such as matmul or conv_2d_nchw_fchw; assumes finite
    /// factors
    LinalgNamed,
    /// Formulas as linalg and scf on tensors without buffers, checks as assertions; for other compilers, such as IREE
    LinalgTensors,
    /// Formulas as affine loops
    Affine,
    /// Formulas as scf loops
    Scf,
    /// StableHLO; with -o, names and shapes of the arguments are written to a .json file
    Stablehlo,
    /// After bufferization, before loops
    Buffers,
    /// After bufferization, with register-tiled kernels for reductions
    Scheduled,
    /// MLIR's LLVM dialect
    LlvmDialect,
    /// LLVM IR before optimization
    LlvmUnoptimized,
    /// Optimized LLVM IR
    Llvm,
    /// Assembly
    Asm,
    /// A C11 program, and with -o its header; --weights states where the weights are
    C,
    /// An object file with the entry `skript_entry`
    Obj,
    /// A self-contained shared object with a C header; linked by cc
    So,
    /// An artifact for skript-run: code and interface
    Artifact,
}

/// The source of an input's values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputArgument {
    /// One file per tensor.
    Files {
        name: String,
        files: Vec<PathBuf>,
    },
    Random {
        name: String,
        seed: u64,
    },
    /// One `.npz` with all inputs by name.
    Archive(PathBuf),
}

/// The source of weights other than the model's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WeightsArgument {
    Zero,
    Random(u64),
    /// Weights in this file have priority.
    From(PathBuf),
}

/// An operator's kernel: `main.sorted=sort@./libsort.so`.
#[derive(Clone, Debug)]
pub struct IntrinsicArgument {
    pub operator: String,
    pub symbol: String,
    pub library: PathBuf,
}

/// The name of an input and its shape, or the shapes of the tensors of a pack; `None` for an extent that remains as in the model.
pub type InputShape = (String, Vec<Vec<Option<u64>>>);

pub fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_string(), value.to_string())),
        _ => Err("write NAME=VALUE".to_string()),
    }
}

/// Parses `main.sorted=sort@./libsort.so`.
pub fn intrinsic_argument(text: &str) -> Result<IntrinsicArgument, String> {
    let wrong = || "write NAME=SYMBOL@LIBRARY".to_string();
    let (operator, location) = name_and_value(text).map_err(|_| wrong())?;
    let (symbol, library) = location.split_once('@').ok_or_else(wrong)?;
    if symbol.is_empty() || library.is_empty() {
        return Err(wrong());
    }
    Ok(IntrinsicArgument { operator, symbol: symbol.to_owned(), library: library.into() })
}

/// Parses `data=2,model=4`.
pub fn mesh_argument(text: &str) -> Result<Mesh, String> {
    let mut axes: Vec<(String, i64)> = Vec::new();
    for part in text.split(',') {
        let (name, value) = name_and_value(part).map_err(|_| "write AXIS=N,AXIS=N".to_string())?;
        axis_name(&name)?;
        let extent = value.parse().ok().filter(|n| (1..=1 << 20).contains(n));
        let extent = extent.ok_or_else(|| format!("`{value}` is not a number of devices"))?;
        if axes.iter().any(|(other, _)| *other == name) {
            return Err(format!("the axis `{name}` occurs twice"));
        }
        axes.push((name, extent));
    }
    Ok(Mesh { axes })
}

/// Parses `x=data,_` or `w=_,data+model`.
pub fn shard_argument(text: &str) -> Result<Sharding, String> {
    let (tensor, axes) = name_and_value(text)
        .map_err(|_| "write NAME=AXES, with `_` for a dimension that is not split".to_string())?;
    let dimension = |part: &str| match part {
        "_" => Ok(Vec::new()),
        _ => part
            .split('+')
            .map(|axis| axis_name(axis).map(|()| axis.to_string()))
            .collect::<Result<Vec<_>, _>>(),
    };
    let dimensions = axes.split(',').map(dimension).collect::<Result<_, _>>()?;
    Ok(Sharding { tensor, dimensions })
}

/// Returns an error unless the name of an axis is an identifier of the language.
fn axis_name(text: &str) -> Result<(), String> {
    let mut letters = text.chars();
    let first = letters.next().is_some_and(|c| c.is_ascii_alphabetic());
    if first && letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        Ok(())
    } else {
        Err(format!("`{text}` is not a name of an axis"))
    }
}

/// Parses `x=4,3`, `x=-1,3` or `xs=4,3;2,3`; an empty text after `=` is the shape of a scalar.
pub fn input_shape_argument(text: &str) -> Result<InputShape, String> {
    let wrong = || "write NAME=EXTENT,EXTENT".to_string();
    let (name, shapes) = text.split_once('=').ok_or_else(wrong)?;
    if name.is_empty() {
        return Err(wrong());
    }
    let extent = |text: &str| match text.trim() {
        "-1" | "?" => Ok(None),
        number => number.parse().map(Some).map_err(|_| format!("`{text}` is not an extent")),
    };
    let shape = |text: &str| match text {
        "" => Ok(Vec::new()),
        _ => text.split(',').map(extent).collect(),
    };
    let shapes = shapes.split(';').map(shape).collect::<Result<_, _>>()?;
    Ok((name.to_string(), shapes))
}

pub fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("a tolerance is a finite number that is not negative".to_string()),
    }
}

fn random_seed(text: &str) -> Option<Result<u64, String>> {
    let seed = text.strip_prefix("random:")?;
    Some(seed.parse().map_err(|_| format!("`{seed}` is not a seed, a number from 0 to 2^64 - 1")))
}

pub fn input_argument(text: &str) -> Result<InputArgument, String> {
    let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.is_empty()) else {
        if text.ends_with(".npz") {
            return Ok(InputArgument::Archive(PathBuf::from(text)));
        }
        return Err("write NAME=FILE.npy, NAME=random:SEED or FILE.npz".to_string());
    };
    let name = name.to_string();
    if let Some(seed) = random_seed(value) {
        return seed.map(|seed| InputArgument::Random { name, seed });
    }
    // If a file with this name exists, the commas are part of its name.
    let files: Vec<PathBuf> = if value.contains(',') && Path::new(value).is_file() {
        vec![PathBuf::from(value)]
    } else {
        value.split(',').map(PathBuf::from).collect()
    };
    if files.iter().any(|file| file.as_os_str().is_empty()) {
        return Err(format!("`{value}` needs a file name"));
    }
    Ok(InputArgument::Files { name, files })
}

pub fn weights_argument(text: &str) -> Result<WeightsArgument, String> {
    match (text, random_seed(text)) {
        ("zero", _) => Ok(WeightsArgument::Zero),
        (_, Some(seed)) => seed.map(WeightsArgument::Random),
        _ if is_array_file(Path::new(text)) || is_packed(Path::new(text)) => {
            Ok(WeightsArgument::From(PathBuf::from(text)))
        }
        _ => {
            Err("write zero, random:SEED, or a file that ends in .safetensors, .npz, .gguf or .tgz"
                .to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs() {
        assert_eq!(
            input_argument("x=a.npy,b.npy"),
            Ok(InputArgument::Files { name: "x".into(), files: vec!["a.npy".into(), "b.npy".into()] })
        );
        assert_eq!(input_argument("x=random:7"), Ok(InputArgument::Random { name: "x".into(), seed: 7 }));
        assert!(input_argument("x=random:-1").is_err());
        assert!(input_argument("=a.npy").is_err());
        assert!(weights_argument("ones").is_err());
        let file = WeightsArgument::From("w.safetensors".into());
        assert_eq!(weights_argument("w.safetensors"), Ok(file));
    }

    #[test]
    fn shapes_of_inputs() {
        let shapes = |text| input_shape_argument(text).map(|(_, shapes)| shapes);
        let (three, four) = (Some(3), Some(4));
        assert_eq!(shapes("x=4,3"), Ok(vec![vec![four, three]]));
        assert_eq!(shapes("x=-1,3, ?"), Ok(vec![vec![None, three, None]]));
        let pack = vec![vec![four, three], vec![Some(0)]];
        assert_eq!(shapes("xs=4,3;0"), Ok(pack));
        assert_eq!(shapes("x="), Ok(vec![vec![]]));
        for wrong in ["x", "=4", "x=-2", "x=4,", "x=a", "x=99999999999999999999"] {
            assert!(shapes(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn placements() {
        let mesh = mesh_argument("data=2,model=4").unwrap();
        assert_eq!(mesh.axes, [("data".to_string(), 2), ("model".to_string(), 4)]);
        for wrong in ["", "data", "data=0", "data=2,data=2", "data=-1", "d\"=2", "_=2"] {
            assert!(mesh_argument(wrong).is_err(), "{wrong}");
        }
        let sharding = shard_argument("w.0=_,data+model").unwrap();
        assert_eq!(sharding.tensor, "w.0");
        assert_eq!(sharding.dimensions, [vec![], vec!["data".to_string(), "model".to_string()]]);
        for wrong in ["x", "x=", "=data", "x=data+", "x=\"a\""] {
            assert!(shard_argument(wrong).is_err(), "{wrong}");
        }
    }
}
