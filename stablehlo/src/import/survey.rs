// SPDX-License-Identifier: Apache-2.0
//! Finds all unsupported operations of a text, so that one message lists them before MLIR stops at the first one that
//! it cannot parse.

use super::decompose::is_annotation;
use super::factorization;
use super::operations::{foreign_types, starts};
use super::refine::{assertion, replaced};
use super::refusal::Refusal;
use skript_passes::ir::ops;
use std::collections::HashMap;

/// The operations that `convert-stablehlo-to-linalg` supports, beside elementwise ones.
const TAKEN: &[&str] = &[
    "broadcast_in_dim",
    "case",
    "cholesky",
    "composite",
    "concatenate",
    "convolution",
    "custom_call",
    "dot_general",
    "dynamic_slice",
    "dynamic_update_slice",
    "fft",
    "gather",
    "if",
    "iota",
    "optimization_barrier",
    "pad",
    "reduce",
    "reduce_window",
    "reshape",
    "return",
    "reverse",
    "rng_bit_generator",
    "scatter",
    "select_and_scatter",
    "slice",
    "sort",
    "transpose",
    "triangular_solve",
    "while",
];

/// The supported operations of `chlo`.
const OF_CHLO: &[&str] = &[
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

/// All operations of the text for which `is_taken` is false, then all unsupported types.
pub(crate) fn without_code(text: &str, is_taken: fn(&str) -> bool) -> Vec<Occurrences> {
    let mut found = operations(text, is_taken);
    let mut location = locations(text);
    let types = foreign_types(text).into_iter();
    let types = types.filter_map(|start| Some((start.name.to_owned(), Some(location(start.at)?))));
    found.extend(grouped(types));
    found
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

fn operations(text: &str, is_taken: fn(&str) -> bool) -> Vec<Occurrences> {
    let mut location = locations(text);
    let named = starts(text).into_iter().filter_map(|start| {
        let at = location(start.at)?;
        let rest = text.get(start.at..)?.lines().next()?;
        let name = described(start.name, rest);
        // The terminator of a region is supported if the operation with the region is.
        let counts = name != ops::stablehlo::RETURN && !is_taken(&name);
        counts.then_some((name, Some(at)))
    });
    grouped(named)
}

/// Groups operations by name, in the order of their first lines, then of the line; those without a location come
/// without one.
pub(crate) fn grouped(named: impl Iterator<Item = (String, Option<(usize, usize)>)>) -> Vec<Occurrences> {
    let mut found: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
    for (name, location) in named {
        let locations = found.entry(name).or_default();
        locations.extend(location.filter(|(line, _)| locations.last().is_none_or(|last| last.0 != *line)));
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by(|(a, x), (b, y)| (x.first(), a).cmp(&(y.first(), b)));
    found
}

/// The message that these operations are not supported; `None` if there are none.
pub(crate) fn refusal(found: &[Occurrences]) -> Option<Refusal> {
    let (_, locations) = found.first()?;
    Some(Refusal {
        malformed: false,
        message: format!("there is no code for {}{}", listed(found), advice(found)),
        source_position: locations.first().copied(),
    })
}

/// The maximum number of lines that a message lists for each operation.
const SHOWN: usize = 8;

/// All operations and their locations in one sentence.
pub(super) fn listed(found: &[Occurrences]) -> String {
    let names = found.iter().map(|(name, locations)| {
        let lines = locations.iter().take(SHOWN).map(|(line, _)| line.to_string());
        let shown: Vec<String> = lines.collect();
        match (shown.as_slice(), locations.len().saturating_sub(SHOWN)) {
            ([], _) => format!("`{name}`"),
            ([one], _) => format!("`{name}` (line {one})"),
            ([all @ .., last], 0) => format!("`{name}` (lines {} and {last})", all.join(", ")),
            (all, more) => format!("`{name}` (lines {} and {more} more)", all.join(", ")),
        }
    });
    names.collect::<Vec<_>>().join(", ")
}

/// The help for unsupported operations, if there is any.
fn advice(found: &[Occurrences]) -> &'static str {
    let is_any = |of: fn(&str) -> bool| found.iter().any(|(name, _)| of(name));
    let is_dynamic = |name: &str| {
        name.starts_with("stablehlo.") && (name.ends_with("_dimension_size") || name.contains("dynamic_"))
    };
    if is_any(is_dynamic) {
        "; extents must be known: export the program for fixed shapes, without symbolic dimensions"
    } else if is_any(|name| COLLECTIVE.iter().any(|own| name.ends_with(own))) {
        "; programs run on one device: lower the function without a mesh"
    } else if is_any(|name| name.starts_with("skript.")) {
        "; programs that run are in StableHLO: `skript-opt --skript-linalg-to-llvm` makes code of modules in the `skript` dialect"
    } else if is_any(|name| name == ops::stablehlo::RNG) {
        "; what `stablehlo.rng` gives depends on a state that no program sees: use `stablehlo.rng_bit_generator`, as \
         jax.random does, or pass the numbers as an argument"
    } else if is_any(|name| name.starts_with(ops::stablehlo::CUSTOM_CALL)) {
        "; of what is called by name, Cholesky, LU and QR factorizations, triangular systems, eigenvalues of symmetric \
         matrices and singular values have code: compute others outside of the program, and pass them as arguments"
    } else {
        ""
    }
}

/// The name of an operation; for a custom call, with its target.
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
                TAKEN.contains(&name)
                    || ELEMENTWISE.contains(&name)
                    || replaced::is_replaced(&format!("stablehlo.{name}"))
            }
        },
        other => is_around(other),
    }
}

