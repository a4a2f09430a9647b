// SPDX-License-Identifier: Apache-2.0
//! Functions that the composer adds: tensors for control flow and dynamic extents.

use skript_semantics::{Numbers, ScalarKind, ScalarOp};

use super::composer::{Composed, Composer, InstanceInfo, Reported};
use crate::ast;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::checks::text;
use crate::compose::shapes::dynamic_extent::{Canonical, extent_of};
use crate::diagnostics::codes::{INDEX_OUT_OF_RANGE, LIMIT_EXCEEDED, RESULTS_MISMATCH, UNEXPECTED_VALUE};
use crate::eval::ranges::extent_expr;
use crate::eval::{Atom, TensorRef, Value, runtime};
use crate::model::{
    self, Accumulation, Body, Check, CheckKind, Expr, Extent, Formula, FormulaIndex, Function, FunctionId,
    FunctionRole, Init, Invoke, MessagePart, Node, Operation, Port, PortTensors, Target, TensorType, ValueId,
};
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    /// Converts an expression over tensors; items of packs of dynamic length become separate tensors.
    pub(super) fn tensors(&mut self, builder: &mut Builder<'p>, expr: &ast::Expr) -> Composed<Value> {
        let value = self.value(builder, expr)?;
        let made = |atom: &Atom| matches!(atom, Atom::Item(_) | Atom::DynamicPack(_));
        if !value.atoms().iter().any(made) {
            return Ok(value);
        }
        let mut atoms = Vec::with_capacity(value.atoms().len());
        for atom in value.atoms() {
            atoms.push(match atom {
                Atom::Item(item) => self.item_of(builder, &item.0, &item.1, expr.span)?,
                Atom::DynamicPack(row) => self.concatenated(builder, row, expr.span)?,
                other => other.clone(),
            });
        }
        Ok(match (value, atoms.as_slice()) {
            (Value::Atom(_), [single]) => Value::Atom(single.clone()),
            _ => Value::pack(atoms),
        })
    }

    /// `xs[-1]` of a pack of dynamic length, with a run-time check that it exists.
    pub(crate) fn item_of(
        &mut self,
        builder: &mut Builder<'p>,
        stack: &TensorRef,
        index: &Atom,
        span: Span,
    ) -> Composed<Atom> {
        if let Atom::Run(position) = index {
            return self.item_at(builder, stack, position, span);
        }
        let Atom::Int(index) = *index else {
            return Err(self.error(
                &UNEXPECTED_VALUE,
                span,
                "outside of formulas, an item of a pack of dynamic length is selected by a single int",
            ));
        };
        let most = stack.tensor.shape.first().map_or(0, Extent::bound);
        let needed = match u64::try_from(index) {
            Ok(index) => index.saturating_add(1),
            Err(_) => index.unsigned_abs(),
        };
        if needed > most {
            let message = format!("index {index} is out of range: the pack has at most {most} items");
            return Err(self.error(&INDEX_OUT_OF_RANGE, span, message));
        }
        let position = |length: &Expr| {
            if index < 0 {
                Expr::apply(ScalarKind::Int, ScalarOp::Add, vec![length.clone(), Expr::int(index)])
            } else {
                Expr::int(index)
            }
        };
        let needed = Expr::int(i64::try_from(needed).unwrap_or(i64::MAX));
        let check = |length: Expr| {
            let there = runtime::compare(ScalarOp::Ge, length, needed);
            (format!("item {index} of a pack is out of range, because its length is "), there)
        };
        let items = self.picked(builder, stack, &[position], check, span)?;
        items.first().cloned().ok_or(Reported)
    }

    /// The items of a pack of dynamic length as separate tensors, with a run-time check of their number.
    pub(crate) fn items_of(
        &mut self,
        builder: &mut Builder<'p>,
        stack: &TensorRef,
        count: usize,
        span: Span,
    ) -> Composed<Value> {
        let length = stack.tensor.shape.first().cloned();
        let most = length.as_ref().map_or(0, Extent::bound);
        if u64::try_from(count).map_or(true, |n| n > most) {
            return Err(self.error(
                &RESULTS_MISMATCH,
                span,
                format!("there are {count} items written here, the pack has at most {most}"),
            ));
        }
        let number = |position: usize| Expr::int(i64::try_from(position).unwrap_or(i64::MAX));
        let positions: Vec<_> = (0..count).map(|p| move |_: &Expr| number(p)).collect();
        let check = |length: Expr| {
            let all = runtime::compare(ScalarOp::Eq, length, number(count));
            (format!("the pack must have {count} items, it has "), all)
        };
        self.picked(builder, stack, &positions, check, span).map(Value::pack)
    }

    /// Items of a pack of dynamic length; their positions and the check of the length, with its message, follow from
    /// the length.
    fn picked(
        &mut self,
        builder: &mut Builder<'p>,
        stack: &TensorRef,
        positions: &[impl Fn(&Expr) -> Expr],
        check: impl FnOnce(Expr) -> (String, Expr),
        span: Span,
    ) -> Composed<Vec<Atom>> {
        let count = positions.len();
        let mut canonical = Canonical::default();
        let whole = canonical.tensor(&stack.tensor);
        let mut function = empty_function("items", span);
        let mut new = |tensor: TensorType| {
            let id = ValueId(u32::try_from(function.values.len()).unwrap_or(u32::MAX));
            function.values.push(model::Value { name: None, tensor, wide: false, storage: None, span });
            id
        };
        let input = new(whole.clone());
        let item = TensorType { kind: whole.kind, shape: whole.shape.iter().skip(1).cloned().collect() };
        let outputs: Vec<ValueId> = (0..count).map(|_| new(item.clone())).collect();
        let indices = FormulaIndex::over(&item.shape);
        let locations: Vec<Expr> = (0..indices.len()).map(Expr::index).collect();
        let length = whole.shape.first().map_or(Expr::int(0), extent_expr);
        let formulas = positions.iter().zip(&outputs).map(|(position, output)| {
            let mut subscripts = vec![position(&length)];
            subscripts.extend(locations.iter().cloned());
            let node = Node::Access { tensor: input, subscripts };
            Formula {
                indices: indices.clone(),
                locals: Vec::new(),
                predicate: None,
                kind: Accumulation::Assign,
                targets: vec![Target {
                    output: *output,
                    subscripts: locations.clone(),
                    value: Expr { kind: item.kind, node },
                    init: Init::Fill(item.kind.default_value()),
                }],
                findings: Vec::new(),
                span,
            }
        });
        function.body = Body::Formulas(formulas.collect());
        if let Node::Extent(_) = length.node {
            let (what, condition) = check(length.clone());
            let mut message = Vec::new();
            text(&what, &mut message);
            message.push(MessagePart::Value(length));
            function.checks.push(Check { kind: CheckKind::Extent, condition, message, span });
        }
        function.inputs.push(Port { name: "pack".into(), tensors: PortTensors::Stack(input), span });
        function.outputs.push(Port { name: "items".into(), tensors: PortTensors::Pack(outputs), span });
        let callee = self.synthesized(function)?;
        let item = TensorType {
            kind: stack.tensor.kind,
            shape: stack.tensor.shape.iter().skip(1).cloned().collect(),
        };
        let items: Vec<TensorRef> = (0..count).map(|_| builder.value(None, item.clone(), span)).collect();
        builder.emit(Operation::Invoke(Invoke {
            callee,
            inputs: vec![stack.id],
            captures: Vec::new(),
            extents: Vec::new(),
            outputs: items.iter().map(|t| t.id).collect(),
            updates: Vec::new(),
            label: None,
            span,
        }));
        Ok(items.into_iter().map(Atom::Tensor).collect())
    }

    /// A check of extents among the operations of a block: what an invocation requires of its inputs.
    pub(crate) fn check_here(&mut self, builder: &mut Builder<'p>, check: Check) -> Composed<()> {
        let mut canonical = Canonical::default();
        let span = check.span;
        let check = renamed_check(&mut canonical, check)?;
        let (names, extents) = canonical.parameters().into_iter().unzip();
        let mut function = empty_function("length", span);
        function.extents = names;
        function.checks.push(check);
        function.body = Body::Formulas(Vec::new());
        let callee = self.synthesized(function)?;
        builder.emit(Operation::Invoke(Invoke {
            callee,
            inputs: Vec::new(),
            captures: Vec::new(),
            extents,
            outputs: Vec::new(),
            updates: Vec::new(),
            label: None,
            span,
        }));
        Ok(())
    }

    /// A scalar over dynamic extents as a tensor of rank 0.
    pub(crate) fn scalar_of(
        &mut self,
        builder: &mut Builder<'p>,
        expr: &Expr,
        span: Span,
    ) -> Composed<TensorRef> {
        let tensor = TensorType { kind: expr.kind, shape: Vec::new() };
        self.filled(builder, expr, tensor, span)
    }

    /// A tensor filled with an expression over dynamic extents.
    pub(super) fn filled(
        &mut self,
        builder: &mut Builder<'p>,
        expr: &Expr,
        tensor: TensorType,
        span: Span,
    ) -> Composed<TensorRef> {
        let result = builder.value(None, tensor, span);
        self.written_into(builder, expr, (result, false), PortTensors::Single, span)
    }

    /// The dynamic range `[0:n]` as a pack of tensors of `kind`; other values are unchanged.
    pub(crate) fn given_tensors(
        &mut self,
        builder: &mut Builder<'p>,
        value: Value,
        kind: Option<ScalarKind>,
        span: Span,
    ) -> Composed<Value> {
        let Value::Atom(Atom::Series(series)) = &value else {
            return Ok(value);
        };
        let given = series.converted(kind.unwrap_or(series.kind()));
        let Some(given) = given.filter(|given| !given.reads()) else {
            return Ok(value);
        };
        let Some(length) = extent_of(&given.length) else {
            return Ok(value);
        };
        let tensor = TensorType { kind: given.kind(), shape: vec![length] };
        self.check_size(&tensor, span)?;
        let result = builder.value(None, tensor, span);
        let item = given.at(&Expr::index(0));
        self.written_into(builder, &item, (result, false), PortTensors::Stack, span)
            .map(|stack| Value::Atom(Atom::Stack(stack)))
    }

    /// An int over dynamic extents as a number of steps.
    pub(crate) fn count_of(
        &mut self,
        builder: &mut Builder<'p>,
        expr: &Expr,
        span: Span,
    ) -> Composed<TensorRef> {
        let result = builder.wide_int(None, span);
        self.written_into(builder, expr, (result, true), PortTensors::Single, span)
    }

    fn written_into(
        &mut self,
        builder: &mut Builder<'p>,
        expr: &Expr,
        (result, wide): (TensorRef, bool),
        port: fn(ValueId) -> PortTensors,
        span: Span,
    ) -> Composed<TensorRef> {
        let mut canonical = Canonical::default();
        let value = renamed(&mut canonical, expr.clone())?;
        let own = canonical.tensor(&result.tensor);
        let indices = FormulaIndex::over(&own.shape);
        let subscripts = (0..own.shape.len()).map(Expr::index).collect();
        let (names, extents): (Vec<String>, Vec<Extent>) = canonical.parameters().into_iter().unzip();
        let mut function = empty_function("scalar", span);
        function.extents = names;
        let output = ValueId(0);
        function.values.push(model::Value { name: None, tensor: own, wide, storage: None, span });
        function.body = Body::Formulas(vec![Formula {
            indices,
            locals: Vec::new(),
            predicate: None,
            kind: Accumulation::Assign,
            targets: vec![Target { output, subscripts, value, init: Init::Fill(expr.kind.default_value()) }],
            findings: Vec::new(),
            span,
        }]);
        function.outputs.push(Port { name: "value".into(), tensors: port(output), span });
        let callee = self.synthesized(function)?;
        builder.emit(Operation::Invoke(Invoke {
            callee,
            inputs: Vec::new(),
            captures: Vec::new(),
            extents,
            outputs: vec![result.id],
            updates: Vec::new(),
            label: None,
            span,
        }));
        Ok(result)
    }

    pub(crate) fn synthesized(&mut self, function: Function) -> Composed<FunctionId> {
        if self.functions.len() >= self.limits.instances {
            let message =
                format!("the model has more than {} functions (limit `instances`)", self.limits.instances);
            return Err(self.error(&LIMIT_EXCEEDED, function.span, message));
        }
        let id = FunctionId(u32::try_from(self.functions.len()).map_err(|_| Reported)?);
        self.functions.push(function);
        self.infos.push(InstanceInfo::default());
        Ok(id)
    }
}

