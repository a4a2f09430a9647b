// SPDX-License-Identifier: Apache-2.0
//! A quantizer of a tensor, as an invocation that is not bound yet (2.14).

use crate::ast::Path;
use crate::compose::invocations::arguments::ArgumentList;
use crate::source::Span;
use std::fmt::Write as _;

/// An entry for a tensor of the current function or of one of its invocations.
#[derive(Clone, Debug)]
pub(crate) struct Quantizer<'p> {
    /// The tensor's name, or the path of labels to it followed by its name.
    pub path: String,
    pub(super) operator: &'p Path,
    /// The module in which the operator's name is resolved.
    pub(super) module: &'p str,
    /// Types and attribute values, evaluated at the entry.
    pub(super) list: ArgumentList,
    pub(super) span: Span,
}

impl Quantizer<'_> {
    /// Appends the quantizer to the key of an instance: instances with different simulated quantizers are not shared.
    pub(crate) fn describe_into(&self, key: &mut String) {
        // Writing to a string cannot fail.
        let _ = write!(
            key,
            "|quantize {}:{}@{:?}{:?}",
            self.path,
            self.operator.text(),
            self.list.attributes,
            self.list.types
        );
    }
}
