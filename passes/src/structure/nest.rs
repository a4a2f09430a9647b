// SPDX-License-Identifier: Apache-2.0
//! The data structure for a formula, without MLIR: its loop nest, and the terms that are computed at each point.

use skript_frontend::model::Accumulation;
use skript_semantics::{ScalarKind, ScalarOp};
use skript_symbolic::{Affine, Extent};

/// Position in [`Nest::terms`]. Operands precede their users.
pub type TermId = usize;

/// One formula.
#[derive(Clone, Debug)]
pub struct Nest {
    /// Extents of the indices, outermost first.
    pub extents: Vec<Extent>,
    /// How values are combined with the destinations.
    pub kind: Accumulation,
    /// Bool; `None`: always true.
    pub predicate: Option<TermId>,
    /// The element that is written.
    pub targets: Vec<NestTarget>,
    /// The tensors that are read.
    pub tensors: Vec<NestTensor>,
    /// The terms; a [`TermId`] is an index here.
    pub terms: Vec<Term>,
}

/// The element that a step writes, and its value.
#[derive(Clone, Debug)]
pub struct NestTarget {
    /// Extents of the output.
    pub extents: Vec<Extent>,
    /// One term per dimension of the destination.
    pub subscripts: Vec<TermId>,
    /// The value that is written.
    pub value: TermId,
}

/// A tensor that the formula reads.
#[derive(Clone, Debug)]
pub struct NestTensor {
    /// The extents, outermost first.
    pub extents: Vec<Extent>,
    /// For a destination, the target whose current elements are read.
    pub destination: Option<usize>,
}

/// An expression of a nest.
#[derive(Clone, Debug, PartialEq)]
pub enum Term {
    /// A constant.
    Int(i64),
    /// A constant.
    Bool(bool),
    /// Position in [`Nest::extents`].
    Index(usize),
    /// An element of [`Nest::tensors`].
    Access {
        /// The index of the tensor in [`Nest::tensors`].
        tensor: usize,
        /// One term per dimension.
        subscripts: Vec<TermId>,
    },
    /// `kind` is the kind of the operands.
    Apply {
        /// The scalar operation.
        op: ScalarOp,
        /// The kind of the result.
        kind: ScalarKind,
        /// The operands, in order.
        operands: Vec<TermId>,
    },
    /// A lazy selection, where only the selected branch is evaluated.
    Branch {
        /// The condition, a bool.
        condition: TermId,
        /// The value if the condition is true.
        then: TermId,
        /// The value if the condition is false.
        otherwise: TermId,
    },
    /// A real literal, a value from outside, or an operation that is not a scalar operation of the dialect.
    Opaque {
        /// Its operands.
        operands: Vec<TermId>,
    },
}

impl Term {
    /// The terms that it reads directly.
    pub fn operands(&self) -> Vec<TermId> {
        match self {
            Term::Int(_) | Term::Bool(_) | Term::Index(_) => Vec::new(),
            Term::Access { subscripts, .. } => subscripts.clone(),
            Term::Apply { operands, .. } | Term::Opaque { operands } => operands.clone(),
            Term::Branch { condition, then, otherwise } => vec![*condition, *then, *otherwise],
        }
    }

    pub(crate) fn operands_mut(&mut self) -> Vec<&mut TermId> {
        match self {
            Term::Int(_) | Term::Bool(_) | Term::Index(_) => Vec::new(),
            Term::Access { subscripts: operands, .. }
            | Term::Apply { operands, .. }
            | Term::Opaque { operands } => operands.iter_mut().collect(),
            Term::Branch { condition, then, otherwise } => vec![condition, then, otherwise],
        }
    }
}

impl Nest {
    /// The extents of the indices; `None` if one is dynamic.
    pub(crate) fn static_extents(&self) -> Option<Vec<i64>> {
        self.extents.iter().map(|extent| extent.as_static()).collect()
    }

