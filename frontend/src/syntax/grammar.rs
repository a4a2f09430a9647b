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
