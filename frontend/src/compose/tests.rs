// SPDX-License-Identifier: Apache-2.0
//! Whole documents, composed.

use super::ComposeOptions;
use super::testing::{assert_composes, assert_fires, composed, composed_with};
use crate::diagnostics::codes::{DIVISION_BY_ZERO, EXTENT_MISMATCH, FORMULA, PACK_LENGTHS_DIFFER};
use crate::limits::Limits;
use crate::model::{Accumulation, Body, Extent, Model, Node, Operation, PortTensors};
use skript_semantics::ScalarOp;

fn model(text: &str) -> Result<Model, Vec<String>> {
    composed(text).map_err(|found| found.into_iter().map(|d| d.message).collect())
}

const SCALE: &str = "operator scale { @attrib { by: real; } @input { x: real[n]; } @output { y: real[n]; }
    @assert { by > 0.0: \"'by' must be positive\", by; }
    @lower { y[i,] = x[i,] * by, i < n; } }\n";

#[test]
fn equal_invocations_share_one_function() {
    let text = format!(
        "{SCALE} graph G {{ @input {{ x: real[4]; }} @output {{ z: real[4]; }} @compose {{
            a = scale{{by=2.0}}(x); b = scale{{by=3.0}}(a); z = scale{{by=2.0}}(b); }} }}"
    );
    assert_eq!(model(&text).unwrap().functions.len(), 3);
}

#[test]
fn single_values_of_packs_of_run_time_length_are_repeated() {
    let text = "operator f { @attrib { by: real..(n); } @input { x: real[n]; } @output { y: real[n]; }
            @using { all = by := ..; } @lower { y[i,] = x[i,] * all, i < n; } }
        graph G { @input { x: real[s|4]; } @output { y: real[s]; } @compose { y = f{by=2.0}(x); } }";
    assert!(model(text).is_ok(), "{:?}", model(text).unwrap_err());
    // Texts need values that are known at compile time.
    let texts = text.replace("by: real", "by: str").replace("by=2.0", "by='a'");
    let messages = model(&texts).unwrap_err();
    assert!(messages[0].ends_with("the single value a cannot be repeated"), "{messages:?}");
}

#[test]
fn one_failing_invocation_does_not_hide_another() {
    let text = format!(
        "{SCALE} graph G {{ @input {{ x: real[4]; }} @output {{ z: real[4]; }} @compose {{
            a = scale{{by=-1.0}}(x); b = scale{{by=-2.0}}(x); z = scale{{by=1.0}}(a); }} }}"
    );
    assert_eq!(model(&text).unwrap_err().len(), 2);
}

fn run_time(output: &str) -> Result<Model, Vec<String>> {
    model(&format!(
        "operator f {{ @input {{ x: real[n]; }} @output {{ y: real[{output}]; }} @lower {{ y[i,] = 1.0, i < {output}; }} }}
        graph G {{ @input {{ x: real[s|4]; }} @output {{ y: real[~]; }} @compose {{ y = f(x); }} }}"
    ))
}

#[test]
fn s3_1_extents_that_may_be_negative_are_tested_by_every_run() {
    let checks = |output: &str| -> Vec<usize> {
        let model = run_time(output).unwrap();
        model.functions.iter().map(|f| f.checks.len()).collect()
    };
    assert_eq!(checks("n - 2").iter().sum::<usize>(), 1);
    assert_eq!(checks("n + 2").iter().sum::<usize>(), 0);
    assert_eq!(checks("(n - 2) >> 0").iter().sum::<usize>(), 0);
    assert_eq!(
        run_time("n - 5").unwrap_err(),
        ["an extent cannot be negative, but `n - 5` of `y` always is"]
    );
}

