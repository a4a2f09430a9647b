// SPDX-License-Identifier: Apache-2.0
//! Folds, cumulative folds and containment (2.4).

use crate::ast::FoldOp;
use crate::diagnostics::codes::{EMPTY_FOLD, LIMIT_EXCEEDED, UNEXPECTED_VALUE};
use crate::eval::broadcast::stands_for_a_pack;
use crate::eval::conditions::demand;
use crate::eval::demand::{Demand, Position, Subject};
use crate::eval::evaluator::Evaluator;
use crate::eval::expression::WORK_PER_ITEM;
use crate::eval::pack::Pack;
use crate::eval::ranges::decided;
use crate::eval::runtime;
use crate::eval::series::fold::{fold_series, in_series};
use crate::eval::stop::{EvalResult, stop, stop_with_help};
use crate::eval::value::{Atom, Value};
use crate::model;
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, MessagePart};
use crate::program::Edition;
use crate::source::Span;
use rustc_hash::FxHashSet;
use skript_semantics::{ScalarKind, ScalarOp};

/// The operation of a fold that compares items.
pub(super) fn comparison(op: FoldOp) -> Option<ScalarOp> {
    Some(match op {
        FoldOp::Lt => ScalarOp::Lt,
        FoldOp::Le => ScalarOp::Le,
        FoldOp::Gt => ScalarOp::Gt,
        FoldOp::Ge => ScalarOp::Ge,
        FoldOp::Eq => ScalarOp::Eq,
        FoldOp::Ne => ScalarOp::Ne,
        _ => return None,
    })
}

/// The operation that combines the folds of two parts.
pub(super) fn accumulation(op: FoldOp) -> Option<ScalarOp> {
    Some(match op {
        FoldOp::Add => ScalarOp::Add,
        FoldOp::Mul => ScalarOp::Mul,
        FoldOp::And => ScalarOp::And,
        FoldOp::Or => ScalarOp::Or,
        FoldOp::Min => ScalarOp::Min,
        FoldOp::Max => ScalarOp::Max,
        _ => return None,
    })
}

/// Combines all items, more than 32 as a tree of logarithmic depth; `None` for an empty list.
pub(super) fn balanced<T, E>(
    mut items: Vec<T>,
    join: &mut impl FnMut(T, T) -> Result<T, E>,
) -> Option<Result<T, E>> {
    if items.len() <= 32 {
        return in_order(items, join);
    }
    let tail = items.split_off(items.len() / 2);
    let a = balanced(items, join)?;
    let b = balanced(tail, join)?;
    Some(a.and_then(|a| join(a, b?)))
}

/// Combines all items from left to right.
fn in_order<T, E>(items: Vec<T>, join: &mut impl FnMut(T, T) -> Result<T, E>) -> Option<Result<T, E>> {
    let mut items = items.into_iter();
    let first = items.next()?;
    Some(items.try_fold(first, join))
}

