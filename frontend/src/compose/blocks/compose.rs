// SPDX-License-Identifier: Apache-2.0
//! `@compose` and `@update`: components, targets, blocks (2.10, 2.11).

use crate::ast::{
    self, Component, ComponentValue, Declaration, DefinitionKind, Ident, Target, TargetItem, TypeSpec,
};
use crate::compose::blocks::update::is_variable;
use crate::compose::calls::{Composed, Reported};
use crate::compose::composer::Composer;
use crate::compose::context::Context;
use crate::compose::declarations::constant_elements::name_value;
use crate::compose::declarations::outputs::{
    check_written, compare_outputs_that_are_known, composed_outputs, name_output,
};
use crate::compose::declarations::types::{evaluated_length, tensor_kind};
use crate::compose::invocations::builder::Builder;
use crate::compose::packs::destructuring::{RESULT, Share, assign_rest, dealt, known, shares};
use crate::compose::packs::dynamic_length::{capacities, with_written_length};
use crate::compose::quantization::quantizers::simulated;
use crate::compose::shapes::block_checks::settle_here;
use crate::compose::synthesized_functions::{items_of, tensor_of, tensors};
use crate::diagnostics::codes::{RANK_MISMATCH, RESULTS_MISMATCH, UNEXPECTED_VALUE};
use crate::diagnostics::{Diagnostic, counted};
use crate::eval::{Atom, Value};
use crate::model::Body;
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    pub(crate) fn composed(&mut self, builder: &mut Builder<'p>) -> Composed<()> {
        let definition = builder.operator.definition;
        let before = self.context.error_count();
        // 2.10: a composite with one component and without declared constants and variables adds no scope.
        let passes_through = definition.kind == DefinitionKind::Operator
            && definition.composes.len() == 1
            && definition.constants.is_empty()
            && definition.variables.is_empty();
        for component in &definition.composes {
            self.component(builder, component, !passes_through);
        }
        if !definition.updates.is_empty() {
            self.updates(builder);
        }
        if self.context.error_count() > before {
            compare_outputs_that_are_known(&mut self.context, builder);
            return Err(Reported);
        }
        composed_outputs(&mut self.context, builder)?;
        builder.function.body = Body::Block(builder.end_block());
        Ok(())
    }

    /// Composes one statement; results that fail become poison.
    fn component(&mut self, builder: &mut Builder<'p>, component: &Component, scoped: bool) {
        let hint = component.names().next().map(|n| n.name.as_str()).filter(|_| scoped);
        let wanted = component.targets.len();
        builder.capacities = capacities(&self.context, builder, component);
        let results = self
            .statement_value(builder, &component.value, hint, wanted)
            .and_then(|results| self.assign(builder, component, results))
            .and_then(|()| settle_here(&mut self.context, builder));
        builder.capacities = Vec::new();
        if results.is_err() {
            for name in component.names() {
                builder.scope.set(name.name.clone(), Value::poison());
            }
        }
    }

    pub(crate) fn assign(
        &mut self,
        builder: &mut Builder<'p>,
        component: &Component,
        results: Vec<Value>,
    ) -> Composed<()> {
        let targets = &component.targets;
        if targets.len() != results.len() {
            let message = format!(
                "{} for {} on the left",
                counted(results.len(), "result"),
                counted(targets.len(), "name")
            );
            let diagnostic = Diagnostic::error(&RESULTS_MISMATCH, component.span, message);
            return Err(self.context.report(diagnostic.with_help("name each result; `~` discards a result")));
        }
        for (target, value) in targets.iter().zip(results) {
            match target {
                Target::Item(item) => self.assign_item(builder, item, value)?,
                Target::List { items, span } => self.assign_list(builder, items, value, *span)?,
            }
        }
        Ok(())
    }

    fn assign_item(&mut self, builder: &mut Builder<'p>, item: &TargetItem, value: Value) -> Composed<()> {
        match item {
            TargetItem::Omitted(_) => Ok(()),
            TargetItem::Name { name, type_spec, pack, span } => {
                let value = match (pack, value) {
                    (Some(pack), Value::Atom(Atom::Stack(stack))) => {
                        with_written_length(&mut self.context, builder, pack, stack, *span)?
                    }
                    (_, value) => value,
                };
                match (pack, &value) {
                    (Some(pack), Value::Pack(actual)) => {
                        if let Some(length) = evaluated_length(&mut self.context, builder, pack)?
                            && length != actual.len()
                        {
                            let message = format!(
                                "`{}` is written with {length} items, the result has {}",
                                name.name,
                                actual.len()
                            );
                            return Err(self.context.error(&RESULTS_MISMATCH, *span, message));
                        }
                    }
                    (Some(_), Value::Atom(atom)) if !matches!(atom, Atom::Stack(_)) => {
                        let message =
                            format!("`{}` is written as a pack, the result is a single tensor", name.name);
                        return Err(self.context.error(&RESULTS_MISMATCH, *span, message));
                    }
                    _ => {}
                }
                self.set_name(builder, name, type_spec.as_ref(), value)
            }
            TargetItem::Zip { span, .. } => Err(self.context.error(
                &RESULTS_MISMATCH,
                *span,
                "results can only be distributed over several packs inside a list: `[(a, b)..] = …`",
            )),
        }
    }

    pub(crate) fn set_name(
        &mut self,
        builder: &mut Builder<'p>,
        name: &Ident,
        spec: Option<&TypeSpec>,
        value: Value,
    ) -> Composed<()> {
        let value = match value {
            // A compile-time scalar becomes the tensor that it is bound to; outputs determine the kind.
            Value::Atom(atom) if !matches!(atom, Atom::Tensor(_) | Atom::Stack(_) | Atom::Poison) => {
                let outputs = &builder.operator.definition.outputs;
                let output = outputs.iter().find(|o| o.name.name == name.name);
                let declared = spec.or(output.map(|o: &Declaration| &o.type_spec));
                let kind = match declared.map(|spec| spec.base.clone()) {
                    Some(base) => Some(tensor_kind(&mut self.context, builder, &base)?),
                    None => atom.kind(),
                };
                let Some(kind) = kind else {
                    let message = format!("`{}` must be a tensor, this is {}", name.name, atom.text());
                    return Err(self.context.error(&UNEXPECTED_VALUE, name.span, message));
                };
                Value::Atom(Atom::Tensor(tensor_of(&mut self.context, builder, &atom, kind, name.span)?))
            }
            value => value,
        };
        check_ranks(&mut self.context, name, &value, name.span)?;
        if let Some(spec) = spec {
            check_written(&mut self.context, builder, name, spec, &value, name.span)?;
        }
        // A variable's new value is stored unchanged, and quantized when it is read.
        let kept = builder.quantizers.is_empty() || is_variable(&builder.operator.definition.variables, name);
        let value = if kept { value } else { simulated(self, builder, &name.name, value)? };
        let packed = matches!(value, Value::Pack(_));
        for (item, atom) in value.atoms().enumerate() {
            if let Atom::Tensor(tensor) | Atom::Stack(tensor) = atom
                && let Some(slot) = builder.function.values.get_mut(tensor.id.0 as usize)
                && slot.name.is_none()
            {
                slot.name =
                    Some(if packed { format!("{}:{}", name.name, item + 1) } else { name.name.clone() });
            }
        }
        builder.tensors.insert(builder.path_of(&name.name));
        if builder.blocks.len() == 1 {
            name_output(&mut self.context, builder, name, &value)?;
        }
        name_value(&mut self.context, builder, &name.name, value, name.span)
    }

    /// `[a, b..(k), (e, f)..] = pack`.
    fn assign_list(
        &mut self,
        builder: &mut Builder<'p>,
        items: &[TargetItem],
        value: Value,
        span: Span,
    ) -> Composed<()> {
        let shares = shares(&self.context, builder, items).map_err(|s| self.context.failed(s))?;
        let value = match value {
            Value::Atom(Atom::Stack(stack)) if shares.iter().any(Share::is_rest) => {
                return assign_rest(self, builder, &shares, &stack, span);
            }
            Value::Atom(Atom::Stack(stack)) => {
                items_of(&mut self.context, builder, &stack, known(&shares), span)?
            }
            value => value,
        };
        let Value::Pack(whole) = &value else {
            return Err(self.context.error(
                &RESULTS_MISMATCH,
                span,
                "a single tensor cannot be destructured",
            ));
        };
        let parts = dealt(&shares, whole, &RESULT, span).map_err(|s| self.context.failed(s))?;
        for (item, name, value) in parts {
            self.set_name(builder, name, item.type_spec(), value)?;
        }
        Ok(())
    }

    /// Evaluates the right-hand side of a statement; an expression may assign null to a name (2.4.1).
    pub(crate) fn statement_value(
        &mut self,
        builder: &mut Builder<'p>,
        value: &ComponentValue,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        let ComponentValue::Expr(expr) = value else {
            return self.component_value(builder, value, hint, wanted);
        };
        let value = tensors(&mut self.context, builder, expr)?;
        match &value {
            // A list may have several results.
            Value::Pack(pack) if wanted > 1 && pack.len() == wanted => {
                Ok(pack.iter().map(Value::Atom).collect())
            }
            _ => Ok(vec![value]),
        }
    }

    /// Evaluates a right-hand side, or a part of it, to one value per result.
    pub(crate) fn component_value(
        &mut self,
        builder: &mut Builder<'p>,
        value: &ComponentValue,
        hint: Option<&str>,
        wanted: usize,
    ) -> Composed<Vec<Value>> {
        match value {
            ComponentValue::Invocation(invocation) => self.invocation(builder, invocation, hint),
            ComponentValue::Expr(expr) => {
                let results = self.statement_value(builder, value, hint, wanted)?;
                if results.iter().any(Value::is_null) {
                    let message = "this is null here, but the result must be tensors";
                    let help = "write it where null has a meaning: `(c ? x) ?? y`, or as an optional input";
                    let diagnostic = Diagnostic::error(&UNEXPECTED_VALUE, expr.span, message);
                    return Err(self.context.report(diagnostic.with_help(help)));
                }
                Ok(results)
            }
            ComponentValue::Block(block) => self.block(builder, block, hint),
            ComponentValue::If(branching) => self.branching(builder, branching, hint, wanted),
            ComponentValue::Loop(looping) => self.looping(builder, looping, hint, wanted),
            ComponentValue::Error(_) => Err(Reported),
        }
    }

    /// Composes a block in a new scope; its results are the yielded values.
    fn block(
        &mut self,
        builder: &mut Builder<'p>,
        block: &ast::Block,
        hint: Option<&str>,
    ) -> Composed<Vec<Value>> {
        let label = block.label.as_ref().map(|l| l.name.clone()).or_else(|| hint.map(str::to_string));
        let depth = builder.scope.depth();
        let labels = builder.labels.len();
        builder.scope.push();
        builder.labels.extend(label);
        for component in &block.components {
            self.component(builder, component, true);
        }
        let mut results = Vec::with_capacity(block.yields.len());
        let mut failed = false;
        for expr in &block.yields {
            match tensors(&mut self.context, builder, expr) {
                Ok(value) if value.is_null() => {
                    self.context.error(&UNEXPECTED_VALUE, expr.span, "a yielded value is null here");
                    failed = true;
                }
                Ok(value) => results.push(value),
                Err(Reported) => failed = true,
            }
        }
        builder.labels.truncate(labels);
        builder.scope.truncate(depth);
        if failed { Err(Reported) } else { Ok(results) }
    }
}

