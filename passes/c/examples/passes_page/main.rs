// SPDX-License-Identifier: Apache-2.0
//! Writes docs/passes.md to stdout: every pass, and every named pipeline with its passes.
//!
//! The text of a pass is the module documentation of its file. Its example is a part of one of its tests, with the output of
//! `skript-opt`. Therefore, the page matches the sources, and its IR is tested.

mod example;
mod head;

use example::Example;
use head::Head;
use skript_dialect::Pass;
use skript_passes::pipeline;
use skript_stablehlo::all_passes;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let mut texts = sources(&project().join("passes/src"))?;
    texts.extend(sources(&project().join("stablehlo/src"))?);
    let skript_opt = skript_opt()?;
    let page = page(&texts, &skript_opt).map_err(std::io::Error::other)?;
    std::io::stdout().write_all(page.as_bytes())
}

/// The root of the project.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The path of `skript-opt` in the same build: examples are in a sibling folder of it.
fn skript_opt() -> std::io::Result<PathBuf> {
    let executable = std::env::current_exe()?;
    let folder = executable.parent().and_then(Path::parent);
    let tool = folder.map(|f| f.join("skript-opt")).filter(|p| p.is_file());
    tool.ok_or_else(|| std::io::Error::other("build skript-opt first: cargo build --release"))
}

/// The texts of all Rust files below a folder, in the order of their paths.
fn sources(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut paths = Vec::new();
    collect(folder, &mut paths)?;
    paths.sort();
    paths.into_iter().map(std::fs::read_to_string).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            paths.push(path);
        }
    }
    Ok(())
}

fn page(sources: &[String], skript_opt: &Path) -> Result<String, std::fmt::Error> {
    let mut page = String::from(
        "<!-- Written by scripts/docs.sh from the table of passes, the heads of their files and their tests. -->\n# Passes\n\n\
         `skript-opt --FLAG` runs one pass, `--pass-pipeline` any sequence. The tests of a pass are in the folder of its flag below `test/passes/`.\n\
         [Pipelines](#pipelines) lists the named pipelines.\n",
    );
    for pass in all_passes() {
        section(&mut page, pass, sources, skript_opt)?;
    }
    page.push_str(
        "\n# Pipelines\n\nEach is a flag of `skript-opt`. `--pipeline` of `skript` selects one of the lowerings.\n",
    );
    let of_program = skript_stablehlo::to_linalg_pipeline();
    let of_program = (of_program.flag, of_program.summary, of_program.text.replace(',', "\n"));
    let of_models = pipeline::ALL.iter().map(|p| (p.flag, p.summary, p.passes().join("\n")));
    for (flag, summary, passes) in of_models.chain([of_program]) {
        writeln!(page, "\n## `--{flag}`\n\n{}\n\n```\n{passes}\n```", sentence(summary))?;
    }
    Ok(page)
}

/// Writes the section of a pass: its description, requirements, guarantees and options, and the IR before and after it.
fn section(page: &mut String, pass: &Pass, sources: &[String], skript_opt: &Path) -> std::fmt::Result {
    writeln!(page, "\n## `--{}`\n\n{}", pass.flag, sentence(pass.summary))?;
    let flag = format!("    flag: \"{}\"", pass.flag);
    let source = sources.iter().find(|text| text.contains(&flag));
    let head = source.map(|text| Head::from_source(text)).unwrap_or_default();
    for paragraph in &head.description {
        writeln!(page, "\n{paragraph}")?;
    }
    let anchor = pass.anchor.map(|anchor| format!("`{anchor}`."));
    let dialects = pass.dependent_dialects.iter().map(|d| format!("{d:?}"));
    let dialects = dialects.collect::<Vec<_>>().join(", ").to_lowercase();
    let dialects = (!dialects.is_empty()).then(|| format!("{dialects}."));
    let facts = [
        ("Requires", head.requires),
        ("Guarantees", head.guarantees),
        ("Runs on", anchor),
        ("Creates operations of", dialects),
    ];
    let stated = facts.iter().filter_map(|(what, text)| Some((what, text.as_ref()?)));
    for (position, (what, text)) in stated.enumerate() {
        let space = if position == 0 { "\n" } else { "" };
        writeln!(page, "{space}- **{what}:** {text}")?;
    }
    if !pass.options.is_empty() {
        page.push_str("\n| option | default | meaning |\n|---|---|---|\n");
        for option in pass.options {
            let (name, default, summary) = (option.name, option.default, option.summary);
            writeln!(page, "| `{name}` | `{default}` | {summary} |")?;
        }
    }
    if let Some(example) = Example::for_pass(pass.flag, skript_opt) {
        let Example { flags, before, after, path } = example;
        writeln!(page, "\nBefore ([test]({path})):\n```mlir\n{before}\n```")?;
        writeln!(page, "After `{flags}`:\n```mlir\n{after}\n```")?;
    }
    Ok(())
}

/// Adds a capital at the beginning and a full stop at the end.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|c| c.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), characters.as_str().trim_end_matches('.'))
}
