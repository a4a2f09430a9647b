// SPDX-License-Identifier: Apache-2.0
//! Cuts long chains of writes to one tensor, because One-Shot Bufferize's analysis is superlinear in their length.
//!
//! After a cut, the chain continues with a tensor that has the same buffer, but is a different tensor for bufferization. The
//! analysis does not compare writes after the cut with reads and writes before it. [`Chain::is_exclusive`] checks that they do
//! not conflict: after the cut, only the chain uses the buffer.

use super::inits::copy_before;
use super::loop_carried::{allocate, beginnings, destination, is_destination, written};
use crate::error::CodegenError;
use crate::invoke;
use crate::ir;
use crate::ir::bufferization::{Insertion, tensor_of};
use crate::ir::ops;
use crate::ir::{Builder, ValueKey, attributes, context, types};
use crate::ir::{ancestor_in, key};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use std::collections::{HashMap, HashSet};

/// Maximum number of consecutive states of a tensor: the analysis is cubic in the number of states.
const MAX_STATES: usize = 32;

/// Cuts chains of many writes that use their buffer exclusively. Chains that begin with a writable block argument are not
/// cut, because the caller expects the result in its buffer.
pub(super) fn cut_chains(module: OperationRef) -> Result<(), CodegenError> {
    let holder = module.context();
    let context = context::borrow(&holder);
    let mut states: HashMap<ValueKey, usize> = HashMap::new();
    let read_only: HashSet<ValueKey> = ir::func::functions(module)
        .into_values()
        .flat_map(invoke::read_only_arguments)
        .map(ValueKey::of)
        .collect();
    let order = TextualOrder::new(module);
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
                && state >= MAX_STATES
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
                    // The check is repeated after more writes, which may follow all other readers.
                    MAX_STATES / 2
                };
            }
            states.insert(ValueKey::of(result), state);
        }
    }
    Ok(())
}

/// The positions of all operations of a module, in textual order.
struct TextualOrder(HashMap<usize, usize>);

impl TextualOrder {
    fn new(module: OperationRef) -> Self {
        let operations = ir::nested(module).into_iter().enumerate();
        TextualOrder(operations.map(|(n, op)| (key(op), n)).collect())
    }

    /// Whether `op`, or its ancestor in the block of `next`, precedes `next`.
    fn precedes(&self, op: OperationRef, next: OperationRef) -> bool {
        let position = |op: OperationRef| self.0.get(&key(op)).copied();
        let outer = next.block().and_then(|block| ancestor_in(block, op)).and_then(position);
        outer.is_some_and(|outer| Some(outer) < position(next))
    }
}

/// The states of one tensor, from the first state to the last state.
struct Chain<'c, 'a> {
    /// The first state.
    origin: Value<'c, 'a>,
    /// The operations that write or reshape a state, from the last to the first, each with the number of the operand that is the
    /// previous state.
    links: Vec<(OperationRef<'c, 'a>, usize)>,
}

