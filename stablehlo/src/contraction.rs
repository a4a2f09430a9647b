// SPDX-License-Identifier: Apache-2.0
//! Sums of products as `dot_general`.

use super::field::{Field, union};
use super::tensors::{Tensors, shape};
use skript_passes::ir::types;

/// `Σ lhs · rhs` over `reduced`, as a field over the other indices. `None` if a contraction has no advantage: no
/// reduced index occurs in both factors, or both factors have the same indices.
pub(crate) fn contract<'c: 'a, 'a>(
    lhs: &Field<'c, 'a>,
    rhs: &Field<'c, 'a>,
    reduced: &[usize],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Option<Field<'c, 'a>> {
    let has = |field: &Field<'c, 'a>, index: &usize| field.indices.contains(index);
    let common = reduced.iter().any(|i| has(lhs, i) && has(rhs, i));
    let all = reduced.iter().all(|i| has(lhs, i) || has(rhs, i));
    if !common || !all {
        return None;
    }
    let lhs = &widened(lhs, rhs, reduced, domain, at);
    let rhs = &widened(rhs, lhs, reduced, domain, at);
    if lhs.indices == rhs.indices {
        return None;
    }
    let positions = |field: &Field<'c, 'a>, wanted: &[usize]| -> Vec<i64> {
        wanted.iter().filter_map(|i| field.indices.iter().position(|x| x == i)).map(|p| p as i64).collect()
    };
    let shared: Vec<usize> = lhs.indices.iter().copied().filter(|i| has(rhs, i)).collect();
    let (contracted, batch): (Vec<usize>, Vec<usize>) = shared.iter().partition(|i| reduced.contains(i));
    let mut labels = batch.clone();
    for field in [lhs, rhs] {
        labels.extend(field.indices.iter().filter(|i| !shared.contains(i)));
    }
    let numbers = format!(
        "#stablehlo.dot<lhs_batching_dimensions = {:?}, rhs_batching_dimensions = {:?}, lhs_contracting_dimensions = \
         {:?}, rhs_contracting_dimensions = {:?}>",
        positions(lhs, &batch),
        positions(rhs, &batch),
        positions(lhs, &contracted),
        positions(rhs, &contracted)
    );
    let shape = shape(&labels, domain);
    let numbers = at.attribute(&numbers);
    let precision = at.attribute("[#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]");
    let value = at.op(
        "dot_general",
        &[lhs.value, rhs.value],
        &[("dot_dimension_numbers", numbers), ("precision_config", precision)],
        types::tensor(&shape, at.element(lhs.value)),
    );
    Some(Field::labelled(value, &labels, at))
}

/// Broadcasts a factor along the reduced indices that only the other factor has. Summing the other factor over these
/// indices first could overflow to infinity where the products do not.
fn widened<'c: 'a, 'a>(
    field: &Field<'c, 'a>,
    other: &Field<'c, 'a>,
    reduced: &[usize],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Field<'c, 'a> {
    let needed = |i: &usize| field.indices.contains(i) || reduced.contains(i);
    let indices: Vec<usize> = union([field, other]).into_iter().filter(needed).collect();
    Field { value: field.over(&indices, domain, at), indices }
}
