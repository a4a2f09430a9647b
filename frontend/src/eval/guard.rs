// SPDX-License-Identifier: Apache-2.0
//! Guarded indices, `|i|` and `|i <> a : b|` (2.12).

use std::rc::Rc;

use super::evaluator::Evaluator;
use super::series::refused;
use super::stop::EvalResult;
use super::value::{Atom, Guarded, Value};
use crate::ast::Expr;
use crate::source::Span;

impl Evaluator<'_> {
    pub(super) fn guard(&mut self, index: &Expr, remap: Option<&(Expr, Expr)>) -> EvalResult<Value> {
        let location = index.span;
        let index = self.eval(index)?;
        if let Value::Atom(Atom::Series(_)) = index {
            return refused("its items cannot be guarded", location);
        }
        match remap {
            None => self.map(&index, |_, index| Ok(Atom::Guarded(Rc::new(Guarded { index, remap: None })))),
            Some((low, high)) => {
                let span = low.span.to(high.span);
                let low = self.eval(low)?;
                let high = self.eval(high)?;
                let pairs = self.zip_values(&low, &high, &index, span)?;
                self.pack_guards(&index, pairs)
            }
        }
    }

    fn zip_values(
        &mut self,
        low: &Value,
        high: &Value,
        index: &Value,
        span: Span,
    ) -> EvalResult<Vec<(Atom, Atom)>> {
        let length = match (index, low, high) {
            (Value::Pack(p), _, _) | (_, Value::Pack(p), _) | (_, _, Value::Pack(p)) => p.len(),
            _ => 1,
        };
        let low = self.spread(low.clone(), length, span)?;
        let high = self.spread(high.clone(), length, span)?;
        Ok(low.atoms().iter().cloned().zip(high.atoms().iter().cloned()).collect())
    }

    fn pack_guards(&mut self, index: &Value, pairs: Vec<(Atom, Atom)>) -> EvalResult<Value> {
        let mut pairs = pairs.into_iter();
        // Its items differ by their replacements, so it is not a repetition any more.
        let index = match index {
            Value::Pack(pack) => Value::pack(pack.items.to_vec()),
            other => other.clone(),
        };
        self.map(&index, |_, index| Ok(Atom::Guarded(Rc::new(Guarded { index, remap: pairs.next() }))))
    }
}
