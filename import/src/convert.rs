// SPDX-License-Identifier: Apache-2.0
//! Converts a model file to a document.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::declared;
use crate::extent::Extent;
use crate::imported::{ImportError, Imported, Options};
use crate::importer::{Importer, refuse_newer, versions_by_domain};
use crate::model_file::{Declaration, ModelFile};
use crate::names::Names;
use crate::proto::{DimensionProto, GraphProto, ModelProto, ValueInfoProto};
use crate::reals;
use crate::refusal::Refusal;
use crate::shared_tensors::SharedTensors;
use crate::statement::Block;
use crate::tensor;
use crate::value::{Value, element};
use crate::write::{self, Document};

/// The upper bound of dynamic dimensions without `--bound`.
pub const DEFAULT_BOUND: u64 = 1024;
/// Maximum rank of an input: that of the limit `rank` of documents.
const MAX_RANK: usize = 1024;

/// Reads a model and converts it.
///
/// # Errors
/// [`ImportError`], with all reasons.
pub fn convert(path: &Path, options: Options) -> Result<Imported, ImportError> {
    ModelFile::open(path)?.convert(options)
}

/// Converts a parsed model.
///
/// # Errors
/// [`ImportError`], with all reasons.
pub(crate) fn model_of(
    path: &Path,
    folders: Vec<PathBuf>,
    model: ModelProto,
    tensors: &Arc<SharedTensors>,
    options: Options,
) -> Result<Imported, ImportError> {
    converted(path, folders, model, tensors, options).map_err(|error| match error {
        Failed::Format(reason) => ImportError::Format { path: path.to_path_buf(), reason },
        Failed::Name(text) => ImportError::Name(text),
        Failed::Refused { refusals, deciding } => {
            ImportError::Refused { path: path.to_path_buf(), refusals, deciding }
        }
    })
}

enum Failed {
    Format(String),
    Name(String),
    Refused { refusals: Vec<Refusal>, deciding: Vec<String> },
}

fn converted(
    path: &Path,
    folders: Vec<PathBuf>,
    mut model: ModelProto,
    tensors: &Arc<SharedTensors>,
    options: Options,
) -> Result<Imported, Failed> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut graph = model.graph.take().ok_or_else(|| Failed::Format("it has no graph".to_owned()))?;
    if model.opset_import.is_empty() {
        return Err(Failed::Format("it does not state the version of its operators".to_owned()));
    }
    let opsets = versions_by_domain(&model.opset_import);
    let functions = std::mem::take(&mut model.functions);
    let mut importer = Importer::new(folders, opsets.clone(), functions);
    importer.tensors = Arc::clone(tensors);
    for sparse in &graph.sparse_initializer {
        let name = sparse.values.as_ref().map_or("", |v| &v.name);
        importer.refuse(name, "", "sparse tensors are not supported");
    }
    refuse_newer(&mut importer, "", &model.opset_import);
    importer.is_trainable = options.trainable;
    importer.initializers(&mut graph.initializer);
    let mut names = Names::default();
    let structured = options.structured;
    let mut inputs =
        Inputs { names: &mut names, bounds: BTreeMap::new(), options, listed: Vec::new(), notes: Vec::new() };
    inputs.add(&mut importer, &graph)?;
    let Inputs { bounds, listed, notes, .. } = inputs;
    importer.bounds = bounds.clone();
    importer.declare(declared::declared(&graph));
    for info in &graph.input {
        // Values without an initializer have the declared type.
        if let Some(reason) = importer.initializer_contradiction(info) {
            importer.refuse(&info.name, "", reason);
        }
    }
    let computed: HashSet<String> = graph.node.iter().flat_map(|n| n.output.clone()).collect();
    let outputs: Vec<ValueInfoProto> = std::mem::take(&mut graph.output);
    importer.nodes(std::mem::take(&mut graph.node));
    let mut results: Vec<(String, Value)> = Vec::new();
    for output in outputs {
        match importer.find(&output.name) {
            Some(value) if value.is_sequence() => {
                let reason = "the output is a sequence, which is not supported";
                importer.refuse(&output.name, "", reason);
            }
            Some(value) if importer.nibbles.contains(&value.id) => {
                let reason = "the output has 4-bit elements, which is not supported";
                importer.refuse(&output.name, "", reason);
            }
            Some(value) => {
                // The output is an input or initializer; results of nodes were compared when they were added.
                let reason = importer.contradiction(&output.name, &value);
                if let Some(reason) = reason.filter(|_| !computed.contains(&output.name)) {
                    importer.warn(&output.name, "", format!("the output {reason}"));
                }
                results.push((output.name, value));
            }
            None if importer.refusals.is_empty() => {
                importer.refuse(&output.name, "", "no node computes this output of the graph");
            }
            None => {}
        }
    }
    if !importer.refusals.is_empty() {
        return Err(Failed::Refused {
            deciding: importer.deciding.take().into_iter().collect(),
            refusals: importer.refusals,
        });
    }
    let statements = std::mem::take(&mut importer.statements);
    let yields = results.iter().map(|(_, value)| value.clone()).collect();
    let mut block = Block { statements, yields };
    block.drop_unread();
    let values: Vec<Value> = listed.iter().map(|(value, _)| value.clone()).collect();
    let real = reals::settle(&mut importer, &values, &mut block, !structured);
    let document = Document {
        importer: &importer,
        names,
        stem: stem.into_owned(),
        producer: format!("{} {}", model.producer_name, model.producer_version).trim().to_owned(),
        opsets: opsets.into_iter().collect(),
        inputs: listed,
        outputs: results,
        bounds,
        block,
        real,
        structured,
        notes,
    };
    Ok(write::write(document))
}

