// SPDX-License-Identifier: Apache-2.0
//! Writes a module as a self-contained C11 program.
//!
//! The module has scalars, loops on contiguous or strided memrefs, and a planned arena, as after the stages of
//! [`crate::pipeline::stages::to_c`]. The writer reads typed operations. Upstream's dialect `emitc` has no form for strided
//! views, arenas and most of `math`.

mod array;
mod control;
mod element;
mod expression;
mod header;
mod memory;
mod names;
mod range;
mod scalar;
mod support;
mod weights;
mod writer;

use super::Interface;
use super::memory::layout;
use crate::error::CodegenError;
use crate::ir::memref::Copy;
use crate::ir::shape::Dim;
use crate::ir::skript::{Check, Intrinsic};
use crate::ir::{self, attribute_names, attributes, ops, types};
use array::{Array, Number};
use element::Element;
use header::Parameter;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Module, OperationRef, Value};
use names::Names;
use skript_tensor::Tensor;
use writer::{Held, Writer, refused};

/// The name of the workspace as bytes.
const ARENA: &str = "arena";

/// The location of the weights of a program.
#[derive(Clone, Copy, Debug)]
pub enum Weights<'t> {
    /// The caller passes pointers.
    Arguments,
    /// Constant arrays in the program.
    Inline(&'t [Tensor]),
    /// A file, whose contents the caller loads.
    File(&'t [Tensor]),
}

/// A program in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The declarations, with a comment that states how to call the function.
    pub header: String,
    /// The definitions, without the declarations of the header.
    pub source: String,
    /// The contents of the file of weights.
    pub weights: Option<Vec<u8>>,
}

/// Writes a module whose entry has this interface.
///
/// # Errors
/// [`CodegenError::Module`]: an operator or an operation has no form in C.
pub(crate) fn write(
    module: &Module,
    interface: &Interface,
    graph: &str,
    weights: Weights,
    has_locations: bool,
) -> Result<Program, CodegenError> {
    let module = module.as_operation();
    let entry = ir::entry(module)?;
    let mut names = Names::new();
    let function = names.function(graph);
    let parameters = header::parameters(entry, interface, &mut names)?;
    let mut writer = Writer::new(names, has_locations);
    let block = ir::body(entry)?;
    let arguments = ir::arguments(block);
    for (argument, parameter) in arguments.iter().zip(&parameters) {
        writer.hold(*argument, Held::Array(parameter.array()));
    }
    if let Some(arena) = arguments.get(parameters.len()) {
        writer.hold(*arena, Held::Array(arena_array()));
    }
    writer.declare(ARENA, "unsigned char *const arena = workspace;");
    for parameter in parameters.iter().filter(|parameter| parameter.is_weight()) {
        writer.declare(&parameter.name, parameter.weight_pointer());
    }
    writer.block(block)?;
    let program = header::Program {
        graph,
        function: &function,
        parameters: &parameters,
        layout: layout(module)?,
        checks: super::checks::table(module)?,
        weights,
    };
    Ok(program.text(&mut writer))
}

/// The arena as an array of bytes.
fn arena_array() -> Array {
    Array {
        element: Element::Int(8),
        pointer: ARENA.to_owned(),
        extents: Vec::new(),
        strides: vec![Number::Known(1)],
        is_constant: false,
    }
}

/// Refuses operators that kernels of the runtime compute.
///
/// # Errors
/// [`CodegenError::Module`] with the names of the operators.
pub(crate) fn refuse_intrinsics(module: &Module) -> Result<(), CodegenError> {
    let intrinsics = ir::nested(module.as_operation()).into_iter().filter_map(Intrinsic::cast);
    let mut operators: Vec<String> = intrinsics.map(|op| format!("`{}`", op.operator())).collect();
    operators.sort();
    operators.dedup();
    if operators.is_empty() {
        return Ok(());
    }
    let text =
        "no formula defines them, so that they have no form in C; `compile -o model.so` links their kernels";
    Err(CodegenError::Module(format!("operators {}: {text}", operators.join(", "))))
}

impl<'c: 'a, 'a> Writer<'c, 'a> {
    /// Writes an operation.
    fn operation(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        if let Some(check) = Check::cast(op) {
            return self.check(check);
        }
        if let Some(copy) = Copy::cast(op) {
            self.locate(op);
            return self.copy(copy);
        }
        if let Some(dim) = Dim::cast(op) {
            return self.dim(dim);
        }
        match ir::name(op).as_str() {
            name if control::is_terminator(name) => Ok(()),
            ops::scf::FOR | ops::scf::PARALLEL | ops::scf::IF | ops::scf::WHILE => {
                self.locate(op);
                self.region(op)
            }
            ops::memref::LOAD => self.load(op),
            ops::memref::STORE => self.store(op),
            ops::memref::VIEW => self.view(op),
            ops::memref::SUBVIEW => self.subview(op),
            ops::memref::COLLAPSE_SHAPE | ops::memref::EXPAND_SHAPE | ops::memref::CAST => self.reshape(op),
            ops::memref::TRANSPOSE => self.transpose(op),
            ops::memref::GET_GLOBAL => self.global(op),
            ops::memref::ALLOCA => self.on_stack(op),
            name if op.result_count() == 1 && !name.starts_with("memref.") => self.scalar(op),
            _ => Err(refused(op, "has no form in C")),
        }
    }

    fn region(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        match ir::name(op).as_str() {
            ops::scf::FOR => self.counted(op),
            ops::scf::PARALLEL => self.parallel(op),
            ops::scf::IF => self.branch(op),
            _ => self.repeated(op),
        }
    }

    /// Writes a comment with the source location of a statement of the function, unless the previous statement has the same one.
    fn locate(&mut self, op: OperationRef<'c, 'a>) {
        let Some(last) = self.comment.clone().filter(|_| self.depth == 1) else { return };
        let parts = ir::location::parts(op.location()).into_iter();
        let trace = parts.map(ir::location::trace).find(|trace| !trace.is_empty());
        let Some(trace) = trace else { return };
        let calls: Vec<String> = trace.iter().rev().map(|call| header::in_comment(call)).collect();
        let comment = calls.join(", ");
        if comment.is_empty() || comment == last {
            return;
        }
        self.line(format!("/* {comment} */"));
        self.comment = Some(comment);
    }
}

/// The element type and the extents of an argument of the entry, with upper bounds of dynamic ones.
fn argument_attribute<'c>(entry: OperationRef<'c, '_>, number: usize, name: &str) -> Option<Attribute<'c>> {
    attributes::entry(*ir::argument_attributes(entry).get(number)?, name)
}

/// The argument whose extents an argument contains.
fn extents_owner(entry: OperationRef, number: usize) -> Option<usize> {
    let owner = argument_attribute(entry, number, attribute_names::EXTENTS).and_then(attributes::number)?;
    usize::try_from(owner).ok()
}

/// Whether an argument receives the extents of an output.
fn receives_extents(entry: OperationRef, number: usize) -> bool {
    argument_attribute(entry, number, attribute_names::RESULT_EXTENTS).is_some()
}

/// The number of elements of an array of extents.
fn rank(value: Value) -> i64 {
    use melior::ir::ValueLike as _;
    types::shape(value.r#type()).first().copied().unwrap_or(types::DYNAMIC)
}

/// The role of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Input,
    Weight,
    Output,
    Update,
    /// The extents of an input.
    Extents,
    /// Receives the extents of an output.
    ResultExtents,
}

/// The parameters with a role.
fn with_role(parameters: &[Parameter], role: Role) -> impl Iterator<Item = &Parameter> {
    parameters.iter().filter(move |parameter| parameter.role == role)
}
