// SPDX-License-Identifier: Apache-2.0
//! Calls of models whose kernels run on a GPU, through the trait [`Device`].
//!
//! The host code launches kernels by calling `skript_launch`. It never accesses device memory: device addresses are opaque
//! integers, and it reads single elements through `skript_device_read`.

mod array;
mod calls;
mod graphs;
mod home;
mod instance;

pub use array::{Argument, DeviceArray, ForeignArray};
pub(crate) use calls::{table, wait};
pub use instance::DeviceInstance;

use std::fmt;
use std::str::FromStr;

/// The device that executes a model, as named on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The processor.
    Cpu,
    /// A GPU with CUDA, by its number.
    Cuda(usize),
    /// A device with Vulkan, by its number.
    Vulkan(usize),
    /// A GPU if there is one, otherwise the processor.
    Auto,
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, number) = text.split_once(':').unwrap_or((text, "0"));
        let is_plain = name == text;
        let number = number.parse().map_err(|_| format!("`{number}` is not a number"))?;
        match name {
            "cpu" if is_plain => Ok(DeviceChoice::Cpu),
            "auto" if is_plain => Ok(DeviceChoice::Auto),
            "cuda" => Ok(DeviceChoice::Cuda(number)),
            "vulkan" => Ok(DeviceChoice::Vulkan(number)),
            _ => Err("there are cpu, cuda, cuda:N, vulkan, vulkan:N and auto".to_owned()),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Cuda(number) => write!(f, "cuda:{number}"),
            DeviceChoice::Vulkan(number) => write!(f, "vulkan:{number}"),
            DeviceChoice::Auto => f.write_str("auto"),
        }
    }
}

/// One launch of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel's number.
    pub kernel: usize,
    /// The number of blocks.
    pub blocks: u32,
    /// The number of threads of a block.
    pub threads: u32,
    /// The arguments.
    pub words: Vec<u64>,
}

/// A device with the kernels of one model. Addresses are device addresses.
pub trait Device {
    /// The kind and number of this device.
    fn choice(&self) -> DeviceChoice;

    /// Allocates `bytes` bytes, aligned to 64.
    ///
    /// # Errors
    /// The reason why the memory cannot be allocated.
    fn allocate(&mut self, bytes: u64) -> Result<u64, String>;

    /// Waits for the work of other libraries on the device, in their streams.
    ///
    /// # Errors
    /// The reason of the failure.
    fn wait_for_others(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Frees memory that [`Device::allocate`] returned, after all previous launches.
    fn release(&mut self, address: u64);

    /// Writes bytes, after all previous launches.
    ///
    /// # Errors
    /// The reason of the failure.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String>;

    /// Reads bytes, after all previous launches.
    ///
    /// # Errors
    /// The reason of the failure.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), String>;

    /// Copies bytes within device memory, after all previous launches.
    ///
    /// # Errors
    /// The reason of the failure.
    fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), String>;

    /// Launches a kernel, after all previous launches.
    ///
    /// # Errors
    /// The reason of the failure.
    fn launch(&mut self, launch: &Launch) -> Result<(), String>;

    /// Waits for the end of all launches.
    ///
    /// # Errors
    /// The reason why a launch failed.
    fn finish(&mut self) -> Result<(), String>;

    /// The number of loop iterations after which the device terminates a thread; `None` if there is no limit.
    fn iterations(&self) -> Option<i64> {
        None
    }

    /// The CUDA stream of the launches. A library that writes arrays for a call makes this stream wait for the writes.
    fn stream(&self) -> Option<u64> {
        None
    }

    /// Records launches, so that [`Device::replay`] submits them at once; `None` if the device does not support it.
    ///
    /// # Errors
    /// The reason of the failure.
    fn record(&mut self, launches: &[Launch]) -> Result<Option<usize>, String>;

    /// Submits the launches of [`Device::record`], after all previous launches.
    ///
    /// # Errors
    /// The reason of the failure.
    fn replay(&mut self, recorded: usize) -> Result<(), String>;

    /// Frees the recording of [`Device::record`].
    fn discard(&mut self, recorded: usize);
}
