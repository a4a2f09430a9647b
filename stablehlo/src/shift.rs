// SPDX-License-Identifier: Apache-2.0
//! Exports accesses at a dynamic offset along a dimension: at `f + s`, where f is an affine form of the indices and s
//! is a scalar, or in rows, at `f + s + g·t`, where g are other indices. One slice, which f covers, is extracted for
//! each value of g; the subscripts within the slices are g and f.
use super::access::{Subscript, read};
use super::constants::filler;
use super::field::Field;
use super::rearrange::MAX_PIECES;
use super::subscript::DynamicSubscript;
use super::tensors::{Tensors, shape};
use melior::ir::Value;
use skript_dialect::melior;
use skript_passes::structure::Affine;
use skript_semantics::Scalar;

/// Slices of a dimension, which may be partially out of bounds.
pub(crate) struct Shift<'c, 'a> {
    dimension: usize,
    /// The offset of the first slice.
    start: Value<'c, 'a>,
    /// The extent of each g, and the distance between consecutive slices.
    rows: Vec<(i64, Value<'c, 'a>)>,
    count: i64,
}

/// Written values, and a mask of the written elements; `None` if all elements are written, or if the other elements
/// have no effect.
#[derive(Clone, Copy)]
pub(crate) struct Written<'c, 'a> {
    pub value: Value<'c, 'a>,
    pub(crate) mask: Option<Value<'c, 'a>>,
}

