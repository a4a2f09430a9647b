// SPDX-License-Identifier: Apache-2.0
//! Exports pooling of regions. Reduces one dimension after the other and masks the elements outside of each bin.
use super::super::constants::identity;
use super::super::error::ExportError;
use super::super::field::Field;
use super::Invocation;
use super::domain::{Domain, Position};
use melior::ir::{Type, Value};
use skript_dialect::melior;
use skript_frontend::model::Accumulation;
use skript_semantics::Scalar;

/// The maximum or the mean of each bin; 0 for an empty bin. An out-of-range batch index is clamped.
pub(super) fn pool<'c: 'a, 'a>(
    call: &Invocation<'c, 'a>,
    kind: Accumulation,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let at = call.at;
    let (input, rois, index) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let extents = at.extents(input);
    let results = call.extents(0)?;
    let spatial = extents.get(2..).unwrap_or(&[]);
    let single = at.element(input);
    let (element, combiner) = match kind {
        Accumulation::Max => (single, "maximum"),
        _ => (Type::float64(at.at.context), "add"),
    };
    if results.contains(&0) || extents.contains(&0) {
        return Ok(vec![at.splat(Scalar::Real(0.0), &results, single)]);
    }
    // The dimensions are region, channel, bins; then the elements along each spatial dimension.
    let outer = results.len();
    let mut domain = results.clone();
    domain.extend(spatial);
    let domain = &Domain { extents: domain, at };
    let mut items = domain.read(index, &[Position::Index(0)]);
    if let Some(count) = call.filled(0, 0) {
        let last = domain.apply("subtract", &[&Field::scalar(count), &domain.int(1)]);
        items = domain.apply("minimum", &[&items, &last]);
    }
    let mut addresses = vec![Position::At(items), Position::Index(1)];
    addresses.extend((0..spatial.len()).map(|d| Position::Index(outer + d)));
    let mut pooled = domain.convert(&domain.read(input, &addresses), element);
    let neutral = identity(kind, element);
    let mut count = domain.real(1.0, element);
    let mut is_nan = Vec::new();
    for dimension in 0..spatial.len() {
        let along = outer + dimension;
        let (mut bin, without_border) = touched(rois, dimension, spatial.len(), domain);
        if let Some(extent) = call.filled(0, dimension + 2) {
            let is_filled = domain.compare("LT", &domain.index(along), &Field::scalar(extent));
            bin = domain.apply("and", &[&bin, &is_filled]);
        }
        let bin = &bin;
        is_nan.push(without_border);
        let nothing = Field::scalar(at.splat(neutral, &[], element));
        let masked = domain.select(bin, &pooled, &nothing);
        pooled = domain.reduce(&masked, combiner, neutral, along);
        let ones = domain.convert(bin, element);
        let ones = domain.reduce(&ones, "add", Scalar::Real(0.0), along);
        count = domain.apply("multiply", &[&count, &ones]);
    }
    if kind != Accumulation::Max {
        pooled = domain.apply("divide", &[&pooled, &count]);
    }
    let zero = domain.real(0.0, element);
    let holds = domain.compare("GT", &count, &zero);
    let mut pooled = domain.select(&holds, &pooled, &zero);
    let nan = domain.real(f64::NAN, element);
    for is_nan in &is_nan {
        pooled = domain.select(is_nan, &nan, &pooled);
    }
    let pooled = domain.convert(&pooled, single);
    let indices: Vec<usize> = (0..outer).collect();
    Ok(vec![pooled.over(&indices, &domain.extents, &at)])
}

/// Whether a bin covers an element along one dimension, and whether a border of the bin is NaN.
fn touched<'c: 'a, 'a>(
    rois: Value<'c, 'a>,
    dimension: usize,
    rank: usize,
    domain: &Domain<'c, 'a>,
) -> (Field<'c, 'a>, Field<'c, 'a>) {
    let (bin, along) = (2 + dimension, 2 + rank + dimension);
    let element = domain.at.element(rois);
    let number = |value| domain.real(value, element);
    let corner = |number: usize| {
        let column = domain.int(number as i64);
        domain.read(rois, &[Position::Index(0), Position::At(column)])
    };
    let (begin, end) = (corner(dimension), corner(rank + dimension));
    let count = domain.extents[bin];
    let size = domain.apply("subtract", &[&end, &begin]);
    let size = &domain.apply("divide", &[&size, &number(count as f64)]);
    let edge = |bin: &Field<'c, 'a>| {
        let offset = domain.apply("multiply", &[bin, size]);
        domain.apply("add", &[&begin, &offset])
    };
    let first = domain.convert(&domain.index(bin), element);
    let low = domain.apply("floor", &[&edge(&first)]);
    let after = domain.apply("add", &[&first, &number(1.0)]);
    let high = domain.apply("ceil", &[&edge(&after)]);
    let position = domain.convert(&domain.index(along), element);
    let above = domain.compare("GE", &position, &low);
    let below = domain.compare("LT", &position, &high);
    let no_begin = domain.compare("NE", &low, &low);
    let no_end = domain.compare("NE", &high, &high);
    let is_nan = domain.apply("or", &[&no_begin, &no_end]);
    (domain.apply("and", &[&above, &below]), is_nan)
}
