// SPDX-License-Identifier: Apache-2.0
//! The allowlist for untrusted programs: the operations, attributes and types that a parsed module may contain.
//!
//! The context registers only the dialects of [`skript_dialect::register_programs`] and accepts no unregistered
//! operation. This module checks that each parsed operation has a conversion. It reads the parsed IR, not the text, so
//! no spelling hides a name.

use super::refine::assertion;
use super::refusal::{Refusal, refusal_at};
use super::to_linalg::Tensor;
use crate::typed::BACKEND_CONFIG;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{
    Attribute, AttributeLike, BlockLike, BlockRef, Module, OperationRef, RegionLike, Type, ValueLike,
};
use skript_dialect::melior;
use skript_dialect::op;
use skript_dialect::source_location::Levels;
use skript_passes::ir;
use skript_passes::ir::ops;
use skript_passes::ir::{attributes, mutation, types};

/// Maximum number of reported errors.
const MAX_REPORTED: usize = 20;
/// Maximum depth of a location, such as the nested calls of a call stack.
const MAX_LOCATION_LEVELS: usize = 4096;
/// Maximum number of elements of a sparse constant, which is converted to a dense constant.
const MAX_SPARSE: i64 = 1 << 24;
/// Maximum number of arguments of a function or region, and of results of a function or operation. The memory of
/// bufferization and code generation is quadratic in this number.
const MAX_SIGNATURE: usize = 4096;
/// Attributes of functions and calls, besides names and types, that have no effect on the import.
const DROPPED: [&str; 3] = ["arg_attrs", "res_attrs", "no_inline"];
/// Removes discardable attributes, which other dialects add: all attributes that the definition of an operation does
/// not declare, and the attributes of arguments and results.
pub(crate) fn strip(module: &Module) {
    for op in op::collect(&module.as_operation(), |_| true) {
        let is_call = op::is(&op, ops::stablehlo::CUSTOM_CALL);
        for name in op::discardable_attributes(op) {
            if !(is_call && (name == BACKEND_CONFIG || name == assertion::MESSAGE)) {
                mutation::remove(op, &name);
            }
        }
        if op::is(&op, ops::func::FUNC) || op::is(&op, ops::func::CALL) {
            for name in DROPPED {
                mutation::remove(op, name);
            }
        }
    }
}

/// The nesting level of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Program,
    Module,
    Function,
    Inside,
}

/// Refuses all unsupported operations, attributes and types of a stripped module, in the order of the text.
pub(super) fn refusals(module: &Module, is_supported: fn(&str) -> bool) -> Vec<Refusal> {
    let mut pending = vec![(module.as_operation(), Level::Program)];
    let mut refusals = Vec::new();
    let mut levels = Levels::default();
    while let Some((operation, level)) = pending.pop() {
        if refusals.len() == MAX_REPORTED {
            break;
        }
        let message = error(operation, level, is_supported);
        if let Some(message) = message.or_else(|| location(operation, &mut levels)) {
            refusals.push(Refusal { malformed: false, ..refusal_at(operation, &message) });
            continue;
        }
        let inner = match level {
            Level::Program => Level::Module,
            Level::Module => Level::Function,
            Level::Function | Level::Inside => Level::Inside,
        };
        let below = ir::blocks(operation).into_iter();
        let below: Vec<_> = below.flat_map(ir::operations).collect();
        pending.extend(below.into_iter().rev().map(|op| (op, inner)));
    }
    refusals
}

/// The error of one operation, without the errors of nested operations.
fn error(operation: OperationRef, level: Level, is_supported: fn(&str) -> bool) -> Option<String> {
    let name = op::name(&operation);
    let is_here = match name.as_str() {
        ops::builtin::MODULE => level == Level::Program,
        ops::func::FUNC | ops::sdy::MESH => level == Level::Module,
        ops::func::RETURN => level == Level::Function,
        ops::stablehlo::RETURN => level == Level::Inside,
        name => matches!(level, Level::Function | Level::Inside) && is_supported(name),
    };
    if !is_here {
        return Some("is not supported here".to_owned());
    }
    blocks(operation, &name)
        .or_else(|| signature(operation))
        .or_else(|| types_of(operation))
        .or_else(|| attributes_of(operation, &name))
}

