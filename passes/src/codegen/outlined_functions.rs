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

use super::pointer_table::NOALIAS;
use crate::invoke;
use crate::ir;
use crate::ir::attribute_names;
use crate::ir::func;
use crate::ir::ops;
use crate::ir::skript::Check;
use crate::ir::{Builder, ValueKey, attributes, copy, mutation};
use crate::ir::{ancestor_in, key};
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, FlatSymbolRefAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef, OperationResult};
use melior::ir::r#type::MemRefType;
use melior::ir::{
    Attribute, AttributeLike, BlockRef, Location, ShapedTypeLike, Type, TypeLike, Value, ValueLike,
};
use skript_dialect::{Pass, PassError, PassOption, op};
use std::collections::{HashMap, HashSet};

/// Attributes of the entry's arguments that outlined functions keep.
const KEPT: [&str; 4] = [
    NOALIAS,
    "llvm.align",
    "llvm.readonly",
    attribute_names::TABLE,
];

/// The pass `skript-outline-parts`.
pub const PASS: Pass = Pass {
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
            root,
            module: module.ok_or("a module without a body")?,
            entry: body,
            attributes: ir::argument_attributes(entry),
            most,
            made: 0,
            known: invoke::functions(root),
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
    root: OperationRef<'c, 'a>,
    module: BlockRef<'c, 'a>,
    entry: BlockRef<'c, 'a>,
    /// Those of the entry's arguments.
    attributes: Vec<Attribute<'c>>,
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
        let leaves =
            |value: OperationResult<'c, 'a>| !is_scalar(value.r#type()) && op::is_used(value);
        let stays = name == ops::memref::ALLOCA
            || with_nested(op)
                .into_iter()
                .any(|inner| Check::cast(inner).is_some() || self.calls_outlined(inner))
            || (name.starts_with("scf.") && weight > self.most)
            || op.results().any(leaves)
            || !captured(op).into_iter().all(is_available);
        match stays {
            true => Role::Stays,
            false => Role::Moves(weight),
        }
    }

    /// Whether an op calls a part that the module had before.
    fn calls_outlined(&self, op: OperationRef<'c, 'a>) -> bool {
        let callee = func::callee(op).and_then(|name| self.known.get(&name));
        callee.is_some_and(|function| function.has_attribute(attribute_names::PART))
    }

    /// Moves consecutive ops of a block into a function.
    fn outline(
        &mut self,
        block: BlockRef<'c, 'a>,
        part: &[OperationRef<'c, 'a>],
    ) -> Result<(), PassError> {
        let Some(first) = part.first().copied() else {
            return Ok(());
        };
        let members: HashSet<usize> = part.iter().map(|op| key(*op)).collect();
        let is_outside = |user: &OperationRef<'c, 'a>| {
            !ancestor_in(block, *user).is_some_and(|own| members.contains(&key(own)))
        };
        let results = part.iter().flat_map(|op| op.results()).map(Value::from);
        let results: Vec<(Value, Vec<OperationRef>)> = results
            .map(|value| {
                (
                    value,
                    ir::users(value).into_iter().filter(is_outside).collect(),
                )
            })
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
        let function = self.function(&name, first)?;
        let mut content = Content {
            context: self.context,
            block: ir::body(function)?,
            location: first.location(),
            own: defined(part),
            map: HashMap::new(),
            handed: Vec::new(),
        };
        for op in part {
            content.take(*op)?;
        }
        let values: Vec<Value> = results.iter().map(|(value, _)| *value).collect();
        let types: Vec<Type> = values.iter().map(|value| value.r#type()).collect();
        let end = Builder::at_end(self.context, content.block, first.location());
        end.create(ops::func::RETURN, &values, &[], &[], Vec::new())?;
        ir::set_signature(function, Some(&types))?;
        self.describe(function, &content.handed)?;

        let callee = FlatSymbolRefAttribute::new(self.context, &name).into();
        let call = Builder::before(self.context, anchor)?
            .with_location(first.location())
            .create(
                ops::func::CALL,
                &content.handed,
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

    /// A function without arguments or a terminator, at the end of the module.
    fn function(
        &self,
        name: &str,
        first: OperationRef<'c, 'a>,
    ) -> Result<OperationRef<'c, 'a>, PassError> {
        let end = Builder::at_end(self.context, self.module, first.location());
        let (region, _, _) = end.region(&[]);
        let parsed = |text: &str| ir::parse_attribute(self.root.context(), text);
        let attributes = [
            ("sym_name", attributes::string(self.context, name)),
            (
                "sym_visibility",
                attributes::string(self.context, "private"),
            ),
            ("function_type", parsed("() -> ()")?),
            ("llvm.linkage", parsed("#llvm.linkage<internal>")?),
            // Or LLVM would put it back where it came from.
            ("passthrough", parsed("[\"noinline\"]")?),
            (attribute_names::PART, attributes::unit(self.context)),
        ];
        Ok(end.create(ops::func::FUNC, &[], &attributes, &[], vec![region])?)
    }

    /// Copies attributes of the entry's arguments to the function's.
    fn describe(
        &self,
        function: OperationRef<'c, 'a>,
        handed: &[Value<'c, 'a>],
    ) -> Result<(), PassError> {
        let of_entry = |value: &Value<'c, 'a>| {
            let argument = crate::ir::argument(*value)?;
            let is_own = argument.owner().to_raw().ptr == self.entry.to_raw().ptr;
            is_own.then(|| argument.argument_number())
        };
        // A loop-carried array may alias any other.
        let is_foreign = |value: &&Value<'c, 'a>| {
            let is_argument = value.is_block_argument();
            !is_scalar(value.r#type()) && is_argument && of_entry(value).is_none()
        };
        let alone = handed.iter().find(is_foreign).is_none();
        let mut dictionaries = Vec::with_capacity(handed.len());
        for value in handed {
            let own = of_entry(value).and_then(|n| self.attributes.get(n));
            let kept = KEPT.iter().filter(|name| alone || **name != NOALIAS);
            let kept: Vec<String> = kept
                .filter_map(|name| Some(format!("{name} = {}", attributes::entry(*own?, name)?)))
                .collect();
            let text = format!("{{{}}}", kept.join(", "));
            dictionaries.push(ir::parse_attribute(self.root.context(), &text)?);
        }
        let dictionaries = ArrayAttribute::new(self.context, &dictionaries).into();
        ir::set_attribute(function, "arg_attrs", dictionaries);
        Ok(())
    }
}

/// The content of an outlined function.
struct Content<'c, 'a> {
    context: &'c Context,
    block: BlockRef<'c, 'a>,
    location: Location<'c>,
    /// Values that the function defines.
    own: HashSet<ValueKey>,
    /// Values in the function for values from outside.
    map: HashMap<ValueKey, Value<'c, 'a>>,
    /// The values for the function's arguments.
    handed: Vec<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Content<'c, 'a> {
    /// Moves an op to the end of the function.
    fn take(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        for value in captured(op) {
            self.value(value)?;
        }
        ir::uses::move_to_end(op, self.block);
        for inner in with_nested(op) {
            replace_operands(inner, |operand| {
                self.map.get(&ValueKey::of(operand)).copied()
            });
        }
        Ok(())
    }

    /// The value in the function for a value of the entry.
    fn value(&mut self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        if self.own.contains(&ValueKey::of(value)) {
            return Ok(value);
        }
        if let Some(known) = self.map.get(&ValueKey::of(value)) {
            return Ok(*known);
        }
        let made = OperationResult::try_from(value).ok();
        let made = made
            .map(|result| result.owner())
            .filter(|op| is_rebuilt(*op));
        let Some(op) = made else {
            let argument = self.block.add_argument(value.r#type(), self.location);
            self.map.insert(ValueKey::of(value), argument);
            self.handed.push(value);
            return Ok(argument);
        };
        let operands = op.operands().map(|operand| self.value(operand));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let end = Builder::at_end(self.context, self.block, op.location());
        let types: Vec<Type> = op.results().map(|result| result.r#type()).collect();
        let again = end.insert(op::clone_with(&op, &operands, &types));
        for (old, new) in op.results().zip(again.results()) {
            self.map.insert(ValueKey::of(old), new.into());
        }
        Ok(self.map.get(&ValueKey::of(value)).copied().unwrap_or(value))
    }
}

/// Ops of an op and below it.
fn weight(op: OperationRef) -> usize {
    1 + ir::nested(op).len()
}

/// Constants, views, and pointers from the table: they are free, and nothing changes their values.
fn is_rebuilt(op: OperationRef) -> bool {
    let of_arrays = || op.operand_count() == 0 || op.results().any(|r| !is_scalar(r.r#type()));
    let is_value = op.region_count() == 0 && op.result_count() > 0;
    ir::name(op) == ops::llvm::LOAD || (is_value && op::is_pure(&op) && of_arrays())
}

fn is_scalar(r#type: Type) -> bool {
    r#type.is_integer() || r#type.is_index() || r#type.is_float()
}

/// Whether the function can receive the value as an argument, or rebuild it.
fn is_available<'c: 'a, 'a>(value: Value<'c, 'a>) -> bool {
    let made = OperationResult::try_from(value).ok();
    if let Some(op) = made.map(|r| r.owner()).filter(|op| is_rebuilt(*op)) {
        return op.operands().all(is_available);
    }
    let of_array = |array: MemRefType| array.has_static_shape() && array.layout().is_affine_map();
    let r#type = value.r#type();
    let array = MemRefType::try_from(r#type).ok();
    is_scalar(r#type) || array.map_or(r#type.to_string() == "!llvm.ptr", of_array)
}

/// The values that ops and their nested ops define.
fn defined<'c: 'a, 'a>(part: &[OperationRef<'c, 'a>]) -> HashSet<ValueKey> {
    let mut found = HashSet::new();
    for op in part.iter().flat_map(|op| with_nested(*op)) {
        found.extend(op.results().map(ValueKey::of));
        let arguments = ir::blocks(op).into_iter().flat_map(copy::arguments);
        found.extend(arguments.map(ValueKey::of));
    }
    found
}

/// The values from outside that an op and its nested ops use, in the order of use.
fn captured<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let own = defined(&[op]);
    let operands = with_nested(op)
        .into_iter()
        .flat_map(|op| op.operands().collect::<Vec<_>>());
    operands
        .filter(|value| !own.contains(&ValueKey::of(*value)))
        .collect()
}

fn with_nested<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = ir::nested(op);
    found.push(op);
    found
}

/// Replaces operands of an op that have a replacement.
fn replace_operands<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    other: impl Fn(Value<'c, 'a>) -> Option<Value<'c, 'a>>,
) {
    for (position, operand) in op.operands().enumerate() {
        if let Some(other) = other(operand) {
            mutation::set_operand(op, position, other);
        }
    }
}
