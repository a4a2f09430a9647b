// SPDX-License-Identifier: Apache-2.0
//! `skript-hoist-invariants`: computes costly scalars of a payload once for all points that share them.
//!
//! A scalar of a `linalg.generic` may vary along some of the loops only: the scale of a batch normalization varies along
//! the channels, the sine of a rotary embedding along positions; so may a subscript that is divided, of a resized image. If a division, a
//! root or another function is among the operations that compute it, they become a `linalg.generic` of their own over those loops, and the payload reads the
//! result. Values do not change: each operation has the same operands.
//!
//! Requires static extents of the loops that the scalar varies along. A scalar is hoisted if at least four points share it.

use crate::ir::builder::operations;
use crate::ir::copy::{Copier, arguments, with_attributes};
use crate::ir::linalg::{Generic, index_of};
use crate::ir::walk::named;
use crate::ir::{self, Builder, ValueKey, attributes, linalg, maps, ops, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, OperationRef, Type, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The pass `skript-hoist-invariants`.
pub(crate) const PASS: Pass = Pass {
    flag: "skript-hoist-invariants",
    summary: "compute costly scalars of a payload once for all points that share them",
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        let mut pending = named(root, ops::linalg::GENERIC);
        while let Some(op) = pending.pop() {
            let Some(payload) = Payload::of(op) else {
                continue;
            };
            let hoisted = payload.invariants();
            if !hoisted.is_empty() {
                let at = Builder::before(rewriter.context(), op)?;
                let (_, tensors) = hoist(&payload, &hoisted, &at)?;
                // What is hoisted may have invariants of its own.
                let makers = tensors.into_iter().filter_map(ir::definition);
                pending.extend(makers.map(|(maker, _)| maker));
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The minimum number of points that share a scalar which is hoisted.
const FEWEST_POINTS: u64 = 4;

/// An attribute of `linalg.generic` that MLIR does not parse: a defect of this pass.
const UNPARSABLE: &str = "an attribute of linalg.generic that MLIR does not parse";

/// Operations that take as long as the access to an element or longer.
fn is_costly(name: &str) -> bool {
    let is_simple = matches!(name, ops::math::ABSF | ops::math::ABSI | ops::math::COPYSIGN | ops::math::FMA);
    name == ops::arith::DIVF || name.starts_with("math.") && !is_simple
}

/// Operations that make a linear function of linear ones.
const LINEAR: [&str; 3] = [ops::arith::ADDI, ops::arith::SUBI, ops::arith::INDEX_CAST];

/// Divisions of integers.
const DIVISIONS: [&str; 3] = [ops::arith::DIVSI, ops::arith::FLOORDIVSI, ops::arith::REMSI];

/// The operations of a `linalg.generic` on tensors with the loops that their results vary along.
pub(crate) struct Payload<'c, 'a> {
    pub(crate) op: OperationRef<'c, 'a>,
    operations: Vec<OperationRef<'c, 'a>>,
    pub(crate) elements: Vec<Value<'c, 'a>>,
    /// By operand.
    pub(crate) subscripts: Vec<Vec<Affine>>,
    maps: Vec<Attribute<'c>>,
    /// Whether each loop is a reduction.
    reductions: Vec<bool>,
    /// `None` for a dynamic extent.
    extents: Vec<Option<u64>>,
    /// The loops that a value varies along; values from outside have no entry.
    loops: HashMap<ValueKey, BTreeSet<usize>>,
    /// Values that a costly operation of the payload contributes to, which varies along all of their loops.
    costly: HashSet<ValueKey>,
    /// Linear functions of the positions of loops.
    linear: HashSet<ValueKey>,
    /// Values that a division of integers contributes to.
    divided: HashSet<ValueKey>,
    /// Whether points are left out where a division has a remainder: such a payload is split into those that have none.
    is_divisible: bool,
}

impl<'c: 'a, 'a> Payload<'c, 'a> {
    pub(crate) fn of(op: OperationRef<'c, 'a>) -> Option<Self> {
        let generic = Generic::cast(op).filter(|_| op.result_count() > 0)?;
        let maps = generic.indexing_maps();
        let subscripts: Vec<Vec<Affine>> = maps.iter().map(|map| maps::forms(*map)).collect::<Option<_>>()?;
        let reductions = generic.reductions();
        let mut extents = vec![None; reductions.len()];
        for (operand, forms) in op.operands().zip(&subscripts) {
            for (form, extent) in forms.iter().zip(types::extents(operand.r#type())?) {
                if let (Some(l), Ok(extent)) = (form.as_index(), u64::try_from(extent)) {
                    *extents.get_mut(l)? = Some(extent);
                }
            }
        }
        let block = generic.body()?;
        let operations = operations(block);
        // A region may use any value of the payload.
        if operations.iter().any(|op| op.region_count() > 0) {
            return None;
        }
        let mut payload = Payload {
            op,
            operations,
            reductions,
            elements: arguments(block),
            subscripts,
            maps,
            extents,
            loops: HashMap::new(),
            costly: HashSet::new(),
            linear: HashSet::new(),
            divided: HashSet::new(),
            is_divisible: false,
        };
        // A destination's element changes with each point.
        let inputs = payload.elements.len().checked_sub(op.result_count())?;
        let all: BTreeSet<usize> = (0..payload.extents.len()).collect();
        let elements = payload.elements.iter().zip(&payload.subscripts);
        for (n, (element, forms)) in elements.enumerate() {
            let own = forms.iter().flat_map(Affine::as_linear).flatten();
            let own = own.map(|(l, _)| l).collect();
            let loops = if n < inputs { own } else { all.clone() };
            payload.loops.insert(ValueKey::of(*element), loops);
        }
        for op in payload.operations.clone() {
            payload.visit(op);
        }
        Some(payload)
    }

    fn visit(&mut self, op: OperationRef<'c, 'a>) {
        let mut loops: BTreeSet<usize> = index_of(op).into_iter().collect();
        let name = ir::name(op);
        let is_division = DIVISIONS.contains(&name.as_str());
        let keys: Vec<ValueKey> = op.operands().map(ValueKey::of).collect();
        let is_linear = |key: &ValueKey| {
            let mut loops = self.loops.get(key).into_iter().flatten();
            self.linear.contains(key) || loops.next().is_none()
        };
        // Several operations make a real of any other function of positions.
        let is_converted = name == ops::arith::SITOFP && !keys.iter().all(is_linear);
        let mut is_costly = is_costly(&name) || is_division || is_converted;
        let is_linear =
            index_of(op).is_some() || LINEAR.contains(&name.as_str()) && keys.iter().all(is_linear);
        for key in &keys {
            loops.extend(self.loops.get(key).into_iter().flatten());
        }
        is_costly |= keys.iter().any(|key| self.costly.contains(key) && self.loops.get(key) == Some(&loops));
        let mut divided = keys.iter().map(|key| self.divided.contains(key));
        let selects = name == ops::arith::SELECT && divided.clone().next() == Some(true);
        let is_divided = is_division || divided.any(|is_divided| is_divided);
        for result in op.results() {
            let key = ValueKey::of(result);
            self.loops.insert(key, loops.clone());
            if is_costly {
                self.costly.insert(key);
            }
            if is_divided {
                self.divided.insert(key);
            }
            if is_linear {
                self.linear.insert(key);
            }
            self.is_divisible |= selects && !result.r#type().is_index();
        }
    }

    pub(crate) fn loops_of(&self, value: Value<'c, 'a>) -> BTreeSet<usize> {
        self.loops.get(&ValueKey::of(value)).cloned().unwrap_or_default()
    }

    /// The number of loops.
    pub(crate) fn loops(&self) -> usize {
        self.extents.len()
    }

    /// The static extent of a loop.
    pub(crate) fn extent(&self, l: usize) -> Option<u64> {
        self.extents.get(l).copied().flatten()
    }

    /// Whether all of these loops have static extents.
    pub(crate) fn is_static(&self, loops: &BTreeSet<usize>) -> bool {
        let is_static = |l: &usize| self.extents.get(*l).is_some_and(Option::is_some);
        loops.iter().all(is_static)
    }

    /// Whether to compute a value before the loops: enough points share it, along loops with static extents.
    fn is_invariant(&self, value: Value<'c, 'a>) -> bool {
        let loops = self.loops_of(value);
        let others = (0..self.extents.len()).filter(|l| !loops.contains(l));
        // An extent that is not known is a long one.
        let shared = others.fold(1_u64, |all, l| {
            let extent = self.extents.get(l).copied().flatten();
            all.saturating_mul(extent.unwrap_or(FEWEST_POINTS))
        });
        shared >= FEWEST_POINTS
            && !loops.is_empty()
            && self.is_static(&loops)
            && self.costly.contains(&ValueKey::of(value))
            && self.has_tensors(value.r#type())
    }

    /// Whether values of a type are computed before the loops: reals, and subscripts.
    fn has_tensors(&self, r#type: Type) -> bool {
        let is_real = || {
            let text = r#type.to_string();
            text.trim_start_matches('b').starts_with('f')
        };
        r#type.is_index() && !self.is_divisible || is_real()
    }

    /// The invariant values that an operation uses which varies along more loops.
    fn invariants(&self) -> Vec<Value<'c, 'a>> {
        let mut found: Vec<Value> = Vec::new();
        for op in &self.operations {
            let is_itself_invariant =
                op.result_count() == 1 && op.result(0).is_ok_and(|result| self.is_invariant(result.into()));
            if is_itself_invariant {
                continue;
            }
            for operand in op.operands() {
                if self.is_invariant(operand) && !found.contains(&operand) {
                    found.push(operand);
                }
            }
        }
        found
    }

    /// The operations that compute values from the elements and from values that are known, in order.
    pub(crate) fn needed(
        &self,
        wanted: impl Iterator<Item = Value<'c, 'a>>,
        known: &[Value<'c, 'a>],
    ) -> Vec<OperationRef<'c, 'a>> {
        let mut needed: HashSet<ValueKey> = wanted.map(ValueKey::of).collect();
        let mut found = Vec::new();
        for op in self.operations.iter().rev() {
            let mut results = op.results().map(Value::from);
            if results.any(|r| needed.contains(&ValueKey::of(r)) && !known.contains(&r)) {
                needed.extend(op.operands().map(ValueKey::of));
                found.push(*op);
            }
        }
        found.reverse();
        found
    }
}

/// Replaces the payload's operation by one that reads the invariants; returns it, and the tensors of the invariants.
pub(crate) fn hoist<'c: 'a, 'a>(
    payload: &Payload<'c, 'a>,
    invariants: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<(OperationRef<'c, 'a>, Vec<Value<'c, 'a>>), PassError> {
    let op = payload.op;
    let count = payload.extents.len();
    let mut tensors = Vec::new();
    let mut tensor_maps = Vec::new();
    for value in invariants {
        let loops: Vec<usize> = payload.loops_of(*value).into_iter().collect();
        tensors.push(compute(payload, *value, &loops, at)?);
        let forms: Vec<Affine> = loops.into_iter().map(Affine::index).collect();
        tensor_maps.push(maps::map(at.context, count, &forms).ok_or(UNPARSABLE)?);
    }
    let last = payload.operations.last().ok_or("a payload without a yield")?;
    let needed = payload.needed(last.operands(), invariants);
    let used = needed.iter().chain([last]).flat_map(|op| op.operands());
    let used: HashSet<ValueKey> = used.map(ValueKey::of).collect();
    // Inputs that are still read, the new tensors, then the destinations.
    let inputs = payload.elements.len() - op.result_count();
    let written = payload.subscripts.iter().skip(inputs).flatten();
    let written: BTreeSet<usize> = written.filter_map(Affine::as_index).collect();
    // An input may be there for the extent of a loop.
    let has_extent = |n: usize| {
        let own = payload.subscripts.get(n).into_iter().flatten();
        let mut loops = own.filter_map(Affine::as_index);
        loops.any(|l| !written.contains(&l))
    };
    let is_kept =
        |n: usize, element: &Value| n >= inputs || used.contains(&ValueKey::of(*element)) || has_extent(n);
    let operands = op.operands().zip(&payload.maps).zip(&payload.elements).enumerate();
    let kept = operands.filter(|(n, (_, element))| is_kept(*n, element));
    let mut kept: Vec<_> = kept.map(|(_, ((value, map), element))| (value, *map, *element)).collect();
    let inputs = kept.len() - op.result_count();
    let hoisted = tensors.iter().copied().zip(tensor_maps).zip(invariants);
    kept.splice(inputs..inputs, hoisted.map(|((tensor, map), value)| (tensor, map, *value)));
    let all: Vec<Value> = kept.iter().map(|(value, ..)| *value).collect();
    let indexing: Vec<Attribute> = kept.iter().map(|(_, map, _)| *map).collect();
    let argument_types: Vec<Type> = kept.iter().map(|(.., element)| element.r#type()).collect();

    let (region, body, new) = at.region(&argument_types);
    let mut copier = Copier::new();
    for ((.., old), new) in kept.iter().zip(&new) {
        copier.set(*old, *new);
    }
    for inner in needed {
        copier.copy(inner, &body.with_location(inner.location()), &mut |_, _, _| Ok(false))?;
    }
    copier.copy(*last, &body.with_location(last.location()), &mut |_, _, _| Ok(false))?;
    let results: Vec<Type> = op.results().map(|r| r.r#type()).collect();
    let others = linalg::generic_attributes(
        at.context,
        &indexing,
        payload.reductions.iter().copied(),
        [inputs + invariants.len(), op.result_count()],
    );
    let others = others.ok_or(UNPARSABLE)?;
    let replacement = with_attributes(op, &all, &results, vec![region], &others, at)?;
    for (old, new) in op.results().zip(replacement.results()) {
        ir::replace_uses(old.into(), new.into());
    }
    ir::erase(op);
    Ok((replacement, tensors))
}

/// A tensor over some loops with a value of the payload.
pub(crate) fn compute<'c: 'a, 'a>(
    payload: &Payload<'c, 'a>,
    value: Value<'c, 'a>,
    loops: &[usize],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let needed = payload.needed(std::iter::once(value), &[]);
    let used: HashSet<ValueKey> = needed.iter().flat_map(|op| op.operands()).map(ValueKey::of).collect();
    let extents = loops.iter().map(|l| payload.extents.get(*l).copied().flatten());
    let extents: Option<Vec<i64>> = extents.map(|e| i64::try_from(e?).ok()).collect();
    let r#type = types::tensor(&extents.ok_or("a loop without an extent")?, value.r#type());
    let empty = at.value(ops::tensor::EMPTY, &[], &[], r#type)?;
    let mut inputs: Vec<Value> = Vec::new();
    let mut indexing = Vec::new();
    let mut elements = Vec::new();
    let over_loops = |forms: &[Affine]| maps::map_of(at.context, loops.iter().copied(), forms);
    for ((element, operand), forms) in
        payload.elements.iter().zip(payload.op.operands()).zip(&payload.subscripts)
    {
        if used.contains(&ValueKey::of(*element)) {
            inputs.push(operand);
            indexing.push(over_loops(forms).ok_or(UNPARSABLE)?);
            elements.push(*element);
        }
    }
    let own: Vec<Affine> = loops.iter().copied().map(Affine::index).collect();
    indexing.push(over_loops(&own).ok_or(UNPARSABLE)?);
    inputs.push(empty);
    let mut argument_types: Vec<Type> = elements.iter().map(|e| e.r#type()).collect();
    argument_types.push(value.r#type());
    let (region, body, new) = at.region(&argument_types);
    let mut copier = Copier::new();
    for (old, new) in elements.iter().zip(&new) {
        copier.set(*old, *new);
    }
    for inner in needed {
        let mut special = |copier: &mut Copier<'c, 'a>, inner: OperationRef<'c, 'a>, to: &Builder<'c, 'a>| {
            let Some(position) = index_of(inner).and_then(|l| loops.iter().position(|own| *own == l)) else {
                return Ok(false);
            };
            let dimension = attributes::i64(to.context, i64::try_from(position).unwrap_or(0));
            let index = to.value(ops::linalg::INDEX, &[], &[("dim", dimension)], Type::index(to.context))?;
            copier.set(inner.result(0)?, index);
            Ok(true)
        };
        copier.copy(inner, &body.with_location(inner.location()), &mut special)?;
    }
    body.create(ops::linalg::YIELD, &[copier.get(value)], &[], &[], Vec::new())?;
    let attributes =
        linalg::generic_attributes(at.context, &indexing, loops.iter().map(|_| false), [elements.len(), 1]);
    let generic =
        at.create(ops::linalg::GENERIC, &inputs, &attributes.ok_or(UNPARSABLE)?, &[r#type], vec![region])?;
    Ok(generic.result(0)?.into())
}
