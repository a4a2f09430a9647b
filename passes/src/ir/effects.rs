// SPDX-License-Identifier: Apache-2.0
//! Computes memory effects, which are the memrefs that operations write.

use super::func::callee;
use super::memref::{is_view, root_of};
use super::walk::{blocks, nested};
use super::{ValueKey, name, ops, typed};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use std::collections::{HashMap, HashSet};

/// The memory effects of the functions of a module.
#[derive(Default)]
pub(crate) struct Effects<'c, 'a> {
    functions: HashMap<String, OperationRef<'c, 'a>>,
    /// For each function, the positions of the arguments that it writes.
    written: HashMap<String, HashSet<usize>>,
    /// Cached results of [`Effects::of_buffer`], by the roots of buffers.
    buffers: HashMap<ValueKey, bool>,
}

impl<'c: 'a, 'a> Effects<'c, 'a> {
    /// The effects of a module with these functions, by their symbols.
    pub(crate) fn new(functions: HashMap<String, OperationRef<'c, 'a>>) -> Self {
        Effects { functions, written: HashMap::new(), buffers: HashMap::new() }
    }

    /// Returns whether the buffer of an array has a property. It is only computed once, because the number of users of a buffer may
    /// be the number of operations in the module.
    pub(crate) fn of_buffer(
        &mut self,
        array: Value<'c, 'a>,
        compute: impl FnOnce(Value<'c, 'a>) -> bool,
    ) -> bool {
        *self.buffers.entry(root_of(array)).or_insert_with(|| compute(array))
    }

    /// Discards the cached properties of buffers after their users have changed.
    pub(crate) fn forget_buffers(&mut self) {
        self.buffers.clear();
    }

    /// Adds a function that does not exist yet, with the positions of the arguments that it writes.
    pub(crate) fn declare(&mut self, symbol: &str, written: impl IntoIterator<Item = usize>) {
        self.written.insert(symbol.to_owned(), written.into_iter().collect());
    }

    /// The memrefs that an operation or its nested operations may write. An unknown operation may write all of its
    /// operands.
    pub(crate) fn written(&mut self, op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let mut written = self.written_by_itself(op);
        for inner in nested(op) {
            written.extend(self.written_by_itself(inner));
        }
        written
    }

    /// Like [`Effects::written`], but without nested operations.
    fn written_by_itself(&mut self, op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let operands: Vec<Value> = op.operands().collect();
        let at = |position: usize| operands.get(position).copied().into_iter().collect();
        let name = name(op);
        match name.as_str() {
            ops::memref::STORE | ops::affine::STORE | ops::vector::STORE | ops::memref::COPY => at(1),
            ops::vector::MASKEDSTORE | ops::vector::SCATTER => at(0),
            ops::memref::LOAD
            | ops::affine::LOAD
            | ops::vector::LOAD
            | ops::vector::MASKEDLOAD
            | ops::vector::GATHER
            | ops::memref::DIM
            | ops::memref::DEALLOC => Vec::new(),
            ops::func::CALL => self.written_by_call(op, operands),
            _ if name.starts_with("linalg.") => {
                // Destinations are the last operands. An operation without segments has a destination for each input.
                let inputs = typed::segments(op).first().copied().unwrap_or(operands.len() / 2);
                arrays(operands.into_iter().skip(inputs))
            }
            _ if is_view(op) => Vec::new(),
            // Operations nested in the regions of a loop may write the loop-carried operands.
            _ => arrays(operands),
        }
    }

    fn written_by_call(
        &mut self,
        call: OperationRef<'c, 'a>,
        operands: Vec<Value<'c, 'a>>,
    ) -> Vec<Value<'c, 'a>> {
        let is_known = |name: &String| self.functions.contains_key(name) || self.written.contains_key(name);
        let Some(symbol) = callee(call).filter(is_known) else {
            return arrays(operands);
        };
        let written = self.written_arguments(&symbol, operands.len());
        arrays(
            operands
                .into_iter()
                .enumerate()
                .filter(|(position, _)| written.contains(position))
                .map(|(_, operand)| operand),
        )
    }

    /// The positions of the arguments that a function writes; all arguments if it is recursive or has no body.
    fn written_arguments(&mut self, symbol: &str, arguments: usize) -> HashSet<usize> {
        if let Some(known) = self.written.get(symbol) {
            return known.clone();
        }
        let Some(function) = self.functions.get(symbol).copied() else {
            return HashSet::new();
        };
        let blocks = blocks(function);
        let Some(block) = blocks.first() else {
            return (0..arguments).collect();
        };
        let all = (0..arguments).collect();
        self.written.insert(symbol.to_owned(), all);
        let numbers: HashMap<ValueKey, usize> = (0..block.argument_count())
            .filter_map(|n| Some((ValueKey::of(Value::from(block.argument(n).ok()?)), n)))
            .collect();
        let written = self.written(function).into_iter();
        let positions: HashSet<usize> =
            written.filter_map(|value| numbers.get(&root_of(value)).copied()).collect();
        self.written.insert(symbol.to_owned(), positions.clone());
        positions
    }
}

fn arrays<'c: 'a, 'a>(values: impl IntoIterator<Item = Value<'c, 'a>>) -> Vec<Value<'c, 'a>> {
    values.into_iter().filter(|value| value.r#type().is_mem_ref()).collect()
}
