//! Cubic interpolation: elements gathered at their taps, times weights, added up; in 64 bits, as the kernels do.

use super::super::error::ExportError;
use super::super::field::Field;
use super::Invocation;
use super::domain::{Domain, Place};
use melior::Error;
use melior::ir::{Type, Value};
use skript_dialect::melior;
use skript_intrinsics::resample;
use skript_semantics::Scalar;

/// Resizing: places and weights are constants.
pub(super) fn resize<'c: 'a, 'a>(
    call: &Invocation<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let at = call.at;
    let double = Type::float64(at.at.context);
    let input = call.input(0)?;
    let mut extents = at.extents(input)?;
    let rank = extents.len();
    let whole = Domain {
        extents: extents.clone(),
        at,
    };
    let indices: Vec<usize> = (0..rank).collect();
    let single = at.element(input)?;
    let input = Field {
        value: input,
        indices: indices.clone(),
    };
    let mut field = whole.convert(&input, double)?;
    for (dimension, size) in call.attribute(|c| resample::resized(c, rank))? {
        call.needs_extent(0, dimension)?;
        let extent = extents.get(dimension).copied().unwrap_or(0);
        let taps = usize::try_from(extent).unwrap_or(0);
        let taps = call.attribute(|c| resample::taps(c, taps, size))?;
        let count = taps.iter().map(Vec::len).max().unwrap_or(0);
        if let Some(extent) = extents.get_mut(dimension) {
            *extent = size as i64;
        }
        let mut domain = extents.clone();
        domain.push(count as i64);
        let domain = Domain {
            extents: domain,
            at,
        };
        field = along(field.value, dimension, &taps, &domain)?;
    }
    let whole = Domain { extents, at };
    let result = whole.convert(&field, single)?;
    Ok(vec![result.over(&indices, &whole.extents, &at)?])
}

/// Taps along one dimension; the last index of the domain counts them.
fn along<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    taps: &[Vec<(usize, f64)>],
    domain: &Domain<'c, 'a>,
) -> Result<Field<'c, 'a>, Error> {
    let last = domain.extents.len() - 1;
    let count = domain.extents.last().copied().unwrap_or(0) as usize;
    let (mut places, mut weights, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for taps in taps {
        for number in 0..count {
            let (place, weight) = taps.get(number).copied().unwrap_or((0, 0.0));
            places.push(place as i64);
            weights.push(weight);
            missing.push(i64::from(number >= taps.len()));
        }
    }
    let over = [dimension, last];
    let places: Vec<_> = (0..last)
        .map(|d| match d == dimension {
            true => domain.ints(&places, &over).map(Place::At),
            false => Ok(Place::Index(d)),
        })
        .collect::<Result<_, Error>>()?;
    let mut elements = domain.read(tensor, &places)?;
    if missing.contains(&1) {
        let missing = domain.compare("NE", &domain.ints(&missing, &over)?, &domain.int(0)?)?;
        let zero = domain.real(0.0, domain.at.element(tensor)?)?;
        elements = domain.select(&missing, &zero, &elements)?;
    }
    let product = domain.apply("multiply", &[&elements, &domain.reals(&weights, &over)?])?;
    domain.reduce(&product, "add", Scalar::Real(-0.0), last)
}

/// The cubic at a distance.
fn kernel<'c: 'a, 'a>(
    distance: &Field<'c, 'a>,
    domain: &Domain<'c, 'a>,
) -> Result<Field<'c, 'a>, Error> {
    let a = resample::SAMPLE_COEFFICIENT;
    let element = domain.at.element(distance.value)?;
    let number = |value| domain.real(value, element);
    let times = |x: &Field<'c, 'a>, y: &Field<'c, 'a>| domain.apply("multiply", &[x, y]);
    let plus = |x: &Field<'c, 'a>, y: f64| domain.apply("add", &[x, &number(y)?]);
    let x = &domain.apply("abs", &[distance])?;
    // ((a + 2)·x − (a + 3))·x² + 1
    let near = plus(&times(x, &number(a + 2.0)?)?, -(a + 3.0))?;
    let near = plus(&times(&times(&near, x)?, x)?, 1.0)?;
    // (((x − 5)·x + 8)·x − 4)·a
    let far = plus(&times(&plus(x, -5.0)?, x)?, 8.0)?;
    let far = times(&plus(&times(&far, x)?, -4.0)?, &number(a)?)?;
    let is_near = domain.compare("LE", x, &number(1.0)?)?;
    let is_beyond = domain.compare("GE", x, &number(2.0)?)?;
    let far = domain.select(&is_beyond, &number(0.0)?, &far)?;
    domain.select(&is_near, &near, &far)
}

