// SPDX-License-Identifier: Apache-2.0
//! Extents that a formula counts while it writes (editions: a dynamic extent as a write counter).

use crate::run::{outputs, reals};

const NONZERO: &str = "operator nonzero { @input { x: real[m,n]; } @output { at: real[2,k|m * n]; } \
    @lower { at[:,k] = [real(i), real(j)], i < m, j < n | x[i,j] != 0.0; } } \
    operator positive { @input { x: real[m,n]; } @output { y: real[k|2,n]; } \
    @lower { y[k,j] = x[i,j] + real(k), i < m, j < n | x[i,j] > 0.0; } } \
    graph G { @input { x: real[s|3,3]; } @output { at: real[2,~]; y: real[~,3]; } \
    @compose { at = nonzero(x); y = positive(x); } }";

#[test]
fn steps_that_hold_are_counted() {
    let x = reals(&[2, 3], &[0.0, 5.0, -1.0, 7.0, 0.0, 0.0]);
    let found = outputs(NONZERO, &[x]);
    assert_eq!(found[0], [0.0, 0.0, 1.0, 1.0, 2.0, 0.0]);
    // What nothing writes is zero; each step that writes takes the next row.
    assert_eq!(found[1], [0.0, 5.0, 0.0, 8.0, 0.0, 0.0]);
    assert_eq!(outputs(NONZERO, &[reals(&[0, 3], &[])]), [[0.0; 0], [0.0; 0]]);
}

#[test]
fn no_more_is_written_than_the_bound() {
    let found = outputs(NONZERO, &[reals(&[3, 3], &[1.0; 9])]);
    assert_eq!(found[0].len(), 18);
    assert_eq!(found[1], [1.0, 0.0, 0.0, 0.0, 2.0, 0.0]);
}
