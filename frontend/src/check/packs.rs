// SPDX-License-Identifier: Apache-2.0
//! Lists, pack indexing and substitution (2.4).

use crate::ast::{Expr, ExprKind, Item, Subscript};
use crate::check::checker::{Checker, Context};
use crate::check::expressions::join_tensor;
use crate::check::lengths::Length;
use crate::check::scope::SymbolKind;
use crate::check::types::{Base, Optional, Pack, Tensor, Type};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;

impl Checker<'_> {
    /// `[a, b.., c..(n), b:e:s, (x,y)..]`.
    pub(super) fn list(&mut self, items: &[Item]) -> Type {
        let mut result: Option<(Type, Span)> = None;
        let mut length = Length::number(0);
        let mut nested = false;
        for item in items {
            let (ty, count, span) = self.list_item(item, &mut nested);
            length = length.plus(&count);
            match &mut result {
                None => result = Some((ty, span)),
                Some((known, first)) => {
                    if known.base.agrees(&ty.base) {
                        known.optional = known.optional.join(ty.optional);
                        known.tensor = join_tensor(known, &ty);
                        known.base = known.base.clone().or(&ty.base);
                    } else {
                        let mut diagnostic = Diagnostic::error(
                            &codes::LIST_TYPES_DIFFER,
                            span,
                            format!(
                                "the items of a list must have the same type, but this is {} after {}",
                                ty.base, known.base
                            ),
                        )
                        .with_label(ty.base.to_string())
                        .with_label_at(*first, known.base.to_string());
                        if matches!(
                            (&ty.base, &known.base),
                            (Base::Int, Base::Real) | (Base::Real, Base::Int)
                        ) {
                            diagnostic = diagnostic
                                .with_help("write all items as real (`2.0`), or convert with `real(…)`");
                        }
                        self.sink.report(diagnostic);
                        known.base = Base::Unknown;
                    }
                }
            }
        }
        match result {
            Some((ty, _)) => Type { pack: Pack::Packed(length), ..ty },
            None => Type::packed(Base::Unknown, Length::number(0)),
        }
    }

    /// The type of one item, its number of items, and its span.
    /// `nested` states that a pack without `..` was reported already.
    fn list_item(&mut self, item: &Item, nested: &mut bool) -> (Type, Length, Span) {
        match item {
            Item::Expr(expr) => {
                let ty = self.entity(expr);
                if ty.is_packed() {
                    if !std::mem::replace(nested, true) {
                        self.report_nested(expr, &ty);
                    }
                    return (ty.item(), Length::unknown(), expr.span);
                }
                (ty, Length::number(1), expr.span)
            }
            Item::Range { begin, end, stride, span } => {
                let mut optional = Optional::No;
                for part in [Some(begin), Some(end), stride.as_ref()].into_iter().flatten() {
                    optional = optional.join(self.range_part(part).optional);
                }
                let length = match stride {
                    None => self.range_length(begin, end),
                    Some(_) => Length::unknown(),
                };
                let ty = Type::scalar(Base::Int).with_optional(optional);
                (ty, length, *span)
            }
            Item::Expand { value, count, span } => {
                if count.is_some() {
                    self.require_single_item(value, *span);
                }
                let (ty, length) = self.expanded(value, count.as_ref(), *span);
                (ty, length, *span)
            }
            Item::Zip { packs, count, span } => {
                let (ty, length) = self.zipped(packs, *span);
                if let Some(count) = count {
                    self.repeat_count(count);
                }
                (ty, length, *span)
            }
        }
    }

    /// Checks that a repeated list item is a single value.
    fn require_single_item(&mut self, value: &Expr, whole: Span) {
        let ty = self.quietly(|c| c.entity(value));
        if !ty.is_packed() {
            return;
        }
        let text = self.text(value.span);
        let message = format!("`..` with a count repeats a single item, and `{text}` is a pack");
        let help = format!("write `{text}..` to put its items here");
        let diagnostic = Diagnostic::error(&codes::EXPANSION_COUNT, value.span, message);
        let text = format!("{}..", self.written_text(value.span));
        self.sink.report(diagnostic.with_label(ty.to_string()).with_fix(help, whole, text));
    }

    fn report_nested(&mut self, expr: &Expr, ty: &Type) {
        let text = self.text(expr.span);
        let message = format!("a pack cannot be an item of a list: `{text}` must be expanded");
        let help = format!("write `{text}..` to put its items here; packs have one dimension");
        let diagnostic = Diagnostic::error(&codes::PACK_NOT_EXPANDED, expr.span, message);
        self.sink.report(self.with_dots(diagnostic.with_label(ty.to_string()), help, expr));
    }

    /// Suggests `..` after a pack; a computed pack would need parentheses.
    pub(super) fn with_dots(&self, diagnostic: Diagnostic, help: String, pack: &Expr) -> Diagnostic {
        match &pack.kind {
            ExprKind::Name(_) | ExprKind::Property { .. } | ExprKind::Index { .. } | ExprKind::List(_) => {
                diagnostic.with_fix(help, pack.span.after(), "..")
            }
            _ => diagnostic.with_help(help),
        }
    }

    /// `value..` and `value..(count)`: item type and number of items.
    pub(super) fn expanded(&mut self, value: &Expr, count: Option<&Expr>, span: Span) -> (Type, Length) {
        let ty = self.entity(value);
        let Some(count) = count else {
            if ty.is_single() && ty.optional != Optional::No {
                // an extent that may be absent is one item or none
                return (ty, Length::unknown());
            }
            if ty.is_single() {
                let text = self.text(value.span);
                let mut diagnostic = Diagnostic::error(
                    &codes::EXPANSION_COUNT,
                    span,
                    format!("`{text}` is a single value, which `..` cannot expand without a count"),
                )
                .with_label(ty.to_string());
                diagnostic = if self.in_subscript {
                    let help = format!("write it without `..`: `{text}`");
                    diagnostic.with_fix(help, value.span.tail_to(span), "")
                } else {
                    diagnostic.with_help(format!(
                        "write the number of repetitions, as in `{text} ..(n)`, or remove the `..`"
                    ))
                };
                self.sink.report(diagnostic);
                return (ty, Length::unknown());
            }
            let length = ty.length();
            return (ty.item(), length);
        };
        let optional = self.repeat_count(count);
        let length = self.length_of(count);
        (ty.item().with_optional(ty.optional.join(optional)), length)
    }

    /// The count of a repetition: int, or a bool that counts as 0 or 1.
    pub(super) fn repeat_count(&mut self, count: &Expr) -> Optional {
        let ty = self.value(count);
        let fits = matches!(ty.base, Base::Int | Base::Bool | Base::Unknown) && !ty.is_packed();
        if !fits {
            let message = format!(
                "the count of `..` must be a single int, or a bool for an item that may be absent; this is {ty}"
            );
            self.sink.report(
                Diagnostic::error(&codes::EXPANSION_COUNT, count.span, message).with_label(ty.to_string()),
            );
        }
        ty.optional
    }

    /// `(a, b)..`: item type and total length.
    fn zipped(&mut self, packs: &[Expr], span: Span) -> (Type, Length) {
        let types: Vec<Type> = packs.iter().map(|p| self.entity(p)).collect();
        for (expr, ty) in packs.iter().zip(&types) {
            if ty.is_single() {
                self.report_not_a_pack(expr, ty, "a zip `(a, b)..` interleaves packs");
                return (Type::unknown(), Length::unknown());
            }
        }
        let operands: Vec<(&Expr, &Type)> = packs.iter().zip(&types).collect();
        let shape = self.combine_packs(&operands, true);
        let mut result = types.first().cloned().unwrap_or_else(Type::unknown);
        for (expr, ty) in operands.iter().skip(1) {
            if let Some((first, first_type)) = operands.first() {
                self.require_same_base((first, first_type), (expr, ty), "zipped packs");
            }
            result.optional = result.optional.join(ty.optional);
        }
        let length = match shape.0 {
            Pack::Packed(length) => length.times(packs.len()),
            _ => Length::unknown(),
        };
        if packs.is_empty() {
            self.sink.report(Diagnostic::error(&codes::NOT_A_PACK, span, "a zip needs at least one pack"));
        }
        (result.item(), length)
    }

    /// A bound or stride of a range: one int.
    fn range_part(&mut self, part: &Expr) -> Type {
        let ty = self.value(part);
        if !ty.base.agrees(&Base::Int) || ty.is_packed() {
            let message = format!("bounds and stride of a range must be single ints, but this is {ty}");
            self.sink
                .report(Diagnostic::error(&codes::RANGE_TYPE, part.span, message).with_label(ty.to_string()));
        }
        ty
    }

    /// The number of items of `[begin:end]`, if it is certain that `begin <= end`.
    fn range_length(&mut self, begin: &Expr, end: &Expr) -> Length {
        let (first, last) = (self.length_of(begin), self.length_of(end));
        match (first.constant(), last.constant()) {
            (Some(a), Some(b)) => Length::number(b.saturating_sub(a).max(0)),
            (Some(0), None) if self.is_extent(end) => last,
            _ => Length::unknown(),
        }
    }

    /// `a[…]` of packs and strings; of tensors see [`Checker::access`].
    pub(super) fn index(
        &mut self,
        whole: &Expr,
        base: &Expr,
        subscripts: &[Subscript],
        trailing_comma: bool,
    ) -> Type {
        let ty = self.entity(base);
        let lone = match subscripts {
            [one] if !trailing_comma => match one {
                Subscript::Expr(_) | Subscript::Range { .. } => Some(one),
                Subscript::Expand { .. } | Subscript::Guard { .. } => None,
            },
            _ => None,
        };
        match (&ty.tensor, &ty.pack, lone) {
            // an item of a pack of tensors, `xs[k]`
            (Tensor::Ranked(_), Pack::Packed(_), Some(subscript)) => self.subscript_pack(&ty, subscript),
            // in compositions only packs have items: other types were reported
            (Tensor::Ranked(_), Pack::Unknown, Some(_)) if self.context == Context::Composition => {
                self.visit_subscripts(subscripts);
                Type { optional: Optional::Maybe, ..ty }
            }
            (Tensor::Ranked(_), _, _) => self.access(whole, base, &ty, subscripts, trailing_comma),
            (Tensor::Unknown, _, _) => {
                self.visit_subscripts(subscripts);
                Type {
                    pack: Pack::Unknown,
                    optional: Optional::Maybe,
                    tensor: Tensor::Unknown,
                    base: ty.base,
                }
            }
            (Tensor::No, Pack::Single, _) if !ty.base.agrees(&Base::Str) => {
                self.visit_subscripts(subscripts);
                self.report_no_items(whole, base, &ty)
            }
            (Tensor::No, pack, Some(subscript)) => match pack {
                Pack::Single => self.subscript_string(&ty, subscript),
                _ => self.subscript_pack(&ty, subscript),
            },
            (Tensor::No, _, None) => {
                self.visit_subscripts(subscripts);
                self.report_subscripts_of_pack(whole, base, &ty)
            }
        }
    }

    /// Reports an index of a single value.
    fn report_no_items(&mut self, whole: &Expr, base: &Expr, ty: &Type) -> Type {
        let text = self.text(base.span);
        let message =
            format!("only packs, strings and tensors can be indexed; `{text}` is a single {}", ty.base);
        let mut diagnostic =
            Diagnostic::error(&codes::NOT_A_PACK, base.span, message).with_label(ty.to_string());
        if let ExprKind::Name(name) = &base.kind
            && let Some(symbol) = self.scope.lookup(&name.name)
        {
            diagnostic = diagnostic.with_label_at(symbol.span, "declared here");
            if symbol.kind == SymbolKind::FormulaLocal {
                let help = format!("a local value is one number in each step: write `{text}`");
                diagnostic = diagnostic.with_fix(help, base.span.tail_to(whole.span), "");
            }
        }
        self.sink.report(diagnostic);
        Type::unknown()
    }

    /// Reports subscripts of a tensor that are applied to a pack.
    fn report_subscripts_of_pack(&mut self, whole: &Expr, base: &Expr, ty: &Type) -> Type {
        let (span, message, help) = match guarded_index(base) {
            Some((pack, span)) => (
                span,
                format!(
                    "`{}` is a pack: bars guard the indices of a tensor, not an index of a pack",
                    self.text(pack.span)
                ),
                "write a condition after the bounds of the formula: `…, k < n | k >= 1`",
            ),
            None => (
                whole.span,
                format!(
                    "`{}` is {ty}, not a tensor: it accepts one index or one range",
                    self.text(base.span)
                ),
                "write `a[i]`, `a[i:j]`, or `a[indices]` with a pack of indices",
            ),
        };
        self.sink.report(Diagnostic::error(&codes::SUBSCRIPT_OF_PACK, span, message).with_help(help));
        Type::unknown()
    }

    /// The types of subscripts whose base has an unknown type.
    fn visit_subscripts(&mut self, subscripts: &[Subscript]) {
        for expr in subscripts.iter().flat_map(Subscript::exprs) {
            self.value(expr);
        }
    }

    /// One item of a pack, or the pack of several.
    fn subscript_pack(&mut self, pack: &Type, subscript: &Subscript) -> Type {
        match subscript {
            Subscript::Expr(index) => {
                let i = self.entity(index);
                let i = match self.context {
                    Context::Composition if i.is_tensor() => self.report_tensor_as_index(index, &i),
                    _ => self.require_value(index, i),
                };
                let optional = pack.optional.join(i.optional);
                match (&i.base, &i.pack) {
                    (Base::Int | Base::Unknown, Pack::Single) => pack.item().with_optional(optional),
                    (Base::Int, Pack::Packed(length)) => {
                        Type { pack: Pack::Packed(length.clone()), ..pack.clone().with_optional(optional) }
                    }
                    (Base::Bool, Pack::Packed(length)) => {
                        if length.differs(&pack.length()) {
                            self.report_mask_length(index, length, &pack.length());
                        }
                        Type { pack: Pack::Packed(Length::unknown()), ..pack.clone().with_optional(optional) }
                    }
                    (Base::Int | Base::Bool | Base::Unknown, Pack::Unknown)
                    | (Base::Unknown, Pack::Packed(_)) => {
                        Type { pack: Pack::Unknown, ..pack.clone().with_optional(optional) }
                    }
                    _ => {
                        let help = if i.base == Base::Bool {
                            "a single bool is not an index; a mask is a pack of bools, one per item"
                        } else {
                            "convert it with `int(…)`"
                        };
                        let message = format!(
                            "a pack is indexed by an int, a pack of ints or a mask of bools, but this is {i}"
                        );
                        let diagnostic = Diagnostic::error(&codes::INDEX_TYPE, index.span, message)
                            .with_label(i.to_string());
                        self.sink.report(match i.base {
                            Base::Real => {
                                let text = format!("int({})", self.written_text(index.span));
                                diagnostic.with_fix(help, index.span, text)
                            }
                            _ => diagnostic.with_help(help),
                        });
                        Type::unknown()
                    }
                }
            }
            _ => {
                let (optional, length) = self.subscript_range(subscript);
                Type {
                    pack: Pack::Packed(length),
                    ..pack.clone().with_optional(pack.optional.join(optional))
                }
            }
        }
    }

    /// Reports a tensor as an index: which item of a pack a statement accesses must be known at compile time.
    fn report_tensor_as_index(&mut self, index: &Expr, ty: &Type) -> Type {
        let text = self.text(index.span);
        let message = format!("`{text}` is a tensor, but an index of a pack must be known at compile time");
        self.sink.report(
            Diagnostic::error(&codes::TENSOR_AS_VALUE, index.span, message)
            .with_label(format!("of type {ty}"))
            .with_help(
                "`for item : pack` iterates over the items, `unroll..(i -> n)` makes the index of a loop static, and formulas of `@lower` take `xs[k][i,]` by an index symbol",
            ),
        );
        Type::unknown()
    }

    fn report_mask_length(&mut self, index: &Expr, mask: &Length, pack: &Length) {
        let message = format!(
            "a mask must have one item per item of the pack, but the lengths are {} and {}",
            mask.described(),
            pack.described()
        );
        let diagnostic = Diagnostic::error(&codes::LENGTHS_DIFFER, index.span, message);
        self.sink.report(diagnostic.with_label(format!("length {}", mask.described())));
    }

    /// `i:j:s` in brackets; each part may be missing.
    fn subscript_range(&mut self, subscript: &Subscript) -> (Optional, Length) {
        let Subscript::Range { begin, end, stride, .. } = subscript else {
            return (Optional::No, Length::unknown());
        };
        let mut optional = Optional::No;
        for part in [begin, end, stride].into_iter().flatten() {
            optional = optional.join(self.range_part(part).optional);
        }
        (optional, Length::unknown())
    }

    /// Characters of a string.
    fn subscript_string(&mut self, string: &Type, subscript: &Subscript) -> Type {
        match subscript {
            Subscript::Expr(index) => {
                let i = self.value(index);
                if !matches!(i.base, Base::Int | Base::Unknown) {
                    let message = format!("a string is indexed by an int or a pack of ints, but this is {i}");
                    self.sink.report(
                        Diagnostic::error(&codes::INDEX_TYPE, index.span, message).with_label(i.to_string()),
                    );
                }
                string.clone().with_optional(string.optional.join(i.optional))
            }
            _ => {
                let (optional, _) = self.subscript_range(subscript);
                string.clone().with_optional(string.optional.join(optional))
            }
        }
    }

    /// `a[i] <- b`: a with the items at positions i replaced.
    pub(super) fn substitute(
        &mut self,
        whole: &Expr,
        base: &Expr,
        subscript: &Subscript,
        value: &Expr,
    ) -> Type {
        let a = self.entity(base);
        let b = self.entity(value);
        if a.is_single() {
            self.report_not_a_pack(base, &a, "`a[i] <- b` replaces items of a pack");
            self.visit_subscripts(std::slice::from_ref(subscript));
            return Type::unknown();
        }
        let Some((positions, index, optional)) = self.replaced_positions(subscript) else {
            return a;
        };
        if !a.base.agrees(&b.base) {
            let message = format!("items of {} cannot be replaced by {}", a.base, b.base);
            let diagnostic = Diagnostic::error(&codes::SUBSTITUTION, value.span, message);
            self.sink.report(diagnostic.with_label(b.to_string()).with_label_at(base.span, a.to_string()));
        }
        self.compare_replaced(whole.span, (&positions, index), (value, &b));
        let optional = a.optional.join(b.optional).join(optional);
        Type { base: a.base.clone().or(&b.base), ..a }.with_optional(optional)
    }

    /// The positions on the left side of `<-`, their span, and whether they can be null; `None` after errors.
    fn replaced_positions(&mut self, subscript: &Subscript) -> Option<(Pack, Span, Optional)> {
        match subscript {
            Subscript::Expr(index) => {
                let i = self.value(index);
                if !matches!(i.base, Base::Int | Base::Unknown) {
                    let message = format!("the indices to replace must be int or int.., but this is {i}");
                    let diagnostic = Diagnostic::error(&codes::INDEX_TYPE, index.span, message);
                    self.sink.report(diagnostic.with_label(i.to_string()));
                    return None;
                }
                Some((i.pack, index.span, i.optional))
            }
            Subscript::Range { span, .. } => {
                let (optional, length) = self.subscript_range(subscript);
                Some((Pack::Packed(length), *span, optional))
            }
            Subscript::Expand { span, .. } | Subscript::Guard { span, .. } => {
                let message = "the left side of `<-` must be one index, a pack of indices or a range";
                let diagnostic = Diagnostic::error(&codes::SUBSCRIPT_OF_PACK, *span, message);
                self.sink.report(diagnostic.with_help("write `a[i] <- b`"));
                None
            }
        }
    }

    /// Checks that there are as many values as positions to replace.
    fn compare_replaced(
        &mut self,
        whole: Span,
        (positions, index): (&Pack, Span),
        (value, ty): (&Expr, &Type),
    ) {
        let diagnostic = match (positions, &ty.pack) {
            (Pack::Single, Pack::Packed(_)) => {
                let message = format!("a single item cannot be replaced by a pack, {ty}");
                Diagnostic::error(&codes::SUBSTITUTION, value.span, message)
                    .with_label(ty.to_string())
                    .with_label_at(index, "one location")
                    .with_help("write as many indices as values, as in `a[[0, 1]] <- [x, y]`")
            }
            (Pack::Packed(locations), Pack::Packed(values)) if locations.differs(values) => {
                let (locations, values) = (locations.described(), values.described());
                let message = format!("{locations} locations are replaced by {values} values");
                Diagnostic::error(&codes::LENGTHS_DIFFER, whole, message)
                    .with_label_at(index, format!("length {locations}"))
                    .with_label_at(value.span, format!("length {values}"))
            }
            (Pack::Packed(_), Pack::Single) => {
                let message = "a pack of indices needs as many values, but this is a single one";
                let text = self.text(value.span);
                Diagnostic::error(&codes::SUBSTITUTION, value.span, message)
                    .with_label(ty.to_string())
                    .with_label_at(index, "several locations")
                    .with_help(format!("repeat it for each index, as in `a[[0, 1]] <- [{text} ..(2)]`"))
            }
            _ => return,
        };
        self.sink.report(diagnostic);
    }
}

/// The pack in `xs[|k|]`, and the span between bars: the beginning of `xs[|k|][i,]`.
fn guarded_index(base: &Expr) -> Option<(&Expr, Span)> {
    let ExprKind::Index { base, subscripts, .. } = &base.kind else {
        return None;
    };
    let guard = subscripts.iter().find_map(|s| match s {
        Subscript::Guard { span, .. } => Some(*span),
        _ => None,
    });
    Some((base, guard?))
}
