// SPDX-License-Identifier: Apache-2.0
//! The number of points of a formula's domain that its guard admits.

use super::{Expr, Formula, Node};
use skript_semantics::{Scalar, ScalarOp};
use std::collections::BTreeSet;

/// The maximum number of enumerated points: conditions over larger domains are assumed to hold.
const MAX_POINTS: u64 = 1 << 18;

/// The number of points at which the guard holds. A dynamic extent of the domain counts as its upper bound; a condition
/// that reads tensors or dynamic extents counts as true. The number saturates.
pub(super) fn admitted(formula: &Formula) -> u64 {
    let bounds: Vec<u64> = formula.indices.iter().map(|i| i.extent.bound()).collect();
    let volume = |indices: &BTreeSet<usize>| {
        let extents = indices.iter().filter_map(|&i| bounds.get(i));
        extents.fold(1u64, |n, &extent| n.saturating_mul(extent))
    };
    let mut free: BTreeSet<usize> = (0..bounds.len()).collect();
    let mut points = 1u64;
    for group in groups(formula) {
        free.retain(|i| !group.indices.contains(i));
        let all = volume(&group.indices);
        let holding = if all <= MAX_POINTS { group.count(formula, &bounds) } else { all };
        points = points.saturating_mul(holding);
    }
    points.saturating_mul(volume(&free))
}

/// Conditions that share indices, directly or indirectly. Their points are enumerated together, independently of other
/// groups.
struct Group<'f> {
    indices: BTreeSet<usize>,
    conditions: Vec<&'f Expr>,
}

fn groups(formula: &Formula) -> Vec<Group<'_>> {
    let mut conditions = Vec::new();
    conjuncts(formula.predicate.as_ref(), &mut conditions);
    let mut groups: Vec<Group<'_>> = Vec::new();
    for condition in conditions {
        let mut indices = BTreeSet::new();
        if !reads_indices_alone(formula, condition, &mut indices) {
            continue;
        }
        let mut joined = Group { indices, conditions: vec![condition] };
        let (touching, apart) = groups.into_iter().partition(|g| !g.indices.is_disjoint(&joined.indices));
        groups = apart;
        for group in touching {
            joined.indices.extend(group.indices);
            joined.conditions.extend(group.conditions);
        }
        groups.push(joined);
    }
    groups
}

impl Group<'_> {
    fn count(&self, formula: &Formula, bounds: &[u64]) -> u64 {
        let mut point = vec![0i64; bounds.len()];
        let extent = |i: usize| bounds.get(i).and_then(|&n| i64::try_from(n).ok());
        if self.indices.iter().any(|&i| extent(i).is_none_or(|n| n == 0)) {
            return 0;
        }
        let mut count = 0;
        loop {
            let at = |index: usize| point.get(index).copied();
            let holds = |c: &&Expr| formula.value_at(c, &at) != Some(Scalar::Bool(false));
            count += u64::from(self.conditions.iter().all(holds));
            let mut carried = true;
            for &i in self.indices.iter().rev() {
                let Some(at) = point.get_mut(i) else { continue };
                *at += 1;
                carried = Some(*at) == extent(i);
                if !carried {
                    break;
                }
                *at = 0;
            }
            if carried {
                return count;
            }
        }
    }
}

fn conjuncts<'f>(predicate: Option<&'f Expr>, into: &mut Vec<&'f Expr>) {
    let mut left: Vec<&Expr> = predicate.into_iter().collect();
    while let Some(condition) = left.pop() {
        match &condition.node {
            Node::Apply { op: ScalarOp::And, operands } => left.extend(operands),
            // `a && b` where b is evaluated only if a holds.
            Node::Select { condition, then, otherwise }
                if otherwise.node == Node::Literal(Scalar::Bool(false)) =>
            {
                left.extend([condition.as_ref(), then.as_ref()]);
            }
            _ => into.push(condition),
        }
    }
}

/// Whether an expression reads no tensor; collects the indices that it reads.
fn reads_indices_alone(formula: &Formula, expr: &Expr, indices: &mut BTreeSet<usize>) -> bool {
    match &expr.node {
        Node::Access { .. } => return false,
        Node::Index(i) => {
            indices.insert(*i);
        }
        Node::Local(i) => {
            let local = formula.locals.get(*i);
            return local.is_none_or(|l| reads_indices_alone(formula, &l.value, indices));
        }
        _ => {}
    }
    let children = expr.children();
    children.into_iter().all(|child| reads_indices_alone(formula, child, indices))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Accumulation, Extent, FormulaIndex, ValueId};
    use crate::source::{FileId, Span};
    use skript_semantics::ScalarKind::{Bool, Int};

    fn apply(kind: skript_semantics::ScalarKind, op: ScalarOp, a: Expr, b: Expr) -> Expr {
        Expr::apply(kind, op, vec![a, b])
    }

    fn formula(extents: &[u64], predicate: Option<Expr>) -> Formula {
        let index = |(i, &n): (usize, &u64)| FormulaIndex { name: format!("i{i}"), extent: Extent::Fixed(n) };
        Formula {
            indices: extents.iter().enumerate().map(index).collect(),
            locals: vec![],
            predicate,
            kind: Accumulation::Sum,
            targets: vec![],
            findings: Vec::new(),
            span: Span::new(FileId(0), 0, 0),
        }
    }

    /// `(i - j) % 2 == 0`.
    fn even_distance(i: usize, j: usize) -> Expr {
        let distance = apply(Int, ScalarOp::Sub, Expr::index(i), Expr::index(j));
        let remainder = apply(Int, ScalarOp::Mod, distance, Expr::int(2));
        apply(Bool, ScalarOp::Eq, remainder, Expr::int(0))
    }

    #[test]
    fn strides_leave_points_out() {
        // Of 5 × 3 points, 3 × 2 are both even and 2 × 1 both odd.
        let guarded = formula(&[7, 5, 3], Some(even_distance(1, 2)));
        assert_eq!(admitted(&guarded), 7 * 8);
        assert_eq!(admitted(&formula(&[7, 5, 3], None)), 7 * 5 * 3);
    }

    #[test]
    fn conditions_that_share_indices_are_counted_together() {
        // i, j and k all even or all odd: 3 · 2 · 1 + 2 · 1 · 1; the other pair by itself.
        let chain = apply(Bool, ScalarOp::And, even_distance(0, 1), even_distance(1, 2));
        let all = apply(Bool, ScalarOp::And, chain, even_distance(3, 4));
        assert_eq!(admitted(&formula(&[5, 3, 2, 5, 3], Some(all))), 8 * 8);
    }

    #[test]
    fn tensors_and_large_domains_are_taken_to_hold() {
        let read =
            Expr { kind: Bool, node: Node::Access { tensor: ValueId(0), subscripts: vec![Expr::index(0)] } };
        assert_eq!(admitted(&formula(&[5, 3], Some(read))), 15);
        let large = 1u64 << 40;
        let guarded = formula(&[large, large], Some(even_distance(0, 1)));
        assert_eq!(admitted(&guarded), u64::MAX);
        assert_eq!(admitted(&formula(&[0, 3], Some(even_distance(0, 1)))), 0);
    }
}
