// SPDX-License-Identifier: Apache-2.0
//! Computes the loops of a `linalg.generic` for a formula: parallel loops first, reductions innermost.

use super::Refusal;
use crate::structure::{Affine, Extent, Guard, Nest, Placement, Slot, Term, TermId};
use skript_frontend::model::Accumulation;
use std::collections::HashMap;

/// The iteration domain of a formula as parallel loops and reduction loops.
#[derive(Debug)]
pub(crate) struct Domain {
    /// Extents of the loops, parallel loops first.
    pub extents: Vec<Extent>,
    /// The number of parallel loops.
    pub parallel: usize,
    /// Each index of the formula as an affine form of the loop indices.
    pub indices: Vec<Affine>,
    /// The remaining constraints on the loop indices.
    pub constraints: Vec<Affine>,
    /// Conjuncts of the predicate that the constraints do not imply.
    pub others: Vec<TermId>,
    /// The written block of each target.
    pub placements: Vec<TargetBlock>,
    /// For each index with only one value, its loop with one iteration.
    units: HashMap<usize, usize>,
}

/// The block of an output that the loops write.
#[derive(Debug)]
pub(crate) struct TargetBlock {
    /// The range of positions along each dimension of the output.
    pub slots: Vec<Slot>,
    /// For each dimension of the output, its loops, outermost first. A dimension that is split has several loops.
    pub loops: Vec<Vec<usize>>,
}

impl Domain {
    /// `None` if no point remains.
    pub(crate) fn new(nest: &Nest) -> Result<Option<Domain>, Refusal> {
        if nest.kind == Accumulation::Replace || nest.reads_destination() {
            return Err(Refusal::Shape("runs in the order of its loops"));
        }
        let mut guard = Guard::new(nest);
        let domain = guard.split_box(&nest.extents);
        let is_false = |constraint: &Affine| constraint.as_constant().is_some_and(|value| value < 0);
        if domain.extents.contains(&Extent::Static(0)) || guard.constraints.iter().any(is_false) {
            return Ok(None);
        }
        let (forms, slots) = position(nest, &domain.low, &domain.extents)?;
        let order = order(nest, &domain.extents, &slots)?;
        let overflow = Refusal::Shape("has subscripts beyond 64 bits");
        let indices = forms
            .iter()
            .map(|f| f.substitute(&order.renamed, &order.extents))
            .collect::<Option<Vec<_>>>()
            .ok_or(overflow)?;
        let constraints = guard
            .constraints
            .iter()
            .map(|c| c.substitute(&indices, &order.extents))
            .collect::<Option<Vec<_>>>()
            .ok_or(Refusal::Shape("has subscripts beyond 64 bits"))?;
        Ok(Some(Domain {
            extents: order.extents,
            parallel: order.parallel,
            indices,
            constraints,
            others: guard.others,
            placements: order.placements,
            units: order.units,
        }))
    }

    pub(crate) fn always_holds(&self) -> bool {
        self.constraints.is_empty() && self.others.is_empty()
    }

    /// Returns a term as an affine form of the loop indices.
    pub(crate) fn affine(&self, nest: &Nest, term: TermId) -> Option<Affine> {
        if let Some(Term::Index(index)) = nest.terms.get(term)
            && let Some(unit) = self.units.get(index)
        {
            return Some(Affine::index(*unit));
        }
        nest.affine(term)?.substitute(&self.indices, &self.extents)
    }
}

