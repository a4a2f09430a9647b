// SPDX-License-Identifier: Apache-2.0
//! Lowers one formula to a loop nest on memrefs, in `scf` or `affine`. [`plan`] selects the order of the loops. With
//! [`Options::tensors`], loops carry the outputs as tensors instead ([`values`]).
//!
//! `scf` supports every formula. `affine` requires that all subscripts are affine in the indices and in extents, and
//! that extents are static or defined before the function's first loop. Tensors are read through
//! `bufferization.to_buffer`; each output is a new allocation, which `bufferization.to_tensor restrict` returns.

mod carried;
mod dialect;
mod element;
mod extents;
mod moved;
mod plan;
mod range;
mod values;
mod whole;

use crate::ir;
use crate::ir::attribute_names;
use crate::ir::ops;

use super::linalg::combine;
use super::{Refusal, structured};
use crate::ir::{Builder, Copier, ValueKey, attributes, builder, copy, maps, splat, types};
use crate::structure::{ArgReduction, Extent, Guard, Reading, Term, TermId};
use dialect::Range;
pub(crate) use dialect::{End, Loops};
use extents::Extents;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{OperationRef, Type, Value, ValueLike};
use plan::Plan;
use skript_semantics::{Scalar, ScalarOp};
use std::collections::HashMap;
use whole::LastWritten;

/// The options of a lowering.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    /// Whether loops whose iterations access disjoint elements of the outputs run in parallel.
    pub parallel: bool,
    /// Whether sequential formulas are computed along a parallel index, on transposed copies.
    pub lanes: bool,
    /// Whether loops are for threads without vectors: all parallel indices of a sequential formula are then the outer loops.
    pub threads: bool,
    /// Maximum number of iterations of a loop that carries the last written elements; 0 for any number.
    pub iterations: i64,
    /// Whether outputs are tensors, which the loops carry, instead of buffers.
    pub tensors: bool,
}

/// Builds the formula's results before it; `number` is unique in the module.
pub(crate) fn lower<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    loops: Loops,
    options: Options,
    number: i64,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, Refusal> {
    let nest = &reading.nest;
    let mut guard = Guard::new(nest);
    let extents = match loops {
        Loops::Affine => Extents::new(reading),
        Loops::Scf => Extents::none(reading),
    };
    if loops == Loops::Affine {
        let nest = &extents.reading.nest;
        let accesses = nest.accesses(&nest.roots());
        let reads = accesses.iter().map(|(_, _, subscripts)| *subscripts);
        let writes = nest.targets.iter().map(|t| t.subscripts.as_slice());
        let mut others = reads.chain(writes);
        if let Some(position) = others.find(|s| nest.pieces(s).is_none()) {
            let is_outside =
                |term: &TermId| extents.reading.outside.iter().any(|(_, outside)| outside == term);
            let divides = |term: &TermId| match nest.terms.get(*term) {
                Some(Term::Apply { op, operands, .. }) => {
                    let divisor = operands.get(1).copied();
                    let numbers = nest.reachable(divisor.as_slice());
                    matches!(op, ScalarOp::Div | ScalarOp::CeilDiv | ScalarOp::Mod)
                        && numbers.iter().any(is_outside)
                }
                _ => false,
            };
            let reached = nest.reachable(position);
            return Err(Refusal::Shape(if !nest.accesses(position).is_empty() {
                "has subscripts that are not affine in its indices, because they depend on data"
            } else if reached.iter().any(divides) {
                "has subscripts that divide by a value known only at run time, which affine maps do not support; lower it to scf"
            } else if reached.iter().any(is_outside) {
                "has subscripts that use values which are not affine dimensions, such as indices of other loops; \
                 tile after the conversion to affine, or lower it to scf"
            } else {
                "has subscripts that are not affine in its indices, or have too many pieces"
            }));
        }
    }
    let has_effects = structured::has_effects(reading.op);
    if (loops == Loops::Scf || reading.is_dynamic) && !guard.always_holds() || has_effects {
        // The region has the full predicate; constraints are for `affine.if`.
        guard.others.extend(nest.predicate);
        guard.constraints.clear();
    }
    let plan = Plan::new(reading, loops, options);
    let mut lowering = Lowering {
        reading,
        loops,
        carried: carried::depth(reading, loops, &plan.order),
        plan,
        options,
        block: None,
        number,
        guard,
        buffers: HashMap::new(),
        destinations: Vec::new(),
        first: Vec::new(),
        last: None,
        indices: Vec::new(),
        extents,
        copier: Copier::new(),
    };
    lowering.allocate(at)?;
    lowering.nest(0, at)?;
    lowering.finish(at)
}

