// SPDX-License-Identifier: Apache-2.0
//! Tests on full files: structure, spans, messages, limits.

use super::*;
use crate::ast::*;
use crate::source::SourceMap;

/// The module and its messages as `line:column: text`.
fn parse(text: &str) -> (Module, Vec<String>) {
    let mut sources = SourceMap::default();
    let file = sources.add("main.sknd", text);
    let mut sink = Sink::default();
    let module = parse_module(file, text, "main", &Limits::default(), &mut sink);
    let messages = sink
        .into_sorted()
        .iter()
        .map(|d| {
            let (line, column) = sources.get(file).unwrap().line_column(d.span.unwrap().start);
            format!("{line}:{column}: {}", d.message)
        })
        .collect();
    (module, messages)
}

/// The value of `v` in `@using { v = …; }`.
fn expr(text: &str) -> Expr {
    let (module, messages) = parse(&format!("operator o {{ @using {{ v = {text}; }} }}"));
    assert_eq!(messages, Vec::<String>::new(), "{text}");
    module.definitions[0].usings[0].value.clone()
}

fn message(text: &str) -> String {
    let (_, messages) = parse(&format!("operator o {{ @using {{ v = {text}; }} }}"));
    messages.join(" | ")
}

/// An expression with all its parentheses.
fn shape(e: &Expr) -> String {
    use ExprKind::*;
    match &e.kind {
        Int(i) => i.to_string(),
        Real(r) => format!("{r:?}"),
        Bool(b) => b.to_string(),
        Str(s) => format!("{:?}", s.plain().unwrap_or_default()),
        Name(n) => n.name.clone(),
        Property { base, property } => format!("{}.{property:?}", base.name),
        Default(t) => format!("{}()", t.name),
        List(items) => format!("[{}]", items.iter().map(item).collect::<Vec<_>>().join(", ")),
        Index { base, subscripts, trailing_comma } => format!(
            "{}[{}{}]",
            shape(base),
            subscripts.iter().map(subscript).collect::<Vec<_>>().join(", "),
            if *trailing_comma { "," } else { "" }
        ),
        Substitute { base, subscript: s, value } => {
            format!("({}[{}] <- {})", shape(base), subscript(s), shape(value))
        }
        Unary { op, operand } => format!("({op:?} {})", shape(operand)),
        Binary { op, left, right } => format!("({} {op:?} {})", shape(left), shape(right)),
        Select { condition, then, otherwise } => format!(
            "({} ? {}{})",
            shape(condition),
            shape(then),
            otherwise.as_ref().map_or(String::new(), |o| format!(" : {}", shape(o)))
        ),
        Coalesce { value, fallback } => format!("({} ?? {})", shape(value), shape(fallback)),
        NullTest(e) => format!("(? {})", shape(e)),
        Is { left, right } => format!("({} is {})", shape(left), shape(right)),
        In { item, pack } => format!("({} in {})", shape(item), shape(pack)),
        Fold { pack, op, cumulative } => {
            format!("({} {op:?} {})", shape(pack), if *cumulative { "..." } else { ".." })
        }
        Cast { target, value } => format!("{}({})", target.name, shape(value)),
        Builtin { name, argument } => format!("`{}`({})", name.name, shape(argument)),
        Guard { index, remap } => format!(
            "|{}{}|",
            shape(index),
            remap.as_ref().map_or(String::new(), |r| format!(" <> {} : {}", shape(&r.0), shape(&r.1)))
        ),
        Error => "error".to_string(),
    }
}

fn item(i: &Item) -> String {
    let count = |c: &Option<Expr>| c.as_ref().map_or(String::new(), |c| format!("({})", shape(c)));
    match i {
        Item::Expr(e) => shape(e),
        Item::Range { begin, end, stride, .. } => format!(
            "{}:{}{}",
            shape(begin),
            shape(end),
            stride.as_ref().map_or(String::new(), |s| format!(":{}", shape(s)))
        ),
        Item::Expand { value, count: c, .. } => format!("{}..{}", shape(value), count(c)),
        Item::Zip { packs, count: c, .. } => {
            format!("({})..{}", packs.iter().map(shape).collect::<Vec<_>>().join(", "), count(c))
        }
    }
}

