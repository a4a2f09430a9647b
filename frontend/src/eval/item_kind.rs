// SPDX-License-Identifier: Apache-2.0
//! The item type of packs without items: an empty sum of reals is a real.

use skript_semantics::ScalarKind;

use super::evaluator::{Evaluator, TypeName};
use super::value::{Atom, Pack, Value};
use crate::ast::{BinaryOp, Expr, ExprKind, Item};

impl Evaluator<'_> {
    /// An empty value with the type of its expression.
    pub(crate) fn typed(&self, value: Value, expr: &Expr) -> Value {
        match value {
            Value::Pack(pack) if pack.is_empty() && pack.kind.is_none() => {
                Value::Pack(Pack { kind: self.item_kind(expr), ..pack })
            }
            value => value,
        }
    }

    fn item_kind(&self, expr: &Expr) -> Option<ScalarKind> {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Property { .. } => Some(ScalarKind::Int),
            ExprKind::Real(_) => Some(ScalarKind::Real),
            ExprKind::Bool(_) | ExprKind::NullTest(_) | ExprKind::Is { .. } | ExprKind::In { .. } => {
                Some(ScalarKind::Bool)
            }
            ExprKind::Name(name) => match self.scope.get(&name.name)? {
                Value::Pack(pack) => {
                    let first = pack.items.first().or(pack.repeated.as_deref());
                    first.and_then(|a| a.kind()).or(pack.kind)
                }
                Value::Atom(Atom::Series(series)) => Some(series.kind()),
                Value::Atom(atom) => atom.kind(),
                Value::Null => None,
            },
            ExprKind::Default(name) | ExprKind::Cast { target: name, .. } => match self.type_named(name) {
                Ok(TypeName::Scalar(kind)) => Some(kind),
                _ => None,
            },
            ExprKind::List(items) => items.iter().find_map(|item| match item {
                Item::Expr(value) | Item::Expand { value, .. } => self.item_kind(value),
                Item::Range { .. } => Some(ScalarKind::Int),
                Item::Zip { packs, .. } => packs.iter().find_map(|p| self.item_kind(p)),
            }),
            ExprKind::Index { base, .. } | ExprKind::Substitute { base, .. } => self.item_kind(base),
            ExprKind::Unary { operand, .. } => self.item_kind(operand),
            ExprKind::Binary { op, left, right } => match op {
                BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
                | BinaryOp::Implies => Some(ScalarKind::Bool),
                _ => self.item_kind(left).or_else(|| self.item_kind(right)),
            },
            ExprKind::Select { then, otherwise, .. } => {
                self.item_kind(then).or_else(|| self.item_kind(otherwise.as_deref()?))
            }
            ExprKind::Coalesce { value, fallback } => {
                self.item_kind(value).or_else(|| self.item_kind(fallback))
            }
            ExprKind::Fold { pack, .. } => self.item_kind(pack),
            ExprKind::Builtin { argument, name } => match name.name.as_str() {
                "abs" | "sign" => self.item_kind(argument),
                _ => Some(ScalarKind::Real),
            },
            ExprKind::Guard { .. } => Some(ScalarKind::Int),
            ExprKind::Str(_) | ExprKind::Error => None,
        }
    }
}
