// SPDX-License-Identifier: Apache-2.0
//! Planned formulas: compact loops over registers, ready to execute.

use super::affine::Affine;
use super::expr::{Address, Bool, Fault, Point, Source, Value};
use super::lower::Lowering;
use super::output::Elements;
use super::row::Row;
use crate::error::{EvalError, Failure, internal};
use crate::frame::{Frame, signed};
use skript_frontend::model::{Accumulation, Expr, Formula, Node, ValueId};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use skript_tensor::ElementType;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;

pub(super) struct Plan {
    extents: Vec<i64>,
    kind: Accumulation,
    forms: Vec<Affine>,
    sources: Vec<ValueId>,
    /// Tensors that the formula writes.
    pub written: Vec<ValueId>,
    locals: Vec<Value>,
    /// For each level, from 0 (outside of all loops), the conditions that are tested there.
    conditions: Vec<Vec<Bool>>,
    targets: Vec<Target>,
}

/// The mutable state of an execution of the loops.
struct Walk<'p> {
    /// For each level, the increments of the registers in a step of its index.
    steps: &'p [Vec<(usize, i64)>],
    row: Option<Row<'p>>,
    /// Values that are computed but not written yet: output, position, value.
    pending: Vec<(usize, usize, Scalar)>,
}

struct Target {
    /// The position in `written`.
    output: usize,
    address: Address,
    value: Value,
}

type Outputs = HashMap<ValueId, (Vec<u64>, Elements)>;

impl Plan {
    pub(super) fn new(frame: &Frame<'_>, formula: &Formula, outputs: &Outputs) -> Result<Plan, EvalError> {
        let formula = &super::extents::resolved(frame, formula)?;
        let extents = formula
            .indices
            .iter()
            .map(|i| frame.int_extent(&i.extent))
            .collect::<Result<Vec<i64>, EvalError>>()?;
        let limit = frame.settings.max_points;
        let points = extents.iter().try_fold(1i64, |product, &n| product.checked_mul(n));
        if !extents.contains(&0) && points.is_none_or(|p| p.unsigned_abs() > limit) {
            return Err(Failure::TooManyPoints { extents, limit }.into());
        }
        frame.settings.spend(points.map_or(0, i64::unsigned_abs))?;
        let mut written: Vec<ValueId> = Vec::new();
        for target in &formula.targets {
            if !outputs.contains_key(&target.output) {
                return Err(internal("a formula writes a value that is not an output"));
            }
            if !written.contains(&target.output) {
                written.push(target.output);
            }
        }
        let shape_of = |id: ValueId| match outputs.get(&id) {
            Some((shape, _)) => shape.iter().map(|&n| signed(n)).collect(),
            None => frame.get(id)?.shape().iter().map(|&n| signed(n)).collect(),
        };
        let mut lowering = Lowering {
            locals: Vec::new(),
            extents: &extents,
            forms: Vec::new(),
            sources: Vec::new(),
            written: &written,
            numbers: frame.numbers,
            shape_of: &shape_of,
        };
        let (mut locals, mut levels) = (Vec::new(), Vec::new());
        for local in &formula.locals {
            locals.push(lowering.value(&local.value)?);
            levels.push(level(&local.value, &levels));
            let form = match local.value.kind {
                ScalarKind::Int => lowering.affine(&local.value),
                _ => None,
            };
            lowering.locals.push(form);
        }
        let mut conditions: Vec<Vec<Bool>> = Vec::new();
        conditions.resize_with(extents.len() + 1, Vec::new);
        let mut conjuncts = Vec::new();
        if let Some(predicate) = &formula.predicate {
            split(predicate, &mut conjuncts);
        }
        for conjunct in conjuncts {
            let level = level(conjunct, &levels).unwrap_or(extents.len());
            let condition = lowering.bool(conjunct)?;
            if let Some(list) = conditions.get_mut(level) {
                list.push(condition);
            }
        }
        let mut targets = Vec::new();
        for target in &formula.targets {
            let Some(output) = written.iter().position(|w| *w == target.output) else {
                unreachable!("the outputs of all targets are written")
            };
            targets.push(Target {
                output,
                address: lowering.address(target.output, &target.subscripts)?,
                value: lowering.value(&target.value)?,
            });
        }
        Ok(Plan {
            kind: formula.kind,
            forms: lowering.forms,
            sources: lowering.sources,
            extents,
            written,
            locals,
            conditions,
            targets,
        })
    }

    /// Executes the loops. `finished` holds outputs that are only read here.
    pub(crate) fn execute(
        &self,
        frame: &Frame<'_>,
        finished: &Outputs,
        written: &mut [(ValueId, Vec<u64>, Elements)],
    ) -> Result<Option<Fault>, EvalError> {
        if self.extents.contains(&0) {
            return Ok(None);
        }
        let mut sources = Vec::new();
        for id in &self.sources {
            sources.push(match finished.get(id) {
                Some((_, elements)) => Source::Finished(elements),
                None => source(frame, *id)?,
            });
        }
        let mut point = Point {
            registers: self.forms.iter().map(Affine::offset).collect(),
            sources: &sources,
            written,
            locals: self.locals.iter().map(|_| Cell::new((0, Scalar::Bool(false)))).collect(),
            definitions: &self.locals,
            step: 1,
            fault: Cell::new(None),
            numbers: frame.numbers,
        };
        let steps: Vec<Vec<(usize, i64)>> = (0..self.extents.len())
            .map(|level| {
                let factor = |f: &Affine| f.coefficient(&level);
                let factors = self.forms.iter().map(factor).enumerate();
                factors.filter(|(_, f)| *f != 0).collect()
            })
            .collect();
        let mut walk =
            Walk { steps: &steps, row: self.row(), pending: Vec::with_capacity(self.targets.len()) };
        self.run(&mut point, &mut walk, 0);
        Ok(point.fault.get())
    }

