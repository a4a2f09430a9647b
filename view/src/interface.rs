// SPDX-License-Identifier: Apache-2.0
//! The properties of a model that its graph does not have.

use crate::text;
use skript_frontend::model::{Function, Model, Port};
use skript_frontend::program::{Origin, Program};
use std::collections::BTreeMap;

/// The properties of a model that its graph does not have.
#[derive(Clone, Debug, Default)]
pub struct Interface {
    /// The names of inputs in order.
    pub inputs: Vec<String>,
    /// The names of outputs in order.
    pub outputs: Vec<String>,
    /// The edition of each module of the model; the name of the main module is empty.
    pub editions: BTreeMap<String, &'static str>,
    /// The entries of `@quantize` by tensor.
    pub quantization: BTreeMap<String, String>,
    /// The defaults of inputs.
    pub defaults: BTreeMap<String, String>,
}

impl Interface {
    pub(crate) fn new(model: &Model, program: &Program) -> Self {
        let names = |ports: &[Port]| ports.iter().map(|port| port.name.clone()).collect::<Vec<String>>();
        let ports = |select: fn(&Function) -> &Vec<Port>| {
            model.function(model.entry).map_or_else(Vec::new, |f| names(select(f)))
        };
        let modules = program.info.iter().filter(|(_, info)| info.origin == Origin::Model);
        let editions = modules.map(|(key, info)| {
            let name = if *key == program.main { String::new() } else { key.clone() };
            (name, info.edition.name())
        });
        let quantization = model.quantization.iter().map(|entry| {
            let attributes = entry.attributes.iter();
            let attributes: Vec<String> =
                attributes.map(|(name, value)| format!("{name}={}", text::attribute(value))).collect();
            (entry.tensor.clone(), format!("{}{{{}}}", entry.operator, attributes.join(", ")))
        });
        let defaults = model.defaults.iter().map(|(name, values)| {
            let values: Vec<String> = values.iter().map(|value| text::scalar(*value)).collect();
            (name.clone(), values.join(", "))
        });
        Interface {
            inputs: ports(|entry| &entry.inputs),
            outputs: ports(|entry| &entry.outputs),
            editions: editions.collect(),
            quantization: quantization.collect(),
            defaults: defaults.collect(),
        }
    }
}
