// SPDX-License-Identifier: Apache-2.0
//! Broadcasting of single values to packs (2.4).

use super::evaluator::Evaluator;
use super::series::{Series, refused};
use super::stop::{EvalResult, Stop, stop};
use super::value::{Atom, Pack, Value};
use crate::ast::{Expr, ExprKind};
use crate::diagnostics::codes::{PACK_TOO_LONG, UNEXPECTED_VALUE};
use crate::source::Span;

impl Evaluator<'_> {
    /// A pack of `length` items; a single value is repeated.
    pub(crate) fn spread(&mut self, value: Value, length: usize, span: Span) -> EvalResult<Value> {
        match value {
            Value::Null => Ok(Value::Null),
            Value::Atom(atom) => self.repeat(atom, length, span),
            Value::Pack(pack) if pack.len() == length => Ok(Value::Pack(pack)),
            Value::Pack(pack) => self.lengths(length, pack.len(), span),
        }
    }

    pub(crate) fn repeat(&self, atom: Atom, length: usize, span: Span) -> EvalResult<Value> {
        if let Atom::Series(_) | Atom::Stack(_) | Atom::DynamicPack(_) = atom {
            return refused("it cannot replace a pack of static length", span);
        }
        self.check_length(length, span)?;
        Ok(Value::Pack(Pack { repeated: Some(Box::new(atom.clone())), ..Pack::new(vec![atom; length]) }))
    }

    pub(crate) fn check_length(&self, length: usize, span: Span) -> EvalResult<()> {
        if length > self.limits.pack_length {
            return stop(
                &PACK_TOO_LONG,
                span,
                format!(
                    "a pack of {length} items is longer than {} (limit `pack_length`)",
                    self.limits.pack_length
                ),
            );
        }
        Ok(())
    }

    /// As many items as an int or a dynamic extent states.
    pub(crate) fn repeat_by(&self, atom: Atom, length: Value, span: Span) -> EvalResult<Option<Value>> {
        if let Value::Atom(Atom::Run(length)) = &length {
            let item = atom.to_expr();
            return Ok(item.map(|item| Series::uniform(item, (**length).clone()).into_value()));
        }
        match Evaluator::int_of(length, span)? {
            Some(length) => self.repeat(atom, self.length(length, span)?, span).map(Some),
            None => Ok(None),
        }
    }

    /// The result for an operand whose other operand is not evaluated and need not have a value: a single value is
    /// repeated for every item of the pack that the other one would be.
    pub(super) fn beside(&mut self, taken: Value, other: &Expr, span: Span) -> EvalResult<Value> {
        let atom = match &taken {
            Value::Atom(atom) if !is_single(other) => atom.clone(),
            _ => return Ok(taken),
        };
        if let Atom::Series(_) | Atom::Stack(_) | Atom::DynamicPack(_) | Atom::Poison = atom {
            return Ok(taken);
        }
        let length = match self.aside(|this| this.eval(other)) {
            Ok(Value::Null) => self.null_length(other),
            Ok(value) => value.item_count(),
            Err(_) => None,
        };
        let spread = match length {
            Some(length) => self.repeat_by(atom, length, span)?,
            None => None,
        };
        Ok(spread.unwrap_or(taken))
    }

    /// `value ?? fallback` for a known value.
    pub(super) fn given_or(
        &mut self,
        given: Value,
        value: &Expr,
        fallback: &Expr,
        span: Span,
    ) -> EvalResult<Value> {
        let (taken, other) = match given {
            Value::Null => (self.eval(fallback)?, value),
            given => (given, fallback),
        };
        self.beside(taken, other, span)
    }

    /// The number of items that a null expression would have, as far as names in it determine it.
    fn null_length(&self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            ExprKind::Name(name) => self.scope.null_length(&name.name).cloned(),
            ExprKind::Unary { operand: only, .. }
            | ExprKind::Cast { value: only, .. }
            | ExprKind::Builtin { argument: only, .. } => self.null_length(only),
            ExprKind::Binary { left, right, .. } => {
                self.null_length(left).or_else(|| self.null_length(right))
            }
            _ => None,
        }
    }
}

/// Rejects a single value where items are needed. Valid documents have one there only for a pack of unknown length, as
/// in `op ?? 1`.
pub(crate) fn stands_for_a_pack<T>(atom: &Atom, span: Span) -> EvalResult<T> {
    if let Atom::Poison = atom {
        return Err(Stop::Poison);
    }
    let (text, kind) = (atom.text(), atom.describe());
    stop(
        &UNEXPECTED_VALUE,
        span,
        format!(
            "expected a pack, found a single {kind} in place of a pack of unknown length; write a list, `[{text}]`, or \
             name the length of the null pack, `..(n)`"
        ),
    )
}

/// Whether the syntax of an expression shows that it is not a pack.
fn is_single(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_)
        | ExprKind::Real(_)
        | ExprKind::Bool(_)
        | ExprKind::Str(_)
        | ExprKind::Default(_)
        | ExprKind::NullTest(_) => true,
        ExprKind::Fold { cumulative, .. } => !cumulative,
        ExprKind::Unary { operand: only, .. }
        | ExprKind::Cast { value: only, .. }
        | ExprKind::Builtin { argument: only, .. } => is_single(only),
        ExprKind::Binary { left, right, .. } => is_single(left) && is_single(right),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires, with_symbols};
    use crate::diagnostics::codes::{ASSERTION_FAILED, UNEXPECTED_VALUE};

    fn asserted(lines: &str, condition: &str) -> String {
        with_symbols(lines)
            .replace("@lower", &format!("@assert {{ {condition}; }} @lower"))
            .replace("@attrib {", "@attrib { op: optional int..; oq: optional int..(n);")
    }

    /// The operand that is not selected determines the number of items.
    #[test]
    fn s2_4_single_values_are_taken_beside_packs() {
        let lines = "q = [4, 5, 6]; t = k == 3;";
        for condition in [
            "((t ? k : q) + ..) == 9",
            "(t ? k : q)[0] == 3",
            "[(t ? k : q)..] is [3, 3, 3]",
            "((!t ? q : k) + ..) == 9",
            "((!t ? k : q) + ..) == 15",
            "((t ? k : q[3:]) + ..) == 0",
            "((!t ? q : t ? k : [1, 2]) + ..) == 6",
            "((oq ?? k) is [3, 3]) && ..",
            "(`abs`(oq * 2 - 1) ?? k)[1] == 3",
            "(op ?? k) == 3",
            "(t ? k : 6 / (k - 3)) == 3",
        ] {
            assert_composes(&asserted(lines, condition));
        }
        assert_fires(&ASSERTION_FAILED, &asserted(lines, "((t ? k : q) + ..) == 3"));
        for unknown in ["((op ?? k) + ..) == 3", "(op ?? k)[0] == 3", "[(op ?? k)..] is [3]"] {
            assert_fires(&UNEXPECTED_VALUE, &asserted(lines, unknown));
        }
        let apart = asserted("[a, b..] = op ?? k;", "a == 3");
        assert_fires(&UNEXPECTED_VALUE, &apart);
        for known in ["((op ?? [k]) + ..) == 3", "(oq ?? k)[0] == 3", "[(oq ?? k)..] is [3, 3]"] {
            assert_composes(&asserted(lines, known));
        }
    }
}
