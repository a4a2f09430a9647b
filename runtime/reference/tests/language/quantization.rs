// SPDX-License-Identifier: Apache-2.0
//! `@quantize` (2.14): entries are kept; on request tensors pass through their quantizers.

use crate::run::{elements, model_with, reals};
use skript_frontend::compose::ComposeOptions;
use skript_frontend::model::AttributeValue;
use skript_reference::evaluate;

/// `to_step` rounds down to multiples of a step; `keep` has a variable of its own.
const DOCUMENT: &str = "
    operator to_step { @attrib { step: real = 1.0; } @input { x: real[s..]; } @output { y: real[s..]; }
        @lower { y[i..] = `floor`(x[i..] / step) * step, i < s; } }
    operator add { @input { a: real[n]; b: real[n]; } @output { c: real[n]; } @lower { c[i,] = a[i,] + b[i,], i < n; } }
    operator keep { @attrib { fine: real; } @input { x: real[n]; } @output { y: real[n]; } @variable { w: real[n]; }
        @compose { t = add(x, w); y = add(t, x); } @quantize { t: to_step{step=fine}; } }
    graph G { @input { x: real[1]; } @output { y: real[1]; }
        @compose { a = add(x, x); b = keep{fine=0.5}(a); y = add(b, x); }
        @quantize { x: to_step{step=0.25}; a: to_step; b.w: to_step{step=2.0}; main.G.y: to_step{step=4.0}; } }";

fn run(simulate: bool) -> Vec<f64> {
    let options = ComposeOptions { simulate_quantization: simulate, ..ComposeOptions::default() };
    let model = model_with(DOCUMENT, None, &options).unwrap_or_else(|e| panic!("{e:#?}"));
    let w = reals(&[1], &[3.75]);
    let outcome = evaluate(&model, &[reals(&[1], &[0.8])], &[w]).unwrap();
    elements(outcome.outputs.first().unwrap())
}

#[test]
fn s2_14_quantization_is_simulated_on_request_only() {
    // a = 1.6, t = 5.35, b = 6.95, y = 7.75
    let exact = run(false);
    assert!((exact[0] - 7.75).abs() < 1e-6, "{exact:?}");
    // x = 0.75, a = 1.5 → 1, w = 2, t = 3, b = 4, y = 4.75 → 4
    assert_eq!(run(true), [4.0]);
}

#[test]
fn s2_14_entries_are_kept_with_the_names_of_their_tensors() {
    let model = model_with(DOCUMENT, None, &ComposeOptions::default()).unwrap();
    let entries: Vec<(&str, AttributeValue)> = model
        .quantization
        .iter()
        .map(|q| {
            let first = q.attributes.first().map(|(_, value)| value.clone());
            (q.tensor.as_str(), first.unwrap_or(AttributeValue::Null))
        })
        .collect();
    let real = AttributeValue::Real;
    assert_eq!(
        entries,
        [
            ("x", real(0.25)),
            ("a", AttributeValue::Null),
            ("b.w", real(2.0)),
            ("y", real(4.0)),
            ("b.t", real(0.5)),
        ]
    );
}

#[test]
fn s2_14_a_misspelled_tensor_gets_a_suggestion() {
    let text = DOCUMENT.replace("b.w: to_step", "b.v: to_step");
    let messages = model_with(&text, None, &ComposeOptions::default()).err().unwrap();
    assert_eq!(messages, ["SK1450: there is no tensor `b.v` to be quantized"]);
}
