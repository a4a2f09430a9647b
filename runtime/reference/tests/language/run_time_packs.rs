//! Packs whose length only the run knows (2.4, 2.6): ranges, lists, items and quantizers of them.

use crate::run::{elements, model_with, outputs, reals, run};
use skript_frontend::compose::ComposeOptions;
use skript_reference::evaluate;

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
    // As of packs whose length is known, nothing is behind the first of no items.
    let none = results("tail: real[1]..(a|3);", "tail.. = xs[1:];", &[]);
    assert_eq!(
        none,
        Err("a range from 1 is out of bounds: the pack has 0 items".to_string())
    );
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
    assert_eq!(
        none,
        Err("index -1 is out of range: the pack has 0 items".to_string())
    );
}

/// Each item passes on its own: a quantizer that divides by the item's largest element.
#[test]
fn s2_14_items_of_packs_pass_through_their_quantizers() {
    let text = "operator largest { @input { x: real[n]; } @output { y: real[]; } @lower { y[] >= x[i,], i < n; } } \
        operator scaled { @input { x: real[n]; m: real[]; } @output { y: real[n]; } @lower { y[i,] = x[i,] / m[], i < n; } } \
        operator normed { @input { x: real[n]; } @output { y: real[n]; } @compose { m = largest(x); y = scaled(x, m); } } \
        graph G { @input { xs: real[2]..(s|3); } @output { ys: real[2]..(s); } @compose { ys.. = xs; } @quantize { xs: normed; } }";
    let options = |simulate| ComposeOptions {
        simulate_quantization: simulate,
        ..ComposeOptions::default()
    };
    let given = [reals(&[2, 2], &[1.0, 2.0, 8.0, 4.0])];
    for (simulate, expected) in [(false, [1.0, 2.0, 8.0, 4.0]), (true, [0.5, 1.0, 1.0, 0.5])] {
        let model = model_with(text, None, &options(simulate)).unwrap_or_else(|e| panic!("{e:#?}"));
        let outcome = evaluate(&model, &given, &[]).unwrap();
        assert_eq!(elements(outcome.outputs.first().unwrap()), expected);
    }
}
