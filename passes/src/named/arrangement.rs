// SPDX-License-Identifier: Apache-2.0
//! Converts operands to the layout that a row of the table of named operations requires. Adds transposes, and unit
//! dimensions for letters without a loop.

use super::change::{Change, Step, permuted};
use super::generic::Generic;
use super::operand::Operand;
use super::signature::Binding;
use crate::structure::Affine;

/// Operands in the layout that a row of the table requires.
pub(crate) struct Arrangement<'c, 'a> {
    pub operands: Vec<Operand<'c, 'a>>,
    pub(crate) binding: Binding,
    pub cost: Cost,
}

/// The cost of an arrangement. The most expensive kind is first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cost {
    /// Number of plain loops that are matched with a window loop.
    degenerate: usize,
    /// Number of elements that transposes move.
    moved: i64,
    /// Number of unit dimensions that are added.
    added: usize,
}

/// How an operand uses a letter or a loop.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    Unread,
    /// As a dimension.
    Alone,
    /// In a sum with another loop, or with a stride.
    InWindow,
}

impl<'c: 'a, 'a> Arrangement<'c, 'a> {
    /// The arrangement with the minimum cost, for operands with static extents and without loops of one iteration. Outputs are
    /// first.
    pub(crate) fn new(words: &[&str], operands: &[&Operand<'c, 'a>], extents: &[i64]) -> Option<Self> {
        let words: Vec<Vec<Vec<char>>> = words.iter().map(|list| letters(list)).collect();
        let mut all: Vec<char> = words.iter().flatten().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        let mut candidates = Vec::new();
        for index in 0..extents.len() {
            let fits = |letter: &char| {
                words.iter().zip(operands).all(|(words, operand)| {
                    let (required, actual) = (use_of_letter(words, *letter), use_of_loop(operand, index));
                    required == actual || (required == Use::InWindow && actual == Use::Alone)
                })
            };
            candidates.push(all.iter().copied().filter(fits).collect::<Vec<_>>());
        }
        let mut best: Option<Self> = None;
        for assignment in choices(&candidates) {
            if let Some(arrangement) = arranged(&words, operands, &assignment, extents)
                && best.as_ref().is_none_or(|best| arrangement.cost < best.cost)
            {
                best = Some(arrangement);
            }
        }
        best
    }
}

/// The letters of each word.
fn letters(words: &str) -> Vec<Vec<char>> {
    words.split_whitespace().map(|word| word.chars().filter(|c| *c != '+').collect()).collect()
}

fn use_of_letter(words: &[Vec<char>], letter: char) -> Use {
    match words.iter().find(|word| word.contains(&letter)) {
        None => Use::Unread,
        Some(word) if word.len() == 1 => Use::Alone,
        Some(_) => Use::InWindow,
    }
}

fn use_of_loop(operand: &Operand<'_, '_>, index: usize) -> Use {
    let mut forms = operand.forms.iter();
    match forms.find(|form| form.indices().contains(&index)) {
        None => Use::Unread,
        Some(form) if form.as_index().is_some() => Use::Alone,
        Some(_) => Use::InWindow,
    }
}

/// Every assignment of distinct letters to the loops.
fn choices(candidates: &[Vec<char>]) -> Vec<Vec<char>> {
    let mut assignments = vec![Vec::new()];
    for letters in candidates {
        let longer = |assignment: &Vec<char>| {
            let free: Vec<char> = letters.iter().copied().filter(|l| !assignment.contains(l)).collect();
            let assignment = assignment.clone();
            free.into_iter().map(move |letter| {
                let mut longer = assignment.clone();
                longer.push(letter);
                longer
            })
        };
        assignments = assignments.iter().flat_map(longer).collect();
    }
    assignments
}

