// SPDX-License-Identifier: Apache-2.0
//! Walks a graph: resolves names to values, applies the rule of each operator, and collects refusals.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use skript_tensor::{ElementType, Tensor};

use crate::call::Call;
use crate::declared::{Declared, declared};
use crate::extent::{Bounds, Extent};
use crate::folds::Folds;
use crate::operators;
use crate::proto::{
    AttributeProto, FunctionProto, GraphProto, NodeProto, OperatorSetIdProto, TensorProto, TensorTypeProto,
};
use crate::refusal::{Reason, Refusal, Ruled};
use crate::shared_tensors::SharedTensors;
use crate::statement::{Block, Statement};
use crate::tensor;
use crate::value::{Item, Value, ValueData, nibble};

/// Maximum nesting depth of bodies and functions.
const MAX_DEPTH: usize = 64;
/// Maximum number of nodes, with functions inlined.
const MAX_NODES: usize = 1 << 20;

/// The state of an import.
#[derive(Debug, Default)]
pub struct Importer {
    /// The folders of external data.
    pub folders: Vec<PathBuf>,
    pub values: Vec<Value>,
    /// For each loop, the id of its index, and the ids of its number of steps and of its first condition: if these two are known at
    /// import, so is the index.
    pub loops: Vec<(usize, Vec<usize>)>,
    /// The ids of the inputs of the model.
    pub inputs: BTreeSet<usize>,
    /// The ids of the values that are 4-bit ints, stored as 8-bit ints.
    pub nibbles: BTreeSet<usize>,
    /// Whether real initializers with dimensions become variables.
    pub is_trainable: bool,
    /// The ids of these initializers.
    pub trained: BTreeSet<usize>,
    /// Whether a node of the model computes with quantized values.
    pub is_quantized: bool,
    /// The statements of the current block.
    pub statements: Vec<Statement>,
    /// The statements of the enclosing blocks, the innermost last.
    pub enclosing: Vec<Vec<Statement>>,
    /// The values that depend only on constants.
    pub folds: Folds,
    pub refusals: Vec<Refusal>,
    /// Defects of the model that do not affect its results.
    pub warnings: Vec<Refusal>,
    /// The upper bounds of the dynamic dimensions of inputs.
    pub bounds: Bounds,
    /// The values by their names, for each enclosing graph, the innermost last.
    scopes: Vec<HashMap<String, Option<Value>>>,
    /// The declared types by name, for each enclosing graph.
    types: Vec<Declared>,
    opsets: HashMap<String, i64>,
    functions: HashMap<(String, String), Rc<FunctionProto>>,
    depth: usize,
    nodes: usize,
    /// The first ONNX name of each value, by id.
    pub titles: HashMap<usize, String>,
    /// Names that have no value because their node was refused.
    pub refused: BTreeSet<String>,
    /// The inputs, by their names in ONNX, that decide values which refused nodes require at import.
    pub deciding: RefCell<BTreeSet<String>>,
    /// For each data-dependent branch: the inputs, by their names in ONNX, that the condition depends on.
    pub selecting: Vec<Vec<String>>,
    /// The tensors that the conversions of a file share.
    pub tensors: Arc<SharedTensors>,
}

/// The canonical name of a domain; the default domain has two names.
fn domain(name: &str) -> String {
    match name {
        "ai.onnx" => String::new(),
        other => other.to_owned(),
    }
}

/// The operator set version of each domain.
pub fn versions_by_domain(imports: &[OperatorSetIdProto]) -> HashMap<String, i64> {
    let versions = imports.iter().map(|import| (domain(&import.domain), import.version));
    versions.collect()
}

/// Refuses operator sets that are newer than the supported operator sets.
pub fn refuse_newer(importer: &mut Importer, node: &str, imports: &[OperatorSetIdProto]) {
    for import in imports {
        let domain = domain(&import.domain);
        let Some(newest) = operators::newest_of(&domain).filter(|n| import.version > *n) else {
            continue;
        };
        let (origin, remedy) = match domain.as_str() {
            "" => (String::new(), "; convert it with `onnx.version_converter`"),
            domain => (format!(" of {domain}"), ""),
        };
        let reason = format!(
            "the model uses opset {}{origin}, but only opsets up to {newest} are supported{remedy}",
            import.version
        );
        importer.refuse(node, "", reason);
    }
}

