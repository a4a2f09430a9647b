// SPDX-License-Identifier: Apache-2.0
//! Strided blocks of tensors, and splitting and merging of dimensions.

use super::dynamic_extents::Sizes;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::Error;
use melior::ir::attribute::ArrayAttribute;
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

/// `destination` with the block replaced by `source`.
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

/// The block, of this type.
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

/// Merges groups of dimensions; `groups` lists the dimensions of `source` for each of the result's.
pub(crate) fn collapse<'c: 'a, 'a>(
    source: Value<'c, 'a>,
    groups: &[Vec<usize>],
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    at.value(ops::tensor::COLLAPSE_SHAPE, &[source], &[("reassociation", reassociation(at, groups))], r#type)
}

/// Splits dimensions; `groups` lists the dimensions of the result for each of the source's.
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
            ("reassociation", reassociation(at, groups)),
            ("static_output_shape", attributes::i64s(at.context, &sizes.fixed)),
        ],
        r#type,
    )
}

fn reassociation<'c>(at: &Builder<'c, '_>, groups: &[Vec<usize>]) -> Attribute<'c> {
    let groups: Vec<Attribute<'c>> = groups
        .iter()
        .map(|group| {
            let group: Vec<Attribute<'c>> = group
                .iter()
                .map(|d| attributes::i64(at.context, i64::try_from(*d).unwrap_or(i64::MAX)))
                .collect();
            ArrayAttribute::new(at.context, &group).into()
        })
        .collect();
    ArrayAttribute::new(at.context, &groups).into()
}
