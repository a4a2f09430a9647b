// SPDX-License-Identifier: Apache-2.0
//! Formulas of `@lower` (2.12).

use super::super::grammar::{Pair, Rule, all, find};
use super::Builder;
use crate::ast::{AccessTarget, Expr, Ident, Lowering, LoweringOp, Subscript};
use crate::diagnostics::codes::SYNTAX;

impl Builder<'_> {
    pub(in super::super) fn lowering(&mut self, pair: &Pair) -> Option<Lowering> {
        let unroll = find(pair, Rule::count).map(|p| self.count(&p));
        let mut locals = Vec::new();
        for local in all(pair, Rule::local) {
            let local = self.locals(&local);
            if let Some((name, _)) = local.first() {
                self.mark_draft(name.span, &format!("{} = …,", name.name));
            }
            locals.extend(local);
        }
        if let Some(clause) = find(pair, Rule::with_locals) {
            let word = self.span(&clause);
            self.mark_khronos(word, "with");
            locals.extend(self.locals(&clause));
        }
        let target = find(pair, Rule::access).map(|p| self.access(&p))?;
        let (op, op_span) = find(pair, Rule::lowering_op).map(|p| self.lowering_op(&p))?;
        Some(Lowering {
            unroll,
            locals,
            target,
            op,
            op_span,
            value: self.first_expr(pair),
            bounds: self.loop_bounds(pair),
            condition: self.expr_in(pair, Rule::formula_condition),
            span: self.span(pair),
        })
    }

    fn locals(&mut self, pair: &Pair) -> Vec<(Ident, Expr)> {
        all(pair, Rule::local_pair).map(|p| (self.first_ident(&p), self.first_expr(&p))).collect()
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
        let brackets = all(pair, Rule::index).map(|p| (self.subscripts(&p), self.span(&p)));
        let mut brackets: Vec<_> = brackets.collect();
        let last = brackets.pop();
        let item = brackets.pop().map(|((mut subscripts, comma), location)| {
            match (subscripts.pop(), subscripts.is_empty(), comma) {
                (Some(Subscript::Expr(expr)), true, false) => expr,
                _ => {
                    let message = "the first of two brackets picks one item of a pack";
                    let help = "write one index in it: `ys[k][i,j]`";
                    self.error_with_help(&SYNTAX, location, message, help);
                    self.error_expr(location)
                }
            }
        });
        let (subscripts, trailing_comma) = last.map_or((Vec::new(), false), |(s, _)| s);
        AccessTarget { name: self.first_ident(pair), item, subscripts, trailing_comma, span }
    }
}
