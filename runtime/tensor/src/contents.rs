// SPDX-License-Identifier: Apache-2.0
//! The names, shapes and types in files of weights, and tables of arrays.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::archive::Archive;
use crate::element::ElementType;
use crate::error::TensorError;
use crate::npz::Npz;
use crate::safetensors::SafeTensors;
use crate::weights::{Source, VariableRequest, WeightStore};

/// An array: name, shape and element type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The array's name in the file.
    pub name: String,
    /// Shape and element type; `None` if the file of the array cannot be read.
    pub header: Option<(Vec<u64>, ElementType)>,
}

/// All arrays of one file or folder.
#[derive(Clone, Debug)]
pub struct Contents {
    /// The file or the folder.
    pub path: PathBuf,
    /// The arrays, in the order of the file.
    pub arrays: Vec<Listed>,
}

impl WeightStore {
    /// The contents of the non-empty files and folders of the store, in the order in which they are searched. Arrays of a file
    /// are in the order of the file, arrays of a folder are sorted by name.
    pub fn contents(&self) -> Vec<Contents> {
        let all = self.sources().iter().map(contents);
        all.filter(|c| !c.arrays.is_empty()).collect()
    }
}

fn contents(source: &Source) -> Contents {
    let path = match source {
        Source::Folder { path, .. } => path.as_path(),
        Source::Packed(archive) => archive.folder(),
        Source::SafeTensors(arrays) => arrays.path(),
        Source::Npz(arrays) => arrays.path(),
        Source::Gguf(arrays) => arrays.path(),
        Source::Held(arrays) => arrays.path(),
        Source::Arrays(_) => Path::new(""),
    };
    let arrays = names(source).into_iter().map(|name| Listed { header: header(source, &name), name });
    Contents { path: path.to_path_buf(), arrays: arrays.collect() }
}

fn names(source: &Source) -> Vec<String> {
    match source {
        Source::Folder { path, .. } => dat_files(folder_names(path).iter().map(String::as_str)),
        Source::Packed(archive) => dat_files(Archive::names(archive)),
        Source::SafeTensors(arrays) => SafeTensors::names(arrays),
        Source::Npz(arrays) => Npz::names(arrays).to_vec(),
        Source::Gguf(arrays) => arrays.entries().iter().map(|entry| entry.name.clone()).collect(),
        Source::Held(arrays) => arrays.names().map(str::to_owned).collect(),
        Source::Arrays(arrays) => arrays.keys().cloned().collect::<BTreeSet<_>>().into_iter().collect(),
    }
}

fn folder_names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// The names of arrays among names of files.
fn dat_files<'a>(files: impl Iterator<Item = &'a str>) -> Vec<String> {
    let names = files.filter_map(|file| file.strip_suffix(".dat"));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names
}

/// Reads the header of an array and declines its elements.
fn header(source: &Source, name: &str) -> Option<(Vec<u64>, ElementType)> {
    let seen = std::cell::OnceCell::new();
    let admits = |element: ElementType, shape: &[u64]| {
        // An array has one header.
        let _ = seen.set((shape.to_vec(), element));
        Err(TensorError::Unwanted { reason: String::new() })
    };
    // The error is always `Unwanted`, unless the file cannot be read. Then `seen` is empty.
    let _ = source.get(name, &admits);
    seen.into_inner()
}

/// Maximum number of rows of a table in a message; `skript info --variables` prints all rows.
const MAX_ROWS: usize = 40;
/// Maximum number of characters of a name or shape in a table.
const MAX_CELL: usize = 96;

impl From<&VariableRequest<'_>> for Listed {
    fn from(request: &VariableRequest<'_>) -> Self {
        Listed { name: request.name.to_string(), header: Some((request.shape.clone(), request.element)) }
    }
}

/// The notes of a message about variables without weights: a table of these variables, then a table of the arrays of
/// each file and folder of the store.
pub fn remarks(missing: &[Listed], store: &WeightStore) -> Vec<String> {
    let head = match missing.len() {
        1 => "this variable has no weights".to_string(),
        n => format!("these {n} variables have no weights, in the order of the graph"),
    };
    let missing = format!("{head}:\n{}", table(missing, MAX_ROWS));
    let held = store.contents().into_iter().map(|c| c.text(MAX_ROWS));
    let mut all: Vec<String> = std::iter::once(missing).chain(held).collect();
    for text in &mut all {
        text.truncate(text.trim_end().len());
    }
    all
}

