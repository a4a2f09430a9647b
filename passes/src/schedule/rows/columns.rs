// SPDX-License-Identifier: Apache-2.0
//! Rows that are longer than memory has space for: their columns are computed in blocks, one after the other.
//!
//! The rows of an attention are such: contractions compute scores, the exponential function of each score minus the maximum of its row is
//! a weight, and sums of weights, and of weights times values, are what is left. After a block of columns there are the maximum of the
//! columns so far, and sums that belong to it: where the next block has a larger maximum, sums are multiplied by the exponential function of
//! the difference first. A quotient of a weight and the sum of all weights is computed at the end, with the sum of products.
//!
//! What operations are is read from their loops and payloads ([`payload`]). A maximum of −∞, that of columns that are all −∞, counts as zero, so that weights are
//! zeros; rows without other columns are NaN at the end, as what the operations compute one after the other.

mod emit;
mod payload;

use super::group::{Group, Row};
use super::member::{Access, Kind, Member};
use super::storage::Storage;
use crate::ir::ValueKey;
use melior::ir::r#type::MemRefType;
use melior::ir::{ShapedTypeLike, Value, ValueLike};
use payload::Payload;
use skript_dialect::melior;
use std::collections::{HashMap, HashSet};

pub(super) use emit::emit;

/// When a member is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Before all columns.
    Before,
    /// With each block of columns.
    Each,
    /// So, where an operand is the maximum of the columns so far.
    Weights { maximum: usize },
    /// So, without the division of weights by a sum, both operands, the sum by its number as well.
    Quotients { weight: usize, sum: usize, divisor: usize },
    /// It adds the columns of a block to a sum, or to the maximum.
    Into(usize),
    /// After all columns.
    After,
}

/// What an array has, while the members are considered in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Values of rows that are computed before all columns, by this member.
    Rows(usize),
    /// Values of columns that no sum belongs to.
    Plain,
    /// Weights: exponential functions of differences from the maximum.
    Weights,
    /// Weights divided by a sum.
    Quotients(usize),
    /// A sum, or the maximum.
    Sum(usize),
    /// Values of rows that are computed after all columns.
    After,
}

/// A reduction along the columns.
#[derive(Clone, Copy)]
struct Sum {
    /// The member, and the one that computes the first value, if the group has it.
    member: usize,
    first: Option<usize>,
    /// Whether what is added are weights.
    has_weights: bool,
    /// The sum that it is divided by at the end.
    divisor: Option<usize>,
}

/// A group whose columns are computed in blocks.
pub(super) struct Columns<'c, 'a> {
    /// The group with the columns as the last row.
    pub(super) group: Group<'c, 'a>,
    roles: Vec<Role>,
    sums: Vec<Sum>,
    /// The maximum, by the number of its sum, and the function of the differences.
    maximum: Option<usize>,
    function: Option<&'static str>,
}

