// SPDX-License-Identifier: Apache-2.0
//! Compares affine forms with direct evaluation at every point of small boxes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;
use skript_symbolic::Affine;

const EXTENTS: [i64; 3] = [3, 4, 2];

/// An expression from which a form is built.
#[derive(Clone, Debug)]
enum Recipe {
    Index(usize),
    Constant(i64),
    Sum(Box<Recipe>, Box<Recipe>),
    Multiple(Box<Recipe>, i64),
    FloorDiv(Box<Recipe>, i64),
    Mod(Box<Recipe>, i64),
}

impl Recipe {
    fn form(&self) -> Affine {
        match self {
            Recipe::Index(index) => Affine::index(*index),
            Recipe::Constant(value) => Affine::constant(*value),
            Recipe::Sum(x, y) => x.form().add(&y.form()).unwrap(),
            Recipe::Multiple(x, factor) => x.form().scale(*factor).unwrap(),
            Recipe::FloorDiv(x, divisor) => x.form().floor_div(*divisor, &EXTENTS).unwrap(),
            Recipe::Mod(x, divisor) => x.form().modulo(*divisor, &EXTENTS).unwrap(),
        }
    }

    fn evaluate(&self, point: &[i64]) -> i64 {
        match self {
            Recipe::Index(index) => point[*index],
            Recipe::Constant(value) => *value,
            Recipe::Sum(x, y) => x.evaluate(point) + y.evaluate(point),
            Recipe::Multiple(x, factor) => x.evaluate(point) * factor,
            Recipe::FloorDiv(x, divisor) => (x.evaluate(point) as f64 / *divisor as f64).floor() as i64,
            Recipe::Mod(x, divisor) => {
                let value = x.evaluate(point);
                value - (value as f64 / *divisor as f64).floor() as i64 * divisor
            }
        }
    }
}

fn linear() -> impl Strategy<Value = Recipe> {
    let leaf = prop_oneof![(0..3usize).prop_map(Recipe::Index), (-9..9i64).prop_map(Recipe::Constant)];
    leaf.prop_recursive(4, 16, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(x, y)| Recipe::Sum(x.into(), y.into())),
            (inner, -6..6i64).prop_map(|(x, factor)| Recipe::Multiple(x.into(), factor)),
        ]
    })
}

fn any_recipe() -> impl Strategy<Value = Recipe> {
    linear().prop_recursive(4, 16, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(x, y)| Recipe::Sum(x.into(), y.into())),
            (inner.clone(), -6..6i64).prop_map(|(x, factor)| Recipe::Multiple(x.into(), factor)),
            (inner.clone(), 1..7i64).prop_map(|(x, divisor)| Recipe::FloorDiv(x.into(), divisor)),
            (inner, 1..7i64).prop_map(|(x, divisor)| Recipe::Mod(x.into(), divisor)),
        ]
    })
}

fn points() -> Vec<[i64; 3]> {
    let points = (0..EXTENTS[0]).flat_map(|i| (0..EXTENTS[1]).map(move |j| (i, j)));
    points.flat_map(|(i, j)| (0..EXTENTS[2]).map(move |k| [i, j, k])).collect()
}

proptest! {
    #[test]
    fn forms_have_the_values_of_their_recipes(recipe in any_recipe()) {
        let form = recipe.form();
        let range = form.range(&EXTENTS).unwrap();
        for point in points() {
            prop_assert_eq!(form.evaluate(&point), Some(recipe.evaluate(&point)));
            prop_assert!(range.contains(recipe.evaluate(&point)));
        }
    }

    #[test]
    fn ranges_of_linear_forms_are_exact(recipe in linear()) {
        let range = recipe.form().range(&EXTENTS).unwrap();
        let values: Vec<i64> = points().iter().map(|point| recipe.evaluate(point)).collect();
        prop_assert_eq!(Some(range.low), values.iter().copied().min());
        prop_assert_eq!(Some(range.high), values.iter().copied().max());
    }

    #[test]
    fn substituted_forms_compose(outer in any_recipe(), inner in prop::array::uniform3(linear())) {
        // The extents bound the indices of the inner forms; the indices of the outer form are unbounded.
        let unbounded = [1 << 20; 3];
        fn form(recipe: &Recipe, extents: &[i64]) -> Affine {
            match recipe {
                Recipe::Sum(x, y) => form(x, extents).add(&form(y, extents)).unwrap(),
                Recipe::Multiple(x, factor) => form(x, extents).scale(*factor).unwrap(),
                Recipe::FloorDiv(x, d) => form(x, extents).floor_div(*d, extents).unwrap(),
                Recipe::Mod(x, d) => form(x, extents).modulo(*d, extents).unwrap(),
                leaf => leaf.form(),
            }
        }
        let replacement = inner.clone().map(|recipe| recipe.form());
        let composed = form(&outer, &unbounded).substitute(&replacement, &EXTENTS).unwrap();
        for point in points() {
            let at = inner.clone().map(|recipe| recipe.evaluate(&point));
            if at.iter().all(|index| *index >= 0) {
                prop_assert_eq!(composed.evaluate(&point), Some(outer.evaluate(&at)));
            }
        }
    }

    #[test]
    fn implied_inequalities_hold(known in any_recipe(), form in any_recipe()) {
        if form.form().follows_from(&known.form(), &EXTENTS) {
            for point in points() {
                prop_assert!(known.evaluate(&point) < 0 || form.evaluate(&point) >= 0);
            }
        }
    }

    #[test]
    fn multiples_have_no_remainder(recipe in any_recipe(), divisor in 1..5i64) {
        let form = recipe.form();
        let (quotient, remainder) = form.split_multiples(divisor).unwrap();
        for point in points() {
            let remainder = remainder.evaluate(&point).unwrap();
            prop_assert_eq!(quotient.evaluate(&point).unwrap() * divisor + remainder, recipe.evaluate(&point));
            prop_assert!(!form.is_multiple_of(divisor) || remainder == 0);
        }
    }

    #[test]
    fn quotients_have_the_value_of_their_dividend(recipe in linear(), divisor in 1..7i64) {
        let form = recipe.form().floor_div(divisor, &EXTENTS).unwrap();
        if let Some((dividend, divisor)) = form.as_quotient() {
            for point in points() {
                let value = dividend.evaluate(&point).unwrap().div_euclid(divisor);
                prop_assert_eq!(form.evaluate(&point), Some(value));
            }
        }
    }
}
