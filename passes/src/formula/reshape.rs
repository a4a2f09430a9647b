// SPDX-License-Identifier: Apache-2.0
//! Reshapes: formulas that keep the row-major order of a full tensor, so no element moves.

use super::block;
use super::dynamic_extents::Sizes;
use crate::ir::{Builder, types};
use crate::structure::Affine;
use melior::Error;
use melior::ir::{Type, Value, ValueLike};

/// Subscripts of a tensor and the extents of its type.
pub(crate) struct Shaped<'s> {
    dimensions: Vec<(&'s Affine, i64)>,
}

impl<'s> Shaped<'s> {
    pub(crate) fn new(subscripts: &'s [Affine], extents: &[i64]) -> Self {
        Shaped { dimensions: subscripts.iter().zip(extents.iter().copied()).collect() }
    }

    /// Returns the dynamic dimensions with their subscripts.
    pub(crate) fn open(&self) -> impl Iterator<Item = (usize, &'s Affine)> {
        let open = self.dimensions.iter().enumerate().filter(|(_, (_, extent))| *extent == types::DYNAMIC);
        open.map(|(dimension, (form, _))| (dimension, *form))
    }

    /// Whether both have equal row-major positions: equal subscripts along dynamic dimensions, and equal row-major positions over the
    /// static dimensions between them.
    pub(crate) fn moves_nothing(&self, other: &Shaped) -> bool {
        let between = |shaped: &Shaped| -> Option<Vec<(Affine, i64)>> {
            shaped.dimensions.split(|(_, extent)| *extent == types::DYNAMIC).map(position).collect()
        };
        let (positions, others) = (between(self), between(other));
        positions.is_some() && positions == others && self.open().map(|o| o.1).eq(other.open().map(|o| o.1))
    }
}

/// Returns the row-major position over dimensions, and the number of positions.
fn position(dimensions: &[(&Affine, i64)]) -> Option<(Affine, i64)> {
    let mut stride = 1i64;
    let mut sum = Affine::default();
    for (subscript, extent) in dimensions.iter().rev() {
        sum = sum.add(&subscript.scale(stride)?)?;
        stride = stride.checked_mul(*extent)?;
    }
    Some((sum, stride))
}

/// Whether one or two reshapes convert a tensor to other extents with the same number of elements. If neither list of
/// extents refines the other, the tensor is first collapsed to one dimension, whose extent must be static.
pub(crate) fn are_reshaped(from: &[i64], to: &[i64]) -> bool {
    from == to || !from.contains(&types::DYNAMIC) || pieces(from, to) || pieces(to, from)
}

/// Whether each dimension of `coarse` is the product of consecutive dimensions of `fine`.
fn pieces(fine: &[i64], coarse: &[i64]) -> bool {
    groups(fine, coarse).is_some()
}

