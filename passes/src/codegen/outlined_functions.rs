// SPDX-License-Identifier: Apache-2.0
//! `skript-outline-parts`: outlines a long entry into functions of bounded size.
//!
//! Several LLVM passes are quadratic in the length of a function. Sequences of loops, calls, loads and stores move into
//! outlined functions of at most `most` operations. An outlined function rebuilds the views, constants and pointers from the
//! table that it uses; other captured values are its arguments, and scalars with later users are its results. Run-time
//! checks, stack memory, and operations on captured arrays with dynamic extents do not move. For a loop or branch with more
//! than `most` operations, the pass outlines its contents instead.
//!
//! Requires: an entry whose memory is planned.

use crate::ir::outline::{
    Outlined, captured, is_available, is_rebuilt, is_scalar, replace_operands, with_nested,
};
use crate::ir::skript::Check;
use crate::ir::{self, Builder, ancestor_in, attribute_names, attributes, func, key, ops};
use melior::Context;
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{OperationLike, OperationRef, OperationResult};
use melior::ir::{BlockRef, Type, Value, ValueLike};
use skript_dialect::{Pass, PassError, PassOption, op};
use std::collections::{HashMap, HashSet};

/// The pass `skript-outline-parts`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-outline-parts",
    summary: "outline a long entry into functions of bounded size",
    anchor: Some(ops::builtin::MODULE),
    options: &[PassOption {
        name: "most",
        summary: "maximum number of operations of an entry, and of an outlined function",
        default: "256",
    }],
    run: |root, options, rewriter| {
        let max_operations: usize = options.get("most")?;
        if max_operations == 0 {
            return Err("option most is 0: a part has at least one operation".into());
        }
        let entry = ir::entry(root)?;
        if weight(entry) <= max_operations {
            return Ok(());
        }
        let body = ir::body(entry)?;
        let mut outliner = Outliner {
            context: rewriter.context(),
            module: ir::first_block(root).ok_or("a module without a body")?,
            entry,
            max_operations,
            next: 0,
            known: ir::func::functions(root),
        };
        outliner.split(body)?;
        // The values that outlined functions rebuild may have no users in the entry.
        for op in ir::nested(entry).into_iter().rev() {
            if is_rebuilt(op) && !op.results().any(op::is_used) {
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The treatment of an operation by outlining.
enum Role {
    /// Each outlined function rebuilds the operation if it uses its results.
    Rebuilt,
    /// The operation moves into an outlined function; the field is the number of operations, including nested ones.
    Moves(usize),
    /// The operation remains in the entry.
    Remains,
}

struct Outliner<'c, 'a> {
    context: &'c Context,
    module: BlockRef<'c, 'a>,
    entry: OperationRef<'c, 'a>,
    /// Maximum number of operations of an outlined function.
    max_operations: usize,
    /// The number in the next symbol.
    next: usize,
    /// The functions that the module had before the pass.
    known: HashMap<String, OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Outliner<'c, 'a> {
    /// Outlines the operations of a block, except its terminator.
    fn split(&mut self, block: BlockRef<'c, 'a>) -> Result<(), PassError> {
        let operations = ir::operations(block);
        let (mut part, mut length) = (Vec::new(), 0);
        for op in operations.iter().take(operations.len().saturating_sub(1)) {
            match self.role(*op) {
                Role::Rebuilt => {}
                Role::Moves(weight) => {
                    if length + weight > self.max_operations {
                        self.outline(block, &std::mem::take(&mut part))?;
                        length = 0;
                    }
                    part.push(*op);
                    length += weight;
                }
                Role::Remains => {
                    self.outline(block, &std::mem::take(&mut part))?;
                    length = 0;
                    if weight(*op) > self.max_operations {
                        for inner in ir::blocks(*op) {
                            self.split(inner)?;
                        }
                    }
                }
            }
        }
        self.outline(block, &part)
    }

    fn role(&self, op: OperationRef<'c, 'a>) -> Role {
        if is_rebuilt(op) {
            return Role::Rebuilt;
        }
        let weight = weight(op);
        let name = ir::name(op);
        let is_escaping = |value: OperationResult<'c, 'a>| !is_scalar(value.r#type()) && op::is_used(value);
        let remains = name == ops::memref::ALLOCA
            || with_nested(op)
                .into_iter()
                .any(|inner| Check::cast(inner).is_some() || self.calls_outlined(inner))
            || (name.starts_with("scf.") && weight > self.max_operations)
            || op.results().any(is_escaping)
            || !captured(op).into_iter().all(is_available);
        if remains { Role::Remains } else { Role::Moves(weight) }
    }

    /// Whether an operation calls a function that was outlined before the pass.
    fn calls_outlined(&self, op: OperationRef<'c, 'a>) -> bool {
        let callee = func::callee(op).and_then(|name| self.known.get(&name));
        callee.is_some_and(|function| function.has_attribute(attribute_names::PART))
    }

    /// Moves consecutive operations of a block into a function.
    fn outline(&mut self, block: BlockRef<'c, 'a>, part: &[OperationRef<'c, 'a>]) -> Result<(), PassError> {
        let Some(first) = part.first().copied() else {
            return Ok(());
        };
        let members: HashSet<usize> = part.iter().map(|op| key(*op)).collect();
        let is_outside = |user: &OperationRef<'c, 'a>| {
            !ancestor_in(block, *user).is_some_and(|outer| members.contains(&key(outer)))
        };
        let results = part.iter().flat_map(|op| op.results()).map(Value::from);
        let results: Vec<(Value, Vec<OperationRef>)> = results
            .map(|value| (value, ir::users(value).into_iter().filter(is_outside).collect()))
            .filter(|(_, users): &(_, Vec<_>)| !users.is_empty())
            .collect();
        // The call is inserted after the last operation, where all captured values are defined.
        let mut anchor = first.next_in_block();
        while let Some(op) = anchor.filter(|op| members.contains(&key(*op))) {
            anchor = op.next_in_block();
        }
        let anchor = anchor.ok_or_else(|| PassError::at(first, "ends its block"))?;

        while self.known.contains_key(&format!("part_{}", self.next)) {
            self.next += 1;
        }
        let name = format!("part_{}", self.next);
        self.next += 1;
        let mut outlined = Outlined::new(self.context, self.module, &name, part)?;
        ir::set_attribute(outlined.function(), attribute_names::PART, attributes::unit(self.context));
        for op in part {
            outlined.take(*op)?;
        }
        let values: Vec<Value> = results.iter().map(|(value, _)| *value).collect();
        let types: Vec<Type> = values.iter().map(|value| value.r#type()).collect();
        outlined.finish(&values, self.entry)?;

        let callee = FlatSymbolRefAttribute::new(self.context, &name).into();
        let call = Builder::before(self.context, anchor)?.with_location(first.location()).create(
            ops::func::CALL,
            outlined.captured(),
            &[("callee", callee)],
            &types,
            Vec::new(),
        )?;
        for ((value, users), result) in results.into_iter().zip(call.results()) {
            for user in users {
                replace_operands(user, |operand| (operand == value).then(|| result.into()));
            }
        }
        Ok(())
    }
}

/// The number of operations, including nested operations.
fn weight(op: OperationRef) -> usize {
    1 + ir::nested(op).len()
}
