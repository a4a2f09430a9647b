// SPDX-License-Identifier: Apache-2.0
//! Loop-carried elements of trailing reduction loops: loaded before the loops, stored after them.
//!
//! The load and the store are executed even if a guard skips every point, or one of the trailing loops is empty. In these cases the
//! element may be outside of the tensor, so its subscripts are checked first.

use super::values::element_of;
use super::{Loops, Lowering};
use crate::facts::Facts;
use crate::formula::Refusal;
use crate::formula::linalg::combine;
use crate::formula::structured::has_effects;
use crate::ir::ops;
use crate::ir::{Builder, memref, types};
use crate::structure::{Extent, Reading, Term, TermId};
use melior::ir::operation::OperationLike;
use melior::ir::{Type, TypeLike, Value, ValueLike};
use skript_semantics::ScalarOp;

/// Targets and dimensions with subscripts that may be out of bounds.
type Unproven = Vec<(usize, usize)>;

/// Returns the depth of the first trailing loop that only reduces. The result is past the last loop if there is no such loop,
/// or if subscripts cannot be computed at skipped points. Affine loops have loop-carried elements only if the subscripts are
/// proven in bounds. A formula with side effects has none, because its subscripts would be computed several times.
pub(super) fn depth(reading: &Reading, loops: Loops, order: &[usize]) -> usize {
    let nest = &reading.nest;
    let depth = nest.extents.len();
    if nest.kind.op().is_none()
        || nest.reads_destination()
        || !reading.has_distinct_destinations()
        || has_effects(reading.op)
    {
        return depth + 1;
    }
    let mut roots = Vec::new();
    for target in &nest.targets {
        roots.extend(&target.subscripts);
    }
    let mut first = 0;
    for term in nest.reachable(&roots) {
        if let Some(Term::Index(position)) = nest.terms.get(term) {
            let level = order.iter().position(|index| index == position);
            first = first.max(level.unwrap_or(depth) + 1);
        }
        if !is_speculatable(reading, term) {
            return depth + 1;
        }
    }
    let is_safe = loops == Loops::Scf || unproven(reading).is_empty();
    if first < depth && nest.accesses(&roots).is_empty() && is_safe { first } else { depth + 1 }
}

/// Whether a term of a subscript may be speculated.
fn is_speculatable(reading: &Reading, term: TermId) -> bool {
    let terms = &reading.nest.terms;
    match terms.get(term) {
        Some(Term::Apply { op, operands, .. }) => {
            let divisor = operands.get(1).and_then(|divisor| terms.get(*divisor));
            let divides = matches!(op, ScalarOp::Div | ScalarOp::CeilDiv | ScalarOp::Mod);
            !divides || matches!(divisor, Some(Term::Int(divisor)) if *divisor != 0)
        }
        _ => true,
    }
}

fn unproven(reading: &Reading) -> Unproven {
    let nest = &reading.nest;
    let mut facts = Facts::default();
    let mut unproven = Vec::new();
    for ((number, target), out) in nest.targets.iter().enumerate().zip(&reading.outs) {
        let addresses = target.subscripts.iter().zip(&target.extents);
        for (dimension, (subscript, extent)) in addresses.enumerate() {
            let form = nest.affine(*subscript);
            let index = form.as_ref().and_then(|form| form.as_index());
            let bound = index.and_then(|index| *reading.bounds.get(index)?);
            let is_inside = match (bound, *extent) {
                (Some(bound), _) => facts.is_extent(*out, dimension, bound, 1),
                (None, Extent::Dynamic(_)) => false,
                (None, Extent::Static(extent)) => form
                    .and_then(|form| form.range(&nest.extents))
                    .is_some_and(|range| range.low >= 0 && range.high < extent),
            };
            if !is_inside {
                unproven.push((number, dimension));
            }
        }
    }
    unproven
}

