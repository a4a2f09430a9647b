// SPDX-License-Identifier: Apache-2.0
//! Sequential formulas that write each element of their outputs once, from elements that were written earlier.
//!
//! The outputs of such a formula are not initialized with a copy: if the guard does not hold, the loop writes the initial value of the
//! element. The elements that the innermost loop wrote in the previous iteration are loop-carried values.

use super::Lowering;
use super::plan::{Lanes, Plan};
use crate::formula::Refusal;
use crate::ir::skript::Access;
use crate::ir::{Builder, copy, ops, splat, types};
use crate::structure::{Affine, Extent, Nest, Reading, TermId};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{OperationRef, Type, Value, ValueLike};
use skript_semantics::{Scalar, ScalarOp};

/// The subscripts at which the outputs are written.
pub(super) struct Whole {
    /// The subscript along each dimension of each target.
    places: Vec<Vec<Place>>,
    /// Whether the innermost loop, except the loop over the lanes, carries the elements that its previous iteration wrote.
    carries: bool,
}

/// A subscript of a target.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// 0, along a dimension of extent 1.
    First,
    /// The index with this number.
    Along(usize),
    /// The last position minus the index with this number.
    Against(usize, i64),
}

impl Place {
    fn new(nest: &Nest, subscript: TermId, extent: Extent) -> Option<Place> {
        let (form, extent) = (nest.affine(subscript)?, extent.as_static()?);
        if extent == 1 {
            return (form == Affine::constant(0)).then_some(Place::First);
        }
        let linear = form.as_linear()?;
        let [(index, factor)] = linear.as_slice() else {
            return None;
        };
        let last = extent - 1;
        let place = match factor {
            1 => Place::Along(*index),
            _ => Place::Against(*index, last),
        };
        let is_whole = nest.extents.get(*index)?.as_static() == Some(extent);
        (is_whole && Some(form) == place.form()).then_some(place)
    }

    fn form(self) -> Option<Affine> {
        match self {
            Place::First => Some(Affine::constant(0)),
            Place::Along(index) => Some(Affine::index(index)),
            Place::Against(index, last) => Affine::constant(last).sub(&Affine::index(index)),
        }
    }

    fn index(self) -> Option<usize> {
        match self {
            Place::First => None,
            Place::Along(index) | Place::Against(index, _) => Some(index),
        }
    }
}

impl Whole {
    /// `None` if the formula does not write each element once, or if the initial contents of an output are neither one value nor in
    /// memory for another reader. A loop of more than `max_iterations` iterations does not carry elements; 0 means no limit.
    pub(super) fn new(reading: &Reading, plan: &Plan, max_iterations: i64) -> Option<Whole> {
        let nest = &reading.nest;
        let copies = plan.lanes.as_ref().is_some_and(|lanes| !lanes.moved.is_empty());
        if nest.kind.op().is_some() || reading.is_dynamic || copies || !plan.bounds.is_empty() {
            return None;
        }
        let places = (nest.targets.iter())
            .map(|target| {
                let subscripts = target.subscripts.iter().zip(&target.extents);
                subscripts.map(|(s, e)| Place::new(nest, *s, *e)).collect()
            })
            .collect::<Option<Vec<Vec<Place>>>>()?;
        let is_once = |places: &Vec<Place>| {
            (nest.extents.iter().enumerate()).all(|(index, extent)| {
                let uses = places.iter().filter(|place| place.index() == Some(index));
                uses.count() == usize::from(extent.as_static() != Some(1))
            })
        };
        if places.is_empty() || !places.iter().all(is_once) || !is_kept(reading) {
            return None;
        }
        let mut whole = Whole { places, carries: false };
        let lanes = plan.lanes.as_ref().map(Lanes::is_unrolled);
        let mut loops = plan.order.iter().rev().skip(usize::from(lanes.is_some()));
        let is_short = |index: &&usize| {
            let extent = nest.extents.get(**index).and_then(|e| e.as_static());
            max_iterations == 0 || extent.is_some_and(|extent| extent <= max_iterations)
        };
        let innermost = loops.next().filter(|_| lanes != Some(false)).filter(is_short);
        let reads = nest.accesses(&nest.roots());
        for (_, tensor, subscripts) in reads {
            let Some(target) = nest.tensors.get(tensor)?.destination else {
                continue;
            };
            let distance = whole.distance(nest, target, subscripts)?;
            let declared: Vec<usize> = (0..distance.len()).collect();
            if !is_before(&distance, &declared) || !is_before(&distance, &plan.order) {
                return None;
            }
            whole.carries |= innermost.is_some_and(|index| is_last(&distance, *index));
        }
        Some(whole)
    }

