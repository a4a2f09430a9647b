// SPDX-License-Identifier: Apache-2.0
//! Checks the rules of the source tree: `cargo run -p skript-tidy`, from any folder of the project.
//!
//! `… -- status` prints docs/status.md instead, and `… -- wording` prints tidy/wording.txt.
//! Each rule is a function from the tree to complaints. The program prints all complaints, one per line; the exit status is
//! 1 if there are any.

mod cycles;
mod dependencies;
mod diagnostics;
mod documents;
mod files;
mod licenses;
mod modules;
mod operators;
mod passes;
mod statements;
mod tree;
mod wording;
mod words;

use std::process::ExitCode;

fn main() -> ExitCode {
    let tree = match tree::Tree::of_project() {
        Ok(tree) => tree,
        Err(problem) => {
            eprintln!("tidy: {problem}");
            return ExitCode::from(2);
        }
    };
    let document = match std::env::args().nth(1).as_deref() {
        Some("status") => Some(statements::document(&tree)),
        Some("wording") => Some(wording::document(&tree)),
        _ => None,
    };
    if let Some(document) = document {
        print!("{document}");
        return ExitCode::SUCCESS;
    }
    let mut complaints = Vec::new();
    complaints.extend(cycles::check(&tree));
    complaints.extend(dependencies::check(&tree));
    complaints.extend(documents::check(&tree));
    complaints.extend(diagnostics::check(&tree));
    complaints.extend(files::check(&tree));
    complaints.extend(licenses::check(&tree));
    complaints.extend(modules::check(&tree));
    complaints.extend(operators::check(&tree));
    complaints.extend(passes::check(&tree));
    complaints.extend(statements::check(&tree));
    complaints.extend(wording::check(&tree));
    complaints.extend(words::check(&tree));
    for complaint in &complaints {
        println!("{complaint}");
    }
    println!("tidy: {} files read, {} complaints", tree.files.len(), complaints.len());
    ExitCode::from(u8::from(!complaints.is_empty()))
}
