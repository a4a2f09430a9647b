// SPDX-License-Identifier: Apache-2.0
//! Sizes of boxes, from the number of characters in them: the page has a font of one width.

use crate::picture::{Kind, Node, Origin, Scope};

/// Width of a character in a title, and in the lines under it, in tenths of a pixel.
const TITLE: usize = 75;
const LINE: usize = 63;

/// The maximum number of characters that a box shows of a text; the page cuts longer ones.
const MOST: usize = 34;

/// The maximum number of lines under the title.
const MOST_LINES: usize = 4;

pub(super) fn set(scope: &mut Scope) {
    for node in &mut scope.nodes {
        let lines = lines(node);
        let widest = lines.iter().map(|line| length(line)).max().unwrap_or(0);
        // Boxes that expand have a sign before the title.
        let sign = usize::from(node.instance.is_some() || !node.inside.is_empty()) * 2;
        let title = (length(&node.title) + sign) * TITLE;
        let width = title.max(widest * LINE) / 10 + 20;
        node.width = u32::try_from(width.max(48)).unwrap_or(u32::MAX) / 2 * 2;
        let count = u32::try_from(lines.len().min(MOST_LINES)).unwrap_or(0);
        node.height = match node.kind {
            Kind::Input | Kind::Output => 24 + 14 * count,
            Kind::Operator | Kind::Control => 30 + 14 * count,
        };
    }
}

/// The lines under the title, as the page writes them: the label, the comment, then the variables that the operator reads.
fn lines(node: &Node) -> Vec<String> {
    let label = node.label.iter().chain(&node.note).cloned();
    let weights = node.inputs.iter().filter(|tensor| matches!(tensor.origin, Some(Origin::Capture(_))));
    let weights = weights.map(|tensor| {
        let name = tensor.name.split(" = ").next().unwrap_or_default();
        format!("{name} {}", tensor.r#type)
    });
    match node.kind {
        Kind::Operator => label.chain(weights).collect(),
        Kind::Control => node.note.iter().cloned().collect(),
        Kind::Input | Kind::Output => Vec::new(),
    }
}

fn length(text: &str) -> usize {
    text.chars().count().min(MOST)
}
