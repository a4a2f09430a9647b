// SPDX-License-Identifier: Apache-2.0
//! Computes sums of the bytes of one factor of a sum of products.
//!
//! The zero point of one factor is multiplied by the sum of the bytes of the other factor. If this factor has no windows, its bytes are
//! reduced directly. Otherwise, all bytes of a position are summed first, such as the channels of an image, then the positions of each
//! window.

use super::contraction::Contraction;
use super::scalars::extended;
use super::storage::Stored;
use crate::ir::generic::{Access, all_loops, generic};
use crate::ir::{Builder, ops, types};
use crate::structure::Affine;
use melior::ir::operation::OperationLike;
use melior::ir::{Value, ValueLike};
use skript_dialect::PassError;
use skript_dialect::melior;
use std::collections::BTreeSet;

/// A tensor of summands, with its subscripts as functions of the loops of the contraction.
struct Summands<'c, 'a> {
    input: Access<'c, 'a>,
    /// Whether bytes are signed; `None` for 32-bit integers.
    is_signed: Option<bool>,
}

/// A sum as a separate loop nest.
struct Sum<'c, 'a> {
    summands: Summands<'c, 'a>,
    /// Whether each loop reduces.
    reductions: Vec<bool>,
    /// The loops over windows, with their extents. No subscript is a single one of these loops.
    windows: Vec<(usize, i64)>,
    /// A tensor and its dimensions that the other loops enumerate.
    shape: (Value<'c, 'a>, Vec<usize>),
    /// The number that each summand is multiplied by.
    repeats: i64,
}

impl<'c: 'a, 'a> Contraction<'c, 'a> {
    /// The sums of the bytes of a factor, with subscripts as functions of the dimensions of the result. `None` for unsupported subscripts.
    pub(super) fn sums_of_bytes(
        &self,
        position: usize,
        factor: &Stored<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Option<Access<'c, 'a>>, PassError> {
        let forms = self.forms(position);
        let bytes =
            Summands { input: Access(factor.bytes, forms.to_vec()), is_signed: Some(factor.is_signed) };
        let has_windows = forms.iter().any(|form| self.is_window(form));
        let summands = if has_windows { self.sums_of_positions(bytes, at)? } else { bytes };
        let repeats = self.repeats(forms)?;
        let Some(sum) = self.summed(summands, repeats)? else {
            return Ok(None);
        };
        let subscripts = sum.shape.1.iter().map(|dimension| Affine::index(*dimension)).collect();
        Ok(Some(Access(sum.compute(at)?, subscripts)))
    }

    fn reduces(&self, l: usize) -> bool {
        self.nest.reductions.get(l) == Some(&true)
    }

    /// Whether a subscript moves along a window.
    fn is_window(&self, form: &Affine) -> bool {
        form.as_index().is_none() && form.indices().into_iter().any(|l| self.reduces(l))
    }

    /// The number of times that a sum contains each summand, because the subscripts do not vary along some reductions.
    fn repeats(&self, forms: &[Affine]) -> Result<i64, PassError> {
        let varying = loops_of(forms);
        let extents = self.nest.loops(true).filter(|l| !varying.contains(l)).map(|l| self.nest.extent(l));
        Ok(extents.product::<Option<i64>>().ok_or("internal compiler error: a sum of dynamic length")?)
    }

    /// Sums bytes along the dimensions that are indexed by a separate reduction.
    fn sums_of_positions(
        &self,
        bytes: Summands<'c, 'a>,
        at: &Builder<'c, 'a>,
    ) -> Result<Summands<'c, 'a>, PassError> {
        let Access(tensor, forms) = &bytes.input;
        let is_reduced = |form: &Affine| {
            let uses = |l: usize| forms.iter().filter(|form| form.indices().contains(&l)).count();
            form.as_index().is_some_and(|l| self.reduces(l) && uses(l) == 1)
        };
        let reductions: Vec<bool> = forms.iter().map(is_reduced).collect();
        let kept = |n: &usize| reductions.get(*n) == Some(&false);
        let dimensions: Vec<usize> = (0..forms.len()).filter(kept).collect();
        if dimensions.len() == forms.len() {
            return Ok(bytes);
        }
        let subscripts = dimensions.iter().filter_map(|n| forms.get(*n).cloned()).collect();
        let whole = Summands { input: Access(*tensor, all_loops(forms.len())), is_signed: bytes.is_signed };
        let shape = (*tensor, dimensions);
        let sum = Sum { summands: whole, reductions, windows: Vec::new(), shape, repeats: 1 };
        Ok(Summands { input: Access(sum.compute(at)?, subscripts), is_signed: None })
    }

    /// The sum over the loops that its subscripts use. `None` if subscripts are too large, or if a loop is not a dimension of the result.
    fn summed(&self, summands: Summands<'c, 'a>, repeats: i64) -> Result<Option<Sum<'c, 'a>>, PassError> {
        let Access(tensor, old_forms) = summands.input;
        let loops: Vec<usize> = loops_of(&old_forms).into_iter().collect();
        let Some(forms) = self.renumbered(&old_forms, &loops) else {
            return Ok(None);
        };
        let kept = loops.iter().filter(|l| !self.reduces(**l));
        let Some(dimensions) = kept.map(|l| self.dimension(*l)).collect::<Option<Vec<usize>>>() else {
            return Ok(None);
        };
        let is_alone = |l: usize| old_forms.iter().any(|form| form.as_index() == Some(l));
        let window_loops = loops.iter().enumerate().filter(|(_, l)| self.reduces(**l) && !is_alone(**l));
        let windows: Option<Vec<_>> = window_loops.map(|(n, l)| Some((n, self.nest.extent(*l)?))).collect();
        Ok(Some(Sum {
            summands: Summands { input: Access(tensor, forms), ..summands },
            reductions: loops.iter().map(|l| self.reduces(*l)).collect(),
            windows: windows.ok_or("internal compiler error: a sum of dynamic length")?,
            shape: (self.nest.op.operand(2)?, dimensions),
            repeats,
        }))
    }

    /// The subscripts, where loops are replaced by their positions in a list.
    fn renumbered(&self, forms: &[Affine], loops: &[usize]) -> Option<Vec<Affine>> {
        let number = |l: usize| loops.iter().position(|other| *other == l);
        let numbers = (0..self.nest.reductions.len()).map(number);
        let new: Vec<Affine> = numbers.map(|n| n.map_or(Affine::constant(0), Affine::index)).collect();
        let extent = |l: &usize| self.nest.extent(*l).unwrap_or(skript_symbolic::Extent::LARGEST);
        let extents: Vec<i64> = loops.iter().map(extent).collect();
        forms.iter().map(|form| form.substitute(&new, &extents)).collect()
    }
}

