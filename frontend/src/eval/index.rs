// SPDX-License-Identifier: Apache-2.0
//! Indexing and substitution of packs and strings (2.4).

use crate::ast::{Expr, ExprKind, Subscript, UnaryOp};
use crate::diagnostics::codes::{INDEX_OUT_OF_RANGE, PACK_LENGTHS_DIFFER, UNEXPECTED_VALUE};
use crate::diagnostics::counted;
use crate::eval::broadcast::{spread, stands_for_a_pack};
use crate::eval::dynamic_pack::PackSlice;
use crate::eval::dynamic_pack::ranges::{row_index, stack_range, whole};
use crate::eval::evaluator::Evaluator;
use crate::eval::pack::Pack;
use crate::eval::position::{item_position, tensor_position};
use crate::eval::ranges::signed;
use crate::eval::runtime;
use crate::eval::series::zip::{replace_in_series, side_by_side};
use crate::eval::series::{Series, refused};
use crate::eval::stop::{EvalResult, Stop, stop};
use crate::eval::value::{Atom, Guarded, Selected, TensorRef, Value, count, describe};
use crate::model::check::is_shape_scalar;
use crate::model::{self, Node};
use crate::source::Span;
use skript_semantics::{Scalar, ScalarKind, ScalarOp};
use std::rc::Rc;

/// The items of a pack that an index selects.
enum Selection {
    Null,
    One(usize),
    /// The positions of several items.
    Many(Pack),
    /// A single index that is known at run time.
    Runtime(model::Expr),
    /// Several indices, some of them known only at run time.
    RuntimeMany(Vec<Atom>),
}

