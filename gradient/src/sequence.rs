// SPDX-License-Identifier: Apache-2.0
//! The adjoint of steps that change elements which other steps wrote, also of several tensors that advance together.
//!
//! A first loop repeats the steps, and keeps each element that they read. A second loop has the steps in the reversed order: it takes
//! the adjoint of the element that the step wrote, and adds its products with the derivatives to the adjoints of the elements that the
//! step read. These additions follow each other, because the elements may be the same, so they are steps of an innermost index.

use crate::builder::Builder;
use crate::domain::signed;
use crate::expr::{add, all, apply, inlined, mul, number, real, select, substituted};
use crate::extents::last;
use crate::formula::{access, all_indices, rename};
use crate::gather::conjuncts;
use crate::partials::{Partial, partials};
use crate::refusal::Refusal;
use crate::slopes::is_dependent;
use skript_frontend::model::{
    Accumulation, Expr, Extent, Formula, FormulaIndex, FormulaLocal, Init, Node, Target, TensorType, ValueId,
};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::collections::{HashMap, HashSet};

/// An element of an advancing tensor that a step reads.
struct Read {
    element: Expr,
    /// The element is read only where this holds.
    guard: Option<Expr>,
    /// The tensor that keeps the elements of all steps.
    kept: ValueId,
}

/// A change of an adjoint in a step.
struct Change {
    /// The tensor whose adjoint changes.
    tensor: ValueId,
    subscripts: Vec<Expr>,
    /// The element is read only where this holds.
    guard: Option<Expr>,
    /// The derivatives of the targets by the element, by the positions of the targets.
    factors: Vec<(usize, Expr)>,
    /// Whether the step wrote the element, so that its adjoint is replaced.
    is_written: bool,
}

/// A target with an adjoint.
struct Advancing {
    tensor: ValueId,
    subscripts: Vec<Expr>,
    /// The adjoint of the tensor, which the reversed steps change.
    adjoint: ValueId,
    /// The adjoint of the element that each step writes.
    seed: ValueId,
}

