// SPDX-License-Identifier: Apache-2.0
//! Recognizes reductions over windows or full dimensions.

use super::arrangement::Arrangement;
use super::convolution::steps;
use super::generic::Generic;
use super::movement::numbers;
use super::operand::Operand;
use super::payload::Payload;
use super::signature::Binding;
use super::table;
use super::write::{self, Input, Named, multiplies};
use crate::ir::ops;
use crate::ir::types;
use melior::ir::ValueLike;
use skript_dialect::melior;

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
    // If the input does not vary along a loop, each element would be combined several times.
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
    // Elements of a narrower type are extended, and combined in the type of the result.
    let widens = match types::reals(wide) {
        _ if narrow == wide => "",
        Some(_) => ops::arith::EXTF,
        None => ops::arith::EXTSI,
    };
    Some(Named {
        name: ops::linalg::REDUCE.to_owned(),
        attributes: vec![("dimensions", numbers(types::context_of(wide), &dimensions))],
        payload: write::Payload::Combine { combiner: combiner.operator.clone(), widens },
        inputs: vec![Input::Tensor(input)],
        output,
    })
}

/// Removes unit dimensions that only one of the operands has.
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
        if let Some(binding) = Binding::new(&operands, &generic.extents) {
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
    let arrangements = rows(word).filter_map(|row| {
        let words = [row.output, row.input];
        Some((row, Arrangement::new(&words, &operands, &extents)?))
    });
    let (row, arrangement) = arrangements.min_by_key(|(_, arrangement)| arrangement.cost)?;
    let [output, input] = arrangement.operands.as_slice() else {
        return None;
    };
    pool(row, word, &arrangement.binding, &extents, input, output)
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
    // A pooling needs windows with several elements.
    if window.iter().all(|extent| *extent == 1) || window.iter().any(|extent| *extent < 1) {
        return None;
    }
    Some(Named {
        name: format!("{}_{word}", row.name),
        attributes: steps(types::context_of(input.value.r#type()), binding),
        payload: write::Payload::Named,
        inputs: vec![Input::Tensor(input.clone()), Input::Shape(window)],
        output: output.clone(),
    })
}
