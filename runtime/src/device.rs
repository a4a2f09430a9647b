// SPDX-License-Identifier: Apache-2.0
//! Calls of models whose kernels run on a device: a GPU, by [`Device`].
//!
//! The code of the host launches kernels by calls of `skript_launch`. It never accesses memory of the device: addresses there are
//! numbers to it, and what it needs to know it reads by `skript_device_read`.

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

/// Where a model runs, as command lines name it.
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
        let number = number.parse().map_err(|_| format!("`{number}` is no number"))?;
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

/// A device with the kernels of one model. Addresses are its own.
pub trait Device {
    /// Which device this is, by its number.
    fn choice(&self) -> DeviceChoice;

    /// Memory of so many bytes, aligned to 64.
    ///
    /// # Errors
    /// Why there is none.
    fn allocate(&mut self, bytes: u64) -> Result<u64, String>;

    /// Waits for what other libraries do on the device, in streams of theirs.
    ///
    /// # Errors
    /// Why it failed.
    fn wait_for_others(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Frees memory that [`Device::allocate`] returned, after all launches before.
    fn release(&mut self, address: u64);

    /// Writes bytes, after all launches before.
    ///
    /// # Errors
    /// Why it failed.
    fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), String>;

    /// Reads bytes, after all launches before.
    ///
    /// # Errors
    /// Why it failed.
    fn read(&mut self, address: u64, bytes: &mut [u8]) -> Result<(), String>;

    /// Copies bytes within the memory of the device, after all launches before.
    ///
    /// # Errors
    /// Why it failed.
    fn copy(&mut self, from: u64, to: u64, bytes: u64) -> Result<(), String>;

    /// Launches a kernel, after all launches before.
    ///
    /// # Errors
    /// Why it failed.
    fn launch(&mut self, launch: &Launch) -> Result<(), String>;

    /// Waits for the end of all launches.
    ///
    /// # Errors
    /// Why one of them failed.
    fn finish(&mut self) -> Result<(), String>;

    /// After how many iterations of loops the device ends those of a thread, if it does.
    fn iterations(&self) -> Option<i64> {
        None
    }

    /// The stream of CUDA that launches are in. Who writes arrays for a call makes it wait for that.
    fn stream(&self) -> Option<u64> {
        None
    }

    /// Keeps launches, so that [`Device::replay`] does all of them at once; `None` if the device cannot.
    ///
    /// # Errors
    /// Why it failed.
    fn record(&mut self, launches: &[Launch]) -> Result<Option<usize>, String>;

    /// Does the launches of [`Device::record`], after all launches before.
    ///
    /// # Errors
    /// Why it failed.
    fn replay(&mut self, recorded: usize) -> Result<(), String>;

    /// Frees what [`Device::record`] made.
    fn discard(&mut self, recorded: usize);
}
