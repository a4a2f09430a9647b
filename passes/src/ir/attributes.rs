// SPDX-License-Identifier: Apache-2.0
//! Creates and analyzes attributes.

use super::counts::signed;
use super::{dense, types};
use melior::ir::attribute::{
    ArrayAttribute, BoolAttribute, DenseElementsAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute,
    DictionaryAttribute, FlatSymbolRefAttribute, FloatAttribute, IntegerAttribute, StringAttribute,
    TypeAttribute,
};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, AttributeLike, Identifier, Type, TypeLike};
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

/// Parses an attribute from text that the compiler generated, because the C API has no function for it.
pub(super) fn parsed<'c>(context: &'c Context, text: &str) -> Attribute<'c> {
    Attribute::parse(context, text)
        .unwrap_or_else(|| unreachable!("internal compiler error: no attribute: {text}"))
}

/// `#arith.fastmath<…>`; `flags` are separated by commas.
pub fn fast<'c>(context: &'c Context, flags: &str) -> Attribute<'c> {
    parsed(context, &format!("#arith.fastmath<{flags}>"))
}

/// The kind of `vector.reduction` with this name.
pub(crate) fn combining<'c>(context: &'c Context, name: &str) -> Attribute<'c> {
    parsed(context, &format!("#vector.kind<{name}>"))
}

/// Internal linkage.
pub(crate) fn internal(context: &Context) -> Attribute<'_> {
    linkage(context, "internal")
}

/// A scope of accesses that do not alias accesses outside the scope.
pub(crate) fn alias_scope(context: &Context) -> Attribute<'_> {
    parsed(context, "#llvm.alias_scope<id = distinct[0]<>, domain = <id = distinct[1]<>>>")
}

/// LLVM's loop metadata, such as `unroll = <disable = true>`.
pub(crate) fn loop_annotation<'c>(context: &'c Context, hints: &[&str]) -> Attribute<'c> {
    parsed(context, &format!("#llvm.loop_annotation<{}>", hints.join(", ")))
}

/// The iterator type of a `linalg` loop.
pub(crate) fn iterator(context: &Context, reduces: bool) -> Attribute<'_> {
    let word = if reduces { "reduction" } else { "parallel" };
    parsed(context, &format!("#linalg.iterator_type<{word}>"))
}

/// The kind of `skript.formula` with this name.
pub fn accumulation<'c>(context: &'c Context, name: &str) -> Attribute<'c> {
    parsed(context, &format!("#skript.kind<{name}>"))
}

/// Poison, the value of elements that are never read.
pub(crate) fn poison(context: &Context) -> Attribute<'_> {
    parsed(context, "#ub.poison")
}

/// A dimension of blocks and threads: `x`, `y` or `z`.
pub(crate) fn axis<'c>(context: &'c Context, name: &str) -> Attribute<'c> {
    parsed(context, &format!("#gpu<dim {name}>"))
}

/// A reference to the function of a nested module.
pub(crate) fn nested_symbol<'c>(context: &'c Context, module: &str, name: &str) -> Attribute<'c> {
    let function = FlatSymbolRefAttribute::new(context, name);
    let module = melior::StringRef::new(module);
    let references = [function.to_raw()];
    // SAFETY: the attributes are of the context, and are copied.
    unsafe {
        Attribute::from_raw(mlir_sys::mlirSymbolRefAttrGet(
            context.to_raw(),
            module.to_raw(),
            1,
            references.as_ptr(),
        ))
    }
}

/// The reassociation of a view that collapses or expands dimensions.
pub(crate) fn groups<'c>(context: &'c Context, groups: &[Vec<usize>]) -> Attribute<'c> {
    let number = |n: &usize| i64(context, signed(*n));
    let group = |dimensions: &Vec<usize>| -> Attribute {
        ArrayAttribute::new(context, &dimensions.iter().map(number).collect::<Vec<_>>()).into()
    };
    ArrayAttribute::new(context, &groups.iter().map(group).collect::<Vec<_>>()).into()
}

