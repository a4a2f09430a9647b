// SPDX-License-Identifier: Apache-2.0
//! Reads with subscripts that share indices: diagonals `x[i, i]`, windows `x[2·k + r]`, as reshapes and slices.
//!
//! Dimensions that share indices are flattened to one, with the subscript `c·i + d·j + …`. If d is at least the range
//! of the other terms, the dimension is split into pieces of d elements, which j enumerates. If the pieces overlap, the
//! n elements are repeated and split into pieces of n + d: each piece begins d elements after the one before.

use super::access::{Subscript, run};
use super::constants::filler;
use super::rearrange::MOST;
use super::tensors::Tensors;
use melior::Error;
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::structure::Affine;

/// A tensor and the subscripts that it is read at.
type Straight<'c, 'a> = (Value<'c, 'a>, Vec<Subscript<'c, 'a>>);

/// The tensor with one dimension for each index of subscripts that share indices. `None` if there are none, or if the
/// tensor would be much larger than the elements that are read.
pub(crate) fn straightened<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    subscripts: &[Subscript<'c, 'a>],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Result<Option<Straight<'c, 'a>>, Error> {
    let (mut tensor, mut subscripts) = (tensor, subscripts.to_vec());
    let mut found = false;
    let mut next = 0;
    while next < subscripts.len() {
        let dimensions = sharing(&subscripts, next);
        let row = if dimensions.first() == Some(&next) {
            Row::of(&subscripts, &dimensions, &at.extents(tensor)?, domain)
        } else {
            None
        };
        let Some(row) = row else {
            next += 1;
            continue;
        };
        tensor = row.read(tensor, at)?;
        subscripts = subscripts
            .into_iter()
            .enumerate()
            .filter(|(dimension, _)| !dimensions.contains(dimension))
            .map(|(_, subscript)| subscript)
            .collect();
        for step in &row.steps {
            let form = step.form().ok_or(Error::OperationBuild)?;
            subscripts.push(Subscript::affine(form, domain, at)?);
        }
        (found, next) = (true, 0);
    }
    Ok(found.then_some((tensor, subscripts)))
}

/// The dimensions that are connected with one by shared indices, including itself.
fn sharing(subscripts: &[Subscript<'_, '_>], first: usize) -> Vec<usize> {
    let mut found = vec![first];
    loop {
        let meets = |other: &usize| {
            !found.contains(other)
                && found.iter().any(|own| {
                    let (Some(own), Some(other)) = (subscripts.get(*own), subscripts.get(*other)) else {
                        return false;
                    };
                    let mut indices = own.field.indices.iter();
                    indices.any(|i| other.field.indices.contains(i))
                })
        };
        let Some(other) = (0..subscripts.len()).find(meets) else {
            break;
        };
        found.push(other);
    }
    found.sort_unstable();
    found
}

/// An index in a flattened dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    index: usize,
    extent: i64,
    /// The step between consecutive values of the index; positive.
    length: i64,
    reversed: bool,
}

impl Step {
    /// Its subscript along its dimension.
    fn form(&self) -> Option<Affine> {
        let own = Affine::index(self.index);
        if self.reversed { Affine::constant(self.extent - 1).sub(&own) } else { Some(own) }
    }
}

/// The number of elements from the first to the last position that the indices reach.
fn span(steps: &[Step]) -> Option<i64> {
    steps
        .iter()
        .try_fold(1i64, |sum, step| sum.checked_add(step.length.checked_mul(step.extent.checked_sub(1)?)?))
}

/// How an index becomes a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// Pieces that do not overlap.
    Disjoint,
    Overlapping,
}

/// Dimensions that are flattened to one, and the part of it that is read.
#[derive(Debug)]
struct Row {
    dimensions: Vec<usize>,
    /// For each of these dimensions, the range that is read (half-open).
    ranges: Vec<(i64, i64)>,
    first: i64,
    /// The indices in the order in which they become dimensions.
    steps: Vec<Step>,
    cuts: Vec<Cut>,
}

impl Row {
    fn of(
        subscripts: &[Subscript<'_, '_>],
        dimensions: &[usize],
        extents: &[i64],
        domain: &[i64],
    ) -> Option<Self> {
        let forms = dimensions.iter().map(|d| subscripts.get(*d)?.form.clone());
        let forms: Vec<Affine> = forms.collect::<Option<_>>()?;
        if let [form] = forms.as_slice()
            && run(form, domain).is_some()
        {
            return None;
        }
        let own = dimensions.iter().map(|d| extents.get(*d).copied());
        let own = own.collect::<Option<Vec<_>>>()?;
        Self::among(&forms, &own, domain).map(|row| Row { dimensions: dimensions.to_vec(), ..row })
    }

