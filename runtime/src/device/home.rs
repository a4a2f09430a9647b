// SPDX-License-Identifier: Apache-2.0
//! A device that an instance and its arrays share.

use super::Device;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The greatest number of blocks of memory that wait for their next use.
const MOST_FREE: usize = 32;

/// The device. It lives as long as the last array in its memory.
pub(crate) struct Home {
    device: Mutex<Box<dyn Device + Send>>,
    /// Memory of arrays that are no more, the oldest first.
    free: Mutex<Vec<Free>>,
}

/// Memory that nothing here uses.
struct Free {
    address: u64,
    bytes: u64,
    /// Whether another library may still use it.
    is_lent: bool,
}

impl Home {
    pub(crate) fn new(device: Box<dyn Device + Send>) -> Home {
        Home { device: Mutex::new(device), free: Mutex::new(Vec::new()) }
    }

    /// The device, when no other thread uses it.
    pub(crate) fn device(&self) -> MutexGuard<'_, Box<dyn Device + Send>> {
        self.device.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn free(&self) -> MutexGuard<'_, Vec<Free>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Memory for an array of so many bytes.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn take(&self, bytes: u64) -> Result<u64, String> {
        let mut free = self.free();
        if let Some(at) = free.iter().position(|own| own.bytes == bytes) {
            let found = free.remove(at);
            if found.is_lent {
                self.device().wait_for_others()?;
            }
            return Ok(found.address);
        }
        let mut device = self.device();
        let surplus = free.len().saturating_sub(MOST_FREE);
        for own in free.drain(..surplus) {
            device.release(own.address);
        }
        if let Ok(address) = device.allocate(bytes) {
            return Ok(address);
        }
        for own in free.drain(..) {
            device.release(own.address);
        }
        device.allocate(bytes)
    }

    /// Takes memory back, which another array may use then. It does not wait for a call.
    pub(crate) fn give(&self, address: u64, bytes: u64, is_lent: bool) {
        self.free().push(Free { address, bytes, is_lent });
    }
}
