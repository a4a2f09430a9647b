// SPDX-License-Identifier: Apache-2.0
//! Launches that are repeated.
//!
//! The launches of a call follow from the addresses and extents of its arrays, unless the code of the host reads elements. A second
//! call with the same ones needs no code of the host: the device does all launches at once, as a graph of CUDA or a command buffer
//! of Vulkan.

use super::{Device, Launch};

/// The greatest number of calls that are known by their launches.
const MOST: usize = 4;

/// What the launches of a call follow from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// Addresses of inputs, variables and outputs.
    pub(crate) addresses: Vec<u64>,
    /// Extents of dynamic arrays before the call.
    pub(crate) extents: Vec<i64>,
}

/// A call that was made before.
struct Known {
    key: Key,
    /// Extents of dynamic arrays after the call.
    extents: Vec<i64>,
    what: What,
}

/// How a call is made once more.
enum What {
    /// Its launches.
    Launches(Vec<Launch>),
    /// What the device made of them.
    Recorded(usize),
}

/// Calls that were made before, the latest last.
#[derive(Default)]
pub(crate) struct Graphs(Vec<Known>);

impl Graphs {
    /// Makes a call once more, if it is known; returns the extents of dynamic arrays after it.
    ///
    /// # Errors
    /// Why the device failed.
    pub(crate) fn repeat(&mut self, key: &Key, device: &mut dyn Device) -> Result<Option<&[i64]>, String> {
        let Some(at) = self.0.iter().position(|known| known.key == *key) else {
            return Ok(None);
        };
        let mut known = self.0.remove(at);
        if let What::Launches(launches) = &known.what {
            match device.record(launches)? {
                Some(recorded) => known.what = What::Recorded(recorded),
                None => return Ok(None),
            }
        }
        if let What::Recorded(recorded) = known.what {
            device.replay(recorded)?;
        }
        self.0.push(known);
        Ok(self.0.last().map(|known| known.extents.as_slice()))
    }

    /// Remembers the launches of a call.
    pub(crate) fn add(
        &mut self,
        key: Key,
        extents: Vec<i64>,
        launches: Vec<Launch>,
        device: &mut dyn Device,
    ) {
        if self.0.len() >= MOST {
            let oldest = self.0.remove(0);
            if let What::Recorded(recorded) = oldest.what {
                device.discard(recorded);
            }
        }
        let what = What::Launches(launches);
        self.0.push(Known { key, extents, what });
    }
}
