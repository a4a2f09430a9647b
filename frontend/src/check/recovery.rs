// SPDX-License-Identifier: Apache-2.0
//! Tests that an error in one token yields one diagnostic at its location, and no follow-up errors.

use super::testing::{Document, check, in_compose, in_document};
use crate::source::SourceMap;
use crate::syntax::token::{Bracket, Token, TokenKind, scan};

const MODEL: &str = "
operator scale {
    @dtype { T: num = real; }
    @attrib {
        k: T = T(1);
        p: int..(d) = [1, 2];
        o: optional int;
    }
    @input {
        x: T[m,n];
        xs: T[m]..(q);
    }
    @using {
        a = p + .. + 1;
        [b, c..] = [a, p..];
    }
    @output {
        y: T[m,n];
    }
    @assert {
        a > 0: \"a is {a}\", 'label': a;
        o > 0;
    }
    @lower {
        z = x[i,j] * k,
        y[i,j] = z + xs[0][|i + 1 <> 0 : m - 1|,],
            i < m, j < n | z > k;
    }
}

operator twice {
    @input { x: real[s..]; }
    @output { y: real[s..]; }
    @lower { y[i..] = x[i..] * 2.0, i < s; }
}

graph G {
    @input {
        x: real[2,3];
        w: real[2];
    }
    @variable {
        v: real[2,3];
    }
    @output {
        y: real[2,3];
    }
    @compose {
        t = lab: scale<real>{k=2.0, p=[1, 2]}(x, [w, w]);
        u = with s = t do..(i -> 3) {
            r = twice(s);
            yield r;
        };
        y = if w is w then u else { yield x; };
    }
    @update {
        v = y;
    }
}
";

/// All messages about a main file as `line:column: message`.
fn said(text: &str) -> Vec<String> {
    let document: Document = in_document(text);
    let mut sources = SourceMap::default();
    let file = sources.add("main.sknd", text);
    let locations = sources.get(file).unwrap();
    let found = check(&document).into_iter();
    let line = |start| {
        let (line, column) = locations.line_column(start);
        format!("{line}:{column}")
    };
    found.map(|d| format!("{}: {}", line(d.span.unwrap().start), d.message)).collect()
}

/// Brackets, `;` and `@`: an error in one of them changes the meaning of everything after it.
fn gives_structure(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Open(_) | TokenKind::Close(_) | TokenKind::Semicolon | TokenKind::At)
}

/// The model with each of these tokens removed and doubled; and whether it is removed.
fn slips(text: &str) -> Vec<(String, Token, bool)> {
    let mut texts = Vec::new();
    for token in scan(text).into_iter().filter(gives_structure) {
        let (before, rest) = text.split_at(token.start);
        let (written, after) = rest.split_at(token.end - token.start);
        // Words are not merged.
        texts.push((format!("{before} {after}"), token, true));
        texts.push((format!("{before}{written}{written}{after}"), token, false));
    }
    texts
}

#[test]
fn a_slip_of_one_token_is_one_error() {
    assert_eq!(said(MODEL), Vec::<String>::new());
    for (text, token, left_out) in slips(MODEL) {
        let found = said(&text);
        let location = MODEL.get(..token.end).unwrap();
        let line = location.lines().next_back().unwrap();
        // An empty statement is ignored; doubled parentheses and lists have another meaning, and may be correct.
        let may_be_right = !left_out
            && (token.kind == TokenKind::Semicolon
                || matches!(token.kind, TokenKind::Open(b) | TokenKind::Close(b) if b != Bracket::Curly));
        match found.len() {
            1 => {}
            0 if may_be_right => {}
            _ => panic!("left out: {left_out}, at `{line}`: {found:#?}"),
        }
    }
}

#[test]
fn what_is_lost_is_named_where_it_is_lost() {
    for (written, slip, wanted) in [
        ("@input {\n        x: T", "@input\n        x: T", "10:9: expected `{` after `@input`"),
        ("o: optional int;\n    }", "o: optional int;\n    } }", "8:7: this `}` has no opening bracket"),
        ("scale<real>{k", "scale<real> k", "49:30: `{` is missing here"),
        ("{k=2.0, p", "{k=2.0; p", "49:35: expected `,`, found `;`"),
        ("{k=2.0, p", "{k=2.0;, p", "49:35: `;` does not belong here"),
        ("(i -> 3) {", "(i -> 3 {", "50:28: `(` is not closed"),
        ("(i -> 3) {\n", "(i -> 3)\n", "51:13: `{` is missing here"),
        ("else { yield x", "else yield x", "54:35: `{` is missing here"),
        ("yield r;\n        };", "yield r;\n        ;", "52:21: `}` is missing here"),
        ("    @output {\n        y: T", "    output {\n        y: T", "17:5: `@` is missing before `output`"),
        ("r = twice(s)", "r = @twice(s)", "51:17: `@` does not belong here"),
        ("@attrib", "@@attrib", "4:5: `@` does not belong here"),
        ("\"a is {a}\"", "\"a is {a}", "21:16: this string is not closed on its line"),
        ("@attrib", "@ attrib", "4:6: `@` and `attrib` are one word"),
    ] {
        let text = MODEL.replacen(written, slip, 1);
        assert_ne!(text, MODEL, "{written}");
        assert_eq!(said(&text), [wanted], "{slip}");
    }
}

