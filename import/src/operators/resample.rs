// SPDX-License-Identifier: Apache-2.0
//! Resizing with weights that the import computes: a product with a matrix along each axis, or a gather.

use std::rc::Rc;

use super::movement::transposed;
use super::product::product_of;
use crate::call::Call;
use crate::extent::Extent;
use crate::refusal::{Reason, Ruled, overflow};
use crate::statement::Argument;
use crate::tensor::of_items;
use crate::value::{Item, Value};

/// A resized axis.
pub(super) struct Axis {
    pub at: usize,
    pub from: i64,
    pub to: i64,
    pub scale: f64,
    /// The region of interest of `tf_crop_and_resize`.
    pub part: (f64, f64),
}

/// The parameters of the interpolation.
#[derive(Clone)]
pub(super) struct Manner {
    /// The `coordinate_transformation_mode`.
    pub transform: String,
    pub kernel: Kernel,
    pub exclude_outside: bool,
    /// The value outside of the input, for `tf_crop_and_resize`.
    pub beyond: f64,
}

#[derive(Clone)]
pub(super) enum Kernel {
    /// The `nearest_mode`, or [`BY_SCALE`].
    Nearest(String),
    Linear {
        antialias: bool,
    },
    Cubic {
        antialias: bool,
        a: f64,
    },
}

/// The rounding of operators before opset 11: up if an axis becomes shorter, otherwise down.
pub(super) const BY_SCALE: &str = "by_scale";

/// Maximum number of elements of a matrix of weights.
const MAX_WEIGHTS: i64 = 1 << 24;

#[expect(clippy::cast_precision_loss, reason = "extents are small")]
fn real(v: i64) -> f64 {
    v as f64
}

/// The floor of a number that is small enough for `i64`.
fn floor(v: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "saturates")]
    let floor = v.floor() as i64;
    floor
}

impl Axis {
    /// The position in the input that an element of the result corresponds to.
    fn position(&self, manner: &Manner, at: i64) -> Ruled<f64> {
        let (x, from, to) = (real(at), real(self.from), real(self.to));
        // As in onnxruntime, positions are rounded to f32 before the nearest element is selected.
        #[expect(clippy::cast_possible_truncation, reason = "positions are of f32")]
        let scaled = |x: f64| match manner.kernel {
            Kernel::Nearest(_) => f64::from((x / self.scale) as f32),
            _ => x / self.scale,
        };
        let half = scaled(x + 0.5) - 0.5;
        let last = from - 1.0;
        Ok(match manner.transform.as_str() {
            "half_pixel" => half,
            "pytorch_half_pixel" if self.to == 1 => 0.0,
            "pytorch_half_pixel" => half,
            // The scaled extent may exceed the result by a fraction of an element.
            "half_pixel_symmetric" => from / 2.0 * (1.0 - to / (self.scale * from)) + half,
            "tf_half_pixel_for_nn" => scaled(x + 0.5),
            "asymmetric" => scaled(x),
            "align_corners" if self.to == 1 => 0.0,
            "align_corners" => x * last / (to - 1.0),
            "tf_crop_and_resize" => {
                let (begin, end) = self.part;
                if self.to == 1 {
                    (begin + end) * last / 2.0
                } else {
                    x * (end - begin) * last / (to - 1.0) + begin * last
                }
            }
            other => {
                return Err(Reason(format!("the coordinate transformation {other:?} is unknown")));
            }
        })
    }

