// SPDX-License-Identifier: Apache-2.0
//! Analyzes piecewise affine subscripts, such as clamped, mirrored and wrapped borders, as a tree of conditions with affine forms at
//! its leaves.

use super::nest::{Nest, Term, TermId};
use skript_semantics::{ScalarKind, ScalarOp};
use skript_symbolic::{Affine, Extent};

/// Maximum number of leaves.
const MAX_LEAVES: usize = 256;

/// A tree of cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pieces<T> {
    /// The same value everywhere.
    One(T),
    /// Two cases that depend on the sign of a form.
    Split {
        /// The form.
        form: Affine,
        /// The cases where the form is at least zero.
        then: Box<Pieces<T>>,
        /// The cases where the form is negative.
        otherwise: Box<Pieces<T>>,
    },
}

impl Nest {
    /// The terms as piecewise affine forms. `None` if they depend on data, are not affine, or have too many pieces.
    pub fn pieces(&self, terms: &[TermId]) -> Option<Pieces<Vec<Affine>>> {
        let mut all = Pieces::One(Vec::new());
        for term in terms {
            let next = self.form(*term)?;
            all = all.join(&next, &self.extents, &|forms, form| {
                let mut forms = forms.clone();
                forms.push(form.clone());
                Some(Pieces::One(forms))
            })?;
        }
        Some(all)
    }

    fn form(&self, term: TermId) -> Option<Pieces<Affine>> {
        if let Some(form) = self.affine(term) {
            return Some(Pieces::One(form));
        }
        match self.terms.get(term)? {
            Term::Apply { op: ScalarOp::Select, operands, .. } => match operands.as_slice() {
                [condition, then, otherwise] => self.choice(*condition, *then, *otherwise),
                _ => None,
            },
            Term::Branch { condition, then, otherwise } => self.choice(*condition, *then, *otherwise),
            Term::Apply { op, kind: ScalarKind::Int, operands } => {
                let second = match operands.get(1) {
                    Some(term) => self.form(*term)?.map(Some),
                    None => Pieces::One(None),
                };
                let first = self.form(*operands.first()?)?;
                first.join(&second, &self.extents, &|x, y| self.applied(*op, x, y.as_ref()))
            }
            _ => None,
        }
    }

    /// The result of an operation on forms.
    fn applied(&self, op: ScalarOp, x: &Affine, y: Option<&Affine>) -> Option<Pieces<Affine>> {
        let other = match (op, y) {
            (ScalarOp::Min | ScalarOp::Max, Some(y)) => y.clone(),
            (ScalarOp::Abs, None) => x.scale(-1)?,
            _ => return self.affine_operation(op, x, y).map(Pieces::One),
        };
        // If x − other is not negative, x is the larger one.
        let (larger, smaller) = (Pieces::One(x.clone()), Pieces::One(other.clone()));
        let (then, otherwise) = match op {
            ScalarOp::Min => (smaller, larger),
            _ => (larger, smaller),
        };
        Some(Pieces::split(x.sub(&other)?, then, otherwise, &self.extents))
    }

    fn choice(&self, condition: TermId, then: TermId, otherwise: TermId) -> Option<Pieces<Affine>> {
        self.chosen(condition, &self.form(then)?, &self.form(otherwise)?)
    }

    fn chosen<T: Clone>(
        &self,
        condition: TermId,
        then: &Pieces<T>,
        otherwise: &Pieces<T>,
    ) -> Option<Pieces<T>> {
        let condition = self.condition(condition)?;
        condition.join(&Pieces::One(()), &self.extents, &|holds, ()| {
            Some(if *holds { then } else { otherwise }.clone())
        })
    }

