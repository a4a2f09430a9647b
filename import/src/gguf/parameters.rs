// SPDX-License-Identifier: Apache-2.0
//! Hyperparameters: keys of the metadata that begin with the architecture.

use skript_tensor::Gguf;
use skript_tensor::gguf::Value;

use crate::refusal::{Reason, Ruled};

/// The largest hyperparameter that is accepted: products of three fit 64 bits.
const MAX_INT: u64 = 1 << 20;

/// The keys of an architecture.
#[derive(Clone, Copy)]
pub(super) struct Parameters<'f> {
    pub file: &'f Gguf,
    pub architecture: &'f str,
}

impl<'f> Parameters<'f> {
    fn key(self, name: &str) -> String {
        format!("{}.{name}", self.architecture)
    }

    fn value(self, name: &str) -> Option<&'f Value> {
        self.file.value(&self.key(name))
    }

    /// An integer between 1 and 2^20; `None` without the key.
    pub fn optional_int(self, name: &str) -> Ruled<Option<u64>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Int(n)) => match u64::try_from(*n).ok().filter(|n| (1..=MAX_INT).contains(n)) {
                Some(n) => Ok(Some(n)),
                None => Err(self.wrong(name, &format!("is {n}; supported are 1 to {MAX_INT}"))),
            },
            Some(Value::List(_)) => Err(self.wrong(name, "differs between layers, which is not supported")),
            Some(_) => Err(self.wrong(name, "is not an integer")),
        }
    }

    pub fn int(self, name: &str) -> Ruled<u64> {
        self.optional_int(name)?.ok_or_else(|| self.wrong(name, "is missing"))
    }

    /// A finite number above zero; `None` without the key.
    pub fn optional_real(self, name: &str) -> Ruled<Option<f64>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Real(x)) if x.is_finite() && *x > 0.0 => Ok(Some(*x)),
            Some(_) => Err(self.wrong(name, "is not a finite number above zero")),
        }
    }

    pub fn real(self, name: &str) -> Ruled<f64> {
        self.optional_real(name)?.ok_or_else(|| self.wrong(name, "is missing"))
    }

    /// Refuses a key that has another value than `none`, 0 or false.
    pub fn absent(self, name: &str) -> Ruled<()> {
        match self.value(name) {
            None | Some(Value::Int(0) | Value::Real(0.0) | Value::Bool(false)) => Ok(()),
            Some(Value::Text(text)) if text == "none" => Ok(()),
            Some(_) => Err(self.wrong(name, "has a value that is not supported")),
        }
    }

    /// Refuses a key of a factor that is not 1, or of a flag that is not set.
    pub fn one(self, name: &str) -> Ruled<()> {
        match self.value(name) {
            None | Some(Value::Int(1) | Value::Real(1.0) | Value::Bool(true)) => Ok(()),
            Some(_) => Err(self.wrong(name, "has a value other than 1 or true, which is not supported")),
        }
    }

    /// Refuses a flag with another value.
    pub fn flag(self, name: &str, expected: bool) -> Ruled<()> {
        match self.value(name) {
            Some(Value::Bool(is_set)) if *is_set != expected => {
                Err(self.wrong(name, &format!("is {is_set}, which the architecture does not support")))
            }
            None | Some(Value::Bool(_)) => Ok(()),
            Some(_) => Err(self.wrong(name, "is not a bool")),
        }
    }

    /// An integer above 0; `None` for 0 and without the key.
    pub fn optional_natural(self, name: &str) -> Ruled<Option<u64>> {
        match self.value(name) {
            Some(Value::Int(0)) => Ok(None),
            _ => self.optional_int(name),
        }
    }

    /// A string; `None` without the key.
    pub fn text(self, name: &str) -> Ruled<Option<&'f str>> {
        match self.value(name) {
            None => Ok(None),
            Some(Value::Text(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(name, "is not a string")),
        }
    }

    pub fn wrong(self, name: &str, text: &str) -> Reason {
        Reason(format!("the key `{}` {text}", self.key(name)))
    }
}
