// SPDX-License-Identifier: Apache-2.0
//! Answers requests.

use crate::composition::{checked, composed, has_defaults};
use crate::evaluation::values;
use crate::language::Language;
use crate::request::{Kind, Request};
use serde_json::{Value, json};
use skript_frontend::diagnostics::{Diagnostic, Sink, json as diagnostic_json, render::render};
use skript_frontend::format::format;
use skript_frontend::limits::Limits;
use skript_frontend::source::SourceMap;
use skript_view::Picture;
use std::path::Path;

/// Maximum number of diagnostics that are rendered as text.
const MAX_RENDERED: usize = 200;

/// Answers requests, one after the other.
#[derive(Default)]
pub(crate) struct Answers {
    language: Language,
}

impl Answers {
    /// Answers a request: `status` is `done` or `wrong`, `result` depends on the kind of the request, and the diagnostics are in
    /// `messages` as text and in `diagnostics` as data.
    pub(crate) fn answer(&mut self, request: &[u8]) -> String {
        let answer = match serde_json::from_slice::<Request>(request) {
            Ok(request) if request.kind == Kind::Language => match self.language.answer(&request) {
                Ok(result) => json!({"status": "done", "result": result}),
                Err(text) => refused(&text),
            },
            Ok(request) => {
                let (mut sink, mut sources) = (Sink::default(), SourceMap::default());
                let result = result(&request, &mut sink, &mut sources);
                described(result, sink.into_sorted(), &sources)
            }
            Err(error) => refused(&format!("this is not a request: {error}")),
        };
        answer.to_string()
    }
}

fn refused(text: &str) -> Value {
    json!({"status": "wrong", "messages": text, "diagnostics": []})
}

/// The result of a request about a text; errors are in `sink`.
fn result(request: &Request, sink: &mut Sink, sources: &mut SourceMap) -> Option<Value> {
    if request.kind == Kind::Format {
        let file = sources.add(Path::new(&request.name), request.text.as_str());
        return format(file, &request.text, &Limits::default(), sink).map(Value::String);
    }
    let program = checked(request, sink);
    let result = match request.kind {
        Kind::Check => {
            if has_defaults(request, &program) {
                composed(request, &program, sink);
            }
            Some(Value::Null)
        }
        _ => composed(request, &program, sink).and_then(|model| match request.kind {
            Kind::Values => {
                let values = values(request, &model);
                values.map_err(|wrong| wrong.into_iter().for_each(|wrong| sink.report(wrong))).ok()
            }
            Kind::Graph => Some(Picture::new(&model, &program).html().into()),
            _ => Some(model.to_text().into()),
        }),
    };
    *sources = program.sources;
    result
}

