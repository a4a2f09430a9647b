// SPDX-License-Identifier: Apache-2.0
//! Tables on standard output.

/// Maximum width of a column; names in documents may be longer.
const MAX_WIDTH: usize = 1 << 10;

/// Formats the lines as aligned columns. The first `numbers` columns are right-aligned.
pub fn aligned<const N: usize>(lines: &[[String; N]], numbers: usize) -> String {
    let mut widths = [0; N];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            // Wider cells are not padded: `format!` panics for a width above 16 bits.
            *width = (*width).max(cell.chars().count()).min(MAX_WIDTH);
        }
    }
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(widths).enumerate().map(|(column, (cell, width))| {
            if column < numbers { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}
