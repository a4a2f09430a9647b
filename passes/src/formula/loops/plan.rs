// SPDX-License-Identifier: Apache-2.0
//! How the loops of a formula run: their order, their ranges, and lanes along which a formula that runs in order is computed.

use super::whole::Whole;
use super::{Loops, Options};
use crate::extents::size;
use crate::ir::{ValueKey, types};
use crate::structure::order::IndexBound;
use crate::structure::{Nest, Reading, Term, TermId};
use melior::ir::{Value, ValueLike};
use skript_semantics::ScalarOp;
use std::collections::HashMap;

/// Iterations of the innermost loop if a formula is computed in lanes: as many as the widest vectors have f32.
const LANES: i64 = 16;

/// Iterations of the innermost loop if steps of several chains alternate: while one waits for its last result, others are computed.
const CHAINS: i64 = 8;

/// Chains that alternate if their elements have addresses that differ by multiples of [`PAGE`]: more do not fit the ways of the nearest
/// cache.
const CHAINS_OF_PAGES: i64 = 4;

/// Bytes after which addresses use the same lines of the nearest cache.
const PAGE: i64 = 4096;

/// Most iterations of the innermost loop in a block of columns, so that threads share the columns: still a good part of a page.
const COLUMNS: i64 = 512;

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
    /// See [`Whole`].
    pub whole: Option<Whole>,
}

/// The innermost loop runs along an index whose iterations access disjoint elements of the outputs, in blocks. Blocks are the
/// outermost loop.
pub(super) struct Lanes {
    /// The extent of the index.
    pub extent: i64,
    /// Iterations of a block.
    pub width: i64,
    /// Dimensions that become the last ones, by tensor: these are copied. None for chains that are computed where they are.
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
        if (options.lanes || options.threads) && runs_in_order {
            plan.whole = Whole::of(reading, &plan, options.iterations);
        }
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
        if options.threads && runs_in_order {
            self.keep_outside(&free, options);
            return;
        }
        let innermost = self.order.last().copied();
        let is_vector = |index| nest.is_free_innermost(index) && nest.contiguity(index) > 0;
        if options.lanes && runs_in_order {
            let lanes = match innermost.filter(|index| is_vector(*index)) {
                Some(_) if self.outer_iterations(nest, &free) >= CHAINS => None,
                // Blocks are the outermost loop: no other loop may carry anything from one to the next.
                Some(index) => {
                    let lanes = Lanes::columns(reading, index).filter(|_| is_free(&index));
                    lanes.map(|lanes| (index, lanes))
                }
                None => {
                    let candidates = self.order.iter().filter(|index| is_free(index));
                    let best = candidates
                        .filter_map(|index| Some((nest.extents.get(*index)?.as_static()?, *index)))
                        .max_by_key(|(extent, index)| (*extent, std::cmp::Reverse(*index)));
                    best.and_then(|(extent, index)| {
                        let chains = || Lanes::chains(reading, index, extent, &self.bounds);
                        let lanes = Lanes::of(reading, index, extent).or_else(chains)?;
                        Some((index, lanes))
                    })
                }
            };
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
            .map(|depth| options.parallel && depth < outer && (depth < last || outer == 1 && last == 0))
            .collect();
        self.bounds.retain(|bound| self.lanes.is_none() || Some(&bound.index) != self.order.last());
    }

    /// Moves all loops that carry nothing outwards. The one along which memory is contiguous is the last of them: consecutive threads
    /// access consecutive elements.
    fn keep_outside(&mut self, free: &[bool], options: Options) {
        let is_free = |index: &usize| free.get(*index) == Some(&true);
        // A stable sort: the other loops keep their order.
        self.order.sort_by_key(|index| !is_free(index));
        self.parallel = self.order.iter().map(|i| options.parallel && is_free(i)).collect();
        // A thread that a condition on its own index excludes does nothing.
        self.bounds.retain(|bound| !is_free(&bound.index));
    }

    /// Iterations of the outer loops that carry nothing; dynamic ones count as many.
    fn outer_iterations(&self, nest: &Nest, free: &[bool]) -> i64 {
        let outer = self.order.split_last().map_or(&[][..], |(_, outer)| outer);
        let outer = outer.iter().take_while(|i| free.get(**i) == Some(&true));
        let extent = |index: &usize| nest.extents.get(*index)?.as_static();
        let extents = outer.map(|index| extent(index).unwrap_or(i64::MAX));
        extents.fold(1, i64::saturating_mul)
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
        let pays = work(reading, index) >= COPY * moved.len();
        (outs.all(|out| moved.contains_key(&ValueKey::of(*out))) && pays).then_some(Lanes {
            extent,
            width: LANES,
            moved,
        })
    }

    /// Whether the lanes of a block are copies of the body: a loop over elements that are apart would become gathers.
    pub(super) fn is_unrolled(&self) -> bool {
        self.width <= CHAINS
    }

    /// Chains that alternate, each along its own elements; `None` if there are too few.
    fn chains(reading: &Reading, index: usize, extent: i64, bounds: &[IndexBound]) -> Option<Lanes> {
        let is_static = !reading.is_dynamic && reading.nest.static_extents().is_some();
        let is_plain = is_static && bounds.is_empty() && extent >= CHAINS;
        is_plain.then(|| Lanes {
            extent,
            width: match distance(reading, index) {
                Some(bytes) if bytes % PAGE != 0 => CHAINS,
                _ => CHAINS_OF_PAGES,
            },
            moved: HashMap::new(),
        })
    }

    /// Blocks of columns of a formula whose other loops run in order; `None` if there is one block.
    fn columns(reading: &Reading, index: usize) -> Option<Lanes> {
        let extents = reading.nest.static_extents()?;
        let extent = *extents.get(index)?;
        let blocks = extent / COLUMNS + i64::from(extent % COLUMNS != 0);
        let even = extent / blocks.max(1) + i64::from(extent % blocks.max(1) != 0);
        (!reading.is_dynamic && blocks > 1).then(|| Lanes {
            extent,
            width: (even + LANES - 1) / LANES * LANES,
            moved: HashMap::new(),
        })
    }
}

/// Bytes between the elements of the first output that steps of an index write; `None` if one dimension alone does not depend on it.
fn distance(reading: &Reading, index: usize) -> Option<i64> {
    let dimension = moved_dimension(reading, 0, index)?;
    let kind = reading.outs.first()?.r#type();
    let element = size::element_bytes(&types::element_of(kind)?.to_string())?;
    let inner = types::extents(kind)?.into_iter().skip(dimension + 1);
    let elements = inner.fold(1_i64, i64::saturating_mul);
    Some(elements.saturating_mul(i64::try_from(element).ok()?))
}

/// Operations of a point that depend on data or on an index; a function counts as many.
fn work(reading: &Reading, index: usize) -> usize {
    let nest = &reading.nest;
    let terms = nest.reachable(&nest.roots()).into_iter();
    let varies = |id: &TermId| {
        let reached = nest.reachable(&[*id]);
        let own = |term: &Term| matches!(term, Term::Access { .. }) || *term == Term::Index(index);
        reached.iter().filter_map(|id| nest.terms.get(*id)).any(own)
    };
    let terms = terms.filter(varies);
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
    terms.filter_map(|term| nest.terms.get(term)).map(cost).sum()
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
    all.all(|subscripts| dimension(subscripts) == Some(first)).then_some(first)
}