/// Sampling at the positions of a grid: four taps along each dimension.
pub(super) fn sample<'c: 'a, 'a>(
    call: &Invocation<'c, 'a>,
) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let at = call.at;
    let double = Type::float64(at.at.context);
    let (input, grid) = (call.input(0)?, call.input(1)?);
    let extents = at.extents(input)?;
    let padding = call.attribute(|c| c.text("padding").map(str::to_owned))?;
    let aligned = call.attribute(|c| c.bool("aligned"))?;
    let results = call.extents(0)?;
    // Batch, channel, points; then the taps along each dimension.
    let outer = results.len();
    let spatial = extents.get(2..).unwrap_or(&[]);
    let mut domain = results.clone();
    domain.extend(spatial.iter().map(|_| 4));
    let domain = &Domain {
        extents: domain,
        at,
    };
    let number = |value| domain.real(value, double);
    let mut places = vec![Place::Index(0), Place::Index(1)];
    let mut weights = number(1.0)?;
    let mut inside = None;
    for (dimension, extent) in spatial.iter().enumerate() {
        call.needs_extent(0, dimension + 2)?;
        let component = spatial.len() - 1 - dimension;
        let mut coordinate = vec![Place::Index(0)];
        coordinate.extend((2..outer).map(Place::Index));
        coordinate.push(Place::At(domain.int(component as i64)?));
        let coordinate = domain.convert(&domain.read(grid, &coordinate)?, double)?;
        let size = if aligned { *extent - 1 } else { *extent } as f64;
        let place = domain.apply("add", &[&coordinate, &number(1.0)?])?;
        let place = domain.apply("multiply", &[&place, &number(0.5)?])?;
        let place = domain.apply("multiply", &[&place, &number(size)?])?;
        let low = if aligned { 0.0 } else { -0.5 };
        let mut place = domain.apply("add", &[&place, &number(low)?])?;
        if padding != "REFLECT" {
            let (least, largest) = (-resample::FAR, *extent as f64 + resample::FAR);
            place = domain.apply("maximum", &[&place, &number(least)?])?;
            place = domain.apply("minimum", &[&place, &number(largest)?])?;
        }
        let tap = domain.convert(&domain.index(outer + dimension)?, double)?;
        let tap = domain.apply("subtract", &[&tap, &number(1.0)?])?;
        let position = domain.apply("floor", &[&place])?;
        let position = &domain.apply("add", &[&position, &tap])?;
        let distance = domain.apply("subtract", &[position, &place])?;
        weights = domain.apply("multiply", &[&weights, &kernel(&distance, domain)?])?;
        let last = number((*extent - 1) as f64)?;
        let zero = number(0.0)?;
        let is_inside = domain.compare("GE", position, &zero)?;
        let ends = domain.compare("LE", position, &last)?;
        let is_inside = domain.apply("and", &[&is_inside, &ends])?;
        let element = match padding.as_str() {
            "REFLECT" => {
                let mirrored = mirrored(position, low, size, domain)?;
                domain.select(&is_inside, position, &mirrored)?
            }
            "REPLICATE" => position.clone(),
            _ => {
                let is_nan = domain.compare("NE", position, position)?;
                let is_inside = domain.apply("or", &[&is_inside, &is_nan])?;
                inside = Some(match &inside {
                    Some(others) => domain.apply("and", &[others, &is_inside])?,
                    None => is_inside,
                });
                position.clone()
            }
        };
        let is_number = domain.compare("EQ", &element, &element)?;
        let element = domain.select(&is_number, &element, &zero)?;
        let element = domain.apply("maximum", &[&element, &zero])?;
        let element = domain.apply("minimum", &[&element, &last])?;
        places.push(Place::At(domain.convert(&element, at.int())?));
    }
    let elements = domain.convert(&domain.read(input, &places)?, double)?;
    let mut sum = domain.apply("multiply", &[&elements, &weights])?;
    if let Some(inside) = inside {
        sum = domain.select(&inside, &sum, &number(0.0)?)?;
    }
    for dimension in 0..spatial.len() {
        sum = domain.reduce(&sum, "add", Scalar::Real(-0.0), outer + dimension)?;
    }
    let indices: Vec<usize> = (0..outer).collect();
    let result = domain.convert(&sum, at.element(input)?)?;
    Ok(vec![result.over(&indices, &domain.extents, &at)?])
}

/// A position mirrored at the borders as often as it takes to lie inside, rounded.
fn mirrored<'c: 'a, 'a>(
    position: &Field<'c, 'a>,
    low: f64,
    span: f64,
    domain: &Domain<'c, 'a>,
) -> Result<Field<'c, 'a>, Error> {
    let element = domain.at.element(position.value)?;
    let number = |value| domain.real(value, element);
    if span <= 0.0 {
        return number(0.0);
    }
    let fold = domain.apply("subtract", &[position, &number(low)?])?;
    let fold = domain.apply("abs", &[&fold])?;
    let fold = domain.apply("remainder", &[&fold, &number(2.0 * span)?])?;
    let back = domain.apply("subtract", &[&number(2.0 * span)?, &fold])?;
    let fold = domain.apply("minimum", &[&fold, &back])?;
    let fold = domain.apply("add", &[&fold, &number(low)?])?;
    domain.apply("round_nearest_afz", &[&fold])
}
