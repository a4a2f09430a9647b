// SPDX-License-Identifier: Apache-2.0
//! `skript-vectorize-reductions`: replaces reductions over buffers by calls of register-tiled vector kernels.
//!
//! A `linalg.generic` with a reduction is read as a loop nest with linear addresses. The plan selects the loop along
//! the vector lanes and the unrolled loops around it, only from extents and strides. Equal nests share one kernel; a
//! kernel with more than eight callers is not inlined. Reductions without a gain, and those whose output may alias an
//! input, are not changed.
//!
//! Extents may be dynamic, and so may the strides of contiguous arrays, which are multiples of extents; the extents become
//! arguments of the kernel. A packed operand has at most one dynamic extent.

use super::body::{Body, Operand};
use super::caller::{branch_before, covered, offset, passed_as};
use super::choices::{self, Choices};
use super::dot::Dot;
use super::elementwise::Merged;
use super::kernel::kernel;
use super::nest::Address;
use super::outside::{Outside, Unknown};
use super::packing::Packing;
use super::plan::Plan;
use super::reading::{Reduction, Sizes, read_apart};
use super::signature::Signature;
use super::target::{Target, joined};
use super::tiling::Steps;
use crate::ir::attribute_names::PLAN;
use crate::ir::effects::Effects;
use crate::ir::func::{self, Distinct, call_before};
use crate::ir::memref::root_of;
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, attributes, erase, linalg, location, ops, types};
use crate::prepare::constants::Constants;
use melior::Error;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationMutLike, OperationRef};
use melior::ir::{BlockRef, Location, Operation, Value};
use skript_dialect::{Dialect, Pass, PassError, PassOption, op};
use std::collections::{HashMap, HashSet};
use std::str::FromStr;

/// The pass `skript-vectorize-reductions`; see [`vectorize`].
pub const PASS: Pass = Pass {
    flag: "skript-vectorize-reductions",
    summary: "replace reductions over buffers by calls of register-tiled vector kernels",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[
        Dialect::Arith,
        Dialect::Func,
        Dialect::MemRef,
        Dialect::Scf,
        Dialect::Ub,
        Dialect::Vector,
    ],
    options: &OPTIONS,
    run: |root, options, _| {
        let target = Target::from_options(options)?;
        let choices = Choices::from_str(options.text(Choices::OPTION.name))
            .map_err(|e| PassError::from(format!("option {}: {e}", Choices::OPTION.name)))?;
        vectorize(root, target, &choices)?;
        Ok(())
    },
};

const OPTIONS: [PassOption; 14] = joined(Target::OPTIONS, [Choices::OPTION]);

/// Vectorizes every reducing `linalg.generic` on arrays that can be computed by a register tile; returns their number.
///
/// # Errors
/// An operation could not be built.
pub fn vectorize(module: OperationRef<'_, '_>, target: Target, choices: &Choices) -> Result<usize, Error> {
    let reduces = |op: &OperationRef| {
        let generic = linalg::Generic::cast(*op);
        generic.is_some_and(|generic| generic.reduces())
    };
    // Elementwise operations may be merged into a kernel.
    let mut reductions = named(module, ops::linalg::GENERIC);
    reductions.retain(reduces);
    let mut effects = Effects::new(func::functions(module));
    let mut functions = Functions::new(module);
    let constants = Prepared::new(module);
    let mut copies = HashMap::new();
    let mut count = 0;
    for op in reductions {
        let Some(mut kernel) = Kernel::new(op, target, choices, &constants, &mut effects) else {
            continue;
        };
        let location = kernel.location(op);
        kernel.pack(op, &constants, &mut copies, &mut functions, &mut effects)?;
        let output = kernel.output;
        let last = kernel.last;
        kernel.pass_extents(last);
        let mut call = |function, anchor| {
            let name = functions.add("kernel", function);
            effects.declare(&name, [output]);
            call_before(anchor, &name, &kernel.arguments, location)
        };
        let mut anchor = last;
        let mut others = Vec::new();
        for (condition, other) in kernel.alternatives {
            let [then, otherwise] = branch_before(anchor, condition, location);
            others.push((other, otherwise));
            anchor = then;
        }
        call(kernel.function, anchor)?;
        for (other, anchor) in others {
            call(other, anchor)?;
        }
        kernel.others.iter().copied().for_each(erase);
        erase(last);
        count += 1;
    }
    functions.append(module);
    Ok(count)
}

