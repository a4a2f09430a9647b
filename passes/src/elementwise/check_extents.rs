// SPDX-License-Identifier: Apache-2.0
//! `skript-check-extents`: asserts that dynamic extents of elementwise operands agree.
//!
//! A mismatch is undefined behaviour, so nothing checks it without this pass. It applies to every operation with the
//! elementwise trait and runs before the lowerings. It inserts a `cf.assert` in front of an operation for each
//! dimension in which tensors may differ. It omits what types state, what is one value, and what was asserted before.

use crate::extents::bounds;
use crate::ir;
use crate::ir::ancestor_in;
use crate::ir::arith::CompareIntegers;
use crate::ir::is_before;
use crate::ir::ops;
use crate::ir::shape::Dim;
use crate::ir::{Builder, ValueKey, attributes, types};
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::melior::ir::{OperationRef, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError, op};
use std::collections::HashMap;

/// The pass `skript-check-extents`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-check-extents",
    summary: "assert that dynamic extents of elementwise operands agree",
    dependent_dialects: &[Dialect::Arith, Dialect::ControlFlow, Dialect::Tensor],
    run: |root, _, rewriter| {
        let context = rewriter.context();
        let elementwise = |op: OperationRef| op::has_elementwise_trait(&op) && !super::selects_tensors(op);
        let mut asserted = Asserted::below(root);
        for found in op::collect(&root, elementwise) {
            check(found, &mut asserted, &Builder::before(context, found)?)?;
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The definition of an extent, by which equal extents are recognized.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Extent {
    Fixed(i64),
    Of(ValueKey, i64),
}

impl Extent {
    /// Reads a `tensor.dim` or a constant.
    fn read(value: Value) -> Option<Self> {
        if let Some(extent) = bounds::constant(value) {
            return Some(Extent::Fixed(extent));
        }
        let dim = Dim::of(value)?;
        Some(Extent::Of(ValueKey::of(dim.source().ok()?), i64::try_from(dim.dimension()?).ok()?))
    }
}

/// The extents that are asserted to be equal, with the assertions.
struct Asserted<'c, 'a>(HashMap<[Extent; 2], Vec<OperationRef<'c, 'a>>>);

impl<'c: 'a, 'a> Asserted<'c, 'a> {
    /// The assertions below `root`, of this pass and others.
    fn below(root: OperationRef<'c, 'a>) -> Self {
        let mut all = Asserted(HashMap::new());
        for assert in op::collect(&root, |op| op::is(&op, ops::cf::ASSERT)) {
            if let Some(pair) = compared(assert) {
                all.add(pair, assert);
            }
        }
        all
    }

    fn add(&mut self, mut pair: [Extent; 2], assert: OperationRef<'c, 'a>) {
        pair.sort();
        self.0.entry(pair).or_default().push(assert);
    }

    /// Whether an assertion that two extents are equal dominates an op.
    fn holds(&self, mut pair: [Extent; 2], at: OperationRef<'c, 'a>) -> bool {
        pair.sort();
        let stands_before = |assert: &OperationRef<'c, 'a>| {
            let outer = assert.block().and_then(|block| ancestor_in(block, at));
            outer.is_some_and(|outer| is_before(*assert, outer))
        };
        let all = self.0.get(&pair);
        all.is_some_and(|all| all.iter().any(stands_before))
    }
}

/// The extents that an assertion compares.
fn compared(assert: OperationRef) -> Option<[Extent; 2]> {
    let compare = CompareIntegers::of(ir::operand(assert).ok()?)?;
    let [x, y] = ir::both_operands(compare.op()).ok()?;
    (compare.predicate() == Some(EQUAL)).then_some([Extent::read(x)?, Extent::read(y)?])
}

/// `eq` of `arith.cmpi`.
const EQUAL: i64 = 0;

/// Inserts assertions before an operation, for extents that neither types nor earlier assertions prove equal.
fn check<'c: 'a, 'a>(
    found: OperationRef<'c, 'a>,
    asserted: &mut Asserted<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<(), PassError> {
    let mut tensors: Vec<(Value, Vec<i64>)> = Vec::new();
    for operand in found.operands() {
        let is_new = |(known, _): &(Value, Vec<i64>)| ValueKey::of(*known) != ValueKey::of(operand);
        if let Some(extents) = types::extents(operand.r#type())
            && tensors.iter().all(is_new)
        {
            tensors.push((operand, extents));
        }
    }
    let rank = tensors.first().map_or(0, |(_, extents)| extents.len());
    for dimension in 0..rank {
        let of = |extents: &[i64]| extents.get(dimension).copied();
        let fixed = found.results().filter_map(|r| of(&types::extents(r.r#type())?));
        let mut fixed = fixed.chain(tensors.iter().filter_map(|(_, extents)| of(extents)));
        let fixed = fixed.find(|extent| *extent != types::DYNAMIC);
        let open = tensors.iter().filter(|(_, extents)| of(extents) == Some(types::DYNAMIC));
        let mut open = open.map(|(tensor, _)| *tensor);
        let number = i64::try_from(dimension).map_err(|_| "too many dimensions")?;
        let first = match fixed {
            Some(_) => None,
            None => open.next(),
        };
        let known = match (fixed, first) {
            (Some(extent), _) => Extent::Fixed(extent),
            (None, Some(first)) => Extent::Of(ValueKey::of(first), number),
            (None, None) => continue,
        };
        let pairs = open.map(|tensor| ([known, Extent::Of(ValueKey::of(tensor), number)], tensor));
        let wanted: Vec<_> = pairs.filter(|(pair, _)| !asserted.holds(*pair, found)).collect();
        if wanted.is_empty() {
            continue;
        }
        let known = match (fixed, first) {
            (None, Some(first)) => at.extent(first, number)?,
            (extent, _) => at.index(extent.unwrap_or_default())?,
        };
        for (pair, tensor) in wanted {
            let own = at.extent(tensor, number)?;
            let agrees = at.compare(EQUAL, known, own)?;
            let message = format!(
                "{}: operands of '{}' differ in dimension {dimension}",
                found.location(),
                crate::ir::copy::operation_name(found),
            );
            let message = [("msg", attributes::string(at.context, &message))];
            let assert = at.create(ops::cf::ASSERT, &[agrees], &message, &[], Vec::new())?;
            asserted.add(pair, assert);
        }
    }
    Ok(())
}
