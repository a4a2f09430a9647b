// SPDX-License-Identifier: Apache-2.0
//! `@quantize`: entries are checked and kept; on request the tensors pass through their quantizers (2.14).

use crate::ast;
use crate::compose::composer::{Composed, Composer, Definitions, Reported};
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::builder::Builder;
use crate::compose::quantization::quantizer::Quantizer;
use crate::diagnostics::codes::QUANTIZATION;
use crate::diagnostics::{Diagnostic, closest};
use crate::eval::{Atom, TensorRef, Value};
use crate::model::{Block, Extent, Loop, Operation, Quantization, TensorType};

impl<'p> Composer<'p, '_> {
    /// Evaluates the definition's own entries, so that statements may apply them. [`Composer::quantization`] reports
    /// wrong entries after the body.
    /// body is there, by [`Composer::quantization`].
    pub(crate) fn own_quantizers(&mut self, builder: &mut Builder<'p>, root: &str) {
        if !self.simulates_quantization() {
            return;
        }
        for item in &builder.found.definition.quantizations {
            let Some(found) = self.lookup(builder.found.module, &item.operator) else {
                continue;
            };
            let mut list = ArgumentList { invocation: item.span, ..ArgumentList::default() };
            for assignment in &item.attributes {
                if let Ok(value) = builder.evaluator(self.limits).eval(&assignment.value) {
                    let name = assignment.name.name.clone();
                    list.attributes.insert(name, (value, assignment.value.span));
                }
            }
            for (parameter, name) in found.definition.dtypes.iter().zip(&item.types) {
                if let Ok(ty) = builder.evaluator(self.limits).type_named(name) {
                    list.types.insert(parameter.name.name.clone(), ty);
                }
            }
            builder.quantizers.push(Quantizer {
                path: relative(&item.tensor.text(), root),
                operator: &item.operator,
                module: builder.found.module,
                list,
                span: item.span,
            });
        }
    }

    /// The entries for tensors below a label, as the callee sees them.
    pub(crate) fn quantizers_below(&self, builder: &Builder<'p>, scope: &[String]) -> Vec<Quantizer<'p>> {
        let prefix: String = scope.iter().map(|label| format!("{label}.")).collect();
        let below = builder.quantizers.iter().filter_map(|quantizer| {
            let path = quantizer.path.strip_prefix(&prefix)?;
            // A plain name without labels is this function's own.
            (!scope.is_empty() || path.contains('.'))
                .then(|| Quantizer { path: path.to_string(), ..quantizer.clone() })
        });
        below.collect()
    }

    /// The tensors of a name, after its quantizer if it has one.
    pub(crate) fn simulated(
        &mut self,
        builder: &mut Builder<'p>,
        name: &str,
        value: Value,
    ) -> Composed<Value> {
        let path = builder.path_of(name);
        let Some(quantizer) = builder.quantizers.iter().find(|q| q.path == path).cloned() else {
            return Ok(value);
        };
        let Some(found) = self.lookup(quantizer.module, quantizer.operator) else {
            return Ok(value);
        };
        let mut atoms = Vec::with_capacity(value.atoms().len());
        for atom in value.atoms() {
            atoms.push(match atom {
                Atom::Tensor(_) => self.through(builder, &quantizer, found, atom)?,
                Atom::Stack(stack) => self.items_through(builder, &quantizer, found, stack)?,
                other => other.clone(),
            });
        }
        Ok(match (value, atoms.as_slice()) {
            (Value::Atom(_), [single]) => Value::Atom(single.clone()),
            (Value::Pack(_), _) => Value::pack(atoms),
            (value, _) => value,
        })
    }

    fn through(
        &mut self,
        builder: &mut Builder<'p>,
        quantizer: &Quantizer<'p>,
        found: Definitions<'p>,
        atom: &Atom,
    ) -> Composed<Atom> {
        let invocation = ast::Invocation {
            label: None,
            operator: quantizer.operator.clone(),
            types: Vec::new(),
            attributes: Vec::new(),
            arguments: Vec::new(),
            span: quantizer.span,
        };
        let value = Value::Atom(atom.clone());
        let results = self.invoke(
            builder,
            found,
            quantizer.list.clone(),
            vec![(value, quantizer.span)],
            &invocation,
            None,
        )?;
        let (Some(Value::Atom(Atom::Tensor(new))), Atom::Tensor(old)) = (results.first(), atom) else {
            return Ok(atom.clone());
        };
        if new.tensor != old.tensor {
            return Err(self.error(
                &QUANTIZATION,
                quantizer.span,
                format!(
                    "`{}` turns {} into {}; a quantizer keeps type and shape",
                    quantizer.operator.text(),
                    old.tensor.text(),
                    new.tensor.text()
                ),
            ));
        }
        Ok(Atom::Tensor(new.clone()))
    }

    /// Applies a quantizer to each item of a pack of dynamic length, in a loop.
    fn items_through(
        &mut self,
        builder: &mut Builder<'p>,
        quantizer: &Quantizer<'p>,
        found: Definitions<'p>,
        stack: &TensorRef,
    ) -> Composed<Atom> {
        let span = quantizer.span;
        let item = TensorType {
            kind: stack.tensor.kind,
            shape: stack.tensor.shape.iter().skip(1).cloned().collect(),
        };
        let item = builder.value(None, item, span);
        let mark = builder.function.updates.len();
        builder.blocks.push(Block::default());
        let result = self.through(builder, quantizer, found, &Atom::Tensor(item.clone()));
        let mut body = builder.blocks.pop().unwrap_or_default();
        let Atom::Tensor(result) = result? else {
            return Err(Reported);
        };
        self.no_updates_inside(builder, mark, "a loop", span)?;
        body.results = vec![result.id];
        let whole = builder.value(None, (*stack.tensor).clone(), span);
        builder.emit(Operation::Loop(Box::new(Loop {
            carried: Vec::new(),
            scans: Vec::new(),
            stack_scans: vec![(item.id, stack.id)],
            index: None,
            static_count: stack.tensor.shape.first().map(Extent::bound),
            capacity: None,
            most_steps: None,
            dynamic_count: None,
            before: None,
            body,
            after: None,
            scan_outputs: vec![vec![whole.id]],
            span,
        })));
        Ok(Atom::Stack(whole))
    }

    /// Inputs, variables and constants pass through their quantizers before the body.
    pub(crate) fn simulate_given(&mut self, builder: &mut Builder<'p>) -> Composed<()> {
        let definition = builder.found.definition;
        let declared = definition.inputs.iter().chain(&definition.variables).chain(&definition.constants);
        for declaration in declared {
            let name = &declaration.name.name;
            if let Some(value) = builder.scope.get(name).cloned() {
                let value = self.simulated(builder, name, value)?;
                builder.scope.set(name.clone(), value);
            }
        }
        Ok(())
    }

    /// The definition's own entries, checked against the tensors of the instance.
    pub(crate) fn quantization(&mut self, builder: &Builder<'p>, root: &str) -> Composed<Vec<Quantization>> {
        let mut all = Vec::new();
        let mut result = Ok(());
        for item in &builder.found.definition.quantizations {
            let entry = match self.quantized(builder, item, root) {
                Ok(entry) => entry,
                Err(reported) => {
                    result = Err(reported);
                    continue;
                }
            };
            let same = |other: &&Quantization| other.tensor == entry.tensor;
            if let Some(first) = all.iter().find(same) {
                let message = format!("`{}` is quantized twice", item.tensor.text());
                let diagnostic = Diagnostic::error(&QUANTIZATION, item.tensor.span, message)
                    .with_label_at(first.span, "first here")
                    .with_help("keep one of the entries: a tensor has one quantization");
                result = Err(self.report(diagnostic));
                continue;
            }
            all.push(entry);
        }
        result.map(|()| all)
    }

    fn quantized(
        &mut self,
        builder: &Builder<'p>,
        item: &ast::Quantization,
        root: &str,
    ) -> Composed<Quantization> {
        let written = item.tensor.text();
        let name = relative(&written, root);
        let known = builder.tensors.contains(&name) || builder.captures.iter().any(|c| c.path == name);
        if !known {
            let names = builder.tensors.iter().map(String::as_str);
            let names = names.chain(builder.captures.iter().map(|c| c.path.as_str()));
            let mut diagnostic = Diagnostic::error(
                &QUANTIZATION,
                item.tensor.span,
                format!("there is no tensor `{written}` to be quantized"),
            );
            if let Some(near) = closest(&name, names) {
                diagnostic = diagnostic.with_help(format!("did you mean `{near}`?"));
            }
            return Err(self.report(diagnostic));
        }
        let Some(found) = self.lookup(builder.found.module, &item.operator) else {
            return Err(self.error(
                &QUANTIZATION,
                item.operator.span,
                format!("there is no operator `{}` here", item.operator.text()),
            ));
        };
        let required =
            found.definition.inputs.iter().filter(|i| !i.type_spec.optional && i.default.is_none()).count();
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
        let mut attributes = Vec::new();
        for assignment in &item.attributes {
            let value = self.value(builder, &assignment.value)?;
            let mut declared = found.definition.attributes.iter();
            if !declared.any(|a| a.name.name == assignment.name.name) {
                return Err(self.error(
                    &QUANTIZATION,
                    assignment.name.span,
                    format!("`{}` has no attribute `{}`", item.operator.text(), assignment.name.name),
                ));
            }
            attributes.push((assignment.name.name.clone(), value.to_attribute()));
        }
        Ok(Quantization { tensor: name, operator: item.operator.text(), attributes, span: item.span })
    }
}

/// Full names of the entry's tensors begin with its own.
fn relative(written: &str, root: &str) -> String {
    let rest = written.strip_prefix(root).and_then(|rest| rest.strip_prefix('.'));
    rest.unwrap_or(written).to_string()
}
