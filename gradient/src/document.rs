// SPDX-License-Identifier: Apache-2.0
//! Writes the derivatives of a model: a graph, the operators of the model, and their adjoints or tangents.

use crate::accumulate::{Accumulated, Call, Shared, accumulate, advance, tensors};
use crate::extents::{symbol, with_static_extents};
use crate::flatten::{Graph, Tensor, TensorId, flatten, static_shapes};
use crate::intrinsics::invocation;
use crate::names::Names;
use crate::operator::{constant, extent_name, operator};
use crate::refusal::{Refusal, internal, request};
use crate::request::{Mode, Request, listed, outputs, requested};
use crate::training::{Steps, Training, steps};
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::model::{ConstantData, Extent, Function, FunctionId, Model, TensorType, ValueId};
use skript_frontend::source::SourceMap;
use skript_semantics::{Scalar, ScalarKind};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Write as _;

/// The derivatives of a model.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The document, not formatted.
    pub text: String,
    /// The variables of the model, by their positions, with their names in the document.
    pub variables: Vec<(usize, String)>,
    /// The name of the input that scales the gradients, if the output is not a scalar.
    pub seed: Option<String>,
    /// The names of the inputs with the tangents of the requested inputs and variables.
    pub tangents: Vec<String>,
    /// The modules that the document imports.
    pub imports: Vec<String>,
}

/// Differentiates a model.
///
/// # Errors
/// The reasons why it cannot be differentiated, or the request does not fit it.
pub fn gradient(model: &Model, sources: &SourceMap, wanted: &Request) -> Result<Gradient, Vec<Diagnostic>> {
    written(model, sources, wanted).map_err(|refusals| {
        let help = static_shapes(model);
        let helped = refusals.into_iter().map(|refusal| match &help {
            Some(help) if refusal.span.is_some() => refusal.with_help(help.clone()),
            _ => *refusal,
        });
        helped.collect()
    })
}

fn written(model: &Model, sources: &SourceMap, wanted: &Request) -> Result<Gradient, Vec<Refusal>> {
    let mut model = with_static_extents(model);
    let mut graph = flatten(&model)?;
    model.functions.append(&mut graph.selections);
    let of = outputs(&graph, wanted)?;
    let wrt = requested(&graph, wanted)?;
    let computed = match wanted.mode {
        Mode::Tangents => derived_forward(&model, &mut graph, &of, &wrt)?,
        Mode::Gradients | Mode::Training(_) => derived_backward(&model, &mut graph, &of, &wrt, wanted)?,
    };
    let Computed { accumulated, names, seed, tangents } = computed;
    let mut document = Document {
        model: &model,
        sources,
        graph: &mut graph,
        names: Names::default(),
        forward: HashMap::new(),
        imports: BTreeSet::new(),
    };
    let results = Results { of: &of, wrt: &wrt, names: &names, mode: &wanted.mode };
    let (text, imports) = document.text(&accumulated, &results).map_err(|refusal| vec![refusal])?;
    let scoped = |(tensor, at): &(TensorId, usize)| graph.tensors.get(*tensor).map(|t| (*at, t.name.clone()));
    let entry = model.function(model.entry).map_or("", |entry| entry.name.as_str());
    let graph_name = format!("main.{}", results.graph_name(entry));
    let named = graph.variables.iter().filter_map(scoped);
    let variables = named.map(|(at, name)| (at, format!("{graph_name}.{name}"))).collect();
    Ok(Gradient { text, variables, seed, tangents, imports })
}

/// The calls that compute derivatives.
struct Computed {
    accumulated: Accumulated,
    /// The names of the derivatives.
    names: Vec<String>,
    seed: Option<String>,
    tangents: Vec<String>,
}

fn derived_forward(
    model: &Model,
    graph: &mut Graph,
    of: &[(String, TensorId)],
    wrt: &[TensorId],
) -> Result<Computed, Vec<Refusal>> {
    let (mut names, mut tangents) = (Vec::new(), HashMap::new());
    for id in wrt {
        let known = tensor(graph, *id)?.clone();
        let name = graph.names.fresh(&format!("{}_tangent", known.name));
        graph.tensors.push(Tensor { name: name.clone(), tensor: known.tensor });
        let tangent = graph.tensors.len() - 1;
        graph.inputs.push(tangent);
        tangents.insert(*id, tangent);
        names.push(name);
    }
    let results = of.iter().map(|(name, _)| graph.names.fresh(&format!("{name}_tangent"))).collect();
    let outputs: Vec<TensorId> = of.iter().map(|(_, id)| *id).collect();
    let accumulated = advance(model, graph, &outputs, tangents)?;
    Ok(Computed { accumulated, names: results, seed: None, tangents: names })
}

