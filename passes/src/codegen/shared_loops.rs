// SPDX-License-Identifier: Apache-2.0
//! `skript-share-loops`: outlines parallel loops with enough work into functions with independent steps.
//!
//! Each outermost `scf.parallel` becomes a function that computes a range of one of its dimensions, and a call for the full
//! range. `skript-parallelize-calls` passes such functions to the thread pool. The number of steps is proportional to the
//! work, so the calling thread computes short loops: a static loop with too little work for two steps is not outlined, and
//! the number of steps of a loop with dynamic extents is computed at run time.
//!
//! Arrays on the stack move out of the loop: each thread has one array for all of its iterations.
//!
//! Requires: planned memory, loops with lower bounds of 0. Guarantees: an iteration computes the same values as before.

use crate::extents::size;
use crate::ir::attribute_names::{BYTES, STEPS, WORK};
use crate::ir::func::Distinct;
use crate::ir::memref::ByteView;
use crate::ir::outline::{Outlined, captured, is_available};
use crate::ir::scf::Bounds;
use crate::ir::{self, Builder, attributes, mutation, ops, typed, types};
use melior::ir::attribute::FlatSymbolRefAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{BlockRef, ShapedTypeLike, Type, Value, ValueLike};
use melior::{Context, Error};
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::HashSet;

