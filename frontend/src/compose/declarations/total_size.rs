// SPDX-License-Identifier: Apache-2.0
//! The total size of the packs and constants of a model: each has a limit, and so has their sum.

use crate::compose::composer::{Composed, Composer};
use crate::compose::invocations::builder::Builder;
use crate::diagnostics::codes::LIMIT_EXCEEDED;
use crate::eval::Value;
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    /// Binds a name of an operator or graph to its value.
    pub(crate) fn name_value(
        &mut self,
        builder: &mut Builder<'p>,
        name: &str,
        value: Value,
        span: Span,
    ) -> Composed<()> {
        if let Value::Pack(pack) = &value {
            let items = self.total_size.pack_items.saturating_add(pack.len());
            let most = self.limits.pack_items;
            if items > most {
                return Err(self.error(
                    &LIMIT_EXCEEDED,
                    span,
                    format!(
                        "with `{name}`, which has {} items, the packs of this model have more than {most} together (limit `pack_items`)",
                        pack.len()
                    ),
                ));
            }
            self.total_size.pack_items = items;
        }
        builder.scope.set(name, value);
        Ok(())
    }

    /// Counts a constant that is computed element by element.
    pub(crate) fn hold_constant(&mut self, name: &str, elements: u64, span: Span) -> Composed<()> {
        let elements = usize::try_from(elements).unwrap_or(usize::MAX);
        let sum = self.total_size.constant_elements.saturating_add(elements);
        let most = self.limits.constant_elements;
        if sum > most {
            return Err(self.error(
                &LIMIT_EXCEEDED,
                span,
                format!(
                    "with constant `{name}`, which has {elements} computed elements, the constants of this model have more than \
                     {most} together (limit `constant_elements`)"
                ),
            ));
        }
        self.total_size.constant_elements = sum;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::ComposeOptions;
    use crate::compose::testing::composed_with;
    use crate::diagnostics::codes::LIMIT_EXCEEDED;
    use crate::limits::Limits;

    fn codes(text: &str, limit: &str, most: u64) -> Vec<&'static str> {
        let mut limits = Limits::default();
        limits.set(limit, most).unwrap();
        match composed_with(text, &ComposeOptions::default(), &limits) {
            Ok(_) => Vec::new(),
            Err(found) => found.iter().map(|d| d.code.id).collect(),
        }
    }

    #[test]
    fn packs_are_bounded_together() {
        let text = "operator o { @attrib { p: int.. = [0:10]; } @using { a = [p.., 1]; b = a + 1; c = b + ..; } \
                    @output { y: int[1]; } @lower { y[i,] = c, i < 1; } } \
                    graph G { @output { y: int[1]; } @compose { y = o(); } }";
        assert_eq!(codes(text, "pack_items", 32), [] as [&str; 0]);
        assert_eq!(codes(text, "pack_items", 31), [LIMIT_EXCEEDED.id]);
    }

    #[test]
    fn constants_are_bounded_together() {
        let text = "graph G { @constant { a: int[8] = i, i < 8; b: int[8] = 2 * i, i < 8; } @output { y: int[8]; z: int[8]; } \
                    @compose { y = a; z = b; } }";
        assert_eq!(codes(text, "constant_elements", 16), [] as [&str; 0]);
        assert_eq!(codes(text, "constant_elements", 15), [LIMIT_EXCEEDED.id]);
    }
}
