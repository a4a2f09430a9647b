// SPDX-License-Identifier: Apache-2.0
//! The state of a composition: instances, the operator call stack, definitions by name.

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use skript_semantics::{Numbers, Scalar};

use super::ComposeOptions;

use crate::ast::{Definition, DefinitionKind, Path};
use crate::compose::declarations::label_spellings::add_spellings;
use crate::compose::invocations::arguments::{Argument, ArgumentList};
use crate::compose::quantization::quantizer::Quantizer;
use crate::diagnostics::codes::{BRANCH_RESULTS, ENDLESS_RECURSION, GRAPH_PARAMETER, GRAPH_UNKNOWN};
use crate::diagnostics::{Code, Diagnostic, Sink};
use crate::eval::stop::EvalError;
use crate::eval::{Stop, Value};
use crate::limits::Limits;
use crate::model::{self, Function, FunctionId, FunctionRole, Model, Quantization, TensorType, VariableId};
use crate::program::{Origin, Program};
use crate::source::Span;

/// The maximum number of open invocations that a message lists, from the error outwards and from the graph inwards.
const INNERMOST_NOTES: usize = 6;
const OUTERMOST_NOTES: usize = 3;

/// The failure of an invocation or a declaration has been reported; values that depend on it are poison.
#[derive(Debug)]
pub(crate) struct Reported;

pub(super) type Composed<T> = Result<T, Reported>;

/// An operator with its module.
#[derive(Clone, Copy)]
pub(crate) struct Definitions<'p> {
    pub definition: &'p Definition,
    pub module: &'p str,
}

/// One open invocation.
struct Frame {
    what: &'static str,
    name: String,
    /// The span of the invocation; `None` for the entry.
    call: Option<Span>,
}

/// A variable of an instance, as seen by callers.
#[derive(Clone, Debug)]
pub(crate) struct CaptureName {
    /// Whether `path` starts with the module (variables of an invoked graph).
    pub absolute: bool,
    /// `label.w`.
    pub path: String,
    /// Aliases, relative like `path`.
    pub aliases: Vec<String>,
    pub tensor: TensorType,
    pub span: Span,
    /// The invocation that owns it; `None` for a variable of the body itself.
    pub invocation: Option<Span>,
}

/// Information for callers of an instance, in addition to the function.
#[derive(Clone, Debug, Default)]
pub(crate) struct InstanceInfo {
    pub captures: Vec<CaptureName>,
    /// Tensors beside the captures that have external names (2.10), with labels: all tensors of public operators,
    /// otherwise constants.
    pub tensors: FxHashSet<String>,
    /// Whether `@compose` defines the operator.
    pub(crate) is_composite: bool,
    /// The number of invocations below; those of shared instances count as often as they are reached.
    pub invocations: usize,
    /// `@quantize` entries, with names relative to the instance.
    pub quantization: Vec<Quantization>,
}

/// The total size of packs and constants. Counted over all instances of a model, because values of an instance may live as long as the model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TotalSize {
    pub(crate) pack_items: usize,
    pub(crate) constant_elements: usize,
}

/// The number of invocations of operators, by module and name; none for those that are being analysed.
pub(crate) type InvocationCounts<'p> = FxHashMap<(&'p str, &'p str), usize>;

