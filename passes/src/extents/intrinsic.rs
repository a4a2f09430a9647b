// SPDX-License-Identifier: Apache-2.0
//! Intrinsics on padded tensors: the dynamic extents of inputs and destinations become additional inputs.

use super::bounds::open_dimensions;
use super::padding::Padding;
use crate::ir::attribute_names;
use crate::ir::copy::with_attributes;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{OperationRef, Type, Value, ValueLike};

impl<'c: 'a, 'a> Padding<'_, 'c, 'a> {
    pub(super) fn intrinsic(
        &mut self,
        op: OperationRef<'c, 'a>,
        operands: &[Value<'c, 'a>],
        results: &[Value<'c, 'a>],
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let (inputs, outs) = operands.split_at(operands.len().saturating_sub(results.len()));
        let mut new = self.get_all(inputs);
        let mut filled = Vec::new();
        let word: Type<'c> = IntegerType::new(to.context, 64).into();
        for (number, tensor) in operands.iter().enumerate() {
            let open = open_dimensions(tensor.r#type()).into_iter();
            for (dimension, extent) in open.zip(self.extents_of(*tensor)) {
                let extent = to.index_cast(extent, word);
                let scalar = types::tensor(&[], word);
                new.push(to.value(ops::tensor::FROM_ELEMENTS, &[extent], &[], scalar)?);
                filled.extend([number as i64, dimension as i64]);
            }
        }
        let length = |list: &[Value]| i32::try_from(list.len()).map_err(|_| Error::OperationBuild);
        let segments = [length(&new)?, length(outs)?];
        new.extend(self.get_all(outs));
        let others = [
            ("operandSegmentSizes", attributes::i32s(to.context, &segments)),
            (attribute_names::FILLED, attributes::i64s(to.context, &filled)),
        ];
        let types: Vec<_> = results.iter().map(|r| self.bounds.padded(*r)).collect();
        let made = with_attributes(op, &new, &types, Vec::new(), &others, to)?;
        for ((old, new), out) in results.iter().zip(made.results()).zip(outs) {
            self.set(*old, new.into(), self.extents_of(*out));
        }
        Ok(())
    }
}
