// SPDX-License-Identifier: Apache-2.0
//! Recognizes formulas that sum products of two tensors, and the output channels of their operands.

use std::collections::BTreeSet;

use skript_frontend::model::{Accumulation, Body, Expr, Formula, Function, Node, ValueId};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

/// An operand of a sum of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// A tensor of the function.
    pub tensor: ValueId,
    /// The dimension whose index determines an index of the result, and occurs in no subscript of the other operand if possible.
    pub channel: Option<usize>,
}

/// Both operands of each sum of products of a function.
pub fn sums_of_products(function: &Function) -> Vec<[Operand; 2]> {
    let Body::Formulas(formulas) = &function.body else {
        return Vec::new();
    };
    formulas.iter().filter_map(operands).collect()
}

fn operands(formula: &Formula) -> Option<[Operand; 2]> {
    let [target] = formula.targets.as_slice() else {
        return None;
    };
    if formula.kind != Accumulation::Sum || target.value.kind != ScalarKind::Real {
        return None;
    }
    let mut factors = Vec::new();
    collect_factors(formula, &target.value, &mut factors)?;
    let [first, second] = factors.as_slice() else {
        return None;
    };
    let kept: BTreeSet<usize> = target.subscripts.iter().flat_map(|s| indices(formula, s)).collect();
    let [first_indices, second_indices] = [first, second]
        .map(|(_, subscripts)| subscripts.iter().map(|s| indices(formula, s)).collect::<Vec<_>>());
    let is_reduced = |index: &usize| !kept.contains(index);
    if !first_indices.iter().chain(&second_indices).flatten().any(is_reduced) {
        return None;
    }
    Some([
        Operand { tensor: first.0, channel: channel(&first_indices, &second_indices, &kept) },
        Operand { tensor: second.0, channel: channel(&second_indices, &first_indices, &kept) },
    ])
}

/// The dimension with a subscript over indices of the result only; first one whose indices the other operand does not use.
fn channel(own: &[BTreeSet<usize>], other: &[BTreeSet<usize>], kept: &BTreeSet<usize>) -> Option<usize> {
    let is_output = |dimension: &BTreeSet<usize>| !dimension.is_empty() && dimension.is_subset(kept);
    let is_own = |dimension: &BTreeSet<usize>| other.iter().all(|indices| indices.is_disjoint(dimension));
    let exclusive = own.iter().position(|dimension| is_output(dimension) && is_own(dimension));
    exclusive.or_else(|| own.iter().position(is_output))
}

type Factor<'f> = (ValueId, &'f [Expr]);

/// Adds the elements that a value multiplies. `None` if the value contains other operations or more than two elements. A guard that
/// selects zero is ignored.
fn collect_factors<'f>(formula: &'f Formula, value: &'f Expr, factors: &mut Vec<Factor<'f>>) -> Option<()> {
    match &value.node {
        Node::Access { tensor, subscripts } if factors.len() < 2 => factors.push((*tensor, subscripts)),
        Node::Local(position) => {
            collect_factors(formula, &formula.locals.get(*position)?.value, factors)?;
        }
        Node::Apply { op: ScalarOp::Mul, operands } => {
            for operand in operands {
                collect_factors(formula, operand, factors)?;
            }
        }
        Node::Select { then, otherwise, .. } if is_zero(otherwise) => {
            collect_factors(formula, then, factors)?;
        }
        _ => return None,
    }
    Some(())
}

fn is_zero(expr: &Expr) -> bool {
    matches!(expr.node, Node::Literal(Scalar::Real(value)) if value == 0.0)
}

/// The indices that an expression depends on, without those that have only one value.
fn indices(formula: &Formula, expr: &Expr) -> BTreeSet<usize> {
    let (mut used, mut locals) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![expr];
    while let Some(expr) = open.pop() {
        match &expr.node {
            Node::Index(index) => {
                let extent = formula.indices.get(*index).and_then(|i| i.extent.fixed());
                if extent != Some(1) {
                    used.insert(*index);
                }
            }
            Node::Local(position) if locals.insert(*position) => {
                open.extend(formula.locals.get(*position).map(|local| &local.value));
            }
            Node::Local(_) => {}
            _ => open.extend(expr.children()),
        }
    }
    used
}