impl<'c: 'a, 'a> Columns<'c, 'a> {
    /// The columns of a group as far as it has members already; `None` if they cannot be computed in blocks.
    pub(super) fn of(group: &Group<'c, 'a>) -> Option<Self> {
        let mut accesses = group.numbered().map(|(_, access)| access);
        if !accesses.all(|access| access.part.is_empty()) {
            return None;
        }
        let loops = loops(group)?;
        let own = group.members.iter().zip(&loops);
        let extent = own
            .filter_map(|(member, l)| member.extent((*l)?))
            .reduce(|one, other| if one == other { one } else { Some(-1) })?;
        if extent == Some(-1) {
            return None;
        }
        let mut extended = group.clone();
        extended.rows.push(Row { extent, loops: loops.iter().map(|l| l.unwrap_or(usize::MAX)).collect() });
        let mut columns =
            Columns { group: extended, roles: Vec::new(), sums: Vec::new(), maximum: None, function: None };
        let mut states = HashMap::new();
        for (number, (member, l)) in group.members.iter().zip(loops).enumerate() {
            let role = match l {
                None => columns.of_rows(number, member, &mut states),
                Some(l) if member.reductions.get(l) == Some(&true) => {
                    columns.sum(number, member, &mut states)
                }
                Some(_) => columns.of_columns(member, &mut states),
            };
            columns.roles.push(role?);
        }
        Some(columns)
    }

    /// Whether weights are multiplied in a contraction, and nothing else reads or writes values of columns.
    pub(super) fn is_complete(&self) -> bool {
        let is_product = |sum: &Sum| {
            let member = self.group.members.get(sum.member);
            sum.has_weights && member.is_some_and(|member| member.kind == Kind::Product)
        };
        let storage = Storage::of(&self.group);
        let is_filled = self.sums.iter().all(|sum| sum.first.is_some());
        is_filled && self.sums.iter().any(is_product) && {
            let mut written = self.group.numbered().filter(|(_, access)| access.writes);
            written.all(|(number, access)| {
                let place = storage.place(access.array);
                let is_local = place.is_some_and(|place| storage.home(place).is_none());
                !self.has_columns(number, access) || is_local
            })
        }
    }

    /// The number of the row that columns are.
    pub(super) fn number(&self) -> usize {
        self.group.rows.len().saturating_sub(1)
    }

    /// Whether an array of a member has columns.
    pub(super) fn has_columns(&self, number: usize, access: &Access) -> bool {
        let rows = self.group.rows_of(number, access);
        rows.contains(&Some(self.number()))
    }

    /// The result of each sum, and that of the maximum once more for the functions of differences.
    pub(super) fn results(&self) -> impl Iterator<Item = (usize, &Access<'c, 'a>)> {
        let sums = self.sums.iter().map(|sum| sum.member);
        let largest = self.maximum.and_then(|n| self.sums.get(n));
        let copies = largest.into_iter().flat_map(|sum| [sum.member; COPIES]);
        sums.chain(copies).filter_map(|number| {
            let member = self.group.members.get(number)?;
            Some((number, written(member)?))
        })
    }

    /// A member without columns.
    fn of_rows(
        &mut self,
        number: usize,
        member: &Member<'c, 'a>,
        states: &mut HashMap<ValueKey, State>,
    ) -> Option<Role> {
        let mut read = member.accesses.iter().filter(|access| access.reads);
        let states_of = |access: &Access| states.get(&ValueKey::of(access.array)).copied();
        let mut is_after = false;
        for access in read.by_ref() {
            match states_of(access) {
                None | Some(State::Rows(_)) => {}
                Some(State::Sum(_) | State::After) => is_after = true,
                Some(State::Plain | State::Weights | State::Quotients(_)) => return None,
            }
        }
        if member.kind != Kind::Elementwise {
            return None;
        }
        let (role, state) =
            if is_after { (Role::After, State::After) } else { (Role::Before, State::Rows(number)) };
        for access in member.accesses.iter().filter(|access| access.writes) {
            let known = states.insert(ValueKey::of(access.array), state);
            // What is computed before all columns is not computed again, nor what follows them.
            let is_new = matches!(known, None | Some(State::Sum(_)));
            if !is_after && !is_new {
                return None;
            }
        }
        Some(role)
    }

    /// A member that computes values of columns.
    fn of_columns(&mut self, member: &Member<'c, 'a>, states: &mut HashMap<ValueKey, State>) -> Option<Role> {
        let own = written(member)?;
        let mut others = Vec::new();
        for access in member.accesses.iter().filter(|access| access.reads) {
            match states.get(&ValueKey::of(access.array)).copied() {
                None | Some(State::Rows(_) | State::Plain) => {}
                Some(State::After) => return None,
                Some(state) => others.push((access.operand, state)),
            }
        }
        let payload = || Payload::of(member.op);
        let (role, state) = match others.as_slice() {
            [] => (Role::Each, State::Plain),
            _ if member.kind != Kind::Elementwise => return None,
            [(operand, State::Sum(sum))] if self.maximum == Some(*sum) => {
                let function = payload()?.exponential(*operand)?;
                let known = *self.function.get_or_insert(function);
                if known != function {
                    return None;
                }
                (Role::Weights { maximum: *operand }, State::Weights)
            }
            [(weight, State::Weights), (sum, State::Sum(number))]
            | [(sum, State::Sum(number)), (weight, State::Weights)] => {
                let divisor = self.sums.get(*number)?;
                if !divisor.has_weights || divisor.divisor.is_some() {
                    return None;
                }
                payload()?.quotient([*weight, *sum])?;
                let result = self.group.members.get(divisor.member).and_then(written)?;
                if !self.is_one_of_each_row(divisor.member, result) {
                    return None;
                }
                let role = Role::Quotients { weight: *weight, sum: *sum, divisor: *number };
                (role, State::Quotients(*number))
            }
            [(operand, state @ (State::Weights | State::Quotients(_)))] => {
                if !payload()?.is_copy(*operand) {
                    return None;
                }
                (Role::Each, *state)
            }
            _ => return None,
        };
        states.insert(ValueKey::of(own.array), state);
        Some(role)
    }

    /// A member that reduces columns.
    fn sum(
        &mut self,
        number: usize,
        member: &Member<'c, 'a>,
        states: &mut HashMap<ValueKey, State>,
    ) -> Option<Role> {
        let own = written(member)?;
        let payload = Payload::of(member.op)?;
        let (mut weights, mut divisor, mut inputs) = (Vec::new(), None, 0);
        for access in member.accesses.iter().filter(|access| !access.writes) {
            inputs += 1;
            match states.get(&ValueKey::of(access.array)).copied() {
                None | Some(State::Rows(_) | State::Plain) => {}
                Some(State::Weights) => weights.push(access.operand),
                Some(State::Quotients(sum)) => {
                    weights.push(access.operand);
                    divisor = Some(sum);
                }
                Some(State::Sum(_) | State::After) => return None,
            }
        }
        let first = match states.get(&ValueKey::of(own.array)).copied() {
            Some(State::Rows(first)) => Some(first),
            None | Some(State::Sum(_)) => None,
            Some(_) => return None,
        };
        // What fills the result is computed before the columns, into the array of the sum.
        if let Some(first) = first {
            let writer = self.group.members.get(first)?;
            let filled = written(writer)?;
            let is_filled = writer.covers(filled) && !filled.reads;
            let between = self.group.members.iter().take(number).skip(first + 1);
            let mut between = between.flat_map(|member| &member.accesses);
            if !is_filled || !between.all(|access| access.array != own.array) {
                return None;
            }
        }
        // Factors have the type of the maximum.
        let kind = element(own.array)?;
        let maximum = self.maximum.and_then(|n| self.sums.get(n));
        let maximum = maximum.and_then(|sum| written(self.group.members.get(sum.member)?));
        let known = maximum.map(|access| element(access.array));
        let is_type = known.is_none_or(|known| known.as_deref() == Some(kind.as_str()));
        if !is_type || !FLOATS.contains(&kind.as_str()) {
            return None;
        }
        match weights.as_slice() {
            [] => {
                let is_maximum = self.maximum.is_none()
                    && member.kind == Kind::Reduction
                    && payload.is_maximum()
                    && self.is_one_of_each_row(number, own);
                if !is_maximum {
                    return None;
                }
                self.maximum = Some(self.sums.len());
            }
            [_] if payload.is_sum_of(&weights, inputs) => {}
            _ => return None,
        }
        let sum = self.sums.len();
        self.sums.push(Sum { member: number, first, has_weights: !weights.is_empty(), divisor });
        states.insert(ValueKey::of(own.array), State::Sum(sum));
        Some(Role::Into(sum))
    }

    /// Whether an array has one element of each row.
    fn is_one_of_each_row(&self, number: usize, access: &Access) -> bool {
        let extents = access.extents().unwrap_or_default();
        let mut dimensions = self.group.rows_of(number, access).into_iter().zip(extents);
        dimensions.all(|(row, extent)| row.is_some() || extent == Some(1))
    }
}

