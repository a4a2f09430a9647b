// SPDX-License-Identifier: Apache-2.0
//! `skript-unroll-elementwise`: unrolls elementwise operations on vectors to vectors of the size that the target supports.
//!
//! Upstream's `VectorUnrollOpInterface` does this for each operation. In this pass, the trait is sufficient for all operations: each
//! tile of the result is the operation on the same tiles of the operands. A vector with more dimensions than `shape` is split along
//! the outer dimensions. If an extent is not a multiple of the tile's, the last tile is smaller.
//!
//! Guarantees: no elementwise operation on vectors is larger than `shape`.

use crate::ir::last;
use crate::ir::ops;
use crate::ir::{Builder, attributes, vector};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::{Attribute, Type, TypeLike, Value, ValueLike};
use skript_dialect::melior;
use skript_dialect::melior::ir::OperationRef;
use skript_dialect::melior::ir::operation::OperationLike;
use skript_dialect::{Dialect, Pass, PassError, PassOption, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-unroll-elementwise",
    summary: "unroll elementwise operations on vectors to smaller vectors",
    dependent_dialects: &[Dialect::Vector, Dialect::Ub],
    options: &[PassOption {
        name: "shape",
        summary: "maximum extents of the inner dimensions, separated by x, as in 4x8; outer extents become 1",
        default: "8",
    }],
    run: |root, options, rewriter| {
        let context = rewriter.context();
        let shape = shape(options.text("shape"))?;
        let otherwise = "is elementwise but its results are not all vectors of fixed length";
        let large = |t: Type| t.is_vector() && vector::extents(t).is_none_or(|e| tile(&e, &shape) != e);
        super::replace_all(&root, rewriter, large, otherwise, |op| {
            unroll(op, &shape, &Builder::before(context, op)?)
        })
    },
    ..Pass::NONE
};

fn shape(text: &str) -> Result<Vec<i64>, PassError> {
    let extents: Option<Vec<i64>> =
        text.split('x').map(|t| t.trim().parse().ok().filter(|e| *e > 0)).collect();
    extents.ok_or_else(|| format!("option shape: `{text}` is not a list of positive extents").into())
}

/// The largest tile of a vector with these extents.
fn tile(extents: &[i64], shape: &[i64]) -> Vec<i64> {
    let outer = extents.len().saturating_sub(shape.len());
    let shape = last(shape, extents.len() - outer);
    let limits = std::iter::repeat_n(&1, outer).chain(shape);
    extents.iter().zip(limits).map(|(e, l)| *e.min(l)).collect()
}

fn unroll<'c: 'a, 'a>(
    op: OperationRef<'c, 'a>,
    shape: &[i64],
    at: &Builder<'c, 'a>,
) -> Result<Option<Vec<Value<'c, 'a>>>, PassError> {
    let types: Vec<Type> = op.results().map(|r| r.r#type()).collect();
    let extents: Option<Vec<Vec<i64>>> = types.iter().map(|t| vector::extents(*t)).collect();
    let Some(extents) = extents.and_then(|e| e.into_iter().next()) else {
        return Ok(None);
    };
    let tile = tile(&extents, shape);
    let poison = types
        .iter()
        .map(|t| at.value(ops::ub::POISON, &[], &[("value", attributes::poison(at.context))], *t));
    let mut results = poison.collect::<Result<Vec<Value>, _>>()?;
    let steps = extents.iter().zip(&tile).map(|(e, t)| (e + t - 1) / t);
    for index in vector::all_indices(&steps.collect::<Vec<_>>()) {
        let offsets: Vec<i64> = index.iter().zip(&tile).map(|(p, t)| p * t).collect();
        let sizes = extents.iter().zip(&offsets).zip(&tile);
        let sizes: Vec<i64> = sizes.map(|((e, o), t)| (*t).min(e - o)).collect();
        let (offsets, lengths) = (numbers(at, &offsets), numbers(at, &sizes));
        let strides = numbers(at, &vec![1; sizes.len()]);
        let part = |r#type: Type<'c>| vector::of(&sizes, vector::element_or_self(r#type));
        let mut operands = Vec::new();
        for operand in op.operands() {
            if !operand.r#type().is_vector() {
                operands.push(operand);
                continue;
            }
            let attributes = [("offsets", offsets), ("sizes", lengths), ("strides", strides)];
            let slice = ops::vector::EXTRACT_STRIDED_SLICE;
            operands.push(at.value(slice, &[operand], &attributes, part(operand.r#type()))?);
        }
        let parts: Vec<Type> = types.iter().map(|t| part(*t)).collect();
        let small = at.insert(op::clone_with(&op, &operands, &parts));
        for (result, value) in results.iter_mut().zip(small.results()) {
            let r#type = result.r#type();
            let attributes = [("offsets", offsets), ("strides", strides)];
            let slice = ops::vector::INSERT_STRIDED_SLICE;
            *result = at.value(slice, &[value.into(), *result], &attributes, r#type)?;
        }
    }
    Ok(Some(results))
}

fn numbers<'c>(at: &Builder<'c, '_>, values: &[i64]) -> Attribute<'c> {
    let values: Vec<Attribute> = values.iter().map(|v| attributes::i64(at.context, *v)).collect();
    ArrayAttribute::new(at.context, &values).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_no_larger_than_the_vector() {
        assert_eq!(tile(&[16], &[8]), [8]);
        assert_eq!(tile(&[4, 16], &[8]), [1, 8]);
        assert_eq!(tile(&[3], &[4, 8]), [3]);
        assert_eq!(tile(&[2, 4, 4], &[4, 8]), [1, 4, 4]);
        assert_eq!(tile(&[], &[8]), [0i64; 0]);
    }

    #[test]
    fn shapes_are_parsed() {
        assert_eq!(shape("4x8").ok(), Some(vec![4, 8]));
        assert!(shape("4x0").is_err());
        assert!(shape("").is_err());
    }
}
