// SPDX-License-Identifier: Apache-2.0
//! The limits of operators, for the documentation only: the rules implement the checks.

const LIMITS: &[(&str, &str)] = &[
    ("AffineGrid", "the size is known at import"),
    ("Attention", "head sizes are static"),
    ("AveragePool", "no window entirely in the padding, no negative padding"),
    ("Cast", "no 8-bit or 4-bit reals"),
    ("CastLike", "as Cast"),
    ("CausalConvWithState", "static channels and filters"),
    ("Col2Im", "shapes are known at import"),
    ("Conv", "no negative padding; filter sizes are static"),
    ("ConvTranspose", "no negative padding; `output_padding` below the stride"),
    ("DFT", "a static dimension; at most 65536 elements"),
    ("DequantizeLinear", "ints; 4-bit ints are supported only in quantization and data movement"),
    ("Dropout", "training only with a ratio of 0"),
    ("Expand", "the shape is known at import"),
    ("GRU", "only the default activations"),
    (
        "If",
        "results have the same type in both branches; if ranks differ, the graph declares them or the condition is an `Equal`",
    ),
    ("LSTM", "only the default activations"),
    (
        "Loop",
        "loop-carried values keep type and shape, or the number of steps is known at import and at most 256; loops that collect values require a known number of steps",
    ),
    ("LpPool", "no window entirely in the padding, no negative padding"),
    ("MaxPool", "no window entirely in the padding, no negative padding; no uint64"),
    ("MaxUnpool", "`output_shape` is not smaller than the inferred shape"),
    ("NonMaxSuppression", "the number of boxes and the thresholds are known at import"),
    ("OneHot", "the depth is known at import"),
    ("Pad", "the amounts are known at import; those of a dynamic dimension have the same sign"),
    ("QLinearConv", "scalar scales and zero points; those of the filter may also be per channel"),
    ("QLinearMatMul", "a scalar scale for the result"),
    ("QuantizeLinear", "at most 32 bits"),
    ("RNN", "only the default activations"),
    ("Range", "the ends are known at import"),
    ("Reshape", "the shape is known at import"),
    (
        "Resize",
        "resized axes have static extents, or extents that a whole factor multiplies; scales and sizes are known at import; ints only with `nearest`",
    ),
    ("RoiAlign", "`sampling_ratio` is not 0"),
    ("STFT", "a static signal; a window as long as a frame"),
    ("Scan", "loop-carried values keep type and shape; in opset 8 a static batch and no lengths"),
    ("Slice", "steps are known at import"),
    ("SplitToSequence", "a static dimension"),
    ("TfIdfVectorizer", "ints; a static number of items"),
    ("Tile", "the repetitions are known at import"),
    ("TopK", "k is known at import"),
    ("Unique", "no bools"),
    ("Unsqueeze", "the axes are known at import"),
    ("Upsample", "as Resize"),
    (
        "com.microsoft.Attention",
        "no masks of rank 4; no shared buffer of the past state; no `do_rotary`; a present state requires keys and values of one size",
    ),
    ("com.microsoft.FusedConv", "as Conv"),
    ("com.microsoft.GroupQueryAttention", "the total length is known at import; no attention sinks"),
    ("com.microsoft.MatMulNBits", "2, 4 or 8 bits; weights are initializers; no group index"),
    ("com.microsoft.MultiHeadAttention", "operands are not packed; no masks of rank 4"),
    ("com.microsoft.NhwcFusedConv", "as Conv"),
    ("com.microsoft.NhwcMaxPool", "as MaxPool"),
    ("com.microsoft.QAttention", "as com.microsoft.Attention; a scalar scale and zero point of the input"),
    ("com.microsoft.QLinearAveragePool", "as AveragePool"),
    ("com.microsoft.QLinearConv", "as QLinearConv"),
    (
        "com.microsoft.QLinearSoftmax",
        "results are divided by the scale; onnxruntime multiplies them by ⌊1 / scale⌋, so they may differ unless 1 / scale is an integer",
    ),
    ("com.microsoft.RotaryEmbedding", "no packed batches"),
];

/// The limits of an operator; empty if only types are limited.
pub(super) fn text(name: &str) -> &'static str {
    LIMITS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_belong_to_operators() {
        let known: Vec<String> = super::super::GROUPS
            .iter()
            .flat_map(|g| g.operators)
            .map(super::super::Operator::full_name)
            .collect();
        for (name, _) in LIMITS {
            assert!(known.iter().any(|k| k == name), "{name}");
        }
        assert_eq!(text("Relu"), "");
    }
}
