// SPDX-License-Identifier: Apache-2.0
//! The builder, which creates operations at an insertion point.

pub mod arith;
mod control;
pub(crate) mod llvm;
mod memory;
mod tensor;

pub use tensor::Offset;

use super::counts::signed;
use super::{attributes, ops, types};
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike};

use melior::ir::{
    Attribute, Block, BlockRef, Location, Operation, OperationRef, Region, RegionLike, RegionRef, Type,
    Value, ValueLike,
};
use melior::{Context, Error};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// An insertion point, and the location of the operations that are created there.
#[derive(Clone, Copy)]
pub struct Builder<'c, 'a> {
    /// The context of types and attributes.
    pub context: &'c Context,
    /// The block that operations are inserted into.
    pub block: BlockRef<'c, 'a>,
    before: Option<OperationRef<'c, 'a>>,
    /// The location of new operations.
    pub location: Location<'c>,
}

impl<'c: 'a, 'a> Builder<'c, 'a> {
    /// Inserts at the end of a block.
    pub fn at_end(context: &'c Context, block: BlockRef<'c, 'a>, location: Location<'c>) -> Self {
        Builder { context, block, before: None, location }
    }

    /// Inserts before `op`, with its location.
    ///
    /// # Errors
    /// `op` is in no block.
    pub fn before(context: &'c Context, op: OperationRef<'c, 'a>) -> Result<Self, Error> {
        Ok(Builder {
            context,
            block: op.block().ok_or(Error::OperationBuild)?,
            before: Some(op),
            location: op.location(),
        })
    }

    /// Inserts before an operation that is in a block, with its location.
    pub(crate) fn at(op: OperationRef<'c, 'a>) -> Self {
        Builder::before(super::context::of(op), op)
            .unwrap_or_else(|_| unreachable!("internal compiler error: an operation outside of a block"))
    }

    /// The same insertion point, with another location for new operations.
    pub fn with_location(self, location: Location<'c>) -> Self {
        Builder { location, ..self }
    }

    /// Inserts an operation.
    ///
    /// # Errors
    /// The builder's error.
    pub fn create(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        attributes: &[(&str, Attribute<'c>)],
        results: &[Type<'c>],
        regions: Vec<Region<'c>>,
    ) -> Result<OperationRef<'c, 'a>, Error> {
        let operation = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_attributes(&attributes::named(self.context, attributes))
            .add_results(results)
            .add_regions_vec(regions)
            .build()?;
        Ok(self.insert(operation))
    }

    /// Inserts a detached operation.
    pub fn insert(&self, operation: Operation<'c>) -> OperationRef<'c, 'a> {
        match self.before {
            Some(next) => self.block.insert_operation_before(next, operation),
            None => self.block.append_operation(operation),
        }
    }

    /// Inserts an operation with one result, and returns the result.
    ///
    /// # Errors
    /// The builder's error.
    pub fn value(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        attributes: &[(&str, Attribute<'c>)],
        result: Type<'c>,
    ) -> Result<Value<'c, 'a>, Error> {
        let op = self.create(name, operands, attributes, &[result], Vec::new())?;
        Ok(op.result(0)?.into())
    }

    /// Inserts an operation that must be well-formed; otherwise, this is an internal compiler error.
    pub fn op(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        attributes: &[(&str, Attribute<'c>)],
        results: &[Type<'c>],
        regions: Vec<Region<'c>>,
    ) -> OperationRef<'c, 'a> {
        match self.create(name, operands, attributes, results, regions) {
            Ok(op) => op,
            Err(error) => unreachable!("internal compiler error: {name}: {error}"),
        }
    }

    /// Like [`Builder::op`], for an operation with one result, which is returned.
    pub fn make(
        &self,
        name: &str,
        operands: &[Value<'c, 'a>],
        attributes: &[(&str, Attribute<'c>)],
        result: Type<'c>,
    ) -> Value<'c, 'a> {
        let op = self.op(name, operands, attributes, &[result], Vec::new());
        self.result(op, 0)
    }

    /// A constant `index` that is not inserted yet.
    pub(crate) fn detached_index(&self, value: i64) -> Operation<'c> {
        let index = self.index_type();
        let value = ("value", IntegerAttribute::new(index, value).into());
        OperationBuilder::new(ops::arith::CONSTANT, self.location)
            .add_attributes(&attributes::named(self.context, &[value]))
            .add_results(&[index])
            .build()
            .unwrap_or_else(|error| unreachable!("internal compiler error: {error}"))
    }

    /// The type `index`.
    pub fn index_type(&self) -> Type<'c> {
        Type::index(self.context)
    }

    /// The attribute `operandSegmentSizes`.
    pub fn segments(&self, counts: &[i32]) -> (&'static str, Attribute<'c>) {
        ("operandSegmentSizes", attributes::i32s(self.context, counts))
    }

    /// A new region with one block, a builder at the end of the block, and the arguments of the block.
    pub fn region(&self, arguments: &[Type<'c>]) -> (Region<'c>, Builder<'c, 'a>, Vec<Value<'c, 'a>>) {
        let region = Region::new();
        let arguments: Vec<_> = arguments.iter().map(|t| (*t, self.location)).collect();
        let block: BlockRef<'c, 'a> = region.append_block(Block::new(&arguments));
        let values =
            (0..block.argument_count()).filter_map(|i| block.argument(i).ok().map(Into::into)).collect();
        (region, Builder::at_end(self.context, block, self.location), values)
    }

    /// A constant `index`.
    ///
    /// # Errors
    /// The builder's error.
    pub fn index(&self, value: i64) -> Result<Value<'c, 'a>, Error> {
        let index = Type::index(self.context);
        self.value(ops::arith::CONSTANT, &[], &[("value", IntegerAttribute::new(index, value).into())], index)
    }

    /// The index of a loop of the enclosing `linalg.generic`.
    ///
    /// # Errors
    /// The builder's error.
    pub fn loop_index(&self, l: usize) -> Result<Value<'c, 'a>, Error> {
        let dimension = ("dim", attributes::i64(self.context, signed(l)));
        self.value(ops::linalg::INDEX, &[], &[dimension], Type::index(self.context))
    }

    /// A scalar constant.
    ///
    /// # Errors
    /// The builder's error.
    pub fn constant(&self, value: Scalar, r#type: Type<'c>) -> Result<Value<'c, 'a>, Error> {
        let value = attributes::scalar(self.context, value, r#type);
        self.value(ops::arith::CONSTANT, &[], &[("value", value)], r#type)
    }

    /// A tensor constant.
    ///
    /// # Errors
    /// The builder's error.
    pub fn dense(&self, elements: Attribute<'c>, r#type: Type<'c>) -> Result<Value<'c, 'a>, Error> {
        self.value(ops::arith::CONSTANT, &[], &[("value", elements)], r#type)
    }

    /// A scalar operation of the `skript` dialect.
    ///
    /// # Errors
    /// The builder's error.
    pub fn scalar(
        &self,
        op: ScalarOp,
        operands: &[Value<'c, 'a>],
        result: Type<'c>,
    ) -> Result<Value<'c, 'a>, Error> {
        self.value(op.row().name, operands, &[], result)
    }

    /// The dynamic extents of a tensor.
    pub(crate) fn dynamic_extents(&self, tensor: Value<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Error> {
        let extents = (0i64..).zip(types::extents(tensor.r#type()).ok_or(Error::OperationBuild)?);
        let dynamic = extents.filter(|(_, extent)| *extent == types::DYNAMIC);
        dynamic.map(|(dimension, _)| self.extent(tensor, dimension)).collect()
    }

    /// One extent of a tensor, as an index.
    ///
    /// # Errors
    /// The builder's error.
    pub fn extent(&self, tensor: Value<'c, 'a>, dimension: i64) -> Result<Value<'c, 'a>, Error> {
        let operands = [tensor, self.index(dimension)?];
        self.value(ops::tensor::DIM, &operands, &[], Type::index(self.context))
    }

    /// A tensor of static shape, filled with one value.
    ///
    /// # Errors
    /// The builder's error.
    pub fn fill(&self, value: Value<'c, 'a>, r#type: Type<'c>) -> Result<Value<'c, 'a>, Error> {
        self.fill_sized(value, r#type, &[])
    }

    /// A tensor filled with one value. `extents` are the dynamic extents.
    pub(crate) fn fill_sized(
        &self,
        value: Value<'c, 'a>,
        r#type: Type<'c>,
        extents: &[Value<'c, 'a>],
    ) -> Result<Value<'c, 'a>, Error> {
        let empty = self.value(ops::tensor::EMPTY, extents, &[], r#type)?;
        let element = types::element_of(r#type).ok_or(Error::OperationBuild)?;
        let op = self.fill_operation(value, empty, element, &[r#type])?;
        Ok(op.result(0)?.into())
    }

    /// Fills a memref with one value.
    pub(crate) fn fill_into(&self, value: Value<'c, 'a>, array: Value<'c, 'a>) -> Result<(), Error> {
        self.fill_operation(value, array, value.r#type(), &[]).map(|_| ())
    }

    fn fill_operation(
        &self,
        value: Value<'c, 'a>,
        array: Value<'c, 'a>,
        element: Type<'c>,
        results: &[Type<'c>],
    ) -> Result<OperationRef<'c, 'a>, Error> {
        let (region, body, arguments) = self.region(&[element, element]);
        body.create(ops::linalg::YIELD, arguments.get(..1).unwrap_or(&[]), &[], &[], Vec::new())?;
        self.create(ops::linalg::FILL, &[value, array], &[self.segments(&[1, 1])], results, vec![region])
    }
}

/// The block of a region with one block.
///
/// # Errors
/// The region is empty.
pub fn only_block<'c: 'a, 'a>(region: RegionRef<'c, 'a>) -> Result<BlockRef<'c, 'a>, Error> {
    region.first_block().ok_or(Error::OperationBuild)
}

/// The operations of a block, in order. The list is valid while the block changes.
pub fn operations<'c, 'a>(block: BlockRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    std::iter::successors(block.first_operation(), |op| op.next_in_block()).collect()
}

/// The value of a constant: `value` for a float type, `int` for an integer type.
pub fn number<'c>(
    context: &'c Context,
    r#type: Type<'c>,
    kind: ScalarKind,
    value: f64,
    int: i64,
) -> Attribute<'c> {
    match kind {
        ScalarKind::Real => FloatAttribute::new(context, r#type, value).into(),
        ScalarKind::Int | ScalarKind::Bool => IntegerAttribute::new(r#type, int).into(),
    }
}
