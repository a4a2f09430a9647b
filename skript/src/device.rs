// SPDX-License-Identifier: Apache-2.0
//! GPUs.

use crate::error::Error;
use crate::target::Target;
use skript_passes::target::{Gpu, Language, TargetError};
use skript_runtime::RunError;
use skript_runtime::artifact::Kernels;
use skript_runtime::device::{Device, DeviceChoice};

impl Target {
    /// A GPU; the code that launches kernels is compiled for this processor. [`DeviceChoice::Auto`] is the first GPU of this
    /// system. `architecture` is a value of `skript compile --gpu-arch`, or `None` for the oldest architecture, whose code also
    /// runs on later GPUs.
    ///
    /// # Errors
    /// [`Error::Target`] for an unknown architecture, [`Error::Run`] if no GPU was found or `device` is [`DeviceChoice::Cpu`].
    pub fn gpu(device: DeviceChoice, architecture: Option<&str>) -> Result<Self, Error> {
        let device = match device {
            DeviceChoice::Auto => find().map_err(RunError::Device)?.0,
            other => other,
        };
        let (usual, language) = match device {
            DeviceChoice::Cuda(_) => ("sm_80", Language::Ptx),
            DeviceChoice::Vulkan(_) => ("vulkan", Language::SpirV),
            DeviceChoice::Cpu | DeviceChoice::Auto => {
                return Err(RunError::Device(format!("{device} is not a GPU")).into());
            }
        };
        let name = architecture.unwrap_or(usual);
        let gpu = Gpu::named(name).filter(|gpu| gpu.language == language);
        let mut target = Target::host();
        target.inner.gpu = Some(gpu.ok_or_else(|| TargetError::Gpu { name: name.to_owned(), language })?);
        target.inner.device = device;
        Ok(target)
    }
}

/// The GPU that [`DeviceChoice::Auto`] stands for, and its name.
///
/// # Errors
/// The reason, if there is no GPU.
#[cfg(feature = "gpu")]
pub fn find() -> Result<(DeviceChoice, String), String> {
    skript_gpu::find().map_err(|[cuda, vulkan]| format!("{cuda}; {vulkan}"))
}

/// Opens the device for these kernels.
#[cfg(feature = "gpu")]
pub(crate) fn open(kernels: &Kernels, choice: DeviceChoice) -> Result<Box<dyn Device + Send>, String> {
    skript_gpu::open(kernels, choice).map_err(|e| e.to_string())
}

#[cfg(not(feature = "gpu"))]
const WITHOUT: &str = "this program was built without GPUs";

/// The GPU that [`DeviceChoice::Auto`] stands for, and its name.
///
/// # Errors
/// The reason, if there is no GPU.
#[cfg(not(feature = "gpu"))]
pub fn find() -> Result<(DeviceChoice, String), String> {
    Err(WITHOUT.to_owned())
}

#[cfg(not(feature = "gpu"))]
pub(crate) fn open(_: &Kernels, _: DeviceChoice) -> Result<Box<dyn Device + Send>, String> {
    Err(WITHOUT.to_owned())
}
