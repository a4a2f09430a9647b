// SPDX-License-Identifier: Apache-2.0
//! `skript-address-kernel-memory`: lowers memrefs in kernels to physical addresses of SPIR-V.
//!
//! The only push constant of a kernel is the address of its arguments, which are 8-byte words. Loads and stores convert addresses to
//! pointers in the storage class `PhysicalStorageBuffer`; arrays on the stack become variables of the function. In memory, a bool is
//! a byte, and a bf16 an `i16`.
//!
//! Requires: kernels whose views are `memref.view`, `memref.reinterpret_cast` and `memref.cast`, with constant expressions
//! lowered. Guarantees: kernels have no operations of `memref` and no arguments.

use super::kernel_calls::{convert_indices, define_results, inline_calls};
use super::kernel_comparisons;
use super::kernel_vectors::{lower_elements, split_shared};
use super::layout;
use crate::ir::builder::arith::Integers;
use crate::ir::{self, Builder, ValueKey, ops, spirv, typed, types};
use melior::Context;
use melior::ir::attribute::{IntegerAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{FunctionType, MemRefType};
use melior::ir::{Attribute, BlockRef, ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::HashMap;

/// The pass `skript-address-kernel-memory`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-address-kernel-memory",
    summary: "lower memrefs in kernels to physical addresses of SPIR-V",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Gpu, Dialect::Spirv],
    run: |root, _, _| {
        for module in ir::walk::named(root, ops::gpu::MODULE) {
            let mut pending = ir::walk::named(module, ops::gpu::FUNC);
            pending.retain(|op| !op.has_attribute(ABI));
            if pending.is_empty() {
                continue;
            }
            spirv::variable(module, PARAMETERS, parameters(ir::context::of(module)));
            for function in pending {
                inline_calls(function, module)?;
                define_results(function);
                convert_indices(function)?;
                split_shared(function)?;
                Kernel::new(function)?.lower()?;
                lower_elements(function)?;
            }
            // All calls have been inlined.
            for function in ir::walk::named(module, ops::func::FUNC) {
                ir::erase(function);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

const ABI: &str = "spirv.entry_point_abi";
const PARAMETERS: &str = "parameters";

/// The type of the variable for the address of the arguments.
fn parameters(context: &Context) -> Type<'_> {
    spirv::pointer(spirv::block(types::word(context)), PUSHED)
}

// Names of storage classes.
const PUSHED: &str = "PushConstant";
const FUNCTION: &str = "Function";
const WORKGROUP: &str = "Workgroup";

/// A kernel while its memory is lowered.
struct Kernel<'c, 'a> {
    function: OperationRef<'c, 'a>,
    block: BlockRef<'c, 'a>,
    /// The builder at the beginning of the kernel.
    start: Builder<'c, 'a>,
    /// The address or the variable of each buffer.
    buffers: HashMap<ValueKey, Value<'c, 'a>>,
}

/// The storage class of an array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Device memory.
    Address,
    /// A variable of the thread.
    Function,
    /// A variable of the workgroup.
    Workgroup,
}

impl Class {
    /// The class of an address or a variable with this type.
    fn from_type(r#type: Type) -> Class {
        let text = r#type.to_string();
        match (text.contains(", Workgroup>"), text.contains(", Function>")) {
            (true, _) => Class::Workgroup,
            (_, true) => Class::Function,
            _ => Class::Address,
        }
    }
}

/// The location and the layout of an array.
#[derive(Clone)]
struct Array<'c, 'a> {
    /// The address of the buffer, or the variable.
    base: Value<'c, 'a>,
    class: Class,
    /// In elements.
    offset: Value<'c, 'a>,
    extents: Vec<Value<'c, 'a>>,
    strides: Vec<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Kernel<'c, 'a> {
    fn new(function: OperationRef<'c, 'a>) -> Result<Self, PassError> {
        kernel_comparisons::narrow(function)?;
        let block = ir::first_block(function).ok_or("a kernel without a body")?;
        let first = ir::operations(block).first().copied().ok_or("an empty kernel")?;
        Ok(Kernel { function, block, start: Builder::at(first), buffers: HashMap::new() })
    }

    fn lower(mut self) -> Result<(), PassError> {
        self.lower_arguments()?;
        for op in ir::walk::named(self.function, ops::memref::ALLOCA) {
            let variable = self.variable(op, &self.start)?;
            self.buffers.insert(ValueKey::of(Value::from(op.result(0)?)), variable);
        }
        for op in ir::nested(self.function) {
            match ir::name(op).as_str() {
                ops::memref::LOAD | ops::memref::STORE | ops::vector::LOAD | ops::vector::STORE => {
                    self.access(op)?
                }
                ops::memref::DIM => {
                    let [array, dimension] = ir::both_operands(op)?;
                    let array = self.array(array, &Builder::at(op))?;
                    let dimension = ir::integer(dimension);
                    let extent = dimension.and_then(|n| array.extents.get(usize::try_from(n).ok()?));
                    let extent = extent.ok_or_else(|| PassError::at(op, "has no such dimension"))?;
                    ir::replace_uses(op.result(0)?.into(), *extent);
                }
                ops::memref::EXTRACT_STRIDED_METADATA => {
                    let array = self.array(ir::operand(op)?, &Builder::at(op))?;
                    let values = [&[array.offset][..], &array.extents, &array.strides].concat();
                    for (result, value) in op.results().skip(1).zip(values) {
                        ir::replace_uses(result.into(), value);
                    }
                }
                _ => {}
            }
        }
        self.erase_views();
        self.erase_arguments()
    }

    /// Loads the arguments, and declares variables for shared arrays, which are additional block arguments.
    fn lower_arguments(&mut self) -> Result<(), PassError> {
        let at = self.start;
        let base = self.parameters(&at)?;
        let arguments = ir::arguments(self.block);
        let count = ir::func::function_type(self.function)?.input_count();
        let (passed, shared) = arguments.split_at(count.min(arguments.len()));
        for array in shared {
            let variable = self.shared(*array, &at)?;
            self.buffers.insert(ValueKey::of(*array), variable);
        }
        for (position, argument) in (0_i64..).zip(passed) {
            let address = at.addi(base, layout::constant(&at, position * 8));
            let word = load(address, types::word(at.context), 8, &at);
            if argument.r#type().is_mem_ref() {
                self.buffers.insert(ValueKey::of(*argument), word);
            } else {
                ir::replace_uses(*argument, layout::of_word(&at, word, argument.r#type()));
            }
        }
        Ok(())
    }

    /// Erases the arguments, and marks the kernel as an entry point.
    fn erase_arguments(&self) -> Result<(), PassError> {
        let context = self.start.context;
        for number in (0..self.block.argument_count()).rev() {
            ir::mutation::erase_argument(self.block, number);
        }
        let r#type = TypeAttribute::new(FunctionType::new(context, &[], &[]).into());
        ir::set_attribute(self.function, "function_type", r#type.into());
        for name in ["arg_attrs", "workgroup_attributions", "workgroup_attrib_attrs"] {
            ir::mutation::remove(self.function, name);
        }
        let threads = typed::i32s(self.function, "known_block_size");
        let threads = threads.first().copied().ok_or("a kernel without threads")?;
        ir::set_attribute(self.function, ABI, spirv::entry_point(context, threads));
        Ok(())
    }

    /// The address of the arguments.
    fn parameters(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let context = at.context;
        let number = types::int(context, 32);
        let variable = spirv::address(at, PARAMETERS, parameters(context));
        let zero: Attribute = IntegerAttribute::new(number, 0).into();
        let zero = at.value(ops::spirv::CONSTANT, &[], &[("value", zero)], number)?;
        let r#type = spirv::pointer(types::word(context), PUSHED);
        let pointer = at.value(ops::spirv::ACCESS_CHAIN, &[variable, zero], &[], r#type)?;
        Ok(at.value(ops::spirv::LOAD, &[pointer], &[], types::word(context))?)
    }

    /// Declares the variable of an array on the stack.
    fn variable(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let value: Value = op.result(0)?.into();
        let extents = ir::memref::extents(value.r#type());
        if extents.iter().any(|n| *n < 0) {
            return Err(PassError::at(op, "is an array on the stack with dynamic extents"));
        }
        let count = extents.iter().product::<i64>().max(1);
        let element = MemRefType::try_from(value.r#type())?.element();
        let element = stored(element)?;
        let r#type = spirv::pointer(spirv::array(count, element), FUNCTION);
        let class = [("storage_class", spirv::function_class(at.context))];
        Ok(at.value(ops::spirv::VARIABLE, &[], &class, r#type)?)
    }

    /// Declares the variable of an array in workgroup memory.
    fn shared(&self, array: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let kernel = typed::verified_string(self.function, "sym_name");
        let number = ir::argument(array).ok_or("a shared array that is not an argument")?.argument_number();
        let name = format!("{kernel}_shared_{number}");
        let count = ir::memref::extents(array.r#type()).iter().product::<i64>();
        let element = stored(types::element_or_self(array.r#type()))?;
        let r#type = spirv::pointer(spirv::array(count, element), WORKGROUP);
        let module = self.function.parent_operation().ok_or("a kernel in no module")?;
        spirv::variable(module, &name, r#type);
        Ok(spirv::address(at, &name, r#type))
    }

    fn erase_views(&self) {
        // In reverse, because users must be erased before definitions.
        for op in ir::nested(self.function).into_iter().rev() {
            let name = ir::name(op);
            let is_used = op.results().any(|r| skript_dialect::op::is_used(Value::from(r)));
            if name.starts_with("memref.") && !is_used {
                ir::erase(op);
            }
        }
    }

    /// The location and layout of a memref, from the operations that define it.
    fn array(&self, value: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Array<'c, 'a>, PassError> {
        let buffer = self.buffers.get(&ValueKey::of(value)).copied();
        if let Some(base) = buffer.filter(|_| value.is_block_argument()) {
            let extents = ir::memref::extents(value.r#type());
            return Ok(contiguous(base, Class::from_type(base.r#type()), constants(&extents, at), at));
        }
        let op = ir::defining_op(value)
            .ok_or_else(|| PassError::at(self.function, "has an array that no view defines"))?;
        let source = |at: &Builder<'c, 'a>| self.array(ir::operand(op)?, at);
        match ir::name(op).as_str() {
            ops::memref::VIEW => {
                let bytes = source(at)?;
                let offset = layout::word(at, at.addi(bytes.offset, op.operand(1)?));
                let base = at.addi(bytes.base, offset);
                let extents = mixed(&ir::memref::extents(value.r#type()), &mut op.operands().skip(2), at)?;
                Ok(contiguous(base, bytes.class, extents, at))
            }
            ops::memref::REINTERPRET_CAST => {
                let source = source(at)?;
                let mut dynamic = op.operands().skip(1);
                let mut list = |name: &str| mixed(&typed::i64s(op, name), &mut dynamic, at);
                let offsets = list("static_offsets")?;
                Ok(Array {
                    offset: offsets.first().copied().ok_or("a view without an offset")?,
                    extents: list("static_sizes")?,
                    strides: list("static_strides")?,
                    ..source
                })
            }
            ops::memref::CAST | ops::memref::MEMORY_SPACE_CAST => source(at),
            ops::memref::EXTRACT_STRIDED_METADATA => {
                Ok(Array { offset: at.idx(0), extents: Vec::new(), strides: Vec::new(), ..source(at)? })
            }
            ops::memref::ALLOCA => {
                let extents = ir::memref::extents(value.r#type());
                let variable = buffer.ok_or_else(|| PassError::at(op, "has no variable"))?;
                Ok(contiguous(variable, Class::Function, constants(&extents, at), at))
            }
            name => Err(PassError::at(op, format!("{name} has no address in SPIR-V"))),
        }
    }

    /// Replaces a load or a store.
    fn access(&self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let at = Builder::at(op);
        let name = ir::name(op);
        let is_store = [ops::memref::STORE, ops::vector::STORE].contains(&name.as_str());
        let first = usize::from(is_store);
        let view = op.operand(first)?;
        let element = MemRefType::try_from(view.r#type())?.element();
        let array = self.array(view, &at)?;
        let position: Vec<Value> = op.operands().skip(first + 1).collect();
        let number = layout::linear(&at, array.offset, &array.strides, &position);
        let number = layout::word(&at, number);
        let mut held = stored(element)?;
        let bytes = layout::bytes(element)?;
        let mut alignment = bytes;
        if name.starts_with("vector.") {
            let vector: Value = if is_store { op.operand(0)? } else { op.result(0)?.into() };
            alignment = typed::integer(op, "alignment").unwrap_or(bytes);
            if array.class != Class::Address || held != element {
                return Err(PassError::at(op, "accesses a vector of elements that SPIR-V cannot address"));
            }
            held = vector.r#type();
        }
        let variable = |class: &str| {
            at.make(ops::spirv::ACCESS_CHAIN, &[array.base, number], &[], spirv::pointer(held, class))
        };
        let pointer = match array.class {
            Class::Function => variable(FUNCTION),
            Class::Workgroup => variable(WORKGROUP),
            Class::Address => at.addi(array.base, at.muli(number, layout::constant(&at, bytes))),
        };
        let is_variable = array.class != Class::Address;
        if is_store {
            let value = to_stored(op.operand(0)?, held, &at);
            if is_variable {
                at.op(ops::spirv::STORE, &[pointer, value], &[], &[], Vec::new());
            } else {
                store(pointer, value, alignment, &at);
            }
        } else {
            let value = if is_variable {
                at.make(ops::spirv::LOAD, &[pointer], &[], held)
            } else {
                load(pointer, held, alignment, &at)
            };
            let value = match name.as_str() {
                ops::vector::LOAD => value,
                _ => from_stored(value, element, &at),
            };
            ir::replace_uses(op.result(0)?.into(), value);
        }
        ir::erase(op);
        Ok(())
    }
}

fn constants<'c: 'a, 'a>(values: &[i64], at: &Builder<'c, 'a>) -> Vec<Value<'c, 'a>> {
    values.iter().map(|n| at.idx(*n)).collect()
}

/// Static values as constants; dynamic values from `dynamic`.
fn mixed<'c: 'a, 'a>(
    list: &[i64],
    dynamic: &mut impl Iterator<Item = Value<'c, 'a>>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let values = list.iter().map(|n| match *n {
        types::DYNAMIC => dynamic.next().ok_or_else(|| PassError::from("too few extents")),
        n => Ok(at.idx(n)),
    });
    values.collect()
}

fn contiguous<'c: 'a, 'a>(
    base: Value<'c, 'a>,
    class: Class,
    extents: Vec<Value<'c, 'a>>,
    at: &Builder<'c, 'a>,
) -> Array<'c, 'a> {
    let mut stride = at.idx(1);
    let mut strides = Vec::new();
    for extent in extents.iter().rev() {
        strides.push(stride);
        stride = at.muli(stride, *extent);
    }
    strides.reverse();
    Array { base, class, offset: at.idx(0), extents, strides }
}

/// The storage type of an element.
fn stored(element: Type<'_>) -> Result<Type<'_>, PassError> {
    let context = types::context_of(element);
    let bits = layout::bytes(element)? * 8;
    let text = element.to_string();
    if element.is_index() {
        return Ok(types::word(context));
    }
    match text.as_str() {
        "f16" | "f32" | "f64" | "i8" | "i16" | "i32" | "i64" => Ok(element),
        "i1" => Ok(types::int(context, 8)),
        _ if element.is_float() && bits <= 64 => Ok(types::int(context, element.float_width())),
        _ => Err(PassError::from(format!("SPIR-V cannot store elements of type {text}"))),
    }
}

fn to_stored<'c: 'a, 'a>(value: Value<'c, 'a>, held: Type<'c>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    let r#type = value.r#type();
    match (r#type.is_index(), r#type.is_float()) {
        _ if r#type == held => value,
        (true, _) => at.index_cast(value, held),
        (_, true) => at.bitcast(value, held),
        _ => at.convert(ops::arith::EXTUI, value, held),
    }
}

fn from_stored<'c: 'a, 'a>(value: Value<'c, 'a>, element: Type<'c>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    match (element.is_index(), element.is_float()) {
        _ if value.r#type() == element => value,
        (true, _) => at.index_cast(value, element),
        (_, true) => at.bitcast(value, element),
        _ => at.cmpi(Integers::NotEqual, value, at.zero(value.r#type())),
    }
}

fn pointer<'c: 'a, 'a>(address: Value<'c, 'a>, held: Type<'c>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    let r#type = spirv::pointer(held, "PhysicalStorageBuffer");
    at.make(ops::spirv::CONVERT_U_TO_PTR, &[address], &[], r#type)
}

fn load<'c: 'a, 'a>(
    address: Value<'c, 'a>,
    held: Type<'c>,
    bytes: i64,
    at: &Builder<'c, 'a>,
) -> Value<'c, 'a> {
    at.make(ops::spirv::LOAD, &[pointer(address, held, at)], &spirv::aligned(at, bytes), held)
}

fn store<'c: 'a, 'a>(address: Value<'c, 'a>, value: Value<'c, 'a>, bytes: i64, at: &Builder<'c, 'a>) {
    let operands = [pointer(address, value.r#type(), at), value];
    at.op(ops::spirv::STORE, &operands, &spirv::aligned(at, bytes), &[], Vec::new());
}
