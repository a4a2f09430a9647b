// SPDX-License-Identifier: Apache-2.0
//! Files that change while they are mapped.

use super::*;
use crate::{ElementType, MissingWeights, Tensor, VariableRequest, WeightStore, dat};
use std::fs::File;

/// Elements of a file of four megabytes: more than one page of any size.
const ELEMENTS: u64 = 1 << 20;

fn folder_with_weights() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.w.dat");
    let tensor = Tensor::from_f32(&[ELEMENTS], &vec![1.5; 1 << 20]).unwrap();
    dat::write(&path, &tensor, &mut File::create(&path).unwrap()).unwrap();
    (folder, path)
}

fn truncate(path: &Path, length: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_len(length).unwrap();
}

fn load(folder: &Path, element: ElementType) -> Result<Tensor, TensorError> {
    let request = VariableRequest { name: "m.w", aliases: &[], element, shape: vec![ELEMENTS] };
    let store = WeightStore::open(folder, 1 << 30).unwrap();
    let mut loaded = crate::load_each(&store, &[request], MissingWeights::Error);
    loaded.remove(0)
}

/// Without a handler this ends the test's process by SIGBUS.
#[test]
fn truncated_files_are_errors() {
    let (folder, path) = folder_with_weights();
    let tensor = load(folder.path(), ElementType::F32).unwrap();
    assert!(tensor.is_mapped());
    tensor.unchanged().unwrap();
    truncate(&path, 8192);
    // Nothing is lost until something is read.
    tensor.intact().unwrap();
    let values = tensor.as_f32().unwrap();
    assert_eq!((values[0], values[(1 << 20) - 1]), (1.5, 0.0));
    let error = tensor.intact().unwrap_err().to_string();
    assert!(error.contains("m.w.dat changed"), "{error}");
    assert!(error.contains("truncated"), "{error}");
    assert!(tensor.clone().unchanged().is_err());
    assert_eq!(values.iter().filter(|v| **v == 1.5).count() as u64, (8192 - 128) / 4);
}

#[test]
fn conversions_of_truncated_files_are_errors() {
    let (folder, path) = folder_with_weights();
    let mapped = load(folder.path(), ElementType::F32).unwrap();
    truncate(&path, 8192);
    let mut copied = mapped.clone();
    assert!(copied.bytes_mut().is_err());
    let converted = mapped.into_run_time("w", ElementType::F64);
    assert!(matches!(converted, Err(TensorError::Changed { .. })));
}

#[test]
fn files_that_are_written_to_are_found() {
    use std::io::{Seek, SeekFrom, Write};
    let (folder, path) = folder_with_weights();
    let tensor = load(folder.path(), ElementType::F32).unwrap();
    let mut file = File::options().write(true).open(&path).unwrap();
    // Modification times have a coarse resolution.
    std::thread::sleep(std::time::Duration::from_millis(20));
    file.seek(SeekFrom::Start(1 << 10)).unwrap();
    file.write_all(&[7; 4]).unwrap();
    tensor.intact().unwrap();
    let error = tensor.unchanged().unwrap_err().to_string();
    assert!(error.contains("m.w.dat changed"), "{error}");
}

/// The recommended way to replace a file: the mapping keeps the old one.
#[test]
fn replacing_a_mapped_file_by_a_rename_is_not_a_change() {
    let (folder, path) = folder_with_weights();
    let tensor = load(folder.path(), ElementType::F32).unwrap();
    let other = folder.path().join("other");
    std::fs::write(&other, "x").unwrap();
    std::fs::rename(&other, &path).unwrap();
    assert_eq!(tensor.as_f32().unwrap()[(1 << 20) - 1], 1.5);
    tensor.unchanged().unwrap();
}

#[test]
fn unmapped_files_are_not_watched() {
    let (folder, path) = folder_with_weights();
    for _ in 0..3 {
        let tensor = load(folder.path(), ElementType::F32).unwrap();
        tensor.intact().unwrap();
        drop(tensor);
        truncate(&path, 8192);
        assert!(load(folder.path(), ElementType::F32).is_err());
        let tensor = Tensor::from_f32(&[ELEMENTS], &vec![1.5; 1 << 20]).unwrap();
        dat::write(&path, &tensor, &mut File::create(&path).unwrap()).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn weights_are_not_links_out_of_their_folder() {
    use std::os::unix::fs::symlink;
    let (outside, path) = folder_with_weights();
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("m.w.dat");
    symlink(&path, &link).unwrap();
    let error = load(folder.path(), ElementType::F32).unwrap_err().to_string();
    assert!(error.contains("a link out of the folder"), "{error}");
    std::fs::remove_file(&link).unwrap();
    // The user named this folder, although it is a link.
    let named = folder.path().join("named");
    symlink(outside.path(), &named).unwrap();
    load(&named, ElementType::F32).unwrap();
    // Files beside the main module are searched, not named by the user.
    std::fs::write(outside.path().join("a.safetensors"), "").unwrap();
    symlink(outside.path().join("a.safetensors"), folder.path().join("main.safetensors")).unwrap();
    let error = WeightStore::folder(folder.path(), "main", 0).unwrap_err();
    assert!(error.to_string().contains("a link out of"), "{error}");
}

/// The resident pages of this process's mapping of a file, in KiB.
#[cfg(target_os = "linux")]
fn resident(path: &Path) -> u64 {
    let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
    let name = path.to_str().unwrap();
    let lines = maps.lines().skip_while(|line| !line.ends_with(name));
    let line = lines.skip(1).find(|line| line.starts_with("Rss:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn released_elements_use_no_memory_and_are_read_again() {
    let (folder, path) = folder_with_weights();
    let tensor = load(folder.path(), ElementType::F32).unwrap();
    let sum = || tensor.as_f32().unwrap().iter().sum::<f32>();
    assert_eq!(sum(), 1.5 * ELEMENTS as f32);
    assert!(resident(&path) >= 4096);
    tensor.release();
    assert!(resident(&path) < 64, "{}", resident(&path));
    assert_eq!(sum(), 1.5 * ELEMENTS as f32);
    tensor.unchanged().unwrap();
}

/// Truncation is also detected in released pages.
#[test]
fn released_elements_of_truncated_files_are_errors() {
    let (folder, path) = folder_with_weights();
    let tensor = load(folder.path(), ElementType::F32).unwrap();
    assert_eq!(tensor.as_f32().unwrap()[(1 << 20) - 1], 1.5);
    tensor.release();
    truncate(&path, 8192);
    assert_eq!(tensor.as_f32().unwrap()[(1 << 20) - 1], 0.0);
    assert!(tensor.intact().is_err());
    tensor.release();
    assert_eq!(tensor.as_f32().unwrap()[(1 << 20) - 1], 0.0);
}
