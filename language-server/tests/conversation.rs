// SPDX-License-Identifier: Apache-2.0
//! Tests of the server program over its standard input and output, as an editor uses it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod editor;

use editor::{Editor, MODEL, MODULE, url};
use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Stdio};

#[test]
fn requests_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let (main, module) = (folder.path().join("main.sknd"), folder.path().join("mine.sknd"));
    std::fs::write(&module, MODULE).unwrap();
    let mut editor = Editor::start(&folder.path().join("cache"));
    editor.open(&main, MODEL);
    assert_eq!(editor.diagnostics(&main), Vec::<String>::new());

    let hover = editor.ask_at("textDocument/hover", &main, MODEL, "c = nn");
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("(tensor) c = nn.conv") && text.contains("real[1,4,8,8]"), "{text}");
    let hover = editor.ask_at("textDocument/hover", &main, MODEL, "twice(c)");
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("operator mine.twice") && text.contains("Twice of everything."), "{text}");
    let hover = editor.ask_at("textDocument/hover", &main, MODEL, "padding=");
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.contains("(attribute of conv) padding: optional int"), "{text}");

    let location = editor.ask_at("textDocument/definition", &main, MODEL, "twice(c)");
    assert_eq!(location["uri"], url(&module));
    assert_eq!(location["range"]["start"], json!({"line": 1, "character": 9}));
    let location = editor.ask_at("textDocument/definition", &main, MODEL, "c);");
    assert_eq!(location["range"]["start"]["line"], 14);
    let location = editor.ask_at("textDocument/definition", &main, MODEL, "conv{");
    let library = location["uri"].as_str().unwrap().strip_prefix("file://").unwrap();
    let line = location["range"]["start"]["line"].as_u64().unwrap() as usize;
    let text = std::fs::read_to_string(library).unwrap();
    assert!(text.lines().nth(line).unwrap().starts_with("operator conv"), "{library}:{line}");

    let symbols = editor.ask("textDocument/documentSymbol", json!({"textDocument": {"uri": url(&main)}}));
    assert_eq!(symbols[0]["name"], "G");
    assert_eq!(symbols[0]["children"][1]["name"], "w");
    let response = editor.answer("textDocument/moniker", json!({}));
    assert_eq!(response.error.unwrap().code, -32601);
    editor.quit();
}

#[test]
fn diagnostics_follow_the_text() {
    let folder = tempfile::tempdir().unwrap();
    let (main, module) = (folder.path().join("main.sknd"), folder.path().join("mine.sknd"));
    std::fs::write(&module, MODULE).unwrap();
    let mut editor = Editor::start(&folder.path().join("cache"));
    // Two statements that cannot be parsed, and an unknown name.
    let broken = MODEL.replace("c = nn.conv", "c = = nn.conv").replace("x: real[1,", "x: rael[1,");
    editor.open(&main, &broken);
    let diagnostics = editor.diagnostics(&main);
    assert!(diagnostics.iter().any(|d| d.starts_with("5:") && d.contains("SK0301")), "{diagnostics:?}");
    assert!(diagnostics.iter().any(|d| d.starts_with("14:")), "{diagnostics:?}");
    editor.change(&main, MODEL);
    assert_eq!(editor.diagnostics(&main), Vec::<String>::new());

    // An error in a module is shown there, and where the module is used; the call stack is related information.
    let wrong = MODULE.replace("s..];\n    }\n    @lower", "s.., 1];\n    }\n    @lower");
    editor.open(&module, &wrong);
    assert!(!editor.diagnostics(&module).is_empty());
    editor.change(&module, MODULE);
    assert_eq!(editor.diagnostics(&module), Vec::<String>::new());

    let shapes = MODEL.replace("w: real[4, 3, 3, 3]", "w: real[4, 2, 3, 3]");
    editor.change(&main, &shapes);
    let diagnostics = editor.diagnostics(&main);
    assert!(diagnostics[0].starts_with("14:") && diagnostics[0].contains("SK0850"), "{diagnostics:?}");
    editor.quit();
}

/// An error does not change the analysis of the correct text around it.
#[test]
fn correct_parts_of_broken_files_are_analysed() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.sknd");
    std::fs::write(folder.path().join("mine.sknd"), MODULE).unwrap();
    let mut editor = Editor::start(&folder.path().join("cache"));
    let text = MODEL.replace(
        "        y = mine",
        "        d = mine.twice(c);\n        e = mine.twice(d);\n        y = mine",
    ) + "
