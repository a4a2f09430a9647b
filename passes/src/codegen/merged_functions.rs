// SPDX-License-Identifier: Apache-2.0
//! `skript-merge-functions`: makes one function of functions that differ in integer constants alone.
//!
//! Layers that differ in their numbers of channels, or in where their arrays are in the arena, have functions of the same
//! operations, and LLVM would compile each of them. Functions of at least `least` of one structure become one: where their
//! constants differ, it has arguments. Constants that grow together, such as multiples of an extent, are computed from one
//! argument; a function gets at most `most` of them. Equal functions are one in any case.
//!
//! Constants stay where code for a variable would be slower or of another kind: divisors, sizes of stack memory, and numbers of lanes.
//!
//! Requires: the LLVM dialect.

mod shape;

use crate::error::CodegenError;
use crate::ir::attribute_names::STEPS;
use crate::ir::func;
use crate::ir::llvm::{self, ElementPointer};
use crate::ir::mutation::{self, prepend_arguments};
use crate::ir::{self, Builder, attributes, context, key, ops};
use melior::Context;
use melior::ir::attribute::{ArrayAttribute, FlatSymbolRefAttribute, StringAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, Value, ValueLike};
use shape::{Place, Shape};
use skript_dialect::op::is;
use skript_dialect::{Pass, PassOption};
use std::collections::{HashMap, HashSet};

