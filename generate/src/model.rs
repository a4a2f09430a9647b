// SPDX-License-Identifier: Apache-2.0
//! A compiled language model with a cache of keys and values.
//!
//! The document has dynamic rows. It is compiled for one row, which computes the next token, and for a block of rows, which reads
//! prompts; both use the same weights and the same cache. The rows after the end of a prompt in its last block are ignored.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use skript::{
    Activations, Code, Compiler, ComposeOptions, Document, ElementType, GgufCache, GgufOptions, Instance,
    Limits, Model, Tensor, Weights,
};
use skript_tensor::Gguf;
use skript_tensor::gguf::Value;

use crate::cache::Cache;
use crate::error::Error;
use crate::template::ChatTemplate;
use crate::tokenizer::Tokenizer;
use crate::vocabulary::Vocabulary;

/// The maximum number of rows of a block.
const BLOCK: usize = 64;
/// The stack of a thread that compiles, which reserves addresses only.
const STACK_BYTES: usize = 256 << 20;
/// The minimum number of tokens for which a block is faster than one row for each.
const MIN_BLOCK: usize = 4;

/// The cache of a text, and its last logits.
pub(crate) struct State {
    cache: Cache,
    /// The tokens whose keys and values are in the cache.
    cached: Vec<u32>,
    /// The logits of the last call.
    logits: Option<Tensor>,
}

impl State {
    fn new(model: &Model) -> Self {
        State { cache: Cache::new(model), cached: Vec::new(), logits: None }
    }
}

/// The language model of a GGUF file.
pub struct LanguageModel {
    tokenizer: Tokenizer,
    /// The chat template, or the reason why it cannot be used.
    template: Result<ChatTemplate, String>,
    /// The model with dynamic rows.
    model: Model,
    weights: Weights,
    compiler: Compiler,
    context: usize,
    /// The maximum number of tokens of the compiled code, and of the model.
    capacity: usize,
    largest: usize,
    one: Option<Instance>,
    block: Option<Instance>,
    state: State,
    interrupt: Arc<AtomicBool>,
    threads: usize,
    preparation: Duration,
}

impl LanguageModel {
    /// Reads a file. `context` is the maximum number of tokens of a text; the default is that of the model, at most 2048. Code is
    /// compiled, or loaded from the cache of the compiler, by the first calls.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] for its metadata; [`Error::Model`] if the model is not supported.
    pub fn open(
        path: &Path,
        context: Option<u64>,
        activations: Activations,
        compiler: Compiler,
    ) -> Result<Self, Error> {
        let file = Gguf::open(path)?;
        let tokenizer = Tokenizer::new(Vocabulary::read(&file)?)?;
        let template = template_of(&file);
        let options = GgufOptions { context, cache: GgufCache::Arrays, activations };
        let document = Document::import_gguf(path, options, &Limits::default());
        let model = document.compose(&ComposeOptions::default())?;
        let weights = Weights::open(path)?;
        let capacity = context_of(&model)?;
        let context = context.and_then(|n| usize::try_from(n).ok()).unwrap_or(capacity).min(capacity);
        let count = outputs_of(&model)?;
        if count != tokenizer.vocabulary().len() {
            let text = format!(
                "{}: the vocabulary has {} tokens, but the model computes {count} logits",
                path.display(),
                tokenizer.vocabulary().len()
            );
            return Err(Error::Tokenizer(text));
        }
        Ok(LanguageModel {
            tokenizer,
            template,
            state: State::new(&model),
            model,
            weights,
            compiler,
            context,
            capacity,
            largest: largest_context(&file).unwrap_or(capacity),
            one: None,
            block: None,
            interrupt: Arc::default(),
            threads: 0,
            preparation: Duration::ZERO,
        })
    }

    /// The time that compiling and loading code took up to now.
    pub fn preparation(&self) -> Duration {
        self.preparation
    }

    /// The tokenizer.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The chat template.
    ///
    /// # Errors
    /// [`Error::Template`] if the file has none, or a wrong one.
    pub fn template(&self) -> Result<&ChatTemplate, Error> {
        self.template.as_ref().map_err(|text| Error::Template(text.clone()))
    }

