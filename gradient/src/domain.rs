// SPDX-License-Identifier: Apache-2.0
//! The steps of a formula: which indices select the element that a step writes, and which number the steps of one element.

use crate::expr::{apply, substituted};
use crate::extents::size;
use skript_frontend::model::{Expr, Extent, Formula, FormulaIndex, FormulaLocal, Node, Target};
use skript_semantics::{Scalar, ScalarOp};

/// The indices that number the steps that write one element.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Their positions among the indices of the formula.
    pub positions: Vec<usize>,
    /// Whether the other indices determine the element, and are determined by it.
    pub is_reduction: bool,
    extents: Vec<Extent>,
}

impl Steps {
    /// The reduced indices of a target whose subscripts are distinct indices and literals; else all indices of the formula.
    pub fn new(formula: &Formula, target: &Target) -> Self {
        let indices = 0..formula.indices.len();
        let bare = bare_indices(target);
        let is_reduction = bare.is_some();
        let positions: Vec<usize> = match bare {
            Some(bare) => indices.filter(|index| !bare.contains(index)).collect(),
            None => indices.collect(),
        };
        let extents =
            positions.iter().filter_map(|at| Some(formula.indices.get(*at)?.extent.clone())).collect();
        Steps { positions, is_reduction, extents }
    }

    /// The row-major number of a step among them, from these values of the indices.
    pub fn number(&self, index: &dyn Fn(usize) -> Expr) -> Expr {
        let mut number = Expr::int(0);
        for (at, extent) in self.positions.iter().zip(&self.extents) {
            let scaled = multiple(number, size(extent));
            number = match scaled.node {
                Node::Literal(Scalar::Int(0)) => index(*at),
                _ => apply(ScalarOp::Add, vec![scaled, index(*at)]),
            };
        }
        number
    }

    /// The values of the indices at the step with a number, by position.
    pub fn indices_of(&self, number: &Expr) -> Vec<(usize, Expr)> {
        let mut stride = Expr::int(1);
        let mut values = Vec::new();
        for (rank, (at, extent)) in self.positions.iter().zip(&self.extents).enumerate().rev() {
            let quotient = match stride.node {
                Node::Literal(Scalar::Int(1)) => number.clone(),
                _ => apply(ScalarOp::Div, vec![number.clone(), stride.clone()]),
            };
            let value = match rank {
                0 => quotient,
                _ => apply(ScalarOp::Mod, vec![quotient, size(extent)]),
            };
            values.push((*at, value));
            // An empty tensor has no steps.
            stride = match (&stride.node, extent) {
                (_, Extent::Fixed(0)) => stride,
                (Node::Literal(Scalar::Int(1)), _) => size(extent),
                _ => apply(ScalarOp::Mul, vec![stride, size(extent)]),
            };
        }
        values
    }
}

fn multiple(number: Expr, factor: Expr) -> Expr {
    match number.node {
        Node::Literal(Scalar::Int(0)) => number,
        _ => apply(ScalarOp::Mul, vec![number, factor]),
    }
}

/// An extent as an int; composition bounds the elements of tensors far below.
pub fn signed(extent: u64) -> i64 {
    extent.min(i64::MAX.cast_unsigned()).cast_signed()
}

/// The indices that are the subscripts of a target, if these are distinct indices and literals.
fn bare_indices(target: &Target) -> Option<Vec<usize>> {
    let mut bare = Vec::new();
    for subscript in &target.subscripts {
        match subscript.node {
            Node::Index(at) if !bare.contains(&at) => bare.push(at),
            Node::Literal(_) => {}
            _ => return None,
        }
    }
    Some(bare)
}

/// Whether no two steps have equal subscripts.
pub fn is_injective(subscripts: &[Expr], indices: &[FormulaIndex]) -> bool {
    let mut covered = vec![false; indices.len()];
    for subscript in subscripts {
        if let Some(form) = affine(subscript, indices.len())
            && is_mixed_radix(&form.terms, indices)
        {
            for (at, _) in form.terms {
                if let Some(covered) = covered.get_mut(at) {
                    *covered = true;
                }
            }
        }
    }
    let mut extents = indices.iter().map(|index| index.extent.bound());
    covered.into_iter().all(|covered| {
        let extent = extents.next();
        covered || extent == Some(1)
    })
}

