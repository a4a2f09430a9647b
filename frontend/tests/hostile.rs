// SPDX-License-Identifier: Apache-2.0
//! Documents that request too much, or are not documents at all: each gets a diagnostic soon, and without exhausting
//! memory. Random text is tested here too; `fuzz/` tests more.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use skript_frontend::check::{Soundness, check_program};
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::Sink;
use skript_frontend::diagnostics::render::render;
use skript_frontend::limits::Limits;
use skript_frontend::model::AttributeValue;
use skript_frontend::program::Edition;
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
    let local = formula("t[a,b] = x[0,], a < 4294967296, b < 4294967296; y[i,] = t[i,i], i < n;");
    assert_eq!(answers(local.as_bytes()), ["SK3003"]);
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
    assert_eq!(answers(packs.as_bytes()), ["SK3003"]);
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

/// The steps for documents that need too many: fewer than by default, because tests are not optimized.
const WORK: u64 = 1 << 20;

/// The codes of a document that is composed within `WORK` steps, the message of the first error, and the steps.
fn metered(text: &str) -> (Vec<&'static str>, String, u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    std::fs::write(&path, text).unwrap();
    let limits = Limits { work: WORK, ..Limits::default() };
    let (mut sink, start) = (Sink::default(), Instant::now());
    let program = load_program(&path, None, &limits, &mut sink);
    check_program(&program, &mut sink);
    if !sink.has_errors() {
        compose(&program, &ComposeOptions::default(), &limits, &mut sink);
    }
    assert!(start.elapsed() < Duration::from_secs(60), "too slow: {}", text.get(..200).unwrap_or(text));
    let work = sink.work();
    let diagnostics = sink.into_sorted();
    let message = diagnostics.first().map_or_else(String::new, |d| d.message.clone());
    let mut codes: Vec<_> = diagnostics.iter().map(|d| d.code.id).collect();
    codes.dedup();
    (codes, message, work)
}

/// The document exhausts a limit of this name, which one diagnostic reports.
fn exhausts(limit: &str, text: &str) {
    let (codes, message, _) = metered(text);
    assert_eq!(codes, ["SK3003"], "{message}: {}", text.get(..200).unwrap_or(text));
    assert!(message.contains(&format!("limit `{limit}`")), "{message}");
}

/// The document is composed in at most this number of steps.
fn needs_at_most(steps: u64, text: &str) {
    let (codes, message, work) = metered(text);
    assert_eq!(codes, [""; 0], "{message}");
    assert!(0 < work && work <= steps, "{work} steps");
}

/// Parts with the numbers below `count`.
fn numbered(count: usize, part: impl Fn(usize) -> String) -> String {
    (0..count).map(part).collect()
}

/// An operator with this formula beside other indices.
fn formula(text: &str) -> String {
    document("", "y = f(x);").replace("y[i,] = x[i,], i < n;", text)
}

#[test]
fn bounds_that_depend_on_each_other_are_metered() {
    let chain = |first: &str, count: usize| {
        let next = |k: usize| format!(", j{} < j{k} + 1", k + 1);
        formula(&format!("y[i,] += x[i,], i < n, j0 < {first}{};", numbered(count, next)))
    };
    exhausts("work", &chain("4", 100));
    exhausts("work", &chain("3", 400));
    let pairs = numbered(24, |k| format!(", a{k} < 2, b{k} < a{k} + 1"));
    exhausts("work", &formula(&format!("y[i,] += x[i,], i < n{pairs};")));
    needs_at_most(100_000, &chain("4", 3));
    // Independent indices and long ranges are loops.
    needs_at_most(
        100_000,
        &formula(&format!("y[i,] += x[i,], i < n{};", numbered(100, |k| format!(", j{k} < 4")))),
    );
}

