// SPDX-License-Identifier: Apache-2.0
//! `skript-split-dependences`: computes innermost loops in vectors if their iterations depend on each other in one known iteration
//! only, or not at all.
//!
//! In `d[i, j] := min(d[i, j], d[i, k] + d[k, j])` with `j` as the innermost loop, iterations depend on each other only because iteration
//! `j = k` writes `d[i, k]`. The iterations of one vector around `k` are computed in order, and the iterations before and after them in
//! vectors, with `d[i, k]` loaded once. LLVM would test whether the rows overlap, for all rows of the outer loop at once, and they do.
//!
//! Requires: `scf` loops on buffers. Guarantees: iterations before and after the one that others depend on remain so; they compute the
//! same values.

use super::buffer_uses::has_own_buffer;
use crate::ir::builder::arith::Integers;
use crate::ir::memref::root_of;
use crate::ir::scf::{self, Bounds};
use crate::ir::uses::defined_by;
use crate::ir::walk::named;
use crate::ir::{self, Builder, Copier, ops, vector};
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, TypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, op};

/// The pass `skript-split-dependences`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-split-dependences",
    summary: "compute loops in vectors before and after the iteration that the others depend on",
    dependent_dialects: &[Dialect::Arith, Dialect::MemRef, Dialect::Scf, Dialect::Vector],
    run: |root, _, rewriter| {
        for op in named(root, ops::scf::FOR) {
            if let Some(split) = Split::new(op) {
                let at = Builder::before(rewriter.context(), op)?;
                split.emit(&at)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Bytes of a vector.
const BYTES: i64 = 64;

/// Minimum number of vectors of a loop.
const MIN_VECTORS: i64 = 2;

/// Maximum number of operations of a loop, since it is copied up to four times.
const MAX_SIZE: usize = 64;

/// A load or a store.
struct Access<'c, 'a> {
    array: Value<'c, 'a>,
    subscripts: Vec<Subscript<'c, 'a>>,
    is_store: bool,
}

/// A subscript of an access.
#[derive(Clone, Copy)]
enum Subscript<'c, 'a> {
    /// The index of the loop plus a constant.
    Along(i64),
    /// A loop-invariant value.
    Fixed(Value<'c, 'a>),
    Other,
}

/// A loop whose iterations are independent, except for one.
struct Split<'c, 'a> {
    bounds: Bounds<'c, 'a>,
    index: Value<'c, 'a>,
    body: Vec<OperationRef<'c, 'a>>,
    /// The number of iterations of a vector.
    lanes: i64,
    /// The loads of elements that no iteration writes, except for the one that other iterations depend on.
    invariants: Vec<OperationRef<'c, 'a>>,
    /// The iteration that other iterations depend on, as a loop-invariant value minus a constant.
    cut: Option<(Value<'c, 'a>, i64)>,
}

impl<'c: 'a, 'a> Split<'c, 'a> {
    /// `None` for a loop that is kept.
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let bounds = *Bounds::all(op).first()?;
        let block = ir::first_block(op)?;
        let index = *ir::arguments(block).first()?;
        let mut body = ir::operations(block);
        body.pop();
        let is_plain = op.result_count() == 0 && body.iter().all(|op| op.region_count() == 0);
        if !is_plain || ir::integer(bounds.step) != Some(1) || body.len() > MAX_SIZE {
            return None;
        }
        let (mut accesses, mut lanes) = (Vec::new(), BYTES);
        for child in &body {
            match Access::new(*child, index, &body) {
                Some(access) => {
                    lanes = lanes.min(access.lanes()?);
                    accesses.push((*child, access));
                }
                None if is_elementwise(*child, index, &body) => {}
                None => return None,
            }
        }
        let is_short = bounds.iterations().is_some_and(|n| n < MIN_VECTORS * lanes);
        if is_short || is_rest(bounds.lower) {
            return None;
        }
        let cut = single_cut(&accesses)?;
        let loads = accesses.iter().filter(|(_, access)| !access.is_store && access.is_invariant());
        let invariants = loads.map(|(op, _)| *op).collect();
        Some(Split { bounds, index, body, lanes, invariants, cut })
    }

    fn emit(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        if self.bounds.iterations().is_some() {
            return self.parts(at);
        }
        // Loads before an empty loop may be out of bounds.
        let mut outcome = Ok(());
        let runs = at.cmpi(Integers::SignedLess, self.bounds.lower, self.bounds.upper);
        at.when(runs, |inside| outcome = self.parts(&inside));
        outcome
    }

    /// Emits the vectors before the iteration that others depend on, the iterations of one vector around it in order, and the iterations
    /// after it, of which the last ones may not fill a vector.
    fn parts(&self, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let Bounds { lower, upper, .. } = self.bounds;
        let mut from = lower;
        if let Some((value, offset)) = self.cut {
            let iteration = if offset == 0 { value } else { at.subi(value, at.idx(offset)) };
            let inside = at.minsi(at.maxsi(iteration, lower), upper);
            let cut = self.last_vector([lower, inside], at);
            self.vectors([lower, cut], at)?;
            from = at.minsi(at.addi(cut, at.idx(self.lanes)), upper);
            self.in_order([cut, from], at)?;
        }
        let last = self.last_vector([from, upper], at);
        self.vectors([from, last], at)?;
        self.in_order([last, upper], at)
    }

    /// The end of the vectors that fit into a range.
    fn last_vector(&self, [from, to]: [Value<'c, 'a>; 2], at: &Builder<'c, 'a>) -> Value<'c, 'a> {
        at.subi(to, at.remui(at.subi(to, from), at.idx(self.lanes)))
    }

    /// Emits a loop over single iterations.
    fn in_order(&self, bounds: [Value<'c, 'a>; 2], at: &Builder<'c, 'a>) -> Result<(), Error> {
        scf::counted(at, bounds, 1, |inside, index| {
            let mut copier = Copier::new();
            copier.set(self.index, index);
            copier.copy_all(&self.body, inside)
        })
    }

    /// Emits a loop over vectors of iterations.
    fn vectors(&self, bounds: [Value<'c, 'a>; 2], at: &Builder<'c, 'a>) -> Result<(), Error> {
        let mut copier = Copier::new();
        copier.copy_all(&self.invariants, at)?;
        scf::counted(at, bounds, self.lanes, |inside, index| {
            copier.set(self.index, index);
            for op in self.body.iter().filter(|op| !self.invariants.contains(op)) {
                let inside = &inside.with_location(op.location());
                let operands: Vec<Value> = op.operands().map(|value| copier.get(value)).collect();
                match (ir::name(*op).as_str(), operands.as_slice()) {
                    (ops::memref::LOAD, [array, place @ ..]) => {
                        let result = op.result(0)?;
                        let kind = vector::of(&[self.lanes], result.r#type());
                        copier.set(result, inside.load_vector(*array, place, kind, None));
                    }
                    (ops::memref::STORE, [value, array, place @ ..]) => {
                        inside.store_vector(inside.widened(*value, self.lanes), *array, place, None);
                    }
                    _ => copier.copy_lanes(*op, self.lanes, inside)?,
                }
            }
            Ok(())
        })
    }
}

impl<'c: 'a, 'a> Access<'c, 'a> {
    /// The access of an operation of a loop; `None` for other operations.
    fn new(op: OperationRef<'c, 'a>, index: Value<'c, 'a>, body: &[OperationRef<'c, 'a>]) -> Option<Self> {
        let is_store = op::is(&op, ops::memref::STORE);
        if !is_store && !op::is(&op, ops::memref::LOAD) {
            return None;
        }
        let mut operands = op.operands().skip(usize::from(is_store));
        let array = operands.next()?;
        let subscripts = operands.map(|value| Subscript::new(value, index, body)).collect();
        Some(Access { array, subscripts, is_store })
    }

    fn is_invariant(&self) -> bool {
        self.subscripts.iter().all(|subscript| matches!(subscript, Subscript::Fixed(_)))
    }

    /// The number of elements of a vector. `None` if the elements of consecutive iterations are neither contiguous nor the same.
    fn lanes(&self) -> Option<i64> {
        let memref = MemRefType::try_from(self.array.r#type()).ok()?;
        let (strides, _) = memref.strides_and_offset();
        let (last, outer) = self.subscripts.split_last()?;
        let is_row = matches!(last, Subscript::Along(_))
            && outer.iter().all(|subscript| matches!(subscript, Subscript::Fixed(_)))
            && strides.last() == Some(&1);
        let is_loaded = is_row || !self.is_store && self.is_invariant();
        vector::lanes(BYTES, memref.element()).filter(|_| is_loaded)
    }
}

impl<'c: 'a, 'a> Subscript<'c, 'a> {
    fn new(value: Value<'c, 'a>, index: Value<'c, 'a>, body: &[OperationRef<'c, 'a>]) -> Self {
        if value == index {
            return Subscript::Along(0);
        }
        let Some((op, _)) = ir::definition(value).filter(|(op, _)| body.contains(op)) else {
            return Subscript::Fixed(value);
        };
        let operands: Vec<Value> = op.operands().collect();
        let offset = match (ir::name(op).as_str(), operands.as_slice()) {
            (ops::arith::ADDI, [x, y]) if *x == index => ir::integer(*y),
            (ops::arith::ADDI, [x, y]) if *y == index => ir::integer(*x),
            (ops::arith::SUBI, [x, y]) if *x == index => ir::integer(*y).and_then(i64::checked_neg),
            _ => None,
        };
        offset.map_or(Subscript::Other, Subscript::Along)
    }
}

/// Whether a loop that begins here has the iterations that do not fill a vector, as [`Split::last_vector`] computes.
fn is_rest<'c: 'a, 'a>(lower: Value<'c, 'a>) -> bool {
    let operand = |op| ir::operand_at(op, 1).and_then(|value| defined_by(value, ops::arith::REMUI));
    defined_by(lower, ops::arith::SUBI).and_then(operand).is_some()
}