fn derived_backward(
    model: &Model,
    graph: &mut Graph,
    of: &[(String, TensorId)],
    wrt: &[TensorId],
    wanted: &Request,
) -> Result<Computed, Vec<Refusal>> {
    let [(of_name, of)] = of else { return Err(vec![internal("several outputs")]) };
    let of_type = tensor(graph, *of)?.tensor.clone();
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
    let training = wanted.mode.training();
    if let Some(training) = training {
        training.check(graph, of_name, is_scalar, wrt).map_err(|refusal| vec![refusal])?;
    }
    let outputs = graph.outputs.iter().map(|(_, id)| *id);
    let results = outputs.chain(graph.updates.iter().map(|(_, value)| *value));
    let kept: Vec<TensorId> = results.filter(|_| training.is_some()).collect();
    let accumulated = accumulate(model, graph, *of, seed, wrt, &kept)?;
    if training.is_some() && accumulated.derivatives.iter().all(Option::is_none) {
        let message = format!(
            "training would change nothing: the output `{of_name}` does not depend on {} by reals",
            listed(&names.iter().map(String::as_str).collect::<Vec<_>>())
        );
        return Err(vec![request(message)]);
    }
    let seed = (!is_scalar).then_some(seed_name);
    Ok(Computed { accumulated, names: gradients, seed, tangents: Vec::new() })
}

/// The results of the document.
struct Results<'a> {
    /// The outputs to differentiate.
    of: &'a [(String, TensorId)],
    wrt: &'a [TensorId],
    /// The names of the derivatives.
    names: &'a [String],
    mode: &'a Mode,
}

impl Results<'_> {
    fn graph_name(&self, entry: &str) -> String {
        let suffix = match self.mode {
            Mode::Gradients => "Grad",
            Mode::Tangents => "Tangent",
            Mode::Training(_) => "Training",
        };
        format!("{}{suffix}", entry.rsplit('.').next().unwrap_or(entry))
    }

    fn title(&self, entry: &str) -> String {
        let of = listed(&self.of.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
        match self.mode {
            Mode::Gradients => format!("# The gradient of {of} of the graph `{entry}`."),
            Mode::Tangents => format!("# The tangents of {of} of the graph `{entry}`."),
            Mode::Training(Training { optimizer, .. }) => {
                format!("# A step of training: `{optimizer}` reduces {of} of the graph `{entry}`.")
            }
        }
    }

    /// The tensors that have the types of the derivatives.
    fn like(&self) -> Vec<TensorId> {
        match self.mode {
            Mode::Tangents => self.of.iter().map(|(_, id)| *id).collect(),
            Mode::Gradients | Mode::Training(_) => self.wrt.to_vec(),
        }
    }
}

fn tensor(graph: &Graph, id: TensorId) -> Result<&Tensor, Vec<Refusal>> {
    graph.tensors.get(id).ok_or_else(|| vec![request("the model has no such tensor".to_owned())])
}

