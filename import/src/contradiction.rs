// SPDX-License-Identifier: Apache-2.0
//! Compares the declared types of values with their computed types.

use std::collections::BTreeSet;

use crate::declared::tensor;
use crate::extent::Extent;
use crate::importer::Importer;
use crate::proto::{DimensionProto, TensorTypeProto, ValueInfoProto};
use crate::value::{Value, element};

impl Importer {
    /// Describes how a value contradicts its declared type, if it does. The computed type takes precedence.
    pub fn contradiction(&self, name: &str, value: &Value) -> Option<String> {
        let declared = self.declared(name)?;
        self.differs(declared, value).map(|(wanted, computed)| {
            format!("`{name}` is declared as {wanted}, but the graph computes {computed}, which is used")
        })
    }

    /// Describes how an initializer contradicts the declared type of its input, if it does.
    pub fn initializer_contradiction(&self, info: &ValueInfoProto) -> Option<String> {
        let value = self.find(&info.name)?;
        let (wanted, actual) = self.differs(&tensor(info)?, &value)?;
        Some(format!("the input is declared as {wanted}, but its value is {actual}"))
    }

    /// The declared type and the type of the value, if they differ.
    fn differs(&self, declared: &TensorTypeProto, value: &Value) -> Option<(String, String)> {
        let wanted = match declared.element {
            // Not declared.
            0 => None,
            21 => Some("u4"),
            22 => Some("i4"),
            number => Some(element(number).map_or_else(|name| name, |e| e.name())),
        };
        let actual = self.type_name(value);
        let shape = declared.shape.as_ref().filter(|_| !value.is_sequence());
        let dims = shape.map(|shape| shape.dim.as_slice());
        let is_other = |(dim, extent): (&DimensionProto, &Extent)| {
            let known = dim.value.filter(|n| *n >= 0).zip(extent.value());
            known.is_some_and(|(wanted, actual)| wanted != actual)
        };
        let shapes_differ = dims
            .is_some_and(|dims| dims.len() != value.rank() || dims.iter().zip(&value.shape).any(is_other));
        if wanted.is_none_or(|wanted| wanted == actual) && !shapes_differ {
            return None;
        }
        let listed = |extents: Vec<String>| format!("[{}]", extents.join(","));
        let wanted_shape = dims.map_or(String::new(), |dims| {
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
        let actual_shape = dims.map_or(String::new(), |_| listed(extents.collect()));
        let wanted = wanted.unwrap_or(actual.as_str());
        Some((format!("{wanted}{wanted_shape}"), format!("{actual}{actual_shape}")))
    }
}
