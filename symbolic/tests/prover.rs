// SPDX-License-Identifier: Apache-2.0
//! Compares proofs with all assignments of small values to the symbols.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use proptest::prelude::*;
use skript_symbolic::{Budget, Definition, Polynomial, Prover, SymbolId};

/// Maximum value of the first symbols.
const LARGEST: i64 = 3;
/// The values of a remainder by zero, which are unspecified.
const UNKNOWN: [i64; 3] = [-4, 0, 4];

/// A polynomial over the existing symbols: a constant, then terms `(factor, position, position)`.
type Recipe = (i64, Vec<(i64, usize, Option<usize>)>);

#[derive(Clone, Debug)]
enum Step {
    Below(Recipe),
    Quotient(Recipe, i64),
    Remainder(Recipe, Recipe),
    Min(Recipe, Recipe),
    Max(Recipe, Recipe),
    Either(Recipe, Recipe),
    Range(Recipe, Recipe),
    AtMost(Recipe, Recipe),
    Equal(Recipe, Recipe),
    DerivePositive(Recipe),
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let term = (-2..3i64, 0..8usize, prop::option::weighted(0.2, 0..8usize));
    (-3..4i64, prop::collection::vec(term, 0..3))
}

fn step() -> impl Strategy<Value = Step> {
    let pair = || (recipe(), recipe());
    prop_oneof![
        recipe().prop_map(Step::Below),
        (recipe(), 1..4i64).prop_map(|(x, divisor)| Step::Quotient(x, divisor)),
        pair().prop_map(|(x, y)| Step::Remainder(x, y)),
        pair().prop_map(|(x, y)| Step::Min(x, y)),
        pair().prop_map(|(x, y)| Step::Max(x, y)),
        pair().prop_map(|(x, y)| Step::Either(x, y)),
        pair().prop_map(|(x, y)| Step::Range(x, y)),
        pair().prop_map(|(x, y)| Step::AtMost(x, y)),
        pair().prop_map(|(x, y)| Step::Equal(x, y)),
        recipe().prop_map(Step::DerivePositive),
    ]
}

/// A prover, with its definitions and assumptions in a form that can be enumerated.
struct Model {
    prover: Prover,
    definitions: Vec<Definition>,
    /// Pairs x ≤ y.
    assumed: Vec<(Polynomial, Polynomial)>,
}

impl Model {
    fn new(budget: Budget) -> Self {
        let prover = Prover::new(budget);
        let mut model = Model { prover, definitions: Vec::new(), assumed: Vec::new() };
        for _ in 0..2 {
            let extent = Definition::Between(Some(0), Some(LARGEST));
            model.prover.define(extent.clone());
            model.definitions.push(extent);
        }
        model
    }

    fn polynomial(&self, (constant, terms): &Recipe) -> Polynomial {
        let symbol = |position: usize| Polynomial::symbol(SymbolId(position % self.definitions.len()));
        let constant = Polynomial::constant(*constant);
        terms.iter().fold(constant, |sum, (factor, one, two)| {
            let two = two.map_or(Polynomial::constant(1), symbol);
            let product = symbol(*one).mul(&two).unwrap();
            sum.add_scaled(&product, *factor).unwrap()
        })
    }

    fn take(&mut self, step: &Step) {
        let before = self.prover.next_symbol();
        let definition = match step {
            Step::Below(x) => {
                let definition = Definition::Below(self.polynomial(x));
                self.prover.define(definition.clone());
                definition
            }
            Step::Quotient(x, divisor) => {
                let x = self.polynomial(x);
                self.prover.quotient(&x, *divisor).unwrap();
                Definition::Quotient(x, *divisor)
            }
            Step::Remainder(x, y) => {
                let (x, y) = (self.polynomial(x), self.polynomial(y));
                self.prover.remainder(&x, &y);
                Definition::Remainder(x, y)
            }
            Step::Min(x, y) => {
                let (x, y) = (self.polynomial(x), self.polynomial(y));
                self.prover.min(&x, &y);
                Definition::Min(x, y)
            }
            Step::Max(x, y) => {
                let (x, y) = (self.polynomial(x), self.polynomial(y));
                self.prover.max(&x, &y);
                Definition::Max(x, y)
            }
            Step::Either(x, y) => {
                let (x, y) = (self.polynomial(x), self.polynomial(y));
                self.prover.either(&x, &y);
                Definition::Either(x, y)
            }
            Step::Range(x, y) => {
                let definition = Definition::Range(self.polynomial(x), self.polynomial(y));
                self.prover.define(definition.clone());
                definition
            }
            Step::AtMost(x, y) => {
                let (x, y) = (self.polynomial(x), self.polynomial(y));
                self.prover.assume_at_most(&x, &y);
                self.assumed.push((x, y));
                return;
            }
            Step::Equal(x, y) => {
                let (x, y) = (self.polynomial(x), self.polynomial(y));
                self.prover.assume_equal(&x, &y);
                self.assumed.push((x.clone(), y.clone()));
                self.assumed.push((y, x));
                return;
            }
            Step::DerivePositive(x) => {
                let x = self.polynomial(x);
                self.prover.derive_positive(&x);
                return;
            }
        };
        if self.prover.next_symbol() > before {
            self.definitions.push(definition);
        }
    }