impl Importer {
    pub fn new(
        folders: Vec<PathBuf>,
        opsets: HashMap<String, i64>,
        functions: Vec<FunctionProto>,
    ) -> Importer {
        let keyed = |f: FunctionProto| ((f.domain.clone(), f.name.clone()), Rc::new(f));
        Importer {
            folders,
            opsets,
            functions: functions.into_iter().map(keyed).collect(),
            scopes: vec![HashMap::new()],
            types: vec![Declared::new()],
            ..Importer::default()
        }
    }

    /// Creates a value.
    pub fn value(
        &mut self,
        onnx: &str,
        element: ElementType,
        shape: Vec<Extent>,
        known: Option<Vec<Item>>,
        tensor: Option<Rc<Tensor>>,
    ) -> Value {
        self.add(ValueData {
            id: self.values.len(),
            onnx: onnx.to_owned(),
            element,
            shape,
            known,
            tensor,
            items: None,
        })
    }

    /// Creates a sequence.
    pub fn sequence(&mut self, element: ElementType, items: Vec<Value>) -> Value {
        self.add(ValueData {
            id: self.values.len(),
            onnx: String::new(),
            element,
            shape: Vec::new(),
            known: None,
            tensor: None,
            items: Some(items),
        })
    }

    fn add(&mut self, value: ValueData) -> Value {
        let value = Rc::new(value);
        self.values.push(value.clone());
        value
    }