#[test]
fn s3_1_quotients_of_run_time_extents_are_bounded() {
    let bound = |output: &str| {
        let model = run_time(output).unwrap();
        let entry = model.function(model.entry).unwrap();
        let id = entry.outputs[0].tensors.values()[0];
        entry.values[id.0 as usize].tensor.shape[0].bound()
    };
    assert_eq!(bound("12 / (n >> 1)"), 12);
    assert_eq!(bound("n \\ (n >> 2)"), 2);
    assert_eq!(bound("7 / n"), 7);
    // Remainders and powers.
    let most = bound("n + 0");
    assert_eq!(bound("7 % n"), most - 1);
    assert_eq!(bound("n % (n + 2)"), most);
    assert_eq!(bound("n % -3 + 3"), 3);
    assert_eq!(bound("(3 - n % 3) % 3"), 2);
    assert_eq!(bound("n ** 2"), most * most);
    assert_eq!(bound("2 ** n"), 1 << most);
    assert_eq!(
        run_time("7 / (n - 1)").unwrap_err(),
        [
            "this dynamic extent has no upper bound that fits in 64 bits; write `… << N` with a largest extent N"
        ]
    );
}

#[test]
fn defaults_that_are_null_are_pointed_at() {
    let found = composed(
        "operator f { @attrib { k: int = m; } @input { x: real[n]; z: optional real[m]; } @output { y: real[n]; }
            @lower { y[i,] = x[i,] * real(k), i < n; } }
        graph G { @input { x: real[4]; } @output { y: real[4]; } @compose { y = f(x); } }",
    );
    let positions: Vec<String> = found.unwrap_err()[0].labels.iter().map(|l| l.text.clone()).collect();
    assert_eq!(positions, ["the default is null here"]);
}

/// The only access in the value of the only formula of an operator that reads `x: real[3,2]`.
fn reads(lower: &str) -> usize {
    let text = format!(
        "operator f {{ @input {{ x: real[3,2]; }} @output {{ y: real[3]; }} @lower {{ {lower} }} }}
        graph G {{ @input {{ x: real[3,2]; }} @output {{ y: real[3]; }} @compose {{ y = f(x); }} }}"
    );
    let model = model(&text).unwrap();
    let lowered = model.functions.iter().find_map(|f| match &f.body {
        Body::Formulas(formulas) => Some(formulas),
        _ => None,
    });
    let Some(formulas) = lowered else {
        panic!("formulas are expected");
    };
    let mut open = vec![&formulas[0].targets[0].value];
    let mut accesses = 0;
    while let Some(expr) = open.pop() {
        accesses += usize::from(matches!(expr.node, Node::Access { .. }));
        open.extend(expr.children());
    }
    accesses
}

#[test]
fn a_pack_as_an_index_reads_a_pack() {
    assert_eq!(reads("y[i,] = x[i,[1,0]] + .., i < 3;"), 2);
    assert_eq!(reads("y[i,] = x[i,:] + .., i < 3;"), 2);
    assert_eq!(reads("y[i,] = x[i,[0]..], i < 3;"), 1);
}

#[test]
fn a_guard_that_reads_data_is_tested_on_both_sides() {
    let model = model(
        "operator f { @input { x: real[4]; g: real[n]; } @output { y: real[n]; }
            @lower { q = int(g[i,]), y[i,] += x[|q + j|,], i < n, j < 2; } }
        graph G { @input { x: real[4]; g: real[3]; } @output { y: real[3]; } @compose { y = f(x, g); } }",
    )
    .unwrap();
    let predicates = model.functions.iter().filter_map(|f| match &f.body {
        Body::Formulas(formulas) => formulas[0].predicate.as_ref(),
        _ => None,
    });
    let mut open: Vec<_> = predicates.collect();
    let mut operations = Vec::new();
    while let Some(expr) = open.pop() {
        if let Node::Apply { op, .. } = expr.node {
            operations.push(op);
        }
        open.extend(expr.children());
    }
    assert!(operations.contains(&ScalarOp::Ge) && operations.contains(&ScalarOp::Lt));
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

