// SPDX-License-Identifier: Apache-2.0
//! Positions of the lanes of a vector: linear forms of the variables of a kernel, with a constant for each lane.

use skript_symbolic::Affine;

/// `Σ factors[v] · variable v + lanes[l]` for each lane l. All numbers are natural.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Line {
    pub(super) factors: Vec<i64>,
    pub(super) lanes: Vec<i64>,
}

impl Line {
    /// Zero.
    pub(super) fn zero(variables: usize, lanes: usize) -> Line {
        Line { factors: vec![0; variables], lanes: vec![0; lanes] }
    }

    /// The sum with a multiple of another line; `None` if a number overflows.
    pub(super) fn plus(mut self, other: &Line, factor: i64) -> Option<Line> {
        let sum =
            |x: &mut i64, y: &i64| y.checked_mul(factor).and_then(|y| x.checked_add(y)).map(|sum| *x = sum);
        self.factors.iter_mut().zip(&other.factors).try_for_each(|(x, y)| sum(x, y))?;
        self.lanes.iter_mut().zip(&other.lanes).try_for_each(|(x, y)| sum(x, y))?;
        Some(self)
    }

    /// The sum with a constant; `None` if a number overflows.
    pub(super) fn plus_constant(mut self, constant: i64) -> Option<Line> {
        self.lanes.iter_mut().try_for_each(|x| x.checked_add(constant).map(|sum| *x = sum))?;
        Some(self)
    }

    /// A form of loop indices, which are lines like `model`. Only indices that are known in each lane may be divided.
    pub(super) fn of_form(form: &Affine, loops: &[Line], model: &Line) -> Option<Line> {
        let zero = Line::zero(model.factors.len(), model.lanes.len());
        if let Some(terms) = form.as_linear() {
            let first = zero.plus_constant(form.offset())?;
            return terms.into_iter().try_fold(first, |sum, (l, factor)| sum.plus(loops.get(l)?, factor));
        }
        if !form.indices().iter().all(|l| loops.get(*l).is_some_and(Line::is_constant)) {
            return None;
        }
        let at = |lane: usize| {
            let point: Option<Vec<i64>> = loops.iter().map(|l| l.lanes.get(lane).copied()).collect();
            form.evaluate(&point?)
        };
        let lanes = (0..model.lanes.len()).map(at).collect::<Option<_>>()?;
        Some(Line { factors: zero.factors, lanes })
    }

    /// Whether all lanes have the same position.
    pub(super) fn is_uniform(&self) -> bool {
        self.lanes.windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Whether the lanes of each group have the same position.
    pub(super) fn is_uniform_in(&self, group: usize) -> bool {
        self.lanes.chunks(group).all(|lanes| lanes.windows(2).all(|pair| pair[0] == pair[1]))
    }

    /// The first lane of each group.
    pub(super) fn every(&self, group: usize) -> Line {
        Line { factors: self.factors.clone(), lanes: self.lanes.iter().step_by(group).copied().collect() }
    }

    /// Whether each lane follows the one before.
    pub(super) fn is_contiguous(&self) -> bool {
        self.lanes.windows(2).all(|pair| pair[1] - pair[0] == 1)
    }

    /// Whether no variable determines the position.
    pub(super) fn is_constant(&self) -> bool {
        self.factors.iter().all(|factor| *factor == 0)
    }

    /// The first position and the last one.
    pub(super) fn bounds(&self, extents: &[i64]) -> Option<[i64; 2]> {
        let last = self.factors.iter().zip(extents).try_fold(0_i64, |sum, (factor, extent)| {
            sum.checked_add(factor.checked_mul(extent.checked_sub(1)?)?)
        })?;
        let [low, high] = self.ends()?;
        Some([low, high.checked_add(last)?])
    }

    /// The smallest and the largest constant of a lane.
    pub(super) fn ends(&self) -> Option<[i64; 2]> {
        Some([*self.lanes.iter().min()?, *self.lanes.iter().max()?])
    }

    /// The digits of the position in a dense array of this shape, the outermost first. `None` unless each digit is a line within its
    /// extent.
    pub(super) fn digits(&self, shape: &[i64], extents: &[i64]) -> Option<Vec<Line>> {
        let mut rest = self.clone();
        let mut stride = shape.iter().try_fold(1_i64, |all, extent| all.checked_mul(*extent))?;
        let mut digits = Vec::new();
        for extent in shape {
            stride = stride.checked_div(*extent)?;
            if *extent == 1 {
                digits.push(Line::zero(self.factors.len(), self.lanes.len()));
                continue;
            }
            let mut digit = rest.clone();
            for (digit, rest) in digit
                .factors
                .iter_mut()
                .chain(&mut digit.lanes)
                .zip(rest.factors.iter_mut().chain(&mut rest.lanes))
            {
                if *rest < 0 {
                    return None;
                }
                *digit = rest.checked_div(stride)?;
                *rest = rest.checked_rem(stride)?;
            }
            let [low, high] = digit.bounds(extents)?;
            if low < 0 || high >= *extent {
                return None;
            }
            digits.push(digit);
        }
        (rest == Line::zero(self.factors.len(), self.lanes.len())).then_some(digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_has_digits() {
        // 64·row + 32·block + 16 + lane in an array of 8 × 2 × 2 × 16.
        let line = Line { factors: vec![64, 32], lanes: (16..20).collect() };
        let digits = line.digits(&[8, 2, 2, 16], &[8, 2]).unwrap();
        let expected = [
            Line { factors: vec![1, 0], lanes: vec![0; 4] },
            Line { factors: vec![0, 1], lanes: vec![0; 4] },
            Line { factors: vec![0, 0], lanes: vec![1; 4] },
            Line { factors: vec![0, 0], lanes: vec![0, 1, 2, 3] },
        ];
        assert_eq!(digits, expected);
    }

    #[test]
    fn a_digit_that_carries_is_refused() {
        // 8·block + lane exceeds rows of 16 from block 2 on.
        let line = Line { factors: vec![8], lanes: vec![0, 1] };
        assert_eq!(line.digits(&[2, 16], &[4]), None);
        assert!(line.digits(&[2, 16], &[2]).is_some());
    }
}
