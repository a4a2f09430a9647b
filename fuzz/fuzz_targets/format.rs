// SPDX-License-Identifier: Apache-2.0
//! Formatted text is valid, and formatting it again changes nothing: `cargo +nightly fuzz run format`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skript_frontend::diagnostics::Sink;
use skript_frontend::format::format;
use skript_frontend::limits::Limits;
use skript_frontend::source::SourceMap;

fn formatted(text: &str) -> Option<String> {
    let mut sources = SourceMap::default();
    let file = sources.add("main.sknd", text);
    let mut sink = Sink::default();
    let result = format(file, text, &Limits::default(), &mut sink);
    assert!(result.is_some() || sink.has_errors(), "refused without a reason");
    result
}

fuzz_target!(|text: &str| {
    if let Some(once) = formatted(text) {
        assert_eq!(formatted(&once).as_deref(), Some(once.as_str()));
    }
});
