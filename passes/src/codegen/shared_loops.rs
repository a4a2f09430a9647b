// SPDX-License-Identifier: Apache-2.0
//! `skript-share-loops`: outlines parallel loops with enough work into functions with independent steps.
//!
//! Each outermost `scf.parallel` becomes a function that computes a range of one of its dimensions, and a call for the
//! whole range. `skript-parallelize-calls` passes such functions to the threads of the runtime. The number of steps
//! follows from the work, so short loops stay on the calling thread: a static loop with too little work for two steps
//! is not outlined, one with dynamic extents gets its number of steps at run time.
//!
//! Arrays on the stack move out of the loop: each thread has one for all of its iterations.
//!
//! Requires: planned memory, loops whose lower bounds are 0. Guarantees: an iteration computes the same values as before.

use crate::extents::size;
use crate::ir::attribute_names::{BYTES, STEPS, WORK};
use crate::ir::memref::ByteView;
use crate::ir::outline::{Outlined, captured, is_available};
use crate::ir::{self, Builder, attributes, mutation, ops, typed, types};
use melior::ir::attribute::{FlatSymbolRefAttribute, IntegerAttribute};
use melior::ir::operation::{OperationLike, OperationPrintingFlags, OperationRef, OperationResult};
use melior::ir::r#type::{IntegerType, MemRefType};
use melior::ir::{BlockRef, ShapedTypeLike, Type, Value, ValueLike};
use melior::{Context, Error};
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::{HashMap, HashSet};

