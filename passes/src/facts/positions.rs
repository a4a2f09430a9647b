// SPDX-License-Identifier: Apache-2.0
//! Learns the values of positions that formulas update. After `p := e` for an integer e that depends on indices, p has a value of e or
//! its initial value. Therefore, clamps to the range of indices are also redundant for positions.

use super::{Facts, end};
use crate::ir;
use crate::ir::arith::Constant;
use crate::ir::attribute_names;
use crate::ir::blocks;
use crate::ir::copy::{arguments, operation_name};
use crate::ir::ops;
use crate::ir::skript::Access;
use crate::ir::{ValueKey, attributes, splat, types};
use crate::structure::read::kind;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike};

use skript_frontend::model::Accumulation;
use skript_semantics::ScalarKind;
use skript_symbolic::{Polynomial, SymbolId};
use std::ops::Range;

/// A polynomial for several points, and the symbols that differ between points.
pub(super) type Taken = (Polynomial, Range<SymbolId>);

impl Facts<'_> {
    /// Records the possible values of the destinations of a formula during its execution. Its body must have been analyzed before.
    /// Symbols from `first` on are only used in the formula; `indices` is the number of its indices.
    pub(crate) fn learn_positions(&mut self, op: OperationRef, indices: usize, first: SymbolId) {
        let points = first..self.prover.next_symbol();
        for result in op.results() {
            self.taken_at.insert(ValueKey::of(result), points.clone());
        }
        let replaces = kind(op).is_ok_and(|kind| kind == Accumulation::Replace);
        if !replaces || op.has_attribute(attribute_names::SAME_TENSOR) {
            return;
        }
        let all = blocks(op);
        let first = op.operand_count().saturating_sub(op.result_count());
        let outs = op.operands().skip(first);
        let values = all.last().map(|body| end(*body)).unwrap_or_default();
        for (target, (out, value)) in outs.zip(values).enumerate() {
            let taken = self.integer(value);
            let Some((taken, mut held)) = taken.zip(self.held(out)) else {
                continue;
            };
            held.push((taken, points.clone()));
            for block in &all {
                if let Some(argument) = arguments(*block).get(indices + target) {
                    self.positions.insert(ValueKey::of(*argument), held.clone());
                }
            }
        }
    }

    /// The elements of an integer tensor, if they are known.
    fn held(&mut self, tensor: Value) -> Option<Vec<Taken>> {
        let result = OperationResult::try_from(tensor).ok()?;
        let op = result.owner();
        match operation_name(op).as_str() {
            ops::tensor::SPLAT => Some(vec![(self.integer(ir::operand(op).ok()?)?, Range::default())]),
            ops::arith::CONSTANT => {
                let element = splat::element(Constant::cast(op)?.value().ok()?)?;
                Some(vec![(Polynomial::constant(attributes::number(element)?), Range::default())])
            }
            ops::skript::FORMULA if kind(op).is_ok_and(|kind| kind == Accumulation::Assign) => {
                let target = result.result_number();
                let mut held = self.held(ir::destination(op, target)?)?;
                let body = blocks(op).last().copied()?;
                let written = self.integer(*end(body).get(target)?)?;
                held.push((written, self.taken_at.get(&ValueKey::of(result))?.clone()));
                Some(held)
            }
            _ => None,
        }
    }

    /// An element that has one of these values, at an unknown point.
    fn element(&mut self, held: &[Taken]) -> Option<Polynomial> {
        let mut held = held.iter();
        let (first, points) = held.next()?;
        let mut element = self.prover.at_another_point(first, points)?;
        for (number, points) in held {
            let number = self.prover.at_another_point(number, points)?;
            element = self.prover.either(&element, &number);
        }
        Some(element)
    }

    /// The value of an integer of any width, if it is known.
    fn integer(&mut self, value: Value) -> Option<Polynomial> {
        if value.r#type().is_index() {
            return Some(self.number(value));
        }
        if types::kind_of(value.r#type()) != Some(ScalarKind::Int) {
            return None;
        }
        if let Some(number) = ir::integer(value) {
            return Some(Polynomial::constant(number));
        }
        let op = OperationResult::try_from(value).ok()?.owner();
        match operation_name(op).as_str() {
            ops::skript::CAST | ops::arith::INDEX_CAST => {
                self.converted(ir::operand(op).ok()?, value.r#type())
            }
            ops::skript::ACCESS => {
                let tensor = Access::cast(op)?.tensor().ok()?;
                let held = self.positions.get(&ValueKey::of(tensor))?.clone();
                if let Some(known) = self.elements.get(&ValueKey::of(value)) {
                    return Some(known.clone());
                }
                let element = self.element(&held)?;
                self.elements.insert(ValueKey::of(value), element.clone());
                Some(element)
            }
            _ => None,
        }
    }

    /// The value of an integer that is converted to another type, if the type can represent it.
    pub(super) fn converted(&mut self, value: Value, to: Type) -> Option<Polynomial> {
        let number = self.integer(value)?;
        self.fits(&number, to).then_some(number)
    }

    /// Whether an integer type can represent a value.
    fn fits(&self, number: &Polynomial, r#type: Type) -> bool {
        let width = match types::as_integer(r#type) {
            Some(integer) => integer.width(),
            None if r#type.is_index() => 64,
            None => return false,
        };
        let limit = match width {
            64 => return true,
            2..64 => 1i64 << (width - 1),
            _ => return false,
        };
        let (minimum, maximum) = (Polynomial::constant(-limit), Polynomial::constant(limit - 1));
        self.prover.at_most(&minimum, number) && self.prover.at_most(number, &maximum)
    }
}
