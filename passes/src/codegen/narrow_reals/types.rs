// SPDX-License-Identifier: Apache-2.0
//! Converts f16 and bf16 types and constants to integers with the same bits.

use crate::ir::vector::element_or_self;
use crate::ir::{dense, types};
use melior::Context;
use melior::ir::attribute::{DenseElementsAttribute, FloatAttribute, IntegerAttribute, TypeAttribute};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, Type, TypeLike};
use skript_dialect::PassError;
use skript_semantics::RealType;
use std::collections::HashMap;

/// A 16-bit float type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Narrow {
    /// f16.
    Half,
    /// bf16, the upper half of f32.
    Brain,
}

impl Narrow {
    /// Returns the 16-bit float type that `type` is, or that is the element type of the vector `type`.
    pub(super) fn from_type(r#type: Type) -> Option<Narrow> {
        match types::reals(element_or_self(r#type))? {
            RealType::F16 => Some(Narrow::Half),
            RealType::BF16 => Some(Narrow::Brain),
            RealType::F32 | RealType::F64 => None,
        }
    }
}

/// Caches, for each type, the type with integers in place of 16-bit floats.
pub(super) struct Types<'c> {
    context: &'c Context,
    known: HashMap<usize, Option<Type<'c>>>,
}

impl<'c> Types<'c> {
    pub(super) fn new(context: &'c Context) -> Types<'c> {
        Types { context, known: HashMap::new() }
    }

    /// Returns the type with integers in place of 16-bit floats; `None` for a type without 16-bit floats.
    pub(super) fn integers(&mut self, r#type: Type<'c>) -> Result<Option<Type<'c>>, PassError> {
        let key = r#type.to_raw().ptr as usize;
        if let Some(known) = self.known.get(&key) {
            return Ok(*known);
        }
        let integers = types::narrow_as_integers(r#type).map_err(|()| {
            PassError::from(format!(
                "{type} contains a named struct with 16-bit floats: use a literal struct"
            ))
        })?;
        self.known.insert(key, integers);
        Ok(integers)
    }

    /// Returns the attribute with integers in place of 16-bit floats; `None` if it has none. The error is the message of a
    /// diagnostic at the operation.
    pub(super) fn attribute(&mut self, value: Attribute<'c>) -> Result<Option<Attribute<'c>>, String> {
        if let Ok(attribute) = TypeAttribute::try_from(value) {
            let new = self.integers(attribute.value()).map_err(|e| e.to_string())?;
            return Ok(new.map(|new| TypeAttribute::new(new).into()));
        }
        let r#type = dense::type_of(value);
        let Some(integers) = self.integers(r#type).map_err(|e| e.to_string())? else {
            return Ok(None);
        };
        if FloatAttribute::try_from(value).is_err() {
            let new = dense::with_type(value, integers, BYTES);
            let message =
                || format!("the elements of a constant of {type} are not available: write them as dense<…>");
            return new.map(Some).ok_or_else(message);
        }
        let splat = DenseElementsAttribute::splat(types::tensor(&[1], r#type), value).into();
        let bytes = dense::bytes(splat, BYTES, 1).and_then(|bytes| <[u8; BYTES]>::try_from(bytes).ok());
        let bytes = bytes.ok_or_else(|| format!("a constant of {type} without bits"))?;
        let bits = i64::from(i16::from_ne_bytes(bytes));
        let word = IntegerType::new(self.context, 16);
        Ok(Some(IntegerAttribute::new(word.into(), bits).into()))
    }
}

/// Size of a 16-bit float in bytes.
const BYTES: usize = 2;