    /// The tokens of a prompt: [`Tokenizer::encode_prompt`]. A text that is certainly too long is not split.
    ///
    /// # Errors
    /// [`Error::Context`] for such a text; the errors of [`Tokenizer::encode_prompt`].
    pub fn encode_prompt(&self, text: &str) -> Result<Vec<u32>, Error> {
        let tokens = self.tokenizer.min_tokens(text);
        if tokens > self.context {
            return Err(self.too_long(tokens));
        }
        self.tokenizer.encode_prompt(text)
    }

    /// The error that a text has this number of tokens.
    pub(crate) fn too_long(&self, tokens: usize) -> Error {
        Error::Context { tokens, context: self.context, largest: self.largest }
    }

    /// The maximum number of tokens of a text.
    pub fn context(&self) -> usize {
        self.context
    }

    /// A flag by which another thread ends the work: while it is set, calls return [`Error::Interrupted`].
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupt)
    }

    /// Sets another flag that ends the work that begins afterwards.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) {
        self.interrupt = flag;
    }

    /// Sets the number of threads of calls, as [`Instance::set_threads`]. Texts do not depend on it.
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = threads;
        for instance in [&mut self.one, &mut self.block].into_iter().flatten() {
            instance.set_threads(threads);
        }
    }

    /// Empties the cache.
    pub fn reset(&mut self) {
        self.state.cached.clear();
        self.state.cache.truncate(0);
        self.state.logits = None;
    }

    /// The state before a text.
    pub(crate) fn empty_state(&self) -> State {
        State::new(&self.model)
    }

    /// Exchanges the state of the model for that of another text.
    pub(crate) fn swap_state(&mut self, other: &mut State) {
        std::mem::swap(&mut self.state, other);
    }

    /// Compiles the code for prompts and for single tokens, or loads it, and computes the values that depend on weights alone.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be compiled.
    pub fn prepare(&mut self) -> Result<(), Error> {
        let rows = self.rows();
        if self.one.is_none() && self.block.is_none() && rows > 1 {
            let begun = Instant::now();
            let compile = |rows| compiled(&self.model, &self.compiler, &self.weights, rows);
            // Both are compiled at the same time.
            let (one, block) = thread::scope(|scope| {
                let thread = thread::Builder::new().stack_size(STACK_BYTES);
                match thread.spawn_scoped(scope, || compile(rows)) {
                    Ok(block) => {
                        (compile(1), block.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                    }
                    Err(_) => (compile(1), compile(rows)),
                }
            });
            (self.one, self.block) = (Some(one?), Some(block?));
            self.set_threads(self.threads);
            self.preparation += begun.elapsed();
            return Ok(());
        }
        self.instance(false)?;
        if rows > 1 {
            self.instance(true)?;
        }
        Ok(())
    }

    /// Compiles or loads the code that continuing a text needs: [`LanguageModel::prepare`], without unused code.
    ///
    /// # Errors
    /// [`Error::Model`] if the model cannot be compiled.
    pub fn prepare_for(&mut self, text: &[u32]) -> Result<(), Error> {
        if self.new_tokens(text) >= MIN_BLOCK { self.prepare() } else { self.instance(false).map(drop) }
    }

    /// The logits of the token after a text. Tokens at its beginning that are in the cache are not computed again.
    ///
    /// # Errors
    /// [`Error::Context`] if the text is too long; [`Error::Model`] if the model cannot be compiled, or a call fails;
    /// [`Error::Interrupted`].
    pub fn logits(&mut self, text: &[u32]) -> Result<&[f32], Error> {
        if text.is_empty() || text.len() > self.context {
            return Err(self.too_long(text.len()));
        }
        self.prepare_for(text)?;
        self.state.cached.truncate(text.len() - self.new_tokens(text));
        self.state.cache.truncate(self.state.cached.len());
        while self.state.cached.len() < text.len() {
            if self.interrupt.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let rest = text.split_at(self.state.cached.len()).1;
            let count = if rest.len() < MIN_BLOCK { 1 } else { rest.len().min(self.rows()) };
            self.call(rest.split_at(count).0)?;
        }
        self.state.logits.as_ref().and_then(Tensor::as_f32).ok_or(Error::Logits(text.len() - 1))
    }

    /// The number of tokens of a text that are not in the cache, at least the last one.
    pub fn new_tokens(&self, text: &[u32]) -> usize {
        let equal = self.state.cached.iter().zip(text).take_while(|(a, b)| a == b).count();
        text.len() - equal.min(text.len().saturating_sub(1))
    }

    /// The number of rows of a block.
    fn rows(&self) -> usize {
        self.capacity.min(BLOCK)
    }

    /// Computes the next tokens, and adds them to the cache.
    fn call(&mut self, tokens: &[u32]) -> Result<(), Error> {
        let Some(padding) = tokens.last() else { return Ok(()) };
        let is_block = tokens.len() > 1;
        let rows = if is_block { self.rows() } else { 1 };
        let padded = tokens.iter().chain(std::iter::repeat(padding)).take(rows);
        let padded: Vec<i64> = padded.map(|token| i64::from(*token)).collect();
        let row = tokens.len() as i64 - 1;
        let mut inputs = vec![Tensor::from_i64(&[rows as u64], &padded)?, Tensor::from_i64(&[1], &[row])?];
        inputs.extend(self.state.cache.inputs(self.state.cached.len())?);
        let instance = self.instance(is_block)?;
        let outputs = instance.compute(&inputs.iter().collect::<Vec<_>>())?;
        drop(inputs);
        self.state.cache.append(&outputs, tokens.len())?;
        self.state.cached.extend(tokens);
        self.state.logits = outputs.into_iter().next();
        Ok(())
    }

    /// The code for one row or for a block.
    fn instance(&mut self, is_block: bool) -> Result<&mut Instance, Error> {
        let rows = if is_block { self.rows() } else { 1 };
        match if is_block { &mut self.block } else { &mut self.one } {
            Some(instance) => Ok(instance),
            none => {
                let begun = Instant::now();
                let mut instance = compiled(&self.model, &self.compiler, &self.weights, rows)?;
                instance.set_threads(self.threads);
                self.preparation += begun.elapsed();
                Ok(none.insert(instance))
            }
        }
    }
}

