// SPDX-License-Identifier: Apache-2.0
//! `@using` and `@assert` (2.8, 2.9).

use crate::ast::{Ident, PackSpec, UsingItem, UsingListItem, UsingTarget};
use crate::diagnostics::{Diagnostic, codes};

use super::definition::Checker;
use super::lengths::Length;
use super::scope::SymbolKind;
use super::types::{Base, Optional, Pack, Type};

impl Checker<'_> {
    /// Helpers in order: each sees those before it.
    pub(super) fn check_usings(&mut self) {
        self.where_now = "in `@using`";
        let definition = self.definition;
        for using in &definition.usings {
            let ty = self.value(&using.value);
            match &using.target {
                UsingTarget::Name(item) => self.declare_helper(item, ty),
                UsingTarget::List(items) => {
                    if ty.is_single() {
                        self.report_not_a_pack(&using.value, &ty, "a list on the left side receives a pack");
                        self.declare_parts(items, &Type::unknown());
                        continue;
                    }
                    if items.iter().all(|i| !is_open(i)) {
                        let total =
                            items.iter().fold(Length::number(0), |sum, i| sum.plus(&self.part_length(i)));
                        if ty.length().differs(&total) {
                            self.sink.report(
                                Diagnostic::error(
                                    &codes::LENGTHS_DIFFER,
                                    using.value.span,
                                    format!(
                                        "a pack of length {} cannot be destructured into {} items",
                                        ty.length().described(),
                                        total.described()
                                    ),
                                )
                                .with_label(format!("length {}", ty.length().described()))
                                .with_help("put the rest into a pack, as in `[a, b..] = c`"),
                            );
                        }
                    }
                    let open: Vec<&UsingListItem> = items.iter().filter(|i| is_open(i)).collect();
                    if let [_, second, ..] = open.as_slice() {
                        let span = match second {
                            UsingListItem::Item(item) => item.span,
                            UsingListItem::Zip { span, .. } | UsingListItem::Omitted(span) => *span,
                        };
                        self.sink.report(
                            Diagnostic::error(
                                &codes::HELPER_PARTS,
                                span,
                                "two parts of unknown length: the split is not determined",
                            )
                            .with_help("give all packs but one a length, as in `[a..(n), b..] = c`"),
                        );
                    }
                    self.declare_parts(items, &ty);
                }
            }
        }
    }

    fn declare_helper(&mut self, item: &UsingItem, ty: Type) {
        let Some(pack) = &item.pack else {
            let ty = match &ty.pack {
                // the document has no name for its length, but it is the same at all uses of the helper
                Pack::Packed(length) if *length == Length::unknown() => {
                    Type { pack: Pack::Packed(Length::symbol(&format!("|{}|", item.name.name))), ..ty }
                }
                _ => ty,
            };
            self.declare(&item.name, SymbolKind::Using, ty);
            return;
        };
        if ty.is_single() {
            let name = &item.name.name;
            self.sink.report(
                Diagnostic::error(
                    &codes::HELPER_PARTS,
                    item.span,
                    format!("`{name}` is declared as a pack, but its value is a single {}", ty.base),
                )
                .with_help(format!("write `{name} = …` without `..`")),
            );
        }
        let length = self.stated_length(pack);
        if length.differs(&ty.length()) {
            self.sink.report(Diagnostic::error(
                &codes::LENGTHS_DIFFER,
                item.span,
                format!(
                    "`{}` is declared with length {}, but its value has length {}",
                    item.name.name,
                    length.described(),
                    ty.length().described()
                ),
            ));
        }
        let length = length.merge(&ty.length());
        let ty = Type { pack: Pack::Packed(length), ..ty };
        self.declare(&item.name, SymbolKind::Using, ty);
    }

    /// The `n` of `..(n)`.
    fn stated_length(&mut self, pack: &PackSpec) -> Length {
        match &pack.length {
            Some(length) => {
                self.repeat_count(length);
                self.length_of(length)
            }
            None => Length::unknown(),
        }
    }

    /// The number of items that a part with a declared length receives.
    fn part_length(&self, item: &UsingListItem) -> Length {
        let stated = |pack: &PackSpec| {
            let length = pack.length.as_ref();
            length.map_or_else(Length::unknown, |l| self.length_of(l))
        };
        match item {
            UsingListItem::Item(UsingItem { pack: None, .. }) | UsingListItem::Omitted(_) => {
                Length::number(1)
            }
            UsingListItem::Item(UsingItem { pack: Some(pack), .. }) => stated(pack),
            UsingListItem::Zip { names, pack, .. } => {
                stated(pack).times(i64::try_from(names.len()).unwrap_or(i64::MAX))
            }
        }
    }

    /// `[a, b.., (e, f)..] = c`.
    fn declare_parts(&mut self, items: &[UsingListItem], whole: &Type) {
        let part = |pack: Option<Length>| match pack {
            Some(length) => Type { pack: Pack::Packed(length), ..whole.clone() },
            None => whole.item(),
        };
        for item in items {
            match item {
                UsingListItem::Item(item) => {
                    let length = item.pack.as_ref().map(|p| self.stated_length(p));
                    let length = length.map(|l| named_length(l, &item.name));
                    self.declare(&item.name, SymbolKind::Using, part(length));
                }
                UsingListItem::Omitted(_) => {}
                UsingListItem::Zip { names, pack, .. } => {
                    let length = self.stated_length(pack);
                    let first = names.first();
                    for name in names {
                        // all parts of a zip have one length
                        let length = match first {
                            Some(first) => named_length(length.clone(), first),
                            None => length.clone(),
                        };
                        self.declare(name, SymbolKind::Using, part(Some(length)));
                    }
                }
            }
        }
    }

    /// `@assert`: conditions are bools, printed values are defined.
    pub(super) fn check_assertions(&mut self) {
        self.where_now = "in `@assert`";
        let definition = self.definition;
        for assertion in &definition.asserts {
            let ty = self.value(&assertion.condition);
            if !ty.base.agrees(&Base::Bool) {
                self.sink.report(
                    Diagnostic::error(
                        &codes::ASSERTION_NOT_BOOL,
                        assertion.condition.span,
                        format!("an assertion must be a bool, but this is {}", ty.base),
                    )
                    .with_label(ty.to_string())
                    .with_help("compare it, as in `n > 0`"),
                );
            }
            // printed values may assume the tested condition
            let (tested, _) = super::expressions::null_tests(&assertion.condition);
            self.scope.enter_promoted(&tested, Optional::Maybe);
            if let Some(message) = &assertion.message {
                self.string(message);
            }
            for asserted in &assertion.values {
                if let Some(label) = &asserted.label {
                    self.string(label);
                }
                self.value(&asserted.value);
            }
            self.scope.leave();
        }
    }
}

/// A pack of unknown length.
fn is_open(item: &UsingListItem) -> bool {
    match item {
        UsingListItem::Item(item) => item.pack.as_ref().is_some_and(|p| p.length.is_none()),
        UsingListItem::Zip { pack, .. } => pack.length.is_none(),
        UsingListItem::Omitted(_) => false,
    }
}

/// A new unknown for the length of a pack.
fn named_length(length: Length, name: &Ident) -> Length {
    if length == Length::unknown() { Length::symbol(&format!("|{}|", name.name)) } else { length }
}
