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
        self.select(carried.iter().copied(), &targets)?;
        self.block(block)?;
        self.yielded(&targets, block)?;
        self.close();
        self.select(op.results().map(Value::from), &targets)
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
            targets.push(self.mutable(*argument, Some(&form))?);
        }
        Ok(targets)
    }

    /// Declares the variables of a value that is assigned later.
    fn mutable(&mut self, value: Value<'c, 'a>, init: Option<&Held>) -> Result<Target, CodegenError> {
        let name = self.names.local();
        let (first, sizes) = match init {
            Some(Held::Scalar(expression)) => (Some(expression.text.as_str()), &[][..]),
            Some(Held::Array(array)) => (Some(array.pointer.as_str()), array.extents.as_slice()),
            None => (None, &[][..]),
        };
        if !value.r#type().is_mem_ref() {
            let first = first.map_or_else(String::new, |first| format!(" = {first}"));
            self.declare(&name, format!("{} {name}{first};", Element::new(value.r#type())?.name()));
            return Ok(Target { name, extents: Vec::new() });
        }
        let memref = MemRefType::try_from(value.r#type())?;
        let r#type = Element::new(memref.element())?.name();
        let first = first.map_or_else(String::new, |first| format!(" = ({type} *){first}"));
        self.declare(&name, format!("{type} *{name}{first};"));
        let mut extents = Vec::new();
        for (dimension, extent) in memref::extents(value.r#type()).into_iter().enumerate() {
            if extent == types::DYNAMIC {
                let name = self.names.local();
                let size = sizes.get(dimension);
                let size = size.map_or_else(String::new, |size| format!(" = {}", size.expression().text));
                self.declare(&name, format!("int64_t {name}{size};"));
                extents.push((dimension, name));
            }
        }
        Ok(Target { name, extents })
    }

    /// Sets values to the variables that were assigned. Strides that depend on assigned extents are computed here.
    fn select(
        &mut self,
        values: impl Iterator<Item = Value<'c, 'a>>,
        targets: &[Target],
    ) -> Result<(), CodegenError> {
        values.zip(targets).try_for_each(|(value, target)| self.selected(value, target))
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
        let memref = MemRefType::try_from(value.r#type())?;
        let (strides, _) = memref.strides_and_offset();
        let mut array = self.contiguous(value, target.name.clone(), extents)?;
        let is_dynamic = strides.contains(&types::DYNAMIC);
        if !is_dynamic {
            array.strides = strides.into_iter().map(Number::Known).collect();
        }
        if is_dynamic && !memref.affine_map().is_identity() {
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
        self.select(op.results().map(Value::from), &targets)
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
        let (mut targets, mut assigned, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (value, argument) in passed.iter().zip(&after_arguments) {
            let unchanged = arguments.iter().position(|argument| argument == value);
            let target = match unchanged.and_then(|position| carried.get(position)) {
                Some(target) => target.clone(),
                None => {
                    let target = self.mutable(*argument, None)?;
                    assigned.push(target.clone());
                    values.push(*value);
                    target
                }
            };
            targets.push(target);
        }
        let head = self.lines.len();
        self.line("for (;;) {");
        self.depth += 1;
        self.select(arguments.iter().copied(), &carried)?;
        self.block(before)?;
        let condition = end.operands().next().ok_or_else(|| refused(end, "has no condition"))?;
        let condition = self.take(condition)?;
        if self.lines.len() == head + 1 && values.is_empty() {
            if let Some(line) = self.lines.last_mut() {
                line.text = format!("while ({}) {{", condition.text);
            }
        } else {
            self.ends_unless(&condition, &assigned, &values)?;
        }
        self.select(after_arguments.iter().copied(), &targets)?;
        self.block(after)?;
        self.yielded(&carried, after)?;
        self.close();
        self.select(op.results().map(Value::from), &targets)
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
#[derive(Clone)]
struct Target {
    name: String,
    /// The dynamic extents of an array.
    extents: Vec<(usize, String)>,
}

/// Whether an operation ends a block; the operation that contains the block writes it.
pub(super) fn is_terminator(name: &str) -> bool {
    matches!(name, ops::scf::YIELD | ops::scf::CONDITION | ops::scf::REDUCE | ops::func::RETURN)
}