fn described(result: Option<Value>, diagnostics: Vec<Diagnostic>, sources: &SourceMap) -> Value {
    let mut messages: String =
        diagnostics.iter().take(MAX_RENDERED).map(|one| render(one, sources, false)).collect();
    if let Some(more @ 1..) = diagnostics.len().checked_sub(MAX_RENDERED) {
        messages.push_str(&format!("note: {more} more errors and warnings are not shown\n"));
    }
    let list: Vec<Value> = diagnostics.iter().map(|one| diagnostic_json(one, sources)).collect();
    let status = if result.is_some() { "done" } else { "wrong" };
    json!({"status": status, "result": result, "messages": messages, "diagnostics": list})
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOUBLED: &str = "operator doubled {\n    @input { x: real[n]; }\n    @output { y: real[n]; }\n    \
        @lower { y[i,] = 2.0 * x[i,], i < n; }\n}\n\ngraph G {\n    @attrib { k: int = 1; }\n    @input { x: real[3]; }\n    \
        @output { y: real[3]; }\n    @compose { y = doubled(x); }\n}\n";

    fn answer(request: Value) -> Value {
        serde_json::from_str(&Answers::default().answer(request.to_string().as_bytes())).unwrap()
    }

    #[test]
    fn values_of_given_and_of_random_arrays() {
        let x = json!({"shape": [3], "values": [1, -0.25, "Infinity"]});
        let done = answer(json!({"kind": "values", "text": DOUBLED, "inputs": {"x": x}}));
        assert_eq!(done["status"], "done", "{done}");
        assert_eq!(done["result"]["outputs"][0]["values"], json!([2.0, -0.5, "Infinity"]));
        let random = answer(json!({"kind": "values", "text": DOUBLED, "seed": 3}));
        let first = |role: &str| random["result"][role][0]["values"][0].as_f64().unwrap();
        assert!((first("outputs") - 2.0 * first("inputs")).abs() < 1e-12);
    }

    #[test]
    fn errors_have_locations_and_texts() {
        let wrong = answer(json!({"kind": "model", "text": DOUBLED.replace("doubled(x)", "doubled(z)")}));
        assert_eq!(wrong["status"], "wrong");
        assert_eq!(wrong["diagnostics"][0]["location"]["line"], 11);
        assert!(wrong["messages"].as_str().unwrap().contains("--> model.sknd:11:"), "{wrong}");
        for (field, value) in [
            ("attributes", json!(["n=8"])),
            ("attributes", json!(["k=null"])),
            ("attributes", json!(["k"])),
            ("shapes", json!(["q=3"])),
            ("shapes", json!(["x=a"])),
            ("real", json!("f8")),
            ("graph", json!("H")),
            ("inputs", json!({"x": {"shape": [4], "values": [1, 2, 3, 4]}})),
            ("inputs", json!({"x": {"shape": [3], "values": [1]}})),
            ("inputs", json!({"x": {"shape": [3], "values": [1, null, 2]}})),
            ("inputs", json!({"q": {"shape": [], "values": [1]}})),
            ("weights", json!({"w": {"shape": [], "values": [1]}})),
        ] {
            let mut request = json!({"kind": "values", "text": DOUBLED});
            request[field] = value;
            let wrong = answer(request.clone());
            assert_eq!(wrong["status"], "wrong", "{request}");
            assert!(!wrong["diagnostics"].as_array().unwrap().is_empty(), "{request}");
        }
        let check = answer(json!({"kind": "check", "text": DOUBLED, "graph": "H"}));
        assert_eq!(check["diagnostics"].as_array().unwrap().len(), 1, "{check}");
        for request in [
            json!({}),
            json!([]),
            json!({"kind": "rm", "text": ""}),
            json!({"kind": "check", "text": "", "x": 1}),
        ] {
            assert!(answer(request)["messages"].as_str().unwrap().starts_with("this is not a request"));
        }
    }

    #[test]
    fn texts_are_checked_formatted_and_shown() {
        assert_eq!(answer(json!({"kind": "check", "text": DOUBLED}))["diagnostics"], json!([]));
        let wrong = answer(
            json!({"kind": "check", "text": DOUBLED.replace("real[3]; }\n    @output", "real[4]; }\n    @output")}),
        );
        assert_eq!(wrong["diagnostics"][0]["severity"], "error", "{wrong}");
        let messy = DOUBLED.replace("y = doubled(x);", "y=doubled( x ) ;");
        assert_eq!(
            answer(json!({"kind": "format", "text": messy}))["result"],
            answer(json!({"kind": "format", "text": DOUBLED}))["result"]
        );
        assert!(
            answer(json!({"kind": "graph", "text": DOUBLED}))["result"].as_str().unwrap().contains("<html")
        );
        assert!(
            answer(json!({"kind": "model", "text": DOUBLED}))["result"].as_str().unwrap().contains("doubled")
        );
    }

    #[test]
    fn the_language_server_has_the_newest_text() {
        let mut answers = Answers::default();
        let mut ask = |version: i32, text: &str, method: &str| -> Value {
            let request = json!({"kind": "language", "version": version, "text": text, "method": method,
                "params": {"textDocument": {"uri": "untitled:playground/playground.sknd"}}});
            serde_json::from_str(&answers.answer(request.to_string().as_bytes())).unwrap()
        };
        assert_eq!(ask(1, DOUBLED, "diagnostics")["result"], json!([]));
        let wrong = ask(2, "graph {", "diagnostics");
        assert!(!wrong["result"].as_array().unwrap().is_empty());
        assert_eq!(ask(2, "graph {", "diagnostics"), wrong);
        assert_ne!(ask(3, DOUBLED, "textDocument/semanticTokens/full")["result"]["data"], json!([]));
        assert_eq!(ask(3, DOUBLED, "unknown")["status"], "wrong");
        assert!(ask(3, DOUBLED, "capabilities")["result"]["semanticTokensProvider"].is_object());
    }
}
