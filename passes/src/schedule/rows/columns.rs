// SPDX-License-Identifier: Apache-2.0
//! Blocks of columns (online softmax): rows that are too long for shared memory are computed in blocks of columns, one after the other.
//!
//! An example is attention: contractions compute scores, the exponential function of each score minus the maximum of its row is a
//! weight, and the results are sums of weights, and of weights times values. After each block of columns, the kernel has the maximum of
//! the columns so far, and sums relative to this maximum. If the next block has a larger maximum, the sums are first multiplied by the
//! exponential function of the difference. The division of weights by the sum of all weights is done at the end, on the sum of products.
//!
//! Operations are recognized by their loops and payloads ([`payload`]). A maximum of −∞ (all columns are −∞) counts as zero, so that
//! weights are zeros; the result of a row without other columns is NaN, as with separate operations.

mod emit;
mod payload;

use super::group::{Group, Row};
use super::member::{Access, Kind, Member};
use super::storage::Storage;
use crate::ir::ValueKey;
use crate::ir::types::element_or_self;
use melior::ir::ValueLike;
use payload::Payload;
use skript_dialect::melior;
use std::collections::{HashMap, HashSet};

pub(super) use emit::emit;

/// The role of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Computed before all columns.
    Before,
    /// Computed in each block of columns.
    Each,
    /// Weights, computed in each block of columns; the operand `maximum` is the maximum of the columns so far.
    Weights { maximum: usize },
    /// Weights divided by a sum. Each block of columns copies the weights; the division by the sum with number `divisor` is done at the
    /// end. `weight` and `sum` are the operands.
    Quotients { weight: usize, sum: usize, divisor: usize },
    /// Adds the columns of a block to the sum with this number, or to the maximum.
    Into(usize),
    /// Computed after all columns.
    After,
}

/// The content of an array, at a point in the order of members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Values of rows that this member computes before all columns.
    Rows(usize),
    /// Values of columns that do not depend on a sum.
    Plain,
    /// Weights: exponential functions of differences from the maximum.
    Weights,
    /// Weights divided by the sum with this number.
    Quotients(usize),
    /// The sum with this number, or the maximum.
    Sum(usize),
    /// Values of rows that are computed after all columns.
    After,
}

/// A reduction along the columns.
#[derive(Clone, Copy)]
struct Sum {
    /// The member that reduces.
    member: usize,
    /// The member that computes the initial value, if it is in the group.
    first: Option<usize>,
    /// Whether weights are summed.
    has_weights: bool,
    /// The sum by which this sum is divided at the end.
    divisor: Option<usize>,
}

/// A group whose columns are computed in blocks.
pub(super) struct Columns<'c, 'a> {
    /// The group with the columns as the last row.
    pub(super) group: Group<'c, 'a>,
    roles: Vec<Role>,
    sums: Vec<Sum>,
    /// The number of the sum that is the maximum.
    maximum: Option<usize>,
    /// The exponential function of the differences from the maximum.
    function: Option<&'static str>,
}

