// SPDX-License-Identifier: Apache-2.0
//! Reads the tensors of a file: initializers and attributes.

use std::path::PathBuf;
use std::rc::Rc;

use bytes::Bytes;
use half::{bf16, f16};
use skript_tensor::map::MappedFile;
use skript_tensor::shape::{byte_length, volume};
use skript_tensor::{ElementType, Tensor};

use crate::extent::Extent;
use crate::external;
use crate::proto::TensorProto;
use crate::value::{Item, MAX_KNOWN, element, nibble};

/// The `data_location` of elements in a file next to the model.
const EXTERNAL: i32 = 1;

/// Reads a tensor.
///
/// # Errors
/// The error in the tensor.
pub fn read(proto: &mut TensorProto, folders: &[PathBuf]) -> Result<Tensor, String> {
    if let Some(kind) = nibble(proto.data_type) {
        return nibbles(proto, folders, kind);
    }
    let kind =
        element(proto.data_type).map_err(|name| format!("elements of type {name} are not supported"))?;
    let extent = |d: &i64| u64::try_from(*d).map_err(|_| format!("the extent {d} is negative"));
    let shape: Vec<u64> = proto.dims.iter().map(extent).collect::<Result<_, _>>()?;
    let bytes = byte_length(kind, &shape).ok_or("its extents are too large")?;
    let count = volume(&shape).ok_or("its extents are too large")?;
    if proto.data_location == EXTERNAL {
        return external::read(&proto.external_data, folders, kind, &shape);
    }
    let raw: Bytes = std::mem::take(&mut proto.raw_data);
    let wrong = |count: usize| format!("has {count} elements, which do not match its shape {shape:?}");
    let bytes = if raw.len() == bytes && (bytes > 0 || listed(proto, kind) == 0) {
        raw
    } else if !raw.is_empty() {
        return Err(format!("has {} bytes, but its shape {shape:?} needs {bytes}", raw.len()));
    } else {
        let listed = listed(proto, kind);
        if listed as u64 != count {
            return Err(wrong(listed));
        }
        packed(proto, kind)?.into()
    };
    if kind != ElementType::Bool {
        // Clones share this memory.
        let memory = MappedFile::filled(bytes.len(), |memory| memory.copy_from_slice(&bytes));
        let tensor = memory.and_then(|memory| Tensor::mapped(kind, &shape, memory, 0));
        return tensor.ok_or_else(|| "does not fit the memory".to_owned());
    }
    let mut tensor = Tensor::from_bytes(kind, &shape, &bytes).map_err(|e| e.to_string())?;
    // Every nonzero byte is true.
    for byte in tensor.bytes_mut().map_err(|e| e.to_string())? {
        *byte = u8::from(*byte != 0);
    }
    Ok(tensor)
}

/// Reads 4-bit ints as 8-bit ints. A byte contains two 4-bit ints, the first one in the low half.
fn nibbles(proto: &mut TensorProto, folders: &[PathBuf], kind: ElementType) -> Result<Tensor, String> {
    let extent = |d: &i64| u64::try_from(*d).map_err(|_| format!("the extent {d} is negative"));
    let shape: Vec<u64> = proto.dims.iter().map(extent).collect::<Result<_, _>>()?;
    let count = volume(&shape).ok_or("its extents are too large")?;
    let length = usize::try_from(count.div_ceil(2)).map_err(|_| "its extents are too large")?;
    let external;
    let listed: Vec<u8>;
    let pairs: &[u8] = if proto.data_location == EXTERNAL {
        let pairs = [count.div_ceil(2)];
        external = external::read(&proto.external_data, folders, ElementType::U8, &pairs)?;
        external.bytes()
    } else if proto.raw_data.is_empty() {
        let bytes = proto.int32_data.iter().map(|v| u8::try_from(*v));
        let bytes: Result<_, _> = bytes.collect();
        listed = bytes.map_err(|_| "an element does not fit its type")?;
        &listed
    } else {
        &proto.raw_data
    };
    if pairs.len() != length {
        return Err(format!("has {} bytes, but its shape {shape:?} needs {length}", pairs.len()));
    }
    let is_signed = kind == ElementType::I8;
    let halves = pairs.iter().flat_map(|pair| [pair & 15, pair >> 4]);
    let spread = |half: u8| if is_signed && half > 7 { half | 0xf0 } else { half };
    let count = usize::try_from(count).map_err(|_| "its extents are too large")?;
    let bytes: Vec<u8> = halves.take(count).map(spread).collect();
    Tensor::from_bytes(kind, &shape, &bytes).map_err(|e| e.to_string())
}

/// The number of elements in the typed lists.
fn listed(proto: &TensorProto, kind: ElementType) -> usize {
    match kind {
        ElementType::F32 => proto.float_data.len(),
        ElementType::F64 => proto.double_data.len(),
        ElementType::I64 => proto.int64_data.len(),
        ElementType::U32 | ElementType::U64 => proto.uint64_data.len(),
        _ => proto.int32_data.len(),
    }
}