    /// The term as an affine form of the indices. If the result of a `min`, `max` or branch is known from the extents, it is replaced by the
    /// operand that it selects.
    pub fn affine(&self, term: TermId) -> Option<Affine> {
        match self.terms.get(term)? {
            Term::Int(value) => Some(Affine::constant(*value)),
            Term::Index(position) => Some(if self.extents.get(*position) == Some(&Extent::ONE) {
                Affine::constant(0)
            } else {
                Affine::index(*position)
            }),
            Term::Apply { op, kind: ScalarKind::Int, operands } => self.affine_application(*op, operands),
            _ => None,
        }
    }

    /// Whether two terms are the same expression of the same indices and values.
    pub fn same(&self, one: TermId, other: TermId) -> bool {
        if one == other {
            return true;
        }
        match (self.terms.get(one), self.terms.get(other)) {
            (
                Some(Term::Apply { op, kind, operands }),
                Some(Term::Apply { op: op_2, kind: kind_2, operands: operands_2 }),
            ) => {
                let mut pairs = operands.iter().zip(operands_2);
                (op, kind, operands.len()) == (op_2, kind_2, operands_2.len())
                    && pairs.all(|(x, y)| self.same(*x, *y))
            }
            (Some(Term::Int(_) | Term::Bool(_) | Term::Index(_)), _) => {
                self.terms.get(one) == self.terms.get(other)
            }
            _ => false,
        }
    }

    /// Whether an integer that only depends on indices fits `bits` bits at each point; true if it depends on data.
    pub fn fits(&self, term: TermId, bits: u32) -> bool {
        let is_data = |id: &TermId| {
            let term = self.terms.get(*id);
            matches!(term, Some(Term::Access { .. } | Term::Opaque { .. }))
        };
        if self.reachable(&[term]).iter().any(is_data) {
            return true;
        }
        let range = self.affine(term).and_then(|form| form.range(&self.extents));
        let beyond = 1i64 << bits.saturating_sub(1).min(62);
        range.is_some_and(|range| range.low >= -beyond && range.high < beyond)
    }

    fn affine_application(&self, op: ScalarOp, operands: &[TermId]) -> Option<Affine> {
        let x = self.affine(*operands.first()?)?;
        let y = match operands.get(1) {
            Some(y) => Some(self.affine(*y)?),
            None => None,
        };
        self.affine_operation(op, &x, y.as_ref())
    }

    /// Applies an operation to forms. `None` if the result is not a form, or may overflow i64.
    pub(super) fn affine_operation(&self, op: ScalarOp, x: &Affine, y: Option<&Affine>) -> Option<Affine> {
        let form = self.unbounded_operation(op, x, y)?;
        form.range(&self.extents)?;
        Some(form)
    }

    fn unbounded_operation(&self, op: ScalarOp, x: &Affine, y: Option<&Affine>) -> Option<Affine> {
        match (op, y) {
            (ScalarOp::Neg, None) => x.scale(-1),
            (ScalarOp::ToInt, None) => Some(x.clone()),
            (ScalarOp::Add, Some(y)) => x.add(y),
            (ScalarOp::Sub, Some(y)) => x.sub(y),
            (ScalarOp::Mul, Some(y)) => x.linear_product(y),
            (ScalarOp::Div, Some(y)) => x.floor_div(y.as_constant()?, &self.extents),
            (ScalarOp::Mod, Some(y)) => x.modulo(y.as_constant()?, &self.extents),
            (ScalarOp::CeilDiv, Some(y)) => {
                let divisor = y.as_constant()?;
                x.plus(divisor.checked_sub(1)?)?.floor_div(divisor, &self.extents)
            }
            (ScalarOp::Min | ScalarOp::Max, Some(y)) => {
                let difference = x.sub(y)?.range(&self.extents)?;
                let x_is_less = difference.high <= 0;
                if !x_is_less && difference.low < 0 {
                    return None;
                }
                let is_x = x_is_less == (op == ScalarOp::Min);
                Some(if is_x { x } else { y }.clone())
            }
            _ => None,
        }
    }

