// SPDX-License-Identifier: Apache-2.0
//! Packs of dynamic length (2.4, 2.6): ranges, lists, items and quantizers of them.

use crate::run::{elements, model_with, outputs, reals, run};
use skript_frontend::compose::ComposeOptions;
use skript_reference::evaluate;
use skript_tensor::Tensor;
use std::sync::Arc;

const ADD: &str = "operator add { @input { a: real[n]; b: real[n]; } @output { c: real[n]; } \
    @lower { c[i,] = a[i,] + b[i,], i < n; } } \
    operator differences { @input { xs: real[m]..(k); zs: real[m]..(k); } @output { ys: real[m]..(k); } \
    @lower { ys[i,] = xs[i,] - zs[i,], i < m; } } ";

fn graph(outputs: &str, statements: &str) -> String {
    format!(
        "{ADD} graph G {{ @input {{ xs: real[1]..(s|4); x: real[1]; }} @output {{ {outputs} }} @compose {{ {statements} }} }}"
    )
}

fn results(outputs_text: &str, statements: &str, items: &[f32]) -> Result<Vec<Vec<f64>>, String> {
    let text = graph(outputs_text, statements);
    let given = [reals(&[items.len() as u64, 1], items), reals(&[1], &[9.0])];
    match run(&text, &given) {
        Ok(_) => Ok(outputs(&text, &given)),
        Err(error) => Err(error.failure.to_string()),
    }
}

#[test]
fn s2_4_ranges_and_lists_are_packs() {
    let packs = "tail: real[1]..(a|3); body: real[1]..(b|3); framed: real[1]..(c|6); back: real[1]..(d|4); mixed: real[1]..(e|9);";
    let statements = "tail.. = xs[1:]; body.. = xs[:-1]; framed.. = [x, xs.., x]; back.. = xs[::-1]; \
        mixed.. = [xs[-1], x, xs[1:].., xs..];";
    let all = results(packs, statements, &[1.0, 2.0, 4.0]).unwrap();
    let expected: [&[f64]; 5] = [
        &[2.0, 4.0],
        &[1.0, 2.0],
        &[9.0, 1.0, 2.0, 4.0, 9.0],
        &[4.0, 2.0, 1.0],
        &[4.0, 9.0, 2.0, 4.0, 1.0, 2.0, 4.0],
    ];
    assert_eq!(all, expected);
    let one = results(packs, statements, &[5.0]).unwrap();
    let expected: [&[f64]; 5] = [&[], &[], &[9.0, 5.0, 9.0], &[5.0], &[5.0, 9.0, 5.0]];
    assert_eq!(one, expected);
    // As of packs whose length is known, nothing is after the first of no items.
    let none = results("tail: real[1]..(a|3);", "tail.. = xs[1:];", &[]);
    assert_eq!(none, Err("a range from 1 is out of bounds: the pack has 0 items".to_string()));
}

/// Folds of lists that contain packs of dynamic length, compared with those of static lists.
#[test]
fn s2_4_joined_lists_are_folded_part_by_part() {
    let helpers =
        "a = [n, t.., n - 5]; b = [0, (t + ...)..]; c = [t.., 7, t.., 2]; d = [9, (t + ...)[::-1]..];";
    let folds = "[a + .., b + .., c + .., d + .., c * .., (c << ..) ?? -1, (c >> ..) ?? -1, (d << ..) ?? -1, (b >> ..) ?? -1, \
        int(b < ..), int(a < ..), int(d > ..), int(c >= ..), int(c == ..), int(7 in c), int(8 in c), int(n in a), \
        (c + ...)[k + 1], (a + ...)[-1], (a >> ...)[k], (c << ...)[-1], (a + ...) + ..]";
    let text = format!(
        "operator f {{ @input {{ xs: real[..t]..(k); }} @using {{ n = 8; {helpers} all = {folds}; }} @output {{ y: int[22]; }} \
         @lower {{ y[i,] = all[i], i < 22; }} }} \
         graph G {{ @input {{ xs: real[3]..(s|4); }} @output {{ y: int[22]; }} @compose {{ y = f(xs); }} }}"
    );
    for k in 0..4_u64 {
        let t = vec![3_i64; k as usize];
        let sums: Vec<i64> = (1..=k as i64).map(|n| 3 * n).collect();
        let list = |parts: &[&[i64]]| parts.concat();
        let a = list(&[&[8], &t, &[3]]);
        let b = list(&[&[0], &sums]);
        let c = list(&[&t, &[7], &t, &[2]]);
        let reversed: Vec<i64> = sums.iter().rev().copied().collect();
        let d = list(&[&[9], &reversed]);
        let sum = |list: &[i64]| list.iter().sum::<i64>();
        let least = |list: &[i64]| *list.iter().min().unwrap();
        let most = |list: &[i64]| *list.iter().max().unwrap();
        let sorted = |list: &[i64], by: fn(i64, i64) -> bool| {
            i64::from(list.windows(2).all(|pair| by(pair[0], pair[1])))
        };
        let holds = |list: &[i64], item: i64| i64::from(list.contains(&item));
        let position = k as usize;
        let sums_of = |list: &[i64]| -> Vec<i64> { (1..=list.len()).map(|n| sum(&list[..n])).collect() };
        let expected = [
            sum(&a),
            sum(&b),
            sum(&c),
            sum(&d),
            c.iter().product(),
            least(&c),
            most(&c),
            least(&d),
            most(&b),
            sorted(&b, |x, y| x < y),
            sorted(&a, |x, y| x < y),
            sorted(&d, |x, y| x > y),
            sorted(&c, |x, y| x >= y),
            sorted(&c, |x, y| x == y),
            holds(&c, 7),
            holds(&c, 8),
            holds(&a, 8),
            sum(&c[..position + 2]),
            sum(&a),
            most(&a[..=position]),
            least(&c),
            sums_of(&a).iter().sum(),
        ];
        let given = [reals(&[k, 3], &vec![1.0; 3 * position])];
        assert_eq!(outputs(&text, &given), [expected.map(|value| value as f64).to_vec()], "{k} items");
    }
}

