// SPDX-License-Identifier: Apache-2.0
//! `:` or a pack of positions on the left side of a formula: one step assigns several positions of a dimension (editions).

use crate::ast::Lowering;
use crate::diagnostics::codes::{FORMULA, LIMIT_EXCEEDED};
use crate::eval::ranges::signed;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::{Atom, TargetIndex, TensorRef};
use crate::model::{self, Extent, FormulaIndex};

/// The maximum number of positions of one dimension that are listed.
const MAX_LISTED: usize = 1 << 12;

/// The elements of one output that a target with `:` or with a pack of positions denotes, in row-major order.
pub(crate) struct FullSlices {
    /// Indices for every element, or for every output if all indices are single.
    pub locations: Vec<Vec<Atom>>,
    /// Index variables of the formula that run over dynamic dimensions.
    pub added: Vec<FormulaIndex>,
}

impl FullSlices {
    /// The elements at these indices. `every` is a dimension that an index variable runs over, and that index; `first`
    /// is the number of index variables that the formula has already.
    pub(crate) fn new(
        indices: &[TargetIndex],
        outputs: &[TensorRef],
        (every, first): (Option<(usize, usize)>, usize),
        lowering: &Lowering,
    ) -> EvalResult<FullSlices> {
        let span = lowering.target.span;
        let mut added = Vec::new();
        let mut locations: Vec<Vec<Atom>> = vec![Vec::with_capacity(indices.len())];
        let single = |(dimension, index): (usize, &TargetIndex)| match (index, every) {
            (TargetIndex::One(atom), _) => Some(atom.clone()),
            (_, Some((sliced, index))) if sliced == dimension => {
                Some(Atom::from_expr(model::Expr::index(index)))
            }
            (TargetIndex::Series(series), _) => Some(Atom::Series(series.clone())),
            (TargetIndex::Each(_) | TargetIndex::All, _) => None,
        };
        let singles: Vec<Option<Atom>> = indices.iter().enumerate().map(single).collect();
        if let Some(location) = singles.iter().cloned().collect::<Option<Vec<Atom>>>() {
            locations = vec![location; outputs.len()];
            return Ok(FullSlices { locations, added });
        }
        let [output] = outputs else {
            let message = "`:` selects all positions of one tensor; write the tensors of a pack one by one";
            return stop(&FORMULA, span, message);
        };
        for (dimension, (index, single)) in indices.iter().zip(singles).enumerate() {
            let extent = output.tensor.shape.get(dimension);
            let choices: Vec<Atom> = match (index, extent) {
                _ if single.is_some() => single.into_iter().collect(),
                (TargetIndex::Each(items), _) if items.len() <= MAX_LISTED => items.clone(),
                (TargetIndex::Each(items), _) => {
                    let message = format!(
                        "this index is a pack of {} positions, at most {MAX_LISTED} are listed; use an index variable",
                        items.len()
                    );
                    return stop(&LIMIT_EXCEEDED, span, message);
                }
                (TargetIndex::All, Some(Extent::Fixed(n)))
                    if usize::try_from(*n).is_ok_and(|n| n <= MAX_LISTED) =>
                {
                    (0..signed(*n)).map(Atom::Int).collect()
                }
                (TargetIndex::All, Some(Extent::Fixed(n))) => {
                    let message = format!(
                        "`:` selects {n} positions here, but the limit is {MAX_LISTED}; use an index symbol"
                    );
                    return stop(&LIMIT_EXCEEDED, span, message);
                }
                (TargetIndex::All, Some(extent)) => {
                    let position = first + added.len();
                    added.push(FormulaIndex { name: format!("all.{dimension}"), extent: extent.clone() });
                    vec![Atom::from_expr(model::Expr::index(position))]
                }
                // Too many indices: reported where they are resolved.
                _ => vec![Atom::Int(0)],
            };
            let mut next = Vec::with_capacity(locations.len() * choices.len());
            for location in &locations {
                for choice in &choices {
                    let mut longer = location.clone();
                    longer.push(choice.clone());
                    next.push(longer);
                }
            }
            if next.len() > MAX_LISTED {
                return stop(&LIMIT_EXCEEDED, span, "`:` selects too many positions here");
            }
            locations = next;
        }
        Ok(FullSlices { locations, added })
    }

    /// The output of each position.
    pub(crate) fn repeated(&self, outputs: Vec<TensorRef>) -> Vec<TensorRef> {
        match outputs.as_slice() {
            [single] => vec![single.clone(); self.locations.len()],
            _ => outputs,
        }
    }
}
