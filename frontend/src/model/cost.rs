// SPDX-License-Identifier: Apache-2.0
//! Cost of a model: floating-point operations and parameters, computed only from its formulas.

use super::domain_size::admitted;
use super::{Arm, Block, Body, Expr, Formula, FunctionId, Model, Node, Operation};
use skript_semantics::ScalarKind;

/// The operations of one call of the model. A dynamic extent counts as its upper bound, a loop as the iterations of its
/// static count, an `if` as its most expensive branch, a formula as the points that its guard admits. Counts saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Real operations: each arithmetic or function application counts one, an accumulation one more.
    pub flops: u64,
    /// Elements of all variables.
    pub parameters: u64,
    /// How `flops` relates to the operations that a call executes.
    pub precision: Precision,
}

/// How a count relates to the operations that a call executes, where extents and loops determine it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Every call executes exactly this number.
    #[default]
    Exact,
    /// Dynamic extents, or loops that may end early, count as their upper bound.
    AtMost,
    /// Loops without an upper bound count as one iteration.
    AtLeast,
    /// Both approximations apply.
    Estimate,
}

impl Precision {
    /// The prefix of a number: `at most `; empty for an exact number.
    pub fn prefix(self) -> &'static str {
        match self {
            Precision::Exact => "",
            Precision::AtMost => "at most ",
            Precision::AtLeast => "at least ",
            Precision::Estimate => "about ",
        }
    }
}

impl Model {
    /// The cost of one call.
    pub fn cost(&self) -> Cost {
        let mut known = vec![None; self.functions.len()];
        Cost {
            flops: function_flops(self, self.entry, &mut known),
            parameters: self
                .variables
                .iter()
                .map(|v| volume(v.tensor.shape.iter().map(super::Extent::bound)))
                .fold(0, u64::saturating_add),
            precision: self.precision(),
        }
    }

    fn precision(&self) -> Precision {
        let mut seen = Inexact::default();
        for function in &self.functions {
            match &function.body {
                Body::Formulas(formulas) => seen.above |= formulas.iter().any(has_dynamic_domain),
                Body::Block(block) => seen.add_block(block),
                Body::Intrinsic => {}
            }
        }
        match (seen.above, seen.below) {
            (false, false) => Precision::Exact,
            (true, false) => Precision::AtMost,
            (false, true) => Precision::AtLeast,
            (true, true) => Precision::Estimate,
        }
    }
}

/// Whether a count may be above or below what a call executes.
#[derive(Default)]
struct Inexact {
    above: bool,
    below: bool,
}

impl Inexact {
    fn add_block(&mut self, block: &Block) {
        for operation in &block.operations {
            match operation {
                Operation::Invoke(_) | Operation::Constant { .. } | Operation::Cut { .. } => {}
                Operation::If { arms, otherwise, .. } => {
                    arms.iter()
                        .flat_map(|a| [&a.condition, &a.consequent])
                        .chain([otherwise])
                        .for_each(|b| self.add_block(b));
                }
                Operation::Loop(l) => {
                    let early = l.before.is_some() || l.after.is_some();
                    self.above |= l.static_count.is_some() && (early || l.dynamic_count.is_some());
                    self.below |= l.static_count.is_none();
                    let conditions = l.before.iter().chain(&l.after);
                    conditions.chain([&l.body]).for_each(|b| self.add_block(b));
                }
            }
        }
    }
}

/// Whether a formula counts operations over a dynamic extent.
fn has_dynamic_domain(formula: &Formula) -> bool {
    let dynamic = formula.indices.iter().any(|i| i.extent.fixed().is_none());
    dynamic && formula_flops(formula) > 0
}

/// The cost of all invocations of one operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorCost {
    /// The name, `nn.conv`: an operator with formulas, or an intrinsic (whose operations are not counted).
    pub name: String,
    /// The number of invocations, counted as in [`Cost`]: invocations in less expensive branches do not count.
    pub invocations: u64,
    /// Floating-point operations of all invocations.
    pub flops: u64,
}

