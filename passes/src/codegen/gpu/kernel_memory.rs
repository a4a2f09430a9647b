// SPDX-License-Identifier: Apache-2.0
//! `skript-address-kernel-memory`: arrays of kernels become physical addresses of SPIR-V.
//!
//! A kernel has one push constant, the address of its arguments, each a word of 8 bytes. Loads and stores convert addresses to
//! pointers in the storage class `PhysicalStorageBuffer`; arrays on the stack become variables of the function. Elements are of
//! the types that memory has: a bool is a byte, a bf16 an `i16`.
//!
//! Requires: kernels whose views are `memref.view`, `memref.reinterpret_cast`, `memref.cast`, with constant expressions lowered.
//! Guarantees: no operation of `memref` is left in kernels, and they have no arguments.

use super::kernel_calls::{convert_indices, define_results, inline_calls};
use super::kernel_comparisons;
use super::kernel_vectors::{lower_elements, split_shared};
use super::layout;
use crate::ir::{self, Builder, attributes, ops, typed, types};
use melior::Context;
use melior::ir::attribute::{IntegerAttribute, TypeAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{FunctionType, IntegerType, MemRefType};
use melior::ir::{Attribute, ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};

/// The pass `skript-address-kernel-memory`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-address-kernel-memory",
    summary: "arrays of kernels become physical addresses of SPIR-V",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Gpu, Dialect::Spirv],
    run: |root, _, _| {
        for module in ir::walk::named(root, ops::gpu::MODULE) {
            let functions = ir::walk::named(module, ops::gpu::FUNC);
            let pending = functions.iter().filter(|op| !op.has_attribute(ABI));
            let pending: Vec<_> = pending.copied().collect();
            if pending.is_empty() {
                continue;
            }
            ir::append_functions(
                module,
                &format!("spirv.GlobalVariable @{PARAMETERS} : {PARAMETERS_TYPE}\n"),
            )?;
            let block = ir::first_block(module).ok_or("a module without a body")?;
            let operations = ir::operations(block);
            if let (Some(first), Some(last)) = (operations.first(), operations.last()) {
                ir::move_before(*last, *first);
            }
            for function in pending {
                inline_calls(function, module)?;
                define_results(function)?;
                convert_indices(function)?;
                split_shared(function)?;
                Kernel { function }.lower()?;
                lower_elements(function)?;
            }
            // Nothing calls them any more.
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
const PARAMETERS_TYPE: &str = "!spirv.ptr<!spirv.struct<(i64 [0])>, PushConstant>";

struct Kernel<'c, 'a> {
    function: OperationRef<'c, 'a>,
}

/// The storage class of an array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// The memory of the device.
    Address,
    /// A variable of the thread.
    Function,
    /// A variable of the block.
    Workgroup,
}

impl Class {
    /// The class of an address or of a variable.
    fn of(r#type: Type) -> Class {
        let text = r#type.to_string();
        match (text.contains(", Workgroup>"), text.contains(", Function>")) {
            (true, _) => Class::Workgroup,
            (_, true) => Class::Function,
            _ => Class::Address,
        }
    }
}

/// How an array is found.
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

fn spirv<'c>(context: &'c Context, text: &str) -> Result<Type<'c>, PassError> {
    Type::parse(context, text).ok_or_else(|| PassError::from(format!("no type: {text}")))
}

fn attribute<'c>(context: &'c Context, text: &str) -> Result<Attribute<'c>, PassError> {
    Attribute::parse(context, text).ok_or_else(|| PassError::from(format!("no attribute: {text}")))
}

