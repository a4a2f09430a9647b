// SPDX-License-Identifier: Apache-2.0
//! Eigendecomposition `A V = V diag(w)` of symmetric (Hermitian) matrices by Jacobi rotations.

use super::arrays::{Array, Arrays};
use super::triangular::half;

/// The number of sweeps. The sum of squares off the diagonal converges quadratically once it is small.
pub(super) const ROUNDS: i64 = 12;

/// V; w in ascending order; and 1 for each matrix with an element that is not finite, else 0. Reads one triangle of A.
pub(crate) fn symmetric(t: &mut Arrays, a: &Array, lower: bool) -> Option<[Array; 3]> {
    let (rows, columns, batch) = (a.rows(), a.columns(), a.batch().to_vec());
    if !a.is_square() {
        return None;
    }
    let size = a.height();
    let (row, column) = (t.positions(a, rows), t.positions(a, columns));
    let is_diagonal = t.compare("EQ", &row, &column);
    let (zero, one) = (t.number("0.0", a), t.splat("1.0", &a.extents, &a.element));
    let kept = half(t, a, lower);
    let diagonal = t.real(&kept);
    let diagonal = t.lifted(&diagonal, a);
    let strict = t.select(&is_diagonal, &zero, &kept);
    let other = t.adjoint(&strict);
    let whole = t.apply("add", &[&strict, &other]);
    let whole = t.select(&is_diagonal, &diagonal, &whole);
    let info = wild(t, &whole);
    let vectors = t.select(&is_diagonal, &one, &zero);
    let [a, vectors] = t.repeat(ROUNDS, [whole, vectors], |t, _, state| {
        t.repeat((size - 1).max(0), state.clone(), |t, p, [a, vectors]| {
            let state = [a.clone(), vectors.clone(), p.clone()];
            let [a, vectors, _] = t.repeat(size, state, rotated);
            [a, vectors]
        })
    });
    let values = t.real(&a);
    let nothing = t.number("-0.0", &values);
    let values = t.select(&is_diagonal, &values, &nothing);
    let values = t.reduce("add", "-0.0", &values, rows);
    let [values, vectors] = ascending(t, &values, &vectors);
    let values = t.reshape(&values, &[batch.as_slice(), &[size]].concat());
    Some([vectors, values, info])
}

/// 1 for each matrix with an element that is not finite.
pub(super) fn wild(t: &mut Arrays, a: &Array) -> Array {
    let sizes = t.magnitude(a);
    let nothing = t.apply("subtract", &[&sizes, &sizes]);
    let sum = t.reduce("add", "0.0", &nothing, a.columns());
    let sum = t.reduce("add", "0.0", &sum, a.rows());
    let zero = t.number("0.0", &sum);
    let is_tame = t.compare("EQ", &sum, &zero);
    let (none, one) = (t.splat("0", &sum.extents, "i32"), t.splat("1", &sum.extents, "i32"));
    let info = t.select(&is_tame, &none, &one);
    t.reshape(&info, a.batch())
}

/// A and V after the rotation that makes the element of A in row p and column q zero; unchanged unless p < q. p is
/// element 2 of the loop state.
fn rotated(t: &mut Arrays, q: &Array, [a, vectors, p]: &[Array; 3]) -> [Array; 3] {
    let (rows, columns) = (a.rows(), a.columns());
    let (row_p, row_q) = (t.part(a, rows, p), t.part(a, rows, q));
    let app = t.part(&row_p, columns, p);
    let app = t.real(&app);
    let aqq = t.part(&row_q, columns, q);
    let aqq = t.real(&aqq);
    let apq = t.part(&row_p, columns, q);
    let rotation = Rotation::of(t, [&app, &apq, &aqq], a, (p, q));
    let a = rotation.rows(t, a, (p, q));
    let a = rotation.columns(t, &a, (p, q));
    let vectors = rotation.columns(t, vectors, (p, q));
    [a, vectors, p.clone()]
}

/// A rotation in the plane of two indices, which makes the element of their row and column zero.
pub(super) struct Rotation {
    cosine: Array,
    sine: Array,
    /// The unit complex number (phase) of the element, by which column q is divided.
    phase: Array,
}

