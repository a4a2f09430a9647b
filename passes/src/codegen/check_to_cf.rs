// SPDX-License-Identifier: Apache-2.0
//! `convert-skript-check-to-cf`: converts run-time checks to `cf.assert`, for other compilers.
//!
//! The message of an assertion is that of the check after its code, with the placeholders of its values: `cf.assert` prints no values.
//! The compiler's own code lowers checks by `skript-lower-checks`, which reports the values.
//!
//! Guarantees: no `skript.check` is left.

use crate::ir::skript::Check;
use crate::ir::{Builder, attributes, ops, replace_each};
use skript_dialect::{Dialect, Pass, PassOption, op};

pub(crate) const PASS: Pass = Pass {
    flag: "convert-skript-check-to-cf",
    summary: "convert run-time checks to assertions",
    dependent_dialects: &[Dialect::ControlFlow],
    options: &[PassOption {
        name: "drop",
        summary: "erase the checks: inputs are trusted to satisfy them",
        default: "false",
    }],
    run: |root, options, rewriter| {
        let drop: bool = options.get("drop")?;
        let checks = op::collect(&root, |op| op::is(&op, ops::skript::CHECK));
        replace_each(checks, rewriter, |op| {
            if !drop && let Some(check) = Check::cast(op) {
                let at = Builder::before(rewriter.context(), op)?;
                let text = format!("{}: {}", check.code(), check.message());
                let message = [("msg", attributes::string(rewriter.context(), &text))];
                at.create(ops::cf::ASSERT, &[check.condition()?], &message, &[], Vec::new())?;
            }
            Ok(Vec::new())
        })
    },
    ..Pass::NONE
};
