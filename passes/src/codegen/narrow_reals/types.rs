// SPDX-License-Identifier: Apache-2.0
//! Types and constants of f16 and bf16, and those of the integers with the same bits.

use crate::ir::vector::element_or_self;
use crate::ir::{dense, types};
use melior::Context;
use melior::ir::attribute::{DenseElementsAttribute, FloatAttribute, IntegerAttribute, TypeAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, TypeLike};
use skript_dialect::PassError;
use skript_semantics::RealType;
use std::collections::HashMap;

/// A real type of 16 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Narrow {
    /// f16.
    Half,
    /// bf16, the upper half of f32.
    Brain,
}

impl Narrow {
    /// The type, or that of the elements of a vector.
    pub(super) fn of(r#type: Type) -> Option<Narrow> {
        match types::reals(element_or_self(r#type))? {
            RealType::F16 => Some(Narrow::Half),
            RealType::BF16 => Some(Narrow::Brain),
            RealType::F32 | RealType::F64 => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Narrow::Half => "f16",
            Narrow::Brain => "bf16",
        }
    }
}

/// The types of a module, each with the one that has integers in place of narrow reals.
pub(super) struct Types<'c> {
    context: &'c Context,
    known: HashMap<usize, Option<Type<'c>>>,
}

impl<'c> Types<'c> {
    pub(super) fn new(context: &'c Context) -> Types<'c> {
        Types { context, known: HashMap::new() }
    }

    /// The type with integers; `None` for a type without narrow reals.
    ///
    /// # Errors
    /// A structure with a name that has narrow reals.
    pub(super) fn integers(&mut self, r#type: Type<'c>) -> Result<Option<Type<'c>>, PassError> {
        let key = r#type.to_raw().ptr as usize;
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let found = match replaced(&r#type.to_string()) {
            None => None,
            Some(text) => {
                let is_named = text.contains('"');
                let new = (!is_named).then(|| Type::parse(self.context, &text));
                let new = new.flatten();
                let message =
                    || format!("there is no type of integers for {type}: write a structure without a name");
                Some(new.ok_or_else(|| PassError::from(message()))?)
            }
        };
        self.known.insert(key, found);
        Ok(found)
    }

    /// An attribute with integers; `None` if it has no narrow reals.
    ///
    /// # Errors
    /// The message for a constant that cannot be read.
    pub(super) fn attribute(&mut self, value: Attribute<'c>) -> Result<Option<Attribute<'c>>, String> {
        if let Ok(own) = TypeAttribute::try_from(value) {
            let new = self.integers(own.value()).map_err(|e| e.to_string())?;
            return Ok(new.map(|new| TypeAttribute::new(new).into()));
        }
        let r#type = dense::type_of(value);
        let Some(integers) = self.integers(r#type).map_err(|e| e.to_string())? else {
            return Ok(None);
        };
        if FloatAttribute::try_from(value).is_err() {
            let new = dense::with_type(value, integers, BYTES);
            let message = || format!("a constant of {type} has no elements here: write them as dense<…>");
            return new.map(Some).ok_or_else(message);
        }
        let one = DenseElementsAttribute::splat(types::tensor(&[1], r#type), value).into();
        let bytes = dense::bytes(one, BYTES, 1);
        let bytes = bytes.and_then(|bytes| <[u8; BYTES]>::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| format!("a constant of {type} without bits"))?;
        let bits = i64::from(i16::from_ne_bytes(bytes));
        let word = IntegerType::new(self.context, 16);
        Ok(Some(IntegerAttribute::new(word.into(), bits).into()))
    }
}

/// Bytes of a narrow real.
const BYTES: usize = 2;

/// The text of a type with `i16` in place of narrow reals; `None` if it has none.
fn replaced(text: &str) -> Option<String> {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("f16") {
        let (before, after) = rest.split_at(at);
        let after = after.get("f16".len()..).unwrap_or_default();
        let before = before.strip_suffix('b').unwrap_or(before);
        result.push_str(before);
        result.push_str("i16");
        rest = after;
    }
    (!result.is_empty()).then(|| result + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_reals_become_integers() {
        assert_eq!(replaced("f16").as_deref(), Some("i16"));
        assert_eq!(replaced("vector<4xbf16>").as_deref(), Some("vector<4xi16>"));
        assert_eq!(
            replaced("!llvm.func<f16 (ptr, vector<[2]xf16>, f32)>").as_deref(),
            Some("!llvm.func<i16 (ptr, vector<[2]xi16>, f32)>")
        );
        assert_eq!(replaced("vector<16xf32>"), None);
    }
}
