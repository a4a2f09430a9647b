// SPDX-License-Identifier: Apache-2.0
//! A flame graph of the operators' calls as SVG: the width of a frame is its time, including all inner calls.

use std::fmt::Write as _;

use super::{Recorded, Row};

/// The width of the graph, which is the time of a call.
const WIDTH: f64 = 1200.0;
/// The height of a frame in pixels.
const HEIGHT: usize = 18;
/// The width of a character in pixels, in the `monospace` font of browsers at 12 pixels.
const CHARACTER: f64 = 7.25;
/// Minimum width of a frame; narrower frames are omitted.
const MIN_WIDTH: f64 = 0.1;
/// Colours of frames, by depth.
const COLOURS: [&str; 4] = ["#f4a261", "#e9c46a", "#e76f51", "#f6bd60"];

/// A call of an operator, or a step.
struct Frame {
    name: String,
    location: String,
    nanoseconds: f64,
    inner: Vec<Frame>,
}

impl Frame {
    fn new(name: &str, location: &str) -> Frame {
        Frame { name: name.to_owned(), location: location.to_owned(), nanoseconds: 0.0, inner: Vec::new() }
    }

    /// Adds time to the frame and to the frames of the inner calls.
    fn add(&mut self, nanoseconds: f64, calls: &[(String, String)]) {
        self.nanoseconds += nanoseconds;
        let Some(((name, location), rest)) = calls.split_first() else {
            return;
        };
        let known = self.inner.iter().position(|f| f.name == *name && f.location == *location);
        let known = known.unwrap_or_else(|| {
            self.inner.push(Frame::new(name, location));
            self.inner.len() - 1
        });
        if let Some(frame) = self.inner.get_mut(known) {
            frame.add(nanoseconds, rest);
        }
    }

    fn depth(&self) -> usize {
        1 + self.inner.iter().map(Frame::depth).fold(0, usize::max)
    }
}

impl Recorded {
    /// The graph, with the model at the bottom.
    pub(super) fn flame(&self) -> String {
        let mut root = Frame::new(&self.model, "");
        for row in self.rows() {
            root.add(row.nanoseconds, &calls(&row));
        }
        root.add(self.rest(), &[("(other)".to_owned(), String::new())]);
        let height = root.depth() * HEIGHT;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"12\">\n"
        );
        let whole = root.nanoseconds.max(1.0);
        draw(&root, 0.0, 0, height, whole, &mut text);
        text.push_str("</svg>\n");
        text
    }
}

/// The calls of the main operator. The name of the innermost call lists all operators of the step.
fn calls(row: &Row) -> Vec<(String, String)> {
    let mut calls = row.frames.clone();
    calls.retain(|(name, _)| !name.is_empty());
    let inner: Vec<String> = calls.iter().map(|(name, _)| name.clone()).collect();
    let main = inner.join("/");
    match calls.last_mut() {
        Some((name, _)) => name.extend(row.operator.strip_prefix(&main)),
        None => calls.push((row.operator.clone(), row.location.clone())),
    }
    calls.push((row.kernel.clone(), String::new()));
    calls
}

fn draw(frame: &Frame, left: f64, depth: usize, height: usize, whole: f64, text: &mut String) {
    let width = frame.nanoseconds / whole * WIDTH;
    if width < MIN_WIDTH {
        return;
    }
    let top = height.saturating_sub((depth + 1) * HEIGHT);
    let colour = COLOURS.get(depth % COLOURS.len()).copied().unwrap_or("#f4a261");
    let microseconds = frame.nanoseconds / 1e3;
    let share = 100.0 * frame.nanoseconds / whole;
    let location = if frame.location.is_empty() { String::new() } else { format!(" {}", frame.location) };
    let title = escaped(&format!("{}{location}: {microseconds:.3} µs, {share:.1} %", frame.name));
    let fitting = (width / CHARACTER) as usize;
    let label: String = match frame.name.chars().count() {
        n if n <= fitting => frame.name.clone(),
        _ if fitting > 3 => frame.name.chars().take(fitting - 1).chain(['…']).collect(),
        _ => String::new(),
    };
    let _ = writeln!(
        text,
        "<g><title>{title}</title><rect x=\"{left:.2}\" y=\"{top}\" width=\"{width:.2}\" height=\"{}\" fill=\"{colour}\"/><text x=\"{:.2}\" y=\"{}\">{}</text></g>",
        HEIGHT - 1,
        left + 2.0,
        top + HEIGHT - 5,
        escaped(&label)
    );
    let mut left = left;
    for inner in &frame.inner {
        draw(inner, left, depth + 1, height, whole, text);
        left += inner.nanoseconds / whole * WIDTH;
    }
}

/// Escapes text for XML; names come from files.
fn escaped(text: &str) -> String {
    let text = skript_host::one_line(text);
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_nest_and_names_are_escaped() {
        let graph = super::super::tests::recorded().flame();
        let titles: Vec<&str> =
            graph.split("<title>").skip(1).filter_map(|rest| rest.split("</title>").next()).collect();
        assert_eq!(
            titles,
            [
                "main.G: 10.000 µs, 100.0 %",
                "nn.conv + nn.relu a-1.sknd:3:5: 6.000 µs, 60.0 %",
                "kernel_0: 6.000 µs, 60.0 %",
                "nn.soft&lt;max&gt; a-1.sknd:5:5: 3.000 µs, 30.0 %",
                "math.exp &lt;lib&gt;/nn.sknd:9:1: 3.000 µs, 30.0 %",
                "map: 3.000 µs, 30.0 %",
                "(other): 1.000 µs, 10.0 %",
            ]
        );
    }

    #[test]
    fn control_characters_are_not_written() {
        assert_eq!(escaped("a\u{1b}<'\n"), "a\\u{1b}&lt;&#39; ");
    }
}
