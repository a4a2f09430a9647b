// SPDX-License-Identifier: Apache-2.0
//! List expressions: expansion, repetition, ranges and zips (2.4).

use crate::ast::{Expr as Text, Item};
use crate::diagnostics::codes::{INDEX_OUT_OF_RANGE, PACK_LENGTHS_DIFFER, UNEXPECTED_VALUE};
use crate::eval::broadcast::{check_length, repeat, repeat_by, stands_for_a_pack};
use crate::eval::dynamic_pack::ranges::row;
use crate::eval::evaluator::Evaluator;
use crate::eval::pack::Pack;
use crate::eval::position::{int_of, not_negative};
use crate::eval::runtime;
use crate::eval::series::zip::{side_by_side, zip_series};
use crate::eval::series::{Series, binary, refused, series_of};
use crate::eval::stop::{EvalResult, stop};
use crate::eval::value::{Atom, Value, describe};
use crate::model::Expr;
use crate::model::check::is_shape_scalar;
use crate::source::{FileId, Span};
use skript_semantics::ScalarOp;
use std::rc::Rc;

impl Evaluator<'_> {
    pub(super) fn list(&mut self, items: &[Item]) -> EvalResult<Value> {
        // A single repetition keeps its uniform value even if it is empty.
        if let [Item::Expand { value, count, span }] = items {
            return self.expand(value, count.as_ref(), *span);
        }
        let mut atoms: Vec<Atom> = Vec::new();
        let mut null = false;
        // A pack of dynamic length, and the items before it.
        let (mut series, mut before): (Option<(Rc<Series>, Span)>, _) = (None, Vec::new());
        for item in items {
            let (value, span) = match item {
                Item::Expr(expr) => (self.eval(expr)?, expr.span),
                Item::Range { begin, end, stride, span } => {
                    (self.range(begin, end, stride.as_ref(), *span)?, *span)
                }
                Item::Expand { value, count, span } => (self.expand(value, count.as_ref(), *span)?, *span),
                Item::Zip { packs, count, span } => (self.zip(packs, count.as_ref(), *span)?, *span),
            };
            match value {
                Value::Null => null = true,
                Value::Atom(Atom::Series(next)) => {
                    let between = std::mem::take(&mut atoms);
                    let joined = match &series {
                        None => {
                            before = between;
                            next
                        }
                        Some((first, span)) => {
                            let first = self.join_series(&before, first, &between, *span)?;
                            before.clear();
                            first.followed_by(&next, *span)?
                        }
                    };
                    series = Some((joined, span));
                }
                range @ Value::Pack(_) if matches!(items, [Item::Range { .. }]) => return Ok(range),
                value => atoms.extend(value.atoms()),
            }
            check_length(self, atoms.len(), span)?;
        }
        if let (Some((series, span)), false) = (&series, null) {
            let joined = self.join_series(&before, series, &atoms, *span)?;
            return Ok(Value::Atom(Atom::Series(joined)));
        }
        if !null && let Some(row) = row(self, &atoms, span_of(items))? {
            return Ok(row);
        }
        Ok(if null { Value::Null } else { Value::pack(atoms) })
    }

    /// `value..`, `value..(count)`.
    pub(crate) fn expand(&mut self, value: &Text, count: Option<&Text>, span: Span) -> EvalResult<Value> {
        let count = match count {
            Some(expr) => match self.eval(expr)? {
                Value::Atom(Atom::Runtime(length)) => {
                    return self.expand_by(value, Atom::Runtime(length), span);
                }
                known => match Evaluator::int_of(known, expr.span)? {
                    Some(n) => Some(self.length(n, expr.span)?),
                    None => return Ok(Value::Null),
                },
            },
            None => None,
        };
        // An item with count zero need not have a value.
        if count == Some(0) && !matches!(value.kind, crate::ast::ExprKind::Name(_)) {
            if let Ok(Value::Atom(atom)) = self.eval(value) {
                return repeat(self, atom, 0, span);
            }
            return Ok(Value::pack([]));
        }
        match (self.eval(value)?, count) {
            (Value::Null, Some(0)) => Ok(Value::pack([])),
            (Value::Null, _) => Ok(Value::Null),
            (Value::Atom(pack @ (Atom::Series(_) | Atom::Stack(_) | Atom::DynamicPack(_))), None) => {
                Ok(Value::Atom(pack))
            }
            (Value::Atom(atom), Some(n)) => repeat(self, atom, n, span),
            (Value::Atom(atom), None) => stands_for_a_pack(&atom, span),
            (Value::Pack(pack), None) => Ok(Value::Pack(pack)),
            (Value::Pack(pack), Some(n)) if pack.len() == n => Ok(Value::Pack(pack)),
            (Value::Pack(pack), Some(n)) => stop(
                &PACK_LENGTHS_DIFFER,
                span,
                format!("the pack has {} items, but {n} are required", pack.len()),
            ),
        }
    }

    /// `value..(count)` with a dynamic count.
    fn expand_by(&mut self, value: &Text, count: Atom, span: Span) -> EvalResult<Value> {
        let length = match int_of(&count).filter(is_shape_scalar) {
            Some(length) => length,
            None => {
                return refused("the number of repetitions must be an int computed from extents", span);
            }
        };
        match self.eval(value)? {
            Value::Null => Ok(Value::Null),
            Value::Atom(Atom::Series(series)) => {
                side_by_side(self, &series.length, &length, span)?;
                Ok(Value::Atom(Atom::Series(series)))
            }
            Value::Atom(atom) => {
                let length = not_negative(self, length);
                let repeated = repeat_by(self, atom, Value::Atom(Atom::from_expr(length)), span)?;
                match repeated {
                    Some(repeated) => Ok(repeated),
                    None => refused("its items must be numbers or bools", span),
                }
            }
            pack @ Value::Pack(_) => {
                let items = Expr::int(super::value::count(pack.atoms().len()));
                side_by_side(self, &items, &length, span)?;
                Ok(pack)
            }
        }
    }

    /// A length from an int.
    pub(crate) fn length(&self, value: i64, span: Span) -> EvalResult<usize> {
        let Ok(length) = usize::try_from(value) else {
            return stop(&INDEX_OUT_OF_RANGE, span, format!("a pack cannot have {value} items"));
        };
        check_length(self, length, span)?;
        Ok(length)
    }

    fn range(&mut self, begin: &Text, end: &Text, stride: Option<&Text>, span: Span) -> EvalResult<Value> {
        let stride = match stride {
            Some(expr) => self.int(expr)?,
            None => Some(1),
        };
        let ends = (self.eval(begin)?, self.eval(end)?);
        if let Some(stride) = stride
            && let Some(range) = self.run_time_range(&ends, stride, span)?
        {
            return Ok(range.into_value());
        }
        let begin = Evaluator::int_of(ends.0, begin.span)?;
        let end = Evaluator::int_of(ends.1, end.span)?;
        let (Some(begin), Some(end), Some(stride)) = (begin, end, stride) else {
            return Ok(Value::Null);
        };
        if stride == 0 {
            return stop(&INDEX_OUT_OF_RANGE, span, "the stride of a range is zero");
        }
        let distance = i128::from(end) - i128::from(begin);
        let steps = i128::from(stride);
        let length = if distance.signum() == steps.signum() {
            (distance.abs() + steps.abs() - 1) / steps.abs()
        } else {
            0
        };
        let length = self.length(i64::try_from(length).unwrap_or(i64::MAX), span)?;
        Ok(Value::Pack(Pack::range(begin, stride, length)))
    }

    /// A range with a dynamic end; `None` if both ends are static or depend on data.
    fn run_time_range(&self, ends: &(Value, Value), stride: i64, span: Span) -> EvalResult<Option<Series>> {
        let end = |value: &Value| match value {
            Value::Atom(atom) => int_of(atom).filter(|end| !runtime::reads(end)),
            _ => None,
        };
        let known = |value: &Value| !matches!(value, Value::Atom(Atom::Runtime(_)));
        let (Some(from), Some(to)) = (end(&ends.0), end(&ends.1)) else {
            return Ok(None);
        };
        if stride == 0 || (known(&ends.0) && known(&ends.1)) {
            return Ok(None);
        }
        let locations = || {
            let (low, high) = if stride > 0 { (&from, &to) } else { (&to, &from) };
            let distance = binary(ScalarOp::Sub, high.clone(), low.clone())?;
            let steps = Expr::int(stride.checked_abs()?);
            let length = binary(ScalarOp::CeilDiv, distance, steps)?;
            Series::from_items(not_negative(self, length), |i| {
                let steps = binary(ScalarOp::Mul, Expr::int(stride), i.clone())?;
                binary(ScalarOp::Add, from.clone(), steps)
            })
        };
        match locations() {
            Some(range) => Ok(Some(range)),
            None => refused("this range has too many items", span),
        }
    }

    fn zip(&mut self, packs: &[Text], count: Option<&Text>, span: Span) -> EvalResult<Value> {
        let mut values = Vec::with_capacity(packs.len());
        for pack in packs {
            values.push(self.eval(pack)?);
        }
        if values.iter().any(Value::is_null) {
            return Ok(Value::Null);
        }
        if count.is_none() && values.iter().any(|value| series_of(value).is_some()) {
            return zip_series(self, &values, span);
        }
        let mut length = match count {
            Some(expr) => match self.int(expr)? {
                Some(n) => Some(self.length(n, expr.span)?),
                None => return Ok(Value::Null),
            },
            None => None,
        };
        for value in &values {
            if let Value::Atom(Atom::Series(_) | Atom::Stack(_) | Atom::DynamicPack(_)) = value {
                return refused("it is not zipped", span);
            }
            if let Value::Pack(pack) = value {
                match length {
                    Some(n) if n != pack.len() => {
                        let message = format!("zipped packs have different lengths: {n} and {}", pack.len());
                        return stop(&PACK_LENGTHS_DIFFER, span, message);
                    }
                    _ => length = Some(pack.len()),
                }
            }
        }
        let Some(length) = length else {
            let first = values.first().map_or_else(String::new, describe);
            let message = format!("a zip of single values needs a count; the first is {first}");
            return stop(&UNEXPECTED_VALUE, span, message);
        };
        check_length(self, length.saturating_mul(values.len()), span)?;
        let mut items = Vec::new();
        for index in 0..length {
            for value in &values {
                match value {
                    Value::Pack(pack) => items.extend(pack.get(index)),
                    Value::Atom(atom) => items.push(atom.clone()),
                    Value::Null => {}
                }
            }
        }
        Ok(Value::pack(items))
    }
}

/// The span of the first item.
fn span_of(items: &[Item]) -> Span {
    let location = |item: &Item| match item {
        Item::Expr(expr) => expr.span,
        Item::Range { span, .. } | Item::Expand { span, .. } | Item::Zip { span, .. } => *span,
    };
    items.first().map_or(Span::new(FileId(0), 0, 0), location)
}
