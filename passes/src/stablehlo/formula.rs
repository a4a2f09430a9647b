//! One formula: evaluated everywhere, reduced, written.

use super::access::Gathered;
use super::arg_reduce;
use super::contraction::contract;
use super::error::ExportError;
use super::evaluate::Evaluator;
use super::field::{Field, union};
use super::report::Form;
use super::sequence;
use super::tensors::Tensors;
use super::window::Windowed;
use super::write::{Target, identity};
use crate::mlir::copy::operation_name;
use crate::mlir::types;
use crate::structure::{Affine, ArgReduction, Guard, Placement, Reading, Slot};
use melior::ir::operation::{OperationLike, OperationResult};
use melior::ir::{OperationRef, Value};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_semantics::{Scalar, ScalarKind};

/// What a formula leaves in its destinations, and the form that it took.
pub fn export<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    outside: &dyn Fn(Value<'c, 'a>) -> Result<Value<'c, 'a>, ExportError>,
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
        .map(|out| outside(*out))
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
        let written = reading
            .nest
            .targets
            .get(self.position)
            .ok_or_else(missing)?;
        let forms: Vec<Option<Affine>> = written
            .subscripts
            .iter()
            .map(|s| reading.nest.affine(*s))
            .collect();
        let domain = &reading.nest.extents;
        if let Placement::Block(slots) = Placement::of(&forms, domain) {
            let reduced: Vec<usize> = (0..domain.len())
                .filter(|i| domain.get(*i) != Some(&1))
                .filter(|i| !slots.iter().any(|s| s.indices.contains(i)))
                .collect();
            if Tensors::combiner(self.target.kind).is_some() {
                return self.reduce(value, &field, &reduced, &slots);
            }
            let depends = union([&field].into_iter().chain(self.mask));
            if !depends.iter().any(|i| reduced.contains(i)) {
                return Ok((self.target.block(&field, self.mask, &slots)?, Form::Map));
            }
        }
        let subscripts = reading
            .subscripts
            .get(self.position)
            .ok_or_else(missing)?
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

    fn reduce(
        &self,
        value: Value<'c, 'a>,
        field: &Field<'c, 'a>,
        reduced: &[usize],
        slots: &[Slot],
    ) -> Result<(Value<'c, 'a>, Form), ExportError> {
        let kind = self.target.kind;
        let guards = Guards::of(self.evaluator, reduced)?;
        let outer = guards.outer.as_ref();
        if kind == Accumulation::Sum
            && let Some((sum, form)) = self.product(value, reduced, &guards)?
        {
            return Ok((self.target.block(&sum, outer, slots)?, form));
        }
        let (at, domain) = (&self.evaluator.at, self.target.domain);
        if let Some(windowed) = Windowed::of(self.evaluator, value, reduced, &guards.of_inner)?
            && let Some(field) = windowed.reduce(kind, reduced, domain, at)?
        {
            return Ok((self.target.block(&field, outer, slots)?, Form::ReduceWindow));
        }
        let element = at.element(self.target.out)?;
        let neutral = identity(kind, element);
        let mut indices = union([field].into_iter().chain(self.mask));
        if matches!(kind, Accumulation::Sum | Accumulation::Product) {
            // What does not change along a reduced index still counts once for each of its values.
            indices.extend(reduced);
            indices.sort_unstable();
            indices.dedup();
        }
        let mut whole = field.over(&indices, domain, at)?;
        if let Some(mask) = self.mask {
            let mask = mask.over(&indices, domain, at)?;
            let filler = at.splat(neutral, &at.extents(whole)?, element)?;
            whole = at.select(mask, whole, filler)?;
        }
        let dimensions: Vec<i64> = indices
            .iter()
            .enumerate()
            .filter(|(_, i)| reduced.contains(i))
            .map(|(d, _)| d as i64)
            .collect();
        let combiner = Tensors::combiner(kind)
            .ok_or_else(|| ExportError::at(self.evaluator.reading.op, "combines nothing"))?;
        let partial = Field {
            value: at.reduce(whole, combiner, neutral, &dimensions)?,
            indices: indices
                .into_iter()
                .filter(|i| !reduced.contains(i))
                .collect(),
        };
        let form = if dimensions.is_empty() {
            Form::Map
        } else {
            Form::Reduce
        };
        Ok((self.target.block(&partial, None, slots)?, form))
    }

    /// The sum as a product of tensors, if the value is a product of two reals. What inner guards skip is zero in one
    /// factor; outer ones are left to the caller.
    fn product(
        &self,
        value: Value<'c, 'a>,
        reduced: &[usize],
        guards: &Guards<'c, 'a>,
    ) -> Result<Option<(Field<'c, 'a>, Form)>, ExportError> {
        let (at, domain) = (&self.evaluator.at, self.target.domain);
        let Ok(result) = OperationResult::try_from(value) else {
            return Ok(None);
        };
        let owner = result.owner();
        let real = types::kind_of(at.element(self.target.out)?) == Some(ScalarKind::Real);
        if operation_name(owner) != "skript.mul" || !real {
            return Ok(None);
        }
        let mut factors = [
            self.evaluator.field(owner.operand(0)?)?,
            self.evaluator.field(owner.operand(1)?)?,
        ];
        for (one, other) in [(0, 1), (1, 0)] {
            let Some(kernel) = factors.get(other) else {
                continue;
            };
            if let Some(windowed) = Windowed::of(
                self.evaluator,
                owner.operand(one)?,
                reduced,
                &guards.of_inner,
            )? && let Some(sum) = windowed.convolve(kernel, reduced, domain, at)?
            {
                let form = match windowed.has_border() {
                    true => Form::BorderedConvolution,
                    false => Form::Convolution,
                };
                return Ok(Some((sum, form)));
            }
        }
        let mut form = Form::DotGeneral;
        for mask in &guards.inner {
            let mut masked = 0;
            for factor in &mut factors {
                if mask.indices.iter().all(|i| factor.indices.contains(i)) {
                    let holds = mask.over(&factor.indices, domain, at)?;
                    let extents = at.extents(factor.value)?;
                    let zero = at.splat(Scalar::Real(0.0), &extents, at.element(factor.value)?)?;
                    factor.value = at.select(holds, factor.value, zero)?;
                    masked += 1;
                }
            }
            match masked {
                0 => return Ok(None),
                1 => form = Form::MaskedDotGeneral,
                _ => {}
            }
        }
        let [lhs, rhs] = &factors;
        let sum = contract(lhs, rhs, reduced, domain, at)?;
        Ok(sum.map(|sum| (sum, form)))
    }
}

/// The conjuncts of a predicate: those that some reduced index decides, and those that skip whole sums.
struct Guards<'c, 'a> {
    inner: Vec<Field<'c, 'a>>,
    of_inner: Guard,
    outer: Option<Field<'c, 'a>>,
}

impl<'c: 'a, 'a> Guards<'c, 'a> {
    fn of(evaluator: &Evaluator<'_, 'c, 'a>, reduced: &[usize]) -> Result<Self, ExportError> {
        let (mut inner, mut outer, mut terms) = (Vec::new(), Vec::new(), Vec::new());
        for value in evaluator.conjuncts()? {
            let field = evaluator.field(value)?;
            if field.indices.iter().any(|i| reduced.contains(i)) {
                inner.push(field);
                terms.extend(evaluator.reading.find(value));
            } else {
                outer.push(field);
            }
        }
        Ok(Guards {
            inner,
            of_inner: Guard::all(&evaluator.reading.nest, terms),
            outer: evaluator.all(&outer)?,
        })
    }
}
