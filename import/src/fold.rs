// SPDX-License-Identifier: Apache-2.0
//! Evaluates values that depend only on constants, if a rule requires their elements.
//!
//! Evaluation is lazy. The statements that a value depends on become a separate document, which the reference evaluator executes:
//! every operator is folded by its formula, and its results have the types of the model.

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

use crate::imported::Imported;
use crate::importer::Importer;
use crate::names::Names;
use crate::origin::Origin;
use crate::reals;
use crate::statement::{Argument, Block, Body, Count, Statement, marked};
use crate::tensor;
use crate::value::{Item, MAX_KNOWN, Value, ValueData, signed_length};
use crate::write::{self, Document};

/// Maximum number of elements of all constants and results in one evaluation.
const MAX_ELEMENTS: i64 = 1 << 20;
/// The fixed cost of an evaluation in statements: a document is written, checked and composed.
const EVALUATION_COST: usize = 16;
/// The path of the evaluated document in messages.
const FILE: &str = "folded/main.sknd";

impl Importer {
    /// Adds a statement to the current block.
    pub fn push(&mut self, statement: Statement) {
        if self.is_constant_statement(&statement) {
            let results = statement.results.iter().map(|result| result.id);
            self.folds.constant.extend(results);
        }
        self.statements.push(statement);
    }

    /// Whether a statement and its blocks read only constants.
    fn is_constant_statement(&self, statement: &Statement) -> bool {
        let (mut inner_values, mut read) = (HashSet::new(), BTreeSet::new());
        statement.reads(&mut read);
        reals::visit_statement(statement, &mut |inner| {
            inner_values.extend(inner.results.iter().map(|result| result.id));
            if let Body::Loop(l) = &inner.body {
                inner_values.insert(l.index.id);
                inner_values.extend(l.carried.iter().map(|(carried, _)| carried.id));
            }
        });
        let mut outer = read.iter().filter(|id| !inner_values.contains(id));
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

    /// Whether the text of a statement contains dynamic dimensions of inputs.
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

    /// Whether a value depends neither on inputs of the model nor on the step of a loop.
    fn is_constant(&self, value: &Value) -> bool {
        if self.trained.contains(&value.id) {
            return false;
        }
        value.tensor.is_some()
            || self.folds.constant.contains(&value.id)
            || value.known.as_ref().is_some_and(|items| items.iter().all(is_number))
    }

    /// The elements of a small value, if they are known at import or depend only on constants.
    pub fn items(&self, value: &Value) -> Option<Vec<Item>> {
        if value.known.is_some() {
            return value.known.clone();
        }
        if self.trained.contains(&value.id) {
            // A rule needs the elements, such as the factors of a resize.
            return tensor::known(value.tensor.as_ref()?);
        }
        tensor::known(self.evaluated(value)?.ok()?.as_ref())
    }

    /// The reason that a value cannot be evaluated although it depends only on constants.
    pub fn failure(&self, value: &Value) -> Option<String> {
        self.evaluated(value)?.err()
    }

    /// Evaluates a value if it depends only on constants.
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
        let (known, shape) = (tensor::known(&tensor), tensor::extents(&tensor));
        let settled = self.value(&value.onnx, value.element, shape, known, Some(tensor));
        if self.nibbles.contains(&value.id) {
            self.nibbles.insert(settled.id);
        }
        self.folds.settled.insert(value.id, settled.clone());
        settled
    }

    /// The value with its elements, if it was evaluated before.
    pub fn settled_before(&mut self, value: Value) -> Value {
        if self.folds.evaluated.borrow().contains_key(&value.id) {
            return self.settled(value);
        }
        value
    }

    /// Settles the small operands of a node if another operand depends on dynamic dimensions: rules fold such an operand only together
    /// with known operands.
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

    /// Settles results whose data-dependent extents depend only on constants.
    pub fn settle_extents(&mut self, results: &mut [Option<Value>]) {
        for result in results.iter_mut().flatten() {
            let mut deciding = BTreeSet::new();
            result.shape.iter().for_each(|extent| extent.values(&mut deciding));
            if !deciding.is_empty() {
                *result = self.settled(result.clone());
            }
        }
    }