    /// The elements of the input and their weights, for each element of the result.
    fn taps(&self, manner: &Manner) -> Ruled<Vec<Vec<(i64, f64)>>> {
        let mut all = Vec::new();
        for at in 0..self.to {
            let position = self.position(manner, at)?;
            let before = floor(position);
            // If the position is exactly at an element, this element is the second of the two neighbours.
            let hit = real(before) == position;
            let ratio = if hit { 1.0 } else { position - real(before) };
            let base = if hit { before.saturating_sub(1) } else { before };
            let (first, mut weights) = manner.kernel.weights(ratio, self.scale);
            let places = (0..).map(|i: i64| base.saturating_add(first).saturating_add(i));
            if manner.exclude_outside {
                for (weight, place) in weights.iter_mut().zip(places.clone()) {
                    if !(0..self.from).contains(&place) {
                        *weight = 0.0;
                    }
                }
                let sum: f64 = weights.iter().sum();
                if sum != 0.0 {
                    weights.iter_mut().for_each(|w| *w /= sum);
                }
            }
            all.push(places.map(|p| p.clamp(0, self.from - 1)).zip(weights).collect());
        }
        Ok(all)
    }
}

impl Kernel {
    /// The weights, and the offset of the first weight from the element before the position.
    fn weights(&self, ratio: f64, scale: f64) -> (i64, Vec<f64>) {
        let scale = scale.min(1.0);
        let spread = |reach: f64, of: &dyn Fn(f64) -> f64| {
            // Bounds the number of taps for scales close to zero.
            let first = (floor(-reach / scale) + 1).max(-(1 << 20));
            let weights: Vec<f64> = (first..2 - first).map(|i| of((real(i) - ratio) * scale)).collect();
            let sum: f64 = weights.iter().sum();
            (first, weights.into_iter().map(|w| w / sum).collect())
        };
        match self {
            Kernel::Nearest(mode) => {
                let second = match mode.as_str() {
                    "floor" => ratio == 1.0,
                    "ceil" => true,
                    BY_SCALE => ratio == 1.0 || scale < 1.0,
                    "round_prefer_ceil" => ratio >= 0.5,
                    _ => ratio > 0.5,
                };
                (0, if second { vec![0.0, 1.0] } else { vec![1.0, 0.0] })
            }
            Kernel::Linear { antialias: false } => (0, vec![1.0 - ratio, ratio]),
            Kernel::Linear { antialias: true } => spread(1.0, &|x| (1.0 - x.abs()).max(0.0)),
            Kernel::Cubic { antialias: true, a } => spread(2.0, &|x| cubic(x, *a)),
            Kernel::Cubic { antialias: false, a } => {
                let weights = (-1..3).map(|i| cubic(real(i) - ratio, *a));
                (-1, weights.collect())
            }
        }
    }
}

/// Keys' cubic convolution kernel.
fn cubic(x: f64, a: f64) -> f64 {
    let x = x.abs();
    match () {
        () if x <= 1.0 => ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0,
        () if x < 2.0 => ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a,
        () => 0.0,
    }
}

/// Resizes the input.
pub(super) fn resampled(c: &mut Call, x: &Value, axes: &[Axis], manner: &Manner) -> Ruled<Value> {
    let mut y = x.clone();
    for axis in axes {
        let cells = axis.from.checked_mul(axis.to).filter(|n| *n <= MAX_WEIGHTS);
        let cells = cells
            .and_then(|n| usize::try_from(n).ok())
            .ok_or("the matrix of weights of an axis is too large")?;
        let taps = axis.taps(manner)?;
        let mut shape = y.shape.clone();
        if let Some(extent) = shape.get_mut(axis.at) {
            *extent = Extent::from(axis.to);
        }
        y = match &manner.kernel {
            Kernel::Nearest(_) => {
                let places = taps.iter().filter_map(|taps| taps.iter().find(|(_, w)| *w != 0.0));
                let indices = c.known_extents(places.map(|(place, _)| Extent::from(*place)).collect());
                let attributes = [("axis", axis.at.to_string())];
                c.call("layout.gather", &attributes, &[(&y).into(), (&indices).into()], (y.element, shape))
            }
            _ => {
                let mut weights = vec![0.0; cells];
                for (row, taps) in (0..).zip(&taps) {
                    for (place, weight) in taps {
                        let cell = usize::try_from(row * axis.from + place).ok();
                        if let Some(cell) = cell.and_then(|cell| weights.get_mut(cell)) {
                            *cell += weight;
                        }
                    }
                }
                along(c, &y, axis, weights)?
            }
        };
    }
    if manner.transform == "tf_crop_and_resize" {
        for axis in axes {
            y = outside(c, &y, axis, manner)?;
        }
    }
    Ok(y)
}

