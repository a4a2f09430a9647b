// SPDX-License-Identifier: Apache-2.0
//! What operators are refused for, for the documentation. The rules have the last word.

const LIMITS: &[(&str, &str)] = &[
    ("AffineGrid", "the size is known at import"),
    ("Attention", "sizes of heads are static"),
    ("AveragePool", "no window in the padding alone, no negative padding"),
    ("Cast", "no 8-bit or 4-bit reals"),
    ("CastLike", "as Cast"),
    ("CausalConvWithState", "static channels and filters"),
    ("Col2Im", "shapes are known at import"),
    ("Conv", "no negative padding; sizes of filters are static"),
    ("ConvTranspose", "no negative padding; `output_padding` below the stride"),
    ("DFT", "a static dimension; at most 65536 elements"),
    ("DequantizeLinear", "ints, of 4 bits only here and where they move"),
    ("Dropout", "training only with a ratio of 0"),
    ("Expand", "the shape is known at import"),
    ("GRU", "the usual activations"),
    ("If", "results of one type; where ranks differ, the graph declares them or the condition is an `Equal`"),
    ("LSTM", "the usual activations"),
    (
        "Loop",
        "carried values keep type and shape, or at most 256 steps whose number is known at import; to collect values, so must the number be",
    ),
    ("LpPool", "no window in the padding alone, no negative padding"),
    ("MaxPool", "no window in the padding alone, no negative padding; no uint64"),
    ("MaxUnpool", "a stated shape is not smaller than the one of the window"),
    ("NonMaxSuppression", "the number of boxes and the thresholds are known at import"),
    ("OneHot", "the depth is known at import"),
    ("Pad", "the amounts are known at import; on a dynamic dimension they have one sign"),
    ("QLinearConv", "scales and zero points of one number, those of the filter also by channel"),
    ("QLinearMatMul", "scales of one number for the result"),
    ("QuantizeLinear", "at most 32 bits"),
    ("RNN", "the usual activations"),
    ("Range", "the ends are known at import"),
    ("Reshape", "the shape is known at import"),
    (
        "Resize",
        "static extents along axes that change; scales and sizes are known at import; ints only `nearest`",
    ),
    ("RoiAlign", "a stated number of samples"),
    ("STFT", "a static signal; a window as long as a frame"),
    ("Scan", "carried values keep type and shape; in set 8 a static batch, and no lengths"),
    ("Slice", "steps are known at import"),
    ("SplitToSequence", "a static dimension"),
    ("TfIdfVectorizer", "ints; a static number of items"),
    ("Tile", "the numbers are known at import"),
    ("TopK", "k is known at import"),
    ("Unique", "no bools"),
    ("Unsqueeze", "the axes are known at import"),
    ("Upsample", "as Resize"),
    ("com.microsoft.Attention", "no past state; masks of the keys of each item"),
    ("com.microsoft.GroupQueryAttention", "the total length is known at import; no sinks of heads"),
    ("com.microsoft.MatMulNBits", "2, 4 or 8 bits of initializers; no order of groups"),
    ("com.microsoft.MultiHeadAttention", "operands that are not packed; masks of the keys of each item"),
    ("com.microsoft.RotaryEmbedding", "no packed batches"),
];

/// The limits of an operator; empty if there are none but types.
pub(super) fn text(name: &str) -> &'static str {
    let found = LIMITS.iter().find(|(known, _)| *known == name);
    found.map_or("", |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_of_operators() {
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
