// SPDX-License-Identifier: Apache-2.0
//! Typed operations: references to operations whose name was checked, with named operands, attributes and regions.

use melior::ir::Attribute;
use melior::ir::attribute::{
    ArrayAttribute, DenseI32ArrayAttribute, DenseI64ArrayAttribute, FlatSymbolRefAttribute, IntegerAttribute,
    StringAttribute,
};

/// Declares typed operations, each with the constants of its names and its operands by position.
#[macro_export]
macro_rules! typed {
    ($(
        $(#[$doc:meta])*
        $name:ident = $($operation:path)|+ $({ $($operand:ident = $position:literal),+ })?;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[allow(unreachable_pub, reason = "other crates use some of them")]
        pub struct $name<'c, 'a>($crate::ir::typed::OperationRef<'c, 'a>);

        #[allow(dead_code, reason = "a form has all accessors, needed or not")]
        #[allow(unreachable_pub, reason = "other crates use some of them")]
        impl<'c: 'a, 'a> $name<'c, 'a> {
            /// The operation as this one, if it has the name.
            pub fn cast(op: $crate::ir::typed::OperationRef<'c, 'a>) -> Option<Self> {
                let names = [$($operation),+];
                names.iter().any(|name| skript_dialect::op::is(&op, name)).then_some(Self(op))
            }

            /// The operation that defines a value, if it is this one.
            pub fn of(value: $crate::ir::typed::Value<'c, 'a>) -> Option<Self> {
                Self::cast($crate::ir::definition(value)?.0)
            }

            /// The operation itself.
            pub fn op(self) -> $crate::ir::typed::OperationRef<'c, 'a> {
                self.0
            }
            $($(
                #[doc = concat!("The operand `", stringify!($operand), "`.")]
                ///
                /// # Errors
                /// The operation has fewer operands.
                pub fn $operand(
                    self,
                ) -> Result<$crate::ir::typed::Value<'c, 'a>, $crate::ir::typed::Error> {
                    $crate::ir::typed::OperationLike::operand(&self.0, $position)
                }
            )+)?
        }
    )*};
}
// What declarations name.
pub use melior::Error;
pub use melior::ir::operation::OperationLike;
pub use melior::ir::{OperationRef, Value};
pub use typed;

/// The value of a string attribute.
pub(super) fn string(op: OperationRef, name: &str) -> Option<String> {
    let text = StringAttribute::try_from(op.attribute(name).ok()?).ok()?;
    Some(text.value().to_owned())
}

/// The symbol that an attribute refers to.
pub(crate) fn symbol(op: OperationRef, name: &str) -> Option<String> {
    let symbol = FlatSymbolRefAttribute::try_from(op.attribute(name).ok()?).ok()?;
    Some(symbol.value().to_owned())
}

/// The value of an integer attribute.
pub(crate) fn integer(op: OperationRef, name: &str) -> Option<i64> {
    let integer = IntegerAttribute::try_from(op.attribute(name).ok()?).ok()?;
    Some(integer.value())
}

/// The items of an array of i64; none without the attribute.
pub(crate) fn i64s(op: OperationRef, name: &str) -> Vec<i64> {
    let array = op.attribute(name).ok();
    let array = array.and_then(|a| DenseI64ArrayAttribute::try_from(a).ok());
    let items = array.map(|array| (0..array.len()).filter_map(move |n| array.element(n).ok()));
    items.into_iter().flatten().collect()
}

/// The elements of an attribute that is an array of `i32`; none for any other.
pub(crate) fn i32s(op: OperationRef, name: &str) -> Vec<i32> {
    let array = op.attribute(name).ok();
    let array = array.and_then(|a| DenseI32ArrayAttribute::try_from(a).ok());
    let items = array.map(|array| (0..array.len()).filter_map(move |n| array.element(n).ok()));
    items.into_iter().flatten().collect()
}

/// The numbers of operands in each segment; none for an operation without segments.
pub(crate) fn segments(op: OperationRef) -> Vec<usize> {
    let array = op.attribute("operandSegmentSizes").ok();
    let array = array.and_then(|a| DenseI32ArrayAttribute::try_from(a).ok());
    let items = array.map(|array| (0..array.len()).filter_map(move |n| array.element(n).ok()));
    items.into_iter().flatten().filter_map(|n| usize::try_from(n).ok()).collect()
}

/// The items of an array attribute; none without the attribute.
pub(crate) fn array<'c>(op: OperationRef<'c, '_>, name: &str) -> Vec<Attribute<'c>> {
    let array = op.attribute(name).ok();
    let array = array.and_then(|a| ArrayAttribute::try_from(a).ok());
    let items = array.map(|array| (0..array.len()).filter_map(move |n| array.element(n).ok()));
    items.into_iter().flatten().collect()
}
