// SPDX-License-Identifier: Apache-2.0
//! The tensors that the conversions of a file share.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use skript_tensor::Tensor;

use crate::proto::TensorProto;

/// Bytes of the smallest tensor that conversions share.
const SHARED_BYTES: usize = 1 << 12;

/// Tensors by their bytes in the file, with their element types; all conversions share them.
#[derive(Debug, Default)]
pub struct SharedTensors(Mutex<HashMap<(usize, usize, i32), Tensor>>);

impl SharedTensors {
    /// The tensor of these bytes, which `read` reads if no conversion has.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn get(
        &self,
        proto: &mut TensorProto,
        read: impl FnOnce(&mut TensorProto) -> Result<Tensor, String>,
    ) -> Result<Tensor, String> {
        let bytes = &proto.raw_data;
        if bytes.len() < SHARED_BYTES {
            return read(proto);
        }
        // The file's bytes do not move while it is open.
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
