// SPDX-License-Identifier: Apache-2.0
//! Loads and composes a model from a path, and collects all diagnostics.

mod composition;
mod name_errors;
mod open_shapes;
mod record;
mod specialize;
mod weights;

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use skript_frontend::ast::{BlockKind, Declaration, Definition, DefinitionKind};
use skript_frontend::check::{check_program, is_called, is_sound};
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, INTERNAL, INTRINSIC, NOT_COMPILED, UNREADABLE};
use skript_frontend::diagnostics::{Diagnostic, Severity, Sink, nodes};
use skript_frontend::limits::Limits;
use skript_frontend::model::Model;
use skript_frontend::program::Program;
use skript_frontend::source::SourceMap;
use skript_frontend::source_files::{load_program, load_program_with};
use skript_runtime::Artifact;
use skript_semantics::{IntType, Numbers, RealType, ScalarKind};
use skript_tensor::{Archive, ElementType, HeldArrays, Tensor, archive};

use crate::command_line::{InputArgument, IntrinsicArgument, MessageFormat, ModelArguments};
use crate::console::{Console, Status};
use crate::foreign;
use crate::inputs;
use crate::onnx_model::{self, Origin};
use crate::render::render;
use name_errors::unknown;
pub use name_errors::{repeated, twice};
use open_shapes::{has_open_length, may_be_main, whole_shapes};
pub use weights::{Weights, requests};

/// Which inputs with a default or an optional type are passed.
#[derive(Clone)]
struct Brought {
    given: Vec<String>,
    absent: Vec<String>,
    pack_lengths: IndexMap<String, usize>,
}

/// A verb's model and its messages. Messages are written when the session ends, in source order.
pub struct Session<'a> {
    pub program: Program,
    /// The model's files, if it is packed.
    packed: Option<Archive>,
    origin: Option<Origin>,
    /// The weights of a model that was imported for this session.
    held: Option<HeldArrays>,
    /// Inputs of an ONNX model whose values it was imported for.
    constants: Vec<skript_import::Declaration>,
    /// Notes that `--verbose` prints.
    notes: Vec<String>,
    /// Upper bounds of dynamic dimensions that nobody set, for commands whose result depends on them.
    default_bounds: Vec<String>,
    input_shapes: Vec<(String, Vec<Vec<u64>>)>,
    arguments: &'a ModelArguments,
    limits: Limits,
    sink: Sink,
    status: Status,
}

impl<'a> Session<'a> {
    /// Loads and checks the model; test [`Session::status`] before continuing.
    pub fn open(model: &Path, arguments: &'a ModelArguments) -> Self {
        Session::open_with(model, arguments, None)
    }

    /// The same for a call with these inputs, whose shapes an ONNX model is imported for.
    pub fn open_for_call(model: &Path, arguments: &'a ModelArguments, inputs: &[InputArgument]) -> Self {
        Session::open_with(model, arguments, Some(inputs))
    }

