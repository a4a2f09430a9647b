// SPDX-License-Identifier: Apache-2.0
//! The evaluator: one walk over an expression, the same for compile-time values and for formulas.

use crate::ast::{BinaryOp, Expr, ExprKind, Ident, Property, StringLiteral, StringPiece, UnaryOp};
use crate::diagnostics::codes::{
    DIVISION_BY_ZERO, INTEGER_OVERFLOW, LIMIT_EXCEEDED, PACK_LENGTHS_DIFFER, PACK_TOO_LONG, UNEXPECTED_VALUE,
};
use crate::eval::broadcast::{beside, given_or, spread};
use crate::eval::conditions::{mark, some_steps, where_holds};
use crate::eval::evaluator::{Evaluator, TypeName};
use crate::eval::logic::logical;
use crate::eval::pack::Pack;
use crate::eval::runtime::{self, literal_bool};
use crate::eval::scalar::{Fault, apply};
use crate::eval::series::fold::{extremum_or, whole_pack};
use crate::eval::series::zip::of_known_length;
use crate::eval::spelling::{builtin, scalar_op};
use crate::eval::stop::{EvalResult, Stop, computed_guard, stop, stop_with_help};
use crate::eval::sum::terms;
use crate::eval::value::{Atom, Value, count, describe};
use crate::model;
use crate::model::check::extent_operations;
use crate::program::Edition;
use crate::source::{FileId, Span};
use skript_semantics::{ScalarKind, ScalarOp};
use std::rc::Rc;

/// The work for one operation of an expression over extents, which is copied where it is used.
const WORK_PER_OPERATION: usize = 4;

/// The number of nodes of operands that are copied in one step of work.
const NODES_PER_WORK: usize = 2;

/// The number of items that are only read in one step of work.
const ITEMS_PER_WORK: usize = 64;

/// The work for one item of a pack.
pub(super) const WORK_PER_ITEM: usize = 2;

impl<'a> Evaluator<'a> {
    pub(crate) fn type_named(&self, name: &Ident) -> EvalResult<TypeName> {
        match TypeName::concrete(&name.name).or_else(|| self.types.get(&name.name).copied()) {
            Some(t) => Ok(t),
            None => stop(&UNEXPECTED_VALUE, name.span, format!("`{}` is not a known type", name.name)),
        }
    }

    pub(crate) fn eval(&mut self, expr: &Expr) -> EvalResult<Value> {
        self.limits.charge(1, expr.span)?;
        let value = self.value_of(expr)?;
        match (&expr.kind, &value) {
            (ExprKind::Name(_), _) => {}
            // The limit `pack_length` bounds the work of one expression.
            (_, Value::Pack(pack)) => self.limits.charge(WORK_PER_ITEM * pack.len(), expr.span)?,
            _ => {}
        }
        Ok(value)
    }

    fn value_of(&mut self, expr: &Expr) -> EvalResult<Value> {
        match &expr.kind {
            ExprKind::Int(value) => Ok(Value::int(*value)),
            ExprKind::Real(value) => Ok(Value::Atom(Atom::Real(*value))),
            ExprKind::Bool(value) => Ok(Value::bool(*value)),
            ExprKind::Str(literal) => self.string(literal),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Property { base, property } => self.property(base, *property),
            ExprKind::Default(name) => Ok(Value::Atom(match self.type_named(name)? {
                TypeName::Scalar(kind) => Atom::from_scalar(kind.default_value()),
                TypeName::Str => Atom::Str("".into()),
            })),
            ExprKind::List(items) => self.list(items),
            ExprKind::Index { base, subscripts, trailing_comma } => {
                self.index(base, subscripts, *trailing_comma, expr.span)
            }
            ExprKind::Substitute { base, subscript, value } => {
                self.substitute(base, subscript, value, expr.span)
            }
            ExprKind::Unary { op, operand } => self.unary(*op, operand, expr.span),
            ExprKind::Binary { op, left, right } => self.binary(*op, left, right, expr.span),
            ExprKind::Select { condition, then, otherwise } => {
                self.select(condition, then, otherwise.as_deref(), expr.span)
            }
            ExprKind::Coalesce { value, fallback } => {
                if let Some(extremum) = extremum_or(self, value, fallback, expr.span)? {
                    return Ok(extremum);
                }
                let given = self.eval(value)?;
                given_or(self, given, value, fallback, expr.span)
            }
            ExprKind::NullTest(value) => Ok(Value::bool(!self.eval(value)?.is_null())),
            ExprKind::Is { left, right } => {
                let (a, b) = (self.eval(left)?, self.eval(right)?);
                self.elementwise(&a, &b, expr.span, |_, a, b| Ok(Atom::Bool(a == b)))
            }
            ExprKind::In { item, pack } => {
                let (item, pack) = (self.eval(item)?, whole_pack(self, pack)?);
                self.contains(&item, &pack, expr.span)
            }
            ExprKind::Fold { pack, op, cumulative } => {
                let value = whole_pack(self, pack)?;
                self.fold(&value, *op, *cumulative, expr.span)
            }
            ExprKind::Cast { target, value } => {
                let target = self.type_named(target)?;
                let value = self.eval(value)?;
                self.map(&value, |this, atom| this.cast(target, atom, expr.span))
            }
            ExprKind::Builtin { name, argument } => {
                let Some(op) = builtin(&name.name) else {
                    let message = format!("`{}` is not a built-in function", name.name);
                    return stop(&UNEXPECTED_VALUE, name.span, message);
                };
                let value = self.eval(argument)?;
                self.map(&value, |this, a| this.operation(op, &[a], expr.span))
            }
            ExprKind::Guard { index, remap } => self.guard(index, remap.as_deref()),
            ExprKind::Error => Err(Stop::Poison),
        }
    }