    /// From the forms of dimensions with these extents.
    fn among(forms: &[Affine], extents: &[i64], domain: &[i64]) -> Option<Self> {
        let mut ranges = Vec::new();
        let mut address = Affine::constant(0);
        for (form, extent) in forms.iter().zip(extents) {
            let range = form.range(domain)?;
            let count = range.high.checked_sub(range.low)?.checked_add(1)?;
            if count < 1 || range.high < 0 || range.low >= *extent {
                return None;
            }
            let own = form.sub(&Affine::constant(range.low))?;
            address = address.scale(count)?.add(&own)?;
            ranges.push((range.low, range.high.checked_add(1)?));
        }
        let mut first = address.offset();
        let mut left = Vec::new();
        for (index, length) in address.as_linear()? {
            let extent = *domain.get(index)?;
            if extent < 1 {
                return None;
            }
            if extent == 1 || length == 0 {
                continue;
            }
            if length < 0 {
                first = first.checked_add(length.checked_mul(extent - 1)?)?;
            }
            left.push(Step { index, extent, length: length.checked_abs()?, reversed: length < 0 });
        }
        let points = product(left.iter().map(|step| step.extent))?;
        let volume = product(extents.iter().copied())?;
        let most = points.max(volume).checked_mul(MOST as i64)?;
        let lengths = ranges.iter().map(|(low, high)| high - low);
        if product(lengths)? > most {
            return None;
        }
        let (mut steps, mut cuts, mut pieces) = (Vec::new(), Vec::new(), 1i64);
        left.sort_by_key(|step| std::cmp::Reverse((step.length, step.index)));
        while let [longest, rest @ ..] = left.as_slice() {
            if longest.length >= span(rest)? {
                steps.push(*longest);
                cuts.push(Cut::Disjoint);
                pieces = pieces.checked_mul(longest.extent)?;
                left.remove(0);
                continue;
            }
            let fewest = (0..left.len()).min_by_key(|n| left.get(*n).map(|step| step.extent))?;
            let row = span(&left)?;
            let step = left.remove(fewest);
            let repeated = step.extent.checked_mul(row.checked_add(step.length)?)?;
            pieces = pieces.checked_mul(step.extent)?;
            if pieces.checked_div(step.extent)?.checked_mul(repeated)? > most {
                return None;
            }
            steps.push(step);
            cuts.push(Cut::Overlapping);
        }
        Some(Row { dimensions: Vec::new(), ranges, first, steps, cuts })
    }

    /// The other dimensions, followed by one for each step.
    fn read<'c: 'a, 'a>(&self, tensor: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let extents = at.extents(tensor)?;
        let with = filler(at.element(tensor)?);
        let range = |d: usize| {
            let own = self.dimensions.iter().position(|own| *own == d);
            own.and_then(|own| self.ranges.get(own).copied())
        };
        let borders = extents.iter().enumerate().map(|(d, extent)| {
            let (low, high) = range(d).unwrap_or((0, *extent));
            (-low, high - extent)
        });
        let (low, high): (Vec<i64>, Vec<i64>) = borders.unzip();
        let none = vec![0; extents.len()];
        let tensor = at.pad(tensor, with, &low, &high, &none)?;
        let is_own = |d: &usize| self.dimensions.contains(d);
        let (own, others): (Vec<usize>, Vec<usize>) = (0..extents.len()).partition(is_own);
        let order: Vec<usize> = others.iter().chain(&own).copied().collect();
        let tensor = at.transpose(tensor, &order)?;
        let mut shape: Vec<i64> = others.iter().filter_map(|d| extents.get(*d).copied()).collect();
        let lengths = self.ranges.iter().map(|(low, high)| high - low);
        let whole = product(lengths).ok_or(Error::OperationBuild)?;
        shape.push(whole);
        let mut row = Rows { value: at.reshape(tensor, &shape)?, at };
        let mut length = span(&self.steps).ok_or(Error::OperationBuild)?;
        row.last(self.first, self.first + length, 1)?;
        for (number, (step, cut)) in self.steps.iter().zip(&self.cuts).enumerate() {
            let rest = self.steps.get(number + 1..).unwrap_or_default();
            if rest.is_empty() {
                row.last(0, length, step.length)?;
                return Ok(row.value);
            }
            let rest = span(rest).ok_or(Error::OperationBuild)?;
            match cut {
                Cut::Disjoint => row.apart(step, length)?,
                Cut::Overlapping => row.overlapping(step, length)?,
            }
            row.last(0, rest, 1)?;
            length = rest;
        }
        // Without a step: one element of each row.
        shape.pop();
        at.reshape(row.value, &shape)
    }
}

fn product(extents: impl IntoIterator<Item = i64>) -> Option<i64> {
    let mut extents = extents.into_iter();
    extents.try_fold(1i64, |all, extent| all.checked_mul(extent))
}

/// A tensor whose last dimension is split.
struct Rows<'t, 'c, 'a> {
    value: Value<'c, 'a>,
    at: &'t Tensors<'c, 'a>,
}

impl<'c: 'a, 'a> Rows<'_, 'c, 'a> {
    fn front(&self) -> Result<Vec<i64>, Error> {
        let mut extents = self.at.extents(self.value)?;
        extents.pop();
        Ok(extents)
    }

