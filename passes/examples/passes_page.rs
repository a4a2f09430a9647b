//! Writes docs/passes.md to stdout: every pass with its options, every named pipeline with its passes.
//!
//! A pass's description is what stands at the head of its file, and its example is the beginning of one of its tests, so the page
//! is made from the sources, and what it shows is what the tests run.

use skript_passes::{ALL, pipeline};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let mut heads = Vec::new();
    collect(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut heads,
    )?;
    heads.sort();
    let page = page(&heads).map_err(std::io::Error::other)?;
    std::io::stdout().write_all(page.as_bytes())
}

/// The path, the head and the text of every Rust file below a folder.
fn collect(folder: &Path, heads: &mut Vec<(String, String, String)>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, heads)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = std::fs::read_to_string(&path)?;
            let lines = text.lines().take_while(|l| l.starts_with("//!"));
            let lines = lines.map(|l| l.trim_start_matches("//!").trim());
            let head = lines.collect::<Vec<_>>().join("\n");
            heads.push((path.display().to_string(), head, text));
        }
    }
    Ok(())
}

fn page(heads: &[(String, String, String)]) -> Result<String, std::fmt::Error> {
    let mut page = String::from(
        "<!-- Written by scripts/docs.sh from the table of passes and the heads of their files. -->\n# Passes\n\n\
         Each runs alone in `skript-opt --flag` and in `--pass-pipeline`; its tests are in `test/passes/` under its flag.\n",
    );
    for pass in ALL {
        writeln!(page, "\n## `--{}`\n\n{}.", pass.flag, capital(pass.summary))?;
        let flag = format!("    flag: \"{}\"", pass.flag);
        if let Some((_, head, _)) = heads.iter().find(|(_, _, text)| text.contains(&flag)) {
            writeln!(page, "\n{head}")?;
        }
        if let Some(anchor) = pass.anchor {
            writeln!(page, "\nRuns on `{anchor}`.")?;
        }
        if !pass.dependent_dialects.is_empty() {
            let names = pass.dependent_dialects.iter().map(|d| format!("{d:?}"));
            let names = names.collect::<Vec<_>>().join(", ").to_lowercase();
            writeln!(page, "\nMakes ops of: {names}.")?;
        }
        if !pass.options.is_empty() {
            page.push_str("\n| option | default | meaning |\n|---|---|---|\n");
            for option in pass.options {
                let (name, default, summary) = (option.name, option.default, option.summary);
                writeln!(page, "| `{name}` | `{default}` | {summary} |")?;
            }
        }
        if let Some((path, example)) = example(pass.flag) {
            writeln!(
                page,
                "\nThe beginning of `{path}`:\n```mlir\n{example}\n```"
            )?;
        }
    }
    page.push_str("\n# Pipelines\n\nEach is a flag of `skript-opt`; the compiler runs the first three by `--pipeline`.\n");
    for pipeline in pipeline::ALL {
        let passes = pipeline.stages.concat().join("\n");
        let summary = capital(pipeline.summary);
        writeln!(
            page,
            "\n## `--{}`\n\n{summary}.\n\n```\n{passes}\n```",
            pipeline.flag
        )?;
    }
    Ok(page)
}

/// The shortest beginning of a pass's tests, up to the end of the first function, and the test's path.
fn example(flag: &str) -> Option<(String, String)> {
    let path = format!("test/passes/{flag}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(&path);
    let mut beginnings = Vec::new();
    for entry in std::fs::read_dir(folder).ok()? {
        let file = entry.ok()?.path();
        let name = file.file_name()?.to_str()?.to_owned();
        if name == "errors.mlir" || !name.ends_with(".mlir") {
            continue;
        }
        let text = std::fs::read_to_string(&file).ok()?;
        let lines: Vec<&str> = text.lines().collect();
        let end = lines.iter().position(|line| *line == "}")?;
        beginnings.push((end, format!("{path}/{name}"), lines.get(..=end)?.join("\n")));
    }
    let (_, path, text) = beginnings.into_iter().min()?;
    Some((path, text))
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}
