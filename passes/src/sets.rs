// SPDX-License-Identifier: Apache-2.0
//! Disjoint sets of numbers.

use std::collections::HashMap;

/// A partition of the numbers from 0.
#[derive(Default)]
pub(crate) struct Sets {
    parents: Vec<usize>,
}

impl Sets {
    /// `count` sets with one number each.
    pub(crate) fn with(count: usize) -> Self {
        Sets { parents: (0..count).collect() }
    }

    /// Adds a set with a new number. Returns the number.
    pub(crate) fn add(&mut self) -> usize {
        self.parents.push(self.parents.len());
        self.parents.len() - 1
    }

    fn root(&mut self, number: usize) -> usize {
        let mut root = number;
        while let Some(parent) = self.parents.get(root).copied().filter(|p| *p != root) {
            let next = self.parents.get(parent).copied().unwrap_or(parent);
            if let Some(link) = self.parents.get_mut(root) {
                *link = next;
            }
            root = parent;
        }
        root
    }

    /// Joins two sets. The root of the joined set is the smaller root.
    pub(crate) fn join(&mut self, first: usize, second: usize) {
        let (first, second) = (self.root(first), self.root(second));
        let (root, other) = (first.min(second), first.max(second));
        if let Some(parent) = self.parents.get_mut(other) {
            *parent = root;
        }
    }

    /// The sets, ordered by their smallest numbers.
    pub(crate) fn members(&mut self) -> Vec<Vec<usize>> {
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let mut positions = HashMap::new();
        for number in 0..self.parents.len() {
            let root = self.root(number);
            let position = *positions.entry(root).or_insert_with(|| {
                sets.push(Vec::new());
                sets.len() - 1
            });
            if let Some(set) = sets.get_mut(position) {
                set.push(number);
            }
        }
        sets
    }
}

#[cfg(test)]
mod tests {
    use super::Sets;

    #[test]
    pub(crate) fn joined_numbers_are_in_one_set() {
        let mut sets = Sets::with(5);
        sets.join(3, 1);
        sets.join(4, 3);
        assert_eq!(sets.members(), [vec![0], vec![1, 3, 4], vec![2]]);
    }
}
