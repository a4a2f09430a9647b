// SPDX-License-Identifier: Apache-2.0
//! Blocks, attributes, constants, helpers and assertions (2.2, 2.5, 2.7 to 2.9).

use super::rows::{Rows, graph, reals_of};
use skript_frontend::diagnostics::codes;

#[test]
fn s2_2_all_blocks() {
    let mut rows = Rows::default();
    let operators = "
        operator scale { @dtype { T: num; } @attrib { k: int = 2; } @input { x: T[n]; } @using { u = n + k; }
            @constant { c: T[n] = T(k); } @output { y: T[n]; } @assert { u > k; } @lower { y[i,] = x[i,] * c[i,], i < n; } }
        operator keep { @input { x: real[n]; } @variable { w: real[n]; } @output { y: real[n]; }
            @compose { t = id(x); y = add(t, w); } @quantize { t: id; } }";
    let document = format!(
        "{} graph H {{ @input {{ x: real[2]; }} @variable {{ w: real[2]; }} @output {{ y: real[2]; }}
            @compose {{ t = neg(x); y = t; }} @update {{ w = t; }} }}",
        graph(operators, "x: real[2];", "y: real[2];", "z = scale(x); y = keep(z);")
    );
    rows.output(&[1, 2], &document, &[reals_of(&[1.0, 2.0])], &[3.0, 5.0]);
    for block in ["@stuff { }", "@lowering { }", "@inputs { }"] {
        let text = graph(&format!("operator o {{ {block} }}"), "", "y: real[];", "y = 1.0;");
        rows.rejected(&[2], &codes::BLOCK_NAME, &text);
    }
    // Out of the order of dependence, with the same meaning.
    let reversed = "operator scale { @lower { y[i,] = x[i,] * real(u), i < n; } @assert { u > 0; } @output { y: real[n]; }
        @using { u = k + n; } @input { x: real[n]; } @attrib { k: int; } }";
    rows.output(
        &[3, 4],
        &graph(reversed, "x: real[2];", "y: real[2];", "y = scale{k=1}(x);"),
        &[reals_of(&[1.0, 2.0])],
        &[3.0, 6.0],
    );
}

#[test]
fn s2_3_and_2_4_names_and_packs() {
    let mut rows = Rows::default();
    let declared = |attribute: &str| {
        let operator = format!("operator o {{ @attrib {{ {attribute}; }} }}");
        graph(&operator, "", "y: real[];", "y = 1.0;")
    };
    for attribute in ["p: int..(2)..(3)", "p: (int..)..(3)"] {
        rows.rejected(&[8], &codes::SYNTAX, &declared(attribute));
    }
    for attribute in ["a-b: int", "\u{e4}: int", "a$: int"] {
        rows.rejected(&[18], &codes::SYNTAX, &declared(attribute));
    }
    rows.rejected(&[18], &codes::NUMBER, &declared("9a: int"));
    rows.rejected(&[19], &codes::RESERVED_WORD, &declared("_: int"));
    rows.rejected(&[8], &codes::SYNTAX, &graph("", "x: real[2]..(2)..(2);", "y: real[];", "y = 1.0;"));
    rows.symbols(
        &[18],
        "@attrib { _a: int; B9_c: int; abc_: int; }",
        "_a, B9_c, abc_",
        "",
        "{_a=1, B9_c=2, abc_=3}()",
        &[1, 2, 3],
    );
    rows.refused(&[6], &codes::UNKNOWN_TYPE, "@attrib { a: arith; }", "", "{a=1}()");
    rows.symbols(
        &[13],
        "@attrib { a: optional int; b: optional int..; }",
        "a ?? 1, (b ?? [2, 3])..",
        "",
        "()",
        &[1, 2, 3],
    );
    rows.rejected(&[13], &codes::UNKNOWN_NAME, &graph("", "", "y: real[];", "y = null;"));
    rows.symbols(
        &[87, 88],
        "@input { x: real[a,b]; xs: real[a]..; }",
        "x.rank, x.shape.., xs.size",
        "a: real[2,3]; b: real[2];",
        "(a, [b, b, b])",
        &[2, 2, 3, 3],
    );
}

