//! Tensors of their own that have the buffers of others: what is one value, or one tensor in many states, to bufferization
//! takes its analysis the square or the cube of their number.

use super::carried::{is_destination, written};
use super::error::CodegenError;
use super::mlir;
use crate::invoke;
use crate::mlir::{Builder, ValueKey, attributes, context, types};
use melior::Context;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use std::collections::{HashMap, HashSet};

/// Most states of a tensor that ops write into one after the other: the analysis takes the cube of it.
const MOST_STATES: usize = 32;

/// Gives what follows many writes into one tensor a tensor of its own. Only where nobody else looks at the state that is cut
/// off, and not in chains that begin with an argument of a block that may be written: whoever gave it counts on getting its
/// buffer back.
pub(super) fn cut_chains(module: OperationRef) -> Result<(), CodegenError> {
    let holder = module.context();
    let context = context::borrow(&holder);
    let mut states: HashMap<ValueKey, usize> = HashMap::new();
    let functions = invoke::functions(module).into_values();
    let read_only = functions.flat_map(invoke::read_only_arguments);
    let read_only: HashSet<ValueKey> = read_only.map(ValueKey::of).collect();
    for op in mlir::nested(module) {
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
            let next = mlir::users(result);
            let mut state = before + states_of(op);
            if let [next] = next.as_slice()
                && state >= MOST_STATES
                && next.block() == op.block()
                && let Some(operand) = next.operands().position(|o| o == result)
                && is_destination(*next, operand)
            {
                let own = same_buffer(context, result, *next, false)?;
                mlir::use_instead(*next, operand, own);
                states.insert(ValueKey::of(own), 0);
                state = 0;
            }
            states.insert(ValueKey::of(result), state);
        }
    }
    Ok(())
}

/// How many states of a tensor an op makes: a loop has those of its body as well.
fn states_of(op: OperationRef) -> usize {
    let is_tensor = |value: Value| value.r#type().is_ranked_tensor();
    let made = |op: OperationRef| {
        op.results()
            .map(Value::from)
            .filter(|v| is_tensor(*v))
            .count()
    };
    let inner = match mlir::name(op).as_str() {
        "scf.for" | "scf.while" | "scf.if" => mlir::nested(op).into_iter().map(made).sum(),
        _ => 0,
    };
    1 + inner
}

/// A tensor that has the buffer of another one, and is a tensor of its own to bufferization.
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
    let (looked, given) = match read_only {
        true => (vec![("read_only", unit)], alone.split_at(1).0),
        false => (vec![], alone.as_slice()),
    };
    let buffer = at.value("bufferization.to_buffer", &[tensor], &looked, array);
    buffer
        .and_then(|buffer| at.value("bufferization.to_tensor", &[buffer], given, tensor.r#type()))
        .map_err(wrong)
}
