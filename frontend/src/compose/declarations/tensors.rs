// SPDX-License-Identifier: Apache-2.0
//! Declared tensors: constants, variables, outputs (2.6, 2.7).

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use skript_semantics::{Scalar, ScalarKind, ScalarOp};

use crate::ast::{Declaration, Expr, ExprKind, ExtentSpec, PackSpec};
use crate::compose::composer::{CaptureName, Composed, Composer};
use crate::compose::declarations::constant_elements::{computed_elements, known_while_composing};
use crate::compose::invocations::builder::Builder;
use crate::compose::invocations::coercion::coerced;
use crate::compose::shapes::affine_extent::Bound;
use crate::compose::shapes::dynamic_extent::extent_of;
use crate::compose::shapes::upper_bound::Tested;
use crate::diagnostics::Diagnostic;
use crate::diagnostics::codes::{
    CONSTANT_VALUE, LIMIT_EXCEEDED, SHAPE_NOT_BOUND, UNDETERMINED_EXTENT, UNEXPECTED_VALUE, VARIABLE_EXTENT,
};
use crate::eval::ranges::{decided, extent_expr, upper_bound};
use crate::eval::stop::{EvalResult, stop, stop_with_help};
use crate::eval::{Atom, Evaluator, TypeName, Value, runtime};
use crate::model::{
    self, ConstantData, Extent, MessagePart, Port, PortTensors, ShapeExpr, TensorType, shape_text,
};
use crate::source::Span;
use crate::syntax::OPEN_EXTENT;

/// How a tensor with dynamic dimensions becomes smaller.
const SMALLER: &str = "smaller upper bounds of its dynamic dimensions (`--bound`; in a document `real[n|8]`) or static shapes (`--input-shape`) \
     make it smaller";

/// One extent of a declared output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum DeclaredExtent {
    Is(Extent),
    /// `~`: the extent of the computed tensor.
    Any,
    /// `~|k`: at most k.
    Bounded(Limit),
}

/// The value of a bound after `|` at run time, and its maximum.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    pub own: model::Expr,
    pub most: u64,
}

impl Limit {
    fn fixed(n: u64) -> Self {
        Limit { own: extent_expr(&Extent::Fixed(n)), most: n }
    }

    /// Whether an extent is within the bound.
    pub(crate) fn holds(&self, extent: model::Expr) -> model::Expr {
        runtime::compare(ScalarOp::Le, extent, self.own.clone())
    }
}

