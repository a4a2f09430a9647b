// SPDX-License-Identifier: Apache-2.0
//! The adjoint of a recurrence: a formula that reads elements of its target that earlier steps wrote.
//!
//! For `y[i + 1] := f(y[i], …)` the adjoint of all elements is the recurrence `a[e] := dy[e] + a[e + 1] * df/dy` in the reversed order. The
//! states that the steps read are those of the result, because each element is written once.

use crate::builder::Builder;
use crate::domain::{Affine, affine, signed};
use crate::expr::{add, all, apply, mul, number, real, select, substituted};
use crate::extents::{last, size};
use crate::formula::{access, all_indices};
use crate::partials::{Partial, partials};
use crate::refusal::Refusal;
use skript_frontend::model::{
    Accumulation, Expr, Formula, FormulaIndex, FormulaLocal, Init, Node, Target, TensorType, ValueId,
};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::collections::HashMap;

/// A subscript: an index or its negative, plus an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Term {
    index: usize,
    is_negative: bool,
    offset: i64,
}

/// The subscripts of an element, by dimension.
type Shift = Vec<Term>;

impl Builder<'_> {
    /// The adjoint of a recurrence by its earlier elements, by other tensors, and by its start values.
    pub fn recurrence(&mut self, formula: &Formula, target: &Target, total: ValueId) -> Result<(), Refusal> {
        let Some(written) = self.shifts(formula, target) else {
            return self.sequence(formula, &HashMap::from([(target.output, total)]));
        };
        let tensor_type = self.type_of(target.output)?;
        let adjoint = self.derivative_of(target.output)?;
        let seed = access(adjoint, ScalarKind::Real, target.subscripts.clone());
        let indices = FormulaIndex::over(&tensor_type.shape);
        self.assign_all(adjoint, tensor_type.clone(), access(total, ScalarKind::Real, all_indices(&indices)));

        let reversed = Reversed::new(formula, &written, &tensor_type);
        let mut locals = formula.locals.clone();
        let parts = partials(&target.value, real(1.0), &mut locals, &|tensor| tensor == target.output);
        let mut value = access(total, ScalarKind::Real, reversed.element.clone());
        for part in parts {
            let Some(read) = shift(&part.subscripts, formula.indices.len()) else { continue };
            let step = reversed.step(&read);
            let factor = self.factor(formula, target, &locals, part, &step);
            let at_step = |expr: &Expr| {
                substituted(expr, &|part| match part.node {
                    Node::Index(at) => step.get(at).cloned(),
                    _ => None,
                })
            };
            let written = target.subscripts.iter().map(at_step).collect();
            let term = mul(access(adjoint, ScalarKind::Real, written), factor);
            value = add(
                value,
                match all(reversed.inside(formula, &read, &step)) {
                    Some(condition) => select(condition, term, real(0.0)),
                    None => term,
                },
            );
        }
        self.push(Formula {
            indices: reversed.indices.clone(),
            locals: Vec::new(),
            predicate: None,
            kind: Accumulation::Replace,
            targets: vec![Target {
                output: adjoint,
                subscripts: reversed.element.clone(),
                value,
                init: Init::Continue,
            }],
            findings: Vec::new(),
            span: formula.span,
        });
        self.direct_without(formula, target, seed, &[target.output]);
        self.unwritten(formula, target, adjoint)
    }

    /// The derivative by an element that a step reads: a number, or an element of a tensor that is computed for all steps before
    /// the recurrence.
    pub fn factor(
        &mut self,
        formula: &Formula,
        target: &Target,
        locals: &[FormulaLocal],
        part: Partial,
        step: &[Expr],
    ) -> Expr {
        let predicate = all(formula.predicate.clone().into_iter().chain(part.guard));
        if predicate.is_none() && number(&part.value).is_some() {
            return part.value;
        }
        let shape = formula.indices.iter().map(|index| index.extent.clone()).collect();
        let tensor_type = TensorType { kind: ScalarKind::Real, shape };
        let factors = self.tensor(&format!("{}_factor", self.name(target.output)), tensor_type);
        self.push(Formula {
            indices: formula.indices.clone(),
            locals: locals.to_vec(),
            predicate,
            kind: Accumulation::Assign,
            targets: vec![Target {
                output: factors,
                subscripts: all_indices(&formula.indices),
                value: part.value,
                init: Init::Fill(Scalar::Real(0.0)),
            }],
            findings: Vec::new(),
            span: formula.span,
        });
        access(factors, ScalarKind::Real, step.to_vec())
    }

    /// The adjoint of the start values: that of the elements that no step writes.
    fn unwritten(&mut self, formula: &Formula, target: &Target, adjoint: ValueId) -> Result<(), Refusal> {
        let tensor_type = self.type_of(target.output)?;
        let kept = self.tensor(&format!("{}_start_grad", self.name(target.output)), tensor_type.clone());
        let element = all_indices(&FormulaIndex::over(&tensor_type.shape));
        self.assign_all(kept, tensor_type, access(adjoint, ScalarKind::Real, element));
        let mut cleared = formula.clone();
        cleared.kind = Accumulation::Replace;
        cleared.targets = vec![Target {
            output: kept,
            subscripts: target.subscripts.clone(),
            value: real(0.0),
            init: Init::Continue,
        }];
        self.push(cleared);
        self.contribute(target.output, kept);
        Ok(())
    }

    /// Whether a formula is a recurrence whose results have all elements that its steps read.
    pub fn has_shifts(&self, formula: &Formula) -> bool {
        let is_replacing = matches!(formula.kind, Accumulation::Assign | Accumulation::Replace);
        matches!(formula.targets.as_slice(), [target] if is_replacing && self.shifts(formula, target).is_some())
    }

    /// The shift of the target, if all reads of it are at fixed distances, of elements that earlier steps write or none.
    fn shifts(&self, formula: &Formula, target: &Target) -> Option<Shift> {
        let count = formula.indices.len();
        let written = shift(&target.subscripts, count)?;
        let is_step = |at: usize| written.iter().filter(|term| term.index == at).count() == 1;
        if !(0..count).all(is_step) {
            return None;
        }
        let mut open: Vec<&Expr> = formula.locals.iter().map(|local| &local.value).collect();
        open.push(&target.value);
        while let Some(expr) = open.pop() {
            if let Node::Access { tensor, subscripts } = &expr.node
                && *tensor == target.output
            {
                let read = shift(subscripts, count)?;
                if !is_earlier(&read, &written, count) {
                    return None;
                }
            }
            open.extend(expr.children());
        }
        let mut others = formula.predicate.iter().chain(&target.subscripts);
        if others.any(|expr| is_reading(expr, target.output)) { None } else { Some(written) }
    }
}

