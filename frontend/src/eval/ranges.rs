// SPDX-License-Identifier: Apache-2.0
//! Intervals of int expressions over the index space of a formula, refined by conditions.

use crate::eval::runtime::literal_bool;
use crate::eval::sum::{Sum, with_symbols};
use crate::meter::Meter;
use crate::model::{Expr, Extent, FormulaIndex, FormulaLocal, Node};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::cell::Cell;
use std::ops::Sub as _;

pub(crate) use skript_symbolic::Interval;

/// The facts at one point of a formula.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub indices: &'a [FormulaIndex],
    pub locals: &'a [FormulaLocal],
    /// Sums that are not negative at this point.
    facts: Facts<'a>,
    /// Ranges of the elements of int tensors.
    tensors: &'a [Option<Interval>],
    /// The number of chained uses of facts for this question: facts about terms of facts rarely help.
    depth: u8,
    work: &'a Work,
}

/// Nonnegative sums: those that the innermost condition implies, and those that the conditions around it imply.
#[derive(Clone, Copy)]
struct Facts<'a> {
    inner: &'a [Sum],
    outer: Option<&'a Facts<'a>>,
}

impl<'a> Facts<'a> {
    fn iter(self) -> impl Iterator<Item = &'a Sum> {
        let outer = std::iter::successors(self.outer, |facts| facts.outer);
        self.inner.iter().chain(outer.flat_map(|facts| facts.inner))
    }
}

/// The remaining budget for one question, and the work for all questions. Locals that use each other twice form trees of
/// exponential size, and facts about terms of facts as well: beyond the budget nothing is known.
pub(crate) struct Work {
    locals: Cell<usize>,
    intervals: Cell<usize>,
    total: Cell<usize>,
    /// The maximum of `total`.
    allowed: u64,
}

/// The maximum number of local values that one question may visit.
const MAX_LOCALS: usize = 1 << 6;

/// The maximum number of terms that one question may visit.
const MAX_TERMS: usize = 1 << 18;

/// The work of a few questions, each of which has its own budget.
impl Default for Work {
    fn default() -> Self {
        Work { locals: Cell::new(0), intervals: Cell::new(0), total: Cell::new(0), allowed: u64::MAX }
    }
}

impl Work {
    /// The work of many questions, which is charged to this meter afterwards: the charge fails if `allowed` is exceeded.
    pub(crate) fn within(meter: &Meter) -> Self {
        Work { allowed: meter.remaining(), ..Work::default() }
    }

    fn restart(&self) {
        self.locals.set(MAX_LOCALS);
        self.intervals.set(MAX_TERMS);
    }

    /// Visits local values; returns whether the budget allows it.
    pub(crate) fn spend(&self, locals: usize) -> bool {
        let left = self.locals.get();
        self.locals.set(left.saturating_sub(locals));
        locals <= left
    }

    /// Visits terms; returns whether the budget allows it.
    fn visit(&self, terms: usize) -> bool {
        self.total.set(self.total.get().saturating_add(terms));
        let left = self.intervals.get();
        self.intervals.set(left.saturating_sub(terms));
        terms <= left && self.total.get() as u64 <= self.allowed
    }

    /// The number of terms that all questions visited.
    pub(crate) fn total(&self) -> usize {
        self.total.get()
    }
}

/// The maximum number of chained uses of facts in one proof.
const FACT_DEPTH: u8 = 2;

/// The maximum of an int expression over dynamic extents, if it has one.
pub(crate) fn upper_bound(expr: &Expr) -> Option<u64> {
    let work = Work::default();
    let known = Known::new((&[], &[]), &[], &work);
    let high = known.interval(expr).high;
    (high < i64::MAX).then(|| high.max(0).unsigned_abs())
}

