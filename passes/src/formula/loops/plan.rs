// SPDX-License-Identifier: Apache-2.0
//! How the loops of a formula run: their order, their ranges, and lanes along which a formula that runs in order is computed.

use super::{Loops, Options};
use crate::ir::{ValueKey, types};
use crate::structure::order::IndexBound;
use crate::structure::{Reading, Term, TermId};
use melior::ir::{Value, ValueLike};
use skript_semantics::ScalarOp;
use std::collections::HashMap;

/// Iterations of the innermost loop if a formula is computed in lanes: as many as the widest vectors have f32.
pub(super) const LANES: i64 = 16;

/// Points of a formula below which lanes do not pay for the transposed copies.
const LEAST_POINTS: i64 = 1 << 12;

/// Operations of a point that take as long as one of its elements to be transposed.
const COPY: usize = 4;

/// The loops of a formula.
#[derive(Default)]
pub(super) struct Plan {
    /// Index numbers, outermost first.
    pub order: Vec<usize>,
    /// Bounds of indices by values of outer ones.
    pub bounds: Vec<IndexBound>,
    /// Whether the loop at a depth may be parallel.
    pub parallel: Vec<bool>,
    /// See [`Lanes`].
    pub lanes: Option<Lanes>,
}

/// The innermost loop runs along an index whose iterations access disjoint elements of the outputs, in blocks of [`LANES`].
/// Tensors are copied so that this dimension is the last one. Blocks are the outermost loop.
pub(super) struct Lanes {
    /// The extent of the index.
    pub extent: i64,
    /// Dimensions that become the last ones, by tensor.
    pub moved: HashMap<ValueKey, usize>,
}

impl Plan {
    pub(super) fn of(reading: &Reading, loops: Loops, options: Options) -> Plan {
        let nest = &reading.nest;
        let number = nest.extents.len();
        let disjoint = |depth| options.parallel && nest.is_disjoint(depth);
        let mut plan = Plan {
            order: (0..number).collect(),
            parallel: (0..number).map(disjoint).collect(),
            ..Plan::default()
        };
        if !reading.has_distinct_destinations() {
            plan.parallel.fill(false);
            return plan;
        }
        if loops == Loops::Affine {
            return plan;
        }
        plan.bounds = nest.index_bounds();
        let runs_in_order = nest.reads_destination();
        if runs_in_order || nest.is_sparse() {
            plan.reorder(reading, runs_in_order, options);
        }
        plan.keep_known_bounds(reading);
        for (depth, parallel) in plan.parallel.iter_mut().enumerate() {
            let index = plan.order.get(depth);
            *parallel &= plan.bounds.iter().all(|b| Some(&b.index) != index);
        }
        plan
    }

    /// Selects the order of a formula whose loops run in order, or over ranges.
    fn reorder(&mut self, reading: &Reading, runs_in_order: bool, options: Options) {
        let nest = &reading.nest;
        let free = nest.free_indices();
        self.order = nest.loop_order(&self.bounds);
        let is_free = |index: &usize| free.get(*index) == Some(&true);
        let innermost = self.order.last().copied();
        let is_vector = |index| nest.is_free_innermost(index) && nest.contiguity(index) > 0;
        if options.lanes && runs_in_order && !innermost.is_some_and(is_vector) {
            let candidates = self.order.iter().filter(|index| is_free(index));
            let best = candidates
                .filter_map(|index| Some((nest.extents.get(*index)?.as_static()?, *index)))
                .max_by_key(|(extent, index)| (*extent, std::cmp::Reverse(*index)));
            let lanes =
                best.and_then(|(extent, index)| Some((index, Lanes::of(reading, index, extent)?)));
            if let Some((index, lanes)) = lanes {
                self.order.retain(|other| *other != index);
                self.order.push(index);
                self.lanes = Some(lanes);
            }
        }
        // Inside of loops that run in order, parallel loops are too short.
        let outer = self.order.iter().take_while(|index| is_free(index)).count();
        let last = self.order.len().saturating_sub(1);
        self.parallel = (0..self.order.len())
            .map(|depth| {
                options.parallel && depth < outer && (depth < last || outer == 1 && last == 0)
            })
            .collect();
        self.bounds
            .retain(|bound| self.lanes.is_none() || Some(&bound.index) != self.order.last());
    }

