// SPDX-License-Identifier: Apache-2.0
//! `skript cache`: lists and removes cached compiled models.

use std::time::Duration;

use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{OUTPUT, UNREADABLE};
use skript_runtime::cache::{Cache, Entry};

use crate::command_line::{CacheAction, CacheArguments, MessageFormat};
use crate::console::{Console, Status};
use crate::session::say;

pub fn run(arguments: &CacheArguments, console: &mut Console) -> Status {
    let Some(cache) = Cache::of_user() else {
        let text = "there is no cache: neither XDG_CACHE_HOME nor HOME is an absolute path";
        let error = Diagnostic::without_location(&UNREADABLE, text);
        say(error, MessageFormat::Human, console);
        return Status::Wrong;
    };
    let done = match &arguments.action {
        None => list(&cache),
        Some(CacheAction::Clean { older_than }) => clean(&cache, *older_than),
    };
    match done {
        Ok(text) => {
            crate::stdout::print(&text);
            Status::Done
        }
        Err(error) => {
            say(*error, MessageFormat::Human, console);
            Status::Wrong
        }
    }
}

fn list(cache: &Cache) -> Result<String, Box<Diagnostic>> {
    let entries = cache.entries().map_err(|e| {
        let text = format!("cannot read {}: {e}", cache.folder().display());
        Box::new(Diagnostic::without_location(&UNREADABLE, text))
    })?;
    let folder = cache.folder().to_string_lossy();
    let folder = skript_host::printable(&folder);
    Ok(format!("folder   {folder}\nentries  {}\n", sized(&entries)))
}

/// Removes the entries that are at least `days` days old, or all entries if `days` is `None`.
fn clean(cache: &Cache, days: Option<u64>) -> Result<String, Box<Diagnostic>> {
    let age = days.map(|days| Duration::from_secs(days.saturating_mul(24 * 60 * 60)));
    let removed = cache.remove(|entry| age.is_none_or(|age| entry.is_older_than(age)));
    let removed = removed.map_err(|e| {
        let text = format!("cannot clean {}: {e}", cache.folder().display());
        Box::new(Diagnostic::without_location(&OUTPUT, text))
    })?;
    Ok(format!("removed  {}\n", sized(&removed)))
}

/// The number and size of entries: `3, 1.5 MB`.
fn sized(entries: &[Entry]) -> String {
    let bytes: u64 = entries.iter().map(|e| e.bytes).sum();
    format!("{}, {:.1} MB", entries.len(), bytes as f64 / 1e6)
}
