// SPDX-License-Identifier: Apache-2.0
//! Emits `linalg.generic` as text.

use super::operation::Tensor;
use skript_passes::ir::splice::Lines;

/// One operand: its name, its type, and its subscripts in terms of `d0`, `d1`, ….
pub(super) struct Port {
    pub name: String,
    pub tensor: Tensor,
    pub position: Vec<String>,
}

impl Port {
    pub(super) fn new(name: &str, tensor: &Tensor, position: Vec<String>) -> Port {
        Port { name: name.to_owned(), tensor: tensor.clone(), position }
    }
}

/// The names `d0`, `d1`, … of these dimensions.
pub(crate) fn dims(dimensions: impl IntoIterator<Item = usize>) -> Vec<String> {
    dimensions.into_iter().map(|d| format!("d{d}")).collect()
}

/// Emits an operation with `loops` iterators; the last `reductions` of them are reductions. The body has the inputs
/// `%i0`, … and the outputs `%o0`, …, and ends with `linalg.yield`. Returns the names of the results.
pub(super) fn generic(
    lines: &mut Lines,
    loops: usize,
    reductions: usize,
    inputs: &[Port],
    outputs: &[Port],
    body: &str,
) -> Vec<String> {
    // Names in the body must differ from names outside of it.
    let body = body.replace("%v", "%w");
    let all = dims(0..loops).join(", ");
    let ports = || inputs.iter().chain(outputs);
    let maps: Vec<String> =
        ports().map(|p| format!("affine_map<({all}) -> ({})>", p.position.join(", "))).collect();
    let iterators: Vec<&str> =
        (0..loops).map(|d| if d + reductions < loops { "\"parallel\"" } else { "\"reduction\"" }).collect();
    let names = |ports: &[Port]| -> String {
        let names: Vec<&str> = ports.iter().map(|p| p.name.as_str()).collect();
        let types: Vec<String> = ports.iter().map(|p| p.tensor.text()).collect();
        format!("{} : {}", names.join(", "), types.join(", "))
    };
    let argument =
        |letter: char, (n, p): (usize, &Port)| format!("%{letter}{n}: {}", p.tensor.element.text());
    let mut arguments: Vec<String> = inputs.iter().enumerate().map(|p| argument('i', p)).collect();
    arguments.extend(outputs.iter().enumerate().map(|p| argument('o', p)));
    let results: Vec<String> = outputs.iter().map(|p| p.tensor.text()).collect();
    let ins = match inputs {
        [] => String::new(),
        _ => format!("ins({}) ", names(inputs)),
    };
    lines.values(
        outputs.len(),
        format!(
            "linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} {ins}outs({}) {{\n^bb0({}):\n{body}\n}} -> ({})",
            maps.join(", "),
            iterators.join(", "),
            names(outputs),
            arguments.join(", "),
            results.join(", "),
        ),
    )
}

/// Emits an elementwise map from `inputs`, read at their subscripts, to `result`. Returns the name of the result.
pub(super) fn map(lines: &mut Lines, inputs: &[Port], result: &Tensor, body: &str) -> String {
    let rank = result.rank();
    let out = Port::new(&empty(lines, result), result, dims(0..rank));
    generic(lines, rank, 0, inputs, &[out], body).concat()
}

/// A tensor with undefined elements.
pub(super) fn empty(lines: &mut Lines, tensor: &Tensor) -> String {
    lines.value(format!("tensor.empty() : {}", tensor.text()))
}

/// A tensor filled with the only element of `scalar`, a tensor of rank 0.
pub(super) fn filled(lines: &mut Lines, scalar: &str, tensor: &Tensor) -> String {
    let element = tensor.element.text();
    let value = lines.value(format!("tensor.extract {scalar}[] : tensor<{element}>"));
    filled_with(lines, &value, tensor)
}

/// A tensor filled with the scalar `value`.
pub(crate) fn filled_with(lines: &mut Lines, value: &str, tensor: &Tensor) -> String {
    let empty = empty(lines, tensor);
    lines.value(format!(
        "linalg.fill ins({value} : {}) outs({empty} : {t}) -> {t}",
        tensor.element.text(),
        t = tensor.text()
    ))
}
