// SPDX-License-Identifier: Apache-2.0
//! Values of variables that replace the earlier ones in a folder together: a process that ends at any moment leaves all old or all new
//! values. New values are written beside the old ones, then a list of them, and then they are renamed. While the list exists, the new
//! values count, and the next save renames the rest. Saves lock the folder, so that each sees a complete list or none.

use crate::dat;
use crate::error::TensorError;
use crate::map::MappedFile;
use crate::tensor::Tensor;
use crate::weights::file_name;
use skript_host::{Sync, replace_bytes};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The names of the variables whose new values are complete, one a line.
const LIST: &str = ".saved-variables";

/// Writes `<name>.dat` for each variable, and creates the folder.
///
/// # Errors
/// [`TensorError`] if a file cannot be written, or a tensor does not fit the format. The folder then has its old values.
pub fn save<'a>(
    folder: &Path,
    variables: impl Iterator<Item = (&'a str, &'a Tensor)>,
) -> Result<(), TensorError> {
    let failed = |error| TensorError::io(folder, "write", error);
    fs::create_dir_all(folder).map_err(failed)?;
    let _lock = skript_host::file::lock_folder(folder).map_err(failed)?;
    complete(folder)?;
    let mut written = Vec::new();
    let saved = write(folder, variables, &mut written).and_then(|()| list(folder, &written));
    if let Err(error) = saved {
        for name in written {
            // The first error counts.
            let _ = fs::remove_file(new_path(folder, &name));
        }
        return Err(error);
    }
    complete(folder)
}

/// The variables whose new values are not renamed yet, because a [`save`] was interrupted or is running.
///
/// # Errors
/// [`TensorError`] if the list cannot be read or has a name with a path.
pub(crate) fn pending(folder: &Path) -> Result<BTreeSet<String>, TensorError> {
    let path = folder.join(LIST);
    if !path.exists() {
        return Ok(BTreeSet::new());
    }
    let list = MappedFile::open_within(&path, folder)?;
    let names = str::from_utf8(list.bytes()).map_err(|e| TensorError::format(&path, e.to_string()))?;
    names.lines().map(|name| file_name(name).map(|_| name.to_owned())).collect()
}

/// Renames the files of an interrupted [`save`], if its list is complete.
fn complete(folder: &Path) -> Result<(), TensorError> {
    for name in pending(folder)? {
        let current = folder.join(file_name(&name)?);
        done_if_missing(fs::rename(new_path(folder, &name), &current), &current)?;
    }
    let path = folder.join(LIST);
    done_if_missing(fs::remove_file(&path), &path)
}

/// Accepts that the file is missing: the interrupted save has renamed it.
fn done_if_missing(result: std::io::Result<()>, path: &Path) -> Result<(), TensorError> {
    match result {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(TensorError::io(path, "write", error)),
        _ => Ok(()),
    }
}

/// The file with the new value of a variable until it is renamed.
pub(crate) fn new_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!(".{name}.dat.new"))
}

/// Writes the new values, and adds the names of the files that it creates to `written`.
fn write<'a>(
    folder: &Path,
    variables: impl Iterator<Item = (&'a str, &'a Tensor)>,
    written: &mut Vec<String>,
) -> Result<(), TensorError> {
    for (name, tensor) in variables {
        let path = folder.join(file_name(name)?);
        let failed = |error| TensorError::io(&path, "write", error);
        let mut stream = BufWriter::new(File::create(new_path(folder, name)).map_err(failed)?);
        written.push(name.to_owned());
        dat::write(&path, tensor, &mut stream)?;
        stream.flush().map_err(failed)?;
    }
    Ok(())
}

/// Makes the new values valid.
fn list(folder: &Path, names: &[String]) -> Result<(), TensorError> {
    let path = folder.join(LIST);
    let written = replace_bytes(&path, Sync::Later, &[names.join("\n").as_bytes()]);
    written.map_err(|error| TensorError::io(&path, "write", error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WeightStore;

    fn value(folder: &Path, name: &str) -> f32 {
        let path = folder.join(format!("{name}.dat"));
        dat::read(&path, folder, &|_, _| Ok(())).unwrap().as_f32().unwrap()[0]
    }

    fn save_all(folder: &Path, value: f32) {
        let tensor = Tensor::from_f32(&[1], &[value]).unwrap();
        save(folder, ["a", "b"].into_iter().map(|name| (name, &tensor))).unwrap();
    }

    #[test]
    fn a_save_that_ended_after_its_list_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        save_all(at, 1.0);
        let tensor = Tensor::from_f32(&[1], &[2.0]).unwrap();
        let mut written = Vec::new();
        write(at, ["a", "b"].into_iter().map(|name| (name, &tensor)), &mut written).unwrap();
        assert_eq!((value(at, "a"), value(at, "b")), (1.0, 1.0));
        list(at, &written).unwrap();
        fs::rename(new_path(at, "a"), at.join("a.dat")).unwrap();
        // The new values count for readers, who leave the folder as it is.
        let store = WeightStore::folder(at, "main", 1 << 20).unwrap();
        let read = |name: &str| {
            let stored = store.sources()[0].get(name, &|_, _| Ok(())).unwrap();
            stored.unwrap().as_f32().unwrap()[0]
        };
        assert_eq!((read("a"), read("b")), (2.0, 2.0));
        assert_eq!(value(at, "b"), 1.0);
        complete(at).unwrap();
        assert_eq!((value(at, "a"), value(at, "b")), (2.0, 2.0));
        assert_eq!(fs::read_dir(at).unwrap().count(), 2);
    }

    /// Each of the saves that run at the same time replaces all values.
    #[test]
    fn saves_at_the_same_time_are_not_mixed() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                scope.spawn(move || (0..20_u8).for_each(|n| save_all(at, f32::from(20 * thread + n))));
            }
        });
        assert_eq!(value(at, "a"), value(at, "b"));
        assert_eq!(fs::read_dir(at).unwrap().count(), 2);
    }

    #[test]
    fn a_save_that_ended_before_its_list_has_no_effect() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        save_all(at, 1.0);
        fs::write(new_path(at, "a"), "torn").unwrap();
        complete(at).unwrap();
        assert_eq!((value(at, "a"), value(at, "b")), (1.0, 1.0));
        save_all(at, 3.0);
        assert_eq!((value(at, "a"), value(at, "b")), (3.0, 3.0));
        assert_eq!(fs::read_dir(at).unwrap().count(), 2);
    }

    #[test]
    fn a_list_cannot_name_files_of_other_folders() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(LIST), "../a").unwrap();
        assert!(matches!(pending(folder.path()), Err(TensorError::Name { .. })));
    }

    #[test]
    fn a_tensor_that_cannot_be_stored_leaves_the_old_values() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        save_all(at, 1.0);
        let (good, bad) =
            (Tensor::from_f32(&[1], &[2.0]).unwrap(), Tensor::from_f32(&[1; 9], &[2.0]).unwrap());
        save(at, [("a", &good), ("b", &bad)].into_iter()).unwrap_err();
        assert_eq!(value(at, "a"), 1.0);
        assert_eq!(fs::read_dir(at).unwrap().count(), 2);
    }
}
