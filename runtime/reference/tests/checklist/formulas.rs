// SPDX-License-Identifier: Apache-2.0
//! Values of formulas (2.4 tensor access, 2.12).

use super::rows::{Rows, graph, reals_of};
use skript_frontend::diagnostics::codes;
use skript_tensor::Tensor;

/// An operator `f` of x: real[2,3], z: real[3] and the pack xs of two real[3], with this output and these formulas.
fn lowered(output: &str, lower: &str) -> String {
    let operator = format!(
        "operator f {{ @attrib {{ k: int = 2; }} @input {{ x: real[m,n]; z: real[n]; xs: real[n]..(c); none: optional real[n]; }}
            @output {{ {output} }} @lower {{ {lower} }} }}"
    );
    let results = if output.contains("..(2)") { "[y, u]" } else { "y" };
    let kind = if output.contains(": int") {
        "int"
    } else if output.contains(": bool") {
        "bool"
    } else {
        "real"
    };
    let outputs = match results {
        "y" => format!("y: {kind};"),
        _ => format!("y: {kind}; u: {kind};"),
    };
    graph(
        &operator,
        "x: real[2,3]; z: real[3]; a: real[3]; b: real[3];",
        &outputs,
        &format!("{results} = f(x, z, [a, b]);"),
    )
}

/// x = [[1, 5, 3], [4, 2, 6]], z = [10, 20, 30], xs = [[1, 2, 3], [-1, -2, -3]].
fn inputs() -> Vec<Tensor> {
    vec![
        Tensor::from_f32(&[2, 3], &[1.0, 5.0, 3.0, 4.0, 2.0, 6.0]).unwrap(),
        reals_of(&[10.0, 20.0, 30.0]),
        reals_of(&[1.0, 2.0, 3.0]),
        reals_of(&[-1.0, -2.0, -3.0]),
    ]
}

