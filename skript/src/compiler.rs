// SPDX-License-Identifier: Apache-2.0
//! Compiles models to native code.

use crate::error::Error;
use crate::model::Model;
use crate::target::Target;
use skript_import::Origin;
use skript_passes::codegen::c;
use skript_passes::target::Integers;
use skript_passes::{CompileError, Options, Stop, code_cache};
use skript_passes::{compile_model, compile_model_for_profile, model_after, model_as_c, report_passes};
use skript_runtime::profile::Step;
use skript_runtime::{Artifact, Cache};
use skript_stablehlo::import::{self, Program, Refusal, Shapes};
use std::path::Path;

/// Compiles models and StableHLO programs for a target.
#[derive(Clone, Debug)]
pub struct Compiler {
    options: Options,
    /// The build of the compiler, if it uses plans of `skript tune`.
    build: Option<code_cache::Compiler>,
    is_cached: bool,
}

/// A compiled model.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The code, with the interface of the graph: its inputs, variables and outputs.
    pub artifact: Artifact,
    /// Whether the code was in the user's cache.
    pub is_cached: bool,
    /// The code's entry in the cache; `None` without a cache.
    pub entry: Option<CacheEntry>,
}

/// The entry of code in the user's cache.
#[derive(Clone, Debug)]
pub struct CacheEntry {
    /// The key of the code.
    pub key: String,
    /// The key of the plans of its kernels, and the plans.
    pub plans: (String, String),
}

impl From<Options> for Compiler {
    fn from(options: Options) -> Self {
        Compiler { options, build: None, is_cached: false }
    }
}

impl Compiler {
    /// The compiler for a target, without the user's cache.
    pub fn new(target: &Target) -> Self {
        Compiler::from(Options { target: target.inner.clone(), ..Options::default() })
    }

    /// The compiler that computes sums of products of quantized tensors in 8-bit integers or in reals, as `integers` states.
    #[must_use]
    pub fn with_integers(mut self, integers: Integers) -> Self {
        self.options.target.integers = integers;
        self
    }

    /// The compiler that adds line tables to code, by which debuggers, profilers and assembly text state the line of the model for each
    /// instruction. SPIR-V has none.
    #[must_use]
    pub fn with_line_tables(mut self, has_line_tables: bool) -> Self {
        self.options.target.has_line_tables = has_line_tables;
        self
    }

    /// The compiler with other options of the passes.
    #[must_use]
    pub fn with_options(self, options: Options) -> Self {
        Compiler { options, ..self }
    }

    /// The compiler with the user's cache of compiled models, which is shared with the program `skript`, and with plans of
    /// `skript tune`. `file` is the executable, or another file that contains the same compiler: its length and time distinguish builds.
    #[must_use]
    pub fn cached(self, file: &Path) -> Self {
        Compiler { build: Some(code_cache::Compiler::from_file(file)), is_cached: true, ..self }
    }

    /// Like [`Compiler::cached`] with the executable of this process as the file, but with the user's cache only if `is_cached`.
    #[must_use]
    pub fn for_this_executable(self, is_cached: bool) -> Self {
        Compiler { build: Some(code_cache::Compiler::for_this_executable()), is_cached, ..self }
    }

    /// The options of the passes. Their interface changes without notice.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The options for a model with this origin, or for a StableHLO program, which has no origin. By default, processors compute
    /// quantized ONNX models in integers.
    pub fn options_for(&self, origin: Option<&Origin>) -> Options {
        let mut options = self.options.clone();
        let is_quantized = origin.is_some_and(|origin| origin.is_quantized);
        let is_default = is_quantized && options.target.gpu.is_none();
        options.target.integers = options.target.integers.resolved(is_default);
        options
    }

    /// The options with the plans that `skript tune` kept for this model, and the key of the plans.
    fn tuned(&self, model: &Model) -> (Options, String) {
        let options = self.options_for(model.origin());
        match &self.build {
            Some(build) => build.tuned(model.ir(), model.sources(), options),
            None => (options, String::new()),
        }
    }

    /// The key of the plans of a model's kernels in the user's cache.
    pub fn plans_key(&self, model: &Model) -> String {
        let options = self.options_for(model.origin());
        code_cache::Compiler::for_this_executable().plans_key(model.ir(), model.sources(), &options)
    }

    /// Compiles a model, or loads its code from the cache.
    ///
    /// # Errors
    /// [`Error::Compile`] if the model has a construct that compiled code does not support, or LLVM does not support the target.
    pub fn compile(&self, model: &Model) -> Result<Compiled, Error> {
        let (options, plans_key) = self.tuned(model);
        let wrong = |e: CompileError| model.not_compiled(&e);
        let Some(build) = self.build.as_ref().filter(|_| self.is_cached) else {
            let artifact = compile_model(model.ir(), model.sources(), &options).map_err(wrong)?;
            return Ok(Compiled { artifact, is_cached: false, entry: None });
        };
        let compiled = build.compile(model.ir(), model.sources(), &options);
        let (artifact, key, is_cached) = compiled.map_err(wrong)?;
        let entry = key.map(|key| CacheEntry { key, plans: (plans_key, options.target.plans) });
        Ok(Compiled { artifact, is_cached, entry })
    }

