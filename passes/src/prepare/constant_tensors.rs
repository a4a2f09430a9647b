// SPDX-License-Identifier: Apache-2.0
//! The tensors of an entry that are computed from nothing but variables that no call updates.

use super::constants::variables;
use crate::ir::outline::captured;
use crate::ir::{self, ValueKey, ops};
use melior::ir::Value;
use melior::ir::operation::OperationRef;
use std::collections::HashSet;

/// Operations between a variable and a value that is computed from it: as many are looked at.
const DEEPEST: usize = 8;

/// The variables of an entry, and what is computed from them alone.
pub(crate) struct ConstantTensors {
    variables: HashSet<ValueKey>,
}

impl ConstantTensors {
    /// Those of a function on tensors.
    pub(crate) fn of(function: OperationRef) -> Self {
        ConstantTensors { variables: variables(function).into_keys().collect() }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// Whether a tensor is one of them.
    pub(crate) fn contains(&self, value: Value) -> bool {
        self.contains_within(value, DEEPEST)
    }

    fn contains_within(&self, value: Value, depth: usize) -> bool {
        let Some((definition, _)) = ir::definition(value) else {
            return self.variables.contains(&ValueKey::of(value));
        };
        let is_pure = matches!(
            ir::name(definition).as_str(),
            ops::arith::CONSTANT
                | ops::linalg::GENERIC
                | ops::linalg::FILL
                | ops::tensor::COLLAPSE_SHAPE
                | ops::tensor::EMPTY
                | ops::tensor::EXPAND_SHAPE
        );
        is_pure
            && depth > 0
            && captured(definition).into_iter().all(|value| self.contains_within(value, depth - 1))
    }
}
