// SPDX-License-Identifier: Apache-2.0
//! Reads the keys of the tokenizer.

use skript_tensor::Gguf;
use skript_tensor::gguf::Value;

use crate::error::Error;

/// The keys `tokenizer.…` of a file.
#[derive(Clone, Copy)]
pub(crate) struct Metadata<'f>(pub &'f Gguf);

impl<'f> Metadata<'f> {
    /// The error that a key is wrong.
    pub fn wrong(self, key: &str, text: &str) -> Error {
        Error::Tokenizer(format!("{}: the key `{key}` {text}", self.0.path().display()))
    }

    /// A string; `None` without the key.
    pub fn text(self, key: &str) -> Result<Option<&'f str>, Error> {
        match self.0.value(key) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(key, "is not a string")),
        }
    }

    /// A bool; `None` without the key.
    pub fn flag(self, key: &str) -> Result<Option<bool>, Error> {
        match self.0.value(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => Err(self.wrong(key, "is not a bool")),
        }
    }

    /// The number of a token below `count`; `None` without the key.
    pub fn token(self, key: &str, count: usize) -> Result<Option<u32>, Error> {
        match self.0.value(key) {
            None => Ok(None),
            Some(Value::Int(n)) => {
                let token = u32::try_from(*n).ok().filter(|n| (*n as usize) < count);
                let wrong = || self.wrong(key, &format!("is {n}, but the vocabulary has {count} tokens"));
                token.map(Some).ok_or_else(wrong)
            }
            Some(_) => Err(self.wrong(key, "is not the number of a token")),
        }
    }
}
