// SPDX-License-Identifier: Apache-2.0
//! Finds loops whose iterations access disjoint elements, so that they may run in parallel.

use super::nest::Nest;
use skript_symbolic::{Extent, Interval};

impl Nest {
    /// Whether two iterations of the loop at this depth, in one iteration of the outer loops, never write the same
    /// element, and never read an element that the other iteration writes.
    ///
    /// Two points that write the same element have the same value of an index if a subscript is a multiple of this index, plus
    /// indices that are known to be equal, plus a remainder that is smaller than a step of the index. The search repeats until it
    /// finds no further index. Subscripts that depend on data are ignored.
    pub(crate) fn is_disjoint(&self, depth: usize) -> bool {
        !self.reads_destination()
            && !self.targets.is_empty()
            && self.targets.iter().all(|target| {
                let mut agreed: Vec<usize> = (0..depth).collect();
                loop {
                    let next = (depth..self.extents.len()).find(|index| {
                        !agreed.contains(index)
                            && target
                                .subscripts
                                .iter()
                                .any(|subscript| self.determines(*subscript, *index, &agreed))
                    });
                    match next {
                        Some(index) if index == depth => return true,
                        Some(index) => agreed.push(index),
                        None => return false,
                    }
                }
            })
    }

    /// Whether two steps never write the same element, and never read an element that another step writes.
    pub(crate) fn writes_once(&self) -> bool {
        let single = |depth: &usize| self.extents.get(*depth) == Some(&Extent::ONE);
        let mut depths = (0..self.extents.len()).filter(|depth| !single(depth));
        !self.reads_destination() && !self.targets.is_empty() && depths.all(|depth| self.is_disjoint(depth))
    }

    /// Whether points with the same subscript and equal indices `agreed` have the same index.
    fn determines(&self, subscript: usize, index: usize, agreed: &[usize]) -> bool {
        let Some(form) = self.affine(subscript) else {
            return false;
        };
        let mut step = 0i64;
        let mut spread = 0i64;
        for (indices, part, coefficient) in form.parts() {
            if indices == [index] && part.as_index() == Some(index) {
                step = coefficient;
            } else if indices.contains(&index) {
                return false;
            } else if !indices.iter().all(|i| agreed.contains(i)) {
                let width = part.scale(coefficient).and_then(|p| p.range(&self.extents));
                let width = width.and_then(Interval::width);
                let Some(sum) = width.and_then(|width| spread.checked_add(width)) else {
                    return false;
                };
                spread = sum;
            }
        }
        step.checked_abs().is_some_and(|step| spread < step)
    }
}

#[cfg(test)]
mod tests {
    use super::super::nest::samples::Builder;
    use super::*;
    use skript_frontend::model::Accumulation;

    fn disjoint(nest: &Nest) -> Vec<bool> {
        (0..nest.extents.len()).map(|depth| nest.is_disjoint(depth)).collect()
    }

    #[test]
    fn columns_of_rows_that_depend_on_data_are_disjoint() {
        // y[k[i], j] += x[i, j]
        let mut b = Builder::new(Accumulation::Sum, &[4, 3]);
        let (i, j) = (b.index(0), b.index(1));
        let row = b.access(&[4], &[i]);
        let x = b.access(&[4, 3], &[i, j]);
        assert_eq!(disjoint(&b.target(&[9, 3], &[row, j], x)), [false, true]);
    }

    #[test]
    fn digits_of_a_position_are_disjoint_in_any_order() {
        // y[|2 · i + j|], with the digits in both orders
        let written = |extents: &[i64], steps: (i64, i64)| {
            let mut b = Builder::new(Accumulation::Sum, extents);
            let position = b.window(0, steps.0, 1, steps.1, 0);
            let i = b.index(0);
            let x = b.access(&[9], &[i]);
            disjoint(&b.target(&[20], &[position], x))
        };
        assert_eq!(written(&[4, 2], (2, 1)), [true, true]);
        assert_eq!(written(&[2, 4], (1, 2)), [true, true]);
        // A window whose step is less than its length overlaps the next one; its elements are disjoint.
        assert_eq!(written(&[4, 3], (2, 1)), [false, true]);
        assert_eq!(written(&[4, 3], (-3, 1)), [true, true]);
    }

    #[test]
    fn reduced_loops_are_not_disjoint() {
        let mut b = Builder::new(Accumulation::Sum, &[4, 3]);
        let (i, j) = (b.index(0), b.index(1));
        let x = b.access(&[4, 3], &[i, j]);
        assert_eq!(disjoint(&b.target(&[4], &[i], x)), [true, false]);
    }

    #[test]
    fn each_element_is_written_once() {
        // y[i, j + c] of [1, 3] points, then y[i, j / 2] as i + j.
        let mut b = Builder::new(Accumulation::Replace, &[1, 3]);
        let (i, j) = (b.index(0), b.index(1));
        let shifted = b.window(1, 1, 0, 0, 2);
        let x = b.access(&[1, 3], &[i, j]);
        assert!(b.target(&[1, 5], &[i, shifted], x).writes_once());
        let mut b = Builder::new(Accumulation::Replace, &[2, 3]);
        let position = b.window(0, 1, 1, 1, 0);
        let (i, j) = (b.index(0), b.index(1));
        let x = b.access(&[2, 3], &[i, j]);
        assert!(!b.target(&[4], &[position], x).writes_once());
    }

    #[test]
    fn loops_that_read_the_destination_are_not_disjoint() {
        let mut b = Builder::new(Accumulation::Replace, &[4]);
        let i = b.index(0);
        let x = b.access(&[4], &[i]);
        let mut read = Builder { nest: b.nest.clone() };
        read.nest.tensors[0].destination = Some(0);
        assert_eq!(disjoint(&b.target(&[4], &[i], x)), [true]);
        assert_eq!(disjoint(&read.target(&[4], &[i], x)), [false]);
    }
}
