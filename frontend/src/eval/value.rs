// SPDX-License-Identifier: Apache-2.0
//! Values of expressions while composing: compile-time scalars and packs, tensors, and scalars of formulas.

use crate::eval::dynamic_pack::DynamicPack;
use crate::eval::pack::Pack;
use crate::eval::series::Series;
use crate::model::print::infix;
use crate::model::{self, AttributeValue, TensorType, ValueId};
use skript_semantics::{Scalar, ScalarKind};
use std::fmt::Write as _;
use std::rc::Rc;

/// One item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Atom {
    Bool(bool),
    Int(i64),
    Real(f64),
    Str(Rc<str>),
    /// A scalar that is known only at run time.
    Runtime(Rc<model::Expr>),
    /// `|i|` in a formula: an index that is checked by the access that uses it.
    Guarded(Rc<Guarded>),
    Tensor(TensorRef),
    /// A pack of tensors of dynamic length, in one tensor along its first dimension.
    Stack(TensorRef),
    /// A slice or concatenation of packs of dynamic length.
    DynamicPack(Rc<DynamicPack>),
    /// An item of a [`Atom::Stack`] in a formula.
    Item(Rc<(TensorRef, Atom)>),
    /// A pack of scalars of dynamic length.
    Series(Rc<Series>),
    /// A tensor of a pack, selected at each step of a formula.
    Selected(Rc<Selected>),
    /// The value of a failed invocation or declaration; already reported.
    Poison,
}

/// An index with its guard.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Guarded {
    pub index: Atom,
    /// Replacements below zero and beyond the extent.
    pub(crate) remap: Option<(Atom, Atom)>,
}

/// One of several tensors of the same type, selected by an index that is known only at run time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Selected {
    pub tensors: Vec<TensorRef>,
    pub index: model::Expr,
}

/// A tensor of the function that is being composed.
#[derive(Clone, Debug)]
pub(crate) struct TensorRef {
    pub id: ValueId,
    pub tensor: Rc<TensorType>,
}

impl PartialEq for TensorRef {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Atom(Atom),
    Pack(Pack),
}

impl Value {
    pub(crate) fn int(value: i64) -> Self {
        Value::Atom(Atom::Int(value))
    }

    pub(crate) fn bool(value: bool) -> Self {
        Value::Atom(Atom::Bool(value))
    }

    pub(crate) fn pack(items: impl IntoIterator<Item = Atom>) -> Self {
        Value::Pack(items.into_iter().collect())
    }

    #[cfg(test)]
    pub(crate) fn ints(items: impl IntoIterator<Item = i64>) -> Self {
        Value::pack(items.into_iter().map(Atom::Int))
    }

    pub(crate) fn poison() -> Self {
        Value::Atom(Atom::Poison)
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// All items; none for null.
    pub(crate) fn atoms(&self) -> impl ExactSizeIterator<Item = Atom> + DoubleEndedIterator + Clone + '_ {
        let at = |position| match self {
            Value::Pack(pack) => pack.get(position),
            Value::Atom(atom) => Some(atom.clone()),
            Value::Null => None,
        };
        let length = match self {
            Value::Pack(pack) => pack.len(),
            Value::Atom(_) => 1,
            Value::Null => 0,
        };
        (0..length).map(move |position| {
            at(position).unwrap_or_else(|| unreachable!("internal compiler error: a position beyond a value"))
        })
    }

    /// Whether an item is of a kind, as [`Pack::any_of_kind`].
    pub(crate) fn any_of_kind(&self, is_of_kind: impl Fn(&Atom) -> bool) -> bool {
        match self {
            Value::Null => false,
            Value::Atom(atom) => is_of_kind(atom),
            Value::Pack(pack) => pack.any_of_kind(is_of_kind),
        }
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.any_of_kind(|a| matches!(a, Atom::Poison))
    }

    /// The number of items of a pack of scalars.
    pub(crate) fn item_count(&self) -> Option<Value> {
        match self {
            Value::Pack(pack) => Some(Value::int(count(pack.len()))),
            Value::Atom(Atom::Series(series)) => Some(Value::Atom(Atom::from_expr(series.length.clone()))),
            _ => None,
        }
    }

    pub(crate) fn has_tensor(&self) -> bool {
        self.any_of_kind(|a| matches!(a, Atom::Tensor(_)))
    }

    /// The value as stored in an instance; run-time values are unknown.
    pub(crate) fn to_attribute(&self) -> AttributeValue {
        self.attribute_with(&|_| None)
    }

