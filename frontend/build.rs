// SPDX-License-Identifier: Apache-2.0
//! Embeds whatever `stdlib/*.sknd` and `stdlib/khronos/*.sknd` there are, as tables in the order of their names.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut code = String::new();
    for (table, folder) in [("MODULES", "stdlib"), ("KHRONOS", "stdlib/khronos")] {
        println!("cargo:rerun-if-changed={folder}");
        let _ = writeln!(code, "/// The files of one folder of the library, by module.");
        let _ = writeln!(code, "pub static {table}: &[Embedded] = &[");
        for name in names(&root.join(folder))? {
            println!("cargo:rerun-if-changed={folder}/{name}.sknd");
            let _ = writeln!(
                code,
                "    Embedded {{ name: {name:?}, path: \"<{folder}>/{name}.sknd\", \
                 text: include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{folder}/{name}.sknd\")) }},"
            );
        }
        code.push_str("];\n");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("library.rs"), code)
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if let (Some("sknd"), Some(stem)) =
                (path.extension().and_then(|e| e.to_str()), path.file_stem().and_then(|s| s.to_str()))
            {
                names.push(stem.to_string());
            }
        }
    }
    names.sort();
    Ok(names)
}
