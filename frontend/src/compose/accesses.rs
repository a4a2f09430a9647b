// SPDX-License-Identifier: Apache-2.0
//! Accesses that are not proven in bounds (2.12).
//!
//! An index that depends on data follows the documented rule: a read uses the nearest element, a write is dropped. An index
//! that depends on extents, attributes and loops alone must be in bounds: composition reports an error if all of these are
//! static, else there is a run-time check. If a condition over extents is exact, it is tested when the function begins. If
//! not, because an index is not linear or the access is conditional, a formula before it searches for a step out of bounds.

pub(super) mod bounds;
mod dependence;
mod enumeration;
pub(crate) mod index_range;
mod remapping;
mod search;
pub(crate) mod step_conditions;
mod walk;

use std::collections::BTreeSet;

use skript_semantics::{ScalarKind, ScalarOp};

use self::dependence::{Dependence, Local, inlined, locals, rests};
use self::enumeration::{Points, Question, Verdict, rests_on_reals};
use self::index_range::Loops;
use self::remapping::remapped;
use self::search::Search;
use self::step_conditions::{Inside, reads_own};
use self::walk::{Access, Condition};
use crate::diagnostics::codes::{ACCESS_OUT_OF_RANGE, LIMIT_EXCEEDED};
use crate::eval::ranges::{Known, Work, box_facts, collect_facts, decided, extent_expr, implied};
use crate::eval::runtime::literal_bool;
use crate::eval::stop::{EvalResult, stop};
use crate::eval::sum::Sum;
use crate::eval::{Accessed, Demand, runtime};
use crate::model::{Expr, Extent, Formula, MessagePart, Value, ValueId};
use crate::source::Span;

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
/// `tested`: sums of extents that run-time checks have proven not negative.
///
/// # Errors
/// An access that is out of bounds in some step.
pub(crate) fn examine(
    formula: &Formula,
    values: &[Value],
    tested: &[Sum],
    spans: &Spans,
) -> EvalResult<Tests> {
    if formula.indices.iter().any(|i| i.extent.bound() == 0) {
        // Nothing is executed over an empty domain, so no access is out of bounds.
        return Ok(Tests::default());
    }
    let (Some(accesses), Some(locals)) = (walk::accesses(formula), locals(formula)) else {
        return stop(
            &LIMIT_EXCEEDED,
            formula.span,
            "the local values of this formula use each other too often for its accesses to be examined",
        );
    };
    let work = Work::default();
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
        examination.access(access)?;
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
    /// Conditions on indices.
    indices: Vec<Condition<'a>>,
    /// All conditions except those over extents, in order.
    steps: Vec<Condition<'a>>,
    /// The indices that these depend on.
    rests: BTreeSet<usize>,
}