    /// Compiles a model to code that reports its steps; returns the steps as well.
    ///
    /// # Errors
    /// The errors of [`Compiler::compile`].
    pub fn profile(&self, model: &Model) -> Result<(Artifact, Vec<Step>), Error> {
        let compiled = compile_model_for_profile(model.ir(), model.sources(), &self.tuned(model).0);
        compiled.map_err(|e| model.not_compiled(&e))
    }

    /// The model after a stage of compilation.
    ///
    /// # Errors
    /// The errors of [`Compiler::compile`].
    pub fn stage(&self, model: &Model, stop: Stop, has_locations: bool) -> Result<Vec<u8>, Error> {
        let bytes = model_after(model.ir(), model.sources(), &self.tuned(model).0, stop, has_locations);
        bytes.map_err(|e| model.not_compiled(&e))
    }

    /// Runs all MLIR passes, one by one. Calls `report` with each pass that changes the model, and the MLIR text after it; first with
    /// `emit` and the text before the first pass.
    ///
    /// # Errors
    /// The errors of [`Compiler::compile`].
    pub fn report_passes(
        &self,
        model: &Model,
        has_locations: bool,
        report: &mut dyn FnMut(&str, &[u8]),
    ) -> Result<(), Error> {
        let reported =
            report_passes(model.ir(), model.sources(), &self.tuned(model).0, has_locations, report);
        reported.map_err(|e| model.not_compiled(&e))
    }

    /// Writes a model as a C program, with comments that state source locations if `has_locations` is set.
    ///
    /// # Errors
    /// The errors of [`Compiler::compile`], and operators that have no form in C.
    pub fn c_program(
        &self,
        model: &Model,
        weights: c::Weights,
        has_locations: bool,
    ) -> Result<c::Program, Error> {
        let program = model_as_c(model.ir(), model.sources(), &self.options, weights, has_locations);
        program.map_err(|e| model.not_compiled(&e))
    }

    /// Compiles `@main`, or the only public function, of a StableHLO program (MLIR text), or loads its code from the cache. `shapes`
    /// returns the shapes of the arguments, if the program has symbolic dimensions. Also returns whether the cache contained the code.
    ///
    /// # Errors
    /// All reasons why the program cannot be compiled, such as operations that are not supported.
    pub fn program(&self, text: &str, shapes: &mut Shapes) -> Result<(Program, bool), Vec<Refusal>> {
        let target = &self.options_for(None).target;
        let kept = self.build.as_ref().filter(|_| self.is_cached).zip(Cache::of_user());
        let key = |build: &code_cache::Compiler, inputs: &[skript_runtime::artifact::Port]| {
            let shapes: Vec<_> = inputs.iter().map(|port| &port.shape).collect();
            build.program_key(&format!("{text}\n{shapes:?}"), target)
        };
        let mut is_cached = false;
        let program = import::compile_unless(text, target, shapes, |interface| {
            let (build, cache) = kept.as_ref()?;
            let artifact = cache.get(&key(build, &interface.inputs))?;
            is_cached = interface.is_of(&artifact);
            is_cached.then_some(artifact)
        })?;
        if let Some((build, cache)) = kept.filter(|_| !is_cached) {
            // An error of writing the cache is ignored.
            let _ = cache.put(&key(build, &program.artifact.inputs), &program.artifact);
        }
        Ok((program, is_cached))
    }

    /// Compiles a StableHLO program to code that reports its steps; returns the steps as well.
    ///
    /// # Errors
    /// The errors of [`Compiler::program`].
    pub fn profile_program(
        &self,
        text: &str,
        shapes: &mut Shapes,
    ) -> Result<(Program, Vec<Step>), Vec<Refusal>> {
        import::compile_for_profile(text, &self.options_for(None).target, shapes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_passes::target::{GPUS, TargetDescription};

    fn computes_integers(compiler: &Compiler, is_quantized: bool) -> bool {
        let origin = Origin { is_quantized, ..Origin::default() };
        compiler.options_for(Some(&origin)).target.computes_integers()
    }

    #[test]
    fn quantized_models_compute_in_integers_on_processors_by_default() {
        let processor = Compiler::new(&Target::host());
        assert!(computes_integers(&processor, true));
        assert!(!computes_integers(&processor, false));
        assert!(!processor.options_for(None).target.computes_integers());
        let target = TargetDescription { gpu: GPUS.first(), ..TargetDescription::host() };
        let gpu = Compiler::from(Options { target, ..Options::default() });
        assert!(!computes_integers(&gpu, true));
        assert!(computes_integers(&gpu.with_integers(Integers::Always), true));
    }

    #[test]
    fn targets_decide_for_all_models() {
        let always = Compiler::new(&Target::host().with_integers(true));
        assert!(computes_integers(&always, false) && always.options_for(None).target.computes_integers());
        let never = Compiler::new(&Target::host().with_integers(false));
        assert!(!computes_integers(&never, true));
    }
}
