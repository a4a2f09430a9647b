// SPDX-License-Identifier: Apache-2.0
//! Values that a formula captures: tensors and scalars of its function.

use super::error::ExportError;
use super::finite;
use melior::ir::{OperationRef, Value};
use skript_dialect::melior;
use skript_passes::ir::ValueKey;
use std::collections::{HashMap, HashSet};

/// The StableHLO values of the tensors and scalars that a formula captures.
#[derive(Clone, Copy)]
pub(crate) struct Outside<'o, 'c, 'a> {
    /// The formula.
    pub op: OperationRef<'c, 'a>,
    /// StableHLO values by the source value that they replace.
    pub values: &'o HashMap<ValueKey, Value<'c, 'a>>,
    /// Arguments whose elements are always finite.
    pub finite: &'o HashSet<ValueKey>,
}

impl<'c: 'a, 'a> Outside<'_, 'c, 'a> {
    pub(crate) fn get(&self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, ExportError> {
        let known = self.values.get(&ValueKey::of(value)).copied();
        known.ok_or(ExportError::new(self.op, "uses a value that is not defined"))
    }

    /// Whether all elements of a value are always finite.
    pub(crate) fn is_finite(&self, value: Value<'c, 'a>) -> bool {
        finite::is_finite_value(value, self.finite)
    }
}
