// SPDX-License-Identifier: Apache-2.0
//! Types, shapes and pack lengths (2.3).

use super::super::grammar::{Pair, Rule};
use super::Builder;
use crate::ast::{Declaration, ExtentSpec, LoopBound, PackSpec, TypeParameter, TypeSpec};

impl Builder<'_> {
    pub(super) fn type_spec(&mut self, pair: &Pair) -> TypeSpec {
        let mut spec = TypeSpec {
            optional: false,
            base: self.first_ident(pair),
            rank: None,
            shape: None,
            pack: None,
            dynamic: false,
            span: self.span(pair),
        };
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::modifier => match child.as_str().trim() {
                    "optional" => spec.optional = true,
                    word => {
                        spec.dynamic |= word == "dynamic";
                        let span = self.span(&child);
                        self.mark_khronos(span, word);
                    }
                },
                Rule::rank_spec => spec.rank = self.optional_expr(&child),
                Rule::shape_spec => spec.shape = Some(self.shape(&child)),
                Rule::pack_spec => spec.pack = Some(self.pack_spec(&child)),
                _ => {}
            }
        }
        spec
    }

    fn shape(&mut self, pair: &Pair) -> Vec<ExtentSpec> {
        let mut extents = Vec::new();
        for child in pair.clone().into_inner() {
            if child.as_rule() == Rule::extent {
                extents.push(self.extent(&child));
            }
        }
        extents
    }

    fn extent(&mut self, pair: &Pair) -> ExtentSpec {
        let mut spec = ExtentSpec {
            per_item: false,
            extent: self.optional_expr(pair),
            bound: None,
            pack: None,
            is_static: false,
            span: self.span(pair),
        };
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::per_item => spec.per_item = true,
                Rule::marker => spec.is_static |= self.marker(&child),
                Rule::extent_bound => spec.bound = self.optional_expr(&child),
                Rule::pack_spec => spec.pack = Some(self.pack_spec(&child)),
                _ => {}
            }
        }
        spec
    }

    pub(super) fn pack_spec(&mut self, pair: &Pair) -> PackSpec {
        let mut spec = PackSpec {
            length: self.optional_expr(pair),
            bound: None,
            is_static: false,
            span: self.span(pair),
        };
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::marker => spec.is_static |= self.marker(&child),
                Rule::extent_bound => {
                    spec.bound = self.optional_expr(&child);
                    let span = self.span(&child);
                    self.marks.khronos_first.get_or_insert_with(|| (span, "..(… | …)".to_string()));
                }
                _ => {}
            }
        }
        spec
    }

    /// Whether the marker is `static`.
    fn marker(&mut self, pair: &Pair) -> bool {
        let word = pair.as_str().trim();
        let span = self.span(pair);
        self.mark_khronos(span, word);
        word == "static"
    }

    pub(in super::super) fn dtype(&mut self, pair: &Pair) -> TypeParameter {
        let span = self.span(pair);
        let mut names = self.idents(pair).into_iter();
        let name = names.next().unwrap_or_else(|| self.missing_ident(pair));
        TypeParameter {
            name,
            bound: names.next().unwrap_or_else(|| self.missing_ident(pair)),
            default: names.next(),
            span,
        }
    }

    pub(in super::super) fn declaration(&mut self, pair: &Pair) -> Option<Declaration> {
        let name = self.first_ident(pair);
        let mut type_spec = None;
        let mut default = None;
        let mut bounds = Vec::new();
        for child in pair.clone().into_inner() {
            match child.as_rule() {
                Rule::type_spec => type_spec = Some(self.type_spec(&child)),
                Rule::expr => default = Some(self.expr(&child)),
                Rule::loop_bound => bounds.push(self.loop_bound(&child)),
                _ => {}
            }
        }
        Some(Declaration { name, type_spec: type_spec?, default, bounds, span: self.span(pair) })
    }

    pub(super) fn loop_bound(&mut self, pair: &Pair) -> LoopBound {
        LoopBound { name: self.first_ident(pair), bound: self.first_expr(pair), span: self.span(pair) }
    }
}
