// SPDX-License-Identifier: Apache-2.0
//! Reads packs of dynamic length: one array with an additional first dimension, or an array for each item.

use std::path::PathBuf;

use skript_frontend::model::{Extent, TensorType};
use skript_semantics::{Numbers, ScalarKind};
use skript_tensor::npz::Npz;
use skript_tensor::{ElementType, Tensor, TensorError};

use super::{count, file, fit, is_archive, shaped};

/// Reads the arrays of the files: all items of a single `.npz` ([`archived`]); otherwise the array `NAME_0`, `NAME_1`, … of the file
/// at each position.
pub fn files(
    files: &[PathBuf],
    max_bytes: u64,
    name: &str,
    whole: &TensorType,
) -> Result<Vec<Tensor>, TensorError> {
    if let [single] = files {
        let items = if is_archive(single) {
            archived(&[Npz::open(single, max_bytes)?], name, whole)?
        } else {
            Vec::new()
        };
        let admits = |_, shape: &[u64]| part(shape, name, whole);
        return if items.is_empty() { Ok(vec![file(single, max_bytes, name, &admits)?]) } else { Ok(items) };
    }
    let read = |(at, path): (usize, &PathBuf)| {
        let name = item(name, at);
        file(path, max_bytes, &name, &|_, shape| part(shape, &name, whole))
    };
    files.iter().enumerate().map(read).collect()
}

/// Returns an error unless this may be the shape of the pack or of an item.
fn part(shape: &[u64], name: &str, whole: &TensorType) -> Result<(), TensorError> {
    match whole.shape.get(1..) {
        Some(extents) if shape.len() == extents.len() => shaped(shape, name, &item_type(whole.kind, extents)),
        _ => shaped(shape, name, whole),
    }
}

fn item_type(kind: ScalarKind, extents: &[Extent]) -> TensorType {
    TensorType { kind, shape: extents.to_vec() }
}

/// Reads the arrays of the pack from archives: `NAME`, or `NAME_0`, `NAME_1`, … without a gap. Returns an empty
/// list if the archives lack the pack.
pub fn archived(archives: &[Npz], name: &str, whole: &TensorType) -> Result<Vec<Tensor>, TensorError> {
    let find = |name: &str| {
        let admits = |_, shape: &[u64]| part(shape, name, whole);
        super::archived(archives, name, &admits)
    };
    if let Some(pack) = find(name)? {
        return Ok(vec![pack]);
    }
    whole_row(archives, name)?;
    // Reads one item more than the upper bound, so that the excess is detected.
    let max_items = whole.shape.first().map_or(0, Extent::bound);
    let items = (0..).take_while(|at| *at as u64 <= max_items);
    items.map_while(|at| find(&item(name, at)).transpose()).collect()
}

/// Whether an array of an archive is an item of the pack.
pub fn is_item(pack: &str, array: &str) -> bool {
    position(pack, array).is_some()
}

/// The position in the pack of an array of an archive, if it is an item.
fn position(pack: &str, array: &str) -> Option<usize> {
    let number = array.strip_prefix(pack)?.strip_prefix('_')?;
    let at = number.parse().ok()?;
    (item(pack, at) == array).then_some(at)
}

/// Returns an error if archives contain an item of the pack but not all items before it.
pub fn whole_row(archives: &[Npz], pack: &str) -> Result<(), TensorError> {
    let arrays = archives.iter().flat_map(Npz::names).map(String::as_str);
    match (gap(arrays, pack), archives.last()) {
        (Some((missing, there)), Some(archive)) => Err(TensorError::Format {
            path: archive.path().to_path_buf(),
            reason: format!("it has no array `{}`, but `{}`", item(pack, missing), item(pack, there)),
        }),
        _ => Ok(()),
    }
}

/// A missing item of the pack, and a later item that exists.
fn gap<'a>(arrays: impl Iterator<Item = &'a str>, pack: &str) -> Option<(usize, usize)> {
    let mut items: Vec<usize> = arrays.filter_map(|array| position(pack, array)).collect();
    items.sort_unstable();
    items.dedup();
    items.into_iter().enumerate().find(|(expected, position)| expected != position)
}

