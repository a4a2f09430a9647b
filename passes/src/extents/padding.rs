// SPDX-License-Identifier: Apache-2.0
//! Rebuilds operations on padded tensors.

use super::bounds::{Bounds, is_open, open_dimensions};
use crate::ir;
use crate::ir::blocks;
use crate::ir::builder::operations;
use crate::ir::copy::{arguments, operation_name, with_attributes};
use crate::ir::ops;
use crate::ir::{Builder, Copier, ValueKey, attributes, types};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, BlockRef, OperationRef, Region, Type, Value, ValueLike};
use skript_dialect::{melior, op};
use skript_semantics::ScalarKind;
use std::collections::HashMap;

/// Rebuilds the operations of one function.
pub(super) struct Padding<'b, 'c, 'a> {
    pub bounds: &'b Bounds<'c, 'a>,
    pub(crate) copier: Copier<'c, 'a>,
    /// For each tensor of the source, its dynamic extents in order.
    extents: HashMap<ValueKey, Vec<Value<'c, 'a>>>,
}

impl<'b, 'c: 'a, 'a> Padding<'b, 'c, 'a> {
    pub(super) fn new(bounds: &'b Bounds<'c, 'a>) -> Self {
        Padding { bounds, copier: Copier::new(), extents: HashMap::new() }
    }

    pub(super) fn get(&self, old: Value<'c, 'a>) -> Value<'c, 'a> {
        self.copier.get(old)
    }

    pub(crate) fn get_all(&self, old: &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>> {
        old.iter().map(|v| self.get(*v)).collect()
    }

    /// Returns the dynamic extents of a tensor of the source.
    pub(crate) fn extents_of(&self, old: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
        self.extents.get(&ValueKey::of(old)).cloned().unwrap_or_default()
    }

    pub(super) fn set(&mut self, old: Value<'c, 'a>, new: Value<'c, 'a>, extents: Vec<Value<'c, 'a>>) {
        self.copier.set(old, new);
        if is_open(old) {
            self.extents.insert(ValueKey::of(old), extents);
        }
    }

    /// Returns the types of padded values, followed by one index type for each dynamic extent.
    pub(super) fn types(&self, old: &[Value<'c, 'a>], at: &Builder<'c, 'a>) -> Vec<Type<'c>> {
        let mut types: Vec<_> = old.iter().map(|v| self.bounds.padded(*v)).collect();
        let open = old.iter().map(|v| open_dimensions(v.r#type()).len()).sum();
        types.extend(vec![Type::index(at.context); open]);
        types
    }

    /// Maps values of the source to new values, whose types [`Self::types`] describes.
    pub(crate) fn set_all(&mut self, old: &[Value<'c, 'a>], new: &[Value<'c, 'a>]) {
        let (tensors, extents) = new.split_at(old.len().min(new.len()));
        let mut next = extents.iter().copied();
        for (old, new) in old.iter().zip(tensors) {
            let open = open_dimensions(old.r#type()).len();
            let extents = next.by_ref().take(open).collect();
            self.set(*old, *new, extents);
        }
    }

    /// Returns the new values for values of the source, resized to the types of `targets`, followed by their dynamic extents.
    pub(super) fn pass(
        &self,
        old: &[Value<'c, 'a>],
        targets: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let mut passed = Vec::new();
        for (old, target) in old.iter().zip(targets) {
            passed.push(self.resized(*old, &self.bounds.extents(*target), at)?);
        }
        for old in old {
            passed.extend(self.extents_of(*old));
        }
        Ok(passed)
    }

    /// Returns the padded tensor, cut or padded with `T()` to another size.
    pub(crate) fn resized(
        &self,
        old: Value<'c, 'a>,
        extents: &[i64],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let new = self.get(old);
        let Some(element) = types::element_of(new.r#type()) else {
            return Ok(new);
        };
        let present = types::shape(new.r#type());
        if !is_open(old) || present == extents {
            return Ok(new);
        }
        let kept: Vec<i64> = present.iter().zip(extents).map(|(x, y)| *x.min(y)).collect();
        let mut value = new;
        if kept != present {
            let cut = types::of_extents(new.r#type(), &kept);
            value = at.value(ops::tensor::EXTRACT_SLICE, &[new], &whole(&kept, 1, at), cut)?;
        }
        if kept != extents {
            let zero = types::kind_of(element).unwrap_or(ScalarKind::Real);
            let zero = at.constant(zero.default_value(), element)?;
            let larger = types::of_extents(new.r#type(), extents);
            let filled = at.value(ops::tensor::SPLAT, &[zero], &[], larger)?;
            let address = whole(&kept, 2, at);
            value = at.value(ops::tensor::INSERT_SLICE, &[value, filled], &address, larger)?;
        }
        Ok(value)
    }

    /// Rebuilds the operations of a block except its terminator.
    pub(super) fn body(&mut self, block: BlockRef<'c, 'a>, to: &Builder<'c, 'a>) -> Result<(), Error> {
        let mut all = operations(block);
        all.pop();
        for op in all {
            self.operation(op, &to.with_location(op.location()))?;
        }
        Ok(())
    }

    pub(super) fn operation(&mut self, op: OperationRef<'c, 'a>, to: &Builder<'c, 'a>) -> Result<(), Error> {
        let name = operation_name(op);
        let operands: Vec<Value<'c, 'a>> = op.operands().collect();
        let results: Vec<Value<'c, 'a>> = op.results().map(Into::into).collect();
        let touched = operands.iter().chain(&results).any(|v| is_open(*v));
        match (name.as_str(), operands.as_slice(), results.as_slice()) {
            (ops::skript::FORMULA, _, _) => self.formula(op, to),
            (ops::skript::INTRINSIC, _, _) if touched => self.intrinsic(op, &operands, &results, to),
            (ops::scf::IF, _, _) => self.branch(op, &results, to),
            (ops::scf::WHILE, _, _) => self.repeat(op, &operands, &results, to),
            (ops::skript::INVOKE | ops::func::CALL, _, _) if self.bounds.callee(op).is_some() => {
                self.call(op, &operands, &results, to)
            }
            (ops::tensor::DIM, [tensor, dimension], [result]) if is_open(*tensor) => {
                let number = ir::integer(*dimension).and_then(|d| usize::try_from(d).ok());
                let number = number.ok_or(Error::OperationBuild)?;
                let extent = self.extent(*tensor, number, to)?;
                self.set(*result, extent, Vec::new());
                Ok(())
            }
            (ops::tensor::EMPTY, sizes, [result]) if touched => {
                let padded = [self.bounds.padded(*result)];
                let made = with_attributes(op, &[], &padded, Vec::new(), &[], to)?;
                self.set(*result, ir::result(made)?, self.get_all(sizes));
                Ok(())
            }
            (ops::tensor::SPLAT, [scalar, sizes @ ..], [result]) if touched => {
                let padded = [self.bounds.padded(*result)];
                let scalar = [self.get(*scalar)];
                let made = with_attributes(op, &scalar, &padded, Vec::new(), &[], to)?;
                self.set(*result, ir::result(made)?, self.get_all(sizes));
                Ok(())
            }
            (ops::tensor::CAST, [source], [result]) if touched => self.cast(*source, *result, to),
            (ops::tensor::EXTRACT_SLICE, _, [result]) if touched => self.extract(op, &operands, *result, to),
            (ops::tensor::INSERT_SLICE, [item, into, ..], [result]) if touched => {
                self.insert(op, &operands, (*item, *into, *result), to)
            }
            (_, _, [result]) if touched && op::has_elementwise_trait(&op) => {
                self.elementwise(op, &operands, *result, to)
            }
            _ => self.copy(op, &operands, &results, to),
        }
    }

    /// Copies an operation without dynamic extents, or an operation that reads single elements.
    fn copy(
        &mut self,
        op: OperationRef<'c, 'a>,
        operands: &[Value<'c, 'a>],
        results: &[Value<'c, 'a>],
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let mut regions: Vec<Region<'c>> = Vec::new();
        for block in blocks(op) {
            let types: Vec<_> = arguments(block).iter().map(|a| a.r#type()).collect();
            let (region, inner, new) = to.region(&types);
            self.set_all(&arguments(block), &new);
            for op in operations(block) {
                self.operation(op, &inner.with_location(op.location()))?;
            }
            regions.push(region);
        }
        let types: Vec<_> = results.iter().map(|r| r.r#type()).collect();
        let copy = with_attributes(op, &self.get_all(operands), &types, regions, &[], to)?;
        for (old, new) in results.iter().zip(copy.results()) {
            self.copier.set(*old, new.into());
        }
        Ok(())
    }

    fn elementwise(
        &mut self,
        op: OperationRef<'c, 'a>,
        operands: &[Value<'c, 'a>],
        result: Value<'c, 'a>,
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let extents = self.bounds.extents(result);
        let mut new = Vec::new();
        for operand in operands {
            new.push(self.resized(*operand, &extents, to)?);
        }
        let types = [self.bounds.padded(result)];
        let made = with_attributes(op, &new, &types, Vec::new(), &[], to)?;
        let like = operands.iter().find(|o| is_open(**o));
        let like = *like.ok_or(Error::OperationBuild)?;
        let extents = self.dynamic_extents(like, result, to)?;
        self.set(result, ir::result(made)?, extents);
        Ok(())
    }

    fn cast(
        &mut self,
        source: Value<'c, 'a>,
        result: Value<'c, 'a>,
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let value = self.resized(source, &self.bounds.extents(result), to)?;
        let extents = self.dynamic_extents(source, result, to)?;
        self.set(result, value, extents);
        Ok(())
    }

    /// Returns the dynamic extents of `result`, from a tensor of the same shape.
    fn dynamic_extents(
        &self,
        tensor: Value<'c, 'a>,
        result: Value<'c, 'a>,
        to: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let open = open_dimensions(result.r#type()).into_iter();
        open.map(|dimension| self.extent(tensor, dimension, to)).collect()
    }

    /// Returns one extent of a tensor of the source, dynamic or static.
    fn extent(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        to: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let open = open_dimensions(tensor.r#type());
        match open.iter().position(|d| *d == dimension) {
            Some(position) => self.extents_of(tensor).get(position).copied().ok_or(Error::OperationBuild),
            None => {
                let extents = types::shape(tensor.r#type());
                to.index(*extents.get(dimension).ok_or(Error::OperationBuild)?)
            }
        }
    }
}

/// Builds the attributes of a slice at the beginning of each dimension; `tensors` is the number of operands before the offsets.
fn whole<'c>(sizes: &[i64], tensors: i32, at: &Builder<'c, '_>) -> [(&'static str, Attribute<'c>); 4] {
    let (zeros, ones) = (vec![0; sizes.len()], vec![1; sizes.len()]);
    let segments: &[i32] = if tensors == 1 { &[1, 0, 0, 0] } else { &[1, 1, 0, 0, 0] };
    [
        ("static_offsets", attributes::i64s(at.context, &zeros)),
        ("static_sizes", attributes::i64s(at.context, sizes)),
        ("static_strides", attributes::i64s(at.context, &ones)),
        ("operandSegmentSizes", attributes::i32s(at.context, segments)),
    ]
}
