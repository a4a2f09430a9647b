// SPDX-License-Identifier: Apache-2.0
//! The steps of a pipeline, which are passes with options, or steps that are nested on an anchor operation.

use skript_dialect::Pass;
use std::fmt;

/// A step. Its text is MLIR's pipeline syntax: `flag{option=value}`, or `anchor(step,step)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Pass { flag: &'static str, options: Vec<(&'static str, String)> },
    Nested { anchor: &'static str, steps: Vec<Step> },
}

impl Step {
    /// An upstream pass.
    pub(crate) fn upstream(flag: &'static str) -> Step {
        Step::Pass { flag, options: Vec::new() }
    }

    /// Steps on each operation with this name. MLIR runs them on several threads.
    pub(crate) fn nested(anchor: &'static str, steps: impl IntoIterator<Item = Step>) -> Step {
        Step::Nested { anchor, steps: steps.into_iter().collect() }
    }

    /// Whether the step contains steps for each operation with a name.
    pub(crate) fn is_nested(&self) -> bool {
        matches!(self, Step::Nested { .. })
    }

    /// The step with an option. Nested steps have no options.
    #[must_use]
    pub(crate) fn with(self, name: &'static str, value: impl fmt::Display) -> Step {
        self.with_all([(name, value)])
    }

    /// The step with the option `true` if `is_set`, or without the option.
    #[must_use]
    pub(crate) fn with_flag(self, name: &'static str, is_set: bool) -> Step {
        self.with_all(is_set.then_some((name, true)))
    }

    /// The step with several options.
    #[must_use]
    pub(crate) fn with_all(
        mut self,
        added: impl IntoIterator<Item = (&'static str, impl fmt::Display)>,
    ) -> Step {
        debug_assert!(!self.is_nested(), "nested steps have no options");
        if let Step::Pass { options, .. } = &mut self {
            options.extend(added.into_iter().map(|(name, value)| (name, value.to_string())));
        }
        self
    }
}

impl From<&Pass> for Step {
    fn from(pass: &Pass) -> Step {
        Step::Pass { flag: pass.flag, options: Vec::new() }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Pass { flag, options } if options.is_empty() => f.write_str(flag),
            Step::Pass { flag, options } => {
                let options: Vec<String> =
                    options.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(f, "{flag}{{{}}}", options.join(" "))
            }
            Step::Nested { anchor, steps } => write!(f, "{anchor}({})", text(steps)),
        }
    }
}

/// The text of steps, separated by commas.
pub(crate) fn text(steps: &[Step]) -> String {
    steps.iter().map(Step::to_string).collect::<Vec<_>>().join(",")
}

/// Canonicalization without region simplification, which searches the entire module for equal blocks and dead loop-carried
/// values. After the stage `lower`, a module has neither, and LLVM simplifies the blocks of lowered loops.
pub(crate) fn canonicalize_operations() -> Step {
    Step::upstream("canonicalize").with("region-simplify", "disabled")
}

/// Canonicalization and the elimination of common subexpressions.
pub(crate) fn simplify() -> [Step; 2] {
    ["canonicalize", "cse"].map(Step::upstream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_have_the_syntax_of_mlir() {
        let cse = Step::upstream("cse");
        let plain = cse.clone().with_flag("deep", false);
        assert_eq!(plain, cse);
        let nested = Step::nested("func.func", [cse.with("most", 3).with_flag("deep", true), plain]);
        assert_eq!(
            text(&[nested, canonicalize_operations()]),
            "func.func(cse{most=3 deep=true},cse),canonicalize{region-simplify=disabled}"
        );
    }
}
