// SPDX-License-Identifier: Apache-2.0
//! Loops (2.10.1): evaluation of their parts, and unrolling.

use crate::ast;
use crate::compose::blocks::compose::check_ranks;
use crate::compose::calls::{Composed, Reported};
use crate::compose::composer::Composer;
use crate::compose::context::Context;
use crate::compose::declarations::outputs::check_written;
use crate::compose::declarations::tensors::declared_tensors;
use crate::compose::declarations::types::tensor_kind;
use crate::compose::invocations::builder::{Builder, Form, formed};
use crate::compose::invocations::generic_types::coerce_scalar;
use crate::compose::invocations::invocation_count::{UNROLLED_INVOCATIONS, UNROLLED_ITERATIONS};
use crate::compose::synthesized_functions::{as_kind, count_of, filled, given_tensors, tensor_of, tensors};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{
    BRANCH_RESULTS, LIMIT_EXCEEDED, LOOP_WITHOUT_END, SCAN_LENGTHS, UNEXPECTED_VALUE,
};
use crate::eval::ranges::upper_bound;
use crate::eval::value::count;
use crate::eval::{Atom, Pack, TensorRef, Value};
use crate::model::check::is_shape_scalar;
use crate::model::{ConstantData, Extent, Node, TensorType};
use crate::source::Span;
use skript_semantics::ScalarKind;

/// The maximum number of unrolled bodies, including enclosing loops: each further loop would multiply the size of the
/// model.
const MAX_UNROLLED_BODIES: usize = 1 << 6;

/// The pack that a `for` clause iterates over.
pub(crate) enum Scanned {
    Pack(Pack),
    /// A pack of dynamic length.
    Stack(TensorRef),
}

impl Scanned {
    /// The maximum number of items.
    fn bound(&self) -> u64 {
        match self {
            Scanned::Pack(pack) => u64::try_from(pack.len()).unwrap_or(u64::MAX),
            Scanned::Stack(stack) => stack.tensor.shape.first().map_or(0, |e| e.bound()),
        }
    }

    /// Whether all items are tensors of one type.
    fn is_regular(&self) -> bool {
        let Scanned::Pack(pack) = self else {
            return true;
        };
        let mut types = pack.iter().map(|atom| match atom {
            Atom::Tensor(tensor) => Some(tensor.tensor.clone()),
            _ => None,
        });
        match types.next() {
            Some(first) => first.is_some() && types.all(|t| t == first),
            None => true,
        }
    }
}

/// The evaluated parts of a loop.
pub(crate) struct Parts<'a> {
    pub syntax: &'a ast::Loop,
    /// Initial values: tensors, or packs of tensors.
    pub carried: Vec<Value>,
    pub scans: Vec<Scanned>,
    /// The compile-time number of iterations, or an upper bound of it.
    pub count: Option<u64>,
    /// The maximum length of the packs of results, if nothing else bounds the iterations.
    pub capacity: Option<u64>,
    /// The dynamic number of iterations.
    pub dynamic: Option<TensorRef>,
    /// The extent that equals the dynamic number.
    pub length: Option<Extent>,
}

