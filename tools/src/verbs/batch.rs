// SPDX-License-Identifier: Apache-2.0
//! `skript run --batch FILE`: many runs in one process.
//!
//! The file is untrusted. A line may select a model, its inputs and the engine. It may write outputs and variables below the
//! `--output-dir` of the command line, and has no other effect: all other options are accepted only on the command line.

use std::ffi::OsString;
use std::fs::{DirEntry, Metadata};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::Ordering;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory as _};
use serde_json::json;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::BATCH;
use skript_host::FileError;

use crate::command_line::{CommandLine, RunArguments, Verb};
use crate::console::{Console, Status};
use crate::session::say;

/// The arguments that a line may have. They select inputs and computations; none of them loads code or raises a limit, and
/// [`folder`] confines the arguments that name folders to write to.
const LINE_ARGUMENTS: [&str; 22] = [
    "absent_inputs",
    "attributes",
    "bounds",
    "constants",
    "edition",
    "engine",
    "given_inputs",
    "graph",
    "input_shapes",
    "inputs",
    "int",
    "message_format",
    "model",
    "no_cache",
    "output_dir",
    "pipeline",
    "quantize",
    "real",
    "save_variables",
    "specialize",
    "variables",
    "weights",
];

/// Runs each line of the file: a JSON list of arguments, appended to the arguments of the command line. Prints a line
/// `{"exit": N, "stderr": "…"}` per line. The exit status reports only whether the file could be read.
pub fn run(arguments: &RunArguments, command: &[OsString], console: &mut Console) -> Status {
    let Some(path) = &arguments.batch else {
        return Status::Done;
    };
    let common = without_batch(command);
    let wrong = |message: String, console: &mut Console| {
        let message = format!("{}: {message}", path.display());
        let diagnostic = Diagnostic::without_location(&BATCH, message);
        say(diagnostic, arguments.reading.message_format, console);
        Status::Wrong
    };
    let max_bytes = arguments.reading.limits.in_force().batch_bytes;
    let lines = match skript_host::file::read(path, max_bytes) {
        Ok(bytes) => bytes,
        Err(error @ FileError::Size { .. }) => {
            return wrong(format!("{error} (limit `batch_bytes`)"), console);
        }
        Err(error) => return wrong(error.to_string(), console),
    };
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let mut buffer = Console::buffer();
        let status = match serde_json::from_slice::<Vec<String>>(line) {
            Ok(more) => {
                // Stdout contains only the lines with results.
                crate::stdout::QUIET.store(true, Ordering::Relaxed);
                let status = run_line(&common, more, arguments, &mut buffer);
                crate::stdout::QUIET.store(false, Ordering::Relaxed);
                status
            }
            Err(error) => {
                let message = format!("this line is not a list of strings: {error}");
                refused(message, arguments, &mut buffer)
            }
        };
        let result = json!({"exit": status as u8, "stderr": buffer.into_text()});
        crate::stdout::print(&format!("{result}\n"));
    }
    Status::Done
}

/// Runs a line, whose arguments follow the common arguments.
fn run_line(
    common: &[OsString],
    line: Vec<String>,
    arguments: &RunArguments,
    console: &mut Console,
) -> Status {
    let line: Vec<OsString> = line.into_iter().map(OsString::from).collect();
    // The line is also parsed without the common arguments, so that the check does not depend on spelling.
    let alone: Vec<OsString> = ["skript".into(), "run".into()].into_iter().chain(line.clone()).collect();
    if let Ok(matches) = CommandLine::command().try_get_matches_from(&alone)
        && let Some(message) = disallowed_argument(&matches)
    {
        return refused(message, arguments, console);
    }
    if let Err(status) = super::parse(&alone, console) {
        return status;
    }
    let words: Vec<OsString> = common.iter().cloned().chain(line).collect();
    let mut run = match super::parse(&words, console) {
        Ok(Verb::Run(run)) => run,
        Ok(_) => return refused("this line is not a run".to_owned(), arguments, console),
        Err(status) => return status,
    };
    if run.save_variables != arguments.save_variables {
        match folder(arguments.output_dir.as_deref(), run.save_variables.as_deref()) {
            Ok(folder) => run.save_variables = folder,
            Err(message) => return refused(message, arguments, console),
        }
    }
    match folder(arguments.output_dir.as_deref(), run.output_dir.as_deref()) {
        Ok(folder) => run.output_dir = folder,
        Err(message) => return refused(message, arguments, console),
    }
    super::perform(Verb::Run(run), console)
}

