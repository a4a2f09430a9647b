// SPDX-License-Identifier: Apache-2.0
//! A device that an instance and its arrays share.

use super::Device;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of free memory blocks that are kept for reuse.
const MAX_FREE: usize = 32;

/// A device, which is closed when the last array in its memory is dropped.
pub(crate) struct Home {
    device: Mutex<Box<dyn Device + Send>>,
    /// Memory of dropped arrays, the oldest first.
    free: Mutex<Vec<Free>>,
}

/// A block of free memory.
struct Free {
    address: u64,
    bytes: u64,
    /// Whether another library may still use the memory.
    is_lent: bool,
}

impl Home {
    pub(crate) fn new(device: Box<dyn Device + Send>) -> Home {
        Home { device: Mutex::new(device), free: Mutex::new(Vec::new()) }
    }

    /// Locks the device.
    pub(crate) fn device(&self) -> MutexGuard<'_, Box<dyn Device + Send>> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn free(&self) -> MutexGuard<'_, Vec<Free>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns memory for an array of `bytes` bytes.
    ///
    /// # Errors
    /// The reason why the memory cannot be allocated.
    pub(crate) fn take(&self, bytes: u64) -> Result<u64, String> {
        let mut free = self.free();
        if let Some(at) = free.iter().position(|memory| memory.bytes == bytes) {
            let memory = free.remove(at);
            if memory.is_lent {
                self.device().wait_for_others()?;
            }
            return Ok(memory.address);
        }
        let mut device = self.device();
        let surplus = free.len().saturating_sub(MAX_FREE);
        for memory in free.drain(..surplus) {
            device.release(memory.address);
        }
        if let Ok(address) = device.allocate(bytes) {
            return Ok(address);
        }
        for memory in free.drain(..) {
            device.release(memory.address);
        }
        device.allocate(bytes)
    }

    /// Releases memory for reuse by another array, without waiting for a call.
    pub(crate) fn give(&self, address: u64, bytes: u64, is_lent: bool) {
        self.free().push(Free { address, bytes, is_lent });
    }
}
