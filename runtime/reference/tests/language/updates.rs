// SPDX-License-Identifier: Apache-2.0
//! Updates of variables (2.11), in the main graph and below it.

use crate::run::{elements, flag, reals, run};

const NORM: &str = "operator scale { @input { x: real[n]; w: real[n]; } @output { y: real[n]; } \
    @lower { y[i,] = x[i,] * w[i,], i < n; } } \
    operator add { @input { x: real[n]; w: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,] + w[i,], i < n; } } \
    operator keep { @input { x: real[n]; } @output { y: real[n]; } @variable { w: real[n]; } \
    @compose { y = scale(x, w); } @update { t = add(x, w); w = add(t, w); } } \
    operator outer { @input { x: real[n]; } @output { y: real[n]; } @compose { z = keep(x); y = keep(z); } } ";

fn updates(graph: &str, inputs: &[std::sync::Arc<skript_tensor::Tensor>]) -> Vec<(u32, Vec<f64>)> {
    let outcome = run(&format!("{NORM} {graph}"), inputs).unwrap();
    outcome.updates.iter().map(|(id, tensor)| (id.0, elements(tensor))).collect()
}

/// Every variable is initially one; each update is x + 1 + 1.
#[test]
fn s2_11_instances_update_their_own_variables() {
    let graph = "graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = outer(x); } }";
    let x = reals(&[2], &[3.0, 5.0]);
    let new = vec![5.0, 7.0];
    assert_eq!(updates(graph, &[x]), [(0, new.clone()), (1, new)]);
}

#[test]
fn s2_11_a_branch_that_is_not_taken_leaves_its_variables() {
    let graph = "graph G { @input { c: bool[]; x: real[1]; } @output { y: real[1]; } \
        @compose { y = if c then a: keep(x) else b: keep(x); } }";
    let x = || reals(&[1], &[3.0]);
    let (updated, old) = (vec![5.0], vec![1.0]);
    let yes = updates(graph, &[flag(true), x()]);
    assert_eq!(yes, [(0, updated.clone()), (1, old.clone())]);
    let no = updates(graph, &[flag(false), x()]);
    assert_eq!(no, [(0, old), (1, updated)]);
}

/// A filter with memory: formulas read the old value, the new value may use their outputs, and each label has its own
/// variable.
#[test]
fn s2_11_operators_with_formulas_update_their_variables() {
    let blocks = "@variable { w: real[n]; } @constant { half: real[n] = 0.5; } \
        @lower { y[i,] = x[i,] * half[i,] + w[i,], i < n; } @update { t = add(y, w); w = scale(t, half); }";
    let graph = format!(
        "operator smooth {{ @input {{ x: real[n]; }} @output {{ y: real[n]; }} {blocks} }} \
         graph G {{ @input {{ x: real[2]; }} @output {{ y: real[2]; z: real[2]; }} \
         @compose {{ y = a: smooth(x); z = b: smooth(y); }} }}"
    );
    let x = || reals(&[2], &[3.0, 5.0]);
    let outputs = run(&format!("{NORM} {graph}"), &[x()]).unwrap().outputs;
    let outputs: Vec<Vec<f64>> = outputs.iter().map(|t| elements(t)).collect();
    assert_eq!(outputs, [[2.5, 3.5], [2.25, 2.75]]);
    assert_eq!(updates(&graph, &[x()]), [(0, vec![1.75, 2.25]), (1, vec![1.625, 1.875])]);
}

/// The formulas' function needs a dynamic extent that only an attribute determines.
#[test]
fn s2_11_formulas_with_updates_over_run_time_extents() {
    let graph = "operator mean { @attrib { size: int; } @input { x: real[m]; } @output { y: real[]; } \
        @variable { w: real[]; } @lower { y[] += x[i,] / real(size) * w[], i < m; } @update { w = y; } } \
        graph G { @input { x: real[3]; z: real[s|9]; } @output { y: real[]; } \
        @compose { y = mean{size=z.shape[0]}(x); } }";
    let inputs = [reals(&[3], &[3.0, 5.0, 4.0]), reals(&[6], &[0.0; 6])];
    assert_eq!(updates(graph, &inputs), [(0, vec![2.0])]);
}
