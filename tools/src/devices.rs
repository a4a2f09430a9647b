// SPDX-License-Identifier: Apache-2.0
//! Devices that models run on.

use skript_runtime::artifact::Kernels;
use skript_runtime::device::{Device, DeviceChoice};
use std::sync::OnceLock;

/// What `--device=auto` stands for on this machine, and a note: the GPU, or why there is none.
pub fn found() -> (DeviceChoice, Option<&'static str>) {
    static FOUND: OnceLock<(DeviceChoice, String)> = OnceLock::new();
    let (choice, note) = FOUND.get_or_init(find);
    (*choice, Some(note))
}

#[cfg(feature = "gpu")]
fn find() -> (DeviceChoice, String) {
    match skript_gpu::find() {
        Ok((choice, name)) => (choice, format!("runs on {name}")),
        Err([cuda, vulkan]) => (DeviceChoice::Cpu, format!("runs on the processor: {cuda}; {vulkan}")),
    }
}

#[cfg(not(feature = "gpu"))]
fn find() -> (DeviceChoice, String) {
    let note = "runs on the processor: this program was built without GPUs";
    (DeviceChoice::Cpu, note.to_owned())
}

/// Opens the device for these kernels.
#[cfg(feature = "gpu")]
pub fn open(kernels: &Kernels, choice: DeviceChoice) -> Result<Box<dyn Device + Send>, String> {
    skript_gpu::open(kernels, choice).map_err(|e| e.to_string())
}

#[cfg(not(feature = "gpu"))]
pub fn open(_: &Kernels, _: DeviceChoice) -> Result<Box<dyn Device + Send>, String> {
    Err("this program was built without GPUs".to_owned())
}
