//! Extents that only a run knows, of a formula's loops and of what it reads and writes.
//!
//! In a [`Domain`] and in a nest such an extent is [`LARGEST_EXTENT`]; here is the value of it. A loop may run over less than the
//! dimension that it goes through: where nothing proves that they are the same, the part is a slice. A point that is skipped may
//! lie outside of the part, so where some are, that must be proven.

use super::Refusal;
use super::domain::Domain;
use super::same::SameExtents;
use crate::mlir::{Builder, types};
use crate::structure::{LARGEST_EXTENT, Reading};
use melior::Error;
use melior::ir::operation::OperationLike;
use melior::ir::{Value, ValueLike};

/// Sizes of a tensor or a part of one.
#[derive(Clone, Default)]
pub struct Sizes<'c, 'a> {
    /// [`types::DYNAMIC`] where a value tells it.
    pub fixed: Vec<i64>,
    pub values: Vec<Value<'c, 'a>>,
}

/// One size.
#[derive(Clone, Copy)]
pub enum Size<'c, 'a> {
    Fixed(i64),
    Open(Value<'c, 'a>),
}

impl<'c: 'a, 'a> Sizes<'c, 'a> {
    /// All extents of a tensor.
    pub fn of(tensor: Value<'c, 'a>, at: &Builder<'c, 'a>) -> Result<Self, Error> {
        Ok(Sizes {
            fixed: types::extents(tensor.r#type()).unwrap_or_default(),
            values: at.dynamic_extents(tensor)?,
        })
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

/// The run-time extents of a formula's loops.
pub struct Open<'s, 'c, 'a> {
    /// By loop of the domain.
    loops: Vec<Option<Value<'c, 'a>>>,
    same: &'s SameExtents,
    /// Whether some point or branch may be skipped.
    skips: bool,
}

/// How a loop goes through a dimension of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    Whole,
    Part,
}

const UNPROVEN: Refusal = Refusal::Shape(
    "skips points, and nothing proves that its loops stay inside of extents that only the run knows",
);

impl<'s, 'c: 'a, 'a> Open<'s, 'c, 'a> {
    /// # Errors
    /// [`Refusal::Shape`]: an index with a run-time extent is no loop of its own, from zero.
    pub fn of(
        reading: &Reading<'c, 'a>,
        domain: &Domain,
        same: &'s SameExtents,
    ) -> Result<Self, Refusal> {
        let mut loops = vec![None; domain.extents.len()];
        for (index, bound) in reading.bounds.iter().enumerate() {
            let Some(bound) = bound else { continue };
            let own = domain.indices.get(index).and_then(|form| form.as_index());
            let whole = |own: &usize| domain.extents.get(*own) == Some(&LARGEST_EXTENT);
            match own.filter(whole).and_then(|own| loops.get_mut(own)) {
                Some(slot) => *slot = Some(*bound),
                None => {
                    return Err(Refusal::Shape(
                        "goes through a part of an extent that only the run knows",
                    ));
                }
            }
        }
        let mut extents = domain.extents.iter().zip(&loops);
        if extents.any(|(extent, value)| *extent >= LARGEST_EXTENT && value.is_none()) {
            return Err(Refusal::Shape("runs over an extent that nothing tells"));
        }
        let inside = reading.blocks().flat_map(crate::mlir::builder::operations);
        let branches = inside.into_iter().any(|op| op.region_count() > 0);
        Ok(Open {
            loops,
            same,
            skips: branches || !domain.always_holds(),
        })
    }

    /// How many steps a loop of the domain has.
    pub fn size(&self, domain: &Domain, number: usize) -> Size<'c, 'a> {
        match self.loops.get(number).copied().flatten() {
            Some(value) => Size::Open(value),
            None => Size::Fixed(domain.extents.get(number).copied().unwrap_or(1)),
        }
    }

    /// Whether a dimension of a tensor is as long as so many steps.
    ///
    /// # Errors
    /// [`Refusal::Shape`]: nobody knows, and no part of the dimension stands for it.
    pub fn fit(
        &self,
        tensor: Value<'c, 'a>,
        dimension: usize,
        size: Size<'c, 'a>,
    ) -> Result<Fit, Refusal> {
        let extents = types::extents(tensor.r#type()).unwrap_or_default();
        match (extents.get(dimension), size) {
            (Some(&types::DYNAMIC), Size::Open(value)) => {
                match self.same.is_extent(tensor, dimension, value) {
                    true => Ok(Fit::Whole),
                    false => self.part(),
                }
            }
            (Some(&types::DYNAMIC), Size::Fixed(_)) => self.part(),
            (Some(extent), Size::Fixed(size)) if *extent == size => Ok(Fit::Whole),
            (_, Size::Fixed(_)) => Ok(Fit::Part),
            (_, Size::Open(_)) => self.part(),
        }
    }

    /// A dimension whose extent only a run knows is read by a subscript that is no loop.
    ///
    /// # Errors
    /// [`Refusal::Shape`]: points that are skipped may read behind its end.
    pub fn stays_inside(&self, tensor: Value<'c, 'a>, dimension: usize) -> Result<(), Refusal> {
        let extents = types::extents(tensor.r#type()).unwrap_or_default();
        match extents.get(dimension) {
            Some(&types::DYNAMIC) => self.part().map(|_| ()),
            _ => Ok(()),
        }
    }

    fn part(&self) -> Result<Fit, Refusal> {
        match self.skips {
            true => Err(UNPROVEN),
            false => Ok(Fit::Part),
        }
    }
}
