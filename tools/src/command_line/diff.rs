// SPDX-License-Identifier: Apache-2.0
//! The arguments of `skript diff`.

use super::ModelArguments;
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct DiffArguments {
    /// Model folder with a main.sknd, the same packed as .tgz, a single file, or an ONNX model
    pub first: PathBuf,
    /// The model to compare with it
    pub second: PathBuf,
    #[command(flatten)]
    pub reading: ModelArguments,
    /// Do not read weights: only their names and types are compared
    #[arg(long)]
    pub no_weights: bool,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Write a page that shows the second model as a graph, with the boxes that differ marked
    #[arg(long, value_name = "FILE.html", value_parser = page)]
    pub html: Option<PathBuf>,
}

/// The file of a page. Standard output has the differences.
fn page(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => Err("stdout has the differences as text: name a file".to_owned()),
        path if path.ends_with(".html") || path.ends_with(".htm") => Ok(PathBuf::from(path)),
        _ => Err("the extension of a page is .html".to_owned()),
    }
}