    /// Drops bounds whose values are not known where their loops begin.
    fn keep_known_bounds(&mut self, reading: &Reading) {
        let nest = &reading.nest;
        let order = &self.order;
        let depth = |index: usize| order.iter().position(|own| *own == index);
        self.bounds.retain(|bound| {
            let begin = depth(bound.index);
            let needed = nest.reachable(&[bound.value]);
            needed.iter().all(|term| match nest.terms.get(*term) {
                Some(Term::Index(index)) => depth(*index) < begin,
                _ => true,
            })
        });
    }

    /// The conjuncts that hold in the loops.
    pub(super) fn holds(&self, term: TermId) -> bool {
        self.bounds.iter().any(|bound| bound.conjunct == term)
    }
}

impl Lanes {
    /// `None` if lanes do not pay, or if tensors have dynamic extents or encodings.
    fn of(reading: &Reading, index: usize, extent: i64) -> Option<Lanes> {
        let nest = &reading.nest;
        let extents = nest.static_extents()?;
        let points = extents.iter().try_fold(1i64, |all, e| all.checked_mul(*e));
        if reading.is_dynamic || extent < LANES / 2 || points? < LEAST_POINTS {
            return None;
        }
        let is_plain = |tensor: &Value| types::encoding_of(tensor.r#type()).is_none();
        if !reading.tensors.iter().all(is_plain) {
            return None;
        }
        let mut moved = HashMap::new();
        for (number, tensor) in reading.tensors.iter().enumerate() {
            if let Some(dimension) = moved_dimension(reading, number, index) {
                moved.insert(ValueKey::of(*tensor), dimension);
            }
        }
        // Outputs must have the dimension: they are free along it.
        let mut outs = reading.outs.iter();
        let pays = work(reading) >= COPY * moved.len();
        (outs.all(|out| moved.contains_key(&ValueKey::of(*out))) && pays)
            .then_some(Lanes { extent, moved })
    }
}

/// Operations of a point; a function counts as many.
fn work(reading: &Reading) -> usize {
    let nest = &reading.nest;
    let terms = nest.reachable(&nest.roots()).into_iter();
    let cost = |term: &Term| match term {
        Term::Apply { op, .. } => match op {
            ScalarOp::Div | ScalarOp::CeilDiv | ScalarOp::Mod | ScalarOp::Sqrt => 4,
            ScalarOp::Pow
            | ScalarOp::Exp
            | ScalarOp::Log
            | ScalarOp::Sin
            | ScalarOp::Cos
            | ScalarOp::Tan
            | ScalarOp::Asin
            | ScalarOp::Acos
            | ScalarOp::Atan
            | ScalarOp::Sinh
            | ScalarOp::Cosh
            | ScalarOp::Tanh
            | ScalarOp::Asinh
            | ScalarOp::Acosh
            | ScalarOp::Atanh
            | ScalarOp::Erf => 16,
            _ => 1,
        },
        Term::Branch { .. } => 1,
        _ => 0,
    };
    terms
        .filter_map(|term| nest.terms.get(term))
        .map(cost)
        .sum()
}

/// The dimension of a tensor that all accesses have at this index, and no other dimension.
fn moved_dimension(reading: &Reading, tensor: usize, index: usize) -> Option<usize> {
    let nest = &reading.nest;
    let accesses = nest.accesses(&nest.roots());
    let reads = accesses.iter().filter(|(_, of, _)| *of == tensor);
    let reads = reads.map(|(_, _, subscripts)| *subscripts);
    let writes = nest.targets.get(tensor).into_iter();
    let mut all = reads.chain(writes.map(|t| t.subscripts.as_slice()));
    let uses = |term: &TermId| {
        let reached = nest.reachable(&[*term]);
        let mut reached = reached.iter();
        reached.any(|id| nest.terms.get(*id) == Some(&Term::Index(index)))
    };
    let dimension = |subscripts: &[TermId]| {
        let mut own = subscripts.iter().enumerate().filter(|(_, term)| uses(term));
        let (dimension, term) = own.next()?;
        let is_index = nest.affine(*term)?.as_index() == Some(index);
        (is_index && own.next().is_none()).then_some(dimension)
    };
    let first = dimension(all.next()?)?;
    all.all(|subscripts| dimension(subscripts) == Some(first))
        .then_some(first)
}
