// SPDX-License-Identifier: Apache-2.0
//! Dimensions that are read or written from a dynamic offset: at `f + s`, f an affine form of the indices and s a
//! scalar, or in rows, at `f + s + g·t`, g other indices. The slice that f covers is extracted, one for each value of
//! g; the subscripts within it are g and f.

use super::access::{Subscript, read};
use super::constants::filler;
use super::field::Field;
use super::rearrange::MOST;
use super::subscript::DynamicSubscript;
use super::tensors::Tensors;
use melior::Error;
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::structure::Affine;
use skript_semantics::Scalar;

/// Slices of a dimension, parts of which may be out of bounds.
pub(crate) struct Shift<'c, 'a> {
    dimension: usize,
    /// The offset of the slice, or of the first one.
    start: Value<'c, 'a>,
    /// Values of each g, and the distance of consecutive slices.
    rows: Vec<(i64, Value<'c, 'a>)>,
    count: i64,
}

/// Slices of tensors that are written, and their offsets; `None` if everything is written, or if the rest has no
/// effect.
#[derive(Clone, Copy)]
pub(crate) struct Written<'c, 'a> {
    pub value: Value<'c, 'a>,
    pub(crate) mask: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Shift<'c, 'a> {
    /// The slices at a subscript, and the subscripts within them. `None` if the form has no range.
    pub(crate) fn of(
        dimension: usize,
        position: &DynamicSubscript<'c, 'a>,
        domain: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Result<Option<(Self, Vec<Affine>)>, Error> {
        let Some(range) = position.form.range(domain) else {
            return Ok(None);
        };
        let count = range.high.checked_sub(range.low).and_then(|c| c.checked_add(1));
        let (Some(count), Some(inner)) = (count, position.form.sub(&Affine::constant(range.low))) else {
            return Ok(None);
        };
        let start = match (position.by, range.low) {
            (Some(by), 0) => by,
            (Some(by), low) => at.same("add", &[by, at.integer(low)?])?,
            (None, low) => at.integer(low)?,
        };
        let rows = position.rows.iter();
        let shift = Shift {
            dimension,
            start,
            rows: rows
                .clone()
                .map(|(index, apart)| (domain.get(*index).copied().unwrap_or(1), *apart))
                .collect(),
            count,
        };
        let mut within: Vec<Affine> = rows.map(|(index, _)| Affine::index(*index)).collect();
        within.push(inner);
        Ok(Some((shift, within)))
    }

    /// The offset of the slice; `None` if there are several.
    pub(crate) fn first(&self) -> Option<Value<'c, 'a>> {
        self.rows.is_empty().then_some(self.start)
    }

    /// The number of slices.
    fn parts(&self) -> i64 {
        let mut extents = self.rows.iter().map(|(extent, _)| *extent);
        extents.try_fold(1i64, i64::checked_mul).unwrap_or(i64::MAX)
    }

    /// Whether there are so few slices that each is extracted and inserted separately.
    pub(crate) fn is_few(&self) -> bool {
        self.parts() <= MOST as i64
    }

    /// The extents of the slices side by side.
    pub(crate) fn extents(&self, whole: &[i64]) -> Vec<i64> {
        let rows = self.rows.iter().map(|(extent, _)| *extent);
        let within: Vec<i64> = rows.chain([self.count]).collect();
        let mut extents = whole.to_vec();
        extents.splice(self.dimension..=self.dimension, within);
        extents
    }

    /// The offset of each slice, row-major.
    fn starts(&self, at: &Tensors<'c, 'a>) -> Result<Vec<Value<'c, 'a>>, Error> {
        let mut starts = vec![self.start];
        for (extent, apart) in &self.rows {
            let mut next = Vec::new();
            for start in starts {
                for step in 0..*extent {
                    let by = at.same("multiply", &[at.integer(step)?, *apart])?;
                    next.push(match step {
                        0 => start,
                        _ => at.same("add", &[start, by])?,
                    });
                }
            }
            starts = next;
        }
        Ok(starts)
    }

    /// A list of zeros except for this dimension.
    fn here(&self, rank: usize, number: i64) -> Result<Vec<i64>, Error> {
        let mut list = vec![0; rank];
        *list.get_mut(self.dimension).ok_or(Error::OperationBuild)? = number;
        Ok(list)
    }

    /// The tensor with a border, so large that every slice that contains an element of it is in bounds.
    fn surrounded(
        &self,
        tensor: Value<'c, 'a>,
        with: Scalar,
        at: &Tensors<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let rank = at.extents(tensor)?.len();
        let border = self.here(rank, self.count - 1)?;
        at.pad(tensor, with, &border, &border, &vec![0; rank])
    }

    /// The offset of a slice in the tensor with the border.
    fn position(
        &self,
        start: Value<'c, 'a>,
        rank: usize,
        at: &Tensors<'c, 'a>,
    ) -> Result<Vec<Value<'c, 'a>>, Error> {
        let begin = at.same("add", &[start, at.integer(self.count - 1)?])?;
        let zero = at.integer(0)?;
        let starts = (0..rank).map(|d| if d == self.dimension { begin } else { zero });
        Ok(starts.collect())
    }

    /// Extracts the slices; elements out of bounds are unspecified.
    pub(crate) fn cut(&self, tensor: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Result<Value<'c, 'a>, Error> {
        let whole = at.extents(tensor)?;
        let extents = self.extents(&whole);
        if !self.is_few() {
            return self.taken(tensor, &extents, at);
        }
        let mut sizes = whole;
        *sizes.get_mut(self.dimension).ok_or(Error::OperationBuild)? = self.count;
        let around = self.surrounded(tensor, filler(at.element(tensor)?), at)?;
        let mut parts = Vec::new();
        for start in self.starts(at)? {
            let position = self.position(start, sizes.len(), at)?;
            parts.push(at.dynamic_slice(around, &position, &sizes)?);
        }
        at.reshape(at.concatenate(&parts, self.dimension)?, &extents)
    }

    /// The slices as one `gather`.
    fn taken(
        &self,
        tensor: Value<'c, 'a>,
        extents: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let indices: Vec<usize> = (self.dimension..=self.dimension + self.rows.len()).collect();
        let shape: Vec<i64> = indices.iter().filter_map(|i| extents.get(*i).copied()).collect();
        let mut positions = at.broadcast(self.start, &[], &shape)?;
        let one = at.integer(1)?;
        let apart = self.rows.iter().map(|(_, apart)| *apart).chain([one]);
        for (dimension, (apart, extent)) in apart.zip(&shape).enumerate() {
            let apart = at.broadcast(apart, &[], &[*extent])?;
            let own = at.same("multiply", &[at.iota(*extent)?, apart])?;
            let own = at.broadcast(own, &[dimension as i64], &shape)?;
            positions = at.same("add", &[positions, own])?;
        }
        let subscript = |dimension: usize| match dimension.cmp(&self.dimension) {
            std::cmp::Ordering::Equal => {
                Ok(Subscript::data(Field { value: positions, indices: indices.clone() }))
            }
            order => {
                let after = order == std::cmp::Ordering::Greater;
                let index = dimension + if after { self.rows.len() } else { 0 };
                Subscript::affine(Affine::index(index), extents, at)
            }
        };
        let rank = at.extents(tensor)?.len();
        let subscripts = (0..rank).map(subscript).collect::<Result<Vec<_>, Error>>()?;
        let all: Vec<usize> = (0..extents.len()).collect();
        read(tensor, &subscripts, extents, at)?.field.over(&all, extents, at)
    }

    /// The tensor with a slice replaced; elements out of bounds are dropped.
    fn put(
        &self,
        tensor: Value<'c, 'a>,
        part: Value<'c, 'a>,
        start: Value<'c, 'a>,
        with: Scalar,
        at: &Tensors<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let mut limits = at.extents(tensor)?;
        let rank = limits.len();
        let position = self.position(start, rank, at)?;
        let around = self.surrounded(tensor, with, at)?;
        let whole = at.dynamic_update_slice(around, part, &position)?;
        let begins = self.here(rank, self.count - 1)?;
        *limits.get_mut(self.dimension).ok_or(Error::OperationBuild)? += self.count - 1;
        at.slice(whole, &begins, &limits, &vec![1; rank])
    }

    /// The tensor with its only slice replaced.
    pub(crate) fn replaced(
        &self,
        tensor: Value<'c, 'a>,
        part: Value<'c, 'a>,
        at: &Tensors<'c, 'a>,
    ) -> Result<Value<'c, 'a>, Error> {
        let with = filler(at.element(tensor)?);
        self.put(tensor, part, self.start, with, at)
    }

    /// Inserts the slices into a tensor of these extents that is `with` elsewhere; elements of several slices are
    /// combined, or the last one is written.
    pub(crate) fn spread(
        &self,
        written: Written<'c, 'a>,
        whole: &[i64],
        with: Scalar,
        combiner: Option<&str>,
        at: &Tensors<'c, 'a>,
    ) -> Result<Written<'c, 'a>, Error> {
        let mut sizes = whole.to_vec();
        *sizes.get_mut(self.dimension).ok_or(Error::OperationBuild)? = self.count;
        let starts = self.starts(at)?;
        let parts = starts.len() as i64;
        let part = |all: Value<'c, 'a>, number: i64| {
            let mut side = sizes.clone();
            *side.get_mut(self.dimension).ok_or(Error::OperationBuild)? = parts * self.count;
            let all = at.reshape(all, &side)?;
            let begins = self.here(side.len(), number * self.count)?;
            let mut limits = side.clone();
            *limits.get_mut(self.dimension).ok_or(Error::OperationBuild)? = (number + 1) * self.count;
            at.slice(all, &begins, &limits, &vec![1; side.len()])
        };
        let mut result: Option<Written<'c, 'a>> = None;
        for (number, start) in starts.into_iter().enumerate() {
            let element = at.element(written.value)?;
            let value = at.splat(with, whole, element)?;
            let value = self.put(value, part(written.value, number as i64)?, start, with, at)?;
            let none = Scalar::Bool(false);
            let mask = match written.mask {
                Some(mask) => {
                    let own = at.splat(none, whole, at.bool())?;
                    Some(self.put(own, part(mask, number as i64)?, start, none, at)?)
                }
                None => None,
            };
            let own = Written { value, mask };
            result = Some(match result {
                Some(before) => before.and(own, combiner, at)?,
                None => own,
            });
        }
        result.ok_or(Error::OperationBuild)
    }
}

impl<'c: 'a, 'a> Written<'c, 'a> {
    /// Combines two tensors of one shape.
    fn and(self, other: Self, combiner: Option<&str>, at: &Tensors<'c, 'a>) -> Result<Self, Error> {
        match (combiner, self.mask, other.mask) {
            (Some(combiner), ..) => {
                Ok(Written { value: at.same(combiner, &[self.value, other.value])?, mask: None })
            }
            (None, Some(own), Some(mask)) => Ok(Written {
                value: at.select(mask, other.value, self.value)?,
                mask: Some(at.same("or", &[own, mask])?),
            }),
            (None, ..) => Err(Error::OperationBuild),
        }
    }
}
