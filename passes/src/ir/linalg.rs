// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `linalg`.

use super::counts::{segment, signed};
use super::typed::{self, typed};
use super::{Builder, attributes, maps, mutation, operations, ops, types};
use melior::Context;
use melior::ir::attribute::ArrayAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, BlockRef, OperationRef, RegionLike, Type, TypeLike, Value, ValueLike};
use skript_symbolic::Affine;

typed! {
    /// `linalg.generic`: a loop nest with a payload.
    Generic = ops::linalg::GENERIC;
    /// `linalg.fill`: writes one value to all elements.
    Fill = ops::linalg::FILL { value = 0, destination = 1 };
    /// `linalg.yield`: the terminator of a payload; `value` is the first yielded value.
    Yield = ops::linalg::YIELD { value = 0 };
}

/// The loop whose index a `linalg.index` returns; `None` for other operations.
pub(crate) fn index_of(op: OperationRef) -> Option<usize> {
    let is_index = skript_dialect::op::is(&op, ops::linalg::INDEX);
    let dimension = typed::integer(op, "dim").filter(|_| is_index)?;
    usize::try_from(dimension).ok()
}

/// The attributes of a `linalg.generic`: its indexing maps, whether each loop reduces, and the numbers of inputs and outputs.
pub(crate) fn generic_attributes<'c>(
    context: &'c Context,
    maps: &[Attribute<'c>],
    reductions: impl IntoIterator<Item = bool>,
    counts: [usize; 2],
) -> [(&'static str, Attribute<'c>); 3] {
    let iterators: Vec<Attribute> =
        reductions.into_iter().map(|reduces| attributes::iterator(context, reduces)).collect();
    [
        ("indexing_maps", ArrayAttribute::new(context, maps).into()),
        ("iterator_types", ArrayAttribute::new(context, &iterators).into()),
        ("operandSegmentSizes", attributes::i32s(context, &counts.map(segment))),
    ]
}

/// Fills the region of a named `linalg` operation with its payload.
pub(crate) fn fill_region(op: OperationRef) {
    // SAFETY: the operation is a named operation of linalg with an empty region.
    unsafe { mlir_sys::mlirLinalgFillBuiltinNamedOpRegion(op.to_raw()) };
}

/// Creates a `linalg.generic` without reductions. `payload` receives an element of each operand, and returns the elements of the
/// outputs.
pub(crate) fn elementwise<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    [inputs, outputs]: [&[Value<'c, 'a>]; 2],
    maps: &[Attribute<'c>],
    loops: usize,
    payload: impl FnOnce(&Builder<'c, 'a>, &[Value<'c, 'a>]) -> Vec<Value<'c, 'a>>,
) -> OperationRef<'c, 'a> {
    let operands = [inputs, outputs].concat();
    let elements: Vec<Type> = operands.iter().map(|value| types::element_or_self(value.r#type())).collect();
    let (region, inside, arguments) = at.region(&elements);
    let values = payload(&inside, &arguments);
    inside.op(ops::linalg::YIELD, &values, &[], &[], Vec::new());
    let parallel = std::iter::repeat_n(false, loops);
    let attributes = generic_attributes(at.context, maps, parallel, [inputs.len(), outputs.len()]);
    let results: Vec<Type> =
        outputs.iter().map(|output| output.r#type()).filter(|kind| kind.is_ranked_tensor()).collect();
    at.op(ops::linalg::GENERIC, &operands, &attributes, &results, vec![region])
}

impl<'c: 'a, 'a> Generic<'c, 'a> {
    /// The indexing map of each operand, from loops to subscripts.
    pub(crate) fn indexing_maps(self) -> Vec<Attribute<'c>> {
        typed::array(self.op(), "indexing_maps")
    }

    /// Whether each loop is a reduction, outermost first.
    pub(crate) fn reductions(self) -> Vec<bool> {
        let iterators = typed::array(self.op(), "iterator_types").into_iter();
        iterators.map(skript_dialect::op::is_reduction).collect()
    }

    /// Whether a loop reduces.
    pub(crate) fn reduces(self) -> bool {
        self.reductions().contains(&true)
    }

    /// The payload.
    pub(crate) fn body(self) -> Option<BlockRef<'c, 'a>> {
        self.op().region(0).ok()?.first_block()
    }
}

/// Permutes the loops of a `linalg.generic`. `order` has their old numbers, outermost first. Does nothing if a
/// map has a result that is not linear.
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
    for index in generic.body().into_iter().flat_map(operations) {
        let new = index_of(index).and_then(|old| order.iter().position(|o| *o == old));
        if let Some(new) = new {
            mutation::set(index, "dim", attributes::i64(context, signed(new)));
        }
    }
}

/// The indexing maps and iterator types for a permutation of the loops.
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
        let forms = maps::forms(map)?;
        let permuted = forms.iter().map(|form| form.substitute(&renamed, &extents));
        indexing.push(maps::map(context, order.len(), &permuted.collect::<Option<Vec<_>>>()?)?);
    }
    let iterators = typed::array(generic.op(), "iterator_types");
    let permuted = order.iter().map(|old| iterators.get(*old).copied());
    let permuted: Vec<_> = permuted.collect::<Option<_>>()?;
    let list = |all: &[Attribute<'c>]| ArrayAttribute::new(context, all).into();
    Some([("indexing_maps", list(&indexing)), ("iterator_types", list(&permuted))])
}
