// SPDX-License-Identifier: Apache-2.0
//! Evaluates values that follow from constants alone, where a rule needs their elements.
//!
//! Nothing is evaluated unless a rule asks for it. The statements that a value depends on become a separate document, which the
//! reference evaluator runs: every operator is folded by its formula, and its results have the types of the model.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::{Severity, Sink};
use skript_frontend::limits::Limits;
use skript_frontend::model::Model;
use skript_frontend::model::storage_types::StorageType;
use skript_frontend::source_files::load_program_with;
use skript_tensor::{ElementType, MissingWeights, Tensor, VariableRequest, WeightStore, load_variables};

use crate::extent::Extent;
use crate::imported::Imported;
use crate::importer::Importer;
use crate::names::Names;
use crate::origin::Origin;
use crate::reals;
use crate::statement::{Argument, Block, Body, Count, Statement, marked};
use crate::tensor;
use crate::value::{Item, MOST_KNOWN, Value, ValueData};
use crate::write::{self, Document};

/// Elements of all constants and results of one evaluation, at most.
const MOST_ELEMENTS: i64 = 1 << 20;
/// Statements that an evaluation counts for in addition to its own: a document is written, checked and composed for it.
const EVALUATION: usize = 16;
/// The file that the evaluated document would be in.
const FILE: &str = "folded/main.sknd";

impl Importer {
    /// Adds a statement to the block that is written.
    pub fn push(&mut self, statement: Statement) {
        if self.is_constant_statement(&statement) {
            let results = statement.results.iter().map(|result| result.id);
            self.folds.constant.extend(results);
        }
        self.statements.push(statement);
    }

    /// Whether a statement reads constants alone, also in its blocks.
    fn is_constant_statement(&self, statement: &Statement) -> bool {
        let (mut own, mut read) = (HashSet::new(), BTreeSet::new());
        statement.reads(&mut read);
        reals::visit_statement(statement, &mut |inner| {
            own.extend(inner.results.iter().map(|result| result.id));
            if let Body::Loop(l) = &inner.body {
                own.insert(l.index.id);
                own.extend(l.carried.iter().map(|(carried, _)| carried.id));
            }
        });
        let mut outer = read.iter().filter(|id| !own.contains(id));
        let is_constant = outer.all(|id| {
            let value = self.values.get(*id);
            value.is_some_and(|value| self.is_constant(value))
        });
        let mut has_dimensions = false;
        if is_constant && !self.bounds.is_empty() {
            reals::visit_statement(statement, &mut |inner| {
                has_dimensions |= self.has_dimensions(inner);
            });
        }
        is_constant && !has_dimensions
    }

    /// Whether a statement has dynamic dimensions of inputs in its text.
    fn has_dimensions(&self, statement: &Statement) -> bool {
        let mut texts: Vec<String> = Vec::new();
        if let Some((_, attributes, arguments)) = statement.body.call() {
            texts.extend(attributes.iter().map(|(_, text)| text.clone()));
            texts.extend(arguments.iter().filter_map(|argument| match argument {
                Argument::Number(text) => Some(text.clone()),
                _ => None,
            }));
        }
        if let Body::Loop(l) = &statement.body
            && let Some(Count::Extent(count)) = &l.count
        {
            texts.push(marked(count));
        }
        let shapes = statement.results.iter().flat_map(|result| &result.shape);
        texts.extend(shapes.map(marked));
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        texts.iter().any(|text| {
            let mut words = text.split(|c| !is_part(c));
            words.any(|word| self.bounds.contains_key(word))
        })
    }

    /// Whether a value does not depend on inputs of the model, nor on its loops.
    fn is_constant(&self, value: &Value) -> bool {
        value.tensor.is_some()
            || self.folds.constant.contains(&value.id)
            || value.known.as_ref().is_some_and(|items| items.iter().all(is_number))
    }

    /// The elements of a value, if they are few and known at import, or follow from constants alone.
    pub fn items(&self, value: &Value) -> Option<Vec<Item>> {
        if value.known.is_some() {
            return value.known.clone();
        }
        tensor::known(self.evaluated(value)?.ok()?.as_ref())
    }

    /// Why the value has no elements although it follows from constants alone.
    pub fn failure(&self, value: &Value) -> Option<String> {
        self.evaluated(value)?.err()
    }

    /// The value with its elements, if they follow from constants alone.
    pub fn settled(&mut self, value: Value) -> Value {
        if value.known.is_some() || value.is_sequence() {
            return value;
        }
        if let Some(settled) = self.folds.settled.get(&value.id) {
            return settled.clone();
        }
        let Some(Ok(tensor)) = self.evaluated(&value) else {
            return value;
        };
        let (known, shape) = (tensor::known(&tensor), extents(&tensor));
        let settled = self.value(&value.onnx, value.element, shape, known, Some(tensor));
        if self.nibbles.contains(&value.id) {
            self.nibbles.insert(settled.id);
        }
        self.folds.settled.insert(value.id, settled.clone());
        settled
    }

