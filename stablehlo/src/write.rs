// SPDX-License-Identifier: Apache-2.0
//! Writes of a formula: a block of its output, or a scatter.

use super::access::{Subscript, read, stack};
use super::constants::{constant, identity};
use super::field::{Field, union};
use super::formula::Combination;
use super::report::Form;
use super::rule::{Applied, Combined};
use super::tensors::Tensors;
use melior::Error;
use melior::ir::{Attribute, Value};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_passes::ir;
use skript_passes::ir::ops;
use skript_passes::ir::{attributes, types};
use skript_passes::structure::Slot;
use skript_semantics::Scalar;

/// Indices of more than one value.
pub(crate) fn changing(domain: &[i64]) -> Vec<usize> {
    (0..domain.len()).filter(|i| domain.get(*i) != Some(&1)).collect()
}

/// The rule for any other reduction: of the values at all points.
pub(crate) fn reduction<'c, 'a>(combination: &Combination<'_, '_, 'c, 'a>) -> Applied<Combined<'c, 'a>> {
    let Combination { target, field, mask, reduced, .. } = *combination;
    let (partial, form) = target.combined(field, mask, reduced)?;
    Ok(Some((partial, None, form)))
}

/// One destination of a formula.
#[derive(Clone, Copy)]
pub(crate) struct Target<'t, 'c, 'a> {
    pub kind: Accumulation,
    /// The output before the formula.
    pub(crate) out: Value<'c, 'a>,
    pub(crate) domain: &'t [i64],
    pub at: Tensors<'c, 'a>,
}

impl<'c: 'a, 'a> Target<'_, 'c, 'a> {
    /// Combines the values, reduced to the indices of `slots`, with the output; `mask` is true where there is a value.
    pub(crate) fn block(
        &self,
        value: &Field<'c, 'a>,
        mask: Option<&Field<'c, 'a>>,
        slots: &[Slot],
    ) -> Result<Value<'c, 'a>, Error> {
        let at = &self.at;
        let extents = at.extents(self.out)?;
        let element = at.element(self.out)?;
        let covers = slots.iter().zip(&extents).all(|(s, e)| s.covers(*e));
        let value = self.spread(value, slots)?;
        if let Some(combiner) = Tensors::combiner(self.kind) {
            let filler = identity(self.kind, element);
            let value = match mask {
                Some(mask) => {
                    let none = at.splat(filler, &at.extents(value)?, element)?;
                    at.select(self.spread(mask, slots)?, value, none)?
                }
                None => value,
            };
            let placed = self.position(value, filler, slots, &extents)?;
            return at.same(combiner, &[self.out, placed]);
        }
        if covers && mask.is_none() {
            return Ok(value);
        }
        // The same value in all elements.
        if constant(value).is_some_and(|number| constant(self.out) == Some(number)) {
            return Ok(self.out);
        }
        let fits =
            slots.iter().zip(&extents).all(|(s, e)| s.step == 1 && s.offset >= 0 && s.offset + s.count <= *e);
        if fits && mask.is_none() {
            let starts = slots.iter().map(|s| at.integer(s.offset)).collect::<Result<Vec<_>, _>>()?;
            return at.dynamic_update_slice(self.out, value, &starts);
        }
        let counts: Vec<i64> = slots.iter().map(|s| s.count).collect();
        let mask = match mask {
            Some(mask) => self.spread(mask, slots)?,
            None => at.splat(Scalar::Bool(true), &counts, at.bool())?,
        };
        let filler = identity(Accumulation::Sum, element);
        let placed = self.position(value, filler, slots, &extents)?;
        let mask = self.position(mask, Scalar::Bool(false), slots, &extents)?;
        at.select(mask, placed, self.out)
    }

    /// Combines the values over `reduced` where the mask is true; a map if nothing depends on these indices.
    ///
    /// # Errors
    /// The kind combines nothing.
    pub(crate) fn combined(
        &self,
        field: &Field<'c, 'a>,
        mask: Option<&Field<'c, 'a>>,
        reduced: &[usize],
    ) -> Result<(Field<'c, 'a>, Form), Error> {
        let (at, domain) = (&self.at, self.domain);
        let element = at.element(self.out)?;
        let neutral = identity(self.kind, element);
        let mut indices = union([field].into_iter().chain(mask));
        if matches!(self.kind, Accumulation::Sum | Accumulation::Product) {
            // A value that does not depend on a reduced index still counts once for each value of that index.
            indices.extend(reduced);
            indices.sort_unstable();
            indices.dedup();
        }
        let mut whole = field.over(&indices, domain, at)?;
        if let Some(mask) = mask {
            let mask = mask.over(&indices, domain, at)?;
            let filler = at.splat(neutral, &at.extents(whole)?, element)?;
            whole = at.select(mask, whole, filler)?;
        }
        let dimensions: Vec<i64> =
            indices.iter().enumerate().filter(|(_, i)| reduced.contains(i)).map(|(d, _)| d as i64).collect();
        let combiner = Tensors::combiner(self.kind).ok_or(Error::OperationBuild)?;
        let form = if dimensions.is_empty() { Form::Map } else { Form::Reduce };
        let partial = Field {
            value: at.reduce(whole, combiner, neutral, &dimensions)?,
            indices: indices.into_iter().filter(|i| !reduced.contains(i)).collect(),
        };
        Ok((partial, form))
    }

