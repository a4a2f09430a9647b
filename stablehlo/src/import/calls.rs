// SPDX-License-Identifier: Apache-2.0
//! Checks that all calls can be inlined: each callee has a body, no function calls itself directly or through other
//! functions, and the program has a bounded number of operations after inlining. StableHLO has no recursion.

use super::entry::op_name;
use super::refusal::{Refusal, refusal_at};

use melior::ir::{Module, OperationRef};
use skript_dialect::melior;
use skript_dialect::op;
use skript_passes::ir;
use skript_passes::ir::func::callee;
use skript_passes::ir::ops;
use std::collections::HashMap;

/// Maximum number of reported calls.
const MAX_REPORTED: usize = 20;
/// Number of operations up to which inlining is not limited.
const MIN_INLINED: u64 = 100_000;
/// Maximum factor by which inlining increases the number of operations of a larger program.
const MAX_GROWTH: u64 = 4;
/// Maximum depth of nested calls: each call adds a level to the locations of inlined operations.
const MAX_DEPTH: usize = 1000;

/// The calls of a function with their callees, and the number of its other operations.
struct Function<'c, 'a> {
    name: String,
    calls: Vec<(usize, OperationRef<'c, 'a>)>,
    operations: u64,
    has_body: bool,
}

/// Refuses the calls that cannot be inlined, or else the call whose inlining exceeds the limit.
pub(super) fn refusals(module: &Module) -> Vec<Refusal> {
    let functions = functions(module);
    let mut refusals = Vec::new();
    for (callee, call) in functions.iter().flat_map(|f| &f.calls) {
        if let Some(callee) = functions.get(*callee).filter(|f| !f.has_body) {
            let message = format!("calls `{}`, which has no body", callee.name);
            refusals.push(refusal_at(*call, &message));
        }
    }
    let order = finished(&functions);
    let components = components(&functions, &order);
    for (at, function) in functions.iter().enumerate() {
        for (callee, call) in &function.calls {
            if refusals.len() < MAX_REPORTED && components.get(at) == components.get(*callee) {
                refusals.push(endless(&functions, at, *callee, *call));
            }
        }
    }
    refusals.truncate(MAX_REPORTED);
    if refusals.is_empty() {
        refusals.extend(excess(&functions, &order));
    }
    refusals
}

fn functions<'c: 'a, 'a>(module: &'a Module<'c>) -> Vec<Function<'c, 'a>> {
    let operations = ir::operations(module.body()).into_iter();
    let definitions: Vec<_> = operations.filter(|f| op::is(f, ops::func::FUNC)).collect();
    let numbers: HashMap<String, usize> = definitions.iter().map(|f| op_name(*f)).zip(0..).collect();
    let function = |op: OperationRef<'c, 'a>| {
        let inside = ir::nested(op);
        let calls = inside.iter().filter(|op| op::is(*op, ops::func::CALL));
        Function {
            name: op_name(op),
            calls: calls.filter_map(|call| Some((*numbers.get(&callee(*call)?)?, *call))).collect(),
            operations: inside.iter().filter(|op| is_kept(**op)).count() as u64,
            has_body: ir::body(op).is_ok(),
        }
    };
    definitions.into_iter().map(function).collect()
}

/// Whether an operation remains after all calls are inlined.
fn is_kept(operation: OperationRef) -> bool {
    !op::is(&operation, ops::func::CALL) && !op::is(&operation, ops::func::RETURN)
}

/// All functions in post-order: callees before callers, except for recursive calls.
fn finished(functions: &[Function]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut is_known = vec![false; functions.len()];
    for root in 0..functions.len() {
        // A function, and the position of its next call.
        let mut pending = vec![(root, 0)];
        while let Some((at, next)) = pending.pop() {
            if next == 0 {
                match is_known.get_mut(at) {
                    Some(known) if !*known => *known = true,
                    _ => continue,
                }
            }
            match functions.get(at).and_then(|f| f.calls.get(next)) {
                Some((callee, _)) => pending.extend([(at, next + 1), (*callee, 0)]),
                None => order.push(at),
            }
        }
    }
    order
}

/// The number of the strongly connected component of each function in the call graph (Kosaraju's algorithm). The
/// component of a function without recursion contains only this function.
fn components(functions: &[Function], order: &[usize]) -> Vec<usize> {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); functions.len()];
    for (at, function) in functions.iter().enumerate() {
        for (callee, _) in &function.calls {
            if let Some(callers) = callers.get_mut(*callee) {
                callers.push(at);
            }
        }
    }
    let mut components = vec![usize::MAX; functions.len()];
    for root in order.iter().rev() {
        let mut pending = vec![*root];
        while let Some(at) = pending.pop() {
            if let Some(component) = components.get_mut(at).filter(|c| **c == usize::MAX) {
                *component = *root;
                pending.extend(callers.get(at).into_iter().flatten());
            }
        }
    }
    components
}

