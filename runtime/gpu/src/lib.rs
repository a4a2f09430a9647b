// SPDX-License-Identifier: Apache-2.0
//! Devices for compiled models: [`vulkan`] runs SPIR-V. Drivers are loaded when a device is opened.
//!
//! Internal to the compiler. This interface changes without notice.
#![warn(missing_docs)]

mod memory;
pub mod vulkan;

/// Why there is no device, or it failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// The driver's loader is not on this system.
    #[error("no Vulkan here: {0}")]
    Missing(String),
    /// No device of this number.
    #[error("there is no Vulkan device {wanted}; there are {found}")]
    Number {
        /// The wanted number, from 0.
        wanted: usize,
        /// How many there are.
        found: usize,
    },
    /// The device lacks what kernels need.
    #[error("the device {device} lacks {lacks}, which kernels need")]
    Features {
        /// Its name.
        device: String,
        /// What it lacks.
        lacks: &'static str,
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
