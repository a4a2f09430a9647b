// SPDX-License-Identifier: Apache-2.0
//! Builder methods for operations of the dialect `tensor`, on tensors with static extents.

use crate::ir::{Builder, attributes, ops, segment, types};
use melior::ir::{Attribute, Type, Value, ValueLike};

/// The offset of a slice in one dimension.
#[derive(Clone, Copy, Debug)]
pub enum Offset<'c, 'a> {
    /// A constant.
    Static(i64),
    /// An index.
    Dynamic(Value<'c, 'a>),
}

impl<'c: 'a, 'a> Builder<'c, 'a> {
    /// `tensor.empty`.
    pub fn empty(&self, r#type: Type<'c>) -> Value<'c, 'a> {
        self.make(ops::tensor::EMPTY, &[], &[], r#type)
    }

    /// `tensor.extract`.
    pub fn element(&self, tensor: Value<'c, 'a>, position: &[Value<'c, 'a>]) -> Value<'c, 'a> {
        let element = types::element_or_self(tensor.r#type());
        self.make(ops::tensor::EXTRACT, &[&[tensor], position].concat(), &[], element)
    }

    /// `tensor.insert`.
    pub fn with_element(
        &self,
        tensor: Value<'c, 'a>,
        position: &[Value<'c, 'a>],
        value: Value<'c, 'a>,
    ) -> Value<'c, 'a> {
        self.make(ops::tensor::INSERT, &[&[value, tensor], position].concat(), &[], tensor.r#type())
    }

    /// `tensor.from_elements`, with these extents.
    pub fn of_elements(&self, elements: &[Value<'c, 'a>], r#type: Type<'c>) -> Value<'c, 'a> {
        self.make(ops::tensor::FROM_ELEMENTS, elements, &[], r#type)
    }

    /// `tensor.extract_slice`.
    pub fn slice(
        &self,
        tensor: Value<'c, 'a>,
        offsets: &[Offset<'c, 'a>],
        sizes: &[i64],
        strides: &[i64],
    ) -> Value<'c, 'a> {
        let (values, attributes) = self.range(&[1], offsets, sizes, strides);
        let result = types::of_extents(tensor.r#type(), sizes);
        self.make(ops::tensor::EXTRACT_SLICE, &[&[tensor], &values[..]].concat(), &attributes, result)
    }

    /// `tensor.insert_slice` of all elements of `source`.
    pub fn with_slice(
        &self,
        tensor: Value<'c, 'a>,
        offsets: &[Offset<'c, 'a>],
        strides: &[i64],
        source: Value<'c, 'a>,
    ) -> Value<'c, 'a> {
        let (values, attributes) = self.range(&[1, 1], offsets, &types::shape(source.r#type()), strides);
        let operands = [&[source, tensor], &values[..]].concat();
        self.make(ops::tensor::INSERT_SLICE, &operands, &attributes, tensor.r#type())
    }

    fn range(
        &self,
        tensors: &[i32],
        offsets: &[Offset<'c, 'a>],
        sizes: &[i64],
        strides: &[i64],
    ) -> (Vec<Value<'c, 'a>>, [(&'static str, Attribute<'c>); 4]) {
        let (mut fixed, mut values) = (Vec::new(), Vec::new());
        for offset in offsets {
            match offset {
                Offset::Static(offset) => fixed.push(*offset),
                Offset::Dynamic(value) => {
                    fixed.push(types::DYNAMIC);
                    values.push(*value);
                }
            }
        }
        let lists = [
            ("static_offsets", attributes::i64s(self.context, &fixed)),
            ("static_sizes", attributes::i64s(self.context, sizes)),
            ("static_strides", attributes::i64s(self.context, strides)),
            self.segments(&[tensors, &[segment(values.len()), 0, 0]].concat()),
        ];
        (values, lists)
    }

    /// Reshapes a tensor to a shape with the same number of elements: collapses all dimensions to one, and expands it.
    pub fn reshape(&self, tensor: Value<'c, 'a>, extents: &[i64]) -> Value<'c, 'a> {
        let from = types::shape(tensor.r#type());
        let result = types::of_extents(tensor.r#type(), extents);
        let flat = types::of_extents(tensor.r#type(), &[from.iter().product()]);
        let line = match from.len() {
            0 => self.expanded(tensor, flat),
            1 => tensor,
            _ => self.collapsed(tensor, flat),
        };
        match extents.len() {
            0 => self.collapsed(line, result),
            1 => line,
            _ => self.expanded(line, result),
        }
    }

    /// Collapses all dimensions to at most one.
    fn collapsed(&self, tensor: Value<'c, 'a>, r#type: Type<'c>) -> Value<'c, 'a> {
        let groups = self.one_group(types::shape(tensor.r#type()).len(), types::shape(r#type).len());
        self.make(ops::tensor::COLLAPSE_SHAPE, &[tensor], &[groups], r#type)
    }

    /// Expands at most one dimension.
    fn expanded(&self, tensor: Value<'c, 'a>, r#type: Type<'c>) -> Value<'c, 'a> {
        let extents = types::shape(r#type);
        let groups = self.one_group(extents.len(), types::shape(tensor.r#type()).len());
        let shape = ("static_output_shape", attributes::i64s(self.context, &extents));
        self.make(ops::tensor::EXPAND_SHAPE, &[tensor], &[groups, shape], r#type)
    }

    /// The reassociation between `rank` dimensions and one (`lines` is 1) or none (`lines` is 0).
    fn one_group(&self, rank: usize, lines: usize) -> (&'static str, Attribute<'c>) {
        let groups = vec![(0..rank).collect(); lines];
        ("reassociation", attributes::groups(self.context, &groups))
    }
}
