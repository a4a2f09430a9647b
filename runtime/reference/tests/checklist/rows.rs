// SPDX-License-Identifier: Apache-2.0
//! Rows of a table of statements: each names the statements, the document, and the expected result.

use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::{Code, Diagnostic, Severity, Sink};
use skript_frontend::limits::Limits;
use skript_frontend::model::Model;
use skript_frontend::program::Edition;
use skript_frontend::source_files::load_program;
use skript_reference::{Outcome, evaluate};
use skript_semantics::ScalarKind;
use skript_tensor::{ElementType, Tensor};
use std::fmt::Debug;
use std::sync::Arc;

/// Attributes that [`Rows::int`] and its kin may use. `none` is null, `given` is 7; `e`, `er`, `eb` are empty.
const ATTRIBUTES: &str = "
    n: int = 3; p: int.. = [4, 5, 6]; q: int.. = [1, 2, 3]; e: int.. = []; ps: real.. = [0.5, 1.5]; er: real.. = [];
    f: bool = true; m: bool.. = [true, false, true]; eb: bool.. = []; r: real = 2.5; w: str = 'abcd';
    ws: str.. = ['a', 'b', 'a']; none: optional int; given: optional int; nones: optional int..;";

/// Results that differ from the rows.
#[derive(Default)]
pub struct Rows(Vec<String>);

impl Drop for Rows {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.0.is_empty(), "\n{}", self.0.join("\n"));
        }
    }
}

impl Rows {
    fn expect<T: PartialEq + Debug>(
        &mut self,
        numbers: &[u16],
        text: &str,
        found: Result<T, String>,
        wanted: &T,
    ) {
        match found {
            Ok(found) if found == *wanted => {}
            Ok(found) => self.0.push(format!("{numbers:?} {found:?} instead of {wanted:?}: {text}")),
            Err(problem) => self.0.push(format!("{numbers:?} {problem}: {text}")),
        }
    }

    /// A compile-time expression's value, one item.
    pub fn int(&mut self, numbers: &[u16], expression: &str, wanted: i64) {
        let found = ints(&format!("[{expression}]"), 1);
        self.expect(numbers, expression, found, &vec![wanted]);
    }

    /// A compile-time expression's value, a pack.
    pub fn ints(&mut self, numbers: &[u16], expression: &str, wanted: &[i64]) {
        let found = ints(expression, wanted.len());
        self.expect(numbers, expression, found, &wanted.to_vec());
    }

    /// As [`Rows::int`]; the value is rounded to f32.
    pub fn real(&mut self, numbers: &[u16], expression: &str, wanted: f32) {
        let found = reals(&format!("[{expression}]"), 1);
        self.expect(numbers, expression, found, &vec![wanted]);
    }

    /// As [`Rows::ints`]; the values are rounded to f32.
    pub fn reals(&mut self, numbers: &[u16], expression: &str, wanted: &[f32]) {
        let found = reals(expression, wanted.len());
        self.expect(numbers, expression, found, &wanted.to_vec());
    }

    /// As [`Rows::int`].
    pub fn bool(&mut self, numbers: &[u16], expression: &str, wanted: bool) {
        let found = bools(&format!("[{expression}]"), 1);
        self.expect(numbers, expression, found, &vec![wanted]);
    }

    /// As [`Rows::ints`].
    pub fn bools(&mut self, numbers: &[u16], expression: &str, wanted: &[bool]) {
        let found = bools(expression, wanted.len());
        self.expect(numbers, expression, found, &wanted.to_vec());
    }

    /// A compile-time expression is optional and null.
    pub fn null(&mut self, numbers: &[u16], expression: &str) {
        let found = bools(&format!("[?({expression})]"), 1);
        self.expect(numbers, expression, found, &vec![false]);
    }

    /// The text of a compile-time string.
    pub fn text(&mut self, numbers: &[u16], expression: &str, wanted: &str) {
        let document = probe("bool", &format!("v = {expression};"), 1, "[true]")
            .replace("@compose { y = show", "@assert { v != v: \"<{v}>\"; } @compose { y = show");
        let found = match composed(&document) {
            Ok(_) => Err("composed".to_string()),
            Err(found) => Ok(found.first().map_or(String::new(), |d| d.message.clone())),
        };
        self.expect(numbers, expression, found, &format!("<{wanted}>"));
    }

    /// A compile-time expression is rejected, by the checker or by composition.
    pub fn wrong(&mut self, numbers: &[u16], code: &Code, expression: &str) {
        let document = probe("int", &format!("v = {expression};"), 1, "[1]");
        self.rejected(numbers, code, &document);
    }

    /// The document composes.
    pub fn composes(&mut self, numbers: &[u16], document: &str) {
        let found = composed(document).map(|_| ()).map_err(|e| texts(&e));
        self.expect(numbers, document, found, &());
    }

    /// The document is rejected with this code and no other, by the checker or by composition.
    pub fn rejected(&mut self, numbers: &[u16], code: &Code, document: &str) {
        let found = match composed(document) {
            Ok(_) => Err("composed".to_string()),
            Err(found) if found.iter().all(|d| d.code.id == code.id) => Ok(code.id),
            Err(found) => Err(texts(&found)),
        };
        self.expect(numbers, document, found, &code.id);
    }