    /// Calls `each` for every assignment that the assumptions allow.
    fn assignments(&self, values: &mut Vec<i64>, each: &mut dyn FnMut(&[i64])) {
        let Some(definition) = self.definitions.get(values.len()) else {
            let mut assumed = self.assumed.iter();
            if assumed.all(|(x, y)| evaluate(x, values) <= evaluate(y, values)) {
                each(values);
            }
            return;
        };
        let possible: Vec<i64> = match definition {
            Definition::Below(x) => (0..evaluate(x, values)).collect(),
            Definition::Quotient(x, divisor) => vec![evaluate(x, values).div_euclid(*divisor)],
            Definition::Remainder(x, y) => match (evaluate(x, values), evaluate(y, values)) {
                (_, 0) => UNKNOWN.to_vec(),
                (x, y) => vec![x - y * (x as f64 / y as f64).floor() as i64],
            },
            Definition::Min(x, y) => vec![evaluate(x, values).min(evaluate(y, values))],
            Definition::Max(x, y) => vec![evaluate(x, values).max(evaluate(y, values))],
            Definition::Either(x, y) => vec![evaluate(x, values), evaluate(y, values)],
            Definition::Range(low, high) => (evaluate(low, values)..=evaluate(high, values)).collect(),
            Definition::Between(low, high) => (low.unwrap()..=high.unwrap()).collect(),
        };
        for value in possible {
            values.push(value);
            self.assignments(values, each);
            values.pop();
        }
    }
}

fn evaluate(polynomial: &Polynomial, values: &[i64]) -> i64 {
    let of = |symbol: &SymbolId| values.get(symbol.0).copied();
    let product = |factors: &[SymbolId]| factors.iter().map(of).product::<Option<i64>>();
    polynomial.value(|monomial| product(monomial.factors())).unwrap()
}

/// A proven inequality that does not hold for some values of the symbols.
fn wrong_proof(
    budget: Budget,
    steps: &[Step],
    queries: &[(Recipe, Recipe)],
) -> Option<(Polynomial, Polynomial, Vec<i64>)> {
    let mut model = Model::new(budget);
    steps.iter().for_each(|step| model.take(step));
    let polynomials = queries.iter().map(|(x, y)| (model.polynomial(x), model.polynomial(y)));
    let proven: Vec<_> = polynomials.filter(|(x, y)| model.prover.at_most(x, y)).collect();
    let mut wrong = None;
    model.assignments(&mut Vec::new(), &mut |values| {
        for (x, y) in &proven {
            if evaluate(x, values) > evaluate(y, values) {
                wrong = Some((x.clone(), y.clone(), values.to_vec()));
            }
        }
    });
    wrong
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn inequalities_proven_from_multiples_hold(
        steps in prop::collection::vec(step(), 0..9),
        queries in prop::collection::vec((recipe(), recipe()), 1..5),
    ) {
        let budget = Budget { multiples: 2, assumptions: 8, ..Budget::default() };
        prop_assert_eq!(wrong_proof(budget, &steps, &queries), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn proven_inequalities_hold(
        steps in prop::collection::vec(step(), 0..9),
        queries in prop::collection::vec((recipe(), recipe()), 1..5),
    ) {
        prop_assert_eq!(wrong_proof(Budget::default(), &steps, &queries), None);
    }

    #[test]
    fn polynomials_have_the_values_of_their_operations(
        recipes in prop::array::uniform3(recipe()),
        values in prop::array::uniform2(-5..6i64),
    ) {
        let model = Model::new(Budget::default());
        let [x, y, z] = recipes.map(|recipe| model.polynomial(&recipe));
        let of = |polynomial: &Polynomial| evaluate(polynomial, &values);
        prop_assert_eq!(of(&x.mul(&y).unwrap()), of(&x) * of(&y));
        prop_assert_eq!(of(&x.sub(&y).unwrap()), of(&x) - of(&y));
        let symbol = SymbolId(1);
        if let Some((quotient, remainder)) = x.split(symbol) {
            prop_assert_eq!(of(&quotient) * values[1] + of(&remainder), of(&x));
            prop_assert!(!remainder.symbols().chain(quotient.symbols()).any(|s| s == symbol));
            let replaced = of(&x.replaced(symbol, &z).unwrap());
            prop_assert_eq!(replaced, of(&quotient) * of(&z) + of(&remainder));
        }
    }
}
