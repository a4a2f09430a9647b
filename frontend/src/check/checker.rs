// SPDX-License-Identifier: Apache-2.0
//! The state of the checker for one definition, and helpers that all checks use.

use crate::ast::{BlockKind, Definition, Expr, ExprKind, Ident};
use crate::check::formulas::Written;
use crate::check::lengths::Length;
use crate::check::scope::{Scope, Symbol, SymbolKind};
use crate::check::signatures::{Environment, base_named};
use crate::check::types::{Base, Generic, Type};
use crate::diagnostics::{Diagnostic, Severity, Sink, closest, codes};
use crate::source::Span;
use crate::syntax::foreign_type;
use crate::value_types::ValueTypes;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;

/// The values that expressions may access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// Attributes, shapes, helpers, assertions: compile-time values.
    CompileTime,
    /// `@lower`: elements of tensors can be read.
    Formula,
    /// `@compose`, `@update`: full tensors can be named.
    Composition,
}

/// A name of a block that is not visible yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hidden {
    pub(super) kind: SymbolKind,
    pub(super) span: Span,
}

impl Hidden {
    /// The message and the help for a use of `name` `here` ("in `@attrib`", …).
    pub(super) fn explain(self, name: &str, here: &str) -> (String, Option<String>) {
        let what = self.kind.describe();
        match (self.kind, here) {
            (SymbolKind::Using, "in `@using`") => (
                format!("the helper `{name}` is used before its definition"),
                Some(format!("helpers are evaluated in order: move the definition of `{name}` up")),
            ),
            (SymbolKind::Intermediate, _) => (
                format!("the tensor `{name}` is used before it is assigned"),
                Some("statements are carried out in their order".to_string()),
            ),
            (SymbolKind::Using, _) => (
                format!("`{name}` is {what}, which is not visible {here}"),
                Some(format!(
                    "helpers are evaluated after attributes and input shapes; write the expression of `{name}` here"
                )),
            ),
            _ => (format!("`{name}` is {what}, which is not visible {here}"), None),
        }
    }
}

/// The state of the checker for one definition.
pub(super) struct Checker<'a> {
    pub(super) env: &'a Environment<'a>,
    /// The key of the module.
    pub(super) module: &'a str,
    pub(super) definition: &'a Definition,
    pub(super) sink: Sink,
    pub(super) scope: Scope,
    pub(super) context: Context,
    /// The current block, such as "in `@using`", for messages about visibility.
    pub(super) where_now: &'static str,
    pub(super) generics: Vec<(Rc<Generic>, Option<Base>)>,
    pub(super) khronos: bool,
    /// Whether the expression is between the brackets of a tensor access.
    pub(super) in_subscript: bool,
    /// Whether the value of a formula's intermediate is being checked.
    pub(super) in_intermediate: bool,
    /// Names of blocks that are not visible yet.
    pub(super) hidden: FxHashMap<String, Hidden>,
    /// Names of blocks and loops that have ended, and their kinds.
    pub(super) ended: FxHashMap<String, (Span, &'static str)>,
    /// The formulas of each output and each local tensor.
    pub(super) written: FxHashMap<&'a str, Written<'a>>,
    /// Within formulas that are computed together: their positions.
    pub(super) formulas: Option<Range<usize>>,
    /// Names with two declarations (reported), whose meaning is ambiguous.
    pub(super) ambiguous: FxHashSet<String>,
    /// The number of expressions that could not be parsed (reported) and were encountered.
    pub(super) unread: usize,
    /// Unknown names that were reported; each is reported once per definition.
    pub(super) reported: FxHashSet<String>,
    /// For the composition.
    pub(super) types: &'a mut ValueTypes,
}

impl<'a> Checker<'a> {
    /// Records the type of an expression for the composition.
    pub(super) fn record_type(&mut self, expr: &Expr, ty: &Type) {
        if ty.base != Base::Unknown {
            self.types.insert(expr.span, ty.base.to_string());
        }
    }

    /// The place of a new import of this module.
    pub(super) fn first_line(&self) -> Span {
        let module = self.env.program.modules.get(self.module);
        let import = module.and_then(|module| module.imports.first());
        let start = import.map_or(0, |import| import.span.start);
        Span::new(self.definition.span.file, start, start)
    }