impl<'p> Composer<'p, '_> {
    /// The types of a declared tensor, or of the `count` tensors of a declared pack.
    pub(crate) fn declared_tensors(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
        count: usize,
    ) -> Composed<Vec<TensorType>> {
        let kind = self.tensor_kind(builder, &declaration.type_spec.base)?;
        if declaration.type_spec.pack.is_some() {
            let specs = declaration.type_spec.shape.iter().flatten();
            for own in specs.filter(|spec| spec.per_item && spec.pack.is_none()) {
                let _ = self.declare_symbol(builder, own, Some(count))?;
            }
        }
        let mut tensors = Vec::with_capacity(count);
        for item in 0..count {
            let shape = self.declared_shape(builder, declaration, item, Tested::Before)?;
            let Some(shape) = shape else {
                return Err(self.error(
                    &SHAPE_NOT_BOUND,
                    declaration.span,
                    format!(
                        "the shape of `{}` must be written; only outputs of a composition, and inputs of invoked graphs, may omit it",
                        declaration.name.name
                    ),
                ));
            };
            let mut extents = Vec::with_capacity(shape.len());
            for (dimension, extent) in shape.into_iter().enumerate() {
                match extent {
                    DeclaredExtent::Is(extent) => extents.push(extent),
                    DeclaredExtent::Bounded(bound) => extents.push(Extent::Dynamic {
                        expr: Arc::new(ShapeExpr::Symbol(format!(
                            "{}.{item}.{dimension}",
                            declaration.name.name
                        ))),
                        bound: bound.most,
                    }),
                    DeclaredExtent::Any => {
                        return Err(self.error(
                            &SHAPE_NOT_BOUND,
                            declaration.span,
                            format!(
                                "extent {dimension} of `{}` needs an upper bound: `~|n`",
                                declaration.name.name
                            ),
                        ));
                    }
                }
            }
            let tensor = TensorType { kind, shape: extents };
            self.check_size(&tensor, declaration.span)?;
            tensors.push(tensor);
        }
        Ok(tensors)
    }

    /// `s|k` with a new name s: a symbol of the function; `..s|k` is one for each of `items` tensors. Returns whether
    /// it is new.
    pub(crate) fn declare_symbol(
        &mut self,
        builder: &mut Builder<'p>,
        spec: &ExtentSpec,
        items: Option<usize>,
    ) -> Composed<bool> {
        let (Some(expr), Some(bound)) = (&spec.extent, &spec.bound) else {
            return Ok(false);
        };
        let ExprKind::Name(name) = &expr.kind else {
            return Ok(false);
        };
        if builder.scope.get(&name.name).is_some() {
            return Ok(false);
        }
        let packed = spec.pack.is_some() || items.is_some();
        let result = {
            let mut evaluator = builder.evaluator(self.limits);
            let bounds = upper_extents(&mut evaluator, bound, spec.pack.as_ref());
            bounds.and_then(|bounds| {
                let bounds = match (items, bounds.as_slice()) {
                    (Some(items), [all]) => vec![all.clone(); items],
                    (Some(items), each) if each.len() != items => {
                        return stop(
                            &crate::diagnostics::codes::PACK_LENGTHS_DIFFER,
                            bound.span,
                            format!("a pack of {items} tensors has {} bounds", each.len()),
                        );
                    }
                    _ => bounds,
                };
                let mut atoms = Vec::with_capacity(bounds.len());
                for (position, bound) in bounds.into_iter().enumerate() {
                    let symbol = if packed { format!("{}.{position}", name.name) } else { name.name.clone() };
                    let extent =
                        Extent::Dynamic { expr: Arc::new(ShapeExpr::Symbol(symbol)), bound: bound.most };
                    atoms.push(evaluator.extent_atom(&extent, spec.span)?);
                }
                Ok(atoms)
            })
        };
        let atoms = result.map_err(|s| self.failed(s))?;
        set_tensors(builder, &name.name, atoms, packed);
        Ok(true)
    }

    pub(crate) fn check_size(&mut self, tensor: &TensorType, span: Span) -> Composed<()> {
        let elements =
            tensor.shape.iter().try_fold(1u64, |product, extent| product.checked_mul(extent.bound()));
        let largest = tensor.shape.iter().map(Extent::bound).max().unwrap_or(0);
        let fits = elements.is_some_and(|n| n <= self.limits.tensor_elements)
            && largest <= self.limits.tensor_elements
            && tensor.shape.len() <= self.limits.rank;
        if fits {
            return Ok(());
        }
        let message = format!(
            "a tensor of shape {} has more than {} elements (limit `tensor_elements`) or {} dimensions (limit `rank`)",
            shape_text(&tensor.shape),
            self.limits.tensor_elements,
            self.limits.rank
        );
        let diagnostic = Diagnostic::error(&LIMIT_EXCEEDED, span, message);
        let is_dynamic = tensor.shape.iter().any(|extent| extent.fixed().is_none());
        Err(self.report(if is_dynamic { diagnostic.with_help(SMALLER) } else { diagnostic }))
    }

    /// The declared extents of one item; `None` if no shape is written.
    pub(crate) fn declared_shape(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
        item: usize,
        when: Tested,
    ) -> Composed<Option<Vec<DeclaredExtent>>> {
        let Some(specs) = &declaration.type_spec.shape else {
            return Ok(None);
        };
        let packed = declaration.type_spec.pack.is_some();
        let mut solved = FxHashMap::default();
        let mut made_here = FxHashSet::default();
        for (position, spec) in specs.iter().enumerate() {
            if self.declare_symbol(builder, spec, None)? && !is_input(builder, declaration) {
                made_here.insert(position);
            }
            let (Some(expr), Some(bound)) = (&spec.extent, &spec.bound) else {
                continue;
            };
            let unknown = Self::unknown_names(builder, expr);
            let Some(name) = unknown.first() else {
                continue;
            };
            if let (true, [_]) = (may_be_solved(builder, declaration, spec), &*unknown) {
                let location = (item, position);
                let extent = self.solved_extent(builder, declaration, location, (expr, bound))?;
                solved.insert(position, extent);
                continue;
            }
            let text = self.source_text(expr.span);
            let message = format!(
                "nothing determines `{name}` in `{text}`: an upper bound belongs to a name, not to an expression"
            );
            let diagnostic = Diagnostic::error(&UNDETERMINED_EXTENT, spec.span, message);
            return Err(self.report(diagnostic.with_help(format!(
                "declare the upper bound of `{name}` where it stands alone, `{name}|2`, and remove the bound of `{text}`"
            ))));
        }
        let mut computed = Vec::new();
        let result = {
            let mut evaluator = builder.evaluator(self.limits);
            declared_extents(&mut evaluator, specs, (packed, item), &solved, &mut computed)
        };
        let extents = result.map_err(|s| self.failed(s))?;
        for (expr, span) in computed {
            self.check_sign(builder, declaration, expr, span)?;
        }
        for (position, spec) in specs.iter().enumerate() {
            let when = match when {
                // The extent is not determined yet.
                Tested::Before if made_here.contains(&position) => Tested::Behind,
                known => known,
            };
            if !solved.contains_key(&position) {
                self.check_declared_bound(builder, declaration, spec, when)?;
            }
        }
        Ok(Some(extents))
    }

    /// `2 * s|10` of an input of the main graph: the dynamic extent of the input determines `s`.
    fn solved_extent(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
        (item, position): (usize, usize),
        (expr, bound): (&Expr, &Expr),
    ) -> Composed<Extent> {
        let name = &declaration.name;
        let result = {
            let mut evaluator = builder.evaluator(self.limits);
            let bounds = upper_extents(&mut evaluator, bound, None);
            bounds.and_then(|bounds| {
                let symbol = format!("{}.{item}.{position}.solved", name.name);
                let extent = Extent::Dynamic {
                    expr: Arc::new(ShapeExpr::Symbol(symbol)),
                    bound: bounds.first().map_or(0, |b| b.most),
                };
                let atom = evaluator.extent_atom(&extent, expr.span)?;
                Ok((extent, atom))
            })
        };
        let (extent, atom) = result.map_err(|s| self.failed(s))?;
        let what = format!("extent {position} of input `{}`", name.name);
        let location = name.span;
        let bound = Bound { what: &what, location };
        self.unify(builder, expr, &Value::Atom(atom), &bound)?;
        Ok(extent)
    }

    /// Checks `n|k` for the extent of `n`, independent of what determined it.
    fn check_declared_bound(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
        spec: &ExtentSpec,
        when: Tested,
    ) -> Composed<()> {
        let (Some(expr), Some(_)) = (&spec.extent, &spec.bound) else {
            return Ok(());
        };
        let extent = {
            let mut evaluator = builder.evaluator(self.limits);
            match &spec.pack {
                Some(pack) => evaluator.expand(expr, pack.length.as_ref(), spec.span),
                None => evaluator.eval(expr),
            }
        };
        let extent = extent.map_err(|s| self.failed(s))?;
        let (source, name) = (self.source_text(expr.span), &declaration.name.name);
        let what = format!("the extent `{source}` of `{name}`");
        let location = declaration.name.span;
        let location = Bound { what: &what, location };
        self.check_upper_bounds(builder, spec, &extent, &location, when)
    }

    /// Adds a run-time check that a computed dynamic extent, such as `n - 2`, is not negative.
    pub(crate) fn check_sign(
        &mut self,
        builder: &mut Builder<'p>,
        declaration: &Declaration,
        expr: model::Expr,
        span: Span,
    ) -> Composed<()> {
        let condition = runtime::compare(ScalarOp::Ge, expr.clone(), model::Expr::int(0));
        let source = self.source_text(span);
        let name = &declaration.name.name;
        match decided(&condition) {
            Some(true) => Ok(()),
            Some(false) => {
                let message = format!("an extent cannot be negative, but `{source}` of `{name}` always is");
                Err(self.error(&UNEXPECTED_VALUE, span, message))
            }
            None => {
                let message = vec![
                    MessagePart::Text(format!(
                        "an extent cannot be negative, but `{source}` of `{name}` is "
                    )),
                    MessagePart::Value(expr),
                ];
                self.keep_extent_check(builder, condition, message, span);
                Ok(())
            }
        }
    }

    /// Constants and variables.
    pub(crate) fn local_tensors(&mut self, builder: &mut Builder<'p>) -> Composed<()> {
        let definition = builder.found.definition;
        for declaration in &definition.constants {
            self.constant(builder, declaration)?;
        }
        for declaration in &definition.variables {
            let length = self.declared_length(builder, declaration)?;
            let tensors = self.declared_tensors(builder, declaration, length.unwrap_or(1))?;
            let name = &declaration.name.name;
            if let Some(tensor) = tensors.iter().find(|t| !is_static(t)) {
                let diagnostic = Diagnostic::error(
                    &VARIABLE_EXTENT,
                    declaration.type_spec.span,
                    format!("the shape of the variable `{name}` must be static"),
                )
                .with_label(shape_text(&tensor.shape))
                .with_help("declare its extents by attributes, or by the static extents of another tensor");
                return Err(self.report(diagnostic));
            }
            let mut atoms = Vec::new();
            for (item, tensor) in tensors.into_iter().enumerate() {
                let (path, aliases) = match length {
                    Some(_) => (format!("{name}:{}", item + 1), vec![format!("{name}_{}", item + 1)]),
                    None => (name.clone(), Vec::new()),
                };
                let capture = CaptureName {
                    absolute: false,
                    path: path.clone(),
                    aliases,
                    tensor,
                    span: declaration.name.span,
                    invocation: None,
                };
                atoms.push(Atom::Tensor(self.capture(builder, capture, Some(path))?));
            }
            builder.tensors.insert(name.clone());
            set_tensors(builder, name, atoms, length.is_some());
        }
        Ok(())
    }

    fn constant(&mut self, builder: &mut Builder<'p>, declaration: &Declaration) -> Composed<()> {
        let name = &declaration.name.name;
        let Some(default) = &declaration.default else {
            return Err(self.error(
                &CONSTANT_VALUE,
                declaration.span,
                format!("constant `{name}` needs a value"),
            ));
        };
        let length = self.declared_length(builder, declaration)?;
        let tensors = self.declared_tensors(builder, declaration, length.unwrap_or(1))?;
        let kind = self.tensor_kind(builder, &declaration.type_spec.base)?;
        let mut data = Vec::new();
        if length.is_some() {
            let value = self.constant_items(builder, declaration, kind)?;
            if value.len() != tensors.len() {
                return Err(self.error(
                    &CONSTANT_VALUE,
                    default.span,
                    format!("`{name}` has {} tensors, but there are {} values", tensors.len(), value.len()),
                ));
            }
            data.extend(value.into_iter().map(ConstantData::Splat));
        } else if let Some(tensor) = tensors.first() {
            data.push(self.constant_data(builder, declaration, tensor)?);
        }
        let mut atoms = Vec::new();
        for (tensor, data) in tensors.into_iter().zip(data) {
            let value = builder.value(Some(name.clone()), tensor, declaration.name.span);
            builder.function.constants.push((value.id, data));
            atoms.push(Atom::Tensor(value));
        }
        builder.tensors.insert(name.clone());
        set_tensors(builder, name, atoms, length.is_some());
        Ok(())
    }

    /// The compile-time scalars of a constant's value.
    fn constant_items(
        &mut self,
        builder: &Builder<'p>,
        declaration: &Declaration,
        kind: ScalarKind,
    ) -> Composed<Vec<Scalar>> {
        let Some(default) = &declaration.default else {
            return Ok(Vec::new());
        };
        let value = builder.evaluator(self.limits).eval(default);
        let value = value.map_err(|s| self.failed(s))?;
        known_while_composing(declaration, &value).map_err(|s| self.failed(s))?;
        let scalars = coerced(&value, TypeName::Scalar(kind))
            .map(|v| v.atoms().iter().filter_map(Atom::scalar).collect::<Vec<Scalar>>());
        match scalars {
            Some(scalars) if !value.is_null() => Ok(scalars),
            _ => Err(self.error(
                &CONSTANT_VALUE,
                default.span,
                format!(
                    "constant `{}` is {}, its value is {}",
                    declaration.name.name,
                    kind.name(),
                    value.text()
                ),
            )),
        }
    }

    fn constant_data(
        &mut self,
        builder: &Builder<'p>,
        declaration: &Declaration,
        tensor: &TensorType,
    ) -> Composed<ConstantData> {
        let name = &declaration.name.name;
        let volume = tensor
            .shape
            .iter()
            .try_fold(1u64, |product, extent| product.checked_mul(extent.bound()))
            .unwrap_or(u64::MAX);
        let scalars = if declaration.bounds.is_empty() {
            let scalars = self.constant_items(builder, declaration, tensor.kind)?;
            let is_pack =
                declaration.default.as_ref().is_some_and(|d| matches!(d.kind, crate::ast::ExprKind::List(_)));
            if let ([single], false) = (scalars.as_slice(), is_pack && volume != 1) {
                return Ok(ConstantData::Splat(*single));
            }
            scalars
        } else {
            self.hold_constant(name, volume, declaration.span)?;
            let computed = computed_elements(builder, declaration, tensor, self.limits);
            computed.map_err(|s| self.failed(s))?
        };
        if u64::try_from(scalars.len()) != Ok(volume) {
            return Err(self.error(
                &CONSTANT_VALUE,
                declaration.span,
                format!(
                    "constant `{name}` of shape {} has {volume} elements, but there are {} values",
                    shape_text(&tensor.shape),
                    scalars.len()
                ),
            ));
        }
        Ok(match tensor.kind {
            ScalarKind::Bool => {
                ConstantData::Bool(scalars.iter().map(|s| matches!(s, Scalar::Bool(true))).collect())
            }
            ScalarKind::Int => ConstantData::Int(
                scalars.iter().map(|s| if let Scalar::Int(i) = s { *i } else { 0 }).collect(),
            ),
            ScalarKind::Real => ConstantData::Real(
                scalars.iter().map(|s| if let Scalar::Real(r) = s { *r } else { 0.0 }).collect(),
            ),
        })
    }

    /// Creates the outputs as new tensors of the declared types (formulas and intrinsics).
    pub(crate) fn declare_outputs(&mut self, builder: &mut Builder<'p>) -> Composed<()> {
        let definition = builder.found.definition;
        for declaration in &definition.outputs {
            if let Some(length) = self.run_time_length(builder, declaration)? {
                self.declare_stack(builder, declaration, length)?;
                continue;
            }
            let length = self.declared_length(builder, declaration)?;
            let tensors = self.declared_tensors(builder, declaration, length.unwrap_or(1))?;
            if length == Some(0)
                && let Some(item) = self.item_of_none(builder, declaration)?
            {
                let position = builder.function.outputs.len();
                builder.function.items_of_none.push((position, item));
            }
            let name = &declaration.name.name;
            let mut atoms = Vec::new();
            let mut values = Vec::new();
            for (item, tensor) in tensors.into_iter().enumerate() {
                let value_name = match length {
                    Some(_) => format!("{name}:{}", item + 1),
                    None => name.clone(),
                };
                let value = builder.value(Some(value_name), tensor, declaration.name.span);
                values.push(value.id);
                atoms.push(Atom::Tensor(value));
            }
            set_tensors(builder, name, atoms, length.is_some());
            let tensors = match (length, values.first()) {
                (None, Some(single)) => PortTensors::Single(*single),
                _ => PortTensors::Pack(values),
            };
            builder.function.outputs.push(Port { name: name.clone(), tensors, span: declaration.name.span });
            builder.tensors.insert(name.clone());
        }
        Ok(())
    }
}

