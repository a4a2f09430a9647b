// SPDX-License-Identifier: Apache-2.0
//! Writes the graph as a file for Graphviz.

use crate::picture::{Kind, Node, Picture};
use std::fmt::Write as _;

impl Picture {
    /// The boxes of the entry graph and the tensors between them, in Graphviz's language.
    pub fn dot(&self) -> String {
        let mut text = format!("digraph {} {{\n", quoted(&self.name));
        text += "    node [shape=box, style=rounded, fontname=\"monospace\", fontsize=11];\n";
        text += "    edge [fontname=\"monospace\", fontsize=9];\n";
        let scope = self.instances.get(self.entry).and_then(|entry| entry.scope);
        let Some(scope) = scope.and_then(|scope| self.scopes.get(scope)) else {
            return text + "}\n";
        };
        // Writing to a string cannot fail.
        for (number, node) in scope.nodes.iter().enumerate() {
            let shape = match node.kind {
                Kind::Input | Kind::Output => ", shape=ellipse",
                Kind::Operator => "",
                Kind::Control => ", shape=diamond",
            };
            let _ = writeln!(
                text,
                "    n{number} [label={}, tooltip={}{shape}];",
                quoted(&label(node)),
                quoted(&node.location)
            );
        }
        for edge in &scope.edges {
            let name = if edge.name.is_empty() {
                edge.r#type.clone()
            } else {
                format!("{}\n{}", edge.name, edge.r#type)
            };
            let _ = writeln!(text, "    n{} -> n{} [label={}];", edge.from, edge.to, quoted(&name));
        }
        text + "}\n"
    }
}

/// The title, the label of an invocation, and its comment.
fn label(node: &Node) -> String {
    let lines = [&Some(node.title.clone()), &node.label, &node.note];
    let lines: Vec<&str> = lines.into_iter().flatten().map(String::as_str).collect();
    lines.join("\n")
}

/// Quotes a string for Graphviz: quotation marks and backslashes are escaped, lines are centred.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            other if other.is_control() => quoted.push(' '),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn strings_are_escaped() {
        assert_eq!(quoted("a\"b\\c\nd\u{1b}"), "\"a\\\"b\\\\c\\nd \"");
    }
}
