// SPDX-License-Identifier: Apache-2.0
//! The attributes of an operator, from the dictionary that the emitter wrote.

use melior::ir::attribute::{
    ArrayAttribute, BoolAttribute, DictionaryAttribute, FloatAttribute, IntegerAttribute, StringAttribute,
    TypeAttribute,
};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, AttributeLike, OperationRef};
use skript_intrinsics::Value;

/// The attributes that a dictionary was built from, by name.
pub(crate) fn entries(dictionary: Attribute) -> Option<Vec<(String, Value)>> {
    let dictionary = DictionaryAttribute::try_from(dictionary).ok()?;
    let entry = |n| {
        let (name, value) = dictionary.element(n).ok()?;
        let name = name.as_string_ref().as_str().ok()?.to_owned();
        Some((name, value_of(value)?))
    };
    (0..dictionary.len()).map(entry).collect()
}

/// The attribute value that an MLIR attribute was built from.
fn value_of(attribute: Attribute) -> Option<Value> {
    if attribute.is_unit() {
        return Some(Value::Null);
    }
    if TypeAttribute::try_from(attribute).is_ok() {
        return Some(Value::Unknown);
    }
    if let Ok(flag) = BoolAttribute::try_from(attribute) {
        return Some(Value::Bool(flag.value()));
    }
    if let Ok(number) = IntegerAttribute::try_from(attribute) {
        return Some(Value::Int(number.value()));
    }
    if let Ok(number) = FloatAttribute::try_from(attribute) {
        return Some(Value::Real(number.value()));
    }
    if let Ok(text) = StringAttribute::try_from(attribute) {
        return Some(Value::Str(text.value().to_owned()));
    }
    let items = ArrayAttribute::try_from(attribute).ok()?;
    let items = (0..items.len()).map(|n| value_of(items.element(n).ok()?));
    items.collect::<Option<_>>().map(Value::List)
}

/// The texts of an op's list of strings; none if it has no such list.
pub(crate) fn strings(op: OperationRef, name: &str) -> Vec<String> {
    let list = op.attribute(name).ok();
    let Some(list) = list.and_then(|a| ArrayAttribute::try_from(a).ok()) else {
        return Vec::new();
    };
    (0..list.len())
        .filter_map(|n| StringAttribute::try_from(list.element(n).ok()?).ok())
        .map(|text| text.value().to_owned())
        .collect()
}
