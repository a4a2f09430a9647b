// SPDX-License-Identifier: Apache-2.0
//! Blocks, types, attributes, shapes, constants, helpers (2.2, 2.3, 2.5 to 2.9).

use super::super::testing::{in_document, in_using};
use super::{Rows, graph, operator};
use crate::diagnostics::codes;

#[test]
fn s2_2_blocks_and_visibility() {
    let mut rows = Rows::default();
    rows.accept(&[1, 3], operator("@output { y: real[n]; } @input { x: real[n]; }"));
    rows.accept(
        &[4],
        operator("@output { y: real[u]; } @using { u = n + a; } @input { x: real[n]; } @attrib { a: int; }"),
    );
    rows.accept(&[4, 154], operator("@constant { c: real[u] = 1.0; } @using { u = 3; }"));
    rows.reject(&[4], &codes::NAME_NOT_VISIBLE, operator("@using { u = y.rank; } @output { y: real[2]; }"));
    rows.accept(
        &[5, 232],
        graph("@input { x: real[2]; } @variable { w: real[2]; } @output { y: real[2]; } @compose { t = x; y = t; } @update { u = t; w = u; }"),
    );
    rows.reject(
        &[5],
        &codes::NAME_NOT_VISIBLE,
        graph("@input { x: real[2]; } @variable { w: real[2]; } @output { y: real[2]; } @compose { y = t; } @update { t = x; w = t; }"),
    );
    rows.finish();
}

#[test]
fn s2_3_types() {
    let mut rows = Rows::default();
    rows.accept(&[7], operator("@attrib { a: int..; b: real..(k); c: str..(2 * k); }"));
    rows.accept(&[9, 10], operator("@input { x: optional int[m,n]..(k); y: real[s..(r)]; }"));
    rows.accept(&[11, 114], operator("@input { x: int[m,..n]..(k); } @using { v = n + ..; w = [n.., k]; }"));
    rows.reject(&[6], &codes::UNKNOWN_TYPE, operator("@attrib { a: num; }"));
    rows.reject(&[6], &codes::UNKNOWN_TYPE, operator("@input { x: float[2]; }"));
    rows.finish();
}

#[test]
fn s2_5_attributes() {
    let mut rows = Rows::default();
    rows.accept(
        &[101, 102],
        operator(
            "@attrib { r: int; a: int.. = [0:r]; b: int..(r) = 0; c: int = n - 1; } @input { x: real[n]; }",
        ),
    );
    rows.accept(&[102], operator("@attrib { a: int = x.rank; b: int = a + 1; } @input { x: real[s..]; }"));
    rows.accept(&[105], operator("@attrib { r: optional int; a: int..(k) = [0:r]; }"));
    rows.reject(&[104], &codes::OPTIONAL_DEFAULT, operator("@attrib { a: optional int.. = [1]; }"));
    rows.reject(&[145], &codes::DEFAULT_CYCLE, operator("@attrib { a: int = a + 1; }"));
    rows.reject(&[145], &codes::UNKNOWN_NAME, operator("@attrib { a: int = nothing; }"));
    rows.reject(&[103], &codes::DEFAULT_TYPE, operator("@attrib { a: int = [1]; }"));
    rows.reject(&[99], &codes::DEFAULT_TYPE, operator("@attrib { a: str = 1; }"));
    rows.reject(&[99], &codes::DEFAULT_TYPE, operator("@dtype { T: num; } @attrib { a: T = 1; }"));
    rows.accept(
        &[99],
        operator("@dtype { T: num; } @attrib { a: T = T(1); b: real = 1; c: real..(2) = [1, 2]; }"),
    );
    rows.finish();
}