/// Whether an expression reads a tensor.
fn is_reading(expr: &Expr, tensor: ValueId) -> bool {
    let is_read = matches!(&expr.node, Node::Access { tensor: read, .. } if *read == tensor);
    is_read || expr.children().into_iter().any(|child| is_reading(child, tensor))
}

/// Subscripts over `count` indices that are an index or its negative plus a constant each.
fn shift(subscripts: &[Expr], count: usize) -> Option<Shift> {
    subscripts.iter().map(|subscript| term(subscript, count)).collect()
}

fn term(expr: &Expr, count: usize) -> Option<Term> {
    let Affine { mut terms, constant: offset } = affine(expr, count)?;
    terms.retain(|(_, factor)| *factor != 0);
    match terms.as_slice() {
        [(index, factor @ (1 | -1))] => Some(Term { index: *index, is_negative: *factor < 0, offset }),
        _ => None,
    }
}

/// Whether the element that is read was written by an earlier step, or by none.
fn is_earlier(read: &Shift, written: &Shift, count: usize) -> bool {
    let mut distances = vec![0; count];
    for (read, written) in read.iter().zip(written) {
        if (read.index, read.is_negative) != (written.index, written.is_negative) {
            return false;
        }
        if let Some(distance) = distances.get_mut(read.index) {
            let difference = written.offset.saturating_sub(read.offset);
            *distance = if read.is_negative { difference.saturating_neg() } else { difference };
        }
    }
    distances.into_iter().find(|distance| *distance != 0).is_some_and(|distance| distance > 0)
}

