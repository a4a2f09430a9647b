// SPDX-License-Identifier: Apache-2.0
//! WebAssembly has no files, and so no `.npz` files.

use crate::error::{Admits, TensorError};
use crate::map::MappedFile;
use crate::tensor::Tensor;
use std::path::Path;

/// The arrays of one file. This type has no values.
#[derive(Clone, Debug)]
pub enum Npz {}

impl Npz {
    /// Refuses the file.
    ///
    /// # Errors
    /// Always.
    pub fn open(path: &Path, _: u64) -> Result<Npz, TensorError> {
        Err(TensorError::format(path, "WebAssembly reads no .npz files"))
    }

    pub(crate) fn new(_: MappedFile, path: &Path, max_bytes: u64) -> Result<Npz, TensorError> {
        Npz::open(path, max_bytes)
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        match *self {}
    }

    /// The names of all arrays.
    pub fn names(&self) -> &[String] {
        match *self {}
    }

    /// Whether the file has an array of this name.
    pub fn contains(&self, _: &str) -> bool {
        match *self {}
    }

    /// The array with this name.
    ///
    /// # Errors
    /// Never, because the type has no values.
    pub fn get(&self, _: &str, _: Admits<'_>) -> Result<Option<Tensor>, TensorError> {
        match *self {}
    }
}