#[test]
fn s2_6_shapes() {
    let mut rows = Rows::default();
    rows.accept(
        &[108],
        operator("@attrib { f: bool; } @input { x: real[s..(f),n]; } @using { v = s ?? 1; }"),
    );
    rows.accept(&[109], operator("@input { x: real^(r)[s..(d),z..(r - d)]; y: real[s..(d)]; }"));
    rows.accept(
        &[110, 122],
        operator(
            "@attrib { f: bool; o: optional int; } @input { x: real[n]; } @output { y: real[n,f ? 1,o]; }",
        ),
    );
    rows.accept(&[112, 113], operator("@input { x: optional real[z,s..(l),..t]..(k); }"));
    rows.accept(&[115, 118], operator("@attrib { n: int; } @input { x: real[m,k + 1,s..(2 * d),n / 2]; }"));
    rows.accept(&[118], operator("@input { x: real[2 * (m + 1) - m]; }"));
    rows.reject(&[116], &codes::UNDETERMINED_EXTENT, operator("@input { x: real[m / 2]; }"));
    rows.reject(&[116], &codes::UNDETERMINED_EXTENT, operator("@input { x: real[m * m]; }"));
    rows.reject(
        &[116],
        &codes::UNDETERMINED_EXTENT,
        operator("@attrib { n: int; } @input { x: real[m + n]; }"),
    );
    rows.reject(&[275], &codes::EXTENT_TYPE, operator("@attrib { r: real; } @input { x: real[r]; }"));
    rows.reject(&[275], &codes::EXTENT_TYPE, operator("@attrib { a: int..(2.5); }"));
    rows.accept(
        &[120],
        operator("@input { x: real[] = 1.0; xs: real[]..(2) = [1.0, 2.0]; h: real[b,n] = 0.0; }"),
    );
    rows.reject(&[121], &codes::UNKNOWN_NAME, operator("@input { x: real[n]; } @output { y: real[m]; }"));
    rows.accept(&[123, 132, 133], operator("@attrib { k: int; } @input { x: real[n]; } @output { y: real[s|k,n]; z: real[s|k]; w: real[~|k]; }"));
    rows.reject(
        &[124, 132],
        &codes::UNBOUNDED_EXTENT,
        operator("@input { x: real[n]; } @output { y: real[~,n]; }"),
    );
    rows.accept(
        &[125],
        graph("@input { x: real[s|10]; z: real[s]; } @output { y: real[s]; } @compose { y = x; }"),
    );
    rows.accept(
        &[128],
        graph("@input { x: real[2,3]; } @output { y: real[~,~]; z: real; } @compose { y = x; z = x; }"),
    );
    rows.accept(
        &[129, 130],
        graph("@input { x: real[~|10,~|20]; z: real[~|10 ..(3)]; } @output { y: real; } @compose { y = x; }"),
    );
    for input in ["x: real;", "x: real[~|10 ..];", "x: real[s|10 ..];"] {
        rows.reject(
            &[129, 130],
            &codes::UNBOUNDED_EXTENT,
            graph(&format!("@input {{ {input} }} @output {{ y: real; }} @compose {{ y = x; }}")),
        );
    }
    rows.accept(
        &[131],
        in_document("graph G { @input { c: bool[]; x: real[2]; } @output { y: real; } @compose { y = if c then S(x) else R(x); } } graph S { @input { x: real[~]; } @output { y: real[~]; } @compose { y = x; } } graph R { @input { x: real; } @output { y: real; } @compose { y = x; } }"),
    );
    rows.finish();
}

