// SPDX-License-Identifier: Apache-2.0
//! Dynamic extents: expressions over symbols, with an upper bound (2.6, 3.1).

use std::convert::Infallible;
use std::ops::Add as _;
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use skript_semantics::{Scalar, ScalarOp};

use crate::eval::ranges::{Known, Work, box_facts, extent_expr, upper_bound};
use crate::eval::sum::Sum;
use crate::eval::value::count;
use crate::eval::{Atom, Value};
use crate::model::check::is_shape_scalar;
use crate::model::{Expr, Extent, FormulaIndex, Node, ShapeExpr, TensorType};

/// The dynamic extent for an int expression over dynamic extents; `None` if it depends on anything else or has no upper
/// bound.
pub(crate) fn extent_of(expr: &Expr) -> Option<Extent> {
    if let Node::Extent(extent) = &expr.node {
        return Some(extent.clone());
    }
    let bound = upper_bound(expr)?;
    Some(Extent::Dynamic { expr: Arc::new(shape_expr(expr)?), bound })
}

/// The maximum, as an extent, of an int expression over a box of indices; `None` if it is unbounded.
pub(crate) fn largest(expr: &Expr, indices: &[FormulaIndex]) -> Option<Extent> {
    let sum = Sum::from(expr);
    let constant = Sum::constant(sum.offset());
    let at_end = |(term, factor): (Expr, i64)| match term.node {
        // From zero to its extent, exclusive.
        Node::Index(_) if factor < 0 => Some(Sum::constant(0)),
        Node::Index(position) => {
            let extent = extent_expr(&indices.get(position)?.extent);
            let last = Sum::from(&extent).plus(-1);
            Some(last.scale(factor))
        }
        _ => is_shape_scalar(&term).then(|| Sum::from(&term).scale(factor)),
    };
    let ends: Option<Vec<Sum>> = sum.into_terms().map(at_end).collect();
    let in_terms_of_extents =
        ends.and_then(|ends| extent_of(&ends.iter().fold(constant, |sum, end| sum.add(end)).into()));
    in_terms_of_extents.or_else(|| {
        let work = Work::default();
        let facts = box_facts(indices);
        let high = Known::new((indices, &[]), &facts, &work).interval(expr).high;
        let fixed = u64::try_from(high.max(0)).ok().map(Extent::Fixed);
        fixed.filter(|_| high < i64::MAX)
    })
}

/// The expression in terms of the names of dynamic extents; `None` if it reads elements of tensors.
pub(crate) fn shape_expr(expr: &Expr) -> Option<ShapeExpr> {
    Some(match &expr.node {
        Node::Literal(Scalar::Int(value)) => ShapeExpr::Constant(*value),
        Node::Literal(Scalar::Real(value)) => ShapeExpr::Real(value.to_bits()),
        Node::Literal(Scalar::Bool(value)) => ShapeExpr::Constant(i64::from(*value)),
        Node::Extent(Extent::Fixed(n)) => ShapeExpr::Constant(i64::try_from(*n).ok()?),
        Node::Extent(Extent::Dynamic { expr, .. }) => (**expr).clone(),
        Node::Apply { op, operands } => {
            ShapeExpr::Apply { op: *op, operands: operands.iter().map(shape_expr).collect::<Option<_>>()? }
        }
        // A lookup in a list of literals.
        Node::Table { items, index } => {
            let index = shape_expr(index)?;
            let apply = |op, operands| ShapeExpr::Apply { op, operands };
            let numbers = items.iter().map(|item| shape_expr(&Expr::literal(*item)));
            let numbers: Vec<ShapeExpr> = numbers.collect::<Option<_>>()?;
            let mut locations = numbers.into_iter().enumerate().rev();
            let (_, last) = locations.next()?;
            locations.fold(last, |others, (location, number)| {
                let location = ShapeExpr::Constant(count(location));
                let here = apply(ScalarOp::Eq, vec![index.clone(), location]);
                apply(ScalarOp::Select, vec![here, number, others])
            })
        }
        _ => return None,
    })
}

/// Renames the extents of arguments to symbols in the order of their first use, so that instances compare equal
/// independently of the caller's names. The symbol for an extent of an input spells its first use in the syntax of the
/// language, because messages show it.
#[derive(Default)]
pub(crate) struct Canonical {
    /// The input whose extents are renamed, if it has a name.
    input: Option<String>,
    /// The substitution, in the caller's terms.
    symbols: Vec<(String, Arc<ShapeExpr>, u64)>,
    /// The number of symbols that are extents of tensors.
    learned: usize,
}

