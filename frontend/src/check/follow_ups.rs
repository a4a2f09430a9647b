// SPDX-License-Identifier: Apache-2.0
//! Merges or drops diagnostics that follow from other ones.

use crate::ast::Definition;
use crate::diagnostics::codes::{
    MODULE_NOT_IMPORTED, NOT_A_PACK, TENSOR_AS_VALUE, UNKNOWN_ATTRIBUTE, UNKNOWN_OPERATOR, UNKNOWN_TYPE,
};
use crate::diagnostics::{Code, Diagnostic, Severity};
use crate::program::Program;
use crate::source::Span;
use rustc_hash::FxHashMap;

/// Diagnostics about a name that has the same error wherever it is used.
const OF_NAMES: [&Code; 5] =
    [&MODULE_NOT_IMPORTED, &UNKNOWN_OPERATOR, &UNKNOWN_TYPE, &UNKNOWN_ATTRIBUTE, &NOT_A_PACK];

/// The messages about a program in order, one for each error.
pub(super) fn without(found: Vec<Diagnostic>, program: &Program) -> Vec<Diagnostic> {
    let remaining = without_consequences(found, program);
    joined(remaining, program)
}

/// Drops diagnostics of invocations that depend on a name with an error in the invoked definition.
fn without_consequences(found: Vec<Diagnostic>, program: &Program) -> Vec<Diagnostic> {
    let causes: Vec<(Span, &str)> = found
        .iter()
        .filter(|d| d.severity == Severity::Error && d.cause.is_none())
        .filter_map(|d| Some((d.span?, name_at(program.sources.text(d.span?))?)))
        .collect();
    let follows = |d: &Diagnostic| {
        d.cause.as_ref().is_some_and(|(location, name)| {
            let mut causes = causes.iter();
            causes.any(|(span, wrong)| location.holds(*span) && wrong == name)
        })
    };
    let keep: Vec<bool> = found.iter().map(|d| !follows(d)).collect();
    let kept = found.into_iter().zip(keep).filter(|(_, keep)| *keep);
    kept.map(|(diagnostic, _)| diagnostic).collect()
}

/// The name in an expression that is a name, or an access of one.
fn name_at(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let rest = text.trim_start_matches(is_part);
    let name = text.strip_suffix(rest)?;
    let is_alone = rest.is_empty() || rest.starts_with('[') && rest.ends_with(']');
    (is_alone && !name.is_empty()).then_some(name)
}

/// Merges the diagnostics of one name at several locations, and of several tensors in one expression.
fn joined(found: Vec<Diagnostic>, program: &Program) -> Vec<Diagnostic> {
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut first: FxHashMap<(&str, String, Option<Span>), usize> = FxHashMap::default();
    for diagnostic in found {
        let about_one = diagnostic.span.and_then(|span| Some((span, scope_of(&diagnostic, span, program)?)));
        let Some((span, (message, scope))) = about_one else {
            kept.push(diagnostic);
            continue;
        };
        let key = (diagnostic.code.id, message, scope);
        match first.get(&key).and_then(|at| kept.get_mut(*at)) {
            Some(same) => same.and_at(span),
            None => {
                first.insert(key, kept.len());
                kept.push(diagnostic);
            }
        }
    }
    kept
}

/// The subject of a message and further locations of it: `None` if it is not merged.
fn scope_of(diagnostic: &Diagnostic, span: Span, program: &Program) -> Option<(String, Option<Span>)> {
    let definition = || definition_around(span, program);
    let about = diagnostic.message.clone();
    match diagnostic.code {
        // One diagnostic describes the error of the entire expression.
        code if code == &TENSOR_AS_VALUE => {
            let statement = definition()?.statement_around(span)?;
            Some((String::new(), Some(statement)))
        }
        // The same name may have another meaning in another definition.
        code if code == &NOT_A_PACK || code == &UNKNOWN_TYPE => {
            Some((about, definition().map(|definition| definition.span)))
        }
        code if OF_NAMES.contains(&code) => Some((about, Some(Span::new(span.file, 0, 0)))),
        _ => None,
    }
}

fn definition_around(span: Span, program: &Program) -> Option<&Definition> {
    let mut definitions = program.modules.values().flat_map(|m| &m.definitions);
    definitions.find(|definition| definition.span.holds(span))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, in_document};

    /// Codes, and the number of locations that each message shows.
    fn reported_codes(text: &str) -> Vec<(&'static str, usize)> {
        let diagnostics = check(&in_document(text));
        diagnostics.iter().map(|d| (d.code.id, d.labels.len())).collect()
    }

    const GRAPH: &str = "graph G { @input { x: real[2]; } @output { y: real[2]; } @compose { ";

    #[test]
    fn repeated_errors_of_a_name_are_one_diagnostic() {
        let unknown_module = format!("{GRAPH} a = away.f(x); b = away.g(a); y = away.f(b); }} }}");
        assert_eq!(reported_codes(&unknown_module), [("SK1002", 2)]);
        let renamed = format!("{GRAPH} a = first(x); y = first(a); }} }}");
        assert_eq!(reported_codes(&renamed), [("SK1001", 1)]);
        let two = format!("{GRAPH} a = first(x); y = second(a); }} }}");
        assert_eq!(reported_codes(&two), [("SK1001", 0), ("SK1001", 0)]);
        let types = "operator f { @input { x: S[n]; z: S[n]; } @output { y: S[n]; } }
operator g { @input { x: S[n]; } @output { y: S[n]; } }";
        let types = format!("{types} {GRAPH} y = x; }} }}");
        assert_eq!(reported_codes(&types), [("SK0301", 2), ("SK0301", 1)]);
    }

    #[test]
    fn errors_of_parameters_are_not_repeated_for_callers() {
        let operator = |declared: &str, used: &str| {
            format!(
                "operator f {{ @attrib {{ {declared}: int; }} @using {{ a = {used} + 1; }} @input {{ x: real[n]; }}
                 @output {{ y: real[n]; }} @lower {{ y[i,] = x[i,] * real(a), i < n; }} }} {GRAPH} y = f{{size=1}}(x); }} }}"
            )
        };
        assert_eq!(reported_codes(&operator("sizes", "size")), [("SK0213", 0)]);
        // An error of another name there does not affect this one.
        let reported = reported_codes(&operator("sizes", "other"));
        assert_eq!(reported, [("SK0213", 0), ("SK1003", 0)]);
        let reported = reported_codes(&operator("sizes", "sizes"));
        assert_eq!(reported, [("SK1003", 0)]);
    }
}
