// SPDX-License-Identifier: Apache-2.0
//! NumPy's `.npy` files, versions 1 to 3 (NEP 1). Files are untrusted: the header is checked against the size of the
//! file.

mod header;

use crate::element::ElementType;
use crate::error::{Admits, TensorError};
use crate::map::open_ordinary;
use crate::shape;
use crate::tensor::Tensor;
use header::Header;
use std::io::{Read, Write};
use std::path::Path;

/// Maximum length of a header; headers by numpy have a few hundred bytes.
const MAX_HEADER: usize = 1 << 16;

/// Reads an array: any float, int or bool type of at most 8 bytes, either byte order, either storage order. Nothing
/// after the header is read if `admits` rejects the array.
///
/// # Errors
/// [`TensorError`] if the file cannot be read or contradicts the format, or if `admits` rejects the array.
pub fn read(path: &Path, admits: Admits<'_>) -> Result<Tensor, TensorError> {
    let file = open_ordinary(path)?;
    let length = file.length();
    let mut stream = std::io::BufReader::new(file.into_file());
    read_stream(path, &mut stream, length, admits)
}

/// Like [`read`]; the array may also be complex, which becomes reals with an additional dimension of 2, or bf16 as numpy
/// writes it.
///
/// # Errors
/// [`TensorError`] if the file cannot be read or contradicts the format, or if `admits` rejects the array.
pub fn read_wider(path: &Path, admits: Admits<'_>) -> Result<Tensor, TensorError> {
    let file = open_ordinary(path)?;
    let length = file.length();
    let mut stream = std::io::BufReader::new(file.into_file());
    parse(path, &mut stream, length, true, admits)
}

/// Like [`read`], for a stream that ends after `length` bytes and is read to this end; `path` is for messages.
///
/// # Errors
/// [`TensorError`] if the stream fails or contradicts the format, or if `admits` rejects the array.
pub fn read_stream(
    path: &Path,
    stream: &mut dyn Read,
    length: u64,
    admits: Admits<'_>,
) -> Result<Tensor, TensorError> {
    parse(path, stream, length, false, admits)
}

fn parse(
    path: &Path,
    stream: &mut dyn Read,
    length: u64,
    wider: bool,
    admits: Admits<'_>,
) -> Result<Tensor, TensorError> {
    let (mut header, header_length) = read_header(path, stream, wider)?;
    let data_length = length.saturating_sub(header_length);
    // The two parts of a complex number are adjacent in either storage order.
    let declared = header.shape.clone();
    if header.pairs {
        if header.fortran { header.shape.insert(0, 2) } else { header.shape.push(2) }
    }
    let wanted =
        shape::byte_length(header.element, &header.shape).and_then(|bytes| u64::try_from(bytes).ok());
    if wanted != Some(data_length) {
        return Err(TensorError::format(
            path,
            format!(
                "{data_length} bytes follow the header, which promises {} of shape {:?}",
                header.element, declared
            ),
        ));
    }
    if header.fortran && header.pairs {
        admits(header.element, &[&declared[..], &[2]].concat())?
    } else {
        admits(header.element, &header.shape)?
    }
    let stored: Vec<u64> =
        if header.fortran { header.shape.iter().rev().copied().collect() } else { header.shape.clone() };
    let mut tensor = Tensor::zeros(header.element, &stored)?;
    let bytes = tensor.bytes_mut()?;
    stream.read_exact(bytes).map_err(|e| broken(path, e))?;
    // Reads to the end, where some streams verify a checksum.
    let mut rest = Vec::new();
    let ended = stream.take(1).read_to_end(&mut rest);
    if ended.map_err(|e| broken(path, e))? > 0 {
        let reason = "it has more bytes than its header states";
        return Err(TensorError::format(path, reason));
    }
    if header.big_endian {
        for element in bytes.chunks_exact_mut(header.element.size()) {
            element.reverse();
        }
    }
    tensor.normalize_bools()?;
    if header.fortran {
        tensor = transposed(&tensor, &declared, if header.pairs { 2 } else { 1 })?;
    }
    Ok(tensor)
}

