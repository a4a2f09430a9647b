// SPDX-License-Identifier: Apache-2.0
//! A parsed model file and its conversion, for all shapes or for the arrays of a call.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use prost::Message as _;
use skript_host::RegularFile;
use skript_tensor::{ElementType, Tensor};

use crate::convert::{dimension_names, model_of};
use crate::external;
use crate::imported::{ImportError, Imported, Options};
use crate::names::Names;
use crate::proto::{DimensionProto, GraphProto, ModelProto, ValueInfoProto};
use crate::shared_tensors::SharedTensors;
use crate::value::{MAX_KNOWN, element};

/// Maximum size of a model file. ONNX stores larger weights as external data.
const MAX_BYTES: u64 = 1 << 31;

/// Maximum number of elements of an integer input that may become a constant although no rule requires its values.
const MAX_CANDIDATE: usize = 64;

/// A parsed model, which can be converted several times: for all shapes and for the shapes of calls.
#[derive(Debug)]
pub struct ModelFile {
    path: PathBuf,
    /// The folders of external data; empty for a model in memory.
    folders: Vec<PathBuf>,
    model: ModelProto,
    tensors: Arc<SharedTensors>,
}

/// The declaration of an input or output in the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The name in ONNX.
    pub onnx: String,
    /// The name in SkriptND.
    pub name: String,
    pub element: ElementType,
    /// `None` if the rank is not declared.
    pub shape: Option<Vec<DeclaredExtent>>,
}

impl Declaration {
    /// The declared dimensions, such as `batch, 3, ?`; `None` if the rank is not declared.
    pub fn shape_text(&self) -> Option<String> {
        let extents = self.shape.as_ref()?.iter().map(|extent| match extent {
            DeclaredExtent::Static(n) => n.to_string(),
            DeclaredExtent::Dynamic(name) if name.is_empty() => "?".to_owned(),
            DeclaredExtent::Dynamic(name) => name.clone(),
        });
        Some(extents.collect::<Vec<_>>().join(", "))
    }

    /// Whether `name` is its name in ONNX or SkriptND.
    pub fn has_name(&self, name: &str) -> bool {
        name == self.onnx || name == self.name
    }
}

/// The declaration of an extent in the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeclaredExtent {
    Static(u64),
    /// A dynamic dimension; its name may be empty.
    Dynamic(String),
}

/// The conversion of a model for the arrays of a call.
#[derive(Debug)]
pub struct ForCall {
    pub imported: Imported,
    /// The inputs whose values decided shapes or branches. They are constants of the document.
    pub constants: Vec<Declaration>,
}

