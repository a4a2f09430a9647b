// SPDX-License-Identifier: Apache-2.0
//! QR decomposition `A = Q R` by Householder reflections `1 - τ v vᴴ`.

use super::arrays::{Array, Arrays};

/// R with the vectors of the reflections below its diagonal (without their first elements, which are 1), and the
/// factors τ.
pub(crate) fn factors(t: &mut Arrays, a: &Array) -> [Array; 2] {
    let (rows, columns, batch) = (a.rows(), a.columns(), a.batch().to_vec());
    let count = a.height().min(a.width());
    let with = |more: &[i64]| [batch.as_slice(), more].concat();
    let taus = t.splat("0.0", &with(&[count, 1]), &a.element);
    let [a, taus] = t.repeat(count, [a.clone(), taus], |t, k, [a, taus]| {
        let index = t.reshape(k, &vec![1; a.rank()]);
        let (row, column) = (t.positions(a, rows), t.positions(a, columns));
        let own = t.part(a, columns, k);
        let first = t.part(&own, rows, k);
        let below = t.compare("GT", &row, &index);
        let (zero, one) = (t.number("0.0", a), t.number("1.0", a));
        let rest = t.select(&below, &own, &zero);
        // The norm, scaled by the largest element.
        let (sizes, size) = (t.magnitude(&rest), t.magnitude(&first));
        let (nothing, unit) = (t.number("0.0", &size), t.number("1.0", &size));
        let greatest = t.reduce("maximum", "0.0", &sizes, rows);
        // Zeros below, and a real number on the diagonal.
        let turned = t.imaginary(&first);
        let turned = t.apply("abs", &[&turned]);
        let left = t.apply("maximum", &[&greatest, &turned]);
        let is_done = t.compare("EQ", &left, &nothing);
        let scale = t.apply("maximum", &[&greatest, &size]);
        let no_scale = t.compare("EQ", &scale, &nothing);
        let scale = t.select(&no_scale, &unit, &scale);
        let divisor = t.lifted(&scale, a);
        let shares = t.apply("divide", &[&rest, &divisor]);
        let squares = t.squared(&shares);
        let sum = t.reduce("add", "0.0", &squares, rows);
        let share = t.apply("divide", &[&first, &divisor]);
        let square = t.squared(&share);
        let sum = t.apply("add", &[&sum, &square]);
        let length = t.apply("sqrt", &[&sum]);
        let length = t.apply("multiply", &[&length, &scale]);
        let real = t.real(&first);
        let is_negative = t.compare("LT", &real, &nothing);
        let minus = t.apply("negate", &[&length]);
        let beta = t.select(&is_negative, &length, &minus);
        let beta = t.lifted(&beta, a);
        let difference = t.apply("subtract", &[&beta, &first]);
        let tau = t.apply("divide", &[&difference, &beta]);
        let tau = t.select(&is_done, &zero, &tau);
        let beta = t.select(&is_done, &first, &beta);
        let divisor = t.apply("negate", &[&difference]);
        let vector = t.apply("divide", &[&rest, &divisor]);
        let vector = t.select(&is_done, &zero, &vector);
        let is_pivot = t.compare("EQ", &row, &index);
        let vector = t.select(&is_pivot, &one, &vector);
        let back = t.conjugate(&tau);
        let reflected = reflected(t, a, &vector, &back);
        let after = t.compare("GT", &column, &index);
        let a = t.select(&after, &reflected, a);
        let new = t.select(&below, &vector, &own);
        let new = t.select(&is_pivot, &beta, &new);
        let a = t.with_part(&a, columns, k, &new);
        let taus = t.with_part(taus, rows, k, &tau);
        [a, taus]
    });
    [a, t.reshape(&taus, &with(&[count]))]
}

/// The first columns of the product of reflections, as many as their matrix has; `None` if the number of factors per
/// matrix does not match the matrices.
pub(crate) fn product(t: &mut Arrays, a: &Array, taus: &Array) -> Option<Array> {
    let (rows, columns) = (a.rows(), a.columns());
    let (count, batch) = taus.extents.split_last()?;
    let count = *count;
    if batch != a.batch() || count > a.height().min(a.width()) {
        return None;
    }
    let taus = t.reshape(taus, &[taus.extents.as_slice(), &[1]].concat());
    let (row, column) = (t.positions(a, rows), t.positions(a, columns));
    let (zero, one) = (t.number("0.0", a), t.splat("1.0", &a.extents, &a.element));
    let is_diagonal = t.compare("EQ", &row, &column);
    let q = t.select(&is_diagonal, &one, &zero);
    let state = [q, a.clone(), taus];
    let [q, ..] = t.repeat(count, state, |t, k, [q, a, taus]| {
        let last = t.splat(&(count - 1).to_string(), &[], "i32");
        let k = t.apply("subtract", &[&last, k]);
        let index = t.reshape(&k, &vec![1; a.rank()]);
        let row = t.positions(a, rows);
        let own = t.part(a, columns, &k);
        let (zero, one) = (t.number("0.0", a), t.number("1.0", a));
        let below = t.compare("GT", &row, &index);
        let vector = t.select(&below, &own, &zero);
        let is_pivot = t.compare("EQ", &row, &index);
        let vector = t.select(&is_pivot, &one, &vector);
        let tau = t.part(taus, rows, &k);
        let q = reflected(t, q, &vector, &tau);
        [q, a.clone(), taus.clone()]
    });
    Some(q)
}

/// `A - τ v (vᴴ A)`
fn reflected(t: &mut Arrays, a: &Array, vector: &Array, tau: &Array) -> Array {
    let across = t.conjugate(vector);
    let products = t.apply("multiply", &[&across, a]);
    let along = t.reduce("add", "0.0", &products, a.rows());
    let along = t.apply("multiply", &[&along, tau]);
    let change = t.apply("multiply", &[vector, &along]);
    t.apply("subtract", &[a, &change])
}
