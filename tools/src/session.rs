// SPDX-License-Identifier: Apache-2.0
//! Loads and composes the model of a command, and collects all diagnostics.

mod composition;
mod name_errors;
mod open_shapes;
mod record;
mod weights;

use std::path::Path;

use indexmap::IndexMap;
use skript::{Document, Model};
use skript_frontend::ast::{BlockKind, Declaration, Definition, DefinitionKind};
use skript_frontend::check::{Soundness, called};
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, INTERNAL, INTRINSIC};
use skript_frontend::diagnostics::{Diagnostic, Severity, Sink};
use skript_frontend::program::Program;
use skript_frontend::source::SourceMap;
use skript_host::format::is_onnx_model;
use skript_semantics::IntType;
use skript_tensor::ElementType;

use crate::command_line::{CallArguments, InputArgument, IntrinsicArgument, MessageFormat, ModelArguments};
use crate::console::{Console, Status};
use crate::inputs;
use crate::render::render;
pub use crate::stopped::Stopped;
use crate::{foreign, onnx_model};
use name_errors::unknown;
pub use name_errors::{repeated, twice};
use open_shapes::{WholeShape, has_open_length, may_be_main, whole_shapes};
pub use weights::Weights;

/// The inputs with a default or an optional type that are passed, and those that are not.
#[derive(Clone)]
struct PassedInputs {
    given: Vec<String>,
    absent: Vec<String>,
    pack_lengths: IndexMap<String, usize>,
}

/// The model of a command, and its diagnostics, which are written in source order when the session ends.
pub struct Session<'a> {
    pub document: Document,
    /// Notes that `--verbose` prints.
    notes: Vec<String>,
    input_shapes: Vec<WholeShape>,
    arguments: &'a ModelArguments,
    sink: Sink,
    status: Status,
}

impl<'a> Session<'a> {
    /// Loads and checks the model. Callers must check [`Session::status`] before they continue.
    pub fn open(model: &Path, arguments: &'a ModelArguments) -> Self {
        Session::open_with(model, arguments, None)
    }

    /// Like [`Session::open`], for a call with these inputs. An ONNX model is imported for their shapes.
    pub fn open_for_call(model: &Path, arguments: &'a ModelArguments, inputs: &[InputArgument]) -> Self {
        Session::open_with(model, arguments, Some(inputs))
    }

    fn open_with(model: &Path, arguments: &'a ModelArguments, call: Option<&[InputArgument]>) -> Self {
        let limits = arguments.limits.in_force();
        let (document, mut shapes, is_read) = match document(model, arguments, call) {
            Ok((document, shapes)) => (document, shapes, true),
            Err(wrong) => (Document::refused(wrong, &limits), Vec::new(), false),
        };
        for (name, _) in &mut shapes {
            *name = document.origin().map_or(name.as_str(), |origin| origin.input(name)).to_owned();
        }
        let mut session = Session {
            notes: document
                .is_for_call()
                .then(|| onnx_model::note(document.constants()))
                .into_iter()
                .collect(),
            input_shapes: shapes,
            arguments,
            sink: Sink::default(),
            status: Status::Done,
            document,
        };
        let problems = session.document.problems().to_vec();
        let diagnostics: Vec<Diagnostic> = problems.into_iter().map(|p| p.into_diagnostic()).collect();
        session.report_all(diagnostics.into());
        if session.document.origin().is_some() && arguments.int.0 != IntType::I64 {
            let text =
                "--int is not for ONNX models, whose ints wrap around at the widths of their own types";
            session.report_usage(Diagnostic::without_location(&COMMAND_LINE_NAME, text));
        }
        for intrinsic in arguments.intrinsics.iter().filter(|_| is_read) {
            session.bind(intrinsic);
        }
        session
    }

    /// The arguments with the names of the graph; inputs of an imported model may have their ONNX names. Inputs whose values the
    /// model was imported for are omitted.
    pub fn named(&self, inputs: &[InputArgument]) -> Vec<InputArgument> {
        let graph_name =
            |name: &str| self.document.origin().map_or(name, |origin| origin.input(name)).to_owned();
        let named = inputs.iter().cloned().map(|argument| match argument {
            InputArgument::Files { name, files } => InputArgument::Files { name: graph_name(&name), files },
            InputArgument::Random { name, seed } => InputArgument::Random { name: graph_name(&name), seed },
            archive @ InputArgument::Archive(_) => archive,
        });
        named
            .filter(|argument| {
                let mut names = inputs::named(std::slice::from_ref(argument));
                !names.any(|name| self.is_constant(name))
            })
            .collect()
    }