    /// A part of the last dimension.
    fn last(&mut self, first: i64, end: i64, stride: i64) -> Result<(), Error> {
        let mut limits = self.front()?;
        let (mut starts, mut strides) = (vec![0; limits.len()], vec![1; limits.len()]);
        limits.push(end);
        starts.push(first);
        strides.push(stride);
        self.value = self.at.slice(self.value, &starts, &limits, &strides)?;
        Ok(())
    }

    /// Splits the last dimension into pieces of the step's length.
    fn apart(&mut self, step: &Step, length: i64) -> Result<(), Error> {
        let mut shape = self.front()?;
        let mut high = vec![0; shape.len()];
        high.push(step.extent * step.length - length);
        let none = vec![0; high.len()];
        let with = filler(self.at.element(self.value)?);
        let whole = self.at.pad(self.value, with, &none, &high, &none)?;
        shape.extend([step.extent, step.length]);
        self.value = self.at.reshape(whole, &shape)?;
        Ok(())
    }

    /// Repeats the last dimension for each piece, beginning where the piece begins.
    fn overlapping(&mut self, step: &Step, length: i64) -> Result<(), Error> {
        let at = self.at;
        let front = self.front()?;
        let piece = length + step.length;
        let needed = step.extent * piece;
        let times = needed.div_euclid(length) + 1;
        let with = |more: &[i64]| [front.as_slice(), more].concat();
        let dimensions: Vec<i64> = (0..front.len() as i64).chain([front.len() as i64 + 1]).collect();
        let repeated = at.broadcast(self.value, &dimensions, &with(&[times, length]))?;
        self.value = at.reshape(repeated, &with(&[times * length]))?;
        self.last(0, needed, 1)?;
        self.value = at.reshape(self.value, &with(&[step.extent, piece]))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(terms: &[(usize, i64)], constant: i64) -> Affine {
        let mut sum = Affine::constant(constant);
        for (index, factor) in terms {
            let part = Affine::index(*index).scale(*factor).unwrap();
            sum = sum.add(&part).unwrap();
        }
        sum
    }

    fn steps(row: &Row) -> Vec<(usize, i64, bool)> {
        row.steps.iter().map(|s| (s.index, s.length, s.reversed)).collect()
    }

    #[test]
    fn a_diagonal_is_every_so_many_elements() {
        let diagonal = [sum(&[(0, 1)], 0), sum(&[(0, 1)], 0)];
        let row = Row::among(&diagonal, &[4, 4], &[4]).unwrap();
        assert_eq!((row.first, steps(&row)), (0, vec![(0, 5, false)]));
        // x[i, 3 - i], and x[i, j, i] of 4 columns j.
        let other = [sum(&[(0, 1)], 0), sum(&[(0, -1)], 3)];
        let row = Row::among(&other, &[4, 4], &[4]).unwrap();
        assert_eq!((row.first, steps(&row)), (3, vec![(0, 3, false)]));
        let planes = [sum(&[(0, 1)], 0), sum(&[(1, 1)], 0), sum(&[(0, 1)], 0)];
        let row = Row::among(&planes, &[3, 4, 3], &[3, 4]).unwrap();
        assert_eq!(steps(&row), [(0, 13, false), (1, 3, false)]);
        assert_eq!(row.cuts, [Cut::Disjoint; 2]);
    }

    #[test]
    fn windows_that_meet_are_cut_behind_their_steps() {
        let row = Row::among(&[sum(&[(0, 2), (1, 1)], -1)], &[7], &[4, 3]).unwrap();
        assert_eq!(row.ranges, [(-1, 8)]);
        assert_eq!(steps(&row), [(1, 1, false), (0, 2, false)]);
        assert_eq!(row.cuts, [Cut::Overlapping, Cut::Disjoint]);
        let row = Row::among(&[sum(&[(0, 2), (1, -3)], 6)], &[13], &[4, 3]).unwrap();
        assert_eq!((row.first, steps(&row)), (0, vec![(1, 3, true), (0, 2, false)]));
    }

    /// Subscripts that need a much larger tensor than the elements that are read, or that overflow.
    #[test]
    fn what_takes_too_many_elements_is_left() {
        let far = sum(&[(0, 1), (1, 1000)], 0);
        assert!(Row::among(&[far], &[2002], &[1001, 2]).is_some());
        let sparse = [sum(&[(0, 100), (1, 99)], 0)];
        assert!(Row::among(&sparse, &[1600], &[9, 9]).is_none());
        let beyond = [sum(&[(0, i64::MAX), (1, 1)], 0)];
        assert!(Row::among(&beyond, &[7], &[3, 2]).is_none());
        let outside = [sum(&[(0, 1), (1, 1)], 7)];
        assert!(Row::among(&outside, &[7], &[3, 2]).is_none());
        assert!(Row::among(&outside, &[9], &[0, 2]).is_none());
    }
}
