// SPDX-License-Identifier: Apache-2.0
//! Products of a constant matrix and scalars or vectors, as additions and few multiplications.

use super::matrices::{Matrix, Ratio};
use crate::ir::ops;
use crate::schedule::writer::Writer;

/// A factor and a value.
type Term = (Ratio, String);

impl Writer<'_> {
    /// The product of a matrix and values of a type; `element` is the type of one element.
    pub(super) fn transform(
        &mut self,
        matrix: Matrix,
        values: &[String],
        element: &str,
        kind: &str,
    ) -> Vec<String> {
        let pairs = column_pairs(matrix);
        let mut sums = Vec::new();
        for (first, second) in &pairs {
            if let (Some(a), Some(b)) = (values.get(*first), values.get(*second)) {
                let sum = self.add(ops::arith::ADDF, a, b, kind);
                let difference = self.add(ops::arith::SUBF, a, b, kind);
                sums.push((*first, *second, sum, difference));
            }
        }
        let mut results: Vec<Option<String>> = vec![None; matrix.len()];
        for (number, row) in matrix.iter().enumerate() {
            if results.get(number).is_some_and(Option::is_some) {
                continue;
            }
            let partner = (number + 1..matrix.len())
                .find(|other| pairs.is_empty() && is_reflected(row, matrix.get(*other)));
            let result = match partner {
                None => self.sum(&terms(row, values, &sums), element, kind),
                Some(other) => {
                    let partner = matrix.get(other).copied().unwrap_or_default();
                    let all = terms(row, values, &[]);
                    let is_same = |j: usize| row.get(j) == partner.get(j);
                    let positions = (0..row.len()).filter(|j| row.get(*j).is_some_and(|r| r.0 != 0));
                    let (mut same, mut opposite) = (Vec::new(), Vec::new());
                    for (j, term) in positions.zip(all) {
                        if is_same(j) { same.push(term) } else { opposite.push(term) }
                    }
                    let same = self.sum(&same, element, kind);
                    let opposite = self.sum(&opposite, element, kind);
                    let difference = self.add(ops::arith::SUBF, &same, &opposite, kind);
                    if let Some(slot) = results.get_mut(other) {
                        *slot = Some(difference);
                    }
                    self.add(ops::arith::ADDF, &same, &opposite, kind)
                }
            };
            if let Some(slot) = results.get_mut(number) {
                *slot = Some(result);
            }
        }
        results.into_iter().flatten().collect()
    }

    fn add(&mut self, name: &str, a: &str, b: &str, kind: &str) -> String {
        self.define(&format!("{name} {a}, {b} fastmath<contract> : {kind}"))
    }

    /// The sum of terms.
    fn sum(&mut self, terms: &[Term], element: &str, kind: &str) -> String {
        let is_bare = |term: &&Term| term.0 == (1, 1);
        let first = terms.iter().position(|term| is_bare(&term)).unwrap_or(0);
        let mut total: Option<String> = None;
        let others = terms.iter().enumerate().filter(|(n, _)| *n != first);
        let ordered = terms.get(first).into_iter().chain(others.map(|(_, t)| t));
        for (factor, value) in ordered {
            total = Some(match (total, *factor) {
                (None, (1, 1)) => value.clone(),
                (None, factor) => self.scaled(factor, value, element, kind),
                (Some(sum), (1, 1)) => self.add(ops::arith::ADDF, &sum, value, kind),
                (Some(sum), (-1, 1)) => self.add(ops::arith::SUBF, &sum, value, kind),
                (Some(sum), factor) => {
                    let scaled = self.scaled(factor, value, element, kind);
                    self.add(ops::arith::ADDF, &sum, &scaled, kind)
                }
            });
        }
        total.unwrap_or_default()
    }

    fn scaled(&mut self, (n, d): Ratio, value: &str, element: &str, kind: &str) -> String {
        let factor = n as f64 / d as f64;
        let constant = if element == kind {
            format!("{} {factor:?} : {kind}", ops::arith::CONSTANT)
        } else {
            format!("{} dense<{factor:?}> : {kind}", ops::arith::CONSTANT)
        };
        let factor = self.define(&constant);
        self.add(ops::arith::MULF, value, &factor, kind)
    }
}

/// The terms of a row that are not zero; pairs of columns are replaced by their sums or differences.
fn terms(row: &[Ratio], values: &[String], sums: &[(usize, usize, String, String)]) -> Vec<Term> {
    let mut all = Vec::new();
    for (j, (factor, value)) in row.iter().zip(values).enumerate() {
        if factor.0 == 0 || sums.iter().any(|(_, second, ..)| *second == j) {
            continue;
        }
        let pair = sums.iter().find(|(first, ..)| *first == j);
        let value = match pair {
            None => value,
            Some((_, second, sum, difference)) => {
                if row.get(*second) == Some(factor) {
                    sum
                } else {
                    difference
                }
            }
        };
        all.push((*factor, value.clone()));
    }
    all
}

/// Pairs of columns whose elements are equal or opposite in each row.
fn column_pairs(matrix: Matrix) -> Vec<(usize, usize)> {
    let columns = matrix.first().map_or(0, |row| row.len());
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for first in 0..columns {
        for second in first + 1..columns {
            let own: Vec<(Ratio, Ratio)> =
                matrix.iter().filter_map(|row| Some((*row.get(first)?, *row.get(second)?))).collect();
            let fits = own.iter().all(|(a, b)| a.0.abs() == b.0.abs() && a.1 == b.1);
            let used = own.iter().filter(|(a, _)| a.0 != 0).count();
            let is_taken = pairs.iter().any(|(_, other)| *other == first);
            if fits && used > 1 && !is_taken {
                pairs.push((first, second));
                break;
            }
        }
    }
    pairs
}

/// Whether a row is another one with some signs changed, but not all.
fn is_reflected(row: &[Ratio], other: Option<&&'static [Ratio]>) -> bool {
    let Some(other) = other else { return false };
    let fits = |(a, b): (&Ratio, &Ratio)| a.0.abs() == b.0.abs() && a.1 == b.1;
    let used = || row.iter().zip(*other).filter(|(a, _)| a.0 != 0);
    let same = used().filter(|(a, b)| a == b).count();
    row.iter().zip(*other).all(fits) && same > 0 && same < used().count()
}
