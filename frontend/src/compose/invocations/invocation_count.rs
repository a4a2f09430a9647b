// SPDX-License-Identifier: Apache-2.0
//! Estimates the number of invocations in a loop's body before it is composed, which each unrolled step would add to
//! the model.

use crate::ast::{Component, ComponentValue, ExprKind, Loop};
use crate::compose::operators::{OperatorRef, OperatorTable};
use rustc_hash::FxHashMap;

/// The maximum number of iterations of `do` loops without condition that are unrolled.
pub(crate) const UNROLLED_ITERATIONS: u64 = 32;

/// The maximum number of invocations of unrolled loops, including enclosing loops, up to which short loops are
/// unrolled.
pub(crate) const UNROLLED_INVOCATIONS: usize = 1 << 11;

/// The maximum nesting of operators that is analysed; more deeply nested operators count as too many invocations.
const DEPTH: usize = 128;

/// The number of invocations in operators, by module and name; 0 for operators that are being analysed.
#[derive(Default)]
pub(crate) struct InvocationCounts<'p> {
    known: FxHashMap<(&'p str, &'p str), usize>,
}

impl<'p> InvocationCounts<'p> {
    /// The number of invocations of a right-hand side in a module, including nested ones. An estimate, because counts
    /// of loops and conditions need values.
    pub(crate) fn estimate(
        &mut self,
        operators: &OperatorTable<'p>,
        module: &str,
        value: &ComponentValue,
    ) -> usize {
        self.in_value(operators, module, value, DEPTH)
    }

    fn in_value(
        &mut self,
        operators: &OperatorTable<'p>,
        module: &str,
        value: &ComponentValue,
        depth: usize,
    ) -> usize {
        let Some(depth) = depth.checked_sub(1) else {
            return usize::MAX;
        };
        let mut count = |value: &ComponentValue| self.in_value(operators, module, value, depth);
        match value {
            ComponentValue::Invocation(invocation) => {
                let Some(operator) = operators.lookup(module, &invocation.operator) else {
                    return 1;
                };
                self.in_operator(operators, operator, depth).saturating_add(1)
            }
            ComponentValue::Block(block) => self.in_all(operators, module, &block.components, depth),
            ComponentValue::If(branching) => {
                let arms = branching.arms.iter().flat_map(|(condition, then)| [condition, then]);
                arms.chain([&*branching.otherwise]).map(count).fold(0, usize::saturating_add)
            }
            ComponentValue::Loop(looping) => {
                let conditions = [&looping.before, &looping.after].into_iter().flatten();
                let tests = conditions.map(&mut count).fold(0, usize::saturating_add);
                let body = count(&looping.body);
                let unrolled = body.saturating_mul(written_count(looping));
                let is_kept = !looping.unroll && unrolled > UNROLLED_INVOCATIONS;
                tests.saturating_add(if is_kept { body } else { unrolled })
            }
            ComponentValue::Expr(_) | ComponentValue::Error(_) => 0,
        }
    }

    fn in_operator(
        &mut self,
        operators: &OperatorTable<'p>,
        operator: OperatorRef<'p>,
        depth: usize,
    ) -> usize {
        if let Some(count) = self.known.get(&operator.key()) {
            return *count;
        }
        self.known.insert(operator.key(), 0);
        let definition = operator.definition;
        let components = definition.composes.iter().chain(&definition.updates);
        let count = self.in_all(operators, operator.module, components, depth);
        self.known.insert(operator.key(), count);
        count
    }

    fn in_all<'c>(
        &mut self,
        operators: &OperatorTable<'p>,
        module: &str,
        components: impl IntoIterator<Item = &'c Component>,
        depth: usize,
    ) -> usize {
        let counts = components.into_iter().map(|c| self.in_value(operators, module, &c.value, depth));
        counts.fold(0, usize::saturating_add)
    }
}

/// The number of compile-time repetitions of a loop's body, if its text determines that.
fn written_count(looping: &Loop) -> usize {
    let count = looping.count.as_ref().and_then(|c| c.count.as_ref());
    match count.map(|count| &count.kind) {
        Some(ExprKind::Int(n)) => match (usize::try_from(*n), u64::try_from(*n)) {
            (Ok(times), Ok(n)) if looping.unroll || n <= UNROLLED_ITERATIONS => times,
            _ => 1,
        },
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
    fn deep_nests_of_short_loops_are_not_unrolled() {
        assert!(kept(8).iter().all(|kept| !kept));
        let many = kept(18);
        assert!(many.iter().take(8).all(|kept| !kept));
        assert!(many.iter().filter(|kept| **kept).count() > 4, "{many:?}");
    }
}