/// The error of a stream: inconsistent bytes, or an error of the system.
fn broken(path: &Path, error: std::io::Error) -> TensorError {
    use std::io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    match error.kind() {
        InvalidData | InvalidInput | UnexpectedEof => {
            TensorError::format(path, format!("is damaged: {error}"))
        }
        _ => TensorError::io(path, "read", error),
    }
}

fn read_header(path: &Path, stream: &mut dyn Read, wider: bool) -> Result<(Header, u64), TensorError> {
    let fail = |reason: &str| TensorError::format(path, reason);
    let mut fixed = [0u8; 8];
    stream.read_exact(&mut fixed).map_err(|_| fail("is not a .npy file: shorter than its fixed header"))?;
    let [magic @ .., major, _minor] = fixed;
    if magic != *b"\x93NUMPY" {
        return Err(fail("is not a .npy file: its first bytes are not \\x93NUMPY"));
    }
    let length_bytes = match major {
        1 => 2u64,
        2 | 3 => 4,
        _ => return Err(fail(&format!(".npy version {major} is unknown"))),
    };
    let mut length = [0u8; 4];
    let (used, _) = length.split_at_mut(usize::try_from(length_bytes).unwrap_or(4));
    stream.read_exact(used).map_err(|_| fail("ends within its header"))?;
    let length = u32::from_le_bytes(length);
    let size = length as usize;
    if size > MAX_HEADER {
        return Err(fail(&format!("its header of {size} bytes is too long")));
    }
    let mut text = vec![0u8; size];
    stream.read_exact(&mut text).map_err(|_| fail("ends within its header"))?;
    let text = String::from_utf8_lossy(&text);
    let header = header::parse(&text, wider).map_err(|reason| TensorError::format(path, reason))?;
    Ok((header, 8 + length_bytes + u64::from(length)))
}

/// Converts column-major to row-major order: `stored` has the extents reversed, the result has `shape`. Each moved item
/// consists of `parts` elements, which are a last dimension of the result if there are several.
fn transposed(stored: &Tensor, shape: &[u64], parts: u64) -> Result<Tensor, TensorError> {
    let mut extents = shape.to_vec();
    if parts > 1 {
        extents.push(parts);
    }
    let mut result = Tensor::zeros(stored.element(), &extents)?;
    let size = stored.element().size() * parts as usize;
    let extents: Vec<usize> = shape.iter().map(|&n| n as usize).collect();
    let mut index = vec![0usize; extents.len()];
    for target in result.bytes_mut()?.chunks_exact_mut(size) {
        let position = index.iter().zip(&extents).rev().fold(0, |position, (i, n)| position * n + i);
        if let Some(source) = stored.bytes().get(position * size..(position + 1) * size) {
            target.copy_from_slice(source);
        }
        for (i, n) in index.iter_mut().zip(&extents).rev() {
            *i += 1;
            if *i < *n {
                break;
            }
            *i = 0;
        }
    }
    Ok(result)
}

/// Writes version 1.0, little endian, row-major. NumPy has no bf16: such elements
/// are written as f32, exactly. `path` is for messages.
///
/// # Errors
/// [`TensorError::Io`] if the stream fails.
pub fn write(path: &Path, tensor: &Tensor, stream: &mut dyn Write) -> Result<(), TensorError> {
    let Some(descriptor) = header::descriptor(tensor.element()) else {
        return write(path, &tensor.clone().with_element(ElementType::F32), stream);
    };
    write_as(path, descriptor, tensor.shape(), tensor, stream)
}

/// Like [`write`]; the last dimension, of 2, holds both parts of complex numbers.
///
/// # Errors
/// [`TensorError`] if the stream fails or the elements have no complex type.
pub fn write_pairs(path: &Path, tensor: &Tensor, stream: &mut dyn Write) -> Result<(), TensorError> {
    let refuse = |reason: String| TensorError::Store { what: path.display().to_string(), reason };
    let descriptor = header::pair_descriptor(tensor.element());
    let descriptor = descriptor.ok_or_else(|| refuse(format!("{} are not parts", tensor.element())))?;
    let shape = match tensor.shape() {
        [declared @ .., 2] => declared,
        other => return Err(refuse(format!("{other:?} is not a shape of pairs"))),
    };
    write_as(path, descriptor, shape, tensor, stream)
}

