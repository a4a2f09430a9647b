// SPDX-License-Identifier: Apache-2.0
//! Costs of a run: times, memory, arithmetic operations.

pub mod peak;

use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::OUTPUT;

use crate::engine::Spent;

/// The most memory that this process held at once, in bytes; `None` where the system does not tell.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Writes a run's figures.
///
/// # Errors
/// The system's, as a diagnostic.
pub fn write_stats(path: &Path, spent: &Spent) -> Result<(), Box<Diagnostic>> {
    write_json(
        path,
        &serde_json::json!({
            "compile_ms": milliseconds(spent.compile),
            "cached": spent.cached,
            "run_ms": milliseconds(spent.run),
            "arena_bytes": spent.arena,
            "peak_bytes": peak_memory(),
        }),
    )
}

/// Writes one JSON object.
///
/// # Errors
/// The system's, as a diagnostic.
pub fn write_json(path: &Path, value: &serde_json::Value) -> Result<(), Box<Diagnostic>> {
    std::fs::write(path, format!("{value:#}\n")).map_err(|error| {
        let message = format!("{}: {error}", path.display());
        Box::new(Diagnostic::without_place(&OUTPUT, message))
    })
}

pub fn milliseconds(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