/// The arrangement for an assignment of letters to loops.
fn arranged<'c: 'a, 'a>(
    words: &[Vec<Vec<char>>],
    operands: &[&Operand<'c, 'a>],
    assignment: &[char],
    extents: &[i64],
) -> Option<Arrangement<'c, 'a>> {
    let mut cost = Cost { degenerate: 0, moved: 0, added: 0 };
    let mut placed = Vec::new();
    for (words, operand) in words.iter().zip(operands) {
        let positions = dimensions_of_words(words, operand, assignment)?;
        let is_degenerate = |(index, letter): &(usize, &char)| {
            use_of_letter(words, **letter) == Use::InWindow && use_of_loop(operand, *index) == Use::Alone
        };
        cost.degenerate += assignment.iter().enumerate().filter(is_degenerate).count();
        cost.added += positions.iter().filter(|position| position.is_none()).count();
        let order: Vec<usize> = positions.iter().flatten().copied().collect();
        if !order.is_sorted() {
            cost.moved = cost.moved.saturating_add(operand.shape.iter().product());
        }
        placed.push(operand.at_positions(&positions, &order));
    }
    let text = |words: &Vec<Vec<char>>| {
        words
            .iter()
            .map(|word| {
                let letters: Vec<String> = word.iter().map(char::to_string).collect();
                letters.join("+")
            })
            .collect::<Vec<_>>()
            .join(" ")
    };
    let texts: Vec<String> = words.iter().map(text).collect();
    let pairs: Vec<(&str, &Operand<'_, '_>)> = texts.iter().map(String::as_str).zip(&placed).collect();
    let binding = Binding::new(&pairs, extents)?;
    Some(Arrangement { operands: placed, binding, cost })
}

/// The dimension for each word; `None` for words that need a unit dimension.
fn dimensions_of_words(
    words: &[Vec<char>],
    operand: &Operand<'_, '_>,
    assignment: &[char],
) -> Option<Vec<Option<usize>>> {
    let mut positions = vec![None; words.len()];
    for (dimension, form) in operand.forms.iter().enumerate() {
        let indices = form.indices();
        let letters: Vec<&char> =
            indices.iter().map(|index| assignment.get(*index)).collect::<Option<_>>()?;
        let word = words
            .iter()
            .position(|word| !letters.is_empty() && letters.iter().all(|letter| word.contains(letter)))?;
        match positions.get_mut(word)? {
            Some(_) => return None,
            position => *position = Some(dimension),
        }
    }
    Some(positions)
}

impl<'c: 'a, 'a> Operand<'c, 'a> {
    /// The operand with the dimensions in these positions, and unit dimensions for `None`.
    fn at_positions(&self, positions: &[Option<usize>], order: &[usize]) -> Self {
        let mut placed = self.clone();
        if !order.is_sorted() {
            placed.transpose(order);
        }
        let mut dimensions = placed.shape.iter().copied().zip(placed.forms.clone());
        let (shape, forms) = positions
            .iter()
            .map(|position| position.and_then(|_| dimensions.next()).unwrap_or((1, Affine::default())))
            .unzip();
        Operand { shape, forms, ..placed }
    }

    /// Moves dimension `order[n]` to position `n`.
    pub(crate) fn transpose(&mut self, order: &[usize]) {
        self.changes.push(Change { shape: self.shape.clone(), step: Step::Transpose(order.to_vec()) });
        self.shape = permuted(&self.shape, order);
        let forms = order.iter().filter_map(|d| self.forms.get(*d).cloned());
        self.forms = forms.collect();
    }
}

impl<'c: 'a, 'a> Generic<'c, 'a> {
    /// The operands without unit loops and their dimensions, and the extents of the remaining loops.
    pub(crate) fn without_unit_loops(
        &self,
        operands: &[&Operand<'c, 'a>],
    ) -> Option<(Vec<Operand<'c, 'a>>, Vec<i64>)> {
        let mut extents = Vec::new();
        let mut renamed = Vec::new();
        for extent in &self.extents {
            if *extent == 1 {
                renamed.push(Affine::default());
            } else {
                renamed.push(Affine::index(extents.len()));
                extents.push(*extent);
            }
        }
        Some((
            operands
                .iter()
                .map(|operand| {
                    let forms = operand.forms.iter().map(|form| form.substitute(&renamed, &self.extents));
                    let renamed = Operand { forms: forms.collect::<Option<_>>()?, ..(*operand).clone() };
                    Some(renamed.without_units())
                })
                .collect::<Option<_>>()?,
            extents,
        ))
    }
}
