// SPDX-License-Identifier: Apache-2.0
//! The weights of StableHLO and C programs: options of `skript compile` and `skript-translate`, and the written files.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use skript_semantics::Scalar;
use skript_stablehlo::{Interface, Placement, Port};
use skript_tensor::Tensor;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum WeightsLocation {
    /// Passed by the caller as arguments; this is the default
    #[default]
    Args,
    /// In a file next to the program, FILE.safetensors, whose arrays the caller passes as arguments; of a C program, in
    /// FILE.bin
    File,
    /// In the program, as constants, up to --limit inline_bytes=N; variables that the model updates remain
    /// arguments
    Inline,
}

impl WeightsLocation {
    /// The name on the command line and in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            WeightsLocation::Args => "args",
            WeightsLocation::File => "file",
            WeightsLocation::Inline => "inline",
        }
    }
}

/// The group of the options that read weights. At most one of them may be given.
pub const READING: &str = "reading-weights";

#[derive(Debug, Default, Args)]
pub struct ProgramWeights {
    /// Location of the weights of a StableHLO or C program
    #[arg(long = "weights", value_enum, value_name = "WHERE", group = READING)]
    pub location: Option<WeightsLocation>,
    /// Folder of the weights, or a .safetensors, .npz, .gguf or .tgz file; the model's own folder if not given
    #[arg(long, value_name = "DIR|FILE")]
    pub variables: Option<PathBuf>,
}

impl ProgramWeights {
    /// The location of the weights.
    pub fn location(&self) -> WeightsLocation {
        self.location.unwrap_or_default()
    }

    /// Whether the values of the weights must be read.
    pub fn read(&self) -> bool {
        self.location() != WeightsLocation::Args
    }
}

/// The error of weights that are too large to be stored in the program.
pub fn too_large<'t>(tensors: impl Iterator<Item = &'t Tensor>, max_bytes: u64) -> Option<String> {
    let bytes: u64 = tensors.map(|t| t.bytes().len() as u64).sum();
    (bytes > max_bytes).then(|| {
        format!(
            "the weights have {bytes} bytes; a program may contain at most {max_bytes} (limit `inline_bytes`)"
        )
    })
}

/// The help for the error of [`too_large`].
pub const PUT_ELSEWHERE: &str =
    "--weights=file writes them to a separate file; --limit inline_bytes=N raises the limit";

/// The path with an appended extension, such as `x.mlir.json` for `.json`.
pub fn with_appended_extension(program: &Path, extension: &str) -> PathBuf {
    let mut path = program.to_path_buf().into_os_string();
    path.push(extension);
    PathBuf::from(path)
}

/// Whether callers read values of variables from a file. With `File`, these are the values of all variables; with `Inline`, the
/// initial values of the variables that are arguments, because the model updates them.
pub fn in_file(ports: &Interface, location: WeightsLocation) -> bool {
    match location {
        WeightsLocation::Args => false,
        WeightsLocation::File => true,
        WeightsLocation::Inline => ports.arguments.iter().any(|port| port.role == "variable"),
    }
}

/// The variables that are arguments of the program.
pub fn arguments<'t>(
    ports: &Interface,
    variables: impl Iterator<Item = (&'t str, &'t Tensor)>,
) -> impl Iterator<Item = (&'t str, &'t Tensor)> {
    let is_argument = |name: &str| {
        let mut all = ports.arguments.iter();
        all.any(|port| port.role == "variable" && port.name == name)
    };
    variables.filter(move |(name, _)| is_argument(name))
}

/// The manifest for callers of `@main`: the location of the weights; arguments and results in order, with name, role,
/// shape, element type, the default of an optional argument, and on a mesh the axes that split each dimension.
pub fn manifest(
    ports: &Interface,
    defaults: &[(String, Vec<Scalar>)],
    placement: Option<&Placement>,
    location: WeightsLocation,
    program: &Path,
) -> String {
    let port = |port: &Port| -> Value {
        let mut entry = Map::new();
        let mut set = |key: &str, value| entry.insert(key.to_owned(), value);
        set("name", json!(port.name));
        set("role", json!(port.role));
        set("shape", json!(port.shape));
        set("dtype", json!(port.dtype));
        if let Some((tensor, dimension)) = &port.extent_of {
            set("extent_of", json!(tensor));
            set("dimension", json!(dimension));
        }
        let is_input = port.role == "input";
        let default = defaults.iter().find(|(name, _)| is_input && *name == port.name);
        if let Some((_, [number])) = default.map(|(name, numbers)| (name, numbers.as_slice())) {
            let number = match *number {
                Scalar::Bool(truth) => json!(truth),
                Scalar::Int(number) => json!(number),
                Scalar::Real(number) => json!(number),
            };
            set("default", number);
        }
        if let Some(sharding) = placement.and_then(|p| p.sharding(&port.name)) {
            set("sharding", json!(sharding.dimensions));
        }
        Value::Object(entry)
    };
    let list = |list: &[Port]| -> Value { list.iter().map(port).collect() };
    let mut manifest = Map::new();
    let mut set = |key: &str, value| manifest.insert(key.to_owned(), value);
    set("entry", json!("main"));
    set("weights_in", json!(location.name()));
    set("arguments", list(&ports.arguments));
    set("results", list(&ports.results));
    if in_file(ports, location) {
        let path = with_appended_extension(program, ".safetensors");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        set("weights", json!(name));
    }
    if let Some(placement) = placement {
        set(
            "mesh",
            placement
                .mesh
                .axes
                .iter()
                .map(|(axis, devices)| json!({"axis": axis, "devices": devices}))
                .collect(),
        );
    }
    format!("{:#}\n", Value::Object(manifest))
}

/// A `.safetensors` file with an array for each variable, by name: the length of the header, the header, the arrays in
/// order, without gaps.
pub fn safetensors<'t>(variables: impl Iterator<Item = (&'t str, &'t Tensor)>) -> Vec<u8> {
    let variables: Vec<_> = variables.collect();
    let mut bytes = Vec::new();
    // Writing to memory does not fail.
    let _ = skript_tensor::safetensors::write(variables.into_iter(), &mut bytes);
    bytes
}
