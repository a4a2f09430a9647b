// SPDX-License-Identifier: Apache-2.0
//! Gradients against central differences, both by the evaluator in f64.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]
mod dynamic;
mod examples;
mod formulas;
mod graphs;
mod library;
mod model;
mod networks;
mod random;

use model::{Composed, Random, arguments, compare, composed, evaluated, reals, tensor};
use skript_frontend::documentation::of_library;
use skript_frontend::model::{Extent, TensorType};
use skript_gradient::{Mode, Request, gradient};
use skript_semantics::ScalarKind;
use skript_tensor::Tensor;
use std::collections::BTreeMap;

/// A random argument: reals between 0 and 1, ints below 3.
fn random_argument(kind: ScalarKind, shape: &[u64], random: &mut Random) -> Tensor {
    let volume = shape.iter().product::<u64>();
    match kind {
        ScalarKind::Real => {
            let values: Vec<f64> = (0..volume).map(|_| random.unit()).collect();
            tensor(shape, &values)
        }
        _ => {
            let values: Vec<i64> = (0..volume).map(|_| random.below(3) as i64).collect();
            Tensor::from_i64(shape, &values).unwrap()
        }
    }
}

/// Random values for all arguments but the first ones.
fn random_arguments(document: &Composed, known: usize, random: &mut Random) -> Vec<Tensor> {
    let all = arguments(&document.model).into_iter().skip(known);
    // Dynamic extents are less than their bounds.
    let extent = |extent: &Extent| extent.fixed().unwrap_or(extent.bound() - 2);
    let shape = |t: &TensorType| t.shape.iter().map(extent).collect::<Vec<u64>>();
    all.map(|(_, t)| random_argument(t.kind, &shape(&t), random)).collect()
}

fn checked(text: &str, seed: u64) -> Result<(), String> {
    let document = composed(text)?;
    let mut random = Random(seed);
    let values = random_arguments(&document, 0, &mut random);
    compare(&document, &values, &mut random)
}

#[test]
fn formulas_of_every_kind() {
    let mut wrong = Vec::new();
    for (name, inputs, output, text) in formulas::FORMULAS {
        if let Err(reason) = checked(&formulas::document(inputs, output, text), 1) {
            wrong.push(format!("{name}: {reason}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn dynamic_extents() {
    let mut wrong = Vec::new();
    for (name, document) in dynamic::documents() {
        if let Err(reason) = checked(&document, 8) {
            wrong.push(format!("{name}: {reason}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The operators of the library without a gradient, with the reasons. The list may only shrink.
const REFUSED: &str = include_str!("refused.txt");

/// Compares the gradients of an example; `None` if it has no real input or output.
fn example_checked(example: &str, random: &mut Random) -> Option<Result<(), String>> {
    // Some functions are defined below, some above the values of their examples.
    for scale in [0.9, 1.1] {
        let case = library::case(example, scale, random)?;
        let document = match composed(&case.document) {
            Ok(document) => document,
            Err(reason) => return Some(Err(format!("{reason}: {}", case.document))),
        };
        let mut values = case.values;
        values.extend(random_arguments(&document, values.len(), random));
        let outputs = evaluated(&document.model, &values).unwrap();
        if outputs.iter().flat_map(reals).all(f64::is_finite) {
            return Some(compare(&document, &values, random));
        }
    }
    Some(Err("the outputs are not finite".to_owned()))
}

#[test]
fn operators_of_the_library() {
    let mut random = Random(2);
    let (mut refused, mut wrong, mut count) = (BTreeMap::new(), Vec::new(), 0);
    for entry in of_library().iter().filter(|entry| !entry.khronos) {
        for example in &entry.comment.examples {
            match example_checked(example, &mut random) {
                None => continue,
                Some(Ok(())) => count += 1,
                Some(Err(reason)) if reason.contains(" cannot be differentiated: ") => {
                    refused.insert(entry.name.clone(), reason);
                }
                Some(Err(reason)) => wrong.push(format!("{example}: {reason}")),
            }
        }
    }
    println!("{count} examples");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let lines: Vec<String> = refused.iter().map(|(name, reason)| format!("{name}: {reason}\n")).collect();
    assert_eq!(lines.concat(), REFUSED, "the refused operators");
    assert!(count >= 99, "{count}");
}

#[test]
fn random_formulas() {
    let (mut random, mut wrong) = (Random(3), Vec::new());
    for seed in 0..300 {
        let (inputs, output, text) = random::formula(&mut random);
        let document = formulas::document(&inputs, &output, &text);
        // A difference across a kink, such as a near tie of a minimum, is not a derivative; another point has none.
        let near = checked(&document, seed).or_else(|_| checked(&document, seed + 100));
        if let Err(reason) = near {
            wrong.push(format!("{text}: {reason}"));
        }
    }
    assert!(wrong.is_empty(), "{} of 300: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn random_networks() {
    let (mut random, mut wrong) = (Random(4), Vec::new());
    for seed in 0..100 {
        let document = random::network(&mut random);
        let near = checked(&document, seed).or_else(|_| checked(&document, seed + 100));
        if let Err(reason) = near {
            let graph = document.split("graph G").nth(1).unwrap();
            wrong.push(format!("{graph}: {reason}"));
        }
    }
    assert!(wrong.is_empty(), "{} of 100: {}", wrong.len(), wrong.join("\n"));
}

#[test]
fn networks_of_the_library() {
    for network in [networks::PERCEPTRON, networks::CONVOLUTIONAL] {
        checked(network, 4).unwrap();
    }
}

/// The operators of examples/operators, with small extents for the names in their shapes.
#[test]
fn operators_of_examples() {
    let mut wrong = Vec::new();
    for (name, text, statement) in examples::CASES {
        let document = examples::document(text, statement);
        if let Err(reason) = checked(&document, 5) {
            wrong.push(format!("{name}: {reason}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Derivatives of gradients and of tangents: their documents are differentiated like any other, in both modes.
#[test]
fn second_derivatives() {
    let network = formulas::document(
        "x: real[3]; w: real[2,3];",
        "y: real[]",
        "h[i,] += x[j,] * w[i,j], i < 2, j < 3; y[] += `tanh`(h[i,]) * x[i,], i < 2;",
    );
    let recurrence = formulas::document(
        "x: real[3]; w: real[2];",
        "y: real[]",
        "a[] = w[0,]; b[] = w[1,]; a[] := a[] * b[] + x[i,], i < 3; b[] := `sin`(a[]) + b[], i < 3; y[] = a[] * b[];",
    );
    for text in [network, recurrence] {
        let document = composed(&text).unwrap();
        for (mode, name) in [(Mode::Gradients, "GGrad"), (Mode::Tangents, "GTangent")] {
            let request = Request { of: Vec::new(), wrt: vec!["x".to_owned(), "w".to_owned()], mode };
            let first = gradient(&document.model, &document.sources, &request).unwrap();
            checked(&first.text.replace(name, "G"), 6).unwrap();
        }
    }
}
