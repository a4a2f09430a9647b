// SPDX-License-Identifier: Apache-2.0
//! `skript-outline-kernels`: converts code that accesses arrays to kernels of a GPU and launches of them.
//!
//! A parallel loop becomes a kernel whose threads share its iterations; a `gpu.launch` becomes a kernel with its blocks. Sequential code
//! that writes arrays becomes a kernel with one thread. Loops and branches that contain parallel loops, run-time checks and calls remain
//! in the entry, with the loads that they depend on.
//!
//! Requires: planned memory, and loops instead of linalg operations. Guarantees: the entry only writes arrays of the host (see
//! [`super::memory_space`]); kernels are distinct `gpu.func` in one `gpu.module`, and their arguments are scalars and buffers.

use super::code::VECTOR;
use super::memory_space::{HostMemory, is_array};
use super::sequences::{Block, Role, Roles, Sequence};
use super::threads::{counts, distribute};
use crate::ir::attribute_names::RESIDENT;
use crate::ir::func::Distinct;
use crate::ir::outline::Outlined;
use crate::ir::scf::Bounds;
use crate::ir::{self, Builder, attributes, ops, regions};
use crate::schedule::buffer_uses::sort_in_block;
use crate::schedule::counts::as_i64;
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, StringAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::FunctionType;
use melior::ir::{Attribute, BlockRef, ShapedTypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, PassOption};
use std::collections::{HashMap, HashSet};

/// The pass `skript-outline-kernels`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-outline-kernels",
    summary: "convert code that accesses arrays to kernels of a GPU",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::Gpu, Dialect::MemRef, Dialect::Scf],
    options: &[PassOption { name: "block", summary: "threads of a block", default: "256" }],
    run: |root, options, rewriter| {
        let block: u32 = options.get("block")?;
        if !(1..=1024).contains(&block) {
            return Err(PassError::from("a block has 1 to 1024 threads"));
        }
        let entry = ir::entry(root)?;
        let memory = HostMemory::new(entry);
        lower_copies(entry, &memory)?;
        hoist_loads(entry, &memory);
        let mut outliner = Outliner {
            context: rewriter.context(),
            root,
            entry,
            roles: Roles { memory: &memory },
            block,
            kernels: None,
            names: HashSet::new(),
            known: Distinct::default(),
        };
        outliner.walk(ir::body(entry)?)
    },
};

/// The symbol of the module of kernels.
pub(crate) const KERNELS: &str = "kernels";

/// The maximum number of blocks of a kernel. Threads compute several iterations if there are more iterations than threads.
pub(super) const MAX_BLOCKS: i64 = 1 << 15;

