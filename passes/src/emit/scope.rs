// SPDX-License-Identifier: Apache-2.0
//! The tensors of a function while it is emitted.

use super::{EmitError, Emitter};
use crate::ir::attribute_names;
use crate::ir::{attributes, types};
use melior::ir::{Type, Value};
use skript_frontend::model::{Extent, Function, TensorType, ValueId};
use std::collections::{HashMap, HashSet};

/// The tensors of a function: the value of each [`ValueId`] in the IR at this point.
pub(super) struct Scope<'e, 'c, 'a, 'm> {
    pub(crate) emitter: &'e Emitter<'c, 'm>,
    pub function: &'m Function,
    values: HashMap<ValueId, Value<'c, 'a>>,
    /// Dynamic extents by name, as indices.
    pub(crate) symbols: HashMap<String, Value<'c, 'a>>,
    /// Outputs that formulas are still computing: their elements have the compute type.
    pub(crate) in_work: HashSet<ValueId>,
    /// The tensors that the function returns.
    pub outputs: HashSet<ValueId>,
}

impl<'e, 'c: 'a, 'a, 'm> Scope<'e, 'c, 'a, 'm> {
    pub(super) fn new(emitter: &'e Emitter<'c, 'm>, function: &'m Function) -> Self {
        let ports = function.outputs.iter();
        Scope {
            emitter,
            function,
            values: HashMap::new(),
            symbols: HashMap::new(),
            in_work: HashSet::new(),
            outputs: ports.flat_map(|p| p.tensors.values()).copied().collect(),
        }
    }

    pub(super) fn set(&mut self, id: ValueId, value: Value<'c, 'a>) {
        self.values.insert(id, value);
    }

    pub(super) fn get(&self, id: ValueId) -> Result<Value<'c, 'a>, EmitError> {
        self.find(id).ok_or(EmitError::Malformed("a tensor is used before it is made"))
    }

    pub(super) fn find(&self, id: ValueId) -> Option<Value<'c, 'a>> {
        self.values.get(&id).copied()
    }

    pub(super) fn all(&self, ids: &[ValueId]) -> Result<Vec<Value<'c, 'a>>, EmitError> {
        ids.iter().map(|id| self.get(*id)).collect()
    }

    /// A tensor's declaration.
    pub(super) fn value(&self, id: ValueId) -> Result<&'m skript_frontend::model::Value, EmitError> {
        self.function.values.get(id.0 as usize).ok_or(EmitError::Malformed("no such tensor"))
    }

    pub(super) fn tensor(&self, id: ValueId) -> Result<&'m TensorType, EmitError> {
        self.value(id).map(|v| &v.tensor)
    }

    /// The extents of a tensor's type: [`types::DYNAMIC`] for dynamic ones.
    pub(super) fn extents(&self, id: ValueId) -> Result<Vec<i64>, EmitError> {
        self.tensor(id)?
            .shape
            .iter()
            .map(|extent| match extent {
                Extent::Fixed(n) => i64::try_from(*n),
                Extent::Dynamic { .. } => Ok(types::DYNAMIC),
            })
            .collect::<Result<_, _>>()
            .map_err(|_| EmitError::Malformed("a huge extent"))
    }

    pub(super) fn r#type(&self, id: ValueId) -> Result<Type<'c>, EmitError> {
        Ok(types::tensor(&self.extents(id)?, self.element(id)?))
    }

    /// The type of a tensor's elements.
    pub(super) fn element(&self, id: ValueId) -> Result<Type<'c>, EmitError> {
        if self.in_work.contains(&id) {
            let (kind, numbers) = (self.tensor(id)?.kind, self.function.numbers.work());
            return Ok(types::element(self.emitter.context, kind, numbers));
        }
        self.emitter.element(self.function, id)
    }

    pub(super) fn types(&self, ids: &[ValueId]) -> Result<Vec<Type<'c>>, EmitError> {
        ids.iter().map(|id| self.r#type(*id)).collect()
    }
}

/// `{a = …, b = …}`
pub(super) fn dictionary<'c>(
    context: &'c melior::Context,
    entries: &[(&str, melior::ir::Attribute<'c>)],
) -> melior::ir::Attribute<'c> {
    let entries: Vec<_> =
        entries.iter().map(|(name, value)| (melior::ir::Identifier::new(context, name), *value)).collect();
    melior::ir::attribute::DictionaryAttribute::new(context, &entries).into()
}

/// `{skript.name = …, skript.role = …, bufferization.writable = false}`, and `skript.updated` for variables that calls
/// update.
pub(super) fn argument_attributes<'c>(
    context: &'c melior::Context,
    (name, role): &(String, &str),
    is_updated: bool,
    tensor: &TensorType,
) -> melior::ir::Attribute<'c> {
    let mut entries = vec![("bufferization.writable", attributes::boolean(context, false))];
    entries.extend(port_attributes(context, name, role, tensor));
    if is_updated {
        entries.push((attribute_names::UPDATED, attributes::unit(context)));
    }
    dictionary(context, &entries)
}

/// `skript.name = …, skript.role = …`, and `skript.bounds = …` for dynamic extents.
pub(super) fn port_attributes<'c>(
    context: &'c melior::Context,
    name: &str,
    role: &str,
    tensor: &TensorType,
) -> Vec<(&'static str, melior::ir::Attribute<'c>)> {
    let mut entries = vec![
        (attribute_names::NAME, attributes::string(context, name)),
        (attribute_names::ROLE, attributes::string(context, role)),
    ];
    if tensor.fixed_shape().is_none() {
        let bounds = tensor.shape.iter().map(|e| i64::try_from(e.bound()));
        let bounds: Vec<i64> = bounds.map(|b| b.unwrap_or(i64::MAX)).collect();
        entries.push((attribute_names::BOUNDS, attributes::i64s(context, &bounds)));
    }
    entries
}