/// The tensor `of` as a buffer that is filled with one value.
pub(crate) fn splat<'c: 'a, 'a>(
    value: Value<'c, 'a>,
    of: Value<'c, 'a>,
    loops: Loops,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let buffer = allocate(of, None, at)?;
    loops.fill(value, buffer, &ends(of, at)?, at)?;
    to_tensor(buffer, of.r#type(), at)
}

struct Lowering<'r, 'c, 'a> {
    reading: &'r Reading<'c, 'a>,
    loops: Loops,
    /// The number of the first trailing loop with loop-carried elements; past the last loop without such loops.
    carried: usize,
    plan: Plan,
    options: Options,
    /// The first index of the block of lanes, and its width.
    block: Option<(Value<'c, 'a>, Width<'c, 'a>)>,
    /// See [`attribute_names::READER`].
    number: i64,
    guard: Guard,
    /// By tensor, and by region argument for the current contents of outputs; tensors if [`Options::tensors`] is set.
    buffers: HashMap<ValueKey, Value<'c, 'a>>,
    destinations: Vec<Value<'c, 'a>>,
    /// By target: the contents of outputs before a formula that writes all of their elements.
    first: Vec<Option<Value<'c, 'a>>>,
    last: Option<LastWritten<'c, 'a>>,
    /// The indices of the enclosing loops, in the order of [`Plan::order`].
    indices: Vec<Value<'c, 'a>>,
    /// The additional dimensions of affine maps.
    extents: Extents<'c, 'a>,
    copier: Copier<'c, 'a>,
}

impl<'c: 'a, 'a> Lowering<'_, 'c, 'a> {
    fn allocate(&mut self, at: &Builder<'c, 'a>) -> Result<(), Refusal> {
        if self.options.tensors {
            self.begin_with_tensors();
            return Ok(());
        }
        let targets = self.reading.outs.len();
        for tensor in self.reading.tensors.iter().skip(targets) {
            let read = match self.moved(*tensor) {
                Some(dimension) => moved::moved(*tensor, dimension, at)?,
                None => *tensor,
            };
            let buffer = to_buffer(read, self.number, at)?;
            self.buffers.insert(ValueKey::of(*tensor), buffer);
        }
        for (target, out) in self.reading.outs.iter().enumerate() {
            let first = self.first_target(target);
            if let Some(buffer) = self.destinations.get(first) {
                self.destinations.push(*buffer);
                continue;
            }
            let dimension = self.moved(*out);
            let buffer = allocate(*out, dimension, at)?;
            if self.plan.whole.is_some() {
                let is_splat = splat::value(*out, at)?.is_some();
                let read = (!is_splat).then(|| to_buffer(*out, self.number, at));
                self.first.push(read.transpose()?);
            } else if let Some(value) = splat::value(*out, at)? {
                let mut ends = ends(*out, at)?;
                if let Some(dimension) = dimension {
                    ends = moved::to_end(&ends, dimension);
                }
                self.loops.fill(value, buffer, &ends, at)?;
            } else if OperationResult::try_from(*out)
                .map_or(true, |r| copy::operation_name(r.owner()) != ops::tensor::EMPTY)
            {
                let source = match dimension {
                    Some(dimension) => moved::moved(*out, dimension, at)?,
                    None => *out,
                };
                let source = to_buffer(source, self.number, at)?;
                at.create(ops::memref::COPY, &[source, buffer], &[], &[], Vec::new())?;
            }
            self.destinations.push(buffer);
        }
        self.read_destinations();
        Ok(())
    }

