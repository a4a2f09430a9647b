// SPDX-License-Identifier: Apache-2.0
//! Writes the gradient of a model: a graph, the operators of the model, and their adjoints.

use crate::accumulate::{Accumulated, Call, accumulate, tensors};
use crate::constant_extents::with_static_extents;
use crate::flatten::{Graph, Tensor, TensorId, flatten};
use crate::names::Names;
use crate::operator::{constant, operator, type_text};
use crate::refusal::{Refusal, internal, request};
use crate::training::{Steps, Training, steps};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::model::{ConstantData, Extent, Function, FunctionId, Model, TensorType, ValueId};
use skript_frontend::source::SourceMap;
use skript_semantics::{Scalar, ScalarKind};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// The gradients to compute.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The output to differentiate; `None`: the only one.
    pub of: Option<String>,
    /// Inputs and variables by name; `variables` means all variables.
    pub wrt: Vec<String>,
    /// An optimizer that updates the variables; the gradients are then not outputs, and all outputs of the model are.
    pub training: Option<Training>,
}

/// The gradient of a model.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The document, not formatted.
    pub text: String,
    /// The variables of the model, by their positions, with their names in the document.
    pub variables: Vec<(usize, String)>,
    /// The name of the input that scales the gradients, if the output is not a scalar.
    pub seed: Option<String>,
    /// The modules that the document imports.
    pub imports: Vec<String>,
}

/// Differentiates a model.
///
/// # Errors
/// The reasons why it cannot be differentiated, or the request does not fit it.
pub fn gradient(model: &Model, sources: &SourceMap, wanted: &Request) -> Result<Gradient, Vec<Diagnostic>> {
    written(model, sources, wanted).map_err(|refusals| refusals.into_iter().map(|refusal| *refusal).collect())
}

fn written(model: &Model, sources: &SourceMap, wanted: &Request) -> Result<Gradient, Vec<Refusal>> {
    let mut model = with_static_extents(model);
    let mut graph = flatten(&model)?;
    model.functions.append(&mut graph.selections);
    let model = &model;
    let (of_name, of) = output(&graph, wanted.of.as_deref())?;
    let wrt = requested(&graph, wanted)?;
    let of_type = tensor(&graph, of)?.tensor.clone();
    let is_scalar = of_type.shape.iter().all(|extent| *extent == Extent::Fixed(1));
    let seed_name = graph.names.fresh(&format!("{of_name}_grad"));
    graph.tensors.push(Tensor { name: seed_name.clone(), tensor: of_type });
    let seed = graph.tensors.len() - 1;
    if is_scalar {
        graph.constants.insert(seed, ConstantData::Splat(Scalar::Real(1.0)));
    } else {
        graph.inputs.push(seed);
    }
    let names: Vec<String> =
        wrt.iter().filter_map(|id| graph.tensors.get(*id)).map(|t| t.name.clone()).collect();
    let gradients: Vec<String> =
        names.iter().map(|name| graph.names.fresh(&format!("{name}_grad"))).collect();
    let training = wanted.training.as_ref();
    if let Some(training) = training {
        training.check(&graph, &of_name, is_scalar, &wrt).map_err(|refusal| vec![refusal])?;
    }
    let outputs = graph.outputs.iter().map(|(_, id)| *id);
    let results = outputs.chain(graph.updates.iter().map(|(_, value)| *value));
    let kept: Vec<TensorId> = results.filter(|_| training.is_some()).collect();
    let accumulated = accumulate(model, &mut graph, of, seed, &wrt, &kept)?;
    if training.is_some() && accumulated.gradients.iter().all(Option::is_none) {
        let message = format!(
            "training would change nothing: the output `{of_name}` does not depend on {} by reals",
            listed(&names.iter().map(String::as_str).collect::<Vec<_>>())
        );
        return Err(vec![request(message)]);
    }
    let mut document =
        Document { model, sources, graph: &mut graph, names: Names::default(), forward: HashMap::new() };
    let results = Results { of: (&of_name, of), wrt: &wrt, gradients: &gradients, training };
    let (text, imports) = document.text(&accumulated, &results).map_err(|refusal| vec![refusal])?;
    let scoped = |(tensor, at): &(TensorId, usize)| graph.tensors.get(*tensor).map(|t| (*at, t.name.clone()));
    let entry = model.function(model.entry).map_or("", |entry| entry.name.as_str());
    let graph_name = format!("main.{}", results.graph_name(entry));
    let variables = graph.variables.iter().filter_map(scoped);
    let variables = variables.map(|(at, name)| (at, format!("{graph_name}.{name}"))).collect();
    Ok(Gradient { text, variables, seed: (!is_scalar).then_some(seed_name), imports })
}

