// SPDX-License-Identifier: Apache-2.0
//! Splits a module in the LLVM dialect into modules that LLVM compiles independently, each to an object.
//!
//! The parts depend only on the module, not on the machine that compiles it. A function with a single call is in the same part
//! as its caller, so that LLVM inlines it. Small functions without other dependencies are copied to all parts that use them.
//! The remaining functions are split in order into parts of about [`SIZE`] operations. A function or global that another part
//! uses has hidden visibility; [`super::merged_object`] makes it local again.

use super::CodegenError;
use crate::ir::{self, Builder, attributes, func, llvm, ops, typed};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Attribute, Module, Operation, Region};
use skript_dialect::op;
use std::collections::{BTreeSet, HashMap};

/// Target number of operations of a part.
const SIZE: usize = 1500;

/// Minimum number of operations of a module that is split: for smaller modules, starting threads costs more than it saves.
const MIN_SIZE: usize = 2 * SIZE;

/// Maximum number of operations of a function that is copied to the parts that use it. LLVM inlines most of them.
const COPIED: usize = 48;

/// LLVM's number for hidden visibility.
const HIDDEN: i64 = 1;

/// A function or a global.
struct Symbol<'c, 'a> {
    op: OperationRef<'c, 'a>,
    /// The number of operations.
    weight: usize,
    /// The positions of the symbols that the definition uses.
    uses: BTreeSet<usize>,
    place: Place,
}

/// The parts that define a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The symbol is defined in another object; each part that uses it declares it.
    Elsewhere,
    /// Each part that uses the symbol defines it.
    Everywhere,
    /// One part defines the symbol.
    Part,
}

/// A module with some of the functions of another.
pub(super) struct Part<'c> {
    pub module: Module<'c>,
    /// The number of operations.
    pub weight: usize,
}

/// The uses of a symbol in the module.
#[derive(Clone, Copy, Debug, Default)]
struct Users {
    calls: usize,
    addresses: usize,
    /// The position of one of the users.
    user: usize,
}

/// Returns the parts of a module, in order; empty if the module is not split.
pub(super) fn parts<'c>(
    module: OperationRef<'c, '_>,
    context: &'c Context,
) -> Result<Vec<Part<'c>>, CodegenError> {
    let operations = ir::children(module);
    let is_symbol = |o: &OperationRef| op::is(o, ops::llvm::FUNC) || op::is(o, ops::llvm::MLIR_GLOBAL);
    if !operations.iter().all(is_symbol) {
        return Ok(Vec::new());
    }
    let (symbols, users) = symbols(&operations);
    if symbols.iter().map(|symbol| symbol.weight).sum::<usize>() < MIN_SIZE {
        return Ok(Vec::new());
    }
    let part_of = assign(&symbols, &groups(&symbols, &users));
    let count = part_of.iter().flatten().max().map_or(0, |last| last + 1);
    if count < 2 {
        return Ok(Vec::new());
    }
    let shared = shared(&symbols, &part_of);
    (0..count).map(|part| build(module, context, part, &symbols, &part_of, &shared)).collect()
}

/// Returns the symbols of a module's operations, and their users.
fn symbols<'c, 'a>(operations: &[OperationRef<'c, 'a>]) -> (Vec<Symbol<'c, 'a>>, Vec<Users>) {
    let positions: HashMap<String, usize> = operations
        .iter()
        .enumerate()
        .filter_map(|(position, op)| Some((func::symbol(*op)?, position)))
        .collect();
    let mut users = vec![Users::default(); operations.len()];
    let mut symbols: Vec<Symbol> = Vec::with_capacity(operations.len());
    for (position, function) in operations.iter().enumerate() {
        let mut symbol = Symbol { op: *function, weight: 0, uses: BTreeSet::new(), place: Place::Part };
        for inner in ir::nested(*function) {
            symbol.weight += 1;
            let call = op::is(&inner, ops::llvm::CALL);
            let used = if call {
                typed::symbol(inner, "callee")
            } else {
                typed::symbol(inner, "global_name").filter(|_| op::is(&inner, ops::llvm::MLIR_ADDRESSOF))
            };
            let Some(used) = used.and_then(|name| positions.get(&name)).copied() else {
                continue;
            };
            symbol.uses.insert(used);
            if let Some(users) = users.get_mut(used) {
                users.user = position;
                if call { users.calls += 1 } else { users.addresses += 1 }
            }
        }
        symbols.push(symbol);
    }
    let mut copied: Vec<bool> = symbols.iter().map(|s| is_inlined(s.op)).collect();
    for _ in 0..symbols.len() {
        let more: Vec<usize> = (0..symbols.len())
            .filter(|position| copied.get(*position) == Some(&false))
            .filter(|position| is_copied(*position, &symbols, &users, &copied))
            .collect();
        if more.is_empty() {
            break;
        }
        for position in more {
            if let Some(copied) = copied.get_mut(position) {
                *copied = true;
            }
        }
    }
    for (symbol, copied) in symbols.iter_mut().zip(copied) {
        if is_declaration(symbol.op) {
            symbol.place = Place::Elsewhere;
        } else if copied {
            symbol.place = Place::Everywhere;
        }
    }
    (symbols, users)
}

