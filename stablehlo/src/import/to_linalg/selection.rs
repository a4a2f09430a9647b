// SPDX-License-Identifier: Apache-2.0
//! `select_and_scatter`: adds each update to the element that its window selects.
use super::generic::filled;
use super::nest::{index, nest};
use super::operation::SourceOp;
use super::operation::Values;
use super::payload;
use crate::import::element::Element;
use skript_passes::ir::splice::Lines;

pub(crate) fn select_and_scatter<'c, 'a>(source: &SourceOp<'c, 'a>) -> Values<'c, 'a> {
    let (array, updates) = (source.operand(0)?, source.operand(1)?);
    let rank = array.rank();
    let ones = || vec![1; rank];
    let window = source.i64s("window_dimensions").unwrap_or_else(ones);
    let strides = source.i64s("window_strides").unwrap_or_else(ones);
    let padding = source.pairs("padding", rank)?;
    let element = array.element;
    let e = element.text();
    let mut lines = Lines::default();
    let whole = filled(&mut lines, "%2", source.result()?);
    let start = lines.value(format!("tensor.extract %2[] : tensor<{e}>"));
    let none = lines.value("arith.constant false");
    let yes = lines.value("arith.constant true");
    let zero = index(&mut lines, 0);
    let carried = [(whole, array.text())];
    let made = nest(&mut lines, &updates.extents, &carried, &mut |lines, at, sums| {
        // Whether an element of the window was seen; the selected element and its position.
        let mut state = vec![(none.clone(), "i1".to_owned()), (start.clone(), e.clone())];
        state.extend((0..rank).map(|_| (zero.clone(), "index".to_owned())));
        let chosen = nest(lines, &window, &state, &mut |lines, k, state| {
            let (was_seen, selected, positions) = (&state[0], &state[1], &state[2..]);
            let mut inside = yes.clone();
            let mut position = Vec::new();
            let slid = strides.iter().zip(&padding).zip(&array.extents);
            for (((stride, (low, _)), extent), (at, k)) in slid.zip(at.iter().zip(k)) {
                let stride = index(lines, *stride);
                let low = index(lines, *low);
                let end = index(lines, *extent);
                let from = lines.value(format!("arith.muli {at}, {stride} : index"));
                let to = lines.value(format!("arith.addi {from}, {k} : index"));
                let to = lines.value(format!("arith.subi {to}, {low} : index"));
                let fits = lines.value(format!("arith.cmpi ult, {to}, {end} : index"));
                inside = lines.value(format!("arith.andi {inside}, {fits} : i1"));
                position.push(lines.value(format!("arith.select {fits}, {to}, {zero} : index")));
            }
            let value = lines.value(format!("tensor.extract %0[{}] : {}", position.join(", "), array.text()));
            let pair = [selected.clone(), value.clone()];
            let kept = payload::placeholder(lines, 0, &pair, &[element; 2], &[Element::Pred]);
            let kept = lines.value(format!("arith.andi {}, {was_seen} : i1", kept.concat()));
            let other = lines.value(format!("arith.xori {kept}, {yes} : i1"));
            let take = lines.value(format!("arith.andi {inside}, {other} : i1"));
            let seen = lines.value(format!("arith.ori {was_seen}, {inside} : i1"));
            let best = lines.value(format!("arith.select {take}, {value}, {selected} : {e}"));
            let mut next = vec![seen, best];
            for (new, old) in position.iter().zip(positions) {
                next.push(lines.value(format!("arith.select {take}, {new}, {old} : index")));
            }
            next
        });
        let (was_seen, position, sums) = (&chosen[0], chosen[2..].join(", "), sums.concat());
        let old = lines.value(format!("tensor.extract {sums}[{position}] : {}", array.text()));
        let new = lines.value(format!("tensor.extract %1[{}] : {}", at.join(", "), updates.text()));
        let pair = [old.clone(), new];
        let sum = payload::placeholder(lines, 1, &pair, &[element; 2], &[element]);
        let value = lines.value(format!("arith.select {was_seen}, {}, {old} : {e}", sum.concat()));
        vec![lines.value(format!("tensor.insert {value} into {sums}[{position}] : {}", array.text()))]
    });
    source.with_bodies(&lines, &made)
}