/// The notes of an endless chain of invocations list its first and last ones.
#[test]
fn s2_10_notes_of_deep_invocations_are_shortened() {
    let text = "operator f { @input { x: real[]; } @output { y: real[]; } @compose { y = g(x); } } \
        operator g { @input { x: real[]; } @output { y: real[]; } @compose { y = f(x); } } \
        graph G { @input { x: real[]; } @output { y: real[]; } @compose { y = f(x); } }";
    let found = composed(text).unwrap_err();
    let [only] = found.as_slice() else {
        panic!("{found:?}");
    };
    let notes: Vec<&str> = only.notes.iter().map(|n| n.text.as_str()).collect();
    assert_eq!(notes.len(), 10);
    assert_eq!(notes[6], "… 118 more invocations …");
    assert_eq!(notes[9], "in operator `f`, called from graph `G`");
}

/// Two tensors are given for `xs`, three for `ys`: 2 * 1 + 1.
#[test]
fn s2_6_given_inputs_tell_the_lengths_of_packs() {
    let text = "operator sum { @input { xs: real[n]..(k); } @output { y: real[n]; } @lower { y[i,] += xs[j][i,], i < n, j < k; } } \
        graph G { @input { xs: real[4]..(2 * k); ys: real[4]..(k + 1); zs: real[4]..; } @output { y: real[4]; z: real[4]; } \
        @compose { y = sum([xs.., ys..]); z = sum(zs); } }";
    let given = |lengths: [usize; 3]| {
        let options = ComposeOptions {
            pack_lengths: ["xs", "ys", "zs"].map(str::to_string).into_iter().zip(lengths).collect(),
            ..ComposeOptions::default()
        };
        composed_with(text, &options, &Limits::default())
    };
    let model = given([4, 3, 5]).unwrap();
    let entry = model.function(model.entry).unwrap();
    let counts = entry.inputs.iter().map(|port| port.tensors.values().len());
    assert_eq!(counts.collect::<Vec<_>>(), [4, 3, 5]);
    let odd = given([3, 3, 5]).unwrap_err();
    assert_eq!(odd[0].code.id, "SK0652");
    assert!(composed(text).is_err());
}

/// Given extents may be below an upper bound, not above: checked at compile time if known, else at run time.
#[test]
fn s2_6_upper_bounds_hold_for_what_is_given() {
    let given = |extent: &str| {
        model(&format!(
            "operator f {{ @input {{ x: real[n|4]; }} @output {{ y: real[n]; }} @lower {{ y[i,] = x[i,], i < n; }} }}
            graph G {{ @input {{ x: real[{extent}]; }} @output {{ y: real[~]; z: real[~]; }} @compose {{ y = f(x); z = H(x); }} }}
            graph H {{ @input {{ x: real[~|5]; }} @output {{ y: real[~]; }} @compose {{ y = [x][0]; }} }}"
        ))
    };
    let checks = |model: &Model| model.functions.iter().map(|f| f.checks.len()).sum::<usize>();
    assert_eq!(checks(&given("4").unwrap()), 0);
    assert_eq!(checks(&given("s|4").unwrap()), 0);
    assert_eq!(checks(&given("s|5").unwrap()), 1);
    assert_eq!(given("5").unwrap_err(), ["extent 0 of input `x` must not be larger than 4, this is 5"]);
    assert_eq!(given("6").unwrap_err().len(), 2);
}

/// Shapes of the inputs of a graph for which some were fixed.
fn fixed(given: &[(&str, &[&[u64]])]) -> Result<Vec<String>, Vec<String>> {
    let text = "operator f { @input { x: real[n]; y: real[n]; } @output { z: real[n]; }
        @lower { z[i,] = x[i,] + y[i,], i < n; } }
        graph G { @input { x: real[s|4]; y: real[s|4]; w: real[~|5]; v: real[3]..(k); } @output { z: real[~]; }
            @compose { z = f(x, y); } }";
    let shapes = given.iter().map(|(name, shapes)| {
        let shapes = shapes.iter().map(|extents| extents.to_vec()).collect();
        ((*name).to_string(), shapes)
    });
    let mut options = ComposeOptions { input_shapes: shapes.collect(), ..ComposeOptions::default() };
    options.pack_lengths.insert("v".to_string(), 1);
    let model = composed_with(text, &options, &Limits::default());
    let model = model.map_err(|d| d.into_iter().map(|d| d.message).collect::<Vec<_>>())?;
    let entry = &model.functions[model.entry.0 as usize];
    let shapes = entry.inputs.iter().flat_map(|port| port.tensors.values());
    Ok(shapes
        .map(|id| match entry.values[id.0 as usize].tensor.fixed_shape() {
            Some(shape) => format!("{shape:?}"),
            None => "run-time".to_string(),
        })
        .collect())
}