/// Folds without a closed form are unrolled to the upper bound of the length.
#[test]
fn s2_4_folds_without_a_closed_form_are_those_of_the_items() {
    let helpers = "a = [n, t.., n - 5]; sums = t + ...; mixed = [1, (sums % 4).., 9]; few = [7, sums[::2]..]; \
        halves = real(sums) / 2.0; again = [sums.., (sums[::-1] + 1)..];";
    let folds = "[int(a != ..), int(mixed != ..), int(few != ..), int(sums != ..), int([2, sums.., 5] != ..), int(again != ..), \
        sums * .., mixed * .., mixed + .., (mixed << ..) ?? -1, (mixed >> ..) ?? -1, int(mixed < ..), int((sums * sums) < ..), \
        int(9 in sums * sums), int(1 in mixed), int(halves + ..), int((sums > 2) && ..), int((sums > 8) || ..), \
        (mixed + ...)[k + 1], ((sums * sums) + ...)[-1], ((mixed - sums[0]) >> ...)[k], (few := ..) ?? -1, (a := ..) ?? -2]";
    let text = format!(
        "operator f {{ @input {{ xs: real[..t]..(k); }} @using {{ n = 8; {helpers} all = {folds}; }} @output {{ y: int[23]; }} \
         @assert {{ sums > 2: \"too small\"; sums < 100; }} @lower {{ y[i,] = all[i], i < 23; }} }} \
         graph G {{ @input {{ xs: real[3]..(s|4); }} @output {{ y: int[23]; }} @compose {{ y = f(xs); }} }}"
    );
    for k in 1..4_u64 {
        let sums: Vec<i64> = (1..=k as i64).map(|n| 3 * n).collect();
        let list = |parts: &[&[i64]]| parts.concat();
        let a = list(&[&[8], &vec![3; k as usize], &[3]]);
        let remainders: Vec<i64> = sums.iter().map(|sum| sum % 4).collect();
        let mixed = list(&[&[1], &remainders, &[9]]);
        let every_second: Vec<i64> = sums.iter().copied().step_by(2).collect();
        let few = list(&[&[7], &every_second]);
        let after: Vec<i64> = sums.iter().rev().map(|sum| sum + 1).collect();
        let squares: Vec<i64> = sums.iter().map(|sum| sum * sum).collect();
        let differ = |list: &[i64]| {
            let mut sorted = list.to_vec();
            sorted.sort_unstable();
            i64::from(sorted.windows(2).all(|pair| pair[0] != pair[1]))
        };
        let rises = |list: &[i64]| i64::from(list.windows(2).all(|pair| pair[0] < pair[1]));
        let position = k as usize;
        let expected = [
            differ(&a),
            differ(&mixed),
            differ(&few),
            differ(&sums),
            differ(&list(&[&[2], &sums, &[5]])),
            differ(&list(&[&sums, &after])),
            sums.iter().product(),
            mixed.iter().product(),
            mixed.iter().sum(),
            *mixed.iter().min().unwrap(),
            *mixed.iter().max().unwrap(),
            rises(&mixed),
            rises(&squares),
            i64::from(squares.contains(&9)),
            1,
            sums.iter().sum::<i64>() / 2,
            1,
            i64::from(sums.iter().any(|sum| *sum > 8)),
            mixed[..position + 2].iter().sum(),
            squares.iter().sum(),
            mixed[..=position].iter().max().unwrap() - 3,
            -1,
            -2,
        ];
        let given = [reals(&[k, 3], &vec![1.0; 3 * position])];
        assert_eq!(outputs(&text, &given), [expected.map(|value| value as f64).to_vec()], "{k} items");
    }
}

