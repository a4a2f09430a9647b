// SPDX-License-Identifier: Apache-2.0
//! Dynamic extents as dimensions of affine maps, in addition to the loop indices.

use super::dialect::is_dimension;
use crate::facts::interval::{self, EXTENT};
use crate::ir::ValueKey;
use crate::ir::arith::without_index_casts;
use crate::ir::builder::operations;
use crate::ir::shape::Dim;
use crate::ir::types;
use crate::structure::{Affine, Extent, Reading};

use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike};
use std::collections::HashMap;

/// Maximum depth of definitions that the interval analysis follows.
const DEPTH: usize = 16;

/// A formula whose subscripts use extents that are defined outside of the formula.
pub(crate) struct Extents<'c, 'a> {
    /// The formula, with one dimension for each such extent after the loop indices.
    pub reading: Reading<'c, 'a>,
    /// The positions of these dimensions, with the extents.
    pub values: Vec<(usize, Value<'c, 'a>)>,
}

impl<'c: 'a, 'a> Extents<'c, 'a> {
    pub(super) fn none(reading: &Reading<'c, 'a>) -> Self {
        Extents { reading: reading.clone(), values: Vec::new() }
    }

    /// Adds a dimension for each extent that the affine dialect accepts as one. The interval of its value must be known, so that
    /// sums do not wrap, as affine arithmetic requires.
    pub(super) fn new(reading: &Reading<'c, 'a>) -> Self {
        let mut extents = reading.nest.extents.clone();
        let mut values: Vec<(usize, Value)> = Vec::new();
        let mut forms = HashMap::new();
        for (value, term) in &reading.outside {
            let index = without_index_casts(*value);
            let is_same = |other: &Value| ValueKey::of(*other) == ValueKey::of(index);
            // The upper bound of a loop is an extent, regardless of the operation that computes it.
            let range = if reading.bounds.iter().flatten().any(is_same) {
                Some(EXTENT)
            } else {
                let extent = |value, _| Dim::of(value).map(|_| EXTENT);
                interval::search(index, DEPTH, &extent)
            };
            let Some(range) = range.filter(|range| range.low >= 0 && range.high < i64::MAX) else {
                continue;
            };
            if !index.r#type().is_index() || !is_dimension(index) {
                continue;
            }
            let known = |(_, value): &&(usize, Value)| is_same(value);
            let position = match values.iter().find(known) {
                Some((position, _)) => *position,
                None => {
                    // The dimension may equal its maximum, while a loop index is less than its extent. An extent of 1 would mean that
                    // the dimension is always 0.
                    extents.push(Extent::Static(range.high.max(1) + 1));
                    values.push((extents.len() - 1, index));
                    extents.len() - 1
                }
            };
            forms.insert(*term, Affine::index(position));
        }
        let is_plain = !forms.is_empty() && !narrows(reading);
        match is_plain.then(|| reading.substituted(&extents, &forms)).flatten() {
            Some(reading) => Extents { reading, values },
            None => Extents::none(reading),
        }
    }
}

/// Whether the formula computes with integers of fewer than 64 bits, which may wrap: their value is then not a sum of extents.
fn narrows(reading: &Reading) -> bool {
    let is_narrow = |op: &OperationRef| {
        op.results().any(|result| {
            let integer = types::as_integer(result.r#type());
            integer.is_some_and(|integer| (2..64).contains(&integer.width()))
        })
    };
    reading.blocks().flat_map(operations).any(|op| is_narrow(&op))
}