#[test]
fn elements_of_constants_are_metered() {
    let constant = |shape: &str, value: &str, bounds: &str| {
        let block = format!("@constant {{ c: real[{shape}] = {value}, {bounds}; }}");
        document(&block, "y = f(x);")
    };
    let sum = vec!["real(i % 13)"; 50].join(" + ");
    exhausts("work", &constant("1000000", &sum, "i < 1000000"));
    exhausts("constant_elements", &constant("20000000", &sum, "i < 20000000"));
    exhausts("work", &constant("2000,1000", "real(i * j) / 3.0", "i < 2000, j < 1000"));
    exhausts("work", &constant("2000000", "real([1, 2, 3][i % 3])", "i < 2000000"));
    needs_at_most(WORK, &constant("10000", "real(i % 13) * 0.5", "i < 10000"));
    // Tables of 2^24 elements are within the default limit of 2^26: a linear attention bias, and a block-sparse mask.
    let bias = "j <= i ? -(2.0 ** (-8.0 * real(h + 1) / 8.0)) * real(i - j) : -1000000.0";
    needs_at_most(4 << 12, &constant("8,32,16", bias, "h < 8, i < 32, j < 16"));
    let block = "(i / 4 == j / 4 || j / 4 == 0 || (i / 4 - j / 4) < 4 || (i / 4 - j / 4) % 8 == 0)";
    let mask = format!("i >= j && {block} ? 0.0 : -1000000.0");
    needs_at_most(4 << 12, &constant("64,64", &mask, "i < 64, j < 64"));
}

#[test]
fn items_of_packs_are_metered() {
    let helpers = |count, part: &dyn Fn(usize) -> String| {
        document(
            &format!("@using {{ a = [0:200000]; b = [0:20000]; {} }}", numbered(count, part)),
            "y = f(x);",
        )
    };
    exhausts("work", &helpers(60, &|k| format!("v{k} = ([0:100000] + {k}) + ..; ")));
    exhausts("work", &helpers(60, &|k| format!("v{k} = ([0:100000] * 7919 % 100003) != ..; ")));
    exhausts("work", &helpers(60, &|k| format!("v{k} = {k} in a; ")));
    exhausts("work", &helpers(60, &|k| format!("v{k} = a[{k}:100000] + ..; ")));
    exhausts("work", &helpers(400, &|k| format!("v{k} = a[{k}]; ")));
    exhausts("work", &helpers(600, &|k| format!("v{k} = '{{b}}{k}'; ")));
    exhausts("pack_items", &helpers(20, &|k| format!("v{k} = a; ")));
    let doubled = "@using { s0 = 'xx'; ".to_string()
        + &numbered(18, |k| format!("s{} = '{{s{k}}}{{s{k}}}'; ", k + 1))
        + &numbered(240, |k| format!("t{k} = s18; "))
        + "}";
    exhausts("pack_items", &document(&doubled, "y = f(x);"));
}

/// Each copy of a text is work.
#[test]
fn texts_are_metered() {
    let doubled = numbered(14, |k| format!("s{} = '{{s{k}}}{{s{k}}}'; ", k + 1));
    let copies = numbered(100, |k| format!("t{k} = '{{s14}}'; "));
    let (codes, _, work) =
        metered(&document(&format!("@using {{ s0 = 'xx'; {doubled} {copies} }}"), "y = f(x);"));
    assert_eq!(codes, [""; 0]);
    let bytes = 100 * (2 << 14);
    assert!(work > bytes / 16, "{work} steps");
}

/// The composer examines divisions in order to warn if the syntax of the edition khronos may have changed their results.
#[test]
fn examined_divisions_are_metered() {
    let sum = vec!["i + (i * 3 - n * 7) / (i + 2) % 5"; 200].join(" + ");
    let text = formula(&format!("y[i,] = x[i,] * real({sum} <? 9), i < n;"));
    let work = |edition: Option<Edition>, codes: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("main.sknd");
        std::fs::write(&path, &text).unwrap();
        let (mut sink, limits) = (Sink::default(), Limits::default());
        let program = load_program(&path, edition, &limits, &mut sink);
        check_program(&program, &mut sink);
        assert!(compose(&program, &ComposeOptions::default(), &limits, &mut sink).is_some());
        let work = sink.work();
        let mut ids: Vec<_> = sink.into_sorted().iter().map(|d| d.code.id).collect();
        ids.dedup();
        assert_eq!(ids, codes);
        work
    };
    let stated = work(Some(Edition::Khronos), &[]);
    let from_syntax = work(None, &["SK1515"]);
    assert!(stated + 1000 < from_syntax, "{stated} and {from_syntax} steps");
}