/// The elements of the target in the reversed order of the steps.
struct Reversed {
    indices: Vec<FormulaIndex>,
    /// The subscripts of the element, over these indices.
    element: Vec<Expr>,
    /// For each index of the formula, the dimension that it selects.
    dimensions: Vec<usize>,
}

impl Reversed {
    fn new(formula: &Formula, written: &Shift, tensor: &TensorType) -> Self {
        let dimension = |index: usize| written.iter().position(|term| term.index == index);
        let dimensions: Vec<usize> = (0..formula.indices.len()).filter_map(dimension).collect();
        let indices = formula.indices.iter().zip(&dimensions).filter_map(|(index, dimension)| {
            let extent = tensor.shape.get(*dimension)?.clone();
            Some(FormulaIndex { name: index.name.clone(), extent })
        });
        let element = written.iter().zip(&tensor.shape).map(|(term, extent)| {
            let index = Expr::index(term.index);
            if term.is_negative { index } else { apply(ScalarOp::Sub, vec![last(extent), index]) }
        });
        Reversed { indices: indices.collect(), element: element.collect(), dimensions }
    }

    /// The indices of the step that reads the element, in the order of the formula.
    fn step(&self, read: &Shift) -> Vec<Expr> {
        let index = |dimension: &usize| {
            let (element, term) = (self.element.get(*dimension)?.clone(), read.get(*dimension)?);
            Some(if term.is_negative {
                apply(ScalarOp::Sub, vec![Expr::int(term.offset), element])
            } else {
                shifted(element, term.offset.saturating_neg())
            })
        };
        self.dimensions.iter().filter_map(index).collect()
    }

    /// The conditions under which a step exists, without those that hold for all elements.
    fn inside(&self, formula: &Formula, read: &Shift, step: &[Expr]) -> Vec<Expr> {
        let mut conditions = Vec::new();
        let steps = formula.indices.iter().zip(&self.indices).zip(&self.dimensions).zip(step);
        for (((index, element), dimension), value) in steps {
            let Some(term) = read.get(*dimension) else { continue };
            let last = signed(element.extent.bound()).saturating_sub(1);
            let (least, most) = if term.is_negative {
                (term.offset.saturating_sub(last), term.offset)
            } else {
                (term.offset.saturating_neg(), last.saturating_sub(term.offset))
            };
            let compared = |op, bound| Expr::apply(ScalarKind::Bool, op, vec![value.clone(), bound]);
            if least < 0 {
                conditions.push(compared(ScalarOp::Ge, Expr::int(0)));
            }
            let is_within = match index.extent.fixed() {
                Some(extent) => most < signed(extent),
                None => index.extent == element.extent && !term.is_negative && term.offset >= 0,
            };
            if !is_within {
                conditions.push(compared(ScalarOp::Lt, size(&index.extent)));
            }
        }
        conditions
    }
}

/// `e + by`, with the constant of `e` folded: `last - i` becomes `last + by - i`.
fn shifted(element: Expr, by: i64) -> Expr {
    if by == 0 {
        return element;
    }
    if let Node::Apply { op: ScalarOp::Sub, operands } = &element.node
        && let [first, index] = operands.as_slice()
        && let Node::Literal(Scalar::Int(last)) = first.node
    {
        return apply(ScalarOp::Sub, vec![Expr::int(last.saturating_add(by)), index.clone()]);
    }
    apply(ScalarOp::Add, vec![element, Expr::int(by)])
}
