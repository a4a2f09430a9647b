// SPDX-License-Identifier: Apache-2.0
//! Finds arguments of an invocation that are the same tensor, for operators that test tensor identity (`is`, 2.4).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::compose::invocations::arguments::{Argument, ArgumentList};
use crate::compose::operators::{OperatorRef, OperatorTable};
use crate::eval::{Atom, TensorRef, Value};

impl ArgumentList {
    /// Returns the index of an argument's item among the tensors of all arguments.
    pub(crate) fn location(&self, argument: usize, item: usize) -> usize {
        let before = self.arguments.iter().take(argument);
        before.map(|a| Argument::items(a).len()).sum::<usize>() + item
    }
}

/// Whether operators test the identity of tensors, by module and name.
#[derive(Default)]
pub(crate) struct IdentityTests<'p> {
    known: FxHashMap<(&'p str, &'p str), bool>,
}

impl<'p> IdentityTests<'p> {
    /// Computes [`ArgumentList::same`]. The list is empty unless a tensor is passed twice to an operator that may test
    /// identity, so that all other invocations share their instances.
    pub(crate) fn same_tensors(
        &mut self,
        operators: &OperatorTable<'p>,
        operator: OperatorRef<'p>,
        values: &[Value],
    ) -> Vec<usize> {
        let tensors: Vec<Option<TensorRef>> = values
            .iter()
            .flat_map(Value::atoms)
            .map(|atom| match atom {
                Atom::Tensor(tensor) | Atom::Stack(tensor) => Some(tensor),
                _ => None,
            })
            .collect();
        let mut first = FxHashMap::default();
        let mut same = Vec::with_capacity(tensors.len());
        for (location, tensor) in tensors.into_iter().enumerate() {
            same.push(match tensor {
                Some(tensor) => *first.entry(tensor.id).or_insert(location),
                None => location,
            });
        }
        let all_differ = same.iter().enumerate().all(|(location, first)| location == *first);
        if all_differ || !self.tests_identity(operators, operator) {
            return Vec::new();
        }
        same
    }

    /// Whether an operator, or one that it invokes, contains `is`.
    fn tests_identity(&mut self, operators: &OperatorTable<'p>, operator: OperatorRef<'p>) -> bool {
        if let Some(known) = self.known.get(&operator.key()) {
            return *known;
        }
        let mut seen = FxHashSet::default();
        let mut open = vec![operator];
        let mut tests = false;
        while let Some(next) = open.pop() {
            if !seen.insert(next.key()) {
                continue;
            }
            if next.definition.tests_identity {
                tests = true;
                break;
            }
            let definition = next.definition;
            let components = definition.composes.iter().chain(&definition.updates);
            for invocation in components.flat_map(|component| component.value.invocations()) {
                open.extend(operators.lookup(next.module, &invocation.operator));
            }
        }
        self.known.insert(operator.key(), tests);
        tests
    }
}