struct Document<'a> {
    model: &'a Model,
    sources: &'a SourceMap,
    graph: &'a mut Graph,
    /// The names of operators.
    names: Names,
    /// The operators of the model: their names, and those of intrinsics with attributes.
    forward: HashMap<FunctionId, String>,
    /// The modules that the document imports.
    imports: BTreeSet<String>,
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
        let derived = self.derived_operators(accumulated, results.mode, &mut operators)?;
        let sums = self.sum_operators(accumulated, &mut operators);
        let mut outputs = self.outputs(accumulated, results);
        let update = match results.mode.training() {
            Some(training) => self.update(accumulated, results, training, &mut outputs),
            None => Steps::default(),
        };
        let mut text = String::new();
        self.imports.extend(update.imports);
        self.imports.iter().for_each(|module| text.push_str(&format!("import {module};\n")));
        if !self.imports.is_empty() {
            text.push('\n');
        }
        text.push_str(&results.title(entry));
        text.push('\n');
        let _ = writeln!(text, "graph {graph_name} {{");
        self.declarations(&outputs, accumulated, &mut text);
        text.push_str("    @compose {\n");
        for call in &accumulated.calls {
            let (name, results, arguments) = self.call(call, &derived, &sums)?;
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
        Ok((text, self.imports.iter().cloned().collect()))
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
        let named = results.wrt.iter().zip(&accumulated.derivatives).zip(gradients);
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
            if let Some((module, invocation)) = invocation(function) {
                self.imports.insert(module);
                self.forward.insert(step.function, invocation);
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

    /// The operators of derivatives; returns their names.
    fn derived_operators(
        &mut self,
        accumulated: &Accumulated,
        mode: &Mode,
        text: &mut String,
    ) -> Result<HashMap<usize, String>, Refusal> {
        let called = |call: &Call| match call {
            Call::Derived { operator, .. } => Some(*operator),
            Call::Forward(_) | Call::Sum { .. } => None,
        };
        let called: HashSet<usize> = accumulated.calls.iter().filter_map(called).collect();
        let mut names = HashMap::new();
        for (at, shared) in accumulated.operators.iter().enumerate().filter(|(at, _)| called.contains(at)) {
            let Some(function) = self.model.function(shared.function) else { continue };
            let (name, comment) = self.described(function, shared, mode)?;
            let inputs: Vec<ValueId> = shared.derived.inputs.iter().map(|(value, _)| *value).collect();
            let outputs: Vec<ValueId> = shared.derived.outputs.iter().map(|(value, _)| *value).collect();
            text.push('\n');
            text.push_str(&operator(&shared.derived.function, &name, &comment, &inputs, &outputs)?);
            names.insert(at, name);
        }
        Ok(names)
    }

    /// The name and the comment of an operator of derivatives.
    fn described(
        &mut self,
        function: &Function,
        shared: &Shared,
        mode: &Mode,
    ) -> Result<(String, String), Refusal> {
        let name_of =
            |value: &ValueId| function.values.get(value.0 as usize).and_then(|value| value.name.clone());
        let wrt: Option<Vec<String>> = shared.wrt.iter().map(name_of).collect();
        let wrt = wrt.ok_or_else(|| internal("an input without a name"))?;
        let (last, origin) = (last(&function.name), self.origin(function));
        let listed = listed(&wrt.iter().map(String::as_str).collect::<Vec<_>>());
        Ok(match mode {
            Mode::Tangents => (
                self.names.fresh(&format!("{last}_tangent")),
                format!("The tangent of {origin} for that of {listed}."),
            ),
            Mode::Gradients | Mode::Training(_) => (
                self.names.fresh(&format!("{last}_grad_{}", wrt.join("_"))),
                format!("The adjoint of {origin} by {listed}."),
            ),
        })
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

    /// The outputs, then the derivatives: their names, and the names of the tensors that they are. No other tensor has the names of
    /// the derivatives.
    fn outputs(&mut self, accumulated: &Accumulated, results: &Results) -> Vec<(String, String)> {
        let computed: HashSet<TensorId> =
            accumulated.calls.iter().flat_map(|call| tensors(self.graph, call).0).collect();
        let wanted = match results.mode {
            Mode::Training(_) => self.graph.outputs.clone(),
            Mode::Gradients | Mode::Tangents => results.of.to_vec(),
        };
        let mut outputs = Vec::new();
        for (wanted, id) in wanted {
            let source = self.name(id);
            let is_named = source == wanted.replace(['.', ':'], "_");
            let is_new = is_named && outputs.iter().all(|(name, _)| *name != source);
            outputs.push((if is_new { source.clone() } else { self.graph.names.fresh(&wanted) }, source));
        }
        let mut taken: HashSet<TensorId> = results.of.iter().map(|(_, id)| *id).collect();
        let named = results.names.iter().zip(results.like()).zip(&accumulated.derivatives);
        for ((name, like), derivative) in named {
            let id = derivative.unwrap_or_else(|| self.zeros(like));
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
        used.extend(accumulated.derivatives.iter().flatten());
        let mut names = self.graph.names.clone();
        let mut extents: HashMap<String, String> = HashMap::new();
        let mut declared = |id: &TensorId| {
            let known = self.graph.tensors.get(*id)?;
            let extent = |extent: &Extent| match (extent, symbol(extent)) {
                (Extent::Fixed(size), _) => size.to_string(),
                (Extent::Dynamic { bound, .. }, Some(symbol)) => {
                    let name = extents.entry(symbol.to_owned());
                    let name = name.or_insert_with(|| names.fresh(extent_name(symbol)));
                    format!("{name}|{bound}")
                }
                (Extent::Dynamic { bound, .. }, None) => format!("~|{bound}"),
            };
            let shape: Vec<String> = known.tensor.shape.iter().map(extent).collect();
            Some(format!("{}: {}[{}]", known.name, known.tensor.kind.name(), shape.join(",")))
        };
        let inputs: Vec<String> = self.graph.inputs.iter().filter_map(&mut declared).collect();
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
            let tensor = types.get(source.as_str())?;
            let extent = |extent: &Extent| extent.fixed().map_or_else(|| "~".to_owned(), |n| n.to_string());
            let shape: Vec<String> = tensor.shape.iter().map(extent).collect();
            Some(format!("{name}: {}[{}]", tensor.kind.name(), shape.join(",")))
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
        derived: &HashMap<usize, String>,
        sums: &HashMap<usize, String>,
    ) -> Result<(String, Vec<String>, Vec<String>), Refusal> {
        let (results, arguments) = tensors(self.graph, call);
        let operator = match call {
            Call::Forward(at) => {
                self.graph.steps.get(*at).and_then(|step| self.forward.get(&step.function)).cloned()
            }
            Call::Derived { operator, .. } => derived.get(operator).cloned(),
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
