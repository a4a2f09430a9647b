// SPDX-License-Identifier: Apache-2.0
//! Embeds `stdlib/*.sknd` and `stdlib/khronos/*.sknd` as tables in the order of their names, and declares a constant for
//! each Markdown file of `src/diagnostics/codes`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = |name: &str| {
        let value = env::var_os(name).map(PathBuf::from);
        value.ok_or_else(|| io::Error::other(format!("{name} is not set")))
    };
    let (root, out) = (folder("CARGO_MANIFEST_DIR")?, folder("OUT_DIR")?);
    fs::write(out.join("library.rs"), library(&root)?)?;
    fs::write(out.join("codes.rs"), codes(&root)?)
}

fn library(root: &Path) -> io::Result<String> {
    let mut code = String::new();
    for (table, folder) in [("MODULES", "stdlib"), ("KHRONOS", "stdlib/khronos")] {
        println!("cargo:rerun-if-changed={folder}");
        let _ = writeln!(code, "/// The files of one folder of the library, by module.");
        let _ = writeln!(code, "pub static {table}: &[Embedded] = &[");
        for name in names(&root.join(folder), "sknd")? {
            println!("cargo:rerun-if-changed={folder}/{name}.sknd");
            let _ = writeln!(
                code,
                "    Embedded {{ name: {name:?}, path: \"<{folder}>/{name}.sknd\", \
                 text: include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{folder}/{name}.sknd\")) }},"
            );
        }
        code.push_str("];\n");
    }
    Ok(code)
}

/// A constant for each diagnostic, named after its file, and the list of all of them.
fn codes(root: &Path) -> io::Result<String> {
    const FOLDER: &str = "src/diagnostics/codes";
    println!("cargo:rerun-if-changed={FOLDER}");
    let (mut code, mut all) = (String::new(), String::new());
    let mut last = String::new();
    for name in names(&root.join(FOLDER), "md")? {
        let text = fs::read_to_string(root.join(FOLDER).join(format!("{name}.md")))?;
        let parts = parts(&text).filter(|(id, ..)| name.starts_with(&format!("{}_", id.to_lowercase())));
        let Some((id, title, explanation)) = parts else {
            let message =
                "expected `# ID: title` with the id of the file's name, an explanation and `## Tests`";
            return Err(io::Error::other(format!("{FOLDER}/{name}.md: {message}")));
        };
        if id == last {
            return Err(io::Error::other(format!("{FOLDER}/{name}.md: another file has the id {id}")));
        }
        last = id.to_owned();
        let constant = name.split_at(id.len() + 1).1.to_uppercase();
        let _ = writeln!(
            code,
            "/// {id}: {title}.\npub static {constant}: Code = \
             Code {{ id: {id:?}, title: {title:?}, explanation: {explanation:?} }};"
        );
        let _ = write!(all, "&{constant}, ");
    }
    let _ = writeln!(code, "/// All codes, in order of their ids.\npub const ALL: &[&Code] = &[{all}];");
    Ok(code)
}

/// Id, title and explanation of a diagnostic's file.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (text, _tests) = text.split_once("\n## Tests\n")?;
    let (heading, explanation) = text.split_once('\n')?;
    let (id, title) = heading.strip_prefix("# ")?.split_once(": ")?;
    Some((id, title, explanation.trim_matches('\n')))
}

/// The stems of the files of a folder with this extension, sorted.
fn names(folder: &Path, extension: &str) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|e| e == extension)
                && let Some(stem) = path.file_stem().and_then(|s| s.to_str())
            {
                names.push(stem.to_string());
            }
        }
    }
    names.sort();
    Ok(names)
}