operator own {
    @input { a: real[n]; }
    @output { b: real[n]; }
    @lower { b[i,] = a[i,], i < n; }
}
";
    for (written, wrong) in [
        // syntax: a missing bracket, a missing brace, an extra brace, a missing `;`, an incomplete statement
        ("y = mine.twice(c);", "y = mine.twice(c;"),
        ("    @output {\n", "    @output\n"),
        ("    @output {\n", "    }\n    @output {\n"),
        ("y = mine.twice(c);", "y = mine.twice(c)"),
        ("y = mine.twice(c);", "y = mine."),
        ("e = mine.twice(d);", "e = mine.twice("),
        // names, types, shapes: of a statement, a declaration, another operator
        ("y = mine.twice(c);", "y = mine.twise(c);"),
        ("y = mine.twice(c);", "y = mine.twice(nowhere);"),
        ("y: real[1, 4, 8, 8]", "y: real[1, 4, 8, 9]"),
        ("    @variable {\n", "    @variable {\n        v: rael[2];\n"),
        ("b[i,] = a[i,]", "b[i,] = q[i,]"),
        ("b[i,] = a[i,], i < n;", "b[i,] = ] a[i,], i < n;"),
    ] {
        let broken = text.replace(written, wrong);
        assert_ne!(broken, text, "{written}");
        editor.open(&main, &broken);
        assert!(!editor.diagnostics(&main).is_empty(), "{wrong}");
        for (name, location) in [("c", "c = nn"), ("d", "d = mine")] {
            let hover = editor.ask_at("textDocument/hover", &main, &broken, location);
            let hover = hover["contents"]["value"].as_str().unwrap();
            let wanted = format!("# here: {name}: real[1,4,8,8]");
            assert!(hover.contains(&wanted), "{wrong}: {hover}");
        }
        let hover = editor.ask_at("textDocument/hover", &main, &broken, "w: real");
        let hover = hover["contents"]["value"].as_str().unwrap();
        assert!(hover.contains("# here: w: real[4,3,3,3]"), "{wrong}: {hover}");
        // Go to the definition of a name, in the graph and in another module.
        let location = editor.ask_at("textDocument/definition", &main, &broken, "c);\n        e");
        let line = broken[..broken.find("c = nn").unwrap()].matches('\n').count();
        assert_eq!(location["range"]["start"]["line"], line, "{wrong}");
        let location = editor.ask_at("textDocument/definition", &main, &broken, "twice(c);\n        e");
        assert_eq!(location["range"]["start"]["line"], 1, "{wrong}");
        // Completion offers all names of the graph after the last correct statement.
        let mut typed = broken.clone();
        typed.insert_str(typed.find("        e = mine").unwrap(), "        f = ");
        editor.open(&main, &typed);
        let items = editor.ask_at("textDocument/completion", &main, &typed, "        e = mine");
        let items = items.as_array().unwrap().iter();
        let labels: Vec<&str> = items.map(|i| i["label"].as_str().unwrap()).collect();
        for name in ["x", "w", "c", "d"] {
            assert!(labels.contains(&name), "{wrong}: {name} of {labels:?}");
        }
    }
    editor.quit();
}

#[test]
fn completion_follows_the_position() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.sknd");
    std::fs::write(folder.path().join("mine.sknd"), MODULE).unwrap();
    let mut editor = Editor::start(&folder.path().join("cache"));
    for (typed, wanted, unwanted) in [
        ("y = mine.", "twice", "conv"),
        ("y = nn.", "conv", "twice"),
        ("y = nn.conv{stride=2, ", "dilation", "stride"),
        ("y = ", "x", "stride"),
        ("} @", "assert", "x"),
        ("y = `", "exp", "x"),
    ] {
        // The rest of the file is not written yet.
        let end = MODEL.find("c = nn").unwrap();
        let text = format!("{}{typed}", &MODEL[..end]);
        editor.open(&main, &text);
        let line = text.matches('\n').count();
        let character = text.len() - text.rfind('\n').unwrap() - 1;
        let location = json!({
            "textDocument": {"uri": url(&main)},
            "position": {"line": line, "character": character},
        });
        let items = editor.ask("textDocument/completion", location);
        let labels: Vec<&str> =
            items.as_array().unwrap().iter().map(|i| i["label"].as_str().unwrap()).collect();
        assert!(labels.contains(&wanted) && !labels.contains(&unwanted), "{typed}: {labels:?}");
    }
    editor.quit();
}

#[test]
fn long_lists_of_completions_have_the_matching_names() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.sknd");
    let mut editor = Editor::start(&folder.path().join("cache"));
    let operator = |n| {
        format!(
            "operator f{n} {{ @input {{ x: real[n]; }} @output {{ y: real[n]; }} @lower {{ y[i,] = x[i,], i < n; }} }}\n"
        )
    };
    let operators: String = (0..3000).map(operator).collect();
    for (typed, wanted) in [
        ("f2987", vec!["f2987"]),
        ("F2987", vec!["f2987"]),
        ("2987", vec!["f2987"]),
        ("", vec!["x", "if", "f0"]),
    ] {
        let text = format!(
            "{operators}graph G {{\n    @input {{ x: real[2]; }}\n    @compose {{\n        y = {typed}"
        );
        editor.open(&main, &text);
        let line = text.matches('\n').count();
        let location = json!({
            "textDocument": {"uri": url(&main)},
            "position": {"line": line, "character": 12 + typed.len()},
        });
        let answer = editor.ask("textDocument/completion", location);
        assert_eq!(answer["isIncomplete"], true);
        let labels: Vec<&str> =
            answer["items"].as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap()).collect();
        assert_eq!(labels.len(), 1000);
        assert!(wanted.iter().all(|name| labels.contains(name)), "{typed}: {:?}", &labels[..20]);
    }
    editor.quit();
}

