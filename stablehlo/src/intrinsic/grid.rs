// SPDX-License-Identifier: Apache-2.0
//! Exports cubic sampling at the positions of a grid: gathers the elements at the taps, multiplies them by weights, and
//! adds the products in f64, like the run-time kernel.

use super::super::error::ExportError;
use super::super::field::Field;
use super::Invocation;
use super::cubic::kernel;
use super::domain::{Domain, Position};
use super::length::Length;
use melior::ir::{Type, Value};
use skript_dialect::melior;
use skript_intrinsics::resample;
use skript_semantics::Scalar;

/// Samples at the positions of a grid, with four taps along each dimension.
pub(super) fn sample<'c: 'a, 'a>(call: &Invocation<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let at = call.at;
    let double = Type::float64(at.at.context);
    let (input, grid) = (call.input(0)?, call.input(1)?);
    let extents = at.extents(input);
    let padding = call.attribute(|c| c.text("padding").map(str::to_owned))?;
    let aligned = call.attribute(|c| c.bool("aligned"))?;
    let results = call.extents(0)?;
    // The dimensions are batch, channel, points; then the taps along each spatial dimension.
    let outer = results.len();
    let spatial = extents.get(2..).unwrap_or(&[]);
    let mut domain = results.clone();
    domain.extend(spatial.iter().map(|_| 4));
    let domain = &Domain { extents: domain, at };
    let number = |value| domain.real(value, double);
    let mut addresses = vec![Position::Index(0), Position::Index(1)];
    let mut weights = number(1.0);
    let mut counts = Vec::new();
    for (dimension, extent) in spatial.iter().enumerate() {
        let length = Length::new(call, (0, dimension + 2), *extent, domain);
        let component = spatial.len() - 1 - dimension;
        let mut coordinate = vec![Position::Index(0)];
        coordinate.extend((2..outer).map(Position::Index));
        coordinate.push(Position::At(domain.int(component as i64)));
        let coordinate = domain.convert(&domain.read(grid, &coordinate), double);
        let cut = if aligned { -1.0 } else { 0.0 };
        let address = domain.apply("add", &[&coordinate, &number(1.0)]);
        let address = domain.apply("multiply", &[&address, &number(0.5)]);
        let address = domain.apply("multiply", &[&address, &length.scaled(1.0, cut, domain)]);
        let low = if aligned { 0.0 } else { -0.5 };
        let mut address = domain.apply("add", &[&address, &number(low)]);
        if padding != "REFLECT" {
            let (low, high) = (-resample::FAR, length.scaled(1.0, resample::FAR, domain));
            address = domain.apply("maximum", &[&address, &number(low)]);
            address = domain.apply("minimum", &[&address, &high]);
        }
        let tap = domain.convert(&domain.index(outer + dimension), double);
        let tap = domain.apply("subtract", &[&tap, &number(1.0)]);
        let position = domain.apply("floor", &[&address]);
        let position = &domain.apply("add", &[&position, &tap]);
        let distance = domain.apply("subtract", &[position, &address]);
        weights =
            domain.apply("multiply", &[&weights, &kernel(&distance, resample::SAMPLE_COEFFICIENT, domain)]);
        let last = length.scaled(1.0, -1.0, domain);
        let zero = number(0.0);
        let is_inside = domain.compare("GE", position, &zero);
        let ends = domain.compare("LE", position, &last);
        let is_inside = domain.apply("and", &[&is_inside, &ends]);
        let element = match padding.as_str() {
            "REFLECT" => {
                // The remainder by a zero distance is NaN, which selects the first element.
                let twice = length.scaled(2.0, 2.0 * cut, domain);
                let mirrored = mirrored(position, low, &twice, domain);
                domain.select(&is_inside, position, &mirrored)
            }
            "REPLICATE" => position.clone(),
            _ => {
                let is_nan = domain.compare("NE", position, position);
                let is_inside = domain.apply("or", &[&is_inside, &is_nan]);
                counts.push(is_inside);
                position.clone()
            }
        };
        if let Length::Filled(_) = length {
            counts.push(domain.compare("GE", &last, &zero));
        }
        let is_number = domain.compare("EQ", &element, &element);
        let element = domain.select(&is_number, &element, &zero);
        let element = domain.apply("maximum", &[&element, &zero]);
        let element = domain.apply("minimum", &[&element, &last]);
        addresses.push(Position::At(domain.convert(&element, at.int())));
    }
    let elements = domain.convert(&domain.read(input, &addresses), double);
    let mut sum = domain.apply("multiply", &[&elements, &weights]);
    for counts in counts {
        sum = domain.select(&counts, &sum, &number(0.0));
    }
    for dimension in 0..spatial.len() {
        sum = domain.reduce(&sum, "add", Scalar::Real(-0.0), outer + dimension);
    }
    let indices: Vec<usize> = (0..outer).collect();
    let result = domain.convert(&sum, at.element(input));
    Ok(vec![result.over(&indices, &domain.extents, &at)])
}

/// Reflects a position at the borders until it is in bounds, and rounds it; `twice` is twice the distance between the
/// borders.
fn mirrored<'c: 'a, 'a>(
    position: &Field<'c, 'a>,
    low: f64,
    twice: &Field<'c, 'a>,
    domain: &Domain<'c, 'a>,
) -> Field<'c, 'a> {
    let element = domain.at.element(position.value);
    let number = |value| domain.real(value, element);
    let fold = domain.apply("subtract", &[position, &number(low)]);
    let fold = domain.apply("abs", &[&fold]);
    let fold = domain.apply("remainder", &[&fold, twice]);
    let back = domain.apply("subtract", &[twice, &fold]);
    let fold = domain.apply("minimum", &[&fold, &back]);
    let fold = domain.apply("add", &[&fold, &number(low)]);
    domain.apply("round_nearest_afz", &[&fold])
}
