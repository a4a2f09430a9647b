// SPDX-License-Identifier: Apache-2.0
//! `skript-vectorize-reductions`: replaces reductions over buffers by calls of register-tiled vector kernels.
//!
//! A `linalg.generic` with a reduction is read as a loop nest with linear addresses. The plan selects the loop along
//! the vector lanes and the loops that are unrolled around it, from extents and strides alone. Equal nests share one
//! kernel; a kernel with more than eight callers is not inlined. Reductions that gain nothing, and those whose output
//! may alias an input, stay.
//!
//! Extents may be dynamic, and so may the strides of contiguous arrays, which are multiples of extents; the extents become
//! arguments of the kernel. A packed operand has at most one dynamic extent.

use super::body::{Body, Operand};
use super::caller::{
    array_before, branch_before, covered_before, extent_before, index_before, offset_before, static_before,
    tiles_before,
};
use super::choices::{self, Choices};
use super::dot::Dot;
use super::elementwise::Merged;
use super::kernel::kernel;
use super::nest::Address;
use super::outside::{Outside, Unknown};
use super::packing::Packing;
use super::plan::Plan;
use super::reading::{Reduction, read};
use super::signature::Signature;
use super::target::{Target, joined};
use super::tiling::Steps;
use crate::ir::effects::Effects;
use crate::ir::func::{self, call_before};
use crate::ir::memref::{may_overlap, root_of};
use crate::ir::walk::named;
use crate::ir::{self, ValueKey, append_functions, erase, linalg, location, ops};
use crate::prepare::constants::Constants;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{BlockRef, Location, Value};
use skript_dialect::{Dialect, Pass, PassError, PassOption};
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
        let target = Target::of(options)?;
        let choices = Choices::from_str(options.text(Choices::OPTION.name))
            .map_err(|e| PassError::from(format!("option {}: {e}", Choices::OPTION.name)))?;
        vectorize(root, target, &choices).map_err(PassError::from)?;
        Ok(())
    },
};

const OPTIONS: [PassOption; 14] = joined(Target::OPTIONS, [Choices::OPTION]);

/// Vectorizes every `linalg.generic` on arrays that reduces and that a register tile can compute; returns their
/// number.
///
/// # Errors
/// The text of a kernel that MLIR does not parse: a defect of this pass.
pub fn vectorize(module: OperationRef<'_, '_>, target: Target, choices: &Choices) -> Result<usize, String> {
    let reduces = |op: &OperationRef| {
        let generic = linalg::Generic::cast(*op);
        generic.is_some_and(|generic| generic.reductions().contains(&true))
    };
    // Elementwise operations may become part of a kernel.
    let found = named(module, ops::linalg::GENERIC).into_iter();
    let found: Vec<OperationRef> = found.filter(reduces).collect();
    let mut effects = Effects::new(func::functions(module));
    let mut functions = Functions::of(module);
    let constants = Prepared::of(module);
    let mut count = 0;
    for op in found {
        let Some(mut kernel) = Kernel::of(op, target, choices, &constants, &mut effects) else {
            continue;
        };
        kernel.pack(op, &constants, &mut functions, &mut effects)?;
        let output = kernel.output;
        let last = kernel.last;
        kernel.pass_extents(last)?;
        let location = kernel.location(op);
        let mut call = |text: &str, anchor| {
            let name = functions.name("kernel", text);
            effects.declare(&name, [output]);
            call_before(anchor, &name, &kernel.arguments, location).map_err(|e| e.to_string())
        };
        let mut anchor = last;
        let mut others = Vec::new();
        for (condition, other) in &kernel.alternatives {
            let [then, otherwise] = branch_before(anchor, *condition, location)?;
            others.push((other, otherwise));
            anchor = then;
        }
        call(&kernel.text, anchor)?;
        for (other, anchor) in others {
            call(other, anchor)?;
        }
        kernel.others.iter().copied().for_each(erase);
        erase(last);
        count += 1;
    }
    append_functions(module, &functions.text()).map_err(|e| e.to_string())?;
    Ok(count)
}

