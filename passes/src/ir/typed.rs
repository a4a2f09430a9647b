// SPDX-License-Identifier: Apache-2.0
//! Typed operations, which are references to operations with a known name, with named operands, attributes and regions.

use super::attributes;
use melior::ir::Attribute;
use melior::ir::attribute::{DenseI32ArrayAttribute, FlatSymbolRefAttribute};

/// Declares typed operations with the constants of their names and the positions of their operands.
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

        #[allow(dead_code, reason = "a declaration names all operands")]
        #[allow(unreachable_pub, reason = "other crates use some of them")]
        impl<'c: 'a, 'a> $name<'c, 'a> {
            /// The typed operation, if the operation has its name.
            pub fn cast(op: $crate::ir::typed::OperationRef<'c, 'a>) -> Option<Self> {
                let names = [$($operation),+];
                names.iter().any(|name| skript_dialect::op::is(&op, name)).then_some(Self(op))
            }

            /// The typed operation that defines a value, if the definition has its name.
            pub fn of(value: $crate::ir::typed::Value<'c, 'a>) -> Option<Self> {
                Self::cast($crate::ir::definition(value)?.0)
            }

            /// The untyped operation.
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
// The names that the macro's expansion uses.
pub use melior::Error;
pub use melior::ir::operation::OperationLike;
pub use melior::ir::{OperationRef, Value};
pub use typed;

/// The value of a string attribute.
pub(crate) fn string(op: OperationRef, name: &str) -> Option<String> {
    attributes::text(op.attribute(name).ok()?)
}

/// The value of a string attribute that the verifier of the operation requires.
pub(crate) fn verified_string(op: OperationRef, name: &str) -> String {
    string(op, name).unwrap_or_else(|| unreachable!("internal compiler error: an operation without `{name}`"))
}

/// The symbol that an attribute refers to.
pub(crate) fn symbol(op: OperationRef, name: &str) -> Option<String> {
    let symbol = FlatSymbolRefAttribute::try_from(op.attribute(name).ok()?).ok()?;
    Some(symbol.value().to_owned())
}

/// The value of an integer attribute.
pub(crate) fn integer(op: OperationRef, name: &str) -> Option<i64> {
    attributes::number(op.attribute(name).ok()?)
}

/// The items of an array of i64; empty without the attribute.
pub(crate) fn i64s(op: OperationRef, name: &str) -> Vec<i64> {
    op.attribute(name).ok().and_then(attributes::integers).unwrap_or_default()
}

/// The items of an array of i32; empty without the attribute.
pub(crate) fn i32s(op: OperationRef, name: &str) -> Vec<i32> {
    let array = op.attribute(name).ok().and_then(|a| DenseI32ArrayAttribute::try_from(a).ok());
    let items = array.map(|array| (0..array.len()).filter_map(move |n| array.element(n).ok()));
    items.into_iter().flatten().collect()
}

/// The number of operands in each segment; empty for an operation without segments.
pub(crate) fn segments(op: OperationRef) -> Vec<usize> {
    i32s(op, "operandSegmentSizes").into_iter().filter_map(|n| usize::try_from(n).ok()).collect()
}

/// The items of an array attribute; empty without the attribute.
pub(crate) fn array<'c>(op: OperationRef<'c, '_>, name: &str) -> Vec<Attribute<'c>> {
    op.attribute(name).map(attributes::items).unwrap_or_default()
}
