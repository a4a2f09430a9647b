// SPDX-License-Identifier: Apache-2.0
//! Strided blocks of tensors, and splitting and merging of dimensions.

use super::dynamic_extents::Sizes;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::Error;
use melior::ir::{Attribute, Type, Value, ValueLike};

type Named<'c> = Vec<(&'static str, Attribute<'c>)>;

fn slice<'c>(
    at: &Builder<'c, '_>,
    offsets: &[i64],
    sizes: &Sizes<'c, '_>,
    strides: &[i64],
    tensors: &[i32],
) -> Named<'c> {
    let open = i32::try_from(sizes.values.len()).unwrap_or(i32::MAX);
    let segments = [tensors, &[0, open, 0]].concat();
    vec![
        ("static_offsets", attributes::i64s(at.context, offsets)),
        ("static_sizes", attributes::i64s(at.context, &sizes.fixed)),
        ("static_strides", attributes::i64s(at.context, strides)),
        ("operandSegmentSizes", attributes::i32s(at.context, &segments)),
    ]
}

/// Inserts `source` into `destination` at the block.
pub(crate) fn insert<'c: 'a, 'a>(
    source: Value<'c, 'a>,
    destination: Value<'c, 'a>,
    offsets: &[i64],
    sizes: &Sizes<'c, 'a>,
    strides: &[i64],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let attributes = slice(at, offsets, sizes, strides, &[1, 1]);
    let mut operands = vec![source, destination];
    operands.extend(&sizes.values);
    at.value(ops::tensor::INSERT_SLICE, &operands, &attributes, destination.r#type())
}

/// Extracts the block of `source`.
pub(crate) fn extract<'c: 'a, 'a>(
    source: Value<'c, 'a>,
    offsets: &[i64],
    sizes: &Sizes<'c, 'a>,
    strides: &[i64],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let attributes = slice(at, offsets, sizes, strides, &[1]);
    let r#type = types::of_extents(source.r#type(), &sizes.fixed);
    let mut operands = vec![source];
    operands.extend(&sizes.values);
    at.value(ops::tensor::EXTRACT_SLICE, &operands, &attributes, r#type)
}

/// Merges groups of dimensions; `groups` lists the dimensions of `source` for each dimension of the result.
pub(crate) fn collapse<'c: 'a, 'a>(
    source: Value<'c, 'a>,
    groups: &[Vec<usize>],
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    at.value(
        ops::tensor::COLLAPSE_SHAPE,
        &[source],
        &[("reassociation", attributes::groups(at.context, groups))],
        r#type,
    )
}

/// Splits dimensions; `groups` lists the dimensions of the result for each dimension of `source`.
pub(crate) fn expand<'c: 'a, 'a>(
    source: Value<'c, 'a>,
    groups: &[Vec<usize>],
    sizes: &Sizes<'c, 'a>,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let mut operands = vec![source];
    operands.extend(&sizes.values);
    at.value(
        ops::tensor::EXPAND_SHAPE,
        &operands,
        &[
            ("reassociation", attributes::groups(at.context, groups)),
            ("static_output_shape", attributes::i64s(at.context, &sizes.fixed)),
        ],
        r#type,
    )
}