impl<'p> Composer<'p, '_> {
    pub(crate) fn looping(
        &mut self,
        builder: &mut Builder<'p>,
        looping: &ast::Loop,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        let capacities = std::mem::take(&mut builder.capacities);
        let mut parts = loop_parts(&mut self.context, builder, looping)?;
        if parts.count.is_none() {
            // Final loop-carried values come first: their packs are not related to the steps.
            let collected = capacities.into_iter().skip(looping.carried.len());
            parts.capacity = collected.flatten().min();
        }
        let conditional = looping.before.is_some() || looping.after.is_some();
        if parts.count.is_none() && parts.dynamic.is_none() && !conditional {
            let written = looping.count.as_ref().and_then(|c| c.count.as_ref());
            let (location, message) = match written {
                Some(count) => {
                    let text = self.context.source_text(count.span);
                    let message = format!("the count `{text}` is null here, and nothing else ends the loop");
                    (count.span, message)
                }
                None => {
                    let message = "a loop needs a `for` clause, a count or a condition";
                    (looping.span, message.to_string())
                }
            };
            return Err(self.context.error(&LOOP_WITHOUT_END, location, message));
        }
        let stacked = parts.scans.iter().any(|s| matches!(s, Scanned::Stack(_)));
        // Without items, the types of the results are unknown and not needed, unless an operator with declared outputs
        // computes them.
        let typed = stacked && parts.scans.iter().all(|s| matches!(s, Scanned::Stack(_)));
        match parts.count {
            Some(0) if parts.dynamic.is_none() && typed => {
                return self.loop_of_none(builder, &parts, hint, wanted);
            }
            Some(0) if parts.dynamic.is_none() => {
                return self.unrolled_loop(builder, &parts, 0, hint, wanted);
            }
            Some(iterations) if !conditional && parts.dynamic.is_none() && !stacked => {
                let regular = parts.scans.iter().all(Scanned::is_regular);
                let bodies = unrolled_bodies(&self.context, builder, iterations);
                let is_short = iterations <= UNROLLED_ITERATIONS
                    && bodies.is_some_and(|bodies| bodies <= MAX_UNROLLED_BODIES);
                let is_small = is_short && {
                    let body = self.context.invocation_counts.estimate(
                        &self.context.operators,
                        builder.operator.module,
                        &looping.body,
                    );
                    let invocations = bodies.map(|bodies| bodies.saturating_mul(body));
                    invocations.is_some_and(|invocations| invocations <= UNROLLED_INVOCATIONS)
                };
                if looping.unroll || is_small || !regular {
                    return self.unrolled_loop(builder, &parts, iterations, hint, wanted);
                }
            }
            _ if looping.unroll => {
                let message = "only loops with a compile-time count can be unrolled";
                return Err(self.context.error(&LOOP_WITHOUT_END, looping.span, message));
            }
            _ => {}
        }
        self.dynamic_loop(builder, &parts, hint, wanted)
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
        let around = builder.unrolled;
        let Some(bodies) = unrolled_bodies(&self.context, builder, iterations) else {
            let within = match around {
                1 => String::new(),
                around => format!(" in each of {around} steps around it"),
            };
            let message = format!(
                "the loop has {iterations} iterations{within}, at most {} are unrolled (limit `unrolled`)",
                self.context.limits.unrolled
            );
            return Err(self.context.error(&LIMIT_EXCEEDED, looping.span, message));
        };
        builder.unrolled = bodies;
        let results = self.unrolled_steps(builder, parts, iterations, hint, wanted);
        builder.unrolled = around;
        results
    }

    fn unrolled_steps(
        &mut self,
        builder: &mut Builder<'p>,
        parts: &Parts,
        iterations: u64,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        let looping = parts.syntax;
        let mut carried = parts.carried.clone();
        let outputs = wanted.saturating_sub(carried.len());
        let mut scanned: Vec<Vec<Atom>> = vec![Vec::new(); outputs];
        for (iteration, _) in (0..iterations).enumerate() {
            let depth = builder.scope.depth();
            builder.scope.push();
            for (item, value) in looping.carried.iter().zip(&carried) {
                builder.scope.set(item.name.name.clone(), value.clone());
            }
            for (scan, scanned) in looping.scans.iter().zip(&parts.scans) {
                let Scanned::Pack(pack) = scanned else {
                    return Err(Reported);
                };
                let item = pack.get(iteration).map_or(Value::Null, Value::Atom);
                builder.scope.set(scan.item.name.clone(), item);
            }
            if let Some(index) = looping.count.as_ref().and_then(|c| c.index.as_ref()) {
                builder.scope.set(index.name.clone(), Value::int(count(iteration)));
            }
            let results = self.component_value(builder, &looping.body, hint, carried.len() + outputs);
            builder.scope.truncate(depth);
            let mut results = results?;
            if results.len() != carried.len() + outputs {
                let message = format!(
                    "the body returns {} results; {} are loop-carried and {outputs} collected",
                    results.len(),
                    carried.len()
                );
                return Err(self.context.error(&BRANCH_RESULTS, looping.span, message));
            }
            let collected = results.split_off(carried.len());
            for ((item, old), new) in looping.carried.iter().zip(&mut carried).zip(results) {
                let next = next_carried(
                    &mut self.context,
                    builder,
                    item,
                    old,
                    &new,
                    looping.unroll && item.type_spec.is_none(),
                )?;
                *old = next;
            }
            for (pack, value) in scanned.iter_mut().zip(collected) {
                match value {
                    Value::Atom(atom) => {
                        let kind = atom.kind().unwrap_or(ScalarKind::Real);
                        let tensor = tensor_of(&mut self.context, builder, &atom, kind, looping.span)?;
                        pack.push(Atom::Tensor(tensor));
                    }
                    _ => {
                        let message = "each iteration must return single tensors, but this is a pack";
                        return Err(self.context.error(&BRANCH_RESULTS, looping.span, message));
                    }
                }
            }
        }
        let mut results = carried;
        results.extend(scanned.into_iter().map(Value::pack));
        Ok(results)
    }
}

