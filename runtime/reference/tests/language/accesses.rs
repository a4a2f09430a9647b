// SPDX-License-Identifier: Apache-2.0
//! Accesses out of bounds (2.12): errors if extents and loops determine the index, but not if data do.

use crate::run::{failure, ints, model, outputs, reals};

/// A graph with one formula over `x`, of up to nine elements, and three ints `at`.
fn document(formula: &str) -> String {
    format!(
        "operator f {{ @input {{ x: real[n]; at: int[3]; }} @output {{ y: real[3]; }} @lower {{ {formula}; }} }} \
         graph G {{ @input {{ x: real[s|9]; at: int[3]; }} @output {{ y: real[3]; }} @compose {{ y = f(x, at); }} }}"
    )
}

fn x(count: u16) -> std::sync::Arc<skript_tensor::Tensor> {
    let values: Vec<f32> = (1..=count).map(f32::from).collect();
    reals(&[count.into()], &values)
}

fn fails(formula: &str, count: u16, at: [i64; 3]) -> String {
    let (message, calls) = failure(&document(formula), &[x(count), ints(&[3], &at)]);
    assert_eq!(calls, ["main.f", "main.G"]);
    message
}

fn gives(formula: &str, count: u16, at: [i64; 3]) -> Vec<f64> {
    let found = outputs(&document(formula), &[x(count), ints(&[3], &at)]);
    found.into_iter().flatten().collect()
}

#[test]
fn s2_12_tensors_without_elements_have_no_last_one() {
    let last = "y[0,] = x[n - 1,]";
    assert_eq!(
        fails(last, 0, [0; 3]),
        "an index of `x` is -1, the tensor's extent is 0; guard it with `| |`"
    );
    assert_eq!(gives(last, 2, [0; 3]), [2.0, 0.0, 0.0]);
}

#[test]
fn s2_12_indices_that_are_not_linear_are_tested_step_by_step() {
    let square = "y[i,] = x[n - 1 - i * i,], i < 3";
    assert_eq!(gives(square, 5, [0; 3]), [5.0, 4.0, 1.0]);
    assert_eq!(
        fails(square, 4, [0; 3]),
        "an index of `x` is -1 where i = 2, the tensor's extent is 4; guard it with `| |`"
    );
}

#[test]
fn s2_12_accesses_count_only_where_they_are_evaluated() {
    let asked = "v = x[i + 1,], y[i,] = at[i,] > 0 ? v : 0.0, i < 3";
    assert_eq!(gives(asked, 3, [1, 1, 0]), [2.0, 3.0, 0.0]);
    assert_eq!(
        fails(asked, 3, [1, 0, 1]),
        "an index of `x` is 3 where i = 2, the tensor's extent is 3; guard it with `| |`"
    );
    let within = "y[i,] = 1.0, i < 3 | at[i,] == 0 || x[2 * i,] > 2.0";
    assert_eq!(gives(within, 2, [0, 0, 0]), [1.0, 1.0, 1.0]);
    assert_eq!(
        fails(within, 2, [1, 1, 0]),
        "an index of `x` is 2 where i = 1, the tensor's extent is 2; guard it with `| |`"
    );
}

#[test]
fn s2_12_what_earlier_steps_wrote_may_decide_whether_an_access_is_evaluated() {
    let running = "y[i,] = 0.0, i < 3; y[0,] := y[0,] + x[2 * i,], i < 3 | y[0,] < 4.0";
    // 1 + 3, and then no more.
    assert_eq!(gives(running, 3, [0; 3]), [4.0, 0.0, 0.0]);
    assert_eq!(
        fails(running, 2, [0; 3]),
        "an index of `x` is 2 where i = 1, the tensor's extent is 2; guard it with `| |`"
    );
    let written = "y[i,] = 0.0, i < 3; y[2 * i,] := at[i,] > 0 ? y[0,] + 1.0 : 7.0, i < n | y[0,] < 7.0";
    assert_eq!(gives(written, 2, [1, 1, 1]), [1.0, 0.0, 2.0]);
    assert_eq!(gives(written, 9, [0, 1, 1]), [7.0, 0.0, 0.0]);
    assert_eq!(
        fails(written, 3, [1, 1, 1]),
        "an index of `y` is 4 where i = 2, the tensor's extent is 3; guard it with `| |`"
    );
}

#[test]
fn s2_12_data_lead_to_the_nearest_element() {
    let read = "y[i,] = x[at[i,],], i < 3";
    assert_eq!(gives(read, 2, [-5, 1, 7]), [1.0, 2.0, 2.0]);
    assert_eq!(gives(read, 0, [-5, 1, 7]), [0.0; 3]);
    let written = "y[at[i,],] = x[i,], i < n";
    assert_eq!(gives(written, 3, [-1, 1, 3]), [0.0, 2.0, 0.0]);
    // An index beside them is decided by the loop.
    let beside = "y[i,] = x[at[i + 1,],], i < 3";
    let refused = model(&document(beside)).err().unwrap();
    assert_eq!(
        refused,
        ["SK1250: an index of `at` runs from 1 to 3, the tensor's extent is 3; guard it with `| |`"]
    );
}