fn subscript(s: &Subscript) -> String {
    let part = |e: &Option<Expr>| e.as_ref().map_or(String::new(), shape);
    match s {
        Subscript::Expr(e) => shape(e),
        Subscript::Range { begin, end, stride, .. } => {
            format!("{}:{}:{}", part(begin), part(end), part(stride))
        }
        Subscript::Expand { value, .. } => format!("{}..", shape(value)),
        Subscript::Guard { index, remap, expand, .. } => format!(
            "|{}{}|{}",
            shape(index),
            remap.as_ref().map_or(String::new(), |(a, b)| format!(" <> {} : {}", shape(a), shape(b))),
            if *expand { ".." } else { "" }
        ),
    }
}

#[test]
fn expressions_bind_and_fail_as_listed() {
    let lines = include_str!("expressions.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.split_once("  =>  ") {
            Some((text, want)) => assert_eq!(shape(&expr(text)), want, "{text}"),
            None => {
                let (text, want) = line.split_once("  !>  ").unwrap();
                let reported = message(text);
                assert!(reported.contains(want), "{text}: {reported}");
            }
        }
    }
}

#[test]
fn format_pieces_have_spans_of_the_file() {
    let text = "operator o { @using { v = 'n={a + 2}' \"{b}\"; } }";
    let (module, messages) = parse(text);
    assert!(messages.is_empty());
    let ExprKind::Str(literal) = &module.definitions[0].usings[0].value.kind else {
        panic!("a string");
    };
    let spans: Vec<&str> = literal
        .pieces
        .iter()
        .filter_map(|p| match p {
            StringPiece::Format(e) => Some(&text[e.span.start as usize..e.span.end as usize]),
            StringPiece::Text(_) => None,
        })
        .collect();
    assert_eq!(spans, ["a + 2", "b"]);
    assert_eq!(
        parse("operator o {\n @using { v = 'n={a + }'; } }").1,
        ["2:23: expected an expression or `..`, found `}`"]
    );
}

#[test]
fn spans_end_before_blanks_and_comments() {
    let text = "operator o { @using { v = a + b # more\n  ; w = (c ) ; } }";
    let (module, _) = parse(text);
    let usings = &module.definitions[0].usings;
    let of = |s: crate::source::Span| &text[s.start as usize..s.end as usize];
    assert_eq!(of(usings[0].value.span), "a + b");
    assert_eq!(of(usings[1].value.span), "(c )");
    assert_eq!(of(usings[1].span), "w = (c )");
    assert_eq!(of(module.definitions[0].span), text);
}

#[test]
fn arrow_needs_an_index() {
    assert_eq!(message("a <-1"), "1:29: expected an operator or `;`, found `<-`");
    assert!(message("a[i,] <-1").contains("exactly one index"));
    assert_eq!(shape(&expr("a[0] <-1")), "(a[0] <- 1)");
}

#[test]
fn a_message_follows_a_select_without_alternative() {
    let (module, messages) =
        parse("operator o { @assert { c ? a : 'text', x, 'label': y; ?a => b: 'why {b}'; c ? d : e; } }");
    assert_eq!(messages, Vec::<String>::new());
    let asserts = &module.definitions[0].asserts;
    assert_eq!(shape(&asserts[0].condition), "(c ? a)");
    assert_eq!(asserts[0].message.as_ref().unwrap().plain().unwrap(), "text");
    assert!(asserts[0].values[1].label.is_some());
    assert_eq!(shape(&asserts[1].condition), "((? a) Implies b)");
    assert_eq!(shape(&asserts[2].condition), "(c ? d : e)");
}

