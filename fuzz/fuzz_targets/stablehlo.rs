// SPDX-License-Identifier: Apache-2.0
//! Any text is imported as a StableHLO program or refused with a reason: `cargo +nightly fuzz run stablehlo --features mlir`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skript_stablehlo::{context, import};

fuzz_target!(|text: &str| {
    if let Err(refusals) = import::to_skript(&context(), text) {
        assert!(!refusals.is_empty());
        assert!(refusals.iter().all(|refusal| !refusal.message.is_empty()));
    }
});
