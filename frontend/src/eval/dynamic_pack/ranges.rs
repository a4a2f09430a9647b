// SPDX-License-Identifier: Apache-2.0
//! Lists and ranges of packs of dynamic length, and their items (2.4).

use std::rc::Rc;

use skript_semantics::ScalarOp;

use super::{DynamicPack, PackPart, PackSlice};
use crate::ast::{Expr as Text, Subscript};
use crate::diagnostics::codes::INDEX_OUT_OF_RANGE;
use crate::eval::demand::Demand;
use crate::eval::evaluator::Evaluator;
use crate::eval::index::is_constant;
use crate::eval::position::int_of;
use crate::eval::runtime;
use crate::eval::series::{binary, refused};
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::{Atom, TensorRef, Value};
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, MessagePart};
use crate::source::Span;

impl Evaluator<'_> {
    /// `[x, xs.., z]` with a pack of dynamic length among the items.
    pub(in crate::eval) fn row(&mut self, atoms: &[Atom], span: Span) -> EvalResult<Option<Value>> {
        let is_long = |atom: &Atom| matches!(atom, Atom::Stack(_) | Atom::DynamicPack(_));
        if !atoms.iter().any(is_long) {
            return Ok(None);
        }
        if let [single] = atoms {
            return Ok(Some(Value::Atom(single.clone())));
        }
        if self.formula.is_some() {
            return refused("formulas cannot list its items", span);
        }
        let mut row = DynamicPack::default();
        for atom in atoms {
            let Some(part) = self.pack_part(atom, span)? else {
                return refused("a list that contains it may otherwise contain only tensors", span);
            };
            row.parts.extend(part.parts);
            row.demands.extend(part.demands);
        }
        Ok(Some(Value::Atom(Atom::DynamicPack(Rc::new(row)))))
    }

    /// The positions of all items of a pack of dynamic length.
    pub(in crate::eval) fn whole(&self, stack: &TensorRef, span: Span) -> EvalResult<Option<PackSlice>> {
        let length = match stack.tensor.shape.first() {
            Some(length) => self.extent_atom(length, span)?.to_expr(),
            None => None,
        };
        Ok(length.map(|length| PackSlice { from: Expr::int(0), step: 1, length }))
    }

    /// `xs[1:]` of a pack of dynamic length.
    pub(in crate::eval) fn stack_range(
        &mut self,
        stack: &TensorRef,
        subscript: &Subscript,
        span: Span,
    ) -> EvalResult<Value> {
        let Some(whole) = self.whole(stack, span)? else {
            return refused("it has no length", span);
        };
        let before = self.mark();
        let locations = self.range_positions(&whole.length, subscript)?;
        let demands = self.demands.since(before);
        Ok(match locations {
            Some(locations) => Value::Atom(Atom::DynamicPack(Rc::new(DynamicPack {
                parts: vec![PackPart::Pack(stack.clone(), locations)],
                demands,
            }))),
            None => Value::Null,
        })
    }

    /// `xs[1:][1:]`, `xs[1:][0]`, in formulas `xs[1:][i,]` too: accesses of a range of a pack.
    pub(in crate::eval) fn row_index(
        &mut self,
        row: &DynamicPack,
        subscripts: &[Subscript],
        trailing_comma: bool,
        span: Span,
    ) -> EvalResult<Value> {
        let [PackPart::Pack(stack, locations)] = row.parts.as_slice() else {
            return refused("assign this list to a name, `all.. = …`, to select items of it", span);
        };
        let subscript = match subscripts {
            [one @ (Subscript::Expr(_) | Subscript::Range { .. })] if !trailing_comma => one,
            _ if self.formula.is_none() => {
                return refused("it supports only one index, a single int", span);
            }
            _ => {
                row.demands.iter().cloned().for_each(|d| self.demand(d));
                return self.items_at(stack, locations, subscripts, span);
            }
        };
        if let Subscript::Expr(index) = subscript {
            let Value::Atom(index) = self.eval(index)? else {
                return refused("it supports only one index, a single int", span);
            };
            let position = self.item_position(&index, &locations.length, span);
            let Some(location) = position.and_then(|position| locations.at(&position)) else {
                return refused("its index must be an int", span);
            };
            row.demands.iter().cloned().for_each(|d| self.demand(d));
            let item = (stack.clone(), Atom::from_expr(location));
            return Ok(Value::Atom(Atom::Item(Rc::new(item))));
        }
        let mark = self.mark();
        let Some(inner) = self.range_positions(&locations.length, subscript)? else {
            return Ok(Value::Null);
        };
        let mut demands = row.demands.clone();
        demands.extend(self.demands.since(mark));
        let (Some(from), Some(step)) = (locations.at(&inner.from), locations.step.checked_mul(inner.step))
        else {
            return refused("the range is too large", span);
        };
        let length = inner.length;
        let part = PackPart::Pack(stack.clone(), PackSlice { from, step, length });
        let parts = vec![part];
        Ok(Value::Atom(Atom::DynamicPack(Rc::new(DynamicPack { parts, demands }))))
    }

    /// The positions of a range of `length` items; `None` if one of its ends is null.
    pub(in crate::eval) fn range_positions(
        &mut self,
        length: &Expr,
        range: &Subscript,
    ) -> EvalResult<Option<PackSlice>> {
        let Subscript::Range { begin, end, stride, span } = range else {
            return Ok(None);
        };
        let step = match stride {
            Some(stride) => self.int(stride)?,
            None => Some(1),
        };
        let Some(step) = step else {
            return Ok(None);
        };
        if step == 0 {
            return stop(&INDEX_OUT_OF_RANGE, *span, "the stride of a range is zero");
        }
        // In forward direction, the ends of ranges are positions of items or one after the last; in backward direction,
        // or one before the first.
        let before = if step < 0 { -1 } else { 0 };
        let last = runtime::plus(length, before);
        let (first, after) = if step < 0 { (last, Expr::int(before)) } else { (Expr::int(before), last) };
        // A computed start of -1 is before the first item if the range covers all items to the left (errata 27).
        let is_computed = begin.as_ref().is_some_and(|b| !is_constant(b));
        let start = end.is_none() && step < 0 && is_computed;
        let from = self.range_end(begin.as_ref(), ("from", before, start), first, length, *span)?;
        let to = self.range_end(end.as_ref(), ("up to", before, false), after, length, *span)?;
        let (Some(from), Some(to)) = (from, to) else {
            return Ok(None);
        };
        let distance = if step < 0 {
            binary(ScalarOp::Sub, from.clone(), to)
        } else {
            binary(ScalarOp::Sub, to, from.clone())
        };
        let size = Expr::int(step.checked_abs().unwrap_or(i64::MAX));
        let steps = distance.and_then(|distance| binary(ScalarOp::CeilDiv, distance, size));
        Ok(steps.map(|steps| PackSlice { from, step, length: self.not_negative(steps) }))
    }

    fn range_end(
        &mut self,
        end: Option<&Text>,
        (which, before, start): (&str, i64, bool),
        other: Expr,
        length: &Expr,
        span: Span,
    ) -> EvalResult<Option<Expr>> {
        let Some(end) = end else {
            return Ok(Some(other));
        };
        let atom = match self.eval(end)? {
            Value::Null => return Ok(None),
            Value::Atom(atom) => atom,
            Value::Pack(_) => return refused("the bounds of a range must be ints", span),
        };
        let Some(index) = int_of(&atom) else {
            return refused("the bounds of a range must be ints", span);
        };
        let locations = runtime::plus(length, 1);
        let mut location = self.index_from_end(&index, length);
        if start {
            let none = runtime::compare(ScalarOp::Eq, index.clone(), Expr::int(before));
            location = runtime::select(none, Expr::int(before), location);
        }
        if !is_shape_scalar(&index) {
            if before < 0 {
                return refused("the bounds of a reversed range must be computed from extents", span);
            }
            return Ok(Some(self.position_of_step(index, location, &locations, length, span)));
        }
        let what = vec![
            MessagePart::Text(format!("a range {which} ")),
            MessagePart::Value(index),
            MessagePart::Text(" is out of bounds".to_string()),
        ];
        let shifted = runtime::plus(&location, before.wrapping_neg());
        self.demand(Demand::location(what, &shifted, &locations, length, span));
        Ok(Some(location))
    }

    /// The items of a list that contains packs of dynamic length; `None` if something is not a tensor.
    fn pack_part(&self, atom: &Atom, span: Span) -> EvalResult<Option<DynamicPack>> {
        let part = match atom {
            Atom::Tensor(_) | Atom::Item(_) => PackPart::One(atom.clone()),
            Atom::DynamicPack(row) => return Ok(Some((**row).clone())),
            Atom::Stack(stack) => match self.whole(stack, span)? {
                Some(locations) => PackPart::Pack(stack.clone(), locations),
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(DynamicPack { parts: vec![part], demands: Vec::new() }))
    }
}
