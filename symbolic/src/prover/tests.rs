// SPDX-License-Identifier: Apache-2.0

use super::*;

fn extent(prover: &mut Prover) -> Polynomial {
    prover.define(Definition::Between(Some(0), Some(8)))
}

fn plus(x: &Polynomial, value: i64) -> Polynomial {
    x.plus(value).unwrap()
}

#[test]
fn an_index_stays_below_what_equals_its_limit() {
    let mut prover = Prover::default();
    let (n, m) = (extent(&mut prover), extent(&mut prover));
    let i = prover.define(Definition::Below(n.clone()));
    assert!(prover.at_most(&i, &plus(&n, -1)));
    assert!(!prover.at_most(&i, &plus(&m, -1)));
    let before = prover.mark();
    prover.assume_equal(&n, &m);
    assert!(prover.at_most(&i, &plus(&m, -1)));
    prover.rollback(before);
    assert!(!prover.at_most(&i, &plus(&m, -1)));
}

#[test]
fn numbers_that_may_wrap_are_not_exact() {
    let mut prover = Prover::default();
    let (n, any) = (extent(&mut prover), prover.define(Definition::Between(None, None)));
    assert!(prover.is_exact(&n.scale(i64::MAX / 8).unwrap()));
    assert!(!prover.is_exact(&n.scale(i64::MAX / 8 + 1).unwrap()));
    assert!(!prover.is_exact(&plus(&any, 1)));
    let less = prover.min(&any, &n);
    assert!(!prover.is_exact(&less));
    let i = prover.define(Definition::Below(plus(&n, 3)));
    assert!(prover.is_exact(&plus(&i, i64::MAX - 11)));
    assert!(!prover.is_exact(&plus(&i, i64::MAX - 10)));
}

#[test]
fn digits_stay_below_the_product() {
    // j < g, c < n: j n + c ≤ g n - 1.
    let mut prover = Prover::default();
    let (g, n) = (extent(&mut prover), extent(&mut prover));
    let j = prover.define(Definition::Below(g.clone()));
    let c = prover.define(Definition::Below(n.clone()));
    let position = j.mul(&n).unwrap().add(&c).unwrap();
    let whole = g.mul(&n).unwrap();
    assert!(prover.at_most(&position, &plus(&whole, -1)));
    assert!(!prover.at_most(&position, &plus(&whole, -2)));
}

#[test]
fn quotients_are_exact() {
    // j < 2 n: ⌊j / 2⌋ ≤ n - 1, and it may be n - 1.
    let mut prover = Prover::default();
    let n = extent(&mut prover);
    let j = prover.define(Definition::Below(n.scale(2).unwrap()));
    let half = prover.quotient(&j, 2).unwrap();
    assert!(prover.at_most(&half, &plus(&n, -1)));
    assert!(!prover.at_most(&half, &plus(&n, -2)));
    assert!(prover.at_most(&Polynomial::constant(0), &half));
}

#[test]
fn halves_of_what_is_even_stay_below_it() {
    // n = 2 ⌊n / 2⌋, i < ⌊n / 2⌋: ⌊n / 2⌋ + i ≤ n - 1.
    let mut prover = Prover::default();
    let n = extent(&mut prover);
    let half = prover.quotient(&n, 2).unwrap();
    prover.assume_equal(&half.scale(2).unwrap(), &n);
    let i = prover.define(Definition::Below(half.clone()));
    let position = half.add(&i).unwrap();
    assert!(prover.at_most(&position, &plus(&n, -1)));
    assert!(!prover.at_most(&position, &plus(&n, -2)));
    assert!(prover.at_most(&Polynomial::constant(0), &half));
}

#[test]
fn what_is_left_of_a_slice_has_elements_around_it() {
    // max(n - 1 - min(1, n), 0) is positive: so is n.
    let mut prover = Prover::default();
    let n = extent(&mut prover);
    let (zero, one) = (Polynomial::constant(0), Polynomial::constant(1));
    let first = prover.min(&one, &n);
    let count = plus(&n, -1).sub(&first).unwrap();
    let count = prover.max(&count, &zero);
    prover.assume_at_most(&one, &count);
    prover.derive_positive(&count);
    let i = prover.define(Definition::Below(count));
    assert!(prover.at_most(&plus(&i, 1), &plus(&n, -1)));
}

#[test]
fn facts_raise_the_least_number() {
    let mut prover = Prover::default();
    let n = extent(&mut prover);
    let one = Polynomial::constant(1);
    assert!(!prover.at_most(&one, &n));
    prover.assume_at_most(&one, &n);
    assert!(prover.at_most(&one, &n));
    assert_eq!(prover.min(&one, &n), one);
}

