// SPDX-License-Identifier: Apache-2.0
//! `skript-fill-borders`: fills only the border of an array if its interior is written next.
//!
//! A padded array is filled completely before its interior is computed. Only the border needs the fill: a slice on each
//! side of each dimension.

use super::buffer_uses::BufferUses;
use super::elementwise::Elementwise;
use crate::ir::linalg::Fill;
use crate::ir::memref::{self, root_of};
use crate::ir::walk::named;
use crate::ir::{self, Builder, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};

/// The pass `skript-fill-borders`.
pub const PASS: Pass = Pass {
    flag: "skript-fill-borders",
    summary: "fill the border of an array alone if its interior is written next",
    dependent_dialects: &[Dialect::Linalg, Dialect::MemRef],
    run: |root, _, rewriter| {
        for fill in named(root, ops::linalg::FILL) {
            let Some(border) = Border::from_fill(fill) else {
                continue;
            };
            border.fill(&Builder::before(rewriter.context(), fill)?)?;
            ir::erase(fill);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Minimum number of elements of an array whose border is filled separately.
const MIN_ELEMENTS: i64 = 4096;

/// The border of an array, which needs the fill.
struct Border<'c, 'a> {
    value: Value<'c, 'a>,
    array: Value<'c, 'a>,
    shape: Vec<i64>,
    /// Offsets and sizes of the interior.
    offsets: Vec<i64>,
    sizes: Vec<i64>,
}

impl<'c: 'a, 'a> Border<'c, 'a> {
    fn from_fill(fill: OperationRef<'c, 'a>) -> Option<Self> {
        let typed = Fill::cast(fill)?;
        let (value, array) = (typed.value().ok()?, typed.destination().ok()?);
        let memref = MemRefType::try_from(array.r#type()).ok()?;
        let (strides, offset) = memref.strides_and_offset();
        let is_known = offset >= 0 && strides.iter().all(|s| *s >= 0);
        let uses = BufferUses::new(array, fill)?;
        let next = *uses.after.first()?;
        let interior = match memref::Copy::cast(next) {
            Some(copy) => {
                let (from, to) = (copy.source().ok()?, copy.target().ok()?);
                (root_of(from) != root_of(array)).then_some(to)?
            }
            None => {
                let interior = next.operands().last()?;
                Elementwise::new(next)?.fills(interior).then_some(interior)?
            }
        };
        let view = memref::Subview::of(interior)?;
        let is_part = view.source() == Ok(array);
        let (offsets, sizes) = memref::part(view).filter(|_| is_part)?;
        let shape = memref::extents(array.r#type());
        let is_known = is_known && shape.iter().all(|extent| *extent >= 0);
        let count = shape.iter().fold(1, |all: i64, n| all.saturating_mul(*n));
        (is_known && count >= MIN_ELEMENTS && sizes.len() == shape.len()).then_some(Border {
            value,
            array,
            shape,
            offsets,
            sizes,
        })
    }

    /// Fills the slices before and after the interior along each dimension. Along earlier dimensions the slices have only the extent of
    /// the interior, because the other elements are already filled.
    fn fill(&self, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let (mut first, mut length) = (vec![0; self.shape.len()], self.shape.clone());
        let steps = vec![1; self.shape.len()];
        let interior = self.offsets.iter().zip(&self.sizes).zip(&self.shape).enumerate();
        for (dimension, ((offset, size), extent)) in interior {
            for (from, count) in [(0, *offset), (offset + size, extent - offset - size)] {
                if count > 0 {
                    let (mut offsets, mut sizes) = (first.clone(), length.clone());
                    set(&mut offsets, dimension, from);
                    set(&mut sizes, dimension, count);
                    let part = memref::subview(at, self.array, &offsets, &sizes, &steps)?;
                    at.fill_into(self.value, part)?;
                }
            }
            set(&mut first, dimension, *offset);
            set(&mut length, dimension, *size);
        }
        Ok(())
    }
}

fn set(list: &mut [i64], position: usize, value: i64) {
    if let Some(item) = list.get_mut(position) {
        *item = value;
    }
}
