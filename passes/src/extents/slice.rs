// SPDX-License-Identifier: Apache-2.0
//! Padding of slices: `tensor.extract_slice` and `tensor.insert_slice`.

use super::bounds::{Slice, is_open, open_dimensions};
use super::formula::below;
use super::padding::Padding;
use crate::ir;
use crate::ir::copy::with_attributes;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::Error;
use melior::ir::{OperationRef, Region, Type, Value, ValueLike};
use skript_dialect::melior;
use skript_semantics::ScalarOp;

impl<'c: 'a, 'a> Padding<'_, 'c, 'a> {
    /// Rebuilds an extraction. The upper bounds of dynamic sizes become the sizes.
    pub(super) fn extract(
        &mut self,
        op: OperationRef<'c, 'a>,
        operands: &[Value<'c, 'a>],
        result: Value<'c, 'a>,
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let slice = Slice::from_op(op).ok_or(Error::OperationBuild)?;
        let offsets = slice.dynamic_offsets(operands, 1);
        let bounds = self.bounds.extents(result);
        let open = open_dimensions(result.r#type());
        let mut next = open.iter().filter_map(|d| bounds.get(*d).copied());
        let mut sizes = Vec::new();
        for size in &slice.sizes {
            sizes.push(match size {
                &types::DYNAMIC => next.next().ok_or(Error::OperationBuild)?,
                fixed => *fixed,
            });
        }
        let mut new = vec![self.get(*operands.first().ok_or(Error::OperationBuild)?)];
        new.extend(self.get_all(offsets));
        let count = i32::try_from(offsets.len()).map_err(|_| Error::OperationBuild)?;
        let others = [
            ("static_sizes", attributes::i64s(to.context, &sizes)),
            ("operandSegmentSizes", attributes::i32s(to.context, &[1, count, 0, 0])),
        ];
        let types = [self.bounds.padded(result)];
        let made = with_attributes(op, &new, &types, Vec::new(), &others, to)?;
        let extents = self.get_all(slice.dynamic_sizes(operands, 1));
        self.set(result, ir::result(made)?, extents);
        Ok(())
    }

    /// Rebuilds an insertion. If `item` has dynamic extents, a formula writes only the elements within these extents.
    pub(super) fn insert(
        &mut self,
        op: OperationRef<'c, 'a>,
        operands: &[Value<'c, 'a>],
        (item, into, result): (Value<'c, 'a>, Value<'c, 'a>, Value<'c, 'a>),
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let slice = Slice::from_op(op).ok_or(Error::OperationBuild)?;
        let value = if is_open(item) {
            self.insert_filled(&slice, operands, item, into, to)?
        } else {
            let new = self.get_all(operands);
            let types = [self.bounds.padded(result)];
            let made = with_attributes(op, &new, &types, Vec::new(), &[], to)?;
            ir::result(made)?
        };
        self.set(result, value, self.extents_of(into));
        Ok(())
    }

    fn insert_filled(
        &mut self,
        slice: &Slice,
        operands: &[Value<'c, 'a>],
        item: Value<'c, 'a>,
        into: Value<'c, 'a>,
        to: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let context = to.context;
        let (new_item, new_into) = (self.get(item), self.get(into));
        let extents = self.bounds.extents(item);
        let declared = types::shape(item.r#type());
        let sizes = self.get_all(slice.dynamic_sizes(operands, 2));
        let mut offsets = self.get_all(slice.dynamic_offsets(operands, 2)).into_iter();
        let mut arguments = vec![Type::index(context); extents.len()];
        arguments.push(new_into.r#type());

        let (predicate, at, indices) = to.region(&arguments);
        let open = open_dimensions(item.r#type());
        let limits: Vec<_> = open.into_iter().zip(sizes).collect();
        let holds = below(&indices, &limits, &at)?;
        let holds = holds.ok_or(Error::OperationBuild)?;
        at.create(ops::skript::CONDITION, &[holds], &[], &[], Vec::new())?;

        let (body, at, indices) = to.region(&arguments);
        let (indices, _) = indices.split_at(extents.len());
        let mut read = vec![new_item];
        read.extend(indices);
        let element = types::element_of(new_item.r#type()).ok_or(Error::OperationBuild)?;
        let value = at.value(ops::skript::ACCESS, &read, &[], element)?;
        let mut yielded = vec![value];
        let mut taken = 0;
        for (dimension, (offset, size)) in slice.offsets.iter().zip(&slice.sizes).enumerate() {
            let offset = match offset {
                &types::DYNAMIC => Some(offsets.next().ok_or(Error::OperationBuild)?),
                0 => None,
                fixed => Some(at.idx(*fixed)),
            };
            // Rank reduction: the item does not have this dimension of one element.
            let lacks = declared.len() - taken < slice.sizes.len() - dimension;
            let dropped = declared.get(taken) != Some(size) || *size == 1 && lacks;
            let index = if dropped { None } else { indices.get(taken).copied() };
            taken += usize::from(!dropped);
            yielded.push(match (offset, index) {
                (Some(offset), Some(index)) => {
                    at.scalar(ScalarOp::Add, &[offset, index], Type::index(context))?
                }
                (Some(only), None) | (None, Some(only)) => only,
                (None, None) => at.idx(0),
            });
        }
        let rank = i32::try_from(slice.sizes.len()).map_err(|_| Error::OperationBuild)?;
        let end = [
            ("ranks", attributes::i32s(context, &[rank])),
            ("operandSegmentSizes", attributes::i32s(context, &[1, rank])),
        ];
        at.create(ops::skript::YIELD, &yielded, &end, &[], Vec::new())?;
        self.assign(new_into, &extents, vec![predicate, body], to)
    }

    fn assign(
        &self,
        into: Value<'c, 'a>,
        bounds: &[i64],
        regions: Vec<Region<'c>>,
        to: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let context = to.context;
        let described = [
            ("kind", attributes::accumulation(context, "assign")),
            ("static_bounds", attributes::i64s(context, bounds)),
            ("operandSegmentSizes", attributes::i32s(context, &[0, 1])),
        ];
        let types = [into.r#type()];
        let made = to.create(ops::skript::FORMULA, &[into], &described, &types, regions)?;
        ir::result(made)
    }
}
