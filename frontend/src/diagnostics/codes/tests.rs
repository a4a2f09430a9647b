// SPDX-License-Identifier: Apache-2.0
//! Tests of the fenced documents in the Markdown files, and tests that need options or generated text.
//!
//! A fence has the language `sknd`, a kind, and options:
//! - `wrong`: the document is rejected with this code alone; `warning`: it has a warning of this code alone; `right`: it
//!   is the near miss, which has no diagnostic;
//! - `frame`: the documents up to the next heading replace its `…`;
//! - `in=using`, `in=lower`, `in=compose`: the document is a part of a document of `check::testing`;
//! - `edition=khronos`, `edition=draft6`: the edition;
//! - `stage=check`: the document is not composed; `stage=compose`: it is composed without the check, which reports
//!   another code;
//! - `count=2`: the number of diagnostics, 1 by default.
//!
//! The fix of a diagnostic removes it, and the fixed document has no new syntax error.
//!
//! A line `#--- path` of a document begins another file, and a line `# message: text` is a part of the message.

use std::fs;

use super::LIMIT_EXCEEDED;
use crate::check::check_program;
use crate::check::testing::{in_compose, in_lower, in_using};
use crate::compose::testing::{
    assert_composes, assert_fires, composed, composed_with, with_operator, with_symbols,
};
use crate::compose::{ComposeOptions, compose};
use crate::diagnostics::{Diagnostic, Severity, Sink};
use crate::limits::Limits;
use crate::model::{AttributeValue, CheckKind, Model};
use crate::program::Edition;
use crate::source_files::load_program;
use crate::source_files::testing::{loaded, loaded_within};
use crate::syntax::testing::codes;
use skript_semantics::{IntType, Numbers};

const PLACEHOLDER: &str = "…";
const FILE: &str = "#--- ";
const MESSAGE: &str = "# message: ";

