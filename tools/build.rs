// SPDX-License-Identifier: Apache-2.0
//! Passes the commit to `skript --version`; `unknown` outside of a clone.

use std::process::Command;

fn main() {
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(done.stdout).ok()?;
        (done.status.success() && !text.is_empty()).then(|| text.trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    println!("cargo:rustc-env=SKRIPT_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
    // The commit changes when these files change. A missing path would rerun this script in every build.
    for file in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", file])
            && std::path::Path::new(&path).exists()
        {
            println!("cargo:rerun-if-changed={path}");
        }
    }
}
