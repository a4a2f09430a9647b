//! One formula: evaluated everywhere, reduced, written.

use super::access::Gathered;
use super::arg_reduce;
use super::captures::Outside;
use super::compaction;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::{Field, union};
use super::guards::{Guards, all};
use super::product::Product;
use super::report::Form;
use super::sequence;
use super::shift::{Shift, Written};
use super::tensors::Tensors;
use super::window::Windowed;
use super::write::{Target, identity, is_zero};
use melior::ir::{OperationRef, Value};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_passes::structure::{ArgReduction, Compaction, Placement, Reading, Slot};
use skript_semantics::Scalar;

/// The destinations after a formula, and the form of its export.
pub fn export<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    outside: Outside<'_, 'c, 'a>,
    at: Tensors<'c, 'a>,
) -> Result<(Vec<Value<'c, 'a>>, Form), ExportError> {
    let reading = Reading::of(op)?;
    let outs = reading
        .outs
        .iter()
        .map(|out| outside.get(*out))
        .collect::<Result<Vec<_>, _>>()?;
    let keeps_order =
        reading.nest.kind == Accumulation::Replace || reading.nest.reads_destination();
    let digits = (!keeps_order).then(|| reading.by_digits(2)).flatten();
    let reading = digits.unwrap_or(reading);
    let nest = &reading.nest;
    if nest.extents.contains(&0) {
        return Ok((outs, Form::Map));
    }
    let begins = |target: usize| outs.get(target).is_some_and(|out| is_zero(*out));
    if let Some(compaction) = Compaction::of(nest).filter(|found| begins(found.counter)) {
        let mut evaluator = Evaluator::new(at, &reading, outside, outs);
        let results = compaction::run(&compaction, &mut evaluator)?;
        return Ok((results, Form::Scatter));
    }
    if !reading.has_distinct_destinations() {
        return Ok((sequence::run(&reading, outside, &outs, at)?, Form::Loop));
    }
    if let Some(reduction) = ArgReduction::of(nest) {
        let mut evaluator = Evaluator::new(at, &reading, outside, outs.clone());
        let results = arg_reduce::run(&reduction, &mut evaluator)?;
        return Ok((results, Form::ArgReduce));
    }
    let only_element = nest.targets.iter().any(|t| t.extents.is_empty());
    if nest.reads_destination() || nest.kind == Accumulation::Replace && only_element {
        return Ok((sequence::run(&reading, outside, &outs, at)?, Form::Loop));
    }
    let mut evaluator = Evaluator::new(at, &reading, outside, outs.clone());
    let mask = evaluator.predicate()?;
    evaluator.body()?;
    let mut results = Vec::new();
    let mut form = Form::Map;
    for (position, out) in outs.iter().enumerate() {
        let statement = Statement {
            evaluator: &evaluator,
            mask: mask.as_ref(),
            target: Target {
                kind: nest.kind,
                out: *out,
                domain: &nest.extents,
                at,
            },
            position,
        };
        let (result, own) = statement.write()?;
        results.push(result);
        form = form.max(own);
    }
    Ok((results, gathering(form, evaluator.gathered)))
}

/// The form of a formula with such gathers. Gathers that were built before a window was found are unused.
fn gathering(form: Form, gathered: Gathered) -> Form {
    match (gathered, form) {
        (_, Form::Convolution | Form::BorderedConvolution | Form::ReduceWindow)
        | (Gathered::Nothing, _) => form,
        (Gathered::Known, Form::Map | Form::Reduce | Form::DotGeneral | Form::MaskedDotGeneral) => {
            Form::Resample
        }
        (Gathered::Data, Form::Map) => Form::Gather,
        (Gathered::Data, Form::Reduce | Form::DotGeneral | Form::MaskedDotGeneral) => Form::General,
        (_, form) => form,
    }
}

/// One destination.
#[derive(Clone, Copy)]
struct Statement<'s, 'r, 'c, 'a> {
    evaluator: &'s Evaluator<'r, 'c, 'a>,
    mask: Option<&'s Field<'c, 'a>>,
    target: Target<'s, 'c, 'a>,
    position: usize,
}

