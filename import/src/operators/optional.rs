// SPDX-License-Identifier: Apache-2.0
//! Optional values, whose presence is known at import.

use skript_tensor::ElementType;

use super::{Operator, operator};
use crate::call::Call;
use crate::refusal::Ruled;
use crate::value::Item;

pub const OPERATORS: &[Operator] = &[
    operator("Optional", "nothing", element),
    operator("OptionalGetElement", "nothing", element),
    operator("OptionalHasElement", "known at import", has_element),
];

fn element(c: &mut Call) -> Ruled<()> {
    let Some(x) = c.optional(0) else {
        return Err("an optional value without an element is not supported here".into());
    };
    c.set(0, x);
    Ok(())
}

fn has_element(c: &mut Call) -> Ruled<()> {
    let item = Item::Bool(c.optional(0).is_some());
    let y = c.known(ElementType::Bool, Vec::new(), vec![item]);
    c.set(0, y);
    Ok(())
}
