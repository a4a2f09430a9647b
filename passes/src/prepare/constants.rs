// SPDX-License-Identifier: Apache-2.0
//! Finds the buffers of an entry whose contents only depend on variables that no call updates.

use crate::ir::effects::Effects;
use crate::ir::memref::{is_view, root, root_of};
use crate::ir::outline::captured;
use crate::ir::skript::{Check, Intrinsic};
use crate::ir::{self, ValueKey, attribute_names, attributes, func, ops, typed};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use skript_dialect::op;
use std::collections::{HashMap, HashSet};

/// Arguments and allocations whose contents are the same in every call.
#[derive(Default)]
pub(crate) struct Constants<'c, 'a> {
    /// Arguments that are variables without updates.
    variables: HashMap<ValueKey, Value<'c, 'a>>,
    /// Allocations in the block of the entry, in order, that only [`Constants::writers`] write.
    allocations: HashMap<ValueKey, OperationRef<'c, 'a>>,
    /// The operations that write the allocations, in order, with the roots of their memrefs.
    writers: Vec<(OperationRef<'c, 'a>, Vec<ValueKey>)>,
}

impl<'c: 'a, 'a> Constants<'c, 'a> {
    /// Analyzes a bufferized entry with one block. Empty for other functions.
    pub(crate) fn new(entry: OperationRef<'c, 'a>, module: OperationRef<'c, 'a>) -> Self {
        let Ok(body) = func::body(entry) else {
            return Constants::default();
        };
        let variables = variables(entry);
        let operations = ir::operations(body);
        let mut allocations = HashMap::new();
        for op in &operations {
            if ir::name(*op) == ops::memref::ALLOC
                && op.operand_count() == 0
                && let Ok(result) = op.result(0)
            {
                allocations.insert(ValueKey::of(result), *op);
            }
        }
        let functions = func::functions(module);
        let known = Known {
            globals: constant_globals(module),
            unpacking: functions.iter().filter(|(_, f)| unpacks(**f)).map(|(name, _)| name.clone()).collect(),
        };
        let mut effects = Effects::new(functions);
        let mut users = Vec::new();
        for op in operations {
            if is_view(op) || matches!(ir::name(op).as_str(), ops::memref::ALLOC | ops::memref::DEALLOC) {
                continue;
            }
            let user = User::from_op(op, &known, &mut effects);
            if !user.roots.is_empty() {
                users.push(user);
            }
        }
        let mut constants = Constants { variables, allocations, writers: Vec::new() };
        let mut last_written = HashMap::new();
        for (number, user) in users.iter().enumerate() {
            last_written.extend(user.written.iter().map(|root| (*root, number)));
        }
        // Compute the largest set in which every writer only reads members, and every other user follows the last writer.
        loop {
            let before = constants.allocations.len();
            for (number, user) in users.iter().enumerate() {
                if constants.is_constant_user(user) {
                    continue;
                }
                for root in &user.roots {
                    let changes = last_written.get(root).is_some_and(|last| *last >= number);
                    if changes {
                        constants.allocations.remove(root);
                    }
                }
            }
            if constants.allocations.len() == before {
                break;
            }
        }
        for user in users {
            let is_writer = |root| constants.allocations.contains_key(root);
            if user.written.iter().any(is_writer) {
                constants.writers.push((user.op, user.roots));
            }
        }
        constants
    }

    /// Whether the memref is a view of one of the buffers.
    pub(crate) fn is_constant(&self, memref: Value) -> bool {
        self.contains(&root_of(memref))
    }

    /// Whether the buffer is a variable.
    pub(crate) fn is_variable(&self, root: &ValueKey) -> bool {
        self.variables.contains_key(root)
    }

    pub(crate) fn variable(&self, root: &ValueKey) -> Option<Value<'c, 'a>> {
        self.variables.get(root).copied()
    }

    pub(crate) fn variables(&self) -> impl Iterator<Item = Value<'c, 'a>> {
        self.variables.values().copied()
    }

    pub(crate) fn allocations(&self) -> &HashMap<ValueKey, OperationRef<'c, 'a>> {
        &self.allocations
    }

    /// The operations that write the allocations, in order, with the roots of their memrefs.
    pub(crate) fn writers(&self) -> &[(OperationRef<'c, 'a>, Vec<ValueKey>)] {
        &self.writers
    }

    /// Whether an operation only reads and writes members.
    fn is_constant_user(&self, user: &User) -> bool {
        user.is_movable
            && user.roots.iter().all(|root| self.contains(root))
            && !user.written.iter().any(|root| self.is_variable(root))
            && !user.written.is_empty()
    }

    fn contains(&self, root: &ValueKey) -> bool {
        self.is_variable(root) || self.allocations.contains_key(root)
    }
}

