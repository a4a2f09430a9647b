// SPDX-License-Identifier: Apache-2.0
//! Reads with subscripts that share indices: diagonals `x[i, i]`, windows `x[2·k + r]`, as reshapes and slices.
//!
//! Dimensions that share indices are flattened to one, with the subscript `c·i + d·j + …`. If d is at least the range
//! of the other terms, the dimension is split into pieces of d elements, which j enumerates. If the pieces overlap, the
//! n elements are repeated and split into pieces of n + d: each piece begins d elements after the one before.
use super::access::{Subscript, run};
use super::constants::filler;
use super::rearrange::MAX_PIECES;
use super::tensors::{Tensors, shape};
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::structure::Affine;

/// A tensor and the subscripts of its elements that are read.
type Straight<'c, 'a> = (Value<'c, 'a>, Vec<Subscript<'c, 'a>>);

/// Rearranges the tensor so that it has a dimension for each index of the subscripts that share indices. `None` if no
/// indices are shared, or if the tensor would be much larger than the elements that are read.
pub(crate) fn straightened<'c: 'a, 'a>(
    tensor: Value<'c, 'a>,
    subscripts: &[Subscript<'c, 'a>],
    domain: &[i64],
    at: &Tensors<'c, 'a>,
) -> Option<Straight<'c, 'a>> {
    let (mut tensor, mut subscripts) = (tensor, subscripts.to_vec());
    let mut changed = false;
    let mut next = 0;
    while next < subscripts.len() {
        let dimensions = sharing(&subscripts, next);
        let row = if dimensions.first() == Some(&next) {
            Row::new(&subscripts, &dimensions, &at.extents(tensor), domain)
        } else {
            None
        };
        let Some(row) = row else {
            next += 1;
            continue;
        };
        tensor = row.read(tensor, at);
        subscripts = subscripts
            .into_iter()
            .enumerate()
            .filter(|(dimension, _)| !dimensions.contains(dimension))
            .map(|(_, subscript)| subscript)
            .collect();
        for step in &row.steps {
            subscripts.push(Subscript::index(step.form()?, domain, at));
        }
        (changed, next) = (true, 0);
    }
    changed.then_some((tensor, subscripts))
}

/// The dimensions that are connected with dimension `first` by shared indices, including `first`.
fn sharing(subscripts: &[Subscript<'_, '_>], first: usize) -> Vec<usize> {
    let mut connected = vec![first];
    let indices = |dimension: usize| &subscripts[dimension].field.indices;
    let shares = |one: usize, other: usize| indices(one).iter().any(|i| indices(other).contains(i));
    let next = |connected: &[usize]| {
        (0..subscripts.len()).find(|d| !connected.contains(d) && connected.iter().any(|c| shares(*c, *d)))
    };
    while let Some(dimension) = next(&connected) {
        connected.push(dimension);
    }
    connected.sort_unstable();
    connected
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
    /// The subscript of the dimension that enumerates the index.
    fn form(&self) -> Option<Affine> {
        let index = Affine::index(self.index);
        if self.reversed { Affine::constant(self.extent - 1).sub(&index) } else { Some(index) }
    }
}

/// The number of elements from the first to the last position that the indices reach.
fn span(steps: &[Step]) -> Option<i64> {
    steps
        .iter()
        .try_fold(1i64, |sum, step| sum.checked_add(step.length.checked_mul(step.extent.checked_sub(1)?)?))
}

/// Like [`span`], for steps whose span [`Row::from_forms`] has computed without overflow.
fn checked_span(steps: &[Step]) -> i64 {
    span(steps).unwrap_or_else(|| unreachable!("internal compiler error: a span of steps overflows"))
}

/// The kind of pieces into which a dimension is split for an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// The pieces do not overlap.
    Disjoint,
    Overlapping,
}

