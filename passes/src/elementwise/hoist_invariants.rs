// SPDX-License-Identifier: Apache-2.0
//! `skript-hoist-invariants`: computes expensive scalars of a payload once for all points that share them.
//!
//! A scalar of a `linalg.generic` may vary along only some of the loops: the scale of a batch normalization varies along
//! the channels, the sine of a rotary embedding along positions, a divided subscript of a resized image along rows. If its computation
//! has a division, a root or another function, it becomes a separate `linalg.generic` with these loops, and the payload reads the
//! result. Values do not change, because each operation has the same operands.
//!
//! Requires static extents of the loops that the scalar varies along. A scalar is hoisted if at least four points share it.

use crate::ir::generic::{Access, LoopNest, Operand, PayloadPart, map, rebuild};
use crate::ir::linalg::index_of;
use crate::ir::walk::named;
use crate::ir::{self, Builder, Copier, ValueKey, ops, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::{Dialect, Pass, PassError};
use std::collections::{BTreeSet, HashMap, HashSet};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-hoist-invariants",
    summary: "compute expensive scalars of a payload once for all points that share them",
    dependent_dialects: &[Dialect::Linalg, Dialect::Tensor],
    run: |root, _, rewriter| {
        let mut pending = named(root, ops::linalg::GENERIC);
        while let Some(op) = pending.pop() {
            let Some(nest) = tensor_nest(op) else {
                continue;
            };
            let hoisted = Values::new(&nest).invariants();
            if !hoisted.is_empty() {
                let at = Builder::before(rewriter.context(), op)?;
                let (_, tensors) = hoist(&nest, &hoisted, &at)?;
                // Hoisted operations may also have invariants.
                let definitions = tensors.into_iter().filter_map(ir::definition);
                pending.extend(definitions.map(|(definition, _)| definition));
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The minimum number of points that share a hoisted scalar.
const MIN_POINTS: i64 = 4;

/// Whether an operation takes at least as long as an access to an element.
fn is_costly(name: &str) -> bool {
    let is_simple = matches!(name, ops::math::ABSF | ops::math::ABSI | ops::math::COPYSIGN | ops::math::FMA);
    name == ops::arith::DIVF || name.starts_with("math.") && !is_simple
}

/// Operations whose results are linear if their operands are linear.
const LINEAR: [&str; 4] = [ops::arith::ADDI, ops::arith::SUBI, ops::arith::INDEX_CAST, ops::arith::TRUNCI];

/// Divisions of integers.
const DIVISIONS: [&str; 3] = [ops::arith::DIVSI, ops::arith::FLOORDIVSI, ops::arith::REMSI];

/// The values of a payload, with the loops that they vary along.
struct Values<'n, 'c, 'a> {
    nest: &'n LoopNest<'c, 'a>,
    /// Values from outside the payload have no entry.
    loops: HashMap<ValueKey, BTreeSet<usize>>,
    /// Values that depend on an expensive operation of the payload that varies along the same loops.
    costly: HashSet<ValueKey>,
    /// Linear functions of the positions of loops.
    linear: HashSet<ValueKey>,
    /// Values that depend on a division of integers.
    divided: HashSet<ValueKey>,
    /// Whether points where a division has a remainder are skipped. Such a payload is later split into loops without remainders.
    is_divisible: bool,
}

impl<'n, 'c: 'a, 'a> Values<'n, 'c, 'a> {
    fn new(nest: &'n LoopNest<'c, 'a>) -> Self {
        let elements = nest.operands.iter().map(|operand| operand.element);
        let mut values = Values {
            nest,
            loops: elements.map(|element| (ValueKey::of(element), nest.loops_of(element))).collect(),
            costly: HashSet::new(),
            linear: HashSet::new(),
            divided: HashSet::new(),
            is_divisible: false,
        };
        nest.payload.iter().for_each(|op| values.visit(*op));
        values
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
        // Converting a function of positions that is not linear to a real takes several operations.
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

    /// Whether to compute a value before the loops. It must be shared by enough points, and vary along loops with static extents.
    fn is_invariant(&self, value: Value<'c, 'a>) -> bool {
        let Some(loops) = self.loops.get(&ValueKey::of(value)) else {
            return false;
        };
        let others = (0..self.nest.extents.len()).filter(|l| !loops.contains(l));
        // Dynamic extents are assumed to be large.
        let shared = others.map(|l| self.nest.extent(l).unwrap_or(MIN_POINTS));
        shared.fold(1, i64::saturating_mul) >= MIN_POINTS
            && !loops.is_empty()
            && loops.iter().all(|l| self.nest.extent(*l).is_some())
            && self.costly.contains(&ValueKey::of(value))
            && (value.r#type().is_index() && !self.is_divisible || value.r#type().is_float())
    }

    /// The invariant values that are used by operations that vary along more loops.
    fn invariants(&self) -> Vec<Value<'c, 'a>> {
        let is_other = |op: &&OperationRef<'c, 'a>| {
            let mut results = op.results().map(Value::from);
            op.result_count() != 1 || !results.all(|result| self.is_invariant(result))
        };
        let others = self.nest.payload.iter().filter(is_other).flat_map(|op| op.operands());
        let mut roots: Vec<Value> = Vec::new();
        for value in others.chain(self.nest.yielded.iter().copied()) {
            if self.is_invariant(value) && !roots.contains(&value) {
                roots.push(value);
            }
        }
        roots
    }
}

/// The nest of an operation on tensors. `None` if its payload has regions, which could use any value of the payload.
pub(crate) fn tensor_nest<'c: 'a, 'a>(op: OperationRef<'c, 'a>) -> Option<LoopNest<'c, 'a>> {
    let nest = LoopNest::read(op).filter(|nest| !nest.is_on_arrays())?;
    nest.payload.iter().all(|op| op.region_count() == 0).then_some(nest)
}

/// Replaces the nest by one that reads the invariants. Returns it, and the tensors of the invariants.
pub(crate) fn hoist<'c: 'a, 'a>(
    nest: &LoopNest<'c, 'a>,
    invariants: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Result<(OperationRef<'c, 'a>, Vec<Value<'c, 'a>>), PassError> {
    let mut hoisted = Vec::new();
    for value in invariants {
        let loops: Vec<usize> = nest.loops_of(*value).into_iter().collect();
        let tensor = compute(nest, *value, &loops, at)?;
        hoisted.push((Access(tensor, loops.into_iter().map(Affine::index).collect()), *value));
    }
    let needed = nest.needed(nest.yielded.iter().copied(), invariants);
    let used = needed.iter().flat_map(|op| op.operands()).chain(nest.yielded.iter().copied());
    let used: HashSet<ValueKey> = used.map(ValueKey::of).collect();
    // Inputs that are still read, the new tensors, then the destinations.
    let written: BTreeSet<usize> =
        nest.outputs().iter().flat_map(|output| &output.forms).filter_map(Affine::as_index).collect();
    // An input may only define the extent of a loop.
    let has_extent =
        |input: &Operand| input.forms.iter().filter_map(Affine::as_index).any(|l| !written.contains(&l));
    let is_kept = |input: &&Operand| used.contains(&ValueKey::of(input.element)) || has_extent(input);
    let kept = nest.inputs().iter().filter(is_kept).map(|input| (input.access(), input.element));
    let outputs = nest.outputs().iter().map(|output| (output.access(), output.element));
    let tensors = hoisted.iter().map(|(Access(tensor, _), _)| *tensor).collect();
    let (operands, elements): (Vec<Access>, Vec<Value>) = kept.chain(hoisted).chain(outputs).unzip();
    let replacement = rebuild(at, nest, &operands, &nest.reductions, |body, new| {
        let mut copier = Copier::from_pairs(&elements, new);
        copier.copy_all(&needed, body)?;
        Ok::<_, PassError>(nest.yielded.iter().map(|value| copier.get(*value)).collect())
    })?;
    for (old, new) in nest.op.results().zip(replacement.results()) {
        ir::replace_uses(old.into(), new.into());
    }
    ir::erase(nest.op);
    Ok((replacement, tensors))
}

/// Computes a value of the payload for some loops, as a tensor with these dimensions.
pub(crate) fn compute<'c: 'a, 'a>(
    nest: &LoopNest<'c, 'a>,
    value: Value<'c, 'a>,
    loops: &[usize],
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, PassError> {
    let extents: Option<Vec<i64>> = loops.iter().map(|l| nest.extent(*l)).collect();
    let r#type = types::tensor(&extents.ok_or("a loop without an extent")?, value.r#type());
    let all = 0..nest.extents.len();
    let renamed = all.map(|l| loops.iter().position(|other| *other == l)).collect();
    let part = PayloadPart::new(nest, &[value], renamed).ok_or("a subscript that is too large")?;
    map(at, &part.inputs, r#type, &[], |body, elements| Ok(part.copy(elements, body)?.get(value)))
}
