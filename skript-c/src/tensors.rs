// SPDX-License-Identifier: Apache-2.0
//! Conversions of tensors and ports between C and Rust.

use crate::failure::Failure;
use crate::memory;
use crate::types::{MAX_RANK, skc_port, skc_tensor};
use skript::{Dimension, ElementType, Port, Tensor};
use std::ffi::CString;

/// The type, shape and address of a tensor of the caller. Returns an error if its memory is too small. `what` is the name in
/// messages.
pub(crate) fn described(tensor: &skc_tensor, what: &str) -> Result<(ElementType, Vec<u64>, u64), Failure> {
    let wrong = |text: &str| Failure::argument(format!("{what}: {text}"));
    let element = ElementType::from_code(tensor.r#type);
    let element = element.ok_or_else(|| wrong("the type is unknown"))?;
    let rank = tensor.rank as usize;
    let extents = tensor.extents.get(..rank).ok_or_else(|| wrong("the rank is more than 16"))?;
    let mut shape = Vec::with_capacity(rank);
    let mut bytes = element.size() as u64;
    for extent in extents {
        let extent = u64::try_from(*extent).map_err(|_| wrong("an extent is negative"))?;
        bytes = bytes.checked_mul(extent).ok_or_else(|| wrong("it is too large"))?;
        shape.push(extent);
    }
    if bytes > tensor.bytes {
        return Err(wrong(&format!("{bytes} bytes of elements, but `bytes` is {}", tensor.bytes)));
    }
    if tensor.data.is_null() && bytes > 0 {
        return Err(wrong("the data is null"));
    }
    Ok((element, shape, tensor.data.addr() as u64))
}

/// Copies a tensor of the caller.
///
/// # Safety
/// `data` points to `bytes` bytes, or is null.
pub(crate) unsafe fn read(tensor: &skc_tensor, name: &str) -> Result<Tensor, Failure> {
    let (element, shape, _) = described(tensor, &format!("input `{name}`"))?;
    let bytes = shape.iter().product::<u64>() * element.size() as u64;
    // SAFETY: `described` has checked that `data` has at least `bytes` bytes.
    let data = unsafe {
        memory::array(tensor.data.cast::<u8>().cast_const(), bytes, &format!("the data of input `{name}`"))
    }?;
    let tensor = Tensor::from_bytes(element, &shape, data);
    tensor.map_err(|error| Failure::argument(format!("input `{name}`: {error}")))
}

/// The maximum shape of an output, and the address of the caller's memory for it.
pub(crate) fn output_memory(output: &skc_tensor, port: &Port) -> Result<(Vec<u64>, u64), Failure> {
    let bound = |dimension: &Dimension| match dimension {
        Dimension::Static(n) | Dimension::Dynamic(n) => *n,
    };
    let shape: Vec<u64> = port.shape.iter().map(bound).collect();
    let volume = shape.iter().fold(1u64, |n, extent| n.saturating_mul(*extent));
    let needed = volume.saturating_mul(port.element.size() as u64);
    has_memory(output, &port.name, needed)?;
    Ok((shape, output.data.addr() as u64))
}

/// Sets type, rank and extents of an output.
pub(crate) fn describe(output: &mut skc_tensor, element: ElementType, shape: &[u64]) {
    output.r#type = element.code().into();
    output.rank = shape.len() as u32;
    output.extents = extents(shape.iter().copied());
}

/// Returns an error unless an output has memory for a tensor.
pub(crate) fn check_output(output: &skc_tensor, name: &str, value: &Tensor) -> Result<(), Failure> {
    has_memory(output, name, value.bytes().len() as u64)
}

fn has_memory(output: &skc_tensor, name: &str, needed: u64) -> Result<(), Failure> {
    if output.bytes < needed {
        let text = format!("output `{name}` needs {needed} bytes, but `bytes` is {}", output.bytes);
        return Err(Failure::argument(text));
    }
    if output.data.is_null() && needed > 0 {
        return Err(Failure::argument(format!("the data of output `{name}` is null")));
    }
    Ok(())
}

/// Writes a tensor to memory of the caller, which [`check_output`] has checked.
///
/// # Safety
/// `data` points to `bytes` bytes, or is null.
pub(crate) unsafe fn write(output: &mut skc_tensor, name: &str, value: &Tensor) -> Result<(), Failure> {
    let bytes = value.bytes();
    let what = format!("the data of output `{name}`");
    // SAFETY: `check_output` has checked that the memory is large enough.
    let data = unsafe { memory::array_mut(output.data.cast::<u8>(), bytes.len() as u64, &what) }?;
    data.copy_from_slice(bytes);
    describe(output, value.element(), value.shape());
    Ok(())
}

fn extents(shape: impl Iterator<Item = u64>) -> [i64; MAX_RANK] {
    let mut extents = [0; MAX_RANK];
    for (slot, extent) in extents.iter_mut().zip(shape) {
        *slot = i64::try_from(extent).unwrap_or(i64::MAX);
    }
    extents
}

/// Converts a port; its name must live as long as the model.
pub(crate) fn port(port: &Port, name: &CString) -> Result<skc_port, Failure> {
    if port.shape.len() > MAX_RANK {
        return Err(Failure::argument(format!("`{}` has more than 16 dimensions", port.name)));
    }
    let bound = |dimension: &Dimension| match dimension {
        Dimension::Static(n) | Dimension::Dynamic(n) => *n,
    };
    let bounds = port.shape.iter().map(bound);
    let volume = bounds.clone().fold(1u64, u64::saturating_mul);
    let mut dynamic = [0; MAX_RANK];
    for (slot, dimension) in dynamic.iter_mut().zip(&port.shape) {
        *slot = u8::from(matches!(dimension, Dimension::Dynamic(_)));
    }
    Ok(skc_port {
        name: name.as_ptr(),
        r#type: port.element.code().into(),
        rank: port.shape.len() as u32,
        bounds: extents(bounds),
        dynamic,
        bytes: volume.saturating_mul(port.element.size() as u64),
    })
}
