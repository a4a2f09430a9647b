// SPDX-License-Identifier: Apache-2.0
//! Statements of `@compose`, names and scopes, `@update` (2.10, 2.11).

use super::rows::{Rows, graph, reals_of};
use skript_frontend::diagnostics::codes;

#[test]
fn s2_10_statements() {
    let mut rows = Rows::default();
    let x = [reals_of(&[1.0, 2.0])];
    let over = |statements: &str| graph("", "x: real[2];", "y: real[2];", statements);
    rows.output(&[174], &over("z = neg(x); y = add(z, x);"), &x, &[0.0, 0.0]);
    rows.output(
        &[179],
        &graph("", "x: real[];", "y: real[];", "y = add(x, 1.0 + 0.5);"),
        &[reals_of(&[2.0]).reshaped(&[]).unwrap()],
        &[3.5],
    );
    rows.rejected(&[175], &codes::UNKNOWN_OPERATOR, &over("y = nothing(x);"));
    rows.rejected(&[176], &codes::ASSIGNED_TWICE, &over("z = neg(x); z = id(x); y = z;"));
    rows.rejected(&[177], &codes::OUTPUT_NOT_ASSIGNED, &over("z = neg(x);"));
    rows.rejected(&[178], &codes::ASSIGNED_TYPE, &graph("", "x: real[2];", "y: int[2];", "y = neg(x);"));
    rows.rejected(&[178], &codes::OUTPUT_MISMATCH, &graph("", "x: real[2];", "y: real[3];", "y = neg(x);"));
    rows.rejected(&[180], &codes::UNKNOWN_ATTRIBUTE, &over("y = neg{k=1}(x);"));
    let two = "operator split { @input { x: real[n]; } @output { a: real[n]; bs: real[n]..(2); }
        @lower { a[i,] = x[i,], i < n; bs[k][i,] = x[i,] * real(k + 2), k < 2, i < n; } }
        operator sum { @input { xs: real[n]..; } @output { y: real[n]; } @lower { y[i,] = xs[i,] + .., i < n; } }";
    let split = |statements: &str| graph(two, "x: real[2];", "y: real[2];", statements);
    rows.output(&[181], &split("a, [b, c] = split(x); y = sum([c, a]);"), &x, &[4.0, 8.0]);
    rows.output(&[182], &split("a, bs..(2) = split(x); y = sum([bs.., a]);"), &x, &[6.0, 12.0]);
    rows.output(&[185], &split("~, [~, c] = split(x); y = c;"), &x, &[3.0, 6.0]);
    rows.rejected(&[182], &codes::PACK_LENGTH_NEEDED, &split("a, bs = split(x); y = a;"));
    let optional = "operator f { @attrib { k: optional real; } @input { x: real[n]; a: optional real[n]; b: optional real[n]; }
        @output { y: real[n]; } @lower { y[i,] = x[i,] * (k ?? 1.0) + (a[i,] ?? 10.0) + (b[i,] ?? 100.0), i < n; } }";
    let f = |invocation: &str| graph(optional, "x: real[2];", "y: real[2];", &format!("y = f{invocation};"));
    rows.output(&[183], &f("(x)"), &x, &[111.0, 112.0]);
    rows.output(&[183], &f("{k=2.0}(x, x)"), &x, &[103.0, 106.0]);
    rows.output(&[185], &f("(x, ~, x)"), &x, &[12.0, 14.0]);
    rows.rejected(&[184], &codes::MISSING_ARGUMENT, &f("()"));
    rows.output(&[194], &over("t = neg(x); y = x.rank > 1 ? x : t;"), &x, &[-1.0, -2.0]);
    let coalesce = "operator g { @input { x: real[n]; a: optional real[n]; } @output { y: real[n]; } @compose { t = a ?? x; y = neg(t); } }";
    rows.output(&[194], &graph(coalesce, "x: real[2];", "y: real[2];", "y = g(x);"), &x, &[-1.0, -2.0]);
    rows.rejected(&[276], &codes::SYNTAX, &over("y = neg(x=x);"));
    rows.rejected(&[276], &codes::SYNTAX, &over("y = neg{1}(x);"));
    rows.rejected(&[276], &codes::SYNTAX, &over("y = neg(x){k=1};"));
    rows.rejected(&[276], &codes::TOO_MANY_ARGUMENTS, &over("y = neg(x, 2.0);"));
}

