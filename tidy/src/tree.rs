// SPDX-License-Identifier: Apache-2.0
//! The project's files: tracked files, and new files that git does not ignore.

use std::path::{Path, PathBuf};
use std::process::Command;

/// One text file of the project.
pub struct File {
    /// Relative to the root, with `/`.
    pub path: String,
    pub text: String,
}

pub struct Tree {
    pub files: Vec<File>,
}

impl Tree {
    /// Reads all tracked and new text files below the workspace root.
    pub fn of_project() -> Result<Tree, String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .map(PathBuf::from)
            .ok_or("no folder above tidy/")?;
        let listing = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&root)
            .output()
            .map_err(|e| format!("cannot run git: {e}"))?;
        if !listing.status.success() {
            return Err(String::from_utf8_lossy(&listing.stderr).into_owned());
        }
        let mut files = Vec::new();
        for path in String::from_utf8_lossy(&listing.stdout).split('\0') {
            if let Ok(text) = std::fs::read_to_string(root.join(path)) {
                files.push(File { path: path.to_string(), text });
            }
        }
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Tree { files })
    }

    pub fn has(&self, path: &str) -> bool {
        self.file(path).is_some()
    }

    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|f| f.path == path)
    }

    /// Files whose names have one of these endings.
    pub fn ending<'a>(&'a self, endings: &'a [&str]) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |f| endings.iter().any(|e| f.path.ends_with(e)))
    }
}

/// The text before the unit tests at the end of a Rust file.
pub fn without_tests(text: &str) -> &str {
    text.split_once("#[cfg(test)]").map_or(text, |(code, _)| code)
}

/// Whether the line contains only a comment.
pub fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with("//")
}