/// Whether a bounded extent with one undetermined name determines that name.
fn may_be_solved(builder: &Builder, declaration: &Declaration, spec: &ExtentSpec) -> bool {
    let single = spec.pack.is_none() && !spec.per_item;
    builder.entry && is_input(builder, declaration) && single
}

fn is_input(builder: &Builder, declaration: &Declaration) -> bool {
    let mut inputs = builder.found.definition.inputs.iter();
    inputs.any(|input| std::ptr::eq(input, declaration))
}

fn is_static(tensor: &TensorType) -> bool {
    let mut extents = tensor.shape.iter();
    extents.all(|extent| extent.fixed().is_some())
}

/// The extents of a declared shape, for item `item` if it is one of a pack; some are `solved` already.
fn declared_extents(
    evaluator: &mut Evaluator,
    specs: &[ExtentSpec],
    (packed, item): (bool, usize),
    solved: &FxHashMap<usize, Extent>,
    computed: &mut Vec<(model::Expr, Span)>,
) -> EvalResult<Vec<DeclaredExtent>> {
    let mut extents = Vec::new();
    for (position, spec) in specs.iter().enumerate() {
        if let Some(extent) = solved.get(&position) {
            extents.push(DeclaredExtent::Is(extent.clone()));
            continue;
        }
        let Some(expr) = &spec.extent else {
            if let Some(bound) = &spec.bound {
                let bounds = upper_extents(evaluator, bound, spec.pack.as_ref())?;
                extents.extend(bounds.into_iter().map(DeclaredExtent::Bounded));
                continue;
            }
            let count = match spec.pack.as_ref().and_then(|p| p.length.as_ref()) {
                Some(length) => match evaluator.int(length)? {
                    Some(n) => evaluator.length(n, length.span)?,
                    None => 0,
                },
                None => 1,
            };
            extents.extend(std::iter::repeat_n(DeclaredExtent::Any, count));
            continue;
        };
        let value = match &spec.pack {
            Some(pack) => evaluator.expand(expr, pack.length.as_ref(), spec.span)?,
            None => evaluator.eval(expr)?,
        };
        let atoms = value.atoms();
        let single;
        let chosen: &[Atom] = if packed && spec.per_item {
            match &value {
                Value::Pack(pack) => {
                    let Some(atom) = pack.items.get(item) else {
                        return stop(
                            &crate::diagnostics::codes::PACK_LENGTHS_DIFFER,
                            spec.span,
                            format!("the extents of the pack have only {} items", pack.len()),
                        );
                    };
                    std::slice::from_ref(atom)
                }
                Value::Atom(Atom::Series(series)) => {
                    single = series.shared().cloned().map(Atom::from_expr);
                    single.as_ref().map_or(atoms, std::slice::from_ref)
                }
                _ => atoms,
            }
        } else {
            atoms
        };
        for atom in chosen {
            match atom {
                Atom::Int(n) => match u64::try_from(*n) {
                    Ok(n) => extents.push(DeclaredExtent::Is(Extent::Fixed(n))),
                    Err(_) => {
                        return stop_with_help(
                            &UNEXPECTED_VALUE,
                            spec.span,
                            format!("an extent cannot be negative, this is {n}"),
                            OPEN_EXTENT,
                        );
                    }
                },
                Atom::Run(run) => match extent_of(run) {
                    Some(extent) => {
                        computed.push(((**run).clone(), spec.span));
                        extents.push(DeclaredExtent::Is(extent));
                    }
                    None => {
                        return stop(
                            &UNEXPECTED_VALUE,
                            spec.span,
                            "this dynamic extent has no upper bound that fits in 64 bits; write `… << N` with a largest extent N",
                        );
                    }
                },
                other => {
                    return stop(
                        &UNEXPECTED_VALUE,
                        spec.span,
                        format!("an extent must be an int, this is {}", other.describe()),
                    );
                }
            }
        }
    }
    Ok(extents)
}