    fn open_with(model: &Path, arguments: &'a ModelArguments, call: Option<&[InputArgument]>) -> Self {
        let limits = arguments.limits.in_force();
        let mut sink = Sink::default();
        let edition = arguments.edition.map(Into::into);
        if let Some(refusal) = foreign::refusal(model) {
            sink.report(refusal);
            return Session::unread(arguments, limits, sink);
        }
        let is_onnx = onnx_model::is_model(model);
        let imports = &arguments.import;
        // Those of an ONNX model become static when it is imported.
        let shapes = if is_onnx { Ok(Vec::new()) } else { whole_shapes(&arguments.input_shapes) };
        let wrong = match &shapes {
            _ if !(is_onnx || imports.bounds.is_empty() && imports.constants.is_empty()) => {
                Some("--bound and --constant are for ONNX models".to_owned())
            }
            Ok(_) => None,
            Err(text) => Some(text.clone()),
        };
        if let Some(text) = wrong {
            sink.report(Diagnostic::without_location(&COMMAND_LINE_NAME, text));
            let mut session = Session::unread(arguments, limits, sink);
            session.status = Status::Usage;
            return session;
        }
        let mut input_shapes = shapes.unwrap_or_default();
        let (fixed, most) = (&arguments.input_shapes, limits.unpacked_bytes);
        let opened = is_onnx.then(|| onnx_model::open(model, imports, fixed, call, most));
        let opened = match opened.transpose() {
            Ok(opened) => opened,
            Err(wrong) => {
                let usage = wrong.iter().any(|d| d.code == &COMMAND_LINE_NAME);
                wrong.into_iter().for_each(|d| sink.report(d));
                let mut session = Session::unread(arguments, limits, sink);
                if usage {
                    session.status = Status::Usage;
                }
                return session;
            }
        };
        let packed = opened.is_none() && archive::is_packed(model) && !model.is_dir();
        let packed = packed.then(|| Archive::open(model, limits.unpacked_bytes));
        let (program, packed) = match (&opened, packed) {
            (Some(opened), _) => {
                let open = |path: &Path| opened.text(path);
                let program = load_program_with(&opened.main, edition, &limits, &mut sink, &open);
                (program, None)
            }
            (None, None) => (load_program(model, edition, &limits, &mut sink), None),
            (None, Some(Ok(files))) => {
                let open = |path: &Path| files.read(path).map(<[u8]>::to_vec);
                let main = model.join("main.sknd");
                let program = load_program_with(&main, edition, &limits, &mut sink, &open);
                (program, Some(files))
            }
            (None, Some(Err(error))) => {
                sink.report(Diagnostic::without_location(&UNREADABLE, error.to_string()));
                (Program::default(), None)
            }
        };
        let (mut notes, mut default_bounds) = (Vec::new(), Vec::new());
        let (mut origin, held, constants) = match opened {
            Some(opened) => {
                notes.extend(opened.note());
                default_bounds = opened.default_bounds;
                opened.warnings.into_iter().for_each(|d| sink.report(d));
                (opened.origin, Some(opened.weights), opened.constants)
            }
            None => (Origin::of(&program.folder), None, Vec::new()),
        };
        if let Some(origin) = &mut origin {
            origin.given_real = arguments.real.map(|name| {
                let real = name.0;
                ElementType::run_time(ScalarKind::Real, Numbers { real, ..Numbers::default() })
            });
            for (name, _) in &mut input_shapes {
                *name = origin.inner.input(name).to_owned();
            }
        }
        if program.main_module().is_some() {
            check_program(&program, &mut sink);
        }
        let mut session = Session {
            origin,
            held,
            constants,
            notes,
            default_bounds,
            input_shapes,
            program,
            packed,
            arguments,
            limits,
            sink,
            status: Status::Done,
        };
        session.settle();
        if session.origin.is_some() && arguments.int.0 != IntType::I64 {
            let text =
                "--int is not for ONNX models, whose ints wrap around at the widths of their own types";
            session.report_usage(Diagnostic::without_location(&COMMAND_LINE_NAME, text));
        }
        for intrinsic in &arguments.intrinsics {
            session.bind(intrinsic);
        }
        session
    }

    /// A session without a model; `sink` has the reason.
    fn unread(arguments: &'a ModelArguments, limits: Limits, sink: Sink) -> Self {
        let mut session = Session {
            program: Program::default(),
            packed: None,
            origin: None,
            held: None,
            constants: Vec::new(),
            notes: Vec::new(),
            default_bounds: Vec::new(),
            input_shapes: Vec::new(),
            arguments,
            limits,
            sink,
            status: Status::Done,
        };
        session.settle();
        session
    }

    /// The storage type of reals: that of the command line, of the imported model, or the default.
    fn real(&self) -> RealType {
        let imported = self.origin.as_ref().and_then(Origin::real);
        let given = self.arguments.real.map(|name| name.0);
        given.or(imported).unwrap_or_default()
    }