impl Builder<'_> {
    /// The adjoint of a formula that reads its targets, of which `totals` have adjoints.
    pub fn sequence(&mut self, formula: &Formula, totals: &HashMap<ValueId, ValueId>) -> Result<(), Refusal> {
        let formula = self.replacing(formula)?;
        let reads = self.reads_of_targets(&formula)?;
        let kept = |expr: &Expr| {
            substituted(expr, &|part| {
                let read = reads.iter().find(|read| read.element == *part)?;
                Some(access(read.kept, part.kind, all_indices(&formula.indices)))
            })
        };
        let reals = formula.targets.iter().filter(|target| target.value.kind == ScalarKind::Real);
        let mut advancing = Vec::new();
        for target in reals {
            advancing.push(self.advancing(&formula, target, totals)?);
        }
        self.repeated(&formula, &reads)?;
        let mut known = formula.clone();
        known.locals.iter_mut().for_each(|local| local.value = kept(&local.value));
        for target in &mut known.targets {
            target.value = kept(&target.value);
            target.subscripts.iter_mut().for_each(|subscript| *subscript = kept(subscript));
        }
        let changes = self.changes(&formula, &known, &advancing, &kept);
        self.reversed(&known, &advancing, &changes);
        let tensors: Vec<ValueId> = advancing.iter().map(|one| one.tensor).collect();
        for one in &advancing {
            let Some(target) = known.targets.iter().find(|target| target.output == one.tensor) else {
                continue;
            };
            let seed = access(one.seed, ScalarKind::Real, all_indices(&formula.indices));
            self.direct_without(&known, target, seed, &tensors);
            if target.init == Init::Continue {
                self.contribute(one.tensor, one.adjoint);
            }
        }
        Ok(())
    }

    /// The formula with `:=`, and without conditions on the elements that it changes.
    pub fn replacing(&self, formula: &Formula) -> Result<Formula, Refusal> {
        let mut result = formula.clone();
        let op = match formula.kind {
            Accumulation::Assign | Accumulation::Replace => None,
            kind => Some(kind.op().ok_or_else(|| self.refused(formula, "its values have no derivatives"))?),
        };
        let writes = |tensor: ValueId| formula.targets.iter().any(|target| target.output == tensor);
        // The locals of the condition are not those of each target.
        let whole = formula.predicate.as_ref().map(|predicate| inlined(predicate, &formula.locals));
        let parts = whole.iter().flat_map(conjuncts);
        let (changing, fixed): (Vec<Expr>, Vec<Expr>) = parts.partition(|part| is_reading(part, &writes));
        for target in &mut result.targets {
            let old = access(target.output, target.value.kind, target.subscripts.clone());
            if let Some(op) = op {
                target.value = apply(op, vec![old.clone(), target.value.clone()]);
            }
            if let Some(condition) = all(changing.clone()) {
                target.value = select(condition, target.value.clone(), old);
            }
        }
        result.kind = Accumulation::Replace;
        result.predicate = all(fixed);
        Ok(result)
    }

    /// The elements of the targets that a step reads, each with a tensor for those of all steps.
    fn reads_of_targets(&mut self, formula: &Formula) -> Result<Vec<Read>, Refusal> {
        let mut walk = Found { formula, elements: Vec::new(), locals: vec![None; formula.locals.len()] };
        for target in &formula.targets {
            target.subscripts.iter().chain([&target.value]).for_each(|expr| walk.visit(expr, None));
        }
        for at in (0..formula.locals.len()).rev() {
            let guard = walk.locals.get_mut(at).and_then(Option::take);
            if let (Some(guard), Some(local)) = (guard, formula.locals.get(at)) {
                walk.visit(&local.value, guard);
            }
        }
        let mut reads = Vec::new();
        for (element, guard) in walk.elements {
            let Node::Access { tensor, subscripts } = &element.node else { continue };
            let writes = |tensor: ValueId| formula.targets.iter().any(|target| target.output == tensor);
            if subscripts.iter().any(|subscript| is_reading(subscript, &writes)) {
                return Err(
                    self.refused(formula, "an element that it changes selects another one that it reads")
                );
            }
            let name = format!("{}_kept", self.name(*tensor));
            let kept = self.tensor(&name, steps_type(formula, element.kind));
            reads.push(Read { element, guard, kept });
        }
        Ok(reads)
    }

    /// The tensors of a target's adjoints.
    fn advancing(
        &mut self,
        formula: &Formula,
        target: &Target,
        totals: &HashMap<ValueId, ValueId>,
    ) -> Result<Advancing, Refusal> {
        let tensor_type = self.type_of(target.output)?;
        let adjoint = self.derivative_of(target.output)?;
        let seed = self.tensor(
            &format!("{}_step_grad", self.name(target.output)),
            steps_type(formula, ScalarKind::Real),
        );
        let element = all_indices(&FormulaIndex::over(&tensor_type.shape));
        let total = totals.get(&target.output).map(|total| access(*total, ScalarKind::Real, element));
        self.assign_all(adjoint, tensor_type, total.unwrap_or_else(|| real(0.0)));
        Ok(Advancing { tensor: target.output, subscripts: target.subscripts.clone(), adjoint, seed })
    }

    /// Repeats the steps on copies of the targets, and keeps the elements that they read.
    fn repeated(&mut self, formula: &Formula, reads: &[Read]) -> Result<(), Refusal> {
        let mut copies = HashMap::new();
        for target in &formula.targets {
            copies.insert(target.output, self.start(target)?);
        }
        let mut targets: Vec<Target> = Vec::new();
        for read in reads {
            let value = match &read.guard {
                Some(guard) => select(guard.clone(), read.element.clone(), zero(read.element.kind)),
                None => read.element.clone(),
            };
            targets.push(Target {
                output: read.kept,
                subscripts: all_indices(&formula.indices),
                value,
                init: Init::Fill(read.element.kind.default_value()),
            });
        }
        let copy = |target: &Target| {
            let output = copies.get(&target.output).copied().unwrap_or(target.output);
            Target { output, ..target.clone() }
        };
        targets.extend(formula.targets.iter().map(copy));
        let mut steps = Formula { targets, ..formula.clone() };
        rename(&mut steps, &copies);
        self.push(steps);
        Ok(())
    }

    /// The changes of the adjoints of the targets in a step, in order: it takes those of the elements that it wrote first.
    fn changes(
        &mut self,
        formula: &Formula,
        known: &Formula,
        advancing: &[Advancing],
        kept: &dyn Fn(&Expr) -> Expr,
    ) -> Vec<Change> {
        let mut changes: Vec<Change> = Vec::new();
        for one in advancing {
            changes.push(Change {
                tensor: one.tensor,
                subscripts: one.subscripts.iter().map(|expr| inlined(&kept(expr), &known.locals)).collect(),
                guard: None,
                factors: Vec::new(),
                is_written: true,
            });
        }
        let steps = all_indices(&formula.indices);
        for (position, one) in advancing.iter().enumerate() {
            let Some(target) = formula.targets.iter().find(|target| target.output == one.tensor) else {
                continue;
            };
            let is_active = |tensor: ValueId| advancing.iter().any(|other| other.tensor == tensor);
            let mut locals = formula.locals.clone();
            let parts = partials(&target.value, real(1.0), &mut locals, &is_active);
            locals.iter_mut().for_each(|local| local.value = kept(&local.value));
            for part in parts {
                let part = Partial {
                    value: kept(&part.value),
                    guard: part.guard.as_ref().map(kept),
                    subscripts: part.subscripts.iter().map(kept).collect(),
                    ..part
                };
                let whole = |expr: &Expr| inlined(expr, &locals);
                let subscripts: Vec<Expr> = part.subscripts.iter().map(whole).collect();
                let (tensor, guard) = (part.tensor, part.guard.as_ref().map(whole));
                let factor = match number(&part.value) {
                    Some(_) if part.guard.is_none() => part.value,
                    _ => self.factor(known, target, &locals, part, &steps),
                };
                let same = |change: &&mut Change| change.tensor == tensor && change.subscripts == subscripts;
                match changes.iter_mut().find(same) {
                    Some(change) => {
                        change.factors.push((position, factor));
                        change.guard = either(change.guard.take(), guard);
                    }
                    None => changes.push(Change {
                        tensor,
                        subscripts,
                        guard,
                        factors: vec![(position, factor)],
                        is_written: false,
                    }),
                }
            }
        }
        changes
    }

    /// The loop over the steps in the reversed order. Its innermost index numbers the changes.
    fn reversed(&mut self, known: &Formula, advancing: &[Advancing], changes: &[Change]) {
        let mut indices = known.indices.clone();
        let count = changes.len().saturating_sub(advancing.len()).saturating_add(1);
        let part = Expr::index(indices.len());
        if count > 1 {
            let extent = Extent::Fixed(u64::try_from(count).unwrap_or(u64::MAX));
            indices.push(FormulaIndex { name: "part".to_owned(), extent });
        }
        let is_first = compared(ScalarOp::Eq, &part, 0);
        let reverse = |expr: &Expr| {
            substituted(expr, &|part| match part.node {
                Node::Index(at) => {
                    let extent = &known.indices.get(at)?.extent;
                    Some(apply(ScalarOp::Sub, vec![last(extent), Expr::index(at)]))
                }
                _ => None,
            })
        };
        let step: Vec<Expr> = all_indices(&known.indices).iter().map(reverse).collect();
        let (mut locals, mut targets): (Vec<FormulaLocal>, Vec<Target>) = (Vec::new(), Vec::new());
        for one in advancing {
            let written: Vec<Expr> = match changes.iter().find(|change| change.tensor == one.tensor) {
                Some(change) => change.subscripts.iter().map(&reverse).collect(),
                None => continue,
            };
            let element = access(one.adjoint, ScalarKind::Real, written);
            let value = match count {
                1 => element,
                _ => select(is_first.clone(), element, access(one.seed, ScalarKind::Real, step.clone())),
            };
            locals.push(FormulaLocal { name: format!("g{}", locals.len()), value });
            targets.push(Target {
                output: one.seed,
                subscripts: step.clone(),
                value: Expr { kind: ScalarKind::Real, node: Node::Local(locals.len() - 1) },
                init: Init::Fill(Scalar::Real(0.0)),
            });
        }
        for one in advancing {
            let mut target = changed(one, changes, &part, count, &reverse);
            // A write at a position that data select has another condition, unless the position is limited.
            if let Ok(tensor_type) = self.type_of(one.adjoint) {
                for (place, extent) in target.subscripts.iter_mut().zip(&tensor_type.shape) {
                    clamp(place, extent);
                }
            }
            targets.push(target);
        }
        self.push(Formula {
            indices,
            locals,
            predicate: known.predicate.as_ref().map(reverse),
            kind: Accumulation::Replace,
            targets,
            findings: Vec::new(),
            span: known.span,
        });
    }
}

