// SPDX-License-Identifier: Apache-2.0
//! Types that a graph declares for its values.

use std::collections::HashMap;

use crate::proto::{GraphProto, TensorTypeProto, ValueInfoProto};

/// The declared types of the values of a graph, by name.
pub type Declared = HashMap<String, TensorTypeProto>;

/// The types that a graph declares for inner values and outputs.
pub fn declared(graph: &GraphProto) -> Declared {
    let infos = graph.value_info.iter().chain(&graph.output);
    infos.filter_map(|info| Some((info.name.clone(), tensor(info)?))).collect()
}

/// The declared type of a value, if it is a tensor.
pub fn tensor(info: &ValueInfoProto) -> Option<TensorTypeProto> {
    info.kind.as_ref()?.tensor.clone()
}
