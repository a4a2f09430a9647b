// SPDX-License-Identifier: Apache-2.0
//! Checks the outputs of a composition against their declarations (2.6, 2.10).

use crate::ast::{Declaration, ExprKind, Ident, TypeSpec};
use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::declarations::tensors::{DeclaredExtent, set_tensors};
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::checks::{Verdict, equality, keep, parts, text};
use crate::compose::shapes::upper_bound::Tested;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{OUTPUT_MISMATCH, TENSOR_UNKNOWN, UNEXPECTED_VALUE};
use crate::eval::ranges::{decided, extent_expr};
use crate::eval::{Atom, TensorRef, Value};
use crate::model::shape_text;
use crate::model::{Check, CheckKind, Extent, MessagePart, Port, PortTensors};
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    /// Takes the outputs of a composition from the scope and checks them against their declarations.
    pub(crate) fn composed_outputs(&mut self, builder: &mut Builder<'p>) -> Composed<()> {
        let definition = builder.found.definition;
        let mut result = Ok(());
        for declaration in &definition.outputs {
            match self.composed_output(builder, declaration) {
                Ok(port) => builder.function.outputs.push(port),
                Err(reported) => result = Err(reported),
            }
        }
        result
    }

    /// Reports, along with errors in the body, the outputs that do not depend on them.
    pub(crate) fn compare_outputs_that_are_known(&mut self, builder: &mut Builder<'p>) {
        for declaration in &builder.found.definition.outputs {
            let spec = &declaration.type_spec;
            let extents = spec.shape.iter().flatten();
            let lengths = extents.clone().filter_map(|extent| extent.pack.as_ref());
            let lengths = lengths.chain(&spec.pack).map(|pack| &pack.length);
            let mut named = extents.map(|e| &e.extent).chain(lengths).flatten();
            let value = builder.scope.get(&declaration.name.name);
            let is_known = value.is_some_and(|value| !value.is_poisoned() && !value.is_null());
            if is_known && named.all(|expr| Self::unknown_names(builder, expr).is_empty()) {
                // Only its diagnostics are needed.
                let _ = self.composed_output(builder, declaration);
            }
        }
    }

    fn composed_output(&mut self, builder: &mut Builder<'p>, declaration: &Declaration) -> Composed<Port> {
        let name = &declaration.name.name;
        let Some(value) = builder.scope.get(name).cloned() else {
            return Err(self.error(
                &TENSOR_UNKNOWN,
                declaration.span,
                format!("output `{name}` is not assigned"),
            ));
        };
        if value.is_poisoned() {
            return Err(Reported);
        }
        if value.is_null() {
            return Err(self.error(
                &UNEXPECTED_VALUE,
                declaration.span,
                format!("output `{name}` is null here"),
            ));
        }
        let value = match (&declaration.type_spec.pack, value) {
            (Some(pack), Value::Atom(Atom::Stack(stack))) => {
                self.counted(builder, pack, stack, declaration.span)?
            }
            (_, value) => value,
        };
        let kind = self.tensor_kind(builder, &declaration.type_spec.base)?;
        if let Value::Atom(Atom::Stack(stack)) = &value
            && declaration.type_spec.pack.is_some()
        {
            return self.stack_output(builder, declaration, stack);
        }
        let items = self.materialize(builder, &value, kind, declaration.span)?;
        let packed = matches!(value, Value::Pack(_));
        if packed != declaration.type_spec.pack.is_some() {
            let (declared, given) =
                if packed { ("a single tensor", "a pack") } else { ("a pack", "a single tensor") };
            return Err(self.error(
                &OUTPUT_MISMATCH,
                declaration.span,
                format!("output `{name}` is declared as {declared}, but computed as {given}"),
            ));
        }
        if packed && declaration.type_spec.pack.as_ref().is_some_and(|p| p.length.is_some()) {
            let pack = declaration.type_spec.pack.as_ref();
            if let Some(pack) = pack {
                self.name_length(builder, pack, items.len());
            }
            let length = self.declared_length(builder, declaration)?;
            if length.is_some_and(|n| n != items.len()) {
                return Err(self.error(
                    &OUTPUT_MISMATCH,
                    declaration.span,
                    format!(
                        "output `{name}` is declared with {} tensors, {} are computed",
                        length.unwrap_or(0),
                        items.len()
                    ),
                ));
            }
        }
        let what = format!("output `{name}`");
        for (item, tensor) in items.iter().enumerate() {
            let produced =
                builder.function.values.get(tensor.id.0 as usize).map_or(declaration.span, |v| v.span);
            self.check_declared(builder, declaration, &what, item, tensor, produced)?;
        }
        if packed
            && items.is_empty()
            && let Some(item) = self.item_of_none(builder, declaration)?
        {
            let position = builder.function.outputs.len();
            builder.function.items_of_none.push((position, item));
        }
        let ids: Vec<_> = items.iter().map(|t| t.id).collect();
        builder.tensors.insert(name.clone());
        Ok(Port {
            name: name.clone(),
            tensors: match (packed, ids.first()) {
                (false, Some(single)) => PortTensors::Single(*single),
                _ => PortTensors::Pack(ids),
            },
            span: declaration.name.span,
        })
    }

    /// An assigned output defines the names of its dynamic extents and of its length, for later statements (2.10.1).
    pub(crate) fn name_output(
        &mut self,
        builder: &mut Builder<'p>,
        name: &Ident,
        value: &Value,
    ) -> Composed<()> {
        let mut outputs = builder.found.definition.outputs.iter();
        let Some(declaration) = outputs.find(|o| o.name.name == name.name) else {
            return Ok(());
        };
        if let Some(pack) = &declaration.type_spec.pack {
            match value {
                Value::Pack(items) => self.name_length(builder, pack, items.len()),
                Value::Atom(Atom::Stack(stack)) => {
                    if let Some(length) = stack.tensor.shape.first() {
                        self.name_run_time_length(builder, pack, length, name.span)?;
                    }
                }
                _ => {}
            }
        }
        match value.atoms().first() {
            Some(Atom::Tensor(tensor)) => {
                Self::name_extents(builder, declaration, &tensor.tensor.shape);
            }
            Some(Atom::Stack(stack)) => {
                let shape = stack.tensor.shape.get(1..).unwrap_or_default();
                Self::name_extents(builder, declaration, shape);
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks the results of a statement, or the initial value of a loop variable, against the written type and shape,
    /// `t: real[2,n] = …` (2.10.1, 2.16).
    pub(crate) fn check_written(
        &mut self,
        builder: &mut Builder<'p>,
        name: &Ident,
        spec: &TypeSpec,
        value: &Value,
        computed: Span,
    ) -> Composed<()> {
        let declaration = Declaration {
            name: name.clone(),
            type_spec: spec.clone(),
            default: None,
            bounds: Vec::new(),
            span: name.span.to(spec.span),
        };
        let what = format!("`{}`", name.name);
        for (item, atom) in value.atoms().iter().enumerate() {
            match atom {
                Atom::Tensor(tensor) => {
                    self.check_declared(builder, &declaration, &what, item, tensor, computed)?;
                }
                Atom::Stack(stack) => self.check_stack(builder, &declaration, &what, stack)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Adds a run-time check of a length or an extent: after the body; in a branch or a loop, as soon as the tensor
    /// exists.
    pub(crate) fn test_result(&mut self, builder: &mut Builder<'p>, check: Check) -> Composed<()> {
        if builder.blocks.len() != 1 {
            return self.check_here(builder, check);
        }
        keep(&mut builder.function.result_checks, check);
        Ok(())
    }

    /// Checks a computed tensor against a declaration; `what` is its name in messages.
    pub(crate) fn check_declared(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
        what: &str,
        item: usize,
        tensor: &TensorRef,
        produced: Span,
    ) -> Composed<()> {
        let kind = self.tensor_kind(builder, &declaration.type_spec.base)?;
        let mismatch = |declared: String, computed: String| {
            Diagnostic::error(
                &OUTPUT_MISMATCH,
                declaration.span,
                format!("{what} is declared as {declared}, but computed as {computed}"),
            )
            .with_label_at(produced, "computed here")
        };
        if tensor.tensor.kind != kind {
            let diagnostic = mismatch(kind.name().to_string(), tensor.tensor.kind.name().to_string());
            return Err(self.report(diagnostic));
        }
        Self::name_extents(builder, declaration, &tensor.tensor.shape);
        let Some(shape) = self.declared_shape(builder, declaration, item, Tested::Behind)? else {
            return Ok(());
        };
        let mut agrees = shape.len() == tensor.tensor.shape.len();
        let mut open = Vec::new();
        for (dimension, (declared, computed)) in shape.iter().zip(&tensor.tensor.shape).enumerate() {
            match output_verdict(declared, computed) {
                Verdict::Holds => {}
                Verdict::Fails => agrees = false,
                Verdict::Open(condition) => open.push((dimension, condition, declared, computed)),
            }
        }
        if agrees {
            for (dimension, condition, declared, computed) in open {
                let mut message = Vec::new();
                text(&format!("extent {dimension} of {what} must be "), &mut message);
                match declared {
                    DeclaredExtent::Is(extent) => extent_part(extent, &mut message),
                    DeclaredExtent::Bounded(bound) => {
                        text("at most ", &mut message);
                        parts(&Value::Atom(Atom::from_expr(bound.own.clone())), &mut message);
                    }
                    DeclaredExtent::Any => {}
                }
                text(", it is ", &mut message);
                extent_part(computed, &mut message);
                let check = Check { kind: CheckKind::Extent, condition, message, span: declaration.span };
                self.test_result(builder, check)?;
            }
            return Ok(());
        }
        let declared: Vec<String> = shape
            .iter()
            .map(|extent| match extent {
                DeclaredExtent::Any => "~".to_string(),
                DeclaredExtent::Bounded(bound) => format!("~|{}", bound.most),
                DeclaredExtent::Is(extent) => extent.to_string(),
            })
            .collect();
        let diagnostic = mismatch(
            format!("{}[{}]", kind.name(), declared.join(",")),
            format!("{}{}", kind.name(), shape_text(&tensor.tensor.shape)),
        );
        Err(self.report(diagnostic))
    }
}

impl<'p> Composer<'p, '_> {
    /// `r|8` with a new name r: it denotes the computed extent, in other outputs too.
    fn name_extents(builder: &mut Builder<'p>, declaration: &Declaration, shape: &[Extent]) {
        let specs = declaration.type_spec.shape.as_deref().unwrap_or_default();
        let rank = shape.len();
        let packs = specs.iter().filter(|s| s.pack.is_some()).count();
        if packs > 1 || specs.len() > rank + packs {
            // The declared shape is compared as a whole.
            return;
        }
        let mut start = 0;
        for spec in specs {
            let length = match spec.pack {
                Some(_) => rank + packs - specs.len(),
                None => 1,
            };
            let dimensions = start..start + length;
            start += length;
            let (Some(expr), Some(_)) = (&spec.extent, &spec.bound) else {
                continue;
            };
            let ExprKind::Name(name) = &expr.kind else {
                continue;
            };
            if builder.scope.get(&name.name).is_some() {
                continue;
            }
            let computed = shape.get(dimensions);
            let computed = computed.unwrap_or_default().iter();
            let atoms: Vec<Atom> = computed.map(|e| Atom::from_expr(extent_expr(e))).collect();
            set_tensors(builder, &name.name, atoms, spec.pack.is_some());
        }
    }
}

/// Checks a computed extent against the declared one. Dynamic extents with different expressions may still be equal.
fn output_verdict(declared: &DeclaredExtent, computed: &Extent) -> Verdict {
    match declared {
        DeclaredExtent::Any => Verdict::Holds,
        DeclaredExtent::Bounded(bound) => {
            let holds = bound.holds(extent_expr(computed));
            match decided(&holds) {
                Some(true) => Verdict::Holds,
                Some(false) => Verdict::Fails,
                None => Verdict::Open(holds),
            }
        }
        DeclaredExtent::Is(extent) => {
            equality(&Atom::from_expr(extent_expr(extent)), &Atom::from_expr(extent_expr(computed)))
        }
    }
}

fn extent_part(extent: &Extent, message: &mut Vec<MessagePart>) {
    parts(&Value::Atom(Atom::from_expr(extent_expr(extent))), message);
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::composed;

    /// Output extents that differ are reported along with failing invocations, but only if they do not depend on them.
    #[test]
    fn wrong_outputs_are_reported_with_other_errors() {
        let found = |graph: &str| {
            let text = format!(
                "operator half {{ @input {{ x: real[2 * n]; }} @output {{ y: real[n]; }} @lower {{ y[i,] = x[i,], i < n; }} }} \
                 graph G {{ @input {{ x: real[5]; z: real[3]; }} {graph} }}"
            );
            let found = composed(&text).err().unwrap_or_default();
            let codes = found.iter().map(|d| d.code.id);
            codes.collect::<Vec<_>>()
        };
        let three = found(
            "@output { y: real[2]; w: real[3]; u: real[7]; } @compose { y = half(x); w = half(z); u = z; }",
        );
        assert_eq!(three, ["SK0652", "SK0652", "SK0655"]);
        let rests = found(
            "@output { y: real[m|9]; w: real[m]; u: real[3]; } @compose { y = half(x); w = z; u = z; }",
        );
        assert_eq!(rests, ["SK0652"]);
    }
}