/// Adds the targets of a formula that depend on active tensors by real values, also through other steps.
pub fn activate(formula: &Formula, active: &mut HashSet<ValueId>) {
    // A target may depend on a later one in an earlier step.
    for _ in 0..formula.targets.len() {
        for target in &formula.targets {
            if is_dependent(formula, &target.value, &|tensor| active.contains(&tensor)) {
                active.insert(target.output);
            }
        }
    }
}

/// The formula of a target's adjoint in the reversed steps.
fn changed(
    one: &Advancing,
    changes: &[Change],
    part: &Expr,
    count: usize,
    reverse: &dyn Fn(&Expr) -> Expr,
) -> Target {
    let writing = changes.iter().filter(|change| change.tensor == one.tensor && change.is_written);
    let product = |change: &Change| {
        change.factors.iter().fold(real(0.0), |sum, (position, factor)| {
            let seed = Expr { kind: ScalarKind::Real, node: Node::Local(*position) };
            add(sum, mul(seed, reverse(factor)))
        })
    };
    let mut subscripts: Vec<Expr> =
        writing.clone().flat_map(|change| change.subscripts.iter().map(reverse)).collect();
    let mut value = writing.map(product).fold(real(0.0), add);
    let others = changes.iter().filter(|change| !change.is_written).enumerate();
    let is_part =
        |number: usize| compared(ScalarOp::Eq, part, signed(u64::try_from(number + 1).unwrap_or(u64::MAX)));
    for (number, change) in others.clone().filter(|(_, change)| change.tensor == one.tensor) {
        let place = change.subscripts.iter().map(reverse);
        let is_read =
            all(change.guard.iter().map(reverse).chain([is_part(number)])).unwrap_or_else(|| is_part(number));
        subscripts = place.zip(subscripts).map(|(a, b)| select(is_read.clone(), a, b)).collect();
    }
    if count > 1 {
        let old = access(one.adjoint, ScalarKind::Real, subscripts.clone());
        let mut sum = real(0.0);
        for (number, change) in others.filter(|(_, change)| change.tensor == one.tensor) {
            sum = select(is_part(number), product(change), sum);
        }
        let is_first = compared(ScalarOp::Eq, part, 0);
        value = select(is_first, value, add(old, sum));
    }
    Target { output: one.adjoint, subscripts, value, init: Init::Continue }
}

