// SPDX-License-Identifier: Apache-2.0
//! The unique elements of a tensor. Their number is data-dependent.

use skript_tensor::ElementType;

use super::movement::{reshaped, transposed};
use super::{Operator, operator};
use crate::call::{Call, axis, product};
use crate::extent::Extent;
use crate::refusal::{Ruled, overflow};

pub const OPERATORS: &[Operator] =
    &[operator("Unique", "`onnx.unique_rows`, `layout.nonzero`, `layout.gather`", unique)];

fn unique(c: &mut Call) -> Ruled<()> {
    let mut x = c.input(0)?;
    if x.is_bool() {
        return Err("it is not supported for bools".into());
    }
    let at = if c.has("axis") {
        axis(c.int("axis", 0), x.rank())?
    } else {
        let volume = product(&x.shape)?;
        x = reshaped(c, &x, vec![volume]);
        0
    };
    // One row for each position along the axis.
    let order: Vec<usize> = std::iter::once(at).chain((0..x.rank()).filter(|a| *a != at)).collect();
    let turned = transposed(c, &x, &order);
    let count = x.extent(at);
    let inner =
        turned.shape.iter().skip(1).try_fold(Extent::from(1), |n, e| n.times(e)).ok_or_else(overflow)?;
    let rows = reshaped(c, &turned, vec![count.clone(), inner]);
    let rows = c.ordered(&rows);
    let sorted = c.flag("sorted", true);
    let ints = (ElementType::I64, vec![count.clone()]);
    let types = vec![(ElementType::Bool, vec![count]), ints.clone(), ints.clone(), ints];
    let attributes = [("sorted", sorted.to_string())];
    let results = c.calls("onnx.unique_rows", &attributes, &[(&rows).into()], types);
    let [occupied, indices, inverse, counts] = results.as_slice() else {
        return Err("internal compiler error: unique_rows does not have four results".into());
    };
    let id = c.next_id();
    let kept = c.call(
        "layout.nonzero",
        &[],
        &[occupied.into()],
        (ElementType::I64, vec![Extent::from(1), Call::open(id, 1)]),
    );
    let id = c.next_id();
    let kept = c.call(
        "layout.reshape",
        &[("shape", "[-1]".to_owned())],
        &[(&kept).into()],
        (ElementType::I64, vec![Call::open(id, 0)]),
    );
    let mut of_kept = |of: &crate::value::Value, by: &crate::value::Value, at: usize| {
        let mut shape = of.shape.clone();
        if let Some(extent) = shape.get_mut(at) {
            *extent = by.extent(0);
        }
        let attributes = [("axis", at.to_string())];
        let arguments = [of.into(), by.into()];
        c.call("layout.gather", &attributes, &arguments, (of.element, shape))
    };
    let indices = of_kept(indices, &kept, 0);
    let counts = of_kept(counts, &kept, 0);
    let y = of_kept(&x, &indices, at);
    c.set(0, y);
    c.set(1, indices);
    c.set(2, inverse.clone());
    c.set(3, counts);
    Ok(())
}
