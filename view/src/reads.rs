// SPDX-License-Identifier: Apache-2.0
//! The tensors that an operation and its blocks read and define.

use skript_frontend::model::{Block, Loop, Operation, ValueId};
use std::collections::{BTreeMap, BTreeSet};

/// The tensors that an operation itself reads, in the order of their roles; its blocks may read others.
fn operands(operation: &Operation) -> Vec<ValueId> {
    match operation {
        Operation::Invoke(invoke) => invoke.inputs.clone(),
        Operation::Constant { .. } | Operation::If { .. } => Vec::new(),
        Operation::Cut { whole, count, .. } => vec![*whole, *count],
        Operation::Loop(looping) => {
            let initial = looping.carried.iter().map(|carried| carried.init);
            let scanned = looping.scans.iter().flat_map(|(_, pack)| pack.iter().copied());
            let stacked = looping.stack_scans.iter().map(|(_, pack)| *pack);
            initial.chain(scanned).chain(stacked).chain(looping.dynamic_count).collect()
        }
    }
}

/// The roles of the tensors that a loop defines for its blocks.
pub(crate) fn roles(looping: &Loop) -> BTreeMap<ValueId, String> {
    let mut roles = BTreeMap::new();
    for (carried, number) in looping.carried.iter().zip(1..) {
        roles.insert(carried.inner, format!("carried {number}"));
        roles.insert(carried.result, format!("next {number}"));
    }
    let items = looping.scans.iter().map(|(item, _)| *item);
    for (item, number) in items.chain(looping.stack_scans.iter().map(|(item, _)| *item)).zip(1..) {
        roles.insert(item, format!("item {number}"));
    }
    roles.extend(looping.index.map(|index| (index, "index".to_owned())));
    roles
}

/// The tensors from outside of an operation that the operation or its blocks read: first the operands, whose number is also returned,
/// then those that only blocks read, without duplicates, in source order.
pub(crate) fn operation_reads(operation: &Operation) -> (Vec<ValueId>, usize) {
    let mut list = operands(operation);
    let number = list.len();
    let mut reads = Reads::default();
    if !matches!(operation, Operation::Invoke(_)) {
        reads.seen.extend(&list);
        reads.operation(operation);
    }
    list.extend(reads.list);
    (list, number)
}

/// The results of an operation, which later operations can read.
pub(crate) fn results(operation: &Operation) -> Vec<ValueId> {
    match operation {
        Operation::Invoke(invoke) => [&invoke.outputs[..], &invoke.updates].concat(),
        Operation::Constant { value, .. } => vec![*value],
        Operation::If { outputs, .. } => outputs.clone(),
        Operation::Loop(looping) => {
            let carried = looping.carried.iter().map(|carried| carried.result);
            let scanned = looping.scan_outputs.iter().flatten().copied();
            carried.chain(scanned).collect()
        }
        Operation::Cut { output, .. } => vec![*output],
    }
}

#[derive(Default)]
struct Reads {
    defined: BTreeSet<ValueId>,
    seen: BTreeSet<ValueId>,
    list: Vec<ValueId>,
}

impl Reads {
    fn read(&mut self, values: &[ValueId]) {
        for value in values {
            if !self.defined.contains(value) && self.seen.insert(*value) {
                self.list.push(*value);
            }
        }
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Invoke(invoke) => {
                self.read(&invoke.inputs);
                self.read(&invoke.captures);
            }
            Operation::Constant { .. } | Operation::If { .. } => {}
            Operation::Cut { whole, count, .. } => self.read(&[*whole, *count]),
            Operation::Loop(looping) => {
                for carried in &looping.carried {
                    self.read(&[carried.init]);
                    self.defined.insert(carried.inner);
                    // The condition after an iteration reads the new values.
                    self.defined.insert(carried.result);
                }
                for (item, pack) in &looping.scans {
                    self.read(pack);
                    self.defined.insert(*item);
                }
                for (item, pack) in &looping.stack_scans {
                    self.read(&[*pack]);
                    self.defined.insert(*item);
                }
                self.read(looping.dynamic_count.as_slice());
                self.defined.extend(looping.index);
            }
        }
        // A value has one definition in its function, so definitions in blocks cannot shadow each other.
        for block in operation.blocks() {
            self.block(block);
        }
        self.defined.extend(results(operation));
    }

    fn block(&mut self, block: &Block) {
        for operation in &block.operations {
            self.operation(operation);
        }
        self.read(&block.results);
    }
}