impl Canonical {
    /// Associates later symbols with this input: `x`, or `xs[2]`.
    pub(crate) fn enter(&mut self, input: impl Into<String>) {
        self.input = Some(input.into());
    }

    /// The current input.
    pub(crate) fn input(&self) -> Option<&str> {
        self.input.as_deref()
    }

    pub(crate) fn tensor(&mut self, tensor: &TensorType) -> TensorType {
        let shape = tensor.shape.iter().enumerate().map(|(dimension, extent)| {
            let location = self.input.as_ref().map(|input| format!("{input}.shape[{dimension}]"));
            self.extent(extent, location)
        });
        TensorType { kind: tensor.kind, shape: shape.collect() }
    }

    /// A pack of dynamic length, stored in one tensor along its first dimension.
    pub(crate) fn stack(&mut self, tensor: &TensorType) -> TensorType {
        let shape = tensor.shape.iter().enumerate().map(|(dimension, extent)| {
            let location = self.input.as_ref().map(|input| match dimension.checked_sub(1) {
                Some(inner) => format!("{input}[0].shape[{inner}]"),
                None => format!("{input}.size"),
            });
            self.extent(extent, location)
        });
        TensorType { kind: tensor.kind, shape: shape.collect() }
    }

    fn extent(&mut self, extent: &Extent, location: Option<String>) -> Extent {
        let Extent::Dynamic { expr, bound } = extent else {
            return extent.clone();
        };
        if let Some(known) = self.known(extent) {
            return known;
        }
        let name = location.unwrap_or_else(|| format!("extent.{}", self.symbols.len()));
        self.symbols.push((name.clone(), Arc::clone(expr), *bound));
        Extent::Dynamic { expr: Arc::new(ShapeExpr::Symbol(name)), bound: *bound }
    }

    /// Ends the arguments: later symbols do not belong to a tensor of the callee.
    pub(crate) fn end_of_tensors(&mut self) {
        self.learned = self.symbols.len();
        self.input = None;
    }

    /// An attribute's value with dynamic extents in the callee's terms.
    pub(crate) fn attribute(&mut self, value: &Value) -> Value {
        let atom = |this: &mut Self, atom: &Atom| match atom {
            Atom::Runtime(expr) => Atom::from_expr(this.expr(expr)),
            Atom::Series(series) => Atom::Series(Rc::new(series.map(|expr| this.expr(expr)))),
            other => other.clone(),
        };
        match value {
            Value::Null => Value::Null,
            Value::Atom(single) => Value::Atom(atom(self, single)),
            Value::Pack(pack) => {
                let Ok(renamed) = pack.map(|item| Ok::<_, Infallible>(atom(self, &item)));
                Value::Pack(renamed.with_type(pack.item_type().cloned()))
            }
        }
    }

    fn expr(&mut self, expr: &Expr) -> Expr {
        let extent = match &expr.node {
            Node::Extent(extent) => Some(self.extent(extent, None)),
            // A sum that is an extent of some argument is that extent in the callee as well.
            Node::Apply { .. } => extent_of(expr).and_then(|e| self.known(&e)),
            _ => None,
        };
        if let Some(extent) = extent {
            return extent_expr(&extent);
        }
        expr.with_children(|child| Some(self.expr(child))).unwrap_or_else(|| expr.clone())
    }

    fn known(&self, extent: &Extent) -> Option<Extent> {
        let Extent::Dynamic { expr, bound } = extent else {
            return None;
        };
        let (name, ..) = self.symbols.iter().find(|(_, e, b)| e == expr && b == bound)?;
        Some(Extent::Dynamic { expr: Arc::new(ShapeExpr::Symbol(name.clone())), bound: *bound })
    }

    /// Symbols that no tensor of the callee determines: their names in the callee, and the extents in the caller's
    /// terms.
    pub(crate) fn parameters(&self) -> Vec<(String, Extent)> {
        let parameters = self.symbols.iter().skip(self.learned);
        parameters
            .map(|(name, expr, bound)| {
                let extent = Extent::Dynamic { expr: Arc::clone(expr), bound: *bound };
                (name.clone(), extent)
            })
            .collect()
    }

