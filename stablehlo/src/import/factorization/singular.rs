// SPDX-License-Identifier: Apache-2.0
//! `A = U diag(s) Vᴴ`, by rotations that make one pair of columns orthogonal after the other (Jacobi, one-sided).
//!
//! With V the product of the rotations, the columns of `W = A V` are those of U, s times as long. U is made of W by
//! reflections: so columns of length zero have their places too, and those that a square U has more.

use super::arrays::{Array, Arrays};
use super::eigen::{ROUNDS, Rotation, ascending, wild};
use super::householder;

/// What belongs to an argument.
pub(crate) struct Singular {
    /// Greatest first, in one dimension behind the batch.
    pub values: Array,
    /// As many columns as the matrices have rows, or as there are values.
    pub(crate) left: Array,
    /// Vᴴ: as many rows as the matrices have columns, or as there are values.
    pub(crate) right: Array,
    /// 1 where an element of A is no number, 0 elsewhere.
    pub info: Array,
}

/// `None`: there are no elements. `whole`: U and V are square.
pub(super) fn values(t: &mut Arrays, a: &Array, whole: bool) -> Option<Singular> {
    if a.extents.contains(&0) {
        return None;
    }
    if a.height() >= a.width() {
        let (values, left, right, info) = tall(t, a, whole)?;
        let right = t.adjoint(&right);
        return Some(Singular {
            values,
            left,
            right,
            info,
        });
    }
    // Aᴴ = V diag(s) Uᴴ
    let turned = t.adjoint(a);
    let (values, right, left, info) = tall(t, &turned, whole)?;
    let right = t.adjoint(&right);
    Some(Singular {
        values,
        left,
        right,
        info,
    })
}

/// Values, U, V and whether there are such, of matrices of no more columns than rows.
fn tall(t: &mut Arrays, a: &Array, whole: bool) -> Option<(Array, Array, Array, Array)> {
    let (rows, columns, batch) = (a.rows(), a.columns(), a.batch().to_vec());
    let (height, width) = (a.height(), a.width());
    let info = wild(t, a);
    // Squares of shares of the greatest element stay numbers.
    let sizes = t.magnitude(a);
    let greatest = t.reduce("maximum", "0.0", &sizes, columns);
    let greatest = t.reduce("maximum", "0.0", &greatest, rows);
    let (zero, one) = (t.number("0.0", &greatest), t.number("1.0", &greatest));
    let is_some = t.compare("GT", &greatest, &zero);
    let scale = t.select(&is_some, &greatest, &one);
    let divisor = t.lifted(&scale, a);
    let shares = t.apply("divide", &[a, &divisor]);
    // W above V: both are turned alike.
    let identity = identity(t, a, width);
    let both = t.stacked([&shares, &identity], rows);
    let [both] = t.repeat(ROUNDS, [both], |t, _, state| {
        t.repeat((width - 1).max(0), state.clone(), |t, p, [both]| {
            let state = [both.clone(), p.clone()];
            let [both, _] = t.repeat(width, state, |t, q, state| {
                orthogonal(t, q, state, (rows, height))
            });
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
    let (products, right) = (
        t.cut(&both, rows, 0, height),
        t.cut(&both, rows, height, height + width),
    );
    // W = Q R, R nearly diagonal: U is Q in the directions of its elements.
    let [reflections, taus] = householder::factors(t, &products);
    let (row, column) = (
        t.positions(&reflections, rows),
        t.positions(&reflections, columns),
    );
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

/// Ones on the diagonals of as many columns as there are rows.
fn identity(t: &mut Arrays, like: &Array, size: i64) -> Array {
    let extents = [like.batch(), &[size, size]].concat();
    let ones = t.splat("1.0", &extents, &like.element);
    let zero = t.number("0.0", like);
    let (row, column) = (
        t.positions(&ones, like.rows()),
        t.positions(&ones, like.columns()),
    );
    let is_diagonal = t.compare("EQ", &row, &column);
    t.select(&is_diagonal, &ones, &zero)
}

/// The columns p and q turned so that their first rows, as many as W has, are orthogonal; as they are, if p is not before q. p
/// is the second of the state.
fn orthogonal(
    t: &mut Arrays,
    q: &Array,
    [both, p]: &[Array; 2],
    (rows, height): (usize, i64),
) -> [Array; 2] {
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