#[test]
fn s2_10_1_branches_may_differ_in_extents_that_callers_fix() {
    let composed = |z: &str, shape: u64| {
        let text = format!(
            "graph G {{ @input {{ x: real[n|5]; z: real[{z}]; flag: bool[]; }} @output {{ y: real[~]; }}
                @compose {{ y = if flag then x else z; }} }}"
        );
        let mut options = ComposeOptions::default();
        let shapes = [("x", vec![vec![shape]]), ("z", vec![vec![3]])];
        options.input_shapes = shapes.into_iter().map(|(name, shape)| (name.to_string(), shape)).collect();
        let model = composed_with(&text, &options, &Limits::default());
        model.map_err(|found| found.into_iter().map(|d| d.code.id).collect::<Vec<_>>())
    };
    for (z, shape) in [("m|4", 2), ("3", 2), ("m|4", 3)] {
        let model = composed(z, shape).unwrap();
        let entry = &model.functions[model.entry.0 as usize];
        let result = entry.outputs.iter().flat_map(|port| port.tensors.values());
        let result: Vec<_> = result.map(|id| &entry.values[id.0 as usize].tensor.shape[0]).collect();
        let bounds: Vec<u64> = result.iter().map(|e| e.bound()).collect();
        assert_eq!(bounds, [3]);
        assert_eq!(result[0].fixed().is_some(), shape == 3, "{z} {shape}");
    }
    // Extents that the graph itself fixes must still agree.
    let text =
        "graph G { @input { x: real[n|5]; a: real[2]; b: real[3]; flag: bool[]; } @output { y: real[~]; }
        @compose { y = if flag then a else b; } }";
    let mut options = ComposeOptions::default();
    options.input_shapes.insert("x".to_string(), vec![vec![2]]);
    let found = composed_with(text, &options, &Limits::default()).unwrap_err();
    assert_eq!(found.iter().map(|d| d.code.id).collect::<Vec<_>>(), ["SK1056"]);
}

#[test]
fn s2_6_fixed_shapes_of_inputs_reach_whatever_shares_their_names() {
    let all = |shapes: [&str; 4]| Ok(shapes.map(str::to_string).to_vec());
    assert_eq!(fixed(&[]), all(["run-time", "run-time", "run-time", "[3]"]));
    assert_eq!(fixed(&[("y", &[&[2]])]), all(["[2]", "[2]", "run-time", "[3]"]));
    assert_eq!(fixed(&[("w", &[&[0]]), ("v", &[&[3], &[3]])]).unwrap().len(), 5);
    for wrong in [
        ("x", &[&[5][..]][..]),
        ("w", &[&[6]]),
        ("x", &[&[2, 2]]),
        ("x", &[&[2], &[2]]),
        ("v", &[&[4]]),
        ("x", &[&[u64::MAX]]),
    ] {
        assert_eq!(fixed(&[wrong]).unwrap_err().len(), 1, "{wrong:?}");
    }
}

/// `y[i,:]` writes two elements, each by a separate formula; a formula that reads its output stays one step.
#[test]
fn s2_12_packed_positions_of_one_output_are_disjoint() {
    let formulas = |assignment: &str| {
        let text = format!(
            "operator f {{ @input {{ x: real[n,2]; }} @output {{ y: real[n,2]; }} @lower {{ {assignment}; }} }}
            graph G {{ @input {{ x: real[3,2]; }} @output {{ y: real[3,2]; }} @compose {{ y = f(x); }} }}"
        );
        let model = model(&text).unwrap();
        let bodies = model.functions.into_iter().map(|f| f.body);
        let formulas = bodies.filter_map(|body| match body {
            Body::Formulas(formulas) => Some(formulas),
            _ => None,
        });
        let targets = formulas.flatten().map(|f| f.targets.len());
        targets.collect::<Vec<_>>()
    };
    assert_eq!(formulas("y[i,:] = x[i,:] * 2.0, i < n"), [1, 1]);
    assert_eq!(formulas("y[i,:] += x[i,:], i < n | y[i,0] < 3.0"), [2]);
}

