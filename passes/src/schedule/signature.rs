// SPDX-License-Identifier: Apache-2.0
//! The arguments of a kernel.

use crate::ir::types::{DYNAMIC, context_of};
use crate::ir::{Builder, memref};
use melior::ir::{Type, Value};

/// The arguments of a kernel, in order: the nest's operands, then captures.
#[derive(Clone, Debug, Default)]
pub struct Signature<'c> {
    /// Types of the arrays at the call.
    pub arrays: Vec<Type<'c>>,
    /// Element types of the arrays.
    pub elements: Vec<Type<'c>>,
    /// Offset and span of each array in its buffer, in elements. An offset of [`AT_RUN_TIME`] is an argument.
    pub windows: Vec<(i64, i64)>,
}

/// An offset that the caller computes.
pub const AT_RUN_TIME: i64 = DYNAMIC;

impl<'c: 'a, 'a> Signature<'c> {
    /// Returns the arrays whose offsets are arguments. These arguments follow the captures.
    pub fn placed(&self) -> impl Iterator<Item = usize> {
        self.windows
            .iter()
            .enumerate()
            .filter_map(|(position, (offset, _))| (*offset == AT_RUN_TIME).then_some(position))
    }

    /// Views an array as the type [`Signature::flat`]; `offset` is the offset computed at run time, if there is one.
    pub(crate) fn view(
        &self,
        position: usize,
        array: Value<'c, 'a>,
        offset: Option<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Value<'c, 'a> {
        let (known, span) = self.windows[position];
        let dynamic = offset.filter(|_| known == AT_RUN_TIME);
        at.reinterpret_cast(array, (known, dynamic), &[span], &[1], self.flat(position))
    }

    /// The one-dimensional type of an array, from its first element to its last.
    pub fn flat(&self, position: usize) -> Type<'c> {
        let (offset, span) = self.windows[position];
        flat(self.elements[position], span, offset)
    }
}

fn flat<'c>(element: Type<'c>, span: i64, offset: i64) -> Type<'c> {
    memref::strided(context_of(element), &[span], element, (offset, &[1]), None)
}

/// The parameter type of an array with dynamic extents: a memref of one element, which functions receive as a pointer.
pub fn pointer_type(element: Type<'_>, offset: i64) -> Type<'_> {
    flat(element, 1, offset)
}
