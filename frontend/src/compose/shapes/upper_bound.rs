// SPDX-License-Identifier: Apache-2.0
//! `s|k` in the shape of an input: the extent of the argument must not exceed `k` (2.6).

use crate::ast::{self, ExtentSpec, PackSpec};
use crate::compose::composer::{Composed, Composer};
use crate::compose::declarations::tensors::upper_extents;
use crate::compose::invocations::instance::Builder;
use crate::compose::shapes::affine_extent::Bound;
use crate::compose::shapes::checks::{keep, parts, text};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::EXTENT_MISMATCH;
use crate::eval::ranges::decided;
use crate::eval::{Atom, Value};
use crate::model::{Check, CheckKind, Expr, MessagePart};
use crate::source::Span;

/// When a run tests a bound that composition cannot decide.
#[derive(Clone, Copy)]
pub(crate) enum Tested {
    /// Before the body: inputs tell the extent.
    Before,
    /// As soon as the body has made what the extent is of.
    Behind,
}

impl<'p> Composer<'p, '_> {
    /// Holds actual extents against the declared bound: now if it is known, else in each run.
    pub(crate) fn check_upper_bounds(
        &mut self,
        builder: &mut Builder<'p>,
        declared: &ExtentSpec,
        actual: &Value,
        place: &Bound,
        when: Tested,
    ) -> Composed<()> {
        let Some(bound) = &declared.bound else {
            return Ok(());
        };
        self.check_bound(
            builder,
            (bound, declared.pack.as_ref(), declared.span),
            actual,
            (place, when),
        )
    }

    /// The same for the length of a pack, `..(s|5)`.
    pub(crate) fn check_length_bound(
        &mut self,
        builder: &mut Builder<'p>,
        declared: &PackSpec,
        actual: &Value,
        place: &Bound,
    ) -> Composed<()> {
        let Some(bound) = &declared.bound else {
            return Ok(());
        };
        let place = (place, Tested::Before);
        self.check_bound(builder, (bound, None, bound.span), actual, place)
    }

    fn check_bound(
        &mut self,
        builder: &mut Builder<'p>,
        (bound, pack, span): (&ast::Expr, Option<&PackSpec>, Span),
        actual: &Value,
        (place, when): (&Bound, Tested),
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
            let what = place.what;
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
                            .with_place(place.place, "given here"),
                    ));
                }
                None => {
                    let mut message = Vec::new();
                    text(&format!("{what} must not be larger than "), &mut message);
                    parts(&Value::Atom(Atom::from_expr(limit.own)), &mut message);
                    text(", this is ", &mut message);
                    message.push(MessagePart::Value(extent));
                    let check = Check {
                        kind: CheckKind::Extent,
                        condition,
                        message,
                        span: place.place,
                    };
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