/// The pass `skript-share-loops`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-share-loops",
    summary: "outline parallel loops with enough work into functions with independent steps",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::Scf],
    run: |root, _, rewriter| {
        let module = ir::blocks(root).first().copied();
        let module = module.ok_or("a module without a body")?;
        let mut sharing =
            Sharing { context: rewriter.context(), module, names: ir::symbols(root), known: HashMap::new() };
        for function in ir::operations(module) {
            if ir::name(function) != ops::func::FUNC || function.has_attribute(STEPS) {
                continue;
            }
            for block in ir::blocks(function) {
                sharing.share(block, function)?;
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Work of one step, in operations on scalars: less takes less time than to pass it to another thread.
const STEP_WORK: i64 = 1 << 16;

/// Maximum number of steps: enough for any number of threads to balance their work.
const MOST_STEPS: i64 = 256;

/// Steps of a dimension that are enough; with fewer, an inner dimension may be the better one.
const ENOUGH: i64 = 16;

/// Assumed iterations of an inner loop with dynamic bounds.
const DYNAMIC_ITERATIONS: i64 = 8;

/// The functions that the pass adds to a module; equal ones are one.
struct Sharing<'c, 'a> {
    context: &'c Context,
    module: BlockRef<'c, 'a>,
    names: HashSet<String>,
    /// Names of functions by their text without a name.
    known: HashMap<String, String>,
}

impl<'c: 'a, 'a> Sharing<'c, 'a> {
    /// Shares the outermost parallel loops of a block and of the blocks below it.
    fn share(&mut self, block: BlockRef<'c, 'a>, function: OperationRef<'c, 'a>) -> Result<(), PassError> {
        for op in ir::operations(block) {
            match Loops::of(op) {
                Some(loops) => match loops.split() {
                    Some(split) => loops.outline(&split, function, self)?,
                    None => hoist_stack(op, function),
                },
                None => {
                    for inner in ir::blocks(op) {
                        self.share(inner, function)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// A name that no function has.
    fn fresh(&self) -> String {
        let names = (0..).map(|number| format!("loop_{number}"));
        let mut names = names.filter(|name| !self.names.contains(name));
        names.next().unwrap_or_default()
    }

    /// The name of a function with this text: `function`, which has the name `name`, or an equal one instead.
    fn merged(&mut self, function: OperationRef<'c, 'a>, name: String) -> String {
        // The names of values are those of the function, not of the whole module.
        let flags = OperationPrintingFlags::new().use_local_scope();
        let text = function.to_string_with_flags(flags);
        let text = text.map(|text| text.replacen(&format!("@{name}("), "@(", 1));
        self.names.insert(name.clone());
        let Ok(text) = text else {
            return name;
        };
        if let Some(known) = self.known.get(&text) {
            ir::erase(function);
            return known.clone();
        }
        self.known.insert(text, name.clone());
        name
    }
}

/// The loops of an `scf.parallel`.
struct Loops<'c, 'a> {
    op: OperationRef<'c, 'a>,
    /// The upper bounds.
    bounds: Vec<Value<'c, 'a>>,
    /// The upper bounds; `None` for dynamic ones.
    extents: Vec<Option<i64>>,
}

/// How a loop is divided into steps.
struct Split {
    dimension: usize,
    /// The number of steps; `None` if it is known at run time.
    steps: Option<i64>,
    /// Operations on scalars of one iteration of all dimensions.
    work: i64,
}

impl<'c: 'a, 'a> Loops<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        if ir::name(op) != ops::scf::PARALLEL {
            return None;
        }
        let operands: Vec<Value> = op.operands().collect();
        let rank = operands.len() / 3;
        let bounds = operands.get(rank..2 * rank)?.to_vec();
        let extents = bounds.iter().map(|bound| constant(*bound)).collect();
        Some(Loops { op, bounds, extents })
    }

    /// Whether the loops are of the form that is divided.
    fn is_plain(&self) -> bool {
        let rank = self.bounds.len();
        let is = |n: usize, value| self.op.operand(n).is_ok_and(|v| constant(v) == Some(value));
        let from_zero = (0..rank).all(|n| is(n, 0) && is(2 * rank + n, 1));
        rank > 0 && from_zero && self.op.result_count() == 0 && self.op.operand_count() == 3 * rank
    }

    /// The division; `None` if the loop stays: with too little work, or with values that a function cannot have.
    fn split(&self) -> Option<Split> {
        if !self.is_plain() || !captured(self.op).into_iter().all(is_available) {
            return None;
        }
        let own = ir::blocks(self.op).into_iter().map(work);
        let work = typed::integer(self.op, WORK).unwrap_or_else(|| own.fold(0, i64::saturating_add));
        let work = work.max(1);
        let enough = |extent: &Option<i64>| extent.is_some_and(|e| e >= ENOUGH);
        let dimension = (0..self.extents.len())
            .find(|d| self.extents.get(*d).is_some_and(enough))
            .or_else(|| self.extents.iter().position(Option::is_none))
            .or_else(|| (0..self.extents.len()).rev().max_by_key(|d| self.extents.get(*d)))?;
        let volume = self.extents.iter().try_fold(1_i64, |all, extent| Some(all.saturating_mul((*extent)?)));
        let steps = match (volume, self.extents.get(dimension)) {
            (Some(volume), Some(Some(extent))) => {
                let steps = volume.saturating_mul(work) / STEP_WORK;
                Some(steps.min(MOST_STEPS).min(*extent))
            }
            _ => None,
        };
        if steps.is_some_and(|steps| steps < 2) {
            return None;
        }
        Some(Split { dimension, steps, work })
    }

    /// Replaces the loops by a call of a function with steps.
    fn outline(
        &self,
        split: &Split,
        caller: OperationRef<'c, 'a>,
        sharing: &mut Sharing<'c, 'a>,
    ) -> Result<(), PassError> {
        let context = sharing.context;
        let name = sharing.fresh();
        let before = Builder::before(context, self.op)?;
        let steps = match split.steps {
            Some(steps) => before.index(steps)?,
            None => self.steps(split, &before)?,
        };
        let next = self.op.next_in_block().ok_or("a loop that ends its block")?;

        let mut outlined = Outlined::new(context, sharing.module, &name, &[self.op])?;
        let total = outlined.value(steps)?;
        for view in disjoint_views(self.op) {
            if view.has_static_extents {
                outlined.pass_disjoint(view.array)
            } else {
                outlined.pass_disjoint_bytes(view.array, view.bytes(&before)?)?
            }
        }
        outlined.take(self.op)?;
        let index = Type::index(context);
        let (from, to) = (outlined.add_argument(index), outlined.add_argument(index));
        let rank = self.bounds.len();
        let bound = self.op.operand(rank + split.dimension)?;
        let at = Builder::before(context, self.op)?;
        // The first iteration of step s is s · bound / steps.
        let start = |step| -> Result<Value<'c, 'a>, Error> {
            let scaled = at.value(ops::arith::MULI, &[step, bound], &[], index)?;
            at.value(ops::arith::DIVUI, &[scaled, total], &[], index)
        };
        mutation::set_operand(self.op, split.dimension, start(from)?);
        mutation::set_operand(self.op, rank + split.dimension, start(to)?);
        outlined.finish(&[], caller)?;
        hoist_stack(self.op, outlined.function());
        ir::set_attribute(outlined.function(), STEPS, attributes::unit(context));
        let name = sharing.merged(outlined.function(), name);

        let call = Builder::before(context, next)?;
        let zero = call.index(0)?;
        let operands = [outlined.captured(), &[zero, steps]].concat();
        let callee = FlatSymbolRefAttribute::new(context, &name).into();
        let none = Vec::new();
        call.create(ops::func::CALL, &operands, &[("callee", callee)], &[], none)?;
        Ok(())
    }

    /// The number of steps at run time: at least 1, at most the extent of the divided dimension.
    fn steps(&self, split: &Split, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let index = Type::index(at.context);
        let binary = |name: &str, left, right| at.value(name, &[left, right], &[], index);
        let mut work = at.index(split.work)?;
        for bound in &self.bounds {
            work = binary(ops::arith::MULI, work, *bound)?;
        }
        let steps = binary(ops::arith::DIVUI, work, at.index(STEP_WORK)?)?;
        let steps = binary(ops::arith::MINUI, steps, at.index(MOST_STEPS)?)?;
        let bound = self.bounds.get(split.dimension).copied();
        let steps = match bound {
            Some(bound) => binary(ops::arith::MINUI, steps, bound)?,
            None => steps,
        };
        binary(ops::arith::MAXUI, steps, at.index(1)?)
    }
}

/// Moves the arrays on the stack that a loop's body has to the beginning of the function: one for all iterations.
fn hoist_stack<'c: 'a, 'a>(op: OperationRef<'c, 'a>, function: OperationRef<'c, 'a>) {
    let first = ir::first_block(function).and_then(|block| ir::operations(block).first().copied());
    for array in ir::walk::named(op, ops::memref::ALLOCA) {
        if let Some(first) = first.filter(|_| array.operand_count() == 0) {
            ir::move_before(array, first);
        }
    }
}

/// Bytes that the first element of an argument is a multiple of.
const ALIGNMENT: i64 = 64;

/// The views of buffers of bytes that a loop accesses, without those whose elements another view has as well. LLVM vectorizes
/// a loop over arguments that do not alias.
fn disjoint_views<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<View<'c, 'a>> {
    let (mut found, mut unknown): (Vec<View>, Vec<Value>) = (Vec::new(), Vec::new());
    for array in captured(op) {
        match View::of(array) {
            Some(view) if found.iter().any(|known| known.array == view.array) => {}
            Some(view) => found.push(view),
            None => unknown.push(array),
        }
    }
    let roots: Vec<Value> = unknown.into_iter().map(ir::memref::root).collect();
    // The result of a loop or branch may be in any buffer.
    let is_of_region =
        |root: &Value<'c, 'a>| ir::definition(*root).is_some_and(|(op, _)| op.region_count() > 0);
    if roots.iter().any(is_of_region) {
        return Vec::new();
    }
    let alone = found.iter().filter(|view| {
        let mut others = found.iter().filter(|other| other.array != view.array);
        // Elements of the buffer that are accessed without a view may be anywhere.
        let is_known = !roots.iter().any(|root| view.is_of(*root));
        is_known && view.first % ALIGNMENT == 0 && others.all(|other| !view.overlaps(other))
    });
    alone.cloned().collect()
}

/// A view of a buffer of bytes, at constant positions. Dynamic extents count as their upper bounds.
#[derive(Clone)]
struct View<'c, 'a> {
    array: Value<'c, 'a>,
    buffer: Value<'c, 'a>,
    first: i64,
    end: i64,
    has_static_extents: bool,
}

impl<'c: 'a, 'a> View<'c, 'a> {
    /// The view of bytes that an array is, or is a part of.
    fn of(array: Value<'c, 'a>) -> Option<Self> {
        let mut array = array;
        let view = loop {
            let (op, _) = ir::definition(array)?;
            match ByteView::cast(op) {
                Some(view) => break view,
                None if ir::memref::is_view(op) => array = ir::operand(op).ok()?,
                None => return None,
            }
        };
        let memref = MemRefType::try_from(array.r#type()).ok()?;
        let first = constant(view.offset().ok()?)?;
        let bytes = match typed::integer(view.op(), BYTES) {
            Some(bytes) => bytes,
            None => i64::try_from(size::bytes(array)?).ok()?,
        };
        Some(View {
            array,
            buffer: view.buffer().ok()?,
            first,
            end: first.checked_add(bytes)?,
            has_static_extents: memref.has_static_shape(),
        })
    }

    /// The bytes as an array of static extents.
    fn bytes(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let byte = IntegerType::new(at.context, 8).into();
        let kind = types::memref(&[self.end - self.first], byte);
        let first = at.index(self.first)?;
        at.value(ops::memref::VIEW, &[self.buffer, first], &[], kind)
    }

    fn is_of(&self, buffer: Value<'c, 'a>) -> bool {
        self.buffer == buffer
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.is_of(other.buffer) && self.first < other.end && other.first < self.end
    }
}

/// Operations on scalars of one iteration of a block.
fn work(block: BlockRef) -> i64 {
    let operations = ir::operations(block);
    operations.into_iter().map(work_of).fold(0, i64::saturating_add)
}

fn work_of(op: OperationRef) -> i64 {
    if let Some(known) = typed::integer(op, WORK) {
        return known.saturating_mul(iterations(op));
    }
    let inner = ir::blocks(op).into_iter().map(work);
    let inner = inner.fold(0, i64::saturating_add);
    match ir::name(op).as_str() {
        ops::scf::FOR | ops::scf::PARALLEL => inner.saturating_mul(iterations(op)),
        _ => inner.saturating_add(ir::work::of_scalars(op)),
    }
}

/// The greatest value of an index, if it is a constant or the minimum of one and another: the loops of a block have such an end.
fn greatest(value: Value) -> Option<i64> {
    let least = || {
        let op = OperationResult::try_from(value).ok()?.owner();
        let is_least = ir::name(op) == ops::arith::MINSI;
        is_least.then(|| op.operands().find_map(constant)).flatten()
    };
    constant(value).or_else(least)
}

/// The iterations of a nested loop.
fn iterations(op: OperationRef) -> i64 {
    let operands: Vec<Value> = op.operands().collect();
    let rank = if ir::name(op) == ops::scf::FOR { 1 } else { operands.len() / 3 };
    let of = |n: usize| {
        let bound = |position: usize| operands.get(position).copied().and_then(constant);
        let end = || operands.get(rank + n).copied().and_then(greatest);
        let (from, to, step) = (bound(n)?, end()?, bound(2 * rank + n)?);
        Some(to.saturating_sub(from).max(0) / step.max(1))
    };
    (0..rank).map(|n| of(n).unwrap_or(DYNAMIC_ITERATIONS)).fold(1, i64::saturating_mul)
}

/// The value of a constant.
fn constant(value: Value) -> Option<i64> {
    let op = OperationResult::try_from(value).ok()?.owner();
    if ir::name(op) != ops::arith::CONSTANT {
        return None;
    }
    let value = IntegerAttribute::try_from(op.attribute("value").ok()?).ok()?;
    Some(value.value())
}
