// SPDX-License-Identifier: Apache-2.0
//! What revision 8 of the specification adds to the edition khronos; values worked out by hand.

use std::sync::Arc;

use skript_frontend::compose::ComposeOptions;
use skript_frontend::program::Edition;
use skript_tensor::Tensor;

use crate::run::{elements, ints, model_with, reals, run_khronos};

fn outputs(text: &str, inputs: &[Arc<Tensor>]) -> Vec<Vec<f64>> {
    let outcome = run_khronos(text, inputs).unwrap_or_else(|error| panic!("{text}: {error}"));
    outcome.outputs.iter().map(|t| elements(t)).collect()
}

fn failure(text: &str, inputs: &[Arc<Tensor>]) -> String {
    let error = run_khronos(text, inputs).err();
    error.map_or_else(String::new, |error| error.failure.to_string())
}

/// The messages of a document that is rejected.
fn refused(text: &str) -> Vec<String> {
    let model = model_with(text, Some(Edition::Khronos), &ComposeOptions::default());
    model.err().unwrap_or_default()
}

/// Rows as a pack of dynamic length, with this formula or helper over the pack.
fn over_rows(helpers: &str, formula: &str) -> String {
    format!(
        "operator rows {{ @input {{ x: real[n,m]; }} @output {{ ys: real[m]..(n); }} \
         @lower {{ ys[k][i,] = x[k,i], k < n, i < m; }} }} \
         operator f {{ @input {{ xs: real[m]..(k); }} @output {{ y: real[m]; }} \
         @using {{ {helpers} }} @lower {{ {formula}; }} }} \
         graph G {{ @input {{ x: real[s|4,2]; }} @output {{ y: real[2]; }} \
         @compose {{ a.. = rows(x); y = f(a); }} }}"
    )
}

#[test]
fn minimum_and_maximum_of_no_items_end_the_run() {
    let x = reals(&[2, 2], &[1.0, 5.0, 3.0, -2.0]);
    let none = reals(&[0, 2], &[]);
    for (helpers, formula, wanted) in [
        ("", "y[i,] = xs[i,] >? .., i < m", [3.0, 5.0]),
        ("", "y[i,] = xs[i,] <? .., i < m", [1.0, -2.0]),
        ("", "y[i,] = (xs[i,] <? ..) ?? 7.0, i < m", [1.0, -2.0]),
        ("e = [0:k] >? ..;", "y[i,] = real(e), i < m", [1.0, 1.0]),
    ] {
        let text = over_rows(helpers, formula);
        assert_eq!(outputs(&text, std::slice::from_ref(&x)), [wanted], "{text}");
        let message = failure(&text, std::slice::from_ref(&none));
        assert!(message.contains("this pack is empty"), "{text}: {message}");
    }
    let tested = over_rows("e = k > 0 ? ([0:k] >? ..) : 7;", "y[i,] = real(e), i < m");
    assert_eq!(outputs(&tested, &[x]), [[1.0, 1.0]]);
    assert_eq!(outputs(&tested, &[none]), [[7.0, 7.0]]);
}

#[test]
fn a_step_that_folds_no_items_is_refused() {
    let text = |begin: &str| {
        format!(
            "operator f {{ @input {{ x: real[n]; }} @output {{ y: int[n]; }} \
             @lower {{ y[i,] = [{begin}:i + 1] >? .., i < n; }} }} \
             graph G {{ @input {{ x: real[3]; }} @output {{ y: int[3]; }} @compose {{ y = f(x); }} }}"
        )
    };
    assert_eq!(outputs(&text("0"), &[reals(&[3], &[0.0; 3])]), [[0.0, 1.0, 2.0]]);
    let messages = refused(&text("1"));
    assert!(messages[0].starts_with("SK0456"), "{messages:?}");
}

#[test]
fn accumulations_of_extrema_need_no_start() {
    let text = "operator f { @input { x: real[n,m]; } @output { y: real[n]; } \
        @lower { y[i,] <?= x[i,j], i < n, j < m; } } \
        graph G { @input { x: real[2,3]; } @output { y: real[2]; } @compose { y = f(x); } }";
    let x = [reals(&[2, 3], &[1.0, 5.0, 2.0, 7.0, 3.0, 0.0])];
    assert_eq!(outputs(text, &x), [[1.0, 0.0]]);
    assert_eq!(outputs(&text.replace("<?=", ">?="), &x), [[5.0, 7.0]]);
}

#[test]
fn functions_are_operators_first_and_take_packs() {
    let text = "operator sqrt { @input { x: real[]; } @output { y: real[]; } @lower { y[] = x[] * 10.0; } } \
        operator scale { @attrib { k: real..(n); } @input { x: real[]; } @output { y: real[]; } \
        @lower { y[] = x[] * (k + ..); } } \
        graph G { @attrib { a: real = 4.0; b: real..(q) = [4.0, 9.0]; } @input { x: real[]; } \
        @output { u: real[]; v: real[]; w: real[]; } \
        @compose { u = sqrt(a); v = (sqrt(a)); w = scale{k=sqrt(b)}(x); } }";
    let found = outputs(text, &[reals(&[], &[3.0])]);
    assert_eq!(found, [[40.0], [2.0], [15.0]]);
}

