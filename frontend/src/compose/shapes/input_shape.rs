// SPDX-License-Identifier: Apache-2.0
//! Binds declared shapes to actual ones (2.6, 2.6.1).

use crate::ast::{Declaration, ExtentSpec, TypeSpec};
use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::affine_extent::Bound;
use crate::compose::shapes::upper_bound::Tested;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{RANK_MISMATCH, UNEXPECTED_VALUE};
use crate::eval::stop::stop;
use crate::eval::value::count;
use crate::eval::{Atom, Series, Value};
use crate::source::Span;

/// The number of dimensions that an item of a declared shape covers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Width {
    Known(usize),
    /// A pack whose length follows only from the rank.
    Flexible,
    /// `s..(condition)`: an optional single extent.
    Optional(bool),
}

impl Width {
    fn dimensions(self) -> usize {
        match self {
            Width::Known(n) => n,
            Width::Optional(present) => usize::from(present),
            Width::Flexible => 0,
        }
    }
}

impl<'p> Composer<'p, '_> {
    /// The names with bounds of inputs of the main graph that depend on each other: `real[n|3,m]` and `real[n,m|4]`.
    pub(crate) fn declare_bounded(&mut self, builder: &mut Builder<'p>, input: &Declaration) -> Composed<()> {
        for spec in input.type_spec.shape.iter().flatten() {
            let known = |bound| Self::unknown_names(builder, bound).is_empty();
            if !spec.per_item && spec.bound.as_ref().is_some_and(known) {
                let _ = self.declare_symbol(builder, spec, None)?;
            }
        }
        let bound = input.type_spec.pack.as_ref().and_then(|p| p.bound.as_ref());
        match bound {
            Some(bound) if Self::unknown_names(builder, bound).is_empty() => {
                self.declare_length(builder, input)
            }
            _ => Ok(()),
        }
    }

    /// Binds the rank symbol, and returns whether the shape can be bound now.
    pub(crate) fn shape_is_bindable(
        &mut self,
        builder: &mut Builder<'p>,
        spec: &TypeSpec,
        rank: Option<usize>,
        what: &str,
        location: Span,
    ) -> Composed<bool> {
        if let (Some(expr), Some(rank)) = (&spec.rank, rank) {
            let what = format!("the rank of {what}");
            let bound = Bound { what: &what, location };
            self.unify(builder, expr, &Value::int(count(rank)), &bound)?;
        }
        let Some(shape) = &spec.shape else {
            return Ok(true);
        };
        let mut flexible = 0;
        for extent in shape {
            if self.width(builder, extent)? == Width::Flexible {
                flexible += 1;
            }
        }
        Ok(flexible <= 1)
    }

    fn width(&mut self, builder: &mut Builder<'p>, spec: &ExtentSpec) -> Composed<Width> {
        let known = |builder: &Builder, expr| Self::unknown_names(builder, expr).is_empty();
        let Some(pack) = &spec.pack else {
            return match &spec.extent {
                Some(expr) if known(builder, expr) => {
                    let value = builder.evaluator(self.limits).eval(expr);
                    let value = value.map_err(|s| self.failed(s))?;
                    Ok(match value {
                        Value::Null => Width::Known(0),
                        Value::Pack(pack) => Width::Known(pack.len()),
                        Value::Atom(_) => Width::Known(1),
                    })
                }
                _ => Ok(Width::Known(1)),
            };
        };
        match (&pack.length, &spec.extent) {
            (Some(length), _) if known(builder, length) => {
                let value = builder.evaluator(self.limits).eval(length);
                match value.map_err(|s| self.failed(s))? {
                    Value::Null => Ok(Width::Flexible),
                    Value::Atom(Atom::Bool(present)) => Ok(Width::Optional(present)),
                    Value::Atom(Atom::Int(n)) => match usize::try_from(n) {
                        Ok(n) => Ok(Width::Known(n)),
                        Err(_) => {
                            let text = self.source_text(length.span);
                            Err(self.error(
                                &RANK_MISMATCH,
                                length.span,
                                format!("`{text}` dimensions are declared, that is {n}"),
                            ))
                        }
                    },
                    other => Err(self.error(
                        &UNEXPECTED_VALUE,
                        length.span,
                        format!("a number of dimensions must be an int, this is {}", other.text()),
                    )),
                }
            }
            (Some(_), _) => Ok(Width::Flexible),
            (None, Some(expr)) if known(builder, expr) => {
                let value = builder.evaluator(self.limits).eval(expr);
                match value.map_err(|s| self.failed(s))? {
                    Value::Pack(pack) => Ok(Width::Known(pack.len())),
                    Value::Null => Ok(Width::Known(0)),
                    Value::Atom(_) => Ok(Width::Flexible),
                }
            }
            _ => Ok(Width::Flexible),
        }
    }

    /// Binds the shapes of an input's tensors, one or all items of a pack; `length` is that of a pack of dynamic
    /// length, whose items have one shape.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn bind_shapes(
        &mut self,
        builder: &mut Builder<'p>,
        spec: &TypeSpec,
        shapes: &[Vec<Atom>],
        packed: bool,
        length: Option<&Atom>,
        what: &str,
        location: Span,
    ) -> Composed<()> {
        let Some(declared) = &spec.shape else {
            return Ok(());
        };
        let mut per_item: Vec<Vec<Atom>> = vec![Vec::new(); declared.len()];
        for (item, shape) in shapes.iter().enumerate() {
            let item_name = if packed { format!("item {item} of {what}") } else { what.to_string() };
            self.bind_shape(builder, spec, declared, shape, packed, &mut per_item, &item_name, location)?;
        }
        for (extent, values) in declared.iter().zip(per_item) {
            if packed
                && extent.per_item
                && let Some(expr) = &extent.extent
            {
                let bound = Bound { what, location };
                let actual = match length {
                    Some(length) => self.shared_extents(builder, length, &values, extent.span)?,
                    None => Value::pack(values),
                };
                self.unify(builder, expr, &actual, &bound)?;
            }
        }
        Ok(())
    }

    /// The extents `..t` of a pack of dynamic length: one for each item, all equal.
    fn shared_extents(
        &mut self,
        builder: &Builder<'p>,
        length: &Atom,
        values: &[Atom],
        span: Span,
    ) -> Composed<Value> {
        let evaluator = builder.evaluator(self.limits);
        let value = match (length, values, length.to_expr()) {
            (Atom::Int(n), [own], _) => {
                evaluator.length(*n, span).and_then(|n| evaluator.repeat(own.clone(), n, span))
            }
            (_, [own], Some(length)) => match own.to_expr() {
                Some(own) => Ok(Series::uniform(own, length).into_value()),
                None => return Err(Reported),
            },
            _ => stop(
                &UNEXPECTED_VALUE,
                span,
                "in a pack of dynamic length, `..` names one extent of each tensor",
            ),
        };
        value.map_err(|s| self.failed(s))
    }

    #[allow(clippy::too_many_arguments)]
    fn bind_shape(
        &mut self,
        builder: &mut Builder<'p>,
        spec: &TypeSpec,
        declared: &[ExtentSpec],
        shape: &[Atom],
        packed: bool,
        per_item: &mut [Vec<Atom>],
        what: &str,
        location: Span,
    ) -> Composed<()> {
        let mut widths = Vec::with_capacity(declared.len());
        for extent in declared {
            widths.push(self.width(builder, extent)?);
        }
        let fixed: usize = widths.iter().map(|w| w.dimensions()).sum();
        let flexible = widths.contains(&Width::Flexible);
        if shape.len() < fixed || (!flexible && shape.len() != fixed) {
            let least = if flexible { "at least " } else { "" };
            let shape_text = Value::pack(shape.to_vec()).text();
            let dimensions = if fixed == 1 { "dimension" } else { "dimensions" };
            return Err(self.report(
                Diagnostic::error(
                    &RANK_MISMATCH,
                    spec.span,
                    format!("{what} must have {least}{fixed} {dimensions}, its shape is {shape_text}"),
                )
                .with_label_at(location, format!("shape {shape_text}")),
            ));
        }
        let mut rest = shape.len() - fixed;
        let mut position = 0;
        let mut absent = Vec::new();
        for ((extent, width), collected) in declared.iter().zip(widths).zip(per_item) {
            let length = match width {
                Width::Flexible => std::mem::take(&mut rest),
                known => known.dimensions(),
            };
            let actual: Vec<Atom> = shape.iter().skip(position).take(length).cloned().collect();
            let dimension = format!("extent {position} of {what}");
            let bound = Bound { what: &dimension, location };
            position += length;
            let value = match (&extent.pack, width) {
                (Some(_), Width::Optional(_)) => actual.into_iter().next().map_or(Value::Null, Value::Atom),
                (Some(pack), _) => {
                    if let Some(expr) = &pack.length
                        && width == Width::Flexible
                    {
                        let length_of =
                            format!("the number of dimensions `{}` of {what}", self.source_text(extent.span));
                        let bound = Bound { what: &length_of, location };
                        self.unify(builder, expr, &Value::int(count(length)), &bound)?;
                    }
                    Value::pack(actual)
                }
                (None, _) if length == 1 => match actual.into_iter().next() {
                    Some(atom) => Value::Atom(atom),
                    None => Value::Null,
                },
                (None, _) if length == 0 => continue,
                (None, _) => Value::pack(actual),
            };
            self.check_upper_bounds(builder, extent, &value, &bound, Tested::Before)?;
            let Some(expr) = &extent.extent else {
                continue;
            };
            if packed && extent.per_item {
                collected.extend(value.atoms().iter().cloned());
                continue;
            }
            if value.is_null() {
                absent.extend(Self::unknown_names(builder, expr));
                continue;
            }
            self.unify(builder, expr, &value, &bound)?;
        }
        // An absent optional extent makes its name null, unless the name is also used elsewhere:
        // `[c..(first),s..,c..(!first)]`.
        for name in absent {
            if builder.scope.get(&name).is_none() {
                builder.scope.set(name, Value::Null);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires};
    use crate::diagnostics::codes::ASSERTION_FAILED;

    /// Channels before or after two spatial dimensions; `condition` is tested.
    fn channels(first: bool, condition: &str) -> String {
        format!(
            "operator f {{ @attrib {{ first: bool; }} @input {{ x: real[b,c..(first),s..(d),c..(!first)]; }} \
             @assert {{ {condition}; }} @output {{ y: real[c]; }} @lower {{ y[i,] = 0.0, i < c; }} }} \
             graph G {{ @input {{ x: real[2,3,4,5]; }} @output {{ y: real[~]; }} \
             @compose {{ y = f{{first={first}}}(x); }} }}"
        )
    }

    #[test]
    fn s2_6_an_optional_extent_may_stand_in_two_dimensions() {
        assert_composes(&channels(true, "c == 3 && s == [4, 5]"));
        assert_composes(&channels(false, "c == 5 && s == [3, 4]"));
        assert_fires(&ASSERTION_FAILED, &channels(false, "c == 3"));
    }

    #[test]
    fn s2_6_an_optional_extent_that_is_absent_is_null() {
        let text = channels(false, "c == null").replace(",c..(!first)", "");
        let text = text.replace("c == null", "!(?c)").replace("real[c]", "real[c ?? 1]");
        assert_composes(&text.replace("i < c", "i < (c ?? 1)"));
    }
}