    /// The value as stored in an instance; `run_time` converts scalars that are known only at run time.
    pub(crate) fn attribute_with(
        &self,
        run_time: &dyn Fn(&model::Expr) -> Option<AttributeValue>,
    ) -> AttributeValue {
        let one = |atom: &Atom| match atom {
            Atom::Runtime(expr) => run_time(expr).unwrap_or(AttributeValue::Unknown),
            known => known.to_attribute(),
        };
        match self {
            Value::Null => AttributeValue::Null,
            Value::Atom(atom) => one(atom),
            Value::Pack(pack) => AttributeValue::List(pack.iter().map(|item| one(&item)).collect()),
        }
    }

    /// Converts a value from a tool or from the command line.
    pub(crate) fn from_attribute(value: &AttributeValue) -> Self {
        match value {
            AttributeValue::Null => Value::Null,
            AttributeValue::Unknown => Value::Atom(Atom::Poison),
            AttributeValue::Bool(b) => Value::bool(*b),
            AttributeValue::Int(i) => Value::int(*i),
            AttributeValue::Real(r) => Value::Atom(Atom::Real(*r)),
            AttributeValue::Str(s) => Value::Atom(Atom::Str(s.as_str().into())),
            AttributeValue::Run { .. } => Value::poison(),
            AttributeValue::List(items) => {
                Value::pack(items.iter().map(|item| match Value::from_attribute(item) {
                    Value::Atom(atom) => atom,
                    _ => Atom::Poison,
                }))
            }
        }
    }

    /// The maximum text size in bytes: strings may contain strings, and each item of a pack is printed.
    pub(crate) const MAX_TEXT_BYTES: usize = 1 << 20;

    /// The text in messages and in string formatting: strings without quotes, packs in brackets. It is truncated after
    /// [`Value::MAX_TEXT_BYTES`].
    pub(crate) fn text(&self) -> String {
        match self {
            Value::Null => "null".to_string(),
            Value::Atom(atom) => atom.text(),
            Value::Pack(pack) => {
                let mut text = "[".to_string();
                for (index, item) in pack.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { ", " });
                    text.push_str(&item.text());
                    if text.len() > Value::MAX_TEXT_BYTES {
                        return text + "…";
                    }
                }
                text + "]"
            }
        }
    }
}

impl Atom {
    pub(crate) fn from_scalar(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool(b) => Atom::Bool(b),
            Scalar::Int(i) => Atom::Int(i),
            Scalar::Real(r) => Atom::Real(r),
        }
    }

    /// The compile-time scalar, if it is one.
    pub(crate) fn scalar(&self) -> Option<Scalar> {
        match self {
            Atom::Bool(b) => Some(Scalar::Bool(*b)),
            Atom::Int(i) => Some(Scalar::Int(*i)),
            Atom::Real(r) => Some(Scalar::Real(*r)),
            Atom::Runtime(expr) => match expr.node {
                model::Node::Literal(scalar) => Some(scalar),
                _ => None,
            },
            _ => None,
        }
    }

    /// The kind of a scalar, at compile time or run time.
    pub(crate) fn kind(&self) -> Option<ScalarKind> {
        match self {
            Atom::Bool(_) => Some(ScalarKind::Bool),
            Atom::Int(_) => Some(ScalarKind::Int),
            Atom::Real(_) => Some(ScalarKind::Real),
            Atom::Runtime(expr) => Some(expr.kind),
            Atom::Guarded(_) => Some(ScalarKind::Int),
            _ => None,
        }
    }

    /// The scalar as an expression of a formula.
    pub(crate) fn to_expr(&self) -> Option<model::Expr> {
        match self {
            Atom::Runtime(expr) => Some((**expr).clone()),
            other => other.scalar().map(model::Expr::literal),
        }
    }

    pub(crate) fn from_expr(expr: model::Expr) -> Self {
        match expr.node {
            model::Node::Literal(scalar) => Atom::from_scalar(scalar),
            _ => Atom::Runtime(Rc::new(expr)),
        }
    }

    fn to_attribute(&self) -> AttributeValue {
        match self {
            Atom::Bool(b) => AttributeValue::Bool(*b),
            Atom::Int(i) => AttributeValue::Int(*i),
            Atom::Real(r) => AttributeValue::Real(*r),
            Atom::Str(s) => AttributeValue::Str(s.to_string()),
            _ => AttributeValue::Unknown,
        }
    }

    /// The kind of the value, for messages.
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Atom::Bool(_) => "bool",
            Atom::Int(_) => "int",
            Atom::Real(_) => "real",
            Atom::Str(_) => "str",
            Atom::Runtime(_) => "run-time value",
            Atom::Guarded(_) => "guarded index",
            Atom::Tensor(_) | Atom::Item(_) | Atom::Selected(_) => "tensor",
            Atom::Stack(_) | Atom::DynamicPack(_) | Atom::Series(_) => "pack of dynamic length",
            Atom::Poison => "invalid value",
        }
    }

    pub(crate) fn text(&self) -> String {
        match self {
            Atom::Bool(b) => b.to_string(),
            Atom::Int(i) => i.to_string(),
            Atom::Real(r) => Scalar::Real(*r).to_string(),
            Atom::Str(s) => s.to_string(),
            Atom::Tensor(t) => {
                let mut text = format!("{}[", t.tensor.kind.name());
                for (index, extent) in t.tensor.shape.iter().enumerate() {
                    let comma = if index == 0 { "" } else { "," };
                    // Writing to a string cannot fail.
                    let _ = write!(text, "{comma}{extent}");
                }
                text + "]"
            }
            Atom::Runtime(expr) => match &expr.node {
                model::Node::Extent(extent) => extent.to_string(),
                _ => written(expr).unwrap_or_else(|| self.describe().to_string()),
            },
            Atom::Series(series) => series.text(),
            other => other.describe().to_string(),
        }
    }
}

