// SPDX-License-Identifier: Apache-2.0
//! Verifies the accesses in blocks, loops and branches.

use super::Verifier;
use crate::ir::memref::is_view;
use crate::ir::scf::Bounds;
use crate::ir::{self, ValueKey, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, TypeLike, Value, ValueLike};
use skript_dialect::{PassError, melior};
use skript_symbolic::Polynomial;

impl<'c: 'a, 'a> Verifier<'_, 'c, 'a> {
    /// Verifies the operations of a block, in order.
    pub(super) fn block(&mut self, block: BlockRef<'c, 'a>) -> Result<(), PassError> {
        for op in ir::operations(block) {
            self.operation(op)?;
        }
        Ok(())
    }

    fn operation(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let name = ir::name(op);
        match name.as_str() {
            ops::func::CALL => self.call(op),
            ops::scf::FOR | ops::scf::PARALLEL => self.looped(op),
            ops::scf::IF => self.branch(op),
            // The operations after a check are executed only if its condition holds.
            ops::skript::CHECK => {
                self.learn(op.operand(0)?, true);
                Ok(())
            }
            ops::linalg::GENERIC => self.generic(op),
            ops::memref::COPY | ops::linalg::FILL => self.whole_arrays(op),
            ops::memref::ALLOC
            | ops::memref::ALLOCA
            | ops::memref::GET_GLOBAL
            | ops::builtin::UNREALIZED_CONVERSION_CAST
            | ops::memref::EXTRACT_STRIDED_METADATA => self.array(op, &name),
            _ if is_view(op) => self.array(op, &name),
            _ if op.region_count() > 0 => self.inside(op),
            name => {
                self.access(op, name)?;
                self.mask(op, name);
                self.scalar(op, name);
                Ok(())
            }
        }
    }

    /// Verifies the regions of an operation that is not modelled, with arbitrary block arguments.
    fn inside(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        for block in ir::blocks(op) {
            ir::arguments(block).into_iter().for_each(|argument| self.forget(argument));
            let mark = self.prover.mark();
            self.block(block)?;
            self.prover.rollback(mark);
        }
        op.results().for_each(|result| self.forget(result.into()));
        Ok(())
    }

    /// Discards all facts about a value.
    fn forget(&mut self, value: Value<'c, 'a>) {
        let key = ValueKey::of(value);
        self.numbers.remove(&key);
        self.arrays.remove(&key);
        self.masks.remove(&key);
    }

    /// Verifies the body of an `scf.for` or `scf.parallel`.
    fn looped(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let Some(block) = ir::first_block(op) else {
            return Ok(());
        };
        let bounds = Bounds::all(op).into_iter();
        let bounds: Vec<[Polynomial; 3]> =
            bounds.map(|b| [b.lower, b.upper, b.step].map(|bound| self.number(bound))).collect();
        let mark = self.prover.mark();
        let mut arguments = ir::arguments(block).into_iter();
        for ([first, end, step], variable) in bounds.iter().zip(arguments.by_ref()) {
            let index = self.index(first, end, step);
            self.numbers.insert(ValueKey::of(variable), index);
        }
        arguments.for_each(|carried| self.forget(carried));
        self.block(block)?;
        self.prover.rollback(mark);
        op.results().for_each(|result| self.forget(result.into()));
        Ok(())
    }

    fn branch(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let condition = op.operand(0)?;
        let mut ends = Vec::new();
        for (number, block) in ir::blocks(op).into_iter().enumerate() {
            let mark = self.prover.mark();
            self.learn(condition, number == 0);
            self.block(block)?;
            self.prover.rollback(mark);
            let end = ir::operations(block).last().copied();
            ends.push(end.map_or_else(Vec::new, |end| end.operands().collect::<Vec<Value>>()));
        }
        for (position, result) in op.results().map(Value::from).enumerate() {
            self.forget(result);
            let yielded: Option<Vec<Value>> = ends.iter().map(|end| end.get(position).copied()).collect();
            if let (Some([one, other]), true) = (yielded.as_deref(), result.r#type().is_index()) {
                let (one, other) = (self.number(*one), self.number(*other));
                let number = self.prover.either(&one, &other);
                self.extend_marks(&[&one, &other]);
                self.numbers.insert(ValueKey::of(result), number);
            }
        }
        Ok(())
    }

    /// Proves that all elements of an operation's arrays are in-bounds.
    fn whole_arrays(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        for operand in op.operands() {
            let Some(array) = self.arrays.get(&ValueKey::of(operand)).cloned() else {
                continue;
            };
            let mark = self.prover.mark();
            let last = array.extents.iter().map(|extent| extent.plus(-1));
            let Some(last) = last.collect::<Option<Vec<Polynomial>>>() else {
                continue;
            };
            let zero = Polynomial::constant(0);
            let is_empty = array.extents.iter().any(|e| e.as_constant() == Some(0));
            // An empty array is not accessed.
            for extent in &last {
                self.prover.assume_at_most(&zero, extent);
            }
            if let Some(last) = array.address(&last).filter(|_| !is_empty) {
                self.prove(op, &array, &array.offset, &last)?;
            }
            self.prover.rollback(mark);
        }
        Ok(())
    }
}