/// The buffers that are computed once, before the first call of the entry.
pub(super) struct Prepared<'c, 'a> {
    /// The entry's block; `None` in a module without an entry.
    block: Option<BlockRef<'c, 'a>>,
    constants: Constants<'c, 'a>,
    /// The buffers that parallel loops write.
    written: HashSet<ValueKey>,
}

impl<'c: 'a, 'a> Prepared<'c, 'a> {
    pub(super) fn new(module: OperationRef<'c, 'a>) -> Self {
        let entry = ir::entry(module).ok();
        let constants = entry.map(|entry| Constants::new(entry, module));
        let mut effects = Effects::new(func::functions(module));
        let loops = named(module, ops::scf::PARALLEL).into_iter();
        let written = loops.flat_map(|own| effects.written(own));
        Prepared {
            block: entry.and_then(|entry| ir::body(entry).ok()),
            constants: constants.unwrap_or_default(),
            written: written.map(root_of).collect(),
        }
    }

    /// The operation in the entry's block that contains `op`, if a prepared buffer may be copied before it.
    pub(super) fn anchor(
        &self,
        array: Value<'c, 'a>,
        op: OperationRef<'c, 'a>,
    ) -> Option<OperationRef<'c, 'a>> {
        let block = self.block.filter(|_| self.constants.is_constant(array))?;
        let is_outside = match ir::definition(array) {
            Some((maker, _)) => maker.block() == Some(block),
            None => true,
        };
        ir::ancestor_in(block, op).filter(|_| is_outside)
    }
}

/// Copies of invariant arrays, by the function that computes them and the array: kernels share them.
type Copies<'c, 'a> = HashMap<(String, ValueKey), Value<'c, 'a>>;

/// The functions that the pass adds; equal functions are merged.
#[derive(Default)]
pub(super) struct Functions<'c> {
    /// Names of the module and of added functions.
    taken: HashSet<String>,
    /// Positions in `added`.
    known: Distinct<usize>,
    added: Vec<Added<'c>>,
}

struct Added<'c> {
    name: String,
    function: Operation<'c>,
    calls: usize,
}

impl<'c> Functions<'c> {
    /// An empty list; the names of the module are taken.
    pub(super) fn new(module: OperationRef) -> Self {
        Functions { taken: ir::symbols(module), ..Functions::default() }
    }

    /// Adds a function unless an equal one exists, and counts a call. Returns its name.
    pub(super) fn add(&mut self, prefix: &str, function: Operation<'c>) -> String {
        let next = self.added.len();
        let is_equal = |position: &usize| op::are_equal_functions(&self.added[*position].function, &function);
        let position = self.known.find_or_add(&function, next, is_equal).unwrap_or(next);
        if position == next {
            let mut names = (0_usize..).map(|number| format!("{prefix}_{number}"));
            let name = names.find(|name| !self.taken.contains(name));
            let name = name.unwrap_or_else(|| unreachable!("internal compiler error: no name is left"));
            self.taken.insert(name.clone());
            self.added.push(Added { name, function, calls: 0 });
        }
        let added = &mut self.added[position];
        added.calls += 1;
        added.name.clone()
    }

    /// Counts another call of an added function.
    pub(super) fn count(&mut self, name: &str) {
        let added = self.added.iter_mut().find(|added| added.name == name);
        added.unwrap_or_else(|| unreachable!("internal compiler error: no function {name}")).calls += 1;
    }

    /// Appends all functions to the module; LLVM does not inline those with many calls.
    pub(super) fn append(self, module: OperationRef<'c, '_>) {
        let context = ir::context::of(module);
        let block = ir::first_block(module);
        let block = block.unwrap_or_else(|| unreachable!("internal compiler error: a module without a body"));
        for Added { name, mut function, calls } in self.added {
            function.set_attribute("sym_name", attributes::string(context, &name));
            if calls > MAX_COPIES && !function.has_attribute(PASSTHROUGH) {
                function.set_attribute(PASSTHROUGH, attributes::strings(context, &["noinline"]));
            }
            block.append_operation(function);
        }
    }
}

