//! A pack of run-time length among the inputs: one array along a first dimension of its own, or an array for each item.

use std::path::PathBuf;

use skript_frontend::model::{Extent, TensorType};
use skript_semantics::{Numbers, ScalarKind};
use skript_tensor::npz::Npz;
use skript_tensor::{ElementType, Tensor, TensorError};

use super::{count, file, fit, is_archive, shaped};

/// The arrays of the files; of a single `.npz` all items ([`archived`]), else of each the one that is called `NAME_0` and so on.
pub fn files(
    files: &[PathBuf],
    most: u64,
    name: &str,
    whole: &TensorType,
) -> Result<Vec<Tensor>, TensorError> {
    if let [single] = files {
        let items = match is_archive(single) {
            true => archived(&[Npz::open(single, most)?], name, whole)?,
            false => Vec::new(),
        };
        let admits = |_, shape: &[u64]| part(shape, name, whole);
        return match items.is_empty() {
            true => Ok(vec![file(single, most, name, &admits)?]),
            false => Ok(items),
        };
    }
    let read = |(at, path): (usize, &PathBuf)| {
        let name = item(name, at);
        file(path, most, &name, &|_, shape| part(shape, &name, whole))
    };
    files.iter().enumerate().map(read).collect()
}

/// An error unless this is the shape of the pack, or may be that of an item.
fn part(shape: &[u64], name: &str, whole: &TensorType) -> Result<(), TensorError> {
    match whole.shape.get(1..) {
        Some(extents) if shape.len() == extents.len() => {
            shaped(shape, name, &item_type(whole.kind, extents))
        }
        _ => shaped(shape, name, whole),
    }
}

fn item_type(kind: ScalarKind, extents: &[Extent]) -> TensorType {
    TensorType {
        kind,
        shape: extents.to_vec(),
    }
}

/// What archives hold for the pack: nothing, `NAME`, or `NAME_0`, `NAME_1` and so on.
pub fn archived(
    archives: &[Npz],
    name: &str,
    whole: &TensorType,
) -> Result<Vec<Tensor>, TensorError> {
    let find = |name: &str| {
        let admits = |_, shape: &[u64]| part(shape, name, whole);
        super::archived(archives, name, &admits)
    };
    if let Some(pack) = find(name)? {
        return Ok(vec![pack]);
    }
    // One more than the pack may have tells that there are too many.
    let most = whole.shape.first().map_or(0, Extent::bound);
    let items = (0..).take_while(|at| *at as u64 <= most);
    items
        .map_while(|at| find(&item(name, at)).transpose())
        .collect()
}

/// Whether an array of an archive is an item of the pack.
pub fn is_item(pack: &str, array: &str) -> bool {
    let number = array
        .strip_prefix(pack)
        .and_then(|rest| rest.strip_prefix('_'));
    number.is_some_and(|n| n.parse().is_ok_and(|at| item(pack, at) == array))
}

/// The pack in run-time representation; otherwise all that is wrong with it.
pub fn pack(
    mut given: Vec<Tensor>,
    name: &str,
    whole: &TensorType,
    numbers: Numbers,
) -> Result<Tensor, Vec<String>> {
    if let [single] = given.as_slice()
        && single.shape().len() == whole.shape.len()
    {
        return fit(given.remove(0), name, whole, numbers).map_err(|message| vec![message]);
    }
    let Some((length, extents)) = whole.shape.split_first() else {
        return Err(Vec::new());
    };
    if given.len() as u64 > length.bound() {
        return Err(vec![format!(
            "input `{name}` is a pack of at most {}, {} given",
            length.bound(),
            count(given.len(), "array"),
        )]);
    }
    let wanted = item_type(whole.kind, extents);
    let mut items = Vec::with_capacity(given.len());
    let mut messages = Vec::new();
    for (at, tensor) in given.into_iter().enumerate() {
        match fit(tensor, &item(name, at), &wanted, numbers) {
            Ok(tensor) => items.push(tensor),
            Err(message) => messages.push(message),
        }
    }
    if !messages.is_empty() {
        return Err(messages);
    }
    let shape = items
        .first()
        .map_or(Vec::new(), |first| first.shape().to_vec());
    let stacked = Tensor::stacked(ElementType::run_time(whole.kind, numbers), &shape, &items);
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
        let length = Extent::Dynamic {
            expr: std::sync::Arc::new(ShapeExpr::Symbol("s".into())),
            bound: 2,
        };
        TensorType {
            kind: ScalarKind::Int,
            shape: vec![length, Extent::Fixed(2)],
        }
    }

    fn array(shape: &[u64], values: &[i64]) -> Tensor {
        Tensor::from_i64(shape, values).unwrap()
    }

    #[test]
    fn items_and_the_whole_are_told_apart_by_their_rank() {
        let both = pack(
            vec![array(&[2], &[1, 2]), array(&[2], &[3, 4])],
            "xs",
            &whole(),
            Numbers::default(),
        );
        let both = both.unwrap();
        assert_eq!(
            (both.shape(), both.as_i64()),
            (&[2, 2][..], Some(&[1, 2, 3, 4][..]))
        );
        let one = pack(
            vec![array(&[2], &[5, 6])],
            "xs",
            &whole(),
            Numbers::default(),
        )
        .unwrap();
        assert_eq!(one.shape(), [1, 2]);
        let none = pack(
            vec![array(&[0, 2], &[])],
            "xs",
            &whole(),
            Numbers::default(),
        )
        .unwrap();
        assert_eq!(none.shape(), [0, 2]);
    }

    #[test]
    fn what_is_wrong_names_the_item() {
        let errors = |given| {
            pack(given, "xs", &whole(), Numbers::default())
                .unwrap_err()
                .join("; ")
        };
        let item = || array(&[2], &[1, 2]);
        assert_eq!(
            errors(vec![item(), item(), item()]),
            "input `xs` is a pack of at most 2, 3 arrays given"
        );
        assert!(errors(vec![item(), array(&[1], &[1])]).contains("input `xs_1`"));
        assert!(errors(vec![array(&[3, 2], &[0; 6])]).contains("at most 2"));
    }

    #[test]
    fn archives_have_the_pack_or_its_items() {
        let named = |name: &str| (name.to_string(), array(&[2], &[1, 2]));
        let found = |names: &[&str]| {
            let all: Vec<_> = names.iter().map(|n| named(n)).collect();
            archived(&all, "xs").len()
        };
        assert_eq!(
            (
                found(&["xs", "xs_0", "xs_1"]),
                found(&["xs_0", "xs_1", "xs_3"]),
                found(&["x"])
            ),
            (1, 2, 0)
        );
        assert!(is_item("xs", "xs_12") && !is_item("xs", "xs_") && !is_item("xs", "xs_01"));
    }
}
