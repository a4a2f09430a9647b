// SPDX-License-Identifier: Apache-2.0
//! Exports the writes of a formula as a block of its output or as a scatter.
use super::access::{Subscript, read, stack};
use super::constants::{constant, identity};
use super::field::{Field, union};
use super::formula::Combination;
use super::report::Form;
use super::rule::{Applied, Combined};
use super::tensors::{Tensors, shape};
use melior::ir::Value;
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_passes::ir::ops;
use skript_passes::ir::{attributes, types};
use skript_passes::structure::Slot;
use skript_semantics::Scalar;

/// The indices with an extent other than 1.
pub(crate) fn changing(domain: &[i64]) -> Vec<usize> {
    (0..domain.len()).filter(|i| domain.get(*i) != Some(&1)).collect()
}

/// The rule for all other reductions: reduces the values at all points.
pub(crate) fn reduction<'c, 'a>(combination: &Combination<'_, '_, 'c, 'a>) -> Applied<Combined<'c, 'a>> {
    let Combination { target, field, mask, reduced, .. } = *combination;
    let (partial, form) = target.combined(field, mask, reduced);
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
    ) -> Value<'c, 'a> {
        let at = &self.at;
        let extents = at.extents(self.out);
        let element = at.element(self.out);
        let covers = slots.iter().zip(&extents).all(|(s, e)| s.covers(*e));
        let value = self.spread(value, slots);
        if let Some(combiner) = Tensors::combiner(self.kind) {
            let filler = identity(self.kind, element);
            let value = match mask {
                Some(mask) => {
                    let none = at.splat(filler, &at.extents(value), element);
                    at.select(self.spread(mask, slots), value, none)
                }
                None => value,
            };
            let placed = self.position(value, filler, slots, &extents);
            return at.same(combiner, &[self.out, placed]);
        }
        if covers && mask.is_none() {
            return value;
        }
        // The output already has this value in all elements.
        if constant(value).is_some_and(|number| constant(self.out) == Some(number)) {
            return self.out;
        }
        let fits =
            slots.iter().zip(&extents).all(|(s, e)| s.step == 1 && s.offset >= 0 && s.offset + s.count <= *e);
        if fits && mask.is_none() {
            let starts: Vec<_> = slots.iter().map(|s| at.integer(s.offset)).collect();
            return at.dynamic_update_slice(self.out, value, &starts);
        }
        let counts: Vec<i64> = slots.iter().map(|s| s.count).collect();
        let mask = match mask {
            Some(mask) => self.spread(mask, slots),
            None => at.splat(Scalar::Bool(true), &counts, at.bool()),
        };
        let filler = identity(Accumulation::Sum, element);
        let placed = self.position(value, filler, slots, &extents);
        let mask = self.position(mask, Scalar::Bool(false), slots, &extents);
        at.select(mask, placed, self.out)
    }

    /// Reduces the values over `reduced` where the mask is true; a map if nothing depends on these indices.
    pub(crate) fn combined(
        &self,
        field: &Field<'c, 'a>,
        mask: Option<&Field<'c, 'a>>,
        reduced: &[usize],
    ) -> (Field<'c, 'a>, Form) {
        let (at, domain) = (&self.at, self.domain);
        let element = at.element(self.out);
        let neutral = identity(self.kind, element);
        let mut indices = union([field].into_iter().chain(mask));
        if matches!(self.kind, Accumulation::Sum | Accumulation::Product) {
            // A value that does not depend on a reduced index contributes once for each value of the index.
            indices.extend(reduced);
            indices.sort_unstable();
            indices.dedup();
        }
        let mut whole = field.over(&indices, domain, at);
        if let Some(mask) = mask {
            let mask = mask.over(&indices, domain, at);
            let filler = at.splat(neutral, &at.extents(whole), element);
            whole = at.select(mask, whole, filler);
        }
        let dimensions: Vec<i64> =
            indices.iter().enumerate().filter(|(_, i)| reduced.contains(i)).map(|(d, _)| d as i64).collect();
        let combiner = Tensors::combiner(self.kind)
            .unwrap_or_else(|| unreachable!("internal compiler error: nothing is combined"));
        let form = if dimensions.is_empty() { Form::Map } else { Form::Reduce };
        let partial = Field {
            value: at.reduce(whole, combiner, neutral, &dimensions),
            indices: indices.into_iter().filter(|i| !reduced.contains(i)).collect(),
        };
        (partial, form)
    }

    /// Reshapes a field to one element per position of the slots.
    fn spread(&self, field: &Field<'c, 'a>, slots: &[Slot]) -> Value<'c, 'a> {
        let order: Vec<usize> = slots.iter().flat_map(|s| s.indices.clone()).collect();
        let value = field.over(&order, self.domain, &self.at);
        let counts: Vec<i64> = slots.iter().map(|s| s.count).collect();
        self.at.reshape(value, &counts)
    }

    /// Places the block in a tensor of `filler` with the shape of the output; elements outside of the output are
    /// dropped.
    fn position(
        &self,
        block: Value<'c, 'a>,
        filler: Scalar,
        slots: &[Slot],
        extents: &[i64],
    ) -> Value<'c, 'a> {
        let low: Vec<i64> = slots.iter().map(|s| s.offset).collect();
        let high: Vec<i64> =
            slots.iter().zip(extents).map(|(s, e)| e - (s.offset + s.step * (s.count - 1) + 1)).collect();
        let interior: Vec<i64> = slots.iter().map(|s| if s.count > 1 { s.step - 1 } else { 0 }).collect();
        self.at.pad(block, filler, &low, &high, &interior)
    }

    /// Writes the last value of each element in index order: finds the point of the last write, then reads its value.
    pub(crate) fn last(
        &self,
        value: &Field<'c, 'a>,
        mask: Option<&Field<'c, 'a>>,
        subscripts: &[Field<'c, 'a>],
    ) -> Value<'c, 'a> {
        let at = &self.at;
        let indices = changing(self.domain);
        let points = shape(&indices, self.domain);
        let count: i64 = points.iter().product();
        let number = Field { value: at.reshape(at.iota(count), &points), indices: indices.clone() };
        let extents = at.extents(self.out);
        let latest =
            Target { kind: Accumulation::Max, out: at.splat(Scalar::Int(-1), &extents, at.int()), ..*self };
        let winner = latest.scatter(&number, mask, subscripts);
        let values = at.reshape(value.over(&indices, self.domain, at), &[count]);
        let position = Subscript::data(Field { value: winner, indices: (0..extents.len()).collect() });
        let written = read(values, &[position], &extents, at).field.value;
        let none = at.splat(Scalar::Int(0), &extents, at.int());
        let is_written = at.compare("GE", "SIGNED", winner, none);
        at.select(is_written, written, self.out)
    }

    /// Writes the value of each point at its subscripts, where the mask is true.
    pub(crate) fn scatter(
        &self,
        value: &Field<'c, 'a>,
        mask: Option<&Field<'c, 'a>>,
        subscripts: &[Field<'c, 'a>],
    ) -> Value<'c, 'a> {
        let at = &self.at;
        let context = at.at.context;
        let all = changing(self.domain);
        let updates = value.over(&all, self.domain, at);
        let mut positions = Vec::new();
        for subscript in subscripts {
            let position = subscript.over(&all, self.domain, at);
            let position = match mask {
                // Skipped points get an out-of-bounds position.
                Some(mask) => {
                    let holds = mask.over(&all, self.domain, at);
                    let outside = at.splat(Scalar::Int(-1), &at.extents(position), at.int());
                    at.select(holds, position, outside)
                }
                None => position,
            };
            positions.push(Field { value: position, indices: all.clone() });
        }
        let positions: Vec<&Field<'c, 'a>> = positions.iter().collect();
        let indices = stack(&positions, &all, self.domain, at);
        let dimensions: Vec<usize> = (0..subscripts.len()).collect();
        let numbers = format!(
            "#stablehlo.scatter<inserted_window_dims = {dimensions:?}, scatter_dims_to_operand_dims = {dimensions:?}, \
             index_vector_dim = {}>",
            all.len()
        );
        let scalar = types::tensor(&[], at.element(self.out));
        let (region, body, arguments) = at.at.region(&[scalar, scalar]);
        let inner = Tensors { at: body };
        let combined = match Tensors::combiner(self.kind) {
            Some(combiner) => inner.same(combiner, &arguments),
            None => arguments[1],
        };
        body.op(ops::stablehlo::RETURN, &[combined], &[], &[], Vec::new());
        let numbers = at.attribute(&numbers);
        let op = at.at.op(
            ops::stablehlo::SCATTER,
            &[self.out, indices, updates],
            &[
                ("scatter_dimension_numbers", numbers),
                ("indices_are_sorted", attributes::boolean(context, false)),
                ("unique_indices", attributes::boolean(context, false)),
            ],
            &[types::tensor(&at.extents(self.out), at.element(self.out))],
            vec![region],
        );
        at.at.result(op, 0)
    }
}