/// The error of a region that does not have exactly one block: this module does not check dominance.
fn blocks(operation: OperationRef, name: &str) -> Option<String> {
    let is_function = name == ops::func::FUNC;
    for region in operation.regions() {
        match region.first_block() {
            None if is_function => {}
            None => return Some("has a region without a block".to_owned()),
            Some(block) if block.next_in_region().is_some() => {
                return Some("has a region of several blocks: only one block is supported".to_owned());
            }
            Some(_) => {}
        }
    }
    None
}

/// The error of an operation with too many arguments or results.
fn signature(operation: OperationRef) -> Option<String> {
    let is_function = op::is(&operation, ops::func::FUNC);
    let declared = is_function.then(|| ir::signature(operation).ok()).flatten();
    let (inputs, outputs) = declared.map_or((0, 0), |(inputs, outputs)| (inputs.len(), outputs.len()));
    let blocks = ir::blocks(operation).into_iter();
    let arguments = blocks.map(|block| block.argument_count()).fold(inputs, usize::max);
    let results = operation.result_count().max(outputs);
    let (count, what) =
        if arguments > MAX_SIGNATURE { (arguments, "arguments") } else { (results, "results") };
    (count > MAX_SIGNATURE).then(|| {
        format!("has {count} {what}: at most {MAX_SIGNATURE} are supported; combine tensors of one type by `stablehlo.concatenate`")
    })
}

fn types_of(operation: OperationRef) -> Option<String> {
    let mut all: Vec<Type> = operation.results().map(|r| r.r#type()).collect();
    for block in ir::blocks(operation) {
        all.extend(arguments(block));
    }
    if op::is(&operation, ops::func::FUNC) {
        let Ok((inputs, results)) = ir::signature(operation) else {
            return Some("has no function type".to_owned());
        };
        all.extend(inputs);
        all.extend(results);
    }
    let foreign = all.into_iter().find(|t| !is_tensor(*t))?;
    Some(format!(
        "has a value of type {}: values are tensors of integers, reals or complex numbers",
        ir::bounded(foreign.to_string(), 100)
    ))
}

fn arguments<'c>(block: BlockRef<'c, '_>) -> Vec<Type<'c>> {
    let arguments = (0..block.argument_count()).filter_map(|n| block.argument(n).ok());
    arguments.map(|argument| argument.r#type()).collect()
}

fn is_tensor(r#type: Type) -> bool {
    Tensor::from_type(r#type).is_some() && types::encoding_of(r#type).is_none()
}

fn attributes_of(operation: OperationRef, name: &str) -> Option<String> {
    for (key, value) in operation.attributes() {
        let key = key.as_string_ref();
        let key = key.as_str().unwrap_or_default();
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            // A later step moves elements from the file's resources to the constant.
            let may_be_resource = name == ops::stablehlo::CONSTANT && key == "value";
            if attributes::is_resource(value) && !may_be_resource {
                return Some(format!(
                    "has elements from the file's resources as its attribute `{key}`: only constants may"
                ));
            }
            if let Some(message) = sparse(value) {
                return Some(message);
            }
            let dialect = attributes::dialect_of(value);
            if dialect != "builtin" && dialect != "stablehlo" {
                return Some(format!("has an attribute `{key}` of the dialect `{dialect}`"));
            }
            if let Ok(array) = ArrayAttribute::try_from(value) {
                pending.extend((0..array.len()).filter_map(|n| array.element(n).ok()));
            }
        }
    }
    None
}

/// The error of a sparse constant that is too large.
fn sparse(attribute: Attribute) -> Option<String> {
    let r#type = Tensor::from_type(attribute.r#type()).filter(|_| attributes::is_sparse(attribute))?;
    let volume = r#type.extents.iter().try_fold(1i64, |v, e| v.checked_mul(*e));
    volume.is_none_or(|v| v > MAX_SPARSE).then(|| {
        format!(
            "has a sparse constant of {}: at most {MAX_SPARSE} elements are written out; broadcast one, or pass it as an argument",
            r#type.text()
        )
    })
}

/// MLIR prints locations by recursion, so their depth is limited.
fn location(operation: OperationRef, levels: &mut Levels) -> Option<String> {
    (levels.levels(operation.location()) > MAX_LOCATION_LEVELS).then(|| {
        format!(
            "has a location of more than {MAX_LOCATION_LEVELS} levels: write the program without locations"
        )
    })
}
