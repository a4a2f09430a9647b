// SPDX-License-Identifier: Apache-2.0
//! Values of folds (2.4).

use super::rows::Rows;
use skript_frontend::diagnostics::codes;

#[test]
fn s2_4_folds() {
    let mut rows = Rows::default();
    rows.int(&[64], "p + ..", 15);
    rows.int(&[64], "p * ..", 120);
    rows.ints(&[64], "[e + .., e * ..]", &[0, 1]);
    rows.reals(&[64], "[ps + .., er + .., er * ..]", &[2.0, 0.0, 1.0]);
    rows.bools(&[64], "[m && .., m || .., eb && .., eb || ..]", &[false, true, true, false]);
    rows.bools(
        &[65],
        "[p < .., p > .., [1, 1] < .., [1, 1] <= .., [2, 2, 1] >= .., [2, 2, 1] > ..]",
        &[true, false, false, true, true, false],
    );
    rows.bools(&[65], "[[1, 3, 2] <= .., [3, 2, 2] >= ..]", &[false, true]);
    rows.bools(&[65], "[e < .., e > .., e <= .., e >= ..]", &[true, true, true, true]);
    rows.bools(&[66], "[p != .., [1, 2, 1] != .., ws != .., e != ..]", &[true, false, false, true]);
    rows.bools(
        &[66],
        "[p == .., [7, 7] == .., ['a', 'a'] == .., m == .., e == ..]",
        &[false, true, true, false, true],
    );
    rows.int(&[67, 68], "([7, 7, 7] := ..) ?? 0", 7);
    rows.int(&[68], "([n ..(4)] := ..) ?? 0", 3);
    rows.null(&[67, 68], "[7, 8] := ..");
    rows.null(&[68], "e := ..");
    rows.int(&[68], "([n ..(4)] + [1, 1, 1, 1] := ..) ?? 0", 4);
    rows.int(&[68], "(-[n ..(4)] := ..) ?? 0", -3);
    rows.null(&[68], "[n ..(3)] + p := ..");
    rows.int(&[69], "(p << ..) ?? 0", 4);
    rows.int(&[69], "(p >> ..) ?? 0", 6);
    rows.real(&[69], "(ps >> ..) ?? 0.0", 1.5);
    rows.null(&[69], "e << ..");
    rows.null(&[69], "er >> ..");
    rows.int(&[70], "(p + ..) - (p[::-1] + ..)", 0);
    rows.int(&[70], "(p * ..) - (p[[1, 2, 0]] * ..)", 0);
    rows.ints(&[70], "[(p << ..) ?? 0, (p[::-1] << ..) ?? 0]", &[4, 4]);
    rows.int(&[71], "p + .. + 42", 57);
    rows.int(&[71], "p * .. * 2", 240);
    rows.wrong(&[63], &codes::NOT_A_PACK, "n + ..");
}

#[test]
fn s2_4_cumulative_folds() {
    let mut rows = Rows::default();
    rows.ints(&[72], "p + ...", &[4, 9, 15]);
    rows.ints(&[72], "p * ...", &[4, 20, 120]);
    rows.ints(&[72], "[3, 1, 2] << ...", &[3, 1, 1]);
    rows.ints(&[72], "[3, 1, 5] >> ...", &[3, 3, 5]);
    rows.bools(&[72], "m && ...", &[true, false, false]);
    rows.bools(&[72], "[false, true, false] || ...", &[false, true, true]);
    rows.ints(&[72], "e + ...", &[]);
    rows.ints(&[72], "e >> ...", &[]);
    for operator in ["<", "<=", "==", "!=", ":=", "-"] {
        rows.wrong(&[73], &codes::SYNTAX, &format!("p {operator} ..."));
    }
}