    /// The arguments with the names of the graph; those of an imported model may have their ONNX names. Inputs whose values the
    /// model was imported for are left out.
    pub fn named(&self, inputs: &[InputArgument]) -> Vec<InputArgument> {
        let mut named = match &self.origin {
            Some(origin) => origin.named(inputs),
            None => inputs.to_vec(),
        };
        named.retain(|argument| {
            let mut names = inputs::named(std::slice::from_ref(argument));
            !names.any(|name| self.is_constant(name))
        });
        named
    }

    /// The name of an input in the ONNX model that was imported for this session; its own name otherwise.
    pub fn imported_name<'n>(&'n self, name: &'n str) -> &'n str {
        let origin = self.origin.as_ref().filter(|_| self.held.is_some());
        let mut inputs = origin.into_iter().flat_map(|origin| &origin.inner.inputs);
        let found = inputs.find(|input| input.name == name);
        found.map_or(name, |input| &input.onnx)
    }

    /// Whether an ONNX model was imported for the value of this input.
    pub fn is_constant(&self, name: &str) -> bool {
        self.constants.iter().any(|input| input.has_name(name))
    }

    /// The element type of an input in the model that was imported, if that is one of ints.
    pub fn ints(&self, name: &str) -> Option<ElementType> {
        let origin = self.origin.as_ref();
        origin.and_then(|origin| origin.inner.ints(name))
    }

    /// The names of inputs in the model that was imported, each with that in the graph.
    pub fn imported_names(&self) -> Vec<(String, String)> {
        let inputs = self.origin.iter().flat_map(|o| &o.inner.inputs);
        let names = inputs.map(|input| (input.onnx.clone(), input.name.clone()));
        names.collect()
    }

    /// The outputs in the element types of the model that was imported.
    pub fn converted(&self, names: &[String], outputs: Vec<Arc<Tensor>>) -> Vec<Arc<Tensor>> {
        match &self.origin {
            Some(origin) => origin.converted(names, outputs),
            None => outputs,
        }
    }

    /// Adds names and element types of the model that was imported to its compiled form.
    pub fn add_origin(&self, artifact: &mut Artifact) {
        if let Some(origin) = &self.origin {
            origin.add_to(artifact);
        }
        if self.held.is_some() {
            for check in &mut artifact.checks {
                nodes::name_frames(&mut check.trace, &self.program.sources);
            }
        }
    }

    /// The most serious status so far.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The maximum unpacked size of archives in bytes.
    pub fn unpacked_bytes(&self) -> u64 {
        self.limits.unpacked_bytes
    }

    fn settle(&mut self) {
        if self.status == Status::Done && self.sink.has_errors() {
            self.status = Status::Wrong;
        }
    }

    /// Adds a line that `--verbose` prints.
    pub fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// Prints a line for each upper bound of a dynamic dimension that nobody set: the result of the command is for those extents.
    pub fn announce_bounds(&self, console: &mut Console) {
        if self.arguments.message_format == MessageFormat::Human {
            for note in &self.default_bounds {
                console.write(&format!("note: {}\n", skript_host::one_line(note)));
            }
        }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.sink.report(diagnostic);
        self.settle();
    }

    pub fn report_all(&mut self, stopped: Stopped) {
        for diagnostic in stopped.0 {
            if diagnostic.code == &COMMAND_LINE_NAME {
                self.report_usage(diagnostic)
            } else {
                self.report(diagnostic)
            }
        }
    }

    /// Reports an unknown name on the command line.
    pub fn report_usage(&mut self, diagnostic: Diagnostic) {
        self.sink.report(diagnostic);
        self.status = Status::Usage;
    }

