// SPDX-License-Identifier: Apache-2.0
//! Lowers one formula to `linalg.generic` on tensors.
//!
//! Affine reads become operands (copies with a border if skipped points would be out of bounds). At skipped points, the payload
//! selects the identity, unless the border has this effect. Blocks of outputs are slices. A formula that only changes the shape
//! becomes a reshape.

use super::Refusal;
use super::block;
use super::border::Border;
use super::domain::{Domain, TargetBlock};
use super::dynamic_extents::{Fit, Open, Size, Sizes};
use super::finite::are_finite;
use super::operand::{Operand, Operands, promote};
use super::payload::Payload;
use super::reshape::{Shaped, are_reshaped, reshape};
use crate::facts::SharedFacts;
use crate::ir::generic::{Access, generic};
use crate::ir::{self, Builder, ValueKey, attributes, maps, ops, splat, types};
use crate::structure::{Affine, Extent, Reading, Term};
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};
use skript_frontend::model::Accumulation;
use skript_semantics::ScalarOp;

/// Marks the operation that combines an accumulator with a value. Only this operation may be reassociated.
pub(crate) const ACCUMULATES: &str = "accumulates";

/// Emits the operations that compute the results of the formula. `finite`: factors are assumed to be finite, see [`Border`].
/// `facts`: known equalities of dynamic extents.
pub(crate) fn lower<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    finite: bool,
    facts: &SharedFacts,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, Refusal> {
    if reading.nest.is_sparse() {
        return Err(Refusal::Shape("reduces over a range that data bound from both sides"));
    }
    if let Some(view) = view_by_digits(reading, facts, at)? {
        return Ok(vec![view]);
    }
    let (digits, domain) = match by_digits(reading) {
        Some((digits, domain)) => (Some(digits), Some(domain)),
        None => (None, Domain::new(&reading.nest)?),
    };
    let Some(domain) = domain else {
        return Ok(reading.outs.clone());
    };
    let reading = digits.as_ref().unwrap_or(reading);
    let open = Open::new(reading, &domain, facts)?;
    let mut roots: Vec<_> = reading.nest.targets.iter().map(|t| t.value).collect();
    if !domain.others.is_empty() {
        roots.extend(reading.nest.predicate);
    }
    let border = border(reading, &domain, &open)?;
    let operands = promote(reading, &domain, &open, &roots, border.as_ref(), at)?;
    if let Some(view) = view(reading, &domain, &open, &operands, at)? {
        return Ok(vec![view]);
    }
    let is_redundant = match border.filter(|border| operands.of_access.contains_key(&border.access)) {
        Some(border) if finite || border.factors.is_empty() => Redundant::Always,
        Some(border) => redundant_if_finite(&border, &operands, &domain, at)?,
        None => Redundant::Never,
    };
    compute(reading, &domain, &open, operands, is_redundant, at)
}

/// The border that makes the guard of a formula redundant.
fn border(reading: &Reading, domain: &Domain, open: &Open) -> Result<Option<Border>, Refusal> {
    let element = reading.outs.first().map(|out| element_type(*out));
    let element = element.transpose()?.and_then(types::kind_of);
    Ok(element.and_then(|element| {
        let ends = |term, access| open.ends(reading, domain, term, access);
        Border::new(&reading.nest, domain, element, |term| reading.widens(term), ends)
    }))
}

/// The guard of a formula that reads a border is redundant if the factors of the elements of the border are finite.
fn redundant_if_finite<'c: 'a, 'a>(
    border: &Border,
    operands: &Operands<'c, 'a>,
    domain: &Domain,
    at: &Builder<'c, 'a>,
) -> Result<Redundant<'c, 'a>, Refusal> {
    let read = |term: &usize| operands.list.get(*operands.of_access.get(term)?);
    let factors: Option<Vec<_>> = border.factors.iter().map(read).collect();
    let flag = match factors {
        Some(factors) => are_finite(&factors, &domain.extents, ACCUMULATES, at)?,
        None => None,
    };
    Ok(flag.map_or(Redundant::Never, Redundant::If))
}

