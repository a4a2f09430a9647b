// SPDX-License-Identifier: Apache-2.0
//! `skript-merge-functions`: merges functions that differ only in integer constants.
//!
//! Layers that differ only in their numbers of channels, or in the positions of their arrays in the arena, have functions with
//! the same operations, and LLVM would compile each of them. If at least `least` functions have the same structure, the pass
//! merges them into one function, with arguments for the constants that differ. Constants that are linear functions of one
//! another, such as multiples of an extent, are computed from one argument; a function gets at most `most` arguments. Equal
//! functions are always merged.
//!
//! Constants are not replaced if code for a variable would be slower or invalid: divisors, sizes of stack memory, and lane
//! numbers.
//!
//! Requires: the LLVM dialect.

mod shape;

use crate::error::CodegenError;
use crate::ir::attribute_names::STEPS;
use crate::ir::func;
use crate::ir::llvm::{self, ElementPointer};
use crate::ir::mutation::{self, prepend_arguments};
use crate::ir::{self, Builder, attributes, context, key, ops, typed, types};
use melior::Context;
use melior::ir::attribute::{FlatSymbolRefAttribute, TypeAttribute};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Type, Value, ValueLike};
use shape::{Place, Shape};
use skript_dialect::op::is;
use skript_dialect::{Pass, PassOption};
use std::collections::{HashMap, HashSet};