    /// The name of an input in the ONNX model that was imported for this session; otherwise its name in the graph.
    pub fn imported_name<'n>(&'n self, name: &'n str) -> &'n str {
        let origin = self.document.origin().filter(|_| self.document.is_in_memory());
        let mut inputs = origin.into_iter().flat_map(|origin| &origin.inputs);
        let imported = inputs.find(|input| input.name == name);
        imported.map_or(name, |input| &input.onnx)
    }

    /// Whether the value of this input is a constant of the imported ONNX model.
    pub fn is_constant(&self, name: &str) -> bool {
        self.document.constants().iter().any(|input| input.has_name(name))
    }

    /// The element type of an input in the imported model, if it is an int type.
    pub fn ints(&self, name: &str) -> Option<ElementType> {
        self.document.origin().and_then(|origin| origin.ints(name))
    }

    /// The names of inputs in the imported model, each with its name in the graph.
    pub fn imported_names(&self) -> Vec<(String, String)> {
        let inputs = self.document.origin().into_iter().flat_map(|origin| &origin.inputs);
        inputs.map(|input| (input.onnx.clone(), input.name.clone())).collect()
    }

    /// The most serious status so far.
    pub fn status(&self) -> Status {
        self.status
    }

    /// The maximum unpacked size of archives in bytes.
    pub fn unpacked_bytes(&self) -> u64 {
        self.arguments.limits.in_force().unpacked_bytes
    }

    fn settle(&mut self) {
        if self.status == Status::Done && self.sink.has_errors() {
            self.status = Status::Wrong;
        }
    }

    /// Adds a note for `--verbose`.
    pub fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// Prints a line for each upper bound of a dynamic dimension that was not set, because the result of the command depends on it.
    pub fn announce_bounds(&self, console: &mut Console) {
        if self.arguments.message_format == MessageFormat::Human {
            for note in self.document.notes() {
                console.write(&format!("note: {}\n", skript_host::one_line(note)));
            }
        }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.sink.report(diagnostic);
        self.settle();
    }

    pub fn report_all(&mut self, stopped: Stopped) {
        for diagnostic in stopped.into_diagnostics() {
            if diagnostic.code == &COMMAND_LINE_NAME {
                self.report_usage(diagnostic)
            } else {
                self.report(diagnostic)
            }
        }
    }

    /// Reports an error in the command line.
    pub fn report_usage(&mut self, diagnostic: Diagnostic) {
        self.sink.report(diagnostic);
        self.status = Status::Usage;
    }

