// SPDX-License-Identifier: Apache-2.0
//! Attributes whose defaults depend on other names (2.5): each is computed once all of these are known.

use std::collections::VecDeque;

use indexmap::IndexMap;

use crate::ast::Declaration;
use crate::compose::composer::{Composed, Composer};
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::affine_extent::collect_names;
use crate::diagnostics::codes::SHAPE_NOT_BOUND;
use crate::eval::Value;

/// Attributes by the name that they wait for.
type Waiting<'a> = IndexMap<String, Vec<&'a Declaration>>;

impl<'p> Composer<'p, '_> {
    /// Step 3: evaluates defaults that depend on other symbols as soon as these are known.
    pub(crate) fn deferred_attributes(
        &mut self,
        builder: &mut Builder<'p>,
        list: &ArgumentList,
    ) -> Composed<()> {
        let definition = builder.found.definition;
        let mut open: VecDeque<&Declaration> = definition.attributes.iter().collect();
        // By the awaited name.
        let mut waiting: Waiting = IndexMap::new();
        // Whether defaults wait for the lengths of packs that they read.
        let mut patient = true;
        loop {
            while let Some(attribute) = open.pop_front() {
                let name = &attribute.name.name;
                let Some(default) = &attribute.default else {
                    continue;
                };
                if builder.scope.get(name).is_some() {
                    continue;
                }
                let mut unknown = Self::unknown_names(builder, default);
                if patient && unknown.is_empty() {
                    let mut names = Vec::new();
                    collect_names(default, &mut names);
                    unknown = Self::awaited_lengths(builder, &names);
                }
                match unknown.into_iter().next() {
                    Some(unknown) => waiting.entry(unknown).or_default().push(attribute),
                    None => {
                        self.default_attribute(builder, attribute, default, list)?;
                        self.spread_attributes(builder, list)?;
                        open.extend(waiting.swap_remove(name).unwrap_or_default());
                    }
                }
            }
            // A default may have determined a length as well; lengths of given packs may determine names that defaults need.
            release(builder, &mut waiting, &mut open);
            while open.is_empty() && !waiting.is_empty() && self.given_lengths(builder, list)? {
                release(builder, &mut waiting, &mut open);
            }
            self.spread_attributes(builder, list)?;
            if !open.is_empty() {
                continue;
            }
            if std::mem::take(&mut patient) {
                open.extend(waiting.drain(..).flat_map(|(_, attributes)| attributes));
                continue;
            }
            let mut stuck = waiting.values().flatten();
            let Some(attribute) = stuck.next() else {
                return Ok(());
            };
            let first =
                stuck.fold(
                    *attribute,
                    |first, other| {
                        if other.span.start < first.span.start { other } else { first }
                    },
                );
            let default = first.default.as_ref();
            let unknown = default.map(|d| Self::unknown_names(builder, d));
            return Err(self.error(
                &SHAPE_NOT_BOUND,
                first.span,
                format!(
                    "the default of attribute `{}` depends on {}, which has no value here",
                    first.name.name,
                    unknown.unwrap_or_default().join(", ")
                ),
            ));
        }
    }

    /// Binds length symbols of packs whose values are packs already; returns whether any was new.
    fn given_lengths(&mut self, builder: &mut Builder<'p>, list: &ArgumentList) -> Composed<bool> {
        let definition = builder.found.definition;
        let mut progress = false;
        for attribute in &definition.attributes {
            let Some(length) = attribute.type_spec.pack.as_ref().and_then(|p| p.length.as_ref()) else {
                continue;
            };
            if Self::unknown_names(builder, length).is_empty() {
                continue;
            }
            let value = builder.scope.get(&attribute.name.name);
            let Some(actual) = value.and_then(Value::item_count) else {
                continue;
            };
            self.check_attribute_length(builder, attribute, length, &actual, list)?;
            progress = true;
        }
        Ok(progress)
    }
}

/// Makes attributes ready whose awaited names are known now.
fn release<'a>(builder: &Builder, waiting: &mut Waiting<'a>, open: &mut VecDeque<&'a Declaration>) {
    waiting.retain(|name, attributes| {
        let still = builder.scope.get(name).is_none();
        if !still {
            open.extend(attributes.drain(..));
        }
        still
    });
}
