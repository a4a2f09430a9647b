// SPDX-License-Identifier: Apache-2.0
//! Copies operations with replaced operands.

use super::operator::Operator;
use super::{Builder, ValueKey, builder, vector};
use melior::Error;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, BlockRef, OperationRef, Region, RegionLike, Type, TypeLike, Value, ValueLike};
use std::collections::HashMap;

/// The replacements of values in a copy. Other values are not replaced.
#[derive(Clone, Default)]
pub(crate) struct Copier<'c, 'a> {
    map: HashMap<ValueKey, Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Copier<'c, 'a> {
    pub(crate) fn new() -> Self {
        Copier { map: HashMap::new() }
    }

    /// A copier that replaces each value of `old` by the value of `new` at the same position.
    pub(crate) fn from_pairs(old: &[Value<'c, 'a>], new: &[Value<'c, 'a>]) -> Self {
        Copier { map: old.iter().map(|old| ValueKey::of(*old)).zip(new.iter().copied()).collect() }
    }

    /// Copies operations.
    pub(crate) fn copy_all(
        &mut self,
        operations: &[OperationRef<'c, 'a>],
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        operations.iter().try_for_each(|op| self.rebuild(*op, to, &mut |_, _, _| Ok(false)).map(|_| ()))
    }

    pub(crate) fn set(&mut self, old: impl ValueLike<'c>, new: Value<'c, 'a>) {
        self.map.insert(ValueKey::of(old), new);
    }

    pub(crate) fn get(&self, old: Value<'c, 'a>) -> Value<'c, 'a> {
        self.map.get(&ValueKey::of(old)).copied().unwrap_or(old)
    }

    /// Copies an elementwise operation. If an operand is replaced by a vector of `lanes` elements, so is the result.
    pub(crate) fn copy_lanes(
        &mut self,
        op: OperationRef<'c, 'a>,
        lanes: i64,
        to: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let operands: Vec<Value> = op.operands().map(|value| self.get(value)).collect();
        if !operands.iter().any(|value| value.r#type().is_vector()) {
            return self.copy_all(&[op], to);
        }
        let result = op.result(0)?;
        let operands: Vec<Value> = operands.into_iter().map(|value| to.widened(value, lanes)).collect();
        let kind = vector::of(&[lanes], result.r#type());
        self.set(result, Operator::from_op(op).apply(to, &operands, kind));
        Ok(())
    }

    /// Copies an operation and its regions. For an operation at any depth, `special` may emit something else. It then must set
    /// the replacements of the results and return true.
    pub(crate) fn copy(
        &mut self,
        op: OperationRef<'c, 'a>,
        to: &Builder<'c, 'a>,
        special: &mut Special<'_, 'c, 'a>,
    ) -> Result<(), Error> {
        if !special(self, op, to)? {
            self.rebuild(op, to, special)?;
        }
        Ok(())
    }

    /// Copies an operation, and its regions like [`Copier::copy`].
    pub(crate) fn rebuild(
        &mut self,
        op: OperationRef<'c, 'a>,
        to: &Builder<'c, 'a>,
        special: &mut Special<'_, 'c, 'a>,
    ) -> Result<OperationRef<'c, 'a>, Error> {
        let operands: Vec<_> = op.operands().map(|v| self.get(v)).collect();
        let mut regions = Vec::new();
        for region in op.regions() {
            // A missing `else`.
            if region.first_block().is_none() {
                regions.push(Region::new());
                continue;
            }
            let block = builder::only_block(region)?;
            let types: Vec<_> = arguments(block).iter().map(|a| a.r#type()).collect();
            let (copy, inner, new) = to.region(&types);
            for (old, new) in arguments(block).into_iter().zip(new) {
                self.set(old, new);
            }
            for op in builder::operations(block) {
                self.copy(op, &inner.with_location(op.location()), special)?;
            }
            regions.push(copy);
        }
        let copy = rebuild(op, &operands, regions, to)?;
        for (old, new) in op.results().zip(copy.results()) {
            self.set(old, new.into());
        }
        Ok(copy)
    }
}

/// See [`Copier::copy`].
pub(crate) type Special<'s, 'c, 'a> =
    dyn FnMut(&mut Copier<'c, 'a>, OperationRef<'c, 'a>, &Builder<'c, 'a>) -> Result<bool, Error> + 's;

/// The arguments of a block.
pub fn arguments<'c, 'a>(block: BlockRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    (0..block.argument_count()).filter_map(|i| block.argument(i).ok().map(Into::into)).collect()
}

/// The attributes of an operation, by name.
pub(crate) fn named_attributes<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<(String, Attribute<'c>)> {
    let named = op
        .attributes()
        .filter_map(|(name, value)| Some((name.as_string_ref().as_str().ok()?.to_owned(), value)));
    named.collect()
}

/// The full name of an operation, such as `skript.add`.
pub fn operation_name<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> String {
    op.name().as_string_ref().as_str().unwrap_or("").to_string()
}

/// Copies an operation without regions, with other operands.
pub(crate) fn with_operands<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    operands: &[Value<'c, 'a>],
    to: &Builder<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, Error> {
    rebuild(op, operands, Vec::new(), to)
}

fn rebuild<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    operands: &[Value<'c, 'a>],
    regions: Vec<Region<'c>>,
    to: &Builder<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, Error> {
    let results: Vec<Type<'c>> = op.results().map(|r| r.r#type()).collect();
    with_attributes(op, operands, &results, regions, &[], to)
}

/// Copies an operation with other operands, results and regions. `others` replace attributes with the same names.
pub(crate) fn with_attributes<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    operands: &[Value<'c, 'a>],
    results: &[Type<'c>],
    regions: Vec<Region<'c>>,
    others: &[(&str, Attribute<'c>)],
    to: &Builder<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, Error> {
    let mut kept = named_attributes(op);
    kept.retain(|(name, _)| !others.iter().any(|(other, _)| other == name));
    let mut attributes: Vec<(&str, Attribute<'c>)> = kept.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    attributes.extend(others);
    to.with_location(op.location()).create(&operation_name(op), operands, &attributes, results, regions)
}
