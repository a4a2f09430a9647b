// SPDX-License-Identifier: Apache-2.0
//! Infers the shapes of results from the shapes of operands and the attributes. The verifier has the same rules and
//! checks the inferred shapes.

use crate::import::to_linalg::{Labels, SourceOp, Tensor, labels};
use melior::ir::operation::OperationLike;
use skript_dialect::PassError;
use skript_dialect::melior;
use skript_passes::ir::types;

type Extents = Vec<i64>;

/// Infers the shapes of the results of an operation with static operands. Declared static shapes are returned
/// unchanged.
///
/// # Errors
/// Fails on attributes that do not fit the operands, and if an extent exceeds 64 bits.
pub(super) fn result_shapes(source: &SourceOp) -> Result<Vec<Extents>, PassError> {
    let declared = source.results.iter().map(|t| t.extents.clone());
    let declared: Vec<Extents> = declared.collect();
    let is_known = |extents: &Extents| !extents.contains(&types::DYNAMIC);
    if declared.iter().all(is_known) {
        return Ok(declared);
    }
    let derived = derived(source, &declared)?;
    if derived.iter().all(is_known) && derived.len() == declared.len() {
        Ok(derived)
    } else {
        Err("has a shape that does not follow from those of its operands".into())
    }
}

fn derived(source: &SourceOp, declared: &[Extents]) -> Result<Vec<Extents>, PassError> {
    let operand = |n: usize| source.operand(n).map(|tensor| tensor.extents.clone());
    let same = |n: usize| Ok(vec![operand(n)?]);
    match source.name.as_str() {
        // Results correspond to the first operands.
        "optimization_barrier" | "scatter" | "sort" | "custom_call" => {
            (0..declared.len()).map(operand).collect()
        }
        "select" | "clamp" | "triangular_solve" => same(1),
        "reshape" => Ok(vec![reshaped(source, declared)?]),
        "broadcast_in_dim" => Ok(declared.to_vec()),
        "transpose" => {
            let extents = operand(0)?;
            let order = source.list("permutation")?.into_iter();
            Ok(vec![order.map(|d| entry(&extents, d)).collect::<Result<_, _>>()?])
        }
        "slice" => Ok(vec![sliced(source)?]),
        "pad" => Ok(vec![padded(source)?]),
        "concatenate" => Ok(vec![joined(source)?]),
        "dynamic_slice" => Ok(vec![source.list("slice_sizes")?]),
        "gather" => Ok(vec![gathered(source)?]),
        "reduce" => {
            let dropped = source.list("dimensions")?;
            let extents = (0i64..).zip(operand(0)?);
            let kept = extents.filter(|(d, _)| !dropped.contains(d)).map(|(_, e)| e);
            Ok(vec![kept.collect(); declared.len()])
        }
        "reduce_window" => Ok(vec![windows(source)?; declared.len()]),
        "dot_general" => Ok(vec![product(source)?]),
        "convolution" => Ok(vec![convolved(source)?]),
        "bitcast_convert" => Ok(vec![cast(source)?]),
        "fft" => Ok(vec![transformed(source, declared)?]),
        "rng_bit_generator" => {
            let output = declared.iter().skip(1).cloned();
            Ok([operand(0)?].into_iter().chain(output).collect())
        }
        "top_k" => {
            let mut extents = operand(0)?;
            let last = extents.last_mut().ok_or("has an operand without dimensions")?;
            *last = source.i64("k").ok_or("lacks its attribute k")?;
            Ok(vec![extents; declared.len()])
        }
        // Elementwise operations and other operations that keep the shape of their operand.
        _ => Ok(vec![operand(0)?; declared.len()]),
    }
}

fn entry(list: &[i64], n: i64) -> Result<i64, PassError> {
    let entry = usize::try_from(n).ok().and_then(|n| list.get(n));
    entry.copied().ok_or_else(|| "names no dimension".into())
}

fn overflow() -> PassError {
    "has an extent above 64 bits".into()
}

fn volume(extents: &[i64]) -> Result<i64, PassError> {
    let volume = extents.iter().try_fold(1i64, |v, e| v.checked_mul(*e));
    volume.ok_or_else(overflow)
}

/// Completes a declared shape: its only dynamic extent follows from the number of elements.
fn reshaped(source: &SourceOp, declared: &[Extents]) -> Result<Extents, PassError> {
    let (total, declared) = (volume(&source.operand(0)?.extents)?, declared.concat());
    let fixed = declared.iter().filter(|e| **e != types::DYNAMIC).copied();
    let fixed = volume(&fixed.collect::<Vec<_>>())?;
    let open = declared.iter().filter(|e| **e == types::DYNAMIC).count();
    let extent = (open == 1).then(|| total.checked_div(fixed)).flatten();
    let extent = extent.ok_or("has a shape that the number of elements does not determine")?;
    Ok(declared.into_iter().map(|e| if e == types::DYNAMIC { extent } else { e }).collect())
}

