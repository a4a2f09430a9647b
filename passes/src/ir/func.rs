// SPDX-License-Identifier: Apache-2.0
//! Operations of the dialect `func`, and what other functions and calls have in common with them.

use super::typed::{self, typed};
use super::{attribute_names, ops};
use melior::Error;
use melior::ir::OperationRef;
use melior::ir::attribute::TypeAttribute;
use melior::ir::operation::OperationLike;
use melior::ir::r#type::FunctionType;

typed! {
    /// `func.func`: a function, with or without a body.
    Function = ops::func::FUNC;
}

impl<'c> Function<'c, '_> {
    /// The symbol.
    pub fn name(self) -> String {
        symbol(self.op()).unwrap_or_default()
    }

    /// The types of the arguments and the results.
    pub fn r#type(self) -> Result<FunctionType<'c>, Error> {
        function_type(self.op())
    }

    /// Whether the attribute `skript.entry` marks it.
    pub fn is_entry(self) -> bool {
        self.op().has_attribute(attribute_names::ENTRY)
    }
}

/// The symbol that an operation defines.
pub fn symbol(op: OperationRef) -> Option<String> {
    typed::string(op, "sym_name")
}

/// The symbol of the function that a `func.call` or a `skript.invoke` calls.
pub fn callee(call: OperationRef) -> Option<String> {
    typed::symbol(call, "callee")
}

/// The type of a function of any dialect that has builtin function types.
pub fn function_type<'c>(function: OperationRef<'c, '_>) -> Result<FunctionType<'c>, Error> {
    let r#type = TypeAttribute::try_from(function.attribute("function_type")?)?;
    FunctionType::try_from(r#type.value())
}
