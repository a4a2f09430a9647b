// SPDX-License-Identifier: Apache-2.0
//! The supported architectures, and the hyperparameters that not all of them have.

use super::parameters::Parameters;
use crate::refusal::{Reason, Ruled};

/// A supported architecture.
#[derive(Debug)]
pub(super) struct Architecture {
    pub name: &'static str,
    /// Whether the rotary embedding turns pairs of adjacent features. Converters reorder the rows of queries and keys for it.
    pub is_adjacent: bool,
    /// Whether embeddings are multiplied by the square root of their length, and the gate is a GELU.
    pub is_gemma: bool,
    /// Whether the results of the attention and of the gated unit are normalized.
    has_post_norms: bool,
    /// Whether one matrix may have the rows of several.
    pub joins: bool,
    windows: Windows,
    pub experts: Mixture,
}

/// Whether gated units are selected for each token. A mixture states whether the weights of the selected units are divided by their sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mixture {
    Never,
    /// If the file has a number of experts.
    Sometimes {
        is_normalized: bool,
    },
    Always {
        is_normalized: bool,
    },
}

/// The layers whose attention reads only the last tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Windows {
    None,
    /// All layers, if the file has a window.
    All,
    /// All but each layer whose number is a multiple of this one, counted from 1.
    Except(u64),
}

/// The angles of the rotary embedding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Angles {
    pub base: f64,
    /// The divisor of positions.
    pub divisor: f64,
    /// The factor of cosines and sines.
    pub magnitude: f64,
}

const LLAMA: Architecture = Architecture {
    name: "llama",
    is_adjacent: true,
    is_gemma: false,
    has_post_norms: false,
    joins: false,
    windows: Windows::None,
    experts: Mixture::Sometimes { is_normalized: true },
};
const QWEN2: Architecture =
    Architecture { name: "qwen2", is_adjacent: false, experts: Mixture::Never, ..LLAMA };
const GEMMA: Architecture = Architecture { name: "gemma", is_gemma: true, ..QWEN2 };
const GEMMA2: Architecture =
    Architecture { name: "gemma2", has_post_norms: true, windows: Windows::Except(2), ..GEMMA };

const ARCHITECTURES: [Architecture; 9] = [
    LLAMA,
    QWEN2,
    Architecture { name: "qwen2moe", experts: Mixture::Always { is_normalized: false }, ..QWEN2 },
    Architecture { name: "qwen3", ..QWEN2 },
    Architecture { name: "qwen3moe", experts: Mixture::Always { is_normalized: true }, ..QWEN2 },
    GEMMA,
    GEMMA2,
    Architecture { name: "gemma3", windows: Windows::Except(6), ..GEMMA2 },
    Architecture { name: "phi3", joins: true, windows: Windows::All, ..QWEN2 },
];

/// The tensors that divide angles: for all texts, and for texts within the original context and beyond it.
pub(super) const FACTORS: [&str; 3] =
    ["rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight"];

/// The key of the original context of a model with two tensors of factors.
const ORIGINAL: &str = "rope.scaling.original_context_length";

