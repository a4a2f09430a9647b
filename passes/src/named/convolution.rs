//! Sums of products of a window and a filter.

use super::generic::{Generic, Operand};
use super::signature::Binding;
use super::table;
use super::write::{Input, Named};

/// One of the table's; groups, and filters for each channel alone, through reshapes.
pub fn convolution<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    left: &Operand<'c, 'a>,
    right: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    for [window, kernel] in [[left, right], [right, left]] {
        // A position of a window does not choose its filter, a group does.
        let chooses = |index: usize| kernel.forms.iter().any(|f| f.indices().contains(&index));
        let folded = window.unfolded(&generic.extents, chooses);
        let groups = kernel.unfolded(&generic.extents, |_| true);
        let bare = kernel.without_units();
        let choices = [
            (window, kernel),
            (window, &bare),
            (&folded, kernel),
            (&folded, &groups),
        ];
        for (input, filter) in choices {
            for row in table::CONVOLUTIONS {
                let operands = [
                    (row.output, &generic.output),
                    (row.filter, filter),
                    (row.input, input),
                ];
                let Some(binding) = Binding::of(&operands, &generic.extents) else {
                    continue;
                };
                let mut all = binding.strides.iter().chain(&binding.dilations);
                if !row.strided && all.any(|step| *step != 1) {
                    continue;
                }
                return Some(Named {
                    name: row.name.to_owned(),
                    head: if row.strided {
                        steps(&binding)
                    } else {
                        String::new()
                    },
                    tail: String::new(),
                    inputs: vec![Input::Tensor(input.clone()), Input::Tensor(filter.clone())],
                    output: generic.output.clone(),
                    typed: true,
                });
            }
        }
    }
    None
}

/// Strides and dilations as attributes.
pub fn steps(binding: &Binding) -> String {
    let count = binding.strides.len();
    format!(
        " {{dilations = dense<{:?}> : tensor<{count}xi64>, strides = dense<{:?}> : tensor<{count}xi64>}}",
        binding.dilations, binding.strides
    )
}