/// The buffers that are prepared once, before the first call of the entry.
pub(super) struct Prepared<'c, 'a> {
    /// The entry's block; `None` in a module without an entry.
    block: Option<BlockRef<'c, 'a>>,
    constants: Constants<'c, 'a>,
    /// The buffers that parallel loops write.
    written: HashSet<ValueKey>,
}

impl<'c: 'a, 'a> Prepared<'c, 'a> {
    pub(super) fn of(module: OperationRef<'c, 'a>) -> Self {
        let entry = ir::entry(module).ok();
        let constants = entry.map(|entry| Constants::of(entry, module));
        let mut effects = Effects::new(func::functions(module));
        let loops = named(module, ops::scf::PARALLEL).into_iter();
        let written = loops.flat_map(|own| effects.written(own));
        Prepared {
            block: entry.and_then(|entry| ir::body(entry).ok()),
            constants: constants.unwrap_or_default(),
            written: written.map(root_of).collect(),
        }
    }

    /// The operation of the entry's block that holds `op`, if what copies a prepared buffer may stand before it.
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

/// The functions that the pass adds; equal ones are one.
#[derive(Default)]
pub(super) struct Functions {
    /// Names of the module and of functions that are added.
    taken: HashSet<String>,
    /// By text, with `@KERNEL` for the name: position in `added`.
    known: HashMap<String, usize>,
    /// Name, text and number of calls.
    added: Vec<(String, String, usize)>,
}

impl Functions {
    /// None yet; names of the module are taken.
    pub(super) fn of(module: OperationRef) -> Self {
        Functions { taken: ir::symbols(module), ..Functions::default() }
    }

    /// The name of a function, for one more call.
    pub(super) fn name(&mut self, prefix: &str, text: &str) -> String {
        let next = self.added.len();
        let position = *self.known.entry(text.to_owned()).or_insert(next);
        if position == next {
            let numbers = 0..;
            let name = numbers
                .map(|number: usize| format!("{prefix}_{number}"))
                .find(|name| !self.taken.contains(name))
                .unwrap_or_default();
            self.taken.insert(name.clone());
            let text = text.replacen("@KERNEL(", &format!("@{name}("), 1);
            self.added.push((name, text, 0));
        }
        match self.added.get_mut(position) {
            Some((name, _, calls)) => {
                *calls += 1;
                name.clone()
            }
            None => String::new(),
        }
    }

    /// All functions; LLVM does not inline those with many calls.
    pub(super) fn text(&self) -> String {
        let mut all = String::new();
        for (_, text, calls) in &self.added {
            if *calls > MOST_COPIES && !text.contains(NOINLINE) {
                all.push_str(&with_attributes(text, NOINLINE))
            } else {
                all.push_str(text)
            }
        }
        all
    }
}

/// The bits of an element.
fn bits_of(element: &str) -> i64 {
    let bits = element.trim_start_matches(['b', 'f', 'i']).parse();
    bits.unwrap_or(64)
}

/// The text of a function with attributes for LLVM.
fn with_attributes(text: &str, attributes: &str) -> String {
    with_attribute(text, &format!("passthrough = [{attributes}]"))
}

/// The text of a function with one more attribute.
fn with_attribute(text: &str, attribute: &str) -> String {
    text.replacen("attributes {", &format!("attributes {{{attribute}, "), 1)
}

/// Of a function that is seldom called: LLVM does not inline it, and makes it small.
const SELDOM: &str = "\"noinline\", \"cold\", \"optsize\"";

/// Of a function: LLVM does not inline it.
pub(super) const NOINLINE: &str = "\"noinline\"";

/// Maximum number of callers of a kernel that LLVM may inline. A kernel with more stays one function.
const MOST_COPIES: usize = 8;

