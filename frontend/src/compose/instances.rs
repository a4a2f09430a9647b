// SPDX-License-Identifier: Apache-2.0
//! The data of an instance that its callers need in addition to its function.

use crate::model::{Quantization, TensorType};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// A variable of an instance, as seen by callers.
#[derive(Clone, Debug)]
pub(crate) struct CaptureName {
    /// Whether `path` starts with the module (variables of an invoked graph).
    pub absolute: bool,
    /// `label.w`.
    pub path: String,
    /// Aliases, relative like `path`.
    pub aliases: Vec<String>,
    pub tensor: TensorType,
    pub span: Span,
    /// The invocation that owns it; `None` for a variable of the body itself.
    pub invocation: Option<Span>,
}

/// Information for callers of an instance, in addition to the function.
#[derive(Clone, Debug, Default)]
pub(crate) struct InstanceInfo {
    pub captures: Vec<CaptureName>,
    /// Tensors beside the captures that have external names (2.10), with labels: all tensors of public operators,
    /// otherwise constants.
    pub tensors: FxHashSet<String>,
    /// Whether `@compose` defines the operator.
    pub(crate) is_composite: bool,
    /// Number of transitive invocations; a shared instance counts once for each path to it.
    pub invocations: usize,
    /// `@quantize` entries, with names relative to the instance.
    pub quantization: Vec<Quantization>,
}

/// The work for a variable that a caller gets from an instance, which copies its names.
const WORK_PER_CAPTURE: usize = 256;

impl InstanceInfo {
    /// The work for the names that an invocation takes over, if the caller has `held` entries of `@quantize`.
    pub(crate) fn work_of_invocation(&self, held: usize) -> usize {
        let names = self.captures.iter().map(|capture| 1 + capture.aliases.len()).sum::<usize>();
        let entries = self.quantization.len();
        let compared = entries.saturating_mul(held + entries);
        (WORK_PER_CAPTURE * names).saturating_add(compared).saturating_add(16 * self.tensors.len())
    }
}