    /// Evaluates a value if it is a single bool that depends only on constants.
    pub fn decided(&mut self, value: Value) -> Value {
        if value.is_bool() && value.volume() == Some(1) {
            return self.settled(value);
        }
        value
    }

    /// The tensor of a value that depends only on constants, or the reason that it cannot be evaluated; `None` for other values.
    fn evaluated(&self, value: &Value) -> Option<Result<Rc<Tensor>, String>> {
        if !self.folds.constant.contains(&value.id) {
            return None;
        }
        if let Some(known) = self.folds.evaluated.borrow().get(&value.id) {
            return Some(known.clone());
        }
        let evaluated = self.evaluate(value);
        self.folds.evaluated.borrow_mut().insert(value.id, evaluated.clone());
        Some(evaluated)
    }

    fn evaluate(&self, value: &Value) -> Result<Rc<Tensor>, String> {
        let too_large = || "it takes too much work".to_owned();
        let volume = value.volume().and_then(|n| usize::try_from(n).ok());
        if volume.is_some_and(|volume| volume > MAX_KNOWN) {
            return Err(format!("it has more than {MAX_KNOWN} elements"));
        }
        // The budget covers the search for the statements, too.
        let left = self.folds.statements.get().checked_sub(EVALUATION_COST);
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
        let tensor_of = |id: &usize| evaluated.get(id).and_then(|evaluated| evaluated.as_ref().ok());
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
                elements = elements.saturating_add(signed_length(tensor.volume()));
            }
            if let Some(tensor) = tensor {
                kept.push(self.replaced(old, tensor));
            }
        }
        kept.reverse();
        (elements <= MAX_ELEMENTS).then(|| Block { statements: kept, yields: vec![value.clone()] })
    }

    /// A statement that defines a value by its tensor.
    fn replaced(&self, value: &Value, tensor: &Rc<Tensor>) -> Statement {
        let constant = ValueData {
            // No value of the model has this id.
            id: self.values.len() + value.id,
            onnx: value.onnx.clone(),
            element: value.element,
            shape: tensor::extents(tensor),
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

/// Evaluates the only output of a model without inputs.
fn run(imported: &Imported, work: &Arc<AtomicU64>) -> Result<Tensor, String> {
    let model = composed(imported)?;
    let weights = imported.weights.iter().map(|w| (w.name.clone(), w.tensor.as_ref().clone()));
    let store = WeightStore::arrays(weights);
    let variables = model.variables.iter().map(|variable| VariableRequest {
        name: &variable.name,
        aliases: &variable.aliases,
        element: ElementType::for_kind(variable.tensor.kind, variable.numbers),
        shape: variable.tensor.shape.iter().map(|e| e.bound()).collect(),
    });
    let variables = load_variables(&store, &variables.collect::<Vec<_>>(), MissingWeights::Error);
    let variables = variables.map_err(|errors| joined(errors.into_iter()))?;
    let variables: Vec<Arc<Tensor>> = variables.into_iter().map(Arc::new).collect();
    let outcome = skript_reference::evaluate_within(&model, &[], &variables, work);
    let outcome = outcome.map_err(|error| error.failure.to_string())?;
    let output = outcome.outputs.into_iter().next();
    output.map(Arc::unwrap_or_clone).ok_or_else(|| "internal compiler error: no output".to_owned())
}

fn composed(imported: &Imported) -> Result<Model, String> {
    let origin = Origin::from_json(imported.json.as_bytes());
    let origin = origin.ok_or("internal compiler error: unreadable import.json")?;
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
        .map(|(name, element)| (name.clone(), StorageType::new(element.real(), element.int())));
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
        // Unsigned 64-bit ints are represented by signed ints with the same bits.
        (ElementType::I64, ElementType::U64) => {
            let typed = Tensor::from_bytes(element, tensor.shape(), tensor.bytes());
            typed.map_err(|error| error.to_string())
        }
        _ => Ok(tensor.with_element(element)),
    }
}
