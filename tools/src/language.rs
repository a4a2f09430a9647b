// SPDX-License-Identifier: Apache-2.0
//! Language models of commands: their options, their output and its cost.

use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use skript::Target;
use skript_frontend::diagnostics::Diagnostic;
use skript_frontend::diagnostics::codes::{COMMAND_LINE_NAME, ONNX, RUN_FAILED};
use skript_frontend::source::SourceMap;
use skript_generate::{Chat, Error, Generation, GenerationOptions, LanguageModel, Statistics};
use skript_host::printable;

use crate::command_line::{ActivationType, LanguageArguments, MessageFormat};
use crate::console::{Console, Status};
use crate::measure::peak_memory;
use crate::render::render;
use crate::session::reporter;
use crate::stopped::{Stopped, diagnostics};
use crate::timings::Timings;
use crate::watch::Watch;

/// A model, the options of its texts, and the cost of all texts.
pub struct Language {
    pub model: LanguageModel,
    options: GenerationOptions,
    total: Statistics,
    format: MessageFormat,
    is_verbose: bool,
}

/// A text that is complete, or that Ctrl-C ended.
pub struct Written {
    pub text: String,
    pub is_interrupted: bool,
}

/// Reads the model of a file.
pub fn opened(path: &Path, arguments: &LanguageArguments) -> Result<Language, Stopped> {
    arguments.threads.apply();
    let options = arguments.options();
    options.sampling.check().map_err(failure)?;
    Ok(Language {
        model: open(path, arguments.context, arguments.activations)?,
        options,
        total: Statistics::default(),
        format: arguments.message_format,
        is_verbose: arguments.verbose,
    })
}

/// Reads the model of a file, whose code is in the user's cache.
pub fn open(
    path: &Path,
    context: Option<u64>,
    activations: ActivationType,
) -> Result<LanguageModel, Stopped> {
    let compiler = skript::Compiler::new(&Target::host()).for_this_executable(true);
    LanguageModel::open(path, context, activations.into(), compiler).map_err(failure)
}

/// The error that only language models have an option.
pub fn option_refused(option: &str, model: &Path) -> Diagnostic {
    let text = format!("{option} is for language models in GGUF files, not for {}", model.display());
    Diagnostic::without_location(&COMMAND_LINE_NAME, text)
}

impl Language {
    /// Begins a text that continues a prompt.
    pub fn begin(&self, prompt: &str, console: &mut Console) -> Result<Generation, Stopped> {
        let tokens = self.model.encode_prompt(prompt).map_err(failure)?;
        let generation = Generation::new(&self.model, &tokens, &self.options).map_err(failure)?;
        self.show(prompt, &generation, console);
        Ok(generation)
    }

    /// Begins the answer to a message. `None` after a message that states that the context does not hold it.
    pub fn ask(
        &self,
        chat: &mut Chat,
        message: &str,
        console: &mut Console,
    ) -> Result<Option<Generation>, Stopped> {
        let before = chat.messages().len();
        let generation = match chat.ask(&self.model, message, &self.options) {
            Err(error @ Error::Context { .. }) => {
                let _ = stopped(Err(failure(error)), self.format, console);
                return Ok(None);
            }
            answer => answer.map_err(failure)?,
        };
        let forgotten = (before + 1).saturating_sub(chat.messages().len());
        if forgotten > 0 {
            console.write(&format!(
                "the context of {} tokens is full: the oldest {forgotten} messages are left out\n",
                self.model.context()
            ));
        }
        self.show(&chat.prompt(&self.model).map_err(failure)?, &generation, console);
        Ok(Some(generation))
    }

    /// Prints a prompt as JSON, and its tokens.
    fn show(&self, prompt: &str, generation: &Generation, console: &mut Console) {
        if self.is_verbose {
            let text = serde_json::json!(prompt);
            console.write(&format!("prompt: {text}\ntokens: {:?}\n", generation.prompt()));
        }
    }

    /// Compiles or loads the code for a text; Ctrl-C ends the process.
    fn prepare(&mut self, generation: &Generation, console: &mut Console) -> Result<(), Stopped> {
        let stages = Timings::begin(console);
        let prepared = self.model.prepare_for(generation.prompt()).map_err(failure);
        stages.end(false, console);
        prepared
    }

    /// Prints a text while it is computed; returns it. Ctrl-C ends it.
    pub fn write(&mut self, mut generation: Generation, console: &mut Console) -> Result<Written, Stopped> {
        self.prepare(&generation, console)?;
        let interrupt = self.model.interrupt();
        let _watch = Watch::begin_text(interrupt.clone(), reporter(self.format));
        let is_terminal = std::io::stdout().is_terminal();
        let mut all = String::new();
        let done = loop {
            match generation.advance(&mut self.model) {
                Ok(Some(text)) => {
                    // Control characters of a text would control the terminal.
                    let shown = if is_terminal { printable(&text) } else { text.as_str().into() };
                    crate::stdout::print(&shown);
                    all += &text;
                }
                Ok(None) => break Ok(false),
                Err(Error::Interrupted) => break Ok(true),
                Err(error) => break Err(failure(error)),
            }
        };
        interrupt.store(false, Ordering::Relaxed);
        let cost = generation.statistics();
        self.total.prompt_tokens += cost.prompt_tokens;
        self.total.prompt_time += cost.prompt_time;
        self.total.tokens += cost.tokens;
        self.total.repeated += cost.repeated;
        self.total.time += cost.time;
        done.map(|is_interrupted| Written { text: all, is_interrupted })
    }

    /// The speed of all texts, and the memory of the process.
    pub fn summary(&self) -> String {
        let Statistics { prompt_tokens, prompt_time, repeated, time, .. } = self.total;
        let load = self.model.preparation().as_secs_f64() * 1e3;
        let memory = peak_memory().map_or(0.0, |bytes| bytes as f64 / 1e6);
        format!(
            "\nload       {load:16.1} ms, with compilation unless the cache has the code\n\
             prompt     {prompt_tokens:6} tokens {:9.1} tokens/s\n\
             generation {repeated:6} tokens {:9.1} tokens/s\n\
             memory     {memory:16.1} MB\n",
            rate(prompt_tokens, prompt_time),
            rate(repeated, time),
        )
    }
}

/// Tokens per second.
pub fn rate(tokens: usize, time: Duration) -> f64 {
    tokens as f64 / time.as_secs_f64().max(1e-9)
}

/// The diagnostics of an error.
pub fn failure(error: Error) -> Stopped {
    let text = error.to_string();
    let diagnostic = |code| Diagnostic::without_location(code, text);
    match error {
        Error::Model(error) => diagnostics(error).into(),
        Error::Tokenizer(_) | Error::Template(_) => diagnostic(&ONNX).into(),
        Error::Option(_) => diagnostic(&COMMAND_LINE_NAME).into(),
        // Options have the names of the fields.
        Error::Range { name, value, range } => {
            let text = format!("--{} is {value}; it must be {range}", name.replace('_', "-"));
            Diagnostic::without_location(&COMMAND_LINE_NAME, text).into()
        }
        Error::Context { context, largest, .. } if context < largest => {
            diagnostic(&RUN_FAILED).with_help("--context sets the maximum number of tokens").into()
        }
        _ => diagnostic(&RUN_FAILED).into(),
    }
}

/// Reports the failure of a command.
pub fn stopped(done: Result<(), Stopped>, format: MessageFormat, console: &mut Console) -> Status {
    match done {
        Ok(()) => Status::Done,
        Err(stopped) => {
            render(&stopped.into_diagnostics(), &SourceMap::default(), format, console);
            Status::Wrong
        }
    }
}
