// SPDX-License-Identifier: Apache-2.0
//! Computes a text token by token.

use std::time::{Duration, Instant};

use crate::error::Error;
use crate::model::{LanguageModel, State};
use crate::sampler::{Sampler, Sampling};
use crate::text::TextStream;

/// How a text is generated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenerationOptions {
    /// How tokens are selected.
    pub sampling: Sampling,
    /// The maximum number of tokens; `None` for as many as the context holds.
    pub max_tokens: Option<usize>,
    /// The text ends before the first of these strings.
    pub stops: Vec<String>,
}

/// Why a text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The model computed a token that ends the text.
    End,
    /// The text has a stop string.
    Stop,
    /// The maximum number of tokens was computed.
    Length,
    /// The context is full.
    Context,
}

/// The cost of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// The number of tokens of the prompt that were not in the cache.
    pub prompt_tokens: usize,
    /// The time until the first token was selected, without that of compiling and loading code.
    pub prompt_time: Duration,
    /// The number of generated tokens, with that of the end.
    pub tokens: usize,
    /// The number of generated tokens after the first.
    pub repeated: usize,
    /// The time of all tokens after the first.
    pub time: Duration,
}

/// A text that grows.
pub struct Generation {
    /// The prompt, and the generated tokens.
    text: Vec<u32>,
    prompt: usize,
    max_tokens: Option<usize>,
    sampler: Sampler,
    stream: TextStream,
    ending: Option<Ending>,
    statistics: Statistics,
    /// The state of the text, until it ends; `None` for that of the model.
    state: Option<State>,
}

impl Generation {
    /// A text that continues the tokens of a prompt.
    ///
    /// # Errors
    /// [`Error::Range`] if a number is outside of its range; [`Error::Context`] if the prompt fills the context.
    pub fn new(model: &LanguageModel, prompt: &[u32], options: &GenerationOptions) -> Result<Self, Error> {
        if prompt.is_empty() || prompt.len() >= model.context() {
            return Err(model.too_long(prompt.len() + 1));
        }
        Ok(Generation {
            text: prompt.to_vec(),
            prompt: prompt.len(),
            max_tokens: options.max_tokens,
            sampler: Sampler::new(&options.sampling)?,
            stream: TextStream::new(&options.stops),
            ending: None,
            statistics: Statistics::default(),
            state: None,
        })
    }

    /// The text with a separate cache, which other texts do not change.
    #[must_use]
    pub fn with_cache(self, model: &LanguageModel) -> Self {
        Generation { state: Some(model.empty_state()), ..self }
    }

    /// Computes tokens until there is more text; returns it, or `None` at the end.
    ///
    /// # Errors
    /// The errors of [`LanguageModel::logits`], and [`Error::Logits`].
    pub fn advance(&mut self, model: &mut LanguageModel) -> Result<Option<String>, Error> {
        let Some(mut state) = self.state.take() else {
            return self.advance_in(model);
        };
        model.swap_state(&mut state);
        let advanced = self.advance_in(model);
        model.swap_state(&mut state);
        self.state = Some(state).filter(|_| self.ending.is_none());
        advanced
    }

    /// Computes tokens with the state of the model.
    fn advance_in(&mut self, model: &mut LanguageModel) -> Result<Option<String>, Error> {
        while self.ending.is_none() {
            self.ending = self.full(model);
            let text = match self.ending {
                Some(_) => self.stream.finish(),
                None => self.step(model)?,
            };
            if !text.is_empty() {
                return Ok(Some(text));
            }
        }
        Ok(None)
    }

    /// Why the text ended; `None` if it did not.
    pub fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// The tokens of the prompt.
    pub fn prompt(&self) -> &[u32] {
        self.text.split_at(self.prompt).0
    }

    /// The generated tokens.
    pub fn tokens(&self) -> &[u32] {
        self.text.split_at(self.prompt).1
    }

    /// The cost so far.
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The reason why no other token is computed.
    fn full(&self, model: &LanguageModel) -> Option<Ending> {
        let count = self.text.len() - self.prompt;
        match self.max_tokens {
            Some(max) if count >= max => Some(Ending::Length),
            _ if self.text.len() >= model.context() => Some(Ending::Context),
            _ => None,
        }
    }

    /// Computes one token; returns the text that is complete.
    fn step(&mut self, model: &mut LanguageModel) -> Result<String, Error> {
        let (begun, prepared) = (Instant::now(), model.preparation());
        let new = model.new_tokens(&self.text);
        let logits = model.logits(&self.text)?;
        let token = self.sampler.select(logits, &self.text).ok_or(Error::Logits(self.text.len()))?;
        let time = begun.elapsed().saturating_sub(model.preparation() - prepared);
        if self.statistics.tokens == 0 {
            self.statistics.prompt_tokens = new;
            self.statistics.prompt_time = time;
        } else {
            self.statistics.repeated += 1;
            self.statistics.time += time;
        }
        self.statistics.tokens += 1;
        if model.tokenizer().is_end(token) {
            self.ending = Some(Ending::End);
            return Ok(self.stream.finish());
        }
        self.text.push(token);
        let text = self.stream.push(model.tokenizer().bytes(token));
        if self.stream.is_stopped() {
            self.ending = Some(Ending::Stop);
        }
        Ok(text)
    }
}
