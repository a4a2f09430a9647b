// SPDX-License-Identifier: Apache-2.0
//! Whole documents, composed.

use super::testing::{assert_composes, composed};
use crate::model::{Body, Model, Operation};

fn model(text: &str) -> Result<Model, Vec<String>> {
    composed(text).map_err(|found| found.into_iter().map(|d| d.message).collect())
}

const SCALE: &str = "operator scale { @attrib { by: real; } @input { x: real[n]; } @output { y: real[n]; }
    @assert { by > 0.0: \"'by' must be positive\", by; }
    @lower { y[i,] = x[i,] * by, i < n; } }\n";

#[test]
fn defaults_that_are_null_are_pointed_at() {
    let result = composed(
        "operator f { @attrib { k: int = m; } @input { x: real[n]; z: optional real[m]; } @output { y: real[n]; }
            @lower { y[i,] = x[i,] * real(k), i < n; } }
        graph G { @input { x: real[4]; } @output { y: real[4]; } @compose { y = f(x); } }",
    );
    let positions: Vec<String> = result.unwrap_err()[0].labels.iter().map(|l| l.text.clone()).collect();
    assert_eq!(positions, ["the default is null here"]);
}

/// Wide documents need time linear in their size: pieces of a string, defaults that depend on each other backwards.
#[test]
fn wide_documents_compose_fast() {
    let count = 2000;
    let pieces = "{k}".repeat(20 * count);
    let chained: String = (0..count).map(|i| format!("a{i}: int = a{};", i + 1)).collect();
    let started = std::time::Instant::now();
    let text = format!(
        "operator o {{ @attrib {{ k: int = 1; {chained} a{count}: int = 7; }} @using {{ s = \"{pieces}\"; }} \
         @output {{ y: int[]; }} @lower {{ y[] = a0; }} }} graph G {{ @output {{ y: int[]; }} @compose {{ y = o(); }} }}"
    );
    assert_composes(&text);
    // Quadratic, either took minutes in such a build.
    assert!(started.elapsed().as_secs() < 120);
}

/// The notes of an infinite chain of invocations contain the first and last invocations.
#[test]
fn s2_10_notes_of_deep_invocations_are_shortened() {
    let text = "operator f { @input { x: real[]; } @output { y: real[]; } @compose { y = g(x); } } \
        operator g { @input { x: real[]; } @output { y: real[]; } @compose { y = f(x); } } \
        graph G { @input { x: real[]; } @output { y: real[]; } @compose { y = f(x); } }";
    let diagnostics = composed(text).unwrap_err();
    let [only] = diagnostics.as_slice() else {
        panic!("{diagnostics:?}");
    };
    let notes: Vec<&str> = only.notes.iter().map(|n| n.text.as_str()).collect();
    assert_eq!(notes.len(), 10);
    assert_eq!(notes[6], "… 118 more invocations …");
    assert_eq!(notes[9], "in operator `f`, called from graph `G`");
}

/// Each level of short loops would double the model if all of them were unrolled.
#[test]
fn nested_short_loops_are_not_unrolled() {
    let levels = 0..16;
    let outer = levels.clone().map(|n| match n {
        0 => "with p0 = x do..(2) { q0 = ".to_string(),
        n => format!("with p{n} = p{} do..(2) {{ q{n} = ", n - 1),
    });
    let inner = levels.rev().map(|n| format!(" yield q{n}; }};"));
    let text = format!(
        "{SCALE} graph G {{ @input {{ x: real[4]; }} @output {{ z: real[4]; }} @compose {{
            z = {} scale{{by=2.0}}(p15); {} }} }}",
        outer.collect::<String>(),
        inner.collect::<String>()
    );
    let model = model(&text).unwrap();
    let Body::Block(block) = &model.function(model.entry).unwrap().body else {
        panic!("a graph is composed");
    };
    let mut open = vec![block];
    let (mut loops, mut invocations) = (0, 0);
    while let Some(block) = open.pop() {
        for operation in &block.operations {
            loops += usize::from(matches!(operation, Operation::Loop(_)));
            invocations += usize::from(matches!(operation, Operation::Invoke(_)));
            open.extend(operation.blocks());
        }
    }
    assert!(loops > 8 && (1..=64).contains(&invocations), "{loops}, {invocations}");
}