/// Returns each index as `low ± index`, with signs for which the written positions increase, and the written positions.
fn position(nest: &Nest, low: &[i64], extents: &[Extent]) -> Result<(Vec<Affine>, Vec<Vec<Slot>>), Refusal> {
    let overflow = || Refusal::Shape("has subscripts beyond 64 bits");
    let mut forms: Vec<Affine> = low
        .iter()
        .zip(extents)
        .enumerate()
        .map(|(index, (low, extent))| match *extent {
            Extent::ONE => Some(Affine::constant(*low)),
            _ => Affine::index(index).plus(*low),
        })
        .collect::<Option<_>>()
        .ok_or_else(overflow)?;
    let subscripts = |forms: &[Affine]| -> Vec<Vec<Option<Affine>>> {
        nest.targets
            .iter()
            .map(|target| {
                target.subscripts.iter().map(|s| nest.affine(*s)?.substitute(forms, extents)).collect()
            })
            .collect()
    };
    for form in subscripts(&forms).iter().flatten().flatten() {
        for (index, coefficient) in form.as_linear().unwrap_or_default() {
            if coefficient < 0
                && let (Some(form), Some(low), Some(extent)) =
                    (forms.get_mut(index), low.get(index), extents.get(index))
            {
                let extent = extent.as_static().ok_or(Refusal::Shape("reverses a dynamic dimension"))?;
                *form = Affine::index(index)
                    .scale(-1)
                    .and_then(|f| f.plus(low.checked_add(extent - 1)?))
                    .ok_or_else(overflow)?;
            }
        }
    }
    let slots = subscripts(&forms)
        .iter()
        .zip(&nest.targets)
        .map(|(target, written)| match Placement::new(target, extents) {
            // If a guard restricts several indices, all points are inside of the output, but their bounding block may not be,
            // so it cannot be a slice.
            Placement::Block(slots) if !inside(&slots, &written.extents, nest.predicate.is_some()) => {
                Err(Refusal::Shape("writes a block that reaches beyond its output"))
            }
            Placement::Block(slots) => Ok(slots),
            Placement::Overlapping => Err(Refusal::Shape("writes elements that may coincide")),
            Placement::Indirect => Err(Refusal::Shape("writes at subscripts that depend on data")),
        })
        .collect::<Result<_, _>>()?;
    Ok((forms, slots))
}

/// Whether every position of a block is in the bounds of an output with these extents. Along a dynamic extent, every written
/// position is in bounds.
fn inside(slots: &[Slot], extents: &[Extent], is_guarded: bool) -> bool {
    slots.iter().zip(extents).all(|(slot, extent)| {
        let is_before = |extent: i64| {
            let far = (slot.count - 1).checked_mul(slot.step);
            let last = far.and_then(|far| far.checked_add(slot.offset));
            last.is_some_and(|last| last < extent)
        };
        slot.offset >= 0
            && match extent {
                Extent::Static(extent) => is_before(*extent),
                Extent::Dynamic(_) => !is_guarded || !slot.is_dynamic || slot.may_fill_dynamic(),
            }
    })
}

struct Order {
    extents: Vec<Extent>,
    parallel: usize,
    /// The loop of each index that has one.
    renamed: Vec<Affine>,
    placements: Vec<TargetBlock>,
    units: HashMap<usize, usize>,
}

