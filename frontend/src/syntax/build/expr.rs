// SPDX-License-Identifier: Apache-2.0
//! Expressions: precedence climbing over the flat chains that the grammar delivers.

use super::super::advice::{BUILTINS, invocation_advice, operator_instead};
use super::super::grammar::{Pair, Rule, all, find};
use super::Builder;
use crate::ast::{BinaryOp, Expr, ExprKind, FoldOp, Ident, Item, Property, Subscript, UnaryOp};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{BUILTIN_NAME, SYNTAX};
use crate::source::Span;

/// The digits of `i64::MIN`: one more than the largest int.
const SMALLEST_MAGNITUDE: &str = "9223372036854775808";

/// The precedence of an operator: `=>` 1, logical 2, comparisons 3, min max 4, `+ -` 5, `* / % \` 6, `**` 8. Unary
/// operators are between the last two.
const POWER: u8 = 8;

/// The operator between two operands.
#[derive(Clone, Copy)]
enum Infix {
    Binary(BinaryOp),
    Is,
    In,
}

/// One element of a chain after its first operand.
enum Link<'t> {
    Infix(Infix, Pair<'t>),
    Fold { op: FoldOp, cumulative: bool, end: Span },
}

/// The precedence of an infix operator or a fold.
pub(crate) fn precedence(op: &str) -> u8 {
    match op {
        "=>" => 1,
        "&&" | "||" | "^" => 2,
        "<<" | ">>" | "<?" | ">?" => 4,
        "+" | "-" => 5,
        "*" | "/" | "\\" | "%" => 6,
        "**" => POWER,
        _ => 3,
    }
}

fn infix(text: &str) -> Option<Infix> {
    use BinaryOp::*;
    Some(Infix::Binary(match text {
        "=>" => Implies,
        "&&" => And,
        "||" => Or,
        "^" => Xor,
        "<" => Lt,
        "<=" => Le,
        ">" => Gt,
        ">=" => Ge,
        "==" => Eq,
        "!=" => Ne,
        "is" => return Some(Infix::Is),
        "in" => return Some(Infix::In),
        "<<" | "<?" => Min,
        ">>" | ">?" => Max,
        "+" => Add,
        "-" => Sub,
        "*" => Mul,
        "/" => Div,
        "\\" => CeilDiv,
        "%" => Mod,
        "**" => Pow,
        _ => return None,
    }))
}

fn fold_op(text: &str) -> Option<FoldOp> {
    use FoldOp::*;
    Some(match text {
        "&&" => And,
        "||" => Or,
        "<" => Lt,
        "<=" => Le,
        ">" => Gt,
        ">=" => Ge,
        "==" => Eq,
        "!=" => Ne,
        ":=" => Uniform,
        "<<" | "<?" => Min,
        ">>" | ">?" => Max,
        "+" => Add,
        "*" => Mul,
        _ => return None,
    })
}