/// Whether `convert-stablehlo-to-skript` may support the operation; that depends on the operands too.
pub(crate) fn is_elementwise(name: &str) -> bool {
    match name.split_once('.') {
        Some(("stablehlo", name)) => {
            ELEMENTWISE.contains(&name) || matches!(name, "broadcast_in_dim" | "composite" | "reshape")
        }
        other => is_around(other),
    }
}

/// Operations that surround those of StableHLO.
fn is_around(name: Option<(&str, &str)>) -> bool {
    match name {
        Some(("chlo", name)) => OF_CHLO.contains(&name),
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
    fn every_operation_without_code_is_named_once() {
        let text = "func.func @main() {\n%0 = stablehlo.infeed %x\n%1 = \"mhlo.topk\"(%0)\n%2 = stablehlo.infeed %1\n%3 = stablehlo.add %2, %2\nreturn";
        let infeeds = ("stablehlo.infeed", vec![(2, 6), (4, 6)]);
        let expected = [infeeds, ("mhlo.topk", vec![(3, 6)])];
        let expected = expected.map(|(n, l)| (n.to_owned(), l));
        assert_eq!(without_code(text, runs), expected);
        assert_eq!(listed(&expected), "`stablehlo.infeed` (lines 2 and 4), `mhlo.topk` (line 3)");
        let many = [("a.b".to_owned(), (1..=11).map(|line| (line, 1)).collect())];
        assert_eq!(listed(&many), "`a.b` (lines 1, 2, 3, 4, 5, 6, 7, 8 and 3 more)");
    }

    /// Inside regions of unknown operations, and several on a line.
    #[test]
    fn no_region_hides_operations() {
        let text = "\"a.b\"(%x) ({\n^bb0(%p: tensor<f32>):\n  %0 = \"c.d\"(%p) ({ %1 = e.f %p : tensor<f32> \"g.h\"(%1) : (tensor<f32>) -> () }) : (tensor<f32>) -> tensor<f32>\n  stablehlo.return %0 : tensor<f32>\n})";
        let expected = [("a.b", (1, 1)), ("c.d", (3, 8)), ("e.f", (3, 26)), ("g.h", (3, 47))];
        let expected = expected.map(|(name, location)| (name.to_owned(), vec![location]));
        assert_eq!(without_code(text, runs), expected);
    }

    /// Elements of tensors and scalar types; near misses are names and strings.
    #[test]
    fn types_without_code_are_named_with_the_operations() {
        let text = "func.func @f8E4M3FN(%t: !stablehlo.token, %f8E5M2: tensor<2xf32>) {\n%0 = stablehlo.convert %f8E5M2 : (tensor<2xf32>) -> tensor<2xf8E4M3FN>\n%1 = stablehlo.infeed %0 {a = \"tensor<f8E5M2>\"} : tensor<f8E5M2> // f8E3M4\n%2 = stablehlo.convert %ui2 : (tensor<2x3xui2>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>";
        let expected = [
            ("stablehlo.infeed", 3),
            ("!stablehlo.token", 1),
            ("f8E4M3FN", 2),
            ("f8E5M2", 3),
            ("ui2", 4),
            ("!quant.uniform", 4),
        ];
        let expected = expected.map(|(name, line)| (name.to_owned(), line));
        let found = without_code(text, runs).into_iter();
        let lines = found.map(|(name, locations)| (name, locations.first().map_or(0, |location| location.0)));
        assert_eq!(lines.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn calls_are_named_by_what_they_call() {
        let text = "%0:2 = stablehlo.custom_call @lapack_sgehrd_ffi(%a) {x = 1}\n%1 = stablehlo.custom_call @Sharding(%a)\n%2 = \"stablehlo.custom_call\"(%a) {call_target_name = \"foo.bar\"}";
        let names = without_code(text, runs).into_iter().map(|(n, _)| n);
        let names: Vec<String> = names.collect();
        let called = ["@lapack_sgehrd_ffi", "@foo.bar"].map(|c| format!("stablehlo.custom_call {c}"));
        assert_eq!(names, called);
    }
}
