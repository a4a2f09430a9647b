// SPDX-License-Identifier: Apache-2.0
//! Imports, helpers, assertions, quantization.

use super::super::grammar::{Pair, Rule};
use super::Builder;
use crate::ast::{
    AssertedValue, Assertion, AttributeAssignment, Expr, ExprKind, Ident, Import, Quantization,
    StringLiteral, Target, Using,
};

impl Builder<'_> {
    /// One entry per imported module.
    pub(in super::super) fn imports(&mut self, pair: &Pair, misplaced: bool) -> Vec<Import> {
        let span = self.span(pair);
        let mut imports = Vec::new();
        for child in pair.clone().into_inner() {
            if child.as_rule() == Rule::path {
                let path = self.path(&child);
                if imports.len() == 1 {
                    self.mark_khronos(path.span, "import …, …");
                }
                imports.push(Import { path, misplaced, span });
            }
        }
        imports
    }

    pub(in super::super) fn using(&mut self, pair: &Pair) -> Using {
        let target = pair.clone().into_inner().next().and_then(|p| self.target(&p));
        let span = self.span(pair);
        Using {
            target: target.unwrap_or(Target::List { items: Vec::new(), span }),
            value: self.first_expr(pair),
            span,
        }
    }

    pub(in super::super) fn assertion(&mut self, pair: &Pair) -> Assertion {
        let mut condition = None;
        let mut message = None;
        let mut values = Vec::new();
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::expr => condition = Some(self.expr(&child)),
                Rule::string => message = Some(self.string(&child)),
                Rule::asserted => values.push(self.asserted(&child)),
                _ => {}
            }
        }
        let span = self.span(pair);
        let mut condition = condition.unwrap_or_else(|| self.error_expr(span));
        if message.is_none() {
            message = take_message(&mut condition);
        }
        if let (None, Some(first)) = (&message, values.first()) {
            self.error_with_help(
                &crate::diagnostics::codes::SYNTAX,
                first.value.span,
                "values to print follow a message, and there is none",
                "write `condition: \"message\", value, …;`",
            );
            // The expression in the position of the condition may be anything.
            condition = self.error_expr(span);
        }
        Assertion { condition, message, values, span }
    }

    fn asserted(&mut self, pair: &Pair) -> AssertedValue {
        let label = pair.clone().into_inner().find(|p| p.as_rule() == Rule::string);
        AssertedValue { label: label.map(|p| self.string(&p)), value: self.first_expr(pair) }
    }

    pub(in super::super) fn quantization(&mut self, pair: &Pair) -> Option<Quantization> {
        let mut paths = Vec::new();
        let mut types = Vec::new();
        let mut attributes = Vec::new();
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::path => paths.push(self.path(&child)),
                Rule::type_arguments => types = self.type_arguments(&child),
                Rule::attributes => attributes = self.attributes(&child),
                _ => {}
            }
        }
        let mut paths = paths.into_iter();
        Some(Quantization {
            tensor: paths.next()?,
            operator: paths.next()?,
            types,
            attributes,
            span: self.span(pair),
        })
    }

    pub(super) fn type_arguments(&mut self, pair: &Pair) -> Vec<Ident> {
        self.idents(pair)
    }

    pub(super) fn attributes(&mut self, pair: &Pair) -> Vec<AttributeAssignment> {
        let mut attributes = Vec::new();
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::attribute => attributes.push(AttributeAssignment {
                    name: self.first_ident(&child),
                    value: self.first_expr(&child),
                    span: self.span(&child),
                }),
                Rule::attributes_comma => {
                    let span = self.span(&child);
                    self.mark_khronos(span, ",}");
                }
                _ => {}
            }
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