/// The kernel of one reduction; functions are named `@KERNEL`.
struct Kernel<'c, 'a> {
    text: String,
    /// Conditions in order, each with the kernel where it is the first one that is false.
    alternatives: Vec<(Value<'c, 'a>, String)>,
    /// The arrays, then captured scalars.
    arguments: Vec<Value<'c, 'a>>,
    /// The argument that the kernel writes.
    output: usize,
    /// The steps: two more arguments are their range.
    steps: Option<Steps>,
    /// The loops of dynamic extents: their numbers, and the values with the dimensions that have them.
    dynamic: Vec<(usize, Value<'c, 'a>, usize)>,
    /// The operation that the call replaces.
    last: OperationRef<'c, 'a>,
    /// Others that the kernel computes as well.
    others: Vec<OperationRef<'c, 'a>>,
    /// The operand that is copied before, and the function that does so.
    packing: Option<(Packing, String)>,
    /// That operand in a parallel loop, before which it is copied.
    outside: Option<Outside<'c, 'a>>,
    /// Dynamic extents that are known before that loop, by loop of the kernel.
    extents: HashMap<usize, Value<'c, 'a>>,
    /// Offsets that are arguments, by array; others are those of the array itself.
    offsets: HashMap<usize, Value<'c, 'a>>,
    signature: Signature,
}

/// A reduction with what is merged with it, before it has a plan.
struct Unplanned<'c, 'a> {
    op: OperationRef<'c, 'a>,
    reduction: Reduction<'c, 'a>,
    last: OperationRef<'c, 'a>,
    others: Vec<OperationRef<'c, 'a>>,
    /// A condition, and the body where it is false. Where it is true, the predicate holds at all points.
    guarded: Option<(Value<'c, 'a>, Body)>,
    /// A condition under which the product may be approximated, and that product.
    approximated: Option<(Value<'c, 'a>, Operand)>,
    /// The arrays that parallel loops write: before such a loop, their elements are others.
    written: Vec<usize>,
}

