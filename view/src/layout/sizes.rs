// SPDX-License-Identifier: Apache-2.0
//! Computes the sizes of boxes from the number of characters in them: the page has a monospaced font.

use crate::picture::{Kind, Node, Origin, Scope};

/// Width of a character in a title, in tenths of a pixel.
const TITLE: usize = 75;
/// Width of a character in the lines under a title, in tenths of a pixel.
const LINE: usize = 63;
/// Maximum number of characters of a line in a box; the page truncates longer lines.
const MAX_CHARACTERS: usize = 34;
/// Maximum number of lines under the title.
const MAX_LINES: usize = 4;

pub(super) fn set(scope: &mut Scope) {
    for node in &mut scope.nodes {
        let lines = lines(node);
        let widest = lines.iter().map(|line| length(line)).fold(0, usize::max);
        // Expandable boxes have a sign before the title.
        let sign = usize::from(node.instance.is_some() || !node.inside.is_empty()) * 2;
        let title = (length(&node.title) + sign) * TITLE;
        let width = title.max(widest * LINE) / 10 + 20;
        node.width = u32::try_from(width.max(48)).unwrap_or(u32::MAX) / 2 * 2;
        let count = lines.len().min(MAX_LINES) as u32;
        node.height = match node.kind {
            Kind::Input | Kind::Output => 24 + 14 * count,
            Kind::Operator | Kind::Control => 30 + 14 * count,
        };
    }
}

/// The lines under the title, as the page writes them: the label, the comment, then the variables that the operator reads.
fn lines(node: &Node) -> Vec<String> {
    let label = node.label.iter().chain(&node.note).cloned();
    let captures = node.inputs.iter().filter(|tensor| matches!(tensor.origin, Some(Origin::Capture(_))));
    let weights = captures.map(|tensor| {
        let name = tensor.name.split_once(" = ").map_or(tensor.name.as_str(), |(name, _)| name);
        format!("{name} {}", tensor.r#type)
    });
    match node.kind {
        Kind::Operator => label.chain(weights).collect(),
        Kind::Control => node.note.iter().cloned().collect(),
        Kind::Input | Kind::Output => Vec::new(),
    }
}

fn length(text: &str) -> usize {
    text.chars().count().min(MAX_CHARACTERS)
}
