// SPDX-License-Identifier: Apache-2.0
//! Static shapes of programs with symbolic dimensions, as `jax.export` writes them.
//!
//! The arguments of the entry get the shapes of a call. The program computes other shapes from the extents of its
//! arguments by integer operations: [`integers`] evaluates them, [`extents`] has the shapes of results, and
//! [`replaced`] converts an operation whose shape is an operand to the one whose shape is an attribute.
//!
//! Requires: all calls can be inlined. Guarantees: no operation with a dynamic shape is left that a call can reach.

pub(crate) mod assertion;
mod extents;
mod integers;
pub(crate) mod replaced;

use super::entry::{entry, op_name};
use super::refusal::{Refusal, malformed, refusal_at, refused};
use super::to_linalg::{Found, Tensor};
use integers::Known;
use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, BlockRef, Module, OperationRef, Type, Value, ValueLike};
use skript_dialect::{PassError, melior, op};
use skript_passes::ir::{self, mutation, ops, types};

/// The shapes of the arguments of a call, from their declared types; `None` if the caller has none.
pub type Shapes<'s> = dyn FnMut(&[Tensor]) -> Option<Vec<Vec<i64>>> + 's;

/// Whether a program has dynamic extents, or operations that compute shapes.
pub(crate) fn is_dynamic(module: &Module) -> bool {
    let is_open = |t: Type| types::extents(t).is_some_and(|e| e.contains(&types::DYNAMIC));
    let found = op::collect(&module.as_operation(), |op| {
        let blocks = ir::blocks(op).into_iter();
        let mut arguments = blocks.flat_map(arguments);
        op.results().any(|r| is_open(r.r#type()))
            || arguments.any(|a| is_open(a.r#type()))
            || replaced::is_replaced(&op::name(&op))
            || assertion::is_assertion(op)
    });
    !found.is_empty()
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
    let wrong = |message: String| vec![Refusal::unsupported(message)];
    let name = op_name(function);
    let tensor = |(n, t): (usize, &Type)| {
        let message = || wrong(format!("there is no code for {t}, argument {n} of `{name}`"));
        Tensor::of(*t).ok_or_else(message)
    };
    let declared = declared.iter().enumerate().map(tensor).collect::<Result<Vec<_>, _>>()?;
    let is_open = |tensor: &Tensor| tensor.extents.contains(&types::DYNAMIC);
    let Some(open) = declared.iter().position(is_open) else {
        return Ok(declared.into_iter().map(|tensor| tensor.extents).collect());
    };
    let given = shapes(&declared).ok_or_else(|| {
        wrong(format!(
            "argument {open} of `{name}` is {}: the program is compiled for the shapes of a call; pass arrays, or \
             `--input-shape {open}=…`",
            declared.get(open).map(Tensor::text).unwrap_or_default()
        ))
    })?;
    for (n, tensor) in declared.iter().enumerate() {
        let own = given.get(n).map_or(&[][..], Vec::as_slice);
        let mut pairs = tensor.extents.iter().zip(own);
        if own.len() != tensor.rank() || !pairs.all(|(d, e)| d == e || *d == types::DYNAMIC) {
            return Err(wrong(format!(
                "argument {n} of `{name}` is {}, but its shape in this call is {own:?}",
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

/// The errors of a module whose shapes do not fit each other.
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

/// The maximum number of reported operations.
const LISTED: usize = 20;

/// Gives operations static shapes, in the order in which they run.
#[derive(Default)]
struct Refiner {
    /// The integers that are known without data.
    known: Known,
    refusals: Vec<Refusal>,
}

impl Refiner {
    fn block(&mut self, block: BlockRef) {
        for operation in ir::operations(block) {
            if self.refusals.len() >= LISTED {
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
                let form = replaced::form(&Found::open(operation)?, &self.known)?;
                for (old, new) in operation.results().zip(form.results()) {
                    ir::replace_uses(old.into(), new.into());
                }
                ir::erase(operation);
                self.shaped(form)
            }
            _ if assertion::is_assertion(operation) => {
                assertion::check(&Found::open(operation)?, &self.known)?;
                ir::erase(operation);
                Ok(())
            }
            _ => self.shaped(operation),
        }
    }

    /// Gives the results their shapes, and evaluates them if they are integers.
    fn shaped(&mut self, operation: OperationRef) -> Result<(), PassError> {
        let found = Found::open(operation)?;
        let shapes = extents::of(&found)?;
        for (result, shape) in operation.results().zip(&shapes) {
            retype(result.into(), shape);
        }
        let found = Found::of(operation)?;
        if let Some(value) = integers::evaluated(&found, &self.known) {
            self.known.insert(ir::result(operation)?, value);
        }
        Ok(())
    }

    /// A loop: its values keep the types of its operands.
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

    /// Branches: the results have the types of the first branch, which are those of all.
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
