// SPDX-License-Identifier: Apache-2.0
//! The state of an evaluation.

use crate::eval::demand::Demands;
use crate::eval::language::Language;
use crate::eval::scope::{FormulaState, Scope};
use crate::limits::Limits;
use crate::program::Edition;
use indexmap::IndexMap;
use skript_semantics::ScalarKind;

/// A type that an expression may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum TypeName {
    Scalar(ScalarKind),
    Str,
}

impl TypeName {
    pub(crate) fn concrete(name: &str) -> Option<TypeName> {
        match name {
            "int" => Some(TypeName::Scalar(ScalarKind::Int)),
            "real" => Some(TypeName::Scalar(ScalarKind::Real)),
            "bool" => Some(TypeName::Scalar(ScalarKind::Bool)),
            "str" => Some(TypeName::Str),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            TypeName::Scalar(kind) => kind.name(),
            TypeName::Str => "str",
        }
    }
}

/// Evaluates expressions in a scope.
pub(crate) struct Evaluator<'a> {
    pub scope: &'a Scope,
    /// Generic types.
    pub types: &'a IndexMap<String, TypeName>,
    pub edition: Edition,
    pub(super) language: &'a Language,
    pub limits: &'a Limits,
    pub formula: Option<FormulaState>,
    /// Run-time conditions of the expressions evaluated so far.
    pub(crate) demands: &'a Demands,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(
        scope: &'a Scope,
        types: &'a IndexMap<String, TypeName>,
        language: &'a Language,
        limits: &'a Limits,
        demands: &'a Demands,
    ) -> Self {
        Evaluator { scope, types, edition: language.edition, language, limits, formula: None, demands }
    }
}