/// The pass `skript-merge-functions`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-merge-functions",
    summary: "make one function of functions that differ in integer constants alone",
    anchor: Some(ops::builtin::MODULE),
    options: &[
        PassOption {
            name: "least",
            summary: "minimum number of functions that differ and become one",
            default: "3",
        },
        PassOption { name: "most", summary: "maximum number of arguments for constants", default: "8" },
    ],
    run: |root, options, _| {
        let (least, most) = (options.get("least")?, options.get("most")?);
        for _ in 0..MOST_ROUNDS {
            if !merge(root, least, most)? {
                break;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Callers of merged functions may be equal then: the pass starts again so many times.
const MOST_ROUNDS: usize = 4;

/// Merges functions once; returns whether there were any.
fn merge(module: OperationRef, least: usize, most: usize) -> Result<bool, CodegenError> {
    let wrong = |e: melior::Error| CodegenError::Module(e.to_string());
    let mut calls = Calls::of(module);
    let blocks = ir::blocks(module).into_iter();
    let functions = blocks.flat_map(ir::operations);
    let functions = functions.filter(|op| is(op, ops::llvm::FUNC));
    let mut classes: Vec<Vec<Shape>> = Vec::new();
    let mut numbers: HashMap<Vec<usize>, usize> = HashMap::new();
    for function in functions {
        let Some(shape) = Shape::of(function).filter(|_| calls.are_all(function)) else {
            continue;
        };
        let next = classes.len();
        let number = *numbers.entry(shape.key.clone()).or_insert(next);
        match classes.get_mut(number) {
            Some(class) => class.push(shape),
            None => classes.push(vec![shape]),
        }
    }
    let mut replaced = Vec::new();
    for class in classes.into_iter().filter(|class| class.len() > 1) {
        // The operands of their calls are others than the numbers say: the next round knows them.
        if (class.iter()).any(|shape| calls.changed.contains(&key(shape.function))) {
            continue;
        }
        if let Some(merged) = Merged::of(&class, least, most) {
            merged.apply(&class, &mut calls).map_err(wrong)?;
            replaced.extend(class.iter().skip(1).map(|shape| shape.function));
        }
    }
    let is_any = !replaced.is_empty();
    replaced.into_iter().for_each(ir::erase);
    Ok(is_any)
}

/// The calls in a module, by callee.
struct Calls<'c, 'a> {
    calls: HashMap<String, Vec<OperationRef<'c, 'a>>>,
    /// Functions whose address is taken.
    others: HashSet<String>,
    /// The functions with calls that have changed.
    changed: HashSet<usize>,
}

impl<'c: 'a, 'a> Calls<'c, 'a> {
    fn of(module: OperationRef<'c, 'a>) -> Self {
        let mut found = Calls { calls: HashMap::new(), others: HashSet::new(), changed: HashSet::new() };
        for op in ir::nested(module) {
            let symbol = |name| {
                let symbol = FlatSymbolRefAttribute::try_from(op.attribute(name).ok()?);
                symbol.ok().map(|symbol| symbol.value().to_owned())
            };
            if is(&op, ops::llvm::CALL) {
                let callee = symbol("callee").map(|name| found.calls.entry(name).or_default());
                callee.into_iter().for_each(|calls| calls.push(op));
            } else if is(&op, ops::llvm::MLIR_ADDRESSOF) {
                found.others.extend(symbol("global_name"));
            }
        }
        found
    }

    /// Whether the calls are the only uses of a function, and there is one.
    fn are_all(&self, function: OperationRef) -> bool {
        let name = func::symbol(function);
        name.is_some_and(|name| self.calls.contains_key(&name) && !self.others.contains(&name))
    }
}

/// `factor · argument + term`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Linear {
    argument: usize,
    factor: i64,
    term: i64,
}

/// How functions become one.
struct Merged {
    /// The values of each new argument, by function.
    arguments: Vec<Vec<i64>>,
    /// The constants that differ, by their number in [`Shape::numbers`].
    variables: Vec<(usize, Linear)>,
}

impl Merged {
    /// `None` if the functions stay.
    fn of(class: &[Shape], least: usize, most: usize) -> Option<Self> {
        let count = class.first()?.numbers.len();
        let values = |n: usize| -> Vec<i64> {
            let numbers = class.iter().filter_map(|shape| shape.numbers.get(n));
            numbers.map(|number| number.value).collect()
        };
        let columns = (0..count).map(|n| (n, values(n)));
        let differ = |(_, values): &(usize, Vec<i64>)| values.iter().any(|v| Some(v) != values.first());
        let mut columns: Vec<_> = columns.filter(differ).collect();
        if columns.is_empty() {
            return Some(Merged { arguments: Vec::new(), variables: Vec::new() });
        }
        if class.len() < least {
            return None;
        }
        // What varies least comes first: others are its multiples.
        let spread = |values: &[i64]| {
            let (least, most) = (values.iter().min(), values.iter().max());
            most.zip(least).map(|(most, least)| most.abs_diff(*least))
        };
        columns.sort_by_cached_key(|(n, values)| (spread(values), *n));
        let mut arguments: Vec<Vec<i64>> = Vec::new();
        let mut variables = Vec::new();
        for (n, values) in columns {
            let mut known =
                arguments.iter().enumerate().filter_map(|(number, own)| linear(number, own, &values));
            let form = known.next().unwrap_or(Linear { argument: arguments.len(), factor: 1, term: 0 });
            if form.argument == arguments.len() {
                arguments.push(values);
            }
            variables.push((n, form));
        }
        (arguments.len() <= most).then_some(Merged { arguments, variables })
    }

    /// Changes the first function, and calls it instead of the others, which nothing calls then.
    fn apply<'c: 'a, 'a>(
        &self,
        class: &[Shape<'c, 'a>],
        calls: &mut Calls<'c, 'a>,
    ) -> Result<(), melior::Error> {
        let Some(first) = class.first() else {
            return Ok(());
        };
        let context = context::of(first.function);
        self.open(first, context)?;
        let name = func::symbol(first.function).unwrap_or_default();
        let mut all = Vec::new();
        for (number, shape) in class.iter().enumerate() {
            let own = func::symbol(shape.function).unwrap_or_default();
            for call in calls.calls.remove(&own).unwrap_or_default() {
                self.call(call, number, &name, context)?;
                calls.changed.extend(ir::walk::parent(call).map(key));
                all.push(call);
            }
        }
        calls.calls.insert(name, all);
        Ok(())
    }

    /// Gives a function the arguments, and replaces its constants.
    fn open<'c: 'a, 'a>(&self, shape: &Shape<'c, 'a>, context: &'c Context) -> Result<(), melior::Error> {
        let function = shape.function;
        let error = || melior::Error::OperationBuild;
        let i64 = Type::from(IntegerType::new(context, 64));
        let block = ir::first_block(function).ok_or_else(error)?;
        let count = self.arguments.len();
        let arguments = prepend_arguments(block, &vec![i64; count], function.location());
        let r#type = function.attribute("function_type")?.to_string();
        let r#type = llvm::with_arguments(&r#type, count).ok_or_else(error)?;
        let r#type = Attribute::parse(context, &r#type).ok_or_else(error)?;
        mutation::set(function, "function_type", r#type);
        func::shift_attributes(function, count)?;
        // Inlined, it would be many functions again.
        if !function.has_attribute(STEPS) && !function.has_attribute("passthrough") && count > 0 {
            let never = StringAttribute::new(context, "noinline").into();
            mutation::set(function, "passthrough", ArrayAttribute::new(context, &[never]).into());
        }
        let start = ir::operations(block).first().copied().ok_or_else(error)?;
        let at = Builder::before(context, start)?.with_location(function.location());
        let mut known: HashMap<(Linear, Type), Value> = HashMap::new();
        let mut indices: Vec<(OperationRef, Vec<(usize, Value)>)> = Vec::new();
        for (number, form) in &self.variables {
            let number = shape.numbers.get(*number).ok_or_else(error)?;
            let value = match known.get(&(*form, number.r#type)) {
                Some(value) => *value,
                None => {
                    let argument = *arguments.get(form.argument).ok_or_else(error)?;
                    let value = compute(&at, *form, argument, number.r#type)?;
                    known.insert((*form, number.r#type), value);
                    value
                }
            };
            match number.place {
                Place::Operand(op, position) => ir::use_instead(op, position, value),
                Place::Index(op, position) => {
                    match indices.iter_mut().find(|(own, _)| key(*own) == key(op)) {
                        Some((_, own)) => own.push((position, value)),
                        None => indices.push((op, vec![(position, value)])),
                    }
                }
            }
        }
        for (op, values) in indices {
            ElementPointer::cast(op).ok_or_else(error)?.set_indices(context, &values);
        }
        Ok(())
    }

    /// Calls the merged function instead of number `number`.
    fn call<'c: 'a, 'a>(
        &self,
        call: OperationRef<'c, 'a>,
        number: usize,
        name: &str,
        context: &'c Context,
    ) -> Result<(), melior::Error> {
        let at = Builder::before(context, call)?.with_location(call.location());
        let i64 = Type::from(IntegerType::new(context, 64));
        let mut operands = Vec::new();
        for values in &self.arguments {
            let value = *values.get(number).ok_or(melior::Error::OperationBuild)?;
            operands.push(llvm::constant(&at, value, i64)?);
        }
        operands.extend(call.operands());
        let count = i32::try_from(operands.len()).unwrap_or_default();
        ir::set_operands(call, &operands);
        let segments = attributes::i32s(context, &[count, 0]);
        mutation::set(call, "operandSegmentSizes", segments);
        let callee = FlatSymbolRefAttribute::new(context, name);
        mutation::set(call, "callee", callee.into());
        func::shift_attributes(call, self.arguments.len())?;
        Ok(())
    }
}

/// `factor · argument + term` as a value of an integer type.
fn compute<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    form: Linear,
    argument: Value<'c, 'a>,
    r#type: Type<'c>,
) -> Result<Value<'c, 'a>, melior::Error> {
    let i64 = argument.r#type();
    let mut value = argument;
    if form.factor != 1 {
        let factor = llvm::constant(at, form.factor, i64)?;
        value = at.value(ops::llvm::MUL, &[value, factor], &[], i64)?;
    }
    if form.term != 0 {
        let term = llvm::constant(at, form.term, i64)?;
        value = at.value(ops::llvm::ADD, &[value, term], &[], i64)?;
    }
    if r#type == i64 { Ok(value) } else { at.value(ops::llvm::TRUNC, &[value], &[], r#type) }
}

/// The values as a linear function of those of an argument, if they are one.
fn linear(argument: usize, own: &[i64], values: &[i64]) -> Option<Linear> {
    let pairs = || own.iter().zip(values);
    let (x, y) = pairs().next()?;
    let (other, image) = pairs().find(|(other, _)| *other != x)?;
    let (run, rise) = (other.checked_sub(*x)?, image.checked_sub(*y)?);
    let factor = (rise.checked_rem(run)? == 0).then(|| rise / run)?;
    let term = y.checked_sub(factor.checked_mul(*x)?)?;
    let form = Linear { argument, factor, term };
    let holds = |(x, y): (&i64, &i64)| {
        let product = factor.checked_mul(*x);
        product.and_then(|product| product.checked_add(term)) == Some(*y)
    };
    pairs().all(holds).then_some(form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_linear_in_an_argument() {
        let form = |own, values: &[i64]| linear(0, own, values).map(|form| (form.factor, form.term));
        assert_eq!(form(&[1, 2, 5], &[10, 14, 26]), Some((4, 6)));
        assert_eq!(form(&[1, 2, 5], &[10, 14, 27]), None);
        // 1/2 is no integer.
        assert_eq!(form(&[2, 4], &[1, 2]), None);
        assert_eq!(form(&[3, 3, 4], &[9, 9, 12]), Some((3, 0)));
        assert_eq!(form(&[3, 3, 4], &[9, 8, 12]), None);
        assert_eq!(form(&[i64::MIN, i64::MAX], &[0, 1]), None);
    }
}
