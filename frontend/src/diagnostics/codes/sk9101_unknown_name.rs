// SPDX-License-Identifier: Apache-2.0

use crate::diagnostics::Code;

/// A graph, attribute or input of the command line that does not exist.
pub static COMMAND_LINE_NAME: Code = Code {
    id: "SK9101",
    title: "the command line has a name that the model does not define",
    explanation: r#"`--graph`, `--set` and `--input` accept names of graphs of the main module, and of attributes and inputs of the selected graph.
"#,
};

pub(super) use COMMAND_LINE_NAME as CODE_ENTRY;

// Tested in test/tools/run/command-line.test