impl ModelFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ImportError::File`] and [`ImportError::Format`].
    pub fn open(path: &Path) -> Result<ModelFile, ImportError> {
        let failed = |error| ImportError::File { path: path.to_path_buf(), error };
        let file = RegularFile::open(path).map_err(failed)?;
        let parsed = ModelFile::from_bytes(path, file.read(MAX_BYTES).map_err(failed)?)?;
        Ok(ModelFile { folders: external::folders(path), ..parsed })
    }

    /// Parses a model in memory without external data; messages refer to it by `path`.
    ///
    /// # Errors
    /// [`ImportError::Format`].
    pub fn from_bytes(path: &Path, bytes: Vec<u8>) -> Result<ModelFile, ImportError> {
        // The elements of tensors are slices of these bytes.
        let model = ModelProto::decode(Bytes::from(bytes))
            .map_err(|e| ImportError::Format { path: path.to_path_buf(), reason: e.to_string() })?;
        Ok(ModelFile { path: path.to_path_buf(), folders: Vec::new(), model, tensors: Arc::default() })
    }

    /// The path in messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The inputs without an initializer, which callers pass.
    pub fn inputs(&self) -> Vec<Declaration> {
        let Some(graph) = &self.model.graph else {
            return Vec::new();
        };
        let mut names = Names::default();
        let given = given(graph);
        dimension_names(&mut names, &given);
        declarations(given, &mut names)
    }

    /// The outputs with a declared type.
    pub fn outputs(&self) -> Vec<Declaration> {
        let mut names = Names::default();
        let graph = self.model.graph.as_ref();
        declarations(graph.iter().flat_map(|g| &g.output).collect(), &mut names)
    }

    /// Converts the model.
    ///
    /// # Errors
    /// [`ImportError`], with all reasons.
    pub fn convert(&self, options: Options) -> Result<Imported, ImportError> {
        let folders = self.folders.clone();
        model_of(&self.path, folders, self.model.clone(), &self.tensors, options)
    }

    /// Converts the model for all shapes within upper bounds; `bounds` lists them by the names of inputs.
    ///
    /// # Errors
    /// [`ImportError`], with all reasons.
    pub fn convert_within(
        &self,
        options: &Options,
        bounds: &[(String, Vec<u64>)],
    ) -> Result<Imported, ImportError> {
        let mut options = options.clone();
        for input in self.inputs() {
            let given = bounds.iter().find(|(name, _)| input.has_name(name));
            let pairs = input.shape.iter().flatten().zip(given.into_iter().flat_map(|(_, bounds)| bounds));
            for (axis, (extent, bound)) in pairs.enumerate() {
                let DeclaredExtent::Dynamic(name) = extent else {
                    continue;
                };
                let name = match name.as_str() {
                    "" => format!("{}_{axis}", input.name),
                    name => name.to_owned(),
                };
                let bound = (*bound).max(1);
                match options.bounds.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, known)) => *known = (*known).max(bound),
                    None => options.bounds.push((name, bound)),
                }
            }
        }
        self.convert(options)
    }

    /// Adds the dimensions of arrays to the options. Arrays have the names of inputs in ONNX or SkriptND. For inputs without an array,
    /// adds the dimensions whose names also occur in an input with an array.
    pub fn fixed(&self, options: &Options, arrays: &[(String, Tensor)]) -> Options {
        let mut options = options.clone();
        let inputs = self.inputs();
        for (input, tensor) in pairs(&inputs, arrays) {
            options.fix(input, tensor.shape());
        }
        let mut extents: HashMap<&str, u64> = HashMap::new();
        for input in &inputs {
            let decided = options.shape_of(input).into_iter().flatten();
            for (declared, extent) in input.shape.iter().flatten().zip(decided) {
                if let (DeclaredExtent::Dynamic(name), Some(extent)) = (declared, extent)
                    && !name.is_empty()
                {
                    extents.entry(name).or_insert(*extent);
                }
            }
        }
        for input in &inputs {
            if options.is_constant(input) || input.shape.is_none() {
                continue;
            }
            let shape = input.shape.iter().flatten().map(|extent| match extent {
                DeclaredExtent::Static(extent) => Some(*extent),
                DeclaredExtent::Dynamic(name) => extents.get(name.as_str()).copied(),
            });
            options.fix_some(input, &shape.collect::<Vec<_>>());
        }
        options
    }

    /// Reports mismatches between the inputs and the shapes of arrays, which are named as inputs in ONNX or SkriptND.
    pub fn misfits(&self, arrays: &[(String, Tensor)]) -> Vec<String> {
        let inputs = self.inputs();
        let pairs = pairs(&inputs, arrays).into_iter();
        let misfits = pairs.filter_map(|(input, tensor)| {
            let (declared, shape) = (input.shape.as_ref()?, tensor.shape());
            let fits = |(extent, actual): (&DeclaredExtent, &u64)| match extent {
                DeclaredExtent::Static(n) => n == actual,
                DeclaredExtent::Dynamic(_) => true,
            };
            if declared.len() == shape.len() && declared.iter().zip(shape).all(fits) {
                return None;
            }
            let wanted = input.shape_text()?;
            let name = &input.onnx;
            Some(format!("the shape of input `{name}` is {shape:?} instead of [{wanted}]"))
        });
        misfits.collect()
    }

    /// The inputs whose dimensions are still dynamic.
    pub fn undetermined(&self, options: &Options) -> Vec<Declaration> {
        let is_open = |input: &Declaration| {
            let Some(declared) = &input.shape else {
                return options.shape_of(input).is_none();
            };
            let decided = options.shape_of(input).unwrap_or(&[]);
            declared.iter().enumerate().any(|(axis, extent)| {
                matches!(extent, DeclaredExtent::Dynamic(_)) && decided.get(axis).copied().flatten().is_none()
            })
        };
        self.inputs().into_iter().filter(|input| !options.is_constant(input) && is_open(input)).collect()
    }

    /// Converts the model for a call with these arrays, which are named as inputs in ONNX or SkriptND; `options` is the result of
    /// [`ModelFile::fixed`]. Inputs become constants if elements of their small arrays decide shapes or branches.
    ///
    /// # Errors
    /// [`ImportError`], with all reasons.
    pub fn convert_for(
        &self,
        mut options: Options,
        arrays: &[(String, Tensor)],
    ) -> Result<ForCall, ImportError> {
        let inputs = self.inputs();
        let arrays = pairs(&inputs, arrays);
        let mut constants: Vec<Declaration> = Vec::new();
        // Specialization to flags is an optimization: a model that is accepted without it must not be refused.
        let mut accepted = None;
        loop {
            let converted = self.convert(options.clone());
            let open: Vec<_> =
                arrays.iter().copied().filter(|(input, _)| !options.is_constant(input)).collect();
            let more = match &converted {
                Ok(imported) => flags(imported, &open),
                Err(ImportError::Refused { deciding, .. }) => required(deciding, &open),
                Err(_) => Vec::new(),
            };
            if more.is_empty() {
                return match converted {
                    Ok(imported) => Ok(ForCall { imported, constants }),
                    Err(error) => accepted.ok_or(error),
                };
            }
            if let Ok(imported) = converted {
                accepted = Some(ForCall { imported, constants: constants.clone() });
            }
            for (input, tensor) in more {
                constants.push(input.clone());
                options.constants.push((input.onnx.clone(), tensor.clone()));
            }
        }
    }
}

/// Integer and boolean inputs of one element that alone select a branch. If they become constants, only the taken branch is
/// compiled.
fn flags<'m>(
    imported: &Imported,
    open: &[(&'m Declaration, &'m Tensor)],
) -> Vec<(&'m Declaration, &'m Tensor)> {
    let is_flag =
        |(_, tensor): &&(&Declaration, &Tensor)| tensor.element().real().is_none() && tensor.volume() == 1;
    let flags: Vec<_> = open.iter().filter(is_flag).copied().collect();
    let flag = |name: &String| flags.iter().find(|(input, _)| input.onnx == *name);
    let alone = imported.selecting.iter().filter(|names| names.iter().all(|name| flag(name).is_some()));
    let names: BTreeSet<&String> = alone.flatten().collect();
    names.into_iter().filter_map(|name| flag(name).copied()).collect()
}

/// The inputs whose values a refused conversion requires.
fn required<'m>(
    deciding: &[String],
    open: &[(&'m Declaration, &'m Tensor)],
) -> Vec<(&'m Declaration, &'m Tensor)> {
    let decides = |(input, tensor): &&(&Declaration, &Tensor)| {
        deciding.contains(&input.onnx) && tensor.volume() <= MAX_KNOWN
    };
    let decided: Vec<_> = open.iter().filter(decides).copied().collect();
    if !decided.is_empty() {
        return decided;
    }
    // A rule in a body cannot determine the deciding inputs, so all small inputs are candidates. They are tried one by one, because an
    // input that decides nothing, such as tokens, would need new code for each value if it became a constant.
    let is_small = |(_, tensor): &&(&Declaration, &Tensor)| {
        tensor.element().real().is_none() && tensor.volume() <= MAX_CANDIDATE
    };
    open.iter().filter(is_small).copied().take(1).collect()
}

/// Pairs the inputs with their arrays.
fn pairs<'m>(
    inputs: &'m [Declaration],
    arrays: &'m [(String, Tensor)],
) -> Vec<(&'m Declaration, &'m Tensor)> {
    let pair = |input: &'m Declaration| {
        let mut named = arrays.iter();
        let (_, array) = named.find(|(name, _)| input.has_name(name))?;
        Some((input, array))
    };
    inputs.iter().filter_map(pair).collect()
}

/// The inputs that have no initializer.
pub fn given(graph: &GraphProto) -> Vec<&ValueInfoProto> {
    let initialized: std::collections::HashSet<&str> =
        graph.initializer.iter().map(|tensor| tensor.name.as_str()).collect();
    graph.input.iter().filter(|input| !initialized.contains(input.name.as_str())).collect()
}

/// The declarations of tensors, with their names in SkriptND.
fn declarations(infos: Vec<&ValueInfoProto>, names: &mut Names) -> Vec<Declaration> {
    let declared = infos.into_iter().map(|info| {
        let name = names.fresh(&info.name, "x");
        let tensor = info.kind.as_ref()?.tensor.as_ref()?;
        let extent = |dim: &DimensionProto| match dim.value {
            Some(value) if value >= 0 => DeclaredExtent::Static(value.unsigned_abs()),
            _ => DeclaredExtent::Dynamic(dim.own_name().map_or(String::new(), str::to_owned)),
        };
        let shape = tensor.shape.as_ref();
        Some(Declaration {
            onnx: info.name.clone(),
            name,
            element: element(tensor.element).ok()?,
            shape: shape.map(|shape| shape.dim.iter().map(extent).collect()),
        })
    });
    declared.flatten().collect()
}
