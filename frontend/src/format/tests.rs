// SPDX-License-Identifier: Apache-2.0
//! Tests on full files: blanks and comments move, tokens do not change.

use std::path::{Path, PathBuf};

use super::format;
use crate::ast::Module;
use crate::diagnostics::Sink;
use crate::limits::Limits;
use crate::source::FileId;
use crate::syntax::parse_module;

fn formatted(text: &str) -> Option<String> {
    format(FileId(0), text, &Limits::default(), &mut Sink::default())
}

fn tree(text: &str) -> String {
    let mut sink = Sink::default();
    let module: Module = parse_module(FileId(0), text, "main", &Limits::default(), &mut sink);
    // Locations differ; their contents do not.
    let mut tree = String::new();
    let debug = format!("{module:?}");
    let mut rest = debug.as_str();
    while let Some(at) = rest.find("Span { ") {
        tree.push_str(&rest[..at]);
        let end = rest[at..].find('}').unwrap();
        rest = &rest[at + end + 1..];
    }
    tree + rest
}

/// Checks the invariants of all texts that can be formatted.
fn check(text: &str, what: &str) {
    let Some(once) = formatted(text) else { return };
    assert_eq!(tree(text), tree(&once), "{what}: the tree changes");
    let twice = formatted(&once).unwrap();
    assert_eq!(once, twice, "{what}: formatting twice differs");
}

fn files(folder: &Path, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, paths);
        } else if path.extension().is_some_and(|e| e == "sknd") {
            paths.push(path);
        }
    }
}

#[test]
fn every_document_keeps_its_tree_and_is_stable() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    for folder in ["frontend/stdlib", "examples", "test"] {
        files(&root.join(folder), &mut paths);
    }
    assert!(paths.len() > 20, "{}", paths.len());
    // The conformance models are beside the checkout, if there are any.
    files(&root.join("../shared/conformance"), &mut paths);
    for path in paths {
        if let Ok(text) = std::fs::read_to_string(&path) {
            check(&text, &path.display().to_string());
        }
    }
}

#[test]
fn texts_become_what_is_listed() {
    for pair in include_str!("pairs.txt").split("=== ").skip(1) {
        let (what, texts) = pair.split_once('\n').unwrap();
        let (before, after) = texts.split_once("\n---\n").unwrap();
        assert_eq!(formatted(before).as_deref(), Some(after), "{what}");
        check(before, what);
    }
}

#[test]
fn broken_files_are_refused_with_their_diagnostics() {
    for text in
        ["graph", "graph g {", "graph g { @input { x real; } }", "operator f { @using { a = (b; } }", "x"]
    {
        let mut sink = Sink::default();
        assert!(format(FileId(0), text, &Limits::default(), &mut sink).is_none(), "{text}");
        assert!(sink.has_errors(), "{text}");
    }
}

/// Quadratic or exponential time would take minutes.
#[test]
fn long_and_deep_documents_are_formatted_fast() {
    let document = |formula: &str| {
        format!("operator f {{ @output {{ y: real[n]; }} @lower {{ y[i,] = {formula}, i < n; }} }}\n")
    };
    let nested = |item: &str| item.repeat(60) + "x" + &"]".repeat(60);
    for text in [
        "\n".repeat(100_000) + &document("x"),
        document(&("\n".repeat(100_000) + "x")),
        "# comment\n".repeat(50_000) + &document("x"),
        document(&("\n# comment\n".repeat(50_000) + "x")),
        document(&format!("[{}x]", "1.0,".repeat(50_000))),
        document(&nested("[1,")),
        document(&nested("[1, ")),
    ] {
        let begun = std::time::Instant::now();
        assert!(formatted(&text).is_some(), "{:.100}", text.trim());
        let took = begun.elapsed();
        assert!(took.as_secs() < 10, "{took:?}: {:.100}", text.trim());
    }
}

/// Every layout of a document is parsed alike: whitespace, line ends and comments between any two tokens.
#[test]
fn however_a_document_is_laid_out_it_becomes_stable() {
    let text = include_str!("../../stdlib/misc.sknd").to_string()
        + "operator f { @attrib { a: int..(k) = [2:d]; } @assert { a in b: 'x' \"y\", 'l': c, d; a ? b; } @lower {\n\
           unroll..(k -> n) p = a ?? b, o = m == 'N' ? [|p|..,0 ..(d+2),i] : [bi,ci], y[k][o..] >= x[i[axes] <- |p <> 0 : s - 1|..], \
           i < s, k < n | (`abs`(x[i,]) + ..) > 1.5e-3 && ..; } @quantize { a.b.c: q.z<int>{lo=-1.0}; } }";
    let tokens = crate::syntax::token::scan(&text);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    for round in 0..60 {
        let mut laid = String::new();
        let mut last = 0;
        for token in &tokens {
            let between = &text[last..token.start];
            last = token.end;
            let apart = between.contains(|c: char| c.is_whitespace());
            // Dots and adjacent operators are one token of the grammar.
            laid.push_str(match (apart, random(12)) {
                (false, _) => "",
                (true, 0) => "\n",
                (true, 1) => "\n\n\n",
                (true, 2) => " # c\n",
                (true, 3) => "\n# own\n  \t",
                (true, 4) => "\r\n#\n\n # two\n",
                (true, _) => " ",
            });
            laid.push_str(&text[token.start..token.end]);
        }
        let mut sink = Sink::default();
        let once = format(FileId(0), &laid, &Limits::default(), &mut sink);
        assert!(once.is_some(), "{:?} {laid}", sink.diagnostics());
        check(&laid, &format!("round {round}: {laid}"));
    }
}

