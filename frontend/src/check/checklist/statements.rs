// SPDX-License-Identifier: Apache-2.0
//! Statements, control flow, formulas, generics, modules (2.10 to 2.15).

use super::super::testing::{in_compose, in_document, in_lower, in_module};
use super::{GRAPH, Rows, operator};
use crate::diagnostics::codes;

#[test]
fn s2_10_statements() {
    let mut rows = Rows::default();
    rows.accept(&[174, 179], in_compose("z = id(x); u = add(z, 1.0 + 0.5); y = add(u, n);"));
    rows.reject(&[175], &codes::UNKNOWN_OPERATOR, in_compose("y = idd(x);"));
    rows.reject(&[177], &codes::OUTPUT_NOT_ASSIGNED, in_compose(""));
    rows.reject(&[180], &codes::TENSOR_AS_VALUE, in_compose("y = scale{k=w}(x);"));
    rows.accept(
        &[181, 182],
        in_compose("[u, v] = split{n=2}(x); s..(3) = split{n=3}(x); y = join([u, v, s.., x]);"),
    );
    rows.accept(&[182], in_compose("[u, v..(2)] = split{n=3}(x); y = join(v);"));
    rows.accept(&[183, 185], in_compose("y = add(x, x); ~, u = two(x); v = add(x, x, ~);"));
    rows.reject(&[181], &codes::ARGUMENT_TYPE, in_compose("y = join(x, w);"));
    rows.reject(&[184], &codes::MISSING_ARGUMENT, in_compose("y = add(x);"));
    rows.accept(&[186], in_compose("y = label: scale{k=2.0}(x);"));
    rows.accept(&[194], in_compose("z = f ? x : w; u = xs[0]; v..(2) = xs[1:]; t..(4) = [xs.., x]; y = z;"));
    rows.reject(&[14], &codes::TENSOR_AS_VALUE, in_compose("y = -x;"));
    rows.reject(&[89], &codes::ACCESS_OUTSIDE_LOWER, in_compose("y = x[0,];"));
    rows.accept(&[195, 197, 199, 201], in_compose("y = { x = scale{k=2.0}(x); z = id(x); yield z; };"));
    rows.reject(&[199], &codes::UNKNOWN_NAME, in_compose("u = { z = id(x); yield z; }; y = z;"));
    rows.reject(&[176], &codes::ASSIGNED_TWICE, in_compose("y = { z = id(x); z = id(x); yield z; };"));
    rows.reject(&[231], &codes::NOT_ASSIGNABLE, in_compose("y = x; w = id(x);"));
    rows.accept(&[193], in_document("graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = lab: S(x); } } graph S { @input { x: real[~]; } @output { y: real[~]; } @compose { y = x; } }"));
    rows.reject(&[178], &codes::ASSIGNED_TYPE, in_compose("y = i;"));
    rows.accept(&[178, 179], in_document("graph G { @output { y: real[]; } @compose { y = 1; } }"));
    rows.reject(
        &[178],
        &codes::ASSIGNED_TYPE,
        in_document("graph G { @output { y: int[]; } @compose { y = 1.5; } }"),
    );
    rows.reject(&[178], &codes::TARGET_NOT_A_PACK, in_compose("y = xs;"));
    rows.finish();
}

