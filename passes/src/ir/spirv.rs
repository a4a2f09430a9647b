// SPDX-License-Identifier: Apache-2.0
//! Types, attributes and variables of the dialect `spirv`, for which the C API has no functions.

use super::attributes::{self, parsed};
use super::builder::operations;
use super::types::context_of;
use super::walk::first_block;
use super::{Builder, ops};
use melior::Context;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::attribute::TypeAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Attribute, Type, Value};

/// The version, capabilities and extensions that kernels may use.
pub(crate) fn environment(context: &Context) -> Attribute<'_> {
    parsed(
        context,
        "#spirv.target_env<#spirv.vce<v1.5, [Shader, Int64, Int16, Int8, Float64, Float16, \
         PhysicalStorageBufferAddresses, StorageBuffer8BitAccess, StorageBuffer16BitAccess, GroupNonUniform], \
         [SPV_KHR_physical_storage_buffer, SPV_KHR_8bit_storage, SPV_KHR_16bit_storage]>, #spirv.resource_limits<>>",
    )
}

/// The version, capabilities and extensions of a module, with the version replaced by 1.5.
pub(crate) fn with_version<'c>(context: &'c Context, triple: Attribute<'c>) -> Attribute<'c> {
    let triple = triple.to_string();
    let version = triple.split_once("<v").and_then(|(_, text)| text.split_once(','));
    version.map_or_else(
        || parsed(context, &triple),
        |(version, _)| parsed(context, &triple.replacen(&format!("<v{version},"), "<v1.5,", 1)),
    )
}

/// The pointer type to a type in a storage class.
pub(crate) fn pointer<'c>(to: Type<'c>, class: &str) -> Type<'c> {
    type_of(context_of(to), &format!("!spirv.ptr<{to}, {class}>"))
}

/// An array type with `count` elements, or one if `count` is 0.
pub(crate) fn array(count: i64, element: Type<'_>) -> Type<'_> {
    type_of(context_of(element), &format!("!spirv.array<{} x {element}>", count.max(1)))
}

/// A struct type with one member at offset 0.
pub(crate) fn block(of: Type<'_>) -> Type<'_> {
    type_of(context_of(of), &format!("!spirv.struct<({of} [0])>"))
}

fn type_of<'c>(context: &'c Context, text: &str) -> Type<'c> {
    Type::parse(context, text).unwrap_or_else(|| unreachable!("internal compiler error: not a type: {text}"))
}

/// The entry point attribute of a kernel with `threads` threads per workgroup.
pub(crate) fn entry_point(context: &Context, threads: i32) -> Attribute<'_> {
    parsed(context, &format!("#spirv.entry_point_abi<workgroup_size = [{threads}, 1, 1]>"))
}

/// The storage class `Function`.
pub(crate) fn function_class(context: &Context) -> Attribute<'_> {
    parsed(context, "#spirv.storage_class<Function>")
}

/// The attributes of an access with an alignment in bytes.
pub(crate) fn aligned<'c>(at: &Builder<'c, '_>, bytes: i64) -> [(&'static str, Attribute<'c>); 2] {
    let access = parsed(at.context, "#spirv.memory_access<Aligned>");
    [("memory_access", access), ("alignment", at.i32_attribute(bytes))]
}

/// Adds a global variable at the beginning of a module.
pub(crate) fn variable<'c: 'a, 'a>(module: OperationRef<'c, 'a>, name: &str, r#type: Type<'c>) {
    let context = context_of(r#type);
    let attributes =
        [("sym_name", attributes::string(context, name)), ("type", TypeAttribute::new(r#type).into())];
    let block = first_block(module);
    let block = block.unwrap_or_else(|| unreachable!("internal compiler error: a module without a body"));
    let first = operations(block).first().copied();
    let at = match first.map(|first| Builder::before(context, first)) {
        Some(Ok(at)) => at,
        _ => Builder::at_end(context, block, module.location()),
    };
    at.op(ops::spirv::GLOBAL_VARIABLE, &[], &attributes, &[], Vec::new());
}

/// The pointer to a global variable.
pub(crate) fn address<'c: 'a, 'a>(at: &Builder<'c, 'a>, name: &str, r#type: Type<'c>) -> Value<'c, 'a> {
    let name = FlatSymbolRefAttribute::new(at.context, name);
    at.make(ops::spirv::ADDRESS_OF, &[], &[("variable", name.into())], r#type)
}
