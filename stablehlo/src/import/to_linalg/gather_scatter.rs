// SPDX-License-Identifier: Apache-2.0
//! Converts `gather` and `scatter`: reads and writes at data-dependent positions.

use super::nest::nest;
use super::operation::{SourceOp, Tensor, Values};
use super::payload;
use super::shape::clamped;
use crate::import::element::Element;
use melior::ir::Value;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::builder::arith::Integers;
use skript_passes::ir::generic::map;
use skript_passes::ir::{Builder, ops};

/// The dimension numbers from which both operations compute positions.
struct DimensionNumbers {
    /// Dimensions of the array without a window dimension.
    without_window: Vec<i64>,
    batching: Vec<i64>,
    indices_batching: Vec<i64>,
    /// Dimensions of the array that the components of an index vector refer to.
    mapped: Vec<i64>,
    vector: usize,
}

impl DimensionNumbers {
    /// The start components of a window, with the dimensions of the array. `at` has the positions along the dimensions of `indices`
    /// other than that of the index vectors.
    fn starts<'c: 'a, 'a>(
        &self,
        indices: (Value<'c, 'a>, &Tensor),
        at: &[Value<'c, 'a>],
        to: &Builder<'c, 'a>,
    ) -> Vec<(i64, Value<'c, 'a>)> {
        let start = |(n, dimension): (i64, &i64)| {
            let (component, mut position) = (to.idx(n), at.to_vec());
            if self.vector < indices.1.rank() {
                position.insert(self.vector, component);
            }
            (*dimension, to.element(indices.0, &position))
        };
        (0..).zip(&self.mapped).map(start).collect()
    }

    /// The position along the dimension of the indices that corresponds to a batching dimension of the array; `None` for other
    /// dimensions of the array.
    fn batch<'c, 'a>(&self, dimension: i64, at: &[Value<'c, 'a>]) -> Option<Value<'c, 'a>> {
        let n = self.batching.iter().position(|d| *d == dimension)?;
        let of_indices = usize::try_from(*self.indices_batching.get(n)?).ok()?;
        let skipped = usize::from(of_indices > self.vector);
        at.get(of_indices - skipped).copied()
    }

    /// The extent of the update window along each dimension of the array.
    fn sizes(&self, rank: usize, update: &[i64], window: &[i64]) -> Vec<i64> {
        let extent = |d: &i64| usize::try_from(*d).ok().and_then(|d| update.get(d));
        let mut sizes = window.iter().filter_map(extent).copied();
        // The verifier has checked the number of dimensions of the window.
        let size = |d| if self.has_window(d) { sizes.next().unwrap_or(1) } else { 1 };
        (0i64..).take(rank).map(size).collect()
    }

    /// Whether the window extends along a dimension of the array.
    fn has_window(&self, dimension: i64) -> bool {
        !self.without_window.contains(&dimension) && !self.batching.contains(&dimension)
    }
}

/// Splits the positions along the dimensions of a tensor: positions along the dimensions `window`, and the others.
fn split<'c, 'a>(all: &[Value<'c, 'a>], window: &[i64]) -> (Vec<Value<'c, 'a>>, Vec<Value<'c, 'a>>) {
    let pick = |wanted: bool| {
        let picked = (0..).zip(all).filter(|(d, _)| window.contains(d) == wanted);
        picked.map(|(_, position)| *position).collect()
    };
    (pick(true), pick(false))
}

pub(super) fn gather<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (array, indices, result) = (source.operand(0)?, source.operand(1)?, source.result()?);
    let list = |key: &str| source.numbers("dimension_numbers", key);
    let sizes = source.list("slice_sizes")?;
    let dimension_numbers = DimensionNumbers {
        without_window: list("collapsed_slice_dims"),
        batching: list("operand_batching_dims"),
        indices_batching: list("start_indices_batching_dims"),
        mapped: list("start_index_map"),
        vector: vector_dimension(&list("index_vector_dim")),
    };
    let tensors = [source.value(0)?, source.value(1)?];
    let gathered = map(&source.at, &[], source.result_type()?, &[], |body, _| {
        let all = (0..result.rank()).map(|d| body.loop_index(d)).collect::<Result<Vec<_>, _>>()?;
        let (window, at) = split(&all, &list("offset_dims"));
        let starts = dimension_numbers.starts((tensors[1], indices), &at, body);
        let mut window = window.into_iter();
        let mut position = Vec::new();
        for (d, (extent, size)) in (0i64..).zip(array.extents.iter().zip(&sizes)) {
            let start = starts.iter().find(|(dimension, _)| *dimension == d);
            let start = start.map(|(_, start)| clamped(*start, indices.element, extent - size, body));
            let step = dimension_numbers.has_window(d).then(|| window.next()).flatten();
            let terms = [start, dimension_numbers.batch(d, &at), step];
            position.push(sum(terms.into_iter().flatten(), body));
        }
        Ok::<_, PassError>(body.element(tensors[0], &position))
    })?;
    Ok(vec![gathered])
}

