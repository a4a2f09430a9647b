// SPDX-License-Identifier: Apache-2.0
//! Documents that request too much, or are not documents at all: each gets a diagnostic soon, and without exhausting
//! memory. Random text is tested here too; `fuzz/` tests more.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::Sink;
use skript_frontend::limits::Limits;
use skript_frontend::source_files::load_program;

/// The codes of all diagnostics for the bytes of a main file, each once, in order.
fn answers(bytes: &[u8]) -> Vec<&'static str> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    std::fs::write(&path, bytes).unwrap();
    // Optimized code needs two seconds under the default limits; tests are not optimized.
    let limits = Limits { instances: 1 << 11, invocations: 1 << 13, ..Limits::default() };
    let (mut sink, start) = (Sink::default(), Instant::now());
    let program = load_program(&path, None, &limits, &mut sink);
    check_program(&program, &mut sink);
    if !sink.has_errors() {
        compose(&program, &ComposeOptions::default(), &limits, &mut sink);
    }
    // Far above the expected time, because the machine may be busy; far below the time of unbounded work.
    assert!(start.elapsed() < Duration::from_secs(120), "too slow");
    let mut ids: Vec<_> = sink.into_sorted().iter().map(|d| d.code.id).collect();
    ids.dedup();
    ids
}

const FORMULA: &str = "@input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = x[i,], i < n; }";

/// A graph of one input and one output with these statements, and an operator `f` with these additional blocks.
fn document(blocks: &str, statements: &str) -> String {
    format!(
        "operator f {{ {blocks} {FORMULA} }} \
         graph G {{ @input {{ x: real[4]; }} @output {{ y: real[4]; }} @compose {{ {statements} }} }}"
    )
}

/// An operator whose helper has this value.
fn using(value: &str) -> String {
    document(&format!("@using {{ v = {value}; }}"), "y = f(x);")
}

#[test]
fn nesting_is_bounded() {
    for (open, inner, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("-", "1", ""),
        ("1 + ", "1", ""),
        ("2 ** ", "1", ""),
        ("1 ?? ", "1", ""),
        ("true ? 1 : ", "1", ""),
    ] {
        let deep = format!("{}{inner}{}", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(answers(using(&deep).as_bytes()), ["SK1605"], "{open}");
    }
    let blocks = format!("y = {}x;{}", "{ z = ".repeat(50_000), " yield z; };".repeat(50_000));
    assert_eq!(answers(document("", &blocks).as_bytes()), ["SK1605"]);
    assert_eq!(answers(using(&"(".repeat(1_000_000)).as_bytes()), ["SK1602"]);
}

#[test]
fn long_tokens_and_lines_are_read() {
    assert_eq!(answers(using(&"9".repeat(1_000_000)).as_bytes()), ["SK1607"]);
    assert_eq!(answers(using("1e999999999").as_bytes()), ["SK1607"]);
    let comment = format!("{}\n#{}\n", document("", "y = f(x);"), "x".repeat(10_000_000));
    assert!(answers(comment.as_bytes()).is_empty());
    let unclosed = format!("'{}", "x".repeat(10_000_000));
    assert!(answers(using(&unclosed).as_bytes()).contains(&"SK1606"));
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    assert_eq!(answers(b"operator \xff\xfe { }"), ["SK1609"]);
    assert_eq!(answers(b"operator f { \0\0 @input { x: real[4]; } }\0")[0], "SK0201");
    for sign in ["{", "}", "@", "`", ";", "|", "\"", "\\"] {
        assert!(!answers(sign.repeat(100_000).as_bytes()).is_empty(), "{sign}");
    }
}

#[test]
fn sizes_are_bounded() {
    let shaped = |shape: &str| document("", "y = f(x);").replace("real[4]", &format!("real[{shape}]"));
    assert_eq!(answers(shaped("9223372036854775807").as_bytes()), ["SK3003"]);
    assert_eq!(answers(shaped("9223372036854775808").as_bytes()), ["SK1607"]);
    assert_eq!(answers(shaped("4294967296,4294967296").as_bytes()), ["SK3003"]);
    assert_eq!(answers(using("[1 ..(1000000000)]").as_bytes()), ["SK0455"]);
    assert_eq!(answers(using("[0:1000000000000]").as_bytes()), ["SK0455"]);
    assert_eq!(answers(using("10 ** 10 ** 10").as_bytes()), ["SK0451"]);
    let packs = document("", "y = f(x[0]);").replace("x: real[4]", "x: real[4]..(1000000000)");
    assert_eq!(answers(packs.as_bytes()), ["SK0455"]);
}

/// Sixty doublings of a pack, and of a string.
#[test]
fn doubling_is_bounded() {
    let doubled = |first: &str, next: &dyn Fn(usize) -> String| {
        let mut lines = format!("@using {{ a0 = {first}; ");
        for at in 1..60 {
            let _ = write!(lines, "a{at} = {}; ", next(at - 1));
        }
        document(&(lines + "}"), "y = f(x);")
    };
    let packs = doubled("[1, 2]", &|at| format!("[a{at}.., a{at}..]"));
    assert_eq!(answers(packs.as_bytes()), ["SK0455"]);
    let texts = doubled("'xx'", &|at| format!("'{{a{at}}}{{a{at}}}'"));
    assert_eq!(answers(texts.as_bytes()), ["SK0455"]);
}

/// Local values that use the previous one two or three times, and determine the position of an element.
#[test]
fn locals_that_use_each_other_are_answered() {
    let chained = |next: &dyn Fn(String) -> String| {
        let mut locals = "a0 = i, ".to_string();
        for at in 1..30 {
            let _ = write!(locals, "a{at} = {}, ", next(format!("a{}", at - 1)));
        }
        document("", "y = f(x);").replace("y[i,] =", &(locals + "y[i,] = x[|a29|,] +"))
    };
    let squares = chained(&|a| format!("({a} * {a}) % 61"));
    assert_eq!(answers(squares.as_bytes()), [""; 0]);
    let choices = chained(&|a| format!("({a} > 3 ? {a} - 1 : {a} + 2)"));
    assert_eq!(answers(choices.as_bytes()), [""; 0]);
}

/// Dynamic extents that are used twice in each step: helpers reach the limit, and in a chain of operators long extents
/// are named.
#[test]
fn run_time_extents_are_bounded() {
    let run_time = |text: String| text.replace("y: real[4]", "y: real[~]").replace("real[4]", "real[s|4]");
    let mut lines = "@using { a0 = n; ".to_string();
    for at in 1..40 {
        let _ = write!(lines, "a{at} = a{0} * a{0} - a{0}; ", at - 1);
    }
    let squares = document(&(lines + "} @assert { a39 > 0; }"), "y = f(x);");
    assert_eq!(answers(run_time(squares).as_bytes()), ["SK3003"]);
    let mut chain = "a0 = x; ".to_string();
    for at in 1..60 {
        let _ = write!(chain, "a{at} = half(a{}); ", at - 1);
    }
    let chain = run_time(document("", &(chain + "y = a59;")))
        + " operator half { @input { x: real[n]; } @output { y: real[n / 2 + n % 2]; }
            @lower { y[i,] = x[i,], i < n / 2 + n % 2; } }";
    assert_eq!(answers(chain.as_bytes()), [""; 0]);
}

