// SPDX-License-Identifier: Apache-2.0
//! Branches and loops.

use std::collections::BTreeSet;

use skript_tensor::ElementType;

use super::movement::{agreed, stacked, turned};
use super::{Operator, operator};
use crate::call::{Call, axis};
use crate::dependence::{selects, unknown};
use crate::extent::Extent;
use crate::proto::GraphProto;
use crate::refusal::{Reason, Ruled, overflow};
use crate::statement::{Block, Body, Count, Loop, Statement};
use crate::value::{Item, Value};

pub const OPERATORS: &[Operator] = &[
    operator("If", "`if`, or one branch if the condition is known at import", branch),
    operator("Loop", "`do`, or unrolled", repeat),
    operator("Scan", "`do`", scan),
];

/// Maximum number of steps of unrolled loops.
const MAX_STEPS: i64 = 256;

fn branch(c: &mut Call) -> Ruled<()> {
    let condition = c.input(0)?;
    let known = c.numbers_of(&condition).and_then(|v| v.first().copied());
    if let Some(known) = known {
        let taken = c.graph(if known != 0 { "then_branch" } else { "else_branch" })?;
        let block = c.importer.body(taken, Vec::new())?;
        c.importer.statements.extend(block.statements);
        for (at, value) in block.yields.into_iter().enumerate() {
            c.set(at, value);
        }
        return Ok(());
    }
    let condition = match (condition.rank(), condition.volume()) {
        (0, _) => condition,
        (_, Some(1)) => super::movement::reshaped(c, &condition, Vec::new()),
        _ => return Err("the condition does not have one element".into()),
    };
    selects(c.importer, &condition);
    let (then, otherwise) = (c.graph("then_branch")?, c.graph("else_branch")?);
    let mut then = c.importer.body(then, Vec::new())?;
    let otherwise = c.importer.body(otherwise, Vec::new())?;
    if then.yields.len() != otherwise.yields.len() {
        return Err("the branches have different numbers of outputs".into());
    }
    let pairs = || then.yields.iter().zip(&otherwise.yields);
    if pairs().any(|(a, b)| a.is_sequence() || b.is_sequence()) {
        return Err("a sequence that depends on the condition is not supported".into());
    }
    if let Some((at, (a, b))) = pairs().enumerate().find(|(_, (a, b))| !is_like(a, b)) {
        let is_one_type = pairs().all(|(a, b)| a.element == b.element);
        if let Some(taken) = expected(c, &condition, &then, &otherwise).filter(|_| is_one_type) {
            return only(c, condition, if taken { then } else { otherwise }, taken);
        }
        return Err(Reason(format!(
            "output {at} is {} in one branch and {} in the other: SkriptND requires the same type and rank",
            c.importer.typed(a),
            c.importer.typed(b)
        )));
    }
    let mut results = Vec::new();
    for (a, b) in then.yields.iter_mut().zip(&otherwise.yields) {
        *a = loosened(c, &mut then.statements, a, b)?;
        let shape = either(a, b, c.next_id());
        results.push(c.importer.value("if", a.element, shape, None, None));
    }
    c.push(results.clone(), Body::If { condition, then, otherwise });
    for (at, value) in results.into_iter().enumerate() {
        c.set(at, value);
    }
    Ok(())
}

fn is_like(a: &Value, b: &Value) -> bool {
    a.rank() == b.rank() && a.element == b.element
}

/// The shape of a value that is one of two values. Extents that differ become data-dependent.
fn either(a: &Value, b: &Value, id: usize) -> Vec<Extent> {
    let extents = a.shape.iter().zip(&b.shape).enumerate();
    extents.map(|(axis, (x, y))| if x == y { x.clone() } else { Call::open(id, axis) }).collect()
}

/// Makes the extents of a branch's value dynamic if they are static and differ from static extents of the other branch.
fn loosened(c: &mut Call, branch: &mut Vec<Statement>, value: &Value, other: &Value) -> Ruled<Value> {
    let outer = std::mem::replace(&mut c.importer.statements, std::mem::take(branch));
    let mut loosened = Ok(value.clone());
    for axis in 0..value.rank() {
        let (extent, other) = (value.extent(axis), other.extent(axis));
        if extent != other && extent.value().is_some() && other.value().is_some() {
            loosened = loosened.and_then(|value| super::dynamic_slice::whole(c, &value, axis));
        }
    }
    *branch = std::mem::replace(&mut c.importer.statements, outer);
    loosened
}

