// SPDX-License-Identifier: Apache-2.0
//! Outlines operations into functions.
//!
//! An outlined function rebuilds views, constants and pointers from the table; other values from outside are arguments.

use super::builder::Builder;
use super::copy::{arguments, operation_name as name};
use super::func::{argument_attributes, set_signature};
use super::memref::root;
use super::walk::{blocks, first_block, nested};
use super::{ValueKey, argument, attribute_names, attributes, definition, mutation, ops, parse};
use melior::Context;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef, OperationResult};
use melior::ir::r#type::MemRefType;
use melior::ir::{
    Attribute, AttributeLike, BlockRef, Location, ShapedTypeLike, Type, TypeLike, Value, ValueLike,
};
use skript_dialect::{PassError, op};
use std::collections::{HashMap, HashSet};

/// Attribute of an argument: no other pointer of the function accesses its elements.
pub(crate) const NOALIAS: &str = "llvm.noalias";

/// Attribute of an argument: the alignment of its first element.
const ALIGNMENT: &str = "llvm.align";

/// Attributes of the caller's arguments that outlined functions keep.
const KEPT: [&str; 4] = [NOALIAS, ALIGNMENT, "llvm.readonly", attribute_names::TABLE];

/// A function that operations move into.
pub(crate) struct Outlined<'c, 'a> {
    context: &'c Context,
    function: OperationRef<'c, 'a>,
    block: BlockRef<'c, 'a>,
    location: Location<'c>,
    /// Values that the function defines.
    own: HashSet<ValueKey>,
    /// Values in the function for values from outside.
    map: HashMap<ValueKey, Value<'c, 'a>>,
    /// The values for the function's arguments.
    captured: Vec<Value<'c, 'a>>,
    /// Arrays among them that no other pointer of the function accesses.
    disjoint: HashSet<ValueKey>,
}

