// SPDX-License-Identifier: Apache-2.0
//! The inputs of new operations, with slots that map them to payload arguments.

use crate::ir::generic::Access;
use melior::ir::Value;
use skript_dialect::PassError;
use skript_dialect::melior;

/// The inputs of a new `linalg.generic`.
#[derive(Default)]
pub(super) struct Inputs<'c, 'a> {
    accesses: Vec<Access<'c, 'a>>,
}

/// The position of an input, and of its element in the payload arguments.
#[derive(Clone, Copy)]
pub(super) struct Slot(usize);

impl<'c, 'a> Inputs<'c, 'a> {
    pub(super) fn add(&mut self, access: Access<'c, 'a>) -> Slot {
        self.accesses.push(access);
        Slot(self.accesses.len() - 1)
    }

    /// Adds a tensor with one element.
    pub(super) fn add_scalar(&mut self, tensor: Value<'c, 'a>) -> Slot {
        self.add(Access(tensor, Vec::new()))
    }

    pub(super) fn accesses(&self) -> &[Access<'c, 'a>] {
        &self.accesses
    }
}

impl Slot {
    /// The payload argument for the input.
    pub(super) fn element<'c, 'a>(self, elements: &[Value<'c, 'a>]) -> Result<Value<'c, 'a>, PassError> {
        Ok(*elements.get(self.0).ok_or("internal compiler error: a payload without an input")?)
    }
}