/// One of each kind of statement, close together.
const DENSE: [&str; 2] = [
    "import a.b, c;\ngraph g { @dtype { t: real = int; } @attrib { a: int..(k) = [2:d]; b: optional str = 'x' \"y{a}\"; } @input { x: t[2, ~|8, .. ~]..(3); } \
     @variable { v: real[2] = 0.5; } @constant { w: real[2] = [1.0, 2.0]; } @assert { a in b: 'x' 'y', 'l': c; } @compose { z = if c then {t=f(x); yield t;} \
     elif d then x else { yield x; }; h, hs..(3) = with a: real[2] = 0.0, b = y for x : xs do..(i->){r = step: g{n=1}(a, ~); yield r, r;}; [p, ~, (q, r)..(2)] = o.p<int>{s=-1}(x[0], [x, y]); } \
     @update { v = x; } @quantize { a.b.c: q.z<int>{lo=-1.0}; } }\n",
    "operator f { @attrib { k: int; } @input { x: real[k]; } @output { y: real[k]; } @using { [a, b..(2)] = s; c = a ? b : d ?? e; [~, (p, q)..] = x; l = [1 ..(3), |m|, a..]; } @lower { \
     unroll..(k -> n) p = a ?? b, y[k][o..] >= x[i[axes] <- |p <> 0 : s - 1|..], i < s, k < n | (`abs`(x[i,]) + ..) > 1.5e-3 && ..; } }",
];

/// Whitespace, line ends and comments that may occur between two tokens.
const ODD: [&str; 12] = [
    "",
    " ",
    "\n",
    "\r\n",
    "\t\u{c}",
    "\r",
    " # c\n",
    "#\n",
    "\n#\u{feff}c \r\n",
    "#;{\n",
    "# \u{202e}\u{a0}\n\n\n",
    "# one\n\n  # two\n",
];

/// The error in the formatted text of a document; `None` if the document is not accepted.
fn wrong(text: &str) -> Option<&'static str> {
    let mut sink = Sink::default();
    parse_module(FileId(0), text, "main", &Limits::default(), &mut sink);
    if sink.has_errors() {
        return None;
    }
    let Some(once) = formatted(text) else {
        return Some("is not formatted");
    };
    if tree(text) != tree(&once) {
        return Some("has another tree");
    }
    (formatted(&once) != Some(once)).then_some("changes again")
}

/// The text around a change.
fn near(text: &str, at: usize) -> &str {
    let start = text.floor_char_boundary(at.saturating_sub(40));
    &text[start..text.ceil_char_boundary((at + 40).min(text.len()))]
}

/// Accepted documents are formatted: each gap between two tokens gets some kinds of whitespace and comments,
/// neighbouring ones get all of them.
#[test]
fn any_gap_may_hold_any_blank_or_comment() {
    let mut failures = Vec::new();
    for text in DENSE {
        for (gap, token) in crate::syntax::token::scan(text).iter().enumerate() {
            for odd in ODD.iter().skip(gap % 4).step_by(4) {
                let laid = format!("{}{odd}{}", &text[..token.start], &text[token.start..]);
                let error = wrong(&laid);
                failures.extend(error.map(|w| format!("{w}: {:?}", near(&laid, token.start))));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Accepted documents are formatted: documents with tokens inserted, removed, doubled or exchanged.
#[test]
fn every_document_that_is_accepted_is_formatted() {
    let documents = [include_str!("../../stdlib/misc.sknd"), DENSE[0], DENSE[1]];
    let extra = [
        ";",
        ";;",
        ",",
        "{}",
        "@using {}",
        "@lower { ; }",
        "()",
        "[]",
        "~",
        "..",
        "''",
        "import x;",
        "optional",
        "-",
        "|",
        "\u{feff}",
        "\u{c}",
        "\r",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let (mut accepted, mut failures) = (0, Vec::new());
    for round in 0..800 {
        let text = documents[round % documents.len()];
        let tokens = crate::syntax::token::scan(text);
        let mut laid = text.to_owned();
        for _ in 0..=random(2) {
            let token = tokens[random(tokens.len())];
            let other = tokens[random(tokens.len())];
            let word = text[token.start..token.end].to_owned();
            let put = match random(6) {
                0 => String::new(),
                1 => format!("{word} {word}"),
                2 => text[other.start..other.end].to_owned(),
                _ => format!("{word}{}{}", ODD[random(ODD.len())], extra[random(extra.len())]),
            };
            // The first change may have moved the token of the second change, which may be any change.
            let start = laid.floor_char_boundary(token.start);
            let end = laid.floor_char_boundary(token.end).max(start);
            laid.replace_range(start..end, &put);
            let mut sink = Sink::default();
            parse_module(FileId(0), &laid, "main", &Limits::default(), &mut sink);
            accepted += usize::from(!sink.has_errors());
            let error = wrong(&laid);
            failures.extend(error.map(|w| format!("round {round} {w}: {:?}", near(&laid, start))));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(accepted > 50, "{accepted}");
}