fn vector_dimension(list: &[i64]) -> usize {
    // Printers omit zeros.
    list.first().map_or(0, |d| d.unsigned_abs() as usize)
}

fn sum<'c: 'a, 'a>(terms: impl IntoIterator<Item = Value<'c, 'a>>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    terms.into_iter().reduce(|sum, term| at.addi(sum, term)).unwrap_or_else(|| at.idx(0))
}

/// Emits the updates in order. Windows that are not completely in bounds are computed but not written.
pub(crate) fn scatter<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let count = source.results.len();
    let (array, indices, update) = (source.operand(0)?, source.operand(count)?, source.operand(count + 1)?);
    let list = |key: &str| source.numbers("scatter_dimension_numbers", key);
    let dimension_numbers = DimensionNumbers {
        without_window: list("inserted_window_dims"),
        batching: list("input_batching_dims"),
        indices_batching: list("scatter_indices_batching_dims"),
        mapped: list("scatter_dims_to_operand_dims"),
        vector: vector_dimension(&list("index_vector_dim")),
    };
    let windows = list("update_window_dims");
    let sizes = dimension_numbers.sizes(array.rank(), &update.extents, &windows);
    let never_fits = sizes.iter().zip(&array.extents).any(|(s, e)| s > e);
    let (arrays, others) = source.values.split_at(count.min(source.values.len()));
    let (Some((places, updates)), false) = (others.split_first(), update.volume() == 0 || never_fits) else {
        return Ok(arrays.to_vec());
    };
    nest(&source.at, &update.extents, arrays, &mut |to, all, arrays| {
        let (window, at) = split(all, &windows);
        let starts = dimension_numbers.starts((*places, indices), &at, to);
        let mut window = window.into_iter();
        let mut position = Vec::new();
        let mut inside = to.truth(true);
        for (d, (extent, size)) in (0i64..).zip(array.extents.iter().zip(&sizes)) {
            let start = starts.iter().find(|(dimension, _)| *dimension == d);
            let start = start.map(|(_, start)| converted_index(*start, indices.element, to));
            let start = sum([start, dimension_numbers.batch(d, &at)].into_iter().flatten(), to);
            // The unsigned comparison also rejects negative positions.
            let fits = to.cmpi(Integers::Less, start, to.idx((extent - size + 1).max(0)));
            inside = to.andi(inside, fits);
            let zero = to.idx(0);
            let start = to.select(fits, start, zero);
            let step = dimension_numbers.has_window(d).then(|| window.next()).flatten();
            position.push(sum([start].into_iter().chain(step), to));
        }
        let old: Vec<Value> = arrays.iter().map(|array| to.element(*array, &position)).collect();
        let updates = updates.iter().map(|update| to.element(*update, all));
        let both: Vec<Value> = old.iter().copied().chain(updates).collect();
        let new = payload::apply(source, 0, &both, to)?;
        let written = arrays.iter().zip(new.into_iter().zip(old));
        let write = |(array, (new, old)): (&Value<'c, 'a>, _)| {
            to.with_element(*array, &position, to.select(inside, new, old))
        };
        Ok(written.map(write).collect())
    })
}

/// Converts an integer of any type to an `index`.
fn converted_index<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    element: Element,
    at: &Builder<'c, 'a>,
) -> Value<'c, 'a> {
    let cast = match element {
        Element::Unsigned(_) => ops::arith::INDEX_CASTUI,
        _ => ops::arith::INDEX_CAST,
    };
    at.convert(cast, element.without_sign(value, at), at.index_type())
}
