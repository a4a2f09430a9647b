// SPDX-License-Identifier: Apache-2.0
//! Which arguments of an invocation are the same tensor, for operators that test it (`is`, 2.4).

use rustc_hash::FxHashSet;

use crate::ast::ComponentValue;
use crate::compose::composer::{Composer, Definitions};
use crate::compose::invocations::arguments::{Argument, ArgumentList};
use crate::compose::invocations::builder::Builder;
use crate::eval::{Atom, TensorRef, Value};

impl ArgumentList {
    /// The number of an argument's item among the tensors of all arguments.
    pub(crate) fn location(&self, argument: usize, item: usize) -> usize {
        let before = self.arguments.iter().take(argument);
        before.map(|a| Argument::items(a).len()).sum::<usize>() + item
    }
}

impl Builder<'_> {
    /// The tensor that an input's name denotes: if several inputs get the same one, that of the first.
    pub(crate) fn one_of(&mut self, list: &ArgumentList, location: usize, tensor: TensorRef) -> TensorRef {
        match list.same.get(location) {
            Some(first) => self.given.entry(*first).or_insert(tensor).clone(),
            None => tensor,
        }
    }
}

impl<'p> Composer<'p, '_> {
    /// See [`ArgumentList::same`]: set only if a tensor is passed twice to an operator that may test it, so that all
    /// other invocations share their instances.
    pub(crate) fn same_tensors(&mut self, found: &Definitions<'p>, values: &[Value]) -> Vec<usize> {
        let tensors: Vec<Option<&TensorRef>> = values
            .iter()
            .flat_map(Value::atoms)
            .map(|atom| match atom {
                Atom::Tensor(tensor) | Atom::Stack(tensor) => Some(tensor),
                _ => None,
            })
            .collect();
        let mut first = rustc_hash::FxHashMap::default();
        let mut same = Vec::with_capacity(tensors.len());
        for (location, tensor) in tensors.into_iter().enumerate() {
            same.push(match tensor {
                Some(tensor) => *first.entry(tensor.id).or_insert(location),
                None => location,
            });
        }
        let all_differ = same.iter().enumerate().all(|(location, first)| location == *first);
        if all_differ || !self.tests_identity(*found) {
            return Vec::new();
        }
        same
    }

    /// Whether an operator, or one that it invokes, contains `is`.
    fn tests_identity(&mut self, found: Definitions<'p>) -> bool {
        let key = |found: &Definitions<'p>| (found.module, found.definition.name.name.as_str());
        if let Some(known) = self.identity.get(&key(&found)) {
            return *known;
        }
        let mut seen = FxHashSet::default();
        let mut open = vec![found];
        let mut tests = false;
        while let Some(next) = open.pop() {
            if !seen.insert(key(&next)) {
                continue;
            }
            if next.definition.tests_identity {
                tests = true;
                break;
            }
            let mut values: Vec<&ComponentValue> =
                next.definition.composes.iter().chain(&next.definition.updates).map(|c| &c.value).collect();
            while let Some(value) = values.pop() {
                match value {
                    ComponentValue::Invocation(invocation) => {
                        open.extend(self.lookup(next.module, &invocation.operator));
                    }
                    ComponentValue::Block(block) => {
                        values.extend(block.components.iter().map(|c| &c.value));
                    }
                    ComponentValue::If(branching) => {
                        values.extend(branching.arms.iter().flat_map(|(condition, then)| [condition, then]));
                        values.push(&branching.otherwise);
                    }
                    ComponentValue::Loop(looping) => {
                        values.extend(looping.before.iter().chain(&looping.after));
                        values.push(&looping.body);
                    }
                    ComponentValue::Expr(_) | ComponentValue::Error(_) => {}
                }
            }
        }
        self.identity.insert(key(&found), tests);
        tests
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::composed;
    use crate::model::FunctionId;

    /// The operators that are reached from a graph that passes its inputs x and z to operators in this way.
    fn invocation_counts(components: &str) -> Vec<String> {
        let leaf = |name: &str| {
            format!(
                "operator {name} {{ @input {{ a: real[n]; }} @output {{ b: real[n]; }} @lower {{ b[i,] = a[i,], i < n; }} }} "
            )
        };
        let text = format!(
            "{}{}operator f {{ @input {{ p: real[n]; q: real[n]; }} @output {{ r: real[n]; }} \
             @compose {{ r = if p is q then same(p) else other(p); }} }} \
             operator packed {{ @input {{ ps: real[n]..(2); }} @output {{ r: real[n]; }} @compose {{ r = f(ps[0], ps[1]); }} }} \
             operator crossed {{ @input {{ p: real[n]; q: real[n]; }} @output {{ r: real[n]; }} @compose {{ r = f(q, p); }} }} \
             operator compared {{ @input {{ p: real[n]; q: real[n]; }} @output {{ r: real[n]; }} @using {{ c = p is q; }} \
             @lower {{ r[i,] = c ? p[i,] : q[i,], i < n; }} }} \
             graph G {{ @input {{ x: real[2]; z: real[2]; }} @output {{ y: real[2]; }} @compose {{ {components} }} }}",
            leaf("same"),
            leaf("other")
        );
        let model = composed(&text).unwrap();
        let ids = (0u32..).take(model.functions.len()).map(FunctionId);
        let names = ids.filter_map(|id| model.function(id)).map(|f| f.name.clone());
        let leaves = |name: &String| ["main.same", "main.other", "main.compared"].contains(&name.as_str());
        names.filter(leaves).collect()
    }

    #[test]
    fn s2_4_a_tensor_given_twice_is_one() {
        assert_eq!(invocation_counts("y = f(x, x);"), ["main.same"]);
        assert_eq!(invocation_counts("y = f(x, z);"), ["main.other"]);
        assert_eq!(invocation_counts("w = f(x, z); y = f(w, w);"), ["main.other", "main.same"]);
        assert_eq!(invocation_counts("y = crossed(x, x);"), ["main.same"]);
        assert_eq!(invocation_counts("y = crossed(x, z);"), ["main.other"]);
        assert_eq!(invocation_counts("y = packed([x, x]);"), ["main.same"]);
        assert_eq!(invocation_counts("y = packed([x, z]);"), ["main.other"]);
        assert_eq!(invocation_counts("w = compared(x, x); y = compared(w, z);").len(), 2);
    }
}