/// The expected value of the condition, if the ranks of the branches differ: with this value, the outputs have their declared ranks.
/// Without declarations, a comparison for equality is expected to be false: torch exports the removal of a dimension under the
/// condition that its extent is 1.
fn expected(c: &Call, condition: &Value, then: &Block, otherwise: &Block) -> Option<bool> {
    let rank = |name: &String| Some(c.importer.declared(name)?.shape.as_ref()?.dim.len());
    let outputs = c.node.output.iter().zip(then.yields.iter().zip(&otherwise.yields));
    for (name, (a, b)) in outputs.filter(|(_, (a, b))| a.rank() != b.rank()) {
        match rank(name) {
            Some(rank) if rank == a.rank() => return Some(true),
            Some(rank) if rank == b.rank() => return Some(false),
            _ => {}
        }
    }
    super::dynamic_slice::is_computed_by(c, condition, "math.eq").then_some(false)
}

/// Sets the results of one branch. Calls fail if the condition selects the other branch.
fn only(c: &mut Call, condition: Value, block: Block, taken: bool) -> Ruled<()> {
    let condition = if taken { condition } else { c.map("math.not", &[], &condition) };
    let condition = super::movement::reshaped(c, &condition, vec![Extent::from(1)]);
    let count = Call::open(c.next_id(), 0);
    let attributes = [("extent", "1".to_owned())];
    let of_type = (ElementType::I64, vec![count]);
    let selected = c.call("onnx.kept", &attributes, &[(&condition).into()], of_type);
    c.importer.statements.extend(block.statements);
    for (at, value) in block.yields.into_iter().enumerate() {
        let of_type = (value.element, value.shape.clone());
        let checked = c.call("onnx.of_branch", &[], &[(&value).into(), (&selected).into()], of_type);
        c.set(at, checked);
    }
    Ok(())
}

/// The number of steps of a loop.
struct Steps {
    count: Option<Count>,
    /// The number of steps, unless it depends on a condition or on data.
    known: Option<Extent>,
}

/// Reads the maximum number of steps of a loop; `None` if only the condition ends the loop.
fn count(c: &mut Call) -> Ruled<Option<Count>> {
    let Some(v) = c.optional(0) else {
        return Ok(None);
    };
    Ok(match c.extents_of(&v).as_deref() {
        // Exporters write a huge count for loops that are ended only by the condition.
        Some([e]) if e.value().is_some_and(|v| v >= i64::from(i32::MAX)) => None,
        Some([e]) => {
            let natural = e.larger(&Extent::from(0), &c.importer.bounds);
            Some(Count::Extent(natural.ok_or_else(overflow)?))
        }
        _ if v.volume() == Some(1) => Some(Count::Tensor(super::movement::reshaped(c, &v, Vec::new()))),
        _ => return Err("the number of steps is not one number".into()),
    })
}

