// SPDX-License-Identifier: Apache-2.0
//! Lowers one formula to `linalg.generic` on tensors.
//!
//! Affine reads become operands (bordered copies if skipped points would be out of bounds). The predicate selects the
//! identity where the border is not the identity. Blocks of outputs are slices. A formula that only renames elements is
//! a reshape.

use super::Refusal;
use super::block;
use super::border::Border;
use super::domain::{Domain, TargetBlock};
use super::dynamic_extents::{Fit, Open, Size, Sizes};
use super::equal_extents::EqualExtents;
use super::finite::are_finite;
use super::operand::{Operand, Operands, promote};
use super::payload::Payload;
use super::reshape::{Shaped, are_reshaped, reshape};
use crate::ir::linalg::generic_attributes;
use crate::ir::ops;
use crate::ir::{Builder, ValueKey, attributes, maps, splat, types};
use crate::structure::{Affine, Extent, Reading, Term};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, Type, Value, ValueLike};
use skript_frontend::model::Accumulation;
use skript_semantics::ScalarOp;
use std::collections::HashMap;

/// Marks the operation that combines an accumulator with a value: the only one that may be reassociated.
pub(crate) const ACCUMULATES: &str = "accumulates";

/// Builds the formula's results before it. `finite`: factors are assumed to be so, see [`Border`]. `same`: known equalities of dynamic extents.
///
/// # Errors
/// [`Refusal`] for a formula that runs in order, or writes elements that are not a block.
pub(crate) fn lower<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    finite: bool,
    same: &EqualExtents,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, Refusal> {
    if reading.nest.is_sparse() {
        return Err(Refusal::Shape("reduces over a range that data bound from both sides"));
    }
    if let Some(view) = view_by_digits(reading, same, at)? {
        return Ok(vec![view]);
    }
    let (digits, domain) = match by_digits(reading) {
        Some((digits, domain)) => (Some(digits), Some(domain)),
        None => (None, Domain::of(&reading.nest)?),
    };
    let Some(domain) = domain else {
        return Ok(reading.outs.clone());
    };
    let reading = digits.as_ref().unwrap_or(reading);
    let open = Open::of(reading, &domain, same)?;
    let nest = &reading.nest;
    let mut roots: Vec<_> = nest.targets.iter().map(|t| t.value).collect();
    if !domain.others.is_empty() {
        roots.extend(nest.predicate);
    }
    let element = reading.outs.first().map(|out| element_type(*out));
    let border = match element.transpose()?.and_then(types::kind_of) {
        Some(element) => Border::of(
            nest,
            &domain,
            element,
            |term| reading.widens(term),
            |term, access| open.ends(reading, &domain, term, access),
        ),
        None => None,
    };
    let operands = promote(reading, &domain, &open, &roots, border.as_ref(), at)?;
    let border = border.filter(|b| operands.of_access.contains_key(&b.access));
    if let Some(view) = view(reading, &domain, &open, &operands, at)? {
        return Ok(vec![view]);
    }

    // The guard is redundant: always, never, or if a value is true.
    let is_redundant = match &border {
        None => Redundant::Never,
        Some(border) if finite || border.factors.is_empty() => Redundant::Always,
        Some(border) => {
            let read = |term: &usize| operands.list.get(*operands.of_access.get(term)?);
            let factors: Option<Vec<_>> = border.factors.iter().map(read).collect();
            let value = match factors {
                Some(factors) => are_finite(&factors, &domain.extents, ACCUMULATES, at)?,
                None => None,
            };
            value.map_or(Redundant::Never, Redundant::If)
        }
    };

    let mut destinations = Vec::new();
    for (target, placement) in domain.placements.iter().enumerate() {
        destinations.push(Destination::open(reading, &domain, &open, target, placement, at)?);
    }
    let mut inputs = operands.list;
    let elements = inputs.len();
    inputs.extend(shape_operand(&inputs, &domain, &open, at)?);

    let mut element_types = Vec::new();
    for operand in &inputs {
        element_types.push(element_type(operand.tensor)?);
    }
    for destination in &destinations {
        element_types.push(element_type(destination.init)?);
    }
    let (region, inner, arguments) = at.region(&element_types);
    let mut known = HashMap::new();
    for (value, operand) in accesses(reading, &operands.of_access) {
        if let Some(argument) = arguments.get(operand).filter(|_| operand < elements) {
            known.insert(value, *argument);
        }
    }
    let mut payload = Payload::new(reading, &domain, inner, known);
    let speculates = domain.always_holds() || payload.is_speculatable(reading.body)?;
    let holds = match is_redundant {
        Redundant::Always if speculates => None,
        Redundant::If(redundant) if speculates => match payload.predicate()? {
            None => None,
            Some(holds) => {
                let flag = types::flag(at.context);
                Some(inner.scalar(ScalarOp::Or, &[holds, redundant], flag)?)
            }
        },
        _ => payload.predicate()?,
    };
    let present = arguments.get(inputs.len()..).ok_or(Refusal::Shape("has too few destinations"))?;
    let skipped = |present: &Value<'c, 'a>| skipped(reading, *present, &inner);
    let values = match holds {
        None => payload.values(&reading.values)?,
        Some(holds) => {
            let skipped = present.iter().map(skipped).collect::<Result<Vec<_>, _>>()?;
            payload.values_where(holds, &reading.values, &skipped, speculates)?
        }
    };
    let mut yielded = Vec::new();
    for (value, present) in values.iter().zip(present) {
        yielded.push(combine(reading, *value, *present, &inner)?);
    }
    inner.create(ops::linalg::YIELD, &yielded, &[], &[], Vec::new())?;

    let mut values: Vec<Value<'c, 'a>> = inputs.iter().map(|o| o.tensor).collect();
    values.extend(destinations.iter().map(|d| d.init));
    let results: Vec<Type<'c>> = destinations.iter().map(|d| d.init.r#type()).collect();
    let mut indexing: Vec<Vec<Affine>> = inputs.iter().map(|o| o.forms.clone()).collect();
    indexing.extend(domain.placements.iter().map(TargetBlock::forms));
    let op = at.create(
        ops::linalg::GENERIC,
        &values,
        &structure(&domain, &indexing, inputs.len(), results.len(), at)?,
        &results,
        vec![region],
    )?;
    let mut finished = Vec::new();
    for (destination, result) in destinations.iter().zip(op.results()) {
        finished.push(destination.close(result.into(), at)?);
    }
    Ok(finished)
}

