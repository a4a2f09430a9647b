// SPDX-License-Identifier: Apache-2.0
//! The types and values of an invocation's arguments, which identify its instance.

use std::fmt::Write as _;
use std::rc::Rc;

use indexmap::IndexMap;

use crate::compose::operators::OperatorRef;
use crate::compose::shapes::dynamic_extent::Canonical;
use skript_semantics::ScalarKind;

use crate::eval::{Atom, TypeName, Value};
use crate::model::TensorType;
use crate::model::check::is_shape_scalar;
use crate::source::{FileId, Span};

/// One tensor, or a compile-time scalar that becomes a rank-0 constant of the parameter's type.
#[derive(Clone, Debug)]
pub(crate) enum ArgumentItem {
    Tensor(Rc<TensorType>),
    Scalar(ScalarKind),
}

/// An input of the invocation.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    /// No argument, `~`, or a null value.
    Null,
    Single(ArgumentItem),
    Pack(Vec<ArgumentItem>),
    /// An empty pack, with the type of its items.
    Empty(ArgumentItem),
    /// A pack of dynamic length: the type of its items, and the type of the tensor that holds all of them.
    Stack(ArgumentItem, Rc<TensorType>),
}

/// Everything that an instance depends on.
#[derive(Clone, Debug)]
pub(crate) struct ArgumentList {
    /// Explicit types by generic name.
    pub types: IndexMap<String, TypeName>,
    /// Attributes with the spans of their values.
    pub attributes: IndexMap<String, (Value, Span)>,
    /// The arguments in the order of the inputs; there may be fewer.
    pub arguments: Vec<Argument>,
    pub spans: Vec<Span>,
    pub invocation: Span,
    /// For each tensor of the arguments in order, the index of the first equal tensor; empty if no tensor occurs twice.
    pub same: Vec<usize>,
    /// Dynamic extents in attributes that no argument has: the callee's names for them, and their upper bounds.
    pub extents: Vec<(String, u64)>,
}

impl ArgumentList {
    /// The identity of an instance: everything that its function may depend on.
    pub(crate) fn instance_key(&self, operator: &OperatorRef) -> String {
        let mut key = format!("{:p}", operator.definition);
        for (name, ty) in &self.types {
            // Writing to a string cannot fail.
            let _ = write!(key, "<{name}={}>", ty.name());
        }
        for (name, (value, _)) in &self.attributes {
            let _ = write!(key, "|{name}={value:?}");
        }
        for argument in &self.arguments {
            key.push(';');
            argument.describe_into(&mut key);
        }
        if !self.same.is_empty() {
            let _ = write!(key, ";same {:?}", self.same);
        }
        key
    }
}

impl Default for ArgumentList {
    fn default() -> Self {
        ArgumentList {
            types: IndexMap::new(),
            attributes: IndexMap::new(),
            arguments: Vec::new(),
            spans: Vec::new(),
            invocation: Span::new(FileId(0), 0, 0),
            same: Vec::new(),
            extents: Vec::new(),
        }
    }
}

impl ArgumentList {
    /// The span of argument n, or of the invocation.
    pub(crate) fn span(&self, index: usize) -> Span {
        self.spans.get(index).copied().unwrap_or(self.invocation)
    }
}

impl ArgumentItem {
    pub(crate) fn new(atom: &Atom, canonical: &mut Canonical) -> Option<Self> {
        match atom {
            Atom::Tensor(t) if t.tensor.fixed_shape().is_some() => {
                Some(ArgumentItem::Tensor(Rc::clone(&t.tensor)))
            }
            Atom::Tensor(t) => Some(ArgumentItem::Tensor(Rc::new(canonical.tensor(&t.tensor)))),
            Atom::Runtime(expr) if is_shape_scalar(expr) => Some(ArgumentItem::Scalar(expr.kind)),
            other => other.scalar().map(|s| ArgumentItem::Scalar(s.kind())),
        }
    }

    pub(crate) fn kind(&self) -> ScalarKind {
        match self {
            ArgumentItem::Tensor(t) => t.kind,
            ArgumentItem::Scalar(kind) => *kind,
        }
    }

    fn describe_into(&self, key: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            ArgumentItem::Tensor(t) => write!(key, "{}{:?}", t.kind.name(), t.shape),
            ArgumentItem::Scalar(kind) => write!(key, "{}", kind.name()),
        };
    }
}

impl Argument {
    /// Describes a value; `None` if an item cannot be passed to an operator.
    pub(crate) fn new(value: &Value, canonical: &mut Canonical) -> Option<Self> {
        Some(match value {
            Value::Null => Argument::Null,
            Value::Atom(Atom::Stack(stack)) => {
                let whole = canonical.stack(&stack.tensor);
                let item = whole.item();
                Argument::Stack(ArgumentItem::Tensor(Rc::new(item)), Rc::new(whole))
            }
            Value::Atom(atom) => Argument::Single(ArgumentItem::new(atom, canonical)?),
            Value::Pack(pack) => {
                if let Some(tensor) = pack.empty_tensor() {
                    return Some(Argument::Empty(ArgumentItem::Tensor(Rc::clone(tensor))));
                }
                let name = canonical.input().map(str::to_string);
                let mut items = Vec::with_capacity(pack.len());
                for (position, item) in pack.iter().enumerate() {
                    if let Some(name) = &name {
                        canonical.enter(format!("{name}[{position}]"));
                    }
                    items.push(ArgumentItem::new(&item, canonical)?);
                }
                Argument::Pack(items)
            }
        })
    }

    pub(crate) fn items(&self) -> &[ArgumentItem] {
        match self {
            Argument::Null | Argument::Empty(_) => &[],
            Argument::Single(item) => std::slice::from_ref(item),
            Argument::Pack(items) => items,
            Argument::Stack(item, _) => std::slice::from_ref(item),
        }
    }

    /// The items, for checks of types and shapes; for an empty pack, one item that represents their type.
    pub(crate) fn typed_items(&self) -> &[ArgumentItem] {
        match self {
            Argument::Empty(item) => std::slice::from_ref(item),
            other => other.items(),
        }
    }

    /// Renames the extents of an empty pack, after those of all other arguments: they do not belong to tensors of the callee.
    pub(crate) fn name_extents(&mut self, canonical: &mut Canonical) {
        if let Argument::Empty(ArgumentItem::Tensor(tensor)) = self {
            *tensor = Rc::new(canonical.tensor(tensor));
        }
    }

    pub(crate) fn describe_into(&self, key: &mut String) {
        match self {
            Argument::Null => key.push('~'),
            Argument::Single(item) => item.describe_into(key),
            Argument::Empty(item) => {
                key.push_str("none of ");
                item.describe_into(key);
            }
            Argument::Stack(_, whole) => {
                // Writing to a string cannot fail.
                let _ = write!(key, "stack {}{:?}", whole.kind.name(), whole.shape);
            }
            Argument::Pack(items) => {
                key.push('[');
                for item in items {
                    item.describe_into(key);
                    key.push(',');
                }
                key.push(']');
            }
        }
    }
}