fn write_as(
    path: &Path,
    descriptor: &str,
    shape: &[u64],
    tensor: &Tensor,
    stream: &mut dyn Write,
) -> Result<(), TensorError> {
    let text = header::text(descriptor, shape);
    let length = u16::try_from(text.len()).map_err(|_| TensorError::Store {
        what: path.display().to_string(),
        reason: format!("rank {} is too high", shape.len()),
    })?;
    let io = |e| TensorError::io(path, "write", e);
    stream.write_all(b"\x93NUMPY\x01\x00").map_err(io)?;
    stream.write_all(&length.to_le_bytes()).map_err(io)?;
    stream.write_all(text.as_bytes()).map_err(io)?;
    stream.write_all(tensor.bytes()).map_err(io)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_semantics::Scalar;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        bytes
    }

    fn parse(bytes: &[u8]) -> Result<Tensor, TensorError> {
        let length = bytes.len() as u64;
        read_stream(Path::new("a.npy"), &mut &bytes[..], length, &|_, _| Ok(()))
    }

    /// Column-major with two extents: the parts of a complex number remain adjacent.
    #[test]
    fn pairs_keep_together() {
        let header = "{'descr': '<c8', 'fortran_order': True, 'shape': (1, 2), }\n";
        let data: Vec<u8> = [1f32, 2.0, 3.0, 4.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        let bytes = file(header, &data);
        let path = Path::new("a.npy");
        let length = bytes.len() as u64;
        let admits = |_, shape: &[u64]| {
            assert_eq!(shape, [1, 2, 2]);
            Ok(())
        };
        let tensor = super::parse(path, &mut &bytes[..], length, true, &admits).unwrap();
        assert_eq!(tensor.shape(), [1, 2, 2]);
        assert_eq!(tensor.as_f32(), Some(&[1.0, 2.0, 3.0, 4.0][..]));
        let mut written = Vec::new();
        write_pairs(path, &tensor, &mut written).unwrap();
        assert!(String::from_utf8_lossy(&written).contains("'<c8', 'fortran_order': False, 'shape': (1, 2)"));
        assert!(written.ends_with(&data));
    }

    #[test]
    fn written_arrays_are_read_back() {
        let tensor = Tensor::from_f32(&[2, 1], &[1.5, -2.0]).unwrap();
        let mut bytes = Vec::new();
        write(Path::new("a.npy"), &tensor, &mut bytes).unwrap();
        assert_eq!((bytes.len() - 8) % 64, 0);
        let back = parse(&bytes).unwrap();
        assert_eq!(back.as_f32(), tensor.as_f32());
        assert_eq!(back.shape(), [2, 1]);
    }

    #[test]
    fn fortran_order_and_big_endian_are_converted() {
        let header = "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n";
        let tensor = parse(&file(header, &[0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5])).unwrap();
        let values: Vec<_> = (0..6).map(|i| tensor.get(i).unwrap()).collect();
        assert_eq!(values, [0, 1, 2, 3, 4, 5].map(Scalar::Int));
    }

    #[test]
    fn wrong_sizes_are_errors() {
        let header =
            |shape: &str| format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
        for shape in ["(4,)", "(2,)", "(4294967296, 4294967296)", "(99999999999999999999999,)", "(-3,)"] {
            let error = parse(&file(&header(shape), &[0; 12])).unwrap_err();
            assert!(error.to_string().starts_with("a.npy: "), "{error}");
        }
        assert!(parse(&file(&header("(3,)"), &[0; 12])).is_ok());
        let mut long = b"\x93NUMPY\x02\x00".to_vec();
        long.extend(u32::MAX.to_le_bytes());
        assert!(parse(&long).unwrap_err().to_string().contains("too long"));
    }

    #[test]
    fn objects_and_structures_are_refused() {
        for descriptor in ["'|O'", "[('a', '<f4')]", "'<U4'", "'<c8'", "'<f16'"] {
            let header = format!("{{'descr': {descriptor}, 'fortran_order': False, 'shape': (1,), }}");
            assert!(parse(&file(&header, &[0; 16])).is_err(), "{descriptor}");
        }
        assert!(parse(b"").is_err());
        assert!(parse(b"\x93NUMPY\x09\x00\x00\x00").is_err());
    }
}