/// An expression over dynamic extents in the terms of a callee.
pub(super) fn renamed(canonical: &mut Canonical, expr: Expr) -> Composed<Expr> {
    let renamed = canonical.attribute(&Value::Atom(Atom::from_expr(expr)));
    let single = renamed.atoms().first();
    single.and_then(Atom::to_expr).ok_or(Reported)
}

/// A check in the terms of a callee.
pub(crate) fn renamed_check(canonical: &mut Canonical, check: Check) -> Composed<Check> {
    let message = renamed_message(canonical, check.message)?;
    Ok(Check { condition: renamed(canonical, check.condition)?, message, ..check })
}

fn renamed_message(canonical: &mut Canonical, message: Vec<MessagePart>) -> Composed<Vec<MessagePart>> {
    let parts = message.into_iter().map(|part| {
        Ok(match part {
            MessagePart::Value(expr) => MessagePart::Value(renamed(canonical, expr)?),
            MessagePart::Choice { condition, then, otherwise } => MessagePart::Choice {
                condition: renamed(canonical, condition)?,
                then: renamed_message(canonical, then)?,
                otherwise: renamed_message(canonical, otherwise)?,
            },
            text @ MessagePart::Text(_) => text,
        })
    });
    parts.collect()
}

pub(crate) fn empty_function(name: &str, span: Span) -> Function {
    Function {
        name: name.into(),
        role: FunctionRole::Operator,
        attributes: Vec::new(),
        types: Vec::new(),
        values: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        items_of_none: Vec::new(),
        captures: Vec::new(),
        updates: Vec::new(),
        capture_variables: Vec::new(),
        extents: Vec::new(),
        checks: Vec::new(),
        result_checks: Vec::new(),
        constants: Vec::new(),
        body: Body::Intrinsic,
        numbers: Numbers::default(),
        span,
    }
}

/// A scalar over dynamic extents in another kind: int for real (errata 15).
pub(crate) fn as_kind(expr: &Expr, kind: ScalarKind) -> Option<Expr> {
    match (expr.kind, kind) {
        (from, to) if from == to => Some(expr.clone()),
        (ScalarKind::Int, ScalarKind::Real) => Some(Expr::apply(kind, ScalarOp::ToReal, vec![expr.clone()])),
        _ => None,
    }
}