pub(crate) struct Composer<'p, 's> {
    pub program: &'p Program,
    pub limits: &'p Limits,
    pub(super) sink: &'s mut Sink,
    pub functions: Vec<Function>,
    pub(crate) infos: Vec<InstanceInfo>,
    pub instances: FxHashMap<String, FunctionId>,
    pub invocations: usize,
    pub(crate) total_size: TotalSize,
    definitions: FxHashMap<(&'p str, &'p str), &'p Definition>,
    frames: Vec<Frame>,
    /// Quantizers for the next instance.
    pub(crate) passed_quantizers: Vec<Quantizer<'p>>,
    simulate_quantization: bool,
    pub numbers: Numbers,
    /// See [`ComposeOptions::pack_lengths`].
    pub pack_lengths: IndexMap<String, usize>,
    /// See [`ComposeOptions::absent_inputs`].
    pub absent_inputs: Vec<String>,
    /// See [`ComposeOptions::given_inputs`].
    pub given_inputs: Vec<String>,
    /// See [`Model::defaults`].
    pub defaults: Vec<(String, Vec<Scalar>)>,
    /// See [`ComposeOptions::input_shapes`].
    pub input_shapes: IndexMap<String, Vec<Vec<u64>>>,
    /// Whether branches differ in extents that `input_shapes` fixed; then the graph as declared must allow that.
    pub(crate) shapes_decide: bool,
    pub(crate) invocation_counts: InvocationCounts<'p>,
    /// The types of the graph's tensors, if not all of it can be composed.
    pub known: Option<&'s mut Vec<model::Value>>,
    /// Definitions by module and name, and whether they test the identity of tensors.
    pub identity: FxHashMap<(&'p str, &'p str), bool>,
}

impl<'p, 's> Composer<'p, 's> {
    pub(super) fn new(program: &'p Program, limits: &'p Limits, sink: &'s mut Sink) -> Self {
        let mut definitions = FxHashMap::default();
        for (key, module) in &program.modules {
            for definition in &module.definitions {
                definitions.entry((key.as_str(), definition.name.name.as_str())).or_insert(definition);
            }
        }
        Composer {
            program,
            limits,
            sink,
            functions: Vec::new(),
            infos: Vec::new(),
            instances: FxHashMap::default(),
            invocations: 0,
            total_size: TotalSize::default(),
            definitions,
            frames: Vec::new(),
            passed_quantizers: Vec::new(),
            simulate_quantization: false,
            numbers: Numbers::default(),
            pack_lengths: IndexMap::new(),
            absent_inputs: Vec::new(),
            given_inputs: Vec::new(),
            defaults: Vec::new(),
            input_shapes: IndexMap::new(),
            shapes_decide: false,
            invocation_counts: InvocationCounts::default(),
            known: None,
            identity: FxHashMap::default(),
        }
    }

