//! `@quantize` of the entry graph: names and operators are checked, values are kept (2.14).

use super::composer::{Composer, Definitions, InstanceInfo, Reported};
use crate::ast;
use crate::diagnostics::codes::QUANTIZATION;
use crate::eval::{Evaluator, Scope};
use crate::model::Quantization;

impl<'p> Composer<'p, '_> {
    pub fn quantization(
        &mut self,
        entry: Definitions<'p>,
        info: &InstanceInfo,
        root: &str,
    ) -> Vec<Quantization> {
        entry
            .definition
            .quantizations
            .iter()
            .filter_map(|entry_item| self.quantized(entry, entry_item, info, root).ok())
            .collect()
    }

    fn quantized(
        &mut self,
        entry: Definitions<'p>,
        item: &ast::Quantization,
        info: &InstanceInfo,
        root: &str,
    ) -> Result<Quantization, Reported> {
        let written = item.tensor.text();
        let name = written
            .strip_prefix(root)
            .and_then(|rest| rest.strip_prefix('.'))
            .unwrap_or(&written)
            .to_string();
        let known = info.tensors.contains(&name) || info.captures.iter().any(|c| c.path == name);
        if !known {
            return Err(self.error(
                &QUANTIZATION,
                item.tensor.span,
                format!("there is no tensor `{written}` to be quantized"),
            ));
        }
        let Some(found) = self.lookup(entry.module, &item.operator) else {
            return Err(self.error(
                &QUANTIZATION,
                item.operator.span,
                format!("there is no operator `{}` here", item.operator.text()),
            ));
        };
        let required = found
            .definition
            .inputs
            .iter()
            .filter(|i| !i.type_spec.optional && i.default.is_none())
            .count();
        if required != 1 || found.definition.outputs.len() != 1 {
            return Err(self.error(
                &QUANTIZATION,
                item.operator.span,
                format!(
                    "`{}` has {required} inputs and {} outputs; a quantization has one each",
                    item.operator.text(),
                    found.definition.outputs.len()
                ),
            ));
        }
        let scope = Scope::new();
        let types = indexmap::IndexMap::new();
        let mut attributes = Vec::new();
        for assignment in &item.attributes {
            let edition = self.program.edition(entry.module);
            let value = Evaluator::new(&scope, &types, edition, self.limits)
                .eval(&assignment.value)
                .map_err(|s| self.failed(s))?;
            let declared = found
                .definition
                .attributes
                .iter()
                .any(|a| a.name.name == assignment.name.name);
            if !declared {
                return Err(self.error(
                    &QUANTIZATION,
                    assignment.name.span,
                    format!(
                        "`{}` has no attribute `{}`",
                        item.operator.text(),
                        assignment.name.name
                    ),
                ));
            }
            attributes.push((assignment.name.name.clone(), value.to_attribute()));
        }
        Ok(Quantization {
            tensor: name,
            operator: item.operator.text(),
            attributes,
            span: item.span,
        })
    }
}