#[test]
fn s2_5_attributes() {
    let mut rows = Rows::default();
    rows.refused(&[100], &codes::ATTRIBUTE_SHAPE, "@attrib { a: real[2]; }", "", "{a=1.0}()");
    rows.refused(&[100], &codes::ATTRIBUTE_SHAPE, "@attrib { a: int[]; }", "", "{a=1}()");
    for item in ["a", "a = 1", ": int"] {
        let blocks = format!("@attrib {{ {item}; }}");
        rows.refused(&[99], &codes::SYNTAX, &blocks, "", "()");
    }
    rows.refused(&[99], &codes::RESERVED_WORD, "@attrib { int; }", "", "()");
    rows.symbols(&[101, 102], "@attrib { r: int; a: int.. = [0:r]; }", "a..", "", "{r=3}()", &[0, 1, 2]);
    rows.symbols(&[103], "@attrib { r: int; a: int..(r) = 8; }", "a..", "", "{r=2}()", &[8, 8]);
    rows.symbols(&[104], "@attrib { a: optional int; }", "a ?? 4", "", "()", &[4]);
    let either = "@attrib { r: optional int; a: int.. = [0:r]; }";
    rows.symbols(&[105], either, "a..", "", "{r=2}()", &[0, 1]);
    rows.symbols(&[105], either, "a..", "", "{a=[7]}()", &[7]);
    rows.refused(&[105], &codes::ATTRIBUTE_MISSING, either, "", "()");
    rows.symbols(
        &[102],
        "@attrib { a: int = x.rank; b: int = a + n; } @input { x: real[n]; }",
        "a, b",
        "x: real[5];",
        "(x)",
        &[1, 6],
    );
}

#[test]
fn s2_7_constants_and_variables() {
    let mut rows = Rows::default();
    let shown = |constant: &str| {
        let operator = format!(
            "operator f {{ @attrib {{ n: int; }} @constant {{ {constant} }} @output {{ y: real[6]; }}
                @lower {{ y[3 * i + j,] = real(c[i,j]), i < 2, j < 3; }} }}"
        );
        graph(&operator, "", "y: real[6];", "y = f{n=3}();")
    };
    rows.output(&[155], &shown("c: int[2,3] = [1, 2, 3, 4, 5, 6];"), &[], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    rows.output(&[155], &shown("c: real[2,n] = 2.5;"), &[], &[2.5; 6]);
    rows.output(
        &[157],
        &shown("c: real[2,n] = a == b ? 1.0 : 0.0, a < 2, b < n;"),
        &[],
        &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
    );
    rows.output(
        &[157],
        &shown("c: int[2,n] = 10 * a + b, a < 2, b < n;"),
        &[],
        &[0.0, 1.0, 2.0, 10.0, 11.0, 12.0],
    );
    let pack = "operator f { @constant { c: real[n]..(2) = [1.5, 2.5]; } @input { x: real[n]; } @output { y: real[n]..(2); }
        @lower { y[k][i,] = c[k][i,] + x[i,], k < 2, i < n; } }";
    rows.output(
        &[158],
        &graph(pack, "x: real[2];", "y: real[2]; z: real[2];", "[y, z] = f(x);"),
        &[],
        &[1.5, 1.5, 2.5, 2.5],
    );
    rows.rejected(
        &[159],
        &codes::VALUE_NOT_ALLOWED,
        "graph G { @variable { w: real[2] = 1.0; } @output { y: real[2]; } @compose { y = w; } }",
    );
    rows.names(
        &[160],
        "graph G { @variable { w: real[2]; vs: real[2]..(2); } @output { y: real[2]; } @compose { y = w; } }",
        &["main.G.w", "main.G.vs:1", "main.G.vs:2"],
    );
}

