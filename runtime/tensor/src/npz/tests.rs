// SPDX-License-Identifier: Apache-2.0

use super::*;
use crate::element::ElementType;
use std::io::Write;
use zip::write::SimpleFileOptions;

const ANY: Admits<'static> = &|_, _| Ok(());

/// An archive with one member.
fn archive(name: &str, method: CompressionMethod, bytes: &[u8]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(method);
    writer.start_file(name, options).unwrap();
    writer.write_all(bytes).unwrap();
    writer.finish().unwrap().into_inner()
}

fn npy(tensor: &Tensor) -> Vec<u8> {
    let mut bytes = Vec::new();
    npy::write(Path::new("x.npy"), tensor, &mut bytes).unwrap();
    bytes
}

fn opened(bytes: &[u8], max_bytes: u64) -> Result<Npz, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    std::fs::write(&path, bytes).unwrap();
    Npz::open(&path, max_bytes).map_err(|e| e.to_string())
}

fn refusal(bytes: &[u8], max_bytes: u64) -> String {
    let read = opened(bytes, max_bytes).and_then(|a| a.get("x", ANY).map_err(|e| e.to_string()));
    read.unwrap_err()
}

fn both() -> [CompressionMethod; 2] {
    [CompressionMethod::Stored, CompressionMethod::Deflated]
}

#[test]
fn members_are_read_by_name() {
    let tensor = Tensor::from_i64(&[2], &[3, -4]).unwrap();
    for method in both() {
        let arrays = opened(&archive("x.npy", method, &npy(&tensor)), 1 << 20).unwrap();
        assert_eq!(arrays.names(), ["x"]);
        for _ in 0..2 {
            let read = arrays.get("x", ANY).unwrap().unwrap();
            assert_eq!(read.as_i64(), Some(&[3, -4][..]));
        }
        assert!(arrays.get("y", ANY).unwrap().is_none());
    }
    assert!(opened(b"PK nonsense", 0).unwrap_err().contains("a.npz"));
    assert!(opened(b"", 0).unwrap_err().contains("a.npz"));
    let other = archive("x.txt", CompressionMethod::Stored, b"");
    assert!(opened(&other, 0).unwrap_err().contains("not a .npy array"));
}

/// An unwanted array is rejected by its header: its elements are never requested, so they need not exist.
#[test]
fn unwanted_arrays_are_not_unpacked() {
    let whole = npy(&Tensor::zeros(ElementType::F64, &[1 << 20]).unwrap());
    let mut bytes = archive("x.npy", CompressionMethod::Deflated, &whole);
    assert!(bytes.len() < 1 << 14);
    let unwanted = |_, shape: &[u64]| {
        assert_eq!(shape, [1 << 20]);
        Err(TensorError::Unwanted { reason: "no".into() })
    };
    let read = |bytes: &[u8]| opened(bytes, 1 << 30).unwrap().get("x", &unwanted);
    assert!(matches!(read(&bytes), Err(TensorError::Unwanted { .. })));
    // Corruption after the header is not detected.
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    assert!(matches!(read(&bytes), Err(TensorError::Unwanted { .. })));
    assert!(refusal(&bytes, 1 << 30).contains("x.npy: is damaged"));
}

#[test]
fn members_unpack_to_a_bounded_size() {
    let whole = npy(&Tensor::zeros(ElementType::F64, &[1 << 10]).unwrap());
    let text = refusal(&archive("x.npy", CompressionMethod::Deflated, &whole), 1000);
    assert!(text.contains("8320 bytes, more than 1000; --limit unpacked_bytes=N"), "{text}");
    let stored = opened(&archive("x.npy", CompressionMethod::Stored, &whole), 1000).unwrap();
    assert!(stored.get("x", ANY).unwrap().is_some());
}

#[test]
fn checksums_are_checked() {
    let whole = npy(&Tensor::from_i64(&[3], &[1, 2, 3]).unwrap());
    let good = archive("x.npy", CompressionMethod::Stored, &whole);
    let data = good.windows(8).position(|w| w == [2, 0, 0, 0, 0, 0, 0, 0]);
    let mut bad = good;
    bad[data.unwrap()] = 7;
    let text = refusal(&bad, 1 << 20);
    assert!(text.contains("a.npz/x.npy: is damaged: Invalid checksum"), "{text}");
}

#[test]
fn other_methods_are_named() {
    let whole = npy(&Tensor::from_i64(&[1], &[1]).unwrap());
    for (number, name) in [(99u8, "method 99"), (12, "method 12 (Bzip2)"), (77, "method 77")] {
        let mut bytes = archive("x.npy", CompressionMethod::Stored, &whole);
        for (signature, offset) in [(b"PK\x03\x04", 8), (b"PK\x01\x02", 10)] {
            let at = bytes.windows(4).position(|w| w == signature).unwrap();
            bytes[at + offset] = number;
        }
        let text = refusal(&bytes, 1 << 20);
        assert!(text.contains(name), "{text}");
        assert!(text.contains("numpy.savez"), "{text}");
    }
}

#[test]
fn wrong_sizes_are_errors() {
    let whole = npy(&Tensor::from_i64(&[2], &[1, 2]).unwrap());
    for method in both() {
        let good = archive("x.npy", method, &whole);
        let size = |bytes: &mut [u8], at: usize, size: u32| {
            bytes[at..at + 4].copy_from_slice(&size.to_le_bytes());
        };
        let list = good.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
        for claimed in [0, 8, whole.len() as u32 - 1, whole.len() as u32 + 1, u32::MAX - 1] {
            let mut bad = good.clone();
            size(&mut bad, list + 24, claimed);
            size(&mut bad, 22, claimed);
            assert!(refusal(&bad, 1 << 33).contains("a.npz"), "{claimed}");
        }
    }
}

#[test]
fn arrays_may_have_other_names() {
    let tensor = Tensor::from_bytes(ElementType::U8, &[2], &[1, 2]).unwrap();
    let bytes = archive("in.1.npy", CompressionMethod::Stored, &npy(&tensor));
    let pairs =
        [("in.1", "in_1"), ("other", "in_2")].map(|(stored, new)| (stored.to_owned(), new.to_owned()));
    let renamed = opened(&bytes, 100).unwrap().renamed(pairs);
    assert_eq!(renamed.names(), ["in_1"]);
    assert!(renamed.contains("in_1") && !renamed.contains("in_2"));
    let read = renamed.get("in_1", ANY).unwrap().unwrap();
    assert_eq!(read.bytes(), tensor.bytes());
}