/// Whether a condition over dynamic extents is always true or always false; `None` if neither.
pub(crate) fn decided(condition: &Expr) -> Option<bool> {
    let work = Work::default();
    let known = Known::new((&[], &[]), &[], &work);
    let Node::Apply { op, operands } = &condition.node else {
        return match condition.node {
            Node::Literal(Scalar::Bool(value)) => Some(value),
            _ => None,
        };
    };
    match (op, operands.as_slice()) {
        (ScalarOp::Not, [a]) => decided(a).map(|a| !a),
        (ScalarOp::And, [a, b]) => match (decided(a), decided(b)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        },
        (ScalarOp::Or, [a, b]) => match (decided(a), decided(b)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        },
        (ScalarOp::Implies, [a, b]) => match (decided(a), decided(b)) {
            (Some(false), _) | (_, Some(true)) => Some(true),
            (Some(true), Some(false)) => Some(false),
            _ => None,
        },
        (_, [a, b]) if a.kind == ScalarKind::Int && b.kind == ScalarKind::Int => {
            let difference = Sum::from(a).sub(&Sum::from(b));
            let Interval { low, high } = known.interval(&difference.into());
            let ordered = |holds: bool, fails: bool| match (holds, fails) {
                (true, _) => Some(true),
                (_, true) => Some(false),
                _ => None,
            };
            match op {
                ScalarOp::Lt => ordered(high < 0, low >= 0),
                ScalarOp::Le => ordered(high <= 0, low > 0),
                ScalarOp::Gt => ordered(low > 0, high <= 0),
                ScalarOp::Ge => ordered(low >= 0, high < 0),
                ScalarOp::Eq => ordered(low == 0 && high == 0, low > 0 || high < 0),
                ScalarOp::Ne => ordered(low > 0 || high < 0, low == 0 && high == 0),
                _ => None,
            }
        }
        _ => None,
    }
}

/// An extent as an int.
pub(crate) fn signed(extent: u64) -> i64 {
    i64::try_from(extent).unwrap_or(i64::MAX)
}

/// An extent as an int expression.
pub(crate) fn extent_expr(extent: &Extent) -> Expr {
    match extent {
        Extent::Fixed(n) => Expr::int(signed(*n)),
        Extent::Dynamic { .. } => Expr { kind: ScalarKind::Int, node: Node::Extent(extent.clone()) },
    }
}

impl<'a> Known<'a> {
    /// A new question about a formula with these indices and locals.
    pub(crate) fn new(
        (indices, locals): (&'a [FormulaIndex], &'a [FormulaLocal]),
        facts: &'a [Sum],
        work: &'a Work,
    ) -> Self {
        work.restart();
        let facts = Facts { inner: facts, outer: None };
        Known { indices, locals, facts, tensors: &[], depth: 0, work }
    }

    pub(crate) fn with_tensors(self, tensors: &'a [Option<Interval>]) -> Self {
        Known { tensors, ..self }
    }
}

