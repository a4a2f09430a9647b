// SPDX-License-Identifier: Apache-2.0
//! Packs of dynamic length whose declarations state the length (2.6, 2.10.1).

use crate::ast::{Component, Declaration, Expr, ExprKind, PackSpec, Target, TargetItem};
use crate::compose::composer::{Composed, Composer, Reported};
use crate::compose::declarations::tensors::upper_extents;
use crate::compose::invocations::builder::Builder;
use crate::compose::shapes::affine_extent::Bound;
use crate::compose::shapes::checks::{Verdict, equality, parts, text};
use crate::compose::shapes::dynamic_extent::extent_of;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{ATTRIBUTE_LENGTH, RESULTS_MISMATCH, UNEXPECTED_VALUE};
use crate::eval::ranges::{decided, extent_expr, upper_bound};
use crate::eval::{Atom, TensorRef, Value};
use crate::model::{self, Check, CheckKind, Extent, Port, PortTensors, ShapeExpr, TensorType};
use crate::source::Span;
use std::sync::Arc;

impl<'p> Composer<'p, '_> {
    /// The maximum number of items of the pack of each target on the left side; `None` if unknown.
    pub(crate) fn capacities(&self, builder: &Builder<'p>, component: &Component) -> Vec<Option<u64>> {
        let outputs = &builder.found.definition.outputs;
        let capacity = |target: &Target| match target {
            Target::Item(TargetItem::Name { name, pack, .. }) => {
                let declared = outputs.iter().find(|o| o.name.name == name.name);
                let declared = declared.and_then(|o| o.type_spec.pack.as_ref());
                let written = pack.as_ref().and_then(|p| self.pack_room(builder, p));
                written.or_else(|| declared.and_then(|p| self.pack_room(builder, p)))
            }
            Target::Item(_) => None,
            Target::List { items, .. } => items.iter().try_fold(0u64, |sum, item| {
                let own = match item {
                    TargetItem::Omitted(_) | TargetItem::Name { pack: None, .. } => 1,
                    TargetItem::Name { pack: Some(pack), .. } => self.pack_room(builder, pack)?,
                    TargetItem::Zip { .. } => return None,
                };
                sum.checked_add(own)
            }),
        };
        component.targets.iter().map(capacity).collect()
    }

    fn pack_room(&self, builder: &Builder<'p>, pack: &PackSpec) -> Option<u64> {
        let mut evaluator = builder.evaluator(self.limits);
        [&pack.length, &pack.bound].into_iter().flatten().find_map(|expr| {
            match evaluator.eval(expr).ok()? {
                Value::Atom(Atom::Int(n)) => u64::try_from(n).ok(),
                Value::Atom(Atom::Run(expr)) => upper_bound(&expr),
                _ => None,
            }
        })
    }

    /// A pack of dynamic length with a written length: a static one makes it a pack of tensors, a dynamic one must be
    /// equal, a new name with a bound denotes it.
    pub(crate) fn counted(
        &mut self,
        builder: &mut Builder<'p>,
        pack: &PackSpec,
        stack: TensorRef,
        span: Span,
    ) -> Composed<Value> {
        let Some(actual) = stack.tensor.shape.first().cloned() else {
            return Err(Reported);
        };
        if let Some(bound) = &pack.bound {
            let most = upper_extents(&mut builder.evaluator(self.limits), bound, None);
            if let Some(most) = most.map_err(|s| self.failed(s))?.first() {
                let holds = most.holds(extent_expr(&actual));
                if decided(&holds) != Some(true) {
                    self.agree(builder, holds, (&most.own, &actual), "at most ", span)?;
                }
            }
        }
        let Some(length) = &pack.length else {
            return Ok(Value::Atom(Atom::Stack(stack)));
        };
        if self.name_run_time_length(builder, pack, &actual, span)? {
            return Ok(Value::Atom(Atom::Stack(stack)));
        }
        let atom = match self.value(builder, length)? {
            Value::Null => return Ok(Value::Atom(Atom::Stack(stack))),
            Value::Atom(Atom::Int(n)) => {
                let count = builder.evaluator(self.limits).length(n, length.span);
                let count = count.map_err(|s| self.failed(s))?;
                if count == 0 && actual == Extent::Fixed(0) {
                    return Ok(Value::Atom(Atom::Stack(stack)));
                }
                return self.items_of(builder, &stack, count, span);
            }
            Value::Atom(atom) => atom,
            Value::Pack(_) => return Err(Reported),
        };
        match equality(&atom, &Atom::from_expr(extent_expr(&actual))) {
            Verdict::Holds => {}
            Verdict::Open(holds) => {
                let Some(wanted) = atom.to_expr() else {
                    return Err(Reported);
                };
                self.agree(builder, holds, (&wanted, &actual), "", span)?;
            }
            Verdict::Fails => {
                return Err(self.error(
                    &RESULTS_MISMATCH,
                    span,
                    format!(
                        "the pack is written with {} items, it has {}",
                        atom.text(),
                        match &actual {
                            Extent::Fixed(n) => n.to_string(),
                            Extent::Dynamic { expr, bound } =>
                                format!("{expr}, at most {bound}, known at run time"),
                        }
                    ),
                ));
            }
        }
        Ok(Value::Atom(Atom::Stack(stack)))
    }

    /// Adds a run-time check of the number of items.
    fn agree(
        &mut self,
        builder: &mut Builder<'p>,
        condition: model::Expr,
        (wanted, actual): (&model::Expr, &Extent),
        most: &str,
        span: Span,
    ) -> Composed<()> {
        let part = |expr: model::Expr| Value::Atom(Atom::from_expr(expr));
        let mut message = Vec::new();
        text(&format!("the pack must have {most}"), &mut message);
        parts(&part(wanted.clone()), &mut message);
        text(" items, it has ", &mut message);
        parts(&part(extent_expr(actual)), &mut message);
        let check = Check { kind: CheckKind::Extent, condition, message, span };
        self.test_result(builder, check)
    }

    /// The length of a pack among the inputs of the main graph; the passed tensors determine an undeclared one.
    pub(crate) fn input_length(
        &mut self,
        builder: &mut Builder<'p>,
        input: &Declaration,
    ) -> Composed<Option<usize>> {
        let name = &input.name;
        if let (Some(pack), Some(given)) = (&input.type_spec.pack, self.pack_lengths.get(&name.name).copied())
        {
            let Some(length) = &pack.length else {
                return Ok(Some(given));
            };
            if !Self::unknown_names(builder, length).is_empty() {
                let what = format!("the length of input `{}`", name.name);
                let given = Value::int(i64::try_from(given).unwrap_or(i64::MAX));
                let bound = Bound { what: &what, location: name.span };
                self.unify(builder, length, &given, &bound)?;
            }
        }
        let length = input.type_spec.pack.as_ref().map(|pack| &pack.length);
        let is_open = length.is_some_and(|length| {
            let unknown = |length: &Expr| !Self::unknown_names(builder, length).is_empty();
            length.as_ref().is_none_or(unknown)
        });
        if is_open {
            let message = format!("the length of the pack `{}` is unknown", name.name);
            let diagnostic = Diagnostic::error(&ATTRIBUTE_LENGTH, input.span, message);
            return Err(self.report(diagnostic.with_help(format!(
                "`skript run` counts the tensors of `--input {0}=…`; elsewhere pass `--input-shape {0}=…;…`, one shape for each, or \
                 declare an upper bound for the length, `..({1}|8)`",
                name.name,
                length.into_iter().flatten().next().map_or_else(|| "n".to_string(), |l| self.source_text(l.span))
            ))));
        }
        self.declared_length(builder, input)
    }

    /// The length of a declared pack, if it is dynamic.
    pub(crate) fn run_time_length(
        &mut self,
        builder: &Builder<'p>,
        declaration: &Declaration,
    ) -> Composed<Option<Extent>> {
        let pack = declaration.type_spec.pack.as_ref();
        let Some(length) = pack.and_then(|p| p.length.as_ref()) else {
            return Ok(None);
        };
        match self.value(builder, length)? {
            Value::Atom(Atom::Run(expr)) => match extent_of(&expr) {
                Some(extent) => Ok(Some(extent)),
                None => {
                    Err(self.error(&UNEXPECTED_VALUE, length.span, "this dynamic length has no upper bound"))
                }
            },
            _ => Ok(None),
        }
    }

    /// The length of a pack among the inputs of the main graph that is determined by each run: `..(s|5)`, and `..(s)`
    /// beside it.
    pub(crate) fn stacked_length(
        &mut self,
        builder: &mut Builder<'p>,
        input: &Declaration,
    ) -> Composed<Option<Extent>> {
        self.declare_length(builder, input)?;
        let length = input.type_spec.pack.as_ref().and_then(|p| p.length.as_ref());
        match length {
            // The passed tensors determine it.
            Some(length) if !Self::unknown_names(builder, length).is_empty() => Ok(None),
            _ => self.run_time_length(builder, input),
        }
    }

    /// `..(s|5)` with a new name s: a symbol of the function.
    pub(crate) fn declare_length(&mut self, builder: &mut Builder<'p>, input: &Declaration) -> Composed<()> {
        if let Some(pack) = &input.type_spec.pack
            && let (Some(length), Some(bound)) = (&pack.length, &pack.bound)
            && let ExprKind::Name(name) = &length.kind
            && builder.scope.get(&name.name).is_none()
        {
            let most = upper_extents(&mut builder.evaluator(self.limits), bound, None);
            let most = most.map_err(|s| self.failed(s))?;
            let Some(bound) = most.first().map(|b| b.most) else {
                return Err(Reported);
            };
            let extent = Extent::Dynamic { expr: Arc::new(ShapeExpr::Symbol(name.name.clone())), bound };
            let atom = builder.evaluator(self.limits).extent_atom(&extent, length.span);
            let atom = atom.map_err(|s| self.failed(s))?;
            builder.scope.set(name.name.clone(), Value::Atom(atom));
        }
        Ok(())
    }

    /// Whether the length of a pack among the inputs of the main graph is a name whose bound is declared elsewhere.
    pub(crate) fn length_awaits_others(builder: &Builder<'p>, input: &Declaration) -> bool {
        let own = input.type_spec.pack.as_ref().filter(|p| p.bound.is_none());
        let Some(length) = own.and_then(|p| p.length.as_ref()) else {
            return false;
        };
        let unknown = Self::unknown_names(builder, length);
        let inputs = &builder.found.definition.inputs;
        let packs = inputs.iter().flat_map(|i| &i.type_spec.pack);
        let packs = packs.filter(|p| p.bound.is_some()).map(|p| &p.length);
        let extents = inputs.iter().flat_map(|i| i.type_spec.shape.iter().flatten());
        let extents = extents.filter(|e| e.bound.is_some()).map(|e| &e.extent);
        let mut bounded = packs.chain(extents).flatten();
        bounded.any(|expr| matches!(&expr.kind, ExprKind::Name(n) if unknown.contains(&n.name)))
    }

    /// An output of formulas that is a pack of dynamic length.
    pub(crate) fn declare_stack(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
        length: Extent,
    ) -> Composed<()> {
        let value = self.stack(builder, declaration, length)?;
        let name = &declaration.name;
        builder.function.outputs.push(Port {
            name: name.name.clone(),
            tensors: PortTensors::Stack(value.id),
            span: name.span,
        });
        Ok(())
    }

    /// A declared pack of dynamic length.
    pub(crate) fn stack(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
        length: Extent,
    ) -> Composed<TensorRef> {
        self.one_shape(builder, declaration)?;
        let Some(mut tensor) = self.declared_tensors(builder, declaration, 1)?.pop() else {
            return Err(Reported);
        };
        tensor.shape.insert(0, length);
        self.check_size(&tensor, declaration.span)?;
        let name = &declaration.name;
        let value = builder.value(Some(name.name.clone()), tensor, name.span);
        builder.tensors.insert(name.name.clone());
        builder.scope.set(name.name.clone(), Value::Atom(Atom::Stack(value.clone())));
        Ok(value)
    }

    /// Extents `..t` of a pack of dynamic length: one for all tensors.
    fn one_shape(&mut self, builder: &Builder<'p>, declaration: &Declaration) -> Composed<()> {
        let shape = declaration.type_spec.shape.iter().flatten();
        for own in shape.filter(|extent| extent.per_item) {
            let shared = match &own.extent {
                None => true,
                Some(expr) if !Self::unknown_names(builder, expr).is_empty() => false,
                Some(expr) => match self.value(builder, expr)? {
                    Value::Atom(Atom::Series(series)) => series.shared().is_some(),
                    Value::Atom(_) | Value::Null => true,
                    Value::Pack(_) => false,
                },
            };
            if !shared {
                return Err(self.error(
                    &UNEXPECTED_VALUE,
                    own.span,
                    "tensors of a pack of dynamic length must have one shape",
                ));
            }
        }
        Ok(())
    }

    /// `..(s|5)` with a new name and a pack of known length.
    pub(crate) fn name_length(&mut self, builder: &mut Builder<'p>, pack: &PackSpec, length: usize) {
        if let Some(name) = new_length_name(builder, pack) {
            let length = i64::try_from(length).unwrap_or(i64::MAX);
            builder.scope.set(name, Value::int(length));
        }
    }

    /// The same for a pack of dynamic length; returns whether there is a new name.
    pub(crate) fn name_run_time_length(
        &mut self,
        builder: &mut Builder<'p>,
        pack: &PackSpec,
        length: &Extent,
        span: Span,
    ) -> Composed<bool> {
        let Some(name) = new_length_name(builder, pack) else {
            return Ok(false);
        };
        let atom = builder.evaluator(self.limits).extent_atom(length, span);
        let atom = atom.map_err(|s| self.failed(s))?;
        builder.scope.set(name, Value::Atom(atom));
        Ok(true)
    }

    /// The type of the tensors of a declared empty pack; none if each tensor would have a different shape.
    pub(crate) fn item_of_none(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
    ) -> Composed<Option<TensorType>> {
        let mut shape = declaration.type_spec.shape.iter().flatten();
        if shape.any(|extent| extent.per_item) {
            return Ok(None);
        }
        Ok(self.declared_tensors(builder, declaration, 1)?.pop())
    }

    /// An output that is a pack of dynamic length.
    pub(crate) fn stack_output(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
        stack: &TensorRef,
    ) -> Composed<Port> {
        let name = &declaration.name;
        self.check_stack(builder, declaration, &format!("output `{}`", name.name), stack)?;
        builder.tensors.insert(name.name.clone());
        let none = stack.tensor.shape.first() == Some(&Extent::Fixed(0));
        if none {
            let position = builder.function.outputs.len();
            let item = stack.tensor.item();
            builder.function.items_of_none.push((position, item));
        }
        Ok(Port {
            name: name.name.clone(),
            tensors: if none { PortTensors::Pack(Vec::new()) } else { PortTensors::Stack(stack.id) },
            span: name.span,
        })
    }

    /// Checks the tensors of a pack of dynamic length against a declaration; `what` is its name in messages.
    pub(crate) fn check_stack(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
        what: &str,
        stack: &TensorRef,
    ) -> Composed<()> {
        self.one_shape(builder, declaration)?;
        let item = TensorRef { id: stack.id, tensor: std::rc::Rc::new(stack.tensor.item()) };
        let produced = builder.function.values.get(stack.id.0 as usize);
        let produced = produced.map_or(declaration.span, |v| v.span);
        self.check_declared(builder, declaration, what, 0, &item, produced)
    }
}

