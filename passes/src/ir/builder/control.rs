// SPDX-License-Identifier: Apache-2.0
//! Builder methods for loops, branches and calls.

use crate::ir::{Builder, ops};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Region, Type, Value, ValueLike};

impl<'c: 'a, 'a> Builder<'c, 'a> {
    /// `scf.for` with loop-carried values; `body` emits an iteration and returns the values for the next one.
    pub fn for_(
        &self,
        bounds: [Value<'c, 'a>; 3],
        inits: &[Value<'c, 'a>],
        body: impl FnOnce(Builder<'c, 'a>, Value<'c, 'a>, &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>>,
    ) -> OperationRef<'c, 'a> {
        let types: Vec<Type> = inits.iter().map(|init| init.r#type()).collect();
        let (region, inside, arguments) = self.region(&[&[bounds[0].r#type()][..], &types].concat());
        let (iteration, carried) = (arguments[0], &arguments[1..]);
        let next = body(inside, iteration, carried);
        inside.op(ops::scf::YIELD, &next, &[], &[], Vec::new());
        self.op(ops::scf::FOR, &[&bounds[..], inits].concat(), &[], &types, vec![region])
    }

    /// The results of an operation.
    pub fn results(&self, op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
        op.results().map(Value::from).collect()
    }

    /// `scf.for` without loop-carried values.
    pub(crate) fn each(&self, bounds: [Value<'c, 'a>; 3], body: impl FnOnce(Builder<'c, 'a>, Value<'c, 'a>)) {
        self.for_(bounds, &[], |inside, iteration, _| {
            body(inside, iteration);
            Vec::new()
        });
    }

    /// `scf.if` with results. `branch` emits the `then` region (`true`), then the `else` region.
    pub(crate) fn if_else(
        &self,
        condition: Value<'c, 'a>,
        types: &[Type<'c>],
        mut branch: impl FnMut(Builder<'c, 'a>, bool) -> Vec<Value<'c, 'a>>,
    ) -> Vec<Value<'c, 'a>> {
        let branches = [true, false].map(|holds| {
            let (region, inside, _) = self.region(&[]);
            let values = branch(inside, holds);
            inside.op(ops::scf::YIELD, &values, &[], &[], Vec::new());
            region
        });
        let op = self.op(ops::scf::IF, &[condition], &[], types, branches.into());
        self.results(op)
    }

    /// `scf.if` without results and without an `else` region.
    pub(crate) fn when(&self, condition: Value<'c, 'a>, then: impl FnOnce(Builder<'c, 'a>)) {
        let (region, inside, _) = self.region(&[]);
        then(inside);
        inside.op(ops::scf::YIELD, &[], &[], &[], Vec::new());
        self.op(ops::scf::IF, &[condition], &[], &[], vec![region, Region::new()]);
    }

    /// `func.call` of a function without results.
    pub(crate) fn call(&self, function: &str, arguments: &[Value<'c, 'a>]) {
        self.call_with(function, arguments, &[]);
    }

    /// `func.call`.
    pub(crate) fn call_with(
        &self,
        function: &str,
        arguments: &[Value<'c, 'a>],
        results: &[Type<'c>],
    ) -> OperationRef<'c, 'a> {
        let callee = FlatSymbolRefAttribute::new(self.context, function).into();
        self.op(ops::func::CALL, arguments, &[("callee", callee)], results, Vec::new())
    }

    /// `gpu.barrier`.
    pub(crate) fn barrier(&self) {
        self.op(ops::gpu::BARRIER, &[], &[], &[], Vec::new());
    }
}
