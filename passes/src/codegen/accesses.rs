// SPDX-License-Identifier: Apache-2.0
//! `skript-verify-accesses`: proves that the accesses of planned code are in-bounds.
//!
//! Kernels access flat memory in loops with dynamic bounds, so no type limits their accesses. The pass represents indices, extents
//! and views as polynomials, from the entry through loops, branches and calls. It proves for each load, store and copy that its
//! first and its last element are elements of the array, or of the slot of the arena, for all extents up to their upper
//! bounds. The size of a `memref.view` is computed from its actual extents, not from the upper bounds.
//!
//! The pass does not model elements of arrays, and only some integer operations. It does not verify accesses that depend on
//! anything else; run-time checks and clamps guard them. It verifies a function once for each list of arguments, under the
//! conditions of the first call.
//!
//! Requires: `skript-plan-memory`. Guarantees: no change; each modelled access is proven, or an error. The prover rejects some
//! correct accesses (`n * n`, products of quotients), so pipelines run the pass only on request.

mod arrays;
mod generic;
mod numbers;
mod regions;
mod vectors;

use crate::ir::{self, ValueKey, func, ops};
use arrays::Array;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{TypeLike, Value, ValueLike};
use skript_dialect::{Pass, PassError, melior};
use skript_symbolic::{Budget, Polynomial, Prover};
use std::collections::{HashMap, HashSet};

/// The pass `skript-verify-accesses`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-verify-accesses",
    summary: "prove that accesses are in bounds of their memory",
    anchor: Some(ops::builtin::MODULE),
    run: |root, _, _| verify(root),
    ..Pass::NONE
};

/// The limit on the effort for one access: lanes, tiles and split reductions each double the number of cases.
const BUDGET: Budget = Budget { steps: 2000, assumptions: 64, multiples: 3 };

fn verify<'c: 'a, 'a>(module: OperationRef<'c, 'a>) -> Result<(), PassError> {
    let functions = func::functions(module);
    let calls = ir::walk::named(module, ops::func::CALL).into_iter();
    let called: HashSet<String> = calls.filter_map(func::callee).collect();
    let mut verifier = Verifier {
        prover: Prover::new(BUDGET),
        from_elements: Vec::new(),
        numbers: HashMap::new(),
        arrays: HashMap::new(),
        masks: HashMap::new(),
        functions: &functions,
        verified: HashSet::new(),
    };
    let mut roots: Vec<&String> = functions.keys().filter(|name| !called.contains(*name)).collect();
    roots.sort();
    for root in roots.into_iter().filter_map(|name| functions.get(name)) {
        verifier.root(*root)?;
    }
    Ok(())
}

/// Facts about the values of the functions on the call path from the entry.
struct Verifier<'f, 'c, 'a> {
    prover: Prover,
    /// For each symbol, whether it depends on elements of arrays.
    from_elements: Vec<bool>,
    numbers: HashMap<ValueKey, Polynomial>,
    arrays: HashMap<ValueKey, Array>,
    masks: HashMap<ValueKey, vectors::Mask>,
    functions: &'f HashMap<String, OperationRef<'c, 'a>>,
    /// The verified calls: each is a function with its arguments.
    verified: HashSet<String>,
}

impl<'c: 'a, 'a> Verifier<'_, 'c, 'a> {
    /// Verifies a function without callers in the module: its arguments have the extents of their types.
    fn root(&mut self, function: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let Some(block) = ir::first_block(function) else {
            return Ok(());
        };
        for argument in ir::arguments(block) {
            if let Some(array) = Array::of_type(argument.r#type()) {
                self.arrays.insert(ValueKey::of(argument), array);
            }
        }
        self.block(block)
    }

    /// Verifies a called function, once for each list of arguments.
    fn call(&mut self, call: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let callee = func::callee(call).and_then(|name| Some((self.functions.get(&name)?, name)));
        let Some((function, mut key)) = callee else {
            return Ok(());
        };
        let Some(block) = ir::first_block(*function) else {
            return Ok(());
        };
        for (argument, value) in ir::arguments(block).into_iter().zip(call.operands()) {
            self.bind(argument, value);
            let argument = ValueKey::of(argument);
            let text = match (self.arrays.get(&argument), self.numbers.get(&argument)) {
                (Some(array), _) => format!(" {array:?}"),
                (None, Some(number)) => format!(" {number:?}"),
                (None, None) => " ?".to_owned(),
            };
            key.push_str(&text);
        }
        if self.verified.insert(key) { self.block(block) } else { Ok(()) }
    }

    /// Copies the facts about one value to another.
    fn bind(&mut self, to: Value<'c, 'a>, from: Value<'c, 'a>) {
        let (to_key, from_key) = (ValueKey::of(to), ValueKey::of(from));
        match self.arrays.get(&from_key).cloned() {
            Some(array) => self.arrays.insert(to_key, array),
            None => self.arrays.remove(&to_key),
        };
        if is_number(from) {
            let number = self.number(from);
            self.numbers.insert(to_key, number);
        }
    }

    /// Proves that the elements from `first` to `last` are in the bounds of an array's memory.
    fn prove(
        &self,
        op: OperationRef<'c, 'a>,
        array: &Array,
        first: &Polynomial,
        last: &Polynomial,
    ) -> Result<(), PassError> {
        if [first, last, &array.size].into_iter().any(|n| self.depends_on_elements(n)) {
            return Ok(());
        }
        let zero = Polynomial::constant(0);
        let end = array.size.plus(-1);
        if self.prover.at_most(&zero, first) && end.is_some_and(|end| self.prover.at_most(last, &end)) {
            return Ok(());
        }
        Err(PassError::at(
            op,
            format!(
                "internal compiler error: this access may be out of bounds of its memory, which has {:?} elements: \
                 first {first:?}, last {last:?}",
                array.size
            ),
        ))
    }
}

/// Whether a value is an index or an integer.
fn is_number(value: Value) -> bool {
    value.r#type().is_index() || value.r#type().is_integer()
}