impl Contents {
    /// The path, the number of arrays, and a table of at most `max_rows` arrays.
    pub fn text(&self, max_rows: usize) -> String {
        let count = match self.arrays.len() {
            1 => "1 array".to_string(),
            n => format!("{n} arrays"),
        };
        let path = self.path.display();
        format!("{path} has {count}:\n{}", table(&self.arrays, max_rows))
    }
}

/// One line per array, in columns: name, shape, element type. At most `max_rows` lines, then the number of omitted arrays.
pub fn table(arrays: &[Listed], max_rows: usize) -> String {
    let shown = arrays.get(..max_rows).unwrap_or(arrays);
    let rows: Vec<[String; 3]> = shown
        .iter()
        .map(|array| match &array.header {
            Some((shape, element)) => {
                [elided(&array.name), elided(&format!("{shape:?}")), element.to_string()]
            }
            None => [elided(&array.name), "unreadable".into(), String::new()],
        })
        .collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).fold(0, usize::max)
    };
    let (names, shapes) = (width(0), width(1));
    let mut text = String::new();
    for [name, shape, element] in &rows {
        let line = format!("    {name:names$}  {shape:shapes$}  {element}");
        text += line.trim_end();
        text.push('\n');
    }
    if arrays.len() > shown.len() {
        text += &format!("    … and {} more\n", arrays.len() - shown.len());
    }
    text
}

/// A text of at most [`MAX_CELL`] characters. Names and shapes in files may be longer than any line.
fn elided(text: &str) -> String {
    match text.char_indices().nth(MAX_CELL) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Tensor, dat};

    fn listed(name: &str, shape: &[u64]) -> Listed {
        Listed { name: name.to_string(), header: Some((shape.to_vec(), ElementType::F32)) }
    }

    #[test]
    fn a_folder_lists_its_arrays_and_those_of_files_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.dat");
        let tensor = Tensor::from_f32(&[2, 1], &[1.0, 2.0]).unwrap();
        let mut file = std::fs::File::create(&path).unwrap();
        dat::write(&path, &tensor, &mut file).unwrap();
        std::fs::write(folder.path().join("a.dat"), "no array").unwrap();
        std::fs::write(folder.path().join("readme.txt"), "").unwrap();
        let json = r#"{"z":{"dtype":"F16","shape":[1],"data_offsets":[0,2]},"y":{"dtype":"I64","shape":[],"data_offsets":[2,10]}}"#;
        let mut bytes = (json.len() as u64).to_le_bytes().to_vec();
        bytes.extend(json.as_bytes());
        bytes.extend([0; 10]);
        std::fs::write(folder.path().join("main.safetensors"), bytes).unwrap();
        let contents = WeightStore::open(folder.path(), 1 << 20).unwrap().contents();
        let arrays: Vec<Vec<Listed>> = contents.into_iter().map(|c| c.arrays).collect();
        let array = |name: &str, header| Listed { name: name.to_string(), header };
        assert_eq!(
            arrays,
            [
                vec![array("a", None), listed("b", &[2, 1])],
                vec![
                    array("z", Some((vec![1], ElementType::F16))),
                    array("y", Some((vec![], ElementType::I64)))
                ]
            ]
        );
    }

    #[test]
    fn tables_have_columns() {
        let arrays = [listed("weight", &[2, 3]), listed("b", &[128]), listed("c", &[])];
        assert_eq!(table(&arrays, 2), "    weight  [2, 3]  f32\n    b       [128]   f32\n    … and 1 more\n");
        assert_eq!(table(&arrays[1..2], 2), "    b  [128]  f32\n");
        let long = table(&[listed(&"é".repeat(100_000), &vec![1; 100_000])], 1);
        assert_eq!(long.chars().filter(|c| *c == '…').count(), 2, "{long}");
    }
}