    /// As [`Rows::rejected`], with this as the first message.
    pub fn message(&mut self, numbers: &[u16], document: &str, wanted: &str) {
        let found = match composed(document) {
            Ok(_) => Err("composed".to_string()),
            Err(found) => Ok(found.first().map_or(String::new(), |d| d.message.clone())),
        };
        self.expect(numbers, document, found, &wanted.to_string());
    }

    /// The outputs' elements, one after another, of a run with these inputs; int and bool count as real.
    pub fn output(&mut self, numbers: &[u16], document: &str, inputs: &[Tensor], wanted: &[f32]) {
        let found = run(document, inputs)
            .map(|outcome| outcome.outputs.iter().flat_map(|t| elements(t)).collect::<Vec<f32>>());
        self.expect(numbers, document, found, &wanted.to_vec());
    }

    /// The elements of the variables' new values after a run.
    pub fn updates(&mut self, numbers: &[u16], document: &str, inputs: &[Tensor], wanted: &[f32]) {
        let found = run(document, inputs)
            .map(|outcome| outcome.updates.iter().flat_map(|(_, t)| elements(t)).collect::<Vec<f32>>());
        self.expect(numbers, document, found, &wanted.to_vec());
    }

    /// The shapes of the outputs of a run.
    pub fn shapes(&mut self, numbers: &[u16], document: &str, inputs: &[Tensor], wanted: &[&[u64]]) {
        let found = run(document, inputs)
            .map(|outcome| outcome.outputs.iter().map(|t| t.shape().to_vec()).collect::<Vec<_>>());
        let wanted: Vec<Vec<u64>> = wanted.iter().map(|s| s.to_vec()).collect();
        self.expect(numbers, document, found, &wanted);
    }

    /// Symbols of an operator with these blocks, in a graph with these inputs that invokes it as `f` with `invocation`.
    pub fn symbols(
        &mut self,
        numbers: &[u16],
        blocks: &str,
        list: &str,
        inputs: &str,
        invocation: &str,
        wanted: &[i64],
    ) {
        let document = showing(blocks, list, inputs, invocation, wanted.len());
        let found = run(&document, &[]).map(|o| o.outputs[0].as_i64().unwrap().to_vec());
        self.expect(numbers, &document, found, &wanted.to_vec());
    }

    /// Such an invocation is rejected.
    pub fn refused(&mut self, numbers: &[u16], code: &Code, blocks: &str, inputs: &str, invocation: &str) {
        self.rejected(numbers, code, &showing(blocks, "0", inputs, invocation, 1));
    }

    /// The run stops with a message that contains these words.
    pub fn stops(&mut self, numbers: &[u16], document: &str, inputs: &[Tensor], words: &str) {
        let found = match run(document, inputs) {
            Ok(_) => Err("ran to its end".to_string()),
            Err(problem) if problem.contains(words) => Ok(()),
            Err(problem) => Err(problem),
        };
        self.expect(numbers, document, found, &());
    }

    /// The scoped names of the model's variables.
    pub fn names(&mut self, numbers: &[u16], document: &str, wanted: &[&str]) {
        let found = composed(document)
            .map_err(|e| texts(&e))
            .map(|model| model.variables.iter().map(|v| v.name.clone()).collect::<Vec<_>>());
        let wanted: Vec<String> = wanted.iter().map(|n| n.to_string()).collect();
        self.expect(numbers, document, found, &wanted);
    }

    /// The composed model has a property.
    pub fn model<T: PartialEq + Debug>(
        &mut self,
        numbers: &[u16],
        document: &str,
        look: impl Fn(&Model) -> T,
        wanted: T,
    ) {
        let found = composed(document).map_err(|e| texts(&e)).map(|model| look(&model));
        self.expect(numbers, document, found, &wanted);
    }
}

fn ints(expression: &str, length: usize) -> Result<Vec<i64>, String> {
    let outcome = run(&probe("int", "", length, expression), &[])?;
    Ok(outcome.outputs[0].as_i64().unwrap().to_vec())
}

fn reals(expression: &str, length: usize) -> Result<Vec<f32>, String> {
    let outcome = run(&probe("real", "", length, expression), &[])?;
    Ok(outcome.outputs[0].as_f32().unwrap().to_vec())
}

fn bools(expression: &str, length: usize) -> Result<Vec<bool>, String> {
    let outcome = run(&probe("bool", "", length, expression), &[])?;
    Ok(elements(&outcome.outputs[0]).iter().map(|b| *b != 0.0).collect())
}

/// A document whose output of that many elements holds the pack `expression`; `using` defines symbols before it.
fn probe(kind: &str, using: &str, length: usize, expression: &str) -> String {
    format!(
        "operator show {{ @attrib {{ v: {kind}..(l); }} @constant {{ c: {kind}[l] = v; }} @output {{ y: {kind}[l]; }}
            @lower {{ y[i,] = c[i,], i < l; }} }}
        operator probe {{ @attrib {{ {ATTRIBUTES} }} @using {{ {using} z = {expression}; }}
            @output {{ y: {kind}[{length}]; }} @compose {{ y = show{{v=z}}(); }} }}
        graph G {{ @output {{ y: {kind}[{length}]; }} @compose {{ y = probe{{given=7}}(); }} }}"
    )
}

