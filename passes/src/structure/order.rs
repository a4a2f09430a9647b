// SPDX-License-Identifier: Apache-2.0
//! Determines the order of loops from independent indices and from indices that the predicate bounds by values of other indices.

use super::nest::{Nest, Term, TermId};
use skript_semantics::{ScalarKind, ScalarOp};
use skript_symbolic::{Affine, Extent};

/// A bound of an index, from a conjunct of the predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexBound {
    /// The conjunct. It is redundant in a loop over the range.
    pub conjunct: TermId,
    /// The index.
    pub index: usize,
    /// The bound, which is an integer that depends on other indices.
    pub value: TermId,
    /// The kind of bound.
    pub side: Side,
}

/// The meaning of the value of an [`IndexBound`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The index is at least the value.
    AtLeast,
    /// The index is greater than the value.
    Above,
    /// The index is at most the value.
    AtMost,
    /// The index is less than the value.
    Below,
    /// The index is the value.
    Exactly,
}

impl Side {
    /// Whether the value is a lower bound.
    pub(crate) fn is_low(self) -> bool {
        matches!(self, Side::AtLeast | Side::Above | Side::Exactly)
    }

    /// Whether the value is an upper bound.
    pub(crate) fn is_high(self) -> bool {
        matches!(self, Side::AtMost | Side::Below | Side::Exactly)
    }

    /// The kind of bound in `index op value`.
    fn from_comparison(op: ScalarOp) -> Option<Side> {
        Some(match op {
            ScalarOp::Ge => Side::AtLeast,
            ScalarOp::Gt => Side::Above,
            ScalarOp::Le => Side::AtMost,
            ScalarOp::Lt => Side::Below,
            ScalarOp::Eq => Side::Exactly,
            _ => return None,
        })
    }

    /// The kind of bound in `value op index`.
    fn mirrored(op: ScalarOp) -> Option<Side> {
        Some(match op {
            ScalarOp::Ge => Side::AtMost,
            ScalarOp::Gt => Side::Below,
            ScalarOp::Le => Side::AtLeast,
            ScalarOp::Lt => Side::Above,
            ScalarOp::Eq => Side::Exactly,
            _ => return None,
        })
    }
}

/// Indices that the innermost loop may have, if it is to be a vector: fewer iterations do not fill one.
const MIN_LANES: i64 = 4;

impl Nest {
    /// For each index, whether iterations with different values of it access disjoint elements of the outputs: those that they
    /// write, and those that they read.
    pub(crate) fn free_indices(&self) -> Vec<bool> {
        (0..self.extents.len()).map(|index| !self.targets.is_empty() && self.is_free(index)).collect()
    }

    fn is_free(&self, index: usize) -> bool {
        let reads = self.destination_reads();
        (self.targets.iter().enumerate()).all(|(number, target)| {
            (0..target.subscripts.len()).any(|dimension| {
                let Some(form) = self.own_dimension(&target.subscripts, dimension, index) else {
                    return false;
                };
                let mut reads = reads.iter().filter(|(target, _)| *target == number);
                reads.all(|(_, subscripts)| {
                    let read = subscripts.get(dimension);
                    read.and_then(|read| self.affine(*read)).as_ref() == Some(&form)
                })
            })
        })
    }

    /// For each index, whether iterations with different values of it access disjoint elements of all outputs, even if outputs are the
    /// same tensor: one dimension has the same subscript, which depends on the index only, in all accesses to outputs.
    pub(crate) fn shared_free_indices(&self) -> Vec<bool> {
        let reads = self.destination_reads();
        let written = self.targets.iter().map(|target| target.subscripts.as_slice());
        let accesses: Vec<&[TermId]> =
            written.chain(reads.iter().map(|(_, subscripts)| *subscripts)).collect();
        let is_free = |index: usize| {
            let Some(first) = accesses.first() else {
                return false;
            };
            (0..first.len()).any(|dimension| {
                let form = self.own_dimension(first, dimension, index);
                let same = |subscripts: &&[TermId]| self.own_dimension(subscripts, dimension, index) == form;
                form.is_some() && accesses.iter().all(same)
            })
        };
        (0..self.extents.len()).map(is_free).collect()
    }

    /// The subscript of a dimension, if it only depends on this index, and differs between values of it.
    fn own_dimension(&self, subscripts: &[TermId], dimension: usize, index: usize) -> Option<Affine> {
        let form = self.affine(*subscripts.get(dimension)?)?;
        let linear = form.as_linear()?;
        matches!(linear.as_slice(), [(used, factor)] if *used == index && *factor != 0).then_some(form)
    }

