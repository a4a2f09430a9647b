// SPDX-License-Identifier: Apache-2.0
//! The operators of the standard library.

use pyo3::prelude::*;
use skript_frontend::documentation;

/// An operator of the standard library.
#[pyclass(frozen, get_all, module = "skript")]
#[derive(Clone, Debug)]
pub struct Operator {
    /// The name with the module, `nn.conv`.
    pub name: String,
    /// The module, `nn`.
    pub module: String,
    /// The declaration in one line.
    pub signature: String,
    /// The first sentence of the documentation.
    pub summary: String,
    /// The documentation.
    pub text: String,
    /// Calls with their results.
    pub examples: Vec<String>,
}

#[pymethods]
impl Operator {
    fn __str__(&self) -> String {
        let mut text = format!("{}\n\n{}", self.signature, self.text);
        for example in &self.examples {
            text += &format!("\n\nExample: {example}");
        }
        text
    }

    fn __repr__(&self) -> String {
        format!("<operator {}>", self.signature)
    }
}

/// All operators, in the order of the library.
#[pyfunction]
pub fn operators() -> Vec<Operator> {
    let entries = documentation::of_library().into_iter().filter(|e| !e.khronos);
    let operators = entries.map(|entry| Operator {
        summary: entry.comment.summary(),
        text: entry.comment.text(),
        examples: entry.comment.examples,
        name: entry.name,
        module: entry.module,
        signature: entry.signature,
    });
    operators.collect()
}