impl Model {
    /// The costs of operators that are not composite, in descending order of operations, then by name.
    pub fn costs_by_operator(&self) -> Vec<OperatorCost> {
        let mut known = vec![None; self.functions.len()];
        let mut counts = vec![0u64; self.functions.len()];
        count_invocations(self, self.entry, 1, 0, &mut counts, &mut known);
        let mut costs: Vec<OperatorCost> = Vec::new();
        for (at, (function, &invocations)) in self.functions.iter().zip(&counts).enumerate() {
            let composite = matches!(function.body, Body::Block(_));
            let Ok(id) = u32::try_from(at) else { continue };
            if composite || invocations == 0 {
                continue;
            }
            let flops = function_flops(self, FunctionId(id), &mut known).saturating_mul(invocations);
            match costs.iter_mut().find(|c| c.name == function.name) {
                Some(cost) => {
                    cost.invocations = cost.invocations.saturating_add(invocations);
                    cost.flops = cost.flops.saturating_add(flops);
                }
                None => costs.push(OperatorCost { name: function.name.clone(), invocations, flops }),
            }
        }
        costs.sort_by(|a, b| b.flops.cmp(&a.flops).then_with(|| a.name.cmp(&b.name)));
        costs
    }
}

impl Model {
    /// The real operations of one invocation of each function, by [`FunctionId`].
    pub fn flops_by_function(&self) -> Vec<u64> {
        let mut known = vec![None; self.functions.len()];
        let ids = (0..self.functions.len()).filter_map(|at| u32::try_from(at).ok());
        ids.map(|id| function_flops(self, FunctionId(id), &mut known)).collect()
    }
}

/// The maximum nesting of operators; deeper nesting is a defect elsewhere, and is not counted.
const MAX_DEPTH: usize = 1000;

fn count_invocations(
    model: &Model,
    id: FunctionId,
    times: u64,
    depth: usize,
    counts: &mut Vec<u64>,
    known: &mut Vec<Option<u64>>,
) {
    if let Some(count) = counts.get_mut(id.0 as usize) {
        *count = count.saturating_add(times);
    }
    if let Some(Body::Block(block)) = model.function(id).map(|f| &f.body)
        && depth < MAX_DEPTH
    {
        count_in_block(model, block, times, depth + 1, counts, known);
    }
}

fn count_in_block(
    model: &Model,
    block: &Block,
    times: u64,
    depth: usize,
    counts: &mut Vec<u64>,
    known: &mut Vec<Option<u64>>,
) {
    for operation in &block.operations {
        let (blocks, times) = match operation {
            Operation::Invoke(invoke) => {
                count_invocations(model, invoke.callee, times, depth, counts, known);
                continue;
            }
            Operation::Constant { .. } | Operation::Cut { .. } => continue,
            Operation::If { arms, otherwise, .. } => {
                (costliest_branch(model, arms, otherwise, known).0, times)
            }
            Operation::Loop(l) => (
                [l.before.as_ref(), Some(&l.body), l.after.as_ref()].into_iter().flatten().collect(),
                l.static_count.map_or(times, |count| times.saturating_mul(count)),
            ),
        };
        for block in blocks {
            count_in_block(model, block, times, depth, counts, known);
        }
    }
}

/// The most expensive branch and its cost: the conditions up to the first that holds, and its block. Of equally
/// expensive branches, the first.
fn costliest_branch<'m>(
    model: &Model,
    arms: &'m [Arm],
    otherwise: &'m Block,
    known: &mut Vec<Option<u64>>,
) -> (Vec<&'m Block>, u64) {
    let mut conditions = Vec::new();
    let mut tested = 0u64;
    let mut best: Option<(Vec<&Block>, u64)> = None;
    let branches = arms.iter().map(|a| (Some(&a.condition), &a.consequent));
    for (condition, consequent) in branches.chain([(None, otherwise)]) {
        if let Some(condition) = condition {
            conditions.push(condition);
            tested = tested.saturating_add(block_flops(model, condition, known));
        }
        let flops = tested.saturating_add(block_flops(model, consequent, known));
        if best.as_ref().is_none_or(|(_, max_flops)| flops > *max_flops) {
            let path = conditions.iter().copied().chain([consequent]).collect();
            best = Some((path, flops));
        }
    }
    best.unwrap_or_else(|| unreachable!("internal compiler error: no branch"))
}

/// The operations of a function; `known` caches them, because instances are shared.
fn function_flops(model: &Model, id: FunctionId, known: &mut Vec<Option<u64>>) -> u64 {
    let slot = id.0 as usize;
    if let Some(Some(flops)) = known.get(slot) {
        return *flops;
    }
    let flops = match model.function(id).map(|f| &f.body) {
        Some(Body::Formulas(formulas)) => formulas.iter().map(formula_flops).fold(0, u64::saturating_add),
        Some(Body::Block(block)) => block_flops(model, block, known),
        Some(Body::Intrinsic) | None => 0,
    };
    if let Some(entry) = known.get_mut(slot) {
        *entry = Some(flops);
    }
    flops
}

