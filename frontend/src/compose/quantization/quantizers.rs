// SPDX-License-Identifier: Apache-2.0
//! `@quantize`: entries are checked and kept; on request the tensors pass through their quantizers (2.14).

use crate::ast;
use crate::compose::blocks::update::no_updates_inside;
use crate::compose::calls::{Composed, Reported};
use crate::compose::composer::Composer;
use crate::compose::context::Context;
use crate::compose::invocations::arguments::ArgumentList;
use crate::compose::invocations::builder::Builder;
use crate::compose::operators::OperatorRef;
use crate::compose::quantization::quantizer::Quantizer;
use crate::diagnostics::codes::QUANTIZATION;
use crate::diagnostics::{Diagnostic, closest};
use crate::eval::{Atom, TensorRef, Value};
use crate::model::{Block, Extent, Loop, Operation, Quantization, TensorType};

/// Evaluates the definition's own entries, so that statements may apply them. [`quantization`] reports
/// wrong entries after the body.
pub(crate) fn own_quantizers<'p>(context: &mut Context<'p, '_>, builder: &mut Builder<'p>, root: &str) {
    if !context.options.simulate_quantization {
        return;
    }
    for item in &builder.operator.definition.quantizations {
        let Some(operator) = context.operators.lookup(builder.operator.module, &item.operator) else {
            continue;
        };
        let mut list = ArgumentList { invocation: item.span, ..ArgumentList::default() };
        for assignment in &item.attributes {
            if let Ok(value) = builder.evaluator(context.limits).eval(&assignment.value) {
                let name = assignment.name.name.clone();
                list.attributes.insert(name, (value, assignment.value.span));
            }
        }
        for (parameter, name) in operator.definition.dtypes.iter().zip(&item.types) {
            if let Ok(ty) = builder.evaluator(context.limits).type_named(name) {
                list.types.insert(parameter.name.name.clone(), ty);
            }
        }
        builder.quantizers.push(Quantizer {
            path: relative(&item.tensor.text(), root),
            operator: &item.operator,
            module: builder.operator.module,
            list,
            span: item.span,
        });
    }
}

/// The entries for tensors below a label, as the callee sees them.
pub(crate) fn quantizers_below<'p>(builder: &Builder<'p>, scope: &[String]) -> Vec<Quantizer<'p>> {
    let prefix: String = scope.iter().map(|label| format!("{label}.")).collect();
    let below = builder.quantizers.iter().filter_map(|quantizer| {
        let path = quantizer.path.strip_prefix(&prefix)?;
        // A name without labels belongs to this function.
        (!scope.is_empty() || path.contains('.'))
            .then(|| Quantizer { path: path.to_string(), ..quantizer.clone() })
    });
    below.collect()
}

/// The tensors of a name, passed through its quantizer if it has one.
pub(crate) fn simulated<'p>(
    composer: &mut Composer<'p, '_>,
    builder: &mut Builder<'p>,
    name: &str,
    value: Value,
) -> Composed<Value> {
    let path = builder.path_of(name);
    let Some(quantizer) = builder.quantizers.iter().find(|q| q.path == path).cloned() else {
        return Ok(value);
    };
    let Some(operator) = composer.context.operators.lookup(quantizer.module, quantizer.operator) else {
        return Ok(value);
    };
    let mut atoms = Vec::with_capacity(value.atoms().len());
    for atom in value.atoms() {
        atoms.push(match atom {
            Atom::Tensor(_) => through(composer, builder, &quantizer, operator, &atom)?,
            Atom::Stack(stack) => items_through(composer, builder, &quantizer, operator, &stack)?,
            other => other,
        });
    }
    Ok(match (value, atoms.as_slice()) {
        (Value::Atom(_), [single]) => Value::Atom(single.clone()),
        (Value::Pack(_), _) => Value::pack(atoms),
        (value, _) => value,
    })
}

