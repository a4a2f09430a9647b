// SPDX-License-Identifier: Apache-2.0
//! `skript-outline-parts`: outlines a long entry into functions of bounded size.
//!
//! Several passes of LLVM take time that grows with the square of a function's length. Runs of loops, calls, loads and
//! stores move into outlined functions of at most `most` operations. Views, constants and pointers from the table are
//! rebuilt in a function that needs them; arguments and scalars that were computed before are passed; scalars that are
//! needed later are results. Run-time checks, stack memory, and operations on arrays of dynamic extents from elsewhere
//! stay. A loop or branch that is longer than `most` stays too; its contents are outlined.
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
        let most: usize = options.get("most")?;
        if most == 0 {
            return Err("option most is 0: a part has at least one operation".into());
        }
        let entry = ir::entry(root)?;
        if weight(entry) <= most {
            return Ok(());
        }
        let body = ir::body(entry)?;
        let module = ir::blocks(root).first().copied();
        let mut outliner = Outliner {
            context: rewriter.context(),
            module: module.ok_or("a module without a body")?,
            entry,
            most,
            made: 0,
            known: ir::func::functions(root),
        };
        outliner.split(body)?;
        // Values that outlined functions rebuilt may be unused now.
        for op in ir::nested(entry).into_iter().rev() {
            if is_rebuilt(op) && !op.results().any(op::is_used) {
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// How outlining treats an op of a block.
enum Role {
    /// Each outlined function that needs it rebuilds it.
    Rebuilt,
    /// It moves; so many operations.
    Moves(usize),
    Stays,
}

struct Outliner<'c, 'a> {
    context: &'c Context,
    module: BlockRef<'c, 'a>,
    entry: OperationRef<'c, 'a>,
    most: usize,
    made: usize,
    /// The functions that the module had before.
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
                    if length + weight > self.most {
                        self.outline(block, &std::mem::take(&mut part))?;
                        length = 0;
                    }
                    part.push(*op);
                    length += weight;
                }
                Role::Stays => {
                    self.outline(block, &std::mem::take(&mut part))?;
                    length = 0;
                    if weight(*op) > self.most {
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
        let leaves = |value: OperationResult<'c, 'a>| !is_scalar(value.r#type()) && op::is_used(value);
        let stays = name == ops::memref::ALLOCA
            || with_nested(op)
                .into_iter()
                .any(|inner| Check::cast(inner).is_some() || self.calls_outlined(inner))
            || (name.starts_with("scf.") && weight > self.most)
            || op.results().any(leaves)
            || !captured(op).into_iter().all(is_available);
        if stays { Role::Stays } else { Role::Moves(weight) }
    }

    /// Whether an op calls a part that the module had before.
    fn calls_outlined(&self, op: OperationRef<'c, 'a>) -> bool {
        let callee = func::callee(op).and_then(|name| self.known.get(&name));
        callee.is_some_and(|function| function.has_attribute(attribute_names::PART))
    }

    /// Moves consecutive ops of a block into a function.
    fn outline(&mut self, block: BlockRef<'c, 'a>, part: &[OperationRef<'c, 'a>]) -> Result<(), PassError> {
        let Some(first) = part.first().copied() else {
            return Ok(());
        };
        let members: HashSet<usize> = part.iter().map(|op| key(*op)).collect();
        let is_outside = |user: &OperationRef<'c, 'a>| {
            !ancestor_in(block, *user).is_some_and(|own| members.contains(&key(own)))
        };
        let results = part.iter().flat_map(|op| op.results()).map(Value::from);
        let results: Vec<(Value, Vec<OperationRef>)> = results
            .map(|value| (value, ir::users(value).into_iter().filter(is_outside).collect()))
            .filter(|(_, users): &(_, Vec<_>)| !users.is_empty())
            .collect();
        // Whatever the part needs is there before its first op.
        let mut anchor = first.next_in_block();
        while let Some(op) = anchor.filter(|op| members.contains(&key(*op))) {
            anchor = op.next_in_block();
        }
        let anchor = anchor.ok_or_else(|| PassError::at(first, "ends its block"))?;

        while self.known.contains_key(&format!("part_{}", self.made)) {
            self.made += 1;
        }
        let name = format!("part_{}", self.made);
        self.made += 1;
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

/// Ops of an op and below it.
fn weight(op: OperationRef) -> usize {
    1 + ir::nested(op).len()
}
