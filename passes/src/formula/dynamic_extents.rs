// SPDX-License-Identifier: Apache-2.0
//! Dynamic extents of a formula's loops and tensors.
//!
//! In a [`Domain`] and in a nest such an extent is a symbol; this module returns its value. The range of a loop may be
//! shorter than the dimension that it indexes. Unless they are proven equal, the operand is a slice. If a skipped point
//! may be outside of the slice, a reduction reads a copy with a border that covers the range of the loops. Other formulas
//! read the tensor directly at the points that are not skipped.

use super::Refusal;
use super::domain::Domain;
use super::operand::COPIED_RATIO;
use crate::facts::SharedFacts;
use crate::ir::{Builder, types};
use crate::structure::{Affine, Extent, Reading, Term, TermId};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{Type, Value, ValueLike};
use skript_semantics::ScalarOp;

/// Sizes of a tensor or of a part of it.
#[derive(Clone, Default)]
pub(crate) struct Sizes<'c, 'a> {
    /// [`types::DYNAMIC`] for an extent in the list of values.
    pub fixed: Vec<i64>,
    pub values: Vec<Value<'c, 'a>>,
}

#[derive(Clone, Copy)]
pub(crate) enum Size<'c, 'a> {
    Fixed(i64),
    Open(Value<'c, 'a>),
}

