// SPDX-License-Identifier: Apache-2.0
//! Padding of functions: dynamic extents become additional arguments and results.

use super::bounds::{Bounds, open_dimensions};
use super::padding::Padding;
use crate::facts::end;
use crate::ir::attribute_names;
use crate::ir::blocks;
use crate::ir::builder::operations;
use crate::ir::copy::{arguments, with_attributes};
use crate::ir::ops;
use crate::ir::{Builder, attributes, regions};
use melior::Error;
use melior::ir::attribute::{ArrayAttribute, DictionaryAttribute, TypeAttribute};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::{FunctionType, IntegerType};
use melior::ir::{Attribute, Identifier, OperationRef, Type, Value, ValueLike};

/// The role of an argument or result that is an extent of another argument or result.
pub(super) const ROLE: &str = "extent";

/// Inserts the padded function before the original one.
pub(super) fn rebuild<'c: 'a, 'a>(
    function: OperationRef<'c, 'a>,
    bounds: &Bounds<'c, 'a>,
) -> Result<(), Error> {
    let Some(body) = blocks(function).first().copied() else {
        return Ok(());
    };
    let owner = function.context();
    let at = regions::before(function, &owner)?;
    let mut padding = Padding::new(bounds);
    let is_entry = function.has_attribute(attribute_names::ENTRY);
    let old = arguments(body);
    let inputs = boundary(padding.types(&old, &at), old.len(), is_entry, &at);
    let (region, inner, values) = at.region(&inputs);
    let values = cast_extents(&values, old.len(), Type::index(at.context), &inner)?;
    padding.set_all(&old, &values);
    padding.body(body, &inner)?;

    let returned = end(body);
    let location = operations(body).last().map(|op| op.location());
    let inner = inner.with_location(location.unwrap_or(at.location));
    let passed = padding.pass(&returned, &returned, &inner)?;
    let results = boundary(padding.types(&returned, &at), returned.len(), is_entry, &at);
    let word = IntegerType::new(at.context, 32).into();
    let passed = if is_entry { cast_extents(&passed, returned.len(), word, &inner)? } else { passed };
    inner.create(ops::func::RETURN, &passed, &[], &[], Vec::new())?;

    let r#type = FunctionType::new(at.context, &inputs, &results);
    let mut others = vec![("function_type", TypeAttribute::new(r#type.into()).into())];
    for (list, values) in [("arg_attrs", &old), ("res_attrs", &returned)] {
        if (is_entry || function.has_attribute(list))
            && let Some(described) = described(function, list, values, &at)
        {
            others.push((list, described));
        }
    }
    with_attributes(function, &[], &[], vec![region], &others, &at)?;
    Ok(())
}

/// Converts the types of extents, which follow `tensors` tensors, to `i32` at the boundary of the entry.
fn boundary<'c>(
    mut types: Vec<Type<'c>>,
    tensors: usize,
    is_entry: bool,
    at: &Builder<'c, '_>,
) -> Vec<Type<'c>> {
    if is_entry {
        let word: Type<'c> = IntegerType::new(at.context, 32).into();
        types.iter_mut().skip(tensors).for_each(|t| *t = word);
    }
    types
}

/// Casts extents, which follow `tensors` tensors, to another integer type.
fn cast_extents<'c: 'a, 'a>(
    values: &[Value<'c, 'a>],
    tensors: usize,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, Error> {
    let mut converted = Vec::new();
    for (position, value) in values.iter().enumerate() {
        converted.push(if position < tensors || value.r#type() == r#type {
            *value
        } else {
            at.index_cast(*value, r#type)
        });
    }
    Ok(converted)
}

/// Builds the attributes of arguments or results: upper bounds are removed, and the extents are named like `x[0]`. The name of
/// an unnamed port is its number.
fn described<'c: 'a, 'a>(
    function: OperationRef<'c, 'a>,
    list: &str,
    values: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Option<Attribute<'c>> {
    let context = at.context;
    let present = function.attribute(list).ok().and_then(|a| ArrayAttribute::try_from(a).ok());
    let mut kept: Vec<Attribute> = Vec::new();
    let mut added: Vec<Attribute> = Vec::new();
    for (position, value) in values.iter().enumerate() {
        let entries_of_value = match &present {
            Some(present) => present.element(position).ok()?,
            None => DictionaryAttribute::new(context, &[]).into(),
        };
        let name = attributes::entry(entries_of_value, attribute_names::NAME)
            .and_then(attributes::text)
            .unwrap_or_else(|| position.to_string());
        let entries_of_value = DictionaryAttribute::try_from(entries_of_value).ok()?;
        let mut entries = Vec::new();
        for number in 0..entries_of_value.len() {
            let (key, entry) = entries_of_value.element(number).ok()?;
            if key.as_string_ref().as_str() != Ok(attribute_names::BOUNDS) {
                entries.push((key, entry));
            }
        }
        kept.push(DictionaryAttribute::new(context, &entries).into());
        for dimension in open_dimensions(value.r#type()) {
            let text = |text: &str| attributes::string(context, text);
            let entry = |key, value| (Identifier::new(context, key), value);
            let entries = [
                entry(attribute_names::NAME, text(&format!("{name}[{dimension}]"))),
                entry(attribute_names::ROLE, text(ROLE)),
                entry(attribute_names::EXTENT_OF, text(&name)),
                entry(attribute_names::DIMENSION, attributes::i64(context, dimension as i64)),
            ];
            added.push(DictionaryAttribute::new(context, &entries).into());
        }
    }
    if present.is_none() && added.is_empty() {
        return None;
    }
    kept.extend(added);
    Some(ArrayAttribute::new(context, &kept).into())
}
