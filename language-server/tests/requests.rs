// SPDX-License-Identifier: Apache-2.0
//! Each request of an editor, over the standard input and output of the server program.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod editor;

use editor::{Editor, MODEL, MODULE, place, position, url};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A folder with the files of the model, of which the main file is open.
struct Session {
    _folder: tempfile::TempDir,
    main: PathBuf,
    module: PathBuf,
    editor: Editor,
}

fn session() -> Session {
    let folder = tempfile::tempdir().unwrap();
    let (main, module) = (folder.path().join("main.sknd"), folder.path().join("mine.sknd"));
    std::fs::write(&module, MODULE).unwrap();
    std::fs::write(&main, MODEL).unwrap();
    let mut editor = Editor::start(&folder.path().join("cache"));
    editor.open(&main, MODEL);
    Session { _folder: folder, main, module, editor }
}

/// `file:line:column` of locations.
fn places(locations: &Value) -> Vec<String> {
    let place = |l: &Value| {
        let (uri, start) = (l["uri"].as_str().unwrap(), &l["range"]["start"]);
        format!("{}:{}:{}", uri.rsplit('/').next().unwrap(), start["line"], start["character"])
    };
    locations.as_array().unwrap().iter().map(place).collect()
}

/// A text after the edits of one file.
fn edited(text: &str, edits: &Value) -> String {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().unwrap() as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + position["character"].as_u64().unwrap() as usize
    };
    let mut edits: Vec<(usize, usize, &str)> = edits
        .as_array()
        .unwrap()
        .iter()
        .map(|e| (offset(&e["range"]["start"]), offset(&e["range"]["end"]), e["newText"].as_str().unwrap()))
        .collect();
    edits.sort_unstable();
    let mut result = text.to_owned();
    for (start, end, new) in edits.into_iter().rev() {
        result.replace_range(start..end, new);
    }
    result
}

#[test]
fn references_and_highlights() {
    let Session { _folder, main, module, mut editor } = session();
    let mut references = |path: &Path, text: &str, needle: &str, declaration: bool| {
        let mut params = place(path, text, needle);
        params["context"] = json!({"includeDeclaration": declaration});
        places(&editor.ask("textDocument/references", params))
    };
    assert_eq!(references(&main, MODEL, "c);", true), ["main.sknd:14:8", "main.sknd:15:23"]);
    assert_eq!(references(&main, MODEL, "c);", false), ["main.sknd:15:23"]);
    assert_eq!(references(&main, MODEL, "twice(c)", true), ["main.sknd:15:17", "mine.sknd:1:9"]);
    assert_eq!(references(&module, MODULE, "s..];", true).len(), 3);
    assert_eq!(references(&main, MODEL, "padding", true), ["main.sknd:14:20"]);
    let highlights = editor.ask_at("textDocument/documentHighlight", &module, MODULE, "x[i..]");
    let kinds: Vec<_> = highlights.as_array().unwrap().iter().map(|h| h["kind"].as_u64().unwrap()).collect();
    // The declaration is a write, the use is a read.
    assert_eq!(kinds, [3, 2]);
    editor.quit();
}

#[test]
fn names_are_changed_wherever_they_occur() {
    let Session { _folder, main, module, mut editor } = session();
    let mut rename = |path: &Path, text: &str, needle: &str, new: &str| {
        let mut params = place(path, text, needle);
        params["newName"] = json!(new);
        let response = editor.answer("textDocument/rename", params);
        response.result.map(|r| r["changes"].clone()).ok_or_else(|| response.error.unwrap().message)
    };
    let changes = rename(&main, MODEL, "twice(c)", "doubled").unwrap();
    let (new_main, new_module) =
        (edited(MODEL, &changes[url(&main)]), edited(MODULE, &changes[url(&module)]));
    assert_eq!(new_main, MODEL.replace("twice", "doubled"));
    assert_eq!(new_module, MODULE.replace("operator twice", "operator doubled"));
    let changes = rename(&main, MODEL, "c = nn", "d").unwrap();
    assert_eq!(edited(MODEL, &changes[url(&main)]), MODEL.replace("c = nn", "d = nn").replace("(c)", "(d)"));
    for (needle, new, reason) in [
        ("c = nn", "x", "`G` already has the name `x`"),
        ("c = nn", "graph", "`graph` is not a name"),
        ("c = nn", "1c", "`1c` is not a name"),
        ("conv{", "convolve", "this name belongs to the library"),
        ("padding=", "border", "this name belongs to the library"),
        ("compose", "lower", "this name belongs to the language"),
        ("nn.conv", "net", "the module `nn` is named after its file"),
        ("= nn", "net", "this position has no name"),
    ] {
        let error = rename(&main, MODEL, needle, new).unwrap_err();
        assert!(error.starts_with(reason), "{needle}: {error}");
    }
    let range = editor.ask_at("textDocument/prepareRename", &main, MODEL, "c = nn");
    assert_eq!(range["end"], json!({"line": 14, "character": 9}));
    let response = editor.answer("textDocument/prepareRename", place(&main, MODEL, "conv{"));
    assert_eq!(response.error.unwrap().message, "this name belongs to the library");
    editor.quit();
}