impl Known<'_> {
    /// Whether an index may be equal to the extent, or larger.
    pub(crate) fn may_reach(&self, index: &Expr, extent: &Extent) -> bool {
        if is_selection(index)
            && extent.fixed().is_none()
            && let [_, then, otherwise] = index.children().as_slice()
            && !is_selection(then)
            && !is_selection(otherwise)
        {
            return self.may_reach(then, extent) || self.may_reach(otherwise, extent);
        }
        let slack = Sum::from(&extent_expr(extent)).sub(&Sum::from(index)).plus(-1);
        let other = with_symbols(&slack);
        let mut low = self.interval(&slack.into()).low;
        if let (..0, Some(other)) = (low, other) {
            low = self.interval(&other.into()).low;
        }
        let high = self.interval(index).high;
        let fixed = extent.fixed().is_some_and(|n| high < signed(n));
        low < 0 && !fixed
    }

    pub(crate) fn interval(&self, expr: &Expr) -> Interval {
        let is_in = |fact: &Sum| fact.terms().any(|(term, _)| term == expr);
        // A chain of selections is large: it is not copied into sums.
        if is_selection(expr) && !self.facts.iter().any(is_in) {
            return self.facts.iter().fold(self.term(expr), |interval, fact| self.without(interval, fact));
        }
        let sum = Sum::from(expr);
        let mut interval = self.plain(&sum);
        if self.depth >= FACT_DEPTH {
            return interval;
        }
        let deeper = Known { depth: self.depth + 1, ..*self };
        for fact in self.facts.iter() {
            if sum.terms().all(|(term, _)| fact.coefficient(term) == 0) {
                interval = self.without(interval, fact);
                continue;
            }
            for factor in factors(&sum, fact) {
                // sum = factor·fact + remainder, and the fact is not negative.
                let remainder = deeper.plain(&sum.clone().add_scaled(fact, factor.wrapping_neg()));
                interval.low = interval.low.max(remainder.low);
                let remainder = deeper.plain(&sum.clone().add_scaled(fact, factor));
                interval.high = interval.high.min(remainder.high);
            }
        }
        interval
    }

    /// The interval of a sum that shares no term with a fact: such a fact is useful only if it contradicts other facts.
    fn without(&self, interval: Interval, fact: &Sum) -> Interval {
        if self.depth >= FACT_DEPTH {
            return interval;
        }
        let Interval { high, .. } = Known { depth: self.depth + 1, ..*self }.plain(fact);
        if high >= 0 || interval.low == i64::MIN || interval.high == i64::MAX {
            return interval;
        }
        Interval { low: interval.low.saturating_sub(high), high: interval.high.saturating_add(high) }
    }

    /// All ints if the sum may wrap around.
    fn plain(&self, sum: &Sum) -> Interval {
        if !self.work.visit(1 + sum.terms().count()) {
            return Interval::ALL;
        }
        sum.interval(|term| self.term(term)).unwrap_or(Interval::ALL)
    }

    fn term(&self, expr: &Expr) -> Interval {
        match &expr.node {
            Node::Literal(Scalar::Int(value)) => Interval::point(*value),
            Node::Index(position) => match self.indices.get(*position) {
                Some(index) => Interval { low: 0, high: (signed(index.extent.bound()) - 1).max(0) },
                None => Interval::ALL,
            },
            Node::Extent(extent) => Interval { low: 0, high: signed(extent.bound()) },
            Node::Access { tensor, .. } => {
                let known = self.tensors.get(tensor.0 as usize).copied();
                known.flatten().unwrap_or(Interval::ALL)
            }
            Node::Local(position) => match self.locals.get(*position) {
                Some(local) if local.value.kind == ScalarKind::Int && self.work.spend(1) => {
                    self.interval(&local.value)
                }
                _ => Interval::ALL,
            },
            Node::Table { items, .. } => items
                .iter()
                .map(|item| match item {
                    Scalar::Int(value) => Interval::point(*value),
                    _ => Interval::ALL,
                })
                .reduce(Interval::hull)
                .unwrap_or(Interval::ALL),
            Node::Select { condition, then, otherwise } => self.either(condition, then, otherwise),
            Node::Apply { op, operands } => self.operation(*op, operands),
            _ => Interval::ALL,
        }
    }

    fn either(&self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Interval {
        let under = |holds: bool, expr: &Expr| {
            let mut inner = Vec::new();
            collect_facts(condition, holds, &mut inner);
            let facts = Facts { inner: &inner, outer: Some(&self.facts) };
            Known { facts, ..*self }.interval(expr)
        };
        let (a, b) = (under(true, then), under(false, otherwise));
        // A branch with a contradictory condition is never executed.
        match (a.is_empty(), b.is_empty()) {
            (true, false) => b,
            (false, true) => a,
            _ => a.hull(b),
        }
    }

    fn operation(&self, op: ScalarOp, operands: &[Expr]) -> Interval {
        let of = |expr: &Expr| self.interval(expr);
        let interval = match (op, operands) {
            (ScalarOp::Min, [a, b]) => Some(of(a).min(of(b))),
            (ScalarOp::Max, [a, b]) => Some(of(a).max(of(b))),
            (ScalarOp::Div, [a, b]) => of(a).quotient(of(b)),
            (ScalarOp::CeilDiv, [a, b]) => of(a).ceil_quotient(of(b)),
            (ScalarOp::Mod, [a, b]) => of(a).remainder(of(b)),
            (ScalarOp::Pow, [a, b]) if a.kind == ScalarKind::Int => of(a).power(of(b)),
            (ScalarOp::Mul, [a, b]) => of(a).times(of(b)),
            (ScalarOp::Abs, [a]) => of(a).abs(),
            (ScalarOp::Sign, _) => Some(Interval { low: -1, high: 1 }),
            (ScalarOp::ToInt, [a]) if a.kind == ScalarKind::Bool => Some(Interval { low: 0, high: 1 }),
            // The conversion to int is monotonic.
            (ScalarOp::ToInt, [a]) if a.kind == ScalarKind::Real => self.reals(a).map(|(low, high)| {
                Interval { low: Scalar::Real(low).to_int(), high: Scalar::Real(high).to_int() }
            }),
            (ScalarOp::Select, [condition, then, otherwise]) => Some(self.either(condition, then, otherwise)),
            _ => None,
        };
        interval.unwrap_or(Interval::ALL)
    }
}

