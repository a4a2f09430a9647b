// SPDX-License-Identifier: Apache-2.0
//! Tensor accesses in formulas (2.4, 2.12).

use crate::ast::{Expr, ExprKind, Subscript};
use crate::check::checker::{Checker, Context};
use crate::check::lengths::Length;
use crate::check::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

/// How many indices an access has.
pub(super) const INDEX_PER_DIMENSION: &str =
    "an access has one index per dimension; a pack of indices is written `i..`";

/// The text of an access.
pub(super) struct Access<'a> {
    pub(super) span: Span,
    /// The accessed tensor.
    pub(super) name: &'a str,
    pub(super) trailing_comma: bool,
}

/// The effect of the indices of an access.
pub(super) struct Indices {
    /// Dimensions covered.
    pub(super) count: Length,
    /// Set if an index is a pack in one dimension, or a full slice (`:`): the access is a pack of this length.
    pub(super) repeated: Option<Length>,
}

impl Indices {
    fn repeat(&mut self, length: Length) {
        self.repeated = Some(match self.repeated.take() {
            None => length,
            Some(_) => Length::unknown(),
        });
    }
}

impl Checker<'_> {
    /// The type of `x[i,j..]` of the tensor (or of all tensors of a pack) of type `ty`.
    pub(super) fn access(
        &mut self,
        whole: &Expr,
        base: &Expr,
        ty: &Type,
        subscripts: &[Subscript],
        trailing_comma: bool,
    ) -> Type {
        if self.context != Context::Formula {
            let text = self.text(base.span);
            let mut diagnostic = Diagnostic::error(
                &codes::ACCESS_OUTSIDE_LOWER,
                whole.span,
                "elements of tensors can be read in `@lower` only",
            )
            .with_label(format!("`{text}` is {ty}"));
            diagnostic = diagnostic.with_help(match (self.context, ty.is_packed()) {
                (Context::Composition, true) => format!(
                    "select an item of the pack with `{text}[k]`; slice tensors with an operator of the library"
                ),
                (Context::Composition, false) => {
                    "slice tensors with an operator of the library".to_string()
                }
                _ => format!(
                    "compile-time expressions know the shapes of tensors, not their values; `{text}.shape` is their shape"
                ),
            });
            self.sink.report(diagnostic);
            return Type::unknown();
        }
        self.require_computed(base);
        self.report_side_by_side(subscripts);
        let indices = self.indices(subscripts);
        let Tensor::Ranked(rank) = &ty.tensor else {
            return Type::unknown();
        };
        let access = Access { span: whole.span, name: &self.text(base.span), trailing_comma };
        self.check_rank(&access, rank, &indices, subscripts, INDEX_PER_DIMENSION);
        let pack = match (&ty.pack, indices.repeated) {
            (pack, None) => pack.clone(),
            (Pack::Single, Some(length)) => Pack::Packed(length),
            (Pack::Unknown, _) => Pack::Unknown,
            (_, Some(_)) => Pack::Packed(Length::unknown()),
        };
        Type { base: ty.base.clone(), pack, optional: ty.optional, tensor: Tensor::No }
    }

    /// Checks that an output is read only after its last formula.
    fn require_computed(&mut self, base: &Expr) {
        let name = match &base.kind {
            ExprKind::Index { base, .. } => &base.kind,
            kind => kind,
        };
        if let ExprKind::Name(name) = name
            && let Some(next) = self.unfinished(&name.name)
        {
            let message = format!("`{}` is read here before it is computed", name.name);
            let diagnostic = Diagnostic::error(&codes::OUTPUT_READ_EARLY, name.span, message)
                .with_label_at(next, "computed here")
                .with_help(
                    "formulas are computed in their order: move this one after that; `:=` formulas with the same \
                     indices that follow each other advance together, after the start values of all of them",
                );
            self.sink.report(diagnostic);
        }
    }

    /// Checks the indices of an access and counts the dimensions that they cover.
    pub(super) fn indices(&mut self, subscripts: &[Subscript]) -> Indices {
        let mut result = Indices { count: Length::number(0), repeated: None };
        let outer = std::mem::replace(&mut self.in_subscript, true);
        for subscript in subscripts {
            let count = match subscript {
                Subscript::Expr(index) => {
                    let ty = self.value(index);
                    self.require_index(index, &ty);
                    if let Pack::Packed(length) = &ty.pack {
                        result.repeat(length.clone());
                    }
                    match ty.optional {
                        Optional::No => Length::number(1),
                        _ => Length::unknown(),
                    }
                }
                Subscript::Expand { value, count, span } => {
                    let (ty, length) = self.expanded(value, count.as_ref(), *span);
                    let ty = self.require_value(value, ty);
                    self.require_index(value, &ty);
                    length
                }
                Subscript::Guard { index, remap, expand, span } => {
                    let remap = remap.as_ref().map(|(low, high)| (low, high));
                    let (ty, count) = self.guarded(index, remap, *expand, *span);
                    if let (Pack::Packed(length), false) = (&ty.pack, *expand) {
                        result.repeat(length.clone());
                    }
                    count
                }
                Subscript::Range { begin, end, stride, span } => {
                    let parts = [begin, end, stride].into_iter().flatten();
                    match parts.clone().next() {
                        Some(_) => self.report_part_of_dimension(*span),
                        None => result.repeat(Length::unknown()),
                    }
                    for part in parts {
                        let ty = self.value(part);
                        self.require_index(part, &ty);
                    }
                    Length::number(1)
                }
            };
            result.count = result.count.plus(&count);
        }
        self.in_subscript = outer;
        result
    }

    /// `|i|` and `|i <> low : high|`.
    fn guarded(
        &mut self,
        index: &Expr,
        remap: Option<(&Expr, &Expr)>,
        expand: bool,
        span: Span,
    ) -> (Type, Length) {
        let ty = self.value(index);
        self.require_index(index, &ty);
        if ty.is_single() && expand {
            let text = self.text(index.span);
            let message = format!("`{text}` is a single index, which `..` cannot expand");
            let help = "remove the `..` after the bars";
            let diagnostic = Diagnostic::error(&codes::EXPANSION_COUNT, span, message);
            let dots = Span { start: span.end.saturating_sub(2), ..span };
            let diagnostic = diagnostic.with_label(ty.to_string());
            self.sink.report(match self.written_text(dots) {
                ".." => diagnostic.with_fix(help, dots, ""),
                _ => diagnostic.with_help(help),
            });
        }
        if let Some((low, high)) = remap {
            for other in [low, high] {
                let o = self.value(other);
                self.require_index(other, &o);
                self.combine_packs(&[(index, &ty), (other, &o)], true);
            }
        }
        let length = match &ty.pack {
            _ if !expand => Length::number(1),
            Pack::Packed(length) => length.clone(),
            _ => Length::unknown(),
        };
        (ty, length)
    }

    /// A guarded index in an expression: an item of a list-valued local, or a branch (errata 17).
    pub(super) fn guard_expression(
        &mut self,
        whole: &Expr,
        index: &Expr,
        remap: Option<(&Expr, &Expr)>,
    ) -> Type {
        if self.context != Context::Formula {
            self.value(index);
            let message = "`|i|` guards an index of a tensor, which only formulas of `@lower` have";
            self.sink.report(Diagnostic::error(&codes::ACCESS_OUTSIDE_LOWER, whole.span, message));
            return Type::unknown();
        }
        if !self.in_subscript && !self.in_intermediate {
            let text = self.text(whole.span);
            let message = format!("`{text}` guards an index of a tensor, and is not a value itself");
            self.sink.report(
                Diagnostic::error(&codes::GUARD_AS_VALUE, whole.span, message)
                .with_help(format!(
                    "write it where the tensor is accessed, `x[{text},]`, or in an intermediate that is used there"
                )),
            );
            self.value(index);
            return Type::unknown();
        }
        let ty = self.value(index);
        self.require_index(index, &ty);
        if let Some((low, high)) = remap {
            for other in [low, high] {
                let o = self.value(other);
                self.require_index(other, &o);
                self.combine_packs(&[(index, &ty), (other, &o)], true);
            }
        }
        ty
    }

    /// Reports two `:` on the right side, which look like all elements but select only the elements of the diagonal.
    fn report_side_by_side(&mut self, subscripts: &[Subscript]) {
        let mut whole = subscripts.iter().filter_map(|s| match s {
            Subscript::Range { begin: None, end: None, stride: None, span } => Some(*span),
            _ => None,
        });
        if let (Some(first), Some(second)) = (whole.next(), whole.next()) {
            let message = "packs of indices are combined item by item, so two `:` select only a diagonal";
            let help = "iterate over all dimensions but one with index symbols, `x[i,:]` with `i < n`";
            let diagnostic = Diagnostic::error(&codes::INDEX_TYPE, second, message);
            self.sink.report(diagnostic.with_label_at(first, "the first one").with_help(help));
        }
    }

    /// Reports a partial slice: formulas select positions by index symbols, and only full slices have a notation.
    fn report_part_of_dimension(&mut self, span: Span) {
        let text = self.text(span);
        let message = format!("`{text}` is a slice, and an index of a tensor is one position");
        self.sink.report(
            Diagnostic::error(&codes::INDEX_TYPE, span, message)
            .with_help(
                "iterate over the positions with an index symbol, `y[j + 1,] = x[j + 1,], j < n - 1` for `1:` and \
                 `x[n - 1 - j,]` for `::-1`; `:` alone selects all positions",
            ),
        );
    }

    /// Requires that an index is an int.
    fn require_index(&mut self, index: &Expr, ty: &Type) {
        if matches!(ty.base, Base::Int | Base::Unknown) {
            return;
        }
        let mut diagnostic = Diagnostic::error(
            &codes::INDEX_TYPE,
            index.span,
            format!("an index of a tensor must be an int, but this is {}", ty.base),
        )
        .with_label(ty.to_string());
        if ty.base == Base::Real {
            diagnostic = self.converted(diagnostic, "int", index.span);
        }
        self.sink.report(diagnostic);
    }

    /// Checks that the number of indices is the rank, if both are known; an access of rank 1 needs its comma. `help`:
    /// the help if the numbers differ.
    pub(super) fn check_rank(
        &mut self,
        access: &Access,
        rank: &Length,
        indices: &Indices,
        subscripts: &[Subscript],
        help: &str,
    ) {
        let Access { span, name, trailing_comma } = *access;
        if rank.differs(&indices.count) {
            let message = format!(
                "`{name}` has rank {}, but {} {} given",
                rank.described(),
                indices.count.described(),
                if indices.count.constant() == Some(1) { "index is" } else { "indices are" }
            );
            self.sink.report(
                Diagnostic::error(&codes::INDEX_COUNT, span, message)
                    .with_label(format!("rank {} expected", rank.described()))
                    .with_help(help),
            );
            return;
        }
        if let ([Subscript::Expr(index)], false) = (subscripts, trailing_comma) {
            if self.quietly(|c| c.value(index)).base == Base::Unknown {
                // reported
                return;
            }
            let after = index.span.after();
            let index = self.text(index.span);
            if rank.constant() == Some(1) {
                self.sink.report(
                    Diagnostic::warning(
                        &codes::SHORT_ACCESS,
                        span,
                        format!(
                            "the access to `{name}` needs a trailing comma; without it, this is pack indexing"
                        ),
                    )
                    .with_fix(format!("write `{name}[{index},]`"), after, ","),
                );
            } else {
                let message = format!("`{name}[{index}]` indexes a pack, but `{name}` is a tensor");
                self.sink.report(
                    Diagnostic::error(&codes::SHORT_ACCESS, span, message)
                    .with_help(format!(
                        "an access with one index needs a comma: `{name}[{index},]`; a pack of indices is written `{index}..`"
                    )),
                );
            }
        }
    }
}