/// The changed name also occurs in braces of strings.
#[test]
fn values_in_strings_are_changed() {
    let Session { _folder, main, mut editor, .. } = session();
    let text_with = |name: &str| {
        "operator f {
    @attrib { N: int; }
    @input { x: real[k]; }
    @output { y: real[k]; }
    @assert { N > 0: 'n is {N}, and {N + k}'; }
    @lower { y[i,] = x[i,] * real(N), i < k; }
}
"
        .replace('N', name)
    };
    let text = text_with("n");
    editor.open(&main, &text);
    let mut params = place(&main, &text, "n: int");
    params["newName"] = json!("count");
    let changes = editor.ask("textDocument/rename", params)["changes"].clone();
    assert_eq!(edited(&text, &changes[url(&main)]), text_with("count"));
    editor.quit();
}

#[test]
fn fixes_carry_out_the_help() {
    let Session { _folder, main, mut editor, .. } = session();
    for (wrong, title, right) in [
        (MODEL.replace("twice(c)", "twise(c)"), "Change to `twice`", MODEL.to_owned()),
        (MODEL.replace("padding=", "pading="), "Change to `padding`", MODEL.to_owned()),
        (MODEL.replace("@input", "@imput"), "Change to `@input`", MODEL.to_owned()),
        (MODEL.replace("x: real[1", "x: reel[1"), "Change to `real`", MODEL.to_owned()),
        (MODEL.replace("twice(c);", "twice(c;"), "Insert `)`", MODEL.to_owned()),
        (MODEL.replace("twice(c);", "twice(c)"), "Insert `;`", MODEL.to_owned()),
        (MODEL.replace("import nn;\n", ""), "Insert `import nn;`", MODEL.to_owned()),
    ] {
        assert_ne!(wrong, MODEL);
        editor.open(&main, &wrong);
        let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
        let params = json!({
            "textDocument": {"uri": url(&main)}, "range": whole, "context": {"diagnostics": []},
        });
        let actions = editor.ask("textDocument/codeAction", params);
        let action = &actions[0];
        assert_eq!(action["title"], title, "{actions}");
        assert_eq!(edited(&wrong, &action["edit"]["changes"][url(&main)]), right);
    }
    editor.quit();
}