    /// All terms that `roots` need, without duplicates, operands first.
    pub fn reachable(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut needed = vec![false; self.terms.len()];
        let mut stack = roots.to_vec();
        while let Some(term) = stack.pop() {
            if let Some(slot @ false) = needed.get_mut(term) {
                *slot = true;
                stack.extend(self.terms.get(term).map(Term::operands).unwrap_or_default());
            }
        }
        (0..self.terms.len()).filter(|t| needed.get(*t) == Some(&true)).collect()
    }

    /// The accesses that `roots` need.
    pub fn accesses(&self, roots: &[TermId]) -> Vec<(TermId, usize, &[TermId])> {
        self.reachable(roots)
            .into_iter()
            .filter_map(|id| match self.terms.get(id)? {
                Term::Access { tensor, subscripts } => Some((id, *tensor, subscripts.as_slice())),
                _ => None,
            })
            .collect()
    }

    /// The distinct factors of a product, without signs. If the term is not a product, the term without its sign.
    pub fn factors(&self, term: TermId) -> Vec<TermId> {
        let mut seen = Vec::new();
        let mut factors = Vec::new();
        let mut stack = vec![term];
        while let Some(term) = stack.pop() {
            if seen.contains(&term) {
                continue;
            }
            seen.push(term);
            match self.terms.get(term) {
                Some(Term::Apply { op: ScalarOp::Mul | ScalarOp::Neg, operands, .. }) => {
                    stack.extend(operands.iter().rev())
                }
                _ => factors.push(term),
            }
        }
        factors
    }

    /// The distinct operands of nested conjunctions (`op` is `And`) or disjunctions (`Or`), which may be choices of a bool.
    pub fn junction(&self, term: TermId, op: ScalarOp) -> Vec<TermId> {
        let absorbs = Some(&Term::Bool(op == ScalarOp::Or));
        let (mut found, mut stack) = (Vec::new(), vec![term]);
        while let Some(term) = stack.pop() {
            match self.terms.get(term) {
                Some(Term::Apply { op: joined, operands, .. }) if *joined == op => {
                    stack.extend(operands.iter().rev());
                }
                Some(Term::Branch { condition, then, otherwise })
                    if op == ScalarOp::And && self.terms.get(*otherwise) == absorbs =>
                {
                    stack.extend([*then, *condition]);
                }
                Some(Term::Branch { condition, then, otherwise })
                    if op == ScalarOp::Or && self.terms.get(*then) == absorbs =>
                {
                    stack.extend([*otherwise, *condition]);
                }
                _ if found.contains(&term) => {}
                _ => found.push(term),
            }
        }
        found
    }

    /// Predicate, values and target subscripts.
    pub fn roots(&self) -> Vec<TermId> {
        let mut roots: Vec<TermId> = self.predicate.into_iter().collect();
        for target in &self.targets {
            roots.push(target.value);
            roots.extend(&target.subscripts);
        }
        roots
    }

    /// Whether the formula reads the current elements of an output.
    pub fn reads_destination(&self) -> bool {
        self.accesses(&self.roots())
            .iter()
            .any(|(_, tensor, _)| self.tensors.get(*tensor).is_some_and(|t| t.destination.is_some()))
    }
}

#[cfg(test)]
pub(crate) mod samples {
    //! Builds nests for tests.

    use super::*;

    /// Collects terms.
    pub(crate) struct Builder {
        pub nest: Nest,
    }

    impl Builder {
        pub(crate) fn new(kind: Accumulation, extents: &[impl Copy + Into<Extent>]) -> Self {
            Builder {
                nest: Nest {
                    extents: extents.iter().map(|extent| (*extent).into()).collect(),
                    kind,
                    predicate: None,
                    targets: Vec::new(),
                    tensors: Vec::new(),
                    terms: Vec::new(),
                },
            }
        }

        pub(crate) fn term(&mut self, term: Term) -> TermId {
            self.nest.terms.push(term);
            self.nest.terms.len() - 1
        }

