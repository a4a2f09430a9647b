// SPDX-License-Identifier: Apache-2.0
//! Packs of known length (2.4): lists, ranges and repetitions. Ranges and repetitions take constant memory.

use crate::eval::value::Atom;
use crate::model::TensorType;
use skript_semantics::ScalarKind;
use std::fmt;
use std::rc::Rc;

/// A sequence of items.
#[derive(Clone)]
pub(crate) struct Pack {
    items: Items,
    /// The declared or deduced type of the items. It is the only source of the type of an empty pack.
    item_type: Option<ItemType>,
}

#[derive(Clone)]
enum Items {
    Listed(Rc<[Atom]>),
    /// `first`, `first + step` and so on; at least two ints.
    Range {
        first: i64,
        step: i64,
        length: usize,
    },
    /// The item is known even if there are no items (2.4, folding with `:=`).
    Repeated(Rc<Atom>, usize),
}

/// The type of the items of a pack.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ItemType {
    Scalar(ScalarKind),
    Tensor(Rc<TensorType>),
}

impl ItemType {
    pub(crate) fn kind(&self) -> ScalarKind {
        match self {
            ItemType::Scalar(kind) => *kind,
            ItemType::Tensor(tensor) => tensor.kind,
        }
    }
}

impl PartialEq for Pack {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

/// The text identifies instances of operators: it is the same for all representations of equal items.
impl fmt::Debug for Pack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.len();
        match (self.identical(), self.progression()) {
            (Some(item), _) => write!(f, "{item:?}..({length})")?,
            (None, Some((first, step))) => write!(f, "{first}:..({length}):{step}")?,
            (None, None) => f.debug_list().entries(self.iter()).finish()?,
        }
        if self.is_empty() { write!(f, " of {:?}", self.item_type) } else { Ok(()) }
    }
}

impl FromIterator<Atom> for Pack {
    fn from_iter<I: IntoIterator<Item = Atom>>(items: I) -> Self {
        Pack::from_items(Items::Listed(items.into_iter().collect()))
    }
}

impl Pack {
    fn from_items(items: Items) -> Self {
        Pack { items, item_type: None }
    }

    /// A range of ints, which do not overflow.
    pub(crate) fn range(first: i64, step: i64, length: usize) -> Self {
        match length {
            0 => Pack::from_iter([]),
            1 => Pack::from_iter([Atom::Int(first)]),
            _ => Pack::from_items(Items::Range { first, step, length }),
        }
    }

    pub(crate) fn repeated(item: Atom, length: usize) -> Self {
        Pack::from_items(Items::Repeated(Rc::new(item), length))
    }

    pub(crate) fn with_type(self, item_type: Option<ItemType>) -> Self {
        Pack { item_type, ..self }
    }