impl Known<'_> {
    /// The interval of a real, if it is known. All operations round monotonically, so bounds map to bounds.
    fn reals(&self, expr: &Expr) -> Option<(f64, f64)> {
        use ScalarOp::{Add, Ceil, CeilDiv, Div, Floor, Max, Min, Mul, Neg, Round, Sqrt, Sub, ToReal};
        let (op, operands) = match &expr.node {
            Node::Literal(Scalar::Real(value)) if !value.is_nan() => return Some((*value, *value)),
            Node::Apply { op, operands } => (*op, operands.as_slice()),
            _ => return None,
        };
        let at = |x: f64, y: f64| op.eval(&[Scalar::Real(x), Scalar::Real(y)]).to_real();
        let ends = match (op, operands) {
            (ToReal, [a]) if a.kind == ScalarKind::Int => {
                let ints = Some(self.interval(a)).filter(|ints| *ints != Interval::ALL)?;
                vec![Scalar::Int(ints.low).to_real(), Scalar::Int(ints.high).to_real()]
            }
            (Floor | Ceil | Round | Neg | Sqrt, [a]) => {
                let (low, high) = self.reals(a)?;
                [low, high].map(|x| op.eval(&[Scalar::Real(x)]).to_real()).to_vec()
            }
            (Add | Sub | Mul | Min | Max | Div | CeilDiv, [a, b]) => {
                let (a, b) = (self.reals(a)?, self.reals(b)?);
                if matches!(op, Div | CeilDiv) && b.0 <= 0.0 && b.1 >= 0.0 {
                    return None;
                }
                vec![at(a.0, b.0), at(a.0, b.1), at(a.1, b.0), at(a.1, b.1)]
            }
            _ => return None,
        };
        if ends.iter().any(|x| x.is_nan()) {
            return None;
        }
        let low = ends.iter().copied().fold(f64::INFINITY, f64::min);
        let high = ends.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Some((low, high))
    }
}

/// Facts of loops over dynamic extents: indices are below their extents.
pub(crate) fn box_facts(indices: &[FormulaIndex]) -> Vec<Sum> {
    let dynamic = indices.iter().enumerate().filter(|(_, index)| index.extent.fixed().is_none());
    let facts = dynamic.flat_map(|(position, index)| {
        let fact = Sum::from(&extent_expr(&index.extent)).sub(&Sum::from(&Expr::index(position))).plus(-1);
        let other = with_symbols(&fact);
        std::iter::once(fact).chain(other)
    });
    facts.collect()
}

