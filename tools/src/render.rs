// SPDX-License-Identifier: Apache-2.0
//! Renders diagnostics as text.

mod short;

use skript_frontend::diagnostics::{Diagnostic, Severity, json, render as human};
use skript_frontend::source::SourceMap;

use crate::command_line::MessageFormat;
use crate::console::Console;

/// The maximum number of diagnostics that are written for people.
const MAX_SHOWN: usize = 200;

/// Writes diagnostics in the given order.
pub fn render(diagnostics: &[Diagnostic], sources: &SourceMap, format: MessageFormat, console: &mut Console) {
    // Other programs read JSON.
    let shown = if format == MessageFormat::Json { diagnostics.len() } else { MAX_SHOWN };
    for diagnostic in selected(diagnostics, shown) {
        let text = match format {
            MessageFormat::Human => human::render(diagnostic, sources, console.is_terminal()),
            MessageFormat::Short => short::render(diagnostic, sources),
            MessageFormat::Json => format!("{}\n", json(diagnostic, sources)),
        };
        console.write(&text);
    }
    match diagnostics.len().saturating_sub(shown) {
        0 => {}
        more => console.write(&format!("note: {more} more errors and warnings are not shown\n")),
    }
}

/// At most `most` of the diagnostics, in their order: warnings are omitted before errors.
fn selected(diagnostics: &[Diagnostic], most: usize) -> impl Iterator<Item = &Diagnostic> {
    let errors = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    let (mut errors_left, mut warnings_left) = (most, most.saturating_sub(errors));
    diagnostics.iter().filter(move |diagnostic| {
        let left = match diagnostic.severity {
            Severity::Error => &mut errors_left,
            Severity::Warning => &mut warnings_left,
        };
        let is_selected = *left > 0;
        *left = left.saturating_sub(1);
        is_selected
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_frontend::diagnostics::Sink;
    use skript_frontend::diagnostics::codes::SYNTAX;
    use skript_frontend::source::Span;

    fn example() -> (SourceMap, Diagnostic) {
        let mut sources = SourceMap::default();
        let main = sources.add("main.sknd", "import nn;\ny = nn.f(x);\n");
        let nn = sources.add("nn.sknd", "os = is + fd;\n");
        let diagnostic = Diagnostic::error(&SYNTAX, Span::new(nn, 5, 7), "packs differ")
            .with_label("length 2")
            .with_label_at(Span::new(nn, 10, 12), "length 3")
            .with_note(Some(Span::new(main, 15, 19)), "in operator `f`")
            .with_note(None, "n = 1")
            .with_help("give 2");
        (sources, diagnostic)
    }

    #[test]
    fn human_shows_lines_carets_and_notes() {
        let (sources, diagnostic) = example();
        let text = human::render(&diagnostic, &sources, false);
        let want = "\
error[SK0201]: packs differ
 --> nn.sknd:1:6
  |
1 | os = is + fd;
  |      ^^   -- length 3
  |      |
  |      length 2
  |
note: in operator `f`
 --> main.sknd:2:5
  |
2 | y = nn.f(x);
  |     ^^^^
note: n = 1
help: give 2

";
        assert_eq!(text, want);
    }

    #[test]
    fn short_has_a_line_for_each_location() {
        let (sources, diagnostic) = example();
        assert_eq!(
            short::render(&diagnostic, &sources),
            "nn.sknd:1:6: error[SK0201]: packs differ\nnn.sknd:1:11: note: length 3\n\
             main.sknd:2:5: note: in operator `f`\nnote: n = 1\nhelp: give 2\n"
        );
    }

    /// An error in `layout.concat{axis=3}([x])` is in a file of the library, which the user cannot open.
    #[test]
    fn short_begins_with_the_location_in_the_user_s_file() {
        let mut sources = SourceMap::default();
        let library = sources.add_library(0, "<stdlib>/layout.sknd", "axis < rank: 'axis';\n");
        let main = sources.add("main.sknd", "z = b;\ny = concat([x]);\n");
        let diagnostic = Diagnostic::error(&SYNTAX, Span::new(library, 0, 11), "'axis'")
            .with_note(Some(Span::new(main, 11, 17)), "in operator `concat`");
        assert_eq!(
            short::render(&diagnostic, &sources),
            "main.sknd:2:5: error[SK0201]: 'axis'\n<stdlib>/layout.sknd:1:1: note: found here\n\
             main.sknd:2:5: note: in operator `concat`\n"
        );
        let mut sink = Sink::default();
        sink.report(diagnostic);
        sink.report(Diagnostic::error(&SYNTAX, Span::new(main, 4, 5), "`b`"));
        let order: Vec<String> = sink.into_sorted().into_iter().map(|d| d.message).collect();
        assert_eq!(order, ["`b`", "'axis'"]);
    }

    #[test]
    fn errors_are_selected_before_warnings() {
        let (_, error) = example();
        let mut warning = error.clone();
        warning.severity = Severity::Warning;
        let diagnostics = [warning.clone(), warning.clone(), error.clone(), warning, error];
        let severities =
            |most| selected(&diagnostics, most).map(|own| own.severity.name()).collect::<Vec<_>>();
        assert_eq!(severities(3), ["warning", "error", "error"]);
        assert_eq!(severities(1), ["error"]);
        assert_eq!(severities(9).len(), 5);
    }

    /// Escapes control sequences and direction marks in texts, file names and quoted lines.
    #[test]
    fn control_characters_are_escaped() {
        let mut sources = SourceMap::default();
        let text = "y = '\u{1b}[31m\u{202e}' + x;\n";
        let file = sources.add("a\u{1b}]0;t\u{7}\u{2066}.sknd", text);
        let at = u32::try_from(text.find('x').unwrap()).unwrap();
        let quoted = "'\u{1b}[31m\u{9b}m\u{202e}\r'";
        let diagnostic = Diagnostic::error(&SYNTAX, Span::new(file, at, at + 1), quoted)
            .with_label(quoted)
            .with_label_at(Span::new(file, 0, 1), quoted)
            .with_note(Some(Span::new(file, 0, 1)), quoted)
            .with_note(None, quoted)
            .with_help(quoted);
        let human = human::render(&diagnostic, &sources, false);
        let short = short::render(&diagnostic, &sources);
        for (text, count) in [(&human, 6), (&short, 5)] {
            let hidden = |c: char| c.is_control() && c != '\n' || "\u{202e}\u{2066}".contains(c);
            assert!(!text.contains(hidden), "{text:?}");
            assert!(text.contains("a\\u{1b}]0;t\\u{7}\\u{2066}.sknd:1:"), "{text}");
            let occurrences = text.matches("'\\u{1b}[31m\\u{9b}m\\u{202e}\\u{d}'").count();
            assert!(occurrences + 1 >= count, "{occurrences}: {text}");
        }
        // The caret is below the character of the span.
        let lines: Vec<&str> = human.lines().collect();
        let shown = lines.iter().position(|l| l.contains("+ x;")).unwrap();
        let column = lines[shown].find('x').unwrap();
        assert_eq!(lines[shown + 1].as_bytes()[column], b'^', "{human}");
    }

    #[test]
    fn json_is_one_line() {
        let (sources, diagnostic) = example();
        let text = json(&diagnostic, &sources).to_string();
        assert!(!text.contains('\n'));
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["code"], "SK0201");
        assert_eq!(value["location"]["line"], 1);
        assert_eq!(value["location"]["column"], 6);
        assert_eq!(value["notes"][0]["location"]["path"], "main.sknd");
    }

    #[test]
    fn invalid_locations_are_rendered() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.sknd", "ä\r\nb");
        for (start, end) in [(0, 0), (1, 1), (0, 99), (5, 5), (98, 99), (3, 2)] {
            let diagnostic = Diagnostic::error(&SYNTAX, Span::new(file, start, end), "m");
            assert!(human::render(&diagnostic, &sources, false).contains("a.sknd"));
            assert!(short::render(&diagnostic, &sources).starts_with("a.sknd:"));
        }
        let empty = sources.add("b.sknd", "");
        let diagnostic = Diagnostic::error(&SYNTAX, Span::new(empty, 0, 0), "m");
        assert!(human::render(&diagnostic, &sources, true).contains("b.sknd"));
    }
}
