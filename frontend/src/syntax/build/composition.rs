// SPDX-License-Identifier: Apache-2.0
//! Compositions and control flow (2.10).

use super::super::grammar::{Pair, Rule, all, find};
use super::super::token::{Token, TokenKind, scan};
use super::Builder;
use crate::ast::{
    Argument, Block, Branching, Carried, Component, ComponentValue, Invocation, IterationCount, Loop, Path,
    Scan, Target, TargetItem,
};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{SYNTAX, YIELD};
use crate::source::Span;

/// The error for a type argument without `>` after the name of an operator.
pub(crate) fn open_type_list(behind: Span, operator: (Span, &str), ty: &str) -> Diagnostic {
    let (location, name) = operator;
    Diagnostic::error(&SYNTAX, behind, "`>` is missing here")
        .with_label_at(location, format!("`{name}` is an operator"))
        .with_fix(format!("write `{name}<{ty}>(…)`"), behind, ">")
}

impl Builder<'_> {
    /// Rule `component_entry`.
    pub(in super::super) fn component_entry(&mut self, pair: &Pair) -> Option<Component> {
        find(pair, Rule::component).map(|p| self.component(&p))
    }

    fn component(&mut self, pair: &Pair) -> Component {
        let span = self.span(pair);
        let targets = all(pair, Rule::target).filter_map(|p| self.target(&p)).collect();
        let value = find(pair, Rule::value).map(|p| self.value(&p));
        Component { targets, value: value.unwrap_or(ComponentValue::Error(span)), span }
    }

    /// The left-hand side of a component or a helper.
    pub(super) fn target(&mut self, pair: &Pair) -> Option<Target> {
        match pair.as_rule() {
            Rule::target => self.target(&pair.clone().into_inner().next()?),
            Rule::target_list | Rule::using_list => {
                let items = pair.clone().into_inner().filter_map(|p| self.target_item(&p)).collect();
                Some(Target::List { items, span: self.span(pair) })
            }
            _ => self.target_item(pair).map(Target::Item),
        }
    }

    fn target_item(&mut self, pair: &Pair) -> Option<TargetItem> {
        let span = self.span(pair);
        Some(match pair.as_rule() {
            Rule::target_item => return self.target_item(&pair.clone().into_inner().next()?),
            Rule::target_name | Rule::using_item => {
                let type_spec = find(pair, Rule::type_spec).map(|p| self.type_spec(&p));
                let pack = find(pair, Rule::pack_spec).map(|p| self.pack_spec(&p));
                TargetItem::Name {
                    pack: pack.or_else(|| type_spec.as_ref().and_then(|t| t.pack.clone())),
                    type_spec,
                    name: self.first_ident(pair),
                    span,
                }
            }
            Rule::target_zip | Rule::using_zip => {
                let pack = find(pair, Rule::pack_spec).map(|p| self.pack_spec(&p));
                TargetItem::Zip { names: self.idents(pair), pack, span }
            }
            Rule::omitted => TargetItem::Omitted(span),
            _ => return None,
        })
    }

    fn value(&mut self, pair: &Pair) -> ComponentValue {
        let inner = pair.clone().into_inner().next();
        match inner {
            Some(p) if p.as_rule() == Rule::branching => self.branching(&p),
            Some(p) if p.as_rule() == Rule::looping => self.looping(&p),
            Some(p) => self.part(&p),
            None => ComponentValue::Error(self.span(pair)),
        }
    }

    fn part(&mut self, pair: &Pair) -> ComponentValue {
        let inner = pair.clone().into_inner().next();
        match inner {
            Some(p) if p.as_rule() == Rule::labelled_block => ComponentValue::Block(self.labelled_block(&p)),
            Some(p) if p.as_rule() == Rule::invocation => ComponentValue::Invocation(self.invocation(&p)),
            Some(p) if self.report_open_type_list(&p) => ComponentValue::Error(self.span(&p)),
            Some(p) => ComponentValue::Expr(self.expr(&p)),
            None => ComponentValue::Error(self.span(pair)),
        }
    }

    /// Reports `math.abs<real(x)`, which is not a comparison; returns whether it was reported. Names without dots are
    /// looked up among the visible names.
    fn report_open_type_list(&mut self, pair: &Pair) -> bool {
        let text = pair.as_str();
        let tokens = scan(text);
        let (callee, rest) =
            tokens.split_at(tokens.iter().position(|t| t.text == "<").unwrap_or(tokens.len()));
        let ([first, _, .., last], [_, ty, round, ..]) = (callee, rest) else { return false };
        let is_word = |t: &Token| t.kind == TokenKind::Word;
        let is_path = callee.chunks(2).all(|part| match part {
            [name, dot] => is_word(name) && dot.text == ".",
            _ => part.iter().all(is_word),
        });
        let is_property = callee.len() == 3 && matches!(last.text, "shape" | "rank" | "size");
        if !is_path || callee.len() % 2 == 0 || is_property || !is_word(ty) || round.text != "(" {
            return false;
        }
        let Some(path) = text.get(first.start..last.end) else { return false };
        let start = pair.as_span().start();
        let behind = self.span_at(start + ty.end, start + ty.end);
        let location = self.span_at(start + first.start, start + last.end);
        let ty = ty.text;
        self.sink.report(open_type_list(behind, (location, path), ty));
        true
    }

    fn labelled_block(&mut self, pair: &Pair) -> Block {
        let span = self.span(pair);
        let mut block =
            Block { label: None, components: Vec::new(), yields: Vec::new(), yield_span: None, span };
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::label => block.label = Some(self.first_ident(&child)),
                rule @ (Rule::component | Rule::yield_line) => {
                    if let Some(first) = block.yield_span {
                        let message = "nothing may follow `yield` in a block";
                        self.sink.report(
                            Diagnostic::error(&YIELD, self.span(&child), message)
                                .with_label_at(first, "the block ends here")
                                .with_help("move `yield` to the end of the block"),
                        );
                    }
                    if rule == Rule::component {
                        block.components.push(self.component(&child));
                    } else if block.yield_span.is_none() {
                        block.yields = self.exprs(&child);
                        block.yield_span = Some(self.span(&child));
                    }
                }
                _ => {}
            }
        }
        if block.yield_span.is_none() {
            let message = "this block has no `yield`";
            let help = "end it with `yield` and the tensors that are its results: `yield a, b;`";
            self.error_with_help(&YIELD, span, message, help);
        }
        block
    }

    fn invocation(&mut self, pair: &Pair) -> Invocation {
        let span = self.span(pair);
        let operator = find(pair, Rule::path);
        Invocation {
            label: find(pair, Rule::label).map(|p| self.first_ident(&p)),
            operator: operator.map_or(Path { parts: Vec::new(), span }, |p| self.path(&p)),
            types: self.type_arguments(pair),
            attributes: self.attributes(pair),
            arguments: all(pair, Rule::argument).map(|p| self.argument(&p)).collect(),
            span,
        }
    }

    fn argument(&mut self, pair: &Pair) -> Argument {
        self.optional_expr(pair).map_or_else(|| Argument::Omitted(self.span(pair)), Argument::Expr)
    }

    fn branching(&mut self, pair: &Pair) -> ComponentValue {
        let span = self.span(pair);
        let mut parts: Vec<_> = all(pair, Rule::part).map(|p| self.part(&p)).collect();
        let Some(otherwise) = parts.pop() else {
            return ComponentValue::Error(span);
        };
        let mut arms = Vec::new();
        let mut parts = parts.into_iter();
        while let (Some(condition), Some(consequent)) = (parts.next(), parts.next()) {
            arms.push((condition, consequent));
        }
        ComponentValue::If(Branching { arms, otherwise: Box::new(otherwise), span })
    }

    fn looping(&mut self, pair: &Pair) -> ComponentValue {
        let span = self.span(pair);
        let carried = find(pair, Rule::with_clause);
        let scans = find(pair, Rule::for_clause);
        let mut parsed = Loop {
            carried: carried.iter().flat_map(|p| all(p, Rule::carried)).map(|p| self.carried(&p)).collect(),
            scans: scans.iter().flat_map(|p| all(p, Rule::scan)).map(|p| self.scan(&p)).collect(),
            before: None,
            unroll: find(pair, Rule::kw_unroll).is_some(),
            count: None,
            body: ComponentValue::Error(span),
            after: None,
            span,
        };
        let mut in_body = false;
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::while_clause => {
                    let condition = find(&child, Rule::part).map(|p| self.part(&p));
                    if !in_body {
                        parsed.before = condition;
                    } else if parsed.before.is_some() {
                        let message = "this loop has two conditions";
                        let help = "keep `while` either before `do` or after the body";
                        self.error_with_help(&SYNTAX, self.span(&child), message, help);
                    } else {
                        parsed.after = condition;
                    }
                }
                Rule::kw_do | Rule::kw_unroll => in_body = true,
                Rule::count => parsed.count = Some(self.count(&child)),
                Rule::part => parsed.body = self.part(&child),
                _ => {}
            }
        }
        ComponentValue::Loop(Box::new(parsed))
    }

    fn carried(&mut self, pair: &Pair) -> Carried {
        Carried {
            name: self.first_ident(pair),
            type_spec: find(pair, Rule::type_spec).map(|p| self.type_spec(&p)),
            init: self.first_expr(pair),
            span: self.span(pair),
        }
    }

    fn scan(&mut self, pair: &Pair) -> Scan {
        Scan { item: self.first_ident(pair), pack: self.first_expr(pair), span: self.span(pair) }
    }

    pub(super) fn count(&mut self, pair: &Pair) -> IterationCount {
        IterationCount {
            index: find(pair, Rule::count_index).map(|p| self.first_ident(&p)),
            count: self.optional_expr(pair),
            span: self.span(pair),
        }
    }
}
