// SPDX-License-Identifier: Apache-2.0
//! Bytes and texts that MLIR's parser would skip or misread, and that no program contains: rejected before parsing.

use super::refusal::Refusal;

/// The beginning of MLIR bytecode, by itself or in a larger file, where every byte that is not UTF-8 was replaced.
const BYTECODE: &str = "ML\u{fffd}R";

/// The beginning of programs in HLO text.
const HLO: &str = "HloModule";

/// The first such position in a text.
pub(super) fn refusal(text: &str) -> Option<Refusal> {
    let (at, message) = if text.contains(BYTECODE) {
        let message =
            "this is bytecode: write the program as text, such as `str(exported.mlir_module())` in jax";
        (0, message.to_owned())
    } else if text.trim_start().starts_with(HLO) {
        let message = "this is HLO, not StableHLO: write the program as `lowered.as_text()` does in jax, before it is compiled";
        (0, message.to_owned())
    } else {
        let message = "there is a character NUL, which no program holds";
        (text.find('\0')?, message.to_owned())
    };
    Some(Refusal::malformed_at(text, at, message))
}