/// The attribute of a function with attributes for LLVM.
const PASSTHROUGH: &str = "passthrough";

/// Attributes of cold functions: not inlined, optimized for size.
const SELDOM: &[&str] = &["noinline", "cold", "optsize"];

/// Maximum number of callers of a kernel that LLVM may inline. A kernel with more callers is not inlined.
const MAX_COPIES: usize = 8;

/// The kernel of one reduction.
struct Kernel<'c, 'a> {
    function: Operation<'c>,
    /// Conditions in order, each with the kernel to call if it is the first false one.
    alternatives: Vec<(Value<'c, 'a>, Operation<'c>)>,
    /// The arrays, then captured scalars.
    arguments: Vec<Value<'c, 'a>>,
    /// The position of the array that the kernel writes.
    output: usize,
    /// The steps, if any: their range is passed as two more arguments.
    steps: Option<Steps>,
    /// The dynamic loops: their numbers, and the values and dimensions that define their extents.
    dynamic: Vec<(usize, Value<'c, 'a>, usize)>,
    /// The extents of arrays that are factors of strides.
    sizes: Sizes<'c, 'a>,
    /// The operation that the call replaces.
    last: OperationRef<'c, 'a>,
    /// Other operations that the kernel replaces.
    others: Vec<OperationRef<'c, 'a>>,
    /// The operand that is packed first, and the packing function.
    packing: Option<(Packing<'c>, Operation<'c>)>,
    /// The packed operand in a parallel loop, if it is packed before that loop.
    outside: Option<Outside<'c, 'a>>,
    /// Dynamic extents that are available before that loop, by loop of the kernel.
    extents: HashMap<usize, Value<'c, 'a>>,
    /// Dynamic offsets that are arguments, by array.
    offsets: HashMap<usize, Value<'c, 'a>>,
    signature: Signature<'c>,
}

/// A reduction with the operations that are merged into it, before it is planned.
struct Unplanned<'c, 'a> {
    op: OperationRef<'c, 'a>,
    reduction: Reduction<'c, 'a>,
    last: OperationRef<'c, 'a>,
    others: Vec<OperationRef<'c, 'a>>,
    /// A condition under which the predicate holds at all points, and the body for the other case.
    guarded: Option<(Value<'c, 'a>, Body<'c>)>,
    /// A condition under which the product may be approximated, and that product.
    approximated: Option<(Value<'c, 'a>, Operand)>,
    /// The arrays whose contents change inside a parallel loop.
    written: Vec<usize>,
}

impl<'c: 'a, 'a> Unplanned<'c, 'a> {
    fn new(
        op: OperationRef<'c, 'a>,
        merged: Merged<'c, 'a>,
        target: Target,
        constants: &Prepared<'c, 'a>,
    ) -> Option<Self> {
        let Merged { mut reduction, last, others } = merged;
        reduction.nest.keeps_order =
            target.keep_order && reduction.body.combine.rounds(reduction.body.accumulator);
        reduction.nest.simplify(&reduction.body.used_dimensions());
        let approximated = match reduction.body.split() {
            Some((condition, product)) => Some((*reduction.captured.get(condition)?, product)),
            None => None,
        };
        let mut guarded = None;
        if let Some((open, body, condition)) = reduction.body.cases() {
            reduction.body = open;
            reduction.skip_points();
            guarded = Some((*reduction.captured.get(condition)?, body));
        }
        let inputs = || reduction.arrays.iter().take(reduction.nest.output);
        reduction.nest.constants = inputs()
            .enumerate()
            .filter(|(_, input)| constants.anchor(**input, op).is_some())
            .map(|(n, _)| n)
            .collect();
        reduction.nest.tested = reduction.body.tested_inputs();
        let lanes = target.vector_bits / 32;
        reduction.nest.dot = Dot::from_body(&reduction.body, target, lanes);
        let repeats = inputs().enumerate().filter_map(|(n, input)| {
            match Outside::new(op, *input) {
                Ok(outside) => Some((n, outside?.repeats())),
                // It cannot be copied before the loop.
                Err(Unknown) => Some((n, 0)),
            }
        });
        reduction.nest.repeats = repeats.collect();
        let is_written = |n: &usize| constants.written.contains(&root_of(reduction.arrays[*n]));
        let written = (0..reduction.arrays.len()).filter(is_written).collect();
        Some(Unplanned { written, op, reduction, last, others, guarded, approximated })
    }

