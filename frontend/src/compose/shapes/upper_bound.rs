// SPDX-License-Identifier: Apache-2.0
//! `s|k` in the shape of an input: the extent of the argument must not exceed `k` (2.6).

use crate::ast::{self, ExtentSpec, PackSpec};
use crate::compose::composer::{Composed, Composer};
use crate::compose::declarations::tensors::upper_extents;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::affine_extent::Bound;
use crate::compose::shapes::checks::{keep, parts, text};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::EXTENT_MISMATCH;
use crate::eval::ranges::decided;
use crate::eval::{Atom, Value};
use crate::model::{Check, CheckKind, Expr, MessagePart};
use crate::source::Span;

/// When a run checks a bound that composition cannot check.
#[derive(Clone, Copy)]
pub(crate) enum Tested {
    /// Before the body: inputs determine the extent.
    Before,
    /// As soon as the body has computed the tensor with the extent.
    Behind,
}

impl<'p> Composer<'p, '_> {
    /// Checks actual extents against the declared upper bound: at compile time if it is known, else at run time.
    pub(crate) fn check_upper_bounds(
        &mut self,
        builder: &mut Builder<'p>,
        declared: &ExtentSpec,
        actual: &Value,
        location: &Bound,
        when: Tested,
    ) -> Composed<()> {
        let Some(bound) = &declared.bound else {
            return Ok(());
        };
        self.check_bound(builder, (bound, declared.pack.as_ref(), declared.span), actual, (location, when))
    }

    /// The same for the length of a pack, `..(s|5)`.
    pub(crate) fn check_length_bound(
        &mut self,
        builder: &mut Builder<'p>,
        declared: &PackSpec,
        actual: &Value,
        location: &Bound,
    ) -> Composed<()> {
        let Some(bound) = &declared.bound else {
            return Ok(());
        };
        let location = (location, Tested::Before);
        self.check_bound(builder, (bound, None, bound.span), actual, location)
    }

    fn check_bound(
        &mut self,
        builder: &mut Builder<'p>,
        (bound, pack, span): (&ast::Expr, Option<&PackSpec>, Span),
        actual: &Value,
        (location, when): (&Bound, Tested),
    ) -> Composed<()> {
        if !Self::unknown_names(builder, bound).is_empty() {
            return Ok(());
        }
        let limits = {
            let mut evaluator = builder.evaluator(self.limits);
            upper_extents(&mut evaluator, bound, pack)
        };
        let limits = limits.map_err(|s| self.failed(s))?;
        for (atom, limit) in actual.atoms().iter().zip(limits) {
            let extent = match atom {
                Atom::Int(n) => Expr::int(*n),
                Atom::Run(expr) => (**expr).clone(),
                _ => continue,
            };
            let condition = limit.holds(extent.clone());
            let what = location.what;
            match decided(&condition) {
                Some(true) => {}
                Some(false) => {
                    let message = format!(
                        "{what} must not be larger than {}, this is {}",
                        Atom::from_expr(limit.own).text(),
                        atom.text()
                    );
                    return Err(self.report(
                        Diagnostic::error(&EXTENT_MISMATCH, span, message)
                            .with_label_at(location.location, "given here"),
                    ));
                }
                None => {
                    let mut message = Vec::new();
                    text(&format!("{what} must not be larger than "), &mut message);
                    parts(&Value::Atom(Atom::from_expr(limit.own)), &mut message);
                    text(", this is ", &mut message);
                    message.push(MessagePart::Value(extent));
                    let check =
                        Check { kind: CheckKind::Extent, condition, message, span: location.location };
                    match when {
                        Tested::Before => keep(&mut builder.function.checks, check),
                        Tested::Behind => self.test_result(builder, check)?,
                    }
                }
            }
        }
        Ok(())
    }
}
