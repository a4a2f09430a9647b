// SPDX-License-Identifier: Apache-2.0
//! `skript-vectorize-maps`: computes elementwise operations whose instructions LLVM does not select by vectors.
//!
//! LLVM vectorizes elementwise operations. It does not know quotients by a value that stays the same along a row ([`quotients`]), and has
//! no form of its own for the instructions of AVX-512 that functions use on vectors. Operations of parallel loops that
//! have such quotients or functions become loops over vectors: several at once, then single ones, and a masked one for the elements that are left.
//! What stays the same along the innermost loop is computed before it.
//!
//! Requires: buffers. Guarantees: each element has the same bits as before.

mod quotients;

use super::rows::is_in_parallel;
use crate::ir::walk::named;
use crate::ir::{self, Builder, Copier, ValueKey, linalg, maps, memref, ops, scf, vector};
use melior::Error;
use melior::ir::attribute::DenseElementsAttribute;
use melior::ir::block::BlockLike;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Attribute, ShapedTypeLike, Type, TypeLike, Value, ValueLike};
use quotients::Divisor;
use skript_dialect::{Dialect, Pass, PassOption, op};
use std::collections::HashMap;

/// The pass `skript-vectorize-maps`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-vectorize-maps",
    summary: "compute elementwise operations with quotients or functions by vectors",
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
            let map = Map::of(op).filter(|_| is_in_parallel(op));
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

/// What operations are vectorized for.
struct Target {
    lanes: i64,
    /// Vectors that an iteration computes.
    vectors: i64,
    functions: bool,
}

/// Functions of which AVX-512 computes a step by an instruction that multiplies by powers of two.
const FUNCTIONS: [&str; 2] = [ops::math::ERF, ops::math::EXP];

/// An elementwise operation on arrays of f32, each of which is contiguous along the innermost loop, or has one element for all of it.
struct Map<'c, 'a> {
    /// The operations of the payload, the last one yields the results.
    payload: Vec<OperationRef<'c, 'a>>,
    arrays: Vec<Array<'c, 'a>>,
    /// An array and its dimension whose extent each loop has.
    bounds: Vec<(Value<'c, 'a>, usize)>,
}

/// An operand.
struct Array<'c, 'a> {
    value: Value<'c, 'a>,
    /// The loop of each dimension; `None` for the first element of all loops.
    loops: Vec<Option<usize>>,
    /// The element in the payload.
    element: Value<'c, 'a>,
    is_output: bool,
}

