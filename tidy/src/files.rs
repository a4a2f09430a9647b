// SPDX-License-Identifier: Apache-2.0
//! Checks file sizes and module names, and restricts printing, `unsafe`, opening files and parsing MLIR to certain files.

use crate::tree::{File, Tree, is_comment, without_tests};

const CEILING: usize = 800;
const BANNED_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "misc", "common"];
const MAY_PRINT: &[&str] = &["tools/", "tidy/", "fuzz/", "runtime/run/src/", "import/examples/"];
const MAY_BE_UNSAFE: &[&str] = &[
    "dialect/",
    "passes/c/src/plugin.rs",
    "passes/src/codegen/llvm.rs",
    "passes/src/codegen/llvm_targets.rs",
    "passes/src/ir/",
    "python/runtime/src/arrays.rs",
    "python/runtime/src/dlpack.rs",
    "tools/src/measure/peak.rs",
    "runtime/intrinsics/src/compiled.rs",
    "runtime/intrinsics/src/user.rs",
    "runtime/gpu/src/cuda.rs",
    "runtime/gpu/src/vulkan.rs",
    "runtime/src/device/array.rs",
    "runtime/src/device/calls.rs",
    "runtime/src/device/instance.rs",
    "runtime/src/instance.rs",
    "runtime/src/prepared.rs",
    "runtime/src/loader/memory.rs",
    "runtime/src/loader/tests.rs",
    "runtime/src/processor",
    "runtime/src/stop.rs",
    "runtime/src/symbols.rs",
    "runtime/src/threads.rs",
    "runtime/src/threads/placement.rs",
    "runtime/tensor/src/map",
    "skript-c/src/calls.rs",
    "skript-c/src/memory.rs",
    "skript-c/src/tensors.rs",
    "tools/src/bin/",
];
/// The files that may open files: the crate for user files, and tools of the project.
const MAY_OPEN: &[&str] = &[
    "host/",
    "tidy/",
    "passes/c/examples/",
    // These open entries of the cache and products of a compilation, not files of the user.
    "runtime/src/cache.rs",
    "tools/src/measure.rs",
    "tools/src/verbs/compile/shared_object.rs",
];
/// The files that may parse MLIR: programs of users, and attributes and types that MLIR's C API cannot create.
const MAY_PARSE: &[&str] = &[
    "dialect/",
    "passes/src/ir/attributes.rs",
    "passes/src/ir/maps.rs",
    "passes/src/ir/spirv.rs",
    "passes/src/ir/types.rs",
    "stablehlo/src/import/program.rs",
    "stablehlo/src/sharding.rs",
    "stablehlo/src/tensors.rs",
];

pub fn check(tree: &Tree) -> Vec<String> {
    let mut complaints = Vec::new();
    for file in tree.ending(&[".rs", ".cpp", ".h", ".td", ".py", ".pest"]) {
        let lines = file.text.lines().count();
        if lines > CEILING {
            complaints
                .push(format!("{}: {lines} lines, the ceiling is {CEILING}: split it by subject", file.path));
        }
        let stem = file.path.rsplit('/').next().and_then(|n| n.split('.').next()).unwrap_or("");
        if BANNED_NAMES.contains(&stem) {
            complaints.push(format!("{}: name the file after its subject", file.path));
        }
    }
    for file in tree.ending(&[".rs"]) {
        if file.path.starts_with("tidy/") {
            continue;
        }
        complaints.extend(check_rust(file));
    }
    for file in &tree.files {
        if file.path.starts_with("tidy/") {
            continue;
        }
        for (number, line) in file.text.lines().enumerate() {
            if line.contains("/work/") || line.contains("/root/") {
                complaints.push(format!("{}:{}: a path of one machine", file.path, number + 1));
            }
        }
    }
    complaints
}

fn check_rust(file: &File) -> Vec<String> {
    let mut complaints = Vec::new();
    let in_tests = file.path.contains("/tests/") || file.path.contains("/benches/");
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| file.path.starts_with(p));
    for (number, line) in without_tests(&file.text).lines().enumerate() {
        if is_comment(line) {
            continue;
        }
        let at = format!("{}:{}", file.path, number + 1);
        let prints = ["println!", "eprintln!", "print!(", "process::exit"];
        let build_script = file.path.ends_with("build.rs");
        if !starts(MAY_PRINT) && !build_script && !in_tests && prints.iter().any(|p| line.contains(p)) {
            complaints.push(format!("{at}: only tools/ prints or exits"));
        }
        if !starts(MAY_BE_UNSAFE)
            && !in_tests
            && (line.contains("unsafe {") || line.contains("unsafe fn") || line.contains("unsafe impl"))
        {
            complaints.push(format!("{at}: unsafe outside of the modules that hold it (ARCHITECTURE.md)"));
        }
        if !starts(MAY_OPEN) && !build_script && !in_tests && !is_test_module(&file.path) && opens_file(line)
        {
            complaints.push(format!("{at}: files are opened by skript_host::file"));
        }
        if !starts(MAY_PARSE) && !in_tests && !is_test_module(&file.path) && parses(line) {
            complaints.push(format!("{at}: IR is created by `ir::Builder`, not parsed from text"));
        }
        for stub in ["todo!(", "unimplemented!(", "dbg!("] {
            if line.contains(stub) {
                complaints.push(format!("{at}: {stub}…)"));
            }
        }
    }
    complaints
}

/// Whether a line opens a file with the standard library, in contrast to functions such as `MappedFile::open`.
fn opens_file(line: &str) -> bool {
    let opened = line.match_indices("File::open(").any(|(at, _)| {
        let (before, _) = line.split_at(at);
        !before.ends_with(|c: char| c.is_ascii_alphanumeric())
    });
    opened || line.contains("fs::read(") || line.contains("fs::read_to_string(")
}

/// Whether a line parses MLIR text.
fn parses(line: &str) -> bool {
    ["Attribute", "Module", "Operation", "Type"].iter().any(|kind| line.contains(&format!("{kind}::parse(")))
}

/// Whether a file contains only tests, by its name.
fn is_test_module(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    matches!(name, "tests.rs" | "testing.rs" | "conformance.rs")
}

#[cfg(test)]
mod tests {
    #[test]
    fn parsed_text_is_found() {
        assert!(super::parses("let module = Module::parse(&context, &text);"));
        assert!(super::parses("melior::ir::Attribute::parse(context, text)"));
        assert!(!super::parses("let number = text.parse::<usize>();"));
        assert!(!super::parses("Tokens::parse(text)"));
    }

    #[test]
    fn only_the_standard_library_opens_files() {
        for line in ["File::open(p)", "std::fs::File::open(p)", "std::fs::read(p)", "fs::read_to_string(p)"] {
            assert!(super::opens_file(line), "{line}");
        }
        for line in ["MappedFile::open(p)", "RegularFile::open(p)", "file::read(p, most)"] {
            assert!(!super::opens_file(line), "{line}");
        }
    }
}
