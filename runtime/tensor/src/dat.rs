// SPDX-License-Identifier: Apache-2.0
//! The `.dat` files of model folders: a 128-byte header, then the items, row-major and little endian.
//!
//! Layout: magic `4E EF`, version 1.0, u32 data length, u32 rank, 8 × u32 extents, u32 bits per item, u32 item type
//! (0 float, 1 uint, 2 quint, 3 qint, 4 int, 5 bool), 19 reserved u32. A uint file whose first reserved word is not 0
//! holds signed integers (NNEF 1).

use crate::element::ElementType;
use crate::error::{Admits, TensorError};
use crate::map::MappedFile;
use crate::shape;
use crate::tensor::Tensor;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

/// The size of the header in bytes; a multiple of every element's size.
pub(crate) const HEADER_LENGTH: usize = 128;
const MAGIC: [u8; 2] = [0x4e, 0xef];
const MAX_RANK: usize = 8;

/// The contents of the header, checked against the length of the file.
struct Header {
    shape: Vec<u64>,
    items: Items,
}

enum Items {
    /// In the memory format.
    Plain(ElementType),
    /// One bit per bool, most significant first.
    PackedBools,
}

/// Reads a file in a folder; links must not lead out of the folder. Items in the memory format are mapped; packed bools are
/// unpacked; 8-bit bools are copied if they contain bytes other than 0 and 1. Nothing after the header is read if `admits`
/// rejects the array.
///
/// # Errors
/// [`TensorError`] if the file cannot be read, is outside of the folder or contradicts the format, or if `admits` rejects it.
pub fn read(path: &Path, folder: &Path, admits: Admits<'_>) -> Result<Tensor, TensorError> {
    let file = MappedFile::open_within(path, folder)?;
    let whole = 0..file.bytes().len();
    read_part(path, file, whole, admits)
}

/// Reads a file that is a part of another file, such as a member of an archive; `path` is for messages.
pub(crate) fn read_part(
    path: &Path,
    file: MappedFile,
    part: Range<usize>,
    admits: Admits<'_>,
) -> Result<Tensor, TensorError> {
    let start = part.start;
    let bytes = file.bytes().get(part).unwrap_or(&[]);
    let header = parse(bytes).map_err(|reason| TensorError::format(path, reason))?;
    let element = match header.items {
        Items::Plain(element) => element,
        Items::PackedBools => ElementType::Bool,
    };
    admits(element, &header.shape)?;
    let tensor = match header.items {
        Items::Plain(element) => {
            let start = start + HEADER_LENGTH;
            let mut tensor = Tensor::mapped(element, &header.shape, file.clone(), start)
                .ok_or_else(|| TensorError::format(path, "the items exceed the file"))?;
            tensor.normalize_bools()?;
            tensor
        }
        Items::PackedBools => {
            let mut tensor = Tensor::zeros(ElementType::Bool, &header.shape)?;
            let packed = bytes.get(HEADER_LENGTH..).unwrap_or(&[]);
            let bits = packed.iter().flat_map(|byte| (0..8).rev().map(move |bit| (byte >> bit) & 1));
            for (target, bit) in tensor.bytes_mut()?.iter_mut().zip(bits) {
                *target = bit;
            }
            tensor
        }
    };
    file.intact()?;
    Ok(tensor)
}

fn word(bytes: &[u8], offset: usize) -> Result<u32, String> {
    bytes
        .get(offset..offset + 4)
        .and_then(|b| b.try_into().ok())
        .map(u32::from_le_bytes)
        .ok_or_else(|| "the header is cut off".to_string())
}

fn parse(bytes: &[u8]) -> Result<Header, String> {
    if bytes.len() < HEADER_LENGTH {
        return Err(format!("{} bytes are too few for the header of {HEADER_LENGTH} bytes", bytes.len()));
    }
    if !bytes.starts_with(&MAGIC) {
        return Err("the first bytes are not 4E EF: this is not an NNEF tensor".to_string());
    }
    match bytes.get(2..4) {
        Some([1, 0]) => {}
        Some([major, minor]) => return Err(format!("version {major}.{minor} is not 1.0")),
        _ => return Err("the header ends before its version".to_owned()),
    }
    let data_length = word(bytes, 4)?;
    let rank = word(bytes, 8)?;
    let rank = usize::try_from(rank)
        .ok()
        .filter(|&r| r <= MAX_RANK)
        .ok_or_else(|| format!("rank {rank} is above {MAX_RANK}"))?;
    let shape: Vec<u64> =
        (0..rank).map(|d| word(bytes, 12 + 4 * d).map(u64::from)).collect::<Result<_, _>>()?;
    let (bits, code, signed) = (word(bytes, 44)?, word(bytes, 48)?, word(bytes, 52)? != 0);
    let items = item_type(code, bits, signed)?;
    let bits_in_all = shape::volume(&shape).and_then(|v| v.checked_mul(u64::from(bits)));
    let wanted = bits_in_all.map(|b| b.div_ceil(8));
    if wanted != Some(u64::from(data_length)) {
        return Err(format!(
            "the header states {data_length} bytes of data, but the shape {shape:?} of {bits}-bit items needs {}",
            wanted.map_or_else(|| "more than 2^63".to_string(), |w| w.to_string())
        ));
    }
    let present = bytes.len() - HEADER_LENGTH;
    if u64::try_from(present).ok() != Some(u64::from(data_length)) {
        return Err(format!("{present} bytes follow the header, which states {data_length}"));
    }
    Ok(Header { shape, items })
}