#[test]
fn remainders_stay_below_what_is_positive() {
    let mut prover = Prover::default();
    let (n, x) = (extent(&mut prover), extent(&mut prover));
    let rest = prover.remainder(&x, &n);
    assert!(!prover.at_most(&rest, &plus(&n, -1)));
    prover.assume_at_most(&Polynomial::constant(1), &n);
    assert!(prover.at_most(&rest, &plus(&n, -1)));
}

#[test]
fn an_index_of_a_tile_stays_in_whole_tiles() {
    // i from 8 ⌊n / 8⌋ to n - 1, and rows of m elements: i m + j ≤ n m - 1.
    let mut prover = Prover::default();
    let (n, m) = (extent(&mut prover), extent(&mut prover));
    let tiles = prover.quotient(&n, 8).unwrap();
    let whole = tiles.scale(8).unwrap();
    let first = prover.define(Definition::Range(Polynomial::constant(0), plus(&whole, -8)));
    let last = plus(&first, 7);
    let j = prover.define(Definition::Below(m.clone()));
    let (address, size) = (last.mul(&m).unwrap().add(&j).unwrap(), n.mul(&m).unwrap());
    assert!(prover.at_most(&address, &plus(&size, -1)));
    assert!(!prover.at_most(&plus(&address, 1), &plus(&size, -1)));
    let rest = prover.define(Definition::Range(whole, plus(&n, -1)));
    let address = rest.mul(&m).unwrap().add(&j).unwrap();
    assert!(prover.at_most(&address, &plus(&size, -1)));
    assert!(prover.at_most(&Polynomial::constant(0), &address));
    // Also by its first row, which is a multiple of a quotient.
    let first = tiles.scale(8 * 5).unwrap();
    assert!(prover.at_most(&Polynomial::constant(0), &first));
}

#[test]
fn multiples_of_quotients_are_exact() {
    // n ≤ 12: 8 ⌊(n - 3) / 2⌋ + 7 ≤ 39.
    let mut prover = Prover::default();
    let n = prover.define(Definition::Between(Some(0), Some(12)));
    let half = prover.quotient(&plus(&n, -3), 2).unwrap();
    let last = plus(&half.scale(8).unwrap(), 7);
    assert!(prover.at_most(&last, &Polynomial::constant(39)));
    assert!(!prover.at_most(&last, &Polynomial::constant(38)));
}

/// A prover that adds up multiples of assumptions.
fn adding(multiples: usize) -> Prover {
    Prover::new(Budget { multiples, ..Budget::default() })
}

#[test]
fn a_guard_bounds_multiples_of_an_index() {
    // i < 31, 0 ≤ 2 - i: the element of row 2 - i and column i, 31 (2 - i) + i = 62 - 30 i, is in 2..=62.
    for multiples in [0, 1] {
        let mut prover = adding(multiples);
        let zero = Polynomial::constant(0);
        let i = prover.define(Definition::Below(Polynomial::constant(31)));
        let row = Polynomial::constant(2).sub(&i).unwrap();
        let element = row.scale(31).unwrap().add(&i).unwrap();
        prover.assume_at_most(&zero, &row);
        assert_eq!(prover.at_most(&Polynomial::constant(2), &element), multiples == 1);
        assert!(!prover.at_most(&Polynomial::constant(3), &element));
        assert!(prover.at_most(&element, &Polynomial::constant(62)));
    }
}

#[test]
fn several_guards_are_added() {
    // x ≤ y, 2 y ≤ 3 z, z ≤ 10: 2 x ≤ 30.
    let proves = |multiples: usize, high: i64| {
        let mut prover = adding(multiples);
        let [z, y, x] = [(); 3].map(|()| prover.define(Definition::Between(None, None)));
        prover.assume_at_most(&x, &y);
        prover.assume_at_most(&y.scale(2).unwrap(), &z.scale(3).unwrap());
        prover.assume_at_most(&z, &Polynomial::constant(10));
        prover.at_most(&x.scale(2).unwrap(), &Polynomial::constant(high))
    };
    assert!(!proves(2, 30));
    assert!(proves(3, 30));
    assert!(!proves(3, 29));
}

#[test]
fn lower_bounds_are_no_upper_bounds() {
    // 2 ≤ x says nothing about 3 x ≤ 6, and x ≤ 2 nothing about 6 ≤ 3 x.
    let mut prover = adding(3);
    let [x, y] = [(); 2].map(|()| prover.define(Definition::Between(None, None)));
    let (two, six) = (Polynomial::constant(2), Polynomial::constant(6));
    prover.assume_at_most(&two, &x);
    prover.assume_at_most(&y, &two);
    let (x, y) = (x.scale(3).unwrap(), y.scale(3).unwrap());
    assert!(prover.at_most(&six, &x) && !prover.at_most(&x, &six));
    assert!(prover.at_most(&y, &six) && !prover.at_most(&six, &y));
}