#[test]
fn repetition_is_bounded() {
    let unrolled = |count: &str| document("", &format!("y = with s = x unroll..({count}) f(s);"));
    assert_eq!(answers(unrolled("1000000000").as_bytes()), ["SK3003"]);
    let nested =
        document("", "y = with s = x unroll..(5000) { t = with q = s unroll..(5000) f(q); yield t; };");
    assert_eq!(answers(nested.as_bytes()), ["SK3003"]);
    let formula = document("", "y = f(x);").replace("y[i,] =", "unroll..(k -> 1000000000) y[i,] +=");
    assert_eq!(answers(formula.as_bytes()), ["SK3003"]);
    let endless = document("", "y = a(x);")
        + " operator a { @input { x: real[n]; } @output { y: real[n]; } @compose { y = b(x); } }
            operator b { @input { x: real[n]; } @output { y: real[n]; } @compose { y = a(x); } }";
    assert_eq!(answers(endless.as_bytes()), ["SK1052"]);
    // A tree of 2^40 instances, all different.
    let tree = document("", "y = a{k=40, j=0}(x);")
        + " operator a { @attrib { k: int; j: int; } @input { x: real[n]; } @output { y: real[n]; }
            @compose { y = if k == 0 then f(x) else { z = a{k=k-1, j=2*j}(x); w = a{k=k-1, j=2*j+1}(z); yield w; }; } }";
    assert_eq!(answers(tree.as_bytes()), ["SK3003"]);
}

#[test]
fn many_errors_are_all_reported() {
    let mut lines = "@using { ".to_string();
    for at in 0..5_000 {
        let _ = write!(lines, "b{at} = nothing{at}; ");
    }
    let text = document(&(lines + "}"), "y = f(x);");
    assert_eq!(answers(text.as_bytes()), ["SK0213"]);
}

/// Random documents from words of the language: each gets a result or a diagnostic.
#[test]
fn random_documents_are_answered() {
    const WORDS: &[&str] = &[
        "operator", "graph", "f", "G", "{", "}", "@input", "@output", "@compose", "@lower", "@using",
        "@attrib", "x", "y", ":", ";", "real", "int", "[", "]", "(", ")", "..", "...", "=", "<", "|", ",",
        "1", "2.5", "'a'", "if", "then", "else", "with", "for", "do", "yield", "~", "?", "??", "+", "**",
        "->", "<-", "`sqrt`", "i", "n", "optional", "import", ".",
    ];
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    let whole =
        document("@attrib { k: int = 2; } @using { v = [k, n..(1)]; }", "y = with s = x do..(2) f(s);");
    for _ in 0..500 {
        let mut words: Vec<&str> = match next(2) {
            0 => whole.split(' ').collect(),
            _ => Vec::new(),
        };
        for _ in 0..=next(12) {
            let at = next(words.len() + 1);
            match next(3) {
                0 if at < words.len() => drop(words.remove(at)),
                _ => words.insert(at, WORDS[next(WORDS.len())]),
            }
        }
        answers(words.join(" ").as_bytes());
    }
}

/// The search for a missing bracket is bounded in terms of a file's size.
#[test]
fn slips_are_looked_for_within_bounds() {
    let graph = |statements: String| format!("graph G {{ @compose {{ {statements} }}");
    for text in [
        format!("{}{}", "a{".repeat(50_000), ";".repeat(50_000)),
        graph("a{".repeat(50_000) + &";".repeat(50_000)),
        graph("[".repeat(50_000) + &")".repeat(50_000)),
        graph("y = f{k=1(x); ".repeat(20_000)),
        graph("y = f(x)); ".repeat(20_000)),
        "operator o { @using { a = (1; } ".repeat(5_000),
        format!("graph G {}", "@ ".repeat(50_000)),
        format!("graph G {{ {}", "@input { x: real[1]; } } ".repeat(10_000)),
    ] {
        assert!(!answers(text.as_bytes()).is_empty());
    }
}