/// The bytes of the elements in the typed lists.
fn packed(proto: &TensorProto, kind: ElementType) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let fits = |fits: bool| fits.then_some(()).ok_or("an element does not fit its type");
    match kind {
        ElementType::F32 => proto.float_data.iter().for_each(|v| bytes.extend(v.to_le_bytes())),
        ElementType::F64 => proto.double_data.iter().for_each(|v| bytes.extend(v.to_le_bytes())),
        ElementType::I64 => proto.int64_data.iter().for_each(|v| bytes.extend(v.to_le_bytes())),
        ElementType::U64 => proto.uint64_data.iter().for_each(|v| bytes.extend(v.to_le_bytes())),
        ElementType::U32 => {
            for v in &proto.uint64_data {
                let v = u32::try_from(*v).map_err(|_| "an element does not fit its type")?;
                bytes.extend(v.to_le_bytes());
            }
        }
        _ => {
            for v in &proto.int32_data {
                let le = v.to_le_bytes();
                let size = kind.size().min(4);
                fits(match kind {
                    ElementType::I8 => i8::try_from(*v).is_ok(),
                    ElementType::I16 => i16::try_from(*v).is_ok(),
                    ElementType::U8 => u8::try_from(*v).is_ok(),
                    ElementType::U16 | ElementType::F16 | ElementType::BF16 => u16::try_from(*v).is_ok(),
                    ElementType::Bool => (0..=255).contains(v),
                    _ => true,
                })?;
                bytes.extend(le.iter().take(size));
            }
        }
    }
    Ok(bytes)
}

/// The shape of a tensor.
pub fn extents(tensor: &Tensor) -> Vec<Extent> {
    let extent = |n: &u64| Extent::from(n.cast_signed());
    tensor.shape().iter().map(extent).collect()
}

/// The elements of a small tensor.
pub fn known(tensor: &Tensor) -> Option<Vec<Item>> {
    let count = tensor.volume();
    if count > MAX_KNOWN {
        return None;
    }
    let kind = tensor.element();
    let items = tensor.bytes().chunks_exact(kind.size()).map(|bytes| item(kind, bytes));
    items.collect()
}

fn item(kind: ElementType, bytes: &[u8]) -> Option<Item> {
    fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.try_into().ok()
    }
    let int = |value: i64| Item::Int(Extent::from(value));
    Some(match kind {
        ElementType::F16 => Item::Real(f16::from_le_bytes(array(bytes)?).to_f64()),
        ElementType::BF16 => Item::Real(bf16::from_le_bytes(array(bytes)?).to_f64()),
        ElementType::F32 => Item::Real(f32::from_le_bytes(array(bytes)?).into()),
        ElementType::F64 => Item::Real(f64::from_le_bytes(array(bytes)?)),
        ElementType::I8 => int(i8::from_le_bytes(array(bytes)?).into()),
        ElementType::I16 => int(i16::from_le_bytes(array(bytes)?).into()),
        ElementType::I32 => int(i32::from_le_bytes(array(bytes)?).into()),
        ElementType::I64 => int(i64::from_le_bytes(array(bytes)?)),
        ElementType::U8 => int(u8::from_le_bytes(array(bytes)?).into()),
        ElementType::U16 => int(u16::from_le_bytes(array(bytes)?).into()),
        ElementType::U32 => int(u32::from_le_bytes(array(bytes)?).into()),
        ElementType::U64 => int(i64::try_from(u64::from_le_bytes(array(bytes)?)).ok()?),
        ElementType::Bool => Item::Bool(bytes.first().is_some_and(|b| *b != 0)),
    })
}

/// A tensor of known elements; `None` if an element depends on dynamic dimensions or exceeds the element type.
pub fn of_items(kind: ElementType, shape: &[u64], items: &[Item]) -> Option<Rc<Tensor>> {
    let mut bytes = Vec::new();
    for item in items {
        match item {
            Item::Bool(value) => bytes.push(u8::from(*value)),
            Item::Real(value) => match kind {
                ElementType::F64 => bytes.extend(value.to_le_bytes()),
                ElementType::F16 => bytes.extend(f16::from_f64(*value).to_le_bytes()),
                ElementType::BF16 => bytes.extend(bf16::from_f64(*value).to_le_bytes()),
                #[expect(clippy::cast_possible_truncation, reason = "rounds to nearest")]
                _ => bytes.extend((*value as f32).to_le_bytes()),
            },
            Item::Int(extent) => {
                let value = extent.value()?;
                let le = value.to_le_bytes();
                bytes.extend(le.iter().take(kind.size()));
            }
        }
    }
    Tensor::from_bytes(kind, shape, &bytes).ok().map(Rc::new)
}

/// Rounds a real to an element type.
pub fn rounded(kind: ElementType, value: f64) -> f64 {
    match kind {
        ElementType::F16 => f16::from_f64(value).to_f64(),
        ElementType::BF16 => bf16::from_f64(value).to_f64(),
        #[expect(clippy::cast_possible_truncation, reason = "rounds to nearest")]
        ElementType::F32 => f64::from(value as f32),
        _ => value,
    }
}
