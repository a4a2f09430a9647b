// SPDX-License-Identifier: Apache-2.0
//! Perfect loop nests over contiguous arrays, in which the address of each access is an affine form of the loop indices.

use super::dot::Dot;

/// Whether the output's address depends on the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// Iterations are independent.
    Parallel,
    /// Iterations are combined into one element.
    Reduction,
}

/// One loop, `0 ≤ i < extent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The number of iterations; [`ESTIMATE`] if it is dynamic.
    pub extent: i64,
    /// Whether the iterations are independent.
    pub kind: LoopKind,
    /// The dimension of the original operation, whose index may be used (`linalg.index`); `None` for a loop that was merged from
    /// several loops.
    pub dimension: Option<usize>,
    /// The origin of a dynamic extent. `extent` is then an estimate.
    pub source: Source,
}

/// The operand and its dimension that have a dynamic extent; `None` for a static extent.
pub type Source = Option<(usize, usize)>;

/// The estimate of a dynamic extent.
pub const ESTIMATE: i64 = 64;

/// Maximum stride along the lanes for which contiguous vectors and shuffles are used instead of a gather.
pub(super) const CLOSEST: i64 = 4;

/// The address of an operand's element in units of elements: `offset + Σ strides[k] · i_k`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The offset of the first element, in elements.
    pub offset: i64,
    /// The stride along each loop; an estimate if the stride is dynamic.
    pub strides: Vec<i64>,
    /// For each loop, the dynamic factors of the stride; empty for a static stride.
    pub extents: Vec<Vec<Factor>>,
}

/// A dynamic factor of a stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Factor {
    /// The extent of a loop.
    Extent(usize),
    /// The extent of an array's dimension that no loop covers, such as one with a border; its number among the arguments of the kernel.
    Size(usize),
}

impl Address {
    /// An address with static strides.
    pub fn with_strides(strides: Vec<i64>) -> Self {
        Address { offset: 0, extents: vec![Vec::new(); strides.len()], strides }
    }

    /// Whether a stride depends on extents other than those of loops.
    pub fn has_sizes(&self) -> bool {
        self.extents.iter().flatten().any(|factor| matches!(factor, Factor::Size(_)))
    }

    /// The loops whose extents are factors of a stride, without other sizes.
    pub fn factors(&self, l: usize) -> Vec<usize> {
        let factors = self.extents[l].iter();
        let loops = factors.filter_map(|factor| match factor {
            Factor::Extent(l) => Some(*l),
            Factor::Size(_) => None,
        });
        loops.collect()
    }

    /// Whether no stride is dynamic.
    pub fn is_static(&self) -> bool {
        self.extents.iter().all(Vec::is_empty)
    }

    /// The static factor of a stride, without the dynamic extents.
    pub fn factor(&self, l: usize) -> i64 {
        self.extents[l].iter().fold(self.strides[l], |factor, _| factor / ESTIMATE)
    }
}

/// A loop nest and its operands: inputs, the output, then operands that only the initial and final values of the output's
/// elements read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nest {
    /// The loops, outermost first.
    pub loops: Vec<Loop>,
    /// The addresses of the operands.
    pub operands: Vec<Address>,
    /// The position of the output among the operands.
    pub output: usize,
    /// The number of [`Factor::Size`].
    pub sizes: usize,
    /// The operands whose elements are the same in every call of the model.
    pub constants: Vec<usize>,
    /// Operands, each with the number of kernel calls that read the same elements; 0 if the operand cannot be copied.
    pub repeats: Vec<(usize, i64)>,
    /// Dimensions that determine which points may be skipped.
    pub skipped: Vec<usize>,
    /// Inputs whose elements determine which points contribute.
    pub tested: Vec<usize>,
    /// Whether the points of an element are combined in the order of the loops.
    pub keeps_order: bool,
    /// The dot-product instruction, for sums of products of bytes or of bf16.
    pub dot: Option<Dot>,
}

impl Nest {
    /// The output's address; `None` for a nest without operands.
    pub fn output(&self) -> Option<&Address> {
        self.operands.get(self.output)
    }

