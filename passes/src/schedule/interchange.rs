// SPDX-License-Identifier: Apache-2.0
//! `skript-interchange-reductions`: interchanges loops of reductions without a kernel so that the innermost one runs
//! along contiguous elements.
//!
//! In the order of the formula a sum is accumulated in one register. A loop of the output that runs along contiguous
//! elements of all operands becomes the innermost one, so LLVM computes one sum per vector lane. Each sum has the same
//! terms in the same order.

use crate::ir::walk::named;
use crate::ir::{linalg, maps, ops};
use crate::structure::Affine;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::{OperationLike, OperationRef};
use melior::ir::r#type::{DimSize, MemRefType};
use melior::ir::{Attribute, ShapedTypeLike, ValueLike};
use skript_dialect::{Dialect, Pass};

/// Minimum length of a row: shorter ones fill no vector.
const SHORTEST: u64 = 8;

/// The pass `skript-interchange-reductions`.
pub const PASS: Pass = Pass {
    flag: "skript-interchange-reductions",
    summary: "interchange loops of reductions so that the innermost one runs along contiguous elements",
    dependent_dialects: &[Dialect::Linalg],
    run: |root, _, rewriter| {
        for op in named(root, ops::linalg::GENERIC) {
            let Some(nest) = Nest::of(op) else { continue };
            if let Some(row) = nest.row() {
                let order = nest.with_innermost(row);
                linalg::reorder_loops(op, &order, rewriter.context());
            }
        }
        Ok(())
    },
    ..Pass::NONE
};

/// The loops of an operation on buffers.
struct Nest<'c> {
    /// By loop: `#linalg.iterator_type<…>`.
    iterators: Vec<Attribute<'c>>,
    /// By operand.
    forms: Vec<Vec<Affine>>,
    types: Vec<MemRefType<'c>>,
}

impl<'c> Nest<'c> {
    fn of<'a>(op: OperationRef<'c, 'a>) -> Option<Self>
    where
        'c: 'a,
    {
        if op.result_count() > 0 {
            return None;
        }
        let list = |name: &str| -> Option<Vec<Attribute<'c>>> {
            let list = ArrayAttribute::try_from(op.attribute(name).ok()?).ok()?;
            (0..list.len()).map(|n| list.element(n).ok()).collect()
        };
        let forms = list("indexing_maps")?.into_iter().map(maps::forms);
        let types = op.operands().map(|o| MemRefType::try_from(o.r#type()).ok());
        Some(Nest {
            iterators: list("iterator_types")?,
            forms: forms.collect::<Option<_>>()?,
            types: types.collect::<Option<_>>()?,
        })
    }

    fn is_reduced(&self, number: usize) -> bool {
        let iterator = self.iterators.get(number).map(ToString::to_string);
        iterator.is_some_and(|iterator| iterator.contains("reduction"))
    }

    /// The loop that becomes the innermost one; `None` if the innermost loop stays.
    fn row(&self) -> Option<usize> {
        let last = self.iterators.len().checked_sub(1)?;
        let output = self.forms.last()?.last()?.as_index()?;
        let runs_long = match self.types.last()?.dim_size(self.types.last()?.rank() - 1).ok()? {
            DimSize::Static(extent) => extent >= SHORTEST,
            DimSize::Dynamic => true,
        };
        let mut operands = self.forms.iter().zip(&self.types);
        let goes_along = operands.all(|(forms, r#type)| strides(forms, r#type, output).is_some());
        (self.is_reduced(last) && !self.is_reduced(output) && runs_long && goes_along).then_some(output)
    }

    /// The loops in their new order.
    fn with_innermost(&self, row: usize) -> Vec<usize> {
        let others = (0..self.iterators.len()).filter(|number| *number != row);
        others.chain([row]).collect()
    }
}

/// The stride of an operand along a loop, in elements: 0 or 1; `None` if it is larger.
fn strides(forms: &[Affine], r#type: &MemRefType, number: usize) -> Option<i64> {
    let (strides, _) = r#type.strides_and_offset();
    let mut moved = 0;
    for (form, stride) in forms.iter().zip(strides) {
        for (index, factor) in form.as_linear()? {
            match index == number {
                true if factor == 1 && stride == 1 => moved += 1,
                true => return None,
                false => {}
            }
        }
    }
    (moved <= 1).then_some(moved)
}
