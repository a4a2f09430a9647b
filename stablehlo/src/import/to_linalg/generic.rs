// SPDX-License-Identifier: Apache-2.0
//! `linalg.generic` as text.

use super::operation::Tensor;
use skript_passes::ir::splice::Lines;

/// One operand: name, type, and the places it is read or written at, in `d0`, `d1`, ….
pub(super) struct Port {
    pub name: String,
    pub tensor: Tensor,
    pub place: Vec<String>,
}

impl Port {
    pub(super) fn new(name: &str, tensor: &Tensor, place: Vec<String>) -> Port {
        Port {
            name: name.to_owned(),
            tensor: tensor.clone(),
            place,
        }
    }
}

/// `d0`, `d1`, … of these dimensions.
pub(crate) fn dims(dimensions: impl IntoIterator<Item = usize>) -> Vec<String> {
    dimensions.into_iter().map(|d| format!("d{d}")).collect()
}

/// An operation over `loops`, of which the last `reductions` reduce. The body sees inputs as `%i0`, …, outputs as `%o0`, …
/// and ends in `linalg.yield`. Gives the results' names.
pub(super) fn generic(
    lines: &mut Lines,
    loops: usize,
    reductions: usize,
    inputs: &[Port],
    outputs: &[Port],
    body: &str,
) -> Vec<String> {
    // Names inside must differ from those around.
    let body = body.replace("%v", "%w");
    let all = dims(0..loops).join(", ");
    let ports = || inputs.iter().chain(outputs);
    let maps: Vec<String> = ports()
        .map(|p| format!("affine_map<({all}) -> ({})>", p.place.join(", ")))
        .collect();
    let iterators: Vec<&str> = (0..loops)
        .map(|d| {
            if d + reductions < loops {
                "\"parallel\""
            } else {
                "\"reduction\""
            }
        })
        .collect();
    let names = |ports: &[Port]| -> String {
        let names: Vec<&str> = ports.iter().map(|p| p.name.as_str()).collect();
        let types: Vec<String> = ports.iter().map(|p| p.tensor.text()).collect();
        format!("{} : {}", names.join(", "), types.join(", "))
    };
    let argument =
        |letter: char, (n, p): (usize, &Port)| format!("%{letter}{n}: {}", p.tensor.element.text());
    let mut arguments: Vec<String> = inputs
        .iter()
        .enumerate()
        .map(|p| argument('i', p))
        .collect();
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

/// A tensor of undefined elements.
pub(super) fn empty(lines: &mut Lines, tensor: &Tensor) -> String {
    lines.value(format!("tensor.empty() : {}", tensor.text()))
}

/// A tensor that holds the only element of `scalar`, a tensor of rank 0, everywhere.
pub(super) fn filled(lines: &mut Lines, scalar: &str, tensor: &Tensor) -> String {
    let element = tensor.element.text();
    let value = lines.value(format!("tensor.extract {scalar}[] : tensor<{element}>"));
    filled_with(lines, &value, tensor)
}

/// A tensor that holds `value`, a scalar, everywhere.
pub(crate) fn filled_with(lines: &mut Lines, value: &str, tensor: &Tensor) -> String {
    let empty = empty(lines, tensor);
    lines.value(format!(
        "linalg.fill ins({value} : {}) outs({empty} : {t}) -> {t}",
        tensor.element.text(),
        t = tensor.text()
    ))
}