fn loop_parts<'a>(
    context: &mut Context,
    builder: &mut Builder,
    looping: &'a ast::Loop,
) -> Composed<Parts<'a>> {
    let mut carried = Vec::new();
    for item in &looping.carried {
        carried.push(carried_init(context, builder, item)?);
    }
    let scans = scanned_packs(context, builder, &looping.scans)?;
    let count = scans.iter().map(Scanned::bound).min();
    let mut parts =
        Parts { syntax: looping, carried, scans, count, capacity: None, dynamic: None, length: None };
    if let Some(expr) = looping.count.as_ref().and_then(|c| c.count.as_ref()) {
        count_iterations(context, builder, expr, &mut parts)?;
    }
    Ok(parts)
}

/// The packs that a loop scans, whose static lengths are equal.
fn scanned_packs(
    context: &mut Context,
    builder: &mut Builder,
    scans: &[ast::Scan],
) -> Composed<Vec<Scanned>> {
    let mut packs = Vec::new();
    let mut first = None;
    for scan in scans {
        let scanned = tensors(context, builder, &scan.pack)?;
        let scanned = given_tensors(context, builder, scanned, None, scan.pack.span)?;
        check_ranks(context, &scan.item, &scanned, scan.pack.span)?;
        packs.push(match scanned {
            Value::Atom(Atom::Stack(stack)) => Scanned::Stack(stack),
            Value::Pack(pack) => {
                let first = *first.get_or_insert(pack.len());
                if first != pack.len() {
                    let message = format!("the packs have different lengths: {first} and {}", pack.len());
                    return Err(context.error(&SCAN_LENGTHS, scan.pack.span, message));
                }
                Scanned::Pack(pack)
            }
            other => return Err(refuse_scan(context, &other, scan.pack.span)),
        });
    }
    Ok(packs)
}

fn refuse_scan(context: &mut Context, value: &Value, span: Span) -> Reported {
    let (what, help) = match value {
        Value::Atom(Atom::Series(_)) => (
            "packs of tensors",
            "for a dynamic count use the index of a loop, `do..(i -> n)`: the index `i` is a tensor",
        ),
        _ => ("packs", "tensors of a pack are scanned, `for x : xs`"),
    };
    let message = format!("only {what} can be scanned, this is {}", value.text());
    context.report(Diagnostic::error(&UNEXPECTED_VALUE, span, message).with_help(help))
}