    /// The kernel with the plan that the cost model or `choices` selects.
    fn planned(&self, target: Target, choices: &Choices) -> Option<Kernel<'c, 'a>> {
        let bits = self.reduction.signature.elements.iter().map(|element| types::width(*element));
        let bits = bits.chain([types::width(self.reduction.body.accumulator)]).max()?;
        let vectors = target.vectors(bits);
        let used_dimensions = self.reduction.body.used_dimensions();
        let mut nest = self.reduction.nest.clone();
        nest.dot = nest.dot.filter(|_| bits == 32);
        let nest = &nest;
        if choices.is_empty() {
            return self.with(Plan::new(nest, vectors, &used_dimensions)?);
        }
        let candidates = Plan::candidates(nest, vectors, &used_dimensions);
        let mut kernels: Vec<(Plan, Kernel)> = Vec::new();
        for plan in candidates {
            match self.with(plan.clone()) {
                Some(kernel) => kernels.push((plan, kernel)),
                None if kernels.is_empty() => return None,
                None => {}
            }
        }
        let (count, (_, first)) = (kernels.len(), kernels.first()?);
        let key = choices::key(&first.function.to_string());
        let chosen = choices.number(&key);
        let number = if chosen < count { chosen } else { 0 };
        let (plan, mut kernel) = kernels.swap_remove(number);
        let choice = choices::choice(&key, number, count, &plan);
        let choice = attributes::strings(ir::context::of(self.op), &choice.each_ref().map(String::as_str));
        kernel.function.set_attribute(PLAN, choice);
        Some(kernel)
    }

    /// The kernel with a given plan.
    fn with(&self, mut plan: Plan) -> Option<Kernel<'c, 'a>> {
        let mut reduction = self.reduction.clone();
        // Unless the lanes are along rows of the output, the initial value is combined last.
        let stride = |own: &Address| own.strides.get(plan.lanes_loop).copied();
        let is_apart = || reduction.nest.output().and_then(stride) != Some(1);
        if reduction.nest.keeps_order && is_apart() && !reduction.body.starts_with_identity() {
            return None;
        }
        // The output can store partial sums if it has their type and if its content is not needed at the end.
        let output = reduction.nest.output;
        let (element, body) = (reduction.signature.elements.get(output)?, &reduction.body);
        let holds_sums = *element == body.accumulator && !body.finish_reads(output);
        plan.chunk = plan.chunk.filter(|_| holds_sums);
        let mut packing = Packing::new(&reduction.nest, &plan, &reduction.signature);
        let packed = packing.as_ref().and_then(|p| reduction.arrays.get(p.operand));
        let outside = match packed {
            Some(array) => Outside::new(self.op, *array).ok()?,
            None => None,
        };
        let is_written = packing.as_ref().is_some_and(|p| self.written.contains(&p.operand));
        if outside.is_some() && is_written {
            return None;
        }
        if outside.as_ref().is_some_and(|outside| !outside.is_one()) {
            packing = Some(packing?.into_part());
        }
        let packing = packing.map(|packing| {
            let function = packing.function(&reduction.signature, self.op.location());
            packing.apply(&mut reduction.nest, &mut reduction.signature);
            (packing, function)
        });
        // The stride along the lanes must be static.
        let is_known = |own: &Address| own.extents.get(plan.lanes_loop).is_none_or(Vec::is_empty);
        if !reduction.nest.operands.iter().all(is_known) {
            return None;
        }
        let operands: Vec<Value> = self.op.operands().collect();
        let dynamic = reduction.nest.loops.iter().enumerate().filter_map(|(l, own)| {
            let (operand, dimension) = own.source?;
            Some((l, *operands.get(operand)?, dimension))
        });
        let dynamic: Vec<_> = dynamic.collect();
        // The size of a copy before the loop must be known there.
        let copied = packing.as_ref().map_or(&[][..], |(p, _)| p.arguments());
        let mut extents = HashMap::new();
        for (l, value, dimension) in dynamic.iter().filter(|(l, ..)| copied.contains(l)) {
            if let Some(outside) = &outside {
                extents.insert(*l, outside.extent(*value, *dimension)?);
            }
        }
        let function = |plan: &Plan, body: &Body<'c>| {
            kernel(&reduction.nest, plan, body, &reduction.signature, self.op.location())
        };
        let mut body = reduction.body.clone();
        let context = ir::context::of(self.op);
        let guarded = self.guarded.iter().map(|(condition, body)| {
            let mut function = function(&plan.guarded(), body);
            function.set_attribute(PASSTHROUGH, attributes::strings(context, SELDOM));
            (*condition, function)
        });
        let mut alternatives: Vec<(Value, Operation)> = guarded.collect();
        if let Some((condition, product)) = &self.approximated
            && plan.group.is_some()
            && body.starts_with_identity()
        {
            alternatives.push((*condition, function(&plan, &body)));
            body.value = product.clone();
        }
        Some(Kernel {
            function: function(&plan, &body),
            alternatives,
            steps: plan.steps(&reduction.nest),
            dynamic,
            arguments: reduction.arguments(),
            sizes: reduction.sizes,
            output,
            last: self.last,
            others: self.others.clone(),
            packing,
            outside,
            extents,
            offsets: HashMap::new(),
            signature: reduction.signature,
        })
    }
}