impl<'c: 'a, 'a> Shift<'c, 'a> {
    /// The slices at a subscript, and the subscripts within them. `None` if the form has no range.
    pub(crate) fn new(
        dimension: usize,
        position: &DynamicSubscript<'c, 'a>,
        domain: &[i64],
        at: &Tensors<'c, 'a>,
    ) -> Option<(Self, Vec<Affine>)> {
        let range = position.form.range(domain)?;
        let count = range.high.checked_sub(range.low)?.checked_add(1)?;
        let inner = position.form.sub(&Affine::constant(range.low))?;
        let start = match (position.by, range.low) {
            (Some(by), 0) => by,
            (Some(by), low) => at.same("add", &[by, at.integer(low)]),
            (None, low) => at.integer(low),
        };
        let rows = position.rows.iter().map(|(index, apart)| (domain[*index], *apart)).collect();
        let shift = Shift { dimension, start, rows, count };
        let mut within: Vec<Affine> = position.rows.iter().map(|(index, _)| Affine::index(*index)).collect();
        within.push(inner);
        Some((shift, within))
    }

    /// The offset of the only slice; `None` if there are several slices.
    pub(crate) fn first(&self) -> Option<Value<'c, 'a>> {
        self.rows.is_empty().then_some(self.start)
    }

    /// The number of slices.
    fn parts(&self) -> i64 {
        let extents = self.rows.iter().map(|(extent, _)| *extent);
        extents.fold(1i64, i64::saturating_mul)
    }

    /// Whether each slice is extracted and inserted separately, because there are few slices.
    pub(crate) fn is_few(&self) -> bool {
        self.parts() <= MAX_PIECES as i64
    }

    /// The extents of the tensor of all slices, with the dimensions g and f in place of the sliced dimension.
    pub(crate) fn extents(&self, whole: &[i64]) -> Vec<i64> {
        let rows = self.rows.iter().map(|(extent, _)| *extent);
        let within: Vec<i64> = rows.chain([self.count]).collect();
        let mut extents = whole.to_vec();
        extents.splice(self.dimension..=self.dimension, within);
        extents
    }

    /// The offsets of all slices, in row-major order.
    fn starts(&self, at: &Tensors<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let mut starts = vec![self.start];
        for (extent, apart) in &self.rows {
            let mut next = Vec::new();
            for start in starts {
                for step in 0..*extent {
                    let by = at.same("multiply", &[at.integer(step), *apart]);
                    next.push(match step {
                        0 => start,
                        _ => at.same("add", &[start, by]),
                    });
                }
            }
            starts = next;
        }
        starts
    }

    /// A list with `number` for the sliced dimension and zeros elsewhere.
    fn here(&self, rank: usize, number: i64) -> Vec<i64> {
        let mut list = vec![0; rank];
        list[self.dimension] = number;
        list
    }

    /// Pads the tensor such that every slice that contains an element of the tensor is in bounds.
    fn surrounded(&self, tensor: Value<'c, 'a>, with: Scalar, at: &Tensors<'c, 'a>) -> Value<'c, 'a> {
        let rank = at.extents(tensor).len();
        let border = self.here(rank, self.count - 1);
        at.pad(tensor, with, &border, &border, &vec![0; rank])
    }

    /// The offset of a slice in the padded tensor.
    fn position(&self, start: Value<'c, 'a>, rank: usize, at: &Tensors<'c, 'a>) -> Vec<Value<'c, 'a>> {
        let begin = at.same("add", &[start, at.integer(self.count - 1)]);
        let zero = at.integer(0);
        let starts = (0..rank).map(|d| if d == self.dimension { begin } else { zero });
        starts.collect()
    }

    /// Extracts the slices; out-of-bounds elements are unspecified.
    pub(crate) fn cut(&self, tensor: Value<'c, 'a>, at: &Tensors<'c, 'a>) -> Value<'c, 'a> {
        let whole = at.extents(tensor);
        let extents = self.extents(&whole);
        if !self.is_few() {
            return self.taken(tensor, &extents, at);
        }
        let mut sizes = whole;
        sizes[self.dimension] = self.count;
        let around = self.surrounded(tensor, filler(at.element(tensor)), at);
        let mut parts = Vec::new();
        for start in self.starts(at) {
            let position = self.position(start, sizes.len(), at);
            parts.push(at.dynamic_slice(around, &position, &sizes));
        }
        at.reshape(at.concatenate(&parts, self.dimension), &extents)
    }

    /// Extracts the slices by one `gather`.
    fn taken(&self, tensor: Value<'c, 'a>, extents: &[i64], at: &Tensors<'c, 'a>) -> Value<'c, 'a> {
        let indices: Vec<usize> = (self.dimension..=self.dimension + self.rows.len()).collect();
        let shape = shape(&indices, extents);
        let mut positions = at.broadcast(self.start, &[], &shape);
        let one = at.integer(1);
        let apart = self.rows.iter().map(|(_, apart)| *apart).chain([one]);
        for (dimension, (apart, extent)) in apart.zip(&shape).enumerate() {
            let apart = at.broadcast(apart, &[], &[*extent]);
            let offsets = at.same("multiply", &[at.iota(*extent), apart]);
            let offsets = at.broadcast(offsets, &[dimension as i64], &shape);
            positions = at.same("add", &[positions, offsets]);
        }
        let subscript = |dimension: usize| match dimension.cmp(&self.dimension) {
            std::cmp::Ordering::Equal => {
                Subscript::data(Field { value: positions, indices: indices.clone() })
            }
            order => {
                let after = order == std::cmp::Ordering::Greater;
                let index = dimension + if after { self.rows.len() } else { 0 };
                Subscript::index(Affine::index(index), extents, at)
            }
        };
        let rank = at.extents(tensor).len();
        let subscripts = (0..rank).map(subscript).collect::<Vec<_>>();
        let all: Vec<usize> = (0..extents.len()).collect();
        read(tensor, &subscripts, extents, at).field.over(&all, extents, at)
    }

    /// Replaces a slice of the tensor; out-of-bounds elements are dropped.
    fn put(
        &self,
        tensor: Value<'c, 'a>,
        part: Value<'c, 'a>,
        start: Value<'c, 'a>,
        with: Scalar,
        at: &Tensors<'c, 'a>,
    ) -> Value<'c, 'a> {
        let mut limits = at.extents(tensor);
        let rank = limits.len();
        let position = self.position(start, rank, at);
        let around = self.surrounded(tensor, with, at);
        let whole = at.dynamic_update_slice(around, part, &position);
        let begins = self.here(rank, self.count - 1);
        limits[self.dimension] += self.count - 1;
        at.slice(whole, &begins, &limits, &vec![1; rank])
    }

    /// Replaces the only slice of the tensor.
    pub(crate) fn replaced(
        &self,
        tensor: Value<'c, 'a>,
        part: Value<'c, 'a>,
        at: &Tensors<'c, 'a>,
    ) -> Value<'c, 'a> {
        let with = filler(at.element(tensor));
        self.put(tensor, part, self.start, with, at)
    }

    /// Inserts the slices into a tensor with these extents and the value `with` elsewhere. Overlapping elements are
    /// combined, or the last one is written if there is no combiner.
    pub(crate) fn spread(
        &self,
        written: Written<'c, 'a>,
        whole: &[i64],
        with: Scalar,
        combiner: Option<&str>,
        at: &Tensors<'c, 'a>,
    ) -> Written<'c, 'a> {
        let mut sizes = whole.to_vec();
        sizes[self.dimension] = self.count;
        let starts = self.starts(at);
        let parts = starts.len() as i64;
        let part = |all: Value<'c, 'a>, number: i64| {
            let mut side = sizes.clone();
            side[self.dimension] = parts * self.count;
            let all = at.reshape(all, &side);
            let begins = self.here(side.len(), number * self.count);
            let mut limits = side.clone();
            limits[self.dimension] = (number + 1) * self.count;
            at.slice(all, &begins, &limits, &vec![1; side.len()])
        };
        let mut result: Option<Written<'c, 'a>> = None;
        for (number, start) in starts.into_iter().enumerate() {
            let element = at.element(written.value);
            let value = at.splat(with, whole, element);
            let value = self.put(value, part(written.value, number as i64), start, with, at);
            let none = Scalar::Bool(false);
            let mask = written.mask.map(|mask| {
                let flags = at.splat(none, whole, at.bool());
                self.put(flags, part(mask, number as i64), start, none, at)
            });
            let slice = Written { value, mask };
            result = Some(match result {
                Some(before) => before.and(slice, combiner, at),
                None => slice,
            });
        }
        result.unwrap_or_else(|| unreachable!("internal compiler error: no slices"))
    }
}

impl<'c: 'a, 'a> Written<'c, 'a> {
    /// Combines two written tensors of the same shape.
    fn and(self, other: Self, combiner: Option<&str>, at: &Tensors<'c, 'a>) -> Self {
        match (combiner, self.mask, other.mask) {
            (Some(combiner), ..) => {
                Written { value: at.same(combiner, &[self.value, other.value]), mask: None }
            }
            (None, Some(before), Some(mask)) => Written {
                value: at.select(mask, other.value, self.value),
                mask: Some(at.same("or", &[before, mask])),
            },
            (None, ..) => unreachable!("internal compiler error: writes without a mask"),
        }
    }
}
