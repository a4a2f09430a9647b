// SPDX-License-Identifier: Apache-2.0
//! Reductions: over windows, or over full dimensions.

use super::arrangement::Arrangement;
use super::convolution::steps;
use super::generic::Generic;
use super::operand::Operand;
use super::payload::Payload;
use super::signature::Binding;
use super::table;
use super::write::{Input, Named, multiplies};
use crate::ir::ops;
use crate::ir::types;

/// A reduction of full dimensions.
pub(crate) fn reduction<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    input: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    let Payload::Combine { combiner, .. } = &generic.payload else {
        return None;
    };
    let (input, output) = (input.without_units(), generic.output.without_units());
    let (mut output, input) = alone(&output, &input, generic);
    let (read, written) = (input.indices()?, output.indices()?);
    let kept: Vec<usize> = read.iter().copied().filter(|i| written.contains(i)).collect();
    // A loop without reads combines each element several times.
    let all_read = (0..generic.extents.len())
        .all(|index| generic.extent(index) == 1 || read.contains(&index) || written.contains(&index));
    if !all_read || kept.len() != written.len() || kept.len() == read.len() {
        return None;
    }
    if kept != written {
        let order = kept.iter().map(|i| written.iter().position(|w| w == i));
        output.transpose(&order.collect::<Option<Vec<_>>>()?);
    }
    let dimensions: Vec<usize> =
        (0..read.len()).filter(|d| read.get(*d).is_some_and(|i| !written.contains(i))).collect();
    let (narrow, wide) = (input.element()?, output.element()?);
    // Elements of a narrower type are widened and combined in the result's type.
    let (element, widened) = if narrow == wide {
        ("%in", String::new())
    } else {
        let widens = if types::reals(wide).is_some() { "extf" } else { "extsi" };
        ("%wide", format!("%wide = arith.{widens} %in : {narrow} to {wide} "))
    };
    Some(Named {
        name: ops::linalg::REDUCE.to_owned(),
        head: String::new(),
        tail: format!(
            " dimensions = {dimensions:?} (%in: {narrow}, %present: {wide}) {{ {widened}\
             %combined = \"{}\"(%present, {element}) {{{}}} : ({wide}, {wide}) -> {wide} \
             linalg.yield %combined : {wide} }}",
            combiner.name, combiner.attributes
        ),
        inputs: vec![Input::Tensor(input)],
        output,
        typed: false,
    })
}

/// Removes unit dimensions that only one of the two has.
fn alone<'c: 'a, 'a>(
    one: &Operand<'c, 'a>,
    other: &Operand<'c, 'a>,
    generic: &Generic<'c, 'a>,
) -> (Operand<'c, 'a>, Operand<'c, 'a>) {
    let without = |operand: &Operand<'c, 'a>, other: &Operand<'c, 'a>| {
        let kept = operand.forms.iter().zip(&operand.shape).filter(|(form, _)| {
            let is_unit = form.as_index().is_some_and(|i| generic.extent(i) == 1);
            !is_unit || other.forms.contains(form)
        });
        let (forms, shape) = kept.map(|(form, extent)| (form.clone(), *extent)).unzip();
        Operand { shape, forms, ..operand.clone() }
    };
    (without(one, other), without(other, one))
}

/// A pooling in a layout of linalg; `None` if an operand had to be transposed.
pub(crate) fn pooling<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    input: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    let word = pooled(generic, input)?;
    let rows = rows(word);
    for row in rows {
        let operands = [(row.output, &generic.output), (row.input, input)];
        if let Some(binding) = Binding::of(&operands, &generic.extents) {
            return pool(row, word, &binding, &generic.extents, input, &generic.output);
        }
    }
    None
}

/// A pooling in the layout of linalg that transposes the fewest elements.
pub(crate) fn arranged_pooling<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    input: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    let word = pooled(generic, input)?;
    if !generic.is_static() {
        return None;
    }
    let (operands, extents) = generic.without_unit_loops(&[&generic.output, input])?;
    let operands: Vec<&Operand<'c, 'a>> = operands.iter().collect();
    let found = rows(word).filter_map(|row| {
        let words = [row.output, row.input];
        Some((row, Arrangement::of(&words, &operands, &extents)?))
    });
    let (row, found) = found.min_by_key(|(_, found)| found.cost)?;
    let [output, input] = found.operands.as_slice() else {
        return None;
    };
    pool(row, word, &found.binding, &extents, input, output)
}

/// The suffix of the pooling operation.
fn pooled(generic: &Generic<'_, '_>, input: &Operand<'_, '_>) -> Option<&'static str> {
    let Payload::Combine { combiner, .. } = &generic.payload else {
        return None;
    };
    combiner.pool().filter(|_| input.element().is_some_and(multiplies))
}

fn rows(word: &str) -> impl Iterator<Item = &'static table::Pooling> {
    table::POOLINGS.iter().filter(move |row| row.words.contains(&word))
}

fn pool<'c: 'a, 'a>(
    row: &table::Pooling,
    word: &str,
    binding: &Binding,
    extents: &[i64],
    input: &Operand<'c, 'a>,
    output: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    let window: Vec<i64> =
        binding.window.iter().map(|letter| binding.extent(*letter, extents)).collect::<Option<_>>()?;
    // Windows of one element combine nothing.
    if window.iter().all(|extent| *extent == 1) || window.iter().any(|extent| *extent < 1) {
        return None;
    }
    Some(Named {
        name: format!("{}_{word}", row.name),
        head: steps(binding),
        tail: String::new(),
        inputs: vec![Input::Tensor(input.clone()), Input::Shape(window)],
        output: output.clone(),
        typed: true,
    })
}
