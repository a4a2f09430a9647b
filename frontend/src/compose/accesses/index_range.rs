// SPDX-License-Identifier: Apache-2.0
//! Minimum and maximum of an index over the loops of a formula, as expressions over dynamic extents.

use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::ops::{Add as _, Sub as _};

use crate::eval::ranges::{Interval, Known, Work, extent_expr};
use crate::eval::runtime;
use crate::eval::sum::Sum;
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, Extent, FormulaIndex, Node};

/// A closed interval between ints over dynamic extents.
pub(crate) type Ends = (Expr, Expr);

/// The maximum nesting of selects and products that are analysed.
const MAX_DEPTH: usize = 16;
/// The maximum size of the expression of a bound.
const MAX_NODES: usize = 256;

/// The loops of a formula, none of which is empty.
pub(crate) struct Loops<'a> {
    pub indices: &'a [FormulaIndex],
    /// Sums of extents that are not negative.
    pub facts: &'a [Sum],
    pub work: &'a Work,
}

/// A sum of indices, each with a factor over extents, and of a term that depends only on extents.
struct Linear {
    terms: Vec<(usize, Expr)>,
    offset: Sum,
}

/// A bound of an index that an enclosing condition implies.
struct Limit<'e> {
    index: &'e Expr,
    at_least: Option<Expr>,
    at_most: Option<Expr>,
}

/// The assumptions on which the bounds of an index depend.
#[derive(Default)]
struct Around<'e> {
    limits: Vec<Limit<'e>>,
    /// Divisors that must be positive.
    positive: Vec<Expr>,
}