#[test]
fn types_are_shown_where_they_are_not_written() {
    let Session { _folder, main, mut editor, .. } = session();
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let params = json!({"textDocument": {"uri": url(&main)}, "range": range});
    let hints = editor.ask("textDocument/inlayHint", params);
    let labels: Vec<_> = hints.as_array().unwrap().iter().map(|h| h["label"].as_str().unwrap()).collect();
    // `y` has a declaration with a type. The attributes after `padding` have defaults.
    let [r#type, defaults] = labels[..] else { panic!("{labels:?}") };
    assert_eq!(r#type, ": real[1,4,8,8]");
    assert_eq!(hints[0]["position"], json!({"line": 14, "character": 9}));
    assert!(defaults.starts_with(", ") && defaults.contains("stride=1"), "{defaults}");
    assert!(!defaults.contains("padding="), "{defaults}");
    assert_eq!(hints[1]["position"], json!({"line": 14, "character": 40}));
    editor.quit();
}

#[test]
fn hints_have_lengths_of_packs_and_all_omitted_attributes() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.sknd");
    let text = "import layout;

operator scaled {
    @attrib { factor: real = 2.0; offset: real = 0.5; }
    @input { x: real[n]; }
    @output { y: real[n]; }
    @lower { y[i,] = x[i,] * factor + offset, i < n; }
}

graph G {
    @input { x: real[8]; }
    @output { y: real[8]; }
    @compose {
        parts = layout.split{axis=0, count=2}(x);
        a = layout.concat{axis=0}(parts);
        b = scaled(a);
        c = scaled{}(b);
        y = scaled{offset=1.0}(c);
    }
}
";
    std::fs::write(&main, text).unwrap();
    let mut editor = Editor::start(&folder.path().join("cache"));
    editor.open(&main, text);
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let hints =
        editor.ask("textDocument/inlayHint", json!({"textDocument": {"uri": url(&main)}, "range": range}));
    let labels: Vec<_> = hints.as_array().unwrap().iter().map(|h| h["label"].as_str().unwrap()).collect();
    let wanted = [
        ": real[4]..(2)",
        ", sizes=[(z / (count >> 1))..(count >> 0)]",
        ": real[8]",
        ": real[8]",
        "{factor=2.0, offset=0.5}",
        ": real[8]",
        "factor=2.0, offset=0.5",
        ", factor=2.0",
    ];
    assert_eq!(labels, wanted);
    editor.quit();
}

#[test]
fn tokens_have_types() {
    let Session { _folder, main, mut editor, .. } = session();
    let document = json!({"textDocument": {"uri": url(&main)}});
    let tokens = editor.ask("textDocument/semanticTokens/full", document);
    let numbers: Vec<u64> = tokens["data"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    let (mut line, mut column) = (0, 0);
    let mut types = Vec::new();
    for token in numbers.chunks_exact(5) {
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        line += token[0];
        let text = MODEL.lines().nth(line as usize).unwrap();
        let word = &text[column as usize..(column + token[2]) as usize];
        types.push(format!("{word}:{}", token[3]));
    }
    // The numbers are the positions in the legend of the capabilities.
    for wanted in [
        "import:3",
        "nn:6",
        "graph:3",
        "G:8",
        "input:12",
        "x:9",
        "real:4",
        "8:2",
        "conv:7",
        "padding:10",
        "c:11",
    ] {
        assert!(types.iter().any(|f| f == wanted), "{wanted} of {types:?}");
    }
    let range = json!({"start": {"line": 14, "character": 0}, "end": {"line": 15, "character": 0}});
    let params = json!({"textDocument": {"uri": url(&main)}, "range": range});
    let part = editor.ask("textDocument/semanticTokens/range", params);
    assert_eq!(part["data"][0], 14);
    editor.quit();
}

#[test]
fn signatures_are_shown_while_arguments_are_written() {
    let Session { _folder, main, mut editor, .. } = session();
    let help = editor.ask_at("textDocument/signatureHelp", &main, MODEL, "(x, w)");
    assert_eq!(help, Value::Null, "no bracket is open before the first one");
    let help = editor.ask_at("textDocument/signatureHelp", &main, MODEL, "w);");
    let signature = &help["signatures"][0];
    assert!(signature["label"].as_str().unwrap().starts_with("nn.conv{"), "{signature}");
    let active = help["activeParameter"].as_u64().unwrap() as usize;
    assert!(signature["parameters"][active]["label"].as_str().unwrap().starts_with("filter"), "{help}");
    editor.quit();
}

#[test]
fn calls_are_listed_in_both_directions() {
    let Session { _folder, main, mut editor, .. } = session();
    let item = editor.ask_at("textDocument/prepareCallHierarchy", &main, MODEL, "twice(c)")[0].clone();
    assert_eq!((item["name"].as_str(), item["detail"].as_str()), (Some("twice"), Some("mine")));
    let calls = editor.ask("callHierarchy/incomingCalls", json!({"item": item}));
    assert_eq!(calls[0]["from"]["name"], "G");
    assert_eq!(calls[0]["fromRanges"][0]["start"], position(MODEL, MODEL.find("twice(c)").unwrap()));
    let graph = editor.ask_at("textDocument/prepareCallHierarchy", &main, MODEL, "G {")[0].clone();
    let calls = editor.ask("callHierarchy/outgoingCalls", json!({"item": graph}));
    let mut names: Vec<_> =
        calls.as_array().unwrap().iter().map(|c| c["to"]["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["conv", "twice"]);
    editor.quit();
}

#[test]
fn files_are_folded_selected_linked_and_searched() {
    let Session { _folder, main, module, mut editor } = session();
    let document = json!({"textDocument": {"uri": url(&main)}});
    let folds = editor.ask("textDocument/foldingRange", document.clone());
    assert!(
        folds.as_array().unwrap().iter().any(|f| f["startLine"] == 0 && f["kind"] == "imports"),
        "{folds}"
    );
    let links = editor.ask("textDocument/documentLink", document);
    assert_eq!(links[1]["target"], url(&module));
    let at = position(MODEL, MODEL.find("c);").unwrap());
    let params = json!({"textDocument": {"uri": url(&main)}, "positions": [at]});
    let mut selection = editor.ask("textDocument/selectionRange", params)[0].clone();
    let mut depth = 0;
    while let Some(parent) = selection.get("parent").cloned() {
        depth += 1;
        selection = parent;
    }
    assert!(depth > 4);
    assert_eq!(selection["range"]["start"], json!({"line": 0, "character": 0}));
    let symbols = editor.ask("workspace/symbol", json!({"query": "TWI"}));
    assert_eq!(symbols[0]["name"], "twice");
    assert_eq!(symbols[0]["containerName"], "mine");
    editor.quit();
}

#[test]
fn hover_explains_blocks_and_functions() {
    let Session { _folder, module, mut editor, .. } = session();
    let text = MODULE.replace("2.0 * x[i..]", "`sqrt`(x[i..])");
    editor.open(&module, &text);
    for (needle, wanted) in [("lower", "Formulas of the elements"), ("sqrt", "`sqrt`(x)")] {
        let hover = editor.ask_at("textDocument/hover", &module, &text, needle);
        let value = hover["contents"]["value"].as_str().unwrap();
        assert!(value.contains(wanted), "{value}");
    }
    editor.quit();
}

/// Each change is an edit of the text before it.
#[test]
fn changes_are_parts_of_the_text() {
    let Session { _folder, main, mut editor, .. } = session();
    let at = |needle: &str| position(MODEL, MODEL.find(needle).unwrap());
    let insertion = json!({"range": {"start": at("twice(c)"), "end": at("(c)")}, "text": "twise"});
    let end = position(MODEL, MODEL.len());
    let appended = json!({"range": {"start": end, "end": end}, "text": "# The end.\n"});
    editor.edit(&main, &json!([insertion, appended]));
    let diagnostics = editor.diagnostics(&main);
    assert!(diagnostics[0].starts_with("15:17 SK") && diagnostics[0].contains("twise"), "{diagnostics:?}");
    editor.quit();
}

#[test]
fn texts_without_files_are_analysed() {
    let mut editor = Editor::start(Path::new("/nowhere"));
    let text =
        "operator f { @input { x: real[n]; } @output { y: real[n]; } @lower { y[i,] = z[i,], i < n; } }\n";
    let uri = "untitled:Untitled-1";
    editor.open_uri(uri, text);
    let symbols = editor.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": uri}}));
    assert_eq!(symbols[0]["name"], "f");
    let published = editor.published(uri);
    assert!(published[0].contains("`z`"), "{published:?}");
    editor.quit();
}

/// Comments of operators are sent on demand.
#[test]
fn completed_operators_have_signatures_and_comments() {
    let Session { _folder, main, mut editor, .. } = session();
    let text = MODEL.replace("mine.twice(c)", "mine.");
    editor.open(&main, &text);
    let items = editor.ask_at("textDocument/completion", &main, &text, ";\n    }\n}");
    let twice = items.as_array().unwrap().iter().find(|item| item["label"] == "twice").unwrap();
    assert_eq!(twice["detail"], "(x: real[s..])");
    assert_eq!(twice["documentation"], Value::Null);
    let resolved = editor.ask("completionItem/resolve", twice.clone());
    assert!(
        resolved["documentation"]["value"].as_str().unwrap().contains("Twice of everything."),
        "{resolved}"
    );
    editor.quit();
}

/// Messages shorten long texts; fixes do not.
#[test]
fn fixes_keep_long_texts() {
    let Session { _folder, main, mut editor, .. } = session();
    let long = format!("{}\n        + count", ["count"; 12].join(" + "));
    let text = format!(
        "operator f {{
    @attrib {{ count: int; }}
    @input {{ x: real[k]; }}
    @output {{ y: real[k]; }}
    @lower {{ y[i,] = x[i,] * `sqrt`({long}), i < k; }}
}}
"
    );
    editor.open(&main, &text);
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let params = json!({
        "textDocument": {"uri": url(&main)}, "range": whole, "context": {"diagnostics": []},
    });
    let actions = editor.ask("textDocument/codeAction", params);
    let fixed = edited(&text, &actions[0]["edit"]["changes"][url(&main)]);
    assert_eq!(fixed, text.replace(&long, &format!("real({long})")));
    editor.quit();
}