/// Symbols of a module.
struct Known {
    /// Constant arrays.
    globals: HashSet<String>,
    /// Functions whose results are computed again in each call.
    unpacking: HashSet<String>,
}

fn unpacks(function: OperationRef) -> bool {
    function.attribute(attribute_names::UNPACKS).is_ok()
}

/// The names of the constant arrays of a module.
fn constant_globals(module: OperationRef) -> HashSet<String> {
    let globals = ir::blocks(module).into_iter().flat_map(ir::operations);
    let constants = globals.filter(|op| op::is(op, ops::memref::GLOBAL) && op.attribute("constant").is_ok());
    constants.filter_map(func::symbol).collect()
}

/// The arguments of an entry that are variables without updates.
pub(crate) fn variables<'c: 'a, 'a>(entry: OperationRef<'c, 'a>) -> HashMap<ValueKey, Value<'c, 'a>> {
    let Some(block) = ir::first_block(entry) else {
        return HashMap::new();
    };
    let dictionaries = ir::argument_attributes(entry).into_iter().enumerate();
    let variables = dictionaries.filter(|(_, dictionary)| {
        let role = attributes::entry(*dictionary, attribute_names::ROLE).and_then(attributes::text);
        role.as_deref() == Some(attribute_names::VARIABLE)
            && attributes::entry(*dictionary, attribute_names::UPDATED).is_none()
    });
    let arguments = variables.filter_map(|(n, _)| block.argument(n).ok());
    arguments.map(Value::from).map(|value| (ValueKey::of(value), value)).collect()
}

/// An operation of the entry that uses buffers.
struct User<'c, 'a> {
    op: OperationRef<'c, 'a>,
    /// The roots of all memrefs that it uses.
    roots: Vec<ValueKey>,
    /// The roots of the memrefs that it may write.
    written: Vec<ValueKey>,
    /// Whether it may be executed in another function, because its other operands are constants and it has no results.
    is_movable: bool,
}

impl<'c: 'a, 'a> User<'c, 'a> {
    fn from_op(op: OperationRef<'c, 'a>, known: &Known, effects: &mut Effects<'c, 'a>) -> Self {
        let is_array = |value: &Value<'c, 'a>| value.r#type().is_mem_ref();
        let (arrays, scalars): (Vec<_>, Vec<_>) = captured(op).into_iter().partition(is_array);
        // A constant of the module has the same elements in every call.
        let is_global = |array: &Value<'c, 'a>| {
            let definition =
                ir::definition(root(*array)).filter(|(op, _)| op::is(op, ops::memref::GET_GLOBAL));
            let name = definition.and_then(|(op, _)| typed::symbol(op, "name"));
            name.is_some_and(|name| known.globals.contains(&name))
        };
        let mut roots: Vec<ValueKey> =
            arrays.iter().filter(|array| !is_global(array)).map(|array| root_of(*array)).collect();
        roots.sort();
        roots.dedup();
        let makes_arrays = op.results().any(|result| result.r#type().is_mem_ref());
        let written = if makes_arrays {
            // A write to a result may write an operand.
            roots.clone()
        } else {
            effects.written(op).into_iter().map(root_of).collect()
        };
        let nested = ir::nested(op).into_iter().chain([op]);
        // An index from an array may be out of bounds, and must not be used before it is checked in the entry.
        let makes_index = |op: OperationRef<'c, 'a>| {
            let casts = [ops::arith::INDEX_CAST, ops::arith::INDEX_CASTUI];
            let is_cast = casts.contains(&ir::name(op).as_str());
            is_cast && op.results().any(|result| result.r#type().is_index())
        };
        let unpacks = |op| func::callee(op).is_some_and(|name| known.unpacking.contains(&name));
        let is_fixed = |op: OperationRef<'c, 'a>| {
            Check::cast(op).is_some() || Intrinsic::cast(op).is_some() || makes_index(op) || unpacks(op)
        };
        let is_constant = |value: &Value<'c, 'a>| {
            ir::definition(*value).is_some_and(|(op, _)| ir::name(op) == ops::arith::CONSTANT)
        };
        User {
            op,
            roots,
            written,
            is_movable: op.result_count() == 0
                && !nested.into_iter().any(is_fixed)
                && scalars.iter().all(is_constant)
                && ir::name(op) != ops::func::RETURN,
        }
    }
}
