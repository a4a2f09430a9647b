// SPDX-License-Identifier: Apache-2.0
//! `fft`, as an operator of the library.

use super::operation::Values;
use super::operation::{SourceOp, Tensor};
use crate::import::element::Element;
use crate::import::library::{Invocation, Passing};
use melior::ir::operation::OperationLike;
use melior::ir::{OperationRef, ValueLike};
use skript_dialect::melior;
use skript_dialect::op;

/// Whether an operation is a transform with elements.
pub(super) fn is_operation(source: OperationRef) -> bool {
    let mut results = source.results().map(|r| Tensor::from_type(r.r#type()));
    op::name(&source).ends_with(".fft") && results.all(|r| r.is_none_or(|r| r.volume() != 0))
}

pub(crate) fn transform<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (operand, result) = (source.operand(0)?, source.result()?);
    let mut lengths = source.list("fft_length")?;
    let kind = source.op.attribute("fft_type")?.to_string();
    let backward = kind.contains("IFFT") || kind.contains("IRFFT");
    let [halved, doubled] = [operand, result].map(|tensor| matches!(tensor.element, Element::Float(_)));
    let first = operand.rank().checked_sub(lengths.len()).ok_or("has more lengths than dimensions")?;
    let mut axes: Vec<usize> = (first..operand.rank()).collect();
    // If one side is real, the last dimension is halved: real inputs are processed first, real outputs last.
    if halved && !axes.is_empty() {
        axes.rotate_right(1);
        lengths.rotate_right(1);
    }
    let (mut radices, mut starts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for (n, length) in lengths.iter().enumerate() {
        let is_real = (halved && n == 0) || (doubled && n + 1 == lengths.len());
        let is_paired = is_real && length % 2 == 0;
        starts.push(radices.len());
        radices.extend(radices_of(if is_paired { length / 2 } else { *length }));
        ends.push(radices.len());
    }
    let invocation = Invocation {
        operator: "fourier",
        attributes: format!(
            "axes={axes:?}, lengths={lengths:?}, radices={radices:?}, starts={starts:?}, ends={ends:?}, \
             backward={backward}, halved={halved}, doubled={doubled}"
        ),
        operands: &[Passing::Parts],
        results: &[Passing::Parts],
    };
    invocation.replace(source)
}

/// Maximum radix that is composed of several primes: the matrix of its roots has (2 · 32)² elements.
const MOST_COMPOSITE: i64 = 32;

/// Maximum prime radix. The sums of a larger one take longer than a convolution with chirps.
const MOST_PRIME: i64 = 256;

/// The radices of a transform, whose product is the length, or at least twice the length if it has a large prime factor.
fn radices_of(length: i64) -> Vec<i64> {
    let primes = prime_factors(length);
    if primes.first().is_none_or(|largest| *largest <= MOST_PRIME) {
        return balanced(&primes);
    }
    let padded = u64::try_from(2 * length - 1).map_or(1, u64::next_power_of_two);
    balanced(&vec![2; padded.trailing_zeros() as usize])
}

/// The prime factors of a number in descending order.
fn prime_factors(mut rest: i64) -> Vec<i64> {
    let mut primes = Vec::new();
    let mut candidate = 2;
    while candidate * candidate <= rest {
        while rest % candidate == 0 {
            primes.push(candidate);
            rest /= candidate;
        }
        candidate += 1;
    }
    if rest > 1 {
        primes.push(rest);
    }
    primes.reverse();
    primes
}

/// Products of primes, in descending order, that are about equal: as few as [`MOST_COMPOSITE`] allows.
fn balanced(primes: &[i64]) -> Vec<i64> {
    (1..=primes.len().max(1))
        .map(|count| {
            let mut radices = vec![1; count];
            for prime in primes {
                if let Some(least) = radices.iter_mut().min() {
                    *least *= prime;
                }
            }
            radices
        })
        .find(|radices| radices.iter().all(|radix| *radix <= MOST_COMPOSITE || primes.contains(radix)))
        .unwrap_or_else(|| primes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radices_are_balanced_and_small() {
        let cases: [(i64, &[i64]); 8] = [
            (1, &[1]),
            (12, &[12]),
            (64, &[8, 8]),
            (4096, &[16, 16, 16]),
            (16384, &[32, 32, 16]),
            (1000, &[10, 10, 10]),
            (251, &[251]),
            (257, &[32, 32]),
        ];
        for (length, radices) in cases {
            assert_eq!(radices_of(length), radices, "{length}");
        }
    }
}
