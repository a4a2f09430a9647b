//! Which operations of a text have no code: all are named at once, before MLIR stops at the first that it cannot parse.

use super::reading;
use std::collections::BTreeMap;

/// Operations that are not elementwise and that `convert-stablehlo-to-linalg` takes.
const TAKEN: &[&str] = &[
    "broadcast_in_dim",
    "case",
    "concatenate",
    "convolution",
    "dot_general",
    "dynamic_slice",
    "dynamic_update_slice",
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
    "scatter",
    "select_and_scatter",
    "slice",
    "sort",
    "transpose",
    "while",
];

/// Operations of `chlo`.
const OF_CHLO: &[&str] = &[
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "erf", "erf_inv", "erfc", "is_inf",
    "sinh", "square", "tan", "top_k",
];

/// Elementwise operations, and choices.
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

/// Every operation of the text that has no code: its name, the lines that it begins (from 1).
pub fn without_code(text: &str) -> Vec<(String, Vec<usize>)> {
    let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, line) in (1..).zip(text.split('\n')) {
        if let Some((_, name)) = reading::start(line)
            && !is_taken(name)
        {
            found.entry(name).or_default().push(number);
        }
    }
    let mut found: Vec<_> = found.into_iter().map(|(n, l)| (n.to_owned(), l)).collect();
    found.sort_by_key(|(_, lines)| lines.first().copied());
    found
}

fn is_taken(name: &str) -> bool {
    match name.split_once('.') {
        Some(("stablehlo", name)) => TAKEN.contains(&name) || ELEMENTWISE.contains(&name),
        Some(("chlo", name)) => OF_CHLO.contains(&name),
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
        let text = "func.func @main() {\n%0 = stablehlo.fft %x\n%1 = \"mhlo.topk\"(%0)\n%2 = stablehlo.fft %1\n%3 = stablehlo.add %2, %2\nreturn";
        let expected = [("stablehlo.fft", vec![2, 4]), ("mhlo.topk", vec![3])];
        let expected = expected.map(|(n, l)| (n.to_owned(), l));
        assert_eq!(without_code(text), expected);
    }
}
