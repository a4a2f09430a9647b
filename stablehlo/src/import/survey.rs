// SPDX-License-Identifier: Apache-2.0
//! Finds all unsupported operations of a text, so that one message lists them; MLIR's parser stops at the first
//! operation that it does not know.

use super::decompose::is_annotation;
use super::factorization;
use super::operations::{foreign_types, starts};
use super::refine::{assertion, replaced};
use super::refusal::Refusal;
use super::to_linalg::CONVERSIONS;
use skript_passes::ir::ops;
use std::collections::HashMap;

/// Supported operations that are neither elementwise nor in the table of `convert-stablehlo-to-linalg`.
const OTHERS: [&str; 6] = ["cholesky", "composite", "custom_call", "fft", "return", "triangular_solve"];

/// The supported operations of `chlo`.
const CHLO: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i1e",
    "cosh",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "is_inf",
    "lgamma",
    "next_after",
    "polygamma",
    "sinh",
    "square",
    "tan",
    "top_k",
    "zeta",
];

/// Elementwise operations, including selects.
const ELEMENTWISE: &[&str] = &[
    "abs",
    "add",
    "and",
    "atan2",
    "bitcast_convert",
    "cbrt",
    "ceil",
    "clamp",
    "compare",
    "complex",
    "constant",
    "convert",
    "cosine",
    "count_leading_zeros",
    "divide",
    "exponential",
    "exponential_minus_one",
    "floor",
    "imag",
    "is_finite",
    "log",
    "log_plus_one",
    "logistic",
    "maximum",
    "minimum",
    "multiply",
    "negate",
    "not",
    "or",
    "popcnt",
    "power",
    "real",
    "reduce_precision",
    "remainder",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "select",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sine",
    "sqrt",
    "subtract",
    "tan",
    "tanh",
    "xor",
];

/// Collective operations between devices.
const COLLECTIVE: &[&str] = &[
    ".all_gather",
    ".all_reduce",
    ".all_to_all",
    ".collective_broadcast",
    ".collective_permute",
    ".cross-replica-sum",
    ".partition_id",
    ".reduce_scatter",
    ".replica_id",
];

/// An operation's name, and its first occurrence on each line: line and column, counted from 1.
pub(crate) type Occurrences = (String, Vec<(usize, usize)>);

/// Lists all operations of the text for which `is_supported` is false, and then all unsupported types.
pub(crate) fn unsupported(text: &str, is_supported: fn(&str) -> bool) -> Vec<Occurrences> {
    let mut unsupported = operations(text, is_supported);
    let mut location = locations(text);
    let types = foreign_types(text).into_iter();
    unsupported
        .extend(grouped(types.filter_map(|start| Some((start.name.to_owned(), Some(location(start.at)?))))));
    unsupported
}

/// Returns the line and column of increasing byte offsets of a text.
fn locations(text: &str) -> impl FnMut(usize) -> Option<(usize, usize)> {
    let (mut line, mut begin, mut counted) = (1, 0, 0);
    move |at| {
        for (end, _) in text.get(counted..at)?.match_indices('\n') {
            (line, begin) = (line + 1, counted + end + 1);
        }
        counted = at;
        Some((line, 1 + at - begin))
    }
}

fn operations(text: &str, is_supported: fn(&str) -> bool) -> Vec<Occurrences> {
    let mut location = locations(text);
    let named = starts(text).into_iter().filter_map(|start| {
        let at = location(start.at)?;
        let line = text.get(start.at..)?.lines().next()?;
        let name = described(start.name, line);
        // The terminator of a region is supported if the operation with the region is.
        let is_listed = name != ops::stablehlo::RETURN && !is_supported(&name);
        is_listed.then_some((name, Some(at)))
    });
    grouped(named)
}

/// Groups operations by name, in the order of their first locations.
pub(crate) fn grouped(named: impl Iterator<Item = (String, Option<(usize, usize)>)>) -> Vec<Occurrences> {
    let mut by_name: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    for (name, location) in named {
        let locations = by_name.entry(name).or_default();
        locations.extend(location.filter(|(line, _)| locations.last().is_none_or(|last| last.0 != *line)));
    }
    let mut occurrences: Vec<_> = by_name.into_iter().collect();
    occurrences.sort_by(|(a, x), (b, y)| (x.first(), a).cmp(&(y.first(), b)));
    occurrences
}