/// The upper bounds after `|`, one for each extent of the item; a dynamic one counts as at least zero.
pub(in crate::compose) fn upper_extents(
    evaluator: &mut Evaluator,
    bound: &Expr,
    pack: Option<&PackSpec>,
) -> EvalResult<Vec<Limit>> {
    let value = match pack {
        Some(pack) => evaluator.expand(bound, pack.length.as_ref(), bound.span)?,
        None => evaluator.eval(bound)?,
    };
    let mut bounds = Vec::new();
    for atom in value.atoms() {
        let limit = match atom {
            Atom::Int(n) => u64::try_from(*n).ok().map(Limit::fixed),
            Atom::Run(run) => upper_bound(run).map(|most| Limit { own: (**run).clone(), most }),
            _ => None,
        };
        match limit {
            Some(limit) => bounds.push(limit),
            None => {
                return stop(
                    &UNEXPECTED_VALUE,
                    bound.span,
                    format!("a bound must be a non-negative int, this is {}", atom.text()),
                );
            }
        }
    }
    Ok(bounds)
}

/// Binds a name to one tensor or to a pack.
pub(crate) fn set_tensors(builder: &mut Builder, name: &str, atoms: Vec<Atom>, packed: bool) {
    let value = match (packed, atoms.first()) {
        (false, Some(single)) => Value::Atom(single.clone()),
        _ => Value::pack(atoms),
    };
    builder.scope.set(name, value);
}

