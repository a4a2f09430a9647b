// SPDX-License-Identifier: Apache-2.0
//! Measurements of a run: times, memory, and the machine's peak rates.

pub mod bandwidth;
pub mod peak;

use std::path::Path;

use skript_frontend::diagnostics::Diagnostic;

use crate::engine::RunCost;
use crate::written::write;

/// The peak memory of this process in bytes; `None` if the system does not report it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// Writes the measurements of a run as JSON.
///
/// # Errors
/// A diagnostic if the file cannot be written.
pub fn write_stats(path: &Path, spent: &RunCost) -> Result<(), Box<Diagnostic>> {
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
/// A diagnostic if the file cannot be written.
pub fn write_json(path: &Path, value: &serde_json::Value) -> Result<(), Box<Diagnostic>> {
    write(path, &[format!("{value:#}\n").as_bytes()])
}

/// Formats a time in the largest unit in which it is at least 1, as in `12.3 µs`; the number takes `width` columns.
pub fn duration_text(duration: std::time::Duration, width: usize) -> String {
    let nanoseconds = duration.as_secs_f64() * 1e9;
    let (value, unit) = match nanoseconds {
        n if n >= 1e6 => (n / 1e6, "ms"),
        n if n >= 1e3 => (n / 1e3, "µs"),
        n => (n, "ns"),
    };
    format!("{value:width$.3} {unit}")
}

pub fn milliseconds(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn short_times_have_small_units() {
        let text = |nanoseconds| duration_text(Duration::from_nanos(nanoseconds), 9);
        assert_eq!(text(12_345_678), "   12.346 ms");
        assert_eq!(text(1_000_000), "    1.000 ms");
        assert_eq!(text(12_345), "   12.345 µs");
        assert_eq!(text(345), "  345.000 ns");
        assert_eq!(text(0), "    0.000 ns");
    }
}