#[test]
fn packs_of_instances_are_bounded() {
    let doubled = "@attrib { a0: int.. = [1, 2]; ".to_string()
        + &numbered(21, |k| format!("a{}: int.. = [a{k}.., a{k}..]; ", k + 1))
        + "}";
    let (codes, _, _) = metered(&document(&doubled, "y = f(x);"));
    assert_eq!(codes, ["SK3003"]);
    let instances = numbered(40, |k| format!("t{k} = f{{k=[{k}, 0:100000]}}(x); "));
    let (codes, _, _) = metered(&document("@attrib { k: int..; }", &(instances + "y = f{k=[1]}(x);")));
    assert_eq!(codes, ["SK3003"]);
}

/// A list from the command line or from another program.
#[test]
fn passed_lists_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    let text = document("", "y = x;").replace("graph G {", "graph G { @attrib { k: int..; }");
    std::fs::write(&path, text).unwrap();
    let (limits, mut sink) = (Limits::default(), Sink::default());
    let program = load_program(&path, None, &limits, &mut sink);
    check_program(&program, &mut sink);
    let mut options = ComposeOptions::default();
    options.attributes.insert("k".to_string(), AttributeValue::List(vec![AttributeValue::Int(1); 5_000_000]));
    assert!(compose(&program, &options, &limits, &mut sink).is_none());
    let codes: Vec<_> = sink.diagnostics().iter().map(|d| d.code.id).collect();
    assert_eq!(codes, ["SK3003"]);
}

/// An operator that computes many outputs, each by a formula with this value.
fn outputs(count: usize, part: fn(usize) -> String) -> String {
    let formulas = numbered(count, |k| format!("y{k}[i,] = {}, i < n; ", part(k)));
    let declared = numbered(count, |k| format!("y{k}: real[n]; "));
    let results = numbered(count, |k| format!("{}t{k}", if k == 0 { "" } else { ", " }));
    format!(
        "operator f {{ @input {{ x: real[n]; }} @output {{ {declared} }} @lower {{ {formulas} }} }} graph G {{          @input {{ x: real[4]; }} @output {{ y: real[4]; }} @compose {{ {results} = f(x); y = t0; }} }}"
    )
}

/// An operator that computes many local tensors, each by a formula with this value.
fn locals(count: usize, part: fn(usize) -> String) -> String {
    let formulas = numbered(count, |k| format!("y{k}[i,] = {}, i < n; ", part(k)));
    formula(&format!("{formulas} y[i,] = y{}[i,], i < n;", count - 1))
}

/// The formulas of a document whose time is compared with that of one with four times as many.
const FORMULAS: usize = 2000;

/// The time to check and compose a document without errors.
fn time_to_compose(text: &str) -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    std::fs::write(&path, text).unwrap();
    let (limits, mut sink) = (Limits::default(), Sink::default());
    let program = load_program(&path, None, &limits, &mut sink);
    let start = Instant::now();
    check_program(&program, &mut sink);
    compose(&program, &ComposeOptions::default(), &limits, &mut sink);
    let time = start.elapsed();
    assert!(!sink.has_errors());
    time
}

/// The checker visited all formulas of an operator for each of them, and all outputs for each formula. Composition copied the
/// names of the operator for each formula.
#[test]
fn many_formulas_are_composed_in_linear_time() {
    let sum: fn(usize) -> String =
        |k| if k == 0 { "x[i,]".to_string() } else { format!("y{}[i,] + x[i,]", k - 1) };
    for document in [outputs, locals] as [fn(usize, fn(usize) -> String) -> String; 2] {
        let [some, more] = [1, 4].map(|factor| document(factor * FORMULAS, sum));
        // Other programs may delay one attempt.
        let is_linear = |_| time_to_compose(&more) < 8 * time_to_compose(&some);
        assert!((0..3).any(is_linear), "too slow: {}", some.get(..200).unwrap_or(&some));
    }
    let guards = numbered(40, |k| format!(" + x[|i + {k}|,]"));
    needs_at_most(WORK, &formula(&format!("y[i,] = x[i,]{guards}, i < n;")));
}

