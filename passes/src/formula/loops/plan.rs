// SPDX-License-Identifier: Apache-2.0
//! Plans the loops of a formula: their order, their ranges, and the lanes along which a sequential formula is computed.

use super::whole::Whole;
use super::{Loops, Options};
use crate::extents::size;
use crate::formula::structured::has_effects;
use crate::ir::{ValueKey, types};
use crate::structure::order::IndexBound;
use crate::structure::{Nest, Reading, Term, TermId};
use melior::ir::{Value, ValueLike};
use skript_semantics::ScalarOp;
use std::collections::HashMap;

/// Iterations of the innermost loop if a formula is computed in lanes: the number of f32 lanes of the widest vectors.
const LANES: i64 = 16;

/// Iterations of the innermost loop if several dependence chains are interleaved to hide the latency.
const CHAINS: i64 = 8;

/// Number of interleaved chains if the addresses of their elements differ by multiples of [`PAGE`]: more chains would exceed the
/// associativity of the L1 cache.
const CHAINS_OF_PAGES: i64 = 4;

/// Addresses that differ by a multiple of this number of bytes map to the same set of the L1 cache.
const PAGE: i64 = 4096;

/// Maximum number of iterations of the innermost loop in a block of columns: small enough to distribute the blocks over threads, and
/// large enough to use a large part of a page.
const COLUMNS: i64 = 512;

/// Minimum number of points of a formula for which lanes amortize the transposed copies.
const MIN_POINTS: i64 = 1 << 12;

/// Cost of transposing one element, as the number of operations of a point that take the same time.
const COPY: usize = 8;

/// The loops of a formula.
#[derive(Default)]
pub(super) struct Plan {
    /// The indices of the loops, outermost first.
    pub order: Vec<usize>,
    /// Bounds of indices that depend on outer indices.
    pub bounds: Vec<IndexBound>,
    /// Whether the loop at a depth may be parallel.
    pub parallel: Vec<bool>,
    /// See [`Lanes`].
    pub lanes: Option<Lanes>,
    /// See [`Whole`].
    pub whole: Option<Whole>,
}

/// The lanes of a formula: the innermost loop runs along an index without a loop-carried dependence, in blocks. The loop over blocks is
/// the outermost loop.
pub(super) struct Lanes {
    /// The extent of the index.
    pub extent: i64,
    /// The number of iterations of a block.
    pub width: i64,
    /// For each tensor that is copied, the dimension that becomes the last one. Empty for interleaved chains, which are not copied.
    pub moved: HashMap<ValueKey, usize>,
}

impl Plan {
    pub(super) fn new(reading: &Reading, loops: Loops, options: Options) -> Plan {
        let nest = &reading.nest;
        let number = nest.extents.len();
        let disjoint = |depth| options.parallel && nest.is_disjoint(depth);
        let mut plan = Plan {
            order: (0..number).collect(),
            parallel: (0..number).map(disjoint).collect(),
            ..Plan::default()
        };
        if !reading.has_distinct_destinations() {
            let free = nest.shared_free_indices();
            let outer = free.iter().take_while(|is_free| **is_free).count();
            // Parallel loops inside of sequential loops are too short.
            plan.parallel = (0..number).map(|d| options.parallel && d < outer && d + 1 < number).collect();
            return plan;
        }
        if loops == Loops::Affine {
            return plan;
        }
        // A predicate with side effects is evaluated at each point of the domain.
        if !has_effects(reading.op) {
            plan.bounds = nest.index_bounds();
        }
        let runs_in_order = nest.reads_destination();
        if runs_in_order || nest.is_sparse() {
            plan.reorder(reading, runs_in_order, options);
        }
        plan.keep_known_bounds(reading);
        if (options.lanes || options.threads) && runs_in_order {
            plan.whole = Whole::new(reading, &plan, options.iterations);
        }
        for (depth, parallel) in plan.parallel.iter_mut().enumerate() {
            let index = plan.order.get(depth);
            *parallel &= plan.bounds.iter().all(|b| Some(&b.index) != index);
        }
        plan
    }