    /// The value with its elements, if they are evaluated already.
    pub fn settled_before(&mut self, value: Value) -> Value {
        if self.folds.evaluated.borrow().contains_key(&value.id) {
            return self.settled(value);
        }
        value
    }

    /// Settles operands beside one that follows from dynamic dimensions: rules compute it with known ones only.
    pub fn settle_beside_dimensions(&mut self, operands: &mut [Option<Value>]) {
        let mut known = operands.iter().flatten().flat_map(|x| &x.known).flatten();
        if known.all(is_number) {
            return;
        }
        let lists = operands.iter_mut().flatten();
        for operand in lists.filter(|x| !x.is_real() && x.rank() <= 1) {
            *operand = self.settled(operand.clone());
        }
    }

    /// Settles results whose extents follow from constants alone.
    pub fn settle_extents(&mut self, results: &mut [Option<Value>]) {
        for result in results.iter_mut().flatten() {
            let mut deciding = BTreeSet::new();
            result.shape.iter().for_each(|extent| extent.values(&mut deciding));
            if !deciding.is_empty() {
                *result = self.settled(result.clone());
            }
        }
    }

    /// The value with its element, if it is a bool that follows from constants alone.
    pub fn decided(&mut self, value: Value) -> Value {
        if value.is_bool() && value.volume() == Some(1) {
            return self.settled(value);
        }
        value
    }

    /// The tensor of a value that follows from constants alone, or why it has none; `None` for others.
    fn evaluated(&self, value: &Value) -> Option<Result<Rc<Tensor>, String>> {
        if !self.folds.constant.contains(&value.id) {
            return None;
        }
        if let Some(known) = self.folds.evaluated.borrow().get(&value.id) {
            return Some(known.clone());
        }
        let evaluated = self.evaluate(value);
        let mut all = self.folds.evaluated.borrow_mut();
        all.insert(value.id, evaluated.clone());
        Some(evaluated)
    }

    fn evaluate(&self, value: &Value) -> Result<Rc<Tensor>, String> {
        let too_large = || "it takes too much work".to_owned();
        let volume = value.volume().and_then(|n| usize::try_from(n).ok());
        if volume.is_some_and(|volume| volume > MOST_KNOWN) {
            return Err(format!("it has more than {MOST_KNOWN} elements"));
        }
        // The search for the statements costs as well.
        let left = self.folds.statements.get().checked_sub(EVALUATION);
        self.folds.statements.set(left.ok_or_else(too_large)?);
        let block = self.statements_for(value).ok_or_else(too_large)?;
        let left = self.folds.statements.get();
        let left = left.checked_sub(block.statements.len());
        self.folds.statements.set(left.ok_or_else(too_large)?);
        let tensor = run(&self.document(block, value), &self.folds.work)?;
        typed(tensor, value.element).map(Rc::new)
    }

    /// The statements that a value depends on, with evaluated values as constants; `None` if they have too many elements.
    fn statements_for(&self, value: &Value) -> Option<Block> {
        let evaluated = self.folds.evaluated.borrow();
        let tensor_of = |id: &usize| evaluated.get(id).and_then(|found| found.as_ref().ok());
        let (mut wanted, mut given) = (BTreeSet::from([value.id]), BTreeSet::new());
        let mut kept: Vec<Statement> = Vec::new();
        let outer = self.enclosing.iter().rev().flat_map(|block| block.iter().rev());
        for statement in self.statements.iter().rev().chain(outer) {
            let mut results = statement.results.iter().map(|result| result.id);
            if results.any(|id| wanted.contains(&id) && tensor_of(&id).is_none()) {
                statement.reads(&mut wanted);
                given.extend(statement.results.iter().map(|result| result.id));
                kept.push(statement.clone());
            }
        }
        let results = kept.iter().flat_map(|statement| &statement.results);
        let volumes = results.filter_map(|result| result.volume());
        let mut elements = volumes.fold(0i64, i64::saturating_add);
        for id in &wanted {
            let Some(old) = self.values.get(*id) else {
                continue;
            };
            let tensor = tensor_of(id).filter(|_| !given.contains(id));
            if let Some(tensor) = tensor.or(old.tensor.as_ref()) {
                let volume = i64::try_from(tensor.volume()).unwrap_or(i64::MAX);
                elements = elements.saturating_add(volume);
            }
            if let Some(tensor) = tensor {
                kept.push(self.replaced(old, tensor));
            }
        }
        kept.reverse();
        (elements <= MOST_ELEMENTS).then(|| Block { statements: kept, yields: vec![value.clone()] })
    }

