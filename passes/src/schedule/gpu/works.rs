// SPDX-License-Identifier: Apache-2.0
//! Operations on the rows of a block as loops of its threads.

use super::row_products::is_tiled;
use crate::extents::size;
use crate::ir::copy::{Copier, arguments, with_operands};
use crate::ir::linalg::{Fill, Generic, index_of};
use crate::ir::{self, Builder, maps, memref, ops};
use crate::schedule::body::Combine;
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, BlockRef, Region, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::PassError;
use skript_symbolic::Affine;

/// The threads of a block.
pub(super) struct Threads<'t, 'c, 'a> {
    pub(super) thread: Value<'c, 'a>,
    /// Their number.
    pub(super) width: Value<'c, 'a>,
    pub(super) count: i64,
    /// Threads that execute one instruction together.
    pub(super) warp: i64,
    /// Types of elements, and for each a shared array with an element for each thread.
    pub(super) kinds: &'t [String],
    pub(super) partial: &'t [Value<'c, 'a>],
}

/// Threads that compute a result of a reduction together, at least.
const LEAST: i64 = 8;

/// Equal parts of the threads of a block.
struct Group<'c, 'a> {
    /// The number of groups, a power of two.
    count: i64,
    /// The group of the thread, and the number of the thread in it.
    number: Value<'c, 'a>,
    thread: Value<'c, 'a>,
    /// The threads of a group.
    width: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Threads<'_, 'c, 'a> {
    /// A group for each of so many results, as far as a group has `least` threads.
    fn groups(&self, results: i64, least: i64, at: &Builder<'c, 'a>) -> Result<Group<'c, 'a>, Error> {
        let mut count = 1;
        while count < results && count * 2 * least <= self.count {
            count *= 2;
        }
        if count == 1 {
            return Ok(Group { count, number: at.index(0)?, thread: self.thread, width: self.width });
        }
        let index = Type::index(at.context);
        let width = at.index(self.count / count)?;
        let part = |name| at.value(name, &[self.thread, width], &[], index);
        Ok(Group { count, number: part(ops::arith::DIVUI)?, thread: part(ops::arith::REMUI)?, width })
    }
}

/// How the values of a reduction are combined.
struct Combination<'c, 'a> {
    op: OperationRef<'c, 'a>,
    identity: String,
}

/// An operation on arrays.
pub(super) struct Work<'c, 'a> {
    pub(super) op: OperationRef<'c, 'a>,
    pub(super) reductions: Vec<bool>,
    /// The array of each operand with its subscripts by loops; `None` for a scalar.
    operands: Vec<Option<(Value<'c, 'a>, Vec<Affine>)>>,
    inputs: usize,
    combination: Option<Combination<'c, 'a>>,
}

