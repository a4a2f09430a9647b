// SPDX-License-Identifier: Apache-2.0
//! Operations of LLVM's dialect.

use super::typed::{self, typed};
use super::{Builder, attributes, mutation, ops};
use melior::Context;
use melior::ir::attribute::IntegerAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value};

typed! {
    /// `llvm.load`.
    Load = ops::llvm::LOAD { address = 0 };
    /// `llvm.store`.
    Store = ops::llvm::STORE { value = 0, address = 1 };
    /// `llvm.getelementptr`.
    ElementPointer = ops::llvm::GETELEMENTPTR { base = 0 };
    /// `llvm.cond_br`.
    ConditionalBranch = ops::llvm::COND_BR { condition = 0 };
    /// A division of integers, or its remainder.
    Division = ops::llvm::SDIV | ops::llvm::UDIV | ops::llvm::SREM | ops::llvm::UREM {
        dividend = 0,
        divisor = 1
    };
}

impl<'c: 'a, 'a> ElementPointer<'c, 'a> {
    /// The attribute with an index for each dimension.
    pub(crate) const INDICES: &'static str = "rawConstantIndices";

    /// An index that is an operand.
    pub(crate) const DYNAMIC: i32 = i32::MIN;

    /// Lets static indices, by their positions, be values.
    pub(crate) fn set_indices(self, context: &'c Context, values: &[(usize, Value<'c, 'a>)]) {
        let op = self.op();
        let mut own = op.operands().skip(1);
        let mut operands: Vec<Value> = op.operands().take(1).collect();
        let mut indices = typed::i32s(op, Self::INDICES);
        for (position, index) in indices.iter_mut().enumerate() {
            let new = values.iter().find(|(own, _)| *own == position);
            match (*index == Self::DYNAMIC, new) {
                (true, _) => operands.extend(own.next()),
                (false, Some((_, value))) => {
                    operands.push(*value);
                    *index = Self::DYNAMIC;
                }
                (false, None) => {}
            }
        }
        drop(own);
        mutation::set_operands(op, &operands);
        mutation::set(op, Self::INDICES, attributes::i32s(context, &indices));
    }
}

/// An integer constant.
///
/// # Errors
/// The builder's error.
pub(crate) fn constant<'c: 'a, 'a>(
    at: &Builder<'c, 'a>,
    value: i64,
    r#type: Type<'c>,
) -> Result<Value<'c, 'a>, melior::Error> {
    let value = IntegerAttribute::new(r#type, value).into();
    at.value(ops::llvm::MLIR_CONSTANT, &[], &[("value", value)], r#type)
}

/// The text of a function's type with so many `i64` arguments more, before the others.
pub(crate) fn with_arguments(r#type: &str, count: usize) -> Option<String> {
    let mut depth = 0_usize;
    let mut open = None;
    for (at, c) in r#type.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth = depth.checked_sub(1)?,
            _ => continue,
        }
        if depth == 0 {
            open = Some(at + 1);
            break;
        }
    }
    let (before, after) = r#type.split_at_checked(open?)?;
    let own = if after.starts_with(')') { vec![] } else { vec![after] };
    let new = vec!["i64"; count];
    let arguments = [new, own].concat().join(", ");
    let end = if after.starts_with(')') { after } else { "" };
    Some(format!("{before}{arguments}{end}"))
}

#[cfg(test)]
mod tests {
    use super::with_arguments;

    #[test]
    fn arguments_come_before_the_others() {
        let with = |text| with_arguments(text, 2).unwrap_or_default();
        assert_eq!(with("!llvm.func<void (ptr, i64)>"), "!llvm.func<void (i64, i64, ptr, i64)>");
        assert_eq!(with("!llvm.func<i32 ()>"), "!llvm.func<i32 (i64, i64)>");
        assert_eq!(
            with("!llvm.func<struct<(i32, ptr)> (struct<(f32)>, ptr)>"),
            "!llvm.func<struct<(i32, ptr)> (i64, i64, struct<(f32)>, ptr)>"
        );
    }
}