/// The LLVM linkage with this name.
pub(crate) fn linkage<'c>(context: &'c Context, name: &str) -> Attribute<'c> {
    parsed(context, &format!("#llvm.linkage<{name}>"))
}

/// Loop metadata that unrolls a loop `count` times, or completely if `count` is `None`.
pub(crate) fn unrolled(context: &Context, count: Option<u32>) -> Attribute<'_> {
    let count = count.map_or("full = true".to_owned(), |count| format!("count = {count} : i32"));
    loop_annotation(context, &[&format!("unroll = <disable = false, {count}>")])
}

/// The memory space that the threads of a workgroup share.
pub(crate) fn workgroup(context: &Context) -> Attribute<'_> {
    parsed(context, "#gpu.address_space<workgroup>")
}

/// An array of strings.
pub(crate) fn strings<'c>(context: &'c Context, texts: &[&str]) -> Attribute<'c> {
    let texts: Vec<Attribute> = texts.iter().map(|text| string(context, text)).collect();
    ArrayAttribute::new(context, &texts).into()
}

/// A dictionary attribute.
pub fn dictionary<'c>(context: &'c Context, entries: &[(&str, Attribute<'c>)]) -> Attribute<'c> {
    DictionaryAttribute::new(context, &named(context, entries)).into()
}

/// Entries with their names as identifiers.
pub(crate) fn named<'c>(
    context: &'c Context,
    entries: &[(&str, Attribute<'c>)],
) -> Vec<(Identifier<'c>, Attribute<'c>)> {
    entries.iter().map(|(name, value)| (Identifier::new(context, name), *value)).collect()
}

/// A dictionary of unit attributes.
pub(crate) fn units<'c>(context: &'c Context, names: &[&str]) -> Attribute<'c> {
    let entries: Vec<_> = names.iter().map(|name| (*name, unit(context))).collect();
    dictionary(context, &entries)
}

/// A boolean attribute.
pub fn boolean(context: &Context, value: bool) -> Attribute<'_> {
    BoolAttribute::new(context, value).into()
}

/// An integer attribute of type i64.
pub fn i64(context: &Context, value: i64) -> Attribute<'_> {
    IntegerAttribute::new(IntegerType::new(context, 64).into(), value).into()
}

/// A dense array of i32.
pub fn i32s<'c>(context: &'c Context, values: &[i32]) -> Attribute<'c> {
    DenseI32ArrayAttribute::new(context, values).into()
}

/// A dense array of i64.
pub fn i64s<'c>(context: &'c Context, values: &[i64]) -> Attribute<'c> {
    DenseI64ArrayAttribute::new(context, values).into()
}