/// Converts copies of arrays to parallel loops.
fn lower_copies(entry: OperationRef, memory: &HostMemory) -> Result<(), PassError> {
    for op in ir::nested(entry) {
        let Some(copy) = ir::memref::Copy::cast(op) else {
            continue;
        };
        if memory.holds(copy.target()?) {
            continue;
        }
        let (from, to) = (copy.source()?, copy.target()?);
        let context = ir::context::of(op);
        let at = Builder::before(context, op)?;
        let extents = ir::memref::extents(to.r#type());
        let mut counts = Vec::new();
        for (position, extent) in (0_i64..).zip(&extents) {
            counts.push(match *extent {
                ir::types::DYNAMIC => {
                    let operands = [to, at.idx(position)];
                    let index = melior::ir::Type::index(context);
                    at.value(ops::memref::DIM, &operands, &[], index)?
                }
                extent => at.idx(extent),
            });
        }
        let types = vec![melior::ir::Type::index(context); extents.len()];
        let element = melior::ir::r#type::MemRefType::try_from(from.r#type())?.element();
        if counts.is_empty() {
            let value = at.value(ops::memref::LOAD, &[from], &[], element)?;
            at.create(ops::memref::STORE, &[value, to], &[], &[], Vec::new())?;
        } else {
            let (region, inside, position) = at.region(&types);
            let read = [&[from][..], &position].concat();
            let value = inside.value(ops::memref::LOAD, &read, &[], element)?;
            let written = [&[value, to][..], &position].concat();
            inside.create(ops::memref::STORE, &written, &[], &[], Vec::new())?;
            inside.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
            ir::scf::close_parallel(&at, &counts, 1, region)?;
        }
        ir::erase(op);
    }
    Ok(())
}

/// Moves the loads of extents that the caller passes to the beginning, so that kernels get them as arguments.
fn hoist_loads(entry: OperationRef, memory: &HostMemory) {
    let Some(first) = ir::first_block(entry).and_then(|b| ir::operations(b).first().copied()) else {
        return;
    };
    for op in ir::walk::named(entry, ops::memref::LOAD) {
        let is_argument = |value: Value| ir::argument(ir::memref::root(value)).is_some();
        let is_read = ir::operand(op).is_ok_and(|array| memory.holds(array) && is_argument(array));
        let inner = op.parent_operation() != Some(entry);
        let position = op.operands().skip(1).collect::<Vec<_>>();
        let constants: Option<Vec<_>> =
            position.iter().map(|value| Some(ir::definition(*value)?.0)).collect();
        let Some(constants) = constants.filter(|_| is_read && inner) else {
            continue;
        };
        if constants.iter().all(|op| ir::name(*op) == ops::arith::CONSTANT) {
            for constant in constants {
                ir::move_before(constant, first);
            }
            ir::move_before(op, first);
        }
    }
}

struct Outliner<'c, 'a, 'm> {
    context: &'c Context,
    root: OperationRef<'c, 'a>,
    entry: OperationRef<'c, 'a>,
    roles: Roles<'m>,
    block: u32,
    /// The body of the module of kernels.
    kernels: Option<BlockRef<'c, 'a>>,
    names: HashSet<String>,
    known: Distinct<OperationRef<'c, 'a>>,
}

/// The size of a launch.
enum Size<'c, 'a> {
    /// One thread.
    One,
    /// Enough threads for a number of iterations.
    Iterations(Value<'c, 'a>),
    /// The number of blocks, and of threads in a block.
    Blocks(Value<'c, 'a>, u32),
}

impl<'c: 'a, 'a> Outliner<'c, 'a, '_> {
    /// Outlines the operations of a block of the entry.
    fn walk(&mut self, block: BlockRef<'c, 'a>) -> Result<(), PassError> {
        let operations = ir::operations(block);
        let memory = self.roles.memory;
        let roles = Roles { memory };
        let mut sequences = Block::new(&roles, &operations);
        for op in operations {
            match roles.role(op) {
                Role::Writes => {
                    sequences.add(op);
                    continue;
                }
                Role::Reads if op.next_in_block().is_some() => {
                    if sequences.is_needed_outside(op) {
                        self.sequences(sequences.take(op))?;
                    }
                    continue;
                }
                _ => {}
            }
            self.sequences(sequences.take(op))?;
            match roles.role(op) {
                Role::Parallel => {
                    let next = op.next_in_block().ok_or("a loop that ends its block")?;
                    let reads = sequences.reads_of_inputs(op, self.entry);
                    self.parallel(op, reads, next)?;
                }
                Role::Decides => {
                    for inner in ir::blocks(op) {
                        self.walk(inner)?;
                    }
                }
                _ if ir::name(op).starts_with("linalg.") => {
                    return Err(PassError::at(op, "is not a loop"));
                }
                _ => {}
            }
            sequences.pass(op);
        }
        Ok(())
    }

    /// Outlines kernels with one thread.
    fn sequences(&mut self, all: Vec<(Sequence<'c, 'a>, OperationRef<'c, 'a>)>) -> Result<(), PassError> {
        for (sequence, next) in all {
            self.sequence(sequence, next)?;
        }
        Ok(())
    }