/// When the guard of a formula is redundant, as the border that it reads has no effect.
enum Redundant<'c, 'a> {
    Never,
    Always,
    /// If this bool is true.
    If(Value<'c, 'a>),
}

/// A copy that only moves elements once its indices are split into digits, `y[i,] = u[i / c,i % c]`.
fn view_by_digits<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    same: &EqualExtents,
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Refusal> {
    let terms = &reading.nest.terms;
    let mut values = reading.nest.targets.iter().map(|t| terms.get(t.value));
    let copies = values.all(|value| matches!(value, Some(Term::Access { .. })));
    if reading.nest.kind != Accumulation::Assign || !copies {
        return Ok(None);
    }
    let Some(digits) = reading.by_digits(1) else {
        return Ok(None);
    };
    let Ok(Some(domain)) = Domain::of(&digits.nest) else {
        return Ok(None);
    };
    let Ok(open) = Open::of(&digits, &domain, same) else {
        return Ok(None);
    };
    let roots: Vec<_> = digits.nest.targets.iter().map(|t| t.value).collect();
    let operands = promote(&digits, &domain, &open, &roots, None, at)?;
    view(&digits, &domain, &open, &operands, at)
}

/// A combination with loops over the digits of divided indices: the groups of `x[o / m * n + c]`. Maps are as fast
/// without, and fuse better.
fn by_digits<'c: 'a, 'a>(reading: &Reading<'c, 'a>) -> Option<(Reading<'c, 'a>, Domain)> {
    let splits = |out: &Value| types::encoding_of(out.r#type()).is_none();
    if reading.nest.kind.op().is_none() || !reading.outs.iter().all(splits) {
        return None;
    }
    let digits = reading.by_digits(1)?;
    let domain = Domain::of(&digits.nest).ok()??;
    Some((digits, domain))
}

/// Maps, iterators and segments.
fn structure<'c>(
    domain: &Domain,
    indexing: &[Vec<Affine>],
    inputs: usize,
    outputs: usize,
    at: &Builder<'c, '_>,
) -> Result<[(&'static str, Attribute<'c>); 3], Refusal> {
    let loops = domain.extents.len();
    let maps = indexing.iter().map(|forms| maps::map(at.context, loops, forms));
    let maps: Option<Vec<Attribute<'c>>> = maps.collect();
    let reductions = (0..loops).map(|number| number >= domain.parallel);
    maps.and_then(|maps| generic_attributes(at.context, &maps, reductions, [inputs, outputs]))
        .ok_or(Refusal::Shape("has subscripts that no affine map holds"))
}