/// The value of a scalar constant of this type. Reals are rounded to the type.
pub fn scalar<'c>(context: &'c Context, value: Scalar, r#type: Type<'c>) -> Attribute<'c> {
    match value {
        Scalar::Bool(b) => IntegerAttribute::new(r#type, b.into()).into(),
        Scalar::Int(i) => IntegerAttribute::new(r#type, i).into(),
        Scalar::Real(x) => FloatAttribute::new(context, r#type, x).into(),
    }
}

/// Returns the text of a string attribute.
pub(crate) fn text(attribute: Attribute) -> Option<String> {
    attribute
        .is_string()
        .then(|| StringAttribute::try_from(attribute).ok().map(|own| own.value().to_owned()))
        .flatten()
}

/// Returns the value of an integer attribute.
pub(crate) fn number(attribute: Attribute) -> Option<i64> {
    attribute
        .is_integer()
        .then(|| IntegerAttribute::try_from(attribute).ok().map(|own| own.value()))
        .flatten()
}

/// Returns the value of a floating-point attribute.
pub(crate) fn real(attribute: Attribute) -> Option<f64> {
    attribute.is_float().then(|| FloatAttribute::try_from(attribute).ok().map(|own| own.value())).flatten()
}

/// Returns the items of a dense array of i64.
pub(crate) fn integers(attribute: Attribute) -> Option<Vec<i64>> {
    let array = DenseI64ArrayAttribute::try_from(attribute).ok()?;
    (0..array.len()).map(|n| array.element(n).ok()).collect()
}

/// Returns the items of an array attribute; empty for other attributes.
pub(crate) fn items(attribute: Attribute<'_>) -> Vec<Attribute<'_>> {
    let array = ArrayAttribute::try_from(attribute).ok();
    let items = array.map(|array| (0..array.len()).filter_map(move |n| array.element(n).ok()));
    items.into_iter().flatten().collect()
}

/// The dictionary with the entries whose names begin with `prefix`.
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

/// The value of a constant scalar, or of a vector or a tensor with equal elements.
pub(crate) fn splat<'c>(element: Attribute<'c>, r#type: Type<'c>) -> Attribute<'c> {
    if r#type.is_shaped() { DenseElementsAttribute::splat(r#type, element).into() } else { element }
}

/// The value of a constant tensor or vector with these elements.
pub(crate) fn listed<'c>(r#type: Type<'c>, elements: &[Attribute<'c>]) -> Attribute<'c> {
    DenseElementsAttribute::new(r#type, elements)
        .unwrap_or_else(|error| unreachable!("internal compiler error: {error}"))
        .into()
}

/// The value of a constant tensor of this type. Reals are rounded to the type, ints wrap.
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
    let scalars = values.iter().map(|v| scalar(*v));
    let tensor = Tensor::from_scalars(element, &[scalars.len() as u64], scalars).ok()?;
    Some(dense::of_bytes(r#type, tensor.bytes()))
}

/// Returns the entry of a dictionary with this name.
pub fn entry<'c>(dictionary: Attribute<'c>, name: &str) -> Option<Attribute<'c>> {
    DictionaryAttribute::try_from(dictionary).ok()?.element_by_name(name)
}

/// The dictionary with an additional entry, which replaces an entry of the same name.
pub(crate) fn with_entry<'c>(
    context: &'c Context,
    dictionary: Attribute<'c>,
    name: &str,
    value: Attribute<'c>,
) -> Attribute<'c> {
    let dictionary = DictionaryAttribute::try_from(dictionary).ok();
    let present = dictionary.iter().flat_map(|all| (0..all.len()).filter_map(|n| all.element(n).ok()));
    let name = Identifier::new(context, name);
    let mut entries: Vec<_> = present.filter(|(key, _)| *key != name).collect();
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

/// Whether the elements of an attribute are in the resources of the file.
pub fn is_resource(attribute: Attribute) -> bool {
    // SAFETY: the attribute is valid.
    unsafe { mlir_sys::mlirAttributeIsADenseResourceElements(attribute.to_raw()) }
}

/// Whether an attribute is a sparse tensor, whose unlisted elements are zero.
pub fn is_sparse(attribute: Attribute) -> bool {
    // SAFETY: the attribute is valid.
    unsafe { mlir_sys::mlirAttributeIsASparseElements(attribute.to_raw()) }
}

/// The namespace of the dialect of an attribute.
pub fn dialect_of(attribute: Attribute) -> String {
    // SAFETY: the attribute is valid; its dialect lives as long as the context, and so does the name.
    unsafe {
        let dialect = mlir_sys::mlirAttributeGetDialect(attribute.to_raw());
        let name = StringRef::from_raw(mlir_sys::mlirDialectGetNamespace(dialect));
        name.as_str().map_or_else(|_| String::new(), str::to_owned)
    }
}

/// The text of the inherent attributes of an `arith` or `math` operation in the generic form.
pub(crate) fn inherent(op: melior::ir::OperationRef) -> Option<String> {
    let text = |(name, attribute): (Identifier, Attribute)| {
        Some(format!("{} = {attribute}", name.as_string_ref().as_str().ok()?))
    };
    Some(op.attributes().map(text).collect::<Option<Vec<_>>>()?.join(", "))
}