impl Loops<'_> {
    /// Bounds that some steps attain: for an index that is a sum of quotients and of linear terms in loop indices.
    pub(crate) fn exact(&self, index: &Expr) -> Option<Ends> {
        self.exact_within(index, MAX_DEPTH)
    }

    fn exact_within(&self, index: &Expr, depth: usize) -> Option<Ends> {
        if let Some(ends) = self.linear(index) {
            return Some(ends);
        }
        let depth = depth.checked_sub(1)?;
        if let Node::Apply { op: op @ (ScalarOp::Div | ScalarOp::CeilDiv), operands } = &index.node
            && let [a, b] = operands.as_slice()
            && self.is_positive(b)
        {
            // The quotient increases with the dividend.
            let (low, high) = self.exact_within(a, depth)?;
            return Some((divided(*op, low, b), divided(*op, high, b)));
        }
        let sum = Sum::from(index);
        let (plain, others) = sum.split(|term| linear(term, MAX_DEPTH).is_some());
        // Terms that share no index reach their minimum and maximum together.
        let mut seen = Vec::new();
        let plain = Expr::from(plain);
        for part in others.terms().map(|(term, _)| term).chain([&plain]) {
            let used = indices(part);
            if used.iter().any(|index| seen.contains(index)) {
                return None;
            }
            seen.extend(used);
        }
        let (low, high) = self.linear(&plain)?;
        let (mut low, mut high) = (Sum::from(&low), Sum::from(&high));
        for (term, factor) in others.terms() {
            if term == index {
                return None;
            }
            let (lowest, highest) = self.exact_within(term, depth)?;
            let (first, last) = if factor < 0 { (highest, lowest) } else { (lowest, highest) };
            low = low.add_scaled(&Sum::from(&first), factor);
            high = high.add_scaled(&Sum::from(&last), factor);
        }
        Some((low.into(), high.into()))
    }

    fn linear(&self, index: &Expr) -> Option<Ends> {
        let linear = linear(index, MAX_DEPTH)?;
        let mut low = linear.offset.clone();
        let mut high = linear.offset;
        for (position, factor) in linear.terms {
            let extent = extent_expr(&self.indices.get(position)?.extent);
            let last = Sum::from(&extent).plus(-1);
            let reach = product(&factor, &last.into());
            let zero = Expr::int(0);
            // The sign of a factor over extents may be known only at run time.
            let (lowest, highest) = match self.known().interval(&factor) {
                Interval { low: 0.., .. } => (zero, reach),
                Interval { high: ..=0, .. } => (reach, zero),
                _ => (self.minimum(&reach, &zero), self.maximum(&reach, &zero)),
            };
            low = low.add(&Sum::from(&lowest));
            high = high.add(&Sum::from(&highest));
        }
        Some((low.into(), high.into()))
    }

    /// Bounds of an index that it need not attain. They hold if the returned ints over extents are positive.
    pub(super) fn around(&self, index: &Expr) -> Option<(Ends, Vec<Expr>)> {
        let mut around = Around::default();
        let (low, high) = self.inside(index, &mut around, MAX_DEPTH)?;
        let is_small = low.size() + high.size() <= MAX_NODES;
        is_small.then_some(((low, high), around.positive))
    }

    fn inside<'e>(&self, index: &'e Expr, around: &mut Around<'e>, depth: usize) -> Option<Ends> {
        let depth = depth.checked_sub(1)?;
        let (mut low, mut high) = match self.exact(index) {
            Some(ends) => ends,
            None => self.sum(index, around, depth)?,
        };
        for limit in around.limits.iter().filter(|l| l.index == index) {
            if let Some(at_least) = &limit.at_least {
                low = self.maximum(&low, at_least);
            }
            if let Some(at_most) = &limit.at_most {
                high = self.minimum(&high, at_most);
            }
        }
        Some((low, high))
    }

    fn sum<'e>(&self, index: &'e Expr, around: &mut Around<'e>, depth: usize) -> Option<Ends> {
        if let Some(ends) = self.term(index, around, depth) {
            return Some(ends);
        }
        let sum = Sum::from(index);
        let mut low = Sum::constant(sum.offset());
        let mut high = low.clone();
        for (term, factor) in sum.terms() {
            // A term that is the full index has been examined.
            if term == index {
                return None;
            }
            // The limits apply only to the full index.
            let mut inner = Around::default();
            let (lowest, highest) = self.inside(term, &mut inner, depth)?;
            around.positive.append(&mut inner.positive);
            let (first, last) = if factor < 0 { (highest, lowest) } else { (lowest, highest) };
            low = low.add_scaled(&Sum::from(&first), factor);
            high = high.add_scaled(&Sum::from(&last), factor);
        }
        Some((low.into(), high.into()))
    }

    fn term<'e>(&self, index: &'e Expr, around: &mut Around<'e>, depth: usize) -> Option<Ends> {
        match &index.node {
            Node::Table { items, .. } => {
                let ints = items.iter().map(|item| match item {
                    Scalar::Int(item) => Some(*item),
                    _ => None,
                });
                let ints: Vec<i64> = ints.collect::<Option<_>>()?;
                let (low, high) = (ints.iter().min()?, ints.iter().max()?);
                Some((Expr::int(*low), Expr::int(*high)))
            }
            Node::Select { condition, then, otherwise } => {
                self.either((condition, then, otherwise), around, depth)
            }
            Node::Apply { op, operands } => match (op, operands.as_slice()) {
                (ScalarOp::Select, [condition, then, otherwise]) => {
                    self.either((condition, then, otherwise), around, depth)
                }
                (ScalarOp::Min, [a, b]) => {
                    let (a, b) = (self.inside(a, around, depth)?, self.inside(b, around, depth)?);
                    Some((self.minimum(&a.0, &b.0), self.minimum(&a.1, &b.1)))
                }
                (ScalarOp::Max, [a, b]) => {
                    let (a, b) = (self.inside(a, around, depth)?, self.inside(b, around, depth)?);
                    Some((self.maximum(&a.0, &b.0), self.maximum(&a.1, &b.1)))
                }
                (ScalarOp::Div | ScalarOp::CeilDiv, [a, b]) if is_shape_scalar(b) => {
                    self.is_positive_in(b, around);
                    let (low, high) = self.inside(a, around, depth)?;
                    Some((divided(*op, low, b), divided(*op, high, b)))
                }
                (ScalarOp::Mod, [a, b]) if is_shape_scalar(b) => {
                    self.is_positive_in(b, around);
                    let last = Sum::from(b).plus(-1).into();
                    let high = match self.inside(a, around, depth) {
                        Some((low, high)) if self.known().interval(&low).low >= 0 => {
                            self.minimum(&high, &last)
                        }
                        _ => last,
                    };
                    Some((Expr::int(0), high))
                }
                (ScalarOp::Mul, [a, b]) => {
                    let (a, b) = (self.inside(a, around, depth)?, self.inside(b, around, depth)?);
                    let corners =
                        [product(&a.0, &b.0), product(&a.0, &b.1), product(&a.1, &b.0), product(&a.1, &b.1)];
                    let [first, rest @ ..] = &corners;
                    let low = rest.iter().fold(first.clone(), |e, c| self.minimum(&e, c));
                    let high = rest.iter().fold(first.clone(), |e, c| self.maximum(&e, c));
                    Some((low, high))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The range of a select: the ranges of both sides, each limited by the condition.
    fn either<'e>(
        &self,
        (condition, then, otherwise): (&'e Expr, &'e Expr, &'e Expr),
        around: &mut Around<'e>,
        depth: usize,
    ) -> Option<Ends> {
        let mut side = |expr: &'e Expr, holds: bool| {
            let outside = around.limits.len();
            around.limits.extend(limit(condition, holds));
            let ends = self.inside(expr, around, depth);
            around.limits.truncate(outside);
            ends
        };
        let (a, b) = (side(then, true)?, side(otherwise, false)?);
        Some((self.minimum(&a.0, &b.0), self.maximum(&a.1, &b.1)))
    }

    /// The condition, or true if there are no steps.
    pub(crate) fn in_some_step(&self, condition: Expr) -> Expr {
        let mut dynamic: Vec<&Extent> = Vec::new();
        let extents = self.indices.iter().map(|index| &index.extent);
        for extent in extents.filter(|e| e.fixed().is_none()) {
            if !dynamic.contains(&extent) {
                dynamic.push(extent);
            }
        }
        dynamic.into_iter().fold(condition, |all, extent| {
            let none = runtime::compare(ScalarOp::Le, extent_expr(extent), Expr::int(0));
            match (runtime::bool_literal(&all), runtime::bool_literal(&none)) {
                (Some(true), _) | (_, Some(false)) => all,
                _ => Expr::apply(ScalarKind::Bool, ScalarOp::Or, vec![none, all]),
            }
        })
    }

    /// Records the assumption that a divisor is positive.
    fn is_positive_in(&self, divisor: &Expr, around: &mut Around) {
        if !self.is_positive(divisor) {
            around.positive.push(divisor.clone());
        }
    }

    fn is_positive(&self, expr: &Expr) -> bool {
        is_shape_scalar(expr) && self.known().interval(expr).low > 0
    }

    fn minimum(&self, a: &Expr, b: &Expr) -> Expr {
        self.one_of(ScalarOp::Min, a, b)
    }

    fn maximum(&self, a: &Expr, b: &Expr) -> Expr {
        self.one_of(ScalarOp::Max, a, b)
    }

    fn one_of(&self, op: ScalarOp, a: &Expr, b: &Expr) -> Expr {
        let difference = Sum::from(a).sub(&Sum::from(b)).into();
        let Interval { low, high } = self.known().interval(&difference);
        match op {
            ScalarOp::Min if high <= 0 => a.clone(),
            ScalarOp::Min if low >= 0 => b.clone(),
            ScalarOp::Max if low >= 0 => a.clone(),
            ScalarOp::Max if high <= 0 => b.clone(),
            _ => int(op, a.clone(), b.clone()),
        }
    }

    /// Facts about extents.
    pub(super) fn known(&self) -> Known<'_> {
        Known::new((&[], &[]), self.facts, self.work)
    }
}

