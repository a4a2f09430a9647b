//! Branches and loops (2.10.1): decided at compile time where possible, else operations of the model.

use std::sync::Arc;

use skript_semantics::{Scalar, ScalarKind};

use super::bind::coerce_scalar;
use super::composer::{Composed, Composer, Reported};
use super::instantiate::Builder;
use super::invoke::tensor_text;
use crate::ast::{self, ComponentValue};
use crate::diagnostics::codes::{
    BRANCH_RESULTS, CONTROL_CONDITION, LIMIT_EXCEEDED, LOOP_WITHOUT_END, NOT_SUPPORTED_YET,
    SCAN_LENGTHS, UNEXPECTED_VALUE,
};
use crate::eval::evaluator::count;
use crate::eval::{Atom, Pack, TensorRef, Value};
use crate::model::{
    Arm, Block, Carried, ConstantData, Extent, Loop, Operation, ShapeExpr, TensorType, ValueId,
};
use crate::source::Span;

/// `do` loops without condition of up to this many iterations are unrolled.
const UNROLLED_ITERATIONS: u64 = 32;

/// How a value is made of tensors: one, or a pack of so many.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Single,
    Pack(usize),
}

/// A loop's parts, evaluated.
struct Parts<'a> {
    syntax: &'a ast::Loop,
    carried: Vec<Value>,
    scans: Vec<Pack>,
    /// Compile-time number of iterations.
    count: Option<u64>,
    /// Run-time number of iterations.
    dynamic: Option<TensorRef>,
}