    /// Selects the loop order of a formula that is sequential, or whose loops run over ranges.
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
                // The loop over blocks is the outermost loop, so the index must not have a loop-carried dependence.
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
                        let lanes = Lanes::new(reading, index, extent).or_else(chains)?;
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
        // Parallel loops inside of sequential loops are too short.
        let outer = self.order.iter().take_while(|index| is_free(index)).count();
        let last = self.order.len().saturating_sub(1);
        self.parallel = (0..self.order.len())
            .map(|depth| options.parallel && depth < outer && (depth < last || outer == 1 && last == 0))
            .collect();
        self.bounds.retain(|bound| self.lanes.is_none() || Some(&bound.index) != self.order.last());
    }

    /// Makes all loops without a loop-carried dependence the outer loops. The loop along which memory is contiguous is the last of them,
    /// so that consecutive threads access consecutive elements.
    fn keep_outside(&mut self, free: &[bool], options: Options) {
        let is_free = |index: &usize| free.get(*index) == Some(&true);
        // The sort is stable, so the other loops keep their order.
        self.order.sort_by_key(|index| !is_free(index));
        self.parallel = self.order.iter().map(|i| options.parallel && is_free(i)).collect();
        // The bounds of parallel loops are dropped: a thread checks the condition instead.
        self.bounds.retain(|bound| !is_free(&bound.index));
    }

    /// The number of iterations of the outer loops without a loop-carried dependence; a dynamic extent counts as the maximum.
    fn outer_iterations(&self, nest: &Nest, free: &[bool]) -> i64 {
        let outer = self.order.split_last().map_or(&[][..], |(_, outer)| outer);
        let parallel = outer.iter().take_while(|i| free.get(**i) == Some(&true));
        let extent = |index: &usize| nest.extents.get(*index)?.as_static();
        parallel.map(|index| extent(index).unwrap_or(i64::MAX)).fold(1, i64::saturating_mul)
    }

    /// Drops bounds whose values are not available at the beginning of their loops.
    fn keep_known_bounds(&mut self, reading: &Reading) {
        let nest = &reading.nest;
        let order = &self.order;
        let depth = |index: usize| order.iter().position(|other| *other == index);
        self.bounds.retain(|bound| {
            let begin = depth(bound.index);
            let needed = nest.reachable(&[bound.value]);
            needed.iter().all(|term| match nest.terms.get(*term) {
                Some(Term::Index(index)) => depth(*index) < begin,
                _ => true,
            })
        });
    }

    /// Whether a conjunct holds at all points of the loops.
    pub(super) fn holds(&self, term: TermId) -> bool {
        self.bounds.iter().any(|bound| bound.conjunct == term)
    }
}

impl Lanes {
    /// `None` if lanes are not profitable, or if tensors have dynamic extents or encodings.
    fn new(reading: &Reading, index: usize, extent: i64) -> Option<Lanes> {
        let nest = &reading.nest;
        let extents = nest.static_extents()?;
        let points = extents.iter().try_fold(1i64, |all, e| all.checked_mul(*e));
        if reading.is_dynamic || extent < LANES / 2 || points? < MIN_POINTS {
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
        // Each output must have such a dimension, because its elements are disjoint along the index.
        let mut outs = reading.outs.iter();
        let pays = work(reading, index) >= COPY * moved.len();
        (outs.all(|out| moved.contains_key(&ValueKey::of(*out))) && pays).then_some(Lanes {
            extent,
            width: LANES,
            moved,
        })
    }

    /// Whether the loop over the lanes of a block is unrolled: LLVM would vectorize a loop over noncontiguous elements with gathers.
    pub(super) fn is_unrolled(&self) -> bool {
        self.width <= CHAINS
    }

    /// Interleaves independent dependence chains; `None` if there are too few chains.
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

    /// Divides the columns of a formula whose other loops are sequential into blocks; `None` if there is only one block.
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

/// Returns the bytes between the elements of the first output that consecutive steps of an index write; `None` unless exactly one
/// dimension depends on the index.
fn distance(reading: &Reading, index: usize) -> Option<i64> {
    let dimension = moved_dimension(reading, 0, index)?;
    let kind = reading.outs.first()?.r#type();
    let element = size::element_bytes(types::element_of(kind)?)?;
    let inner = types::extents(kind)?.into_iter().skip(dimension + 1);
    let elements = inner.fold(1_i64, i64::saturating_mul);
    Some(elements.saturating_mul(i64::try_from(element).ok()?))
}

/// The weighted number of operations of a point that depend on data or on an index.
fn work(reading: &Reading, index: usize) -> usize {
    let nest = &reading.nest;
    let terms = nest.reachable(&nest.roots()).into_iter();
    let varies = |id: &TermId| {
        let reached = nest.reachable(&[*id]);
        let reads = |term: &Term| matches!(term, Term::Access { .. }) || *term == Term::Index(index);
        reached.iter().filter_map(|id| nest.terms.get(*id)).any(reads)
    };
    let terms = terms.filter(varies);
    let cost = |term: &Term| match term {
        Term::Apply { op, .. } => match op {
            ScalarOp::Div | ScalarOp::CeilDiv | ScalarOp::Mod | ScalarOp::Sqrt => 4,
            op if op.is_transcendental() => 16,
            _ => 1,
        },
        Term::Branch { .. } => 1,
        _ => 0,
    };
    terms.filter_map(|term| nest.terms.get(term)).map(cost).sum()
}

/// Returns the dimension of a tensor whose subscript is the index in all accesses, if no other subscript depends on the index.
fn moved_dimension(reading: &Reading, tensor: usize, index: usize) -> Option<usize> {
    let nest = &reading.nest;
    let accesses = nest.accesses(&nest.roots());
    let reads = accesses.iter().filter(|(_, of, _)| *of == tensor).map(|(_, _, subscripts)| *subscripts);
    let writes = nest.targets.get(tensor).into_iter();
    let mut all = reads.chain(writes.map(|t| t.subscripts.as_slice()));
    let uses = |term: &TermId| {
        nest.reachable(&[*term]).iter().any(|id| nest.terms.get(*id) == Some(&Term::Index(index)))
    };
    let dimension = |subscripts: &[TermId]| {
        let mut using = subscripts.iter().enumerate().filter(|(_, term)| uses(term));
        let (dimension, term) = using.next()?;
        let is_index = nest.affine(*term)?.as_index() == Some(index);
        (is_index && using.next().is_none()).then_some(dimension)
    };
    let first = dimension(all.next()?)?;
    all.all(|subscripts| dimension(subscripts) == Some(first)).then_some(first)
}
