// SPDX-License-Identifier: Apache-2.0
//! `skript-split-guards`: splits windows whose guard is false only near the ends of some loops into an interior without a
//! guard and borders with the guard.
//!
//! The interior reads its tensors directly and can be raised to a named operation; a border reads a small copy. Borders are
//! many small loops, so a formula is not split if its interior is smaller than the option requires. Maps are not split,
//! because their guards become slices.

use super::structured;
use crate::structure::{Affine, Guard, Nest, Reading, Structure, Term};
use skript_dialect::melior::ir::Value;
use skript_dialect::{Pass, PassError, PassOption, op};

pub(crate) const PASS: Pass = Pass {
    flag: "skript-split-guards",
    summary: "split guarded windows into an interior without a guard and borders with it",
    options: &[PassOption {
        name: "interior",
        summary: "minimum percentage of the formula's points that are in the interior",
        default: "75",
    }],
    run: |root, options, rewriter| {
        let percent: i64 = options.get("interior")?;
        if !(0..=100).contains(&percent) {
            return Err(format!("option interior is {percent}, which is not a percentage").into());
        }
        for formula in structured::formulas(&root) {
            let Ok(reading) = Reading::of_fixed(formula) else {
                continue;
            };
            let Some(parts) = parts(&reading.nest, percent) else {
                continue;
            };
            let mut values: Vec<Value> = reading.outs.clone();
            for part in parts {
                values = op::compute_part(&formula, &values, &part.low, &part.extents, part.guarded)
                    .ok_or_else(|| PassError::at(formula, "has no parts"))?;
            }
            rewriter.replace_op_with_values(formula, &values);
        }
        Ok(())
    },
    ..Pass::NONE
};

/// A rectangular part of the iteration domain.
#[derive(Debug, PartialEq, Eq)]
struct Part {
    low: Vec<i64>,
    extents: Vec<i64>,
    guarded: bool,
}

/// Returns the borders, then the interior. `None` if the formula is not split.
fn parts(nest: &Nest, percent: i64) -> Option<Vec<Part>> {
    let windows = matches!(Structure::new(nest), Structure::Contraction { window: true } | Structure::Window);
    let guard = Guard::new(nest);
    if !windows || guard.always_holds() || !guard.others.is_empty() {
        return None;
    }
    let extents = nest.static_extents()?;
    let (mut low, mut high) = (vec![0; extents.len()], extents.clone());
    for constraint in &guard.constraints {
        let (index, bound) = bound(nest, constraint)?;
        match bound {
            Bound::AtLeast(value) => {
                let low = low.get_mut(index)?;
                *low = value.max(*low);
            }
            Bound::Below(value) => {
                let high = high.get_mut(index)?;
                *high = value.min(*high);
            }
        }
    }
    // The percentage is the product of the fractions of the loops; the product of the extents may overflow an integer.
    let mut percentage = 100.0;
    for ((low, high), extent) in low.iter().zip(&high).zip(&extents) {
        percentage *= high.saturating_sub(*low).max(0) as f64 / *extent as f64;
    }
    if percentage <= 0.0 || percentage < percent as f64 {
        return None;
    }
    Some(peeled(&extents, &low, &high))
}

/// Returns the two ends of each loop, over the interior of the previous loops, then the interior.
fn peeled(extents: &[i64], low: &[i64], high: &[i64]) -> Vec<Part> {
    let (mut from, mut to) = (vec![0; extents.len()], extents.to_vec());
    let part = |from: &[i64], to: &[i64], guarded| Part {
        low: from.to_vec(),
        extents: to.iter().zip(from).map(|(t, f)| t - f).collect(),
        guarded,
    };
    let mut parts = Vec::new();
    for (index, ((low, high), extent)) in low.iter().zip(high).zip(extents).enumerate() {
        for (begin, end) in [(0, *low), (*high, *extent)] {
            if begin < end
                && let (Some(first), Some(last)) = (from.get_mut(index), to.get_mut(index))
            {
                (*first, *last) = (begin, end);
                parts.push(part(&from, &to, true));
            }
        }
        if let (Some(first), Some(last)) = (from.get_mut(index), to.get_mut(index)) {
            (*first, *last) = (*low, *high);
        }
    }
    parts.push(part(&from, &to, false));
    parts
}

