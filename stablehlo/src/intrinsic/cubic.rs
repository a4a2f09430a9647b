// SPDX-License-Identifier: Apache-2.0
//! Exports cubic resizing: gathers the elements at the taps, multiplies them by weights, and adds the products in f64,
//! like the run-time kernel.
use super::super::error::ExportError;
use super::super::field::Field;
use super::Invocation;
use super::domain::{Domain, Position};
use melior::ir::{Type, Value};
use skript_dialect::melior;
use skript_intrinsics::resample;
use skript_semantics::Scalar;

/// Resizes each of the axes to the extent of the result. Positions and weights are constants if both extents are
/// static.
pub(super) fn resize<'c: 'a, 'a>(call: &Invocation<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, ExportError> {
    let at = call.at;
    let double = Type::float64(at.at.context);
    let input = call.input(0)?;
    let mut extents = at.extents(input);
    let rank = extents.len();
    let whole = Domain { extents: extents.clone(), at };
    let indices: Vec<usize> = (0..rank).collect();
    let single = at.element(input);
    let input = Field { value: input, indices: indices.clone() };
    let mut field = whole.convert(&input, double);
    let sizes = call.extents(0)?;
    for axis in call.attribute(|c| c.ints("axes"))? {
        let dimension = call.dimension(axis, rank)?;
        let extent = extents[dimension];
        let size = sizes[dimension];
        extents[dimension] = size;
        let count = |extent: i64| extent as usize;
        let over = |count: usize| {
            let mut domain = extents.clone();
            domain.push(count as i64);
            Domain { extents: domain, at }
        };
        let run_time = [call.filled(0, dimension), call.filled_result(0, dimension)];
        field = if run_time == [None, None] {
            let taps = call.attribute(|c| resample::taps(c, count(extent), count(size)))?;
            let max_taps = taps.iter().map(Vec::len).fold(0, usize::max);
            along(field.value, dimension, &taps, &over(max_taps))
        } else {
            let cubic = call.attribute(resample::Cubic::new)?;
            // A dynamic size may be 1.
            let min_size = if run_time[1].is_none() { count(size) } else { 1 };
            let domain = over(cubic.max_taps(count(extent), min_size));
            let [length, size] = [(run_time[0], extent), (run_time[1], size)];
            let number = |(filled, known): (Option<Value<'c, 'a>>, i64)| {
                let filled = filled.unwrap_or_else(|| at.integer(known));
                domain.convert(&Field::scalar(filled), double)
            };
            let lengths = [number(length), number(size)];
            along_filled(field.value, dimension, &lengths, &cubic, &domain)
        };
    }
    let whole = Domain { extents, at };
    let result = whole.convert(&field, single);
    Ok(vec![result.over(&indices, &whole.extents, &at)])
}

/// Sums the products of elements and weights at the taps along one dimension; the last index of the domain counts the
/// taps.
fn along<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    taps: &[Vec<(usize, f64)>],
    domain: &Domain<'c, 'a>,
) -> Field<'c, 'a> {
    let last = domain.extents.len() - 1;
    let count = domain.extents[last] as usize;
    let (mut addresses, mut weights, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for taps in taps {
        for number in 0..count {
            let (address, weight) = taps.get(number).copied().unwrap_or((0, 0.0));
            addresses.push(address as i64);
            weights.push(weight);
            missing.push(i64::from(number >= taps.len()));
        }
    }
    let over = [dimension, last];
    let mut elements = taken(tensor, dimension, domain.ints(&addresses, &over), domain);
    if missing.contains(&1) {
        let missing = domain.compare("NE", &domain.ints(&missing, &over), &domain.int(0));
        let zero = domain.real(0.0, domain.at.element(tensor));
        elements = domain.select(&missing, &zero, &elements);
    }
    let product = domain.apply("multiply", &[&elements, &domain.reals(&weights, &over)]);
    domain.reduce(&product, "add", Scalar::Real(-0.0), last)
}

/// The elements at positions along one dimension.
fn taken<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    address: Field<'c, 'a>,
    domain: &Domain<'c, 'a>,
) -> Field<'c, 'a> {
    let last = domain.extents.len() - 1;
    let mut addresses: Vec<_> = (0..last).map(Position::Index).collect();
    if let Some(along) = addresses.get_mut(dimension) {
        *along = Position::At(address);
    }
    domain.read(tensor, &addresses)
}