/// The name of the length of a pack in `..(s|5)`, unless it has a value.
fn new_length_name(builder: &Builder, pack: &PackSpec) -> Option<String> {
    match (&pack.bound, &pack.length.as_ref()?.kind) {
        (Some(_), ExprKind::Name(name)) if builder.scope.get(&name.name).is_none() => Some(name.name.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires, composed};
    use crate::diagnostics::codes::{EXTENT_MISMATCH, INDEX_OUT_OF_RANGE, OUTPUT_MISMATCH, UNEXPECTED_VALUE};
    use crate::model::{Extent, PortTensors};

    #[test]
    fn packs_of_no_tensors_keep_the_type_of_what_there_is_none_of() {
        let text = |extents: &str| {
            format!(
                "operator parts {{ @attrib {{ n: int; }} @input {{ x: real[k]; }} @output {{ ys: real[k]..(n); }} \
                 @lower {{ ys[j][i,] = x[i,], i < k, j < n; }} }} \
                 operator through {{ @attrib {{ n: int; }} @input {{ x: real[k]; }} @output {{ ys: real[k]..(n); }} \
                 @compose {{ ys..(n) = parts{{n=n}}(x); }} }} \
                 operator joined {{ @dtype {{ T: type; }} @input {{ xs: T[k]..(n); }} @output {{ y: T[n,k]; }} \
                 @lower {{ y[j,i] = xs[j][i,], j < n, i < k; }} }} \
                 graph G {{ @input {{ x: real[3]; }} @output {{ y: real[0,3]; z: real[1,3]; w: real[{extents}]; ys: real[3]..(0); }} \
                 @compose {{ es..(0) = through{{n=0}}(x); y = joined(es); z = joined([es.., x]); ys..(0) = through{{n=0}}(x); \
                 fs.. = for e : es do {{ pair = joined([e, e]); yield pair; }}; w = stacked(fs); ps..(0) = packed(es); s = summed(es); }} }} \
                 operator packed {{ @input {{ xs: real[k]..(n); }} @output {{ ys: real[k]..(n); }} @lower {{ ys[i,] = -xs[i,], i < k; }} }} \
                 operator summed {{ @input {{ xs: real[k]..(n); }} @output {{ y: real[k]; }} @lower {{ y[i,] = xs[i,] + .., i < k; }} }} \
                 operator stacked {{ @input {{ xs: real[k,l]..(n); }} @output {{ y: real[n,k,l]; }} \
                 @lower {{ y[h,j,i] = xs[h][j,i], h < n, j < k, i < l; }} }}"
            )
        };
        let entry = composed(&text("0,2,3")).unwrap();
        let entry = &entry.functions[entry.entry.0 as usize];
        assert!(matches!(&entry.outputs[3].tensors, PortTensors::Pack(items) if items.is_empty()));
        assert_fires(&OUTPUT_MISMATCH, &text("0,3,3"));
    }

    #[test]
    fn s2_6_packs_of_the_main_graph_bring_their_length_below_a_bound() {
        let model = composed(
            "graph G { @input { zs: int[2]..(s); xs: real[n]..(s|5); w: real[s,n|3]; } @output { ys: real[n]..(s|5); } \
             @compose { ys.. = xs; } }",
        );
        let model = model.unwrap();
        let entry = model.function(model.entry).unwrap();
        let bounds = entry.inputs.iter().map(|port| match &port.tensors {
            PortTensors::Stack(id) | PortTensors::Single(id) => {
                let shape = &entry.values[id.0 as usize].tensor.shape;
                shape.iter().map(Extent::bound).collect()
            }
            _ => Vec::new(),
        });
        assert_eq!(bounds.collect::<Vec<_>>(), [[5, 2], [5, 3], [5, 3]]);
    }

    #[test]
    fn tensors_of_a_pack_that_a_run_brings_have_one_shape() {
        assert_fires(
            &UNEXPECTED_VALUE,
            "graph G { @input { xs: real[..t|4]..(s|5); } @output { y: real[1]; } @compose { y = xs[0]; } }",
        );
    }

    #[test]
    fn items_of_packs_of_run_time_length_are_taken_by_numbers() {
        let text = |item: &str| {
            format!(
                "graph G {{ @input {{ xs: real[2]..(s|3); }} @output {{ y: real[2]; }} @compose {{ y = xs[{item}]; }} }}"
            )
        };
        for item in ["0", "2", "-3", "s - 1"] {
            let model = composed(&text(item)).unwrap();
            assert_eq!(model.functions.iter().map(|f| f.checks.len()).sum::<usize>(), 1);
        }
        for item in ["3", "-4"] {
            assert_fires(&INDEX_OUT_OF_RANGE, &text(item));
        }
        // A range is a pack, the output is a tensor.
        assert_fires(&OUTPUT_MISMATCH, &text("::2"));
    }

    /// A check of a branch or a loop is not a check of the full function.
    #[test]
    fn s2_10_lengths_in_blocks_are_tested_there() {
        let checks = |statement: &str| {
            let model = composed(&format!(
                "operator cut {{ @input {{ x: real[n,m]; }} @output {{ ys: real[m]..(n); }} @lower {{ ys[k][i,] = x[k,i], k < n, i < m; }} }} \
                 operator sum {{ @input {{ xs: real[m]..(k); }} @output {{ y: real[m]; }} @lower {{ y[i,] += xs[j][i,], i < m, j < k; }} }} \
                 graph G {{ @input {{ x: real[t|6,2]; z: real[u|6,2]; c: bool[]; }} @output {{ y: real[2]; }} @compose {{ xs.. = cut(x); {statement} }} }}"
            ));
            let model = model.unwrap();
            let lengths = model.functions.iter().filter(|f| f.name == "length");
            let here: usize = lengths.map(|f| f.checks.len()).sum();
            (model.function(model.entry).unwrap().result_checks.len(), here)
        };
        assert_eq!(checks("ys..(u) = cut(x); y = sum(ys);"), (1, 0));
        let inside = "{ ys..(u) = cut(x); s = sum(ys); yield s; }";
        assert_eq!(checks(&format!("y = if c then {inside} else sum(xs);")), (0, 1));
        assert_eq!(checks(&format!("y = with s: real[2] = 0.0 do {inside} while c;")), (0, 1));
    }

    #[test]
    fn packs_that_are_passed_keep_within_the_bound() {
        let called = |count: usize| {
            format!(
                "graph Sub {{ @input {{ xs: real[2]..(s|2); }} @output {{ y: real[2]; }} @compose {{ y = xs[0]; }} }} \
                 graph G {{ @input {{ x: real[2]; }} @output {{ y: real[2]; }} @compose {{ ps..({count}) = [x ..({count})]; y = Sub(ps); }} }}"
            )
        };
        // The first graph is the main one.
        let main_last = |count| {
            let text = called(count);
            let (sub, main) = text.split_once("graph G").unwrap();
            format!("graph G{main} {sub}")
        };
        assert_composes(&main_last(2));
        assert_fires(&EXTENT_MISMATCH, &main_last(3));
    }
}