/// Refuses a call on a cycle of the call graph.
fn endless(functions: &[Function], caller: usize, callee: usize, call: OperationRef) -> Refusal {
    let name = |at: &usize| functions.get(*at).map_or("", |f| f.name.as_str());
    let through: Vec<&str> = path(functions, callee, caller).iter().map(name).collect();
    let through = match through.as_slice() {
        [] => String::new(),
        others => format!(" through `{}`", others.join("`, `")),
    };
    let message = format!(
        "makes `{}` call itself{through}: StableHLO has no recursion; write `stablehlo.while`",
        name(&caller)
    );
    refusal_at(call, &message)
}

/// The functions on a shortest path of calls from one function to another, without the last function; empty if both are
/// the same function.
fn path(functions: &[Function], from: usize, to: usize) -> Vec<usize> {
    let mut before = HashMap::from([(from, None)]);
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(at) = reached.get(next).copied().filter(|at| *at != to) {
        next += 1;
        for (callee, _) in functions.get(at).map_or(&[][..], |f| &f.calls) {
            before.entry(*callee).or_insert_with(|| {
                reached.push(*callee);
                Some(at)
            });
        }
    }
    let caller = |at: &usize| before.get(at).copied().flatten();
    let mut path: Vec<usize> = std::iter::successors(caller(&to), caller).collect();
    path.reverse();
    path
}

/// The size of a function after all calls in it are inlined.
#[derive(Clone, Copy, Default)]
struct Inlined {
    operations: u64,
    /// The depth of nested calls.
    depth: usize,
}

/// Refuses the call that contributes the most operations, if the total exceeds the limit. `order` lists callees first.
fn excess(functions: &[Function], order: &[usize]) -> Option<Refusal> {
    let mut inlined = vec![Inlined::default(); functions.len()];
    let mut callers = vec![0u64; functions.len()];
    for at in order {
        let Some(function) = functions.get(*at) else {
            continue;
        };
        let mut sum = Inlined { operations: function.operations, depth: 0 };
        for (callee, _) in &function.calls {
            // The size of the callee is known unless the call is recursive, because callees precede callers.
            let (Some(called), Some(callers)) = (inlined.get(*callee), callers.get_mut(*callee)) else {
                continue;
            };
            sum.operations = sum.operations.saturating_add(called.operations);
            sum.depth = sum.depth.max(called.depth + 1);
            *callers += 1;
        }
        if let Some(slot) = inlined.get_mut(*at) {
            *slot = sum;
        }
    }
    // The inlined copy of a function with one caller replaces the function.
    let kept = inlined.iter().zip(&callers).filter(|(_, n)| **n != 1);
    let total = kept.fold(0u64, |sum, (f, _)| sum.saturating_add(f.operations));
    let before = functions.iter().fold(0u64, |sum, f| sum.saturating_add(f.operations));
    let limit = MIN_INLINED.max(before.saturating_mul(MAX_GROWTH));
    let is_deep = inlined.iter().any(|f| f.depth > MAX_DEPTH);
    if total <= limit && !is_deep {
        return None;
    }
    let calls = functions.iter().flat_map(|f| &f.calls);
    let calls =
        calls.filter_map(|(callee, call)| Some((functions.get(*callee)?, inlined.get(*callee)?, call)));
    // Of several such calls, selects the first one in the text.
    let (callee, size, call) = calls.rev().max_by_key(|(_, size, _)| {
        if is_deep { u64::try_from(size.depth).unwrap_or(u64::MAX) } else { size.operations }
    })?;
    let name = &callee.name;
    let message = if is_deep {
        format!(
            "calls `{name}`, in which calls are {} deep inside of each other, more than {MAX_DEPTH}: write a loop",
            size.depth
        )
    } else {
        format!(
            "calls `{name}`, which comes to {} operations when all calls are inlined, and the program to {}, more than \
             {limit}: write a loop instead of calls, or call it less often",
            counted(size.operations),
            counted(total)
        )
    };
    Some(Refusal { malformed: false, ..refusal_at(*call, &message) })
}

/// A count as text for a message; the saturated maximum is printed as a lower bound.
fn counted(count: u64) -> String {
    match count {
        u64::MAX => "2^64 or more".to_owned(),
        count => count.to_string(),
    }
}