#[test]
fn documents() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/diagnostics/codes");
    let mut failures = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "md") {
            test_page(&fs::read_to_string(path).unwrap(), &mut failures);
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn test_page(page: &str, failures: &mut Vec<String>) {
    let id = page.get(2..8).unwrap();
    for section in page.split("\n### ") {
        let mut frame = PLACEHOLDER;
        for block in section.split("\n```sknd ").skip(1) {
            let (fence, rest) = block.split_once('\n').unwrap();
            let (text, _) = rest.split_once("\n```").unwrap();
            if fence == "frame" {
                frame = text;
            } else if let Err(cause) = test_document(id, fence, &frame.replace(PLACEHOLDER, text)) {
                failures.push(format!("{id}: {fence}: {cause}\n{text}\n"));
            }
        }
    }
}

fn test_document(id: &str, fence: &str, text: &str) -> Result<(), String> {
    let mut words = fence.split(' ');
    let kind = words.next().unwrap();
    let (mut edition, mut stage, mut count) = (None, None, 1);
    let mut document = text.to_string();
    for option in words {
        match option {
            "stage=check" => stage = Some(Stage::Check),
            "stage=compose" => stage = Some(Stage::Compose),
            "edition=khronos" => edition = Some(Edition::Khronos),
            "edition=draft6" => edition = Some(Edition::Draft6),
            "in=using" => document = in_using(text).swap_remove(0).1,
            "in=lower" => document = in_lower(text).swap_remove(0).1,
            "in=compose" => document = in_compose(text).swap_remove(0).1,
            _ => match option.strip_prefix("count=").and_then(|n| n.parse().ok()) {
                Some(n) => count = n,
                None => return Err(format!("unknown option `{option}`")),
            },
        }
    }
    let reported = diagnostics(&document, edition, stage);
    let messages: Vec<String> =
        reported.iter().map(|d| format!("{} {:?}: {}", d.code.id, d.severity, d.message)).collect();
    let (severity, expected) = match kind {
        "wrong" => (Severity::Error, count),
        "warning" => (Severity::Warning, count),
        "right" => (Severity::Error, 0),
        _ => return Err("unknown kind".to_string()),
    };
    if reported.len() != expected || reported.iter().any(|d| d.code.id != id || d.severity != severity) {
        return Err(format!("{messages:?}"));
    }
    for message in text.lines().filter_map(|line| line.strip_prefix(MESSAGE)) {
        if !reported.iter().any(|d| d.message.contains(message)) {
            return Err(format!("no message contains `{message}`: {messages:?}"));
        }
    }
    let is_one_file = !document.starts_with(FILE);
    let fixed = reported.iter().filter(|_| is_one_file).filter_map(|d| Some((d, d.fix.as_ref()?)));
    for (diagnostic, fix) in fixed.filter(|(_, fix)| !fix.span.file.is_library()) {
        let mut text = document.clone();
        text.replace_range(fix.span.start as usize..fix.span.end as usize, &fix.text);
        let left = diagnostics(&text, edition, stage);
        let is_wrong =
            |d: &&Diagnostic| d.message == diagnostic.message || (d.code.id == "SK0201" && id != "SK0201");
        if let Some(wrong) = left.iter().find(is_wrong) {
            return Err(format!("{}: its fix causes: {}\n{text}", diagnostic.message, wrong.message));
        }
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Check,
    Compose,
}

/// All diagnostics of a document, from loading to composing it, or of loading it and of one stage.
fn diagnostics(document: &str, edition: Option<Edition>, only: Option<Stage>) -> Vec<Diagnostic> {
    let folder = tempfile::tempdir().unwrap();
    let mut files = document.to_string();
    if !document.starts_with(FILE) {
        files.insert_str(0, "#--- main.sknd\n");
    }
    for file in files.split(FILE).skip(1) {
        let (name, text) = file.split_once('\n').unwrap_or((file, ""));
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let (limits, mut sink) = (Limits::default(), Sink::default());
    let program = load_program(folder.path(), edition, &limits, &mut sink);
    if !sink.has_errors() && only != Some(Stage::Compose) {
        check_program(&program, &mut sink);
    }
    if !sink.has_errors() && only != Some(Stage::Check) {
        compose(&program, &ComposeOptions::default(), &limits, &mut sink);
    }
    sink.into_sorted()
}

/// Modules that import each other in a chain.
fn import_chain(length: usize) -> Vec<&'static str> {
    let mut files = vec![("main.sknd".to_string(), "import m1; graph G { }".to_string())];
    for at in 1..=length {
        let text = if at < length { format!("import m{};", at + 1) } else { String::new() };
        files.push((format!("m{at}.sknd"), text));
    }
    let files: Vec<(&str, &[u8])> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    loaded(&files)
}

#[test]
fn import_depth() {
    let max_depth = Limits::default().import_depth;
    assert_eq!(import_chain(max_depth + 1), ["SK1513"]);
    // Near miss.
    assert!(import_chain(max_depth).is_empty());
}

#[test]
fn nesting() {
    let using = |value: String| codes(&format!("operator o {{ @using {{ v = {value}1; }} }}"));
    let limits = Limits::default();
    assert_eq!(using("a + ".repeat(limits.nesting + limits.chain + 1)), ["SK1605"]);
    assert_eq!(using("-".repeat(limits.nesting + 1)), ["SK1605"]);
    // Near miss.
    assert!(using("a + ".repeat(limits.chain)).is_empty());
}

#[test]
fn encoding() {
    assert_eq!(loaded(&[("main.sknd", b"# na\xefve\ngraph G { }")]), ["SK1609"]);
    // Near miss.
    assert!(loaded(&[("main.sknd", "# na\u{ef}ve\ngraph G { }".as_bytes())]).is_empty());
}

#[test]
fn source_size() {
    let limits = Limits { source_bytes: 100, ..Limits::default() };
    let with_size = |size| loaded_within(&[("main.sknd", "#".repeat(size).as_bytes())], &limits);
    assert_eq!(with_size(101), ["SK1610"]);
    // Near miss.
    assert!(with_size(100).is_empty());
}

#[test]
fn graph_unknown() {
    let select = |name: &str| {
        let text = with_symbols("").replace("graph G {", "graph Large {");
        let options = ComposeOptions { graph: Some(name.to_string()), ..Default::default() };
        composed_with(&text, &options, &Limits::default())
    };
    assert_fails_with_help(select("Largw"), "SK3001", "did you mean `Large`?");
    // Near miss.
    assert!(select("Large").is_ok());
}

#[test]
fn graph_parameter() {
    let set = |name: &str| {
        let text = "graph G { @attrib { size: int = 2; } @input { x: real[size]; } @output { y: real[size]; } \
                    @compose { y = x; } }";
        let mut options = ComposeOptions::default();
        options.attributes.insert(name.to_string(), AttributeValue::Int(3));
        composed_with(text, &options, &Limits::default())
    };
    assert_fails_with_help(set("sise"), "SK3002", "did you mean `size`?");
    // Near miss.
    assert!(set("size").is_ok());
}

fn assert_fails_with_help(result: Result<Model, Vec<Diagnostic>>, id: &str, help: &str) {
    let reported = result.unwrap_err();
    assert!(reported.iter().all(|d| d.code.id == id));
    assert_eq!(reported[0].help.as_deref(), Some(help));
}

/// Operators that each invoke the next operator three times.
fn invocation_chain(length: u32) -> String {
    let step = |n: u32| {
        format!(
            "operator f{n} {{ @input {{ a: real[]; }} @output {{ b: real[]; }} \
             @compose {{ p = f{m}(a); q = f{m}(p); b = f{m}(q); }} }}",
            m = n + 1
        )
    };
    let steps: String = (0..length).map(step).collect();
    format!(
        "{steps} operator f{length} {{ @input {{ a: real[]; }} @output {{ b: real[]; }} @lower {{ b[] = a[]; }} }} \
         graph G {{ @input {{ x: real[]; }} @output {{ y: real[]; }} @compose {{ y = f0(x); }} }}"
    )
}

/// Shared instances count once for each path to them.
#[test]
fn limit_of_instances() {
    assert_fires(&LIMIT_EXCEEDED, &invocation_chain(40));
    assert_fires(&LIMIT_EXCEEDED, &invocation_chain(13));
    assert_composes(&invocation_chain(10));
}

#[test]
fn limit_of_constants() {
    let constant = |elements: u64| {
        let declared = format!("@constant {{ c: int[{elements}] = i, i < {elements}; }}");
        let text = with_operator(
            &format!(
                "@input {{ a: real[n]; }} {declared} @output {{ b: real[n]; }} @lower {{ b[i,] = a[i,], i < n; }}"
            ),
            "y = f(x);",
        );
        composed_with(
            &text,
            &ComposeOptions::default(),
            &Limits { constant_elements: 16, ..Limits::default() },
        )
    };
    assert!(constant(16).is_ok());
    let help = |elements| constant(elements).unwrap_err().remove(0).help.unwrap();
    assert!(help(17).ends_with("or allow more: `--limit constant_elements=17`"), "{}", help(17));
    assert_eq!(help(1 << 40), "compute it in a run, by the formula of an operator");
}

#[test]
fn limit_of_terms() {
    let summed = |terms: usize| {
        with_operator(
            &format!(
                "@input {{ a: real[n]; }} @using {{ k = [0:{terms}]; }} @constant {{ c: int[{terms}] = i, i < {terms}; }} \
                 @output {{ b: real[n]; }} @lower {{ b[i,] = a[|c[k,] + ..|,], i < n; }}"
            ),
            "y = f(x);",
        )
    };
    assert_fires(&LIMIT_EXCEEDED, &summed(Limits::default().polynomial_terms + 1));
    assert_composes(&summed(200));
}

#[test]
fn machine_int() {
    let composed_with_extent = |extent: u64| {
        let text = format!(
            "operator f {{ @input {{ a: real[n]; }} @output {{ b: int[n]; }} @lower {{ b[i,] = i, i < n; }} }} \
             graph G {{ @input {{ x: real[{extent}]; }} @output {{ y: int[{extent}]; }} @compose {{ y = f(x); }} }}"
        );
        let numbers = Numbers { int: IntType::I8, ..Numbers::default() };
        composed_with(&text, &ComposeOptions { numbers, ..ComposeOptions::default() }, &Limits::default())
    };
    let reported = composed_with_extent(129).unwrap_err();
    assert_eq!(reported.iter().map(|d| d.code.id).collect::<Vec<_>>(), ["SK3004"]);
    // Near miss.
    assert!(composed_with_extent(128).is_ok());
}

/// Invocations with the same label share a variable.
#[test]
fn shared_variable() {
    let scaled = "@input { a: real[n]; } @output { b: real[n]; } @variable { w: real[n]; } \
                  @lower { b[i,] = a[i,] * w[i,], i < n; }";
    let model = composed(&with_operator(scaled, "u = lab: f(x); y = lab: f(u);")).unwrap();
    assert_eq!(model.variables.len(), 1);
}

/// The run-time checks that a document needs.
fn checks(text: &str) -> Vec<CheckKind> {
    let model = composed(text).unwrap();
    model.functions.iter().flat_map(|f| &f.checks).map(|c| c.kind).collect()
}

/// SK9203
#[test]
fn run_time_assertion() {
    let asserted = |condition: &str| {
        checks(&format!(
            "operator f {{ @input {{ a: real[n]; }} @output {{ b: real[n]; }} @assert {{ {condition}: 'odd', n; }} \
             @lower {{ b[i,] = a[i,], i < n; }} }} \
             graph G {{ @input {{ x: real[s|10]; }} @output {{ y: real[s]; }} @compose {{ y = f(x); }} }}"
        ))
    };
    let count = |kinds: Vec<CheckKind>| kinds.iter().filter(|k| **k == CheckKind::Assertion).count();
    assert_eq!(count(asserted("n % 2 == 0")), 1);
    // Near miss: the upper bound implies the condition.
    assert_eq!(count(asserted("n <= 10 && n >= 0")), 0);
}

/// SK9204
#[test]
fn extents_disagree() {
    let added = |extent: &str| {
        checks(&format!(
            "operator add {{ @input {{ a: real[n]; b: real[n]; }} @output {{ c: real[n]; }} \
             @lower {{ c[i,] = a[i,] + b[i,], i < n; }} }} \
             graph G {{ @input {{ x: real[s|10]; y: real[{extent}]; }} @output {{ z: real[s]; }} \
             @compose {{ z = add(x, y); }} }}"
        ))
    };
    assert_eq!(added("t|10").len(), 1);
    // Near miss.
    assert_eq!(added("s").len(), 0);
}

/// SK9205
#[test]
fn run_time_access() {
    let read = |index: &str| {
        checks(&format!(
            "operator last {{ @input {{ x: real[n]; }} @output {{ y: real[]; }} @lower {{ y[] = x[{index},]; }} }} \
             graph G {{ @input {{ x: real[s|10]; }} @output {{ y: real[]; }} @compose {{ y = last(x); }} }}"
        ))
    };
    let count = |kinds: Vec<CheckKind>| kinds.iter().filter(|k| **k == CheckKind::Access).count();
    assert_eq!(count(read("n - 1")), 1);
    // Near miss.
    assert_eq!(count(read("|n - 1|")), 0);
}
