//! From a path to a composed model, with everything that was said on the way.

use std::path::Path;

use indexmap::IndexMap;
use skript_frontend::ast::{BlockKind, Definition, DefinitionKind};
use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::codes::{
    ATTRIBUTE_TEXT, COMMAND_LINE_NAME, INTERNAL, INTRINSIC, UNREADABLE, WEIGHTS,
};
use skript_frontend::diagnostics::{Code, Diagnostic, Severity, Sink};
use skript_frontend::limits::Limits;
use skript_frontend::model::{AttributeValue, Extent, Model};
use skript_frontend::program::Program;
use skript_frontend::source::SourceMap;
use skript_frontend::source_files::{load_program, load_program_with};
use skript_semantics::Numbers;
use skript_tensor::{
    Archive, ElementType, MissingWeights, Tensor, TensorError, VariableRequest, WeightStore,
    archive, load_each,
};

use crate::attributes::attribute_value;
use crate::command_line::{
    InputArgument, IntrinsicArgument, MessageFormat, ModelArguments, QuantizeArgument,
    WeightsArgument,
};
use crate::console::{Console, Status};
use crate::inputs;
use crate::positions;
use crate::render::render;

/// Where weights are, and what stands for those that are not there.
#[derive(Clone, Copy)]
pub struct Weights<'a> {
    /// The model's own folder if `None`.
    pub folder: Option<&'a Path>,
    pub given: Option<&'a WeightsArgument>,
    /// What the verb offers to somebody whose weights are missing.
    pub remedy: &'static str,
}

impl Weights<'_> {
    /// Those that lie with the model, and no others.
    pub fn of_the_model() -> Self {
        Weights {
            folder: None,
            given: None,
            remedy: "put the file there, or all weights into a .safetensors or .npz file with the stem of the main module beside it",
        }
    }
}

/// A verb's model and its messages. Messages are written when the session ends, in source order.
pub struct Session<'a> {
    pub program: Program,
    /// The model's files, if it is packed.
    packed: Option<Archive>,
    arguments: &'a ModelArguments,
    limits: Limits,
    sink: Sink,
    status: Status,
}

impl<'a> Session<'a> {
    /// Loads and checks; look at [`Session::status`] before going on.
    pub fn open(model: &Path, arguments: &'a ModelArguments) -> Self {
        let limits = arguments.limits.in_force();
        let mut sink = Sink::default();
        let edition = arguments.edition.map(Into::into);
        let packed = archive::is_packed(model) && !model.is_dir();
        let packed = packed.then(|| Archive::open(model, limits.unpacked_bytes));
        let (program, packed) = match packed {
            None => (load_program(model, edition, &limits, &mut sink), None),
            Some(Ok(files)) => {
                let open = |path: &Path| files.read(path).map(<[u8]>::to_vec);
                let main = model.join("main.sknd");
                let program = load_program_with(&main, edition, &limits, &mut sink, &open);
                (program, Some(files))
            }
            Some(Err(error)) => {
                sink.report(Diagnostic::without_place(&UNREADABLE, error.to_string()));
                (Program::default(), None)
            }
        };
        if program.main_module().is_some() {
            check_program(&program, &mut sink);
        }
        let mut session = Session {
            program,
            packed,
            arguments,
            limits,
            sink,
            status: Status::Done,
        };
        session.settle();
        for intrinsic in &arguments.intrinsics {
            session.bind(intrinsic);
        }
        session
    }

    /// The worst that has happened so far.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Most bytes that what is packed may unpack to.
    pub fn unpacked_bytes(&self) -> u64 {
        self.limits.unpacked_bytes
    }

    fn settle(&mut self) {
        if self.status == Status::Done && self.sink.has_errors() {
            self.status = Status::Wrong;
        }
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.sink.report(diagnostic);
        self.settle();
    }

    pub fn report_all(&mut self, stopped: Stopped) {
        for diagnostic in stopped.0 {
            match diagnostic.code == &COMMAND_LINE_NAME {
                true => self.report_usage(diagnostic),
                false => self.report(diagnostic),
            }
        }
    }

    /// The command line names something that is not there.
    pub fn report_usage(&mut self, diagnostic: Diagnostic) {
        self.sink.report(diagnostic);
        self.status = Status::Usage;
    }

