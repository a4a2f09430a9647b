// SPDX-License-Identifier: Apache-2.0
//! `@using` and `@assert` (2.8, 2.9).

use crate::ast::{Ident, PackSpec, Target, TargetItem};
use crate::check::checker::Checker;
use crate::check::lengths::Length;
use crate::check::scope::SymbolKind;
use crate::check::types::{Base, Optional, Pack, Type};
use crate::diagnostics::{Diagnostic, codes};

/// Checks the helpers in order: each helper may use the helpers before it.
pub(super) fn check_usings(checker: &mut Checker) {
    checker.where_now = "in `@using`";
    let definition = checker.definition;
    for using in &definition.usings {
        let ty = checker.value(&using.value);
        checker.record_type(&using.value, &ty);
        match &using.target {
            Target::Item(item) => declare_helper(checker, item, ty),
            Target::List { items, .. } => {
                if ty.is_single() {
                    checker.report_not_a_pack(&using.value, &ty, "a list on the left side receives a pack");
                    declare_parts(checker, items, &Type::unknown());
                    continue;
                }
                if items.iter().all(|i| !has_unknown_length(i)) {
                    let total =
                        items.iter().fold(Length::number(0), |sum, i| sum.plus(&part_length(checker, i)));
                    if ty.length().differs(&total) {
                        let message = format!(
                            "a pack of length {} cannot be destructured into {} items",
                            ty.length().described(),
                            total.described()
                        );
                        checker.sink.report(
                            Diagnostic::error(&codes::LENGTHS_DIFFER, using.value.span, message)
                                .with_label(format!("length {}", ty.length().described()))
                                .with_help("put the rest into a pack, as in `[a, b..] = c`"),
                        );
                    }
                }
                if let Some(second) = items.iter().filter(|i| has_unknown_length(i)).nth(1) {
                    let message = "two parts of unknown length: the split is not determined";
                    let help = "give all packs but one a length, as in `[a..(n), b..] = c`";
                    let diagnostic = Diagnostic::error(&codes::HELPER_PARTS, second.span(), message);
                    checker.sink.report(diagnostic.with_help(help));
                }
                declare_parts(checker, items, &ty);
            }
        }
    }
}

fn declare_helper(checker: &mut Checker, item: &TargetItem, ty: Type) {
    let [name] = item.names() else {
        return;
    };
    let Some(pack) = item.pack() else {
        let ty = match &ty.pack {
            // The document has no name for the length, but the length is the same at all uses of the helper.
            Pack::Packed(length) if *length == Length::unknown() => {
                Type { pack: Pack::Packed(Length::symbol(&format!("|{}|", name.name))), ..ty }
            }
            _ => ty,
        };
        checker.declare(name, SymbolKind::Using, ty);
        return;
    };
    if ty.is_single() {
        let message = format!("`{}` is declared as a pack, but its value is a single {}", name.name, ty.base);
        let diagnostic = Diagnostic::error(&codes::HELPER_PARTS, item.span(), message);
        let help = format!("write `{} = …` without `..`", name.name);
        checker.sink.report(diagnostic.with_fix(help, item.span(), name.name.as_str()));
    }
    let length = stated_length(checker, pack);
    if length.differs(&ty.length()) {
        let message = format!(
            "`{}` is declared with length {}, but its value has length {}",
            name.name,
            length.described(),
            ty.length().described()
        );
        checker.sink.report(Diagnostic::error(&codes::LENGTHS_DIFFER, item.span(), message));
    }
    let length = length.merge(&ty.length());
    let ty = Type { pack: Pack::Packed(length), ..ty };
    checker.declare(name, SymbolKind::Using, ty);
}

/// The `n` of `..(n)`.
fn stated_length(checker: &mut Checker, pack: &PackSpec) -> Length {
    match &pack.length {
        Some(length) => {
            checker.repeat_count(length);
            checker.length_of(length)
        }
        None => Length::unknown(),
    }
}

/// The number of items that a part with a declared length receives.
fn part_length(checker: &Checker, item: &TargetItem) -> Length {
    let stated = |pack: &PackSpec| {
        let length = pack.length.as_ref();
        length.map_or_else(Length::unknown, |l| checker.length_of(l))
    };
    match item {
        TargetItem::Name { pack: None, .. } | TargetItem::Omitted(_) => Length::number(1),
        _ => item.pack().map_or_else(Length::unknown, stated).times(item.names().len()),
    }
}

/// `[a, b.., (e, f)..] = c`.
fn declare_parts(checker: &mut Checker, items: &[TargetItem], whole: &Type) {
    let part = |pack: Option<Length>| match pack {
        Some(length) => Type { pack: Pack::Packed(length), ..whole.clone() },
        None => whole.item(),
    };
    for item in items {
        let stated = item.pack().map(|p| stated_length(checker, p));
        // All parts of a zip have one length.
        let length = stated.zip(item.names().first()).map(|(length, first)| named_length(length, first));
        for name in item.names() {
            checker.declare(name, SymbolKind::Using, part(length.clone()));
        }
    }
}

/// `@assert`: conditions are bools, printed values are defined.
pub(super) fn check_assertions(checker: &mut Checker) {
    checker.where_now = "in `@assert`";
    let definition = checker.definition;
    for assertion in &definition.asserts {
        let ty = checker.value(&assertion.condition);
        if !ty.base.agrees(&Base::Bool) {
            let message = format!("an assertion must be a bool, but this is {}", ty.base);
            checker.sink.report(
                Diagnostic::error(&codes::ASSERTION_NOT_BOOL, assertion.condition.span, message)
                    .with_label(ty.to_string())
                    .with_help("compare it, as in `n > 0`"),
            );
        }
        // printed values may assume the tested condition
        let (tested, _) = super::expressions::null_tests(&assertion.condition);
        checker.scope.enter_promoted(&tested, Optional::Maybe);
        if let Some(message) = &assertion.message {
            checker.string(message);
        }
        for asserted in &assertion.values {
            if let Some(label) = &asserted.label {
                checker.string(label);
            }
            checker.value(&asserted.value);
        }
        checker.scope.leave();
    }
}

/// Whether the item is a pack of unknown length.
fn has_unknown_length(item: &TargetItem) -> bool {
    item.pack().is_some_and(|pack| pack.length.is_none())
}

/// A new unknown for the length of a pack.
fn named_length(length: Length, name: &Ident) -> Length {
    if length == Length::unknown() { Length::symbol(&format!("|{}|", name.name)) } else { length }
}
