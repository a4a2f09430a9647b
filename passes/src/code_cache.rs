// SPDX-License-Identifier: Apache-2.0
//! Compiled models in the user's cache: their keys, and compilation that looks there first.
//!
//! Programs with the same [`Compiler`] share entries: the tools, and the package for Python that has them.

use std::path::Path;

use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_runtime::Artifact;
use skript_runtime::cache::{Cache, Key};

use crate::codegen::Interface;
use crate::compile::{CompileError, Options, compile_model};
use crate::target::TargetDescription;

/// What distinguishes builds of the compiler, which differ during development: the length and the time of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiler {
    file: Option<(u64, String)>,
}

impl Compiler {
    /// The compiler in this file.
    pub fn at(file: &Path) -> Self {
        let metadata = std::fs::metadata(file).ok();
        Compiler { file: metadata.map(|m| (m.len(), format!("{:?}", m.modified().ok()))) }
    }

    /// The compiler in the executable of this process.
    pub fn of_process() -> Self {
        std::env::current_exe().map_or_else(|_| Compiler::default(), |file| Compiler::at(&file))
    }

    fn add(&self, key: &mut Key) {
        key.add("version", env!("CARGO_PKG_VERSION").as_bytes());
        if let Some((length, built)) = &self.file {
            key.add("program", &length.to_le_bytes());
            key.add("built", built.as_bytes());
        }
    }

    /// The cache key of a model: everything that determines the code, which is the composed model with its locations, the
    /// texts, options, processor, and the compiler.
    pub fn key(&self, model: &Model, sources: &SourceMap, options: &Options) -> String {
        let mut key = Key::new();
        for (_, file) in sources.files() {
            key.add("path", file.path.as_os_str().as_encoded_bytes());
        }
        self.add_code(&mut key, model, sources, options);
        key.finish()
    }

    /// The cache key of the plans of a model's kernels: what determines the kernels, wherever the model's files are.
    pub fn plans_key(&self, model: &Model, sources: &SourceMap, options: &Options) -> String {
        let mut key = Key::new();
        let mut options = options.clone();
        options.target.plans.clear();
        self.add_code(&mut key, model, sources, &options);
        key.finish()
    }

    /// The cache key of a StableHLO program: its text, the processor, and the compiler.
    pub fn program_key(&self, text: &str, target: &TargetDescription) -> String {
        let mut key = Key::new();
        key.add("stablehlo", text.as_bytes());
        key.add("target", format!("{target:?}").as_bytes());
        self.add(&mut key);
        key.finish()
    }

    fn add_code(&self, key: &mut Key, model: &Model, sources: &SourceMap, options: &Options) {
        for (_, file) in sources.files() {
            key.add("text", file.text.as_bytes());
        }
        key.add("model", format!("{model:?}").as_bytes());
        key.add("options", format!("{options:?}").as_bytes());
        // A model with an operator that has no kernel is not compiled, so code for a bound kernel must not stand for it.
        for kernel in skript_intrinsics::user::bound() {
            key.add("kernel", format!("{kernel:?}").as_bytes());
        }
        self.add(key);
    }

    /// The options with the plans that `skript tune` kept for this model, unless they have some; and the key of the plans.
    pub fn tuned(&self, model: &Model, sources: &SourceMap, mut options: Options) -> (Options, String) {
        let key = self.plans_key(model, sources, &options);
        if options.target.plans.is_empty()
            && let Some(cache) = Cache::of_user()
        {
            options.target.plans = cache.plans(&key).unwrap_or_default();
        }
        (options, key)
    }

    /// Loads the code from the user's cache, or compiles and stores it; returns the code, its key (`None` without a
    /// cache), and whether it was there. Errors of writing the cache are ignored: they cost time only.
    ///
    /// # Errors
    /// Those of [`compile_model`].
    pub fn compile(
        &self,
        model: &Model,
        sources: &SourceMap,
        options: &Options,
    ) -> Result<(Artifact, Option<String>, bool), CompileError> {
        let Some(cache) = Cache::of_user() else {
            return Ok((compile_model(model, sources, options)?, None, false));
        };
        let key = self.key(model, sources, options);
        let interface = Interface::of(model);
        let has_interface = |a: &Artifact| interface.as_ref().is_some_and(|i| i.is_of(a));
        if let Some(artifact) = cache.get(&key).filter(has_interface) {
            return Ok((artifact, Some(key), true));
        }
        let artifact = compile_model(model, sources, options)?;
        let _ = cache.put(&key, &artifact);
        Ok((artifact, Some(key), false))
    }
}
