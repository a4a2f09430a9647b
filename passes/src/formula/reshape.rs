//! Formulas that keep the row-major order of a whole tensor: reshapes, which move nothing.

use super::block;
use super::open::Sizes;
use crate::mlir::{Builder, types};
use crate::structure::Affine;
use melior::Error;
use melior::ir::{Type, Value, ValueLike};

/// The row-major position of subscripts in a tensor of these extents.
pub fn position(subscripts: &[Affine], extents: &[i64]) -> Option<Affine> {
    let mut stride = 1i64;
    let mut sum = Affine::default();
    for (subscript, extent) in subscripts.iter().zip(extents).rev() {
        sum = sum.add(&subscript.scale(stride)?)?;
        stride = stride.checked_mul(*extent)?;
    }
    Some(sum)
}

/// The tensor under another type of the same volume.
pub fn reshape<'c: 'a, 'a>(
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
    if let Some(groups) = groups(&to, &from) {
        return block::expand(tensor, &groups, &fixed(to), r#type, at);
    }
    // Neither refines the other: through one dimension.
    let element = types::element_of(r#type).ok_or(Error::OperationBuild)?;
    let flat = types::tensor(&[from.iter().product()], element);
    let all = |rank: usize| vec![(0..rank).collect::<Vec<_>>()];
    let flat = block::collapse(tensor, &all(from.len()), flat, at)?;
    let rank = to.len();
    block::expand(flat, &all(rank), &fixed(to), r#type, at)
}

fn fixed<'c, 'a>(extents: Vec<i64>) -> Sizes<'c, 'a> {
    Sizes {
        fixed: extents,
        values: Vec::new(),
    }
}

/// The dimensions of `fine` that make up each of `coarse`, if they do.
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
        while next < fine.len() && (group.is_empty() || product < *extent) {
            product = product.checked_mul(*fine.get(next)?)?;
            group.push(next);
            next += 1;
        }
        // Extents of one go to the group in front of them while enough stay for the others.
        while fine.get(next) == Some(&1) && fine.len() - next > left {
            group.push(next);
            next += 1;
        }
        if product != *extent {
            return None;
        }
        groups.push(group);
    }
    (next == fine.len()).then_some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_group_where_products_agree() {
        assert_eq!(
            groups(&[2, 3, 4, 5], &[6, 20]),
            Some(vec![vec![0, 1], vec![2, 3]])
        );
        assert_eq!(groups(&[2, 3, 4], &[4, 6]), None);
        assert_eq!(
            groups(&[1, 256, 1, 1], &[1, 256]),
            Some(vec![vec![0], vec![1, 2, 3]])
        );
        assert_eq!(groups(&[1, 1], &[]), Some(vec![]));
        assert_eq!(groups(&[5, 1, 1], &[5, 1]), Some(vec![vec![0, 1], vec![2]]));
    }

    #[test]
    fn positions_are_row_major() {
        let subscripts = [Affine::index(0), Affine::index(1)];
        assert_eq!(
            position(&subscripts, &[3, 4]).unwrap().to_string(),
            "d0 * 4 + d1"
        );
    }
}