/// The results of the document.
struct Results<'a> {
    /// The output to differentiate.
    of: (&'a str, TensorId),
    wrt: &'a [TensorId],
    /// The names of the gradients.
    gradients: &'a [String],
    training: Option<&'a Training>,
}

impl Results<'_> {
    fn graph_name(&self, entry: &str) -> String {
        let suffix = if self.training.is_some() { "Training" } else { "Grad" };
        format!("{}{suffix}", entry.rsplit('.').next().unwrap_or(entry))
    }
}

fn tensor(graph: &Graph, id: TensorId) -> Result<&Tensor, Vec<Refusal>> {
    graph.tensors.get(id).ok_or_else(|| vec![request("the model has no such tensor".to_owned())])
}

fn is_real(graph: &Graph, id: TensorId) -> bool {
    graph.tensors.get(id).is_some_and(|known| known.tensor.kind == ScalarKind::Real)
}

fn listed(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The output to differentiate.
fn output(graph: &Graph, of: Option<&str>) -> Result<(String, TensorId), Vec<Refusal>> {
    let names: Vec<&str> = graph.outputs.iter().map(|(name, _)| name.as_str()).collect();
    let selected = match (of, graph.outputs.as_slice()) {
        (None, [single]) => Some(single),
        (None, _) => {
            let message = format!("the model has several outputs, {}: --of selects one", listed(&names));
            return Err(vec![request(message)]);
        }
        (Some(of), outputs) => outputs.iter().find(|(name, _)| name == of),
    };
    let Some((name, id)) = selected else {
        let of = of.map_or_else(String::new, |of| format!(" `{of}`"));
        let message = format!("the model has no output{of}, only {}", listed(&names));
        return Err(vec![request(message)]);
    };
    if !is_real(graph, *id) {
        return Err(vec![request(format!("the output `{name}` is not real, so it has no gradient"))]);
    }
    Ok((name.clone(), *id))
}

/// The tensors to differentiate by.
fn requested(graph: &Graph, wanted: &Request) -> Result<Vec<TensorId>, Vec<Refusal>> {
    let updated = || graph.updates.iter().filter(|_| wanted.training.is_some());
    let is_free = |id: &TensorId| updated().all(|(variable, _)| variable != id);
    let variables = || graph.variables.iter().map(|(tensor, _)| *tensor).filter(is_free);
    let sources = || graph.sources.iter().map(|(name, _)| name.as_str());
    let mut selected: Vec<TensorId> = Vec::new();
    let mut refusals = Vec::new();
    for name in &wanted.wrt {
        let matching = sources_of(graph, name);
        match matching.as_slice() {
            [] if name == "variables" => selected.extend(variables().filter(|id| is_real(graph, *id))),
            [(_, id)] if is_real(graph, *id) => selected.push(*id),
            [_] => refusals.push(request(format!("`{name}` is not real, so it has no gradient"))),
            [] => {
                let all: Vec<&str> = sources().collect();
                let message = format!("the model has no input or variable `{name}`, only {}", listed(&all));
                refusals.push(request(message));
            }
            several => {
                let all: Vec<&str> = several.iter().map(|(name, _)| name.as_str()).collect();
                refusals.push(request(format!("`{name}` may be {}; write one of these names", listed(&all))));
            }
        }
    }
    let mut seen = HashSet::new();
    selected.retain(|id| seen.insert(*id));
    if selected.is_empty() && refusals.is_empty() {
        refusals.push(request(
            "the model has only int and bool inputs and variables, which have no gradient".to_owned(),
        ));
    }
    if refusals.is_empty() { Ok(selected) } else { Err(refusals) }
}

/// The inputs and variables with this name; without one, those with this name in the document, where `a.b` and `a:b` are `a_b`.
fn sources_of<'g>(graph: &'g Graph, name: &str) -> Vec<&'g (String, TensorId)> {
    let like = |is_like: &dyn Fn(&str) -> bool| -> Vec<&(String, TensorId)> {
        graph.sources.iter().filter(|(source, _)| is_like(source)).collect()
    };
    let flat = |name: &str| name.replace(['.', ':'], "_");
    let exact = like(&|source| source == name);
    if exact.is_empty() { like(&|source| flat(source) == flat(name)) } else { exact }
}

