// SPDX-License-Identifier: Apache-2.0
//! The IR before and after a pass: a part of one of its tests, and the output of `skript-opt` for it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Flags of tests that do not change the output.
const SILENT: [&str; 2] = ["--split-input-file", "--verify-roundtrip"];

/// An example from the tests of a pass.
pub struct Example {
    /// The command line.
    pub flags: String,
    pub before: String,
    pub after: String,
    /// The test, relative to docs/.
    pub path: String,
}

impl Example {
    /// The shortest example of the pass with this flag.
    pub fn for_pass(flag: &str, skript_opt: &Path) -> Option<Example> {
        let folder = format!("../test/passes/{flag}");
        let tests = super::project().join("docs").join(&folder);
        let mut examples = Vec::new();
        for entry in std::fs::read_dir(tests).ok()?.flatten() {
            let name = entry.file_name().into_string().unwrap_or_default();
            if name == "errors.mlir" || !name.ends_with(".mlir") {
                continue;
            }
            let Ok(text) = std::fs::read_to_string(entry.path()) else {
                continue;
            };
            let example = flags(&text, flag).and_then(|flags| {
                let inputs = [first_function(&text), first_part(&text)].into_iter().flatten();
                let run = |before: String| {
                    let after = run(skript_opt, &flags, &before)?;
                    (after != before).then_some((before, after))
                };
                let (before, after) = inputs.filter_map(run).next()?;
                Some(Example { flags: command_line(&flags), before, after, path: format!("{folder}/{name}") })
            });
            examples.extend(example);
        }
        let length = |e: &Example| e.before.lines().count() + e.after.lines().count();
        examples.into_iter().min_by_key(|e| (length(e), e.path.clone()))
    }
}

/// Splits a command line as a shell does.
fn command_line(flags: &[String]) -> String {
    let quoted = flags.iter().map(|flag| match flag.split_once('=') {
        Some((name, value)) if value.contains('(') => format!(" {name}='{value}'"),
        _ => format!(" {flag}"),
    });
    format!("skript-opt{}", quoted.collect::<String>())
}

/// The flags of the first line `// RUN: skript-opt %s …` that runs the pass.
fn flags(text: &str, flag: &str) -> Option<Vec<String>> {
    let runs = text.lines().filter_map(|line| line.strip_prefix("// RUN: skript-opt %s "));
    let mut runs = runs.map(|run| run.split([';', '|', '>', '\\']).next().unwrap_or(run));
    let run = runs.find(|run| run.contains(flag))?;
    let words = run.split_whitespace().map(|word| word.replace(['\'', '"'], ""));
    Some(words.filter(|word| !SILENT.contains(&word.as_str())).collect())
}

/// The text of a test up to the end of its first function.
fn first_function(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let end = lines.iter().position(|line| *line == "}")?;
    Some(without_comments(lines.get(..=end)?))
}

/// The text of a test up to the first split marker.
fn first_part(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().take_while(|line| *line != "// -----").collect();
    Some(without_comments(&lines))
}

fn without_comments(lines: &[&str]) -> String {
    let text = lines
        .iter()
        .filter(|line| !line.trim_start().starts_with("//"))
        .copied()
        .collect::<Vec<_>>()
        .join("\n");
    text.trim().to_owned()
}

/// The output of skript-opt without the enclosing module; `None` if it fails.
fn run(skript_opt: &Path, flags: &[String], input: &str) -> Option<String> {
    let mut command = Command::new(skript_opt);
    command.arg("-").args(flags).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok()?;
    let done = child.wait_with_output().ok().filter(|done| done.status.success())?;
    let text = String::from_utf8(done.stdout).ok()?;
    let lines = |text: &str, indent: &str| {
        let lines = text.lines().map(|line| line.strip_prefix(indent).unwrap_or(line).trim_end());
        lines.collect::<Vec<_>>().join("\n")
    };
    let inner = text
        .split_once("module {\n")
        .and_then(|(aliases, rest)| Some((aliases, rest.trim_end().strip_suffix('}')?)));
    let text = match inner {
        Some((aliases, inner)) => lines(aliases, "") + "\n" + &lines(inner, "  "),
        None => lines(&text, ""),
    };
    Some(text.trim().to_owned())
}
