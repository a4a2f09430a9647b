// SPDX-License-Identifier: Apache-2.0
//! The fields of a request.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A request. Its kind decides which of the other fields are used.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    /// The name of the text in messages.
    #[serde(default = "default_name")]
    pub(crate) name: String,
    /// The graph; the default is the first one.
    pub(crate) graph: Option<String>,
    /// Values of the graph's attributes, such as `n=8`.
    #[serde(default)]
    pub(crate) attributes: Vec<String>,
    /// Shapes of inputs with dynamic dimensions, such as `x=4,3`; the shapes of a pack are separated by `;`.
    #[serde(default)]
    pub(crate) shapes: Vec<String>,
    /// The element type of reals.
    pub(crate) real: Option<String>,
    /// The seed of the inputs and weights that the request does not have.
    #[serde(default)]
    pub(crate) seed: u64,
    #[serde(default)]
    pub(crate) inputs: BTreeMap<String, Array>,
    #[serde(default)]
    pub(crate) weights: BTreeMap<String, Array>,
    /// Maximum number of values of an array in the answer.
    #[serde(default = "default_values")]
    pub(crate) values: usize,
    /// The version of the text, of a request to the language server.
    #[serde(default)]
    pub(crate) version: i32,
    /// The method of the language server.
    #[serde(default)]
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) params: Value,
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Check,
    Format,
    Model,
    Graph,
    Values,
    Language,
}

/// An array of a request: its elements in row-major order.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Array {
    pub(crate) shape: Vec<u64>,
    pub(crate) values: Vec<Value>,
}

fn default_name() -> String {
    "model.sknd".to_owned()
}

fn default_values() -> usize {
    1 << 16
}

/// The name and the value of an entry such as `n=8`.
pub(crate) fn name_and_value(entry: &str) -> Option<(&str, &str)> {
    entry.split_once('=').filter(|(name, _)| !name.is_empty())
}

/// Reads shapes such as `4,3` or, for a pack, `4,3;5,3`. An empty text is the shape of a scalar.
pub(crate) fn shapes(text: &str) -> Option<Vec<Vec<u64>>> {
    let extents = |shape: &str| shape.split(',').map(|extent| extent.trim().parse().ok()).collect();
    let shapes =
        text.split(';').map(|shape| if shape.trim().is_empty() { Some(Vec::new()) } else { extents(shape) });
    shapes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_and_shapes() {
        assert_eq!(name_and_value("k=[1,2]"), Some(("k", "[1,2]")));
        assert_eq!(name_and_value("a=b=c"), Some(("a", "b=c")));
        assert!(name_and_value("=1").is_none() && name_and_value("n").is_none());
        assert_eq!(shapes("4,3"), Some(vec![vec![4, 3]]));
        assert_eq!(shapes("4, 3;;5"), Some(vec![vec![4, 3], vec![], vec![5]]));
        assert!(shapes("4,-1").is_none() && shapes("4,").is_none());
    }
}
