// SPDX-License-Identifier: Apache-2.0
//! A rule of the export: a predicate and a rewrite in one function.

use super::access::Gathered;
use super::error::ExportError;
use super::field::Field;
use super::formula::{Combination, Formula, Statement};
use super::report::Form;
use melior::ir::Value;
use skript_dialect::melior;

/// A form of the export and its condition. The tests run the example and write the table of the documentation.
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) struct Rule {
    /// The form that the report names. A rewrite may return a variant with the same name.
    pub form: Form,
    /// The formulas that the rule applies to, as a phrase.
    pub(crate) applies_to: &'static str,
    pub(crate) rewrite: Rewrite,
    /// A program for which the report names the form because of this rule.
    pub example: Example,
}

/// A small program.
#[cfg_attr(not(test), allow(dead_code))]
pub(crate) enum Example {
    /// An operator in SkriptND: its inputs, its outputs, and its formulas.
    Formula { inputs: &'static str, outputs: &'static str, lower: &'static str },
    /// A module in the `skript` dialect.
    Module(&'static str),
}

/// The result of a rewrite; `None` if its rule does not apply.
pub(crate) type Applied<T> = Result<Option<T>, ExportError>;

/// A destination after a formula, and the form.
pub(crate) type Destination<'c, 'a> = (Value<'c, 'a>, Form);

/// The result of a combination: the values, the points that have a value (`None`: all points), and the form.
pub(crate) type Combined<'c, 'a> = (Field<'c, 'a>, Option<Field<'c, 'a>>, Form);

/// The level at which a rule applies, and its rewrite.
pub(crate) enum Rewrite {
    /// All destinations of a formula, after it.
    Formula(for<'f, 'c, 'a> fn(&Formula<'f, 'c, 'a>) -> Applied<Vec<Value<'c, 'a>>>),
    /// One destination of a formula that is evaluated at every point.
    Destination(for<'s, 'r, 'c, 'a> fn(&Statement<'s, 'r, 'c, 'a>) -> Applied<Destination<'c, 'a>>),
    /// The combination of all values for one element of a destination.
    Combination(for<'s, 'r, 'c, 'a> fn(&Combination<'s, 'r, 'c, 'a>) -> Applied<Combined<'c, 'a>>),
    /// Whether gathers of this kind rename a form.
    Reads(fn(Form, Gathered) -> bool),
    /// An operator instance without formulas; the walk over its operations decides.
    Instance,
}
