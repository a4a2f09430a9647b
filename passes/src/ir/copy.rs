// SPDX-License-Identifier: Apache-2.0
//! Copies operations, with other operands.

use super::{Builder, ValueKey, builder};
use melior::Error;
use melior::ir::block::BlockLike;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, BlockRef, OperationRef, Region, RegionLike, Type, Value, ValueLike};
use std::collections::HashMap;

/// The replacement of each value in the copy; other values stay.
#[derive(Clone, Default)]
pub(crate) struct Copier<'c, 'a> {
    map: HashMap<ValueKey, Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Copier<'c, 'a> {
    pub(crate) fn new() -> Self {
        Copier { map: HashMap::new() }
    }

    pub(crate) fn set(&mut self, old: impl ValueLike<'c>, new: Value<'c, 'a>) {
        self.map.insert(ValueKey::of(old), new);
    }

    pub(crate) fn get(&self, old: Value<'c, 'a>) -> Value<'c, 'a> {
        self.map.get(&ValueKey::of(old)).copied().unwrap_or(old)
    }

    /// The operation with its operands replaced; regions are copied too, and `special` may build something else for
    /// an operation at any depth (it returns whether it did, having set the results).
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

    /// The operation with its operands replaced, and its regions copied as [`Copier::copy`] does.
    pub(crate) fn rebuild(
        &mut self,
        op: OperationRef<'c, 'a>,
        to: &Builder<'c, 'a>,
        special: &mut Special<'_, 'c, 'a>,
    ) -> Result<OperationRef<'c, 'a>, Error> {
        let operands: Vec<_> = op.operands().map(|v| self.get(v)).collect();
        let mut regions = Vec::new();
        for region in op.regions() {
            // A branch without an `else`.
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

/// The full name of an operation, `skript.add`.
pub fn operation_name<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> String {
    op.name().as_string_ref().as_str().unwrap_or("").to_string()
}

/// The operation on other operands; it has no regions.
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

/// The operation on other operands, with other results, regions and, where `others` names them, attributes.
pub(crate) fn with_attributes<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    operands: &[Value<'c, 'a>],
    results: &[Type<'c>],
    regions: Vec<Region<'c>>,
    others: &[(&str, Attribute<'c>)],
    to: &Builder<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, Error> {
    let own: Vec<(String, Attribute<'c>)> = op
        .attributes()
        .filter_map(|(name, value)| Some((name.as_string_ref().as_str().ok()?.to_string(), value)))
        .filter(|(name, _)| !others.iter().any(|(other, _)| other == name))
        .collect();
    let mut attributes: Vec<(&str, Attribute<'c>)> = own.iter().map(|(n, v)| (n.as_str(), *v)).collect();
    attributes.extend(others);
    to.with_location(op.location()).create(&operation_name(op), operands, &attributes, results, regions)
}
