// SPDX-License-Identifier: Apache-2.0
//! Addresses of operands whose strides are multiples of dynamic extents.

use super::nest::Factor;
use super::writer::{Point, State, Writer};
use melior::ir::Value;

impl<'c: 'a, 'a> Writer<'_, 'c, 'a> {
    /// Computes the dynamic strides from the extents and sizes that the kernel receives as arguments.
    pub(super) fn compute_strides(&mut self) {
        for (operand, address) in self.nest.operands.iter().enumerate() {
            for (l, extents) in address.extents.iter().enumerate() {
                if extents.is_empty() {
                    continue;
                }
                let mut stride = self.constant(address.factor(l));
                for factor in extents {
                    let factor = match factor {
                        Factor::Extent(l) => self.given.extents[l],
                        Factor::Size(number) => self.given.sizes[*number],
                    };
                    stride = self.at.muli(stride, factor);
                }
                self.strides.insert((operand, l), stride);
            }
        }
    }

    /// Returns the stride of an operand along a loop.
    pub(super) fn stride(&mut self, operand: usize, l: usize) -> Value<'c, 'a> {
        match self.strides.get(&(operand, l)) {
            Some(stride) => *stride,
            None => self.constant(self.nest.operands[operand].strides[l]),
        }
    }

    /// Distance of a point from the tile's corner, in elements of an operand, along loops with static strides.
    pub(super) fn distance(&self, operand: usize, point: &Point) -> i64 {
        let strides = &self.nest.operands[operand].strides;
        let rows: i64 = point
            .steps
            .iter()
            .filter(|(l, _)| !self.strides.contains_key(&(operand, *l)))
            .map(|(l, s)| strides[*l] * s)
            .sum();
        rows + self.lane_stride(operand) * point.vector * self.plan.lanes
    }

    /// The steps of a point along loops with dynamic strides.
    pub(super) fn dynamic_steps(&self, operand: usize, point: &Point) -> Vec<(usize, i64)> {
        point
            .steps
            .iter()
            .copied()
            .filter(|(l, s)| *s != 0 && self.strides.contains_key(&(operand, *l)))
            .collect()
    }

    /// Computes the address of an operand at a point.
    pub(super) fn address(&mut self, operand: usize, state: &State<'c, 'a>, point: &Point) -> Value<'c, 'a> {
        let mut address = state.bases[operand];
        for (l, steps) in self.dynamic_steps(operand, point) {
            let along = self.times(self.strides[&(operand, l)], steps);
            address = self.at.addi(address, along);
        }
        let distance = self.distance(operand, point);
        self.offset(address, distance)
    }
}