    /// Reads of outputs: the target and the subscripts.
    fn destination_reads(&self) -> Vec<(usize, &[TermId])> {
        let reads = self.accesses(&self.roots()).into_iter();
        reads
            .filter_map(|(_, tensor, subscripts)| Some((self.tensors.get(tensor)?.destination?, subscripts)))
            .collect()
    }

    /// Whether iterations that only differ in one index access disjoint elements of the outputs, so that the innermost
    /// loop may compute several at once.
    pub(crate) fn is_free_innermost(&self, index: usize) -> bool {
        let reads = self.destination_reads();
        (self.targets.iter().enumerate()).all(|(number, target)| {
            let dimensions = || 0..target.subscripts.len();
            let form_with_index = |dimension| -> Option<Affine> {
                let form = self.affine(*target.subscripts.get(dimension)?)?;
                form.as_linear()?.iter().any(|(position, _)| *position == index).then_some(form)
            };
            let mut reads = reads.iter().filter(|(target, _)| *target == number);
            dimensions().any(|d| form_with_index(d).is_some())
                && reads.all(|(_, subscripts)| {
                    dimensions().any(|dimension| {
                        let written = target.subscripts.get(dimension).copied();
                        let written = written.and_then(|term| self.affine(term));
                        let read = subscripts.get(dimension).copied().and_then(|term| self.affine(term));
                        let (Some(written), Some(read)) = (written, read) else {
                            return false;
                        };
                        // An element is only accessed in one iteration, or never.
                        let difference = written.sub(&read).and_then(|d| d.as_constant());
                        match form_with_index(dimension) {
                            Some(form) => form == read,
                            None => difference.is_some_and(|difference| difference != 0),
                        }
                    })
                })
        })
    }

    /// The bounds that conjuncts of the predicate state of indices by values of other indices, and that may be computed where these
    /// are known, whether the other conjuncts hold or not.
    pub(crate) fn index_bounds(&self) -> Vec<IndexBound> {
        let mut stated = Vec::new();
        let mut stack: Vec<TermId> = self.predicate.into_iter().collect();
        while let Some(term) = stack.pop() {
            match self.terms.get(term) {
                Some(Term::Apply { op: ScalarOp::And, operands, .. }) => stack.extend(operands.iter().rev()),
                Some(Term::Branch { condition, then, otherwise })
                    if self.terms.get(*otherwise) == Some(&Term::Bool(false)) =>
                {
                    stack.extend([*then, *condition]);
                }
                Some(Term::Apply { op, kind: ScalarKind::Int, operands }) => {
                    if let [x, y] = operands.as_slice() {
                        stated.extend(self.index_bound(term, *x, *y, Side::from_comparison(*op)));
                        stated.extend(self.index_bound(term, *y, *x, Side::mirrored(*op)));
                    }
                }
                _ => {}
            }
        }
        // Two conjuncts may bound two indices by each other. Only use the first one.
        let mut bounds: Vec<IndexBound> = Vec::new();
        for bound in stated {
            let depends = |value, index| {
                self.reachable(&[value])
                    .iter()
                    .any(|term| matches!(self.terms.get(*term), Some(Term::Index(used)) if *used == index))
            };
            let is_cyclic =
                bounds.iter().any(|other| other.index != bound.index && depends(bound.value, other.index));
            if !is_cyclic && bounds.iter().all(|b| b.conjunct != bound.conjunct) {
                bounds.push(bound);
            }
        }
        bounds
    }

    fn index_bound(
        &self,
        conjunct: TermId,
        index: TermId,
        value: TermId,
        side: Option<Side>,
    ) -> Option<IndexBound> {
        let Some(Term::Index(index)) = self.terms.get(index) else {
            return None;
        };
        self.reachable(&[value]).iter().all(|term| self.is_computable(*term, *index)).then_some(IndexBound {
            conjunct,
            index: *index,
            value,
            side: side?,
        })
    }

    /// Whether a term is defined at all points, is not the index, and reads no output.
    fn is_computable(&self, term: TermId, index: usize) -> bool {
        match self.terms.get(term) {
            Some(Term::Index(used)) => *used != index,
            Some(Term::Int(_)) => true,
            Some(Term::Apply { op, .. }) => matches!(
                op,
                ScalarOp::Add
                    | ScalarOp::Sub
                    | ScalarOp::Mul
                    | ScalarOp::Min
                    | ScalarOp::Max
                    | ScalarOp::ToInt
                    | ScalarOp::Neg
            ),
            Some(Term::Access { tensor, subscripts }) => {
                let tensor = self.tensors.get(*tensor);
                tensor.is_some_and(|tensor| {
                    tensor.destination.is_none()
                        && tensor.extents.len() == subscripts.len()
                        && (subscripts.iter().zip(&tensor.extents))
                            .all(|(subscript, extent)| self.is_inside(*subscript, *extent))
                })
            }
            _ => false,
        }
    }