impl<'c: 'a, 'a> Unplanned<'c, 'a> {
    fn of(
        op: OperationRef<'c, 'a>,
        merged: Merged<'c, 'a>,
        target: Target,
        constants: &Prepared<'c, 'a>,
    ) -> Option<Self> {
        let Merged { mut reduction, last, others } = merged;
        reduction.nest.keeps_order =
            target.keep_order && reduction.body.combine.rounds(&reduction.body.accumulator);
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
        reduction.nest.dot = Dot::of(&reduction.body, target, lanes);
        let repeats = inputs().enumerate().filter_map(|(n, input)| {
            match Outside::of(op, *input) {
                Ok(outside) => Some((n, outside?.repeats())),
                // It cannot be copied before the loop.
                Err(Unknown) => Some((n, 0)),
            }
        });
        reduction.nest.repeats = repeats.collect();
        let written = reduction
            .arrays
            .iter()
            .enumerate()
            .filter(|(_, array)| constants.written.contains(&root_of(**array)));
        let written = written.map(|(n, _)| n).collect();
        Some(Unplanned { written, op, reduction, last, others, guarded, approximated })
    }

    /// The kernel with the plan that the cost model selects, or with a chosen one.
    fn planned(&self, target: Target, choices: &Choices) -> Option<Kernel<'c, 'a>> {
        let bits = self.reduction.signature.elements.iter().map(|element| bits_of(element));
        let bits = bits.chain([bits_of(&self.reduction.body.accumulator)]).max()?;
        let vectors = target.vectors(bits);
        let used_dimensions = self.reduction.body.used_dimensions();
        let mut nest = self.reduction.nest.clone();
        nest.dot = nest.dot.filter(|_| bits == 32);
        let nest = &nest;
        if choices.is_empty() {
            return self.with(Plan::of(nest, vectors, &used_dimensions)?);
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
        let key = choices::key(&first.text);
        let number = Some(choices.number(&key)).filter(|number| *number < count);
        let number = number.unwrap_or(0);
        let (plan, mut kernel) = kernels.swap_remove(number);
        let attribute = choices::attribute(&key, number, count, &plan);
        kernel.text = with_attribute(&kernel.text, &attribute);
        Some(kernel)
    }

    /// The kernel with a plan.
    fn with(&self, mut plan: Plan) -> Option<Kernel<'c, 'a>> {
        let mut reduction = self.reduction.clone();
        // Elsewhere than along rows of the output, the first value is combined last.
        let stride = |own: &Address| own.strides.get(plan.lanes_loop).copied();
        let is_apart = || reduction.nest.output().and_then(stride) != Some(1);
        if reduction.nest.keeps_order && is_apart() && !reduction.body.starts_with_identity() {
            return None;
        }
        // Sums wait in the output if it has their type, and if its content is not needed at the end.
        let output = reduction.nest.output;
        let (element, body) = (reduction.signature.elements.get(output)?, &reduction.body);
        let holds_sums = *element == body.accumulator && !body.finish_reads(output);
        plan.chunk = plan.chunk.filter(|_| holds_sums);
        let mut packing = Packing::of(&reduction.nest, &plan, &reduction.signature);
        let packed = packing.as_ref().and_then(|p| reduction.arrays.get(p.operand));
        let outside = match packed {
            Some(array) => Outside::of(self.op, *array).ok()?,
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
            let function = packing.function("KERNEL", &reduction.signature);
            packing.apply(&mut reduction.nest, &mut reduction.signature);
            (packing, function)
        });
        // Lanes are apart by a number that the plan knows.
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
                extents.insert(*l, outside.extent(*value, *dimension).ok()??);
            }
        }
        let text = |plan: &Plan, body: &Body| {
            let (nest, signature) = (&reduction.nest, &reduction.signature);
            kernel("KERNEL", nest, plan, body, signature)
        };
        let mut body = reduction.body.clone();
        let guarded = self.guarded.iter().map(|(condition, body)| {
            let text = text(&plan.guarded(), body);
            (*condition, with_attributes(&text, SELDOM))
        });
        let mut alternatives: Vec<(Value, String)> = guarded.collect();
        if let Some((condition, product)) = &self.approximated
            && plan.group.is_some()
            && body.starts_with_identity()
        {
            alternatives.push((*condition, text(&plan, &body)));
            body.value = product.clone();
        }
        Some(Kernel {
            text: text(&plan, &body),
            alternatives,
            steps: plan.steps(&reduction.nest),
            dynamic,
            arguments: reduction.arguments(),
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
    /// `None` for a reduction that gains nothing.
    fn of(
        op: OperationRef<'c, 'a>,
        target: Target,
        choices: &Choices,
        constants: &Prepared<'c, 'a>,
        effects: &mut Effects<'c, 'a>,
    ) -> Option<Self> {
        let reduction = read(op)?;
        // Kernels require that the output does not alias an input.
        let output = reduction.output()?;
        let inputs = reduction.arrays.get(..reduction.nest.output)?;
        if inputs.iter().any(|input| may_overlap(*input, output)) {
            return None;
        }
        let bare = Merged { reduction: reduction.clone(), last: op, others: Vec::new() };
        let merged = Merged::of(op, reduction, effects);
        let planned = |merged| {
            let unplanned = Unplanned::of(op, merged, target, constants)?;
            unplanned.planned(target, choices)
        };
        planned(merged).or_else(|| planned(bare))
    }

    /// That of the operations which the kernel computes.
    fn location(&self, op: OperationRef<'c, 'a>) -> Location<'c> {
        let others = self.others.iter().map(|op| op.location());
        let all: Vec<Location> =
            [op.location()].into_iter().chain(others).chain([self.last.location()]).collect();
        let packing = self.packing.as_ref();
        let remark = packing.map(|(packing, _)| packing.remark());
        location::fused(ir::context::of(op), &all, remark.as_deref())
    }

    /// Copies the packed operand before the kernel.
    fn pack(
        &mut self,
        op: OperationRef<'c, 'a>,
        constants: &Prepared<'c, 'a>,
        functions: &mut Functions,
        effects: &mut Effects<'c, 'a>,
    ) -> Result<(), String> {
        let Some((packing, text)) = &self.packing else {
            return Ok(());
        };
        let name = functions.name("pack", text);
        // The source, then the copy.
        effects.declare(&name, [1]);
        let operand = self.arguments.get_mut(packing.operand);
        let operand = operand.ok_or("a kernel without its operand")?;
        // What is the same in every call is copied before all loops.
        let anchor = match packing.arguments() {
            [] => constants.anchor(*operand, op),
            _ => None,
        };
        let before = self.outside.as_ref().map(Outside::around);
        let anchor = anchor.or(before).unwrap_or(self.last);
        let mut extents = Vec::new();
        for l in packing.arguments() {
            extents.push(match self.extents.get(l) {
                Some(extent) => *extent,
                None => {
                    let own = self.dynamic.iter().find(|(number, ..)| number == l);
                    let (_, value, dimension) = own.ok_or("a loop without its extent")?;
                    extent_before(anchor, *value, *dimension)?
                }
            });
        }
        let extent = |l: usize| {
            let own = packing.arguments().iter().position(|own| *own == l);
            let own = own.and_then(|own| extents.get(own).copied());
            own.ok_or("a loop without its extent")
        };
        let size = match (packing.parts(), packing.size()) {
            (Some((l, iterations, elements)), _) => covered_before(anchor, extent(l)?, iterations, elements)?,
            (None, size) => index_before(anchor, size.unwrap_or_default())?,
        };
        let steps = match packing.parts() {
            Some((l, iterations, _)) if packing.has_dynamic_steps() => {
                tiles_before(anchor, extent(l)?, iterations)?
            }
            _ => index_before(anchor, packing.steps())?,
        };
        let fill = |anchor, source, copy, part: Option<Value<'c, 'a>>| {
            let mut arguments = vec![
                static_before(anchor, source, &packing.source_type)?,
                static_before(anchor, copy, packing.copy_type(&self.signature))?,
            ];
            if packing.places_source() {
                arguments.push(offset_before(anchor, source)?);
            }
            arguments.extend(part);
            arguments.extend(&extents);
            arguments.extend([index_before(anchor, 0)?, steps]);
            let call = call_before(anchor, &name, &arguments, anchor.location());
            call.map_err(|e| e.to_string())
        };
        if let Some(outside) = self.outside.as_ref().filter(|outside| !outside.is_one()) {
            let element = self.signature.elements.get(packing.operand);
            let element = element.ok_or("a kernel without its operand")?;
            let fill =
                |anchor, source, [copies, part]: [Value<'c, 'a>; 2]| fill(anchor, source, copies, Some(part));
            let [copies, part] = outside.parts(self.last, size, element, fill)?;
            self.offsets.insert(packing.operand, part);
            *operand = copies;
            return Ok(());
        }
        let kind = packing.r#type(&self.signature);
        let open = packing.parts().map(|_| size);
        let copy = array_before(anchor, &kind, open)?;
        fill(anchor, *operand, copy, None)?;
        *operand = copy;
        Ok(())
    }

    /// Adds the arguments that follow from extents, and passes arrays of dynamic extents by pointer.
    fn pass_extents(&mut self, op: OperationRef<'c, 'a>) -> Result<(), String> {
        let mut offsets = Vec::new();
        for position in self.signature.placed() {
            let array = self.arguments.get(position);
            let array = *array.ok_or("a kernel without an array")?;
            offsets.push(match self.offsets.get(&position) {
                Some(known) => *known,
                None => offset_before(op, array)?,
            });
        }
        self.arguments.extend(offsets);
        for (argument, kind) in self.arguments.iter_mut().zip(&self.signature.arrays) {
            *argument = static_before(op, *argument, kind)?;
        }
        let mut extents = HashMap::new();
        for (l, value, dimension) in &self.dynamic {
            let extent = extent_before(op, *value, *dimension)?;
            extents.insert(*l, extent);
            self.arguments.push(extent);
        }
        let steps = match self.steps {
            None => return Ok(()),
            Some(Steps::Static(steps)) => index_before(op, steps)?,
            Some(Steps::Dynamic { loop_number, factor }) => {
                let extent = extents.get(&loop_number).copied();
                tiles_before(op, extent.ok_or("a loop without its extent")?, factor)?
            }
        };
        self.arguments.extend([index_before(op, 0)?, steps]);
        Ok(())
    }
}
