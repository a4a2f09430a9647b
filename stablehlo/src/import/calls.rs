// SPDX-License-Identifier: Apache-2.0
//! Calls end, and come to few operations: what is called has a body, no function calls itself, directly or through others,
//! and all calls together, which are inlined, come to a bounded number of operations. StableHLO has no recursion.

use super::program::{Refusal, op_name, refusal_at};

use melior::ir::{Module, OperationRef};
use skript_dialect::melior;
use skript_dialect::op;
use skript_passes::ir;
use skript_passes::ir::func::callee;
use skript_passes::ir::ops;
use std::collections::HashMap;

/// So many calls are listed.
const LISTED: usize = 20;
/// Operations that a program may come to by inlining, if it does not hold more itself.
const INLINED: u64 = 100_000;
/// How many times its own operations a program may come to by inlining.
const GROWTH: u64 = 4;
/// Calls inside of each other: each is a level of the locations of what is inlined.
const DEPTH: usize = 1000;

/// A function's calls, each with what it calls, and its other operations.
struct Function<'c, 'a> {
    name: String,
    calls: Vec<(usize, OperationRef<'c, 'a>)>,
    operations: u64,
    has_body: bool,
}

/// Every call that cannot be inlined; else the call that comes to too much.
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

/// Whether an operation is still there when all calls are inlined.
fn is_kept(operation: OperationRef) -> bool {
    !op::is(&operation, ops::func::CALL) && !op::is(&operation, ops::func::RETURN)
}

/// All functions, each behind those that it calls, but for calls that come back.
fn finished(functions: &[Function]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut is_known = vec![false; functions.len()];
    for root in 0..functions.len() {
        // A function, and which of its calls is next.
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

/// For each function a number that it shares with those that it reaches and that reach it; one that calls itself shares it
/// with itself, as all do (S. R. Kosaraju).
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

/// A call on a way that comes back to its function.
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

/// The functions on a shortest way of calls from one function to another, the last one left out; none from a function to
/// itself.
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

/// What a function comes to when all calls in it are inlined.
#[derive(Clone, Copy, Default)]
struct Inlined {
    operations: u64,
    /// Calls inside of each other.
    depth: usize,
}

/// The call that comes to the most, if all come to too much. `order` has callees first.
fn excess(functions: &[Function], order: &[usize]) -> Option<Refusal> {
    let mut inlined = vec![Inlined::default(); functions.len()];
    let mut callers = vec![0u64; functions.len()];
    for at in order {
        let Some(function) = functions.get(*at) else {
            continue;
        };
        let mut sum = Inlined {
            operations: function.operations,
            depth: 0,
        };
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
    // A function of one caller moves there.
    let kept = inlined.iter().zip(&callers).filter(|(_, n)| **n != 1);
    let total = kept.fold(0u64, |sum, (f, _)| sum.saturating_add(f.operations));
    let own = functions
        .iter()
        .fold(0u64, |sum, f| sum.saturating_add(f.operations));
    let most = INLINED.max(own.saturating_mul(GROWTH));
    let is_deep = inlined.iter().any(|f| f.depth > DEPTH);
    if total <= most && !is_deep {
        return None;
    }
    let size = |callee: &usize| inlined.get(*callee).copied().unwrap_or_default();
    let calls = functions.iter().flat_map(|f| &f.calls);
    // Of several the first in the text.
    let (callee, call) = calls.rev().max_by_key(|(callee, _)| match is_deep {
        true => u64::try_from(size(callee).depth).unwrap_or(u64::MAX),
        false => size(callee).operations,
    })?;
    let name = functions.get(*callee).map_or("", |f| f.name.as_str());
    let message = match is_deep {
        true => format!(
            "calls `{name}`, in which calls are {} deep inside of each other, more than {DEPTH}: write a loop",
            size(callee).depth
        ),
        false => format!(
            "calls `{name}`, which comes to {} operations when all calls are inlined, and the program to {}, more than \
             {most}: write a loop instead of calls, or call it less often",
            counted(size(callee).operations),
            counted(total)
        ),
    };
    Some(Refusal {
        malformed: false,
        ..refusal_at(*call, &message)
    })
}

/// A count in a message; the largest stands for all that are larger.
fn counted(count: u64) -> String {
    match count {
        u64::MAX => "2^64 or more".to_owned(),
        count => count.to_string(),
    }
}
