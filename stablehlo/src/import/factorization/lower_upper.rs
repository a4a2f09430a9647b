// SPDX-License-Identifier: Apache-2.0
//! LU decomposition `P A = L U` with partial pivoting.

use super::arrays::{Array, Arrays};

/// L (without its unit diagonal) and U in one matrix; the row, counted from 1, that each row was exchanged with; and
/// the first column, counted from 1, whose pivot is 0, or 0 if there is none.
pub(crate) fn factors(t: &mut Arrays, a: &Array) -> [Array; 3] {
    let (rows, columns, batch) = (a.rows(), a.columns(), a.batch().to_vec());
    let count = a.height().min(a.width());
    let with = |more: &[i64]| [batch.as_slice(), more].concat();
    let pivots = t.splat("0", &with(&[count, 1]), "i32");
    let info = t.splat("0", &with(&[1, 1]), "i32");
    let state = [a.clone(), pivots, info];
    let [a, pivots, info] = t.repeat(count, state, |t, k, [a, pivots, info]| {
        let index = t.reshape(k, &vec![1; a.rank()]);
        let (row, column) = (t.positions(a, rows), t.positions(a, columns));
        let own = t.part(a, columns, k);
        // The first of the largest elements; the diagonal if there is none (NaN).
        let size = t.magnitude(&own);
        let open = t.compare("GE", &row, &index);
        let below_all = t.number("-1.0", &size);
        let size = t.select(&open, &size, &below_all);
        let greatest = t.reduce("maximum", "-1.0", &size, rows);
        let is_greatest = t.compare("EQ", &size, &greatest);
        let chosen = t.first(&is_greatest, rows, &index);
        let is_chosen = t.compare("EQ", &row, &chosen);
        let a = t.exchanged(a, rows, k, &is_chosen);
        // The column of L, and the remaining matrix.
        let upper = t.part(&a, rows, k);
        let own = t.part(&a, columns, k);
        let pivot = t.part(&own, rows, k);
        let zero = t.number("0.0", &a);
        let is_zero = t.compare("EQ", &pivot, &zero);
        let scaled = t.apply("divide", &[&own, &pivot]);
        let scaled = t.select(&is_zero, &own, &scaled);
        let below = t.compare("GT", &row, &index);
        let product = t.apply("multiply", &[&scaled, &upper]);
        let rest = t.apply("subtract", &[&a, &product]);
        let after = t.compare("GT", &column, &index);
        let both = t.apply("and", &[&below, &after]);
        let a = t.select(&both, &rest, &a);
        let new = t.select(&below, &scaled, &own);
        let a = t.with_part(&a, columns, k, &new);
        let one = t.number("1", info);
        let exchanged = t.apply("add", &[&chosen, &one]);
        let pivots = t.with_part(pivots, rows, k, &exchanged);
        let none = t.number("0", info);
        let is_first = t.compare("EQ", info, &none);
        let is_first = t.apply("and", &[&is_zero, &is_first]);
        let number = t.apply("add", &[&index, &one]);
        let info = t.select(&is_first, &number, info);
        [a, pivots, info]
    });
    let pivots = t.reshape(&pivots, &with(&[count]));
    [a, pivots, t.reshape(&info, &batch)]
}
