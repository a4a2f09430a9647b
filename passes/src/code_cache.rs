// SPDX-License-Identifier: Apache-2.0
//! Compiles models with the user's cache: computes keys, and looks up compiled models.
//!
//! Programs with the same [`Compiler`] share entries, such as the tools and the Python package that contains them.

use std::path::Path;

use skript_frontend::model::Model;
use skript_frontend::source::SourceMap;
use skript_runtime::Artifact;
use skript_runtime::cache::{Cache, Key};

use crate::codegen::Interface;
use crate::compile::{CompileError, Options, compile_model};
use crate::target::TargetDescription;

/// The build of the compiler, which changes during development: the length and the modification time of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compiler {
    file: Option<(u64, String)>,
}

impl Compiler {
    /// The compiler in this file.
    pub fn from_file(file: &Path) -> Self {
        let metadata = std::fs::metadata(file).ok();
        Compiler { file: metadata.map(|m| (m.len(), format!("{:?}", m.modified().ok()))) }
    }

    /// The compiler in the executable of this process.
    pub fn for_this_executable() -> Self {
        std::env::current_exe().map_or_else(|_| Compiler::default(), |file| Compiler::from_file(&file))
    }

    fn add(&self, key: &mut Key) {
        key.add("version", env!("CARGO_PKG_VERSION").as_bytes());
        if let Some((length, built)) = &self.file {
            key.add("program", &length.to_le_bytes());
            key.add("built", built.as_bytes());
        }
    }

    /// The cache key of a model. It depends on everything that determines the code: the composed model with its locations, the
    /// texts, the options, the processor, and the compiler.
    pub fn key(&self, model: &Model, sources: &SourceMap, options: &Options) -> String {
        let mut key = Key::new();
        for (_, file) in sources.files() {
            key.add("path", file.path.as_os_str().as_encoded_bytes());
        }
        self.add_code(&mut key, model, sources, options);
        key.finish()
    }

    /// The cache key of the plans for the kernels of a model. It depends on everything that determines the kernels, but not on the
    /// paths of the files of the model, and not on line tables.
    pub fn plans_key(&self, model: &Model, sources: &SourceMap, options: &Options) -> String {
        let mut key = Key::new();
        let mut options = options.clone();
        options.target.plans.clear();
        options.target.has_line_tables = false;
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
        // Whether a model can be compiled depends on the bound kernels.
        for kernel in skript_intrinsics::user::bound() {
            key.add("kernel", format!("{kernel:?}").as_bytes());
        }
        self.add(key);
    }

    /// The options with the plans that `skript tune` stored for this model, unless they already have plans; and the key of the plans.
    pub fn tuned(&self, model: &Model, sources: &SourceMap, mut options: Options) -> (Options, String) {
        let key = self.plans_key(model, sources, &options);
        if options.target.plans.is_empty()
            && let Some(cache) = Cache::of_user()
        {
            options.target.plans = cache.plans(&key).unwrap_or_default();
        }
        (options, key)
    }

    /// Loads the code from the user's cache, or compiles and stores it. Returns the code, its key (`None` without a
    /// cache), and whether the cache contained it. Errors of writing the cache are ignored, because they do not affect the result.
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
        let interface = Interface::from_model(model);
        let has_interface = |a: &Artifact| interface.as_ref().is_some_and(|i| i.is_of(a));
        if let Some(artifact) = cache.get(&key).filter(has_interface) {
            return Ok((artifact, Some(key), true));
        }
        let artifact = compile_model(model, sources, options)?;
        let _ = cache.put(&key, &artifact);
        Ok((artifact, Some(key), false))
    }
}
