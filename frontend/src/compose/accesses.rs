// SPDX-License-Identifier: Apache-2.0
//! Accesses that are not proven in bounds (2.12).
//!
//! An index that depends on data follows the documented rule: a read uses the nearest element, a write is dropped. An index
//! that depends only on extents, attributes and loops must be in bounds: composition reports an error if all of these are
//! static, else there is a run-time check. If a condition over extents is exact, it is tested when the function begins. If
//! not, because an index is not linear or the access is conditional, a formula before it searches for an out-of-bounds step.

pub(super) mod bounds;
mod dependence;
mod enumeration;
pub(crate) mod index_range;
mod remapping;
mod search;
pub(crate) mod step_conditions;
mod walk;

use self::dependence::{Dependence, Local, dependence, inlined, locals};
use self::enumeration::{Points, Question, Verdict, depends_on_reals};
use self::index_range::Loops;
use self::remapping::remapped;
use self::search::Search;
use self::step_conditions::{Inside, reads_own};
use self::walk::{Access, Condition};
use crate::diagnostics::codes::{ACCESS_OUT_OF_RANGE, LIMIT_EXCEEDED};
use crate::eval::ranges::{Known, Work, box_facts, collect_facts, decided, extent_expr, implied, may_imply};
use crate::eval::runtime::literal_bool;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::sum::Sum;
use crate::eval::{Accessed, Demand, runtime};
use crate::limits::Limits;
use crate::model::{Expr, Extent, Formula, MessagePart, Value, ValueId};
use crate::source::Span;
use skript_semantics::{ScalarKind, ScalarOp};
use std::collections::BTreeSet;

/// The run-time checks of the accesses of a formula.
#[derive(Default)]
pub(crate) struct Tests {
    /// Tested at the beginning of the function.
    pub(crate) demands: Vec<Demand>,
    /// Formulas before the formula. Their targets have no tensors yet.
    pub searches: Vec<Formula>,
    /// Tested in the steps of the formula.
    pub inside: Vec<Inside>,
}

/// Source spans of the accesses of a formula.
pub(crate) struct Spans<'a> {
    pub(crate) accessed: &'a [Accessed],
    pub target: Span,
    pub value: Span,
}

/// Analyses a formula with its accesses as written.
///
/// `tested`: sums of extents that run-time checks have proven nonnegative.
pub(crate) fn examine(
    formula: &Formula,
    values: &[Value],
    tested: &[Sum],
    (spans, limits): (&Spans, &Limits),
) -> EvalResult<Tests> {
    if formula.indices.iter().any(|i| i.extent.bound() == 0) {
        // Nothing is executed over an empty domain, so no access is out of bounds.
        return Ok(Tests::default());
    }
    let (Some(accesses), Some(locals)) = (walk::accesses(formula), locals(formula)) else {
        let message =
            "the local values of this formula use each other too often for its accesses to be examined";
        return stop(&LIMIT_EXCEEDED, formula.span, message);
    };
    let work = Work::within(&limits.meter);
    let mut examination = Examination {
        formula,
        values,
        spans,
        loops: Loops { indices: &formula.indices, facts: tested, work: &work },
        locals,
        points: Points::default(),
        tests: Tests::default(),
    };
    for access in &accesses {
        let before = work.total() + examination.points.spent();
        examination.access(access)?;
        limits.charge(work.total() + examination.points.spent() - before, examination.span(access))?;
    }
    Ok(examination.tests)
}

struct Examination<'a> {
    formula: &'a Formula,
    values: &'a [Value],
    spans: &'a Spans<'a>,
    loops: Loops<'a>,
    locals: Vec<Local>,
    points: Points,
    tests: Tests,
}

/// The conditions under which an access is evaluated.
#[derive(Default)]
struct Path<'a> {
    /// Conditions over extents that must hold.
    extents: Vec<Expr>,
    indices: Vec<Condition<'a>>,
    /// All conditions except those over extents, in order.
    steps: Vec<Condition<'a>>,
    /// The indices that the conditions in `steps` depend on.
    step_indices: BTreeSet<usize>,
}

