// SPDX-License-Identifier: Apache-2.0
//! The tensors that the conversions of a file share.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use skript_tensor::Tensor;

use crate::proto::TensorProto;

/// Minimum size of shared tensors in bytes.
const SHARED_BYTES: usize = 1 << 12;

/// Tensors by address and length of their bytes in the file, and element type.
#[derive(Debug, Default)]
pub struct SharedTensors(Mutex<HashMap<(usize, usize, i32), Tensor>>);

impl SharedTensors {
    /// Returns the tensor of these bytes. The first conversion reads it by `read`.
    ///
    /// # Errors
    /// The errors of `read`.
    pub fn get(
        &self,
        proto: &mut TensorProto,
        read: impl FnOnce(&mut TensorProto) -> Result<Tensor, String>,
    ) -> Result<Tensor, String> {
        let bytes = &proto.raw_data;
        if bytes.len() < SHARED_BYTES {
            return read(proto);
        }
        // The bytes do not move while the file is open.
        let key = (bytes.as_ptr().addr(), bytes.len(), proto.data_type);
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tensor) = lock().get(&key) {
            return Ok(tensor.clone());
        }
        let tensor = read(proto)?;
        lock().insert(key, tensor.clone());
        Ok(tensor)
    }
}