/// Reads the inputs of the graph.
struct Inputs<'n> {
    names: &'n mut Names,
    /// Dynamic dimensions with their upper bounds.
    bounds: BTreeMap<String, u64>,
    options: Options,
    listed: Vec<(Value, String)>,
    notes: Vec<String>,
}

impl Inputs<'_> {
    fn add(&mut self, importer: &mut Importer, graph: &GraphProto) -> Result<(), Failed> {
        let given: Vec<&ValueInfoProto> =
            graph.input.iter().filter(|i| importer.find(&i.name).is_none()).collect();
        let dims = dimension_names(self.names, &given);
        let ours = self.inputs_by_name(&given)?;
        let options = &self.options;
        once("shape", options.shapes.iter().map(|(name, _)| name))?;
        once("constant", options.constants.iter().map(|(name, _)| name))?;
        for (info, ours) in given.into_iter().zip(ours) {
            self.input(importer, info, ours, &dims)?;
        }
        let used: Vec<&String> = self.bounds.keys().collect();
        for (name, bound) in &self.options.bounds {
            if *bound == 0 {
                return Err(Failed::Name(format!(
                    "the upper bound of the dynamic dimension `{name}` is 0: it must be at least 1"
                )));
            }
            let ours = dims.get(name).unwrap_or(name);
            if !used.contains(&ours) {
                let names = used.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
                let others = if used.is_empty() {
                    "it has none".to_owned()
                } else {
                    format!("its dimensions are {names}")
                };
                return Err(Failed::Name(format!("the model has no dynamic dimension `{name}`; {others}")));
            }
        }
        Ok(())
    }

    /// Returns the names of the inputs in SkriptND. Replaces SkriptND names in the options by ONNX names.
    fn inputs_by_name(&mut self, given: &[&ValueInfoProto]) -> Result<Vec<String>, Failed> {
        let constants: HashSet<String> = self.options.constants.iter().map(|c| c.0.clone()).collect();
        let ours = given.iter().map(|info| {
            if constants.contains(&info.name) {
                // Constants are not inputs of the document.
                info.name.clone()
            } else {
                self.names.fresh(&info.name, "x")
            }
        });
        let ours: Vec<String> = ours.collect();
        let shapes = self.options.shapes.iter_mut().map(|(name, _)| name);
        let constants = self.options.constants.iter_mut().map(|(name, _)| name);
        for name in shapes.chain(constants) {
            if given.iter().any(|info| info.name == *name) {
                continue;
            }
            let mut both = given.iter().zip(&ours);
            let Some((info, _)) = both.find(|(_, ours)| *ours == name) else {
                let inputs: Vec<&str> = given.iter().map(|i| i.name.as_str()).collect();
                let inputs = inputs.join("`, `");
                return Err(Failed::Name(format!(
                    "the model has no input `{name}`; its inputs are `{inputs}`"
                )));
            };
            name.clone_from(&info.name);
        }
        Ok(ours)
    }

    fn input(
        &mut self,
        importer: &mut Importer,
        info: &ValueInfoProto,
        name: String,
        dims: &HashMap<String, String>,
    ) -> Result<(), Failed> {
        let kind = info.kind.clone().unwrap_or_default();
        let mut refuse = |reason: String| importer.refuse(&info.name, "", reason);
        let Some(tensor) = kind.tensor else {
            let what = match () {
                () if kind.sequence.is_some() => "a sequence",
                () if kind.map.is_some() => "a map",
                () if kind.optional.is_some() => "an optional value",
                () if kind.sparse.is_some() => "a sparse tensor",
                () => "a value without a type",
            };
            refuse(format!("the input is {what}, which is not supported"));
            importer.bind(&info.name, None);
            return Ok(());
        };
        let element = match element(tensor.element) {
            Ok(element) => element,
            Err(name) => {
                refuse(format!("the input has elements of type {name}, which is not supported"));
                importer.bind(&info.name, None);
                return Ok(());
            }
        };
        if let Some((_, constant)) = self.options.constants.iter().find(|(name, _)| *name == info.name) {
            if constant.kind() != element.kind() {
                let (wanted, actual) = (element.name(), constant.element().name());
                let text = format!(
                    "the constant `{}` has elements of type {actual}, but the model declares {wanted}",
                    info.name
                );
                return Err(Failed::Name(text));
            }
            let mut shapes = self.options.shapes.iter();
            if let Some((_, wanted)) = shapes.find(|(name, _)| *name == info.name) {
                agree(&info.name, constant.shape(), wanted)?;
            }
            let what = format!("the constant `{}`", info.name);
            let constant = constant.clone().into_input(&what, element, element);
            let constant = constant.map_err(|e| Failed::Name(e.to_string()))?;
            let (known, shape) = (tensor::known(&constant), tensor::extents(&constant));
            let constant = Some(Rc::new(constant));
            let value = importer.value(&info.name, element, shape, known, constant);
            importer.bind(&info.name, Some(value));
            return Ok(());
        }
        let fixed = self.options.shapes.iter().find(|(name, _)| *name == info.name).map(|(_, s)| s.clone());
        let shape = match (tensor.shape, fixed) {
            (None, None) => {
                refuse(format!("the rank of the input is unknown; pass `--input-shape {}=…`", info.name));
                importer.bind(&info.name, None);
                return Ok(());
            }
            (None, Some(fixed)) => {
                let open = DimensionProto::default();
                let mut extents = Vec::new();
                for (at, fixed) in fixed.into_iter().enumerate() {
                    extents.push(self.dimension(&info.name, &name, at, &open, fixed, dims)?);
                }
                extents
            }
            (Some(shape), _) if shape.dim.len() > MAX_RANK => {
                let rank = shape.dim.len();
                refuse(format!("the input has rank {rank}; at most {MAX_RANK} is supported"));
                importer.bind(&info.name, None);
                return Ok(());
            }
            (Some(shape), fixed) => {
                if let Some(fixed) = &fixed
                    && fixed.len() != shape.dim.len()
                {
                    let text = format!("`{}` has rank {}, not {}", info.name, shape.dim.len(), fixed.len());
                    return Err(Failed::Name(text));
                }
                let mut extents = Vec::new();
                for (at, dim) in shape.dim.iter().enumerate() {
                    let fixed = fixed.as_ref().and_then(|f| f.get(at)).copied().flatten();
                    extents.push(self.dimension(&info.name, &name, at, dim, fixed, dims)?);
                }
                extents
            }
        };
        let value = importer.value(&info.name, element, shape, None, None);
        importer.inputs.insert(value.id);
        importer.bind(&info.name, Some(value.clone()));
        self.listed.push((value, name));
        Ok(())
    }

    fn dimension(
        &mut self,
        input: &str,
        ours: &str,
        at: usize,
        dim: &DimensionProto,
        fixed: Option<u64>,
        dims: &HashMap<String, String>,
    ) -> Result<Extent, Failed> {
        let number = |d: u64| i64::try_from(d).map(Extent::from);
        let large = |_| Failed::Name(format!("an extent of `{input}` does not fit in 63 bits"));
        match (dim.value.filter(|v| *v >= 0), fixed) {
            (Some(value), Some(fixed)) if i64::try_from(fixed) != Ok(value) => {
                let text =
                    format!("dimension {at} of `{input}` has the extent {value} in the model, not {fixed}");
                Err(Failed::Name(text))
            }
            (Some(value), _) => Ok(Extent::from(value)),
            (None, Some(fixed)) => number(fixed).map_err(large),
            (None, None) => {
                let onnx = dim.own_name().map(str::to_owned);
                let name = match onnx.as_ref().and_then(|n| dims.get(n)) {
                    Some(name) => name.clone(),
                    None => self.names.fresh(&format!("{ours}_{at}"), "n"),
                };
                if !self.bounds.contains_key(&name) {
                    let mut bounds = self.options.bounds.iter();
                    let given = bounds.find(|(n, _)| *n == name || Some(n) == onnx.as_ref());
                    let bound = given.map(|(_, b)| *b).unwrap_or_else(|| {
                        let text = format!(
                            "the dynamic dimension `{name}` has the upper bound {DEFAULT_BOUND}; --bound {name}=N sets another one, --input-shape {input}=… makes it static"
                        );
                        self.notes.push(text);
                        DEFAULT_BOUND
                    });
                    self.bounds.insert(name.clone(), bound);
                }
                Ok(Extent::named(&name))
            }
        }
    }
}