fn block_flops(model: &Model, block: &Block, known: &mut Vec<Option<u64>>) -> u64 {
    let mut total = 0u64;
    for operation in &block.operations {
        let flops = match operation {
            Operation::Invoke(invoke) => function_flops(model, invoke.callee, known),
            Operation::Constant { .. } | Operation::Cut { .. } => 0,
            Operation::If { arms, otherwise, .. } => costliest_branch(model, arms, otherwise, known).1,
            Operation::Loop(l) => {
                let once = [l.before.as_ref(), Some(&l.body), l.after.as_ref()]
                    .into_iter()
                    .flatten()
                    .map(|b| block_flops(model, b, known))
                    .fold(0, u64::saturating_add);
                l.static_count.map_or(once, |count| once.saturating_mul(count))
            }
        };
        total = total.saturating_add(flops);
    }
    total
}

/// The number of points that the guard admits, times the real operations at one point.
fn formula_flops(formula: &Formula) -> u64 {
    let locals = formula.locals.iter().map(|l| real_operations(&l.value));
    let targets = formula.targets.iter().map(|t| {
        let accumulates = formula.kind.op().is_some() && t.value.kind == ScalarKind::Real;
        real_operations(&t.value) + u64::from(accumulates)
    });
    let each = locals.chain(targets).fold(0, u64::saturating_add);
    match each {
        0 => 0,
        _ => admitted(formula).saturating_mul(each),
    }
}

fn real_operations(expr: &Expr) -> u64 {
    let of = |children: Vec<&Expr>| {
        let counts = children.into_iter().map(real_operations);
        counts.fold(0, u64::saturating_add)
    };
    match &expr.node {
        Node::Select { condition, then, otherwise } => {
            real_operations(condition).saturating_add(real_operations(then).max(real_operations(otherwise)))
        }
        Node::Apply { .. } if expr.kind == ScalarKind::Real => of(expr.children()).saturating_add(1),
        _ => of(expr.children()),
    }
}

fn volume(extents: impl Iterator<Item = u64>) -> u64 {
    extents.fold(1, u64::saturating_mul)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Accumulation, Extent, FormulaIndex, Init, Target, ValueId};
    use crate::source::{FileId, Span};
    use skript_semantics::{Scalar, ScalarOp};

    #[test]
    fn a_matrix_product_costs_two_flops_a_point() {
        let index = |name: &str, n| FormulaIndex { name: name.into(), extent: Extent::Fixed(n) };
        let access = |t, a, b| Expr {
            kind: ScalarKind::Real,
            node: Node::Access { tensor: ValueId(t), subscripts: vec![Expr::index(a), Expr::index(b)] },
        };
        let formula = Formula {
            indices: vec![index("i", 3), index("j", 5), index("l", 7)],
            locals: vec![],
            predicate: None,
            kind: Accumulation::Sum,
            targets: vec![Target {
                output: ValueId(2),
                subscripts: vec![Expr::index(0), Expr::index(1)],
                value: Expr::apply(ScalarKind::Real, ScalarOp::Mul, vec![access(0, 0, 2), access(1, 2, 1)]),
                init: Init::Fill(Scalar::Real(0.0)),
            }],
            findings: Vec::new(),
            span: Span::new(FileId(0), 0, 0),
        };
        assert_eq!(formula_flops(&formula), 2 * 3 * 5 * 7);
        assert!(!has_dynamic_domain(&formula));
    }

    #[test]
    fn counts_over_dynamic_extents_are_upper_bounds() {
        let dynamic = Extent::Dynamic {
            expr: std::sync::Arc::new(crate::model::ShapeExpr::Symbol("n".into())),
            bound: 8,
        };
        let formula = |op| Formula {
            indices: vec![FormulaIndex { name: "i".into(), extent: dynamic.clone() }],
            locals: vec![],
            predicate: None,
            kind: Accumulation::Assign,
            targets: vec![Target {
                output: ValueId(0),
                subscripts: vec![Expr::index(0)],
                value: Expr::apply(ScalarKind::Real, op, vec![]),
                init: Init::Fill(Scalar::Real(0.0)),
            }],
            findings: vec![],
            span: Span::new(FileId(0), 0, 0),
        };
        assert!(has_dynamic_domain(&formula(ScalarOp::Exp)));
        let mut copy = formula(ScalarOp::Exp);
        for target in &mut copy.targets {
            target.value = Expr::index(0);
        }
        assert!(!has_dynamic_domain(&copy), "a copy computes nothing");
    }
}
