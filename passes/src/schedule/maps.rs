// SPDX-License-Identifier: Apache-2.0
//! `skript-vectorize-maps`: vectorizes elementwise operations for which LLVM does not select vector instructions.
//!
//! LLVM vectorizes elementwise operations, but neither quotients with a loop-invariant divisor ([`quotients`]) nor functions that have
//! AVX-512 instructions for vectors. Operations of parallel loops with such quotients or functions become loops over vectors: a loop
//! over several vectors at once, then a loop over single vectors, and a masked vector for the remainder. Loop-invariant values are
//! computed before the innermost loop.
//!
//! Requires: buffers. Guarantees: each element has the same bits as before.

mod quotients;

use super::rows::is_in_parallel;
use crate::ir::generic::{LoopNest, Operand};
use crate::ir::walk::named;
use crate::ir::{self, Builder, Copier, ValueKey, memref, ops, scf, vector};
use crate::structure::Affine;
use melior::Error;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::{ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use quotients::Divisor;
use skript_dialect::{Dialect, Pass, PassOption, op};
use std::collections::HashMap;

/// The pass `skript-vectorize-maps`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-vectorize-maps",
    summary: "vectorize elementwise operations with quotients or functions",
    dependent_dialects: &[Dialect::Arith, Dialect::Math, Dialect::MemRef, Dialect::Scf, Dialect::Vector],
    options: &[
        PassOption { name: "vector-bits", summary: "bits of a vector register", default: "512" },
        PassOption { name: "vector-registers", summary: "number of vector registers", default: "32" },
        PassOption {
            name: "functions",
            summary: "whether functions have instructions on vectors that LLVM does not select",
            default: "false",
        },
    ],
    run: |root, options, rewriter| {
        let bits: i64 = options.get("vector-bits")?;
        let registers: i64 = options.get("vector-registers")?;
        let target = Target {
            lanes: bits / ELEMENT_BITS,
            vectors: if registers >= 32 { 4 } else { 2 },
            functions: options.get("functions")?,
        };
        for op in named(root, ops::linalg::GENERIC) {
            let map = Map::new(op).filter(|_| is_in_parallel(op));
            if let Some(map) = map.filter(|map| map.gains(&target)) {
                map.emit(&target, &Builder::before(rewriter.context(), op)?)?;
                ir::erase(op);
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Bits of the elements of arrays.
const ELEMENT_BITS: i64 = 32;

/// How operations are vectorized.
struct Target {
    lanes: i64,
    /// The number of vectors that an iteration computes.
    vectors: i64,
    functions: bool,
}

/// Functions that multiply by powers of two, for which AVX-512 has an instruction.
const FUNCTIONS: [&str; 2] = [ops::math::ERF, ops::math::EXP];

/// An elementwise operation on arrays of f32 that are contiguous along the innermost loop, or invariant in it.
struct Map<'c, 'a> {
    nest: LoopNest<'c, 'a>,
    /// For each loop, an array and the dimension that has the extent of the loop.
    bounds: Vec<(Value<'c, 'a>, usize)>,
}

impl<'c: 'a, 'a> Map<'c, 'a> {
    fn new(op: OperationRef<'c, 'a>) -> Option<Self> {
        let nest = LoopNest::read(op).filter(|nest| nest.is_on_arrays() && !nest.reduces())?;
        let innermost = nest.reductions.len().checked_sub(1)?;
        let is_row = |(position, operand): (usize, &Operand<'c, 'a>)| {
            let is_plain = |form: &Affine| form.as_index().is_some() || form.as_constant() == Some(0);
            operand.forms.iter().all(is_plain)
                && operand.array().filter(|array| array.element().is_f32()).is_some_and(|array| {
                    let is_contiguous = array.strides_and_offset().0.last() == Some(&1);
                    let is_invariant = position < nest.inputs && !operand.varies(innermost);
                    is_contiguous && is_along(operand, innermost) || is_invariant
                })
        };
        let is_supported = nest.operands.iter().enumerate().all(is_row);
        if !is_supported || !nest.payload.iter().all(|op| is_vectorizable(*op)) {
            return None;
        }
        let bounds = (0..=innermost).map(|l| nest.place(l)).collect::<Option<_>>()?;
        Some(Map { nest, bounds })
    }

    fn innermost(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether the operation is long enough, and has an operation that LLVM does not vectorize well.
    fn gains(&self, target: &Target) -> bool {
        let extent = self.bounds.last().and_then(|(array, dimension)| {
            let extents = memref::extents(array.r#type());
            extents.get(*dimension).copied()
        });
        // A dynamic extent may be long.
        let is_long = extent.is_some_and(|extent| extent < 0 || extent >= 2 * target.lanes);
        let varying = self.varying();
        let differs = |value| varying.contains_key(&ValueKey::of(value));
        let mut computed = self.nest.payload.iter();
        target.lanes > 1
            && is_long
            && self.nest.yielded.iter().all(|value| differs(*value))
            && computed.any(|op| {
                let is_function = FUNCTIONS.contains(&ir::name(*op).as_str());
                (is_function && target.functions && varies(*op, &varying))
                    || quotients::divisor(*op, &varying).is_some()
            })
    }

    /// Values that vary along the innermost loop.
    fn varying(&self) -> HashMap<ValueKey, ()> {
        let innermost = self.innermost();
        let along = self.nest.operands.iter().filter(|array| is_along(array, innermost));
        let mut varying: HashMap<ValueKey, ()> =
            along.map(|array| (ValueKey::of(array.element), ())).collect();
        for op in &self.nest.payload {
            if varies(*op, &varying) {
                varying.extend(op.results().map(|result| (ValueKey::of(result), ())));
            }
        }
        varying
    }

    /// Emits the loops over vectors.
    fn emit(&self, target: &Target, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let (last, outer) = self.bounds.split_last().ok_or(Error::OperationBuild)?;
        let length = memref::extent(at, last.0, last.1)?;
        if outer.is_empty() {
            return self.row(target, &[], length, at);
        }
        let counts: Result<Vec<_>, Error> =
            outer.iter().map(|(array, dimension)| memref::extent(at, *array, *dimension)).collect();
        let (region, inside, position) = at.region(&vec![Type::index(at.context); outer.len()]);
        self.row(target, &position, length, &inside)?;
        inside.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
        // The operation is in an iteration of the parallel loops around it.
        scf::close_parallel(at, &counts?, 1, region)
    }

    /// Emits the innermost loop at a position of the others.
    fn row(
        &self,
        target: &Target,
        outer: &[Value<'c, 'a>],
        length: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let index = Type::index(at.context);
        let varying = self.varying();
        // Loop-invariant values, as scalars.
        let mut scalars = Copier::new();
        for array in &self.nest.operands {
            if !is_along(array, self.innermost()) {
                let operands = subscripted(array, outer, None, at)?;
                let element = array.element.r#type();
                let value = at.value(ops::memref::LOAD, &operands, &[], element)?;
                scalars.set(array.element, value);
            }
        }
        let invariant = self.nest.payload.iter().copied().filter(|op| !varies(*op, &varying));
        scalars.copy_all(&invariant.collect::<Vec<_>>(), at)?;
        let mut row = Row {
            map: self,
            outer,
            lanes: target.lanes,
            varying,
            same: HashMap::new(),
            divisors: HashMap::new(),
        };
        row.broadcast(&scalars, at)?;

        let whole = |step: i64| -> Result<Value<'c, 'a>, Error> {
            let step = at.idx(step);
            let rest = at.remui(length, step);
            at.value(ops::arith::SUBI, &[length, rest], &[], index)
        };
        let many = target.vectors * target.lanes;
        let (zero, several, single) = (at.idx(0), whole(many)?, whole(target.lanes)?);
        scf::counted(at, [zero, several], many, |body, from| row.vectors(from, target.vectors, None, body))?;
        scf::counted(at, [several, single], target.lanes, |body, from| row.vectors(from, 1, None, body))?;
        scf::counted(at, [single, length], target.lanes, |body, from| {
            let left = body.subi(length, from);
            let kind = vector::of(&[target.lanes], ir::types::flag(body.context));
            let mask = body.value(ops::vector::CREATE_MASK, &[left], &[], kind)?;
            row.vectors(from, 1, Some(mask), body)
        })
    }
}

/// Whether a loop indexes the last dimension of an array, and no other dimension.
fn is_along(array: &Operand, l: usize) -> bool {
    let dimensions = array.forms.iter().filter(|form| form.as_index() == Some(l));
    dimensions.count() == 1 && array.forms.last().and_then(Affine::as_index) == Some(l)
}

/// An array, and the subscripts at a position of the loops.
fn subscripted<'c: 'a, 'a>(
    array: &Operand<'c, 'a>,
    outer: &[Value<'c, 'a>],
    innermost: Option<Value<'c, 'a>>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, Error> {
    let mut operands = vec![array.value];
    for form in &array.forms {
        let position = form.as_index().and_then(|l| outer.get(l).copied().or(innermost));
        operands.push(position.map_or_else(|| at.index(0), Ok)?);
    }
    Ok(operands)
}

/// The loops of one row.
struct Row<'c, 'a, 'm> {
    map: &'m Map<'c, 'a>,
    outer: &'m [Value<'c, 'a>],
    lanes: i64,
    varying: HashMap<ValueKey, ()>,
    /// Loop-invariant values, as vectors.
    same: HashMap<ValueKey, Value<'c, 'a>>,
    divisors: HashMap<ValueKey, Divisor<'c, 'a>>,
}

impl<'c: 'a, 'a> Row<'c, 'a, '_> {
    /// Emits vectors of the loop-invariant values.
    fn broadcast(&mut self, scalars: &Copier<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), Error> {
        for op in self.map.nest.payload.iter().filter(|op| varies(**op, &self.varying)) {
            if let Some(divisor) = quotients::divisor(*op, &self.varying) {
                let key = ValueKey::of(divisor);
                if !self.divisors.contains_key(&key) {
                    let prepared = Divisor::new(scalars.get(divisor), self.lanes, at)?;
                    self.divisors.insert(key, prepared);
                }
            }
            for operand in op.operands() {
                let key = ValueKey::of(operand);
                if self.varying.contains_key(&key) || self.same.contains_key(&key) {
                    continue;
                }
                let value = splat(scalars.get(operand), self.lanes, at)?;
                self.same.insert(key, value);
            }
        }
        Ok(())
    }

    /// Computes `count` vectors from a position on; only the elements of the mask, if there is one.
    fn vectors(
        &self,
        from: Value<'c, 'a>,
        count: i64,
        mask: Option<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let mut positions = vec![from];
        for number in 1..count {
            let distance = at.idx(number * self.lanes);
            positions.push(at.addi(from, distance));
        }
        let mut computed: HashMap<ValueKey, Vec<Value<'c, 'a>>> = HashMap::new();
        for array in &self.map.nest.operands {
            if is_along(array, self.map.innermost()) && array.is_read() {
                let element = array.element.r#type();
                let load = |position: &Value<'c, 'a>| self.load(array, *position, mask, element, at);
                let loaded = positions.iter().map(load).collect::<Result<_, Error>>()?;
                computed.insert(ValueKey::of(array.element), loaded);
            }
        }
        let operand = |computed: &HashMap<ValueKey, Vec<Value<'c, 'a>>>, value, number: usize| {
            let key = ValueKey::of(value);
            let known = computed.get(&key).and_then(|all| all.get(number));
            known.or_else(|| self.same.get(&key)).copied().ok_or(Error::OperationBuild)
        };
        for computation in self.map.nest.payload.iter().filter(|op| varies(**op, &self.varying)) {
            let at = at.with_location(computation.location());
            let mut operands = Vec::new();
            for number in 0..positions.len() {
                let all = computation.operands().map(|value| operand(&computed, value, number));
                operands.push(all.collect::<Result<Vec<_>, Error>>()?);
            }
            let divisor = quotients::divisor(*computation, &self.varying);
            let divisor = divisor.and_then(|divisor| self.divisors.get(&ValueKey::of(divisor)));
            let results = match divisor.filter(|_| count > 1) {
                Some(divisor) => {
                    let numerators = operands.iter().filter_map(|all| all.first().copied());
                    divisor.quotients(&numerators.collect::<Vec<_>>(), &at)?
                }
                None => {
                    let kinds: Vec<Type> = computation
                        .results()
                        .map(|result| vector::of(&[self.lanes], result.r#type()))
                        .collect();
                    let copy = |operands: &Vec<Value<'c, 'a>>| -> Result<Value<'c, 'a>, Error> {
                        let copied = at.insert(op::clone_with(computation, operands, &kinds));
                        Ok(copied.result(0)?.into())
                    };
                    operands.iter().map(copy).collect::<Result<_, Error>>()?
                }
            };
            computed.insert(ValueKey::of(computation.result(0)?), results);
        }
        for (array, value) in self.map.nest.outputs().iter().zip(&self.map.nest.yielded) {
            for (number, position) in positions.iter().enumerate() {
                let value = operand(&computed, *value, number)?;
                self.store(array, *position, mask, value, at)?;
            }
        }
        Ok(())
    }

    fn load(
        &self,
        array: &Operand<'c, 'a>,
        position: Value<'c, 'a>,
        mask: Option<Value<'c, 'a>>,
        element: Type<'c>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let kind = vector::of(&[self.lanes], element);
        let mut operands = subscripted(array, self.outer, Some(position), at)?;
        let Some(mask) = mask else {
            return at.value(ops::vector::LOAD, &operands, &[], kind);
        };
        let zero = at.zero(kind);
        operands.extend([mask, zero]);
        at.value(ops::vector::MASKEDLOAD, &operands, &[], kind)
    }

    fn store(
        &self,
        array: &Operand<'c, 'a>,
        position: Value<'c, 'a>,
        mask: Option<Value<'c, 'a>>,
        value: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let mut operands = subscripted(array, self.outer, Some(position), at)?;
        let name = match mask {
            None => {
                operands.insert(0, value);
                ops::vector::STORE
            }
            Some(mask) => {
                operands.extend([mask, value]);
                ops::vector::MASKEDSTORE
            }
        };
        at.create(name, &operands, &[], &[], Vec::new())?;
        Ok(())
    }
}

/// Whether an operation is elementwise and has one result, on 32-bit numbers and truth values.
fn is_vectorizable(op: OperationRef) -> bool {
    let is_number = |r#type: Type| r#type.is_f32() || ["i1", "i32"].contains(&r#type.to_string().as_str());
    let mut types = op.operands().map(|value| value.r#type());
    let mut results = op.results().map(|value| value.r#type());
    let is_constant = ir::name(op) == ops::arith::CONSTANT;
    (is_constant || op::has_elementwise_trait(&op))
        && op.result_count() == 1
        && op.region_count() == 0
        && types.all(is_number)
        && results.all(is_number)
}

/// Whether an operation has an operand that differs along the innermost loop.
fn varies<'c: 'a, 'a>(op: OperationRef<'c, 'a>, varying: &HashMap<ValueKey, ()>) -> bool {
    op.operands().any(|value| varying.contains_key(&ValueKey::of(value)))
}

/// A vector of one value.
fn splat<'c: 'a, 'a>(value: Value<'c, 'a>, lanes: i64, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    let kind = vector::of(&[lanes], value.r#type());
    at.value(ops::vector::BROADCAST, &[value], &[], kind)
}
