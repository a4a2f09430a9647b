// SPDX-License-Identifier: Apache-2.0
//! Outlines operations into functions.
//!
//! An outlined function recreates views, constants, and pointers from the table; other captured values are arguments.

use super::attribute_names::{self, NOALIAS};
use super::builder::Builder;
use super::copy::{arguments, operation_name as name};
use super::func::{argument_attributes, set_signature};
use super::memref::root;
use super::walk::{blocks, first_block, nested};
use super::{ValueKey, argument, attributes, defining_op, mutation, ops, types};
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, TypeAttribute};
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{FunctionType, MemRefType};
use melior::ir::{AttributeLike, BlockRef, Location, ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use skript_dialect::{PassError, op};
use std::collections::{HashMap, HashSet};

/// On an argument: the alignment of its first element.
const ALIGNMENT: &str = "llvm.align";

/// The attributes of arguments of the caller that arguments of outlined functions also have.
const KEPT: [&str; 4] = [NOALIAS, ALIGNMENT, "llvm.readonly", attribute_names::TABLE];

/// A function that operations move into.
pub(crate) struct Outlined<'c, 'a> {
    context: &'c Context,
    function: OperationRef<'c, 'a>,
    block: BlockRef<'c, 'a>,
    location: Location<'c>,
    /// Values that the function defines.
    local: HashSet<ValueKey>,
    /// The value in the function for each value of the caller.
    map: HashMap<ValueKey, Value<'c, 'a>>,
    /// The values of the caller for the arguments of the function.
    captured: Vec<Value<'c, 'a>>,
    /// The captured memrefs whose elements are not accessed by other pointers of the function.
    disjoint: HashSet<ValueKey>,
}

impl<'c: 'a, 'a> Outlined<'c, 'a> {
    /// Appends a private function without arguments or a terminator to a module, for the consecutive operations `part`.
    /// LLVM does not inline it.
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
        let attributes = [
            ("sym_name", attributes::string(context, symbol)),
            ("sym_visibility", attributes::string(context, "private")),
            ("function_type", TypeAttribute::new(FunctionType::new(context, &[], &[]).into()).into()),
            ("llvm.linkage", attributes::internal(context)),
            ("passthrough", attributes::strings(context, &["noinline"])),
        ];
        let function = end.create(ops::func::FUNC, &[], &attributes, &[], vec![region])?;
        Ok(Outlined {
            context,
            function,
            block,
            location,
            local: defined(part),
            map: HashMap::new(),
            captured: Vec::new(),
            disjoint: HashSet::new(),
        })
    }

    pub(crate) fn function(&self) -> OperationRef<'c, 'a> {
        self.function
    }

    /// A builder at the end of the function.
    pub(crate) fn at_end(&self) -> Builder<'c, 'a> {
        Builder::at_end(self.context, self.block, self.location)
    }

    /// The values of the caller for the arguments of the function.
    pub(crate) fn captured(&self) -> &[Value<'c, 'a>] {
        &self.captured
    }

    /// Adds an argument that is not a captured value.
    pub(crate) fn add_argument(&mut self, r#type: Type<'c>) -> Value<'c, 'a> {
        self.block.add_argument(r#type, self.location)
    }

    /// Passes a memref as an argument instead of recreating the view. Other pointers of the function must not access its
    /// elements.
    pub(crate) fn pass_disjoint(&mut self, array: Value<'c, 'a>) {
        let argument = self.block.add_argument(array.r#type(), self.location);
        self.map.insert(ValueKey::of(array), argument);
        self.captured.push(array);
        self.disjoint.insert(ValueKey::of(array));
    }

    /// Like [`Outlined::pass_disjoint`], for a view of bytes with dynamic extents. The argument is the byte range `bytes` of the view.
    pub(crate) fn pass_disjoint_bytes(
        &mut self,
        array: Value<'c, 'a>,
        bytes: Value<'c, 'a>,
    ) -> Result<(), PassError> {
        self.pass_disjoint(bytes);
        let view = defining_op(array).ok_or("an array that is not a view")?;
        let mut operands = vec![self.value(bytes)?, self.at_end().idx(0)];
        // The buffer and the offset precede the extents.
        for extent in view.operands().skip(2) {
            operands.push(self.value(extent)?);
        }
        let rebuilt = self.at_end().value(ops::memref::VIEW, &operands, &[], array.r#type())?;
        self.map.insert(ValueKey::of(array), rebuilt);
        Ok(())
    }

    /// Ends the function, which returns `results`. Its arguments get attributes from the arguments of `caller`, the
    /// function that contained the operations.
    pub(crate) fn finish(
        &self,
        results: &[Value<'c, 'a>],
        caller: OperationRef<'c, 'a>,
    ) -> Result<(), PassError> {
        let types: Vec<Type> = results.iter().map(|value| value.r#type()).collect();
        let none = Vec::new();
        self.at_end().create(ops::func::RETURN, results, &[], &[], none)?;
        set_signature(self.function, Some(&types))?;
        self.copy_attributes(caller);
        Ok(())
    }

    /// Copies attributes of the arguments of the caller to the arguments of the function.
    fn copy_attributes(&self, caller: OperationRef<'c, 'a>) {
        let of_caller = argument_attributes(caller);
        let entry_block = first_block(caller).map(|block| block.to_raw().ptr);
        let caller_position = |value: Value<'c, 'a>| {
            let argument = argument(value)?;
            let is_in_entry = Some(argument.owner().to_raw().ptr) == entry_block;
            is_in_entry.then(|| argument.argument_number())
        };
        let caller_attributes = |value| caller_position(value).and_then(|n| of_caller.get(n).copied());
        // A loop-carried memref may alias any other memref.
        let is_carried = |value: &Value<'c, 'a>| {
            let is_argument = value.is_block_argument();
            !is_scalar(value.r#type()) && is_argument && caller_position(*value).is_none()
        };
        let has_no_alias = !self.captured.iter().any(is_carried);
        let mut dictionaries = Vec::with_capacity(self.block.argument_count());
        for value in &self.captured {
            let mut entries = Vec::new();
            if has_no_alias && self.disjoint.contains(&ValueKey::of(*value)) {
                // Disjoint views are aligned like the arena; other buffers have the alignment in the caller.
                let of_root = caller_attributes(root(*value));
                let alignment = of_root.and_then(|dictionary| attributes::entry(dictionary, ALIGNMENT));
                entries.extend(alignment.map(|alignment| (ALIGNMENT, alignment)));
                entries.push((NOALIAS, attributes::unit(self.context)));
            } else if let Some(dictionary) = caller_attributes(*value) {
                let kept = KEPT.into_iter().filter(|name| has_no_alias || *name != NOALIAS);
                entries.extend(kept.filter_map(|name| Some((name, attributes::entry(dictionary, name)?))));
            }
            dictionaries.push(attributes::dictionary(self.context, &entries));
        }
        dictionaries.resize(self.block.argument_count(), attributes::units(self.context, &[]));
        let dictionaries = ArrayAttribute::new(self.context, &dictionaries).into();
        mutation::set(self.function, "arg_attrs", dictionaries);
    }

    /// Moves an operation to the end of the function.
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

    /// The value in the function for a value of the caller: a recreated value, or an argument.
    pub(crate) fn value(&mut self, value: Value<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        if self.local.contains(&ValueKey::of(value)) {
            return Ok(value);
        }
        if let Some(known) = self.map.get(&ValueKey::of(value)) {
            return Ok(*known);
        }
        let Some(op) = defining_op(value).filter(|op| is_rebuilt(*op)) else {
            let argument = self.block.add_argument(value.r#type(), self.location);
            self.map.insert(ValueKey::of(value), argument);
            self.captured.push(value);
            return Ok(argument);
        };
        let operands = op.operands().map(|operand| self.value(operand));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let end = Builder::at_end(self.context, self.block, op.location());
        let types: Vec<Type> = op.results().map(|result| result.r#type()).collect();
        let rebuilt = end.insert(op::clone_with(&op, &operands, &types));
        for (old, new) in op.results().zip(rebuilt.results()) {
            self.map.insert(ValueKey::of(old), new.into());
        }
        Ok(self.map.get(&ValueKey::of(value)).copied().unwrap_or(value))
    }
}

/// Whether outlined functions recreate the results of an operation: constants, views, and pointers from the table, which
/// have no cost and do not change.
pub(crate) fn is_rebuilt(op: OperationRef) -> bool {
    let is_constant_or_view = || op.operand_count() == 0 || op.results().any(|r| !is_scalar(r.r#type()));
    let has_results = op.region_count() == 0 && op.result_count() > 0;
    name(op) == ops::llvm::LOAD || (has_results && op::is_pure(&op) && is_constant_or_view())
}

pub(crate) fn is_scalar(r#type: Type) -> bool {
    r#type.is_integer() || r#type.is_index() || r#type.is_float()
}

/// Whether an outlined function can receive the value as an argument, or recreate it.
pub(crate) fn is_available<'c: 'a, 'a>(value: Value<'c, 'a>) -> bool {
    if let Some(op) = defining_op(value).filter(|op| is_rebuilt(*op)) {
        return op.operands().all(is_available);
    }
    let is_plain = |array: MemRefType| array.has_static_shape() && array.layout().is_affine_map();
    let r#type = value.r#type();
    let array = types::as_memref(r#type);
    is_scalar(r#type) || array.map_or(types::is_pointer(r#type), is_plain)
}

/// The values that operations and their nested operations define.
fn defined<'c: 'a, 'a>(part: &[OperationRef<'c, 'a>]) -> HashSet<ValueKey> {
    let mut values = HashSet::new();
    for op in part.iter().flat_map(|op| with_nested(*op)) {
        values.extend(op.results().map(ValueKey::of));
        let arguments = blocks(op).into_iter().flat_map(arguments);
        values.extend(arguments.map(ValueKey::of));
    }
    values
}

/// The values from outside that an operation and its nested operations use, in the order of use.
pub(crate) fn captured<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let local = defined(&[op]);
    let operands = with_nested(op).into_iter().flat_map(|op| op.operands().collect::<Vec<_>>());
    operands.filter(|value| !local.contains(&ValueKey::of(*value))).collect()
}

/// The nested operations of an operation, and the operation.
pub(crate) fn with_nested<'c, 'a>(op: OperationRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    let mut operations = nested(op);
    operations.push(op);
    operations
}

/// Replaces the operands of an operation for which `replacement` returns a value.
pub(crate) fn replace_operands<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    replacement: impl Fn(Value<'c, 'a>) -> Option<Value<'c, 'a>>,
) {
    for (position, operand) in op.operands().enumerate() {
        if let Some(value) = replacement(operand) {
            mutation::set_operand(op, position, value);
        }
    }
}
