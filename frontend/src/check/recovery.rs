// SPDX-License-Identifier: Apache-2.0
//! Tests that an error in one token yields one diagnostic at its location, and no follow-up errors.

use crate::check::testing::{Document, check, in_compose, in_document};
use crate::source::SourceMap;
use crate::syntax::token::{Bracket, Token, TokenKind, scan};

const MODEL: &str = include_str!("recovery.sknd");

/// All messages about a main file as `line:column: message`.
fn messages(text: &str) -> Vec<String> {
    let document: Document = in_document(text);
    let mut sources = SourceMap::default();
    let file = sources.add("main.sknd", text);
    let locations = sources.get(file).unwrap();
    let reported = check(&document).into_iter();
    let line = |start| {
        let (line, column) = locations.line_column(start);
        format!("{line}:{column}")
    };
    reported.map(|d| format!("{}: {}", line(d.span.unwrap().start), d.message)).collect()
}

/// Brackets, `;` and `@`: an error in one of them changes the meaning of everything after it.
fn is_structural(token: &Token) -> bool {
    matches!(token.kind, TokenKind::Open(_) | TokenKind::Close(_) | TokenKind::Semicolon | TokenKind::At)
}

/// The model with each of these tokens removed or doubled, and whether the token is removed.
fn slips(text: &str) -> Vec<(String, Token<'_>, bool)> {
    let mut texts = Vec::new();
    for token in scan(text).into_iter().filter(is_structural) {
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
    assert_eq!(messages(MODEL), Vec::<String>::new());
    for (text, token, left_out) in slips(MODEL) {
        let reported = messages(&text);
        let location = MODEL.get(..token.end).unwrap();
        let line = location.lines().next_back().unwrap();
        // An empty statement is ignored; doubled parentheses and lists have another meaning, and may be correct.
        let may_be_right = !left_out
            && (token.kind == TokenKind::Semicolon
                || matches!(token.kind, TokenKind::Open(b) | TokenKind::Close(b) if b != Bracket::Curly));
        match reported.len() {
            1 => {}
            0 if may_be_right => {}
            _ => panic!("left out: {left_out}, at `{line}`: {reported:#?}"),
        }
    }
}

/// Tokens that are often mistyped, and the mistyped forms.
fn mistyped(token: &Token) -> &'static [&'static str] {
    match token.text {
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
        let others = mistyped(&token).iter().copied();
        for other in others.chain([" "]) {
            let reported = messages(&format!("{before}{other}{after}"));
            if reported.len() > 1 {
                let line = before.lines().count();
                wrong.push(format!("{line}: `{written}` as `{other}`: {reported:#?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A semicolon between two wrong statements is left alone, although one wrong statement is fewer than two.
#[test]
fn two_mistakes_are_two_errors() {
    let text = "operator o {\n    @attrib { k: int; }\n    @using {\n        a = 1_000; b = 0x10;\n    }\n    @output { y: int[k]; }\n    @lower { y[i,] = i, i < k; }\n}\n";
    let reported = messages(&format!("{MODEL}{text}"));
    let wanted = ["`1_000` is neither", "`0x10` is neither"];
    assert_eq!(reported.len(), wanted.len(), "{reported:#?}");
    let as_wanted = |(reported, wanted): (&String, &str)| reported.contains(wanted);
    assert!(reported.iter().zip(wanted).all(as_wanted), "{reported:#?}");
}

/// Help is given for an error, and not for correct text that looks similar.
#[test]
fn slips_are_reported_with_help() {
    let advice = |written: &str, slip: &str| {
        let text = MODEL.replacen(written, slip, 1);
        assert_ne!(text, MODEL, "{written}");
        let reported = check(&in_document(&text));
        let helps = reported.into_iter().map(|d| d.help.unwrap_or_default());
        helps.collect::<Vec<_>>()
    };
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

/// Errors in one definition do not hide errors in other definitions.
#[test]
fn a_slip_hides_nothing_elsewhere() {
    let wrong = MODEL.replace("x[i..] * 2.0", "nowhere[i..] * 2.0");
    for (text, token, left_out) in slips(&wrong) {
        let reported = messages(&text);
        let inside = |name: &str| {
            let start = wrong.find(name).unwrap();
            let end = wrong.get(start..).unwrap().find("\n}").unwrap() + start + 2;
            (start..end).contains(&token.start)
        };
        if !inside("operator twice") {
            let named = reported.iter().any(|m| m.contains("`nowhere` is not declared"));
            assert!(named, "left out: {left_out}, {token:?}: {reported:#?}");
        }
    }
}

/// Names that unparsed text might declare are not reported; all other undeclared names are reported.
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
        messages(text),
        [
            "4:27: the output `z` is not assigned",
            "6:17: expected an expression or `..`, found `;`",
            "8:16: `lost` is not declared",
        ]
    );
}
