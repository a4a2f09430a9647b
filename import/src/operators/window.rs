// SPDX-License-Identifier: Apache-2.0
//! The windows of convolutions and poolings.
//!
//! The padding of static extents is computed at import. For dynamic extents, the operators of the library compute the padding of
//! `auto_pad`, and the number of windows that `ceil_mode` adds.

use crate::call::Call;
use crate::extent::Extent;
use crate::literals::list;
use crate::refusal::{Reason, Ruled, overflow};

/// A window over the spatial dimensions.
pub(super) struct Window {
    pub size: Vec<i64>,
    pub stride: Vec<i64>,
    pub dilation: Vec<i64>,
    /// The padding before all dimensions, then after them.
    pub padding: Vec<i64>,
    /// The number of elements beyond the padding that `ceil_mode` adds, for each dimension.
    overhang: Vec<i64>,
    /// The part that the operator computes from dynamic extents.
    computed: Option<Computed>,
    /// The spatial extents of the result.
    pub extents: Vec<Extent>,
    /// Whether a window may lie entirely in the padding.
    pub may_be_empty: bool,
}

/// The part of a window that operators of the library compute from extents.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Computed {
    /// The padding for as many windows as steps fit into the input, at this side if it is odd.
    Padding(&'static str),
    /// The number of windows, rounded up.
    Overhang,
}

pub(super) const MAX_NUMBER: i64 = 1 << 40;

/// Reads a list attribute of `count` numbers that are at least `min`.
pub(super) fn numbers(c: &Call, name: &str, count: usize, default: i64, min: i64) -> Ruled<Vec<i64>> {
    let numbers = c.ints(name).unwrap_or_else(|| vec![default; count]);
    if numbers.len() == count && numbers.iter().all(|n| (min..MAX_NUMBER).contains(n)) {
        Ok(numbers)
    } else {
        Err(Reason(format!("the attribute `{name}` does not have {count} valid numbers")))
    }
}

/// Element `at` of a list that has one number for each dimension, such as a result of [`numbers`].
pub(super) fn pick(list: &[i64], at: usize) -> i64 {
    list.get(at).copied().unwrap_or_else(|| unreachable!("internal compiler error: a list is too short"))
}

/// One dimension of a window.
struct Axis<'e> {
    extent: &'e Extent,
    size: i64,
    stride: i64,
    dilation: i64,
    /// The number of elements from the first to the last one of a window.
    reach: i64,
}

