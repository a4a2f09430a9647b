// SPDX-License-Identifier: Apache-2.0
//! Writes the embedded library to files, so that an editor can open the definitions of its operators.

use std::path::{Path, PathBuf};

/// Writes the library module's text to a file below the user's cache folder. `None` if the file cannot be written.
pub(crate) fn file_of(shown: &Path, text: &str) -> Option<PathBuf> {
    // Converts `<stdlib>/nn.sknd` and `<stdlib/khronos>/nn.sknd` to file names.
    let name = shown.to_string_lossy().replace(['<', '>'], "").replace('/', "-");
    let folder = cache()?.join(format!("library-{}", env!("CARGO_PKG_VERSION")));
    std::fs::create_dir_all(&folder).ok()?;
    let path = folder.join(name);
    let old = skript_host::file::read(&path, text.len() as u64);
    if !old.is_ok_and(|old| old == text.as_bytes()) {
        std::fs::write(&path, text).ok()?;
    }
    Some(path)
}

fn cache() -> Option<PathBuf> {
    let named = |name: &str| {
        let value = std::env::var_os(name).filter(|v| !v.is_empty())?;
        Some(PathBuf::from(value))
    };
    let base = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    Some(base?.join("skript"))
}