impl Evaluator<'_> {
    pub(super) fn fold(
        &mut self,
        value: &Value,
        op: FoldOp,
        cumulative: bool,
        span: Span,
    ) -> EvalResult<Value> {
        let pack = match value {
            Value::Null => return Ok(Value::Null),
            Value::Pack(pack) => pack,
            Value::Atom(Atom::Series(series)) => {
                return fold_series(self, series, op, cumulative, span);
            }
            Value::Atom(atom) => return stands_for_a_pack(atom, span),
        };
        self.limits.charge(WORK_PER_ITEM * pack.len(), span)?;
        let Some(scalar) = accumulation(op) else {
            return match op {
                FoldOp::Uniform => Ok(pack.uniform().map_or(Value::Null, Value::Atom)),
                _ => self.fold_comparison(pack, op, span),
            };
        };
        if cumulative {
            return self.accumulate(pack, scalar, span);
        }
        if pack.is_empty() {
            return Ok(match op {
                FoldOp::Add | FoldOp::Mul => {
                    let one = op == FoldOp::Mul;
                    match pack.kind() {
                        Some(ScalarKind::Real) => Value::Atom(Atom::Real(f64::from(u8::from(one)))),
                        _ => Value::int(i64::from(one)),
                    }
                }
                FoldOp::And => Value::bool(true),
                FoldOp::Or => Value::bool(false),
                _ if self.refuses_empty_folds() => return refused_empty(op, span),
                _ => Value::Null,
            });
        }
        let items = pack.iter().collect::<Vec<_>>();
        Ok(Value::Atom(self.combined(items, scalar, span)?))
    }

    /// Combines the items: from left to right if all are known at compile time, otherwise with [`balanced`].
    fn combined(&mut self, items: Vec<Atom>, op: ScalarOp, span: Span) -> EvalResult<Atom> {
        let mut join = |a, b| self.operation(op, &[a, b], span);
        let result = if items.iter().any(|a| matches!(a, Atom::Runtime(_))) {
            balanced(items, &mut join)
        } else {
            in_order(items, &mut join)
        };
        result.unwrap_or_else(|| stop(&UNEXPECTED_VALUE, span, "nothing to fold"))
    }

    fn accumulate(&mut self, pack: &Pack, op: ScalarOp, span: Span) -> EvalResult<Value> {
        let mut items: Vec<Atom> = Vec::with_capacity(pack.len());
        for item in pack.iter() {
            let next = match items.last() {
                Some(last) => self.operation(op, &[last.clone(), item.clone()], span)?,
                None => item.clone(),
            };
            items.push(next);
        }
        Ok(Value::pack(items))
    }

    /// Compares all neighbours, or all pairs for `!=` (errata 25).
    fn fold_comparison(&mut self, pack: &Pack, op: FoldOp, span: Span) -> EvalResult<Value> {
        let Some(scalar) = comparison(op) else {
            return stop(&UNEXPECTED_VALUE, span, "this fold compares nothing");
        };
        let items: Vec<Atom> = pack.iter().collect();
        if op == FoldOp::Ne && repeats(&items) {
            return Ok(Value::bool(false));
        }
        let mut results = Vec::new();
        let pairs: Box<dyn Iterator<Item = (&Atom, &Atom)>> = match op {
            FoldOp::Ne => open_pairs(&items),
            _ => Box::new(items.iter().zip(items.iter().skip(1))),
        };
        for (count, (a, b)) in pairs.enumerate() {
            if op == FoldOp::Ne {
                self.limit_comparisons(count, span)?;
            }
            match self.operation(scalar, &[a.clone(), b.clone()], span)? {
                Atom::Bool(false) => return Ok(Value::bool(false)),
                Atom::Bool(true) => {}
                other => results.push(other),
            }
        }
        if results.is_empty() {
            return Ok(Value::bool(true));
        }
        Ok(Value::Atom(self.combined(results, ScalarOp::And, span)?))
    }

    /// Rejects too many run-time comparisons, each of which becomes an operation.
    fn limit_comparisons(&self, comparisons: usize, span: Span) -> EvalResult<()> {
        let max_comparisons = self.limits.extent_operations;
        if comparisons > max_comparisons {
            let message = format!(
                "items of this pack are compared more than {max_comparisons} times at run time (limit `extent_operations`)"
            );
            return stop(&LIMIT_EXCEEDED, span, message);
        }
        Ok(())
    }

    pub(super) fn contains(&mut self, item: &Value, pack: &Value, span: Span) -> EvalResult<Value> {
        if pack.is_null() {
            return Ok(Value::Null);
        }
        if let Value::Atom(Atom::Series(series)) = pack {
            return self.map(item, |this, item| in_series(this, &item, series, span));
        }
        let pack: Vec<Atom> = pack.atoms().collect();
        // The items are put into a table.
        self.limits.charge(4 * WORK_PER_ITEM * pack.len(), span)?;
        let known: FxHashSet<Key> = pack.iter().filter_map(Key::new).collect();
        let open: Vec<&Atom> = pack.iter().filter(|a| Key::new(a).is_none()).collect();
        let all: Vec<&Atom> = pack.iter().collect();
        let mut comparisons = 0usize;
        self.map(item, |this, item| {
            let mut any_equal: Option<model::Expr> = None;
            let candidates = match Key::new(&item) {
                Some(key) if known.contains(&key) => return Ok(Atom::Bool(true)),
                Some(_) => &open,
                None => &all,
            };
            for candidate in candidates {
                comparisons += 1;
                this.limit_comparisons(comparisons, span)?;
                match this.operation(ScalarOp::Eq, &[item.clone(), (*candidate).clone()], span)? {
                    Atom::Bool(true) => return Ok(Atom::Bool(true)),
                    Atom::Bool(false) => {}
                    other => {
                        let Some(equal) = other.to_expr() else {
                            return stop(&UNEXPECTED_VALUE, span, "items cannot be compared");
                        };
                        any_equal = Some(match any_equal {
                            Some(f) => runtime::operation(ScalarOp::Or, vec![f.clone(), equal], this.edition)
                                .unwrap_or(f),
                            None => equal,
                        });
                    }
                }
            }
            Ok(any_equal.map_or(Atom::Bool(false), Atom::from_expr))
        })
    }
}