/// How `auto_pad` states the padding.
#[derive(Clone, Copy)]
enum Auto {
    Pads,
    Valid,
    Same(&'static str),
}

/// The window of a convolution or pooling.
pub(super) fn window(c: &Call, spatial: &[Extent], size: Option<Vec<i64>>, ceil: bool) -> Ruled<Window> {
    let (d, pools) = (spatial.len(), size.is_none());
    let size = match size {
        Some(size) => size,
        None => numbers(c, "kernel_shape", d, 0, 1)?,
    };
    if size.len() != d || size.iter().any(|s| !(1..MAX_NUMBER).contains(s)) {
        return Err("the size of the window does not match the rank of the input".into());
    }
    let stride = numbers(c, "strides", d, 1, 1)?;
    let dilation = numbers(c, "dilations", d, 1, 1)?;
    let axis = |(at, extent)| Axis::new(extent, pick(&size, at), pick(&stride, at), pick(&dilation, at));
    let axes = spatial.iter().enumerate().map(axis).collect::<Ruled<Vec<Axis>>>()?;
    let auto = Auto::read(c)?;
    let given = numbers(c, "pads", 2 * d, 0, -MAX_NUMBER)?;
    // Windows of one element need no padding.
    let is_computed = |axis: &Axis| axis.extent.value().is_none() && axis.stride != 1 && axis.reach != 1;
    let is_dynamic = axes.iter().any(is_computed);
    let computed = match auto {
        Auto::Same(side) if is_dynamic => Some(Computed::Padding(side)),
        Auto::Pads | Auto::Valid if is_dynamic && ceil => Some(Computed::Overhang),
        _ => None,
    };
    let (mut padding, mut overhang) = (vec![0; 2 * d], Vec::new());
    let (mut extents, mut may_be_empty) = (Vec::new(), false);
    for (at, axis) in axes.iter().enumerate() {
        let ends = match auto {
            Auto::Pads => [pick(&given, at), pick(&given, at + d)],
            Auto::Valid => [0, 0],
            Auto::Same(_) if computed.is_some() => [0, 0],
            Auto::Same(side) => axis.same(side)?,
        };
        let (count, more) = match computed {
            Some(Computed::Padding(_)) => (axis.computed_padding()?, 0),
            Some(Computed::Overhang) => (axis.computed_overhang(ends)?, 0),
            None => axis.windows(ends, ceil, pools)?,
        };
        for (slot, amount) in padding.iter_mut().skip(at).step_by(d).zip(ends) {
            *slot = amount;
        }
        may_be_empty |= axis.may_be_empty(ends, computed, &count);
        overhang.push(more);
        extents.push(count);
    }
    Ok(Window { size, stride, dilation, padding, overhang, computed, extents, may_be_empty })
}

impl Auto {
    fn read(c: &Call) -> Ruled<Auto> {
        match c.string("auto_pad", "NOTSET").as_str() {
            "NOTSET" | "" => Ok(Auto::Pads),
            "VALID" => Ok(Auto::Valid),
            "SAME_UPPER" => Ok(Auto::Same("UPPER")),
            "SAME_LOWER" => Ok(Auto::Same("LOWER")),
            other => Err(Reason(format!("auto_pad {other:?} is unknown"))),
        }
    }
}

impl<'e> Axis<'e> {
    fn new(extent: &'e Extent, size: i64, stride: i64, dilation: i64) -> Ruled<Axis<'e>> {
        let reach = (size - 1)
            .checked_mul(dilation)
            .and_then(|r| r.checked_add(1))
            .filter(|r| *r < MAX_NUMBER)
            .ok_or_else(overflow)?;
        Ok(Axis { extent, size, stride, dilation, reach })
    }

    /// The padding of a static extent, or for steps or windows of one element, with which as many windows as steps fit into the input.
    fn same(&self, side: &str) -> Ruled<[i64; 2]> {
        let total = match self.extent.value() {
            Some(e) => {
                let steps = e / self.stride + i64::from(e % self.stride != 0);
                let needed = (steps - 1).checked_mul(self.stride).and_then(|n| n.checked_add(self.reach));
                (needed.ok_or_else(overflow)? - e).max(0)
            }
            None => self.reach - 1,
        };
        let half = total / 2;
        Ok(if side == "UPPER" { [half, total - half] } else { [total - half, half] })
    }

    /// The number of windows if the operator computes the padding: the quotient of extent and stride, rounded up.
    fn computed_padding(&self) -> Ruled<Extent> {
        // The library subtracts elements from the padding of a smaller window.
        if self.reach < self.stride {
            return Err("auto_pad with a stride above the size of the window requires static extents".into());
        }
        let last = self.extent.plus(&Extent::from(self.stride - 1)).ok_or_else(overflow)?;
        last.over(&Extent::from(self.stride)).ok_or_else(overflow)
    }

    /// The number of windows if the operator rounds it up.
    fn computed_overhang(&self, [before, after]: [i64; 2]) -> Ruled<Extent> {
        // Otherwise, the last window may begin in the padding after the input, and does not count.
        if self.reach < self.stride.saturating_add(after) {
            return Err("ceil_mode with a stride or padding of this size requires static extents".into());
        }
        let free = self.free([before, after])?;
        let last = free.plus(&Extent::from(self.stride - 1)).ok_or_else(overflow)?;
        let steps = last.over(&Extent::from(self.stride)).ok_or_else(overflow)?;
        steps.plus(&Extent::from(1)).ok_or_else(overflow)
    }

    /// The number of positions of a window in the padded input, less one.
    fn free(&self, [before, after]: [i64; 2]) -> Ruled<Extent> {
        let padded = self.extent.plus(&Extent::from(before + after)).ok_or_else(overflow)?;
        padded.minus(&Extent::from(self.reach)).ok_or_else(overflow)
    }

    /// The number of windows, and the number of elements beyond the padding.
    fn windows(&self, [before, after]: [i64; 2], ceil: bool, pools: bool) -> Ruled<(Extent, i64)> {
        let s = self.stride;
        let free = self.free([before, after])?;
        let Some(count) = free.value() else {
            let steps = free.over(&Extent::from(s)).ok_or_else(overflow)?;
            return Ok((steps.plus(&Extent::from(1)).ok_or_else(overflow)?, 0));
        };
        // Runtimes disagree on poolings with a negative, inexact quotient.
        if count < 0 && !(pools && (count == -s || ceil && count > -s)) {
            return Err("the window is larger than the padded input".into());
        }
        let steps = count.div_euclid(s);
        // No window begins in the padding after the input, whose extent is count + reach - before - after.
        if ceil && count % s != 0 && (steps + 1) * s < count + self.reach - after {
            return Ok((Extent::from(steps + 2), (steps + 1) * s - count));
        }
        Ok((Extent::from(steps + 1), 0))
    }

    /// Whether one of `count` windows may lie entirely in the padding.
    fn may_be_empty(&self, [before, after]: [i64; 2], computed: Option<Computed>, count: &Extent) -> bool {
        // Without dilation, each window overlaps the input if the padding is smaller than the window.
        let is_padded = before > 0 || after > 0 || matches!(computed, Some(Computed::Padding(_)));
        let is_wide = before >= self.size || after >= self.size;
        is_wide || self.dilation > 1 && is_padded && !self.all_reach(before, count)
    }

    /// Whether each of `count` windows overlaps the input.
    fn all_reach(&self, before: i64, count: &Extent) -> bool {
        let (Some(extent), Some(count)) = (self.extent.value(), count.value()) else {
            return false;
        };
        if count.saturating_mul(self.size) > MAX_TESTED {
            return false;
        }
        (0..count).all(|at| {
            let first = at.saturating_mul(self.stride).saturating_sub(before);
            let position = |j: i64| first.saturating_add(j.saturating_mul(self.dilation));
            (0..self.size).any(|j| (0..extent).contains(&position(j)))
        })
    }
}

/// Maximum number of elements of windows that are tested one by one.
const MAX_TESTED: i64 = 1 << 16;

impl Window {
    /// Whether the window is larger than the padded input, so that the result is empty.
    pub fn is_nowhere(&self) -> bool {
        self.extents.iter().any(|extent| extent.is(0))
    }

