// SPDX-License-Identifier: Apache-2.0
//! `skript-prepare-variables`: moves what depends on variables alone into functions that run once.
//!
//! Variables that no call updates have the same values in every call, and so has whatever is computed from them alone:
//! copies in the order of a kernel, transposed weights, folded factors; so have tables of values that depend on positions alone. Such
//! buffers become views of one array, an
//! argument of the entry. The operations that write them move into functions with the attribute `skript.prepares`, which
//! the loader calls once, before the first call of the entry.
//!
//! Requires: a bufferized entry of one block. Guarantees: the entry reads the array and never writes it; the module has
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
use crate::ir::{self, Builder, ValueKey, attribute_names, attributes, ops, typed};
use constants::Constants;
use melior::Context;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The pass `skript-prepare-variables`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-prepare-variables",
    summary: "move what depends on variables alone into functions that run once",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::MemRef],
    run: |root, _, rewriter| prepare(root, rewriter.context()),
    ..Pass::NONE
};

/// Bytes; a cache line, and the widest vector.
const ALIGNMENT: u64 = 64;

/// How many times the bytes of its variables a result may have: more is cheaper to compute again than to read. Weights that are scaled,
/// packed, and transformed for `skript-winograd` have six times their bytes.
const MOST_GROWTH: u64 = 8;

/// The largest table of values that depend on no variable.
const LARGEST_TABLE: u64 = 4 << 20;

/// Operations on scalars that take longer than to read an element of a table.
const LONGEST: i64 = 8;

/// The bytes that the functions of [`PASS`] fill, as it left them at the module; 0 if there are none.
pub(crate) fn size(module: OperationRef) -> u64 {
    let size = module.attribute(attribute_names::PREPARED_SIZE).ok();
    let size = size.and_then(|size| IntegerAttribute::try_from(size).ok());
    size.map_or(0, |size| size.value().cast_unsigned())
}

/// The positions of the entry's arguments that the functions of [`PASS`] read and the entry does not.
pub(crate) fn arguments(module: OperationRef) -> Vec<i64> {
    typed::i64s(module, attribute_names::PREPARED_ARGUMENTS)
}

/// Moves the operations.
fn prepare<'c: 'a, 'a>(root: OperationRef<'c, 'a>, context: &'c Context) -> Result<(), PassError> {
    let entry = ir::uncalled_entry(root)?;
    let constants = Constants::of(entry, root);
    let parts: Vec<Part> = parts(&constants).into_iter().filter(Part::pays).collect();
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
    let r#type = ir::parse_type(entry.context(), &format!("memref<{end}xi8>"))?;
    let array = ir::append_argument(entry, r#type, "{llvm.align = 64 : i64}")?;
    ir::set_attribute(root, attribute_names::PREPARED_SIZE, attributes::i64(context, end));
    for (allocation, offset) in offsets {
        view(allocation, array, offset, context)?;
    }
    let module = ir::blocks(root).first().copied();
    let module = module.ok_or("a module without a body")?;
    let names = ir::symbols(root);
    let mut free = (0..).map(|number| format!("prepare_{number}"));
    for part in parts {
        let name = free.find(|name| !names.contains(name)).unwrap_or_default();
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
    argument.ok_or_else(|| "a preparation uses a value that is no argument".into())
}

/// Operations that write the same buffers, with those buffers.
struct Part<'c, 'a> {
    writers: Vec<OperationRef<'c, 'a>>,
    /// With their bytes.
    allocations: Vec<(OperationRef<'c, 'a>, u64)>,
    /// Bytes of the variables that are read.
    variables: u64,
}

impl Part<'_, '_> {
    /// Whether to read the buffers costs less than to compute them.
    fn pays(&self) -> bool {
        let bytes = self.allocations.iter().map(|(_, bytes)| *bytes);
        let bytes = bytes.fold(0, u64::saturating_add);
        match self.variables {
            0 => bytes <= LARGEST_TABLE && self.work() >= LONGEST,
            variables => bytes <= variables.saturating_mul(MOST_GROWTH),
        }
    }

    /// Operations on scalars for an element of the buffers.
    fn work(&self) -> i64 {
        self.writers.iter().copied().flat_map(ir::nested).map(ir::work::of_scalars).sum()
    }
}

/// Numbers in groups, each known by its least number.
struct Groups(Vec<usize>);

impl Groups {
    /// Each number alone.
    fn new(count: usize) -> Self {
        Groups((0..count).collect())
    }

    /// The least number of a group.
    fn first(&mut self, mut number: usize) -> usize {
        while let Some(next) = self.0.get(number).copied().filter(|next| *next != number) {
            // The next search is half as long.
            let after = self.0.get(next).copied().unwrap_or(next);
            if let Some(own) = self.0.get_mut(number) {
                *own = after;
            }
            number = after;
        }
        number
    }

    /// Makes one group of those of two numbers.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        if let Some(own) = self.0.get_mut(a.max(b)) {
            *own = a.min(b);
        }
    }
}

/// Groups writers that share a buffer.
fn parts<'c: 'a, 'a>(constants: &Constants<'c, 'a>) -> Vec<Part<'c, 'a>> {
    let writers = constants.writers();
    let mut groups = Groups::new(writers.len());
    let mut first_user: HashMap<ValueKey, usize> = HashMap::new();
    for (number, (_, roots)) in writers.iter().enumerate() {
        for root in roots.iter().filter(|root| !constants.is_variable(root)) {
            let other = *first_user.entry(*root).or_insert(number);
            groups.join(number, other);
        }
    }
    let mut members_of: BTreeMap<usize, Vec<&(OperationRef, Vec<ValueKey>)>> = BTreeMap::new();
    for (number, writer) in writers.iter().enumerate() {
        members_of.entry(groups.first(number)).or_default().push(writer);
    }
    let mut parts = Vec::new();
    for members in members_of.into_values() {
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
    let start = at.index(offset)?;
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

#[cfg(test)]
mod tests {
    use super::Groups;

    #[test]
    fn groups_that_share_a_number_become_one() {
        let mut groups = Groups::new(6);
        groups.join(4, 5);
        groups.join(1, 3);
        groups.join(3, 5);
        let firsts: Vec<usize> = (0..6).map(|number| groups.first(number)).collect();
        assert_eq!(firsts, [0, 1, 2, 1, 1, 1]);
    }
}