    /// Binds the kernels of the command line to operators.
    fn bind(&mut self, intrinsic: &IntrinsicArgument) {
        let IntrinsicArgument { operator, symbol, library } = intrinsic;
        let is_known = |name: &str| skript_intrinsics::names().any(|known| known == name);
        // A program that could not be read does not have its final names.
        if !is_known(operator) && self.status != Status::Wrong {
            let operators = operators(&self.program);
            let found = operators.iter().find(|(name, _)| name == operator);
            let wrong =
                match found {
                    None => {
                        let without = operators.iter().filter(|(_, body)| !body);
                        let names = without.map(|(name, _)| name.as_str());
                        let names = names.filter(|name| !is_known(name)).collect::<Vec<_>>();
                        let wrong = unknown("operator", operator, "the program", &names);
                        Some(match wrong.help {
                            None => wrong.with_help("kernels are for operators without a body"),
                            Some(_) => wrong,
                        })
                    }
                    Some((_, true)) => {
                        let message = format!("operator `{operator}` has a body, so no kernel of it runs");
                        let wrong = Diagnostic::without_location(&COMMAND_LINE_NAME, message);
                        Some(wrong.with_help(
                            "remove --intrinsic, or declare the operator without @lower and @compose",
                        ))
                    }
                    Some((_, false)) => None,
                };
            if let Some(wrong) = wrong {
                return self.report_usage(wrong);
            }
        }
        if let Err(error) = skript_intrinsics::user::bind(operator, symbol, library) {
            self.report(Diagnostic::without_location(&INTRINSIC, error.to_string()));
        }
    }

    fn graphs(&self) -> impl Iterator<Item = &Definition> {
        let definitions = self.program.main_module().into_iter().flat_map(|m| &m.definitions);
        definitions.filter(|d| d.kind == DefinitionKind::Graph)
    }

    fn graph_named(&self, name: &str) -> Option<&Definition> {
        self.graphs().find(|d| d.name.name == name)
    }

    /// The selected graph: the named one, else the first.
    pub fn graph(&self) -> Option<&Definition> {
        match &self.arguments.graph {
            Some(name) => self.graph_named(name),
            None => self.graphs().next(),
        }
    }

    /// The graphs to check: the named one, else the first and all others that nothing invokes and whose inputs
    /// determine enough to be run.
    pub fn possible_graphs(&self) -> Vec<String> {
        let named = self.arguments.graph.is_some();
        let first = self.graph().map(|d| d.name.name.clone());
        let others = self.graphs().skip(1).filter(|graph| {
            let called = is_called(&self.program, &self.program.main, &graph.name.name);
            !named && !called && may_be_main(graph)
        });
        let others = others.map(|d| d.name.name.clone());
        first.into_iter().chain(others).collect()
    }

    /// The graphs without reported errors so far.
    pub fn sound_graphs(&self, graphs: Vec<String>) -> Vec<String> {
        let sound = |graph: &String| is_sound(&self.program, &self.sink, graph);
        graphs.into_iter().filter(sound).collect()
    }