/// Compiles the model for a number of rows.
fn compiled(model: &Model, compiler: &Compiler, weights: &Weights, rows: usize) -> Result<Instance, Error> {
    let shapes = vec![("tokens".to_owned(), vec![vec![rows as u64]])];
    let artifact = compiler.compile(&model.with_shapes(shapes)?)?.artifact;
    let mut instance = Code::new(artifact).load(weights)?;
    instance.prepare(true)?;
    Ok(instance)
}

/// The chat template of a file, or the reason why it cannot be used. Texts without messages do not need it.
fn template_of(file: &Gguf) -> Result<ChatTemplate, String> {
    let template = ChatTemplate::read(file).map_err(|error| error.to_string())?;
    template
        .ok_or_else(|| format!("{}: the file has no chat template: use `generate`", file.path().display()))
}

/// The maximum number of tokens that the model was made for.
fn largest_context(file: &Gguf) -> Option<usize> {
    let Value::Text(architecture) = file.value("general.architecture")? else { return None };
    match file.value(&format!("{architecture}.context_length"))? {
        Value::Int(n) => usize::try_from(*n).ok(),
        _ => None,
    }
}

/// The upper bound of the number of rows.
fn context_of(model: &Model) -> Result<usize, Error> {
    let ports = model.input_ports();
    let bound = ports.iter().find(|port| port.name == "tokens").and_then(|port| port.shape.first());
    let bound = bound.and_then(|extent| usize::try_from(extent.bound()).ok());
    bound.ok_or_else(|| Error::Option("the model has no input of tokens".to_owned()))
}

/// The number of logits of a row.
fn outputs_of(model: &Model) -> Result<usize, Error> {
    let port = model.output_ports().first().filter(|port| port.element == ElementType::F32);
    let count = port.and_then(|port| port.shape.last()).and_then(|n| usize::try_from(n.bound()).ok());
    count.ok_or_else(|| Error::Option("the model does not compute 32-bit logits".to_owned()))
}