/// The source text of a run-time scalar, unless it reads tensors.
fn written(expr: &model::Expr) -> Option<String> {
    use model::Node;
    let operand = |expr: &model::Expr| {
        let text = written(expr)?;
        let is_one = text.chars().all(|c| c.is_alphanumeric() || c == '_');
        let is_call = matches!(&expr.node, Node::Apply { op, .. } if infix(*op).is_none());
        Some(if is_one || is_call { text } else { format!("({text})") })
    };
    match &expr.node {
        Node::Literal(value) => Some(Atom::from_scalar(*value).text()),
        Node::Extent(model::Extent::Dynamic { expr, .. }) => Some(expr.to_string()),
        Node::Extent(extent) => Some(extent.to_string()),
        Node::Apply { op, operands } => match (infix(*op), operands.as_slice()) {
            (Some(sign), [a, b]) => Some(format!("{} {sign} {}", operand(a)?, operand(b)?)),
            _ => {
                let texts: Option<Vec<String>> = operands.iter().map(written).collect();
                let name = format!("{op:?}").to_lowercase();
                Some(format!("{name}({})", texts?.join(", ")))
            }
        },
        Node::Select { condition, then, otherwise } => {
            Some(format!("{} ? {} : {}", operand(condition)?, operand(then)?, operand(otherwise)?))
        }
        Node::Index(_) | Node::Local(_) | Node::Access { .. } | Node::Table { .. } => None,
    }
}

/// A number of items as an int.
pub(crate) fn count(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// Describes a value, for messages.
pub(crate) fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_string(),
        Value::Atom(atom) => match atom {
            Atom::Runtime(_) | Atom::Guarded(_) | Atom::Tensor(_) | Atom::Poison => {
                atom.describe().to_string()
            }
            _ => format!("{} {}", atom.describe(), atom.text()),
        },
        Value::Pack(pack) => format!("a pack of {} items", pack.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_time_values_are_named_by_their_names() {
        use skript_semantics::ScalarOp;
        let n = || {
            let expr = std::sync::Arc::new(model::ShapeExpr::Symbol("n".into()));
            model::Expr {
                kind: ScalarKind::Int,
                node: model::Node::Extent(model::Extent::Dynamic { expr, bound: 8 }),
            }
        };
        let apply = |op, a, b| model::Expr::apply(ScalarKind::Int, op, vec![a, b]);
        let sum = apply(ScalarOp::Add, n(), model::Expr::int(2));
        let product = apply(ScalarOp::Mul, sum, n());
        assert_eq!(Atom::from_expr(n()).text(), "n|8");
        assert_eq!(Atom::from_expr(product).text(), "(n + 2) * n");
    }

    #[test]
    fn values_print_as_the_language_writes_them() {
        assert_eq!(Value::ints([1, -2]).text(), "[1, -2]");
        assert_eq!(Value::Atom(Atom::Real(1.0)).text(), "1.0");
        assert_eq!(Value::Atom(Atom::Real(f64::NEG_INFINITY)).text(), "-inf");
    }
}
