// SPDX-License-Identifier: Apache-2.0
//! Breaks long chains of writes to one tensor, on which One-Shot Bufferize's analysis is superlinear.
//!
//! After a cut the chain continues with a tensor that has the same buffer, but is another tensor for bufferization. So
//! bufferization sees no conflict between the writes after the cut and the reads and writes before.
//! [`Chain::is_exclusive`] checks that there is none: from the cut on, only the chain uses its buffer.

use super::inits::{copy_before, maker};
use super::loop_carried::{allocate, beginnings, destination, is_destination, is_made_by, written};
use crate::error::CodegenError;
use crate::invoke;
use crate::ir;
use crate::ir::bufferization::Insertion;
use crate::ir::ops;
use crate::ir::{Builder, ValueKey, attributes, context, types};
use crate::ir::{ancestor_in, key};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use std::collections::{HashMap, HashSet};

/// Maximum number of states of a tensor that ops write one after the other: the analysis takes cubic time in them.
const MOST_STATES: usize = 32;

/// Cuts chains of many writes that have their buffer to themselves. Chains that begin with a writable block argument
/// stay, because the caller expects the result in its buffer.
pub(super) fn cut_chains(module: OperationRef) -> Result<(), CodegenError> {
    let holder = module.context();
    let context = context::borrow(&holder);
    let mut states: HashMap<ValueKey, usize> = HashMap::new();
    let functions = ir::func::functions(module).into_values();
    let read_only = functions.flat_map(invoke::read_only_arguments);
    let read_only: HashSet<ValueKey> = read_only.map(ValueKey::of).collect();
    let order = Order::of(module);
    for op in ir::nested(module) {
        for position in 0..op.result_count() {
            let Ok(result) = op.result(position).map(Value::from) else {
                continue;
            };
            let before = match written(op, position).map(|n| op.operand(n)) {
                None => Some(0),
                Some(Ok(operand)) if read_only.contains(&ValueKey::of(operand)) => Some(0),
                Some(Ok(operand)) => states.get(&ValueKey::of(operand)).copied(),
                Some(_) => None,
            };
            let Some(before) = before else { continue };
            let next = ir::users(result);
            let mut state = before + states_of(op);
            if let [next] = next.as_slice()
                && state >= MOST_STATES
                && next.block() == op.block()
                && let Some(operand) = next.operands().position(|o| o == result)
                && is_destination(*next, operand)
            {
                state = if Chain::to(result).is_exclusive(*next, &order)? {
                    let copy = same_buffer(context, result, *next, false)?;
                    ir::use_instead(*next, operand, copy);
                    states.insert(ValueKey::of(copy), 0);
                    0
                } else {
                    // Checked again after more writes: other readers may have ended by then.
                    MOST_STATES / 2
                };
            }
            states.insert(ValueKey::of(result), state);
        }
    }
    Ok(())
}

/// The positions of all ops below a module, in the order of the text.
struct Order(HashMap<usize, usize>);

impl Order {
    fn of(module: OperationRef) -> Self {
        let operations = ir::nested(module).into_iter().enumerate();
        Order(operations.map(|(n, op)| (key(op), n)).collect())
    }

    /// Whether `op`, or the op of the same block as `next` that holds it, precedes `next`.
    fn precedes(&self, op: OperationRef, next: OperationRef) -> bool {
        let outer = next.block().and_then(|block| ancestor_in(block, op));
        let position = |op: OperationRef| self.0.get(&key(op)).copied();
        let own = outer.and_then(position);
        own.is_some_and(|own| Some(own) < position(next))
    }
}

/// The states of one tensor, from the value that it begins with to the last one.
struct Chain<'c, 'a> {
    origin: Value<'c, 'a>,
    /// Ops that write a state or reshape it, the last one first, with the operand that is the state before.
    links: Vec<(OperationRef<'c, 'a>, usize)>,
}

