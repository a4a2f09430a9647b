// SPDX-License-Identifier: Apache-2.0
//! Non-maximum suppression of boxes.
//!
//! A box is compared with the nearby boxes that were selected before: only overlapping boxes suppress each other. A grid of
//! cells finds them, so that the time is not quadratic in the number of boxes.

use crate::{Call, KernelError, value_at};
use skript_semantics::Scalar;
use skript_tensor::Tensor;

/// The corners of a box: minimum and maximum of each dimension.
type Corners = [(f64, f64); 2];

/// For each batch item and class, selects boxes in descending order of their scores (equal scores: the later box first).
/// Skips boxes whose overlap with a selected box exceeds the threshold. The result has rows (batch, class, box).
pub(super) fn suppress(call: &Call<'_>) -> Result<Vec<Tensor>, KernelError> {
    let (boxes, scores) = (call.reals(0)?, call.reals(1)?);
    let shape = call.shape(1)?;
    let &[batch, classes, count] = shape.as_slice() else {
        return Err(call.wrong("scores have another rank than 3".to_string()));
    };
    let centered = call.text("box_format")? == "CENTER";
    let limit = call.int("max_outputs_per_class")?.max(0) as usize;
    let step = call.step();
    let overlap_limit = step(call.real("iou_threshold")?);
    let score_limit = call.optional_real("score_threshold")?.map(step);
    let mut rows = Vec::new();
    for b in 0..batch {
        let corners: Vec<Corners> =
            (0..count).map(|n| corners(&boxes, (b * count + n) * 4, centered, step)).collect();
        let cells = Cells::new(&corners);
        for c in 0..classes {
            let score = |n: usize| value_at(&scores, (b * classes + c) * count + n);
            let mut order: Vec<usize> =
                (0..count).filter(|&n| score_limit.is_none_or(|limit| score(n) > limit)).collect();
            order.sort_by(|&m, &n| score(n).total_cmp(&score(m)).then(n.cmp(&m)));
            let mut taken = Taken::new(cells);
            for (n, corner) in order.iter().filter_map(|&n| corners.get(n).map(|c| (n, c))) {
                if taken.boxes.len() >= limit {
                    break;
                }
                if taken.all_near(corner, |t| overlap(t, corner, step) <= overlap_limit) {
                    taken.push(corner);
                    rows.extend([b, c, n].map(|i| i as i64));
                }
            }
        }
    }
    let extents = [(rows.len() / 3) as u64, 3];
    Ok(vec![call.result(0, &extents, rows.into_iter().map(Scalar::Int))?])
}

fn corners(boxes: &[f64], start: usize, centered: bool, step: impl Fn(f64) -> f64) -> Corners {
    let [a, b, c, d] = [0, 1, 2, 3].map(|i| value_at(boxes, start + i));
    if centered {
        // x, y, width, height
        let ends = |middle: f64, size: f64| {
            let half = step(size / 2.0);
            (step(middle - half), step(middle + half))
        };
        [ends(b, d), ends(a, c)]
    } else {
        [(a.min(c), a.max(c)), (b.min(d), b.max(d))]
    }
}

/// Intersection over union; 0 where both are empty.
fn overlap(a: &Corners, b: &Corners, step: impl Fn(f64) -> f64) -> f64 {
    let product = |[x, y]: [f64; 2]| step(x * y);
    let area = |c: &Corners| product(c.map(|(low, high)| step(high - low)));
    let [first, second] =
        [(a[0], b[0]), (a[1], b[1])].map(|(x, y)| step(x.1.min(y.1) - x.0.max(y.0)).max(0.0));
    // Most boxes do not overlap.
    if first.min(second) == 0.0 && first.max(second) < f64::INFINITY {
        return 0.0;
    }
    let common = product([first, second]);
    let union = step(step(area(a) + area(b)) - common);
    if union > 0.0 { step(common / union) } else { 0.0 }
}

/// Maximum number of grid cells along a dimension.
const MAX_CELLS: usize = 256;

/// Maximum number of cells that list a box, and of cells that are searched for a box.
const MAX_COVERED: usize = 32;

/// A grid over the finite corners of boxes: for each dimension its origin, the number of cells per unit, and the number of cells.
#[derive(Clone, Copy)]
struct Cells {
    begin: [f64; 2],
    scale: [f64; 2],
    count: [usize; 2],
}

