// SPDX-License-Identifier: Apache-2.0
//! `skript-map-rows`: lets the threads of a block compute the operations on a row together.
//!
//! `skript-fuse-rows` makes one parallel loop of operations with common rows, such as those of a softmax or of a normalization. A block
//! computes an iteration of it, one operation after the other, and waits for all threads after each. The points of an elementwise
//! operation are shared by the threads. A reduction has as many threads as results, or all of them for each result: thread t of T combines
//! elements t, t + T, …, and shared memory has the results, which are combined in pairs. Arrays of a row that nothing else reads are in
//! shared memory.
//!
//! Requires: buffers, linalg operations. Guarantees: the order of sums depends on extents and on the number of threads alone.

use super::outline::MOST_BLOCKS;
use super::reductions::runs_on_host;
use super::threads::{Bounds, positions};
use crate::ir::copy::{Copier, arguments, with_operands};
use crate::ir::linalg::{Fill, Generic, index_of};
use crate::ir::splice::splice;
use crate::ir::{self, Builder, attributes, maps, memref, ops, regions};
use crate::schedule::body::Combine;
use crate::schedule::targets::gpus::Gpu;
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, BlockRef, Region, ShapedTypeLike, Type, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};
use skript_symbolic::Affine;

/// The pass `skript-map-rows`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-map-rows",
    summary: "let the threads of a block compute the operations on a row together",
    anchor: Some(ops::builtin::MODULE),
    dependent_dialects: &[Dialect::Arith, Dialect::Gpu, Dialect::MemRef, Dialect::Scf],
    options: &[super::GPU],
    run: |root, options, _| {
        let gpu = super::named_gpu(options)?;
        let entry = ir::entry(root)?;
        let loops = ir::walk::named(entry, ops::scf::PARALLEL).into_iter();
        for op in loops.filter(|op| runs_on_host(*op, entry)) {
            if let Some(rows) = Rows::of(op) {
                rows.map(gpu)?;
            }
        }
        Ok(())
    },
};

/// Whether the threads of a block may compute an operation together: it fills, copies, is elementwise, or reduces by one operation
/// whose order may change.
pub(in crate::schedule) fn is_shared(op: OperationRef) -> bool {
    Work::of(op).is_some()
}

/// A parallel loop whose iterations are operations on rows.
struct Rows<'c, 'a> {
    op: OperationRef<'c, 'a>,
    body: BlockRef<'c, 'a>,
    works: Vec<Work<'c, 'a>>,
    /// Arrays of a row.
    arrays: Vec<OperationRef<'c, 'a>>,
}

