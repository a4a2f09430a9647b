// SPDX-License-Identifier: Apache-2.0
//! Loops (2.10.1): their parts, and those that are unrolled.

use skript_semantics::ScalarKind;

use crate::ast;
use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::control_flow::branches::{Form, form, formed};
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::coercion::coerce_scalar;
use crate::compose::invocations::invocation_count::{UNROLLED_INVOCATIONS, UNROLLED_ITERATIONS};
use crate::compose::synthesized_functions::as_kind;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{
    BRANCH_RESULTS, LIMIT_EXCEEDED, LOOP_WITHOUT_END, SCAN_LENGTHS, UNEXPECTED_VALUE,
};
use crate::eval::ranges::upper_bound;
use crate::eval::value::count;
use crate::eval::{Atom, Pack, TensorRef, Value};
use crate::model::check::is_shape_scalar;
use crate::model::{ConstantData, Extent, Node, TensorType};

/// The maximum number of unrolled bodies, including enclosing loops: each further one would multiply the size of the
/// model.
const UNROLLED_BODIES: usize = 1 << 6;

/// What a `for` clause iterates over.
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
        let mut types = pack.items.iter().map(|atom| match atom {
            Atom::Tensor(tensor) => Some(tensor.tensor.clone()),
            _ => None,
        });
        match types.next() {
            Some(first) => first.is_some() && types.all(|t| t == first),
            None => true,
        }
    }
}