#[cfg(test)]
mod tests {
    use crate::compose::testing::{assert_composes, assert_fires, composed};
    use crate::diagnostics::codes::UNDETERMINED_EXTENT;

    fn graph(inputs: &str) -> String {
        format!("graph G {{ @input {{ {inputs} }} @output {{ y: real[~]; }} @compose {{ y = x; }} }}")
    }

    #[test]
    fn s2_6_a_bounded_extent_of_the_main_graph_tells_its_name() {
        for (inputs, bound) in [
            ("x: real[2 * s|10];", 10),
            ("z: real[2 * s + 1|11]; x: real[s];", 5),
            ("x: real[s]; z: real[s + 2|8];", 6),
            ("x: real[2 * s|10]; z: real[s|3];", 10),
        ] {
            let model = composed(&graph(inputs)).unwrap();
            let entry = model.function(model.entry).unwrap();
            let output = entry.outputs[0].tensors.values()[0];
            assert_eq!(entry.values[output.0 as usize].tensor.shape[0].bound(), bound, "{inputs}");
            assert!(!entry.checks.is_empty(), "{inputs}");
        }
        assert_composes(&graph("x: real[s|4]; z: real[2 * s|8];"));
        assert_fires(&UNDETERMINED_EXTENT, &graph("x: real[2 * s + t|10];"));
    }
}
