// SPDX-License-Identifier: Apache-2.0
//! `T(x)` as a component: written like an invocation, but T is a type (2.4, 2.10).
//!
//! The types are known only after the full definition has been parsed, because its blocks have any order.

use crate::ast::{
    Argument, Block, Component, ComponentValue, Definition, Expr, ExprKind, Invocation, Module,
};

/// Converts invocations of types to expressions.
pub(super) fn settle(module: &mut Module) {
    for definition in &mut module.definitions {
        let types: Vec<String> = definition
            .dtypes
            .iter()
            .map(|d| d.name.name.clone())
            .chain(["int", "real", "bool", "str"].map(String::from))
            .collect();
        let Definition { composes, updates, .. } = definition;
        for component in composes.iter_mut().chain(updates) {
            settle_component(component, &types);
        }
    }
}

fn settle_component(component: &mut Component, types: &[String]) {
    settle_value(&mut component.value, types);
}

fn settle_block(block: &mut Block, types: &[String]) {
    for component in &mut block.components {
        settle_component(component, types);
    }
}

fn settle_value(value: &mut ComponentValue, types: &[String]) {
    match value {
        ComponentValue::Invocation(invocation) => {
            if let Some(expr) = cast(invocation, types) {
                *value = ComponentValue::Expr(expr);
            }
        }
        ComponentValue::Block(block) => settle_block(block, types),
        ComponentValue::If(branching) => {
            for (condition, consequent) in &mut branching.arms {
                settle_value(condition, types);
                settle_value(consequent, types);
            }
            settle_value(&mut branching.otherwise, types);
        }
        ComponentValue::Loop(looping) => {
            let conditions = looping.before.iter_mut().chain(&mut looping.after);
            for condition in conditions {
                settle_value(condition, types);
            }
            settle_value(&mut looping.body, types);
        }
        ComponentValue::Expr(_) | ComponentValue::Error(_) => {}
    }
}

/// `T(x)`, `T()` without the parts that only invocations have.
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

#[cfg(test)]
mod tests {
    use crate::compose::testing::*;

    /// An operator may have the name of a type: then `f(x)` stays an invocation.
    #[test]
    fn s2_4_types_cast_where_components_stand() {
        let blocks = "@dtype { T: num = real; } @input { a: T[n]; } @output { b: T[n]; c: T[]; d: T[]; } \
            @compose { b = pass2(a); c = T(5); d = T(); }";
        let text = with_operator(blocks, "y, p, q = f(x);").replace(
            "graph G",
            "operator pass2 { @dtype { T: num; } @input { a: T[n]; } @output { b: T[n]; } \
             @lower { b[i,] = a[i,], i < n; } } graph G",
        );
        assert_composes(&text);
    }
}