fn repeat(c: &mut Call) -> Ruled<()> {
    let graph = c.graph("body")?;
    let starts = (2..c.inputs.len()).map(|at| c.input(at)).collect::<Ruled<Vec<_>>>()?;
    if graph.input.len() != starts.len() + 2 || graph.output.len() <= starts.len() {
        return Err("the body does not match the operands".into());
    }
    let count = count(c)?;
    let given = c.optional(1);
    let begins = given.as_ref().map_or(Some(true), |v| c.numbers_of(v).map(|v| v == [1]));
    if begins == Some(false) || matches!(&count, Some(Count::Extent(e)) if e.is(0)) {
        return without_steps(c, &graph, starts);
    }
    let by_steps = match &count {
        Some(Count::Extent(e)) => e.value().map(|n| (n.min(MAX_STEPS), n <= MAX_STEPS)),
        // Only the condition ends the loop.
        None => Some((MAX_STEPS, false)),
        Some(Count::Tensor(_)) => None,
    };
    if starts.iter().any(|s| s.is_sequence()) {
        let steps = by_steps.filter(|_| begins == Some(true));
        let steps = steps.ok_or("loops over sequences require a number of steps that is known at import")?;
        return unrolled(c, &graph, starts, steps);
    }
    let (names, first) = (names(&graph), flag(c, begins == Some(true)));
    let body = c.attempt(|c| stepped(c, &graph, &names, &first, &starts));
    let (mut block, mut parameters, mut index) = match body {
        Ok(body) => body,
        Err((reason, refusals)) => {
            // Known indices may decide the values that the body requires at import.
            if let Some(steps) = by_steps.filter(|_| begins == Some(true))
                && c.attempt(|c| unrolled(c, &graph, starts.clone(), steps)).is_ok()
            {
                return Ok(());
            }
            c.importer.refusals.extend(refusals);
            return Err(reason);
        }
    };
    let goes_on = |block: &Block| block.yields.first().and_then(|v| v.numbers()) == Some(vec![1]);
    let mut condition = None;
    if begins.is_none() || !goes_on(&block) {
        let parameter = c.importer.value("goes_on", ElementType::Bool, Vec::new(), None, None);
        (block, parameters, index) = stepped(c, &graph, &names, &parameter, &starts)?;
        condition = Some(parameter);
    }
    let fits = block.yields.iter().skip(1).zip(&starts).all(|(next, start)| {
        !next.is_sequence() && next.element == start.element && next.shape == start.shape
    });
    if !fits {
        let steps = by_steps.filter(|_| begins == Some(true));
        let reason = changes(c, &starts, block.yields.get(1..).unwrap_or(&[]));
        let Some(steps) = steps else {
            return Err(reason);
        };
        let unrolled = c.attempt(|c| unrolled(c, &graph, starts, steps));
        return unrolled.map_err(|(Reason(why), refusals)| {
            c.importer.refusals.extend(refusals);
            Reason(format!("{}; {why}", reason.0))
        });
    }
    let known = match (&condition, &count) {
        (None, Some(Count::Extent(e))) => Some(e.clone()),
        (None, None) => return Err("the loop has neither a number of steps nor a condition".into()),
        _ => None,
    };
    let mut carried: Vec<(Value, Value)> = parameters.into_iter().zip(starts).collect();
    match condition.clone() {
        Some(parameter) => {
            let start = match given {
                Some(given) if begins.is_none() => super::movement::reshaped(c, &given, Vec::new()),
                _ => flag(c, true),
            };
            carried.insert(0, (parameter, start));
        }
        None => {
            block.yields.remove(0);
        }
    }
    let skipped = usize::from(condition.is_some());
    let finals = carried.len() - skipped;
    let steps = Steps { count, known };
    let (results, packs) = looped(c, carried, condition, index, block, &steps)?;
    set_all(c, results.into_iter().skip(skipped).collect());
    for (at, pack) in packs.into_iter().enumerate() {
        let collected = collected(c, &pack, &steps, 0)?;
        c.set(finals + at, collected);
    }
    Ok(())
}

/// Reports the loop-carried value whose type changes, which SkriptND does not allow.
fn changes(c: &Call, starts: &[Value], yields: &[Value]) -> Reason {
    let mut pairs = starts.iter().zip(yields);
    let changed = pairs.find(|(start, next)| {
        next.is_sequence() || next.element != start.element || next.shape != start.shape
    });
    let Some((start, next)) = changed else {
        return "the body does not match the operands".into();
    };
    Reason(format!(
        "the loop-carried value that is initialized by `{}` has type {} and becomes {}: the steps must keep its type, or their number must be known at import (at most {MAX_STEPS})",
        start.onnx,
        c.importer.typed(start),
        c.importer.typed(next)
    ))
}

/// Sets the results of a loop without steps: the initial values, and empty tensors for the collected values.
fn without_steps(c: &mut Call, graph: &GraphProto, starts: Vec<Value>) -> Ruled<()> {
    if c.node.output.len() > starts.len() {
        // The types are determined by the statements of one step, which are dropped.
        let first = flag(c, true);
        let (step, ..) = stepped(c, graph, &names(graph), &first, &starts)?;
        let inside = inside(&step);
        for (at, value) in step.yields.iter().enumerate().skip(starts.len() + 1) {
            let mut deciding = BTreeSet::new();
            value.shape.iter().for_each(|extent| extent.values(&mut deciding));
            if value.is_sequence() || deciding.iter().any(|id| inside.contains(id)) {
                return Err("the types of the values that a loop without steps collects are unknown".into());
            }
            let mut shape = value.shape.clone();
            shape.insert(0, Extent::from(0));
            let empty = c.known(value.element, shape, Vec::new());
            c.set(at - 1, empty);
        }
    }
    set_all(c, starts);
    Ok(())
}

