// SPDX-License-Identifier: Apache-2.0
//! Cholesky decomposition, and triangular systems.

use super::arrays::{Array, Arrays};

/// `L` with `A = L Lᴴ` (or its adjoint); the other triangle is copied from A. Also the first column, counted from 1, at
/// which A is not positive definite, or 0.
pub(crate) fn cholesky(t: &mut Arrays, a: &Array, lower: bool) -> Option<(Array, Array)> {
    let (rows, columns, batch) = (a.rows(), a.columns(), a.batch().to_vec());
    if !a.is_square() {
        return None;
    }
    let size = a.height();
    let a = if lower { a.clone() } else { t.adjoint(a) };
    let mut one_each = batch.clone();
    one_each.extend([1, 1]);
    let info = t.splat("0", &one_each, "i32");
    let [root, info] = t.repeat(size, [a, info], |t, k, [a, info]| {
        let index = t.reshape(k, &vec![1; a.rank()]);
        let (row, column) = (t.positions(a, rows), t.positions(a, columns));
        let own = t.part(a, columns, k);
        let pivot = t.part(&own, rows, k);
        let pivot = t.real(&pivot);
        let root = t.apply("sqrt", &[&pivot]);
        let root = t.lifted(&root, a);
        let below = t.compare("GT", &row, &index);
        let scaled = t.apply("divide", &[&own, &root]);
        let zero = t.number("0.0", a);
        let other = t.select(&below, &scaled, &zero);
        let across = t.adjoint(&other);
        let product = t.apply("multiply", &[&other, &across]);
        let rest = t.apply("subtract", &[a, &product]);
        let after = t.compare("GT", &column, &index);
        let both = t.apply("and", &[&below, &after]);
        let a = t.select(&both, &rest, a);
        let is_pivot = t.compare("EQ", &row, &index);
        let new = t.select(&below, &scaled, &own);
        let new = t.select(&is_pivot, &root, &new);
        let a = t.with_part(&a, columns, k, &new);
        let zero = t.number("0.0", &pivot);
        let is_positive = t.compare("GT", &pivot, &zero);
        let none = t.number("0", info);
        let is_first = t.compare("EQ", info, &none);
        let one = t.number("1", info);
        let number = t.apply("add", &[&index, &one]);
        let number = t.select(&is_first, &number, info);
        let info = t.select(&is_positive, info, &number);
        [a, info]
    });
    let root = if lower { root } else { t.adjoint(&root) };
    Some((root, t.reshape(&info, &batch)))
}

/// A matrix with zeros in the other triangle.
pub(super) fn half(t: &mut Arrays, a: &Array, lower: bool) -> Array {
    let (row, column) = (t.positions(a, a.rows()), t.positions(a, a.columns()));
    let kept = t.compare(if lower { "GE" } else { "LE" }, &row, &column);
    let zero = t.number("0.0", a);
    t.select(&kept, a, &zero)
}

/// A system `op(A) X = B`, or `X op(A) = B`.
pub(crate) struct System {
    pub(crate) left: bool,
    /// Which triangle of A is read.
    pub lower: bool,
    pub(crate) transposed: bool,
    pub(crate) conjugate: bool,
    /// Whether the diagonal is taken to be ones.
    pub(crate) unit: bool,
}

impl System {
    /// Solves for X, one row after the other.
    pub(crate) fn solve(&self, t: &mut Arrays, a: &Array, b: &Array) -> Option<Array> {
        let (rows, columns) = (a.rows(), a.columns());
        if a.rank() != b.rank() || a.batch() != b.batch() || !a.is_square() {
            return None;
        }
        // From the right: transpose the system.
        let transposed = self.transposed == self.left;
        let lower = self.lower != transposed;
        let a = if self.conjugate { t.conjugate(a) } else { a.clone() };
        let a = if transposed { t.transposed(&a) } else { a };
        let b = if self.left { b.clone() } else { t.transposed(b) };
        let size = a.height();
        if b.height() != size {
            return None;
        }
        let unit = self.unit;
        let [_, x] = t.repeat(size, [a, b], |t, k, [a, b]| {
            let k = if lower {
                k.clone()
            } else {
                let last = t.splat(&(size - 1).to_string(), &[], "i32");
                t.apply("subtract", &[&last, k])
            };
            let index = t.reshape(&k, &vec![1; a.rank()]);
            let column = t.part(a, columns, &k);
            let mut own = t.part(b, rows, &k);
            if !unit {
                let pivot = t.part(&column, rows, &k);
                own = t.apply("divide", &[&own, &pivot]);
            }
            let row = t.positions(a, rows);
            let after = t.compare(if lower { "GT" } else { "LT" }, &row, &index);
            let product = t.apply("multiply", &[&column, &own]);
            let rest = t.apply("subtract", &[b, &product]);
            let b = t.select(&after, &rest, b);
            let b = t.with_part(&b, rows, &k, &own);
            [a.clone(), b]
        });
        Some(if self.left { x } else { t.transposed(&x) })
    }
}
