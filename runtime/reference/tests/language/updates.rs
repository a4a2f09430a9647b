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
    let all = outcome.updates.iter();
    all.map(|(id, tensor)| (id.0, elements(tensor))).collect()
}

/// Every variable is one at first: each update is x + 1 + 1.
#[test]
fn s2_11_instances_update_their_own_variables() {
    let graph =
        "graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = outer(x); } }";
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
