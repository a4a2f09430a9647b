// SPDX-License-Identifier: Apache-2.0
//! Loops that run at run time (2.10.1).

use super::scope::Scope;
use super::{EmitError, block, branch, check, scalars};
use crate::ir;
use crate::ir::ops;
use crate::ir::{Builder, attributes, types};
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};
use skript_frontend::model::{Extent, Loop, ShapeExpr, ValueId};
use skript_semantics::{IntType, Scalar, ScalarKind, ScalarOp};

/// One `scf.while` whose state is the number of the iteration, whether to continue, the loop-carried tensors, and the
/// packs of scan outputs.
pub(super) fn emit<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    l: &Loop,
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    let context = scope.emitter.context;
    let index = Type::index(context);
    let flag = types::flag(context);

    let mut limits = Vec::new();
    if let Some(count) = l.static_count {
        let count = i64::try_from(count).map_err(|_| EmitError::Malformed("a loop is too long"))?;
        limits.push(at.index(count)?);
    }
    let lengths = stack_lengths(scope, l, at)?;
    limits.extend(&lengths);
    if let Some(count) = l.dynamic_count {
        let count = scalars::element(scope.get(count)?, at)?;
        let count = at.value(ops::arith::INDEX_CAST, &[count], &[], index)?;
        if let Some(most) = l.static_count {
            let most = i64::try_from(most);
            let most = most.map_err(|_| EmitError::Malformed("a loop is too long"))?;
            let fits = scalars::compare(ScalarOp::Le, count, at.index(most)?, at)?;
            let message = format!("the loop has a count of {{0}}, but scans only {most} items");
            check::report(scope, fits, "SK9201", &message, &[count], l.span, at)?;
        }
        for length in &lengths {
            let fits = scalars::compare(ScalarOp::Le, count, *length, at)?;
            let message = "the loop has a count of {0}, but scans only {1} items";
            check::report(scope, fits, "SK9201", message, &[count, *length], l.span, at)?;
        }
        limits.push(count);
    }
    if let Some(slots) = slots(l)? {
        limits.push(at.index(slots)?);
    }
    let scanned = l
        .scans
        .iter()
        .map(|(_, pack)| gather(scope, pack, at))
        .chain(l.stack_scans.iter().map(|(item, stack)| Stacked::of_stack(scope, *item, *stack, at)))
        .collect::<Result<Vec<_>, _>>()?;
    let determined = determined_extents(scope, l)?;
    let stacked = l
        .scan_outputs
        .iter()
        .map(|pack| Stacked::of(scope, l, pack, &determined, at))
        .collect::<Result<Vec<_>, _>>()?;

    let mut state = vec![at.index(0)?, at.constant(Scalar::Bool(true), flag)?];
    let inner: Vec<ValueId> = l.carried.iter().map(|c| c.inner).collect();
    let carried_types = scope.types(&inner)?;
    let inits = l.carried.iter().map(|c| scope.get(c.init));
    let inits = inits.collect::<Result<Vec<_>, _>>()?;
    state.extend(branch::cast_all(&inits, &carried_types, at)?);
    for stack in &stacked {
        state.push(stack.empty(at)?);
    }
    for _ in &determined {
        state.push(at.index(0)?);
    }
    // Facts about extents in an iteration are not known outside of it.
    let known = scope.symbols.clone();
    let state_types: Vec<_> = state.iter().map(|v| v.r#type()).collect();

    let (before_region, before, values) = at.region(&state_types);
    let (number, go_on) = number_and_flag(&values)?;
    let mut proceed = go_on;
    for limit in &limits {
        let less = before.scalar(ScalarOp::Lt, &[number, *limit], flag)?;
        proceed = before.value(ops::arith::ANDI, &[proceed, less], &[], flag)?;
    }
    if let Some(test) = &l.before {
        // There is an item only if there is an iteration.
        let (then_region, then, _) = before.region(&[]);
        enter(scope, l, number, &values, &scanned, &then)?;
        let holds = branch::condition(scope, test, &then)?;
        then.create(ops::scf::YIELD, &[holds], &[], &[], Vec::new())?;
        let (else_region, other, _) = before.region(&[]);
        let no = other.constant(Scalar::Bool(false), flag)?;
        other.create(ops::scf::YIELD, &[no], &[], &[], Vec::new())?;
        let op = before.create(ops::scf::IF, &[proceed], &[], &[flag], vec![then_region, else_region])?;
        proceed = ir::result(op)?;
    }
    let mut operands = vec![proceed];
    operands.extend(&values);
    before.create(ops::scf::CONDITION, &operands, &[], &[], Vec::new())?;
    scope.symbols.clone_from(&known);

    let (body_region, body, values) = at.region(&state_types);
    let (number, _) = number_and_flag(&values)?;
    if let Some(most) = l.most_steps {
        let last = i64::try_from(most).map_err(|_| EmitError::Malformed("a loop is too long"))?;
        let goes_on = scalars::compare(ScalarOp::Lt, number, body.index(last)?, &body)?;
        let message = format!("the loop does not end within {most} steps (limit `loop_steps`)");
        check::report(scope, goes_on, "SK9201", &message, &[], l.span, &body)?;
    }
    enter(scope, l, number, &values, &scanned, &body)?;
    // Items are sliced again here: blocks of the test do not dominate the body.
    block::emit(scope, &l.body, &body)?;
    let produced = scope.all(&l.body.results)?;
    let carried_new =
        produced.get(..l.carried.len()).ok_or(EmitError::Malformed("a loop yields too few tensors"))?;
    let one = body.index(1)?;
    let carried_new = &branch::cast_all(carried_new, &carried_types, &body)?;
    let mut next = vec![
        body.value(ops::arith::ADDI, &[number, one], &[], index)?,
        body.constant(Scalar::Bool(true), flag)?,
    ];
    next.extend(carried_new);
    for (position, stack) in stacked.iter().enumerate() {
        let item = produced
            .get(l.carried.len() + position)
            .ok_or(EmitError::Malformed("a loop yields too few tensors"))?;
        let pack = values
            .get(2 + l.carried.len() + position)
            .ok_or(EmitError::Malformed("a loop has too little state"))?;
        next.push(stack.insert(*item, *pack, number, &body)?);
    }
    let before = values.get(next.len()..).unwrap_or_default();
    next.extend(determined_by_body(scope, l, &determined, before, number, &body)?);
    if let Some(test) = &l.after {
        for (carried, value) in l.carried.iter().zip(carried_new) {
            scope.set(carried.inner, *value);
        }
        let holds = branch::condition(scope, test, &body)?;
        if let Some(go_on) = next.get_mut(1) {
            *go_on = holds;
        }
    }
    body.create(ops::scf::YIELD, &next, &[], &[], Vec::new())?;
    scope.symbols = known;

    let op = at.create(ops::scf::WHILE, &state, &[], &state_types, vec![before_region, body_region])?;
    let finals: Vec<Value<'c, 'a>> = op.results().map(Into::into).collect();
    for (carried, value) in l.carried.iter().zip(finals.iter().skip(2)) {
        scope.set(carried.result, *value);
        scope.learn(carried.result, at)?;
    }
    let (done, _) = number_and_flag(&finals)?;
    let last = finals.iter().skip(2 + l.carried.len() + stacked.len());
    for (name, extent) in determined.iter().zip(last) {
        scope.symbols.insert(name.clone(), *extent);
    }
    if let Some(capacity) = l.capacity {
        let most = i64::try_from(capacity).map_err(|_| EmitError::Malformed("a huge extent"))?;
        let fits = scalars::compare(ScalarOp::Le, done, at.index(most)?, at)?;
        let message =
            format!("the loop runs more than {capacity} iterations, the declared length of its results");
        check::report(scope, fits, "SK9201", &message, &[], l.span, at)?;
    }
    for ((pack, value), stack) in
        l.scan_outputs.iter().zip(finals.iter().skip(2 + l.carried.len())).zip(&stacked)
    {
        if stack.is_open {
            let id = first(pack)?;
            stack.tell_length(scope, id, done, at)?;
            let whole = scope.filled(id, *value, at)?;
            scope.set(id, whole);
            continue;
        }
        for (number, id) in (0i64..).zip(pack) {
            let number = at.index(number)?;
            let open = scope.open_extents(*id, at)?;
            let item = stack.extract(*value, number, scope.r#type(*id)?, &open, at)?;
            scope.set(*id, item);
        }
    }
    Ok(())
}

/// The dynamic extents of collected results that the loop's body determines. They are loop-carried values, initially
/// zero: an empty pack has items without elements.
fn determined_extents(scope: &Scope<'_, '_, '_, '_>, l: &Loop) -> Result<Vec<String>, EmitError> {
    let mut names: Vec<String> = Vec::new();
    for pack in &l.scan_outputs {
        let id = first(pack)?;
        // The number of iterations is defined after the loop.
        let dimensions = usize::from(is_one_tensor(l));
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

/// Checks that all items of a pack have the extents of the first, because they become one tensor, and returns these
/// extents.
fn determined_by_body<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    l: &Loop,
    determined: &[String],
    before: &[Value<'c, 'a>],
    number: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, EmitError> {
    let mut extents = Vec::new();
    for (name, before) in determined.iter().zip(before) {
        let extent = scope.symbols.get(name).copied();
        let extent = extent.ok_or(EmitError::Malformed("a loop's body defines no extent"))?;
        let is_first = scalars::compare(ScalarOp::Eq, number, at.index(0)?, at)?;
        let same = scalars::compare(ScalarOp::Eq, extent, *before, at)?;
        let agree = at.value(ops::arith::ORI, &[is_first, same], &[], same.r#type())?;
        let message = "item {0} of a pack has the extent {1}, but the items before have {2}";
        let values = [number, extent, *before];
        check::report(scope, agree, "SK9201", message, &values, l.span, at)?;
        extents.push(extent);
    }
    Ok(extents)
}

/// Whether each collected result is one tensor with a dimension for the executed iterations; otherwise there are as
/// many tensors as iterations.
fn is_one_tensor(l: &Loop) -> bool {
    let counted = l.before.is_none() && l.after.is_none() && l.dynamic_count.is_none();
    !(counted && l.stack_scans.is_empty())
}

/// One tensor with an additional first dimension for the iterations or items.
struct Stacked<'c, 'a> {
    r#type: Type<'c>,
    kind: ScalarKind,
    /// The dynamic extents of an item.
    open: Vec<Value<'c, 'a>>,
    /// Whether the number of items is dynamic.
    is_open: bool,
    /// Whether slots have the upper bounds of the items' extents, of which items use the beginning.
    is_padded: bool,
}

impl<'c: 'a, 'a> Stacked<'c, 'a> {
    /// For a scan output: a slot for each possible iteration.
    fn of(
        scope: &Scope<'_, 'c, 'a, '_>,
        l: &Loop,
        pack: &[ValueId],
        determined: &[String],
        at: &Builder<'c, 'a>,
    ) -> Result<Self, EmitError> {
        let huge = |_| EmitError::Malformed("a huge extent");
        let stack = first(pack)?;
        let tensor = scope.tensor(stack)?;
        let is_open = is_one_tensor(l);
        let (count, item) = match tensor.shape.split_first() {
            _ if !is_open && determined.is_empty() => return Self::of_items(scope, pack, at),
            _ if !is_open => {
                pack_type(scope, pack)?;
                (i64::try_from(pack.len()).map_err(huge)?, &tensor.shape[..])
            }
            None => return Err(EmitError::Malformed("a stack has no dimension")),
            Some((count, item)) => {
                let count = i64::try_from(count.bound()).map_err(huge)?;
                (slots(l)?.unwrap_or(count), item)
            }
        };
        let mut extents = vec![count];
        let mut open = Vec::new();
        let mut is_padded = false;
        for extent in item {
            extents.push(match extent {
                Extent::Fixed(n) => i64::try_from(*n).map_err(huge)?,
                Extent::Dynamic { expr, bound } => {
                    let mut is_determined = false;
                    expr.operations_with(&mut |name| {
                        is_determined |= determined.iter().any(|t| t == name);
                        0
                    });
                    is_padded |= is_determined;
                    if is_determined {
                        i64::try_from(*bound).map_err(huge)?
                    } else {
                        open.push(scope.extent_value(extent, at)?);
                        types::DYNAMIC
                    }
                }
            });
        }
        let element = scope.element(stack)?;
        Ok(Stacked { r#type: types::tensor(&extents, element), kind: tensor.kind, open, is_open, is_padded })
    }

    /// For a pack of dynamic length, which is one tensor already.
    fn of_stack(
        scope: &Scope<'_, 'c, 'a, '_>,
        item: ValueId,
        stack: ValueId,
        at: &Builder<'c, 'a>,
    ) -> Result<(Self, Value<'c, 'a>), EmitError> {
        let whole = scope.get(stack)?;
        let stacked = Stacked {
            r#type: whole.r#type(),
            kind: scope.tensor(stack)?.kind,
            open: scope.open_extents(item, at)?,
            is_open: true,
            is_padded: false,
        };
        Ok((stacked, whole))
    }

    /// For existing items.
    fn of_items(
        scope: &Scope<'_, 'c, 'a, '_>,
        pack: &[ValueId],
        at: &Builder<'c, 'a>,
    ) -> Result<Self, EmitError> {
        let item = first(pack)?;
        Ok(Stacked {
            r#type: pack_type(scope, pack)?,
            kind: scope.tensor(item)?.kind,
            open: scope.open_extents(item, at)?,
            is_open: false,
            is_padded: false,
        })
    }

    /// Fills all items with `T()`.
    fn empty(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, EmitError> {
        let element = types::element_of(self.r#type).ok_or(EmitError::Malformed("a pack is not a tensor"))?;
        let mut operands = vec![at.constant(self.kind.default_value(), element)?];
        operands.extend(&self.open);
        Ok(at.value(ops::tensor::SPLAT, &operands, &[], self.r#type)?)
    }

    fn insert(
        &self,
        item: Value<'c, 'a>,
        pack: Value<'c, 'a>,
        number: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        let (mut slice, open) = if self.is_padded {
            if types::extents(self.r#type).is_some_and(|bounds| bounds.contains(&0)) {
                // No slice begins at the first element if there is none.
                return Ok(pack);
            }
            (item_slice(item.r#type(), at)?, at.dynamic_extents(item)?)
        } else {
            (slice_attributes(pack, at)?, self.open.clone())
        };
        slice.push(("operandSegmentSizes", attributes::i32s(at.context, &[1, 1, 1, segment(&open)?, 0])));
        let mut operands = vec![item, pack, number];
        operands.extend(open);
        Ok(at.value(ops::tensor::INSERT_SLICE, &operands, &slice, pack.r#type())?)
    }

    /// The item with a number; `open` are its dynamic extents.
    fn extract(
        &self,
        pack: Value<'c, 'a>,
        number: Value<'c, 'a>,
        item: Type<'c>,
        open: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, EmitError> {
        let (mut slice, open) = if self.is_padded {
            if types::extents(self.r#type).is_some_and(|bounds| bounds.contains(&0)) {
                return Ok(at.value(ops::tensor::EMPTY, open, &[], item)?);
            }
            (item_slice(item, at)?, open)
        } else {
            (slice_attributes(pack, at)?, self.open.as_slice())
        };
        slice.push(("operandSegmentSizes", attributes::i32s(at.context, &[1, 1, segment(open)?, 0])));
        let mut operands = vec![pack, number];
        operands.extend(open);
        Ok(at.value(ops::tensor::EXTRACT_SLICE, &operands, &slice, item)?)
    }

    /// Defines the symbol of the number of iterations.
    fn tell_length(
        &self,
        scope: &mut Scope<'_, 'c, 'a, '_>,
        id: ValueId,
        done: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), EmitError> {
        if let Some(Extent::Dynamic { expr, bound }) = scope.tensor(id)?.shape.first()
            && let ShapeExpr::Symbol(name) = expr.as_ref()
        {
            let done = scalars::within(done, *bound, at)?;
            scope.symbols.insert(name.clone(), done);
        }
        Ok(())
    }
}

fn segment(open: &[Value]) -> Result<i32, EmitError> {
    i32::try_from(open.len()).map_err(|_| EmitError::Malformed("too many operands"))
}

/// The number of items of the packs of dynamic length that a loop scans; all scanned packs have one length.
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
        Some((_, pack)) => {
            let length = i64::try_from(pack.len());
            Some(at.index(length.map_err(|_| EmitError::Malformed("a pack is too long"))?)?)
        }
        None => lengths.first().copied(),
    };
    for length in &lengths {
        let Some(first) = first.filter(|first| first != length) else {
            continue;
        };
        let agree = scalars::compare(ScalarOp::Eq, first, *length, at)?;
        let message = "the packs that a loop scans have {0} and {1} items";
        check::report(scope, agree, "SK9201", message, &[first, *length], l.span, at)?;
    }
    Ok(lengths)
}

/// Slots for results if only their pack bounds the loop: one more than its length, to detect that it is too short.
fn slots(l: &Loop) -> Result<Option<i64>, EmitError> {
    let slots = l.capacity.map(|capacity| i64::try_from(capacity).ok()?.checked_add(1));
    match slots {
        Some(None) => Err(EmitError::Malformed("a huge extent")),
        Some(slots) => Ok(slots),
        None => Ok(None),
    }
}

fn number_and_flag<'c, 'a>(state: &[Value<'c, 'a>]) -> Result<(Value<'c, 'a>, Value<'c, 'a>), EmitError> {
    match state {
        [number, flag, ..] => Ok((*number, *flag)),
        _ => Err(EmitError::Malformed("a loop has too little state")),
    }
}

/// Binds the values that the blocks of an iteration see.
fn enter<'c: 'a, 'a>(
    scope: &mut Scope<'_, 'c, 'a, '_>,
    l: &Loop,
    number: Value<'c, 'a>,
    state: &[Value<'c, 'a>],
    scanned: &[(Stacked<'c, 'a>, Value<'c, 'a>)],
    at: &Builder<'c, 'a>,
) -> Result<(), EmitError> {
    for (carried, value) in l.carried.iter().zip(state.iter().skip(2)) {
        scope.set(carried.inner, *value);
        scope.learn(carried.inner, at)?;
    }
    if let Some(id) = l.index {
        let element = scope.element(id)?;
        let int = scope.function.numbers_of(scope.value(id)?).int;
        // Other bounds of the steps fit, or were rejected.
        let is_open = l.static_count.is_none() && l.dynamic_count.is_none();
        if is_open && int != IntType::I64 {
            let last = at.index(int.largest())?;
            let fits = scalars::compare(ScalarOp::Le, number, last, at)?;
            let message = format!("the index {{0}} of an iteration does not fit {int}");
            check::report(scope, fits, "SK9201", &message, &[number], l.span, at)?;
        }
        let value = at.value(ops::arith::INDEX_CAST, &[number], &[], element)?;
        let tensor = at.value(ops::tensor::FROM_ELEMENTS, &[value], &[], scope.r#type(id)?)?;
        scope.set(id, tensor);
    }
    let items = l.scans.iter().map(|(item, _)| item);
    let items = items.chain(l.stack_scans.iter().map(|(item, _)| item));
    for (item, (stack, packed)) in items.zip(scanned) {
        let value = stack.extract(*packed, number, scope.r#type(*item)?, &[], at)?;
        scope.set(*item, value);
        scope.learn(*item, at)?;
    }
    Ok(())
}

fn first(pack: &[ValueId]) -> Result<ValueId, EmitError> {
    pack.first().copied().ok_or(EmitError::Malformed("a scanned pack is empty"))
}

/// One tensor with an additional first dimension for the pack.
fn pack_type<'c: 'a, 'a>(scope: &Scope<'_, 'c, 'a, '_>, pack: &[ValueId]) -> Result<Type<'c>, EmitError> {
    let item = first(pack)?;
    let mut extents =
        vec![i64::try_from(pack.len()).map_err(|_| EmitError::Malformed("a pack is too long"))?];
    extents.extend(scope.extents(item)?);
    for other in pack {
        if scope.tensor(*other)? != scope.tensor(item)? {
            return Err(EmitError::Unsupported {
                what: "a loop runs over items of different shapes",
                span: scope.function.span,
            });
        }
    }
    Ok(types::tensor(&extents, scope.element(item)?))
}

/// Concatenates the items of a pack.
fn gather<'c: 'a, 'a>(
    scope: &Scope<'_, 'c, 'a, '_>,
    pack: &[ValueId],
    at: &Builder<'c, 'a>,
) -> Result<(Stacked<'c, 'a>, Value<'c, 'a>), EmitError> {
    let stack = Stacked::of_items(scope, pack, at)?;
    let mut packed = at.value(ops::tensor::EMPTY, &stack.open, &[], stack.r#type)?;
    for (position, item) in pack.iter().enumerate() {
        let position = i64::try_from(position).map_err(|_| EmitError::Malformed("a pack is too long"))?;
        packed = stack.insert(scope.get(*item)?, packed, at.index(position)?, at)?;
    }
    Ok((stack, packed))
}

/// One item of a pack: a dynamic offset in the first dimension, full slices of the others.
fn slice_attributes<'c: 'a, 'a>(
    pack: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<(&'static str, melior::ir::Attribute<'c>)>, EmitError> {
    let sizes = types::extents(pack.r#type()).ok_or(EmitError::Malformed("a pack is not a tensor"))?;
    Ok(slice_of(sizes.get(1..).unwrap_or_default(), at))
}

/// As above for an item at the beginning of its slot.
fn item_slice<'c: 'a, 'a>(
    item: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<(&'static str, melior::ir::Attribute<'c>)>, EmitError> {
    let sizes = types::extents(item).ok_or(EmitError::Malformed("an item is not a tensor"))?;
    Ok(slice_of(&sizes, at))
}

/// A dynamic offset in the first dimension, and these sizes in the others.
fn slice_of<'c: 'a, 'a>(
    item: &[i64],
    at: &Builder<'c, 'a>,
) -> Vec<(&'static str, melior::ir::Attribute<'c>)> {
    let mut sizes = vec![1];
    sizes.extend(item);
    let mut offsets = vec![0; sizes.len()];
    if let Some(offset) = offsets.first_mut() {
        *offset = types::DYNAMIC;
    }
    let strides = vec![1; sizes.len()];
    vec![
        ("static_offsets", attributes::i64s(at.context, &offsets)),
        ("static_sizes", attributes::i64s(at.context, &sizes)),
        ("static_strides", attributes::i64s(at.context, &strides)),
    ]
}