/// The bound of an int on the left of a comparison with an expression over extents.
fn limit<'e>(condition: &'e Expr, holds: bool) -> Option<Limit<'e>> {
    let Node::Apply { op, operands } = &condition.node else {
        return None;
    };
    let [index, end] = operands.as_slice() else {
        return None;
    };
    if index.kind != ScalarKind::Int || !is_shape_scalar(end) {
        return None;
    }
    let beside = |n| Sum::from(end).add(&Sum::constant(n)).into();
    let (at_least, at_most) = match (op, holds) {
        (ScalarOp::Lt, true) | (ScalarOp::Ge, false) => (None, Some(beside(-1))),
        (ScalarOp::Ge, true) | (ScalarOp::Lt, false) => (Some(beside(0)), None),
        (ScalarOp::Le, true) | (ScalarOp::Gt, false) => (None, Some(beside(0))),
        (ScalarOp::Gt, true) | (ScalarOp::Le, false) => (Some(beside(1)), None),
        _ => return None,
    };
    Some(Limit { index, at_least, at_most })
}

fn linear(expr: &Expr, depth: usize) -> Option<Linear> {
    let depth = depth.checked_sub(1)?;
    let sum = Sum::from(expr);
    let mut result = Linear { terms: Vec::new(), offset: Sum::constant(sum.offset()) };
    for (term, factor) in sum.terms() {
        if let Node::Index(position) = term.node {
            result.add(position, &Expr::int(factor));
        } else if is_shape_scalar(term) {
            result.offset = result.offset.add_scaled(&Sum::from(term), factor);
        } else if let Node::Apply { op: ScalarOp::Mul, operands } = &term.node
            && let [a, b] = operands.as_slice()
        {
            let (scale, other) = match (is_shape_scalar(a), is_shape_scalar(b)) {
                (true, _) => (a, b),
                (_, true) => (b, a),
                _ => return None,
            };
            let scale = product(scale, &Expr::int(factor));
            let scaled = linear(other, depth)?;
            for (position, coefficient) in &scaled.terms {
                result.add(*position, &product(&scale, coefficient));
            }
            let offset = product(&scale, &scaled.offset.into());
            result.offset = result.offset.add(&Sum::from(&offset));
        } else {
            return None;
        }
    }
    Some(result)
}

