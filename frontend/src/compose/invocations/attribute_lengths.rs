// SPDX-License-Identifier: Apache-2.0
//! Lengths of packed attributes (2.5, 2.6.1): from packs and from other uses of their names; single values are repeated.

use crate::ast::{Declaration, Expr};
use crate::compose::composer::{Composed, Composer};
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::affine_extent::Bound;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::UNIFORM_LENGTH_UNKNOWN;
use crate::eval::{Atom, Value};
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    pub(crate) fn check_attribute_length(
        &mut self,
        builder: &mut Builder<'p>,
        attribute: &Declaration,
        length: &Expr,
        actual: &Value,
        list: &ArgumentList,
    ) -> Composed<()> {
        let location = value_span(attribute, list);
        let what = format!("the length of attribute `{}`", attribute.name.name);
        let bound = Bound { what: &what, location };
        self.unify(builder, length, actual, &bound)
    }

    /// Binds lengths of packed attributes that have their items.
    pub(crate) fn packed_lengths(&mut self, builder: &mut Builder<'p>, list: &ArgumentList) -> Composed<()> {
        let definition = builder.found.definition;
        for attribute in &definition.attributes {
            let value = builder.scope.get(&attribute.name.name);
            if let (Some(length), Some(actual)) =
                (declared_length(attribute), value.and_then(Value::item_count))
            {
                self.check_attribute_length(builder, attribute, length, &actual, list)?;
            }
        }
        Ok(())
    }

    /// Step 4: checks or deduces lengths, and repeats single values.
    pub(crate) fn attribute_lengths(
        &mut self,
        builder: &mut Builder<'p>,
        list: &ArgumentList,
    ) -> Composed<()> {
        // They determine lengths that single values need.
        self.packed_lengths(builder, list)?;
        let definition = builder.found.definition;
        for attribute in &definition.attributes {
            if self.spread_attribute(builder, attribute, list)? {
                continue;
            }
            let name = &attribute.name.name;
            match builder.scope.get(name).cloned() {
                Some(Value::Atom(atom)) => {
                    let message = format!(
                        "attribute `{name}` is a pack whose length is not known here; the single value {} cannot be \
                         repeated",
                        atom.text()
                    );
                    let location = value_span(attribute, list);
                    return Err(self.report(
                        Diagnostic::error(&UNIFORM_LENGTH_UNKNOWN, location, message)
                            .with_label_at(attribute.span, "declared here")
                            .with_help("write a list with all items"),
                    ));
                }
                // Only an attribute without a value would determine these lengths.
                _ => {
                    let length = declared_length(attribute);
                    let unknown = length.map(|length| Self::unknown_names(builder, length));
                    for name in unknown.into_iter().flatten() {
                        builder.scope.set(name, Value::Null);
                    }
                }
            }
        }
        Ok(())
    }

    /// Repeats single values of packed attributes whose lengths are known, so that their readers find packs.
    pub(crate) fn spread_attributes(
        &mut self,
        builder: &mut Builder<'p>,
        list: &ArgumentList,
    ) -> Composed<()> {
        let definition = builder.found.definition;
        for attribute in &definition.attributes {
            self.spread_attribute(builder, attribute, list)?;
        }
        Ok(())
    }

    /// Whether the attribute has all its items, or is null and of a known length.
    fn spread_attribute(
        &mut self,
        builder: &mut Builder<'p>,
        attribute: &Declaration,
        list: &ArgumentList,
    ) -> Composed<bool> {
        let name = &attribute.name.name;
        if attribute.type_spec.pack.is_none() {
            return Ok(true);
        }
        let value = match builder.scope.get(name) {
            Some(Value::Atom(Atom::Series(_)) | Value::Pack(_)) | None => return Ok(true),
            Some(value) => value.clone(),
        };
        let known = |length: &&Expr| Self::unknown_names(builder, length).is_empty();
        let Some(declared) = declared_length(attribute).filter(known) else {
            return Ok(false);
        };
        let location = value_span(attribute, list);
        let spread = {
            let mut evaluator = builder.evaluator(self.limits);
            evaluator.eval(declared).and_then(|length| match &value {
                Value::Atom(atom) => evaluator.repeat_by(atom.clone(), length, location),
                _ => Ok(Some(length)),
            })
        };
        match (value, spread.map_err(|s| self.failed(s))?) {
            (Value::Null, Some(length)) => builder.scope.set_null_length(name.clone(), length),
            (_, Some(pack)) => builder.scope.set(name.clone(), pack),
            (_, None) => return Ok(false),
        }
        Ok(true)
    }

    /// Names in an expression that must be known before a single value of a packed attribute becomes a pack.
    pub(crate) fn awaited_lengths(builder: &Builder<'p>, names: &[String]) -> Vec<String> {
        let read = builder
            .found
            .definition
            .attributes
            .iter()
            .filter(|attribute| names.contains(&attribute.name.name));
        let single = read.filter(|attribute| {
            let value = builder.scope.get(&attribute.name.name);
            matches!(value, Some(Value::Atom(atom)) if !matches!(atom, Atom::Series(_)))
        });
        let lengths = single.filter_map(declared_length);
        lengths.flat_map(|length| Self::unknown_names(builder, length)).collect()
    }
}

