// SPDX-License-Identifier: Apache-2.0
//! Any bytes are imported as an ONNX model or refused with a reason: `cargo +nightly fuzz run onnx`.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skript_import::{ImportError, Options, convert};
use tempfile::TempDir;

/// The folder of the model; external data would be in it.
static FOLDER: OnceLock<TempDir> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let folder = FOLDER.get_or_init(|| TempDir::new().expect("a folder for the model"));
    let path = folder.path().join("model.onnx");
    std::fs::write(&path, bytes).expect("a model file");
    if let Err(ImportError::Refused { refusals, .. }) = convert(&path, Options::default()) {
        assert!(refusals.iter().all(|refusal| !refusal.reason.is_empty()));
    }
});
