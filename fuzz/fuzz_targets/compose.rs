// SPDX-License-Identifier: Apache-2.0
//! Any text is checked and composed, or refused with a reason: `cargo +nightly fuzz run compose`.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use skript_frontend::check::check_program;
use skript_frontend::compose::{ComposeOptions, compose};
use skript_frontend::diagnostics::Sink;
use skript_frontend::limits::Limits;
use skript_frontend::source_files::load_text;

fuzz_target!(|text: &str| {
    let limits = Limits {
        pack_length: 1 << 10,
        instances: 1 << 8,
        invocations: 1 << 10,
        unrolled: 1 << 8,
        constant_elements: 1 << 10,
        ..Limits::default()
    };
    let mut sink = Sink::default();
    let program = load_text(text, Path::new("main.sknd"), None, &limits, &mut sink);
    check_program(&program, &mut sink);
    if sink.has_errors() {
        return;
    }
    let model = compose(&program, &ComposeOptions::default(), &limits, &mut sink);
    assert!(
        model.is_some() || sink.has_errors(),
        "refused without a reason"
    );
    assert!(sink.diagnostics().iter().all(|d| d.code.id != "SK9199"));
});