/// The product with a matrix along an axis.
fn along(c: &mut Call, x: &Value, axis: &Axis, weights: Vec<f64>) -> Ruled<Value> {
    let items: Vec<Item> = weights.into_iter().map(Item::Real).collect();
    let extents = [axis.to, axis.from].map(i64::unsigned_abs);
    let tensor = of_items(x.element, &extents, &items).ok_or_else(overflow)?;
    let shape = vec![Extent::from(axis.to), Extent::from(axis.from)];
    let weights = c.importer.value("resize", x.element, shape, None, Some(Rc::clone(&tensor)));
    let last = x.rank().saturating_sub(1);
    let mut perm: Vec<usize> = (0..x.rank()).collect();
    perm.swap(axis.at, last);
    let turned = transposed(c, x, &perm);
    let y = product_of(c, &turned, &weights, (false, true), "linalg.matmul", x.element)?;
    Ok(transposed(c, &y, &perm))
}

/// Replaces elements whose positions are outside of the input.
fn outside(c: &mut Call, x: &Value, axis: &Axis, manner: &Manner) -> Ruled<Value> {
    let mut flags = Vec::new();
    for at in 0..axis.to {
        let position = axis.position(manner, at)?;
        flags.push(Item::Bool(!(0.0..=real(axis.from - 1)).contains(&position)));
    }
    if flags.iter().all(|f| *f == Item::Bool(false)) {
        return Ok(x.clone());
    }
    if flags.len() > crate::value::MAX_KNOWN {
        return Err("a result of this size with elements outside of the input is not supported".into());
    }
    let mut shape = vec![Extent::from(1); x.rank().saturating_sub(axis.at)];
    if let Some(extent) = shape.first_mut() {
        *extent = Extent::from(axis.to);
    }
    let mask = c.known(skript_tensor::ElementType::Bool, shape, flags);
    let value = Argument::Number(crate::literals::real_text(x.element, manner.beyond));
    Ok(c.call("math.select", &[], &[(&mask).into(), value, x.into()], (x.element, x.shape.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(from: i64, to: i64, scale: f64) -> Axis {
        Axis { at: 0, from, to, scale, part: (0.0, 1.0) }
    }

    #[test]
    fn positions_have_weights() {
        let manner = |transform: &str, kernel: Kernel| Manner {
            transform: transform.to_owned(),
            kernel,
            exclude_outside: false,
            beyond: 0.0,
        };
        let linear = manner("align_corners", Kernel::Linear { antialias: false });
        let taps = axis(2, 3, 1.5).taps(&linear).unwrap();
        assert_eq!(taps, [vec![(0, 0.0), (0, 1.0)], vec![(0, 0.5), (1, 0.5)], vec![(0, 0.0), (1, 1.0)]]);
        let nearest = manner("asymmetric", Kernel::Nearest("floor".to_owned()));
        let taps = axis(4, 2, 0.5).taps(&nearest).unwrap();
        assert_eq!(
            taps.iter().filter_map(|t| t.iter().find(|(_, w)| *w > 0.0)).map(|(p, _)| *p).collect::<Vec<_>>(),
            [0, 2]
        );
        let cubic = manner("half_pixel", Kernel::Cubic { antialias: true, a: -0.5 });
        for row in axis(8, 3, 0.375).taps(&cubic).unwrap() {
            let sum: f64 = row.iter().map(|(_, w)| w).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{row:?}");
        }
        assert!(axis(2, 3, 1.5).taps(&manner("other", Kernel::Linear { antialias: false })).is_err());
    }
}