/// Maps the ONNX names of dynamic dimensions to their names in SkriptND. Dimensions are named before tensors.
pub(crate) fn dimension_names(names: &mut Names, given: &[&ValueInfoProto]) -> HashMap<String, String> {
    let shapes = given.iter().flat_map(|info| {
        let tensor = info.kind.as_ref().and_then(|kind| kind.tensor.as_ref());
        tensor.and_then(|tensor| tensor.shape.as_ref())
    });
    let mut known = HashMap::new();
    for dim in shapes.flat_map(|shape| &shape.dim) {
        if let (None, Some(name)) = (dim.value, dim.own_name())
            && !known.contains_key(name)
        {
            known.insert(name.to_owned(), names.fresh(name, "n"));
        }
    }
    known
}

impl Options {
    /// Makes the dynamic dimensions of an input static.
    pub(crate) fn fix(&mut self, input: &Declaration, shape: &[u64]) {
        let shape: Vec<Option<u64>> = shape.iter().copied().map(Some).collect();
        self.fix_some(input, &shape);
    }

    /// Like [`Options::fix`], for the extents that are not `None`.
    pub(crate) fn fix_some(&mut self, input: &Declaration, shape: &[Option<u64>]) {
        let mut shapes = self.shapes.iter_mut();
        match shapes.find(|(name, _)| input.has_name(name)) {
            Some((_, extents)) if extents.len() == shape.len() => {
                for (extent, other) in extents.iter_mut().zip(shape) {
                    *extent = extent.or(*other);
                }
            }
            Some(_) => {}
            None => self.shapes.push((input.onnx.clone(), shape.to_vec())),
        }
    }

