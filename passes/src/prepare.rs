// SPDX-License-Identifier: Apache-2.0
//! `skript-prepare-variables`: moves computations that only depend on variables into functions that are executed once.
//!
//! Variables that no call updates have the same values in every call. Therefore, values that are only computed from them are also the
//! same: copies in the order of a kernel, transposed weights, folded factors, and tables of values that only depend on positions. Such
//! buffers become views of one array, which is an argument of the entry. The operations that write them move into functions with the
//! attribute `skript.prepares`, which the loader calls once, before the first call of the entry.
//!
//! Requires: a bufferized entry with one block. Guarantees: the entry reads the array and never writes it; the module has
//! `skript.prepared_size`, the bytes of the array, if there is one, and `skript.prepared_arguments`, the positions of the
//! variables that the entry no longer reads.

pub(crate) mod constant_tensors;
pub(crate) mod constants;
mod factors;
pub(crate) mod fold_scales;
pub(crate) mod hoist_constants;

use crate::extents::size::bytes;
use crate::ir::memref::is_view;
use crate::ir::outline::Outlined;
use crate::ir::{self, Builder, ValueKey, attribute_names, attributes, ops, typed, types};
use crate::sets::Sets;
use constants::Constants;
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::{HashMap, HashSet};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-prepare-variables",
    summary: "move computations that only depend on variables into functions that are executed once",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::MemRef],
    run: |root, _, rewriter| prepare(root, rewriter.context()),
    ..Pass::NONE
};

/// The alignment in bytes: the size of a cache line, and of the widest vector.
const ALIGNMENT: u64 = 64;

/// The maximum size of a result, as a multiple of the size of its variables. A larger result is faster to compute again than to read.
/// The size of weights that are scaled, packed, and transformed for `skript-winograd` grows by a factor of six.
const MAX_GROWTH: u64 = 8;

/// The maximum size, in bytes, of a table of values that depend on no variable.
const MAX_TABLE: u64 = 4 << 20;

/// The minimum number of scalar operations for an element of a table, so that reading it is faster than computing it.
const MIN_WORK: i64 = 8;

/// The number of bytes that the functions of [`PASS`] fill, from an attribute of the module; 0 without such functions.
pub(crate) fn size(module: OperationRef) -> u64 {
    typed::integer(module, attribute_names::PREPARED_SIZE).map_or(0, i64::cast_unsigned)
}

/// The positions of the arguments of the entry that only the functions of [`PASS`] read.
pub(crate) fn arguments(module: OperationRef) -> Vec<i64> {
    typed::i64s(module, attribute_names::PREPARED_ARGUMENTS)
}

