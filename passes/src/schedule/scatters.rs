// SPDX-License-Identifier: Apache-2.0
//! `skript-split-scatters`: threads share loops that add to elements at positions which they compute, such as those of a histogram.
//!
//! Two iterations may change the same element, so the loop is none that threads share. Where the combination is exact in any order, as sums
//! of integers and extremes are, each of eight parts of the loop combines into an array of its own, which begins with the identity; then
//! the arrays are combined. The parts do not depend on the number of threads. Sums of reals stay in the order of the loop.
//!
//! Requires: buffers, loops of static bounds. Guarantees: the same elements as before.

use super::body::Combine;
use crate::ir::arith::Constant;
use crate::ir::effects::Effects;
use crate::ir::linalg::reduce;
use crate::ir::memref::{extents, may_overlap, root_of};
use crate::ir::walk::{named, nested, parent};
use crate::ir::{self, Builder, Copier, attributes, func, ops, scf, types};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, ShapedTypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, op};

/// The pass `skript-split-scatters`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-split-scatters",
    summary: "share loops that combine integers at computed positions between threads",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Linalg, Dialect::MemRef, Dialect::Scf],
    run: |root, _, rewriter| {
        let mut effects = Effects::new(func::functions(root));
        for op in named(root, ops::scf::FOR) {
            if let Some(scatter) = Scatter::of(op, &mut effects) {
                scatter.split(&Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The parts of a loop, whatever the number of threads.
const PARTS: i64 = 8;

/// Iterations of the shortest loop that is split: fewer take less time than to wake a thread.
const FEWEST: i64 = 1 << 15;

/// Iterations of a loop for each element of the arrays of its parts, at least: they are filled and combined.
const LEAST_REUSE: i64 = 4;

/// A loop that combines values into elements of an array, at positions that it computes.
struct Scatter<'c, 'a> {
    op: OperationRef<'c, 'a>,
    iterations: i64,
    array: Value<'c, 'a>,
    shape: Vec<i64>,
    /// The combination of an element and a value.
    combination: OperationRef<'c, 'a>,
    identity: Attribute<'c>,
}

impl<'c: 'a, 'a> Scatter<'c, 'a> {
    /// `None` for other loops, for those inside of loops, and for those that gain nothing.
    fn of(op: OperationRef<'c, 'a>, effects: &mut Effects<'c, 'a>) -> Option<Self> {
        let is_outermost = parent(op).is_some_and(|own| ir::name(own) == ops::func::FUNC);
        if !is_outermost || op.operand_count() != 3 {
            return None;
        }
        let bound = |number: usize| Constant::of(op.operand(number).ok()?)?.integer();
        let iterations = bound(1).filter(|_| bound(0) == Some(0) && bound(2) == Some(1))?;

        let payload = nested(op);
        let is_plain = |own: &OperationRef| ir::name(*own) != ops::func::CALL;
        if !payload.iter().all(is_plain) {
            return None;
        }
        let mut stores = payload.iter().copied().filter(|own| op::is(own, ops::memref::STORE));
        let store = stores.next().filter(|_| stores.next().is_none())?;
        let (value, array) = (store.operand(0).ok()?, store.operand(1).ok()?);
        if effects.written(op).len() != 1 {
            return None;
        }

        let (combination, _) = ir::definition(value)?;
        let memref = MemRefType::try_from(array.r#type()).ok()?;
        let element = memref.element();
        let (name, attributes) = (ir::name(combination), ir::inherent(combination)?);
        let combine = Combine::of(&name, &attributes, &element.to_string())?;
        if combine.rounds(&element.to_string()) {
            return None;
        }
        let [left, right] = ir::both_operands(combination).ok()?;
        let loaded = |value: Value<'c, 'a>| {
            let (load, _) = ir::definition(value)?;
            let is_element = op::is(&load, ops::memref::LOAD)
                && load.operands().eq(store.operands().skip(1))
                && ir::users(value).len() == 1;
            is_element.then_some(load)
        };
        let load = match (loaded(left), loaded(right)) {
            (Some(load), None) | (None, Some(load)) => load,
            _ => return None,
        };
        // Nothing else reads the array.
        let is_other = |own: &&OperationRef<'c, 'a>| **own != load && **own != store;
        let mut others = payload.iter().filter(is_other).flat_map(|own| own.operands());
        let reads_it = others.any(|operand| {
            MemRefType::try_from(operand.r#type()).is_ok()
                && (root_of(operand) == root_of(array) || may_overlap(operand, array))
        });
        let shape = extents(array.r#type());
        let is_static = shape.iter().all(|extent| *extent >= 0);
        if !is_static || reads_it {
            return None;
        }

        let total = payload.iter().filter(|own| op::is(*own, ops::scf::FOR));
        let total = total.fold(iterations, |all, own| all.saturating_mul(inner_iterations(*own)));
        let elements = shape.iter().product::<i64>();
        let copied = elements.saturating_mul(PARTS * LEAST_REUSE);
        if total < FEWEST || total < copied || iterations < PARTS {
            return None;
        }
        let text = format!("{} : {element}", combine.identity);
        let identity = Attribute::parse(ir::context::of(op), &text)?;
        Some(Scatter { op, iterations, array, shape, combination, identity })
    }

    /// Adds the parts, and the combination of their arrays.
    fn split(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let element = MemRefType::try_from(self.array.r#type())?.element();
        let shape = [&[PARTS], self.shape.as_slice()].concat();
        let segments = attributes::i32s(at.context, &[0, 0]);
        let segments = [("operandSegmentSizes", segments)];
        let kind = types::memref(&shape, element);
        let own = at.value(ops::memref::ALLOC, &[], &segments, kind)?;
        let value = [("value", self.identity)];
        let identity = at.value(ops::arith::CONSTANT, &[], &value, element)?;
        at.fill_into(identity, own)?;

        let size = (self.iterations + PARTS - 1) / PARTS;
        let operations = i64::try_from(nested(self.op).len()).unwrap_or(1);
        scf::parallel(at, &[PARTS], size.saturating_mul(operations), |at, part| {
            let part = *part.first().ok_or(Error::OperationBuild)?;
            let index = part.r#type();
            let of_two = |name, a, b| at.value(name, &[a, b], &[], index);
            let from = of_two(ops::arith::MULI, part, at.index(size)?)?;
            let to = of_two(ops::arith::ADDI, from, at.index(size)?)?;
            let end = at.index(self.iterations)?;
            let from = of_two(ops::arith::MINSI, from, end)?;
            let to = of_two(ops::arith::MINSI, to, end)?;
            self.copy_to(own, part, [from, to], at)
        })?;
        self.combine(own, at)
    }

    /// The loop over one part, with the elements of an array of all parts.
    fn copy_to(
        &self,
        own: Value<'c, 'a>,
        part: Value<'c, 'a>,
        [from, to]: [Value<'c, 'a>; 2],
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let bounds = [from, to, self.op.operand(2)?];
        let block = ir::builder::only_block(self.op.region(0)?)?;
        let variable = *ir::arguments(block).first().ok_or(Error::OperationBuild)?;
        let (region, inner, arguments) = at.region(&[variable.r#type()]);
        let mut copier = Copier::new();
        copier.set(variable, *arguments.first().ok_or(Error::OperationBuild)?);
        for op in ir::operations(block) {
            let inner = inner.with_location(op.location());
            copier.copy(op, &inner, &mut |copier, op, to| {
                let position = match ir::name(op).as_str() {
                    ops::memref::LOAD => 0,
                    ops::memref::STORE => 1,
                    _ => return Ok(false),
                };
                if op.operand(position)? != self.array {
                    return Ok(false);
                }
                let operands = op.operands().map(|value| copier.get(value));
                let mut operands: Vec<Value> = operands.collect();
                operands.splice(position..=position, [own, part]);
                let results: Vec<_> = op.results().map(|result| result.r#type()).collect();
                let new = to.create(&ir::name(op), &operands, &[], &results, Vec::new())?;
                for (old, new) in op.results().zip(new.results()) {
                    copier.set(old, new.into());
                }
                Ok(true)
            })?;
        }
        at.create(ops::scf::FOR, &bounds, &[], &[], vec![region])?;
        Ok(())
    }

    /// Combines the arrays of the parts into that of the loop.
    fn combine(&self, own: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let element = MemRefType::try_from(self.array.r#type())?.element();
        let (region, inner, arguments) = at.region(&[element, element]);
        let [part, all] = arguments.as_slice() else {
            return Err(Error::OperationBuild);
        };
        let mut copier = Copier::new();
        for (operand, new) in ir::both_operands(self.combination)?.into_iter().zip([all, part]) {
            copier.set(operand, *new);
        }
        copier.copy(self.combination, &inner, &mut |_, _, _| Ok(false))?;
        let combined = copier.get(self.combination.result(0)?.into());
        inner.create(ops::linalg::YIELD, &[combined], &[], &[], Vec::new())?;
        let kept = vec![false; self.shape.len()];
        let reduced = [&[true], kept.as_slice()].concat();
        reduce(at, [own, self.array], &reduced, region)?;
        Ok(())
    }
}

/// The iterations of a loop inside; one, if they are not known.
fn inner_iterations(op: OperationRef) -> i64 {
    let bound = |number: usize| Constant::of(op.operand(number).ok()?)?.integer();
    match (bound(0), bound(1), bound(2)) {
        (Some(from), Some(to), Some(step)) if step > 0 => ((to - from) / step).max(1),
        _ => 1,
    }
}
