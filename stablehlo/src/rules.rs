// SPDX-License-Identifier: Apache-2.0
//! The forms of the export: one table of rules.
//!
//! The export tries the rules in the order of [`RULES`], level by level, and uses the first rule that applies. A rule
//! is a predicate and a rewrite in one function, which returns `None` if the rule does not apply.

use super::access::Gathered;
use super::report::Form;
use super::rule::{Example, Rewrite, Rule};
use super::{arg_reduce, compaction, formula, product, sequence, window, write};

/// All rules. The order is the priority within a level.
pub(crate) const RULES: &[Rule] = &[
    Rule {
        form: Form::Map,
        applies_to: "a formula without points",
        rewrite: Rewrite::Formula(formula::without_points),
        example: Example::Formula {
            inputs: "x: real[4,0];",
            outputs: "y: real[4];",
            lower: "y[i,] += x[i,j], i < 4, j < 0;",
        },
    },
    Rule {
        form: Form::Scatter,
        applies_to: "writes at a position that counts earlier writes",
        rewrite: Rewrite::Formula(compaction::rewrite),
        example: Example::Module(include_str!("rules/counted.mlir")),
    },
    Rule {
        form: Form::Loop,
        applies_to: "a step that may write an element of a destination twice",
        rewrite: Rewrite::Formula(sequence::repeated),
        example: Example::Formula {
            inputs: "x: real[4];",
            outputs: "y: real[4,3];",
            lower: "y[i,j] = x[i,], i < 4, j < 3; y[i,:] := [y[i,1], y[i,2], y[i,0] + y[i,1]], i < 4;",
        },
    },
    Rule {
        form: Form::ArgReduce,
        applies_to: "the position of the best element",
        rewrite: Rewrite::Formula(arg_reduce::rewrite),
        example: Example::Formula {
            inputs: "x: real[8];",
            outputs: "y: int[];",
            lower: "y[] = 0; y[] := i, i < 8 | x[i,] > x[y[],];",
        },
    },
    Rule {
        form: Form::Loop,
        applies_to: "a formula that reads its own output, or assigns its only element repeatedly",
        rewrite: Rewrite::Formula(sequence::ordered),
        example: Example::Formula {
            inputs: "x: real[8];",
            outputs: "y: real[8];",
            lower: "y[i,] = 0.0, i < 8; y[i,] := i > 0 ? y[i - 1,] + x[i,] : x[i,], i < 8;",
        },
    },
    Rule {
        form: Form::Map,
        applies_to: "a destination without elements",
        rewrite: Rewrite::Destination(formula::without_elements),
        example: Example::Formula {
            inputs: "x: real[4]; p: int[4];",
            outputs: "y: real[0];",
            lower: "y[p[i,],] := x[i,], i < 4;",
        },
    },
    Rule {
        form: Form::Map,
        applies_to: "each element of a block once, from elements at affine positions",
        rewrite: Rewrite::Destination(formula::block),
        example: Example::Formula {
            inputs: "x: real[8];",
            outputs: "y: real[4];",
            lower: "y[i,] = x[2 * i,], i < 4;",
        },
    },
    Rule {
        form: Form::Scatter,
        applies_to: "the last of several writes at positions that depend on data",
        rewrite: Rewrite::Destination(formula::last_write),
        example: Example::Formula {
            inputs: "x: real[4]; p: int[4];",
            outputs: "y: real[8];",
            lower: "y[i,] = 0.0, i < 8; y[p[i,],] := x[i,], i < 4;",
        },
    },
    Rule {
        form: Form::Scatter,
        applies_to: "writes at positions that depend on data",
        rewrite: Rewrite::Destination(formula::scatter),
        example: Example::Formula {
            inputs: "x: real[4]; p: int[4];",
            outputs: "y: real[8];",
            lower: "y[p[i,],] += x[i,], i < 4;",
        },
    },
    Rule {
        form: Form::Convolution,
        applies_to: "a sum of products in which one factor slides",
        rewrite: Rewrite::Combination(product::convolution),
        example: Example::Formula {
            inputs: "x: real[8]; w: real[3];",
            outputs: "y: real[6];",
            lower: "y[k,] += x[k + r,] * w[r,], k < 6, r < 3;",
        },
    },
    Rule {
        form: Form::DotGeneral,
        applies_to: "a sum of products whose factors share reduced indices",
        rewrite: Rewrite::Combination(product::contraction),
        example: Example::Formula {
            inputs: "a: real[4,5]; b: real[5,6];",
            outputs: "y: real[4,6];",
            lower: "y[i,j] += a[i,k] * b[k,j], i < 4, j < 6, k < 5;",
        },
    },
    Rule {
        form: Form::ReduceWindow,
        applies_to: "a reduction over a window that slides",
        rewrite: Rewrite::Combination(window::reduction),
        example: Example::Formula {
            inputs: "x: real[8];",
            outputs: "y: real[6];",
            lower: "y[k,] += x[k + r,], k < 6, r < 3;",
        },
    },
    Rule {
        form: Form::Reduce,
        applies_to: "any other reduction of elements at affine positions",
        rewrite: Rewrite::Combination(write::reduction),
        example: Example::Formula {
            inputs: "x: real[4,5];",
            outputs: "y: real[4];",
            lower: "y[i,] += x[i,j], i < 4, j < 5;",
        },
    },
    Rule {
        form: Form::Resample,
        applies_to: "elements at positions that indices and extents decide",
        rewrite: Rewrite::Reads(|form, reads| reads == Gathered::Known && form.reads_anywhere()),
        example: Example::Formula {
            inputs: "x: real[10];",
            outputs: "y: real[4,4];",
            lower: "y[i,j] = x[i * j,], i < 4, j < 4;",
        },
    },
    Rule {
        form: Form::Gather,
        applies_to: "a map of elements at positions that depend on data",
        rewrite: Rewrite::Reads(|form, reads| reads == Gathered::Data && form == Form::Map),
        example: Example::Formula {
            inputs: "x: real[8]; p: int[4];",
            outputs: "y: real[4];",
            lower: "y[i,] = x[p[i,],], i < 4;",
        },
    },
    Rule {
        form: Form::General,
        applies_to: "a reduction of elements at positions that depend on data",
        rewrite: Rewrite::Reads(|form, reads| reads == Gathered::Data && form.reads_anywhere()),
        example: Example::Formula {
            inputs: "x: real[8]; p: int[4,3];",
            outputs: "y: real[4];",
            lower: "y[i,] += x[p[i,j],], i < 4, j < 3;",
        },
    },
    Rule {
        form: Form::Intrinsic,
        applies_to: "an operator without a formula ([intrinsics](../intrinsics.md))",
        rewrite: Rewrite::Instance,
        example: Example::Module(include_str!("rules/intrinsic.mlir")),
    },
    Rule {
        form: Form::Map,
        applies_to: "an instance of elementwise operations",
        rewrite: Rewrite::Instance,
        example: Example::Module(include_str!("rules/elementwise.mlir")),
    },
    Rule {
        form: Form::Calls,
        applies_to: "an instance that only invokes others",
        rewrite: Rewrite::Instance,
        example: Example::Formula {
            inputs: "x: real[8];",
            outputs: "y: real[4];",
            lower: "y[i,] = x[2 * i,], i < 4;",
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Report, Weights, context, export};
    use skript_dialect::melior::Context;
    use skript_dialect::melior::ir::Module;
    use skript_frontend::check::check_program;
    use skript_frontend::compose::{ComposeOptions, compose};
    use skript_frontend::diagnostics::Sink;
    use skript_frontend::limits::Limits;
    use skript_frontend::source_files::load_text;
    use std::path::Path;

    /// A model whose graph invokes an operator `f` with the formulas.
    fn model(inputs: &str, outputs: &str, lower: &str) -> String {
        let names: Vec<&str> =
            inputs.split(';').filter_map(|port| port.split_once(':')).map(|(name, _)| name.trim()).collect();
        let ports = format!("@input {{ {inputs} }} @output {{ {outputs} }}");
        format!(
            "operator f {{ {ports} @lower {{ {lower} }} }}\n\
             graph G {{ {ports} @compose {{ y = f({}); }} }}\n",
            names.join(", ")
        )
    }

    fn emitted<'c>(text: &str, context: &'c Context) -> Module<'c> {
        let (limits, mut sink) = (Limits::default(), Sink::default());
        let program = load_text(text, Path::new("main.sknd"), None, &limits, &mut sink);
        check_program(&program, &mut sink);
        let model = compose(&program, &ComposeOptions::default(), &limits, &mut sink);
        let messages: Vec<String> = sink.into_sorted().into_iter().map(|d| d.message).collect();
        let model = model.unwrap_or_else(|| panic!("{messages:?}\n{text}"));
        skript_passes::emit::emit(&model, &program.sources, context).expect(text)
    }

    fn report(example: &Example) -> Report {
        let context = context();
        let source = match example {
            Example::Module(text) => Module::parse(&context, text).expect(text),
            Example::Formula { inputs, outputs, lower } => emitted(&model(inputs, outputs, lower), &context),
        };
        let exported = export(&source, &context, &Weights::default());
        exported.unwrap_or_else(|e| panic!("{e}")).report
    }

    #[test]
    fn the_report_of_each_example_names_the_form_of_its_rule() {
        for rule in RULES {
            let report = report(&rule.example);
            let forms: Vec<String> = report.lines().map(|(_, _, f)| f.to_string()).collect();
            assert!(forms.contains(&rule.form.to_string()), "{}: {}: {forms:?}", rule.form, rule.applies_to);
        }
    }

    /// Forms that do not read single elements keep their names: gathers that were built before the detection of a
    /// window are dead.
    #[test]
    fn gathers_rename_forms_that_read_elements() {
        let renamed = |form, reads| {
            let rule = RULES.iter().find(|rule| match rule.rewrite {
                Rewrite::Reads(applies) => applies(form, reads),
                _ => false,
            });
            rule.map(|rule| rule.form)
        };
        assert_eq!(renamed(Form::Map, Gathered::Nothing), None);
        assert_eq!(renamed(Form::Map, Gathered::Known), Some(Form::Resample));
        assert_eq!(renamed(Form::Map, Gathered::Data), Some(Form::Gather));
        for form in [Form::Reduce, Form::DotGeneral, Form::MaskedDotGeneral] {
            assert_eq!(renamed(form, Gathered::Known), Some(Form::Resample));
            assert_eq!(renamed(form, Gathered::Data), Some(Form::General));
        }
        for form in [Form::Convolution, Form::BorderedConvolution, Form::ReduceWindow, Form::Scatter] {
            assert_eq!(renamed(form, Gathered::Data), None);
        }
    }

    /// The table of the page: a row for each rule, in the order of priority.
    #[test]
    fn the_page_lists_all_rules() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/stablehlo/export.md");
        let page = std::fs::read_to_string(page).expect("the page is part of the project");
        let row = |rule: &Rule| format!("| `{}` | {} |\n", rule.form, rule.applies_to);
        let table: String = RULES.iter().map(row).collect();
        assert!(page.contains(&table), "docs/stablehlo/export.md lacks:\n{table}");
    }
}
