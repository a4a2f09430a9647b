// SPDX-License-Identifier: Apache-2.0
//! Literals of numbers and lists in SkriptND.

use skript_tensor::ElementType;

use crate::extent::Extent;
use crate::statement::marked;

pub fn list(items: &[i64]) -> String {
    let items: Vec<String> = items.iter().map(i64::to_string).collect();
    format!("[{}]", items.join(", "))
}

pub fn axis_list(items: &[usize]) -> String {
    let items: Vec<String> = items.iter().map(usize::to_string).collect();
    format!("[{}]", items.join(", "))
}

pub fn extent_list(items: &[Extent]) -> String {
    let items: Vec<String> = items.iter().map(marked).collect();
    format!("[{}]", items.join(", "))
}

/// The shortest literal with the value of a real of this type. NaN has no literal and becomes an expression.
pub fn real_text(element: ElementType, value: f64) -> String {
    if value.is_nan() {
        return "(inf - inf)".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "the value is one of f32")]
    match element {
        ElementType::F64 if f64::from(value as f32) != value => format!("{value:?}"),
        _ => format!("{:?}", value as f32),
    }
}

/// The literal of a real attribute.
pub fn float_text(value: f32) -> String {
    real_text(ElementType::F32, value.into())
}
