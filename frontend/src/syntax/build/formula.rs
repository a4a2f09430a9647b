// SPDX-License-Identifier: Apache-2.0
//! Formulas of `@lower` (2.12).

use super::super::grammar::{Pair, Rule};
use super::Builder;
use crate::ast::{AccessTarget, Expr, Ident, Lowering, LoweringOp, Subscript};
use crate::diagnostics::codes::SYNTAX;

impl Builder<'_> {
    pub(in super::super) fn lowering(&mut self, pair: &Pair) -> Option<Lowering> {
        let span = self.span(pair);
        let mut unroll = None;
        let mut locals = Vec::new();
        let mut target = None;
        let mut op = None;
        let mut bounds = Vec::new();
        let mut condition = None;
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::count => unroll = Some(self.count(&child)),
                Rule::local => {
                    let local = self.locals(&child);
                    if let Some((name, _)) = local.first() {
                        self.mark_draft(name.span, &format!("{} = …,", name.name));
                    }
                    locals.extend(local);
                }
                Rule::with_locals => {
                    let word = self.span(&child);
                    self.mark_khronos(word, "with");
                    locals.extend(self.locals(&child));
                }
                Rule::access => target = Some(self.access(&child)),
                Rule::lowering_op => op = Some(self.lowering_op(&child)),
                Rule::loop_bound => bounds.push(self.loop_bound(&child)),
                Rule::formula_condition => condition = self.optional_expr(&child),
                _ => {}
            }
        }
        let (op, op_span) = op?;
        Some(Lowering {
            unroll,
            locals,
            target: target?,
            op,
            op_span,
            value: self.first_expr(pair),
            bounds,
            condition,
            span,
        })
    }

    fn locals(&mut self, pair: &Pair) -> Vec<(Ident, Expr)> {
        let mut locals = Vec::new();
        for child in pair.clone().into_inner() {
            if child.as_rule() == Rule::local_pair {
                locals.push((self.first_ident(&child), self.first_expr(&child)));
            }
        }
        locals
    }

    fn lowering_op(&mut self, pair: &Pair) -> (LoweringOp, crate::source::Span) {
        let span = self.span(pair);
        let op = match pair.as_str() {
            ":=" => LoweringOp::Replace,
            "+=" => LoweringOp::Sum,
            "*=" => LoweringOp::Product,
            "&=" => LoweringOp::All,
            "|=" => LoweringOp::Any,
            text @ ("<=" | ">=") => {
                self.mark_draft(span, text);
                if text == "<=" { LoweringOp::Min } else { LoweringOp::Max }
            }
            text @ ("<?=" | ">?=") => {
                self.mark_khronos(span, text);
                if text == "<?=" { LoweringOp::Min } else { LoweringOp::Max }
            }
            _ => LoweringOp::Assign,
        };
        (op, span)
    }

    /// `y[i,]` or `ys[k][i,]`: of two brackets, the first selects an item of a pack.
    fn access(&mut self, pair: &Pair) -> AccessTarget {
        let span = self.span(pair);
        let mut brackets = Vec::new();
        for child in pair.clone().into_inner() {
            if child.as_rule() == Rule::index {
                brackets.push((self.subscripts(&child), self.span(&child)));
            }
        }
        let last = brackets.pop();
        let item = brackets.pop().map(|((mut subscripts, comma), location)| {
            match (subscripts.pop(), subscripts.is_empty(), comma) {
                (Some(Subscript::Expr(expr)), true, false) => expr,
                _ => {
                    self.error_with_help(
                        &SYNTAX,
                        location,
                        "the first of two brackets picks one item of a pack",
                        "write one index in it: `ys[k][i,j]`",
                    );
                    self.error_expr(location)
                }
            }
        });
        let (subscripts, trailing_comma) = last.map_or((Vec::new(), false), |(s, _)| s);
        AccessTarget { name: self.first_ident(pair), item, subscripts, trailing_comma, span }
    }
}
