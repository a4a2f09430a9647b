// SPDX-License-Identifier: Apache-2.0
//! The modules of `passes/src` are ordered, and do not import later modules. Operation names are spelled only in `ir/ops.rs`.

use crate::tree::{File, Tree, is_comment, without_tests};

/// The modules in order. Each may import the preceding ones.
const ORDER: [&str; 27] = [
    "error",
    "observer",
    "fast_math",
    "sets",
    "ir",
    "structure",
    "facts",
    "emit",
    "invoke",
    "duplicates",
    "extents",
    "formula",
    "elementwise",
    "recurrence",
    "named",
    "prepare",
    "integers",
    "schedule",
    "layout",
    "codegen",
    "profile",
    "target",
    "pipeline",
    "all",
    "compile",
    "diagnostics",
    "code_cache",
];

const NAMES: &str = "passes/src/ir/ops.rs";

pub fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    let names = tree.file(NAMES).map_or("", |file| &file.text);
    let names: Vec<&str> = names.lines().filter_map(name_of).collect();
    if names.is_empty() {
        complaints.push(format!("{NAMES}: no names of operations found"));
    }
    for file in tree.ending(&[".rs"]) {
        if let Some(path) = file.path.strip_prefix("passes/src/") {
            let module = path.split(['/', '.']).next().unwrap_or("");
            complaints.extend(imports(file, module));
        }
        let inside = ["passes/src/", "stablehlo/src/"];
        if file.path != NAMES && inside.iter().any(|folder| file.path.starts_with(folder)) {
            complaints.extend(spelled(file, &names));
        }
    }
    complaints
}

/// The name of the operation in a line `CONSTANT = "dialect.operation",`.
fn name_of(line: &str) -> Option<&str> {
    let (_, value) = line.trim().split_once(" = \"")?;
    value.strip_suffix("\",").filter(|name| name.contains('.'))
}

/// The complaints about imports of modules that come after `module`.
fn imports(file: &File, module: &str) -> Vec<String> {
    let Some(position_of_module) = ORDER.iter().position(|name| *name == module) else {
        return match module {
            "lib" => Vec::new(),
            _ => vec![format!("{}: tidy/src/modules.rs lacks `{module}`", file.path)],
        };
    };
    let later = |line: &str| {
        let mut after = line.split("crate::").skip(1).flat_map(|rest| {
            // A group `crate::{a, b}` is one import of each.
            let names = rest.strip_prefix('{').unwrap_or(rest);
            let names = names.split(['}', ';']).next().unwrap_or("");
            let count = if rest.starts_with('{') { usize::MAX } else { 1 };
            let first = names.split(',').take(count);
            first.map(|name| name.trim().split(':').next().unwrap_or("").to_owned())
        });
        after.find(|name| {
            let position = ORDER.iter().position(|other| other == name);
            position.is_some_and(|position| position > position_of_module)
        })
    };
    let text = without_tests(&file.text);
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !is_comment(line));
    lines
        .filter_map(|(number, line)| Some((number, later(line)?)))
        .map(|(number, name)| {
            format!("{}:{number}: `{module}` imports `{name}`, which comes after it", file.path)
        })
        .collect()
}

/// The complaints about names of operations in strings outside of tests.
fn spelled(file: &File, names: &[&str]) -> Vec<String> {
    let text = without_tests(&file.text);
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !is_comment(line));
    lines
        .flat_map(|(number, line)| {
            let quoted = line.split('"').skip(1).step_by(2);
            quoted.filter(|text| names.contains(text)).map(move |name| (number, name))
        })
        .map(|(number, name)| {
            format!("{}:{number}: spells \"{name}\": use the constant of {NAMES}", file.path)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: &str) -> File {
        File { path: path.to_owned(), text: text.to_owned() }
    }

    #[test]
    fn a_module_that_imports_a_later_one_is_found() {
        let text = "use crate::ir::ops;\nuse crate::{emit, codegen::size};\n// crate::codegen\n";
        let complaints = imports(&file("passes/src/extents/a.rs", text), "extents");
        assert_eq!(complaints.len(), 1, "{complaints:?}");
        assert!(complaints[0].contains("a.rs:2: `extents` imports `codegen`"));
    }

    #[test]
    fn names_are_found_outside_of_tests_and_comments() {
        let text = "f(\"scf.if\");\n// \"scf.if\"\n#[cfg(test)]\nmod tests { g(\"scf.if\"); }\n";
        let complaints = spelled(&file("passes/src/extents/a.rs", text), &["scf.if"]);
        assert_eq!(complaints.len(), 1, "{complaints:?}");
    }
}
