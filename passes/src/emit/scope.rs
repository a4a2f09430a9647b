//! The tensors of a function while it is emitted.

use super::{EmitError, Emitter};
use crate::mlir::{attributes, types};
use melior::ir::{Type, Value};
use skript_frontend::model::{Function, TensorType, ValueId};
use std::collections::HashMap;

/// One function's tensors: what each [`ValueId`] is in the IR at this point.
pub(super) struct Scope<'e, 'c, 'a, 'm> {
    pub emitter: &'e Emitter<'c, 'm>,
    pub function: &'m Function,
    values: HashMap<ValueId, Value<'c, 'a>>,
}

impl<'e, 'c: 'a, 'a, 'm> Scope<'e, 'c, 'a, 'm> {
    pub fn new(emitter: &'e Emitter<'c, 'm>, function: &'m Function) -> Self {
        Scope {
            emitter,
            function,
            values: HashMap::new(),
        }
    }

    pub fn set(&mut self, id: ValueId, value: Value<'c, 'a>) {
        self.values.insert(id, value);
    }

    pub fn get(&self, id: ValueId) -> Result<Value<'c, 'a>, EmitError> {
        self.find(id)
            .ok_or(EmitError::Malformed("a tensor is used before it is made"))
    }

    pub fn find(&self, id: ValueId) -> Option<Value<'c, 'a>> {
        self.values.get(&id).copied()
    }

    pub fn all(&self, ids: &[ValueId]) -> Result<Vec<Value<'c, 'a>>, EmitError> {
        ids.iter().map(|id| self.get(*id)).collect()
    }

    pub fn tensor(&self, id: ValueId) -> Result<&'m TensorType, EmitError> {
        self.function
            .values
            .get(id.0 as usize)
            .map(|v| &v.tensor)
            .ok_or(EmitError::Malformed("no such tensor"))
    }

    /// The fixed extents of a tensor.
    pub fn extents(&self, id: ValueId) -> Result<Vec<i64>, EmitError> {
        let value = self
            .function
            .values
            .get(id.0 as usize)
            .ok_or(EmitError::Malformed("no such tensor"))?;
        value
            .tensor
            .shape
            .iter()
            .map(|extent| extent.fixed().and_then(|n| i64::try_from(n).ok()))
            .collect::<Option<_>>()
            .ok_or_else(|| EmitError::DynamicExtent {
                name: value.name.clone().unwrap_or_default(),
                span: value.span,
            })
    }

    pub fn r#type(&self, id: ValueId) -> Result<Type<'c>, EmitError> {
        let element = types::element(self.emitter.context, self.tensor(id)?.kind);
        Ok(types::tensor(&self.extents(id)?, element))
    }

    pub fn types(&self, ids: &[ValueId]) -> Result<Vec<Type<'c>>, EmitError> {
        ids.iter().map(|id| self.r#type(*id)).collect()
    }
}

/// `{a = …, b = …}`
pub(super) fn dictionary<'c>(
    context: &'c melior::Context,
    entries: &[(&str, melior::ir::Attribute<'c>)],
) -> melior::ir::Attribute<'c> {
    let entries: Vec<_> = entries
        .iter()
        .map(|(name, value)| (melior::ir::Identifier::new(context, name), *value))
        .collect();
    melior::ir::attribute::DictionaryAttribute::new(context, &entries).into()
}

/// `{skript.name = …, skript.role = …, bufferization.writable = false}`
pub(super) fn argument_attributes<'c>(
    context: &'c melior::Context,
    name: &str,
    role: &str,
) -> melior::ir::Attribute<'c> {
    dictionary(
        context,
        &[
            (
                "bufferization.writable",
                attributes::boolean(context, false),
            ),
            ("skript.name", attributes::string(context, name)),
            ("skript.role", attributes::string(context, role)),
        ],
    )
}
