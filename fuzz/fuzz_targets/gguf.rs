// SPDX-License-Identifier: Apache-2.0
//! Any bytes are imported as a language model in a GGUF file or refused with a reason: `cargo +nightly fuzz run gguf`. The first byte
//! selects how keys and values are cached.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use skript_frontend::diagnostics::Sink;
use skript_frontend::limits::Limits;
use skript_frontend::source::SourceMap;
use skript_frontend::syntax::parse_module;
use skript_import::{Activations, GgufCache, GgufOptions, ImportError, convert_gguf};
use tempfile::TempDir;

/// The folder of the file.
static FOLDER: OnceLock<TempDir> = OnceLock::new();

fuzz_target!(|bytes: &[u8]| {
    let Some((cache, bytes)) = bytes.split_first() else {
        return;
    };
    let path =
        FOLDER.get_or_init(|| TempDir::new().expect("a folder for the file")).path().join("model.gguf");
    std::fs::write(&path, bytes).expect("a file");
    let activations = [Activations::Real, Activations::Int8][usize::from(cache / 3 % 2)];
    let cache = [GgufCache::None, GgufCache::Variables, GgufCache::Arrays][usize::from(cache % 3)];
    match convert_gguf(&path, GgufOptions { context: None, cache, activations }) {
        Ok(imported) => {
            let mut sources = SourceMap::default();
            let file = sources.add("main.sknd", imported.main.as_str());
            let mut sink = Sink::default();
            parse_module(file, &imported.main, "main", &Limits::default(), &mut sink);
            assert!(!sink.has_errors(), "the document is not valid");
        }
        Err(ImportError::Refused { refusals, .. }) => {
            assert!(!refusals.is_empty());
            assert!(refusals.iter().all(|refusal| !refusal.reason.is_empty()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