#[test]
fn s2_6_1_binding_order() {
    let mut rows = Rows::default();
    rows.accept(&[134], operator("@attrib { r: int; } @input { x: real[s..(r),t..]; }"));
    rows.accept(&[136, 141, 142], operator("@input { x: real[s..(d),t..]; y: real[s..(d)]; }"));
    rows.accept(&[136], operator("@input { x: real[s..,t..]; y: real[s..]; }"));
    rows.accept(&[140, 145], operator("@attrib { r: int; a: optional int; b: int..(d) = 0; c: int = 2 * d + r; } @input { x: real[s..(r),z..(d),t..]; y: real[s..(r),z..(d)]; }"));
    rows.reject(
        &[137],
        &codes::AMBIGUOUS_SHAPE,
        operator("@attrib { a: int..(d); } @input { x: real[s..(d),t..]; }"),
    );
    rows.reject(
        &[138],
        &codes::AMBIGUOUS_SHAPE,
        operator("@attrib { a: optional int; } @input { x: real[s..(a),t..]; }"),
    );
    rows.reject(
        &[140],
        &codes::AMBIGUOUS_SHAPE,
        operator("@attrib { b: int; a: int = b; } @input { x: real[s..(a),t..]; }"),
    );
    rows.reject(
        &[143, 144],
        &codes::AMBIGUOUS_SHAPE,
        operator("@input { x: real[s..,t..]; y: optional real[s..]; }"),
    );
    rows.accept(&[143], operator("@input { y: optional real[s..,t..]; x: real[s..]; }"));
    rows.accept(
        &[137],
        operator("@attrib { a: int..(d); } @input { x: real[b,c,s..(d)]; y: real[n,c,f..(d)]; }"),
    );
    rows.accept(
        &[134],
        operator("@attrib { axis: int; } @input { x: real^(r)[s..(axis < 0 ? axis + r : axis),z,t..]; }"),
    );
    rows.finish();
}

#[test]
fn s2_7_to_2_9_constants_assertions_helpers() {
    let mut rows = Rows::default();
    rows.accept(&[153, 155, 157], operator("@attrib { n: int; } @constant { c: real[n,n] = i == j ? 1.0 : 0.0, i < n, j < n; d: int[2,2] = [1, 2, 3, 4]; e: real[] = 1; }"));
    rows.reject(&[154], &codes::UNKNOWN_NAME, operator("@constant { c: real[m] = 0.0; }"));
    rows.reject(&[156], &codes::CONSTANT_INITIALIZER, operator("@constant { c: int[2,2] = [1, 2, 3]; }"));
    rows.reject(&[158], &codes::CONSTANT_INITIALIZER, operator("@constant { c: real[2].. = [1.0, 2.0]; }"));
    rows.reject(&[158], &codes::CONSTANT_INITIALIZER, operator("@constant { c: real[2]..(2) = 1.0; }"));
    rows.reject(&[158], &codes::CONSTANT_INITIALIZER, operator("@constant { c: real[2]..(2) = [1.0]; }"));
    rows.reject(&[161], &codes::ASSERTION_NOT_BOOL, operator("@attrib { a: int..; } @assert { a; }"));
    rows.accept(
        &[162, 164, 165, 166],
        operator(
            "@attrib { a: int..; o: optional int; } @assert { a > 0: \"got {a}\", 'label': a, o; o > 1; }",
        ),
    );
    rows.reject(
        &[162],
        &codes::UNKNOWN_NAME,
        operator("@attrib { a: int; } @assert { a > 0: \"text\", b; }"),
    );
    rows.accept(&[167, 169, 170], in_using("v = n + 1; c1..(k) = p + v; [h, g..] = q; [(e, e2)..] = p; [j1, j2..(2)] = q; all = [h, g.., e.., v];"));
    rows.reject(&[169], &codes::LENGTHS_DIFFER, in_using("c1..(k + 1) = p;"));
    rows.reject(&[170], &codes::NOT_A_PACK, in_using("[h, g..] = n;"));
    rows.reject(&[171], &codes::LENGTHS_DIFFER, in_using("[h, g] = [1, 2, 3];"));
    rows.reject(&[171], &codes::LENGTHS_DIFFER, in_using("[h, g..(k)] = p;"));
    rows.accept(&[171], in_using("[h, g..(k)] = [1, p..];"));
    rows.reject(&[168], &codes::NAME_NOT_VISIBLE, in_using("v = v1; v1 = 2;"));
    rows.finish();
}
