// SPDX-License-Identifier: Apache-2.0
//! Documents for tests of single diagnostics.

use super::parse_module;
use crate::diagnostics::Sink;
use crate::limits::Limits;
use crate::source::SourceMap;

/// Ids of all messages about a file, in source order.
pub(crate) fn codes(text: &str) -> Vec<&'static str> {
    let mut sources = SourceMap::default();
    let file = sources.add("main.sknd", text);
    let mut sink = Sink::default();
    parse_module(file, text, "main", &Limits::default(), &mut sink);
    sink.into_sorted().iter().map(|d| d.code.id).collect()
}