    /// Whether a subscript is in bounds at all points of the domain.
    fn is_inside(&self, subscript: TermId, extent: Extent) -> bool {
        let range = self.affine(subscript).and_then(|form| form.range(&self.extents));
        let Extent::Static(extent) = extent else {
            return false;
        };
        range.is_some_and(|range| range.low >= 0 && range.high < extent)
    }

    /// Whether a reduced index has lower and upper bounds that depend on data, so that a loop over all values would skip most points.
    pub(crate) fn is_sparse(&self) -> bool {
        let bounds = self.index_bounds();
        let reads_data = |bound: &&IndexBound| !self.accesses(&[bound.value]).is_empty();
        let sides = |index| {
            let of_index = || bounds.iter().filter(|b| b.index == index).filter(reads_data);
            of_index().any(|b| b.side.is_low()) && of_index().any(|b| b.side.is_high())
        };
        let written: Vec<TermId> = self.targets.iter().flat_map(|t| t.subscripts.clone()).collect();
        let written = self.reachable(&written);
        let is_written =
            |index| written.iter().any(|term| self.terms.get(*term) == Some(&Term::Index(index)));
        (0..self.extents.len()).any(|index| !is_written(index) && sides(index))
    }

    /// The order of the loops, outermost first: free indices, then indices that preserve their order, then the free index along which most
    /// accesses are contiguous, if there is one.
    pub(crate) fn loop_order(&self, bounds: &[IndexBound]) -> Vec<usize> {
        let free = self.free_indices();
        let is_free = |index: &usize| free.get(*index) == Some(&true);
        let bounding: Vec<TermId> = bounds.iter().map(|b| b.value).collect();
        let bounding = self.reachable(&bounding);
        let decides = |index: &usize| {
            let term = Term::Index(*index);
            bounding.iter().any(|id| self.terms.get(*id) == Some(&term))
                || bounds.iter().any(|b| b.index == *index)
        };
        let all = || 0..self.extents.len();
        let best = all()
            .filter(|index| is_free(index) && !decides(index) && self.has_lanes(*index))
            .map(|index| (self.contiguity(index), index))
            .filter(|(contiguity, _)| *contiguity > 0)
            .max();
        let inner = best.map(|(_, index)| index);
        let outer = all().filter(is_free).filter(|index| Some(*index) != inner);
        let kept = all().filter(|index| !is_free(index));
        outer.chain(kept).chain(inner).collect()
    }

    /// Whether a loop over this index fills a vector.
    pub(crate) fn has_lanes(&self, index: usize) -> bool {
        match self.extents.get(index) {
            Some(Extent::Static(extent)) => *extent >= MIN_LANES,
            Some(Extent::Dynamic(_)) => true,
            None => false,
        }
    }