    /// Binds a name in the innermost graph to a value.
    pub fn bind(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = &value
            && self.depth == 0
        {
            self.titles.entry(value.id).or_insert_with(|| name.to_owned());
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), value);
        }
    }

    /// The value that a name refers to.
    pub fn find(&self, name: &str) -> Option<Value> {
        let mut scopes = self.scopes.iter().rev();
        scopes.find_map(|scope| scope.get(name)).cloned().flatten()
    }

    /// Adds a tensor of the file.
    ///
    /// # Errors
    /// The defect of the tensor.
    pub fn tensor(&mut self, proto: &mut TensorProto) -> Result<Value, String> {
        let shared = Arc::clone(&self.tensors);
        let tensor = shared.get(proto, |proto| tensor::read(proto, &self.folders))?;
        let shape = tensor.shape().iter().map(|d| i64::try_from(*d).map(Extent::from));
        let shape = shape.collect::<Result<_, _>>().map_err(|_| "its extents are too large")?;
        let known = tensor::known(&tensor);
        let element = tensor.element();
        let value = self.value(&proto.name, element, shape, known, Some(Rc::new(tensor)));
        if nibble(proto.data_type).is_some() {
            self.nibbles.insert(value.id);
        }
        Ok(value)
    }

    /// Sets the types that the graph of the model declares.
    pub fn declare(&mut self, types: Declared) {
        self.types = vec![types];
    }

    /// The type that the innermost graph declares for a value.
    pub fn declared(&self, name: &str) -> Option<&TensorTypeProto> {
        self.types.last()?.get(name)
    }

    pub fn refuse(&mut self, node: &str, operator: &str, reason: impl Into<String>) {
        let (node, operator, reason) = (node.to_owned(), operator.to_owned(), reason.into());
        self.refusals.push(Refusal { node, operator, reason });
    }

    /// Records a defect of the model that does not affect its results.
    pub fn warn(&mut self, node: &str, operator: &str, reason: impl Into<String>) {
        let warning = Refusal { node: node.to_owned(), operator: operator.to_owned(), reason: reason.into() };
        // The steps of unrolled loops repeat their warnings.
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Adds the initializers of a graph.
    pub fn initializers(&mut self, tensors: &mut [TensorProto]) {
        for proto in tensors {
            let name = proto.name.clone();
            match self.tensor(proto) {
                Ok(value) if self.is_trainable && value.is_real() && value.rank() > 0 => {
                    let value =
                        self.value(&name, value.element, value.shape.clone(), None, value.tensor.clone());
                    self.trained.insert(value.id);
                    self.bind(&name, Some(value));
                }
                Ok(value) => self.bind(&name, Some(value)),
                Err(reason) => {
                    self.refused.insert(name.clone());
                    self.refuse(&name, "", reason);
                }
            }
        }
    }

    /// Converts nodes, each of which must follow the nodes whose results it reads.
    pub fn nodes(&mut self, nodes: Vec<NodeProto>) {
        for node in nodes {
            self.nodes += 1;
            if self.nodes > MAX_NODES {
                if self.nodes == MAX_NODES + 1 {
                    self.refuse("", "", format!("the model has more than {MAX_NODES} nodes"));
                }
                return;
            }
            self.node(node);
        }
    }

    fn node(&mut self, node: NodeProto) {
        let name = match (node.name.as_str(), node.output.first()) {
            ("", Some(output)) => output.clone(),
            (name, _) => name.to_owned(),
        };
        let operator = operators::full_name(&node.domain, &node.op_type);
        let mut inputs = Vec::new();
        let mut is_behind = false;
        for input in &node.input {
            let value = self.find(input);
            if value.is_none() && !input.is_empty() && !self.is_absent(input) {
                is_behind = true;
                if !self.refused.contains(input) {
                    self.refuse(&name, &operator, format!("no node before it computes its input `{input}`"));
                }
            }
            if value.as_ref().is_some_and(|v| v.is_sequence()) && !operators::takes_sequences(&operator) {
                let reason = format!("its input `{input}` is a sequence, which is not supported");
                self.refuse(&name, &operator, reason);
                self.refused.extend(node.output.iter().cloned());
                return;
            }
            inputs.push(value.map(|value| self.settled_before(value)));
        }
        self.settle_beside_dimensions(&mut inputs);
        if is_behind {
            self.refused.extend(node.output.iter().cloned());
            self.refuse_alone(&node, &name, &inputs, 0);
            return;
        }
        let outputs = node.output.clone();
        let named = || outputs.iter().filter(|output| !output.is_empty());
        let scope = self.scopes.last();
        let twice = named().find(|output| {
            let is_bound = scope.is_some_and(|scope| scope.contains_key(*output));
            is_bound || named().filter(|other| other == output).count() > 1
        });
        if let Some(output) = twice {
            let reason = format!("another node before it computes its output `{output}`, too");
            self.refuse(&name, &operator, reason);
            return;
        }
        match self.apply(node, inputs) {
            Ok(results) => {
                let padded = results.into_iter().chain(std::iter::repeat(None));
                for (output, result) in outputs.iter().zip(padded) {
                    match result {
                        _ if output.is_empty() => {}
                        Some(value) => {
                            if let Some(reason) = self.contradiction(output, &value) {
                                self.warn(&name, &operator, format!("its output {reason}"));
                            }
                            self.bind(output, Some(value));
                        }
                        None => {
                            self.refused.insert(output.clone());
                            self.refuse(&name, &operator, format!("its output `{output}` is not supported"));
                        }
                    }
                }
            }
            Err(Reason(reason)) => {
                self.refused.extend(outputs);
                if !reason.is_empty() {
                    self.refuse(&name, &operator, reason);
                }
            }
        }
    }

    /// Reports defects of a node that do not depend on its operands, also in its bodies and its function. The node cannot be converted,
    /// because it reads results of a refused node.
    fn refuse_alone(&mut self, node: &NodeProto, name: &str, inputs: &[Option<Value>], depth: usize) {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return;
        }
        let key = (node.domain.clone(), node.op_type.clone());
        let function = self.functions.get(&key).cloned();
        if function.is_none()
            && let Some(reason) = self.problem(node, inputs)
        {
            let operator = operators::full_name(&node.domain, &node.op_type);
            self.refuse(name, &operator, reason);
        }
        let bodies = node.attribute.iter().filter_map(|a| a.g.as_ref());
        for inner in bodies.flat_map(|body| &body.node) {
            let inner_name = if inner.name.is_empty() { name } else { &inner.name };
            self.refuse_alone(inner, inner_name, &[], depth + 1);
        }
        if let Some(function) = function {
            let outer = self.opsets.clone();
            self.opsets.extend(versions_by_domain(&function.opset_import));
            for inner in &function.node {
                let inner_name = if inner.name.is_empty() { name } else { &inner.name };
                self.refuse_alone(inner, inner_name, &[], depth + 1);
            }
            self.opsets = outer;
        }
    }

    /// Describes an unsupported operator, or operand types and attributes that contradict the signature of the operator.
    fn problem(&self, node: &NodeProto, inputs: &[Option<Value>]) -> Option<String> {
        let domain = domain(&node.domain);
        let name = &node.op_type;
        if operators::find(&domain, name).is_none() {
            return Some(operators::unsupported(&domain).to_owned());
        }
        let opset = self.opset(&domain);
        let version = operators::outdated(&domain, name, opset);
        if let Some(text) = version.or_else(|| operators::newer(&domain, name, opset)) {
            return Some(text);
        }
        let full = operators::full_name(&domain, name);
        let signature = operators::signature(&full, opset)?;
        let operands = node.input.iter().zip(inputs).map(|(name, value)| {
            let value = value.as_ref()?;
            Some((name.as_str(), self.type_name(value)))
        });
        let attributes = node.attribute.iter().map(|a| a.name.as_str());
        let problems = signature.problems(&operands.collect::<Vec<_>>(), &attributes.collect::<Vec<_>>());
        (!problems.is_empty()).then(|| problems.join("; "))
    }

    fn is_absent(&self, name: &str) -> bool {
        self.scopes.iter().rev().find_map(|scope| scope.get(name)).is_some_and(Option::is_none)
    }

    fn apply(&mut self, node: NodeProto, inputs: Vec<Option<Value>>) -> Ruled<Vec<Option<Value>>> {
        let domain = domain(&node.domain);
        let key = (node.domain.clone(), node.op_type.clone());
        if let Some(function) = self.functions.get(&key).cloned() {
            return self.function(&function, &node, inputs);
        }
        let is_nibbles = |x: &Option<Value>| {
            let id = x.as_ref().map(|x| x.id);
            id.is_some_and(|id| self.nibbles.contains(&id))
        };
        let of_nibbles = inputs.first().is_some_and(is_nibbles);
        let moves = operators::moves(&domain, &node.op_type);
        if inputs.iter().any(is_nibbles) && !moves && !operators::quantizes(&node.op_type) {
            return Err("4-bit ints are supported only in quantization and data movement".into());
        }
        if let Some(problem) = self.problem(&node, &inputs) {
            return Err(Reason(problem));
        }
        let Some(rule) = operators::find(&domain, &node.op_type) else {
            return Err(operators::unsupported(&domain).into());
        };
        let opset = self.opset(&domain);
        let mut call =
            Call { importer: self, node, inputs, results: Vec::new(), opset, mistyped: RefCell::default() };
        let ruled = rule(&mut call);
        if let Some(text) = call.mistyped.take() {
            return Err(Reason(text));
        }
        ruled?;
        let mut results = call.results;
        self.settle_extents(&mut results);
        if of_nibbles && moves {
            self.nibbles.extend(results.iter().flatten().map(|result| result.id));
        }
        Ok(results)
    }

    /// Inlines a call of a function.
    fn function(
        &mut self,
        function: &FunctionProto,
        node: &NodeProto,
        inputs: Vec<Option<Value>>,
    ) -> Ruled<Vec<Option<Value>>> {
        self.deeper()?;
        let mut scope = HashMap::new();
        let padded = inputs.into_iter().chain(std::iter::repeat(None));
        for (name, value) in function.input.iter().zip(padded) {
            scope.insert(name.clone(), value);
        }
        let before = self.refusals.len();
        refuse_newer(self, &node.name, &function.opset_import);
        let outer_opsets = self.opsets.clone();
        self.opsets.extend(versions_by_domain(&function.opset_import));
        let outer_scopes = std::mem::replace(&mut self.scopes, vec![scope]);
        let outer_types = std::mem::replace(&mut self.types, vec![Declared::new()]);
        let mut given: Vec<AttributeProto> = node.attribute.clone();
        for default in &function.attribute_proto {
            if !given.iter().any(|a| a.name == default.name) {
                given.push(default.clone());
            }
        }
        let nodes = function.node.iter().cloned().map(|mut inner| {
            resolve(&mut inner, &given);
            if inner.name.is_empty() {
                inner.name.clone_from(&node.name);
            }
            inner
        });
        self.nodes(nodes.collect());
        let results = function.output.iter().map(|name| self.find(name)).collect();
        self.scopes = outer_scopes;
        self.types = outer_types;
        self.opsets = outer_opsets;
        self.depth -= 1;
        if self.refusals.len() > before {
            // The reasons have already been reported.
            Err("".into())
        } else {
            Ok(results)
        }
    }

    fn deeper(&mut self) -> Ruled<()> {
        if self.depth >= MAX_DEPTH {
            return Err(Reason(format!("functions and bodies are nested deeper than {MAX_DEPTH}")));
        }
        self.depth += 1;
        Ok(())
    }

    /// Converts a body whose inputs are these values.
    ///
    /// # Errors
    /// The body is refused; the reason is empty if the reasons have already been reported.
    pub fn body(&mut self, mut graph: GraphProto, inputs: Vec<(String, Value)>) -> Ruled<Block> {
        self.deeper()?;
        let outer = std::mem::take(&mut self.statements);
        self.enclosing.push(outer);
        let scope = inputs.into_iter().map(|(name, value)| (name, Some(value))).collect();
        self.scopes.push(scope);
        self.types.push(declared(&graph));
        let before = self.refusals.len();
        self.initializers(&mut graph.initializer);
        self.nodes(graph.node);
        let yields: Option<Vec<Value>> = graph.output.iter().map(|o| self.find(&o.name)).collect();
        // The condition of a loop may depend only on constants.
        let decided = yields.map(|yields| yields.into_iter().map(|v| self.decided(v)).collect());
        self.scopes.pop();
        self.types.pop();
        let Some(outer) = self.enclosing.pop() else {
            unreachable!("internal compiler error: a body has no enclosing statements")
        };
        let statements = std::mem::replace(&mut self.statements, outer);
        self.depth -= 1;
        match decided {
            _ if self.refusals.len() > before => Err("".into()),
            None => Err("no node of its body computes one of its outputs".into()),
            Some(yields) => Ok(Block { statements, yields }),
        }
    }

    /// The name of a value's type in messages: `f32`, `i4`, or `[f32]` for a sequence.
    pub fn type_name(&self, value: &Value) -> String {
        let name = match (value.element, self.nibbles.contains(&value.id)) {
            (ElementType::U8, true) => "u4",
            (_, true) => "i4",
            (element, false) => element.name(),
        };
        if value.is_sequence() { format!("[{name}]") } else { name.to_owned() }
    }

    /// A value's type with its shape in messages, such as `f32[n, 4]`.
    pub fn typed(&self, value: &Value) -> String {
        let name = |id: usize| self.values.get(id).map_or(String::new(), |v| v.onnx.clone());
        let extents = value.shape.iter().map(|extent| extent.text(&name));
        let extents = extents.collect::<Vec<_>>().join(", ");
        format!("{}[{extents}]", self.type_name(value))
    }

    /// The operator set version of a domain; 1 if the model does not import the domain.
    pub fn opset(&self, domain: &str) -> i64 {
        self.opsets.get(domain).copied().unwrap_or(1)
    }
}

/// Replaces references to attributes of the function by their values, also in the bodies of a node.
fn resolve(node: &mut NodeProto, given: &[AttributeProto]) {
    node.attribute.retain_mut(|attribute| {
        if attribute.ref_attr_name.is_empty() {
            for inner in attribute.g.iter_mut().flat_map(|g| &mut g.node) {
                resolve(inner, given);
            }
            return true;
        }
        match given.iter().find(|a| a.name == attribute.ref_attr_name) {
            Some(value) => {
                let name = std::mem::take(&mut attribute.name);
                *attribute = AttributeProto { name, ..value.clone() };
                true
            }
            None => false,
        }
    });
}
