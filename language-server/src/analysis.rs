// SPDX-License-Identifier: Apache-2.0
//! Analysis of a model by the frontend: modules, diagnostics, and tensors with their shapes.

use crate::names::Names;
use crate::positions::Lines;
use crate::workspace::is_file;
use lsp_types::Range;
use skript_frontend::ast::{Definition, DefinitionKind, Module};
use skript_frontend::check::{Soundness, check_program};
use skript_frontend::compose::{ComposeOptions, compose, inferred_tensors};
use skript_frontend::diagnostics::codes::{MODULE_MISSING, NO_GRAPH, UNREADABLE};
use skript_frontend::diagnostics::{Diagnostic, Severity, Sink};
use skript_frontend::limits::Limits;
use skript_frontend::model::{Extent, Value};
use skript_frontend::program::Program;
use skript_frontend::source::{FileId, Span};
use skript_frontend::source_files::load_program_and_library;
use skript_frontend::syntax::StatementCache;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::SystemTime;

pub(crate) struct Analysis {
    main: PathBuf,
    pub(crate) program: Program,
    /// The statements of the model's files, for the next version of them.
    statements: Rc<StatementCache>,
    /// The diagnostics of loading, until the model is checked.
    loaded: RefCell<Sink>,
    checked: OnceCell<Checked>,
    /// The tensors of the last analysis that was checked.
    tensors_before: Rc<Tensors>,
    /// Line tables by file, built on demand.
    lines: RefCell<BTreeMap<FileId, Rc<Lines>>>,
    /// The files of the model with their times and sizes. `None` if a file may be missing, or be newer than the text that was
    /// read.
    files: Option<Vec<(PathBuf, Stamp)>>,
}

/// The results of the check and of the composition.
struct Checked {
    diagnostics: Vec<Diagnostic>,
    tensors: Rc<Tensors>,
}

/// The composed tensors of the first graph with default attribute values, by name.
type Tensors = HashMap<String, Value>;

/// The time of the last change of a file, and its size; `None` for a missing file.
type Stamp = Option<(SystemTime, u64)>;

