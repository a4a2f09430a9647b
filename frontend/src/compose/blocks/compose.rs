// SPDX-License-Identifier: Apache-2.0
//! `@compose` and `@update`: components, targets, blocks (2.10, 2.11).

use crate::ast::{
    self, Component, ComponentValue, Declaration, DefinitionKind, Ident, PackSpec, Target, TargetItem,
    TypeSpec,
};
use crate::compose::blocks::update::is_variable;
use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::invocations::builder::Builder;
use crate::diagnostics::codes::{RANK_MISMATCH, RESULTS_MISMATCH, UNEXPECTED_VALUE};
use crate::diagnostics::{Diagnostic, counted};
use crate::eval::{Atom, Pack, Value};
use crate::model::Body;
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    pub(crate) fn composed(&mut self, builder: &mut Builder<'p>) -> Composed<()> {
        let definition = builder.found.definition;
        let before = self.error_count();
        // 2.10: a composite with one component and without tensors of its own adds no scope.
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
        if self.error_count() > before {
            self.compare_outputs_that_are_known(builder);
            return Err(Reported);
        }
        self.composed_outputs(builder)?;
        let block = builder.blocks.pop().unwrap_or_default();
        builder.function.body = Body::Block(block);
        Ok(())
    }

    /// Composes one statement; results that fail become poison.
    fn component(&mut self, builder: &mut Builder<'p>, component: &Component, scoped: bool) {
        let hint = if scoped { label_of(component) } else { None };
        let wanted = component.targets.len();
        builder.capacities = self.capacities(builder, component);
        let results = self
            .statement_value(builder, &component.value, hint.as_deref(), wanted)
            .and_then(|results| self.assign(builder, component, results))
            .and_then(|()| self.settle_here(builder));
        builder.capacities = Vec::new();
        if results.is_err() {
            for name in target_names(component) {
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
            return Err(self.report(
                Diagnostic::error(&RESULTS_MISMATCH, component.span, message)
                    .with_help("name each result; `~` drops one"),
            ));
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
                        self.counted(builder, pack, stack, *span)?
                    }
                    (_, value) => value,
                };
                match (pack, &value) {
                    (Some(pack), Value::Pack(actual)) => {
                        if let Some(length) = self.target_length(builder, pack)?
                            && length != actual.len()
                        {
                            return Err(self.error(
                                &RESULTS_MISMATCH,
                                *span,
                                format!(
                                    "`{}` is written with {length} items, the result has {}",
                                    name.name,
                                    actual.len()
                                ),
                            ));
                        }
                    }
                    (Some(_), Value::Atom(atom)) if !matches!(atom, Atom::Stack(_)) => {
                        return Err(self.error(
                            &RESULTS_MISMATCH,
                            *span,
                            format!("`{}` is written as a pack, the result is a single tensor", name.name),
                        ));
                    }
                    _ => {}
                }
                self.set_name(builder, name, type_spec.as_ref(), value)
            }
            TargetItem::Zip { span, .. } => Err(self.error(
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
                let outputs = &builder.found.definition.outputs;
                let output = outputs.iter().find(|o| o.name.name == name.name);
                let declared = spec.or(output.map(|o: &Declaration| &o.type_spec));
                let declared = declared.map(|spec| spec.base.clone());
                let kind = match declared {
                    Some(base) => Some(self.tensor_kind(builder, &base)?),
                    None => atom.kind(),
                };
                let Some(kind) = kind else {
                    return Err(self.error(
                        &UNEXPECTED_VALUE,
                        name.span,
                        format!("`{}` must be a tensor, this is {}", name.name, atom.text()),
                    ));
                };
                Value::Atom(Atom::Tensor(self.tensor_of(builder, &atom, kind, name.span)?))
            }
            value => value,
        };
        self.check_ranks(name, &value, name.span)?;
        if let Some(spec) = spec {
            self.check_written(builder, name, spec, &value, name.span)?;
        }
        // A variable's new value is stored unchanged, and quantized when it is read.
        let kept = builder.quantizers.is_empty() || is_variable(&builder.found.definition.variables, name);
        let value = if kept { value } else { self.simulated(builder, &name.name, value)? };
        let packed = matches!(value, Value::Pack(_));
        for (item, atom) in value.atoms().iter().enumerate() {
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
            self.name_output(builder, name, &value)?;
        }
        self.name_value(builder, &name.name, value, name.span)
    }

    /// 2.3: the tensors of a pack have one rank, which the type of the pack states.
    pub(crate) fn check_ranks(&mut self, name: &Ident, value: &Value, span: Span) -> Composed<()> {
        let Value::Pack(pack) = value else {
            return Ok(());
        };
        let mut tensors = pack.items.iter().filter_map(|atom| match atom {
            Atom::Tensor(tensor) => Some(&tensor.tensor),
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
        let message = format!("the tensors of the pack `{name}` have one rank; here are {first} and {other}");
        Err(self.error(&RANK_MISMATCH, span, message))
    }

    pub(crate) fn target_length(
        &mut self,
        builder: &Builder<'p>,
        pack: &PackSpec,
    ) -> Composed<Option<usize>> {
        let Some(expr) = &pack.length else {
            return Ok(None);
        };
        let result = {
            let mut evaluator = builder.evaluator(self.limits);
            match evaluator.int(expr) {
                Ok(Some(n)) => evaluator.length(n, expr.span).map(Some),
                Ok(None) => Ok(None),
                Err(stop) => Err(stop),
            }
        };
        result.map_err(|s| self.failed(s))
    }

    /// The number of tensors that an item on the left side receives; `None`: the rest.
    pub(crate) fn item_length(
        &mut self,
        builder: &Builder<'p>,
        item: &TargetItem,
    ) -> Composed<Option<usize>> {
        let (pack, together) = match item {
            TargetItem::Omitted(_) => (&None, 1),
            TargetItem::Name { pack, .. } => (pack, 1),
            TargetItem::Zip { names, pack, .. } => (pack, names.len()),
        };
        let length = match pack {
            Some(pack) => self.target_length(builder, pack)?,
            None => Some(1),
        };
        Ok(length.map(|n| n.saturating_mul(together)))
    }

    /// `[a, b..(k), (e, f)..] = pack`.
    fn assign_list(
        &mut self,
        builder: &mut Builder<'p>,
        items: &[TargetItem],
        value: Value,
        span: Span,
    ) -> Composed<()> {
        let mut lengths = Vec::with_capacity(items.len());
        for item in items {
            lengths.push(self.item_length(builder, item)?);
        }
        let known: usize = lengths.iter().flatten().sum();
        let open = lengths.iter().filter(|l| l.is_none()).count();
        let value = match value {
            Value::Atom(Atom::Stack(stack)) if open > 0 => {
                return self.assign_rest(builder, (items, &lengths), &stack, span);
            }
            Value::Atom(Atom::Stack(stack)) => self.items_of(builder, &stack, known, span)?,
            value => value,
        };
        let Value::Pack(whole) = &value else {
            return Err(self.error(&RESULTS_MISMATCH, span, "a single tensor cannot be destructured"));
        };
        let rest = match (whole.len().checked_sub(known), open) {
            (Some(0), 0) => 0,
            (Some(rest), 1) => rest,
            _ => {
                let least = if open > 0 { "at least " } else { "" };
                return Err(self.error(
                    &RESULTS_MISMATCH,
                    span,
                    format!("the result has {} tensors, but the left side has {least}{known}", whole.len()),
                ));
            }
        };
        let mut position = 0;
        for (item, length) in items.iter().zip(lengths) {
            let length = length.unwrap_or(rest);
            let taken: Vec<Atom> = whole.items.iter().skip(position).take(length).cloned().collect();
            position += length;
            match item {
                TargetItem::Omitted(_) => {}
                TargetItem::Name { name, type_spec, pack, .. } => {
                    let value = match pack {
                        None => taken.into_iter().next().map_or(Value::Null, Value::Atom),
                        Some(_) => Value::Pack(Pack::part_of(whole, taken)),
                    };
                    self.set_name(builder, name, type_spec.as_ref(), value)?;
                }
                TargetItem::Zip { names, pack, span } => {
                    if names.is_empty() || !length.is_multiple_of(names.len()) {
                        return Err(self.error(
                            &RESULTS_MISMATCH,
                            *span,
                            format!("{length} tensors cannot be dealt to {} packs", names.len()),
                        ));
                    }
                    for (offset, name) in names.iter().enumerate() {
                        let dealt: Vec<Atom> =
                            taken.iter().skip(offset).step_by(names.len()).cloned().collect();
                        let value = match (pack, dealt.first()) {
                            (None, Some(single)) => Value::Atom(single.clone()),
                            _ => Value::Pack(Pack::part_of(whole, dealt)),
                        };
                        self.set_name(builder, name, None, value)?;
                    }
                }
            }
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
        let value = self.tensors(builder, expr)?;
        match &value {
            // A list may have several results.
            Value::Pack(pack) if wanted > 1 && pack.len() == wanted => {
                Ok(pack.items.iter().cloned().map(Value::Atom).collect())
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
                    return Err(self.report(
                        Diagnostic::error(
                            &UNEXPECTED_VALUE,
                            expr.span,
                            "this is null here, but the result must be tensors",
                        )
                        .with_help(
                            "write it where null has a meaning: `(c ? x) ?? y`, or as an optional input",
                        ),
                    ));
                }
                Ok(results)
            }
            ComponentValue::Block(block) => self.block(builder, block, hint),
            ComponentValue::If(branching) => self.branching(builder, branching, hint, wanted),
            ComponentValue::Loop(looping) => self.looping(builder, looping, hint, wanted),
            ComponentValue::Error(_) => Err(Reported),
        }
    }

    /// A block: its names end with it, its yielded values are its results.
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
            match self.tensors(builder, expr) {
                Ok(value) if value.is_null() => {
                    self.error(&UNEXPECTED_VALUE, expr.span, "a yielded value is null here");
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

/// 2.10: a single result's name labels the invocation; of several results, the first.
pub(crate) fn label_of(component: &Component) -> Option<String> {
    target_names(component).first().map(|n| n.name.clone())
}

pub(crate) fn target_names(component: &Component) -> Vec<&Ident> {
    let mut names = Vec::new();
    for target in &component.targets {
        match target {
            Target::Item(item) => item_names(item, &mut names),
            Target::List { items, .. } => {
                for item in items {
                    item_names(item, &mut names);
                }
            }
        }
    }
    names
}

fn item_names<'a>(item: &'a TargetItem, names: &mut Vec<&'a Ident>) {
    match item {
        TargetItem::Name { name, .. } => names.push(name),
        TargetItem::Zip { names: zipped, .. } => names.extend(zipped),
        TargetItem::Omitted(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::check::testing::{assert_fires, assert_silent, in_document};
    use crate::compose::testing::assert_composes;
    use crate::diagnostics::codes::{ARGUMENT_TYPE, ASSIGNED_TYPE, YIELD_OPTIONAL};

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

    #[test]
    fn s2_12_packed_indices_access_all_tensors_of_an_empty_pack() {
        for items in ["", "x", "x, x"] {
            assert_composes(&format!(
                "operator o {{ @input {{ x: real[s..]; xs: real[s..]..(n); }} @output {{ y: real[s..]; }} \
                 @lower {{ y[i..] = x[i..] + (xs[i..] + ..), i < s; }} }} \
                 graph G {{ @input {{ x: real[2]; }} @output {{ y: real[2]; }} @compose {{ y = o(x, [{items}]); }} }}"
            ));
        }
    }

    #[test]
    fn s2_4_1_what_may_be_null_is_refused_whatever_the_condition() {
        for condition in [true, false] {
            let fires = |code, statements: &str| {
                assert_fires(code, &in_document(&graph(condition, statements)));
            };
            fires(&ARGUMENT_TYPE, "t = c ? x; y = add(x, t);");
            fires(&ARGUMENT_TYPE, "y = add(x, c ? x);");
            fires(&ASSIGNED_TYPE, "t = c ? x; y = t;");
            fires(&ASSIGNED_TYPE, "[a, b] = c ? [x, x]; y = a;");
            fires(&YIELD_OPTIONAL, "t = c ? x; y = if d then t else x;");
            fires(&YIELD_OPTIONAL, "y = with s = x do..(2) (c ? s);");
        }
    }
}
