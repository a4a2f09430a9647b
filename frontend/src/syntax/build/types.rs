// SPDX-License-Identifier: Apache-2.0
//! Types, shapes and pack lengths (2.3).

use super::super::grammar::{Pair, Rule, all, find};
use super::Builder;
use crate::ast::{Declaration, ExtentSpec, LoopBound, PackSpec, TypeParameter, TypeSpec};

impl Builder<'_> {
    pub(super) fn type_spec(&mut self, pair: &Pair) -> TypeSpec {
        let base = self.first_ident(pair);
        let modifiers: Vec<&str> = all(pair, Rule::modifier).map(|p| self.marker(&p)).collect();
        TypeSpec {
            optional: modifiers.contains(&"optional"),
            dynamic: modifiers.contains(&"dynamic"),
            base,
            rank: self.expr_in(pair, Rule::rank_spec),
            shape: find(pair, Rule::shape_spec)
                .map(|p| all(&p, Rule::extent).map(|p| self.extent(&p)).collect()),
            pack: find(pair, Rule::pack_spec).map(|p| self.pack_spec(&p)),
            span: self.span(pair),
        }
    }

    fn extent(&mut self, pair: &Pair) -> ExtentSpec {
        ExtentSpec {
            per_item: find(pair, Rule::per_item).is_some(),
            extent: self.optional_expr(pair),
            is_static: self.is_static(pair),
            bound: self.expr_in(pair, Rule::extent_bound),
            pack: find(pair, Rule::pack_spec).map(|p| self.pack_spec(&p)),
            span: self.span(pair),
        }
    }

    pub(super) fn pack_spec(&mut self, pair: &Pair) -> PackSpec {
        if let Some(bound) = find(pair, Rule::extent_bound) {
            let span = self.span(&bound);
            self.marks.khronos_first.get_or_insert_with(|| (span, "..(… | …)".to_string()));
        }
        PackSpec {
            length: self.optional_expr(pair),
            is_static: self.is_static(pair),
            bound: self.expr_in(pair, Rule::extent_bound),
            span: self.span(pair),
        }
    }

    fn is_static(&mut self, pair: &Pair) -> bool {
        find(pair, Rule::marker).is_some_and(|p| self.marker(&p) == "static")
    }

    /// `static`, `dynamic` or `optional`; both editions have the last.
    fn marker<'t>(&mut self, pair: &Pair<'t>) -> &'t str {
        let word = pair.as_str().trim();
        if word != "optional" {
            let span = self.span(pair);
            self.mark_khronos(span, word);
        }
        word
    }

    pub(in super::super) fn dtype(&mut self, pair: &Pair) -> Option<TypeParameter> {
        let mut names = self.idents(pair).into_iter();
        Some(TypeParameter {
            name: names.next()?,
            bound: names.next()?,
            default: names.next(),
            span: self.span(pair),
        })
    }

    pub(in super::super) fn declaration(&mut self, pair: &Pair) -> Option<Declaration> {
        Some(Declaration {
            name: self.first_ident(pair),
            type_spec: find(pair, Rule::type_spec).map(|p| self.type_spec(&p))?,
            default: self.optional_expr(pair),
            bounds: self.loop_bounds(pair),
            span: self.span(pair),
        })
    }

    pub(super) fn loop_bounds(&mut self, pair: &Pair) -> Vec<LoopBound> {
        let bounds = all(pair, Rule::loop_bound).map(|pair| LoopBound {
            name: self.first_ident(&pair),
            bound: self.first_expr(&pair),
            span: self.span(&pair),
        });
        bounds.collect()
    }
}