/// Whether LLVM must inline a function.
fn is_inlined(function: OperationRef) -> bool {
    llvm::has_function_attribute(function, "alwaysinline") && is_local(function)
}

/// Whether a function is small, and uses only symbols that are available in all parts.
fn is_copied(position: usize, symbols: &[Symbol], users: &[Users], copied: &[bool]) -> bool {
    let (Some(symbol), Some(users)) = (symbols.get(position), users.get(position)) else {
        return false;
    };
    let everywhere = |used: &usize| {
        symbols.get(*used).is_some_and(|s| is_declaration(s.op)) || copied.get(*used) == Some(&true)
    };
    symbol.weight <= COPIED
        && op::is(&symbol.op, ops::llvm::FUNC)
        && is_local(symbol.op)
        && users.calls > 0
        && users.addresses == 0
        && !llvm::has_function_attribute(symbol.op, "noinline")
        && symbol.uses.iter().all(everywhere)
}

/// Whether a symbol is defined in another object. The definition of a global has the attribute `value` or a region.
fn is_declaration(symbol: OperationRef) -> bool {
    let empty = ir::first_block(symbol).is_none();
    empty && !symbol.has_attribute("value") && {
        let linkage = linkage(symbol);
        op::is(&symbol, ops::llvm::FUNC) || linkage.contains("extern")
    }
}

fn linkage(symbol: OperationRef) -> String {
    let linkage = symbol.attribute("linkage");
    linkage.map_or_else(|_| "external".to_owned(), |linkage| linkage.to_string())
}

/// Whether a symbol is local to its module.
fn is_local(symbol: OperationRef) -> bool {
    let linkage = linkage(symbol);
    ["internal", "private", "linkonce"].iter().any(|local| linkage.contains(local))
}

/// Returns, for each symbol, the symbol in whose part it is: the caller of its only call, or itself.
fn groups(symbols: &[Symbol], users: &[Users]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..symbols.len()).collect();
    for (position, (symbol, users)) in symbols.iter().zip(users).enumerate() {
        let single = users.calls + users.addresses == 1 && is_local(symbol.op);
        let joins = if op::is(&symbol.op, ops::llvm::FUNC) {
            single && users.calls == 1 && !llvm::has_function_attribute(symbol.op, "noinline")
        } else {
            single
        };
        if joins && let Some(group) = groups.get_mut(position) {
            *group = users.user;
        }
    }
    (0..symbols.len()).map(|position| representative(&groups, position)).collect()
}

/// Follows the callers to the last one, or to the first symbol of a cycle.
fn representative(groups: &[usize], position: usize) -> usize {
    let mut seen = BTreeSet::new();
    let mut current = position;
    while seen.insert(current) {
        match groups.get(current) {
            Some(next) if *next != current => current = *next,
            _ => return current,
        }
    }
    seen.first().copied().unwrap_or(position)
}