fn names(graph: &GraphProto) -> Vec<String> {
    graph.input.iter().map(|i| i.name.clone()).collect()
}

fn flag(c: &mut Call, value: bool) -> Value {
    c.known(ElementType::Bool, Vec::new(), vec![Item::Bool(value)])
}

fn set_all(c: &mut Call, values: Vec<Value>) {
    for (at, value) in values.into_iter().enumerate() {
        c.set(at, value);
    }
}

/// Creates a value with the type of another value.
fn parameter(c: &mut Call, name: &str, like: &Value) -> Value {
    c.importer.value(name, like.element, like.shape.clone(), None, None)
}

/// Converts the body of a loop. Returns the body, its loop-carried values and its index.
fn stepped(
    c: &mut Call,
    graph: &GraphProto,
    names: &[String],
    condition: &Value,
    starts: &[Value],
) -> Ruled<(Block, Vec<Value>, Value)> {
    let index = c.importer.value("i", ElementType::I64, Vec::new(), None, None);
    let deciding = c.inputs.iter().take(2).flatten().map(|value| value.id);
    c.importer.loops.push((index.id, deciding.collect()));
    let named = names.iter().skip(2).zip(starts);
    let parameters: Vec<Value> = named.map(|(name, start)| parameter(c, name, start)).collect();
    let values = [&index, condition].into_iter().chain(&parameters).cloned();
    let inputs = names.iter().cloned().zip(values).collect();
    let block = c.importer.body(graph.clone(), inputs)?;
    Ok((block, parameters, index))
}

/// Adds a loop. Returns the final loop-carried values, and the packs of collected values.
fn looped(
    c: &mut Call,
    carried: Vec<(Value, Value)>,
    condition: Option<Value>,
    index: Value,
    body: Block,
    steps: &Steps,
) -> Ruled<(Vec<Value>, Vec<Value>)> {
    let inside = inside(&body);
    let mut results = Vec::new();
    for value in &body.yields {
        let mut deciding = BTreeSet::new();
        value.shape.iter().for_each(|e| e.values(&mut deciding));
        if value.is_sequence() || deciding.iter().any(|id| inside.contains(id)) {
            return Err("a step computes a value with a data-dependent shape, which is not supported".into());
        }
        results.push(parameter(c, "loop", value));
    }
    let finals = results.iter().take(carried.len()).cloned().collect();
    let packs: Vec<Value> = results.iter().skip(carried.len()).cloned().collect();
    if !packs.is_empty() && !matches!(steps.count, Some(Count::Extent(_))) {
        let what = "the loop collects values of its steps, so the number of steps";
        return Err(match &steps.count {
            Some(Count::Tensor(count)) => unknown(c.importer, what, count),
            _ => Reason(format!("{what} must be known at import")),
        });
    }
    c.push(
        results,
        Body::Loop(Box::new(Loop { carried, condition, index, count: steps.count.clone(), body })),
    );
    Ok((finals, packs))
}

/// The ids of the values that a block computes.
fn inside(block: &Block) -> BTreeSet<usize> {
    let results = block.statements.iter().flat_map(|s| &s.results);
    results.map(|r| r.id).collect()
}

/// Stacks the values of all steps.
fn collected(c: &mut Call, pack: &Value, steps: &Steps, axis: usize) -> Ruled<Value> {
    let id = c.next_id();
    let count = steps.known.clone().unwrap_or_else(|| Call::open(id, axis));
    let mut shape = pack.shape.clone();
    shape.insert(axis.min(shape.len()), count);
    Ok(c.call("layout.stack", &[("axis", axis.to_string())], &[pack.into()], (pack.element, shape)))
}