impl<'c: 'a, 'a> Rows<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let body = ir::first_block(op).filter(|_| op.result_count() == 0)?;
        let mut rows = Rows {
            op,
            body,
            works: Vec::new(),
            arrays: Vec::new(),
        };
        let operations = ir::operations(body);
        let (_, operations) = operations.split_last()?;
        for op in operations {
            match ir::name(*op).as_str() {
                ops::memref::ALLOCA => {
                    let array: Value = op.result(0).ok()?.into();
                    let users = ir::users(array).into_iter();
                    let is_static = memref::extents(array.r#type()).iter().all(|n| *n >= 0);
                    let is_direct = users.map(ir::name).all(|name| !name.starts_with("memref."));
                    (is_static && is_direct).then(|| rows.arrays.push(*op))?;
                }
                _ if op.region_count() == 0 && skript_dialect::op::is_pure(op) => {}
                _ => rows.works.push(Work::of(*op)?),
            }
        }
        let reduces = |work: &Work| work.reductions.contains(&true);
        rows.works.iter().any(reduces).then_some(rows)
    }

    /// Replaces the loop by blocks of threads.
    fn map(self, gpu: &Gpu) -> Result<(), PassError> {
        let threads = self.threads(gpu);
        let context = ir::context::of(self.op);
        let before = Builder::before(context, self.op)?;
        let bounds = Bounds::of(self.op);
        let (counts, all) = bounds.counts(&before)?;
        let mut shared = Vec::new();
        for array in &self.arrays {
            let kind = MemRefType::try_from(Value::from(array.result(0)?).r#type())?;
            shared.push(shared_array(
                &memref::extents(kind.into()),
                &kind.element().to_string(),
            ));
        }
        // One array for the results of threads, by the type of its elements.
        let mut kinds: Vec<String> = Vec::new();
        for work in &self.works {
            let element = work.element()?.to_string();
            if work.reductions.contains(&true) && !kinds.contains(&element) {
                kinds.push(element);
            }
        }
        shared.extend(kinds.iter().map(|kind| shared_array(&[threads], kind)));
        let names: Vec<String> = shared
            .iter()
            .enumerate()
            .map(|(n, kind)| format!("%s{n} : {kind}"))
            .collect();
        let text = format!(
            "%one = arith.constant 1 : index\n%most = arith.constant {MOST_BLOCKS} : index\n\
             %few = arith.minui %0, %most : index\n%blocks = arith.maxui %few, %one : index\n\
             %threads = arith.constant {threads} : index\n\
             gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %one, %gz = %one) \
             threads(%thread, %ty, %tz) in (%sx = %threads, %sy = %one, %sz = %one) workgroup({}) {{\n\
             scf.for %row = %bx to %0 step %gx {{\ngpu.barrier\n}}\ngpu.terminator\n}}",
            names.join(", ")
        );
        let spliced = splice(self.op, &[all], &text, &[])?;
        let launch = spliced.operations.last().copied().ok_or("no launch")?;
        let inner = ir::first_block(launch).ok_or("a launch without a body")?;
        let values: Vec<Value> = arguments(inner);
        let thread = values.get(3).copied().ok_or("a launch without threads")?;
        let shared = values.get(SIZES..).unwrap_or_default();
        let looped = ir::operations(inner).first().copied().ok_or("no loop")?;
        let row = ir::first_block(looped).ok_or("a loop without a body")?;
        let number = arguments(row)
            .first()
            .copied()
            .ok_or("a loop without a number")?;
        let first = ir::operations(row)
            .first()
            .copied()
            .ok_or("an empty loop")?;
        let at = Builder::before(context, first)?;
        let indices = positions(number, &bounds, &counts, &at)?;
        for (old, new) in arguments(self.body).into_iter().zip(indices) {
            ir::replace_uses(old, new);
        }
        let width = at.index(threads)?;
        let mut block = Threads {
            thread,
            width,
            count: threads,
            kinds: &kinds,
            partial: shared.get(self.arrays.len()..).unwrap_or_default(),
        };
        for (array, shared) in self.arrays.iter().zip(shared) {
            ir::replace_uses(array.result(0)?.into(), *shared);
            ir::erase(*array);
        }
        for work in &self.works {
            // On the arrays that are shared now.
            let work = Work::of(work.op);
            let work = work.ok_or("an operation that changed with its arrays")?;
            work.lower(&mut block)?;
        }
        // The barrier of the loop follows what the last operation has.
        regions::inline(first, &regions::take(self.op, 0)?)?;
        ir::erase(self.op);
        Ok(())
    }

    /// The threads of a block: as many as the longest row has elements, at least those of a warp.
    fn threads(&self, gpu: &Gpu) -> i64 {
        let (least, most) = (i64::from(gpu.warp), i64::from(gpu.block));
        let longest = self.works.iter().map(Work::points).max().unwrap_or(most);
        let mut threads = least;
        while threads * 2 <= most && threads < longest {
            threads *= 2;
        }
        threads
    }
}

/// Arguments of the body of a launch before its shared arrays.
const SIZES: usize = 12;

fn shared_array(extents: &[i64], element: &str) -> String {
    let extents: String = extents.iter().map(|n| format!("{n}x")).collect();
    format!("memref<{extents}{element}, #gpu.address_space<workgroup>>")
}

/// The threads of a block.
struct Threads<'t, 'c, 'a> {
    thread: Value<'c, 'a>,
    /// Their number.
    width: Value<'c, 'a>,
    count: i64,
    /// Types of elements, and for each a shared array with an element for each thread.
    kinds: &'t [String],
    partial: &'t [Value<'c, 'a>],
}

/// How the values of a reduction are combined.
struct Combination<'c, 'a> {
    op: OperationRef<'c, 'a>,
    identity: String,
}

/// An operation on arrays.
struct Work<'c, 'a> {
    op: OperationRef<'c, 'a>,
    reductions: Vec<bool>,
    /// The array of each operand with its subscripts by loops; `None` for a scalar.
    operands: Vec<Option<(Value<'c, 'a>, Vec<Affine>)>>,
    inputs: usize,
    combination: Option<Combination<'c, 'a>>,
}

