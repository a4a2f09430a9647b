// SPDX-License-Identifier: Apache-2.0
//! Exports one formula: evaluates it at all points, reduces the values, and writes the destinations.
use super::captures::Outside;
use super::constants::identity;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::{Field, union};
use super::guards::{Guards, all};
use super::report::Form;
use super::rule::{Applied, Combined, Destination, Rewrite, Rule};
use super::shift::{Shift, Written};
use super::tensors::Tensors;
use super::write::{Target, changing};
use melior::ir::{OperationRef, Value};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_passes::structure::{Placement, Reading, Slot, StaticReading};
use skript_semantics::Scalar;

/// Exports a formula by the first rule that applies. Returns the destinations after the formula, and the form of the
/// export.
pub(crate) fn export<'c: 'a, 'a>(
    rules: &[Rule],
    op: OperationRef<'c, 'a>,
    outside: Outside<'_, 'c, 'a>,
    at: Tensors<'c, 'a>,
) -> Result<(Vec<Value<'c, 'a>>, Form), ExportError> {
    let reading = Reading::new(op)?;
    let outs = reading.outs.iter().map(|out| outside.get(*out)).collect::<Result<Vec<_>, _>>()?;
    let keeps_order = reading.nest.kind == Accumulation::Replace || reading.nest.reads_destination();
    let digits = (!keeps_order).then(|| reading.by_digits(2)).flatten();
    let reading = StaticReading::try_from(digits.unwrap_or(reading))?;
    Formula { rules, reading: &reading, outside, outs, at }.export()
}

/// A formula to export, which is passed to the rules.
pub(crate) struct Formula<'f, 'c, 'a> {
    rules: &'f [Rule],
    pub reading: &'f StaticReading<'c, 'a>,
    pub(crate) outside: Outside<'f, 'c, 'a>,
    /// The destinations before the formula.
    pub(crate) outs: Vec<Value<'c, 'a>>,
    pub at: Tensors<'c, 'a>,
}

impl<'f, 'c: 'a, 'a> Formula<'f, 'c, 'a> {
    pub(crate) fn evaluator(&self) -> Evaluator<'f, 'c, 'a> {
        Evaluator::new(self.at, self.reading, self.outside, self.outs.clone())
    }

    fn export(&self) -> Result<(Vec<Value<'c, 'a>>, Form), ExportError> {
        for rule in self.rules {
            if let Rewrite::Formula(rewrite) = rule.rewrite
                && let Some(results) = rewrite(self)?
            {
                return Ok((results, rule.form));
            }
        }
        self.everywhere()
    }

    /// Evaluates the formula at all points, and writes one destination after the other.
    fn everywhere(&self) -> Result<(Vec<Value<'c, 'a>>, Form), ExportError> {
        let nest = &self.reading.nest;
        let mut evaluator = self.evaluator();
        let mask = evaluator.predicate()?;
        evaluator.body()?;
        let mut results = Vec::new();
        let mut form = Form::Map;
        for (position, out) in self.outs.iter().enumerate() {
            let statement = Statement {
                rules: self.rules,
                evaluator: &evaluator,
                mask: mask.as_ref(),
                target: Target { kind: nest.kind, out: *out, domain: &self.reading.domain, at: self.at },
                position,
            };
            let (result, written) = statement.write()?;
            results.push(result);
            form = form.max(written);
        }
        let renamed = self.rules.iter().find(|rule| match rule.rewrite {
            Rewrite::Reads(applies) => applies(form, evaluator.gathered),
            _ => false,
        });
        Ok((results, renamed.map_or(form, |rule| rule.form)))
    }
}

/// The rule for an empty domain: the destinations are unchanged.
pub(crate) fn without_points<'c, 'a>(formula: &Formula<'_, 'c, 'a>) -> Applied<Vec<Value<'c, 'a>>> {
    let is_empty = formula.reading.domain.contains(&0);
    Ok(is_empty.then(|| formula.outs.clone()))
}

/// The rule for a destination without elements, which is unchanged.
pub(crate) fn without_elements<'c, 'a>(
    statement: &Statement<'_, '_, 'c, 'a>,
) -> Applied<Destination<'c, 'a>> {
    let out = statement.target.out;
    let is_empty = statement.evaluator.at.extents(out).contains(&0);
    Ok(is_empty.then_some((out, Form::Map)))
}

/// The rule for a block of the output.
pub(crate) fn block<'c, 'a>(statement: &Statement<'_, '_, 'c, 'a>) -> Applied<Destination<'c, 'a>> {
    statement.block()
}

