//! `:` on the left side of a formula: all positions of a dimension, written as one step (editions).

use crate::ast::Lowering;
use crate::diagnostics::codes::{FORMULA, LIMIT_EXCEEDED};
use crate::eval::evaluator::{EvalResult, count, stop};
use crate::eval::{Atom, TensorRef};
use crate::model::{self, Extent, FormulaIndex};

/// Positions of one dimension that may be listed.
const LISTED: u64 = 1 << 12;

/// The places of one output that a target with `:` stands for, in row-major order.
pub struct FullSlices {
    /// Indices for every place, or for every output where there is no `:`.
    pub places: Vec<Vec<Atom>>,
    /// Index variables of the formula that run over dimensions known at run time only.
    pub added: Vec<FormulaIndex>,
}

impl FullSlices {
    /// `None` among the indices is a `:`; `first` is the number of index variables that the formula has already.
    pub fn of(
        indices: &[Option<Atom>],
        outputs: &[TensorRef],
        first: usize,
        lowering: &Lowering,
    ) -> EvalResult<FullSlices> {
        let span = lowering.target.span;
        let mut added = Vec::new();
        let mut places: Vec<Vec<Atom>> = vec![Vec::with_capacity(indices.len())];
        if indices.iter().all(Option::is_some) {
            let place: Vec<Atom> = indices.iter().flatten().cloned().collect();
            places = vec![place; outputs.len()];
            return Ok(FullSlices { places, added });
        }
        let [output] = outputs else {
            return stop(
                &FORMULA,
                span,
                "`:` stands for all positions of one tensor; write the tensors of a pack one by one",
            );
        };
        for (dimension, index) in indices.iter().enumerate() {
            let extent = output.tensor.shape.get(dimension);
            let choices: Vec<Atom> = match (index, extent) {
                (Some(atom), _) => vec![atom.clone()],
                (None, Some(Extent::Fixed(n))) if *n <= LISTED => (0..usize::try_from(*n)
                    .unwrap_or(0))
                    .map(|p| Atom::Int(count(p)))
                    .collect(),
                (None, Some(Extent::Fixed(n))) => {
                    return stop(
                        &LIMIT_EXCEEDED,
                        span,
                        format!(
                            "`:` stands for {n} positions here, at most {LISTED} are listed; use an index variable"
                        ),
                    );
                }
                (None, Some(extent)) => {
                    let position = first + added.len();
                    added.push(FormulaIndex {
                        name: format!("all.{dimension}"),
                        extent: extent.clone(),
                    });
                    vec![Atom::from_expr(model::Expr::index(position))]
                }
                // Too many indices: reported where they are resolved.
                (None, None) => vec![Atom::Int(0)],
            };
            let mut next = Vec::with_capacity(places.len() * choices.len());
            for place in &places {
                for choice in &choices {
                    let mut longer = place.clone();
                    longer.push(choice.clone());
                    next.push(longer);
                }
            }
            if next.len() > usize::try_from(LISTED).unwrap_or(usize::MAX) {
                return stop(
                    &LIMIT_EXCEEDED,
                    span,
                    "`:` stands for too many positions here",
                );
            }
            places = next;
        }
        Ok(FullSlices { places, added })
    }

    /// The output of each place.
    pub fn repeated(&self, outputs: Vec<TensorRef>) -> Vec<TensorRef> {
        match outputs.as_slice() {
            [single] => vec![single.clone(); self.places.len()],
            _ => outputs,
        }
    }
}
