// SPDX-License-Identifier: Apache-2.0
//! Converts `gather` and `scatter`: reads and writes at data-dependent positions.

use super::generic::map;
use super::nest::{index, nest};
use super::operation::Values;
use super::operation::{SourceOp, Tensor};
use super::payload;
use super::shape::clamped;
use crate::import::element::Element;
use skript_passes::ir::ops;
use skript_passes::ir::splice::Lines;

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
    /// The element address of a component of an index vector, from the positions of the other dimensions.
    fn of_component(&self, indices: &Tensor, at: &[String], component: &str) -> String {
        let mut element_position = at.to_vec();
        if self.vector < indices.rank() {
            element_position.insert(self.vector, component.to_owned());
        }
        element_position.join(", ")
    }

    /// The start components of a window: the dimensions of the array, and the names of the scalars.
    fn starts(&self, lines: &mut Lines, name: &str, indices: &Tensor, at: &[String]) -> Vec<(i64, String)> {
        let mut starts = Vec::new();
        for (n, dimension) in (0i64..).zip(&self.mapped) {
            let component = index(lines, n);
            let element_position = self.of_component(indices, at, &component);
            let value =
                lines.value(format!("tensor.extract {name}[{element_position}] : {}", indices.text()));
            starts.push((*dimension, value));
        }
        starts
    }

    /// The position along the dimension of the indices that corresponds to a batching dimension of the array; `None` for other
    /// dimensions of the array.
    fn batch<'p>(&self, dimension: i64, at: &'p [String]) -> Option<&'p String> {
        let n = self.batching.iter().position(|d| *d == dimension)?;
        let of_indices = usize::try_from(*self.indices_batching.get(n)?).ok()?;
        let skipped = usize::from(of_indices > self.vector);
        at.get(of_indices - skipped)
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
fn split(all: &[String], window: &[i64]) -> (Vec<String>, Vec<String>) {
    let pick = |wanted: bool| {
        let picked = (0..).zip(all).filter(|(d, _)| window.contains(d) == wanted);
        picked.map(|(_, position)| position.clone()).collect()
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
    let mut body = Lines::default();
    let all = (0..result.rank()).map(|d| body.value(format!("linalg.index {d} : index")));
    let all: Vec<String> = all.collect();
    let (window, at) = split(&all, &list("offset_dims"));
    let starts = dimension_numbers.starts(&mut body, "%1", indices, &at);
    let mut window = window.into_iter();
    let mut element_position = Vec::new();
    for (d, (extent, size)) in (0i64..).zip(array.extents.iter().zip(&sizes)) {
        let mut terms = Vec::new();
        if let Some((_, start)) = starts.iter().find(|s| s.0 == d) {
            terms.push(clamped(&mut body, start, indices.element, extent - size));
        }
        terms.extend(dimension_numbers.batch(d, &at).cloned());
        if dimension_numbers.has_window(d) {
            terms.extend(window.next());
        }
        element_position.push(sum(&mut body, terms));
    }
    let e = result.element.text();
    let value = body.value(format!("tensor.extract %0[{}] : {}", element_position.join(", "), array.text()));
    body.line(format!("linalg.yield {value} : {e}"));
    let mut lines = Lines::default();
    let name = map(&mut lines, &[], result, body.text());
    source.replace(&lines, &name)
}

fn vector_dimension(list: &[i64]) -> usize {
    // Printers omit zeros.
    list.first().map_or(0, |d| d.unsigned_abs() as usize)
}

fn sum(lines: &mut Lines, terms: Vec<String>) -> String {
    let mut terms = terms.into_iter();
    match terms.next() {
        None => index(lines, 0),
        Some(first) => {
            terms.fold(first, |sum, term| lines.value(format!("arith.addi {sum}, {term} : index")))
        }
    }
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
    if update.volume() == 0 || never_fits {
        return Ok(source.values.iter().take(count).copied().collect());
    }
    let elements: Vec<Element> = source.results.iter().map(|r| r.element).collect();
    let updates: Vec<Tensor> = source.operands.iter().skip(count + 1).cloned().collect();
    let carried: Vec<_> =
        source.results.iter().enumerate().map(|(n, t)| (format!("%{n}"), t.text())).collect();
    let mut lines = Lines::default();
    let made = nest(&mut lines, &update.extents, &carried, &mut |lines, all, arrays| {
        let (window, at) = split(all, &windows);
        let starts = dimension_numbers.starts(lines, &format!("%{count}"), indices, &at);
        let mut window = window.into_iter();
        let mut element_position = Vec::new();
        let mut inside = lines.value("arith.constant true");
        for (d, (extent, size)) in (0i64..).zip(array.extents.iter().zip(&sizes)) {
            let mut terms = Vec::new();
            if let Some((_, start)) = starts.iter().find(|s| s.0 == d) {
                terms.push(converted_index(lines, start, indices.element));
            }
            terms.extend(dimension_numbers.batch(d, &at).cloned());
            let start = sum(lines, terms);
            let end = index(lines, (extent - size + 1).max(0));
            // The unsigned comparison also rejects negative positions.
            let fits = lines.value(format!("arith.cmpi ult, {start}, {end} : index"));
            inside = lines.value(format!("arith.andi {inside}, {fits} : i1"));
            let zero = index(lines, 0);
            let start = lines.value(format!("arith.select {fits}, {start}, {zero} : index"));
            let step = dimension_numbers.has_window(d).then(|| window.next()).flatten();
            element_position.push(sum(lines, [start].into_iter().chain(step).collect()));
        }
        let element_position = element_position.join(", ");
        let mut scalars = Vec::new();
        for (name, tensor) in arrays.iter().zip(&source.results) {
            scalars
                .push(lines.value(format!("tensor.extract {name}[{element_position}] : {}", tensor.text())));
        }
        for (n, tensor) in updates.iter().enumerate() {
            let name = count + 1 + n;
            let at = all.join(", ");
            scalars.push(lines.value(format!("tensor.extract %{name}[{at}] : {}", tensor.text())));
        }
        let both: Vec<Element> = elements.iter().copied().chain(updates.iter().map(|u| u.element)).collect();
        let new = payload::placeholder(lines, 0, &scalars, &both, &elements);
        let mut written = Vec::new();
        let results = source.results.iter().zip(arrays);
        for ((tensor, array), (new, old)) in results.zip(new.iter().zip(&scalars)) {
            let e = tensor.element.text();
            let value = lines.value(format!("arith.select {inside}, {new}, {old} : {e}"));
            written.push(lines.value(format!(
                "tensor.insert {value} into {array}[{element_position}] : {}",
                tensor.text()
            )));
        }
        written
    });
    source.with_bodies(&lines, &made)
}

/// Converts an integer of any type to an `index`.
fn converted_index(lines: &mut Lines, value: &str, element: Element) -> String {
    let signless = element.signless();
    let (value, cast) = match element {
        Element::Unsigned(_) => {
            let cast =
                format!("builtin.unrealized_conversion_cast {value} : {} to {signless}", element.text());
            (lines.value(cast), ops::arith::INDEX_CASTUI)
        }
        _ => (value.to_owned(), ops::arith::INDEX_CAST),
    };
    lines.value(format!("{cast} {value} : {signless} to index"))
}
