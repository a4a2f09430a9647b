// SPDX-License-Identifier: Apache-2.0
//! `skript-carry-elements`: replaces elements that each iteration of an innermost loop reads and writes by loop-carried values.
//!
//! A formula such as `z[i] := f(z[i]), s < steps | g(z[i])` changes the same element in each step `s`. LLVM keeps such an element in memory
//! if the store is conditional, because it cannot know that storing an unchanged element is allowed. If the condition of all stores depends
//! on the loop-carried values only, the loop ends when it is false: later iterations would change nothing.
//!
//! Requires: `scf` loops on buffers; a loop with at least one iteration. Guarantees: elements have the same values after the loop.

use super::buffer_uses::has_own_buffer;
use crate::ir::builder::arith::Integers;
use crate::ir::memref::{extents, root_of};
use crate::ir::scf::{Bounds, If};
use crate::ir::walk::{blocks, named, nested};
use crate::ir::{self, Builder, Copier, ValueKey, builder, ops};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{Region, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassOption, op};
use std::collections::HashSet;

/// The pass `skript-carry-elements`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-carry-elements",
    summary: "carry elements that each iteration of a loop changes",
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef, Dialect::Scf],
    options: &[PassOption {
        name: "nested",
        summary: "also carry elements through loops whose inner loops do not store, such as a reduction over several dimensions",
        default: "false",
    }],
    run: |root, options, rewriter| {
        let nested = options.get("nested")?;
        // Inner loops first: their stores move out of them.
        for op in named(root, ops::scf::FOR).into_iter().rev() {
            if let Some(steps) = Steps::new(op, nested) {
                steps.emit(&Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Maximum number of loop-carried elements: more do not fit in registers.
const MAX_ELEMENTS: usize = 8;

/// An element at a loop-invariant position.
struct Element<'c, 'a> {
    array: Value<'c, 'a>,
    subscripts: Vec<Value<'c, 'a>>,
}

/// A loop whose stores change elements at loop-invariant positions.
struct Steps<'c, 'a> {
    bounds: Bounds<'c, 'a>,
    index: Value<'c, 'a>,
    body: Vec<OperationRef<'c, 'a>>,
    elements: Vec<Element<'c, 'a>>,
    /// The branch with all stores, if later iterations change nothing when its condition is false.
    exit: Option<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Element<'c, 'a> {
    /// The element of a load or a store.
    fn accessed(op: OperationRef<'c, 'a>) -> Option<(Self, bool)> {
        let is_store = op::is(&op, ops::memref::STORE);
        if !is_store && !op::is(&op, ops::memref::LOAD) {
            return None;
        }
        let mut operands = op.operands().skip(usize::from(is_store));
        let array = operands.next()?;
        Some((Element { array, subscripts: operands.collect() }, is_store))
    }

    fn is(&self, other: &Self) -> bool {
        let same =
            |(a, b): (&Value, &Value)| a == b || ir::integer(*a).is_some_and(|n| ir::integer(*b) == Some(n));
        self.array == other.array && self.subscripts.iter().zip(&other.subscripts).all(same)
    }

    /// Whether two positions in an array differ in a constant subscript.
    fn is_apart(&self, other: &Self) -> bool {
        let differs =
            |(a, b): (&Value, &Value)| ir::integer(*a).zip(ir::integer(*b)).is_some_and(|(a, b)| a != b);
        self.subscripts.iter().zip(&other.subscripts).any(differs)
    }

    /// Whether the element is inside its array, because its subscripts are constants or those of an element that each iteration reads.
    fn is_inside(&self, read: &[Element<'c, 'a>]) -> bool {
        let extents = extents(self.array.r#type());
        self.subscripts.iter().enumerate().all(|(dimension, subscript)| {
            let constant = ir::integer(*subscript).zip(extents.get(dimension).copied());
            constant.is_some_and(|(at, extent)| (0..extent).contains(&at))
                || read.iter().any(|other| {
                    other.array == self.array && other.subscripts.get(dimension) == Some(subscript)
                })
        })
    }
}

impl<'c: 'a, 'a> Steps<'c, 'a> {
    /// `None` for a loop that is kept.
    fn new(op: OperationRef<'c, 'a>, accepts_loops: bool) -> Option<Self> {
        let bounds = *Bounds::all(op).first()?;
        let is_plain = bounds.iterations().is_some_and(|n| n > 1) && op.result_count() == 0;
        let block = ir::first_block(op).filter(|_| is_plain)?;
        let index = *ir::arguments(block).first()?;
        let mut body = ir::operations(block);
        body.pop();
        let inside = nested(op);
        let local: HashSet<ValueKey> = inside
            .iter()
            .flat_map(|op| op.results())
            .map(ValueKey::of)
            .chain([ValueKey::of(index)])
            .collect();
        let (elements, reads) = accesses(&inside, &body, accepts_loops)?;
        let is_invariant = |element: &Element| {
            !element
                .subscripts
                .iter()
                .chain([&element.array])
                .any(|value| local.contains(&ValueKey::of(*value)))
        };
        let differs = |(n, element): (usize, &Element<'c, 'a>)| {
            let mut later = elements.iter().skip(n + 1);
            later.all(|other| {
                root_of(other.array) != root_of(element.array)
                    || other.array == element.array && element.is_apart(other)
            })
        };
        let is_carried = (1..=MAX_ELEMENTS).contains(&elements.len())
            && elements.iter().all(|e| is_invariant(e) && e.is_inside(&reads) && has_own_buffer(e.array))
            && elements.iter().enumerate().all(differs);
        if !is_carried {
            return None;
        }
        let mut steps = Steps { bounds, index, body, elements, exit: None };
        steps.exit = steps.exit();
        Some(steps)
    }

    /// The branch with all stores, at the end of the body, if its condition depends on loop-carried and loop-invariant values only.
    fn exit(&self) -> Option<OperationRef<'c, 'a>> {
        let (last, before) = self.body.split_last()?;
        let branch = If::cast(*last).filter(|_| last.result_count() == 0 && blocks(*last).len() == 1)?;
        let mut variant = HashSet::from([ValueKey::of(self.index)]);
        for op in before {
            let is_variant = op.operands().any(|operand| variant.contains(&ValueKey::of(operand)));
            // After the last iteration, an element at a variant position may be out of bounds.
            let is_load = Element::accessed(*op).is_some_and(|(_, is_store)| !is_store);
            if op.region_count() > 0 || !op::is_speculatable(op) && (!is_load || is_variant) {
                return None;
            }
            if is_variant {
                variant.extend(op.results().map(ValueKey::of));
            }
        }
        let is_invariant = !variant.contains(&ValueKey::of(branch.condition().ok()?));
        (is_invariant && ir::integer(self.bounds.step)? > 0).then_some(*last)
    }

    fn emit(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let inits: Vec<Value> = self.elements.iter().map(|e| at.load(e.array, &e.subscripts)).collect();
        let results = match self.exit {
            Some(branch) => self.until(branch, &inits, at)?,
            None => {
                let Bounds { lower, upper, step } = self.bounds;
                ir::scf::fold_all(at, [lower, upper, step], &inits, |inside, index, before| {
                    let mut copier = Copier::new();
                    copier.set(self.index, index);
                    self.step(&self.body, &mut copier, before.to_vec(), inside)
                })?
            }
        };
        for (element, value) in self.elements.iter().zip(results) {
            at.store(value, element.array, &element.subscripts);
        }
        Ok(())
    }

    /// Emits the loop that ends when the condition of the branch is false.
    fn until(
        &self,
        branch: OperationRef<'c, 'a>,
        inits: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let Bounds { lower, upper, step } = self.bounds;
        let inits = [&[lower], inits].concat();
        let types: Vec<Type> = inits.iter().map(|value| value.r#type()).collect();
        let (_, computed) = self.body.split_last().ok_or(Error::OperationBuild)?;
        // Both regions compute the operations before the branch. LLVM merges them.
        let part = || -> Result<_, Error> {
            let (region, inside, arguments) = at.region(&types);
            let (index, elements) = arguments.split_first().ok_or(Error::OperationBuild)?;
            let mut copier = Copier::new();
            copier.set(self.index, *index);
            self.step(computed, &mut copier, elements.to_vec(), &inside)?;
            Ok((region, inside, arguments.clone(), copier))
        };
        let (before, inside, arguments, copier) = part()?;
        let runs = inside.cmpi(Integers::SignedLess, *arguments.first().ok_or(Error::OperationBuild)?, upper);
        let condition = inside.andi(runs, copier.get(branch.operand(0)?));
        inside.create(ops::scf::CONDITION, &[vec![condition], arguments].concat(), &[], &[], Vec::new())?;

        let (after, inside, arguments, mut copier) = part()?;
        let (index, elements) = arguments.split_first().ok_or(Error::OperationBuild)?;
        let mut chosen = builder::operations(builder::only_block(branch.region(0)?)?);
        chosen.pop();
        let written = self.step(&chosen, &mut copier, elements.to_vec(), &inside)?;
        let next = inside.addi(*index, step);
        inside.create(ops::scf::YIELD, &[vec![next], written].concat(), &[], &[], Vec::new())?;
        let op = at.create(ops::scf::WHILE, &inits, &[], &types, vec![before, after])?;
        Ok(op.results().skip(1).map(Value::from).collect())
    }

    /// Copies operations with the elements `current` instead of memory; returns the elements after them.
    fn step(
        &self,
        operations: &[OperationRef<'c, 'a>],
        copier: &mut Copier<'c, 'a>,
        mut current: Vec<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        for op in operations {
            let at = &at.with_location(op.location());
            if let Some((element, is_store)) = Element::accessed(*op)
                && let Some(number) = self.elements.iter().position(|known| known.is(&element))
            {
                let slot = current.get_mut(number).ok_or(Error::OperationBuild)?;
                if is_store {
                    *slot = copier.get(op.operand(0)?);
                } else {
                    copier.set(op.result(0)?, *slot);
                }
            } else if op::is(op, ops::scf::IF) {
                current = self.branch(*op, copier, current, at)?;
            } else {
                copier.copy_all(&[*op], at)?;
            }
        }
        Ok(current)
    }

    /// Copies a branch, whose regions yield the elements after its results.
    fn branch(
        &self,
        op: OperationRef<'c, 'a>,
        copier: &mut Copier<'c, 'a>,
        current: Vec<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let version = |number: usize| -> Result<Region<'c>, Error> {
            let (region, inside, _) = at.region(&[]);
            let mut copier = copier.clone();
            let (mut yielded, mut elements) = (Vec::new(), current.clone());
            if let Some(block) = blocks(op).get(number) {
                let mut operations = builder::operations(*block);
                let end = operations.pop().ok_or(Error::OperationBuild)?;
                elements = self.step(&operations, &mut copier, elements, &inside)?;
                yielded.extend(end.operands().map(|value| copier.get(value)));
            }
            yielded.extend(elements);
            inside.create(ops::scf::YIELD, &yielded, &[], &[], Vec::new())?;
            Ok(region)
        };
        let regions = vec![version(0)?, version(1)?];
        let types: Vec<Type> =
            op.results().map(|r| r.r#type()).chain(current.iter().map(|value| value.r#type())).collect();
        let condition = copier.get(op.operand(0)?);
        let new = at.create(ops::scf::IF, &[condition], &[], &types, regions)?;
        let values: Vec<Value> = new.results().map(Into::into).collect();
        let (results, elements) = values.split_at(op.result_count());
        for (old, new) in op.results().zip(results) {
            copier.set(old, *new);
        }
        Ok(elements.to_vec())
    }
}

/// The elements that a loop changes, and those that each iteration reads. `None` for a loop with other effects, and for one that may
/// change an element in two ways. Loops in the body may only read arrays that the loop does not change.
fn accesses<'c: 'a, 'a>(
    inside: &[OperationRef<'c, 'a>],
    body: &[OperationRef<'c, 'a>],
    accepts_loops: bool,
) -> Option<(Vec<Element<'c, 'a>>, Vec<Element<'c, 'a>>)> {
    let is_loop = |op: &OperationRef| op::is(op, ops::scf::FOR) && accepts_loops;
    let loops: Vec<_> = body.iter().copied().filter(|op| is_loop(op)).collect();
    let in_loops: Vec<_> = loops.iter().flat_map(|op| nested(*op)).collect();
    let mut read_in_loops: HashSet<ValueKey> = HashSet::new();
    let (mut elements, mut reads, mut others) = (Vec::<Element>::new(), Vec::new(), Vec::new());
    for op in inside {
        let Some((element, is_store)) = Element::accessed(*op) else {
            if !is_step(*op, body) && !loops.contains(op) {
                return None;
            }
            continue;
        };
        if in_loops.contains(op) {
            if is_store || !has_own_buffer(element.array) {
                return None;
            }
            read_in_loops.insert(root_of(element.array));
            continue;
        }
        if body.contains(op) {
            reads.push(Element { array: element.array, subscripts: element.subscripts.clone() });
        }
        if is_store && !elements.iter().any(|known| known.is(&element)) {
            elements.push(element);
        } else if !is_store {
            others.push(element);
        }
    }
    let arrays: HashSet<ValueKey> = elements.iter().map(|element| root_of(element.array)).collect();
    if !arrays.is_disjoint(&read_in_loops) {
        return None;
    }
    // Elements of the changed arrays that are only read are carried as well, so that all are known to differ.
    for element in others {
        let is_changed = arrays.contains(&root_of(element.array));
        if is_changed && !elements.iter().any(|known| known.is(&element)) {
            elements.push(element);
        } else if !is_changed && !has_own_buffer(element.array) {
            return None;
        }
    }
    Some((elements, reads))
}

/// Whether an operation of a loop may be copied: it has no effects except those of its regions, which are branches at the top level.
fn is_step(op: OperationRef, body: &[OperationRef]) -> bool {
    match ir::name(op).as_str() {
        ops::scf::IF => body.contains(&op),
        ops::scf::YIELD => true,
        name => op.region_count() == 0 && (name.starts_with("arith.") || name.starts_with("math.")),
    }
}