/// The pass `skript-merge-functions`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-merge-functions",
    summary: "merge functions that differ only in integer constants",
    anchor: Some(ops::builtin::MODULE),
    options: &[
        PassOption {
            name: "least",
            summary: "minimum number of different functions that are merged",
            default: "3",
        },
        PassOption { name: "most", summary: "maximum number of arguments for constants", default: "8" },
    ],
    run: |root, options, _| {
        let limits = Limits { min_functions: options.get("least")?, max_arguments: options.get("most")? };
        for _ in 0..MAX_ROUNDS {
            if !merge(root, limits)? {
                break;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Maximum number of rounds: merging functions may make their callers equal.
const MAX_ROUNDS: usize = 4;

/// The options of the pass.
#[derive(Clone, Copy)]
struct Limits {
    /// Minimum number of different functions that are merged.
    min_functions: usize,
    /// Maximum number of arguments for constants.
    max_arguments: usize,
}

/// Runs one round; returns whether it merged any functions.
fn merge(module: OperationRef, limits: Limits) -> Result<bool, CodegenError> {
    let mut calls = Calls::collect(module);
    let mut functions = ir::children(module);
    functions.retain(|op| is(op, ops::llvm::FUNC));
    let mut classes: Vec<Vec<Shape>> = Vec::new();
    let mut numbers: HashMap<Vec<usize>, usize> = HashMap::new();
    for function in functions {
        let Some(shape) = Shape::read(function).filter(|_| calls.are_all_users(function)) else {
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
        // If calls in a function have changed since `Shape::read`, the next round merges the function.
        if class.iter().any(|shape| calls.changed.contains(&key(shape.function))) {
            continue;
        }
        if let Some(merged) = Merged::plan(&class, limits) {
            merged.apply(&class, &mut calls)?;
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
    /// Symbols whose address is taken.
    addressed: HashSet<String>,
    /// The functions with calls that have changed.
    changed: HashSet<usize>,
}

impl<'c: 'a, 'a> Calls<'c, 'a> {
    fn collect(module: OperationRef<'c, 'a>) -> Self {
        let mut calls: HashMap<String, Vec<_>> = HashMap::new();
        let mut addressed = HashSet::new();
        for op in ir::nested(module) {
            if is(&op, ops::llvm::MLIR_ADDRESSOF) {
                addressed.extend(typed::symbol(op, "global_name"));
            } else if is(&op, ops::llvm::CALL)
                && let Some(callee) = func::callee(op)
            {
                calls.entry(callee).or_default().push(op);
            }
        }
        Calls { calls, addressed, changed: HashSet::new() }
    }

    /// Whether a function has calls and no other users.
    fn are_all_users(&self, function: OperationRef) -> bool {
        let name = func::symbol(function);
        name.is_some_and(|name| self.calls.contains_key(&name) && !self.addressed.contains(&name))
    }
}

/// `factor · argument + term`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Linear {
    argument: usize,
    factor: i64,
    term: i64,
}

/// A plan to merge functions.
struct Merged {
    /// For each new argument, its value for each function.
    arguments: Vec<Vec<i64>>,
    /// The constants that differ, by number in [`Shape::numbers`], as functions of the new arguments.
    variables: Vec<(usize, Linear)>,
}

impl Merged {
    /// `None` if the functions are not merged.
    fn plan(class: &[Shape], limits: Limits) -> Option<Self> {
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
        if class.len() < limits.min_functions {
            return None;
        }
        // The constants that vary least become arguments first, because constants that vary more may be their multiples.
        let spread = |values: &[i64]| {
            let (min, max) = (values.iter().min(), values.iter().max());
            max.zip(min).map(|(max, min)| max.abs_diff(*min))
        };
        columns.sort_by_cached_key(|(n, values)| (spread(values), *n));
        let mut arguments: Vec<Vec<i64>> = Vec::new();
        let mut variables = Vec::new();
        for (n, values) in columns {
            let mut forms = arguments.iter().enumerate().filter_map(|(n, known)| linear(n, known, &values));
            let form = forms.next().unwrap_or(Linear { argument: arguments.len(), factor: 1, term: 0 });
            if form.argument == arguments.len() {
                arguments.push(values);
            }
            variables.push((n, form));
        }
        (arguments.len() <= limits.max_arguments).then_some(Merged { arguments, variables })
    }

    /// Adds the arguments to the first function, and replaces the calls of the other functions by calls of the first one.
    fn apply<'c: 'a, 'a>(
        &self,
        class: &[Shape<'c, 'a>],
        calls: &mut Calls<'c, 'a>,
    ) -> Result<(), melior::Error> {
        let Some(first) = class.first() else {
            return Ok(());
        };
        let context = context::of(first.function);
        let arguments = self.add_arguments(first.function, context)?;
        self.replace_constants(first, &arguments, context)?;
        let name = typed::verified_string(first.function, "sym_name");
        let mut all = Vec::new();
        for (number, shape) in class.iter().enumerate() {
            let replaced = typed::verified_string(shape.function, "sym_name");
            for call in calls.calls.remove(&replaced).into_iter().flatten() {
                self.call(call, number, &name, context)?;
                calls.changed.extend(ir::walk::parent(call).map(key));
                all.push(call);
            }
        }
        calls.calls.insert(name, all);
        Ok(())
    }

    /// Adds the arguments to a function.
    fn add_arguments<'c: 'a, 'a>(
        &self,
        function: OperationRef<'c, 'a>,
        context: &'c Context,
    ) -> Result<Vec<Value<'c, 'a>>, melior::Error> {
        let block = ir::first_block(function).ok_or(melior::Error::OperationBuild)?;
        let added = vec![types::word(context); self.arguments.len()];
        let arguments = prepend_arguments(block, &added, function.location());
        let r#type = TypeAttribute::try_from(function.attribute("function_type")?)?.value();
        let r#type = TypeAttribute::new(llvm::with_arguments(r#type, &added));
        mutation::set(function, "function_type", r#type.into());
        func::shift_attributes(function, added.len());
        // Inlining would undo the merge.
        if !function.has_attribute(STEPS) && !function.has_attribute("passthrough") && !added.is_empty() {
            mutation::set(function, "passthrough", attributes::strings(context, &["noinline"]));
        }
        Ok(arguments)
    }

    /// Replaces the constants that differ by values that are computed from the new arguments.
    fn replace_constants<'c: 'a, 'a>(
        &self,
        shape: &Shape<'c, 'a>,
        arguments: &[Value<'c, 'a>],
        context: &'c Context,
    ) -> Result<(), melior::Error> {
        let error = || melior::Error::OperationBuild;
        let block = ir::first_block(shape.function).ok_or_else(error)?;
        let start = ir::operations(block).first().copied().ok_or_else(error)?;
        let at = Builder::at(start).with_location(shape.function.location());
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
                    match indices.iter_mut().find(|(pointer, _)| key(*pointer) == key(op)) {
                        Some((_, values)) => values.push((position, value)),
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

    /// Replaces a call of the function with this number by a call of the merged function.
    fn call<'c: 'a, 'a>(
        &self,
        call: OperationRef<'c, 'a>,
        number: usize,
        name: &str,
        context: &'c Context,
    ) -> Result<(), melior::Error> {
        let at = Builder::at(call);
        let mut operands = Vec::new();
        for values in &self.arguments {
            let value = *values.get(number).ok_or(melior::Error::OperationBuild)?;
            operands.push(llvm::constant(&at, value, types::word(context))?);
        }
        operands.extend(call.operands());
        ir::set_operands(call, &operands);
        let (segments, counts) = at.segments(&[ir::segment(operands.len()), 0]);
        mutation::set(call, segments, counts);
        let callee = FlatSymbolRefAttribute::new(context, name);
        mutation::set(call, "callee", callee.into());
        func::shift_attributes(call, self.arguments.len());
        Ok(())
    }
}

/// Emits `factor · argument + term` as a value of an integer type.
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

/// Returns the linear function that maps the values `from` of an argument to `values`, if there is one.
fn linear(argument: usize, from: &[i64], values: &[i64]) -> Option<Linear> {
    let pairs = || from.iter().zip(values);
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
        let form = |from, values: &[i64]| linear(0, from, values).map(|form| (form.factor, form.term));
        assert_eq!(form(&[1, 2, 5], &[10, 14, 26]), Some((4, 6)));
        assert_eq!(form(&[1, 2, 5], &[10, 14, 27]), None);
        // 1/2 is not an integer.
        assert_eq!(form(&[2, 4], &[1, 2]), None);
        assert_eq!(form(&[3, 3, 4], &[9, 9, 12]), Some((3, 0)));
        assert_eq!(form(&[3, 3, 4], &[9, 8, 12]), None);
        assert_eq!(form(&[i64::MIN, i64::MAX], &[0, 1]), None);
    }
}