/// The bound of a name may be declared at a later input than its first use.
#[test]
fn s2_6_1_a_later_input_may_bound_an_earlier_one() {
    let graph = |inputs: &str| {
        model(&format!(
            "graph G {{ @input {{ {inputs} }} @output {{ y: real[~]; }} @compose {{ y = [x][0]; }} }}"
        ))
    };
    assert!(graph("x: real[s]; z: real[s|4];").is_ok());
    assert!(graph("x: real[s + t]; z: real[s|4]; w: real[t|3];").is_ok());
    assert_eq!(graph("x: real[s]; z: real[t|4];").unwrap_err(), ["`s` has no value here"]);
}

/// The pack's index is an inner one: which writes of other tensors a step reads, and which write is last, depends on
/// the order. If that matters, one formula selects the tensor at each step; else each tensor has its own formula.
#[test]
fn s2_12_packs_inside_of_other_indices_keep_the_order_of_the_loops() {
    // The number of tensors that each formula of the second statement writes.
    let written = |outputs: &str, assignments: &str| {
        let text = format!(
            "operator f {{ @input {{ xs: real[n]..(k); }} @output {{ {outputs}; }} @lower {{ {assignments}; }} }}
            graph G {{ @input {{ xs: real[4]..(2); }} @output {{ {outputs}; }} @compose {{ {} = f(xs); }} }}",
            outputs.split(':').next().unwrap()
        );
        let graph = text.find("graph G").unwrap();
        let (operator, graph) = text.split_at(graph);
        let graph = graph.replace("real[n]", "real[4]").replace("..(k)", "..(2)");
        let model = model(&format!("{operator}{graph}")).unwrap();
        let f = model.functions.iter().find(|f| f.name == "main.f").unwrap();
        match &f.body {
            Body::Formulas(all) => all
                .iter()
                .filter(|f| f.kind == Accumulation::Replace)
                .map(|f| f.targets.len())
                .collect::<Vec<_>>(),
            _ => Vec::new(),
        }
    };
    let pack = |bounds: &str, condition: &str| {
        written(
            "ys: real[n]..(k)",
            &format!("ys[j][i,] = 0.0, i < n, j < k; ys[j][i,] := xs[j][i,], {bounds} | {condition}"),
        )
    };
    let previous = "ys[1][i > 0 ? i - 1 : 0,] < xs[j][i,]";
    assert_eq!(pack("i < n, j < k", previous), [2]);
    assert_eq!(pack("j < k, i < n", previous), [1, 1]);
    assert_eq!(pack("i < n, j < k", "ys[j][i,] < xs[j][i,]"), [1, 1]);
    let single = |condition: &str| {
        written("y: real[n]", &format!("y[i,] = 0.0, i < n; y[i,] := xs[j][i,], i < n, j < k | {condition}"))
    };
    assert_eq!(single("y[i,] < xs[j][i,]"), [1, 1]);
    assert_eq!(single("y[i > 0 ? i - 1 : 0,] < xs[j][i,]"), [1]);
    let last = |bounds: &str| {
        written("y: real[]", &format!("y[] = 0.0; y[] := xs[j][i,], {bounds} | xs[j][i,] > 0.5"))
    };
    assert_eq!(last("i < n, j < k"), [1]);
    assert_eq!(last("j < k, i < n"), [1, 1]);
}