/// A loop's parts, evaluated.
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
        let mut parts = self.loop_parts(builder, looping)?;
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
                    let text = self.source_text(count.span);
                    let message = format!("the count `{text}` is null here, and nothing else ends the loop");
                    (count.span, message)
                }
                None => {
                    let message = "a loop needs a `for` clause, a count or a condition";
                    (looping.span, message.to_string())
                }
            };
            return Err(self.error(&LOOP_WITHOUT_END, location, message));
        }
        let stacked = parts.scans.iter().any(|s| matches!(s, Scanned::Stack(_)));
        // Without items the types of the results are unknown and not needed, unless an operator with declared outputs
        // computes them.
        // them.
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
                let bodies = self.unrolled_bodies(builder, iterations);
                let is_short = iterations <= UNROLLED_ITERATIONS
                    && bodies.is_some_and(|bodies| bodies <= UNROLLED_BODIES);
                let is_small = is_short && {
                    let body = self.reach(builder.found.module, &looping.body);
                    let invocation_counts = bodies.map(|bodies| bodies.saturating_mul(body));
                    invocation_counts
                        .is_some_and(|invocation_counts| invocation_counts <= UNROLLED_INVOCATIONS)
                };
                if looping.unroll || is_small || !regular {
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
        self.dynamic_loop(builder, &parts, hint, wanted)
    }

    fn loop_parts<'a>(&mut self, builder: &mut Builder<'p>, looping: &'a ast::Loop) -> Composed<Parts<'a>> {
        let mut carried = Vec::new();
        for item in &looping.carried {
            carried.push(self.carried_init(builder, item)?);
        }
        let mut scans: Vec<Scanned> = Vec::new();
        for scan in &looping.scans {
            let scanned = self.tensors(builder, &scan.pack)?;
            let scanned = self.given_tensors(builder, scanned, None, scan.pack.span)?;
            self.check_ranks(&scan.item, &scanned, scan.pack.span)?;
            match scanned {
                Value::Atom(Atom::Stack(stack)) => scans.push(Scanned::Stack(stack)),
                Value::Pack(pack) => {
                    let first = scans.iter().find_map(|s| match s {
                        Scanned::Pack(pack) => Some(pack),
                        Scanned::Stack(_) => None,
                    });
                    if let Some(first) = first
                        && first.len() != pack.len()
                    {
                        return Err(self.error(
                            &SCAN_LENGTHS,
                            scan.pack.span,
                            format!("the packs have different lengths: {} and {}", first.len(), pack.len()),
                        ));
                    }
                    scans.push(Scanned::Pack(pack));
                }
                other => {
                    let (what, help) = match &other {
                        Value::Atom(Atom::Series(_)) => (
                            "packs of tensors",
                            "for a dynamic count use the index of a loop, `do..(i -> n)`: the index `i` is a tensor",
                        ),
                        _ => ("packs", "tensors of a pack are scanned, `for x : xs`"),
                    };
                    let message = format!("only {what} can be scanned, this is {}", other.text());
                    let found = Diagnostic::error(&UNEXPECTED_VALUE, scan.pack.span, message);
                    return Err(self.report(found.with_help(help)));
                }
            }
        }
        let length = scans.iter().map(Scanned::bound).min();
        let mut parts = Parts {
            syntax: looping,
            carried,
            scans,
            count: length,
            capacity: None,
            dynamic: None,
            length: None,
        };
        let Some(expr) = looping.count.as_ref().and_then(|c| c.count.as_ref()) else {
            return Ok(parts);
        };
        match self.value(builder, expr)? {
            // An optional count without a value leaves that of the scan.
            Value::Null => {}
            Value::Atom(Atom::Int(n)) => {
                let Ok(n) = u64::try_from(n) else {
                    return Err(self.error(
                        &UNEXPECTED_VALUE,
                        expr.span,
                        format!("the count of a loop is {n}, but must not be negative"),
                    ));
                };
                if length.is_some_and(|length| n > length) {
                    return Err(self.error(
                        &SCAN_LENGTHS,
                        expr.span,
                        format!("the count {n} exceeds the {} items that are scanned", length.unwrap_or(0)),
                    ));
                }
                parts.count = Some(n);
            }
            Value::Atom(Atom::Tensor(tensor))
                if tensor.tensor.kind == ScalarKind::Int && tensor.tensor.shape.is_empty() =>
            {
                parts.dynamic = Some(tensor);
            }
            // Dynamic extents.
            Value::Atom(Atom::Run(count)) if count.kind == ScalarKind::Int => {
                if length.is_none() {
                    parts.count = upper_bound(&count);
                    parts.length = match &count.node {
                        Node::Extent(extent) => Some(extent.clone()),
                        _ => None,
                    };
                }
                parts.dynamic = Some(self.count_of(builder, &count, expr.span)?);
            }
            other => {
                return Err(self.error(
                    &UNEXPECTED_VALUE,
                    expr.span,
                    format!("a loop count must be a single int, this is {}", other.text()),
                ));
            }
        }
        Ok(parts)
    }

    /// The initial value of a loop-carried tensor or pack; a scalar fills the declared shape.
    fn carried_init(&mut self, builder: &mut Builder<'p>, carried: &ast::Carried) -> Composed<Value> {
        let value = self.tensors(builder, &carried.init)?;
        self.check_ranks(&carried.name, &value, carried.init.span)?;
        if let Some(spec) = &carried.type_spec {
            self.check_written(builder, &carried.name, spec, &value, carried.init.span)?;
        }
        if let Value::Atom(Atom::Stack(_)) = value {
            return Ok(value);
        }
        let length = carried.type_spec.as_ref().and_then(|s| s.pack.as_ref());
        let length = match length.and_then(|pack| pack.length.as_ref()) {
            Some(length) => {
                let declared = builder.evaluator(self.limits).int(length);
                declared.map_err(|s| self.failed(s))?
            }
            None => None,
        };
        let items: Vec<Atom> = match &value {
            Value::Pack(pack) => pack.items.to_vec(),
            // One scalar for all tensors of a declared pack.
            Value::Atom(atom) if atom.scalar().is_some() => {
                let count = length.and_then(|n| usize::try_from(n).ok()).unwrap_or(1);
                if count > self.limits.pack_length {
                    return Err(self.error(&LIMIT_EXCEEDED, carried.span, "the pack is too long"));
                }
                vec![atom.clone(); count]
            }
            Value::Atom(atom) => vec![atom.clone()],
            Value::Null => Vec::new(),
        };
        let packed = matches!(value, Value::Pack(_)) || length.is_some();
        if length.is_some_and(|n| usize::try_from(n) != Ok(items.len()))
            || (length.is_some() && matches!(value, Value::Atom(Atom::Tensor(_))))
        {
            return Err(self.error(
                &UNEXPECTED_VALUE,
                carried.init.span,
                format!(
                    "`{}` is declared with {} tensors, its initial value is {}",
                    carried.name.name,
                    length.unwrap_or(0),
                    value.text()
                ),
            ));
        }
        let mut tensors = Vec::with_capacity(items.len());
        for (item, atom) in items.iter().enumerate() {
            tensors.push(Atom::Tensor(self.carried_tensor(builder, carried, item, atom)?));
        }
        match (packed, tensors.as_slice()) {
            (true, _) => Ok(Value::pack(tensors)),
            (false, [single]) => Ok(Value::Atom(single.clone())),
            _ => Err(self.error(
                &UNEXPECTED_VALUE,
                carried.init.span,
                format!("a loop-carried value must be a tensor, this is {}", value.text()),
            )),
        }
    }

    /// One tensor of an initial value.
    fn carried_tensor(
        &mut self,
        builder: &mut Builder<'p>,
        carried: &ast::Carried,
        item: usize,
        atom: &Atom,
    ) -> Composed<TensorRef> {
        if let Atom::Tensor(tensor) = atom {
            return Ok(tensor.clone());
        }
        let Some(expr) = atom.to_expr() else {
            return Err(self.error(
                &UNEXPECTED_VALUE,
                carried.init.span,
                format!("a loop-carried value must be a tensor, this is {}", atom.text()),
            ));
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
                    Some(_) => self.declared_tensors(builder, &declaration, item + 1)?.pop(),
                    None => None,
                }
                .unwrap_or(TensorType { kind, shape: Vec::new() })
            }
            None => TensorType { kind: expr.kind, shape: Vec::new() },
        };
        if let (None, Some(expr)) = (atom.scalar(), as_kind(&expr, tensor.kind))
            && is_shape_scalar(&expr)
        {
            return self.filled(builder, &expr, tensor, carried.span);
        }
        let scalar = atom.scalar().and_then(|s| coerce_scalar(s, tensor.kind));
        let Some(scalar) = scalar else {
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
        Ok(builder.constant(tensor, ConstantData::Splat(scalar), carried.span))
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
        let Some(bodies) = self.unrolled_bodies(builder, iterations) else {
            let within = match around {
                1 => String::new(),
                around => format!(" in each of {around} steps around it"),
            };
            return Err(self.error(
                &LIMIT_EXCEEDED,
                looping.span,
                format!(
                    "the loop has {iterations} iterations{within}, at most {} are unrolled (limit `unrolled`)",
                    self.limits.unrolled
                ),
            ));
        };
        builder.unrolled = bodies;
        let results = self.unrolled_steps(builder, parts, iterations, hint, wanted);
        builder.unrolled = around;
        results
    }

    /// The number of bodies of a loop together with those of enclosing loops, if so many may be unrolled.
    fn unrolled_bodies(&self, builder: &Builder<'p>, iterations: u64) -> Option<usize> {
        let iterations = usize::try_from(iterations).ok()?;
        let bodies = builder.unrolled.checked_mul(iterations.max(1))?;
        (bodies <= self.limits.unrolled).then_some(bodies)
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
        for iteration in 0..usize::try_from(iterations).unwrap_or(0) {
            let depth = builder.scope.depth();
            builder.scope.push();
            for (item, value) in looping.carried.iter().zip(&carried) {
                builder.scope.set(item.name.name.clone(), value.clone());
            }
            for (scan, scanned) in looping.scans.iter().zip(&parts.scans) {
                let Scanned::Pack(pack) = scanned else {
                    return Err(Reported);
                };
                let item = pack.items.get(iteration).cloned().map_or(Value::Null, Value::Atom);
                builder.scope.set(scan.item.name.clone(), item);
            }
            if let Some(index) = looping.count.as_ref().and_then(|c| c.index.as_ref()) {
                builder.scope.set(index.name.clone(), Value::int(count(iteration)));
            }
            let results = self.component_value(builder, &looping.body, hint, carried.len() + outputs);
            builder.scope.truncate(depth);
            let mut results = results?;
            if results.len() != carried.len() + outputs {
                return Err(self.error(
                    &BRANCH_RESULTS,
                    looping.span,
                    format!(
                        "the body returns {} results; {} are loop-carried and {outputs} collected",
                        results.len(),
                        carried.len()
                    ),
                ));
            }
            let rest = results.split_off(carried.len());
            for ((item, old), new) in looping.carried.iter().zip(&mut carried).zip(results) {
                let next =
                    self.next_carried(builder, item, old, &new, looping.unroll && item.type_spec.is_none())?;
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
                            "each iteration must return single tensors, but this is a pack",
                        ));
                    }
                }
            }
        }
        let mut results = carried;
        results.extend(scanned.into_iter().map(Value::pack));
        Ok(results)
    }

    /// The value for the next iteration: of the same types as before; or, if each iteration has a separate tensor
    /// (2.10.1, unrolled loops) and no shape is written, of the same element types.
    pub(crate) fn next_carried(
        &mut self,
        builder: &mut Builder<'p>,
        item: &ast::Carried,
        old: &Value,
        new: &Value,
        reshaped: bool,
    ) -> Composed<Value> {
        if form(old) != form(new) {
            let words = |value: &Value| match form(value) {
                Form::Single => "a single tensor".to_string(),
                Form::Stack => "a pack of dynamic length".to_string(),
                Form::Pack(length) => format!("a pack of {length} tensors"),
            };
            return Err(self.error(
                &BRANCH_RESULTS,
                item.span,
                format!(
                    "`{}` is {} before an iteration and {} after it",
                    item.name.name,
                    words(old),
                    words(new)
                ),
            ));
        }
        let mut next = Vec::with_capacity(new.atoms().len());
        for (old, new) in old.atoms().iter().zip(new.atoms()) {
            let (Atom::Tensor(old) | Atom::Stack(old)) = old else {
                return Err(Reported);
            };
            let tensor = self.tensor_of(builder, new, old.tensor.kind, item.span)?;
            let kept = tensor.tensor.kind == old.tensor.kind
                && (reshaped || tensor.tensor.shape == old.tensor.shape);
            if !kept {
                let [before, after] = [old, &tensor].map(|t| t.tensor.text());
                let name = &item.name.name;
                let message = if before == after {
                    format!(
                        "`{name}` is {before} before an iteration, and after it {after} with another dynamic extent"
                    )
                } else {
                    format!("`{name}` is {before} before an iteration and {after} after it")
                };
                let differing = Diagnostic::error(&BRANCH_RESULTS, item.span, message);
                return Err(self.report(differing.with_help(
                    "loop-carried values keep one type and shape; with `unroll` instead of `do`, and without a declared shape, each iteration may have another one",
                )));
            }
            next.push(tensor);
        }
        let formed = formed(&[form(new)], next).into_iter().next();
        formed.ok_or(Reported)
    }
}
