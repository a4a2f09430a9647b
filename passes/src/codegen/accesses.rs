// SPDX-License-Identifier: Apache-2.0
//! `skript-verify-accesses`: proves that the accesses of planned code are inside of their memory.
//!
//! Kernels address flat memory without extents, and dynamic extents decide how far they go, so no type bounds their accesses. The pass
//! follows indices, extents and views from the entry through loops, branches and calls as polynomials, and proves for each load, store
//! and copy that its first and its last element are elements of the array, or of the slot of the arena, for every extent up to its upper
//! bound. An array's memory is what `memref.view` gives it: as many elements as its extents have, not as many as the upper bounds.
//!
//! Elements of arrays that become indices are not known here: accesses that depend on them are left to run-time checks and clamps. So
//! are those that depend on integer operations without a model here. A function is verified once for each list of arguments, under
//! the conditions of its first call.
//!
//! Requires: `skript-plan-memory`. Guarantees: no change; each access of what is modelled is proven, or an error. The prover rejects some
//! correct accesses (`n * n`, products of quotients), so pipelines run the pass on request.

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
    summary: "prove that accesses are inside of their memory",
    anchor: Some(ops::builtin::MODULE),
    run: |root, _, _| verify(root),
    ..Pass::NONE
};

/// The effort for one access: lanes, tiles and parts of reductions each double the cases.
const BUDGET: Budget = Budget { steps: 2000, assumptions: 64 };

fn verify<'c: 'a, 'a>(module: OperationRef<'c, 'a>) -> Result<(), PassError> {
    let functions = func::functions(module);
    let calls = ir::walk::named(module, ops::func::CALL).into_iter();
    let called: HashSet<String> = calls.filter_map(func::callee).collect();
    let mut walk = Walk {
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
        walk.root(*root)?;
    }
    Ok(())
}

/// Facts about the values of the functions on the call path from the entry.
struct Walk<'f, 'c, 'a> {
    prover: Prover,
    /// By symbol: whether it depends on elements of arrays.
    from_elements: Vec<bool>,
    numbers: HashMap<ValueKey, Polynomial>,
    arrays: HashMap<ValueKey, Array>,
    masks: HashMap<ValueKey, vectors::Mask>,
    functions: &'f HashMap<String, OperationRef<'c, 'a>>,
    /// Calls whose accesses are proven: functions with their arguments.
    verified: HashSet<String>,
}

impl<'c: 'a, 'a> Walk<'_, 'c, 'a> {
    /// A function that nothing in the module calls: its arguments have the extents of their types.
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

    /// The operations of a called function, once for each different list of arguments.
    fn call(&mut self, call: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let function = func::callee(call).and_then(|name| self.functions.get(&name));
        let Some(function) = function.copied() else {
            return Ok(());
        };
        let Some(block) = ir::first_block(function) else {
            return Ok(());
        };
        let mut key = func::symbol(function).unwrap_or_default();
        for (argument, value) in ir::arguments(block).into_iter().zip(call.operands()) {
            self.bind(argument, value);
            let own = ValueKey::of(argument);
            let text = match (self.arrays.get(&own), self.numbers.get(&own)) {
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

    /// Proves that elements from the first to the last are inside of the memory of an array.
    fn prove(
        &self,
        op: OperationRef<'c, 'a>,
        array: &Array,
        first: &Polynomial,
        last: &Polynomial,
    ) -> Result<(), PassError> {
        let zero = Polynomial::constant(0);
        let end = array.size.plus(-1);
        let is_inside =
            self.prover.at_most(&zero, first) && end.is_some_and(|end| self.prover.at_most(last, &end));
        let of_elements = |value: &Polynomial| self.depends_on_elements(value);
        if is_inside || of_elements(first) || of_elements(last) || of_elements(&array.size) {
            return Ok(());
        }
        Err(PassError::at(
            op,
            format!(
                "defect of the compiler: this access may be outside of its memory, which has {:?} elements: first {first:?}, last {last:?}",
                array.size
            ),
        ))
    }
}

/// Whether a value is an index or an integer.
fn is_number(value: Value) -> bool {
    value.r#type().is_index() || value.r#type().is_integer()
}
