// SPDX-License-Identifier: Apache-2.0
//! `:` or a pack of positions on the left side of a formula: positions of a dimension, written as one step (editions).

use crate::ast::Lowering;
use crate::diagnostics::codes::{FORMULA, LIMIT_EXCEEDED};
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::count;
use crate::eval::{Atom, TargetIndex, TensorRef};
use crate::model::{self, Extent, FormulaIndex};

/// The maximum number of positions of one dimension that are listed.
const LISTED: u64 = 1 << 12;

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
    pub(crate) fn of(
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
            (_, Some((own, index))) if own == dimension => Some(Atom::from_expr(model::Expr::index(index))),
            (TargetIndex::Series(series), _) => Some(Atom::Series(series.clone())),
            (TargetIndex::Each(_) | TargetIndex::All, _) => None,
        };
        let singles: Vec<Option<Atom>> = indices.iter().enumerate().map(single).collect();
        if let Some(location) = singles.iter().cloned().collect::<Option<Vec<Atom>>>() {
            locations = vec![location; outputs.len()];
            return Ok(FullSlices { locations, added });
        }
        let [output] = outputs else {
            return stop(
                &FORMULA,
                span,
                "`:` selects all positions of one tensor; write the tensors of a pack one by one",
            );
        };
        for (dimension, (index, single)) in indices.iter().zip(singles).enumerate() {
            let extent = output.tensor.shape.get(dimension);
            let choices: Vec<Atom> = match (index, extent) {
                _ if single.is_some() => single.into_iter().collect(),
                (TargetIndex::Each(items), _) if u64::try_from(items.len()).is_ok_and(|n| n <= LISTED) => {
                    items.clone()
                }
                (TargetIndex::Each(items), _) => {
                    return stop(
                        &LIMIT_EXCEEDED,
                        span,
                        format!(
                            "this index is a pack of {} positions, at most {LISTED} are listed; use an index variable",
                            items.len()
                        ),
                    );
                }
                (TargetIndex::All, Some(Extent::Fixed(n))) if *n <= LISTED => {
                    (0..usize::try_from(*n).unwrap_or(0)).map(|p| Atom::Int(count(p))).collect()
                }
                (TargetIndex::All, Some(Extent::Fixed(n))) => {
                    return stop(
                        &LIMIT_EXCEEDED,
                        span,
                        format!(
                            "`:` selects {n} positions here, but the limit is {LISTED}; use an index symbol"
                        ),
                    );
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
            if next.len() > usize::try_from(LISTED).unwrap_or(usize::MAX) {
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

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_fires, composed};
    use crate::diagnostics::codes::{FORMULA, LIMIT_EXCEEDED};
    use crate::model::Body;

    fn document(target: &str, range: &str) -> String {
        format!(
            "operator f {{ @input {{ x: real[n,m]; z: real[n]; }} @output {{ y: real[n,m]; ys: real[n,m]..(2); }} \
             @using {{ j = {range}; }} @lower {{ {target}[i,j] = x[i,j] + z[i,], i < n; \
             ys[i,j] = x[i,j] + z[i,], i < n; }} }} \
             graph G {{ @input {{ x: real[5,3]; z: real[5]; }} @output {{ y: real[5,3]; }} \
             @compose {{ y, ys..(2) = f(x, z); }} }}"
        )
    }

    /// All elements that are written to `y`, the only output here, and the indices of the enclosing loops.
    fn written(range: &str) -> (usize, usize) {
        let text = document("y", range)
            .replace(" ys: real[n,m]..(2);", "")
            .replace("y, ys..(2) =", "y =")
            .replace(" ys[i,j] = x[i,j] + z[i,], i < n;", "");
        let model = composed(&text).unwrap_or_else(|found| panic!("{range}: {found:?}"));
        let f = model.functions.iter().find(|f| f.name == "main.f").unwrap();
        match &f.body {
            Body::Formulas(formulas) => (
                formulas.iter().map(|f| f.targets.len()).sum(),
                formulas.iter().map(|f| f.indices.len()).max().unwrap(),
            ),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn s2_12_a_pack_of_positions_is_written_as_one_step() {
        for (range, elements) in [("[0:m]", 3), ("[2:-1:-2]", 2), ("[1]", 1)] {
            assert_eq!(written(range), (elements, 1), "{range}");
        }
    }

    #[test]
    fn s2_12_a_pack_of_positions_is_of_one_tensor() {
        assert_fires(&FORMULA, &document("y", "[0:m]"));
        let long = document("y", "[0 ..(5000)]").replace("ys[i,j]", "ys[i,0]");
        assert_fires(&LIMIT_EXCEEDED, &long);
    }

    /// Loops and written elements of each formula of `y`.
    fn shape_of(x: &str, formulas: &str) -> Vec<(usize, usize)> {
        let text = sliced(x, formulas);
        let model = composed(&text).unwrap_or_else(|found| panic!("{formulas}: {found:?}"));
        let f = model.functions.iter().find(|f| f.name == "main.f").unwrap();
        match &f.body {
            Body::Formulas(formulas) => formulas.iter().map(|f| (f.indices.len(), f.targets.len())).collect(),
            other => panic!("{other:?}"),
        }
    }

    fn sliced(x: &str, formulas: &str) -> String {
        format!(
            "operator f {{ @input {{ x: real[n,m]; z: real[n]; }} @output {{ y: real[n,m]; }} \
             @using {{ mi = [0:m]; }} @lower {{ {formulas} }} }} \
             graph G {{ @input {{ x: real[{x}]; z: real[5]; }} @output {{ y: real[5,~]; }} \
             @compose {{ y = f(x, z); }} }}"
        )
    }

    #[test]
    fn editions_slices_of_long_and_of_dynamic_dimensions_are_loops() {
        for x in ["5,s|9", "5,100", "5,100000"] {
            for formula in [
                "y[i,:] = x[i,:] + z[i,], i < n;",
                "y[i,mi] = x[i,mi] * x[i,:], i < n;",
                "with r = x[i,:] - z[i,]: y[i,:] = r * r, i < n;",
                "y[i,:] = z[i,], i < n | z[i,] > 0.0;",
            ] {
                assert_eq!(shape_of(x, formula), [(2, 1)], "{x}: {formula}");
            }
        }
        let mixed = "y[i,:] = x[i,:] + real(mi), i < n;";
        assert_eq!(shape_of("5,s|9", mixed), [(2, 1)]);
        assert_eq!(shape_of("5,100", mixed), [(2, 1)]);
    }

    /// All positions are written after one test of the condition.
    #[test]
    fn editions_slices_are_written_as_one_step() {
        let own = "y[i,j] = 0.0, i < n, j < m; y[i,:] := x[i,:], i < n | y[i,0] < z[i,];";
        assert_eq!(shape_of("5,3", own).last(), Some(&(1, 3)));
        assert_eq!(shape_of("5,100", own).last(), Some(&(1, 100)));
        assert_fires(&FORMULA, &sliced("5,s|9", own));
    }
}