#[test]
fn s2_10_scopes() {
    let mut rows = Rows::default();
    let operators = "
        operator own { @input { x: real[n]; } @variable { w: real[n]; } @output { y: real[n]; } @compose { y = add(x, w); } }
        operator wrap { @input { x: real[n]; } @output { y: real[n]; } @compose { y = own(x); } }
        operator outer { @input { x: real[n]; } @output { y: real[n]; } @compose { t = neg(x); y = op2: own(t); } }
        operator chosen { @attrib { b: bool; } @input { x: real[n]; } @output { y: real[n]; }
            @compose { y = if b then own(x) else neg(x); } }
        operator three { @input { x: real[n]; } @variable { w: real[n]; } @output { a: real[n]; b: real[n]; }
            @compose { a = add(x, w); b = x; } }
        operator packed { @input { x: real[n]; } @variable { w: real[n]; } @output { a: real[n]..(2); }
            @compose { t = add(x, w); a = [t, x]; } }";
    let names = |statements: &str| graph(operators, "x: real[2];", "y: real[2];", statements);
    rows.names(&[187], &names("y = op1: outer(x);"), &["main.G.op1.op2.w"]);
    rows.names(&[189], &names("z = own(x); y = id(z);"), &["main.G.z.w"]);
    rows.names(&[189, 187], &names("z = outer(x); y = id(z);"), &["main.G.z.op2.w"]);
    rows.names(&[188], &names("z = wrap(x); y = id(z);"), &["main.G.z.w"]);
    rows.names(&[188], &names("z = chosen{b=true}(x); y = id(z);"), &["main.G.z.w"]);
    rows.names(&[189], &names("z..(2) = packed(x); y = z[0];"), &["main.G.z.w"]);
    rows.names(&[186, 189], &names("z = lab: own(x); y = id(z);"), &["main.G.lab.w"]);
    rows.names(&[186], &names("a, b = lab: three(x); y = id(a);"), &["main.G.lab.w"]);
    rows.names(&[200], &names("y = lab: { t = neg(x); u = own(t); yield u; };"), &["main.G.lab.u.w"]);
    let sub = |statements: &str| {
        format!(
            "{} graph S {{ @input {{ x: real[~]; }} @variable {{ w: real[2]; }} @output {{ y: real[~]; }} @compose {{ y = add(x, w); }} }}",
            graph("", "x: real[2]; c: bool[];", "y: real[2];", statements)
        )
    };
    rows.names(&[193], &sub("y = if c then S(x) else x;"), &["main.S.w"]);
    rows.names(&[193], &sub("y = if c then lab: S(x) else x;"), &["main.G.lab.w"]);
    // Only variables and constants of a private operator have names outside; a public one opens all its tensors.
    let opened = |public: &str, target: &str| {
        format!(
            "{public} operator f {{ @input {{ x: real[n]; }} @output {{ y: real[n]; }} @compose {{ t = neg(x); y = neg(t); }} }} {} ",
            graph("", "x: real[2];", "y: real[2];", &format!("y = lab: f(x); }} @quantize {{ {target}: id;"))
        )
    };
    rows.composes(&[190, 192, 262], &opened("public", "lab.t"));
    rows.rejected(&[190, 263], &codes::QUANTIZATION, &opened("", "lab.t"));
    for expression in ["lab.w", "neg(lab.w)", "add(x, lab.w)"] {
        let text = names(&format!("z = lab: own(x); y = {expression};"));
        rows.rejected(&[191], &codes::SYNTAX, &text);
    }
}

#[test]
fn s2_11_updates() {
    let mut rows = Rows::default();
    let updating = |compose: &str, update: &str| {
        format!(
            "{} graph G {{ @input {{ x: real[2]; }} @variable {{ w: real[2]; }} @output {{ y: real[2]; }}
                @compose {{ {compose} }} @update {{ {update} }} }}",
            super::rows::LIBRARY
        )
    };
    let document = updating("t = neg(x); y = add(t, w);", "d = add(t, t); w = d;");
    rows.output(&[232], &document, &[reals_of(&[1.0, 2.0])], &[0.0, -1.0]);
    rows.updates(&[5, 232], &document, &[reals_of(&[1.0, 2.0])], &[-2.0, -4.0]);
    rows.rejected(&[231], &codes::NOT_ASSIGNABLE, &updating("w = neg(x); y = x;", ""));
    rows.rejected(&[231], &codes::NOT_ASSIGNABLE, &updating("y = x;", "y = neg(x);"));
}