/// The range of an index in which a constraint holds for all values of the other indices.
enum Bound {
    AtLeast(i64),
    Below(i64),
}

/// Returns the index and its range. `None` unless the constraint depends on exactly one loop along which the outputs can be split.
fn bound(nest: &Nest, constraint: &Affine) -> Option<(usize, Bound)> {
    let terms = constraint.as_linear()?;
    let mut along = terms.iter().filter(|(index, _)| cuts(nest, *index));
    let (Some((index, factor)), None) = (along.next(), along.next()) else {
        return None;
    };
    let rest = constraint.sub(&Affine::index(*index).scale(*factor)?)?;
    let min = rest.range(&nest.extents)?.low;
    // factor · index + min ≥ 0
    let bound = if *factor > 0 {
        Bound::AtLeast(-min.div_euclid(*factor))
    } else {
        Bound::Below(min.div_euclid(factor.checked_neg()?).checked_add(1)?)
    };
    Some((*index, bound))
}

/// Whether every output has a dimension whose subscript is the index alone, and whose extent is at least the extent of the loop.
pub(super) fn cuts(nest: &Nest, index: usize) -> bool {
    let last = nest.extents.get(index).and_then(|extent| extent.as_static());
    nest.targets.iter().all(|target| {
        let mut subscripts = target.subscripts.iter().zip(&target.extents);
        subscripts.any(|(subscript, extent)| {
            nest.terms.get(*subscript) == Some(&Term::Index(index)) && last <= extent.as_static()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::nest::samples::Builder;
    use skript_frontend::model::Accumulation;
    use skript_semantics::ScalarOp;

    /// `y[i] += x[|stride · i + j + offset|] · w[j]` over 8 positions of a window of 3; `extent` is the extent of x.
    fn window(stride: i64, offset: i64, extent: i64) -> Nest {
        let mut b = Builder::new(Accumulation::Sum, &[8, 3]);
        let (i, j) = (b.index(0), b.index(1));
        let position = b.window(0, stride, 1, 1, offset);
        let within = b.within(position, extent);
        b.nest.predicate = Some(within);
        let (x, w) = (b.access(&[extent], &[position]), b.access(&[3], &[j]));
        let product = b.reals(ScalarOp::Mul, x, w);
        b.target(&[8], &[i], product)
    }

    #[test]
    fn in_the_interior_the_guard_holds_for_the_full_window() {
        let parts = parts(&window(1, -1, 8), 50).unwrap();
        let spans: Vec<_> = parts.iter().map(|p| (p.low[0], p.extents[0], p.guarded)).collect();
        assert_eq!(spans, [(0, 1, true), (7, 1, true), (1, 6, false)]);
        // Each point is in exactly one part.
        assert_eq!(parts.iter().map(|p| p.extents.iter().product::<i64>()).sum::<i64>(), 24);
    }

    #[test]
    fn strides_leave_fewer_positions_at_the_ends() {
        let parts = parts(&window(2, -1, 16), 50).unwrap();
        let spans: Vec<_> = parts.iter().map(|p| (p.low[0], p.extents[0], p.guarded)).collect();
        assert_eq!(spans, [(0, 1, true), (1, 7, false)]);
    }

    #[test]
    fn windows_with_large_borders_are_not_split() {
        assert_eq!(parts(&window(1, -1, 8), 90), None);
        assert_eq!(parts(&window(1, 0, 2), 0), None);
        assert_eq!(parts(&window(1, 0, 10), 0), None);
    }
}