/// Checks that the tensors of a pack have the same rank (2.3).
pub(crate) fn check_ranks(context: &mut Context, name: &Ident, value: &Value, span: Span) -> Composed<()> {
    let Value::Pack(pack) = value else {
        return Ok(());
    };
    let mut tensors = pack.iter().filter_map(|atom| match atom {
        Atom::Tensor(tensor) => Some(tensor.tensor),
        _ => None,
    });
    let Some(first) = tensors.next() else {
        return Ok(());
    };
    let Some(other) = tensors.find(|t| t.shape.len() != first.shape.len()) else {
        return Ok(());
    };
    let name = &name.name;
    let (first, other) = (first.text(), other.text());
    let message =
        format!("the tensors of the pack `{name}` must have the same rank; here are {first} and {other}");
    Err(context.error(&RANK_MISMATCH, span, message))
}

#[cfg(test)]
mod tests {
    use crate::check::testing::{assert_silent, in_document};
    use crate::compose::testing::assert_composes;

    fn graph(condition: bool, statements: &str) -> String {
        format!(
            "operator add {{ @input {{ a: real[n]; b: real[n]; }} @output {{ y: real[n]; }} @lower {{ y[i,] = a[i,] + b[i,], i < n; }} }} \
             operator more {{ @input {{ a: real[n]; b: optional real[n]; }} @output {{ y: real[n]; }} \
             @lower {{ y[i,] = a[i,] + (b[i,] ?? 1.0), i < n; }} }} \
             graph G {{ @attrib {{ c: bool = {condition}; }} @input {{ x: real[3]; d: bool[]; }} @output {{ y: real[3]; }} \
             @compose {{ {statements} }} }}"
        )
    }

    #[test]
    fn s2_4_1_null_may_have_a_name() {
        for statements in [
            "t = c ? x; y = t ?? x;",
            "t = c ? x; u = t; y = more(x, u);",
            "t = c ? x; y = if ?t then add(x, t) else x;",
            "ts..(2) = c ? [x, x]; us..(2) = ts ?? [x, x]; y = us[1];",
        ] {
            for condition in [true, false] {
                let text = graph(condition, statements);
                assert_silent(&in_document(&text));
                assert_composes(&text);
            }
        }
    }
}
