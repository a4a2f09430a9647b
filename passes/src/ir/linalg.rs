// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `linalg`.

use super::typed::{self, typed};
use super::{attributes, ops};
use melior::Context;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, BlockRef, OperationRef, RegionLike};

typed! {
    /// `linalg.generic`: a loop nest with one payload.
    Generic = ops::linalg::GENERIC;
    /// `linalg.fill`: writes one value to all elements.
    Fill = ops::linalg::FILL { value = 0, destination = 1 };
    /// `linalg.yield`: ends a payload with its only value, or the first one.
    Yield = ops::linalg::YIELD { value = 0 };
}

/// The loop whose number `linalg.index` gives; `None` for other operations.
pub(crate) fn index_of(op: OperationRef) -> Option<usize> {
    let is_index = skript_dialect::op::is(&op, ops::linalg::INDEX);
    let dimension = typed::integer(op, "dim").filter(|_| is_index)?;
    usize::try_from(dimension).ok()
}

/// The attributes of a `linalg.generic` with these maps, loops (whether each is a reduction) and numbers of inputs and outputs.
/// `None` if `linalg` is not loaded, or if there are more operands than MLIR counts.
pub(crate) fn generic_attributes<'c>(
    context: &'c Context,
    maps: &[Attribute<'c>],
    reductions: impl IntoIterator<Item = bool>,
    [inputs, outputs]: [usize; 2],
) -> Option<[(&'static str, Attribute<'c>); 3]> {
    let word = |reduces| if reduces { "reduction" } else { "parallel" };
    let iterator = |reduces| format!("#linalg.iterator_type<{}>", word(reduces));
    let iterators = reductions
        .into_iter()
        .map(|reduces| Attribute::parse(context, &iterator(reduces)));
    let iterators: Vec<Attribute> = iterators.collect::<Option<_>>()?;
    let count = |n: usize| i32::try_from(n).ok();
    let segments = attributes::i32s(context, &[count(inputs)?, count(outputs)?]);
    Some([
        ("indexing_maps", ArrayAttribute::new(context, maps).into()),
        (
            "iterator_types",
            ArrayAttribute::new(context, &iterators).into(),
        ),
        ("operandSegmentSizes", segments),
    ])
}

impl<'c: 'a, 'a> Generic<'c, 'a> {
    /// The map of each operand from loops to subscripts.
    pub(crate) fn indexing_maps(self) -> Vec<Attribute<'c>> {
        typed::array(self.op(), "indexing_maps")
    }

    /// Whether each loop is a reduction, outermost first.
    pub(crate) fn reductions(self) -> Vec<bool> {
        let iterators = typed::array(self.op(), "iterator_types").into_iter();
        let reductions = iterators.map(|iterator| iterator.to_string().contains("reduction"));
        reductions.collect()
    }

    /// The payload.
    pub(crate) fn body(self) -> Option<BlockRef<'c, 'a>> {
        self.op().region(0).ok()?.first_block()
    }
}