    fn finish(&self, at: &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        if self.options.tensors {
            return Ok(self.destinations.clone());
        }
        let mut results: Vec<Value> = Vec::new();
        for ((target, buffer), out) in self.destinations.iter().enumerate().zip(&self.reading.outs) {
            let first = self.first_target(target);
            results.push(match results.get(first) {
                Some(known) => *known,
                None => match self.moved(*out) {
                    Some(dimension) => {
                        let restored = moved::restored(*buffer, out.r#type(), dimension, at)?;
                        to_tensor(restored, out.r#type(), at)?
                    }
                    None => to_tensor(*buffer, out.r#type(), at)?,
                },
            });
        }
        Ok(results)
    }

    /// The loops from `depth` inwards.
    fn nest(&mut self, depth: usize, at: &Builder<'c, 'a>) -> Result<(), Refusal> {
        if depth == self.carried {
            return self.accumulate(depth, at);
        }
        let Some(extent) = self.extent(depth) else {
            return self.guarded(at);
        };
        if self.options.tensors {
            return self.tensor_loop(depth, at);
        }
        if let Some(lanes) = self.plan.lanes.as_ref().filter(|_| self.block.is_none()) {
            let lanes = (lanes.extent, lanes.width, lanes.is_unrolled());
            return self.blocks(lanes, at);
        }
        let lanes = self.block.and_then(|(_, width)| width.lanes());
        if self.carries_at(depth) && self.last.is_none() {
            return self.carrying_loop(depth, lanes.unwrap_or(1), at);
        }
        let is_innermost = depth + 1 == self.plan.order.len();
        if let Some((first, Width::Unrolled(lanes))) = self.block
            && is_innermost
        {
            return self.unrolled(depth, first, lanes, at);
        }
        let (region, inner, arguments) = at.region(&[Type::index(at.context)]);
        let index = *arguments.first().ok_or(Refusal::Shape("has no loop"))?;
        let outer = self.copier.clone();
        let (index, end) = match self.block.filter(|_| is_innermost) {
            Some((first, Width::Loop(end))) => {
                let index = inner.scalar(ScalarOp::Add, &[first, index], Type::index(at.context))?;
                (index, end)
            }
            _ => (index, self.end(extent)?),
        };
        self.indices.push(index);
        self.nest(depth + 1, &inner)?;
        self.indices.pop();
        self.copier = outer;
        if self.plan.parallel.get(depth) == Some(&true) {
            return self.loops.create_parallel(end, region, &inner, at);
        }
        let range = self.range(depth, end, at)?;
        self.loops.end(&[], &inner)?;
        self.loops.create(range, &[], region, at)?;
        Ok(())
    }

    fn unrolled(
        &mut self,
        depth: usize,
        first: Value<'c, 'a>,
        lanes: i64,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        for lane in 0..lanes {
            let operands = [first, at.idx(lane)];
            let index = at.scalar(ScalarOp::Add, &operands, Type::index(at.context))?;
            let outer = self.copier.clone();
            self.indices.push(index);
            self.nest(depth + 1, at)?;
            self.indices.pop();
            self.copier = outer;
        }
        Ok(())
    }

    /// The loops over blocks of lanes, around all others: their extent, the width of a block, and whether lanes are unrolled.
    fn blocks(
        &mut self,
        (extent, width, is_unrolled): (i64, i64, bool),
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        if !is_unrolled {
            let blocks = extent / width + i64::from(extent % width != 0);
            return self.blocks_from(0, blocks, width, at, |this, first, inner| {
                Ok(Width::Loop(this.lanes_end(first, inner)?))
            });
        }
        let full = extent / width;
        self.blocks_from(0, full, width, at, |_, _, _| Ok(Width::Unrolled(width)))?;
        let (from, rest) = (full * width, extent % width);
        if rest > 0 {
            self.blocks_from(from, rest, 1, at, |_, _, _| Ok(Width::Unrolled(1)))?;
        }
        Ok(())
    }

    /// A loop over this number of blocks of lanes from `from` on.
    fn blocks_from(
        &mut self,
        from: i64,
        count: i64,
        width: i64,
        at: &Builder<'c, 'a>,
        lanes: impl Fn(&Self, Value<'c, 'a>, &Builder<'c, 'a>) -> Result<Width<'c, 'a>, Refusal>,
    ) -> Result<(), Refusal> {
        let index = Type::index(at.context);
        let (region, inner, arguments) = at.region(&[index]);
        let number = *arguments.first().ok_or(Refusal::Shape("has no loop"))?;
        let mut first = inner.scalar(ScalarOp::Mul, &[number, inner.idx(width)], index)?;
        if from > 0 {
            first = inner.scalar(ScalarOp::Add, &[first, inner.idx(from)], index)?;
        }
        let width = lanes(self, first, &inner)?;
        let outer = self.copier.clone();
        self.block = Some((first, width));
        self.nest(0, &inner)?;
        self.block = None;
        self.copier = outer;
        let end = End::Fixed(count);
        if self.options.parallel {
            return self.loops.create_parallel(end, region, &inner, at);
        }
        self.loops.end(&[], &inner)?;
        self.loops.create(Range::to(end), &[], region, at)?;
        Ok(())
    }

    /// The number of lanes of the block that begins at `first`.
    fn lanes_end(&self, first: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<End<'c, 'a>, Refusal> {
        let lanes = self.plan.lanes.as_ref();
        let (extent, width) = lanes.map_or((0, 1), |lanes| (lanes.extent, lanes.width));
        if extent % width == 0 {
            return Ok(End::Fixed(width));
        }
        let index = Type::index(at.context);
        let rest = at.scalar(ScalarOp::Sub, &[at.idx(extent), first], index)?;
        let count = at.scalar(ScalarOp::Min, &[rest, at.idx(width)], index)?;
        Ok(End::Value(count))
    }

    /// The extent of the loop at a depth; `None` past the innermost one.
    fn extent(&self, depth: usize) -> Option<Extent> {
        let index = self.plan.order.get(depth)?;
        self.reading.nest.extents.get(*index).copied()
    }

    /// The dimension of a tensor that is the last one in its buffer.
    fn moved(&self, tensor: Value<'c, 'a>) -> Option<usize> {
        self.plan.lanes.as_ref()?.moved.get(&ValueKey::of(tensor)).copied()
    }

    /// Emits one step that writes the elements.
    fn guarded(&mut self, at: &Builder<'c, 'a>) -> Result<(), Refusal> {
        if self.plan.whole.is_some() {
            return self.write_whole(at);
        }
        if self.has_generic_steps() {
            return self.generic_step(at);
        }
        let contents = self.contents();
        let types: Vec<_> = contents.iter().map(|tensor| tensor.r#type()).collect();
        let written = self.under_guard(0, &types, &contents, at, &mut |this, at| {
            let values = this.values(at)?;
            let mut positions = Vec::new();
            for target in 0..values.len() {
                positions.push(this.target_position(target, at)?);
            }
            // If a step writes an element twice, the second value is combined with the first one.
            for ((target, value), position) in values.into_iter().enumerate().zip(&positions) {
                let combined = match this.reading.nest.kind.op() {
                    Some(_) => {
                        let present = this.load(target, position, at)?;
                        combine(this.reading, value, present, at)?
                    }
                    None => value,
                };
                this.store(target, position, combined, at)?;
            }
            Ok(this.contents())
        })?;
        self.set_contents(&written);
        Ok(())
    }

    /// Executes `step` where the guard holds and yields `otherwise` elsewhere. `stage` 0 tests the constraints, 1 the
    /// other conditions.
    fn under_guard(
        &mut self,
        stage: usize,
        types: &[Type<'c>],
        otherwise: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
        step: &mut Step<'_, 'c, 'a, Self>,
    ) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        let (name, operands, condition, ending) = match stage {
            0 if self.guard.constraints.is_empty() => {
                return self.under_guard(1, types, otherwise, at, step);
            }
            0 => {
                let set = maps::set_of(at.context, 0..self.indices.len(), &self.guard.constraints)
                    .ok_or(Refusal::Shape("has a condition that no affine set holds"))?;
                (ops::affine::IF, self.indices.clone(), vec![("condition", set)], ops::affine::YIELD)
            }
            1 if self.guard.others.is_empty() => return step(self, at),
            1 => {
                let holds = self.predicate(at)?;
                // GPUs distribute the steps over threads.
                let selects =
                    self.selects().then(|| (attribute_names::SELECTS, attributes::unit(at.context)));
                (ops::scf::IF, vec![holds], selects.into_iter().collect(), ops::scf::YIELD)
            }
            _ => return step(self, at),
        };
        let (then_region, then, _) = at.region(&[]);
        let outer = self.copier.clone();
        let values = self.under_guard(stage + 1, types, otherwise, &then, step)?;
        self.copier = outer;
        then.create(ending, &values, &[], &[], Vec::new())?;
        let (else_region, other) = if types.is_empty() {
            (melior::ir::Region::new(), None)
        } else {
            let (region, other, _) = at.region(&[]);
            (region, Some(other))
        };
        if let Some(other) = other {
            other.create(ending, otherwise, &[], &[], Vec::new())?;
        }
        let op = at.create(name, &operands, &condition, types, vec![then_region, else_region])?;
        Ok(op.results().map(Into::into).collect())
    }

    /// Whether a step selects the first of the best positions.
    fn selects(&self) -> bool {
        let reduction = ArgReduction::new(&self.reading.nest).filter(ArgReduction::selects_first);
        reduction.is_some() && self.reading.has_distinct_destinations()
    }

    fn predicate(&mut self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Refusal> {
        let block = self.reading.predicate.ok_or(Refusal::Shape("has no predicate"))?;
        self.map_indices(block);
        let mut all = builder::operations(block);
        let end = all.pop().ok_or(Refusal::Shape("has no predicate"))?;
        self.copy(&all, at)?;
        Ok(self.copier.get(ir::operand(end)?))
    }

    /// The values of all targets, after their subscripts were computed.
    fn values(&mut self, at: &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        let body = self.reading.body;
        self.map_indices(body);
        let mut all = builder::operations(body);
        all.pop();
        self.copy(&all, at)?;
        Ok(self.reading.values.iter().map(|v| self.copier.get(*v)).collect())
    }

    fn map_indices(&mut self, block: melior::ir::BlockRef<'c, 'a>) {
        let arguments = copy::arguments(block);
        for (number, index) in self.plan.order.iter().zip(&self.indices) {
            if let Some(argument) = arguments.get(*number) {
                self.copier.set(*argument, *index);
            }
        }
    }

    fn copy(&mut self, operations: &[OperationRef<'c, 'a>], at: &Builder<'c, 'a>) -> Result<(), Refusal> {
        let mut copier = std::mem::take(&mut self.copier);
        let mut refusal = None;
        for op in operations {
            let copied = copier.copy(*op, at, &mut |copier, op, at| {
                if self.is_implied(op) {
                    let holds = at.constant(Scalar::Bool(true), types::flag(at.context))?;
                    copier.set(ir::result(op)?, holds);
                    return Ok(true);
                }
                if copy::operation_name(op) != ops::skript::ACCESS {
                    return Ok(false);
                }
                match self.read(copier, op, at) {
                    Ok(value) => copier.set(ir::result(op)?, value),
                    Err(Refusal::Build(error)) => return Err(error),
                    Err(other) => {
                        refusal = Some(other);
                        return Err(melior::Error::OperationBuild);
                    }
                }
                Ok(true)
            });
            if let Some(refusal) = refusal {
                return Err(refusal);
            }
            copied?;
        }
        self.copier = copier;
        Ok(())
    }

    fn destination(&self, target: usize) -> Result<Value<'c, 'a>, Refusal> {
        self.destinations.get(target).copied().ok_or(Refusal::Shape("has too few destinations"))
    }

    fn out(&self, target: usize) -> Result<Value<'c, 'a>, Refusal> {
        self.reading.outs.get(target).copied().ok_or(Refusal::Shape("has too few destinations"))
    }

    fn end(&self, extent: Extent) -> Result<End<'c, 'a>, Refusal> {
        match extent {
            Extent::Static(extent) => Ok(End::Fixed(extent)),
            Extent::Dynamic(_) => {
                Ok(End::Value(self.reading.bound(extent).ok_or(Refusal::UNDEFINED_EXTENT)?))
            }
        }
    }
}

/// The lanes of a block.
#[derive(Clone, Copy)]
enum Width<'c, 'a> {
    Loop(End<'c, 'a>),
    /// This many copies of the body.
    Unrolled(i64),
}

impl Width<'_, '_> {
    fn lanes(self) -> Option<usize> {
        match self {
            Width::Loop(_) => None,
            Width::Unrolled(lanes) => usize::try_from(lanes).ok(),
        }
    }
}

/// Builds the code under a guard; returns the yielded values.
type Step<'s, 'c, 'a, L> = dyn FnMut(&mut L, &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Refusal> + 's;

/// Allocates a buffer for a tensor; `moved` is the dimension that is the last one in the buffer.
fn allocate<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    moved: Option<usize>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let extents = dynamic_extents(tensor, at)?;
    let count = i32::try_from(extents.len()).map_err(|_| Refusal::Shape("has too many dimensions"))?;
    let segments = [("operandSegmentSizes", attributes::i32s(at.context, &[count, 0]))];
    let kind = match moved {
        Some(dimension) => {
            let extents = moved::to_end(&extents_of(tensor)?, dimension);
            let element = types::element_of(tensor.r#type())
                .ok_or(Refusal::Shape("writes a value that is not a tensor"))?;
            types::memref(&extents, element)
        }
        None => buffer_type(tensor)?,
    };
    Ok(at.value(ops::memref::ALLOC, &extents, &segments, kind)?)
}

fn dynamic_extents<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, Refusal> {
    if let Ok(result) = OperationResult::try_from(tensor)
        && copy::operation_name(result.owner()) == ops::tensor::SPLAT
    {
        return Ok(result.owner().operands().skip(1).collect());
    }
    Ok(at.dynamic_extents(tensor)?)
}

/// The ends of loops over all elements of a tensor.
fn ends<'c: 'a, 'a>(tensor: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Vec<End<'c, 'a>>, Refusal> {
    let mut open = dynamic_extents(tensor, at)?.into_iter();
    let extents = extents_of(tensor)?.into_iter();
    let ends = extents.map(|extent| match extent {
        types::DYNAMIC => open.next().map(End::Value),
        fixed => Some(End::Fixed(fixed)),
    });
    ends.collect::<Option<_>>().ok_or(Refusal::Shape("writes a tensor of unknown extents"))
}

fn buffer_type<'c>(tensor: Value<'c, '_>) -> Result<Type<'c>, Refusal> {
    let element =
        types::element_of(tensor.r#type()).ok_or(Refusal::Shape("reads a value that is not a tensor"))?;
    Ok(types::memref(&extents_of(tensor)?, element))
}

fn extents_of(tensor: Value<'_, '_>) -> Result<Vec<i64>, Refusal> {
    types::extents(tensor.r#type()).ok_or(Refusal::Shape("reads a value that is not a tensor"))
}

fn to_buffer<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    number: i64,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    Ok(at.value(
        ops::bufferization::TO_BUFFER,
        &[tensor],
        &[
            ("read_only", attributes::unit(at.context)),
            (attribute_names::READER, attributes::i64(at.context, number)),
        ],
        buffer_type(tensor)?,
    )?)
}

fn to_tensor<'c: 'a, 'a>(
    buffer: Value<'c, 'a>,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let unit = attributes::unit(at.context);
    let flags = [("restrict", unit), ("writable", unit)];
    Ok(at.value(ops::bufferization::TO_TENSOR, &[buffer], &flags, r#type)?)
}