/// Unrolls at most `count` steps. Conditions that are known at import may end the loop earlier.
fn unrolled(
    c: &mut Call,
    graph: &GraphProto,
    starts: Vec<Value>,
    (count, mut ends): (i64, bool),
) -> Ruled<()> {
    let names = names(graph);
    let mut carried = starts;
    let mut lists: Vec<Vec<Value>> = vec![Vec::new(); graph.output.len().saturating_sub(carried.len() + 1)];
    for step in 0..count {
        let at = c.known(ElementType::I64, Vec::new(), vec![Item::Int(Extent::from(step))]);
        let values = [at, flag(c, true)].into_iter().chain(carried.iter().cloned());
        let inputs = names.iter().cloned().zip(values).collect();
        let block = c.importer.body(graph.clone(), inputs)?;
        c.importer.statements.extend(block.statements);
        let mut yields = block.yields.into_iter();
        let goes_on = yields.next().and_then(|v| v.numbers());
        carried = yields.by_ref().take(carried.len()).collect();
        for (list, value) in lists.iter_mut().zip(yields) {
            list.push(value);
        }
        match goes_on.as_deref() {
            Some([0]) => {
                ends = true;
                break;
            }
            Some(_) => {}
            None => return Err("the condition of this loop must be known at import".into()),
        }
    }
    if !ends {
        return Err(Reason(format!("the loop has more than {MAX_STEPS} steps, which is too many to unroll")));
    }
    let finals = carried.len();
    set_all(c, carried);
    for (at, list) in lists.into_iter().enumerate() {
        let value = stacked(c, list, 0)?;
        c.set(finals + at, value);
    }
    Ok(())
}

fn scan(c: &mut Call) -> Ruled<()> {
    let graph = c.graph("body")?;
    if c.opset < 9 {
        return scan_items(c, &graph);
    }
    let operands = (0..c.inputs.len()).map(|at| c.input(at)).collect::<Ruled<Vec<_>>>()?;
    let (states, collected_count) = scan_counts(c, &graph, operands.len())?;
    let (starts, sequences) = operands.split_at(states);
    let scanned = sequences.len();
    let axes = c.ints("scan_input_axes").unwrap_or_else(|| vec![0; scanned]);
    let backwards = c.ints("scan_input_directions").unwrap_or_else(|| vec![0; scanned]);
    let out_axes = c.ints("scan_output_axes").unwrap_or_else(|| vec![0; collected_count]);
    let out_backwards = c.ints("scan_output_directions").unwrap_or_else(|| vec![0; collected_count]);
    if axes.len() != scanned
        || backwards.len() != scanned
        || out_axes.len() != collected_count
        || out_backwards.len() != collected_count
    {
        return Err("its lists have different lengths".into());
    }
    let indices = axes.iter().zip(sequences).map(|(a, x)| axis(*a, x.rank()));
    let ways = Ways { axes: indices.collect::<Ruled<_>>()?, backwards, out_axes, out_backwards };
    let results = scanned_along(c, graph, (starts, sequences), &ways)?;
    set_all(c, results);
    Ok(())
}

/// The number of states, which the body carries, and of the sequences that it collects.
fn scan_counts(c: &Call, graph: &GraphProto, operands: usize) -> Ruled<(usize, usize)> {
    let scanned = usize::try_from(c.int("num_scan_inputs", 0)).ok().filter(|scanned| *scanned > 0);
    let states =
        scanned.and_then(|scanned| operands.checked_sub(scanned)).filter(|_| graph.input.len() == operands);
    let counts = states.and_then(|states| Some((states, graph.output.len().checked_sub(states)?)));
    counts.ok_or_else(|| "the body does not match the operands".into())
}

/// Maximum number of items of a batch, each of which becomes a loop.
const MAX_ITEMS: i64 = 256;