impl<'c: 'a, 'a> Kernel<'c, 'a> {
    /// `None` for a reduction without a gain.
    fn new(
        op: OperationRef<'c, 'a>,
        target: Target,
        choices: &Choices,
        constants: &Prepared<'c, 'a>,
        effects: &mut Effects<'c, 'a>,
    ) -> Option<Self> {
        let reduction = read_apart(op)?;
        let bare = Merged { reduction: reduction.clone(), last: op, others: Vec::new() };
        let merged = Merged::around(op, reduction, effects);
        let planned = |merged| {
            let unplanned = Unplanned::new(op, merged, target, constants)?;
            unplanned.planned(target, choices)
        };
        planned(merged).or_else(|| planned(bare))
    }

    /// The fused location of the operations that the kernel computes.
    fn location(&self, op: OperationRef<'c, 'a>) -> Location<'c> {
        let others = self.others.iter().map(|op| op.location());
        let all: Vec<Location> =
            [op.location()].into_iter().chain(others).chain([self.last.location()]).collect();
        let packing = self.packing.as_ref();
        let remark = packing.map(|(packing, _)| packing.remark());
        location::fused(ir::context::of(op), &all, remark.as_deref())
    }

    /// Emits the packing of the operand before the kernel.
    fn pack(
        &mut self,
        op: OperationRef<'c, 'a>,
        constants: &Prepared<'c, 'a>,
        copies: &mut Copies<'c, 'a>,
        functions: &mut Functions<'c>,
        effects: &mut Effects<'c, 'a>,
    ) -> Result<(), Error> {
        let Some((packing, function)) = self.packing.take() else {
            return Ok(());
        };
        let name = functions.add("pack", function);
        // The arguments are the source and the copy.
        effects.declare(&name, [1]);
        let operand = self.arguments[packing.operand];
        // Invariant arrays are packed before all loops.
        let anchor = match packing.arguments() {
            [] => constants.anchor(operand, op),
            _ => None,
        };
        let key = anchor.map(|_| (name.clone(), ValueKey::of(operand)));
        if let Some(copy) = key.as_ref().and_then(|key| copies.get(key)) {
            self.arguments[packing.operand] = *copy;
            return Ok(());
        }
        let before = self.outside.as_ref().map(Outside::around);
        let anchor = anchor.or(before).unwrap_or(self.last);
        let at = Builder::at(anchor);
        let extents = packing.arguments().iter().map(|l| match self.extents.get(l) {
            Some(extent) => (*l, *extent),
            None => (*l, self.dynamic_extent(*l, &at)),
        });
        let extents: Vec<(usize, Value)> = extents.collect();
        let extent = |l: usize| extent_of(&extents, l);
        let size = match packing.parts() {
            Some((l, iterations, elements)) => covered(&at, extent(l), iterations, elements),
            None => at.idx(packing.size().unwrap_or_default()),
        };
        let steps = match packing.parts() {
            Some((l, iterations, _)) if packing.has_dynamic_steps() => {
                at.ceildivui(extent(l), at.idx(iterations))
            }
            _ => at.idx(packing.steps()),
        };
        let copy_type = packing.copy_type(&self.signature);
        let fill = |anchor, source, copy, part: Option<Value<'c, 'a>>| {
            let at = Builder::at(anchor);
            let mut arguments =
                vec![passed_as(&at, source, packing.source_type), passed_as(&at, copy, copy_type)];
            if packing.places_source() {
                arguments.push(offset(&at, source));
            }
            arguments.extend(part);
            arguments.extend(extents.iter().map(|(_, extent)| *extent));
            arguments.extend([at.idx(0), steps]);
            at.call(&name, &arguments);
        };
        self.arguments[packing.operand] =
            if let Some(outside) = self.outside.as_ref().filter(|outside| !outside.is_one()) {
                let element = self.signature.elements[packing.operand];
                let fill = |anchor, source, [copies, part]: [Value<'c, 'a>; 2]| {
                    fill(anchor, source, copies, Some(part));
                };
                let [copies, part] = outside.parts(self.last, size, element, fill)?;
                self.offsets.insert(packing.operand, part);
                copies
            } else {
                let open = packing.parts().map(|_| size);
                let copy = at.alloc(packing.r#type(&self.signature), open.as_slice());
                fill(anchor, operand, copy, None);
                copies.extend(key.map(|key| (key, copy)));
                copy
            };
        Ok(())
    }

    /// The dynamic extent of a loop.
    fn dynamic_extent(&self, l: usize, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        let source = self.dynamic.iter().find(|(number, ..)| *number == l);
        let (_, value, dimension) =
            *source.unwrap_or_else(|| unreachable!("internal compiler error: a loop without its extent"));
        at.dim(value, dimension)
    }

    /// Adds the arguments for extents, and passes arrays with dynamic extents by pointer.
    fn pass_extents(&mut self, op: OperationRef<'c, 'a>) {
        let at = Builder::at(op);
        let offsets = self.signature.placed().map(|position| {
            let known = self.offsets.get(&position).copied();
            known.unwrap_or_else(|| offset(&at, self.arguments[position]))
        });
        let offsets: Vec<Value> = offsets.collect();
        self.arguments.extend(offsets);
        for (argument, kind) in self.arguments.iter_mut().zip(&self.signature.arrays) {
            *argument = passed_as(&at, *argument, *kind);
        }
        let extents = self.dynamic.iter().map(|(l, value, dimension)| (*l, at.dim(*value, *dimension)));
        let extents: Vec<(usize, Value)> = extents.collect();
        self.arguments.extend(extents.iter().map(|(_, extent)| *extent));
        self.arguments.extend(self.sizes.iter().map(|(value, dimension)| at.dim(*value, *dimension)));
        let steps = match self.steps {
            None => return,
            Some(Steps::Static(steps)) => at.idx(steps),
            Some(Steps::Dynamic { loop_number, factor }) => {
                at.ceildivui(extent_of(&extents, loop_number), at.idx(factor))
            }
        };
        self.arguments.extend([at.idx(0), steps]);
    }
}

/// The extent of a loop, by its number.
fn extent_of<'c, 'a>(extents: &[(usize, Value<'c, 'a>)], l: usize) -> Value<'c, 'a> {
    let extent = extents.iter().find(|(number, _)| *number == l);
    extent.unwrap_or_else(|| unreachable!("internal compiler error: a loop without its extent")).1
}