    /// Gives an operator the kernel that the command line names.
    fn bind(&mut self, intrinsic: &IntrinsicArgument) {
        let IntrinsicArgument {
            operator,
            symbol,
            library,
        } = intrinsic;
        let is_known = |name: &str| skript_intrinsics::names().any(|known| known == name);
        // A program that could not be read has other names than it will have.
        if !is_known(operator) && self.status != Status::Wrong {
            let operators = operators(&self.program);
            let found = operators.iter().find(|(name, _)| name == operator);
            let wrong = match found {
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
                    let message =
                        format!("operator `{operator}` has a body, so no kernel of it runs");
                    let wrong = Diagnostic::without_place(&COMMAND_LINE_NAME, message);
                    Some(wrong.with_help(
                        "leave --intrinsic, or declare the operator without @lower and @compose",
                    ))
                }
                Some((_, false)) => None,
            };
            if let Some(wrong) = wrong {
                return self.report_usage(wrong);
            }
        }
        if let Err(error) = skript_intrinsics::user::bind(operator, symbol, library) {
            self.report(Diagnostic::without_place(&INTRINSIC, error.to_string()));
        }
    }

    /// The graph that is meant: the one named, else the first.
    pub fn graph(&self) -> Option<&Definition> {
        let name = self.arguments.graph.as_deref();
        let definitions = &self.program.main_module()?.definitions;
        definitions.iter().find(|d| {
            d.kind == DefinitionKind::Graph && name.is_none_or(|name| d.name.name == name)
        })
    }

    /// Reports names of the command line that the model does not have.
    pub fn check_names<'n>(&mut self, inputs: impl Iterator<Item = &'n str>) {
        let Some(graph) = self.graph() else {
            if let Some(name) = &self.arguments.graph {
                let known = self.program.main_module().into_iter();
                let known = known.flat_map(|m| &m.definitions);
                let known = known.filter(|d| d.kind == DefinitionKind::Graph);
                let known: Vec<&str> = known.map(|d| d.name.name.as_str()).collect();
                let diagnostic = unknown("graph", name, "the main module", &known);
                self.report_usage(diagnostic);
            }
            return;
        };
        let owner = format!("graph `{}`", graph.name.name);
        let attributes: Vec<&str> = names(&graph.attributes);
        let known_inputs: Vec<&str> = names(&graph.inputs);
        let mut wrong = Vec::new();
        let inputs: Vec<&str> = inputs.collect();
        let given = self
            .arguments
            .attributes
            .iter()
            .map(|(name, _)| name.as_str());
        for name in repeated(given) {
            wrong.push(twice("--set", name));
        }
        for name in repeated(inputs.iter().copied()) {
            wrong.push(twice("--input", name));
        }
        let shaped = self.arguments.input_shapes.iter();
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
        for name in inputs {
            if !known_inputs.contains(&name) {
                wrong.push(unknown("input", name, &owner, &known_inputs));
            }
        }
        for diagnostic in wrong {
            self.report_usage(diagnostic);
        }
    }

    /// The composed model and its arrays, every input that is not given random: for verbs that measure or compare.
    /// `None` if anything is wrong, then reported.
    pub fn compose_with_arrays(
        &mut self,
        given: &[InputArgument],
        weights: Option<&WeightsArgument>,
    ) -> Option<(Model, inputs::Arrays)> {
        if self.status == Status::Done {
            self.check_names(inputs::named(given));
        }
        if self.status != Status::Done {
            return None;
        }
        let model = self.compose()?;
        let given = inputs::or_random(&model, given);
        let weights = Weights {
            given: weights,
            folder: None,
            remedy: "--weights=zero or --weights=random:SEED fills what is missing, --weights FILE takes it from a file",
        };
        let arrays = inputs::prepare(self, &model, &given, weights)?;
        Some((model, arrays))
    }

    /// Reports operators of the command line that the model does not invoke.
    pub fn check_operators(&mut self, model: &Model, asked: &[String]) {
        let functions = model.functions.iter().enumerate();
        let operators = functions.filter(|(id, _)| *id != model.entry.0 as usize);
        let mut known: Vec<&str> = operators.map(|(_, f)| f.name.as_str()).collect();
        known.sort_unstable();
        known.dedup();
        for name in asked {
            if !known.contains(&name.as_str()) {
                self.report_usage(unknown("operator", name, "the model", &known));
            }
        }
    }

    /// Attributes of the graph that need a value and have none.
    pub fn missing_attributes(&self) -> Vec<&str> {
        let given = |name: &str| self.arguments.attributes.iter().any(|(n, _)| n == name);
        self.graph().map_or_else(Vec::new, |graph| {
            let attributes = graph.attributes.iter();
            let missing = attributes
                .filter(|a| a.default.is_none() && !a.type_spec.optional && !given(&a.name.name));
            missing.map(|a| a.name.name.as_str()).collect()
        })
    }

    fn is_optional(&self, attribute: &str) -> bool {
        let graph = self.graph().into_iter();
        let mut attributes = graph.flat_map(|graph| &graph.attributes);
        attributes.any(|a| a.name.name == attribute && a.type_spec.optional)
    }

    /// Composes the graph with all of its inputs; `None` if that is reported to be impossible.
    pub fn compose(&mut self) -> Option<Model> {
        self.compose_with(Vec::new(), IndexMap::new())
    }

    /// Composes the graph for a run on these inputs: what is optional and not among them is null. An archive may hold any.
    pub fn compose_for(&mut self, given: &[InputArgument]) -> Option<Model> {
        let archive = given.iter().any(|a| matches!(a, InputArgument::Archive(_)));
        let named: Vec<&str> = inputs::named(given).collect();
        let declared = self.graph().map(|graph| names(&graph.inputs));
        let absent = declared.into_iter().flatten();
        let absent = absent.filter(|name| !archive && !named.contains(name));
        let absent = absent.map(str::to_owned).collect();
        self.compose_with(absent, inputs::pack_lengths(given))
    }

    fn compose_with(
        &mut self,
        absent_inputs: Vec<String>,
        pack_lengths: IndexMap<String, usize>,
    ) -> Option<Model> {
        let mut options = ComposeOptions {
            graph: self.arguments.graph.clone(),
            simulate_quantization: self.arguments.quantize == Some(QuantizeArgument::Simulate),
            numbers: Numbers {
                real: self.arguments.real.0,
                int: self.arguments.int.0,
            },
            absent_inputs,
            pack_lengths,
            ..ComposeOptions::default()
        };
        let arguments = self.arguments;
        options.input_shapes = arguments.input_shapes.iter().cloned().collect();
        for (name, text) in &arguments.attributes {
            match attribute_value(text) {
                Ok(AttributeValue::Null) if !self.is_optional(name) => {
                    let message =
                        format!("attribute `{name}` is not optional, so null is no value of it");
                    self.report(Diagnostic::without_place(&ATTRIBUTE_TEXT, message));
                }
                Ok(value) => {
                    options.attributes.insert(name.clone(), value);
                }
                Err(reason) => {
                    let message = format!("the value of attribute `{name}`: {reason}");
                    self.report(Diagnostic::without_place(&ATTRIBUTE_TEXT, message));
                }
            }
        }
        if self.status != Status::Done {
            return None;
        }
        let model = compose(&self.program, &options, &self.limits, &mut self.sink);
        self.settle();
        if model.is_none() && self.status == Status::Done {
            let message = "the composition ended without a result or a message";
            self.report(internal(message));
        }
        if let Some(model) = &model {
            for misfit in positions::misfits(model) {
                self.report(misfit);
            }
        }
        model.filter(|_| self.status == Status::Done)
    }

    /// Where this session's weights are.
    fn store(&self, weights: Weights) -> Result<WeightStore, TensorError> {
        let own = &self.program.folder;
        let most = self.limits.unpacked_bytes;
        let store = match (weights.folder, &self.packed) {
            (Some(path), _) => WeightStore::open(path, most)?,
            (None, Some(files)) => WeightStore::packed(files.clone()),
            (None, None) if own.as_os_str().is_empty() => {
                WeightStore::folder(Path::new("."), &self.program.main, most)?
            }
            (None, None) => WeightStore::folder(own, &self.program.main, most)?,
        };
        match weights.given {
            Some(WeightsArgument::From(path)) => Ok(store.after(WeightStore::open(path, most)?)),
            _ => Ok(store),
        }
    }

    /// The model's variables, from its folder or where the command line says. `None` if any is missing or wrong, then
    /// reported.
    pub fn variables(&mut self, model: &Model, weights: Weights) -> Option<Vec<Tensor>> {
        let missing = match weights.given {
            None | Some(WeightsArgument::From(_)) => MissingWeights::Error,
            Some(WeightsArgument::Zero) => MissingWeights::Zero,
            Some(WeightsArgument::Random(seed)) => MissingWeights::Random(*seed),
        };
        let store = match self.store(weights) {
            Ok(store) => store,
            Err(error) => {
                self.report(Diagnostic::without_place(&WEIGHTS, error.to_string()));
                return None;
            }
        };
        let mut tensors = Vec::new();
        let mut remedy = Some(weights.remedy).filter(|text| !text.is_empty());
        let requests: Vec<VariableRequest> = model
            .variables
            .iter()
            .map(|variable| VariableRequest {
                name: &variable.name,
                aliases: &variable.aliases,
                element: ElementType::run_time(variable.tensor.kind, model.numbers),
                shape: variable.tensor.shape.iter().map(Extent::bound).collect(),
            })
            .collect();
        let each = load_each(&store, &requests, missing);
        for (variable, loaded) in model.variables.iter().zip(each) {
            let error = match loaded {
                Ok(tensor) => {
                    tensors.push(tensor);
                    continue;
                }
                Err(error) => error,
            };
            let wrong = Diagnostic::error(&WEIGHTS, variable.span, error.to_string());
            // One is enough for all that are missing.
            let remedy = match error {
                TensorError::Missing { .. } => remedy.take(),
                _ => None,
            };
            self.report(match remedy {
                Some(remedy) => wrong.with_help(remedy),
                None => wrong,
            });
        }
        (self.status == Status::Done).then_some(tensors)
    }

    /// Writes all messages; the verb's status.
    pub fn close(self, console: &mut Console) -> Status {
        let format = self.arguments.message_format;
        let diagnostics = self.sink.into_sorted();
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

/// What kept a verb from its result: one message at least.
#[derive(Debug)]
pub struct Stopped(Vec<Diagnostic>);

impl Stopped {
    /// What the first diagnostic says.
    pub fn message(&self) -> &str {
        self.0.first().map_or("", |d| &d.message)
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

/// A defect of ours.
pub fn internal(message: &str) -> Diagnostic {
    let message = match crate::verbs::last_panic() {
        Some(panic) => format!("{message}: {panic}"),
        None => message.to_string(),
    };
    Diagnostic::without_place(&INTERNAL, message)
        .with_help("this is a defect of skript, not of the model; please report it with the model")
}

/// The operators that a kernel of the user's may be meant for, by their qualified names, and whether they have a body.
fn operators(program: &Program) -> Vec<(String, bool)> {
    let operators = program.modules.values().flat_map(|module| {
        let operators = module.definitions.iter();
        let operators = operators.filter(|d| d.kind == DefinitionKind::Operator);
        operators.map(|d| {
            let body = [BlockKind::Lower, BlockKind::Compose]
                .into_iter()
                .any(|kind| d.has_block(kind));
            (format!("{}.{}", module.name, d.name.name), body)
        })
    });
    operators.collect()
}

fn names(declarations: &[skript_frontend::ast::Declaration]) -> Vec<&str> {
    let names = declarations.iter().map(|d| d.name.name.as_str());
    names.collect()
}

/// Names that come more than once, each once.
fn repeated<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut counts = indexmap::IndexMap::new();
    for name in names {
        *counts.entry(name).or_insert(0) += 1;
    }
    let several = counts.into_iter().filter(|(_, count)| *count > 1);
    several.map(|(name, _)| name).collect()
}

fn twice(flag: &str, name: &str) -> Diagnostic {
    let message = format!("{flag} gives `{name}` more than once");
    Diagnostic::without_place(&COMMAND_LINE_NAME, message).with_help("leave one of them")
}

fn unknown(what: &str, name: &str, owner: &str, known: &[&str]) -> Diagnostic {
    let code: &'static Code = &COMMAND_LINE_NAME;
    let message = format!("{owner} has no {what} `{name}`");
    Diagnostic::without_place(code, message).with_names(name, "there is", known)
}
