// SPDX-License-Identifier: Apache-2.0
//! Tests of pipes, devices, links and sizes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::*;

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn only_regular_files_are_opened_without_blocking() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    pipe(&at("pipe"));
    symlink(at("pipe"), at("link")).unwrap();
    let refused = |path: &Path| read(path, 10).unwrap_err().to_string();
    assert_eq!(refused(&at("pipe")), "not a regular file, but a pipe");
    assert_eq!(refused(&at("link")), "not a regular file, but a pipe");
    assert_eq!(refused(folder.path()), "not a regular file, but a folder");
    for device in ["/dev/zero", "/dev/null", "/dev/tty"] {
        assert_eq!(refused(Path::new(device)), "not a regular file, but a device");
    }
    assert!(matches!(read(&at("none"), 10), Err(FileError::System(_))));
}

#[test]
fn reading_stops_at_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    fs::write(&path, b"abcd").unwrap();
    assert_eq!(read(&path, 4).unwrap(), b"abcd");
    assert_eq!(read(&path, 3).unwrap_err().to_string(), "larger than 3 bytes");
    // A sparse file of one terabyte.
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    assert!(matches!(read(&path, 1 << 30), Err(FileError::Size { max_bytes: 0x4000_0000 })));
    // The reported length of such a file is 0.
    assert!(!read(Path::new("/proc/self/status"), 1 << 20).unwrap().is_empty());
    assert!(matches!(read(Path::new("/proc/self/status"), 5), Err(FileError::Size { max_bytes: 5 })));
    assert!(matches!(read_stream(std::io::repeat(0), 100), Err(FileError::Size { max_bytes: 100 })));
}

#[test]
fn links_out_of_their_folder_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::create_dir_all(at("model/sub")).unwrap();
    fs::write(at("secret"), "s").unwrap();
    fs::write(at("model/sub/w"), "w").unwrap();
    let model = at("model");
    symlink(at("secret"), at("model/out")).unwrap();
    symlink("../secret", at("model/relative")).unwrap();
    symlink(root.path(), at("model/up")).unwrap();
    symlink("sub/w", at("model/inside")).unwrap();
    symlink(at("model"), at("named")).unwrap();
    let within = |name: &str, folder: &Path| {
        let read = read_within(&folder.join(name), folder, 10);
        read.map(|bytes| String::from_utf8(bytes).unwrap())
    };
    for name in ["out", "relative", "up/secret"] {
        let refused = within(name, &model).unwrap_err();
        assert!(matches!(refused, FileError::Outside { .. }), "{name}");
    }
    assert_eq!(within("inside", &model).unwrap(), "w");
    assert_eq!(within("sub/w", &model).unwrap(), "w");
    // The folder itself may be a link.
    assert_eq!(within("inside", &at("named")).unwrap(), "w");
    assert_eq!(read(&at("model/out"), 10).unwrap(), b"s");
}

#[test]
fn versions_differ_by_length_and_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    fs::write(&path, b"abcd").unwrap();
    let version = RegularFile::open(&path).unwrap().version();
    assert_eq!(version.fate(&path), Fate::Unchanged);
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.set_len(2).unwrap();
    assert_eq!(version.fate(&path), Fate::Changed);
    file.set_len(4).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(version.fate(&path), Fate::Changed);
    fs::rename(&path, folder.path().join("g")).unwrap();
    assert_eq!(version.fate(&path), Fate::Renamed);
    fs::write(&path, b"abcd").unwrap();
    assert_eq!(version.fate(&path), Fate::Renamed);
}