fn is_selection(expr: &Expr) -> bool {
    matches!(expr.node, Node::Select { .. } | Node::Apply { op: ScalarOp::Select, .. })
}

/// The factors by which a fact is useful in a sum: one, and those for which a term cancels.
fn factors(sum: &Sum, fact: &Sum) -> Vec<i64> {
    let mut factors = vec![1];
    for (term, coefficient) in sum.terms() {
        let divisor = fact.coefficient(term);
        if divisor != 0 && coefficient.wrapping_rem(divisor) == 0 {
            let factor = coefficient.wrapping_div(divisor).wrapping_abs();
            if factor > 0 && !factors.contains(&factor) {
                factors.push(factor);
            }
        }
    }
    factors
}

/// Adds the facts that follow if `condition` has the value `holds`.
pub(crate) fn collect_facts(condition: &Expr, holds: bool, facts: &mut Vec<Sum>) {
    match &condition.node {
        Node::Apply { op, operands } => match (op, operands.as_slice(), holds) {
            (ScalarOp::Not, [a], _) => collect_facts(a, !holds, facts),
            (ScalarOp::And, [a, b], true) | (ScalarOp::Or, [a, b], false) => {
                collect_facts(a, holds, facts);
                collect_facts(b, holds, facts);
            }
            (_, [a, b], _) if a.kind == ScalarKind::Int && b.kind == ScalarKind::Int => {
                let difference = |x: &Expr, y: &Expr| Sum::from(x).sub(&Sum::from(y));
                let less = |x: &Expr, y: &Expr| difference(y, x).plus(-1);
                match (op, holds) {
                    (ScalarOp::Ge, true) | (ScalarOp::Lt, false) => facts.push(difference(a, b)),
                    (ScalarOp::Le, true) | (ScalarOp::Gt, false) => facts.push(difference(b, a)),
                    (ScalarOp::Lt, true) | (ScalarOp::Ge, false) => facts.push(less(a, b)),
                    (ScalarOp::Gt, true) | (ScalarOp::Le, false) => facts.push(less(b, a)),
                    (ScalarOp::Eq, true) | (ScalarOp::Ne, false) => {
                        facts.push(difference(a, b));
                        facts.push(difference(b, a));
                    }
                    _ => {}
                }
            }
            _ => {}
        },
        Node::Select { condition, then, otherwise }
            if holds && *otherwise.as_ref() == literal_bool(false) =>
        {
            collect_facts(condition, true, facts);
            collect_facts(then, true, facts);
        }
        _ => {}
    }
}

/// Whether [`implied`] may find facts in a predicate.
pub(crate) fn may_imply(predicate: &Expr) -> bool {
    is_selection(predicate) || matches!(predicate.node, Node::Apply { op: ScalarOp::And, .. })
}

/// Conjuncts `c ? a : b` of the predicate imply facts about the branches of the same select elsewhere.
pub(crate) fn implied(
    predicate: &Expr,
    condition: &Expr,
    when_true: &mut Vec<Sum>,
    when_false: &mut Vec<Sum>,
) {
    match &predicate.node {
        Node::Apply { op: ScalarOp::And, operands } => {
            for operand in operands {
                implied(operand, condition, when_true, when_false);
            }
        }
        Node::Apply { op: ScalarOp::Select, operands } => {
            if let [c, a, b] = operands.as_slice()
                && c == condition
            {
                collect_facts(a, true, when_true);
                collect_facts(b, true, when_false);
            }
        }
        Node::Select { condition: c, then, otherwise } => {
            if c.as_ref() == condition {
                collect_facts(then, true, when_true);
                collect_facts(otherwise, true, when_false);
            } else if *otherwise.as_ref() == literal_bool(false) {
                implied(c, condition, when_true, when_false);
                implied(then, condition, when_true, when_false);
            }
        }
        _ => {}
    }
}