impl Architecture {
    pub fn named(name: &str) -> Option<&'static Architecture> {
        ARCHITECTURES.iter().find(|known| known.name == name)
    }

    /// All names, for messages.
    pub fn names() -> String {
        ARCHITECTURES.map(|known| known.name).join(", ")
    }

    /// Refuses keys that the architecture does not have.
    pub fn check(&self, parameters: Parameters<'_>) -> Ruled<()> {
        let mut absent = vec!["attention.scale"];
        // Without a type, llama.cpp divides positions by the first of these that the file has.
        let mut ones = vec!["rope.scale_linear", "attention.causal"];
        if self.windows == Windows::None {
            absent.push("attention.sliding_window");
        }
        if self.name != GEMMA2.name && self.name != "gemma3" {
            absent.extend(["attn_logit_softcapping", "final_logit_softcapping"]);
        }
        if self.name != "gemma3" {
            absent.push("rope.scaling.type");
            ones.push("rope.scaling.factor");
        }
        if self.name != "phi3" {
            ones.push("rope.scaling.attn_factor");
        }
        if self.experts == Mixture::Never {
            absent.push("expert_count");
        }
        absent.into_iter().try_for_each(|name| parameters.absent(name))?;
        ones.into_iter().try_for_each(|name| parameters.one(name))
    }

    /// The norms of a layer after those before the attention and the gated unit.
    pub fn post_norms(&self) -> &'static [&'static str] {
        if self.has_post_norms { &["post_attention_norm", "post_ffw_norm"] } else { &[] }
    }

    pub fn angles(&self, parameters: Parameters<'_>) -> Ruled<Angles> {
        let factor = parameters.optional_real("rope.scaling.factor")?;
        let divisor = match parameters.text("rope.scaling.type")?.unwrap_or("none") {
            "none" => 1.0,
            // The divisor takes the place of factors.
            "linear" if parameters.file.entry(FACTORS[0]).is_none() => factor.unwrap_or(1.0),
            _ => return Err(parameters.wrong("rope.scaling.type", "has a value that is not supported")),
        };
        Ok(Angles {
            base: parameters.optional_real("rope.freq_base")?.unwrap_or(10000.0),
            divisor,
            magnitude: parameters.optional_real("rope.scaling.attn_factor")?.unwrap_or(1.0),
        })
    }

    /// The angles of layers with a window, if they differ.
    pub fn local_angles(&self, parameters: Parameters<'_>) -> Ruled<Option<Angles>> {
        if self.name != "gemma3" {
            return Ok(None);
        }
        let base = parameters.optional_real("rope.freq_base_swa")?.unwrap_or(10000.0);
        Ok(Some(Angles { base, divisor: 1.0, magnitude: 1.0 }))
    }

    /// The factor of the products of queries and keys. The largest models of Gemma 2 and 3 have the size of a head of the embedding in
    /// place of that of a key.
    pub fn scale(&self, layers: u64, size: u64, key_size: u64) -> f64 {
        let is_largest = matches!((self.name, layers), ("gemma2", 46) | ("gemma3", 62));
        let size = if is_largest { size } else { key_size };
        1.0 / (size as f64).sqrt()
    }

    pub fn score_cap(&self, parameters: Parameters<'_>) -> Ruled<Option<f64>> {
        let default = (self.name == GEMMA2.name).then_some(50.0);
        Ok(parameters.optional_real("attn_logit_softcapping")?.or(default))
    }

    pub fn logit_cap(&self, parameters: Parameters<'_>) -> Ruled<Option<f64>> {
        let default = (self.name == GEMMA2.name).then_some(30.0);
        Ok(parameters.optional_real("final_logit_softcapping")?.or(default))
    }

    /// The number of tokens that the attention of some layers reads.
    pub fn window(&self, parameters: Parameters<'_>) -> Ruled<Option<u64>> {
        match self.windows {
            Windows::None => Ok(None),
            Windows::All => parameters.optional_natural("attention.sliding_window"),
            Windows::Except(_) => parameters.int("attention.sliding_window").map(Some),
        }
    }

    /// Whether the layer at this position has the window.
    pub fn is_local(&self, at: u64) -> bool {
        match self.windows {
            Windows::None => false,
            Windows::All => true,
            Windows::Except(period) => !(at + 1).is_multiple_of(period),
        }
    }

    /// The tensor that divides the angles of texts with at most `context` tokens.
    pub fn factors(&self, parameters: Parameters<'_>, context: u64) -> Ruled<Option<&'static str>> {
        let [all, short, long] = FACTORS;
        let has = |name: &str| parameters.file.entry(name).is_some();
        match [has(all), has(short), has(long)] {
            [false, false, false] => Ok(None),
            [true, false, false] => Ok(Some(all)),
            [false, true, true] => Ok(Some(if context > parameters.int(ORIGINAL)? { long } else { short })),
            _ => Err(Reason(format!("the file has some of the tensors {}", FACTORS.join(", ")))),
        }
    }
}