    pub(crate) fn len(&self) -> usize {
        match &self.items {
            Items::Listed(items) => items.len(),
            Items::Range { length, .. } | Items::Repeated(_, length) => *length,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn get(&self, position: usize) -> Option<Atom> {
        match &self.items {
            Items::Listed(items) => items.get(position).cloned(),
            Items::Range { first, step, length } => {
                let steps = i64::try_from(position).ok().filter(|_| position < *length)?;
                Some(Atom::Int(first.wrapping_add(step.wrapping_mul(steps))))
            }
            Items::Repeated(item, length) => (position < *length).then(|| (**item).clone()),
        }
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Atom> + DoubleEndedIterator + Clone + '_ {
        let at = |position| self.get(position);
        (0..self.len()).map(move |position| {
            at(position).unwrap_or_else(|| unreachable!("internal compiler error: a position beyond a pack"))
        })
    }

    /// Whether an item is of a kind, which all items of a range or of a repetition share.
    pub(crate) fn any_of_kind(&self, is_of_kind: impl Fn(&Atom) -> bool) -> bool {
        match &self.items {
            Items::Listed(items) => items.iter().any(is_of_kind),
            Items::Range { first, .. } => is_of_kind(&Atom::Int(*first)),
            Items::Repeated(item, length) => *length > 0 && is_of_kind(item),
        }
    }

    /// The repeated item, even of a pack without items.
    pub(crate) fn repeated_item(&self) -> Option<&Atom> {
        match &self.items {
            Items::Repeated(item, _) => Some(item),
            _ => None,
        }
    }

    /// The value that all items share.
    pub(crate) fn uniform(&self) -> Option<Atom> {
        let shared = self.repeated_item().cloned();
        shared.or_else(|| self.get(0).filter(|first| self.iter().all(|item| item == *first)))
    }

    /// The item that all items are identical to. 0 and −0 are equal, but not identical.
    pub(crate) fn identical(&self) -> Option<Atom> {
        let text = |item: &Atom| format!("{item:?}");
        self.uniform().filter(|first| match &self.items {
            Items::Listed(items) => items.iter().all(|item| text(item) == text(first)),
            Items::Range { .. } | Items::Repeated(..) => true,
        })
    }

    /// The first item and the difference of neighbours of at least two ints in arithmetic sequence.
    pub(crate) fn progression(&self) -> Option<(i64, i64)> {
        if let Items::Range { first, step, .. } = self.items {
            return Some((first, step));
        }
        let int = |item: Atom| if let Atom::Int(n) = item { Some(n) } else { None };
        let (first, second) = (int(self.get(0)?)?, int(self.get(1)?)?);
        let step = second.checked_sub(first)?;
        let mut neighbours = self.iter().zip(self.iter().skip(1));
        let follows = |(a, b): (Atom, Atom)| Some(int(b)?.checked_sub(int(a)?)? == step);
        neighbours.all(|pair| follows(pair) == Some(true)).then_some((first, step))
    }

    /// The kind of the items, if it is known.
    pub(crate) fn kind(&self) -> Option<ScalarKind> {
        let item = self.repeated_item().and_then(Atom::kind).or_else(|| self.get(0)?.kind());
        item.or_else(|| Some(self.item_type.as_ref()?.kind()))
    }

    pub(crate) fn item_type(&self) -> Option<&ItemType> {
        self.item_type.as_ref()
    }

    /// The type of the tensors of an empty pack.
    pub(crate) fn empty_tensor(&self) -> Option<&Rc<TensorType>> {
        match &self.item_type {
            Some(ItemType::Tensor(tensor)) if self.is_empty() => Some(tensor),
            _ => None,
        }
    }

    /// Computes the items of another pack; those of a repetition once.
    pub(crate) fn map<E>(&self, mut item: impl FnMut(Atom) -> Result<Atom, E>) -> Result<Pack, E> {
        Ok(match &self.items {
            Items::Repeated(shared, length) => Pack::repeated(item((**shared).clone())?, *length),
            _ => self.iter().map(item).collect::<Result<Pack, E>>()?,
        })
    }

    /// Computes items from those of two packs of the same length.
    pub(crate) fn zip<E>(
        &self,
        other: &Pack,
        mut item: impl FnMut(&Atom, &Atom) -> Result<Atom, E>,
    ) -> Result<Pack, E> {
        Ok(match (&self.items, &other.items) {
            (Items::Repeated(a, length), Items::Repeated(b, _)) => Pack::repeated(item(a, b)?, *length),
            _ => self.iter().zip(other.iter()).map(|(a, b)| item(&a, &b)).collect::<Result<Pack, E>>()?,
        })
    }

    /// The items as positions in another pack.
    pub(crate) fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.iter().filter_map(|item| if let Atom::Int(n) = item { usize::try_from(n).ok() } else { None })
    }

    /// The items at some positions. An empty pack keeps the type that all items share.
    pub(crate) fn select(&self, positions: &Pack) -> Pack {
        let part = match (&self.items, &positions.items) {
            (Items::Repeated(item, _), _) => {
                Pack::from_items(Items::Repeated(Rc::clone(item), positions.len()))
            }
            (Items::Range { first, step, .. }, Items::Range { first: at, step: stride, length }) => {
                let first = first.wrapping_add(step.wrapping_mul(*at));
                Pack::range(first, step.wrapping_mul(*stride), *length)
            }
            _ => positions.positions().filter_map(|position| self.get(position)).collect(),
        };
        if part.is_empty() { part.with_type(self.shared_type()) } else { part }
    }

    /// The type that all items share.
    fn shared_type(&self) -> Option<ItemType> {
        let tensor = |item: Atom| if let Atom::Tensor(of) = item { Some(of.tensor) } else { None };
        let shared = match self.get(0) {
            Some(first) => {
                tensor(first).filter(|first| self.iter().all(|item| tensor(item).as_ref() == Some(first)))
            }
            None => self.empty_tensor().cloned(),
        };
        shared.map(ItemType::Tensor).or_else(|| Some(ItemType::Scalar(self.item_type.as_ref()?.kind())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::value::count;

    fn ints(pack: &Pack) -> Vec<i64> {
        pack.iter().map(|item| if let Atom::Int(n) = item { n } else { panic!("{item:?}") }).collect()
    }

    #[test]
    fn s2_4_uniform_values() {
        assert_eq!(Pack::from_iter([Atom::Int(6), Atom::Int(6)]).uniform(), Some(Atom::Int(6)));
        assert_eq!(Pack::range(1, 1, 2).uniform(), None);
        let zeros = Pack::from_iter([Atom::Real(0.0), Atom::Real(-0.0)]);
        assert_eq!(zeros.identical(), None);
        assert_ne!(format!("{zeros:?}"), format!("{:?}", Pack::repeated(Atom::Real(0.0), 2)));
        assert_eq!(Pack::from_iter([]).uniform(), None);
        assert_eq!(Pack::repeated(Atom::Int(5), 0).uniform(), Some(Atom::Int(5)));
    }

    #[test]
    fn representations_of_equal_items_have_one_text() {
        let text = |pack: Pack| format!("{pack:?}");
        assert_eq!(text(Pack::range(2, 3, 3)), text([2, 5, 8].map(Atom::Int).into_iter().collect()));
        assert_eq!(text(Pack::repeated(Atom::Int(4), 2)), text([4, 4].map(Atom::Int).into_iter().collect()));
        assert_ne!(text(Pack::range(2, 3, 3)), text([2, 5, 9].map(Atom::Int).into_iter().collect()));
        assert_ne!(text(Pack::repeated(Atom::Int(4), 0)), text(Pack::from_iter([])));
    }

    #[test]
    fn parts_of_ranges_are_ranges() {
        let range = Pack::range(10, -3, 5);
        assert_eq!(ints(&range), [10, 7, 4, 1, -2]);
        assert_eq!(ints(&range.select(&Pack::range(3, -1, 3))), [1, 4, 7]);
        assert_eq!(range.select(&Pack::range(1, 2, 2)).progression(), Some((7, -6)));
        assert_eq!(ints(&range.select(&Pack::range(4, 1, 0))), [0_i64; 0]);
        assert_eq!(range.get(5), None);
        assert_eq!(range, range.iter().collect());
    }

    #[test]
    fn ranges_and_repetitions_take_constant_memory() {
        let length = 1 << 40;
        let range = Pack::range(0, 2, length);
        assert_eq!(range.select(&Pack::range(count(length) - 1, -1, length)).get(1), range.get(length - 2));
        let mut computed = 0;
        let repeated = Pack::repeated(Atom::Int(1), length).map(|item| {
            computed += 1;
            Ok::<_, ()>(item)
        });
        assert_eq!(repeated.unwrap().select(&Pack::range(0, 1, length - 1)).len(), length - 1);
        assert_eq!(computed, 1);
    }
}
