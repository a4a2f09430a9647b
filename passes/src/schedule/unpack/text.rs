// SPDX-License-Identifier: Apache-2.0
//! Payloads as text, with numbers for values: equal texts are equal computations.

use super::sources::{Sources, read_by};
use crate::ir::arith::Constant;
use crate::ir::generic::LoopNest;
use crate::ir::memref::root;
use crate::ir::operator::Operator;
use crate::ir::{self, ValueKey, ops};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike};
use std::collections::HashMap;
use std::fmt::Write;

/// Text of operations, in which values are numbered in the order of their definitions.
#[derive(Default)]
pub(super) struct Text {
    numbers: HashMap<ValueKey, usize>,
    pub(super) text: String,
}

impl Text {
    /// Gives a value the next number, unless it has one; returns its number.
    pub(super) fn number(&mut self, value: Value) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry(ValueKey::of(value)).or_insert(next)
    }

    /// Appends operations without regions; `None` if one of them reads a value without a number that is neither a constant nor an
    /// array.
    pub(super) fn operations(&mut self, operations: &[OperationRef]) -> Option<()> {
        operations.iter().try_for_each(|op| self.operation(*op))
    }

    fn operation(&mut self, op: OperationRef) -> Option<()> {
        if op.region_count() != 0 {
            return None;
        }
        write!(self.text, ";{}", ir::name(op)).ok()?;
        // Conversions to different types differ in nothing else.
        for result in op.results() {
            write!(self.text, ":{}", result.r#type()).ok()?;
        }
        for (attribute, value) in Operator::from_op(op).attributes {
            write!(self.text, " {attribute}={value}").ok()?;
        }
        for operand in op.operands() {
            self.operand(operand)?;
        }
        op.results().for_each(|result| {
            self.number(result.into());
        });
        Some(())
    }

    fn operand(&mut self, operand: Value) -> Option<()> {
        if let Some(number) = self.numbers.get(&ValueKey::of(operand)) {
            write!(self.text, " {number}").ok()
        } else if let Some(constant) = Constant::of(operand) {
            write!(self.text, " {}", constant.text()).ok()
        } else if operand.r#type().is_mem_ref() {
            self.array(operand)
        } else {
            None
        }
    }

    /// Appends an array: its type and its buffer, a global by its name.
    fn array(&mut self, array: Value) -> Option<()> {
        let buffer = root(array);
        let global = ir::definition(buffer).filter(|(op, _)| ir::name(*op) == ops::memref::GET_GLOBAL);
        let name = global.and_then(|(op, _)| op.attribute("name").ok()).map(|name| name.to_string());
        let number = self.number(buffer);
        let name = name.as_deref().unwrap_or("");
        write!(self.text, " {number}{name}:{}:{}", array.r#type(), buffer.r#type()).ok()
    }

    /// Appends the maps that compute an array, and the arrays that they read.
    pub(super) fn sources<'c: 'a, 'a>(
        &mut self,
        array: Value<'c, 'a>,
        sources: &Sources<'c, 'a>,
    ) -> Option<()> {
        self.array(array)?;
        let mut pending = vec![array];
        let mut seen = Vec::new();
        while let Some(nest) = pending.pop().map(|array| sources.map(array)) {
            if let Some(nest) = nest.filter(|nest| !seen.contains(&ir::key(nest.op))) {
                seen.push(ir::key(nest.op));
                self.map(nest)?;
                pending.extend(read_by(nest));
            }
        }
        sources.arrays.iter().try_for_each(|array| self.array(*array))
    }

    fn map(&mut self, nest: &LoopNest) -> Option<()> {
        write!(self.text, "\nmap {:?} {:?}", nest.extents, nest.reductions).ok()?;
        for operand in &nest.operands {
            self.array(operand.value)?;
            write!(self.text, "{:?}", operand.forms).ok()?;
            self.number(operand.element);
        }
        self.operations(&nest.payload)?;
        nest.yielded.iter().try_for_each(|value| self.operand(*value))
    }
}