/// The loops that subscripts use, in order.
fn loops_of(forms: &[Affine]) -> BTreeSet<usize> {
    forms.iter().flat_map(Affine::indices).collect()
}

impl<'c: 'a, 'a> Sum<'c, 'a> {
    /// Computes the 32-bit sums.
    fn compute(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let kind = types::i32(at.context);
        let output = Access(self.zeros(at)?, self.kept_loops());
        let mut inputs = vec![self.summands.input.clone()];
        if !self.windows.is_empty() {
            // The extents of the windows are defined by an operand that is not read.
            let (loops, extents): (Vec<usize>, Vec<i64>) = self.windows.iter().copied().unzip();
            let shape = at.value(ops::tensor::EMPTY, &[], &[], types::tensor(&extents, kind))?;
            inputs.push(Access(shape, loops.into_iter().map(Affine::index).collect()));
        }
        let sums =
            generic(at, &inputs, &[output], &self.reductions, |body, elements| -> Result<_, PassError> {
                let (summand, sum) = elements.first().zip(elements.last()).ok_or("a sum without elements")?;
                let wide = match self.summands.is_signed {
                    Some(is_signed) => extended(body, *summand, is_signed, kind),
                    None => *summand,
                };
                let term = match self.repeats {
                    1 => wide,
                    repeats => body.muli(wide, body.int(repeats, kind)),
                };
                Ok(vec![body.addi(*sum, term)])
            })?;
        Ok(sums.result(0)?.into())
    }

    /// The initial values.
    fn zeros(&self, at: &Builder<'c, 'a>) -> Result<Value<'c, 'a>, PassError> {
        let kind = types::i32(at.context);
        let (tensor, dimensions) = &self.shape;
        let tensor_extents = types::shape(tensor.r#type());
        let (mut extents, mut dynamic) = (Vec::new(), Vec::new());
        for dimension in dimensions {
            let extent =
                *tensor_extents.get(*dimension).ok_or("internal compiler error: a sum of another rank")?;
            if extent == types::DYNAMIC {
                let dimension = i64::try_from(*dimension).map_err(|_| "a dimension beyond 64 bits")?;
                dynamic.push(at.extent(*tensor, dimension)?);
            }
            extents.push(extent);
        }
        Ok(at.fill_sized(at.int(0, kind), types::tensor(&extents, kind), &dynamic)?)
    }

    fn kept_loops(&self) -> Vec<Affine> {
        let kept = self.reductions.iter().enumerate().filter(|(_, reduces)| !**reduces);
        kept.map(|(l, _)| Affine::index(l)).collect()
    }
}
