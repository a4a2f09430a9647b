//! Which definitions are invoked somewhere.

use crate::ast::{Block, Component, ComponentValue, Invocation};
use crate::program::Program;

/// Whether a statement of the program invokes `name` of the module with key `module`.
pub fn is_called(program: &Program, module: &str, name: &str) -> bool {
    program.modules.iter().any(|(key, m)| {
        m.definitions.iter().any(|d| {
            d.composes.iter().chain(&d.updates).any(|c| {
                invocations(c).into_iter().any(|i| {
                    let Some((last, qualifier)) = i.operator.parts.split_last() else {
                        return false;
                    };
                    let parts: Vec<&str> = qualifier.iter().map(|p| p.name.as_str()).collect();
                    let target = if parts.is_empty() {
                        Some(key.as_str())
                    } else {
                        program.resolve(key, &parts.join(".")).map(|(k, _)| k)
                    };
                    last.name == name && target == Some(module)
                })
            })
        })
    })
}

/// All invocations of a statement, nested ones too.
pub(super) fn invocations(component: &Component) -> Vec<&Invocation> {
    let mut found = Vec::new();
    let mut values = vec![&component.value];
    while let Some(value) = values.pop() {
        match value {
            ComponentValue::Invocation(invocation) => found.push(invocation),
            ComponentValue::Block(Block { components, .. }) => {
                values.extend(components.iter().map(|c| &c.value));
            }
            ComponentValue::If(branching) => {
                for (condition, then) in &branching.arms {
                    values.extend([condition, then]);
                }
                values.push(&branching.otherwise);
            }
            ComponentValue::Loop(l) => {
                values.extend([&l.before, &l.after].into_iter().flatten());
                values.push(&l.body);
            }
            ComponentValue::Expr(_) | ComponentValue::Error(_) => {}
        }
    }
    found
}
