// SPDX-License-Identifier: Apache-2.0
//! Estimates the number of invocations in a loop's body before it is composed, which each unrolled step would add to
//! the model.

use crate::ast::{Component, ComponentValue, ExprKind, Loop};
use crate::compose::composer::Composer;

/// The maximum number of iterations of `do` loops without condition that are unrolled.
pub(crate) const UNROLLED_ITERATIONS: u64 = 32;

/// The maximum number of invocations of unrolled loops, including enclosing loops, up to which short loops are
/// unrolled.
pub(crate) const UNROLLED_INVOCATIONS: usize = 1 << 11;

/// The maximum nesting of operators that is analysed; deeper ones count as too many.
const DEPTH: usize = 128;

impl<'p> Composer<'p, '_> {
    /// The number of invocations of a right-hand side in a module, including nested ones. An estimate, because counts
    /// of loops and conditions need values.
    pub(crate) fn reach(&mut self, module: &str, value: &ComponentValue) -> usize {
        self.reach_of_value(module, value, DEPTH)
    }

    fn reach_of_value(&mut self, module: &str, value: &ComponentValue, depth: usize) -> usize {
        let Some(depth) = depth.checked_sub(1) else {
            return usize::MAX;
        };
        let mut of = |value: &ComponentValue| self.reach_of_value(module, value, depth);
        match value {
            ComponentValue::Invocation(invocation) => {
                let Some(found) = self.lookup(module, &invocation.operator) else {
                    return 1;
                };
                let key = (found.module, found.definition.name.name.as_str());
                let known = self.invocation_counts.get(&key).copied();
                let inside = known.unwrap_or_else(|| {
                    self.invocation_counts.insert(key, 0);
                    let definition = found.definition;
                    let all = definition.composes.iter().chain(&definition.updates);
                    let sum = self.reach_of_all(found.module, all, depth);
                    self.invocation_counts.insert(key, sum);
                    sum
                });
                inside.saturating_add(1)
            }
            ComponentValue::Block(block) => self.reach_of_all(module, &block.components, depth),
            ComponentValue::If(branching) => {
                let all = branching
                    .arms
                    .iter()
                    .flat_map(|(condition, then)| [condition, then])
                    .chain([&*branching.otherwise])
                    .map(of);
                all.fold(0, usize::saturating_add)
            }
            ComponentValue::Loop(looping) => {
                let tests = [&looping.before, &looping.after].into_iter().flatten();
                let tests = tests.map(&mut of).fold(0, usize::saturating_add);
                let body = of(&looping.body);
                let unrolled = body.saturating_mul(written_count(looping));
                let stays = !looping.unroll && unrolled > UNROLLED_INVOCATIONS;
                tests.saturating_add(if stays { body } else { unrolled })
            }
            ComponentValue::Expr(_) | ComponentValue::Error(_) => 0,
        }
    }

    fn reach_of_all<'c>(
        &mut self,
        module: &str,
        components: impl IntoIterator<Item = &'c Component>,
        depth: usize,
    ) -> usize {
        let each =
            components.into_iter().map(|component| self.reach_of_value(module, &component.value, depth));
        each.fold(0, usize::saturating_add)
    }
}

/// The number of compile-time repetitions of a loop's body, if its text determines that.
fn written_count(looping: &Loop) -> usize {
    let count = looping.count.as_ref().and_then(|c| c.count.as_ref());
    match count.map(|count| &count.kind) {
        Some(ExprKind::Int(n))
            if looping.unroll || u64::try_from(*n).is_ok_and(|n| n <= UNROLLED_ITERATIONS) =>
        {
            usize::try_from(*n).unwrap_or(1)
        }
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::composed;
    use crate::model::{Body, Operation};

    /// Operators that repeat each other twice, and whether each one keeps its loop.
    fn kept(operators: usize) -> Vec<bool> {
        let repeated = |n: usize| {
            format!(
                "operator o{n} {{ @input {{ x: real[k]; }} @output {{ y: real[k]; }} \
                 @compose {{ y = with s = x do..(2) o{}(s); }} }} ",
                n - 1
            )
        };
        let text = format!(
            "operator o0 {{ @input {{ x: real[k]; }} @output {{ y: real[k]; }} @lower {{ y[i,] = x[i,] + 1.0, i < k; }} }} {} \
             graph G {{ @input {{ x: real[2]; }} @output {{ y: real[2]; }} @compose {{ y = o{operators}(x); }} }}",
            (1..=operators).map(repeated).collect::<String>()
        );
        let model = composed(&text).unwrap();
        let composites = model.functions.iter().filter_map(|function| match &function.body {
            Body::Block(block) => Some(block),
            _ => None,
        });
        let is_loop = |operation: &Operation| matches!(operation, Operation::Loop(_));
        composites.map(|block| block.operations.iter().any(is_loop)).collect()
    }

    /// Each operator would double the model if all of their loops were unrolled.
    #[test]
    fn short_loops_of_operators_within_each_other_stay_loops() {
        assert!(kept(8).iter().all(|kept| !kept));
        let many = kept(18);
        assert!(many.iter().take(8).all(|kept| !kept));
        assert!(many.iter().filter(|kept| **kept).count() > 4, "{many:?}");
    }
}