impl<'c: 'a, 'a> Work<'c, 'a> {
    pub(super) fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let whole = |array: Value<'c, 'a>| {
            let rank = memref::extents(array.r#type()).len();
            (array, (0..rank).map(Affine::index).collect::<Vec<_>>())
        };
        let elementwise = |operands: Vec<Option<(Value<'c, 'a>, Vec<Affine>)>>, rank| Work {
            op,
            reductions: vec![false; rank],
            operands,
            inputs: 1,
            combination: None,
        };
        let rank = |array: Value<'c, 'a>| memref::extents(array.r#type()).len();
        if let Some(fill) = Fill::cast(op) {
            let target = fill.destination().ok()?;
            return Some(elementwise(vec![None, Some(whole(target))], rank(target)));
        }
        if let Some(copy) = memref::Copy::cast(op) {
            let (from, to) = (copy.source().ok()?, copy.target().ok()?);
            return Some(elementwise(vec![Some(whole(from)), Some(whole(to))], rank(to)));
        }
        let generic = Generic::cast(op)?;
        let body = generic.body()?;
        let operations = ir::operations(body);
        let (_, payload) = operations.split_last()?;
        let is_plain = |op: &OperationRef| {
            op.region_count() == 0 && skript_dialect::op::is_pure(op) || index_of(*op).is_some()
        };
        if !payload.iter().all(is_plain) {
            return None;
        }
        let mut operands = Vec::new();
        for (value, map) in op.operands().zip(generic.indexing_maps()) {
            let is_array = MemRefType::try_from(value.r#type()).is_ok();
            let forms = maps::forms(map)?;
            let is_simple = |form: &Affine| form.as_index().is_some() || form.as_constant().is_some();
            if !forms.iter().all(is_simple) {
                return None;
            }
            operands.push(is_array.then_some((value, forms)));
        }
        let inputs = *ir::typed::segments(op).first()?;
        let reductions = generic.reductions();
        let combination = if reductions.contains(&true) {
            Some(Combination::of(body, operands.len() - inputs)?)
        } else {
            None
        };
        let work = Work { op, reductions, operands, inputs, combination };
        // Each loop has an extent.
        (0..work.reductions.len()).all(|l| work.place(l).is_some()).then_some(work)
    }

    /// The array and the dimension that a loop subscripts.
    fn place(&self, l: usize) -> Option<(Value<'c, 'a>, usize)> {
        self.operands.iter().flatten().find_map(|(array, forms)| {
            let own = forms.iter().position(|form| form.as_index() == Some(l));
            Some((*array, own?))
        })
    }

    /// The number of points, where dynamic extents are estimated.
    pub(super) fn points(&self) -> i64 {
        let extent = |l: usize| {
            let (array, dimension) = self.place(l)?;
            memref::extents(array.r#type()).get(dimension).copied()
        };
        let loops = 0..self.reductions.len();
        let extents = loops.map(|l| extent(l).filter(|n| *n >= 0).unwrap_or(ESTIMATE));
        extents.fold(1, i64::saturating_mul)
    }

    /// The number of results, or an upper bound, if one is known.
    fn results(&self) -> Option<i64> {
        let own = self.reductions.iter().enumerate().filter(|(_, reduces)| !**reduces);
        self.most(own.map(|(l, _)| l))
    }

    /// The number of iterations of loops, or an upper bound, if one is known.
    fn most(&self, mut loops: impl Iterator<Item = usize>) -> Option<i64> {
        loops.try_fold(1_i64, |all, l| {
            let (array, dimension) = self.place(l)?;
            let extent = i64::try_from(size::extent(array, dimension)?).ok()?;
            Some(all.saturating_mul(extent))
        })
    }

    /// Whether blocks compute it in tiles.
    pub(super) fn is_contraction(&self) -> bool {
        self.inputs > 1 && self.reductions.contains(&true) && is_tiled(self.op)
    }

    /// Whether it accesses the buffer of an array.
    pub(super) fn uses(&self, array: Value<'c, 'a>) -> bool {
        let root = memref::root_of(array);
        let mut arrays = self.operands.iter().flatten();
        arrays.any(|(own, _)| memref::root_of(*own) == root)
    }

    /// The type of the elements that it writes.
    pub(super) fn element(&self) -> Result<Type<'c>, PassError> {
        let target = self.operands.get(self.inputs).and_then(Option::as_ref);
        let (target, _) = target.ok_or_else(|| PassError::at(self.op, "writes nothing"))?;
        Ok(MemRefType::try_from(target.r#type())?.element())
    }

    /// Replaces the operation by loops of each thread.
    pub(super) fn lower(&self, threads: &mut Threads<'_, 'c, 'a>) -> Result<(), PassError> {
        let at = Builder::before(ir::context::of(self.op), self.op)?.with_location(self.op.location());
        let mut extents = Vec::new();
        for l in 0..self.reductions.len() {
            let (array, dimension) = self.place(l).ok_or("a loop without an extent")?;
            extents.push(extent(array, dimension, &at)?);
        }
        match &self.combination {
            None => self.each(&extents, threads, &at)?,
            Some(combination) => {
                let shares = self.results().is_none_or(|results| results * 2 <= threads.count);
                if shares {
                    self.together(combination, &extents, threads, &at)?
                } else {
                    self.each(&extents, threads, &at)?
                }
            }
        }
        barrier(&at)?;
        ir::erase(self.op);
        Ok(())
    }

    /// The loops of results, or of reductions, with their extents.
    fn loops(&self, reduces: bool, extents: &[Value<'c, 'a>]) -> Vec<(usize, Value<'c, 'a>)> {
        let loops = self.reductions.iter().enumerate().zip(extents);
        loops.filter(|((_, own), _)| **own == reduces).map(|((l, _), extent)| (l, *extent)).collect()
    }

    /// A thread computes results t, t + T, …
    fn each(
        &self,
        extents: &[Value<'c, 'a>],
        threads: &Threads<'_, 'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), PassError> {
        let (outer, inner) = (self.loops(false, extents), self.loops(true, extents));
        if inner.is_empty()
            && let Some(((last, extent), rows)) = outer.split_last()
            && let Some(most) = self.most(rows.iter().map(|(l, _)| *l))
            && most > 1
            && self.most(std::iter::once(*last)).is_none_or(|n| n >= threads.warp)
        {
            return self.each_of_rows((*last, *extent), (rows, most), extents, threads, at);
        }
        let count = volume(&outer, at)?;
        let (region, inside, number) = at.region(&[Type::index(at.context)]);
        let number = number.first().copied().ok_or("a loop without a number")?;
        let mut point = vec![None; extents.len()];
        split(number, &outer, &mut point, &inside)?;
        if inner.is_empty() {
            let values = self.payload(&point, None, &inside)?;
            self.store(&point, &values, &inside)?;
        } else {
            let first = self.load(self.inputs, &point, &inside)?;
            let zero = inside.index(0)?;
            let one = inside.index(1)?;
            let total = self.reduce(first, [zero, one], &inner, &point, &inside)?;
            self.store(&point, &[total], &inside)?;
        }
        inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        at.create(ops::scf::FOR, &[threads.thread, count, threads.width], &[], &[], vec![region])?;
        Ok(())
    }

    /// Groups of threads compute a row each, then the next ones: thread t of T elements t, t + T, …
    fn each_of_rows(
        &self,
        (last, extent): (usize, Value<'c, 'a>),
        (rows, most): (&[(usize, Value<'c, 'a>)], i64),
        extents: &[Value<'c, 'a>],
        threads: &Threads<'_, 'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), PassError> {
        let index = Type::index(at.context);
        let group = threads.groups(most, threads.warp, at)?;
        let (region, inside, number) = at.region(&[index]);
        let number = number.first().copied().ok_or("a loop without a number")?;
        let mut point = vec![None; extents.len()];
        split(number, rows, &mut point, &inside)?;
        let (inner, within, position) = inside.region(&[index]);
        if let Some(slot) = point.get_mut(last) {
            *slot = position.first().copied();
        }
        let values = self.payload(&point, None, &within)?;
        self.store(&point, &values, &within)?;
        within.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        let bounds = [group.thread, extent, group.width];
        inside.create(ops::scf::FOR, &bounds, &[], &[], vec![inner])?;
        inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        let bounds = [group.number, volume(rows, at)?, at.index(group.count)?];
        at.create(ops::scf::FOR, &bounds, &[], &[], vec![region])?;
        Ok(())
    }

    /// Groups of threads compute a result each, then the next ones.
    fn together(
        &self,
        combination: &Combination<'c, 'a>,
        extents: &[Value<'c, 'a>],
        threads: &Threads<'_, 'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), PassError> {
        let (outer, inner) = (self.loops(false, extents), self.loops(true, extents));
        let count = volume(&outer, at)?;
        let index = Type::index(at.context);
        let element = self.element()?;
        let name = element.to_string();
        let partial = threads.kinds.iter().position(|kind| *kind == name);
        let partial = partial.and_then(|n| threads.partial.get(n)).copied();
        let partial = partial.ok_or("no shared array")?;
        let group = threads.groups(self.results().unwrap_or(1), LEAST, at)?;
        let (region, inside, number) = at.region(&[index]);
        let first = number.first().copied().ok_or("a loop without a number")?;
        let (mut number, mut is_one) = (first, None);
        if group.count > 1 {
            let own = inside.value(ops::arith::ADDI, &[first, group.number], &[], index)?;
            is_one = Some(is_below(own, count, &inside)?);
            let last = inside.value(ops::arith::SUBI, &[count, inside.index(1)?], &[], index)?;
            number = inside.value(ops::arith::MINUI, &[own, last], &[], index)?;
        }
        let mut point = vec![None; extents.len()];
        split(number, &outer, &mut point, &inside)?;
        let constant = format!("arith.constant {} : {name}", combination.identity);
        let constant = ir::template(at.context, &[], &constant, self.op.location())?;
        let identity: Value = inside.insert(constant).result(0)?.into();
        let total = self.reduce(identity, [group.thread, group.width], &inner, &point, &inside)?;
        let store = |at: &Builder<'c, 'a>, value| {
            at.create(ops::memref::STORE, &[value, partial, threads.thread], &[], &[], Vec::new())
        };
        let load = |at: &Builder<'c, 'a>, place| at.value(ops::memref::LOAD, &[partial, place], &[], element);
        store(&inside, total)?;
        barrier(&inside)?;
        let mut half = threads.count / group.count / 2;
        while half > 0 {
            let is_first = is_below(group.thread, inside.index(half)?, &inside)?;
            when(is_first, &inside, |at| {
                let other = at.value(ops::arith::ADDI, &[threads.thread, at.index(half)?], &[], index)?;
                let sum = combination.combine(load(at, threads.thread)?, load(at, other)?, at)?;
                store(at, sum)?;
                Ok(())
            })?;
            barrier(&inside)?;
            half /= 2;
        }
        let mut is_first = is_below(group.thread, inside.index(1)?, &inside)?;
        if let Some(is_one) = is_one {
            let flag = ir::types::flag(at.context);
            is_first = inside.value(ops::arith::ANDI, &[is_first, is_one], &[], flag)?;
        }
        when(is_first, &inside, |at| {
            let first = self.load(self.inputs, &point, at)?;
            let sum = combination.combine(first, load(at, threads.thread)?, at)?;
            self.store(&point, &[sum], at)
        })?;
        barrier(&inside)?;
        inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        let bounds = [at.index(0)?, count, at.index(group.count)?];
        at.create(ops::scf::FOR, &bounds, &[], &[], vec![region])?;
        Ok(())
    }

    /// Combines the values of a thread with a first one: those of points `from`, `from + step`, … of the reduction.
    fn reduce(
        &self,
        first: Value<'c, 'a>,
        [from, step]: [Value<'c, 'a>; 2],
        inner: &[(usize, Value<'c, 'a>)],
        point: &[Option<Value<'c, 'a>>],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let count = volume(inner, at)?;
        let kind = first.r#type();
        let (region, inside, values) = at.region(&[Type::index(at.context), kind]);
        let [number, sum] = values.as_slice() else {
            return Err(PassError::at(self.op, "a loop without a sum"));
        };
        let mut point = point.to_vec();
        split(*number, inner, &mut point, &inside)?;
        let next = self.payload(&point, Some(*sum), &inside)?;
        inside.create(ops::scf::YIELD, &next, &[], &[], Vec::new())?;
        let operands = [from, count, step, first];
        let looped = at.create(ops::scf::FOR, &operands, &[], &[kind], vec![region])?;
        Ok(looped.result(0)?.into())
    }

    /// The results of the payload at a point, where `sum` is in place of the element that is reduced into.
    fn payload(
        &self,
        point: &[Option<Value<'c, 'a>>],
        sum: Option<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, PassError> {
        let Some(body) = Generic::cast(self.op).and_then(Generic::body) else {
            // A fill has a scalar, a copy an element.
            return Ok(vec![match self.operands.first() {
                Some(Some(_)) => self.load(0, point, at)?,
                _ => ir::operand(self.op)?,
            }]);
        };
        let mut copier = Copier::new();
        for (n, argument) in arguments(body).into_iter().enumerate() {
            if ir::users(argument).is_empty() {
                continue;
            }
            let value = match sum.filter(|_| n == self.inputs) {
                Some(sum) => sum,
                None => self.load(n, point, at)?,
            };
            copier.set(argument, value);
        }
        let operations = ir::operations(body);
        let (end, payload) = operations.split_last().ok_or("an empty payload")?;
        for op in payload {
            if let Some(l) = index_of(*op) {
                let own = point.get(l).copied().flatten().ok_or("a loop without a position")?;
                copier.set(Value::from(op.result(0)?), own);
                continue;
            }
            copier.copy(*op, at, &mut |_, _, _| Ok(false))?;
        }
        Ok(end.operands().map(|value| copier.get(value)).collect())
    }

    /// The subscripts of an operand at a point.
    fn subscripts(
        &self,
        forms: &[Affine],
        point: &[Option<Value<'c, 'a>>],
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, PassError> {
        let subscript = |form: &Affine| match (form.as_index(), form.as_constant()) {
            (Some(l), _) => {
                let own = point.get(l).copied().flatten();
                own.ok_or_else(|| PassError::at(self.op, "has a loop without a position"))
            }
            (None, Some(constant)) => Ok(at.index(constant)?),
            (None, None) => Err(PassError::at(self.op, "has other subscripts")),
        };
        forms.iter().map(subscript).collect()
    }

    /// An element of an operand, or a scalar.
    fn load(
        &self,
        operand: usize,
        point: &[Option<Value<'c, 'a>>],
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let Some((array, forms)) = self.operands.get(operand).and_then(Option::as_ref) else {
            return Ok(self.op.operand(operand)?);
        };
        let subscripts = self.subscripts(forms, point, at)?;
        let element = MemRefType::try_from(array.r#type())?.element();
        let operands = [&[*array][..], &subscripts].concat();
        Ok(at.value(ops::memref::LOAD, &operands, &[], element)?)
    }

    /// Writes the results.
    fn store(
        &self,
        point: &[Option<Value<'c, 'a>>],
        values: &[Value<'c, 'a>],
        at: &Builder<'c, 'a>,
    ) -> Result<(), PassError> {
        let targets = self.operands.iter().skip(self.inputs).flatten();
        for ((array, forms), value) in targets.zip(values) {
            let subscripts = self.subscripts(forms, point, at)?;
            let operands = [&[*value, *array][..], &subscripts].concat();
            at.create(ops::memref::STORE, &operands, &[], &[], Vec::new())?;
        }
        Ok(())
    }
}

/// An estimate of an extent that is not known.
const ESTIMATE: i64 = 1024;

impl<'c: 'a, 'a> Combination<'c, 'a> {
    /// The last operation of a payload with one result, if it combines the element that is reduced into with a value, and their
    /// order may change.
    fn of(body: BlockRef<'c, 'a>, results: usize) -> Option<Self> {
        let operations = ir::operations(body);
        let end = operations.last()?;
        let sum = *arguments(body).last().filter(|_| results == 1)?;
        let (op, _) = ir::definition(end.operand(0).ok()?)?;
        let operands: Vec<Value> = op.operands().collect();
        let uses = operands.iter().filter(|value| **value == sum).count();
        let is_alone = operands.len() == 2 && uses == 1 && ir::users(sum).len() == 1;
        if !is_alone {
            return None;
        }
        let element = sum.r#type().to_string();
        let combine = Combine::of(&ir::name(op), "", &element)?;
        let may_move = |fast: Attribute| fast.to_string().contains("reassoc");
        let is_free = !combine.rounds(&element) || op.attribute("fastmath").is_ok_and(may_move);
        let is_sum = combine.reduction == "add" && combine.rounds(&element);
        is_free.then(|| Combination {
            op,
            // The negative zero changes no sum.
            identity: if is_sum { "-0.0".to_owned() } else { combine.identity },
        })
    }

    fn combine(
        &self,
        one: Value<'c, 'a>,
        other: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let copy = with_operands(self.op, &[one, other], at)?;
        Ok(copy.result(0)?.into())
    }
}

/// An extent of an array.
fn extent<'c: 'a, 'a>(
    array: Value<'c, 'a>,
    dimension: usize,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let known = memref::extents(array.r#type()).get(dimension).copied();
    if let Some(known) = known.filter(|known| *known >= 0) {
        return at.index(known);
    }
    let number = at.index(i64::try_from(dimension).unwrap_or(i64::MAX))?;
    at.value(ops::memref::DIM, &[array, number], &[], Type::index(at.context))
}

/// The number of points of loops.
fn volume<'c: 'a, 'a>(
    loops: &[(usize, Value<'c, 'a>)],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    let index = Type::index(at.context);
    let mut all = at.index(1)?;
    for (n, (_, extent)) in loops.iter().enumerate() {
        all = match n {
            0 => *extent,
            _ => at.value(ops::arith::MULI, &[all, *extent], &[], index)?,
        };
    }
    Ok(all)
}

/// The positions of loops at a point by its number, the last loop fastest.
fn split<'c: 'a, 'a>(
    number: Value<'c, 'a>,
    loops: &[(usize, Value<'c, 'a>)],
    point: &mut [Option<Value<'c, 'a>>],
    at: &Builder<'c, 'a>,
) -> Result<(), Error> {
    let index = Type::index(at.context);
    let is_one = |extent: Value| super::threads::constant(extent) == Some(1);
    let first = loops.iter().position(|(_, extent)| !is_one(*extent));
    let mut rest = number;
    for (n, (l, extent)) in loops.iter().enumerate().rev() {
        let own = match n {
            _ if is_one(*extent) => at.index(0)?,
            n if Some(n) == first => rest,
            _ => {
                let own = at.value(ops::arith::REMUI, &[rest, *extent], &[], index)?;
                rest = at.value(ops::arith::DIVUI, &[rest, *extent], &[], index)?;
                own
            }
        };
        if let Some(slot) = point.get_mut(*l) {
            *slot = Some(own);
        }
    }
    Ok(())
}

/// The predicate `ult` of `arith.cmpi`.
const UNSIGNED_LESS: i64 = 6;

fn barrier(at: &Builder) -> Result<(), Error> {
    at.create(ops::gpu::BARRIER, &[], &[], &[], Vec::new())?;
    Ok(())
}

/// Whether a number is less than another one.
fn is_below<'c: 'a, 'a>(
    number: Value<'c, 'a>,
    count: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    at.compare(UNSIGNED_LESS, number, count)
}

/// What threads do where a condition holds.
fn when<'c: 'a, 'a>(
    condition: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
    work: impl FnOnce(&Builder<'c, 'a>) -> Result<(), PassError>,
) -> Result<(), PassError> {
    let (region, inside, _) = at.region(&[]);
    work(&inside)?;
    inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
    at.create(ops::scf::IF, &[condition], &[], &[], vec![region, Region::new()])?;
    Ok(())
}
