// SPDX-License-Identifier: Apache-2.0
//! Shapes of inputs and outputs, and how an invocation binds their symbols (2.6).

use super::rows::{Rows, graph, reals_of};
use skript_frontend::diagnostics::codes;

#[test]
fn s2_6_extents_are_captured() {
    let mut rows = Rows::default();
    let a = "a: real[2,3,5];";
    rows.symbols(&[107], "@input { x: real[s..(d)]; }", "d, s..", a, "(a)", &[3, 2, 3, 5]);
    rows.symbols(&[107], "@input { x: real[s..]; }", "s..", a, "(a)", &[2, 3, 5]);
    rows.symbols(&[107], "@input { x: real[n,s..]; }", "s.., n", a, "(a)", &[3, 5, 2]);
    rows.symbols(&[107], "@input { x: real[s..(d)]; }", "d, s..", "a: real[];", "(a)", &[0]);
    let kept = "@attrib { f: bool; } @input { x: real[s..(f),n]; }";
    rows.symbols(&[108], kept, "s ?? 9, n", "a: real[2,3];", "{f=true}(a)", &[2, 3]);
    rows.symbols(&[108], kept, "s ?? 9, n", "a: real[3];", "{f=false}(a)", &[9, 3]);
    let ranked = "@attrib { d: int; } @input { x: real^(r)[s..(d),z..]; }";
    rows.symbols(&[109, 134], ranked, "r, s.., z..", a, "{d=2}(a)", &[3, 2, 3, 5]);
    rows.symbols(&[109, 134], ranked, "r, s.., 0, z..", a, "{d=0}(a)", &[3, 0, 2, 3, 5]);
    rows.refused(&[135], &codes::RANK_MISMATCH, ranked, "a: real[2];", "{d=2}(a)");
    rows.refused(&[135], &codes::RANK_MISMATCH, "@input { x: real[m,n,s..]; }", "a: real[2];", "(a)");
    let pack = "@input { xs: real[z,..t]..(k); }";
    rows.symbols(
        &[113, 114],
        pack,
        "k, z, t..",
        "a: real[2,3]; b: real[2,5];",
        "([a, b, a])",
        &[3, 2, 3, 5, 3],
    );
    rows.refused(&[113], &codes::EXTENT_MISMATCH, pack, "a: real[2,3]; b: real[3,3];", "([a, b])");
    rows.refused(&[12], &codes::RANK_MISMATCH, pack, "a: real[2,3]; b: real[2,3,4];", "([a, b])");
    let shared = "@input { x: real[m,n]; y: real[n]; }";
    rows.symbols(&[111], shared, "m, n", "a: real[2,3]; b: real[3];", "(a, b)", &[2, 3]);
    rows.refused(&[111], &codes::EXTENT_MISMATCH, shared, "a: real[2,3]; b: real[2];", "(a, b)");
    let affine = "@input { x: real[2 * k + 1,s..(2 * d)]; }";
    rows.symbols(&[115, 118], affine, "k, d, s..", "a: real[7,2,3];", "(a)", &[3, 1, 2, 3]);
    rows.symbols(&[118], "@input { x: real[10 - k]; }", "k", "a: real[7];", "(a)", &[3]);
    rows.refused(&[119], &codes::AFFINE_EXTENT, affine, "a: real[7,2,3,4];", "(a)");
    rows.refused(&[119], &codes::AFFINE_EXTENT, affine, "a: real[8,2,3];", "(a)");
    let prescribed = "@attrib { n: int; a: int..(n); } @input { x: real[n / 2]; }";
    rows.symbols(&[117], prescribed, "n", "a: real[2];", "{n=4, a=0}(a)", &[4]);
    rows.refused(&[117, 152], &codes::EXTENT_MISMATCH, prescribed, "a: real[3];", "{n=4, a=0}(a)");
    rows.refused(&[117, 149], &codes::EXTENT_MISMATCH, prescribed, "a: real[1];", "{n=2, a=[1, 2, 3]}(a)");
    rows.refused(
        &[152],
        &codes::RANK_MISMATCH,
        "@attrib { n: int; } @input { x: real[s..(n * n)]; }",
        "a: real[2,2,2];",
        "{n=2}(a)",
    );
}

