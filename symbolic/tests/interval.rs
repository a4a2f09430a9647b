// SPDX-License-Identifier: Apache-2.0
//! Compares operations on intervals with the operations on every pair of integers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;
use skript_symbolic::Interval;

fn interval() -> impl Strategy<Value = Interval> {
    (-9..10i64, 0..6i64).prop_map(|(low, width)| Interval { low, high: low + width })
}

/// The quotient as SkriptND defines it (`x / 0` is 0), rounded by `round`.
fn divided(x: i64, y: i64, round: fn(f64) -> f64) -> i64 {
    match y {
        0 => 0,
        _ => round(x as f64 / y as f64) as i64,
    }
}

fn remainder(x: i64, y: i64) -> i64 {
    match y {
        0 => 0,
        _ => x - y * divided(x, y, f64::floor),
    }
}

/// The smallest interval of the values of an operation.
fn exact(x: Interval, y: Interval, operation: impl Fn(i64, i64) -> i64) -> Interval {
    let values = (x.low..=x.high).flat_map(|x| (y.low..=y.high).map(move |y| (x, y)));
    values.map(|(x, y)| Interval::point(operation(x, y))).reduce(Interval::hull).unwrap()
}

fn encloses(enclosure: Option<Interval>, exact: Interval) -> bool {
    enclosure.is_none_or(|all| all.contains(exact.low) && all.contains(exact.high))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn sums_and_products_are_exact(x in interval(), y in interval()) {
        prop_assert_eq!(x.plus(y), Some(exact(x, y, |x, y| x + y)));
        prop_assert_eq!(x.minus(y), Some(exact(x, y, |x, y| x - y)));
        prop_assert_eq!(x.times(y), Some(exact(x, y, |x, y| x * y)));
        prop_assert_eq!(x.min(y), exact(x, y, i64::min));
        prop_assert_eq!(x.max(y), exact(x, y, i64::max));
    }

    #[test]
    fn quotients_are_exact_where_the_divisor_keeps_its_sign(x in interval(), y in interval()) {
        let floor = exact(x, y, |x, y| divided(x, y, f64::floor));
        let ceil = exact(x, y, |x, y| divided(x, y, f64::ceil));
        if y == Interval::point(0) {
            prop_assert!(encloses(x.quotient(y), floor) && encloses(x.ceil_quotient(y), ceil));
        } else {
            let keeps = y.low >= 0 || y.high < 0;
            prop_assert_eq!(x.quotient(y), keeps.then_some(floor));
            prop_assert_eq!(x.ceil_quotient(y), keeps.then_some(ceil));
        }
    }

    #[test]
    fn enclosures_contain_all_values(x in interval(), y in interval()) {
        let absolute = exact(x, y, |x, _| x.abs());
        prop_assert!(encloses(x.abs(), absolute));
        prop_assert!(x.abs().is_some());
        prop_assert!(encloses(x.remainder(y), exact(x, y, remainder)));
        prop_assert!(x.remainder(y).is_some());
        if y.low >= 0 {
            let powers = exact(x, y, |x, y| x.pow(y as u32));
            prop_assert!(encloses(x.power(y), powers));
        }
    }
}

fn interval_of(low: i64, high: i64) -> Interval {
    Interval { low, high }
}

#[test]
fn enclosures_are_tight_at_their_ends() {
    assert_eq!(interval_of(-3, 2).abs(), Some(interval_of(0, 3)));
    assert_eq!(interval_of(2, 5).abs(), Some(interval_of(2, 5)));
    assert_eq!(interval_of(0, 3).remainder(interval_of(4, 9)), Some(interval_of(0, 3)));
    assert_eq!(interval_of(0, 9).remainder(interval_of(3, 4)), Some(interval_of(0, 3)));
    assert_eq!(interval_of(-5, 5).remainder(interval_of(3, 4)), Some(interval_of(0, 3)));
    assert_eq!(interval_of(-5, 5).remainder(interval_of(-4, -3)), Some(interval_of(-3, 0)));
    assert_eq!(interval_of(2, 3).power(interval_of(0, 2)), Some(interval_of(1, 9)));
    assert_eq!(interval_of(-2, 3).power(interval_of(0, 3)), Some(interval_of(-27, 27)));
    assert_eq!(interval_of(2, 3).power(interval_of(-1, 2)), None);
}

#[test]
fn quotients_and_empty_intervals() {
    assert!(interval_of(1, 0).is_empty() && !interval_of(0, 0).is_empty());
    assert!(
        !interval_of(0, 3).contains(4) && !interval_of(0, 3).contains(-1) && interval_of(0, 3).contains(3)
    );
    assert_eq!(interval_of(-7, 7).floor_div(2), Some(interval_of(-4, 3)));
    assert_eq!((interval_of(1, 2).floor_div(0), interval_of(1, 2).floor_div(-1)), (None, None));
}

#[test]
fn values_beyond_64_bits_are_none() {
    let (all, one) = (Interval::ALL, Interval::point(1));
    assert_eq!((all.width(), interval_of(-3, 4).width()), (None, Some(7)));
    assert_eq!(all.plus(one), None);
    assert_eq!(all.minus(one), None);
    assert_eq!(all.times(Interval::point(2)), None);
    assert_eq!(all.abs(), None);
    assert_eq!(all.quotient(Interval::point(-1)), None);
    assert_eq!(all.quotient(one), Some(all));
    assert_eq!(Interval::point(2).power(Interval::point(63)), None);
    assert_eq!(Interval::point(3).power(Interval::point(i64::MAX)), None);
}
