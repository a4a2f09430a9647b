//! One formula: evaluated everywhere, reduced, written.

use super::access::Gathered;
use super::arg_reduce;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::{Field, union};
use super::guards::{Guards, all};
use super::outside::Outside;
use super::product::Product;
use super::report::Form;
use super::sequence;
use super::shift::Shift;
use super::tensors::Tensors;
use super::window::{Skipped, Windowed};
use super::write::{Target, identity};
use crate::structure::{ArgReduction, Placement, Reading, Slot};
use melior::ir::{OperationRef, Value};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;

/// What a formula leaves in its destinations, and the form that it took.
pub fn export<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    outside: Outside<'_, 'c, 'a>,
    at: Tensors<'c, 'a>,
) -> Result<(Vec<Value<'c, 'a>>, Form), ExportError> {
    let reading = Reading::of(op)?;
    if !reading.is_apart() {
        let what = "writes several places of a tensor in one step: StableHLO has no such loop";
        return Err(ExportError::at(op, what));
    }
    let outs = reading
        .outs
        .iter()
        .map(|out| outside.get(*out))
        .collect::<Result<Vec<_>, _>>()?;
    let nest = &reading.nest;
    if nest.extents.contains(&0) {
        return Ok((outs, Form::Map));
    }
    if let Some(reduction) = ArgReduction::of(nest) {
        let mut evaluator = Evaluator::new(at, &reading, outside, outs.clone());
        if let Some(results) = arg_reduce::run(&reduction, &mut evaluator)? {
            return Ok((results, Form::ArgReduce));
        }
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

/// The form of a formula whose reads were gathered so. What a window computes does not use what was gathered before it was
/// found.
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
        let written = if self.target.kind == Accumulation::Replace {
            self.target.last(&field, self.mask, &subscripts)?
        } else {
            self.target.scatter(&field, self.mask, &subscripts)?
        };
        Ok((written, Form::Scatter))
    }

    /// A block of the output, if the subscripts describe one; where it begins may be the run's to say.
    fn block(
        &self,
        value: Value<'c, 'a>,
        field: &Field<'c, 'a>,
        subscripts: &[Value<'c, 'a>],
    ) -> Result<Option<(Value<'c, 'a>, Form)>, ExportError> {
        let (at, domain) = (&self.evaluator.at, self.target.domain);
        let (mut own, mut forms, mut cuts) = (*self, Vec::new(), Vec::new());
        for (dimension, subscript) in subscripts.iter().enumerate() {
            let Some((mut form, by)) = self.evaluator.shifted(*subscript)? else {
                return Ok(None);
            };
            if let Some(by) = by {
                let Some((shift, inner)) = Shift::of(dimension, &form, by, domain, at)? else {
                    return Ok(None);
                };
                let whole = own.target.out;
                own.target.out = shift.cut(whole, at)?;
                form = inner;
                cuts.push((shift, whole));
            }
            forms.push(Some(form));
        }
        let Placement::Block(slots) = Placement::of(&forms, domain) else {
            return Ok(None);
        };
        let reduced: Vec<usize> = (0..domain.len())
            .filter(|i| domain.get(*i) != Some(&1))
            .filter(|i| !slots.iter().any(|s| s.indices.contains(i)))
            .collect();
        let depends = union([field].into_iter().chain(self.mask));
        let (mut part, form) = if Tensors::combiner(self.target.kind).is_some() {
            own.reduce(value, field, &reduced, &slots)?
        } else if depends.iter().any(|i| reduced.contains(i)) {
            return Ok(None);
        } else {
            (own.target.block(field, self.mask, &slots)?, Form::Map)
        };
        for (shift, whole) in cuts.into_iter().rev() {
            part = shift.put(whole, part, at)?;
        }
        Ok(Some((part, form)))
    }

    fn reduce(
        &self,
        value: Value<'c, 'a>,
        field: &Field<'c, 'a>,
        reduced: &[usize],
        slots: &[Slot],
    ) -> Result<(Value<'c, 'a>, Form), ExportError> {
        let kind = self.target.kind;
        let guards = Guards::of(self.evaluator, reduced)?;
        let outer = all(&guards.outer, self.evaluator)?;
        let outer = outer.as_ref();
        let product = Product {
            evaluator: self.evaluator,
            target: &self.target,
            guards: &guards,
            reduced,
        };
        if kind == Accumulation::Sum
            && let Some((sum, form)) = product.sum(value)?
        {
            return Ok((self.target.block(&sum, outer, slots)?, form));
        }
        let (at, domain) = (&self.evaluator.at, self.target.domain);
        let neutral = identity(kind, at.element(self.target.out)?);
        if let Some(windowed) =
            Windowed::of(self.evaluator, value, reduced, &guards.inner, neutral)?
            && !windowed.skipped.contains(&Skipped::Not)
            && let Some(field) = windowed.reduce(kind, reduced, domain, at)?
        {
            return Ok((self.target.block(&field, outer, slots)?, Form::ReduceWindow));
        }
        let (partial, form) = self.target.combined(field, self.mask, reduced)?;
        Ok((self.target.block(&partial, None, slots)?, form))
    }
}