fn sliced(source: &SourceOp) -> Result<Extents, PassError> {
    let (starts, limits) = (source.list("start_indices")?, source.list("limit_indices")?);
    let strides = source.list("strides")?;
    let ranges = starts.iter().zip(&limits).zip(&strides);
    let extent = |((start, limit), stride): ((&i64, &i64), &i64)| {
        let length = limit.checked_sub(*start).filter(|l| *l >= 0)?;
        (*stride > 0).then(|| length / stride + i64::from(length % stride != 0))
    };
    let extents = ranges.map(extent).collect::<Option<_>>();
    extents.ok_or_else(|| {
        let ranges = format!("{starts:?} to {limits:?} by {strides:?}");
        PassError::from(format!("has no elements between the positions {ranges}"))
    })
}

/// The extent after padding with borders, and with `interior` elements between neighbours.
fn bordered(extent: i64, low: i64, high: i64, interior: i64) -> Option<i64> {
    let between = (extent - 1).max(0).checked_mul(interior)?;
    let padded = extent.checked_add(between)?.checked_add(low)?;
    padded.checked_add(high)
}

fn padded(source: &SourceOp) -> Result<Extents, PassError> {
    let lists = ["edge_padding_low", "edge_padding_high", "interior_padding"];
    let [low, high, interior] = lists.map(|name| source.list(name));
    let (low, high, interior) = (low?, high?, interior?);
    let borders = low.iter().zip(&high).zip(&interior);
    let extents = source.operand(0)?.extents.iter().zip(borders);
    extents
        .map(|(extent, ((low, high), interior))| {
            bordered(*extent, *low, *high, *interior).filter(|e| *e >= 0)
        })
        .collect::<Option<_>>()
        .ok_or_else(|| {
            let borders = format!("{low:?}, {high:?} and {interior:?}");
            PassError::from(format!("has an extent below 0 with the borders {borders}"))
        })
}

fn joined(source: &SourceOp) -> Result<Extents, PassError> {
    let dimension = source.i64("dimension").ok_or("lacks its attribute dimension")?;
    let parts = source.operands.iter().map(|t| entry(&t.extents, dimension));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let total = parts.into_iter().try_fold(0i64, i64::checked_add);
    let mut extents = source.operand(0)?.extents.clone();
    let extent = usize::try_from(dimension).ok().and_then(|d| extents.get_mut(d));
    *extent.ok_or("names no dimension")? = total.ok_or_else(overflow)?;
    Ok(extents)
}

fn gathered(source: &SourceOp) -> Result<Extents, PassError> {
    let list = |key: &str| source.numbers("dimension_numbers", key);
    let offsets = list("offset_dims");
    let dropped = [list("collapsed_slice_dims"), list("operand_batching_dims")].concat();
    let sizes = (0i64..).zip(source.list("slice_sizes")?);
    let mut sizes = sizes.filter(|(d, _)| !dropped.contains(d)).map(|(_, s)| s);
    // Printers omit zeros.
    let vector = list("index_vector_dim").first().copied().unwrap_or(0);
    let batches = (0i64..).zip(&source.operand(1)?.extents);
    let mut batches = batches.filter(|(d, _)| *d != vector).map(|(_, e)| *e);
    let rank = (0i64..).take(source.result()?.rank());
    let extent = |d: i64| {
        if offsets.contains(&d) { sizes.next() } else { batches.next() }
    };
    let extents = rank.map(extent).collect::<Option<_>>();
    extents.ok_or_else(|| "has dimension numbers that do not fit its operands".into())
}

/// One dimension of sliding windows.
struct Window {
    extent: i64,
    size: i64,
    stride: i64,
    base: i64,
    spread: i64,
    padding: (i64, i64),
}

impl Window {
    /// The number of windows.
    fn count(&self) -> Result<i64, PassError> {
        let (low, high) = self.padding;
        if self.size < 1 || self.base < 1 || self.spread < 1 {
            return Err("has a window, or a dilation, of less than 1".into());
        }
        let extent = bordered(self.extent, low, high, self.base - 1).ok_or_else(overflow)?;
        let size = bordered(self.size, 0, 0, self.spread - 1).ok_or_else(overflow)?;
        if self.extent == 0 && extent <= 0 || size > extent || self.stride <= 0 {
            return Ok(0);
        }
        Ok((extent - size) / self.stride + 1)
    }
}

