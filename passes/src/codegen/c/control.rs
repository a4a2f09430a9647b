// SPDX-License-Identifier: Apache-2.0
//! Control flow: loops, branches, and checks.

use super::array::Number;
use super::element::Element;
use super::expression::Expression;
use super::writer::{Held, Writer, refused};
use crate::error::CodegenError;
use crate::ir::scf::Bounds;
use crate::ir::skript::Check;
use crate::ir::{self, memref, ops, types};
use melior::ir::operation::OperationLike;
use melior::ir::r#type::MemRefType;
use melior::ir::{BlockRef, OperationRef, RegionLike, ShapedTypeLike, TypeLike, Value, ValueLike};

impl<'c: 'a, 'a> Writer<'c, 'a> {
    /// Writes `scf.for`.
    pub(super) fn counted(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let bounds = Bounds::all(op).first().copied().ok_or_else(|| refused(op, "has no bounds"))?;
        let block = ir::first_block(op).ok_or_else(|| refused(op, "has no body"))?;
        let arguments = ir::arguments(block);
        let (index, carried) = arguments.split_first().ok_or_else(|| refused(op, "has no index"))?;
        let inits: Vec<Value> = op.operands().skip(3).collect();
        let targets = self.carry(carried, &inits)?;
        self.open_loop(&bounds, *index)?;
        self.block(block)?;
        self.yielded(&targets, block)?;
        self.close();
        self.results(op, carried)
    }

    /// Writes `scf.parallel` as nested loops.
    pub(super) fn parallel(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        if op.result_count() > 0 {
            return Err(refused(op, "with results has no form in C"));
        }
        let block = ir::first_block(op).ok_or_else(|| refused(op, "has no body"))?;
        let all = Bounds::all(op);
        self.flush()?;
        for (bounds, index) in all.iter().zip(ir::arguments(block)) {
            self.open_loop(bounds, index)?;
        }
        self.block(block)?;
        all.iter().for_each(|_| self.close());
        Ok(())
    }

    /// Writes the head of a loop.
    fn open_loop(&mut self, bounds: &Bounds<'c, 'a>, index: Value<'c, 'a>) -> Result<(), CodegenError> {
        let lower = self.take(bounds.lower)?.text;
        let [upper, step] = [self.atom(bounds.upper)?.text, self.atom(bounds.step)?.text];
        let ((low, _), (_, high)) = (self.ranges.get(bounds.lower), self.ranges.get(bounds.upper));
        self.ranges.set(index, (low, (high - 1).max(low)));
        let name = self.names.loop_variable(self.depth - 1);
        let r#type = Element::new(index.r#type())?.name();
        let next = if step == "1" { format!("{name}++") } else { format!("{name} += {step}") };
        self.line(format!("for ({type} {name} = {lower}; {name} < {upper}; {next}) {{"));
        self.alias(index, Expression::primary(name));
        self.depth += 1;
        Ok(())
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    /// Declares the variables of loop-carried values with their initial values.
    fn carry(
        &mut self,
        arguments: &[Value<'c, 'a>],
        inits: &[Value<'c, 'a>],
    ) -> Result<Vec<Target>, CodegenError> {
        let forms: Vec<Held> = inits.iter().map(|init| self.form(*init)).collect::<Result<_, _>>()?;
        self.flush()?;
        let mut targets = Vec::new();
        for (argument, form) in arguments.iter().zip(forms) {
            let init = match form {
                Held::Scalar(expression) => expression.text,
                Held::Array(array) => array.pointer,
            };
            let target = self.mutable(*argument, Some(&init))?;
            if !target.extents.is_empty() {
                let text = "an array with dynamic extents that a loop selects has no form in C";
                return Err(CodegenError::Module(text.to_owned()));
            }
            self.selected(*argument, &target)?;
            targets.push(target);
        }
        Ok(targets)
    }

    /// Declares the variables of a value that is assigned later.
    fn mutable(&mut self, value: Value<'c, 'a>, init: Option<&str>) -> Result<Target, CodegenError> {
        let name = self.names.local();
        if !value.r#type().is_mem_ref() {
            let init = init.map_or_else(String::new, |init| format!(" = {init}"));
            self.declare(&name, format!("{} {name}{init};", Element::new(value.r#type())?.name()));
            return Ok(Target { name, extents: Vec::new() });
        }
        let memref = MemRefType::try_from(value.r#type())?;
        let r#type = Element::new(memref.element())?.name();
        let init = init.map_or_else(String::new, |init| format!(" = ({type} *){init}"));
        self.declare(&name, format!("{type} *{name}{init};"));
        let mut extents = Vec::new();
        for (dimension, extent) in memref::extents(value.r#type()).into_iter().enumerate() {
            if extent == types::DYNAMIC {
                let name = self.names.local();
                self.declare(&name, format!("int64_t {name};"));
                extents.push((dimension, name));
            }
        }
        Ok(Target { name, extents })
    }

    /// Sets a value to the variables that were assigned.
    fn selected(&mut self, value: Value<'c, 'a>, target: &Target) -> Result<(), CodegenError> {
        if !value.r#type().is_mem_ref() {
            self.alias(value, Expression::primary(target.name.clone()));
            return Ok(());
        }
        let mut extents: Vec<Number> =
            memref::extents(value.r#type()).into_iter().map(Number::Known).collect();
        for (dimension, name) in &target.extents {
            if let Some(extent) = extents.get_mut(*dimension) {
                *extent = Number::Named(name.clone());
            }
        }
        let (strides, _) = MemRefType::try_from(value.r#type())?.strides_and_offset();
        let mut array = self.contiguous(value, target.name.clone(), extents)?;
        if target.extents.is_empty() {
            array.strides = strides.into_iter().map(Number::Known).collect();
        }
        if array.strides.contains(&Number::Known(types::DYNAMIC)) {
            let text = "a part of an array that a loop or a branch selects has no form in C";
            return Err(CodegenError::Module(text.to_owned()));
        }
        self.hold(value, Held::Array(array));
        Ok(())
    }

    /// Assigns the operands of the terminator of a block to variables.
    fn yielded(&mut self, targets: &[Target], block: BlockRef<'c, 'a>) -> Result<(), CodegenError> {
        let Some(end) = ir::operations(block).last().copied() else { return Ok(()) };
        let values: Vec<Value> = end.operands().collect();
        self.assign(targets, &values)
    }

    /// Assigns values to variables at once.
    fn assign(&mut self, targets: &[Target], values: &[Value<'c, 'a>]) -> Result<(), CodegenError> {
        let mut pairs: Vec<(String, Expression, String)> = Vec::new();
        for (target, value) in targets.iter().zip(values) {
            match self.form(*value)? {
                Held::Scalar(expression) => {
                    let r#type = format!("const {}", Element::new(value.r#type())?.name());
                    pairs.push((target.name.clone(), expression, r#type));
                }
                Held::Array(array) => {
                    let element = array.element.name();
                    let pointer = if array.is_constant {
                        format!("({element} *){}", array.pointer)
                    } else {
                        array.pointer
                    };
                    let pointer = Expression::primary(pointer);
                    pairs.push((target.name.clone(), pointer, format!("{element} *const")));
                    for (dimension, name) in &target.extents {
                        let extent = array.extents.get(*dimension).map(Number::expression);
                        let extent = extent.unwrap_or_else(|| super::scalar::index(1));
                        pairs.push((name.clone(), extent, "const int64_t".to_owned()));
                    }
                }
            }
        }
        pairs.retain(|(name, expression, _)| *name != expression.text);
        let refers = |text: &str, name: &str| {
            text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == name)
        };
        let is_ordered = pairs.iter().enumerate().all(|(n, (name, _, _))| {
            pairs.iter().skip(n + 1).all(|(_, later, _)| !refers(&later.text, name))
        });
        if !is_ordered {
            for (_, expression, r#type) in &mut pairs {
                let name = self.names.local();
                self.declare(&name, format!("{type} {name} = {};", expression.text));
                *expression = Expression::primary(name);
            }
        }
        for (name, expression, _) in pairs {
            self.assignment(&name, &expression);
        }
        Ok(())
    }

    /// Sets the results of an operation to the variables of these values.
    fn results(&mut self, op: OperationRef<'c, 'a>, values: &[Value<'c, 'a>]) -> Result<(), CodegenError> {
        for (result, value) in op.results().zip(values) {
            let form = self.form(*value)?;
            self.hold(result.into(), form);
        }
        Ok(())
    }

    /// Writes `scf.if`.
    pub(super) fn branch(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let condition = op.operands().next().ok_or_else(|| refused(op, "has no condition"))?;
        let condition = self.take(condition)?;
        self.flush()?;
        let mut targets = Vec::new();
        for result in op.results() {
            targets.push(self.mutable(result.into(), None)?);
        }
        self.line(format!("if ({}) {{", condition.text));
        let blocks: Vec<_> = op.regions().filter_map(|region| region.first_block()).collect();
        for (n, block) in blocks.into_iter().enumerate() {
            if n > 0 {
                self.line("} else {");
            }
            self.depth += 1;
            self.block(block)?;
            self.yielded(&targets, block)?;
            self.depth -= 1;
        }
        self.line("}");
        for (result, target) in op.results().zip(&targets) {
            self.selected(result.into(), target)?;
        }
        Ok(())
    }

    /// Writes `scf.while`.
    pub(super) fn repeated(&mut self, op: OperationRef<'c, 'a>) -> Result<(), CodegenError> {
        let blocks: Vec<_> = op.regions().filter_map(|region| region.first_block()).collect();
        let [before, after] = *blocks.as_slice() else {
            return Err(refused(op, "has no body"));
        };
        let inits: Vec<Value> = op.operands().collect();
        let arguments = ir::arguments(before);
        let carried = self.carry(&arguments, &inits)?;
        let end = ir::operations(before).last().copied().ok_or_else(|| refused(op, "has no condition"))?;
        let passed: Vec<Value> = end.operands().skip(1).collect();
        let after_arguments = ir::arguments(after);
        // The values that the condition passes on without a change need no variables.
        let is_argument = |value: &Value<'c, 'a>| arguments.contains(value);
        let mut targets = Vec::new();
        for (value, argument) in passed.iter().zip(&after_arguments) {
            if !is_argument(value) {
                let target = self.mutable(*argument, None)?;
                self.selected(*argument, &target)?;
                targets.push((target, *value));
            }
        }
        let head = self.lines.len();
        self.line("for (;;) {");
        self.depth += 1;
        self.block(before)?;
        let condition = end.operands().next().ok_or_else(|| refused(end, "has no condition"))?;
        let condition = self.take(condition)?;
        let (targets_passed, values): (Vec<Target>, Vec<Value>) = targets.into_iter().unzip();
        if self.lines.len() == head + 1 && values.is_empty() {
            if let Some(line) = self.lines.last_mut() {
                line.text = format!("while ({}) {{", condition.text);
            }
        } else {
            self.ends_unless(&condition, &targets_passed, &values)?;
        }
        for (value, argument) in passed.iter().zip(&after_arguments) {
            if is_argument(value) {
                let form = self.form(*value)?;
                self.hold(*argument, form);
            }
        }
        self.block(after)?;
        self.yielded(&carried, after)?;
        self.close();
        self.results(op, &after_arguments)
    }

    /// Ends a loop unless a condition is true, after the assignment of the values that it passes on.
    fn ends_unless(
        &mut self,
        condition: &Expression,
        targets: &[Target],
        values: &[Value<'c, 'a>],
    ) -> Result<(), CodegenError> {
        let name = self.names.local();
        self.declare(&name, format!("const bool {name} = {};", condition.text));
        self.assign(targets, values)?;
        self.line(format!("if (!{name}) {{"));
        self.line("  break;");
        self.line("}");
        Ok(())
    }

    /// Writes a run-time check: the function returns the number of the check if its condition is false.
    pub(super) fn check(&mut self, check: Check<'c, 'a>) -> Result<(), CodegenError> {
        let condition = check.condition()?;
        let condition = self.take(condition)?;
        if condition.text == "true" {
            return Ok(());
        }
        let status = check.status().ok_or_else(|| refused(check.op(), "has no number"))?;
        self.line(format!("if ({}) {{", Expression::unary("!", &condition).text));
        self.line(format!("  return {status};"));
        self.line("}");
        Ok(())
    }
}

/// The variables of a value that a loop or a branch assigns.
struct Target {
    name: String,
    /// The dynamic extents of an array.
    extents: Vec<(usize, String)>,
}

/// Whether an operation ends a block; the operation that contains the block writes it.
pub(super) fn is_terminator(name: &str) -> bool {
    matches!(name, ops::scf::YIELD | ops::scf::CONDITION | ops::scf::REDUCE | ops::func::RETURN)
}