#[test]
fn s2_12_assignments() {
    let mut rows = Rows::default();
    let given = inputs();
    let mut row = |numbers: &[u16], output: &str, lower: &str, wanted: &[f32]| {
        rows.output(numbers, &lowered(output, lower), &given, wanted);
    };
    row(&[233, 243], "y: real[m];", "y[i,] += x[i,j], i < m, j < n;", &[9.0, 12.0]);
    row(&[243], "y: real[n];", "y[j,] += x[i,j], i < m, j < n;", &[5.0, 7.0, 9.0]);
    row(&[243], "y: real[m,n];", "y[i,j] = z[j,], i < m, j < n;", &[10.0, 20.0, 30.0, 10.0, 20.0, 30.0]);
    row(&[243], "y: real[m];", "y[i,] = 7.0, i < m;", &[7.0, 7.0]);
    row(&[237], "y: real[m];", "y[i,] = 4.0, i < m; y[i,] <= x[i,j], i < m, j < n;", &[1.0, 2.0]);
    row(&[237], "y: real[m];", "y[i,] = 5.5, i < m; y[i,] >= x[i,j], i < m, j < n;", &[5.5, 6.0]);
    row(&[237, 240], "y: real[m];", "y[i,] <= x[i,j], i < m, j < n;", &[1.0, 2.0]);
    row(&[237], "y: real[m];", "y[i,] = 0.0, i < m; y[i,] := x[i,j], i < m, j < n;", &[3.0, 6.0]);
    row(&[236, 239], "y: real[m];", "y[i,] *= x[i,j], i < m, j < n;", &[15.0, 48.0]);
    row(&[236, 239], "y: bool[m];", "y[i,] &= x[i,j] < 6.0, i < m, j < n;", &[1.0, 0.0]);
    row(&[236, 239], "y: bool[m];", "y[i,] |= x[i,j] > 5.0, i < m, j < n;", &[0.0, 1.0]);
    row(&[239], "y: real[m];", "y[i,] += x[i,j], i < m, j < 0;", &[0.0, 0.0]);
    row(&[239], "y: real[m];", "y[i,] *= x[i,j], i < m, j < 0;", &[1.0, 1.0]);
    row(&[238], "y: real[m];", "y[i,] = 100.0, i < m; y[i,] += x[i,j], i < m, j < n;", &[109.0, 112.0]);
    row(
        &[241],
        "y: real[n];",
        "y[j,] = z[j,] > 15.0 ? `sqrt`(z[j,] * 5.0) : real(int(z[j,]) / 3), j < n;",
        &[3.0, 10.0, 12.247_449],
    );
    row(&[241, 244], "y: real[n];", "y[j,] = none[j,] ?? z[j,], j < n;", &[10.0, 20.0, 30.0]);
    row(&[92], "y: bool[n];", "y[j,] = z[j,] == 20.0 && x[0,j] > 1.0, j < n;", &[0.0, 1.0, 0.0]);
    row(&[91, 234], "y: real[m,n];", "y[i..] = x[i..] + 1.0, i < [m, n];", &[2.0, 6.0, 4.0, 5.0, 3.0, 7.0]);
    row(&[91], "y: real[n];", "y[j,] = z[int(x[0,j]) / 2,], j < n;", &[10.0, 30.0, 20.0]);
    row(&[250], "y: real[n];", "t = z[j,] / 10.0, u = t * t, y[j,] = t + u, j < n;", &[2.0, 6.0, 12.0]);
    for operator in ["-=", "/=", "^=", "<<=", "<"] {
        let document = lowered("y: real[n];", &format!("y[j,] {operator} z[j,], j < n;"));
        rows.rejected(&[236], &codes::SYNTAX, &document);
    }
    rows.rejected(&[92], &codes::FORMULA_TYPE, &lowered("y: int[n];", "y[j,] = z[j,], j < n;"));
    rows.rejected(&[92], &codes::TYPES_DIFFER, &lowered("y: real[n];", "y[j,] = z[j,] * 2, j < n;"));
    rows.rejected(&[251], &codes::SYNTAX, &lowered("y: real[n];", "y[j,] = z[j,], t = 1.0, j < n;"));
    rows.rejected(&[251], &codes::SYNTAX, &lowered("y: real[n];", "y[j,] = z[j,], y[j,] = 1.0, j < n;"));
    rows.rejected(&[93], &codes::SYNTAX, &lowered("y: real[n];", "y[j] = z[j,] += 1.0, j < n;"));
    rows.rejected(&[245], &codes::LENGTHS_DIFFER, &lowered("y: real[n]..(2);", "y[j,] = [z[j,]], j < n;"));
}

#[test]
fn s2_12_packs_conditions_and_order() {
    let mut rows = Rows::default();
    let given = inputs();
    let mut row = |numbers: &[u16], output: &str, lower: &str, wanted: &[f32]| {
        rows.output(numbers, &lowered(output, lower), &given, wanted);
    };
    row(&[94], "y: real[n];", "y[j,] = xs[1][j,] + z[j,], j < n;", &[9.0, 18.0, 27.0]);
    row(&[94], "y: real[n];", "y[j,] = (xs[j,] >> ..) ?? 0.0, j < n;", &[1.0, 2.0, 3.0]);
    row(
        &[242],
        "y: real[n]..(2);",
        "y[p][j,] = xs[p][j,] * 2.0, p < c, j < n;",
        &[2.0, 4.0, 6.0, -2.0, -4.0, -6.0],
    );
    row(&[242], "y: real[n];", "y[j,] += xs[p][j,] * real(p), p < c, j < n;", &[-1.0, -2.0, -3.0]);
    row(&[245], "y: real[n]..(2);", "y[j,] = xs[j,] + z[j,], j < n;", &[11.0, 22.0, 33.0, 9.0, 18.0, 27.0]);
    // Where the maximum 6 stands: both indices are written by one step, so the test is made on both old ones.
    let search = "y[] = 0; y[] := [i, j], i < m, j < n | x[i,j] > x[y[]..];";
    row(&[245, 246, 248], "y: int[]..(2);", search, &[1.0, 2.0]);
    // A swap shows that the old items are read before any is written.
    row(
        &[246],
        "y: int[]..(2);",
        "y[] = [3, 5]; y[] := [y[1][], y[0][]], i < 1 | y[0][] < y[1][];",
        &[5.0, 3.0],
    );
    row(&[247], "y: real[n];", "y[j,] = z[j,], j < n | j != 1;", &[10.0, 0.0, 30.0]);
    row(&[247], "y: real[m];", "y[i,] += x[i,j], i < m, j < n | x[i,j] > 3.5;", &[5.0, 10.0]);
    row(
        &[248],
        "y: real[m];",
        "y[i,] = 0.0, i < m; y[i,] := x[i,j], i < m, j < n | y[i,] < 4.0;",
        &[5.0, 4.0],
    );
    row(
        &[249],
        "y: real[n];",
        "unroll..(p -> c) y[j,] += xs[p][j,] * real(p + 1), j < n;",
        &[-1.0, -2.0, -3.0],
    );
    row(
        &[249],
        "y: real[n]..(2);",
        "unroll..(p -> 2) y[p][j,] = z[j,] + real(p), j < n;",
        &[10.0, 20.0, 30.0, 11.0, 21.0, 31.0],
    );
}

