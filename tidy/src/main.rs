// SPDX-License-Identifier: Apache-2.0
//! Checks the house rules: `cargo run -p skript-tidy`, from anywhere in the project.
//!
//! `… -- status` prints docs/status.md instead.
//! Each rule is a function from the tree to complaints; all complaints are printed, one a line, and any makes exit 1.

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
    if std::env::args().nth(1).as_deref() == Some("status") {
        print!("{}", statements::document(&tree));
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
    complaints.extend(words::check(&tree));
    for complaint in &complaints {
        println!("{complaint}");
    }
    println!("tidy: {} files read, {} complaints", tree.files.len(), complaints.len());
    ExitCode::from(u8::from(!complaints.is_empty()))
}