fn declared_length(attribute: &Declaration) -> Option<&Expr> {
    let pack = attribute.type_spec.pack.as_ref();
    pack.and_then(|pack| pack.length.as_ref())
}

fn value_span(attribute: &Declaration, list: &ArgumentList) -> Span {
    let given = list.attributes.get(&attribute.name.name);
    given.map_or(list.invocation, |(_, span)| *span)
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires};
    use crate::diagnostics::codes::{ASSERTION_FAILED, UNIFORM_LENGTH_UNKNOWN};

    fn invoked(attributes: &str, inputs: &str, condition: &str, given: &str) -> String {
        format!(
            "operator o {{ @attrib {{ {attributes} }} @input {{ x: real[n]; {inputs} }} @assert {{ {condition}; }} \
             @output {{ y: real[n]; }} @lower {{ y[i,] = x[i,], i < n; }} }} \
             graph G {{ @input {{ x: real[5]; }} @output {{ y: real[5]; }} @compose {{ y = o{{{given}}}(x); }} }}"
        )
    }

    /// A single value is repeated before another default reads it.
    #[test]
    fn s2_5_single_values_are_packs_for_other_defaults() {
        let given = "k: int; a: int..(k) = 5; c: int..(2 * k + 1) = a[0];";
        assert_composes(&invoked(given, "", "[a.., c..] == 5", "k=2"));
        assert_fires(&ASSERTION_FAILED, &invoked(given, "", "(a + ..) == 5", "k=2"));
        let rank = "a: int..(r) = 5; c: int = a[-1] + (a + ..);";
        assert_composes(
            &invoked(rank, "z: optional real^(r)[s..];", "c == 10", "").replace("o{}(x)", "o(x, x)"),
        );
        // The length is a default itself, and another default determines it.
        let deferred = "c: int = (a + ..) - 3; a: int..(k) = 5; k: int = n - 1;";
        assert_composes(&invoked(deferred, "", "c == 17", ""));
        let source = "c: int = (a + ..); a: int..(k) = 5; b: int..(k) = [n, n, n];";
        assert_composes(&invoked(source, "", "c == 15", ""));
        let unknown = "c: int = a; a: int..(k) = 5;";
        assert_fires(&UNIFORM_LENGTH_UNKNOWN, &invoked(unknown, "", "c == 5", ""));
    }

    #[test]
    fn s2_6_extents_read_single_values_as_packs() {
        let text = invoked("k: int; a: int..(k) = 5;", "z: real[a[k - 1]];", "(a + ..) == 10", "k=2");
        assert_composes(&text.replace("o{k=2}(x)", "o{k=2}(x, x)"));
    }
}
