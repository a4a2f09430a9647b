// SPDX-License-Identifier: Apache-2.0
//! `skript-lower-launches`: lowers launches of kernels, and reads of arrays of the device, to calls of the runtime.
//!
//! Addresses of arrays of the device are numbers to the host: it adds offsets to them, and passes them on.
//! ```text
//! void skript_launch(int64_t kernel, int64_t blocks, int64_t threads, const uint64_t *arguments, int64_t count);
//! int64_t skript_device_read(uint64_t address, int64_t bytes);
//! uint64_t skript_device_constant(const void *bytes, int64_t length);
//! ```
//! An argument is a word: the bits of a number, or an address. Calls of intrinsics become calls of `skript_device_intrinsic`.
//!
//! Requires: `skript-outline-kernels`. Guarantees: no launch and no module of kernels is left, and the entry accesses arrays of
//! the host only.

use super::layout::{self, Layout};
use crate::ir::func::{callee, declare, symbol};
use crate::ir::{self, Builder, attributes, ops, types};
use crate::schedule::gpu::memory_space::{HostMemory, is_array, is_constant};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};

const LAUNCH: &str = "skript_launch";
const READ: &str = "skript_device_read";
const CONSTANT: &str = "skript_device_constant";
const INTRINSIC: &str = "skript_device_intrinsic";

/// The pass `skript-lower-launches`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-lower-launches",
    summary: "lower launches of kernels to calls of the runtime",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::MemRef],
    run: |root, _, rewriter| {
        let modules = ir::walk::named(root, ops::gpu::MODULE);
        let Some(kernels) = modules.first().copied() else {
            return Ok(());
        };
        let context = rewriter.context();
        let entry = ir::entry(root)?;
        let memory = HostMemory::of(entry);
        let names = ir::first_block(kernels).map(ir::operations);
        let names: Vec<String> = names.unwrap_or_default().into_iter().filter_map(symbol).collect();
        let launches = ir::walk::named(entry, ops::gpu::LAUNCH_FUNC);
        let first = ir::operations(ir::body(entry)?).first().copied();
        let first = first.ok_or_else(|| PassError::at(entry, "is empty"))?;
        let most = launches.iter().map(|op| op.operand_count()).max();
        let most = i64::try_from(most.unwrap_or(1)).map_err(|_| "too many arguments")?;
        let stack = Builder::before(context, first)?.value(
            ops::memref::ALLOCA,
            &[],
            &[("operandSegmentSizes", attributes::i32s(context, &[0, 0]))],
            types::memref(&[most], types::word(context)),
        )?;
        for op in launches {
            launch(op, &names, stack, &memory)?;
        }
        for op in ir::walk::named(entry, ops::memref::LOAD) {
            if !memory.holds(ir::operand(op)?) {
                read(op)?;
            }
        }
        for op in ir::walk::named(root, ops::func::CALL) {
            if callee(op).as_deref() == Some(skript_intrinsics::compiled::SYMBOL) {
                let name = FlatSymbolRefAttribute::new(context, INTRINSIC).into();
                ir::set_attribute(op, "callee", name);
            }
        }
        let (word, index) = (types::word(context), Type::index(context));
        declare(root, LAUNCH, &[word, word, word, index, word], &[])?;
        declare(root, READ, &[index, word], &[word])?;
        declare(root, CONSTANT, &[index, word], &[word])?;
        let block = ir::blocks(root).first().copied().ok_or("a module without a body")?;
        for op in ir::operations(block) {
            if symbol(op).as_deref() == Some(skript_intrinsics::compiled::SYMBOL) {
                ir::set_string(op, "sym_name", INTRINSIC);
            }
        }
        for module in modules {
            ir::erase(module);
        }
        ir::mutation::remove(root, "gpu.container_module");
        Ok(())
    },
    ..Pass::NONE
};

fn call<'c: 'a, 'a>(
    name: &str,
    operands: &[Value<'c, 'a>],
    results: &[Type<'c>],
    at: &Builder<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, PassError> {
    let callee = FlatSymbolRefAttribute::new(at.context, name).into();
    let none = Vec::new();
    Ok(at.create(ops::func::CALL, operands, &[("callee", callee)], results, none)?)
}

/// Replaces a launch.
fn launch<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    names: &[String],
    stack: Value<'c, 'a>,
    memory: &HostMemory,
) -> Result<(), PassError> {
    let context = ir::context::of(op);
    let at = Builder::before(context, op)?;
    let kernel = op.attribute("kernel")?.to_string();
    let name = kernel.rsplit('@').next().unwrap_or_default();
    let number = names.iter().position(|known| known == name);
    let number = number.and_then(|n| i64::try_from(n).ok());
    let number = number.ok_or_else(|| PassError::at(op, "launches no kernel of the module"))?;
    let operands: Vec<Value> = op.operands().collect();
    let (Some(blocks), Some(threads), Some(arguments)) =
        (operands.first(), operands.get(3), operands.get(6..))
    else {
        return Err(PassError::at(op, "is malformed"));
    };
    for (position, argument) in (0_i64..).zip(arguments) {
        let word = if is_array(*argument) {
            address(*argument, memory, &at)?
        } else {
            layout::word(*argument, &at)?
        };
        let place = at.index(position)?;
        at.create(ops::memref::STORE, &[word, stack, place], &[], &[], Vec::new())?;
    }
    let count = i64::try_from(arguments.len()).map_err(|_| "too many arguments")?;
    let operands = [
        layout::constant(number, &at)?,
        layout::word(*blocks, &at)?,
        layout::word(*threads, &at)?,
        layout::pointer(stack, &at)?,
        layout::constant(count, &at)?,
    ];
    call(LAUNCH, &operands, &[], &at)?;
    ir::erase(op);
    Ok(())
}

/// The address of an array on the device.
fn address<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    memory: &HostMemory,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let word = types::word(at.context);
    let pointer = layout::pointer(array, at)?;
    if is_constant(array) && memory.holds(array) {
        let r#type = MemRefType::try_from(array.r#type())?;
        let extents = ir::memref::extents(array.r#type());
        let count: i64 = extents.iter().product();
        let length = layout::constant(count * layout::bytes(r#type.element())?, at)?;
        let made = call(CONSTANT, &[pointer, length], &[word], at)?;
        return Ok(made.result(0)?.into());
    }
    layout::word(pointer, at)
}

/// Replaces a read of an array of the device.
fn read<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(), PassError> {
    let context = ir::context::of(op);
    let at = Builder::before(context, op)?;
    let index = Type::index(context);
    let array = ir::operand(op)?;
    let position: Vec<Value> = op.operands().skip(1).collect();
    let result: Value = op.result(0)?.into();
    let bytes = layout::bytes(result.r#type())?;
    let number = layout::linear(&Layout::of(array, &at)?, &position, &at)?;
    let offset = at.value(ops::arith::MULI, &[number, at.index(bytes)?], &[], index)?;
    let address = [layout::pointer(array, &at)?, offset];
    let address = at.value(ops::arith::ADDI, &address, &[], index)?;
    let operands = [address, layout::constant(bytes, &at)?];
    let word = call(READ, &operands, &[types::word(context)], &at)?;
    let value = layout::of_word(word.result(0)?.into(), result.r#type(), &at)?;
    ir::replace_uses(result, value);
    ir::erase(op);
    Ok(())
}
