// SPDX-License-Identifier: Apache-2.0
//! Runs docs/language.md: documents must check, or have the diagnostic in their caption; tables must be right.
//!
//! A table `| expression | value |` is computed with the attributes of [`super::rows`]; one `| input x | output y |` is a
//! run of the document before it.

use super::rows::{Rows, composed_as, elements};
use skript_frontend::diagnostics::Severity;
use skript_frontend::diagnostics::codes::ALL;
use skript_frontend::program::Edition;
use skript_reference::evaluate;
use skript_semantics::ScalarKind;
use skript_tensor::Tensor;
use std::sync::Arc;

#[derive(Clone)]
struct Document {
    line: usize,
    text: String,
    /// The code of the expected diagnostic.
    error: Option<String>,
    edition: Option<Edition>,
}

struct Table {
    line: usize,
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

enum Part {
    Document(Document),
    Table(Table),
}

fn parts() -> Vec<Part> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/language.md");
    let guide = std::fs::read_to_string(path).unwrap();
    let mut lines = guide.lines().enumerate().peekable();
    let mut parts = Vec::new();
    while let Some((line, text)) = lines.next() {
        if let Some(caption) = text.strip_prefix("```sknd") {
            let body = lines.by_ref().map(|(_, l)| l).take_while(|l| *l != "```");
            let body: Vec<&str> = body.collect();
            let word = |key: &str| caption.split_whitespace().find_map(|w| w.strip_prefix(key));
            parts.push(Part::Document(Document {
                line: line + 1,
                text: body.join("\n"),
                error: word("error=").map(String::from),
                edition: word("edition=").map(|e| match e {
                    "khronos" => Edition::Khronos,
                    _ => Edition::Draft6,
                }),
            }));
        } else if text.starts_with('|') {
            let mut rows = Vec::new();
            while let Some((_, row)) = lines.next_if(|(_, l)| l.starts_with('|')) {
                rows.push(cells(row));
            }
            rows.remove(0);
            parts.push(Part::Table(Table { line: line + 1, head: cells(text), rows }));
        }
    }
    parts
}

/// The cells of a table's line, without code marks.
fn cells(line: &str) -> Vec<String> {
    let line = line.trim().trim_matches('|');
    let cells = line.split(" | ").map(|c| {
        let cell = c.trim();
        match cell.strip_prefix("``` ").and_then(|c| c.strip_suffix(" ```")) {
            Some(code) => code.to_string(),
            None => cell.trim_matches('`').to_string(),
        }
    });
    cells.collect()
}

#[test]
fn documents_check_or_give_their_code() {
    let mut count = 0;
    for part in parts() {
        let Part::Document(document) = part else {
            continue;
        };
        count += 1;
        let whole = if document.text.contains("graph ") {
            document.text.clone()
        } else {
            format!("{} graph Main {{ @output {{ y: real[]; }} @compose {{ y = 1.0; }} }}", document.text)
        };
        let found = match composed_as(&whole, document.edition) {
            Ok(_) => Vec::new(),
            Err(found) => found,
        };
        let errors = found.iter().filter(|d| d.severity == Severity::Error);
        let mut ids: Vec<&str> = errors.map(|d| d.code.id).collect();
        ids.dedup();
        let wanted: Vec<&str> = document.error.iter().map(String::as_str).collect();
        assert_eq!(ids, wanted, "line {}: {found:?}", document.line);
    }
    assert!(count > 25, "only {count} documents were found");
}

#[test]
fn expressions_have_their_values() {
    let mut rows = Rows::default();
    let mut count = 0;
    for part in parts() {
        let Part::Table(table) = part else { continue };
        if table.head != ["expression", "value"] {
            continue;
        }
        for row in &table.rows {
            let [expression, value] = &row[..] else {
                panic!("line {}: {row:?}", table.line);
            };
            count += 1;
            expect(&mut rows, expression, value);
        }
    }
    assert!(count > 70, "only {count} expressions were found");
}

