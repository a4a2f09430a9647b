// SPDX-License-Identifier: Apache-2.0
//! The type of reals of a model, and what it refuses.

use std::collections::{BTreeMap, BTreeSet};

use skript_tensor::ElementType;

use super::Document;
use crate::refusal::Refusal;
use crate::statement::{Block, Body, Statement};
use crate::value::{Value, is_real};

/// The storage type of reals: the widest of the model. Narrower ones may only move.
pub fn reals(document: &Document<'_>) -> Result<ElementType, Vec<Refusal>> {
    let mut found: BTreeMap<usize, ElementType> = BTreeMap::new();
    let mut note = |value: &Value| {
        if is_real(value.element) {
            found.entry(value.element.size()).or_insert(value.element);
        }
    };
    document.inputs.iter().for_each(|(v, _)| note(v));
    document.outputs.iter().for_each(|(_, v)| note(v));
    visit(&document.block, &mut |statement| {
        statement.results.iter().for_each(&mut note)
    });
    let widest = found
        .values()
        .next_back()
        .copied()
        .unwrap_or(ElementType::F32);
    let mut refusals = Vec::new();
    visit(&document.block, &mut |statement| {
        let (Body::Call { operator, .. } | Body::Unpacked { operator, .. }) = &statement.body
        else {
            return;
        };
        for result in &statement.results {
            if is_real(result.element) && result.element != widest && !moves(operator) {
                refusals.push(Refusal {
                    node: node_of(document, statement),
                    operator: String::new(),
                    reason: format!(
                        "computes in {}, and other nodes in {}: one model has one type of reals",
                        result.element.name(),
                        widest.name()
                    ),
                });
            }
        }
    });
    unrounded(document, &mut refusals);
    match refusals.is_empty() {
        true => Ok(widest),
        false => Err(refusals),
    }
}

/// The name of the ONNX node or, if it has none, of an output of it.
fn node_of(document: &Document<'_>, statement: &Statement) -> String {
    let titles = &document.importer.titles;
    let title = statement.results.iter().find_map(|r| titles.get(&r.id));
    match (statement.node.is_empty(), title) {
        (true, Some(title)) => title.clone(),
        _ => statement.node.clone(),
    }
}

/// Refuses what reads reals before they are rounded to their narrower type: only outputs are rounded.
fn unrounded(document: &Document<'_>, refusals: &mut Vec<Refusal>) {
    let mut waiting = document.importer.rounded.clone();
    for statement in &document.block.statements {
        let mut read = BTreeSet::new();
        statement.reads(&mut read);
        let Some(from) = read.iter().find(|id| waiting.contains(id)) else {
            continue;
        };
        let element = document.importer.values.get(*from).map(|v| v.element);
        let keeps = statement.results.iter().all(|r| Some(r.element) == element);
        let passes = match &statement.body {
            Body::Call { operator, .. } | Body::Unpacked { operator, .. } => moves(operator),
            Body::Same(_) => true,
            Body::Instance(_) | Body::If { .. } | Body::Loop(_) => false,
        };
        if keeps && passes {
            waiting.extend(statement.results.iter().map(|r| r.id));
            continue;
        }
        let narrow = element.map_or("a narrower type", ElementType::name);
        refusals.push(Refusal {
            node: node_of(document, statement),
            operator: String::new(),
            reason: format!(
                "reads reals that a Cast rounds to {narrow}: one model has one type of reals, and only its outputs are rounded"
            ),
        });
    }
}

fn visit(block: &Block, see: &mut dyn FnMut(&Statement)) {
    for statement in &block.statements {
        see(statement);
        match &statement.body {
            Body::If {
                then, otherwise, ..
            } => {
                visit(then, see);
                visit(otherwise, see);
            }
            Body::Loop(l) => visit(&l.body, see),
            _ => {}
        }
    }
}

/// Whether each element of a result is one of the operands, or its negative, so that narrow reals stay what they are.
fn moves(operator: &str) -> bool {
    const OWN: &[&str] = &[
        "algo.top_k",
        "math.abs",
        "math.max",
        "math.max_reduce",
        "math.min",
        "math.min_reduce",
        "math.neg",
        "math.select",
        "nn.max_pool",
        "onnx.expand",
        "onnx.fill",
        "onnx.gather",
        "onnx.gather_elements",
        "onnx.gather_nd",
        "onnx.max_pool_indices",
        "onnx.one_hot",
        "onnx.pad_wrap",
        "onnx.reverse_sequence",
        "onnx.scatter_elements",
        "onnx.scatter_nd",
        "onnx.slice",
        "onnx.trilu",
    ];
    (operator.starts_with("layout.") && !operator.starts_with("layout.cast"))
        || OWN.contains(&operator)
}
