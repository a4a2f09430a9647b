// SPDX-License-Identifier: Apache-2.0
//! The kind of a value without its evaluation: of a formula that has no steps, so that no element can be read.

use crate::ast::{BinaryOp, Expr, ExprKind, FoldOp, Ident, Item, Lowering, UnaryOp};
use crate::compose::invocations::builder::Builder;
use crate::eval::{Atom, TypeName, Value};
use rustc_hash::FxHashMap;
use skript_semantics::ScalarKind;

/// The kinds of names in a formula.
struct Names<'a, 'p> {
    builder: &'a Builder<'p>,
    /// The kinds of indices and local values.
    locals: FxHashMap<&'a str, Option<ScalarKind>>,
}

/// The kind of the values of a formula, if its text determines it.
pub(super) fn kind_of_text(builder: &Builder, lowering: &Lowering) -> Option<ScalarKind> {
    let indices = lowering.bounds.iter().map(|bound| (bound.name.name.as_str(), Some(ScalarKind::Int)));
    let mut names = Names { builder, locals: indices.collect() };
    for (name, value) in &lowering.locals {
        let kind = names.kind(value);
        names.locals.insert(&name.name, kind);
    }
    names.kind(&lowering.value)
}

impl Names<'_, '_> {
    fn kind(&self, expr: &Expr) -> Option<ScalarKind> {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Property { .. } | ExprKind::Guard { .. } => Some(ScalarKind::Int),
            ExprKind::Real(_) => Some(ScalarKind::Real),
            ExprKind::Bool(_) | ExprKind::NullTest(_) | ExprKind::Is { .. } | ExprKind::In { .. } => {
                Some(ScalarKind::Bool)
            }
            ExprKind::Name(name) => match self.locals.get(name.name.as_str()) {
                Some(kind) => *kind,
                None => self.kind_of_name(&name.name),
            },
            ExprKind::Default(target) | ExprKind::Cast { target, .. } => self.kind_of_type(target),
            ExprKind::List(items) => items.iter().find_map(|item| self.kind_of_item(item)),
            ExprKind::Index { base, .. } | ExprKind::Substitute { base, .. } => self.kind(base),
            ExprKind::Unary { op: UnaryOp::Not, .. } => Some(ScalarKind::Bool),
            ExprKind::Unary { operand, .. } => self.kind(operand),
            ExprKind::Builtin { argument, .. } => self.kind(argument),
            ExprKind::Binary { op, left, right } if is_arithmetic(*op) => {
                self.kind(left).or_else(|| self.kind(right))
            }
            ExprKind::Binary { .. } => Some(ScalarKind::Bool),
            ExprKind::Select { then, otherwise, .. } => {
                self.kind(then).or_else(|| self.kind(otherwise.as_ref()?))
            }
            ExprKind::Coalesce { value, fallback } => self.kind(value).or_else(|| self.kind(fallback)),
            ExprKind::Fold { pack, op, .. } => match op {
                FoldOp::Add | FoldOp::Mul | FoldOp::Min | FoldOp::Max | FoldOp::Uniform => self.kind(pack),
                _ => Some(ScalarKind::Bool),
            },
            ExprKind::Str(_) | ExprKind::Error => None,
        }
    }

    fn kind_of_item(&self, item: &Item) -> Option<ScalarKind> {
        match item {
            Item::Expr(value) | Item::Range { begin: value, .. } | Item::Expand { value, .. } => {
                self.kind(value)
            }
            Item::Zip { packs, .. } => packs.iter().find_map(|pack| self.kind(pack)),
        }
    }

    fn kind_of_name(&self, name: &str) -> Option<ScalarKind> {
        let value = self.builder.scope.get(name)?;
        match (value, value.atoms().next()) {
            (Value::Pack(pack), None) => pack.kind(),
            (_, Some(Atom::Tensor(tensor) | Atom::Stack(tensor))) => Some(tensor.tensor.kind),
            (_, Some(Atom::Series(series))) => Some(series.kind()),
            (_, atom) => atom?.kind(),
        }
    }

    fn kind_of_type(&self, name: &Ident) -> Option<ScalarKind> {
        let ty = self.builder.types.get(&name.name).copied().or_else(|| TypeName::concrete(&name.name));
        match ty? {
            TypeName::Scalar(kind) => Some(kind),
            TypeName::Str => None,
        }
    }
}

fn is_arithmetic(op: BinaryOp) -> bool {
    use BinaryOp::{Add, CeilDiv, Div, Max, Min, Mod, Mul, Pow, Sub};
    matches!(op, Add | Sub | Mul | Div | CeilDiv | Mod | Pow | Min | Max)
}
