// SPDX-License-Identifier: Apache-2.0
//! Emits loops that are executed at run time (2.10.1).

mod stack;

use super::scalars::{compare, element, signed, within};
use super::scope::Scope;
use super::{EmitError, block, branch, check};
use crate::ir::attribute_names::POLLS;
use crate::ir::ops;
use crate::ir::{self, Builder, attributes, mutation, types};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Region, Type, Value, ValueLike};
use skript_frontend::model::{Block, Extent, Loop, ShapeExpr, ValueId};
use skript_semantics::{IntType, ScalarOp};
use stack::Stack;

/// Emits one `scf.while`, whose loop-carried values are a [`State`].
pub(super) fn emit<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    l: &Loop,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let repeat = Repeat::new(scope, l, at)?;
    let inits = repeat.initial_state(scope, at)?.values();
    // Extents that an iteration defines are undefined outside of it.
    let known = scope.symbols.clone();
    let state: Vec<Type> = inits.iter().map(|v| v.r#type()).collect();
    let test = repeat.emit_test(scope, &state, at)?;
    scope.symbols.clone_from(&known);
    let body = repeat.emit_body(scope, &state, at)?;
    scope.symbols = known;
    let op = at.create(ops::scf::WHILE, &inits, &[], &state, vec![test, body])?;
    let results: Vec<Value<'c, 'a>> = op.results().map(Into::into).collect();
    repeat.bind_results(scope, &repeat.state(&results)?, at)
}

/// The loop-carried values of the `scf.while`, in the order of its operands.
struct State<'c, 'a> {
    /// The number of the iteration.
    number: Value<'c, 'a>,
    /// The condition after the previous iteration.
    continues: Value<'c, 'a>,
    /// The tensors that the model declares as loop-carried.
    carried: Vec<Value<'c, 'a>>,
    /// One tensor for each scan output.
    outputs: Vec<Value<'c, 'a>>,
    /// The extents that the body determines.
    extents: Vec<Value<'c, 'a>>,
}

impl<'c, 'a> State<'c, 'a> {
    fn values(&self) -> Vec<Value<'c, 'a>> {
        [&[self.number, self.continues][..], &self.carried, &self.outputs, &self.extents].concat()
    }
}

/// A loop during emission.
struct Repeat<'l, 'c, 'a> {
    l: &'l Loop,
    /// Upper bounds of the number of iterations.
    limits: Vec<Value<'c, 'a>>,
    /// The scanned packs and their tensors.
    scanned: Vec<(Stack<'c, 'a>, Value<'c, 'a>)>,
    /// The scan outputs.
    outputs: Vec<Stack<'c, 'a>>,
    /// The names of the extents that the body determines.
    determined: Vec<String>,
    carried_types: Vec<Type<'c>>,
}