#[test]
fn declarations() {
    let (module, messages) = parse(
        "operator o {
            @attrib { a: optional int..(d); size: dynamic int..(k); }
            @input { x: real^(r)[s..(axis < 0 ? axis + r : axis), ..t, ~|10 ..(3), static c]..(n); y: T[]; }
            @output { z: real[s[axes] <- s[axes] * repeats.., shape * .., u|k]..(s|5); }
            @constant { I: real[n,n] = i == j ? 1.0 : 0.0, i < n, j < n; }
        }",
    );
    assert_eq!(messages, Vec::<String>::new());
    let d = &module.definitions[0];
    assert!(d.attributes[0].type_spec.optional && d.attributes[1].type_spec.dynamic);
    let shape_of_x = d.inputs[0].type_spec.shape.as_ref().unwrap();
    assert!(shape_of_x[1].per_item && shape_of_x[3].is_static);
    assert!(shape_of_x[2].extent.is_none() && shape_of_x[2].pack.is_some());
    assert_eq!(d.inputs[1].type_spec.shape.as_ref().unwrap().len(), 0);
    let shape_of_z = d.outputs[0].type_spec.shape.as_ref().unwrap();
    assert!(shape_of_z[0].pack.is_some() && shape_of_z[1].pack.is_none());
    assert!(d.outputs[0].type_spec.pack.as_ref().unwrap().bound.is_some());
    assert_eq!(d.constants[0].bounds.len(), 2);
    assert!(module.edition_marks.khronos_only.is_some());
}

#[test]
fn formulas() {
    let (module, messages) = parse(
        "operator o { @lower {
            z = x[i..] * x[i..], y[i..] = z, i < s;
            with z = x[i], w = 1: y[i,] <?= z, i < s | z > 0;
            unroll..(k -> n) ys[k][i,] &= a[i,], i < s;
            idx[] := [i,j], i < m, j < n | x[i,j] > x[idx[]..];
        } }",
    );
    assert_eq!(messages, Vec::<String>::new());
    let lowers = &module.definitions[0].lowers;
    assert_eq!(lowers[0].locals.len(), 1);
    assert_eq!(lowers[1].locals.len(), 2);
    assert_eq!(lowers[1].op, LoweringOp::Min);
    assert!(lowers[2].target.item.is_some() && lowers[2].target.trailing_comma);
    assert!(lowers[3].condition.is_some());
    assert_eq!(module.edition_marks.khronos_only.as_ref().unwrap().1, "with");
    assert!(module.edition_marks.draft_only.is_some());
}

#[test]
fn compositions() {
    let (module, messages) = parse(
        "graph G { @compose {
            a..(n), [b, c..(k)], ~ = l: m.op<real, int>{a=1, b=[2]}(x, ~, [y, z]);
            z = if ?x && c then f(x) elif { yield q; } then y else c ? x : y;
            p, q = with s: real[n] = 0.0, t = u for x : xs, y : ys while f(s) do..(i -> n) r: { yield s, t; };
            o = with a = z unroll..(i ->) f(a);
            h = with x = x0 do f(x) while c;
            [(e, f)..] = c;
            y = x[0] ?? z;
        } @quantize { a.b: q.op{c=1}; } }",
    );
    assert_eq!(messages, Vec::<String>::new());
    let c = &module.definitions[0].composes;
    assert_eq!(c[0].targets.len(), 3);
    let ComponentValue::Invocation(op) = &c[0].value else { panic!() };
    assert_eq!((op.operator.text().as_str(), op.types.len(), op.arguments.len()), ("m.op", 2, 3));
    let ComponentValue::If(branching) = &c[1].value else { panic!() };
    assert_eq!(branching.arms.len(), 2);
    let ComponentValue::Loop(l) = &c[2].value else { panic!() };
    assert_eq!((l.carried.len(), l.scans.len()), (2, 2));
    assert!(l.before.is_some() && l.after.is_none() && !l.unroll);
    let ComponentValue::Loop(l) = &c[3].value else { panic!() };
    assert!(l.unroll && l.count.as_ref().unwrap().count.is_none());
    let ComponentValue::Loop(l) = &c[4].value else { panic!() };
    assert!(l.after.is_some() && l.count.is_none());
    assert!(matches!(c[6].value, ComponentValue::Expr(_)));
    assert_eq!(module.definitions[0].quantizations[0].tensor.text(), "a.b");
}