/// Like [`along`], for a dynamic extent: computes the same positions and weights at run time from the lengths before and
/// after resizing.
fn along_filled<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    dimension: usize,
    [length, size]: &[Field<'c, 'a>; 2],
    cubic: &resample::Cubic,
    domain: &Domain<'c, 'a>,
) -> Field<'c, 'a> {
    let last = domain.extents.len() - 1;
    let element = domain.at.element(tensor);
    let number = |value| domain.real(value, element);
    let times = |x: &Field<'c, 'a>, y: &Field<'c, 'a>| domain.apply("multiply", &[x, y]);
    let plus = |x: &Field<'c, 'a>, y: f64| domain.apply("add", &[x, &number(y)]);
    let minus = |x: &Field<'c, 'a>, y: &Field<'c, 'a>| domain.apply("subtract", &[x, y]);
    let (shift, cut) = (cubic.shift, cubic.cut);
    let (zero, one) = (number(0.0), number(1.0));
    let is_more = domain.compare("GT", size, &number(cut));
    let address = domain.convert(&domain.index(dimension), element);
    let address = times(&plus(&address, shift), &plus(length, -cut));
    let apart = domain.select(&is_more, &plus(size, -cut), &one);
    let address = plus(&domain.apply("divide", &[&address, &apart]), -shift);
    let center = domain.select(&is_more, &address, &zero);
    let width = if cubic.antialias {
        let size = domain.apply("maximum", &[size, &one]);
        let ratio = domain.apply("divide", &[length, &size]);
        domain.apply("maximum", &[&ratio, &one])
    } else {
        one.clone()
    };
    let reach = times(&width, &number(2.0));
    let first = domain.apply("ceil", &[&minus(&center, &reach)]);
    let end = domain.apply("floor", &[&domain.apply("add", &[&center, &reach])]);
    let tap = domain.convert(&domain.index(last), element);
    let position = domain.apply("add", &[&first, &tap]);
    let is_tap = domain.compare("LE", &position, &end);
    let distance = domain.apply("divide", &[&minus(&position, &center), &width]);
    let mut weight = kernel(&distance, cubic.coefficient, domain);
    weight = domain.select(&is_tap, &weight, &zero);
    if cubic.antialias {
        let sum = domain.reduce(&weight, "add", Scalar::Real(-0.0), last);
        let is_wide = domain.compare("GT", &width, &one);
        let is_some = domain.compare("NE", &sum, &zero);
        let shares = domain.apply("and", &[&is_wide, &is_some]);
        let divisor = domain.select(&shares, &sum, &one);
        weight = domain.apply("divide", &[&weight, &divisor]);
    }
    let address = domain.apply("minimum", &[&position, &plus(length, -1.0)]);
    let address = domain.apply("maximum", &[&address, &zero]);
    let address = domain.convert(&address, domain.at.int());
    let elements = taken(tensor, dimension, address, domain);
    let exists = domain.compare("GT", length, &zero);
    let counts = domain.apply("and", &[&is_tap, &exists]);
    let product = domain.select(&counts, &times(&elements, &weight), &zero);
    domain.reduce(&product, "add", Scalar::Real(-0.0), last)
}

/// The cubic convolution kernel with parameter `a` at a distance.
pub(super) fn kernel<'c: 'a, 'a>(distance: &Field<'c, 'a>, a: f64, domain: &Domain<'c, 'a>) -> Field<'c, 'a> {
    let element = domain.at.element(distance.value);
    let number = |value| domain.real(value, element);
    let times = |x: &Field<'c, 'a>, y: &Field<'c, 'a>| domain.apply("multiply", &[x, y]);
    let plus = |x: &Field<'c, 'a>, y: f64| domain.apply("add", &[x, &number(y)]);
    let x = &domain.apply("abs", &[distance]);
    // ((a + 2)·x − (a + 3))·x² + 1
    let near = plus(&times(x, &number(a + 2.0)), -(a + 3.0));
    let near = plus(&times(&times(&near, x), x), 1.0);
    // (((x − 5)·x + 8)·x − 4)·a
    let far = plus(&times(&plus(x, -5.0), x), 8.0);
    let far = times(&plus(&times(&far, x), -4.0), &number(a));
    let is_near = domain.compare("LE", x, &number(1.0));
    let is_beyond = domain.compare("GE", x, &number(2.0));
    let far = domain.select(&is_beyond, &number(0.0), &far);
    domain.select(&is_near, &near, &far)
}
