//! Folds, cumulative folds and containment (2.4).

use skript_semantics::{ScalarKind, ScalarOp};

use super::evaluator::{EvalResult, Evaluator, stop};
use super::runtime;
use super::value::{Atom, Pack, Value};
use crate::ast::FoldOp;
use crate::diagnostics::codes::UNEXPECTED_VALUE;
use crate::model;
use crate::source::Span;

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
                return self.fold_series(series, op, cumulative, span);
            }
            Value::Atom(_) => {
                return stop(&UNEXPECTED_VALUE, span, "only packs can be folded");
            }
        };
        let scalar = match op {
            FoldOp::Add => ScalarOp::Add,
            FoldOp::Mul => ScalarOp::Mul,
            FoldOp::And => ScalarOp::And,
            FoldOp::Or => ScalarOp::Or,
            FoldOp::Min => ScalarOp::Min,
            FoldOp::Max => ScalarOp::Max,
            FoldOp::Uniform => {
                return Ok(pack.uniform().map_or(Value::Null, Value::Atom));
            }
            _ => return self.fold_comparison(pack, op, span),
        };
        if cumulative {
            return self.accumulate(pack, scalar, span);
        }
        if pack.is_empty() {
            return Ok(match op {
                FoldOp::Add | FoldOp::Mul => {
                    let one = op == FoldOp::Mul;
                    let item = pack.repeated.as_deref().and_then(Atom::kind).or(pack.kind);
                    match item {
                        Some(ScalarKind::Real) => Value::Atom(Atom::Real(f64::from(u8::from(one)))),
                        _ => Value::int(i64::from(one)),
                    }
                }
                FoldOp::And => Value::bool(true),
                FoldOp::Or => Value::bool(false),
                _ => Value::Null,
            });
        }
        let items = pack.items.to_vec();
        Ok(Value::Atom(self.balanced(items, scalar, span)?))
    }

    /// Compile-time items from left to right; run-time items as a tree of logarithmic depth.
    fn balanced(&mut self, items: Vec<Atom>, op: ScalarOp, span: Span) -> EvalResult<Atom> {
        let deep = items.len() > 32 && items.iter().any(|a| matches!(a, Atom::Run(_)));
        if deep {
            let mut items = items;
            let tail = items.split_off(items.len() / 2);
            let a = self.balanced(items, op, span)?;
            let b = self.balanced(tail, op, span)?;
            return self.operation(op, &[a, b], span);
        }
        let mut items = items.into_iter();
        let Some(mut result) = items.next() else {
            return stop(&UNEXPECTED_VALUE, span, "nothing to fold");
        };
        for item in items {
            result = self.operation(op, &[result, item], span)?;
        }
        Ok(result)
    }

    fn accumulate(&mut self, pack: &Pack, op: ScalarOp, span: Span) -> EvalResult<Value> {
        let mut items: Vec<Atom> = Vec::with_capacity(pack.len());
        for item in pack.items.iter() {
            let next = match items.last() {
                Some(last) => self.operation(op, &[last.clone(), item.clone()], span)?,
                None => item.clone(),
            };
            items.push(next);
        }
        Ok(Value::pack(items))
    }

    /// Pairwise on neighbours; `!=` on all pairs (errata 25).
    fn fold_comparison(&mut self, pack: &Pack, op: FoldOp, span: Span) -> EvalResult<Value> {
        let Some(scalar) = comparison(op) else {
            return stop(&UNEXPECTED_VALUE, span, "this fold compares nothing");
        };
        let mut results = Vec::new();
        for (index, a) in pack.items.iter().enumerate() {
            let rest = pack.items.get(index + 1..).unwrap_or_default();
            let reach = if op == FoldOp::Ne { rest.len() } else { 1 };
            for b in rest.iter().take(reach) {
                match self.operation(scalar, &[a.clone(), b.clone()], span)? {
                    Atom::Bool(false) => return Ok(Value::bool(false)),
                    Atom::Bool(true) => {}
                    other => results.push(other),
                }
            }
        }
        if results.is_empty() {
            return Ok(Value::bool(true));
        }
        Ok(Value::Atom(self.balanced(results, ScalarOp::And, span)?))
    }

    pub(super) fn contains(&mut self, item: &Value, pack: &Value, span: Span) -> EvalResult<Value> {
        if pack.is_null() {
            return Ok(Value::Null);
        }
        if let Value::Atom(Atom::Series(series)) = pack {
            return self.map(item, |this, item| this.in_series(&item, series, span));
        }
        let pack = pack.atoms().to_vec();
        self.map(item, |this, item| {
            let mut found: Option<model::Expr> = None;
            for candidate in &pack {
                match this.operation(ScalarOp::Eq, &[item.clone(), candidate.clone()], span)? {
                    Atom::Bool(true) => return Ok(Atom::Bool(true)),
                    Atom::Bool(false) => {}
                    other => {
                        let Some(equal) = other.to_expr() else {
                            return stop(&UNEXPECTED_VALUE, span, "items cannot be compared");
                        };
                        found = Some(match found {
                            Some(f) => runtime::operation(
                                ScalarOp::Or,
                                vec![f.clone(), equal],
                                this.edition,
                            )
                            .unwrap_or(f),
                            None => equal,
                        });
                    }
                }
            }
            Ok(found.map_or(Atom::Bool(false), Atom::from_expr))
        })
    }
}