/// Each graph was searched for in the definitions of the whole program, for each question about it.
#[test]
fn many_graphs_are_composed_in_linear_time() {
    let graph = |k: usize| {
        document("", "y = x;")
            .replace("operator f", &format!("operator f{k}"))
            .replace("graph G", &format!("graph G{k}"))
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    std::fs::write(&path, numbered(500, graph)).unwrap();
    let (limits, mut sink, start) = (Limits::default(), Sink::default(), Instant::now());
    let program = load_program(&path, None, &limits, &mut sink);
    check_program(&program, &mut sink);
    let soundness = Soundness::new(&program, &sink);
    for k in 0..500 {
        let name = format!("G{k}");
        assert!(soundness.is_sound(&name));
        let options = ComposeOptions { graph: Some(name), ..ComposeOptions::default() };
        assert!(compose(&program, &options, &limits, &mut sink).is_some());
    }
    assert!(sink.work() < 1 << 18);
    assert!(start.elapsed() < Duration::from_secs(60), "too slow");
}

/// The compositions of one command have one budget.
#[test]
fn graphs_share_their_work() {
    let text = formula(&format!("y[i,] = x[i,]{}, i < n;", numbered(200, |k| format!(" * {k}.0"))));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    std::fs::write(&path, text).unwrap();
    let (limits, mut sink) = (Limits { work: 0, ..Limits::default() }, Sink::default());
    let program = load_program(&path, None, &limits, &mut sink);
    check_program(&program, &mut sink);
    let mut composed = 0;
    while compose(&program, &ComposeOptions::default(), &limits, &mut sink).is_some() {
        composed += 1;
        assert!(composed < 1000);
    }
    assert!(composed > 0);
    assert_eq!(sink.error_count(), 1);
}

/// The text of all diagnostics that are written for people.
fn printed(text: &str) -> (usize, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    std::fs::write(&path, text).unwrap();
    let (mut sink, start) = (Sink::default(), Instant::now());
    let program = load_program(&path, None, &Limits::default(), &mut sink);
    check_program(&program, &mut sink);
    let diagnostics = sink.into_sorted();
    let texts = diagnostics.iter().take(200).map(|d| render(d, &program.sources, false).len());
    let result = (diagnostics.len(), texts.sum());
    assert!(start.elapsed() < Duration::from_secs(60), "too slow");
    result
}

/// Each diagnostic printed all text between its locations, and marked each of its locations.
#[test]
fn diagnostics_are_printed_in_linear_time() {
    for gap in [" ", "\n"] {
        let using = |part: &dyn Fn(usize) -> String| {
            let helpers = numbered(1500, |k| part(k) + gap);
            document(&format!("@using {{ {helpers} }}"), "y = f(x);")
        };
        for (text, least) in [
            (using(&|k| format!("b{k} = nothing{k};")), 1500),
            (using(&|_| "b = 1;".to_string()), 1499),
            (using(&|k| format!("b{k} = '\u{1b}[31m' + other{k};")), 1500),
            (using(&|k| format!("b{k} = nothing;")), 1),
            (document("", &(numbered(800, |k| format!("t{k} = f(x, x, x);{gap}")) + "y = f(x);")), 800),
            (numbered(400, |_| document("", "y = f(x);") + gap), 400),
        ] {
            let (found, bytes) = printed(&text);
            assert!(found >= least, "{found} diagnostics");
            assert!(bytes < 200 * 2500, "{bytes} bytes");
        }
    }
    let circle = numbered(2000, |k| {
        let body = format!("@compose {{ y = h{}(x); }} }} ", (k + 1) % 2000);
        format!("operator h{k} {{ @input {{ x: real[n]; }} @output {{ y: real[n]; }} {body}")
    });
    let (found, bytes) = printed(&(circle + &document("", "y = h0(x);")));
    assert!(found == 1 && bytes < 10_000, "{found} diagnostics, {bytes} bytes");
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