impl<'a> Examination<'a> {
    fn access(&mut self, access: &Access<'a>) -> EvalResult<()> {
        let Some(subscript) = access.subscripts.get(access.dimension) else {
            return Ok(());
        };
        let subscript_dependence = dependence(subscript, &self.locals);
        let Some(extent) = self.extent(access).filter(|_| !subscript_dependence.data) else {
            return Ok(());
        };
        let subscript = &inlined(subscript, &self.locals);
        if self.is_inside(access, subscript, &extent) {
            return Ok(());
        }
        let path = self.path(access);
        if path.steps.is_empty()
            && let Some(demands) = self.at_entry(access, subscript, &extent)
        {
            self.demand(demands, &path);
            return Ok(());
        }
        match self.decided(subscript, &extent, (&subscript_dependence, &path)) {
            Some(Verdict::Inside) => return Ok(()),
            Some(Verdict::Outside(index, at))
                if path.indices.len() == path.steps.len() && !depends_on_reals(subscript) =>
            {
                let demand = self.leaves(access, &extent, index, &at);
                self.demand(vec![demand], &path);
                return Ok(());
            }
            _ => {}
        }
        self.search(access, subscript, (&extent, &subscript_dependence, &path))
    }

    fn extent(&self, access: &Access) -> Option<Extent> {
        let value = self.values.get(access.tensor.0 as usize)?;
        value.tensor.shape.get(access.dimension).cloned()
    }

    /// `` `x` ``, or a description of an access without a name.
    fn name(&self, tensor: ValueId) -> String {
        let value = self.values.get(tensor.0 as usize);
        let name = value.and_then(|v| v.name.as_ref());
        name.map_or("a tensor".to_string(), |name| format!("`{name}`"))
    }

    fn span(&self, access: &Access) -> Span {
        let mut accessed = self.spans.accessed.iter();
        match accessed.find(|a| a.tensor == access.tensor && a.subscripts == access.subscripts) {
            _ if access.is_write => self.spans.target,
            Some(accessed) => accessed.span,
            None => self.spans.value,
        }
    }

    /// Whether intervals prove that an index is in bounds.
    fn is_inside(&self, access: &Access, subscript: &Expr, extent: &Extent) -> bool {
        let mut facts = box_facts(&self.formula.indices);
        facts.extend(self.loops.facts.iter().cloned());
        let others = access.path.iter().filter(|c| c.holds && may_imply(c.expr));
        let others: Vec<&Condition> = others.collect();
        for condition in &access.path {
            collect_facts(condition.expr, condition.holds, &mut facts);
            let (mut when_true, mut when_false) = (Vec::new(), Vec::new());
            for other in &others {
                implied(other.expr, condition.expr, &mut when_true, &mut when_false);
            }
            facts.append(if condition.holds { &mut when_true } else { &mut when_false });
        }
        let indices = (self.formula.indices.as_slice(), [].as_slice());
        let known = Known::new(indices, &facts, self.loops.work);
        let interval = known.interval(subscript);
        // Contradictory facts: the access is not evaluated.
        interval.is_empty() || (interval.low >= 0 && !known.may_reach(subscript, extent))
    }