    /// A single compile-time int; `None` for null.
    pub(crate) fn int(&mut self, expr: &Expr) -> EvalResult<Option<i64>> {
        let value = self.eval(expr)?;
        Self::int_of(value, expr.span)
    }

    pub(crate) fn int_of(value: Value, span: Span) -> EvalResult<Option<i64>> {
        match value {
            Value::Null => Ok(None),
            Value::Atom(Atom::Int(value)) => Ok(Some(value)),
            Value::Atom(Atom::Bool(value)) => Ok(Some(i64::from(value))),
            other => stop(
                &UNEXPECTED_VALUE,
                span,
                match other {
                    Value::Atom(Atom::Runtime(_)) => {
                        "expected an int that is known at compile time; this one is known only at run time"
                            .to_string()
                    }
                    other => format!("an int is needed here, this is {}", describe(&other)),
                },
            ),
        }
    }

    fn name(&mut self, name: &Ident) -> EvalResult<Value> {
        let Some(value) = self.scope.get(&name.name) else {
            let message = format!("`{}` has no value here", name.name);
            return stop_with_help(
                &UNEXPECTED_VALUE,
                name.span,
                message,
                "give it a value, or assign it, before its use",
            );
        };
        self.limits.charge(value.atoms().len() / ITEMS_PER_WORK, name.span)?;
        if value.is_poisoned() {
            return Err(Stop::Poison);
        }
        if let Some(state) = &mut self.formula
            && let Some(guards) = state.local_guards.get(&name.name)
        {
            let guards = guards.clone();
            for guard in guards {
                self.require(guard);
            }
        }
        Ok(value.clone())
    }

    /// Adds a condition under which the current expression may be evaluated.
    pub(crate) fn require(&mut self, guard: model::Expr) {
        if runtime::bool_literal(&guard) == Some(true) {
            return;
        }
        if let Some(state) = &mut self.formula
            && let Some(frame) = state.guards.last_mut()
            && !frame.contains(&guard)
        {
            frame.push(guard);
        }
    }

    /// Evaluates in a new frame of guards, which do not affect the enclosing branch; returns them with the result.
    pub(crate) fn guarded<T>(
        &mut self,
        evaluate: impl FnOnce(&mut Self) -> EvalResult<T>,
    ) -> EvalResult<(T, Vec<model::Expr>)> {
        if let Some(state) = &mut self.formula {
            state.guards.push(Vec::new());
        }
        let result = evaluate(self);
        let guards = match &mut self.formula {
            Some(state) => {
                let guards = state.guards.pop();
                guards.unwrap_or_else(|| unreachable!("internal compiler error: no frame of guards"))
            }
            None => Vec::new(),
        };
        Ok((result?, guards))
    }