/// A loop as long as the largest value of its bound, and a condition.
#[test]
fn s2_12_bounds_rest_on_indices_of_run_time_extents() {
    let text = |bound: &str| {
        format!(
            "operator f {{ @input {{ x: real[n,m]; }} @output {{ y: real[n]; }} @lower {{ y[j,] += x[j,i], j < n, i < {bound}; }} }} \
             graph G {{ @input {{ x: real[s|5,t|7]; }} @output {{ y: real[s]; }} @compose {{ y = f(x); }} }}"
        )
    };
    let extent = |bound: &str| {
        let model = composed(&text(bound)).unwrap();
        let f = model.functions.iter().find(|f| f.name == "main.f").unwrap();
        let Body::Formulas(formulas) = &f.body else {
            panic!("{:?}", f.body);
        };
        assert!(formulas[0].predicate.is_some());
        formulas[0].indices[1].extent.clone()
    };
    assert_eq!(extent("m - j").to_string(), "x.shape[1]|7");
    assert_eq!(extent("j + 1").to_string(), "x.shape[0]|5");
    // At most the results of the operations.
    assert_eq!(extent("m << j + 1"), Extent::Fixed(5));
    assert_eq!(extent("(j + 1) / 2"), Extent::Fixed(2));
    let data = model(&text("int(x[j,0])")).unwrap_err();
    assert!(data[0].contains("write a condition"), "{data:?}");
    assert_eq!(extent("2 ** j"), Extent::Fixed(16));
    assert_fires(&FORMULA, &text("2 ** (j - 1)"));
}

/// A name with a bound that outputs introduce denotes the computed extent, in all of them.
#[test]
fn s2_6_outputs_may_share_an_extent_that_they_name() {
    let graph = |outputs: &str, rest: &str| {
        model(&format!(
            "operator two {{ @input {{ x: real[n]; }} @output {{ y: real[n]; z: real[n]; }} \
             @lower {{ y[i,] = x[i,], i < n; z[i,] = x[i,], i < n; }} }} \
             graph G {{ @input {{ x: real[s|8]; w: real[t|8]; }} @output {{ {outputs} }} @compose {{ {rest} }} }}"
        ))
    };
    let checks = |outputs: &str, rest: &str| {
        let model = graph(outputs, rest).unwrap();
        let entry = model.function(model.entry).unwrap();
        entry.result_checks.len()
    };
    let two = "y, z = two(x);";
    assert_eq!(checks("y: real[r|8]; z: real[r];", two), 0);
    assert_eq!(checks("y: real[r|8 ..(1)]; z: real[r..];", two), 0);
    // Each run compares with a smaller bound, and with another extent.
    assert_eq!(checks("y: real[r|5]; z: real[r];", two), 1);
    assert_eq!(checks("y: real[r|8]; z: real[r];", "y, u = two(x); z, v = two(w);"), 1);
    assert!(graph("y: real[r|8]; z: real[r,r];", two).is_err());
}

#[test]
fn s2_6_bounds_belong_to_names() {
    let graph = |inputs: &str| {
        model(&format!(
            "graph G {{ @input {{ {inputs} }} @output {{ y: real[~]; }} @compose {{ y = [x][0]; }} }}"
        ))
    };
    assert_eq!(
        graph("x: real[2 * a + b|4]; w: real[a];").unwrap_err(),
        ["nothing determines `a` in `2 * a + b`: an upper bound belongs to a name, not to an expression"]
    );
    assert!(graph("x: real[2 * a|4]; w: real[a];").is_ok());
    assert!(graph("x: real[2 * a]; w: real[a|2];").is_ok());
}

/// The bound of a known extent is checked at compile time, or at run time.
#[test]
fn s2_6_outputs_hold_to_their_bounds() {
    let text = |extent: &str, body: &str| {
        format!(
            "operator f {{ @input {{ x: real[n]; }} @output {{ y: real[n|5]; }} {body} }} \
             graph G {{ @input {{ x: real[{extent}]; }} @output {{ y: real[~]; }} @compose {{ y = f(x); }} }}"
        )
    };
    for body in ["@lower { y[i,] = x[i,], i < n; }", "@compose { y = x; }"] {
        assert_composes(&text("5", body));
        assert_fires(&EXTENT_MISMATCH, &text("7", body));
        let checks = |extent: &str| {
            let model = composed(&text(extent, body)).unwrap();
            model.functions.iter().map(|f| f.checks.len() + f.result_checks.len()).sum::<usize>()
        };
        assert_eq!((checks("s|5"), checks("s|7")), (0, 1));
    }
}