#[test]
fn s2_10_1_branches_and_loops() {
    let mut rows = Rows::default();
    rows.accept(
        &[202, 204],
        in_compose("y = if f then id(x) elif n > 1 then w else { z = id(x); yield z; };"),
    );
    rows.accept(&[202], in_compose("y = if { c = less(x); yield b; } then x else w;"));
    rows.reject(&[202], &codes::BRANCH_CONDITION, in_compose("y = if n then x else w;"));
    rows.reject(&[202], &codes::BRANCHES_DIFFER, in_compose("y = if b then two(x) else id(x);"));
    let promoted = |body: &str| {
        in_document(&format!(
            "operator id {{ @input {{ x: real[s..]; }} @output {{ y: real[s..]; }} }} operator o {{ @attrib {{ c: bool; }} @input {{ x: real[n]; z: optional real[n]; }} @output {{ y: real[n]; }} @compose {{ {body} }} }} {GRAPH}"
        ))
    };
    rows.accept(&[205], promoted("y = if ?z then { yield z; } else x;"));
    rows.accept(&[205], promoted("y = if ?z && c then { yield z; } else x;"));
    rows.reject(&[198, 206], &codes::YIELD_OPTIONAL, promoted("y = if ?z then x else { yield z; };"));
    rows.reject(&[206], &codes::ARGUMENT_TYPE, promoted("y = if ?z then x else id(z);"));
    rows.accept(&[205], promoted("y = if ?z then id(z) elif c then id(x) else x;"));
    rows.accept(&[208, 211], in_compose("v..(3) = for e : xs do id(e); y = x;"));
    rows.reject(&[208], &codes::NOT_A_PACK, in_compose("v..(3) = for e : x do id(e); y = x;"));
    rows.reject(
        &[209],
        &codes::LENGTHS_DIFFER,
        in_compose("v..(3) = for e : xs, g : [x, w] do add(e, g); y = x;"),
    );
    rows.reject(&[210], &codes::UNKNOWN_NAME, in_compose("v..(3) = for e : xs do id(e); y = e;"));
    rows.accept(&[212, 215, 216], in_compose("y, h..(3) = with s: real[4] = 0.0 for e : xs do two(e);"));
    rows.reject(&[212], &codes::CARRIED_TYPE, in_compose("y = with s: int[4] = 0.5 do..(2) id(x);"));
    rows.accept(&[217, 219, 221], in_compose("u = with s = 0 do..(k -> i) same(s, k); y = x;"));
    rows.reject(&[217], &codes::LOOP_COUNT, in_compose("y = with s = x do..(f) id(s);"));
    rows.reject(&[217], &codes::LOOP_COUNT, in_compose("y = with s = x do..(w) id(s);"));
    rows.accept(&[218, 221], in_compose("y, v..(3) = with s = x for e : xs do..(k ->) two(e);"));
    rows.accept(&[222, 226], in_compose("y = with s = x while less(s) do..(3) id(s);"));
    rows.accept(&[222], in_compose("y = with s = x do id(s) while less(s);"));
    rows.accept(
        &[224, 225],
        in_compose("y, ~ = with s = x, c = true while c do { d = less(s); yield s, d; };"),
    );
    rows.reject(&[223], &codes::LOOP_CONDITION, in_compose("y = with s = x do id(s) while two(s);"));
    rows.reject(&[227], &codes::ENDLESS_LOOP, in_compose("y = with s = x do..(k ->) id(s);"));
    rows.accept(&[228], in_compose("y = with s = x for e : xs unroll add(s, e);"));
    rows.reject(&[229], &codes::UNROLL, in_compose("y = with s = x unroll id(s) while less(s);"));
    rows.reject(&[213], &codes::UNKNOWN_NAME, in_compose("u = with s = x do..(2) id(s); y = s;"));
    rows.finish();
}