impl<'c: 'a, 'a> Map<'c, 'a> {
    fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = linalg::Generic::cast(op)?;
        let reductions = generic.reductions();
        if reductions.is_empty() || reductions.contains(&true) {
            return None;
        }
        let body = generic.body()?;
        let payload = ir::operations(body);
        let (last, computed) = payload.split_last()?;
        let outputs = last.operand_count();
        let inputs = op.operand_count().checked_sub(outputs)?;
        if op.result_count() != 0 || !computed.iter().all(|own| is_vectorizable(*own)) {
            return None;
        }

        let mut bounds = vec![None; reductions.len()];
        let mut arrays = Vec::new();
        let operands = op.operands().zip(generic.indexing_maps());
        for (position, (value, map)) in operands.enumerate() {
            let memref = MemRefType::try_from(value.r#type()).ok()?;
            if !memref.element().is_f32() {
                return None;
            }
            let mut loops = Vec::new();
            for (dimension, form) in maps::forms(map)?.iter().enumerate() {
                let own = form.as_index();
                let is_first = form.indices().is_empty() && form.offset() == 0;
                if own.is_none() && !is_first {
                    return None;
                }
                if let Some(own) = own {
                    bounds.get_mut(own)?.get_or_insert((value, dimension));
                }
                loops.push(own);
            }
            let array = Array {
                value,
                loops,
                element: body.argument(position).ok()?.into(),
                is_output: position >= inputs,
            };
            let innermost = reductions.len() - 1;
            let (strides, _) = memref.strides_and_offset();
            let is_contiguous = strides.last() == Some(&1) && array.is_along(innermost);
            let stays = !array.is_output && !array.loops.contains(&Some(innermost));
            if !is_contiguous && !stays {
                return None;
            }
            arrays.push(array);
        }
        let bounds = bounds.into_iter().collect::<Option<_>>()?;
        Some(Map { payload, arrays, bounds })
    }

    fn innermost(&self) -> usize {
        self.bounds.len() - 1
    }

    /// Whether the operation is long enough, and has what LLVM does not vectorize as well.
    fn gains(&self, target: &Target) -> bool {
        let extent = self.bounds.last().and_then(|(array, dimension)| {
            let extents = memref::extents(array.r#type());
            extents.get(*dimension).copied()
        });
        // Of a dynamic one, nothing is known.
        let is_long = extent.is_some_and(|extent| extent < 0 || extent >= 2 * target.lanes);
        let varying = self.varying();
        let differs = |value| varying.contains_key(&ValueKey::of(value));
        let mut results = self.payload.last().into_iter().flat_map(|end| end.operands());
        let mut computed = self.payload.iter();
        target.lanes > 1
            && is_long
            && results.all(differs)
            && computed.any(|own| {
                let is_function = FUNCTIONS.contains(&ir::name(*own).as_str());
                (is_function && target.functions && varies(*own, &varying))
                    || quotients::divisor(*own, &varying).is_some()
            })
    }

    /// What differs along the innermost loop.
    fn varying(&self) -> HashMap<ValueKey, ()> {
        let innermost = self.innermost();
        let along = self.arrays.iter().filter(|array| array.is_along(innermost));
        let mut varying: HashMap<ValueKey, ()> =
            along.map(|array| (ValueKey::of(array.element), ())).collect();
        for own in &self.payload {
            if varies(*own, &varying) {
                varying.extend(own.results().map(|result| (ValueKey::of(result), ())));
            }
        }
        varying
    }

    /// Adds the loops that compute the same.
    fn emit(&self, target: &Target, at: &Builder<'c, 'a>) -> Result<(), Error> {
        let (last, outer) = self.bounds.split_last().ok_or(Error::OperationBuild)?;
        let length = extent(at, *last)?;
        if outer.is_empty() {
            return self.row(target, &[], length, at);
        }
        let counts: Result<Vec<_>, Error> = outer.iter().map(|bound| extent(at, *bound)).collect();
        let (region, inside, position) = at.region(&vec![Type::index(at.context); outer.len()]);
        self.row(target, &position, length, &inside)?;
        inside.create(ops::scf::REDUCE, &[], &[], &[], Vec::new())?;
        // Of an iteration of the loops that contain it, the operation is a part.
        scf::close_parallel(at, &counts?, 1, region)
    }

    /// The innermost loop at a position of the others.
    fn row(
        &self,
        target: &Target,
        outer: &[Value<'c, 'a>],
        length: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let index = Type::index(at.context);
        let varying = self.varying();
        // What stays the same, as scalars.
        let mut scalars = Copier::new();
        for array in &self.arrays {
            if !array.is_along(self.innermost()) {
                let operands = array.at(outer, None, at)?;
                let element = array.element.r#type();
                let value = at.value(ops::memref::LOAD, &operands, &[], element)?;
                scalars.set(array.element, value);
            }
        }
        for own in self.payload.iter().filter(|own| !varies(**own, &varying)) {
            scalars.copy(*own, at, &mut |_, _, _| Ok(false))?;
        }
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
            let step = at.index(step)?;
            let rest = at.value(ops::arith::REMUI, &[length, step], &[], index)?;
            at.value(ops::arith::SUBI, &[length, rest], &[], index)
        };
        let many = target.vectors * target.lanes;
        let (zero, several, single) = (at.index(0)?, whole(many)?, whole(target.lanes)?);
        scf::counted(at, [zero, several], many, |body, from| row.vectors(from, target.vectors, None, body))?;
        scf::counted(at, [several, single], target.lanes, |body, from| row.vectors(from, 1, None, body))?;
        scf::counted(at, [single, length], target.lanes, |body, from| {
            let left = body.value(ops::arith::SUBI, &[length, from], &[], index)?;
            let kind = vector::of(&[target.lanes], ir::types::flag(body.context));
            let mask = body.value(ops::vector::CREATE_MASK, &[left], &[], kind)?;
            row.vectors(from, 1, Some(mask), body)
        })
    }
}

