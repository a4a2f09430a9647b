// SPDX-License-Identifier: Apache-2.0
//! The output file of `skript compile`, and the format that its extension selects.

use std::path::Path;

use clap::ValueEnum as _;

use super::{CompileArguments, EmitName};
use crate::target_arguments::Kind;
use skript_passes::target::Language;

impl CompileArguments {
    /// The model to compile; empty if the command does not need one.
    pub fn model(&self) -> &Path {
        self.model.as_deref().unwrap_or(Path::new(""))
    }

    /// The file to write.
    pub fn output(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| *path != Path::new("-"))
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

    /// The message if the extension of the output file does not determine the format, or contradicts `--emit`.
    pub fn wrong_extension(&self) -> Option<String> {
        let path = self.output()?;
        let extension = self.extension();
        let format = extension.and_then(emitted_as);
        match (self.emit, extension) {
            (None, None) => {
                Some(format!("the extension of `{}`, which selects the format, is missing", path.display()))
            }
            (None, Some(extension)) if format.is_none() => {
                Some(format!("the extension `.{extension}` is not known"))
            }
            (Some(emit), Some(extension)) if format.is_some_and(|format| !emit.fits(format)) => {
                let name = emit.to_possible_value();
                let name = name.as_ref().map_or("", |name| name.get_name());
                Some(format!("the extension `.{extension}` is that of another format than --emit={name}"))
            }
            (_, Some(extension)) => self.extension_of_another_target(extension),
            _ => None,
        }
    }

    /// The message if the target has no files with this extension.
    fn extension_of_another_target(&self, extension: &str) -> Option<String> {
        let all = ["skm", "so", "o", "s", "ptx", "spv"];
        let target = self.target.target();
        let (name, supported) = match target.gpu.map(|gpu| gpu.language) {
            None if target.is_freestanding() => (target.code.triple.as_str(), &["o", "s"][..]),
            None => (target.code.triple.as_str(), &["skm", "so", "o", "s"][..]),
            Some(Language::Ptx) => ("GPUs with PTX", &["skm", "ptx", "s"][..]),
            Some(Language::SpirV) => ("GPUs with Vulkan", &["skm", "spv", "s"][..]),
            // The runtime does not launch kernels on AMD GPUs.
            Some(Language::Amdgcn) => ("AMD's GPUs", &["s"][..]),
        };
        // Shared objects for GPUs are rejected independently of their names.
        let is_shared = target.gpu.is_some() && extension == "so";
        let is_other = all.contains(&extension) && !supported.contains(&extension) && !is_shared;
        is_other.then(|| {
            let supported: Vec<String> =
                supported.iter().map(|supported| format!("`.{supported}`")).collect();
            let supported = supported.join(", ");
            format!("there are no `.{extension}` files for {name}: there are {supported}")
        })
    }

    /// The message for a flag that applies only to code of processors, if only kernels of a GPU are written.
    pub fn unused_flag(&self) -> Option<String> {
        let flag = self.target.flag_of_processors()?;
        let has_kernels_alone =
            self.target.target().gpu.is_some() && matches!(self.emit(), EmitName::Asm | EmitName::Obj);
        has_kernels_alone.then(|| format!("{flag} applies to CPU code, but only GPU kernels are written"))
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
        "c" => Some(EmitName::C),
        _ => None,
    }
}