#[test]
fn imports_may_go_on_behind_a_line_break() {
    let (module, messages) = parse("import # the library\n  math,\n  nn;\ngraph G {}\n");
    assert!(messages.is_empty(), "{messages:?}");
    assert_eq!(module.imports.len(), 2);
    for text in ["import\ngraph G {}\n", "import math,\nimport nn;\ngraph G {}\n"] {
        let (_, messages) = parse(text);
        assert_eq!(messages.len(), 1, "{messages:?}");
    }
}

#[test]
fn one_bad_statement_does_not_hide_the_next() {
    let (module, messages) = parse(
        "import nn
import math;
graph G {
    @input { x: real[4] }
    @compose {
        a = math.neg(x;
        b = math.neg{k: 1}(x);
        c = [1,, 2];
        d = math.neg(x)
        y = math.neg(a);
    }
    @lowering { y[i,] = x[i,], i < 4; }
}
",
    );
    assert_eq!(
        messages,
        [
            "1:10: `;` is missing here",
            "4:24: `;` is missing here",
            "6:21: `(` is not closed",
            "7:23: expected `=`, found `:`",
            "8:16: expected an expression, found `,`",
            "9:24: `;` is missing here",
            "12:5: there is no block `@lowering`",
        ]
    );
    assert_eq!(module.imports.len(), 2);
    let graph = &module.definitions[0];
    assert_eq!(graph.composes.len(), 2);
    assert!(graph.unread.contains(&BlockKind::Compose));
    assert!(!module.unread && parse("x = 1;").0.unread);
}

#[test]
fn blocks_within_a_statement_are_read_on_their_own_if_it_fails() {
    let (_, messages) = parse(
        "graph G { @compose {
    y = if { c = f(x,); yield c; } then {
        a = f(x;
        yield a;
    } else {
        b = do..(3) { d = 1 + ; e = f(d); yield e; };
        yield b;
    };
} }",
    );
    assert_eq!(messages, ["3:14: `(` is not closed"]);
    let (_, messages) = parse(
        "graph G { @compose {
    y = if { c = f(x,); yield c; } then {
        a = f(x);
        yield a;
    } else {
        b = do..(3) { d = 1 + ; e = f(d); yield e; };
        yield b;
    };
} }",
    );
    assert_eq!(
        messages,
        ["2:22: expected an expression, found `)`", "6:31: expected an expression or `..`, found `;`"]
    );
}

#[test]
fn missing_braces() {
    let (module, messages) = parse("graph G {\n @input {\n x: real[4];\n @output { y: real; }\n}\n");
    assert_eq!(messages, ["4:2: `}` of block `@input` is missing"]);
    assert_eq!(module.definitions[0].outputs.len(), 1);
    assert_eq!(
        parse("operator a { @using { b = 1;\noperator c { }\n").1,
        ["2:1: `}` of block `@using` is missing", "2:1: `}` of `a` is missing"]
    );
    assert_eq!(parse("graph G { }\n}").1, ["2:1: this `}` has no opening bracket"]);
}

#[test]
fn reserved_words_as_names() {
    assert_eq!(
        parse("operator o { @input { x: real[b, is..(d)]; } }").1,
        ["1:34: `is` is a reserved word, it cannot be a name"]
    );
    assert_eq!(parse("operator if { }").1, ["1:10: `if` is a reserved word, it cannot be a name"]);
}

#[test]
fn odd_files() {
    assert!(parse("").1.is_empty());
    assert!(parse("\u{feff}import a;\r\ngraph G {\r\n}\r\n").1.is_empty());
    assert_eq!(parse("# only a comment").1, Vec::<String>::new());
    assert!(parse("\u{0}").1.len() == 1);
    assert!(!parse("graph é { }").1.is_empty());
    assert!(!parse("graph G { @compose { y = 'é\n; } }").1.is_empty());
}