fn order(nest: &Nest, extents: &[Extent], slots: &[Vec<Slot>]) -> Result<Order, Refusal> {
    let mut loop_of: Vec<Option<usize>> = vec![None; extents.len()];
    let mut order = Order {
        extents: Vec::new(),
        parallel: 0,
        renamed: Vec::new(),
        placements: Vec::new(),
        units: HashMap::new(),
    };
    for (target, written) in slots.iter().zip(&nest.targets) {
        let mut loops = Vec::new();
        for (slot, subscript) in target.iter().zip(&written.subscripts) {
            let mut of_slot = Vec::new();
            for index in &slot.indices {
                let known = loop_of.get_mut(*index).ok_or(Refusal::Shape("has an unknown index"))?;
                let number = *known.get_or_insert_with(|| {
                    order.extents.push(extents.get(*index).copied().unwrap_or(Extent::ONE));
                    order.extents.len() - 1
                });
                of_slot.push(number);
            }
            if slot.indices.is_empty() {
                order.extents.push(Extent::ONE);
                of_slot.push(order.extents.len() - 1);
                if let Some(Term::Index(index)) = nest.terms.get(*subscript)
                    && nest.extents.get(*index) == Some(&Extent::ONE)
                {
                    order.units.insert(*index, order.extents.len() - 1);
                }
            }
            loops.push(of_slot);
        }
        order.placements.push(TargetBlock { slots: target.clone(), loops });
    }
    order.parallel = order.extents.len();
    let written = |t: &TargetBlock| {
        let mut loops: Vec<usize> = t.loops.iter().flatten().copied().collect();
        loops.retain(|l| order.extents.get(*l) != Some(&Extent::ONE));
        loops.sort_unstable();
        loops
    };
    if let Some((first, others)) = order.placements.split_first()
        && others.iter().any(|t| written(t) != written(first))
    {
        return Err(Refusal::Shape("writes outputs of different ranks at once"));
    }
    for (index, extent) in extents.iter().enumerate() {
        if let Some(slot @ None) = loop_of.get_mut(index)
            && *extent != 1
        {
            *slot = Some(order.extents.len());
            order.extents.push(*extent);
        }
    }
    if order.extents.len() > order.parallel && nest.kind == Accumulation::Assign {
        return Err(Refusal::Shape("assigns an element more than once"));
    }
    order.renamed = loop_of.iter().map(|l| l.map_or_else(Affine::default, Affine::index)).collect();
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::nest::samples::Builder;

    #[test]
    fn reductions_are_innermost_and_groups_are_not_merged() {
        // y[b, g·2 + m, i] += …, with c reduced before i
        let mut b = Builder::new(Accumulation::Sum, &[1, 3, 2, 5, 7]);
        let (batch, i) = (b.index(0), b.index(4));
        let channel = b.window(1, 2, 2, 1, 0);
        let c = b.index(3);
        let x = b.access(&[5], &[c]);
        let nest = b.target(&[1, 6, 7], &[batch, channel, i], x);
        let domain = Domain::new(&nest).unwrap().unwrap();
        assert_eq!(domain.extents, [1, 3, 2, 7, 5]);
        assert_eq!(domain.parallel, 4);
        assert_eq!(domain.placements[0].loops, [vec![0], vec![1, 2], vec![3]]);
        assert_eq!(domain.affine(&nest, c), Some(Affine::index(4)));
    }

    #[test]
    fn a_reversed_target_counts_upwards() {
        let mut b = Builder::new(Accumulation::Assign, &[4]);
        let i = b.index(0);
        let position = b.window(0, -1, 0, 0, 3);
        let x = b.access(&[4], &[i]);
        let nest = b.target(&[4], &[position], x);
        let domain = Domain::new(&nest).unwrap().unwrap();
        assert_eq!(domain.affine(&nest, i).unwrap().to_string(), "d0 * -1 + 3");
        assert!(domain.placements[0].slots[0].covers(4));
    }

    #[test]
    fn a_guarded_copy_keeps_only_its_box() {
        // y[i] = x[|i - 2|], i < 8 over x of 4
        let mut b = Builder::new(Accumulation::Assign, &[8]);
        let i = b.index(0);
        let position = b.window(0, 1, 0, 0, -2);
        let within = b.within(position, 4);
        b.nest.predicate = Some(within);
        let x = b.access(&[4], &[position]);
        let nest = b.target(&[8], &[i], x);
        let domain = Domain::new(&nest).unwrap().unwrap();
        assert!(domain.always_holds());
        assert_eq!(domain.extents, [4]);
        assert_eq!(domain.placements[0].slots[0].offset, 2);
        assert_eq!(domain.affine(&nest, position), Some(Affine::index(0)));
    }

    #[test]
    fn a_block_beyond_its_output_is_rejected() {
        // y[|2 · i + j + offset|] += x[i] over 4 and 2, y of 8
        let refused = |offset: i64| {
            let mut b = Builder::new(Accumulation::Sum, &[4, 2]);
            let i = b.index(0);
            let position = b.window(0, 2, 1, 1, offset);
            let within = b.within(position, 8);
            b.nest.predicate = Some(within);
            let x = b.access(&[4], &[i]);
            let nest = b.target(&[8], &[position], x);
            matches!(Domain::new(&nest), Err(Refusal::Shape(_)))
        };
        assert_eq!([-1, 0, 1].map(refused), [true, false, true]);
    }

    #[test]
    fn an_element_assigned_twice_is_rejected() {
        let mut b = Builder::new(Accumulation::Assign, &[4]);
        let (i, zero) = (b.index(0), b.int(0));
        let x = b.access(&[4], &[i]);
        let nest = b.target(&[1], &[zero], x);
        assert!(matches!(Domain::new(&nest), Err(Refusal::Shape(_))));
    }
}