impl<'a> Examination<'a> {
    fn access(&mut self, access: &Access<'a>) -> EvalResult<()> {
        let Some(subscript) = access.subscripts.get(access.dimension) else {
            return Ok(());
        };
        let own = rests(subscript, &self.locals);
        let Some(extent) = self.extent(access).filter(|_| !own.data) else {
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
        match self.decided(subscript, &extent, (&own, &path)) {
            Some(Verdict::Inside) => return Ok(()),
            Some(Verdict::Outside(index, at))
                if path.indices.len() == path.steps.len() && !rests_on_reals(subscript) =>
            {
                let demand = self.leaves(access, &extent, index, &at);
                self.demand(vec![demand], &path);
                return Ok(());
            }
            _ => {}
        }
        self.search(access, subscript, (&extent, &own, &path))
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
        for condition in &access.path {
            collect_facts(condition.expr, condition.holds, &mut facts);
            let (mut when_true, mut when_false) = (Vec::new(), Vec::new());
            for other in access.path.iter().filter(|c| c.holds) {
                implied(other.expr, condition.expr, &mut when_true, &mut when_false);
            }
            facts.append(if condition.holds { &mut when_true } else { &mut when_false });
        }
        let indices = (self.formula.indices.as_slice(), [].as_slice());
        let known = Known::new(indices, &facts, self.loops.work);
        let own = known.interval(subscript);
        // Contradictory facts: the access is not evaluated.
        own.is_empty() || (own.low >= 0 && !known.may_reach(subscript, extent))
    }

    fn path(&self, access: &Access<'a>) -> Path<'a> {
        let mut path = Path::default();
        for condition in &access.path {
            let rests = rests(condition.expr, &self.locals);
            if !rests.data && rests.indices.is_empty() {
                let expr = inlined(condition.expr, &self.locals);
                path.extents.push(if condition.holds { expr } else { negated(expr) });
                continue;
            }
            if !rests.data {
                path.indices.push(*condition);
            }
            path.steps.push(*condition);
            path.rests.extend(&rests.indices);
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
        (own, path): (&Dependence, &Path),
    ) -> Option<Verdict> {
        let size = i64::try_from(extent.fixed()?).ok()?;
        let conditions = path.indices.iter().map(|c| rests(c.expr, &self.locals));
        let others: BTreeSet<usize> = conditions.flat_map(|r| r.indices).collect();
        let own: Vec<usize> = own.indices.iter().copied().collect();
        let others: Vec<usize> = others.into_iter().filter(|i| !own.contains(i)).collect();
        self.points.decide(&Question {
            formula: self.formula,
            subscript,
            size,
            path: &path.indices,
            own: &own,
            others: &others,
        })
    }

    /// The condition that no step with some property is executed.
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

    /// Adds a formula before this one that searches for a step out of bounds.
    fn search(
        &mut self,
        access: &Access<'a>,
        subscript: &Expr,
        (extent, own, path): (&Extent, &Dependence, &Path<'a>),
    ) -> EvalResult<()> {
        let size = extent_expr(extent);
        let indices: Vec<usize> = own.indices.union(&path.rests).copied().collect();
        let mut open = path.extents.clone();
        // Loops that the search omits are not empty.
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
            let positive = positive.into_iter().map(|d| runtime::compare(ScalarOp::Gt, d, Expr::int(0)));
            let within = Demand::within(&low, &high, &size);
            open.push(negated(positive.fold(within, runtime::and)));
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
                return stop(
                    &LIMIT_EXCEEDED,
                    self.span(access),
                    "the extents of this formula are too large for its accesses to be tested",
                );
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

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires, composed};
    use crate::diagnostics::codes::ACCESS_OUT_OF_RANGE;
    use crate::model::{Body, CheckKind};

    /// An operator with one formula, of a tensor with this shape.
    fn document(formula: &str, shape: &str) -> String {
        format!(
            "operator f {{ @input {{ x: real[n]; at: int[3]; }} @output {{ y: real[3]; }} @lower {{ {formula}; }} }} \
             graph G {{ @input {{ x: real[{shape}]; at: int[3]; }} @output {{ y: real[3]; }} \
             @compose {{ y = f(x, at); }} }}"
        )
    }

    /// The number of checks and searches of the operator.
    fn tests(formula: &str) -> (usize, usize) {
        let model =
            composed(&document(formula, "s|9")).unwrap_or_else(|found| panic!("{formula}: {found:?}"));
        let mut count = (0, 0);
        for function in &model.functions {
            count.0 += function.checks.iter().filter(|c| c.kind == CheckKind::Access).count();
            if let Body::Formulas(formulas) = &function.body {
                count.1 += formulas.iter().filter(|f| !f.findings.is_empty()).count();
            }
        }
        count
    }

    #[test]
    fn s2_12_accesses_that_leave_known_tensors_are_refused() {
        for leaves in [
            "y[i,] = x[n * i,], i < 3",
            "y[i,] = x[n - i * i,], i < 3",
            "y[i,] = x[i * i,], i < 3",
            "y[i * i,] = x[i,], i < 3",
            "y[i,] = x[i + 1,], i < 3 | i % 2 == 0",
            "y[i,] = i < 3 ? x[i + 1,] : 0.0, i < 3",
            "y[i,] = i == 0 || x[i + 1,] > 0.0 ? 1.0 : 0.0, i < 3",
            "y[i,] = x[(i + 2) / 2 * 2,], i < 3 | i > 1",
            "v = x[i + 1,], y[i,] = i > 1 ? v : 0.0, i < 3",
            "v = i * i, y[i,] = x[v,], i < 3",
            "y[i,] = 0.0, i < 3 | x[i + 1,] > 0.0",
            "y[i,] = x[i + at[i + 1,],], i < 3",
            "y[i,] = x[0,], i < 3 | at[2 * i,] > 0",
        ] {
            assert_fires(&ACCESS_OUT_OF_RANGE, &document(leaves, "3"));
        }
        assert_fires(&ACCESS_OUT_OF_RANGE, &document("y[0,] = x[n - 1,]", "0"));
        // For all n.
        let never = document("y[i,] = x[n * i,], i < 3", "s|9");
        assert_fires(&ACCESS_OUT_OF_RANGE, &never);
    }

    #[test]
    fn s2_12_accesses_that_are_not_evaluated_are_not_examined() {
        for inside in [
            "y[i,] = i < n - 1 ? x[i + 1,] : 0.0, i < 3",
            "y[i,] = i > 1 || x[i + 1,] > 0.0 ? 1.0 : 0.0, i < 3",
            "y[i,] = x[i + 1,], i < 3 | i % 2 == 1",
            "y[i,] = x[i * i,], i < 3 | i < 2",
            "y[i,] = i < 2 && x[i * i,] > 0.0 ? 1.0 : 0.0, i < 3",
            "v = x[i + 1,], y[i,] = i < 2 ? v : 0.0, i < 3",
            "y[i,] = x[|i * i|,], i < 3",
            "y[i,] = x[|i * i <> 0 : n - 1|,], i < 3",
            "y[i,] = x[i + 7,], i < n - 3",
            // Depends on data.
            "y[i,] = x[at[i,],], i < 3",
            "y[i,] = x[at[i,] > 0 ? i + 1 : 0,], i < 3",
            "y[at[i,],] = x[i,], i < 3",
            "v = at[i,] + 1, y[i,] = x[v * v,], i < 3",
        ] {
            assert_composes(&document(inside, "3"));
        }
        assert_composes(&document("y[i,] += x[i,], i < n", "0"));
    }

    #[test]
    fn s2_12_runs_test_what_extents_decide() {
        for (formula, expected) in [
            // Linear: at the beginning of the function.
            ("y[0,] = x[n - 1,]", (1, 0)),
            ("y[i,] = x[n * i - i,], i < 3", (1, 0)),
            ("y[i,] = x[n - i - 1,], i < 3", (1, 0)),
            ("y[i,] = x[i / 2,], i < 3", (1, 0)),
            ("y[i,] = n > 3 ? x[i + 1,] : 0.0, i < 3", (0, 0)),
            ("y[i,] = n > 2 ? x[i + 1,] : 0.0, i < 3", (1, 0)),
            // Not linear, or conditional: in the steps.
            ("y[i,] = x[n - i * i,], i < 3", (0, 1)),
            ("y[i,] = x[i + 1,], i < 3 | i % 2 == 0", (0, 1)),
            ("y[i,] = at[i,] > 0 ? x[i + 1,] : 0.0, i < 3", (0, 1)),
            ("y[i,] = at[i,] > 0 ? x[i,] : 0.0, i < 3", (0, 1)),
            ("y[i,] = 0.0, i < 3 | at[i,] > 0 && x[i,] > 0.0", (0, 1)),
            // Proven, or dependent on data.
            ("y[0,] += x[i,], i < n", (0, 0)),
            ("y[i,] = x[|n - i * i|,], i < 3", (0, 0)),
            ("y[i,] = i < n ? x[i,] : 0.0, i < 3", (0, 0)),
            ("y[i,] = x[at[i,],], i < 3", (0, 0)),
        ] {
            assert_eq!(tests(formula), expected, "{formula}");
        }
    }

    #[test]
    fn s2_12_data_may_let_a_known_tensor_be_left() {
        let text = document("y[i,] = at[i,] > 0 ? x[i + 1,] : 0.0, i < 3", "3");
        let model = composed(&text).unwrap();
        let searches = model.functions.iter().filter_map(|f| match &f.body {
            Body::Formulas(formulas) => Some(formulas),
            _ => None,
        });
        assert_eq!(searches.flatten().filter(|f| !f.findings.is_empty()).count(), 1);
    }
}
