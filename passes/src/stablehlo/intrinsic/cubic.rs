//! Cubic resizing: elements gathered at their taps, times weights, added up; in 64 bits, as the kernel does.

use super::super::error::ExportError;
use super::super::field::Field;
use super::Invocation;
use super::domain::{Domain, Place};
use melior::Error;
use melior::ir::{Type, Value};
use skript_dialect::melior;
use skript_intrinsics::resample;
use skript_semantics::Scalar;

/// Resizing: places and weights are constants where the extent is known.
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
        let extent = extents.get(dimension).copied().unwrap_or(0);
        if let Some(extent) = extents.get_mut(dimension) {
            *extent = size as i64;
        }
        let over = |count: usize| {
            let mut domain = extents.clone();
            domain.push(count as i64);
            Domain {
                extents: domain,
                at,
            }
        };
        let bound = usize::try_from(extent).unwrap_or(0);
        field = match call.filled(0, dimension) {
            Some(length) => {
                let cubic = call.attribute(resample::Cubic::of)?;
                let domain = over(cubic.most_taps(bound, size));
                along_filled(field.value, (dimension, length), &cubic, &domain)?
            }
            None => {
                let taps = call.attribute(|c| resample::taps(c, bound, size))?;
                let count = taps.iter().map(Vec::len).max().unwrap_or(0);
                along(field.value, dimension, &taps, &over(count))?
            }
        };
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
    let mut elements = taken(tensor, dimension, domain.ints(&places, &over)?, domain)?;
    if missing.contains(&1) {
        let missing = domain.compare("NE", &domain.ints(&missing, &over)?, &domain.int(0)?)?;
        let zero = domain.real(0.0, domain.at.element(tensor)?)?;
        elements = domain.select(&missing, &zero, &elements)?;
    }
    let product = domain.apply("multiply", &[&elements, &domain.reals(&weights, &over)?])?;
    domain.reduce(&product, "add", Scalar::Real(-0.0), last)
}

/// The elements at places along one dimension.
fn taken<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    place: Field<'c, 'a>,
    domain: &Domain<'c, 'a>,
) -> Result<Field<'c, 'a>, Error> {
    let last = domain.extents.len() - 1;
    let mut places: Vec<_> = (0..last).map(Place::Index).collect();
    if let Some(along) = places.get_mut(dimension) {
        *along = Place::At(place);
    }
    domain.read(tensor, &places)
}

/// As [`along`], where only a run knows the extent: the same places and weights, from its length.
fn along_filled<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    (dimension, length): (usize, Value<'c, 'a>),
    cubic: &resample::Cubic,
    domain: &Domain<'c, 'a>,
) -> Result<Field<'c, 'a>, Error> {
    let last = domain.extents.len() - 1;
    let element = domain.at.element(tensor)?;
    let number = |value| domain.real(value, element);
    let times = |x: &Field<'c, 'a>, y: &Field<'c, 'a>| domain.apply("multiply", &[x, y]);
    let plus = |x: &Field<'c, 'a>, y: f64| domain.apply("add", &[x, &number(y)?]);
    let minus = |x: &Field<'c, 'a>, y: &Field<'c, 'a>| domain.apply("subtract", &[x, y]);
    let size = domain.extents.get(dimension).copied().unwrap_or(0) as f64;
    let length = domain.convert(&Field::scalar(length), element)?;
    let (shift, cut) = (cubic.shift, cubic.cut);
    let center = match size > cut {
        true => {
            let place = domain.convert(&domain.index(dimension)?, element)?;
            let place = times(&plus(&place, shift)?, &plus(&length, -cut)?)?;
            let place = domain.apply("divide", &[&place, &number(size - cut)?])?;
            plus(&place, -shift)?
        }
        false => number(0.0)?,
    };
    let one = number(1.0)?;
    let width = match cubic.antialias {
        true => {
            let ratio = domain.apply("divide", &[&length, &number(size.max(1.0))?])?;
            domain.apply("maximum", &[&ratio, &one])?
        }
        false => one.clone(),
    };
    let reach = times(&width, &number(2.0)?)?;
    let first = domain.apply("ceil", &[&minus(&center, &reach)?])?;
    let end = domain.apply("floor", &[&domain.apply("add", &[&center, &reach])?])?;
    let tap = domain.convert(&domain.index(last)?, element)?;
    let position = domain.apply("add", &[&first, &tap])?;
    let is_tap = domain.compare("LE", &position, &end)?;
    let distance = domain.apply("divide", &[&minus(&position, &center)?, &width])?;
    let zero = number(0.0)?;
    let mut weight = kernel(&distance, cubic.coefficient, domain)?;
    weight = domain.select(&is_tap, &weight, &zero)?;
    if cubic.antialias {
        let sum = domain.reduce(&weight, "add", Scalar::Real(-0.0), last)?;
        let is_wide = domain.compare("GT", &width, &one)?;
        let is_some = domain.compare("NE", &sum, &zero)?;
        let shares = domain.apply("and", &[&is_wide, &is_some])?;
        let divisor = domain.select(&shares, &sum, &one)?;
        weight = domain.apply("divide", &[&weight, &divisor])?;
    }
    let place = domain.apply("minimum", &[&position, &plus(&length, -1.0)?])?;
    let place = domain.apply("maximum", &[&place, &zero])?;
    let place = domain.convert(&place, domain.at.int())?;
    let elements = taken(tensor, dimension, place, domain)?;
    let exists = domain.compare("GT", &length, &zero)?;
    let counts = domain.apply("and", &[&is_tap, &exists])?;
    let product = domain.select(&counts, &times(&elements, &weight)?, &zero)?;
    domain.reduce(&product, "add", Scalar::Real(-0.0), last)
}

/// The cubic of parameter `a` at a distance.
pub(super) fn kernel<'c: 'a, 'a>(
    distance: &Field<'c, 'a>,
    a: f64,
    domain: &Domain<'c, 'a>,
) -> Result<Field<'c, 'a>, Error> {
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
