// SPDX-License-Identifier: Apache-2.0
//! Computes the product of a constant matrix and scalars or vectors by additions and few multiplications.

use super::matrices::{Matrix, Ratio};
use crate::ir::{Builder, attributes, ops};
use melior::ir::{Value, ValueLike};

/// A factor and a value.
type Term<'c, 'a> = (Ratio, Value<'c, 'a>);

/// Two columns, with their sum and their difference.
type Pair<'c, 'a> = (usize, usize, Value<'c, 'a>, Value<'c, 'a>);

/// Computes the product of a matrix and values of one type.
pub(super) fn transform<'c: 'a, 'a>(
    matrix: Matrix,
    values: &[Value<'c, 'a>],
    at: &Builder<'c, 'a>,
) -> Vec<Value<'c, 'a>> {
    let pairs = column_pairs(matrix);
    let mut sums = Vec::new();
    for (first, second) in &pairs {
        if let (Some(a), Some(b)) = (values.get(*first), values.get(*second)) {
            let [sum, difference] = [ops::arith::ADDF, ops::arith::SUBF].map(|op| add(op, *a, *b, at));
            sums.push((*first, *second, sum, difference));
        }
    }
    let mut results: Vec<Option<Value>> = vec![None; matrix.len()];
    for (number, row) in matrix.iter().enumerate() {
        if results.get(number).is_some_and(Option::is_some) {
            continue;
        }
        let partner = (number + 1..matrix.len())
            .find(|other| pairs.is_empty() && is_reflected(row, matrix.get(*other)));
        let result = match partner {
            None => sum(&terms(row, values, &sums), at),
            Some(other) => {
                let partner = matrix.get(other).copied().unwrap_or_default();
                let all = terms(row, values, &[]);
                let is_same = |j: usize| row.get(j) == partner.get(j);
                let positions = (0..row.len()).filter(|j| row.get(*j).is_some_and(|r| r.0 != 0));
                let (mut same, mut opposite) = (Vec::new(), Vec::new());
                for (j, term) in positions.zip(all) {
                    if is_same(j) { same.push(term) } else { opposite.push(term) }
                }
                let same = sum(&same, at);
                let opposite = sum(&opposite, at);
                let difference = add(ops::arith::SUBF, same, opposite, at);
                if let Some(slot) = results.get_mut(other) {
                    *slot = Some(difference);
                }
                add(ops::arith::ADDF, same, opposite, at)
            }
        };
        if let Some(slot) = results.get_mut(number) {
            *slot = Some(result);
        }
    }
    results.into_iter().flatten().collect()
}

fn add<'c: 'a, 'a>(name: &str, a: Value<'c, 'a>, b: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    let fast = [("fastmath", attributes::fast(at.context, "contract"))];
    at.make(name, &[a, b], &fast, a.r#type())
}

fn sum<'c: 'a, 'a>(terms: &[Term<'c, 'a>], at: &Builder<'c, 'a>) -> Value<'c, 'a> {
    let is_bare = |term: &&Term| term.0 == (1, 1);
    let first = terms.iter().position(|term| is_bare(&term)).unwrap_or(0);
    let mut total: Option<Value> = None;
    let others = terms.iter().enumerate().filter(|(n, _)| *n != first);
    let ordered = terms.get(first).into_iter().chain(others.map(|(_, t)| t));
    let scaled = |(n, d): Ratio, value: Value<'c, 'a>| {
        let factor = at.real(n as f64 / d as f64, value.r#type());
        add(ops::arith::MULF, value, factor, at)
    };
    for (factor, value) in ordered {
        total = Some(match (total, *factor) {
            (None, (1, 1)) => *value,
            (None, factor) => scaled(factor, *value),
            (Some(sum), (1, 1)) => add(ops::arith::ADDF, sum, *value, at),
            (Some(sum), (-1, 1)) => add(ops::arith::SUBF, sum, *value, at),
            (Some(sum), factor) => add(ops::arith::ADDF, sum, scaled(factor, *value), at),
        });
    }
    total.unwrap_or_else(|| unreachable!("internal compiler error: a row of zeros"))
}

/// Returns the nonzero terms of a row; pairs of columns are replaced by their sums or differences.
fn terms<'c, 'a>(row: &[Ratio], values: &[Value<'c, 'a>], sums: &[Pair<'c, 'a>]) -> Vec<Term<'c, 'a>> {
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
        all.push((*factor, *value));
    }
    all
}

/// Finds pairs of columns whose elements are equal or opposite in each row.
fn column_pairs(matrix: Matrix) -> Vec<(usize, usize)> {
    let columns = matrix.first().map_or(0, |row| row.len());
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for first in 0..columns {
        for second in first + 1..columns {
            let entries: Vec<(Ratio, Ratio)> =
                matrix.iter().filter_map(|row| Some((*row.get(first)?, *row.get(second)?))).collect();
            let fits = entries.iter().all(|(a, b)| a.0.abs() == b.0.abs() && a.1 == b.1);
            let used = entries.iter().filter(|(a, _)| a.0 != 0).count();
            let is_taken = pairs.iter().any(|(_, other)| *other == first);
            if fits && used > 1 && !is_taken {
                pairs.push((first, second));
                break;
            }
        }
    }
    pairs
}

/// Whether two rows differ only in some, but not all, signs.
fn is_reflected(row: &[Ratio], other: Option<&&'static [Ratio]>) -> bool {
    let Some(other) = other else { return false };
    let fits = |(a, b): (&Ratio, &Ratio)| a.0.abs() == b.0.abs() && a.1 == b.1;
    let used = || row.iter().zip(*other).filter(|(a, _)| a.0 != 0);
    let same = used().filter(|(a, b)| a == b).count();
    row.iter().zip(*other).all(fits) && same > 0 && same < used().count()
}