impl Evaluator<'_> {
    pub(super) fn index(
        &mut self,
        base: &Expr,
        subscripts: &[Subscript],
        trailing_comma: bool,
        span: Span,
    ) -> EvalResult<Value> {
        let value = self.eval(base)?;
        match &value {
            Value::Null => Ok(Value::Null),
            Value::Atom(Atom::Tensor(_) | Atom::Item(_) | Atom::Selected(_)) => {
                self.access(&value, subscripts, span)
            }
            Value::Atom(Atom::Series(series)) => self.series_item(series, subscripts, span),
            Value::Atom(Atom::DynamicPack(row)) => row_index(self, row, subscripts, trailing_comma, span),
            Value::Atom(Atom::Stack(stack)) => {
                match subscripts {
                    [Subscript::Expr(_)] if !trailing_comma => {
                        return self.stack_item(stack, subscripts, span);
                    }
                    [range @ Subscript::Range { .. }] if !trailing_comma => {
                        return stack_range(self, stack, range, span);
                    }
                    _ => {}
                }
                match self.every_item(stack, span)? {
                    Some(every) => self.access(&Value::Atom(every), subscripts, span),
                    None => match whole(self, stack, span)? {
                        Some(locations) => self.items_at(stack, &locations, subscripts, span),
                        None => refused("it has no length", span),
                    },
                }
            }
            Value::Pack(_) if value.has_tensor() => {
                let item =
                    !trailing_comma && matches!(subscripts, [Subscript::Expr(_) | Subscript::Range { .. }]);
                if item {
                    self.pack_item(&value, subscripts, span)
                } else {
                    self.access(&value, subscripts, span)
                }
            }
            // These subscripts access the elements of tensors; an empty pack has no tensors to access.
            Value::Pack(pack)
                if pack.is_empty()
                    && self.formula.is_some()
                    && (trailing_comma
                        || !matches!(subscripts, [Subscript::Expr(_) | Subscript::Range { .. }])) =>
            {
                Ok(value)
            }
            Value::Pack(_) => self.pack_item(&value, subscripts, span),
            Value::Atom(Atom::Str(text)) => {
                let characters: Vec<Atom> = text.chars().map(|c| Atom::Str(c.to_string().into())).collect();
                let picked = self.pack_item(&Value::pack(characters), subscripts, span)?;
                if picked.is_null() {
                    return Ok(Value::Null);
                }
                let text: String = picked.atoms().map(|item| item.text()).collect();
                Ok(Value::Atom(Atom::Str(text.into())))
            }
            Value::Atom(atom) => stands_for_a_pack(atom, span),
        }
    }

    /// The current item of a pack of scalars in a packed assignment to a pack of dynamic length.
    pub(crate) fn item_here(&mut self, series: &Series, span: Span) -> EvalResult<Atom> {
        let every = self.formula.as_ref().and_then(|f| f.every.as_ref());
        match every {
            Some(every)
                if self.extent_atom(&every.length, span)?.to_expr() == Some(series.length.clone()) =>
            {
                Ok(Atom::from_expr(series.at(&model::Expr::index(every.index))))
            }
            _ => refused(
                "name one item, `[k]`, fold all of them, or assign to a pack that is declared with this length",
                span,
            ),
        }
    }

    /// The current item of a pack of static length in a packed assignment.
    pub(crate) fn item_of_pack_here(&mut self, pack: &Pack, span: Span) -> EvalResult<Atom> {
        let every = self.formula.as_ref().and_then(|f| f.every.as_ref());
        match every.map(|every| (every.index, every.length.clone())) {
            Some((index, model::Extent::Fixed(n))) if u64::try_from(pack.len()) == Ok(n) => {
                let index = Atom::from_expr(model::Expr::index(index));
                self.run_time_item(pack, &index, span)
            }
            every => stop(
                &PACK_LENGTHS_DIFFER,
                span,
                format!(
                    "a pack of {} is assigned to {} positions",
                    counted(pack.len(), "item"),
                    every.map_or("other".to_string(), |(_, length)| length.to_string())
                ),
            ),
        }
    }

    /// The elements `xs[i,]` or `xs[1:][i,]` of the items at these positions. In a packed assignment, only the element of
    /// the current item; otherwise a pack, usually for a fold.
    pub(super) fn items_at(
        &mut self,
        stack: &TensorRef,
        locations: &PackSlice,
        subscripts: &[Subscript],
        span: Span,
    ) -> EvalResult<Value> {
        let every = self.formula.as_ref().and_then(|f| f.every.as_ref());
        let current = every.map(|every| (every.index, every.length.clone()));
        let position = match &current {
            Some((index, length)) => {
                if let Some(length) = self.extent_atom(length, span)?.to_expr() {
                    side_by_side(self, &length, &locations.length, span)?;
                }
                model::Expr::index(*index)
            }
            None => Series::position(),
        };
        let Some(location) = locations.at(&position) else {
            return refused("the range is too large", span);
        };
        let item = Atom::Item(Rc::new((stack.clone(), Atom::from_expr(location))));
        match self.access(&Value::Atom(item), subscripts, span)? {
            Value::Atom(Atom::Runtime(item)) if current.is_none() => {
                Ok(Series::uniform((*item).clone(), locations.length.clone()).into_value())
            }
            item => Ok(item),
        }
    }

    /// The current item of a pack of dynamic length in a packed assignment (2.12).
    fn every_item(&mut self, stack: &TensorRef, span: Span) -> EvalResult<Option<Atom>> {
        let every = self.formula.as_mut().and_then(|f| f.every.as_mut());
        let (Some(every), Some(length)) = (every, stack.tensor.shape.first()) else {
            return Ok(None);
        };
        let other = (length.clone(), span);
        if *length != every.length && !every.others.contains(&other) {
            every.others.push(other);
        }
        let index = Atom::from_expr(model::Expr::index(every.index));
        Ok(Some(Atom::Item(Rc::new((stack.clone(), index)))))
    }

    /// An item of a pack of dynamic length; only formulas can select one by an index known at run time.
    fn stack_item(&mut self, stack: &TensorRef, subscripts: &[Subscript], span: Span) -> EvalResult<Value> {
        let index = match subscripts {
            [Subscript::Expr(expr)] => self.eval(expr)?,
            _ => Value::Null,
        };
        match index {
            Value::Atom(index @ (Atom::Int(_) | Atom::Runtime(_)))
                if self.formula.is_some() || known_before_data(&index) =>
            {
                let location = match (stack.tensor.shape.first(), &self.formula) {
                    (Some(length), Some(_)) => self.position_in_stack(&index, length, span)?,
                    _ => index,
                };
                Ok(Value::Atom(Atom::Item(Rc::new((stack.clone(), location)))))
            }
            _ => stop(
                &UNEXPECTED_VALUE,
                span,
                "a pack of dynamic length supports only one index, a single int, or an index symbol in formulas",
            ),
        }
    }

    /// The position of an item of a pack of dynamic length, in a formula.
    pub(crate) fn position_in_stack(
        &mut self,
        index: &Atom,
        length: &model::Extent,
        span: Span,
    ) -> EvalResult<Atom> {
        let length = self.extent_atom(length, span)?.to_expr();
        let location = length.and_then(|length| tensor_position(self, index, &length, span));
        Ok(location.map_or_else(|| index.clone(), Atom::from_expr))
    }

    fn pack_item(&mut self, value: &Value, subscripts: &[Subscript], span: Span) -> EvalResult<Value> {
        let Value::Pack(pack) = value else {
            return stop(&UNEXPECTED_VALUE, span, "only packs have items");
        };
        let [subscript] = subscripts else {
            return stop(&UNEXPECTED_VALUE, span, "a pack has one index");
        };
        match self.selection(subscript, pack.len(), span)? {
            Selection::Null => Ok(Value::Null),
            Selection::One(index) => Ok(pack.get(index).map_or(Value::Null, Value::Atom)),
            Selection::Many(positions) => Ok(Value::Pack(pack.select(&positions))),
            Selection::Runtime(index) => {
                let index = Atom::from_expr(index);
                self.run_time_item(pack, &index, span).map(Value::Atom)
            }
            Selection::RuntimeMany(indices) => Ok(Value::pack(
                indices
                    .iter()
                    .map(|index| self.run_time_item(pack, index, span))
                    .collect::<EvalResult<Vec<Atom>>>()?,
            )),
        }
    }

    /// An item of a pack selected inside a formula.
    pub(crate) fn run_time_item(&mut self, pack: &Pack, index: &Atom, span: Span) -> EvalResult<Atom> {
        let variable = index.to_expr().and_then(|index| free_index(&index));
        let keeps_order = self.formula.as_ref().is_some_and(|f| f.keeps_order);
        let tensors = || pack.any_of_kind(|a| matches!(a, Atom::Tensor(_) | Atom::Guarded(_)));
        if let Some(variable) = variable.filter(|_| !keeps_order && tensors()) {
            return Err(Stop::Unroll(variable));
        }
        let length = model::Expr::int(count(pack.len()));
        let Some(index) = &item_position(self, index, &length, span) else {
            return stop(&UNEXPECTED_VALUE, span, "an index must be an int");
        };
        if let Some(uniform) = pack.identical() {
            return Ok(uniform);
        }
        if let (true, Some(variable), Some(formula)) = (pack.is_empty(), variable, &self.formula)
            && formula.has_empty_range(variable)
        {
            return Err(Stop::Unroll(variable));
        }
        let no_step = || self.formula.as_ref().is_some_and(|f| f.has_no_steps());
        if let Some(kind) = pack.kind().filter(|_| pack.is_empty() && no_step()) {
            return Ok(Atom::from_scalar(kind.default_value()));
        }
        if let Some((first, step)) = pack.progression() {
            let operation = |op, a, b| runtime::operation(op, vec![a, model::Expr::int(b)], self.edition);
            let scaled = operation(ScalarOp::Mul, index.clone(), step);
            if let Some(sum) = scaled.and_then(|scaled| operation(ScalarOp::Add, scaled, first)) {
                return Ok(Atom::from_expr(sum));
            }
        }
        let scalars: Option<Vec<Scalar>> = pack.iter().map(|item| item.scalar()).collect();
        if let Some(items) = scalars {
            let Some(kind) = items.first().map(|s| s.kind()) else {
                return stop(&INDEX_OUT_OF_RANGE, span, "an empty pack has no items");
            };
            return Ok(Atom::from_expr(model::Expr {
                kind,
                node: Node::Table { items, index: Box::new(index.clone()) },
            }));
        }
        let items: Vec<Atom> = pack.iter().collect();
        if let Some(selected) = Selected::new(&items, index, false) {
            return Ok(Atom::Selected(Rc::new(selected)));
        }
        if let Some(variable) = variable.filter(|_| tensors()) {
            return Err(Stop::Unroll(variable));
        }
        // A chain of selects; larger indices select the last item.
        let mut items = items.into_iter().enumerate().rev();
        let Some((_, mut result)) = items.next() else {
            return stop(&INDEX_OUT_OF_RANGE, span, "an empty pack has no items");
        };
        for (position, item) in items {
            let here = runtime::compare(ScalarOp::Eq, index.clone(), model::Expr::int(count(position)));
            result = self.choose(&here, &item, &result, span)?;
        }
        Ok(result)
    }

    /// One index into a pack of tensors before an access: `xs[k][…]`. `Err` with the index if it is known only at run time.
    pub(crate) fn tensor_item(
        &mut self,
        length: usize,
        item: &Expr,
    ) -> EvalResult<Result<usize, model::Expr>> {
        let subscript = Subscript::Expr(item.clone());
        match self.selection(&subscript, length, item.span)? {
            Selection::One(index) => Ok(Ok(index)),
            Selection::Runtime(index) => {
                let length = model::Expr::int(count(length));
                let location = Atom::from_expr(index.clone());
                let location = tensor_position(self, &location, &length, item.span);
                Ok(Err(location.unwrap_or(index)))
            }
            _ => stop(&UNEXPECTED_VALUE, item.span, "one index is needed here"),
        }
    }

    fn selection(&mut self, subscript: &Subscript, length: usize, span: Span) -> EvalResult<Selection> {
        let (expr, value) = match subscript {
            Subscript::Expr(expr) => (expr, self.eval(expr)?),
            Subscript::Expand { value, count, span } => (value, self.expand(value, count.as_ref(), *span)?),
            Subscript::Range { begin, end, stride, span } => {
                return self.slice(begin.as_ref(), end.as_ref(), stride.as_ref(), length, *span);
            }
            Subscript::Guard { span, .. } => {
                return stop(&UNEXPECTED_VALUE, *span, "only an access of a tensor can be guarded");
            }
        };
        match &value {
            Value::Null => Ok(Selection::Null),
            Value::Atom(Atom::Int(index)) => Ok(Selection::One(self.position(*index, length, expr.span)?)),
            Value::Atom(Atom::Runtime(run)) if run.kind == ScalarKind::Int => {
                Ok(Selection::Runtime((**run).clone()))
            }
            Value::Pack(pack) => {
                let mut mask = Vec::new();
                let mut positions = Vec::new();
                for item in pack.iter() {
                    match item {
                        Atom::Bool(b) => mask.push(b),
                        Atom::Int(i) => {
                            positions.push(Atom::Int(count(self.position(i, length, expr.span)?)))
                        }
                        Atom::Runtime(run) if run.kind == ScalarKind::Int => {
                            return Ok(Selection::RuntimeMany(pack.iter().collect::<Vec<_>>()));
                        }
                        other => {
                            let message = format!("{} is not an index", other.describe());
                            return stop(&UNEXPECTED_VALUE, expr.span, message);
                        }
                    }
                }
                let is_mask = !mask.is_empty() || matches!(pack.repeated_item(), Some(Atom::Bool(_)));
                if !is_mask {
                    return Ok(Selection::Many(positions.into_iter().collect()));
                }
                if mask.len() != length {
                    let message = format!("the mask has {} items, the pack has {length}", mask.len());
                    return stop(&PACK_LENGTHS_DIFFER, span, message);
                }
                Ok(Selection::Many(
                    mask.iter()
                        .enumerate()
                        .filter_map(|(i, keep)| keep.then_some(Atom::Int(count(i))))
                        .collect(),
                ))
            }
            other => stop(&UNEXPECTED_VALUE, expr.span, format!("{} is not an index", describe(other))),
        }
    }

    /// A position from an index; negative ones count from the end.
    fn position(&self, index: i64, length: usize, span: Span) -> EvalResult<usize> {
        let shifted = if index < 0 { index.saturating_add(count(length)) } else { index };
        match usize::try_from(shifted) {
            Ok(position) if position < length => Ok(position),
            _ => stop(
                &INDEX_OUT_OF_RANGE,
                span,
                format!("index {index} is out of range: the pack has {length} items"),
            ),
        }
    }

    fn slice(
        &mut self,
        begin: Option<&Expr>,
        end: Option<&Expr>,
        stride: Option<&Expr>,
        length: usize,
        span: Span,
    ) -> EvalResult<Selection> {
        let mut bounds = [None, None, None];
        for (bound, expr) in bounds.iter_mut().zip([begin, end, stride]) {
            if let Some(expr) = expr {
                match self.int(expr)? {
                    Some(value) => *bound = Some(value),
                    None => return Ok(Selection::Null),
                }
            }
        }
        let [first, last, step] = bounds;
        let written = [first, last];
        let step = step.unwrap_or(1);
        let size = count(length);
        if step == 0 {
            return stop(&INDEX_OUT_OF_RANGE, span, "the stride of a range is zero");
        }
        // Errata 27: a computed begin of −1 means "before the first item" when going backwards.
        if step < 0 && first == Some(-1) && last.is_none() && !begin.is_some_and(is_constant) {
            return Ok(Selection::Many(Pack::range(0, step, 0)));
        }
        let normal = |index: i64| {
            if index < 0 { index.saturating_add(size) } else { index }
        };
        let (first, last) = if step > 0 {
            (first.map_or(0, normal), last.map_or(size, normal))
        } else {
            (first.map_or(size - 1, normal), last.map_or(-1, normal))
        };
        let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
        let empty = if step > 0 { first >= last } else { first <= last };
        if !(low..=high.max(low)).contains(&first) || !(low..=high.max(low)).contains(&last) {
            let within = |v: i64| (low..=high.max(low)).contains(&v);
            if !(empty && within(first.clamp(low, high.max(low))) && first.abs() <= size) {
                let [first, last] = written.map(|end| end.map_or(String::new(), |e| e.to_string()));
                let message = format!("range {first}:{last} is out of bounds: the pack has {length} items");
                return stop(&INDEX_OUT_OF_RANGE, span, message);
            }
        }
        // All positions from the first one, which is in the pack, to the last one are in the pack.
        let length = if empty { 0 } else { first.abs_diff(last).div_ceil(step.unsigned_abs()) };
        Ok(Selection::Many(Pack::range(first, step, self.length(signed(length), span)?)))
    }

    pub(super) fn substitute(
        &mut self,
        base: &Expr,
        subscript: &Subscript,
        value: &Expr,
        span: Span,
    ) -> EvalResult<Value> {
        let base = self.eval(base)?;
        let pack = match &base {
            Value::Null => return Ok(Value::Null),
            Value::Pack(pack) => pack,
            Value::Atom(Atom::Series(series)) => {
                return replace_in_series(self, series, subscript, value, span);
            }
            other => {
                return stop(&UNEXPECTED_VALUE, span, format!("{} has no items to replace", describe(other)));
            }
        };
        let selection = self.selection(subscript, pack.len(), span)?;
        let value = self.eval(value)?;
        if value.is_null() {
            return Ok(Value::Null);
        }
        let positions = match selection {
            Selection::Null => return Ok(Value::Null),
            Selection::One(index) => Pack::range(count(index), 1, 1),
            Selection::Many(positions) => positions,
            Selection::Runtime(_) | Selection::RuntimeMany(_) => {
                return stop(&UNEXPECTED_VALUE, span, "the items to replace must be known at compile time");
            }
        };
        let values = spread(self, value, positions.len(), span)?;
        let mut items = pack.iter().collect::<Vec<_>>();
        for (position, value) in positions.positions().zip(values.atoms()) {
            if let Some(slot) = items.get_mut(position) {
                *slot = value;
            }
        }
        Ok(Value::pack(items))
    }
}