#[test]
fn s2_12_formulas() {
    let mut rows = Rows::default();
    rows.reject(&[235], &codes::FORMULA_TARGET, in_lower("y[i,] = 0.0, i < a; nothing[i,] = 0.0, i < a;"));
    rows.accept(&[237, 239], in_lower("y[i,] >= x[i,j], i < a, j < b;"));
    rows.reject(
        &[238],
        &codes::FORMULA_SEQUENCE,
        in_lower("y[i,] += line[i,], i < a; y[i,] += line[i,], i < a;"),
    );
    rows.reject(&[240], &codes::REPLACE_WITHOUT_START, in_lower("y[i,] := line[i,], i < a;"));
    rows.accept(
        &[241],
        in_lower("y[i,] = f ? `sqrt`(line[i,]) : real(i) + (maybe[i,] ?? 0.5) ** 2.0, i < a;"),
    );
    rows.accept(&[242], operator("@input { xs: real[n]..(k); } @output { ys: real[n]..(k); } @lower { ys[j][i,] = xs[j][i,], j < k, i < n; }"));
    rows.accept(&[242], operator("@input { x: real[n]; } @output { ys: real[n]..(2); } @lower { ys[0][i,] = x[i,], i < n; ys[1][i,] = -x[i,], i < n; }"));
    rows.accept(&[245], operator("@input { xs: real[n]..(k); } @output { ys: real[n]..(k); } @lower { ys[i,] = xs[i,] * 2.0, i < n; }"));
    rows.accept(&[245], operator("@input { x: real[m,n]; } @output { idx: int[]..(2); } @lower { idx[] = 0; idx[] := [i, j], i < m, j < n | x[i,j] > x[idx[]..]; }"));
    rows.reject(&[245], &codes::LENGTHS_DIFFER, operator("@input { x: real[m,n]; } @output { idx: int[]..(3); } @lower { idx[] = 0; idx[] := [i, j], i < m, j < n; }"));
    rows.reject(&[244], &codes::FORMULA_OPTIONAL, in_lower("y[i,] = maybe[i,] + 1.0, i < a;"));
    rows.accept(&[244], in_lower("y[i,] = ?maybe ? maybe[i,] : 0.0, i < a;"));
    rows.accept(
        &[247, 248],
        in_lower("y[i,] = 0.0, i < a; y[i,] := line[i,], i < a | line[i,] > y[i,] && i % 2 == 0;"),
    );
    rows.accept(&[249], in_lower("unroll..(k -> c) y[i,] += xs[k][i,] * real(k), i < a;"));
    rows.accept(&[250], in_lower("z = line[i,] * 2.0, y[i,] = z + z, i < a;"));
    rows.reject(&[250], &codes::UNKNOWN_NAME, in_lower("y[i,] = z1 + 1.0, i < a;"));
    rows.accept(&[233], operator("@attrib { m: int..(k); } @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] += x[i,] * real(j), j < k, i < m[j]; }"));
    rows.reject(&[233], &codes::UNKNOWN_NAME, in_lower("y[i,] = line[k1,], i < a;"));
    rows.reject(&[275], &codes::EXTENT_TYPE, in_lower("y[i,] = 1.0, i < r;"));
    rows.reject(&[46], &codes::TYPES_DIFFER, in_lower("y[i,] = line[i,] * 2, i < a;"));
    rows.finish();
}

#[test]
fn s2_13_to_2_15_generics_and_modules() {
    let mut rows = Rows::default();
    rows.accept(
        &[255, 258, 260],
        in_compose("y = same<real>(x, 2); u = convert<int>(x); v = convert<bool, real>(x);"),
    );
    rows.reject(&[256], &codes::TYPE_OUTSIDE_BOUND, in_compose("v = same<bool>(x, x); y = x;"));
    rows.reject(&[256], &codes::TYPE_OUTSIDE_BOUND, operator("@dtype { T: num = str; }"));
    rows.reject(
        &[257],
        &codes::OPERAND_TYPE,
        operator("@dtype { T: type; } @attrib { a: T; } @using { v = a + a; }"),
    );
    rows.reject(&[257], &codes::OPERAND_TYPE, operator("@dtype { T: arith; } @input { x: T[n]; } @output { y: T[n]; } @lower { y[i,] = x[i,] * x[i,], i < n; }"));
    rows.reject(
        &[257],
        &codes::ACCUMULATION_TYPE,
        operator(
            "@dtype { T: type; } @input { x: T[n]; } @output { y: T[]; } @lower { y[] += x[i,], i < n; }",
        ),
    );
    rows.accept(&[257], operator("@dtype { T: arith; } @input { x: T[n]; } @output { y: real[n]; } @lower { y[i,] = real(x[i,]), i < n; }"));
    rows.reject(&[261], &codes::TYPE_CONFLICT, in_compose("u = same(i, x); y = x;"));
    rows.accept(&[261], in_compose("y = same(x, 1);"));
    rows.reject(&[255], &codes::UNKNOWN_TYPE, in_compose("y = same<float>(x, x);"));
    rows.reject(&[272], &codes::GRAPH_IN_MODULE, in_module(GRAPH));
    rows.accept(&[266, 268], in_module("operator f { }"));
    rows.finish();
}