fn showing(blocks: &str, list: &str, inputs: &str, invocation: &str, length: usize) -> String {
    format!(
        "operator show {{ @attrib {{ v: int..(l); }} @constant {{ c: int[l] = v; }} @output {{ y: int[l]; }}
            @lower {{ y[i,] = c[i,], i < l; }} }}
        operator f {{ {blocks} @output {{ shown: int[{length}]; }} @compose {{ shown = show{{v=[{list}]}}(); }} }}
        graph G {{ @input {{ {inputs} }} @output {{ y: int[{length}]; }} @compose {{ y = f{invocation}; }} }}"
    )
}

/// A document of operators and a graph with these inputs, outputs and statements. `id`, `neg`, `add` and `less` (than
/// 10) are defined too.
pub fn graph(operators: &str, inputs: &str, outputs: &str, statements: &str) -> String {
    format!(
        "{operators} {LIBRARY} graph G {{ @input {{ {inputs} }} @output {{ {outputs} }} @compose {{ {statements} }} }}"
    )
}

/// `id`, `neg`, `add`, `less`.
pub const LIBRARY: &str = "
operator id { @dtype { T: type; } @input { x: T[s..]; } @output { y: T[s..]; } @lower { y[i..] = x[i..], i < s; } }
operator neg { @input { x: real[s..]; } @output { y: real[s..]; } @lower { y[i..] = -x[i..], i < s; } }
operator add { @dtype { T: num; } @input { x: T[s..]; z: T[s..]; } @output { y: T[s..]; }
    @lower { y[i..] = x[i..] + z[i..], i < s; } }
operator less { @input { x: real[s..]; } @output { y: bool[s..]; } @lower { y[i..] = x[i..] < 10.0, i < s; } }";

/// A tensor of rank 1.
pub fn reals_of(values: &[f32]) -> Tensor {
    Tensor::from_f32(&[values.len() as u64], values).unwrap()
}

/// All errors of a document: those of the checker, else those of composition. Further files follow the main one after a
/// line `--- path`.
pub fn composed(document: &str) -> Result<Model, Vec<Diagnostic>> {
    composed_as(document, None)
}

/// As [`composed`], in the given edition.
pub fn composed_as(document: &str, edition: Option<Edition>) -> Result<Model, Vec<Diagnostic>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    let mut files = document.split("\n--- ");
    std::fs::write(&path, files.next().unwrap()).unwrap();
    for file in files {
        let (name, text) = file.split_once('\n').unwrap();
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let (limits, mut sink) = (Limits::default(), Sink::default());
    let program = load_program(&path, edition, &limits, &mut sink);
    check_program(&program, &mut sink);
    let model = if sink.has_errors() {
        None
    } else {
        compose(&program, &ComposeOptions::default(), &limits, &mut sink)
    };
    model.ok_or_else(|| {
        let mut found = sink.into_sorted();
        found.retain(|d| d.severity == Severity::Error);
        found
    })
}

/// Runs a document. Variables are filled with 1; if no inputs are given, they are zeros.
pub fn run(document: &str, inputs: &[Tensor]) -> Result<Outcome, String> {
    let model = composed(document).map_err(|e| texts(&e))?;
    let mut inputs: Vec<_> = inputs.iter().map(|t| Arc::new(t.clone())).collect();
    if inputs.is_empty() {
        let entry = model.function(model.entry).unwrap();
        let ids = entry.inputs.iter().flat_map(|port| port.tensors.values());
        let types = ids.map(|id| &entry.values[id.0 as usize].tensor);
        inputs.extend(types.map(|t| {
            let shape = t.fixed_shape().unwrap();
            Arc::new(Tensor::zeros(ElementType::run_time(t.kind, Default::default()), &shape).unwrap())
        }));
    }
    let variables: Vec<_> = model
        .variables
        .iter()
        .map(|v| {
            let shape = v.tensor.fixed_shape().unwrap();
            let volume: u64 = shape.iter().product();
            assert_eq!(v.tensor.kind, ScalarKind::Real);
            let ones = vec![1.0; usize::try_from(volume).unwrap()];
            Arc::new(Tensor::from_f32(&shape, &ones).unwrap())
        })
        .collect();
    evaluate(&model, &inputs, &variables).map_err(|e| e.to_string())
}

fn texts(found: &[Diagnostic]) -> String {
    let lines = found.iter().map(|d| format!("{} {}", d.code.id, d.message));
    lines.collect::<Vec<_>>().join("; ")
}

/// The elements as real numbers.
pub fn elements(tensor: &Tensor) -> Vec<f32> {
    if let Some(reals) = tensor.as_f32() {
        return reals.to_vec();
    }
    if let Some(ints) = tensor.as_i64() {
        return ints.iter().map(|&i| i as f32).collect();
    }
    let bools = tensor.as_bool_bytes().unwrap();
    bools.iter().map(|&b| f32::from(b)).collect()
}