    fn string(&mut self, literal: &StringLiteral) -> EvalResult<Value> {
        let mut text = String::new();
        for piece in &literal.pieces {
            let before = text.len();
            match piece {
                StringPiece::Text(t) => text.push_str(t),
                StringPiece::Format(expr) => {
                    let value = self.eval(expr)?;
                    let mut atoms = value.atoms();
                    if let Some(open) = atoms.find(|a| matches!(a, Atom::Runtime(_) | Atom::Series(_))) {
                        let message = format!(
                            "a string must be known at compile time, but this is {}; only messages of `@assert` may contain it",
                            open.describe()
                        );
                        return stop(&UNEXPECTED_VALUE, expr.span, message);
                    }
                    text.push_str(&value.text());
                }
            }
            self.limits.charge_bytes(text.len() - before, literal.span)?;
            if text.len() > Value::MAX_TEXT_BYTES {
                let message = format!(
                    "a string has more than {} bytes, the most that there can be",
                    Value::MAX_TEXT_BYTES
                );
                return stop(&PACK_TOO_LONG, literal.span, message);
            }
        }
        Ok(Value::Atom(Atom::Str(text.into())))
    }

    fn property(&mut self, base: &Ident, property: Property) -> EvalResult<Value> {
        let value = self.name(base)?;
        match (property, &value) {
            (_, Value::Null) => Ok(Value::Null),
            (Property::Shape, Value::Atom(Atom::Tensor(t))) => {
                let mut extents = Vec::new();
                for extent in &t.tensor.shape {
                    extents.push(self.extent_atom(extent, base.span)?);
                }
                Ok(Value::pack(extents))
            }
            (Property::Rank, Value::Atom(Atom::Tensor(t))) => Ok(Value::int(count(t.tensor.shape.len()))),
            (Property::Size, Value::Pack(pack)) => Ok(Value::int(count(pack.len()))),
            (Property::Size, Value::Atom(Atom::Series(series))) => {
                Ok(Value::Atom(Atom::from_expr(series.length.clone())))
            }
            (Property::Size, Value::Atom(Atom::Stack(t))) => match t.tensor.shape.first() {
                Some(length) => Ok(Value::Atom(self.extent_atom(length, base.span)?)),
                None => Ok(Value::Null),
            },
            _ => stop(&UNEXPECTED_VALUE, base.span, format!("`{}` has no such property", base.name)),
        }
    }

    /// An extent as a value; a dynamic one has no compile-time value.
    pub(crate) fn extent_atom(&self, extent: &model::Extent, span: Span) -> EvalResult<Atom> {
        match extent {
            model::Extent::Fixed(n) => match i64::try_from(*n) {
                Ok(n) => Ok(Atom::Int(n)),
                Err(_) => stop(&INTEGER_OVERFLOW, span, "this extent does not fit in an int"),
            },
            model::Extent::Dynamic { .. } => Ok(Atom::Runtime(Rc::new(model::Expr {
                kind: ScalarKind::Int,
                node: model::Node::Extent(extent.clone()),
            }))),
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: &Expr, span: Span) -> EvalResult<Value> {
        let value = self.eval(operand)?;
        self.map(&value, |this, atom| match op {
            UnaryOp::Plus => Ok(atom),
            UnaryOp::Minus => this.operation(ScalarOp::Neg, &[atom], span),
            UnaryOp::Not => this.operation(ScalarOp::Not, &[atom], span),
        })
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, span: Span) -> EvalResult<Value> {
        let a = self.eval(left)?;
        if matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Implies) && !a.is_null() {
            return logical(self, op, &a, right, span);
        }
        let b = self.eval(right)?;
        let op = scalar_op(op);
        self.elementwise(&a, &b, span, |this, a, b| this.operation(op, &[a.clone(), b.clone()], span))
    }

    fn select(
        &mut self,
        condition: &Expr,
        then: &Expr,
        otherwise: Option<&Expr>,
        span: Span,
    ) -> EvalResult<Value> {
        let branches = (then, otherwise);
        match &self.eval(condition)? {
            Value::Null => Ok(Value::Null),
            Value::Atom(Atom::Bool(taken)) => {
                let value = self.branch(branches, *taken)?;
                match otherwise {
                    Some(otherwise) => beside(self, value, if *taken { otherwise } else { then }, span),
                    None => Ok(value),
                }
            }
            Value::Atom(Atom::Runtime(run)) => self.select_dynamically(run, branches, span),
            Value::Atom(Atom::Series(series)) => match self.both_branches(branches)? {
                Some((a, b)) => self.select_in_series(series, &a, &b, span),
                None => Ok(Value::Null),
            },
            Value::Pack(pack) => self.select_by_pack(pack, branches, span),
            other => stop(
                &UNEXPECTED_VALUE,
                span,
                format!("a condition must be bool, this is {}", describe(other)),
            ),
        }
    }

