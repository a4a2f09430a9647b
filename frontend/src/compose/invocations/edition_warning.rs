// SPDX-License-Identifier: Apache-2.0
//! Warns of int divisions whose results depend on an edition that only the syntax of the module selects.

use super::builder::Builder;
use crate::compose::context::Context;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::EDITION_OF_DIVISION;
use skript_semantics::ScalarOp;

pub(super) fn warn_of_divisions(context: &mut Context, builder: &Builder) {
    let Some((selector, syntax)) = context.program.khronos_syntax(builder.operator.module) else {
        return;
    };
    for division in builder.language.take_divisions() {
        let (khronos, draft) = match division.op {
            ScalarOp::CeilDiv => ("rounds away from zero", "rounds up"),
            ScalarOp::Mod => ("has the sign of the dividend", "has the sign of the divisor"),
            _ => ("rounds toward zero", "rounds down"),
        };
        let text = context.source_text(division.span);
        let message = format!(
            "`{text}` {khronos} for a negative operand, because `{syntax}` selects the edition khronos"
        );
        let help = format!(
            "`--edition=khronos` states that this is intended; in the draft's edition it {draft}: pass \
             `--edition=draft6`, or {}",
            draft_spelling(syntax)
        );
        let diagnostic = Diagnostic::warning(&EDITION_OF_DIVISION, division.span, message);
        let diagnostic = diagnostic.with_label_at(*selector, "selects the edition khronos");
        context.report(diagnostic.with_help(help));
    }
}

/// How to write syntax of the edition khronos in the draft's.
fn draft_spelling(syntax: &str) -> String {
    let instead = match syntax {
        "<?" => "`<<`",
        ">?" => "`>>`",
        "<?=" => "`<=`",
        ">?=" => "`>=`",
        "with" => "`z = value, y[i,] = …`",
        "import …, …" => "one `import` for each module",
        ",}" => "`}` without a comma",
        ":" => "an index with a bound",
        "static" | "dynamic" | "..(… | …)" => return "write the module without this syntax".to_string(),
        function => return format!("write `` `{function}`(x) `` in place of `{function}(x)`"),
    };
    format!("write {instead} in place of `{syntax}`")
}
