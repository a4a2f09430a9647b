// SPDX-License-Identifier: Apache-2.0
//! Models arrays by offset, strides and extents in their memory.

use super::Verifier;
use crate::extents::size::element_bytes;
use crate::ir::attribute_names::BYTES;
use crate::ir::types::DYNAMIC;
use crate::ir::{ValueKey, maps, memref, operand_at, ops, shape, typed};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{PassError, melior};
use skript_symbolic::Polynomial;

/// The layout of an array in its memory.
#[derive(Clone, Debug)]
pub(super) struct Array {
    /// The number of elements of the memory.
    pub(super) size: Polynomial,
    /// The position of the first element in the memory.
    pub(super) offset: Polynomial,
    pub(super) strides: Vec<Polynomial>,
    pub(super) extents: Vec<Polynomial>,
}

impl Array {
    /// Models an array with static extents in a separate allocation.
    pub(super) fn of_type(r#type: Type) -> Option<Array> {
        let memref = MemRefType::try_from(r#type).ok()?;
        let extents = memref::extents(r#type);
        let (strides, offset) = memref.strides_and_offset();
        let is_static = |values: &[i64]| values.iter().all(|value| *value >= 0);
        if !is_static(&extents) || !is_static(&strides) || offset < 0 {
            return None;
        }
        let mut steps = extents.iter().zip(&strides);
        let last = steps.try_fold(offset, |last: i64, (extent, stride)| {
            last.checked_add((extent - 1).max(0).checked_mul(*stride)?)
        });
        let size = if extents.contains(&0) { 0 } else { last?.checked_add(1)? };
        let constants = |values: Vec<i64>| values.into_iter().map(Polynomial::constant).collect();
        Some(Array {
            size: Polynomial::constant(size),
            offset: Polynomial::constant(offset),
            strides: constants(strides),
            extents: constants(extents),
        })
    }

    /// Models a contiguous array in a separate allocation.
    fn dense(extents: Vec<Polynomial>) -> Option<Array> {
        let mut size = Polynomial::constant(1);
        let mut strides = Vec::new();
        for extent in extents.iter().rev() {
            strides.push(size.clone());
            size = size.mul(extent)?;
        }
        strides.reverse();
        Some(Array { size, offset: Polynomial::constant(0), strides, extents })
    }

    /// Returns the position of an element in the memory.
    pub(super) fn address(&self, subscripts: &[Polynomial]) -> Option<Polynomial> {
        let mut steps = subscripts.iter().zip(&self.strides);
        steps.try_fold(self.offset.clone(), |address, (subscript, stride)| {
            address.add(&subscript.mul(stride)?)
        })
    }
}

impl<'c: 'a, 'a> Verifier<'_, 'c, 'a> {
    /// Records the array that an operation creates or views, if it is modelled.
    pub(super) fn array(&mut self, op: OperationRef<'c, 'a>, name: &str) -> Result<(), PassError> {
        let Ok(result) = op.result(0).map(Value::from) else {
            return Ok(());
        };
        let array = match name {
            ops::memref::VIEW => self.view(op, result)?,
            ops::memref::ALLOC | ops::memref::ALLOCA => {
                self.listed_extents(op, result).and_then(Array::dense)
            }
            // The size of a pointer argument's memory is the size of the array type.
            ops::memref::GET_GLOBAL | ops::builtin::UNREALIZED_CONVERSION_CAST => {
                Array::of_type(result.r#type())
            }
            ops::memref::EXTRACT_STRIDED_METADATA => {
                self.metadata(op);
                return Ok(());
            }
            _ => self.viewed(op, name, result),
        };
        match array {
            Some(array) => self.arrays.insert(ValueKey::of(result), array),
            None => self.arrays.remove(&ValueKey::of(result)),
        };
        Ok(())
    }

    /// Returns the extents of a result; dynamic extents are operands of the operation.
    fn listed_extents(&mut self, op: OperationRef<'c, 'a>, result: Value<'c, 'a>) -> Option<Vec<Polynomial>> {
        let mut dynamic = 0..;
        let extents = memref::extents(result.r#type()).into_iter();
        extents
            .map(|extent| match extent {
                DYNAMIC => Some(self.number(shape::dynamic_size(op, dynamic.next()?)?)),
                extent => Some(Polynomial::constant(extent)),
            })
            .collect()
    }

    /// Returns the array of a typed view of bytes. Proves that the view is in the bounds of the bytes and of its slot.
    fn view(&mut self, op: OperationRef<'c, 'a>, result: Value<'c, 'a>) -> Result<Option<Array>, PassError> {
        let Some(array) = self.listed_extents(op, result).and_then(Array::dense) else {
            return Ok(None);
        };
        let (source, offset) = (op.operand(0)?, op.operand(1)?);
        let Some(bytes) = self.arrays.get(&ValueKey::of(source)).cloned() else {
            return Ok(Some(array));
        };
        let element = MemRefType::try_from(result.r#type())?.element();
        let element = element_bytes(element).and_then(|bytes| i64::try_from(bytes).ok());
        let offset = self.number(offset);
        let size = element.and_then(|element| array.size.scale(element));
        let Some((size, first)) = size.zip(bytes.offset.add(&offset)) else {
            return Ok(Some(array));
        };
        let last = size.plus(-1).and_then(|last| first.add(&last));
        if let Some(last) = last.filter(|_| array.size.as_constant() != Some(0)) {
            self.prove(op, &bytes, &first, &last)?;
        }
        if let Some(slot) = typed::integer(op, BYTES) {
            let slot = Array::dense(vec![Polynomial::constant(slot)]);
            let (zero, last) = (Polynomial::constant(0), size.plus(-1));
            if let Some((slot, last)) = slot.zip(last) {
                self.prove(op, &slot, &zero, &last)?;
            }
        }
        Ok(Some(array))
    }

    /// Returns the array of a view of the operation's first operand.
    fn viewed(&mut self, op: OperationRef<'c, 'a>, name: &str, result: Value<'c, 'a>) -> Option<Array> {
        let source = operand_at(op, 0)?;
        let source = self.arrays.get(&ValueKey::of(source)).cloned()?;
        match name {
            ops::memref::CAST | ops::memref::MEMORY_SPACE_CAST => Some(source),
            ops::memref::SUBVIEW => self.subview(op, result, &source),
            ops::memref::REINTERPRET_CAST => {
                let [offsets, extents, strides] = self.static_and_dynamic(op)?;
                Some(Array { size: source.size, offset: offsets.into_iter().next()?, strides, extents })
            }
            ops::memref::COLLAPSE_SHAPE => collapsed(op, &source),
            ops::memref::EXPAND_SHAPE => {
                let extents = self.listed_extents(op, result)?;
                expanded(op, source, extents)
            }
            ops::memref::TRANSPOSE => {
                let order = maps::indices(op.attribute("permutation").ok()?);
                let order: Vec<usize> = order.into_iter().collect::<Option<_>>()?;
                let (strides, extents) = (picked(&source.strides, &order)?, picked(&source.extents, &order)?);
                Some(Array { strides, extents, ..source })
            }
            _ => None,
        }
    }

    /// Returns the offsets, sizes and strides of a view operation; dynamic values are operands.
    fn static_and_dynamic(&mut self, op: OperationRef<'c, 'a>) -> Option<[Vec<Polynomial>; 3]> {
        let mut operands = op.operands().skip(1);
        let lists = ["static_offsets", "static_sizes", "static_strides"].map(|name| {
            let values = typed::i64s(op, name).into_iter();
            values
                .map(|value| match value {
                    DYNAMIC => Some(self.number(operands.next()?)),
                    value => Some(Polynomial::constant(value)),
                })
                .collect::<Option<Vec<_>>>()
        });
        let [offsets, sizes, strides] = lists;
        Some([offsets?, sizes?, strides?])
    }

    fn subview(&mut self, op: OperationRef<'c, 'a>, result: Value<'c, 'a>, source: &Array) -> Option<Array> {
        let [offsets, sizes, steps] = self.static_and_dynamic(op)?;
        let offset = source.address(&offsets)?;
        let strides = source.strides.iter().zip(&steps).map(|(s, n)| s.mul(n));
        let strides: Vec<Polynomial> = strides.collect::<Option<_>>()?;
        let kept = kept(&typed::i64s(op, "static_sizes"), &memref::extents(result.r#type()))?;
        let (strides, extents) = (picked(&strides, &kept)?, picked(&sizes, &kept)?);
        Some(Array { size: source.size.clone(), offset, strides, extents })
    }

    /// Records the results of `memref.extract_strided_metadata`: offset, sizes and strides.
    fn metadata(&mut self, op: OperationRef<'c, 'a>) {
        let source = operand_at(op, 0).map(ValueKey::of);
        let source = source.and_then(|source| self.arrays.get(&source).cloned());
        let mut results = op.results().map(Value::from);
        let Some((base, source)) = results.next().zip(source) else {
            return self.scalar(op, ops::memref::EXTRACT_STRIDED_METADATA);
        };
        let numbers = [vec![source.offset], source.extents, source.strides].concat();
        for (result, number) in results.zip(numbers) {
            self.numbers.insert(ValueKey::of(result), number);
        }
        let base_array = Array {
            size: source.size,
            offset: Polynomial::constant(0),
            strides: Vec::new(),
            extents: Vec::new(),
        };
        self.arrays.insert(ValueKey::of(base), base_array);
    }
}

/// Returns the values at these positions.
fn picked(values: &[Polynomial], positions: &[usize]) -> Option<Vec<Polynomial>> {
    positions.iter().map(|position| values.get(*position).cloned()).collect()
}

/// Returns the dimensions of a subview that remain in its type: a rank-reducing subview drops dimensions of size 1.
fn kept(sizes: &[i64], extents: &[i64]) -> Option<Vec<usize>> {
    match (sizes.split_last(), extents.split_last()) {
        (None, None) => Some(Vec::new()),
        (None, Some(_)) => None,
        (Some((size, before)), last) => {
            let same = last.filter(|(extent, _)| *extent == size);
            match same.and_then(|(_, extents)| kept(before, extents)) {
                Some(mut dimensions) => {
                    dimensions.push(before.len());
                    Some(dimensions)
                }
                None if *size == 1 => kept(before, extents),
                None => None,
            }
        }
    }
}

/// Returns the array of a `memref.collapse_shape`, whose merged dimensions are contiguous.
fn collapsed(op: OperationRef, source: &Array) -> Option<Array> {
    let (mut strides, mut extents) = (Vec::new(), Vec::new());
    for group in shape::reassociation(op)? {
        let mut extent = Polynomial::constant(1);
        let mut stride = Polynomial::constant(1);
        for dimension in group.into_iter().rev() {
            if extent.as_constant() == Some(1) {
                stride = source.strides.get(dimension)?.clone();
            }
            extent = extent.mul(source.extents.get(dimension)?)?;
        }
        strides.push(stride);
        extents.push(extent);
    }
    Some(Array { strides, extents, ..source.clone() })
}

/// Returns the array of a `memref.expand_shape`.
fn expanded(op: OperationRef, source: Array, extents: Vec<Polynomial>) -> Option<Array> {
    let mut strides = vec![Polynomial::constant(1); extents.len()];
    for (group, stride) in shape::reassociation(op)?.into_iter().zip(&source.strides) {
        let mut stride = stride.clone();
        for dimension in group.into_iter().rev() {
            *strides.get_mut(dimension)? = stride.clone();
            stride = stride.mul(extents.get(dimension)?)?;
        }
    }
    Some(Array { strides, extents, ..source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subview_may_drop_dimensions_of_size_one() {
        assert_eq!(kept(&[1, 4, 1], &[4, 1]), Some(vec![1, 2]));
        assert_eq!(kept(&[1, 4, 1], &[1, 4]), Some(vec![0, 1]));
        assert_eq!(kept(&[1, DYNAMIC], &[DYNAMIC]), Some(vec![1]));
        assert_eq!(kept(&[1, 1], &[]), Some(vec![]));
        assert_eq!(kept(&[2, 1], &[]), None);
    }
}
