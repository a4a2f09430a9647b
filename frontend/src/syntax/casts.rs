// SPDX-License-Identifier: Apache-2.0
//! `T(x)` as a component: written like an invocation, but T is a type (2.4, 2.10).
//!
//! The types are known only after the full definition has been parsed, because its blocks may be in any order.

use crate::ast::{
    Argument, Block, Component, ComponentValue, Definition, Expr, ExprKind, Invocation, Module,
};

/// Converts invocations of types to expressions.
pub(super) fn resolve(module: &mut Module) {
    for definition in &mut module.definitions {
        let types: Vec<String> = definition
            .dtypes
            .iter()
            .map(|d| d.name.name.clone())
            .chain(["int", "real", "bool", "str"].map(String::from))
            .collect();
        let Definition { composes, updates, .. } = definition;
        for component in composes.iter_mut().chain(updates) {
            resolve_component(component, &types);
        }
    }
}

fn resolve_component(component: &mut Component, types: &[String]) {
    resolve_value(&mut component.value, types);
}

fn resolve_block(block: &mut Block, types: &[String]) {
    for component in &mut block.components {
        resolve_component(component, types);
    }
}

fn resolve_value(value: &mut ComponentValue, types: &[String]) {
    match value {
        ComponentValue::Invocation(invocation) => {
            if let Some(expr) = cast(invocation, types) {
                *value = ComponentValue::Expr(expr);
            }
        }
        ComponentValue::Block(block) => resolve_block(block, types),
        ComponentValue::If(branching) => {
            for (condition, consequent) in &mut branching.arms {
                resolve_value(condition, types);
                resolve_value(consequent, types);
            }
            resolve_value(&mut branching.otherwise, types);
        }
        ComponentValue::Loop(looping) => {
            let conditions = looping.before.iter_mut().chain(&mut looping.after);
            for condition in conditions {
                resolve_value(condition, types);
            }
            resolve_value(&mut looping.body, types);
        }
        ComponentValue::Expr(_) | ComponentValue::Error(_) => {}
    }
}

/// Returns the cast `T(x)` or the default value `T()` if the operator is a type and the invocation has no label, types
/// or attributes.
fn cast(invocation: &Invocation, types: &[String]) -> Option<Expr> {
    let [target] = invocation.operator.parts.as_slice() else {
        return None;
    };
    let plain = invocation.label.is_none() && invocation.types.is_empty() && invocation.attributes.is_empty();
    if !plain || !types.contains(&target.name) {
        return None;
    }
    let kind = match invocation.arguments.as_slice() {
        [] => ExprKind::Default(target.clone()),
        [Argument::Expr(value)] => ExprKind::Cast { target: target.clone(), value: Box::new(value.clone()) },
        _ => return None,
    };
    Some(Expr { kind, span: invocation.span })
}
