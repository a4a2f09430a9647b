// SPDX-License-Identifier: Apache-2.0
//! Convolutions: sums of products of a window and a filter.

use super::arrangement::{Arrangement, Cost};
use super::generic::Generic;
use super::operand::Operand;
use super::signature::Binding;
use super::table;
use super::write::{Input, Named};

/// A convolution of the table; groups and depthwise filters use reshapes.
pub(crate) fn convolution<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    left: &Operand<'c, 'a>,
    right: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    for [window, kernel] in [[left, right], [right, left]] {
        // The filter does not depend on the position of a window, but on the group.
        let chooses = |index: usize| kernel.forms.iter().any(|f| f.indices().contains(&index));
        let folded = window.unfolded(&generic.extents, chooses);
        let groups = kernel.unfolded(&generic.extents, |_| true);
        let bare = kernel.without_units();
        let choices = [(window, kernel), (window, &bare), (&folded, kernel), (&folded, &groups)];
        for (input, filter) in choices {
            for row in table::CONVOLUTIONS {
                let operands = [(row.output, &generic.output), (row.filter, filter), (row.input, input)];
                let Some(binding) = Binding::of(&operands, &generic.extents) else {
                    continue;
                };
                if let Some(named) = convolved(row, &binding, input, filter, &generic.output) {
                    return Some(named);
                }
            }
        }
    }
    None
}

/// The convolution of the table that transposes the fewest elements, for layouts that linalg does not have.
pub(crate) fn arranged_convolution<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    left: &Operand<'c, 'a>,
    right: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    if !generic.is_static() {
        return None;
    }
    let mut best: Option<(Cost, Named<'c, 'a>)> = None;
    for [window, kernel] in [[left, right], [right, left]] {
        let (operands, extents) = generic.without_unit_loops(&[&generic.output, kernel, window])?;
        let [output, kernel, window] = operands.as_slice() else {
            return None;
        };
        let chooses = |index: usize| kernel.forms.iter().any(|f| f.indices().contains(&index));
        let folded = window.unfolded(&extents, chooses);
        let groups = kernel.unfolded(&extents, |_| true);
        for (input, filter) in [(window, kernel), (&folded, kernel), (&folded, &groups)] {
            for row in table::CONVOLUTIONS {
                let words = [row.output, row.filter, row.input];
                let found = Arrangement::of(&words, &[output, filter, input], &extents);
                let Some(found) =
                    found.filter(|found| best.as_ref().is_none_or(|(cost, _)| found.cost < *cost))
                else {
                    continue;
                };
                let [output, filter, input] = found.operands.as_slice() else {
                    continue;
                };
                if let Some(named) = convolved(row, &found.binding, input, filter, output) {
                    best = Some((found.cost, named));
                }
            }
        }
    }
    best.map(|(_, named)| named)
}

/// The operation of a row; `None` if it needs strides or dilations and the row has none.
fn convolved<'c: 'a, 'a>(
    row: &table::Convolution,
    binding: &Binding,
    input: &Operand<'c, 'a>,
    filter: &Operand<'c, 'a>,
    output: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    let mut all = binding.strides.iter().chain(&binding.dilations);
    if !row.strided && all.any(|step| *step != 1) {
        return None;
    }
    Some(Named {
        name: row.name.to_owned(),
        head: if row.strided { steps(binding) } else { String::new() },
        tail: String::new(),
        inputs: vec![Input::Tensor(input.clone()), Input::Tensor(filter.clone())],
        output: output.clone(),
        typed: true,
    })
}

/// Strides and dilations as attributes.
pub(crate) fn steps(binding: &Binding) -> String {
    let count = binding.strides.len();
    format!(
        " {{dilations = dense<{:?}> : tensor<{count}xi64>, strides = dense<{:?}> : tensor<{count}xi64>}}",
        binding.dilations, binding.strides
    )
}
