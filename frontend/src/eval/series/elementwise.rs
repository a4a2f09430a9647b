// SPDX-License-Identifier: Apache-2.0
//! Elementwise functions, items and joins of packs of dynamic length (2.4).

use crate::ast::Subscript;
use crate::eval::dynamic_pack::ranges::range_positions;
use crate::eval::evaluator::Evaluator;
use crate::eval::position::item_position;
use crate::eval::runtime;
use crate::eval::series::zip::side_by_side;
use crate::eval::series::{Series, at_position, binary, refused, series_of};
use crate::eval::stop::EvalResult;
use crate::eval::value::{Atom, Value, count};
use crate::model::Expr;
use crate::program::Edition;
use crate::source::Span;
use skript_semantics::ScalarOp;
use std::rc::Rc;

impl Evaluator<'_> {
    /// Applies a function to every item.
    pub(in crate::eval) fn map_series(
        &mut self,
        series: &Series,
        span: Span,
        apply: impl FnOnce(&mut Self, Atom) -> EvalResult<Atom>,
    ) -> EvalResult<Value> {
        let item = apply(self, Atom::from_expr(series.item.clone()))?;
        match item.to_expr() {
            Some(item) => Ok(Series { length: series.length.clone(), item }.into_value()),
            None => refused("its items must be numbers or bools", span),
        }
    }

    /// Applies a function to pairs of items if one of the values is a pack of dynamic length; `None` if neither is.
    pub(in crate::eval) fn pairs_of_series(
        &mut self,
        a: &Value,
        b: &Value,
        span: Span,
        apply: impl FnOnce(&mut Self, &Atom, &Atom) -> EvalResult<Atom>,
    ) -> Option<EvalResult<Value>> {
        let (left, right) = (series_of(a), series_of(b));
        let series = left.or(right)?;
        let item = |value: &Value, series: Option<&Rc<Series>>| match (series, value) {
            (Some(series), _) => Some(Atom::from_expr(series.item.clone())),
            (None, Value::Atom(atom)) => Some(atom.clone()),
            (None, _) => None,
        };
        if a.is_null() || b.is_null() {
            return Some(Ok(Value::Null));
        }
        if let (Some(x), Some(y)) = (left, right)
            && let Err(stop) = side_by_side(self, &x.length, &y.length, span)
        {
            return Some(Err(stop));
        }
        let (Some(x), Some(y)) = (item(a, left), item(b, right)) else {
            return Some(refused("it has no counterpart in a list of known length", span));
        };
        Some(self.map_series(series, span, |this, _| apply(this, &x, &y)))
    }

    /// A select for each item by a pack of conditions.
    pub(in crate::eval) fn select_in_series(
        &mut self,
        conditions: &Rc<Series>,
        a: &Value,
        b: &Value,
        span: Span,
    ) -> EvalResult<Value> {
        let conditions = Value::Atom(Atom::Series(Rc::clone(conditions)));
        // In the second pass the condition's item is the same as in the first.
        let taken = self.elementwise(&conditions, a, span, |_, _, a| Ok(a.clone()))?;
        let left = self.elementwise(&conditions, b, span, |_, _, b| Ok(b.clone()))?;
        let condition = series_of(&conditions).map(|c| c.item.clone());
        self.elementwise(&taken, &left, span, |this, a, b| match &condition {
            Some(condition) => this.choose(condition, a, b, span),
            None => Ok(a.clone()),
        })
    }

    /// `t[i]`, `t[i:]`, `t[:i]`, `t[::-1]`.
    pub(in crate::eval) fn series_item(
        &mut self,
        series: &Series,
        subscripts: &[Subscript],
        span: Span,
    ) -> EvalResult<Value> {
        match subscripts {
            [Subscript::Expr(index)] => {
                let index = self.eval(index)?;
                self.map(&index, |this, index| {
                    let Some(position) = item_position(this, &index, &series.length, span) else {
                        return refused("its index must be an int", span);
                    };
                    Ok(Atom::from_expr(series.at(&position)))
                })
            }
            [range @ Subscript::Range { .. }] => {
                let Some(locations) = range_positions(self, &series.length, range)? else {
                    return Ok(Value::Null);
                };
                let part =
                    Series::from_items(locations.length.clone(), |i| Some(series.at(&locations.at(i)?)));
                match part {
                    Some(part) => Ok(part.into_value()),
                    None => refused("this range of it is not supported", span),
                }
            }
            _ => refused("it supports only a single index or a range", span),
        }
    }

    /// `[a, t.., b]`: one pack of dynamic length between single items.
    pub(in crate::eval) fn join_series(
        &mut self,
        before: &[Atom],
        series: &Series,
        after: &[Atom],
        span: Span,
    ) -> EvalResult<Rc<Series>> {
        let kind = series.kind();
        let exprs = |atoms: &[Atom]| -> Option<Vec<Expr>> {
            let exprs = atoms.iter().map(Atom::to_expr);
            exprs.map(|e| e.filter(|e| e.kind == kind)).collect()
        };
        let (Some(before), Some(after)) = (exprs(before), exprs(after)) else {
            let message = "a list that contains it may otherwise contain only single numbers of its type";
            return refused(message, span);
        };
        let int = |n: usize| Expr::int(count(n));
        let shift = int(before.len());
        let joined = || {
            let end = binary(ScalarOp::Add, series.length.clone(), shift.clone())?;
            let length = binary(ScalarOp::Add, end.clone(), int(after.len()))?;
            Series::from_items(length, |i| {
                let inner = series.at(&binary(ScalarOp::Sub, i.clone(), shift.clone())?);
                // If the single items continue the series, no select is needed.
                let continues =
                    |(position, item): (usize, &Expr)| at_position(&inner, &int(position)) == *item;
                let choice = |op, location: Expr, then: Expr, otherwise: Expr| {
                    let here = runtime::operation(op, vec![i.clone(), location], Edition::Draft6)?;
                    Some(runtime::select(here, then, otherwise))
                };
                let mut item = inner.clone();
                for (position, single) in after.into_iter().enumerate() {
                    let location = binary(ScalarOp::Add, end.clone(), int(position))?;
                    item = choice(ScalarOp::Ge, location, single, item)?;
                }
                if before.iter().enumerate().all(continues) {
                    return Some(item);
                }
                for (position, single) in before.into_iter().enumerate().rev() {
                    item = choice(ScalarOp::Le, int(position), single, item)?;
                }
                Some(item)
            })
        };
        match joined() {
            Some(joined) => Ok(Rc::new(joined)),
            None => refused("it is not supported in this list", span),
        }
    }
}