/// Assigns a part to each symbol that is defined in one part.
fn assign(symbols: &[Symbol], groups: &[usize]) -> Vec<Option<usize>> {
    let mut weights: HashMap<usize, usize> = HashMap::new();
    for (symbol, group) in symbols.iter().zip(groups) {
        *weights.entry(*group).or_default() += symbol.weight;
    }
    let (mut parts, mut last, mut filled) = (HashMap::new(), 0, 0);
    let mut part_of = Vec::with_capacity(symbols.len());
    for (symbol, group) in symbols.iter().zip(groups) {
        if symbol.place != Place::Part {
            part_of.push(None);
            continue;
        }
        let part = *parts.entry(*group).or_insert_with(|| {
            let weight = weights.get(group).map_or(0, |weight| *weight);
            if filled > 0 && filled + weight > SIZE {
                last += 1;
                filled = 0;
            }
            filled += weight;
            last
        });
        part_of.push(Some(part));
    }
    part_of
}

/// Returns, for each symbol, whether a part other than the defining part uses it.
fn shared(symbols: &[Symbol], part_of: &[Option<usize>]) -> Vec<bool> {
    let mut shared = vec![false; symbols.len()];
    for (symbol, part) in symbols.iter().zip(part_of) {
        for used in &symbol.uses {
            let other = part_of.get(*used).copied().flatten();
            if other.is_some()
                && other != *part
                && let Some(shared) = shared.get_mut(*used)
            {
                *shared = true;
            }
        }
    }
    shared
}

/// Builds the module of one part: its symbols, copies of symbols, and declarations of the other symbols that it uses.
fn build<'c>(
    module: OperationRef<'c, '_>,
    context: &'c Context,
    part: usize,
    symbols: &[Symbol<'c, '_>],
    part_of: &[Option<usize>],
    shared: &[bool],
) -> Result<Part<'c>, CodegenError> {
    let owns = |position: usize| part_of.get(position).copied().flatten() == Some(part);
    let (mut needed, mut pending) = (BTreeSet::new(), Vec::new());
    pending.extend((0..symbols.len()).filter(|position| owns(*position)));
    while let Some(position) = pending.pop() {
        let Some(symbol) = symbols.get(position).filter(|_| needed.insert(position)) else {
            continue;
        };
        if owns(position) || symbol.place == Place::Everywhere {
            pending.extend(&symbol.uses);
        }
    }
    let result = Module::new(module.location());
    for (name, value) in module.attributes() {
        let name = name.as_string_ref();
        if let Ok(name) = name.as_str()
            && (name.starts_with("llvm.") || name.starts_with("dlti."))
        {
            ir::set_attribute(result.as_operation(), name, value);
        }
    }
    let end = Builder::at_end(context, result.body(), module.location());
    let mut weight = 0;
    for position in needed {
        let Some(symbol) = symbols.get(position) else {
            continue;
        };
        let crosses = shared.get(position) == Some(&true) && is_local(symbol.op);
        if symbol.place == Place::Part && !owns(position) {
            declare(symbol.op, crosses, &end)?;
            continue;
        }
        weight += symbol.weight;
        let copy = end.insert(Operation::clone(&symbol.op));
        if symbol.place == Place::Everywhere {
            ir::set_attribute(copy, "linkage", attributes::internal(context));
        } else if crosses {
            for (name, value) in hidden(context) {
                ir::set_attribute(copy, name, value);
            }
        }
    }
    Ok(Part { module: result, weight })
}

/// Adds a declaration of a symbol that another part defines.
fn declare<'c, 'a>(
    symbol: OperationRef<'c, 'a>,
    crosses: bool,
    end: &Builder<'c, 'a>,
) -> Result<(), CodegenError> {
    let external = if crosses { hidden(end.context).to_vec() } else { Vec::new() };
    let mut kept = ir::copy::named_attributes(symbol);
    kept.retain(|(name, _)| name != "value" && !external.iter().any(|(other, _)| other == name));
    let mut all: Vec<(&str, Attribute<'c>)> =
        kept.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    all.extend(external);
    end.create(&ir::name(symbol), &[], &all, &[], vec![Region::new()])?;
    Ok(())
}

/// Returns the attributes of a symbol that is visible to all parts, but not to other objects.
fn hidden(context: &Context) -> [(&'static str, Attribute<'_>); 2] {
    let external = attributes::linkage(context, "external");
    [("linkage", external), ("visibility_", attributes::i64(context, HIDDEN))]
}
