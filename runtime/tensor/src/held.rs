// SPDX-License-Identifier: Apache-2.0
//! Arrays in memory, such as those of an imported model.

use crate::error::{Admits, TensorError};
use crate::tensor::Tensor;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Arrays by name. Clones share the arrays.
#[derive(Clone, Debug)]
pub struct HeldArrays {
    path: PathBuf,
    arrays: Arc<[(String, Tensor)]>,
    positions: Arc<HashMap<String, usize>>,
}

impl HeldArrays {
    /// Creates the collection; messages name `path` as the file of the arrays.
    pub fn new(path: &Path, arrays: Vec<(String, Tensor)>) -> HeldArrays {
        let positions = arrays.iter().enumerate().map(|(at, (name, _))| (name.clone(), at)).collect();
        HeldArrays { path: path.to_path_buf(), arrays: arrays.into(), positions: Arc::new(positions) }
    }

    /// The path in messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The names, in the order of the arrays.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.arrays.iter().map(|(name, _)| name.as_str())
    }

    /// The array of this name, if there is one.
    pub(crate) fn get(&self, name: &str, admits: Admits<'_>) -> Result<Option<Tensor>, TensorError> {
        let Some((_, tensor)) = self.positions.get(name).and_then(|at| self.arrays.get(*at)) else {
            return Ok(None);
        };
        admits(tensor.element(), tensor.shape())?;
        Ok(Some(tensor.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_found_by_name() {
        let tensor = Tensor::from_f32(&[2], &[1.0, 2.0]).unwrap();
        let held = HeldArrays::new(Path::new("net.onnx"), vec![("main.G.w".to_owned(), tensor)]);
        let tensor = held.get("main.G.w", &|_, _| Ok(())).unwrap().unwrap();
        assert_eq!(tensor.shape(), [2]);
        assert!(held.get("main.G.v", &|_, _| Ok(())).unwrap().is_none());
        assert_eq!(held.names().collect::<Vec<_>>(), ["main.G.w"]);
    }
}