impl<'c: 'a, 'a> Sizes<'c, 'a> {
    pub(crate) fn from_tensor(tensor: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Self, Error> {
        Ok(Sizes { fixed: types::shape(tensor.r#type()), values: at.dynamic_extents(tensor)? })
    }
}

impl<'c, 'a> FromIterator<Size<'c, 'a>> for Sizes<'c, 'a> {
    fn from_iter<I: IntoIterator<Item = Size<'c, 'a>>>(sizes: I) -> Self {
        let mut all = Sizes::default();
        for size in sizes {
            match size {
                Size::Fixed(size) => all.fixed.push(size),
                Size::Open(value) => {
                    all.fixed.push(types::DYNAMIC);
                    all.values.push(value);
                }
            }
        }
        all
    }
}

/// The dynamic extents of a formula's loops.
pub(crate) struct Open<'s, 'c, 'a> {
    loops: Vec<Size<'c, 'a>>,
    facts: &'s SharedFacts,
    /// Whether points may be skipped.
    skips: bool,
    /// Whether reads may be skipped: at skipped points, or in branches of the body.
    skips_reads: bool,
}

/// The extent of a loop relative to a dimension of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The loop covers the full dimension.
    Whole,
    /// The loop covers a part of the dimension.
    Part,
    /// The loop covers at most the dimension, unless skipped points are outside.
    Unproven,
}

const UNPROVEN: Refusal = Refusal::Shape(
    "has accesses that are not proven in bounds: it skips points, and its loops run over dynamic dimensions",
);

const EMPTY: Refusal = Refusal::Shape(
    "has accesses that are not proven in bounds: it reduces over a dynamic dimension that may be empty",
);

impl<'s, 'c: 'a, 'a> Open<'s, 'c, 'a> {
    pub(crate) fn new(
        reading: &Reading<'c, 'a>,
        domain: &Domain,
        facts: &'s SharedFacts,
    ) -> Result<Self, Refusal> {
        let loops = domain.extents.iter().map(|extent| match extent {
            Extent::Static(size) => Ok(Size::Fixed(*size)),
            Extent::Dynamic(_) => Ok(Size::Open(reading.bound(*extent).ok_or(Refusal::UNDEFINED_EXTENT)?)),
        });
        let inside = reading.blocks().flat_map(crate::ir::builder::operations);
        let branches = inside.into_iter().any(|op| op.region_count() > 0);
        Ok(Open {
            loops: loops.collect::<Result<_, Refusal>>()?,
            facts,
            skips: !domain.always_holds(),
            skips_reads: branches || !domain.always_holds(),
        })
    }

    /// Returns the number of steps of a loop of the domain.
    pub(crate) fn size(&self, number: usize) -> Size<'c, 'a> {
        self.loops.get(number).copied().unwrap_or(Size::Fixed(1))
    }

    /// Returns the total number of steps of nested loops.
    pub(crate) fn steps(&self, loops: &[usize], at: &Builder<'c, 'a>) -> Result<Size<'c, 'a>, Error> {
        let index = Type::index(at.context);
        let mut sizes = loops.iter().map(|number| self.size(*number));
        sizes.try_fold(Size::Fixed(1), |all, size| {
            Ok(match (all, size) {
                (Size::Fixed(1), size) => size,
                (Size::Fixed(all), Size::Fixed(size)) => Size::Fixed(all.saturating_mul(size)),
                (Size::Open(open), Size::Fixed(size)) | (Size::Fixed(size), Size::Open(open)) => {
                    Size::Open(at.scalar(ScalarOp::Mul, &[open, at.idx(size)], index)?)
                }
                (Size::Open(all), Size::Open(size)) => {
                    Size::Open(at.scalar(ScalarOp::Mul, &[all, size], index)?)
                }
            })
        })
    }

    fn is_extent(&self, tensor: Value, dimension: usize, size: Value, factor: i64) -> bool {
        self.facts.borrow_mut().is_extent(tensor, dimension, size, factor)
    }

    /// Compares the extent of a dimension of a tensor with `size`.
    pub(crate) fn fit(&self, tensor: Value<'c, 'a>, dimension: usize, size: Size<'c, 'a>) -> Fit {
        let extents = types::shape(tensor.r#type());
        match (extents.get(dimension), size) {
            (Some(&types::DYNAMIC), Size::Open(value)) if self.is_extent(tensor, dimension, value, 1) => {
                Fit::Whole
            }
            (Some(extent), Size::Fixed(size)) if *extent == size => Fit::Whole,
            (Some(&types::DYNAMIC), _) | (_, Size::Open(_)) => Fit::Unproven,
            (_, Size::Fixed(_)) => Fit::Part,
        }
    }

    /// Determines how nested loops cover a dimension that they write.
    pub(crate) fn fit_written(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        domain: &Domain,
        loops: &[usize],
    ) -> Result<Fit, Refusal> {
        let (mut factor, mut open) = (1i64, Vec::new());
        for number in loops {
            match self.size(*number) {
                Size::Fixed(size) => factor = factor.saturating_mul(size),
                Size::Open(value) => open.push(value),
            }
        }
        let fit = match open.as_slice() {
            [] => self.fit(tensor, dimension, Size::Fixed(factor)),
            [size] if factor == 1 => self.fit(tensor, dimension, Size::Open(*size)),
            [size] if self.is_extent(tensor, dimension, *size, factor) => Fit::Whole,
            _ => Fit::Unproven,
        };
        match fit {
            Fit::Unproven if self.skips => Err(UNPROVEN),
            Fit::Unproven if self.open().any(|number| number >= domain.parallel) => Err(EMPTY),
            Fit::Unproven => Ok(Fit::Part),
            fit => Ok(fit),
        }
    }

    /// Determines how the loops cover a dimension that they read. If every point reads, the accessed part is in bounds.
    /// This does not hold if a loop is empty, because no point reads then. `bare` are the loops that are dimensions of the
    /// part: if one of them is empty, the part is empty too.
    pub(crate) fn fit_read(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        size: Size<'c, 'a>,
        bare: &[usize],
    ) -> Fit {
        match self.fit(tensor, dimension, size) {
            Fit::Unproven if !self.skips_reads && self.open().all(|l| bare.contains(&l)) => Fit::Part,
            fit => fit,
        }
    }

    fn open(&self) -> impl Iterator<Item = usize> {
        (0..self.loops.len()).filter(|number| matches!(self.size(*number), Size::Open(_)))
    }

    /// Whether skipped points may read beyond the end of a dynamic dimension.
    pub(crate) fn leaves(&self, tensor: Value<'c, 'a>, dimension: usize, form: &Affine) -> bool {
        let extents = types::shape(tensor.r#type());
        if !self.skips_reads || extents.get(dimension) != Some(&types::DYNAMIC) {
            return false;
        }
        let whole = |number| self.fit(tensor, dimension, self.size(number)) == Fit::Whole;
        !form.as_index().is_some_and(whole)
    }

    /// Whether a term states `subscript < extent` of a dynamic dimension, for a subscript of an access.
    pub(crate) fn ends(
        &self,
        reading: &Reading<'c, 'a>,
        domain: &Domain,
        term: TermId,
        access: TermId,
    ) -> bool {
        let nest = &reading.nest;
        let (Some(Term::Apply { op, operands, .. }), Some(Term::Access { tensor, subscripts })) =
            (nest.terms.get(term), nest.terms.get(access))
        else {
            return false;
        };
        let (position, end) = match (op, operands.as_slice()) {
            (ScalarOp::Lt, [position, end]) | (ScalarOp::Gt, [end, position]) => (*position, *end),
            _ => return false,
        };
        let Some(tensor) = reading.tensors.get(*tensor) else {
            return false;
        };
        let position = domain.affine(nest, position);
        let mut outside = reading.outside.iter().filter(|(_, term)| *term == end);
        outside.any(|(end, _)| {
            let mut subscripts = subscripts.iter().enumerate();
            subscripts.any(|(dimension, subscript)| {
                position.is_some()
                    && domain.affine(nest, *subscript) == position
                    && self.is_extent(*tensor, dimension, *end, 1)
            })
        })
    }

    /// Computes the range of a form of the loops: a static minimum, and the number of positions from the minimum, or an
    /// upper bound of it.
    ///
    /// Returns `None` if the minimum is dynamic, or if the number of positions is much greater than the number of positions
    /// that are read.
    pub(crate) fn span(
        &self,
        form: &Affine,
        at: &Builder<'c, 'a>,
    ) -> Result<Option<(i64, Size<'c, 'a>)>, Refusal> {
        let Some(terms) = form.as_linear() else {
            return Ok(None);
        };
        let (mut low, mut fixed, mut open) = (form.offset(), 1i64, Vec::new());
        for (number, factor) in terms {
            match self.size(number) {
                Size::Open(value) if factor > 0 => open.push((value, factor)),
                Size::Open(_) => return Ok(None),
                Size::Fixed(size) => {
                    let Some(far) = factor.checked_mul(size - 1) else {
                        return Ok(None);
                    };
                    let sums = (low.checked_add(far.min(0)), fixed.checked_add(far.abs()));
                    let (Some(min), Some(count)) = sums else {
                        return Ok(None);
                    };
                    (low, fixed) = (min, count);
                }
            }
        }
        // The static loops must cover most positions between the steps of the dynamic loop with the smallest stride.
        let finest = open.iter().map(|(_, factor)| *factor).min().unwrap_or(1);
        if finest > fixed.saturating_mul(COPIED_RATIO) {
            return Ok(None);
        }
        let factors = open.iter().map(|(_, factor)| *factor);
        let rest = factors.fold(fixed, i64::saturating_sub);
        let index = Type::index(at.context);
        let mut size: Option<Value<'c, 'a>> = None;
        for (value, factor) in open {
            let part = match factor {
                1 => value,
                _ => at.scalar(ScalarOp::Mul, &[value, at.idx(factor)], index)?,
            };
            size = Some(match size {
                Some(others) => at.scalar(ScalarOp::Add, &[others, part], index)?,
                None => part,
            });
        }
        Ok(Some(match size {
            None => (low, Size::Fixed(fixed)),
            // Upper bounds are derived from sums of nonnegative values, so a negative term is dropped, which rounds the
            // size up.
            Some(open) if rest <= 0 => (low, Size::Open(open)),
            Some(open) => {
                let size = at.scalar(ScalarOp::Add, &[open, at.idx(rest)], index)?;
                (low, Size::Open(size))
            }
        }))
    }
}