impl<'c: 'a, 'a> Columns<'c, 'a> {
    /// Analyzes the columns of the members of a group; `None` if they cannot be computed in blocks.
    pub(super) fn new(group: &Group<'c, 'a>) -> Option<Self> {
        let mut accesses = group.numbered().map(|(_, access)| access);
        if !accesses.all(|access| access.part.is_empty()) {
            return None;
        }
        let loops = loops(group)?;
        let members = group.members.iter().zip(&loops);
        let extent = members
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

    /// Whether a contraction multiplies weights, and only members access the values of columns.
    pub(super) fn is_complete(&self) -> bool {
        let is_product = |sum: &Sum| {
            let member = self.group.members.get(sum.member);
            sum.has_weights && member.is_some_and(|member| member.kind == Kind::Product)
        };
        let storage = Storage::new(&self.group);
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

    /// The number of the row that represents the columns.
    pub(super) fn number(&self) -> usize {
        self.group.rows.len().saturating_sub(1)
    }

    /// Whether an array of a member has columns.
    pub(super) fn has_columns(&self, number: usize, access: &Access) -> bool {
        self.group.rows_of(number, access).contains(&Some(self.number()))
    }

    /// Returns the result of each sum, and the result of the maximum [`COPIES`] more times.
    pub(super) fn results(&self) -> impl Iterator<Item = (usize, &Access<'c, 'a>)> {
        let sums = self.sums.iter().map(|sum| sum.member);
        let largest = self.maximum.and_then(|n| self.sums.get(n));
        let copies = largest.into_iter().flat_map(|sum| [sum.member; COPIES]);
        sums.chain(copies).filter_map(|number| {
            let member = self.group.members.get(number)?;
            Some((number, member.written()?))
        })
    }

    /// Analyzes a member without columns.
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
            // An array of rows is computed only once, before or after all columns.
            let is_new = matches!(known, None | Some(State::Sum(_)));
            if !is_after && !is_new {
                return None;
            }
        }
        Some(role)
    }

    /// Analyzes a member that computes values of columns.
    fn of_columns(&mut self, member: &Member<'c, 'a>, states: &mut HashMap<ValueKey, State>) -> Option<Role> {
        let output = member.written()?;
        let mut others = Vec::new();
        for access in member.accesses.iter().filter(|access| access.reads) {
            match states.get(&ValueKey::of(access.array)).copied() {
                None | Some(State::Rows(_) | State::Plain) => {}
                Some(State::After) => return None,
                Some(state) => others.push((access.operand, state)),
            }
        }
        let payload = || Payload::new(member.op);
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
                let result = self.group.members.get(divisor.member).and_then(Member::written)?;
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
        states.insert(ValueKey::of(output.array), state);
        Some(role)
    }

    /// Analyzes a member that reduces columns.
    fn sum(
        &mut self,
        number: usize,
        member: &Member<'c, 'a>,
        states: &mut HashMap<ValueKey, State>,
    ) -> Option<Role> {
        let output = member.written()?;
        let payload = Payload::new(member.op)?;
        let (mut weights, mut divisor, mut inputs) = (Vec::new(), None, 0);
        for access in member.inputs() {
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
        let first = match states.get(&ValueKey::of(output.array)).copied() {
            Some(State::Rows(first)) => Some(first),
            None | Some(State::Sum(_)) => None,
            Some(_) => return None,
        };
        // The initial value must be written to the array of the sum before the columns.
        if let Some(first) = first {
            let writer = self.group.members.get(first)?;
            let filled = writer.written()?;
            let is_filled = writer.covers(filled) && !filled.reads;
            let between = self.group.members.iter().take(number).skip(first + 1);
            let mut between = between.flat_map(|member| &member.accesses);
            if !is_filled || !between.all(|access| access.array != output.array) {
                return None;
            }
        }
        // All sums must have the type of the maximum, because their factors have this type.
        let element = |access: &Access| element_or_self(access.array.r#type()).to_string();
        let kind = element(output);
        let maximum = self.maximum.and_then(|n| self.sums.get(n));
        let maximum = maximum.and_then(|sum| self.group.members.get(sum.member)?.written());
        let is_type = maximum.is_none_or(|access| element(access) == kind);
        if !is_type || !FLOATS.contains(&kind.as_str()) {
            return None;
        }
        match weights.as_slice() {
            [] => {
                let is_maximum = self.maximum.is_none()
                    && member.kind == Kind::Reduction
                    && payload.is_maximum()
                    && self.is_one_of_each_row(number, output);
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
        states.insert(ValueKey::of(output.array), State::Sum(sum));
        Some(Role::Into(sum))
    }

    /// Whether an array has one element per row.
    fn is_one_of_each_row(&self, number: usize, access: &Access) -> bool {
        let mut dimensions = self.group.rows_of(number, access).into_iter().zip(&access.extents);
        dimensions.all(|(row, extent)| row.is_some() || *extent == Some(1))
    }
}

/// Number of additional arrays like the array of the maximum: for its previous values, its values as operands of the exponential function,
/// and the factors of sums.
const COPIES: usize = 3;

/// Supported types of sums.
const FLOATS: [&str; 2] = ["f32", "f64"];

/// Returns the loop of each member along the columns; `None` for members without such a loop. The columns are the elements that the first
/// reduction reduces.
fn loops(group: &Group) -> Option<Vec<Option<usize>>> {
    let mut loops: Vec<Option<usize>> = vec![None; group.members.len()];
    let mut members = group.members.iter().enumerate();
    let (first, reduction) = members.find(|(_, member)| member.kind == Kind::Reduction)?;
    let mut reduced = reduction.reductions.iter().enumerate();
    let (l, _) = reduced.find(|(_, reduces)| **reduces)?;
    let is_only = reduced.all(|(_, reduces)| !*reduces);
    *loops.get_mut(first).filter(|_| is_only)? = Some(l);
    // The dimension of the columns in each written array. Arrays that are only read may have rows along this dimension.
    let mut dimensions: HashMap<ValueKey, usize> = HashMap::new();
    let written = group.numbered().filter(|(_, access)| access.writes);
    let written: HashSet<ValueKey> = written.map(|(_, access)| ValueKey::of(access.array)).collect();
    for _ in 0..=group.members.len() {
        let mut is_new = false;
        for (number, member) in group.members.iter().enumerate() {
            for access in &member.accesses {
                let key = ValueKey::of(access.array);
                let slot = loops.get_mut(number)?;
                let is_written = written.contains(&key);
                if let Some(l) = *slot
                    && let Some(dimension) = access.dimension(l)?
                    && is_written
                {
                    match dimensions.insert(key, dimension) {
                        None => is_new = true,
                        Some(known) if known == dimension => {}
                        Some(_) => return None,
                    }
                } else if slot.is_none()
                    && let Some(dimension) = dimensions.get(&key)
                {
                    *slot = Some(access.forms.get(*dimension)?.as_index()?);
                    is_new = true;
                }
            }
        }
        if !is_new {
            return Some(loops);
        }
    }
    None
}
