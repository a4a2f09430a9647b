// SPDX-License-Identifier: Apache-2.0
//! Builder methods for operations of the dialects `memref` and `vector`.

use crate::ir::{Builder, attributes, memref, ops, segment, signed, types, vector};
use melior::ir::attribute::IntegerAttribute;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, TypeLike, Value, ValueLike};

impl<'c: 'a, 'a> Builder<'c, 'a> {
    /// `memref.load`.
    pub(crate) fn load(&self, array: Value<'c, 'a>, place: &[Value<'c, 'a>]) -> Value<'c, 'a> {
        let element = types::element_or_self(array.r#type());
        self.make(ops::memref::LOAD, &[&[array][..], place].concat(), &[], element)
    }

    /// `memref.store`.
    pub(crate) fn store(&self, value: Value<'c, 'a>, array: Value<'c, 'a>, place: &[Value<'c, 'a>]) {
        self.op(ops::memref::STORE, &[&[value, array][..], place].concat(), &[], &[], Vec::new());
    }

    /// `memref.dim`.
    pub(crate) fn dim(&self, array: Value<'c, 'a>, dimension: usize) -> Value<'c, 'a> {
        let number = self.idx(signed(dimension));
        self.make(ops::memref::DIM, &[array, number], &[], self.index_type())
    }

    /// `memref.alloc`, aligned to a cache line. `sizes` are the dynamic extents.
    pub(crate) fn alloc(&self, r#type: Type<'c>, sizes: &[Value<'c, 'a>]) -> Value<'c, 'a> {
        let segments = self.segments(&[segment(sizes.len()), 0]);
        let attributes = [segments, ("alignment", attributes::i64(self.context, 64))];
        self.make(ops::memref::ALLOC, sizes, &attributes, r#type)
    }

    /// `memref.alloca` with static extents, aligned to a cache line.
    pub(crate) fn alloca(&self, r#type: Type<'c>) -> Value<'c, 'a> {
        let attributes = [self.segments(&[0, 0]), ("alignment", attributes::i64(self.context, 64))];
        self.make(ops::memref::ALLOCA, &[], &attributes, r#type)
    }

    /// `memref.alloca` of `count` 64-bit words.
    pub(crate) fn words(&self, count: i64) -> Value<'c, 'a> {
        let r#type = types::memref(&[count], types::word(self.context));
        self.make(ops::memref::ALLOCA, &[], &[self.segments(&[0, 0])], r#type)
    }

    /// `memref.reinterpret_cast` with static sizes and strides. The offset may be dynamic.
    pub(crate) fn reinterpret_cast(
        &self,
        array: Value<'c, 'a>,
        (offset, dynamic): (i64, Option<Value<'c, 'a>>),
        sizes: &[i64],
        strides: &[i64],
        r#type: Type<'c>,
    ) -> Value<'c, 'a> {
        let offset = if dynamic.is_some() { types::DYNAMIC } else { offset };
        let attributes = [
            self.segments(&[1, i32::from(dynamic.is_some()), 0, 0]),
            ("static_offsets", attributes::i64s(self.context, &[offset])),
            ("static_sizes", attributes::i64s(self.context, sizes)),
            ("static_strides", attributes::i64s(self.context, strides)),
        ];
        let operands: Vec<Value> = std::iter::once(array).chain(dynamic).collect();
        self.make(ops::memref::REINTERPRET_CAST, &operands, &attributes, r#type)
    }

    /// The offset, the extents and the strides of a memref, from `memref.extract_strided_metadata`.
    pub(crate) fn metadata(&self, array: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let index = self.index_type();
        let rank = memref::extents(array.r#type()).len();
        let mut results = vec![index; 2 + 2 * rank];
        results[0] = types::memref(&[], types::element_or_self(array.r#type()));
        let op = self.op(ops::memref::EXTRACT_STRIDED_METADATA, &[array], &[], &results, Vec::new());
        self.results(op).split_off(1)
    }

    /// The offset of a memref in its buffer, in elements.
    pub(crate) fn offset_of(&self, array: Value<'c, 'a>) -> Value<'c, 'a> {
        self.metadata(array)[0]
    }

    /// `memref.extract_aligned_pointer_as_index`.
    pub(crate) fn aligned_pointer(&self, array: Value<'c, 'a>) -> Value<'c, 'a> {
        self.make(ops::memref::EXTRACT_ALIGNED_POINTER_AS_INDEX, &[array], &[], self.index_type())
    }

    /// `vector.load`. `aligned` is the alignment in bytes.
    pub(crate) fn load_vector(
        &self,
        array: Value<'c, 'a>,
        place: &[Value<'c, 'a>],
        r#type: Type<'c>,
        aligned: Option<i64>,
    ) -> Value<'c, 'a> {
        let operands = [&[array][..], place].concat();
        self.make(ops::vector::LOAD, &operands, &self.alignment(aligned), r#type)
    }

    /// `vector.store`.
    pub(crate) fn store_vector(
        &self,
        value: Value<'c, 'a>,
        array: Value<'c, 'a>,
        place: &[Value<'c, 'a>],
        aligned: Option<i64>,
    ) {
        let operands = [&[value, array][..], place].concat();
        self.op(ops::vector::STORE, &operands, &self.alignment(aligned), &[], Vec::new());
    }

    fn alignment(&self, bytes: Option<i64>) -> Vec<(&'static str, Attribute<'c>)> {
        bytes.map(|bytes| ("alignment", attributes::i64(self.context, bytes))).into_iter().collect()
    }

    /// `vector.maskedload`, with zeros where the mask is false.
    pub(crate) fn masked_load(
        &self,
        array: Value<'c, 'a>,
        place: Value<'c, 'a>,
        mask: Value<'c, 'a>,
        r#type: Type<'c>,
    ) -> Value<'c, 'a> {
        let none = self.zero(r#type);
        self.make(ops::vector::MASKEDLOAD, &[array, place, mask, none], &[], r#type)
    }

    /// `vector.broadcast` of a scalar.
    pub(crate) fn broadcast(&self, value: Value<'c, 'a>, lanes: i64) -> Value<'c, 'a> {
        self.make(ops::vector::BROADCAST, &[value], &[], vector::of(&[lanes], value.r#type()))
    }

    /// A vector, or the broadcast of a scalar.
    pub(crate) fn widened(&self, value: Value<'c, 'a>, lanes: i64) -> Value<'c, 'a> {
        if value.r#type().is_vector() { value } else { self.broadcast(value, lanes) }
    }

    /// `vector.bitcast`.
    pub(crate) fn vector_bitcast(&self, value: Value<'c, 'a>, r#type: Type<'c>) -> Value<'c, 'a> {
        self.make(ops::vector::BITCAST, &[value], &[], r#type)
    }

    /// `vector.shuffle` whose result has the type of both operands.
    pub(crate) fn shuffle(&self, a: Value<'c, 'a>, b: Value<'c, 'a>, mask: &[i64]) -> Value<'c, 'a> {
        let mask = [("mask", attributes::i64s(self.context, mask))];
        self.make(ops::vector::SHUFFLE, &[a, b], &mask, a.r#type())
    }

    /// `vector.extract` of an element.
    pub(crate) fn extract(&self, vector: Value<'c, 'a>, lane: i64) -> Value<'c, 'a> {
        let position = [("static_position", attributes::i64s(self.context, &[lane]))];
        self.make(ops::vector::EXTRACT, &[vector], &position, vector::element_or_self(vector.r#type()))
    }

    /// `vector.insert` of an element.
    pub(crate) fn insert_lane(
        &self,
        value: Value<'c, 'a>,
        vector: Value<'c, 'a>,
        lane: i64,
    ) -> Value<'c, 'a> {
        let position = [("static_position", attributes::i64s(self.context, &[lane]))];
        self.make(ops::vector::INSERT, &[value, vector], &position, vector.r#type())
    }

    /// `vector.from_elements`.
    pub(crate) fn vector_of_elements(&self, elements: &[Value<'c, 'a>], r#type: Type<'c>) -> Value<'c, 'a> {
        self.make(ops::vector::FROM_ELEMENTS, elements, &[], r#type)
    }

    /// `vector.constant_mask` where the first `count` of `lanes` are true.
    pub(crate) fn constant_mask(&self, count: i64, lanes: i64) -> Value<'c, 'a> {
        let count = [("mask_dim_sizes", attributes::i64s(self.context, &[count]))];
        self.make(ops::vector::CONSTANT_MASK, &[], &count, vector::of(&[lanes], types::flag(self.context)))
    }

    /// An integer attribute of type `i32`.
    pub(crate) fn i32_attribute(&self, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(IntegerType::new(self.context, 32).into(), value).into()
    }

    /// A result of an operation, which must exist.
    pub fn result(&self, op: melior::ir::OperationRef<'c, 'a>, number: usize) -> Value<'c, 'a> {
        match op.result(number) {
            Ok(value) => value.into(),
            Err(error) => unreachable!("internal compiler error: {error}"),
        }
    }
}