/// The pass `skript-share-loops`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-share-loops",
    summary: "outline parallel loops with enough work into functions with independent steps",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Func, Dialect::Scf],
    run: |root, _, rewriter| {
        let module = ir::first_block(root).ok_or("a module without a body")?;
        let mut sharing = Sharing {
            context: rewriter.context(),
            module,
            names: ir::symbols(root),
            known: Distinct::default(),
        };
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

/// Minimum work of a step, in scalar operations: passing less work to another thread takes longer than computing it.
const STEP_WORK: i64 = 1 << 16;

/// Maximum number of steps: enough to balance the threads.
const MAX_STEPS: i64 = 256;

/// Minimum extent of a dimension to divide into steps; if it is shorter, an inner dimension may be better.
const MIN_EXTENT: i64 = 16;

/// Assumed number of iterations of an inner loop with dynamic bounds.
const DYNAMIC_ITERATIONS: i64 = 8;

/// The functions that the pass adds to a module; equal functions are merged.
struct Sharing<'c, 'a> {
    context: &'c Context,
    module: BlockRef<'c, 'a>,
    names: HashSet<String>,
    known: Distinct<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Sharing<'c, 'a> {
    /// Outlines the outermost parallel loops of a block and its nested blocks.
    fn share(&mut self, block: BlockRef<'c, 'a>, function: OperationRef<'c, 'a>) -> Result<(), PassError> {
        for op in ir::operations(block) {
            match Loops::read(op) {
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

    /// Returns an unused name.
    fn fresh(&self) -> String {
        let taken = |number: &usize| self.names.contains(&format!("loop_{number}"));
        let number = (0..=self.names.len()).find(|number| !taken(number)).unwrap_or(self.names.len());
        format!("loop_{number}")
    }

    /// Erases `function` if there is an equal function, and returns the name of the equal function; otherwise returns `name`.
    fn merged(&mut self, function: OperationRef<'c, 'a>, name: String) -> String {
        self.names.insert(name.clone());
        self.known.merged(function, name)
    }
}

/// The loops of an `scf.parallel`.
struct Loops<'c, 'a> {
    op: OperationRef<'c, 'a>,
    bounds: Vec<Bounds<'c, 'a>>,
    /// The upper bounds; `None` for dynamic upper bounds.
    extents: Vec<Option<i64>>,
}

/// The division of a loop into steps.
struct Split {
    dimension: usize,
    /// The number of steps; `None` if it is dynamic.
    steps: Option<i64>,
    /// The number of scalar operations of an iteration of all dimensions.
    work: i64,
}

impl<'c: 'a, 'a> Loops<'c, 'a> {
    fn read(op: OperationRef<'c, 'a>) -> Option<Self> {
        if ir::name(op) != ops::scf::PARALLEL {
            return None;
        }
        let bounds = Bounds::all(op);
        let extents = bounds.iter().map(|bounds| ir::integer(bounds.upper)).collect();
        Some(Loops { op, bounds, extents })
    }

    /// Whether the pass supports the form of the loops.
    fn is_plain(&self) -> bool {
        let has_no_results = self.op.result_count() == 0 && !self.bounds.is_empty();
        has_no_results && self.bounds.iter().all(Bounds::are_numbers)
    }

    /// Selects the division; `None` if the loop is not outlined, because it has too little work, or captures values that cannot
    /// be arguments.
    fn split(&self) -> Option<Split> {
        if !self.is_plain() || !captured(self.op).into_iter().all(is_available) {
            return None;
        }
        let counted = || ir::blocks(self.op).into_iter().map(work).fold(0, i64::saturating_add);
        let work = typed::integer(self.op, WORK).unwrap_or_else(counted).max(1);
        let enough = |extent: &Option<i64>| extent.is_some_and(|e| e >= MIN_EXTENT);
        let dimension = (0..self.extents.len())
            .find(|d| self.extents.get(*d).is_some_and(enough))
            .or_else(|| self.extents.iter().position(Option::is_none))
            .or_else(|| (0..self.extents.len()).rev().max_by_key(|d| self.extents.get(*d)))?;
        let volume = self.extents.iter().try_fold(1_i64, |all, extent| Some(all.saturating_mul((*extent)?)));
        let steps = match (volume, self.extents.get(dimension)) {
            (Some(volume), Some(Some(extent))) => {
                let steps = volume.saturating_mul(work) / STEP_WORK;
                Some(steps.min(MAX_STEPS).min(*extent))
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
            Some(steps) => before.idx(steps),
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
            let scaled = at.muli(step, bound);
            at.value(ops::arith::DIVUI, &[scaled, total], &[], index)
        };
        mutation::set_operand(self.op, split.dimension, start(from)?);
        mutation::set_operand(self.op, rank + split.dimension, start(to)?);
        outlined.finish(&[], caller)?;
        hoist_stack(self.op, outlined.function());
        ir::set_attribute(outlined.function(), STEPS, attributes::unit(context));
        let name = sharing.merged(outlined.function(), name);

        let call = Builder::before(context, next)?;
        let zero = call.idx(0);
        let operands = [outlined.captured(), &[zero, steps]].concat();
        let callee = FlatSymbolRefAttribute::new(context, &name).into();
        let none = Vec::new();
        call.create(ops::func::CALL, &operands, &[("callee", callee)], &[], none)?;
        Ok(())
    }

    /// Computes the number of steps at run time: at least 1, at most the extent of the divided dimension.
    fn steps(&self, split: &Split, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let mut work = at.idx(split.work);
        for bound in &self.bounds {
            work = at.muli(work, bound.upper);
        }
        let steps = at.divui(work, at.idx(STEP_WORK));
        let steps = at.minui(steps, at.idx(MAX_STEPS));
        let bound = self.bounds.get(split.dimension).copied();
        let steps = match bound {
            Some(bound) => at.minui(steps, bound.upper),
            None => steps,
        };
        Ok(at.maxui(steps, at.idx(1)))
    }
}

/// Moves stack allocations in a loop to the beginning of the function, so that all iterations share them.
fn hoist_stack<'c: 'a, 'a>(op: OperationRef<'c, 'a>, function: OperationRef<'c, 'a>) {
    let first = ir::first_block(function).and_then(|block| ir::operations(block).first().copied());
    for array in ir::walk::named(op, ops::memref::ALLOCA) {
        if let Some(first) = first.filter(|_| array.operand_count() == 0) {
            ir::move_before(array, first);
        }
    }
}

/// The alignment of array arguments in bytes.
const ALIGNMENT: i64 = 64;

/// Returns the byte views that a loop accesses, except those that overlap another view. LLVM vectorizes a loop over arguments
/// that do not alias.
fn disjoint_views<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Vec<View<'c, 'a>> {
    let (mut views, mut others): (Vec<View>, Vec<Value>) = (Vec::new(), Vec::new());
    for array in captured(op) {
        match View::read(array) {
            Some(view) if views.iter().any(|known| known.array == view.array) => {}
            Some(view) => views.push(view),
            None => others.push(array),
        }
    }
    let roots: Vec<Value> = others.into_iter().map(ir::memref::root).collect();
    // The result of a loop or branch may be in any buffer.
    let may_be_any = |root: &Value<'c, 'a>| ir::defining_op(*root).is_some_and(|op| op.region_count() > 0);
    if roots.iter().any(may_be_any) {
        return Vec::new();
    }
    let disjoint = views.iter().filter(|view| {
        let mut others = views.iter().filter(|other| other.array != view.array);
        // Accesses of the buffer without a view may overlap any view.
        let has_only_views = !roots.iter().any(|root| view.is_of(*root));
        has_only_views && view.first % ALIGNMENT == 0 && others.all(|other| !view.overlaps(other))
    });
    disjoint.cloned().collect()
}

/// A view of a byte buffer at a constant offset. Dynamic extents count as their upper bounds.
#[derive(Clone)]
struct View<'c, 'a> {
    array: Value<'c, 'a>,
    buffer: Value<'c, 'a>,
    first: i64,
    end: i64,
    has_static_extents: bool,
}

impl<'c: 'a, 'a> View<'c, 'a> {
    /// Returns the byte view that an array is, or is a part of.
    fn read(array: Value<'c, 'a>) -> Option<Self> {
        let mut array = array;
        let view = loop {
            let op = ir::defining_op(array)?;
            match ByteView::cast(op) {
                Some(view) => break view,
                None if ir::memref::is_view(op) => array = ir::operand(op).ok()?,
                None => return None,
            }
        };
        let memref = MemRefType::try_from(array.r#type()).ok()?;
        let first = ir::integer(view.offset().ok()?)?;
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

    /// Views the byte range as an array with static extents.
    fn bytes(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let kind = types::memref(&[self.end - self.first], types::int(at.context, 8));
        at.value(ops::memref::VIEW, &[self.buffer, at.idx(self.first)], &[], kind)
    }

    fn is_of(&self, buffer: Value<'c, 'a>) -> bool {
        self.buffer == buffer
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.is_of(other.buffer) && self.first < other.end && other.first < self.end
    }
}

/// The number of scalar operations of one execution of a block.
fn work(block: BlockRef) -> i64 {
    ir::operations(block).into_iter().map(work_of).fold(0, i64::saturating_add)
}

fn work_of(op: OperationRef) -> i64 {
    if let Some(known) = typed::integer(op, WORK) {
        return known.saturating_mul(iterations(op));
    }
    let inner = ir::blocks(op).into_iter().map(work).fold(0, i64::saturating_add);
    match ir::name(op).as_str() {
        ops::scf::FOR | ops::scf::PARALLEL => inner.saturating_mul(iterations(op)),
        _ => inner.saturating_add(ir::work::of_scalars(op)),
    }
}

/// The maximum of an index: a constant, or the constant operand of a minimum, such as the end of a loop over a tile.
fn maximum(value: Value) -> Option<i64> {
    let bound = || ir::defined_by(value, ops::arith::MINSI)?.operands().find_map(ir::integer);
    ir::integer(value).or_else(bound)
}

/// The number of iterations of a nested loop.
fn iterations(op: OperationRef) -> i64 {
    let count = |bounds: &Bounds| {
        let [from, step] = [bounds.lower, bounds.step].map(ir::integer);
        Some(maximum(bounds.upper)?.saturating_sub(from?).max(0) / step?.max(1))
    };
    let counts = Bounds::all(op).into_iter().map(|bounds| count(&bounds).unwrap_or(DYNAMIC_ITERATIONS));
    counts.fold(1, i64::saturating_mul)
}