fn stamp(path: &Path) -> Stamp {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

impl Analysis {
    /// Loads a model. `before` is an earlier analysis of it.
    pub(crate) fn new(
        main: &Path,
        open: &dyn Fn(&Path) -> Option<String>,
        before: Option<&Analysis>,
    ) -> Analysis {
        // Texts without a file read no files, and WebAssembly has no clock.
        let begin = is_file(main).then(SystemTime::now);
        let mut sink = Sink::default();
        let open = |path: &Path| open(path).map(String::into_bytes);
        let statements = before.map_or_else(Rc::default, |before| Rc::clone(&before.statements));
        let program = load_program_and_library(main, None, &Limits::default(), &mut sink, &open, &statements);
        let files = program.sources.files().filter(|(file, _)| !file.is_library());
        let files: Vec<_> = files.map(|(_, file)| (file.path.clone(), stamp(&file.path))).collect();
        let is_complete =
            !sink.diagnostics().iter().any(|d| d.code.id == MODULE_MISSING.id || d.code.id == UNREADABLE.id);
        // A file that was saved meanwhile may have been read before.
        let is_older = |(_, stamp): &(PathBuf, Stamp)| {
            stamp.is_none_or(|(changed, _)| begin.is_some_and(|begin| changed < begin))
        };
        let files = (is_complete && files.iter().all(is_older)).then_some(files);
        let tensors_before = before.map_or_else(Rc::default, Analysis::latest_tensors);
        let (loaded, lines, checked) = (RefCell::new(sink), RefCell::default(), OnceCell::new());
        Analysis { main: main.to_owned(), program, statements, loaded, lines, files, checked, tensors_before }
    }

    /// Checks the model, and composes it if every attribute has a default; once, when this is needed first.
    fn checked(&self) -> &Checked {
        self.checked.get_or_init(|| {
            let (program, limits, mut sink) = (&self.program, Limits::default(), self.loaded.take());
            check_program(program, &mut sink);
            let mut tensors: Vec<Value> = Vec::new();
            if let Some(graph) = first_graph(program).filter(|graph| has_all_defaults(graph)) {
                let mut model = None;
                if !sink.has_errors() || Soundness::new(program, &sink).is_sound(&graph.name.name) {
                    model = compose(program, &ComposeOptions::default(), &limits, &mut sink);
                }
                tensors = match model {
                    Some(mut model) => {
                        let entry = model.functions.get_mut(model.entry.0 as usize);
                        entry.map_or_else(Vec::new, |entry| std::mem::take(&mut entry.values))
                    }
                    None => {
                        let errors = sink.diagnostics().iter().filter(|d| d.severity == Severity::Error);
                        let errors: Vec<Span> = errors.filter_map(|d| d.span).collect();
                        inferred_tensors(program, &errors, &limits)
                    }
                };
            }
            // Modules other than `main.sknd` may lack a graph.
            let is_model = self.main.file_name().is_some_and(|name| name == "main.sknd");
            let mut diagnostics = sink.into_sorted();
            diagnostics.retain(|d| is_model || d.code.id != NO_GRAPH.id);
            // The first tensor of a name counts.
            let named = tensors.into_iter().rev().filter_map(|t| Some((t.name.clone()?, t)));
            Checked { diagnostics, tensors: Rc::new(named.collect()) }
        })
    }

    /// The diagnostics of all files.
    pub(crate) fn diagnostics(&self) -> &[Diagnostic] {
        &self.checked().diagnostics
    }

    /// The tensors of this analysis if it is checked, else those of the last one that was.
    fn latest_tensors(&self) -> Rc<Tensors> {
        Rc::clone(self.checked.get().map_or(&self.tensors_before, |checked| &checked.tensors))
    }

    /// Whether the files that it read are unchanged, except those whose texts are open.
    pub(crate) fn is_current(&self, is_open: &dyn Fn(&Path) -> bool) -> bool {
        let is_same = |(path, read): &(PathBuf, Stamp)| is_open(path) || stamp(path) == *read;
        self.files.as_ref().is_some_and(|files| files.iter().all(is_same))
    }

    /// The main file of the model.
    pub(crate) fn main(&self) -> &Path {
        &self.main
    }

    /// The module in a file, with its key.
    pub(crate) fn module_of(&self, path: &Path) -> Option<(&str, &Module)> {
        let mut files = self.program.sources.files();
        let (file, _) = files.find(|(_, file)| file.path == path)?;
        let mut modules = self.program.modules.iter();
        let (key, module) = modules.find(|(_, module)| module.file == file)?;
        Some((key, module))
    }

    /// The names of the module in a file.
    pub(crate) fn names_of(&self, file: FileId) -> Option<Names<'_>> {
        let (key, module) = self.program.modules.iter().find(|(_, module)| module.file == file)?;
        Some(Names::new(self, key, module))
    }

    /// The source text of a module.
    pub(crate) fn text(&self, file: FileId) -> &str {
        self.program.sources.get(file).map_or("", |f| &f.text)
    }

    /// The line table of a file, built once.
    pub(crate) fn lines(&self, file: FileId) -> Rc<Lines> {
        let mut known = self.lines.borrow_mut();
        let lines = known.entry(file).or_insert_with(|| Rc::new(Lines::new(self.text(file))));
        Rc::clone(lines)
    }

    /// A span as a range of the protocol.
    pub(crate) fn range(&self, span: Span) -> Range {
        let text = self.text(span.file);
        self.lines(span.file).range(text, span.start as usize, span.end as usize)
    }

    /// The path and the text of a span's file. Files of the library have paths below `<stdlib>/`.
    pub(crate) fn location(&self, span: Span) -> Option<(&Path, &str)> {
        let file = self.program.sources.get(span.file)?;
        Some((&file.path, &file.text))
    }

    /// The composed type of a tensor of the model's graph, such as `real[1,64,~|10,54]`, where `~|10` is a dynamic extent with
    /// its upper bound, or of a pack, such as `real[2,3]..(4)`; items of different shapes are `real..(4)`.
    pub(crate) fn composed_type(&self, definition: &Definition, name: &str) -> Option<String> {
        self.type_among(&self.checked().tensors, definition, name)
    }

    /// The composed type before the last changes, if the model was not checked since: completion does not wait for it.
    pub(crate) fn latest_type(&self, definition: &Definition, name: &str) -> Option<String> {
        self.type_among(&self.latest_tensors(), definition, name)
    }

    fn type_among(&self, tensors: &Tensors, definition: &Definition, name: &str) -> Option<String> {
        let graph = first_graph(&self.program)?;
        if definition.kind != DefinitionKind::Graph || graph.name != definition.name {
            return None;
        }
        if let Some(tensor) = tensors.get(name) {
            return Some(type_text(tensor));
        }
        let items = (1..).map_while(|item: usize| tensors.get(&format!("{name}:{item}")));
        let items: Vec<&Value> = items.collect();
        let (first, others) = items.split_first()?;
        let is_uniform = others.iter().all(|item| item.tensor.shape == first.tensor.shape);
        let item = if is_uniform { type_text(first) } else { first.tensor.kind.name().to_owned() };
        Some(format!("{item}..({})", items.len()))
    }
}

/// The kind and the extents of a tensor.
fn type_text(value: &Value) -> String {
    let extents = value.tensor.shape.iter().map(|extent| match extent {
        Extent::Fixed(n) => n.to_string(),
        Extent::Dynamic { bound, .. } => format!("~|{bound}"),
    });
    let extents: Vec<String> = extents.collect();
    format!("{}[{}]", value.tensor.kind.name(), extents.join(","))
}

fn first_graph(program: &Program) -> Option<&Definition> {
    let definitions = &program.main_module()?.definitions;
    definitions.iter().find(|d| d.kind == DefinitionKind::Graph)
}

/// Whether a graph can be composed without attribute values.
fn has_all_defaults(graph: &Definition) -> bool {
    let given = graph.attributes.iter().all(|a| a.default.is_some() || a.type_spec.optional);
    given && graph.dtypes.iter().all(|t| t.default.is_some())
}
