// SPDX-License-Identifier: Apache-2.0
//! Groups of products along a loop of a nest.

use super::{Dot, in_groups};
use crate::schedule::nest::{LoopKind, Nest};

impl Nest {
    /// Returns the reduction loop along which products are grouped if operand `packed` is packed: the longest reduction loop along
    /// which the elements of the other operand are contiguous.
    pub(in crate::schedule) fn group_along(&self, packed: usize) -> Option<usize> {
        let group = self.dot?.group();
        let other = self.inputs().iter().enumerate();
        let [other] =
            other.filter(|(position, _)| *position != packed).map(|(_, address)| address).collect::<Vec<_>>()
                [..]
        else {
            return None;
        };
        let packed_operand = &self.operands[packed];
        let fits = |l: &usize| {
            self.loops[*l].kind == LoopKind::Reduction
                && self.loops[*l].source.is_none()
                && self.loops[*l].extent >= group - 1
                && other.strides[*l] == 1
                && other.extents[*l].is_empty()
                && packed_operand.strides[*l] != 0
        };
        (0..self.loops.len()).filter(fits).max_by_key(|l| self.loops[*l].extent)
    }

    /// The number of products that one instruction sums.
    pub(in crate::schedule) fn group_size(&self) -> i64 {
        self.dot.map_or(1, Dot::group)
    }

    /// Rounds the iterations of a loop up to full groups.
    pub(in crate::schedule) fn in_groups(&self, extent: i64) -> i64 {
        in_groups(extent, self.group_size())
    }

    /// The average number of products that one instruction sums over a loop in groups: the last group may have fewer.
    pub(in crate::schedule) fn products_at_once(&self, extent: i64) -> f64 {
        let groups = self.in_groups(extent) / self.group_size();
        extent as f64 / groups.max(1) as f64
    }
}