impl<'p> Composer<'p, '_> {
    pub fn branching(
        &mut self,
        builder: &mut Builder<'p>,
        branching: &ast::Branching,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        // Arms before the first one that is certain; that one replaces `else`.
        let mut dynamic: Vec<(&ComponentValue, &ComponentValue)> = Vec::new();
        let mut last: &ComponentValue = &branching.otherwise;
        for (condition, consequent) in &branching.arms {
            match self.static_condition(builder, condition)? {
                Some(true) => {
                    last = consequent;
                    break;
                }
                Some(false) => {}
                None => dynamic.push((condition, consequent)),
            }
        }
        if dynamic.is_empty() {
            return self.component_value(builder, last, hint, wanted);
        }
        let mut arms = Vec::new();
        let mut all: Vec<(Vec<Form>, Vec<TensorRef>)> = Vec::new();
        let mark = builder.function.updates.len();
        let mut updated = Vec::new();
        for (condition, consequent) in dynamic {
            let condition = self.condition_block(builder, condition)?;
            self.no_updates_inside(builder, mark, "a condition", branching.span)?;
            let (consequent, forms, tensors) =
                self.inner_block(builder, consequent, hint, wanted)?;
            updated.push(builder.function.updates.split_off(mark));
            arms.push(Arm {
                condition,
                consequent,
            });
            all.push((forms, tensors));
        }
        let (mut otherwise, forms, tensors) = self.inner_block(builder, last, hint, wanted)?;
        updated.push(builder.function.updates.split_off(mark));
        for (other_forms, other) in &all {
            let types = |tensors: &[TensorRef]| {
                let texts: Vec<String> = tensors.iter().map(|t| tensor_text(&t.tensor)).collect();
                texts.join(", ")
            };
            let equal = *other_forms == forms
                && other.len() == tensors.len()
                && other
                    .iter()
                    .zip(&tensors)
                    .all(|(a, b)| a.tensor == b.tensor);
            if !equal {
                return Err(self.error(
                    &BRANCH_RESULTS,
                    branching.span,
                    format!(
                        "the branches give different results: {} and {}",
                        types(other),
                        types(&tensors)
                    ),
                ));
            }
        }
        let outputs: Vec<TensorRef> = tensors
            .iter()
            .map(|t| builder.value(None, (*t.tensor).clone(), branching.span))
            .collect();
        let mut branches: Vec<_> = arms
            .iter_mut()
            .map(|arm| &mut arm.consequent)
            .chain([&mut otherwise])
            .zip(updated)
            .collect();
        let captures = self.branch_updates(builder, &mut branches);
        let mut ids: Vec<ValueId> = outputs.iter().map(|t| t.id).collect();
        for capture in captures {
            let tensor = builder.captures.get(capture).map(|c| c.tensor.clone());
            let Some(tensor) = tensor else { continue };
            let new = builder.value(None, tensor, branching.span);
            ids.push(new.id);
            self.record_update(builder, capture, new.id, branching.span)?;
        }
        builder.emit(Operation::If {
            arms,
            otherwise,
            outputs: ids,
            span: branching.span,
        });
        Ok(formed(&forms, outputs))
    }

    /// `Some` if the condition is known at compile time.
    fn static_condition(
        &mut self,
        builder: &Builder<'p>,
        condition: &ComponentValue,
    ) -> Composed<Option<bool>> {
        let ComponentValue::Expr(expr) = condition else {
            return Ok(None);
        };
        match self.value(builder, expr)? {
            Value::Atom(Atom::Bool(value)) => Ok(Some(value)),
            Value::Atom(Atom::Tensor(_)) => Ok(None),
            Value::Pack(pack) if pack.items.iter().all(|a| matches!(a, Atom::Bool(_))) => {
                Ok(Some(pack.items.iter().all(|a| *a == Atom::Bool(true))))
            }
            other => Err(self.error(
                &CONTROL_CONDITION,
                expr.span,
                format!("a condition must be a bool, this is {}", other.text()),
            )),
        }
    }

    /// A block that yields one bool of volume 1.
    fn condition_block(
        &mut self,
        builder: &mut Builder<'p>,
        condition: &ComponentValue,
    ) -> Composed<Block> {
        let (block, _, tensors) = self.inner_block(builder, condition, None, 1)?;
        match tensors.as_slice() {
            [single]
                if single.tensor.kind == ScalarKind::Bool
                    && single
                        .tensor
                        .shape
                        .iter()
                        .all(|extent| extent.fixed() == Some(1)) =>
            {
                Ok(block)
            }
            _ => {
                let texts: Vec<String> = tensors.iter().map(|t| tensor_text(&t.tensor)).collect();
                Err(self.error(
                    &CONTROL_CONDITION,
                    span_of(condition),
                    format!(
                        "a condition must be one bool with one element, this is {}",
                        texts.join(", ")
                    ),
                ))
            }
        }
    }

    /// Composes into a block of its own; its results are all tensors that it gives, in order.
    fn inner_block(
        &mut self,
        builder: &mut Builder<'p>,
        value: &ComponentValue,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<(Block, Vec<Form>, Vec<TensorRef>)> {
        let depth = builder.blocks.len();
        builder.blocks.push(Block::default());
        let results = self.flat_results(builder, value, hint, wanted);
        let mut block = builder.blocks.pop().unwrap_or_default();
        builder.blocks.truncate(depth);
        let (forms, tensors) = results?;
        block.results = tensors.iter().map(|t| t.id).collect();
        Ok((block, forms, tensors))
    }

    fn flat_results(
        &mut self,
        builder: &mut Builder<'p>,
        value: &ComponentValue,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<(Vec<Form>, Vec<TensorRef>)> {
        let values = self.component_value(builder, value, hint, wanted)?;
        let mut forms = Vec::new();
        let mut tensors = Vec::new();
        for result in &values {
            forms.push(form(result));
            for atom in result.atoms() {
                let kind = atom.kind().unwrap_or(ScalarKind::Real);
                tensors.push(self.tensor_of(builder, atom, kind, span_of(value))?);
            }
        }
        Ok((forms, tensors))
    }

    pub fn looping(
        &mut self,
        builder: &mut Builder<'p>,
        looping: &ast::Loop,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        let parts = self.loop_parts(builder, looping)?;
        let conditional = looping.before.is_some() || looping.after.is_some();
        if parts.count.is_none() && parts.dynamic.is_none() && !conditional {
            return Err(self.error(
                &LOOP_WITHOUT_END,
                looping.span,
                "a loop needs a `for` clause, a count or a condition",
            ));
        }
        match parts.count {
            Some(iterations) if !conditional && parts.dynamic.is_none() => {
                let regular = parts.scans.iter().all(same_types);
                if looping.unroll || iterations <= UNROLLED_ITERATIONS || !regular {
                    return self.unrolled_loop(builder, &parts, iterations, hint, wanted);
                }
            }
            _ if looping.unroll => {
                return Err(self.error(
                    &LOOP_WITHOUT_END,
                    looping.span,
                    "only loops with a compile-time count can be unrolled",
                ));
            }
            _ => {}
        }
        self.dynamic_loop(builder, &parts, hint)
    }

    fn loop_parts<'a>(
        &mut self,
        builder: &mut Builder<'p>,
        looping: &'a ast::Loop,
    ) -> Composed<Parts<'a>> {
        let mut carried = Vec::new();
        for item in &looping.carried {
            carried.push(self.carried_init(builder, item)?);
        }
        let mut scans: Vec<Pack> = Vec::new();
        for scan in &looping.scans {
            match self.value(builder, &scan.pack)? {
                Value::Pack(pack) => {
                    if let Some(first) = scans.first()
                        && first.len() != pack.len()
                    {
                        return Err(self.error(
                            &SCAN_LENGTHS,
                            scan.pack.span,
                            format!(
                                "the packs have different lengths: {} and {}",
                                first.len(),
                                pack.len()
                            ),
                        ));
                    }
                    scans.push(pack);
                }
                other => {
                    return Err(self.error(
                        &UNEXPECTED_VALUE,
                        scan.pack.span,
                        format!("only packs can be scanned, this is {}", other.text()),
                    ));
                }
            }
        }
        let length = scans
            .first()
            .map(|p| u64::try_from(p.len()).unwrap_or(u64::MAX));
        let mut parts = Parts {
            syntax: looping,
            carried,
            scans,
            count: length,
            dynamic: None,
        };
        let Some(expr) = looping.count.as_ref().and_then(|c| c.count.as_ref()) else {
            return Ok(parts);
        };
        match self.value(builder, expr)? {
            // An optional count that is not given leaves the scan's.
            Value::Null => {}
            Value::Atom(Atom::Int(n)) => {
                let n = u64::try_from(n).unwrap_or(0);
                if length.is_some_and(|length| n > length) {
                    return Err(self.error(
                        &SCAN_LENGTHS,
                        expr.span,
                        format!(
                            "the count {n} exceeds the {} items that are scanned",
                            length.unwrap_or(0)
                        ),
                    ));
                }
                parts.count = Some(n);
            }
            Value::Atom(Atom::Tensor(tensor))
                if tensor.tensor.kind == ScalarKind::Int && tensor.tensor.shape.is_empty() =>
            {
                parts.dynamic = Some(tensor);
            }
            other => {
                return Err(self.error(
                    &UNEXPECTED_VALUE,
                    expr.span,
                    format!(
                        "a loop count must be a single int, this is {}",
                        other.text()
                    ),
                ));
            }
        }
        Ok(parts)
    }

    /// The initial value of a loop-carried tensor; a scalar fills the declared shape.
    fn carried_init(
        &mut self,
        builder: &mut Builder<'p>,
        carried: &ast::Carried,
    ) -> Composed<Value> {
        let value = self.value(builder, &carried.init)?;
        let atom = match &value {
            Value::Atom(atom @ (Atom::Bool(_) | Atom::Int(_) | Atom::Real(_))) => atom.clone(),
            Value::Atom(Atom::Tensor(_)) => return Ok(value),
            Value::Pack(_) => {
                return Err(self.error(
                    &NOT_SUPPORTED_YET,
                    carried.span,
                    "packs as loop-carried values are not supported yet",
                ));
            }
            other => {
                return Err(self.error(
                    &UNEXPECTED_VALUE,
                    carried.init.span,
                    format!(
                        "a loop-carried value must be a tensor, this is {}",
                        other.text()
                    ),
                ));
            }
        };
        let Some(scalar) = atom.scalar() else {
            return Err(Reported);
        };
        let tensor = match &carried.type_spec {
            Some(spec) => {
                let declaration = ast::Declaration {
                    name: carried.name.clone(),
                    type_spec: spec.clone(),
                    default: None,
                    bounds: Vec::new(),
                    span: carried.span,
                };
                let kind = self.tensor_kind(builder, &spec.base)?;
                match spec.shape {
                    Some(_) => self
                        .declared_tensors(builder, &declaration, 1)?
                        .into_iter()
                        .next(),
                    None => None,
                }
                .unwrap_or(TensorType {
                    kind,
                    shape: Vec::new(),
                })
            }
            None => TensorType {
                kind: scalar.kind(),
                shape: Vec::new(),
            },
        };
        let Some(scalar) = coerce_scalar(scalar, tensor.kind) else {
            return Err(self.error(
                &UNEXPECTED_VALUE,
                carried.init.span,
                format!(
                    "`{}` is {}, its initial value is {}",
                    carried.name.name,
                    tensor.kind.name(),
                    atom.text()
                ),
            ));
        };
        let value = builder.constant(tensor, ConstantData::Splat(scalar), carried.span);
        Ok(Value::Atom(Atom::Tensor(value)))
    }

    fn unrolled_loop(
        &mut self,
        builder: &mut Builder<'p>,
        parts: &Parts,
        iterations: u64,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        let looping = parts.syntax;
        if usize::try_from(iterations).map_or(true, |n| n > self.limits.unrolled) {
            return Err(self.error(
                &LIMIT_EXCEEDED,
                looping.span,
                format!(
                    "the loop has {iterations} iterations, at most {} are unrolled (limit `unrolled`)",
                    self.limits.unrolled
                ),
            ));
        }
        let mut carried = parts.carried.clone();
        let outputs = wanted.saturating_sub(carried.len());
        let mut scanned: Vec<Vec<Atom>> = vec![Vec::new(); outputs];
        for iteration in 0..usize::try_from(iterations).unwrap_or(0) {
            let depth = builder.scope.depth();
            builder.scope.push();
            for (item, value) in looping.carried.iter().zip(&carried) {
                builder.scope.set(item.name.name.clone(), value.clone());
            }
            for (scan, pack) in looping.scans.iter().zip(&parts.scans) {
                let item = pack
                    .items
                    .get(iteration)
                    .cloned()
                    .map_or(Value::Null, Value::Atom);
                builder.scope.set(scan.item.name.clone(), item);
            }
            if let Some(index) = looping.count.as_ref().and_then(|c| c.index.as_ref()) {
                builder
                    .scope
                    .set(index.name.clone(), Value::int(count(iteration)));
            }
            let results =
                self.component_value(builder, &looping.body, hint, carried.len() + outputs);
            builder.scope.truncate(depth);
            let mut results = results?;
            if results.len() != carried.len() + outputs {
                return Err(self.error(
                    &BRANCH_RESULTS,
                    looping.span,
                    format!(
                        "the body gives {} results; {} are carried and {outputs} collected",
                        results.len(),
                        carried.len()
                    ),
                ));
            }
            let rest = results.split_off(carried.len());
            for ((item, old), new) in looping.carried.iter().zip(&mut carried).zip(results) {
                let next = self.next_carried(builder, item, old, &new)?;
                *old = next;
            }
            for (pack, value) in scanned.iter_mut().zip(rest) {
                match value {
                    Value::Atom(atom) => {
                        let kind = atom.kind().unwrap_or(ScalarKind::Real);
                        let tensor = self.tensor_of(builder, &atom, kind, looping.span)?;
                        pack.push(Atom::Tensor(tensor));
                    }
                    _ => {
                        return Err(self.error(
                            &BRANCH_RESULTS,
                            looping.span,
                            "each iteration must give single tensors, this is a pack",
                        ));
                    }
                }
            }
        }
        let mut results = carried;
        results.extend(scanned.into_iter().map(Value::pack));
        Ok(results)
    }

    /// The value that the next iteration sees: of the same type as before.
    fn next_carried(
        &mut self,
        builder: &mut Builder<'p>,
        item: &ast::Carried,
        old: &Value,
        new: &Value,
    ) -> Composed<Value> {
        let (Value::Atom(Atom::Tensor(old)), Value::Atom(atom)) = (old, new) else {
            return Err(self.error(
                &BRANCH_RESULTS,
                item.span,
                format!("`{}` must stay a single tensor", item.name.name),
            ));
        };
        let tensor = self.tensor_of(builder, atom, old.tensor.kind, item.span)?;
        if tensor.tensor != old.tensor {
            return Err(self.error(
                &BRANCH_RESULTS,
                item.span,
                format!(
                    "`{}` is {} before an iteration and {} after it",
                    item.name.name,
                    tensor_text(&old.tensor),
                    tensor_text(&tensor.tensor)
                ),
            ));
        }
        Ok(Value::Atom(Atom::Tensor(tensor)))
    }

    /// A loop that stays one.
    fn dynamic_loop(
        &mut self,
        builder: &mut Builder<'p>,
        parts: &Parts,
        hint: Option<&str>,
    ) -> Composed<Vec<Value>> {
        let looping = parts.syntax;
        let span = looping.span;
        let depth = builder.scope.depth();
        builder.scope.push();
        let mark = builder.function.updates.len();
        let built = self.loop_operation(builder, parts, hint);
        builder.scope.truncate(depth);
        let (operation, results) = built?;
        self.no_updates_inside(builder, mark, "a loop", span)?;
        builder.emit(Operation::Loop(Box::new(Loop { span, ..operation })));
        Ok(results)
    }

    fn loop_operation(
        &mut self,
        builder: &mut Builder<'p>,
        parts: &Parts,
        hint: Option<&str>,
    ) -> Composed<(Loop, Vec<Value>)> {
        let looping = parts.syntax;
        let mut carried = Vec::new();
        let mut results = Vec::new();
        for (item, init) in looping.carried.iter().zip(&parts.carried) {
            let Value::Atom(Atom::Tensor(init)) = init else {
                return Err(Reported);
            };
            let tensor = (*init.tensor).clone();
            let inner = builder.value(Some(item.name.name.clone()), tensor.clone(), item.span);
            let result = builder.value(None, tensor, item.span);
            builder.scope.set(
                item.name.name.clone(),
                Value::Atom(Atom::Tensor(inner.clone())),
            );
            carried.push(Carried {
                inner: inner.id,
                init: init.id,
                result: result.id,
            });
            results.push(Value::Atom(Atom::Tensor(result)));
        }
        let mut scans = Vec::new();
        for (scan, pack) in looping.scans.iter().zip(&parts.scans) {
            let tensors = self.scanned_tensors(builder, scan, pack)?;
            let Some(first) = tensors.first() else {
                return Err(self.error(
                    &NOT_SUPPORTED_YET,
                    scan.span,
                    "scanning an empty pack at run time is not supported yet",
                ));
            };
            let item = builder.value(
                Some(scan.item.name.clone()),
                (*first.tensor).clone(),
                scan.span,
            );
            builder.scope.set(
                scan.item.name.clone(),
                Value::Atom(Atom::Tensor(item.clone())),
            );
            scans.push((
                item.id,
                tensors.iter().map(|t| t.id).collect::<Vec<ValueId>>(),
            ));
        }
        let index = looping
            .count
            .as_ref()
            .and_then(|c| c.index.as_ref())
            .map(|name| {
                let tensor = TensorType {
                    kind: ScalarKind::Int,
                    shape: Vec::new(),
                };
                let value = builder.value(Some(name.name.clone()), tensor, name.span);
                builder
                    .scope
                    .set(name.name.clone(), Value::Atom(Atom::Tensor(value.clone())));
                value.id
            });
        let before = match &looping.before {
            Some(condition) => Some(self.loop_condition(builder, condition)?),
            None => None,
        };
        let wanted = carried.len() + 1;
        let (body, forms, tensors) = self.inner_block(builder, &looping.body, hint, wanted)?;
        if forms.iter().any(|f| *f != Form::Single) || forms.len() < carried.len() {
            return Err(self.error(
                &BRANCH_RESULTS,
                looping.span,
                format!(
                    "the body must give {} single tensors for the carried values",
                    carried.len()
                ),
            ));
        }
        for ((item, own), tensor) in looping.carried.iter().zip(&parts.carried).zip(&tensors) {
            let new = Value::Atom(Atom::Tensor(tensor.clone()));
            self.next_carried(builder, item, own, &new)?;
        }
        let after = match &looping.after {
            Some(condition) => Some(self.loop_condition(builder, condition)?),
            None => None,
        };
        let mut scan_outputs = Vec::new();
        let collected: Vec<TensorRef> = tensors.iter().skip(carried.len()).cloned().collect();
        if !collected.is_empty() {
            let fixed = before.is_none() && after.is_none() && parts.dynamic.is_none();
            let Some(iterations) = parts.count else {
                return Err(self.error(
                    &NOT_SUPPORTED_YET,
                    looping.span,
                    "collecting results of a loop without a bound on its count is not supported yet",
                ));
            };
            builder.symbols += 1;
            let done = Extent::Dynamic {
                expr: Arc::new(ShapeExpr::Symbol(format!("data.{}", builder.symbols))),
                bound: iterations,
            };
            for tensor in &collected {
                if !fixed {
                    let mut whole = (*tensor.tensor).clone();
                    whole.shape.insert(0, done.clone());
                    let stack = builder.value(None, whole, looping.span);
                    scan_outputs.push(vec![stack.id]);
                    results.push(Value::Atom(Atom::Stack(stack)));
                    continue;
                }
                let items: Vec<TensorRef> = (0..iterations)
                    .map(|_| builder.value(None, (*tensor.tensor).clone(), looping.span))
                    .collect();
                scan_outputs.push(items.iter().map(|t| t.id).collect());
                results.push(Value::pack(items.into_iter().map(Atom::Tensor).collect()));
            }
        }
        let operation = Loop {
            carried,
            scans,
            index,
            static_count: parts.count,
            dynamic_count: parts.dynamic.as_ref().map(|t| t.id),
            before,
            body,
            after,
            scan_outputs,
            span: looping.span,
        };
        Ok((operation, results))
    }

    /// The condition of a loop; a compile-time one is a constant.
    fn loop_condition(
        &mut self,
        builder: &mut Builder<'p>,
        condition: &ComponentValue,
    ) -> Composed<Block> {
        if let ComponentValue::Expr(expr) = condition
            && let Value::Atom(Atom::Bool(value)) = self.value(builder, expr)?
        {
            builder.blocks.push(Block::default());
            let tensor = TensorType {
                kind: ScalarKind::Bool,
                shape: Vec::new(),
            };
            let value =
                builder.constant(tensor, ConstantData::Splat(Scalar::Bool(value)), expr.span);
            let mut block = builder.blocks.pop().unwrap_or_default();
            block.results = vec![value.id];
            return Ok(block);
        }
        self.condition_block(builder, condition)
    }

    fn scanned_tensors(
        &mut self,
        builder: &mut Builder<'p>,
        scan: &ast::Scan,
        pack: &Pack,
    ) -> Composed<Vec<TensorRef>> {
        let mut tensors: Vec<TensorRef> = Vec::with_capacity(pack.len());
        for atom in pack.items.iter() {
            let kind = atom.kind().unwrap_or(ScalarKind::Real);
            let tensor = self.tensor_of(builder, atom, kind, scan.span)?;
            if let Some(first) = tensors.first()
                && first.tensor != tensor.tensor
            {
                return Err(self.error(
                    &NOT_SUPPORTED_YET,
                    scan.span,
                    format!(
                        "a loop with a run-time count scans tensors of one type; here are {} and {}",
                        tensor_text(&first.tensor),
                        tensor_text(&tensor.tensor)
                    ),
                ));
            }
            tensors.push(tensor);
        }
        Ok(tensors)
    }
}

