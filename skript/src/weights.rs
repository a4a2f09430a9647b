// SPDX-License-Identifier: Apache-2.0
//! Sources of the values of variables.

use crate::error::Error;
use skript_runtime::artifact::Port;
use skript_tensor::{
    MissingWeights, Tensor, TensorError, VariableRequest, WeightStore, load_each, load_variables,
};
use std::path::Path;

/// The maximum unpacked size in bytes of a compressed file of weights.
const UNPACKED: u64 = 2 << 30;

/// Values of a model's variables.
#[derive(Clone, Debug)]
pub struct Weights {
    store: WeightStore,
    missing: MissingWeights,
}

impl Weights {
    /// No values: for models without variables, and code that embeds its weights.
    pub fn none() -> Self {
        Weights { store: WeightStore::default(), missing: MissingWeights::Error }
    }

    /// Random values for all variables, equal for equal seeds: for measurements.
    pub fn random(seed: u64) -> Self {
        Weights { store: WeightStore::default(), missing: MissingWeights::Random(seed) }
    }

    /// A folder of `.dat` files, or a `.safetensors` or `.npz` file. Files are mapped, not copied.
    ///
    /// # Errors
    /// [`Error::Arrays`] if a file cannot be read.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Ok(Weights::of(WeightStore::open(path, UNPACKED)?))
    }

    pub(crate) fn of(store: WeightStore) -> Self {
        Weights { store, missing: MissingWeights::Error }
    }

    /// Arrays in memory, by the names of variables.
    pub fn arrays(arrays: impl IntoIterator<Item = (String, Tensor)>) -> Self {
        Weights::of(WeightStore::arrays(arrays))
    }

    /// Whether it is [`Weights::none`].
    pub(crate) fn are_none(&self) -> bool {
        self.store.is_empty() && matches!(self.missing, MissingWeights::Error)
    }

    /// The values of these variables, in order.
    pub(crate) fn load(&self, ports: &[Port]) -> Result<Vec<Tensor>, Error> {
        let requests: Vec<VariableRequest> = ports.iter().map(request).collect();
        load_variables(&self.store, &requests, self.missing).map_err(Error::Arrays)
    }

    /// The same, one result for each variable.
    pub(crate) fn load_each(&self, ports: &[Port]) -> Vec<Result<Tensor, TensorError>> {
        let requests: Vec<VariableRequest> = ports.iter().map(request).collect();
        load_each(&self.store, &requests, self.missing)
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
