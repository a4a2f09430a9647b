// SPDX-License-Identifier: Apache-2.0
//! The state of a function's emission.

use super::scalars::signed;
use super::{EmitError, Emitter};
use crate::ir::attribute_names;
use crate::ir::{attributes, types};
use melior::ir::{Type, Value};
use skript_frontend::model::{Extent, Function, TensorType, ValueId};
use std::collections::{HashMap, HashSet};

/// The tensors of a function at one point of its emission: the SSA value of each [`ValueId`].
pub(super) struct Scope<'e, 'c, 'a, 'm> {
    pub(crate) emitter: &'e Emitter<'c, 'm>,
    pub function: &'m Function,
    values: HashMap<ValueId, Value<'c, 'a>>,
    /// Dynamic extents by name, as indices.
    pub(crate) symbols: HashMap<String, Value<'c, 'a>>,
    /// Outputs whose formulas are being emitted: their elements have the compute type.
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
        self.find(id).ok_or(EmitError::Malformed("a tensor is used before it is defined"))
    }

    pub(super) fn find(&self, id: ValueId) -> Option<Value<'c, 'a>> {
        self.values.get(&id).copied()
    }

    pub(super) fn all(&self, ids: &[ValueId]) -> Result<Vec<Value<'c, 'a>>, EmitError> {
        ids.iter().map(|id| self.get(*id)).collect()
    }

    /// The declaration of a tensor.
    pub(super) fn value(&self, id: ValueId) -> Result<&'m skript_frontend::model::Value, EmitError> {
        self.function.values.get(id.0 as usize).ok_or(EmitError::Malformed("no such tensor"))
    }

    pub(super) fn tensor(&self, id: ValueId) -> Result<&'m TensorType, EmitError> {
        self.value(id).map(|v| &v.tensor)
    }

    /// The extents of a tensor's type: [`types::DYNAMIC`] for dynamic extents.
    pub(super) fn extents(&self, id: ValueId) -> Result<Vec<i64>, EmitError> {
        self.tensor(id)?
            .shape
            .iter()
            .map(|extent| match extent {
                Extent::Fixed(n) => signed(*n),
                Extent::Dynamic { .. } => Ok(types::DYNAMIC),
            })
            .collect()
    }

    pub(super) fn r#type(&self, id: ValueId) -> Result<Type<'c>, EmitError> {
        Ok(types::tensor(&self.extents(id)?, self.element(id)?))
    }

    /// The element type of a tensor.
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

/// Returns `{skript.name = …, skript.role = …, bufferization.writable = false}`, with `skript.updated` for variables that calls
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
    attributes::dictionary(context, &entries)
}

/// Returns `skript.name = …, skript.role = …`, and `skript.bounds = …` if an extent is dynamic.
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
        // Bounds beyond the range of the attribute saturate.
        let bounds: Vec<i64> =
            tensor.shape.iter().map(|e| i64::try_from(e.bound()).unwrap_or(i64::MAX)).collect();
        entries.push((attribute_names::BOUNDS, attributes::i64s(context, &bounds)));
    }
    entries
}
