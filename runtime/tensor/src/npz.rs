//! NumPy's `.npz` files: zip archives of `.npy` members.

use crate::error::TensorError;
use crate::map::open_ordinary;
use crate::npy;
use crate::tensor::Tensor;
use std::path::Path;

/// The names of all arrays, in the archive's order; nothing is read but the archive's list.
///
/// # Errors
/// The file cannot be read, or is no such archive.
pub fn names(path: &Path) -> Result<Vec<String>, TensorError> {
    let (file, _) = open_ordinary(path)?;
    let fail =
        |e: zip::result::ZipError| TensorError::format(path, format!("is no .npz file: {e}"));
    let archive = zip::ZipArchive::new(file).map_err(fail)?;
    let names = archive.file_names().map(|full| {
        let full = full.map_err(fail)?;
        Ok(full.strip_suffix(".npy").unwrap_or(&full).to_string())
    });
    names.collect()
}

/// Reads all arrays, in the archive's order, named without `.npy`.
///
/// A member must decompress to exactly the size that its header promises; memory for it is asked for only if the
/// archive states that size too and is large enough for it at deflate's best ratio (1032:1).
pub fn read(path: &Path) -> Result<Vec<(String, Tensor)>, TensorError> {
    let (file, length) = open_ordinary(path)?;
    let fail =
        |e: zip::result::ZipError| TensorError::format(path, format!("is no .npz file: {e}"));
    let mut archive = zip::ZipArchive::new(file).map_err(fail)?;
    let mut arrays = Vec::new();
    for position in 0..archive.len() {
        let mut member = archive.by_index(position).map_err(fail)?;
        let full = member.name().map_err(fail)?.to_string();
        let Some(name) = full.strip_suffix(".npy").map(str::to_string) else {
            return Err(TensorError::format(
                path,
                format!("member {full:?} is no .npy array"),
            ));
        };
        let size = member.size();
        if size > length.saturating_mul(1032) {
            return Err(TensorError::format(
                path,
                format!("member {full:?} claims {size} bytes, more than the file can hold"),
            ));
        }
        let shown = path.join(&full);
        arrays.push((name, npy::read_stream(&shown, &mut member, size)?));
    }
    Ok(arrays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn members_are_read_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npz");
        let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file("x.npy", options).unwrap();
        let tensor = Tensor::from_i64(&[2], &[3, -4]).unwrap();
        npy::write(&path, &tensor, &mut archive).unwrap();
        archive.finish().unwrap();
        assert_eq!(names(&path).unwrap(), ["x"]);
        let arrays = read(&path).unwrap();
        assert_eq!(arrays[0].0, "x");
        assert_eq!(arrays[0].1.as_i64(), Some(&[3, -4][..]));

        std::fs::File::create(&path)
            .unwrap()
            .write_all(b"PK nonsense")
            .unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("a.npz"));
    }
}