/// The rule for assignments of several values to one element: the last value remains.
pub(crate) fn last_write<'c, 'a>(statement: &Statement<'_, '_, 'c, 'a>) -> Applied<Destination<'c, 'a>> {
    if statement.target.kind != Accumulation::Replace {
        return Ok(None);
    }
    let (_, field) = statement.value()?;
    let subscripts = statement.subscripts()?;
    let target = &statement.target;
    let written = target.last(&field, statement.mask, &subscripts);
    Ok(Some((written, Form::Scatter)))
}

/// The rule for scatters. Values that are written to the same element are combined first.
pub(crate) fn scatter<'c, 'a>(statement: &Statement<'_, '_, 'c, 'a>) -> Applied<Destination<'c, 'a>> {
    let (value, field) = statement.value()?;
    let (subscripts, target) = (statement.subscripts()?, &statement.target);
    let reduced = statement.reduced(|i| subscripts.iter().any(|s| s.indices.contains(&i)));
    if Tensors::combiner(target.kind).is_none() || reduced.is_empty() {
        let written = target.scatter(&field, statement.mask, &subscripts);
        return Ok(Some((written, Form::Scatter)));
    }
    let (partial, mask, _) = statement.combined(value, &field, &reduced)?;
    let mut domain = target.domain.to_vec();
    for index in reduced {
        domain[index] = 1;
    }
    let target = Target { domain: &domain, ..*target };
    let written = target.scatter(&partial, mask.as_ref(), &subscripts);
    Ok(Some((written, Form::Scatter)))
}

/// One destination of a formula that is evaluated at every point.
#[derive(Clone, Copy)]
pub(crate) struct Statement<'s, 'r, 'c, 'a> {
    rules: &'s [Rule],
    evaluator: &'s Evaluator<'r, 'c, 'a>,
    mask: Option<&'s Field<'c, 'a>>,
    target: Target<'s, 'c, 'a>,
    position: usize,
}

