// SPDX-License-Identifier: Apache-2.0
//! Rejects inputs that the MLIR parser would misread: bytecode, HLO text, and text with NUL characters.

use super::refusal::Refusal;

/// The magic number of bytecode files after invalid UTF-8 was replaced; it may occur inside a larger file.
const BYTECODE: &str = "ML\u{fffd}R";

/// The beginning of programs in HLO text.
const HLO: &str = "HloModule";

/// The error for input that is not MLIR text.
pub(super) fn refusal(text: &str) -> Option<Refusal> {
    let (at, message) = if text.contains(BYTECODE) {
        let message =
            "this is bytecode: write the program as text, such as `str(exported.mlir_module())` in JAX";
        (0, message.to_owned())
    } else if text.trim_start().starts_with(HLO) {
        let message = "this is HLO, not StableHLO: write the program as `lowered.as_text()` does in JAX, before it is compiled";
        (0, message.to_owned())
    } else {
        let message = "there is a character NUL, which no program holds";
        (text.find('\0')?, message.to_owned())
    };
    Some(Refusal::malformed_at(text, at, message))
}