    /// Outlines a kernel with one thread, which is launched before an operation.
    fn sequence(&mut self, sequence: Sequence<'c, 'a>, next: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let mut part = copies(&sequence.reads, &sequence.writes)?;
        part.extend(&sequence.writes);
        sort_in_block(&mut part);
        self.outline(&part, next, Size::One, |_| Ok(()))
    }

    /// Outlines the kernel of a parallel loop.
    fn parallel(
        &mut self,
        op: OperationRef<'c, 'a>,
        reads: Vec<OperationRef<'c, 'a>>,
        next: OperationRef<'c, 'a>,
    ) -> Result<(), PassError> {
        let copied = |op| {
            let mut part = copies(&reads, &[op])?;
            part.push(op);
            Ok::<_, PassError>(part)
        };
        if ir::name(op) == ops::gpu::LAUNCH {
            // The sizes of the launch must be values of the host.
            let (blocks, threads) = launched(op)?;
            let part = copied(op)?;
            let size = Size::Blocks(blocks, threads);
            return self.outline(&part, next, size, open_launch);
        }
        let at = Builder::before(self.context, op)?;
        // The host computes the number of iterations from its values.
        let (_, all) = counts(&Bounds::all(op), &at)?;
        let part = copied(op)?;
        let block = self.block;
        self.outline(&part, next, Size::Iterations(all), |op| Ok(distribute(op, block)?))
    }

    /// Moves operations into a kernel, which is launched before `next`. `map` gets the last operation.
    fn outline(
        &mut self,
        part: &[OperationRef<'c, 'a>],
        next: OperationRef<'c, 'a>,
        size: Size<'c, 'a>,
        map: impl FnOnce(OperationRef<'c, 'a>) -> Result<(), PassError>,
    ) -> Result<(), PassError> {
        let kernels = self.kernels()?;
        let mut names = (0..).map(|number| format!("kernel_{number}"));
        let name = names.find(|name| !self.names.contains(name));
        let name = name.unwrap_or_else(|| unreachable!("internal compiler error: no name is left"));
        let mut outlined = Outlined::new(self.context, kernels, &name, part)?;
        for constant in constants(part) {
            outlined.pass_disjoint(constant);
        }
        for op in part {
            outlined.take(*op)?;
        }
        for value in outlined.captured() {
            if is_array(*value)
                && self.roles.memory.holds(*value)
                && !super::memory_space::is_constant(*value)
            {
                let op = part.first().copied().unwrap_or(next);
                return Err(PassError::at(op, "accesses an array of the host"));
            }
        }
        outlined.finish(&[], self.entry)?;
        let location = part.last().map_or(next.location(), |op| op.location());
        let resident = part.last().and_then(|op| op.attribute(RESIDENT).ok());
        if let Some(last) = part.last() {
            map(*last)?;
        }
        let threads = match size {
            Size::One => 1,
            Size::Iterations(_) => self.block,
            Size::Blocks(_, threads) => threads,
        };
        let captured = outlined.captured().to_vec();
        let kernel = kernel_of(outlined.function(), threads)?;
        if let Some(resident) = resident {
            ir::set_attribute(kernel, RESIDENT, resident);
        }
        let name = self.merged(kernel, name);
        let at = Builder::before(self.context, next)?.with_location(location);
        let blocks = match size {
            Size::One => at.idx(1),
            Size::Iterations(all) => blocks(&at, all, self.block),
            Size::Blocks(blocks, _) => blocks,
        };
        let one = at.idx(1);
        let width = at.idx(i64::from(threads));
        let operands = [&[blocks, one, one, width, one, one][..], &captured].concat();
        let number = i32::try_from(captured.len()).map_err(|_| "too many arguments")?;
        let segments = [0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, number, 0];
        let symbol = attributes::nested_symbol(self.context, KERNELS, &name);
        let attributes =
            [("operandSegmentSizes", attributes::i32s(self.context, &segments)), ("kernel", symbol)];
        at.create(ops::gpu::LAUNCH_FUNC, &operands, &attributes, &[], Vec::new())?;
        Ok(())
    }

