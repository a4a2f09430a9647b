// SPDX-License-Identifier: Apache-2.0
//! Checks that all calls can be inlined: each callee has a body, no function calls itself directly or through others,
//! and the program stays within a bounded number of operations after inlining. StableHLO has no recursion.

use super::entry::op_name;
use super::refusal::{Refusal, refusal_at};

use melior::ir::{Module, OperationRef};
use skript_dialect::melior;
use skript_dialect::op;
use skript_passes::ir;
use skript_passes::ir::func::callee;
use skript_passes::ir::ops;
use std::collections::HashMap;

/// The maximum number of reported calls.
const LISTED: usize = 20;
/// The number of operations that a program may have after inlining, unless it has more before.
const INLINED: u64 = 100_000;
/// The factor by which inlining may increase the number of operations of a program.
const GROWTH: u64 = 4;
/// The maximum depth of nested calls: each adds a level to the locations of inlined operations.
const DEPTH: usize = 1000;

/// The calls of a function with their callees, and the number of its other operations.
struct Function<'c, 'a> {
    name: String,
    calls: Vec<(usize, OperationRef<'c, 'a>)>,
    operations: u64,
    has_body: bool,
}

/// All calls that cannot be inlined; if there are none, the call whose inlining exceeds the limit.
pub(super) fn refusals(module: &Module) -> Vec<Refusal> {
    let functions = functions(module);
    let mut found = Vec::new();
    let all = functions.iter().flat_map(|f| &f.calls);
    for (callee, call) in all {
        if let Some(callee) = functions.get(*callee).filter(|f| !f.has_body) {
            let message = format!("calls `{}`, which has no body", callee.name);
            found.push(refusal_at(*call, &message));
        }
    }
    let order = finished(&functions);
    let components = components(&functions, &order);
    for (at, function) in functions.iter().enumerate() {
        for (callee, call) in &function.calls {
            if found.len() < LISTED && components.get(at) == components.get(*callee) {
                found.push(endless(&functions, at, *callee, *call));
            }
        }
    }
    found.truncate(LISTED);
    if found.is_empty() {
        found.extend(excess(&functions, &order));
    }
    found
}

fn functions<'c: 'a, 'a>(module: &'a Module<'c>) -> Vec<Function<'c, 'a>> {
    let all = ir::operations(module.body()).into_iter();
    let all: Vec<_> = all.filter(|f| op::is(f, ops::func::FUNC)).collect();
    let names = all.iter().map(|f| op_name(*f));
    let numbers: HashMap<String, usize> = names.zip(0..).collect();
    let function = |found: OperationRef<'c, 'a>| {
        let inside = ir::nested(found);
        let calls = inside.iter().filter(|op| op::is(*op, ops::func::CALL));
        let calls = calls.filter_map(|call| Some((*numbers.get(&callee(*call)?)?, *call)));
        Function {
            name: op_name(found),
            calls: calls.collect(),
            operations: inside.iter().filter(|op| is_kept(**op)).count() as u64,
            has_body: ir::body(found).is_ok(),
        }
    };
    all.iter().map(|found| function(*found)).collect()
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
        // A function, and its next call.
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

/// The strongly connected component of each function in the call graph, as a number (Kosaraju's algorithm). A function
/// without recursion is a component by itself.
fn components(functions: &[Function], order: &[usize]) -> Vec<usize> {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); functions.len()];
    for (at, function) in functions.iter().enumerate() {
        for (callee, _) in &function.calls {
            if let Some(callers) = callers.get_mut(*callee) {
                callers.push(at);
            }
        }
    }
    let mut found = vec![usize::MAX; functions.len()];
    for root in order.iter().rev() {
        let mut pending = vec![*root];
        while let Some(at) = pending.pop() {
            if let Some(component) = found.get_mut(at).filter(|c| **c == usize::MAX) {
                *component = *root;
                pending.extend(callers.get(at).into_iter().flatten());
            }
        }
    }
    found
}

/// A call on a cycle of the call graph.
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

/// The functions on a shortest path of calls from one function to another, without the last one; empty if the first is
/// the last.
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
    let mut way: Vec<usize> = std::iter::successors(caller(&to), caller).collect();
    way.reverse();
    way
}

/// The size of a function after all calls in it are inlined.
#[derive(Clone, Copy, Default)]
struct Inlined {
    operations: u64,
    /// The depth of nested calls.
    depth: usize,
}

/// The call that contributes most operations, if the total exceeds the limit. `order` lists callees first.
fn excess(functions: &[Function], order: &[usize]) -> Option<Refusal> {
    let mut inlined = vec![Inlined::default(); functions.len()];
    let mut callers = vec![0u64; functions.len()];
    for at in order {
        let Some(function) = functions.get(*at) else {
            continue;
        };
        let mut sum = Inlined { operations: function.operations, depth: 0 };
        for (callee, _) in &function.calls {
            let called = inlined.get(*callee).copied().unwrap_or_default();
            sum.operations = sum.operations.saturating_add(called.operations);
            sum.depth = sum.depth.max(called.depth + 1);
            if let Some(callers) = callers.get_mut(*callee) {
                *callers += 1;
            }
        }
        if let Some(slot) = inlined.get_mut(*at) {
            *slot = sum;
        }
    }
    // A function with one caller moves into it.
    let kept = inlined.iter().zip(&callers).filter(|(_, n)| **n != 1);
    let total = kept.fold(0u64, |sum, (f, _)| sum.saturating_add(f.operations));
    let own = functions.iter().fold(0u64, |sum, f| sum.saturating_add(f.operations));
    let most = INLINED.max(own.saturating_mul(GROWTH));
    let is_deep = inlined.iter().any(|f| f.depth > DEPTH);
    if total <= most && !is_deep {
        return None;
    }
    let size = |callee: &usize| inlined.get(*callee).copied().unwrap_or_default();
    let calls = functions.iter().flat_map(|f| &f.calls);
    // If there are several, the first in the text.
    let (callee, call) = calls.rev().max_by_key(|(callee, _)| {
        if is_deep { u64::try_from(size(callee).depth).unwrap_or(u64::MAX) } else { size(callee).operations }
    })?;
    let name = functions.get(*callee).map_or("", |f| f.name.as_str());
    let message = if is_deep {
        format!(
            "calls `{name}`, in which calls are {} deep inside of each other, more than {DEPTH}: write a loop",
            size(callee).depth
        )
    } else {
        format!(
            "calls `{name}`, which comes to {} operations when all calls are inlined, and the program to {}, more than \
             {most}: write a loop instead of calls, or call it less often",
            counted(size(callee).operations),
            counted(total)
        )
    };
    Some(Refusal { malformed: false, ..refusal_at(*call, &message) })
}

/// A count as text for a message; the largest value is printed as a lower limit.
fn counted(count: u64) -> String {
    match count {
        u64::MAX => "2^64 or more".to_owned(),
        count => count.to_string(),
    }
}
