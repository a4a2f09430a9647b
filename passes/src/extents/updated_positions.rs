// SPDX-License-Identifier: Apache-2.0
//! Positions that formulas update: with `p := e` for an integer e that depends on indices, p has a value of e or its
//! initial value. So clamps to the range of indices are redundant for positions too.

use super::bounds::{constant, end};
use super::drop_clamps::Walk;
use crate::ir;
use crate::ir::arith::Constant;
use crate::ir::attribute_names;
use crate::ir::blocks;
use crate::ir::copy::{arguments, operation_name};
use crate::ir::ops;
use crate::ir::skript::Access;
use crate::ir::{ValueKey, splat, types};
use crate::structure::read::kind;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::r#type::IntegerType;
use melior::ir::{OperationRef, Type, TypeLike, Value, ValueLike};

use skript_frontend::model::Accumulation;
use skript_semantics::ScalarKind;
use skript_symbolic::{Polynomial, SymbolId};
use std::ops::Range;

/// A polynomial for many points, and the symbols that differ between points.
pub(super) type Taken = (Polynomial, Range<SymbolId>);

impl<'c: 'a, 'a> Walk<'_, 'c, 'a> {
    /// Records the possible values of a formula's destinations while it runs. Its body has been analysed, and the
    /// symbols of it alone begin at `first`; `indices` are the formula's own.
    pub(super) fn learn_positions(&mut self, op: OperationRef<'c, 'a>, indices: usize, first: SymbolId) {
        let own = first..self.prover.next_symbol();
        for result in op.results() {
            self.taken_at.insert(ValueKey::of(result), own.clone());
        }
        let moves = kind(op).is_ok_and(|kind| kind == Accumulation::Replace);
        if !moves || op.has_attribute(attribute_names::SAME_TENSOR) {
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
            held.push((taken, own.clone()));
            for block in &all {
                if let Some(argument) = arguments(*block).get(indices + target) {
                    self.positions.insert(ValueKey::of(*argument), held.clone());
                }
            }
        }
    }

    /// The elements of an integer tensor, if they are known.
    fn held(&mut self, tensor: Value<'c, 'a>) -> Option<Vec<Taken>> {
        let result = OperationResult::try_from(tensor).ok()?;
        let op = result.owner();
        match operation_name(op).as_str() {
            ops::tensor::SPLAT => Some(vec![(self.integer(ir::operand(op).ok()?)?, Range::default())]),
            ops::arith::CONSTANT => {
                let number = splat::element(Constant::cast(op)?.value().ok()?)?;
                let number = IntegerAttribute::try_from(number).ok()?;
                Some(vec![(Polynomial::constant(number.value()), Range::default())])
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

    /// An element that is one of these, at an unknown point.
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

    /// The value of an integer of any width, if it fits.
    pub(super) fn integer(&mut self, value: Value<'c, 'a>) -> Option<Polynomial> {
        if let Some(number) = self.numbers.get(&ValueKey::of(value)) {
            return Some(number.clone());
        }
        if types::kind_of(value.r#type()) != Some(ScalarKind::Int) {
            return None;
        }
        if let Some(number) = constant(value) {
            return Some(Polynomial::constant(number));
        }
        let op = OperationResult::try_from(value).ok()?.owner();
        match operation_name(op).as_str() {
            ops::skript::CAST | ops::arith::INDEX_CAST => {
                let number = self.integer(ir::operand(op).ok()?)?;
                self.fits(&number, value.r#type()).then_some(number)
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

    /// Whether an integer type represents a value.
    fn fits(&self, number: &Polynomial, r#type: Type<'c>) -> bool {
        let width = match IntegerType::try_from(r#type) {
            Ok(integer) => integer.width(),
            Err(_) if r#type.is_index() => 64,
            Err(_) => return false,
        };
        let limit = match width {
            64 => return true,
            2..64 => 1i64 << (width - 1),
            _ => return false,
        };
        let (least, most) = (Polynomial::constant(-limit), Polynomial::constant(limit - 1));
        self.prover.at_most(&least, number) && self.prover.at_most(number, &most)
    }
}
