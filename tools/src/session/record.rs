// SPDX-License-Identifier: Apache-2.0
//! The record of a run, by which `skript` repeats it without this program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use skript_frontend::model::{Model, PortTensors};
use skript_frontend::program::Origin as From;
use skript_import::Origin as Imported;
use skript_runtime::Artifact;
use skript_runtime::cache::{Cache, Content, RunRecord};
use skript_runtime::files;
use skript_tensor::ElementType;

use super::{Session, requests};
use crate::command_line::{EngineName, InputArgument, RunArguments};
use crate::engine::Kept;
use crate::onnx_model::IMPORT_FILE;
use crate::outputs;
use crate::start_command::Command;

/// The largest `import.json` of a record.
const MOST_IMPORT_BYTES: u64 = 1 << 26;

impl Session<'_> {
    /// Keeps a record of this run, which succeeded, under `key`, if the record suffices to repeat it. Errors of
    /// writing the cache are ignored.
    pub fn keep_record(&self, key: &str, arguments: &RunArguments, model: &Model, kept: &Kept) {
        let record = self.record(arguments, model, kept);
        if let (Some(record), Some(cache)) = (record, Cache::of_user()) {
            let _ = cache.put_run(key, &record);
        }
    }

    fn record(&self, arguments: &RunArguments, model: &Model, kept: &Kept) -> Option<RunRecord> {
        let is_silent = self.sink.diagnostics().is_empty();
        let is_folder = self.packed.is_none() && self.held.is_none();
        if !(is_silent && is_folder && is_plain(arguments)) {
            return None;
        }
        let artifact = kept.program.artifact();
        if !has_variables(artifact, model) {
            return None;
        }
        let (files, absent) = self.files()?;
        Some(RunRecord {
            code: kept.key.clone(),
            plans: kept.plans.clone(),
            folder: self.program.folder.clone(),
            stem: self.program.main.clone(),
            unpacked_bytes: self.limits.unpacked_bytes,
            files,
            absent,
            inputs: self.inputs(arguments, model, artifact)?,
            outputs: self.outputs(model, artifact)?,
            declared: self.declared(artifact),
        })
    }

    /// The files that were read, the main module first, and those that would be read if they existed.
    fn files(&self) -> Option<(Vec<Content>, Vec<PathBuf>)> {
        let program = &self.program;
        let (mut read, mut absent) = (Vec::new(), Vec::new());
        let own = |key: &&String| program.origin(key) == From::Model && **key != program.main;
        for key in std::iter::once(&program.main).chain(program.modules.keys().filter(own)) {
            let file = program.sources.get(program.modules.get(key)?.file)?;
            read.push(Content::of(&file.path, file.text.as_bytes()));
        }
        // A file of the folder takes the place of a module of the library.
        for ((_, name), key) in &program.imports {
            if program.origin(key) == From::Library {
                let mut file = program.folder.clone();
                file.extend(name.split('.'));
                file.set_extension("sknd");
                match exists(&file) {
                    false => absent.push(file),
                    true if read.iter().any(|content| content.path == file) => {}
                    true => return None,
                }
            }
        }
        absent.sort();
        absent.dedup();
        let import = program.folder.join(IMPORT_FILE);
        let origin = self.origin.as_ref().map(|origin| &origin.inner);
        match skript_host::file::read_within(&import, &program.folder, MOST_IMPORT_BYTES) {
            // It may have been replaced since it was read.
            Ok(bytes) if Imported::of_json(&bytes).as_ref() == origin => {
                read.push(Content::of(&import, &bytes));
            }
            Err(_) if !exists(&import) && origin.is_none() => absent.push(import),
            _ => return None,
        }
        Some((read, absent))
    }

    /// The position among the inputs of the code, for each input of the command line.
    fn inputs(&self, arguments: &RunArguments, model: &Model, artifact: &Artifact) -> Option<Vec<u32>> {
        // The record is for what `skript` reads from the command line.
        let words: Vec<OsString> = std::env::args_os().skip(1).collect();
        let command = Command::of(&words)?;
        let given = |(argument, (name, file)): (&InputArgument, &(String, PathBuf))| match argument {
            InputArgument::Files { name: own, files } => own == name && *files == [file.clone()],
            _ => false,
        };
        let is_it = command.inputs.len() == arguments.inputs.len()
            && arguments.inputs.iter().zip(&command.inputs).all(given)
            && command.output_dir == arguments.output_dir;
        let mut ports = model.function(model.entry)?.inputs.iter();
        let are_single =
            ports.all(|port| !matches!(port.tensors, PortTensors::Pack(_) | PortTensors::Stack(_)));
        let named = self.named(&arguments.inputs);
        let positions = crate::inputs::named(&named).map(|name| {
            let at = artifact.inputs.iter().position(|port| port.name == name)?;
            u32::try_from(at).ok()
        });
        let positions = positions.collect::<Option<Vec<u32>>>()?;
        let is_complete = positions.len() == artifact.inputs.len();
        (is_it && are_single && is_complete).then_some(positions)
    }

    /// The element types of inputs in the imported model.
    fn declared(&self, artifact: &Artifact) -> Vec<Option<ElementType>> {
        let own = artifact.inputs.iter().map(|port| self.ints(&port.name).filter(|own| *own != port.element));
        own.collect()
    }

    /// The element types that outputs are converted to; `None` if the code's outputs have other names.
    fn outputs(&self, model: &Model, artifact: &Artifact) -> Option<Vec<Option<ElementType>>> {
        let names = outputs::names(model);
        let stems: Vec<String> = files::outputs(artifact).map(|(_, stem)| stem).collect();
        let origin = self.origin.as_ref().map(|origin| origin.typed());
        let wanted = |name: &String| origin.as_ref().and_then(|origin| origin.output(name));
        (names == stems).then(|| names.iter().map(wanted).collect())
    }
}

/// Whether no flag makes the run read or write more than a record has.
fn is_plain(arguments: &RunArguments) -> bool {
    let RunArguments {
        engine,
        no_cache,
        weights,
        variables,
        save_variables,
        repeat,
        stats,
        timings,
        profile,
        ..
    } = arguments;
    let reads = weights.is_some() || variables.is_some() || *no_cache || *repeat != 1;
    let writes = save_variables.is_some() || stats.is_some() || *timings || profile.is_some();
    // What `auto` finds may change.
    let is_here = arguments.target.is_for_processor();
    let is_compiled = *engine == EngineName::Compiled && is_here;
    is_compiled && !(reads || writes) && arguments.reading.intrinsics.is_empty()
}

/// Whether the code has all variables of the model, which are read even if the graph does not use them.
fn has_variables(artifact: &Artifact, model: &Model) -> bool {
    let requests = requests(model);
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