impl<'c: 'a, 'a> Chain<'c, 'a> {
    fn to(last: Value<'c, 'a>) -> Self {
        let (mut origin, mut links) = (last, Vec::new());
        while let Some((op, number)) = ir::definition(origin) {
            let before = destination(op, number);
            let Some((operand, value)) = before.and_then(|n| Some((n, op.operand(n).ok()?))) else {
                break;
            };
            links.push((op, operand));
            origin = value;
        }
        Chain { origin, links }
    }

    /// Whether only the chain uses its buffer from `next` on. The empty tensor at its beginning is copied if it has
    /// other users. Tensors that are inserted before and used after `next` get distinct buffers: upstream would compute
    /// them in the chain's buffer.
    fn is_exclusive(&self, next: OperationRef, order: &Order) -> Result<bool, CodegenError> {
        let mut shared = Vec::new();
        for (op, operand) in &self.links {
            let before = op.operand(*operand).map_err(|e| CodegenError::Module(e.to_string()))?;
            let empty = maker(before).filter(|op| ir::name(*op) == ops::tensor::EMPTY);
            let mut others = ir::users(before).into_iter().filter(|user| user != op);
            if let Some(empty) = empty {
                if others.next().is_some() {
                    shared.push((*op, *operand, empty));
                }
            } else if others.any(|user| reaches(user, before, next, order)) {
                return Ok(false);
            }
        }
        if !self.begins_anew(next, order) {
            return Ok(false);
        }
        for (op, operand, empty) in shared {
            ir::use_instead(op, operand, copy_before(empty, op)?);
        }
        for (op, _) in &self.links {
            let Some(inserted) = inserted(*op) else {
                continue;
            };
            let mut others = ir::users(inserted).into_iter().filter(|user| user != op);
            if !others.any(|user| reaches(user, inserted, next, order)) {
                continue;
            }
            for begin in beginnings(inserted) {
                if let Some((writer, operand)) = begin.writer
                    && is_made_by(begin.value, ops::tensor::EMPTY)
                {
                    allocate(writer, operand, begin.value)?;
                }
            }
        }
        Ok(true)
    }

    /// Whether only the chain has the buffer of its first state from `next` on: the state is not the result of a branch
    /// or call, and the buffer that it views has no other users.
    fn begins_anew(&self, next: OperationRef, order: &Order) -> bool {
        let Some((op, _)) = ir::definition(self.origin) else {
            // An argument that is never written: the first write makes a copy.
            return true;
        };
        let is_free = |operand: Value<'c, 'a>| {
            let mut others = ir::users(operand).into_iter().filter(|user| *user != op);
            let is_buffer = operand.r#type().is_mem_ref();
            let is_used = is_buffer && others.any(|user| reaches(user, operand, next, order));
            !(operand.r#type().is_ranked_tensor() || is_used)
        };
        op.region_count() == 0 && op.operands().all(is_free)
    }
}

/// The tensor that an op puts into another one, which upstream may compute there.
fn inserted<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    Insertion::cast(op)?.source().ok()
}

/// Whether `user` of a value, or a user of a possible alias, does not precede `next`.
fn reaches<'c: 'a, 'a>(
    user: OperationRef<'c, 'a>,
    value: Value<'c, 'a>,
    next: OperationRef,
    order: &Order,
) -> bool {
    let mut seen = HashSet::new();
    let mut pending = vec![(user, value)];
    while let Some((user, value)) = pending.pop() {
        if !order.precedes(user, next) {
            return true;
        }
        for result in aliases(user, value) {
            if seen.insert(ValueKey::of(result)) {
                pending.extend(ir::users(result).into_iter().map(|user| (user, result)));
            }
        }
    }
    false
}

/// Possible aliases of an operand after an op: states, views, and results of the enclosing op.
fn aliases<'c: 'a, 'a>(user: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let own = (0..user.result_count()).filter_map(|n| {
        let result = user.result(n).ok().map(Value::from)?;
        let r#type = result.r#type();
        let is_array = r#type.is_mem_ref() || r#type.is_ranked_tensor();
        let computes = ir::name(user).starts_with("linalg.");
        let before = destination(user, n).and_then(|operand| user.operand(operand).ok());
        (is_array && (!computes || before == Some(value))).then_some(result)
    });
    let mut found: Vec<Value> = own.collect();
    if matches!(ir::name(user).as_str(), ops::scf::YIELD | ops::scf::CONDITION)
        && let Some(parent) = ir::walk::parent(user)
    {
        found.extend(parent.results().map(Value::from));
    }
    found
}

/// How many states of a tensor an op makes: a loop has those of its body as well.
fn states_of(op: OperationRef) -> usize {
    let is_tensor = |value: Value| value.r#type().is_ranked_tensor();
    let made = |op: OperationRef| op.results().map(Value::from).filter(|v| is_tensor(*v)).count();
    let inner = match ir::name(op).as_str() {
        ops::scf::FOR | ops::scf::WHILE | ops::scf::IF => ir::nested(op).into_iter().map(made).sum(),
        _ => 0,
    };
    1 + inner
}

/// A tensor with the buffer of another one that bufferization treats as a different tensor.
pub(super) fn same_buffer<'c, 'a>(
    context: &'c Context,
    tensor: Value<'c, 'a>,
    user: OperationRef<'c, 'a>,
    read_only: bool,
) -> Result<Value<'c, 'a>, CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let malformed = || CodegenError::Module("no ranked tensor where one is written".to_owned());
    let extents = types::extents(tensor.r#type()).ok_or_else(malformed)?;
    let element = types::element_of(tensor.r#type()).ok_or_else(malformed)?;
    let array = types::memref(&extents, element);
    let at = Builder::before(context, user).map_err(wrong)?;
    let unit = attributes::unit(context);
    let alone = [("restrict", unit), ("writable", unit)];
    let (looked, given) =
        if read_only { (vec![("read_only", unit)], alone.split_at(1).0) } else { (vec![], alone.as_slice()) };
    let buffer = at.value(ops::bufferization::TO_BUFFER, &[tensor], &looked, array);
    buffer
        .and_then(|buffer| at.value(ops::bufferization::TO_TENSOR, &[buffer], given, tensor.r#type()))
        .map_err(wrong)
}