    /// The branch of a select that a condition takes.
    fn branch(&mut self, (then, otherwise): (&Expr, Option<&Expr>), taken: bool) -> EvalResult<Value> {
        match (taken, otherwise) {
            (true, _) => self.eval(then),
            (false, Some(otherwise)) => self.eval(otherwise),
            (false, None) => Ok(Value::Null),
        }
    }

    /// Both branches of a select that is decided for each item; `None` if one of them is null.
    fn both_branches(&mut self, branches: (&Expr, Option<&Expr>)) -> EvalResult<Option<(Value, Value)>> {
        let mark = mark(self);
        let (a, b) = (self.branch(branches, true)?, self.branch(branches, false)?);
        some_steps(self, mark);
        Ok((!a.is_null() && !b.is_null()).then_some((a, b)))
    }

    fn select_dynamically(
        &mut self,
        condition: &model::Expr,
        branches: (&Expr, Option<&Expr>),
        span: Span,
    ) -> EvalResult<Value> {
        let taken = |this: &mut Self, holds: bool| {
            where_holds(this, condition, holds, |this| this.guarded(|this| this.branch(branches, holds)))
        };
        let (a, when_true) = taken(self, true)?;
        let (b, when_false) = taken(self, false)?;
        for guard in when_true {
            self.require(runtime::select(condition.clone(), guard, literal_bool(true)));
        }
        for guard in when_false {
            self.require(runtime::select(condition.clone(), literal_bool(true), guard));
        }
        if a.is_null() || b.is_null() {
            return stop(&UNEXPECTED_VALUE, span, "a branch selected at run time has no value");
        }
        self.elementwise(&a, &b, span, |this, a, b| this.choose(condition, a, b, span))
    }

    fn select_by_pack(
        &mut self,
        conditions: &Pack,
        branches: (&Expr, Option<&Expr>),
        span: Span,
    ) -> EvalResult<Value> {
        // The length of an unused branch must still agree, if it has one.
        for taken in [true, false] {
            if !conditions.is_empty() && conditions.iter().all(|item| item == Atom::Bool(taken)) {
                let value = self.branch(branches, taken)?;
                return spread(self, value, conditions.len(), span);
            }
        }
        if conditions.is_empty() {
            return Ok(Value::pack([]));
        }
        match self.both_branches(branches)? {
            Some((a, b)) => self.select_items(conditions, &a, &b, span),
            None => Ok(Value::Null),
        }
    }

    fn select_items(&mut self, condition: &Pack, a: &Value, b: &Value, span: Span) -> EvalResult<Value> {
        let length = condition.len();
        let a = spread(self, a.clone(), length, span)?;
        let b = spread(self, b.clone(), length, span)?;
        let mut items = Vec::with_capacity(length);
        for ((c, a), b) in condition.iter().zip(a.atoms()).zip(b.atoms()) {
            items.push(match c {
                Atom::Bool(true) => a,
                Atom::Bool(false) => b,
                Atom::Runtime(run) => self.choose(&run, &a, &b, span)?,
                _ => return stop(&UNEXPECTED_VALUE, span, "a condition must be bool"),
            });
        }
        Ok(Value::pack(items))
    }

    /// A select at run time.
    pub(crate) fn choose(
        &mut self,
        condition: &model::Expr,
        a: &Atom,
        b: &Atom,
        span: Span,
    ) -> EvalResult<Atom> {
        match (a.to_expr(), b.to_expr()) {
            (Some(x), Some(y)) if x.kind == y.kind => {
                Ok(Atom::from_expr(runtime::select(condition.clone(), x, y)))
            }
            _ if a == b => Ok(a.clone()),
            _ if matches!((a, b), (Atom::Tensor(_), Atom::Tensor(_))) => stop(
                &UNEXPECTED_VALUE,
                span,
                format!(
                    "a selection at run time needs tensors of one type and shape, but these are {} and {}",
                    a.text(),
                    b.text()
                ),
            ),
            _ => stop(
                &UNEXPECTED_VALUE,
                span,
                format!("cannot select between {} and {} at run time", a.describe(), b.describe()),
            ),
        }
    }

