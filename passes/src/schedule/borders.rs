// SPDX-License-Identifier: Apache-2.0
//! `skript-fill-borders`: fills the border of an array alone if its interior is written next.
//!
//! A padded array is filled as a whole before its interior is computed. Then only the border needs the fill: a part on each
//! side of each dimension.

use super::buffer_uses::BufferUses;
use super::elementwise::Elementwise;
use crate::ir::linalg::Fill;
use crate::ir::memref::{self, root_of};
use crate::ir::walk::named;
use crate::ir::{self, Builder, ops};
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Value, ValueLike};
use skript_dialect::{Dialect, Pass, PassError};

/// The pass `skript-fill-borders`.
pub const PASS: Pass = Pass {
    flag: "skript-fill-borders",
    summary: "fill the border of an array alone if its interior is written next",
    dependent_dialects: &[Dialect::Linalg, Dialect::MemRef],
    run: |root, _, rewriter| {
        for fill in named(root, ops::linalg::FILL) {
            let Some(border) = Border::of(fill) else {
                continue;
            };
            border.fill(&Builder::before(rewriter.context(), fill)?)?;
            ir::erase(fill);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// Elements of the smallest array whose border is filled alone.
const SMALLEST: i64 = 4096;

/// The part of an array that a fill is needed for.
struct Border<'c, 'a> {
    value: Value<'c, 'a>,
    array: Value<'c, 'a>,
    shape: Vec<i64>,
    /// Where the interior begins and how long it is.
    offsets: Vec<i64>,
    sizes: Vec<i64>,
}

impl<'c: 'a, 'a> Border<'c, 'a> {
    fn of(fill: OperationRef<'c, 'a>) -> Option<Self> {
        let typed = Fill::cast(fill)?;
        let (value, array) = (typed.value().ok()?, typed.destination().ok()?);
        let memref = MemRefType::try_from(array.r#type()).ok()?;
        let (strides, offset) = memref.strides_and_offset();
        let is_known = offset >= 0 && strides.iter().all(|s| *s >= 0);
        let uses = BufferUses::of(array, fill)?;
        let next = *uses.after.first()?;
        let interior = match memref::Copy::cast(next) {
            Some(copy) => {
                let (from, to) = (copy.source().ok()?, copy.target().ok()?);
                (root_of(from) != root_of(array)).then_some(to)?
            }
            None => {
                let interior = next.operands().last()?;
                let elementwise = Elementwise::of(next)?;
                elementwise.fills(interior).then_some(interior)?
            }
        };
        let view = memref::Subview::of(interior)?;
        let is_part = view.source() == Ok(array);
        let (offsets, sizes) = memref::part(view).filter(|_| is_part)?;
        let shape: Option<Vec<i64>> = (0..memref.rank())
            .map(|d| match memref.dim_size(d).ok()? {
                melior::ir::r#type::DimSize::Static(n) => i64::try_from(n).ok(),
                melior::ir::r#type::DimSize::Dynamic => None,
            })
            .collect();
        let shape = shape?;
        let count = shape.iter().fold(1, |all: i64, n| all.saturating_mul(*n));
        (is_known && count >= SMALLEST && sizes.len() == shape.len()).then_some(Border {
            value,
            array,
            shape,
            offsets,
            sizes,
        })
    }

    /// Fills the parts before and after the interior along each dimension; along those before it, only where the interior is.
    fn fill(&self, at: &Builder<'c, 'a>) -> Result<(), PassError> {
        let (mut first, mut length) = (vec![0; self.shape.len()], self.shape.clone());
        let steps = vec![1; self.shape.len()];
        let interior = self.offsets.iter().zip(&self.sizes).enumerate();
        for (dimension, (offset, size)) in interior {
            let extent = self.shape.get(dimension).copied().unwrap_or(0);
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
