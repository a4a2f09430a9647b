//! Combinations along loops: over windows, or over whole dimensions.

use super::convolution::steps;
use super::generic::{Generic, Operand};
use super::payload::Payload;
use super::signature::Binding;
use super::table;
use super::write::{Input, Named, element, same_elements};

/// Whole dimensions that go.
pub fn reduction<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    input: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    let Payload::Combine { combiner, .. } = &generic.payload else {
        return None;
    };
    if generic.inputs.len() != 1 || !same_elements(&[input, &generic.output]) {
        return None;
    }
    let (input, output) = (input.without_units(), generic.output.without_units());
    let (output, input) = alone(&output, &input, generic);
    let (read, written) = (input.indices()?, output.indices()?);
    let kept: Vec<usize> = read
        .iter()
        .copied()
        .filter(|i| written.contains(i))
        .collect();
    if kept != written || kept.len() == read.len() {
        return None;
    }
    let dimensions: Vec<usize> = (0..read.len())
        .filter(|d| read.get(*d).is_some_and(|i| !written.contains(i)))
        .collect();
    let element = element(&input)?;
    Some(Named {
        name: "linalg.reduce".to_owned(),
        head: String::new(),
        tail: format!(
            " dimensions = {dimensions:?} (%in: {element}, %present: {element}) {{ \
             %combined = \"{}\"(%present, %in) {{{}}} : ({element}, {element}) -> {element} \
             linalg.yield %combined : {element} }}",
            combiner.name, combiner.attributes
        ),
        inputs: vec![Input::Tensor(input)],
        output,
        typed: false,
    })
}

/// Without the dimensions of one element that only one of the two has.
fn alone<'c: 'a, 'a>(
    one: &Operand<'c, 'a>,
    other: &Operand<'c, 'a>,
    generic: &Generic<'c, 'a>,
) -> (Operand<'c, 'a>, Operand<'c, 'a>) {
    let without = |operand: &Operand<'c, 'a>, other: &Operand<'c, 'a>| {
        let kept = operand
            .forms
            .iter()
            .zip(&operand.shape)
            .filter(|(form, _)| {
                let is_unit = form.as_index().is_some_and(|i| generic.extent(i) == 1);
                !is_unit || other.forms.contains(form)
            });
        let (forms, shape) = kept.map(|(form, extent)| (form.clone(), *extent)).unzip();
        Operand {
            value: operand.value,
            shape,
            forms,
        }
    };
    (without(one, other), without(other, one))
}

/// Windows.
pub fn pooling<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    input: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    let Payload::Combine { combiner, .. } = &generic.payload else {
        return None;
    };
    let word = combiner.pool()?;
    if !same_elements(&[input, &generic.output]) {
        return None;
    }
    let rows = table::POOLINGS
        .iter()
        .filter(|row| row.words.contains(&word));
    for row in rows {
        let operands = [(row.output, &generic.output), (row.input, input)];
        let Some(binding) = Binding::of(&operands, &generic.extents) else {
            continue;
        };
        let window: Vec<i64> = binding
            .window
            .iter()
            .map(|letter| binding.extent(*letter, &generic.extents))
            .collect::<Option<_>>()?;
        // One element: nothing is combined.
        if window.iter().all(|extent| *extent == 1) || window.iter().any(|extent| *extent < 1) {
            return None;
        }
        return Some(Named {
            name: format!("{}_{word}", row.name),
            head: steps(&binding),
            tail: String::new(),
            inputs: vec![Input::Tensor(input.clone()), Input::Shape(window)],
            output: generic.output.clone(),
            typed: true,
        });
    }
    None
}