/// Packs of dynamic length beside lists, in zips, with replaced items, and with an extent as length.
#[test]
fn s2_4_packs_of_run_time_length_stand_beside_others() {
    let text = "operator f { @input { xs: real[..t]..(k); } \
        @using { sums = t + ...; scaled = t * [1, 10]; pairs = [(sums, t, [7 ..(k)])..]; first = sums[0] <- 5; \
            moved = sums[1:] <- sums[:-1]; back = sums[::-1] <- sums; same = [4 ..(k)]; counted = [0:k]; down = [k:0:-1]; } \
        @output { y: int[2,9]; z: int[3 * k]; } \
        @lower { all = [scaled[i], first[i], moved[i], back[i], same[i], counted[i], down[i], same + .., (down != ..) ? 1 : 0], \
            y[i,j] = all[j], i < 2, j < 9; z[i,] = pairs[i], i < 3 * k; } } \
        graph G { @input { xs: real[3]..(s|4); } @output { y: int[2,9]; z: int[~]; } @compose { y, z = f(xs); } }";
    let given = |k: u64| [reals(&[k, 3], &vec![1.0; 3 * k as usize])];
    let expected: [&[f64]; 2] = [
        &[
            3.0, 5.0, 3.0, 6.0, 4.0, 0.0, 2.0, 8.0, 1.0, //
            30.0, 6.0, 3.0, 3.0, 4.0, 1.0, 1.0, 8.0, 1.0,
        ],
        &[3.0, 3.0, 7.0, 6.0, 3.0, 7.0],
    ];
    assert_eq!(outputs(text, &given(2)), expected);
    let three = run(text, &given(3)).err().unwrap().failure.to_string();
    assert_eq!(three, "packs have different lengths here: 3 and 2");
}

#[test]
fn s2_10_1_ranges_are_scanned_and_passed() {
    let all = results(
        "sum: real[1]; steps: real[1]..(a|3); last: real[1];",
        "sum = with t = x for each : xs[1:] do add(t, each); steps.. = differences(xs[1:], xs[:-1]); last = xs[s - 1];",
        &[1.0, 3.0, 7.0],
    );
    assert_eq!(all.unwrap(), [vec![19.0], vec![2.0, 4.0], vec![7.0]]);
    let none = results("last: real[1];", "last = xs[s - 1];", &[]);
    assert_eq!(none, Err("index -1 is out of range: the pack has 0 items".to_string()));
}

/// Each item is quantized separately: the quantizer divides by the item's largest element.
#[test]
fn s2_14_items_of_packs_pass_through_their_quantizers() {
    let text = "operator largest { @input { x: real[n]; } @output { y: real[]; } @lower { y[] >= x[i,], i < n; } } \
        operator scaled { @input { x: real[n]; m: real[]; } @output { y: real[n]; } @lower { y[i,] = x[i,] / m[], i < n; } } \
        operator normed { @input { x: real[n]; } @output { y: real[n]; } @compose { m = largest(x); y = scaled(x, m); } } \
        graph G { @input { xs: real[2]..(s|3); } @output { ys: real[2]..(s); } @compose { ys.. = xs; } @quantize { xs: normed; } }";
    let options = |simulate| ComposeOptions { simulate_quantization: simulate, ..ComposeOptions::default() };
    let given = [reals(&[2, 2], &[1.0, 2.0, 8.0, 4.0])];
    for (simulate, expected) in [(false, [1.0, 2.0, 8.0, 4.0]), (true, [0.5, 1.0, 1.0, 0.5])] {
        let model = model_with(text, None, &options(simulate)).unwrap_or_else(|e| panic!("{e:#?}"));
        let outcome = evaluate(&model, &given, &[]).unwrap();
        assert_eq!(elements(outcome.outputs.first().unwrap()), expected);
    }
}

/// The names in a composition's output declarations, `..(n|6)` and `real[m|9]`, have values after the assignment.
#[test]
fn s2_10_1_outputs_tell_their_lengths_and_extents() {
    let text = "operator twice { @input { x: real[s]; } @output { y: real[s]; } @lower { y[i,] = 2.0 * x[i,], i < s; } } \
        operator filled { @attrib { n: int; } @input { x: real[s]; } @output { y: real[n]; } @lower { y[i,] = x[0,], i < n; } } \
        operator steps { @input { x: real[2]; k: int[]; } @output { ys: real[2]..(n|6); z: real[2]; w: real[n]; } \
        @compose { t, ys = with s = x do..(k) { a = twice(s); yield a, a; }; z = ys[n-1]; w = filled{n=n}(x); } } \
        operator grown { @input { x: real[s]; } @output { y: real[m|9]; z: real[m]; } @compose { y = twice(x); z = filled{n=m}(x); } } \
        graph G { @input { x: real[2]; k: int[]; v: real[e|7]; } @output { z: real[2]; w: real[~|6]; p: real[~|9]; q: real[~|9]; } \
        @compose { ys..(c|6), z, w = steps(x, k); p, q = grown(v); } }";
    let count = Arc::new(Tensor::from_i64(&[], &[3]).unwrap());
    let given = [reals(&[2], &[1.0, 2.0]), count, reals(&[3], &[4.0, 5.0, 6.0])];
    let expected: [&[f64]; 4] = [&[8.0, 16.0], &[1.0; 3], &[8.0, 10.0, 12.0], &[4.0; 3]];
    assert_eq!(outputs(text, &given), expected);
}
