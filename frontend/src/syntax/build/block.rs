// SPDX-License-Identifier: Apache-2.0
//! Imports, helpers, assertions, quantization.

use super::super::grammar::{Pair, Rule, all, find};
use super::Builder;
use crate::ast::{
    AssertedValue, Assertion, AttributeAssignment, Expr, ExprKind, Ident, Import, Quantization,
    StringLiteral, Using,
};

impl Builder<'_> {
    /// One entry per imported module.
    pub(in super::super) fn imports(&mut self, pair: &Pair, misplaced: bool) -> Vec<Import> {
        let span = self.span(pair);
        let paths: Vec<_> = all(pair, Rule::path).map(|p| self.path(&p)).collect();
        if let Some(second) = paths.get(1) {
            self.mark_khronos(second.span, "import …, …");
        }
        paths.into_iter().map(|path| Import { path, misplaced, span }).collect()
    }

    pub(in super::super) fn using(&mut self, pair: &Pair) -> Option<Using> {
        Some(Using {
            target: pair.clone().into_inner().next().and_then(|p| self.target(&p))?,
            value: self.first_expr(pair),
            span: self.span(pair),
        })
    }

    pub(in super::super) fn assertion(&mut self, pair: &Pair) -> Assertion {
        let mut condition = self.first_expr(pair);
        let message = find(pair, Rule::string).map(|p| self.string(&p));
        let values = all(pair, Rule::asserted).map(|p| AssertedValue {
            label: find(&p, Rule::string).map(|p| self.string(&p)),
            value: self.first_expr(&p),
        });
        let values: Vec<AssertedValue> = values.collect();
        let message = message.or_else(|| take_message(&mut condition));
        let span = self.span(pair);
        if let (None, Some(first)) = (&message, values.first()) {
            let message = "values to print follow a message, which is missing";
            let help = "write `condition: \"message\", value, …;`";
            self.error_with_help(&crate::diagnostics::codes::SYNTAX, first.value.span, message, help);
            // The expression in the position of the condition may be anything.
            condition = self.error_expr(span);
        }
        Assertion { condition, message, values, span }
    }

    pub(in super::super) fn quantization(&mut self, pair: &Pair) -> Option<Quantization> {
        let mut paths = all(pair, Rule::path);
        Some(Quantization {
            tensor: self.path(&paths.next()?),
            operator: self.path(&paths.next()?),
            types: self.type_arguments(pair),
            attributes: self.attributes(pair),
            span: self.span(pair),
        })
    }

    /// The type arguments of an invocation or a quantization.
    pub(super) fn type_arguments(&mut self, pair: &Pair) -> Vec<Ident> {
        find(pair, Rule::type_arguments).map_or_else(Vec::new, |p| self.idents(&p))
    }

    /// The attributes of an invocation or a quantization.
    pub(super) fn attributes(&mut self, pair: &Pair) -> Vec<AttributeAssignment> {
        let Some(pair) = find(pair, Rule::attributes) else { return Vec::new() };
        let assignments = all(&pair, Rule::attribute).map(|pair| AttributeAssignment {
            name: self.first_ident(&pair),
            value: self.first_expr(&pair),
            span: self.span(&pair),
        });
        let attributes = assignments.collect();
        if let Some(comma) = find(&pair, Rule::attributes_comma) {
            let span = self.span(&comma);
            self.mark_khronos(span, ",}");
        }
        attributes
    }
}

/// Splits the message from the condition of an assertion: after `c ? a` and after `d ? e : c ? a`, `: "text"` is the
/// message and not the third operand.
fn take_message(condition: &mut Expr) -> Option<StringLiteral> {
    let ExprKind::Select { then, otherwise, .. } = &mut condition.kind else {
        return None;
    };
    let last = otherwise.as_mut()?;
    if let ExprKind::Str(text) = &last.kind {
        let text = text.clone();
        *otherwise = None;
        condition.span.end = then.span.end;
        return Some(text);
    }
    let message = take_message(last)?;
    condition.span.end = last.span.end;
    Some(message)
}
