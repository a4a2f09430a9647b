// SPDX-License-Identifier: Apache-2.0
//! Operations without operands, which can be applied to other operands.

use super::Builder;
use super::copy::{named_attributes, operation_name};
use melior::ir::operation::OperationRef;
use melior::ir::{Attribute, Type, Value};

/// The name and the attributes of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operator<'c> {
    /// The name, such as `arith.addf`.
    pub name: String,
    /// Inherent attributes, by name.
    pub attributes: Vec<(String, Attribute<'c>)>,
}

impl<'c: 'a, 'a> Operator<'c> {
    /// The operator of an operation.
    pub(crate) fn from_op(op: OperationRef<'c, 'a>) -> Operator<'c> {
        Operator { name: operation_name(op), attributes: named_attributes(op) }
    }

    /// A floating-point operation with fast-math `flags`, separated by commas.
    pub(crate) fn fast(context: &'c melior::Context, name: &str, flags: &str) -> Operator<'c> {
        let flags = super::attributes::fast(context, flags);
        Operator { name: name.to_owned(), attributes: vec![("fastmath".to_owned(), flags)] }
    }

    /// Whether the operation has a fast-math flag.
    pub(crate) fn is_fast(&self, flag: &str) -> bool {
        self.attributes.iter().any(|(name, flags)| name == "fastmath" && flags.to_string().contains(flag))
    }

    /// Inserts the operation on these operands.
    pub(crate) fn apply(
        &self,
        at: &Builder<'c, 'a>,
        operands: &[Value<'c, 'a>],
        result: Type<'c>,
    ) -> Value<'c, 'a> {
        let attributes: Vec<_> =
            self.attributes.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        at.make(&self.name, operands, &attributes, result)
    }
}
