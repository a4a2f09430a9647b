// SPDX-License-Identifier: Apache-2.0
//! Singular value decomposition `A = U diag(s) Vᴴ` by one-sided Jacobi rotations.
//!
//! If V is the product of the rotations, the columns of `W = A V` are the columns of U times s. U is computed from W by
//! Householder reflections, so that columns for singular values of zero, and the additional columns of a square U, are
//! orthonormal too.

use super::arrays::{Array, Arrays};
use super::eigen::{ROUNDS, Rotation, ascending, wild};
use super::householder;

/// The results for an argument.
pub(crate) struct Singular {
    /// The singular values in descending order, in one dimension after the batch.
    pub values: Array,
    /// U, with as many columns as the matrices have rows, or as there are singular values.
    pub(crate) left: Array,
    /// Vᴴ, with as many rows as the matrices have columns, or as there are singular values.
    pub(crate) right: Array,
    /// 1 for each matrix with an element that is not finite, else 0.
    pub info: Array,
}

/// The decomposition; `None` if the matrices have no elements. `whole`: U and V are square.
pub(super) fn values(t: &mut Arrays, a: &Array, whole: bool) -> Option<Singular> {
    if a.extents.contains(&0) {
        return None;
    }
    if a.height() >= a.width() {
        let (values, left, right, info) = tall(t, a, whole)?;
        let right = t.adjoint(&right);
        return Some(Singular { values, left, right, info });
    }
    // Aᴴ = V diag(s) Uᴴ
    let turned = t.adjoint(a);
    let (values, right, left, info) = tall(t, &turned, whole)?;
    let right = t.adjoint(&right);
    Some(Singular { values, left, right, info })
}

/// The decomposition of matrices that have at least as many rows as columns.
fn tall(t: &mut Arrays, a: &Array, whole: bool) -> Option<(Array, Array, Array, Array)> {
    let (rows, columns, batch) = (a.rows(), a.columns(), a.batch().to_vec());
    let (height, width) = (a.height(), a.width());
    let info = wild(t, a);
    // Squares of elements scaled by the largest one stay finite.
    let sizes = t.magnitude(a);
    let greatest = t.reduce("maximum", "0.0", &sizes, columns);
    let greatest = t.reduce("maximum", "0.0", &greatest, rows);
    let (zero, one) = (t.number("0.0", &greatest), t.number("1.0", &greatest));
    let is_some = t.compare("GT", &greatest, &zero);
    let scale = t.select(&is_some, &greatest, &one);
    let divisor = t.lifted(&scale, a);
    let shares = t.apply("divide", &[a, &divisor]);
    // W above V: both are rotated alike.
    let identity = identity(t, a, width);
    let both = t.stacked([&shares, &identity], rows);
    let [both] = t.repeat(ROUNDS, [both], |t, _, state| {
        t.repeat((width - 1).max(0), state.clone(), |t, p, [both]| {
            let state = [both.clone(), p.clone()];
            let [both, _] = t.repeat(width, state, |t, q, state| orthogonal(t, q, state, (rows, height)));
            [both]
        })
    });
    let products = t.cut(&both, rows, 0, height);
    let squares = t.squared(&products);
    let lengths = t.reduce("add", "0.0", &squares, rows);
    let lengths = t.apply("sqrt", &[&lengths]);
    let lengths = t.apply("negate", &[&lengths]);
    let [lengths, both] = ascending(t, &lengths, &both);
    let lengths = t.apply("negate", &[&lengths]);
    let values = t.apply("multiply", &[&lengths, &scale]);
    let values = t.reshape(&values, &[batch.as_slice(), &[width]].concat());
    let (products, right) = (t.cut(&both, rows, 0, height), t.cut(&both, rows, height, height + width));
    // W = Q R with R nearly diagonal: U is Q, with the directions of R's diagonal elements.
    let [reflections, taus] = householder::factors(t, &products);
    let (row, column) = (t.positions(&reflections, rows), t.positions(&reflections, columns));
    let is_diagonal = t.compare("EQ", &row, &column);
    let none = t.number("-0.0", &reflections);
    let diagonal = t.select(&is_diagonal, &reflections, &none);
    let diagonal = t.reduce("add", "-0.0", &diagonal, rows);
    let (length, direction) = t.polar(&diagonal);
    let zero = t.number("0.0", &length);
    let is_long = t.compare("GT", &length, &zero);
    let unit = t.number("1.0", &direction);
    let mut direction = t.select(&is_long, &direction, &unit);
    let mut reflections = reflections;
    if whole && height > width {
        let more = [batch.as_slice(), &[height, height - width]].concat();
        let more = t.splat("0.0", &more, &a.element);
        reflections = t.stacked([&reflections, &more], columns);
        let more = [batch.as_slice(), &[1, height - width]].concat();
        let more = t.splat("1.0", &more, &a.element);
        direction = t.stacked([&direction, &more], columns);
    }
    let left = householder::product(t, &reflections, &taus)?;
    let left = t.apply("multiply", &[&left, &direction]);
    Some((values, left, right, info))
}

/// Rectangular identity matrices: ones on the diagonal.
fn identity(t: &mut Arrays, like: &Array, size: i64) -> Array {
    let extents = [like.batch(), &[size, size]].concat();
    let ones = t.splat("1.0", &extents, &like.element);
    let zero = t.number("0.0", like);
    let (row, column) = (t.positions(&ones, like.rows()), t.positions(&ones, like.columns()));
    let is_diagonal = t.compare("EQ", &row, &column);
    t.select(&is_diagonal, &ones, &zero)
}

/// Rotates columns p and q so that their first rows, as many as W has, become orthogonal; unchanged unless p < q. p is
/// element 1 of the loop state.
fn orthogonal(t: &mut Arrays, q: &Array, [both, p]: &[Array; 2], (rows, height): (usize, i64)) -> [Array; 2] {
    let columns = both.columns();
    let (x, y) = (t.part(both, columns, p), t.part(both, columns, q));
    let (x, y) = (t.cut(&x, rows, 0, height), t.cut(&y, rows, 0, height));
    let sum = |t: &mut Arrays, elements: &Array| t.reduce("add", "0.0", elements, rows);
    let squares = [&x, &y].map(|part| t.squared(part));
    let [own, other] = [&squares[0], &squares[1]].map(|squares| sum(t, squares));
    let back = t.conjugate(&x);
    let products = t.apply("multiply", &[&back, &y]);
    let product = sum(t, &products);
    let rotation = Rotation::of(t, [&own, &product, &other], both, (p, q));
    let both = rotation.columns(t, both, (p, q));
    [both, p.clone()]
}
