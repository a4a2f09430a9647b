// SPDX-License-Identifier: Apache-2.0
//! Creating operations one after the other.

use super::ops;
use super::{attributes, types};
use melior::ir::attribute::{FloatAttribute, IntegerAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationBuilder, OperationLike};

use melior::ir::{
    Attribute, Block, BlockRef, Identifier, Location, Operation, OperationRef, Region, RegionLike, RegionRef,
    Type, Value, ValueLike,
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
        let attributes: Vec<_> =
            attributes.iter().map(|(name, value)| (Identifier::new(self.context, name), *value)).collect();
        let operation = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_attributes(&attributes)
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

    /// An operation with one result.
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

    /// A new region of one block with arguments of these types, and a builder at its end.
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

    /// A scalar constant of this type.
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

    /// A scalar operation of the dialect on scalars of one type.
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
        let extents = types::extents(tensor.r#type()).unwrap_or_default();
        let open = (0i64..).zip(extents).filter(|(_, e)| *e == types::DYNAMIC);
        open.map(|(dimension, _)| self.extent(tensor, dimension)).collect()
    }

    /// One extent of a tensor, as an index.
    ///
    /// # Errors
    /// The builder's error.
    pub fn extent(&self, tensor: Value<'c, 'a>, dimension: i64) -> Result<Value<'c, 'a>, Error> {
        let operands = [tensor, self.index(dimension)?];
        self.value(ops::tensor::DIM, &operands, &[], Type::index(self.context))
    }

    /// Whether a comparison of integers, indices or vectors of them holds; `code` is that of the predicate of `arith.cmpi`.
    ///
    /// # Errors
    /// The builder's error.
    pub(crate) fn compare(
        &self,
        code: i64,
        a: Value<'c, 'a>,
        b: Value<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let predicate = [("predicate", super::maps::integer_predicate(self.context, code))];
        let flag = types::flag(self.context);
        let result = super::vector::shaped_like(a.r#type(), flag);
        self.value(ops::arith::CMPI, &[a, b], &predicate, result)
    }

    /// The tensor filled with one value.
    ///
    /// # Errors
    /// The builder's error.
    pub fn fill(&self, value: Value<'c, 'a>, r#type: Type<'c>) -> Result<Value<'c, 'a>, Error> {
        self.fill_sized(value, r#type, &[])
    }

    /// The tensor filled with one value; `extents` are the dynamic ones.
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
    ///
    /// # Errors
    /// The builder's error.
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
        self.create(
            ops::linalg::FILL,
            &[value, array],
            &[("operandSegmentSizes", attributes::i32s(self.context, &[1, 1]))],
            results,
            vec![region],
        )
    }
}

/// The only block of a region.
///
/// # Errors
/// The builder's error.
pub fn only_block<'c: 'a, 'a>(region: RegionRef<'c, 'a>) -> Result<BlockRef<'c, 'a>, Error> {
    region.first_block().ok_or(Error::OperationBuild)
}

/// The operations of a block, in order; safe against later changes.
pub fn operations<'c, 'a>(block: BlockRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = Vec::new();
    let mut next = block.first_operation();
    while let Some(op) = next {
        found.push(op);
        next = op.next_in_block();
    }
    found
}

/// The float constant attribute of a float type; the integer one otherwise.
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
