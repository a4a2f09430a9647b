// SPDX-License-Identifier: Apache-2.0
//! The passes and pipelines that this process registered with MLIR, whose registry is global as well.

use crate::pass::PassOption;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Passes and pipelines by flag.
#[derive(Debug, Default)]
pub(crate) struct Registered {
    passes: BTreeMap<String, Entry>,
    pipelines: BTreeMap<String, Entry>,
}

#[derive(Debug)]
struct Entry {
    summary: String,
    options: &'static [PassOption],
}

/// The passes and pipelines registered so far.
pub(crate) fn registered() -> MutexGuard<'static, Registered> {
    static REGISTERED: LazyLock<Mutex<Registered>> = LazyLock::new(Mutex::default);
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Registered {
    /// Adds a pass; false if the flag was registered before.
    pub(crate) fn add_pass(&mut self, flag: &str, summary: &str, options: &'static [PassOption]) -> bool {
        let summary = summary.to_owned();
        let is_new = !self.has(flag);
        if is_new {
            let entry = Entry { summary, options };
            self.passes.insert(flag.to_owned(), entry);
        }
        is_new
    }

    /// Adds a pipeline; false if the flag was registered before.
    pub(crate) fn add_pipeline(&mut self, flag: &str, summary: &str) -> bool {
        let summary = summary.to_owned();
        let is_new = !self.has(flag);
        if is_new {
            let options = &[];
            self.pipelines.insert(flag.to_owned(), Entry { summary, options });
        }
        is_new
    }

    fn has(&self, flag: &str) -> bool {
        self.passes.contains_key(flag) || self.pipelines.contains_key(flag)
    }

    /// The groups of `--help`: all passes and all pipelines, in the order of their flags.
    pub(crate) fn help(&self) -> String {
        let groups = [("Passes of SkriptND", &self.passes), ("Pipelines of SkriptND", &self.pipelines)];
        let mut text = String::new();
        for (title, entries) in groups.iter().filter(|(_, entries)| !entries.is_empty()) {
            let _ = write!(text, "\n{title}:\n\n");
            let rows: Vec<_> = entries.iter().flat_map(|(flag, e)| rows(flag, e)).collect();
            let width = rows.iter().map(|(name, _)| name.len()).fold(0, usize::max);
            for (name, summary) in rows {
                let _ = writeln!(text, "{name:width$} - {summary}");
            }
        }
        text
    }
}

/// A row for the flag, then one for each option.
fn rows(flag: &str, entry: &Entry) -> Vec<(String, String)> {
    let pass = (format!("  --{flag}"), entry.summary.clone());
    let options = entry.options.iter().map(|option| {
        let summary = match option.default {
            "" => option.summary.to_owned(),
            default => format!("{} (default: {default})", option.summary),
        };
        (format!("    --{}=<value>", option.name), summary)
    });
    std::iter::once(pass).chain(options).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: &[PassOption] = &[
        PassOption { name: "most", summary: "how many", default: "8" },
        PassOption { name: "of", summary: "which", default: "" },
    ];

    #[test]
    fn groups_are_sorted_and_aligned() {
        let mut registered = Registered::default();
        assert!(registered.add_pass("b", "second", OPTIONS));
        assert!(registered.add_pass("a", "first", &[]));
        assert!(registered.add_pipeline("c", "all"));
        let expected = "
Passes of SkriptND:

  --a              - first
  --b              - second
    --most=<value> - how many (default: 8)
    --of=<value>   - which

Pipelines of SkriptND:

  --c - all
";
        assert_eq!(registered.help(), expected);
    }

    #[test]
    fn a_flag_is_registered_once() {
        let mut registered = Registered::default();
        assert!(registered.add_pass("a", "first", &[]));
        assert!(!registered.add_pass("a", "again", &[]));
        assert!(!registered.add_pipeline("a", "again"));
        assert!(!registered.help().contains("again"));
    }

    #[test]
    fn nothing_registered_has_no_groups() {
        assert_eq!(Registered::default().help(), "");
    }
}
