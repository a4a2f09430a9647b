// SPDX-License-Identifier: Apache-2.0
//! The form of each formula of each operator instance. An instance without formulas is elementwise or only invokes
//! other operators.

use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, OperationRef, RegionLike};
use skript_dialect::melior;
use skript_passes::ir::builder::operations;
use skript_passes::ir::func::callee;
use skript_passes::ir::skript::Invoke;

use std::collections::BTreeMap;
use std::fmt;

/// The form of one formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// Only invocations, and branches and loops around them.
    Calls,
    /// Elementwise, with slices, pads, broadcasts and transposes of its operands.
    Map,
    /// `dot_general`.
    DotGeneral,
    /// `dot_general`; skipped products are multiplied by zero if the other factor is finite.
    MaskedDotGeneral,
    /// `convolution`.
    Convolution,
    /// `convolution` with zeros at the borders or between elements, which requires that the other factor is finite.
    BorderedConvolution,
    /// `reduce`.
    Reduce,
    /// `reduce` of elements with their positions.
    ArgReduce,
    /// `reduce_window`.
    ReduceWindow,
    /// A map or reduction of elements at subscripts that depend on indices and extents: gathers at data-independent
    /// positions.
    Resample,
    /// A map of elements at data-dependent subscripts: `gather`.
    Gather,
    /// Writes at data-dependent or computed subscripts: `scatter`.
    Scatter,
    /// A reduction of elements at data-dependent subscripts: gathers at all points.
    General,
    /// An intrinsic, in terms of StableHLO operations.
    Intrinsic,
    /// A loop over the sequential indices; the other indices are dimensions of tensors.
    Loop,
}

impl Form {
    /// Whether gathers replace the slices of the form.
    pub(crate) fn reads_anywhere(self) -> bool {
        matches!(self, Form::Map | Form::Reduce | Form::DotGeneral | Form::MaskedDotGeneral)
    }

    /// The condition on data that the form requires; for other data, the program executes the second branch of an `if`.
    pub(crate) fn condition(self) -> Option<&'static str> {
        match self {
            // Zero times an infinity is NaN, but the formula has no product there.
            Form::MaskedDotGeneral | Form::BorderedConvolution => Some("finite weights"),
            _ => None,
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Form::Calls => "calls",
            Form::Map => "map",
            Form::DotGeneral | Form::MaskedDotGeneral => "dot_general",
            Form::Convolution | Form::BorderedConvolution => "convolution",
            Form::Reduce => "reduce",
            Form::ArgReduce => "arg_reduce",
            Form::ReduceWindow => "reduce_window",
            Form::Resample => "resample",
            Form::Gather => "gather",
            Form::Scatter => "scatter",
            Form::General => "general",
            Form::Intrinsic => "intrinsic",
            Form::Loop => "while",
        })
    }
}

/// Forms by function, and the operators that functions are instances of.
#[derive(Clone, Debug, Default)]
pub struct Report {
    forms: Vec<(String, Form)>,
    operators: BTreeMap<String, String>,
}

impl Report {
    /// Counts one instance of an operator with this form.
    pub fn add(&mut self, function: &str, form: Form) {
        self.forms.push((function.to_owned(), form));
    }

    /// Records the operators that the invocations in a function name.
    pub(crate) fn note_operators(&mut self, function: OperationRef<'_, '_>) {
        for region in function.regions() {
            let mut block = region.first_block();
            while let Some(current) = block {
                for op in operations(current) {
                    if let Some((invoke, callee)) = Invoke::cast(op).zip(callee(op)) {
                        self.operators.insert(callee, invoke.operator());
                    }
                    self.note_operators(op);
                }
                block = current.next_in_region();
            }
        }
    }

    /// All formulas: function, operator, form.
    pub fn lines(&self) -> impl Iterator<Item = (&str, &str, Form)> {
        self.forms.iter().map(|(function, form)| {
            let operator = self.operators.get(function).map_or("", String::as_str);
            (function.as_str(), operator, *form)
        })
    }
}

/// One line for each formula, separated by tabs: function, operator, form, and its condition, if any.
impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (function, operator, form) in self.lines() {
            write!(f, "{function}\t{operator}\t{form}")?;
            match form.condition() {
                Some(condition) => writeln!(f, "\t{condition}")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
