// SPDX-License-Identifier: Apache-2.0
//! The types and values of an invocation's arguments, which identify its instance.

use std::fmt::Write as _;
use std::rc::Rc;

use indexmap::IndexMap;

use crate::compose::operators::OperatorRef;
use crate::compose::shapes::dynamic_extent::Canonical;

use crate::eval::{Atom, ItemType, TypeName, Value};
use crate::model::TensorType;
use crate::model::check::is_shape_scalar;
use crate::source::{FileId, Span};

/// An input of the invocation. Compile-time scalars become rank-0 constants of the parameter's type.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    /// No argument, `~`, or a null value.
    Null,
    Single(ItemType),
    Pack(Vec<ItemType>),
    /// An empty pack, with the type of its items.
    Empty(ItemType),
    /// A pack of dynamic length: the type of its items, and the type of the tensor that holds all of them.
    Stack(ItemType, Rc<TensorType>),
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

/// The type of an item; `None` if it cannot be passed to an operator.
pub(crate) fn type_of_item(atom: &Atom, canonical: &mut Canonical) -> Option<ItemType> {
    match atom {
        Atom::Tensor(t) if t.tensor.fixed_shape().is_some() => Some(ItemType::Tensor(Rc::clone(&t.tensor))),
        Atom::Tensor(t) => Some(ItemType::Tensor(Rc::new(canonical.tensor(&t.tensor)))),
        Atom::Runtime(expr) if is_shape_scalar(expr) => Some(ItemType::Scalar(expr.kind)),
        other => other.scalar().map(|s| ItemType::Scalar(s.kind())),
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
                Argument::Stack(ItemType::Tensor(Rc::new(item)), Rc::new(whole))
            }
            Value::Atom(atom) => Argument::Single(type_of_item(atom, canonical)?),
            Value::Pack(pack) => {
                if let Some(tensor) = pack.empty_tensor() {
                    return Some(Argument::Empty(ItemType::Tensor(Rc::clone(tensor))));
                }
                let name = canonical.input().map(str::to_string);
                let mut items = Vec::with_capacity(pack.len());
                for (position, item) in pack.iter().enumerate() {
                    if let Some(name) = &name {
                        canonical.enter(format!("{name}[{position}]"));
                    }
                    items.push(type_of_item(&item, canonical)?);
                }
                Argument::Pack(items)
            }
        })
    }

    pub(crate) fn items(&self) -> &[ItemType] {
        match self {
            Argument::Null | Argument::Empty(_) => &[],
            Argument::Single(item) => std::slice::from_ref(item),
            Argument::Pack(items) => items,
            Argument::Stack(item, _) => std::slice::from_ref(item),
        }
    }

    /// The items, for checks of types and shapes; for an empty pack, one item that represents their type.
    pub(crate) fn typed_items(&self) -> &[ItemType] {
        match self {
            Argument::Empty(item) => std::slice::from_ref(item),
            other => other.items(),
        }
    }

    /// Renames the extents of an empty pack, after those of all other arguments: they do not belong to tensors of the callee.
    pub(crate) fn name_extents(&mut self, canonical: &mut Canonical) {
        if let Argument::Empty(ItemType::Tensor(tensor)) = self {
            *tensor = Rc::new(canonical.tensor(tensor));
        }
    }

    pub(crate) fn describe_into(&self, key: &mut String) {
        let text = |item: &ItemType| match item {
            ItemType::Tensor(t) => format!("{}{:?}", t.kind.name(), t.shape),
            ItemType::Scalar(kind) => kind.name().to_string(),
        };
        match self {
            Argument::Null => key.push('~'),
            Argument::Single(item) => key.push_str(&text(item)),
            Argument::Empty(item) => key.extend(["none of ", &text(item)]),
            Argument::Stack(_, whole) => {
                key.extend(["stack ", &text(&ItemType::Tensor(Rc::clone(whole)))]);
            }
            Argument::Pack(items) => {
                key.push('[');
                items.iter().for_each(|item| key.extend([&text(item), ","]));
                key.push(']');
            }
        }
    }
}
