// SPDX-License-Identifier: Apache-2.0
//! Matches the operands of an operation with a row of the table.

use super::operand::Operand;
use crate::structure::Affine;
use std::collections::BTreeMap;

/// The loop of each letter, and the steps of windows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Binding {
    /// `None` for a letter without a loop, which has one iteration.
    letters: BTreeMap<char, Option<usize>>,
    /// One for each position of a window, in the order of the dimensions of the input.
    pub strides: Vec<i64>,
    pub dilations: Vec<i64>,
    /// The letters for the positions inside a window, in that order.
    pub window: Vec<char>,
}

impl Binding {
    /// Matches operands with words, in this order. `None` if an operand has another form.
    ///
    /// Letters that are already bound determine which letter of a sum belongs to which loop, so outputs come first.
    pub(crate) fn new(operands: &[(&str, &Operand<'_, '_>)], extents: &[i64]) -> Option<Binding> {
        let mut binding = Binding::default();
        for (words, operand) in operands {
            let words: Vec<&str> = words.split_whitespace().collect();
            if words.len() != operand.forms.len() {
                return None;
            }
            for ((word, form), extent) in words.iter().zip(&operand.forms).zip(&operand.shape) {
                let letters: Vec<char> = word.chars().filter(|c| *c != '+').collect();
                match letters.as_slice() {
                    [letter] => binding.index(*letter, form, *extent, extents)?,
                    [outer, inner] => binding.position(*outer, *inner, form, extents)?,
                    _ => return None,
                }
            }
        }
        let mut loops: Vec<usize> = binding.letters.values().flatten().copied().collect();
        loops.sort_unstable();
        (loops == (0..extents.len()).collect::<Vec<_>>()).then_some(binding)
    }

    /// The number of iterations of a letter.
    pub(crate) fn extent(&self, letter: char, extents: &[i64]) -> Option<i64> {
        match self.letters.get(&letter)? {
            Some(number) => extents.get(*number).copied(),
            None => Some(1),
        }
    }

    fn index(&mut self, letter: char, form: &Affine, extent: i64, extents: &[i64]) -> Option<()> {
        if form.as_constant() == Some(0) && extent == 1 {
            return match self.letters.get(&letter) {
                Some(Some(number)) => (extents.get(*number) == Some(&1)).then_some(()),
                Some(None) => Some(()),
                None => {
                    self.letters.insert(letter, None);
                    Some(())
                }
            };
        }
        self.bind(letter, form.as_index()?)
    }

    fn bind(&mut self, letter: char, number: usize) -> Option<()> {
        match self.letters.get(&letter) {
            Some(known) => (*known == Some(number)).then_some(()),
            None => {
                let taken = self.letters.values().any(|l| *l == Some(number));
                self.letters.insert(letter, Some(number));
                (!taken).then_some(())
            }
        }
    }

    /// Matches `outer` times a stride plus `inner` times a dilation. A loop with one iteration may be missing.
    fn position(&mut self, outer: char, inner: char, form: &Affine, extents: &[i64]) -> Option<()> {
        if form.offset() != 0 {
            return None;
        }
        let along = *self.letters.get(&outer)?;
        let (mut stride, mut dilation) = (None, None);
        for (number, step) in form.as_linear()? {
            if Some(number) == along {
                stride = Some(step);
            } else if dilation.is_none() {
                self.bind(inner, number)?;
                dilation = Some(step);
            } else {
                return None;
            }
        }
        if dilation.is_none() && !self.letters.contains_key(&inner) {
            self.letters.insert(inner, None);
        }
        for (letter, step) in [(outer, stride), (inner, dilation)] {
            let absent = step.is_none() && self.extent(letter, extents) == Some(1);
            if !absent && step.is_none_or(|s| s <= 0) {
                return None;
            }
        }
        self.strides.push(stride.unwrap_or(1));
        self.dilations.push(dilation.unwrap_or(1));
        self.window.push(inner);
        Some(())
    }
}