/// Quantized items are read as their stored integers.
fn item_type(code: u32, bits: u32, signed: bool) -> Result<Items, String> {
    use ElementType::{Bool, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
    let element = match (code, bits) {
        (0, 16) => F16,
        (0, 32) => F32,
        (0, 64) => F64,
        (2, 8) => U8,
        (1, 8) if !signed => U8,
        (2, 16) => U16,
        (1, 16) if !signed => U16,
        (2, 32) => U32,
        (1, 32) if !signed => U32,
        (2, 64) => U64,
        (1, 64) if !signed => U64,
        (1 | 3 | 4, 8) => I8,
        (1 | 3 | 4, 16) => I16,
        (1 | 3 | 4, 32) => I32,
        (1 | 3 | 4, 64) => I64,
        (5, 1) => return Ok(Items::PackedBools),
        (5, 8) => Bool,
        (0..=5, _) => {
            let name = match code {
                0 => "float",
                5 => "bool",
                _ => "integer",
            };
            return Err(format!("{bits}-bit {name} items are not supported"));
        }
        _ => return Err(format!("item type {code} is unknown")),
    };
    Ok(Items::Plain(element))
}

/// Writes a tensor; bools take one bit. `path` is for messages.
///
/// The format has no bf16: such elements are written as f32, exactly. Rank above 8, and extents or data beyond 2^32 - 1
/// cannot be stored.
///
/// # Errors
/// [`TensorError::Store`] for tensors that the format cannot represent, [`TensorError::Io`] if the stream fails.
pub fn write(path: &Path, tensor: &Tensor, stream: &mut dyn Write) -> Result<(), TensorError> {
    let store = |reason: String| TensorError::Store { what: path.display().to_string(), reason };
    let rank = tensor.shape().len();
    if rank > MAX_RANK {
        return Err(store(format!("rank {rank} is above {MAX_RANK}")));
    }
    let element = tensor.element();
    let code: u32 = match element {
        ElementType::BF16 => {
            return write(path, &tensor.clone().with_element(ElementType::F32), stream);
        }
        ElementType::F16 | ElementType::F32 | ElementType::F64 => 0,
        ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => 1,
        ElementType::Bool => 5,
        _ => 4,
    };
    let packed: Vec<u8>;
    let (data, bits) = match element {
        ElementType::Bool => {
            packed = tensor
                .bytes()
                .chunks(8)
                .map(|c| (0u8..).zip(c).fold(0, |byte, (i, b)| byte | ((b & 1) << (7 - i))))
                .collect();
            (packed.as_slice(), 1)
        }
        _ => (tensor.bytes(), 8 * element.size()),
    };
    let number =
        |n: u64, what: &str| u32::try_from(n).map_err(|_| store(format!("{what} {n} does not fit 32 bits")));
    let mut header = Vec::with_capacity(HEADER_LENGTH);
    header.extend(MAGIC);
    header.extend([1, 0]);
    header.extend(number(data.len() as u64, "the data length")?.to_le_bytes());
    header.extend(number(rank as u64, "rank")?.to_le_bytes());
    for extent in tensor.shape() {
        header.extend(number(*extent, "extent")?.to_le_bytes());
    }
    header.resize(44, 0);
    header.extend(number(bits as u64, "item size")?.to_le_bytes());
    header.extend(code.to_le_bytes());
    header.resize(HEADER_LENGTH, 0);
    let io = |e| TensorError::io(path, "write", e);
    stream.write_all(&header).map_err(io)?;
    stream.write_all(data).map_err(io)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(tensor: &Tensor) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(Path::new("w.dat"), tensor, &mut bytes).unwrap();
        bytes
    }

    fn read_back(bytes: &[u8]) -> Result<Tensor, TensorError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("w.dat");
        std::fs::write(&path, bytes).unwrap();
        read(&path, folder.path(), &|_, _| Ok(()))
    }

    #[test]
    fn floats_stay_mapped_and_bools_are_packed() {
        let tensor = Tensor::from_f32(&[1, 3], &[1.0, -2.5, 3.0]).unwrap();
        let bytes = written(&tensor);
        assert_eq!(bytes.len(), 140);
        let back = read_back(&bytes).unwrap();
        assert!(back.is_mapped());
        assert_eq!(back.as_f32(), tensor.as_f32());

        let flags = [true, false, true, true, false, false, false, true, true];
        let bytes = written(&Tensor::from_bool(&[9], &flags).unwrap());
        assert_eq!(&bytes[128..], [0b1011_0001, 0b1000_0000]);
        let back = read_back(&bytes).unwrap();
        assert_eq!(back.as_bool_bytes(), Some(&flags.map(u8::from)[..]));
    }

    #[test]
    fn each_type_is_read_as_it_was_written() {
        let bytes: Vec<u8> = (1..=16).collect();
        for element in ElementType::ALL.into_iter().filter(|element| *element != ElementType::Bool) {
            let count = bytes.len() / element.size();
            let tensor = Tensor::from_bytes(element, &[1, count as u64], &bytes).unwrap();
            let back = read_back(&written(&tensor)).unwrap();
            if element == ElementType::BF16 {
                assert_eq!(back.element(), ElementType::F32);
                assert!(back.scalars().eq(tensor.scalars()));
            } else {
                assert_eq!((back.element(), back.bytes()), (element, &bytes[..]));
            }
            assert_eq!(back.shape(), tensor.shape());
        }
        // Bools may also have a byte each.
        let mut bytes = written(&Tensor::from_bytes(ElementType::U8, &[3], &[0, 7, 1]).unwrap());
        bytes[48] = 5;
        assert_eq!(read_back(&bytes).unwrap().as_bool_bytes(), Some(&[0, 1, 1][..]));
    }

    #[test]
    fn tensors_of_rank_9_are_not_written() {
        let tensor = |rank: usize| Tensor::from_f32(&vec![1; rank], &[1.0]).unwrap();
        assert_eq!(read_back(&written(&tensor(8))).unwrap().shape(), [1; 8]);
        let refused = write(Path::new("w.dat"), &tensor(9), &mut Vec::new()).unwrap_err();
        assert!(refused.to_string().contains("rank 9 is above 8"), "{refused}");
    }

    #[test]
    fn unknown_widths_are_refused_by_kind() {
        for (code, bits, text) in [(0, 8, "8-bit float"), (1, 4, "4-bit integer"), (5, 2, "2-bit bool")] {
            let text = format!("{text} items are not supported");
            assert_eq!(item_type(code, bits, false).err(), Some(text));
        }
    }

    #[test]
    fn quantized_items_are_ints() {
        let mut bytes = written(&Tensor::from_i64(&[2], &[-1, 7]).unwrap());
        for (code, element) in [(2u32, ElementType::U64), (3, ElementType::I64)] {
            bytes[48..52].copy_from_slice(&code.to_le_bytes());
            assert_eq!(read_back(&bytes).unwrap().element(), element);
        }
    }

    #[test]
    fn each_field_is_checked() {
        let good = written(&Tensor::from_f32(&[2, 3], &[0.0; 6]).unwrap());
        let with = |offset: usize, word: u32| {
            let mut bytes = good.clone();
            bytes[offset..offset + 4].copy_from_slice(&word.to_le_bytes());
            read_back(&bytes).map(|_| ()).unwrap_err().to_string()
        };
        assert!(with(0, 0).contains("4E EF"));
        assert!(with(0, 0x0101_ef4e).contains("version"));
        assert!(with(4, 4_000_000_000).contains("4000000000"));
        assert!(with(8, 9).contains("rank 9"));
        assert!(with(12, u32::MAX).contains("[4294967295, 3]"));
        assert!(with(44, 24).contains("24-bit"));
        assert!(with(48, 6).contains("unknown"));
        assert!(with(48, 0x0001_0000).contains("unknown"));
        let shorter = read_back(&good[..150]).unwrap_err().to_string();
        assert!(shorter.contains("22 bytes follow"), "{shorter}");
        assert!(read_back(&good[..100]).is_err());
        assert!(read_back(&[]).is_err());
    }

    #[test]
    fn nnef_1_marks_signed_integers_in_a_reserved_word() {
        let mut bytes = written(&Tensor::from_bytes(ElementType::U8, &[1], &[0xff]).unwrap());
        assert_eq!(read_back(&bytes).unwrap().element(), ElementType::U8);
        bytes[52] = 1;
        assert_eq!(read_back(&bytes).unwrap().element(), ElementType::I8);
    }
}