#[test]
fn s2_6_1_binding() {
    let mut rows = Rows::default();
    let later = "@input { x: real[s..(d),t..]; y: real[s..(d)]; }";
    rows.symbols(
        &[136, 147],
        later,
        "d, s.., t..",
        "a: real[2,3,5,7]; b: real[2,3];",
        "(a, b)",
        &[2, 2, 3, 5, 7],
    );
    let chain = "@input { x: real[s..(d),t..(e),u..]; y: real[s..(d),t..(e)]; z: real[s..(d)]; }";
    rows.symbols(
        &[141, 142],
        chain,
        "d, e, s.., t.., u..",
        "a: real[2,3,5,7]; b: real[2,3,5]; c: real[2];",
        "(a, b, c)",
        &[1, 2, 2, 3, 5, 7],
    );
    rows.refused(
        &[139],
        &codes::AMBIGUOUS_SHAPE,
        "@output { y: int[1]; } @lower { y[i,] = 0, i < 1; } } operator g { @input { x: real[s..,t..]; }",
        "a: real[1];",
        "()",
    );
    let optional = "@input { y: optional real[s..(d),t..]; x: real[s..(d)]; }";
    rows.symbols(&[143], optional, "d, s.., (t ?? [9])..", "a: real[2,3]; b: real[2];", "(~, b)", &[1, 2, 9]);
    let known = "@attrib { r: int; c: int = 2 * d + r; } @input { x: real[s..(r),z..(d),t..]; y: real[s..(r),z..(d)]; }";
    rows.symbols(
        &[140, 148],
        known,
        "d, c, s.., z.., t..",
        "a: real[2,3,5,7]; b: real[2,3,5];",
        "{r=1}(a, b)",
        &[2, 5, 2, 3, 5, 7],
    );
    let attributes = "@attrib { r: int = 4; c: int = n + r; } @input { x: real[n]; o: optional real[m]; }";
    let a = "a: real[3];";
    rows.symbols(&[146, 148], attributes, "r, c", a, "(a)", &[4, 7]);
    rows.symbols(&[146, 148], attributes, "r, c", a, "{r=1}(a)", &[1, 4]);
    rows.symbols(&[146, 148], attributes, "r, c", a, "{r=1, c=0}(a)", &[1, 0]);
    rows.symbols(&[147, 183], attributes, "m ?? -1, n", a, "(a)", &[-1, 3]);
    rows.symbols(&[147], attributes, "m ?? -1, n", a, "(a, a)", &[3, 3]);
    let packed = "@attrib { a: int..(d); } @input { x: real[s..(d)]; }";
    let ab = "a: real[2,3];";
    rows.symbols(&[149, 103], packed, "a..", ab, "{a=5}(a)", &[5, 5]);
    rows.symbols(&[149], packed, "a..", ab, "{a=[5, 6]}(a)", &[5, 6]);
    rows.symbols(&[149], "@attrib { a: int..(k); }", "k", "", "{a=[5, 6, 7]}()", &[3]);
    rows.refused(&[149], &codes::EXTENT_MISMATCH, packed, ab, "{a=[5, 6, 7]}(a)");
    rows.refused(&[150], &codes::UNIFORM_LENGTH_UNKNOWN, "@attrib { a: int..(k); }", "", "{a=5}()");
    rows.refused(&[151], &codes::EXTENT_MISMATCH, "@input { x: real[n,n]; }", ab, "(a)");
    rows.refused(
        &[151],
        &codes::EXTENT_MISMATCH,
        "@input { x: real[2 * k]; y: real[k]; }",
        "a: real[4]; b: real[3];",
        "(a, b)",
    );
}

