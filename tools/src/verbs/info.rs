// SPDX-License-Identifier: Apache-2.0
//! `skript info`: prints the interface, parameters, memory and arithmetic operations of a model.

mod artifact;
mod program;

use serde_json::{Value as Json, json};
use skript::{Compiler, ElementType, Model, Target};
use skript_frontend::model::{Function, Port, PortTensors, TensorType, Variable, shape_text};
use skript_tensor::contents::{self, Listed};

use crate::command_line::{InfoArguments, WeightsArgument};
use crate::console::{Console, Status};
use crate::session::{Session, Stopped, Weights};
use crate::stablehlo_program;

pub fn run(arguments: &InfoArguments, console: &mut Console) -> Status {
    if artifact::is_artifact(&arguments.model) {
        return artifact::run(arguments, console);
    }
    if stablehlo_program::is_program(&arguments.model) {
        return program::run(arguments, console);
    }
    let mut session = Session::open(&arguments.model, &arguments.reading);
    if session.status() == Status::Done {
        session.check_names(std::iter::empty());
    }
    if session.status() == Status::Done
        && let Some(model) = session.compose()
    {
        if arguments.variables {
            match tables(arguments, &session, &model) {
                Ok(text) => crate::stdout::print(&skript_host::printable(&text)),
                Err(error) => session.report_all(error),
            }
            return session.close(console);
        }
        let facts = Facts::new(&session, &model);
        if arguments.json {
            crate::stdout::print(&format!("{}\n", facts.json()));
        } else {
            crate::stdout::print(&skript_host::printable(&facts.text()));
        }
    }
    session.close(console)
}

/// The names, shapes and types of the variables in the order of the graph, and of the arrays in each file and folder of weights.
fn tables(arguments: &InfoArguments, session: &Session, model: &Model) -> Result<String, Stopped> {
    let given = arguments.weights.clone().map(WeightsArgument::From);
    let weights = Weights { given: given.as_ref(), ..Weights::from_model_folder() };
    let contents = session.weights(weights)?.store().contents();
    let variables: Vec<Listed> = model.requests().iter().map(Listed::from).collect();
    if arguments.json {
        let contents: Json = contents
            .iter()
            .map(|c| json!({"path": c.path.to_string_lossy(), "arrays": arrays(&c.arrays)}))
            .collect();
        let all = json!({"variables": arrays(&variables), "weights": contents});
        return Ok(format!("{all}\n"));
    }
    let mut text = format!("variables\n{}", contents::table(&variables, usize::MAX));
    for held in contents {
        text += &held.text(usize::MAX);
    }
    Ok(text)
}

fn arrays(arrays: &[Listed]) -> Json {
    arrays
        .iter()
        .map(|array| match &array.header {
            Some((shape, element)) => {
                json!({"name": array.name, "shape": shape, "dtype": element.to_string()})
            }
            None => json!({"name": array.name}),
        })
        .collect()
}