impl Rotation {
    /// The rotation for the elements (p, p), (p, q) and (q, q) of a Hermitian matrix; the identity unless p < q. The
    /// element type is that of `a`.
    pub(super) fn of(
        t: &mut Arrays,
        [app, apq, aqq]: [&Array; 3],
        a: &Array,
        (p, q): (&Array, &Array),
    ) -> Self {
        let (length, phase) = t.polar(apq);
        let (zero, one) = (t.number("0.0", app), t.number("1.0", app));
        let is_some = t.compare("GT", &length, &zero);
        let (p_position, q_position) = (t.reshape(p, &vec![1; a.rank()]), t.reshape(q, &vec![1; a.rank()]));
        let is_before = t.compare("LT", &p_position, &q_position);
        let turns = t.apply("and", &[&is_some, &is_before]);
        // The tangent of the smaller angle.
        let divisor = t.select(&is_some, &length, &one);
        let difference = t.apply("subtract", &[aqq, app]);
        let twice = t.apply("add", &[&divisor, &divisor]);
        let cotangent = t.apply("divide", &[&difference, &twice]);
        let size = t.apply("abs", &[&cotangent]);
        let square = t.apply("multiply", &[&cotangent, &cotangent]);
        let square = t.apply("add", &[&square, &one]);
        let root = t.apply("sqrt", &[&square]);
        let sum = t.apply("add", &[&size, &root]);
        let tangent = t.apply("divide", &[&one, &sum]);
        let is_negative = t.compare("LT", &cotangent, &zero);
        let minus = t.apply("negate", &[&tangent]);
        let tangent = t.select(&is_negative, &minus, &tangent);
        let tangent = t.select(&turns, &tangent, &zero);
        let square = t.apply("multiply", &[&tangent, &tangent]);
        let square = t.apply("add", &[&square, &one]);
        let root = t.apply("sqrt", &[&square]);
        let cosine = t.apply("divide", &[&one, &root]);
        let sine = t.apply("multiply", &[&tangent, &cosine]);
        let unit = t.number("1.0", a);
        Rotation {
            cosine: t.lifted(&cosine, a),
            sine: t.lifted(&sine, a),
            phase: t.select(&turns, &phase, &unit),
        }
    }

    fn rows(&self, t: &mut Arrays, a: &Array, (p, q): (&Array, &Array)) -> Array {
        let by = [&self.cosine, &self.sine, &self.phase];
        turned(t, a, (a.rows(), p, q), &by)
    }

    pub(crate) fn columns(&self, t: &mut Arrays, a: &Array, (p, q): (&Array, &Array)) -> Array {
        let back = t.conjugate(&self.phase);
        turned(t, a, (a.columns(), p, q), &[&self.cosine, &self.sine, &back])
    }
}

/// Replaces slice x by `c x - s y f`, and slice y by `s x + c y f`.
fn turned(
    t: &mut Arrays,
    a: &Array,
    (dimension, p, q): (usize, &Array, &Array),
    [cosine, sine, phase]: &[&Array; 3],
) -> Array {
    let (x, y) = (t.part(a, dimension, p), t.part(a, dimension, q));
    let y = t.apply("multiply", &[&y, phase]);
    let (own, other) = (t.apply("multiply", &[&x, cosine]), t.apply("multiply", &[&y, sine]));
    let first = t.apply("subtract", &[&own, &other]);
    let (own, other) = (t.apply("multiply", &[&x, sine]), t.apply("multiply", &[&y, cosine]));
    let second = t.apply("add", &[&own, &other]);
    let a = t.with_part(a, dimension, p, &first);
    t.with_part(&a, dimension, q, &second)
}

/// Values in one row, and the columns that belong to them, in ascending order of the values.
pub(super) fn ascending(t: &mut Arrays, values: &Array, vectors: &Array) -> [Array; 2] {
    let columns = values.columns();
    let state = [values.clone(), vectors.clone()];
    t.repeat(values.width(), state, |t, k, [values, vectors]| {
        let index = t.reshape(k, &vec![1; values.rank()]);
        let column = t.positions(values, columns);
        let is_open = t.compare("GE", &column, &index);
        let infinity = match values.element.as_str() {
            "f64" => "0x7FF0000000000000",
            _ => "0x7F800000",
        };
        let beyond = t.number(infinity, values);
        let open = t.select(&is_open, values, &beyond);
        let least = t.reduce("minimum", infinity, &open, columns);
        let is_least = t.compare("EQ", &open, &least);
        let is_least = t.apply("and", &[&is_least, &is_open]);
        let chosen = t.first(&is_least, columns, &index);
        let is_chosen = t.compare("EQ", &column, &chosen);
        [values, vectors].map(|a| t.exchanged(a, columns, k, &is_chosen))
    })
}