    pub(super) fn lengths<T>(&self, a: usize, b: usize, span: Span) -> EvalResult<T> {
        stop(&PACK_LENGTHS_DIFFER, span, format!("packs have different lengths here: {a} and {b}"))
    }

    /// Applies a function to every item; null remains null.
    pub(crate) fn map(
        &mut self,
        value: &Value,
        mut apply: impl FnMut(&mut Self, Atom) -> EvalResult<Atom>,
    ) -> EvalResult<Value> {
        match value {
            Value::Null => Ok(Value::Null),
            Value::Atom(Atom::Series(series)) => {
                let nowhere = Span::new(FileId(0), 0, 0);
                self.map_series(series, nowhere, apply)
            }
            Value::Atom(atom) => Ok(Value::Atom(apply(self, atom.clone())?)),
            Value::Pack(pack) => pack.map(|item| apply(self, item)).map(Value::Pack),
        }
    }

    /// Applies a function to pairs of items; a single value is repeated for every item of a pack.
    pub(crate) fn elementwise(
        &mut self,
        a: &Value,
        b: &Value,
        span: Span,
        mut apply: impl FnMut(&mut Self, &Atom, &Atom) -> EvalResult<Atom>,
    ) -> EvalResult<Value> {
        if let Some(a) = of_known_length(self, a, b, span)? {
            return self.elementwise(&a, b, span, apply);
        }
        if let Some(b) = of_known_length(self, b, a, span)? {
            return self.elementwise(a, &b, span, apply);
        }
        if let Some(result) = self.pairs_of_series(a, b, span, &mut apply) {
            return result;
        }
        match (a, b) {
            (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
            (Value::Atom(a), Value::Atom(b)) => Ok(Value::Atom(apply(self, a, b)?)),
            (Value::Pack(a), Value::Atom(b)) => {
                self.map(&Value::Pack(a.clone()), |this, a| apply(this, &a, b))
            }
            (Value::Atom(a), Value::Pack(b)) => {
                self.map(&Value::Pack(b.clone()), |this, b| apply(this, a, &b))
            }
            (Value::Pack(a), Value::Pack(b)) => {
                if a.len() != b.len() {
                    return self.lengths(a.len(), b.len(), span);
                }
                a.zip(b, |a, b| apply(self, a, b)).map(Value::Pack)
            }
        }
    }

    /// A scalar operation: computed if all operands are compile-time values, else an expression of the formula.
    pub(crate) fn operation(&mut self, op: ScalarOp, operands: &[Atom], span: Span) -> EvalResult<Atom> {
        if let [Atom::Str(a), Atom::Str(b)] = operands {
            return self.strings(op, a, b, span);
        }
        self.language.note(op, operands, self.formula.as_ref(), (self.limits, span))?;
        let scalars: Option<Vec<_>> = operands.iter().map(Atom::scalar).collect();
        if let Some(scalars) = scalars {
            return match apply(op, &scalars, self.edition) {
                Ok(value) => Ok(Atom::from_scalar(value)),
                Err(Fault::DivisionByZero) => self.division_by_zero(operands, span),
                Err(Fault::Overflow) => stop(
                    &INTEGER_OVERFLOW,
                    span,
                    format!(
                        "the result of this operation on {} does not fit in 64 bits",
                        operands_text(operands)
                    ),
                ),
                Err(Fault::Kinds) => self.kinds(operands, span),
            };
        }
        if operands.iter().any(|o| matches!(o, Atom::Poison)) {
            return Err(Stop::Poison);
        }
        if divides_index_by_zero(op, operands) {
            let message = "division by a zero that is known at compile time";
            return stop(&DIVISION_BY_ZERO, span, message);
        }
        let nodes = operands.iter().map(|operand| match operand {
            Atom::Runtime(expr) => expr.size(),
            _ => 1,
        });
        self.limits.charge(nodes.sum::<usize>() / NODES_PER_WORK, span)?;
        let exprs: Option<Vec<model::Expr>> = operands.iter().map(Atom::to_expr).collect();
        match exprs.and_then(|exprs| runtime::operation(op, exprs, self.edition)) {
            Some(expr) => self.of_bounded_size(expr, span),
            None => self.kinds(operands, span),
        }
    }

    fn division_by_zero<T>(&self, operands: &[Atom], span: Span) -> EvalResult<T> {
        let message = format!("division by zero: {}", operands_text(operands));
        stop(&DIVISION_BY_ZERO, span, message)
    }

    fn kinds<T>(&self, operands: &[Atom], span: Span) -> EvalResult<T> {
        if operands.iter().any(|o| matches!(o, Atom::Guarded(_))) {
            return computed_guard(span);
        }
        let kinds: Vec<&str> =
            operands.iter().map(|o| o.kind().map_or(o.describe(), ScalarKind::name)).collect();
        stop(&UNEXPECTED_VALUE, span, format!("this operation does not support {}", kinds.join(" and ")))
    }

    fn strings(&self, op: ScalarOp, a: &str, b: &str, span: Span) -> EvalResult<Atom> {
        Ok(Atom::Bool(match op {
            ScalarOp::Eq => a == b,
            ScalarOp::Ne => a != b,
            ScalarOp::Lt => a < b,
            ScalarOp::Le => a <= b,
            ScalarOp::Gt => a > b,
            ScalarOp::Ge => a >= b,
            ScalarOp::Add
                if self.edition == Edition::Khronos
                    && a.len().saturating_add(b.len()) <= Value::MAX_TEXT_BYTES =>
            {
                return Ok(Atom::Str(format!("{a}{b}").into()));
            }
            _ => {
                return stop(&UNEXPECTED_VALUE, span, "this operation does not support str and str");
            }
        }))
    }

    /// Converts one item.
    pub(crate) fn cast(&mut self, target: TypeName, atom: Atom, span: Span) -> EvalResult<Atom> {
        match (target, &atom) {
            (TypeName::Str, Atom::Str(_)) => Ok(atom),
            (TypeName::Scalar(ScalarKind::Bool), _) => self.operation(ScalarOp::ToBool, &[atom], span),
            (TypeName::Scalar(ScalarKind::Int), Atom::Real(value))
                if value.is_infinite() && self.edition == Edition::Khronos =>
            {
                stop_with_help(
                    &INTEGER_OVERFLOW,
                    span,
                    format!("`int({})` has no value: no int is infinite", atom.text()),
                    "write the int that is meant, or compute with reals",
                )
            }
            (TypeName::Scalar(ScalarKind::Int), _) => self.operation(ScalarOp::ToInt, &[atom], span),
            (TypeName::Scalar(ScalarKind::Real), _) => self.operation(ScalarOp::ToReal, &[atom], span),
            _ => stop(
                &UNEXPECTED_VALUE,
                span,
                format!("{} cannot be cast to {}", atom.describe(), target.name()),
            ),
        }
    }
}

fn operands_text(operands: &[Atom]) -> String {
    let texts: Vec<String> = operands.iter().map(Atom::text).collect();
    texts.join(" and ")
}

/// Whether an extent or an index is divided by a compile-time zero: an error, as for compile-time operands.
/// Elements of tensors have a defined result.
fn divides_index_by_zero(op: ScalarOp, operands: &[Atom]) -> bool {
    matches!(op, ScalarOp::Div | ScalarOp::CeilDiv | ScalarOp::Mod)
        && matches!(operands, [Atom::Runtime(position), Atom::Int(0)] if !runtime::reads(position))
}

impl Evaluator<'_> {
    /// An expression over dynamic extents, unless nested helpers have made it too large.
    pub(crate) fn of_bounded_size(&self, expr: model::Expr, span: Span) -> EvalResult<Atom> {
        let operations = extent_operations(&expr);
        self.limits.charge(WORK_PER_OPERATION * operations, span)?;
        if operations > self.limits.extent_operations {
            let message = format!(
                "this expression over dynamic extents has {operations} operations; the limit `extent_operations` is {}",
                self.limits.extent_operations
            );
            return stop(&LIMIT_EXCEEDED, span, message);
        }
        self.within_terms(expr, span)
    }

    /// A result, if the number of its terms is within the limit.
    fn within_terms(&self, expr: model::Expr, span: Span) -> EvalResult<Atom> {
        let most = self.limits.polynomial_terms;
        if expr.kind == ScalarKind::Int && terms(&expr) > most {
            let message = format!(
                "this sum of ints has more than {most} terms (limit `polynomial_terms`); compute it by a formula \
                     with `+=`"
            );
            return stop(&LIMIT_EXCEEDED, span, message);
        }
        Ok(Atom::from_expr(expr))
    }
}
