// SPDX-License-Identifier: Apache-2.0
//! The conformance suite for the checker alone: valid documents yield no diagnostics; documents with an invalid
//! structure, name or type yield one in a stated line.

use crate::diagnostics::{Diagnostic, Severity, Sink};
use crate::limits::Limits;
use crate::program::{Edition, Program};
use crate::source_files::load_program;
use std::fs;
use std::path::{Path, PathBuf};

/// Invalid documents whose errors may depend on values of an invocation: composition reports them if the checker cannot.
const OF_COMPOSITION: &str = include_str!("conformance.txt");

/// The suite's folder: `SKRIPT_CONFORMANCE`, or beside the workspace.
fn suite() -> Option<PathBuf> {
    let folder = match std::env::var_os("SKRIPT_CONFORMANCE") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance"),
    };
    folder.is_dir().then_some(folder)
}

/// All cases: family, name without its variant, folder.
fn cases(suite: &Path) -> Vec<(String, PathBuf)> {
    let mut cases = Vec::new();
    let folders = |p: &Path| -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = fs::read_dir(p)
            .map(|d| d.flatten().map(|e| e.path()).filter(|p| p.is_dir()).collect())
            .unwrap_or_default();
        all.sort();
        all
    };
    for family in folders(suite) {
        let name = family.file_name().unwrap().to_string_lossy().into_owned();
        for case in folders(&family) {
            if case.join("main.sknd").is_file() {
                cases.push((name.clone(), case));
            }
        }
    }
    cases
}

fn check_folder(folder: &Path, family: &str) -> (Program, Vec<Diagnostic>) {
    let mut sink = Sink::default();
    let edition = family.starts_with("khronos").then_some(Edition::Khronos);
    let program = load_program(folder, edition, &Limits::default(), &mut sink);
    super::check_program(&program, &mut sink);
    (program, sink.into_sorted())
}

/// `path:line: CODE: message`, one line per message and note.
fn render(program: &Program, diagnostics: &[Diagnostic]) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut push = |span: Option<crate::source::Span>, text: String| {
        let file = span.and_then(|s| program.sources.get(s.file));
        let line = span.zip(file).map_or(0, |(s, f)| f.line_column(s.start).0);
        let path = file.map_or_else(String::new, |f| f.path.display().to_string());
        lines.push((line, format!("{path}:{line}: {text}")));
    };
    for d in diagnostics {
        push(d.span, format!("{}: {}", d.code.id, d.message));
        for label in &d.labels {
            push(Some(label.span), format!("    {}", label.text));
        }
        for note in &d.notes {
            push(note.span, format!("    note: {}", note.text));
        }
        if let Some(help) = &d.help {
            push(None, format!("    help: {help}"));
        }
    }
    lines
}

/// The numbers and strings in a list of `case.json`, or the single value.
fn json_list(text: &str, key: &str) -> Vec<String> {
    let Some(start) = text.find(&format!("\"{key}\":")) else {
        return Vec::new();
    };
    let rest = text[start + key.len() + 3..].trim_start();
    let value = match rest.strip_prefix('[') {
        Some(list) => list.split(']').next().unwrap(),
        None => rest.split(['\n', '}']).next().unwrap().trim_end_matches(','),
    };
    value.split(',').map(|v| v.trim().trim_matches('"').to_string()).filter(|v| !v.is_empty()).collect()
}

fn is_error_case(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join("case.json")).unwrap_or_default();
    json_list(&text, "expect") == ["error"]
}

#[test]
fn the_library_gives_no_message() {
    let folder = tempfile::tempdir().unwrap();
    let modules = "algo image layer layout linalg math misc nn quant rand";
    let imports: Vec<String> = modules.split(' ').map(|m| format!("import {m};")).collect();
    let graph = "graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { y = x; } }";
    let text = format!("{} {graph}", imports.join(" "));
    fs::write(folder.path().join("main.sknd"), text).unwrap();
    for edition in [Edition::Draft6, Edition::Khronos] {
        let mut sink = Sink::default();
        let program = load_program(folder.path(), Some(edition), &Limits::default(), &mut sink);
        super::check_program(&program, &mut sink);
        assert!(program.modules.len() > imports.len());
        let diagnostics = sink.into_sorted();
        assert!(diagnostics.is_empty(), "{:?}", render(&program, &diagnostics));
    }
}

#[test]
fn valid_documents_give_no_message() {
    let Some(suite) = suite() else { return };
    let mut wrong = Vec::new();
    let mut count = 0;
    for (family, folder) in cases(&suite) {
        if is_error_case(&folder) {
            continue;
        }
        count += 1;
        let (program, reported) = check_folder(&folder, &family);
        if !reported.is_empty() {
            wrong.extend(render(&program, &reported).into_iter().map(|(_, l)| l));
        }
    }
    assert!(count > 0, "the suite at {} is empty", suite.display());
    assert!(wrong.is_empty(), "{} lines:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn invalid_documents_are_reported_in_their_line() {
    let Some(suite) = suite() else { return };
    let mut wrong = Vec::new();
    for (_, folder) in cases(&suite) {
        if !is_error_case(&folder) {
            continue;
        }
        let full = folder.file_name().unwrap().to_string_lossy().into_owned();
        let name = full.rsplit_once('_').map_or(full.as_str(), |(n, _)| n);
        let text = fs::read_to_string(folder.join("case.json")).unwrap();
        let (program, reported) = check_folder(&folder, "errors");
        let lines = render(&program, &reported);
        let errors = reported.iter().filter(|d| d.severity == Severity::Error).count();
        if errors == 0 && OF_COMPOSITION.lines().any(|of| of == name) {
            continue;
        }
        let wanted: Vec<usize> =
            json_list(&text, "error_line").iter().filter_map(|l| l.parse().ok()).collect();
        let all = lines.iter().map(|(_, l)| l.to_lowercase()).collect::<Vec<_>>().join("\n");
        let has_text = json_list(&text, "error_contains").iter().all(|w| all.contains(&w.to_lowercase()));
        let there = wanted.is_empty() || lines.iter().any(|(l, _)| wanted.contains(l));
        if errors == 0 {
            wrong.push(format!("{full}: nothing is reported"));
        } else if errors > 1 {
            wrong.push(format!("{full}: {errors} errors for one mistake:\n{all}"));
        } else if !there || !has_text {
            wrong.push(format!("{full}: wanted line {wanted:?}, got\n{all}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
