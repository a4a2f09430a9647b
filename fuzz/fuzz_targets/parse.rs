// SPDX-License-Identifier: Apache-2.0
//! Any text is parsed or refused: `cargo +nightly fuzz run parse`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skript_frontend::diagnostics::Sink;
use skript_frontend::limits::Limits;
use skript_frontend::source::SourceMap;
use skript_frontend::syntax::parse_module;

fuzz_target!(|text: &str| {
    let mut sources = SourceMap::default();
    let file = sources.add("main.sknd", text);
    let mut sink = Sink::default();
    let module = parse_module(file, text, "main", &Limits::default(), &mut sink);
    // Reported ranges are inside of the text.
    let size = u32::try_from(text.len()).unwrap_or(u32::MAX);
    for diagnostic in sink.diagnostics() {
        assert!(
            diagnostic
                .span
                .is_none_or(|s| s.start <= s.end && s.end <= size)
        );
    }
    drop(module);
});