    /// The number of accesses that are contiguous along an index, minus the number of strided accesses.
    pub(crate) fn contiguity(&self, index: usize) -> i64 {
        let accesses = self.accesses(&self.roots());
        let reads = accesses.iter().map(|(_, _, subscripts)| *subscripts);
        let writes = self.targets.iter().map(|t| t.subscripts.as_slice());
        let uses = |term: &TermId| {
            self.reachable(&[*term]).iter().any(|id| self.terms.get(*id) == Some(&Term::Index(index)))
        };
        let mut sum = 0;
        for subscripts in reads.chain(writes) {
            let Some((last, others)) = subscripts.split_last() else {
                continue;
            };
            let form = self.affine(*last).and_then(|form| form.as_linear());
            let unit = form.is_some_and(|form| form.contains(&(index, 1)));
            if others.iter().any(uses) || uses(last) && !unit {
                sum -= 1;
            } else if unit {
                sum += 1;
            }
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::NestTarget;
    use super::super::nest::samples::Builder;
    use super::*;
    use skript_frontend::model::Accumulation;

    /// r[b, i + 1, j + 1] := r[b, i, j + 1] + x[b, i, j]
    fn table(last_is_batch: bool, reads: [i64; 2]) -> Nest {
        let extents = if last_is_batch { [7, 9, 16] } else { [16, 7, 9] };
        let mut b = Builder::new(Accumulation::Replace, &extents);
        let number = |n| if last_is_batch { (n + 2) % 3 } else { n };
        let batch = b.index(number(0));
        let shifted = |b: &mut Builder, n: usize, by: i64| {
            let index = b.index(number(n));
            let by = b.int(by);
            b.ints(ScalarOp::Add, index, by)
        };
        let order = |batch, i, j| {
            if last_is_batch { [i, j, batch] } else { [batch, i, j] }
        };
        let (i, j) = (shifted(&mut b, 1, reads[0]), shifted(&mut b, 2, reads[1]));
        let grown: Vec<i64> = extents.iter().map(|e| if *e == 16 { 16 } else { e + 1 }).collect();
        let read = b.access(&grown, &order(batch, i, j));
        let (i, j) = (shifted(&mut b, 1, 1), shifted(&mut b, 2, 1));
        let mut nest = b.target(&grown, &order(batch, i, j), read);
        nest.tensors[0].destination = Some(0);
        nest
    }

    #[test]
    fn batches_carry_nothing() {
        // Columns are also independent if each row reads the same columns of the previous row.
        assert_eq!(table(false, [0, 1]).free_indices(), [true, false, true]);
        assert_eq!(table(false, [0, 0]).free_indices(), [true, false, false]);
        assert_eq!(table(true, [0, 0]).free_indices(), [false, false, true]);
    }

    /// z[i, 0] := z[i, 1], z[i, 1] := z[shifted, 0] in one step, for steps s.
    fn orbit(shift: i64) -> Nest {
        let mut b = Builder::new(Accumulation::Replace, &[16, 7]);
        let (i, zero, one) = (b.index(0), b.int(0), b.int(1));
        let shift = b.int(shift);
        let shifted = b.ints(ScalarOp::Add, i, shift);
        let first = b.access(&[16, 2], &[i, one]);
        let second = b.access(&[16, 2], &[shifted, zero]);
        let mut nest = b.target(&[16, 2], &[i, zero], first);
        let target = nest.targets[0].clone();
        nest.targets.push(NestTarget { subscripts: vec![i, one], value: second, ..target });
        nest.tensors.iter_mut().for_each(|tensor| tensor.destination = Some(0));
        nest
    }

    #[test]
    fn points_are_independent_if_all_targets_are_at_the_point() {
        assert_eq!(orbit(0).shared_free_indices(), [true, false]);
        assert_eq!(orbit(1).shared_free_indices(), [false, false]);
    }

    #[test]
    fn the_innermost_loop_may_be_free_in_a_row() {
        // Columns are independent if elements of the previous row are read, but not if elements of the previous column are read.
        assert!(table(false, [0, 0]).is_free_innermost(2));
        assert!(table(false, [0, 1]).is_free_innermost(2));
        assert!(!table(false, [1, 0]).is_free_innermost(2));
    }

    #[test]
    fn contiguous_batches_become_the_innermost_loop() {
        assert_eq!(table(true, [0, 0]).loop_order(&[]), [0, 1, 2]);
        assert_eq!(table(false, [0, 0]).loop_order(&[]), [0, 1, 2]);
        assert!(table(false, [0, 1]).contiguity(0) < 0);
    }

    /// y[s, c] += x[k, c], start[s] <= k && k < start[s + 1]
    fn segments(end: i64) -> Nest {
        let mut b = Builder::new(Accumulation::Sum, &[5, 8, 40]);
        let (s, c, k, one) = (b.index(0), b.index(1), b.index(2), b.int(1));
        let next = b.ints(ScalarOp::Add, s, one);
        let start = b.access(&[end], &[s]);
        let stop = b.access(&[end], &[next]);
        let low = b.ints(ScalarOp::Le, start, k);
        let high = b.ints(ScalarOp::Lt, k, stop);
        b.nest.predicate = Some(b.both(low, high));
        let x = b.access(&[40, 8], &[k, c]);
        b.target(&[5, 8], &[s, c], x)
    }

    #[test]
    fn data_bound_a_segment() {
        let nest = segments(6);
        let bounds = nest.index_bounds();
        let sides: Vec<_> = bounds.iter().map(|b| (b.index, b.side)).collect();
        assert_eq!(sides, [(2, Side::AtLeast), (2, Side::Below)]);
        assert!(nest.is_sparse());
        assert_eq!(nest.loop_order(&bounds), [0, 2, 1]);
    }

    #[test]
    fn a_bound_outside_of_its_tensor_is_none() {
        let nest = segments(5);
        let bounds = nest.index_bounds();
        assert_eq!(bounds.len(), 1);
        assert!(!nest.is_sparse());
    }
}