/// Whether an index is an int that depends only on extents.
fn known_before_data(index: &Atom) -> bool {
    match index {
        Atom::Runtime(expr) => is_shape_scalar(expr),
        other => matches!(other, Atom::Int(_)),
    }
}

/// An index variable that an index depends on; `None` if the index depends on tensor data.
pub(crate) fn free_index(expr: &model::Expr) -> Option<usize> {
    if runtime::reads(expr) {
        return None;
    }
    match expr.node {
        Node::Index(position) => Some(position),
        _ => expr.children().into_iter().find_map(free_index),
    }
}

/// Whether the expression consists of literals only.
pub(super) fn is_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(_) => true,
        ExprKind::Unary { op: UnaryOp::Minus | UnaryOp::Plus, operand } => is_constant(operand),
        _ => false,
    }
}

impl Evaluator<'_> {
    pub(super) fn guard(&mut self, index: &Expr, remap: Option<&(Expr, Expr)>) -> EvalResult<Value> {
        let location = index.span;
        let index = self.eval(index)?;
        if let Value::Atom(Atom::Series(_)) = index {
            return refused("its items cannot be guarded", location);
        }
        match remap {
            None => self.map(&index, |_, index| Ok(Atom::Guarded(Rc::new(Guarded { index, remap: None })))),
            Some((low, high)) => {
                let span = low.span.to(high.span);
                let low = self.eval(low)?;
                let high = self.eval(high)?;
                let pairs = self.zip_values(&low, &high, &index, span)?;
                self.pack_guards(&index, pairs)
            }
        }
    }

    fn zip_values(
        &mut self,
        low: &Value,
        high: &Value,
        index: &Value,
        span: Span,
    ) -> EvalResult<Vec<(Atom, Atom)>> {
        let length = match (index, low, high) {
            (Value::Pack(p), _, _) | (_, Value::Pack(p), _) | (_, _, Value::Pack(p)) => p.len(),
            _ => 1,
        };
        let low = spread(self, low.clone(), length, span)?;
        let high = spread(self, high.clone(), length, span)?;
        Ok(low.atoms().zip(high.atoms()).collect())
    }

    fn pack_guards(&mut self, index: &Value, pairs: Vec<(Atom, Atom)>) -> EvalResult<Value> {
        let mut pairs = pairs.into_iter();
        // The items now differ in their replacements, so the pack is no longer a repetition.
        let index = match index {
            Value::Pack(pack) => Value::pack(pack.iter()),
            other => other.clone(),
        };
        self.map(&index, |_, index| Ok(Atom::Guarded(Rc::new(Guarded { index, remap: pairs.next() }))))
    }
}