impl<'c: 'a, 'a> Statement<'_, '_, 'c, 'a> {
    fn write(&self) -> Result<(Value<'c, 'a>, Form), ExportError> {
        let reading = self.evaluator.reading;
        let missing = || ExportError::at(reading.op, "has too few values");
        let at = &self.evaluator.at;
        if at.extents(self.target.out)?.contains(&0) {
            return Ok((self.target.out, Form::Map));
        }
        let value = *reading.values.get(self.position).ok_or_else(missing)?;
        let field = self.evaluator.field(value)?;
        let subscripts = reading.subscripts.get(self.position).ok_or_else(missing)?;
        if let Some(written) = self.block(value, &field, subscripts)? {
            return Ok(written);
        }
        let subscripts = subscripts
            .iter()
            .map(|s| self.evaluator.field(*s))
            .collect::<Result<Vec<_>, _>>()?;
        if subscripts.is_empty() {
            return Err(ExportError::at(
                reading.op,
                "assigns its only element more than once",
            ));
        }
        if self.target.kind == Accumulation::Replace {
            let written = self.target.last(&field, self.mask, &subscripts)?;
            return Ok((written, Form::Scatter));
        }
        let reduced = self.reduced(|i| subscripts.iter().any(|s| s.indices.contains(&i)));
        if Tensors::combiner(self.target.kind).is_none() || reduced.is_empty() {
            let written = self.target.scatter(&field, self.mask, &subscripts)?;
            return Ok((written, Form::Scatter));
        }
        // Values for one element are combined before they are written.
        let (partial, mask, _) = self.combined(value, &field, &reduced)?;
        let mut domain = self.target.domain.to_vec();
        for index in reduced {
            if let Some(extent) = domain.get_mut(index) {
                *extent = 1;
            }
        }
        let target = Target {
            domain: &domain,
            ..self.target
        };
        let written = target.scatter(&partial, mask.as_ref(), &subscripts)?;
        Ok((written, Form::Scatter))
    }

    /// A block of the output, if the subscripts describe one; its offset may be dynamic.
    fn block(
        &self,
        value: Value<'c, 'a>,
        field: &Field<'c, 'a>,
        subscripts: &[Value<'c, 'a>],
    ) -> Result<Option<(Value<'c, 'a>, Form)>, ExportError> {
        let (at, domain) = (&self.evaluator.at, self.target.domain);
        let (mut forms, mut shifts) = (Vec::new(), Vec::new());
        let mut extents = at.extents(self.target.out)?;
        for subscript in subscripts {
            let Some(place) = self.evaluator.place(*subscript)? else {
                return Ok(None);
            };
            if place.is_affine() {
                forms.push(Some(place.form));
                continue;
            }
            let shift = Shift::of(forms.len(), &place, domain, at)?;
            let Some((shift, within)) = shift.filter(|(shift, _)| shift.is_few()) else {
                return Ok(None);
            };
            let inner = shift.extents(&extents);
            shifts.push((shift, std::mem::replace(&mut extents, inner)));
            forms.extend(within.into_iter().map(Some));
        }
        let Placement::Block(slots) = Placement::of(&forms, domain) else {
            return Ok(None);
        };
        let combines = Tensors::combiner(self.target.kind).is_some();
        let reduced = self.reduced(|i| slots.iter().any(|s| s.indices.contains(&i)));
        let depends = union([field].into_iter().chain(self.mask));
        if !combines && depends.iter().any(|i| reduced.contains(i)) {
            return Ok(None);
        }
        let block = Block {
            value,
            field,
            reduced: &reduced,
            slots: &slots,
        };
        if shifts.iter().any(|(shift, _)| shift.first().is_none()) {
            return self.rows(&block, &shifts, &extents);
        }
        let (mut own, mut wholes) = (*self, Vec::new());
        for (shift, _) in &shifts {
            wholes.push(own.target.out);
            own.target.out = shift.cut(own.target.out, at)?;
        }
        let (mut part, form) = own.written(&block)?;
        for ((shift, _), whole) in shifts.iter().zip(wholes).rev() {
            part = shift.replaced(whole, part, at)?;
        }
        Ok(Some((part, form)))
    }

    /// Indices of more than one value that are not `kept`.
    fn reduced(&self, kept: impl Fn(usize) -> bool) -> Vec<usize> {
        let domain = self.target.domain;
        let all = (0..domain.len()).filter(|i| domain.get(*i) != Some(&1));
        all.filter(|i| !kept(*i)).collect()
    }

    /// A block of rows of dynamic length: written to a neutral tensor, then inserted where each row belongs. `None` if
    /// the order matters.
    fn rows(
        &self,
        block: &Block<'_, 'c, 'a>,
        shifts: &[(Shift<'c, 'a>, Vec<i64>)],
        extents: &[i64],
    ) -> Result<Option<(Value<'c, 'a>, Form)>, ExportError> {
        let (at, target) = (&self.evaluator.at, &self.target);
        if target.kind == Accumulation::Replace {
            return Ok(None);
        }
        let (element, combiner) = (at.element(target.out)?, Tensors::combiner(target.kind));
        let nothing = identity(target.kind, element);
        let mut own = *self;
        own.target.out = at.splat(nothing, extents, element)?;
        let (value, form) = own.written(block)?;
        let mask = match combiner {
            Some(_) => None,
            None => {
                let mut flags = own.target;
                flags.out = at.splat(Scalar::Bool(false), extents, at.bool())?;
                let all = Field::scalar(at.splat(Scalar::Bool(true), &[], at.bool())?);
                Some(flags.block(&all, self.mask, block.slots)?)
            }
        };
        let mut written = Written { value, mask };
        for (shift, whole) in shifts.iter().rev() {
            written = shift.spread(written, whole, nothing, combiner, at)?;
        }
        let result = match (combiner, written.mask) {
            (Some(combiner), _) => at.same(combiner, &[target.out, written.value])?,
            (None, Some(mask)) => at.select(mask, written.value, target.out)?,
            (None, None) => written.value,
        };
        Ok(Some((result, form)))
    }

    /// The block in the destination.
    fn written(&self, block: &Block<'_, 'c, 'a>) -> Result<(Value<'c, 'a>, Form), ExportError> {
        let Block { field, slots, .. } = *block;
        if Tensors::combiner(self.target.kind).is_none() {
            return Ok((self.target.block(field, self.mask, slots)?, Form::Map));
        }
        let (partial, mask, form) = self.combined(block.value, field, block.reduced)?;
        Ok((self.target.block(&partial, mask.as_ref(), slots)?, form))
    }

    /// The combination of values over `reduced`, and where it counts.
    fn combined(
        &self,
        value: Value<'c, 'a>,
        field: &Field<'c, 'a>,
        reduced: &[usize],
    ) -> Result<(Field<'c, 'a>, Option<Field<'c, 'a>>, Form), ExportError> {
        let kind = self.target.kind;
        let guards = Guards::of(self.evaluator, reduced)?;
        let outer = all(&guards.outer, self.evaluator)?;
        let product = Product {
            evaluator: self.evaluator,
            target: &self.target,
            guards: &guards,
            reduced,
        };
        if kind == Accumulation::Sum
            && let Some((sum, form)) = product.sum(value)?
        {
            return Ok((sum, outer, form));
        }
        let (at, domain) = (&self.evaluator.at, self.target.domain);
        let neutral = identity(kind, at.element(self.target.out)?);
        if let Some(windowed) =
            Windowed::of(self.evaluator, value, reduced, &guards.inner, neutral)?
            && let Some(windowed) = windowed.thinned(&guards.inner, self.evaluator)
            && let Some(field) = windowed.reduce(kind, reduced, domain, at)?
        {
            return Ok((field, outer, Form::ReduceWindow));
        }
        let (partial, form) = self.target.combined(field, self.mask, reduced)?;
        Ok((partial, None, form))
    }
}

/// The content of a block of the output.
#[derive(Clone, Copy)]
struct Block<'b, 'c, 'a> {
    value: Value<'c, 'a>,
    field: &'b Field<'c, 'a>,
    /// Indices that do not occur in the slots.
    reduced: &'b [usize],
    slots: &'b [Slot],
}
