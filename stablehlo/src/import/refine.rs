// SPDX-License-Identifier: Apache-2.0
//! Makes the shapes of programs with symbolic dimensions static, as `jax.export` emits them.
//!
//! The arguments of the entry get the shapes of a call. The program computes other shapes from the extents of its
//! arguments by integer operations: [`integers`] evaluates them, [`extents`] infers the shapes of results, and
//! [`replaced`] converts operations whose shape is an operand to operations whose shape is an attribute.
//!
//! Requires: all calls can be inlined. Guarantees: no reachable operation with a dynamic shape remains.

pub(crate) mod assertion;
mod extents;
mod integers;
pub(crate) mod replaced;

use super::entry::{entry, op_name};
use super::refusal::{Refusal, malformed, refusal_at, refused};
use super::to_linalg::{SourceOp, Tensor};
use integers::Known;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, Module, OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, melior, op};
use skript_passes::ir::{self, mutation, ops, types};

/// Maximum number of reported operations.
const MAX_REPORTED: usize = 20;
/// Returns the shapes of the arguments of a call, given their declared types; `None` if the caller has no shapes.
pub type Shapes<'s> = dyn FnMut(&[Tensor]) -> Option<Vec<Vec<i64>>> + 's;

/// Whether a program has dynamic extents or operations that compute shapes.
pub(crate) fn is_dynamic(module: &Module) -> bool {
    let is_open = |t: Type| types::extents(t).is_some_and(|e| e.contains(&types::DYNAMIC));
    let dynamic = op::collect(&module.as_operation(), |op| {
        let blocks = ir::blocks(op).into_iter();
        let mut arguments = blocks.flat_map(arguments);
        op.results().any(|r| is_open(r.r#type()))
            || arguments.any(|a| is_open(a.r#type()))
            || replaced::is_replaced(&op::name(&op))
            || assertion::is_assertion(op)
    });
    !dynamic.is_empty()
}

fn arguments<'c, 'a>(block: BlockRef<'c, 'a>) -> Vec<Value<'c, 'a>> {
    let arguments = (0..block.argument_count()).filter_map(|n| block.argument(n).ok());
    arguments.map(Into::into).collect()
}

/// Inlines all calls, and makes all shapes static.
///
/// # Errors
/// Fails if the shapes of the call are missing or do not fit, if a shape depends on data, and if an assertion of the
/// program on its shapes is false.
pub(crate) fn refine(module: &Module, shapes: &mut Shapes) -> Result<(), Vec<Refusal>> {
    let function = entry(module).map_err(|e| vec![e])?;
    let (declared, _) = ir::signature(function).map_err(|e| refused(&e))?;
    let extents = called(function, &declared, shapes)?;
    for other in op::collect(&module.as_operation(), |op| op::is(&op, ops::func::FUNC)) {
        if op_name(other) != op_name(function) {
            ir::set_string(other, "sym_visibility", "private");
        }
    }
    ir::run_pipeline(module, "inlining", "inline,symbol-dce").map_err(|e| refused(&e))?;
    let function = entry(module).map_err(|e| vec![e])?;
    let body = ir::body(function).map_err(|e| refused(&e))?;
    for (argument, extents) in arguments(body).into_iter().zip(&extents) {
        retype(argument, extents);
    }
    let mut refiner = Refiner::default();
    refiner.block(body);
    if !refiner.refusals.is_empty() {
        return Err(refiner.refusals);
    }
    if let Some(end) = ir::operations(body).last() {
        let results: Vec<_> = end.operands().map(|v| v.r#type()).collect();
        ir::retype(function, &results).map_err(|e| refused(&e))?;
    }
    verified(module)
}

/// The shapes of the arguments in a call.
fn called(
    function: OperationRef,
    declared: &[Type],
    shapes: &mut Shapes,
) -> Result<Vec<Vec<i64>>, Vec<Refusal>> {
    let refused = |message: String| vec![Refusal::unsupported(message)];
    let name = op_name(function);
    let tensor = |(n, t): (usize, &Type)| {
        let message = || refused(format!("argument {n} of `{name}` is {t}, which is not supported"));
        Tensor::from_type(*t).ok_or_else(message)
    };
    let arguments = declared.iter().enumerate().map(tensor).collect::<Result<Vec<_>, _>>()?;
    let Some((position, dynamic)) = arguments.iter().enumerate().find(|(_, tensor)| !tensor.is_static())
    else {
        return Ok(arguments.into_iter().map(|tensor| tensor.extents).collect());
    };
    let given = shapes(&arguments).ok_or_else(|| {
        refused(format!(
            "argument {position} of `{name}` is {}: the program is compiled for the shapes of a call; pass arrays, or \
            `--input-shape {position}=…`",
            dynamic.text()
        ))
    })?;
    for (n, tensor) in arguments.iter().enumerate() {
        let shape = given.get(n).map_or(&[][..], Vec::as_slice);
        let mut pairs = tensor.extents.iter().zip(shape);
        if shape.len() != tensor.rank() || !pairs.all(|(d, e)| d == e || *d == types::DYNAMIC) {
            return Err(refused(format!(
                "argument {n} of `{name}` is {}, but its shape in this call is {shape:?}",
                tensor.text()
            )));
        }
    }
    Ok(given)
}

fn retype(value: Value, extents: &[i64]) {
    if let Some(element) = types::element_of(value.r#type()) {
        mutation::retype(value, types::tensor(extents, element));
    }
}

/// Verifies a module; fails if its shapes contradict each other.
fn verified(module: &Module) -> Result<(), Vec<Refusal>> {
    let operation = module.as_operation();
    let owner = operation.context();
    let context = ir::context::borrow(&owner);
    let (is_valid, messages) = ir::collecting(context, || operation.verify());
    if is_valid {
        return Ok(());
    }
    let refusals = messages.iter().map(|message| Refusal { malformed: false, ..malformed(message) });
    Err(refusals.collect())
}

/// Makes the shapes of operations static, in execution order.
#[derive(Default)]
struct Refiner {
    /// The integers that do not depend on data.
    known: Known,
    refusals: Vec<Refusal>,
}

impl Refiner {
    fn block(&mut self, block: BlockRef) {
        for operation in ir::operations(block) {
            if self.refusals.len() >= MAX_REPORTED {
                return;
            }
            if let Err(error) = self.operation(operation) {
                self.refusals.push(Refusal { malformed: false, ..refusal_at(operation, &error.to_string()) });
            }
        }
    }

    fn operation(&mut self, operation: OperationRef) -> Result<(), PassError> {
        let name = op::name(&operation);
        match name.as_str() {
            ops::func::RETURN | ops::stablehlo::RETURN => Ok(()),
            ops::stablehlo::WHILE => self.repeated(operation),
            ops::stablehlo::IF | ops::stablehlo::CASE => self.branches(operation),
            name if replaced::is_replaced(name) || replaced::is_window(operation) => {
                let form = replaced::form(&SourceOp::new(operation)?, &self.known)?;
                for (old, new) in operation.results().zip(form.results()) {
                    ir::replace_uses(old.into(), new.into());
                }
                ir::erase(operation);
                self.shaped(form)
            }
            _ if assertion::is_assertion(operation) => {
                assertion::check(&SourceOp::new(operation)?, &self.known)?;
                ir::erase(operation);
                Ok(())
            }
            _ => self.shaped(operation),
        }
    }

    /// Sets the shapes of the results, and evaluates the results if they are integers.
    fn shaped(&mut self, operation: OperationRef) -> Result<(), PassError> {
        let source = SourceOp::new(operation)?;
        let shapes = extents::result_shapes(&source)?;
        for (result, shape) in operation.results().zip(&shapes) {
            retype(result.into(), shape);
        }
        let source = SourceOp::with_static_extents(operation)?;
        if let Some(value) = integers::evaluated(&source, &self.known) {
            self.known.insert(ir::result(operation)?, value);
        }
        Ok(())
    }

    /// Refines a loop: the loop-carried values have the types of the operands.
    fn repeated(&mut self, operation: OperationRef) -> Result<(), PassError> {
        let shapes: Vec<_> = operation.operands().map(|v| v.r#type()).collect();
        for block in ir::blocks(operation) {
            for (argument, r#type) in arguments(block).into_iter().zip(&shapes) {
                mutation::retype(argument, *r#type);
            }
            self.block(block);
        }
        for (result, r#type) in operation.results().zip(&shapes) {
            mutation::retype(result.into(), *r#type);
        }
        Ok(())
    }

    /// Refines branches: the results have the types of the first branch; all branches have the same types.
    fn branches(&mut self, operation: OperationRef) -> Result<(), PassError> {
        let blocks = ir::blocks(operation);
        for block in &blocks {
            self.block(*block);
        }
        let first = blocks.first().map(|block| ir::operations(*block));
        let end = first.and_then(|inside| inside.last().copied());
        let end = end.ok_or("has no branch")?;
        for (result, value) in operation.results().zip(end.operands()) {
            mutation::retype(result.into(), value.r#type());
        }
        Ok(())
    }
}