/// Limits a subscript that data select to its dimension, where it is in all steps.
fn clamp(place: &mut Expr, extent: &Extent) {
    if is_reading(place, &|_| true) {
        let least = apply(ScalarOp::Max, vec![place.clone(), Expr::int(0)]);
        *place = apply(ScalarOp::Min, vec![least, last(extent)]);
    }
}

/// The type of a tensor with an element for each step.
fn steps_type(formula: &Formula, kind: ScalarKind) -> TensorType {
    TensorType { kind, shape: formula.indices.iter().map(|index| index.extent.clone()).collect() }
}

fn compared(op: ScalarOp, a: &Expr, b: i64) -> Expr {
    Expr::apply(ScalarKind::Bool, op, vec![a.clone(), Expr::int(b)])
}

fn zero(kind: ScalarKind) -> Expr {
    Expr::literal(kind.default_value())
}

/// Whether an expression without locals reads one of these tensors.
fn is_reading(expr: &Expr, tensors: &dyn Fn(ValueId) -> bool) -> bool {
    let is_read = matches!(expr.node, Node::Access { tensor, .. } if tensors(tensor));
    is_read || expr.children().into_iter().any(|child| is_reading(child, tensors))
}

/// The elements of the targets that expressions read, with the conditions.
struct Found<'a> {
    formula: &'a Formula,
    elements: Vec<(Expr, Option<Expr>)>,
    /// For each local that is read, the condition.
    locals: Vec<Option<Option<Expr>>>,
}

impl Found<'_> {
    fn visit(&mut self, expr: &Expr, guard: Option<Expr>) {
        match &expr.node {
            Node::Access { tensor, .. } if self.formula.targets.iter().any(|t| t.output == *tensor) => {
                match self.elements.iter_mut().find(|(element, _)| element == expr) {
                    Some((_, known)) => *known = either(known.take(), guard.clone()),
                    None => self.elements.push((expr.clone(), guard.clone())),
                }
            }
            Node::Local(at) => {
                if let Some(known) = self.locals.get_mut(*at) {
                    *known = Some(match known.take() {
                        Some(known) => either(known, guard.clone()),
                        None => guard.clone(),
                    });
                }
            }
            Node::Select { condition, then, otherwise } => {
                let within = |condition: Expr| all(guard.clone().into_iter().chain([condition]));
                let inverse = Expr::apply(ScalarKind::Bool, ScalarOp::Not, vec![(**condition).clone()]);
                self.visit(condition, guard.clone());
                self.visit(then, within((**condition).clone()));
                self.visit(otherwise, within(inverse));
                return;
            }
            _ => {}
        }
        expr.children().into_iter().for_each(|child| self.visit(child, guard.clone()));
    }
}

/// The condition under which one of two holds; without a condition, both hold always.
fn either(a: Option<Expr>, b: Option<Expr>) -> Option<Expr> {
    let (a, b) = (a?, b?);
    let inverse = Expr::apply(ScalarKind::Bool, ScalarOp::Not, vec![a.clone()]);
    if b == inverse {
        return None;
    }
    Some(if a == b { a } else { Expr::apply(ScalarKind::Bool, ScalarOp::Or, vec![a, b]) })
}