/// The contribution of a skipped point: the identity, or the current element.
fn skipped<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    present: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let (r#type, kind) = (present.r#type(), reading.nest.kind);
    if kind.op().is_none() {
        return Ok(present);
    }
    let scalar = types::kind_of(r#type).ok_or(Refusal::Shape("accumulates no numbers"))?;
    let identity = types::nearest(kind.identity(scalar), r#type);
    Ok(at.constant(identity, r#type)?)
}

/// The element's new value.
fn combine<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    value: Value<'c, 'a>,
    present: Value<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Refusal> {
    let Some(op) = reading.nest.kind.op() else {
        return Ok(value);
    };
    Ok(at.value(
        op.row().name,
        &[present, value],
        &[(ACCUMULATES, attributes::unit(at.context))],
        present.r#type(),
    )?)
}

/// For each access, the operand with its element.
fn accesses<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    of_access: &HashMap<usize, usize>,
) -> Vec<(ValueKey, usize)> {
    reading.elements.iter().filter_map(|(key, term)| Some((*key, *of_access.get(term)?))).collect()
}

fn element_type<'c>(tensor: Value<'c, '_>) -> Result<Type<'c>, Refusal> {
    types::element_of(tensor.r#type()).ok_or(Refusal::Shape("has operands that are not tensors"))
}

/// An operand that is never read. It defines the extents of loops that no other operand defines.
fn shape_operand<'c: 'a, 'a>(
    inputs: &[Operand<'c, 'a>],
    domain: &Domain,
    open: &Open<'_, 'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Option<Operand<'c, 'a>>, Refusal> {
    let outputs: Vec<Vec<Affine>> = domain.placements.iter().map(TargetBlock::forms).collect();
    let is_defined = |number: usize| {
        inputs.iter().map(|o| &o.forms).chain(&outputs).flatten().any(|form| form.as_index() == Some(number))
    };
    let undefined: Vec<usize> = (0..domain.extents.len()).filter(|n| !is_defined(*n)).collect();
    if undefined.is_empty() {
        return Ok(None);
    }
    let sizes: Sizes = undefined.iter().map(|n| open.size(*n)).collect();
    let r#type = types::tensor(&sizes.fixed, Type::float32(at.context));
    Ok(Some(Operand {
        tensor: at.value(ops::tensor::EMPTY, &sizes.values, &[], r#type)?,
        forms: undefined.into_iter().map(Affine::index).collect(),
    }))
}

/// The result without a loop, if the formula is a reshape of a full tensor.
fn view<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    domain: &Domain,
    open: &Open<'_, 'c, 'a>,
    operands: &Operands<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Option<Value<'c, 'a>>, Refusal> {
    let nest = &reading.nest;
    let ([target], [operand], [placement], [out]) = (
        nest.targets.as_slice(),
        operands.list.as_slice(),
        domain.placements.as_slice(),
        reading.outs.as_slice(),
    ) else {
        return Ok(None);
    };
    let is_copy = nest.kind == Accumulation::Assign
        && domain.always_holds()
        && matches!(nest.terms.get(target.value), Some(Term::Access { .. }))
        && operands.of_access.contains_key(&target.value)
        && placement.covers(&target.extents);
    if !is_copy {
        return Ok(None);
    }
    let written: Option<Vec<_>> = target.subscripts.iter().map(|s| domain.affine(nest, *s)).collect();
    let is_whole = |tensor: Value<'c, 'a>, (dimension, form): (usize, &Affine)| {
        let own = form.as_index();
        own.is_some_and(|own| open.fit(tensor, dimension, open.size(own)) == Fit::Whole)
    };
    let same = |from: &Shaped<'_>, to: &Shaped<'_>| {
        from.moves_nothing(to)
            && from.open().all(|own| is_whole(operand.tensor, own))
            && to.open().all(|own| is_whole(*out, own))
    };
    let source = types::extents(operand.tensor.r#type()).unwrap_or_default();
    let result = types::extents(out.r#type()).unwrap_or_default();
    let from = Shaped::of(&operand.forms, &source);
    let is_view = written.is_some_and(|written| same(&from, &Shaped::of(&written, &result)));
    if !is_view || !are_reshaped(&source, &result) {
        return Ok(None);
    }
    let (from, to) = (operand.tensor.r#type(), out.r#type());
    let encodings = [from, to].map(types::encoding_of);
    if from != to && encodings.iter().any(Option::is_some) {
        // A copy of the same shape is copied element by element.
        return if source == result { Ok(None) } else { Err(SHAPED) };
    }
    Ok(Some(reshape(operand.tensor, to, at)?))
}

/// The meaning of an encoding depends on the dimensions, so it is unknown for another shape.
const SHAPED: Refusal = Refusal::Shape("gives another shape to a tensor whose type has an encoding");

/// One output while its block is computed.
struct Destination<'c, 'a> {
    whole: Value<'c, 'a>,
    /// Offsets, sizes and strides, unless the block is the full output.
    slice: Option<(Vec<i64>, Sizes<'c, 'a>, Vec<i64>)>,
    block_type: Type<'c>,
    /// Loops by dimension, if some dimension has several.
    groups: Option<Vec<Vec<usize>>>,
    /// The init of the generic, with one dimension per loop.
    init: Value<'c, 'a>,
}

impl<'c: 'a, 'a> Destination<'c, 'a> {
    fn open(
        reading: &Reading<'c, 'a>,
        domain: &Domain,
        open: &Open<'_, 'c, 'a>,
        target: usize,
        placement: &TargetBlock,
        at: &Builder<'c, 'a>,
    ) -> Result<Self, Refusal> {
        let unknown = || Refusal::Shape("has too few destinations");
        let whole = *reading.outs.get(target).ok_or_else(unknown)?;
        let element = element_type(whole)?;
        let loops = placement.loops.iter();
        let sizes = loops.map(|loops| open.steps(loops, at));
        let sizes: Vec<Size> = sizes.collect::<Result<_, _>>()?;
        let mut covers = true;
        for (dimension, (slot, loops)) in placement.slots.iter().zip(&placement.loops).enumerate() {
            covers &= open.fit_written(whole, dimension, domain, loops)? == Fit::Whole && slot.is_prefix();
        }
        let sizes: Sizes = sizes.into_iter().collect();
        let block_type = types::of_extents(whole.r#type(), &sizes.fixed);
        let slice = (!covers).then(|| {
            let offsets: Vec<i64> = placement.slots.iter().map(|s| s.offset).collect();
            let strides: Vec<i64> = placement.slots.iter().map(|s| s.step).collect();
            (offsets, sizes, strides)
        });
        let split: Sizes = placement.loops.iter().flatten().map(|l| open.size(*l)).collect();
        let groups = (split.fixed.len() != placement.slots.len()).then(|| placement.groups());
        let split_type = match &groups {
            Some(_) if types::encoding_of(whole.r#type()).is_some() => return Err(SHAPED),
            Some(_) => types::tensor(&split.fixed, element),
            None => block_type,
        };
        let overwrites = reading.nest.kind == Accumulation::Assign && domain.always_holds();
        let init = if overwrites {
            at.value(ops::tensor::EMPTY, &split.values, &[], split_type)?
        } else {
            let block = match &slice {
                Some((offsets, sizes, strides)) => block::extract(whole, offsets, sizes, strides, at)?,
                None => whole,
            };
            match (splat::value(whole, at)?, &groups) {
                (Some(value), _) => at.fill_sized(value, split_type, &split.values)?,
                (None, Some(groups)) => block::expand(block, groups, &split, split_type, at)?,
                (None, None) => block,
            }
        };
        Ok(Destination { whole, slice, block_type, groups, init })
    }

    fn close(&self, computed: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, Refusal> {
        let block = match &self.groups {
            Some(groups) => block::collapse(computed, groups, self.block_type, at)?,
            None => computed,
        };
        Ok(match &self.slice {
            Some((offsets, sizes, strides)) => {
                let whole = match splat::value(self.whole, at)? {
                    Some(value) => {
                        let sizes = Sizes::of(self.whole, at)?;
                        at.fill_sized(value, self.whole.r#type(), &sizes.values)?
                    }
                    None => self.whole,
                };
                block::insert(block, whole, offsets, sizes, strides, at)?
            }
            None => block,
        })
    }
}

impl TargetBlock {
    /// Whether the block is the full output.
    fn covers(&self, extents: &[Extent]) -> bool {
        self.slots.iter().zip(extents).all(|(s, e)| s.covers(*e))
    }

    /// Dimensions of the split block by dimension of the output.
    fn groups(&self) -> Vec<Vec<usize>> {
        let mut next = 0;
        self.loops
            .iter()
            .map(|loops| {
                let group = (next..next + loops.len()).collect();
                next += loops.len();
                group
            })
            .collect()
    }

    /// The indexing map of the split block.
    fn forms(&self) -> Vec<Affine> {
        self.loops.iter().flatten().map(|l| Affine::index(*l)).collect()
    }
}
