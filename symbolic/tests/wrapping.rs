// SPDX-License-Identifier: Apache-2.0
//! Sums modulo 2⁶⁴ have the values of wrapping arithmetic.

use proptest::prelude::*;
use skript_symbolic::WrappingForm;

type Terms = Vec<(u8, i64)>;

fn form(constant: i64, terms: &Terms) -> WrappingForm<u8> {
    WrappingForm::sum(constant, terms.iter().map(|(term, coefficient)| (term, *coefficient)))
}

/// The value where a term has the value of its hash.
fn value(form: &WrappingForm<u8>) -> i64 {
    form.terms().fold(form.offset(), |sum, (term, coefficient)| {
        sum.wrapping_add(coefficient.wrapping_mul(of_term(*term)))
    })
}

fn of_term(term: u8) -> i64 {
    i64::from(term).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)
}

fn terms() -> impl Strategy<Value = Terms> {
    prop::collection::vec((0_u8..40, prop_oneof![any::<i64>(), -2_i64..3]), 0..80)
}

proptest! {
    #[test]
    fn forms_have_the_values_of_their_recipes(
        a in terms(), b in terms(), c in any::<i64>(), d in any::<i64>(), factor in any::<i64>(),
    ) {
        let (x, y) = (form(c, &a), form(d, &b));
        let expected = a.iter().fold(c, |sum, (term, coefficient)| {
            sum.wrapping_add(coefficient.wrapping_mul(of_term(*term)))
        });
        prop_assert_eq!(value(&x), expected);
        let sum = x.clone().add_scaled(&y, factor);
        prop_assert_eq!(value(&sum), value(&x).wrapping_add(value(&y).wrapping_mul(factor)));
        prop_assert_eq!(value(&x.clone().scale(factor)), value(&x).wrapping_mul(factor));
        prop_assert_eq!(x.clone() - &x, WrappingForm::constant(0));
    }

    #[test]
    fn terms_occur_once_in_order_of_their_first_occurrence(a in terms()) {
        let form = form(0, &a);
        let mut first: Vec<u8> = Vec::new();
        a.iter().filter(|(term, _)| form.coefficient(term) != 0).for_each(|(term, _)| {
            if !first.contains(term) {
                first.push(*term);
            }
        });
        prop_assert_eq!(form.terms().map(|(term, _)| *term).collect::<Vec<_>>(), first);
        prop_assert!(form.terms().all(|(_, coefficient)| coefficient != 0));
    }
}
