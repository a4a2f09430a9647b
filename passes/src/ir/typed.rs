// SPDX-License-Identifier: Apache-2.0
//! Typed operations: references to operations whose name was checked, with named operands, attributes and regions.

use melior::ir::attribute::{
    ArrayAttribute, DenseI64ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute,
    StringAttribute,
};
use melior::ir::operation::OperationLike;
use melior::ir::{Attribute, OperationRef};

/// Declares typed operations, each with the constant of its name.
macro_rules! typed {
    ($($(#[$doc:meta])* $name:ident = $operation:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(unreachable_pub)] // Other crates use some of them.
        pub struct $name<'c, 'a>(melior::ir::OperationRef<'c, 'a>);

        #[allow(unreachable_pub)]
        impl<'c, 'a> $name<'c, 'a> {
            /// The operation as this one, if it has the name.
            pub fn cast(op: melior::ir::OperationRef<'c, 'a>) -> Option<Self> {
                skript_dialect::op::is(&op, $operation).then_some(Self(op))
            }

            /// The operation itself.
            pub fn op(self) -> melior::ir::OperationRef<'c, 'a> {
                self.0
            }
        }
    )*};
}
pub(super) use typed;

/// The value of a string attribute.
pub(super) fn string(op: OperationRef, name: &str) -> Option<String> {
    let text = StringAttribute::try_from(op.attribute(name).ok()?).ok()?;
    Some(text.value().to_owned())
}

/// The symbol that an attribute refers to.
pub(super) fn symbol(op: OperationRef, name: &str) -> Option<String> {
    let symbol = FlatSymbolRefAttribute::try_from(op.attribute(name).ok()?).ok()?;
    Some(symbol.value().to_owned())
}

/// The value of an integer attribute.
pub(super) fn integer(op: OperationRef, name: &str) -> Option<i64> {
    let integer = IntegerAttribute::try_from(op.attribute(name).ok()?).ok()?;
    Some(integer.value())
}

/// The items of an array of i64; none without the attribute.
pub(super) fn i64s(op: OperationRef, name: &str) -> Vec<i64> {
    let array = op.attribute(name).ok();
    let array = array.and_then(|a| DenseI64ArrayAttribute::try_from(a).ok());
    let items = array.map(|array| (0..array.len()).filter_map(move |n| array.element(n).ok()));
    items.into_iter().flatten().collect()
}

/// The items of an array attribute; none without the attribute.
pub(super) fn array<'c>(op: OperationRef<'c, '_>, name: &str) -> Vec<Attribute<'c>> {
    let array = op.attribute(name).ok();
    let array = array.and_then(|a| ArrayAttribute::try_from(a).ok());
    let items = array.map(|array| (0..array.len()).filter_map(move |n| array.element(n).ok()));
    items.into_iter().flatten().collect()
}