    /// The caller's expression for each symbol.
    pub(crate) fn meanings(&self) -> FxHashMap<String, ShapeExpr> {
        self.symbols.iter().map(|(name, expr, _)| (name.clone(), (**expr).clone())).collect()
    }
}

/// The number of operations of the largest extent of a callee's tensor in the caller's terms.
pub(crate) fn translated_operations(tensor: &TensorType, meanings: &FxHashMap<String, ShapeExpr>) -> usize {
    let mut sizes: FxHashMap<String, usize> = FxHashMap::default();
    let mut size = |name: &str| {
        if let Some(known) = sizes.get(name) {
            return *known;
        }
        let operations = meanings.get(name).map_or(0, ShapeExpr::operations);
        sizes.insert(name.to_string(), operations);
        operations
    };
    let extents = tensor.shape.iter().map(|extent| match extent {
        Extent::Fixed(_) => 0,
        Extent::Dynamic { expr, .. } => expr.operations_with(&mut size),
    });
    extents.fold(0, usize::max)
}

/// A callee's tensor type in the caller's terms; symbols of the callee become new symbols of the caller.
pub(crate) fn translated(
    tensor: &TensorType,
    meanings: &mut FxHashMap<String, ShapeExpr>,
    fresh: &mut dyn FnMut() -> String,
) -> TensorType {
    TensorType {
        kind: tensor.kind,
        shape: tensor
            .shape
            .iter()
            .map(|extent| match extent {
                Extent::Fixed(_) => extent.clone(),
                Extent::Dynamic { expr, bound } => {
                    Extent::Dynamic { expr: Arc::new(translated_expr(expr, meanings, fresh)), bound: *bound }
                }
            })
            .collect(),
    }
}

fn translated_expr(
    expr: &ShapeExpr,
    meanings: &mut FxHashMap<String, ShapeExpr>,
    fresh: &mut dyn FnMut() -> String,
) -> ShapeExpr {
    match expr {
        ShapeExpr::Constant(_) | ShapeExpr::Real(_) => expr.clone(),
        ShapeExpr::Symbol(name) => {
            meanings.entry(name.clone()).or_insert_with(|| ShapeExpr::Symbol(fresh())).clone()
        }
        ShapeExpr::Apply { op, operands } => ShapeExpr::Apply {
            op: *op,
            operands: operands.iter().map(|o| translated_expr(o, meanings, fresh)).collect(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skript_semantics::ScalarKind;

    fn dynamic(name: &str) -> Extent {
        Extent::Dynamic { expr: Arc::new(ShapeExpr::Symbol(name.to_string())), bound: 8 }
    }

    #[test]
    fn s2_6_extents_of_inputs_are_named_as_the_language_writes_them() {
        let tensor = |names: &[&str]| TensorType {
            kind: ScalarKind::Real,
            shape: names.iter().map(|name| dynamic(name)).collect(),
        };
        let text = |tensor: &TensorType| {
            let extents = tensor.shape.iter().map(Extent::to_string);
            extents.collect::<Vec<_>>().join(" ")
        };
        let mut canonical = Canonical::default();
        canonical.enter("x");
        let x = canonical.tensor(&tensor(&["n", "m"]));
        assert_eq!(text(&x), "x.shape[0]|8 x.shape[1]|8");
        canonical.enter("zs");
        let zs = canonical.stack(&tensor(&["k", "m", "l"]));
        assert_eq!(text(&zs), "zs.size|8 x.shape[1]|8 zs[0].shape[1]|8");
        canonical.end_of_tensors();
        assert_eq!(text(&canonical.tensor(&tensor(&["q"]))), "extent.4|8");
    }

    #[test]
    fn equal_extents_get_one_symbol_and_come_back() {
        let tensor =
            TensorType { kind: ScalarKind::Real, shape: vec![dynamic("n"), dynamic("m"), dynamic("n")] };
        let mut canonical = Canonical::default();
        let inner = canonical.tensor(&tensor);
        assert_eq!(inner.shape.first(), inner.shape.get(2));
        assert_ne!(inner.shape.first(), inner.shape.get(1));
        let outer = translated(&inner, &mut canonical.meanings(), &mut || "new".into());
        assert_eq!(outer, tensor);
    }
}