impl<'c: 'a, 'a> Kernel<'c, 'a> {
    fn lower(&self) -> Result<(), PassError> {
        kernel_comparisons::narrow(self.function)?;
        let context = ir::context::of(self.function);
        let block = ir::first_block(self.function).ok_or("a kernel without a body")?;
        let first = ir::operations(block).first().copied().ok_or("an empty kernel")?;
        let at = Builder::before(context, first)?;
        let base = self.parameters(&at)?;
        let arguments = ir::arguments(block);
        let mut buffers = std::collections::HashMap::new();
        let own = self.function.attribute("function_type")?;
        let own = FunctionType::try_from(TypeAttribute::try_from(own)?.value())?;
        let (own, shared) = arguments.split_at(own.input_count().min(arguments.len()));
        for argument in shared {
            buffers.insert(ir::ValueKey::of(*argument), self.shared(*argument, &at)?);
        }
        for (position, argument) in (0_i64..).zip(own) {
            let place = at.value(
                ops::arith::ADDI,
                &[base, layout::constant(position * 8, &at)?],
                &[],
                types::word(context),
            )?;
            let word = load(place, types::word(context), 8, &at)?;
            if argument.r#type().is_mem_ref() {
                buffers.insert(ir::ValueKey::of(*argument), word);
            } else {
                let value = layout::of_word(word, argument.r#type(), &at)?;
                ir::replace_uses(*argument, value);
            }
        }
        for op in ir::walk::named(self.function, ops::memref::ALLOCA) {
            let variable = self.variable(op, &at)?;
            buffers.insert(ir::ValueKey::of(Value::from(op.result(0)?)), variable);
        }
        for op in ir::nested(self.function) {
            let name = ir::name(op);
            match name.as_str() {
                ops::memref::LOAD | ops::memref::STORE | ops::vector::LOAD | ops::vector::STORE => {
                    self.access(op, &buffers)?
                }
                ops::memref::DIM => {
                    let at = Builder::before(context, op)?;
                    let [array, dimension] = ir::both_operands(op)?;
                    let array = self.array(array, &buffers, &at)?;
                    let dimension = ir::arith::Constant::of(dimension).and_then(|c| c.integer());
                    let extent = dimension.and_then(|n| array.extents.get(usize::try_from(n).ok()?));
                    let extent = extent.ok_or_else(|| PassError::at(op, "has no such dimension"))?;
                    ir::replace_uses(op.result(0)?.into(), *extent);
                }
                ops::memref::EXTRACT_STRIDED_METADATA => {
                    let at = Builder::before(context, op)?;
                    let array = self.array(ir::operand(op)?, &buffers, &at)?;
                    let values = [&[array.offset][..], &array.extents, &array.strides].concat();
                    for (result, value) in op.results().skip(1).zip(values) {
                        ir::replace_uses(result.into(), value);
                    }
                }
                _ => {}
            }
        }
        self.erase_views();
        for number in (0..arguments.len()).rev() {
            ir::mutation::erase_argument(block, number);
        }
        let r#type = TypeAttribute::new(FunctionType::new(context, &[], &[]).into());
        ir::set_attribute(self.function, "function_type", r#type.into());
        ir::mutation::remove(self.function, "arg_attrs");
        ir::mutation::remove(self.function, "workgroup_attributions");
        ir::mutation::remove(self.function, "workgroup_attrib_attrs");
        let threads = self.function.attribute("known_block_size")?.to_string();
        let threads = threads.trim_start_matches("array<i32: ").trim_end_matches('>');
        let abi = format!("#spirv.entry_point_abi<workgroup_size = [{threads}]>");
        ir::set_attribute(self.function, ABI, attribute(context, &abi)?);
        Ok(())
    }

    /// The address of the arguments.
    fn parameters(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let context = at.context;
        let number = IntegerType::new(context, 32).into();
        let variable = at.value(
            ops::spirv::ADDRESS_OF,
            &[],
            &[("variable", attribute(context, &format!("@{PARAMETERS}"))?)],
            spirv(context, PARAMETERS_TYPE)?,
        )?;
        let zero: Attribute = IntegerAttribute::new(number, 0).into();
        let zero = at.value(ops::spirv::CONSTANT, &[], &[("value", zero)], number)?;
        let place = at.value(
            ops::spirv::ACCESS_CHAIN,
            &[variable, zero],
            &[],
            spirv(context, "!spirv.ptr<i64, PushConstant>")?,
        )?;
        Ok(at.value(ops::spirv::LOAD, &[place], &[], types::word(context))?)
    }

    /// The variable of an array on the stack.
    fn variable(&self, op: OperationRef<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let value: Value = op.result(0)?.into();
        let extents = ir::memref::extents(value.r#type());
        if extents.iter().any(|n| *n < 0) {
            return Err(PassError::at(op, "is an array on the stack with dynamic extents"));
        }
        let count = extents.iter().product::<i64>().max(1);
        let element = MemRefType::try_from(value.r#type())?.element();
        let element = stored(element, at)?;
        let r#type = format!("!spirv.ptr<!spirv.array<{count} x {element}>, Function>");
        let class = attribute(at.context, "#spirv.storage_class<Function>")?;
        Ok(at.value(ops::spirv::VARIABLE, &[], &[("storage_class", class)], spirv(at.context, &r#type)?)?)
    }

    /// The variable of an array that the threads of a block share.
    fn shared(&self, array: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let kernel = ir::func::symbol(self.function).unwrap_or_default();
        let number = ir::argument(array).map_or(0, |own| own.argument_number());
        let name = format!("{kernel}_shared_{number}");
        let count = ir::memref::extents(array.r#type()).iter().product::<i64>();
        let element = stored(MemRefType::try_from(array.r#type())?.element(), at)?;
        let r#type = format!("!spirv.ptr<!spirv.array<{} x {element}>, Workgroup>", count.max(1));
        let module = self.function.parent_operation().ok_or("a kernel in no module")?;
        let text = format!("spirv.GlobalVariable @{name} : {type}\n", r#type = r#type);
        ir::append_functions(module, &text)?;
        let block = ir::first_block(module).ok_or("a module without a body")?;
        let operations = ir::operations(block);
        if let (Some(first), Some(last)) = (operations.first(), operations.last()) {
            ir::move_before(*last, *first);
        }
        Ok(at.value(
            ops::spirv::ADDRESS_OF,
            &[],
            &[("variable", attribute(at.context, &format!("@{name}"))?)],
            spirv(at.context, &r#type)?,
        )?)
    }

    fn erase_views(&self) {
        // Users come after what they use.
        let mut all = ir::nested(self.function);
        all.reverse();
        for op in all {
            let name = ir::name(op);
            let is_used = op.results().any(|r| skript_dialect::op::is_used(Value::from(r)));
            if name.starts_with("memref.") && !is_used {
                ir::erase(op);
            }
        }
    }

    /// How an array is found from its definition.
    fn array(
        &self,
        value: Value<'c, 'a>,
        buffers: &std::collections::HashMap<ir::ValueKey, Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<Array<'c, 'a>, PassError> {
        let known = buffers.get(&ir::ValueKey::of(value));
        if let Some(base) = known.filter(|_| value.is_block_argument()) {
            let extents = ir::memref::extents(value.r#type());
            // Shared memory is a variable, too.
            let class = Class::of(base.r#type());
            return contiguous(*base, class, constants(&extents, at)?, at);
        }
        let (op, _) = ir::definition(value)
            .ok_or_else(|| PassError::at(self.function, "has an array that no view defines"))?;
        let source = |at: &Builder<'c, 'a>| self.array(ir::operand(op)?, buffers, at);
        match ir::name(op).as_str() {
            ops::memref::VIEW => {
                let bytes = source(at)?;
                let index = Type::index(at.context);
                let operands: Vec<Value> = op.operands().collect();
                let offset = operands.get(1).copied().ok_or("a view without an offset")?;
                let offset = at.value(ops::arith::ADDI, &[bytes.offset, offset], &[], index)?;
                let offset = layout::word(offset, at)?;
                let word = types::word(at.context);
                let base = at.value(ops::arith::ADDI, &[bytes.base, offset], &[], word)?;
                let extents =
                    mixed(&ir::memref::extents(value.r#type()), operands.get(2..).unwrap_or_default(), at)?;
                contiguous(base, bytes.class, extents, at)
            }
            ops::memref::REINTERPRET_CAST => {
                let source = source(at)?;
                let segments = typed::segments(op);
                let operands: Vec<Value> = op.operands().collect();
                let mut next = 1;
                let mut part = |name: &str, segment: usize| {
                    let count = segments.get(segment).copied().unwrap_or(0);
                    let own = operands.get(next..next + count).unwrap_or_default();
                    next += count;
                    mixed(&typed::i64s(op, name), own, at)
                };
                let offsets = part("static_offsets", 1)?;
                Ok(Array {
                    offset: offsets.first().copied().ok_or("a view without an offset")?,
                    extents: part("static_sizes", 2)?,
                    strides: part("static_strides", 3)?,
                    ..source
                })
            }
            ops::memref::CAST | ops::memref::MEMORY_SPACE_CAST => source(at),
            ops::memref::EXTRACT_STRIDED_METADATA => {
                Ok(Array { offset: at.index(0)?, extents: Vec::new(), strides: Vec::new(), ..source(at)? })
            }
            ops::memref::ALLOCA => {
                let extents = ir::memref::extents(value.r#type());
                let variable = buffers.get(&ir::ValueKey::of(value)).copied();
                let variable = variable.ok_or_else(|| PassError::at(op, "has no variable"))?;
                contiguous(variable, Class::Function, constants(&extents, at)?, at)
            }
            name => Err(PassError::at(op, format!("{name} has no address in SPIR-V"))),
        }
    }

    /// Replaces a load or a store.
    fn access(
        &self,
        op: OperationRef<'c, 'a>,
        buffers: &std::collections::HashMap<ir::ValueKey, Value<'c, 'a>>,
    ) -> Result<(), PassError> {
        let context = ir::context::of(op);
        let at = Builder::before(context, op)?;
        let name = ir::name(op);
        let is_store = [ops::memref::STORE, ops::vector::STORE].contains(&name.as_str());
        let operands: Vec<Value> = op.operands().collect();
        let first = usize::from(is_store);
        let view = operands.get(first).copied().ok_or("an access without an array")?;
        let element = MemRefType::try_from(view.r#type())?.element();
        let array = self.array(view, buffers, &at)?;
        let position = operands.get(first + 1..).unwrap_or_default();
        let own = layout::Layout { offset: array.offset, strides: array.strides.clone() };
        let number = layout::linear(&own, position, &at)?;
        let number = layout::word(number, &at)?;
        let mut held = stored(element, &at)?;
        let bytes = layout::bytes(element)?;
        let mut alignment = bytes;
        if name.starts_with("vector.") {
            let all: Value = if is_store { op.operand(0)? } else { op.result(0)?.into() };
            alignment = typed::integer(op, "alignment").unwrap_or(bytes);
            (array.class == Class::Address && held == element)
                .then_some(())
                .ok_or_else(|| PassError::at(op, "accesses elements that are in no vector"))?;
            held = all.r#type();
        }
        let word = types::word(context);
        let pointer = match array.class {
            Class::Function | Class::Workgroup => {
                let class = match array.class {
                    Class::Workgroup => "Workgroup",
                    _ => "Function",
                };
                let kind = spirv(context, &format!("!spirv.ptr<{held}, {class}>"))?;
                at.value(ops::spirv::ACCESS_CHAIN, &[array.base, number], &[], kind)?
            }
            Class::Address => {
                let size = layout::constant(bytes, &at)?;
                let offset = at.value(ops::arith::MULI, &[number, size], &[], word)?;
                at.value(ops::arith::ADDI, &[array.base, offset], &[], word)?
            }
        };
        if is_store {
            let value = operands.first().copied().ok_or("a store of nothing")?;
            let value = to_stored(value, held, &at)?;
            if array.class != Class::Address {
                at.create(ops::spirv::STORE, &[pointer, value], &[], &[], Vec::new()).map(|_| ())?
            } else {
                store(pointer, value, alignment, &at)?
            }
        } else {
            let value = if array.class != Class::Address {
                at.value(ops::spirv::LOAD, &[pointer], &[], held)?
            } else {
                load(pointer, held, alignment, &at)?
            };
            let value = match name.as_str() {
                ops::vector::LOAD => value,
                _ => from_stored(value, element, &at)?,
            };
            ir::replace_uses(op.result(0)?.into(), value);
        }
        ir::erase(op);
        Ok(())
    }
}

fn constants<'c: 'a, 'a>(values: &[i64], at: &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, PassError> {
    Ok(values.iter().map(|n| at.index(*n)).collect::<Result<_, _>>()?)
}

/// Static values, and the dynamic ones in their order.
fn mixed<'c: 'a, 'a>(
    known: &[i64],
    dynamic: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, PassError> {
    let mut dynamic = dynamic.iter().copied();
    let values = known.iter().map(|n| match *n {
        types::DYNAMIC => dynamic.next().ok_or_else(|| PassError::from("too few extents")),
        n => Ok(at.index(n)?),
    });
    values.collect()
}

fn contiguous<'c: 'a, 'a>(
    base: Value<'c, 'a>,
    class: Class,
    extents: Vec<Value<'c, 'a>>,
    at: &Builder<'c, 'a>,
) -> Result<Array<'c, 'a>, PassError> {
    let index = Type::index(at.context);
    let mut stride = at.index(1)?;
    let mut strides = Vec::new();
    for extent in extents.iter().rev() {
        strides.push(stride);
        stride = at.value(ops::arith::MULI, &[stride, *extent], &[], index)?;
    }
    strides.reverse();
    Ok(Array { base, class, offset: at.index(0)?, extents, strides })
}

/// The type of an element in memory.
fn stored<'c>(element: Type<'c>, at: &Builder<'c, '_>) -> Result<Type<'c>, PassError> {
    let bits = layout::bytes(element)? * 8;
    let text = element.to_string();
    if element.is_index() {
        return Ok(types::word(at.context));
    }
    match text.as_str() {
        "f16" | "f32" | "f64" | "i8" | "i16" | "i32" | "i64" => Ok(element),
        "i1" => layout::integer(at, 8),
        _ if element.is_float() && bits <= 64 => layout::integer(at, bits),
        _ => Err(PassError::from(format!("SPIR-V has no elements of {text}"))),
    }
}

fn to_stored<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    held: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let r#type = value.r#type();
    if r#type == held {
        return Ok(value);
    }
    let name = match (r#type.is_index(), r#type.is_float()) {
        (true, _) => ops::arith::INDEX_CAST,
        (_, true) => ops::arith::BITCAST,
        _ => ops::arith::EXTUI,
    };
    Ok(at.value(name, &[value], &[], held)?)
}

fn from_stored<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    element: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    if value.r#type() == element {
        return Ok(value);
    }
    if element.is_index() || element.is_float() {
        let name = if element.is_index() { ops::arith::INDEX_CAST } else { ops::arith::BITCAST };
        return Ok(at.value(name, &[value], &[], element)?);
    }
    let zero: Attribute = IntegerAttribute::new(value.r#type(), 0).into();
    let zero = at.value(ops::arith::CONSTANT, &[], &[("value", zero)], value.r#type())?;
    // The predicate `ne`.
    let predicate = attributes::i64(at.context, 1);
    Ok(at.value(ops::arith::CMPI, &[value, zero], &[("predicate", predicate)], element)?)
}

fn pointer<'c: 'a, 'a>(
    address: Value<'c, 'a>,
    held: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let r#type = format!("!spirv.ptr<{held}, PhysicalStorageBuffer>");
    let r#type = spirv(at.context, &r#type)?;
    Ok(at.value(ops::spirv::CONVERT_U_TO_PTR, &[address], &[], r#type)?)
}

fn aligned<'c>(bytes: i64, at: &Builder<'c, '_>) -> Result<[(&'static str, Attribute<'c>); 2], PassError> {
    let number = IntegerType::new(at.context, 32).into();
    Ok([
        ("memory_access", attribute(at.context, "#spirv.memory_access<Aligned>")?),
        ("alignment", IntegerAttribute::new(number, bytes).into()),
    ])
}

fn load<'c: 'a, 'a>(
    address: Value<'c, 'a>,
    held: Type<'c>,
    bytes: i64,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let place = pointer(address, held, at)?;
    Ok(at.value(ops::spirv::LOAD, &[place], &aligned(bytes, at)?, held)?)
}

fn store<'c: 'a, 'a>(
    address: Value<'c, 'a>,
    value: Value<'c, 'a>,
    bytes: i64,
    at: &Builder<'c, 'a>,
) -> Result<(), PassError> {
    let place = pointer(address, value.r#type(), at)?;
    let attributes = aligned(bytes, at)?;
    at.create(ops::spirv::STORE, &[place, value], &attributes, &[], Vec::new())?;
    Ok(())
}