#[test]
fn s2_8_assertions() {
    let mut rows = Rows::default();
    let checked = |assertions: &str, invocation: &str| {
        let operator = format!(
            "operator f {{ @attrib {{ a: int; p: int.. = [1, 2]; o: optional int; }} @using {{ u = a + 1; }}
                @assert {{ {assertions} }} @output {{ y: real[]; }} @lower {{ y[] = 0.0; }} }}"
        );
        graph(&operator, "", "y: real[];", &format!("y = f{invocation}();"))
    };
    rows.message(&[161], &checked("a < 0;", "{a=3}"), "`a < 0` does not hold; a = 3");
    rows.message(&[163], &checked("a < 0: \"bad a\";", "{a=3}"), "bad a");
    rows.message(&[163], &checked("a < 0: \"bad {a}\", a + 1, p;", "{a=3}"), "bad 3; a + 1 = 4, p = [1, 2]");
    rows.message(&[164], &checked("a < 0: 'x', 'twice': 2 * a;", "{a=3}"), "x; twice = 6");
    rows.message(&[163], &checked("a < 0: \"{u} after {a}\", u;", "{a=3}"), "4 after 3; u = 4");
    rows.composes(&[165], &checked("p > 0;", "{a=3}"));
    rows.rejected(&[165], &codes::ASSERTION_FAILED, &checked("p > 1;", "{a=3}"));
    rows.composes(&[98, 166], &checked("o > 5;", "{a=3}"));
    rows.rejected(&[166], &codes::ASSERTION_FAILED, &checked("o > 5;", "{a=3, o=4}"));
    rows.composes(&[162], &checked("a > 0: \"message {a}\", a, 'l': p;", "{a=3}"));
}

#[test]
fn s2_9_helpers() {
    let mut rows = Rows::default();
    let blocks = |using: &str| format!("@attrib {{ p: int..(k); n: int; }} @using {{ {using} }}");
    let given = "{p=[4, 5, 6, 7], n=2}()";
    rows.symbols(&[167], &blocks("u = n * k; v = u + 1;"), "u, v", "", given, &[8, 9]);
    rows.symbols(&[169], &blocks("c..(k) = p + 1;"), "c..", "", given, &[5, 6, 7, 8]);
    rows.symbols(&[170], &blocks("[a, b..] = p;"), "b.., a", "", given, &[5, 6, 7, 4]);
    rows.symbols(&[170], &blocks("[a.., b] = p;"), "b, a..", "", given, &[7, 4, 5, 6]);
    rows.symbols(&[170, 33], &blocks("[(e, f)..] = p;"), "e.., f..", "", given, &[4, 6, 5, 7]);
    rows.symbols(&[171], &blocks("[a, b..(3)] = p;"), "b..", "", given, &[5, 6, 7]);
    rows.refused(&[169], &codes::PACK_LENGTHS_DIFFER, &blocks("c..(n) = p;"), "", given);
    rows.refused(&[171], &codes::PACK_LENGTHS_DIFFER, &blocks("[a, b..(n)] = p;"), "", given);
    let guarded = "@attrib { a: int; b: int; } @using { r = a / b; } @assert { r == 4; b > 0: \"'b' must be positive\"; }";
    rows.symbols(&[172], guarded, "r", "", "{a=8, b=2}()", &[4]);
    rows.refused(&[172], &codes::ASSERTION_FAILED, guarded, "", "{a=8, b=0}()");
    rows.refused(&[173], &codes::ASSERTION_FAILED, guarded, "", "{a=8, b=1}()");
    // Assertions of what is known stand in any order.
    let swapped = "@attrib { a: int; b: int; } @using { r = a / b; } @assert { b > 0: \"'b' must be positive\"; r == 4; }";
    rows.refused(&[173], &codes::ASSERTION_FAILED, swapped, "", "{a=8, b=1}()");
    rows.refused(&[173], &codes::ASSERTION_FAILED, swapped, "", "{a=8, b=0}()");
}