impl<'c: 'a, 'a> Statement<'_, '_, 'c, 'a> {
    fn write(&self) -> Result<(Value<'c, 'a>, Form), ExportError> {
        for rule in self.rules {
            if let Rewrite::Destination(rewrite) = rule.rewrite
                && let Some(written) = rewrite(self)?
            {
                return Ok(written);
            }
        }
        Err(self.missing())
    }

    fn missing(&self) -> ExportError {
        ExportError::new(self.evaluator.reading.op, "has too few values")
    }

    /// The written value at all points.
    fn value(&self) -> Result<(Value<'c, 'a>, Field<'c, 'a>), ExportError> {
        let value = self.evaluator.reading.values.get(self.position);
        let value = *value.ok_or_else(|| self.missing())?;
        Ok((value, self.evaluator.field(value)?))
    }

    /// The written position at all points.
    fn subscripts(&self) -> Result<Vec<Field<'c, 'a>>, ExportError> {
        let reading = self.evaluator.reading;
        let subscripts = reading.subscripts.get(self.position);
        let subscripts = subscripts.ok_or_else(|| self.missing())?;
        if subscripts.is_empty() {
            return Err(ExportError::new(reading.op, "assigns its only element more than once"));
        }
        let all = subscripts.iter().map(|s| self.evaluator.field(*s));
        all.collect()
    }

    /// Writes a block of the output, whose offset may be dynamic; `None` if the subscripts do not describe a block.
    fn block(&self) -> Applied<Destination<'c, 'a>> {
        let (value, field) = self.value()?;
        let subscripts = self.evaluator.reading.subscripts.get(self.position);
        let subscripts = subscripts.ok_or_else(|| self.missing())?;
        let (at, domain) = (&self.evaluator.at, self.target.domain);
        let (mut forms, mut shifts) = (Vec::new(), Vec::new());
        let mut extents = at.extents(self.target.out);
        for subscript in subscripts {
            let Some(subscript_form) = self.evaluator.dynamic_subscript(*subscript)? else {
                return Ok(None);
            };
            if subscript_form.is_affine() {
                forms.push(Some(subscript_form.form));
                continue;
            }
            let shift = Shift::new(forms.len(), &subscript_form, domain, at);
            let Some((shift, within)) = shift.filter(|(shift, _)| shift.is_few()) else {
                return Ok(None);
            };
            let within_extents = shift.extents(&extents);
            shifts.push((shift, std::mem::replace(&mut extents, within_extents)));
            forms.extend(within.into_iter().map(Some));
        }
        let Placement::Block(slots) = Placement::new(&forms, domain) else {
            return Ok(None);
        };
        let combines = Tensors::combiner(self.target.kind).is_some();
        let reduced = self.reduced(|i| slots.iter().any(|s| s.indices.contains(&i)));
        let depends = union([&field].into_iter().chain(self.mask));
        if !combines && depends.iter().any(|i| reduced.contains(i)) {
            return Ok(None);
        }
        let block = Block { value, field: &field, reduced: &reduced, slots: &slots };
        if shifts.iter().any(|(shift, _)| shift.first().is_none()) {
            return self.rows(&block, &shifts, &extents);
        }
        let (mut inner, mut wholes) = (*self, Vec::new());
        for (shift, _) in &shifts {
            wholes.push(inner.target.out);
            inner.target.out = shift.cut(inner.target.out, at);
        }
        let (mut part, form) = inner.written(&block)?;
        for ((shift, _), whole) in shifts.iter().zip(wholes).rev() {
            part = shift.replaced(whole, part, at);
        }
        Ok(Some((part, form)))
    }

    /// Indices with more than one value for which `kept` is false.
    fn reduced(&self, kept: impl Fn(usize) -> bool) -> Vec<usize> {
        let domain = self.target.domain;
        changing(domain).into_iter().filter(|i| !kept(*i)).collect()
    }

    /// Writes a block of rows of dynamic length to a tensor of identity elements, and inserts each row at its position.
    /// `None` if the order of the rows matters.
    fn rows(
        &self,
        block: &Block<'_, 'c, 'a>,
        shifts: &[(Shift<'c, 'a>, Vec<i64>)],
        extents: &[i64],
    ) -> Applied<Destination<'c, 'a>> {
        let (at, target) = (&self.evaluator.at, &self.target);
        if target.kind == Accumulation::Replace {
            return Ok(None);
        }
        let (element, combiner) = (at.element(target.out), Tensors::combiner(target.kind));
        let neutral = identity(target.kind, element);
        let mut inner = *self;
        inner.target.out = at.splat(neutral, extents, element);
        let (value, form) = inner.written(block)?;
        let mask = match combiner {
            Some(_) => None,
            None => {
                let mut flags = inner.target;
                flags.out = at.splat(Scalar::Bool(false), extents, at.bool());
                let all = Field::scalar(at.splat(Scalar::Bool(true), &[], at.bool()));
                Some(flags.block(&all, self.mask, block.slots))
            }
        };
        let mut written = Written { value, mask };
        for (shift, whole) in shifts.iter().rev() {
            written = shift.spread(written, whole, neutral, combiner, at);
        }
        let result = match (combiner, written.mask) {
            (Some(combiner), _) => at.same(combiner, &[target.out, written.value]),
            (None, Some(mask)) => at.select(mask, written.value, target.out),
            (None, None) => written.value,
        };
        Ok(Some((result, form)))
    }

    /// Writes the block to the destination.
    fn written(&self, block: &Block<'_, 'c, 'a>) -> Result<(Value<'c, 'a>, Form), ExportError> {
        let Block { field, slots, .. } = *block;
        if Tensors::combiner(self.target.kind).is_none() {
            return Ok((self.target.block(field, self.mask, slots), Form::Map));
        }
        let (partial, mask, form) = self.combined(block.value, field, block.reduced)?;
        Ok((self.target.block(&partial, mask.as_ref(), slots), form))
    }

    /// Combines the values over `reduced`. Returns also the points that have a value.
    fn combined(
        &self,
        value: Value<'c, 'a>,
        field: &Field<'c, 'a>,
        reduced: &[usize],
    ) -> Result<Combined<'c, 'a>, ExportError> {
        let guards = Guards::new(self.evaluator, reduced)?;
        let combination = Combination {
            evaluator: self.evaluator,
            target: &self.target,
            mask: self.mask,
            value,
            field,
            outer: all(&guards.outer, self.evaluator)?,
            guards: &guards,
            reduced,
        };
        for rule in self.rules {
            if let Rewrite::Combination(rewrite) = rule.rewrite
                && let Some(combined) = rewrite(&combination)?
            {
                return Ok(combined);
            }
        }
        Err(self.missing())
    }
}

/// The combination of a destination's values over the indices that its elements do not depend on.
pub(crate) struct Combination<'s, 'r, 'c, 'a> {
    pub(crate) evaluator: &'s Evaluator<'r, 'c, 'a>,
    pub target: &'s Target<'s, 'c, 'a>,
    /// The points that have a value.
    pub(crate) mask: Option<&'s Field<'c, 'a>>,
    pub value: Value<'c, 'a>,
    pub(crate) field: &'s Field<'c, 'a>,
    pub guards: &'s Guards<'c, 'a>,
    /// The conjunction of the outer guards.
    pub(crate) outer: Option<Field<'c, 'a>>,
    pub(crate) reduced: &'s [usize],
}

/// The content of a block of the output.
#[derive(Clone, Copy)]
struct Block<'b, 'c, 'a> {
    value: Value<'c, 'a>,
    field: &'b Field<'c, 'a>,
    /// Indices that no slot contains.
    reduced: &'b [usize],
    slots: &'b [Slot],
}
