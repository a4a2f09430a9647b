// SPDX-License-Identifier: Apache-2.0
//! Files for the embedded library, so that an editor can show where its operators are defined.

use std::path::{Path, PathBuf};

/// A file with the library module's text, below the user's cache folder. `None` if it cannot be written.
pub(crate) fn file_of(shown: &Path, text: &str) -> Option<PathBuf> {
    // `<stdlib>/nn.sknd`, `<stdlib/khronos>/nn.sknd`
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
