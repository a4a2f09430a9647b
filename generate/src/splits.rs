// SPDX-License-Identifier: Apache-2.0
//! The patterns that split text before tokens are merged, by their names in GGUF files.

/// The patterns of a pre-tokenizer. Each pattern splits the parts that earlier patterns left.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Splits {
    names: &'static [&'static str],
    pub patterns: &'static [&'static str],
    /// Whether a part that is a token is not split into others.
    pub is_whole: bool,
    /// Whether texts begin with the token of the beginning, unless the file states it.
    pub begins: bool,
}

/// GPT-2: contractions, then words, numbers and other characters after an optional space.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

static ALL: [Splits; 5] = [
    Splits { names: &["gpt-2", "mpt", "olmo", "jais"], patterns: &[GPT2], is_whole: false, begins: false },
    // Each digit is a part.
    Splits {
        names: &["smollm", "starcoder", "refact", "command-r", "codeshell"],
        patterns: &[r"\p{N}", GPT2],
        is_whole: false,
        begins: false,
    },
    Splits { names: &["llama-bpe", "llama3", "llama-v3"], patterns: &[LLAMA3], is_whole: true, begins: true },
    Splits { names: &["qwen2", "deepseek-r1-qwen"], patterns: &[QWEN2], is_whole: false, begins: false },
    Splits { names: &["tekken"], patterns: &[TEKKEN], is_whole: true, begins: true },
];

impl Splits {
    /// The patterns with a name in GGUF files.
    pub fn named(name: &str) -> Option<&'static Splits> {
        ALL.iter().find(|splits| splits.names.contains(&name))
    }

    /// All names, for messages.
    pub fn names() -> String {
        ALL.iter().flat_map(|splits| splits.names).copied().collect::<Vec<_>>().join(", ")
    }
}