fn form(value: &Value) -> Form {
    match value {
        Value::Pack(pack) => Form::Pack(pack.len()),
        _ => Form::Single,
    }
}

/// Tensors put together as they were.
fn formed(forms: &[Form], tensors: Vec<TensorRef>) -> Vec<Value> {
    let mut tensors = tensors.into_iter().map(Atom::Tensor);
    forms
        .iter()
        .map(|form| match form {
            Form::Single => tensors.next().map_or(Value::Null, Value::Atom),
            Form::Pack(length) => Value::pack(tensors.by_ref().take(*length).collect()),
        })
        .collect()
}

fn same_types(pack: &Pack) -> bool {
    let mut types = pack.items.iter().map(|atom| match atom {
        Atom::Tensor(tensor) => Some(tensor.tensor.clone()),
        _ => None,
    });
    match types.next() {
        Some(first) => first.is_some() && types.all(|t| t == first),
        None => true,
    }
}

/// The place of a right-hand side.
pub fn span_of(value: &ComponentValue) -> Span {
    match value {
        ComponentValue::Invocation(invocation) => invocation.span,
        ComponentValue::Expr(expr) => expr.span,
        ComponentValue::Block(block) => block.span,
        ComponentValue::If(branching) => branching.span,
        ComponentValue::Loop(looping) => looping.span,
        ComponentValue::Error(span) => *span,
    }
}