/// Joins the arrays of a pack in its storage type; returns all errors.
pub fn pack(
    mut given: Vec<Tensor>,
    name: &str,
    whole: &TensorType,
    numbers: Numbers,
) -> Result<Tensor, Vec<String>> {
    if let [single] = given.as_slice()
        && single.shape().len() == whole.shape.len()
    {
        return fit(given.remove(0), name, whole, None, numbers).map_err(|message| vec![message]);
    }
    let Some((length, extents)) = whole.shape.split_first() else {
        return Err(Vec::new());
    };
    if given.len() as u64 > length.bound() {
        return Err(vec![format!(
            "input `{name}` is a pack of at most {}, but there are {}",
            length.bound(),
            count(given.len(), "array"),
        )]);
    }
    let wanted = item_type(whole.kind, extents);
    let mut items = Vec::with_capacity(given.len());
    let mut messages = Vec::new();
    for (at, tensor) in given.into_iter().enumerate() {
        match fit(tensor, &item(name, at), &wanted, None, numbers) {
            Ok(tensor) => items.push(tensor),
            Err(message) => messages.push(message),
        }
    }
    if !messages.is_empty() {
        return Err(messages);
    }
    let shape = items.first().map_or(Vec::new(), |first| first.shape().to_vec());
    let stacked = Tensor::stacked(ElementType::for_kind(whole.kind, numbers), &shape, &items);
    stacked.map_err(|error| vec![format!("input `{name}`: {error}")])
}

fn item(name: &str, at: usize) -> String {
    format!("{name}_{at}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_frontend::model::{Extent, ShapeExpr};
    use skript_semantics::ScalarKind;

    fn whole() -> TensorType {
        let length = Extent::Dynamic { expr: std::sync::Arc::new(ShapeExpr::Symbol("s".into())), bound: 2 };
        TensorType { kind: ScalarKind::Int, shape: vec![length, Extent::Fixed(2)] }
    }

    fn array(shape: &[u64], values: &[i64]) -> Tensor {
        Tensor::from_i64(shape, values).unwrap()
    }

    #[test]
    fn items_and_packs_are_distinguished_by_rank() {
        let both = pack(vec![array(&[2], &[1, 2]), array(&[2], &[3, 4])], "xs", &whole(), Numbers::default());
        let both = both.unwrap();
        assert_eq!((both.shape(), both.as_i64()), (&[2, 2][..], Some(&[1, 2, 3, 4][..])));
        let one = pack(vec![array(&[2], &[5, 6])], "xs", &whole(), Numbers::default()).unwrap();
        assert_eq!(one.shape(), [1, 2]);
        let none = pack(vec![array(&[0, 2], &[])], "xs", &whole(), Numbers::default()).unwrap();
        assert_eq!(none.shape(), [0, 2]);
    }

    #[test]
    fn errors_name_the_item() {
        let errors = |given| pack(given, "xs", &whole(), Numbers::default()).unwrap_err().join("; ");
        let item = || array(&[2], &[1, 2]);
        assert_eq!(
            errors(vec![item(), item(), item()]),
            "input `xs` is a pack of at most 2, but there are 3 arrays"
        );
        assert!(errors(vec![item(), array(&[1], &[1])]).contains("input `xs_1`"));
        assert!(errors(vec![array(&[3, 2], &[0; 6])]).contains("≤2"));
    }

    #[test]
    fn gaps_between_items_are_found() {
        let found = |names: &[&str]| gap(names.iter().copied(), "xs");
        assert_eq!(found(&["xs_1", "xs_0", "xs_x", "zs_3"]), None);
        assert_eq!(found(&["xs_0", "xs_2", "xs_3"]), Some((1, 2)));
        assert_eq!(found(&["xs_1"]), Some((0, 1)));
        assert!(is_item("xs", "xs_12") && !is_item("xs", "xs_") && !is_item("xs", "xs_01"));
    }
}
