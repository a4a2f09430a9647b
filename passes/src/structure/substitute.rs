// SPDX-License-Identifier: Apache-2.0
//! Rewrites a formula with other indices: linear forms of these indices replace some of its terms.

use super::nest::{Nest, Term, TermId};
use skript_semantics::{ScalarKind, ScalarOp};
use skript_symbolic::{Affine, Extent};
use std::collections::HashMap;

impl Nest {
    /// The nest with indices of these extents, in which linear forms replace terms, and the new number of each term.
    /// `None` if a form is not linear.
    pub fn substituted(
        &self,
        extents: &[Extent],
        forms: &HashMap<TermId, Affine>,
    ) -> Option<(Nest, Vec<TermId>)> {
        let mut nest = Nest { extents: extents.to_vec(), terms: Vec::new(), ..self.clone() };
        let mut new: Vec<TermId> = Vec::new();
        for (number, term) in self.terms.iter().enumerate() {
            let position = match forms.get(&number) {
                Some(form) => nest.push_form(form)?,
                None => {
                    let mut term = term.clone();
                    for operand in term.operands_mut() {
                        *operand = *new.get(*operand)?;
                    }
                    nest.push(term)
                }
            };
            new.push(position);
        }
        nest.predicate = match self.predicate {
            Some(predicate) => Some(*new.get(predicate)?),
            None => None,
        };
        for target in &mut nest.targets {
            target.value = *new.get(target.value)?;
            for subscript in &mut target.subscripts {
                *subscript = *new.get(*subscript)?;
            }
        }
        Some((nest, new))
    }

    fn push(&mut self, term: Term) -> TermId {
        self.terms.push(term);
        self.terms.len() - 1
    }

    fn push_form(&mut self, form: &Affine) -> Option<TermId> {
        let apply = |op, operands| Term::Apply { op, kind: ScalarKind::Int, operands };
        let mut sum = None;
        for (index, coefficient) in form.as_linear()? {
            let mut part = self.push(Term::Index(index));
            if coefficient != 1 {
                let factor = self.push(Term::Int(coefficient));
                part = self.push(apply(ScalarOp::Mul, vec![factor, part]));
            }
            sum = Some(match sum {
                Some(others) => self.push(apply(ScalarOp::Add, vec![others, part])),
                None => part,
            });
        }
        Some(match (sum, form.offset()) {
            (Some(sum), 0) => sum,
            (Some(sum), offset) => {
                let offset = self.push(Term::Int(offset));
                self.push(apply(ScalarOp::Add, vec![sum, offset]))
            }
            (None, offset) => self.push(Term::Int(offset)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::samples::Builder;
    use super::*;
    use skript_frontend::model::Accumulation;

    #[test]
    fn digits_replace_an_index() {
        // x[i / 2], i = 2 j + k.
        let mut b = Builder::new(Accumulation::Assign, &[6]);
        let (i, two) = (b.index(0), b.int(2));
        let half = b.ints(ScalarOp::Div, i, two);
        let x = b.access(&[3], &[half]);
        let nest = b.target(&[6], &[i], x);
        let form = Affine::index(0).scale(2).unwrap().add(&Affine::index(1)).unwrap();
        let forms = HashMap::from([(i, form.clone())]);
        let (nest, new) = nest.substituted(&[3, 2].map(Extent::Static), &forms).unwrap();
        assert_eq!(nest.affine(new[half]), Some(Affine::index(0)));
        assert_eq!(nest.affine(nest.targets[0].subscripts[0]), Some(form));
        assert_eq!(nest.targets[0].value, new[x]);
    }
}