/// Converts the operator of opset 8, whose operands have batch items along axis 0 and steps along axis 1.
fn scan_items(c: &mut Call, graph: &GraphProto) -> Ruled<()> {
    if c.optional(0).is_some() {
        return Err("lengths of sequences are not supported in opset 8".into());
    }
    let operands = (1..c.inputs.len()).map(|at| c.input(at)).collect::<Ruled<Vec<_>>>()?;
    let (states, collected) = scan_counts(c, graph, operands.len())?;
    let scanned = operands.len() - states;
    let backwards = c.ints("directions").unwrap_or_else(|| vec![0; scanned]);
    let count = operands.first().and_then(|x| x.shape.first()?.value());
    let count = count
        .filter(|n| (1..=MAX_ITEMS).contains(n))
        .ok_or("the extent of the batch must be static, from 1 to 256")?;
    let fits =
        operands.iter().enumerate().all(|(at, x)| x.extent(0).is(count) && (at < states || x.rank() > 1));
    if backwards.len() != scanned || !fits {
        return Err("the operands have different batches, or the number of directions is wrong".into());
    }
    let ways = Ways {
        axes: vec![0; scanned],
        backwards,
        out_axes: vec![0; collected],
        out_backwards: vec![0; collected],
    };
    let ones: Vec<Extent> = (0..count).map(|_| Extent::from(1)).collect();
    let mut items: Vec<Vec<Value>> = Vec::new();
    for x in &operands {
        let parts = match count {
            1 => vec![x.clone()],
            _ => super::movement::parts(c, x, 0, &ones),
        };
        let shape = x.shape.iter().skip(1).cloned().collect::<Vec<_>>();
        items.push(parts.iter().map(|part| super::movement::reshaped(c, part, shape.clone())).collect());
    }
    let mut results: Vec<Vec<Value>> = vec![Vec::new(); graph.output.len()];
    for item in 0..ones.len() {
        let operands: Vec<Value> = items.iter().filter_map(|parts| parts.get(item).cloned()).collect();
        let item_results = scanned_along(c, graph.clone(), operands.split_at(states), &ways)?;
        for (result, value) in results.iter_mut().zip(item_results) {
            result.push(value);
        }
    }
    for (at, parts) in results.into_iter().enumerate() {
        let value = super::movement::stacked(c, parts, 0)?;
        c.set(at, value);
    }
    Ok(())
}

/// The axes and directions of scanned and collected sequences.
struct Ways {
    axes: Vec<usize>,
    backwards: Vec<i64>,
    out_axes: Vec<i64>,
    out_backwards: Vec<i64>,
}

/// Adds the loop of a Scan. Returns the final states and the collected sequences.
fn scanned_along(
    c: &mut Call,
    graph: GraphProto,
    (starts, sequences): (&[Value], &[Value]),
    ways: &Ways,
) -> Ruled<Vec<Value>> {
    let Ways { axes, backwards, out_axes, out_backwards } = ways;
    let count = sequences.iter().zip(axes).map(|(x, a)| x.extent(*a));
    let count = count.max_by_key(|e| e.value().is_some()).ok_or("it scans no sequence")?;
    let sequences =
        sequences.iter().zip(axes).map(|(x, at)| agreed(c, x, *at, &count)).collect::<Ruled<Vec<_>>>()?;
    let index = c.importer.value("i", ElementType::I64, Vec::new(), None, None);
    // The statements that read the sequences belong to the loop.
    let outer = std::mem::take(&mut c.importer.statements);
    let mut items = Vec::new();
    for ((x, at), backwards) in sequences.iter().zip(axes).zip(backwards) {
        let position = match backwards {
            0 => index.clone(),
            _ => {
                let last = count.minus(&Extent::from(1)).ok_or_else(overflow)?;
                let last = c.known(ElementType::I64, Vec::new(), vec![Item::Int(last)]);
                c.binary("math.sub", &last, &index)?
            }
        };
        let mut shape = x.shape.clone();
        shape.remove(*at);
        let attributes = [("axis", at.to_string())];
        items.push(c.call("layout.gather", &attributes, &[x.into(), (&position).into()], (x.element, shape)));
    }
    let reads: Vec<Statement> = std::mem::replace(&mut c.importer.statements, outer);
    let names = names(&graph);
    let parameters: Vec<Value> =
        names.iter().zip(starts).map(|(name, start)| parameter(c, name, start)).collect();
    let inputs = names.into_iter().zip(parameters.iter().chain(&items).cloned()).collect();
    let mut block = c.importer.body(graph, inputs)?;
    block.statements.splice(0..0, reads);
    let fits = block
        .yields
        .iter()
        .zip(starts)
        .all(|(next, start)| next.element == start.element && next.shape == start.shape);
    if !fits {
        return Err(changes(c, starts, &block.yields));
    }
    let carried = parameters.into_iter().zip(starts.iter().cloned()).collect();
    let steps = Steps { count: Some(Count::Extent(count.clone())), known: Some(count) };
    let (mut results, packs) = looped(c, carried, None, index, block, &steps)?;
    for ((pack, onto), backwards) in packs.iter().zip(out_axes).zip(out_backwards) {
        let onto = axis(*onto, pack.rank() + 1)?;
        let mut value = collected(c, pack, &steps, onto)?;
        if *backwards != 0 {
            value = turned(c, &value, onto);
        }
        results.push(value);
    }
    Ok(results)
}