/// Dimensions that are flattened to one dimension, and the part of this dimension that is read.
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
    fn new(
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
        Self::from_forms(&forms, &shape(dimensions, extents), domain)
            .map(|row| Row { dimensions: dimensions.to_vec(), ..row })
    }

    /// From the forms of dimensions with these extents.
    fn from_forms(forms: &[Affine], extents: &[i64], domain: &[i64]) -> Option<Self> {
        let mut ranges = Vec::new();
        let mut address = Affine::constant(0);
        for (form, extent) in forms.iter().zip(extents) {
            let range = form.range(domain)?;
            let count = range.high.checked_sub(range.low)?.checked_add(1)?;
            if count < 1 || range.high < 0 || range.low >= *extent {
                return None;
            }
            address = address.scale(count)?.add(&form.sub(&Affine::constant(range.low))?)?;
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
        let max_elements = points.max(volume).checked_mul(MAX_PIECES as i64)?;
        let lengths = ranges.iter().map(|(low, high)| high - low);
        if product(lengths)? > max_elements {
            return None;
        }
        let (mut steps, mut cuts, mut pieces) = (Vec::new(), Vec::new(), 1i64);
        left.sort_by_key(|step| std::cmp::Reverse((step.length, step.index)));
        while let [longest, shorter @ ..] = left.as_slice() {
            if longest.length >= span(shorter)? {
                steps.push(*longest);
                cuts.push(Cut::Disjoint);
                pieces = pieces.checked_mul(longest.extent)?;
                left.remove(0);
                continue;
            }
            let smallest = (0..left.len()).min_by_key(|n| left.get(*n).map(|step| step.extent))?;
            let row = span(&left)?;
            let step = left.remove(smallest);
            let repeated = step.extent.checked_mul(row.checked_add(step.length)?)?;
            pieces = pieces.checked_mul(step.extent)?;
            if pieces.checked_div(step.extent)?.checked_mul(repeated)? > max_elements {
                return None;
            }
            steps.push(step);
            cuts.push(Cut::Overlapping);
        }
        Some(Row { dimensions: Vec::new(), ranges, first, steps, cuts })
    }

    /// Reads the row: the result has the other dimensions, followed by a dimension for each step.
    fn read<'c: 'a, 'a>(&self, tensor: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Value<'c, 'a> {
        let extents = at.extents(tensor);
        let with = filler(at.element(tensor));
        let range =
            |d: usize| self.dimensions.iter().position(|flattened| *flattened == d).map(|n| self.ranges[n]);
        let borders = extents.iter().enumerate().map(|(d, extent)| {
            let (low, high) = range(d).unwrap_or((0, *extent));
            (-low, high - extent)
        });
        let (low, high): (Vec<i64>, Vec<i64>) = borders.unzip();
        let none = vec![0; extents.len()];
        let tensor = at.pad(tensor, with, &low, &high, &none);
        let is_flattened = |d: &usize| self.dimensions.contains(d);
        let (flattened, others): (Vec<usize>, Vec<usize>) = (0..extents.len()).partition(is_flattened);
        let order: Vec<usize> = others.iter().chain(&flattened).copied().collect();
        let tensor = at.transpose(tensor, &order);
        let mut shape = shape(&others, &extents);
        let lengths = self.ranges.iter().map(|(low, high)| high - low);
        shape.push(lengths.product());
        let mut row = Rows { value: at.reshape(tensor, &shape), at };
        let mut length = checked_span(&self.steps);
        row.last(self.first, self.first + length, 1);
        for (number, (step, cut)) in self.steps.iter().zip(&self.cuts).enumerate() {
            let following = &self.steps[number + 1..];
            if following.is_empty() {
                row.last(0, length, step.length);
                return row.value;
            }
            let following = checked_span(following);
            match cut {
                Cut::Disjoint => row.apart(step, length),
                Cut::Overlapping => row.overlapping(step, length),
            }
            row.last(0, following, 1);
            length = following;
        }
        // Without steps, one element of each row is read.
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
    fn front(&self) -> Vec<i64> {
        let mut extents = self.at.extents(self.value);
        extents.pop();
        extents
    }

    /// Slices the last dimension.
    fn last(&mut self, first: i64, end: i64, stride: i64) {
        let mut limits = self.front();
        let (mut starts, mut strides) = (vec![0; limits.len()], vec![1; limits.len()]);
        limits.push(end);
        starts.push(first);
        strides.push(stride);
        self.value = self.at.slice(self.value, &starts, &limits, &strides);
    }

    /// Splits the last dimension into pieces of the step's length.
    fn apart(&mut self, step: &Step, length: i64) {
        let mut shape = self.front();
        let mut high = vec![0; shape.len()];
        high.push(step.extent * step.length - length);
        let none = vec![0; high.len()];
        let with = filler(self.at.element(self.value));
        let whole = self.at.pad(self.value, with, &none, &high, &none);
        shape.extend([step.extent, step.length]);
        self.value = self.at.reshape(whole, &shape);
    }

    /// Repeats the last dimension and splits it into pieces of `length + step.length` elements, so that piece `k`
    /// begins with element `k * step.length`.
    fn overlapping(&mut self, step: &Step, length: i64) {
        let at = self.at;
        let front = self.front();
        let piece = length + step.length;
        let needed = step.extent * piece;
        let times = needed.div_euclid(length) + 1;
        let with = |more: &[i64]| [front.as_slice(), more].concat();
        let dimensions: Vec<i64> = (0..front.len() as i64).chain([front.len() as i64 + 1]).collect();
        let repeated = at.broadcast(self.value, &dimensions, &with(&[times, length]));
        self.value = at.reshape(repeated, &with(&[times * length]));
        self.last(0, needed, 1);
        self.value = at.reshape(self.value, &with(&[step.extent, piece]));
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
    fn a_diagonal_is_a_strided_slice() {
        let diagonal = [sum(&[(0, 1)], 0), sum(&[(0, 1)], 0)];
        let row = Row::from_forms(&diagonal, &[4, 4], &[4]).unwrap();
        assert_eq!((row.first, steps(&row)), (0, vec![(0, 5, false)]));
        // x[i, 3 - i], and x[i, j, i] of 4 columns j.
        let other = [sum(&[(0, 1)], 0), sum(&[(0, -1)], 3)];
        let row = Row::from_forms(&other, &[4, 4], &[4]).unwrap();
        assert_eq!((row.first, steps(&row)), (3, vec![(0, 3, false)]));
        let planes = [sum(&[(0, 1)], 0), sum(&[(1, 1)], 0), sum(&[(0, 1)], 0)];
        let row = Row::from_forms(&planes, &[3, 4, 3], &[3, 4]).unwrap();
        assert_eq!(steps(&row), [(0, 13, false), (1, 3, false)]);
        assert_eq!(row.cuts, [Cut::Disjoint; 2]);
    }

    #[test]
    fn overlapping_windows_are_repeated() {
        let row = Row::from_forms(&[sum(&[(0, 2), (1, 1)], -1)], &[7], &[4, 3]).unwrap();
        assert_eq!(row.ranges, [(-1, 8)]);
        assert_eq!(steps(&row), [(1, 1, false), (0, 2, false)]);
        assert_eq!(row.cuts, [Cut::Overlapping, Cut::Disjoint]);
        let row = Row::from_forms(&[sum(&[(0, 2), (1, -3)], 6)], &[13], &[4, 3]).unwrap();
        assert_eq!((row.first, steps(&row)), (0, vec![(1, 3, true), (0, 2, false)]));
    }

    /// Subscripts that overflow, or that need a tensor much larger than the elements that are read.
    #[test]
    fn sparse_reads_are_declined() {
        let far = sum(&[(0, 1), (1, 1000)], 0);
        assert!(Row::from_forms(&[far], &[2002], &[1001, 2]).is_some());
        let sparse = [sum(&[(0, 100), (1, 99)], 0)];
        assert!(Row::from_forms(&sparse, &[1600], &[9, 9]).is_none());
        let beyond = [sum(&[(0, i64::MAX), (1, 1)], 0)];
        assert!(Row::from_forms(&beyond, &[7], &[3, 2]).is_none());
        let outside = [sum(&[(0, 1), (1, 1)], 7)];
        assert!(Row::from_forms(&outside, &[7], &[3, 2]).is_none());
        assert!(Row::from_forms(&outside, &[9], &[0, 2]).is_none());
    }
}
