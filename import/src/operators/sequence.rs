// SPDX-License-Identifier: Apache-2.0
//! Sequences of tensors; the number of tensors is known at import.

use super::movement::{joined, parts, reshaped, stacked};
use super::{Operator, operator};
use crate::call::{Call, axis, fixed};
use crate::extent::Extent;
use crate::refusal::{Reason, Ruled, overflow};
use crate::value::{Item, Value, signed_length};

pub const OPERATORS: &[Operator] = &[
    operator("SequenceEmpty", "nothing", empty),
    operator("SequenceConstruct", "nothing", construct),
    operator("SequenceInsert", "nothing", insert),
    operator("SequenceErase", "nothing", erase),
    operator("SequenceAt", "one of the tensors", item),
    operator("SequenceLength", "known at import", length),
    operator("SplitToSequence", "`layout.split`", split),
    operator("ConcatFromSequence", "`layout.concat`, `layout.stack`", concat),
];

/// The tensors of input 0, which is a sequence.
fn items(c: &Call) -> Ruled<Vec<Value>> {
    let sequence = c.input(0)?;
    let items = sequence.items.clone();
    items.ok_or_else(|| "the input is not a sequence".into())
}

/// The position in a sequence of `count` tensors that input `at` contains, from 0 to `last`.
fn position(c: &Call, at: usize, count: usize, last: usize) -> Ruled<usize> {
    let given = c.numbers(at, "the position in a sequence")?;
    let [given] = given.as_slice() else {
        return Err("the position is not one number".into());
    };
    let at = if *given < 0 { given.saturating_add(signed_length(count)) } else { *given };
    let at = usize::try_from(at).ok().filter(|at| *at <= last);
    at.ok_or_else(|| Reason(format!("the position {given} is outside of the {count} tensors")))
}

fn empty(c: &mut Call) -> Ruled<()> {
    let kind = c.element_type("dtype", 1)?;
    let y = c.importer.sequence(kind, Vec::new());
    c.set(0, y);
    Ok(())
}

fn construct(c: &mut Call) -> Ruled<()> {
    let items = (0..c.inputs.len()).map(|at| c.input(at)).collect::<Ruled<Vec<_>>>()?;
    let first = items.first().ok_or("there are no tensors")?;
    let y = c.importer.sequence(first.element, items);
    c.set(0, y);
    Ok(())
}

fn insert(c: &mut Call) -> Ruled<()> {
    let (mut items, tensor) = (items(c)?, c.input(1)?);
    let at = match c.optional(2) {
        Some(_) => position(c, 2, items.len(), items.len())?,
        None => items.len(),
    };
    items.insert(at, tensor.clone());
    let y = c.importer.sequence(tensor.element, items);
    c.set(0, y);
    Ok(())
}

fn erase(c: &mut Call) -> Ruled<()> {
    let (sequence, mut items) = (c.input(0)?, items(c)?);
    let last = items.len().checked_sub(1).ok_or("the sequence is empty")?;
    let at = match c.optional(1) {
        Some(_) => position(c, 1, items.len(), last)?,
        None => last,
    };
    items.remove(at);
    let y = c.importer.sequence(sequence.element, items);
    c.set(0, y);
    Ok(())
}

fn item(c: &mut Call) -> Ruled<()> {
    let items = items(c)?;
    let last = items.len().checked_sub(1).ok_or("the sequence is empty")?;
    let at = position(c, 1, items.len(), last)?;
    let y = items.get(at).cloned().ok_or("the sequence is too short")?;
    c.set(0, y);
    Ok(())
}

fn length(c: &mut Call) -> Ruled<()> {
    let count = Item::Int(Extent::from(signed_length(items(c)?.len())));
    let y = c.known(skript_tensor::ElementType::I64, Vec::new(), vec![count]);
    c.set(0, y);
    Ok(())
}

fn split(c: &mut Call) -> Ruled<()> {
    let x = c.input(0)?;
    let at = axis(c.int("axis", 0), x.rank())?;
    let whole = fixed("the dimension that is split", &x.extent(at))?;
    let sizes = match c.optional(1) {
        None => vec![1; usize::try_from(whole).map_err(|_| overflow())?],
        Some(given) => {
            let numbers = c.numbers(1, "the extents of the parts")?;
            match (given.rank(), numbers.as_slice()) {
                (0, [size]) if *size > 0 => {
                    let full = usize::try_from(whole / size).map_err(|_| overflow())?;
                    let mut sizes = vec![*size; full];
                    if whole % size != 0 {
                        sizes.push(whole % size);
                    }
                    sizes
                }
                (1, sizes) => sizes.to_vec(),
                _ => return Err("the extents of the parts are not valid".into()),
            }
        }
    };
    let sum = sizes.iter().try_fold(0_i64, |sum, size| sum.checked_add(*size));
    if sizes.len() > 4096 || sizes.iter().any(|s| *s < 0) || sum != Some(whole) {
        return Err("the extents of the parts are not valid".into());
    }
    let keep = c.flag("keepdims", true) || c.optional(1).is_some();
    let sizes: Vec<Extent> = sizes.into_iter().map(Extent::from).collect();
    let mut items = parts(c, &x, at, &sizes);
    if !keep {
        for item in &mut items {
            let mut shape = item.shape.clone();
            shape.remove(at);
            *item = reshaped(c, item, shape);
        }
    }
    let y = c.importer.sequence(x.element, items);
    c.set(0, y);
    Ok(())
}

fn concat(c: &mut Call) -> Ruled<()> {
    let items = items(c)?;
    let rank = items.first().map_or(0, |i| i.rank());
    let y = if c.flag("new_axis", false) {
        let at = axis(c.int("axis", 0), rank + 1)?;
        stacked(c, items, at)?
    } else {
        let at = axis(c.int("axis", 0), rank)?;
        joined(c, items, at)?
    };
    c.set(0, y);
    Ok(())
}
