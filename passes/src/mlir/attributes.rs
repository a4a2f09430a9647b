//! Attributes from plain values.

use super::types;
use melior::Context;
use melior::ir::attribute::{
    ArrayAttribute, BoolAttribute, DenseElementsAttribute, DenseI32ArrayAttribute,
    DenseI64ArrayAttribute, DictionaryAttribute, FloatAttribute, IntegerAttribute, StringAttribute,
};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type};
use skript_frontend::model::{AttributeValue, ConstantData};
use skript_semantics::Scalar;

pub fn string<'c>(context: &'c Context, text: &str) -> Attribute<'c> {
    StringAttribute::new(context, text).into()
}

pub fn unit(context: &Context) -> Attribute<'_> {
    Attribute::unit(context)
}

pub fn boolean(context: &Context, value: bool) -> Attribute<'_> {
    BoolAttribute::new(context, value).into()
}

pub fn i64(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(IntegerType::new(context, 64).into(), value).into()
}

pub fn i32s<'c>(context: &'c Context, values: &[i32]) -> Attribute<'c> {
    DenseI32ArrayAttribute::new(context, values).into()
}

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

/// Elements of a constant tensor of this type (`i1`, `i64` or `f32`).
pub fn elements<'c>(
    context: &'c Context,
    data: &ConstantData,
    r#type: Type<'c>,
) -> DenseElementsAttribute<'c> {
    match data {
        ConstantData::Splat(value) => {
            let element = types::element(context, value.kind());
            let attribute = scalar(context, *value, element);
            DenseElementsAttribute::splat(r#type, attribute)
        }
        ConstantData::Bool(values) => {
            let values: Vec<i32> = values.iter().map(|b| i32::from(*b)).collect();
            DenseElementsAttribute::bool_values(r#type, &values)
        }
        ConstantData::Int(values) => DenseElementsAttribute::i64_values(r#type, values),
        ConstantData::Real(values) => {
            // Rounding to the run-time width is what a constant of the language means.
            let values: Vec<f32> = values.iter().map(|x| *x as f32).collect();
            DenseElementsAttribute::f32_values(r#type, &values)
        }
    }
}

/// What a dictionary holds under a name.
pub fn entry<'c>(dictionary: Attribute<'c>, name: &str) -> Option<Attribute<'c>> {
    DictionaryAttribute::try_from(dictionary)
        .ok()?
        .element_by_name(name)
}

/// A compile-time attribute of an operator.
pub fn attribute<'c>(context: &'c Context, value: &AttributeValue) -> Attribute<'c> {
    match value {
        AttributeValue::Null => Attribute::unit(context),
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