/// The message that these operations are not supported; `None` for an empty list.
pub(crate) fn refusal(unsupported: &[Occurrences]) -> Option<Refusal> {
    let (_, locations) = unsupported.first()?;
    Some(Refusal {
        malformed: false,
        message: format!("not supported: {}{}", listed(unsupported), advice(unsupported)),
        source_position: locations.first().copied(),
    })
}

/// The maximum number of lines that a message lists for each operation.
const MAX_LINES: usize = 8;

/// All operations and their locations in one sentence.
pub(super) fn listed(occurrences: &[Occurrences]) -> String {
    let names = occurrences.iter().map(|(name, locations)| {
        let lines = locations.iter().take(MAX_LINES).map(|(line, _)| line.to_string());
        let shown: Vec<String> = lines.collect();
        match (shown.as_slice(), locations.len().saturating_sub(MAX_LINES)) {
            ([], _) => format!("`{name}`"),
            ([one], _) => format!("`{name}` (line {one})"),
            ([all @ .., last], 0) => format!("`{name}` (lines {} and {last})", all.join(", ")),
            (all, more) => format!("`{name}` (lines {} and {more} more)", all.join(", ")),
        }
    });
    names.collect::<Vec<_>>().join(", ")
}

/// Advice for unsupported operations; may be empty.
fn advice(unsupported: &[Occurrences]) -> &'static str {
    let is_any = |test: fn(&str) -> bool| unsupported.iter().any(|(name, _)| test(name));
    let is_dynamic = |name: &str| {
        name.starts_with("stablehlo.") && (name.ends_with("_dimension_size") || name.contains("dynamic_"))
    };
    if is_any(is_dynamic) {
        "; extents must be known: export the program for fixed shapes, without symbolic dimensions"
    } else if is_any(|name| COLLECTIVE.iter().any(|collective| name.ends_with(collective))) {
        "; programs run on one device: lower the function without a mesh"
    } else if is_any(|name| name.starts_with("skript.")) {
        "; programs are in StableHLO: `skript-opt --skript-linalg-to-llvm` compiles modules in the `skript` dialect"
    } else if is_any(|name| name == ops::stablehlo::RNG) {
        "; the result of `stablehlo.rng` depends on a hidden state: use `stablehlo.rng_bit_generator`, as \
         jax.random does, or pass the numbers as an argument"
    } else if is_any(|name| name.starts_with(ops::stablehlo::CUSTOM_CALL)) {
        "; supported custom calls are Cholesky, LU and QR factorizations, triangular systems, eigenvalues of symmetric \
         matrices and singular values: compute others outside of the program, and pass them as arguments"
    } else {
        ""
    }
}

/// The name of an operation; the name of a custom call is followed by its target.
fn described(name: &str, line: &str) -> String {
    let target = match line.split_once("call_target_name = \"") {
        Some((_, target)) => target.split('"').next(),
        None => line.split_once(" @").and_then(|(_, target)| target.split(['(', ' ']).next()),
    };
    match target {
        Some(target) if name == ops::stablehlo::CUSTOM_CALL => {
            format!("{name} @{}", target.trim_matches('"'))
        }
        _ => name.to_owned(),
    }
}

/// Whether programs with this operation can be compiled.
pub(super) fn runs(name: &str) -> bool {
    match name.split_once('.') {
        Some(("stablehlo", name)) => match name.strip_prefix("custom_call @") {
            Some(target) => {
                factorization::is_known(target)
                    || is_annotation(target)
                    || matches!(target, assertion::TARGET | replaced::WINDOW)
            }
            None => {
                CONVERSIONS.iter().any(|(converted, _)| *converted == name)
                    || OTHERS.contains(&name)
                    || ELEMENTWISE.contains(&name)
                    || replaced::is_replaced(&format!("stablehlo.{name}"))
            }
        },
        other => is_of_other_dialect(other),
    }
}