    /// The source text of a span as it is written, for fixes.
    pub(super) fn written_text(&self, span: Span) -> &'a str {
        self.env.program.sources.text(span)
    }

    /// The source text of a span, on one line.
    pub(super) fn text(&self, span: Span) -> String {
        let text = self.env.program.sources.text(span);
        let mut line = String::new();
        for word in text.split_whitespace() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        if line.chars().count() > 60 {
            line = line.chars().take(57).collect();
            line.push_str("...");
        }
        line
    }

    /// Runs `f` and drops its diagnostics.
    pub(super) fn quietly<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let kept = std::mem::take(&mut self.sink);
        let reported = self.reported.clone();
        let result = f(self);
        self.sink = kept;
        self.reported = reported;
        result
    }

    /// The result of `f`, and whether it reported errors or encountered text that could not be parsed.
    pub(super) fn noting_errors<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let (before, unread) = (self.sink.diagnostics().len(), self.unread);
        let result = f(self);
        let mut reported = self.sink.diagnostics().iter().skip(before);
        let is_error = |d: &Diagnostic| d.severity == Severity::Error;
        let is_faulty = self.unread > unread || reported.any(is_error);
        (result, is_faulty)
    }

    /// Whether statements of one of these blocks could not be parsed: a missing name may be there.
    pub(super) fn is_unread(&self, blocks: &[BlockKind]) -> bool {
        self.definition.unread.iter().any(|b| blocks.contains(b))
    }

    /// Whether to report the absence of a name: not if it was reported already or may be declared in text that could
    /// not be parsed.
    pub(super) fn first_report_of(&mut self, name: &Ident) -> bool {
        if self.definition.may_have_lost(&name.name) {
            return false;
        }
        self.reported.insert(name.name.clone())
    }

    /// The type that a type name denotes; unknown names are reported.
    pub(super) fn base_named(&mut self, name: &Ident) -> Base {
        if let Some(base) = base_named(&name.name, &self.generics) {
            return base;
        }
        if name.name.is_empty() || self.is_unread(&[BlockKind::Dtype]) {
            return Base::Unknown;
        }
        let diagnostic =
            Diagnostic::error(&codes::UNKNOWN_TYPE, name.span, format!("`{}` is not a type", name.name));
        let diagnostic = if super::types::Bound::from_name(&name.name).is_some() {
            diagnostic.with_help(format!(
                "`{0}` restricts a generic type; declare one with `@dtype {{ T: {0}; }}` and use `T`",
                name.name
            ))
        } else {
            let generics: Vec<String> = self.generics.iter().map(|(g, _)| g.name.clone()).collect();
            let all = ["int", "real", "bool", "str"].into_iter().chain(generics.iter().map(String::as_str));
            match foreign_type(&name.name).or_else(|| closest(&name.name, all)) {
                Some(near) => diagnostic.with_meant(near),
                None => diagnostic
                    .with_help("the types are int, real, bool, str and the names of the operator's `@dtype`"),
            }
        };
        self.sink.report(diagnostic);
        Base::Unknown
    }

    /// An expression as a pack length; unknown if it depends on local names or on names with errors.
    pub(super) fn length_of(&self, expr: &Expr) -> Length {
        let wide = expr
            .names()
            .iter()
            .all(|n| self.scope.lookup(&n.name).is_some_and(|s| s.kind.is_definition_wide()));
        if wide { Length::from_expr(expr) } else { Length::unknown() }
    }

    /// Whether an expression is the name of an extent, which is never negative.
    pub(super) fn is_extent(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.scope.lookup(&name.name).is_some_and(|s| s.kind == SymbolKind::Extent)
            }
            _ => false,
        }
    }

    pub(super) fn declare(&mut self, name: &Ident, kind: SymbolKind, ty: Type) {
        let ty = if self.ambiguous.contains(&name.name) { Type::unknown() } else { ty };
        self.scope.declare(&name.name, Symbol { kind, ty, span: name.span });
        self.hidden.remove(&name.name);
    }
}