/// Reports an error of a line.
fn refused(message: String, arguments: &RunArguments, console: &mut Console) -> Status {
    let diagnostic = Diagnostic::without_location(&BATCH, message);
    say(diagnostic, arguments.reading.message_format, console);
    Status::Usage
}

/// The error of a line with an argument that is accepted only on the command line.
fn disallowed_argument(line: &ArgMatches) -> Option<String> {
    let (verb, given) = line.subcommand()?;
    let mut skript = CommandLine::command();
    let arguments = skript.find_subcommand_mut(verb)?.get_arguments();
    let is_given = |id: &str| given.value_source(id) == Some(ValueSource::CommandLine);
    let mut disallowed = arguments
        .filter(|argument| !LINE_ARGUMENTS.contains(&argument.get_id().as_str()))
        .filter(|argument| is_given(argument.get_id().as_str()));
    let flag = disallowed.next()?.get_long().unwrap_or_default();
    Some(format!(
        "a line of a batch cannot have --{flag}: lines only select a model, inputs and outputs; write --{flag} on the command line"
    ))
}

/// The folder for the outputs of a line, below the folder of the command line.
///
/// # Errors
/// A message if the folder is not below it, or if a link may lead to another folder.
fn folder(root: Option<&Path>, line: Option<&Path>) -> Result<Option<PathBuf>, String> {
    let (Some(root), Some(line)) = (root, line) else {
        return match line {
            None => Ok(None),
            Some(line) => Err(format!(
                "a line writes to {}: pass its parent folder as --output-dir on the command line",
                line.display()
            )),
        };
    };
    let below = line.strip_prefix(root).unwrap_or(line);
    let is_below = below.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    if !is_below {
        return Err(format!(
            "a line writes to {}, which is not below {}, the --output-dir of the command line",
            line.display(),
            root.display()
        ));
    }
    let mut folder = root.to_path_buf();
    for component in below.components() {
        folder.push(component);
        if folder.is_symlink() {
            return Err(is_link(&folder));
        }
    }
    let mut entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    match entries.find(is_shared) {
        Some(entry) => Err(is_link(&entry.path())),
        None => Ok(Some(folder)),
    }
}

/// Whether writing to an entry of a folder may have an effect elsewhere: it is neither a folder nor a file with a single name.
fn is_shared(entry: &DirEntry) -> bool {
    #[cfg(unix)]
    let names = |metadata: &Metadata| std::os::unix::fs::MetadataExt::nlink(metadata);
    #[cfg(not(unix))]
    let names = |_: &Metadata| 1;
    entry.metadata().is_ok_and(|entry| !(entry.is_dir() || entry.is_file() && names(&entry) == 1))
}

fn is_link(path: &Path) -> String {
    format!(
        "{} is a link or not a regular file: outputs of a batch are written to folders and files below --output-dir only; remove it",
        path.display()
    )
}

