// SPDX-License-Identifier: Apache-2.0
//! The memory that operations write.

use super::func::callee;
use super::memref::{is_view, root_of};
use super::walk::{blocks, nested};
use super::{ValueKey, name, ops, typed};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use std::collections::{HashMap, HashSet};

/// The memory effects of a module's functions.
#[derive(Default)]
pub(crate) struct Effects<'c, 'a> {
    functions: HashMap<String, OperationRef<'c, 'a>>,
    /// For each function, the positions of the arguments that it writes.
    written: HashMap<String, HashSet<usize>>,
    /// What is known of buffers, by their roots.
    buffers: HashMap<ValueKey, bool>,
}

impl<'c: 'a, 'a> Effects<'c, 'a> {
    /// The effects of calls of these functions, by their symbols.
    pub(crate) fn new(functions: HashMap<String, OperationRef<'c, 'a>>) -> Self {
        Effects { functions, written: HashMap::new(), buffers: HashMap::new() }
    }

    /// What holds for the buffer of an array, as it was found the first time: a buffer may have as many users as the module has
    /// operations.
    pub(crate) fn of_buffer(
        &mut self,
        array: Value<'c, 'a>,
        find: impl FnOnce(Value<'c, 'a>) -> bool,
    ) -> bool {
        let own = self.buffers.entry(root_of(array));
        *own.or_insert_with(|| find(array))
    }

    /// Forgets what is known of buffers: their users have changed.
    pub(crate) fn forget_buffers(&mut self) {
        self.buffers.clear();
    }

    /// Adds a function that has no operation yet, with the positions of the arguments that it writes.
    pub(crate) fn declare(&mut self, symbol: &str, written: impl IntoIterator<Item = usize>) {
        let written = written.into_iter().collect();
        self.written.insert(symbol.to_owned(), written);
    }

    /// The memrefs that an operation, or one below it, may write. An unknown operation may write all of its operands.
    pub(crate) fn written(&mut self, op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let mut found = self.own(op);
        for inner in nested(op) {
            found.extend(self.own(inner));
        }
        found
    }

    /// As [`Effects::written`], without nested operations.
    fn own(&mut self, op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
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
            ops::func::CALL => self.by_call(op, operands),
            _ if name.starts_with("linalg.") => {
                // Destinations are the last operands; without segments, there are as many as inputs.
                let inputs = typed::segments(op).first().copied();
                let inputs = inputs.unwrap_or(operands.len() / 2);
                arrays(operands.into_iter().skip(inputs))
            }
            _ if is_view(op) => Vec::new(),
            // For an operation with regions, nested operations write; they may write loop-carried values.
            _ => arrays(operands),
        }
    }

    fn by_call(&mut self, call: OperationRef<'c, 'a>, operands: Vec<Value<'c, 'a>>) -> Vec<Value<'c, 'a>> {
        let is_known = |name: &String| self.functions.contains_key(name) || self.written.contains_key(name);
        let Some(symbol) = callee(call).filter(is_known) else {
            return arrays(operands);
        };
        let written = self.of_function(&symbol, operands.len());
        arrays(
            operands
                .into_iter()
                .enumerate()
                .filter(|(position, _)| written.contains(position))
                .map(|(_, operand)| operand),
        )
    }

    /// The positions of the arguments that a function writes; all of them if it is recursive or has no body.
    fn of_function(&mut self, symbol: &str, arguments: usize) -> HashSet<usize> {
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
        let found: HashSet<usize> =
            written.filter_map(|value| numbers.get(&root_of(value)).copied()).collect();
        self.written.insert(symbol.to_owned(), found.clone());
        found
    }
}

fn arrays<'c: 'a, 'a>(values: impl IntoIterator<Item = Value<'c, 'a>>) -> Vec<Value<'c, 'a>> {
    values.into_iter().filter(|value| value.r#type().is_mem_ref()).collect()
}