    /// The innermost loop as a sum of products, if it is one.
    fn row(&self) -> Option<Row<'_>> {
        let [target] = self.targets.as_slice() else {
            return None;
        };
        match &target.value {
            Value::Real(value) if self.kind == Accumulation::Sum && !self.extents.is_empty() => {
                Row::new(self.conditions.last()?, target.output, &target.address, value)
            }
            _ => None,
        }
    }

    fn run(&self, point: &mut Point<'_>, walk: &mut Walk<'_>, level: usize) {
        if let Some(conditions) = self.conditions.get(level)
            && !conditions.iter().all(|c| c.eval(point))
        {
            return;
        }
        let steps = walk.steps;
        let (Some(&extent), Some(moves)) = (self.extents.get(level), steps.get(level)) else {
            self.body(point, &mut walk.pending);
            return;
        };
        if level + 1 == self.extents.len()
            && let Some(row) = &walk.row
            && row.run(point, moves, extent)
        {
            return;
        }
        for _ in 0..extent {
            point.step += 1;
            self.run(point, walk, level + 1);
            if point.fault.get().is_some() {
                return;
            }
            for &(register, factor) in moves {
                if let Some(value) = point.registers.get_mut(register) {
                    *value = value.wrapping_add(factor);
                }
            }
        }
        for &(register, factor) in moves {
            if let Some(value) = point.registers.get_mut(register) {
                *value = value.wrapping_sub(factor.wrapping_mul(extent));
            }
        }
        point.step += 1;
    }

    fn body(&self, point: &mut Point<'_>, pending: &mut Vec<(usize, usize, Scalar)>) {
        if let [target] = self.targets.as_slice() {
            if let Some(position) = target.address.position(point) {
                let value = target.value.eval(point);
                if let Some((_, _, elements)) = point.written.get_mut(target.output) {
                    elements.combine(position, self.kind, value, point.numbers);
                }
            }
            return;
        }
        // All values are computed before any is written.
        pending.clear();
        for target in &self.targets {
            if let Some(position) = target.address.position(point) {
                pending.push((target.output, position, target.value.eval(point)));
            }
        }
        for &(output, position, value) in pending.iter() {
            if let Some((_, _, elements)) = point.written.get_mut(output) {
                elements.combine(position, self.kind, value, point.numbers);
            }
        }
    }
}

fn source<'a>(frame: &'a Frame<'_>, id: ValueId) -> Result<Source<'a>, EvalError> {
    let tensor = frame.get(id)?;
    let unaligned = || internal("the elements of a tensor are not aligned");
    Ok(match (tensor.element(), tensor.kind()) {
        (ElementType::F32, _) => Source::Real(Cow::Borrowed(tensor.as_f32().ok_or_else(unaligned)?)),
        (ElementType::F64, _) => Source::Double(tensor.as_f64().ok_or_else(unaligned)?),
        (ElementType::I64, _) => Source::Int(Cow::Borrowed(tensor.as_i64().ok_or_else(unaligned)?)),
        (_, ScalarKind::Bool) => Source::Bool(tensor.bytes()),
        // Narrow types are widened once for all points that read them.
        (_, ScalarKind::Real) => Source::Real(tensor.scalars().map(|x| x.to_real() as f32).collect()),
        (_, ScalarKind::Int) => Source::Int(tensor.scalars().map(Scalar::to_int).collect()),
    })
}

/// The operands of a conjunction, strict or short-circuit.
fn split<'e>(predicate: &'e Expr, conjuncts: &mut Vec<&'e Expr>) {
    match &predicate.node {
        Node::Apply { op: ScalarOp::And, operands } => operands.iter().for_each(|o| split(o, conjuncts)),
        Node::Select { condition, then, otherwise }
            if matches!(otherwise.node, Node::Literal(Scalar::Bool(false))) =>
        {
            split(condition, conjuncts);
            split(then, conjuncts);
        }
        _ => conjuncts.push(predicate),
    }
}

/// The number of outer loops whose indices determine the expression, from the levels of the locals; `None` if it reads
/// a tensor.
fn level(expr: &Expr, locals: &[Option<usize>]) -> Option<usize> {
    match &expr.node {
        Node::Index(position) => Some(position + 1),
        Node::Local(position) => *locals.get(*position)?,
        Node::Access { .. } => None,
        _ => {
            expr.children().into_iter().try_fold(0, |deepest, child| Some(level(child, locals)?.max(deepest)))
        }
    }
}