impl Cells {
    /// A grid with at most one cell per box, each about as large as a box.
    fn new(boxes: &[Corners]) -> Self {
        let mut cells = Cells { begin: [0.0; 2], scale: [0.0; 2], count: [1; 2] };
        let max_cells = boxes.len().isqrt().clamp(1, MAX_CELLS);
        let parts = cells.begin.iter_mut().zip(&mut cells.scale).zip(&mut cells.count);
        for (dimension, ((begin, scale), count)) in parts.enumerate() {
            let all = boxes.iter().filter_map(|b| b.get(dimension));
            let finite = all.filter(|(low, high)| low.is_finite() && high.is_finite());
            let (mut minimum, mut maximum) = (f64::INFINITY, f64::NEG_INFINITY);
            let (mut sum, mut number) = (0.0, 0.0);
            for (low, high) in finite {
                (minimum, maximum) = (minimum.min(*low), maximum.max(*high));
                (sum, number) = (sum + (high - low), number + 1.0);
            }
            let range = maximum - minimum;
            // Casts saturate; NaN becomes 0.
            let wanted = ((range * number / sum) as usize).clamp(1, max_cells);
            let per_unit = wanted as f64 / range;
            if per_unit.is_finite() {
                (*begin, *scale, *count) = (minimum, per_unit, wanted);
            }
        }
        cells
    }

    /// The cells that a box covers; `None` if there are more than [`MAX_COVERED`]. Two boxes with a common point have a common
    /// cell, because the cell of a position increases with the position.
    fn covered(&self, corners: &Corners) -> Option<impl Iterator<Item = usize> + use<>> {
        let mut ranges = [(0, 0); 2];
        let dimensions = corners.iter().zip(self.begin).zip(self.scale).zip(self.count);
        for (range, ((((low, high), begin), scale), count)) in ranges.iter_mut().zip(dimensions) {
            if !(low.is_finite() && high.is_finite() && low <= high) {
                return None;
            }
            // Casts saturate.
            let cell = |x: f64| (((x - begin) * scale) as usize).min(count - 1);
            *range = (cell(*low), cell(*high));
        }
        let [rows, columns] = ranges;
        let sizes = ranges.map(|(first, last)| last - first + 1);
        let [_, count] = self.count;
        (sizes.iter().product::<usize>() <= MAX_COVERED).then(|| {
            (rows.0..=rows.1)
                .flat_map(move |row| (columns.0..=columns.1).map(move |column| row * count + column))
        })
    }
}

/// The selected boxes.
struct Taken {
    cells: Cells,
    boxes: Vec<Corners>,
    /// By cell, the numbers of boxes that cover it.
    lists: Vec<Vec<usize>>,
    /// The numbers of boxes that no cell lists.
    others: Vec<usize>,
}

impl Taken {
    fn new(cells: Cells) -> Self {
        Taken {
            cells,
            boxes: Vec::new(),
            lists: vec![Vec::new(); cells.count.iter().product()],
            others: Vec::new(),
        }
    }

    fn push(&mut self, corners: &Corners) {
        let number = self.boxes.len();
        self.boxes.push(*corners);
        match self.cells.covered(corners) {
            None => self.others.push(number),
            Some(cells) => {
                for cell in cells {
                    if let Some(list) = self.lists.get_mut(cell) {
                        list.push(number);
                    }
                }
            }
        }
    }

    /// Whether a condition holds for all boxes that may overlap this one.
    fn all_near(&self, corners: &Corners, mut holds: impl FnMut(&Corners) -> bool) -> bool {
        let Some(mut cells) = self.cells.covered(corners) else {
            return self.boxes.iter().all(holds);
        };
        let mut all = |list: &[usize]| {
            let mut boxes = list.iter().filter_map(|&number| self.boxes.get(number));
            boxes.all(&mut holds)
        };
        all(&self.others) && cells.all(|cell| self.lists.get(cell).is_none_or(|list| all(list)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random boxes of many sizes, some of them not finite: the nearby boxes of a box include all that overlap it.
    #[test]
    fn boxes_with_a_common_area_are_near() {
        let mut state = 3u64;
        let mut next = |limit: f64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as f64 / 2f64.powi(31) * limit
        };
        let mut boxes = vec![
            [(f64::NEG_INFINITY, 3.0), (0.0, f64::INFINITY)],
            [(f64::NAN, 1.0), (0.0, 2.0)],
            [(5.0, 5.0), (5.0, 5.0)],
        ];
        for n in 0..600 {
            let size = if n % 7 == 0 { 90.0 } else { 4.0 };
            let (y, x) = (next(100.0) - 50.0, next(100.0));
            boxes.push([(y, y + next(size)), (x, x + next(size))]);
        }
        let mut taken = Taken::new(Cells::new(&boxes));
        boxes.iter().for_each(|b| taken.push(b));
        let step = |x: f64| x;
        for one in &boxes {
            let area = |other: &Corners| overlap(one, other, step) > 0.0;
            let wanted = boxes.iter().filter(|other| area(other)).count();
            let mut near = Vec::new();
            taken.all_near(one, |other| {
                if area(other) && !near.contains(other) {
                    near.push(*other);
                }
                true
            });
            assert_eq!(near.len(), wanted, "{one:?}");
        }
    }
}
