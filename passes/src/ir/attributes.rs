// SPDX-License-Identifier: Apache-2.0
//! Attributes from plain values.

use super::{dense, types};
use melior::ir::attribute::{
    ArrayAttribute, BoolAttribute, DenseElementsAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute,
    DictionaryAttribute, FloatAttribute, IntegerAttribute, StringAttribute, TypeAttribute,
};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, AttributeLike, Identifier, Type};
use melior::{Context, StringRef};
use skript_frontend::model::{AttributeValue, ConstantData};
use skript_semantics::Scalar;
use skript_tensor::Tensor;

/// A string attribute.
pub fn string<'c>(context: &'c Context, text: &str) -> Attribute<'c> {
    StringAttribute::new(context, text).into()
}

/// The unit attribute.
pub fn unit(context: &Context) -> Attribute<'_> {
    Attribute::unit(context)
}

/// A boolean attribute.
pub fn boolean(context: &Context, value: bool) -> Attribute<'_> {
    BoolAttribute::new(context, value).into()
}

/// An integer attribute of type i64.
pub fn i64(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(IntegerType::new(context, 64).into(), value).into()
}

pub(crate) fn i32s<'c>(context: &'c Context, values: &[i32]) -> Attribute<'c> {
    DenseI32ArrayAttribute::new(context, values).into()
}

/// A dense array of i64.
pub fn i64s<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    DenseI64ArrayAttribute::new(context, values).into()
}

/// The attribute of a scalar constant of this type. Reals round to the type.
pub fn scalar<'c>(context: &'c Context, value: Scalar, r#type: Type<'c>) -> Attribute<'c> {
    match value {
        Scalar::Bool(b) => IntegerAttribute::new(r#type, b.into()).into(),
        Scalar::Int(i) => IntegerAttribute::new(r#type, i).into(),
        Scalar::Real(x) => FloatAttribute::new(context, r#type, x).into(),
    }
}

/// The entries of a dictionary whose names begin with the prefix.
pub(crate) fn with_prefix<'c>(
    context: &'c Context,
    dictionary: Attribute<'c>,
    prefix: &str,
) -> Attribute<'c> {
    // SAFETY: attributes live as long as their context; positions are below the count.
    unsafe {
        let raw = dictionary.to_raw();
        let kept: Vec<_> = (0..mlir_sys::mlirDictionaryAttrGetNumElements(raw))
            .map(|n| mlir_sys::mlirDictionaryAttrGetElement(raw, n))
            .filter(|entry| {
                let name = mlir_sys::mlirIdentifierStr(entry.name);
                let bytes = std::slice::from_raw_parts(name.data.cast::<u8>(), name.length);
                bytes.starts_with(prefix.as_bytes())
            })
            .collect();
        Attribute::from_raw(mlir_sys::mlirDictionaryAttrGet(
            context.to_raw(),
            kept.len() as isize,
            kept.as_ptr(),
        ))
    }
}

/// Elements of a constant tensor of this type. Reals round to the type, ints wrap.
pub fn elements<'c>(context: &'c Context, data: &ConstantData, r#type: Type<'c>) -> Option<Attribute<'c>> {
    let element = types::element_of(r#type)?;
    Some(match data {
        ConstantData::Splat(value) => {
            DenseElementsAttribute::splat(r#type, scalar(context, *value, element)).into()
        }
        ConstantData::Bool(values) => {
            let values: Vec<i32> = values.iter().map(|b| i32::from(*b)).collect();
            DenseElementsAttribute::bool_values(r#type, &values).into()
        }
        ConstantData::Int(values) => numbers(r#type, element, values, Scalar::Int)?,
        ConstantData::Real(values) => numbers(r#type, element, values, Scalar::Real)?,
    })
}

fn numbers<'c, T: Copy>(
    r#type: Type<'c>,
    element: Type<'c>,
    values: &[T],
    scalar: fn(T) -> Scalar,
) -> Option<Attribute<'c>> {
    let element = skript_intrinsics::description::element(&element.to_string())?;
    let values = values.iter().map(|v| scalar(*v));
    let tensor = Tensor::from_scalars(element, &[values.len() as u64], values).ok()?;
    Some(dense::of_bytes(r#type, tensor.bytes()))
}

/// The entry of a dictionary with this name.
pub fn entry<'c>(dictionary: Attribute<'c>, name: &str) -> Option<Attribute<'c>> {
    DictionaryAttribute::try_from(dictionary).ok()?.element_by_name(name)
}

/// A dictionary with another entry, which replaces one of the same name.
pub(crate) fn with_entry<'c>(
    context: &'c Context,
    dictionary: Attribute<'c>,
    name: &str,
    value: Attribute<'c>,
) -> Attribute<'c> {
    let known = DictionaryAttribute::try_from(dictionary).ok();
    let known = known.iter().flat_map(|known| (0..known.len()).filter_map(|n| known.element(n).ok()));
    let name = Identifier::new(context, name);
    let mut entries: Vec<_> = known.filter(|(key, _)| *key != name).collect();
    entries.push((name, value));
    DictionaryAttribute::new(context, &entries).into()
}

/// A compile-time attribute of an operator.
pub fn attribute<'c>(context: &'c Context, value: &AttributeValue) -> Attribute<'c> {
    match value {
        AttributeValue::Null => Attribute::unit(context),
        AttributeValue::Unknown | AttributeValue::Run { .. } => {
            TypeAttribute::new(Type::none(context)).into()
        }
        AttributeValue::Bool(b) => boolean(context, *b),
        AttributeValue::Int(i) => i64(context, *i),
        AttributeValue::Real(x) => FloatAttribute::new(context, Type::float64(context), *x).into(),
        AttributeValue::Str(s) => string(context, s),
        AttributeValue::List(items) => {
            let items: Vec<_> = items.iter().map(|i| attribute(context, i)).collect();
            ArrayAttribute::new(context, &items).into()
        }
    }
}

/// Whether an attribute's elements are in the file's resources.
pub fn is_resource(attribute: Attribute) -> bool {
    // SAFETY: the attribute is valid.
    unsafe { mlir_sys::mlirAttributeIsADenseResourceElements(attribute.to_raw()) }
}

/// Whether an attribute is a sparse tensor, whose other elements are zero.
pub fn is_sparse(attribute: Attribute) -> bool {
    // SAFETY: the attribute is valid.
    unsafe { mlir_sys::mlirAttributeIsASparseElements(attribute.to_raw()) }
}

/// The namespace of an attribute's dialect.
pub fn dialect_of(attribute: Attribute) -> String {
    // SAFETY: the attribute is valid; its dialect lives as long as the context, and so does the name.
    unsafe {
        let dialect = mlir_sys::mlirAttributeGetDialect(attribute.to_raw());
        let name = StringRef::from_raw(mlir_sys::mlirDialectGetNamespace(dialect));
        name.as_str().unwrap_or_default().to_owned()
    }
}

/// Inherent attributes of an `arith` or `math` operation, as generic form prints them.
pub(crate) fn inherent(op: melior::ir::OperationRef) -> Option<String> {
    let mut parts = Vec::new();
    for (name, attribute) in op.attributes() {
        let name = name.as_string_ref();
        parts.push(format!("{} = {attribute}", name.as_str().ok()?));
    }
    Some(parts.join(", "))
}
