// SPDX-License-Identifier: Apache-2.0
//! The generated parser of `skript.pest`.

// Generated code; its rules need no documentation.
#[allow(missing_docs)]
mod generated {
    #[derive(pest_derive::Parser)]
    #[grammar = "syntax/skript.pest"]
    pub(crate) struct SkriptGrammar;
}

pub(crate) use generated::{Rule, SkriptGrammar};

pub(crate) type Pair<'t> = pest::iterators::Pair<'t, Rule>;

/// The direct children of a rule.
pub(super) fn all<'t>(pair: &Pair<'t>, rule: Rule) -> impl Iterator<Item = Pair<'t>> {
    pair.clone().into_inner().filter(move |child| child.as_rule() == rule)
}

/// The first direct child of a rule.
pub(super) fn find<'t>(pair: &Pair<'t>, rule: Rule) -> Option<Pair<'t>> {
    all(pair, rule).next()
}