    /// The operator that `path` names inside the module with key `from`.
    pub(super) fn lookup(&self, from: &str, path: &Path) -> Option<Definitions<'p>> {
        let (last, qualifiers) = path.parts.split_last()?;
        let module = if qualifiers.is_empty() {
            self.program.modules.get_key_value(from)?.0.as_str()
        } else {
            let parts: Vec<&str> = qualifiers.iter().map(|p| p.name.as_str()).collect();
            self.program.resolve(from, &parts.join("."))?.0
        };
        let (key, definition) = self.definitions.get_key_value(&(module, last.name.as_str()))?;
        Some(Definitions { definition, module: key.0 })
    }

    /// `nn.conv`, with the module's dotted name.
    pub(super) fn qualified(&self, found: &Definitions) -> String {
        let module = self.program.modules.get(found.module).map_or(found.module, |m| m.name.as_str());
        format!("{module}.{}", found.definition.name.name)
    }

    pub(crate) fn simulates_quantization(&self) -> bool {
        self.simulate_quantization
    }

    pub(super) fn graph(mut self, options: &ComposeOptions) -> Option<Model> {
        self.simulate_quantization = options.simulate_quantization;
        self.numbers = options.numbers;
        self.absent_inputs.clone_from(&options.absent_inputs);
        self.given_inputs.clone_from(&options.given_inputs);
        self.pack_lengths.clone_from(&options.pack_lengths);
        self.input_shapes.clone_from(&options.input_shapes);
        let main = self.program.main_module()?;
        let mut graphs = main.definitions.iter().filter(|d| d.kind == DefinitionKind::Graph);
        let found = match &options.graph {
            None => graphs.next(),
            Some(name) => graphs.find(|d| d.name.name == *name),
        };
        let Some(definition) = found else {
            if let Some(name) = &options.graph {
                let known: Vec<&str> = main
                    .definitions
                    .iter()
                    .filter(|d| d.kind == DefinitionKind::Graph)
                    .map(|d| d.name.name.as_str())
                    .collect();
                self.sink.report(
                    Diagnostic::without_location(&GRAPH_UNKNOWN, format!("there is no graph `{name}`"))
                        .with_names(name, "the graphs are", &known),
                );
            }
            return None;
        };
        let (module, _) = self.program.modules.get_key_value(&self.program.main)?;
        let entry = Definitions { definition, module };
        let mut list = ArgumentList { invocation: definition.name.span, ..ArgumentList::default() };
        let before = self.sink.error_count();
        for name in options.attributes.keys() {
            if !definition.attributes.iter().any(|a| a.name.name == *name) {
                let graph = &definition.name.name;
                let known = definition.attributes.iter().map(|a| a.name.name.as_str());
                let known: Vec<&str> = known.collect();
                let message = format!("graph `{graph}` has no attribute `{name}`");
                let diagnostic = Diagnostic::without_location(&GRAPH_PARAMETER, message);
                self.sink.report(diagnostic.with_names(name, "its attributes are", &known));
            }
        }
        for (name, value) in &options.attributes {
            list.attributes.insert(name.clone(), (Value::from_attribute(value), definition.name.span));
        }
        for (name, kind) in &options.types {
            list.types.insert(name.clone(), crate::eval::TypeName::Scalar(*kind));
        }
        let composed = self.instantiate(entry, &list, true);
        if self.sink.error_count() > before {
            return None;
        }
        let entry_id = composed.ok()?;
        if self.shapes_decide && !self.branches_agree_as_declared(options) {
            return None;
        }
        self.finish(entry, entry_id, options)
    }

    /// Whether branches may differ in extents that callers fixed: they may if these extents are dynamic in the graph as
    /// declared.
    fn branches_agree_as_declared(&mut self, options: &ComposeOptions) -> bool {
        let declared = ComposeOptions { input_shapes: IndexMap::new(), ..options.clone() };
        let mut sink = Sink::default();
        Composer::new(self.program, self.limits, &mut sink).graph(&declared);
        let differing: Vec<_> =
            sink.into_sorted().into_iter().filter(|d| d.code.id == BRANCH_RESULTS.id).collect();
        let agree = differing.is_empty();
        for diagnostic in differing {
            self.sink.report(diagnostic);
        }
        agree
    }

    /// Names the variables, and resolves updates and quantization of the entry.
    fn finish(mut self, entry: Definitions<'p>, id: FunctionId, options: &ComposeOptions) -> Option<Model> {
        let root = self.qualified(&entry);
        let info = self.infos.get(id.0 as usize)?.clone();
        let full = |path: &str, absolute: bool| {
            if absolute { path.to_string() } else { format!("{root}.{path}") }
        };
        let mut variables = Vec::new();
        for capture in &info.captures {
            variables.push(crate::model::Variable {
                name: full(&capture.path, capture.absolute),
                aliases: capture.aliases.iter().map(|a| full(a, capture.absolute)).collect(),
                tensor: capture.tensor.clone(),
                numbers: self.numbers,
                span: capture.span,
            });
        }
        add_spellings(&mut variables, &root);
        let count = u32::try_from(variables.len()).ok()?;
        if let Some(function) = self.functions.get_mut(id.0 as usize) {
            function.capture_variables = (0..count).map(VariableId).collect();
        }
        let mut updates = Vec::new();
        for (capture, value) in &self.functions.get(id.0 as usize)?.updates {
            updates.push((VariableId(u32::try_from(*capture).ok()?), *value));
        }
        let mut model = Model {
            entry: id,
            functions: self.functions,
            variables,
            updates,
            quantization: info.quantization,
            defaults: self.defaults,
            numbers: self.numbers,
        };
        let numbers = model.numbers;
        model.functions.iter_mut().for_each(|f| f.numbers = numbers);
        let infos = self.infos;
        model.widen(&|id| infos.get(id.0 as usize).is_some_and(|i| i.is_composite));
        model.store(&options.storage);
        Some(model)
    }

    pub(super) fn role(found: &Definitions) -> FunctionRole {
        match found.definition.kind {
            DefinitionKind::Graph => FunctionRole::Graph,
            DefinitionKind::Operator => FunctionRole::Operator,
        }
    }

    /// Opens an invocation; rejects nesting beyond the limit.
    pub(super) fn enter(&mut self, found: &Definitions, call: Option<Span>) -> Composed<()> {
        if self.frames.len() >= self.limits.call_depth {
            let name = self.qualified(found);
            let span = call.unwrap_or(found.definition.name.span);
            let diagnostic = Diagnostic::error(
                &ENDLESS_RECURSION,
                span,
                format!(
                    "`{name}` is invoked {} levels deep (limit `call_depth`); operators that invoke each other must end",
                    self.frames.len()
                ),
            );
            return Err(self.report(diagnostic));
        }
        let what = match found.definition.kind {
            DefinitionKind::Graph => "graph",
            DefinitionKind::Operator => "operator",
        };
        let name =
            if self.program.origin(found.module) == Origin::Library || found.module != self.program.main {
                self.qualified(found)
            } else {
                found.definition.name.name.clone()
            };
        self.frames.push(Frame { what, name, call });
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.frames.pop();
    }

    /// One line per open invocation, innermost first; only the first and last ones of a long chain.
    fn stack_notes(&self) -> Vec<(Option<Span>, String)> {
        let mut notes = self.all_stack_notes();
        if notes.len() > INNERMOST_NOTES + OUTERMOST_NOTES + 1 {
            let outermost = notes.split_off(notes.len() - OUTERMOST_NOTES);
            let between = notes.split_off(INNERMOST_NOTES).len();
            notes.push((None, format!("… {between} more invocations …")));
            notes.extend(outermost);
        }
        notes
    }

    fn all_stack_notes(&self) -> Vec<(Option<Span>, String)> {
        self.frames
            .windows(2)
            .rev()
            .filter_map(|pair| match pair {
                [caller, callee] => Some((
                    callee.call,
                    format!(
                        "in {} `{}`, called from {} `{}`",
                        callee.what, callee.name, caller.what, caller.name
                    ),
                )),
                _ => None,
            })
            .collect()
    }

    /// Reports with the operator call stack.
    /// Equal diagnostics of several instances of an operator are reported once.
    pub(super) fn report(&mut self, mut diagnostic: Diagnostic) -> Reported {
        let is_same = |other: &Diagnostic| {
            other.span == diagnostic.span
                && other.code == diagnostic.code
                && other.message == diagnostic.message
        };
        if diagnostic.span.is_some() && self.sink.diagnostics().iter().any(is_same) {
            return Reported;
        }
        for (span, text) in self.stack_notes() {
            diagnostic = diagnostic.with_note(span, text);
        }
        self.sink.report(diagnostic);
        Reported
    }

    pub(super) fn error(&mut self, code: &'static Code, span: Span, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(code, span, message))
    }

    /// Reports a failed evaluation.
    pub(super) fn failed(&mut self, stop: Stop) -> Reported {
        match stop {
            Stop::Error(error) => {
                let EvalError { code, span, message, help } = *error;
                let mut diagnostic = Diagnostic::error(code, span, message);
                if let Some(help) = help {
                    diagnostic = diagnostic.with_help(help);
                }
                self.report(diagnostic)
            }
            Stop::Unroll(_) | Stop::Poison => Reported,
        }
    }

    /// The text of a span, for labels of printed values.
    pub(crate) fn source_text(&self, span: Span) -> String {
        let text = self.program.sources.text(span);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    pub(super) fn error_count(&self) -> usize {
        self.sink.error_count()
    }
}

/// The identity of an instance: everything that its function may depend on.
pub(crate) fn instance_key(found: &Definitions, list: &ArgumentList) -> String {
    use std::fmt::Write as _;
    let mut key = format!("{:p}", found.definition);
    for (name, ty) in &list.types {
        // Writing to a string cannot fail.
        let _ = write!(key, "<{name}={}>", ty.name());
    }
    for (name, (value, _)) in &list.attributes {
        let _ = write!(key, "|{name}={value:?}");
    }
    for argument in &list.arguments {
        key.push(';');
        Argument::describe_into(argument, &mut key);
    }
    if !list.same.is_empty() {
        let _ = write!(key, ";same {:?}", list.same);
    }
    key
}