    /// Returns, for each index, the iteration that writes an element relative to the iteration that reads it: a negative number means
    /// that the element is written in an earlier iteration.
    fn distance(&self, nest: &Nest, target: usize, subscripts: &[TermId]) -> Option<Vec<i64>> {
        let mut distance = vec![0; nest.extents.len()];
        for (place, subscript) in self.places.get(target)?.iter().zip(subscripts) {
            let apart = nest.affine(*subscript)?.sub(&place.form()?)?.as_constant()?;
            let (index, iterations) = match place {
                Place::First if apart == 0 => continue,
                Place::First => return None,
                Place::Along(index) => (*index, apart),
                Place::Against(index, _) => (*index, apart.checked_neg()?),
            };
            *distance.get_mut(index)? = iterations;
        }
        Some(distance)
    }
}

/// Whether an iteration at this distance is executed earlier, for this order of loops.
fn is_before(distance: &[i64], order: &[usize]) -> bool {
    order.iter().filter_map(|index| distance.get(*index)).find(|d| **d != 0).is_some_and(|d| *d < 0)
}

/// Whether the distance is the previous iteration of the loop along an index.
fn is_last(distance: &[i64], index: usize) -> bool {
    distance.iter().enumerate().all(|(other, iterations)| *iterations == -i64::from(other == index))
}

/// Whether the initial contents of each output are one value, or are also an operand that is in memory.
fn is_kept(reading: &Reading) -> bool {
    let reads = reading.tensors.iter().skip(reading.outs.len());
    let operands: Vec<_> = reads.copied().collect();
    reading.outs.iter().all(|out| {
        let Ok(result) = OperationResult::try_from(*out) else {
            return true;
        };
        match copy::operation_name(result.owner()).as_str() {
            ops::tensor::SPLAT | ops::linalg::FILL | ops::arith::CONSTANT => true,
            _ => operands.contains(out),
        }
    })
}

/// Emits a value that is not used, such as the initial loop-carried one.
pub(super) fn zero<'c: 'a, 'a>(kind: Type<'c>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    let is_real = types::reals(kind).is_some();
    let number = if is_real {
        Scalar::Real(0.0)
    } else if kind == types::flag(at.context) {
        Scalar::Bool(false)
    } else {
        Scalar::Int(0)
    };
    at.constant(number, kind)
}

/// The state of a carrying loop under construction.
#[derive(Default)]
pub(super) struct LastWritten<'c, 'a> {
    /// The elements that the previous iteration wrote, by lane and target.
    values: Vec<Vec<Value<'c, 'a>>>,
    /// The index of the loop.
    index: usize,
    /// The current lane.
    lane: usize,
    /// The elements that this iteration wrote, by lane and target.
    written: Vec<Vec<Value<'c, 'a>>>,
}

impl<'c: 'a, 'a> Lowering<'_, 'c, 'a> {
    /// Whether the loop at this depth carries the elements that it wrote.
    pub(super) fn carries_at(&self, depth: usize) -> bool {
        let carries = self.plan.whole.as_ref().is_some_and(|whole| whole.carries);
        let lanes = usize::from(self.plan.lanes.is_some());
        carries && depth + 1 + lanes == self.plan.order.len()
    }