    /// The body of the module of kernels.
    fn kernels(&mut self) -> Result<BlockRef<'c, 'a>, PassError> {
        if let Some(block) = self.kernels {
            return Ok(block);
        }
        let block = ir::blocks(self.root).first().copied();
        let block = block.ok_or("a module without a body")?;
        let known = ir::operations(block).into_iter().find(|op| ir::name(*op) == ops::gpu::MODULE);
        let module = match known {
            Some(module) => module,
            None => {
                let at = Builder::at_end(self.context, block, self.entry.location());
                let (region, _, _) = at.region(&[]);
                let name = StringAttribute::new(self.context, KERNELS).into();
                let unit = attributes::unit(self.context);
                ir::set_attribute(self.root, "gpu.container_module", unit);
                at.create(ops::gpu::MODULE, &[], &[("sym_name", name)], &[], vec![region])?
            }
        };
        let body = ir::first_block(module).ok_or("a module without a body")?;
        self.names = ir::symbols(module);
        self.kernels = Some(body);
        Ok(body)
    }

    /// The name of the first kernel that is equal to `kernel`, whose name is `name`. Erases `kernel` if it is not the first.
    fn merged(&mut self, kernel: OperationRef<'c, 'a>, name: String) -> String {
        let first = self.known.merged(kernel, name);
        self.names.insert(first.clone());
        first
    }
}

/// The numbers of blocks and threads of a one-dimensional `gpu.launch`.
fn launched<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(Value<'c, 'a>, u32), PassError> {
    let size = |n: usize| ir::operand_at(op, n).and_then(ir::integer);
    let others = [1, 2, 4, 5].map(size);
    let threads = size(3).and_then(|threads| u32::try_from(threads).ok());
    match (op.operand(0), threads) {
        (Ok(blocks), Some(threads)) if others == [Some(1); 4] => Ok((blocks, threads)),
        _ => Err(PassError::at(op, "is not a one-dimensional launch")),
    }
}

/// The number of arguments of the body of a `gpu.launch` before the shared arrays.
const SIZES: usize = 12;

/// Replaces a `gpu.launch` in a kernel by its body. Shared arrays become arguments of the kernel.
fn open_launch<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Result<(), PassError> {
    let context = ir::context::of(op);
    let at = Builder::before(context, op)?;
    let index = melior::ir::Type::index(context);
    let body = ir::first_block(op).ok_or("a launch without a body")?;
    let outer = op.block().ok_or("a launch in no kernel")?;
    let names = [ops::gpu::BLOCK_ID, ops::gpu::THREAD_ID, ops::gpu::GRID_DIM, ops::gpu::BLOCK_DIM];
    for (position, argument) in ir::arguments(body).into_iter().enumerate() {
        if position >= SIZES {
            let shared = outer.add_argument(argument.r#type(), op.location());
            ir::replace_uses(argument, shared);
            continue;
        }
        let Some((name, axis)) = names.get(position / 3).zip(["x", "y", "z"].get(position % 3)) else {
            continue;
        };
        let value = at.value(name, &[], &[("dimension", attributes::axis(context, axis))], index)?;
        ir::replace_uses(argument, value);
    }
    regions::inline(op, &regions::take(op, 0)?)?;
    ir::erase(op);
    Ok(())
}

/// The number of blocks for a number of iterations; at least 1.
fn blocks<'c: 'a, 'a>(at: &Builder<'c, 'a>, iterations: Value<'c, 'a>, block: u32) -> Value<'c, 'a> {
    let block = i64::from(block);
    if let Some(known) = ir::integer(iterations) {
        let blocks = known.saturating_add(block - 1) / block.max(1);
        return at.idx(blocks.clamp(1, MAX_BLOCKS));
    }
    let size = at.idx(block);
    let blocks = at.ceildivui(iterations, size);
    let max_blocks = at.idx(MAX_BLOCKS);
    let blocks = at.minui(blocks, max_blocks);
    let one = at.idx(1);
    at.maxui(blocks, one)
}