/// Whether `convert-stablehlo-to-skript` supports the operation for some operands.
pub(crate) fn is_elementwise(name: &str) -> bool {
    match name.split_once('.') {
        Some(("stablehlo", name)) => {
            ELEMENTWISE.contains(&name) || matches!(name, "broadcast_in_dim" | "composite" | "reshape")
        }
        other => is_of_other_dialect(other),
    }
}

/// Whether the operation is a supported operation of another dialect.
fn is_of_other_dialect(name: Option<(&str, &str)>) -> bool {
    match name {
        Some(("chlo", name)) => CHLO.contains(&name),
        Some(("sdy", name)) => matches!(name, "mesh" | "reshard" | "sharding_constraint"),
        Some(("func", name)) => matches!(name, "func" | "call" | "return"),
        Some(("builtin", name)) => name == "module",
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unsupported_operation_is_listed_once() {
        let text = "func.func @main() {\n%0 = stablehlo.infeed %x\n%1 = \"mhlo.topk\"(%0)\n%2 = stablehlo.infeed %1\n%3 = stablehlo.add %2, %2\nreturn";
        let infeeds = ("stablehlo.infeed", vec![(2, 6), (4, 6)]);
        let expected = [infeeds, ("mhlo.topk", vec![(3, 6)])].map(|(name, lines)| (name.to_owned(), lines));
        assert_eq!(unsupported(text, runs), expected);
        assert_eq!(listed(&expected), "`stablehlo.infeed` (lines 2 and 4), `mhlo.topk` (line 3)");
        let many = [("a.b".to_owned(), (1..=11).map(|line| (line, 1)).collect())];
        assert_eq!(listed(&many), "`a.b` (lines 1, 2, 3, 4, 5, 6, 7, 8 and 3 more)");
    }

    /// Inside regions of unknown operations, and several on a line.
    #[test]
    fn no_region_hides_operations() {
        let text = "\"a.b\"(%x) ({\n^bb0(%p: tensor<f32>):\n  %0 = \"c.d\"(%p) ({ %1 = e.f %p : tensor<f32> \"g.h\"(%1) : (tensor<f32>) -> () }) : (tensor<f32>) -> tensor<f32>\n  stablehlo.return %0 : tensor<f32>\n})";
        let starts = [("a.b", (1, 1)), ("c.d", (3, 8)), ("e.f", (3, 26)), ("g.h", (3, 47))];
        let expected = starts.map(|(name, location)| (name.to_owned(), vec![location]));
        assert_eq!(unsupported(text, runs), expected);
    }

    /// The types are elements of tensors or scalar types; similar names and strings are not types.
    #[test]
    fn unsupported_types_are_listed_after_the_operations() {
        let text = "func.func @f8E4M3FN(%t: !stablehlo.token, %f8E5M2: tensor<2xf32>) {\n%0 = stablehlo.convert %f8E5M2 : (tensor<2xf32>) -> tensor<2xf8E4M3FN>\n%1 = stablehlo.infeed %0 {a = \"tensor<f8E5M2>\"} : tensor<f8E5M2> // f8E3M4\n%2 = stablehlo.convert %ui2 : (tensor<2x3xui2>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>";
        let expected = [
            ("stablehlo.infeed", 3),
            ("!stablehlo.token", 1),
            ("f8E4M3FN", 2),
            ("f8E5M2", 3),
            ("ui2", 4),
            ("!quant.uniform", 4),
        ]
        .map(|(name, line)| (name.to_owned(), line));
        let types = unsupported(text, runs).into_iter();
        let lines = types.map(|(name, locations)| (name, locations.first().map_or(0, |location| location.0)));
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn custom_calls_are_listed_by_target() {
        let text = "%0:2 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {x = 1}\n%1 = stablehlo.custom_call @Sharding(%a)\n%2 = \"stablehlo.custom_call\"(%a) {call_target_name = \"foo.bar\"}";
        let names = unsupported(text, runs).into_iter().map(|(n, _)| n);
        let names: Vec<String> = names.collect();
        let called = ["@lapack_sgehrd_ffi", "@foo.bar"].map(|c| format!("stablehlo.custom_call {c}"));
        assert_eq!(names, called);
    }
}
