// SPDX-License-Identifier: Apache-2.0
//! Recognizes convolutions, which are sums of products of a window and a filter.

use super::arrangement::{Arrangement, Cost};
use super::generic::Generic;
use super::operand::Operand;
use super::signature::Binding;
use super::table;
use super::write::{Input, Named, Payload};
use crate::ir::{attributes, types};
use melior::Context;
use melior::ir::{Attribute, ValueLike};
use skript_dialect::melior;

/// A convolution of the table. Groups and depthwise filters use reshapes.
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
                let Some(binding) = Binding::new(&operands, &generic.extents) else {
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

/// The convolution of the table that transposes the fewest elements, for layouts that linalg lacks.
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
                let arrangement = Arrangement::new(&words, &[output, filter, input], &extents);
                let Some(arrangement) = arrangement
                    .filter(|arrangement| best.as_ref().is_none_or(|(cost, _)| arrangement.cost < *cost))
                else {
                    continue;
                };
                let [output, filter, input] = arrangement.operands.as_slice() else {
                    continue;
                };
                if let Some(named) = convolved(row, &arrangement.binding, input, filter, output) {
                    best = Some((arrangement.cost, named));
                }
            }
        }
    }
    best.map(|(_, named)| named)
}

/// The operation of a row. `None` if it needs strides or dilations, and the row does not support them.
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
    let context = types::context_of(input.value.r#type());
    Some(Named {
        name: row.name.to_owned(),
        attributes: if row.strided { steps(context, binding) } else { Vec::new() },
        payload: Payload::Named,
        inputs: vec![Input::Tensor(input.clone()), Input::Tensor(filter.clone())],
        output: output.clone(),
    })
}

/// Strides and dilations as attributes.
pub(crate) fn steps<'c>(context: &'c Context, binding: &Binding) -> Vec<(&'static str, Attribute<'c>)> {
    let list = |values: &[i64]| {
        let count = i64::try_from(values.len()).unwrap_or(i64::MAX);
        let values: Vec<Attribute> = values.iter().map(|n| attributes::i64(context, *n)).collect();
        attributes::listed(types::tensor(&[count], types::word(context)), &values)
    };
    vec![("dilations", list(&binding.dilations)), ("strides", list(&binding.strides))]
}
