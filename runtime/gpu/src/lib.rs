// SPDX-License-Identifier: Apache-2.0
//! Devices for compiled models: [`cuda`] runs PTX, [`vulkan`] SPIR-V. Drivers are loaded when a device is opened.
//!
//! Internal to the compiler. This interface changes without notice.
#![warn(missing_docs)]

pub mod cuda;
mod memory;
pub mod vulkan;

use cuda::Cuda;
use skript_runtime::artifact::{Kernels, Language};
use skript_runtime::device::{Device, DeviceChoice};
use vulkan::Vulkan;

/// Opens a device for these kernels.
///
/// # Errors
/// [`DeviceError`] if there is no such device, or it does not run kernels in their language.
pub fn open(kernels: &Kernels, choice: DeviceChoice) -> Result<Box<dyn Device + Send>, DeviceError> {
    let (code, names) = (&kernels.code, &kernels.names);
    match (choice, kernels.language) {
        (DeviceChoice::Cuda(number), Language::Ptx) => Ok(Box::new(Cuda::open(number, code, names)?)),
        (DeviceChoice::Vulkan(number), Language::SpirV) => Ok(Box::new(Vulkan::open(number, code, names)?)),
        (DeviceChoice::Auto, Language::Ptx) => Ok(Box::new(Cuda::open(0, code, names)?)),
        (DeviceChoice::Auto, Language::SpirV) => Ok(Box::new(Vulkan::open(0, code, names)?)),
        (_, language) => Err(DeviceError::Language(language.name())),
    }
}

/// The GPU that [`DeviceChoice::Auto`] stands for, and its name.
///
/// # Errors
/// The error of each interface.
pub fn find() -> Result<(DeviceChoice, String), [DeviceError; 2]> {
    let cuda = match cuda::probe(0) {
        Ok(name) => return Ok((DeviceChoice::Cuda(0), name)),
        Err(error) => error,
    };
    match vulkan::first_gpu() {
        Ok((number, name)) => Ok((DeviceChoice::Vulkan(number), name)),
        Err(error) => Err([cuda, error]),
    }
}

/// The reason why no device is available, or why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The driver is not installed.
    #[error("no {api} here: {reason}")]
    Missing {
        /// The interface of the driver.
        api: &'static str,
        /// The reason.
        reason: String,
    },
    /// No device of this number.
    #[error("there is no {api} device {wanted}; there are {found}")]
    Number {
        /// The interface of the driver.
        api: &'static str,
        /// The wanted number, from 0.
        wanted: usize,
        /// The number of devices.
        found: usize,
    },
    /// The device runs kernels in another language.
    #[error("the kernels are in {0}, which this device does not run")]
    Language(&'static str),
    /// The device lacks a feature that kernels require.
    #[error("the device {device} lacks {lacks}, which kernels need")]
    Features {
        /// Its name.
        device: String,
        /// The missing feature.
        lacks: &'static str,
    },
    /// The free memory of the device is insufficient.
    #[error("the device {device} has no {bytes} bytes of memory left")]
    Memory {
        /// Its name.
        device: String,
        /// The wanted number of bytes.
        bytes: usize,
    },
    /// A call of the driver failed.
    #[error("{what} failed: {error}")]
    Driver {
        /// The call.
        what: &'static str,
        /// The driver's error.
        error: String,
    },
}