#[test]
fn nesting_is_bounded_in_every_direction() {
    let deep = [
        format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000)),
        "(".repeat(100_000),
        format!("{}1", "-".repeat(100_000)),
        format!("{}1", "a ? ".repeat(100_000)),
        format!("{}1", "a ?? ".repeat(100_000)),
        format!("{}1", "a + ".repeat(100_000)),
        format!("{}1", "2 ** -".repeat(100_000)),
        format!("a{} + ..", " * ..".repeat(100_000)),
        format!("{}1", "a[0] <- ".repeat(100_000)),
        "{".repeat(100_000),
    ];
    for text in deep {
        let head: String = text.chars().take(20).collect();
        let messages = message(&text);
        assert!(!messages.is_empty(), "{head}");
        assert!(messages.len() < 2000, "{head}: {}", messages.len());
    }
}

#[test]
fn nesting_up_to_the_limit_is_parsed() {
    let max_nesting = Limits::default().nesting;
    let parens = format!("{}1{}", "(".repeat(max_nesting), ")".repeat(max_nesting));
    assert_eq!(shape(&expr(&parens)), "1");
    let lists = format!("{}1{}", "[".repeat(max_nesting), "]".repeat(max_nesting));
    assert!(matches!(expr(&lists).kind, ExprKind::List(_)));
    let selects = format!("{}1", "a ? ".repeat(max_nesting));
    assert!(matches!(expr(&selects).kind, ExprKind::Select { .. }));
    let sum = format!("{}1", "a + ".repeat(Limits::default().chain));
    assert!(matches!(expr(&sum).kind, ExprKind::Binary { .. }));
    let guards = format!("{}1{}", "a[|".repeat(max_nesting), "|]".repeat(max_nesting));
    assert!(matches!(expr(&guards).kind, ExprKind::Index { .. }));
}

#[test]
fn a_hopeless_file_is_given_up() {
    let (_, messages) = parse(&format!("graph G {{ @compose {{ {} }} }}", "= ;".repeat(10_000)));
    assert!(messages.len() <= MAX_ERRORS + 2, "{}", messages.len());
}

/// No alternative of the grammar parses nested text twice, which would take exponential time.
#[test]
fn an_error_in_nested_text_is_found_in_linear_time() {
    for (open, close) in [
        ("m[|", "|,]"),
        ("[|", "|]"),
        ("p[", "]"),
        ("p[:p[", "]:1]"),
        ("real(", ")"),
        ("(c ? ", " : 1)"),
        ("[1..(", ")]"),
    ] {
        let message = message(&format!("{}a b{}", open.repeat(60), close.repeat(60)));
        assert!(message.contains("found `b`"), "{open}: {message}");
    }
}

/// Every valid document of the conformance suite is in the grammar, and no document with a syntax error is.
#[test]
fn conformance_documents_parse() {
    let folder = std::env::var_os("SKRIPT_CONFORMANCE").map_or_else(
        || std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance"),
        std::path::PathBuf::from,
    );
    let mut pending = vec![folder];
    let mut failures = Vec::new();
    while let Some(path) = pending.pop() {
        if let Ok(entries) = std::fs::read_dir(&path) {
            pending.extend(entries.flatten().map(|e| e.path()));
        } else if path.extension().is_some_and(|e| e == "sknd") {
            let shown = path.to_string_lossy().into_owned();
            // The checker reports late imports.
            let bad = shown.contains("errors/syntax_") && !shown.contains("import_late");
            if !bad && shown.contains("errors/") {
                continue;
            }
            let messages = parse(&std::fs::read_to_string(&path).unwrap()).1;
            if bad == messages.is_empty() {
                failures.push(format!("{shown}: {messages:?}"));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn the_library_parses() {
    for entry in crate::library::MODULES.iter().chain(crate::library::KHRONOS) {
        let messages = parse(entry.text).1;
        assert_eq!(messages, Vec::<String>::new(), "{}", entry.name);
    }
}
