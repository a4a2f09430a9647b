// SPDX-License-Identifier: Apache-2.0
//! Sources of the values of variables.

use crate::error::Error;
use skript_runtime::artifact::Port;
use skript_tensor::{
    MissingWeights, Tensor, TensorError, VariableRequest, WeightStore, load_each, load_variables,
};
use std::path::Path;

/// Maximum unpacked size in bytes of a `.tgz` file, or of a compressed array in a `.npz` file.
const MAX_UNPACKED_BYTES: u64 = 2 << 30;

/// A source of the values of a model's variables.
#[derive(Clone, Debug)]
pub struct Weights {
    store: WeightStore,
    missing: MissingWeights,
}

impl Weights {
    /// No values: for models without variables, and code that embeds its weights.
    pub fn none() -> Self {
        Weights::new(WeightStore::default())
    }

    /// Random values for all variables, for measurements. Equal seeds result in equal values.
    pub fn random(seed: u64) -> Self {
        Weights::none().or(MissingWeights::Random(seed))
    }

    /// A folder of `.dat` files, or a `.safetensors`, `.npz`, `.gguf` or `.tgz` file. `.tgz` files and arrays of
    /// `.npz` files are unpacked into memory. All other files are mapped, not copied.
    ///
    /// # Errors
    /// [`Error::Arrays`] if a file cannot be read.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Weights::new(WeightStore::open(path, MAX_UNPACKED_BYTES)?))
    }

    /// Values from this store.
    pub fn new(store: WeightStore) -> Self {
        Weights { store, missing: MissingWeights::Error }
    }

    /// Arrays in memory, by the names of variables.
    pub fn arrays(arrays: impl IntoIterator<Item = (String, Tensor)>) -> Self {
        Weights::new(WeightStore::arrays(arrays))
    }

    /// This source with another policy for missing variables.
    #[must_use]
    pub fn or(self, missing: MissingWeights) -> Self {
        Weights { missing, ..self }
    }

    /// This source as a fallback of `first`.
    #[must_use]
    pub fn after(self, first: WeightStore) -> Self {
        Weights { store: self.store.after(first), ..self }
    }

    /// The store.
    pub fn store(&self) -> &WeightStore {
        &self.store
    }

    /// Whether it is [`Weights::none`].
    pub(crate) fn are_none(&self) -> bool {
        self.store.is_empty() && matches!(self.missing, MissingWeights::Error)
    }

    /// The values of these variables, in order.
    pub(crate) fn load(&self, requests: &[VariableRequest]) -> Result<Vec<Tensor>, Error> {
        load_variables(&self.store, requests, self.missing).map_err(Error::Arrays)
    }

    /// The values of the variables at these ports of compiled code, in order.
    pub(crate) fn of_ports(&self, ports: &[Port]) -> Result<Vec<Tensor>, Error> {
        self.load(&ports.iter().map(request).collect::<Vec<_>>())
    }

    /// The values of these variables, each with its own result.
    pub fn load_each(&self, requests: &[VariableRequest]) -> Vec<Result<Tensor, TensorError>> {
        load_each(&self.store, requests, self.missing)
    }
}

fn request(port: &Port) -> VariableRequest<'_> {
    VariableRequest {
        name: &port.name,
        aliases: &port.aliases,
        element: port.element,
        shape: port.shape.iter().map(|extent| extent.bound()).collect(),
    }
}