        pub(crate) fn int(&mut self, value: i64) -> TermId {
            self.term(Term::Int(value))
        }

        pub(crate) fn index(&mut self, position: usize) -> TermId {
            self.term(Term::Index(position))
        }

        pub(crate) fn ints(&mut self, op: ScalarOp, x: TermId, y: TermId) -> TermId {
            self.term(Term::Apply { op, kind: ScalarKind::Int, operands: vec![x, y] })
        }

        pub(crate) fn reals(&mut self, op: ScalarOp, x: TermId, y: TermId) -> TermId {
            self.term(Term::Apply { op, kind: ScalarKind::Real, operands: vec![x, y] })
        }

        pub(crate) fn both(&mut self, x: TermId, y: TermId) -> TermId {
            self.term(Term::Apply { op: ScalarOp::And, kind: ScalarKind::Bool, operands: vec![x, y] })
        }

        /// `scale·d[i] + step·d[j] + offset`
        pub(crate) fn window(&mut self, i: usize, scale: i64, j: usize, step: i64, offset: i64) -> TermId {
            let (i, j) = (self.index(i), self.index(j));
            let (scale, step, offset) = (self.int(scale), self.int(step), self.int(offset));
            let (a, b) = (self.ints(ScalarOp::Mul, i, scale), self.ints(ScalarOp::Mul, j, step));
            let sum = self.ints(ScalarOp::Add, a, b);
            self.ints(ScalarOp::Add, sum, offset)
        }

        pub(crate) fn access(&mut self, extents: &[i64], subscripts: &[TermId]) -> TermId {
            self.nest.tensors.push(NestTensor {
                extents: extents.iter().copied().map(Extent::from).collect(),
                destination: None,
            });
            self.term(Term::Access { tensor: self.nest.tensors.len() - 1, subscripts: subscripts.to_vec() })
        }

        pub(crate) fn target(mut self, extents: &[i64], subscripts: &[TermId], value: TermId) -> Nest {
            self.nest.targets.push(NestTarget {
                extents: extents.iter().copied().map(Extent::from).collect(),
                subscripts: subscripts.to_vec(),
                value,
            });
            self.nest
        }

        /// `0 ≤ x < extent`
        pub(crate) fn within(&mut self, x: TermId, extent: i64) -> TermId {
            let (zero, end) = (self.int(0), self.int(extent));
            let low = self.ints(ScalarOp::Ge, x, zero);
            let high = self.ints(ScalarOp::Lt, x, end);
            self.both(low, high)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::samples::Builder;
    use super::*;

    #[test]
    fn a_clamp_that_changes_nothing_is_seen_through() {
        let mut b = Builder::new(Accumulation::Assign, &[8]);
        let (i, last, beyond) = (b.index(0), b.int(7), b.int(6));
        let harmless = b.ints(ScalarOp::Min, i, last);
        let real_clamp = b.ints(ScalarOp::Min, i, beyond);
        assert_eq!(b.nest.affine(harmless), Some(Affine::index(0)));
        assert_eq!(b.nest.affine(real_clamp), None);
    }

    #[test]
    fn rounding_up_divides_like_the_language() {
        let mut b = Builder::new(Accumulation::Assign, &[8]);
        let (i, two) = (b.index(0), b.int(2));
        let halves = b.ints(ScalarOp::CeilDiv, i, two);
        let form = b.nest.affine(halves).unwrap();
        let values: Vec<_> = (0..5).map(|i| form.evaluate(&[i]).unwrap()).collect();
        assert_eq!(values, [0, 1, 1, 2, 2]);
    }

    #[test]
    fn an_index_of_extent_one_is_zero() {
        let mut b = Builder::new(Accumulation::Assign, &[1, 4]);
        let subscript = b.window(0, 4, 1, 1, 0);
        assert_eq!(b.nest.affine(subscript), Some(Affine::index(1)));
    }
}