struct Document<'a> {
    model: &'a Model,
    sources: &'a SourceMap,
    graph: &'a mut Graph,
    /// The names of operators.
    names: Names,
    /// The names of the operators of the model.
    forward: HashMap<FunctionId, String>,
}

impl Document<'_> {
    /// The text, and the modules that it imports.
    fn text(
        &mut self,
        accumulated: &Accumulated,
        results: &Results,
    ) -> Result<(String, Vec<String>), Refusal> {
        let entry = self.model.function(self.model.entry).map_or("", |entry| entry.name.as_str());
        let graph_name = self.names.fresh(&results.graph_name(entry));
        let mut operators = String::new();
        self.forward_operators(accumulated, &mut operators)?;
        let adjoints = self.adjoint_operators(accumulated, &mut operators)?;
        let sums = self.sum_operators(accumulated, &mut operators);
        let mut outputs = self.outputs(accumulated, results);
        let update = match results.training {
            Some(training) => self.update(accumulated, results, training, &mut outputs),
            None => Steps::default(),
        };
        let (of, mut text) = (results.of.0, String::new());
        update.imports.iter().for_each(|module| text.push_str(&format!("import {module};\n")));
        let title = match results.training {
            Some(Training { optimizer, .. }) => format!("\n# A step of training: `{optimizer}` reduces"),
            None => "# The gradient of".to_owned(),
        };
        let _ = writeln!(text, "{title} `{of}` of the graph `{entry}`.");
        let _ = writeln!(text, "graph {graph_name} {{");
        self.declarations(&outputs, accumulated, &mut text);
        text.push_str("    @compose {\n");
        for call in &accumulated.calls {
            let (name, results, arguments) = self.call(call, &adjoints, &sums)?;
            let _ = writeln!(text, "        {} = {name}({});", results.join(", "), arguments.join(", "));
        }
        for (name, source) in outputs.iter().filter(|(name, source)| name != source) {
            let _ = writeln!(text, "        {name} = {source};");
        }
        text.push_str("    }\n");
        if !update.lines.is_empty() {
            text.push_str("    @update {\n");
            update.lines.iter().for_each(|line| text.push_str(&format!("        {line};\n")));
            text.push_str("    }\n");
        }
        text.push_str("}\n");
        text.push_str(&operators);
        Ok((text, update.imports))
    }

    /// The update of a training step. Removes the gradients from the outputs.
    fn update(
        &mut self,
        accumulated: &Accumulated,
        results: &Results,
        training: &Training,
        outputs: &mut Vec<(String, String)>,
    ) -> Steps {
        let gradients = outputs.split_off(outputs.len().saturating_sub(results.wrt.len()));
        let named = results.wrt.iter().zip(&accumulated.gradients).zip(gradients);
        let weights = named.filter(|((_, gradient), _)| gradient.is_some());
        let weights: Vec<(String, String)> =
            weights.map(|((weight, _), (_, source))| (self.name(*weight), source)).collect();
        let updates = self.graph.updates.iter().map(|(to, from)| (self.name(*to), self.name(*from)));
        let updates: Vec<(String, String)> = updates.collect();
        steps(training, weights, &updates, &mut self.graph.names)
    }

    /// The operators of the model.
    fn forward_operators(&mut self, accumulated: &Accumulated, text: &mut String) -> Result<(), Refusal> {
        for call in &accumulated.calls {
            let Call::Forward(at) = call else { continue };
            let Some(step) = self.graph.steps.get(*at) else { continue };
            let Some(function) = self.model.function(step.function) else { continue };
            if self.forward.contains_key(&step.function) {
                continue;
            }
            let name = self.names.fresh(last(&function.name));
            let comment = format!("From {}.", self.origin(function));
            let inputs = distinct(&step.inputs);
            text.push('\n');
            text.push_str(&operator(function, &name, &comment, &inputs, &step.outputs)?);
            self.forward.insert(step.function, name);
        }
        Ok(())
    }

    /// The adjoint operators; returns their names.
    fn adjoint_operators(
        &mut self,
        accumulated: &Accumulated,
        text: &mut String,
    ) -> Result<HashMap<usize, String>, Refusal> {
        let called = |call: &Call| match call {
            Call::Adjoint { operator, .. } => Some(*operator),
            Call::Forward(_) | Call::Sum { .. } => None,
        };
        let called: HashSet<usize> = accumulated.calls.iter().filter_map(called).collect();
        let mut names = HashMap::new();
        for (at, shared) in accumulated.operators.iter().enumerate().filter(|(at, _)| called.contains(at)) {
            let Some(function) = self.model.function(shared.function) else { continue };
            let wrt = function.values.get(shared.wrt.0 as usize).and_then(|value| value.name.clone());
            let wrt = wrt.ok_or_else(|| internal("an input without a name"))?;
            let name = self.names.fresh(&format!("{}_grad_{wrt}", last(&function.name)));
            let comment = format!("The adjoint of {} by `{wrt}`.", self.origin(function));
            let inputs: Vec<ValueId> = shared.adjoint.inputs.iter().map(|(value, _)| *value).collect();
            let outputs = [shared.adjoint.output];
            text.push('\n');
            text.push_str(&operator(&shared.adjoint.function, &name, &comment, &inputs, &outputs)?);
            names.insert(at, name);
        }
        Ok(names)
    }

    /// The operators that add adjoints, by the number of parts and their rank.
    fn sum_operators(&mut self, accumulated: &Accumulated, text: &mut String) -> HashMap<usize, String> {
        let mut names = HashMap::new();
        for call in &accumulated.calls {
            let Call::Sum { parts, .. } = call else { continue };
            if names.contains_key(&parts.len()) {
                continue;
            }
            let name = self.names.fresh(&format!("sum_of_{}", parts.len()));
            let list = |item: &dyn Fn(usize) -> String| (1..=parts.len()).map(item).collect::<Vec<String>>();
            let _ = write!(
                text,
                "\n# The sum of the adjoints of one tensor.\noperator {name} {{\n    @input {{\n        {}\n    }}\n    \
                 @output {{ z: real[s..]; }}\n    @lower {{ z[i..] = {}, i < s; }}\n}}\n",
                list(&|n| format!("x{n}: real[s..];")).join("\n        "),
                sum_text(list(&|n| format!("x{n}[i..]"))),
            );
            names.insert(parts.len(), name);
        }
        names
    }

    /// `nn.conv`, with its location if it is not an operator of the library.
    fn origin(&self, function: &Function) -> String {
        let span = function.span;
        match self.sources.get(span.file).filter(|_| !span.file.is_library()) {
            Some(file) => {
                let (line, _) = file.line_column(span.start);
                let path = file.path.file_name().unwrap_or(file.path.as_os_str()).to_string_lossy();
                format!("`{}` ({path}:{line})", function.name)
            }
            None => format!("`{}`", function.name),
        }
    }

    /// The outputs, then the gradients: their names, and the names of the tensors that they are. No other tensor has the names of
    /// the gradients.
    fn outputs(&mut self, accumulated: &Accumulated, results: &Results) -> Vec<(String, String)> {
        let computed: HashSet<TensorId> =
            accumulated.calls.iter().flat_map(|call| tensors(self.graph, call).0).collect();
        let of = (results.of.0.to_owned(), results.of.1);
        let wanted = if results.training.is_some() { self.graph.outputs.clone() } else { vec![of] };
        let mut outputs = Vec::new();
        for (wanted, id) in wanted {
            let source = self.name(id);
            let is_named = source == wanted.replace(['.', ':'], "_");
            let is_new = is_named && outputs.iter().all(|(name, _)| *name != source);
            outputs.push((if is_new { source.clone() } else { self.graph.names.fresh(&wanted) }, source));
        }
        let names = results.gradients;
        let (of, wrt) = (results.of, results.wrt);
        let mut taken = HashSet::from([of.1]);
        for ((name, like), gradient) in names.iter().zip(wrt).zip(&accumulated.gradients) {
            let id = gradient.unwrap_or_else(|| self.zeros(*like));
            if computed.contains(&id)
                && taken.insert(id)
                && let Some(known) = self.graph.tensors.get_mut(id)
            {
                known.name.clone_from(name);
            }
            outputs.push((name.clone(), self.name(id)));
        }
        outputs
    }

    /// A constant of zeros with the type of a tensor.
    fn zeros(&mut self, like: TensorId) -> TensorId {
        let real = TensorType { kind: ScalarKind::Real, shape: Vec::new() };
        let tensor = self.graph.tensors.get(like).map_or(real, |known| known.tensor.clone());
        let name = self.graph.names.fresh("zeros");
        self.graph.tensors.push(Tensor { name, tensor });
        let id = self.graph.tensors.len() - 1;
        self.graph.constants.insert(id, ConstantData::Splat(Scalar::Real(0.0)));
        id
    }

    fn name(&self, id: TensorId) -> String {
        self.graph.tensors.get(id).map_or_else(|| format!("t{id}"), |known| known.name.clone())
    }

    /// The text of an argument: a name, or a literal.
    fn argument(&self, id: TensorId) -> String {
        let constant = self.graph.constants.get(&id);
        let is_scalar = self.graph.tensors.get(id).is_some_and(|known| known.tensor.shape.is_empty());
        match constant {
            Some(data @ ConstantData::Splat(_)) if is_scalar => crate::operator::constant(data),
            _ => self.name(id),
        }
    }

    fn declarations(&self, outputs: &[(String, String)], accumulated: &Accumulated, text: &mut String) {
        let mut used: HashSet<TensorId> =
            accumulated.calls.iter().flat_map(|call| tensors(self.graph, call).1).collect();
        used.extend(accumulated.gradients.iter().flatten());
        let declared = |id: &TensorId| {
            let known = self.graph.tensors.get(*id);
            known.and_then(|known| Some(format!("{}: {}", known.name, type_text(&known.tensor)?)))
        };
        let inputs: Vec<String> = self.graph.inputs.iter().filter_map(&declared).collect();
        let variables: Vec<String> = self.graph.variables.iter().filter_map(|(id, _)| declared(id)).collect();
        let sources: HashSet<&str> = outputs.iter().map(|(_, source)| source.as_str()).collect();
        let is_named = |id: &TensorId| {
            let name = self.name(*id);
            sources.contains(name.as_str()) || used.contains(id) && self.argument(*id) == name
        };
        let constants = self.graph.constants.iter().filter(|(id, _)| is_named(id));
        let constants: Vec<String> = constants
            .filter_map(|(id, data)| Some(format!("{} = {}", declared(id)?, constant(data))))
            .collect();
        let types: HashMap<&str, &TensorType> =
            self.graph.tensors.iter().map(|known| (known.name.as_str(), &known.tensor)).collect();
        let output = |(name, source): &(String, String)| {
            Some(format!("{name}: {}", type_text(types.get(source.as_str())?)?))
        };
        let outputs: Vec<String> = outputs.iter().filter_map(output).collect();
        let blocks =
            [("input", inputs), ("variable", variables), ("constant", constants), ("output", outputs)];
        for (block, items) in blocks.into_iter().filter(|(_, items)| !items.is_empty()) {
            let _ = writeln!(text, "    @{block} {{");
            for item in items {
                let _ = writeln!(text, "        {item};");
            }
            text.push_str("    }\n");
        }
    }

    /// The operator, results and arguments of a call.
    fn call(
        &self,
        call: &Call,
        adjoints: &HashMap<usize, String>,
        sums: &HashMap<usize, String>,
    ) -> Result<(String, Vec<String>, Vec<String>), Refusal> {
        let (results, arguments) = tensors(self.graph, call);
        let operator = match call {
            Call::Forward(at) => {
                self.graph.steps.get(*at).and_then(|step| self.forward.get(&step.function)).cloned()
            }
            Call::Adjoint { operator, .. } => adjoints.get(operator).cloned(),
            Call::Sum { parts, .. } => sums.get(&parts.len()).cloned(),
        };
        let results = results.iter().map(|id| self.name(*id)).collect();
        let arguments = arguments.iter().map(|id| self.argument(*id)).collect();
        let operator = operator.ok_or_else(|| internal("a call without an operator"))?;
        Ok((operator, results, arguments))
    }
}

/// The terms in a sum; groups in parentheses, so that the number of operators in sequence is within the limit of the parser.
fn sum_text(mut terms: Vec<String>) -> String {
    const GROUP: usize = 64;
    while terms.len() > GROUP {
        terms = terms.chunks(GROUP).map(|group| format!("({})", group.join(" + "))).collect();
    }
    terms.join(" + ")
}

fn distinct(values: &[ValueId]) -> Vec<ValueId> {
    let mut seen = HashSet::new();
    values.iter().copied().filter(|value| seen.insert(*value)).collect()
}

/// The name without its module, and without the underscore of a private operator.
fn last(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name).trim_start_matches('_')
}