    /// One element per position of the slots.
    fn spread(&self, field: &Field<'c, 'a>, slots: &[Slot]) -> Result<Value<'c, 'a>, Error> {
        let order: Vec<usize> = slots.iter().flat_map(|s| s.indices.clone()).collect();
        let value = field.over(&order, self.domain, &self.at)?;
        let counts: Vec<i64> = slots.iter().map(|s| s.count).collect();
        self.at.reshape(value, &counts)
    }

    /// Inserts the block among `filler`; elements outside of the output are dropped.
    fn position(
        &self,
        block: Value<'c, 'a>,
        filler: Scalar,
        slots: &[Slot],
        extents: &[i64],
    ) -> Result<Value<'c, 'a>, Error> {
        let low: Vec<i64> = slots.iter().map(|s| s.offset).collect();
        let high: Vec<i64> =
            slots.iter().zip(extents).map(|(s, e)| e - (s.offset + s.step * (s.count - 1) + 1)).collect();
        let interior: Vec<i64> = slots.iter().map(|s| if s.count > 1 { s.step - 1 } else { 0 }).collect();
        self.at.pad(block, filler, &low, &high, &interior)
    }

    /// Each element's last value, in index order: first which point that is, then its value.
    pub(crate) fn last(
        &self,
        value: &Field<'c, 'a>,
        mask: Option<&Field<'c, 'a>>,
        subscripts: &[Field<'c, 'a>],
    ) -> Result<Value<'c, 'a>, Error> {
        let at = &self.at;
        let indices = changing(self.domain);
        let points: Vec<i64> = indices.iter().filter_map(|i| self.domain.get(*i).copied()).collect();
        let count: i64 = points.iter().product();
        let number = Field { value: at.reshape(at.iota(count)?, &points)?, indices: indices.clone() };
        let extents = at.extents(self.out)?;
        let latest =
            Target { kind: Accumulation::Max, out: at.splat(Scalar::Int(-1), &extents, at.int())?, ..*self };
        let winner = latest.scatter(&number, mask, subscripts)?;
        let values = at.reshape(value.over(&indices, self.domain, at)?, &[count])?;
        let position = Subscript::data(Field { value: winner, indices: (0..extents.len()).collect() });
        let written = read(values, &[position], &extents, at)?.field.value;
        let none = at.splat(Scalar::Int(0), &extents, at.int())?;
        let is_written = at.compare("GE", "SIGNED", winner, none)?;
        at.select(is_written, written, self.out)
    }

    /// Each point's value at its subscripts, where the mask holds.
    pub(crate) fn scatter(
        &self,
        value: &Field<'c, 'a>,
        mask: Option<&Field<'c, 'a>>,
        subscripts: &[Field<'c, 'a>],
    ) -> Result<Value<'c, 'a>, Error> {
        let at = &self.at;
        let context = at.at.context;
        let all = changing(self.domain);
        let updates = value.over(&all, self.domain, at)?;
        if subscripts.is_empty() {
            return Err(Error::OperationBuild);
        }
        let mut positions = Vec::new();
        for subscript in subscripts {
            let position = subscript.over(&all, self.domain, at)?;
            let position = match mask {
                // Skipped elements get a position that does not exist.
                Some(mask) => {
                    let holds = mask.over(&all, self.domain, at)?;
                    let outside = at.splat(Scalar::Int(-1), &at.extents(position)?, at.int())?;
                    at.select(holds, position, outside)?
                }
                None => position,
            };
            positions.push(Field { value: position, indices: all.clone() });
        }
        let positions: Vec<&Field<'c, 'a>> = positions.iter().collect();
        let indices = stack(&positions, &all, self.domain, at)?;
        let dimensions: Vec<usize> = (0..subscripts.len()).collect();
        let numbers = format!(
            "#stablehlo.scatter<inserted_window_dims = {dimensions:?}, scatter_dims_to_operand_dims = {dimensions:?}, \
             index_vector_dim = {}>",
            all.len()
        );
        let scalar = types::tensor(&[], at.element(self.out)?);
        let (region, body, arguments) = at.at.region(&[scalar, scalar]);
        let inner = Tensors { at: body };
        let combined = match (Tensors::combiner(self.kind), arguments.as_slice()) {
            (Some(combiner), _) => inner.same(combiner, &arguments)?,
            (None, [_, update]) => *update,
            (None, _) => return Err(Error::OperationBuild),
        };
        body.create(ops::stablehlo::RETURN, &[combined], &[], &[], Vec::new())?;
        let numbers = Attribute::parse(context, &numbers).ok_or(Error::OperationBuild)?;
        let op = at.at.create(
            ops::stablehlo::SCATTER,
            &[self.out, indices, updates],
            &[
                ("scatter_dimension_numbers", numbers),
                ("indices_are_sorted", attributes::boolean(context, false)),
                ("unique_indices", attributes::boolean(context, false)),
            ],
            &[types::tensor(&at.extents(self.out)?, at.element(self.out)?)],
            vec![region],
        )?;
        ir::result(op)
    }
}