impl<'c: 'a, 'a> Outlined<'c, 'a> {
    /// A private function without arguments or a terminator, at the end of a module, for the operations `part`, which
    /// are consecutive. LLVM does not inline it.
    ///
    /// # Errors
    /// The builder's error.
    pub(crate) fn new(
        context: &'c Context,
        module: BlockRef<'c, 'a>,
        symbol: &str,
        part: &[OperationRef<'c, 'a>],
    ) -> Result<Self, PassError> {
        let first = part.first().ok_or("no operation to outline")?;
        let location = first.location();
        let end = Builder::at_end(context, module, location);
        let (region, body, _) = end.region(&[]);
        let block = body.block;
        let parsed = |text: &str| parse::parse_attribute(first.context(), text);
        let attributes = [
            ("sym_name", attributes::string(context, symbol)),
            ("sym_visibility", attributes::string(context, "private")),
            ("function_type", parsed("() -> ()")?),
            ("llvm.linkage", parsed("#llvm.linkage<internal>")?),
            ("passthrough", parsed("[\"noinline\"]")?),
        ];
        let function = end.create(ops::func::FUNC, &[], &attributes, &[], vec![region])?;
        Ok(Outlined {
            context,
            function,
            block,
            location,
            own: defined(part),
            map: HashMap::new(),
            captured: Vec::new(),
            disjoint: HashSet::new(),
        })
    }

    /// The function.
    pub(crate) fn function(&self) -> OperationRef<'c, 'a> {
        self.function
    }

    /// A builder at the end of the function.
    pub(crate) fn at_end(&self) -> Builder<'c, 'a> {
        Builder::at_end(self.context, self.block, self.location)
    }

    /// The values for the function's arguments.
    pub(crate) fn captured(&self) -> &[Value<'c, 'a>] {
        &self.captured
    }

    /// Adds an argument for which the caller has the value.
    pub(crate) fn add_argument(&mut self, r#type: Type<'c>) -> Value<'c, 'a> {
        self.block.add_argument(r#type, self.location)
    }

    /// Passes an array as an argument instead of rebuilding the view. No other pointer of the function accesses its elements.
    pub(crate) fn pass_disjoint(&mut self, array: Value<'c, 'a>) {
        let argument = self.block.add_argument(array.r#type(), self.location);
        self.map.insert(ValueKey::of(array), argument);
        self.captured.push(array);
        self.disjoint.insert(ValueKey::of(array));
    }

    /// As [`Outlined::pass_disjoint`] for a view of bytes with dynamic extents: the argument is the array `bytes` of all of them.
    ///
    /// # Errors
    /// The builder's error.
    pub(crate) fn pass_disjoint_bytes(
        &mut self,
        array: Value<'c, 'a>,
        bytes: Value<'c, 'a>,
    ) -> Result<(), PassError> {
        self.pass_disjoint(bytes);
        let (view, _) = definition(array).ok_or("an array that is no view")?;
        let mut operands = vec![self.value(bytes)?, self.at_end().index(0)?];
        // The buffer and the offset come before the extents.
        for extent in view.operands().skip(2) {
            operands.push(self.value(extent)?);
        }
        let at = self.at_end();
        let again = at.value(ops::memref::VIEW, &operands, &[], array.r#type())?;
        self.map.insert(ValueKey::of(array), again);
        Ok(())
    }

    /// Ends the function: it returns `results`, and its arguments get the attributes of those of `caller`, the function
    /// that the operations come from.
    ///
    /// # Errors
    /// The builder's error.
    pub(crate) fn finish(
        &self,
        results: &[Value<'c, 'a>],
        caller: OperationRef<'c, 'a>,
    ) -> Result<(), PassError> {
        let types: Vec<Type> = results.iter().map(|value| value.r#type()).collect();
        let none = Vec::new();
        self.at_end().create(ops::func::RETURN, results, &[], &[], none)?;
        set_signature(self.function, Some(&types))?;
        self.describe(caller)
    }

    /// Copies attributes of the caller's arguments to the function's.
    fn describe(&self, caller: OperationRef<'c, 'a>) -> Result<(), PassError> {
        let known = argument_attributes(caller);
        let owner = first_block(caller).map(|block| block.to_raw().ptr);
        let of_caller = |value: &Value<'c, 'a>| {
            let argument = argument(*value)?;
            let is_own = Some(argument.owner().to_raw().ptr) == owner;
            is_own.then(|| argument.argument_number())
        };
        // A loop-carried array may alias any other.
        let is_carried = |value: &&Value<'c, 'a>| {
            let is_argument = value.is_block_argument();
            !is_scalar(value.r#type()) && is_argument && of_caller(value).is_none()
        };
        let alone = self.captured.iter().find(is_carried).is_none();
        let mut dictionaries = Vec::with_capacity(self.block.argument_count());
        for value in &self.captured {
            if alone && self.disjoint.contains(&ValueKey::of(*value)) {
                // Such views begin at multiples of the arena's alignment. Other buffers are as callers have them.
                let own = of_caller(&root(*value)).and_then(|n| known.get(n));
                let alignment = own.and_then(|own| attributes::entry(*own, ALIGNMENT));
                let alignment =
                    alignment.map(|alignment| format!(", {ALIGNMENT} = {alignment}")).unwrap_or_default();
                dictionaries.push(self.dictionary(&format!("{NOALIAS}{alignment}"))?);
                continue;
            }
            let own = of_caller(value).and_then(|n| known.get(n));
            let kept = KEPT.iter().filter(|name| alone || **name != NOALIAS);
            let kept: Vec<String> = kept
                .filter_map(|name| Some(format!("{name} = {}", attributes::entry(*own?, name)?)))
                .collect();
            dictionaries.push(self.dictionary(&kept.join(", "))?);
        }
        while dictionaries.len() < self.block.argument_count() {
            dictionaries.push(self.dictionary("")?);
        }
        let dictionaries = ArrayAttribute::new(self.context, &dictionaries).into();
        mutation::set(self.function, "arg_attrs", dictionaries);
        Ok(())
    }

    fn dictionary(&self, entries: &str) -> Result<Attribute<'c>, PassError> {
        let text = format!("{{{entries}}}");
        Ok(parse::parse_attribute(self.function.context(), &text)?)
    }

    /// Moves an operation to the end of the function.
    ///
    /// # Errors
    /// The builder's error.
    pub(crate) fn take(&mut self, op: OperationRef<'c, 'a>) -> Result<(), PassError> {
        for value in captured(op) {
            self.value(value)?;
        }
        super::uses::move_to_end(op, self.block);
        for inner in with_nested(op) {
            replace_operands(inner, |operand| self.map.get(&ValueKey::of(operand)).copied());
        }
        Ok(())
    }

    /// The value in the function for a value of the caller.
    ///
    /// # Errors
    /// The builder's error.
    pub(crate) fn value(&mut self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        if self.own.contains(&ValueKey::of(value)) {
            return Ok(value);
        }
        if let Some(known) = self.map.get(&ValueKey::of(value)) {
            return Ok(*known);
        }
        let made = OperationResult::try_from(value).ok();
        let made = made.map(|result| result.owner()).filter(|op| is_rebuilt(*op));
        let Some(op) = made else {
            let argument = self.block.add_argument(value.r#type(), self.location);
            self.map.insert(ValueKey::of(value), argument);
            self.captured.push(value);
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

/// Constants, views, and pointers from the table: they cost nothing, and their values do not change.
pub(crate) fn is_rebuilt(op: OperationRef) -> bool {
    let of_arrays = || op.operand_count() == 0 || op.results().any(|r| !is_scalar(r.r#type()));
    let is_value = op.region_count() == 0 && op.result_count() > 0;
    name(op) == ops::llvm::LOAD || (is_value && op::is_pure(&op) && of_arrays())
}

pub(crate) fn is_scalar(r#type: Type) -> bool {
    r#type.is_integer() || r#type.is_index() || r#type.is_float()
}

/// Whether the function can receive the value as an argument, or rebuild it.
pub(crate) fn is_available<'c: 'a, 'a>(value: Value<'c, 'a>) -> bool {
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
        let arguments = blocks(op).into_iter().flat_map(arguments);
        found.extend(arguments.map(ValueKey::of));
    }
    found
}

/// The values from outside that an op and its nested ops use, in the order of use.
pub(crate) fn captured<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let own = defined(&[op]);
    let operands = with_nested(op).into_iter().flat_map(|op| op.operands().collect::<Vec<_>>());
    operands.filter(|value| !own.contains(&ValueKey::of(*value))).collect()
}

pub(crate) fn with_nested<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut found = nested(op);
    found.push(op);
    found
}

/// Replaces operands of an op that have a replacement.
pub(crate) fn replace_operands<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    other: impl Fn(Value<'c, 'a>) -> Option<Value<'c, 'a>>,
) {
    for (position, operand) in op.operands().enumerate() {
        if let Some(other) = other(operand) {
            mutation::set_operand(op, position, other);
        }
    }
}