/// Sets the number of iterations to the written count.
fn count_iterations(
    context: &mut Context,
    builder: &mut Builder,
    expr: &ast::Expr,
    parts: &mut Parts,
) -> Composed<()> {
    match context.value(builder, expr)? {
        // Without a count, the scanned packs determine the number of iterations.
        Value::Null => {}
        Value::Atom(Atom::Int(n)) => {
            let Ok(n) = u64::try_from(n) else {
                let message = format!("the count of a loop is {n}, but must not be negative");
                return Err(context.error(&UNEXPECTED_VALUE, expr.span, message));
            };
            if let Some(length) = parts.count.filter(|length| n > *length) {
                let message = format!("the count {n} exceeds the {length} items that are scanned");
                return Err(context.error(&SCAN_LENGTHS, expr.span, message));
            }
            parts.count = Some(n);
        }
        Value::Atom(Atom::Tensor(tensor))
            if tensor.tensor.kind == ScalarKind::Int && tensor.tensor.shape.is_empty() =>
        {
            parts.dynamic = Some(tensor);
        }
        // A scalar over dynamic extents.
        Value::Atom(Atom::Runtime(count)) if count.kind == ScalarKind::Int => {
            if parts.count.is_none() {
                parts.count = upper_bound(&count);
                parts.length = match &count.node {
                    Node::Extent(extent) => Some(extent.clone()),
                    _ => None,
                };
            }
            parts.dynamic = Some(count_of(context, builder, &count, expr.span)?);
        }
        other => {
            let message = format!("a loop count must be a single int, this is {}", other.text());
            return Err(context.error(&UNEXPECTED_VALUE, expr.span, message));
        }
    }
    Ok(())
}

/// The initial value of a loop-carried tensor or pack; a scalar fills the declared shape.
fn carried_init(context: &mut Context, builder: &mut Builder, carried: &ast::Carried) -> Composed<Value> {
    let value = tensors(context, builder, &carried.init)?;
    check_ranks(context, &carried.name, &value, carried.init.span)?;
    if let Some(spec) = &carried.type_spec {
        check_written(context, builder, &carried.name, spec, &value, carried.init.span)?;
    }
    if let Value::Atom(Atom::Stack(_)) = value {
        return Ok(value);
    }
    let length = carried.type_spec.as_ref().and_then(|s| s.pack.as_ref());
    let length = match length.and_then(|pack| pack.length.as_ref()) {
        Some(length) => {
            let declared = builder.evaluator(context.limits).int(length);
            declared.map_err(|s| context.failed(s))?
        }
        None => None,
    };
    let items: Vec<Atom> = match &value {
        Value::Pack(pack) => pack.iter().collect::<Vec<_>>(),
        // One scalar initializes all tensors of a declared pack.
        Value::Atom(atom) if atom.scalar().is_some() => {
            let count = length.and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
            if count > context.limits.pack_length {
                return Err(context.error(&LIMIT_EXCEEDED, carried.span, "the pack is too long"));
            }
            vec![atom.clone(); count]
        }
        Value::Atom(atom) => vec![atom.clone()],
        Value::Null => Vec::new(),
    };
    let packed = matches!(value, Value::Pack(_)) || length.is_some();
    if let Some(declared) = length
        && (usize::try_from(declared) != Ok(items.len()) || matches!(value, Value::Atom(Atom::Tensor(_))))
    {
        let message = format!(
            "`{}` is declared with {declared} tensors, its initial value is {}",
            carried.name.name,
            value.text()
        );
        return Err(context.error(&UNEXPECTED_VALUE, carried.init.span, message));
    }
    let mut tensors = Vec::with_capacity(items.len());
    for (item, atom) in items.iter().enumerate() {
        tensors.push(Atom::Tensor(carried_tensor(context, builder, carried, item, atom)?));
    }
    match (packed, tensors.as_slice()) {
        (true, _) => Ok(Value::pack(tensors)),
        (false, [single]) => Ok(Value::Atom(single.clone())),
        _ => Err(context.error(
            &UNEXPECTED_VALUE,
            carried.init.span,
            format!("a loop-carried value must be a tensor, this is {}", value.text()),
        )),
    }
}