fn expect(rows: &mut Rows, expression: &str, value: &str) {
    if let Some(code) = ALL.iter().find(|c| c.id == value) {
        return rows.wrong(&[], code, expression);
    }
    if value == "null" {
        return rows.null(&[], expression);
    }
    if let Some(text) = value.strip_prefix('"') {
        return rows.text(&[], expression, text.trim_end_matches('"'));
    }
    let items = value.strip_prefix('[').and_then(|v| v.strip_suffix(']'));
    let list: Vec<&str> = items.unwrap_or(value).split(", ").collect();
    let expression = match items {
        Some(_) => expression.to_string(),
        None => format!("[{expression}]"),
    };
    if list.iter().all(|v| matches!(*v, "true" | "false")) {
        let wanted: Vec<bool> = list.iter().map(|v| *v == "true").collect();
        rows.bools(&[], &expression, &wanted);
    } else if value.contains('.') {
        let wanted: Vec<f32> = list.iter().map(|v| v.parse().unwrap()).collect();
        rows.reals(&[], &expression, &wanted);
    } else {
        let wanted: Vec<i64> = list.iter().map(|v| v.parse().unwrap()).collect();
        rows.ints(&[], &expression, &wanted);
    }
}

#[test]
fn runs_have_their_results() {
    let (mut last, mut count) = (None, 0);
    for part in parts() {
        let table = match part {
            Part::Document(document) => {
                last = Some(document);
                continue;
            }
            Part::Table(table) if table.head[0].starts_with("input ") => table,
            Part::Table(_) => continue,
        };
        let Some(document) = &last else {
            panic!("line {}: a table without a document", table.line);
        };
        for row in &table.rows {
            count += 1;
            run(document, &table, row);
        }
    }
    assert!(count > 10, "only {count} runs were found");
}

fn run(document: &Document, table: &Table, row: &[String]) {
    let at = format!("line {}, {row:?}", table.line);
    let model = composed_as(&document.text, document.edition).unwrap();
    let entry = model.function(model.entry).unwrap();
    let column = |role: &str, name: &str| {
        let head = format!("{role} {name}");
        let at = table.head.iter().position(|h| *h == head);
        array(&row[at.unwrap_or_else(|| panic!("no column {head}"))])
    };
    let inputs = entry.inputs.iter().map(|port| {
        let value = &entry.values[port.tensors.values()[0].0 as usize];
        let (shape, values) = column("input", &port.name);
        Arc::new(tensor(value.tensor.kind, &shape, &values))
    });
    let inputs: Vec<_> = inputs.collect();
    let outcome = evaluate(&model, &inputs, &[]).unwrap();
    for (port, found) in entry.outputs.iter().zip(&outcome.outputs) {
        let (shape, values) = column("output", &port.name);
        assert_eq!(found.shape(), shape, "{at}: {}", port.name);
        let wanted: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        assert_eq!(elements(found), wanted, "{at}: {}", port.name);
    }
}

fn tensor(kind: ScalarKind, shape: &[u64], values: &[f64]) -> Tensor {
    let made = match kind {
        ScalarKind::Real => {
            let values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
            Tensor::from_f32(shape, &values)
        }
        ScalarKind::Int => {
            let values: Vec<i64> = values.iter().map(|v| *v as i64).collect();
            Tensor::from_i64(shape, &values)
        }
        _ => {
            let values: Vec<bool> = values.iter().map(|v| *v != 0.0).collect();
            Tensor::from_bool(shape, &values)
        }
    };
    made.unwrap()
}

/// Shape and elements of a nested list: `[[1, 2], [3, 4]]`.
fn array(text: &str) -> (Vec<u64>, Vec<f64>) {
    let rank = text.chars().take_while(|c| *c == '[').count();
    let items = text.split(|c| "[], ".contains(c)).filter(|w| !w.is_empty());
    let values: Vec<f64> = items
        .map(|w| match w {
            "true" => 1.0,
            "false" => 0.0,
            number => number.parse().unwrap(),
        })
        .collect();
    let shape = match rank {
        0 => vec![],
        1 => vec![values.len() as u64],
        2 => {
            let rows = text.matches('[').count() as u64 - 1;
            vec![rows, values.len() as u64 / rows]
        }
        _ => panic!("rank {rank}: {text}"),
    };
    (shape, values)
}
