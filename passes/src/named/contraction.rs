// SPDX-License-Identifier: Apache-2.0
//! Recognizes contractions, which are sums of products of elements at single indices.

use super::generic::Generic;
use super::operand::Operand;
use super::signature::Binding;
use super::table;
use super::write::{Input, Named, Payload};
use crate::ir::maps;
use crate::ir::ops;
use crate::structure::Affine;
use melior::ir::Attribute;
use melior::ir::attribute::ArrayAttribute;
use skript_dialect::melior;
use skript_dialect::melior::Context;

/// A contraction of the table. The canonical order of dimensions is preferred to transposed ones.
pub(crate) fn contraction<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    left: &Operand<'c, 'a>,
    right: &Operand<'c, 'a>,
    context: &'c Context,
) -> Option<Named<'c, 'a>> {
    for row in table::CONTRACTIONS {
        for [lhs, rhs] in [[left, right], [right, left]] {
            let [first, second, result] = row.operands;
            let operands = [(result, &generic.output), (first, lhs), (second, rhs)];
            if Binding::new(&operands, &generic.extents).is_none() {
                continue;
            }
            let attributes = if row.loops.is_empty() { Vec::new() } else { own_maps(row, context)? };
            return Some(Named {
                name: row.name.to_owned(),
                attributes,
                payload: Payload::Named,
                inputs: vec![Input::Tensor(lhs.clone()), Input::Tensor(rhs.clone())],
                output: generic.output.clone(),
            });
        }
    }
    None
}

/// A sum over one loop.
pub(crate) fn dot<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    left: &Operand<'c, 'a>,
    right: &Operand<'c, 'a>,
) -> Option<Named<'c, 'a>> {
    let (operands, extents) = generic.without_unit_loops(&[left, right, &generic.output])?;
    let [left, right, output] = <[_; 3]>::try_from(operands).ok()?;
    let is_sum = |operand: &Operand| operand.indices().as_deref() == Some(&[0]);
    let sums = is_sum(&left) && is_sum(&right) && output.forms.is_empty() && extents.len() == 1;
    let row = table::CONTRACTIONS.iter().find(|row| row.operands[2].is_empty())?;
    sums.then(|| Named {
        name: row.name.to_owned(),
        attributes: Vec::new(),
        payload: Payload::Named,
        inputs: vec![Input::Tensor(left), Input::Tensor(right)],
        output,
    })
}

/// Attributes of an operation.
type Attributes<'c> = Vec<(&'static str, Attribute<'c>)>;

/// The maps of a row over its order of loops.
fn own_maps<'c>(row: &table::Contraction, context: &'c Context) -> Option<Attributes<'c>> {
    let loops: Vec<char> = row.loops.chars().collect();
    let forms = row.operands.iter().map(|words| {
        let letters = words.split_whitespace().filter_map(|w| w.chars().next());
        letters
            .map(|letter| Some(Affine::index(loops.iter().position(|l| *l == letter)?)))
            .collect::<Option<Vec<_>>>()
    });
    let forms: Vec<_> = forms.collect::<Option<_>>()?;
    listed_maps(&forms, loops.len(), context)
}

fn listed_maps<'c>(forms: &[Vec<Affine>], loops: usize, context: &'c Context) -> Option<Attributes<'c>> {
    let all = forms.iter().map(|forms| maps::map(context, loops, forms));
    let all: Vec<Attribute> = all.collect::<Option<_>>()?;
    Some(vec![("indexing_maps", ArrayAttribute::new(context, &all).into())])
}

/// Any other contraction, as `linalg.contract`.
pub(crate) fn general_contraction<'c: 'a, 'a>(
    generic: &Generic<'c, 'a>,
    left: &Operand<'c, 'a>,
    right: &Operand<'c, 'a>,
    context: &'c Context,
) -> Option<Named<'c, 'a>> {
    let operands = [left, right, &generic.output].map(Operand::without_units);
    let indices: Vec<Vec<usize>> = operands.iter().map(Operand::indices).collect::<Option<_>>()?;
    let [_, _, written] = indices.as_slice() else {
        return None;
    };
    let count = |index: usize| indices.iter().filter(|list| list.contains(&index)).count();
    let pairs = (0..generic.extents.len()).all(|index| count(index) > 1);
    let reduces = written.len() < generic.extents.len();
    if !pairs || !reduces {
        return None;
    }
    let forms: Vec<_> = operands.iter().map(|o| o.forms.clone()).collect();
    let [left, right, output] = operands;
    Some(Named {
        name: ops::linalg::CONTRACT.to_owned(),
        attributes: listed_maps(&forms, generic.extents.len(), context)?,
        payload: Payload::Named,
        inputs: vec![Input::Tensor(left), Input::Tensor(right)],
        output,
    })
}
