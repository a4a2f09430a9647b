// SPDX-License-Identifier: Apache-2.0
//! Binding of an invocation: types, attributes, inputs, in the order of 2.6.1.

use std::rc::Rc;

use skript_semantics::ScalarKind;

use crate::ast::{BlockKind, Declaration, Expr, TypeSpec};
use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::invocations::arguments::{Argument, ArgumentItem, ArgumentList};
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::coercion::{coerced, converts};
use crate::compose::shapes::affine_extent::{Bound, collect_names};
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{
    ARGUMENT_COUNT, ARGUMENT_KIND, ATTRIBUTE_LENGTH, ATTRIBUTE_MISSING, ATTRIBUTE_VALUE, SHAPE_NOT_BOUND,
};
use crate::eval::value::count;
use crate::eval::{Atom, Pack, TypeName, Value};
use crate::model::{self, Extent, Port, PortTensors, TensorType};
use crate::source::Span;

impl<'p> Composer<'p, '_> {
    pub(crate) fn bind(&mut self, builder: &mut Builder<'p>, list: &ArgumentList) -> Composed<()> {
        self.deduce_types(builder, list)?;
        self.given_attributes(builder, list)?;
        if builder.entry {
            // No arguments determine these lengths, and inputs may be declared by them.
            self.packed_lengths(builder, list)?;
        }
        self.bind_inputs(builder, list)?;
        self.spread_attributes(builder, list)?;
        self.deferred_attributes(builder, list)?;
        self.attribute_lengths(builder, list)
    }

    /// Step 1: given values and constant defaults; reports all that do not have the declared type.
    fn given_attributes(&mut self, builder: &mut Builder<'p>, list: &ArgumentList) -> Composed<()> {
        let mut bound = Ok(());
        for attribute in &builder.found.definition.attributes {
            bound = self.given_attribute(builder, attribute, list).and(bound);
        }
        bound
    }

    fn given_attribute(
        &mut self,
        builder: &mut Builder<'p>,
        attribute: &Declaration,
        list: &ArgumentList,
    ) -> Composed<()> {
        let name = &attribute.name.name;
        match list.attributes.get(name) {
            Some((Value::Null, span)) if !attribute.type_spec.optional && attribute.default.is_none() => {
                return Err(self.missing_attribute(builder.entry, attribute, *span));
            }
            // A null value counts as none; the default is used.
            Some((Value::Null, _)) if !attribute.type_spec.optional => {}
            Some((value, span)) => {
                let value = self.attribute_value(builder, attribute, value, *span)?;
                return self.name_value(builder, name, value, *span);
            }
            None => {}
        }
        match &attribute.default {
            None if attribute.type_spec.optional => {
                builder.scope.set(name.clone(), Value::Null);
            }
            None => {
                let location = if builder.entry { attribute.span } else { list.invocation };
                return Err(self.missing_attribute(builder.entry, attribute, location));
            }
            Some(default) => {
                let mut names = Vec::new();
                collect_names(default, &mut names);
                if names.is_empty() {
                    self.default_attribute(builder, attribute, default, list)?;
                }
            }
        }
        Ok(())
    }

    fn missing_attribute(&mut self, entry: bool, attribute: &Declaration, span: Span) -> Reported {
        let name = &attribute.name.name;
        self.report(
            Diagnostic::error(&ATTRIBUTE_MISSING, span, format!("attribute `{name}` has no value"))
                .with_label_at(
                    attribute.span,
                    match attribute.default {
                        Some(_) => "the default is null here",
                        None => "declared here without a default",
                    },
                )
                .with_help(if entry {
                    format!("write a default, or pass `--set {name}=…`")
                } else {
                    format!("write `{{{name}=…}}`")
                }),
        )
    }

    pub(crate) fn default_attribute(
        &mut self,
        builder: &mut Builder<'p>,
        attribute: &Declaration,
        default: &Expr,
        list: &ArgumentList,
    ) -> Composed<()> {
        let value = builder.evaluator(self.limits).eval(default);
        let value = value.map_err(|s| self.failed(s))?;
        if value.is_null() {
            // 2.5: an optional default that is null counts as none.
            let location = if builder.entry { attribute.span } else { list.invocation };
            return Err(self.missing_attribute(builder.entry, attribute, location));
        }
        let value = self.attribute_value(builder, attribute, &value, default.span)?;
        self.name_value(builder, &attribute.name.name, value, default.span)
    }

    /// The value converted to the declared type.
    fn attribute_value(
        &mut self,
        builder: &Builder<'p>,
        attribute: &Declaration,
        value: &Value,
        span: Span,
    ) -> Composed<Value> {
        let spec = &attribute.type_spec;
        let declared = self.named_type(builder, &spec.base)?;
        let packed = spec.pack.is_some();
        let converted = coerced(value, declared);
        let fits = packed || !matches!(value, Value::Pack(_) | Value::Atom(Atom::Series(_)));
        match converted {
            Some(value) if fits => Ok(value),
            _ => {
                let pack = if packed { ".." } else { "" };
                Err(self.report(
                    Diagnostic::error(
                        &ATTRIBUTE_VALUE,
                        span,
                        format!(
                            "attribute `{}` is {}{pack}, it cannot be {}",
                            attribute.name.name,
                            declared.name(),
                            value.text()
                        ),
                    )
                    .with_label_at(attribute.span, "declared here"),
                ))
            }
        }
    }

    pub(crate) fn named_type(
        &mut self,
        builder: &Builder<'p>,
        name: &crate::ast::Ident,
    ) -> Composed<TypeName> {
        let result = builder.evaluator(self.limits).type_named(name);
        result.map_err(|s| self.failed(s))
    }

    /// The element kind of a declared tensor.
    pub(crate) fn tensor_kind(
        &mut self,
        builder: &Builder<'p>,
        name: &crate::ast::Ident,
    ) -> Composed<ScalarKind> {
        match self.named_type(builder, name)? {
            TypeName::Scalar(kind) => Ok(kind),
            TypeName::Str => {
                Err(self.error(&ARGUMENT_KIND, name.span, "tensors cannot have elements of type str"))
            }
        }
    }

    /// Step 2: binds inputs in binding order.
    fn bind_inputs(&mut self, builder: &mut Builder<'p>, list: &ArgumentList) -> Composed<()> {
        let definition = builder.found.definition;
        if list.arguments.len() > definition.inputs.len() {
            return Err(self.report(
                Diagnostic::error(
                    &ARGUMENT_COUNT,
                    list.span(definition.inputs.len()),
                    format!(
                        "`{}` has {} inputs, but there are {} arguments",
                        definition.name.name,
                        definition.inputs.len(),
                        list.arguments.len()
                    ),
                )
                .with_label_at(definition.name.span, "declared here"),
            ));
        }
        let mut ports: Vec<Option<Port>> = vec![None; definition.inputs.len()];
        let mut remaining: Vec<usize> = Vec::new();
        let mut last: Vec<usize> = Vec::new();
        // Fixed extents come first: they give values to names that other inputs share.
        let fixed = |input: &Declaration| builder.entry && self.input_shapes.contains_key(&input.name.name);
        let (first, then): (Vec<_>, Vec<_>) =
            definition.inputs.iter().enumerate().partition(|(_, input)| fixed(input));
        for (index, input) in first.into_iter().chain(then) {
            let given = if builder.entry {
                !self.is_absent(input)
            } else {
                !matches!(list.arguments.get(index), None | Some(Argument::Null))
            };
            if given && !input.type_spec.optional {
                remaining.push(index);
            } else {
                last.push(index);
            }
        }
        let mut failure = None;
        let mut may_be_optional = false;
        let mut declared = !builder.entry;
        while !remaining.is_empty() {
            let mut waiting = Vec::new();
            let before = remaining.len();
            for index in remaining {
                match self.try_input(builder, list, index)? {
                    Some(port) => {
                        if let Some(slot) = ports.get_mut(index) {
                            *slot = Some(port);
                        }
                    }
                    None => waiting.push(index),
                }
            }
            if waiting.len() == before && !declared {
                declared = true;
                for input in waiting.iter().filter_map(|i| definition.inputs.get(*i)) {
                    self.declare_bounded(builder, input)?;
                }
            } else if waiting.len() == before {
                if may_be_optional || last.is_empty() {
                    failure = waiting.first().copied();
                    break;
                }
                may_be_optional = true;
                waiting.append(&mut last);
            }
            remaining = waiting;
        }
        if failure.is_none() {
            let mut waiting = last;
            loop {
                let before = waiting.len();
                let mut next = Vec::new();
                for index in waiting {
                    match self.try_input(builder, list, index)? {
                        Some(port) => {
                            if let Some(slot) = ports.get_mut(index) {
                                *slot = Some(port);
                            }
                        }
                        None => next.push(index),
                    }
                }
                waiting = next;
                if waiting.is_empty() {
                    break;
                }
                if waiting.len() == before {
                    failure = waiting.first().copied();
                    break;
                }
            }
        }
        if let Some(index) = failure
            && let Some(input) = definition.inputs.get(index)
        {
            if let Some(extent) = Self::unknown_extent_of_default(builder, input) {
                return Err(self.report_unknown_extent(input, extent, list.invocation));
            }
            if builder.entry {
                // Reports the name without a value.
                self.graph_input(builder, input)?;
            }
            return Err(self.report(
                Diagnostic::error(
                    &SHAPE_NOT_BOUND,
                    input.type_spec.span,
                    format!("the shape of input `{}` has several parts of unknown length", input.name.name),
                )
                .with_label_at(list.invocation, "invoked here"),
            ));
        }
        builder.function.inputs = ports.into_iter().flatten().collect();
        Ok(())
    }

    /// Binds one input; `None` if its shape cannot be bound yet.
    fn try_input(
        &mut self,
        builder: &mut Builder<'p>,
        list: &ArgumentList,
        index: usize,
    ) -> Composed<Option<Port>> {
        let definition = builder.found.definition;
        let Some(input) = definition.inputs.get(index) else {
            return Ok(None);
        };
        self.spread_attributes(builder, list)?;
        let name = input.name.name.clone();
        let what = format!("input `{name}`");
        let absent = builder.entry && self.is_absent(input);
        if builder.entry && !absent {
            self.replaced_default(builder, input);
        }
        let fixed = match self.input_shapes.get(&name) {
            Some(shapes) if builder.entry && !absent => {
                let shapes = shapes.clone();
                Some(self.fixed_input(builder, input, shapes)?)
            }
            _ => None,
        };
        if builder.entry && !absent && fixed.is_none() {
            if Self::awaits_others(builder, input) {
                return Ok(None);
            }
            return self.graph_input(builder, input).map(Some);
        }
        let location = match fixed {
            Some(_) => input.name.span,
            None => list.span(index),
        };
        let argument = fixed.as_ref().or(list.arguments.get(index));
        let argument = argument.unwrap_or(&Argument::Null);
        let port = |tensors| Some(Port { name: name.clone(), tensors, span: input.name.span });
        let spec = &input.type_spec;
        if let Argument::Null = argument {
            if let Some(default) = &input.default {
                if Self::unknown_extent_of_default(builder, input).is_some() {
                    return Ok(None);
                }
                self.default_input(builder, input, default)?;
                return Ok(port(PortTensors::Null));
            }
            if !spec.optional {
                return Err(self.report(
                    Diagnostic::error(&ARGUMENT_COUNT, location, format!("input `{name}` has no argument"))
                        .with_label_at(input.span, "declared here"),
                ));
            }
            builder.scope.set(name.clone(), Value::Null);
            self.null_symbols(builder, input);
            return Ok(port(PortTensors::Null));
        }
        let kind = self.tensor_kind(builder, &spec.base)?;
        for item in argument.telling() {
            let fits = match item {
                ArgumentItem::Tensor(tensor) => tensor.kind == kind,
                ArgumentItem::Scalar(scalar) => converts(*scalar, kind),
            };
            if !fits {
                return Err(self.report(
                    Diagnostic::error(
                        &ARGUMENT_KIND,
                        location,
                        format!("{what} is {}, this is {}", kind.name(), item.kind().name()),
                    )
                    .with_label_at(input.span, "declared here"),
                ));
            }
        }
        let packed = spec.pack.is_some();
        let is_pack = matches!(argument, Argument::Pack(_) | Argument::Empty(_) | Argument::Stack(..));
        if packed != is_pack {
            let (declared, given) =
                if packed { ("a pack", "a single tensor") } else { ("a single tensor", "a pack") };
            return Err(self.report(
                Diagnostic::error(&ARGUMENT_KIND, location, format!("{what} is {declared}, this is {given}"))
                    .with_label_at(input.span, "declared here"),
            ));
        }
        let known: Vec<TensorType> = argument
            .telling()
            .iter()
            .map(|item| match item {
                ArgumentItem::Tensor(tensor) => (**tensor).clone(),
                ArgumentItem::Scalar(_) => TensorType { kind, shape: Vec::new() },
            })
            .collect();
        let rank = known.first().map(|t| t.shape.len());
        if !self.shape_is_bindable(builder, spec, rank, &what, location)? {
            return Ok(None);
        }
        if let (Some(pack), Argument::Pack(_) | Argument::Empty(_)) = (&spec.pack, argument)
            && let Some(length) = &pack.length
        {
            let what = format!("the length of {what}");
            let bound = Bound { what: &what, location };
            let actual = Value::int(count(argument.items().len()));
            self.check_length_bound(builder, pack, &actual, &bound)?;
            self.unify(builder, length, &actual, &bound)?;
        }
        if let Argument::Stack(_, whole) = argument
            && let Some(pack) = &spec.pack
            && let Some(length) = &pack.length
            && let Some(extent) = whole.shape.first()
        {
            let actual = builder.evaluator(self.limits).extent_atom(extent, location);
            let actual = Value::Atom(actual.map_err(|s| self.failed(s))?);
            let what = format!("the length of {what}");
            let bound = Bound { what: &what, location };
            self.check_length_bound(builder, pack, &actual, &bound)?;
            self.unify(builder, length, &actual, &bound)?;
        }
        let length = self.bound_length(builder, spec, argument, location)?;
        let mut shapes = Vec::with_capacity(known.len());
        for tensor in &known {
            if let Some(first) = rank
                && tensor.shape.len() != first
            {
                return Err(self.error(
                    &crate::diagnostics::codes::RANK_MISMATCH,
                    location,
                    format!(
                        "the tensors of a pack have one rank; here are {first} and {}",
                        tensor.shape.len()
                    ),
                ));
            }
            let mut shape = Vec::new();
            for extent in &tensor.shape {
                let atom = builder.evaluator(self.limits).extent_atom(extent, location);
                shape.push(atom.map_err(|s| self.failed(s))?);
            }
            shapes.push(shape);
        }
        let length = length.as_ref();
        self.bind_shapes(builder, spec, &shapes, packed, length, &what, location)?;
        if let Argument::Stack(_, whole) = argument {
            let value = builder.value(Some(name.clone()), (**whole).clone(), input.name.span);
            let id = value.id;
            let value = builder.one_of(list, list.location(index, 0), value);
            let none = whole.shape.first() == Some(&Extent::Fixed(0));
            let own = if none && builder.found.definition.has_block(BlockKind::Lower) {
                // A formula iterates over static items one by one.
                builder.tensors.insert(name.clone());
                Value::Pack(Pack {
                    kind: Some(kind),
                    tensor: known.into_iter().next().map(Rc::new),
                    ..Pack::new(Vec::new())
                })
            } else {
                Value::Atom(Atom::Stack(value))
            };
            builder.scope.set(name.clone(), own);
            return Ok(port(PortTensors::Stack(id)));
        }
        let mut values = Vec::new();
        let mut atoms = Vec::new();
        let items = argument.items().len();
        let none = known.get(items).cloned().map(Rc::new);
        for (item, tensor) in known.into_iter().take(items).enumerate() {
            let value_name = if packed { format!("{name}:{}", item + 1) } else { name.clone() };
            let value = builder.value(Some(value_name), tensor, input.name.span);
            values.push(value.id);
            let value = builder.one_of(list, list.location(index, item), value);
            atoms.push(Atom::Tensor(value));
        }
        builder.tensors.insert(name.clone());
        if packed {
            // The declaration determines the type of an empty pack.
            let kind = Some(kind);
            let pack = Pack { kind, tensor: none, ..Pack::new(atoms) };
            builder.scope.set(name.clone(), Value::Pack(pack));
            return Ok(port(PortTensors::Pack(values)));
        }
        let (Some(atom), Some(id)) = (atoms.into_iter().next(), values.first()) else {
            return Err(Reported);
        };
        builder.scope.set(name.clone(), Value::Atom(atom));
        Ok(port(PortTensors::Single(*id)))
    }

    /// The length of a pack of dynamic length, as named in its declaration: packs with one name have one length.
    fn bound_length(
        &mut self,
        builder: &Builder<'p>,
        spec: &TypeSpec,
        argument: &Argument,
        location: Span,
    ) -> Composed<Option<Atom>> {
        let whole = match argument {
            Argument::Stack(_, whole) => whole,
            Argument::Empty(_) => return Ok(Some(Atom::Int(0))),
            _ => return Ok(None),
        };
        let mut evaluator = builder.evaluator(self.limits);
        let declared = spec.pack.as_ref().and_then(|p| p.length.as_ref());
        let length = match (declared, whole.shape.first()) {
            (Some(declared), _) => evaluator.eval(declared),
            (None, Some(extent)) => evaluator.extent_atom(extent, location).map(Value::Atom),
            (None, None) => Ok(Value::Null),
        };
        match length.map_err(|s| self.failed(s))? {
            Value::Atom(atom) => Ok(Some(atom)),
            _ => Ok(None),
        }
    }

    /// 2.6.1: names that only an absent input would bind are null.
    fn null_symbols(&mut self, builder: &mut Builder<'p>, input: &Declaration) {
        let mut names = Vec::new();
        let spec = &input.type_spec;
        let mut exprs: Vec<&Expr> = Vec::new();
        exprs.extend(&spec.rank);
        exprs.extend(spec.pack.iter().filter_map(|p| p.length.as_ref()));
        for extent in spec.shape.iter().flatten() {
            exprs.extend(&extent.extent);
            exprs.extend(extent.pack.iter().filter_map(|p| p.length.as_ref()));
        }
        for expr in exprs {
            collect_names(expr, &mut names);
        }
        for name in names {
            if builder.scope.get(&name).is_none() {
                builder.scope.set(name, Value::Null);
            }
        }
    }

    /// Whether the entry graph's run omits an input: one with a default unless it is given, an optional one if it is
    /// declared absent.
    fn is_absent(&self, input: &Declaration) -> bool {
        let name = &input.name.name;
        match input.default {
            Some(_) => !self.given_inputs.contains(name),
            None => input.type_spec.optional && self.absent_inputs.contains(name),
        }
    }

    /// Whether an extent of an input of the entry graph, or its bound, uses a name that only another input can bind:
    /// `real[s]` or `real[r|s]` where `real[s|4]` comes later (2.6.1).
    fn awaits_others(builder: &Builder<'p>, input: &Declaration) -> bool {
        if Self::length_awaits_others(builder, input) {
            return true;
        }
        let extents = || input.type_spec.shape.iter().flatten();
        let bounded = extents().filter(|extent| extent.bound.is_some());
        let names = bounded.flat_map(|extent| &extent.extent);
        let own: Vec<String> = names.flat_map(|expr| Self::unknown_names(builder, expr)).collect();
        extents().any(|extent| {
            let known = extent.bound.as_ref().or(extent.extent.as_ref());
            let names = known.map(|expr| Self::unknown_names(builder, expr));
            let mut names = names.into_iter().flatten();
            names.any(|name| extent.bound.is_none() || !own.contains(&name))
        })
    }

    /// An input of the entry graph whose extents were fixed: bound as if it were an argument.
    fn fixed_input(
        &mut self,
        builder: &Builder<'p>,
        input: &Declaration,
        shapes: Vec<Vec<u64>>,
    ) -> Composed<Argument> {
        let kind = self.tensor_kind(builder, &input.type_spec.base)?;
        let mut items = Vec::with_capacity(shapes.len());
        for extents in shapes {
            let shape = extents.into_iter().map(model::Extent::Fixed).collect();
            let tensor = TensorType { kind, shape };
            self.check_size(&tensor, input.span)?;
            items.push(ArgumentItem::Tensor(Rc::new(tensor)));
        }
        Ok(match (input.type_spec.pack.is_some(), items.as_slice()) {
            (false, [single]) => Argument::Single(single.clone()),
            _ => Argument::Pack(items),
        })
    }

    /// An input of the entry graph: its shape is the declared one.
    fn graph_input(&mut self, builder: &mut Builder<'p>, input: &Declaration) -> Composed<Port> {
        let name = input.name.name.clone();
        let span = input.name.span;
        let port = |tensors| Port { name: name.clone(), tensors, span };
        if let Some(length) = self.stacked_length(builder, input)? {
            let stack = self.stack(builder, input, length)?;
            return Ok(port(PortTensors::Stack(stack.id)));
        }
        let packed = input.type_spec.pack.is_some();
        let length = self.input_length(builder, input)?;
        let tensors = self.declared_tensors(builder, input, length.unwrap_or(1))?;
        let mut values = Vec::new();
        let mut atoms = Vec::new();
        for (item, tensor) in tensors.into_iter().enumerate() {
            let value_name = if packed { format!("{name}:{}", item + 1) } else { name.clone() };
            let value = builder.value(Some(value_name), tensor, span);
            values.push(value.id);
            atoms.push(Atom::Tensor(value));
        }
        builder.tensors.insert(name.clone());
        if packed {
            builder.scope.set(name.clone(), Value::pack(atoms));
            return Ok(port(PortTensors::Pack(values)));
        }
        let (Some(atom), Some(id)) = (atoms.into_iter().next(), values.first().copied()) else {
            return Err(Reported);
        };
        builder.scope.set(name.clone(), Value::Atom(atom));
        Ok(port(PortTensors::Single(id)))
    }

    /// The declared number of tensors of a pack; `None` for a single tensor.
    pub(crate) fn declared_length(
        &mut self,
        builder: &Builder<'p>,
        declaration: &Declaration,
    ) -> Composed<Option<usize>> {
        let Some(pack) = &declaration.type_spec.pack else {
            return Ok(None);
        };
        let name = &declaration.name.name;
        let Some(length) = &pack.length else {
            return Err(self.error(
                &ATTRIBUTE_LENGTH,
                declaration.span,
                format!("the length of the pack `{name}` is unknown"),
            ));
        };
        let value = {
            let mut evaluator = builder.evaluator(self.limits);
            match evaluator.int(length) {
                Ok(Some(n)) => evaluator.length(n, length.span).map(Some),
                Ok(None) => Ok(None),
                Err(stop) => Err(stop),
            }
        };
        match value.map_err(|s| self.failed(s))? {
            Some(n) => Ok(Some(n)),
            None => Err(self.error(
                &ATTRIBUTE_LENGTH,
                length.span,
                format!("the length of the pack `{name}` is null"),
            )),
        }
    }
}