/// Reshapes the tensor to another type with the same elements; dynamic extents keep their order.
pub(crate) fn reshape<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    r#type: Type<'c>,
    at: &Builder<'c, 'a>,
) -> Result<Value<'c, 'a>, Error> {
    if tensor.r#type() == r#type {
        return Ok(tensor);
    }
    let from = types::extents(tensor.r#type()).ok_or(Error::OperationBuild)?;
    let to = types::extents(r#type).ok_or(Error::OperationBuild)?;
    if let Some(groups) = groups(&from, &to) {
        return block::collapse(tensor, &groups, r#type, at);
    }
    let sizes = Sizes { fixed: to.clone(), values: at.dynamic_extents(tensor)? };
    if let Some(groups) = groups(&to, &from) {
        return block::expand(tensor, &groups, &sizes, r#type, at);
    }
    if !are_reshaped(&from, &to) {
        return Err(Error::OperationBuild);
    }
    let element = types::element_of(r#type).ok_or(Error::OperationBuild)?;
    let flat = types::tensor(&[from.iter().product()], element);
    let all = |rank: usize| vec![(0..rank).collect::<Vec<_>>()];
    let flat = block::collapse(tensor, &all(from.len()), flat, at)?;
    block::expand(flat, &all(to.len()), &sizes, r#type, at)
}

/// Returns, for each dimension of `coarse`, the consecutive dimensions of `fine` that it merges; `None` if there is no such
/// grouping. A dynamic dimension can only be merged with dimensions of extent 1.
fn groups(fine: &[i64], coarse: &[i64]) -> Option<Vec<Vec<usize>>> {
    if coarse.len() >= fine.len() {
        return None;
    }
    if coarse.is_empty() {
        return fine.iter().all(|e| *e == 1).then(Vec::new);
    }
    let mut groups = Vec::new();
    let mut next = 0;
    for (number, extent) in coarse.iter().enumerate() {
        let mut group = Vec::new();
        let mut product = 1i64;
        let left = coarse.len() - number - 1;
        while next < fine.len() && (group.is_empty() || unfinished(product, *extent)) {
            product = match (product, *fine.get(next)?) {
                (1, extent) => extent,
                (_, types::DYNAMIC) => return None,
                (product, extent) => product.checked_mul(extent)?,
            };
            group.push(next);
            next += 1;
        }
        // Extents of 1 join the group before them while enough remain for the other groups, and none of these is 1.
        let is_next = coarse.get(number + 1) == Some(&1);
        while fine.get(next) == Some(&1) && fine.len() - next > left && !is_next {
            group.push(next);
            next += 1;
        }
        if product != *extent || group.is_empty() {
            return None;
        }
        groups.push(group);
    }
    (next == fine.len()).then_some(groups)
}

/// Whether a product needs more dimensions.
fn unfinished(product: i64, extent: i64) -> bool {
    match extent {
        types::DYNAMIC => product == 1,
        extent => product < extent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_group_where_products_agree() {
        assert_eq!(groups(&[2, 3, 4, 5], &[6, 20]), Some(vec![vec![0, 1], vec![2, 3]]));
        assert_eq!(groups(&[2, 3, 4], &[4, 6]), None);
        assert_eq!(groups(&[1, 256, 1, 1], &[1, 256]), Some(vec![vec![0], vec![1, 2, 3]]));
        assert_eq!(groups(&[1, 1], &[]), Some(vec![]));
        // No dimension is left for the last group.
        assert_eq!(groups(&[1, 1, 6, 3], &[6, 3, 1]), None);
        assert_eq!(groups(&[5, 1, 1], &[5, 1]), Some(vec![vec![0], vec![1, 2]]));
        assert_eq!(
            groups(&[5, 1, 2, 3, 7], &[5, 1, 6, 7]),
            Some(vec![vec![0], vec![1], vec![2, 3], vec![4]])
        );
    }

    #[test]
    fn a_dynamic_extent_is_one_dimension() {
        const N: i64 = types::DYNAMIC;
        let alone = Some(vec![vec![0], vec![1, 2, 3]]);
        assert_eq!(groups(&[N, 6, 7, 7], &[N, 294]), alone);
        assert_eq!(groups(&[1, N, 1, N, 4], &[N, N, 4]), Some(vec![vec![0, 1, 2], vec![3], vec![4]]));
        assert_eq!(groups(&[N, 4], &[N]), None);
        assert_eq!(groups(&[4, N], &[N]), None);
        assert_eq!(groups(&[N, N], &[N]), None);
        assert_eq!(groups(&[1, 4, N], &[N, 4]), None);
    }

    #[test]
    fn positions_are_equal_along_dynamic_dimensions_and_between() {
        const N: i64 = types::DYNAMIC;
        let [b, i, j, sum] = [
            Affine::index(0),
            Affine::index(1),
            Affine::index(2),
            Affine::index(1).scale(4).unwrap().add(&Affine::index(2)).unwrap(),
        ];
        let forms = [b.clone(), i.clone(), j.clone()];
        let from = Shaped::new(&forms, &[N, 3, 4]);
        let merged = [b.clone(), sum];
        assert!(from.moves_nothing(&Shaped::new(&merged, &[N, 12])));
        assert!(!from.moves_nothing(&Shaped::new(&merged, &[N, 13])));
        let turned = [b, j, i];
        assert!(!from.moves_nothing(&Shaped::new(&turned, &[N, 4, 3])));
        assert!(!from.moves_nothing(&Shaped::new(&forms[1..], &[3, 4])));
        let two = Shaped::new(&forms, &[N, N, 4]);
        let swapped = [forms[1].clone(), forms[0].clone(), forms[2].clone()];
        assert!(!two.moves_nothing(&Shaped::new(&swapped, &[N, N, 4])));
    }

    #[test]
    fn positions_are_row_major() {
        let subscripts = [Affine::index(0), Affine::index(1)];
        let (position, count) = position(&Shaped::new(&subscripts, &[3, 4]).dimensions).unwrap();
        assert_eq!((position.to_string().as_str(), count), ("d0 * 4 + d1", 12));
    }
}
