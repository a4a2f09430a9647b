// SPDX-License-Identifier: Apache-2.0
//! The record of a run, with which `skript` repeats the run without the driver.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use skript::{CacheEntry, Model};
use skript_frontend::model::PortTensors;
use skript_frontend::program::Origin as From;
use skript_import::Origin as Imported;
use skript_runtime::cache::{Cache, Content, RunRecord};
use skript_runtime::files;
use skript_runtime::{Artifact, Program};
use skript_tensor::ElementType;

use super::Session;
use crate::command_line::{EngineName, InputArgument, RunArguments, WeightsArguments};
use crate::onnx_model::IMPORT_FILE;
use crate::outputs;
use crate::start_command::Command;

/// Maximum size of `import.json` in bytes.
const MAX_IMPORT_BYTES: u64 = 1 << 26;

impl Session<'_> {
    /// Keeps a record of this successful run under `key`, if the record suffices to repeat it. Errors in writing the
    /// cache are ignored.
    pub fn keep_record(
        &self,
        key: &str,
        arguments: &RunArguments,
        model: &Model,
        kept: &(CacheEntry, Program),
    ) {
        let record = self.record(arguments, model, kept);
        if let (Some(record), Some(cache)) = (record, Cache::of_user()) {
            let _ = cache.put_run(key, &record);
        }
    }

    fn record(
        &self,
        arguments: &RunArguments,
        model: &Model,
        kept: &(CacheEntry, Program),
    ) -> Option<RunRecord> {
        let has_notes = self.arguments.verbose && !self.notes.is_empty();
        let is_silent = self.sink.diagnostics().is_empty() && !has_notes;
        let is_folder = !(self.document.is_packed() || self.document.is_in_memory());
        if !(is_silent && is_folder && is_plain(arguments)) {
            return None;
        }
        let artifact = kept.1.artifact();
        if !has_variables(artifact, model) {
            return None;
        }
        let (files, absent) = self.files()?;
        Some(RunRecord {
            code: kept.0.key.clone(),
            plans: kept.0.plans.clone(),
            folder: self.document.program().folder.clone(),
            stem: self.document.program().main.clone(),
            unpacked_bytes: self.unpacked_bytes(),
            files,
            absent,
            inputs: self.inputs(arguments, model, artifact)?,
            outputs: self.outputs(model, artifact)?,
            declared: self.declared(artifact),
        })
    }

    /// The files that were read, the main module first, and the missing files that would have been read.
    fn files(&self) -> Option<(Vec<Content>, Vec<PathBuf>)> {
        let program = self.document.program();
        let (mut read, mut absent) = (Vec::new(), Vec::new());
        let is_imported = |key: &&String| program.origin(key) == From::Model && **key != program.main;
        for key in std::iter::once(&program.main).chain(program.modules.keys().filter(is_imported)) {
            let file = program.sources.get(program.modules.get(key)?.file)?;
            read.push(Content::new(&file.path, file.text.as_bytes()));
        }
        // A file in the model's folder would take precedence over the module of the library.
        for ((_, name), key) in &program.imports {
            if program.origin(key) == From::Library {
                let mut file = program.folder.clone();
                file.extend(name.split('.'));
                file.set_extension("sknd");
                if !exists(&file) {
                    absent.push(file);
                } else if !read.iter().any(|content| content.path == file) {
                    return None;
                }
            }
        }
        absent.sort();
        absent.dedup();
        let import = program.folder.join(IMPORT_FILE);
        let origin = self.document.origin();
        match skript_host::file::read_within(&import, &program.folder, MAX_IMPORT_BYTES) {
            // The file may have been replaced since it was read.
            Ok(bytes) if Imported::from_json(&bytes).as_ref() == origin => {
                read.push(Content::new(&import, &bytes));
            }
            Err(_) if !exists(&import) && origin.is_none() => absent.push(import),
            _ => return None,
        }
        Some((read, absent))
    }

    /// The position of each input of the command line among the inputs of the code.
    fn inputs(&self, arguments: &RunArguments, model: &Model, artifact: &Artifact) -> Option<Vec<u32>> {
        // `skript` must parse the same inputs and output folder from the command line.
        let words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let command = Command::parse(&words)?;
        let matches_given = |(argument, (name, file)): (&InputArgument, &(String, PathBuf))| match argument {
            InputArgument::Files { name: given, files } => given == name && *files == [file.clone()],
            _ => false,
        };
        let is_equal = command.inputs.len() == arguments.inputs.len()
            && arguments.inputs.iter().zip(&command.inputs).all(matches_given)
            && command.output_dir == arguments.output_dir;
        let mut ports = model.ir().function(model.ir().entry)?.inputs.iter();
        let are_single =
            ports.all(|port| !matches!(port.tensors, PortTensors::Pack(_) | PortTensors::Stack(_)));
        let named = self.named(&arguments.inputs);
        let positions = crate::inputs::named(&named).map(|name| {
            let at = artifact.inputs.iter().position(|port| port.name == name)?;
            u32::try_from(at).ok()
        });
        let positions = positions.collect::<Option<Vec<u32>>>()?;
        let is_complete = positions.len() == artifact.inputs.len();
        (is_equal && are_single && is_complete).then_some(positions)
    }

    /// The element types of inputs in the imported model.
    fn declared(&self, artifact: &Artifact) -> Vec<Option<ElementType>> {
        let ports = artifact.inputs.iter();
        ports.map(|port| self.ints(&port.name).filter(|element| *element != port.element)).collect()
    }

    /// The element types to which outputs are converted; `None` if the outputs of the code have other names.
    fn outputs(&self, model: &Model, artifact: &Artifact) -> Option<Vec<Option<ElementType>>> {
        let names = outputs::names(model.ir());
        let stems: Vec<String> = files::outputs(artifact).map(|(_, stem)| stem).collect();
        (names == stems).then(|| model.output_ports().iter().map(|port| port.imported).collect())
    }
}

/// Whether no flag causes the run to read or write more files than a record describes.
fn is_plain(arguments: &RunArguments) -> bool {
    let RunArguments {
        engine,
        no_cache,
        weights: WeightsArguments { weights, variables },
        save_variables,
        repeat,
        stats,
        timings,
        profile,
        stop,
        ..
    } = arguments;
    let reads = weights.is_some() || variables.is_some() || *no_cache || *repeat != 1;
    let writes = save_variables.is_some() || stats.is_some() || *timings || profile.is_some();
    // The device that `auto` selects may change.
    let is_here = arguments.target.is_for_processor();
    let is_compiled = *engine == EngineName::Compiled && is_here;
    // A repeated run has no time limit.
    is_compiled && stop.timeout.is_none() && !(reads || writes) && arguments.reading.intrinsics.is_empty()
}

/// Whether the code has all variables of the model. The model's variables are read even if the graph does not use them.
fn has_variables(artifact: &Artifact, model: &Model) -> bool {
    let requests = model.requests();
    let mut pairs = artifact.variables.iter().zip(&requests);
    requests.len() == artifact.variables.len()
        && pairs.all(|(port, request)| {
            let shape: Vec<u64> = port.shape.iter().map(|e| e.bound()).collect();
            port.name == request.name
                && port.aliases == request.aliases
                && port.element == request.element
                && shape == request.shape
        })
}

fn exists(file: &Path) -> bool {
    std::fs::symlink_metadata(file).is_ok()
}
