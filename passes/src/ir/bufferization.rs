// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `bufferization`.

use super::typed::{Error, Value, typed};
use super::{Builder, attributes, ops};
use melior::Context;
use melior::ir::{Attribute, Type};

typed! {
    /// `bufferization.to_tensor`.
    ToTensor = ops::bufferization::TO_TENSOR { buffer = 0 };
    /// `bufferization.to_buffer`.
    ToBuffer = ops::bufferization::TO_BUFFER { tensor = 0 };
    /// Writes a tensor to another tensor or a slice of it.
    Insertion = ops::tensor::INSERT_SLICE | ops::bufferization::MATERIALIZE_IN_DESTINATION {
        source = 0,
        destination = 1
    };
    /// `bufferization.materialize_in_destination`.
    Materialization = ops::bufferization::MATERIALIZE_IN_DESTINATION {
        source = 0,
        destination = 1
    };
}

/// Writes a tensor to a memref that no other value refers to, with `bufferization.materialize_in_destination`.
pub(crate) fn write_to<'c: 'a, 'a>(at: &Builder<'c, 'a>, tensor: Value<'c, 'a>, array: Value<'c, 'a>) {
    let flags = exclusive(at.context);
    at.op(ops::bufferization::MATERIALIZE_IN_DESTINATION, &[tensor, array], &flags, &[], Vec::new());
}

/// `bufferization.to_tensor` of a buffer that no other value refers to, and that may be written.
pub(crate) fn tensor_of<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    buffer: Value<'c, 'a>,
    tensor: Type<'c>,
) -> Result<Value<'c, 'a>, Error> {
    at.value(ops::bufferization::TO_TENSOR, &[buffer], &exclusive(at.context), tensor)
}

/// `bufferization.alloc_tensor`: a tensor with static extents and undefined elements, which shares no buffer with others.
pub fn allocated<'c: 'a, 'a>(at: &Builder<'c, 'a>, tensor: Type<'c>) -> Value<'c, 'a> {
    at.make(ops::bufferization::ALLOC_TENSOR, &[], &[at.segments(&[0, 0, 0])], tensor)
}

/// The attributes of exclusive access to a buffer.
fn exclusive(context: &Context) -> [(&'static str, Attribute<'_>); 2] {
    ["restrict", "writable"].map(|name| (name, attributes::unit(context)))
}