impl<'c: 'a, 'a> Chain<'c, 'a> {
    fn to(last: Value<'c, 'a>) -> Self {
        let (mut origin, mut links) = (last, Vec::new());
        while let Some((op, number)) = ir::definition(origin) {
            let before = destination(op, number);
            let Some((operand, value)) = before.and_then(|n| Some((n, ir::operand_at(op, n)?))) else {
                break;
            };
            links.push((op, operand));
            origin = value;
        }
        Chain { origin, links }
    }

    /// Whether only the chain uses its buffer from `next` on. If so, the method also makes two changes. It copies the empty tensor
    /// at the beginning of the chain if that tensor has other users. And it allocates distinct buffers for tensors that are
    /// inserted before `next` and used after it: MLIR would compute them in the chain's buffer.
    fn is_exclusive(&self, next: OperationRef, order: &TextualOrder) -> Result<bool, CodegenError> {
        let mut shared = Vec::new();
        for (op, operand) in &self.links {
            let before = op.operand(*operand)?;
            let empty = ir::defined_by(before, ops::tensor::EMPTY);
            let mut others = ir::users(before).into_iter().filter(|user| user != op);
            if let Some(empty) = empty {
                if others.next().is_some() {
                    shared.push((*op, *operand, empty));
                }
            } else if others.any(|user| reaches(user, before, next, order)) {
                return Ok(false);
            }
        }
        if !self.is_first_buffer_exclusive(next, order) {
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
                if let Some((writer, operand)) = begin.writer {
                    allocate(writer, operand, begin.value);
                }
            }
        }
        Ok(true)
    }

    /// Whether only the chain uses the buffer of its first state from `next` on: the state is not the result of an operation with
    /// regions or on tensors, and the buffer that it views has no other users.
    fn is_first_buffer_exclusive(&self, next: OperationRef, order: &TextualOrder) -> bool {
        let Some(op) = ir::defining_op(self.origin) else {
            // The first state is a read-only argument, which the first write copies.
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

/// Returns the tensor that an operation inserts into another tensor. MLIR may compute it in the buffer of the other tensor.
fn inserted<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
    Insertion::cast(op)?.source().ok()
}

/// Whether `user` of a value, or a user of a possible alias, does not precede `next`.
fn reaches<'c: 'a, 'a>(
    user: OperationRef<'c, 'a>,
    value: Value<'c, 'a>,
    next: OperationRef,
    order: &TextualOrder,
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

/// Returns the possible aliases of an operand after an operation: states, views, and results of the enclosing operation.
fn aliases<'c: 'a, 'a>(user: OperationRef<'c, 'a>, value: Value<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let results = (0..user.result_count()).filter_map(|n| {
        let result = user.result(n).ok().map(Value::from)?;
        let r#type = result.r#type();
        let is_array = r#type.is_mem_ref() || r#type.is_ranked_tensor();
        let computes = ir::name(user).starts_with("linalg.");
        let before = destination(user, n).and_then(|operand| ir::operand_at(user, operand));
        (is_array && (!computes || before == Some(value))).then_some(result)
    });
    let mut aliases: Vec<Value> = results.collect();
    if matches!(ir::name(user).as_str(), ops::scf::YIELD | ops::scf::CONDITION)
        && let Some(parent) = ir::walk::parent(user)
    {
        aliases.extend(parent.results().map(Value::from));
    }
    aliases
}

/// Returns the number of states of a tensor that an operation defines, including the states in its regions.
fn states_of(op: OperationRef) -> usize {
    let tensors = |op: OperationRef| op.results().filter(|v| v.r#type().is_ranked_tensor()).count();
    let inner = match ir::name(op).as_str() {
        ops::scf::FOR | ops::scf::WHILE | ops::scf::IF => ir::nested(op).into_iter().map(tensors).sum(),
        _ => 0,
    };
    1 + inner
}

/// Creates a tensor with the buffer of `tensor`, which bufferization treats as a different tensor.
pub(super) fn same_buffer<'c, 'a>(
    context: &'c Context,
    tensor: Value<'c, 'a>,
    user: OperationRef<'c, 'a>,
    read_only: bool,
) -> Result<Value<'c, 'a>, CodegenError> {
    let malformed = || CodegenError::Module("expected a ranked tensor".to_owned());
    let extents = types::extents(tensor.r#type()).ok_or_else(malformed)?;
    let element = types::element_of(tensor.r#type()).ok_or_else(malformed)?;
    let array = types::memref(&extents, element);
    let at = Builder::before(context, user)?;
    let to_buffer = |entries: &[_]| at.value(ops::bufferization::TO_BUFFER, &[tensor], entries, array);
    if !read_only {
        return Ok(tensor_of(&at, to_buffer(&[])?, tensor.r#type())?);
    }
    let unit = attributes::unit(context);
    let buffer = to_buffer(&[("read_only", unit)])?;
    Ok(at.value(ops::bufferization::TO_TENSOR, &[buffer], &[("restrict", unit)], tensor.r#type())?)
}
