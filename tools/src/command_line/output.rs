// SPDX-License-Identifier: Apache-2.0
//! The file that `skript compile` writes, and the format that its extension selects.

use std::path::Path;

use clap::ValueEnum as _;

use super::{CompileArguments, EmitName};
use crate::target_arguments::Kind;

impl CompileArguments {
    /// The model to compile; empty if the command does not need one.
    pub fn model(&self) -> &Path {
        self.model.as_deref().unwrap_or(Path::new(""))
    }

    /// The file to write.
    pub fn output(&self) -> Option<&Path> {
        self.output
            .as_deref()
            .filter(|path| *path != Path::new("-"))
    }

    /// The output format.
    pub fn emit(&self) -> EmitName {
        let named = || self.extension().and_then(emitted_as);
        let usual = match self.target.target {
            Kind::Cpu => EmitName::Artifact,
            Kind::Triple(_) => EmitName::Obj,
            Kind::Nvptx64 | Kind::Amdgcn => EmitName::Asm,
            Kind::Vulkan => EmitName::Obj,
        };
        self.emit.or_else(named).unwrap_or(usual)
    }

    /// Why the extension of the output file does not determine the format, or contradicts `--emit`.
    pub fn wrong_extension(&self) -> Option<String> {
        let path = self.output()?;
        let extension = self.extension();
        let format = extension.and_then(emitted_as);
        match (self.emit, extension) {
            (None, None) => Some(format!(
                "the extension of `{}`, which selects the format, is missing",
                path.display()
            )),
            (None, Some(extension)) if format.is_none() => {
                Some(format!("the extension `.{extension}` is not known"))
            }
            (Some(emit), Some(extension)) if format.is_some_and(|format| !emit.fits(format)) => {
                let name = emit.to_possible_value();
                let name = name.as_ref().map_or("", |name| name.get_name());
                Some(format!(
                    "the extension `.{extension}` is that of another format than --emit={name}"
                ))
            }
            _ => None,
        }
    }

    fn extension(&self) -> Option<&str> {
        let extension = self.output().and_then(Path::extension)?;
        Some(extension.to_str().unwrap_or("?"))
    }
}

impl EmitName {
    /// Whether files of this format may have the extension of `format`.
    fn fits(self, format: EmitName) -> bool {
        self == format || (self == EmitName::LlvmUnoptimized && format == EmitName::Llvm)
    }
}

/// The format of a file with this extension.
fn emitted_as(extension: &str) -> Option<EmitName> {
    match extension {
        "skm" => Some(EmitName::Artifact),
        "so" => Some(EmitName::So),
        "o" | "spv" => Some(EmitName::Obj),
        "s" | "ptx" => Some(EmitName::Asm),
        "ll" => Some(EmitName::Llvm),
        _ => None,
    }
}
