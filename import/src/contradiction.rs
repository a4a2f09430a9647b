// SPDX-License-Identifier: Apache-2.0
//! Declared types compared with those that the nodes compute.

use std::collections::BTreeSet;

use crate::declared::tensor;
use crate::extent::Extent;
use crate::importer::Importer;
use crate::proto::{DimensionProto, TensorTypeProto, ValueInfoProto};
use crate::value::{Value, element};

impl Importer {
    /// Describes how a value contradicts its declared type, if it does. The graph computes according to its nodes.
    pub fn contradiction(&self, name: &str, value: &Value) -> Option<String> {
        let declared = self.declared(name)?;
        self.differs(declared, value).map(|(wanted, found)| {
            format!("`{name}` is declared as {wanted}, but the graph computes {found}, which is used")
        })
    }

    /// What contradicts the type that an input with an initializer declares.
    pub fn initializer_contradiction(&self, info: &ValueInfoProto) -> Option<String> {
        let value = self.find(&info.name)?;
        let found = self.differs(&tensor(info)?, &value);
        found.map(|(wanted, found)| format!("the input is declared as {wanted}, but its value is {found}"))
    }

    /// The declared type and the one of the value, if they differ.
    fn differs(&self, declared: &TensorTypeProto, value: &Value) -> Option<(String, String)> {
        let wanted = match declared.element {
            // Not declared.
            0 => None,
            21 => Some("u4"),
            22 => Some("i4"),
            number => Some(element(number).map_or_else(|name| name, |e| e.name())),
        };
        let found = self.type_name(value);
        let dims = declared.shape.as_ref().map(|shape| shape.dim.as_slice());
        let dims = dims.filter(|_| !value.is_sequence());
        let is_other = |(dim, extent): (&DimensionProto, &Extent)| {
            let known = dim.value.filter(|n| *n >= 0).zip(extent.value());
            known.is_some_and(|(wanted, found)| wanted != found)
        };
        let shapes_differ = dims
            .is_some_and(|dims| dims.len() != value.rank() || dims.iter().zip(&value.shape).any(is_other));
        if wanted.is_none_or(|wanted| wanted == found) && !shapes_differ {
            return None;
        }
        let listed = |extents: Vec<String>| format!("[{}]", extents.join(","));
        let wanted_shape = dims.map(|dims| {
            let extents = dims.iter().map(|dim| match (dim.value, &dim.name) {
                (Some(n), _) => n.to_string(),
                (None, Some(name)) if !name.is_empty() => name.clone(),
                _ => "?".to_owned(),
            });
            listed(extents.collect())
        });
        let extents = value.shape.iter().map(|extent| {
            let mut computed = BTreeSet::new();
            extent.values(&mut computed);
            if computed.is_empty() { extent.text(&|_| String::new()) } else { "?".to_owned() }
        });
        let found_shape = dims.map(|_| listed(extents.collect())).unwrap_or_default();
        let wanted = wanted.unwrap_or(found.as_str());
        Some((format!("{wanted}{}", wanted_shape.unwrap_or_default()), format!("{found}{found_shape}")))
    }
}
