// SPDX-License-Identifier: Apache-2.0
//! Composes the instances of operators, starting with the graph. Methods of [`Composer`] invoke each other: a statement may
//! invoke an operator, whose instance has statements.

use super::ComposeOptions;
use super::context::Context;
use super::operators::OperatorRef;
use crate::ast::DefinitionKind;
use crate::compose::declarations::label_spellings::add_spellings;
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::quantization::quantizer::Quantizer;
use crate::diagnostics::codes::{BRANCH_RESULTS, GRAPH_PARAMETER, GRAPH_UNKNOWN};
use crate::diagnostics::{Diagnostic, Sink};
use crate::eval::{TypeName, Value};
use crate::limits::Limits;
use crate::model::{self, FunctionId, Model, Variable, VariableId};
use crate::program::Program;
use indexmap::IndexMap;

pub(crate) struct Composer<'p, 's> {
    pub(super) context: Context<'p, 's>,
    /// Quantizers for the next instance.
    pub(crate) passed_quantizers: Vec<Quantizer<'p>>,
    /// Whether branches differ in extents that the options fixed; then the graph as declared must allow that.
    pub(crate) shapes_decide: bool,
    /// The types of the graph's tensors, if only a part of the graph can be composed.
    pub known: Option<&'s mut Vec<model::Value>>,
}

impl<'p, 's> Composer<'p, 's> {
    pub(super) fn new(
        program: &'p Program,
        limits: &'p Limits,
        options: &'s ComposeOptions,
        sink: &'s mut Sink,
    ) -> Self {
        let context = Context::new(program, limits, options, sink);
        Composer { context, passed_quantizers: Vec::new(), shapes_decide: false, known: None }
    }

    pub(super) fn graph(mut self) -> Option<Model> {
        let entry = self.entry()?;
        self.model_of(entry)
    }

    /// The model with this graph as its entry.
    pub(super) fn model_of(mut self, entry: OperatorRef<'p>) -> Option<Model> {
        let errors = self.context.error_count();
        let arguments = self.arguments(&entry);
        let composed = self.instantiate(entry, &arguments, true);
        if self.context.error_count() > errors {
            return None;
        }
        let id = composed.ok()?;
        if self.shapes_decide && !self.branches_agree_as_declared() {
            return None;
        }
        self.finish(entry, id)
    }

    /// The graph that the options name, or the first graph.
    fn entry(&mut self) -> Option<OperatorRef<'p>> {
        let program = self.context.program;
        let (module, main) = program.modules.get_key_value(&program.main)?;
        let mut graphs = main.definitions.iter().filter(|d| d.kind == DefinitionKind::Graph);
        let Some(name) = &self.context.options.graph else {
            return graphs.next().map(|definition| OperatorRef { definition, module });
        };
        if let Some((module, definition)) = program.definition(module, name)
            && definition.kind == DefinitionKind::Graph
        {
            return Some(OperatorRef { definition, module });
        }
        let names: Vec<&str> = graphs.map(|d| d.name.name.as_str()).collect();
        let diagnostic = Diagnostic::without_location(&GRAPH_UNKNOWN, format!("there is no graph `{name}`"));
        self.context.report(diagnostic.with_names(name, "the graphs are", &names));
        None
    }

    /// The attributes and types of the graph in the options.
    fn arguments(&mut self, entry: &OperatorRef) -> ArgumentList {
        let definition = entry.definition;
        let options = self.context.options;
        let span = definition.name.span;
        let mut list = ArgumentList { invocation: span, ..ArgumentList::default() };
        let names: Vec<&str> = definition.attributes.iter().map(|a| a.name.name.as_str()).collect();
        for (name, value) in &options.attributes {
            if !names.contains(&name.as_str()) {
                let graph = &definition.name.name;
                let message = format!("graph `{graph}` has no attribute `{name}`");
                let diagnostic = Diagnostic::without_location(&GRAPH_PARAMETER, message);
                self.context.report(diagnostic.with_names(name, "its attributes are", &names));
            }
            list.attributes.insert(name.clone(), (Value::from_attribute(value), span));
        }
        let types = options.types.iter();
        list.types.extend(types.map(|(name, kind)| (name.clone(), TypeName::Scalar(*kind))));
        list
    }

    /// Whether branches may differ in extents that callers fixed: they may if these extents are dynamic in the graph as
    /// declared.
    fn branches_agree_as_declared(&mut self) -> bool {
        let declared = ComposeOptions { input_shapes: IndexMap::new(), ..self.context.options.clone() };
        let mut sink = Sink::default();
        Composer::new(self.context.program, self.context.limits, &declared, &mut sink).graph();
        let differing: Vec<_> =
            sink.into_sorted().into_iter().filter(|d| d.code.id == BRANCH_RESULTS.id).collect();
        let agree = differing.is_empty();
        for diagnostic in differing {
            self.context.report(diagnostic);
        }
        agree
    }

    /// Names the variables, and resolves updates and quantization of the entry.
    fn finish(self, entry: OperatorRef<'p>, id: FunctionId) -> Option<Model> {
        let Context { operators, options, mut functions, infos, defaults, .. } = self.context;
        let root = operators.qualified(&entry);
        let info = infos.get(id.0 as usize)?;
        let full = |path: &str, absolute: bool| {
            if absolute { path.to_string() } else { format!("{root}.{path}") }
        };
        let variables = info.captures.iter().map(|capture| Variable {
            name: full(&capture.path, capture.absolute),
            aliases: capture.aliases.iter().map(|a| full(a, capture.absolute)).collect(),
            tensor: capture.tensor.clone(),
            numbers: options.numbers,
            span: capture.span,
        });
        let mut variables: Vec<Variable> = variables.collect();
        add_spellings(&mut variables, &root);
        let count = u32::try_from(variables.len()).ok()?;
        let function = functions.get_mut(id.0 as usize)?;
        function.capture_variables = (0..count).map(VariableId).collect();
        let updates = function
            .updates
            .iter()
            .map(|(capture, value)| Some((VariableId(u32::try_from(*capture).ok()?), *value)));
        let updates = updates.collect::<Option<Vec<_>>>()?;
        functions.iter_mut().for_each(|f| f.numbers = options.numbers);
        let mut model = Model {
            entry: id,
            functions,
            variables,
            updates,
            quantization: info.quantization.clone(),
            defaults,
            numbers: options.numbers,
        };
        model.widen(&|id| infos.get(id.0 as usize).is_some_and(|i| i.is_composite));
        model.store(&options.storage);
        Some(model)
    }
}