    /// A statement that gives a value its tensor.
    fn replaced(&self, value: &Value, tensor: &Rc<Tensor>) -> Statement {
        let constant = ValueData {
            // No value of the model has this number.
            id: self.values.len() + value.id,
            onnx: value.onnx.clone(),
            element: value.element,
            shape: extents(tensor),
            known: tensor::known(tensor),
            tensor: Some(tensor.clone()),
            items: None,
        };
        Statement { results: vec![value.clone()], body: Body::Same(Rc::new(constant)), node: String::new() }
    }

    /// The files of a model that computes the value.
    fn document(&self, mut block: Block, value: &Value) -> Imported {
        let real = reals::widest(&[], &block);
        reals::cast_narrower(&mut block);
        write::write(Document {
            importer: self,
            names: Names::default(),
            stem: "folded".to_owned(),
            producer: String::new(),
            opsets: BTreeMap::new(),
            inputs: Vec::new(),
            outputs: vec![(value.onnx.clone(), value.clone())],
            bounds: BTreeMap::new(),
            block,
            real,
            structured: false,
            notes: Vec::new(),
        })
    }
}

fn is_number(item: &Item) -> bool {
    !matches!(item, Item::Int(extent) if extent.value().is_none())
}

fn extents(tensor: &Tensor) -> Vec<Extent> {
    tensor.shape().iter().map(|n| Extent::from(i64::try_from(*n).unwrap_or(i64::MAX))).collect()
}

/// Evaluates the only output of a model without inputs.
fn run(imported: &Imported, work: &Arc<AtomicU64>) -> Result<Tensor, String> {
    let model = composed(imported)?;
    let weights = imported.weights.iter().map(|w| (w.name.clone(), w.tensor.as_ref().clone()));
    let store = WeightStore::arrays(weights);
    let variables = model.variables.iter().map(|variable| VariableRequest {
        name: &variable.name,
        aliases: &variable.aliases,
        element: ElementType::run_time(variable.tensor.kind, variable.numbers),
        shape: variable.tensor.shape.iter().map(|e| e.bound()).collect(),
    });
    let variables = load_variables(&store, &variables.collect::<Vec<_>>(), MissingWeights::Error);
    let variables = variables.map_err(|errors| joined(errors.into_iter()))?;
    let variables: Vec<Arc<Tensor>> = variables.into_iter().map(Arc::new).collect();
    let outcome = skript_reference::evaluate_within(&model, &[], &variables, work);
    let outcome = outcome.map_err(|error| error.failure.to_string())?;
    let output = outcome.outputs.into_iter().next();
    output.map(Arc::unwrap_or_clone).ok_or_else(|| "it has no output".to_owned())
}

fn composed(imported: &Imported) -> Result<Model, String> {
    let origin = Origin::of_json(imported.json.as_bytes()).unwrap_or_default();
    let (limits, mut sink) = (Limits::default(), Sink::default());
    let text = |path: &Path| match path.file_name()?.to_str()? {
        "main.sknd" => Some(imported.main.clone().into_bytes()),
        "onnx.sknd" => imported.onnx.clone().map(String::into_bytes),
        _ => None,
    };
    let program = load_program_with(Path::new(FILE), None, &limits, &mut sink, &text);
    check_program(&program, &mut sink);
    let storage = origin
        .storage
        .iter()
        .map(|(name, element)| (name.clone(), StorageType::of(element.real(), element.int())));
    let mut options = ComposeOptions { storage: storage.collect(), ..ComposeOptions::default() };
    if let Some(real) = origin.real.and_then(ElementType::real) {
        options.numbers.real = real;
    }
    let model = if sink.has_errors() { None } else { compose(&program, &options, &limits, &mut sink) };
    model.ok_or_else(|| {
        joined(
            sink.into_sorted()
                .into_iter()
                .filter(|diagnostic| diagnostic.severity == Severity::Error)
                .map(|error| error.message),
        )
    })
}

fn joined<T: ToString>(messages: impl Iterator<Item = T>) -> String {
    let messages: Vec<String> = messages.map(|message| message.to_string()).collect();
    messages.join("; ")
}

/// The tensor with the element type of the ONNX model.
fn typed(tensor: Tensor, element: ElementType) -> Result<Tensor, String> {
    match (tensor.element(), element) {
        // Ints without a sign are kept with their bits.
        (ElementType::I64, ElementType::U64) => {
            let typed = Tensor::from_bytes(element, tensor.shape(), tensor.bytes());
            typed.map_err(|error| error.to_string())
        }
        _ => Ok(tensor.with_element(element)),
    }
}
