// SPDX-License-Identifier: Apache-2.0
//! Kernel plans that were selected by measurements.

use super::{Cache, PLANS, open};
use std::io::{Error, ErrorKind, Read};

/// The first line of a file.
const TITLE: &str = "skript plans";

/// Maximum number of bytes that are read from a file.
const MAX_BYTES: u64 = 1 << 20;

impl Cache {
    /// The plans under `key`; `None` if the file does not exist or was not written by [`Cache::put_plans`].
    pub fn plans(&self, key: &str) -> Option<String> {
        let mut text = String::new();
        let file = open(&self.plans_path(key)).ok()?;
        file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
        let mut lines = text.lines();
        let is_valid = lines.next() == Some(TITLE) && lines.next() == Some(key);
        let plans = lines.next().filter(|plans| is_valid && are_plans(plans))?;
        // A truncated file lacks its last line.
        (text.ends_with('\n') && lines.next().is_none()).then(|| plans.to_owned())
    }

    /// Keeps plans as a list of `KEY:NUMBER`, separated by commas, under `key` atomically; an empty list removes them.
    ///
    /// # Errors
    /// The system's error, and [`ErrorKind::InvalidInput`] if `plans` is not such a list.
    pub fn put_plans(&self, key: &str, plans: &str) -> std::io::Result<()> {
        let path = self.plans_path(key);
        if plans.is_empty() {
            return match std::fs::remove_file(path) {
                Err(e) if e.kind() != ErrorKind::NotFound => Err(e),
                _ => Ok(()),
            };
        }
        if !are_plans(plans) {
            let text = "plans are KEY:NUMBER, separated by commas, with keys of 12 hexadecimal digits";
            return Err(Error::new(ErrorKind::InvalidInput, text));
        }
        self.write(&path, &[format!("{TITLE}\n{key}\n{plans}\n").as_bytes()])
    }

    fn plans_path(&self, key: &str) -> std::path::PathBuf {
        self.folder.join(format!("{key}.{PLANS}"))
    }
}

/// Whether a text is a list of plans.
fn are_plans(text: &str) -> bool {
    text.split(',').all(|item| {
        item.split_once(':').is_some_and(|(key, number)| {
            let is_key = key.len() == 12 && key.bytes().all(|b| b.is_ascii_hexdigit());
            is_key && number.parse::<u8>().is_ok()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_plans_are_absent() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::in_folder(&folder.path().join("skript"));
        let plans = "0123456789ab:1,ffffffffffff:7";
        assert_eq!(cache.plans("k"), None);
        cache.put_plans("k", plans).unwrap();
        assert_eq!(cache.plans("k").as_deref(), Some(plans));
        let path = cache.plans_path("k");
        let whole = std::fs::read_to_string(&path).unwrap();
        let damaged = [
            whole.replace("k\n", "j\n"),
            whole.replace("ab:1", "ab:1} x{"),
            whole.trim_end().to_owned(),
            whole[..whole.len() / 2].to_owned(),
            String::new(),
        ];
        for text in damaged {
            std::fs::write(&path, &text).unwrap();
            assert_eq!(cache.plans("k"), None, "{text}");
        }
        assert!(cache.put_plans("k", "0123456789ab:1,x").is_err());
        cache.put_plans("k", plans).unwrap();
        cache.put_plans("k", "").unwrap();
        cache.put_plans("k", "").unwrap();
        assert!(!path.exists());
    }
}