/// A compile-time item, which compares as `==` does.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Bool(bool),
    Int(i64),
    /// The bits, with one representation of zero.
    Real(u64),
    Str(&'a str),
}

impl<'a> Key<'a> {
    /// `None` for an item that is known only at run time, and for NaN, which equals nothing.
    fn new(atom: &'a Atom) -> Option<Key<'a>> {
        Some(match atom {
            Atom::Bool(value) => Key::Bool(*value),
            Atom::Int(value) => Key::Int(*value),
            Atom::Real(value) if value.is_nan() => return None,
            Atom::Real(value) => Key::Real((value + 0.0).to_bits()),
            Atom::Str(text) => Key::Str(text),
            _ => return None,
        })
    }
}

/// All pairs except pairs of two known items.
fn open_pairs(items: &[Atom]) -> Box<dyn Iterator<Item = (&Atom, &Atom)> + '_> {
    let open: Vec<bool> = items.iter().map(|item| Key::new(item).is_none()).collect();
    Box::new(
        open.clone()
            .into_iter()
            .enumerate()
            .filter_map(|(location, open)| open.then_some(location))
            .flat_map(move |location| {
                let others = open.clone().into_iter().enumerate();
                // A pair of two unknown items occurs once, at the earlier item.
                others
                    .filter(move |(other, open)| *other > location || (*other < location && !open))
                    .filter_map(move |(other, _)| items.get(other).zip(items.get(location)))
            }),
    )
}

/// Whether a known item occurs twice.
fn repeats(items: &[Atom]) -> bool {
    let mut seen = FxHashSet::default();
    let known = items.iter().filter_map(Key::new);
    known.into_iter().any(|key| !seen.insert(key))
}

/// The error for a fold of a pack that is known to be empty.
pub(super) fn refused_empty<T>(op: FoldOp, span: Span) -> EvalResult<T> {
    stop_with_help(
        &EMPTY_FOLD,
        span,
        format!("this pack is empty, and an empty pack has no {}", extremum(op)),
        "add an item that is always there, `[x.., 0]`, or test the length of the pack before; in the edition khronos \
         `??` does not help, for the fold is not null",
    )
}

fn extremum(op: FoldOp) -> &'static str {
    match op {
        FoldOp::Min => "minimum",
        _ => "maximum",
    }
}

impl Evaluator<'_> {
    /// Whether the minimum of an empty pack is an error rather than null.
    pub(crate) fn refuses_empty_folds(&self) -> bool {
        self.edition == Edition::Khronos
    }

    /// Requires that a pack of this length has an item, if the edition rejects folds of empty packs.
    pub(crate) fn require_items(&mut self, op: FoldOp, length: &Expr, span: Span) -> EvalResult<()> {
        let has_items = runtime::compare(ScalarOp::Gt, length.clone(), Expr::int(0));
        match decided(&has_items) {
            _ if !self.refuses_empty_folds() => return Ok(()),
            Some(true) => return Ok(()),
            Some(false) => return refused_empty(op, span),
            None => {}
        }
        if is_shape_scalar(length) {
            demand(
                self,
                Demand {
                    condition: has_items,
                    message: vec![MessagePart::Text(format!(
                        "this pack is empty, and an empty pack has no {}",
                        extremum(op)
                    ))],
                    code: &EMPTY_FOLD,
                    span,
                },
            );
        } else if let Some(formula) = &mut self.formula {
            formula.positions.push(Position {
                index: runtime::plus(length, -1),
                from_end: false,
                locations: Expr::int(i64::MAX),
                length: length.clone(),
                unless: Vec::new(),
                subject: Subject::FoldedPack,
                span,
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_items_repeat_where_they_are_equal() {
        let reals = |values: &[f64]| values.iter().map(|v| Atom::Real(*v)).collect::<Vec<_>>();
        assert!(repeats(&reals(&[0.0, 1.0, -0.0])));
        assert!(!repeats(&reals(&[f64::NAN, 1.0, f64::NAN])));
        assert!(repeats(&[Atom::Str("a".into()), Atom::Str("a".into())]));
        assert!(!repeats(&[Atom::Int(1), Atom::Int(2)]));
    }
}