struct Facts {
    graph: String,
    /// Names, and types with extents.
    inputs: Vec<(String, String)>,
    outputs: Vec<(String, String)>,
    /// Name of the module, edition, whether it belongs to the library.
    modules: Vec<(String, &'static str, bool)>,
    /// The number of variables.
    variables: usize,
    /// The number of elements of all variables.
    parameters: u64,
    parameter_bytes: u64,
    /// The size of the compiled model's arena, or the reason why the model does not compile.
    arena: Result<u64, String>,
    flops: u64,
    /// Operator, number of invocations, operations of all invocations; in descending order of operations.
    operators: Vec<(String, u64, u64)>,
}

impl Facts {
    fn new(session: &Session, composed: &Model) -> Self {
        let model = composed.ir();
        let entry = model.function(model.entry);
        let declared = session.graph().map_or(&[][..], |graph| &graph.inputs);
        let has_default = |name: &str| {
            let mut inputs = declared.iter();
            inputs.any(|i| i.name.name == name && i.default.is_some())
        };
        let text = |function: &Function, port: &Port| match port.tensors {
            PortTensors::Null if has_default(&port.name) => "has its default".to_string(),
            _ => port_type(function, port),
        };
        let ports = |ports: Option<&Vec<Port>>| {
            ports.into_iter().flatten().filter_map(|p| Some((p.name.clone(), text(entry?, p)))).collect()
        };
        let program = session.document.program();
        let mut modules = Vec::new();
        for (key, module) in &program.modules {
            let library = program.origin(key) == skript_frontend::program::Origin::Library;
            let module = (module.name.clone(), program.edition(key).name(), library);
            // A library module with several editions may occur more than once.
            if !modules.contains(&module) {
                modules.push(module);
            }
        }
        let bytes = |v: &Variable| {
            let width = ElementType::for_kind(v.tensor.kind, v.numbers).size() as u64;
            v.tensor.shape.iter().fold(width, |n: u64, e| n.saturating_mul(e.bound()))
        };
        let cost = model.cost();
        Facts {
            graph: entry.map_or_else(String::new, |e| e.name.clone()),
            inputs: ports(entry.map(|e| &e.inputs)),
            outputs: ports(entry.map(|e| &e.outputs)),
            modules,
            variables: model.variables.len(),
            parameters: cost.parameters,
            parameter_bytes: model.variables.iter().map(bytes).sum(),
            arena: match Compiler::new(&Target::host()).compile(composed) {
                Ok(compiled) => Ok(compiled.artifact.arena.size),
                Err(error) => Err(Stopped::from(error).message().to_string()),
            },
            flops: cost.flops,
            operators: model
                .costs_by_operator()
                .into_iter()
                .map(|c| (c.name, c.invocations, c.flops))
                .collect(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!("graph {}\n", self.graph);
        for (title, ports) in [("inputs", &self.inputs), ("outputs", &self.outputs)] {
            text += &format!("{title}\n");
            for (name, kind) in ports {
                text += &format!("    {name}: {kind}\n");
            }
        }
        text += "modules\n";
        for (name, edition, library) in &self.modules {
            let origin = if *library { ", of the library" } else { "" };
            text += &format!("    {name} (edition {edition}{origin})\n");
        }
        text += &format!(
            "parameters  {} in {} variables, {} bytes\n",
            self.parameters, self.variables, self.parameter_bytes
        );
        text += &match &self.arena {
            Ok(bytes) => format!("memory      {bytes} bytes of arena\n"),
            Err(reason) => format!("memory      unknown: {reason}\n"),
        };
        text += &format!("operations  {} of reals in one call\n", self.flops);
        let whole = self.flops.max(1) as f64;
        for (name, invocations, flops) in &self.operators {
            let share = 100.0 * *flops as f64 / whole;
            text += &format!("    {flops:>14} {share:5.1} %  {name} × {invocations}\n");
        }
        text
    }

    fn json(&self) -> Json {
        let ports = |ports: &[(String, String)]| -> Json {
            ports.iter().map(|(name, kind)| json!({"name": name, "type": kind})).collect()
        };
        let modules: Json = self
            .modules
            .iter()
            .map(|(name, edition, library)| json!({"name": name, "edition": edition, "library": library}))
            .collect();
        let operators: Json = self.operators.iter()
            .map(|(name, invocations, flops)| json!({"name": name, "invocations": invocations, "flops": flops}))
            .collect();
        json!({
            "graph": self.graph,
            "inputs": ports(&self.inputs),
            "outputs": ports(&self.outputs),
            "modules": modules,
            "variables": self.variables,
            "parameters": self.parameters,
            "parameter_bytes": self.parameter_bytes,
            "arena_bytes": self.arena.as_ref().ok(),
            "flops": self.flops,
            "operators": operators,
        })
    }
}

/// `real[1,3,width|224]`. For a pack whose tensors have the same type, the type and the length; otherwise all types.
fn port_type(function: &Function, port: &Port) -> String {
    if let PortTensors::Stack(id) = port.tensors
        && let Some(value) = function.values.get(id.0 as usize)
        && let Some((length, item)) = value.tensor.shape.split_first()
    {
        let item = TensorType { kind: value.tensor.kind, shape: item.to_vec() };
        return format!("{}..(~|{})", tensor_type(&item), length.bound());
    }
    let kinds: Vec<String> = port
        .tensors
        .values()
        .iter()
        .filter_map(|v| function.values.get(v.0 as usize))
        .map(|v| tensor_type(&v.tensor))
        .collect();
    match (&port.tensors, kinds.as_slice()) {
        (PortTensors::Null, _) => "absent".to_string(),
        (PortTensors::Single(_) | PortTensors::Stack(_), _) => kinds.concat(),
        (PortTensors::Pack(_), [first, rest @ ..]) if rest.iter().all(|k| k == first) => {
            format!("{first}..({})", kinds.len())
        }
        (PortTensors::Pack(_), _) => format!("({})", kinds.join(", ")),
    }
}

fn tensor_type(tensor: &TensorType) -> String {
    format!("{}{}", tensor.kind.name(), shape_text(&tensor.shape))
}