fn through<'p>(
    composer: &mut Composer<'p, '_>,
    builder: &mut Builder<'p>,
    quantizer: &Quantizer<'p>,
    operator: OperatorRef<'p>,
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
    let results = composer.invoke(
        builder,
        operator,
        quantizer.list.clone(),
        vec![(value, quantizer.span)],
        &invocation,
        None,
    )?;
    let (Some(Value::Atom(Atom::Tensor(new))), Atom::Tensor(old)) = (results.first(), atom) else {
        return Ok(atom.clone());
    };
    if new.tensor != old.tensor {
        let message = format!(
            "`{}` turns {} into {}; a quantizer keeps type and shape",
            quantizer.operator.text(),
            old.tensor.text(),
            new.tensor.text()
        );
        return Err(composer.context.error(&QUANTIZATION, quantizer.span, message));
    }
    Ok(Atom::Tensor(new.clone()))
}

/// Applies a quantizer to each item of a pack of dynamic length, in a loop.
fn items_through<'p>(
    composer: &mut Composer<'p, '_>,
    builder: &mut Builder<'p>,
    quantizer: &Quantizer<'p>,
    operator: OperatorRef<'p>,
    stack: &TensorRef,
) -> Composed<Atom> {
    let span = quantizer.span;
    let item =
        TensorType { kind: stack.tensor.kind, shape: stack.tensor.shape.iter().skip(1).cloned().collect() };
    let item = builder.value(None, item, span);
    let mark = builder.function.updates.len();
    builder.blocks.push(Block::default());
    let result = through(composer, builder, quantizer, operator, &Atom::Tensor(item.clone()));
    let mut body = builder.end_block();
    let Atom::Tensor(result) = result? else {
        return Err(Reported);
    };
    no_updates_inside(&mut composer.context, builder, mark, "a loop", span)?;
    body.results = vec![result.id];
    let whole = builder.value(None, (*stack.tensor).clone(), span);
    builder.emit(Operation::Loop(Box::new(Loop {
        carried: Vec::new(),
        scans: Vec::new(),
        stack_scans: vec![(item.id, stack.id)],
        index: None,
        static_count: stack.tensor.shape.first().map(Extent::bound),
        capacity: None,
        max_steps: None,
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
pub(crate) fn simulate_given<'p>(composer: &mut Composer<'p, '_>, builder: &mut Builder<'p>) -> Composed<()> {
    let definition = builder.operator.definition;
    let declared = definition.inputs.iter().chain(&definition.variables).chain(&definition.constants);
    for declaration in declared {
        let name = &declaration.name.name;
        if let Some(value) = builder.scope.get(name).cloned() {
            let value = simulated(composer, builder, name, value)?;
            builder.scope.set(name.clone(), value);
        }
    }
    Ok(())
}

/// The definition's own entries, checked against the tensors of the instance.
pub(crate) fn quantization<'p>(
    context: &mut Context<'p, '_>,
    builder: &Builder<'p>,
    root: &str,
) -> Composed<Vec<Quantization>> {
    let mut all = Vec::new();
    let mut result = Ok(());
    for item in &builder.operator.definition.quantizations {
        let entry = match quantized(context, builder, item, root) {
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
            result = Err(context.report(diagnostic));
            continue;
        }
        all.push(entry);
    }
    result.map(|()| all)
}

fn quantized<'p>(
    context: &mut Context<'p, '_>,
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
        return Err(context.report(diagnostic));
    }
    let Some(operator) = context.operators.lookup(builder.operator.module, &item.operator) else {
        return Err(context.unchecked(item.operator.span));
    };
    let mut attributes = Vec::new();
    for assignment in &item.attributes {
        let value = context.value(builder, &assignment.value)?;
        let mut declared = operator.definition.attributes.iter();
        if !declared.any(|a| a.name.name == assignment.name.name) {
            return Err(context.unchecked(assignment.name.span));
        }
        attributes.push((assignment.name.name.clone(), value.to_attribute()));
    }
    Ok(Quantization { tensor: name, operator: item.operator.text(), attributes, span: item.span })
}

/// Removes the name of the entry from the full name of a tensor.
fn relative(written: &str, root: &str) -> String {
    let relative = written.strip_prefix(root).and_then(|path| path.strip_prefix('.'));
    relative.unwrap_or(written).to_string()
}
