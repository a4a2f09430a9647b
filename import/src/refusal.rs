// SPDX-License-Identifier: Apache-2.0
//! Reasons for which a model is refused.

use std::fmt;

/// A reason and the node that it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The name of the node or, if it has none, of its first output; empty for the model.
    pub node: String,
    /// The operator of the node; empty for the model.
    pub operator: String,
    /// The unsupported part.
    pub reason: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.node.as_str(), self.operator.as_str()) {
            ("", "") => write!(f, "{}", self.reason),
            (node, "") => write!(f, "`{node}`: {}", self.reason),
            (node, operator) => write!(f, "{operator} `{node}`: {}", self.reason),
        }
    }
}

/// The reason that a rule returns, without the node.
#[derive(Debug)]
pub struct Reason(pub String);

impl<T: Into<String>> From<T> for Reason {
    fn from(text: T) -> Self {
        Reason(text.into())
    }
}

/// The result of a rule.
pub type Ruled<T> = Result<T, Reason>;

/// The reason for numbers beyond 64 bits.
pub fn overflow() -> Reason {
    Reason("a number in its shapes does not fit in 64 bits".to_owned())
}
