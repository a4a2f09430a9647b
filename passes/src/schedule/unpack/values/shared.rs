// SPDX-License-Identifier: Apache-2.0
//! Reals that all lanes of a vector share: read from the array that scales are computed into before the loop over blocks.

use super::super::lines::Line;
use super::super::scales::{Found, Place};
use super::super::tables::Table;
use super::{Failure, Frame, Item, Values, What, supported};
use crate::ir::linalg::index_of;
use melior::ir::operation::OperationLike;
use melior::ir::{TypeLike, Value, ValueLike};

/// The minimum number of scalar operations, so that a load is faster.
const MIN_WORK: usize = 3;

impl<'c: 'a, 'a> Values<'_, 'c, 'a> {
    /// The load of a real that all lanes share, if it is computed before the loop.
    pub(super) fn scale(&mut self, frame: usize, value: Value<'c, 'a>) -> Option<Item<'c, 'a>> {
        let (array, row) = self.scales?;
        if !value.r#type().is_f32() || !self.is_shared_work(frame, value) {
            return None;
        }
        let Frame { nest, loops, .. } = self.frames.get(frame)?;
        let (at, found) = (self.at, self.tables.scales.find(Place::new(row, nest, value), loops));
        let shared = match (found, array) {
            (Found::Index(index), Some(array)) => {
                let first = at.muli(*self.variables.last()?, at.idx(self.tables.scales.of_block));
                at.load(array, &[at.addi(first, at.idx(index))])
            }
            (Found::Added, _) => at.real(0.0, value.r#type()),
            _ => return None,
        };
        Some(Item::new(What::Shared(shared), None))
    }

    /// Whether operations compute a real from values that all lanes share, and no table has it.
    fn is_shared_work(&self, frame: usize, value: Value<'c, 'a>) -> bool {
        let Some(Frame { nest, loops, .. }) = self.frames.get(frame) else {
            return false;
        };
        let needed = nest.needed([value], &[]);
        if needed.len() < MIN_WORK {
            return false;
        }
        let is_read =
            |element: Value| needed.iter().any(|op| op.operands().any(|operand| operand == element));
        let is_shared = |line: Option<&Line>| line.is_some_and(Line::is_uniform);
        let mut read = (0..nest.operands.len()).filter(|n| is_read(nest.operands[*n].element)).peekable();
        read.peek().is_some()
            && read.all(|n| n < nest.inputs && is_shared(self.position(frame, n).as_ref()))
            && needed.iter().filter_map(|op| index_of(*op)).all(|l| is_shared(loops.get(l)))
            && Table::new(nest, value, self.sources).is_none()
    }

    /// A vector of a value of a map for these positions of its loops.
    pub(in super::super) fn vector_of(
        &mut self,
        place: &Place<'c, 'a>,
        loops: Vec<Line>,
    ) -> Result<Value<'c, 'a>, Failure> {
        let frame = self.frame(supported(self.sources.map_with_key(place.nest))?, loops);
        let item = self.value(frame, place.value)?;
        Ok(self.emitted(&item, place.value.r#type(), true))
    }
}
