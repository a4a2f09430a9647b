// SPDX-License-Identifier: Apache-2.0
//! Analyzes target subscripts as blocks of the output.

use skript_symbolic::{Affine, Extent};

/// The positions `offset + step·p` in a dimension of the output, where `p` enumerates `indices` in row-major order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Outermost first; empty for a single position.
    pub indices: Vec<usize>,
    /// The first position that is written.
    pub offset: i64,
    /// Positive.
    pub step: i64,
    /// Number of positions, or an upper bound of it if it is dynamic.
    pub count: i64,
    /// Whether the number of positions is dynamic.
    pub is_dynamic: bool,
}

/// The kind of target subscripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// A strided block of the output. Indices that are not in slots are reduced.
    Block(Vec<Slot>),
    /// Affine, but points may write the same element or leave gaps that a block does not have.
    Overlapping,
    /// A subscript depends on data or is not affine.
    Indirect,
}

impl Placement {
    /// Classifies subscripts, as affine forms (`None`: not affine) of indices with these extents.
    pub fn new(subscripts: &[Option<Affine>], extents: &[impl Copy + Into<Extent>]) -> Placement {
        let mut used = vec![false; extents.len()];
        let mut slots = Vec::new();
        let mut overlapping = false;
        for subscript in subscripts {
            let Some(subscript) = subscript else {
                return Placement::Indirect;
            };
            match slot(subscript, extents, &mut used) {
                Some(slot) => slots.push(slot),
                None => overlapping = true,
            }
        }
        if overlapping { Placement::Overlapping } else { Placement::Block(slots) }
    }

    /// The slots of a block; `None` for other placements.
    pub fn slots(&self) -> Option<&[Slot]> {
        match self {
            Placement::Block(slots) => Some(slots),
            Placement::Overlapping | Placement::Indirect => None,
        }
    }
}

impl Slot {
    /// Whether the slot fills a dimension of this extent.
    pub fn covers(&self, extent: impl Into<Extent>) -> bool {
        match extent.into() {
            Extent::Static(extent) => self.is_prefix() && self.count == extent && !self.is_dynamic,
            Extent::Dynamic(_) => self.may_fill_dynamic(),
        }
    }

    /// Whether the positions are a single dynamic loop from index 0 on, which may cover the dimension.
    pub(crate) fn may_fill_dynamic(&self) -> bool {
        self.is_prefix() && self.is_dynamic && self.indices.len() == 1
    }

    /// Whether the slot begins at index 0 of the dimension and has no gaps.
    pub(crate) fn is_prefix(&self) -> bool {
        self.offset == 0 && (self.step == 1 || self.count == 1)
    }
}

/// The slot of a dimension whose subscript is a mixed-radix number of indices that no other dimension uses.
fn slot(subscript: &Affine, extents: &[impl Copy + Into<Extent>], used: &mut [bool]) -> Option<Slot> {
    let mut digits = subscript.as_linear()?;
    digits.sort_by_key(|(_, coefficient)| std::cmp::Reverse(*coefficient));
    let mut count = 1i64;
    let mut step = 1i64;
    let mut is_dynamic = false;
    for (position, (index, coefficient)) in digits.iter().rev().enumerate() {
        let extent: Extent = (*extents.get(*index)?).into();
        let used = used.get_mut(*index)?;
        if *used || *coefficient <= 0 {
            return None;
        }
        *used = true;
        if position == 0 {
            step = *coefficient;
        } else if is_dynamic || *coefficient != step.checked_mul(count)? {
            return None;
        }
        count = count.checked_mul(extent.upper_bound())?;
        is_dynamic |= extent.is_dynamic();
    }
    Some(Slot {
        indices: digits.into_iter().map(|(index, _)| index).collect(),
        offset: subscript.offset(),
        step,
        count,
        is_dynamic,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(terms: &[(usize, i64)], constant: i64) -> Option<Affine> {
        terms
            .iter()
            .try_fold(Affine::constant(constant), |sum, (i, c)| sum.add(&Affine::index(*i).scale(*c)?))
    }

    #[test]
    fn groups_and_members_fill_one_dimension() {
        let placement = Placement::new(&[sum(&[(0, 8), (1, 1)], 0)], &[4, 8]);
        let slots = placement.slots().unwrap();
        assert_eq!(slots[0].indices, [0, 1]);
        assert!(slots[0].covers(32));
    }

    #[test]
    fn a_concatenated_item_is_a_block() {
        let placement = Placement::new(&[sum(&[(0, 1)], 5)], &[3]);
        let slot = &placement.slots().unwrap()[0];
        assert_eq!((slot.offset, slot.step, slot.count), (5, 1, 3));
        assert!(!slot.covers(8));
    }

    #[test]
    fn overlapping_windows_are_not_a_block() {
        assert_eq!(Placement::new(&[sum(&[(0, 2), (1, 1)], -1)], &[4, 3]), Placement::Overlapping);
    }

    #[test]
    fn a_diagonal_is_not_a_block() {
        assert_eq!(Placement::new(&[sum(&[(0, 1)], 0), sum(&[(0, 1)], 0)], &[4]), Placement::Overlapping);
    }

    #[test]
    fn a_subscript_that_is_not_affine_is_indirect() {
        assert_eq!(Placement::new(&[None], &[4]), Placement::Indirect);
    }
}