    fn condition(&self, term: TermId) -> Option<Pieces<bool>> {
        match self.terms.get(term)? {
            Term::Bool(value) => Some(Pieces::One(*value)),
            Term::Branch { condition, then, otherwise } => {
                let (then, otherwise) = (self.condition(*then)?, self.condition(*otherwise)?);
                self.chosen(*condition, &then, &otherwise)
            }
            Term::Apply { op, kind, operands } => match (kind, operands.as_slice()) {
                (ScalarKind::Bool, [x]) if *op == ScalarOp::Not => {
                    Some(self.condition(*x)?.map(|holds| !holds))
                }
                (ScalarKind::Bool, [x, y]) => {
                    let (x, y) = (self.condition(*x)?, self.condition(*y)?);
                    x.join(&y, &self.extents, &|x, y| {
                        let holds = match op {
                            ScalarOp::And => *x && *y,
                            ScalarOp::Or => *x || *y,
                            ScalarOp::Xor | ScalarOp::Ne => x != y,
                            ScalarOp::Implies => !*x || *y,
                            ScalarOp::Eq => x == y,
                            _ => return None,
                        };
                        Some(Pieces::One(holds))
                    })
                }
                (ScalarKind::Int, [x, y]) => {
                    let (x, y) = (self.form(*x)?, self.form(*y)?);
                    x.join(&y, &self.extents, &|x, y| self.compared(*op, x, y))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn compared(&self, op: ScalarOp, x: &Affine, y: &Affine) -> Option<Pieces<bool>> {
        let at_least = |x: &Affine, y: &Affine, yes: bool| {
            let (then, otherwise) = (Pieces::One(yes), Pieces::One(!yes));
            Some(Pieces::split(x.sub(y)?, then, otherwise, &self.extents))
        };
        match op {
            ScalarOp::Ge => at_least(x, y, true),
            ScalarOp::Lt => at_least(x, y, false),
            ScalarOp::Le => at_least(y, x, true),
            ScalarOp::Gt => at_least(y, x, false),
            ScalarOp::Eq | ScalarOp::Ne => {
                let equal = op == ScalarOp::Eq;
                let otherwise = Pieces::One(!equal);
                let then = at_least(y, x, equal)?;
                Some(Pieces::split(x.sub(y)?, then, otherwise, &self.extents))
            }
            _ => None,
        }
    }
}

impl<T: Clone> Pieces<T> {
    /// A single case if the sign of the form is known from the extents.
    fn split(form: Affine, then: Pieces<T>, otherwise: Pieces<T>, extents: &[Extent]) -> Pieces<T> {
        match form.range(extents) {
            Some(range) if range.low >= 0 => then,
            Some(range) if range.high < 0 => otherwise,
            _ => Pieces::Split { form, then: Box::new(then), otherwise: Box::new(otherwise) },
        }
    }

    fn map<U>(self, each: impl Fn(T) -> U + Copy) -> Pieces<U> {
        match self {
            Pieces::One(value) => Pieces::One(each(value)),
            Pieces::Split { form, then, otherwise } => Pieces::Split {
                form,
                then: Box::new(then.map(each)),
                otherwise: Box::new(otherwise.map(each)),
            },
        }
    }

    /// Combines two trees with `each`, without repeating conditions that are known on the path.
    fn join<U: Clone, V: Clone>(
        &self,
        other: &Pieces<U>,
        extents: &[Extent],
        each: &dyn Fn(&T, &U) -> Option<Pieces<V>>,
    ) -> Option<Pieces<V>> {
        let joined = self.graft(&|value| other.graft(&|second| each(value, second)))?;
        let joined = joined.pruned(&mut Vec::new(), extents);
        (joined.leaves() <= MAX_LEAVES).then_some(joined)
    }

    fn graft<V: Clone>(&self, each: &dyn Fn(&T) -> Option<Pieces<V>>) -> Option<Pieces<V>> {
        Some(match self {
            Pieces::One(value) => each(value)?,
            Pieces::Split { form, then, otherwise } => Pieces::Split {
                form: form.clone(),
                then: Box::new(then.graft(each)?),
                otherwise: Box::new(otherwise.graft(each)?),
            },
        })
    }

    /// Removes cases that never occur. `known` are forms that are not negative here.
    fn pruned(self, known: &mut Vec<Affine>, extents: &[Extent]) -> Pieces<T> {
        let Pieces::Split { form, then, otherwise } = self else {
            return self;
        };
        // Not `form ≥ 0` is `−form − 1 ≥ 0`.
        let negated = form.scale(-1).and_then(|f| f.plus(-1));
        let follows = |form: &Affine| known.iter().any(|k| form.follows_from(k, extents));
        if follows(&form) {
            return then.pruned(known, extents);
        }
        if negated.as_ref().is_some_and(follows) {
            return otherwise.pruned(known, extents);
        }
        known.push(form.clone());
        let then = then.pruned(known, extents);
        known.pop();
        let otherwise = match negated {
            Some(negated) => {
                known.push(negated);
                let otherwise = otherwise.pruned(known, extents);
                known.pop();
                otherwise
            }
            None => *otherwise,
        };
        Pieces::Split { form, then: Box::new(then), otherwise: Box::new(otherwise) }
    }

    fn leaves(&self) -> usize {
        match self {
            Pieces::One(_) => 1,
            Pieces::Split { then, otherwise, .. } => then.leaves() + otherwise.leaves(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::samples::Builder;
    use super::*;
    use skript_frontend::model::Accumulation;

    fn evaluate(pieces: &Pieces<Vec<Affine>>, point: &[i64]) -> Vec<i64> {
        match pieces {
            Pieces::One(forms) => forms.iter().map(|f| f.evaluate(point).unwrap()).collect(),
            Pieces::Split { form, then, otherwise } => {
                let holds = form.evaluate(point).unwrap() >= 0;
                evaluate(if holds { then } else { otherwise }, point)
            }
        }
    }

    #[test]
    fn a_clamped_position_has_three_pieces() {
        let mut b = Builder::new(Accumulation::Assign, &[10]);
        let (i, two, zero, last) = (b.index(0), b.int(2), b.int(0), b.int(5));
        let moved = b.ints(ScalarOp::Sub, i, two);
        let low = b.ints(ScalarOp::Max, moved, zero);
        let position = b.ints(ScalarOp::Min, low, last);
        let pieces = b.nest.pieces(&[position]).unwrap();
        assert_eq!(pieces.leaves(), 3);
        for i in 0..10 {
            assert_eq!(evaluate(&pieces, &[i]), [(i - 2).clamp(0, 5)]);
        }
    }

    #[test]
    fn a_mirrored_position_divides_in_its_pieces() {
        let mut b = Builder::new(Accumulation::Assign, &[9, 4]);
        let (i, j, four, two) = (b.index(0), b.index(1), b.int(4), b.int(2));
        let moved = b.ints(ScalarOp::Sub, i, four);
        let mirrored =
            b.term(Term::Apply { op: ScalarOp::Abs, kind: ScalarKind::Int, operands: vec![moved] });
        let halved = b.ints(ScalarOp::Div, mirrored, two);
        let pieces = b.nest.pieces(&[j, halved]).unwrap();
        assert_eq!(pieces.leaves(), 2);
        for i in 0..9 {
            assert_eq!(evaluate(&pieces, &[i, 3]), [3, (i - 4).abs() / 2]);
        }
    }

    #[test]
    fn conditions_choose_pieces() {
        let mut b = Builder::new(Accumulation::Assign, &[7, 7]);
        let (i, j, three) = (b.index(0), b.index(1), b.int(3));
        let (equal, less) = (b.ints(ScalarOp::Eq, i, j), b.ints(ScalarOp::Lt, j, three));
        let condition = b.both(equal, less);
        let position = b.term(Term::Branch { condition, then: i, otherwise: three });
        let pieces = b.nest.pieces(&[position]).unwrap();
        for i in 0..7 {
            for j in 0..7 {
                let expected = if i == j && j < 3 { i } else { 3 };
                assert_eq!(evaluate(&pieces, &[i, j]), [expected], "{i} {j}");
            }
        }
    }

    #[test]
    fn known_conditions_are_not_repeated() {
        let mut b = Builder::new(Accumulation::Assign, &[10]);
        let (i, five, six) = (b.index(0), b.int(5), b.int(6));
        let (first, second) = (b.ints(ScalarOp::Min, i, five), b.ints(ScalarOp::Min, i, six));
        let pieces = b.nest.pieces(&[first, second]).unwrap();
        assert_eq!(pieces.leaves(), 3);
        for i in 0..10 {
            assert_eq!(evaluate(&pieces, &[i]), [i.min(5), i.min(6)]);
        }
    }

    #[test]
    fn data_and_products_of_indices_are_not_supported() {
        let mut b = Builder::new(Accumulation::Assign, &[4, 4]);
        let (i, j) = (b.index(0), b.index(1));
        let product = b.ints(ScalarOp::Mul, i, j);
        let element = b.access(&[4], &[i]);
        let clamped = b.ints(ScalarOp::Max, element, i);
        assert_eq!(b.nest.pieces(&[product]), None);
        assert_eq!(b.nest.pieces(&[clamped]), None);
    }
}