impl<'c: 'a, 'a> Work<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
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
            return Some(elementwise(
                vec![Some(whole(from)), Some(whole(to))],
                rank(to),
            ));
        }
        let generic = Generic::cast(op)?;
        let body = generic.body()?;
        let operations = ir::operations(body);
        let (_, payload) = operations.split_last()?;
        let is_plain = |op: &OperationRef| {
            op.region_count() == 0 && skript_dialect::op::is_pure(op) || index_of(*op).is_some()
        };
        payload.iter().all(is_plain).then_some(())?;
        let mut operands = Vec::new();
        for (value, map) in op.operands().zip(generic.indexing_maps()) {
            let is_array = MemRefType::try_from(value.r#type()).is_ok();
            let forms = maps::forms(map)?;
            let is_simple =
                |form: &Affine| form.as_index().is_some() || form.as_constant().is_some();
            forms.iter().all(is_simple).then_some(())?;
            operands.push(is_array.then_some((value, forms)));
        }
        let inputs = *ir::typed::segments(op).first()?;
        let reductions = generic.reductions();
        let combination = match reductions.contains(&true) {
            true => Some(Combination::of(body, operands.len() - inputs)?),
            false => None,
        };
        let work = Work {
            op,
            reductions,
            operands,
            inputs,
            combination,
        };
        // Every loop has an extent.
        (0..work.reductions.len())
            .all(|l| work.place(l).is_some())
            .then_some(work)
    }

    /// The array and the dimension that a loop subscripts.
    fn place(&self, l: usize) -> Option<(Value<'c, 'a>, usize)> {
        self.operands.iter().flatten().find_map(|(array, forms)| {
            let own = forms.iter().position(|form| form.as_index() == Some(l));
            Some((*array, own?))
        })
    }

    /// The number of points, where dynamic extents are estimated.
    fn points(&self) -> i64 {
        let extent = |l: usize| {
            let (array, dimension) = self.place(l)?;
            memref::extents(array.r#type()).get(dimension).copied()
        };
        let loops = 0..self.reductions.len();
        let extents = loops.map(|l| extent(l).filter(|n| *n >= 0).unwrap_or(ESTIMATE));
        extents.fold(1, i64::saturating_mul)
    }

    /// The number of results, if it is known.
    fn results(&self) -> Option<i64> {
        let loops = self
            .reductions
            .iter()
            .enumerate()
            .filter(|(_, reduces)| !**reduces);
        loops
            .map(|(l, _)| self.place(l))
            .try_fold(1_i64, |all, place| {
                let (array, dimension) = place?;
                let extent = *memref::extents(array.r#type()).get(dimension)?;
                (extent >= 0).then(|| all.saturating_mul(extent))
            })
    }

    /// The type of the elements that it writes.
    fn element(&self) -> Result<Type<'c>, PassError> {
        let target = self.operands.get(self.inputs).and_then(Option::as_ref);
        let (target, _) = target.ok_or_else(|| PassError::at(self.op, "writes nothing"))?;
        Ok(MemRefType::try_from(target.r#type())?.element())
    }

    /// Replaces the operation by loops of each thread.
    fn lower(&self, threads: &mut Threads<'_, 'c, 'a>) -> Result<(), PassError> {
        let at =
            Builder::before(ir::context::of(self.op), self.op)?.with_location(self.op.location());
        let mut extents = Vec::new();
        for l in 0..self.reductions.len() {
            let (array, dimension) = self.place(l).ok_or("a loop without an extent")?;
            extents.push(extent(array, dimension, &at)?);
        }
        match &self.combination {
            None => self.each(&extents, threads, &at)?,
            Some(combination) => {
                let shares = self
                    .results()
                    .is_none_or(|results| results * 2 <= threads.count);
                match shares {
                    true => self.together(combination, &extents, threads, &at)?,
                    false => self.each(&extents, threads, &at)?,
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
        let loops = loops.filter(|((_, own), _)| **own == reduces);
        loops.map(|((l, _), extent)| (l, *extent)).collect()
    }

    /// A thread computes results t, t + T, …
    fn each(
        &self,
        extents: &[Value<'c, 'a>],
        threads: &Threads<'_, 'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), PassError> {
        let (outer, inner) = (self.loops(false, extents), self.loops(true, extents));
        let count = volume(&outer, at)?;
        let (region, inside, number) = at.region(&[Type::index(at.context)]);
        let number = number.first().copied().ok_or("a loop without a number")?;
        let mut point = vec![None; extents.len()];
        split(number, &outer, &mut point, &inside)?;
        match inner.is_empty() {
            true => {
                let values = self.payload(&point, None, &inside)?;
                self.store(&point, &values, &inside)?;
            }
            false => {
                let first = self.load(self.inputs, &point, &inside)?;
                let zero = inside.index(0)?;
                let one = inside.index(1)?;
                let total = self.reduce(first, [zero, one], &inner, &point, &inside)?;
                self.store(&point, &[total], &inside)?;
            }
        }
        inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        at.create(
            ops::scf::FOR,
            &[threads.thread, count, threads.width],
            &[],
            &[],
            vec![region],
        )?;
        Ok(())
    }

    /// All threads compute one result after the other.
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
        let (region, inside, number) = at.region(&[index]);
        let number = number.first().copied().ok_or("a loop without a number")?;
        let mut point = vec![None; extents.len()];
        split(number, &outer, &mut point, &inside)?;
        let constant = format!("arith.constant {} : {name}", combination.identity);
        let constant = ir::template(at.context, &[], &constant, self.op.location())?;
        let identity: Value = inside.insert(constant).result(0)?.into();
        let total = self.reduce(
            identity,
            [threads.thread, threads.width],
            &inner,
            &point,
            &inside,
        )?;
        let store = |at: &Builder<'c, 'a>, value| {
            at.create(
                ops::memref::STORE,
                &[value, partial, threads.thread],
                &[],
                &[],
                Vec::new(),
            )
        };
        let load = |at: &Builder<'c, 'a>, place| {
            at.value(ops::memref::LOAD, &[partial, place], &[], element)
        };
        store(&inside, total)?;
        barrier(&inside)?;
        let mut half = threads.count / 2;
        while half > 0 {
            when_below(threads.thread, half, &inside, |at| {
                let other = at.value(
                    ops::arith::ADDI,
                    &[threads.thread, at.index(half)?],
                    &[],
                    index,
                )?;
                let sum = combination.combine(load(at, threads.thread)?, load(at, other)?, at)?;
                store(at, sum)?;
                Ok(())
            })?;
            barrier(&inside)?;
            half /= 2;
        }
        when_below(threads.thread, 1, &inside, |at| {
            let first = self.load(self.inputs, &point, at)?;
            let sum = combination.combine(first, load(at, threads.thread)?, at)?;
            self.store(&point, &[sum], at)
        })?;
        barrier(&inside)?;
        inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
        let bounds = [at.index(0)?, count, at.index(1)?];
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
                let own = point
                    .get(l)
                    .copied()
                    .flatten()
                    .ok_or("a loop without a position")?;
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
        is_alone.then_some(())?;
        let element = sum.r#type().to_string();
        let combine = Combine::of(&ir::name(op), "", &element)?;
        let may_move = |fast: Attribute| fast.to_string().contains("reassoc");
        let is_free = !combine.rounds(&element) || op.attribute("fastmath").is_ok_and(may_move);
        let is_sum = combine.reduction == "add" && combine.rounds(&element);
        is_free.then(|| Combination {
            op,
            // The negative zero changes no sum.
            identity: if is_sum {
                "-0.0".to_owned()
            } else {
                combine.identity
            },
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
    at.value(
        ops::memref::DIM,
        &[array, number],
        &[],
        Type::index(at.context),
    )
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

/// What threads below a number do.
fn when_below<'c: 'a, 'a>(
    thread: Value<'c, 'a>,
    count: i64,
    at: &Builder<'c, 'a>,
    work: impl FnOnce(&Builder<'c, 'a>) -> Result<(), PassError>,
) -> Result<(), PassError> {
    let flag = ir::types::flag(at.context);
    let is_less = [("predicate", attributes::i64(at.context, UNSIGNED_LESS))];
    let operands = [thread, at.index(count)?];
    let below = at.value(ops::arith::CMPI, &operands, &is_less, flag)?;
    let (region, inside, _) = at.region(&[]);
    work(&inside)?;
    inside.create(ops::scf::YIELD, &[], &[], &[], Vec::new())?;
    at.create(
        ops::scf::IF,
        &[below],
        &[],
        &[],
        vec![region, Region::new()],
    )?;
    Ok(())
}
