// SPDX-License-Identifier: Apache-2.0
//! `@quantize` (2.14).

use crate::ast::{Component, ComponentValue, Definition, Target};
use crate::diagnostics::{Diagnostic, codes, counted};

use super::blocks::target_names;
use super::definition::{Checker, Context};
use crate::diagnostics::closest;

impl Checker<'_> {
    /// Checks that entries name tensors and operators with one input and one output.
    pub(super) fn check_quantizations(&mut self) {
        let definition = self.definition;
        self.where_now = "in `@quantize`";
        self.context = Context::CompileTime;
        let tensors = tensor_names(definition);
        for quantization in &definition.quantizations {
            // scoped names reach into invocations, whose labels only a composition knows
            if let [name] = quantization.tensor.parts.as_slice()
                && !tensors.contains(&name.name.as_str())
                && !name.name.is_empty()
                && definition.unread.is_empty()
            {
                let mut diagnostic = Diagnostic::error(
                    &codes::QUANTIZED_TENSOR,
                    name.span,
                    format!("`{}` has no tensor `{}`", definition.name.name, name.name),
                );
                if let Some(near) = closest(&name.name, tensors.iter().copied()) {
                    diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
                }
                self.sink.report(diagnostic);
            }
            let found = self.find_operator(&quantization.operator);
            let Some(signature) = found.filter(|s| !s.incomplete) else {
                for attribute in &quantization.attributes {
                    self.value(&attribute.value);
                }
                continue;
            };
            let (inputs, outputs) = (signature.inputs.len(), signature.outputs.len());
            if (inputs, outputs) != (1, 1) {
                self.sink.report(
                    Diagnostic::error(
                        &codes::NOT_A_QUANTIZER,
                        quantization.operator.span,
                        format!(
                            "`{}` cannot quantize: it has {} and {}",
                            quantization.operator.text(),
                            counted(inputs, "input"),
                            counted(outputs, "output")
                        ),
                    )
                    .with_label_at(signature.definition.name.span, "declared here")
                    .with_help("a quantization has one input and one output"),
                );
            }
            self.check_attribute_list(&quantization.attributes, &quantization.types, signature);
            self.require_attributes_of(&quantization.attributes, &quantization.operator, signature);
        }
    }
}

/// All names of tensors in the definition.
fn tensor_names(definition: &Definition) -> Vec<&str> {
    let mut names: Vec<&str> =
        [&definition.inputs, &definition.constants, &definition.variables, &definition.outputs]
            .into_iter()
            .flatten()
            .map(|d| d.name.name.as_str())
            .collect();
    let mut rest: Vec<&Component> = definition.composes.iter().chain(&definition.updates).collect();
    while let Some(component) = rest.pop() {
        for target in &component.targets {
            let items = match target {
                Target::Item(item) => std::slice::from_ref(item),
                Target::List { items, .. } => items.as_slice(),
            };
            names.extend(items.iter().flat_map(target_names).map(|n| n.name.as_str()));
        }
        let mut values = vec![&component.value];
        while let Some(value) = values.pop() {
            match value {
                ComponentValue::Block(block) => rest.extend(&block.components),
                ComponentValue::If(branching) => {
                    for (condition, then) in &branching.arms {
                        values.extend([condition, then]);
                    }
                    values.push(&branching.otherwise);
                }
                ComponentValue::Loop(l) => {
                    names.extend(l.carried.iter().map(|c| c.name.name.as_str()));
                    values.extend([&l.before, &l.after].into_iter().flatten());
                    values.push(&l.body);
                }
                ComponentValue::Invocation(_) | ComponentValue::Expr(_) | ComponentValue::Error(_) => {}
            }
        }
    }
    names
}
