// SPDX-License-Identifier: Apache-2.0
//! Language models in GGUF files: `LanguageModel`, `Generation` and `generate`.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyFileNotFoundError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use skript::{Activations, Target};
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
/// activations
///     'real', or 'int8': low-bit matrices multiply 8-bit integers with scales, which is faster and less exact
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
    #[pyo3(signature = (path, /, *, context = None, activations = "real", threads = 0, cache = true))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        context: Option<u64>,
        activations: &str,
        #[pyo3(from_py_with = threads)] threads: usize,
        cache: bool,
    ) -> PyResult<Self> {
        let activations = match activations {
            "real" => Activations::Real,
            "int8" => Activations::Int8,
            other => {
                let text = format!("activations are 'real' or 'int8', not {other:?}");
                return Err(PyValueError::new_err(text));
            }
        };
        if !path.exists() {
            let text = format!("{} does not exist", path.display());
            return Err(PyFileNotFoundError::new_err(text));
        }
        let compiler = compiler(py, &Target::host(), cache);
        let opened = interruptible(py, move || {
            generation::LanguageModel::open(&path, context, activations, compiler)
        })?;
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

    /// Generates a text, or a list of texts for a list of prompts: skript.generate describes the options.
    #[pyo3(signature = (prompt, /, *, callback = None, max_tokens = None, temperature = 0.8, top_k = 40, top_p = 0.95, min_p = 0.05, repetition_penalty = 1.0, seed = 0, stop = vec![]))]
    #[allow(clippy::too_many_arguments)]
    fn generate(
        &self,
        py: Python<'_>,
        prompt: &Bound<'_, PyAny>,
        callback: Option<&Bound<'_, PyAny>>,
        max_tokens: Option<usize>,
        temperature: f64,
        top_k: usize,
        top_p: f64,
        min_p: f64,
        repetition_penalty: f64,
        seed: u64,
        stop: Vec<String>,
    ) -> PyResult<Py<PyAny>> {
        let sampling = Sampling { temperature, top_k, top_p, min_p, repetition_penalty, seed };
        let options = GenerationOptions { sampling, max_tokens, stops: stop };
        // An iterator of messages is read once.
        let items = if prompt.is_instance_of::<PyString>() {
            prompt.clone()
        } else {
            PyList::new(py, prompt.try_iter()?.collect::<PyResult<Vec<_>>>()?)?.into_any()
        };
        let prompt = &items;
        let Some(prompts) = prompts(prompt)? else {
            if callback.is_some() {
                return Err(PyValueError::new_err(
                    "'callback' is for a list of prompts; one text is an iterator",
                ));
            }
            let text = Shared::new(self.begin(py, prompt, &options)?);
            return Ok(Generation { model: self.model.clone(), text }.into_pyobject(py)?.into_any().unbind());
        };
        let texts = prompts.iter().map(|prompt| {
            let text = self.begin(py, prompt, &options)?.with_cache(&self.model.lock());
            Ok(Generation { model: self.model.clone(), text: Shared::new(text) })
        });
        let texts = texts.collect::<PyResult<Vec<_>>>()?;
        if let Some(callback) = callback {
            in_turn(py, &texts, callback)?;
        }
        Ok(texts.into_pyobject(py)?.into_any().unbind())
    }
}

impl LanguageModel {
    /// The text that continues a prompt, or answers messages.
    fn begin(
        &self,
        py: Python<'_>,
        prompt: &Bound<'_, PyAny>,
        options: &GenerationOptions,
    ) -> PyResult<generation::Generation> {
        let model = self.model.lock();
        let begun = if let Ok(text) = prompt.extract::<String>() {
            let tokens = model.encode_prompt(&text);
            tokens.and_then(|tokens| generation::Generation::new(&model, &tokens, options))
        } else {
            Chat::from_messages(messages(prompt)?).answer(&model, options)
        };
        begun.map_err(|error| failure(py, error))
    }
}

/// The prompts of a list: texts or conversations. `None` for one text or conversation.
fn prompts<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    if value.is_instance_of::<PyString>() {
        return Ok(None);
    }
    let items = value.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let is_prompt = |item: &Bound<'py, PyAny>| {
        item.is_instance_of::<PyString>()
            || item.is_instance_of::<PyList>()
            || item.is_instance_of::<PyTuple>()
    };
    Ok(items.first().is_some_and(is_prompt).then_some(items))
}

/// Computes texts part by part, and passes each part with the number of its text to the callback.
fn in_turn(py: Python<'_>, texts: &[Generation], callback: &Bound<'_, PyAny>) -> PyResult<()> {
    let mut growing: Vec<usize> = (0..texts.len()).collect();
    while !growing.is_empty() {
        let mut rest = Vec::new();
        for number in growing {
            if let Some(part) = texts.get(number).map(|text| text.__next__(py)).transpose()?.flatten() {
                callback.call1((number, part))?;
                rest.push(number);
            }
        }
        growing = rest;
    }
    Ok(())
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
