// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// The file of `--batch`.
pub static BATCH: Code = Code {
    id: "SK9105",
    title: "a batch file is malformed, or asks for what only the command line may",
    explanation: r#"A batch file has one JSON list of strings per line: the arguments of one `skript run`.

A line may select a model, its graph, attributes, inputs and weights, types, the engine and the pipeline. With
`--output-dir` and `--save-variables` it writes to folders below the `--output-dir` of the command line, without links
on the way. All other options, such as `--stats` and `--intrinsic`, belong to the command line, because a batch file may
come from anyone.

    skript run --output-dir results --batch runs.jsonl

    ["model", "--input", "x=a.npy", "--output-dir", "../a"]

    ["model", "--input", "x=a.npy", "--output-dir", "a"]
"#,
};

pub(super) use BATCH as CODE_ENTRY;

// Tested in test/tools/run/command-line.test