impl Linear {
    fn add(&mut self, index: usize, factor: &Expr) {
        match self.terms.iter_mut().find(|(position, _)| *position == index) {
            Some((_, known)) => {
                *known = Sum::from(&*known).add(&Sum::from(factor)).into();
            }
            None => self.terms.push((index, factor.clone())),
        }
    }
}

/// The quotient of a bound.
fn divided(op: ScalarOp, end: Expr, divisor: &Expr) -> Expr {
    match (&end.node, &divisor.node) {
        (Node::Literal(a), Node::Literal(b)) => Expr::literal(op.eval(&[*a, *b])),
        _ => int(op, end, divisor.clone()),
    }
}

fn indices(expr: &Expr) -> Vec<usize> {
    let index = |expr: &Expr| match expr.node {
        Node::Index(index) => Some(index),
        _ => None,
    };
    expr.nested().into_iter().filter_map(index).collect()
}

fn product(a: &Expr, b: &Expr) -> Expr {
    match (&a.node, &b.node) {
        (Node::Literal(Scalar::Int(factor)), _) => Sum::from(b).scale(*factor).into(),
        (_, Node::Literal(Scalar::Int(factor))) => Sum::from(a).scale(*factor).into(),
        _ => int(ScalarOp::Mul, a.clone(), b.clone()),
    }
}

fn int(op: ScalarOp, a: Expr, b: Expr) -> Expr {
    Expr::apply(ScalarKind::Int, op, vec![a, b])
}
