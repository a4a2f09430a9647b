// SPDX-License-Identifier: Apache-2.0
//! Tests of pictures of models.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::Sink;
use skript_frontend::limits::Limits;
use skript_frontend::source_files::load_text;
use skript_view::{Kind, Origin, Picture, Scope};
use std::path::Path;

fn picture(text: &str) -> Picture {
    let (mut sink, limits) = (Sink::default(), Limits::default());
    let program = load_text(text, Path::new("main.sknd"), None, &limits, &mut sink);
    check_program(&program, &mut sink);
    let model = compose(&program, &ComposeOptions::default(), &limits, &mut sink);
    let errors: Vec<String> = sink.into_sorted().into_iter().map(|d| d.message).collect();
    assert!(errors.is_empty(), "{errors:?}");
    Picture::new(&model.expect("it composes"), &program)
}

fn entry(picture: &Picture) -> &Scope {
    let scope = picture.instances[picture.entry].scope;
    &picture.scopes[scope.expect("graphs are compositions")]
}

fn titles(scope: &Scope) -> Vec<&str> {
    scope.nodes.iter().map(|node| node.title.as_str()).collect()
}

const NESTED: &str = "
import nn;
operator step {
    @input { x: real[b, n]; }
    @variable { weight: real[n, n]; }
    @output { y: real[b, n]; }
    @compose { h = nn.linear(x, weight); y = nn.relu(h); }
}
graph G {
    @input { x: real[m|8, 4]; }
    @output { y: real[m, 4]; }
    @compose {
        a = first: step(x);
        y = second: step(a);    # the node
    }
}";

#[test]
fn composite_operators_have_graphs_and_pass_variables_on() {
    let picture = picture(NESTED);
    let graph = entry(&picture);
    assert_eq!(titles(graph), ["x", "main.step", "main.step", "y"]);
    let ends: Vec<_> = graph.edges.iter().map(|e| (e.from, e.to, e.r#type.as_str())).collect();
    assert_eq!(ends, [(0, 1, "f32[m,4]"), (1, 2, "f32[m,4]"), (2, 3, "f32[m,4]")]);
    // Both calls share an instance, with different variables.
    assert_eq!(graph.nodes[1].instance, graph.nodes[2].instance);
    let names: Vec<&str> = picture.variables.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["main.G.first.weight", "main.G.second.weight"]);
    assert_eq!(graph.nodes[1].captures, [Some(0)]);
    assert_eq!(graph.nodes[2].captures, [Some(1)]);
    assert_eq!(graph.nodes[2].label.as_deref(), Some("second"));
    assert_eq!(graph.nodes[2].note.as_deref(), Some("the node"));

    let step = &picture.instances[graph.nodes[1].instance.unwrap()];
    let inside = &picture.scopes[step.scope.unwrap()];
    assert_eq!(titles(inside), ["x", "nn.linear", "nn.relu", "y"]);
    let read = &inside.nodes[1].inputs;
    assert_eq!((read[0].name.as_str(), &read[0].origin), ("input = x", &None));
    assert_eq!(read[1].origin, Some(Origin::Capture(0)));
    let definition = &picture.definitions[step.definition.unwrap()];
    assert_eq!(definition.location, "main.sknd:3");
    assert!(definition.text.starts_with("operator step {"));
    assert_eq!(
        definition.text.lines().nth(definition.body).map(str::trim_start).map(|l| &l[..8]),
        Some("@compose")
    );

    let linear = &picture.instances[inside.nodes[1].instance.unwrap()];
    assert_eq!(linear.scope, None, "formulas are not graphs");
    assert!(picture.definitions[linear.definition.unwrap()].location.contains("nn.sknd:"));
    assert!(linear.flops > 0);
}

#[test]
fn loops_show_their_blocks() {
    let picture = picture(
        "import math;
        graph G {
            @input { x: real[4]; n: int[]; }
            @output { y: real[4]; }
            @compose { y = with s = x do..(n) math.add(s, x); }
        }",
    );
    let graph = entry(&picture);
    let looping = graph.nodes.iter().find(|node| node.kind == Kind::Control);
    let looping = looping.expect("the loop is a box");
    assert!(looping.title.starts_with("loop"));
    let body = looping.inside.iter().find(|inside| inside.title == "body").unwrap();
    let body = &picture.scopes[body.scope];
    assert!(titles(body).contains(&"math.add"), "{:?}", titles(body));
    // A tensor that the body reads from outside is an input of the loop, and of the graph in it.
    assert!(looping.inputs.iter().any(|tensor| tensor.name == "x"));
    assert!(body.nodes.iter().any(|node| node.kind == Kind::Input && node.title == "x"));
    let last = body.nodes.last().unwrap();
    assert_eq!(last.kind, Kind::Output);
}

#[test]
fn equal_models_have_equal_pages_and_graphs() {
    let (one, two) = (picture(NESTED), picture(NESTED));
    assert_eq!(one.html(), two.html());
    assert_eq!(one.dot(), two.dot());
    assert!(one.html().contains("<title>main.G</title>"));
}

#[test]
fn profiles_are_matched_by_location() {
    let step = |location: &str, ns: u64| {
        format!("{{\"operator\": \"o\", \"location\": \"{location}\", \"ns\": {ns}, \"flops\": null}}")
    };
    let location = entry(&picture(NESTED)).nodes[1].location.clone();
    for (prefix, elsewhere) in [("", 5), ("/another/folder/", 5)] {
        let mut picture = picture(NESTED);
        let first = step(&format!("{prefix}{location}"), 30);
        let json = format!("[{first}, {first}, {}]", step("<stdlib>/nn.sknd:1:1", 5));
        picture.add_profile(&json).unwrap();
        let profile = picture.profile.unwrap();
        assert_eq!((profile.total, profile.elsewhere), (65, elsewhere));
        assert_eq!(profile.times[&location].nanoseconds, 60);
        assert_eq!(profile.times[&location].operators, ["o"]);
    }
    for wrong in
        ["", "{}", "[1]", "[{\"operator\": 1}]", "[{\"operator\": \"a\", \"location\": \"b\", \"ns\": -1}]"]
    {
        assert!(picture(NESTED).add_profile(wrong).is_err(), "{wrong}");
    }
}