/// Tokens that are often mistyped, and the mistyped forms.
fn mistyped(text: &str, token: &Token) -> &'static [&'static str] {
    match text.get(token.start..token.end).unwrap_or_default() {
        "(" => &["[", "{", "}"],
        ")" => &["]", "}", ";"],
        "[" => &["(", "}"],
        "]" => &[")", "{"],
        "{" => &["(", "[", "}", ";"],
        "}" => &[")", "]", "{", ";", ","],
        ";" => &[",", ":", ")", "]", "}", " 0"],
        "," => &[";", ".", "}"],
        ":" => &[";", "}"],
        "@" => &[";", "{", ")"],
        "+" | "*" => &["}", "{"],
        "=" | "+=" => &["}", "{", ";"],
        "output" | "input" | "attrib" => &[",", "=", "(", "0"],
        "x" | "k" | "real" => &["}", "{", ";", "("],
        _ => &[],
    }
}

/// One error in the structure or the names of a model causes no second error.
#[test]
fn a_token_that_is_lost_or_another_is_one_error() {
    let mut wrong = Vec::new();
    for token in scan(MODEL) {
        let (before, rest) = MODEL.split_at(token.start);
        let (written, after) = rest.split_at(token.end - token.start);
        let others = mistyped(MODEL, &token).iter().copied();
        for other in others.chain([" "]) {
            let found = said(&format!("{before}{other}{after}"));
            if found.len() > 1 {
                let line = before.lines().count();
                wrong.push(format!("{line}: `{written}` as `{other}`: {found:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A semicolon between two wrong statements is left alone, although one wrong statement is fewer than two.
#[test]
fn two_mistakes_are_two_errors() {
    let text = "operator o {\n    @attrib { k: int; }\n    @using {\n        a = 1_000; b = 0x10;\n    }\n    @output { y: int[k]; }\n    @lower { y[i,] = i, i < k; }\n}\n";
    let found = said(&format!("{MODEL}{text}"));
    let wanted = ["`1_000` is neither", "`0x10` is neither"];
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    let as_wanted = |(found, wanted): (&String, &str)| found.contains(wanted);
    assert!(found.iter().zip(wanted).all(as_wanted), "{found:#?}");
}

/// A bound, a name and a list that could not be parsed cause no follow-up errors.
#[test]
fn malformed_text_is_reported_once() {
    for (attribute, subscripts, wanted) in [
        ("n: int = ;", "i", "expected an expression"),
        ("n: int = (1, 2);", "i", "a tuple can only occur in a list"),
        ("n: int = 3;", "0..", "could be read as the real number"),
    ] {
        let text = format!(
            "operator f {{\n    @input {{ x: real[m]; }}\n    @output {{ y: real[m]; }}\n    \
             @lower {{ y[{subscripts},] = x[i,], i < m; }}\n}}\ngraph G {{\n    @attrib {{ {attribute} }}\n    \
             @input {{ x: real[n]; }}\n    @output {{ y: real[n]; }}\n    @compose {{ y = f(x); }}\n}}\n"
        );
        let found = said(&text);
        let is_reported = matches!(&*found, [one] if one.contains(wanted));
        assert!(is_reported, "{found:#?} without {wanted}");
    }
}

/// Follow-up errors are not reported beside their cause.
#[test]
fn one_mistake_is_one_error() {
    let mut wrong = Vec::new();
    for (written, slip, wanted) in [
        // The name of an array, an index, an item.
        (
            "z = x[i,j] * k",
            "z = [i,j] * k",
            &["25:13: the operands of `*` must have the same type, but they are int and T"][..],
        ),
        ("xs[0][|i", "xs[][|i", &["26:22: `xs` has rank 1, but 0 indices are given"]),
        // A comma between arguments, and around packs.
        ("(x, [w, w])", "(x [w, w])", &["49:47: elements of tensors can be read in `@lower` only"]),
        ("[w, w])", "[[w, w]])", &["49:51: a pack cannot be an item of a list: `[w, w]` must be expanded"]),
        // The end of a list of types, after names of operators.
        ("twice(s)", "twice<real(s)", &["51:27: `>` is missing here"]),
        ("twice(s)", "away.twice<real(s)", &["51:32: `>` is missing here"]),
        // Declarations in other definitions.
        ("T: num = real", "T: numb = real", &["3:17: `numb` is not a restriction of generic types"]),
        ("        x: T[m,n];", "        : T[m,n];", &["10:9: expected a name, found `:`"]),
        ("scale<real>{k=2.0", "scale<real>{kk=2.0", &["49:30: `scale` has no attribute `kk`"]),
        // Words that begin a block or a definition.
        ("@input {\n        x: T", "@inputs {\n        x: T", &["9:5: there is no block `@inputs`"]),
        ("@attrib", "@attributes", &["4:5: there is no block `@attributes`"]),
        ("@using", "@usign", &["13:5: there is no block `@usign`"]),
        ("operator twice", "oprator twice", &["31:1: expected `operator`, found `oprator`"]),
        ("graph G", "grpah G", &["37:1: expected `graph`, found `grpah`"]),
        (
            "{k=2.0, p=[1, 2]}(x, [w, w])",
            "{k=2.0, p=[1, 2]}(x. [w, w])",
            &["49:50: expected a name, found `[`"],
        ),
        ("i < m, j < n | z", "i < m. j < n | z", &["27:17: `m` has no property that an expression can use"]),
    ] {
        let text = MODEL.replacen(written, slip, 1);
        assert_ne!(text, MODEL, "{written}");
        let found = said(&text);
        if found != wanted {
            wrong.push(format!("{slip}: {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Help is given for an error, and not for correct text that looks similar.
#[test]
fn slips_are_reported_with_help() {
    let advice = |written: &str, slip: &str| {
        let text = MODEL.replacen(written, slip, 1);
        assert_ne!(text, MODEL, "{written}");
        let found = check(&in_document(&text));
        let helps = found.into_iter().map(|d| d.help.unwrap_or_default());
        helps.collect::<Vec<_>>()
    };
    let mut wrong = Vec::new();
    for (written, slip, wanted) in [
        ("twice(s)", "twice<real(s)", "write `twice<real>(…)`"),
        ("twice(s)", "away.twice<real(s)", "write `away.twice<real>(…)`"),
        ("{k=2.0, p", "{k=2.0;, p", "remove it; items in brackets are separated by commas"),
        ("        u = with", "        u = ;with", "remove it; the statement continues after it"),
        ("0: \"a is", "0 \"a is", "an assertion is written `condition: \"message\", value, …;`"),
        (
            "scale<real>{k=2.0, p=[1, 2]}",
            "scale<int>{p=[1, 2]}",
            "omit `<int>`, because the arguments determine the type; or convert the argument",
        ),
        ("@input {\n        x: T", "@input (\n        x: T", "write `{`"),
    ] {
        let found = advice(written, slip);
        if found != [wanted] {
            wrong.push(format!("{slip}: {found:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let types = check(&in_compose("y = same(x, i);"));
    let helps: Vec<_> = types.iter().map(|d| d.help.as_deref()).collect();
    let wanted = "all arguments declared with `T` must have one type";
    assert_eq!(helps, [Some(wanted)]);
    // A comparison with a name that is not an operator; a property of tensors.
    for (written, slip) in [("r = twice(s);", "r = s < real(2);"), ("r = twice(s);", "r = s.rank < int(2);")]
    {
        let helps = advice(written, slip);
        assert!(!helps.iter().any(|help| help.contains('>')), "{helps:?}");
    }
}

/// Errors in one definition do not hide those in others.
#[test]
fn a_slip_hides_nothing_elsewhere() {
    let wrong = MODEL.replace("x[i..] * 2.0", "nowhere[i..] * 2.0");
    for (text, token, left_out) in slips(&wrong) {
        let found = said(&text);
        let inside = |name: &str| {
            let start = wrong.find(name).unwrap();
            let end = wrong.get(start..).unwrap().find("\n}").unwrap() + start + 2;
            (start..end).contains(&token.start)
        };
        if !inside("operator twice") {
            let named = found.iter().any(|m| m.contains("`nowhere` is not declared"));
            assert!(named, "left out: {left_out}, {token:?}: {found:#?}");
        }
    }
}

/// Names that unparsed text might declare are not reported; all others are.
#[test]
fn statements_that_cannot_be_read_hide_only_their_own_names() {
    let text = "operator id { @input { x: real[n]; } @output { y: real[n]; } }
graph G {
    @input { x: real[1]; }
    @output { y: real[1]; z: real[1]; }
    @compose {
        a = 1 + ;
        b = id(a);
        c = id(lost);
        y = id(b);
    }
}";
    assert_eq!(
        said(text),
        [
            "4:27: the output `z` is not assigned",
            "6:17: expected an expression or `..`, found `;`",
            "8:16: `lost` is not declared",
        ]
    );
}