impl Builder<'_> {
    pub(super) fn error_expr(&self, span: Span) -> Expr {
        Expr { kind: ExprKind::Error, span }
    }

    /// The first direct child that is an expression.
    pub(super) fn first_expr(&mut self, pair: &Pair) -> Expr {
        match self.optional_expr(pair) {
            Some(expr) => expr,
            None => self.error_expr(self.span(pair)),
        }
    }

    pub(super) fn optional_expr(&mut self, pair: &Pair) -> Option<Expr> {
        find(pair, Rule::expr).map(|p| self.expr(&p))
    }

    /// The expression in a part of a rule, if there is this part.
    pub(super) fn expr_in(&mut self, pair: &Pair, within: Rule) -> Option<Expr> {
        find(pair, within).and_then(|p| self.optional_expr(&p))
    }

    /// All direct children that are expressions.
    pub(super) fn exprs(&mut self, pair: &Pair) -> Vec<Expr> {
        all(pair, Rule::expr).map(|p| self.expr(&p)).collect()
    }

    /// Rule `expr`.
    pub(super) fn expr(&mut self, pair: &Pair) -> Expr {
        let mut inner = pair.clone().into_inner();
        let Some(chain) = inner.next() else {
            return self.error_expr(self.span(pair));
        };
        let first = self.chain(&chain);
        let Some(tail) = inner.next() else {
            return first;
        };
        let mut branches = self.exprs(&tail).into_iter();
        let Some(second) = branches.next() else {
            return self.error_expr(self.span(pair));
        };
        let otherwise = branches.next();
        let span = first.span.to(otherwise.as_ref().map_or(second.span, |o| o.span));
        let kind = match tail.as_rule() {
            Rule::coalesce => ExprKind::Coalesce { value: Box::new(first), fallback: Box::new(second) },
            _ => ExprKind::Select {
                condition: Box::new(first),
                then: Box::new(second),
                otherwise: otherwise.map(Box::new),
            },
        };
        Expr { kind, span }
    }

    fn chain(&mut self, pair: &Pair) -> Expr {
        let mut inner = pair.clone().into_inner();
        let Some(first) = inner.next() else {
            return self.error_expr(self.span(pair));
        };
        let mut links = Vec::new();
        while let Some(next) = inner.next() {
            match next.as_rule() {
                Rule::fold => links.push(self.fold(&next)),
                Rule::infix => {
                    self.mark_infix(&next);
                    if let (Some(op), Some(operand)) = (infix(next.as_str()), inner.next()) {
                        links.push((Link::Infix(op, operand), precedence(next.as_str())));
                    }
                }
                _ => {}
            }
        }
        let mut links = links.into_iter().peekable();
        self.climb(&first, &mut links, 0)
    }

    fn mark_infix(&mut self, pair: &Pair) {
        let span = self.span(pair);
        match pair.as_str() {
            text @ ("<<" | ">>") => self.mark_draft(span, text),
            text @ ("<?" | ">?") => self.mark_khronos(span, text),
            _ => {}
        }
    }

    fn fold<'t>(&mut self, pair: &Pair<'t>) -> (Link<'t>, u8) {
        let op = find(pair, Rule::fold_op);
        op.iter().for_each(|op| self.mark_infix(op));
        let text = op.map_or("", |op| op.as_str());
        let mut cumulative = find(pair, Rule::ellipsis).is_some();
        let Some(op) = fold_op(text) else { unreachable!("internal compiler error: the fold `{text}`") };
        let end = self.span(pair);
        if cumulative
            && !matches!(op, FoldOp::Add | FoldOp::Mul | FoldOp::And | FoldOp::Or | FoldOp::Min | FoldOp::Max)
        {
            let message = format!("`{text}` has no cumulative fold");
            let help = format!("write two dots for a plain fold: `{text} ..`");
            let dot = Span { start: end.end.saturating_sub(1), ..end };
            self.sink.report(Diagnostic::error(&SYNTAX, end, message).with_fix(help, dot, ""));
            cumulative = false;
        }
        (Link::Fold { op, cumulative, end }, precedence(text))
    }

    /// Precedence climbing: consumes the links of at least the precedence `least`. All levels are left-associative.
    /// [`super::super::nesting`] bounds the recursion.
    fn climb<'t>(
        &mut self,
        first: &Pair<'t>,
        links: &mut std::iter::Peekable<std::vec::IntoIter<(Link<'t>, u8)>>,
        least: u8,
    ) -> Expr {
        let mut left = self.prefixed(first, links);
        while let Some((link, binding)) = links.next_if(|(_, binding)| *binding >= least) {
            left = match link {
                Link::Infix(op, operand) => {
                    let right = self.climb(&operand, links, binding + 1);
                    let span = left.span.to(right.span);
                    let (left, right) = (Box::new(left), Box::new(right));
                    let kind = match op {
                        Infix::Binary(op) => ExprKind::Binary { op, left, right },
                        Infix::Is => ExprKind::Is { left, right },
                        Infix::In => ExprKind::In { item: left, pack: right },
                    };
                    Expr { kind, span }
                }
                Link::Fold { op, cumulative, end } => Expr {
                    span: left.span.to(end),
                    kind: ExprKind::Fold { pack: Box::new(left), op, cumulative },
                },
            };
        }
        left
    }

    /// An operand with its prefixes, which have a lower precedence than `**` and a higher one than the others.
    fn prefixed<'t>(
        &mut self,
        operand: &Pair<'t>,
        links: &mut std::iter::Peekable<std::vec::IntoIter<(Link<'t>, u8)>>,
    ) -> Expr {
        let mut prefixes: Vec<Pair> = all(operand, Rule::prefix).collect();
        let atom = find(operand, Rule::primary);
        let is_rest = |p: &Pair| matches!(p.as_rule(), Rule::index | Rule::substitute);
        let rest: Vec<Pair> = operand.clone().into_inner().filter(is_rest).collect();
        // The smallest int is the only number that fits only with its sign.
        let last = prefixes.last().filter(|p| p.as_str() == "-");
        let is_power = matches!(links.peek(), Some((Link::Infix(..), POWER)));
        let mut expr = match (atom, last) {
            (Some(primary), Some(sign))
                if primary.as_str().trim_end() == SMALLEST_MAGNITUDE && rest.is_empty() && !is_power =>
            {
                let span = self.span(sign).to(self.span(&primary));
                prefixes.pop();
                Expr { kind: ExprKind::Int(i64::MIN), span }
            }
            (Some(primary), _) => self.primary(&primary),
            (None, _) => self.error_expr(self.span(operand)),
        };
        expr = self.postfix(expr, rest);
        if prefixes.is_empty() {
            return expr;
        }
        while let Some((Link::Infix(_, right), _)) =
            links.next_if(|(link, b)| *b == POWER && matches!(link, Link::Infix(..)))
        {
            let right = self.prefixed(&right, links);
            expr = Expr {
                span: expr.span.to(right.span),
                kind: ExprKind::Binary { op: BinaryOp::Pow, left: Box::new(expr), right: Box::new(right) },
            };
        }
        for prefix in prefixes.iter().rev() {
            let span = self.span(prefix).to(expr.span);
            let operand = Box::new(expr);
            let kind = match prefix.as_str() {
                "?" => ExprKind::NullTest(operand),
                "!" => ExprKind::Unary { op: UnaryOp::Not, operand },
                "-" => ExprKind::Unary { op: UnaryOp::Minus, operand },
                _ => ExprKind::Unary { op: UnaryOp::Plus, operand },
            };
            expr = Expr { kind, span };
        }
        expr
    }

    fn postfix(&mut self, mut base: Expr, rest: Vec<Pair>) -> Expr {
        for pair in rest {
            let span = base.span.to(self.span(&pair));
            if pair.as_rule() == Rule::index {
                let (subscripts, trailing_comma) = self.subscripts(&pair);
                base =
                    Expr { kind: ExprKind::Index { base: Box::new(base), subscripts, trailing_comma }, span };
                continue;
            }
            let value = Box::new(self.first_expr(&pair));
            base = match base.kind {
                ExprKind::Index { base, mut subscripts, trailing_comma: false } if subscripts.len() == 1 => {
                    match subscripts.pop() {
                        Some(subscript) => Expr {
                            kind: ExprKind::Substitute { base, subscript: Box::new(subscript), value },
                            span,
                        },
                        None => self.error_expr(span),
                    }
                }
                _ => {
                    let message = "`<-` replaces items of a pack, so it needs exactly one index before it";
                    let help = "for a comparison with a negative number, write `< -` with a blank";
                    self.error_with_help(&SYNTAX, span, message, help);
                    self.error_expr(span)
                }
            };
        }
        base
    }

    /// Rule `index`: the subscripts and whether a comma follows the last.
    pub(super) fn subscripts(&mut self, pair: &Pair) -> (Vec<Subscript>, bool) {
        let subscripts: Vec<_> = all(pair, Rule::subscript).map(|p| self.subscript(&p)).collect();
        let trailing_comma = find(pair, Rule::trailing_comma).is_some();
        let full_slice = subscripts.iter().find_map(|subscript| match subscript {
            Subscript::Range { span, .. } => Some(*span),
            _ => None,
        });
        // A slice in a pack index is common to both editions, but not in a tensor index.
        if let Some(span) = full_slice
            && (subscripts.len() > 1 || trailing_comma)
        {
            self.mark_khronos(span, ":");
        }
        (subscripts, trailing_comma)
    }

    fn subscript(&mut self, pair: &Pair) -> Subscript {
        let span = self.span(pair);
        if let Some(guard) = find(pair, Rule::guard) {
            return self.guard(&guard);
        }
        let first = self.optional_expr(pair);
        if let Some(tail) = find(pair, Rule::slice_tail) {
            let end = self.expr_in(&tail, Rule::slice_end);
            let stride = self.expr_in(&tail, Rule::slice_stride);
            return Subscript::Range { begin: first, end, stride, span };
        }
        let value = first.unwrap_or_else(|| self.error_expr(span));
        match find(pair, Rule::expand) {
            Some(expand) => Subscript::Expand { value, count: self.optional_expr(&expand), span },
            None => Subscript::Expr(value),
        }
    }

    fn guard(&mut self, pair: &Pair) -> Subscript {
        let expand = find(pair, Rule::dots).is_some();
        let mut exprs = self.exprs(pair).into_iter();
        let span = self.span(pair);
        let index = exprs.next().unwrap_or_else(|| self.error_expr(span));
        Subscript::Guard { index, remap: exprs.next().zip(exprs.next()), expand, span }
    }

    fn primary(&mut self, pair: &Pair) -> Expr {
        let span = self.span(pair);
        let Some(inner) = pair.clone().into_inner().next() else {
            return self.error_expr(span);
        };
        let kind = match inner.as_rule() {
            Rule::number => self.number(&inner),
            Rule::boolean => ExprKind::Bool(inner.as_str() == "true"),
            Rule::named_real => ExprKind::Real(match inner.as_str() {
                "pi" => std::f64::consts::PI,
                _ => f64::INFINITY,
            }),
            Rule::string => {
                let literal = self.string(&inner);
                return Expr { span: literal.span, kind: ExprKind::Str(literal) };
            }
            Rule::tuple => return self.parenthesized(&inner),
            Rule::list => ExprKind::List(all(&inner, Rule::item).map(|p| self.item(&p)).collect()),
            Rule::builtin => {
                let name = self.first_ident(&inner);
                self.mark_draft(span, &format!("`{}`", name.name));
                if !BUILTINS.contains(&name.name.as_str()) {
                    self.unknown_builtin(&name);
                }
                let mut arguments = self.exprs(&inner).into_iter();
                let argument = arguments.next();
                let argument = argument.unwrap_or_else(|| self.error_expr(span));
                if let Some(second) = arguments.next() {
                    let message = format!("`` `{}` `` takes one argument", name.name);
                    let diagnostic = Diagnostic::error(&SYNTAX, second.span, message);
                    // An unknown function has been reported.
                    if BUILTINS.contains(&name.name.as_str()) {
                        self.sink.report(diagnostic);
                    }
                }
                ExprKind::Builtin { name, argument: Box::new(argument) }
            }
            Rule::call => self.call(&inner, span),
            Rule::guarded => {
                let mut exprs = self.exprs(&inner).into_iter();
                let index = exprs.next().unwrap_or_else(|| self.error_expr(span));
                ExprKind::Guard {
                    index: Box::new(index),
                    remap: exprs.next().zip(exprs.next()).map(Box::new),
                }
            }
            _ => self.dotted(&inner, span),
        };
        Expr { kind, span }
    }

    fn unknown_builtin(&mut self, name: &Ident) {
        let message = format!("there is no built-in function `{}`", name.name);
        let diagnostic = Diagnostic::error(&BUILTIN_NAME, name.span, message);
        let known = "the built-in functions are";
        self.sink.report(match operator_instead(&name.name) {
            Some(operator) => diagnostic.with_help(operator),
            None => diagnostic.with_names(&name.name, known, &BUILTINS),
        });
    }

    /// The span of an expression includes its parentheses.
    fn parenthesized(&mut self, pair: &Pair) -> Expr {
        let span = self.span(pair);
        let mut exprs = self.exprs(pair);
        match (exprs.pop(), exprs.is_empty()) {
            (Some(only), true) => Expr { kind: only.kind, span },
            _ => {
                let help =
                    "a list is written between brackets, `[a, b]`; packs are interleaved by `[(a, b)..]`";
                let message = "a tuple can only occur in a list, to interleave packs";
                self.error_with_help(&SYNTAX, span, message, help);
                self.error_expr(span)
            }
        }
    }

    fn call(&mut self, pair: &Pair, span: Span) -> ExprKind {
        let target = self.first_ident(pair);
        let mut arguments = self.exprs(pair);
        match (arguments.pop(), arguments.is_empty()) {
            (None, _) => ExprKind::Default(target),
            (Some(value), true) => {
                let value = Box::new(value);
                if BUILTINS.contains(&target.name.as_str()) {
                    self.mark_khronos(target.span, &target.name);
                    ExprKind::Builtin { name: target, argument: value }
                } else {
                    ExprKind::Cast { target, value }
                }
            }
            (Some(_), false) => {
                let message = format!("`{}` is invoked inside an expression", target.name);
                let help = invocation_advice(&target.name);
                self.error_with_help(&SYNTAX, span, message, help);
                ExprKind::Error
            }
        }
    }

    fn dotted(&mut self, pair: &Pair, span: Span) -> ExprKind {
        let mut names = self.idents(pair).into_iter();
        let Some(base) = names.next() else {
            return ExprKind::Error;
        };
        let Some(second) = names.next() else {
            return ExprKind::Name(base);
        };
        let property = match second.name.as_str() {
            "shape" => Some(Property::Shape),
            "rank" => Some(Property::Rank),
            "size" => Some(Property::Size),
            _ => None,
        };
        match (property, names.next()) {
            (Some(property), None) => ExprKind::Property { base, property },
            _ => {
                let message = format!("`{}` has no property that an expression can use", base.name);
                let help = "there are `.shape`, `.rank` and `.size`; scoped names of tensors occur in @quantize only, and operators of a module are invoked in separate statements";
                self.error_with_help(&SYNTAX, span, message, help);
                ExprKind::Error
            }
        }
    }

    fn item(&mut self, pair: &Pair) -> Item {
        let span = self.span(pair);
        let mut inner = pair.clone().into_inner();
        let (Some(head), tail) = (inner.next(), inner.next()) else {
            return Item::Expr(self.error_expr(span));
        };
        match tail {
            Some(tail) if tail.as_rule() == Rule::range_tail => {
                let begin = self.expr(&head);
                let mut rest = self.exprs(&tail).into_iter();
                Item::Range {
                    begin,
                    end: rest.next().unwrap_or_else(|| self.error_expr(span)),
                    stride: rest.next(),
                    span,
                }
            }
            Some(tail) => {
                if let Some(packs) = zipped(&head) {
                    let packs = self.exprs(&packs);
                    let count = self.optional_expr(&tail);
                    return Item::Zip { packs, count, span };
                }
                let value = self.expr(&head);
                let count = self.optional_expr(&tail);
                Item::Expand { value, count, span }
            }
            None => Item::Expr(self.expr(&head)),
        }
    }
}

/// The tuple of at least two parts that an expression consists of, if it does.
fn zipped<'t>(expr: &Pair<'t>) -> Option<Pair<'t>> {
    let mut pair = expr.clone();
    loop {
        let mut inner = pair.into_inner();
        let only = inner.next()?;
        if inner.next().is_some() {
            return None;
        }
        if only.as_rule() == Rule::tuple {
            return (all(&only, Rule::expr).count() > 1).then_some(only);
        }
        if !matches!(only.as_rule(), Rule::chain | Rule::operand | Rule::primary) {
            return None;
        }
        pair = only;
    }
}