/// One tensor of an initial value.
fn carried_tensor(
    context: &mut Context,
    builder: &mut Builder,
    carried: &ast::Carried,
    item: usize,
    atom: &Atom,
) -> Composed<TensorRef> {
    if let Atom::Tensor(tensor) = atom {
        return Ok(tensor.clone());
    }
    let Some(expr) = atom.to_expr() else {
        let message = format!("a loop-carried value must be a tensor, this is {}", atom.text());
        return Err(context.error(&UNEXPECTED_VALUE, carried.init.span, message));
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
            let kind = tensor_kind(context, builder, &spec.base)?;
            match spec.shape {
                Some(_) => declared_tensors(context, builder, &declaration, item + 1)?.pop(),
                None => None,
            }
            .unwrap_or(TensorType { kind, shape: Vec::new() })
        }
        None => TensorType { kind: expr.kind, shape: Vec::new() },
    };
    if let (None, Some(expr)) = (atom.scalar(), as_kind(&expr, tensor.kind))
        && is_shape_scalar(&expr)
    {
        return filled(context, builder, &expr, tensor, carried.span);
    }
    let scalar = atom.scalar().and_then(|s| coerce_scalar(s, tensor.kind));
    let Some(scalar) = scalar else {
        let message = format!(
            "`{}` is {}, its initial value is {}",
            carried.name.name,
            tensor.kind.name(),
            atom.text()
        );
        return Err(context.error(&UNEXPECTED_VALUE, carried.init.span, message));
    };
    Ok(builder.constant(tensor, ConstantData::Splat(scalar), carried.span))
}

/// The number of unrolled bodies, multiplied by that of the enclosing loops; `None` if it exceeds the limit.
fn unrolled_bodies(context: &Context, builder: &Builder, iterations: u64) -> Option<usize> {
    let iterations = usize::try_from(iterations).ok()?;
    let bodies = builder.unrolled.checked_mul(iterations.max(1))?;
    (bodies <= context.limits.unrolled).then_some(bodies)
}

/// The value for the next iteration. Its types must not change; with `reshaped` (unrolled loops without a declared shape,
/// 2.10.1), only the element types must not change.
pub(crate) fn next_carried(
    context: &mut Context,
    builder: &mut Builder,
    item: &ast::Carried,
    old: &Value,
    new: &Value,
    reshaped: bool,
) -> Composed<Value> {
    if Form::new(old) != Form::new(new) {
        let words = |value: &Value| match Form::new(value) {
            Form::Single => "a single tensor".to_string(),
            Form::Stack => "a pack of dynamic length".to_string(),
            Form::Pack(length) => format!("a pack of {length} tensors"),
        };
        let message =
            format!("`{}` is {} before an iteration and {} after it", item.name.name, words(old), words(new));
        return Err(context.error(&BRANCH_RESULTS, item.span, message));
    }
    let mut next = Vec::with_capacity(new.atoms().len());
    for (old, new) in old.atoms().zip(new.atoms()) {
        let (Atom::Tensor(old) | Atom::Stack(old)) = old else {
            return Err(Reported);
        };
        let tensor = tensor_of(context, builder, &new, old.tensor.kind, item.span)?;
        let kept =
            tensor.tensor.kind == old.tensor.kind && (reshaped || tensor.tensor.shape == old.tensor.shape);
        if !kept {
            let [before, after] = [&old, &tensor].map(|t| t.tensor.text());
            let name = &item.name.name;
            let message = if before == after {
                format!(
                    "`{name}` is {before} before an iteration, and after it {after} with another dynamic extent"
                )
            } else {
                format!("`{name}` is {before} before an iteration and {after} after it")
            };
            let differing = Diagnostic::error(&BRANCH_RESULTS, item.span, message);
            return Err(context.report(differing.with_help(
                "loop-carried values keep one type and shape; with `unroll` instead of `do`, and without a declared shape, each iteration may have another one",
            )));
        }
        next.push(tensor);
    }
    let formed = formed(&[Form::new(new)], next).into_iter().next();
    formed.ok_or(Reported)
}