    fn path(&self, access: &Access<'a>) -> Path<'a> {
        let mut path = Path::default();
        for condition in &access.path {
            let dependence = dependence(condition.expr, &self.locals);
            if !dependence.data && dependence.indices.is_empty() {
                let expr = inlined(condition.expr, &self.locals);
                path.extents.push(if condition.holds { expr } else { negated(expr) });
                continue;
            }
            if !dependence.data {
                path.indices.push(*condition);
            }
            path.steps.push(*condition);
            path.step_indices.extend(&dependence.indices);
        }
        path
    }

    /// The condition over extents that an index evaluated in every step is in bounds; `None` if no condition is exact.
    fn at_entry(&self, access: &Access, subscript: &Expr, extent: &Extent) -> Option<Vec<Demand>> {
        let (name, span) = (self.name(access.tensor), self.span(access));
        if let Some(demands) = remapped(&self.loops, subscript, (extent, &name), span) {
            return Some(demands);
        }
        let (low, high) = self.loops.exact(subscript)?;
        let known = self.loops.known();
        if known.interval(&low).low >= 0 && !known.may_reach(&high, extent) {
            return Some(Vec::new());
        }
        let size = extent_expr(extent);
        let text = |text: &str| MessagePart::Text(text.to_string());
        let within = Demand::within(&low, &high, &size);
        let mut message = vec![text(&format!("an index of {name} "))];
        if low == high {
            message.extend([text("is "), MessagePart::Value(low)]);
        } else {
            message.extend([text("runs from "), MessagePart::Value(low)]);
            message.extend([text(" to "), MessagePart::Value(high)]);
        }
        message.extend([text(", the tensor's extent is "), MessagePart::Value(size)]);
        message.push(text("; guard it with `| |`"));
        Some(vec![Demand {
            condition: self.loops.in_some_step(within),
            message,
            code: &ACCESS_OUT_OF_RANGE,
            span,
        }])
    }

    /// Adds a check under the conditions over extents.
    fn demand(&mut self, demands: Vec<Demand>, path: &Path) {
        let otherwise: Vec<Expr> = path.extents.iter().cloned().map(negated).collect();
        for demand in demands {
            let demand = demand.unless(&otherwise);
            if !self.tests.demands.contains(&demand) {
                self.tests.demands.push(demand);
            }
        }
    }

    /// Enumerates the steps; conditions on data may have either value.
    fn decided(
        &self,
        subscript: &Expr,
        extent: &Extent,
        (subscript_dependence, path): (&Dependence, &Path),
    ) -> Option<Verdict> {
        let size = i64::try_from(extent.fixed()?).ok()?;
        let conditions = path.indices.iter().map(|c| dependence(c.expr, &self.locals));
        let others: BTreeSet<usize> = conditions.flat_map(|d| d.indices).collect();
        let indices: Vec<usize> = subscript_dependence.indices.iter().copied().collect();
        let condition_indices: Vec<usize> = others.into_iter().filter(|i| !indices.contains(i)).collect();
        self.points.decide(&Question {
            formula: self.formula,
            subscript,
            size,
            path: &path.indices,
            indices: &indices,
            condition_indices: &condition_indices,
        })
    }

    /// Requires that no step is executed, because the access is out of bounds in a known step.
    fn leaves(&self, access: &Access, extent: &Extent, index: i64, at: &[(usize, i64)]) -> Demand {
        let steps = at.iter().filter_map(|(index, value)| {
            let name = &self.formula.indices.get(*index)?.name;
            Some(format!("{name} = {value}"))
        });
        let steps = steps.collect::<Vec<_>>().join(", ");
        let message = format!(
            "an index of {} is {index} where {steps}, the tensor's extent is {extent}; guard it with `| |`",
            self.name(access.tensor)
        );
        Demand {
            condition: self.loops.in_some_step(literal_bool(false)),
            message: vec![MessagePart::Text(message)],
            code: &ACCESS_OUT_OF_RANGE,
            span: self.span(access),
        }
    }

    /// Adds a formula before this formula that searches for an out-of-bounds step.
    fn search(
        &mut self,
        access: &Access<'a>,
        subscript: &Expr,
        (extent, dependence, path): (&Extent, &Dependence, &Path<'a>),
    ) -> EvalResult<()> {
        let size = extent_expr(extent);
        let indices: Vec<usize> = dependence.indices.union(&path.step_indices).copied().collect();
        let mut open = path.extents.clone();
        // Loops that the search omits must not be empty.
        for (position, index) in self.formula.indices.iter().enumerate() {
            if !indices.contains(&position) && index.extent.fixed().is_none() {
                let some = runtime::compare(ScalarOp::Gt, extent_expr(&index.extent), Expr::int(0));
                open.push(some);
            }
        }
        if let Some(((low, high), positive)) = self.loops.around(subscript) {
            let known = self.loops.known();
            let is_within = known.interval(&low).low >= 0 && !known.may_reach(&high, extent);
            if is_within && positive.is_empty() {
                return Ok(());
            }
            let step_conditions =
                positive.into_iter().map(|d| runtime::compare(ScalarOp::Gt, d, Expr::int(0)));
            let within = Demand::within(&low, &high, &size);
            open.push(negated(step_conditions.fold(within, runtime::and)));
        }
        let open = open.into_iter().reduce(runtime::and).unwrap_or_else(|| literal_bool(true));
        let open = match decided(&open) {
            Some(false) => return Ok(()),
            Some(true) => literal_bool(true),
            None => open,
        };
        let search = Search {
            formula: self.formula,
            subscript,
            size: &size,
            path: &path.steps,
            indices: &indices,
            open,
            name: &self.name(access.tensor),
            span: self.span(access),
        };
        if path.steps.iter().any(|c| reads_own(self.formula, c.expr)) {
            let leaves = path.extents.iter().cloned().fold(search.leaves(), runtime::and);
            if let Some(message) = search.message() {
                self.tests.inside.push(Inside { leaves, message, span: search.span });
            }
            return Ok(());
        }
        match search.formula() {
            Some(formula) => self.tests.searches.push(formula),
            None => {
                let message = "the extents of this formula are too large for its accesses to be tested";
                return stop(&LIMIT_EXCEEDED, self.span(access), message);
            }
        }
        Ok(())
    }
}

fn negated(condition: Expr) -> Expr {
    match runtime::bool_literal(&condition) {
        Some(value) => literal_bool(!value),
        None => Expr::apply(ScalarKind::Bool, ScalarOp::Not, vec![condition]),
    }
}