#[test]
fn channels_stand_where_an_attribute_puts_them() {
    let text = |call: &str, shape: &str| {
        format!(
            "operator sums {{ @attrib {{ data_format: str = 'NCX'; }} \
             @input {{ input: real[b,c..(ncx),s..(d),c..(!ncx)]; }} @output {{ y: real[b,c]; }} \
             @using {{ ncx = data_format == 'NCX'; }} \
             @lower {{ y[i,j] += input[i,j..(ncx),k..,j..(!ncx)], i < b, j < c, k < s; }} }} \
             graph G {{ @input {{ x: real[{shape}]; }} @output {{ y: real[~,~]; }} \
             @compose {{ y = sums{call}(x); }} }}"
        )
    };
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let first = outputs(&text("", "1,2,3"), &[reals(&[1, 2, 3], &x)]);
    assert_eq!(first, [[6.0, 15.0]]);
    let last = text("{data_format='NXC'}", "1,3,2");
    assert_eq!(outputs(&last, &[reals(&[1, 3, 2], &x)]), [[9.0, 12.0]]);
}

#[test]
fn a_module_names_its_own_operators_in_full() {
    let text = "operator add { @input { x: real[n]; z: real[n]; } @output { y: real[n]; } \
        @lower { y[i,] = x[i,] + z[i,], i < n; } } \
        graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = main.add(x, x); } }";
    assert_eq!(outputs(text, &[reals(&[2], &[1.0, 2.0])]), [[2.0, 4.0]]);
}

/// Formulas over x: real[n,m] and z: real[n], with static extents or with m at most 4.
fn rows(extent: &str, formulas: &str) -> String {
    format!(
        "operator f {{ @input {{ x: real[n,m]; z: real[n]; }} @output {{ y: real[n,m]; }} \
         @using {{ mi = [0:m]; }} @lower {{ {formulas} }} }} \
         graph G {{ @input {{ x: real[2,{extent}]; z: real[2]; }} @output {{ y: real[2,~]; }} \
         @compose {{ y = f(x, z); }} }}"
    )
}

#[test]
fn one_dimension_is_assigned_as_a_pack() {
    let x = reals(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let inputs = [x, reals(&[2], &[10.0, 20.0])];
    for extent in ["3", "s|4"] {
        for formula in [
            "y[i,:] = x[i,:] + z[i,], i < n;",
            "y[i,mi] = x[i,mi] + z[i,], i < n;",
            "with r = x[i,:]: y[i,:] = r + z[i,], i < n;",
        ] {
            let found = outputs(&rows(extent, formula), &inputs);
            assert_eq!(found, [[11.0, 12.0, 13.0, 24.0, 25.0, 26.0]], "{extent}: {formula}");
        }
        let some = "y[i,j] = 0.0, i < n, j < m; y[i,:] := x[i,:], i < n | x[i,0] > 2.0;";
        let found = outputs(&rows(extent, some), &inputs);
        assert_eq!(found, [[0.0, 0.0, 0.0, 4.0, 5.0, 6.0]], "{extent}");
    }
}

#[test]
fn a_long_dimension_is_assigned_as_a_short_one() {
    let x: Vec<f32> = (0..200_u8).map(f32::from).collect();
    let inputs = [reals(&[2, 100], &x), reals(&[2], &[0.5, -0.5])];
    let found = outputs(&rows("100", "y[i,:] = x[i,:] - z[i,] * real(mi), i < n;"), &inputs);
    let wanted: Vec<f64> =
        (0..200).map(|p| f64::from(p) + f64::from(p % 100) * if p < 100 { -0.5 } else { 0.5 }).collect();
    assert_eq!(found, [wanted]);
    // The condition is tested once, before anything is written.
    let own = "y[i,j] = -1.0, i < n, j < m; y[i,:] := x[i,:], i < n | y[i,0] < z[i,];";
    assert_eq!(outputs(&rows("100", own), &inputs)[0], x.iter().map(|v| f64::from(*v)).collect::<Vec<_>>());
}

#[test]
fn positions_are_replaced_together() {
    let text = "operator f { @input { x: real[m,n]; } @output { at: int[2]; } \
        @lower { at[:,] = [0,0]; at[:,] := [i,j], i < m, j < n | x[i,j] > x[at[:,]..]; } } \
        graph G { @input { x: real[2,3]; } @output { at: int[2]; } @compose { at = f(x); } }";
    let x = [reals(&[2, 3], &[1.0, 5.0, 2.0, 7.0, 3.0, 0.0])];
    assert_eq!(outputs(text, &x), [[1.0, 0.0]]);
    let pack = text.replace("int[2]", "int[]..(2)").replace("at[:,]", "at[]");
    assert_eq!(outputs(&pack.replace("at = f", "at.. = f"), &x), [[1.0], [0.0]]);
}

#[test]
fn remapped_indices_need_not_be_affine() {
    let text = "operator f { @input { x: real[n]; at: int[n]; } @output { y: real[n]; } \
        @lower { y[i,] = x[|at[i,] * at[i,] - 1 <> i / 2 : n - 1|,], i < n; } } \
        graph G { @input { x: real[4]; at: int[4]; } @output { y: real[4]; } @compose { y = f(x, at); } }";
    let inputs = [reals(&[4], &[1.0, 2.0, 3.0, 4.0]), ints(&[4], &[3, 1, 0, -1])];
    assert_eq!(outputs(text, &inputs), [[4.0, 1.0, 2.0, 1.0]]);
}

#[test]
fn a_symbol_with_a_bound_counts_points_in_their_order() {
    let text = "operator f { @input { x: real[s..(d)]; } @output { at: int[d,k|(s * ..)]; } \
        @lower { at[:,k] = i, i < s | x[i..] != 0.0; } } \
        graph G { @input { x: real[2,3]; } @output { at: int[2,~]; } @compose { at = f(x); } }";
    let x = reals(&[2, 3], &[1.0, 0.0, 2.0, 0.0, 3.0, 4.0]);
    let wanted = [0.0, 0.0, 1.0, 1.0, 0.0, 2.0, 1.0, 2.0];
    assert_eq!(outputs(text, &[x]), [wanted]);
}