/// The constant arrays that operations read. Kernels get their addresses.
fn constants<'c: 'a, 'a>(part: &[OperationRef<'c, 'a>]) -> Vec<Value<'c, 'a>> {
    let mut seen = HashSet::new();
    let all = part.iter().flat_map(|op| ir::outline::captured(*op));
    let arrays = all.filter(|value| is_array(*value)).map(ir::memref::root);
    let constants = arrays.filter(|root| super::memory_space::is_constant(*root));
    constants.filter(|root| seen.insert(ir::ValueKey::of(*root))).collect()
}

/// Copies operations for `users`, which then use the copies.
fn copies<'c: 'a, 'a>(
    reads: &[OperationRef<'c, 'a>],
    users: &[OperationRef<'c, 'a>],
) -> Result<Vec<OperationRef<'c, 'a>>, PassError> {
    let mut copies: Vec<OperationRef<'c, 'a>> = Vec::new();
    let mut map = HashMap::new();
    for read in reads {
        let context = ir::context::of(*read);
        let at = Builder::before(context, *read)?.with_location(read.location());
        let copy = at.insert(melior::ir::Operation::clone(read));
        for (old, new) in read.results().zip(copy.results()) {
            map.insert(ir::ValueKey::of(old), Value::from(new));
        }
        copies.push(copy);
    }
    for op in copies.iter().chain(users) {
        for inner in ir::outline::with_nested(*op) {
            ir::outline::replace_operands(inner, |operand| map.get(&ir::ValueKey::of(operand)).copied());
        }
    }
    Ok(copies)
}

/// The attributes of shared arrays. Their alignment is the size of the largest access of a thread.
fn aligned(context: &Context, shared: usize) -> Attribute<'_> {
    let bytes = attributes::i64(context, VECTOR);
    let one = attributes::dictionary(context, &[("llvm.align", bytes)]);
    ArrayAttribute::new(context, &vec![one; shared]).into()
}

/// The `gpu.func` of a `func.func` without results.
fn kernel_of<'c: 'a, 'a>(
    function: OperationRef<'c, 'a>,
    threads: u32,
) -> Result<OperationRef<'c, 'a>, PassError> {
    let context = ir::context::of(function);
    let at = Builder::before(context, function)?;
    let end = ir::body(function)?;
    let end = ir::operations(end).last().copied().ok_or("an empty kernel")?;
    Builder::before(context, end)?.create(ops::gpu::RETURN, &[], &[], &[], Vec::new())?;
    ir::erase(end);
    let threads = i32::try_from(threads).map_err(|_| "a block with too many threads")?;
    let size = attributes::i32s(context, &[threads, 1, 1]);
    let function_type = function.attribute("function_type")?;
    let inputs = FunctionType::try_from(TypeAttribute::try_from(function_type)?.value())?.input_count();
    let mut named = vec![
        ("sym_name", function.attribute("sym_name")?),
        ("function_type", function_type),
        ("gpu.kernel", attributes::unit(context)),
        ("known_block_size", size),
    ];
    // Arguments that are not in the function type are shared arrays.
    let shared = ir::arguments(ir::body(function)?).len().saturating_sub(inputs);
    if shared > 0 {
        named.push(("workgroup_attributions", attributes::i64(context, as_i64(shared))));
        named.push(("workgroup_attrib_attrs", aligned(context, shared)));
    }
    let region = regions::take(function, 0)?;
    let kernel = at.create(ops::gpu::FUNC, &[], &named, &[], vec![region])?;
    ir::erase(function);
    Ok(kernel)
}