    /// The extents that the options fix for an input.
    pub(crate) fn shape_of(&self, input: &Declaration) -> Option<&[Option<u64>]> {
        let mut shapes = self.shapes.iter();
        let (_, shape) = shapes.find(|(name, _)| input.has_name(name))?;
        Some(shape)
    }

    /// Whether an input is a constant.
    pub fn is_constant(&self, input: &Declaration) -> bool {
        let mut constants = self.constants.iter();
        constants.any(|(name, _)| input.has_name(name))
    }
}

/// Refuses options that give an input two shapes or two constants, whichever of its names they use.
fn once<'n>(what: &str, names: impl Iterator<Item = &'n String>) -> Result<(), Failed> {
    let mut seen = HashSet::new();
    let mut names = names.filter(|name| !seen.insert(*name));
    match names.next() {
        None => Ok(()),
        Some(name) => Err(Failed::Name(format!(
            "the {what} of the input `{name}` is passed twice: pass it once, by either of its names"
        ))),
    }
}

/// Refuses a constant that contradicts the shape in the options.
fn agree(name: &str, actual: &[u64], wanted: &[Option<u64>]) -> Result<(), Failed> {
    let fits = |(wanted, actual): (&Option<u64>, &u64)| wanted.is_none_or(|n| n == *actual);
    if wanted.len() == actual.len() && wanted.iter().zip(actual).all(fits) {
        return Ok(());
    }
    let shown = |extent: &Option<u64>| extent.map_or("?".to_owned(), |n| n.to_string());
    let wanted: Vec<String> = wanted.iter().map(shown).collect();
    Err(Failed::Name(format!(
        "the constant `{name}` has the shape {actual:?}, but the shape [{}] is passed for it: pass one that fits, or none",
        wanted.join(", ")
    )))
}

#[cfg(test)]
mod folding;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod tests;