    /// Emits a loop with the elements that its previous iteration wrote as loop-carried values; the first iteration does not use them.
    pub(super) fn carrying_loop(
        &mut self,
        depth: usize,
        lanes: usize,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Refusal> {
        let nothing = || Refusal::Shape("has no loop");
        let extent = self.extent(depth).ok_or_else(nothing)?;
        let mut first = Vec::new();
        for _ in 0..lanes {
            for out in &self.reading.outs {
                let element = types::element_of(out.r#type())
                    .ok_or(Refusal::Shape("writes a value that is not a tensor"))?;
                first.push(zero(element, at)?);
            }
        }
        let mut types = vec![Type::index(at.context)];
        types.extend(first.iter().map(|value| value.r#type()));
        let (region, inner, arguments) = at.region(&types);
        let (index, values) = arguments.split_first().ok_or_else(nothing)?;
        let targets = self.reading.outs.len().max(1);
        let outer = self.copier.clone();
        self.last = Some(LastWritten {
            values: values.chunks(targets).map(<[_]>::to_vec).collect(),
            index: self.plan.order.get(depth).copied().ok_or_else(nothing)?,
            ..LastWritten::default()
        });
        self.indices.push(*index);
        self.nest(depth + 1, &inner)?;
        self.indices.pop();
        self.copier = outer;
        let last = self.last.take();
        let next = last.map_or(Vec::new(), |last| last.written.concat());
        self.loops.end(&next, &inner)?;
        let range = self.range(depth, self.end(extent)?, at)?;
        self.loops.create(range, &first, region, at)?;
        Ok(())
    }

    /// Returns the loop-carried value for an access to an element that the previous iteration of the innermost loop wrote.
    pub(super) fn last_written(&self, access: OperationRef<'c, 'a>) -> Option<Value<'c, 'a>> {
        let (last, whole) = (self.last.as_ref()?, self.plan.whole.as_ref()?);
        let tensor = Access::cast(access)?.tensor().ok()?;
        let target = (self.reading.blocks()).find_map(|block| {
            let outputs = copy::arguments(block).into_iter().skip(self.reading.indices);
            let mut outputs = outputs;
            outputs.position(|output| output == tensor)
        })?;
        let subscripts = access.operands().skip(1);
        let subscripts =
            subscripts.map(|subscript| self.reading.find(subscript)).collect::<Option<Vec<_>>>()?;
        let distance = whole.distance(&self.reading.nest, target, &subscripts)?;
        let is_last = (distance.iter().enumerate())
            .all(|(index, iterations)| *iterations == -i64::from(index == last.index));
        last.values.get(last.lane).filter(|_| is_last)?.get(target).copied()
    }

    /// Emits one step of a formula that writes each element once: if the guard does not hold, the step writes the initial values.
    pub(super) fn write_whole(&mut self, at: &Builder<'c, 'a>) -> Result<(), Refusal> {
        let (mut kept, mut positions) = (Vec::new(), Vec::new());
        for target in 0..self.destinations.len() {
            let position = self.place(target, at)?;
            kept.push(self.first_element(target, &position, at)?);
            positions.push(position);
        }
        let types: Vec<_> = kept.iter().map(|value| value.r#type()).collect();
        let values = self.under_guard(0, &types, &kept, at, &mut |this, at| this.values(at))?;
        for ((target, value), position) in values.iter().enumerate().zip(&positions) {
            self.store(target, position, *value, at)?;
        }
        if let Some(last) = &mut self.last {
            last.written.push(values);
            last.lane += 1;
        }
        Ok(())
    }

    /// Emits the subscripts of a target.
    fn place(&self, target: usize, at: &Builder<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Refusal> {
        let places = self.plan.whole.as_ref().and_then(|w| w.places.get(target));
        let places = places.ok_or(Refusal::Shape("has too few destinations"))?;
        let value = |index: usize| {
            let depth = self.plan.order.iter().position(|other| *other == index);
            depth.and_then(|depth| self.indices.get(depth)).copied().ok_or(Refusal::Shape("has no loop"))
        };
        let subscript = |place: &Place| match place {
            Place::First => Ok(at.idx(0)),
            Place::Along(index) => value(*index),
            Place::Against(index, last) => {
                let operands = [at.idx(*last), value(*index)?];
                Ok(at.scalar(ScalarOp::Sub, &operands, Type::index(at.context))?)
            }
        };
        places.iter().map(subscript).collect()
    }

    /// Emits the initial value of an element of an output.
    fn first_element(
        &self,
        target: usize,
        position: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Refusal> {
        let out = self.out(target)?;
        if let Some(value) = splat::value(out, at)? {
            return Ok(value);
        }
        let element =
            types::element_of(out.r#type()).ok_or(Refusal::Shape("writes a value that is not a tensor"))?;
        let buffer = self.first.get(target).copied().flatten();
        let mut operands = vec![buffer.ok_or(Refusal::Shape("has too few destinations"))?];
        operands.extend(position);
        Ok(at.value(ops::memref::LOAD, &operands, &[], element)?)
    }
}
