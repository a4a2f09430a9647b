// SPDX-License-Identifier: Apache-2.0
//! The operators of examples/operators, in graphs over small inputs.

macro_rules! example {
    ($name:literal) => {
        include_str!(concat!("../../../examples/operators/", $name, ".sknd"))
    };
}

/// Name, document, and inputs, outputs and statements of a graph.
pub const CASES: &[(&str, &str, &str)] = &[
    (
        "bilateral",
        example!("bilateral"),
        "x: real[3,4]; // y: real[3,4]; // w, v = total{radius=1, space=1.5, range=0.7}(x); y = ratio(v, w);",
    ),
    ("haar", example!("haar"), "x: real[1,2,4,4]; // y: real; // y = haar(x);"),
    (
        "soft_dtw",
        example!("soft_dtw"),
        "x: real[1,3,2]; y: real[1,4,2]; // c: real; // d = distances(x, y); r = soft_dtw{gamma=0.8}(d); c = last(r);",
    ),
    (
        "sinkhorn",
        example!("sinkhorn"),
        "c: real[3,4]; v: real[4]; // p: real; // u, w = step{epsilon=0.5}(c, v); p = plan{epsilon=0.5}(c, u, w);",
    ),
    (
        "moving_average",
        example!("moving_average"),
        "x: real[2,4,3]; // y: real; // y = moving_average{decay=0.7}(x);",
    ),
    (
        "viterbi",
        example!("viterbi"),
        "emission: real[2,4,3]; transition: real[3,3]; // score: real; // score = viterbi(emission, transition);",
    ),
    (
        "swiglu",
        example!("swiglu"),
        "x: real[3,4]; w: real[2,4]; v: real[2,4]; // y: real; // a = project(x, w); b = project(x, v); y = gate(a, b);",
    ),
];

/// The operators of a document with another graph.
pub fn document(text: &str, statement: &str) -> String {
    let graph = text.find("\ngraph ").unwrap();
    let parts: Vec<&str> = statement.split("//").collect();
    let [inputs, outputs, statements] = parts.as_slice() else { panic!("three parts") };
    let (before, after) = text.split_at(graph);
    // Definitions after the first graph are kept.
    let rest = after[1..].find("\noperator ").map_or("", |at| &after[at + 1..]);
    format!(
        "{before}\n{rest}\ngraph G {{ @input {{ {inputs} }} @output {{ {outputs} }} @compose {{ {statements} }} }}"
    )
}