    /// Binds the kernels of the command line to operators.
    fn bind(&mut self, intrinsic: &IntrinsicArgument) {
        let IntrinsicArgument { operator, symbol, library } = intrinsic;
        let is_known = |name: &str| skript_intrinsics::names().any(|known| known == name);
        // If the program could not be read, its operators are incomplete.
        if !is_known(operator) && self.status != Status::Wrong {
            let operators = operators(self.document.program());
            let declared = operators.iter().find(|(name, _)| name == operator);
            let wrong =
                match declared {
                    None => {
                        let without = operators.iter().filter(|(_, body)| !body);
                        let names: Vec<&str> =
                            without.map(|(name, _)| name.as_str()).filter(|name| !is_known(name)).collect();
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
        self.document.graph_definitions()
    }

    fn graph_named(&self, name: &str) -> Option<&Definition> {
        let program = self.document.program();
        let (_, definition) = program.definition(&program.main, name)?;
        (definition.kind == DefinitionKind::Graph).then_some(definition)
    }

    /// The graph named on the command line, otherwise the first graph.
    pub fn graph(&self) -> Option<&Definition> {
        match &self.arguments.graph {
            Some(name) => self.graph_named(name),
            None => self.graphs().next(),
        }
    }

    /// The graphs to check: the graph named on the command line, otherwise the first graph and all other graphs that are not invoked
    /// and whose inputs determine enough to be run.
    pub fn possible_graphs(&self) -> Vec<String> {
        let named = self.arguments.graph.is_some();
        let first = self.graph().map(|d| d.name.name.clone());
        let program = self.document.program();
        let called = called(program);
        let others = self.graphs().skip(1).filter(|graph| {
            let called = called.contains(&(program.main.as_str(), graph.name.name.as_str()));
            !named && !called && may_be_main(graph)
        });
        first.into_iter().chain(others.map(|d| d.name.name.clone())).collect()
    }

    /// The graphs for which no errors were reported so far.
    pub fn sound_graphs(&self, graphs: Vec<String>) -> Vec<String> {
        let soundness = Soundness::new(self.document.program(), &self.sink);
        graphs.into_iter().filter(|graph| soundness.is_sound(graph)).collect()
    }

    /// Reports names on the command line that the model does not have.
    pub fn check_names<'n>(&mut self, inputs: impl Iterator<Item = &'n str>) {
        let selected = self.graph().map(|graph| graph.name.name.clone());
        self.check_names_of(selected.as_slice(), inputs);
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
        let marked = arguments.absent_inputs.iter().chain(&arguments.given_inputs).map(String::as_str);
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
    /// Reports errors, and returns `None` after them.
    pub fn compose_with_arrays(&mut self, arguments: &CallArguments) -> Option<(Model, inputs::Arrays)> {
        let given = &self.named(&arguments.inputs);
        if self.status == Status::Done {
            self.check_names(inputs::named(given));
        }
        if self.status != Status::Done {
            return None;
        }
        let model = self.compose_measured(given)?;
        let given = inputs::or_random(model.ir(), given);
        let arrays = inputs::prepare(self, &model, &given, Weights::from(&arguments.weights))?;
        Some((model, arrays))
    }

    /// Reports operators on the command line that the model does not invoke.
    pub fn check_operators(&mut self, model: &Model, requested: &[String]) {
        let entry = model.ir().entry.0 as usize;
        let operators = model.ir().functions.iter().enumerate().filter(|(id, _)| *id != entry);
        let names = operators.map(|(_, f)| f.name.as_str());
        // Excludes functions of the composer, which are not in a module.
        let mut known: Vec<&str> = names.filter(|name| name.contains('.')).collect();
        known.sort_unstable();
        known.dedup();
        for name in requested {
            if !known.contains(&name.as_str()) {
                self.report_usage(unknown("operator", name, "the model", &known));
            }
        }
    }

    /// The attributes of a graph that have neither a value nor a default.
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

    /// The inputs of a graph that are packs of dynamic length.
    pub fn open_packs(&self, graph: &str) -> Vec<&str> {
        let passed = self.requested();
        let Some(graph) = self.graph_named(graph) else {
            return Vec::new();
        };
        let open = graph.inputs.iter().filter(|input| {
            let given = input.default.is_none() || passed.given.contains(&input.name.name);
            let mut shaped = self.input_shapes.iter().map(|(name, _)| name);
            given && has_open_length(graph, input) && shaped.all(|name| *name != input.name.name)
        });
        names(open)
    }

    /// Writes all diagnostics; returns the status of the command.
    pub fn close(self, console: &mut Console) -> Status {
        let format = self.arguments.message_format;
        let diagnostics = self.sink.into_sorted().into_iter();
        let diagnostics: Vec<Diagnostic> = diagnostics.map(|d| self.document.shown(d)).collect();
        if self.arguments.verbose {
            for note in &self.notes {
                console.write(&format!("note: {}\n", skript_host::one_line(note)));
            }
        }
        render(&diagnostics, &self.document.program().sources, format, console);
        print_count(&diagnostics, format, console);
        self.status
    }
}

/// Opens the model; also returns the shapes of inputs for its composition.
///
/// # Errors
/// The reasons why the model cannot be opened.
fn document(
    model: &Path,
    arguments: &ModelArguments,
    call: Option<&[InputArgument]>,
) -> Result<(Document, Vec<WholeShape>), Vec<Diagnostic>> {
    if let Some(refusal) = foreign::refusal(model) {
        return Err(vec![refusal]);
    }
    let limits = arguments.limits.in_force();
    if is_onnx_model(model) {
        // The import makes these shapes static.
        return Ok((onnx_model::open(model, arguments, call, &limits)?, Vec::new()));
    }
    let usage = |text: String| vec![Diagnostic::without_location(&COMMAND_LINE_NAME, text)];
    if !(arguments.import.bounds.is_empty() && arguments.import.constants.is_empty()) {
        return Err(usage("--bound and --constant are for ONNX models".to_owned()));
    }
    let shapes = whole_shapes(&arguments.input_shapes).map_err(usage)?;
    Ok((Document::open(model, arguments.edition.map(Into::into), &limits), shapes))
}

/// Prints the number of errors below the messages, unless the output is for programs.
pub fn print_count(diagnostics: &[Diagnostic], format: MessageFormat, console: &mut Console) {
    if format == MessageFormat::Human {
        match diagnostics.iter().filter(|d| d.severity == Severity::Error).count() {
            0 => {}
            1 => console.write("1 error\n"),
            n => console.write(&format!("{n} errors\n")),
        }
    }
}

/// Writes a diagnostic that does not refer to a model.
pub fn say(diagnostic: Diagnostic, format: MessageFormat, console: &mut Console) {
    render(&[diagnostic], &SourceMap::default(), format, console);
}

/// Prints the message of work that does not stop.
pub fn reporter(format: MessageFormat) -> impl Fn(Diagnostic) + Send + 'static {
    move |diagnostic| say(diagnostic, format, &mut Console::stderr())
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

/// The qualified names of all operators, and whether they have a body. User kernels are bound to operators without one.
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