/// Arrays like that of the maximum: its last values, its values as the functions read them, the factors of sums.
const COPIES: usize = 3;

/// Types of sums.
const FLOATS: [&str; 2] = ["f32", "f64"];

/// The only array that a member writes.
fn written<'m, 'c, 'a>(member: &'m Member<'c, 'a>) -> Option<&'m Access<'c, 'a>> {
    let mut written = member.accesses.iter().filter(|access| access.writes);
    let own = written.next()?;
    written.next().is_none().then_some(own)
}

/// The loop of each member along the columns: those that the first reduction of an array's elements reduces. `None` within for members that
/// have none.
fn loops(group: &Group) -> Option<Vec<Option<usize>>> {
    let mut found: Vec<Option<usize>> = vec![None; group.members.len()];
    let mut members = group.members.iter().enumerate();
    let (first, reduction) = members.find(|(_, member)| member.kind == Kind::Reduction)?;
    let mut reduced = reduction.reductions.iter().enumerate();
    let (l, _) = reduced.find(|(_, reduces)| **reduces)?;
    let is_only = reduced.all(|(_, reduces)| !*reduces);
    *found.get_mut(first).filter(|_| is_only)? = Some(l);
    // The dimension of each array that columns are, of those that members write: others may have rows there as well.
    let mut dimensions: HashMap<ValueKey, usize> = HashMap::new();
    let written = group.numbered().filter(|(_, access)| access.writes);
    let written: HashSet<ValueKey> = written.map(|(_, own)| ValueKey::of(own.array)).collect();
    for _ in 0..=group.members.len() {
        let mut is_new = false;
        for (number, member) in group.members.iter().enumerate() {
            for access in &member.accesses {
                let key = ValueKey::of(access.array);
                let own = found.get_mut(number)?;
                let is_written = written.contains(&key);
                if let Some(l) = *own
                    && let Some(dimension) = access.dimension(l)?
                    && is_written
                {
                    match dimensions.insert(key, dimension) {
                        None => is_new = true,
                        Some(known) if known == dimension => {}
                        Some(_) => return None,
                    }
                } else if own.is_none()
                    && let Some(dimension) = dimensions.get(&key)
                {
                    *own = Some(access.forms.get(*dimension)?.as_index()?);
                    is_new = true;
                }
            }
        }
        if !is_new {
            return Some(found);
        }
    }
    None
}

/// The type of an array's elements.
fn element(array: Value) -> Option<String> {
    let kind = MemRefType::try_from(array.r#type()).ok()?;
    Some(kind.element().to_string())
}
