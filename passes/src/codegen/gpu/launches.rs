// SPDX-License-Identifier: Apache-2.0
//! `skript-lower-launches`: lowers kernel launches, and host reads of device memory, to calls of the runtime.
//!
//! Device addresses are integers in host code, which adds offsets to them and passes them to the runtime.
//! ```text
//! void skript_launch(int64_t kernel, int64_t blocks, int64_t threads, const uint64_t *arguments, int64_t count);
//! int64_t skript_device_read(uint64_t address, int64_t bytes);
//! uint64_t skript_device_constant(const void *bytes, int64_t length);
//! ```
//! An argument is a 64-bit word: the bits of a number, or an address. Calls of intrinsics become calls of
//! `skript_device_intrinsic`.
//!
//! Requires: `skript-outline-kernels`. Guarantees: no launch and no GPU module is left, and the entry accesses only host memory.

use super::layout;
use crate::ir::func::{callee, declare, symbol};
use crate::ir::{self, Builder, ops, types};
use crate::schedule::gpu::memory_space::{HostMemory, is_array, is_constant};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
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
        let memory = HostMemory::new(entry);
        let names: Vec<String> = ir::children(kernels).into_iter().filter_map(symbol).collect();
        let launches = ir::walk::named(entry, ops::gpu::LAUNCH_FUNC);
        let first = ir::operations(ir::body(entry)?).first().copied();
        let first = first.ok_or_else(|| PassError::at(entry, "is empty"))?;
        // A module with reads but without launches needs the array too, so it has at least one word.
        let words = launches.iter().map(|op| op.operand_count()).max().unwrap_or(1);
        let stack = Builder::at(first).words(ir::signed(words));
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
        for op in ir::children(root) {
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

/// Replaces a launch by a call.
fn launch<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    names: &[String],
    stack: Value<'c, 'a>,
    memory: &HostMemory,
) -> Result<(), PassError> {
    let at = Builder::at(op);
    let kernel = op.attribute("kernel")?.to_string();
    let number = kernel.rsplit_once('@').and_then(|(_, name)| names.iter().position(|known| known == name));
    let number = number.ok_or_else(|| PassError::at(op, "launches a kernel that the module lacks"))?;
    let operands: Vec<Value> = op.operands().collect();
    let (Some(blocks), Some(threads), Some(arguments)) =
        (operands.first(), operands.get(3), operands.get(6..))
    else {
        return Err(PassError::at(op, "is malformed"));
    };
    for (position, argument) in (0_i64..).zip(arguments) {
        let word =
            if is_array(*argument) { address(*argument, memory, &at)? } else { layout::word(&at, *argument) };
        at.store(word, stack, &[at.idx(position)]);
    }
    let operands = [
        layout::constant(&at, ir::signed(number)),
        layout::word(&at, *blocks),
        layout::word(&at, *threads),
        at.aligned_pointer(stack),
        layout::constant(&at, ir::signed(arguments.len())),
    ];
    at.call(LAUNCH, &operands);
    ir::erase(op);
    Ok(())
}

/// Computes the device address of an array.
fn address<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    memory: &HostMemory,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let pointer = at.aligned_pointer(array);
    if !is_constant(array) || !memory.holds(array) {
        return Ok(layout::word(at, pointer));
    }
    let extents = ir::memref::extents(array.r#type());
    let count: i64 = extents.iter().product();
    let length = count * layout::bytes(types::element_or_self(array.r#type()))?;
    let operands = [pointer, layout::constant(at, length)];
    Ok(at.result(at.call_with(CONSTANT, &operands, &[types::word(at.context)]), 0))
}

/// Replaces a load from device memory by a call.
fn read<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(), PassError> {
    let at = Builder::at(op);
    let array = ir::operand(op)?;
    let position: Vec<Value> = op.operands().skip(1).collect();
    let result: Value = op.result(0)?.into();
    let bytes = layout::bytes(result.r#type())?;
    let metadata = at.metadata(array);
    let number = layout::linear(&at, metadata[0], &metadata[1 + position.len()..], &position);
    let offset = at.muli(number, at.idx(bytes));
    let address = at.addi(at.aligned_pointer(array), offset);
    let word = at.call_with(READ, &[address, layout::constant(&at, bytes)], &[types::word(at.context)]);
    ir::replace_uses(result, layout::of_word(&at, at.result(word, 0), result.r#type()));
    ir::erase(op);
    Ok(())
}