/// Division of an extent by a static zero is an error; division by a zero known only at run time yields zero.
#[test]
fn s2_4_zero_divides_no_extent() {
    for shape in ["4", "s|4"] {
        for output in ["n / d", "n % d", "i / d"] {
            let text = format!(
                "operator f {{ @attrib {{ d: int = 0; }} @input {{ x: real[n]; }} @output {{ y: int[]; }} @lower {{ y[] := {output}, i < 1; }} }} \
                 graph G {{ @input {{ x: real[{shape}]; }} @output {{ y: int[]; }} @compose {{ y = f(x); }} }}"
            );
            assert_fires(&DIVISION_BY_ZERO, &text);
            assert_composes(&text.replace("= 0", "= 2"));
            let tested = format!("= d == 0 ? 0 : {output}");
            assert_composes(&text.replace(&format!("= {output}"), &tested));
        }
    }
}

/// `:` over an empty dimension assigns nothing.
#[test]
fn s2_12_assignments_to_no_positions_are_none() {
    let model = composed(
        "operator f { @input { x: real[m,n]; } @output { y: real[m,n]; } \
         @lower { y[i,j] = 0.0, i < m, j < n; y[i,:] := x[i,:], i < m; } } \
         graph G { @input { x: real[3,0]; } @output { y: real[3,0]; } @compose { y = f(x); } }",
    );
    for function in model.unwrap().functions {
        if let Body::Formulas(formulas) = function.body {
            assert!(formulas.iter().all(|f| !f.targets.is_empty()));
        }
    }
}

/// Each level of short loops would double the model if all of them were unrolled.
#[test]
fn short_loops_within_each_other_stay_loops() {
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

/// Chains of selects, for which LLVM needs quadratic time.
#[test]
fn folds_compute_both_sides() {
    let text = "operator f { @input { xs: real[m]..(n); } @output { y: bool[m]; } @lower { y[i,] = xs[i,] != .., i < m; } } \
                graph G { @input { xs: real[4]..(40); } @output { z: bool[4]; } @compose { z = f(xs); } }";
    let model = model(text).unwrap();
    let Body::Formulas(formulas) = &model.functions[0].body else {
        panic!("an operator of formulas");
    };
    let mut open = vec![&formulas[0].targets[0].value];
    while let Some(expr) = open.pop() {
        assert!(!matches!(expr.node, Node::Select { .. }));
        open.extend(expr.children());
    }
}

#[test]
fn s2_6_tensors_of_a_pack_may_each_bring_an_extent() {
    let text = |bound: &str| {
        format!(
            "operator f {{ @input {{ xs: real[n,..t]..(k); }} @output {{ y: real[t + ..]; }} @lower {{ y[i,] = 0.0, i < t + ..; }} }} \
             graph G {{ @input {{ xs: real[2,..s|{bound}]..(3); }} @output {{ y: real[~]; z: real[2,~]; }} \
             @compose {{ y = f(xs); z = xs[1]; }} }}"
        )
    };
    for (bound, most) in [("5", [5, 5, 5]), ("[3, 4, 5]", [3, 4, 5])] {
        let model = composed(&text(bound)).unwrap();
        let entry = model.function(model.entry).unwrap();
        let PortTensors::Pack(ids) = &entry.inputs[0].tensors else {
            panic!("a pack of known length");
        };
        let own: Vec<&Extent> = ids.iter().map(|id| &entry.values[id.0 as usize].tensor.shape[1]).collect();
        assert_eq!(own.iter().map(|e| e.bound()).collect::<Vec<_>>(), most);
        assert!(own[0] != own[1] && own[1] != own[2]);
    }
    assert_fires(&PACK_LENGTHS_DIFFER, &text("[3, 4]"));
}