/// The command line without `--batch FILE` or `--batch=FILE`.
fn without_batch(command: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = command.iter();
    while let Some(word) = words.next() {
        if word == "--batch" {
            words.next();
        } else if !word.to_string_lossy().starts_with("--batch=") {
            kept.push(word.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_arguments_are_kept() {
        for text in [
            "skript run --engine=reference --batch f.jsonl --set a=1",
            "skript run --batch=f.jsonl --engine=reference --set a=1",
        ] {
            assert_eq!(without_batch(&words(text)), words("skript run --engine=reference --set a=1"));
        }
    }

    fn run_arguments(text: &str) -> RunArguments {
        let console = &mut Console::buffer();
        match super::super::parse(&words(text), console) {
            Ok(Verb::Run(run)) => run,
            _ => panic!("{text}"),
        }
    }

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    /// The status and the message of a line.
    fn line_result(command: &str, line: &[&str]) -> (Status, String) {
        let _alone = crate::verbs::tests::alone();
        let (arguments, mut console) = (run_arguments(command), Console::buffer());
        let common = without_batch(&words(command));
        let words = line.iter().map(|word| (*word).to_owned()).collect();
        let status = run_line(&common, words, &arguments, &mut console);
        (status, console.into_text())
    }

    #[test]
    fn an_error_in_a_line_does_not_end_the_batch() {
        let status = |line: &[&str]| line_result("skript run --batch f", line).0;
        assert_eq!(status(&["--bogus"]), Status::Usage);
        assert_eq!(status(&["--batch", "f"]), Status::Usage);
        assert_eq!(status(&["/no/such/model"]), Status::Wrong);
    }

    /// Arguments are refused in every spelling, and before a file is read.
    #[test]
    fn a_line_has_no_effect_but_outputs() {
        for line in [
            &["m", "--intrinsic", "main.f=f@./lib.so"][..],
            &["m", "--intrinsic=main.f=f@./lib.so"],
            &["m", "--stats", "s.json"],
            &["m", "--stats=s.json"],
            &["m", "--profile=p.json"],
            &["m", "--profile"],
            &["m", "--limit", "instances=1"],
            &["m", "--repeat", "1000"],
            &["m", "--threads", "64"],
            &["m", "--batch", "f"],
        ] {
            let (status, text) = line_result("skript run --batch f", line);
            assert_eq!(status, Status::Usage, "{line:?}");
            let is_reported = text.contains("a line of a batch cannot have --");
            assert!(is_reported || text.contains("cannot be used with"), "{text}");
        }
    }

    #[test]
    fn variables_are_saved_below_the_folder_of_the_command_line() {
        for command in [
            "skript run --batch f",
            "skript run --batch f --output-dir o",
            "skript run --batch f --output-dir o --save-variables v",
        ] {
            let (status, text) = line_result(command, &["m", "--save-variables", "/tmp/d"]);
            assert_eq!(status, Status::Usage, "{command}");
            assert!(text.contains("a line writes to /tmp/d"), "{text}");
        }
    }

    /// New arguments are not allowed in lines until they are listed.
    #[test]
    fn the_arguments_of_a_line_exist() {
        let mut skript = CommandLine::command();
        let run = skript.find_subcommand_mut("run").unwrap();
        let ids: Vec<_> = run.get_arguments().map(|a| a.get_id().as_str()).collect();
        let missing = LINE_ARGUMENTS.iter().find(|id| !ids.contains(id));
        assert_eq!(missing, None);
    }

    #[test]
    fn outputs_are_below_the_folder_of_the_command_line() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let at = |line: &str| folder(Some(root), Some(Path::new(line)));
        assert_eq!(at("a/b"), Ok(Some(root.join("a/b"))));
        assert_eq!(at("./a"), Ok(Some(root.join("a"))));
        let below = root.join("c");
        assert_eq!(folder(Some(root), Some(&below)), Ok(Some(below)));
        assert_eq!(folder(Some(root), None), Ok(None));
        assert!(folder(None, Some(Path::new("a"))).is_err());
        for outside in ["..", "a/../b", "/tmp", "a/../../b"] {
            assert!(at(outside).is_err(), "{outside}");
        }
        let above = root.join("..").join("x");
        assert!(folder(Some(root), Some(&above)).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        use std::os::unix::fs::symlink;
        let (root, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let root = root.path();
        symlink(other.path(), root.join("out")).unwrap();
        std::fs::create_dir(root.join("in")).unwrap();
        symlink(other.path().join("y.npy"), root.join("in/y.npy")).unwrap();
        for line in ["out", "out/a", "in"] {
            assert!(folder(Some(root), Some(Path::new(line))).is_err(), "{line}");
        }
        assert!(folder(Some(root), Some(Path::new("in/a"))).is_ok());
        let linked = root.join("hard");
        std::fs::create_dir(&linked).unwrap();
        std::fs::write(linked.join("y.npy"), "").unwrap();
        assert!(folder(Some(root), Some(Path::new("hard"))).is_ok());
        std::fs::hard_link(linked.join("y.npy"), other.path().join("z.npy")).unwrap();
        assert!(folder(Some(root), Some(Path::new("hard"))).is_err());
        std::fs::create_dir(root.join("socket")).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(root.join("socket/y.npy")).unwrap();
        assert!(folder(Some(root), Some(Path::new("socket"))).is_err());
    }
}