/// The number of windows along each dimension.
fn counts(
    source: &SourceOp,
    (extents, sizes): (&[i64], &[i64]),
    names: [&str; 3],
) -> Result<Extents, PassError> {
    let [strides, base, spread] = names.map(|name| source.i64s(name));
    let padding = source.pairs("padding", extents.len())?;
    let parameter = |list: &Option<Vec<i64>>, n: usize| {
        let list = list.as_ref().map(|list| list.get(n).copied());
        list.unwrap_or(Some(1)).ok_or("has windows of another rank")
    };
    let window = |(n, (extent, size)): (usize, (&i64, &i64))| {
        Window {
            extent: *extent,
            size: *size,
            stride: parameter(&strides, n)?,
            base: parameter(&base, n)?,
            spread: parameter(&spread, n)?,
            padding: padding.get(n).copied().ok_or("has windows of another rank")?,
        }
        .count()
    };
    let windows = extents.iter().zip(sizes).enumerate();
    windows.map(window).collect()
}

fn windows(source: &SourceOp) -> Result<Extents, PassError> {
    let extents = &source.operand(0)?.extents;
    let sizes = source.list("window_dimensions")?;
    let names = ["window_strides", "base_dilations", "window_dilations"];
    counts(source, (extents, &sizes), names)
}

fn convolved(source: &SourceOp) -> Result<Extents, PassError> {
    let (input, kernel) = (source.operand(0)?, source.operand(1)?);
    let [of_input, of_kernel, of_result] = labels(source)?;
    let spatial = input.rank().saturating_sub(2);
    let along = |labels: &Labels, tensor: &Tensor| -> Result<Extents, PassError> {
        let extents = (0..spatial).map(|s| labels.extent(&s.to_string(), tensor));
        extents.collect()
    };
    let (extents, sizes) = (along(&of_input, input)?, along(&of_kernel, kernel)?);
    let names = ["window_strides", "lhs_dilation", "rhs_dilation"];
    let counts = counts(source, (&extents, &sizes), names)?;
    let groups = source.required("batch_group_count")?;
    let batch = of_input.extent("b", input)?.checked_div(groups);
    let mut result = vec![0; input.rank()];
    let mut set = |label: &str, extent: i64| -> Result<(), PassError> {
        let slot = result.get_mut(of_result.position(label)?);
        *slot.ok_or("has dimension numbers of another rank")? = extent;
        Ok(())
    };
    set("b", batch.ok_or("has no batch groups")?)?;
    set("f", of_kernel.extent("o", kernel)?)?;
    for (s, count) in counts.into_iter().enumerate() {
        set(&s.to_string(), count)?;
    }
    Ok(result)
}

fn product(source: &SourceOp) -> Result<Extents, PassError> {
    let list = |key: &str| source.numbers("dot_dimension_numbers", key);
    let (lhs, rhs) = (&source.operand(0)?.extents, &source.operand(1)?.extents);
    let batches = list("lhs_batching_dimensions");
    let mut extents = batches.iter().map(|d| entry(lhs, *d)).collect::<Result<Vec<_>, _>>()?;
    for (extents_of_side, side) in [(lhs, "lhs"), (rhs, "rhs")] {
        let batches = list(&format!("{side}_batching_dimensions"));
        let sums = list(&format!("{side}_contracting_dimensions"));
        let free = (0i64..).zip(extents_of_side);
        extents.extend(
            free.filter(|(d, _)| !batches.contains(d) && !sums.contains(d)).map(|(_, extent)| *extent),
        );
    }
    Ok(extents)
}

fn cast(source: &SourceOp) -> Result<Extents, PassError> {
    let (from, to) = (source.operand(0)?, source.result()?);
    let (narrow, wide) = (from.element.bits(), to.element.bits());
    let mut extents = from.extents.clone();
    if narrow < wide {
        extents.pop();
    } else if narrow > wide {
        extents.push(i64::from(narrow / wide));
    }
    Ok(extents)
}

/// In a real transform, the last dimension of the complex tensor has only the first half of the frequencies.
fn transformed(source: &SourceOp, declared: &[Extents]) -> Result<Extents, PassError> {
    let mut extents = source.operand(0)?.extents.clone();
    if let (Some(last), Some(result)) = (extents.last_mut(), declared.concat().last().copied()) {
        let length = source.list("fft_length")?.last().copied();
        let kind = source.op.attribute("fft_type")?.to_string();
        let length = length.ok_or("lacks its length")?;
        *last = match kind.contains("RFFT") {
            true if kind.contains("IRFFT") => length,
            true => length / 2 + i64::from(length != 0),
            false => *last,
        };
        if result != types::DYNAMIC {
            *last = result;
        }
    }
    Ok(extents)
}