impl<'l, 'c: 'a, 'a> Repeat<'l, 'c, 'a> {
    fn new(scope: &Scope<'_, 'c, 'a, '_>, l: &'l Loop, at: &Builder<'c, 'a>) -> Result<Self, EmitError> {
        let limits = limits(scope, l, at)?;
        let scanned = l
            .scans
            .iter()
            .map(|(_, pack)| Stack::gather(scope, pack, at))
            .chain(l.stack_scans.iter().map(|(item, stack)| Stack::scanned(scope, *item, *stack, at)))
            .collect::<Result<Vec<_>, _>>()?;
        let determined = determined_extents(scope, l)?;
        let outputs = l.scan_outputs.iter().map(|pack| Stack::output(scope, l, pack, &determined, at));
        let outputs = outputs.collect::<Result<_, _>>()?;
        let inner: Vec<ValueId> = l.carried.iter().map(|c| c.inner).collect();
        let carried_types = scope.types(&inner)?;
        Ok(Repeat { l, limits, scanned, outputs, determined, carried_types })
    }

    fn initial_state(
        &self,
        scope: &Scope<'_, 'c, 'a, '_>,
        at: &Builder<'c, 'a>,
    ) -> Result<State<'c, 'a>, EmitError> {
        let (number, continues) = (at.idx(0), at.truth(true));
        let inits = self.l.carried.iter().map(|c| scope.get(c.init)).collect::<Result<Vec<_>, _>>()?;
        Ok(State {
            number,
            continues,
            carried: branch::cast_all(&inits, &self.carried_types, at)?,
            outputs: self.outputs.iter().map(|stack| stack.empty(at)).collect::<Result<_, _>>()?,
            extents: self.determined.iter().map(|_| at.idx(0)).collect(),
        })
    }

    /// Converts values to a state.
    fn state(&self, values: &[Value<'c, 'a>]) -> Result<State<'c, 'a>, EmitError> {
        let parts = || {
            let (&[number, continues], rest) = values.split_first_chunk()?;
            let (carried, rest) = rest.split_at_checked(self.carried_types.len())?;
            let (outputs, extents) = rest.split_at_checked(self.outputs.len())?;
            let (carried, outputs, extents) = (carried.to_vec(), outputs.to_vec(), extents.to_vec());
            Some(State { number, continues, carried, outputs, extents })
        };
        parts().ok_or(EmitError::Malformed("a loop has too few loop-carried values"))
    }

    /// The region that computes whether the loop continues.
    fn emit_test(
        &self,
        scope: &mut Scope<'_, 'c, 'a, '_>,
        types: &[Type<'c>],
        at: &Builder<'c, 'a>,
    ) -> Result<Region<'c>, EmitError> {
        let (region, test, values) = at.region(types);
        let state = self.state(&values)?;
        let mut proceeds = state.continues;
        for limit in &self.limits {
            proceeds = test.andi(proceeds, compare(ScalarOp::Lt, state.number, *limit, &test)?);
        }
        if let Some(condition) = &self.l.before {
            proceeds = self.emit_condition(scope, condition, proceeds, &state, &test)?;
        }
        let operands = [&[proceeds][..], &values].concat();
        test.create(ops::scf::CONDITION, &operands, &[], &[], Vec::new())?;
        Ok(region)
    }

    /// Emits the condition before an iteration. It is only evaluated if the limits allow the iteration, because there is no item otherwise.
    fn emit_condition(
        &self,
        scope: &mut Scope<'_, 'c, 'a, '_>,
        condition: &Block,
        proceeds: Value<'c, 'a>,
        state: &State<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        let (then_region, then, _) = at.region(&[]);
        self.bind(scope, state, &then)?;
        let holds = branch::condition(scope, condition, &then)?;
        then.create(ops::scf::YIELD, &[holds], &[], &[], Vec::new())?;
        let (else_region, other, _) = at.region(&[]);
        other.create(ops::scf::YIELD, &[other.truth(false)], &[], &[], Vec::new())?;
        let result = [types::flag(at.context)];
        let op = at.create(ops::scf::IF, &[proceeds], &[], &result, vec![then_region, else_region])?;
        Ok(ir::result(op)?)
    }

    /// The region of an iteration. It extracts the items again, because values of the test do not dominate it.
    fn emit_body(
        &self,
        scope: &mut Scope<'_, 'c, 'a, '_>,
        types: &[Type<'c>],
        at: &Builder<'c, 'a>,
    ) -> Result<Region<'c>, EmitError> {
        let (region, body, values) = at.region(types);
        let state = self.state(&values)?;
        if let Some(max_steps) = self.l.max_steps {
            let is_allowed = compare(ScalarOp::Lt, state.number, body.idx(signed(max_steps)?), &body)?;
            let message = format!("the loop does not end within {max_steps} steps (limit `loop_steps`)");
            let check = require(scope, self.l, is_allowed, &message, &[], &body)?;
            mutation::set(check, POLLS, attributes::unit(at.context));
        }
        self.bind(scope, &state, &body)?;
        block::emit(scope, &self.l.body, &body)?;
        let mut next = self.next_state(scope, &state, &body)?;
        if let Some(condition) = &self.l.after {
            for (carried, value) in self.l.carried.iter().zip(&next.carried) {
                scope.set(carried.inner, *value);
            }
            next.continues = branch::condition(scope, condition, &body)?;
        }
        body.create(ops::scf::YIELD, &next.values(), &[], &[], Vec::new())?;
        Ok(region)
    }

    /// The state after an iteration. The body must have been emitted before.
    fn next_state(
        &self,
        scope: &Scope<'_, 'c, 'a, '_>,
        state: &State<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<State<'c, 'a>, EmitError> {
        let produced = scope.all(&self.l.body.results)?;
        let produced = produced.split_at_checked(self.carried_types.len());
        let (carried, items) = produced
            .filter(|(_, items)| items.len() >= self.outputs.len())
            .ok_or(EmitError::Malformed("a loop yields too few tensors"))?;
        let one = at.idx(1);
        let carried = branch::cast_all(carried, &self.carried_types, at)?;
        let (number, continues) = (at.addi(state.number, one), at.truth(true));
        let insertions = self.outputs.iter().zip(items).zip(&state.outputs);
        let outputs = insertions.map(|((stack, item), pack)| stack.insert(*item, *pack, state.number, at));
        let outputs = outputs.collect::<Result<_, _>>()?;
        Ok(State { number, continues, carried, outputs, extents: self.determine(scope, state, at)? })
    }

    /// Returns the extents of the items of packs. Emits a check that all items have the extents of the first item, because they become
    /// one tensor.
    fn determine(
        &self,
        scope: &Scope<'_, 'c, 'a, '_>,
        state: &State<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, EmitError> {
        let mut extents = Vec::new();
        for (name, before) in self.determined.iter().zip(&state.extents) {
            let extent = scope.symbols.get(name).copied();
            let extent = extent.ok_or(EmitError::Malformed("a loop's body defines no extent"))?;
            let is_first = compare(ScalarOp::Eq, state.number, at.idx(0), at)?;
            let same = compare(ScalarOp::Eq, extent, *before, at)?;
            let agree = at.ori(is_first, same);
            let message = "item {0} of a pack has the extent {1}, but the items before have {2}";
            require(scope, self.l, agree, message, &[state.number, extent, *before], at)?;
            extents.push(extent);
        }
        Ok(extents)
    }

    /// Binds the values that the blocks of an iteration read.
    fn bind(
        &self,
        scope: &mut Scope<'_, 'c, 'a, '_>,
        state: &State<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), EmitError> {
        let l = self.l;
        for (carried, value) in l.carried.iter().zip(&state.carried) {
            scope.set(carried.inner, *value);
            scope.learn(carried.inner, at)?;
        }
        if let Some(id) = l.index {
            let element = scope.element(id)?;
            let int = scope.function.numbers_of(scope.value(id)?).int;
            // The frontend rejects counts that do not fit the type.
            let is_unbounded = l.static_count.is_none() && l.dynamic_count.is_none();
            if is_unbounded && int != IntType::I64 {
                let last = at.idx(int.largest());
                let fits = compare(ScalarOp::Le, state.number, last, at)?;
                let message = format!("the index {{0}} of an iteration does not fit {int}");
                require(scope, l, fits, &message, &[state.number], at)?;
            }
            let value = at.index_cast(state.number, element);
            let tensor = at.value(ops::tensor::FROM_ELEMENTS, &[value], &[], scope.r#type(id)?)?;
            scope.set(id, tensor);
        }
        let items = l.scans.iter().map(|(item, _)| item).chain(l.stack_scans.iter().map(|(item, _)| item));
        for (item, (stack, packed)) in items.zip(&self.scanned) {
            let value = stack.extract(*packed, state.number, scope.r#type(*item)?, &[], at)?;
            scope.set(*item, value);
            scope.learn(*item, at)?;
        }
        Ok(())
    }

    /// Binds the results of the loop.
    fn bind_results(
        &self,
        scope: &mut Scope<'_, 'c, 'a, '_>,
        results: &State<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), EmitError> {
        for (carried, value) in self.l.carried.iter().zip(&results.carried) {
            scope.set(carried.result, *value);
            scope.learn(carried.result, at)?;
        }
        for (name, extent) in self.determined.iter().zip(&results.extents) {
            scope.symbols.insert(name.clone(), *extent);
        }
        if let Some(capacity) = self.l.capacity {
            let fits = compare(ScalarOp::Le, results.number, at.idx(signed(capacity)?), at)?;
            let message =
                format!("the loop runs more than {capacity} iterations, the declared length of its results");
            require(scope, self.l, fits, &message, &[], at)?;
        }
        let outputs = self.l.scan_outputs.iter().zip(&results.outputs).zip(&self.outputs);
        for ((pack, value), stack) in outputs {
            if stack.has_dynamic_length {
                let id = first(pack)?;
                bind_length(scope, id, results.number, at)?;
                let tensor = scope.filled(id, *value, at)?;
                scope.set(id, tensor);
                continue;
            }
            for (number, id) in (0i64..).zip(pack) {
                let number = at.idx(number);
                let extents = scope.open_extents(*id, at)?;
                let item = stack.extract(*value, number, scope.r#type(*id)?, &extents, at)?;
                scope.set(*id, item);
            }
        }
        Ok(())
    }
}

/// Emits a check of a loop.
fn require<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    l: &Loop,
    condition: Value<'c, 'a>,
    message: &str,
    values: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<OperationRef<'c, 'a>, EmitError> {
    check::report(scope, condition, "SK9201", message, values, l.span, at)
}

/// The upper bounds of the number of iterations. Emits checks that a run-time count is at most the number of scanned items.
fn limits<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    l: &Loop,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, EmitError> {
    let mut limits = Vec::new();
    if let Some(count) = l.static_count {
        limits.push(at.idx(signed(count)?));
    }
    let lengths = stack_lengths(scope, l, at)?;
    limits.extend(&lengths);
    if let Some(count) = l.dynamic_count {
        let count = element(scope.get(count)?, at)?;
        let count = at.index_cast(count, Type::index(at.context));
        if let Some(items) = l.static_count {
            let fits = compare(ScalarOp::Le, count, at.idx(signed(items)?), at)?;
            let message = format!("the loop has a count of {{0}}, but scans only {items} items");
            require(scope, l, fits, &message, &[count], at)?;
        }
        for length in &lengths {
            let fits = compare(ScalarOp::Le, count, *length, at)?;
            let message = "the loop has a count of {0}, but scans only {1} items";
            require(scope, l, fits, message, &[count, *length], at)?;
        }
        limits.push(count);
    }
    if let Some(slots) = slots(l)? {
        limits.push(at.idx(slots));
    }
    Ok(limits)
}

/// The lengths of the scanned packs of dynamic length. Emits checks that all scanned packs have the same length.
fn stack_lengths<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    l: &Loop,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, EmitError> {
    let mut lengths = Vec::new();
    for (_, stack) in &l.stack_scans {
        lengths.push(at.extent(scope.get(*stack)?, 0)?);
    }
    let first = match l.scans.first() {
        Some((_, pack)) => Some(at.idx(signed(pack.len())?)),
        None => lengths.first().copied(),
    };
    for length in &lengths {
        let Some(first) = first.filter(|first| first != length) else {
            continue;
        };
        let agree = compare(ScalarOp::Eq, first, *length, at)?;
        let message = "the packs that a loop scans have {0} and {1} items";
        require(scope, l, agree, message, &[first, *length], at)?;
    }
    Ok(lengths)
}

/// The number of slots of a result whose declared length is the only bound of the loop. It is one more than this length, to detect
/// additional iterations.
fn slots(l: &Loop) -> Result<Option<i64>, EmitError> {
    l.capacity.map(|capacity| signed(u128::from(capacity) + 1)).transpose()
}

/// The dynamic extents of collected results that the body of the loop determines. They are loop-carried values with the initial
/// value zero, because items of an empty pack have no elements.
fn determined_extents(scope: &Scope<'_, '_, '_, '_>, l: &Loop) -> Result<Vec<String>, EmitError> {
    let mut names: Vec<String> = Vec::new();
    for pack in &l.scan_outputs {
        let id = first(pack)?;
        // The number of iterations is defined after the loop.
        let dimensions = usize::from(has_dynamic_length(l));
        for extent in scope.tensor(id)?.shape.iter().skip(dimensions) {
            let Extent::Dynamic { expr, .. } = extent else {
                continue;
            };
            expr.operations_with(&mut |name| {
                if !scope.symbols.contains_key(name) && names.iter().all(|n| n != name) {
                    names.push(name.to_owned());
                }
                0
            });
        }
    }
    Ok(names)
}

/// Whether each collected result is one tensor with a dimension for the executed iterations; otherwise it is one tensor
/// for each iteration.
fn has_dynamic_length(l: &Loop) -> bool {
    let counted = l.before.is_none() && l.after.is_none() && l.dynamic_count.is_none();
    !(counted && l.stack_scans.is_empty())
}

/// Binds the symbol for the length of a result to the number of executed iterations.
fn bind_length<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    id: ValueId,
    iterations: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    if let Some(Extent::Dynamic { expr, bound }) = scope.tensor(id)?.shape.first()
        && let ShapeExpr::Symbol(name) = expr.as_ref()
    {
        let length = within(iterations, *bound, at)?;
        scope.symbols.insert(name.clone(), length);
    }
    Ok(())
}

fn first(pack: &[ValueId]) -> Result<ValueId, EmitError> {
    pack.first().copied().ok_or(EmitError::Malformed("a scanned pack is empty"))
}