/// Every request has a response, even for unfinished text.
#[test]
fn requests_succeed_on_unfinished_texts() {
    let folder = tempfile::tempdir().unwrap();
    let main = folder.path().join("main.sknd");
    std::fs::write(folder.path().join("mine.sknd"), MODULE).unwrap();
    let mut editor = Editor::start(&folder.path().join("cache"));
    let text = format!("{MODEL}{}", MODULE.replace("Twice", "\u{1F600} Twice"));
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).step_by(17).collect();
    for end in ends {
        let part = &text[..end];
        editor.open(&main, part);
        let position = json!({"line": part.matches('\n').count(), "character": 1000});
        let location = json!({"textDocument": {"uri": url(&main)}, "position": position});
        for method in ["hover", "definition", "completion"] {
            editor.ask(&format!("textDocument/{method}"), location.clone());
        }
    }
    editor.quit();
}

#[test]
fn texts_are_formatted_unless_they_are_broken() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("main.sknd");
    let mut editor = Editor::start(folder.path());
    let mut ask = |text: &str| {
        editor.open(&path, text);
        let options = json!({"tabSize": 4, "insertSpaces": true});
        let params = json!({"textDocument": {"uri": url(&path)}, "options": options});
        editor.ask("textDocument/formatting", params)
    };
    let edits = ask("graph g{@input{x:real[2];}\n@output{y:real[2];}@compose{y=[x][0];}} # ä\n");
    assert_eq!(edits[0]["range"]["end"], json!({"line": 2, "character": 0}));
    let formatted = edits[0]["newText"].as_str().unwrap();
    assert!(formatted.starts_with("graph g {\n    @input { x: real[2]; }\n"), "{formatted}");
    assert_eq!(ask(formatted), json!([]));
    assert_eq!(ask("graph g { @input {"), Value::Null);
    editor.quit();
}

/// The server's output for these bytes, whether it exits successfully, and its errors.
fn answers(input: &[u8]) -> (String, bool, String) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_skript-language-server"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = server.stdin.take().unwrap();
    stdin.write_all(input).unwrap();
    drop(stdin);
    let output = server.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), output.status.success(), text(output.stderr))
}

fn frame(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#;

/// Invalid JSON does not end the server.
#[test]
fn malformed_messages_are_answered_and_the_conversation_goes_on() {
    let mut conversation = frame("{not json") + &frame(HELLO);
    conversation += &frame(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#);
    conversation += &frame("[1, 2");
    conversation += &frame(r#"{"jsonrpc":"2.0","id":2,"method":7}"#);
    conversation += &frame(r#"{"jsonrpc":"2.0","id":3,"method":"textDocument/hover"}"#);
    conversation += &frame(r#"{"jsonrpc":"2.0","id":4,"method":"shutdown"}"#);
    conversation += &frame(r#"{"jsonrpc":"2.0","id":5,"method":"textDocument/hover"}"#);
    conversation += &frame(r#"{"jsonrpc":"2.0","method":"exit"}"#);
    let (text, is_success, errors) = answers(conversation.as_bytes());
    assert!(is_success, "{errors}");
    assert_eq!(text.matches("-32700").count(), 2, "{text}");
    assert_eq!(text.matches("-32602").count(), 1, "{text}");
    assert_eq!(text.matches("-32600").count(), 2, "{text}");
    for id in 1..=5 {
        assert_eq!(text.matches(&format!("\"id\":{id}")).count(), 1, "{text}");
    }
}

/// The first length once aborted the server, the second length ended it by a panic. The stated bytes never arrive.
#[test]
fn absurd_lengths_are_refused() {
    for length in ["99999999999999", "18446744073709551616", "68719476736"] {
        let header = format!("Content-Length: {length}\r\n\r\n{{}}");
        let (text, _, errors) = answers((frame(HELLO) + &header).as_bytes());
        assert!(text.contains("exceeds the limit of 67108864 bytes"), "{length}: {text}");
        assert!(!errors.contains("panicked"), "{length}: {errors}");
    }
    let (_, is_success, errors) = answers(b"Content-Length: many\r\n\r\n{}");
    assert!(!is_success);
    assert!(errors.contains("its end is unknown"), "{errors}");
}