/// Whether an operation computes a subscript, or one value from values of the same iteration.
fn is_elementwise<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    index: Value<'c, 'a>,
    body: &[OperationRef<'c, 'a>],
) -> bool {
    let is_subscript = op.results().all(|result| result.r#type().is_index());
    // The index of the loop is not a vector.
    let mut operands = op.operands().filter(|operand| operand.r#type().is_index());
    let reads_index =
        operands.any(|value| !matches!(Subscript::new(value, index, body), Subscript::Fixed(_)));
    op.result_count() == 1 && op::has_elementwise_trait(&op) && is_subscript == reads_index
}

/// The iteration that other iterations depend on, as a value minus a constant. `None` if there are several ones, if iterations may
/// depend on each other in another way, or if LLVM knows that they are independent because they access the same elements of each array.
fn single_cut<'c: 'a, 'a>(
    accesses: &[(OperationRef<'c, 'a>, Access<'c, 'a>)],
) -> Option<Option<(Value<'c, 'a>, i64)>> {
    let (mut cut, mut is_known) = (None, true);
    for (_, store) in accesses.iter().filter(|(_, access)| access.is_store) {
        for (_, access) in accesses {
            let is_other = root_of(store.array) != root_of(access.array);
            if is_other && has_own_buffer(store.array) && has_own_buffer(access.array) {
                continue;
            }
            if store.array != access.array {
                return None;
            }
            let pairs = || store.subscripts.iter().zip(&access.subscripts);
            let is_along = |pair: &(&Subscript, &Subscript)| matches!(pair, (Subscript::Along(a), Subscript::Along(b)) if a == b);
            is_known &= pairs().all(|pair| match pair {
                (Subscript::Fixed(a), Subscript::Fixed(b)) => a == b,
                pair => is_along(&pair),
            });
            if pairs().any(|pair| is_along(&pair)) {
                continue;
            }
            let iteration = pairs().find_map(|pair| match pair {
                (Subscript::Along(offset), Subscript::Fixed(value)) => Some((*value, *offset)),
                _ => None,
            })?;
            if cut.is_some_and(|known| known != iteration) {
                return None;
            }
            cut = Some(iteration);
        }
    }
    (!is_known).then_some(cut)
}