    /// Reports names on the command line that the model does not have.
    pub fn check_names<'n>(&mut self, inputs: impl Iterator<Item = &'n str>) {
        let meant = self.graph().map(|graph| graph.name.name.clone());
        self.check_names_of(meant.as_slice(), inputs);
    }

    /// Reports names on the command line that none of these graphs has.
    pub fn check_names_of<'n>(&mut self, graphs: &[String], inputs: impl Iterator<Item = &'n str>) {
        let graphs: Vec<&Definition> = graphs.iter().filter_map(|name| self.graph_named(name)).collect();
        let owner = match graphs.as_slice() {
            [] => {
                if let Some(name) = &self.arguments.graph {
                    let known: Vec<&str> = self.graphs().map(|d| d.name.name.as_str()).collect();
                    let diagnostic = unknown("graph", name, "the main module", &known);
                    self.report_usage(diagnostic);
                }
                return;
            }
            [graph] => format!("graph `{}`", graph.name.name),
            _ => "the main module".to_string(),
        };
        let declared = graphs.iter().flat_map(|graph| &graph.attributes);
        let attributes: Vec<&str> = names(declared);
        let declared = || graphs.iter().flat_map(|graph| &graph.inputs);
        let known_inputs: Vec<&str> = names(declared());
        let may_be_absent = declared().filter(|i| i.type_spec.optional || i.default.is_some());
        let may_be_absent = names(may_be_absent);
        let mut wrong = Vec::new();
        let inputs: Vec<&str> = inputs.collect();
        let given = self.arguments.attributes.iter().map(|(name, _)| name.as_str());
        for name in repeated(given) {
            wrong.push(twice("--set", name));
        }
        for name in repeated(inputs.iter().copied()) {
            wrong.push(twice("--input", name));
        }
        let shaped = self.input_shapes.iter();
        for name in repeated(shaped.clone().map(|(name, _)| name.as_str())) {
            wrong.push(twice("--input-shape", name));
        }
        for (name, _) in shaped.filter(|(name, _)| !known_inputs.contains(&name.as_str())) {
            wrong.push(unknown("input", name, &owner, &known_inputs));
        }
        for (name, _) in &self.arguments.attributes {
            if !attributes.contains(&name.as_str()) {
                wrong.push(unknown("attribute", name, &owner, &attributes));
            }
        }
        let arguments = self.arguments;
        let marked = [&arguments.absent_inputs, &arguments.given_inputs];
        let marked = marked.into_iter().flatten().map(String::as_str);
        for name in inputs.iter().copied().chain(marked) {
            if !known_inputs.contains(&name) {
                wrong.push(unknown("input", name, &owner, &known_inputs));
            }
        }
        for name in arguments.absent_inputs.iter().map(String::as_str) {
            if inputs.contains(&name) || arguments.given_inputs.iter().any(|given| given == name) {
                let message = format!("input `{name}` cannot be both given and absent");
                wrong.push(Diagnostic::without_location(&COMMAND_LINE_NAME, message));
            } else if known_inputs.contains(&name) && !may_be_absent.contains(&name) {
                let message =
                    format!("input `{name}` cannot be absent: it is not optional and has no default");
                wrong.push(Diagnostic::without_location(&COMMAND_LINE_NAME, message));
            }
        }
        for diagnostic in wrong {
            self.report_usage(diagnostic);
        }
    }

    /// The composed model and its arrays, with random values for missing inputs: for verbs that measure or compare.
    /// `None` after errors, which are reported.
    pub fn compose_with_arrays(
        &mut self,
        given: &[InputArgument],
        weights: Weights,
    ) -> Option<(Model, inputs::Arrays)> {
        let given = &self.named(given);
        if self.status == Status::Done {
            self.check_names(inputs::named(given));
        }
        if self.status != Status::Done {
            return None;
        }
        let model = self.compose_measured(given)?;
        let given = inputs::or_random(&model, given);
        let arrays = inputs::prepare(self, &model, &given, weights)?;
        Some((model, arrays))
    }

    /// Reports operators on the command line that the model does not invoke.
    pub fn check_operators(&mut self, model: &Model, asked: &[String]) {
        let operators = model.functions.iter().enumerate().filter(|(id, _)| *id != model.entry.0 as usize);
        let names = operators.map(|(_, f)| f.name.as_str());
        // Functions that the composer adds are not in a module.
        let mut known: Vec<&str> = names.filter(|name| name.contains('.')).collect();
        known.sort_unstable();
        known.dedup();
        for name in asked {
            if !known.contains(&name.as_str()) {
                self.report_usage(unknown("operator", name, "the model", &known));
            }
        }
    }

    /// Attributes of a graph without a value or a default.
    pub fn missing_attributes(&self, graph: &str) -> Vec<&str> {
        let given = |name: &str| self.arguments.attributes.iter().any(|(n, _)| n == name);
        self.graph_named(graph).map_or_else(Vec::new, |graph| {
            let missing = graph
                .attributes
                .iter()
                .filter(|a| a.default.is_none() && !a.type_spec.optional && !given(&a.name.name));
            missing.map(|a| a.name.name.as_str()).collect()
        })
    }

    /// Packs of dynamic length among the inputs of a graph.
    pub fn open_packs(&self, graph: &str) -> Vec<&str> {
        let asked = self.asked();
        let Some(graph) = self.graph_named(graph) else {
            return Vec::new();
        };
        let open = graph.inputs.iter().filter(|input| {
            let given = input.default.is_none() || asked.given.contains(&input.name.name);
            let mut shaped = self.input_shapes.iter().map(|(name, _)| name);
            given && has_open_length(graph, input) && shaped.all(|name| *name != input.name.name)
        });
        names(open)
    }

    /// Writes all messages; returns the verb's status.
    pub fn close(self, console: &mut Console) -> Status {
        let format = self.arguments.message_format;
        let mut diagnostics = self.sink.into_sorted();
        if self.origin.is_some() {
            let sources = &self.program.sources;
            let shown = diagnostics.into_iter().map(|diagnostic| match &self.held {
                Some(_) => nodes::of_memory(diagnostic, sources),
                None => nodes::with_node(diagnostic, sources),
            });
            diagnostics = shown.collect();
        }
        if self.arguments.verbose {
            for note in &self.notes {
                console.write(&format!("note: {}\n", skript_host::one_line(note)));
            }
        }
        render(&diagnostics, &self.program.sources, format, console);
        if format == MessageFormat::Human {
            let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
            match errors.count() {
                0 => {}
                1 => console.write("1 error\n"),
                n => console.write(&format!("{n} errors\n")),
            }
        }
        self.status
    }
}

