// SPDX-License-Identifier: Apache-2.0
//! Emits each pack of a loop as one tensor.

use super::super::EmitError;
use super::super::scalars::{segment, signed};
use super::super::scope::Scope;
use super::{first, has_dynamic_length, slots};
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::ir::{Attribute, Type, Value, ValueLike};
use skript_frontend::model::{Extent, Loop, ValueId};
use skript_semantics::ScalarKind;

/// A tensor with an additional first dimension for the iterations or items.
pub(super) struct Stack<'c, 'a> {
    r#type: Type<'c>,
    kind: ScalarKind,
    /// The dynamic extents of an item.
    open: Vec<Value<'c, 'a>>,
    pub(super) has_dynamic_length: bool,
    /// Whether the extents of slots are the upper bounds of the items' extents. An item is at the beginning of its slot.
    is_padded: bool,
}

impl<'c: 'a, 'a> Stack<'c, 'a> {
    /// Returns the stack of a scan output, with a slot for each possible iteration.
    pub(super) fn output(
        scope: &Scope<'_, 'c, 'a, '_>,
        l: &Loop,
        pack: &[ValueId],
        determined: &[String],
        at: &Builder<'c, 'a>,
    ) -> Result<Self, EmitError> {
        let stack = first(pack)?;
        let tensor = scope.tensor(stack)?;
        let has_dynamic_length = has_dynamic_length(l);
        let (count, item) = match tensor.shape.split_first() {
            _ if !has_dynamic_length && determined.is_empty() => return Self::of_items(scope, pack, at),
            _ if !has_dynamic_length => {
                pack_type(scope, pack)?;
                (signed(pack.len())?, &tensor.shape[..])
            }
            None => return Err(EmitError::Malformed("a stack has no dimension")),
            Some((count, item)) => {
                let count = signed(count.bound())?;
                (slots(l)?.unwrap_or(count), item)
            }
        };
        let mut extents = vec![count];
        let mut open = Vec::new();
        let mut is_padded = false;
        for extent in item {
            extents.push(match extent {
                Extent::Fixed(n) => signed(*n)?,
                Extent::Dynamic { expr, bound } => {
                    let mut is_determined = false;
                    expr.operations_with(&mut |name| {
                        is_determined |= determined.iter().any(|t| t == name);
                        0
                    });
                    is_padded |= is_determined;
                    if is_determined {
                        signed(*bound)?
                    } else {
                        open.push(scope.extent_value(extent, at)?);
                        types::DYNAMIC
                    }
                }
            });
        }
        let r#type = types::tensor(&extents, scope.element(stack)?);
        Ok(Stack { r#type, kind: tensor.kind, open, has_dynamic_length, is_padded })
    }

    /// Returns the stack of a pack of dynamic length, and its tensor: such a pack is already one tensor.
    pub(super) fn scanned(
        scope: &Scope<'_, 'c, 'a, '_>,
        item: ValueId,
        stack: ValueId,
        at: &Builder<'c, 'a>,
    ) -> Result<(Self, Value<'c, 'a>), EmitError> {
        let tensor = scope.get(stack)?;
        let stacked = Stack {
            r#type: tensor.r#type(),
            kind: scope.tensor(stack)?.kind,
            open: scope.open_extents(item, at)?,
            has_dynamic_length: true,
            is_padded: false,
        };
        Ok((stacked, tensor))
    }

    /// Returns the stack of the items of a pack.
    fn of_items(
        scope: &Scope<'_, 'c, 'a, '_>,
        pack: &[ValueId],
        at: &Builder<'c, 'a>,
    ) -> Result<Self, EmitError> {
        let item = first(pack)?;
        Ok(Stack {
            r#type: pack_type(scope, pack)?,
            kind: scope.tensor(item)?.kind,
            open: scope.open_extents(item, at)?,
            has_dynamic_length: false,
            is_padded: false,
        })
    }

    /// Concatenates the items of a pack.
    pub(super) fn gather(
        scope: &Scope<'_, 'c, 'a, '_>,
        pack: &[ValueId],
        at: &Builder<'c, 'a>,
    ) -> Result<(Self, Value<'c, 'a>), EmitError> {
        let stack = Stack::of_items(scope, pack, at)?;
        let mut packed = at.value(ops::tensor::EMPTY, &stack.open, &[], stack.r#type)?;
        for (position, item) in pack.iter().enumerate() {
            let position = at.idx(signed(position)?);
            packed = stack.insert(scope.get(*item)?, packed, position, at)?;
        }
        Ok((stack, packed))
    }

    /// Fills all items with `T()`.
    pub(super) fn empty(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, EmitError> {
        let element = types::element_of(self.r#type).ok_or(EmitError::Malformed("a pack is not a tensor"))?;
        let mut operands = vec![at.constant(self.kind.default_value(), element)?];
        operands.extend(&self.open);
        Ok(at.value(ops::tensor::SPLAT, &operands, &[], self.r#type)?)
    }

    pub(super) fn insert(
        &self,
        item: Value<'c, 'a>,
        pack: Value<'c, 'a>,
        number: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        if self.has_empty_slots() {
            return Ok(pack);
        }
        let open = if self.is_padded { at.dynamic_extents(item)? } else { self.open.clone() };
        let mut slice = self.slice(item.r#type(), pack, at)?;
        slice.push(at.segments(&[1, 1, 1, segment(open.len())?, 0]));
        let operands = [&[item, pack, number][..], &open].concat();
        Ok(at.value(ops::tensor::INSERT_SLICE, &operands, &slice, pack.r#type())?)
    }

    /// Extracts the item with a number; `open` are its dynamic extents.
    pub(super) fn extract(
        &self,
        pack: Value<'c, 'a>,
        number: Value<'c, 'a>,
        item: Type<'c>,
        open: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        if self.has_empty_slots() {
            return Ok(at.value(ops::tensor::EMPTY, open, &[], item)?);
        }
        let open = if self.is_padded { open } else { self.open.as_slice() };
        let mut slice = self.slice(item, pack, at)?;
        slice.push(at.segments(&[1, 1, segment(open.len())?, 0]));
        let operands = [&[pack, number][..], open].concat();
        Ok(at.value(ops::tensor::EXTRACT_SLICE, &operands, &slice, item)?)
    }

    /// Whether slots have no elements. A slice of an empty slot would begin out of bounds.
    fn has_empty_slots(&self) -> bool {
        self.is_padded && types::extents(self.r#type).is_some_and(|bounds| bounds.contains(&0))
    }

    /// Builds the attributes of the slice of an item: a dynamic offset in the first dimension, then the extents of the slot, or
    /// of the item at the beginning of a padded slot.
    fn slice(
        &self,
        item: Type<'c>,
        pack: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<(&'static str, Attribute<'c>)>, EmitError> {
        let sizes = if self.is_padded {
            types::extents(item).ok_or(EmitError::Malformed("an item is not a tensor"))?
        } else {
            let extents = types::extents(pack.r#type());
            extents
                .map(|extents| extents.into_iter().skip(1).collect())
                .ok_or(EmitError::Malformed("a pack is not a tensor"))?
        };
        let rank = sizes.len();
        Ok(vec![
            (
                "static_offsets",
                attributes::i64s(at.context, &[&[types::DYNAMIC][..], &vec![0; rank]].concat()),
            ),
            ("static_sizes", attributes::i64s(at.context, &[&[1][..], &sizes].concat())),
            ("static_strides", attributes::i64s(at.context, &vec![1; rank + 1])),
        ])
    }
}

/// Returns the type of a tensor with an additional first dimension for the pack.
fn pack_type<'c: 'a, 'a>(scope: &Scope<'_, 'c, 'a, '_>, pack: &[ValueId]) -> Result<Type<'c>, EmitError> {
    let item = first(pack)?;
    let mut extents = vec![signed(pack.len())?];
    extents.extend(scope.extents(item)?);
    for other in pack {
        if scope.tensor(*other)? != scope.tensor(item)? {
            return Err(EmitError::Unsupported {
                what: "a loop scans or collects items of different shapes",
                span: scope.function.span,
            });
        }
    }
    Ok(types::tensor(&extents, scope.element(item)?))
}
