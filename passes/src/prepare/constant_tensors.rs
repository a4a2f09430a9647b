// SPDX-License-Identifier: Apache-2.0
//! Finds the tensors of an entry that are computed only from variables that no call updates.

use super::constants::variables;
use crate::ir::outline::captured;
use crate::ir::{self, ValueKey, ops};
use melior::ir::Value;
use melior::ir::operation::OperationRef;
use std::collections::HashSet;

/// The maximum number of operations between a variable and a tensor that is computed from it.
const MAX_DEPTH: usize = 8;

/// The variables of an entry, and the tensors that are computed only from them.
pub(crate) struct ConstantTensors {
    variables: HashSet<ValueKey>,
}

impl ConstantTensors {
    pub(crate) fn new(function: OperationRef) -> Self {
        ConstantTensors { variables: variables(function).into_keys().collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// Whether a tensor is one of them.
    pub(crate) fn contains(&self, value: Value) -> bool {
        self.contains_within(value, MAX_DEPTH)
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
