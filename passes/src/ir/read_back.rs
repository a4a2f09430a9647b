// SPDX-License-Identifier: Apache-2.0
//! Reads the attributes of an operator from the dictionary that was emitted for it.

use super::{attributes, typed};
use melior::ir::attribute::{
    ArrayAttribute, BoolAttribute, DictionaryAttribute, FloatAttribute, IntegerAttribute, StringAttribute,
    TypeAttribute,
};
use melior::ir::{Attribute, AttributeLike, OperationRef};
use skript_intrinsics::Value;

/// The operator's attributes that a dictionary was built from, by name.
pub(crate) fn entries(dictionary: Attribute) -> Option<Vec<(String, Value)>> {
    let dictionary = DictionaryAttribute::try_from(dictionary).ok()?;
    let entry = |n| {
        let (name, value) = dictionary.element(n).ok()?;
        let name = name.as_string_ref().as_str().ok()?.to_owned();
        Some((name, value_of(value)?))
    };
    (0..dictionary.len()).map(entry).collect()
}

/// The value that an MLIR attribute was built from.
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
    (0..items.len()).map(|n| value_of(items.element(n).ok()?)).collect::<Option<_>>().map(Value::List)
}

/// The items of an array of strings; empty without the attribute.
pub(crate) fn strings(op: OperationRef, name: &str) -> Vec<String> {
    typed::array(op, name).into_iter().filter_map(attributes::text).collect()
}
