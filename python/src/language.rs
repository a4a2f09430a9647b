// SPDX-License-Identifier: Apache-2.0
//! Language models in GGUF files: `LanguageModel`, `Generation` and `generate`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use skript::Target;
use skript_generate::{self as generation, Chat, Ending, Error, GenerationOptions, Message, Sampling};
use skript_python_runtime::errors::plain;
use skript_python_runtime::options::threads;

use crate::interruptible::interruptible;
use crate::model::compiler;
use crate::problems::exception;

/// A value that one thread uses at a time.
#[derive(Debug)]
struct Shared<T>(Arc<Mutex<T>>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(Arc::clone(&self.0))
    }
}

impl<T> Shared<T> {
    fn new(value: T) -> Self {
        Shared(Arc::new(Mutex::new(value)))
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The language model of a GGUF file, with its tokenizer and a cache of the last text.
///
/// Parameters
/// ----------
/// path
///     a .gguf file
/// context
///     the maximum number of tokens of a text; the default is that of the model, at most 2048
/// threads
///     the number of threads of calls; 0 stands for all CPUs of this process, or SKRIPT_NUM_THREADS
/// cache
///     whether compiled code is stored in and loaded from the user's cache
///
/// Examples
/// --------
/// >>> model = skript.LanguageModel("model.gguf")
/// >>> for text in model.generate("Once upon a time", max_tokens=50):
/// ...     print(text, end="", flush=True)
#[pyclass(frozen, module = "skript")]
pub struct LanguageModel {
    model: Shared<generation::LanguageModel>,
}

/// A text that a model generates: an iterator of its parts.
#[pyclass(frozen, module = "skript")]
pub struct Generation {
    model: Shared<generation::LanguageModel>,
    text: Shared<generation::Generation>,
}

#[pymethods]
impl LanguageModel {
    #[new]
    #[pyo3(signature = (path, /, *, context = None, threads = 0, cache = true))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        context: Option<u64>,
        #[pyo3(from_py_with = threads)] threads: usize,
        cache: bool,
    ) -> PyResult<Self> {
        if !path.exists() {
            let text = format!("{} does not exist", path.display());
            return Err(PyFileNotFoundError::new_err(text));
        }
        let compiler = compiler(py, &Target::host(), cache);
        let opened = interruptible(py, move || generation::LanguageModel::open(&path, context, compiler))?;
        let mut model = opened.map_err(|error| failure(py, error))?;
        model.set_threads(threads);
        Ok(LanguageModel { model: Shared::new(model) })
    }

    /// The maximum number of tokens of a text.
    #[getter]
    fn context(&self) -> usize {
        self.model.lock().context()
    }

    /// The numbers of the tokens of a text; marks such as '<|im_end|>' are tokens.
    fn encode(&self, py: Python<'_>, text: &str) -> PyResult<Vec<u32>> {
        self.model.lock().tokenizer().encode(text, true).map_err(|error| failure(py, error))
    }

    /// Generates a text: skript.generate describes the options.
    #[pyo3(signature = (prompt, /, *, max_tokens = None, temperature = 0.8, top_k = 40, top_p = 0.95, min_p = 0.05, repetition_penalty = 1.0, seed = 0, stop = vec![]))]
    #[allow(clippy::too_many_arguments)]
    fn generate(
        &self,
        py: Python<'_>,
        prompt: &Bound<'_, PyAny>,
        max_tokens: Option<usize>,
        temperature: f64,
        top_k: usize,
        top_p: f64,
        min_p: f64,
        repetition_penalty: f64,
        seed: u64,
        stop: Vec<String>,
    ) -> PyResult<Generation> {
        let sampling = Sampling { temperature, top_k, top_p, min_p, repetition_penalty, seed };
        let options = GenerationOptions { sampling, max_tokens, stops: stop };
        let model = self.model.lock();
        let begun = if let Ok(text) = prompt.extract::<String>() {
            let tokens = model.encode_prompt(&text);
            tokens.and_then(|tokens| generation::Generation::new(&model, &tokens, &options))
        } else {
            Chat::from_messages(messages(prompt)?).answer(&model, &options)
        };
        let text = Shared::new(begun.map_err(|error| failure(py, error))?);
        Ok(Generation { model: self.model.clone(), text })
    }
}

#[pymethods]
impl Generation {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let (model, text) = (self.model.clone(), self.text.clone());
        // Each call has a flag: another call may use the model at the same time.
        let interrupt = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupt);
        let advanced = interruptible(py, move || {
            let mut model = model.lock();
            model.set_interrupt(flag);
            text.lock().advance(&mut model)
        });
        // The thread of the work would otherwise compute the rest of a prompt, and later calls would wait for it.
        interrupt.store(advanced.is_err(), Ordering::Relaxed);
        advanced?.map_err(|error| failure(py, error))
    }

    /// The numbers of the generated tokens.
    #[getter]
    fn tokens(&self) -> Vec<u32> {
        self.text.lock().tokens().to_vec()
    }

    /// Why the text ended: 'end' for a token of the end, 'stop', 'length' for `max_tokens` or 'context'; None if it did not.
    #[getter]
    fn ending(&self) -> Option<&'static str> {
        self.text.lock().ending().map(|ending| match ending {
            Ending::End => "end",
            Ending::Stop => "stop",
            Ending::Length => "length",
            Ending::Context => "context",
        })
    }
}

/// The messages of a conversation: dicts with the keys 'role' and 'content'.
fn messages(value: &Bound<'_, PyAny>) -> PyResult<Vec<Message>> {
    let message = |item: PyResult<Bound<'_, PyAny>>| {
        let item = item?;
        let text = |key: &str| item.get_item(key)?.extract::<String>();
        Ok(Message { role: text("role")?, content: text("content")? })
    };
    value.try_iter()?.map(message).collect()
}

/// The exception of an error.
fn failure(py: Python<'_>, error: Error) -> PyErr {
    match error {
        Error::Model(error) => exception(py, &error),
        Error::Option(_) | Error::Range { .. } => PyValueError::new_err(error.to_string()),
        other => plain(py, other.to_string()),
    }
}