#[test]
fn s2_12_boundaries() {
    let mut rows = Rows::default();
    let given = inputs();
    let mut row = |numbers: &[u16], output: &str, lower: &str, wanted: &[f32]| {
        rows.output(numbers, &lowered(output, lower), &given, wanted);
    };
    row(&[95, 253], "y: real[n];", "y[j,] += z[|j + i - 1|,], j < n, i < 3;", &[30.0, 60.0, 50.0]);
    // The whole instance is skipped: `+ 1000` is not added at the border either.
    row(&[253], "y: real[n];", "y[j,] += z[|j - 1|,] + 1000.0, j < n;", &[0.0, 1010.0, 1020.0]);
    row(&[253], "y: real[n];", "y[j,] = x[0,j] + z[|j + 1|,], j < n;", &[21.0, 35.0, 0.0]);
    row(&[254, 95], "y: real[n];", "y[j,] = z[|j - 1 <> 0 : n - 1|,], j < n;", &[10.0, 10.0, 20.0]);
    row(
        &[254],
        "y: real[n + 2];",
        "y[j,] = z[|j - 1 <> 2 : 0|,], j < n + 2;",
        &[30.0, 10.0, 20.0, 30.0, 10.0],
    );
    rows.rejected(&[252], &codes::ACCESS_OUT_OF_RANGE, &lowered("y: real[n];", "y[j,] = z[j + 1,], j < n;"));
    rows.rejected(&[252], &codes::ACCESS_OUT_OF_RANGE, &lowered("y: real[n];", "y[j,] = z[j - 1,], j < n;"));
    rows.rejected(
        &[252],
        &codes::ACCESS_OUT_OF_RANGE,
        &lowered("y: real[n];", "y[j,] = z[n - j * j,], j < n;"),
    );
    rows.stops(
        &[252],
        &lowered("y: real[n];", "y[j,] = x[0,j] > 2.0 ? z[j + 1,] : 0.0, j < n;"),
        &given,
        "an index of `z` is 3 where j = 2, the tensor's extent is 3",
    );
    // What data decide: a read is clamped, a write out of range is dropped.
    rows.output(
        &[252],
        &lowered("y: real[n];", "y[j,] = z[int(x[0,j]),], j < n;"),
        &given,
        &[20.0, 30.0, 30.0],
    );
    rows.output(
        &[252],
        &lowered("y: real[n];", "y[j,] = 0.0, j < n; y[int(x[0,j]),] := z[j,], j < n;"),
        &given,
        &[0.0, 10.0, 0.0],
    );
    rows.rejected(&[275], &codes::FORMULA_CONDITION, &lowered("y: real[n];", "y[j,] = z[j,], j < n | j;"));
}