    /// The addresses of the operands that each point of the loops reads.
    pub fn inputs(&self) -> &[Address] {
        &self.operands[..self.output]
    }

    /// Whether an element that determines which points contribute depends on the loop.
    pub fn is_tested(&self, l: usize) -> bool {
        let mut tested = self.tested.iter().filter_map(|n| self.operands.get(*n));
        tested.any(|operand| operand.strides.get(l) != Some(&0))
    }

    /// The number of elements from the first to the last element of an operand.
    pub fn span(&self, operand: usize) -> i64 {
        let strides = self.operands[operand].strides.iter();
        let steps = strides.zip(&self.loops);
        steps.fold(1, |all, (stride, l)| all.saturating_add(stride.saturating_mul(l.extent - 1)))
    }

    /// Returns the loops of a kind, outermost first.
    pub fn loops_of_kind(&self, kind: LoopKind) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.loops.len()).filter(move |l| self.loops[*l].kind == kind)
    }

    /// Number of points that are combined into one element of the output.
    pub fn reduced(&self) -> i64 {
        let reductions = self.loops_of_kind(LoopKind::Reduction);
        reductions.fold(1, |all: i64, l| all.saturating_mul(self.loops[l].extent))
    }

    /// Number of elements of an operand that the loops access; elements of overlapping windows are counted repeatedly.
    pub fn elements(&self, operand: usize) -> i64 {
        let strides = self.operands[operand].strides.iter();
        let loops = strides.zip(&self.loops).filter(|(stride, _)| **stride != 0);
        loops.fold(1, |all, (_, l)| all.saturating_mul(l.extent))
    }

    /// Number of points.
    pub fn volume(&self) -> i64 {
        self.loops.iter().fold(1, |v, l| v.saturating_mul(l.extent))
    }

    /// Removes loops of one iteration, then merges two loops if one longer loop accesses every operand in the same way.
    ///
    /// `used_dimensions` are the dimensions whose indices the body uses. Their loops are not merged. Loops of one iteration
    /// are removed even if their index is used, because it is 0.
    pub fn simplify(&mut self, used_dimensions: &[usize]) {
        for position in (0..self.loops.len()).rev() {
            if self.loops[position].extent == 1 {
                self.remove(position);
            }
        }
        let mut inner = self.loops.len();
        while inner > 1 {
            inner -= 1;
            if let Some(outer) = (0..inner).rev().find(|&o| self.collapsible(o, inner, used_dimensions)) {
                let extent = self.loops[inner].extent;
                for operand in &mut self.operands {
                    operand.strides[outer] = operand.strides[inner];
                    operand.extents[outer] = operand.extents[inner].clone();
                }
                self.loops[outer].extent *= extent;
                self.loops[outer].dimension = None;
                self.remove(inner);
                inner = self.loops.len();
            }
        }
    }

    /// Whether `outer` and `inner` can be merged: in every operand, an iteration of `outer` continues where all iterations of
    /// `inner` end. Loops of one kind may be interchanged, so they need not be adjacent: parallel loops have no order, and
    /// reductions have none unless the nest keeps the order.
    fn collapsible(&self, outer: usize, inner: usize, used_dimensions: &[usize]) -> bool {
        let is_used_dimensions =
            |l: usize| self.loops[l].dimension.is_some_and(|d| used_dimensions.contains(&d));
        let between = || self.loops[outer + 1..inner].iter();
        let is_reordered =
            self.loops[outer].kind == LoopKind::Reduction && between().any(|l| l.kind == LoopKind::Reduction);
        !(self.keeps_order && is_reordered)
            && self.loops[outer].kind == self.loops[inner].kind
            && self.loops[outer].source.is_none()
            && self.loops[inner].source.is_none()
            && !is_used_dimensions(outer)
            && !is_used_dimensions(inner)
            && self.operands.iter().all(|o| {
                o.strides[outer] == o.strides[inner] * self.loops[inner].extent
                    && o.extents[outer] == o.extents[inner]
            })
    }

    fn remove(&mut self, position: usize) {
        self.loops.remove(position);
        for operand in &mut self.operands {
            operand.strides.remove(position);
            operand.extents.remove(position);
            // The loops with dynamic extents are never removed.
            for factor in operand.extents.iter_mut().flatten() {
                if let Factor::Extent(l) = factor {
                    *l -= usize::from(*l > position);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest(loops: &[(i64, LoopKind)], operands: &[&[i64]]) -> Nest {
        Nest {
            loops: loops
                .iter()
                .enumerate()
                .map(|(d, (extent, kind))| Loop {
                    extent: *extent,
                    kind: *kind,
                    dimension: Some(d),
                    source: None,
                })
                .collect(),
            operands: operands.iter().map(|s| Address::with_strides(s.to_vec())).collect(),
            output: operands.len() - 1,
            ..Nest::default()
        }
    }

    use LoopKind::{Parallel as P, Reduction as R};

    #[test]
    fn a_full_window_becomes_a_matrix_vector_product() {
        // out[n, oh, ow] += in[c, oh + kh, ow + kw] · filter[n, c, kh, kw], output extents 1: the window disappears
        let mut n = nest(
            &[(8, P), (1, P), (1, P), (4, R), (5, R), (5, R)],
            &[&[0, 5, 1, 25, 5, 1], &[100, 0, 0, 25, 5, 1], &[1, 1, 1, 0, 0, 0]],
        );
        n.simplify(&[]);
        let shape: Vec<_> = n.loops.iter().map(|l| (l.extent, l.kind)).collect();
        assert_eq!(shape, [(8, P), (100, R)]);
        assert_eq!(n.operands[0].strides, [0, 1]);
        assert_eq!(n.operands[1].strides, [100, 1]);
    }

    #[test]
    fn a_dimension_with_a_used_index_is_not_merged() {
        let mut n = nest(&[(3, P), (4, P)], &[&[4, 1], &[4, 1]]);
        let mut merged = n.clone();
        merged.simplify(&[]);
        assert_eq!(merged.loops.len(), 1);
        assert_eq!(merged.loops[0].extent, 12);
        n.simplify(&[1]);
        assert_eq!(n.loops.len(), 2);
    }

    #[test]
    fn an_ordered_sum_merges_only_adjacent_loops() {
        // The second reduction is between the two loops that could be merged.
        let mut free = nest(&[(3, R), (5, R), (4, R)], &[&[4, 100, 1], &[0, 0, 0]]);
        let mut ordered = free.clone();
        ordered.keeps_order = true;
        free.simplify(&[]);
        ordered.simplify(&[]);
        assert_eq!((free.loops.len(), ordered.loops.len()), (2, 3));
        let mut adjacent = nest(&[(5, R), (3, R), (4, R)], &[&[100, 4, 1], &[0, 0, 0]]);
        adjacent.keeps_order = true;
        adjacent.simplify(&[]);
        assert_eq!(adjacent.loops.len(), 2);
    }

    #[test]
    fn loops_with_different_dynamic_strides_are_not_merged() {
        // x[a, b, n, c] of 2 × 64 × ? × 64: the strides of a and b are multiples of the extent of n, but the stride of n is not.
        let mut n =
            nest(&[(2, P), (64, P), (ESTIMATE, P), (64, P)], &[&[64 * 64 * ESTIMATE, 64 * ESTIMATE, 64, 1]]);
        n.loops[2].source = Some((0, 2));
        n.operands[0].extents = vec![vec![Factor::Extent(2)], vec![Factor::Extent(2)], vec![], vec![]];
        assert_eq!(n.operands[0].factor(1), 64);
        n.simplify(&[]);
        let extents: Vec<i64> = n.loops.iter().map(|l| l.extent).collect();
        assert_eq!(extents, [128, ESTIMATE, 64]);
        assert_eq!(n.operands[0].extents, [vec![Factor::Extent(1)], vec![], vec![]]);
    }

    #[test]
    fn parallel_and_reduction_never_merge() {
        let mut n = nest(&[(3, P), (4, R)], &[&[4, 1], &[0, 0]]);
        n.simplify(&[]);
        assert_eq!(n.loops.len(), 2);
    }
}