/// Moves the operations.
fn prepare<'c: 'a, 'a>(root: OperationRef<'c, 'a>, context: &'c Context) -> Result<(), PassError> {
    let entry = ir::uncalled_entry(root)?;
    let constants = Constants::new(entry, root);
    let parts: Vec<Part> = parts(&constants).into_iter().filter(Part::is_profitable).collect();
    if parts.is_empty() {
        return Ok(());
    }
    let mut end = 0_i64;
    let mut offsets = Vec::new();
    for (allocation, size) in parts.iter().flat_map(|part| &part.allocations) {
        offsets.push((*allocation, end));
        let size = size.checked_next_multiple_of(ALIGNMENT);
        let size = size.and_then(|size| i64::try_from(size).ok());
        let next = size.and_then(|size| end.checked_add(size));
        end = next.ok_or("the variables are too large to prepare")?;
    }
    let r#type = types::memref(&[end], types::int(context, 8));
    let aligned = attributes::dictionary(context, &[("llvm.align", attributes::i64(context, 64))]);
    let array = ir::append_argument(entry, r#type, aligned)?;
    ir::set_attribute(root, attribute_names::PREPARED_SIZE, attributes::i64(context, end));
    for (allocation, offset) in offsets {
        view(allocation, array, offset, context)?;
    }
    let module = ir::blocks(root).first().copied();
    let module = module.ok_or("a module without a body")?;
    let names = ir::symbols(root);
    let mut free = (0..).map(|number| format!("prepare_{number}"));
    for part in parts {
        let name = free.find(|name| !names.contains(name)).ok_or("no name is free")?;
        let mut outlined = Outlined::new(context, module, &name, &part.writers)?;
        for op in &part.writers {
            outlined.take(*op)?;
        }
        outlined.finish(&[], entry)?;
        let positions = outlined.captured().iter().map(|value| position(*value));
        let positions = positions.collect::<Result<Vec<i64>, _>>()?;
        ir::set_attribute(
            outlined.function(),
            attribute_names::PREPARES,
            attributes::i64s(context, &positions),
        );
    }
    let variables = constants.variables().filter(|value| !is_read(*value));
    let mut unread = variables.map(position).collect::<Result<Vec<i64>, _>>()?;
    if !unread.is_empty() {
        unread.sort_unstable();
        ir::set_attribute(root, attribute_names::PREPARED_ARGUMENTS, attributes::i64s(context, &unread));
    }
    Ok(())
}

/// Whether an operation other than a view uses the buffer.
fn is_read(memref: Value) -> bool {
    ir::users(memref)
        .into_iter()
        .any(|user| !is_view(user) || user.results().any(|result| is_read(result.into())))
}

/// The position of an argument of the entry.
fn position(value: Value) -> Result<i64, PassError> {
    let argument = ir::argument(value).and_then(|a| i64::try_from(a.argument_number()).ok());
    argument.ok_or_else(|| "a preparation uses a value that is not an argument".into())
}

/// Operations that write the same buffers, and these buffers.
struct Part<'c, 'a> {
    writers: Vec<OperationRef<'c, 'a>>,
    /// The allocations and their sizes in bytes.
    allocations: Vec<(OperationRef<'c, 'a>, u64)>,
    /// The size in bytes of the variables that are read.
    variables: u64,
}

impl Part<'_, '_> {
    /// Whether reading the buffers is faster than computing them.
    fn is_profitable(&self) -> bool {
        let bytes = self.allocations.iter().map(|(_, bytes)| *bytes);
        let bytes = bytes.fold(0, u64::saturating_add);
        match self.variables {
            0 => bytes <= MAX_TABLE && self.work() >= MIN_WORK,
            variables => bytes <= variables.saturating_mul(MAX_GROWTH),
        }
    }

    /// The number of scalar operations for an element of the buffers.
    fn work(&self) -> i64 {
        self.writers.iter().copied().flat_map(ir::nested).map(ir::work::of_scalars).sum()
    }
}

/// Groups writers that share a buffer.
fn parts<'c: 'a, 'a>(constants: &Constants<'c, 'a>) -> Vec<Part<'c, 'a>> {
    let writers = constants.writers();
    let mut groups = Sets::with(writers.len());
    let mut first_user: HashMap<ValueKey, usize> = HashMap::new();
    for (number, (_, roots)) in writers.iter().enumerate() {
        for root in roots.iter().filter(|root| !constants.is_variable(root)) {
            let other = *first_user.entry(*root).or_insert(number);
            groups.join(number, other);
        }
    }
    let mut parts = Vec::new();
    for numbers in groups.members() {
        let members: Vec<_> = numbers.into_iter().filter_map(|number| writers.get(number)).collect();
        let mut part = Part {
            writers: members.iter().map(|(op, _)| *op).collect(),
            allocations: Vec::new(),
            variables: 0,
        };
        let mut seen = HashSet::new();
        let roots = members.iter().flat_map(|(_, roots)| roots);
        let mut is_known = true;
        for root in roots.filter(|root| seen.insert(**root)) {
            match constants.allocations().get(root) {
                Some(op) => match op.result(0).ok().and_then(|r| bytes(r.into())) {
                    Some(bytes) => part.allocations.push((*op, bytes)),
                    None => is_known = false,
                },
                None => {
                    let bytes = constants.variable(root).and_then(bytes);
                    part.variables = part.variables.saturating_add(bytes.unwrap_or(0));
                }
            }
        }
        if is_known {
            parts.push(part);
        }
    }
    parts
}

/// Replaces an allocation by a view of the array.
fn view<'c: 'a, 'a>(
    allocation: OperationRef<'c, 'a>,
    array: Value<'c, 'a>,
    offset: i64,
    context: &'c Context,
) -> Result<(), PassError> {
    let at = Builder::before(context, allocation)?;
    let start = at.idx(offset);
    let result = allocation.result(0)?;
    let view = at.value(ops::memref::VIEW, &[array, start], &[], result.r#type())?;
    for user in ir::users(result.into()) {
        if ir::name(user) == ops::memref::DEALLOC {
            ir::erase(user);
        }
    }
    ir::replace_uses(result.into(), view);
    ir::erase(allocation);
    Ok(())
}
