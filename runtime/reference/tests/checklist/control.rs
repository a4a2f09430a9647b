// SPDX-License-Identifier: Apache-2.0
//! Branches, blocks and loops (2.10.1).

use super::rows::{Rows, graph, reals_of};
use skript_frontend::diagnostics::codes;
use skript_tensor::Tensor;

const INPUTS: &str = "x: real[2]; w: real[2]; b: bool[]; n: int[]; xs: real[2]..(3);";

/// x, w, b, n and the items of xs.
fn inputs(b: bool, n: i64) -> Vec<Tensor> {
    vec![
        reals_of(&[1.0, 2.0]),
        reals_of(&[10.0, 20.0]),
        Tensor::from_bool(&[], &[b]).unwrap(),
        Tensor::from_i64(&[], &[n]).unwrap(),
        reals_of(&[100.0, 100.0]),
        reals_of(&[200.0, 200.0]),
        reals_of(&[400.0, 401.0]),
    ]
}

const OPERATORS: &str = "
    operator both { @input { x: real[s..]; z: real[s..]; } @output { u: real[s..]; v: real[s..]; }
        @lower { u[i..] = x[i..] + z[i..], i < s; v[i..] = x[i..] * 2.0, i < s; } }
    operator index { @input { x: real[s..]; k: int[]; } @output { y: real[s..]; } @lower { y[i..] = x[i..] * 10.0 + real(k[]), i < s; } }
    operator below { @input { x: real[s..]; } @output { y: bool[]; } @lower { y[] = true; y[] &= x[i..] < 30.0, i < s; } }";

fn over(statements: &str) -> String {
    graph(OPERATORS, INPUTS, "y: real[2];", statements)
}

#[test]
fn s2_10_1_blocks_and_branches() {
    let mut rows = Rows::default();
    let (yes, no) = (inputs(true, 2), inputs(false, 2));
    rows.output(&[195, 197, 201], &over("y = { t = neg(x); u = add(t, w); yield u; };"), &yes, &[9.0, 18.0]);
    rows.output(&[201], &over("y = w;"), &yes, &[10.0, 20.0]);
    rows.output(
        &[199],
        &over("t = neg(x); z = { t = neg(w); yield t; }; y = add(t, z);"),
        &yes,
        &[-11.0, -22.0],
    );
    for body in ["{ t = neg(x); }", "{ yield x; t = neg(x); }", "{ }"] {
        rows.rejected(&[196], &codes::YIELD, &over(&format!("y = {body};")));
    }
    let branch = over("y = if b then neg(x) else w;");
    rows.output(&[195, 202], &branch, &yes, &[-1.0, -2.0]);
    rows.output(&[202], &branch, &no, &[10.0, 20.0]);
    let chain = over("c = below(w); y = if b then x elif c then w else { t = neg(x); yield t; };");
    rows.output(&[202], &chain, &yes, &[1.0, 2.0]);
    rows.output(&[202], &chain, &no, &[10.0, 20.0]);
    rows.rejected(&[203], &codes::SYNTAX, &over("y = if b then x;"));
    // A condition without tensors leaves one branch and no operation.
    let fixed = over("y = if x.rank == 1 then neg(x) else neg(w);");
    let branches = |model: &skript_frontend::model::Model| model.to_text().matches("if ").count();
    rows.output(&[204], &fixed, &yes, &[-1.0, -2.0]);
    rows.model(&[204], &fixed, branches, 0);
    let promoted = "operator o { @input { x: real[n]; z: optional real[n]; } @output { y: real[n]; }
        @compose { y = if ?z then add(x, z) else neg(x); } }";
    rows.output(&[205], &graph(promoted, INPUTS, "y: real[2];", "y = o(x, w);"), &yes, &[11.0, 22.0]);
    rows.output(&[205], &graph(promoted, INPUTS, "y: real[2];", "y = o(x);"), &yes, &[-1.0, -2.0]);
}

