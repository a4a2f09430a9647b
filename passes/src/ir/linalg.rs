// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `linalg`.

use super::ops;
use super::typed::{self, typed};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, BlockRef, OperationRef, RegionLike};

typed! {
    /// `linalg.generic`: a loop nest with one payload.
    Generic = ops::linalg::GENERIC;
    /// `linalg.fill`: writes one value to all elements.
    Fill = ops::linalg::FILL { value = 0, destination = 1 };
    /// `linalg.yield`: ends a payload with its only value, or the first one.
    Yield = ops::linalg::YIELD { value = 0 };
}

/// The loop whose number `linalg.index` gives; `None` for other operations.
pub(crate) fn index_of(op: OperationRef) -> Option<usize> {
    let is_index = skript_dialect::op::is(&op, ops::linalg::INDEX);
    let dimension = typed::integer(op, "dim").filter(|_| is_index)?;
    usize::try_from(dimension).ok()
}

impl<'c: 'a, 'a> Generic<'c, 'a> {
    /// The map of each operand from loops to subscripts.
    pub(crate) fn indexing_maps(self) -> Vec<Attribute<'c>> {
        typed::array(self.op(), "indexing_maps")
    }

    /// Whether each loop is a reduction, outermost first.
    pub(crate) fn reductions(self) -> Vec<bool> {
        let iterators = typed::array(self.op(), "iterator_types").into_iter();
        let reductions = iterators.map(|iterator| iterator.to_string().contains("reduction"));
        reductions.collect()
    }

    /// The payload.
    pub(crate) fn body(self) -> Option<BlockRef<'c, 'a>> {
        self.op().region(0).ok()?.first_block()
    }
}
