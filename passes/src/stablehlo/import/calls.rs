//! Calls end: what is called has a body, and no function calls itself, directly or through others. StableHLO has no
//! recursion; all calls are inlined.

use super::program::{Refusal, op_name, refusal_at};
use crate::codegen::mlir;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Module, OperationRef};
use skript_dialect::melior;
use skript_dialect::op;
use std::collections::HashMap;

/// A function's calls, each with the name of what it calls, and whether it has a body.
struct Function<'c, 'a> {
    calls: Vec<(String, OperationRef<'c, 'a>)>,
    has_body: bool,
}

type Functions<'c, 'a> = HashMap<String, Function<'c, 'a>>;

/// Every call that cannot be inlined.
pub fn without_end(module: &Module) -> Vec<Refusal> {
    let all = mlir::operations(module.body()).into_iter();
    let all = all.filter(|f| op::is(f, "func.func"));
    let functions: Vec<_> = all.map(|f| (op_name(f), function(f))).collect();
    let order: Vec<String> = functions.iter().map(|(name, _)| name.clone()).collect();
    let functions: Functions = functions.into_iter().collect();
    let mut found = Vec::new();
    for name in order {
        let Some(function) = functions.get(&name) else {
            continue;
        };
        for (callee, call) in &function.calls {
            if functions.get(callee).is_some_and(|f| !f.has_body) {
                let message = format!("calls `{callee}`, which has no body");
                found.push(refusal_at(*call, &message));
            } else if let Some(path) = path(&functions, callee, &name) {
                let through = match path.as_slice() {
                    [] => String::new(),
                    others => format!(" through `{}`", others.join("`, `")),
                };
                let message = format!(
                    "makes `{name}` call itself{through}: StableHLO has no recursion; write `stablehlo.while`"
                );
                found.push(refusal_at(*call, &message));
            }
        }
    }
    found
}

fn function<'c: 'a, 'a>(found: OperationRef<'c, 'a>) -> Function<'c, 'a> {
    let calls = op::collect(&found, |op| op::is(&op, "func.call"));
    let named = calls.into_iter().filter_map(|call| {
        let callee = FlatSymbolRefAttribute::try_from(call.attribute("callee").ok()?).ok()?;
        Some((callee.value().to_owned(), call))
    });
    Function {
        calls: named.collect(),
        has_body: mlir::body(found).is_ok(),
    }
}

/// The functions on a shortest way of calls from one function to another, the last one left out; none from a function to
/// itself, `None` if there is no way.
fn path(functions: &Functions, from: &str, to: &str) -> Option<Vec<String>> {
    let mut before: HashMap<&str, Option<&str>> = HashMap::from([(from, None)]);
    let mut reached = vec![from];
    let mut next = 0;
    while let Some(name) = reached.get(next).copied() {
        next += 1;
        if name == to {
            let caller = |name: &&str| before.get(name).copied().flatten();
            let mut way: Vec<String> = std::iter::successors(caller(&name), caller)
                .map(str::to_owned)
                .collect();
            way.reverse();
            return Some(way);
        }
        let (known, function) = functions.get_key_value(name)?;
        for (callee, _) in &function.calls {
            if !before.contains_key(callee.as_str()) {
                before.insert(callee, Some(known));
                reached.push(callee);
            }
        }
    }
    None
}