/// Emits the operation and inserts its results into the outputs.
fn compute<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    domain: &Domain,
    open: &Open<'_, 'c, 'a>,
    operands: Operands<'c, 'a>,
    is_redundant: Redundant<'c, 'a>,
    at: &Builder<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, Refusal> {
    let mut destinations = Vec::new();
    for (target, placement) in domain.placements.iter().enumerate() {
        destinations.push(Destination::open(reading, domain, open, target, placement, at)?);
    }
    let mut inputs = operands.list;
    let elements = inputs.len();
    inputs.extend(shape_operand(&inputs, domain, open, at)?);

    let inputs: Vec<Access> = inputs.into_iter().map(|o| Access(o.tensor, o.forms)).collect();
    let outputs = destinations.iter().zip(&domain.placements);
    let outputs: Vec<Access> = outputs.map(|(d, placement)| Access(d.init, placement.forms())).collect();
    let loops = domain.extents.len();
    let is_map = |Access(_, forms): &Access| maps::map(at.context, loops, forms).is_some();
    if !inputs.iter().chain(&outputs).all(is_map) {
        return Err(Refusal::Shape("has subscripts that an affine map cannot represent"));
    }
    let reductions: Vec<bool> = (0..loops).map(|number| number >= domain.parallel).collect();
    let op = generic(at, &inputs, &outputs, &reductions, |inner, arguments| {
        let (read, present) = arguments.split_at(inputs.len());
        let read = ir::first(read, elements);
        let element =
            |(value, term): &(ValueKey, usize)| Some((*value, *read.get(*operands.of_access.get(term)?)?));
        let known = reading.elements.iter().filter_map(element).collect();
        let mut payload = Payload::new(reading, domain, *inner, known);
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
        let values = match holds {
            None => payload.values(&reading.values)?,
            Some(holds) => {
                let skipped = present.iter().map(|present| skipped(reading, *present, inner));
                let skipped = skipped.collect::<Result<Vec<_>, _>>()?;
                payload.values_where(holds, &reading.values, &skipped, speculates)?
            }
        };
        let combined = values.iter().zip(present);
        combined.map(|(value, present)| combine(reading, *value, *present, inner)).collect()
    })?;
    let mut finished = Vec::new();
    for (destination, result) in destinations.iter().zip(op.results()) {
        finished.push(destination.close(result.into(), at)?);
    }
    Ok(finished)
}

/// When the guard of a formula is redundant because the border that it reads has no effect.
enum Redundant<'c, 'a> {
    Never,
    Always,
    /// If this bool is true.
    If(Value<'c, 'a>),
}

/// The result of a copy that becomes a reshape when its indices are split into digits, such as `y[i,] = u[i / c,i % c]`.
fn view_by_digits<'c: 'a, 'a>(
    reading: &Reading<'c, 'a>,
    facts: &SharedFacts,
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
    let Ok(Some(domain)) = Domain::new(&digits.nest) else {
        return Ok(None);
    };
    let Ok(open) = Open::new(&digits, &domain, facts) else {
        return Ok(None);
    };
    let roots: Vec<_> = digits.nest.targets.iter().map(|t| t.value).collect();
    let operands = promote(&digits, &domain, &open, &roots, None, at)?;
    view(&digits, &domain, &open, &operands, at)
}

/// A reduction with loops over the digits of divided indices, such as the groups of `x[o / m * n + c]`. Maps are as fast
/// without such loops, and fuse better.
fn by_digits<'c: 'a, 'a>(reading: &Reading<'c, 'a>) -> Option<(Reading<'c, 'a>, Domain)> {
    let splits = |out: &Value| types::encoding_of(out.r#type()).is_none();
    if reading.nest.kind.op().is_none() || !reading.outs.iter().all(splits) {
        return None;
    }
    let digits = reading.by_digits(1)?;
    let domain = Domain::new(&digits.nest).ok()??;
    Some((digits, domain))
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
    let scalar = types::kind_of(r#type).ok_or(Refusal::Shape("accumulates elements that are not numbers"))?;
    let identity = types::nearest(kind.identity(scalar), r#type);
    Ok(at.constant(identity, r#type)?)
}

/// The new value of an element.
pub(crate) fn combine<'c: 'a, 'a>(
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

/// The result of a formula that is a reshape of a full tensor.
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
        form.as_index().is_some_and(|index| open.fit(tensor, dimension, open.size(index)) == Fit::Whole)
    };
    let same = |from: &Shaped<'_>, to: &Shaped<'_>| {
        from.moves_nothing(to)
            && from.open().all(|dimension| is_whole(operand.tensor, dimension))
            && to.open().all(|dimension| is_whole(*out, dimension))
    };
    let source = types::shape(operand.tensor.r#type());
    let result = types::shape(out.r#type());
    let from = Shaped::new(&operand.forms, &source);
    let is_view = written.is_some_and(|written| same(&from, &Shaped::new(&written, &result)));
    if !is_view || !are_reshaped(&source, &result) {
        return Ok(None);
    }
    let (from, to) = (operand.tensor.r#type(), out.r#type());
    let encodings = [from, to].map(types::encoding_of);
    if from != to && encodings.iter().any(Option::is_some) {
        // Without a change of shape, a loop can copy the elements.
        return if source == result { Ok(None) } else { Err(SHAPED) };
    }
    Ok(Some(reshape(operand.tensor, to, at)?))
}

/// The meaning of an encoding depends on the dimensions. It is unknown for another shape.
const SHAPED: Refusal = Refusal::Shape("changes the shape of a tensor whose type has an encoding");

/// One output while its block is computed.
struct Destination<'c, 'a> {
    whole: Value<'c, 'a>,
    /// Offsets, sizes and strides, unless the block is the full output.
    slice: Option<(Vec<i64>, Sizes<'c, 'a>, Vec<i64>)>,
    block_type: Type<'c>,
    /// Loops by dimension, if some dimension has several.
    groups: Option<Vec<Vec<usize>>>,
    /// The initial output of the `linalg.generic`, with one dimension per loop.
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
        let sizes: Vec<Size> = loops.map(|loops| open.steps(loops, at)).collect::<Result<_, _>>()?;
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
                        let sizes = Sizes::from_tensor(self.whole, at)?;
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