#[test]
fn s2_10_1_loops() {
    let mut rows = Rows::default();
    let given = inputs(true, 2);
    let three =
        |statements: &str| graph(OPERATORS, INPUTS, "a: real[2]; b2: real[2]; c: real[2];", statements);
    let mapped = three("[a, b2, c] = for e : xs do add(e, x);");
    rows.output(&[208, 211, 218], &mapped, &given, &[101.0, 102.0, 201.0, 202.0, 401.0, 403.0]);
    rows.output(
        &[207],
        &three("[a, b2, c] = for e : xs do { t = add(e, x); yield t; };"),
        &given,
        &[101.0, 102.0, 201.0, 202.0, 401.0, 403.0],
    );
    rows.output(
        &[208],
        &three("[a, b2, c] = for e : xs, g : [x, w, x] do add(e, g);"),
        &given,
        &[101.0, 102.0, 210.0, 220.0, 401.0, 403.0],
    );
    rows.output(
        &[210],
        &three("e = neg(x); [a, b2, c] = for e : xs do id(e);"),
        &given,
        &[100.0, 100.0, 200.0, 200.0, 400.0, 401.0],
    );
    let folded = over("y = with s: real[2] = 0.0 for e : xs do add(s, e);");
    rows.output(&[207, 212, 216], &folded, &given, &[700.0, 701.0]);
    rows.output(
        &[212, 213],
        &over("s = neg(x); y = with s = w for e : xs do add(s, e);"),
        &given,
        &[710.0, 721.0],
    );
    rows.rejected(&[214], &codes::SYNTAX, &over("y = for e : xs with s = w do add(s, e);"));
    let mixed = graph(
        OPERATORS,
        INPUTS,
        "y: real[2]; a: real[2]; b2: real[2]; c: real[2];",
        "y, [a, b2, c] = with s = x for e : xs do both(e, s);",
    );
    rows.output(&[215, 216], &mixed, &given, &[701.0, 703.0, 200.0, 200.0, 400.0, 400.0, 800.0, 802.0]);
    rows.output(&[217, 219], &over("y = with s = x do..(3) add(s, s);"), &given, &[8.0, 16.0]);
    rows.output(&[217, 219], &over("y = with s = x do..(n) add(s, s);"), &given, &[4.0, 8.0]);
    rows.output(&[217], &over("y = with s = x do..(n) add(s, s);"), &inputs(true, 0), &[1.0, 2.0]);
    let partial = over("y = with s = x for e : xs do..(n) add(s, e);");
    rows.output(&[217, 220], &partial, &given, &[301.0, 302.0]);
    rows.stops(&[220], &partial, &inputs(true, 4), "a count of 4");
    rows.output(&[221], &over("y = with s = x do..(k -> 3) index(s, k);"), &given, &[1012.0, 2012.0]);
    rows.output(
        &[221],
        &over("y = with s = x for e : xs do..(k ->) index(s, k);"),
        &given,
        &[1012.0, 2012.0],
    );
    rows.output(&[222], &over("y = with s = x while below(s) do add(s, w);"), &given, &[21.0, 42.0]);
    rows.output(&[222], &over("y = with s = x do add(s, w) while below(s);"), &given, &[21.0, 42.0]);
    // A test afterwards means one step at least.
    rows.output(
        &[222],
        &over("z = add(w, w); y = with s = z while below(s) do add(s, w);"),
        &given,
        &[20.0, 40.0],
    );
    rows.output(
        &[222],
        &over("z = add(w, w); y = with s = z do add(s, w) while below(s);"),
        &given,
        &[30.0, 60.0],
    );
    let carried = graph(
        OPERATORS,
        INPUTS,
        "y: real[2]; d: bool[];",
        "y, d = with s = x, c = true while c do { t = add(s, w); c2 = below(t); yield t, c2; };",
    );
    rows.output(&[224, 225], &carried, &given, &[21.0, 42.0, 0.0]);
    rows.output(
        &[225],
        &over("y, ~ = with s = x, c = true while c do { t = add(s, w); c2 = below(t); yield t, c2; };"),
        &given,
        &[21.0, 42.0],
    );
    rows.output(&[226], &over("y = with s = x while below(s) do..(1) add(s, w);"), &given, &[11.0, 22.0]);
    rows.output(&[226], &over("y = with s = x while below(s) do..(9) add(s, w);"), &given, &[21.0, 42.0]);
    rows.rejected(&[227], &codes::ENDLESS_LOOP, &over("y = with s = x do add(s, w);"));
}

#[test]
fn s2_10_1_unrolled_loops() {
    let mut rows = Rows::default();
    let given = inputs(true, 2);
    let unrolled = over("y = with s = x for e : xs unroll add(s, e);");
    rows.output(&[228], &unrolled, &given, &[701.0, 703.0]);
    rows.output(&[228], &over("y = with s = x unroll..(3) add(s, s);"), &given, &[8.0, 16.0]);
    // Each step makes tensors of its own: three invocations, no loop.
    let steps = |model: &skript_frontend::model::Model| {
        let entry = model.function(model.entry).unwrap();
        let skript_frontend::model::Body::Block(block) = &entry.body else {
            return (0, 0);
        };
        let invokes =
            block.operations.iter().filter(|o| matches!(o, skript_frontend::model::Operation::Invoke(_)));
        (invokes.count(), block.operations.len())
    };
    rows.model(&[230], &unrolled, steps, (3, 3));
    rows.rejected(&[229], &codes::UNROLL, &over("y = with s = x unroll..(n) add(s, s);"));
    rows.rejected(&[229], &codes::UNROLL, &over("y = with s = x while below(s) unroll add(s, s);"));
}