/// The failure of a verb, with at least one message.
#[derive(Debug)]
pub struct Stopped(Vec<Diagnostic>);

impl Stopped {
    /// The message of the first diagnostic.
    pub fn message(&self) -> &str {
        self.0.first().map_or("", |d| &d.message)
    }

    /// Whether the compiler does not support the model.
    pub fn is_not_compiled(&self) -> bool {
        self.0.first().is_some_and(|d| d.code == &NOT_COMPILED)
    }
}

impl From<Diagnostic> for Stopped {
    fn from(diagnostic: Diagnostic) -> Self {
        Stopped(vec![diagnostic])
    }
}

impl From<Box<Diagnostic>> for Stopped {
    fn from(diagnostic: Box<Diagnostic>) -> Self {
        Stopped::from(*diagnostic)
    }
}

impl From<Vec<Diagnostic>> for Stopped {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Stopped(diagnostics)
    }
}

/// A message without a model.
pub fn say(diagnostic: Diagnostic, format: MessageFormat, console: &mut Console) {
    render(&[diagnostic], &SourceMap::default(), format, console);
}

/// An internal error.
pub fn internal(message: &str) -> Diagnostic {
    let message = match crate::panics::take_last() {
        Some(panic) => format!("{message}: {panic}"),
        None => message.to_string(),
    };
    Diagnostic::without_location(&INTERNAL, message)
        .with_help("this is a defect of skript, not of the model; please report it with the model")
}

/// The operators that a user's kernel can be bound to, by qualified name, and whether they have a body.
fn operators(program: &Program) -> Vec<(String, bool)> {
    let operators = program.modules.values().flat_map(|module| {
        module.definitions.iter().filter(|d| d.kind == DefinitionKind::Operator).map(|d| {
            let body = [BlockKind::Lower, BlockKind::Compose].into_iter().any(|kind| d.has_block(kind));
            (format!("{}.{}", module.name, d.name.name), body)
        })
    });
    operators.collect()
}

fn names<'d>(declarations: impl IntoIterator<Item = &'d Declaration>) -> Vec<&'d str> {
    let names = declarations.into_iter().map(|d| d.name.name.as_str());
    names.collect()
}
