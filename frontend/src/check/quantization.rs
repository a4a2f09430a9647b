// SPDX-License-Identifier: Apache-2.0
//! `@quantize` (2.14).

use crate::ast::{Component, ComponentValue, Definition};
use crate::check::checker::{Checker, Context};
use crate::check::invocations::{check_attribute_list, require_attributes_of};
use crate::check::resolution::find_operator;
use crate::diagnostics::{Diagnostic, closest, codes, counted};

/// Checks that entries name tensors and operators with one input and one output.
pub(super) fn check_quantizations(checker: &mut Checker) {
    let definition = checker.definition;
    checker.where_now = "in `@quantize`";
    checker.context = Context::CompileTime;
    let tensors = tensor_names(definition);
    for quantization in &definition.quantizations {
        // A scoped name selects a tensor of an invocation, whose label is known only during composition.
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
                diagnostic = diagnostic.with_meant(near);
            }
            checker.sink.report(diagnostic);
        }
        let operator = find_operator(checker, &quantization.operator);
        let Some(signature) = operator.filter(|s| !s.incomplete) else {
            for attribute in &quantization.attributes {
                checker.value(&attribute.value);
            }
            continue;
        };
        let (inputs, outputs) = (signature.inputs.len(), signature.outputs.len());
        if (inputs, outputs) != (1, 1) {
            let message = format!(
                "`{}` cannot quantize: it has {} and {}",
                quantization.operator.text(),
                counted(inputs, "input"),
                counted(outputs, "output")
            );
            checker.sink.report(
                Diagnostic::error(&codes::NOT_A_QUANTIZER, quantization.operator.span, message)
                    .with_label_at(signature.definition.name.span, "declared here")
                    .with_help("a quantization has one input and one output"),
            );
        }
        check_attribute_list(checker, &quantization.attributes, &quantization.types, signature);
        require_attributes_of(checker, &quantization.attributes, &quantization.operator, signature);
    }
}

fn tensor_names(definition: &Definition) -> Vec<&str> {
    let mut names: Vec<&str> =
        [&definition.inputs, &definition.constants, &definition.variables, &definition.outputs]
            .into_iter()
            .flatten()
            .map(|d| d.name.name.as_str())
            .collect();
    for component in definition.composes.iter().chain(&definition.updates) {
        names.extend(component.names().map(|n| n.name.as_str()));
        for value in component.value.nested() {
            match value {
                ComponentValue::Block(block) => {
                    names.extend(block.components.iter().flat_map(Component::names).map(|n| n.name.as_str()));
                }
                ComponentValue::Loop(l) => names.extend(l.carried.iter().map(|c| c.name.name.as_str())),
                _ => {}
            }
        }
    }
    names
}