impl<'c: 'a, 'a> Array<'c, 'a> {
    /// Whether the last dimension is that of a loop, and no other one is.
    fn is_along(&self, l: usize) -> bool {
        let dimensions = self.loops.iter().filter(|own| **own == Some(l));
        dimensions.count() == 1 && self.loops.last() == Some(&Some(l))
    }

    /// The array, and the subscripts at a position of the loops.
    fn at(
        &self,
        outer: &[Value<'c, 'a>],
        innermost: Option<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let mut operands = vec![self.value];
        for own in &self.loops {
            operands.push(match own {
                None => at.index(0)?,
                Some(l) => match outer.get(*l).copied().or(innermost) {
                    Some(position) => position,
                    None => at.index(0)?,
                },
            });
        }
        Ok(operands)
    }
}

/// The loops of one row.
struct Row<'c, 'a, 'm> {
    map: &'m Map<'c, 'a>,
    outer: &'m [Value<'c, 'a>],
    lanes: i64,
    varying: HashMap<ValueKey, ()>,
    /// What stays the same, as vectors.
    same: HashMap<ValueKey, Value<'c, 'a>>,
    divisors: HashMap<ValueKey, Divisor<'c, 'a>>,
}

impl<'c: 'a, 'a> Row<'c, 'a, '_> {
    /// Prepares vectors of what stays the same.
    fn broadcast(&mut self, scalars: &Copier<'c, 'a>, at: &Builder<'c, 'a>) -> Result<(), Error> {
        for own in self.map.payload.iter().filter(|own| varies(**own, &self.varying)) {
            if let Some(divisor) = quotients::divisor(*own, &self.varying) {
                let key = ValueKey::of(divisor);
                if !self.divisors.contains_key(&key) {
                    let prepared = Divisor::new(scalars.get(divisor), self.lanes, at)?;
                    self.divisors.insert(key, prepared);
                }
            }
            for operand in own.operands() {
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

    /// Computes `count` vectors from a position on; of a masked one only the elements of the mask.
    fn vectors(
        &self,
        from: Value<'c, 'a>,
        count: i64,
        mask: Option<Value<'c, 'a>>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let index = Type::index(at.context);
        let mut positions = vec![from];
        for number in 1..count {
            let distance = at.index(number * self.lanes)?;
            positions.push(at.value(ops::arith::ADDI, &[from, distance], &[], index)?);
        }
        let mut computed: HashMap<ValueKey, Vec<Value<'c, 'a>>> = HashMap::new();
        for array in &self.map.arrays {
            if array.is_along(self.map.innermost()) && op::is_used(array.element) {
                let element = array.element.r#type();
                let load = |position: &Value<'c, 'a>| self.load(array, *position, mask, element, at);
                let loaded = positions.iter().map(load).collect::<Result<_, Error>>()?;
                computed.insert(ValueKey::of(array.element), loaded);
            }
        }
        let operand = |computed: &HashMap<ValueKey, Vec<Value<'c, 'a>>>, value, number: usize| {
            let key = ValueKey::of(value);
            let own = computed.get(&key).and_then(|all| all.get(number));
            own.or_else(|| self.same.get(&key)).copied().ok_or(Error::OperationBuild)
        };
        let (end, payload) = self.map.payload.split_last().ok_or(Error::OperationBuild)?;
        for own in payload.iter().filter(|own| varies(**own, &self.varying)) {
            let at = at.with_location(own.location());
            let mut operands = Vec::new();
            for number in 0..positions.len() {
                let all = own.operands().map(|value| operand(&computed, value, number));
                operands.push(all.collect::<Result<Vec<_>, Error>>()?);
            }
            let divisor = quotients::divisor(*own, &self.varying);
            let divisor = divisor.and_then(|divisor| self.divisors.get(&ValueKey::of(divisor)));
            let results = match divisor.filter(|_| count > 1) {
                Some(divisor) => {
                    let numerators = operands.iter().filter_map(|all| all.first().copied());
                    divisor.quotients(&numerators.collect::<Vec<_>>(), &at)?
                }
                None => {
                    let kinds: Vec<Type> =
                        own.results().map(|result| vector::of(&[self.lanes], result.r#type())).collect();
                    let copy = |operands: &Vec<Value<'c, 'a>>| -> Result<Value<'c, 'a>, Error> {
                        let copied = at.insert(op::clone_with(own, operands, &kinds));
                        Ok(copied.result(0)?.into())
                    };
                    operands.iter().map(copy).collect::<Result<_, Error>>()?
                }
            };
            computed.insert(ValueKey::of(own.result(0)?), results);
        }
        let outputs = self.map.arrays.iter().filter(|array| array.is_output);
        for (array, value) in outputs.zip(end.operands()) {
            for (number, position) in positions.iter().enumerate() {
                let value = operand(&computed, value, number)?;
                self.store(array, *position, mask, value, at)?;
            }
        }
        Ok(())
    }

    fn load(
        &self,
        array: &Array<'c, 'a>,
        position: Value<'c, 'a>,
        mask: Option<Value<'c, 'a>>,
        element: Type<'c>,
        at: &Builder<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let kind = vector::of(&[self.lanes], element);
        let mut operands = array.at(self.outer, Some(position), at)?;
        let Some(mask) = mask else {
            return at.value(ops::vector::LOAD, &operands, &[], kind);
        };
        let zero = at.value(ops::arith::CONSTANT, &[], &[("value", all(at, kind, "0.0 : f32")?)], kind)?;
        operands.extend([mask, zero]);
        at.value(ops::vector::MASKEDLOAD, &operands, &[], kind)
    }

    fn store(
        &self,
        array: &Array<'c, 'a>,
        position: Value<'c, 'a>,
        mask: Option<Value<'c, 'a>>,
        value: Value<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<(), Error> {
        let mut operands = array.at(self.outer, Some(position), at)?;
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

/// Whether an operation computes one element from those of its operands, on numbers of 32 bits and truth values.
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

/// The extent of a dimension of an array.
fn extent<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    (array, dimension): (Value<'c, 'a>, usize),
) -> Result<Value<'c, 'a>, Error> {
    let extents = memref::extents(array.r#type());
    match extents.get(dimension) {
        Some(extent @ 0..) => at.index(*extent),
        _ => {
            let dimension = at.index(i64::try_from(dimension).unwrap_or(0))?;
            at.value(ops::memref::DIM, &[array, dimension], &[], Type::index(at.context))
        }
    }
}

/// A vector of one value.
fn splat<'c: 'a, 'a>(value: Value<'c, 'a>, lanes: i64, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
    let kind = vector::of(&[lanes], value.r#type());
    at.value(ops::vector::BROADCAST, &[value], &[], kind)
}

/// The attribute of a vector of one element.
fn all<'c: 'a, 'a>(at: &Builder<'c, 'a>, kind: Type<'c>, element: &str) -> Result<Attribute<'c>, Error> {
    let element = Attribute::parse(at.context, element).ok_or(Error::OperationBuild)?;
    Ok(DenseElementsAttribute::new(kind, &[element])?.into())
}
