// SPDX-License-Identifier: Apache-2.0
//! Composite operators compute in compute types: intermediate results are not rounded, outputs are rounded once.

use super::{Body, ConstantData, Function, FunctionId, FunctionRole, Model, Operation};
use skript_semantics::{Scalar, ScalarKind};
use std::collections::{BTreeSet, HashMap, HashSet};

impl Model {
    /// Widens the operators that would round intermediate results, and everything that they invoke, to compute types.
    ///
    /// A function that is invoked from wide and from narrow functions is copied. Nothing changes if the storage types
    /// are the compute types. `is_composite`: whether the document defines a function by `@compose`.
    pub(crate) fn widen(&mut self, is_composite: &dyn Fn(FunctionId) -> bool) {
        if self.numbers.work() == self.numbers {
            return;
        }
        let rounds = |model: &Model, id| is_composite(id) && model.rounds_on_the_way(id);
        let mut reached = BTreeSet::from([(self.entry, false)]);
        let mut stack = vec![(self.entry, false)];
        while let Some((id, is_wide)) = stack.pop() {
            for callee in self.function(id).into_iter().flat_map(callees) {
                let key = (callee, is_wide || rounds(self, callee));
                if reached.insert(key) {
                    stack.push(key);
                }
            }
        }
        let numbered: HashMap<(FunctionId, bool), FunctionId> =
            reached.iter().zip(0u32..).map(|(key, id)| (*key, FunctionId(id))).collect();
        let mut functions = Vec::with_capacity(reached.len());
        for (id, is_wide) in reached {
            let Some(mut function) = self.function(id).cloned() else {
                continue;
            };
            if is_wide {
                function.values.iter_mut().for_each(|v| v.wide = true);
            }
            if let Body::Block(block) = &mut function.body {
                block.visit_mut(&mut |operation| {
                    if let Operation::Invoke(invoke) = operation {
                        let wide = is_wide || rounds(self, invoke.callee);
                        if let Some(id) = numbered.get(&(invoke.callee, wide)) {
                            invoke.callee = *id;
                        }
                    }
                });
            }
            functions.push(function);
        }
        self.entry = numbered.get(&(self.entry, false)).copied().unwrap_or(self.entry);
        self.functions = functions;
    }

    /// Whether an operator would round values other than its outputs: it reads its own results, or has constants that the
    /// storage types cannot represent.
    fn rounds_on_the_way(&self, id: FunctionId) -> bool {
        let Some(function) = self.function(id) else {
            return false;
        };
        let (FunctionRole::Operator, Body::Block(block)) = (function.role, &function.body) else {
            return false;
        };
        let mut computed = HashSet::new();
        let mut read = Vec::new();
        let mut rounds = function.constants.iter().any(|(_, data)| self.rounds(data));
        block.visit(&mut |operation| match operation {
            Operation::Invoke(invoke) => {
                computed.extend(invoke.outputs.iter().chain(&invoke.updates).copied());
                read.extend(invoke.inputs.iter().chain(&invoke.captures).copied());
            }
            Operation::Constant { data, .. } => rounds |= self.rounds(data),
            Operation::If { outputs, .. } => computed.extend(outputs.iter().copied()),
            // Iterations read the results of earlier iterations.
            Operation::Loop(_) => rounds = true,
            // A cut computes nothing.
            Operation::Cut { .. } => {}
        });
        let is_bool = |id: &super::ValueId| {
            let declared = function.values.get(id.0 as usize);
            declared.is_some_and(|v| v.tensor.kind == ScalarKind::Bool)
        };
        rounds || read.iter().any(|id| computed.contains(id) && !is_bool(id))
    }

    fn rounds(&self, data: &ConstantData) -> bool {
        data.scalars().any(|scalar| match scalar {
            Scalar::Real(x) => !self.numbers.real.keeps(x),
            Scalar::Int(i) => self.numbers.int.wrap(i) != i,
            Scalar::Bool(_) => false,
        })
    }
}

/// The functions that a function invokes, in order, inner blocks included.
pub fn callees(function: &Function) -> Vec<FunctionId> {
    let mut callees = Vec::new();
    if let Body::Block(block) = &function.body {
        block.visit(&mut |operation| {
            if let Operation::Invoke(invoke) = operation {
                callees.push(invoke.callee);
            }
        });
    }
    callees
}

#[cfg(test)]
mod tests {
    use crate::compose::ComposeOptions;
    use crate::compose::testing::composed_with;
    use crate::limits::Limits;
    use skript_semantics::{IntType, Numbers, RealType};

    /// Names of the functions, with a star after those of wide ones.
    fn functions(text: &str, real: RealType) -> Vec<String> {
        let int = IntType::I64;
        let options = ComposeOptions { numbers: Numbers { real, int }, ..ComposeOptions::default() };
        let model = composed_with(text, &options, &Limits::default()).unwrap();
        let mut names: Vec<String> = model
            .functions
            .iter()
            .map(|f| format!("{}{}", f.name, if f.values.iter().all(|v| v.wide) { "*" } else { "" }))
            .collect();
        names.sort();
        names
    }

    const TWICE: &str = "operator twice { @input { x: real[n]; } @output { y: real[n]; } \
                         @lower { y[i] = x[i] + x[i], i < n; } } ";

    fn document(body: &str, graph: &str) -> String {
        format!(
            "{TWICE} operator f {{ @input {{ x: real[n]; }} @output {{ y: real[n]; }} @compose {{ {body} }} }} \
             graph G {{ @input {{ x: real[3]; }} @output {{ y: real[3]; }} @compose {{ {graph} }} }}"
        )
    }

    #[test]
    fn what_passes_between_the_parts_of_an_operator_is_wide() {
        let text = document("z = twice(x); y = twice(z);", "z = f(x); y = twice(z);");
        let names = functions(&text, RealType::F16);
        assert_eq!(names, ["main.G", "main.f*", "main.twice", "main.twice*"]);
        let names = functions(&text, RealType::F32);
        assert_eq!(names, ["main.G", "main.f", "main.twice"]);
    }

    #[test]
    fn an_operator_that_passes_on_rounds_as_what_it_invokes() {
        let text = document("y = twice(x);", "y = f(x);");
        let names = functions(&text, RealType::BF16);
        assert_eq!(names, ["main.G", "main.f", "main.twice"]);
    }
}
