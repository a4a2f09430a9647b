// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `linalg`.

use super::typed::{self, typed};
use super::{Builder, attributes, maps, mutation, operations, ops};
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, BlockRef, OperationRef, Region, RegionLike, Type, Value, ValueLike};
use melior::{Context, Error};
use skript_symbolic::Affine;

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
    let iterators = reductions.into_iter().map(|reduces| Attribute::parse(context, &iterator(reduces)));
    let iterators: Vec<Attribute> = iterators.collect::<Option<_>>()?;
    let count = |n: usize| i32::try_from(n).ok();
    let segments = attributes::i32s(context, &[count(inputs)?, count(outputs)?]);
    Some([
        ("indexing_maps", ArrayAttribute::new(context, maps).into()),
        ("iterator_types", ArrayAttribute::new(context, &iterators).into()),
        ("operandSegmentSizes", segments),
    ])
}

/// A `linalg.generic` that reduces an array or tensor over some of its dimensions into another one, which has the rest of them. The
/// region has the payload.
///
/// # Errors
/// The builder's error.
pub(crate) fn reduce<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    [input, output]: [Value<'c, 'a>; 2],
    reduced: &[bool],
    region: Region<'c>,
) -> Result<OperationRef<'c, 'a>, Error> {
    let rank = reduced.len();
    let all: Vec<Affine> = (0..rank).map(Affine::index).collect();
    let kept = (0..rank).zip(reduced).filter(|(_, reduces)| !**reduces);
    let kept: Vec<Affine> = kept.map(|(dimension, _)| Affine::index(dimension)).collect();
    let maps = [all, kept].map(|forms| maps::map(at.context, rank, &forms));
    let maps: Option<Vec<Attribute>> = maps.into_iter().collect();
    let reductions = reduced.iter().copied();
    let attributes = maps.and_then(|maps| generic_attributes(at.context, &maps, reductions, [1, 1]));
    let attributes = attributes.ok_or(Error::OperationBuild)?;
    let is_tensor = super::types::extents(output.r#type()).is_some();
    let results: &[Type] = if is_tensor { &[output.r#type()] } else { &[] };
    at.create(ops::linalg::GENERIC, &[input, output], &attributes, results, vec![region])
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

/// Puts the loops of a `linalg.generic` in another order: `order` lists them by their old numbers, outermost first. An operation whose
/// maps have more than linear forms stays as it is.
pub(crate) fn reorder_loops<'c: 'a, 'a>(op: OperationRef<'c, 'a>, order: &[usize], context: &'c Context) {
    let Some(generic) = Generic::cast(op) else {
        return;
    };
    let Some(attributes) = in_order(generic, order, context) else {
        return;
    };
    for (name, attribute) in attributes {
        mutation::set(op, name, attribute);
    }
    for index in generic.body().map(operations).unwrap_or_default() {
        let new = index_of(index).and_then(|old| order.iter().position(|o| *o == old));
        if let Some(new) = new {
            let new = attributes::i64(context, i64::try_from(new).unwrap_or(i64::MAX));
            mutation::set(index, "dim", new);
        }
    }
}

/// The attributes that are listed by loop, in an order of the loops.
fn in_order<'c: 'a, 'a>(
    generic: Generic<'c, 'a>,
    order: &[usize],
    context: &'c Context,
) -> Option<[(&'static str, Attribute<'c>); 2]> {
    let mut renamed = vec![Affine::default(); order.len()];
    for (new, old) in order.iter().enumerate() {
        *renamed.get_mut(*old)? = Affine::index(new);
    }
    // The extents have no effect on linear forms.
    let extents = vec![1; order.len()];
    let mut indexing = Vec::new();
    for map in generic.indexing_maps() {
        let forms = maps::forms(map)?.into_iter();
        let forms = forms.map(|form| form.substitute(&renamed, &extents));
        indexing.push(maps::map(context, order.len(), &forms.collect::<Option<Vec<_>>>()?)?);
    }
    let iterators = typed::array(generic.op(), "iterator_types");
    let iterators = order.iter().map(|old| iterators.get(*old).copied());
    let iterators: Vec<_> = iterators.collect::<Option<_>>()?;
    let list = |all: &[Attribute<'c>]| ArrayAttribute::new(context, all).into();
    Some([("indexing_maps", list(&indexing)), ("iterator_types", list(&iterators))])
}