    /// Whether there is padding, or may be.
    pub fn is_padded(&self) -> bool {
        matches!(self.computed, Some(Computed::Padding(_))) || self.padding.iter().any(|p| *p != 0)
    }

    /// Whether windows reach beyond the padding, or may do so.
    pub fn overhangs(&self) -> bool {
        self.computed == Some(Computed::Overhang) || self.overhang.iter().any(|o| *o != 0)
    }

    /// This window, if its padding is known at import: only the operators of `nn` compute it.
    pub fn with_known_padding(self) -> Ruled<Window> {
        match self.computed {
            None => Ok(self),
            Some(Computed::Padding(_)) => {
                Err("auto_pad requires static extents unless the stride is 1".into())
            }
            Some(Computed::Overhang) => {
                Err("ceil_mode requires static extents unless the stride is 1".into())
            }
        }
    }

    /// The attributes except the size. The padding includes the elements that `ceil_mode` adds.
    pub fn attributes(&self) -> Vec<(&'static str, String)> {
        let mut attributes = Vec::new();
        let ones = |list: &[i64]| list.iter().all(|n| *n == 1);
        if !ones(&self.stride) {
            attributes.push(("stride", list(&self.stride)));
        }
        if !ones(&self.dilation) {
            attributes.push(("dilation", list(&self.dilation)));
        }
        let mut padding = self.padding.clone();
        for (p, more) in padding.iter_mut().skip(self.size.len()).zip(&self.overhang) {
            *p += more;
        }
        match self.computed {
            Some(Computed::Padding(side)) => attributes.push(("padding_align", format!("'{side}'"))),
            _ => attributes.push(("padding", list(&padding))),
        }
        if self.computed.is_some() {
            attributes.push(("ceil_mode", "true".to_owned()));
        }
        attributes
    }
}
