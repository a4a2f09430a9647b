//! The model as text, for `--emit=model` and for tests: deterministic, one operation a line.

use super::Model;

impl Model {
    /// A readable listing of all functions.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for (index, function) in self.functions.iter().enumerate() {
            text.push_str(&format!("{index}: {}\n", function.name));
        }
        text
    }
}