impl<'c: 'a, 'a> Lowering<'_, 'c, 'a> {
    /// Emits the trailing loops with loop-carried elements. The loops do not run if an element is out of bounds.
    pub(super) fn accumulate(&mut self, depth: usize, at: &Builder<'c, 'a>) -> Result<(), Refusal> {
        let unproven = match self.loops {
            Loops::Scf => unproven(self.reading),
            Loops::Affine => Vec::new(),
        };
        let Some(inside) = self.inside(&unproven, at)? else {
            return self.carry(depth, at);
        };
        let before = self.contents();
        let types: Vec<_> = before.iter().map(|tensor| tensor.r#type()).collect();
        let (region, then, _) = at.region(&[]);
        let outer = self.copier.clone();
        self.carry(depth, &then)?;
        self.copier = outer;
        then.create(ops::scf::YIELD, &self.contents(), &[], &[], Vec::new())?;
        let mut otherwise = melior::ir::Region::new();
        if !before.is_empty() {
            let (region, other, _) = at.region(&[]);
            other.create(ops::scf::YIELD, &before, &[], &[], Vec::new())?;
            otherwise = region;
        }
        let op = at.create(ops::scf::IF, &[inside], &[], &types, vec![region, otherwise])?;
        let after: Vec<_> = op.results().map(Into::into).collect();
        self.set_contents(&after);
        Ok(())
    }

    /// Computes whether these subscripts are in bounds; `None` if the list is empty.
    fn inside(
        &mut self,
        unproven: &Unproven,
        at: &Builder<'c, 'a>,
    ) -> Result<Option<Value<'c, 'a>>, Refusal> {
        let flag = types::flag(at.context);
        let mut holds = None;
        for (target, dimension) in unproven {
            let address = *self
                .target_position(*target, at)?
                .get(*dimension)
                .ok_or(Refusal::Shape("has too few subscripts"))?;
            let buffer = self.destination(*target)?;
            let extent = if buffer.r#type().is_mem_ref() {
                memref::extent(at, buffer, *dimension)?
            } else {
                let dimension = i64::try_from(*dimension);
                at.extent(buffer, dimension.map_err(|_| Refusal::Shape("has too many dimensions"))?)?
            };
            for (op, limit) in [(ScalarOp::Ge, at.idx(0)), (ScalarOp::Lt, extent)] {
                let one = at.scalar(op, &[address, limit], flag)?;
                holds = Some(match holds {
                    Some(others) => at.scalar(ScalarOp::And, &[others, one], flag)?,
                    None => one,
                });
            }
        }
        Ok(holds)
    }

    fn carry(&mut self, depth: usize, at: &Builder<'c, 'a>) -> Result<(), Refusal> {
        if self.has_generic_steps() {
            let kinds =
                self.reading.outs.iter().map(|out| element_of(*out)).collect::<Result<Vec<_>, _>>()?;
            let elements = self.computed(&kinds, at, |this, inner| this.accumulated(depth, inner))?;
            for (target, element) in elements.into_iter().enumerate() {
                let position = self.target_position(target, at)?;
                self.insert_slice(target, &position, element, at)?;
            }
            return Ok(());
        }
        for (target, value) in self.accumulated(depth, at)?.into_iter().enumerate() {
            let address = self.target_position(target, at)?;
            self.store(target, &address, value, at)?;
        }
        Ok(())
    }

    /// Emits the trailing loops; returns the elements after them.
    fn accumulated(&mut self, depth: usize, at: &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        let mut present = Vec::new();
        for target in 0..self.destinations.len() {
            let address = self.target_position(target, at)?;
            present.push(self.load(target, &address, at)?);
        }
        self.accumulating_loop(depth, &present, at)
    }

    fn accumulating_loop(
        &mut self,
        depth: usize,
        carried: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        let Some(extent) = self.extent(depth) else {
            return self.guarded_step(carried, at);
        };
        let mut types = vec![Type::index(at.context)];
        types.extend(carried.iter().map(|v| v.r#type()));
        let (region, inner, arguments) = at.region(&types);
        let (index, present) = arguments.split_first().ok_or(Refusal::Shape("has no loop"))?;
        let outer = self.copier.clone();
        self.indices.push(*index);
        let next = self.accumulating_loop(depth + 1, present, &inner)?;
        self.indices.pop();
        self.copier = outer;
        self.loops.end(&next, &inner)?;
        let range = self.range(depth, self.end(extent)?, at)?;
        let op = self.loops.create(range, carried, region, at)?;
        Ok(op.results().map(Into::into).collect())
    }

    /// Emits one step that yields the new elements.
    fn guarded_step(
        &mut self,
        present: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        let types: Vec<_> = present.iter().map(|v| v.r#type()).collect();
        self.under_guard(0, &types, present, at, &mut |this, at| {
            let values = this.values(at)?;
            let mut combined = Vec::new();
            for (value, present) in values.into_iter().zip(present) {
                combined.push(combine(this.reading, value, *present, at)?);
            }
            Ok(combined)
        })
    }
}