/// Whether a sum of multiples has a different value for all values of its indices.
fn is_mixed_radix(terms: &[(usize, i64)], indices: &[FormulaIndex]) -> bool {
    let mut sorted: Vec<(i64, u64)> = Vec::new();
    for (at, factor) in terms {
        let Some(index) = indices.get(*at) else { return false };
        sorted.push((factor.saturating_abs(), index.extent.bound()));
    }
    sorted.sort_unstable();
    let mut reach = 0_i64;
    for (factor, extent) in sorted {
        if factor <= reach {
            return false;
        }
        reach = reach.saturating_add(factor.saturating_mul(signed(extent).saturating_sub(1)));
    }
    true
}

/// A sum of multiples of indices and a constant.
#[derive(Debug, Default)]
pub struct Affine {
    /// The indices, each once, with their factors.
    pub terms: Vec<(usize, i64)>,
    /// The constant.
    pub constant: i64,
}

/// The affine form of a subscript over `count` indices.
pub fn affine(expr: &Expr, count: usize) -> Option<Affine> {
    let mut form = Affine::default();
    collect(expr, 1, count, &mut form)?;
    Some(form)
}

fn collect(expr: &Expr, factor: i64, count: usize, form: &mut Affine) -> Option<()> {
    match &expr.node {
        Node::Literal(Scalar::Int(value)) => {
            form.constant = form.constant.checked_add(factor.checked_mul(*value)?)?;
            Some(())
        }
        Node::Index(at) if *at < count => {
            match form.terms.iter_mut().find(|(other, _)| other == at) {
                Some((_, sum)) => *sum = sum.checked_add(factor)?,
                None => form.terms.push((*at, factor)),
            }
            Some(())
        }
        Node::Apply { op, operands } => match (op, operands.as_slice()) {
            (ScalarOp::Add, [a, b]) => {
                collect(a, factor, count, form)?;
                collect(b, factor, count, form)
            }
            (ScalarOp::Sub, [a, b]) => {
                collect(a, factor, count, form)?;
                collect(b, factor.checked_neg()?, count, form)
            }
            (ScalarOp::Neg, [a]) => collect(a, factor.checked_neg()?, count, form),
            (ScalarOp::Mul, [a, b]) => match (&a.node, &b.node) {
                (Node::Literal(Scalar::Int(by)), _) => collect(b, factor.checked_mul(*by)?, count, form),
                (_, Node::Literal(Scalar::Int(by))) => collect(a, factor.checked_mul(*by)?, count, form),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Expressions of a formula at other values of its indices: copies of its locals, and the value and the predicate over them.
#[derive(Debug)]
pub struct Moved {
    /// The copies of the locals, to append to those of the formula.
    pub locals: Vec<FormulaLocal>,
    /// The value of the target.
    pub value: Expr,
    /// The predicate.
    pub predicate: Option<Expr>,
}

impl Moved {
    /// The expressions with `index` in place of an index where it returns one. `offset` is the number of locals in front.
    pub fn new(
        formula: &Formula,
        target: &Target,
        offset: usize,
        index: &dyn Fn(usize) -> Option<Expr>,
    ) -> Self {
        let moved = |expr: &Expr| {
            substituted(expr, &|part| match part.node {
                Node::Index(at) => index(at),
                Node::Local(at) => Some(Expr { kind: part.kind, node: Node::Local(at + offset) }),
                _ => None,
            })
        };
        let local = |local: &FormulaLocal| FormulaLocal {
            name: format!("{}_other", local.name),
            value: moved(&local.value),
        };
        Moved {
            locals: formula.locals.iter().map(local).collect(),
            value: moved(&target.value),
            predicate: formula.predicate.as_ref().map(moved),
        }
    }
}