#[test]
fn s2_6_inputs_and_outputs() {
    let mut rows = Rows::default();
    let defaults = "operator f { @input { x: real[n]; s: real[] = 1.5; t: real[]..(2) = [10.0, 20.0]; h: real[n] = 100.0; }
        @output { y: real[n]; } @lower { y[i,] = x[i,] + s[] + (t[] + ..) + h[i,], i < n; } }";
    rows.output(
        &[120],
        &graph(defaults, "x: real[2];", "y: real[2];", "y = f(x);"),
        &[reals_of(&[1.0, 2.0])],
        &[132.5, 133.5],
    );
    let optional = "operator f { @input { x: real[n]; zs: optional real[n]..(k); } @output { y: real[n]; }
        @lower { y[i,] = ?zs ? x[i,] + (zs[i,] + ..) : x[i,], i < n; } }";
    let inputs = "x: real[1]; a: real[1]; b: real[1];";
    let given = [reals_of(&[1.0]), reals_of(&[10.0]), reals_of(&[100.0])];
    rows.output(&[112], &graph(optional, inputs, "y: real[1];", "y = f(x, [a, b]);"), &given, &[111.0]);
    rows.output(&[112], &graph(optional, inputs, "y: real[1];", "y = f(x);"), &given, &[1.0]);
    let rank = "operator f { @attrib { keep: bool; o: optional int; } @input { x: real[n]; } @output { y: real[n,keep ? 1,o,o]; } }";
    for (attributes, wanted) in
        [("keep=true", &[4, 1][..]), ("keep=false", &[4][..]), ("keep=true, o=2", &[4, 1, 2, 2][..])]
    {
        let document = graph(rank, "x: real[4];", "y: real;", &format!("y = f{{{attributes}}}(x);"));
        let shape = |model: &skript_frontend::model::Model| {
            let entry = model.function(model.entry).unwrap();
            let id = entry.outputs[0].tensors.values()[0];
            entry.values[id.0 as usize].tensor.fixed_shape().unwrap()
        };
        rows.model(&[98, 110, 122, 128], &document, shape, wanted.to_vec());
    }
    rows.shapes(
        &[128],
        &graph("", "x: real[2,3];", "y: real[~,~]; z: real;", "y = neg(x); z = neg(y);"),
        &[],
        &[&[2, 3], &[2, 3]],
    );
    rows.rejected(
        &[127],
        &codes::GRAPH_WITHOUT_BODY,
        "graph G { @input { x: real[2]; } @output { y: real[2]; } }",
    );
    rows.rejected(&[106], &codes::RESERVED_WORD, &graph("", "real[2];", "y: real[2];", "y = 1.0;"));
    for input in ["x", "x: [2]", "x = 1"] {
        let text = graph("", &format!("{input};"), "y: real[2];", "y = 1.0;");
        rows.rejected(&[106], &codes::SYNTAX, &text);
    }
}

#[test]
fn s2_6_dynamic_extents() {
    let mut rows = Rows::default();
    let agree = graph("", "x: real[s|4]; z: real[s];", "y: real[s];", "y = add(x, z);");
    let of = |n: usize| reals_of(&vec![1.0; n]);
    rows.shapes(&[123, 125, 126], &agree, &[of(3), of(3)], &[&[3]]);
    rows.shapes(&[125], &agree, &[of(4), of(4)], &[&[4]]);
    rows.stops(&[126], &agree, &[of(3), of(2)], "extent");
    rows.stops(&[126], &agree, &[of(5), of(5)], "bound");
    rows.rejected(
        &[125],
        &codes::BOUNDS_DIFFER,
        &graph("", "x: real[s|4]; z: real[s|5];", "y: real[s];", "y = add(x, z);"),
    );
    rows.composes(&[125], &graph("", "x: real[s|4]; z: real[s|4];", "y: real[s];", "y = add(x, z);"));
    rows.rejected(
        &[124, 129],
        &codes::UNBOUNDED_EXTENT,
        &graph("", "x: real[~];", "y: real[~];", "y = neg(x);"),
    );
    // Extents of an operator's output that follow from dynamic inputs: their bounds, and their values in the run.
    let twice = "operator twice { @input { x: real[n]; } @output { y: real[2 * n]; } @lower { y[i,] = x[i / 2,], i < 2 * n; } }";
    let grown = graph(twice, "x: real[s|5];", "y: real;", "t = twice(x); y = twice(t);");
    let bound = |model: &skript_frontend::model::Model| {
        let entry = model.function(model.entry).unwrap();
        let id = entry.outputs[0].tensors.values()[0];
        entry.values[id.0 as usize].tensor.shape[0].bound()
    };
    rows.model(&[284, 287], &grown, bound, 20);
    rows.output(
        &[284, 286, 288],
        &grown,
        &[reals_of(&[1.0, 2.0])],
        &[1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0],
    );
    rows.shapes(&[288], &grown, &[reals_of(&[1.0, 2.0, 3.0])], &[&[12]]);
    // An intrinsic of dynamic extent, without a body.
    let nonzero =
        "operator find { @input { x: bool[n]; } @output { y: int[~|n]; z: int[s|n]; w: int[s|n]; } }";
    let found = graph(nonzero, "x: bool[6];", "y: int; z: int; w: int;", "y, z, w = find(x);");
    let bodies = |model: &skript_frontend::model::Model| {
        let intrinsics =
            model.functions.iter().filter(|f| matches!(f.body, skript_frontend::model::Body::Intrinsic));
        intrinsics.count()
    };
    rows.model(&[132, 133, 285], &found, bodies, 1);
}
